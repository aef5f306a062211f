//! What is applied, what is refused, and what is kept.

use super::*;

fn way() -> Option<In> {
    ways().first().copied()
}

#[test]
fn declined_is_as_if_nothing_had_happened() {
    let Some(way) = way() else { return };
    let world = World::new();
    world.bare("echo a >a; mkdir d");
    let start = world.look();
    let layer = world.layer();
    world.run(&layer, way, "rm a; echo b >d/b; chmod 0 d; mkdir -p x/y; chmod 0 x").unwrap();
    assert!(!world.seen(&layer).is_empty());
    drop(layer);
    assert_eq!((world.look(), world.layers()), (start, 0));
}

/// Waits for the clock of the file system to move on, so that what follows is later than the layer.
fn tick(world: &World, layer: &Layer) {
    let file = world.own.join("clock");
    loop {
        fs::write(&file, "x").unwrap();
        let stat = rustix::fs::stat(&file).unwrap();
        if (stat.st_ctime, stat.st_ctime_nsec) > layer.began {
            return;
        }
    }
}

#[test]
fn what_somebody_else_changed_meanwhile_is_a_conflict_and_nothing_is_applied() {
    let Some(way) = way() else { return };
    let others: &[(&str, &str, &[&str])] = &[
        ("echo x >>a; echo n >n", "echo y >>a", &["a"]),
        ("rm a", "echo y >>a", &["a"]),
        ("echo x >>a", "rm a; echo a >a", &["a"]),
        ("rm -r d", "echo y >>d/e/1", &["d/e/1"]),
        ("rm -r d", "echo y >d/e/2", &["d/e", "d/e/2"]),
        ("rm -r d; mkdir d; echo 2 >d/2", "echo y >>d/e/1", &["d/e/1"]),
        ("chmod 600 a", "chmod 640 a", &["a"]),
    ];
    for (script, other, wanted) in others {
        let world = World::new();
        world.bare("echo a >a; mkdir -p d/e; echo 1 >d/e/1");
        let layer = world.layer();
        world.run(&layer, way, script).unwrap();
        tick(&world, &layer);
        world.bare(other);
        let start = world.look();
        let Err(NotApplied::Conflict(places)) = world.apply(&layer) else { panic!("{script} beside {other}") };
        let names: Vec<String> = places.iter().map(|place| place.shown().into_owned()).collect();
        assert_eq!(names, *wanted, "{script} beside {other}");
        assert_eq!(world.look(), start);
        assert!(world.undo.0.lock().unwrap().is_empty());
    }
}

#[test]
fn what_two_put_into_a_new_directory_of_one_name_comes_together() {
    let Some(way) = way() else { return };
    for (script, other) in [
        ("mkdir d; echo 1 >d/1", "mkdir d; echo 2 >d/2"),
        ("mkdir -p d/e; echo 1 >d/e/1", "mkdir -p d/e; echo 2 >d/e/2"),
        ("mkdir d; echo 1 >d/1; echo 1 >1", "mkdir d"),
    ] {
        let world = World::new();
        let layer = world.layer();
        world.run(&layer, way, script).unwrap();
        tick(&world, &layer);
        world.bare(other);
        world.apply(&layer).unwrap_or_else(|why| panic!("{script} beside {other}: {why:?}"));
        let both = World::new();
        both.bare(&script.replace("mkdir ", "mkdir -p "));
        both.bare(&other.replace("mkdir ", "mkdir -p "));
        assert_eq!(world.look().into_keys().collect::<Vec<_>>(), both.look().into_keys().collect::<Vec<_>>());
        // Of one file, there is still only one.
        let layer = world.layer();
        world.run(&layer, way, "mkdir n; echo 1 >n/1").unwrap();
        tick(&world, &layer);
        world.bare("mkdir n; echo 2 >n/1");
        assert!(matches!(world.apply(&layer), Err(NotApplied::Conflict(places)) if places.len() == 1));
    }
}

#[test]
fn what_comes_to_stand_between_the_look_and_the_moves_is_a_conflict_too() {
    let Some(way) = way() else { return };
    for (script, other) in [("echo n >n; echo x >>a", "echo mine >n"), ("rm a", "rm a"), ("echo 1 >>a", "echo 2 >>a")] {
        let world = World::new();
        world.bare("echo a >a");
        let layer = world.layer();
        world.run(&layer, way, script).unwrap();
        let changes = layer.changes(&world.permit()).unwrap();
        world.bare(other);
        let start = world.look();
        let refused = world.with(|locked, cx| locked.apply(cx, &[changes], &Bounds::default()));
        assert!(matches!(refused, Err(NotApplied::Conflict(_))), "{script} beside {other}: {refused:?}");
        assert_eq!(world.look(), start, "{script} beside {other}");
    }
}

