//! What jobs and interpreters, which have no layer, leave of git between two commits, and what others do with git beside them.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::peer::{Peer, text};
use crate::shell::{git, is_confined_here};
use crate::shell_tracked::settled;

#[test]
fn a_job_that_leaves_git_between_two_commits_says_so_at_its_end() {
    if !is_confined_here() {
        return;
    }
    let world = settled();
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    let started = peer
        .call("nika_bash", json!({"command": "git switch -q keys 2>/dev/null; sleep 0.3", "run_in_background": true}));
    assert!(text(&started).contains("Started j1"), "{started}");
    let ended = peer.call("nika_bash", json!({"command": "sleep 2; true"}));
    let told = format!("{}{}", text(&ended), text(&peer.call("nika_bash", json!({"command": "true"}))));
    assert!(told.contains("git has recorded other content than it could put in place: "), "{told}");
    assert!(told.contains(".env"), "{told}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_job_that_leaves_git_between_two_commits_and_runs_on_says_what_it_changed_too() {
    if !is_confined_here() {
        return;
    }
    let world = settled();
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    let command = "git switch -q keys 2>/dev/null; echo 1 > made; sleep 60 &";
    peer.call("nika_bash", json!({"command": command, "run_in_background": true}));
    let (mut told, since) = (String::new(), Instant::now());
    while !told.contains("1 process of it runs on") && since.elapsed() < Duration::from_secs(60) {
        told = text(&peer.call("nika_job_output", json!({"job_id": "j1", "wait_ms": 1_000})));
    }
    let stopped = text(&peer.call("nika_job_stop", json!({"job_id": "j1"})));
    assert!(stopped.contains("git has recorded other content than it could put in place: "), "{told} {stopped}");
    assert!(stopped.contains("undo takes it back"), "{told} {stopped}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_job_that_looks_with_git_says_nothing_of_where_others_went_meanwhile() {
    if !is_confined_here() {
        return;
    }
    let world = settled();
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    let looks = "until [ -e go ]; do git status >out.txt; sleep 0.05; done; git status >out.txt";
    let started = peer.call("nika_bash", json!({"command": looks, "run_in_background": true}));
    assert!(text(&started).contains("Started j1"), "{started}");
    git(&world.root(), &["switch", "-q", "keys"]);
    fs::write(world.root().join(".env"), "SECRET=mine\n").expect("written");
    fs::write(world.root().join("go"), "").expect("written");
    let (mut told, since) = (String::new(), Instant::now());
    while !told.contains("1 created") && since.elapsed() < Duration::from_secs(60) {
        let news = peer.call("nika_job_output", json!({"job_id": "j1", "wait_ms": 1_000}));
        told.push_str(&format!("{}{}", text(&news), text(&peer.call("nika_sleep", json!({"duration_ms": 20})))));
    }
    assert!(told.contains("1 created") && !told.contains("git has recorded"), "{told}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn code_for_an_interpreter_says_nothing_of_where_others_went_meanwhile() {
    if !is_confined_here() {
        return;
    }
    const SWITCHES: &str = "import subprocess; subprocess.run(['git', 'switch', '-q', 'keys'], capture_output=True)";
    const WAITS: &str = "open('begun', 'w').close()\nimport os, time\nwhile not os.path.exists('go'): time.sleep(0.01)";
    let world = settled();
    let mut peer = crate::shell_recorded::serve(&world);
    let said = text(&peer.call("nika_repl", json!({"language": "python", "code": SWITCHES})));
    assert!(said.contains("git has recorded other content than it could put in place: .env"), "{said}");
    peer.send("tools/call", json!({"name": "nika_repl", "arguments": {"language": "python", "code": WAITS}}));
    let since = Instant::now();
    while !world.root().join("begun").exists() {
        assert!(since.elapsed() < Duration::from_secs(20), "it never began");
    }
    git(&world.root(), &["switch", "-q", "-f", "main"]);
    fs::write(world.root().join(".env"), "SECRET=mine\n").expect("written");
    fs::write(world.root().join("go"), "").expect("written");
    let said = text(&peer.next_result());
    assert!(said.contains("1 created") && !said.contains("git has recorded"), "{said}");
    assert_eq!(peer.end(), 0);
}
