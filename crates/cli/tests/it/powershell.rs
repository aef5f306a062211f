//! `powershell` through the real program. A stand-in for `pwsh` looks at what it was called with, and understands five
//! commands, a line each: what it does, it does under the sandbox.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::peer::{Peer, text};
use crate::world::{Ran, World, exists, world};

const STAND_IN: &str = r#"#!/bin/sh
if [ "$# $1 $2 $3 $4" != "5 -NoLogo -NoProfile -NonInteractive -Command" ]; then
    echo "called with $#: $*"
    exit 64
fi
set -f
while IFS= read -r line; do
    case $line in
        "Write-Output "*) printf '%s\n' "${line#Write-Output }"; continue ;;
    esac
    set -- $line
    case $1 in
        Get-Content) tail -n "${4:-+1}" "$2" ;;
        Set-Content) echo "$3" > "$2" ;;
        Start-Sleep) sleep "$2" ;;
        exit) exit "$2" ;;
        *) echo "$1: not understood"; exit 1 ;;
    esac
done <<EOF
$5
EOF
"#;

/// Puts the stand-in where no sandbox hides it, and gives a `PATH` that begins there.
pub fn installed(world: &World) -> String {
    let bin = world.path("home/bin");
    put(&bin);
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", bin.display())
}

fn put(dir: &Path) {
    fs::create_dir_all(dir).expect("a directory");
    fs::write(dir.join("pwsh"), STAND_IN).expect("a file");
    fs::set_permissions(dir.join("pwsh"), fs::Permissions::from_mode(0o755)).expect("rights");
}

/// One call of the tool, with the stand-in there.
fn call(world: &World, command: &str, more: &[&str]) -> Ran {
    let command = format!("command={command}");
    let words = [&["call", "powershell", &command][..], more].concat();
    Ran::of(world.nika(&words).env("PATH", installed(world)).output().expect("the program starts"))
}

const ALLOWED: &[&str] = &["--mode", "workspace", "--allow", "exec(pwsh*)"];

#[test]
fn no_other_shell_reads_the_text() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\ntwo\n");
    let odd = r#"$(touch made) `touch made` "a  b" 'c' \ * ; touch made"#;
    let ran = call(&world, &format!("Write-Output {odd}\nGet-Content a.txt -Tail 1"), ALLOWED);
    ran.exits(0).says(odd).says("two\n").says("[exit 0 · in . · sandbox workspace]");
    assert!(!exists(world.root().join("made")));
    call(&world, "exit 3", ALLOWED).exits(1).says("[exit 3 ");
    call(&world, "-", ALLOWED).exits(2).complains("`command`");
    call(&world, "Start-Sleep 60", &[ALLOWED, &["timeout=300"]].concat()).exits(1).says("its time was up");
}

#[test]
fn it_is_judged_as_code_that_nobody_reads() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world();
    for mode in ["read-only", "ask", "accept-edits", "workspace"] {
        call(&world, "Set-Content a x", &["--mode", mode]).exits(3).complains("NIKA-205");
    }
    assert!(!exists(world.root().join("a")));
    call(&world, "Set-Content a x", &["--mode", "accept-all", "--deny", "exec(pwsh*)"])
        .exits(3)
        .complains("exec(pwsh*)");
    call(&world, "Set-Content a x", &["--mode", "accept-all"]).exits(0);
    assert_eq!(world.text("a"), "x\n");
    // What is said of one text is not said of another.
    let one = ["--mode", "workspace", "--allow", "exec(pwsh -Command exit)"];
    call(&world, "Set-Content a y", &one).exits(3);
}

#[test]
fn what_it_changed_is_taken_back_and_outside_it_changes_nothing() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n");
    let ran = call(&world, "Set-Content a.txt two", &[ALLOWED, &["--output", "json"]].concat());
    let answer = ran.json();
    assert!(text(&answer).contains("undo takes it back"), "{answer}");
    assert_eq!(world.text("a.txt"), "two\n");
    world.run(&["undo", answer["call_id"].as_str().expect("an id"), "--mode", "workspace"]).exits(0);
    assert_eq!(world.text("a.txt"), "one\n");
    let outside = world.path("home/outside");
    call(&world, &format!("Set-Content {} x", outside.display()), ALLOWED).says("Read-only file system");
    assert!(!exists(outside));
    // A rule on part of the workspace holds here, too.
    let ruled = [ALLOWED, &["--deny", "write(a.txt)"]].concat();
    call(&world, "Set-Content a.txt two\nSet-Content b.txt two", &ruled).exits(3).says("a rule denies it");
    assert_eq!((world.text("a.txt"), world.text("b.txt")), ("one\n".into(), "two\n".into()));
}

#[test]
fn in_the_background_it_is_a_job_like_any_other() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world();
    let mut server = world.nika(&[&["serve", "--list", "all"], ALLOWED].concat());
    server.env("PATH", installed(&world));
    let mut peer = Peer::start(server);
    peer.initialize("2025-11-25");
    let order = json!({"command": "Write-Output ready\nStart-Sleep 60", "run_in_background": true});
    assert!(text(&peer.call("nika_powershell", order)).contains("Started j1"));
    let output = peer.call("nika_job_output", json!({"job_id": "j1", "wait_ms": 10_000, "filter": "ready"}));
    assert!(text(&output).contains("ready"), "{output}");
    assert!(text(&peer.call("nika_job_stop", json!({"job_id": "j1"}))).contains("stopped"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn where_there_is_none_it_is_not_listed_and_a_call_says_why() {
    let world = world();
    // One in the workspace is anybody's.
    put(&world.root().join("bin"));
    std::os::unix::fs::symlink(world.root().join("bin"), world.path("linked")).expect("a link");
    for dir in [world.path("none"), world.root().join("bin"), world.path("linked")] {
        let without = |words: &[&str]| {
            let mut command = world.nika(words);
            command.env("PATH", &dir);
            command
        };
        let mut peer = Peer::start(without(&["serve", "--list", "all"]));
        peer.initialize("2025-11-25");
        let listed = peer.request("tools/list", json!({}));
        let names: Vec<&str> = listed["result"]["tools"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert!(names.contains(&"nika_bash") && !names.contains(&"nika_powershell"), "{names:?}");
        let called = text(&peer.call("nika_powershell", json!({"command": "exit 0"})));
        assert!(called.contains("NIKA-911") && called.contains("install PowerShell"), "{called}");
        assert_eq!(peer.end(), 0);
        let mut peer = Peer::start(without(&["serve"]));
        peer.initialize("2025-11-25");
        let found = text(&peer.call("nika_tool_search", json!({"query": "select:powershell"})));
        assert!(!found.contains("\"name\":\"nika_powershell\""), "{found}");
        let called = text(&peer.call("nika_powershell", json!({"command": "exit 0"})));
        assert!(called.contains("NIKA-911"), "{called}");
        assert_eq!(peer.end(), 0);
        let ran = Ran::of(without(&["call", "PowerShell", "command=exit 0"]).output().expect("it starts"));
        ran.exits(127).complains("NIKA-911");
        // The documents are the same everywhere.
        let shown = Ran::of(without(&["tools", "show", "powershell"]).output().expect("it starts"));
        shown.exits(0).says("PowerShell 7");
    }
}
