//! One file: read it, pass it over if nothing in it can match, else let
//! ripgrep's searcher decide.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};

use grep_matcher::Matcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use rustix::io::Errno;

use super::bound::Bound;
use super::sink::Take;
use super::{FileHits, GrepQuery, Mode, entries};
use crate::matcher::{is_beyond_ascii, may_test_whole};
use crate::record::Tally;
use crate::runs::Quick;
use crate::walk::{self, FileAt, Stop, Visit};

/// What is read at once: most source files whole, in a buffer that stays in
/// the processor's cache.
const CHUNK: usize = 256 << 10;

/// What ripgrep reads at once, which decides what a NUL byte hides.
const RG_CHUNK: usize = 64 << 10;

/// A file larger than this is not held in memory, except where a match may
/// span lines.
const MAX_WHOLE: usize = 64 << 20;

/// A file larger than this is not searched in multiline mode.
const MAX_MULTILINE: usize = 512 << 20;

/// One thread's means of searching files.
pub(super) struct Finder<'a> {
    query: &'a GrepQuery,
    matcher: Quick,
    searcher: Searcher,
    /// A match may span lines.
    multi: bool,
    /// Text without a candidate can be passed over.
    may_test: bool,
    /// Whether the pattern may have letters beyond ASCII.
    beyond_ascii: bool,
    buf: Vec<u8>,
    hits: Vec<FileHits>,
    bound: &'a Bound,
    stop: &'a Stop<'a>,
    collected: &'a AtomicUsize,
}

/// What the first lines of a file say.
enum Early {
    Matches,
    /// No line before this byte matches.
    Clear(usize),
    Unknown,
}

/// How a file's searcher sees NUL bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nul {
    /// There are none.
    Absent,
    /// The rest of the file is not searched.
    Quits,
    /// Found in a file that was named: searched on, but not shown.
    Hides,
}

fn searcher(query: &GrepQuery) -> Searcher {
    let content = query.mode == Mode::Content;
    SearcherBuilder::new()
        .multi_line(query.multiline)
        .heap_limit(Some(MAX_MULTILINE))
        .line_number(content && query.line_numbers)
        .before_context(if content { query.before } else { 0 })
        .after_context(if content { query.after } else { 0 })
        .build()
}

impl<'a> Finder<'a> {
    pub fn new(
        query: &'a GrepQuery,
        matcher: Quick,
        bound: &'a Bound,
        stop: &'a Stop<'a>,
        collected: &'a AtomicUsize,
    ) -> Self {
        let searcher = searcher(query);
        let multi = searcher.multi_line_with_matcher(&matcher);
        let may_test = may_test_whole(&matcher, &query.pattern, multi);
        Finder {
            query,
            matcher,
            searcher,
            multi,
            may_test,
            beyond_ascii: is_beyond_ascii(&query.pattern, query.literal),
            buf: vec![0; CHUNK],
            hits: Vec::new(),
            bound,
            stop,
            collected,
        }
    }

    /// Forgets how long the lines of earlier files were: a searcher that met a
    /// long one reads more at once ever after, and what is read at once
    /// decides what a NUL byte hides. In `rg` that depends on which thread
    /// searched what before; here it never does.
    fn fresh(&mut self) {
        self.searcher = searcher(self.query);
    }

    pub fn into_hits(self) -> Vec<FileHits> {
        self.hits
    }

    /// Searches a file that was named: to its end, whatever is in it.
    pub fn named_file(&mut self, fd: OwnedFd, path: &[u8], tally: &mut Tally) {
        tally.scanned += 1;
        let done = self.named(&fd, path, tally);
        self.note(done, path, tally);
    }

    fn named(&mut self, fd: &OwnedFd, path: &[u8], tally: &mut Tally) -> io::Result<()> {
        let limit = if self.multi { MAX_MULTILINE } else { MAX_WHOLE };
        let whole = self.read_whole(fd, limit)?;
        let Some(len) = whole else {
            if self.multi {
                return Err(too_large());
            }
            rustix::fs::seek(fd, rustix::fs::SeekFrom::Start(0))?;
            return self.search(Source::Stream(fd), Nul::Hides, path, tally);
        };
        tally.scanned_bytes += len as u64;
        let nul = memchr::memchr(0, &self.buf[..len]).is_some();
        let before = self.hits.len();
        // The searcher reads UTF-16 that a mark tells, and takes UTF-32 for that.
        let unread = match has_bom(&self.buf[..len]) {
            true => self.buf[..len].starts_with(UTF_32_LE),
            false => self.is_of_other_bytes(len),
        };
        let done = match (nul, self.multi) {
            (true, _) => self.search(Source::Whole(len), Nul::Hides, path, tally),
            (false, true) => self.search(Source::Whole(len), Nul::Absent, path, tally),
            // In pieces, so that it can be stopped.
            (false, false) => self.search(Source::Pieces(len), Nul::Absent, path, tally),
        };
        tally.other_bytes += u64::from(unread && self.hits.len() == before);
        done
    }