#[test]
fn what_others_write_while_the_former_state_is_kept_is_a_conflict() {
    let Some(way) = way() else { return };
    for (script, other) in [
        ("echo x >>a", "echo theirs >>a"),
        ("echo x >>a", "echo theirs >b; mv b a"),
        ("rm a", "echo theirs >>a"),
        ("rm -r d", "echo theirs >d/n"),
        ("echo n >n", "echo theirs >n"),
    ] {
        let world = World::new();
        world.bare("echo a >a; mkdir d");
        let layer = world.layer();
        world.run(&layer, way, script).unwrap();
        let changes = layer.changes(&world.permit()).unwrap();
        tick(&world, &layer);
        world.bare(other);
        let planned = world
            .with(|locked, _| locked.plan(&[changes], (&[None], &[joined::Joined::default()]), &mut Intent::new("c1")));
        assert!(matches!(planned, Err(NotApplied::Conflict(_))), "{script} beside {other}: {planned:?}");
    }
}

#[test]
fn what_others_put_into_a_directory_that_goes_at_the_last_moment_is_a_conflict() {
    let Some(way) = way() else { return };
    for script in ["rm -r d", "mv d d2", "rm -r d; mkdir d; echo n >d/n"] {
        for other in ["echo theirs >d/e/n", "echo theirs >>d/e/a", "chmod 600 d/e/a"] {
            let world = World::new();
            world.bare("mkdir -p d/e; echo a >d/e/a");
            let layer = world.layer();
            world.run(&layer, way, script).unwrap();
            let changes = layer.changes(&world.permit()).unwrap();
            let made = world.with(|locked, _| {
                let mut intent = Intent::new("c1");
                locked.plan(&[changes], (&[None], &[joined::Joined::default()]), &mut intent).unwrap();
                tick(&world, &layer);
                world.bare(other);
                let mut mover = Mover::new(locked.files());
                let made = mover.make(&intent.steps);
                mover.back(&intent.steps, After::Failure).unwrap();
                made
            });
            assert!(made.is_err(), "{script} beside {other}");
            assert!(world.root.join("d/e/a").exists(), "{script} beside {other}");
        }
    }
}

#[test]
fn others_may_work_in_the_same_directories() {
    let Some(way) = way() else { return };
    let world = World::new();
    world.bare("mkdir d; echo a >d/a");
    let layer = world.layer();
    world.run(&layer, way, "echo b >d/b; echo x >>d/a; chmod 700 d").unwrap();
    tick(&world, &layer);
    world.bare("echo c >d/c");
    world.apply(&layer).unwrap();
    let names: Vec<_> = world.look().into_keys().collect();
    assert_eq!(names, ["d", "d/a", "d/b", "d/c"].map(PathBuf::from));
}

#[test]
fn a_guarded_path_is_applied_only_where_the_call_names_it() {
    let Some(way) = way() else { return };
    let world = World::new();
    world.bare("mkdir -p .git/hooks; echo a >a; echo c >.git/config");
    for script in ["echo x >.git/hooks/pre-commit", "rm -r .git; mkdir .git", "rm .git/config", "chmod 700 .git/config"]
    {
        let layer = world.layer();
        world.run(&layer, way, &format!("echo x >>a; {script}")).unwrap();
        let start = world.look();
        let refused = world.apply(&layer);
        assert!(matches!(refused, Err(NotApplied::Guarded(_))), "{script}: {refused:?}");
        let error = ToolError::from(refused.unwrap_err());
        assert!(error.message.contains(".git/"), "{}", error.message);
        assert_eq!(world.look(), start);
    }
    let layer = world.layer();
    world.run(&layer, way, "echo x >.git/hooks/pre-commit").unwrap();
    let files = world.files();
    let mut effects = Effects::one(Effect::Write(files.place(world.root.clone()).tree()));
    effects.all.push(Effect::Write(files.place(world.root.join(".git/hooks/pre-commit"))));
    let yes = nika_guard::Answer::Yes { who: "a test".into() };
    let verdict = Policy::default().judge(&Stance::AcceptAll.into(), &effects);
    let permit = Arc::new(verdict.permit(Some(yes)).unwrap());
    let changes = layer.changes(&permit).unwrap();
    world.under(&permit, |locked, cx| locked.apply(cx, &[changes], &Bounds::default())).unwrap();
    assert!(world.root.join(".git/hooks/pre-commit").exists());
}

