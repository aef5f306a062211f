//! Stories of a store that stays within its bounds while it is used.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use nika_contract::Kind;
use proptest::prelude::*;

use super::collect::Collection;
use super::*;
use crate::objects;
use crate::sessions::{self, ReadEntry, SessionFile};

const NOW: u64 = 4_000_000_000_000;
const DAY: u64 = 24 * 60 * 60 * 1000;
const MIB: u64 = 1 << 20;

fn limits(max_bytes: u64) -> Limits {
    Limits { max_bytes, ..Limits::default() }
}

fn meta(call: &str, at: u64) -> CheckpointMeta {
    let (call, session, tool) = (call.into(), "s".into(), "edit".into());
    CheckpointMeta { call, session, tool, at, asked: false, begun: Begun::default() }
}

fn change(checkpoints: &Checkpoints, meta: &CheckpointMeta, path: &str, before: &[u8]) {
    let preimage = Preimage {
        path: Path::new(path),
        kind: Kind::File,
        bytes: Some(before),
        hash: None,
        mode: Some(0o644),
        mode_left: None,
        after: None,
        more: None,
        dress: None,
        linked: false,
    };
    checkpoints.record(meta, &preimage).unwrap();
}

/// Bytes that do not pack, others for each seed.
fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut x = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 32) as u8
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

/// The bytes that undo takes on disk.
fn on_disk_in(dir: &Path) -> u64 {
    let mut bytes = fs::metadata(dir.join("checkpoints.log")).unwrap().blocks() * 512;
    for shelf in fs::read_dir(dir.join("objects")).unwrap() {
        for entry in fs::read_dir(shelf.unwrap().path()).unwrap() {
            // Gone in between.
            bytes += entry.unwrap().metadata().map_or(0, |meta| meta.blocks() * 512);
        }
    }
    bytes
}

/// Every call that is listed can be taken back, and nothing else lies there.
fn assert_whole(checkpoints: &Checkpoints) {
    let mut named = 0;
    for call in checkpoints.list(usize::MAX, None).unwrap() {
        for change in call.changes {
            checkpoints.objects().get(&change.before.unwrap()).unwrap();
            named += 1;
        }
    }
    let shelves = checkpoints.objects().shelves().unwrap();
    let kept: usize = shelves.iter().map(|shelf| fs::read_dir(shelf).unwrap().count()).sum();
    assert!(kept <= named, "{kept} objects of {named} names");
}

#[test]
fn one_long_process_stays_within_its_bound() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let checkpoints = Checkpoints::bounded(&state, limits(MIB)).unwrap();
    for n in 0..100 {
        change(&checkpoints, &meta(&format!("c{n}"), NOW + n), "/w/a", &noise(900 << 10, n));
    }
    // It goes on beside the calls, so how far behind it is at this moment is the machine's business.
    checkpoints.settle(NOW + 100);
    assert!(on_disk_in(dir.path()) <= 2 * MIB, "{}", on_disk_in(dir.path()));
    assert_eq!(checkpoints.list(1, None).unwrap()[0].call, "c99");
    assert!(matches!(checkpoints.find("c0"), Err(StoreError::NoSuchCall(_))));
    assert_whole(&checkpoints);
}

#[test]
fn many_short_processes_stay_within_it_together() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    for n in 0..100 {
        let checkpoints = Checkpoints::bounded(&state, limits(MIB)).unwrap();
        change(&checkpoints, &meta(&format!("c{n}"), NOW + n), "/w/a", &noise(100 << 10, n));
        checkpoints.settle(NOW + n);
        assert!(on_disk_in(dir.path()) <= 2 * MIB + (200 << 10), "{n}: {}", on_disk_in(dir.path()));
    }
    assert_eq!(Checkpoints::open(&state).unwrap().list(1, None).unwrap()[0].call, "c99");
}

#[test]
fn contents_of_sessions_that_nobody_names_any_more_go_too() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    for n in 0..40 {
        let checkpoints = Checkpoints::bounded(&state, limits(MIB)).unwrap();
        let keeping = checkpoints.keeping().unwrap();
        let hash = keeping.put(&noise(100 << 10, n), None).unwrap();
        let reads = vec![ReadEntry { path: "/w/a".into(), hash, object: Some(hash), stamp: None }];
        let (id, workspace, extra) = ("s".into(), "/w".into(), serde_json::Value::Null);
        let session = SessionFile { id, workspace, reads, grants: vec![], extra, saved_at: NOW };
        sessions::save(&state, &session).unwrap();
        drop(keeping);
        checkpoints.settle(NOW + n);
        assert!(checkpoints.objects().contains(&hash));
        assert!(on_disk_in(dir.path()) <= MIB + (300 << 10), "{n}: {}", on_disk_in(dir.path()));
    }
}

