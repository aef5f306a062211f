//! A table of text on the terminal, and the raw samples below it and in a file.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use super::raw::Raw;
use crate::paths;

/// Rows of cells; the first row is the header.
#[derive(Debug, Default)]
pub(crate) struct Table(Vec<Vec<String>>);

impl Table {
    pub(crate) fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        Table(vec![header.into_iter().map(Into::into).collect()])
    }

    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.0.push(cells.into_iter().map(Into::into).collect());
    }

    /// A Markdown table whose columns also line up as plain text.
    pub(crate) fn text(&self) -> String {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.0.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for (number, row) in self.0.iter().enumerate() {
            text.push('|');
            for (column, width) in widths.iter().enumerate() {
                let cell = row.get(column).map_or("", String::as_str);
                let pad = " ".repeat(width - cell.chars().count());
                text.push_str(&format!(" {cell}{pad} |"));
            }
            text.push('\n');
            if number == 0 {
                text.push('|');
                for width in &widths {
                    text.push_str(&"-".repeat(width + 2));
                    text.push('|');
                }
                text.push('\n');
            }
        }
        text
    }
}

/// `12 µs`, `1.25 ms`, `2.10 s`: three digits are what a measurement on a shared machine can carry.
pub(crate) fn time(micros: Option<f64>) -> String {
    match micros {
        None => "–".to_owned(),
        Some(us) if us < 1_000.0 => format!("{us:.0} µs"),
        Some(us) if us < 1_000_000.0 => format!("{:.2} ms", us / 1e3),
        Some(us) => format!("{:.2} s", us / 1e6),
    }
}

/// Prints the raw samples, writes `target/bench/NAME.json` with all that is known, and says so.
pub(crate) fn keep(name: &str, raw: &[Raw], samples: &Value) -> Result<()> {
    for raw in raw {
        println!("{}", raw.line());
    }
    let file: PathBuf = paths::made("bench")?.join(format!("{name}.json"));
    let text = serde_json::to_string(samples)?;
    std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    println!("all samples: {}", file.display());
    Ok(())
}
