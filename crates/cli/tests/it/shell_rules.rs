//! Rules on writing, and commands that nobody can read beforehand: in the foreground, in the background, in an
//! interpreter. What a rule denies, or would have asked about, does not come to be.

use serde_json::json;

use crate::peer::{Peer, text};
use crate::shell::is_confined_here;
use crate::world::{Ran, World, exists, world};

const SCRIPT: &str = "mkdir -p docs src\necho e > docs/x\necho s > src/x\n";

fn server(world: &World, more: &[&str]) -> Peer {
    let words: Vec<&str> = ["serve", "--list", "all"].iter().chain(more).copied().collect();
    let mut peer = Peer::start(world.nika(&words));
    peer.initialize("2025-11-25");
    peer
}

fn run_on_path(world: &World, path: &str, words: &[&str]) -> Ran {
    Ran::of(world.nika(words).env("PATH", path).output().expect("the program starts"))
}

#[test]
fn what_a_rule_denies_or_asks_about_is_left_out_of_what_a_script_did() {
    if !is_confined_here() {
        return;
    }
    for (rule, said) in [("--deny", "as a rule denies it"), ("--ask", "as a rule has it asked about")] {
        let world = world().file("x.sh", SCRIPT).file("docs/a", "a\n");
        let command = ["call", "bash", "command=sh x.sh", "--mode", "workspace", rule, "write(docs/**)"];
        let ran = world.run(&command);
        ran.exits(3).says(said).says("docs/x");
        assert!(!exists(world.root().join("docs/x")), "{ran:?}");
        assert_eq!(world.text("src/x"), "s\n");
    }
}

#[test]
fn a_variable_that_decides_what_runs_rides_on_no_rule_for_a_command() {
    use std::os::unix::fs::PermissionsExt;
    if !is_confined_here() {
        return;
    }
    let world = world().file("git", "#!/bin/sh\necho ran-as-git\n").file("x.sh", "true\n");
    std::fs::set_permissions(world.root().join("git"), PermissionsExt::from_mode(0o755)).expect("rights");
    let call =
        |command: &str, rule: &str, kind: &str| world.run(&["call", "bash", &format!("command={command}"), kind, rule]);
    for command in [
        "PATH=.:$PATH git status",
        "PATH=. git status",
        "LD_PRELOAD=./x.so git status",
        "GIT_EXTERNAL_DIFF=./x git status",
        "BASH_ENV=./x git status",
        "A=1 PATH=. git status",
        "PATH=. xargs git status",
        "SOMETHING=x git status",
        "env SOMETHING=x git status",
    ] {
        for rule in ["exec(git status)", "exec(git *)", "Bash(git:*)"] {
            let refused = call(command, rule, "--allow");
            refused.exits(3).complains("NIKA-205");
            assert!(!refused.out.contains("ran-as-git"), "{refused:?}");
        }
        // A denial holds with and without it.
        call(command, "exec(git status)", "--deny").exits(3);
    }
    // It is allowed where the rule names it, and that is the rule that is offered.
    let explained = world.run(&["policy", "explain", "LD_PRELOAD=./x.so ls"]);
    explained.says("exec(LD_PRELOAD=./x.so ls)");
    assert!(!explained.out.contains("`exec(ls)`"), "{explained:?}");
    call("PATH=. git status", "exec(PATH=. git status)", "--allow").exits(0).says("ran-as-git");
    // What is known to be about looks and words alone needs no word of a rule; what nobody knows does.
    call("NO_COLOR=1 LC_ALL=C git --version", "exec(git --version)", "--allow").exits(0);
    call("A=1 sh x.sh", "exec(sh x.sh)", "--allow").exits(3);
    call("A=1 sh x.sh", "exec(A=1 sh x.sh)", "--allow").exits(0);
}

