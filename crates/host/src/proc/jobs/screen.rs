//! What a job's terminal shows: its present screen, and output as the lines that a person would have read.
//!
//! A program may write anything, and what draws it is a crate of others: it gets no sequence that would keep it busy and
//! no string that would fill memory, and when it fails all the same, the screen is given up and the job goes on. Nothing
//! of a screen is kept but its cells; what it said first is among the bytes that are kept of any output.

use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};

use vt100::capture::{BasicFormattedCaptureRange, BasicFormattedCaptureState, RowContents, basic_formatted_to_plain};

use super::strings::Strings;

/// How often a character may be repeated by one sequence: more than any terminal is wide, and few enough that a
/// screenful of sequences is drawn in milliseconds.
const MOST_REPEATS: u16 = 512;
/// What takes back a sequence that has begun: the control character CAN.
const CANCEL: &[u8] = &[0x18];
/// To the screen that full programs use, and back to the usual one.
const TO_OTHER: &[u8] = b"\x1b[?1049h";
const FROM_OTHER: &[u8] = b"\x1b[?1049l";
/// The bytes of replies that wait at once. A program that asks more often does not read what it is told.
const MOST_REPLIES: usize = 1024;
/// How many rows one line is drawn on that stays where it is: it goes over to the second when the first is full, and what
/// leaves the first is kept.
const LINE_ROWS: NonZeroU16 = NonZeroU16::new(2).expect("it is not zero");
/// How many changes between the two screens are remembered. A program that reads its output so late knows its screen.
const MOST_TURNS: usize = 64;
/// The longest sequence that is waited for at the end of a piece of output.
pub(super) const LONGEST_SEQUENCE: usize = 64;

/// The present screen, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Its lines, without the empty ones at its end.
    pub text: String,
    /// Where the cursor stands, line and column, from 1 on.
    pub cursor: (u16, u16),
}

/// A terminal's screen, drawn along with the output.
pub(super) struct Screen {
    size: (NonZeroU16, NonZeroU16),
    /// None once it could not be drawn.
    drawn: Option<Drawn>,
    /// Bytes so far.
    total: u64,
    /// How many there were when the program last drew elsewhere than below what stood there.
    drew: u64,
    /// From how many on the screen was the other one, which full programs use, or the usual again.
    turns: VecDeque<(u64, bool)>,
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").field("size", &self.size).field("total", &self.total).finish_non_exhaustive()
    }
}

impl Screen {
    /// An empty one. A size of 0 is 1: a screen has a cell.
    pub(super) fn new(rows: u16, cols: u16) -> Screen {
        let size = (NonZeroU16::new(rows).unwrap_or(NonZeroU16::MIN), NonZeroU16::new(cols).unwrap_or(NonZeroU16::MIN));
        Screen { size, drawn: Some(Drawn::new(size)), total: 0, drew: 0, turns: VecDeque::new() }
    }

    /// Draws what the job wrote; what the terminal answers to it.
    pub(super) fn take(&mut self, piece: &[u8]) -> Vec<u8> {
        self.total += piece.len() as u64;
        let Some(mut drawn) = self.drawn.take() else { return Vec::new() };
        let done = catch_unwind(AssertUnwindSafe(move || {
            drawn.draw(piece);
            drawn
        }));
        let Ok(mut drawn) = done else { return Vec::new() };
        if std::mem::take(&mut drawn.read.drew) {
            self.drew = self.total;
        }
        let other = drawn.is_other();
        if other != self.is_other_at(self.total) {
            self.turns.push_back((self.total, other));
            if self.turns.len() > MOST_TURNS {
                self.turns.pop_front();
            }
        }
        let replies = std::mem::take(&mut drawn.parser.callbacks_mut().replies);
        self.drawn = Some(drawn);
        replies
    }

    /// Whether at this place in the output the screen was the other one.
    fn is_other_at(&self, cursor: u64) -> bool {
        self.turns.iter().rev().find(|(from, _)| *from <= cursor).is_some_and(|(_, other)| *other)
    }

