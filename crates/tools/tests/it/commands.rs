//! `undo` of what commands did over a layer: all of it, whatever it was, and back again.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use nika_contract::{CallId, Cancel, Clock, Cx, Progress, SessionState, Silent};
use nika_guard::{Effect, Effects, Mode, Policy};
use nika_host::fs::{Fsync, Settings, Workspace};
use nika_host::overlay::{Applied, Bounds, Layer};
use nika_store::checkpoints::Begun;
use nika_store::{CallUndo, CheckpointMeta, Checkpoints, State};
use nika_testkit::{World, world};
use serde_json::json;

#[derive(Debug)]
struct Now;

impl Clock for Now {
    fn unix_ms(&self) -> u64 {
        1_800_000_000_000
    }
}

/// Runs a script over a layer and applies it as the call `id`. `None` where this machine grants no overlay.
fn command(world: &World, id: &str, script: &str, bounds: &Bounds) -> Option<Applied> {
    let state = State::open(&world.state_dir()).unwrap();
    let checkpoints = Checkpoints::open(&state).unwrap();
    let files = Workspace::open(Settings {
        roots: vec![world.root().to_path_buf()],
        readable: Vec::new(),
        home: None,
        git: None,
        state: state.dir().to_path_buf(),
        own: state.dir().to_path_buf(),
        fsync: Fsync::Off,
    })
    .unwrap();
    let root = files.root().to_path_buf();
    let effects = Effects::one(Effect::Write(files.place(root.clone()).tree()));
    let permit = Arc::new(Policy::default().judge(&Mode::AcceptAll.into(), &effects).permit(None).unwrap());
    let layer = Layer::prepare(&permit, files.state(), &root).unwrap();
    let cover = layer.cover(&permit);
    let mounted = "mount -t overlay overlay -o \"userxattr,lowerdir=$ROOT,upperdir=$UPPER,workdir=$WORK\" \"$ROOT\"";
    let ran = Command::new("unshare")
        .args(["-rm", "bash", "-c", &format!("{mounted} || exit 99; set -e; umask 022; cd \"$ROOT\"; {script}")])
        .envs([("ROOT", &root), ("UPPER", &cover.upper), ("WORK", &cover.work)])
        .current_dir("/")
        .status();
    match ran.ok().and_then(|status| status.code()) {
        Some(0) => {}
        Some(99 | 1) | None => {
            eprintln!("skipped: no overlay can be mounted here");
            return None;
        }
        Some(status) => panic!("{script}: {status}"),
    }
    let meta = CheckpointMeta {
        call: id.into(),
        session: "test".into(),
        tool: "bash".into(),
        at: Now.unix_ms(),
        asked: false,
        begun: Begun::default(),
    };
    let (call, session, cancel) = (CallId(id.into()), SessionState::new("test", true), Cancel::default());
    let progress: Arc<dyn Progress> = Arc::new(Silent);
    let cx = Cx {
        permit: &permit,
        call: &call,
        session: &session,
        cancel: &cancel,
        progress: &progress,
        undo: &CallUndo { checkpoints: &checkpoints, meta: &meta },
        clock: &Now,
        reply: None,
        purse: &nika_contract::Unbounded,
        beside: &nika_contract::Alone::default(),
    };
    let changes = layer.changes(&permit).unwrap();
    let mut locked = files.lock(&permit).unwrap().unwrap();
    Some(locked.apply(&cx, &[changes], bounds).unwrap())
}

fn bare(world: &World, script: &str) {
    let script = format!("set -e; umask 022; {script}");
    assert!(Command::new("bash").args(["-c", &script]).current_dir(world.root()).status().unwrap().success());
}

/// Kind, rights and content of every entry.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(dir) = left.pop() {
        for path in fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()) {
            let meta = fs::symlink_metadata(&path).unwrap();
            let what = if meta.is_dir() {
                format!("directory {:o}", meta.mode() & 0o7777)
            } else if meta.is_symlink() {
                format!("link {:?}", fs::read_link(&path).unwrap())
            } else {
                format!("file {:o} {:?}", meta.mode() & 0o7777, nika_store::Hash::of(&fs::read(&path).unwrap()))
            };
            all.insert(path.strip_prefix(root).unwrap().to_path_buf(), what);
            if meta.is_dir() {
                left.push(path);
            }
        }
    }
    all
}

