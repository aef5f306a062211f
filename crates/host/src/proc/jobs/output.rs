//! What a job wrote: its beginning and its end in memory, all of it in a file once that is too little.
//!
//! Bytes are kept as they came. What is no text, and what could redraw a terminal, is the reader's business.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How much output is kept, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of the beginning that stay in memory. Default 64 KiB: twice what an answer shows.
    pub head_bytes: usize,
    /// Bytes of the end that stay in memory, at least; at most twice as many. Default 64 KiB.
    pub tail_bytes: usize,
    /// Where all of it goes when memory is too little; the file must not exist. Default none: the middle is lost.
    pub spill: Option<PathBuf>,
    /// Bytes of that file. Default 64 MiB: a build's whole log. What comes after is not kept; the job goes on.
    pub spill_bytes: u64,
    /// Bytes after which the job is killed. Default 4 GiB: only an endless loop gets there.
    pub most_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { head_bytes: 64 << 10, tail_bytes: 64 << 10, spill: None, spill_bytes: 64 << 20, most_bytes: 4 << 30 }
    }
}

/// The part in memory.
#[derive(Debug)]
pub(super) struct Kept {
    head_bytes: usize,
    tail_bytes: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
    /// The file that holds the first bytes, and how many.
    pub(super) spilled: Option<(PathBuf, u64)>,
    /// Why there is no file, or not all of one.
    pub(super) spill_error: Option<String>,
}

impl Kept {
    pub(super) fn new(bounds: &Bounds) -> Kept {
        Kept {
            head_bytes: bounds.head_bytes,
            tail_bytes: bounds.tail_bytes.max(1),
            head: Vec::new(),
            tail: Vec::new(),
            total: 0,
            spilled: None,
            spill_error: None,
        }
    }

    /// Whether `more` bytes would push something out of memory.
    pub(super) fn overflows(&self, more: usize) -> bool {
        self.total + more as u64 > (self.head_bytes + self.tail_bytes) as u64
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.total += piece.len() as u64;
        let room = self.head_bytes - self.head.len();
        let (head, tail) = piece.split_at(room.min(piece.len()));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(tail);
        if self.tail.len() > 2 * self.tail_bytes {
            self.tail.drain(..self.tail.len() - self.tail_bytes);
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Where the end that is in memory begins.
    pub(super) fn tail_start(&self) -> u64 {
        self.total - self.tail.len() as u64
    }

    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    pub(super) fn tail(&self) -> &[u8] {
        &self.tail
    }

    /// The bytes of `range` that are in memory without a gap from its start on.
    pub(super) fn in_memory(&self, range: Range<u64>) -> Vec<u8> {
        let head = part(&self.head, 0, &range);
        let reached = range.start + head.len() as u64;
        let tail =
            if reached >= self.tail_start() { part(&self.tail, self.tail_start(), &(reached..range.end)) } else { &[] };
        [head, tail].concat()
    }
}

/// The part of `bytes`, which begin at `start` of the whole, that lies in `range`.
fn part<'a>(bytes: &'a [u8], start: u64, range: &Range<u64>) -> &'a [u8] {
    let end = start + bytes.len() as u64;
    if range.start < start || range.start >= end {
        return &[];
    }
    let until = range.end.min(end);
    &bytes[(range.start - start) as usize..(until.max(range.start) - start) as usize]
}

/// The file that takes all of it, when it has become too much.
#[derive(Debug)]
pub(super) struct Spill {
    path: Option<PathBuf>,
    file: Option<File>,
    written: u64,
    most: u64,
}

impl Spill {
    pub(super) fn new(bounds: &Bounds) -> Spill {
        Spill { path: bounds.spill.clone(), file: None, written: 0, most: bounds.spill_bytes }
    }

    /// Writes `piece`, and before the first one what was kept so far. True when it may go on.
    pub(super) fn write(&mut self, before: &[&[u8]], piece: &[u8]) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        if self.file.is_none() {
            let file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
            self.file = Some(file);
            for part in before {
                self.append(part)?;
            }
        }
        self.append(piece)
    }

    fn append(&mut self, piece: &[u8]) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let room = usize::try_from(self.most - self.written).unwrap_or(usize::MAX);
        let piece = &piece[..room.min(piece.len())];
        file.write_all(piece)?;
        self.written += piece.len() as u64;
        Ok(())
    }

    pub(super) fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Gives up: what is written stays.
    pub(super) fn close(&mut self) {
        self.path = None;
        self.file = None;
    }

    /// The file and how much is in it.
    pub(super) fn state(&self) -> Option<(PathBuf, u64)> {
        Some((self.path.clone()?, self.written)).filter(|_| self.file.is_some())
    }
}

/// Some bytes of a spilled output.
pub(super) fn from_spill(path: &Path, range: Range<u64>) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(0)];
    let read = File::open(path).and_then(|file| {
        let mut done = 0;
        while done < bytes.len() {
            match file.read_at(&mut bytes[done..], range.start + done as u64)? {
                0 => break,
                read => done += read,
            }
        }
        Ok(done)
    });
    bytes.truncate(read.unwrap_or(0));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pieces: &[&[u8]]) -> Kept {
        let mut kept = Kept::new(&Bounds { head_bytes: 4, tail_bytes: 4, ..Bounds::default() });
        pieces.iter().for_each(|piece| kept.push(piece));
        kept
    }

    #[test]
    fn beginning_and_end_stay() {
        let kept = kept(&[b"abc", b"defgh", b"ijklm"]);
        assert_eq!((kept.head(), kept.total()), (&b"abcd"[..], 13));
        assert!(kept.tail().len() >= 4 && kept.tail().len() <= 8 && kept.tail().ends_with(b"jklm"));
    }

    #[test]
    fn a_range_is_whole_or_stops_at_the_gap() {
        let short = kept(&[b"abcdefgh"]);
        assert_eq!(short.in_memory(0..8), b"abcdefgh");
        assert_eq!(short.in_memory(2..6), b"cdef");
        assert_eq!(short.in_memory(6..99), b"gh");
        let long = kept(&[b"abcdefghijklmnopqrstuvwxyz"]);
        assert_eq!(long.in_memory(1..26), b"bcd");
        assert_eq!(long.in_memory(5..26), b"");
        assert_eq!(long.in_memory(23..26), b"xyz");
        assert_eq!(long.in_memory(26..26), b"");
    }
}