    /// Searches a file that was listed.
    fn listed(&mut self, fd: &OwnedFd, at: &FileAt<'_>, tally: &mut Tally) -> io::Result<()> {
        let path = at.path;
        let mut len = read(fd, &mut self.buf[..CHUNK])?;
        tally.scanned += 1;
        if len == 0 {
            return Ok(());
        }
        let odd = !self.may_test || has_bom(&self.buf[..len]);
        let mut clear = 0;
        if !odd && self.query.mode == Mode::Files {
            match self.early(len) {
                Early::Matches => {
                    tally.scanned_bytes += len as u64;
                    self.keep(FileHits { matches: 1, ..FileHits::default() }, path);
                    return Ok(());
                }
                Early::Clear(end) => clear = end,
                Early::Unknown => {}
            }
        }
        // What is short may still not be all, where a file is made up as it
        // is read.
        while !at.whole_reads || len == CHUNK {
            if len == CHUNK {
                return self.large(fd, odd, clear, path, tally);
            }
            match read(fd, &mut self.buf[len..CHUNK])? {
                0 => break,
                n => len += n,
            }
        }
        tally.scanned_bytes += len as u64;
        if !odd && !self.could_match(clear, len) {
            tally.other_bytes += u64::from(self.is_of_other_bytes(len));
            return Ok(());
        }
        let before = self.hits.len();
        let done = match memchr::memchr(0, &self.buf[..len]) {
            Some(_) => self.search(Source::Pieces(len), Nul::Quits, path, tally),
            None if odd => self.search(Source::Pieces(len), Nul::Quits, path, tally),
            None => self.search(Source::Whole(len), Nul::Absent, path, tally),
        };
        tally.other_bytes += u64::from(!odd && self.hits.len() == before && self.is_of_other_bytes(len));
        done
    }

    /// Whether these bytes may hold what the pattern means in another encoding than the one that is searched.
    fn is_of_other_bytes(&self, len: usize) -> bool {
        let text = &self.buf[..len];
        let in_letters = || std::str::from_utf8(text).is_err_and(|error| error.error_len().is_some());
        is_wide(text) || (self.beyond_ascii && in_letters())
    }

    /// What can be said of a file from what ripgrep reads first.
    fn early(&mut self, len: usize) -> Early {
        let first = len.min(RG_CHUNK);
        let Some(end) = memchr::memrchr(b'\n', &self.buf[..first]).map(|i| i + 1) else { return Early::Unknown };
        if self.multi {
            return Early::Unknown;
        }
        if !self.could_match(0, end) {
            return Early::Clear(end);
        }
        if memchr::memchr(0, &self.buf[..first]).is_some() {
            return Early::Unknown;
        }
        let mut take = Take::new(Mode::Files, &self.matcher, self.stop, usize::MAX, usize::MAX);
        self.searcher.set_binary_detection(BinaryDetection::none());
        let done = self.searcher.search_slice(&self.matcher, &self.buf[..end], &mut take);
        match (done, take.told()) {
            (Ok(()), true) => Early::Matches,
            (Ok(()), false) => Early::Clear(end),
            (Err(_), _) => Early::Unknown,
        }
    }

    /// A file beyond the buffer, which is full. No line before `clear` matches.
    fn large(&mut self, fd: &OwnedFd, odd: bool, mut clear: usize, path: &[u8], tally: &mut Tally) -> io::Result<()> {
        if self.multi {
            return self.large_multiline(fd, odd, path, tally);
        }
        let (mut len, mut end) = (CHUNK, false);
        tally.scanned_bytes += len as u64;
        let (mut candidate, mut others) = (odd, false);
        while !candidate {
            // Whole lines; what is left of the last goes on into the next.
            let lines = match memchr::memrchr(b'\n', &self.buf[..len]) {
                _ if end => len,
                Some(at) => at + 1,
                None => 0,
            };
            if self.could_match(clear.min(lines), lines) {
                candidate = true;
                break;
            }
            clear = 0;
            others = others || self.is_of_other_bytes(lines);
            if memchr::memchr(0, &self.buf[..len]).is_some() {
                tally.binary.push(walk::to_path(path));
                return Ok(());
            }
            if end {
                break;
            }
            if self.stop.now() {
                return Ok(());
            }
            self.buf.copy_within(lines..len, 0);
            len -= lines;
            if len == self.buf.len() {
                if len >= MAX_WHOLE {
                    // A line this long: let the searcher take it from here.
                    candidate = true;
                    break;
                }
                self.buf.resize(len * 2, 0);
            }
            let to = self.buf.len().min(len + CHUNK);
            let n = read(fd, &mut self.buf[len..to])?;
            tally.scanned_bytes += n as u64;
            end = n == 0;
            len += n;
        }
        let before = self.hits.len();
        if candidate {
            rustix::fs::seek(fd, rustix::fs::SeekFrom::Start(0))?;
            self.search(Source::Stream(fd), Nul::Quits, path, tally)?;
        }
        tally.other_bytes += u64::from(others && self.hits.len() == before);
        Ok(())
    }

