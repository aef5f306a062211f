//! The program run by an ordinary user, whom rights hold: all of a world is theirs.

use std::fs;
use std::os::unix::fs::lchown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::world::{Ran, World};

pub const USER: u32 = 23_456;

pub struct Ordinary<'w>(&'w World);

impl Ordinary<'_> {
    /// `None`, and a word about it, where a sandbox of theirs cannot be had. Who runs the tests is the one, if not root.
    pub fn of(world: &World) -> Option<Ordinary<'_>> {
        if rustix::process::geteuid().is_root() {
            give(&world.path(""));
            // The program itself may lie where that user cannot go.
            let (own, program) = (env!("CARGO_BIN_EXE_nika"), world.path("nika"));
            fs::hard_link(own, &program).or_else(|_| fs::copy(own, &program).map(drop)).expect("a copy");
        }
        let user = Ordinary(world);
        let held = user.run(&["sandbox", "exec", "--profile", "workspace", "--", "true"]);
        if held.code != 0 {
            eprintln!("skipped: {}", held.err);
        }
        (held.code == 0).then_some(user)
    }

    /// The program, not started yet.
    pub fn nika(&self, words: &[&str]) -> Command {
        if !rustix::process::geteuid().is_root() {
            return self.0.nika(words);
        }
        let mut command = Command::new(self.0.path("nika"));
        command.args(words).current_dir(self.0.root()).env_clear().uid(USER).gid(USER);
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.0.path("home"));
        command.env("NIKA_STATE_DIR", self.0.path("state")).stdin(Stdio::null());
        command
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        Ran::of(self.nika(words).output().expect("it starts"))
    }

    /// A script without the program.
    pub fn does(&self, script: &str) {
        self.said(script);
    }

    /// The same, and what it says.
    pub fn said(&self, script: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-ec", script]).current_dir(self.0.root());
        if rustix::process::geteuid().is_root() {
            command.uid(USER).gid(USER);
        }
        let ran = Ran::of(command.output().expect("sh runs"));
        ran.exits(0);
        ran.out
    }
}

fn give(path: &Path) {
    lchown(path, Some(USER), Some(USER)).expect("it is ours");
    if path.is_dir() && !path.is_symlink() {
        fs::read_dir(path).expect("a directory").flatten().for_each(|entry| give(&entry.path()));
    }
}
