//! Printing. A reader that goes away (`nika log show | head`) ends the program quietly, not with a panic.
//!
//! What is said to people may hold words of others: names of files, rules of a repository, what a server calls itself. So no
//! character that steers a terminal goes through here, but for what is drawn on purpose ([`verbatim`], [`note`]).

use std::fmt::Write as _;
use std::io::{self, Write};

use nika_contract::text::harmless;
use serde_json::Value;

/// Writes text to stdout.
pub fn print(text: &str) -> io::Result<()> {
    verbatim(&harmless(text))
}

/// Writes text to stdout, with a newline at its end.
pub fn line(text: &str) -> io::Result<()> {
    ended(&harmless(text))
}

/// Writes text to stdout as it is: what was drawn in colours of what is harmless, and documents for programs.
pub fn verbatim(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

fn ended(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    stdout.flush()
}

/// Writes a JSON value on one line.
pub fn json(value: &Value) -> io::Result<()> {
    ended(&value.to_string())
}

/// Writes a JSON value over several lines.
pub fn pretty(value: &Value) -> io::Result<()> {
    ended(&format!("{value:#}"))
}

/// Writes a line to stderr. Nobody is left to hear of it when that fails.
pub fn complain(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{}", harmless(text));
}

/// Writes text to stderr as it is: what was drawn of what is harmless. Nobody is left to hear of it when that fails.
pub fn note(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// A unified diff with a colour a kind of line.
pub fn coloured(diff: &str) -> String {
    const KINDS: &[(&str, &str)] = &[("+++", "1"), ("---", "1"), ("@@", "36"), ("+", "32"), ("-", "31")];
    let mut out = String::with_capacity(diff.len() + diff.len() / 4);
    for line in diff.lines() {
        match KINDS.iter().find(|(start, _)| line.starts_with(start)) {
            Some((_, colour)) => {
                let _ = writeln!(out, "\x1b[{colour}m{line}\x1b[0m");
            }
            None => {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    out
}

/// Rows in columns as wide as their widest cell; the last column takes what it needs.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter(|row| column + 1 < row.len()).map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".into(), "long".into(), "x".into()], vec!["bbb".into(), "s".into(), "y".into()]];
        assert_eq!(table(&rows), "a    long  x\nbbb  s     y\n");
    }

    #[test]
    fn a_diff_keeps_its_text() {
        let plain = coloured("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z\n");
        assert_eq!(plain.matches("\x1b[0m").count(), 5);
        assert!(plain.ends_with(" z\n"));
    }
}