#[test]
fn what_goes_is_kept_within_bounds() {
    let Some(way) = way() else { return };
    let world = World::new();
    world.bare("echo small >a; head -c 3000 /dev/zero >b; echo c >c; ln -s a l; mkdir -m 750 d; echo x >x; mkfifo f");
    let layer = world.layer();
    world.run(&layer, way, "rm a b f; chmod 600 c; rm l; rmdir d; echo new >n; head -c 5000 /dev/zero >x").unwrap();
    let bounds = Bounds { file_bytes: 2000, call_bytes: 1 << 20, hashed_bytes: 4000 };
    let changes = layer.changes(&world.permit()).unwrap();
    let applied = world.with(|locked, cx| locked.apply(cx, &[changes], &bounds)).unwrap();
    assert_eq!((applied.not_kept, applied.not_back), (vec![world.root.join("b")], vec![world.root.join("f")]));
    let kept = world.undo.0.lock().unwrap();
    let line = |name: &str| kept.iter().find(|line| line.path == world.root.join(name)).unwrap();
    assert_eq!(line("a").bytes.as_deref(), Some(&b"small\n"[..]));
    assert_eq!(line("a").after, None);
    assert_eq!((line("b").bytes.clone(), line("b").more.unwrap().before), (None, nika_contract::Before::Lost));
    assert_eq!((line("c").bytes.clone(), line("c").more.unwrap().before), (None, nika_contract::Before::Same));
    assert_eq!(line("c").mode, Some(0o644));
    assert_eq!((line("l").kind, line("l").bytes.as_deref()), (Kind::Link, Some(&b"a"[..])));
    assert_eq!((line("d").kind, line("d").mode), (Kind::Directory, Some(0o750)));
    assert_eq!((line("n").bytes.clone(), line("n").after), (None, Some(sha256(b"new\n"))));
    // Larger than is hashed: told by its stamp, which the move into place has kept.
    let stamp = crate::fs::Stamp::from(&rustix::fs::stat(world.root.join("x")).unwrap()).as_numbers();
    assert_eq!((line("x").after, line("x").more.unwrap().left_as), (None, Some(stamp)));
}

#[test]
fn a_layer_on_another_file_system_is_copied() {
    if fs::metadata("/dev/shm").map(|meta| meta.dev()).ok() == fs::metadata("/tmp").map(|meta| meta.dev()).ok() {
        eprintln!("skipped: /dev/shm is no file system of its own here");
        return;
    }
    for way in ways() {
        let (bare, covered) = (World::new(), World::new());
        let before = "echo a >a; echo b >b; mkdir -p d/e; echo 1 >d/e/1; chmod 640 a";
        let script = "echo x >>a; rm b; rm -r d; mkdir d; echo 2 >d/2; ln d/2 d/3; chmod 600 d/2; ln -s 2 d/l; \
                      mkdir n; touch -d 2001-01-01 n/t; truncate -s 100M n/hole; mkfifo n/f; rm n/f";
        for world in [&bare, &covered] {
            world.bare(before);
        }
        bare.bare(script);
        // A state below the root cannot hold the layer.
        let inner = covered.root.join("state");
        fs::create_dir(&inner).unwrap();
        let layer = Layer::prepare(&covered.permit(), &inner, &covered.root).unwrap();
        assert!(layer.in_memory(&covered.permit()) && layer.dir.starts_with("/dev/shm"));
        if let Err(error) = covered.run(&layer, way, script) {
            eprintln!("skipped {way:?}: no layer in memory here: {error}");
            continue;
        }
        covered.apply(&layer).unwrap();
        fs::remove_dir_all(&inner).unwrap();
        assert_eq!(covered.look(), bare.look(), "{way:?}");
        let dir = layer.dir.clone();
        drop(layer);
        assert!(!dir.exists());
    }
}

#[test]
fn two_layers_are_applied_as_one() {
    let Some(way) = way() else { return };
    let world = World::new();
    world.bare("mkdir one two; echo a >one/a; echo b >two/b");
    let [one, two] =
        ["one", "two"].map(|name| Layer::prepare(&world.permit(), &world.state, &world.root.join(name)).unwrap());
    world.run(&one, way, "echo x >one/x; rm one/a").unwrap();
    world.run(&two, way, "echo y >two/y").unwrap();
    let both = [one.changes(&world.permit()).unwrap(), two.changes(&world.permit()).unwrap()];
    let applied = world.with(|locked, cx| locked.apply(cx, &both, &Bounds::default())).unwrap();
    assert_eq!(applied.paths, 3);
    let names: Vec<_> = world.look().into_keys().collect();
    assert_eq!(names, ["one", "one/x", "two", "two/b", "two/y"].map(PathBuf::from));
}

