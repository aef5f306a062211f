//! Is this text, and in which encoding? Looks at bytes only, never at names.
//!
//! Order: byte order mark, well-known file types, UTF-32 and UTF-16 by their NULs, UTF-8,
//! UTF-8 with a few broken bytes, a legacy page by its letters. What has NULs or many control
//! bytes is not text, and nothing widens that.

use crate::encoding::{Encoding, Stepper};
use crate::western::{Western, western};

/// What bytes were found to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    pub encoding: Encoding,
    /// Length of the byte order mark, 0 without one.
    pub bom: usize,
}

/// What was found, and the text after the byte order mark when it is valid UTF-8: checking
/// that is most of the work, and is done once.
pub(crate) type Inspected<'a> = (Detected, Option<&'a str>);

/// These bytes are not text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not text: {reason}{}", kind.map(|k| format!("; the first bytes look like {k}")).unwrap_or_default())]
pub struct NotText {
    pub reason: NotTextReason,
    /// A guess from the first bytes: `a PNG image`, `an ELF program`…
    pub kind: Option<&'static str>,
    /// How many bytes were looked at.
    pub size: usize,
}

/// What gave it away.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTextReason {
    #[error("the file's first bytes are those of a binary format")]
    Format,
    #[error("a NUL byte at offset {at}")]
    Nul { at: usize },
    #[error("{count} control characters among the first {looked_at} bytes")]
    Controls { count: usize, looked_at: usize },
}

/// Enough of a file to judge its letters; more would only cost time.
const SAMPLE_BYTES: usize = 64 * 1024;

/// The page detector weighs each letter at some 100 ns a byte; 24 KB of them tell enough.
const PAGE_SAMPLE_BYTES: usize = 24 * 1024;

/// Finds the encoding of a whole file, or of its beginning when `bytes` is a first piece.
pub fn detect(bytes: &[u8]) -> Result<Detected, NotText> {
    inspect(bytes).map(|(detected, _)| detected)
}

pub(crate) fn inspect(bytes: &[u8]) -> Result<Inspected<'_>, NotText> {
    let found = |encoding, bom| (Detected { encoding, bom }, None);
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        if let Some(at) = memchr::memchr(0, rest) {
            return Err(not_text(bytes, NotTextReason::Nul { at: at + 3 }));
        }
        return Ok((Detected { encoding: Encoding::Utf8, bom: 3 }, std::str::from_utf8(rest).ok()));
    }
    for (mark, encoding) in MARKS {
        if bytes.starts_with(mark) && reads_as(*encoding, bytes.get(mark.len()..).unwrap_or_default(), Strict::Marked) {
            return Ok(found(*encoding, mark.len()));
        }
    }
    if let Some(kind) = magic(bytes) {
        return Err(NotText { reason: NotTextReason::Format, kind: Some(kind), size: bytes.len() });
    }
    let mut escape = false;
    let mut from = 0;
    while let Some(at) = memchr::memchr2(0, 0x1b, bytes.get(from..).unwrap_or_default()) {
        if bytes.get(from + at) == Some(&0) {
            return unmarked_wide(bytes)
                .map(|encoding| found(encoding, 0))
                .ok_or_else(|| not_text(bytes, NotTextReason::Nul { at: from + at }));
        }
        escape = true;
        from += at + 1;
    }
    let invalid = match std::str::from_utf8(bytes) {
        Ok(text) => {
            if escape && is_iso_2022_jp(bytes) {
                return Ok(found(Encoding::Legacy(encoding_rs::ISO_2022_JP), 0));
            }
            // A third: valid UTF-8 is strong evidence; only a stream of controls outweighs it, and one or two strays
            // in a short text are none.
            refuse_controls(bytes, 3).or_else(|no| few(&no).then_some(()).ok_or(no))?;
            return Ok((Detected { encoding: Encoding::Utf8, bom: 0 }, Some(text)));
        }
        Err(e) => e.valid_up_to(),
    };
    // Random bytes hold 10 % of these controls, text in any page next to none, and a short one none at all.
    refuse_controls(bytes, 40)?;
    if mostly_utf8(bytes, invalid) {
        return Ok(found(Encoding::Utf8, 0));
    }
    Ok(found(Encoding::Legacy(guess_page(bytes, invalid)), 0))
}

