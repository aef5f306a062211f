//! Gathers the lines that please from output that grows.
//!
//! A line that has ended is looked at once. One that has not is looked at again as it grows, since a prompt never ends;
//! and so is a terminal's screen. Both would make a flood without line ends (a progress bar) cost its square, so the next
//! look waits until as much is new as would be looked at again, or a moment has passed: the work is linear in the output,
//! and bounded in time. What has left memory is read from the file that keeps it, a piece at a time. Knows nothing of
//! what makes a line please.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::output::{Kept, from_spill};
use super::screen::Screen;

/// The longest that a look is put off: nobody notices so little, and fifty looks a second leave the job its time.
const PUT_OFF: Duration = Duration::from_millis(20);
/// How many bytes of a line without an end are looked at again, its last: as many as are in memory for certain.
const LONGEST_OPEN: usize = 64 << 10;
/// How much of a file is looked at at once: the job waits as long.
const PIECE: u64 = 1 << 20;

/// A search from a place in the output on.
#[derive(Debug)]
pub(super) struct Seek {
    cursor: u64,
    /// Where the line begins that comes next.
    seen: u64,
    last: Option<Look>,
    /// Bytes that were not kept anywhere.
    pub(super) skipped: u64,
    /// Whether the file with what has left memory cannot be read.
    is_blind: bool,
}

/// What is known of the last look.
#[derive(Debug)]
struct Look {
    /// How much output there was.
    total: u64,
    /// How many bytes the next look will look at again.
    again: u64,
    at: Instant,
}

/// The lines that pleased, each ended, and whether one stands on the screen.
pub(super) struct Found<'a> {
    pub(super) lines: Vec<u8>,
    pub(super) on_screen: bool,
    /// How many bytes there may be; the first line may have more.
    most: usize,
    /// Asked before each line: whether no more are wanted.
    stopped: &'a dyn Fn() -> bool,
}

impl<'a> Found<'a> {
    pub(super) fn at_most(most: usize, stopped: &'a dyn Fn() -> bool) -> Found<'a> {
        Found { lines: Vec::new(), on_screen: false, most, stopped }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty() && !self.on_screen
    }

    /// Takes the rows of one more line that please, each ended: all or none, since the next search begins with a line. One
    /// for which there is no room is left to that.
    fn take(&mut self, rows: &[u8]) -> ControlFlow<()> {
        if !rows.is_empty() && !self.lines.is_empty() && self.lines.len() + rows.len() > self.most {
            return ControlFlow::Break(());
        }
        self.lines.extend_from_slice(rows);
        ControlFlow::Continue(())
    }
}

/// What is done with a line and where it begins.
type Each<'a> = &'a mut dyn FnMut(u64, &[u8]) -> ControlFlow<()>;

impl Seek {
    /// From `cursor` on, and of a line that it cuts from its beginning: the part that was read may make the rest please.
    /// Where that part pleases by itself the line was found before, and only what came since is new.
    pub(super) fn from(cursor: u64, kept: &Kept, screen: Option<&Screen>, pleases: &dyn Fn(&[u8]) -> bool) -> Seek {
        let cursor = cursor.min(kept.total());
        let open = open_before(kept, cursor);
        let begin = cursor - open.len() as u64;
        let mut was_found = false;
        each_row(screen, begin, &open, &mut |row| was_found |= pleases(row));
        let seen = if was_found { cursor } else { begin };
        Seek { cursor, seen, last: None, skipped: 0, is_blind: false }
    }

    /// Where the next search begins.
    pub(super) fn next(&self) -> u64 {
        // A line without an end was looked at.
        self.last.as_ref().map_or(self.seen, |last| last.total)
    }

    /// Whether a look is worth its work, with so much output.
    pub(super) fn is_due(&self, total: u64, now: Instant) -> bool {
        let Some(last) = &self.last else { return true };
        let new = total.saturating_sub(last.total);
        new > 0 && (new >= last.again || now.saturating_duration_since(last.at) >= PUT_OFF)
    }

    /// The next piece that is in a file alone.
    pub(super) fn in_file(&self, kept: &Kept) -> Option<Piece> {
        let (path, written) = kept.spilled.as_ref().filter(|_| !self.is_blind)?;
        let until = (self.seen + PIECE).min(*written);
        (self.seen < kept.tail_start().min(*written)).then(|| Piece { path: path.clone(), until })
    }

