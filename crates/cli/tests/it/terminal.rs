//! A person at a terminal is asked, with the diff, and answers.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::world::{World, exists, world};

/// Runs a call at a terminal of its own, types `answer` once asked, and returns the exit code with what was shown.
fn at_terminal(world: &World, words: &[&str], answer: &str) -> (i32, String) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&person).and_then(|()| unlockpt(&person)).expect("it is ours");
    let name = ptsname(&person, Vec::new()).expect("it has a name").into_string().expect("UTF-8");
    let side = || Stdio::from(OwnedFd::from(File::options().read(true).write(true).open(&name).expect("it opens")));
    let mut child = world.nika(words).stdin(side()).stderr(side()).stdout(Stdio::null()).spawn().expect("it starts");
    let mut person = File::from(person);
    let mut shown = String::new();
    let mut bytes = [0; 4096];
    while !shown.contains("instead: ") {
        match person.read(&mut bytes) {
            Ok(count) if count > 0 => shown.push_str(&String::from_utf8_lossy(&bytes[..count])),
            _ => break,
        }
    }
    if shown.contains("instead: ") {
        writeln!(person, "{answer}").expect("it can be typed");
    }
    let code = child.wait().expect("it ends").code().unwrap_or(-1);
    (code, shown)
}

#[test]
fn yes_no_and_always() {
    let world = world();
    let write = |name: &'static str| ["call", "write", name, "content=hello"];
    let (code, shown) = at_terminal(&world, &write("file_path=a.txt"), "y");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("write(a.txt)") && shown.contains("+hello"), "{shown}");
    let (code, _) = at_terminal(&world, &write("file_path=b.txt"), "no, use c.txt");
    assert_eq!(code, 3);
    assert!(!exists(world.root().join("b.txt")));

    let session = ["--session", "s"];
    let (code, shown) = at_terminal(&world, &[&write("file_path=d.txt")[..], &session].concat(), "a");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("[a]lways in this session (`write(/d.txt)`)"), "{shown}");
    // The grant is kept: nobody has to be asked in the next process.
    world
        .run(&[&["call", "edit", "file_path=d.txt", "old_string=hello", "new_string=bye"][..], &session].concat())
        .exits(0);
}
