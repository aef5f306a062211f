//! A kill between any two steps leaves the old state or the new one, and orphans are thrown away.

use rustix::fs::CWD;

use super::*;
use crate::fs::Apart;

const BEFORE: &str = "echo a >a; echo b >b; mkdir -p d/e o; echo 1 >d/1; echo 2 >d/e/2; echo 3 >o/3; chmod 644 b";
const SCRIPT: &str = "echo x >>a; chmod 600 b; rm d/1; rm -r o; echo f >o; echo n >n; mkdir m; echo k >m/k; \
                      rm -r d/e; mkdir d/e; echo 4 >d/e/4";

/// A layer's directory that outlives its process: its owner's lock is gone, its files are not.
fn orphaned(layer: Layer) -> PathBuf {
    let dir = layer.dir.clone();
    let saved = dir.with_extension("saved");
    fs::rename(&dir, &saved).unwrap();
    drop(layer);
    fs::rename(&saved, &dir).unwrap();
    dir
}

#[test]
fn a_kill_after_each_step_ends_as_the_new_state_or_where_it_began_as_the_old() {
    let Some(way) = ways().first().copied() else { return };
    let bare = World::new();
    bare.bare(BEFORE);
    let old = bare.look();
    bare.bare(SCRIPT);
    let new = bare.look();
    for phase in [Phase::Applying, Phase::RollingBack] {
        let mut at = 0;
        loop {
            let (world, layer) = scripted(way);
            let changes = layer.changes(&world.permit()).unwrap();
            let count = changes.moves.len();
            world.with(|locked, _| {
                let intent = planned(locked, changes, phase);
                Mover::new(locked.files()).forward(&intent.steps[..at], false).unwrap();
                noted(&world, locked, &intent);
            });
            let dir = orphaned(layer);
            let files = world.files();
            let outcome = if phase == Phase::Applying { Outcome::Finished } else { Outcome::RolledBack };
            let settled: Vec<Outcome> = files.take_recovered().into_iter().map(|one| one.outcome).collect();
            assert_eq!(settled, [outcome]);
            let wanted = if phase == Phase::Applying { &new } else { &old };
            assert_eq!(world.look(), *wanted, "{phase:?} after {at} of {count} steps");
            assert!(!dir.exists() && world.sets() == 0);
            at += 1;
            if at > count {
                break;
            }
        }
        assert!(at > 7);
    }
}

/// What is noted of a layer's changes before they are applied.
fn planned(locked: &mut crate::fs::Locked<'_>, changes: Changes<'_>, phase: Phase) -> Intent {
    planned_at(locked, changes, phase, &None)
}

fn planned_at(
    locked: &mut crate::fs::Locked<'_>,
    changes: Changes<'_>,
    phase: Phase,
    copies: &Option<PathBuf>,
) -> Intent {
    let mut intent = Intent::new("c1");
    let around = copies.iter().flat_map(|place| [place.as_path(), place.parent().unwrap()]);
    intent.scratch.extend([&*changes.layer.dir].into_iter().chain(around).map(|dir| Named(dir.to_path_buf())));
    locked.plan(&[changes], (std::slice::from_ref(copies), &[joined::Joined::default()]), &mut intent).unwrap();
    intent.phase = phase;
    intent
}

fn noted(world: &World, locked: &mut crate::fs::Locked<'_>, intent: &Intent) {
    locked.save(&world.state.join("sets/c1.json"), intent).unwrap();
}

/// A world in which the script has run over a layer.
fn scripted(way: In) -> (World, Layer) {
    let world = World::new();
    world.bare(BEFORE);
    let layer = world.layer();
    world.run(&layer, way, SCRIPT).unwrap();
    (world, layer)
}

#[test]
fn what_others_changed_after_a_kill_stays_as_they_left_it() {
    let Some(way) = ways().first().copied() else { return };
    let (world, layer) = scripted(way);
    let changes = layer.changes(&world.permit()).unwrap();
    world.with(|locked, _| {
        let intent = planned(locked, changes, Phase::Applying);
        noted(&world, locked, &intent);
    });
    orphaned(layer);
    world.bare("rm a; echo theirs >a; echo theirs >n");
    let outcome = world.files().take_recovered().pop().unwrap().outcome;
    assert_eq!(outcome, Outcome::RolledBack);
    assert_eq!(fs::read(world.root.join("a")).unwrap(), b"theirs\n");
    assert_eq!(fs::read(world.root.join("n")).unwrap(), b"theirs\n");
    assert!(!world.root.join("m").exists(), "all of it goes back");
}