fn alike(found: &BTreeMap<PathBuf, String>, wanted: &BTreeMap<PathBuf, String>, when: &str) {
    for path in found.keys().chain(wanted.keys()) {
        assert_eq!(found.get(path), wanted.get(path), "{when}: {}", path.display());
    }
}

/// What is there, what the command does.
const CASES: &[(&str, &str)] = &[
    ("echo a >a; echo b >b", "echo n >new; echo more >>a; rm b"),
    ("echo a >a; echo b >b", "mv a b"),
    ("mkdir -p d/e; echo a >d/e/a; ln -s a d/l", "mv d n; echo b >n/e/b"),
    (
        "mkdir -p d/e; echo a >d/a; echo b >d/e/b; echo s >d/s",
        "rm -rf d; mkdir d; echo a >d/a; echo c >d/c; chmod 600 d/a; echo s >d/s",
    ),
    ("mkdir -p d/e; mkdir -m 700 d/f; echo a >d/a; echo b >d/e/b", "rm -rf d"),
    ("echo a >a; chmod 640 a; mkdir d", "chmod 755 a; chmod 700 d"),
    ("true", "mkdir -p x/y/z; echo 1 >x/1; echo 2 >x/y/2; ln -s 1 x/l; mkdir -m 700 p; chmod 600 x/1"),
    ("ln -s a l; echo f >f", "ln -sfn b l; rm f; ln -s l f"),
    ("echo a >a; ln -s a l", "rm l; echo f >l"),
    ("echo a >a", "rm a; mkdir a; echo b >a/b; mkdir a/c; echo d >a/c/d"),
    ("mkdir -p a/c; echo b >a/b; echo d >a/c/d", "rm -rf a; echo a >a"),
    ("mkdir -p d/x; echo 1 >d/x/1; echo y >d/y", "rm -rf d; mkdir d; echo x >d/x; mkdir d/y; echo z >d/y/z"),
    (
        r#"touch $'new\nline' $'\xff\xfe'; mkdir $'d\xff'; echo 1 >$'d\xff/1'"#,
        r#"rm $'new\nline'; echo 1 >$'\xff\xfe'; rm -r $'d\xff'; touch $'\xfd'"#,
    ),
    ("true", "echo bin >p; ln p q; head -c 3000000 /dev/urandom >big"),
    ("head -c 3000000 /dev/urandom >big; head -c 2000000 /dev/zero >zero", "echo x >>big; chmod 600 zero"),
    (
        "printf 'target\\n' >.gitignore; mkdir target; echo o >target/o",
        "echo n >target/o; echo m >target/m; rm .gitignore",
    ),
];

#[test]
fn whatever_a_command_did_is_taken_back_and_made_again() {
    for (before, script) in CASES {
        let world = world().mode(Mode::AcceptEdits);
        bare(&world, before);
        let old = snapshot(world.root());
        if command(&world, "c-shell", script, &Bounds::default()).is_none() {
            return;
        }
        let new = snapshot(world.root());
        assert_ne!(old, new, "{script}");
        world.call("undo", json!({"call_id": "c-shell", "dry_run": true})).says("Would take back");
        alike(&snapshot(world.root()), &new, script);
        world.call("undo", json!({"call_id": "c-shell"})).says("Took back");
        alike(&snapshot(world.root()), &old, script);
        world.call("undo", json!({"call_id": "c-shell"})).refused(221);
        let listed = world.call("checkpoints", json!({}));
        let undo = listed.data()["checkpoints"][0]["call_id"].as_str().unwrap().to_owned();
        world.call("undo", json!({"call_id": undo})).says("Took back");
        alike(&snapshot(world.root()), &new, script);
    }
}

#[test]
fn a_later_change_is_kept_or_shown_and_nothing_taken_back() {
    let world = world();
    bare(&world, "printf 'one\\n2\\n3\\n4\\n5\\nsix\\n' >a; echo b >b; mkdir d; echo 1 >d/1");
    if command(&world, "c-1", "sed -i s/one/ONE/ a; echo B >b; rm -r d; mkdir n; echo 1 >n/1", &Bounds::default())
        .is_none()
    {
        return;
    }
    bare(&world, "echo other >n/other; echo C >b");
    let start = snapshot(world.root());
    let refused = world.call("undo", json!({"call_id": "c-1"}));
    assert!(refused.refused(217).message.contains("b was changed again"));
    // The content of `a` after the call is nowhere kept, so a later change cannot be merged.
    bare(&world, "echo B >b; sed -i s/six/SIX/ a");
    assert!(world.call("undo", json!({"call_id": "c-1"})).refused(217).message.contains("a was changed again"));
    bare(&world, "sed -i s/SIX/six/ a; echo C >b");
    alike(&snapshot(world.root()), &start, "refused");
    bare(&world, "echo B >b");
    let undone = world.call("undo", json!({"call_id": "c-1"}));
    undone.says("\n+++ b/d/1\n").says("[stays, as something else lies in it: n/]");
    assert!(!undone.text().contains("+++ b/d\n"), "a directory is no file: {}", undone.text());
    // What came into a new directory since stays there.
    assert_eq!(world.tree(), ["a", "b", "d/", "d/1", "n/", "n/other"]);
}

