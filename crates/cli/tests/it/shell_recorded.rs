//! What runs over no layer is recorded while it happens: jobs, interpreters, and commands beside them are taken back as
//! any other command is.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::durability::{Dice, rounds};
use crate::ordinary::Ordinary;
use crate::peer::{Peer, text};
use crate::shell_undo::tree;
use crate::world::{Ran, World, exists, world};

pub fn serve(world: &World) -> Peer {
    let words = ["serve", "--mode", "workspace", "--list", "all", "--allow", "exec(repl *)"];
    let mut peer = Peer::start(world.nika(&words));
    peer.initialize("2025-11-25");
    peer
}

/// A job of a session: its own name, and the call that began it.
pub struct Begun {
    pub job: String,
    pub call: String,
}

/// Starts `script` as a file in the background, which nobody can read beforehand.
pub fn begin(world: &World, peer: &mut Peer, name: &str, script: &str) -> Begun {
    fs::create_dir_all(world.root().join("tools")).expect("a directory");
    fs::write(world.root().join("tools").join(name), script).expect("a script");
    let program = if name.ends_with(".py") { "python3" } else { "bash" };
    let command = format!("{program} tools/{name}");
    let said = text(&peer.call("nika_bash", json!({"command": command, "run_in_background": true})));
    let word = |before: &str| {
        let rest = said.split(before).nth(1).unwrap_or_else(|| panic!("no {before:?} in {said}"));
        rest.split_whitespace().next().expect("a word").to_owned()
    };
    Begun { job: word("Started "), call: word("undo of call ") }
}

/// Waits until a job says something that matches.
pub fn until(peer: &mut Peer, job: &str, pattern: &str) -> String {
    let wait = json!({"job_id": job, "wait_ms": 20_000, "filter": pattern});
    let said = text(&peer.call("nika_job_output", wait));
    assert!(said.contains(pattern), "no {pattern:?} in {said}");
    said
}

/// Waits for its end, which has to be a good one.
fn ended(peer: &mut Peer, job: &str) -> String {
    let mut all = String::new();
    let since = Instant::now();
    while !all.contains(" ended: ") && since.elapsed() < Duration::from_secs(60) {
        all.push_str(&text(&peer.call("nika_job_output", json!({"job_id": job, "wait_ms": 5_000}))));
    }
    assert!(all.contains("ended: exit 0"), "{all}");
    all
}

/// Waits for its end and for what the news of it says.
pub fn ended_with(peer: &mut Peer, job: &str, says: &str) -> String {
    let mut told = ended(peer, job);
    let since = Instant::now();
    while !told.contains(says) && since.elapsed() < Duration::from_secs(20) {
        told.push_str(&text(&peer.call("nika_sleep", json!({"duration_ms": 20}))));
    }
    assert!(told.contains(says), "no {says:?} in {told}");
    told
}

/// Runs a script to its end as a job; the call that began it.
fn run(world: &World, peer: &mut Peer, name: &str, script: &str) -> String {
    let begun = begin(world, peer, name, script);
    ended(peer, &begun.job);
    begun.call
}

/// The tree without the empty directory that stands in for a guarded one while something runs.
fn seen(world: &World) -> BTreeMap<String, (u32, String)> {
    tree(&world.root()).into_iter().filter(|(_, (mode, _))| *mode != 0o041_555).collect()
}

pub fn undo(world: &World, call: &str) -> Ran {
    world.run(&["undo", call, "--mode", "workspace"])
}

/// Files, directories, rights and links of all kinds.
fn mixed() -> World {
    let world = world()
        .file("a.txt", "one\n")
        .file("gone.txt", "gone\n")
        .file("old/name.txt", "moved\n")
        .file("over.txt", "written over\n")
        .file("dir/deep/x", "x\n")
        .file("dir/deep/y", "y\n")
        .file("swap/left/l", "left\n")
        .file("swap/right/r", "right\n")
        .file("shut/file", "shut\n")
        .file(".gitignore", "target/\n")
        .file("target/out", "built\n");
    fs::set_permissions(world.root().join("a.txt"), fs::Permissions::from_mode(0o640)).expect("rights");
    fs::set_permissions(world.root().join("shut"), fs::Permissions::from_mode(0o750)).expect("rights");
    symlink("a.txt", world.root().join("link")).expect("a link");
    symlink("dir/deep", world.root().join("way")).expect("a link");
    world
}