#[test]
fn what_others_wrote_between_the_last_look_and_a_move_that_was_killed_goes_back_to_its_place() {
    let Some(way) = ways().first().copied() else { return };
    let (world, layer) = scripted(way);
    let changes = layer.changes(&world.permit()).unwrap();
    world.with(|locked, _| {
        let intent = planned(locked, changes, Phase::Applying);
        noted(&world, locked, &intent);
        world.bare("echo theirs >>a; echo theirs >>d/1");
        let step = |name: &str| intent.steps.iter().find(|step| step.target == world.root.join(name)).unwrap();
        let (swapped, gone) = (step("a"), step("d/1"));
        let exchange = rustix::fs::RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(CWD, &swapped.source, CWD, &swapped.target, exchange).unwrap();
        fs::rename(&gone.target, &gone.aside).unwrap();
    });
    orphaned(layer);
    let outcome = world.files().take_recovered().pop().unwrap().outcome;
    assert_eq!(outcome, Outcome::RolledBack);
    assert_eq!(fs::read(world.root.join("a")).unwrap(), b"a\ntheirs\n");
    assert_eq!(fs::read(world.root.join("d/1")).unwrap(), b"1\ntheirs\n");
    assert!(!world.root.join("m").exists(), "all of it goes back");
}

/// A change to a directory's file, or in it, says nothing of itself in the directory that is moved.
#[test]
fn what_others_wrote_in_a_directory_that_goes_is_not_gone_when_a_kill_is_settled() {
    let Some(way) = ways().first().copied() else { return };
    type Act = fn(&World, &Workspace, &Intent);
    let acts: [(&str, Act); 4] = [
        ("before its move", |world, _, _| world.bare("echo theirs >>o/3; echo theirs >d/e/5")),
        ("after its move", |world, files, intent| {
            Mover::new(files).forward(&intent.steps, true).unwrap();
            fs::write(lies(world, intent, "o").join("3"), "3\ntheirs\n").unwrap();
            fs::write(lies(world, intent, "d/e").join("5"), "theirs\n").unwrap();
        }),
        ("between two moves", |world, files, intent| {
            let at = intent.steps.iter().position(|step| step.target == world.root.join("o")).unwrap();
            Mover::new(files).forward(&intent.steps[..at], true).unwrap();
            world.bare("echo theirs >>o/3");
            fs::create_dir_all(world.root.join("d/e")).unwrap();
            let e = match world.root.join("d/e/2").exists() {
                true => world.root.join("d/e"),
                false => lies(world, intent, "d/e"),
            };
            fs::write(e.join("5"), "theirs\n").unwrap();
        }),
        ("by a name that came", |world, _, _| world.bare("echo theirs >>o/3; echo theirs >5; mv 5 d/e/5")),
    ];
    for (when, act) in acts {
        let (world, layer) = scripted(way);
        let old = world.look();
        let changes = layer.changes(&world.permit()).unwrap();
        world.with(|locked, _| {
            let intent = planned(locked, changes, Phase::Applying);
            noted(&world, locked, &intent);
            act(&world, locked.files(), &intent);
        });
        let dir = orphaned(layer);
        assert_eq!(settled(&world), [(Outcome::RolledBack, vec![])], "{when}");
        assert_eq!(fs::read(world.root.join("o/3")).unwrap(), b"3\ntheirs\n", "{when}");
        assert_eq!(fs::read(world.root.join("d/e/5")).unwrap(), b"theirs\n", "{when}");
        fs::remove_file(world.root.join("d/e/5")).unwrap();
        fs::write(world.root.join("o/3"), "3\n").unwrap();
        assert_eq!(world.look(), old, "{when}");
        assert!(!dir.exists() && world.sets() == 0, "{when}");
    }
}

