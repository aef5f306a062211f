//! What files have beside their content, and whom they belong to: kept by moves, given back by undo.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use serde_json::json;

use crate::peer::Peer;
use crate::shell::is_confined_here;
use crate::world::{World, world};

const SOMEBODY: u32 = 34_567;

/// Inode, owner, rights and an attribute.
fn has(path: &Path) -> (u64, u32, u32, Option<Vec<u8>>) {
    let meta = fs::symlink_metadata(path).expect("it stands there");
    let mut value = [0; 64];
    let attribute = rustix::fs::getxattr(path, "user.k", &mut value[..]).map(|length| value[..length].to_vec()).ok();
    (meta.ino(), meta.uid(), meta.mode() & 0o7777, attribute)
}

fn give(path: &Path, attribute: &str) -> bool {
    rustix::fs::setxattr(path, "user.k", attribute.as_bytes(), rustix::fs::XattrFlags::empty()).is_ok()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn moves(world: &World, changes: &str) -> String {
    let set = format!(r#"{{"changes": {changes}}}"#);
    let answer = world.json(&["change_set", "--json", &set, "--mode", "accept-edits"]);
    assert_eq!(answer["ok"], true, "{answer}");
    answer["call_id"].as_str().expect("a call").to_owned()
}

#[test]
fn a_move_keeps_the_very_file() {
    let world = world().file("a", "one\n").file("b", "two\n").file("c", "three\n").file("same", "one\n");
    let at = |name: &str| world.root().join(name);
    if is_root() {
        chown(at("a"), Some(SOMEBODY), Some(SOMEBODY)).expect("root may");
    }
    fs::set_permissions(at("a"), Permissions::from_mode(0o4755)).expect("a mode");
    give(&at("a"), "v");
    fs::hard_link(at("b"), at("b2")).expect("a second name");
    let (a, b) = (has(&at("a")), has(&at("b")));
    let call = moves(
        &world,
        r#"[{"op": "move", "file_path": "a", "to": "d/a"}, {"op": "move", "file_path": "b", "to": "a"},
            {"op": "delete", "file_path": "same"}, {"op": "create", "file_path": "copy", "content": "one\n"}]"#,
    );
    assert_eq!((has(&at("d/a")), has(&at("a"))), (a.clone(), b.clone()));
    assert_eq!(fs::metadata(at("a")).expect("there").nlink(), 2, "the second name is one of it");
    assert_ne!(has(&at("copy")).0, a.0);
    world.run(&["undo", &call]).exits(0);
    assert_eq!((has(&at("a")), has(&at("b"))), (a.clone(), b));
    assert!(!at("d").exists() && !at("copy").exists());
    // What is edited on its way is another file, with the same owner, rights and attributes.
    let session = ["--session", "s", "--mode", "accept-edits"];
    world.run(&[&["call", "read", "file_path=c"][..], &session[..2]].concat()).exits(0);
    if is_root() {
        chown(at("c"), Some(SOMEBODY), Some(SOMEBODY)).expect("root may");
    }
    let marked = give(&at("c"), "w");
    let set = r#"{"changes": [{"op": "move", "file_path": "c", "to": "e"},
        {"op": "edit", "file_path": "e", "old_string": "three", "new_string": "four"}]}"#;
    world.run(&[&["call", "change_set", "--json", set][..], &session].concat()).exits(0);
    let e = has(&at("e"));
    assert_eq!(world.text("e"), "four\n");
    assert_eq!((e.1, e.3.as_deref()), (if is_root() { SOMEBODY } else { e.1 }, marked.then_some(&b"w"[..])));
}

#[test]
fn a_swap_by_moves_swaps_the_very_files() {
    let world = world().file("a", "same\n").file("b", "same\n");
    let at = |name: &str| world.root().join(name);
    give(&at("a"), "a");
    give(&at("b"), "b");
    let (a, b) = (has(&at("a")), has(&at("b")));
    moves(
        &world,
        r#"[{"op": "move", "file_path": "a", "to": "t"}, {"op": "move", "file_path": "b", "to": "a"},
            {"op": "move", "file_path": "t", "to": "b"}]"#,
    );
    // Byte for byte nothing changes, so nothing is moved; by content that differs, each is what it was.
    assert_eq!((has(&at("a")).3, has(&at("b")).3), (a.3, b.3));
    let names = fs::read_dir(world.root()).expect("a directory").count();
    assert_eq!(names, 2, "no temporary name stays");
}