#[test]
fn what_another_call_wrote_while_a_job_ran_is_not_taken_back_with_it() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n").file("sub/.env", "KEY=hidden\n").file("sub/x", "x\n");
    let mut peer = serve(&world);
    let waits = "echo two > a.txt; echo ready; while [ ! -e go ]; do sleep 0.05; done\n";
    let begun = begin(&world, &mut peer, "wait.sh", waits);
    until(&mut peer, &begun.job, "ready");
    peer.call("nika_read", json!({"file_path": "a.txt"}));
    let edit = json!({"file_path": "a.txt", "old_string": "two", "new_string": "mine"});
    assert!(text(&peer.call("nika_edit", edit)).contains("Edited"));
    peer.call("nika_write", json!({"file_path": "go", "content": ""}));
    ended(&mut peer, &begun.job);
    undo(&world, &begun.call).exits(1).complains("NIKA-217");
    assert_eq!(world.text("a.txt"), "mine\n");
    // Nor where its content at the end is at hand, as a later change kept it.
    let edit = json!({"file_path": "a.txt", "old_string": "mine", "new_string": "mine, too"});
    assert!(text(&peer.call("nika_edit", edit)).contains("Edited"));
    undo(&world, &begun.call).exits(1).complains("NIKA-217");
    peer.call("nika_undo", json!({}));
    undo(&world, &begun.call).exits(1).complains("NIKA-217");
    assert_eq!(world.text("a.txt"), "mine\n");

    // What came after it is kept, where both can stand.
    let lines = "one\ntwo\nthree\nfour\nfive\nsix\n";
    let call = run(&world, &mut peer, "lines.sh", &format!("printf '{}' > new.txt\n", lines.replace('\n', "\\n")));
    let begun = begin(&world, &mut peer, "first.sh", "sed -i s/one/ONE/ new.txt\n");
    ended(&mut peer, &begun.job);
    peer.call("nika_read", json!({"file_path": "new.txt"}));
    let edit = json!({"file_path": "new.txt", "old_string": "six", "new_string": "SIX"});
    assert!(text(&peer.call("nika_edit", edit)).contains("Edited"));
    undo(&world, &begun.call).exits(0);
    assert_eq!(world.text("new.txt"), lines.replace("six", "SIX"));
    undo(&world, &call).exits(1).complains("NIKA-217");

    // What is hidden in the sandbox is not read outside of it either, to be kept.
    run(&world, &mut peer, "move.sh", "mv sub sub2; mv sub/.env sub/env; cp sub/.env env; rm -rf sub; true\n");
    assert_eq!(world.text("sub/.env"), "KEY=hidden\n");
    assert_eq!(peer.end(), 0);
    let kept = std::process::Command::new("grep").args(["-rl", "hidden"]).arg(world.state()).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&kept.stdout), "");
}

/// Waits until it is written down what the command left at `name`, though it goes on.
pub fn looked_at(world: &World, name: &str) {
    let since = Instant::now();
    let log = || fs::read_to_string(world.state().join("checkpoints.log")).unwrap_or_default();
    let settled = |line: &str| line.contains(&format!("/{name}\"")) && line.contains("\"settled\"");
    while !log().lines().any(settled) && since.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(log().lines().any(settled), "{}", log());
}

/// Holds files in ways that are not seen at once, and writes them when it is told to.
const HELD: &str = r#"
import ctypes, mmap, os, threading, time
libc = ctypes.CDLL(None, use_errno=True)
open_file = open("open.txt", "r+")
with open("mapped.txt", "r+b") as f:
    memory = mmap.mmap(f.fileno(), 0)
with open("shut.txt", "r+b") as f:
    shut = mmap.mmap(f.fileno(), 0)
view = ctypes.addressof(ctypes.c_char.from_buffer(shut))
assert libc.mprotect(ctypes.c_void_p(view), 4096, 1) == 0
def later():
    while not os.path.exists("go"):
        time.sleep(0.05)
    open_file.write("late"); open_file.flush()
    memory[0:4] = b"late"; memory.flush()
    assert libc.mprotect(ctypes.c_void_p(view), 4096, 3) == 0
    shut[0:4] = b"late"
    os._exit(0)
threading.Thread(target=later).start()
open("last.txt", "w").write("two\n")
print("ready", flush=True)
# The first thread ends; the process lives on.
libc.syscall(60, 0)
"#;

#[test]
fn what_a_job_writes_late_through_what_it_holds_is_taken_back_too() {
    if !crate::shell::is_confined_here() || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let names = ["open.txt", "mapped.txt", "shut.txt"];
    let world = names.iter().fold(world().file("last.txt", "one\n"), |world, name| world.file(name, "early\n"));
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "held.py", HELD);
    until(&mut peer, &begun.job, "ready");
    looked_at(&world, "last.txt");
    fs::write(world.root().join("go"), "").expect("written");
    let told = ended(&mut peer, &begun.job);
    for name in names {
        assert!(world.text(name).starts_with("late"), "{name}: {told}");
    }
    undo(&world, &begun.call).exits(0);
    for name in names {
        assert_eq!(world.text(name), "early\n", "{name}");
    }
    assert_eq!(peer.end(), 0);
}