#[test]
fn edits_and_commands_are_taken_back_in_turn() {
    let world = world().file("a", "1\n").file("c", "x\n");
    world.call("read", json!({"file_path": "a"})).ok();
    world.call("edit", json!({"file_path": "a", "old_string": "1", "new_string": "2"})).ok();
    if command(&world, "c-2", "echo 3 >a; head -c 2000000 /dev/zero >c; echo n >n", &Bounds::default()).is_none() {
        return;
    }
    if command(&world, "c-3", "rm c n; echo 4 >a", &Bounds::default()).is_none() {
        return;
    }
    world.call("undo", json!({"steps": 2})).ok();
    assert_eq!((world.text("a").as_str(), world.text("c").as_str()), ("2\n", "x\n"));
    assert_eq!(world.tree(), ["a", "c"]);
    world.call("undo", json!({})).ok();
    assert_eq!(world.text("a"), "1\n");
}

#[test]
fn what_an_undo_of_a_command_brings_back_counts_as_read_where_it_was() {
    let world = world().file("a", "1\n").file("b", "1\n");
    let edit = |path: &str| world.call("edit", json!({"file_path": path, "old_string": "1", "new_string": "2"}));
    world.call("read", json!({"file_path": "a"})).ok();
    if command(&world, "c-1", "rm a b", &Bounds::default()).is_none() {
        return;
    }
    world.call("undo", json!({"call_id": "c-1"})).ok();
    edit("a").ok();
    edit("b").refused(203);
    command(&world, "c-2", "echo 3 >a", &Bounds::default());
    world.call("undo", json!({"call_id": "c-2"})).ok();
    world.call("edit", json!({"file_path": "a", "old_string": "2", "new_string": "4"})).ok();
}

#[test]
fn a_large_file_is_known_again_after_a_later_call_was_taken_back() {
    let world = world().file("a", "x\n");
    if command(&world, "c-1", "head -c 2000000 /dev/zero >a", &Bounds::default()).is_none() {
        return;
    }
    command(&world, "c-2", "echo y >a", &Bounds::default());
    world.call("undo", json!({"call_id": "c-2"})).ok();
    assert_eq!(world.on_disk("a").len(), 2_000_000);
    world.call("undo", json!({"call_id": "c-1"})).ok();
    assert_eq!(world.text("a"), "x\n");
}

#[test]
fn what_was_too_large_to_keep_is_named_and_nothing_is_taken_back() {
    let world = world();
    bare(&world, "head -c 5000 /dev/zero >big; echo a >a");
    let bounds = Bounds { file_bytes: 1000, ..Bounds::default() };
    let Some(applied) = command(&world, "c-1", "rm big; echo b >a", &bounds) else { return };
    assert_eq!(applied.not_kept, [world.root().canonicalize().unwrap().join("big")]);
    let refused = world.call("undo", json!({"call_id": "c-1"}));
    assert!(refused.refused(221).message.contains("what stood at big was not kept"));
    assert_eq!(world.text("a"), "b\n");
    world.call("checkpoints", json!({})).says("big (deleted)");
}

#[test]
fn thousands_of_files_come_back() {
    let world = world();
    bare(&world, "for d in {1..20}; do mkdir $d; for i in {1..100}; do echo $d $i >$d/$i; done; done");
    let old = snapshot(world.root());
    if command(
        &world,
        "c-1",
        "rm -r {1..10}; for d in {11..20}; do for i in {1..100}; do echo x >$d/$i; done; done",
        &Bounds::default(),
    )
    .is_none()
    {
        return;
    }
    let began = std::time::Instant::now();
    world.call("undo", json!({"call_id": "c-1"})).ok();
    eprintln!("2,000 files taken back in {} ms", began.elapsed().as_millis());
    alike(&snapshot(world.root()), &old, "thousands");
}
