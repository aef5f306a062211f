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
        let words = ["call", "bash", &command, "--unsafe"];
        let options = ["-o", "/dev/null", "-e", "trace=renameat2", "-e", "inject=renameat2:delay_enter=300000"];
        let (root, state) = (self.root.path(), self.state.path());
        let ran = std::thread::scope(|scope| {
            let ran = scope.spawn(|| answered(root, state, &options, &words));
            while !ran.is_finished() && !self.is_under_way() {
                std::thread::yield_now();
            }
            others();
            ran.join().expect("it ends")
        })?;
        Some((String::from_utf8_lossy(&ran.stdout).into_owned(), ran.status.code()))
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

/// What others put into the new directory in the moment in which it stood there comes to stand in the old one; what has no
/// place there, or was written to a file of the new one, is said to lie with that.
#[test]
fn what_others_write_to_a_directory_that_does_not_stay_is_theirs() {
    let apart = tempfile::tempdir_in("/dev/shm").ok();
    let states = [Some(tempfile::tempdir().expect("a directory")), apart];
    for state in states.into_iter().flatten() {
        let scene =
            Scene::with(state, "mkdir -p deps/sub other; echo x > deps/x; echo s > deps/sub/s; echo a > other/a");
        let command =
            "rm -rf deps other; mkdir -p deps/sub deps/new other; echo n > deps/n; echo k > deps/k; echo n > other/n";
        let others = || {
            append(&scene.at("deps/x"));
            let since = Instant::now();
            while !scene.at("deps/n").exists() {
                assert!(since.elapsed() < Duration::from_secs(60), "it never stood there");
            }
            append(&scene.at("deps/n"));
            for (name, text) in [("t", "t"), ("sub/t", "st"), ("new/t", "nt")] {
                fs::write(scene.at("deps").join(name), text).expect("written");
            }
            scene.does("mkdir deps/d; echo d > deps/d/d");
        };
        let Some((said, code)) = scene.raced(command, others) else { return };
        assert_eq!(code, Some(1), "{said}");
        let texts = ["deps/x", "deps/t", "deps/sub/s", "deps/sub/t", "deps/d/d"].map(|name| scene.text(name));
        assert_eq!(texts, ["x\nothers\n", "t", "s\n", "st", "d\n"], "{said}");
        let names: Vec<String> = tree(scene.root.path()).into_keys().collect();
        let all = ["deps", "deps/d", "deps/d/d", "deps/sub", "deps/sub/s", "deps/sub/t", "deps/t", "deps/x"];
        assert_eq!(names, [&all[..], &["other", "other/n"]].concat(), "{said}");
        let line = said.lines().find(|line| line.starts_with("[not applied, as others changed it meanwhile: deps;"));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        let (_, lies) = line.split_once("the command's version lies in ").expect("where");
        let (place, theirs) = lies.split_once(", with what others wrote to it as it was applied: ").expect("what");
        assert_eq!(theirs, "deps/n, deps/new/t]", "{said}");
        let kept = |name: &str| fs::read_to_string(Path::new(place).join(name)).unwrap_or_default();
        assert_eq!(
            (kept("deps/n"), kept("deps/new/t"), kept("deps/k")),
            ("n\nothers\n".into(), "nt".into(), "k\n".into())
        );
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