/// They may have worked in it for days.
#[test]
fn what_others_wrote_in_a_directory_that_came_stays_when_the_rest_goes_back() {
    let Some(way) = ways().first().copied() else { return };
    for elsewhere in [false, true] {
        let (world, layer) = scripted(way);
        let copies = elsewhere.then(|| stage::place_in(&world.root));
        let changes = layer.changes(&world.permit()).unwrap();
        world.with(|locked, _| {
            let intent = planned_at(locked, changes, Phase::RollingBack, &copies);
            noted(&world, locked, &intent);
            Mover::new(locked.files()).forward(&intent.steps, true).unwrap();
            world.bare("echo theirs >>m/k; echo theirs >d/e/5; echo theirs >>a");
        });
        let dir = orphaned(layer);
        let told = settled(&world);
        let [(Outcome::RolledBackInPart, apart)] = &*told else { panic!("{told:?}") };
        let read = |name: &str| fs::read_to_string(world.root.join(name)).unwrap();
        assert_eq!([read("m/k"), read("d/e/4"), read("d/e/5")], ["k\ntheirs\n", "4\n", "theirs\n"]);
        assert_eq!([read("a"), read("o/3"), read("d/1")], ["a\nx\ntheirs\n", "3\n", "1\n"]);
        let former = |name: &str| &apart.iter().find(|one| one.path == world.root.join(name)).unwrap().lies;
        assert_eq!(fs::read(former("a")).unwrap(), b"a\n");
        assert_eq!(fs::read(former("d/e").join("2")).unwrap(), b"2\n");
        assert_eq!(apart.len(), 2, "{apart:?}");
        assert!(!dir.exists() && !world.root.join("n").exists());
        assert_eq!(settled(&world), []);
    }
}

/// Killed between the moves back and the look at what others wrote in that moment.
#[test]
fn what_others_wrote_in_a_directory_that_went_back_is_set_apart() {
    let Some(way) = ways().first().copied() else { return };
    for elsewhere in [false, true] {
        let (world, layer) = scripted(way);
        let old = world.look();
        killed_as_it_went_back(&world, layer, elsewhere);
        let told = settled(&world);
        let [(Outcome::RolledBack, apart)] = &*told else { panic!("{told:?}") };
        let [Apart { path, lies }] = &**apart else { panic!("{apart:?}") };
        assert_eq!(*path, world.root.join("m"));
        assert_eq!(fs::read(lies.join("theirs")).unwrap(), b"theirs\n");
        assert_eq!(world.look(), old);
    }
}

/// What was set apart before another kill is told by the start after it.
#[test]
fn what_an_interrupted_start_set_apart_is_told_by_the_next_one() {
    let world = World::new();
    let lies = world.state.join("spill/others");
    fs::create_dir_all(&lies).unwrap();
    let apart = ["m", "gone"].map(|name| Apart { path: world.root.join(name), lies: lies.with_file_name(name) });
    fs::write(&apart[0].lies, "theirs").unwrap();
    let mut intent = Intent::new("c1");
    intent.phase = Phase::RollingBack;
    let mut note = serde_json::to_value(intent).unwrap();
    note["apart"] = serde_json::to_value(&apart).unwrap();
    fs::write(world.state.join("sets/c1.json"), note.to_string()).unwrap();
    assert_eq!(settled(&world), [(Outcome::RolledBack, vec![apart[0].clone()])]);
}

/// Every start tries it again, and says where it would lie.
#[test]
fn what_cannot_be_set_apart_stays_and_its_note_does_not_grow() {
    let Some(way) = ways().first().copied() else { return };
    let (world, layer) = scripted(way);
    killed_as_it_went_back(&world, layer, false);
    let spill = world.state.join("spill");
    let _ = fs::remove_dir_all(&spill);
    fs::write(&spill, "in the way").unwrap();
    let notes = [(); 3].map(|()| {
        let told = settled(&world);
        assert!(matches!(&*told, [(Outcome::Left { .. }, _)]), "{told:?}");
        let note = fs::read_dir(world.state.join("sets")).unwrap().next().unwrap().unwrap();
        fs::read_to_string(note.path()).unwrap().len()
    });
    assert_eq!(notes, [notes[0]; 3]);
    fs::remove_file(&spill).unwrap();
    let told = settled(&world);
    let [(Outcome::RolledBack, apart)] = &*told else { panic!("{told:?}") };
    let [Apart { lies, .. }] = &**apart else { panic!("{apart:?}") };
    assert_eq!(fs::read(lies.join("theirs")).unwrap(), b"theirs\n");
}