#[test]
fn what_stands_for_guarded_names_while_a_job_runs_is_not_listed() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n");
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "wait.sh", "echo ready; sleep 60\n");
    until(&mut peer, &begun.job, "ready");
    assert!(fs::symlink_metadata(world.root().join(".envrc")).is_ok(), "nothing stands there, so nothing is tested");
    let listed = text(&peer.call("nika_list_dir", json!({})));
    assert!(listed.contains("a.txt") && listed.contains("tools/"), "{listed}");
    assert!(!listed.contains(".envrc") && !listed.contains("device"), "{listed}");
    peer.call("nika_job_stop", json!({"job_id": begun.job}));
    assert_eq!(peer.end(), 0);
}

#[test]
fn whatever_a_job_did_is_taken_back_byte_by_byte_and_back_again() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = mixed();
    let before = tree(&world.root());
    let mut peer = serve(&world);
    let script = "set -e\n\
         sed -i s/one/two/ a.txt; chmod 755 a.txt; rm gone.txt; mv old/name.txt old/other.txt; mkdir -p new/sub\n\
         echo hello > new/sub/file; ln -sfn gone.txt link; ln -s nowhere dangling; echo more >> target/out\n\
         touch untracked; ln new/sub/file new/hard; echo again >> new/hard; mv dir moved; echo z > moved/deep/z\n\
         echo through > way-to; echo new > new-over; mv new-over over.txt; chmod 700 shut; chmod 600 shut/file\n\
         rm -r old; mkdir old; echo again > old/name.txt; mkdir gone.txt; echo in > gone.txt/in; rm link; mkdir link\n\
         mkdir passing; echo p > passing/p; rm -r passing; exec 5< a.txt; truncate -s 1 shut/file\n";
    let call = run(&world, &mut peer, "run.sh", script);
    let after = tree(&world.root());
    assert_eq!(after["a.txt"], (0o100_755, "two\n".to_owned()));
    assert!(!after.contains_key("dir") && after["moved/deep/x"].1 == "x\n", "a directory is renamed: {after:?}");
    assert_eq!(after["over.txt"].1, "new\n");
    assert_eq!(after["gone.txt/in"].1, "in\n");
    let ino = |name: &str| fs::metadata(world.root().join(name)).expect("it").ino();
    assert_eq!(ino("new/hard"), ino("new/sub/file"));
    let listed = world.json(&["checkpoints"]);
    assert!(text(&listed).contains(&format!("{call} bash")), "{listed}");
    undo(&world, &call).exits(0);
    assert_eq!(tree(&world.root()), before);
    // What undo did is a call, too.
    world.run(&["undo", &undoing(&world), "--mode", "workspace"]).exits(0);
    assert_eq!(tree(&world.root()), after);
    assert_eq!(peer.end(), 0);
}

/// The call that took something back last.
fn undoing(world: &World) -> String {
    let listed = world.json(&["checkpoints"]);
    let calls = listed["data"]["checkpoints"].as_array().or(listed["structured"]["checkpoints"].as_array());
    let calls = calls.unwrap_or_else(|| panic!("{listed}"));
    let last = calls.iter().find(|call| call["tool"] == "undo");
    last.and_then(|call| call["call_id"].as_str()).unwrap_or_else(|| panic!("{listed}")).to_owned()
}

/// All ways of naming a file that a shell has no words for.
const WAYS: &str = r#"
import ctypes, os, threading
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    if libc.syscall(number, *args) < 0:
        raise OSError(ctypes.get_errno(), "call %d" % number)
here = os.open("dir/deep", os.O_RDONLY)
# Relative to an open directory, and from a working directory.
with os.fdopen(os.open("x", os.O_WRONLY | os.O_TRUNC, dir_fd=here), "w") as f:
    f.write("by handle\n")
os.rename("y", "renamed", src_dir_fd=here, dst_dir_fd=here)
os.chdir("dir"); open("deep/made", "w").write("from here\n"); os.chdir("..")
# Through links in the root, one of them to a directory.
open("link", "a").write("through\n")
open("way/z", "w").write("z\n")
# A file without a name that gets one.
nameless = os.open("new", os.O_TMPFILE | os.O_WRONLY, 0o644) if os.path.isdir("new") else None
if nameless is None:
    os.mkdir("new"); nameless = os.open("new", os.O_TMPFILE | os.O_WRONLY, 0o644)
os.write(nameless, b"named late\n")
os.link("/proc/self/fd/%d" % nameless, "new/named", src_dir_fd=here, follow_symlinks=True)
# Rights by a descriptor that may only read; content by a name of what is open.
shut = os.open("shut/file", os.O_RDONLY)
os.fchmod(shut, 0o611)
again = os.open("/proc/self/fd/%d" % shut, os.O_WRONLY | os.O_APPEND)
os.write(again, b"again\n"); os.close(again)
dev = os.open("/dev/fd/%d" % os.open("over.txt", os.O_RDONLY), os.O_WRONLY | os.O_TRUNC)
os.write(dev, b"through dev\n"); os.close(dev)
os.truncate("gone.txt", 2)
# Two directories change places.
call(316, -100, b"swap/left", -100, b"swap/right", 2)
open("swap/left/more", "w").write("more\n")
# Threads and children.
def many(n):
    for i in range(20):
        open("target/%d-%d" % (n, i), "w").write("%d\n" % i)
