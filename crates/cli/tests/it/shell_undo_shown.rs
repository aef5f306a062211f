//! What `undo` shows of a command's changes: every path has a line, in the words of the command's own answer, and of
//! many the rest is counted.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};

use crate::peer::{Peer, text};
use crate::shell_undo::{scripted, tree, undo};
use crate::world::{World, world};

/// What would be taken back of a call.
fn foretold(world: &World, answer: &Value) -> String {
    let call = answer["call_id"].as_str().expect("an id");
    world.run(&["undo", call, "--dry-run", "--mode", "workspace"]).exits(0).out.clone()
}

/// The question about taking it back, which is declined.
fn question(world: &World, answer: &Value) -> String {
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all"]));
    peer.initialize_with("2025-11-25", json!({"elicitation": {}}));
    peer.send("tools/call", json!({"name": "nika_undo", "arguments": {"call_id": answer["call_id"]}}));
    let asked = peer.asked();
    peer.answers(&asked, json!({"action": "decline"}));
    peer.next_result();
    peer.end();
    asked["params"]["message"].as_str().expect("a message").to_owned()
}

#[test]
fn what_is_no_text_is_said_by_a_line_as_in_the_commands_answer() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "a\n").file("b.txt", "b\n").file("prog", "p\n");
    let root = world.root();
    symlink("a.txt", root.join("gone")).expect("a link");
    symlink("a.txt", root.join("other")).expect("a link");
    symlink("a.txt", root.join("file")).expect("a link");
    fs::create_dir(root.join("empty")).expect("a directory");
    assert!(Command::new("chmod").args(["755", "prog"]).current_dir(&root).status().expect("it runs").success());
    let before = tree(&root);
    let script = "set -e; head -c 5242880 /dev/zero > big; ln -s b.txt made; rm gone; ln -sfn b.txt other; rm file; \
                  echo f > file; chmod 755 a.txt; echo 2 > b.txt; chmod 700 b.txt; rm prog; rmdir empty; mkdir bare; \
                  mkdir d; touch d/e; printf '\\0\\1' > bin";
    let ran = scripted(&world, script, &[]);
    let (shown, asked) = (foretold(&world, &ran), question(&world, &ran));
    for said in [&shown, &asked, &undo(&world, &ran).exits(0).out] {
        for line in [
            "big: deleted, it had 5242880 bytes\n",
            "Deleted link made → b.txt\n",
            "New link gone → a.txt\n",
            "other: link to b.txt → link to a.txt\n",
            "file: file → link to a.txt\n",
            "Mode of a.txt: 755 → 644\n",
            "Mode of b.txt: 700 → 644\n--- a/b.txt\n",
            "New file prog, mode 755\n--- /dev/null\n",
            "New directory empty/\n",
            "Deleted directory bare/\n",
            "--- a/d/e\n+++ /dev/null",
            "Binary files a/bin and /dev/null differ",
        ] {
            assert!(said.contains(line), "{line:?}: {said}");
        }
        assert!(!said.contains("+a.txt") && !said.contains("+++ b/gone"), "{said}");
    }
    assert_eq!(tree(&root), before);
}

#[test]
fn a_link_that_a_change_set_took_away_comes_back_as_one_and_is_said_to() {
    let world = world().file("a.txt", "a\n");
    symlink("a.txt", world.root().join("l")).expect("a link");
    let changes = r#"changes=[{"op": "delete", "file_path": "l"}]"#;
    let ran = world.json(&["change_set", changes, "--mode", "workspace"]);
    assert_eq!(ran["diff"], "Deleted link l → a.txt\n", "{ran}");
    let shown = foretold(&world, &ran);
    assert!(shown.contains("New link l → a.txt\n") && !shown.contains("+a.txt"), "{shown}");
}

#[test]
fn of_many_paths_some_are_shown_and_the_rest_is_counted() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("z.txt", "one\n");
    let script = "mkdir tree; for n in $(seq 2001); do echo $n > tree/$n; done; echo two > z.txt";
    let ran = scripted(&world, script, &[]);
    let folded = "Deleted directory tree/: 2001 deleted files, ";
    let shown = foretold(&world, &ran);
    for said in [&shown, &question(&world, &ran)] {
        assert!(said.contains("2003 paths"), "{said}");
        assert!(said.contains(folded) && said.contains("-two\n+one\n"), "{said}");
        assert!(said.chars().count() < 8_000, "{said}");
    }
    assert!(question(&world, &ran).contains("\n1953 paths more — write inside\n"));
    let said = undo(&world, &ran).exits(0).out.clone();
    assert!(said.contains(folded) && !said.contains("tree/77"), "{said}");
    let flat = scripted(&world, "for n in $(seq 60); do echo $n > f$n; done", &[]);
    let said = foretold(&world, &flat);
    assert!(said.contains("60 paths") && said.contains("… 10 paths more, not shown\n"), "{said}");
}

#[test]
fn a_fifo_that_is_gone_is_not_said_to_be_as_before() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let fifo = || {
        let made = Command::new("mkfifo").arg("ff").current_dir(world.root()).status().expect("mkfifo runs");
        assert!(made.success());
    };
    fifo();
    let ran = world.json(&["bash", "command=rm ff", "--mode", "workspace"]);
    let said = text(&ran);
    assert!(said.contains("[1 path: 1 deleted · undo cannot take it back]"), "{said}");
    assert!(said.contains("not brought back") && said.contains(": ff]"), "{said}");
    let back = undo(&world, &ran);
    back.exits(0).says("0 paths").says("ff");
    assert!(back.out.contains("not brought back") && !back.out.contains("as it was before"), "{}", back.out);
    fifo();
    let ran = world.json(&["bash", "command=rm ff; echo 2 > a", "--mode", "workspace"]);
    assert!(text(&ran).contains("2 paths: 1 changed, 1 deleted · undo takes back 1 of them]"), "{ran}");
    let back = undo(&world, &ran);
    back.exits(0).says("1 path.").says("not brought back");
    assert_eq!(world.text("a"), "1\n");
}

#[test]
fn new_empty_files_are_named_where_no_diff_is_read() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("full", "1\n");
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    let said = text(&peer.call("nika_bash", json!({"command": "touch a b; touch full; echo 1 > c"})));
    assert!(said.contains("[3 paths: 3 created · undo takes it back]\n[new and empty: a, b]"), "{said}");
    peer.end();
}
