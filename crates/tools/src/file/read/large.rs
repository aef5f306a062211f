//! A text too large to take in whole: only what is shown is decoded, and only what lies before it (or,
//! counted from the end, behind it) is looked at. So above some size the number of lines stays unknown,
//! and lines of the tail are numbered from the end: a number to come back with.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use nika_contract::{ToolError, code};
use nika_edit::{Detected, Encoding, NotText, NotTextReason, count_lines, detect, whole_lines};

use super::args::{Start, Window, beyond, grouped, size};
use super::marks::{Mark, Marks, Shape};
use super::sheet::{LINE_CHARS, Sheet};
use super::text::{NoPage, Page, about, left_out};

/// How much is read at once.
const BLOCK: usize = 256 << 10;
/// How much of a file tells its encoding.
const SNIFFED: usize = 64 << 10;
/// A file up to this size has its lines counted, in about 10 ms.
pub(super) const COUNTED_BYTES: u64 = 32 << 20;
/// A line longer than this is shown without looking for its end.
const LINE_BYTES: usize = 8 << 20;
/// How far back the beginning of a line is looked for, counted from its end.
const BACK_BYTES: u64 = 64 << 20;

/// A file of known encoding, read at any place.
struct Pieces<'a> {
    file: &'a File,
    size: u64,
    encoding: Encoding,
    bom: u64,
    cr_only: bool,
    stopped: &'a dyn Fn() -> bool,
}

/// The wanted lines. Up to `counted_bytes` their total is known. What `marks` know is not counted again, and what is
/// counted is marked.
pub(super) fn page(
    file: &File,
    size: u64,
    window: Window,
    counted_bytes: u64,
    marks: &mut Marks,
    stopped: &dyn Fn() -> bool,
) -> Result<Page, NoPage> {
    let (found, sample) = sniff(file, size, matches!(window.start, Start::End(_)))?;
    let mut pieces = Pieces { file, size, encoding: found.encoding, bom: found.bom as u64, cr_only: false, stopped };
    pieces.cr_only = count_lines(&sample, found.encoding, false) == 0 && count_lines(&sample, found.encoding, true) > 0;
    // Only ASCII so far, which leaves open what comes where the page is.
    let open = sample.is_ascii();
    let marks = marks.of(Shape { encoding: pieces.encoding, bom: pieces.bom, cr_only: pieces.cr_only });
    let total = if size <= counted_bytes { Some(pieces.count(marks)?) } else { None };
    let first = match (window.start, total) {
        (Start::End(back), None) => return pieces.backward(back, window.lines, open),
        (_, Some(total)) => window.first_of(total, "line")?,
        (Start::Line(first), None) => first,
    };
    let start = pieces.find_line(first, marks)?;
    pieces.forward(first, start, window.lines, total, open)
}

/// The encoding, by the file's beginning; by its end where the beginning is a hole: a log that was
/// truncated under its writer starts with NULs.
fn sniff(file: &File, size: u64, tail: bool) -> Result<(Detected, Vec<u8>), NoPage> {
    let mut head = read(file, 0, SNIFFED.min(usize::try_from(size).unwrap_or(SNIFFED)))?;
    if !head.contains(&0) {
        head.truncate(head.len() - unfinished(&head));
    }
    match detect(&head) {
        Ok(found) => Ok((found, head)),
        Err(no @ NotText { reason: NotTextReason::Nul { .. }, kind: None, .. })
            if tail && head.iter().all(|b| *b == 0) =>
        {
            let at = size.saturating_sub(SNIFFED as u64);
            let bytes = read(file, at, SNIFFED)?;
            // What the hole ends in is not a whole character for sure; NULs are the hole itself.
            let text: Vec<u8> = bytes.into_iter().skip_while(|b| *b == 0 || *b & 0xc0 == 0x80).collect();
            // A hole up to the end: nothing was ever written behind it.
            if text.is_empty() { Err(no.into()) } else { Ok((detect(&text)?, text)) }
        }
        Err(not_text) => Err(not_text.into()),
    }
}