threads = [threading.Thread(target=many, args=(n,)) for n in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
for n in range(4):
    if os.fork() == 0:
        many(10 + n); open("target/out", "a").write("child\n"); os._exit(0)
for n in range(4):
    assert os.wait()[1] == 0
# A FIFO keeps nobody waiting who only looks at it.
os.mkfifo("fifo"); fifo = os.open("fifo", os.O_RDWR); os.close(fifo); os.remove("fifo")
# Memory that is shared with a file.
import mmap
with open("a.txt", "r+b") as f:
    memory = mmap.mmap(f.fileno(), 0); memory[0:1] = b"O"; memory.close()
print("all of it")
"#;

#[test]
fn every_way_to_name_a_file_is_one_that_is_taken_back() {
    if !crate::shell::is_confined_here() || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let world = mixed();
    let before = tree(&world.root());
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "ways.py", WAYS);
    let said = ended(&mut peer, &begun.job);
    assert!(said.contains("all of it"), "{said}");
    let after = tree(&world.root());
    assert_eq!(after["dir/deep/x"].1, "by handle\n");
    assert_eq!(after["new/named"].1, "named late\n");
    assert_eq!(after["shut/file"], (0o100_611, "shut\nagain\n".to_owned()));
    assert_eq!((after["swap/left/r"].1.as_str(), after["over.txt"].1.as_str()), ("right\n", "through dev\n"));
    assert_eq!(after["a.txt"].1, "One\nthrough\n");
    assert_eq!(after["target/out"].1.matches("child").count(), 4);
    let undone = undo(&world, &begun.call);
    undone.exits(0);
    assert_eq!(tree(&world.root()), before, "{undone:?}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_job_that_runs_has_to_end_before_it_is_taken_back() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("b", "1\n");
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "run.sh", "echo 2 > a; echo done; sleep 60; echo 2 > b");
    until(&mut peer, &begun.job, "done");
    let refused = undo(&world, &begun.call);
    refused.complains("goes on").complains("job_stop");
    let listed = text(&peer.call("nika_checkpoints", json!({})));
    assert!(listed.contains(&format!("{} bash [goes on]: a (changed", begun.call)), "{listed}");
    assert_eq!(text(&peer.call("nika_undo", json!({"call_id": begun.call}))).matches("job_stop").count(), 1);
    assert_eq!(world.text("a"), "2\n");
    let stopped = text(&peer.call("nika_job_stop", json!({"job_id": begun.job})));
    assert!(stopped.contains(&format!("1 path: 1 changed · undo takes it back (call {})", begun.call)), "{stopped}");
    assert!(text(&peer.call("nika_undo", json!({"call_id": begun.call}))).contains("Took back"));
    assert_eq!((world.text("a").as_str(), world.text("b").as_str()), ("1\n", "1\n"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn the_end_of_a_job_says_what_it_changed() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("same", "same\n");
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "run.sh", "echo 2 > a; echo new > n; echo same > same; cat a > /dev/null");
    let line = format!("2 paths: 1 created, 1 changed · undo takes it back (call {})", begun.call);
    ended_with(&mut peer, &begun.job, &line);
    let journal = fs::read_dir(world.state().join("journal")).expect("journals").flatten();
    let lines: String = journal.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect();
    let checkpoints = lines.lines().filter(|line| line.contains("\"Checkpoint\"") && line.contains(&begun.call));
    assert_eq!(checkpoints.count(), 2, "what stayed the same is in no journal");
    world.run(&["log", "verify"]).exits(0);
    assert_eq!(peer.end(), 0);
    undo(&world, &begun.call).exits(0);
    // On the command line the call stays until it has ended: then it is settled, too.
    let before = tree(&world.root());
    let answer = world.json(&["bash", "command=bash tools/run.sh", "run_in_background=true", "--mode", "workspace"]);
    assert_ne!(tree(&world.root()), before);
    let undone = undo(&world, answer["call_id"].as_str().expect("an id"));
    undone.exits(0);
    assert_eq!(tree(&world.root()), before, "{undone:?}");
}

#[test]
fn what_is_changed_since_by_somebody_else_is_not_lost() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("b", "1\n").file("dir/x", "x\n");
    let mut peer = serve(&world);
    let call = run(&world, &mut peer, "run.sh", "echo 2 > a; echo 2 > b; mkdir made; rm -r dir");
    fs::write(world.root().join("b"), "theirs\n").expect("a file");
    undo(&world, &call).complains("NIKA-217").complains("b was changed again");
    assert_eq!((world.text("a").as_str(), world.text("b").as_str()), ("2\n", "theirs\n"));
    fs::write(world.root().join("b"), "2\n").expect("a file");
    // What lies in a directory that the job made stays, and the directory with it.
    fs::write(world.root().join("made/theirs"), "theirs\n").expect("a file");
    undo(&world, &call).exits(0);
    assert_eq!((world.text("b").as_str(), world.text("made/theirs").as_str()), ("1\n", "theirs\n"));
    assert_eq!(world.text("dir/x"), "x\n");
    assert_eq!(peer.end(), 0);
}

