//! Strings among output: what a program tells its terminal and no reader, as a title, a picture or the clipboard.
//!
//! A string may be as long as the program likes. What draws would keep all of one until it ends, and whoever reads the
//! output in pieces would take the rest of one for text: so strings are followed here, by the rules of the parser that
//! draws ([`vte`]), cut to a length that is enough to see what they are, and remembered by where they lie.

use std::collections::VecDeque;

use super::screen::LONGEST_SEQUENCE;

/// How much of a string is handed on, of the bytes behind the two that begin it. Nothing of it is shown anyway, and what
/// is cut by the end of a read is held back as long as it is no longer.
const LONGEST: usize = LONGEST_SEQUENCE - 2;
/// How many strings are remembered that are longer than that. A read that is further behind may begin with the rest of one.
const MOST: usize = 1024;
/// What takes back a string, and what ends it and begins another sequence.
const CANCELS: [u8; 2] = [0x18, 0x1a];
const ESCAPE: u8 = 0x1b;
const BELL: u8 = 7;
/// The string terminator in one byte. The parser takes it as that in a device control string alone.
const TERMINATOR: u8 = 0x9c;

/// Follows output.
#[derive(Debug, Default)]
pub(super) struct Strings {
    state: State,
    /// Bytes so far.
    total: u64,
    /// Where long ones lie, the last of them perhaps without an end.
    long: VecDeque<(u64, Option<u64>)>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After an escape.
    Escaped,
    /// In a string that has so many bytes already, and what ends it besides an escape and what cancels it.
    String { bytes: usize, end: Option<u8> },
}

impl Strings {
    /// How many of these bytes go the same way, at least one, and whether they are handed on.
    pub(super) fn next(&mut self, bytes: &[u8]) -> (usize, bool) {
        let (run, handed_on) = match self.state {
            State::Text => match bytes.iter().position(|byte| *byte == ESCAPE) {
                Some(at) => {
                    self.state = State::Escaped;
                    (at + 1, true)
                }
                None => (bytes.len(), true),
            },
            State::Escaped => {
                self.state = match bytes.first() {
                    Some(b']') => State::String { bytes: 0, end: Some(BELL) },
                    Some(b'P') => State::String { bytes: 0, end: Some(TERMINATOR) },
                    Some(b'X' | b'^' | b'_') => State::String { bytes: 0, end: None },
                    // These change nothing, or begin the escape anew.
                    Some(0..=0x17 | 0x19 | 0x1b..=0x1f | 0x7f..) => State::Escaped,
                    _ => State::Text,
                };
                (1, true)
            }
            State::String { bytes: had, end } => {
                let ends = |byte: &u8| *byte == ESCAPE || CANCELS.contains(byte) || Some(*byte) == end;
                match bytes.iter().position(ends) {
                    Some(0) => {
                        let escapes = bytes[0] == ESCAPE;
                        self.state = if escapes { State::Escaped } else { State::Text };
                        // An escape is not part of it any more.
                        self.end_at(self.total + u64::from(!escapes));
                        (1, true)
                    }
                    at => self.within(had, end, at.unwrap_or(bytes.len())),
                }
            }
        };
        self.total += run as u64;
        (run, handed_on)
    }

    /// The next `run` bytes are a string's.
    fn within(&mut self, had: usize, end: Option<u8>, run: usize) -> (usize, bool) {
        let handed_on = had < LONGEST;
        let run = if handed_on { run.min(LONGEST - had) } else { run };
        if !handed_on && !matches!(self.long.back(), Some((_, None))) {
            // With the two bytes that began it.
            self.long.push_back((self.total.saturating_sub(had as u64 + 2), None));
            if self.long.len() > MOST {
                self.long.pop_front();
            }
        }
        self.state = State::String { bytes: (had + run).min(LONGEST), end };
        (run, handed_on)
    }

    fn end_at(&mut self, end: u64) {
        if let Some((_, open @ None)) = self.long.back_mut() {
            *open = Some(end);
        }
    }