/// How many bytes at the end begin a UTF-8 character that goes on behind it.
fn unfinished(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(3)..];
    let Some(back) = tail.iter().rev().position(|byte| byte & 0xc0 == 0xc0) else { return 0 };
    let lead = tail[tail.len() - 1 - back];
    let needed = match lead {
        0xf0.. => 4,
        0xe0.. => 3,
        _ => 2,
    };
    if back + 1 < needed { back + 1 } else { 0 }
}

impl Pieces<'_> {
    /// How many lines there are.
    fn count(&self, marks: &mut Marks) -> Result<u64, NoPage> {
        if let Some(total) = marks.total() {
            return Ok(total);
        }
        let Mark { mut at, endings: mut ends } = marks.last().unwrap_or(self.beginning());
        loop {
            let block = self.block(at)?;
            if block.is_empty() {
                let total = ends + u64::from(!self.ends_with_newline(at)?);
                marks.set_total(total);
                return Ok(total);
            }
            ends += count_lines(&block, self.encoding, self.cr_only) as u64;
            at += block.len() as u64;
            marks.set(Mark { at, endings: ends });
        }
    }

    /// Before its first line.
    fn beginning(&self) -> Mark {
        Mark { at: self.bom, endings: 0 }
    }

    /// Where line `first` begins: every line ending before it is counted that was not yet, nothing is decoded.
    fn find_line(&self, first: u64, marks: &mut Marks) -> Result<u64, NoPage> {
        let near = marks.before(first - 1).unwrap_or(self.beginning());
        let (mut at, mut line) = (near.at, near.endings + 1);
        while line < first {
            let block = self.block(at)?;
            if block.is_empty() {
                // A last line without an ending counts, too.
                let ended = self.ends_with_newline(at)?;
                return Err(beyond(first, if ended { line - 1 } else { line }, "line").into());
            }
            let ends = count_lines(&block, self.encoding, self.cr_only) as u64;
            if line + ends < first {
                line += ends;
                at += block.len() as u64;
                marks.set(Mark { at, endings: line - 1 });
                continue;
            }
            at += self.after_ending(&block, first - line) as u64;
            line = first;
        }
        if first > 1 && at >= self.size {
            return Err(beyond(first, first - 1, "line").into());
        }
        Ok(at)
    }

    /// Shows lines from `start`, which is where line `first` begins.
    fn forward(&self, first: u64, start: u64, lines: u64, total: Option<u64>, open: bool) -> Result<Page, NoPage> {
        let mut sheet = Sheet::new(i64::try_from(first).unwrap_or(i64::MAX), lines, 2 * BLOCK);
        let shown = self.show(&mut sheet, start, open)?;
        let last = first + sheet.shown.max(1) - 1;
        let mut notes = Vec::new();
        if shown.end >= self.size {
            notes.extend((first > 1).then(|| left_out(first, last, &grouped(last), false)));
        } else if let Some(total) = total {
            notes.push(left_out(first, last, &grouped(total), last < total));
        } else {
            let per_line = (shown.end - self.bom) as f64 / last as f64;
            let about = rounded(((self.size - self.bom) as f64 / per_line.max(1.0)) as u64);
            let total = format!("about {} ({})", grouped(about), size(self.size));
            notes.push(format!("{}, or see the end with offset=-100", left_out(first, last, &total, true)));
        }
        Ok(self.finish(sheet, shown, notes))
    }

    /// Shows lines from the `back`th before the end.
    fn backward(&self, back: u64, lines: u64, open: bool) -> Result<Page, NoPage> {
        let found = self.find_back(back)?;
        if found.all {
            return self.forward(1, self.bom, lines, Some(found.lines), open);
        }
        if found.lines == 0 {
            return self.end_of_line();
        }
        let count = found.lines;
        let mut sheet = Sheet::new(-i64::try_from(count).unwrap_or(i64::MAX), lines, 2 * BLOCK);
        let shown = self.show(&mut sheet, found.start, open)?;
        let (from, to) = (-i64::try_from(count).unwrap_or(i64::MAX), sheet.next() - 1);
        let mut note = format!("lines {from} to {to}, counted from the end of {}", size(self.size));
        if count < back {
            note.push_str(&format!("; the line before them is longer than {}", size(BACK_BYTES)));
        }
        if to < -1 {
            note.push_str(&format!("; go on with offset={}", to + 1));
        }
        Ok(self.finish(sheet, shown, vec![note]))
    }

    /// Decodes and adds whole lines until the sheet is full or the file ends.
    fn show(&self, sheet: &mut Sheet, start: u64, open: bool) -> Result<Shown, NoPage> {
        let mut shown = Shown { encoding: self.encoding, end: start, long: false };
        let (mut at, mut raw) = (start, Vec::new());
        while sheet.open() {
            let block = self.block(at)?;
            at += block.len() as u64;
            let last = block.is_empty();
            raw.extend_from_slice(&block);
            let whole = if last { raw.len() } else { whole_lines(&raw, self.encoding, self.cr_only) };
            if whole > 0 {
                let piece = at - raw.len() as u64;
                if open && shown.encoding == Encoding::Utf8 && std::str::from_utf8(&raw[..whole]).is_err() {
                    shown.encoding = detect(&raw[..whole]).map_or(Encoding::Utf8, |found| found.encoding);
                }
                let before = sheet.shown;
                let text = shown.encoding.decode(&raw[..whole]);
                sheet.add(&text, self.cr_only);
                let used = if sheet.open() { whole } else { self.used(&raw[..whole], sheet.shown - before) };
                is_text(&raw[..used], piece, shown.encoding)?;
                shown.end += used as u64;
                raw.drain(..whole);
            } else if raw.len() > LINE_BYTES {
                is_text(&raw[..16 * LINE_CHARS], at - raw.len() as u64, self.encoding)?;
                let part = self.encoding.decode(raw.get(..16 * LINE_CHARS).unwrap_or(&raw));
                let kept: String = part.chars().take(LINE_CHARS).collect();
                sheet.line(&kept, &format!("… [+ more than {}]", size(LINE_BYTES as u64)));
                (shown.end, shown.long) = (at, true);
                break;
            }
            if last {
                break;
            }
        }
        Ok(shown)
    }

    /// The end of a last line that is longer than anything we look through.
    fn end_of_line(&self) -> Result<Page, NoPage> {
        let unit = self.encoding.unit() as u64;
        let at = self.size.saturating_sub((8 * LINE_CHARS) as u64).max(self.bom);
        let text = self.encoding.decode(&read(self.file, at - (at - self.bom) % unit, 16 * LINE_CHARS)?).into_owned();
        let text = text.trim_end_matches(['\r', '\n']);
        let skipped = text.chars().count().saturating_sub(LINE_CHARS);
        let tail: String = text.chars().skip(skipped).collect();
        let mut sheet = Sheet::new(-1, 1, 16 * LINE_CHARS);
        sheet.line(&tail, "");
        let note = format!("only the end of the last line, which is longer than {}", size(BACK_BYTES));
        Ok(Page { shown: 1, ..sheet.finish(&[note]) })
    }

    /// Where the last `back` lines begin, or as many of them as lie within reach.
    fn find_back(&self, back: u64) -> Result<Back, NoPage> {
        let unit = self.encoding.unit() as u64;
        let whole = self.size - (self.size - self.bom) % unit;
        // An ending at the very end starts no further line.
        let (mut to, mut endings) = (whole, 0u64);
        let skip = u64::from(self.ends_with_newline(whole)?);
        let mut earliest = self.size;
        while to > self.bom {
            if earliest - to > BACK_BYTES {
                return Ok(Back { start: earliest, lines: endings.saturating_sub(skip), all: false });
            }
            let from = to.saturating_sub(BLOCK as u64).max(self.bom);
            let block = self.exactly(from, (to - from) as usize)?;
            let ends = count_lines(&block, self.encoding, self.cr_only) as u64;
            // The wanted line begins behind the ending number back + skip from the end.
            if endings + ends >= back.saturating_add(skip) {
                let nth = ends - (back + skip - endings) + 1;
                return Ok(Back { start: from + self.after_ending(&block, nth) as u64, lines: back, all: false });
            }
            if ends > 0 {
                earliest = from + self.after_ending(&block, 1) as u64;
            }
            endings += ends;
            to = from;
        }
        Ok(Back { start: self.bom, lines: endings + 1 - skip, all: true })
    }

    /// The position in `block` behind its `nth` line ending.
    fn after_ending(&self, block: &[u8], nth: u64) -> usize {
        let (mut low, mut high) = (0, block.len() / self.encoding.unit());
        // Halving with a fast counter beats stepping through the block.
        while low < high {
            let middle = (low + high) / 2;
            let head = &block[..middle * self.encoding.unit()];
            if count_lines(head, self.encoding, self.cr_only) as u64 >= nth { high = middle } else { low = middle + 1 }
        }
        low * self.encoding.unit()
    }

    /// How many bytes of whole lines the first `lines` of them take.
    fn used(&self, whole: &[u8], lines: u64) -> usize {
        let ends = count_lines(whole, self.encoding, self.cr_only) as u64;
        if lines > ends { whole.len() } else { self.after_ending(whole, lines) }
    }

    fn ends_with_newline(&self, end: u64) -> Result<bool, NoPage> {
        let unit = self.encoding.unit() as u64;
        let last = self.exactly(end.saturating_sub(unit).max(self.bom), unit as usize)?;
        Ok(count_lines(&last, self.encoding, self.cr_only) > 0)
    }

    fn block(&self, at: u64) -> Result<Vec<u8>, NoPage> {
        // What grew behind the size known at the start is for the next call.
        self.exactly(at, usize::try_from(self.size.saturating_sub(at)).unwrap_or(BLOCK).min(BLOCK))
    }

    fn exactly(&self, at: u64, bytes: usize) -> Result<Vec<u8>, NoPage> {
        if (self.stopped)() {
            return Err(ToolError::cancelled().into());
        }
        Ok(read(self.file, at, bytes)?)
    }

    fn finish(&self, sheet: Sheet, shown: Shown, mut notes: Vec<String>) -> Page {
        if shown.long {
            notes.push(format!("line {} is too long to look for its end", sheet.next() - 1));
        }
        let endings = match (sheet.lf, sheet.crlf, sheet.cr) {
            (0, 0, 1..) => Some("CR".to_owned()),
            (0, 1.., _) => Some("CRLF".to_owned()),
            (1.., 1.., _) => Some("mixed line endings".to_owned()),
            _ => None,
        };
        notes.extend(about(shown.encoding, self.bom as usize, endings, 0));
        sheet.finish(&notes)
    }
}