#[test]
fn each_piece_of_code_for_an_interpreter_is_taken_back_alone() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("kept", "k\n");
    let before = seen(&world);
    let mut peer = serve(&world);
    for (language, codes) in [
        (
            "python",
            [
                "open('a','w').write('2\\n'); None",
                "f = open('a','a'); f.write('3\\n'); f.flush(); open('n','w').close()",
                "f.write('4\\n'); f.close(); import os; os.remove('kept')",
            ],
        ),
        ("bash", ["echo 2 > a", "exec 7>> a; echo 3 >&7; : > n", "echo 4 >&7; exec 7>&-; rm kept"]),
        (
            "node",
            [
                "fs = require('fs'); fs.writeFileSync('a', '2\\n')",
                "h = fs.openSync('a', 'a'); fs.writeSync(h, '3\\n'); fs.writeFileSync('n', '')",
                "fs.writeSync(h, '4\\n'); fs.closeSync(h); fs.unlinkSync('kept')",
            ],
        ),
    ] {
        let on_path = |dir: &Path| exists(dir.join(if language == "python" { "python3" } else { language }));
        if !std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|dir| on_path(&dir)) {
            eprintln!("skipped: there is no {language} here");
            continue;
        }
        let mut states = vec![seen(&world)];
        for code in codes {
            let said = text(&peer.call("nika_repl", json!({"language": language, "code": code})));
            assert!(said.contains("undo takes it back"), "{language}: {code}: {said}");
            states.push(seen(&world));
        }
        assert_eq!(states[3]["a"].1, "2\n3\n4\n", "{language}");
        // The same session takes its last call back, one after the other, while the interpreter lives.
        for state in states.iter().rev().skip(1) {
            let said = text(&peer.call("nika_undo", json!({})));
            assert!(said.contains("Took back") && said.contains("(repl)"), "{language}: {said}");
            assert_eq!(&seen(&world), state, "{language}: {said}");
        }
        assert_eq!(seen(&world), before, "{language}");
    }
    let reads = text(&peer.call("nika_repl", json!({"language": "bash", "code": "cat a"})));
    assert!(reads.starts_with("1\n") && !reads.contains("undo"), "{reads}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn what_an_interpreter_does_between_two_calls_belongs_to_the_earlier() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let mut peer = serve(&world);
    let mut code = |code: &str| text(&peer.call("nika_repl", json!({"language": "bash", "code": code})));
    code("(until test -e go; do sleep 0.05; done; echo late > late; echo 2 > a; : > came) & :");
    fs::write(world.root().join("go"), "").expect("a file");
    let since = Instant::now();
    while !exists(world.root().join("came")) && since.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    code("echo mine > mine");
    fs::remove_file(world.root().join("go")).expect("it is there");
    let mut back = || text(&peer.call("nika_undo", json!({})));
    back();
    assert!(!exists(world.root().join("mine")) && exists(world.root().join("late")));
    let said = back();
    assert!(!exists(world.root().join("late")) && !exists(world.root().join("came")), "{said}");
    assert_eq!(world.text("a"), "1\n");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_command_beside_a_job_that_writes_is_taken_back_by_itself() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("b", "1\n").file("dir/x", "x\n");
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "job.sh", "echo job > b; echo ready; until test -e stop; do sleep 0.05; done");
    until(&mut peer, &begun.job, "ready");
    fs::write(world.root().join("tools/run.sh"), "echo 2 > a; mv dir moved; : > stop").expect("a script");
    let ran = peer.call("nika_bash", json!({"command": "bash tools/run.sh"}));
    let said = text(&ran);
    assert!(said.contains("undo takes it back") && !said.contains("cannot be taken back"), "{said}");
    ended(&mut peer, &begun.job);
    assert_eq!((world.text("a").as_str(), world.text("moved/x").as_str()), ("2\n", "x\n"));
    let listed = text(&peer.call("nika_checkpoints", json!({})));
    let own = listed.lines().find(|line| line.contains("moved")).and_then(|line| line.split_whitespace().next());
    undo(&world, own.unwrap_or_else(|| panic!("{listed}"))).exits(0);
    assert_eq!((world.text("a").as_str(), world.text("dir/x").as_str()), ("1\n", "x\n"));
    assert!(!exists(world.root().join("stop")) && world.text("b") == "job\n");
    undo(&world, &begun.call).exits(0);
    assert_eq!(world.text("b"), "1\n");
    assert_eq!(peer.end(), 0);
}

