//! What others write at the last moment to files in directories that a command takes away or replaces.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::durability::{answered, nika};
use crate::shell_undo::tree;

/// A root, and a state beside it.
struct Scene {
    root: tempfile::TempDir,
    state: tempfile::TempDir,
}

impl Scene {
    fn new(script: &str) -> Scene {
        Scene::with(tempfile::tempdir().expect("a directory"), script)
    }

    fn with(state: tempfile::TempDir, script: &str) -> Scene {
        let scene = Scene { root: tempfile::tempdir().expect("a directory"), state };
        scene.does(script);
        scene
    }

    fn at(&self, name: &str) -> std::path::PathBuf {
        self.root.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_default()
    }

    fn does(&self, script: &str) {
        let ran = Command::new("sh").args(["-ec", script]).current_dir(self.at("")).status();
        assert!(ran.expect("sh runs").success(), "{script}");
    }

    /// Whether changes are noted and not settled.
    fn is_under_way(&self) -> bool {
        let states = fs::read_dir(self.state.path().join("state")).into_iter().flatten().flatten();
        let notes = states.flat_map(|state| fs::read_dir(state.path().join("sets")).into_iter().flatten().flatten());
        notes.into_iter().any(|note| note.path().extension().is_some_and(|ext| ext == "json"))
    }

    /// The answer and exit code of a command beside which others do this once it is noted what moves; each move waits for
    /// them. `None` where that cannot be had.
    fn raced(&self, command: &str, others: impl FnOnce()) -> Option<(String, Option<i32>)> {
        if !crate::shell::is_confined_here() {
            return None;
        }
        let command = format!("command={command}");
        let ran = self.raced_call(&["call", "bash", &command, "--unsafe"], others)?;
        Some((String::from_utf8_lossy(&ran.stdout).into_owned(), ran.status.code()))
    }

    fn raced_call(&self, words: &[&str], others: impl FnOnce()) -> Option<std::process::Output> {
        let options = ["-o", "/dev/null", "-e", "trace=renameat2", "-e", "inject=renameat2:delay_enter=300000"];
        let (root, state) = (self.root.path(), self.state.path());
        std::thread::scope(|scope| {
            let ran = scope.spawn(|| answered(root, state, &options, words));
            while !ran.is_finished() && !self.is_under_way() {
                std::thread::yield_now();
            }
            others();
            ran.join().expect("it ends")
        })
    }

    fn undo(&self) -> bool {
        let mut undo = nika(self.root.path(), self.state.path());
        undo.args(["undo", "--unsafe"]).status().expect("it runs").success()
    }
}

fn append(path: &Path) {
    let mut file = fs::File::options().append(true).open(path).expect("opened");
    std::io::Write::write_all(&mut file, b"others\n").expect("appended");
}

/// What others changed is left as it is, with all that goes with it; the rest is applied as it was meant.
#[test]
fn a_directory_that_others_wrote_to_is_replaced_as_a_whole_or_not_at_all() {
    let scene = Scene::new(
        "mkdir deps other; echo bin > deps/p; echo x > deps/x; echo a > other/a; echo g > gone; chmod 750 other",
    );
    let before = tree(&scene.at(""));
    let command = "rm -rf deps other gone; mkdir deps other; echo n > deps/n; echo n > other/n";
    let Some((said, code)) = scene.raced(command, || append(&scene.at("deps/x"))) else { return };
    assert!(said.contains("[not applied, as others changed it meanwhile: deps;"), "{said}");
    assert_eq!(code, Some(1), "{said}");
    assert_eq!((scene.text("deps/p"), scene.text("deps/x")), ("bin\n".into(), "x\nothers\n".into()), "{said}");
    let names: Vec<String> = tree(&scene.at("")).into_keys().collect();
    assert_eq!(names, ["deps", "deps/p", "deps/x", "other", "other/n"], "{said}");
    // What was not applied is nothing to take back.
    assert!(scene.undo(), "{said}");
    fs::write(scene.at("deps/x"), "x\n").expect("written");
    assert_eq!(tree(&scene.at("")), before);
}