    /// The screen, where it says more than the lines written since `cursor` do: a program has the other screen, or has
    /// drawn on this one since.
    pub(super) fn since(&self, cursor: u64) -> Option<Picture> {
        let drawn = self.drawn.as_ref()?;
        let tells = drawn.is_other() || self.drew > cursor;
        tells.then(|| drawn.picture())
    }

    /// Output that begins at `cursor`, as lines: sequences are followed and left out, what was overwritten is gone. What
    /// a [`Screen::since`] beside it shows is left to that: of a usual screen, all that has not left it upwards.
    pub(super) fn lines(&self, bytes: &[u8], cursor: u64) -> String {
        let scrolled = self.drew > cursor && !self.drawn.as_ref().is_some_and(Drawn::is_other);
        self.redrawn(bytes, cursor, self.size, scrolled)
    }

    /// The same of one line with nothing beside it: all that was written.
    pub(super) fn written(&self, line: &[u8], cursor: u64) -> String {
        let (rows, cols) = self.size;
        // To clear thirty lines for each line of a log would cost more than to read it.
        let rows = if stays_in_line(line) { rows.min(LINE_ROWS) } else { rows };
        self.redrawn(line, cursor, (rows, cols), false)
    }

    fn redrawn(&self, bytes: &[u8], cursor: u64, size: (NonZeroU16, NonZeroU16), scrolled: bool) -> String {
        let began_on_other = self.is_other_at(cursor);
        // What lies in a string from before is not said.
        let bytes = &bytes[self.drawn.as_ref().map_or(0, |drawn| drawn.strings.left(cursor, bytes.len()))..];
        let lines = catch_unwind(AssertUnwindSafe(move || {
            let mut drawn = Drawn::new(size);
            if began_on_other {
                drawn.draw(TO_OTHER);
            }
            drawn.parser.callbacks_mut().keeps = true;
            drawn.draw(bytes);
            drawn.lines(scrolled)
        }));
        lines.unwrap_or_else(|_| String::from_utf8_lossy(bytes).into_owned())
    }

    /// How many characters it shows at most.
    pub(super) fn cells(&self) -> u64 {
        u64::from(self.size.0.get()) * u64::from(self.size.1.get())
    }
}

/// Whether all sequences of these bytes are such as have no place in them: colours, and what moves or erases within the
/// line.
fn stays_in_line(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == 0x1b).skip(1).all(|rest| {
        let Some(rest) = rest.strip_prefix(b"[") else { return false };
        let end = rest.iter().find(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'));
        end.is_some_and(|end| b"mKCDGPX@".contains(end))
    })
}

/// How many of these bytes end between sequences and characters: what comes next may belong to the rest.
pub(super) fn whole(bytes: &[u8]) -> usize {
    let from = bytes.len().saturating_sub(LONGEST_SEQUENCE);
    let cut = bytes[from..].iter().rposition(|byte| *byte == 0x1b).map(|at| from + at);
    if let Some(at) = cut.filter(|at| !is_over(&bytes[at + 1..])) {
        return at;
    }
    whole_characters(bytes)
}

/// How many of these bytes end between characters.
pub(super) fn whole_characters(bytes: &[u8]) -> usize {
    // A character has four bytes at most.
    (1..=bytes.len().min(3))
        .map(|back| bytes.len() - back)
        .find(|at| std::str::from_utf8(&bytes[*at..]).is_err_and(|error| error.error_len().is_none()))
        .unwrap_or(bytes.len())
}

/// Whether what follows an escape has come to its end.
fn is_over(rest: &[u8]) -> bool {
    match rest.split_first() {
        None => false,
        Some((b'[', rest)) => rest.iter().any(|byte| matches!(byte, 0x40..=0x7e)),
        // A title or another string; an end that begins with an escape is a sequence of its own.
        Some((b']', rest)) => rest.iter().any(|byte| matches!(byte, 7 | 0x18 | 0x1a)),
        Some((b'P', rest)) => rest.iter().any(|byte| matches!(byte, 0x18 | 0x1a | 0x9c)),
        Some((b'X' | b'^' | b'_', rest)) => rest.iter().any(|byte| matches!(byte, 0x18 | 0x1a)),
        Some((0x20..=0x2f, rest)) => !rest.is_empty(),
        Some(_) => true,
    }
}