/// Every kind of change, again and again.
const WITHOUT_END: &str = "sed -i s/one/two/ a.txt; rm gone.txt; chmod 600 over.txt; echo ready\n\
    for i in $(seq 100000); do echo $i > target/$((i % 50)); rm -f target/$((i % 7)); mv dir moved; mkdir dir\n\
    echo $i > dir/new; rm -r dir; mv moved dir; ln -f target/out dir/deep/hard; rm dir/deep/hard; echo $i >> way/y\n\
    chmod 7$((i % 8))0 shut; ln -sfn $i link; done";

#[test]
fn killed_with_a_job_at_work_what_it_did_so_far_is_taken_back_at_the_next_start() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for round in 0..rounds(4) {
        let world = mixed();
        let before = tree(&world.root());
        let mut peer = serve(&world);
        let begun = begin(&world, &mut peer, "run.sh", WITHOUT_END);
        if round % 2 == 0 {
            until(&mut peer, &begun.job, "ready");
        }
        let (killing, after) = (Instant::now(), Duration::from_micros(dice.roll(300_000)));
        while killing.elapsed() < after {
            std::hint::spin_loop();
        }
        peer.kill();
        // Nothing of it lives on: the directory that it changed all the time stands still.
        let changed =
            || fs::metadata(world.root().join("target")).and_then(|meta| meta.modified()).expect("it is there");
        let (mut last, mut since) = (changed(), Instant::now());
        while since.elapsed() < Duration::from_secs(1) {
            if changed() != last {
                (last, since) = (changed(), Instant::now());
            }
            std::thread::yield_now();
        }
        let stands = tree(&world.root());
        assert!(round % 2 == 1 || stands != before, "round {round}: nothing was changed");
        let undone = undo(&world, &begun.call);
        assert!(undone.code == 0 || stands == before, "round {round}: {undone:?}");
        assert_eq!(tree(&world.root()), before, "round {round}: {undone:?}");
        // Of a call that had changed nothing it stays until the undo store is looked through.
        let is_left = exists(world.state().join("recording").join(&begun.call));
        assert!(!is_left || undone.code != 0, "round {round}");
    }
}

#[test]
fn after_a_kill_a_later_change_is_not_lost() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("b", "1\n");
    let mut peer = serve(&world);
    let begun = begin(&world, &mut peer, "run.sh", "echo 2 > a; echo 2 > b; echo ready; sleep 60");
    until(&mut peer, &begun.job, "ready");
    peer.kill();
    world.run(&["call", "bash", "command=echo 3 > a", "--mode", "workspace"]).exits(0);
    undo(&world, &begun.call).complains("a was changed again");
    assert_eq!(world.text("a"), "3\n");
    world.run(&["undo", "--mode", "workspace"]).exits(0);
    undo(&world, &begun.call).exits(0);
    assert_eq!((world.text("a").as_str(), world.text("b").as_str()), ("1\n", "1\n"));
}

#[test]
fn a_name_that_leads_elsewhere_at_each_look_stops_nobody() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("one/f", "1\n").file("two/f", "2\n");
    fs::create_dir_all(world.path("outside")).expect("a directory");
    fs::write(world.path("outside/f"), "outside\n").expect("a file");
    let mut peer = serve(&world);
    let script = "
import os, threading
stop = False
def turn():
    n = 0
    while not stop:
        n += 1
        os.symlink(['one', 'two', '../outside', 'turn', '/proc/self/fd'][n % 5], 'next')
        os.replace('next', 'turn')
turner = threading.Thread(target=turn); turner.start()
wrote = 0
for i in range(400):
    try:
        with open('turn/f', 'a') as f: f.write('x'); wrote += 1
    except OSError: pass
    try: os.rename('turn/f', 'turn/g'); os.rename('turn/g', 'turn/f')
    except OSError: pass
stop = True; turner.join()
print('wrote' if wrote else 'nothing')
";
    let begun = begin(&world, &mut peer, "race.py", script);
    let said = ended(&mut peer, &begun.job);
    assert!(said.contains("wrote"), "{said}");
    assert_eq!(fs::read_to_string(world.path("outside/f")).expect("it is there"), "outside\n");
    // Undo may refuse what was turned; outside it touches nothing.
    fs::remove_file(world.root().join("tools/race.py")).expect("it is there");
    let undone = undo(&world, &begun.call);
    assert!(undone.code == 0 || undone.err.contains("NIKA-"), "{undone:?}");
    assert_eq!(fs::read_to_string(world.path("outside/f")).expect("it is there"), "outside\n");
    assert_eq!(peer.end(), 0);
}