    fn large_multiline(&mut self, fd: &OwnedFd, odd: bool, path: &[u8], tally: &mut Tally) -> io::Result<()> {
        rustix::fs::seek(fd, rustix::fs::SeekFrom::Start(0))?;
        let Some(len) = self.read_whole(fd, MAX_MULTILINE)? else { return Err(too_large()) };
        tally.scanned_bytes += len as u64;
        match odd || self.could_match(0, len) {
            true => self.search(Source::Whole(len), Nul::Quits, path, tally),
            false => Ok(()),
        }
    }

    /// Fills the buffer with a file, if it is no larger than so much.
    fn read_whole(&mut self, fd: &OwnedFd, limit: usize) -> io::Result<Option<usize>> {
        let mut len = 0;
        loop {
            if len == self.buf.len() {
                if len >= limit {
                    return Ok(None);
                }
                self.buf.resize(len * 2, 0);
            }
            match read(fd, &mut self.buf[len..])? {
                0 => return Ok(Some(len)),
                n => len += n,
            }
            if self.stop.now() {
                return Ok(Some(len));
            }
        }
    }

    /// Whether there could be a match. Never wrong when it says no.
    fn could_match(&self, from: usize, to: usize) -> bool {
        let text = &self.buf[from..to];
        match self.multi {
            true => self.matcher.is_match(text).unwrap_or(true),
            false => self.matcher.find_candidate_line(text).map_or(true, |m| m.is_some()),
        }
    }

    /// Lets the searcher decide.
    fn search(&mut self, source: Source<'_>, nul: Nul, path: &[u8], tally: &mut Tally) -> io::Result<()> {
        let room = self.query.max_bytes.saturating_sub(self.collected.load(Ordering::Relaxed));
        // One byte more than allowed says that there was more.
        let mut take = Take::new(self.query.mode, &self.matcher, self.stop, self.bound.need(), room.saturating_add(1));
        self.searcher.set_binary_detection(match nul {
            Nul::Absent => BinaryDetection::none(),
            Nul::Quits => BinaryDetection::quit(0),
            Nul::Hides => BinaryDetection::convert(0),
        });
        let (done, long) = match source {
            Source::Whole(len) => (self.searcher.search_slice(&self.matcher, &self.buf[..len], &mut take), false),
            Source::Pieces(len) => {
                let pieces = Stoppable { inner: &self.buf[..len], stop: self.stop };
                (self.searcher.search_reader(&self.matcher, pieces, &mut take), len > RG_CHUNK)
            }
            Source::Stream(fd) => {
                let stream = Stoppable { inner: Fd(fd), stop: self.stop };
                (self.searcher.search_reader(&self.matcher, stream, &mut take), true)
            }
        };
        // In a file that was named only what is not shown is a gap: it is searched to its end where nothing matches.
        if (take.binary.is_some() && nul == Nul::Quits) || take.not_shown_from.is_some() {
            tally.binary.push(walk::to_path(path));
        }
        let hits = std::mem::take(&mut take.hits);
        if long {
            self.fresh();
        }
        // Context without a match: ripgrep too prints what comes before an empty
        // match at the very end of a file.
        if hits.matches > 0 || !hits.lines.is_empty() {
            self.keep(hits, path);
        }
        done
    }

    fn keep(&mut self, mut hits: FileHits, path: &[u8]) {
        hits.path = walk::to_path(path);
        if self.query.mode == Mode::Content {
            self.collected.fetch_add(hits.text.len(), Ordering::Relaxed);
        }
        self.bound.add(path, entries(self.query.mode, &hits));
        self.hits.push(hits);
    }

