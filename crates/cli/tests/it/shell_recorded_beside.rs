//! What others write where a job has written, while it goes on: that is theirs, and undo of the job leaves it. And what is
//! shared with others by a group.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::peer::text;
use crate::shell_recorded::{begin, ended_with, looked_at, serve, undo, until};
use crate::world::{World, exists, world};

const REFUSED: &str = "undo is refused while what others wrote stands there";
const TAKES_BACK: &str = "undo takes it back";
const NAMED: &str = "changed after the command was last seen to write there, by somebody else or unseen:";
/// Waits until the test goes on.
const WAIT: &str = "while [ ! -e go ]; do sleep 0.05; done";

fn put(world: &World, name: &str, text: &str) {
    fs::write(world.root().join(name), text).expect("written");
}

#[test]
fn what_a_person_wrote_while_a_job_ran_is_not_taken_back_with_it() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n").file("log.txt", "begun\n").file("c.txt", "one\n");
    let mut peer = serve(&world);
    let script = format!(
        "exec 5>> log.txt; echo first >&5; echo two > a.txt; echo two > c.txt; echo ready\n\
         {WAIT}; echo last >&5; echo three > c.txt\n"
    );
    let begun = begin(&world, &mut peer, "wait.sh", &script);
    until(&mut peer, &begun.job, "ready");
    looked_at(&world, "a.txt");
    put(&world, "a.txt", "a person's\n");
    put(&world, "go", "");
    ended_with(&mut peer, &begun.job, &format!("3 changed · {REFUSED} · {NAMED} a.txt (call {})", begun.call));
    undo(&world, &begun.call).exits(1).complains("NIKA-217").complains("a.txt");
    assert_eq!((world.text("a.txt").as_str(), world.text("c.txt").as_str()), ("a person's\n", "three\n"));
    // What the job held open all the time, and what it wrote once more, is its own.
    put(&world, "a.txt", "two\n");
    undo(&world, &begun.call).exits(0);
    for (name, was) in [("a.txt", "one\n"), ("log.txt", "begun\n"), ("c.txt", "one\n")] {
        assert_eq!(world.text(name), was, "{name}");
    }
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_file_that_an_editor_put_in_place_of_one_that_a_job_held_open_is_not_taken_back() {
    if !crate::shell::is_confined_here() {
        return;
    }
    for (then, stands) in [("true", "a person's\n"), ("echo again >> log", "a person's\nagain\n")] {
        let world = world().file("log", "begun\n");
        let mut peer = serve(&world);
        // What is written half a second later is looked at after the file that is held.
        let script = format!("exec 5>> log; echo first >&5; sleep 0.6; echo x > mark; {WAIT}; exec 5>&-; {then}\n");
        let begun = begin(&world, &mut peer, "hold.sh", &script);
        looked_at(&world, "mark");
        put(&world, "saved", "a person's\n");
        fs::rename(world.root().join("saved"), world.root().join("log")).expect("renamed");
        put(&world, "go", "");
        let told = ended_with(&mut peer, &begun.job, &format!("{REFUSED} · {NAMED} log (call {})", begun.call));
        let answer = text(&peer.call("nika_job_output", json!({"job_id": begun.job})));
        assert!(!told.contains(TAKES_BACK) && !answer.contains(TAKES_BACK), "{then}: {told}{answer}");
        undo(&world, &begun.call).exits(1).complains("NIKA-217").complains("log");
        assert_eq!((world.text("log").as_str(), exists(world.root().join("mark"))), (stands, true), "{then}");
        assert_eq!(peer.end(), 0);
    }
}