/// All of the script was made and taken back, and others wrote to one of its directories in between.
fn killed_as_it_went_back(world: &World, layer: Layer, elsewhere: bool) {
    let copies = elsewhere.then(|| stage::place_in(&world.root));
    let changes = layer.changes(&world.permit()).unwrap();
    world.with(|locked, _| {
        let intent = planned_at(locked, changes, Phase::RollingBack, &copies);
        noted(world, locked, &intent);
        let mut mover = Mover::new(locked.files());
        mover.forward(&intent.steps, true).unwrap();
        world.bare("echo theirs >m/theirs");
        mover.back(&intent.steps, After::Failure).unwrap();
    });
    orphaned(layer);
}

fn settled(world: &World) -> Vec<(Outcome, Vec<Apart>)> {
    world.files().take_recovered().into_iter().map(|one| (one.outcome, one.apart)).collect()
}

/// Where the old one of a step lies that was made.
fn lies(world: &World, intent: &Intent, name: &str) -> PathBuf {
    let step = intent.steps.iter().find(|step| step.target == world.root.join(name)).unwrap();
    if step.aside.exists() { step.aside.clone() } else { step.source.clone() }
}

/// Whoever cleans up meanwhile may take the former file along.
#[test]
fn what_can_never_go_back_stays_as_it_is_and_is_told_once() {
    let Some(way) = ways().first().copied() else { return };
    let (world, layer) = scripted(way);
    let changes = layer.changes(&world.permit()).unwrap();
    world.with(|locked, _| {
        let intent = planned(locked, changes, Phase::RollingBack);
        Mover::new(locked.files()).forward(&intent.steps, false).unwrap();
        noted(&world, locked, &intent);
        let step = |name: &str| intent.steps.iter().find(|step| step.target == world.root.join(name)).unwrap();
        fs::remove_file(&step("a").source).unwrap();
        fs::remove_file(&step("d/1").aside).unwrap();
    });
    orphaned(layer);
    let outcomes =
        |world: &World| world.files().take_recovered().into_iter().map(|one| one.outcome).collect::<Vec<_>>();
    assert_eq!(outcomes(&world), [Outcome::RolledBackInPart]);
    assert_eq!(fs::read(world.root.join("a")).unwrap(), b"a\nx\n", "the only one that there is");
    assert_eq!(fs::read(world.root.join("o/3")).unwrap(), b"3\n");
    assert!(!world.root.join("m").exists(), "all else goes back");
    assert_eq!(outcomes(&world), []);
    assert_eq!(fs::read_dir(world.state.join("sets")).unwrap().count(), 0);
}