    fn note(&self, done: io::Result<()>, path: &[u8], tally: &mut Tally) {
        match done {
            Err(e) if !self.stop.now() => tally.unreadable(walk::to_path(path), e),
            _ => {}
        }
    }
}

impl Visit for Finder<'_> {
    const BATCH: usize = 64;
    const READS: bool = true;

    fn file(&mut self, at: &FileAt<'_>, tally: &mut Tally) {
        if self.query.mode == Mode::Content && self.collected.load(Ordering::Relaxed) > self.query.max_bytes {
            return;
        }
        match walk::open_file(at.dir, at.name) {
            Ok(fd) => {
                let done = self.listed(&fd, at, tally);
                self.note(done, at.path, tally);
                if self.buf.len() > MAX_WHOLE {
                    self.buf = vec![0; CHUNK];
                }
            }
            Err(e) if walk::gone(&e) => {}
            Err(e) => tally.unreadable(walk::to_path(at.path), e),
        }
    }

    fn beyond(&self, path: &[u8]) -> bool {
        self.bound.beyond(path)
    }
}

/// What the searcher reads.
#[derive(Clone, Copy)]
enum Source<'s> {
    /// So much of the buffer, as one.
    Whole(usize),
    /// So much of the buffer, as from a file.
    Pieces(usize),
    Stream(&'s OwnedFd),
}

fn too_large() -> io::Error {
    io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!("larger than {} MiB, too large to search for matches that span lines", MAX_MULTILINE >> 20),
    )
}

/// Whether a file starts with a mark that says how it is encoded.
fn has_bom(text: &[u8]) -> bool {
    [&b"\xef\xbb\xbf"[..], b"\xff\xfe", b"\xfe\xff"].iter().any(|bom| text.starts_with(bom))
}

/// The mark of UTF-32, which begins as the one of UTF-16 does.
const UTF_32_LE: &[u8] = b"\xff\xfe\0\0";

/// Bytes that tell text in two or four bytes a letter: 64 letters of the longer.
const WIDE_BYTES: usize = 256;

/// Whether this begins as text in UTF-16 or UTF-32 without a mark does: read so, all of it is letters and what stands
/// between letters, with a blank among those of ASCII.
fn is_wide(text: &[u8]) -> bool {
    let begin = &text[..text.len().min(WIDE_BYTES)];
    // Looked at for each file in which nothing was found: most have no NUL byte so early.
    if memchr::memchr(0, begin).is_none() || begin.len() < 4 {
        return false;
    }
    let two = |unit: fn([u8; 2]) -> u16| {
        let units = begin.chunks_exact(2).filter_map(|pair| pair.try_into().ok()).map(unit);
        // What is cut at the end may be half a letter.
        is_text(char::decode_utf16(units).map(Result::ok).take(begin.len() / 2 - 1))
    };
    let four = |unit: fn([u8; 4]) -> u32| {
        is_text(begin.chunks_exact(4).filter_map(|four| four.try_into().ok()).map(|four| char::from_u32(unit(four))))
    };
    two(u16::from_le_bytes) || two(u16::from_be_bytes) || four(u32::from_le_bytes) || four(u32::from_be_bytes)
}

fn is_text(mut letters: impl Iterator<Item = Option<char>>) -> bool {
    let (mut plain, mut blank) = (0, false);
    let all = letters.all(|letter| {
        let Some(letter) = letter else { return false };
        plain += usize::from(letter.is_ascii());
        blank |= letter.is_ascii_whitespace();
        is_written(letter)
    });
    all && blank && plain > 1
}

/// Whether texts hold it: letters, digits, blanks, signs.
fn is_written(c: char) -> bool {
    c.is_alphanumeric()
        || c.is_ascii_graphic()
        || c.is_whitespace()
        || matches!(c, '\u{a1}'..='\u{36f}' | '\u{2010}'..='\u{2bff}' | '\u{3000}'..='\u{303f}')
        || matches!(c, '\u{feff}'..='\u{ffef}' | '\u{1f000}'..='\u{1faff}')
}

fn read(fd: &OwnedFd, buf: &mut [u8]) -> Result<usize, Errno> {
    loop {
        match rustix::io::read(fd, &mut *buf) {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}

struct Fd<'a>(&'a OwnedFd);

impl Read for Fd<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(read(self.0, buf)?)
    }
}

/// A reader that ends with an error once the search is to stop.
struct Stoppable<'a, R> {
    inner: R,
    stop: &'a Stop<'a>,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.stop.now() {
            true => Err(io::Error::other("stopped")),
            false => self.inner.read(buf),
        }
    }
}
