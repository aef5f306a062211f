//! Finding lines that may match a pattern without literals, such as
//! `[a-z]{3}\d{4}`, several bytes a step.
//!
//! Ripgrep leaves such patterns to an automaton that looks at every byte. But
//! when each match starts with a run of classes, looking at the run's last
//! byte first tells how far the next can be (Horspool's search, with classes
//! for letters). A line that may match is still decided by the pattern
//! itself, and so is every line beyond ASCII, where a character is not a byte.

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoError};
use grep_regex::{RegexCaptures, RegexMatcher};
use regex_syntax::hir::{Class, Hir, HirKind};

/// A set of ASCII bytes.
type Set = u128;

/// The run of classes that each match starts with.
#[derive(Clone, Debug)]
struct Run {
    sets: Vec<Set>,
    /// By the last byte of a window: how far to the next window that may do.
    shift: [u8; 128],
}

/// A matcher that finds candidate lines by a run, where that is quicker.
#[derive(Clone, Debug)]
pub(crate) struct Quick {
    inner: RegexMatcher,
    run: Option<Run>,
}

/// Classes looked at; more would rarely tell more.
const MAX_RUN: usize = 12;

/// How often, at most, a window of source text may fit a run by chance for
/// the run to be worth following.
const RARE: f64 = 1e-4;

/// Bytes tested for ASCII at once.
const BLOCK: usize = 4 << 10;

impl Quick {
    /// `hir` is the pattern, if its lines may be told by a run.
    pub fn new(inner: RegexMatcher, hir: Option<&Hir>) -> Quick {
        Quick { inner, run: hir.and_then(Run::new) }
    }
}

impl Run {
    fn new(hir: &Hir) -> Option<Run> {
        // With a literal anywhere, ripgrep has a quicker way of its own.
        if has_literal(hir) {
            return None;
        }
        let (sets, _) = run(hir);
        // So has it for classes as small as a letter in both cases.
        if sets.len() < 3
            || sets.iter().any(|s| s.count_ones() < 8)
            || sets.iter().map(|s| frequency(*s)).product::<f64>() > RARE
        {
            return None;
        }
        Some(Run::of(sets))
    }

    fn of(sets: Vec<Set>) -> Run {
        let last = sets.len() - 1;
        let mut shift = [sets.len() as u8; 128];
        for (b, far) in shift.iter_mut().enumerate() {
            if let Some(at) = sets[..last].iter().rposition(|s| s >> b & 1 == 1) {
                *far = (last - at) as u8;
            }
        }
        Run { sets, shift }
    }

    /// Where a run, or something beyond ASCII, first is.
    fn find(&self, text: &[u8]) -> Option<usize> {
        let mut start = 0;
        while start < text.len() {
            let end = text.len().min(start + BLOCK);
            let ascii = text[start..end].is_ascii();
            let stop =
                if ascii { end } else { start + text[start..end].iter().position(|b| !b.is_ascii()).unwrap_or(0) };
            // A run may have started in the block before.
            let from = start.saturating_sub(self.sets.len() - 1);
            if let Some(at) = self.find_ascii(&text[from..stop]) {
                return Some(from + at);
            }
            if !ascii {
                return Some(stop);
            }
            start = end;
        }
        None
    }

    fn find_ascii(&self, text: &[u8]) -> Option<usize> {
        let last = self.sets.len() - 1;
        let final_set = self.sets[last];
        let mut at = last;
        while let Some(&b) = text.get(at) {
            let b = b & 0x7f;
            if final_set >> b & 1 == 1 {
                let window = &text[at - last..at];
                if window.iter().zip(&self.sets).all(|(b, set)| set >> (b & 0x7f) & 1 == 1) {
                    return Some(at - last);
                }
            }
            at += usize::from(self.shift[usize::from(b)]);
        }
        None
    }
}

