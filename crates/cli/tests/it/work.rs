//! To-do lists, plans and tasks, by many processes.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::peer::Peer;
use crate::world::{Ran, exists, world};

#[test]
fn tasks_are_the_workspaces_and_lists_the_sessions() {
    let world = world();
    world.run(&["call", "task_create", "title=Fix the parser"]).exits(0).says("t1 [pending] Fix the parser");
    world.run(&["call", "task_create", "title=Release", "blocked_by=t1"]).exits(0).says("t2 [blocked]");
    world.run(&["call", "task_start", "task_id=t1", "--session", "ada"]).exits(0).says("(ada)");
    world.run(&["call", "task_start", "task_id=t1"]).exits(1).complains("NIKA-601");
    world.run(&["call", "task_complete", "task_id=t1"]).exits(0).says("May be started now: t2.");
    world.run(&["call", "task_cancel", "task_id=t2"]).exits(3).complains("NIKA-205");
    world.run(&["call", "task_cancel", "task_id=t2", "--mode", "workspace"]).exits(0).says("[cancelled]");
    world.run(&["call", "task_create", "prompt=Fix it", "--mode", "workspace"]).exits(2).complains("NIKA-800");
    let todos = json!({"todos": ["look", "mend"]}).to_string();
    world.run(&["call", "todo_write", "--json", &todos]).exits(1).complains("NIKA-603");
    world.run(&["call", "todo_write", "--json", &todos, "--session", "ada"]).exits(0).says("[ ] look");
    let plan = json!({"items": ["look", "mend"]}).to_string();
    world.run(&["call", "update_plan", "--json", &plan, "--session", "ada"]).exits(0).says("1. [pending] look");
    world.run(&["call", "plan_get", "--session", "ada"]).exits(0).says("2. [pending] mend");
    world.run(&["call", "plan_get", "--session", "bob"]).exits(0).says("There is no plan.");
}

/// Start-up is what most calls consist of.
#[test]
fn no_database_is_made_before_something_needs_it() {
    let world = world().file("a.txt", "one\n");
    world.run(&["call", "read", "file_path=a.txt"]).exits(0);
    world.run(&["tools"]).exits(0);
    let mut peer = Peer::start(world.nika(&["serve"]));
    peer.initialize("2025-06-18");
    peer.names();
    assert!(!exists(world.state().join("nika.db")));
    let made = peer.call("nika_call", json!({"tool": "task_create", "arguments": {"title": "Fix it"}}));
    assert_eq!(made["structuredContent"]["task"]["id"], "t1", "{made}");
    assert!(exists(world.state().join("nika.db")));
    world.run(&["call", "task_list"]).exits(0).says("t1 [pending] Fix it");
    let listed = peer.call("nika_call", json!({"tool": "todo_write", "arguments": {"todos": ["look"]}}));
    assert_eq!(listed["structuredContent"]["todos"][0]["content"], "look", "over stdio the process is the session");
    assert_eq!(peer.end(), 0);
}

#[test]
fn of_many_processes_that_start_one_task_one_does() {
    let world = world();
    world.run(&["call", "task_create", "title=wanted"]).exits(0);
    let starting: Vec<_> = (0..8)
        .map(|n| {
            let owner = format!("owner=w{n}");
            world
                .nika(&["call", "task_start", "task_id=t1", &owner])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("it starts")
        })
        .collect();
    let ran: Vec<Ran> = starting.into_iter().map(|child| Ran::of(child.wait_with_output().expect("it ends"))).collect();
    let (won, lost): (Vec<_>, Vec<_>) = ran.iter().partition(|ran| ran.code == 0);
    assert_eq!(won.len(), 1, "{ran:?}");
    assert!(lost.iter().all(|ran| ran.err.contains("NIKA-601")), "{ran:?}");
    let owner = won[0].out.split(['(', ')']).nth(1).expect("its owner");
    world.run(&["call", "task_get", "task_id=t1"]).says(owner);
}

/// Also where none of them finds a database.
#[test]
fn processes_that_create_tasks_at_once_lose_none() {
    let world = world();
    let creating: Vec<_> = (0..6)
        .map(|n| {
            let title = format!("title=task {n}");
            world
                .nika(&["call", "task_create", &title, "--output", "json"])
                .stdout(Stdio::piped())
                .spawn()
                .expect("it starts")
        })
        .collect();
    let ids: BTreeSet<String> = creating
        .into_iter()
        .map(|child| Ran::of(child.wait_with_output().expect("it ends")).json())
        .map(|made: Value| made["structured"]["task"]["id"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(ids.into_iter().collect::<Vec<_>>(), ["t1", "t2", "t3", "t4", "t5", "t6"]);
    assert_eq!(world.json(&["task_list"])["structured"]["total"], 6);
}
