//! `edit`, `write`, `notebook_edit`: byte-exact, read first, stale, refused.

use nika_testkit::world;
use serde_json::json;

fn edit(old: &str, new: &str) -> serde_json::Value {
    json!({"file_path": "a.txt", "old_string": old, "new_string": new})
}

#[test]
fn an_unread_file_is_not_edited_nor_overwritten() {
    let world = world().file("a.txt", "one\n");
    world.call("edit", edit("one", "two")).refused(203);
    world.call("write", json!({"file_path": "a.txt", "content": "two\n"})).refused(203);
    assert_eq!(world.text("a.txt"), "one\n");
    assert_eq!(world.tree(), ["a.txt"]);
}

#[test]
fn a_file_is_replaced_only_when_all_of_it_was_shown() {
    let before: String = (1..=5000).map(|n| format!("line {n}\n")).collect();
    let world = world().file("a.txt", &before);
    let write = || world.call("write", json!({"file_path": "a.txt", "content": "new\n"}));
    let read = |offset, limit| world.call("read", json!({"file_path": "a.txt", "offset": offset, "limit": limit}));
    read(1, 10).ok();
    let called = write();
    let refused = called.refused(203);
    assert!(refused.message.contains("lines 11–5000 of 5000 were not shown"), "{}", refused.message);
    assert!(refused.hint.as_deref().is_some_and(|hint| hint.contains("offset=11, limit=4990")), "{refused:?}");
    read(3001, 2000).ok();
    assert!(write().refused(203).message.contains("lines 11–3000 of 5000"));
    assert_eq!(world.text("a.txt"), before);
    read(5, 2000).ok();
    read(1900, 1101).ok();
    write().says("Replaced");
    // What it wrote itself it need not read.
    world.call("write", json!({"file_path": "a.txt", "content": "newer\n"})).says("Replaced");
}

#[test]
fn what_was_not_shown_stays_unseen_after_an_edit_elsewhere() {
    let before: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let world = world().file("a.txt", &before);
    world.call("read", json!({"file_path": "a.txt", "limit": 10})).ok();
    world.call("edit", edit("line 3\n", "line three\nand more\n")).ok();
    let change = json!({"op": "edit", "file_path": "a.txt", "old_string": "line 20\n", "new_string": "line twenty\n"});
    world.call("change_set", json!({"changes": [change, {"op": "move", "file_path": "a.txt", "to": "b.txt"}]})).ok();
    let write = || world.call("write", json!({"file_path": "b.txt", "content": "new\n"}));
    let refused = write().refused(203).message.clone();
    assert!(refused.contains("lines 12–20, 22–41 of 41"), "{refused}");
    world.call("read", json!({"file_path": "b.txt", "offset": 12})).ok();
    write().says("Replaced");
}

#[test]
fn a_line_that_read_cuts_counts_as_shown() {
    let world = world().file("min.js", &format!("{}\n", "x".repeat(9_000)));
    world.call("read", json!({"file_path": "min.js"})).says("[+7000 chars]");
    world.call("write", json!({"file_path": "min.js", "content": "y\n"})).says("Replaced");
}

#[test]
fn lines_counted_from_the_end_of_a_large_file_count_too() {
    let line = format!("{}\n", "x".repeat(99));
    let world = world().file("big.log", &line.repeat(400_000));
    world.call("read", json!({"file_path": "big.log", "offset": -3})).says("    -1\tx");
    let refused = world.call("write", json!({"file_path": "big.log", "content": "new\n"}));
    let refused = refused.refused(203).message.clone();
    assert!(refused.contains("lines 1–399997 of 400000"), "{refused}");
}

#[test]
fn cells_of_a_notebook_that_were_not_shown_are_not_replaced() {
    let cell = |source: &str| json!({"cell_type": "markdown", "metadata": {}, "source": [source]});
    let cells = ["a", "b", "c"].map(cell);
    let book = json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4});
    let world = world().file("n.ipynb", &book.to_string());
    world.call("read", json!({"file_path": "n.ipynb", "limit": 1})).ok();
    let insert = json!({"notebook_path": "n.ipynb", "cell_index": 0, "edit_mode": "insert", "cell_type": "markdown",
        "new_source": "x"});
    world.call("notebook_edit", insert).ok();
    let write = || world.call("write", json!({"file_path": "n.ipynb", "content": "{}"}));
    let refused = write().refused(203).message.clone();
    assert!(refused.contains("cells 3–4 of 4"), "{refused}");
    world.call("read", json!({"file_path": "n.ipynb"})).ok();
    write().says("Replaced");
}

