//! Numbered lines, as `cat -n` writes them, within the bounds of an answer. Gets decoded text, piece by
//! piece; does not know where it came from. Nothing that could steer a terminal passes.

use super::text::Page;
use nika_contract::text::{harmless, is_printable_ascii};
use nika_edit::cut;
use nika_host::fs::Shown;

/// Characters of a line; the rest is counted at its end.
pub(super) const LINE_CHARS: usize = 2_000;
/// Characters of an answer: the lines of a default window at their longest.
pub(super) const ANSWER_CHARS: usize = 2_000 * LINE_CHARS;
/// Room in an answer for what is said below the lines.
const FOOTER_CHARS: usize = 1_000;

/// How much text is looked at together for characters that need care.
const BLOCK: usize = 32 << 10;

/// An answer's lines, growing.
#[derive(Debug)]
pub(super) struct Sheet {
    /// UTF-8; bytes, because every piece of it was checked already.
    out: Vec<u8>,
    number: Number,
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
            out: Vec::with_capacity(capacity.min(2 * ANSWER_CHARS)),
            number: Number::new(first),
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

    /// Number of the next line; negative when counted from an end whose number is not known.
    pub fn next(&self) -> i64 {
        self.number.value
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
            let (block, after) = rest.split_at(whole_lines(rest));
            rest = after;
            if is_printable_ascii(block.as_bytes()) { self.plain_lines(block) } else { self.any_lines(block) }
        }
    }

    /// Lines of printable ASCII: a byte is a character, and a line is copied with its ending.
    fn plain_lines(&mut self, block: &str) {
        let mut rest = block.as_bytes();
        while self.open() && !rest.is_empty() {
            let ending = newline(rest);
            let (line, after) = rest.split_at(ending.map_or(rest.len(), |at| at + 1));
            let chars = ending.unwrap_or(rest.len());
            if chars > LINE_CHARS {
                self.lf += u64::from(ending.is_some());
                self.line(std::str::from_utf8(&line[..chars]).unwrap_or_default(), "");
            } else {
                if !self.room_for(chars) {
                    return;
                }
                self.lf += u64::from(ending.is_some());
                self.number.write(&mut self.out);
                self.out.extend_from_slice(line);
                if ending.is_none() {
                    self.out.push(b'\n');
                }
            }
            rest = after;
        }
    }

    fn any_lines(&mut self, block: &str) {
        let mut rest = block;
        while self.open() && !rest.is_empty() {
            let (line, after) = match newline(rest.as_bytes()) {
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
        let safe = harmless(line);
        let chars = safe.bytes().filter(|byte| byte & 0xc0 != 0x80).count();
        if !self.room_for(chars + remark.len()) {
            return;
        }
        self.number.write(&mut self.out);
        self.out.extend_from_slice(safe.as_bytes());
        self.out.extend_from_slice(remark.as_bytes());
        self.out.push(b'\n');
    }

    /// Books a line of so many characters; the first is always taken.
    fn room_for(&mut self, chars: usize) -> bool {
        let needed = chars + Number::CHARS;
        if needed > self.chars_left && self.shown > 0 {
            self.full = true;
            return false;
        }
        self.chars_left = self.chars_left.saturating_sub(needed);
        self.shown += 1;
        self.lines_left -= 1;
        true
    }

    /// The lines, without a newline at the end, and what is to be said below them.
    pub fn finish(mut self, notes: &[String]) -> Page {
        let notes_from = self.out.len();
        for note in notes {
            self.out.extend_from_slice(format!("[{note}]\n").as_bytes());
        }
        self.out.pop();
        let text = String::from_utf8(self.out);
        let text = text.unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned());
        let last = self.number.value - 1;
        let first = last.saturating_add(1).saturating_sub_unsigned(self.shown);
        let part = Shown::Parts(if self.shown > 0 { vec![(first, last)] } else { Vec::new() });
        Page { notes_from: notes_from.min(text.len()), text, shown: self.shown, part }
    }
}

/// The column of numbers: right-aligned in six places, and a tab.
#[derive(Debug)]
struct Number {
    value: i64,
    /// The column as it stands in the answer; counting up changes a digit or two of it.
    column: [u8; 21],
    start: usize,
}

impl Number {
    /// Room for a number of any usual size, its tab and the line's ending.
    const CHARS: usize = 12;

    fn new(value: i64) -> Number {
        let mut number = Number { value, column: [b' '; 21], start: 14 };
        number.render();
        number
    }