    /// How many of `len` bytes from this place on belong to a string that began before.
    pub(super) fn left(&self, from: u64, len: usize) -> usize {
        let after = self.long.partition_point(|(begin, _)| *begin < from);
        match after.checked_sub(1).and_then(|at| self.long.get(at)) {
            Some((_, Some(end))) => usize::try_from(end.saturating_sub(from)).unwrap_or(len).min(len),
            Some((_, None)) => len,
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is handed on of output that comes in pieces.
    fn handed_on(pieces: &[&[u8]]) -> (Vec<u8>, Strings) {
        let (mut strings, mut all) = (Strings::default(), Vec::new());
        for mut piece in pieces.iter().copied() {
            while !piece.is_empty() {
                let (run, on) = strings.next(piece);
                all.extend_from_slice(if on { &piece[..run] } else { b"" });
                piece = &piece[run..];
            }
        }
        (all, strings)
    }

    #[test]
    fn no_string_is_kept_beyond_its_beginning() {
        let much = [b'A'; 10_000];
        for (begin, end) in [
            (&b"\x1b]52;c;"[..], &b"\x07"[..]),
            (b"\x1b]1337;File=:", b"\x1b\\"),
            (b"\x1bPq", b"\x1b\\"),
            (b"\x1bPq", b"\x9c"),
            (b"\x1b_G", b"\x18"),
            (b"\x1b^", b"\x1a"),
            // What stands between an escape and what it begins, and means nothing.
            (b"\x1b\x01\x7f\x1b]0;", b"\x07"),
        ] {
            let (all, strings) = handed_on(&[b"before", begin, &much, &much, end, b"after"]);
            assert!(all.len() < 6 + begin.len() + LONGEST + end.len() + 6, "{begin:?}: {}", all.len());
            assert!(all.starts_with(b"before") && all.ends_with(&[end, b"after"].concat()), "{begin:?}");
            // Where it lies is known.
            let place = 6 + begin.len() as u64 + 5_000;
            assert_eq!(strings.left(place, 100), 100, "{begin:?}");
            let left = strings.left(place, 50_000);
            let ended = usize::from(end[0] != ESCAPE);
            assert_eq!(left, 15_000 + ended, "{begin:?}");
            assert_eq!((strings.left(3, 100), strings.left(20_050, 100)), (0, 0), "{begin:?}");
        }
        let (_, strings) = handed_on(&[b"\x1b]0;", &much]);
        assert_eq!((strings.left(500, 7), strings.left(0, 7)), (7, 0), "it has not ended");
    }

    #[test]
    fn text_and_short_strings_are_as_they_were() {
        let bytes = b"a\x1b[1mb\x1b]0;title\x07c\x1b(B\x1b P d\x1bPq\x1b\\e";
        let (all, strings) = handed_on(&[&bytes[..]]);
        assert_eq!((&all[..], strings.left(9, 5)), (&bytes[..], 0));
    }

    #[test]
    fn so_many_strings_are_remembered() {
        let one = [&b"\x1b]0;"[..], &[b'A'; 100], b"\x07"].concat();
        let (_, strings) = handed_on(&[&one.repeat(MOST + 10)]);
        assert_eq!(strings.long.len(), MOST);
        let last = (one.len() * (MOST + 9)) as u64;
        assert_eq!((strings.left(last + 50, 9), strings.left(50, 9)), (9, 0));
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            pieces in proptest::collection::vec(
                prop_oneof![
                    Just(b"\x1b]".to_vec()), Just(b"\x1bP".to_vec()), Just(b"\x07".to_vec()), Just(b"\x1b\\".to_vec()),
                    proptest::collection::vec(any::<u8>(), 0..90),
                ],
                0..20,
            ),
        ) {
            let whole = pieces.concat();
            let parts: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let ((one, first), (other, second)) = (handed_on(&[&whole]), handed_on(&parts));
            prop_assert_eq!(one, other);
            prop_assert_eq!((first.state, first.total, first.long), (second.state, second.total, second.long));
        }
    }
}