/// What draws.
struct Drawn {
    /// What of strings is read and drawn.
    strings: Strings,
    /// Reads along, with the same parser, so that both see the same sequences.
    reader: vte::Parser,
    read: Read,
    parser: vt100::Parser<Told>,
}

impl Drawn {
    fn new((rows, cols): (NonZeroU16, NonZeroU16)) -> Drawn {
        let parser = vt100::Parser::new_with_callbacks(rows, cols, 0, Told::default());
        Drawn { strings: Strings::default(), reader: vte::Parser::new(), read: Read::default(), parser }
    }

    fn draw(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (run, handed_on) = self.strings.next(bytes);
            let (now, later) = bytes.split_at(run);
            if handed_on {
                self.draw_run(now);
            }
            bytes = later;
        }
    }

    fn draw_run(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let read = self.reader.advance_until_terminated(&mut self.read, bytes);
            let (now, later) = bytes.split_at(read);
            match now.split_last() {
                Some((_, before)) if std::mem::take(&mut self.read.too_often) => {
                    self.parser.process(before);
                    self.parser.process(CANCEL);
                }
                _ => self.parser.process(now),
            }
            bytes = later;
        }
    }

    fn is_other(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    fn picture(&self) -> Picture {
        let (row, col) = self.parser.screen().cursor_position();
        Picture { text: tidy(&self.parser.screen().contents()), cursor: (row + 1, col + 1) }
    }

    fn lines(mut self, scrolled: bool) -> String {
        if self.is_other() {
            // The lines are those of the usual one.
            self.draw(FROM_OTHER);
        }
        let (screen, told) = self.parser.screen_and_callbacks_mut();
        if !scrolled {
            let range = BasicFormattedCaptureRange::Full(&mut told.capture);
            // Into a text that is never full.
            let _ = screen.write_contents_formatted_basic(&mut told.scrolled, range);
        }
        tidy(&basic_formatted_to_plain(&told.scrolled).collect::<String>())
    }
}

/// Without blanks at the ends of lines, and without empty lines at its end.
fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let used = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines[..used].join("\n")
}

/// What is read along.
#[derive(Debug, Default)]
struct Read {
    /// Whether something was drawn elsewhere than below what stood there, on the usual screen.
    drew: bool,
    other: bool,
    /// Whether the sequence that just ended repeats a character too often.
    too_often: bool,
}

impl vte::Perform for Read {
    fn csi_dispatch(&mut self, params: &vte::Params, intermediates: &[u8], _: bool, action: char) {
        let first = params.iter().next().and_then(|param| param.first().copied()).unwrap_or(0);
        match (intermediates, action) {
            ([], 'b') => self.too_often = first > MOST_REPEATS,
            // To a place, a line, or a part that scrolls; all of the screen anew.
            ([], 'H' | 'f' | 'd' | 'r') => self.drew |= !self.other,
            ([], 'J') if first >= 2 => self.drew |= !self.other,
            ([b'?'], 'h' | 'l') if params.iter().flatten().any(|mode| matches!(mode, 47 | 1047 | 1049)) => {
                self.other = action == 'h';
            }
            _ => {}
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _: bool, byte: u8) {
        match (intermediates, byte) {
            // The line above, and a new beginning.
            ([], b'M') => self.drew |= !self.other,
            ([], b'c') => (self.drew, self.other) = (true, false),
            _ => {}
        }
    }

    fn terminated(&self) -> bool {
        self.too_often
    }
}

/// What is told beside the cells.
#[derive(Default)]
struct Told {
    /// What the terminal answers: where the cursor is, what it is.
    replies: Vec<u8>,
    /// Whether lines are kept that leave the screen.
    keeps: bool,
    scrolled: String,
    capture: BasicFormattedCaptureState,
}

impl vt100::Callbacks for Told {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        action: char,
    ) {
        let asked = params.first().and_then(|param| param.first().copied()).unwrap_or(0);
        let reply = match (first, action, asked) {
            (None, 'n', 5) => "\x1b[0n".to_owned(),
            (None, 'n', 6) => {
                let (row, col) = screen.cursor_position();
                format!("\x1b[{};{}R", row + 1, col + 1)
            }
            // A VT220 with colours.
            (None, 'c', 0) => "\x1b[?62;22c".to_owned(),
            _ => return,
        };
        if self.replies.len() + reply.len() <= MOST_REPLIES {
            self.replies.extend_from_slice(reply.as_bytes());
        }
    }

