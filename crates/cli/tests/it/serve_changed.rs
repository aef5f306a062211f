//! What changes while a server runs: rules and trust hold from then on, and what cannot stops it.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::peer::{Peer, text};
use crate::shell::is_confined_here;
use crate::world::{World, world};

fn server(world: &World) -> Peer {
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all"]));
    peer.initialize("2025-11-25");
    peer
}

/// Calls until the answer says `word`: files are looked at four times a second.
fn until(peer: &mut Peer, word: &str, tool: &str, arguments: Value) {
    let since = Instant::now();
    loop {
        let answer = text(&peer.call(tool, arguments.clone()));
        if answer.contains(word) {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(10), "{word}: {answer}");
    }
}

fn write(name: &str) -> Value {
    json!({"file_path": name, "content": "x\n"})
}

#[test]
fn trust_that_is_taken_back_and_rules_that_are_added_hold_at_once() {
    let rules = "permissions:\n  allow: [\"write(docs/**)\"]\n";
    let world = world().file(".nika/config.yaml", rules).file("a.txt", "one\n").file("secret/x", "two\n");
    std::fs::create_dir(world.root().join(".git")).expect("made");
    world.run(&["trust", "--yes"]).exits(0);
    let mut peer = server(&world);
    let read = |name: &str| json!({"file_path": name});
    assert!(text(&peer.call("nika_write", write("docs/a"))).contains("Created"));
    // A person's own rule, and one of the repository's, which tightens also where nobody trusts it.
    let own = world.path("home/.config/nika");
    std::fs::create_dir_all(&own).expect("made");
    std::fs::write(own.join("config.yaml"), "permissions:\n  deny: [\"read(secret/**)\"]\n").expect("written");
    until(&mut peer, "NIKA-205", "nika_read", read("secret/x"));
    assert!(text(&peer.call("nika_write", write("docs/b"))).contains("Created"), "the repository is trusted");
    world.run(&["trust", "--revoke"]).exits(0);
    until(&mut peer, "NIKA-205", "nika_write", write("docs/c"));
    world.run(&["trust", "--yes"]).exits(0);
    until(&mut peer, "Created", "nika_write", write("docs/d"));
    let tighter = rules.replace("permissions:\n", "permissions:\n  deny: [\"read(a.txt)\"]\n");
    std::fs::write(world.root().join(".nika/config.yaml"), tighter).expect("written");
    until(&mut peer, "NIKA-205", "nika_read", read("a.txt"));
    assert!(text(&peer.call("nika_write", write("docs/e"))).contains("NIKA-205"), "it is other than what was trusted");
    // A manifest that came meanwhile.
    std::fs::write(world.root().join(".nika/policy.json"), "{\"denyTools\": [\"glob\"]}").expect("written");
    until(&mut peer, "NIKA-102", "nika_glob", json!({"pattern": "*"}));
    let told = |message: &&Value| message["method"] == "notifications/tools/list_changed";
    assert_eq!(peer.heard.iter().filter(told).count(), 1, "the list changed once: {:?}", peer.heard);
    assert!(!peer.names().contains(&"nika_glob".to_owned()));
    // Whoever asks first is answered by what holds now, and told no later than with the next call.
    std::fs::remove_file(world.root().join(".nika/policy.json")).expect("removed");
    let since = Instant::now();
    while !peer.names().contains(&"nika_glob".to_owned()) {
        assert!(since.elapsed() < Duration::from_secs(10), "it is listed again");
    }
    peer.call("nika_list_dir", json!({}));
    assert_eq!(peer.heard.iter().filter(told).count(), 2);
    assert_eq!(peer.end(), 0);
}

