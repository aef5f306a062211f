//! What is `/tmp` to a session's commands: their own, from one to the next, and nobody else's.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::peer::{Peer, text};
use crate::shell::is_confined_here;
use crate::world::{Ran, World, exists, world};

/// A name in `/tmp` that no other test and no other run uses.
fn in_tmp(world: &World, name: &str) -> PathBuf {
    let unique = world.root().parent().and_then(Path::file_name).expect("a name").to_string_lossy().into_owned();
    Path::new("/tmp").join(format!("nika-test-{}-{name}", unique.trim_start_matches('.')))
}

fn bash(world: &World, command: &str, more: &[&str]) -> Ran {
    let command = format!("command={command}");
    world.run(&[&["call", "bash", &command][..], more].concat())
}

#[test]
fn a_session_finds_its_files_again_and_nobody_else_does() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let log = in_tmp(&world, "log");
    let shown = log.display().to_string();
    let alone = bash(&world, &format!("echo one > {shown}; cat {shown}"), &["--mode", "workspace"]);
    alone.exits(0).says("one").says("this command's own");
    let kept = bash(&world, &format!("echo two > {shown}"), &["--mode", "workspace", "--session", "s"]);
    kept.exits(0).says("this session's own");
    for mode in ["read-only", "ask", "workspace"] {
        bash(&world, &format!("cat {shown}"), &["--mode", mode, "--session", "s"]).exits(0).says("two");
    }
    for more in [&["--session", "other"][..], &[]] {
        bash(&world, &format!("cat {shown}"), &[&["--mode", "workspace"], more].concat()).exits(1).says("No such file");
    }
    bash(&world, &format!("echo three > {shown}"), &["--mode", "read-only", "--session", "s"]).exits(3);
    assert!(!exists(&log));
    // What is left out of the rules of the machine is not left out of a person's.
    let rules = "permissions:\n  deny: [\"write(//tmp/**)\"]\n";
    fs::create_dir_all(world.path("home/.config/nika")).expect("a directory");
    fs::write(world.path("home/.config/nika/config.yaml"), rules).expect("a file");
    bash(&world, &format!("echo four > {shown}"), &["--mode", "workspace", "--session", "s"]).exits(3);
}

#[test]
fn what_a_command_takes_away_from_its_tmp_is_there_for_the_next() {
    if !is_confined_here() {
        return;
    }
    // The root lies below the machine's /tmp: the way to it is made in the session's own.
    let world = world();
    let above = world.root().parent().expect("a directory").display().to_string();
    for gone in ["/tmp", "/var/tmp", above.as_str()] {
        let world = crate::world::world().file("c.py", &format!("import os\nos.chmod({gone:?}, 0)\n"));
        let at = ["--mode", "workspace", "--session", "s"];
        bash(&world, "python3 c.py", &at);
        let own = in_tmp(&world, "x").display().to_string();
        bash(&world, &format!("sort c.py > o.txt; echo x > {own}; echo x > /var{own}"), &at).exits(0);
        assert!(world.text("o.txt").contains("chmod"), "{gone}");
        let left: Vec<_> =
            fs::read_dir(world.root()).expect("it").map(|entry| entry.expect("it").file_name()).collect();
        assert_eq!(left.len(), 2, "{gone}: {left:?}");
    }
}

#[test]
fn what_others_have_there_is_asked_about_and_a_yes_reaches_it() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let beside = in_tmp(&world, "directory");
    fs::create_dir(&beside).expect("a directory");
    let theirs = beside.join("theirs");
    let shown = theirs.display().to_string();
    fs::write(&theirs, "their words\n").expect("a file");
    let mut changed = Vec::new();
    for (mode, code) in [("workspace", 3), ("accept-all", 0)] {
        let more = ["--mode", mode, "--session", "s"];
        bash(&world, &format!("cat {shown}"), &more).exits(code);
        let written = bash(&world, &format!("echo mine >> {shown}; cat {shown}"), &more);
        written.exits(code);
        assert!(code == 0 || written.err.contains("a name there that nobody else has"), "{written:?}");
        bash(&world, &format!("echo new > {}/file", beside.display()), &more).exits(code);
        changed.push((fs::read_to_string(&theirs).expect("it is there"), exists(beside.join("file"))));
    }
    fs::remove_dir_all(&beside).expect("removed");
    assert_eq!(changed, [("their words\n".to_owned(), false), ("their words\nmine\n".to_owned(), true)]);
}