#[test]
fn a_hard_link_that_makes_room_for_its_own_file_leaves_no_second_name() {
    let world = world().file("a", "one\n");
    fs::hard_link(world.root().join("a"), world.root().join("b")).expect("a second name");
    moves(&world, r#"[{"op": "delete", "file_path": "b"}, {"op": "move", "file_path": "a", "to": "b"}]"#);
    let names: Vec<_> =
        fs::read_dir(world.root()).expect("a directory").map(|entry| entry.expect("one").file_name()).collect();
    assert_eq!(names, ["b"]);
    assert_eq!(world.text("b"), "one\n");
}

#[test]
fn undo_gives_nobodys_content_to_somebody_else() {
    if !is_confined_here() || !is_root() {
        return;
    }
    for way in ["layer", "job"] {
        let world = world().file("a", "root only\n").file("b", "theirs\n").file("go.sh", "mv -f b a\n");
        let at = |name: &str| world.root().join(name);
        fs::set_permissions(at("a"), Permissions::from_mode(0o600)).expect("a mode");
        chown(at("b"), Some(SOMEBODY), Some(SOMEBODY)).expect("root may");
        let (mine, theirs) = (has(&at("a")), has(&at("b")));
        let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
        peer.initialize("2025-11-25");
        peer.call("nika_bash", json!({"command": "sh go.sh", "run_in_background": way == "job"}));
        if way == "job" {
            peer.call("nika_job_output", json!({"job_id": "j1", "wait_ms": 20_000, "filter": "^never$"}));
        }
        assert!(!at("b").exists(), "{way}");
        peer.call("nika_undo", json!({}));
        assert_eq!(peer.end(), 0);
        let (a, b) = (has(&at("a")), has(&at("b")));
        assert_eq!((a.1, a.2, world.text("a")), (mine.1, 0o600, "root only\n".to_owned()), "{way}");
        assert_eq!((b.1, b.2), (theirs.1, theirs.2), "{way}");
    }
}

#[test]
fn undo_takes_back_attributes_that_a_command_gave() {
    if !is_confined_here() {
        return;
    }
    let world = world()
        .file("a", "one\n")
        .file("go.py", "import os\nos.setxattr('a', 'user.k', b'given')\nopen('a', 'a').write('two\\n')\n");
    if !give(&world.root().join("go.py"), "x") {
        return;
    }
    let answer = world.json(&["bash", "command=python3 go.py", "--mode", "workspace"]);
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(has(&world.root().join("a")).3.as_deref(), Some(&b"given"[..]));
    world.run(&["undo", answer["call_id"].as_str().expect("a call")]).exits(0);
    assert_eq!((world.text("a").as_str(), has(&world.root().join("a")).3), ("one\n", None));
}

#[test]
fn a_set_follows_no_link_that_it_takes_away() {
    let set = |changes: &str| {
        let world = world().file("d/x", "x\n").file("b", "B\n");
        std::os::unix::fs::symlink("d", world.root().join("l")).expect("a link");
        std::os::unix::fs::symlink("b", world.root().join("k")).expect("a link");
        let set = format!(r#"{{"changes": {changes}}}"#);
        let ran = world.run(&["call", "change_set", "--json", &set, "--mode", "accept-edits"]);
        (world, ran)
    };
    for (changes, says) in [
        (
            r#"[{"op": "delete", "file_path": "l"}, {"op": "create", "file_path": "l/new", "content": "n"}]"#,
            "leads through l, a link",
        ),
        (
            r#"[{"op": "move", "file_path": "l", "to": "l9"}, {"op": "delete", "file_path": "l/x"}]"#,
            "leads through l, a link",
        ),
        (
            r#"[{"op": "move", "file_path": "l", "to": "l9"}, {"op": "move", "file_path": "b", "to": "l/b"}]"#,
            "by where it lies: d/b",
        ),
        (r#"[{"op": "delete", "file_path": "k"}, {"op": "delete", "file_path": "k"}]"#, "k"),
    ] {
        let (world, ran) = set(changes);
        ran.exits(1).complains(says).complains("change 2");
        assert!(world.text("d/x") == "x\n" && world.text("b") == "B\n", "{changes}");
        assert!(!world.root().join("d/new").exists() && !world.root().join("d/b").exists(), "{changes}");
    }
    let (world, ran) =
        set(r#"[{"op": "delete", "file_path": "k"}, {"op": "create", "file_path": "k", "content": "own\n"}]"#);
    ran.exits(0);
    let is_link = fs::symlink_metadata(world.root().join("k")).expect("there").is_symlink();
    assert_eq!((world.text("k").as_str(), world.text("b").as_str(), is_link), ("own\n", "B\n", false));
}

#[test]
fn undo_keeps_what_others_changed_elsewhere_in_the_file() {
    let lines = |at: usize, text: &str| -> String {
        (0..60).map(|line| if line == at { format!("{text}\n") } else { format!("line {line}\n") }).collect()
    };
    let world = world().file("a", &lines(99, ""));
    let mut peer = Peer::start(world.nika(&["serve", "--mode", "accept-edits", "--list", "all"]));
    peer.initialize("2025-11-25");
    peer.call("nika_read", json!({"file_path": "a"}));
    let edit = json!({"file_path": "a", "old_string": "line 50\n", "new_string": "fifty\n"});
    peer.call("nika_edit", edit);
    let theirs = world.text("a").replace("line 8\n", "theirs\n");
    fs::write(world.root().join("a"), theirs).expect("written");
    let undone = peer.call("nika_undo", json!({}));
    assert_eq!(undone["isError"], serde_json::Value::Null, "{undone}");
    assert_eq!(world.text("a"), lines(8, "theirs"));
    assert_eq!(peer.end(), 0);
}
