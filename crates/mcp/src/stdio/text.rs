//! Long texts as JSON strings, eight bytes at a time.
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

/// Appends `text` as the inside of a JSON string: eight bytes are appended, then cut where the first that
/// must be escaped stood. An append of a fixed size is one store, and source text has such a byte every line.
fn escape(text: &[u8], line: &mut Vec<u8>) {
    line.reserve(text.len() + text.len() / 8);
    let mut at = 0;
    while let Some(eight) = text[at..].first_chunk::<8>() {
        line.extend_from_slice(eight);
        let plain = first_special(u64::from_le_bytes(*eight));
        at += plain;
        if plain < 8 {
            line.truncate(line.len() - (8 - plain));
            escape_byte(eight[plain], line);
            at += 1;
        }
    }
    for byte in &text[at..] {
        if is_special(*byte) { escape_byte(*byte, line) } else { line.push(*byte) }
    }
}

fn escape_byte(byte: u8, line: &mut Vec<u8>) {
    match byte {
        b'"' => line.extend_from_slice(b"\\\""),
        b'\\' => line.extend_from_slice(b"\\\\"),
        b'\n' => line.extend_from_slice(b"\\n"),
        b'\t' => line.extend_from_slice(b"\\t"),
        b'\r' => line.extend_from_slice(b"\\r"),
        control => line.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
    }
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Which of eight bytes is the first quotation mark, backslash or control character; 8 for none.
fn first_special(word: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let zero_in = |word: u64| word.wrapping_sub(ONES) & !word;
    let below_space = word.wrapping_sub(ONES * 0x20) & !word;
    let hits = (below_space | zero_in(word ^ (ONES * 0x22)) | zero_in(word ^ (ONES * 0x5c))) & HIGHS;
    // A borrow can only spoil bytes above a true hit: the lowest is one. No hit has 64 zeros: eight bytes.
    (hits.trailing_zeros() / 8) as usize
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
