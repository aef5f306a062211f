//! `change_set` and `undo`: all or nothing, and back again.

use nika_testkit::world;
use serde_json::json;

#[test]
fn one_bad_change_and_none_is_made() {
    let world = world().file("a", "a\n").file("b", "b\n");
    world.call("read", json!({"file_path": "a"})).ok();
    let set = json!({"changes": [
        {"op": "edit", "file_path": "a", "old_string": "a", "new_string": "A"},
        {"op": "create", "file_path": "new/dir/c", "content": "c"},
        {"op": "edit", "file_path": "b", "old_string": "b", "new_string": "B"},
    ]});
    let refused = world.call("change_set", set.clone());
    assert!(refused.refused(218).message.starts_with("nothing was changed, as change 3 (edit b) is refused: NIKA-203"));
    assert_eq!(world.tree(), ["a", "b"]);
    assert_eq!(world.text("a"), "a\n");
    world.call("read", json!({"file_path": "b"})).ok();
    world.call("change_set", set).says("1 created, 2 changed, 0 deleted");
    assert_eq!(
        (world.text("a").as_str(), world.text("b").as_str(), world.text("new/dir/c").as_str()),
        ("A\n", "B\n", "c")
    );
    assert_eq!(world.tree(), ["a", "b", "new/", "new/dir/", "new/dir/c"]);
}

#[test]
fn changes_see_what_earlier_ones_did() {
    let world = world().file("old.rs", "one\n");
    world.call("read", json!({"file_path": "old.rs"})).ok();
    let set = json!({"changes": [
        {"op": "move", "file_path": "old.rs", "to": "src/new.rs"},
        {"op": "edit", "file_path": "src/new.rs", "old_string": "one", "new_string": "two"},
        {"op": "create", "file_path": "old.rs", "content": "mod new;\n"},
        {"op": "create", "file_path": "t.txt", "content": "t"},
        {"op": "delete", "file_path": "t.txt"},
    ]});
    let dry = json!({"changes": set["changes"], "dry_run": true});
    let shown = world.call("change_set", dry).ok().diff.clone();
    assert_eq!(world.tree(), ["old.rs"]);
    assert!(world.journal().iter().all(|line| line["event"] != "ToolWrite"), "nothing was written");
    let done = world.call("change_set", set);
    assert_eq!(done.ok().diff, shown, "the dry run shows what is done");
    assert_eq!(world.text("src/new.rs"), "two\n");
    assert_eq!(world.text("old.rs"), "mod new;\n");
    assert_eq!(world.tree(), ["old.rs", "src/", "src/new.rs"]);
}

#[test]
fn a_move_is_told_without_its_lines() {
    let world = world().file("a.txt", "one\n").file("b.txt", "one\n").file("c.txt", "gone\n");
    let set = json!({"changes": [
        {"op": "move", "file_path": "a.txt", "to": "x.txt"},
        {"op": "move", "file_path": "b.txt", "to": "y.txt"},
        {"op": "delete", "file_path": "c.txt"},
    ]});
    let moved = |from: &str, to: &str| {
        format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n")
    };
    let there = world.call("change_set", set).ok().diff.clone();
    let wanted =
        [&moved("a.txt", "x.txt"), &moved("b.txt", "y.txt"), "--- a/c.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone\n"];
    assert_eq!(there, Some(wanted.concat()));
    let back = world.call("undo", json!({})).ok().diff.clone().expect("a diff");
    assert!(back.contains(&moved("x.txt", "a.txt")) && back.contains(&moved("y.txt", "b.txt")), "{back}");
    // The same bytes without the right to be run are another file.
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(world.path("c.txt"), PermissionsExt::from_mode(0o755)).expect("chmod");
    let set = json!({"changes": [
        {"op": "delete", "file_path": "c.txt"},
        {"op": "create", "file_path": "z.txt", "content": "gone\n"},
    ]});
    let other = world.call("change_set", set).ok().diff.clone().expect("a diff");
    assert!(!other.contains("rename") && other.contains("-gone\n") && other.contains("+gone\n"), "{other}");
}

