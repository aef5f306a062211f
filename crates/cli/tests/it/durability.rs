//! What survives a kill, a crowd and a power cut.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The program over `root`, with its state apart.
pub fn nika(root: &Path, state: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nika"));
    command.current_dir(root).env_clear().env("HOME", state).env("NIKA_STATE_DIR", state.join("state"));
    command.env("PATH", "/usr/bin:/bin").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn tree(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).expect("below").to_string_lossy().into_owned();
                found.push((name, std::fs::read(path).expect("readable")));
            }
        }
    }
    found.sort();
    found
}

/// A tiny generator, so that a run can be repeated.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// How many kills; a campaign sets more.
pub fn rounds(otherwise: u64) -> u64 {
    std::env::var("NIKA_TEST_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Killed at any moment, the next start leaves the old state or the new one, never a mix and nothing stray.
#[test]
fn a_killed_change_set_is_whole_or_nothing() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let files = ["a.txt", "b.txt", "sub/c.txt", "sub/d.txt", "e.txt"];
    std::fs::create_dir(root.path().join("sub")).expect("made");
    for file in files {
        std::fs::write(root.path().join(file), format!("0 {file}\n")).expect("written");
    }
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut kept, mut made) = (0, 0);
    // How late a kill may fall: later after one that came too soon, sooner after one that came too late. So both sides
    // are met on a machine of any speed.
    let mut latest: u64 = 20_000;
    for round in 1..=rounds(150) {
        let before = tree(root.path());
        let mut changes: Vec<Value> = Vec::new();
        for file in files {
            changes.push(json!({"op": "delete", "file_path": file}));
            changes.push(json!({"op": "create", "file_path": file, "content": format!("{round} {file}\n")}));
        }
        let (gone, new) = (format!("moved-{}", round - 1), format!("moved-{round}"));
        if root.path().join(&gone).exists() {
            changes.push(json!({"op": "move", "file_path": gone, "to": new}));
        } else {
            changes.push(json!({"op": "create", "file_path": new, "content": "m"}));
        }
        let arguments = json!({ "changes": changes }).to_string();
        let mut child = nika(root.path(), state.path())
            .args(["call", "change_set", "--mode", "accept-edits", "--json", &arguments])
            .spawn()
            .expect("the program starts");
        // The moment of the kill: no state of the program is waited for here.
        std::thread::sleep(Duration::from_micros(dice.roll(latest)));
        child.kill().ok();
        child.wait().expect("it ended");
        let started = nika(root.path(), state.path()).args(["call", "list_dir"]).status().expect("the next start");
        assert!(started.success());
        let after = tree(root.path());
        if after == before {
            kept += 1;
            latest = (latest + latest / 8).min(2_000_000);
        } else {
            made += 1;
            latest = (latest - latest / 8).max(1_000);
            for file in files {
                let text = String::from_utf8(after.iter().find(|(name, _)| name == file).expect("there").1.clone());
                assert_eq!(text.expect("UTF-8"), format!("{round} {file}\n"), "round {round}: a mix");
            }
            assert_eq!(after.len(), files.len() + 1, "round {round}: something stray in {after:?}");
        }
        // A round that was not made leaves its number unused; the next begins from what stands.
        if after == before
            && let Some((name, _)) = after.iter().find(|(name, _)| name.starts_with("moved-"))
        {
            std::fs::rename(root.path().join(name), root.path().join(format!("moved-{round}"))).expect("renamed");
        }
    }
    assert!(kept > 0 && made > 0, "the kills fell on one side only: {kept} kept, {made} made");
    let verified = nika(root.path(), state.path()).args(["log", "verify"]).status().expect("it runs");
    assert!(verified.success(), "the journals verify after all that");
}

