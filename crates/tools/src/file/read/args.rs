//! Which lines a caller asks for, and how numbers are said to it. Knows no file.

use std::fmt;

use nika_contract::ToolError;
use serde::de::{Deserializer, Error, Visitor};

/// Lines of an answer, unless the caller says otherwise: about what a model takes in at once.
pub(super) const DEFAULT_LINES: u64 = 2_000;

/// Which lines are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub start: Start,
    pub lines: u64,
}

/// Where they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// This line, the first being 1.
    Line(u64),
    /// This many lines before the end.
    End(u64),
}

impl Window {
    pub fn new(offset: Option<i64>, limit: Option<i64>) -> Result<Window, ToolError> {
        let lines = match limit {
            None => DEFAULT_LINES,
            Some(limit) => u64::try_from(limit).ok().filter(|limit| *limit > 0).ok_or_else(|| {
                ToolError::argument("limit", format!("{limit} is not a number of lines; give 1 or more"))
            })?,
        };
        let start = match offset.unwrap_or(1) {
            offset @ ..0 => Start::End(offset.unsigned_abs()),
            offset => Start::Line(offset.unsigned_abs().max(1)),
        };
        Ok(Window { start, lines })
    }

    /// The first wanted line of `total`, from 1; an error that names the total when there is none.
    pub fn first_of(&self, total: u64, what: &str) -> Result<u64, ToolError> {
        match self.start {
            Start::End(back) => Ok(total.saturating_sub(back) + 1),
            Start::Line(first) if first <= total.max(1) => Ok(first),
            Start::Line(first) => Err(beyond(first, total, what)),
        }
    }
}

/// The refusal of a first line (or cell) behind the last.
pub(super) fn beyond(first: u64, total: u64, what: &str) -> ToolError {
    let total = grouped(total);
    ToolError::argument("offset", format!("{what} {} is beyond the end; the file has {total} {what}s", grouped(first)))
        .hint(format!("offset=-100 gives the last 100 {what}s"))
}

/// Digits in groups of three: `15,324`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes as a person says them: `5.0 GB`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: &[(u64, &str)] = &[(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match UNITS.iter().find(|(unit, _)| bytes >= 10 * unit || (bytes >= *unit && *unit > 1_000)) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{} bytes", grouped(bytes)),
    }
}

/// Text, also when it comes as a number: a single page.
pub(super) fn text_or_number<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    input.deserialize_any(TextOrNumber)
}

struct TextOrNumber;

impl<'de> Visitor<'de> for TextOrNumber {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pages such as \"1-5\", \"3\" or \"10-\"")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Option<String>, E> {
        Ok(Some(value.to_string()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Option<String>, E> {
        Ok(Some(value.trim()).filter(|text| !text.is_empty()).map(str::to_owned))
    }

    fn visit_unit<E: Error>(self) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_none<E: Error>(self) -> Result<Option<String>, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_count_from_either_end() {
        let first = |offset, total| Window::new(Some(offset), None).and_then(|window| window.first_of(total, "line"));
        assert_eq!(first(0, 10), Ok(1));
        assert_eq!(first(10, 10), Ok(10));
        assert_eq!(first(-3, 10), Ok(8));
        assert_eq!(first(-30, 10), Ok(1));
        assert_eq!(first(1, 0), Ok(1));
        assert_eq!(first(i64::MIN, 10), Ok(1));
        let refused = first(11, 10).expect_err("there are ten").to_string();
        assert!(refused.contains("the file has 10 lines"), "{refused}");
        assert!(Window::new(None, Some(0)).is_err());
        assert!(Window::new(None, Some(-1)).is_err());
    }

    #[test]
    fn numbers_are_said_as_people_do() {
        assert_eq!([0, 999, 1_000, 15_324, 1_000_000].map(grouped), ["0", "999", "1,000", "15,324", "1,000,000"]);
        assert_eq!(size(9_999), "9,999 bytes");
        assert_eq!(size(5_000_000_000), "5.0 GB");
        assert_eq!(size(1_234_567), "1.2 MB");
    }
}