#[test]
fn fields_by_other_names_and_without_op_are_understood() {
    let world = world().file("a", "x\n");
    world.call("read", json!({"file_path": "a"})).ok();
    world.call("change_set", json!({"changes": [{"path": "a", "old_text": "x", "new_text": "y"}, {"action": "create", "path": "b", "content": ""}]})).ok();
    assert_eq!(world.text("a"), "y\n");
    for bad in [
        json!([]),
        json!([{"op": "paint", "file_path": "a"}]),
        json!([{"op": "move", "file_path": "a"}]),
        json!([{"op": "delete", "file_path": "a", "colour": 1}]),
    ] {
        world.call("change_set", json!({"changes": bad})).refused(100);
    }
}

#[test]
fn any_one_call_can_be_taken_back() {
    let world = world().file("a", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n").file("b", "b\n");
    for path in ["a", "b"] {
        world.call("read", json!({"file_path": path})).ok();
    }
    let first = world.call("edit", json!({"file_path": "a", "old_string": "one", "new_string": "ONE"})).outcome.call.0;
    world.call("edit", json!({"file_path": "b", "old_string": "b", "new_string": "B"})).ok();
    world.call("edit", json!({"file_path": "a", "old_string": "nine", "new_string": "NINE"})).ok();
    world.call("undo", json!({"call_id": first, "dry_run": true})).says("Would take back");
    world.call("undo", json!({"call_id": first})).says("+one");
    assert_eq!(world.text("a"), "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n", "the later change stays");
    assert_eq!(world.text("b"), "B\n");
    world.call("undo", json!({"call_id": first})).refused(221);
    world.call("undo", json!({"steps": 2})).ok();
    assert_eq!(world.text("a"), "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    assert_eq!(world.text("b"), "b\n");
    world.call("undo", json!({})).refused(221);
    world.call("undo", json!({"call_id": "c-nonsense"})).refused(221);
}

#[test]
fn a_conflict_is_refused_with_the_difference() {
    let world = world().file("a", "one\n");
    world.call("read", json!({"file_path": "a"})).ok();
    let first = world.call("edit", json!({"file_path": "a", "old_string": "one", "new_string": "two"})).outcome.call.0;
    world.put("a", b"by hand\n");
    let error = world.call("undo", json!({"call_id": first}));
    assert!(error.refused(217).message.contains("-by hand"));
    assert_eq!(world.text("a"), "by hand\n");
}

#[test]
fn a_set_with_moves_deletes_links_and_directories_comes_back_whole() {
    use std::os::unix::fs::PermissionsExt;
    let world = world().bytes("bin", &[0, 1, 2, 255]).file("run.sh", "#!/bin/sh\n").file("keep", "k");
    std::fs::set_permissions(world.path("run.sh"), PermissionsExt::from_mode(0o755)).expect("chmod");
    std::os::unix::fs::symlink("keep", world.path("link")).expect("link");
    let before = world.tree();
    let call = world.call(
        "change_set",
        json!({"changes": [
            {"op": "delete", "file_path": "bin"},
            {"op": "move", "file_path": "run.sh", "to": "deep/er/run.sh"},
            {"op": "delete", "file_path": "link"},
            {"op": "create", "file_path": "deep/x", "content": "x"},
        ]}),
    );
    call.ok();
    assert_eq!(world.path("deep/er/run.sh").metadata().expect("there").permissions().mode() & 0o777, 0o755);
    assert_eq!(world.text("keep"), "k", "the link went, not what it points to");
    world.call("undo", json!({})).ok();
    assert_eq!(world.tree(), before);
    assert_eq!(world.on_disk("bin"), [0, 1, 2, 255]);
    assert_eq!(std::fs::read_link(world.path("link")).expect("a link"), std::path::Path::new("keep"));
    assert_eq!(world.path("run.sh").metadata().expect("there").permissions().mode() & 0o777, 0o755);
    world.call("checkpoints", json!({})).says("taken back by");
}

#[test]
fn an_undo_names_the_directories_that_go_and_a_dry_one_undoes_nothing_in_the_journal() {
    let world = world().file("kept/a", "a");
    let new = |path: &str| json!({"op": "create", "file_path": path, "content": "x\n"});
    let changes = json!([new("deep/er/x"), new("kept/new/x"), new("stays/x")]);
    world.call("change_set", json!({ "changes": changes })).ok();
    world.put("stays/mine", b"");
    let said = |called: nika_testkit::Called| {
        let dirs: Vec<String> =
            called.text().lines().filter(|line| line.contains("irectory")).map(String::from).collect();
        (dirs, called.ok().structured.as_ref().map(|data| data["paths"].clone()))
    };
    let dirs = ["deep/er/", "kept/new/", "deep/"].map(|dir| format!("Deleted directory {dir}")).to_vec();
    let paths = json!(["deep/er/x", "kept/new/x", "stays/x", "kept/new", "deep/er", "deep"]);
    let there = world.tree();
    let (mut dry, dry_paths) = said(world.call("undo", json!({"dry_run": true})));
    assert_eq!(world.tree(), there);
    let events = || world.journal().into_iter().filter(|line| line["event"] == "Undone").count();
    assert_eq!(events(), 0, "nothing was undone");
    let shown = world.journal().into_iter().find(|line| line["event"] == "ToolResult").expect("it answered");
    assert_eq!((&shown["tool"], &shown["dry_run"], shown.get("undone")), (&json!("undo"), &json!(true), None));
    let (mut done, done_paths) = said(world.call("undo", json!({})));
    assert_eq!((events(), world.tree()), (1, ["kept/", "kept/a", "stays/", "stays/mine"].map(String::from).to_vec()));
    let sorted = |paths: Option<serde_json::Value>| {
        let mut paths: Vec<String> = serde_json::from_value(paths.expect("paths")).expect("texts");
        paths.sort();
        paths
    };
    [&mut dry, &mut done].into_iter().for_each(|dirs| dirs.sort());
    let mut wanted = dirs;
    wanted.sort();
    assert_eq!((&dry, &done), (&wanted, &wanted));
    assert_eq!((sorted(dry_paths), sorted(done_paths)), (sorted(Some(paths.clone())), sorted(Some(paths))));
}

#[test]
fn an_undo_names_a_directory_that_is_all_that_is_left_of_a_call() {
    let world = world();
    world.call("change_set", json!({"changes": [{"op": "create", "file_path": "d/x", "content": "x\n"}]})).ok();
    std::fs::remove_file(world.path("d/x")).expect("removed");
    world.put("d/mine", b"");
    for dry in [true, false] {
        let called = world.call("undo", json!({"dry_run": dry}));
        called.says(": 0 paths; the next").says("[stays, as something else lies in it: d/]");
    }
    assert_eq!(world.tree(), ["d/", "d/mine"]);
}

#[test]
fn what_a_set_or_an_undo_would_show_is_read_first() {
    let world = world().file(".env", "TOKEN=hunter2\n");
    for changes in
        [json!([{"op": "delete", "file_path": ".env"}]), json!([{"op": "move", "file_path": ".env", "to": "x.txt"}])]
    {
        let refused = world.call("change_set", json!({ "changes": changes }));
        assert!(!refused.refused(205).message.contains("hunter2"));
        world.call("change_set", json!({"changes": changes, "dry_run": true})).refused(205);
    }
    assert_eq!(world.tree(), [".env"]);
}

#[test]
fn a_file_of_a_set_is_no_directory_in_it() {
    let world = world().file("old", "one\n");
    let create = |path: &str| json!({"op": "create", "file_path": path, "content": "x"});
    for changes in [
        json!([create("p"), create("p/q")]),
        json!([create("g/h/i/q"), create("g")]),
        json!([create("old/new")]),
        json!([create("old/new"), {"op": "delete", "file_path": "old"}]),
        json!([create("a/b"), {"op": "move", "file_path": "old", "to": "a/b/c"}]),
    ] {
        for dry in [true, false] {
            let refused = world.call("change_set", json!({"changes": changes, "dry_run": dry}));
            // Of what stands there already the host says it.
            let said = &refused.refused(218).message;
            assert!(said.contains("is a file in this set") || said.contains("old/new"), "{changes}: {said}");
        }
        assert_eq!(world.tree(), ["old"], "{changes}");
    }
    world.call("undo", json!({})).refused(221);
}

#[test]
fn a_file_gives_way_to_a_directory_and_a_directory_to_a_file() {
    let delete = |path: &str| json!({"op": "delete", "file_path": path});
    let create = |path: &str| json!({"op": "create", "file_path": path, "content": format!("new {path}\n")});
    let move_to = |path: &str, to: &str| json!({"op": "move", "file_path": path, "to": to});
    for (changes, there) in [
        (json!([delete("a"), create("a/x")]), &["a/x", "b", "d/e/y", "d/z"][..]),
        (
            json!([delete("a"), create("a/deep/down/x"), create("a/y"), create("n/m/o")]),
            &["a/deep/down/x", "a/y", "b", "d/e/y", "d/z", "n/m/o"],
        ),
        (json!([move_to("a", "k"), move_to("k", "a/b")]), &["a/b", "b", "d/e/y", "d/z"]),
        (json!([delete("d/e/y"), delete("d/z"), create("d"), move_to("b", "c/b")]), &["a", "c/b", "d"]),
        (json!([move_to("d/e/y", "y"), create("d/e"), delete("a"), create("a/x")]), &["a/x", "b", "d/e", "d/z", "y"]),
    ] {
        let world = world().file("a", "one\n").file("b", "two\n").file("d/e/y", "y\n").file("d/z", "z\n");
        let before = world.tree();
        let dry = world.call("change_set", json!({"changes": changes, "dry_run": true}));
        dry.says("Would change as one");
        assert_eq!(world.tree(), before, "{changes}");
        world.call("change_set", json!({ "changes": changes })).says("Changed as one");
        let files: Vec<String> = world.tree().into_iter().filter(|path| !path.ends_with('/')).collect();
        assert_eq!(files, there, "{changes}");
        // What the set wrote is known to the session.
        if world.path("a/x").exists() {
            let change = json!({"file_path": "a/x", "old_string": "new", "new_string": "newer"});
            world.call("edit", change).ok();
            assert_eq!(world.text("a/x"), "newer a/x\n");
            world.call("undo", json!({})).ok();
        }
        world.call("undo", json!({})).ok();
        assert_eq!(world.tree(), before, "{changes}");
        assert_eq!((world.text("a"), world.text("d/e/y")), ("one\n".into(), "y\n".into()), "{changes}");
        assert!(world.path("d/e").is_dir());
    }
}

#[test]
fn a_directory_gives_way_only_when_nothing_is_left_in_it() {
    let world = world().file("d/x", "x\n").file("d/stays", "s\n").file("d/e/y", "y\n");
    std::fs::create_dir(world.path("empty")).expect("a directory");
    let delete = |path: &str| json!({"op": "delete", "file_path": path});
    let create = |path: &str| json!({"op": "create", "file_path": path, "content": "new\n"});
    let before = world.tree();
    for (changes, why) in [
        (json!([delete("d/x"), create("d")]), "d is a directory, and d/"),
        (json!([delete("d/x"), delete("d/stays"), create("d")]), "d/e in it stays"),
        (json!([delete("d/e/y"), create("d/e"), create("d/e/z")]), "is a file in this set"),
        (json!([create("empty")]), "empty"),
    ] {
        for dry in [true, false] {
            let refused = world.call("change_set", json!({"changes": changes, "dry_run": dry}));
            let said = &refused.refused(218).message;
            assert!(said.contains(why), "{changes}: {said}");
        }
        assert_eq!(world.tree(), before, "{changes}");
    }
}

#[test]
fn directories_made_for_a_set_that_failed_are_gone_again() {
    use std::os::unix::fs::PermissionsExt;
    let world = world();
    std::fs::write(world.path("full"), "").expect("written");
    std::fs::set_permissions(world.path("full"), PermissionsExt::from_mode(0o400)).expect("chmod");
    let create = |path: &str| json!({"op": "create", "file_path": path, "content": "x"});
    let changes = json!([create("new/deep/x"), create("full/x")]);
    world.call("change_set", json!({"changes": changes})).outcome.result.as_ref().expect_err("no directory");
    assert_eq!(world.tree(), ["full"]);
}

#[test]
fn text_with_a_nul_is_written_nowhere() {
    let world = world().file("a", "hello\n");
    world.call("read", json!({"file_path": "a"})).ok();
    world.call("edit", json!({"file_path": "a", "old_string": "h", "new_string": "h\u{0}"})).refused(100);
    world.call("write", json!({"file_path": "b", "content": "a\u{0}b\n"})).refused(100);
    let create = json!({"op": "create", "file_path": "b", "content": "\u{0}"});
    let edit = json!({"op": "edit", "file_path": "a", "old_string": "h", "new_string": "\u{0}"});
    for change in [create, edit] {
        let refused = world.call("change_set", json!({"changes": [change]}));
        assert!(refused.refused(218).message.contains("NUL"));
    }
    assert_eq!((world.tree(), world.text("a")), (vec!["a".to_owned()], "hello\n".to_owned()));
}

#[test]
fn a_call_that_failed_is_nothing_to_take_back() {
    use std::os::unix::fs::PermissionsExt;
    let world = world().file("a", "one\n");
    world.call("read", json!({"file_path": "a"})).ok();
    world.call("edit", json!({"file_path": "a", "old_string": "one", "new_string": "two"})).ok();
    // A directory that cannot be written in, also by root: it is no directory any more when it comes to it.
    std::fs::write(world.path("full"), "").expect("written");
    std::fs::set_permissions(world.path("full"), PermissionsExt::from_mode(0o400)).expect("chmod");
    world
        .call("write", json!({"file_path": "full/x", "content": "x"}))
        .outcome
        .result
        .as_ref()
        .expect_err("no directory");
    world.call("undo", json!({})).says("+one");
    assert_eq!(world.text("a"), "one\n");
}

#[test]
fn an_undo_works_where_the_directory_is_gone() {
    let world = world();
    world.call("write", json!({"file_path": "a/b/c.txt", "content": "c"})).ok();
    std::fs::remove_dir_all(world.path("a")).expect("removed");
    world.call("undo", json!({})).ok();
    world.call("undo", json!({})).refused(221);
}

#[test]
fn a_result_too_large_is_refused_before_it_is_made() {
    let world = world().file("a", &"a".repeat(10_000));
    world.call("read", json!({"file_path": "a"})).ok();
    let grow = json!({"file_path": "a", "old_string": "a", "new_string": "b".repeat(10_000), "replace_all": true});
    world.call("edit", grow).refused(215);
    let set = json!({"changes": [
        {"op": "edit", "file_path": "a", "old_string": "a", "new_string": "b".repeat(10_000), "replace_all": true},
    ], "dry_run": true});
    world.call("change_set", set).refused(218);
}

#[test]
fn a_set_is_merged_into_what_others_changed_elsewhere() {
    let world = world().file("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.put("a.txt", b"ONE\ntwo\nthree\nfour\nfive\nsix\n");
    let change =
        |old: &str, new: &str| json!({"op": "edit", "file_path": "a.txt", "old_string": old, "new_string": new});
    let set = json!({"changes": [change("four", "vier"), change("six", "sechs")]});
    world.call("change_set", set).says("a.txt had changed elsewhere since it was read; that is kept:").says("+ONE");
    assert_eq!(world.text("a.txt"), "ONE\ntwo\nthree\nvier\nfive\nsechs\n");
    // The same lines changed by both: neither is lost.
    world.put("a.txt", b"ONE\ntwo\nthree\nVIER\nfive\nsechs\n");
    let refused = world.call("change_set", json!({"changes": [change("vier", "4")]}));
    assert!(refused.refused(218).message.contains("NIKA-212"));
    assert_eq!(world.text("a.txt"), "ONE\ntwo\nthree\nVIER\nfive\nsechs\n");
}

#[test]
fn a_set_that_changes_nothing_answers_with_its_data_too() {
    let world = world();
    let set = json!({"changes": [
        {"op": "create", "file_path": "a", "content": "a\n"},
        {"op": "delete", "file_path": "a"},
    ]});
    let called = world.call("change_set", set);
    called.says("nothing was written");
    assert_eq!(called.ok().structured.as_ref().map(|data| data["created"].clone()), Some(json!([])));
}

#[test]
fn a_set_changes_cells_of_notebooks_beside_other_files() {
    const NOTEBOOK: &str = "{\"cells\": [\n {\"cell_type\": \"code\", \"id\": \"a\", \"metadata\": {}, \"outputs\": [], \
         \"execution_count\": null, \"source\": [\"x = 1\"]},\n {\"cell_type\": \"markdown\", \"id\": \"b\", \"metadata\": {}, \
         \"source\": [\"# B\"], \"odd\": 7}\n], \"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 5}\n";
    let world = world().file("n.ipynb", NOTEBOOK).file("a.txt", "one\n");
    world.call("read", json!({"file_path": "n.ipynb"})).ok();
    world.call("read", json!({"file_path": "a.txt"})).ok();
    let cell =
        |id: &str, source: &str| json!({"op": "cell", "file_path": "n.ipynb", "cell_id": id, "new_source": source});
    let edit = json!({"op": "edit", "file_path": "a.txt", "old_string": "one", "new_string": "two"});
    // A cell that is not there refuses the whole.
    let refused = world.call("change_set", json!({"changes": [edit, cell("gone", "x")]}));
    assert!(refused.refused(218).message.contains("change 2 (cell n.ipynb)"));
    assert_eq!((world.text("n.ipynb").as_str(), world.text("a.txt").as_str()), (NOTEBOOK, "one\n"));
    world.call("change_set", json!({"changes": [edit, cell("a", "x = 2"), cell("b", "# C")]})).says("2 changed");
    assert_eq!(
        world.text("n.ipynb"),
        NOTEBOOK.replace("x = 1", "x = 2").replace("# B", "# C"),
        "all else byte for byte"
    );
    assert_eq!(world.text("a.txt"), "two\n");
    world.call("undo", json!({})).ok();
    assert_eq!((world.text("n.ipynb").as_str(), world.text("a.txt").as_str()), (NOTEBOOK, "one\n"));
}

/// What is to be sent as it stands has no words of ours behind it.
#[test]
fn the_text_that_a_set_hands_back_is_taken() {
    let world = world().file("a.py", "def total(items):\n\treturn sum(items)\n");
    world.call("read", json!({"file_path": "a.py"})).ok();
    let set =
        |old: &str| json!({"changes": [{"op": "edit", "file_path": "a.py", "old_string": old, "new_string": "pass"}]});
    let refused = world.call("change_set", set("def total(items):\n    return sum(items)"));
    let said = refused.refused(218).to_string();
    let (_, back) = said.split_once("send exactly this as old_string:\n").expect("a text");
    world.call("change_set", set(back)).ok();
    assert_eq!(world.text("a.py"), "pass\n");
}

#[test]
fn what_a_set_overlooks_and_what_other_names_keep_is_said() {
    let world = world().file("a.txt", "one  \ntwo\n").file("b.txt", "b\n");
    std::fs::hard_link(world.path("a.txt"), world.path("other")).expect("a second name");
    for path in ["a.txt", "b.txt"] {
        world.call("read", json!({"file_path": path})).ok();
    }
    let set = json!({"changes": [
        {"op": "edit", "file_path": "a.txt", "old_string": "one\ntwo", "new_string": "uno\ndos"},
        {"op": "edit", "file_path": "b.txt", "old_string": "b", "new_string": "c"},
    ]});
    let done = world.call("change_set", set);
    done.says("[a.txt: an old_string matched but for blanks at line ends]");
    done.says("[a.txt had 1 other name(s) by hard links; those keep the former text]");
    assert_eq!(world.text("other"), "one  \ntwo\n");
}

/// A file that was read as text, and that another program made binary since, can be moved, deleted and written anew.
#[test]
fn what_is_no_text_any_more_can_still_be_dealt_with() {
    let binary = &[0, 1, 2].repeat(50);
    let world = world().file("b.dat", "text\n");
    let delete = || world.call("change_set", json!({"changes": [{"op": "delete", "file_path": "b.dat"}]}));
    let write = || world.call("write", json!({"file_path": "b.dat", "content": "new\n"}));
    world.call("read", json!({"file_path": "b.dat"})).ok();
    world.put("b.dat", binary);
    delete().refused(218);
    write().refused(212);
    world.call("read", json!({"file_path": "b.dat"})).refused(214);
    let refused = write();
    assert!(refused.refused(203).to_string().contains("delete it with change_set"));
    delete().ok();
    write().ok();
    world.call("undo", json!({"steps": 2})).ok();
    assert_eq!(&std::fs::read(world.path("b.dat")).expect("it is back"), binary);
}

#[test]
fn what_an_undo_brings_back_counts_as_read_where_it_was() {
    let world = world().file("a.txt", "one\ntwo\n");
    let edit =
        |old: &str, new: &str| world.call("edit", json!({"file_path": "a.txt", "old_string": old, "new_string": new}));
    world.call("read", json!({"file_path": "a.txt"})).ok();
    edit("one", "ONE").ok();
    world.call("undo", json!({})).ok();
    edit("one", "uno").ok();
    // With what another wrote in between, nobody has seen it as it is now.
    let second = edit("uno", "eins").outcome.call.0;
    world.put("a.txt", b"eins\ntwo\nthree\n");
    world.call("undo", json!({"call_id": second})).ok();
    assert!(edit("uno", "x").refused(203).message.contains("not since an undo changed it"));
    assert_eq!(world.text("a.txt"), "uno\ntwo\nthree\n");
}

/// By itself, and where a directory comes in its place, in a layer.
#[test]
fn what_an_undo_of_a_deletion_brings_back_counts_as_read_as_far_as_it_was() {
    let gone = json!({"op": "delete", "file_path": "d/a.txt"});
    let instead = json!({"op": "create", "file_path": "d/a.txt/in", "content": "in\n"});
    for (changes, made) in [(json!([gone]), "d/a.txt"), (json!([gone, instead]), "d/a.txt/more")] {
        let world = world().file("d/a.txt", "one\ntwo\nthree\n");
        let edit = |old: &str, new: &str| {
            world.call("edit", json!({"file_path": "d/a.txt", "old_string": old, "new_string": new}))
        };
        let delete = json!({ "changes": changes });
        let there = || world.call("read", json!({"file_path": "d/a.txt", "offset": 1, "limit": 2}));
        // Nobody has read it, and that stays so.
        world.call("change_set", delete.clone()).ok();
        world.call("undo", json!({})).ok();
        assert!(edit("one", "uno").refused(203).message.contains("was not read in this session"));
        there().ok();
        world.call("change_set", delete.clone()).ok();
        world.call("undo", json!({})).ok();
        edit("one", "uno").ok();
        // Again, with a file that was made in between.
        world.call("change_set", delete.clone()).ok();
        world.call("write", json!({"file_path": made, "content": "other\n"})).ok();
        world.call("undo", json!({"steps": 2})).ok();
        edit("uno", "eins").ok();
        assert_eq!(world.text("d/a.txt"), "eins\ntwo\nthree\n");
        // What another wrote since is not what was read.
        world.call("change_set", delete).ok();
        world.call("undo", json!({})).ok();
        world.put("d/a.txt", b"eins\ntwo\nfour\n");
        edit("four", "vier").refused(212);
    }
}

#[test]
fn a_file_too_large_for_a_set_is_left_to_a_command() {
    let world = world();
    let file = std::fs::File::create(world.path("large")).expect("a file");
    file.set_len((64 << 20) + 1).expect("a hole");
    let refused = world.call("change_set", json!({"changes": [{"op": "delete", "file_path": "large"}]}));
    assert!(refused.refused(218).to_string().ends_with("a command can move or delete it"));
}
