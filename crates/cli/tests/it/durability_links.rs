//! Where a link comes in the place of something, or something in the place of a link, one of both stands there whenever
//! the change is killed; and what others put there at the last moment is not lost.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};

use serde_json::json;

use crate::durability::{empty, traced};
use crate::durability_dirs::{UNDO, all, killed_everywhere, killed_where_some_fail, runs};

/// The call of a set of changes.
fn set(changes: &serde_json::Value) -> Vec<String> {
    let set = json!({ "changes": changes }).to_string();
    ["call", "change_set", "--mode", "accept-edits", "--json", &set].map(str::to_owned).to_vec()
}

/// A file in the place of a link.
fn file_for_link() -> Vec<String> {
    set(&json!([
        {"op": "delete", "file_path": "it"},
        {"op": "create", "file_path": "it", "content": "new\n"},
    ]))
}

fn words(set: &[String]) -> Vec<&str> {
    set.iter().map(String::as_str).collect()
}

/// A link to a file.
fn link(root: &Path) {
    empty(root);
    std::fs::write(root.join("to"), "to\n").expect("written");
    symlink("to", root.join("it")).expect("a link");
}

/// A link that has come in the place of another, so that to take that back changes this path alone.
fn other_link(root: &Path, state: &Path) {
    empty(root);
    symlink("old", root.join("it")).expect("a link");
    symlink("new", root.join("one")).expect("a link");
    let set = set(&json!([
        {"op": "delete", "file_path": "it"},
        {"op": "move", "file_path": "one", "to": "it"},
    ]));
    runs(root, state, &words(&set));
    // Somebody has brought the other one back already.
    symlink("new", root.join("one")).expect("a link");
}

#[test]
fn a_file_in_the_place_of_a_link_and_a_link_in_the_place_of_a_file_are_there_or_not() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let (set, begin) = (file_for_link(), || link(root));
    begin();
    let old = all(root);
    runs(root, state, &words(&set));
    let new = all(root);
    assert_eq!((&*old[0], &*new[0], &new[1..]), ("it -> to", "it: new", &old[1..]));
    let Some((kept, made)) = killed_everywhere((root, state), &begin, &words(&set), (&old, &new)) else { return };
    assert!(kept >= 3 && made >= 1, "{kept} kept, {made} made");
    let done = || {
        begin();
        runs(root, state, &words(&set));
    };
    let (kept, made) = killed_everywhere((root, state), &done, &UNDO, (&new, &old)).expect("traced before");
    assert!(kept >= 2 && made >= 1, "{kept} kept, {made} made");
}

/// Alone, in a set that is made by itself and in one that is put together in a layer.
#[test]
fn a_file_in_the_place_of_a_link_has_the_rights_of_a_new_one() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    for beside in [
        json!([]),
        json!([{"op": "create", "file_path": "other", "content": "other\n"}]),
        json!([{"op": "delete", "file_path": "to"}, {"op": "create", "file_path": "to/it", "content": "in\n"}]),
    ] {
        link(root);
        std::fs::write(root.join("new"), "").expect("written");
        let mut changes = vec![
            json!({"op": "delete", "file_path": "it"}),
            json!({"op": "create", "file_path": "it", "content": "new\n"}),
        ];
        changes.extend(beside.as_array().expect("a list").clone());
        runs(root, state, &words(&set(&json!(changes))));
        let [made, new] = ["it", "new"].map(|name| std::fs::symlink_metadata(root.join(name)).expect("there"));
        assert_eq!(made.permissions().mode(), new.permissions().mode(), "{beside}");
    }
}

#[test]
fn a_link_in_the_place_of_another_is_there_or_that_one() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let begin = || other_link(root, state);
    begin();
    let new = all(root);
    runs(root, state, &UNDO);
    let old = all(root);
    assert_eq!((&*new[0], &*old[0], &new[1..]), ("it -> new", "it -> old", &old[1..]));
    let Some((kept, made)) = killed_everywhere((root, state), &begin, &UNDO, (&new, &old)) else { return };
    assert!(kept >= 2 && made >= 1, "{kept} kept, {made} made");
    // On a file system that exchanges no names.
    let faults = ["-e", "inject=renameat2:error=EINVAL"];
    let (kept, made) =
        killed_where_some_fail((root, state), &begin, (&UNDO, &faults), (&new, &old)).expect("traced before");
    assert!(kept >= 2 && made >= 1, "{kept} kept, {made} made");
}

#[test]
fn a_file_comes_in_the_place_of_a_link_that_leads_nowhere() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    for to in ["nowhere", "no/where", "/nowhere/at/all", "it"] {
        empty(root);
        symlink(to, root.join("it")).expect("a link");
        runs(root, state, &words(&file_for_link()));
        assert_eq!(all(root), ["it: new"], "{to}");
        runs(root, state, &UNDO);
        assert_eq!(all(root), [format!("it -> {to}")]);
    }
}

/// What comes of an undo beside which somebody else puts a link of their own in the place, after its last look; killed
/// where it is about to make a system call for that time. `None` where nothing can be traced.
fn raced(root: &Path, state: &Path, kill: Option<(&str, usize)>) -> Option<ExitStatus> {
    let trace = state.join("trace");
    let _ = std::fs::remove_file(&trace);
    let path = trace.to_string_lossy();
    // Each of these calls is made a while after the trace says so.
    let delay = "inject=renameat2,ftruncate:delay_enter=300000";
    let options = ["-o", &path, "-e", "trace=renameat2,ftruncate", "-e", delay];
    std::thread::scope(|scope| {
        let undo = scope.spawn(|| traced(root, state, &options, &UNDO));
        let until_about_to = |call: &str, nth: usize| {
            while !undo.is_finished() {
                let calls = std::fs::read_to_string(&trace).unwrap_or_default();
                let mut made = calls.lines().filter(|line| line.contains(call));
                if let Some(line) = made.nth(nth - 1) {
                    return line.split(' ').next().map(str::to_owned);
                }
                std::thread::yield_now();
            }
            None
        };
        until_about_to("renameat2(", 1);
        symlink("theirs", root.join("later")).expect("a link");
        std::fs::rename(root.join("later"), root.join("it")).expect("renamed");
        if let Some(process) = kill.and_then(|(call, nth)| until_about_to(call, nth)) {
            Command::new("kill").args(["-9", &process]).status().expect("it runs");
        }
        undo.join().expect("it ends")
    })
}

#[test]
fn what_others_put_in_the_place_of_a_link_at_the_last_moment_is_not_lost() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let other = || other_link(root, state);
    let of_a_file = || {
        link(root);
        runs(root, state, &words(&file_for_link()));
    };
    for begin in [&other as &dyn Fn(), &of_a_file] {
        // Never, before it is put back, and behind that.
        for kill in [None, Some(("renameat2(", 2)), Some(("ftruncate(", 1))] {
            begin();
            let Some(status) = raced(root, state, kill) else { return };
            assert!(!status.success(), "what others made is not taken back");
            assert_eq!(status.signal(), kill.map(|_| 9), "{kill:?}");
            runs(root, state, &["call", "list_dir"]);
            let now = all(root);
            assert!(now.contains(&"it -> theirs".to_owned()), "{kill:?}: {now:?}");
            assert!(!now.iter().any(|name| name.starts_with(".nika-")), "{kill:?}: {now:?}");
        }
    }
}