/// UTF-32 stands first: its little-endian mark begins with UTF-16's.
const MARKS: &[(&[u8], Encoding)] = &[
    (b"\xff\xfe\0\0", Encoding::Utf32Le),
    (b"\0\0\xfe\xff", Encoding::Utf32Be),
    (b"\xff\xfe", Encoding::Utf16Le),
    (b"\xfe\xff", Encoding::Utf16Be),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Strict {
    /// There is a mark: up to a twentieth may be broken or control.
    Marked,
    /// A guess: nothing may be.
    Guess,
}

fn reads_as(encoding: Encoding, bytes: &[u8], strict: Strict) -> bool {
    let sample = bytes.get(..SAMPLE_BYTES).unwrap_or(bytes);
    let whole = sample.len() == bytes.len();
    let stepper = Stepper::new(encoding);
    let (mut at, mut chars, mut odd) = (0, 0usize, 0usize);
    while at < sample.len() {
        let step = stepper.step(sample, at);
        at += step.len;
        let cut_off = !whole && at >= sample.len();
        chars += 1;
        odd += usize::from(!cut_off && (step.invalid || is_odd(step.first)));
    }
    match strict {
        Strict::Marked => odd == 0 || odd * 20 <= chars || (encoding.unit() == 2 && chars < 20 && odd <= 1),
        Strict::Guess => odd == 0 && chars > 0,
    }
}

fn is_odd(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c' | '\x1b' | '\x08')
        || matches!(u32::from(c) & 0xffff, 0xfffe | 0xffff)
        || matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}')
}

/// UTF-16 or UTF-32 without a mark: the NULs stand where high bytes do, every character is an ordinary one, and most
/// units could not stand in a text of bytes.
fn unmarked_wide(bytes: &[u8]) -> Option<Encoding> {
    let sample = bytes.get(..SAMPLE_BYTES).unwrap_or(bytes);
    if bytes.len().is_multiple_of(4) && bytes.len() >= 8 {
        for encoding in [Encoding::Utf32Le, Encoding::Utf32Be] {
            if reads_as(encoding, bytes, Strict::Guess) {
                return Some(encoding);
            }
        }
    }
    if !bytes.len().is_multiple_of(2) || bytes.len() < 4 {
        return None;
    }
    let (encoding, zeros) = match (high_nuls(sample, 0), high_nuls(sample, 1)) {
        (big, little) if little > big => (Encoding::Utf16Le, little),
        (big, little) if big > little => (Encoding::Utf16Be, big),
        _ => return None,
    };
    let wide = is_wide(sample, zeros) && !separated_by_nuls(sample);
    (wide && reads_as(encoding, bytes, Strict::Guess)).then_some(encoding)
}

/// One NUL in a text of bytes makes no wide text of it: read by pairs, its letters would be Han at random. At least
/// a third of the units have a NUL as their high byte, or a byte that no ASCII text holds; where all is UTF-8 but for
/// the NULs, half of them have the NUL.
fn is_wide(sample: &[u8], zeros: usize) -> bool {
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    let units = sample.len() / 2;
    let foreign = sample.as_chunks::<2>().0.iter().filter(|unit| !unit.contains(&0) && !unit.iter().all(|b| plain(*b)));
    if is_utf8(sample) && !sample.iter().any(|b| *b != 0 && is_odd_byte(*b) == 1) {
        return zeros * 2 >= units;
    }
    (zeros + foreign.count()) * 3 >= units
}

/// Valid, but for a character that the sample's end may cut.
fn is_utf8(sample: &[u8]) -> bool {
    std::str::from_utf8(sample).map_or_else(|broken| broken.error_len().is_none(), |_| true)
}

