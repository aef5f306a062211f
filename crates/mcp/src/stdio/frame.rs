//! From bytes to lines, each of which is one message.

use memchr::memchr;

/// The longest line: room for a large file in an argument, and a bound on what a client can make
/// us keep.
pub(crate) const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// How much is asked for at once, at least: a pipe's capacity.
const ROOM: usize = 64 * 1024;

/// What the next line is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// A line, without its end and never blank.
    Line(&'a [u8]),
    /// A line longer than [`MAX_LINE_BYTES`], thrown away.
    TooLong,
}

/// Bytes that came and are not yet lines.
#[derive(Debug)]
pub(crate) struct Frames {
    buffer: Vec<u8>,
    /// Where the next line starts.
    start: usize,
    /// Up to where there is no line end.
    scanned: usize,
    /// Whether the rest of a line that was too long is being thrown away.
    skipping: bool,
    max: usize,
}

impl Frames {
    pub(crate) fn new() -> Frames {
        Frames::with_max(MAX_LINE_BYTES)
    }

    fn with_max(max: usize) -> Frames {
        Frames { buffer: Vec::new(), start: 0, scanned: 0, skipping: false, max }
    }

    /// The next whole line, if it has come.
    pub(crate) fn next(&mut self) -> Option<Frame<'_>> {
        loop {
            let Some(at) = memchr(b'\n', &self.buffer[self.scanned..]) else {
                self.scanned = self.buffer.len();
                if self.scanned - self.start > self.max {
                    self.clear();
                    if !std::mem::replace(&mut self.skipping, true) {
                        return Some(Frame::TooLong);
                    }
                } else if self.skipping {
                    self.clear();
                }
                return None;
            };
            let (from, end) = (self.start, self.scanned + at);
            self.start = end + 1;
            self.scanned = end + 1;
            if std::mem::replace(&mut self.skipping, false) {
                continue;
            }
            if end - from > self.max {
                return Some(Frame::TooLong);
            }
            if !self.buffer[from..end].trim_ascii().is_empty() {
                return Some(Frame::Line(self.buffer[from..end].trim_ascii()));
            }
        }
    }

    /// What is left when the input ends without a line end.
    pub(crate) fn rest(&mut self) -> Option<Frame<'_>> {
        let rest = if self.skipping { &[] } else { self.buffer[self.start..].trim_ascii() };
        self.start = self.buffer.len();
        (!rest.is_empty()).then_some(Frame::Line(rest))
    }

    /// The buffer, with room to read more into.
    pub(crate) fn room(&mut self) -> &mut Vec<u8> {
        if self.start == self.buffer.len() {
            self.clear();
        } else if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.buffer.capacity() - self.buffer.len() < ROOM / 2 {
            self.buffer.reserve(ROOM);
        }
        &mut self.buffer
    }

    fn clear(&mut self) {
        // After a long line its memory goes back.
        if self.buffer.capacity() > 16 * ROOM {
            self.buffer = Vec::new();
        }
        self.buffer.clear();
        self.start = 0;
        self.scanned = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(frames: &mut Frames) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(frame) = frames.next() {
            lines.push(match frame {
                Frame::Line(line) => String::from_utf8_lossy(line).into_owned(),
                Frame::TooLong => "TOO LONG".to_owned(),
            });
        }
        lines
    }

    #[test]
    fn a_long_line_is_thrown_away_and_the_next_one_kept() {
        let mut frames = Frames::with_max(5);
        for (piece, want) in [
            ("abc", vec![]),
            ("\n\r\n  \nde\r\n", vec!["abc", "de"]),
            ("123456", vec!["TOO LONG"]),
            ("7890123456", vec![]),
            ("78\nok\n", vec!["ok"]),
            ("1234567\nx\n", vec!["TOO LONG", "x"]),
        ] {
            frames.room().extend_from_slice(piece.as_bytes());
            assert_eq!(lines(&mut frames), want, "{piece:?}");
        }
        frames.room().extend_from_slice(b"end");
        assert_eq!(frames.next(), None);
        assert_eq!(frames.rest(), Some(Frame::Line(b"end")));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "[ab\\n]{0,60}", cuts in proptest::collection::vec(1usize..9, 0..20)) {
            let mut whole = Frames::new();
            whole.room().extend_from_slice(text.as_bytes());
            let want = lines(&mut whole);
            let mut frames = Frames::new();
            let mut got = Vec::new();
            let mut rest = text.as_bytes();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                frames.room().extend_from_slice(piece);
                got.extend(lines(&mut frames));
                rest = after;
            }
            frames.room().extend_from_slice(rest);
            got.extend(lines(&mut frames));
            prop_assert_eq!(got, want);
        }
    }
}