/// Killed at any moment while it writes, the database can be read, whole: what was answered for is there, and a row
/// that waits for another is never without it.
#[test]
fn a_killed_writer_leaves_a_database() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let call = |words: &[&str]| {
        let ran = nika(root.path(), state.path()).arg("call").args(words).stdout(Stdio::piped()).output();
        let ran = ran.expect("it runs");
        assert!(ran.status.success(), "{words:?}");
        serde_json::from_slice::<Value>(&ran.stdout).expect("JSON")["structured"].clone()
    };
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let (mut kept, mut made, mut rows) = (0, 0, 0);
    // Kills come around the moment of the writing, which a busy machine moves: a little later after one that came
    // too early, a little earlier after one that came too late.
    let mut within_us = 30_000;
    for round in 1..=rounds(60) {
        let title = format!("round {round}");
        let steps = json!({"sync_tasks": true, "items": [
            {"step": format!("{title} a")}, {"step": format!("{title} b"), "depends_on": ["1"]}]});
        let session = format!("s{round}");
        let mut child = nika(root.path(), state.path())
            .args(["call", "update_plan", "--session", &session, "--json", &steps.to_string()])
            .spawn()
            .expect("the program starts");
        // The moment of the kill: no state of the program is waited for here.
        std::thread::sleep(Duration::from_micros(within_us / 2 + dice.roll(within_us)));
        child.kill().ok();
        child.wait().expect("it ended");
        let listed = call(&["task_list", "limit=500", "--output", "json"]);
        let after = listed["total"].as_u64().expect("a number");
        match after - rows {
            0 => {
                kept += 1;
                within_us += within_us / 5;
            }
            2 => {
                made += 1;
                within_us -= within_us / 5;
            }
            other => panic!("round {round}: {other} rows of two"),
        }
        rows = after;
        let planned = call(&["plan_get", "--session", &session, "--output", "json"]);
        let steps = planned["items"].as_array().expect("a list");
        let is_made = listed["tasks"].to_string().contains(&format!("\"{title} a\""));
        assert_eq!(
            steps.len(),
            if is_made { 2 } else { 0 },
            "round {round}: the plan without its rows, or they without it"
        );
    }
    assert!(kept > 0 && made > 0, "the kills fell on one side only: {kept} kept, {made} made");
}

const PROCESSES: usize = 16;
const SHARED: usize = 4;

/// One of many who work in one tree at once: its own lines in files that all share, in its own session.
struct Worker<'a> {
    root: &'a Path,
    state: &'a Path,
    number: usize,
    /// What its line in each shared file says now.
    values: [usize; SHARED],
}

impl Worker<'_> {
    /// One call, and its answer as an object.
    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let (session, arguments) = (format!("worker-{}", self.number), arguments.to_string());
        let words = ["call", tool, "--session", &session, "--mode", "accept-edits", "--output", "json", "--json"];
        let ran = nika(self.root, self.state).args(words).arg(&arguments).stdout(Stdio::piped()).output();
        serde_json::from_slice(&ran.expect("it runs").stdout).expect("one object")
    }

    /// Tries until it is done, each time with what the tree then holds, and says which call did it.
    fn until_done(&self, tool: &str, arguments: impl Fn(&Worker<'_>) -> Value) -> String {
        for _ in 0..100 {
            let answer = self.call(tool, &arguments(self));
            if answer["ok"] == true {
                return answer["call_id"].as_str().expect("a call has a name").to_owned();
            }
        }
        panic!("worker {} is refused forever: {}", self.number, self.call(tool, &arguments(self)))
    }

    fn read(&self, file: &str) {
        let answer = self.call("read", &json!({"file_path": file}));
        assert_eq!(answer["ok"], true, "{answer}");
    }

    /// The change of its line in a shared file, to the next value.
    fn step(&self, file: usize) -> Value {
        let (n, now) = (self.number, self.values[file]);
        json!({
            "file_path": format!("shared-{file}.txt"),
            "old_string": format!("value-{n}: {now}\n"),
            "new_string": format!("value-{n}: {}\n", now + 1),
        })
    }

    fn edit(&mut self, file: usize) -> String {
        let call = self.until_done("edit", |worker| {
            worker.read(&format!("shared-{file}.txt"));
            worker.step(file)
        });
        self.values[file] += 1;
        call
    }

    /// Two shared files and a new one, as one change.
    fn set(&mut self, name: &str) -> String {
        let (one, two) = (self.number % SHARED, (self.number + 1) % SHARED);
        let call = self.until_done("change_set", |worker| {
            let mut changes = vec![json!({"op": "create", "file_path": name, "content": "made\n"})];
            for file in [one, two] {
                worker.read(&format!("shared-{file}.txt"));
                let mut step = worker.step(file);
                step["op"] = json!("edit");
                changes.push(step);
            }
            json!({ "changes": changes })
        });
        self.values[one] += 1;
        self.values[two] += 1;
        call
    }

    /// A line more in a file that others write whole, too.
    fn add_line(&self) {
        let (n, file) = (self.number, format!("log-{}.txt", self.number % SHARED));
        self.until_done("write", |worker| {
            worker.read(&file);
            // Taken after the read: when it is newer than what the session has seen, the write is refused.
            let now = std::fs::read_to_string(worker.root.join(&file)).expect("there");
            json!({"file_path": file, "content": format!("{now}line of {n}\n")})
        });
    }

    fn undo(&self, call: &str) {
        self.until_done("undo", |_| json!({"call_id": call}));
    }

    fn work(&mut self) {
        let n = self.number;
        self.edit(n % SHARED);
        self.set(&format!("made/{n}.txt"));
        self.add_line();
        let call = self.edit((n + 2) % SHARED);
        self.undo(&call);
        self.values[(n + 2) % SHARED] -= 1;
        let before = self.values;
        let call = self.set(&format!("made/not-{n}.txt"));
        self.undo(&call);
        self.values = before;
        self.edit((n + 3) % SHARED);
    }
}