    /// Gathers from a piece of a file; `bytes` are those from where the next line begins. It breaks when nothing more
    /// has room, or is wanted.
    pub(super) fn gather_piece(
        &mut self,
        (piece, bytes): (&Piece, &[u8]),
        tail_start: u64,
        screen: Option<&Screen>,
        pleases: &dyn Fn(&[u8]) -> bool,
        found: &mut Found<'_>,
    ) -> ControlFlow<()> {
        self.last = None;
        let begin = self.seen;
        if begin + (bytes.len() as u64) < piece.until {
            self.is_blind = true;
            return ControlFlow::Continue(());
        }
        let mut each = taking(screen, pleases, found);
        let rest = self.ended_lines(bytes, &mut each)?;
        if self.seen == begin {
            // One line, longer than the piece or without an end: what memory has of it is looked at there.
            each(begin, rest)?;
            self.seen = piece.until.min(tail_start.max(begin + 1));
        }
        ControlFlow::Continue(())
    }

    /// Gathers what was written since the last look, and looks at a screen that was drawn since the beginning. What is in
    /// a file alone is passed over.
    pub(super) fn gather(
        &mut self,
        kept: &Kept,
        screen: Option<&Screen>,
        now: Instant,
        pleases: &dyn Fn(&[u8]) -> bool,
        found: &mut Found<'_>,
    ) {
        let cells = screen.map_or(0, Screen::cells);
        let looked = self.examine(kept, cells, now, &mut taking(screen, pleases, found));
        let shown = screen.and_then(|screen| screen.since(self.cursor));
        found.on_screen = shown.is_some_and(|picture| picture.text.lines().any(|line| pleases(line.as_bytes())));
        if looked.is_break() {
            self.last = None;
        }
    }

    /// Looks at each line with where it begins; `beside` is what every look costs besides, in bytes.
    fn examine(&mut self, kept: &Kept, beside: u64, now: Instant, each: Each<'_>) -> ControlFlow<()> {
        let total = kept.total();
        let mut open = 0;
        while self.seen < total {
            let bytes = kept.in_memory(self.seen..total);
            let reached = self.seen + bytes.len() as u64;
            let rest = self.ended_lines(&bytes, each)?;
            if !rest.is_empty() {
                each(self.seen, rest)?;
            }
            if reached == total {
                let left_out = beginning(rest);
                self.seen += left_out as u64;
                open = (rest.len() - left_out) as u64;
                break;
            }
            // The gap: the line that it cuts cannot be known.
            self.skipped += kept.tail_start() - reached;
            self.seen = kept.tail_start();
        }
        self.last = Some(Look { total, again: open + beside, at: now });
        ControlFlow::Continue(())
    }

    /// Looks at the lines that end in these bytes; the rest.
    fn ended_lines<'b>(&mut self, bytes: &'b [u8], each: Each<'_>) -> ControlFlow<(), &'b [u8]> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            if end > 0 {
                each(self.seen, &rest[..end])?;
            }
            self.seen += end as u64 + 1;
            rest = &rest[end + 1..];
        }
        ControlFlow::Continue(rest)
    }
}

/// A piece of output that memory does not have.
#[derive(Debug)]
pub(super) struct Piece {
    path: PathBuf,
    until: u64,
}

impl Piece {
    /// Its bytes from where `seek` is.
    pub(super) fn read(&self, seek: &Seek) -> Vec<u8> {
        from_spill(&self.path, seek.seen..self.until)
    }
}

/// What takes the lines that please.
fn taking<'a>(
    screen: Option<&'a Screen>,
    pleases: &'a dyn Fn(&[u8]) -> bool,
    found: &'a mut Found<'_>,
) -> impl FnMut(u64, &[u8]) -> ControlFlow<()> + 'a {
    move |at, line| {
        if (found.stopped)() {
            return ControlFlow::Break(());
        }
        let mut rows = Vec::new();
        each_row(screen, at, line, &mut |row| {
            if pleases(row) {
                rows.extend_from_slice(row);
                rows.push(b'\n');
            }
        });
        found.take(&rows)
    }
}

/// A line as it reads, without its break, be that CRLF; on a terminal that may be several rows.
fn each_row(screen: Option<&Screen>, at: u64, line: &[u8], each: &mut dyn FnMut(&[u8])) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let Some(screen) = screen else { return each(line) };
    // Most lines are what they show.
    if line.iter().all(|byte| *byte >= b' ') {
        return each(line);
    }
    screen.written(line, at).lines().for_each(|row| each(row.as_bytes()));
}