    fn write(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.column[self.start..]);
        self.value += 1;
        match self.column[19] {
            // Counting up from a negative number counts its digits down: seldom, so in full.
            digit @ b'0'..=b'8' if self.value > 0 => self.column[19] = digit + 1,
            _ => self.render(),
        }
    }

    fn render(&mut self) {
        self.column = [b' '; 21];
        self.column[20] = b'\t';
        let (mut at, mut left) = (20, self.value.unsigned_abs());
        loop {
            at -= 1;
            // Below ten, so it is a digit.
            self.column[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        if self.value < 0 {
            at -= 1;
            self.column[at] = b'-';
        }
        self.start = at.min(14);
    }
}

/// How much of `text` is a block of whole lines.
fn whole_lines(text: &str) -> usize {
    let Some(rest) = text.as_bytes().get(BLOCK..) else { return text.len() };
    newline(rest).map_or(text.len(), |at| BLOCK + at + 1)
}

/// The first newline, eight bytes at a time: lines are short, so starting must cost nothing.
fn newline(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    let (words, _) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        // A byte is zero where the newline was; the lowest such bit is exact.
        let word = u64::from_le_bytes(*word) ^ (ONES * u64::from(b'\n'));
        let found = word.wrapping_sub(ONES) & !word & (ONES << 7);
        if found != 0 {
            return Some(8 * at + found.trailing_zeros() as usize / 8);
        }
    }
    let tail = 8 * words.len();
    bytes[tail..].iter().position(|byte| *byte == b'\n').map(|at| tail + at)
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
        assert_eq!(sheet("a\n\n\tb", 9).finish(&[]).text, "     1\ta\n     2\t\n     3\t\tb");
        let mut late = Sheet::new(999_999, 9, 0);
        late.add("x\ny\n", false);
        assert_eq!(late.finish(&[]).text, "999999\tx\n1000000\ty");
        let mut back = Sheet::new(-2, 9, 0);
        back.add("x\ny\n", false);
        assert_eq!(back.finish(&["end".into()]).text, "    -2\tx\n    -1\ty\n[end]");
    }

    #[test]
    fn counting_up_carries() {
        for first in [0i64, 1, 8, 98, 999_997, -1_002, -12, -3] {
            let shown: Vec<i64> = {
                let mut sheet = Sheet::new(first, 9_999, 0);
                sheet.add(&"x\n".repeat(1_500), false);
                sheet.finish(&[]).text.lines().filter_map(|line| line.split('\t').next()?.trim().parse().ok()).collect()
            };
            assert_eq!(shown, (first..first + 1_500).collect::<Vec<_>>());
        }
    }

    #[test]
    fn newlines_are_found_where_they_are() {
        for length in 0..40usize {
            for at in 0..length {
                let mut bytes = vec![0x8a; length];
                bytes[at] = b'\n';
                assert_eq!(newline(&bytes), Some(at), "{length}");
            }
            assert_eq!(newline(&vec![0x0b; length]), None);
        }
    }

    #[test]
    fn blocks_do_not_show() {
        let text: String =
            (0..9_000).map(|n| format!("{}{}\n", "x".repeat(n % 90), if n % 4_000 == 0 { "é" } else { "" })).collect();
        let shown = sheet(&text, u64::MAX).finish(&[]).text;
        let lines: Vec<&str> = shown.lines().map(|line| &line[7..]).collect();
        assert_eq!(lines, text.lines().collect::<Vec<_>>());
    }

    #[test]
    fn endings_are_counted_and_not_shown() {
        let mixed = sheet("a\r\nb\nc\rd\r", 9);
        assert_eq!((mixed.lf, mixed.crlf, mixed.shown), (1, 1, 3));
        assert_eq!(mixed.finish(&[]).text, "     1\ta\n     2\tb\n     3\tc␍d␍");
        let mut old = Sheet::new(1, 9, 0);
        old.add("a\rb\r", true);
        assert_eq!((old.cr, old.finish(&[]).text), (2, "     1\ta\n     2\tb".into()));
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let shown = sheet(&"é".repeat(2_005), 9).finish(&[]).text;
        assert!(shown.ends_with("é… [+5 chars]"), "{}", &shown[shown.len() - 40..]);
        assert_eq!(shown.matches('é').count(), 2_000);
        assert!(!sheet(&"é".repeat(2_000), 9).finish(&[]).text.contains('…'));
    }

    #[test]
    fn an_answer_never_exceeds_its_bound() {
        let text = format!("{}\n", "x".repeat(1_995)).repeat(2_100);
        let full = sheet(&text, u64::MAX);
        assert!(full.full && full.shown > 1_900, "{}", full.shown);
        assert!(full.finish(&[]).text.chars().count() <= ANSWER_CHARS);
    }

    #[test]
    fn steering_characters_are_made_visible() {
        let shown = sheet("a\u{1b}[31mb\0\u{202e}c\u{9b}\nd\u{e0064}\u{200b}é\n", 9).finish(&[]).text;
        assert_eq!(shown, "     1\ta␛[31mb␀\\u{202e}c\\u{009b}\n     2\td\\u{e0064}\\u{200b}é");
    }
}
