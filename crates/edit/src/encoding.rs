//! Which encoding bytes are in, how to step through them character by character, and how to
//! write text back. Knows nothing of files, lines or edits.
//!
//! `encoding_rs` has no UTF-32 and reports no positions, so UTF-16 and UTF-32 are done here by
//! hand and legacy pages are stepped one character at a time: an edit needs to know which bytes
//! a character came from.

use std::borrow::Cow;

/// How the bytes of a file stand for characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark; ASCII is UTF-8.
    Utf8,
    Utf16Le,
    Utf16Be,
    Utf32Le,
    Utf32Be,
    /// A code page from before Unicode, as `encoding_rs` knows it.
    Legacy(&'static encoding_rs::Encoding),
}

/// A character that an encoding has no bytes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unencodable {
    pub character: char,
    /// Byte offset in the text that was to be encoded.
    pub at: usize,
}

impl Encoding {
    /// The usual name: `UTF-8`, `UTF-16LE`, `Shift_JIS`, `windows-1252`…
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16Le => "UTF-16LE",
            Encoding::Utf16Be => "UTF-16BE",
            Encoding::Utf32Le => "UTF-32LE",
            Encoding::Utf32Be => "UTF-32BE",
            Encoding::Legacy(page) => page.name(),
        }
    }

    /// Bytes in one code unit: 1, 2 or 4. Positions in a file are multiples of it.
    pub fn unit(self) -> usize {
        match self {
            Encoding::Utf8 | Encoding::Legacy(_) => 1,
            Encoding::Utf16Le | Encoding::Utf16Be => 2,
            Encoding::Utf32Le | Encoding::Utf32Be => 4,
        }
    }

    pub(crate) fn big_endian(self) -> bool {
        matches!(self, Encoding::Utf16Be | Encoding::Utf32Be)
    }

    /// Escape sequences switch what later bytes mean, so bytes cannot be spliced freely.
    pub fn is_stateful(self) -> bool {
        self == Encoding::Legacy(encoding_rs::ISO_2022_JP)
    }

    /// Text of some bytes that start at a character's first byte (and hold no byte order mark).
    /// What is no character in this encoding becomes U+FFFD. Borrowed when valid UTF-8.
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Encoding::Utf8 => String::from_utf8_lossy(bytes),
            Encoding::Legacy(page) => {
                if let Some(text) = page.decode_without_bom_handling_and_without_replacement(bytes) {
                    return text;
                }
                Cow::Owned(self.decode_stepping(bytes))
            }
            _ => Cow::Owned(self.decode_stepping(bytes)),
        }
    }

    fn decode_stepping(self, bytes: &[u8]) -> String {
        if self.is_stateful() {
            let (text, _) = encoding_rs::ISO_2022_JP.decode_without_bom_handling(bytes);
            return text.into_owned();
        }
        let stepper = Stepper::new(self);
        let mut text = String::with_capacity(bytes.len());
        let mut at = 0;
        while at < bytes.len() {
            let step = stepper.step(bytes, at);
            text.push(step.first);
            if let Some(second) = step.second {
                text.push(second);
            }
            at += step.len;
        }
        text
    }

    /// The bytes of `text`, or the first character that this encoding cannot hold.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, Unencodable> {
        match self {
            Encoding::Utf8 => Ok(text.as_bytes().to_vec()),
            Encoding::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Encoding::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            Encoding::Utf32Le => Ok(text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect()),
            Encoding::Utf32Be => Ok(text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect()),
            Encoding::Legacy(page) => encode_legacy(page, text),
        }
    }
}

/// Encoders map some characters to others (yen sign to backslash, half-width kana to full), so
/// what was written is read back: only text that survives counts as encodable.
fn encode_legacy(page: &'static encoding_rs::Encoding, text: &str) -> Result<Vec<u8>, Unencodable> {
    let survives = |part: &str| -> Option<Vec<u8>> {
        let (bytes, _, unmappable) = page.encode(part);
        if unmappable {
            return None;
        }
        let back = page.decode_without_bom_handling_and_without_replacement(&bytes)?;
        (back == part).then(|| bytes.into_owned())
    };
    if let Some(bytes) = survives(text) {
        return Ok(bytes);
    }
    let mut utf8 = [0; 4];
    for (at, character) in text.char_indices() {
        if survives(character.encode_utf8(&mut utf8)).is_none() {
            return Err(Unencodable { character, at });
        }
    }
    // Each character alone survives but not the whole (Big5 has pairs with one code).
    let character = text.chars().next().unwrap_or('\u{fffd}');
    Err(Unencodable { character, at: 0 })
}