#[test]
fn what_is_too_old_goes_within_a_day() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let month = Limits { max_age_ms: 30 * DAY, ..Limits::default() };
    for day in 0..40 {
        let checkpoints = Checkpoints::bounded(&state, month).unwrap();
        change(&checkpoints, &meta(&format!("c{day}"), NOW + day * DAY), "/w/a", &noise(100, day));
        checkpoints.settle(NOW + day * DAY);
    }
    let kept = Checkpoints::open(&state).unwrap().list(99, None).unwrap();
    assert!((30..=32).contains(&kept.len()), "{}", kept.len());
}

#[test]
fn nothing_goes_while_somebody_keeps_it() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let checkpoints = Checkpoints::open(&state).unwrap();
    let keeping = checkpoints.keeping().unwrap();
    let hash = keeping.put(b"named by nobody yet", None).unwrap();
    let other = Checkpoints::open(&state).unwrap();
    assert_eq!(other.collect(&limits(MIB), NOW).unwrap(), None);
    drop(keeping);
    let collected = other.collect(&limits(MIB), NOW).unwrap().unwrap();
    assert_eq!((collected.objects.removed, checkpoints.objects().contains(&hash)), (1, false));
}

#[test]
fn half_a_call_that_went_on_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let checkpoints = Checkpoints::open(&state).unwrap();
    let (large, small) = (meta("large", NOW), meta("small", NOW + 1));
    change(&checkpoints, &large, "/w/a", &noise(90 << 10, 1));
    change(&checkpoints, &large, "/w/b", &noise(90 << 10, 2));
    change(&checkpoints, &small, "/w/z", b"the last, which stays");
    let collected = checkpoints.collect(&limits(100 << 10), NOW).unwrap().unwrap();
    assert_eq!((collected.calls_dropped, collected.calls_kept), (1, 1));
    change(&checkpoints, &large, "/w/c", b"the rest of it");
    change(&checkpoints, &small, "/w/a", b"another's");
    assert!(matches!(checkpoints.find("large"), Err(StoreError::NoSuchCall(_))));
    let listed = checkpoints.list(9, None).unwrap();
    assert_eq!(listed.iter().map(|call| call.call.as_str()).collect::<Vec<_>>(), ["small"]);
    // What it kept since is of no use, and goes with the next collection.
    let collected = checkpoints.collect(&limits(100 << 10), NOW).unwrap().unwrap();
    assert_eq!((collected.calls_dropped, collected.calls_kept, collected.objects.kept), (1, 1, 2));
}

#[test]
fn a_held_call_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let checkpoints = Checkpoints::open(&state).unwrap();
    let job = meta("job", NOW);
    let hold = checkpoints.hold("job").unwrap();
    change(&checkpoints, &job, "/w/a", &noise(90 << 10, 1));
    change(&checkpoints, &job, "/w/b", &noise(90 << 10, 2));
    checkpoints.collect(&limits(100 << 10), NOW).unwrap().unwrap();
    change(&checkpoints, &job, "/w/c", b"more");
    assert_eq!(checkpoints.find("job").unwrap().changes.len(), 3);
    assert_whole(&checkpoints);
    drop(hold);
    change(&checkpoints, &meta("next", NOW), "/w/a", b"the last, which stays");
    checkpoints.collect(&limits(100 << 10), NOW).unwrap().unwrap();
    assert!(checkpoints.find("job").is_err());
}

/// A collection that is killed after each of its steps.
#[test]
fn killed_at_any_step_the_next_one_finishes() {
    type Step = fn(&mut Collection<'_>);
    let shorten: Step = |collection| {
        collection.shorten(&limits(100 << 10)).unwrap();
    };
    let sweep: Step = |collection| {
        collection.sweep().unwrap();
    };
    let half_sweep: Step = |collection| {
        let shelf = collection.of.objects.shelves().unwrap().swap_remove(0);
        let mut swept = objects::Swept::default();
        let idle = collection.of.objects.idle(&shelf, &collection.keep, NOW, &mut swept).unwrap();
        idle.iter().for_each(|idle| idle.settle(&collection.keep, &mut swept));
    };
    let lives: [&[Step]; 4] = [&[], &[shorten], &[shorten, half_sweep], &[shorten, sweep]];
    for (life, steps) in lives.iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let state = State::open(dir.path()).unwrap();
        let checkpoints = Checkpoints::open(&state).unwrap();
        for n in 0..50 {
            change(&checkpoints, &meta(&format!("c{n}"), NOW + n), "/w/a", &noise(40 << 10, n));
        }
        let mut collection = Collection::begin(&checkpoints, NOW).unwrap().unwrap();
        steps.iter().for_each(|step| step(&mut collection));
        drop(collection);
        // Somebody goes on in between, also with what is about to go.
        for n in [0, 48, 60] {
            change(&checkpoints, &meta(&format!("d{n}"), NOW + 50 + n), "/w/a", &noise(40 << 10, n));
        }
        let next = Checkpoints::bounded(&state, limits(100 << 10)).unwrap();
        next.settle(NOW + 100);
        assert!(on_disk_in(dir.path()) < 200 << 10, "{life}: {}", on_disk_in(dir.path()));
        let left: Vec<String> = next.list(9, None).unwrap().into_iter().map(|call| call.call).collect();
        assert_eq!(left, ["d60", "d48"], "{life}");
        assert_whole(&next);
    }
}