/// What stands before `cursor` in its line: of a long one the last bytes, of one that is not kept nothing.
fn open_before(kept: &Kept, cursor: u64) -> Vec<u8> {
    let from = cursor.saturating_sub(LONGEST_OPEN as u64);
    let in_memory = [from, kept.tail_start().max(from)].map(|from| (from, kept.in_memory(from..cursor)));
    let is_whole = |(from, bytes): &(u64, Vec<u8>)| from + bytes.len() as u64 == cursor;
    let in_file = |(path, _): &(PathBuf, u64)| (from, from_spill(path, from..cursor));
    let [far, near] = in_memory;
    let before = Some(far).filter(is_whole);
    let before = before.or_else(|| kept.spilled.as_ref().map(in_file).filter(is_whole));
    let (_, mut bytes) = before.or_else(|| Some(near).filter(is_whole)).unwrap_or_default();
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    bytes.split_off(end)
}

/// How much of a line without an end is looked at no more: none of most, of an endless one all but its last bytes, from
/// where it was written over, or a sequence begins.
fn beginning(line: &[u8]) -> usize {
    let Some(cut) = line.len().checked_sub(LONGEST_OPEN).filter(|cut| *cut > 0) else { return 0 };
    let rest = &line[cut..];
    let over = rest.iter().position(|byte| *byte == b'\r').map(|at| at + 1);
    cut + over.or_else(|| rest.iter().position(|byte| *byte == 0x1b)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::output::Bounds;
    use super::*;

    fn begin() -> Seek {
        Seek::from(0, &Kept::new(&Bounds::default()), None, &|_| false)
    }

    /// What a look finds.
    fn gather(seek: &mut Seek, kept: &Kept, screen: Option<&Screen>, now: Instant, ends: &[u8]) -> Vec<u8> {
        let mut found = Found::at_most(1000, &|| false);
        seek.gather(kept, screen, now, &|line| line.ends_with(ends), &mut found);
        found.lines
    }

    /// How many bytes are looked at of a flood of `pieces` pieces, and of how many, when no time passes.
    fn looked_at(piece: &[u8], pieces: usize, beside: u64) -> (u64, u64) {
        let (mut kept, mut seek, now) = (Kept::new(&Bounds::default()), begin(), Instant::now());
        let work = Cell::new(0);
        for _ in 0..pieces {
            kept.push(piece);
            if seek.is_due(kept.total(), now) {
                work.set(work.get() + beside);
                let all = seek.examine(&kept, beside, now, &mut |_, line| {
                    work.set(work.get() + line.len() as u64);
                    ControlFlow::Continue(())
                });
                assert!(all.is_continue());
            }
        }
        (work.get(), kept.total())
    }

    #[test]
    fn what_never_ends_a_line_is_looked_at_in_linear_work() {
        for (piece, beside) in [(&b"\r 12 %"[..], 3600), (b"\x1b[1mx", 3600), (b"x", 0), (b"\r", 3600)] {
            for pieces in [30_000, 300_000] {
                let (work, total) = looked_at(piece, pieces, beside);
                assert!(work <= 3 * total + 2 * beside, "{work} for {total} of {piece:?}");
            }
        }
    }

    #[test]
    fn lines_that_end_are_looked_at_once() {
        let (work, total) = looked_at(b"line\n", 100_000, 0);
        assert!(work < total, "{work} for {total}");
    }

    #[test]
    fn a_look_is_put_off_no_longer_than_a_moment() {
        let (mut kept, mut seek, now) = (Kept::new(&Bounds::default()), begin(), Instant::now());
        let look = |seek: &mut Seek, kept: &Kept, now| {
            seek.is_due(kept.total(), now).then(|| !gather(seek, kept, None, now, b"> ").is_empty())
        };
        kept.push(&[b'x'; 900]);
        assert_eq!(look(&mut seek, &kept, now), Some(false));
        assert_eq!(look(&mut seek, &kept, now + PUT_OFF), None, "nothing is new");
        kept.push(b"> ");
        assert_eq!(look(&mut seek, &kept, now), None);
        assert_eq!(look(&mut seek, &kept, now + PUT_OFF), Some(true));
    }

    #[test]
    fn a_gap_ends_a_line_and_a_long_one_is_known_by_its_end() {
        let small = Bounds { head_bytes: 4, tail_bytes: 8, ..Bounds::default() };
        let (mut kept, now, seen) = (Kept::new(&small), Instant::now(), Cell::new(Vec::new()));
        kept.push(b"a\nbcdefghijklmnopqrstuvwxyz\nend");
        let mut seek = begin();
        let mut note = |_, line: &[u8]| {
            let mut all: Vec<String> = seen.take();
            all.push(String::from_utf8_lossy(line).into_owned());
            seen.set(all);
            ControlFlow::Continue(())
        };
        assert!(seek.examine(&kept, 0, now, &mut note).is_continue() && seek.skipped > 0);
        let all = seen.take();
        assert_eq!((all[0].as_str(), all[1].as_str()), ("a", "bc"), "{all:?}");
        assert!(all[2].ends_with("xyz") && all[3] == "end", "{all:?}");

        let (mut kept, mut seek) = (Kept::new(&Bounds::default()), begin());
        for _ in 0..40 {
            kept.push(&[b'x'; 5000]);
            assert_eq!(gather(&mut seek, &kept, None, now, b"$ "), b"");
        }
        kept.push(b"$ ");
        assert!(gather(&mut seek, &kept, None, now, b"$ ").ends_with(b"x$ \n"));
    }

    #[test]
    fn a_line_is_looked_at_from_its_beginning_and_found_once() {
        let (mut kept, now) = (Kept::new(&Bounds::default()), Instant::now());
        let find = |kept: &Kept, cursor, end: &[u8]| {
            let mut seek = Seek::from(cursor, kept, None, &|line| line.ends_with(end));
            let lines = gather(&mut seek, kept, None, now, end);
            (String::from_utf8(lines).expect("text"), seek.next())
        };
        kept.push(b"one\nserv");
        assert_eq!(find(&kept, 0, b"server"), (String::new(), 8));
        kept.push(b"er\nthe other server\n> ");
        assert_eq!(find(&kept, 8, b"server"), ("server\nthe other server\n".to_owned(), 30));
        // What was found as it stood is not found again.
        assert_eq!(find(&kept, 30, b"> "), (String::new(), 30));
        kept.push(b"typed\n> ");
        assert_eq!(find(&kept, 30, b"> "), ("> \n".to_owned(), 38));
        kept.push(b"dos\r\n");
        assert_eq!(find(&kept, 38, b"dos"), ("> dos\n".to_owned(), 43), "its end stands before its break");
        let mut seek = Seek::from(0, &kept, None, &|_| false);
        let mut found = Found::at_most(8, &|| false);
        seek.gather(&kept, None, now, &|_| true, &mut found);
        assert_eq!((found.lines.as_slice(), seek.next()), (&b"one\n"[..], 4), "the next has no room");
    }

    #[test]
    fn lines_of_a_terminal_are_found_as_they_read() {
        let (mut kept, mut screen, now) = (Kept::new(&Bounds::default()), Screen::new(3, 20), Instant::now());
        let mut write = |kept: &mut Kept, bytes: &[u8]| {
            kept.push(bytes);
            screen.take(bytes);
        };
        // What was drawn over once does not hide what was written, and has left the screen, since.
        write(&mut kept, b"\x1b[2Jmenu\r\n\x1b[1mready\x1b[m\r\n");
        for _ in 0..9 {
            write(&mut kept, b"\x1b[32mmore\x1b[m\r\n");
        }
        write(&mut kept, b"\r 10%\r 99%");
        let finds = |text: &str| {
            let (mut seek, mut found) = (begin(), Found::at_most(1000, &|| false));
            seek.gather(&kept, Some(&screen), now, &|line| line == text.as_bytes(), &mut found);
            !found.is_empty()
        };
        assert!(finds("ready") && finds(" 99%") && !finds(" 10%") && !finds("\x1b[1mready"));
    }

    #[test]
    fn a_line_of_many_rows_is_found_once_however_many_have_room() {
        let (mut kept, mut screen, now) = (Kept::new(&Bounds::default()), Screen::new(3, 20), Instant::now());
        // A line feed that is none: the next row, and no next line.
        let rows: String = (0..50).map(|n| format!("row {n}\r\x0b")).collect();
        let bytes = format!("first\r\n{rows}\r\nlast\r\n");
        kept.push(bytes.as_bytes());
        screen.take(bytes.as_bytes());
        let (mut shown, mut cursor) = (String::new(), 0);
        for _ in 0..9 {
            let mut seek = Seek::from(cursor, &kept, Some(&screen), &|_| true);
            let mut found = Found::at_most(40, &|| false);
            seek.gather(&kept, Some(&screen), now, &|_| true, &mut found);
            shown.push_str(&String::from_utf8(found.lines).expect("text"));
            cursor = seek.next();
        }
        let all: String = (0..50).map(|n| format!("row {n}\n")).collect();
        assert_eq!((shown, cursor), (format!("first\n{all}last\n"), kept.total()));
    }
}
