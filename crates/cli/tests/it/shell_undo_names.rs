//! Files with several names: each name gets back what it held, and where names part somebody says so.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use crate::peer::text;
use crate::shell_recorded::{begin, ended_with, serve, undo};
use crate::shell_undo::{scripted, tree};
use crate::world::{World, exists, world};

const LINKED: &str = "these have other names, too, which changed with them and which undo leaves";
const PARTED: &str = "had other names by hard links, and undo makes files of their own of these";
const KEEP: &str = "[other names of the same file keep what stands there now: ";
const OWN: &str = "[had other names by hard links, and comes back as a file of its own: ";

/// A file `a`, and `b`, which is the same.
fn two_names() -> World {
    let world = world().file("a", "1\n").file("alone", "alone\n");
    fs::set_permissions(world.root().join("a"), fs::Permissions::from_mode(0o644)).expect("rights");
    fs::hard_link(world.root().join("a"), world.root().join("b")).expect("linked");
    world
}

/// Content and rights; nothing where nothing stands.
fn stands(world: &World, name: &str) -> Option<(String, u32)> {
    let meta = fs::metadata(world.root().join(name)).ok()?;
    Some((world.text(name), meta.mode() & 0o7777))
}

#[test]
fn each_name_of_a_file_gets_back_what_it_held_before_a_job() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let cases: [(&str, &str, &str); 8] = [
        ("echo 2 >> a; rm b", &format!("{PARTED}: a, b"), &format!("{OWN}a, b]")),
        ("echo 2 >> a; mv b c", &format!("{PARTED}: a, b"), OWN),
        ("echo 2 >> a; echo 3 >> b", &format!("{PARTED}: a, b"), &format!("{OWN}a, b]")),
        ("chmod 600 a; rm b", &format!("{PARTED}: b"), &format!("{OWN}b]")),
        ("chmod 600 a; chmod 640 b", "2 changed", "b"),
        ("echo 2 >> a; chmod 600 b; rm a; echo new > a", &format!("{PARTED}: a, b"), &format!("{OWN}a, b]")),
        ("echo 2 >> a; mkdir d; mv a b d", &format!("{PARTED}: a, b"), &format!("{OWN}a, b]")),
        ("python3 -c 'import os; os.truncate(\"a\", 0); os.rename(\"alone\", \"b\")'", &format!("{PARTED}: a, b"), OWN),
    ];
    for (script, told, said) in cases {
        let world = two_names();
        let mut peer = serve(&world);
        let begun = begin(&world, &mut peer, "job.sh", &format!("set -e\n{script}\n"));
        let news = ended_with(&mut peer, &begun.job, &begun.call);
        let news = if news.contains("(call ") { news } else { ended_with(&mut peer, &begun.job, "(call ") };
        assert!(news.contains(told), "{script}: no {told:?} in {news}");
        let back = undo(&world, &begun.call);
        back.exits(0);
        let was = Some(("1\n".to_owned(), 0o644));
        assert_eq!((stands(&world, "a"), stands(&world, "b")), (was.clone(), was), "{script}: {back:?}");
        assert_eq!(world.text("alone"), "alone\n", "{script}");
        assert!(!exists(world.root().join("c")) && !exists(world.root().join("d")), "{script}");
        assert!(back.out.contains(said) && !back.out.contains(KEEP), "{script}: no {said:?} in {back:?}");
    }
}

