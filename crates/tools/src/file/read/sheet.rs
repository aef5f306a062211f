//! Numbered lines, as `cat -n` writes them, within the bounds of an answer. Gets decoded text, piece by
//! piece; does not know where it came from. Nothing that could steer a terminal passes.

use nika_contract::text::harmless;
use nika_edit::cut;

/// Characters of a line; the rest is counted at its end.
pub(super) const LINE_CHARS: usize = 2_000;
/// Characters of an answer: the lines of a default window at their longest.
pub(super) const ANSWER_CHARS: usize = 2_000 * LINE_CHARS;
/// Room in an answer for what is said below the lines.
const FOOTER_CHARS: usize = 1_000;

/// An answer's lines, growing.
#[derive(Debug)]
pub(super) struct Sheet {
    out: String,
    /// Number of the next line; negative when counted from an end whose number is not known.
    pub next: i64,
    lines_left: u64,
    chars_left: usize,
    pub shown: u64,
    pub lf: u64,
    pub crlf: u64,
    pub cr: u64,
    /// The answer was full before the window was.
    pub full: bool,
}

impl Sheet {
    /// A sheet whose first line has the number `first`, for at most `lines` lines.
    pub fn new(first: i64, lines: u64, capacity: usize) -> Sheet {
        Sheet {
            out: String::with_capacity(capacity.min(2 * ANSWER_CHARS)),
            next: first,
            lines_left: lines,
            chars_left: ANSWER_CHARS - FOOTER_CHARS,
            shown: 0,
            lf: 0,
            crlf: 0,
            cr: 0,
            full: false,
        }
    }

    /// Whether it takes more.
    pub fn open(&self) -> bool {
        self.lines_left > 0 && !self.full
    }

    /// Takes lines of `text` while there is room.
    pub fn add(&mut self, text: &str, cr_only: bool) {
        if cr_only {
            for line in text.split_inclusive('\r') {
                if !self.open() {
                    break;
                }
                let body = line.strip_suffix('\r');
                self.cr += u64::from(body.is_some());
                self.line(body.unwrap_or(line), "");
            }
            return;
        }
        let mut rest = text;
        while self.open() && !rest.is_empty() {
            let (line, after) = match rest.find('\n') {
                Some(at) => (&rest[..at], &rest[at + 1..]),
                None => (rest, ""),
            };
            let ended = line.len() < rest.len();
            rest = after;
            match line.strip_suffix('\r') {
                Some(body) if ended => {
                    self.crlf += 1;
                    self.line(body, "");
                }
                _ => {
                    self.lf += u64::from(ended);
                    self.line(line, "");
                }
            }
        }
    }

    /// Takes one line with a remark at its end.
    pub fn line(&mut self, line: &str, remark: &str) {
        // Bytes bound characters from above, so most lines are settled without counting.
        let cut_line = (line.len() > LINE_CHARS).then(|| cut(line, LINE_CHARS).0);
        let line = cut_line.as_deref().unwrap_or(line);
        let plain = is_plain(line.as_bytes());
        let safe = if plain { line.into() } else { harmless(line) };
        let chars = if plain { safe.len() } else { safe.chars().count() };
        let needed = 8 + chars + remark.len();
        if needed > self.chars_left && self.shown > 0 {
            self.full = true;
            return;
        }
        self.chars_left = self.chars_left.saturating_sub(needed);
        self.push_number();
        self.out.push_str(&safe);
        self.out.push_str(remark);
        self.out.push('\n');
        self.next += 1;
        self.shown += 1;
        self.lines_left -= 1;
    }

    /// The number, right-aligned in six columns, and a tab.
    fn push_number(&mut self) {
        let mut column = [b' '; 21];
        column[20] = b'\t';
        let mut at = 20;
        let mut left = self.next.unsigned_abs();
        loop {
            at -= 1;
            // Below ten, so it is a digit.
            column[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        if self.next < 0 {
            at -= 1;
            column[at] = b'-';
        }
        self.out.push_str(std::str::from_utf8(&column[at.min(14)..]).unwrap_or_default());
    }

    /// The lines, without a newline at the end, and what is to be said below them.
    pub fn finish(mut self, notes: &[String]) -> String {
        for note in notes {
            self.out.push('[');
            self.out.push_str(note);
            self.out.push_str("]\n");
        }
        self.out.pop();
        self.out
    }
}

/// Only printable ASCII and tabs: one character a byte, nothing to make harmless.
fn is_plain(bytes: &[u8]) -> bool {
    // No early end: without branches the compiler takes 16 or 32 bytes at a time.
    bytes.iter().fold(true, |plain, &byte| plain & ((byte.wrapping_sub(0x20) < 0x5f) | (byte == b'\t')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(text: &str, lines: u64) -> Sheet {
        let mut sheet = Sheet::new(1, lines, 0);
        sheet.add(text, false);
        sheet
    }

    #[test]
    fn lines_are_numbered_as_cat_does() {
        assert_eq!(sheet("a\n\n\tb", 9).finish(&[]), "     1\ta\n     2\t\n     3\t\tb");
        let mut late = Sheet::new(999_999, 9, 0);
        late.add("x\ny\n", false);
        assert_eq!(late.finish(&[]), "999999\tx\n1000000\ty");
        let mut back = Sheet::new(-2, 9, 0);
        back.add("x\ny\n", false);
        assert_eq!(back.finish(&["end".into()]), "    -2\tx\n    -1\ty\n[end]");
    }

    #[test]
    fn endings_are_counted_and_not_shown() {
        let mixed = sheet("a\r\nb\nc\rd\r", 9);
        assert_eq!((mixed.lf, mixed.crlf, mixed.shown), (1, 1, 3));
        assert_eq!(mixed.finish(&[]), "     1\ta\n     2\tb\n     3\tc␍d␍");
        let mut old = Sheet::new(1, 9, 0);
        old.add("a\rb\r", true);
        assert_eq!((old.cr, old.finish(&[])), (2, "     1\ta\n     2\tb".into()));
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let shown = sheet(&"é".repeat(2_005), 9).finish(&[]);
        assert!(shown.ends_with("é… [+5 chars]"), "{}", &shown[shown.len() - 40..]);
        assert_eq!(shown.matches('é').count(), 2_000);
        assert!(!sheet(&"é".repeat(2_000), 9).finish(&[]).contains('…'));
    }

    #[test]
    fn an_answer_never_exceeds_its_bound() {
        let text = format!("{}\n", "x".repeat(1_995)).repeat(2_100);
        let full = sheet(&text, u64::MAX);
        assert!(full.full && full.shown > 1_900, "{}", full.shown);
        assert!(full.finish(&[]).chars().count() <= ANSWER_CHARS);
    }

    #[test]
    fn steering_characters_are_made_visible() {
        let shown = sheet("a\u{1b}[31mb\0\u{202e}c\u{9b}\n", 9).finish(&[]);
        assert_eq!(shown, "     1\ta␛[31mb␀\\u{202e}c\\u{009b}");
    }
}