#[test]
fn rules_on_writing_hold_for_jobs_in_the_background() {
    if !is_confined_here() {
        return;
    }
    for rule in ["--deny", "--ask"] {
        let world = world().file("x.sh", SCRIPT).file("docs/a", "a\n");
        let mut peer = server(&world, &["--mode", "workspace", rule, "write(docs/**)"]);
        let refused = peer.call("nika_bash", json!({"command": "sh x.sh", "run_in_background": true}));
        assert!(text(&refused).contains("NIKA-910"), "{refused}");
        assert!(text(&refused).contains("rules leave only some of the paths here"), "{refused}");
        // What only reads may run, and the answer says what holds it.
        let reads = peer.call("nika_bash", json!({"command": "cat docs/a", "run_in_background": true}));
        assert!(text(&reads).contains("sandbox read-only"), "{reads}");
        let output = peer.call("nika_job_output", json!({"job_id": "j1", "wait_ms": 10_000}));
        assert!(text(&output).contains("sandbox read-only"), "{output}");
        assert_eq!(peer.end(), 0);
        assert!(!exists(world.root().join("docs/x")) && !exists(world.root().join("src/x")));
    }
    // A rule that speaks of another place is none for this one.
    let world = world().file("x.sh", SCRIPT);
    let mut peer = server(&world, &["--mode", "workspace", "--deny", "write(//etc/**)"]);
    let started = peer.call("nika_bash", json!({"command": "sh x.sh", "run_in_background": true}));
    assert!(text(&started).contains("Started j1") && text(&started).contains("sandbox workspace"), "{started}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn rules_on_writing_hold_for_interpreters_and_each_result_says_what_held() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("docs/a", "a\n");
    let mut peer = server(&world, &["--mode", "accept-all", "--deny", "write(docs/**)"]);
    let ran = peer.call("nika_repl", json!({"language": "bash", "code": "echo e > docs/x; echo $((20 + 1))"}));
    assert!(text(&ran).contains("21") && text(&ran).contains("sandbox read-only"), "{ran}");
    assert!(text(&ran).contains("rules leave only some of the paths"), "{ran}");
    assert!(!exists(world.root().join("docs/x")));
    assert_eq!(peer.end(), 0);
    let mut peer = server(&world, &["--mode", "accept-all"]);
    let ran = peer.call("nika_repl", json!({"language": "bash", "code": "echo e > docs/x"}));
    assert!(text(&ran).contains("sandbox workspace"), "{ran}");
    assert_eq!(world.text("docs/x"), "e\n");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_test_run_that_failed_is_a_failure_and_a_search_without_a_match_is_none() {
    if !is_confined_here() {
        return;
    }
    // A program of that name: what it says with its code is what counts.
    let world = world().file("a.txt", "one\n").file("bin/pytest", "#!/bin/sh\nexit 1\n");
    let program = world.root().join("bin/pytest");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("its rights can be set");
    let path = format!("{}:/usr/bin:/bin", world.root().join("bin").display());
    let ran = run_on_path(&world, &path, &["call", "bash", "command=pytest", "--mode", "workspace"]);
    ran.exits(1).says("exit 1: tests failed");
    let words = ["call", "bash", "command=pytest && grep -q one a.txt", "--mode", "workspace"];
    let ran = run_on_path(&world, &path, &words);
    ran.exits(1);
    assert!(!ran.out.contains("no match"), "{ran:?}");
    world.run(&["call", "bash", "command=grep two a.txt"]).exits(0).says("exit 1: no match");
}

#[test]
fn what_only_reads_takes_no_program_of_the_workspace_for_one_of_the_system() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("ls", "#!/bin/sh\necho taken over\n").file("bin/ls", "#!/bin/sh\necho taken over\n");
    for name in ["ls", "bin/ls"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(world.root().join(name), mode).expect("its rights can be set");
    }
    let bin = world.root().join("bin").display().to_string();
    for path in [".:/usr/bin:/bin".to_owned(), format!("{bin}:/usr/bin:/bin"), ":/usr/bin:/bin".to_owned()] {
        let ran = run_on_path(&world, &path, &["call", "bash", "command=ls"]);
        ran.exits(0).says("sandbox read-only");
        assert!(!ran.out.contains("taken over"), "{path}: {ran:?}");
    }
    // A builder finds what the person put into the path, but nothing that is relative.
    let path = format!("{bin}:/usr/bin:/bin");
    run_on_path(&world, &path, &["call", "bash", "command=ls > out", "--mode", "workspace"]).exits(0);
    assert_eq!(world.text("out"), "taken over\n");
}

#[test]
fn a_job_that_only_reads_leaves_the_next_command_its_undo() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n").file("x.sh", "sleep 60\n");
    let mut peer = server(&world, &["--mode", "workspace"]);
    peer.call("nika_bash", json!({"command": "sleep 60", "run_in_background": true}));
    let ran = peer.call("nika_bash", json!({"command": "echo two > b.txt"}));
    assert!(text(&ran).contains("undo takes it back"), "{ran}");
    let recorded =
        || std::fs::read_to_string(world.state().join("checkpoints.log")).expect("a log").contains("settled");
    assert!(!recorded(), "it ran over a layer");
    peer.call("nika_bash", json!({"command": "sh x.sh", "run_in_background": true}));
    let ran = peer.call("nika_bash", json!({"command": "echo three > b.txt"}));
    assert!(text(&ran).contains("undo takes it back") && recorded(), "{ran}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_guarded_name_that_a_job_holds_empty_is_refused_before_anybody_is_asked() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("x.sh", "echo up\nsleep 60\n");
    let held = || std::fs::symlink_metadata(world.root().join(".envrc")).is_ok();
    let write = ["call", "write", "file_path=.envrc", "content=x", "--mode", "workspace"];
    for ends_well in [true, false] {
        let mut peer = server(&world, &["--mode", "workspace"]);
        peer.call("nika_bash", json!({"command": "sh x.sh", "run_in_background": true}));
        while !text(&peer.call("nika_job_list", json!({}))).contains("sh x.sh") || !held() {
            std::thread::yield_now();
        }
        world.run(&write).exits(1).complains("NIKA-404 .envrc is held empty").complains("job_stop");
        let deep = ["call", "write", "file_path=.cargo/config.toml", "content=x", "--mode", "workspace"];
        world.run(&deep).exits(1).complains("NIKA-404 .cargo/config.toml is held empty");
        let beside = format!("file_path={ends_well}");
        world.run(&["call", "write", &beside, "content=x", "--mode", "workspace"]).exits(0);
        match ends_well {
            true => assert_eq!(peer.end(), 0),
            false => peer.kill(),
        }
        // Nobody is here to say yes, which is all that is missing by now.
        let since = std::time::Instant::now();
        let mut asked = world.run(&write);
        // What watched over the job of a killed server has to notice that first.
        while !ends_well && asked.err.contains("NIKA-404") && since.elapsed().as_secs() < 20 {
            asked = world.run(&write);
        }
        assert!(!asked.err.contains("NIKA-404") && asked.err.contains("person"), "{asked:?}");
        assert!(!held(), "what a killed run left is cleared");
    }
}
