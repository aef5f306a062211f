//! Git beside files that the sandbox hides and the repository tracks: test keys, a sample environment.

use std::time::{Duration, SystemTime};

use crate::shell::{git, is_confined_here};
use crate::world::{World, world};

const HIDDEN: &[&str] = &[".env", "tests/server.key", "tests/run.pem"];

/// A repository that tracks them, committed long before now, with a change beside them.
fn repository() -> World {
    let world = world().file("a.txt", "one\n");
    let world = HIDDEN.iter().fold(world, |world, name| world.file(name, "SECRET=abc\n"));
    let at = world.root();
    let run = at.join("tests/run.pem");
    std::fs::set_permissions(&run, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
    // Of a file as new as its index git knows nothing by time.
    let before = SystemTime::now() - Duration::from_secs(3600);
    for name in HIDDEN {
        let file = std::fs::File::options().write(true).open(at.join(name)).expect("it is there");
        file.set_modified(before).expect("ours");
    }
    git(&at, &["init", "-q", "-b", "main"]);
    git(&at, &["config", "user.name", "a"]);
    git(&at, &["config", "user.email", "a@example.org"]);
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "begin"]);
    std::fs::write(at.join("a.txt"), "two\n").expect("written");
    world
}

#[test]
fn a_tracked_secret_that_nobody_changed_is_unchanged_to_git_and_stays_unread() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    for (mode, more) in [("read-only", ""), ("workspace", "; touch new; rm new")] {
        let call = |text: &str| world.run(&["call", "bash", &format!("command={text}{more}"), "--mode", mode]);
        let status = call("git status --short");
        status.exits(0).says(" M a.txt");
        assert!(HIDDEN.iter().all(|name| !status.out.contains(name)), "{status:?}");
        call("git diff").exits(0).says("+two");
        // Not by way of a script, either: the name is all that there is.
        let read = call("python3 -c 'print(open(\".env\").read())' 2>&1");
        assert!(!read.out.contains("SECRET"), "{read:?}");
    }
}

#[test]
fn an_answer_names_what_is_hidden_and_what_the_sandbox_lacks() {
    if !is_confined_here() {
        return;
    }
    let world = repository()
        .file("x.py", "import socket\nsocket.create_connection(('127.0.0.1', 9))\n")
        .file("y.py", "import socket\nsocket.socket(socket.AF_UNIX)\n");
    // As new as its index, as in a fresh clone: git has to read it, and may not.
    std::fs::write(world.root().join(".env"), "SECRET=abc\n").expect("written");
    let call = |text: &str| world.run(&["call", "bash", &format!("command={text}"), "--mode", "workspace"]);
    call("git status --short").says("[hidden from commands, as a secret or by a rule: .env. A program");
    let quiet = call("ls *.txt");
    assert!(!quiet.out.contains("hidden"), "{quiet:?}");
    call("python3 x.py").exits(1).says("[each command has a network of its own");
    call("python3 y.py").exits(1).says("a port of 127.0.0.1 can]");
}

#[test]
fn a_commit_of_all_leaves_tracked_secrets_as_they_were() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    let all = "command=git add -A && git commit -q -m second";
    world.run(&["call", "bash", all, "--mode", "workspace"]).exits(0);
    let at = world.root();
    assert_eq!(git(&at, &["show", "--stat=80", "--format=%s", "HEAD"]).lines().next(), Some("second"));
    assert_eq!(git(&at, &["diff", "--name-only", "HEAD~1", "HEAD"]), "a.txt");
    for name in HIDDEN {
        assert_eq!(git(&at, &["show", &format!("HEAD:{name}")]), "SECRET=abc", "{name}");
    }
    assert_eq!(git(&at, &["status", "--short"]), "");
    // One that was changed is a change, which cannot be read.
    std::fs::write(at.join(".env"), "SECRET=abcd\n").expect("written");
    world.run(&["call", "bash", "command=git status --short", "--mode", "read-only"]).exits(0).says(" M .env");
    world.run(&["call", "bash", all, "--mode", "workspace"]).exits(1).says("Permission denied");
    assert_eq!(git(&at, &["show", "HEAD:.env"]), "SECRET=abc");
}