/// How many units of two bytes have a NUL as their high byte, which stands at `high`; 0 where another has one as its
/// low byte and cannot be the first character of its block (一, 가, ─, ∀), nor half of a pair, which is an emoji or is
/// refused where it is read.
fn high_nuls(sample: &[u8], high: usize) -> usize {
    let (mut count, mut first, mut later) = (0, [false; 256], [false; 256]);
    for unit in sample.as_chunks::<2>().0 {
        match (usize::from(unit[high]), unit[1 - high]) {
            (0, _) => count += 1,
            (block, 0) => first[block] = true,
            (block, _) => later[block] = true,
        }
    }
    let units = sample.len() / 2;
    let can_be = |block: usize| match block {
        0x30..=0xdf => true,
        // A line break, a tab, a space or a letter of a legacy encoding with a NUL beside it: in a text of bytes these are the
        // likeliest, and no script begins a block with U+0A00, U+0B00 or U+0E00.
        0x09..=0x0e | 0x20 | 0xe0.. => false,
        // Signs, and scripts whose high byte is a control: only beside others of the same block, or where a good part is
        // ASCII.
        0x21.. => count * 4 >= units || later[block] && count * 16 >= units,
        _ => count * 2 > units || later[block] && count * 16 >= units,
    };
    if (0..256).any(|block| first[block] && !can_be(block)) { 0 } else { count }
}

/// Names or variables with a NUL behind each: but for these it is UTF-8 without controls, and most units that hold no
/// NUL are two visible ASCII characters. In UTF-16 these would be Han and symbols at random, and what is written so
/// has other bytes, too.
fn separated_by_nuls(sample: &[u8]) -> bool {
    let visible = |unit: &&[u8]| unit.iter().all(u8::is_ascii_graphic);
    let full = || sample.chunks_exact(2).filter(|unit| !unit.contains(&0));
    is_utf8(sample)
        && sample.iter().all(|b| *b == 0 || is_odd_byte(*b) == 0)
        && full().filter(visible).count() * 2 > full().count()
}

/// Escapes for Japanese, and nothing in them that the standard does not know.
fn is_iso_2022_jp(bytes: &[u8]) -> bool {
    let opens = [&b"\x1b$B"[..], b"\x1b$@"].iter().any(|escape| memchr::memmem::find(bytes, escape).is_some());
    opens && encoding_rs::ISO_2022_JP.decode_without_bom_handling_and_without_replacement(bytes).is_some()
}

fn refuse_controls(bytes: &[u8], one_in: usize) -> Result<(), NotText> {
    let sample = bytes.get(..SAMPLE_BYTES).unwrap_or(bytes);
    // Sums of small chunks in single bytes: the compiler makes wide instructions of them.
    let odd = |chunk: &[u8]| usize::from(chunk.iter().map(|b| is_odd_byte(*b)).sum::<u8>());
    let count: usize = sample.chunks(128).map(odd).sum();
    if count * one_in > sample.len() {
        let looked_at = sample.len();
        return Err(not_text(bytes, NotTextReason::Controls { count, looked_at }));
    }
    Ok(())
}

/// Not enough to call a text binary that is text otherwise.
fn few(no: &NotText) -> bool {
    matches!(no.reason, NotTextReason::Controls { count: ..=2, .. })
}

/// 1 for a control character that text does not have. Without branches, so that it can be
/// computed for many bytes at once.
fn is_odd_byte(byte: u8) -> u8 {
    let usual = (byte == b'\t') | (byte == b'\n') | (byte == b'\r') | (byte == 0x0c) | (byte == 0x1b) | (byte == 0x08);
    u8::from((byte == 0x7f) | (byte < 0x20) & !usual)
}

/// Multi-byte sequences hardly occur by chance in other encodings, so twice as many good ones
/// as broken ones means UTF-8 that was damaged.
fn mostly_utf8(bytes: &[u8], first_invalid: usize) -> bool {
    let start = first_invalid.saturating_sub(SAMPLE_BYTES);
    let end = first_invalid.saturating_add(SAMPLE_BYTES).min(bytes.len());
    let (mut good, mut broken) = (0usize, 0usize);
    for chunk in bytes.get(start..end).unwrap_or_default().utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    good >= 2 * broken.max(1)
}

/// So many different letters tell one Latin page from another. With more, `naïve` comes out no better, and one or two
/// Czech or Hungarian words are lost.
const TELLING_LETTERS: usize = 2;