#[test]
fn marks_of_the_second_form_are_read() {
    let world = World::new();
    world.bare("mkdir -p d/e; echo 1 >d/1; echo 2 >d/e/2; echo a >a");
    let layer = world.layer();
    let upper = layer.upper();
    fs::create_dir_all(upper.join("d/e")).unwrap();
    fs::write(upper.join("a"), "").unwrap();
    let mark = |path: &str, name: &str, value: &[u8]| {
        rustix::fs::setxattr(upper.join(path), name, value, rustix::fs::XattrFlags::empty())
    };
    if mark("a", "user.overlay.whiteout", b"y").is_err() {
        eprintln!("skipped: no attributes here");
        return;
    }
    mark("d", "user.overlay.opaque", b"x").unwrap();
    mark("d/e", "user.overlay.opaque", b"y").unwrap();
    fs::set_permissions(upper.join("d"), fs::metadata(world.root.join("d")).unwrap().permissions()).unwrap();
    let wanted = [("a", What::Deleted), ("d/e", What::Changed), ("d/e/2", What::Deleted)];
    assert_eq!(world.seen(&layer), wanted.map(|(path, what)| (path.to_owned(), what)).into());
    world.apply(&layer).unwrap();
    let names: Vec<_> = world.look().into_keys().collect();
    assert_eq!(names, ["d", "d/1", "d/e"].map(PathBuf::from));
}

#[test]
fn equal_change_sets_are_alike_and_what_is_rehearsed_is_not_applied() {
    let Some(way) = way() else { return };
    let world = World::new();
    fs::write(world.root.join("a"), "1\n").unwrap();
    let likeness = |layer: &Layer| {
        let all = [layer.changes(&world.permit()).unwrap()];
        let permit = world.permit();
        (Likeness::of_paths(&permit, &all), Likeness::of(&permit, &all).unwrap())
    };
    let after = |script: &str| {
        let layer = world.layer();
        world.run(&layer, way, script).unwrap();
        (likeness(&layer), layer)
    };
    let (first, layer) = after("echo 2 > a; ln -s x l; mkdir d; echo y > d/f; chmod 600 d/f");
    let (again, _) = after("mkdir d; echo y > d/f; chmod 600 d/f; touch -d yesterday d/f; ln -s x l; echo 2 > a");
    assert_eq!(first, again);
    for (script, same_paths) in [
        ("echo 3 > a; ln -s x l; mkdir d; echo y > d/f; chmod 600 d/f", true),
        ("echo 2 > a; ln -s y l; mkdir d; echo y > d/f; chmod 600 d/f", false),
        ("echo 2 > a; ln -s x l; mkdir d; echo y > d/f; chmod 644 d/f", false),
        ("rm a; ln -s x l; mkdir d; echo y > d/f; chmod 600 d/f", false),
        ("ln -s x l; mkdir d; echo y > d/f; chmod 600 d/f", false),
    ] {
        let (other, _) = after(script);
        assert_eq!((other.0 == first.0, other.1 == first.1), (same_paths, false), "{script}");
    }
    // Where the root is another, the same layer is another change set.
    fs::remove_file(world.root.join("a")).unwrap();
    assert_ne!(likeness(&layer).0, first.0);

    let files = world.files();
    let exec = nika_guard::Exec::plain(vec![vec!["sh".into(), "x.sh".into()]], nika_guard::ExecKind::WritesInside, "");
    let effects = Effects::one(Effect::Exec(exec)).and(Effect::Write(files.place(world.root.clone()).tree()));
    let verdict = Policy::default().judge(&Stance::Ask.into(), &effects);
    let permit = Arc::new(verdict.rehearsal().expect("it is asked about"));
    let refused =
        world.under(&permit, |locked, cx| locked.apply(cx, &[layer.changes(cx.permit).unwrap()], &Bounds::default()));
    assert!(matches!(refused, Err(NotApplied::Refused(error)) if error.code == nika_contract::code::PERMISSION_DENIED));
    assert!(world.undo.0.lock().unwrap().is_empty() && world.look().is_empty());
}
