//! The words of a question about a command: each effect once, what is so of the sandbox, and all that was declined.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::peer::{Peer, text};
use crate::world::{World, world};

/// The question about a call of `bash`, and what came of a no.
fn declined(world: &World, arguments: Value) -> (String, String) {
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all"]));
    peer.initialize_with("2025-11-25", json!({"elicitation": {}}));
    peer.send("tools/call", json!({"name": "nika_bash", "arguments": arguments}));
    let asked = peer.asked();
    peer.answers(&asked, json!({"action": "decline"}));
    let answer = text(&peer.next_result());
    peer.end();
    (asked["params"]["message"].as_str().expect("a message").to_owned(), answer)
}

#[test]
fn each_effect_is_said_once() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "1\n");
    symlink("a.txt", world.root().join("l")).expect("a link");
    let (asked, _) = declined(&world, json!({"command": "echo 2 > a.txt; cp l a.txt; touch l; rm a.txt"}));
    assert_eq!(asked.matches("write(a.txt) —").count(), 1, "{asked}");
    let explained = world.run(&["policy", "explain", "echo 2 > a.txt; rm a.txt"]);
    assert_eq!(explained.out.matches("  write(a.txt) ").count(), 1, "{}", explained.out);
}

#[test]
fn a_no_names_all_that_it_was_to() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "1\n");
    let (_, many) = declined(&world, json!({"command": "touch x; touch y; touch z"}));
    for part in ["exec(touch x)", "exec(touch y)", "exec(touch z)"] {
        assert!(many.contains(part), "{many}");
    }
}

#[test]
fn what_runs_without_the_sandbox_is_not_said_to_be_in_it() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "1\n");
    let arguments = json!({"command": "touch x; cat a.txt", "dangerously_disable_sandbox": true});
    let (asked, _) = declined(&world, arguments);
    assert!(asked.contains("exec(touch x) — exec, writes only inside by its words, not sandboxed"), "{asked}");
    assert!(!asked.contains("inside, sandboxed"), "{asked}");
    let (asked, _) = declined(&world, json!({"command": "touch x"}));
    assert!(asked.contains("exec(touch x) — exec, writes only inside, sandboxed"), "{asked}");
}
