//! How a notebook's JSON is laid out, so that what is new looks like what is there.

use super::json::{Value, quote};

/// Layout of one file.
#[derive(Debug)]
pub(super) struct Style {
    /// `\n` or `\r\n`; `None` when all stands on one line.
    newline: Option<&'static str>,
    /// Indentation of one level.
    unit: String,
    colon: String,
    /// Between items on one line.
    comma: &'static str,
    /// Non-ASCII is written as `\u` escapes.
    ascii: bool,
    /// Sources are lists of lines (the usual way) or strings.
    lists: bool,
}

impl Style {
    pub fn of(text: &str, root: &Value, cells: &[&Value]) -> Style {
        let first = root.members().first();
        let lead = first.and_then(|member| text.get(root.at.start + 1..member.key.start)).unwrap_or("\n ");
        let newline = lead.contains('\n').then_some(if lead.contains('\r') { "\r\n" } else { "\n" });
        let unit = lead.rsplit('\n').next().unwrap_or(" ").to_owned();
        let colon = first.and_then(|member| text.get(member.key.end..member.value.at.start)).unwrap_or(": ");
        let between = root.members().get(..2).and_then(|two| match two {
            [a, b] => text.get(a.value.at.end..b.key.start),
            _ => None,
        });
        let comma = if between == Some(",") { "," } else { ", " };
        let lists = cells.iter().filter_map(|cell| cell.get("source")).next().is_none_or(Value::is_array);
        let ascii = text.trim_start_matches('\u{feff}').is_ascii() && has_escapes(text);
        Style { newline, unit, colon: colon.to_owned(), comma, ascii, lists }
    }

    /// A line break and indentation, or nothing when all stands on one line.
    pub fn open(&self, depth: usize) -> String {
        self.newline.map(|newline| format!("{newline}{}", self.unit.repeat(depth))).unwrap_or_default()
    }

    /// What stands between two items at this depth.
    pub fn between(&self, depth: usize) -> String {
        if self.newline.is_some() { format!(",{}", self.open(depth)) } else { self.comma.to_owned() }
    }

    pub fn quote(&self, text: &str) -> String {
        quote(text, self.ascii)
    }

    pub fn member(&self, name: &str, value: &str) -> String {
        format!("\"{name}\"{}{value}", self.colon)
    }

    /// A source as JSON whose items stand at `depth`.
    pub fn source(&self, source: &str, depth: usize, as_list: Option<bool>) -> String {
        if !as_list.unwrap_or(self.lists) {
            return self.quote(source);
        }
        let lines: Vec<String> = source.split_inclusive('\n').map(|line| self.quote(line)).collect();
        if lines.is_empty() {
            return "[]".into();
        }
        format!("[{}{}{}]", self.open(depth), lines.join(&self.between(depth)), self.open(depth - 1))
    }

    /// Members as an object whose members stand at `depth`.
    pub fn object(&self, members: &[String], depth: usize) -> String {
        format!("{{{}{}{}}}", self.open(depth), members.join(&self.between(depth)), self.open(depth - 1))
    }
}

/// An escape of a character beyond ASCII: somebody chose to write them so.
fn has_escapes(text: &str) -> bool {
    text.match_indices("\\u").any(|(at, _)| {
        let hex = text.get(at + 2..at + 6).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        // A backslash before would make it a backslash and a letter.
        let escaped =
            text.get(..at).is_some_and(|head| head.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1);
        hex.is_some_and(|code| code > 0x7f) && !escaped
    })
}