#[test]
fn a_link_left_there_leads_neither_a_later_command_nor_the_sandbox_astray() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n");
    let above = world.root().parent().expect("a directory").to_owned();
    let in_the_way = above.starts_with("/tmp");
    let script = format!(
        "ln -s /etc/hostname /tmp/link; ln -s /etc /tmp/dir; [ {in_the_way} = false ] || {{ mv {0} {0}-away; ln -s /etc {0}; }}; true\n",
        above.display()
    );
    let world = world.file("tools/run.sh", &script);
    let session = ["--mode", "workspace", "--session", "s"];
    bash(&world, "bash tools/run.sh", &session).exits(0);
    bash(&world, "cat a.txt; echo two >> a.txt", &session).exits(0).says("one");
    assert_eq!(world.text("a.txt"), "one\ntwo\n");
    for reads in ["cat /tmp/link", "cat /tmp/dir/hostname"] {
        bash(&world, reads, &session).exits(3);
    }
    bash(&world, "echo x > /tmp/dir/nika-test", &session);
    assert!(!exists("/etc/nika-test"));
}

#[test]
fn a_clients_session_keeps_them_for_jobs_and_code_and_a_preview_leaves_nothing() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    let mut run = |arguments: serde_json::Value| text(&peer.call("nika_bash", arguments));
    let first = run(json!({"command": "echo one > /tmp/nika-a; echo two > /var/tmp/nika-b"}));
    assert!(first.contains("this session's own"), "{first}");
    let second = run(json!({"command": "cat /tmp/nika-a /var/tmp/nika-b; echo more >> /tmp/nika-a"}));
    assert!(second.contains("one\ntwo") && !second.contains("this session's own"), "{second}");
    let foretold = run(json!({"command": "echo three > /tmp/nika-c; ls /tmp/nika-c", "preview": true}));
    assert!(foretold.contains("/tmp/nika-c"), "{foretold}");
    let third = run(json!({"command": "cat /tmp/nika-c"}));
    assert!(third.contains("No such file"), "{third}");
    let job = run(json!({"command": "cat /tmp/nika-a > seen.txt; sleep 0.1", "run_in_background": true}));
    assert!(job.contains("Started"), "{job}");
    let since = Instant::now();
    while !exists(world.root().join("seen.txt")) || world.text("seen.txt") != "one\nmore\n" {
        assert!(since.elapsed() < Duration::from_secs(20), "{job}");
        std::thread::yield_now();
    }
    assert!(!exists("/tmp/nika-a"));
}

#[test]
fn a_file_tool_says_whose_a_commands_temporary_file_is() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = Peer::start(world.nika(&["serve", "--mode", "workspace", "--allow", "read(//tmp/**)"]));
    peer.initialize("2025-11-25");
    let read = |peer: &mut Peer, path: &str| text(&peer.call("nika_read", json!({"file_path": path})));
    let before = read(&mut peer, "/tmp/nika-told");
    assert!(before.contains("NIKA-208") && !before.contains("commands"), "{before}");
    let made = text(&peer.call("nika_bash", json!({"command": "echo one > /tmp/nika-told"})));
    assert!(made.contains("this session's own"), "{made}");
    let told = read(&mut peer, "/tmp/nika-told");
    assert!(told.contains("NIKA-208") && told.contains("of this session's commands are their own"), "{told}");
    let other = read(&mut peer, "/tmp/nika-not-there");
    assert!(other.contains("NIKA-208") && !other.contains("commands"), "{other}");
    peer.end();
}

/// A cache in the home, with something in it, and scripts that change it and show it.
fn with_cache() -> World {
    let world = world()
        .file(
            "make.sh",
            "mkdir -p ~/.cache/tool/new && echo made > ~/.cache/tool/new/x && echo two > ~/.cache/tool/old\n",
        )
        .file("look.sh", "cat ~/.cache/tool/*/x ~/.cache/tool/old; touch ~/made\n")
        .file("sleep.sh", "echo up > ~/.cache/tool/job; echo up; sleep 60\n");
    fs::create_dir_all(world.path("home/.cache/tool")).expect("a directory");
    fs::write(world.path("home/.cache/tool/old"), "one\n").expect("a file");
    world
}

#[test]
fn caches_in_the_home_are_written_for_the_next_command_and_stay_as_they_are() {
    if !is_confined_here() {
        return;
    }
    let world = with_cache();
    bash(&world, "sh look.sh", &["--mode", "workspace"]).exits(1).says("one").says("Read-only file system");
    bash(&world, "sh make.sh", &["--mode", "workspace", "--session", "s"]).exits(0);
    // Whoever comes next in this workspace has them, and only where it may write.
    for more in [&["--session", "s"][..], &["--session", "other"], &[]] {
        let found = bash(&world, "sh look.sh", &[&["--mode", "workspace"], more].concat());
        found.says("made\ntwo");
    }
    let reads = bash(&world, "cat look.sh; ls ~/.cache/tool", &["--mode", "read-only", "--unsafe"]);
    assert!(!reads.out.contains("new"), "{reads:?}");
    assert_eq!(fs::read_to_string(world.path("home/.cache/tool/old")).expect("there"), "one\n");
    assert!(!exists(world.path("home/.cache/tool/new")) && !exists(world.path("home/made")));
    // A trial is for nobody.
    bash(&world, "sh make.sh; echo > ~/.cache/tool/tried", &["--mode", "workspace", "preview=true"]);
    let scratch = fs::read_dir(world.state().join("scratch")).expect("there").flatten();
    let left: Vec<_> = scratch.map(|entry| entry.file_name()).filter(|name| name.len() < 20).collect();
    assert_eq!(left, ["caches-0"]);
}

