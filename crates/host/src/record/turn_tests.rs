//! What a call touched, without any process: bounds, a store that fails, names that share a file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nika_contract::{Before, Known, Lasting, Preimage, ToolError, Undo, code};

use super::held_open::Held;
use super::recorder::Recorded;
use super::sight::{Found, Sight};
use super::turn::Turn;
use crate::fs::{Fsync, Settings, Workspace, sha256};

/// Path, how much is known, what is kept, and the bytes of it.
type Line = (PathBuf, Known, Before, Option<Vec<u8>>);

/// Path, how much is known, sha256 of what is left, and whether it is told by its stamp.
type Left = (PathBuf, Known, Option<[u8; 32]>, bool);

/// An undo store in memory, which fails when it is told to.
#[derive(Default)]
struct Kept {
    lines: Mutex<Vec<Line>>,
    left: Mutex<Vec<Left>>,
    full: Mutex<bool>,
}

impl Undo for Kept {
    fn keep(&self, preimage: &Preimage<'_>) -> Result<(), ToolError> {
        if *self.full.lock().unwrap() {
            return Err(ToolError::new(code::STATE_UNUSABLE, "the disk is full"));
        }
        let more = preimage.more.expect("it is recorded");
        let line = (preimage.path.to_owned(), more.known, more.before, preimage.bytes.map(<[u8]>::to_vec));
        self.lines.lock().unwrap().push(line);
        let left = (preimage.path.to_owned(), more.known, preimage.after, more.left_as.is_some());
        self.left.lock().unwrap().push(left);
        Ok(())
    }
}