/// One step through bytes: the characters that `len` bytes stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub first: char,
    /// Big5 writes a few letters with combining marks as one code.
    pub second: Option<char>,
    pub len: usize,
    /// The bytes are no character; `first` is U+FFFD.
    pub invalid: bool,
}

/// Steps through bytes of any encoding but ISO-2022-JP (stateful: see `view`).
#[derive(Debug)]
pub(crate) struct Stepper {
    encoding: Encoding,
    /// Single-byte pages: what each byte means.
    table: Option<Box<[Option<char>; 256]>>,
}

impl Stepper {
    pub fn new(encoding: Encoding) -> Stepper {
        let table = match encoding {
            Encoding::Legacy(page) if page.is_single_byte() => {
                let mut table = Box::new([None; 256]);
                for (byte, slot) in (0..=255u8).zip(table.iter_mut()) {
                    *slot = decode_exactly(page, &[byte]).map(|(c, _)| c);
                }
                Some(table)
            }
            _ => None,
        };
        Stepper { encoding, table }
    }

    /// The character that starts at `at`, which must be below `bytes.len()`. `len` is never 0
    /// and never reaches past the end.
    pub fn step(&self, bytes: &[u8], at: usize) -> Step {
        let rest = bytes.get(at..).unwrap_or_default();
        let found = match self.encoding {
            Encoding::Utf8 => step_utf8(rest),
            Encoding::Utf16Le => step_utf16(rest, u16::from_le_bytes),
            Encoding::Utf16Be => step_utf16(rest, u16::from_be_bytes),
            Encoding::Utf32Le => step_utf32(rest, u32::from_le_bytes),
            Encoding::Utf32Be => step_utf32(rest, u32::from_be_bytes),
            Encoding::Legacy(page) => self.step_legacy(page, rest),
        };
        match found {
            Ok(step) => step,
            Err(len) => Step { first: '\u{fffd}', second: None, len: len.clamp(1, rest.len().max(1)), invalid: true },
        }
    }

    fn step_legacy(&self, page: &'static encoding_rs::Encoding, rest: &[u8]) -> Result<Step, usize> {
        let &byte = rest.first().ok_or(1usize)?;
        if let Some(table) = &self.table {
            return table[usize::from(byte)].map(|c| one(c, 1)).ok_or(1);
        }
        if byte < 0x80 {
            return Ok(one(char::from(byte), 1));
        }
        let lengths: &[usize] = if is_lead(page, byte) { &[2, 3, 4] } else { &[1] };
        for &len in lengths {
            if let Some((first, second)) = rest.get(..len).and_then(|part| decode_exactly(page, part)) {
                return Ok(Step { first, second, len, invalid: false });
            }
        }
        Err(1)
    }
}

fn one(first: char, len: usize) -> Step {
    Step { first, second: None, len, invalid: false }
}

/// A byte above ASCII that is never a character by itself.
fn is_lead(page: &'static encoding_rs::Encoding, byte: u8) -> bool {
    if page == encoding_rs::SHIFT_JIS {
        matches!(byte, 0x81..=0x9f | 0xe0..=0xfc)
    } else if page == encoding_rs::EUC_JP {
        matches!(byte, 0x8e | 0x8f | 0xa1..=0xfe)
    } else {
        matches!(byte, 0x81..=0xfe)
    }
}

/// The one or two characters that exactly these bytes stand for.
fn decode_exactly(page: &'static encoding_rs::Encoding, bytes: &[u8]) -> Option<(char, Option<char>)> {
    let mut utf8 = [0u8; 16];
    let (result, read, written) =
        page.new_decoder_without_bom_handling().decode_to_utf8_without_replacement(bytes, &mut utf8, true);
    if result != encoding_rs::DecoderResult::InputEmpty || read != bytes.len() {
        return None;
    }
    let text = std::str::from_utf8(utf8.get(..written)?).ok()?;
    let mut chars = text.chars();
    let first = chars.next()?;
    let second = chars.next();
    chars.next().is_none().then_some((first, second))
}