#[test]
fn two_commands_at_once_write_caches_of_their_own() {
    if !is_confined_here() {
        return;
    }
    let world = with_cache();
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    peer.call("nika_bash", json!({"command": "sh sleep.sh", "run_in_background": true}));
    let up = peer.call("nika_job_output", json!({"job_id": "j1", "filter": "up", "wait_ms": 20_000}));
    assert!(text(&up).contains("up"), "{up}");
    let beside = peer.call("nika_bash", json!({"command": "sh make.sh; sh look.sh"}));
    assert!(text(&beside).contains("made\ntwo"), "{beside}");
    peer.call("nika_job_stop", json!({"job_id": "j1"}));
    // A job takes another than the first, which is the next command's again.
    let then = text(&peer.call("nika_bash", json!({"command": "sh look.sh"})));
    assert!(then.contains("made\ntwo"), "{then}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_tool_whose_cache_does_not_exist_finds_one_that_it_can_write() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("x.sh", "mkdir -p \"$XDG_CACHE_HOME/go\" && echo \"$XDG_CACHE_HOME\"\n");
    bash(&world, "sh x.sh", &["--mode", "workspace"]).exits(0).says("/var/tmp/.cache");
    fs::create_dir_all(world.path("home/.cache")).expect("a directory");
    let set = bash(&world, "sh x.sh", &["--mode", "workspace"]);
    assert!(!set.out.contains("/var/tmp"), "{set:?}");
}

#[test]
fn one_command_after_the_other_finds_what_the_last_one_wrote_to_a_cache() {
    if !is_confined_here() {
        return;
    }
    let world = with_cache().file("count.sh", "echo >> ~/.cache/tool/count; wc -l < ~/.cache/tool/count\n");
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    for count in 1..=40 {
        let counted = text(&peer.call("nika_bash", json!({"command": "sh count.sh"})));
        assert!(counted.starts_with(&format!("{count}\n")), "{count}: {counted}");
    }
    // Jobs take others, and where they have all, a command has its own.
    for _ in 0..5 {
        let job = peer.call("nika_bash", json!({"command": "sh sleep.sh", "run_in_background": true}));
        assert!(text(&job).contains("Started"), "{job}");
    }
    let beside = text(&peer.call("nika_bash", json!({"command": "sh count.sh"})));
    assert!(beside.starts_with("1\n"), "{beside}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn what_a_command_does_to_a_cache_neither_runs_nor_stops_the_next() {
    if !is_confined_here() {
        return;
    }
    let world = with_cache()
        .file("shut.sh", "chmod 000 ~/.cache\n")
        .file(
            "plant.sh",
            "printf '#!/bin/sh\\necho PLANTED\\n' > ~/.dotnet/tools/tidy; chmod 755 ~/.dotnet/tools/tidy\n",
        )
        .file("swap.sh", "rm -rf ~/.cache/tool; ln -s /usr/share ~/.cache/tool\n");
    let bin = world.path("home/bin");
    fs::create_dir_all(world.path("home/.dotnet/tools")).expect("a directory");
    std::os::unix::fs::symlink(".dotnet/tools", &bin).expect("a link");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let run = |command: &str| {
        let mut nika = world.nika(&["call", "bash", &format!("command={command}"), "--mode", "workspace"]);
        let ran = nika.env("PATH", &path).output().expect("it runs");
        (ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned())
    };
    assert_eq!(run("sh shut.sh").0, Some(0));
    assert_eq!(run("sh make.sh").0, Some(0));
    assert!(run("sh plant.sh").1.contains("Read-only file system"), "a program of the person's");
    assert!(!exists(world.path("home/.dotnet/tools/tidy")));
    assert_eq!(run("sh swap.sh").0, Some(0));
    let rules = "permissions:\n  deny: [\"read(~/.cache/tool/old)\"]\n";
    fs::create_dir_all(world.path("home/.config/nika")).expect("a directory");
    fs::write(world.path("home/.config/nika/config.yaml"), rules).expect("a file");
    let after = run("sh look.sh; touch made");
    assert!(after.0 == Some(0) && !after.1.contains("one"), "{after:?}");
}
