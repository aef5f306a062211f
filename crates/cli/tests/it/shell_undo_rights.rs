//! Permission bits that a command gave are taken back as content is: not over what somebody did to them since.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::Value;

use crate::shell_recorded::{begin, ended_with, serve};
use crate::shell_undo::undo;
use crate::world::{Ran, World, world};

fn give(world: &World, name: &str, mode: u32) {
    fs::set_permissions(world.root().join(name), fs::Permissions::from_mode(mode)).expect("rights");
}

fn mode(world: &World, name: &str) -> u32 {
    fs::metadata(world.root().join(name)).expect("there").mode() & 0o7777
}

fn bash(world: &World, command: &str) -> Value {
    let ran = world.json(&["bash", &format!("command={command}"), "--mode", "workspace"]);
    assert_eq!(ran["ok"], true, "{ran}");
    ran
}

fn conflicts(ran: &Ran, says: &str) {
    ran.exits(1).complains("NIKA-217").complains(says);
}

#[test]
fn rights_that_were_given_again_are_no_ones_to_take_back() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("d/x", "1\n");
    for (name, was) in [("a", 0o644), ("d", 0o755)] {
        give(&world, name, was);
        let ran = bash(&world, &format!("chmod 700 {name}"));
        give(&world, name, 0o750);
        conflicts(&undo(&world, &ran), &format!("{name} was given other permission bits again"));
        conflicts(&undo(&world, &ran), &format!("{was:o} before it, 700 after it, and 750 now"));
        assert_eq!(mode(&world, name), 0o750);
        // Whoever puts them back has settled it, and so has who takes them back by hand.
        give(&world, name, 0o700);
        undo(&world, &ran).exits(0);
        assert_eq!(mode(&world, name), was);
        let ran = bash(&world, &format!("chmod 700 {name}"));
        give(&world, name, was);
        undo(&world, &ran).says("0 paths");
        // Of two calls the later one goes first.
        let first = bash(&world, &format!("chmod 700 {name}"));
        let second = bash(&world, &format!("chmod 711 {name}"));
        conflicts(&undo(&world, &first), "711 now");
        undo(&world, &second).exits(0);
        undo(&world, &first).exits(0);
        assert_eq!(mode(&world, name), was);
    }
    // With content beside: as a whole or not at all.
    let ran = bash(&world, "chmod 600 a; echo 2 > a; echo 2 > d/x");
    give(&world, "a", 0o640);
    conflicts(&undo(&world, &ran), "644 before it, 600 after it, and 640 now");
    assert_eq!((world.text("a"), world.text("d/x"), mode(&world, "a")), ("2\n".into(), "2\n".into(), 0o640));
}

#[test]
fn rights_that_were_given_again_after_a_job_stay_too() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("d/x", "1\n");
    give(&world, "a", 0o644);
    give(&world, "d", 0o755);
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "job.sh", "chmod 600 a; chmod 700 d; echo done\n");
    ended_with(&mut peer, &begun.job, &begun.call);
    give(&world, "a", 0o640);
    conflicts(&crate::shell_recorded::undo(&world, &begun.call), "644 before it, 600 after it, and 640 now");
    give(&world, "a", 0o600);
    give(&world, "d", 0o711);
    conflicts(&crate::shell_recorded::undo(&world, &begun.call), "755 before it, 700 after it, and 711 now");
    give(&world, "d", 0o700);
    crate::shell_recorded::undo(&world, &begun.call).exits(0);
    assert_eq!((mode(&world, "a"), mode(&world, "d")), (0o644, 0o755));
}

#[test]
fn rights_go_back_beside_what_others_wrote_and_no_refusal_says_that_the_file_would_go() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    give(&world, "a", 0o644);
    let ran = bash(&world, "chmod 600 a");
    fs::write(world.root().join("a"), "theirs\n").expect("written");
    undo(&world, &ran).exits(0).says("1 path.").says("Mode of a: 600 → 644");
    assert_eq!((world.text("a"), mode(&world, "a")), ("theirs\n".into(), 0o644));
    let ran = bash(&world, "chmod 600 a");
    fs::write(world.root().join("a"), "more\n").expect("written");
    give(&world, "a", 0o640);
    let refused = undo(&world, &ran);
    conflicts(&refused, "644 before it, 600 after it, and 640 now");
    assert!(!refused.err.contains("-more") && !refused.err.contains("/dev/null"), "{}", refused.err);
    // What does not stand there any more has no rights to be given back.
    fs::remove_file(world.root().join("a")).expect("removed");
    let refused = undo(&world, &ran);
    conflicts(&refused, "its permission bits alone (644 → 600): nothing stands there now, where it was a file");
    fs::create_dir(world.root().join("a")).expect("made");
    conflicts(&undo(&world, &ran), "a directory stands there now, where it was a file");
    // A content that is not kept, or none, is no text that would go.
    let world = crate::world::world().file("d/x", "1\n").file("a", "1\n");
    let ran = bash(&world, "chmod 700 d; echo 2 > a");
    fs::remove_dir_all(world.root().join("d")).expect("removed");
    conflicts(&undo(&world, &ran), "now nothing, then a directory");
}