#[test]
fn a_dead_call_that_changed_nothing_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let checkpoints = Checkpoints::open(&state).unwrap();
    change(&checkpoints, &meta("c1", NOW), "/w/a", b"one");
    let living = checkpoints.hold("c2").unwrap();
    fs::write(dir.path().join("recording/dead"), "").unwrap();
    checkpoints.collect(&limits(MIB), NOW).unwrap().unwrap();
    assert!(!dir.path().join("recording/dead").exists() && dir.path().join("recording/c2").exists());
    drop(living);
}

/// While a collection goes on, a call names again what it is about to drop: that was added by nobody, and stays.
#[test]
fn what_is_named_again_meanwhile_counts() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let checkpoints = Checkpoints::open(&state).unwrap();
    for n in 0..80 {
        change(&checkpoints, &meta(&format!("c{n}"), NOW + n), "/w/a", &noise(40 << 10, n));
    }
    let mut collection = Collection::begin(&checkpoints, NOW).unwrap().unwrap();
    assert!(collection.shorten(&limits(100 << 10)).unwrap().calls_dropped > 70);
    for n in 0..70 {
        change(&checkpoints, &meta(&format!("d{n}"), NOW + 100 + n), "/w/a", &noise(40 << 10, n));
    }
    collection.sweep().unwrap();
    collection.end().unwrap();
    assert!(on_disk_in(dir.path()) > 2 * MIB);
    Checkpoints::bounded(&state, limits(100 << 10)).unwrap().settle(NOW + 200);
    assert!(on_disk_in(dir.path()) < MIB, "{}", on_disk_in(dir.path()));
}

/// Some processes of some threads that record contents, some of them the same, and collect whenever it is their turn.
fn at_once(processes: u64, threads: u64, calls: u64, bytes: usize, max_bytes: u64) {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    std::thread::scope(|scope| {
        for process in 0..processes {
            let checkpoints = Checkpoints::bounded(&state, limits(max_bytes)).unwrap();
            for thread in 0..threads {
                let checkpoints = checkpoints.clone();
                scope.spawn(move || {
                    for n in 0..calls {
                        let call = meta(&format!("c{process}-{thread}-{n}"), NOW + n);
                        change(&checkpoints, &call, "/w/a", &noise(bytes, n * 3 + thread % 2));
                        change(&checkpoints, &call, "/w/b", &noise(bytes / 2, process * 1000 + n));
                    }
                    checkpoints.settle(NOW + calls);
                });
            }
        }
    });
    let checkpoints = Checkpoints::bounded(&state, limits(max_bytes)).unwrap();
    checkpoints.settle(NOW + calls);
    let most = 2 * max_bytes.max(MIB) + (processes * threads * 2 * bytes as u64);
    assert!(on_disk_in(dir.path()) <= most, "{} of {most}", on_disk_in(dir.path()));
    let calls = checkpoints.list(usize::MAX, None).unwrap();
    assert!(!calls.is_empty());
    let mut seen: HashMap<Hash, usize> = HashMap::new();
    for call in &calls {
        assert_eq!(call.changes.len(), 2, "{}", call.call);
        for change in &call.changes {
            let before = change.before.unwrap();
            seen.entry(before).or_insert_with(|| checkpoints.objects().get(&before).unwrap().len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5))]

    #[test]
    fn any_number_at_once_keep_what_they_say_and_no_more(
        (processes, threads) in (1_u64..4, 1_u64..4), kilobytes in 1_usize..300, max_bytes in MIB..4 * MIB,
    ) {
        at_once(processes, threads, (3000 / kilobytes as u64).clamp(12, 80), kilobytes << 10, max_bytes);
    }
}
