//! A root on another file system than the layer: what is applied lies in the root before it is in its place.

use std::io::Write;

use super::*;
use crate::fs::while_it_writes;

/// A world whose root is in memory; `None` where its state is, too.
fn apart() -> Option<(World, tempfile::TempDir)> {
    let mut world = World::new();
    let dir = tempfile::tempdir_in("/dev/shm").ok()?;
    world.root = dir.path().canonicalize().ok()?.join("root");
    fs::create_dir(&world.root).ok()?;
    let is_apart = fs::metadata(&world.root).ok()?.dev() != fs::metadata(&world.state).ok()?.dev();
    is_apart.then_some((world, dir))
}

#[test]
fn a_guarded_file_whose_copy_somebody_holds_is_not_put_in_its_place() {
    for (name, guarded) in [(".envrc", true), ("a", false)] {
        let Some((world, _dir)) = apart() else { return eprintln!("skipped: no other file system here") };
        world.bare(&format!("echo old > {name}; echo old > z"));
        let start = world.look();
        let mut layer = world.layer();
        // Whatever the clocks of the two file systems say.
        layer.began = (i64::MAX, 0);
        let [first, last] = [name, "z"].map(|name| world.root.join(name));
        for path in [&first, &last] {
            fs::write(layer.inside(path), "new\n").unwrap();
        }
        let effects = vec![
            Effect::Write(world.files().place(world.root.clone()).tree()),
            Effect::Write(world.files().place(first.clone())),
        ];
        let permit = Policy::default()
            .judge(&Stance::AcceptAll.into(), &Effects { tool: String::new(), all: effects })
            .permit(Some(nika_guard::Answer::Yes { who: "a test".into() }));
        let permit = Arc::new(permit.unwrap());
        let changes = layer.changes(&permit).unwrap();
        let (source, taken) = (layer.inside(&last), Mutex::new(None));
        std::thread::scope(|scope| {
            let hold = || {
                // It takes a while to copy the last one.
                fs::File::create(&source).unwrap().set_len(256 << 20).unwrap();
                let (taken, root) = (&taken, &world.root);
                scope.spawn(move || {
                    let is_copies = |path: &PathBuf| crate::fs::is_temp_name(path.file_name().unwrap());
                    let copies = || fs::read_dir(root).unwrap().flatten().map(|one| one.path()).find(is_copies);
                    let since = std::time::Instant::now();
                    let waits = || assert!(since.elapsed() < std::time::Duration::from_secs(60), "nothing is copied");
                    let shut = loop {
                        match copies() {
                            Some(shut) => break shut,
                            None => waits(),
                        }
                    };
                    assert_eq!(fs::metadata(&shut).unwrap().permissions().mode() & 0o7777, 0o300);
                    // Whose it is may list it all the same, unless a recorder keeps them off.
                    fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).unwrap();
                    let place = loop {
                        match fs::read_dir(&shut).unwrap().next() {
                            Some(place) if place.as_ref().unwrap().path().join("1").exists() => {
                                break place.unwrap().path();
                            }
                            _ => waits(),
                        }
                    };
                    let copy = fs::File::options().write(true).open(place.join("0")).unwrap();
                    *taken.lock().unwrap() = Some(copy);
                });
            };
            let note = world.state.join("sets/c1.tmp");
            let done = world.under(&permit, |locked, cx| {
                while_it_writes(&note, hold, || locked.apply(cx, &[changes], &Bounds::default()))
            });
            match done {
                Err(NotApplied::Refused(error)) if guarded => assert_eq!(error.code, nika_contract::code::NAME_HELD),
                done => assert!(!guarded && done.is_ok(), "{done:?}"),
            }
        });
        taken.into_inner().unwrap().unwrap().write_all(b"bad\n").unwrap();
        if guarded {
            assert_eq!(world.look(), start);
        } else {
            // What anybody may write they may write a moment earlier.
            assert_eq!(fs::read(&first).unwrap(), b"bad\n");
        }
    }
}