#[test]
fn where_another_name_keeps_the_change_the_news_of_a_job_and_its_undo_say_so() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = two_names();
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "job.sh", "echo 2 >> a\n");
    ended_with(&mut peer, &begun.job, &format!("{LINKED}: a (call {})", begun.call));
    let would = world.run(&["undo", &begun.call, "--mode", "workspace", "--dry-run"]);
    would.exits(0).says(&format!("{KEEP}a]"));
    undo(&world, &begun.call).exits(0).says(&format!("{KEEP}a]"));
    assert_eq!((world.text("a"), world.text("b")), ("1\n".into(), "1\n2\n".into()));
    // Rights are of the one file, and all names have them back.
    let world = two_names();
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "job.sh", "chmod 600 a\n");
    let news = ended_with(&mut peer, &begun.job, "(call ");
    assert!(!news.contains("other names"), "{news}");
    let back = undo(&world, &begun.call);
    back.exits(0);
    assert!(!back.out.contains("other names"), "{back:?}");
    let was = Some(("1\n".to_owned(), 0o644));
    assert_eq!((stands(&world, "a"), stands(&world, "b")), (was.clone(), was));
}

fn inode(world: &World, name: &str) -> u64 {
    fs::metadata(world.root().join(name)).expect("there").ino()
}

#[test]
fn a_name_that_a_command_gives_to_a_file_is_one_of_it() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("b", "b\n").file("d/x", "x\n");
    let before = tree(&world.root());
    let ran = scripted(&world, "set -e; ln a new; mkdir -p m/n; ln a m/n/a; ln -f d/x b; chmod 600 d/x\n", &[]);
    assert_eq!((inode(&world, "new"), inode(&world, "m/n/a")), (inode(&world, "a"), inode(&world, "a")), "{ran}");
    assert_eq!((inode(&world, "b"), world.text("b")), (inode(&world, "d/x"), "x\n".to_owned()), "{ran}");
    assert!(!text(&ran).contains("hard links"), "{ran}");
    crate::shell_undo::undo(&world, &ran).exits(0);
    assert_eq!(tree(&world.root()), before);
    assert_eq!(fs::metadata(world.root().join("a")).expect("there").nlink(), 1);
}

#[test]
fn what_is_kept_from_a_command_gets_no_name_more() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file(".vscode/tasks.json", "{}\n").file("kept/x", "x\n").file("a", "1\n");
    let deny = ["--deny", "write(kept/**)"];
    let ran = scripted(&world, "ln .vscode/tasks.json one; ln kept/x two; ln a three; true\n", &deny);
    for (name, of) in [("one", ".vscode/tasks.json"), ("two", "kept/x")] {
        assert_ne!(fs::metadata(world.root().join(name)).ok().map(|it| it.ino()), Some(inode(&world, of)), "{ran}");
    }
    assert_eq!(inode(&world, "three"), inode(&world, "a"), "{ran}");
    let said = text(&ran);
    assert!(said.contains("[copies, where hard links were asked for: ") && !said.contains("three"), "{said}");
}

#[test]
fn a_command_that_parts_names_says_so_and_its_undo_too() {
    if !crate::shell::is_confined_here() {
        return;
    }
    for (script, told) in [
        ("rm a", format!("[{PARTED}: a]")),
        ("mv a a2", format!("[{PARTED}: a]")),
        ("echo q >> a", "[had other names by hard links, which keep the former content: a]".to_owned()),
        ("rm a b", format!("[{PARTED}: a, b]")),
    ] {
        let world = two_names();
        let before = tree(&world.root());
        let ran = scripted(&world, script, &[]);
        assert!(text(&ran).contains(&told), "{script}: no {told:?} in {ran}");
        let back = crate::shell_undo::undo(&world, &ran);
        back.exits(0).says(&format!("{OWN}a"));
        assert_eq!(tree(&world.root()), before, "{script}");
    }
    // So does an edit, and its undo.
    let world = two_names();
    let edit = ["edit", "file_path=a", "old_string=1", "new_string=2", "--session", "s", "--mode", "workspace"];
    world.run(&["call", "read", "file_path=a", "--session", "s"]).exits(0);
    let ran = world.json(&edit);
    assert_eq!((world.text("a"), world.text("b")), ("2\n".into(), "1\n".into()), "{ran}");
    crate::shell_undo::undo(&world, &ran).exits(0).says(&format!("{OWN}a]"));
}