/// Many processes work in one tree: edits, whole files, sets of changes, and some of that taken back. Nobody's change is
/// lost, and the journals say how each file came to be what it is.
#[test]
fn sixteen_processes_edit_one_tree_and_lose_nothing() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    for file in 0..SHARED {
        // Lines far enough apart that one worker's edit never touches another's.
        let text: String = (0..PROCESSES).map(|n| format!("value-{n}: 0\n-\n-\n-\n-\n-\n-\n")).collect();
        std::fs::write(root.path().join(format!("shared-{file}.txt")), text).expect("written");
        std::fs::write(root.path().join(format!("log-{file}.txt")), "").expect("written");
    }
    let before = tree(root.path());
    let workers: Vec<Worker<'_>> = std::thread::scope(|scope| {
        let started: Vec<_> = (0..PROCESSES)
            .map(|number| {
                let (root, state) = (root.path(), state.path());
                let mut worker = Worker { root, state, number, values: [0; SHARED] };
                scope.spawn(move || {
                    worker.work();
                    worker
                })
            })
            .collect();
        started.into_iter().map(|worker| worker.join().expect("it was not refused")).collect()
    });
    let after = tree(root.path());
    let text = |name: &str| {
        let found = after.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no {name}"));
        String::from_utf8(found.1.clone()).expect("UTF-8")
    };
    for worker in &workers {
        let n = worker.number;
        for (file, value) in worker.values.iter().enumerate() {
            let name = format!("shared-{file}.txt");
            assert!(text(&name).contains(&format!("value-{n}: {value}\n")), "worker {n}, {name}:\n{}", text(&name));
        }
        assert_eq!(text(&format!("made/{n}.txt")), "made\n");
        let log = text(&format!("log-{}.txt", n % SHARED));
        assert_eq!(log.matches(&format!("line of {n}\n")).count(), 1, "worker {n}:\n{log}");
    }
    assert_eq!(after.len(), 2 * SHARED + PROCESSES, "something stray in {after:?}");
    explained(root.path(), state.path(), &before, &after);
}

