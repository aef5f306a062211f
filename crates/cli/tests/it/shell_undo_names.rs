//! Files with several names: each name gets back what it held, and where names part somebody says so.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use crate::shell_recorded::{begin, ended_with, serve, undo};
use crate::world::{World, exists, world};

const LINKED: &str = "other names of the same file changed with these, and undo leaves them";
const PARTED: &str = "had other names by hard links, and undo makes files of their own of these";
const KEEP: &str = "[other names of the same file keep what stands there now: ";
const OWN: &str = "[had other names by hard links, and is a file of its own now: ";

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
        ("echo 2 >> a; mv b c", &format!("{PARTED}: a, b"), &format!("{OWN}")),
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