#[test]
fn what_a_person_puts_in_a_directory_that_a_job_took_away_is_not_taken_back() {
    if !crate::shell::is_confined_here() {
        return;
    }
    for takes_away in ["mv d e", "rm -rf d"] {
        let world = world().file("d/x", "one\n");
        let mut peer = serve(&world);
        let begun = begin(&world, &mut peer, "away.sh", &format!("{takes_away}; {WAIT}\n"));
        ["d", "d/x"].iter().for_each(|name| looked_at(&world, name));
        fs::create_dir(world.root().join("d")).expect("made");
        put(&world, "d/x", "a person's\n");
        put(&world, "go", "");
        ended_with(&mut peer, &begun.job, &format!("{REFUSED} · {NAMED} d, d/x (call {})", begun.call));
        undo(&world, &begun.call).exits(1).complains("NIKA-217").complains("d/x");
        assert_eq!(world.text("d/x"), "a person's\n", "{takes_away}");
        // Once that is gone, the directory alone holds nothing that would be lost.
        fs::remove_file(world.root().join("d/x")).expect("removed");
        undo(&world, &begun.call).exits(0);
        assert_eq!(world.text("d/x"), "one\n", "{takes_away}");
        assert_eq!(peer.end(), 0);
    }
}

#[test]
fn a_directory_that_a_person_made_again_is_named_and_refuses_no_undo() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("d/x", "one\n");
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "away.sh", &format!("rm -rf d; {WAIT}\n"));
    looked_at(&world, "d");
    fs::create_dir(world.root().join("d")).expect("made");
    put(&world, "go", "");
    ended_with(&mut peer, &begun.job, &format!("2 deleted · {TAKES_BACK} · {NAMED} d (call {})", begun.call));
    undo(&world, &begun.call).exits(0);
    assert_eq!(world.text("d/x"), "one\n");
    assert_eq!(peer.end(), 0);
}

#[test]
fn an_interpreter_with_thousands_of_open_files_is_recorded_as_far_as_they_are_looked_at() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("f", "begun\n");
    let mut peer = serve(&world);
    let mut code = |code: &str| text(&peer.call("nika_repl", json!({"language": "python", "code": code})));
    let opened = code(
        "import os, resource\nmost = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n\
         resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))\nf = open('f', 'a')\n\
         many = [os.open('/dev/null', os.O_RDONLY) for _ in range(5000)] if most > 6000 else []\nprint(len(many))",
    );
    if !opened.contains("5000") {
        eprintln!("skipped: {opened}");
        return;
    }
    let said = code("f.write('more\\n'); f.flush()");
    assert!(said.contains("1 changed") && said.contains("of some changes nobody could tell"), "{said}");
    assert_eq!(world.text("f"), "begun\nmore\n");
    assert!(text(&peer.call("nika_undo", json!({}))).contains("Took back"));
    assert_eq!(world.text("f"), "begun\n");
    assert_eq!(peer.end(), 0);
}

/// A layer of an ordinary user holds files of one group. In a directory that is shared by another one, a command changes
/// files all the same, and all of it is taken back.
#[test]
fn an_ordinary_user_changes_what_is_shared_by_a_group() {
    let setpriv = Path::new("/usr/bin/setpriv");
    if !crate::shell::is_confined_here() || !rustix::process::geteuid().is_root() || !setpriv.exists() {
        return;
    }
    let world = world();
    let program = world.path("nika");
    let own = env!("CARGO_BIN_EXE_nika");
    fs::hard_link(own, &program).or_else(|_| fs::copy(own, &program).map(drop)).expect("a copy");
    for place in ["", "home", "state"] {
        fs::create_dir_all(world.path(place)).expect("a directory");
        std::os::unix::fs::chown(world.path(place), Some(23_456), Some(23_456)).expect("it is ours");
    }
    let shared = world.root().join("shared");
    fs::create_dir(&shared).expect("a directory");
    fs::write(shared.join("x"), "1\n").expect("a file");
    for path in [world.root(), shared.clone(), shared.join("x")] {
        std::os::unix::fs::chown(&path, Some(23_456), Some(23_457)).expect("it is ours");
    }
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o2775)).expect("rights");
    let theirs = |words: &[&str]| {
        let mut command = std::process::Command::new(setpriv);
        command.args(["--reuid", "23456", "--regid", "23456", "--groups", "23456,23457"]).arg(&program).args(words);
        command.current_dir(world.root()).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", world.path("home"));
        command.env("NIKA_STATE_DIR", world.path("state")).stdin(std::process::Stdio::null());
        let said = command.output().expect("it starts");
        (said.status.success(), String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned())
    };
    let (held, why) = theirs(&["sandbox", "exec", "--profile", "workspace", "--", "true"]);
    if !held {
        eprintln!("skipped: {why}");
        return;
    }
    let changes =
        "command=echo 2 >> shared/x; touch shared/n; mkdir shared/d; mv shared/x shared/y; chmod 600 shared/y";
    let (changed, said) = theirs(&["call", "bash", changes, "--mode", "workspace"]);
    assert!(changed && shared.join("d").is_dir(), "{said}");
    assert_eq!(fs::read_to_string(shared.join("y")).expect("it was moved"), "1\n2\n", "{said}");
    let (undone, said) = theirs(&["undo"]);
    assert!(undone, "{said}");
    assert_eq!(fs::read_to_string(shared.join("x")).expect("it is back"), "1\n", "{said}");
    assert_eq!(fs::read_dir(&shared).expect("a directory").count(), 1, "{said}");
}