/// Every file's way from what it was to what it is consists of exactly the changes that the journals tell of.
fn explained(root: &Path, state: &Path, before: &[(String, Vec<u8>)], after: &[(String, Vec<u8>)]) {
    let mut steps: BTreeMap<(String, String), (Value, Value)> = BTreeMap::new();
    let mut done = BTreeSet::new();
    for (_, text) in tree(&state.join("state")).into_iter().filter(|(name, _)| name.ends_with(".jsonl")) {
        for line in String::from_utf8(text).expect("UTF-8").lines() {
            let line: Value = serde_json::from_str(line).expect("a line of a journal is JSON");
            let field = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            if line["event"] == "Checkpoint" {
                // A change that is worked out anew says so anew: the last counts.
                let step = (line["before"].clone(), line["after"].clone());
                steps.insert((field("call"), field("path")), step);
            } else if line["event"] == "CallEnded" && line["ok"] == true {
                done.insert(field("call"));
            }
        }
    }
    let paths: BTreeSet<&String> = steps.keys().map(|(_, path)| path).collect();
    let hash_of = |files: &[(String, Vec<u8>)], path: &str| {
        let name = Path::new(path).strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
        match files.iter().find(|(known, _)| *known == name) {
            Some((_, bytes)) => json!(sha256(bytes)),
            // A directory counts as an empty file.
            None if files.iter().any(|(known, _)| known.starts_with(&format!("{name}/"))) => json!(sha256(b"")),
            None => Value::Null,
        }
    };
    for path in &paths {
        let of_it = |((call, of), _): &(&(String, String), &(Value, Value))| of == *path && done.contains(call);
        let made: Vec<&(Value, Value)> = steps.iter().filter(of_it).map(|(_, step)| step).collect();
        // A walk that takes each step once leaves every content as often as it comes to it, but for its two ends.
        let mut balance: BTreeMap<String, i64> = BTreeMap::new();
        for (from, to) in &made {
            *balance.entry(from.to_string()).or_default() += 1;
            *balance.entry(to.to_string()).or_default() -= 1;
        }
        *balance.entry(hash_of(before, path).to_string()).or_default() -= 1;
        *balance.entry(hash_of(after, path).to_string()).or_default() += 1;
        assert!(
            balance.values().all(|count| *count == 0),
            "{path} is not what its {} changes make: {balance:?}",
            made.len()
        );
    }
    assert!(paths.len() >= 2 * SHARED + PROCESSES, "the journals know of every file: {paths:?}");
}

