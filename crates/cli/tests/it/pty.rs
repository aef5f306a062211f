//! The program at a terminal of its own: what it shows there, and what a person types.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::world::World;

pub struct Screen {
    pub child: Child,
    person: File,
    /// All that was shown so far.
    pub shown: String,
    /// How much of it was looked at.
    seen: usize,
}

impl Screen {
    pub fn start(world: &World, words: &[&str]) -> Screen {
        Screen::of(world.nika(words))
    }

    pub fn of(mut command: Command) -> Screen {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&person).and_then(|()| unlockpt(&person)).expect("it is ours");
        let name = ptsname(&person, Vec::new()).expect("it has a name").into_string().expect("UTF-8");
        let side = || Stdio::from(OwnedFd::from(File::options().read(true).write(true).open(&name).expect("it opens")));
        let child = command.stdin(side()).stderr(side()).stdout(Stdio::piped()).spawn().expect("it starts");
        Screen { child, person: File::from(person), shown: String::new(), seen: 0 }
    }

    /// Waits until this is shown, after what was waited for before. Whether it was, before the program's end.
    pub fn shows(&mut self, text: &str) -> bool {
        loop {
            if let Some(at) = self.shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return true;
            }
            if !self.look() {
                return false;
            }
        }
    }

    pub fn types(&mut self, line: &str) {
        writeln!(self.person, "{line}").expect("it can be typed");
    }

    /// Waits for the program's end: its exit code, what was shown, and what went to stdout.
    pub fn end(mut self) -> (i32, String, String) {
        while self.look() {}
        let mut out = String::new();
        self.child.stdout.take().expect("it is piped").read_to_string(&mut out).expect("it is text");
        let code = self.child.wait().expect("it ends").code().unwrap_or(-1);
        (code, self.shown, out)
    }

    /// Reads what is shown next; false once nobody is left to show anything.
    fn look(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match self.person.read(&mut bytes) {
            Ok(count) if count > 0 => {
                self.shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
                true
            }
            _ => false,
        }
    }
}