/// What others put into new directories in the moment in which these stood there lies with them, and is named.
#[test]
fn what_others_write_to_a_directory_that_does_not_stay_is_theirs() {
    let apart = tempfile::tempdir_in("/dev/shm").ok();
    let states = [Some(tempfile::tempdir().expect("a directory")), apart];
    for state in states.into_iter().flatten() {
        let is_apart = state.path().starts_with("/dev/shm");
        let scene = Scene::with(
            state,
            "mkdir -p deps/sub other; echo x > deps/x; echo s > deps/sub/s; echo a > other/a; ln -s a deps/l",
        );
        let command = "rm -rf deps other; mkdir -p anew deps/sub deps/new other; for n in 1 2 3; do echo $n > anew/$n; done; ln -s a deps/l
            echo n > deps/n; echo k > deps/k; echo n > other/n";
        let others = || {
            append(&scene.at("deps/x"));
            let since = Instant::now();
            while !scene.at("deps/n").exists() {
                assert!(since.elapsed() < Duration::from_secs(60), "it never stood there");
            }
            append(&scene.at("deps/n"));
            for (name, text) in [("deps/t", "t"), ("deps/sub/t", "st"), ("deps/new/t", "nt"), ("anew/t", "at")] {
                fs::write(scene.at(name), text).expect("written");
            }
            scene.does("mkdir deps/d; echo d > deps/d/d; chmod 777 anew/2; rm anew/3; ln -sfn b deps/l");
        };
        let Some((said, code)) = scene.raced(command, others) else { return };
        assert_eq!(code, Some(1), "{said}");
        assert_eq!(["deps/x", "deps/sub/s"].map(|name| scene.text(name)), ["x\nothers\n", "s\n"], "{said}");
        let names: Vec<String> = tree(scene.root.path()).into_keys().collect();
        assert_eq!(names, ["deps", "deps/l", "deps/sub", "deps/sub/s", "deps/x", "other", "other/n"], "{said}");
        let line =
            said.lines().find(|line| line.starts_with("[not applied, as others changed it meanwhile: anew, deps;"));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        let (_, lies) = line.split_once("the command's version lies in ").expect("where");
        let (place, theirs) = lies.split_once(", with what others wrote to it as it was applied: ").expect("what");
        // Of a copy nobody asks for rights: not every file system keeps them.
        let rights = if is_apart { "" } else { "anew/2, " };
        let named = format!("{rights}anew/3, anew/t, deps/d, deps/l, deps/n, deps/new/t, deps/sub/t, deps/t]");
        assert_eq!(theirs, named, "{said}");
        let kept = |name: &str| fs::read_to_string(Path::new(place).join(name)).unwrap_or_default();
        let of_others = ["anew/t", "deps/t", "deps/sub/t", "deps/new/t", "deps/d/d", "deps/n"].map(kept);
        assert_eq!(of_others, ["at", "t", "st", "nt", "d\n", "n\nothers\n"], "{said}");
        assert_eq!([kept("deps/k"), kept("anew/1")], ["k\n", "1\n"], "{said}");
        // What was applied after all is the command's alone.
        assert!(scene.undo() && scene.text("other/a") == "a\n");
    }
}

/// The same of an undo that is taken back.
#[test]
fn what_others_write_to_a_directory_that_came_back_and_goes_again_is_kept() {
    let apart = tempfile::tempdir_in("/dev/shm").ok();
    for state in [Some(tempfile::tempdir().expect("a directory")), apart].into_iter().flatten() {
        let scene = Scene::with(state, "mkdir d; echo a > d/a; echo z > z");
        let Some((said, code)) = scene.raced("rm -rf d; echo new > z", || {}) else { return };
        assert_eq!(code, Some(0), "{said}");
        let others = || {
            let since = Instant::now();
            while !scene.at("d/a").exists() {
                assert!(since.elapsed() < Duration::from_secs(60), "it never stood there");
            }
            fs::write(scene.at("d/t"), "t").expect("written");
            append(&scene.at("d/a"));
            append(&scene.at("z"));
        };
        let Some(undone) = scene.raced_call(&["undo", "--unsafe"], others) else { return };
        let said = String::from_utf8_lossy(&undone.stderr);
        assert_eq!((undone.status.code(), scene.text("z")), (Some(1), "new\nothers\n".into()), "{said}");
        let lies = said.split_once("what they wrote to ").and_then(|(_, rest)| rest.split_once(" lies in "));
        let (_, place) = lies.unwrap_or_else(|| panic!("{said}"));
        let place = place.lines().next().expect("a line");
        let kept = |name: &str| fs::read_to_string(Path::new(place).join(name)).expect("kept");
        assert_eq!((kept("t"), kept("a")), ("t".into(), "a\nothers\n".into()), "{said}");
        let names: Vec<String> = tree(scene.root.path()).into_keys().collect();
        assert_eq!(names, ["z"], "{said}");
    }
}

