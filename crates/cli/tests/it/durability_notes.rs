//! The note of a change set that a kill interrupted, which cannot be read or is of a newer Nika: nothing is settled, which
//! is said at each start, nothing is lost, and nothing else is held up.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::durability::{answered, empty, nika, traced};
use crate::durability_dirs::{all, runs};
use crate::peer::{Peer, text};
use crate::world::Ran;

/// A root, and Nika's state; what stood in the root before a set of changes, and what it should have come to.
#[derive(Clone)]
struct Scene<'a> {
    root: &'a Path,
    state: &'a Path,
    old: Vec<String>,
    new: Vec<String>,
}

/// A set that is made by itself, and one that is put together in a layer.
pub fn sets() -> [(&'static str, Value); 2] {
    let by_name = json!({"changes": [
        {"op": "delete", "file_path": "a.txt"},
        {"op": "create", "file_path": "a.txt", "content": "new\n"},
        {"op": "delete", "file_path": "b.txt"},
        {"op": "create", "file_path": "b.txt", "content": "new\n"},
    ]});
    let in_layer = json!({"changes": [
        {"op": "delete", "file_path": "a.txt"},
        {"op": "create", "file_path": "a.txt/in/it.txt", "content": "new\n"},
        {"op": "delete", "file_path": "b.txt"},
        {"op": "create", "file_path": "b.txt", "content": "new\n"},
    ]});
    [("beside", by_name), ("layer", in_layer)]
}

impl<'a> Scene<'a> {
    fn begin(root: &Path) {
        empty(root);
        for name in ["a.txt", "b.txt"] {
            fs::write(root.join(name), "old\n").expect("written");
        }
    }

    /// A set that was killed between two of its changes, and its note; `None` where nothing can be traced.
    fn killed(root: &'a Path, state: &'a Path, kind: &str, set: &Value) -> Option<(Scene<'a>, PathBuf)> {
        let set = set.to_string();
        let words = ["call", "change_set", "--mode", "accept-edits", "--json", &set];
        Scene::begin(root);
        let old = all(root);
        runs(root, state, &words);
        let scene = Scene { root, state, old, new: all(root) };
        for call in ["renameat", "renameat2"] {
            for nth in 1..20 {
                Scene::begin(root);
                let kill = format!("inject={call}:signal=KILL:when={nth}");
                let status = traced(root, state, &["-o", "/dev/null", "-e", "trace=desc,file", "-e", &kill], &words)?;
                let now = scene.standing();
                if status.signal() == Some(9) && now != scene.old && now != scene.new {
                    return Some((scene, noted(state, "sets", ".json").pop().expect("its note")));
                }
                scene.starts();
            }
        }
        panic!("no kill fell between two changes of a {kind} set")
    }

    /// What stands, without what is beside it for a moment.
    fn standing(&self) -> Vec<String> {
        all(self.root).into_iter().filter(|name| !name.starts_with(".nika-")).collect()
    }

    /// The next start, with what it says.
    fn starts(&self) -> Ran {
        self.run(&["call", "list_dir"])
    }

    fn run(&self, words: &[&str]) -> Ran {
        let mut nika = nika(self.root, self.state);
        Ran::of(nika.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).output().expect("it runs"))
    }
}

/// What lies in directories of a name in the state, with names that end so.
fn noted(state: &Path, dir: &str, end: &str) -> Vec<PathBuf> {
    let entries = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let base = state.join("state");
    let all = std::iter::once(base.clone()).chain(entries(base)).flat_map(|state| entries(state.join(dir)));
    all.filter(|path| path.to_string_lossy().ends_with(end)).collect()
}

