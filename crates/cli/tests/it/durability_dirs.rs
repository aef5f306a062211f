//! Directories that a change makes or empties come and go with it, whenever it is killed; those of others stay.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use serde_json::json;

use crate::durability::{answered, empty, nika, traced};
use crate::durability_notes::sets;

const KILLED_AT: [&str; 10] = [
    "mkdirat",
    "fdatasync",
    "fsync",
    "linkat",
    "symlinkat",
    "rename",
    "renameat",
    "renameat2",
    "unlinkat",
    "ftruncate",
];

/// Every path below, directories with a slash, links with where they point, files with their content.
pub fn all(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(dir) = open.pop() {
        for path in std::fs::read_dir(&dir).expect("a directory").flatten().map(|entry| entry.path()) {
            let name = path.strip_prefix(root).expect("below").display().to_string();
            if let Ok(target) = std::fs::read_link(&path) {
                found.push(format!("{name} -> {}", target.display()));
            } else if path.is_dir() {
                found.push(format!("{name}/"));
                open.push(path);
            } else {
                found.push(format!("{name}: {}", std::fs::read_to_string(&path).expect("text").trim()));
            }
        }
    }
    found.sort();
    found
}

pub fn runs(root: &Path, state: &Path, words: &[&str]) {
    assert!(nika(root, state).args(words).status().expect("it runs").success(), "{words:?}");
}

/// Kills `words` at each system call that changes something, after `begin`, and has the next start settle it: what stands
/// then is all as it was or all as it shall be. How often each; `None` where nothing can be traced.
pub fn killed_everywhere(
    (root, state): (&Path, &Path),
    begin: &dyn Fn(),
    words: &[&str],
    (old, new): (&[String], &[String]),
) -> Option<(u32, u32)> {
    killed_where_some_fail((root, state), begin, (words, &[]), (old, new))
}

/// The same where system calls fail: `faults` are further options for `strace`.
pub fn killed_where_some_fail(
    (root, state): (&Path, &Path),
    begin: &dyn Fn(),
    (words, faults): (&[&str], &[&str]),
    (old, new): (&[String], &[String]),
) -> Option<(u32, u32)> {
    let (mut kept, mut made) = (0, 0);
    // Of two injections into one system call `strace` keeps the last; and one that fails changes nothing.
    let fails = |call: &&str| faults.iter().any(|fault| fault.starts_with(&format!("inject={call}:")));
    for call in KILLED_AT.into_iter().filter(|call| !fails(call)) {
        for nth in 1.. {
            assert!(nth < 100, "{call} has no last one");
            begin();
            let kill = format!("inject={call}:signal=KILL:when={nth}");
            let options = [&["-o", "/dev/null", "-e", "trace=desc,file", "-e", &kill], faults].concat();
            let status = traced(root, state, &options, words)?;
            runs(root, state, &["call", "list_dir"]);
            let now = all(root);
            assert!(now == old || now == new, "{call} {nth}: {now:?}");
            if status.signal() != Some(9) {
                assert!(status.success() && now == new, "{call} {nth}: nothing was in its way");
                break;
            }
            *(if now == old { &mut kept } else { &mut made }) += 1;
        }
    }
    Some((kept, made))
}

pub const UNDO: [&str; 3] = ["undo", "--mode", "accept-edits"];

fn set() -> String {
    let set = json!({"changes": [
        {"op": "delete", "file_path": "a.txt"},
        {"op": "create", "file_path": "a.txt", "content": "new\n"},
        {"op": "create", "file_path": "x/y/n.txt", "content": "new\n"},
        {"op": "create", "file_path": "x/z/m.txt", "content": "new\n"},
        {"op": "create", "file_path": "there/w/o.txt", "content": "new\n"},
    ]});
    set.to_string()
}

#[test]
fn directories_that_a_killed_set_made_go_with_it_and_with_its_undo() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let begin = || {
        empty(root);
        std::fs::create_dir(root.join("there")).expect("made");
        std::fs::write(root.join("a.txt"), "old\n").expect("written");
    };
    let set = set();
    let words = ["call", "change_set", "--mode", "accept-edits", "--json", &set];
    begin();
    let old = all(root);
    runs(root, state, &words);
    let new = all(root);
    assert_eq!((old.len(), new.len()), (2, 9), "{new:?}");
    let Some((kept, made)) = killed_everywhere((root, state), &begin, &words, (&old, &new)) else { return };
    assert!(kept >= 12 && made >= 5, "{kept} kept, {made} made");
    let done = || {
        begin();
        runs(root, state, &words);
    };
    let (kept, made) = killed_everywhere((root, state), &done, &UNDO, (&new, &old)).expect("traced before");
    assert!(kept >= 5 && made >= 5, "{kept} kept, {made} made");
}