#[test]
fn what_is_too_large_to_be_kept_is_named_and_nothing_of_the_call_is_taken_back() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let large = fs::File::create(world.root().join("large")).expect("a file");
    large.set_len(70 << 20).expect("room");
    let mut peer = serve(&world);
    // Opened for writing, and not written: that is no change.
    let script = "exec 5<> large; echo 2 > a";
    let call = run(&world, &mut peer, "run.sh", script);
    undo(&world, &call).exits(0);
    assert_eq!(world.text("a"), "1\n");
    let begun = begin(&world, &mut peer, "run.sh", "echo 2 > a; echo x >> large; echo ready; sleep 60");
    until(&mut peer, &begun.job, "ready");
    let stopped = text(&peer.call("nika_job_stop", json!({"job_id": begun.job})));
    assert!(stopped.contains("undo cannot take it back"), "{stopped}");
    undo(&world, &begun.call).complains("what stood at large was not kept");
    assert_eq!(world.text("a"), "2\n");
    assert_eq!(peer.end(), 0);
}

#[test]
fn what_the_sandbox_guards_and_hides_is_not_kept() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file(".env", "TOKEN=abcdef\n").file(".git/config", "[core]\n").file("a", "1\n");
    fs::create_dir_all(world.root().join(".git/hooks")).expect("a directory");
    let mut peer = serve(&world);
    let script = "echo x >> .env; echo x >> .git/config; ln .env e; mv .env f; echo 2 > a; chmod 777 .git/config\n\
                  chmod 4755 a || echo still held";
    let begun = begin(&world, &mut peer, "run.sh", script);
    assert!(ended(&mut peer, &begun.job).contains("still held"), "the other filter refuses as ever");
    let call = begun.call;
    assert_eq!(world.text(".env"), "TOKEN=abcdef\n");
    let log = fs::read_to_string(world.state().join("checkpoints.log")).expect("a log");
    assert!(!log.contains("/.env\"") && !log.contains("/.git/config\""), "{log}");
    undo(&world, &call).exits(0);
    assert_eq!(world.text("a"), "1\n");
    assert_eq!(peer.end(), 0);
}

#[test]
fn where_no_layer_can_be_had_a_command_is_recorded() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("tools/run.sh", "echo 2 > a; mkdir d; mv a d/b; ls d; echo no > none/x");
    // A layer below its own root would cover itself.
    let inside = world.root().join("state");
    let run = |words: &[&str]| {
        Ran::of(world.nika(words).env("NIKA_STATE_DIR", &inside).output().expect("the program starts"))
    };
    let words = ["call", "bash", "command=bash tools/run.sh", "--mode", "workspace", "--output", "json"];
    let ran = run(&words).json();
    let said = text(&ran);
    assert!(said.contains("[3 paths: 2 created, 1 deleted · undo takes it back]"), "{said}");
    assert!(!exists(world.root().join("a")) && world.text("d/b") == "2\n");
    run(&["undo", ran["call_id"].as_str().expect("an id"), "--mode", "workspace"]).exits(0);
    assert!(world.text("a") == "1\n" && !exists(world.root().join("d")));
}

/// Becomes a program below a filter that has a listener already, as some containers have it.
const LISTENED_TO: &str = r#"
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("text", ctypes.c_void_p)]
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
libc.prctl(38, 1, 0, 0, 0)
listener = libc.syscall(317, 1, 8, ctypes.byref(Filter(1, ctypes.cast(allow, ctypes.c_void_p))))
assert listener >= 0, ctypes.get_errno()
os.set_inheritable(listener, True)
os.execv(sys.argv[1], sys.argv[1:])
"#;