fn step_utf8(rest: &[u8]) -> Result<Step, usize> {
    if let Some(&byte) = rest.first()
        && byte < 0x80
    {
        return Ok(one(char::from(byte), 1));
    }
    let window = rest.get(..4).unwrap_or(rest);
    let good = match std::str::from_utf8(window) {
        Ok(text) => text,
        Err(e) if e.valid_up_to() == 0 => {
            // An unfinished character at the window's end is unfinished in the file, too: a
            // character is at most four bytes long.
            return Err(e.error_len().unwrap_or(window.len()));
        }
        Err(e) => std::str::from_utf8(window.get(..e.valid_up_to()).unwrap_or_default()).unwrap_or_default(),
    };
    good.chars().next().map(|c| one(c, c.len_utf8())).ok_or(1)
}

fn step_utf16(rest: &[u8], read: fn([u8; 2]) -> u16) -> Result<Step, usize> {
    let unit = |at: usize| rest.get(at..at + 2).and_then(|b| b.try_into().ok()).map(read);
    let first = unit(0).ok_or(1usize)?;
    if let Some(c) = char::from_u32(u32::from(first)) {
        return Ok(one(c, 2));
    }
    let pair = [first, unit(2).ok_or(2usize)?];
    match char::decode_utf16(pair).next() {
        Some(Ok(c)) => Ok(one(c, 4)),
        _ => Err(2),
    }
}

fn step_utf32(rest: &[u8], read: fn([u8; 4]) -> u32) -> Result<Step, usize> {
    let bytes = rest.get(..4).and_then(|b| b.try_into().ok()).ok_or(rest.len())?;
    char::from_u32(read(bytes)).map(|c| one(c, 4)).ok_or(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_write_what_they_read() {
        let cases: &[(Encoding, &str)] = &[
            (Encoding::Utf8, "aé漢😀"),
            (Encoding::Utf16Le, "aé漢😀"),
            (Encoding::Utf16Be, "aé漢😀"),
            (Encoding::Utf32Le, "aé漢😀"),
            (Encoding::Utf32Be, "aé漢😀"),
            (Encoding::Legacy(encoding_rs::SHIFT_JIS), "表ソ能ｱｲ"),
            (Encoding::Legacy(encoding_rs::EUC_JP), "日本語ｱ"),
            (Encoding::Legacy(encoding_rs::GBK), "中文€"),
            (Encoding::Legacy(encoding_rs::GB18030), "中文😀"),
            (Encoding::Legacy(encoding_rs::BIG5), "中文許功蓋"),
            (Encoding::Legacy(encoding_rs::EUC_KR), "한국어"),
            (Encoding::Legacy(encoding_rs::WINDOWS_1252), "naïve €"),
            (Encoding::Legacy(encoding_rs::KOI8_R), "Привет"),
        ];
        for &(encoding, text) in cases {
            let bytes = encoding.encode(text).unwrap();
            assert_eq!(encoding.decode(&bytes), text, "{}", encoding.name());
            assert_eq!(encoding.decode_stepping(&bytes), text, "{}", encoding.name());
        }
    }

    #[test]
    fn what_would_change_on_the_way_is_not_encodable() {
        let sjis = Encoding::Legacy(encoding_rs::SHIFT_JIS);
        assert_eq!(sjis.encode("a¥").unwrap_err(), Unencodable { character: '¥', at: 1 });
        let latin = Encoding::Legacy(encoding_rs::WINDOWS_1252);
        assert_eq!(latin.encode("x→").unwrap_err().character, '→');
        let jis = Encoding::Legacy(encoding_rs::ISO_2022_JP);
        assert_eq!(jis.encode("ｱ").unwrap_err().character, 'ｱ');
    }

    #[test]
    fn broken_bytes_step_forward_and_never_swallow_a_newline() {
        for page in
            [encoding_rs::SHIFT_JIS, encoding_rs::EUC_JP, encoding_rs::GB18030, encoding_rs::BIG5, encoding_rs::EUC_KR]
        {
            let stepper = Stepper::new(Encoding::Legacy(page));
            for lead in 0x80..=0xffu8 {
                let bytes = [lead, b'\n', lead, 0x30, b'\n'];
                let mut at = 0;
                let mut newlines = 0;
                while at < bytes.len() {
                    let step = stepper.step(&bytes, at);
                    newlines += usize::from(step.first == '\n');
                    at += step.len;
                }
                assert_eq!((at, newlines), (5, 2), "{} {lead:x}", page.name());
            }
        }
    }
}
