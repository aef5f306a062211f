//! What survives a kill, a crowd and a power cut.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The program over `root`, with its state apart.
fn nika(root: &Path, state: &Path) -> Command {
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

/// Many processes edit one file, each its own line, over and over. No edit is lost.
#[test]
fn sixteen_processes_edit_one_tree_and_lose_nothing() {
    const PROCESSES: usize = 16;
    const EDITS: usize = 5;
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    // Lines far enough apart that one process's edit never touches another's.
    let text: String = (0..PROCESSES).map(|n| format!("value-{n}: 0\n-\n-\n-\n-\n-\n-\n")).collect();
    std::fs::write(root.path().join("shared.txt"), text).expect("written");
    std::thread::scope(|scope| {
        for n in 0..PROCESSES {
            let (root, state) = (root.path(), state.path());
            scope.spawn(move || {
                let session = format!("worker-{n}");
                let mut done = 0;
                for attempt in 0.. {
                    assert!(attempt < EDITS * 20, "worker {n} is refused forever");
                    let read = ["call", "--session", &session, "read", "file_path=shared.txt"];
                    let read = nika(root, state).args(read).stderr(Stdio::piped()).output().expect("it runs");
                    assert!(read.status.success(), "worker {n}: {}", String::from_utf8_lossy(&read.stderr));
                    let edit = json!({
                        "file_path": "shared.txt",
                        "old_string": format!("value-{n}: {done}\n"),
                        "new_string": format!("value-{n}: {}\n", done + 1),
                    });
                    let edit =
                        ["call", "--session", &session, "--mode", "accept-edits", "edit", "--json", &edit.to_string()];
                    if nika(root, state).args(edit).status().expect("it runs").success() {
                        done += 1;
                    }
                    if done == EDITS {
                        break;
                    }
                }
            });
        }
    });
    let text = std::fs::read_to_string(root.path().join("shared.txt")).expect("there");
    for n in 0..PROCESSES {
        assert!(text.contains(&format!("value-{n}: {EDITS}\n")), "an edit of worker {n} was lost:\n{text}");
    }
    assert_eq!(tree(root.path()).len(), 1);
}

/// The data are on the disk before the name points to them: written, synced, named, renamed.
#[test]
fn a_file_is_synced_before_it_is_renamed() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    std::fs::write(root.path().join("a.txt"), "one\n").expect("written");
    let read = nika(root.path(), state.path()).args(["call", "--session", "s", "read", "file_path=a.txt"]).status();
    assert!(read.expect("it runs").success());
    let trace = state.path().join("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-e", "trace=write,fdatasync,fsync,linkat,renameat,renameat2", "-o"]).arg(&trace);
    strace.arg(env!("CARGO_BIN_EXE_nika")).args(["call", "--session", "s", "--mode", "accept-edits", "edit"]);
    strace.args(["file_path=a.txt", "old_string=one", "new_string=two"]);
    strace.current_dir(root.path()).env("HOME", state.path()).env("NIKA_STATE_DIR", state.path().join("state"));
    let Ok(status) = strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status() else {
        eprintln!("skipped: there is no strace here to see the system calls with");
        return;
    };
    if !status.success() && !trace.exists() {
        eprintln!("skipped: strace may not trace here");
        return;
    }
    let calls = std::fs::read_to_string(&trace).expect("a trace");
    let at = |what: &dyn Fn(&str) -> bool, name: &str| {
        calls.lines().position(what).unwrap_or_else(|| panic!("no {name} in\n{calls}"))
    };
    let written = at(&|line| line.contains("write(") && line.contains("\"two\\n\""), "write of the new text");
    let synced = at(&|line| line.contains("fdatasync(") && line.contains(&*root.path().to_string_lossy()), "fdatasync");
    let named = at(&|line| line.contains("linkat(") && line.contains(".nika-"), "linkat");
    let renamed = at(&|line| line.contains("renameat") && line.contains("\"a.txt\""), "renameat");
    assert!(written < synced && synced < named && named < renamed, "{calls}");
    assert_eq!(std::fs::read_to_string(root.path().join("a.txt")).expect("there"), "two\n");
}