#[test]
fn bytes_outside_the_edit_never_change() {
    let sjis = b"\x83\x65\x83\x58\x83\x67\x82\xf0\x93\xfa\x96\x7b\x8c\xea\x82\xc5\x8f\x91\x82\xa2\x82\xc4\x82\xdd\x82\xdc\x82\xb7\r\nkey = 1\n\x82\xb1\x82\xea\x82\xcd\x8d\xc5\x8c\xe3\x82\xcc\x8d\x73\x82\xc5\x82\xb7";
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("é\r\nkey = 1\nz".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let cases: &[&[u8]] = &[
        b"a\r\nkey = 1\r\nb\r\n",
        b"a\r\nkey = 1\nb\rc",
        b"\xef\xbb\xbfkey = 1\r\n",
        b"key = 1",
        b"broken \xff\xfe utf-8 in the middle \xc3\x28 of text\nkey = 1\n",
        b"caf\xe9 cr\xe8me br\xfbl\xe9e\r\nkey = 1\r\n\xe9t\xe9 \xe0 la plage\r\n",
        sjis,
        &utf16,
    ];
    for bytes in cases {
        let world = world().bytes("a.txt", bytes);
        let read = world.call("read", json!({"file_path": "a.txt"}));
        if read.outcome.result.is_err() {
            continue;
        }
        world.call("edit", edit("key = 1", "key = 22")).ok();
        let now = world.on_disk("a.txt");
        let (ours, theirs): (Vec<u8>, Vec<u8>) = if bytes == &utf16.as_slice() {
            let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            (wide("key = 1"), wide("key = 22"))
        } else {
            (b"key = 1".to_vec(), b"key = 22".to_vec())
        };
        let at = bytes.windows(ours.len()).position(|window| window == ours).expect("it is there");
        assert_eq!(now[..at], bytes[..at], "{bytes:?}");
        assert_eq!(now[at..at + theirs.len()], theirs, "{bytes:?}");
        assert_eq!(now[at + theirs.len()..], bytes[at + ours.len()..], "{bytes:?}");
    }
}

#[test]
fn new_lines_take_the_ending_of_their_neighbours() {
    let world = world().bytes("a.txt", b"one\r\ntwo\r\nthree\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.call("edit", edit("one\ntwo", "one\nand\ntwo")).ok();
    assert_eq!(world.on_disk("a.txt"), b"one\r\nand\r\ntwo\r\nthree\n");
}

#[test]
fn what_others_changed_elsewhere_is_kept_and_said() {
    let before: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let world = world().file("a.txt", &before);
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.put("a.txt", before.replace("line 3\n", "line three\n").as_bytes());
    let answer = world.call("edit", edit("line 30\n", "line thirty\n"));
    answer.says("+line thirty").says("changed elsewhere").says("+line three");
    let now = world.text("a.txt");
    assert!(now.contains("line three\n") && now.contains("line thirty\n"), "{now}");
    // The session has been shown the whole of it, so it can go on.
    world.call("edit", edit("line thirty\n", "line 30\n")).ok();
}

#[test]
fn an_overlap_is_refused_with_both_sides() {
    let world = world().file("a.txt", "one\ntwo\nthree\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.put("a.txt", b"one\nTWO\nthree\n");
    let error = world.call("edit", edit("two", "zwei"));
    let error = error.refused(212);
    assert!(error.message.contains("TWO") && error.message.contains("zwei"), "{}", error.message);
    assert_eq!(world.text("a.txt"), "one\nTWO\nthree\n");
    world.call("write", json!({"file_path": "a.txt", "content": "x"})).refused(212);
}

#[test]
fn an_old_text_is_looked_for_in_the_file_as_it_is() {
    let world = world().file("a.txt", "one\ntwo\nthree\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.put("a.txt", b"one\ndeux trois\nthree\n");
    // It stands only where others changed the file: what is not shown is not edited.
    let error = world.call("edit", edit("deux trois", "2"));
    assert!(error.refused(212).message.contains("only in the file as it is now"), "{error:?}");
    // And a text that comes near is one of the file as it is.
    let near = world.call("edit", edit("deux  trois", "2"));
    let near = &near.refused(202).message;
    assert!(near.contains("deux trois") && near.contains("changed since it was read"), "{near}");
    let set = json!({"changes": [{"op": "edit", "file_path": "a.txt", "old_string": "deux trois", "new_string": "2"}]});
    assert!(world.call("change_set", set).refused(218).message.contains("NIKA-212"));
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.call("edit", edit("deux trois", "2")).ok();
}

#[test]
fn a_write_that_changes_the_endings_of_all_lines_says_so() {
    let world = world();
    for (former, content, said) in
        [("a\r\nb\r\n", "c\nd\n", true), ("a\r\nb\n", "c\n", false), ("a\r\n", "c\r\n", false)]
    {
        world.put("a.txt", former.as_bytes());
        world.call("read", json!({"file_path": "a.txt"})).ok();
        let answer = world.call("write", json!({"file_path": "a.txt", "content": content}));
        assert_eq!(answer.ok().joined_text().contains("CRLF"), said, "{former:?}");
    }
}

#[test]
fn a_touch_is_no_change() {
    let world = world().file("a.txt", "one\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.put("a.txt", b"one\n");
    world.call("edit", edit("one", "two")).ok();
}

#[test]
fn a_miss_hands_back_the_text_that_is_there() {
    let world = world().file("a.txt", "fn a() {\n\tlet x = 1;\n}\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    let error = world.call("edit", edit("    let x = 1;", "    let x = 2;"));
    let error = error.refused(202);
    assert!(error.message.contains("\tlet x = 1;"), "{}", error.message);
    assert!(error.message.contains('→'), "blanks are shown: {}", error.message);
    world.call("edit", edit("\tlet x = 1;", "\tlet x = 2;")).ok();
}

#[test]
fn only_blanks_at_line_ends_are_overlooked_and_that_is_said() {
    let world = world().file("a.txt", "one  \ntwo\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.call("edit", edit("one\ntwo", "uno\ndos")).says("blanks at line ends");
    world.call("edit", edit("", "x")).refused(100);
    world.call("edit", edit("dos", "dos")).refused(100);
}

#[test]
fn several_places_need_replace_all() {
    let world = world().file("a.txt", "x\ny\nx\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    let error = world.call("edit", edit("x", "z"));
    assert!(error.refused(209).message.contains("lines 1, 3"));
    let all = json!({"file_path": "a.txt", "old_string": "x", "new_string": "z", "replace_all": "true"});
    assert_eq!(world.call("edit", all).data()["count"], 2);
    assert_eq!(world.text("a.txt"), "z\ny\nz\n");
}

#[test]
fn what_was_read_belongs_to_its_session() {
    let world = world().file("a.txt", "one\n");
    let other = world.session("other");
    world.call_in(&other, "read", json!({"file_path": "a.txt"})).ok();
    world.call("edit", edit("one", "two")).refused(203);
    world.call_in(&other, "edit", edit("one", "two")).ok();
}

#[test]
fn rights_and_links_survive_an_edit() {
    use std::os::unix::fs::PermissionsExt;
    let world = world().file("real.sh", "echo one\n");
    std::fs::set_permissions(world.path("real.sh"), PermissionsExt::from_mode(0o751)).expect("chmod");
    std::os::unix::fs::symlink("real.sh", world.path("a.txt")).expect("link");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.call("edit", edit("one", "two")).ok();
    assert_eq!(world.text("real.sh"), "echo two\n");
    assert!(world.path("a.txt").symlink_metadata().expect("there").file_type().is_symlink());
    assert_eq!(world.path("real.sh").metadata().expect("there").permissions().mode() & 0o7777, 0o751);
}

#[test]
fn write_makes_directories_and_replaces_what_was_read() {
    let world = world();
    world.call("write", json!({"file_path": "a/b/c.txt", "content": "é\n"})).says("Created a/b/c.txt (3 bytes");
    let answer = world.call("write", json!({"file_path": "a/b/c.txt", "content": "new\n"}));
    assert_eq!(answer.data()["created"], false);
    assert_eq!(answer.data()["sha256_before"].as_str().map(str::len), Some(64));
    world.call("write", json!({"file_path": "a/b/c.txt", "content": "new\n"})).says("nothing was written");
    world.call("write", json!({"file_path": "a/b", "content": "x"})).refused(213);
    world.call("write", json!({"file_path": "a/b/c.txt/d", "content": "x"})).refused(208);
    assert_eq!(world.text("a/b/c.txt"), "new\n");
}

#[test]
fn a_path_that_ends_as_a_directorys_makes_no_file() {
    let world = world().file("a.txt", "a\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    for path in ["newdir/", "newdir/.", "deep/newdir//", "a.txt/"] {
        let refused = world.call("write", json!({"file_path": path, "content": "x"}));
        assert!(refused.refused(213).message.contains(path), "{path}");
        let sets = [
            json!({"op": "create", "file_path": path, "content": "x"}),
            json!({"op": "move", "file_path": "a.txt", "to": path}),
            json!({"op": "delete", "file_path": path}),
        ];
        for change in sets {
            let refused = world.call("change_set", json!({ "changes": [change] }));
            assert!(refused.refused(218).message.contains("NIKA-213"), "{change}");
        }
        world.call("edit", json!({"file_path": path, "old_string": "a", "new_string": "b"})).refused(213);
    }
    assert_eq!(world.tree(), ["a.txt"]);
    world.call("list_dir", json!({"path": "./"})).says("a.txt");
}

#[test]
fn a_notebook_keeps_what_is_not_edited() {
    let text = "{\n  \"cells\": [\n    {\"cell_type\": \"code\", \"execution_count\": 3, \"id\": \"a1\", \"metadata\": {\"x\": 1.0}, \"outputs\": [{\"output_type\": \"stream\", \"name\": \"stdout\", \"text\": [\"hi\"]}], \"source\": [\"print('hi')\"]}\n  ],\n  \"metadata\": {\"odd\": [1e5]},\n  \"nbformat\": 4, \"nbformat_minor\": 5\n}\n";
    let world = world().file("n.ipynb", text);
    world.call("notebook_edit", json!({"notebook_path": "n.ipynb", "cell_id": "a1", "new_source": "x"})).refused(203);
    world.call("read", json!({"file_path": "n.ipynb"})).says("print('hi')");
    let answer =
        world.call("notebook_edit", json!({"notebook_path": "n.ipynb", "cell_id": "a1", "new_source": "1 + 1"}));
    answer.says("former output(s) were dropped");
    let now = world.text("n.ipynb");
    for kept in
        ["\"metadata\": {\"x\": 1.0}", "\"metadata\": {\"odd\": [1e5]}", "\"nbformat\": 4, \"nbformat_minor\": 5\n}\n"]
    {
        assert!(now.contains(kept), "{kept} in {now}");
    }
    world.call("notebook_edit", json!({"notebook_path": "n.ipynb", "cell_id": "zz", "new_source": "x"})).refused(219);
    world
        .call("notebook_edit", json!({"notebook_path": "n.ipynb", "cell_index": 0, "edit_mode": "delete"}))
        .says("0 cells now");
}

#[test]
fn a_notebook_too_large_to_be_read_as_one_says_so() {
    let world = world();
    world.put("n.ipynb", "{\"cells\": []}\n".repeat(3 << 20).as_bytes());
    let shown = world.call("read", json!({"file_path": "n.ipynb", "limit": 1}));
    shown.says("{\"cells\": []}").says("[a notebook of over 32 MiB: shown as the file stands, not as cells]");
}

/// What could not be read again as the text that it is, is not written.
#[test]
fn an_edit_leaves_what_can_be_read_again() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let world = world();
    for (bytes, new) in [(b"caf\xe9 one\n".to_vec(), "\u{1}"), (wide("one"), "──────")] {
        world.put("a.txt", &bytes);
        world.call("read", json!({"file_path": "a.txt"})).ok();
        world.call("edit", edit("one", new)).refused(216);
        let set = json!({"changes": [{"op": "edit", "file_path": "a.txt", "old_string": "one", "new_string": new}]});
        assert!(world.call("change_set", set).refused(218).message.contains("NIKA-216"));
        let content = if new == "\u{1}" { "café\u{1}\n" } else { new };
        world.call("write", json!({"file_path": "a.txt", "content": content})).refused(216);
        assert_eq!(std::fs::read(world.path("a.txt")).expect("it stands"), bytes);
    }
    world.put("a.txt", &wide("Files:\n├── src\n─────\n"));
    world.call("read", json!({"file_path": "a.txt"})).says("├── src");
    world.call("edit", edit("src", "──")).ok();
    world.call("read", json!({"file_path": "a.txt"})).says("├── ──");
}

/// What shares a file's bytes under another name is not what was asked to be changed.
#[test]
fn a_hard_links_other_name_is_left_alone_and_that_is_said() {
    let world = world().file("a.txt", "one\n");
    let link = |name: &str| std::fs::hard_link(world.path("a.txt"), world.path(name)).expect("a second name");
    link("first");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.call("edit", edit("one", "two")).says("1 other name").says("keep the former text");
    assert_eq!((world.text("a.txt").as_str(), world.text("first").as_str()), ("two\n", "one\n"));
    link("second");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.call("write", json!({"file_path": "a.txt", "content": "three\n"})).says("1 other name").says("former text");
    let notebook = r##"{"cells": [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["x"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"##;
    world.put("n.ipynb", notebook.as_bytes());
    std::fs::hard_link(world.path("n.ipynb"), world.path("n2.ipynb")).expect("a second name");
    world.call("read", json!({"file_path": "n.ipynb"})).ok();
    let cell = json!({"notebook_path": "n.ipynb", "cell_id": "a", "new_source": "y"});
    world.call("notebook_edit", cell).says("1 other name").says("keep the former text");
    assert_eq!((world.text("a.txt").as_str(), world.text("second").as_str()), ("three\n", "two\n"));
}

#[test]
fn a_read_only_file_is_refused_where_a_plain_program_would_be() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let world = world().file("a.txt", "one\n").file("b.txt", "one\n");
    for name in ["a.txt", "b.txt"] {
        std::fs::set_permissions(world.path(name), std::fs::Permissions::from_mode(0o444)).unwrap();
        world.call("read", json!({"file_path": name})).ok();
    }
    let plain = std::fs::OpenOptions::new().write(true).open(world.path("a.txt")).map(drop);
    let left = if plain.is_ok() { "three" } else { "one" };
    let set = json!({"changes": [
        {"op": "edit", "path": "b.txt", "old_string": "one", "new_string": "two"},
        {"op": "edit", "path": "a.txt", "old_string": left, "new_string": "four"},
    ]});
    let calls = [
        ("edit", edit("one", "two")),
        ("write", json!({"file_path": "a.txt", "content": "three\n"})),
        ("change_set", set),
    ];
    for (tool, arguments) in calls {
        let called = world.call(tool, arguments);
        if plain.is_ok() {
            // As root.
            called.ok();
            continue;
        }
        let error = called.refused(201);
        assert!(error.message.contains("read-only") && error.message.contains("0444"), "{error:?}");
        assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("chmod u+w")), "{error:?}");
    }
    let wanted = if plain.is_ok() { ["four\n", "two\n"] } else { ["one\n", "one\n"] };
    assert_eq!([world.text("a.txt"), world.text("b.txt")], wanted);
    let mode = std::fs::metadata(world.path("a.txt")).unwrap().mode();
    assert_eq!(mode & 0o7777, 0o444);
}

#[test]
fn a_file_of_another_user_stays_theirs() {
    use std::os::unix::fs::MetadataExt;
    let world = world().file("a.txt", "one\n");
    // Only root can set the scene.
    if std::os::unix::fs::chown(world.path("a.txt"), Some(12345), Some(12346)).is_err() {
        return;
    }
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.call("edit", edit("one", "two")).ok();
    let now = std::fs::metadata(world.path("a.txt")).unwrap();
    assert_eq!((now.uid(), now.gid(), world.text("a.txt").as_str()), (12345, 12346, "two\n"));
}
