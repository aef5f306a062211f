//! Looks for a line in output that grows.
//!
//! A line that has ended is looked at once. One that has not is looked at again as it grows, since a prompt never ends;
//! and so is a terminal's screen. Both would make a flood without line ends (a progress bar) cost its square, so the next
//! look waits until as much is new as would be looked at again, or a moment has passed: the work is linear in the output,
//! and bounded in time. Knows nothing of what makes a line please.

use std::time::{Duration, Instant};

use super::output::Kept;
use super::screen::Screen;

/// The longest that a look is put off: nobody notices so little, and fifty looks a second leave the job its time.
const PUT_OFF: Duration = Duration::from_millis(20);
/// How many bytes of a line without an end are looked at again, its last: as many as are in memory for certain.
const LONGEST_OPEN: usize = 64 << 10;

/// A search from a place in the output on.
#[derive(Debug)]
pub(super) struct Seek {
    cursor: u64,
    /// Where the line begins that comes next.
    seen: u64,
    last: Option<Look>,
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

impl Seek {
    pub(super) fn from(cursor: u64) -> Seek {
        Seek { cursor, seen: cursor, last: None }
    }

    /// Whether a look is worth its work, with so much output.
    pub(super) fn is_due(&self, total: u64, now: Instant) -> bool {
        let Some(last) = &self.last else { return true };
        let new = total.saturating_sub(last.total);
        new > 0 && (new >= last.again || now.saturating_duration_since(last.at) >= PUT_OFF)
    }

    /// Whether a line pleases that was written since the last look, or stands on a screen that was drawn since the
    /// beginning.
    pub(super) fn look(
        &mut self,
        kept: &Kept,
        screen: Option<&Screen>,
        now: Instant,
        pleases: &dyn Fn(&[u8]) -> bool,
    ) -> bool {
        let Some(screen) = screen else { return self.examine(kept, 0, now, &|_, line| pleases(line)) };
        let shown = screen.since(self.cursor);
        let found = self.examine(kept, screen.cells(), now, &|at, line| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            // Most lines are what they show.
            if line.iter().all(|byte| *byte >= b' ') {
                return pleases(line);
            }
            screen.written(line, at).lines().any(|line| pleases(line.as_bytes()))
        });
        found || shown.is_some_and(|picture| picture.text.lines().any(|line| pleases(line.as_bytes())))
    }

    /// Whether a line pleases, each with where it begins; `beside` is what every look costs besides, in bytes.
    fn examine(&mut self, kept: &Kept, beside: u64, now: Instant, pleases: &dyn Fn(u64, &[u8]) -> bool) -> bool {
        let total = kept.total();
        let mut open = 0;
        while self.seen < total {
            let bytes = kept.in_memory(self.seen..total);
            let reached = self.seen + bytes.len() as u64;
            let mut rest = &bytes[..];
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                if end > 0 && pleases(self.seen, &rest[..end]) {
                    return true;
                }
                self.seen += end as u64 + 1;
                rest = &rest[end + 1..];
            }
            if !rest.is_empty() && pleases(self.seen, rest) {
                return true;
            }
            if reached == total {
                let left_out = beginning(rest);
                self.seen += left_out as u64;
                open = (rest.len() - left_out) as u64;
                break;
            }
            // The gap: the line that it cuts cannot be known.
            self.seen = kept.tail_start();
        }
        self.last = Some(Look { total, again: open + beside, at: now });
        false
    }
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

    /// How many bytes are looked at of a flood of `pieces` pieces, and of how many, when no time passes.
    fn looked_at(piece: &[u8], pieces: usize, beside: u64) -> (u64, u64) {
        let (mut kept, mut seek, now) = (Kept::new(&Bounds::default()), Seek::from(0), Instant::now());
        let work = Cell::new(0);
        for _ in 0..pieces {
            kept.push(piece);
            if seek.is_due(kept.total(), now) {
                work.set(work.get() + beside);
                let found = seek.examine(&kept, beside, now, &|_, line| {
                    work.set(work.get() + line.len() as u64);
                    false
                });
                assert!(!found);
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
        let (mut kept, mut seek, now) = (Kept::new(&Bounds::default()), Seek::from(0), Instant::now());
        let look = |seek: &mut Seek, kept: &Kept, now| {
            seek.is_due(kept.total(), now).then(|| seek.look(kept, None, now, &|line| line.ends_with(b"> ")))
        };
        kept.push(&[b'x'; 1000]);
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
        let note = |_, line: &[u8]| {
            let mut all: Vec<String> = seen.take();
            all.push(String::from_utf8_lossy(line).into_owned());
            seen.set(all);
            false
        };
        assert!(!Seek::from(0).examine(&kept, 0, now, &note));
        let all = seen.take();
        assert_eq!((all[0].as_str(), all[1].as_str()), ("a", "bc"), "{all:?}");
        assert!(all[2].ends_with("xyz") && all[3] == "end", "{all:?}");

        let (mut kept, mut seek) = (Kept::new(&Bounds::default()), Seek::from(0));
        for _ in 0..40 {
            kept.push(&[b'x'; 5000]);
            assert!(!seek.look(&kept, None, now, &|line| line.ends_with(b"$ ")));
        }
        kept.push(b"$ ");
        assert!(seek.look(&kept, None, now, &|line| line.ends_with(b"$ ")));
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
        let finds = |text: &str| Seek::from(0).look(&kept, Some(&screen), now, &|line| line == text.as_bytes());
        assert!(finds("ready") && finds(" 99%") && !finds(" 10%") && !finds("\x1b[1mready"));
    }
}
