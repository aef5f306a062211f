//! Differences between two lists of lines, in bounded time and without a clock.
//!
//! Common beginning and end first; then lines that are unique on both sides anchor the rest
//! (patience), and only short gaps between anchors get Myers' algorithm. A gap too long for
//! that is one replaced block: correct, if not minimal.

use std::collections::HashMap;
use std::ops::Range;

/// Lines that differ: `old` gives way to `new`. One of the two may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Differing {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// Longest gap (both sides together) that Myers gets: 1,500² steps are some 10 ms at worst.
const MAX_MYERS_LINES: usize = 1_500;
/// Anchors within gaps between anchors, and so on.
const MAX_DEPTH: usize = 24;

/// Differing blocks in order; lines between them are equal.
pub(crate) fn diff<T: Eq + std::hash::Hash>(old: &[T], new: &[T]) -> Vec<Differing> {
    let mut ids = HashMap::with_capacity(old.len());
    let mut id = |line| {
        let next = ids.len() as u32;
        *ids.entry(line).or_insert(next)
    };
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - prefix;
    let suffix = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let olds: Vec<u32> = old.iter().take(old.len() - suffix).skip(prefix).map(&mut id).collect();
    let news: Vec<u32> = new.iter().take(new.len() - suffix).skip(prefix).map(&mut id).collect();
    let mut out = Vec::new();
    compare(&olds, &news, prefix, prefix, 0, &mut out);
    join(out)
}

fn compare(old: &[u32], new: &[u32], old_at: usize, new_at: usize, depth: usize, out: &mut Vec<Differing>) {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - prefix;
    let suffix = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[prefix..old.len() - suffix], &new[prefix..new.len() - suffix]);
    let (old_at, new_at) = (old_at + prefix, new_at + prefix);
    if old.is_empty() && new.is_empty() {
        return;
    }
    let block = Differing { old: old_at..old_at + old.len(), new: new_at..new_at + new.len() };
    if old.is_empty() || new.is_empty() {
        return out.push(block);
    }
    if old.len() + new.len() <= MAX_MYERS_LINES {
        return myers(old, new, old_at, new_at, out);
    }
    let anchors = if depth < MAX_DEPTH { anchors(old, new) } else { Vec::new() };
    if anchors.is_empty() {
        return out.push(block);
    }
    let (mut o, mut n) = (0, 0);
    for (old_anchor, new_anchor) in anchors.into_iter().chain([(old.len(), new.len())]) {
        compare(&old[o..old_anchor], &new[n..new_anchor], old_at + o, new_at + n, depth + 1, out);
        (o, n) = (old_anchor, new_anchor);
        if o < old.len() {
            (o, n) = (o + 1, n + 1);
        }
    }
}

fn myers(old: &[u32], new: &[u32], old_at: usize, new_at: usize, out: &mut Vec<Differing>) {
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, old, new) {
        let (tag, old, new) = op.as_tag_tuple();
        if tag != similar::DiffTag::Equal {
            let shift = |range: Range<usize>, by: usize| range.start + by..range.end + by;
            out.push(Differing { old: shift(old, old_at), new: shift(new, new_at) });
        }
    }
}

/// Lines that occur once on each side, in the longest order that both sides share.
fn anchors(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    // Place of a line that occurs once; `None` once it occurred again.
    let places = |side: &[u32]| {
        let mut places: HashMap<u32, Option<usize>> = HashMap::with_capacity(side.len());
        for (at, line) in side.iter().enumerate() {
            places.entry(*line).and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    };
    let in_new = places(new);
    let in_old = places(old);
    let pairs = old.iter().enumerate().filter_map(|(at, line)| {
        in_old.get(line).copied().flatten()?;
        in_new.get(line).copied().flatten().map(|there| (at, there))
    });
    longest_rising(&pairs.collect::<Vec<_>>())
}

/// Longest subsequence whose second numbers rise (patience sorting).
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut tops: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; pairs.len()];
    for (at, pair) in pairs.iter().enumerate() {
        let pile = tops.partition_point(|top| pairs[*top].1 < pair.1);
        before[at] = pile.checked_sub(1).map(|left| tops[left]);
        if pile == tops.len() { tops.push(at) } else { tops[pile] = at }
    }
    let mut rising = Vec::with_capacity(tops.len());
    let mut at = tops.last().copied();
    while let Some(n) = at {
        rising.push(pairs[n]);
        at = before[n];
    }
    rising.reverse();
    rising
}

/// Joins blocks that touch.
fn join(blocks: Vec<Differing>) -> Vec<Differing> {
    let mut joined: Vec<Differing> = Vec::with_capacity(blocks.len());
    for block in blocks {
        match joined.last_mut() {
            Some(last) if last.old.end == block.old.start && last.new.end == block.new.start => {
                last.old.end = block.old.end;
                last.new.end = block.new.end;
            }
            _ => joined.push(block),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &[u32], new: &[u32]) {
        let mut rebuilt = Vec::new();
        let mut at = 0;
        for block in diff(old, new) {
            rebuilt.extend_from_slice(&old[at..block.old.start]);
            assert_eq!(rebuilt.len(), block.new.start);
            rebuilt.extend_from_slice(&new[block.new.clone()]);
            at = block.old.end;
        }
        rebuilt.extend_from_slice(&old[at..]);
        assert_eq!(rebuilt, new);
    }

    #[test]
    fn applying_the_blocks_gives_the_new_lines() {
        let mut seed = 7u64;
        let mut next = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((seed >> 33) % below) as u32
        };
        for round in 0..300 {
            let alphabet = [2, 5, 1000][round % 3];
            let old: Vec<u32> = (0..next(60)).map(|_| next(alphabet)).collect();
            let new: Vec<u32> = (0..next(60)).map(|_| next(alphabet)).collect();
            check(&old, &new);
        }
        let old: Vec<u32> = (0..5000).map(|_| next(3000)).collect();
        let mut new = old.clone();
        new.splice(100..900, (0..50).map(|n| 10_000 + n));
        new.splice(2000..2000, (0..2000).map(|n| n % 7));
        check(&old, &new);
        let other: Vec<u32> = (0..5000).map(|_| next(3)).collect();
        check(&old, &other);
    }
}