#[test]
fn where_the_kernel_has_no_second_listener_the_answer_says_so_and_all_else_works() {
    if !crate::shell::is_confined_here() || cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let world = world().file("a", "1\n");
    let words = ["serve", "--mode", "workspace", "--list", "all", "--allow", "exec(repl *)"];
    let plain = world.nika(&words);
    let mut command = std::process::Command::new("python3");
    command.args(["-c", LISTENED_TO, env!("CARGO_BIN_EXE_nika")]).args(words).current_dir(world.root()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut peer = Peer::start(command);
    peer.initialize("2025-11-25");
    let says = "[this call cannot be taken back: ";
    let code = text(&peer.call("nika_repl", json!({"language": "bash", "code": "echo 2 > a"})));
    assert!(code.contains(says) && code.contains("a record of what it changes"), "{code}");
    assert_eq!(world.text("a"), "2\n");
    for _ in 0..2 {
        let job = text(&peer.call("nika_bash", json!({"command": "echo 3 > a", "run_in_background": true})));
        assert!(job.contains("Started j") && job.contains(says), "{job}");
    }
    let reads = text(&peer.call("nika_repl", json!({"language": "bash", "code": "cat a"})));
    assert!(reads.contains("done"), "{reads}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn where_undo_is_off_nobody_listens() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let words = ["serve", "--mode", "workspace", "--list", "all", "--set", "shell.undo=off"];
    let mut peer = Peer::start(world.nika(&words));
    peer.initialize("2025-11-25");
    let said = text(&peer.call("nika_bash", json!({"command": "echo 2 > a", "run_in_background": true})));
    assert!(said.contains("Started j1") && !said.contains("undo"), "{said}");
    ended(&mut peer, "j1");
    assert_eq!(world.text("a"), "2\n");
    assert!(!exists(world.state().join("recording")));
    assert_eq!(peer.end(), 0);
}

#[test]
fn an_ordinary_users_job_is_taken_back_too() {
    if !crate::shell::is_confined_here() || !rustix::process::geteuid().is_root() {
        return;
    }
    let world = mixed();
    fs::create_dir_all(world.root().join("tools")).expect("a directory");
    let script = "sed -i s/one/two/ a.txt; rm gone.txt; mv dir moved; chmod 600 shut/file; echo n > new; rm -r old";
    fs::write(world.root().join("tools/run.sh"), script).expect("a script");
    fs::write(world.root().join("tools/ways.py"), WAYS).expect("a script");
    let Some(user) = Ordinary::of(&world) else { return };
    let before = tree(&world.root());
    let mut peer =
        Peer::start(user.nika(&["serve", "--mode", "workspace", "--list", "all", "--allow", "exec(repl *)"]));
    peer.initialize("2025-11-25");
    // A job of theirs is looked at while it goes on, too.
    fs::write(world.root().join("tools/wait.sh"), "echo two > n; while [ ! -e go ]; do sleep 0.05; done")
        .expect("a script");
    let wait = json!({"command": "bash tools/wait.sh", "run_in_background": true});
    let said = text(&peer.call("nika_bash", wait));
    let call = said.split("undo of call ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a call");
    looked_at(&world, "n");
    fs::write(world.root().join("n"), "a person's\n").expect("written");
    fs::write(world.root().join("go"), "").expect("written");
    ended(&mut peer, "j1");
    let refused = text(&peer.call("nika_undo", json!({"call_id": call})));
    assert!(refused.contains("NIKA-217") && world.text("n") == "a person's\n", "{refused}");
    for name in ["n", "go", "tools/wait.sh"] {
        fs::remove_file(world.root().join(name)).expect("removed");
    }
    let mut scripts = vec!["bash tools/run.sh"];
    scripts.extend(exists("/usr/bin/python3").then_some("python3 tools/ways.py"));
    for (number, command) in (2..).zip(scripts) {
        let said = text(&peer.call("nika_bash", json!({"command": command, "run_in_background": true})));
        let call = said.split("undo of call ").nth(1).and_then(|rest| rest.split_whitespace().next());
        let call = call.unwrap_or_else(|| panic!("{said}")).to_owned();
        ended(&mut peer, &format!("j{number}"));
        assert_ne!(tree(&world.root()), before);
        let undone = text(&peer.call("nika_undo", json!({"call_id": call})));
        assert!(undone.contains("Took back"), "{command}: {undone}");
        assert_eq!(tree(&world.root()), before, "{command}: {undone}");
    }
    // What nobody may enter is taken back, too.
    let locks = "mkdir locked; echo x > locked/x; echo 2 > a.txt; chmod 0 locked";
    let ran = peer.call("nika_repl", json!({"language": "bash", "code": locks}));
    assert!(text(&ran).contains("undo takes it back"), "{ran}");
    let undone = text(&peer.call("nika_undo", json!({})));
    assert_eq!(seen(&world), before, "{undone}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_pipe_that_goes_and_what_stands_in_keep_no_call_from_being_taken_back() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let made = Command::new("git").args(["init", "-q"]).current_dir(world.root()).status().expect("git runs");
    assert!(made.success());
    let pipe = world.root().join("pipe");
    let before = tree(&world.root());
    let script = "echo 2 > a; mv .git gone; rm -f pipe replaced; echo x > replaced; echo up\n";
    for job in [true, false] {
        for name in ["pipe", "replaced"] {
            let made = Command::new("mkfifo").arg(name).current_dir(world.root()).status().expect("mkfifo runs");
            assert!(made.success());
        }
        let call = if job {
            let mut peer = serve(&world);
            let begun = begin(&world, &mut peer, "job.sh", script);
            let said = ended_with(&mut peer, &begun.job, "undo takes it back");
            assert!(!said.contains("not kept for undo"), "{said}");
            assert_eq!(peer.end(), 0);
            begun.call
        } else {
            let answer = world.json(&["bash", "command=sh tools/job.sh", "--mode", "workspace"]);
            assert!(text(&answer).contains("not brought back by undo: pipe, replaced]"), "{answer}");
            answer["call_id"].as_str().expect("an id").to_owned()
        };
        assert_eq!(world.text("a"), "2\n");
        undo(&world, &call).exits(0);
        assert_eq!(tree(&world.root()), before);
        assert!(fs::symlink_metadata(&pipe).is_err());
    }
}