fn call_of(note: &Path) -> String {
    note.file_stem().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn a_note_that_cannot_be_read_is_told_and_kept_and_its_set_can_be_taken_back() {
    for (kind, set) in sets() {
        let (above, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let root = above.path().join("root");
        fs::create_dir(&root).expect("made");
        let Some((scene, note)) = Scene::killed(&root, state.path(), kind, &set) else { return };
        let (mixed, call, named) = (scene.standing(), call_of(&note), note.display().to_string());
        let whole = fs::read(&note).expect("a note");
        fs::write(&note, &whole[..whole.len() / 2]).expect("written");
        let layers = noted(scene.state, "layers", "");
        assert_eq!(layers.is_empty(), kind == "beside");
        // Whoever starts above hears of it, too.
        for over in [above.path(), &root, &root] {
            let ran = Scene { root: over, ..scene.clone() }.starts();
            ran.exits(0).complains("cannot be read").complains(&named).complains(&format!("nika undo {call}"));
        }
        assert_eq!(scene.standing(), mixed, "nothing was guessed");
        assert_eq!(noted(scene.state, "layers", ""), layers, "what it names may lie there");
        assert!(note.exists() && noted(scene.state, "under-way", "").is_empty());
        scene.run(&["log", "show", "recovery"]).says("is not settled").says(&named);
        // Nothing else waits for it.
        let write = ["call", "write", "file_path=c.txt", "content=c", "--mode", "accept-edits"];
        scene.run(&write).exits(0);
        scene.run(&["undo", "--mode", "accept-edits"]).exits(0);
        scene.run(&["undo", &call, "--mode", "accept-edits"]).exits(0);
        assert_eq!(scene.standing(), scene.old);
        fs::remove_file(&note).expect("removed");
        assert_eq!(scene.starts().exits(0).err, "");
        scene.starts();
        assert!(noted(scene.state, "layers", "").is_empty());
    }
}

#[test]
fn the_note_of_a_newer_nika_is_told_and_waits_for_it() {
    for (kind, set) in sets() {
        let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let Some((scene, note)) = Scene::killed(root.path(), state.path(), kind, &set) else { return };
        let (mixed, named) = (scene.standing(), note.display().to_string());
        let ours: Value = serde_json::from_slice(&fs::read(&note).expect("a note")).expect("JSON");
        // Nothing is known of its form but the version.
        fs::write(&note, json!({"version": 2, "more": true}).to_string()).expect("written");
        for _ in 0..2 {
            scene.starts().exits(0).complains("a newer Nika").complains(&named);
        }
        assert_eq!(scene.standing(), mixed);
        scene.run(&["log", "show", "recovery"]).says("is not settled").says("a newer Nika");
        assert!(!noted(scene.state, "under-way", "").is_empty(), "whoever starts beside it can settle it, too");
        // It comes.
        fs::write(&note, ours.to_string()).expect("written");
        assert_eq!(scene.starts().exits(0).err, "");
        assert_eq!(all(scene.root), scene.new, "nothing was lost meanwhile");
        assert!(!note.exists() && noted(scene.state, "under-way", "").is_empty());
    }
}

/// As a mount point is empty while nothing is mounted there.
#[test]
fn a_set_waits_for_the_directory_in_which_it_was_begun() {
    for (kind, set) in sets() {
        let (above, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let [root, away] = ["root", "away"].map(|name| above.path().join(name));
        fs::create_dir(&root).expect("made");
        let Some((scene, note)) = Scene::killed(&root, state.path(), kind, &set) else { return };
        let mixed = all(&root);
        fs::rename(&root, &away).expect("moved away");
        fs::create_dir(&root).expect("made");
        let named = root.canonicalize().expect("there").display().to_string();
        for over in [&root, above.path(), &root] {
            let ran = Scene { root: over, ..scene.clone() }.starts();
            ran.exits(0).complains("is not the directory in which it was begun").complains(&named);
        }
        assert_eq!((all(&root), all(&away)), (Vec::new(), mixed));
        assert!(note.exists() && !noted(scene.state, "under-way", "").is_empty());
        fs::remove_dir(&root).expect("nothing is in it");
        fs::rename(&away, &root).expect("moved back");
        assert_eq!(scene.starts().exits(0).err, "");
        assert_eq!(all(&root), scene.new);
        assert!(!note.exists() && noted(scene.state, "under-way", "").is_empty());
    }
}

#[test]
fn what_could_not_be_removed_beside_a_set_is_removed_by_the_next_start() {
    let names = |dir: &Path| -> Vec<String> { all(dir).into_iter().filter(|name| name.contains(".nika-")).collect() };
    for (kind, set) in sets() {
        // The second is copied beside the files, where the state is on another file system.
        for place in ["/tmp", "/dev/shm"] {
            let Ok(root) = tempfile::tempdir_in(place) else { continue };
            let (root, state) = (root.path(), tempfile::tempdir().expect("a directory"));
            Scene::begin(root);
            let set = set.to_string();
            let words = ["call", "change_set", "--mode", "accept-edits", "--json", &set];
            let options = ["-o", "/dev/null", "-e", "trace=unlinkat", "-e", "inject=unlinkat:error=EIO"];
            let Some(status) = traced(root, state.path(), &options, &words) else { return };
            assert!(status.success(), "{kind} in {place}");
            let is_beside = kind == "beside" || place == "/dev/shm";
            assert_eq!(!names(root).is_empty(), is_beside, "{kind} in {place}: {:?}", all(root));
            if is_beside {
                // It was made: nothing interrupted it.
                let log = Scene { root, state: state.path(), old: Vec::new(), new: Vec::new() };
                let log = log.run(&["log", "show", "recovery"]);
                log.says("  change set ").says(" left ");
                assert!(!log.out.contains("interrupted"), "{log:?}");
            }
            // What others do after it is done is theirs, whatever its note says.
            fs::write(root.join("b.txt"), "theirs\n").expect("written");
            runs(root, state.path(), &["call", "list_dir"]);
            assert!(names(root).is_empty(), "{kind} in {place}: {:?}", all(root));
            assert_eq!(fs::read_to_string(root.join("b.txt")).expect("there"), "theirs\n");
            assert!(noted(state.path(), "sets", ".json").is_empty() && noted(state.path(), "under-way", "").is_empty());
        }
    }
}

/// The lock is one for all workspaces: it is taken a few times, as by calls that change files elsewhere.
#[test]
fn a_start_waits_for_its_turn_to_settle_a_set_and_says_where_it_cannot() {
    for (kind, set) in sets() {
        let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let Some((scene, note)) = Scene::killed(root.path(), state.path(), kind, &set) else { return };
        let mixed = scene.standing();
        let lock = scene.state.join("state/lock");
        assert!(lock.exists(), "it was taken before");
        let starts = |fault: &str| {
            let (lock, fault) = (lock.to_string_lossy(), format!("inject=flock:{fault}"));
            let options = ["-o", "/dev/null", "-P", &lock, "-e", "trace=flock", "-e", &fault];
            answered(scene.root, scene.state, &options, &["call", "list_dir"]).map(Ran::of)
        };
        let Some(ran) = starts("error=ENOLCK") else { return };
        ran.exits(0).complains("is not settled").complains("No locks available").complains(&note.display().to_string());
        assert_eq!(scene.standing(), mixed, "{kind}");
        let Some(ran) = starts("error=EAGAIN:when=1..5") else { return };
        assert_eq!(ran.exits(0).err, "");
        assert!(scene.standing() == scene.new && !note.exists(), "{kind}: {:?}", scene.standing());
    }
}

/// As on a full disk.
#[test]
fn a_set_that_cannot_be_noted_leaves_nothing() {
    for (kind, set) in sets() {
        let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let (root, state) = (root.path(), state.path());
        Scene::begin(root);
        let (old, set) = (all(root), set.to_string());
        let words = ["call", "change_set", "--mode", "accept-edits", "--json", &set];
        let options = ["-o", "/dev/null", "-e", "trace=rename", "-e", "inject=rename:error=ENOSPC"];
        let Some(status) = traced(root, state, &options, &words) else { return };
        assert!(!status.success(), "{kind}");
        assert_eq!(all(root), old, "{kind}");
        for dir in ["sets", "layers", "under-way"] {
            assert_eq!(noted(state, dir, ""), Vec::<PathBuf>::new(), "{kind}");
        }
    }
}

#[test]
fn what_a_running_server_settles_is_in_the_journal_too() {
    for (kind, set) in sets() {
        let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let mut peer = Peer::start({
            let mut nika = nika(root.path(), state.path());
            nika.args(["serve", "--list", "all", "--mode", "accept-edits"]);
            nika
        });
        peer.initialize("2025-11-25");
        let Some((scene, note)) = Scene::killed(root.path(), state.path(), kind, &set) else { return };
        let wrote = peer.call("nika_write", json!({"file_path": "c.txt", "content": "c"}));
        assert!(text(&wrote).contains("Created") && !note.exists(), "{wrote}");
        assert_eq!(peer.end(), 0);
        let mut settled = scene.new.clone();
        settled.push("c.txt: c".to_owned());
        settled.sort();
        assert_eq!(all(scene.root), settled);
        let journals =
            noted(scene.state, "journal", ".jsonl").into_iter().map(|file| fs::read_to_string(file).expect("text"));
        let told =
            |line: &str| line.contains("\"Recovered\"") && line.contains(&call_of(&note)) && line.contains("finished");
        let count = journals.map(|text| text.lines().filter(|line| told(line)).count()).sum::<usize>();
        assert_eq!(count, 1, "{kind}");
    }
}