/// What an undo takes away is looked at before all that comes back is put together, and again then.
#[test]
fn what_others_write_while_an_undo_is_put_together_is_theirs() {
    let scene = Scene::new("echo a > a");
    let Some((said, code)) = scene.raced("echo new > a; mkdir d; echo b > d/b", || {}) else { return };
    assert_eq!(code, Some(0), "{said}");
    let layers = || {
        let states = fs::read_dir(scene.state.path().join("state")).into_iter().flatten().flatten();
        let layers = states.flat_map(|state| fs::read_dir(state.path().join("layers")).into_iter().flatten().flatten());
        layers.map(|layer| layer.path()).collect::<Vec<_>>()
    };
    for (path, text) in [("a", "new\n"), ("d/b", "b\n")] {
        let before = layers();
        let options =
            ["-o", "/dev/null", "-e", "trace=?mkdir,mkdirat", "-e", "inject=?mkdir,mkdirat:delay_exit=300000"];
        let (root, state) = (scene.root.path(), scene.state.path());
        let undone = std::thread::scope(|scope| {
            let undone = scope.spawn(|| answered(root, state, &options, &["undo", "--unsafe"]));
            while !undone.is_finished() && layers().iter().all(|layer| before.contains(layer)) {
                std::thread::yield_now();
            }
            append(&scene.at(path));
            undone.join().expect("it ends")
        });
        let Some(undone) = undone else { return };
        assert_eq!((undone.status.code(), scene.text(path)), (Some(1), format!("{text}others\n")), "{undone:?}");
        fs::write(scene.at(path), text).expect("written");
    }
    assert!(scene.undo());
    assert_eq!((tree(scene.root.path()).len(), scene.text("a")), (1, "a\n".into()));
}

/// A link of the command's stood there, where others put a directory in that moment.
#[test]
fn what_others_leave_is_kept_behind_no_link_of_the_command() {
    let apart = tempfile::tempdir_in("/dev/shm").ok();
    let outside = tempfile::tempdir().expect("a directory");
    let precious = outside.path().join("a/f");
    fs::create_dir(outside.path().join("a")).expect("made");
    for state in [Some(tempfile::tempdir().expect("a directory")), apart].into_iter().flatten() {
        fs::write(&precious, "precious").expect("written");
        let scene =
            Scene::with(state, "mkdir -p deps/k/a pre/a; echo x > deps/x; echo old > deps/k/a/f; echo evil > pre/a/f");
        let command = format!("rm -rf deps; mkdir deps; ln -s {} deps/k; echo n > deps/n", outside.path().display());
        let others = || {
            append(&scene.at("deps/x"));
            let since = Instant::now();
            while !scene.at("deps/k").is_symlink() {
                assert!(since.elapsed() < Duration::from_secs(60), "it never stood there");
            }
            scene.does("rm deps/k; mv pre deps/k");
        };
        let Some((said, code)) = scene.raced(&command, others) else { return };
        assert_eq!((code, fs::read_to_string(&precious).expect("there")), (Some(1), "precious".into()), "{said}");
        let (_, lies) = said.split_once("the command's version lies in ").unwrap_or_else(|| panic!("{said}"));
        let (place, theirs) = lies.split_once(", with what others wrote to it as it was applied: ").expect("what");
        assert!(theirs.starts_with("deps/k/a/f]") || theirs.starts_with("deps/k]"), "{said}");
        assert_eq!(fs::read_to_string(Path::new(place).join("deps/k/a/f")).expect("kept"), "evil\n", "{said}");
        assert_eq!((scene.text("deps/x"), scene.text("deps/k/a/f")), ("x\nothers\n".into(), "old\n".into()), "{said}");
    }
}

/// Of a file with several names, one of which stays, or goes too.
#[test]
fn what_others_write_to_a_file_with_several_names_is_not_lost() {
    for (more, command) in [("true", "rm -rf deps"), ("ln deps/x x", "rm -rf deps"), ("ln deps/x x", "rm -rf deps x")] {
        let scene =
            Scene::new(&format!("mkdir deps; echo x > deps/x; ln deps/x deps/y; {more}; touch -d 2020-01-01 deps/x"));
        let write = || {
            let time = fs::metadata(scene.at("deps/x")).expect("there").modified().expect("a time");
            append(&scene.at("deps/x"));
            let file = fs::File::options().append(true).open(scene.at("deps/x")).expect("opened");
            file.set_modified(time).expect("set");
        };
        let Some((said, code)) = scene.raced(command, write) else { return };
        assert!(said.contains("not applied, as others changed it meanwhile: deps"), "{command}: {said}");
        assert_eq!((scene.text("deps/x"), code), ("x\nothers\n".into(), Some(1)), "{command}: {said}");
    }
}

/// As an archive may have it. Nobody changed anything.
#[test]
fn a_directory_with_a_file_of_several_names_and_a_time_to_come_goes() {
    if !crate::shell::is_confined_here() {
        return;
    }
    for command in ["rm -rf deps p; mkdir deps; echo n > deps/n", "rm -rf deps; mkdir deps; echo n > deps/n"] {
        let scene = Scene::new("mkdir deps; echo bin > deps/p; ln deps/p p; touch -d 2030-01-01 p");
        let ran = nika(scene.root.path(), scene.state.path())
            .args(["call", "bash", &format!("command={command}"), "--unsafe"])
            .status();
        assert_eq!(ran.expect("it runs").code(), Some(0), "{command}");
        assert!(!scene.at("deps/p").exists() && scene.text("deps/n") == "n\n", "{command}");
        assert!(scene.undo() && scene.text("deps/p") == "bin\n", "{command}");
        assert_eq!(fs::metadata(scene.at("deps")).expect("there").nlink(), 2, "{command}");
    }
}
