//! `grep`: files by content, with ripgrep's meaning of every parameter.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::{Effects, Looking, Place};
use nika_host::fs::Workspace;
use nika_search::{BinaryNote, FileHits, GrepFound, GrepQuery, Mode, SearchError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::globs::{Ground, from_place, several};
use super::record::{Completeness, GREP};
use super::scope::{DEFAULT_TIMEOUT, Search, Searched, apart, flaw};
use crate::lenient;

/// Searches file contents with a regular expression (ripgrep's). Leaves out ignored, hidden and binary
/// files, and says so.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Regular expression.
    pub pattern: String,
    /// File or directory. Default: the root.
    pub path: Option<String>,
    /// Only files like "*.rs" or "*.{ts,tsx}".
    pub glob: Option<String>,
    /// Only files of a type: rust, py, js…
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Default files_with_matches.
    pub output_mode: Option<OutputMode>,
    /// Line numbers. Default true.
    #[serde(rename = "-n", default, deserialize_with = "lenient::switch")]
    pub numbers: Option<bool>,
    /// Ignore case.
    #[serde(rename = "-i", default, deserialize_with = "lenient::switch")]
    pub ignore_case: Option<bool>,
    /// Lines after each match.
    #[serde(rename = "-A", default, deserialize_with = "lenient::number")]
    pub after: Option<u32>,
    /// Lines before.
    #[serde(rename = "-B", default, deserialize_with = "lenient::number")]
    pub before: Option<u32>,
    /// Lines around.
    #[serde(rename = "-C", default, deserialize_with = "lenient::number")]
    pub around: Option<u32>,
    /// Same as -C.
    #[serde(default, deserialize_with = "lenient::number")]
    pub context: Option<u32>,
    /// Matches may span lines; `.` takes line breaks.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub multiline: Option<bool>,
    /// At most this many lines or files.
    #[serde(default, deserialize_with = "lenient::number")]
    pub head_limit: Option<u32>,
    /// Skip this many.
    #[serde(default, deserialize_with = "lenient::number")]
    pub offset: Option<u32>,
    /// Pattern is plain text.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub literal: Option<bool>,
    /// Hidden files too.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub hidden: Option<bool>,
    /// Ignored files too.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub no_ignore: Option<bool>,
    /// Default 30000.
    #[serde(default, deserialize_with = "lenient::number")]
    pub timeout_ms: Option<u32>,
}

/// What to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputMode {
    /// Which files match.
    #[default]
    FilesWithMatches,
    /// The lines.
    Content,
    /// How many lines match in each file.
    Count,
}

/// The tool.
#[derive(Debug)]
pub struct Grep {
    /// The files.
    pub files: Arc<Workspace>,
}

/// The record beside the text. What matched is in the text alone: no payload travels twice.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    /// Files with a match in this answer.
    pub files: usize,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// What was looked at.
    pub completeness: Completeness,
}

/// No search runs longer than this.
const MAX_TIMEOUT_MS: u32 = 600_000;