/// Writes other bytes of the same length over a file, whose time says nothing of it.
fn forged(path: &Path) {
    let (length, time) = fs::metadata(path).map(|meta| (meta.len(), meta.modified().unwrap())).unwrap();
    fs::write(path, "x".repeat(length as usize)).unwrap();
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn what_others_made_of_a_guarded_copy_after_a_kill_is_not_put_in_its_place() {
    type Act = fn(&Path);
    let cases: [(&str, Act); 5] = [
        (".envrc", |at| forged(at)),
        (".envrc", |at| fs::hard_link(at, at.with_file_name("other")).unwrap()),
        ("new/.envrc", |at| forged(&at.join(".envrc"))),
        ("new/.git/hooks/run", |at| forged(&at.join(".git/hooks/run"))),
        ("new/.git/hooks/run", |at| fs::write(at.join(".git/hooks/more"), "x").unwrap()),
    ];
    for (number, (name, act)) in cases.into_iter().enumerate() {
        for forges in [true, false] {
            let world = World::new();
            world.bare("echo old >.envrc; echo z >z");
            let start = world.look();
            let layer = world.layer();
            for inside in [name, "z"].map(|name| layer.inside(&world.root.join(name))) {
                fs::create_dir_all(inside.parent().unwrap()).unwrap();
                fs::write(inside, "new\n").unwrap();
            }
            let copies = stage::place_in(&world.root);
            let around = copies.parent().unwrap().to_path_buf();
            world.with(|locked, _| {
                let mut intent = Intent::new("c1");
                intent.scratch.extend([layer.dir.clone(), copies.clone(), around.clone()].map(Named));
                let changes = [layer.changes(&world.permit()).unwrap()];
                let at = (&[Some(copies.clone())][..], &[joined::Joined::default()][..]);
                locked.plan(&changes, at, &mut intent).unwrap();
                intent.phase = Phase::Applying;
                noted(&world, locked, &intent);
                let first = world.root.join(Path::new(name).components().next().unwrap());
                let step = intent.steps.iter().find(|step| step.target == first).unwrap();
                if forges {
                    act(&step.source);
                }
            });
            orphaned(layer);
            let outcome = world.files().take_recovered().pop().unwrap().outcome;
            assert_eq!(matches!(outcome, Outcome::Refused(_)), forges, "{number}: {outcome}");
            assert_eq!(world.look() == start, forges, "{number}: {:?}", world.look());
            assert!(!around.exists() && fs::read_dir(world.state.join("sets")).unwrap().next().is_none());
        }
    }
}

#[test]
fn rights_that_a_move_gave_for_a_moment_are_taken_away_again_after_a_kill() {
    for phase in [Phase::Applying, Phase::RollingBack] {
        let world = World::new();
        world.bare("mkdir d; echo old >d/a; chmod 555 d");
        let (dir, layer) = (world.root.join("d"), world.layer());
        let inside = layer.inside(&dir);
        fs::create_dir(&inside).unwrap();
        fs::write(inside.join("a"), "new\n").unwrap();
        fs::set_permissions(&inside, fs::Permissions::from_mode(0o555)).unwrap();
        world.with(|locked, _| {
            let mut intent = planned(locked, layer.changes(&world.permit()).unwrap(), phase);
            // The time of the directory is another one.
            intent.steps.retain(|step| step.target != dir);
            noted(&world, locked, &intent);
        });
        // Killed in that moment.
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        orphaned(layer);
        world.files();
        let wanted = if phase == Phase::Applying { "new\n" } else { "old\n" };
        assert_eq!(fs::read_to_string(dir.join("a")).unwrap(), wanted);
        assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o7777, 0o555, "{phase:?}");
    }
}

#[test]
fn a_move_that_fails_takes_the_others_back() {
    let Some(way) = ways().first().copied() else { return };
    let (world, layer) = scripted(way);
    let changes = layer.changes(&world.permit()).unwrap();
    let start = world.look();
    world.with(|locked, _| {
        let mut intent = planned(locked, changes, Phase::Staging);
        // The last one's new entry is gone.
        let last = intent.steps.iter_mut().rev().find(|step| step.new.is_some()).unwrap();
        last.source = last.source.with_file_name("nowhere");
        let mut mover = Mover::new(locked.files());
        assert!(mover.forward(&intent.steps, false).is_err());
        mover.back(&intent.steps, After::Failure).unwrap();
    });
    assert_eq!(world.look(), start);
}

#[test]
fn orphaned_layers_go_and_owned_ones_stay() {
    let world = World::new();
    let owned = world.layer();
    let orphan = orphaned(world.layer());
    fs::create_dir_all(orphan.join("upper/closed/inner")).unwrap();
    fs::set_permissions(orphan.join("upper/closed"), fs::Permissions::from_mode(0o0)).unwrap();
    world.files();
    assert!(owned.upper().exists() && !orphan.exists());
}

#[test]
fn one_that_was_begun_and_no_more_goes_at_once_unless_it_is_being_made() {
    let world = World::new();
    drop(world.layer());
    let layers = world.state.join("layers");
    let begun = layers.join("begun");
    fs::create_dir(&begun).unwrap();
    let making = sweep::making(&layers);
    orphans(&world.state, &Wanted::default());
    assert!(begun.exists());
    drop(making);
    orphans(&world.state, &Wanted::default());
    assert!(!begun.exists());
}