struct World {
    dir: tempfile::TempDir,
    sight: Sight,
    undo: Arc<Kept>,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        for name in ["root", "own/w/sets"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        let files = Workspace::open(Settings {
            roots: vec![dir.path().join("root")],
            readable: Vec::new(),
            home: None,
            git: None,
            state: dir.path().join("own/w"),
            own: dir.path().join("own"),
            fsync: Fsync::Off,
        });
        let sight = Sight::new(Arc::new(files.unwrap()));
        sight.learn(std::process::id(), || true);
        World { sight, dir, undo: Arc::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("root").join(name)
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn turn(&self) -> Turn {
        Turn::new(Lasting { call: "c1".into(), undo: Arc::clone(&self.undo) as Arc<dyn Undo>, hold: Box::new(()) })
    }

    fn touch(&self, turn: &mut Turn, name: &str) {
        turn.touch(&self.at(name));
    }

    fn at(&self, name: &str) -> Found {
        self.sight.at(&self.path(name)).unwrap().expect("a place in the root")
    }

    fn counts(&self, recorded: &Recorded) -> [usize; 3] {
        [recorded.created, recorded.changed, recorded.deleted]
    }
}

#[test]
fn a_path_is_kept_once_and_what_came_of_it_is_said_once() {
    let world = World::new();
    world.put("a", "one");
    world.put("same", "same");
    let mut turn = world.turn();
    world.touch(&mut turn, "a");
    world.touch(&mut turn, "same");
    world.put("a", "two");
    world.touch(&mut turn, "a");
    world.put("a", "three");
    world.touch(&mut turn, "new");
    world.put("new", "new");
    assert_eq!(world.counts(&turn.settle(&world.sight, &[])), [1, 1, 0]);
    // Looked at again when nothing was touched, it says the same and writes nothing.
    let written = world.undo.lines.lock().unwrap().len();
    assert_eq!(world.counts(&turn.settle(&world.sight, &[])), [1, 1, 0]);
    let lines = world.undo.lines.lock().unwrap();
    assert_eq!((written, lines.len()), (6, 6), "{lines:?}");
    let of = |name: &str| lines.iter().filter(|line| line.0 == world.path(name)).map(|line| line.1).collect::<Vec<_>>();
    assert_eq!(of("a"), [Known::Begun, Known::Settled]);
    assert_eq!(of("same"), [Known::Begun, Known::Unchanged]);
    let before = lines.iter().find(|line| line.0 == world.path("a")).and_then(|line| line.3.clone());
    assert_eq!(before.as_deref(), Some(b"one".as_slice()));
}

#[test]
fn of_more_than_is_kept_the_first_is_named_and_spoils_the_call() {
    let world = World::new();
    world.put("large", "larger than is kept");
    let mut turn = world.turn();
    turn.most_paths = 2;
    turn.bounds.file_bytes = 8;
    world.touch(&mut turn, "large");
    world.put("large", "other");
    for name in ["a", "b", "c"] {
        world.touch(&mut turn, name);
        world.put(name, name);
    }
    let recorded = turn.settle(&world.sight, &[]);
    assert_eq!(recorded.not_kept, [world.path("large")]);
    assert_eq!(recorded.beyond, Some(world.path("b")));
    assert_eq!(world.counts(&recorded), [1, 0, 0]);
    let lines = world.undo.lines.lock().unwrap();
    let lost = lines.iter().filter(|line| line.2 == Before::Lost).map(|line| line.0.clone());
    assert!(lost.collect::<Vec<_>>().ends_with(&[world.path("large")]), "{lines:?}");
    assert!(lines.iter().any(|line| line.0 == world.path("b") && line.2 == Before::Lost), "{lines:?}");
    assert!(!lines.iter().any(|line| line.0 == world.path("c")), "{lines:?}");
}

#[test]
fn where_nothing_can_be_kept_the_change_is_named() {
    let world = World::new();
    world.put("a", "one");
    let mut turn = world.turn();
    *world.undo.full.lock().unwrap() = true;
    world.touch(&mut turn, "a");
    world.touch(&mut turn, "new");
    for name in ["a", "new"] {
        world.put(name, "two");
    }
    *world.undo.full.lock().unwrap() = false;
    assert_eq!(turn.settle(&world.sight, &[]).not_kept, [world.path("a"), world.path("new")]);
}

#[test]
fn names_of_one_file_are_told() {
    let world = World::new();
    world.put("a", "one");
    fs::hard_link(world.path("a"), world.path("b")).unwrap();
    let mut turn = world.turn();
    world.touch(&mut turn, "a");
    world.put("a", "two");
    let recorded = turn.settle(&world.sight, &[]);
    assert_eq!((recorded.linked, recorded.changed), (vec![world.path("a")], 1));
    // Another file in its place leaves the other names alone.
    let mut turn = world.turn();
    world.put("other", "three");
    world.touch(&mut turn, "b");
    fs::rename(world.path("other"), world.path("b")).unwrap();
    let recorded = turn.settle(&world.sight, &[]);
    assert_eq!((recorded.linked, recorded.changed), (Vec::new(), 1));
}

#[test]
fn a_directory_that_moves_is_touched_with_all_that_is_in_it() {
    let world = World::new();
    fs::create_dir_all(world.path("dir/deep")).unwrap();
    world.put("dir/deep/x", "x");
    let mut turn = world.turn();
    let from = world.at("dir");
    let names = turn.touch_all(&from, &world.sight);
    assert_eq!(names, ["deep", "deep/x"].map(PathBuf::from));
    let to = world.path("moved");
    for name in [Path::new("")].into_iter().chain(names.iter().map(PathBuf::as_path)) {
        turn.touch_at(&if name == Path::new("") { to.clone() } else { to.join(name) }, &world.sight);
    }
    fs::rename(world.path("dir"), &to).unwrap();
    assert_eq!(world.counts(&turn.settle(&world.sight, &[])), [3, 0, 3]);
}

/// What the paths that were touched look like half a second later, when the command holds open what `held` says.
fn rest(world: &World, turn: &mut Turn, held: &Held) {
    let since = turn.next_look().expect("something rests") + Duration::from_secs(600);
    for path in turn.at_rest(since) {
        turn.look(&path, since, held, &world.sight);
    }
}

/// As the last line says it: how much is known, and sha256 of what is left, or its stamp.
fn left(world: &World, name: &str) -> (Known, Option<[u8; 32]>, bool) {
    let lines = world.undo.left.lock().unwrap();
    let last = lines.iter().rfind(|(path, ..)| *path == world.path(name)).expect("a line");
    (last.1, last.2, last.3)
}

#[test]
fn what_others_write_to_a_path_that_was_left_alone_is_not_the_commands() {
    let world = World::new();
    world.put("a", "one");
    let mut turn = world.turn();
    for name in ["a", "gone", "new"] {
        world.touch(&mut turn, name);
        world.put(name, "the command's");
    }
    rest(&world, &mut turn, &Held::default());
    // Somebody's editor.
    world.put("a", "a person's");
    fs::remove_file(world.path("gone")).unwrap();
    let recorded = turn.settle(&world.sight, &[]);
    assert_eq!(world.counts(&recorded), [2, 1, 0]);
    for name in ["a", "gone", "new"] {
        assert_eq!(left(&world, name), (Known::Settled, Some(sha256(b"the command's")), false), "{name}");
    }
    assert!(recorded.refused && recorded.others == [world.path("a"), world.path("gone")], "{recorded:?}");
}

#[test]
fn what_somebody_wrote_between_two_touches_is_not_the_commands() {
    let world = World::new();
    for name in ["a", "same"] {
        world.put(name, "one");
    }
    let mut turn = world.turn();
    for name in ["a", "same"] {
        world.touch(&mut turn, name);
    }
    world.put("a", "the command's");
    rest(&world, &mut turn, &Held::default());
    for name in ["a", "same"] {
        world.put(name, "a person's");
        world.touch(&mut turn, name);
        world.put(name, "the command's, again");
    }
    rest(&world, &mut turn, &Held::default());
    let recorded = turn.settle(&world.sight, &[]);
    // What it had left before that is what undo will not find: it is refused.
    assert_eq!(left(&world, "a"), (Known::Settled, Some(sha256(b"the command's")), false));
    assert!(recorded.refused && recorded.others == [world.path("a")], "{recorded:?}");
    // Where it had changed nothing before, what the person wrote is what it began with.
    let lines = world.undo.lines.lock().unwrap();
    let begun = lines.iter().rfind(|line| line.0 == world.path("same") && line.1 == Known::Begun);
    assert_eq!(begun.and_then(|line| line.3.as_deref()), Some(b"a person's".as_slice()));
    assert_eq!(left(&world, "same"), (Known::Settled, Some(sha256(b"the command's, again")), false));
}

#[test]
fn what_is_written_again_and_again_takes_few_lines_and_its_end_is_known() {
    let world = World::new();
    let mut turn = world.turn();
    for time in 0..40 {
        world.touch(&mut turn, "log");
        world.put("log", &format!("{time}"));
        rest(&world, &mut turn, &Held::default());
    }
    assert_eq!(world.counts(&turn.settle(&world.sight, &[])), [1, 0, 0]);
    assert_eq!(left(&world, "log"), (Known::Settled, Some(sha256(b"39")), false));
    let lines = world.undo.lines.lock().unwrap().len();
    assert!((30..40).contains(&lines), "{lines}");
}

#[test]
fn what_is_held_open_is_the_commands_until_another_file_stands_there() {
    let world = World::new();
    for name in ["a", "b"] {
        world.put(name, "one");
    }
    let mut turn = world.turn();
    let open = ["a", "b"].map(|name| {
        world.touch(&mut turn, name);
        fs::OpenOptions::new().write(true).open(world.path(name)).unwrap()
    });
    let held = Held::by(&[rustix::process::getpid()]);
    rest(&world, &mut turn, &held);
    assert_eq!(left(&world, "a").0, Known::Begun, "nobody knows what it writes yet");
    for mut file in open {
        file.write_all(b"two").unwrap();
    }
    // An editor writes another file and moves it there.
    world.put("editors", "a person's");
    fs::rename(world.path("editors"), world.path("b")).unwrap();
    assert_eq!(world.counts(&turn.settle(&world.sight, &[])), [0, 1, 0]);
    assert_eq!(left(&world, "a"), (Known::Settled, Some(sha256(b"two")), false));
    assert_eq!(left(&world, "b"), (Known::Unchanged, None, true), "as far as anybody saw");
}

#[test]
fn the_other_names_of_a_file_and_large_ones_are_looked_at_in_the_end() {
    let world = World::new();
    let mut turn = world.turn();
    for name in ["a", "large"] {
        world.touch(&mut turn, name);
        world.put(name, "one");
    }
    world.touch(&mut turn, "b");
    fs::hard_link(world.path("a"), world.path("b")).unwrap();
    fs::File::options().write(true).open(world.path("large")).unwrap().set_len(17 << 20).unwrap();
    rest(&world, &mut turn, &Held::default());
    for name in ["a", "b", "large"] {
        assert_eq!(left(&world, name).0, Known::Begun, "{name}");
    }
    world.put("b", "two");
    turn.settle(&world.sight, &[]);
    assert_eq!(left(&world, "a"), (Known::Settled, Some(sha256(b"two")), false));
}

/// A path that the command holds open and may have written, looked at, and in its place a file that a person's editor put there.
fn replaced_while_held(world: &World, name: &str, written: Option<&str>) -> (Turn, Held) {
    let mut turn = world.turn();
    world.put(name, "one");
    world.touch(&mut turn, name);
    let open = fs::OpenOptions::new().write(true).open(world.path(name)).unwrap();
    written.into_iter().for_each(|text| world.put(name, text));
    let held = Held::by(&[rustix::process::getpid()]);
    rest(world, &mut turn, &held);
    drop(open);
    world.put("editors", "a person's");
    fs::rename(world.path("editors"), world.path(name)).unwrap();
    (turn, held)
}

#[test]
fn a_file_that_replaced_one_that_was_held_open_is_another_s_whatever_comes_then() {
    for (looked, touched) in [(true, true), (true, false), (false, true), (false, false)] {
        let world = World::new();
        let (mut turn, _) = replaced_while_held(&world, "log", Some("the command's"));
        if looked {
            rest(&world, &mut turn, &Held::default());
        }
        if touched {
            world.touch(&mut turn, "log");
            world.put("log", "a person's, and again");
            rest(&world, &mut turn, &Held::default());
        }
        let recorded = turn.settle(&world.sight, &[]);
        let case = format!("looked {looked}, touched {touched}: {recorded:?}");
        assert_eq!(left(&world, "log"), (Known::Settled, None, true), "{case}");
        assert!(recorded.refused && recorded.others == [world.path("log")], "{case}");
    }
    // Also where it cannot be told what is held: the other file was not there at the last touch.
    let world = World::new();
    let (mut turn, held) = replaced_while_held(&world, "log", Some("the command's"));
    let now = fs::OpenOptions::new().write(true).open(world.path("log")).unwrap();
    rest(&world, &mut turn, &Held::by(&[rustix::process::getpid()]));
    drop((now, held));
    assert!(turn.settle(&world.sight, &[]).refused);
}

#[test]
fn what_replaced_a_held_file_that_was_not_written_is_what_the_command_begins_with() {
    let world = World::new();
    let (mut turn, _) = replaced_while_held(&world, "log", None);
    world.touch(&mut turn, "log");
    world.put("log", "the command's");
    let recorded = turn.settle(&world.sight, &[]);
    assert!(!recorded.refused && recorded.others.is_empty(), "{recorded:?}");
    let lines = world.undo.lines.lock().unwrap();
    let begun = lines.iter().rfind(|line| line.1 == Known::Begun).and_then(|line| line.3.clone());
    assert_eq!(begun.as_deref(), Some(b"a person's".as_slice()));
}

#[test]
fn what_somebody_puts_in_a_directory_that_is_gone_is_not_the_commands() {
    let world = World::new();
    fs::create_dir(world.path("d")).unwrap();
    world.put("d/x", "one");
    let mut turn = world.turn();
    turn.touch_all(&world.at("d"), &world.sight);
    fs::remove_dir_all(world.path("d")).unwrap();
    rest(&world, &mut turn, &Held::default());
    assert_eq!(turn.next_look(), None, "what is gone is not looked at for ever");
    fs::create_dir(world.path("d")).unwrap();
    world.put("d/x", "a person's");
    let recorded = turn.settle(&world.sight, &[]);
    assert!(recorded.refused && recorded.others == [world.path("d"), world.path("d/x")], "{recorded:?}");
    assert_eq!(world.counts(&recorded), [0, 0, 2]);
}

#[test]
fn undo_is_said_to_be_refused_where_it_is() {
    let cases: [(&str, bool); 4] = [("nothing", false), ("as before", false), ("a file", true), ("a directory", true)];
    for (puts, refused) in cases {
        let world = World::new();
        fs::create_dir(world.path("d")).unwrap();
        world.put("x", "one");
        let mut turn = world.turn();
        world.touch(&mut turn, "d");
        world.touch(&mut turn, "x");
        fs::remove_dir(world.path("d")).unwrap();
        fs::remove_file(world.path("x")).unwrap();
        rest(&world, &mut turn, &Held::default());
        // A directory that was taken away is back where somebody made one: nothing of theirs is lost.
        fs::create_dir(world.path("d")).unwrap();
        match puts {
            "as before" => world.put("x", "one"),
            "a file" => world.put("x", "a person's"),
            "a directory" => fs::create_dir(world.path("x")).unwrap(),
            _ => {}
        }
        let recorded = turn.settle(&world.sight, &[]);
        assert_eq!(recorded.refused, refused, "{puts}: {recorded:?}");
        assert!(recorded.others.contains(&world.path("d")), "{puts}: {recorded:?}");
    }
}

#[test]
fn between_two_calls_only_what_is_held_open_is_the_earlier_ones() {
    let world = World::new();
    for name in ["held", "replaced", "left"] {
        world.put(name, "one");
    }
    let mut turn = world.turn();
    for name in ["held", "replaced", "left"] {
        world.touch(&mut turn, name);
        world.put(name, "two");
    }
    let held = ["held", "replaced"].map(|name| world.at(name));
    assert_eq!(world.counts(&turn.settle(&world.sight, &held)), [0, 3, 0]);
    world.put("held", "between");
    for name in ["replaced", "left"] {
        world.put("editors", "a person's");
        fs::rename(world.path("editors"), world.path(name)).unwrap();
    }
    world.touch(&mut turn, "left");
    turn.settle(&world.sight, &[]);
    assert_eq!(left(&world, "held"), (Known::Settled, Some(sha256(b"between")), false));
    for name in ["replaced", "left"] {
        assert_eq!(left(&world, name), (Known::Settled, Some(sha256(b"two")), false), "{name}");
    }
}

#[test]
fn what_the_command_puts_back_into_a_directory_that_was_gone_is_its_own() {
    for person in [None, Some("a person's")] {
        let world = World::new();
        fs::create_dir(world.path("d")).unwrap();
        world.put("d/x", "one");
        let mut turn = world.turn();
        turn.touch_all(&world.at("d"), &world.sight);
        for name in ["e", "e/x"] {
            turn.touch_at(&world.path(name), &world.sight);
        }
        fs::rename(world.path("d"), world.path("e")).unwrap();
        rest(&world, &mut turn, &Held::default());
        turn.touch_all(&world.at("e"), &world.sight);
        for name in ["d", "d/x"] {
            turn.touch_at(&world.path(name), &world.sight);
        }
        fs::rename(world.path("e"), world.path("d")).unwrap();
        rest(&world, &mut turn, &Held::default());
        person.into_iter().for_each(|text| world.put("d/x", text));
        let recorded = turn.settle(&world.sight, &[]);
        assert_eq!(world.counts(&recorded), [0, 0, 0], "{recorded:?}");
        assert_eq!((recorded.refused, recorded.others.len()), (false, person.map_or(0, |_| 1)), "{recorded:?}");
    }
}

#[test]
fn a_name_that_is_touched_late_held_what_its_file_did_before_the_first_change() {
    let world = World::new();
    world.put("a", "one");
    for name in ["b", "c", "d"] {
        fs::hard_link(world.path("a"), world.path(name)).unwrap();
    }
    let mut turn = world.turn();
    world.touch(&mut turn, "a");
    fs::OpenOptions::new().append(true).open(world.path("a")).unwrap().write_all(b", two").unwrap();
    for name in ["b", "c"] {
        world.touch(&mut turn, name);
        fs::remove_file(world.path(name)).unwrap();
    }
    // Another file that comes to the same name is another.
    world.put("b", "other");
    world.touch(&mut turn, "b");
    let recorded = turn.settle(&world.sight, &[]);
    assert_eq!((world.counts(&recorded), recorded.not_kept.len()), ([0, 2, 1], 0));
    // One name is left with the change.
    assert_eq!((recorded.linked, recorded.parted), (vec![world.path("a")], vec![world.path("b"), world.path("c")]));
    let lines = world.undo.lines.lock().unwrap();
    assert!(lines.iter().all(|line| line.2 == Before::Kept), "{lines:?}");
    let texts: Vec<_> = lines.iter().filter_map(|line| line.3.clone()).collect();
    assert_eq!(texts, [b"one".to_vec()], "what the file held is kept once");
}