fn sha256(bytes: &[u8]) -> String {
    nika_host::fs::sha256(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Says that a test saw nothing, where it is read: what a test prints is shown only when it fails.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// The program under `strace` with these options, in a session of its own; `None`, and a word about it, where nothing can
/// be traced.
pub fn traced(root: &Path, state: &Path, options: &[&str], words: &[&str]) -> Option<ExitStatus> {
    answered(root, state, options, words).map(|ran| ran.status)
}

/// The same with what it said.
pub fn answered(root: &Path, state: &Path, options: &[&str], words: &[&str]) -> Option<Output> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq"]).args(options).arg(env!("CARGO_BIN_EXE_nika")).args(words).current_dir(root);
    strace.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", state).env("NIKA_STATE_DIR", state.join("state"));
    match strace.stdin(Stdio::null()).output() {
        Err(_) => skipped("there is no strace here to see the system calls with"),
        Ok(ran) if String::from_utf8_lossy(&ran.stderr).contains("ptrace") => skipped("strace may not trace here"),
        Ok(ran) => return Some(ran),
    }
    None
}

/// The system calls of a call that decide what a power cut leaves.
fn decisive(root: &Path, state: &Path, words: &[&str]) -> Option<Vec<String>> {
    let trace = state.join("trace");
    let calls = "trace=write,fdatasync,fsync,linkat,rename,renameat,renameat2,unlinkat";
    let ran = traced(root, state, &["-y", "-e", calls, "-o", &trace.to_string_lossy()], words)?;
    assert!(ran.success(), "{words:?}");
    let text = std::fs::read_to_string(&trace).expect("a trace");
    Some(text.lines().map(str::to_owned).collect())
}

/// Where the first call is that has all these pieces, from `from` on.
fn at(calls: &[String], from: usize, pieces: &[&str]) -> usize {
    let has = |call: &String| pieces.iter().all(|piece| call.contains(piece));
    let found = calls.iter().skip(from).position(has);
    from + found.unwrap_or_else(|| panic!("no {pieces:?} after {from} in\n{}", calls.join("\n")))
}

/// The data are on the disk before the name points to them: written, synced, named, renamed.
#[test]
fn a_file_is_synced_before_it_is_renamed() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    std::fs::write(root.path().join("a.txt"), "one\n").expect("written");
    let read = nika(root.path(), state.path()).args(["call", "--session", "s", "read", "file_path=a.txt"]).status();
    assert!(read.expect("it runs").success());
    let common = ["call", "--session", "s", "--mode", "accept-edits"];
    let edit = [&common[..], &["edit", "file_path=a.txt", "old_string=one", "new_string=two"]].concat();
    let Some(calls) = decisive(root.path(), state.path(), &edit) else { return };
    let in_root = root.path().to_string_lossy().into_owned();
    let written = at(&calls, 0, &["write(", "\"two\\n\""]);
    let synced = at(&calls, written, &["fdatasync(", &in_root]);
    let named = at(&calls, synced, &["linkat(", ".nika-"]);
    let renamed = at(&calls, named, &["renameat", "\"a.txt\""]);
    assert!(renamed > written);
    assert_eq!(std::fs::read_to_string(root.path().join("a.txt")).expect("there"), "two\n");

    // A new file has no name at all before it is whole.
    let write = [&common[..], &["write", "file_path=new/b.txt", "content=whole"]].concat();
    let calls = decisive(root.path(), state.path(), &write).expect("it was traced before");
    let written = at(&calls, 0, &["write(", "/new/", "\"whole\""]);
    let synced = at(&calls, written, &["fdatasync(", "/new/"]);
    at(&calls, synced, &["linkat(", "\"b.txt\""]);
    let names = calls.iter().filter(|call| call.contains("\"b.txt\"")).count();
    assert_eq!(names, 1, "{}", calls.join("\n"));
    assert_eq!(std::fs::read_to_string(root.path().join("new/b.txt")).expect("there"), "whole");
}

/// The words of an edit of a file that was read.
const EDIT: [&str; 8] =
    ["call", "--session", "s", "--mode", "accept-edits", "edit", "file_path=a.txt", "old_string=two"];

/// What comes of an edit of `a.txt` beside which somebody else appends to it, or replaces it, once its new file is there.
fn raced<T: Send>(root: &Path, replaced_by: Option<&str>, edit: impl FnOnce() -> T + Send) -> T {
    let is_about_to = || tree(root).iter().any(|(name, _)| name.starts_with(".nika-"));
    let (file, later) = (root.join("a.txt"), root.join("later"));
    std::thread::scope(|scope| {
        let edit = scope.spawn(edit);
        while !edit.is_finished() && !is_about_to() {
            std::thread::yield_now();
        }
        match replaced_by {
            Some(text) => {
                std::fs::write(&later, text).expect("written");
                std::fs::rename(&later, &file).expect("renamed");
            }
            None => {
                let mut file = std::fs::File::options().append(true).open(&file).expect("opened");
                file.write_all(b"more\n").expect("appended");
            }
        }
        edit.join().expect("it ends")
    })
}

/// What others write after the last look goes back to its place, and the edit is made on top of it.
#[test]
fn what_others_write_at_the_last_moment_is_not_lost() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let file = root.join("a.txt");
    for replaced in [false, true] {
        std::fs::write(&file, "one\ntwo\nthree\nfour\nfive\n").expect("written");
        let read = nika(root, state).args(["call", "--session", "s", "read", "file_path=a.txt"]).status();
        assert!(read.expect("it runs").success());
        let words = [&EDIT[..], &["new_string=2"]].concat();
        // The names are exchanged half a second after they could be.
        let options = ["-o", "/dev/null", "-e", "trace=renameat2", "-e", "inject=renameat2:delay_enter=500000:when=1"];
        let replaced_by = replaced.then_some("one\ntwo\nthree\nfour\n5\n");
        let Some(status) = raced(root, replaced_by, || traced(root, state, &options, &words)) else { return };
        assert!(status.success());
        let last = if replaced { "5\n" } else { "five\nmore\n" };
        assert_eq!(tree(root), [("a.txt".to_owned(), format!("one\n2\nthree\nfour\n{last}").into_bytes())]);
    }
}