    fn on_scroll(&mut self, row: RowContents<'_>, other: bool) {
        if self.keeps && !other {
            // Into a text that is never full.
            let _ = row.write_formatted_basic(&mut self.scrolled, &mut self.capture);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(bytes: &[u8]) -> String {
        Screen::new(30, 120).lines(bytes, 0)
    }

    #[test]
    fn output_reads_as_it_stood_there() {
        for (written, read) in [
            ("one\r\ntwo\r\n", "one\ntwo"),
            // Progress: what was overwritten is gone.
            (" 10%\r 50%\r100%\r\ndone", "100%\ndone"),
            ("\r\x1b[K[1/2] a\r\x1b[K[2/2] b\r\n", "[2/2] b"),
            ("wait\x08\x08\x08\x08    \r\nok", "\nok"),
            // Colours, a title, modes of the keyboard.
            ("\x1b[1;31mred\x1b[m\x1b]0;a title\x07\x1b[?2004h!", "red!"),
            // Several lines, drawn anew.
            ("a 1\r\nb 1\r\n\x1b[2Aa 2\r\nb 2\r\n", "a 2\nb 2"),
            ("\u{4e2d}\u{6587} \u{e9}", "\u{4e2d}\u{6587} \u{e9}"),
        ] {
            assert_eq!(lines(written.as_bytes()), read, "{written:?}");
        }
    }

    #[test]
    fn many_lines_and_long_ones_are_whole() {
        let many: String = (0..500).map(|n| format!("line {n}\r\n")).collect();
        assert_eq!(lines(many.as_bytes()), many.replace('\r', "").trim_end());
        let long = "x".repeat(1000);
        assert_eq!(lines(format!("{long}\r\nend").as_bytes()), format!("{long}\nend"));
        // Across the top of the screen, too.
        let both = format!("{long}\r\n{}", many);
        assert_eq!(lines(both.as_bytes()), both.replace('\r', "").trim_end());
    }

    #[test]
    fn a_screen_tells_only_where_something_was_drawn() {
        let mut screen = Screen::new(5, 20);
        screen.take(b"one\r\ntwo\r\n\x1b[1mthree\x1b[m\r\n> ");
        assert_eq!(screen.since(0), None);
        let before = screen.total;
        screen.take(b"\x1b[H\x1b[2J\x1b[2;3Hmenu");
        assert_eq!(screen.since(before), Some(Picture { text: "\n  menu".into(), cursor: (2, 7) }));
        assert_eq!(screen.since(screen.total), None);
        // Another screen is shown as long as it is there.
        screen.take(b"\x1b[?1049h\x1b[1;1Hfull");
        assert_eq!(screen.since(screen.total).map(|picture| picture.text), Some("full".into()));
        let there = screen.total;
        screen.take(b"\x1b[?1049l");
        assert_eq!(screen.since(screen.total), None);
        // What was written on it are no lines.
        let mut bytes = b"\x1b[5;1H".to_vec();
        bytes.extend(b"more\r\n".repeat(9));
        assert_eq!(screen.lines(&bytes, there), "");
        bytes.extend(b"\x1b[?1049lback");
        assert_eq!(screen.lines(&bytes, there), "back");
        // What was written before it came is read, too.
        let bytes = b"opens\r\n\x1b[?1049h\x1b[1;1Hfull";
        let mut screen = Screen::new(5, 20);
        screen.take(bytes);
        assert_eq!(screen.lines(bytes, 0), "opens");
    }

    #[test]
    fn what_scrolled_off_a_drawn_screen_is_not_lost() {
        let mut screen = Screen::new(3, 20);
        let bytes = b"a\r\nb\r\nc\r\nd\r\n\x1b[Htop";
        screen.take(bytes);
        assert_eq!(screen.lines(bytes, 0), "a\nb");
        assert_eq!(screen.since(0).map(|picture| picture.text), Some("top\nd".into()));
    }

    #[test]
    fn the_terminal_answers_what_it_is_asked() {
        let mut screen = Screen::new(5, 20);
        assert_eq!(screen.take(b"ab\x1b[6n"), b"\x1b[1;3R");
        assert_eq!(screen.take(b"\x1b[c\x1b[5n"), b"\x1b[?62;22c\x1b[0n");
        assert_eq!(screen.take(b"\x1b[21t\x1b]52;c;?\x07\x1b[>c"), b"");
        assert!(screen.take(&b"\x1b[6n".repeat(1000)).len() <= MOST_REPLIES);
    }

    #[test]
    fn a_character_is_not_repeated_for_ever() {
        let mut screen = Screen::new(5, 20);
        screen.take(b"a\x1b[3b\r\nb");
        screen.take(b"\x1b[65535");
        screen.take(b"bc\x1b[600;1bd");
        screen.take(b"\x1b[H");
        assert_eq!(screen.since(0).map(|picture| picture.text), Some("aaaa\nbcd".into()));
    }

    #[test]
    fn a_long_string_is_no_text_in_whatever_pieces_it_is_read() {
        let picture = [&b"one\r\n\x1b]1337;File=:"[..], &[b'A'; 1000], b"\x07two\r\n"].concat();
        let mut screen = Screen::new(5, 20);
        picture.chunks(100).for_each(|piece| drop(screen.take(piece)));
        let pieces = picture.chunks(300).enumerate();
        let read: Vec<String> = pieces.map(|(n, piece)| screen.lines(piece, n as u64 * 300)).collect();
        assert_eq!(read, ["one", "", "", "two"]);
        // One that never ends hides all that follows, as a terminal does, and keeps none of it.
        let there = screen.total;
        for _ in 0..1000 {
            screen.take(&[&b"\x1bPq"[..], &[b'B'; 1000]].concat()[..1000]);
        }
        assert_eq!(screen.lines(&[b'B'; 500], there + 400), "");
    }

    #[test]
    fn characters_of_several_cells_and_marks_stay_whole_at_the_edge() {
        // Twenty columns: the wide character has no room in the last one, and begins a line with its mark. That it was
        // no new line is known no more, as in tmux: the column before it is empty, as at the end of a line.
        let wide = format!("{}\u{4e2d}\u{301}x", "a".repeat(19));
        let mut screen = Screen::new(3, 20);
        screen.take(wide.as_bytes());
        assert_eq!(screen.lines(wide.as_bytes(), 0), format!("{}\n\u{4e2d}\u{301}x", "a".repeat(19)));
        let even = "\u{4e2d}".repeat(35);
        assert_eq!(screen.lines(even.as_bytes(), 0), even);
        // Marks without end on one character are cut, and cost no more than their cell.
        let marks = format!("{}e{}\r\nnext", "a".repeat(19), "\u{301}".repeat(10_000));
        let read = screen.lines(marks.as_bytes(), 0);
        assert!(read.starts_with("aaa") && read.ends_with("\nnext") && read.len() < 100, "{}", read.len());
    }

    #[test]
    fn a_piece_ends_between_sequences() {
        for (bytes, taken) in [
            (&b"plain"[..], 5),
            (b"a\x1b", 1),
            (b"a\x1b[", 1),
            (b"a\x1b[31", 1),
            (b"a\x1b[31m", 6),
            (b"a\x1b]0;ti", 1),
            (b"a\x1b]0;ti\x07", 8),
            (b"a\x1bPq;", 1),
            (b"a\x1b_G\x1b\\", 6),
            (b"a\x1b(", 1),
            (b"a\x1b(B", 4),
            ("a\u{20ac}".as_bytes(), 4),
            (&"a\u{20ac}".as_bytes()[..3], 1),
            (&"a\u{20ac}".as_bytes()[..2], 1),
            (b"a\xff", 2),
            (b"", 0),
        ] {
            assert_eq!(whole(bytes), taken, "{bytes:?}");
        }
    }

    /// Sequences that do something, sizes that hurt, and bytes of any kind.
    fn written() -> impl Strategy<Value = Vec<u8>> {
        let number = prop_oneof![0u32..130, Just(65_535), Just(4_294_967_295)];
        let sequence = (prop_oneof![Just(""), Just("?"), Just(">")], number.clone(), number, any::<u8>()).prop_map(
            |(sign, first, second, action)| {
                let action = char::from(0x40 + action % 0x3f);
                format!("\x1b[{sign}{first};{second}{action}").into_bytes()
            },
        );
        let mode = prop_oneof![Just(47), Just(1047), Just(1049), Just(6), Just(7)];
        let mode =
            (mode, prop_oneof![Just('h'), Just('l')]).prop_map(|(mode, on)| format!("\x1b[?{mode}{on}").into_bytes());
        let piece = prop_oneof![
            4 => sequence,
            1 => mode,
            1 => any::<u8>().prop_map(|byte| vec![0x1b, byte]),
            2 => "[ -~\u{4e00}-\u{4e10}\u{300}-\u{310}\u{1f600}-\u{1f610}\r\n\t\u{8}]{0,40}".prop_map(String::into_bytes),
            1 => proptest::collection::vec(any::<u8>(), 0..20),
        ];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    /// Lines as logs and progress bars have them.
    fn line() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            3 => "[ -~\u{4e00}-\u{4e10}\u{300}-\u{310}]{0,30}",
            1 => proptest::sample::select(&["\r", "\t", "\u{8}", "\x1b[K", "\x1b[1K", "\x1b[0;1;31m", "\x1b[m"][..])
                .prop_map(str::to_owned),
            1 => (0..40u8, proptest::sample::select(&['C', 'D', 'G', 'P', 'X', '@'][..]))
                .prop_map(|(n, action)| format!("\x1b[{n}{action}")),
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn only_what_stays_in_its_line_is_drawn_on_few() {
        for (line, stays) in [
            ("plain", true),
            ("\x1b[1;38:5:7mred\x1b[m\x1b[K\r", true),
            ("a\x1b[2Ab", false),
            ("a\x1b[3;4Hb", false),
            ("\x1b[?1049h", false),
            ("\x1bMa", false),
            ("\x1b]0;title\x07", false),
            ("cut\x1b[3", false),
        ] {
            assert_eq!(stays_in_line(line.as_bytes()), stays, "{line:?}");
        }
    }

    proptest! {
        #[test]
        fn a_line_reads_the_same_on_few_rows(line in line(), cols in 2u16..60) {
            prop_assert!(stays_in_line(line.as_bytes()));
            let screen = Screen::new(30, cols);
            prop_assert_eq!(screen.written(line.as_bytes(), 0), screen.lines(line.as_bytes(), 0));
        }

        #[test]
        fn whatever_is_written_leaves_a_screen_without_controls(written in written(), rows in 1u16..8, cols in 1u16..20) {
            let mut screen = Screen::new(rows, cols);
            let (first, second) = written.split_at(written.len() / 2);
            screen.take(first);
            screen.take(second);
            let picture = screen.drawn.as_ref().map(Drawn::picture).expect("it was drawn");
            for text in [&picture.text, &screen.lines(&written, 0), &screen.lines(second, first.len() as u64)] {
                prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
            }
            prop_assert!(picture.text.lines().count() <= usize::from(rows));
        }
    }
}