#[test]
fn directories_that_a_killed_undo_made_again_go_and_those_that_it_empties_too() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    // Files that a set deletes, in directories that somebody removes then.
    let set = json!({"changes": [
        {"op": "delete", "file_path": "a.txt"},
        {"op": "delete", "file_path": "x/y/n.txt"},
    ]});
    let set = set.to_string();
    let begin = || {
        empty(root);
        std::fs::create_dir_all(root.join("x/y")).expect("made");
        std::fs::write(root.join("a.txt"), "old\n").expect("written");
        std::fs::write(root.join("x/y/n.txt"), "old\n").expect("written");
    };
    let deleted = || {
        begin();
        runs(root, state, &["call", "change_set", "--mode", "accept-edits", "--json", &set]);
        std::fs::remove_dir_all(root.join("x")).expect("removed");
    };
    begin();
    let was = all(root);
    let Some((kept, made)) = killed_everywhere((root, state), &deleted, &UNDO, (&[], &was)) else { return };
    assert!(kept >= 8 && made >= 3, "{kept} kept, {made} made");
    // One file alone, with the directories above it.
    let written = || {
        empty(root);
        runs(root, state, &["call", "write", "file_path=p/q/r.txt", "content=new", "--mode", "accept-edits"]);
    };
    written();
    let new = all(root);
    let (_, made) = killed_everywhere((root, state), &written, &UNDO, (&new, &[])).expect("traced before");
    assert!(made >= 3, "{made} made");
}

#[test]
fn a_set_is_whole_or_nothing_also_where_names_can_neither_be_exchanged_nor_given_without_replacing() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let set = json!({"changes": [
        {"op": "delete", "file_path": "a.txt"},
        {"op": "create", "file_path": "a.txt", "content": "new\n"},
        {"op": "create", "file_path": "n.txt", "content": "new\n"},
        {"op": "create", "file_path": "x/y/n.txt", "content": "new\n"},
        {"op": "delete", "file_path": "gone.txt"},
        {"op": "move", "file_path": "from.txt", "to": "to.txt"},
    ]});
    let set = set.to_string();
    let words = ["call", "change_set", "--mode", "accept-edits", "--json", &set];
    let begin = || {
        empty(root);
        for name in ["a", "gone", "from"] {
            std::fs::write(root.join(format!("{name}.txt")), format!("old {name}\n")).expect("written");
        }
    };
    begin();
    let old = all(root);
    runs(root, state, &words);
    let new = all(root);
    let faults = ["-e", "inject=renameat2:error=EINVAL"];
    let settled = killed_where_some_fail((root, state), &begin, (&words, &faults), (&old, &new));
    let Some((kept, made)) = settled else { return };
    assert!(kept >= 8 && made >= 8, "{kept} kept, {made} made");
}

#[test]
fn what_cannot_be_taken_back_now_is_taken_back_by_the_next_start() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    for set in sets().map(|(_, set)| set.to_string()) {
        empty(root);
        for name in ["a", "b"] {
            std::fs::write(root.join(format!("{name}.txt")), format!("old {name}\n")).expect("written");
        }
        let old = all(root);
        let words = ["call", "change_set", "--mode", "accept-edits", "--json", &set];
        // The first move is made, and nothing can be moved from then on.
        let options = ["-o", "/dev/null", "-e", "trace=renameat2", "-e", "inject=renameat2:error=EIO:when=2+"];
        let Some(status) = traced(root, state, &options, &words) else { return };
        assert!(!status.success());
        assert_ne!(all(root), old, "the first one stands");
        runs(root, state, &["call", "list_dir"]);
        assert_eq!(all(root), old, "{set}");
    }
}

#[test]
fn the_answer_of_a_command_does_not_say_that_nothing_was_applied_where_a_part_stands() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    for name in ["a", "b"] {
        std::fs::write(root.join(name), "old\n").expect("written");
    }
    let old = all(root);
    let words = ["call", "--mode", "workspace", "bash", "command=rm a b"];
    let options = ["-o", "/dev/null", "-e", "trace=renameat2", "-e", "inject=renameat2:error=EIO:when=2+"];
    let Some(ran) = answered(root, state, &options, &words) else { return };
    assert!(!ran.status.success());
    assert_eq!(all(root), ["b: old"], "the first one is gone");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(
        said.contains("not applied as a whole") && said.contains("a part of what was changed before stands"),
        "{said}"
    );
    assert!(!said.contains("nothing was applied"), "{said}");
    runs(root, state, &["call", "list_dir"]);
    assert_eq!(all(root), old);
}