#[test]
fn what_an_edit_could_not_remove_is_removed_by_the_next_start() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    std::fs::write(root.join("a.txt"), "one\ntwo\n").expect("written");
    let read = nika(root, state).args(["call", "--session", "s", "read", "file_path=a.txt"]).status();
    assert!(read.expect("it runs").success());
    let options = ["-o", "/dev/null", "-e", "trace=unlinkat", "-e", "inject=unlinkat:error=EIO"];
    let Some(status) = traced(root, state, &options, &[&EDIT[..], &["new_string=2"]].concat()) else { return };
    assert!(status.success());
    assert_eq!(tree(root).len(), 2, "{:?}", tree(root));
    assert!(nika(root, state).args(["call", "list_dir"]).status().expect("the next start").success());
    assert_eq!(tree(root), [("a.txt".to_owned(), b"one\n2\n".to_vec())]);
}

/// Killed at each system call that changes something, one edit leaves the old file or the new one, and the next start
/// nothing else.
#[test]
fn an_edit_killed_at_any_system_call_is_made_or_not() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let (mut kept, mut made) = (0, 0);
    for call in ["fdatasync", "linkat", "renameat2", "unlinkat", "ftruncate", "pwrite64"] {
        for nth in 1.. {
            assert!(nth < 100, "{call} has no last one");
            std::fs::write(root.join("a.txt"), "one\ntwo\n").expect("written");
            let read = nika(root, state).args(["call", "--session", "s", "read", "file_path=a.txt"]).status();
            assert!(read.expect("it runs").success());
            let kill = format!("inject={call}:signal=KILL:when={nth}");
            let options = ["-o", "/dev/null", "-e", "trace=desc,file", "-e", &kill];
            let Some(status) = traced(root, state, &options, &[&EDIT[..], &["new_string=2"]].concat()) else { return };
            assert!(nika(root, state).args(["call", "list_dir"]).status().expect("the next start").success());
            match tree(root).as_slice() {
                [(name, text)] if name == "a.txt" && text == b"one\ntwo\n" => kept += 1,
                [(name, text)] if name == "a.txt" && text == b"one\n2\n" => made += 1,
                other => panic!("{call} {nth}: {other:?}"),
            }
            if status.signal() != Some(9) {
                break;
            }
        }
    }
    assert!(kept >= 3 && made >= 8, "{kept} kept, {made} made");
    assert!(nika(root, state).args(["log", "verify"]).status().expect("it runs").success(), "the journals verify");
}

/// A set of changes: its intent, then every new file whole, then the one write that decides, then the names.
#[test]
fn a_set_of_changes_decides_only_when_all_of_it_is_on_the_disk() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    std::fs::write(root.path().join("gone.txt"), "gone\n").expect("written");
    std::fs::write(root.path().join("a.txt"), "one\n").expect("written");
    let set = json!({"changes": [
        {"op": "delete", "file_path": "a.txt"},
        {"op": "create", "file_path": "a.txt", "content": "first new"},
        {"op": "create", "file_path": "b.txt", "content": "second new"},
        {"op": "delete", "file_path": "gone.txt"},
    ]});
    let words = ["call", "change_set", "--mode", "accept-edits", "--json", &set.to_string()];
    let Some(calls) = decisive(root.path(), state.path(), &words) else { return };
    let intent = at(&calls, 0, &["rename", "/sets/", ".json"]);
    let decided = at(&calls, intent + 1, &["rename", "/sets/", ".json"]);
    at(&calls, intent, &["fsync(", "/sets>"]);
    for text in ["\"first new\"", "\"second new\""] {
        let written = at(&calls, intent, &["write(", text]);
        let synced = at(&calls, written, &["fdatasync("]);
        let named = at(&calls, synced, &["linkat(", ".nika-"]);
        let known = at(&calls, named, &["fsync(", &root.path().to_string_lossy()]);
        assert!(known < decided, "{text} is on the disk, and its name, before the set decides:\n{}", calls.join("\n"));
    }
    let noted = at(&calls, decided, &["fsync(", "/sets>"]);
    for name in ["\"a.txt\"", "\"b.txt\""] {
        at(&calls, noted, &["renameat", name]);
        let early = calls[..noted].iter().any(|call| call.contains("renameat") && call.contains(name));
        assert!(!early, "{name} was renamed before the set was decided");
    }
    // What goes is moved away, and looked at, before it is removed.
    let moved = at(&calls, noted, &["renameat", "\"gone.txt\""]);
    at(&calls, moved, &["unlinkat(", ".nika-"]);
    let early = calls[..noted].iter().any(|call| call.contains("\"gone.txt\""));
    assert!(!early, "what is to go went before the set was decided");
}

