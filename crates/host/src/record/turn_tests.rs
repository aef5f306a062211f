//! What a call touched, without any process: bounds, a store that fails, names that share a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use nika_contract::{Before, Known, Lasting, Preimage, ToolError, Undo, code};

use super::recorder::Recorded;
use super::sight::Sight;
use super::turn::Turn;
use crate::fs::{Fsync, Settings, Workspace};

/// Path, how much is known, what is kept, and the bytes of it.
type Line = (PathBuf, Known, Before, Option<Vec<u8>>);

/// An undo store in memory, which fails when it is told to.
#[derive(Default)]
struct Kept {
    lines: Mutex<Vec<Line>>,
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
            state: dir.path().join("own/w"),
            own: dir.path().join("own"),
            fsync: Fsync::Off,
        });
        let sight = Sight::new(Arc::new(files.unwrap()));
        assert!(sight.slash(std::process::id()).is_ok(), "the job's world is ours");
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
        turn.touch(&self.sight.at(&self.path(name)).expect("a place in the root"));
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
    let from = world.sight.at(&world.path("dir")).expect("it is there");
    let names = turn.touch_all(&from, &world.sight);
    assert_eq!(names, ["deep", "deep/x"].map(PathBuf::from));
    let to = world.path("moved");
    for name in [Path::new("")].into_iter().chain(names.iter().map(PathBuf::as_path)) {
        turn.touch_at(&if name == Path::new("") { to.clone() } else { to.join(name) }, &world.sight);
    }
    fs::rename(world.path("dir"), &to).unwrap();
    assert_eq!(world.counts(&turn.settle(&world.sight, &[])), [3, 0, 3]);
}
