//! `glob`: files by name, newest first.

use std::path::Path;
use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::{Effects, Looking};
use nika_host::fs::Workspace;
use nika_search::{GlobQuery, SearchError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::globs::{Ground, from_place};
use super::record::{Completeness, GLOB};
use super::scope::{Search, apart, flaw};
use crate::lenient;

/// Finds files by name, newest first: `**/*.rs`, `src/**/*_test.{ts,tsx}`. Shows at most 100 unless `limit`
/// says more. Leaves out ignored and hidden files, and says so.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Glob pattern.
    pub pattern: String,
    /// Directory to look in. Default: the root.
    pub path: Option<String>,
    /// Default 100.
    #[serde(default, deserialize_with = "lenient::number")]
    pub limit: Option<u32>,
    /// Skip this many.
    #[serde(default, deserialize_with = "lenient::number")]
    pub offset: Option<u32>,
    /// Hidden files too.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub hidden: Option<bool>,
    /// Ignored files too.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub no_ignore: Option<bool>,
}

/// The tool.
#[derive(Debug)]
pub struct Glob {
    /// The files.
    pub files: Arc<Workspace>,
}

/// The record beside the paths.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    /// Files that match, shown or not.
    pub total: u64,
    /// Paths in this answer.
    pub shown: usize,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// What was looked at.
    pub completeness: Completeness,
}

const DEFAULT_LIMIT: u32 = 100;

impl Tool for Glob {
    type Params = Params;
    const SPEC: Spec = Spec::new("glob", "Find files", Group::Search)
        .eager()
        .read_only()
        .text()
        .event(nika_contract::event::TOOL_GLOB)
        .terms(&[
            "find",
            "files",
            "name",
            "pattern",
            "extension",
            "locate",
            "recent",
            "changed",
            "recently",
            "list",
            "all",
            "filename",
            "wildcard",
            "file called",
            "where",
            "names",
            "end in",
            "python files",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Found>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        lenient::some("limit", params.limit)?;
        Ok(Effects::read(self.files.locate_without_git(params.path.as_deref().unwrap_or("."))?.tree()))
    }

    fn flaw(&self, params: &Params) -> Option<ToolError> {
        let place = self.files.locate_without_git(params.path.as_deref().unwrap_or(".")).ok()?;
        let checked = query(params, &place.path, |_| true).and_then(|query| query.compiles());
        checked.err().map(|error| flaw(error, "pattern"))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let place = self.files.locate_without_git(params.path.as_deref().unwrap_or("."))?;
        let mut search = Search::new(&self.files, cx, place.clone().tree(), Looking::AtNames);
        search.hidden = params.hidden.unwrap_or_default();
        search.no_ignore = params.no_ignore.unwrap_or_default();
        let names = || self.files.names(cx.permit, &place);
        let query = query(&params, &place.path, |first| names().iter().any(|name| name == first));
        let query = query.map_err(|error| flaw(error, "pattern"))?;
        let looked = Arc::clone(&search.looked);
        let (searched, search) = apart(cx, looked, move || {
            let searched = search.run(|scope| nika_search::glob(scope, &query))?;
            Ok((searched, search))
        })
        .await?;
        let found = &searched.found;
        let mut lines: Vec<String> = found.files.iter().map(|file| searched.shown(&search.files, &file.path)).collect();
        let completeness = Completeness::of(&found.record, &GLOB)
            .behind_links(searched.asked_links(&search.files, &found.record))
            .in_first_root(&self.files, params.path.as_deref());
        if lines.is_empty() {
            lines.push(match (completeness.complete, params.offset.unwrap_or_default()) {
                (true, 0) => format!("No files match {}.", params.pattern),
                (false, 0) => format!("No files match {} in what was searched, and that was not all.", params.pattern),
                _ => format!("No more files match {}: there are {}.", params.pattern, found.total),
            });
        }
        let notes_from = lines.iter().map(|line| line.len() + 1).sum::<usize>() - 1;
        if let Some(next) = found.next_offset {
            lines.push(format!(
                "[{} of {} shown, newest first; go on with offset={next}]",
                found.files.len(),
                found.total
            ));
        }
        lines.push(completeness.line(&found.record, &GLOB, !found.files.is_empty()));
        let result =
            Found { total: found.total, shown: found.files.len(), next_offset: found.next_offset, completeness };
        Ok(Output::data(serde_json::to_value(&result).unwrap_or_default(), lines.join("\n"))
            .with_ours_from(notes_from)
            .with_fact("pattern", params.pattern)
            .with_fact("total", found.total)
            .with_fact("complete", result.completeness.complete))
    }
}

fn query(params: &Params, place: &Path, has: impl Fn(&str) -> bool) -> Result<GlobQuery, SearchError> {
    let ground = Ground { place, way: None, written: None, is_named: params.path.is_some() };
    Ok(GlobQuery {
        limit: Some(params.limit.unwrap_or(DEFAULT_LIMIT) as usize),
        offset: params.offset.unwrap_or_default() as usize,
        overrides_ignore: false,
        ..GlobQuery::new(from_place(&params.pattern, &ground, has)?)
    })
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "By extension, at any depth",
        files: &[("src/a.rs", ""), ("src/deep/b.rs", ""), ("c.txt", "")],
        before: &[],
        arguments: r#"{"pattern": "**/*.rs"}"#,
        answer: "src/deep/b.rs",
    },
    Example {
        title: "Nothing there, and certain of it",
        files: &[("a.txt", "")],
        before: &[],
        arguments: r#"{"pattern": "*.zig"}"#,
        answer: "No files match *.zig.",
    },
];