/// Removes all that lies in a directory.
pub fn empty(dir: &Path) {
    for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.expect("removed");
    }
}

/// Killed at each system call that changes something, in every phase, the next start leaves the old state or the new one;
/// a set that fails by itself leaves the old one.
#[test]
fn a_change_set_killed_at_any_system_call_is_whole_or_nothing() {
    let (above, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (above, state) = (above.path(), state.path());
    let root = &above.join("root");
    std::fs::create_dir(root).expect("made");
    let begin = || {
        empty(root);
        std::fs::create_dir(root.join("sub")).expect("made");
        for (name, text) in
            [("a.txt", "old\n"), ("sub/b.txt", "old\n"), ("gone.txt", "gone\n"), ("from.txt", "moved\n")]
        {
            std::fs::write(root.join(name), text).expect("written");
        }
        tree(root)
    };
    let set = json!({"changes": [
        {"op": "delete", "file_path": "a.txt"},
        {"op": "create", "file_path": "a.txt", "content": "new\n"},
        {"op": "delete", "file_path": "sub/b.txt"},
        {"op": "create", "file_path": "sub/b.txt", "content": "new\n"},
        {"op": "create", "file_path": "new.txt", "content": "new\n"},
        {"op": "delete", "file_path": "gone.txt"},
        {"op": "move", "file_path": "from.txt", "to": "sub/to.txt"},
    ]});
    let words = ["call", "change_set", "--mode", "accept-edits", "--json", &set.to_string()];
    let old = begin();
    assert!(nika(root, state).args(words).status().expect("it runs").success());
    let new = tree(root);
    assert_ne!(old, new);
    let (mut kept, mut made, mut taken_back) = (0, 0, 0);
    let mut stand = 1;
    let listed = || {
        let listed = nika(root, state).args(["call", "checkpoints", "limit=500"]).stdout(Stdio::piped()).output();
        let listed = String::from_utf8(listed.expect("it runs").stdout).expect("text");
        listed.lines().filter(|line| line.contains(" change_set:")).count()
    };
    for (call, fault) in [
        ("fdatasync", None),
        ("fsync", None),
        ("linkat", None),
        ("rename", None),
        ("renameat", None),
        ("renameat2", None),
        ("unlinkat", None),
        // The first new name cannot be given: everything is taken back, and the kill falls into that.
        ("unlinkat", Some("inject=renameat2:error=EIO:when=1")),
        ("renameat", Some("inject=renameat2:error=EIO:when=1")),
        ("rename", Some("inject=renameat2:error=EIO:when=1")),
    ] {
        // The first of these calls, the second, and so on, until there are no more to be killed at.
        for nth in 1.. {
            assert!(nth < 100, "{call} has no last one");
            begin();
            let kill = format!("inject={call}:signal=KILL:when={nth}");
            let mut options = vec!["-o", "/dev/null", "-e", "trace=desc,file", "-e", &kill];
            options.extend(fault.iter().flat_map(|fault| ["-e", fault]));
            let Some(status) = traced(root, state, &options, &words) else { return };
            let was_killed = status.signal() == Some(9);
            // The next start is over any of these files: in the root, below it, above it.
            let next = [root, &root.join("sub"), above][nth % 3].to_path_buf();
            assert!(nika(&next, state).args(["call", "list_dir"]).status().expect("the next start").success());
            let now = tree(root);
            assert!(now == old || now == new, "{call} {nth}, {fault:?}, {}: a mix: {now:?}", next.display());
            stand += usize::from(now == new);
            assert_eq!(listed(), stand, "{call} {nth}, {fault:?}: what was not made is not there to be taken back");
            match (fault, was_killed) {
                (Some(_), false) => assert!(!status.success() && now == old, "{call} {nth}: what failed was made"),
                // Before it failed the set may have been decided, and then the next start finishes it.
                (Some(_), true) => taken_back += usize::from(now == old),
                (None, false) => assert!(status.success() && now == new, "{call} {nth}: nothing was in its way"),
                (None, true) if now == old => kept += 1,
                (None, true) => made += 1,
            }
            if !was_killed {
                break;
            }
        }
    }
    assert!(kept >= 10 && made >= 5 && taken_back >= 5, "kills: {kept} kept, {made} made, {taken_back} taken back");
    assert!(nika(root, state).args(["log", "verify"]).status().expect("it runs").success(), "the journals verify");
}

/// The same of a set in which a file gives way to a directory and a directory to a file; and whatever was left of it, it
/// can be taken back.
#[test]
fn a_set_that_exchanges_a_file_and_a_directory_is_whole_or_nothing_too() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let begin = || {
        empty(root);
        std::fs::create_dir_all(root.join("dir/deep")).expect("made");
        for (name, text) in [("a", "old\n"), ("dir/b.txt", "old\n"), ("dir/deep/c.txt", "old\n"), ("d.txt", "old\n")] {
            std::fs::write(root.join(name), text).expect("written");
        }
        tree(root)
    };
    let set = json!({"changes": [
        {"op": "delete", "file_path": "a"},
        {"op": "create", "file_path": "a/x/new.txt", "content": "new\n"},
        {"op": "move", "file_path": "d.txt", "to": "a/d.txt"},
        {"op": "delete", "file_path": "dir/b.txt"},
        {"op": "delete", "file_path": "dir/deep/c.txt"},
        {"op": "create", "file_path": "dir", "content": "new\n"},
    ]});
    let words = ["call", "change_set", "--mode", "accept-edits", "--json", &set.to_string()];
    let old = begin();
    assert!(nika(root, state).args(words).status().expect("it runs").success());
    let new = tree(root);
    let names: Vec<&str> = new.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a/d.txt", "a/x/new.txt", "dir"]);
    let (mut kept, mut made) = (0, 0);
    for call in
        ["fdatasync", "fsync", "syncfs", "mkdirat", "mkdir", "rename", "renameat", "renameat2", "unlinkat", "unlink"]
    {
        for nth in 1.. {
            assert!(nth < 200, "{call} has no last one");
            begin();
            let kill = format!("inject={call}:signal=KILL:when={nth}");
            let options = ["-o", "/dev/null", "-e", "trace=desc,file", "-e", &kill];
            let Some(status) = traced(root, state, &options, &words) else { return };
            assert!(nika(root, state).args(["call", "list_dir"]).status().expect("the next start").success());
            let now = tree(root);
            assert!(now == old || now == new, "{call} {nth}: a mix: {now:?}");
            if status.signal() != Some(9) {
                assert!(status.success() && now == new, "{call} {nth}: nothing was in its way");
                break;
            }
            kept += usize::from(now == old);
            made += usize::from(now == new);
            if now == new {
                assert!(
                    nika(root, state).args(["undo", "--mode", "accept-edits"]).status().expect("it runs").success()
                );
                assert_eq!(tree(root), old, "{call} {nth}");
            }
        }
    }
    assert!(kept >= 10 && made >= 5, "kills: {kept} kept, {made} made");
    assert!(
        !std::fs::read_dir(root)
            .expect("a directory")
            .flatten()
            .any(|entry| { entry.file_name().to_string_lossy().starts_with(".nika-") })
    );
}
