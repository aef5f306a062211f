//! Long texts as JSON strings, 64 bytes at a time.
//!
//! serde_json looks at a string byte by byte: a millisecond a megabyte, which was a third of such a call.
//! So a result's long texts are taken out before it is serialised, and written in their places here.

use std::hash::{BuildHasher, RandomState};

use memchr::memmem;
use rmcp::model::{CallToolResult, ContentBlock};

/// Texts shorter than this are not worth the detour.
const LONG_BYTES: usize = 2 * 1024;

/// How much is escaped between two looks at the line's length.
const STEP_BYTES: usize = 64 * 1024;

/// The long texts of a result, each replaced by a mark that nobody else can know.
pub(crate) struct Apart {
    texts: Vec<String>,
    mark: String,
}

impl Apart {
    /// Takes the long texts out.
    pub(crate) fn take(result: &mut CallToolResult) -> Option<Apart> {
        let mut apart = Apart { texts: Vec::new(), mark: String::new() };
        for block in &mut result.content {
            if let ContentBlock::Text(text) = block
                && text.text.len() >= LONG_BYTES
            {
                if apart.mark.is_empty() {
                    let random = || RandomState::new().hash_one(0u8);
                    apart.mark = format!("text-{:016x}{:016x}", random(), random());
                }
                apart.texts.push(std::mem::replace(&mut text.text, apart.mark.clone()));
            }
        }
        (!apart.texts.is_empty()).then_some(apart)
    }

    /// Appends `json`, a serialised result, with the texts in their places. `more` sees the line again and
    /// again as it grows, and may take what is there.
    pub(crate) fn put_back(&self, json: &[u8], line: &mut Vec<u8>, more: &mut dyn FnMut(&mut Vec<u8>)) {
        let quoted = format!("\"{}\"", self.mark);
        let mut rest = json;
        for text in &self.texts {
            let Some(at) = memmem::find(rest, quoted.as_bytes()) else { break };
            line.extend_from_slice(&rest[..at]);
            line.push(b'"');
            // A piece may end within a character: its bytes are what is escaped.
            for piece in text.as_bytes().chunks(STEP_BYTES) {
                escape(piece, line);
                more(line);
            }
            line.push(b'"');
            rest = &rest[at + quoted.len()..];
        }
        line.extend_from_slice(rest);
    }
}

/// Appends `text` as the inside of a JSON string. Source text has a byte to escape every fifteen, so that looking for the
/// next one costs more than the bytes between: each 64 bytes are looked at together, and what is plain is appended sixteen
/// bytes at a time, which is one store, then cut.
fn escape(text: &[u8], line: &mut Vec<u8>) {
    line.reserve(text.len() + text.len() / 8);
    let (blocks, tail) = text.as_chunks::<64>();
    for block in blocks {
        let (mut specials, mut from) = (specials(block), 0);
        while specials != 0 {
            let at = specials.trailing_zeros() as usize;
            plain(block, from, at, line);
            escape_byte(block[at], line);
            from = at + 1;
            specials &= specials - 1;
        }
        line.extend_from_slice(&block[from..]);
    }
    for byte in tail {
        if is_special(*byte) { escape_byte(*byte, line) } else { line.push(*byte) }
    }
}

/// Appends the bytes of `block` from `from` to `to`.
fn plain(block: &[u8; 64], from: usize, to: usize, line: &mut Vec<u8>) {
    match block[from..].first_chunk::<16>() {
        Some(sixteen) if to - from <= 16 => {
            line.extend_from_slice(sixteen);
            line.truncate(line.len() - (16 - (to - from)));
        }
        _ => line.extend_from_slice(&block[from..to]),
    }
}

fn escape_byte(byte: u8, line: &mut Vec<u8>) {
    match SHORT[usize::from(byte)] {
        0 => line.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        short => line.extend_from_slice(&[b'\\', short]),
    }
}

/// What stands behind the backslash; 0 where it is the byte's number.
const SHORT: [u8; 256] = {
    let mut short = [0; 256];
    short[b'"' as usize] = b'"';
    short[b'\\' as usize] = b'\\';
    short[b'\n' as usize] = b'n';
    short[b'\t' as usize] = b't';
    short[b'\r' as usize] = b'r';
    short
};

fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

/// A bit for each byte that is a quotation mark, a backslash or a control character; the first is the lowest.
fn specials(block: &[u8; 64]) -> u64 {
    // Without branches: the compiler compares sixteen bytes at once.
    let flags = block.map(|byte| u8::from(is_special(byte)));
    let (words, _) = flags.as_chunks::<8>();
    // The product has the lowest bit of each byte in its highest byte.
    let bits = |word: &[u8; 8]| u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    words.iter().rev().fold(0, |all, word| all << 8 | bits(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        let mut line = Vec::new();
        escape(text.as_bytes(), &mut line);
        String::from_utf8(line).expect("UTF-8 stays UTF-8")
    }

    #[test]
    fn a_text_comes_back_as_it_was() {
        let mut text = String::new();
        for n in 0..3000u32 {
            // Every byte below 256 and some above, at every offset from a word's start.
            text.push(char::from_u32(n % 0x180).unwrap_or('x'));
            text.push_str(&"plain ".repeat(n as usize % 4));
        }
        let back: String = serde_json::from_str(&format!("\"{}\"", escaped(&text))).expect("it is JSON");
        assert_eq!(back, text);
        for text in
            ["", "\"", "\\", "\u{7f}é\u{1f}", "12345678\n", "1234567\"", "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}"]
        {
            let back: String = serde_json::from_str(&format!("\"{}\"", escaped(text))).expect("it is JSON");
            assert_eq!(back, text);
        }
    }

    #[test]
    fn long_texts_stand_where_they_stood() {
        let (one, two) = ("a\"b\n".repeat(8000), "ü\\".repeat(9000));
        let texts =
            || vec![ContentBlock::text(one.clone()), ContentBlock::text("short"), ContentBlock::text(two.clone())];
        let mut result = CallToolResult::success(texts());
        let apart = Apart::take(&mut result).expect("two are long");
        let mut line = Vec::new();
        let mut sent = Vec::new();
        apart.put_back(&serde_json::to_vec(&result).expect("serialises"), &mut line, &mut |line| sent.append(line));
        sent.append(&mut line);
        let line = sent;
        let whole: serde_json::Value = serde_json::from_slice(&line).expect("it is JSON");
        assert_eq!(whole, serde_json::to_value(CallToolResult::success(texts())).expect("serialises"));
        assert!(Apart::take(&mut CallToolResult::success(vec![ContentBlock::text("short")])).is_none());
    }
}