/// As where a network file system can do neither. A second name that is taken off again would take off what others put there.
#[test]
fn what_goes_leaves_its_place_in_one_call_also_where_names_cannot_be_given_without_replacing() {
    for (kind, set) in sets() {
        let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let (root, state) = (root.path(), state.path());
        for name in ["a", "b"] {
            std::fs::write(root.join(format!("{name}.txt")), "old\n").expect("written");
        }
        let (set, trace) = (set.to_string(), state.join("trace"));
        let words = ["call", "change_set", "--mode", "accept-edits", "--json", &set];
        let calls = ["-e", "trace=renameat,renameat2,linkat", "-e", "inject=renameat2:error=EINVAL"];
        let trace_path = trace.to_string_lossy();
        let options = [&["-y", "-o", &*trace_path][..], &calls].concat();
        let Some(status) = traced(root, state, &options, &words) else { return };
        assert!(status.success(), "{kind}");
        let calls = std::fs::read_to_string(&trace).expect("a trace");
        let place = root.canonicalize().expect("it is there").display().to_string();
        for name in ["a.txt", "b.txt"] {
            let takes = |call: &str| {
                let from = calls.lines().filter_map(|line| line.split_once(&format!(" {call}("))).map(|(_, from)| from);
                let is_it = format!("<{place}>, \"{name}\", ");
                from.filter(|from| from.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(&is_it)).count()
            };
            assert_eq!((takes("linkat"), takes("renameat")), (0, 1), "{kind} {name}:\n{calls}");
        }
    }
}

/// A disk that may not be written any more, from some moment on.
#[test]
fn a_note_that_can_neither_be_changed_nor_removed_is_named() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let [(_, set), _] = sets();
    let set = set.to_string();
    let words = ["call", "change_set", "--mode", "accept-edits", "--json", &set];
    for from in 1..6 {
        empty(root);
        for name in ["a", "b"] {
            std::fs::write(root.join(format!("{name}.txt")), "old\n").expect("written");
        }
        let old = all(root);
        let renames = format!("inject=rename:error=EROFS:when={from}+");
        let faults = ["-e", "inject=renameat2:error=EIO:when=2", "-e", &renames, "-e", "inject=unlink:error=EROFS"];
        let options = [&["-o", "/dev/null", "-e", "trace=rename,renameat2,unlink"][..], &faults].concat();
        let Some(ran) = answered(root, state, &options, &words) else { return };
        let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
        if said.contains("can neither be changed nor removed") {
            let stands: Vec<String> = all(root).into_iter().filter(|name| !name.starts_with(".nika-")).collect();
            assert_eq!(stands, old);
            assert!(!said.contains("a part of what was changed"), "{said}");
            return;
        }
    }
    panic!("no set was stopped behind its decision");
}

#[test]
fn directories_that_others_made_after_a_kill_stay() {
    let (root, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (root, state) = (root.path(), state.path());
    let set = set();
    let words = ["call", "change_set", "--mode", "accept-edits", "--json", &set];
    for kill in ["mkdirat:signal=KILL:when=1", "mkdirat:signal=KILL:when=3", "linkat:signal=KILL:when=1"] {
        empty(root);
        std::fs::create_dir(root.join("there")).expect("made");
        std::fs::write(root.join("a.txt"), "old\n").expect("written");
        let kill = format!("inject={kill}");
        let options = ["-o", "/dev/null", "-e", "trace=desc,file", "-e", &kill];
        let Some(status) = traced(root, state, &options, &words) else { return };
        assert_eq!(status.signal(), Some(9), "{kill}");
        // Ours are put away, and theirs have the names.
        let _ = std::fs::remove_dir_all(root.join("x"));
        std::fs::create_dir_all(root.join("x/y")).expect("made");
        if let Ok(ours) = std::fs::metadata(root.join("there/w")) {
            assert!(ours.is_dir());
            std::fs::write(root.join("there/w/theirs"), "theirs\n").expect("written");
        }
        runs(root, state, &["call", "list_dir"]);
        let now = all(root);
        assert!(now.contains(&"x/".to_owned()) && now.contains(&"x/y/".to_owned()), "{kill}: {now:?}");
        assert_eq!(now.contains(&"there/w/theirs: theirs".to_owned()), kill.contains("linkat"), "{kill}: {now:?}");
        assert!(!now.iter().any(|name| name.contains(".nika-")), "{kill}: {now:?}");
    }
}