fn has_literal(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(_) => true,
        HirKind::Repetition(r) => has_literal(&r.sub),
        HirKind::Capture(c) => has_literal(&c.sub),
        HirKind::Concat(all) | HirKind::Alternation(all) => all.iter().any(has_literal),
        HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

/// The classes a match starts with, and whether they are all of it.
fn run(hir: &Hir) -> (Vec<Set>, bool) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => (Vec::new(), true),
        HirKind::Literal(_) => (Vec::new(), false),
        HirKind::Class(class) => (vec![ascii(class)], true),
        HirKind::Capture(c) => run(&c.sub),
        HirKind::Repetition(r) => {
            let (one, all) = run(&r.sub);
            if r.min == 0 {
                return (Vec::new(), false);
            }
            let times = if all { r.min as usize } else { 1 };
            let sets: Vec<Set> = (0..times.min(MAX_RUN)).flat_map(|_| one.iter().copied()).take(MAX_RUN).collect();
            let exact = all && r.max == Some(r.min) && sets.len() == one.len() * times;
            (sets, exact)
        }
        HirKind::Concat(parts) => {
            let mut sets = Vec::new();
            for part in parts {
                let (more, all) = run(part);
                sets.extend(more);
                if !all || sets.len() > MAX_RUN {
                    sets.truncate(MAX_RUN);
                    return (sets, false);
                }
            }
            (sets, true)
        }
        HirKind::Alternation(parts) => {
            let runs: Vec<_> = parts.iter().map(run).collect();
            let len = runs.iter().map(|r| r.0.len()).min().unwrap_or(0);
            let sets = (0..len).map(|i| runs.iter().fold(0, |set, r| set | r.0[i])).collect();
            (sets, runs.iter().all(|r| r.1 && r.0.len() == len))
        }
    }
}

fn ascii(class: &Class) -> Set {
    let span = |from: u32, to: u32| (from..=to.min(127)).fold(0, |set, b| set | 1u128 << b);
    match class {
        Class::Unicode(c) => {
            c.iter().filter(|r| r.start().is_ascii()).fold(0, |set, r| set | span(r.start().into(), r.end().into()))
        }
        Class::Bytes(c) => {
            c.iter().filter(|r| r.start().is_ascii()).fold(0, |set, r| set | span(r.start().into(), r.end().into()))
        }
    }
}

/// How often a byte of source text is in a set, roughly.
fn frequency(set: Set) -> f64 {
    let share = |b: u8| match b {
        b'a'..=b'z' => 0.55 / 26.0,
        b' ' => 0.15,
        b'\t' => 0.05,
        b'A'..=b'Z' => 0.07 / 26.0,
        b'0'..=b'9' => 0.06 / 10.0,
        _ => 0.12 / 66.0,
    };
    (0..128).filter(|b| set >> b & 1 == 1).map(share).sum()
}

impl Matcher for Quick {
    type Captures = RegexCaptures;
    type Error = NoError;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        self.inner.find_at(text, at)
    }

    fn new_captures(&self) -> Result<RegexCaptures, NoError> {
        self.inner.new_captures()
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        self.inner.shortest_match_at(text, at)
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.inner.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.inner.line_terminator()
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        match &self.run {
            Some(run) => Ok(run.find(text).map(LineMatchKind::Candidate)),
            None => self.inner.find_candidate_line(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hir(pattern: &str) -> Hir {
        regex_syntax::ParserBuilder::new().multi_line(true).utf8(false).build().parse(pattern).expect("a pattern")
    }

    #[test]
    fn only_rare_runs_without_literals_are_followed() {
        for (pattern, len) in [
            (r"[a-z]{3}\d{4}", Some(7)),
            (r"\b[A-Z][0-9]{3,}", Some(4)),
            (r"\w\w\w", None),
            (r"\d{4}x", None),
            (r"[a-z]*\d{4}", None),
        ] {
            assert_eq!(Run::new(&hir(pattern)).map(|r| r.sets.len()), len, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn no_line_that_matches_is_passed_over(
            pattern in r"(\[a-c\]|\[0-9\]|\\d|\[A-Z\]|\[0-9x-zé\]|\(\[ab\]\|\[01\]\{2\}\)|\\b)(\{[123]\}|\{2,\}|\+)?(\[0-4\]|\\d|\[A-C\])\{[234]\}(\[a-c\]\?)?",
            text in "([a-cé]{0,3}[0-4A-Cx٣]{0,5} ?){0,9}",
        ) {
            let Ok(hir) = regex_syntax::ParserBuilder::new().multi_line(true).utf8(false).build().parse(&pattern) else { return Ok(()) };
            let (sets, _) = run(&hir);
            prop_assume!(!sets.is_empty() && !has_literal(&hir));
            let found = Run::of(sets).find(text.as_bytes());
            let first = regex_automata::meta::Regex::new(&pattern).expect("a regex").find(&text).map(|m| m.start());
            if let Some(at) = first {
                prop_assert!(found.is_some_and(|f| f <= at || !text.is_ascii()), "{pattern} in {text}: {found:?}, {at}");
            }
        }
    }
}