/// Something stands in, meanwhile, for each guarded name that does not exist.
#[test]
fn a_repository_is_trusted_and_its_hooks_run_also_while_a_command_of_it_does() {
    if !is_confined_here() {
        return;
    }
    let hook = "#!/bin/sh\ngrep -q DENY && echo '{\"decision\": \"deny\", \"reason\": \"by the hook\"}'\nexit 0\n";
    let config = "hooks: [{on: before, tool: bash, run: [.nika/check.sh]}]\n\
                  permissions:\n  allow: [\"write(docs/**)\"]\n";
    let world = world().file(".nika/config.yaml", config).file(".nika/check.sh", hook);
    let script = world.root().join(".nika/check.sh");
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).expect("executable");
    std::fs::create_dir(world.root().join(".git")).expect("made");
    world.run(&["trust", "--yes"]).exits(0);
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    let lasts = json!({"command": "touch ran; sleep 60", "run_in_background": true});
    let begun = text(&peer.call("nika_bash", lasts));
    assert!(begun.contains("j1"), "{begun}");
    let since = Instant::now();
    while std::fs::symlink_metadata(world.root().join(".mcp.json")).is_err() {
        assert!(since.elapsed() < Duration::from_secs(10), "the job runs");
    }
    let denied = json!({"command": "echo DENY"});
    world.run(&["call", "bash", "command=echo DENY"]).exits(3).complains("by the hook");
    world.run(&["trust", "--status"]).exits(0).says("trusted");
    let mut beside = server(&world);
    for (peer, name) in [(&mut peer, "docs/a"), (&mut beside, "docs/b")] {
        let since = Instant::now();
        // Twice as long as files are not looked at.
        while since.elapsed() < Duration::from_millis(500) {
            let refused = text(&peer.call("nika_bash", denied.clone()));
            assert!(refused.contains("by the hook"), "{refused}");
        }
        let written = text(&peer.call("nika_write", write(name)));
        assert!(written.contains("Created"), "{written}");
    }
    assert!(text(&peer.call("nika_job_stop", json!({"job_id": "j1"}))).contains("ended"));
    assert_eq!((peer.end(), beside.end()), (0, 0));
}

#[test]
fn nothing_runs_in_a_root_that_is_another_directory_by_now() {
    let world = world().file("a.txt", "one\n");
    let mut peer = server(&world);
    let read = json!({"file_path": "a.txt"});
    assert!(text(&peer.call("nika_read", read.clone())).contains("one"));
    let moved = world.path("moved");
    std::fs::rename(world.root(), &moved).expect("moved");
    for gone in [true, false] {
        let word = if gone { "is gone" } else { "another directory" };
        for (tool, arguments) in [
            ("nika_read", read.clone()),
            ("nika_grep", json!({"pattern": "one"})),
            ("nika_write", write("new")),
            ("nika_bash", json!({"command": "ls"})),
            ("nika_undo", json!({})),
        ] {
            let answer = text(&peer.call(tool, arguments));
            assert!(answer.contains("NIKA-904") && answer.contains(word), "{tool}: {answer}");
        }
        if gone {
            std::fs::create_dir(world.root()).expect("made anew");
        }
    }
    assert!(!moved.join("new").exists() && !world.root().join("new").exists());
    std::fs::remove_dir(world.root()).expect("it is empty");
    std::fs::rename(&moved, world.root()).expect("moved back");
    assert!(text(&peer.call("nika_read", read)).contains("one"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn nothing_runs_while_configuration_is_broken_or_holds_only_for_a_new_server() {
    let world = world().file("a.txt", "one\n");
    let own = world.path("home/.config/nika");
    std::fs::create_dir_all(&own).expect("made");
    let config = own.join("config.yaml");
    std::fs::write(&config, "mode: ask\n").expect("written");
    let mut peer = server(&world);
    let read = json!({"file_path": "a.txt"});
    assert!(text(&peer.call("nika_read", read.clone())).contains("one"));
    for (said, word) in [
        ("mode: ask\npermissions: {deny: [\"nonsense(\"]}\n", "NIKA-"),
        ("mode: read-only\n", "the mode"),
        ("mode: ask\nhooks:\n  before: [{command: [\"true\"]}]\n", "hooks"),
    ] {
        std::fs::write(&config, said).expect("written");
        until(&mut peer, word, "nika_read", read.clone());
        let refused = text(&peer.call("nika_list_dir", json!({})));
        assert!(refused.contains("NIKA-") && !refused.contains("a.txt  "), "{said}: {refused}");
        std::fs::write(&config, "mode: ask\n").expect("written");
        until(&mut peer, "one", "nika_read", read.clone());
    }
    assert_eq!(peer.end(), 0);
    world.run(&["log", "verify"]).exits(0);
}