/// Pages whose texts can read as western ones throughout.
const LATIN: &[&encoding_rs::Encoding] = &[
    encoding_rs::WINDOWS_1250,
    encoding_rs::WINDOWS_1254,
    encoding_rs::WINDOWS_1257,
    encoding_rs::WINDOWS_1258,
    encoding_rs::ISO_8859_2,
    encoding_rs::ISO_8859_4,
];

fn guess_page(bytes: &[u8], first_invalid: usize) -> &'static encoding_rs::Encoding {
    use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
    // The letters are what tells: a long ASCII head would only use up the sample.
    let start = first_invalid.saturating_sub(1024);
    let end = start.saturating_add(PAGE_SAMPLE_BYTES).min(bytes.len());
    let sample = bytes.get(start..end).unwrap_or_default();
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, end == bytes.len());
    let page = detector.guess(None, Utf8Detection::Deny);
    let Western { plausible, letters } = western(sample);
    if plausible && (letters < TELLING_LETTERS || !LATIN.contains(&page)) {
        return encoding_rs::WINDOWS_1252;
    }
    if page == encoding_rs::GBK && memchr::memchr2(0x81, 0x30, bytes).is_some() && has_four_byte_code(bytes) {
        return encoding_rs::GB18030;
    }
    page
}

fn has_four_byte_code(bytes: &[u8]) -> bool {
    let stepper = Stepper::new(Encoding::Legacy(encoding_rs::GB18030));
    let sample = bytes.get(..4 * SAMPLE_BYTES).unwrap_or(bytes);
    let mut at = 0;
    while at < sample.len() {
        let len = stepper.step(sample, at).len;
        if len == 4 {
            return true;
        }
        at += len;
    }
    false
}

fn not_text(bytes: &[u8], reason: NotTextReason) -> NotText {
    NotText { reason, kind: magic(bytes), size: bytes.len() }
}

/// What a file's first bytes say it is.
pub fn magic(bytes: &[u8]) -> Option<&'static str> {
    if bytes.get(257..262) == Some(b"ustar") {
        return Some("a tar archive");
    }
    if bytes.starts_with(b"RIFF") && bytes.len() >= 12 {
        return match bytes.get(8..12) {
            Some(b"WEBP") => Some("a WebP image"),
            Some(b"WAVE") => Some("a WAV recording"),
            Some(b"AVI ") => Some("an AVI video"),
            _ => None,
        };
    }
    if bytes.get(4..8) == Some(b"ftyp") && bytes.first() == Some(&0) {
        return Some("an MP4, MOV or HEIF file");
    }
    let (mark, kind) = MAGIC.iter().find(|(mark, _)| bytes.starts_with(mark))?;
    let is_of_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    let is_text = OF_LETTERS.contains(mark) && bytes.iter().take(32).all(is_of_text);
    (!is_text).then_some(*kind)
}

/// Marks that a text may begin with, which names the format; behind them a file of that format has other bytes than letters.
const OF_LETTERS: &[&[u8]] = &[b"GIF87a", b"GIF89a", b"BZh9", b"PAR1"];

const MAGIC: &[(&[u8], &str)] = &[
    (b"\x7fELF", "an ELF program or library"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an office document, JAR or wheel)"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh9", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\x04\x22\x4d\x18", "lz4 data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\0asm", "a WebAssembly module"),
    (b"\xca\xfe\xba\xbe", "a Java class or Mach-O program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"\xce\xfa\xed\xfe", "a Mach-O program"),
    (b"MZ\x90\0", "a Windows program"),
    (b"!<arch>\n", "a static library or Debian package"),
    (b"OggS\0", "Ogg audio or video"),
    (b"fLaC\0", "a FLAC recording"),
    (b"ID3\x02", "an MP3 recording"),
    (b"ID3\x03", "an MP3 recording"),
    (b"ID3\x04", "an MP3 recording"),
    (b"\x1aE\xdf\xa3", "a Matroska or WebM video"),
    (b"wOFF\0", "a font"),
    (b"wOF2\0", "a font"),
    (b"\0\x01\0\0\0", "a font"),
    (b"OTTO\0", "a font"),
    (b"\0\0\x01\0", "a Windows icon"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old office document"),
    (b"PAR1", "a Parquet file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
];
