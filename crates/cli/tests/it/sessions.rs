//! Named sessions: what was read in one process counts in the next, and nothing without a name.

use crate::world::{exists, world};

const EDIT: &[&str] = &["call", "edit", "file_path=a.txt", "old_string=two", "new_string=2", "--allow-write"];
const READ: &[&str] = &["call", "read", "file_path=a.txt"];

fn in_session<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [words, &["--session", "work"]].concat()
}

#[test]
fn read_edit_and_undo_over_processes() {
    let world = world().file("a.txt", "one\ntwo\n");
    world.run(READ).exits(0);
    world.run(EDIT).exits(1).complains("NIKA-203");
    world.run(&in_session(EDIT)).exits(1).complains("NIKA-203");
    world.run(&in_session(READ)).exits(0);
    world.run(&in_session(EDIT)).exits(0);
    assert_eq!(world.text("a.txt"), "one\n2\n");
    world.run(&["checkpoints"]).exits(0).says("a.txt").says("edit");
    world.run(&["undo", "--dry-run"]).exits(0).says("+two");
    assert_eq!(world.text("a.txt"), "one\n2\n");
    world.run(&["undo"]).exits(0);
    assert_eq!(world.text("a.txt"), "one\ntwo\n");
    world.run(&["undo", "c000000000"]).exits(1).complains("NIKA-221");
}

#[test]
fn what_an_undo_brings_back_counts_as_read_in_the_next_process_too() {
    let world = world().file("a.txt", "one\ntwo\n");
    world.run(&in_session(READ)).exits(0);
    let delete = r#"{"changes": [{"op": "delete", "file_path": "a.txt"}]}"#;
    for change in [&["call", "change_set", "--json", delete, "--allow-write"][..], EDIT] {
        world.run(&in_session(change)).exits(0);
        world.run(&in_session(&["call", "undo", "--mode", "accept-edits"])).exits(0);
        assert_eq!(world.text("a.txt"), "one\ntwo\n");
    }
    world.run(&in_session(EDIT)).exits(0);
    assert_eq!(world.text("a.txt"), "one\n2\n");
    let kept = std::fs::read_to_string(world.state().join("sessions/work.json")).expect("a session");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    let hash = kept["extra"]["former"][0]["states"][0][0].as_str().expect("a hash in hex");
    assert_eq!(hash.len(), 64);
    world.run(&[EDIT, &["--session", "other"]].concat()).exits(1).complains("NIKA-203");
}

#[test]
fn a_session_does_not_grow_with_each_file_that_it_deletes() {
    const FILES: usize = 300;
    let world = world();
    let change = |op: &str, n: usize| match op {
        "create" => serde_json::json!({"op": "create", "file_path": format!("f/{n}"), "content": "x\n"}),
        _ => serde_json::json!({"op": "delete", "file_path": format!("f/{n}")}),
    };
    for (op, some) in [("create", 0..FILES), ("delete", 0..FILES / 2), ("delete", FILES / 2..FILES)] {
        let changes: Vec<serde_json::Value> = some.map(|n| change(op, n)).collect();
        let set = serde_json::json!({ "changes": changes }).to_string();
        world.run(&in_session(&["call", "change_set", "--json", &set, "--allow-write"])).exits(0);
    }
    let kept = std::fs::read_to_string(world.state().join("sessions/work.json")).expect("a session");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    let former = kept["extra"]["former"].as_array().expect("what was seen");
    let last =
        |n: usize| former.iter().any(|one| one["path"].as_str().is_some_and(|path| path.ends_with(&format!("/f/{n}"))));
    assert_eq!(former.len(), 256, "the last ones");
    assert!((FILES / 2..FILES).all(last));
}

#[test]
fn what_was_shown_is_kept_and_an_older_nikas_session_has_shown_nothing() {
    let world = world().file("a.txt", "one\ntwo\nthree\n");
    let write = ["call", "write", "file_path=a.txt", "content=new", "--allow-write"];
    world.run(&in_session(&[READ, &["limit=1"]].concat())).exits(0);
    world.run(&in_session(&write)).exits(1).complains("lines 2–3 of 3 were not shown");
    world.run(&in_session(&[READ, &["offset=2"]].concat())).exits(0);
    let kept = world.state().join("sessions/work.json");
    let text = std::fs::read_to_string(&kept).expect("a session");
    let mut session: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    session["extra"].as_object_mut().expect("fields").remove("shown").expect("it is kept");
    std::fs::write(&kept, session.to_string()).expect("it is ours");
    world.run(&in_session(&write)).exits(1).complains("lines 1–3 of 3 were not shown");
    std::fs::write(&kept, text).expect("it is ours");
    world.run(&in_session(&write)).exits(0);
    assert_eq!(world.text("a.txt"), "new");
}

#[test]
fn a_change_from_outside_is_merged_from_the_kept_snapshot() {
    let world = world().file("a.txt", "one\n\n\n\ntwo\n");
    world.run(&in_session(READ)).exits(0);
    std::fs::write(world.root().join("a.txt"), "ONE\n\n\n\ntwo\n").expect("a file");
    world.run(&in_session(EDIT)).exits(0);
    assert_eq!(world.text("a.txt"), "ONE\n\n\n\n2\n");
    // And the session knows what it wrote itself.
    let again = ["call", "edit", "file_path=a.txt", "old_string=2", "new_string=II", "--allow-write"];
    world.run(&in_session(&again)).exits(0);
    assert_eq!(world.text("a.txt"), "ONE\n\n\n\nII\n");
}

#[test]
fn names_are_checked_and_others_are_other_sessions() {
    let world = world().file("a.txt", "one\ntwo\n");
    world.run(&[READ, &["--session", "../evil"]].concat()).exits(2).complains("NIKA-100");
    world.run(&in_session(READ)).exits(0);
    world.run(&[EDIT, &["--session", "other"]].concat()).exits(1).complains("NIKA-203");
    assert!(exists(world.state().join("sessions/work.json")));
}

#[test]
fn undo_of_one_call_by_its_name() {
    let world = world();
    let first = world.json(&["write", "file_path=a.txt", "content=a", "--allow-write"]);
    world.json(&["write", "file_path=b.txt", "content=b", "--allow-write"]);
    let call = first["call_id"].as_str().expect("a name").to_owned();
    world.run(&["undo", &call]).exits(0);
    assert!(!exists(world.root().join("a.txt")) && exists(world.root().join("b.txt")));
    world.run(&["undo", "--mode", "read-only"]).exits(3);
    assert!(exists(world.root().join("b.txt")));
}

#[test]
fn undo_in_a_session_that_is_none_says_which_there_are_and_makes_none() {
    let world = world();
    world
        .run(&["call", "write", "file_path=a.txt", "content=one", "--mode", "accept-edits", "--session", "mine"])
        .exits(0);
    world.run(&["undo", "--session", "mien"]).exits(2).complains("no session here is called 'mien'").complains("mine");
    let log = world.run(&["log", "list"]);
    assert!(log.out.contains("mine") && !log.out.contains("mien"), "{}", log.out);
    world.run(&["undo", "--session", "mine"]).exits(0);
}

#[test]
fn a_shell_completes_what_people_are_offered() {
    let world = world();
    for shell in ["bash", "zsh", "fish"] {
        let script = world.run(&["completions", shell]);
        script.exits(0).says("sandbox").says("undo");
        for hidden in ["__parse", "__probe", "__surface", "__help"] {
            assert!(
                !script.out.contains(&format!("{hidden} ")) && !script.out.contains(&format!("{hidden}'")),
                "{shell}: {hidden}"
            );
        }
    }
}