/// Refuses bytes of no text that lie where the page is: what begins as text may hold anything behind that. `piece` is
/// where they begin. Where a letter takes several bytes a NUL says nothing, and what is no letter shows as such.
fn is_text(bytes: &[u8], piece: u64, encoding: Encoding) -> Result<(), NoPage> {
    match detect(bytes) {
        // A short page may have a stray one.
        Err(no) if matches!(no.reason, NotTextReason::Controls { count: ..=2, .. }) => Ok(()),
        Err(mut no) if encoding.unit() == 1 && !matches!(no.reason, NotTextReason::Format) => {
            if let NotTextReason::Nul { at } = &mut no.reason {
                *at += usize::try_from(piece).unwrap_or_default();
            }
            Err(no.into())
        }
        _ => Ok(()),
    }
}

/// What became of a window.
struct Shown {
    encoding: Encoding,
    /// Where the first line that was not shown begins.
    end: u64,
    /// The last line shown was given up on.
    long: bool,
}

struct Back {
    start: u64,
    lines: u64,
    /// The whole file has no more lines than were wanted.
    all: bool,
}

/// Two significant digits: an estimate must not look exact.
fn rounded(number: u64) -> u64 {
    let unit = 10u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    number / unit * unit
}

fn read(file: &File, at: u64, bytes: usize) -> Result<Vec<u8>, ToolError> {
    let failed = |error: io::Error| ToolError::new(code::READ_FAILED, format!("reading failed at byte {at}: {error}"));
    let mut block = vec![0; bytes];
    let mut filled = 0;
    while filled < bytes {
        match file.read_at(&mut block[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    block.truncate(filled);
    Ok(block)
}

#[cfg(test)]
mod tests;
