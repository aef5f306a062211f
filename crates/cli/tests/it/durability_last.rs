//! What others write in the last moment before a file goes, or another comes in its place, alone or with others, is not
//! lost: it stands again in its place, or in that of what was killed meanwhile.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};

use serde_json::{Value, json};

use crate::durability::{empty, traced};
use crate::durability_dirs::{all, killed_everywhere, killed_where_some_fail, runs};

/// What somebody else does beside a call.
#[derive(Debug, Clone, Copy)]
enum Theirs {
    /// A line more at the end.
    Append,
    /// Another file in its place.
    Replace,
}

impl Theirs {
    fn make(self, path: &Path) {
        match self {
            Theirs::Append => {
                let mut file = File::options().append(true).open(path).expect("opened");
                file.write_all(b"theirs\n").expect("appended");
            }
            Theirs::Replace => {
                let later = path.with_file_name("later");
                fs::write(&later, "theirs, all of it\n").expect("written");
                fs::rename(&later, path).expect("renamed");
            }
        }
    }

    /// What `name` holds then, as [`all`] shows it.
    fn leaves(self, name: &str) -> String {
        match self {
            Theirs::Append => format!("{name}: old\ntheirs"),
            Theirs::Replace => format!("{name}: theirs, all of it"),
        }
    }
}

/// The system calls by which a name loses its file, and that by which an edit says that it is over.
const TAKE: &str = "unlinkat,unlink,renameat,ftruncate";

/// When somebody else comes between.
#[derive(Debug, Clone, Copy)]
struct Moment {
    /// They write before the first of these calls that names the file.
    call: &'static str,
    /// Before which of the calls of [`TAKE`] and `renameat2` behind that one it is killed.
    kill: Option<usize>,
    /// Whether the file system exchanges names.
    exchanges: bool,
}

/// When a file is about to lose its name, by whatever call.
fn about_to_lose(kill: Option<usize>) -> Moment {
    Moment { call: "", kill, exchanges: true }
}

/// What comes of a call beside which somebody else writes `name` when it is about to lose its file: after all looks of the
/// call. `None` where nothing can be traced.
fn raced(
    (root, state): (&Path, &Path),
    words: &[&str],
    (name, theirs): (&str, Theirs),
    moment: Moment,
) -> Option<ExitStatus> {
    let trace = state.join("trace");
    let _ = fs::remove_file(&trace);
    let shown = trace.to_string_lossy();
    // Each of these calls is made a while after the trace says so.
    let (calls, delay) = (format!("trace={TAKE},renameat2"), format!("inject={TAKE}:delay_enter=200000"));
    let fault = if moment.exchanges { "" } else { ":error=EINVAL" };
    let renamed = format!("inject=renameat2:delay_enter=200000{fault}");
    let options = ["-o", &*shown, "-e", &calls, "-e", &delay, "-e", &renamed];
    let is_it = |line: &str| {
        line.contains(&format!(" {}", moment.call))
            && (line.contains(&format!("\"{name}\"")) || line.contains(&format!("/{name}\"")))
    };
    std::thread::scope(|scope| {
        let call = scope.spawn(|| traced(root, state, &options, words));
        let until_about_to = |behind: usize| {
            while !call.is_finished() {
                let calls = fs::read_to_string(&trace).unwrap_or_default();
                let begun = calls.lines().filter(|line| !line.contains(" resumed>"));
                let mut from = begun.skip_while(|line| !is_it(line));
                if let Some(line) = from.nth(behind) {
                    return line.split(' ').next().map(str::to_owned);
                }
                std::thread::yield_now();
            }
            None
        };
        if until_about_to(0).is_some() {
            theirs.make(&root.join(name));
        }
        if let Some(process) = moment.kill.and_then(until_about_to) {
            Command::new("kill").args(["-9", &process]).status().expect("it runs");
        }
        call.join().expect("it ends")
    })
}

/// Some files, that session `s` has read.
fn begin(root: &Path, state: &Path) {
    empty(root);
    for name in ["gone.txt", "a.txt", "from.txt"] {
        fs::write(root.join(name), "old\n").expect("written");
        runs(root, state, &["call", "--session", "s", "read", &format!("file_path={name}")]);
    }
}

fn set(changes: &Value) -> Vec<String> {
    let set = json!({ "changes": changes }).to_string();
    ["call", "--session", "s", "--mode", "accept-edits", "change_set", "--json", &set].map(str::to_owned).to_vec()
}

/// Sets, and the file of each that somebody else changes.
fn sets() -> Vec<(Vec<String>, &'static str)> {
    let delete = |name: &str| json!({"op": "delete", "file_path": name});
    let create = |name: &str| json!({"op": "create", "file_path": name, "content": "new\n"});
    let mv = json!({"op": "move", "file_path": "from.txt", "to": "to.txt"});
    let several = json!([create("new.txt"), delete("gone.txt"), delete("a.txt"), create("a.txt"), mv]);
    // A file gives way to a directory: that is put together in a layer.
    let in_layer = json!([delete("gone.txt"), create("gone.txt/in.txt"), delete("a.txt"), create("a.txt")]);
    vec![
        (set(&json!([delete("gone.txt")])), "gone.txt"),
        (set(&several), "gone.txt"),
        (set(&several), "a.txt"),
        (set(&several), "from.txt"),
        (set(&in_layer), "gone.txt"),
        (set(&in_layer), "a.txt"),
    ]
}

