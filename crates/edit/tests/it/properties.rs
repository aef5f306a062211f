//! What holds for all inputs. `fuzz_one` checks plans, inverses, rebases and merges as it goes.

use nika_edit::{Replace, decode, fuzz_one, merge3, plan};
use proptest::prelude::*;

fn lines() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(0u8..6, 0..24)
}

/// A file of few different lines, so that copies are common.
fn file(lines: &[u8]) -> Vec<u8> {
    lines.iter().flat_map(|n| format!("line {n}\n").into_bytes()).collect()
}

fn changed() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, Vec<u8>)> {
    let edit = || (0usize..24, 0usize..4, proptest::collection::vec(6u8..12, 0..3));
    (lines(), edit(), edit()).prop_map(|(base, a, b)| {
        let apply = |(at, gone, new): (usize, usize, Vec<u8>), add: u8| {
            let mut side = base.clone();
            let at = at.min(side.len());
            let end = (at + gone).min(side.len());
            side.splice(at..end, new.into_iter().map(|n| n + add));
            side
        };
        let (ours, theirs) = (apply(a, 0), apply(b, 10));
        (file(&base), file(&ours), file(&theirs))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fuzz_inputs_hold(data in proptest::collection::vec(any::<u8>(), 0..300)) {
        fuzz_one(&data);
    }

    #[test]
    fn decoding_and_planning_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), old in ".{0,8}", new in ".{0,8}") {
        let _ = decode(&bytes);
        let _ = plan(&bytes, &Replace { old: &old, new: &new, all: true });
    }

    #[test]
    fn merges_lose_no_line_of_either_side((base, ours, theirs) in changed()) {
        if let Ok(merged) = merge3(&base, &ours, &theirs) {
            // New lines are numbered apart, so each can be looked for.
            for side in [&ours, &theirs] {
                for line in side.split_inclusive(|b| *b == b'\n').filter(|line| !base.windows(line.len()).any(|w| w == *line)) {
                    let count = |text: &[u8]| text.split_inclusive(|b| *b == b'\n').filter(|other| *other == line).count();
                    prop_assert_eq!(count(&merged.bytes), count(side));
                }
            }
            // And every line is somebody's.
            let total = |text: &[u8]| text.iter().filter(|b| **b == b'\n').count() as isize;
            prop_assert!(total(&merged.bytes) - total(&base) == total(&ours) + total(&theirs) - 2 * total(&base) || merged.same > 0);
        }
        prop_assert_eq!(merge3(&base, &ours, &base).unwrap().bytes, ours.clone());
        prop_assert_eq!(merge3(&base, &base, &theirs).unwrap().bytes, theirs);
    }
}
