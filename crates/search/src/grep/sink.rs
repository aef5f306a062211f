//! What becomes of each match: as ripgrep's printers decide, without
//! printing.

use std::io;
use std::num::NonZeroU64;

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use super::{BinaryNote, FileHits, Line, Mode};
use crate::runs::Quick;
use crate::walk::Stop;

/// Takes what the searcher finds in one file.
pub(super) struct Take<'a> {
    pub mode: Mode,
    pub matcher: &'a Quick,
    pub stop: &'a Stop<'a>,
    /// Lines that are enough.
    pub enough: usize,
    /// Bytes of lines that may still be kept.
    pub room: usize,
    pub hits: FileHits,
    /// A NUL byte was met, here.
    pub binary: Option<u64>,
    /// From where on lines are not shown because of it.
    pub not_shown_from: Option<u64>,
    gap: bool,
}

/// Lines between two looks at the clock.
const LINES_A_LOOK: usize = 1024;

/// How far beyond a match of many lines ripgrep looks to count the matches in it.
const MAX_LOOK_AHEAD: usize = 128;

impl<'a> Take<'a> {
    pub fn new(mode: Mode, matcher: &'a Quick, stop: &'a Stop<'a>, enough: usize, room: usize) -> Self {
        Take {
            mode,
            matcher,
            stop,
            enough,
            room,
            hits: FileHits::default(),
            binary: None,
            not_shown_from: None,
            gap: false,
        }
    }

    /// What there is to tell of the file, if anything.
    pub fn told(&self) -> bool {
        self.hits.matches > 0
    }

    /// Keeps some lines; says whether to go on.
    fn keep(&mut self, bytes: &[u8], first: Option<u64>, is_match: bool) -> bool {
        let mut number = first.and_then(NonZeroU64::new);
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            if self.hits.lines.len() >= self.enough || self.hits.text.len() >= self.room {
                return false;
            }
            let start = self.hits.text.len();
            self.hits.text.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
            let end = self.hits.text.len();
            let gap_before = std::mem::take(&mut self.gap);
            self.hits.lines.push(Line { number, is_match, gap_before, start, end });
            number = number.and_then(|n| n.checked_add(1));
        }
        !(self.hits.lines.len().is_multiple_of(LINES_A_LOOK) && self.stop.now())
    }

    /// Whether a line at this byte is not shown, and no later one, as a NUL
    /// byte was met in a file that was named.
    fn hides(&mut self, searcher: &Searcher, at: u64) -> bool {
        let hides = searcher.binary_detection().convert_byte().is_some() && self.binary.is_some();
        if hides {
            self.not_shown_from = Some(at);
        }
        hides
    }

    /// Matches within one range, as ripgrep counts them in multiline mode.
    fn matches_in(&self, found: &SinkMatch<'_>) -> Result<u64, io::Error> {
        let (mut buffer, range) = (found.buffer(), found.bytes_range_in_buffer());
        if buffer.len() - range.end >= MAX_LOOK_AHEAD {
            buffer = &buffer[..range.end + MAX_LOOK_AHEAD];
        }
        let mut count = 0;
        self.matcher
            .find_iter_at(buffer, range.start, |m| {
                count += u64::from(m.start() < range.end);
                m.start() < range.end
            })
            .map_err(io::Error::other)?;
        Ok(count.max(1))
    }
}

impl Sink for Take<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        match self.mode {
            Mode::Files => {
                self.hits.matches = 1;
                Ok(false)
            }
            Mode::Count => {
                self.hits.matches += match searcher.multi_line_with_matcher(self.matcher) {
                    true => self.matches_in(found)?,
                    false => 1,
                };
                Ok(!(self.hits.matches.is_multiple_of(LINES_A_LOOK as u64) && self.stop.now()))
            }
            Mode::Content => {
                self.hits.matches += 1;
                if self.hides(searcher, found.absolute_byte_offset()) {
                    return Ok(false);
                }
                Ok(self.keep(found.bytes(), found.line_number(), true))
            }
        }
    }

    fn context(&mut self, searcher: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if self.hides(searcher, context.absolute_byte_offset()) {
            return Ok(false);
        }
        Ok(self.keep(context.bytes(), context.line_number(), false))
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        self.gap = true;
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, offset: u64) -> Result<bool, io::Error> {
        self.binary = Some(offset);
        Ok(true)
    }

    fn finish(&mut self, searcher: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        if let Some(offset) = finish.binary_byte_offset() {
            self.binary = Some(offset);
        }
        let quit = searcher.binary_detection().quit_byte().is_some();
        if quit && self.binary.is_some() && self.mode != Mode::Content {
            // A count up to the NUL byte would mislead, so ripgrep gives none.
            self.hits.matches = 0;
        }
        let not_shown_from = self.not_shown_from;
        let note = |offset| BinaryNote { offset, stopped: quit, not_shown_from };
        self.hits.binary = self.binary.filter(|_| self.told()).map(note);
        Ok(())
    }
}
