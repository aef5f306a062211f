//! Stories of contents kept, damaged and dropped.

use proptest::prelude::*;

use super::*;

fn world() -> (tempfile::TempDir, Objects) {
    let dir = tempfile::tempdir().unwrap();
    let state = State::open(dir.path()).unwrap();
    let objects = Objects::open(&state).unwrap();
    (dir, objects)
}

/// Text that packs, and bytes that do not.
fn text(len: usize) -> Vec<u8> {
    (0..).flat_map(|n: u32| format!("line {n} of a file\n").into_bytes()).take(len).collect()
}

fn noise(len: usize) -> Vec<u8> {
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(|| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x as u8
    })
    .take(len)
    .collect()
}

#[test]
fn what_goes_in_comes_out() {
    let (_dir, objects) = world();
    for bytes in
        [vec![], b"a".to_vec(), text(511), text(512), text(70_000), text(3 << 20), noise(10_000), noise(2 << 20)]
    {
        let hash = objects.put(&bytes, None).unwrap();
        assert_eq!(hash, Hash::of(&bytes));
        assert!(objects.contains(&hash));
        assert_eq!(objects.size(&hash).unwrap(), bytes.len() as u64);
        assert_eq!(objects.get(&hash).unwrap(), bytes);
        assert!(objects.stored(&hash).unwrap() <= bytes.len() as u64 + HEAD_BYTES as u64);
    }
    let hash = Hash::of(&text(70_000));
    assert!(objects.stored(&hash).unwrap() < 35_000, "text is packed");
}

#[test]
fn kept_once_and_for_us_only() {
    use std::os::unix::fs::MetadataExt;
    let (_dir, objects) = world();
    let hash = objects.put(b"same", None).unwrap();
    let path = objects.path.join(name(&hash));
    let inode = fs::metadata(&path).unwrap().ino();
    assert_eq!(objects.put(b"same", Some(hash.0)).unwrap(), hash);
    let meta = fs::metadata(&path).unwrap();
    assert_eq!((meta.ino(), meta.mode() & 0o777), (inode, 0o600));
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file stays");
}

#[test]
fn never_wrong_bytes() {
    let (_dir, objects) = world();
    for bytes in [text(600), noise(600), b"short".to_vec()] {
        let hash = objects.put(&bytes, None).unwrap();
        let path = objects.path.join(name(&hash));
        let good = fs::read(&path).unwrap();
        for at in 0..good.len() {
            for bit in [0x01, 0x80] {
                let mut bad = good.clone();
                bad[at] ^= bit;
                fs::write(&path, &bad).unwrap();
                match objects.get(&hash) {
                    Err(error @ StoreError::Damaged { .. }) => {
                        assert!(error.to_string().contains(path.to_str().unwrap()))
                    }
                    // lz4 has several spellings of one content.
                    Ok(same) => assert_eq!(same, bytes),
                    Err(other) => panic!("{other}"),
                }
            }
        }
        for end in 0..good.len() {
            fs::write(&path, &good[..end]).unwrap();
            assert!(objects.get(&hash).is_err());
        }
        // A length that would take all memory.
        let mut bad = good.clone();
        bad[4..12].copy_from_slice(&u64::MAX.to_le_bytes());
        fs::write(&path, &bad).unwrap();
        assert!(matches!(objects.get(&hash), Err(StoreError::Damaged { .. })));
    }
    assert!(matches!(objects.get(&Hash::of(b"unknown")), Err(StoreError::Gone(_))));
}

#[test]
fn a_wrong_hash_handed_in_is_found_when_it_matters() {
    let (_dir, objects) = world();
    let hash = objects.put(b"these bytes", Some(Hash::of(b"other bytes").0)).unwrap();
    assert!(matches!(objects.get(&hash), Err(StoreError::Damaged { .. })));
}

/// Sweeps as a collection does.
fn sweep(objects: &Objects, keep: &HashSet<Hash>, now_unix_ms: u64) -> Swept {
    let mut swept = Swept::default();
    for shelf in objects.shelves().unwrap() {
        let idle = objects.idle(&shelf, keep, now_unix_ms, &mut swept).unwrap();
        idle.iter().for_each(|idle| idle.settle(keep, &mut swept));
    }
    swept
}

#[test]
fn swept_unless_kept_or_being_written() {
    let (_dir, objects) = world();
    let kept = objects.put(b"kept", None).unwrap();
    let gone = objects.put(b"gone", None).unwrap();
    let stray = objects.path.join(format!("{}.1.0", name(&gone)));
    fs::write(&stray, "a kill left me").unwrap();
    let now = u64::try_from(
        fs::metadata(&stray).unwrap().modified().unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis(),
    )
    .unwrap();
    let keep = HashSet::from([kept]);
    let swept = sweep(&objects, &keep, now);
    assert_eq!((swept.kept, swept.removed), (2, 1), "somebody may be writing it");
    let swept = sweep(&objects, &keep, now + LONGEST_WRITE.as_millis() as u64 + 10_000);
    assert_eq!((swept.kept, swept.removed), (1, 1));
    assert!(objects.contains(&kept) && !objects.contains(&gone) && !stray.exists());
}

#[test]
fn what_is_named_by_now_stays() {
    let (_dir, objects) = world();
    let hash = objects.put(b"named in between", None).unwrap();
    let mut swept = Swept::default();
    let idle = objects.idle(&objects.shelves().unwrap()[0], &HashSet::new(), 0, &mut swept).unwrap();
    idle[0].settle(&HashSet::from([hash]), &mut swept);
    assert_eq!((swept.kept, swept.removed, objects.contains(&hash)), (1, 0, true));
}

#[test]
fn many_threads_put_the_same() {
    let (_dir, objects) = world();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for n in 0..50_usize {
                    objects.put(&text(1000 + n), None).unwrap();
                }
            });
        }
    });
    for n in 0..50 {
        objects.get(&Hash::of(&text(1000 + n))).unwrap();
    }
    assert_eq!(sweep(&objects, &HashSet::new(), 0).removed, 50);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_survive(bytes in prop::collection::vec(0_u8..8, 0..3000)) {
        let (_dir, objects) = world();
        let hash = objects.put(&bytes, None).unwrap();
        prop_assert_eq!(objects.get(&hash).unwrap(), bytes);
    }
}
