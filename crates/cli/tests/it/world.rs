//! A workspace, a home and a state directory of a test's own, and the program run in them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub struct World {
    dir: TempDir,
}

/// What a run left.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub fn world() -> World {
    let dir = tempfile::tempdir().expect("a directory");
    for name in ["work", "home", "state"] {
        std::fs::create_dir(dir.path().join(name)).expect("a directory");
    }
    World { dir }
}

impl World {
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn root(&self) -> PathBuf {
        self.path("work")
    }

    pub fn file(self, name: &str, text: &str) -> World {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().expect("it lies in the root")).expect("a directory");
        std::fs::write(path, text).expect("a file");
        self
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.root().join(name)).expect("a file")
    }

    /// The program in this world, not started yet.
    pub fn nika(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nika"));
        command
            .args(words)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("NIKA_STATE_DIR", self.path("state"))
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        Ran::of(self.nika(words).output().expect("the program starts"))
    }

    pub fn run_with(&self, words: &[&str], input: impl AsRef<[u8]>) -> Ran {
        let mut child = self
            .nika(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        child.stdin.take().expect("it is piped").write_all(input.as_ref()).expect("it reads");
        Ran::of(child.wait_with_output().expect("it ends"))
    }

    /// `nika call … --output json`, and its one object.
    pub fn json(&self, words: &[&str]) -> Value {
        let mut all = vec!["call"];
        all.extend(words);
        all.extend(["--output", "json"]);
        self.run(&all).json()
    }

    /// The one state directory that calls in the root have made.
    pub fn state(&self) -> PathBuf {
        let mut dirs = std::fs::read_dir(self.path("state")).expect("the base").map(|entry| entry.expect("it").path());
        // One is for all workspaces.
        dirs.find(|path| path.is_dir() && !path.ends_with("under-way")).expect("a call was made")
    }
}

impl Ran {
    pub fn of(output: std::process::Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub fn exits(&self, code: i32) -> &Ran {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    #[track_caller]
    pub fn says(&self, text: &str) -> &Ran {
        assert!(self.out.contains(text), "no {text:?} in {self:?}");
        self
    }

    #[track_caller]
    pub fn complains(&self, text: &str) -> &Ran {
        assert!(self.err.contains(text), "no {text:?} in {self:?}");
        self
    }
}

pub fn exists(path: impl AsRef<Path>) -> bool {
    path.as_ref().exists()
}

/// Waits until so many processes of this machine have this command line.
pub fn until_run(argv: &[&str], count: usize) {
    let line: Vec<u8> = argv.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
    let running = || {
        let all = std::fs::read_dir("/proc").expect("proc").flatten();
        let lines = all.map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default());
        lines.filter(|read| *read == line).count()
    };
    let begun = std::time::Instant::now();
    while running() != count {
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{argv:?}: {} run, not {count}", running());
        std::thread::yield_now();
    }
}