#[test]
fn what_an_interpreter_writes_through_what_only_another_thread_or_a_mapping_has_is_taken_back() {
    if !crate::shell::is_confined_here() {
        return;
    }
    const OPENS: &str = "import ctypes, mmap, os, threading\n\
        libc = ctypes.CDLL(None)\n\
        opened, go, done = threading.Event(), threading.Event(), threading.Event()\n\
        def run():\n    \
            libc.unshare(0x400); fd = os.open('thread', os.O_RDWR); opened.set(); go.wait()\n    \
            os.pwrite(fd, b'EV', 0); done.set()\n\
        threading.Thread(target=run, daemon=True).start(); opened.wait()\n\
        fd = os.open('mapped', os.O_RDWR); libc.mmap.restype = ctypes.c_void_p\n\
        at = libc.mmap(None, 4096, 3, 1, fd, 0); os.close(fd)\n\
        print('opened')\n";
    let world = world().file("thread", "one\n").file("mapped", "one\n");
    let mut peer = serve(&world);
    let mut code = |code: &str| text(&peer.call("nika_repl", json!({"language": "python", "code": code})));
    let said = code(OPENS);
    assert!(said.contains("opened"), "{said}");
    let said = code("go.set(); done.wait(); _ = ctypes.memmove(at, b'EV', 2)");
    assert!(said.contains("2 changed") && said.contains(TAKES_BACK), "{said}");
    assert_eq!((world.text("thread").as_str(), world.text("mapped").as_str()), ("EVe\n", "EVe\n"));
    let said = text(&peer.call("nika_undo", json!({})));
    assert!(said.contains("Took back"), "{said}");
    assert_eq!((world.text("thread").as_str(), world.text("mapped").as_str()), ("one\n", "one\n"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn what_a_job_writes_through_what_only_another_thread_has_open_is_its_own() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n");
    let mut peer = serve(&world);
    let script = "import ctypes, os, threading, time\n\
        opened = threading.Event()\n\
        def until(name):\n    while not os.path.exists(name): time.sleep(0.02)\n\
        def run():\n    \
            ctypes.CDLL(None).unshare(0x400); fd = os.open('a.txt', os.O_RDWR); opened.set(); until('go')\n    \
            os.pwrite(fd, b'EV', 0)\n\
        thread = threading.Thread(target=run); thread.start(); opened.wait()\n\
        for name in ['b', 'c']:\n    \
            open(name + '.txt', 'w').write('two\\n'); print('wrote', name, flush=True); until(name)\n\
        thread.join()\n";
    let begun = begin(&world, &mut peer, "thread.py", script);
    // When the second rests, the first round, in which what is open was looked at, is over.
    for name in ["b", "c"] {
        until(&mut peer, &begun.job, &format!("wrote {name}"));
        looked_at(&world, &format!("{name}.txt"));
        put(&world, name, "");
    }
    put(&world, "go", "");
    ended_with(&mut peer, &begun.job, "2 created, 1 changed");
    undo(&world, &begun.call).exits(0);
    assert_eq!(world.text("a.txt"), "one\n");
    assert_eq!(peer.end(), 0);
}