#[test]
fn what_others_write_at_the_last_moment_of_a_delete_or_a_set_is_not_lost() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let mut lost = Vec::new();
    for (set, name) in sets() {
        let words: Vec<&str> = set.iter().map(String::as_str).collect();
        for theirs in [Theirs::Append, Theirs::Replace] {
            begin(root, state);
            let kept = all(root).into_iter().filter(|other| !other.starts_with(name));
            let mut left: Vec<String> = kept.chain([theirs.leaves(name)]).collect();
            left.sort();
            let Some(status) = raced((root, state), &words, (name, theirs), about_to_lose(None)) else { return };
            // What the session has not seen is not taken away.
            if status.success() || all(root) != left {
                lost.push(format!("{words:?}, {name}, {theirs:?}: {status}, {:?}", all(root)));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn nor_where_the_call_is_killed_before_it_could_put_it_back_or_right_behind_that() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let (mut lost, mut killed) = (Vec::new(), 0);
    for (set, name) in sets() {
        let words: Vec<&str> = set.iter().map(String::as_str).collect();
        for (theirs, behind) in [(Theirs::Append, 1), (Theirs::Append, 2), (Theirs::Replace, 1), (Theirs::Replace, 2)] {
            begin(root, state);
            let moment = about_to_lose(Some(behind));
            let Some(status) = raced((root, state), &words, (name, theirs), moment) else { return };
            killed += u32::from(status.signal() == Some(9));
            runs(root, state, &["call", "list_dir"]);
            let now = all(root);
            if !now.contains(&theirs.leaves(name)) || now.iter().any(|name| name.contains(".nika-")) {
                lost.push(format!("{words:?}, {name}, {theirs:?}, {behind}: {now:?}"));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(killed >= 20, "{killed} were killed");
}

/// An edit of a file that was read.
const EDIT: [&str; 9] =
    ["call", "--session", "s", "--mode", "accept-edits", "edit", "file_path=a.txt", "old_string=old", "new_string=new"];

/// Where names can be exchanged, and where the former file is moved aside first; also where the edit is killed before it
/// could look at what came out, before it has put it back, and behind that.
#[test]
fn what_others_write_at_the_last_moment_of_an_edit_is_not_lost_whenever_that_is_killed() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let (mut lost, mut killed) = (Vec::new(), 0);
    for (call, exchanges) in [("renameat2(", true), ("renameat(", false)] {
        for theirs in [Theirs::Append, Theirs::Replace] {
            for kill in [None, Some(1), Some(2), Some(3)] {
                begin(root, state);
                let moment = Moment { call, kill, exchanges };
                let Some(status) = raced((root, state), &EDIT, ("a.txt", theirs), moment) else { return };
                killed += u32::from(status.signal() == Some(9));
                runs(root, state, &["call", "list_dir"]);
                let now = all(root);
                // It is made on top of a line more.
                let made = theirs.leaves("a.txt").replace("old", "new");
                let is_kept = now[0] == theirs.leaves("a.txt") && (kill.is_some() || !status.success());
                if now.len() != 3 || !(is_kept || now[0] == made) {
                    lost.push(format!("{moment:?}, {theirs:?}: {status}, {now:?}"));
                }
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
    assert!(killed >= 10, "{killed} were killed");
}

#[test]
fn an_edit_where_no_names_can_be_exchanged_is_made_or_not_whenever_that_is_killed() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let begin = || begin(root, state);
    begin();
    let old = all(root);
    let new: Vec<String> = old.iter().map(|name| name.replace("a.txt: old", "a.txt: new")).collect();
    let faults = ["-e", "inject=renameat2:error=EINVAL"];
    let settled = killed_where_some_fail((root, state), &begin, (&EDIT, &faults), (&old, &new));
    let Some((kept, made)) = settled else { return };
    assert!(kept >= 5 && made >= 3, "{kept} kept, {made} made");
}

#[test]
fn a_file_that_goes_alone_is_there_or_gone_whenever_that_is_killed() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let begin = || begin(root, state);
    let set = set(&json!([{"op": "delete", "file_path": "gone.txt"}]));
    begin();
    let old = all(root);
    let new: Vec<String> = old.iter().filter(|name| !name.starts_with("gone.txt")).cloned().collect();
    let words: Vec<&str> = set.iter().map(String::as_str).collect();
    let Some((kept, made)) = killed_everywhere((root, state), &begin, &words, (&old, &new)) else { return };
    assert!(kept >= 1 && made >= 2, "{kept} kept, {made} made");
}