impl Tool for Grep {
    type Params = Params;
    const SPEC: Spec = Spec::new("grep", "Search in files", Group::Search)
        .eager()
        .read_only()
        .text()
        .event(nika_contract::event::TOOL_GREP)
        .terms(&[
            "search",
            "find",
            "text",
            "regex",
            "content",
            "ripgrep",
            "occurrences",
            "usages",
            "look",
            "string",
            "code",
            "symbol",
            "defined",
            "definition",
            "references",
            "where",
            "called",
            "function",
            "mention",
            "lines",
            "files that contain",
            "comments",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Found>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        query(params, Vec::new())?;
        Ok(Effects::read(self.files.locate_without_git(params.path.as_deref().unwrap_or("."))?.tree()))
    }

    fn flaw(&self, params: &Params) -> Option<ToolError> {
        let place = self.files.locate_without_git(params.path.as_deref().unwrap_or(".")).ok()?;
        let globs = globs(params, &place, |_| true);
        let checked = globs.and_then(|globs| query(params, globs).ok().map_or(Ok(()), |query| query.compiles()));
        checked.err().map(|error| flaw(error, "glob"))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let place = self.files.locate_without_git(params.path.as_deref().unwrap_or("."))?;
        let names = || self.files.names(cx.permit, &place);
        let globs = globs(&params, &place, |first| names().iter().any(|name| name == first));
        let query = query(&params, globs.map_err(|error| flaw(error, "glob"))?)?;
        let mut search = Search::new(&self.files, cx, place.clone().tree(), Looking::IntoFiles);
        search.hidden = params.hidden.unwrap_or_default();
        search.no_ignore = params.no_ignore.unwrap_or_default();
        search.timeout = params
            .timeout_ms
            .map_or(DEFAULT_TIMEOUT, |ms| Duration::from_millis(u64::from(ms.clamp(1, MAX_TIMEOUT_MS))));
        let mode = params.output_mode.unwrap_or_default();
        let apart_from = (query.before + query.after > 0).then_some(query.offset);
        let style = Style { mode, numbers: query.line_numbers, apart_from };
        let looked = Arc::clone(&search.looked);
        let (searched, search) = apart(cx, looked, move || {
            let searched = search.run(|scope| nika_search::grep(scope, &query))?;
            Ok((searched, search))
        })
        .await?;
        let found = &searched.found;
        let completeness = Completeness::of(&found.record, &GREP)
            .behind_links(searched.asked_links(&search.files, &found.record))
            .in_first_root(&self.files, params.path.as_deref());
        let mut text = render(&searched, &search.files, style);
        let notes_from = text.len();
        if found.files.is_empty() {
            let what = match (completeness.complete, params.offset.unwrap_or_default()) {
                (true, 0) => "No matches.",
                (false, 0) => "No match in what was searched, and that was not all.",
                _ => "No more matches.",
            };
            text.push_str(what);
            text.push('\n');
        }
        if let Some(next) = found.next_offset {
            let _ = writeln!(text, "[more follow; go on with offset={next}]");
        }
        text.push_str(&completeness.line(&found.record, &GREP, !found.files.is_empty()));
        let result = Found { files: found.files.len(), next_offset: found.next_offset, completeness };
        Ok(Output::data(serde_json::to_value(&result).unwrap_or_default(), text)
            .with_ours_from(notes_from)
            .with_fact("pattern", params.pattern)
            .with_fact("files", result.files)
            .with_fact("complete", result.completeness.complete))
    }
}

fn globs(params: &Params, place: &Place, has: impl Fn(&str) -> bool) -> Result<Vec<String>, SearchError> {
    let written = place.named.as_ref().and_then(|named| named.below_root.as_deref());
    let way = place.below_root.as_deref();
    let ground = Ground { place: &place.path, way, written, is_named: params.path.is_some() };
    let all = params.glob.iter().flat_map(|text| several(text));
    all.map(|glob| from_place(&glob, &ground, &has)).collect()
}

fn query(params: &Params, globs: Vec<String>) -> Result<GrepQuery, ToolError> {
    if let (Some(a), Some(b)) = (params.around, params.context)
        && a != b
    {
        return Err(ToolError::argument(
            "context",
            format!("-C says {a} and context says {b}; they are one, give one"),
        ));
    }
    let around = params.around.or(params.context).unwrap_or_default();
    Ok(GrepQuery {
        literal: params.literal.unwrap_or_default(),
        ignore_case: params.ignore_case.unwrap_or_default(),
        multiline: params.multiline.unwrap_or_default(),
        mode: match params.output_mode.unwrap_or_default() {
            OutputMode::FilesWithMatches => Mode::Files,
            OutputMode::Content => Mode::Content,
            OutputMode::Count => Mode::Count,
        },
        before: params.before.unwrap_or(around) as usize,
        after: params.after.unwrap_or(around) as usize,
        line_numbers: params.numbers.unwrap_or(true),
        globs,
        types: params.kind.iter().cloned().collect(),
        // 0 is how some clients say "no limit".
        head_limit: params.head_limit.filter(|limit| *limit > 0).map(|limit| limit as usize),
        offset: params.offset.unwrap_or_default() as usize,
        overrides_ignore: true,
        ..GrepQuery::new(params.pattern.clone())
    })
}

/// How what is found is written.
#[derive(Clone, Copy)]
struct Style {
    mode: OutputMode,
    numbers: bool,
    /// Whether `--` stands between files as between groups of one, and how much stands on pages before this one: wherever
    /// context was asked for, as in `rg`, also where each line shown is a match.
    apart_from: Option<usize>,
}

/// What is found, as `rg --no-heading` writes it.
fn render(searched: &Searched<GrepFound>, files: &Workspace, style: Style) -> String {
    let mut text = String::new();
    for file in &searched.found.files {
        let path = searched.shown(files, &file.path);
        match style.mode {
            OutputMode::FilesWithMatches => {
                text.push_str(&path);
                text.push('\n');
            }
            OutputMode::Count => {
                let _ = writeln!(text, "{path}:{}", file.matches);
            }
            OutputMode::Content => push_lines(&mut text, &path, file, style),
        }
    }
    text
}

fn push_lines(text: &mut String, path: &str, file: &FileHits, style: Style) {
    for (index, line) in file.lines.iter().enumerate() {
        let begins = line.gap_before || (index == 0 && !file.goes_on);
        // Pages one behind the other are the whole, so a group that begins a later page is apart from the one before it.
        if style.apart_from.is_some_and(|before| begins && (before > 0 || !text.is_empty())) {
            text.push_str("--\n");
        }
        let mark = if line.is_match { ':' } else { '-' };
        text.push_str(path);
        text.push(mark);
        if let Some(number) = line.number.filter(|_| style.numbers) {
            let _ = write!(text, "{number}{mark}");
        }
        let bytes = file.text(line);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        text.push_str(&String::from_utf8_lossy(bytes));
        text.push('\n');
    }
    if let Some(binary) = file.binary {
        let _ = writeln!(text, "[{path}: {}]", told(&binary));
    }
}

/// What a NUL byte means for what is shown of a file that matches.
fn told(binary: &BinaryNote) -> String {
    let around = binary.offset;
    match binary.not_shown_from {
        _ if binary.stopped => format!("binary; the search of it stopped at the NUL byte around offset {around}"),
        Some(from) => format!("binary file matches; not shown from byte {from} on (NUL byte around offset {around})"),
        None => format!("binary file matches (NUL byte around offset {around})"),
    }
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "Which files",
        files: &[("a.rs", "fn alpha() {}\n"), ("b.rs", "fn beta() {}\n")],
        before: &[],
        arguments: r#"{"pattern": "fn a\\w+"}"#,
        answer: "a.rs",
    },
    Example {
        title: "The lines, with context",
        files: &[("a.txt", "one\ntwo\nthree\n")],
        before: &[],
        arguments: r#"{"pattern": "two", "output_mode": "content", "-C": 1}"#,
        answer: "a.txt:2:two",
    },
    Example {
        title: "How often, ignoring case",
        files: &[("a.txt", "x\nX\ny\n")],
        before: &[],
        arguments: r#"{"pattern": "x", "output_mode": "count", "-i": true}"#,
        answer: "a.txt:2",
    },
];
