//! `list_dir`: what is in one directory.

use std::fmt::Write;
use std::os::fd::AsFd;
use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code, text as shown_text};
use nika_guard::{Effects, Looking};
use nika_host::fs::Workspace;
use nika_search::Kind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lenient;
use crate::search::record::{Completeness, LIST};

/// Lists one directory: names, kinds and sizes, by name, hidden ones included. To find files below it use
/// glob.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Directory. Default: the root.
    pub path: Option<String>,
    /// Skip this many entries.
    #[serde(default, deserialize_with = "lenient::number")]
    pub offset: Option<u32>,
    /// At most this many. Default 500.
    #[serde(default, deserialize_with = "lenient::number")]
    pub limit: Option<u32>,
}

/// The tool.
#[derive(Debug)]
pub struct ListDir {
    /// The files.
    pub files: Arc<Workspace>,
}

/// The record beside the names.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    /// The directory, as results show paths.
    pub path: String,
    /// Entries in it, shown or not.
    pub total: usize,
    /// Entries in this answer.
    pub shown: usize,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// What was looked at.
    pub completeness: Completeness,
}

const DEFAULT_LIMIT: u32 = 500;

impl Tool for ListDir {
    type Params = Params;
    const SPEC: Spec = Spec::new("list_dir", "List directory", Group::File)
        .read_only()
        .text()
        .event(nika_contract::event::TOOL_GLOB)
        .terms(&["ls", "directory", "folder", "entries", "contents", "browse", "tree", "files here", "which files"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Listed>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        lenient::some("limit", params.limit)?;
        Ok(Effects::read(self.files.locate_without_git(params.path.as_deref().unwrap_or("."))?))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let place = cx.place()?;
        let dir = self.files.open_dir(cx.permit, place)?;
        let offset = params.offset.unwrap_or_default() as usize;
        let limit = params.limit.unwrap_or(DEFAULT_LIMIT) as usize;
        let own_state = self.files.holds_own_state(&place.path);
        let filter = cx.permit.tree_filter(place, Looking::AtNames);
        let withhold = |name: &std::ffi::OsStr, _: bool| {
            let path = place.path.join(name);
            (own_state && self.files.is_own_state(&path)) || filter.withholds(&path, name.as_ref())
        };
        let any = own_state || !filter.is_idle();
        let listing = nika_search::list(dir.as_fd(), offset, Some(limit), any.then_some(&withhold))
            .map_err(|error| ToolError::new(code::READ_FAILED, format!("cannot list {}: {error}", place.shown())))?;
        let mut text = String::with_capacity(listing.entries.len() * 32);
        for entry in &listing.entries {
            text.push_str(&shown_text::name_in_line(&entry.name.to_string_lossy()));
            match entry.kind {
                Kind::Dir => text.push('/'),
                Kind::File => push_size(&mut text, entry.size),
                Kind::Link => text.push_str("  link"),
                Kind::Other => text.push_str("  device, socket or FIFO"),
            }
            text.push('\n');
        }
        let completeness = Completeness::of(&listing.record, &LIST);
        let notes_from = text.len();
        if listing.total == 0 && completeness.complete {
            text.push_str("[empty]\n");
        } else if listing.total == 0 {
            text.push_str("[nothing here may be shown]\n");
        } else if let Some(next) = listing.next_offset {
            let _ =
                writeln!(text, "[{} of {} entries; go on with offset={next}]", listing.entries.len(), listing.total);
        } else if offset >= listing.total {
            let _ = writeln!(text, "[there are {} entries; offset {offset} is behind the last]", listing.total);
        }
        text.push_str(&completeness.line(&listing.record, &LIST, true));
        let result = Listed {
            path: place.shown().into_owned(),
            total: listing.total,
            shown: listing.entries.len(),
            next_offset: listing.next_offset,
            completeness,
        };
        Ok(Output::data(serde_json::to_value(&result).unwrap_or_default(), text)
            .with_ours_from(notes_from)
            .with_fact("path", result.path)
            .with_fact("total", result.total)
            .with_fact("complete", result.completeness.complete))
    }
}

/// Appends a file's size. Most are small, and the general way of formatting was a tenth of a listing.
fn push_size(text: &mut String, bytes: u64) {
    text.push_str("  ");
    if bytes >= 1024 {
        return text.push_str(&size(bytes));
    }
    for unit in [1000, 100, 10, 1] {
        if bytes >= unit || unit == 1 {
            text.push(char::from(b'0' + (bytes / unit % 10) as u8));
        }
    }
    text.push_str(" B");
}

/// A size as people read it: `512 B`, `1.5 KB`, `20 MB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KB", "MB", "GB", "TB", "PB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut value, mut unit) = (bytes as f64 / 1024.0, 0);
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value < 9.95 { format!("{value:.1} {}", UNITS[unit]) } else { format!("{value:.0} {}", UNITS[unit]) }
}

const EXAMPLES: &[Example] = &[Example {
    title: "The root",
    files: &[("src/main.rs", "fn main() {}\n"), ("README.md", "Hi\n")],
    before: &[],
    arguments: "{}",
    answer: "README.md  3 B",
}];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (bytes, shown) in [
            (0, "0 B"),
            (7, "7 B"),
            (10, "10 B"),
            (305, "305 B"),
            (1023, "1023 B"),
            (1024, "1.0 KB"),
            (1536, "1.5 KB"),
            (20 << 20, "20 MB"),
            ((1 << 20) - 1, "1.0 MB"),
        ] {
            assert_eq!(size(bytes), shown);
            let mut text = String::new();
            push_size(&mut text, bytes);
            assert_eq!(text, format!("  {shown}"));
        }
    }
}
