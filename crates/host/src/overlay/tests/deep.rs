//! Trees that are deeper than any stack, and longer than any path: a command makes them in a second.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, fchmod, mkdirat, openat};

use super::*;

/// So many directories within directories, each with a link beside, and none that its owner may read or write.
fn deep(top: &Path, levels: usize, name: &CStr) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut dir: OwnedFd = rustix::fs::open(top, flags, Mode::empty()).unwrap();
    for _ in 0..levels {
        mkdirat(&dir, name, Mode::RWXU).unwrap();
        let below = openat(&dir, name, flags, Mode::empty()).unwrap();
        rustix::fs::symlinkat("nowhere", &below, c"link").unwrap();
        fchmod(&dir, Mode::empty()).unwrap();
        dir = below;
    }
}

#[test]
fn a_layer_of_any_depth_is_thrown_away_and_kept() {
    let long = std::ffi::CString::new("d".repeat(200)).unwrap();
    for (levels, name) in [(40, c"d"), (6_000, c"d"), (300, long.as_c_str())] {
        let world = World::new();
        let layer = world.layer();
        deep(&layer.upper(), levels, name);
        drop(layer);
        assert_eq!(world.layers(), 0, "{levels}");
        let layer = world.layer();
        deep(&layer.upper(), levels, name);
        let kept = world.own.join("kept");
        layer.keep(&world.permit(), &kept).unwrap();
        assert_eq!(world.layers(), 0, "{levels}");
        assert_eq!(fs::metadata(&kept).unwrap().mode() & 0o777, 0, "as the command left it");
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(fs::symlink_metadata(kept.join(name.to_str().unwrap())).unwrap().is_dir());
        sweep::remove_tree(&kept);
        assert!(!kept.exists(), "{levels}");
    }
}

#[test]
fn the_next_start_removes_what_a_killed_one_left_however_deep() {
    let world = World::new();
    let left = world.state.join("layers/dead");
    fs::create_dir_all(left.join("upper")).unwrap();
    fs::write(left.join("owner"), "").unwrap();
    deep(&left.join("upper"), 3_000, c"d");
    orphans(&world.state, &Wanted::default());
    assert_eq!(world.layers(), 0);
    // A link in place of it leads nowhere.
    std::os::unix::fs::symlink(&world.root, &left).unwrap();
    fs::write(world.root.join("a"), "a").unwrap();
    sweep::remove_tree(&left);
    assert!(world.root.join("a").exists());
}

#[test]
fn what_is_too_deep_to_be_applied_is_not_copied_either() {
    let world = World::new();
    let from = world.own.join("from");
    fs::create_dir(&from).unwrap();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut dir = openat(CWD, &from, flags, Mode::empty()).unwrap();
    for _ in 0..1_000 {
        mkdirat(&dir, c"d", Mode::RWXU).unwrap();
        dir = openat(&dir, c"d", flags, Mode::empty()).unwrap();
    }
    let mut stage = stage::Stage::within(openat(CWD, &world.own, flags, Mode::empty()).unwrap(), None);
    let error = stage.copy(&from, "to".as_ref()).unwrap_err();
    assert!(error.to_string().contains("directories deep"), "{error}");
}

/// As on a full disk.
#[test]
fn what_can_be_kept_in_part_only_is_not_kept() {
    let (world, Ok(other)) = (World::new(), tempfile::tempdir_in("/dev/shm")) else { return };
    let layer = world.layer();
    let mut inside = layer.upper().join("first");
    fs::write(&inside, "new").unwrap();
    inside.set_file_name("d");
    fs::create_dir_all(inside.join("d/".repeat(1_000))).unwrap();
    let kept = other.path().join("kept");
    match layer.keep(&world.permit(), &kept) {
        Ok(()) => eprintln!("skipped: no other file system here"),
        Err(error) => assert!(!kept.exists(), "{error}"),
    }
}

#[test]
fn a_copy_goes_through_no_link_that_somebody_puts_in_its_way() {
    let world = World::new();
    let (top, outside) = (world.own.join("top"), world.own.join("outside"));
    let from = world.own.join("from");
    [&top, &outside, &from].into_iter().for_each(|dir| fs::create_dir(dir).unwrap());
    fs::write(from.join("f"), "x").unwrap();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut stage = stage::Stage::within(openat(CWD, &top, flags, Mode::empty()).unwrap(), None);
    std::os::unix::fs::symlink(&outside, top.join("d")).unwrap();
    assert!(stage.copy(&from, "d".as_ref()).is_err());
    assert!(stage.parent_of(Path::new("d/f")).is_err());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    stage.copy(&from, "e".as_ref()).unwrap();
    assert_eq!(fs::read(top.join("e/f")).unwrap(), b"x");
}
