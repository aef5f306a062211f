//! `checkpoints`: what can be taken back.

use std::sync::Arc;

use nika_contract::{Before, Cx, Example, Group, Known, Output, Scene, Spec, Tool, ToolError};
use nika_guard::Effects;
use nika_host::fs::Workspace;
use nika_store::Checkpoints;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lenient;

/// Lists calls whose changes to files can be taken back with undo, newest first, with paths and sizes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// At most this many calls. Default 20.
    #[serde(default, deserialize_with = "lenient::number")]
    pub limit: Option<u32>,
}

/// The tool.
#[derive(Debug)]
pub struct ListCheckpoints {
    /// For paths as results show them.
    pub files: Arc<Workspace>,
    /// What can be taken back.
    pub checkpoints: Arc<Checkpoints>,
}

/// The result, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listed {
    /// The newest first.
    pub checkpoints: Vec<Checkpoint>,
}

/// A call that changed files.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checkpoint {
    /// To be given to undo.
    pub call_id: String,
    /// The tool that ran.
    pub tool: String,
    /// Its session.
    pub session: String,
    /// When it began, in milliseconds since 1970.
    pub at_unix_ms: u64,
    /// The call that took it back, when one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<String>,
    /// Whether what it started still runs: it is taken back when that has ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
    /// What it changed: the first paths, 100 at most. A dry run of undo names all.
    pub paths: Vec<Path>,
    /// How many more paths it changed.
    #[serde(skip_serializing_if = "is_none")]
    pub more_paths: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// A path of a checkpoint.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Path {
    /// As results show paths.
    pub path: String,
    /// `created`, `changed` or `deleted`.
    pub what: &'static str,
    /// Bytes that undo would bring back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 1000;
/// Paths of one call that are listed as data.
const LISTED: usize = 100;
/// Paths of all calls that are listed as data: some 60 kB. Behind them each call has as many as its line names.
const LISTED_IN_ALL: usize = 1000;

impl Tool for ListCheckpoints {
    type Params = Params;
    const SPEC: Spec = Spec::new("checkpoints", "List what can be taken back", Group::File)
        .read_only()
        .terms(&[
            "history",
            "undo",
            "changes",
            "snapshots",
            "versions",
            "earlier",
            "modified",
            "so far",
            "session",
            "log",
            "reverted",
            "undoable",
            "restore points",
            "what changed",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Listed>())
    }

    /// Nika's own list of what it did; the contents stay where they are.
    fn effects(&self, _: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(Effects::one(nika_guard::Effect::Note("checkpoints".into())))
    }

    async fn run(&self, params: Params, _: &Cx<'_>) -> Result<Output, ToolError> {
        let limit = params.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
        let calls = self.checkpoints.list(limit as usize, None)?;
        let mut left = LISTED_IN_ALL;
        let mut listed = |all: usize| {
            let listed = all.min(LISTED).min(left.max(NAMED));
            left = left.saturating_sub(listed);
            listed
        };
        let checkpoints: Vec<Checkpoint> = calls
            .into_iter()
            .map(|call| (listed(call.changes.len()), call))
            .map(|(listed, call)| Checkpoint {
                paths: call.changes.iter().take(listed).map(|change| self.path(change)).collect(),
                more_paths: call.changes.len() - listed,
                goes_on: self.checkpoints.is_held(&call.call),
                call_id: call.call,
                tool: call.tool,
                session: call.session,
                at_unix_ms: call.at,
                undone_by: call.undone_by,
            })
            .collect();
        let text = if checkpoints.is_empty() {
            "Nothing was changed here yet.".to_owned()
        } else {
            checkpoints.iter().map(line).collect::<Vec<_>>().join("\n")
        };
        let count = checkpoints.len();
        let structured = serde_json::to_value(Listed { checkpoints }).unwrap_or_default();
        Ok(Output::data(structured, text).with_fact("count", count))
    }
}

impl ListCheckpoints {
    fn path(&self, change: &nika_store::Change) -> Path {
        let stood = change.before.is_some() || change.more.is_some_and(|more| more.before != Before::Kept);
        // What came of a change that has only begun is not known: where something stood, it is no less.
        let stands =
            change.after.is_some() || change.more.is_some_and(|more| more.left.is_some() || more.known == Known::Begun);
        let what = match (stood, stands) {
            (false, _) => "created",
            (true, false) => "deleted",
            (true, true) => "changed",
        };
        let bytes = change.before.and_then(|hash| self.checkpoints.objects().size(&hash).ok());
        Path { path: self.files.shown(&change.path), what, bytes }
    }
}

/// Paths of one call that are named in the text: a build leaves hundreds.
const NAMED: usize = 8;

fn line(checkpoint: &Checkpoint) -> String {
    let mut paths: Vec<String> = checkpoint
        .paths
        .iter()
        .take(NAMED)
        .map(|path| {
            let size = path.bytes.map(|bytes| format!(", {bytes} bytes kept")).unwrap_or_default();
            format!("{} ({}{size})", path.path, path.what)
        })
        .collect();
    let all = checkpoint.paths.len() + checkpoint.more_paths;
    if all > NAMED {
        paths.push(format!("and {} more", all - NAMED));
    }
    let undone = match &checkpoint.undone_by {
        Some(by) if *by == checkpoint.call_id => " [nothing of it stands]".to_owned(),
        Some(by) => format!(" [taken back by {by}]"),
        None => String::new(),
    };
    let goes_on = if checkpoint.goes_on { " [goes on]" } else { "" };
    format!("{} {}{undone}{goes_on}: {}", checkpoint.call_id, checkpoint.tool, paths.join(", "))
}

const EXAMPLES: &[Example] = &[Example {
    title: "What can be taken back",
    files: &[],
    before: &[("write", r#"{"file_path": "a.txt", "content": "a\n"}"#)],
    arguments: "{}",
    answer: "a.txt (created)",
}];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_paths_the_first_are_named() {
        let path = |n: usize| Path { path: format!("f{n}"), what: "created", bytes: None };
        let checkpoint = Checkpoint {
            call_id: "c1".into(),
            tool: "bash".into(),
            session: "s".into(),
            at_unix_ms: 0,
            undone_by: None,
            goes_on: false,
            paths: (0..20).map(path).collect(),
            more_paths: 5,
        };
        let said = line(&checkpoint);
        assert!(said.starts_with("c1 bash: f0 (created), ") && said.ends_with("f7 (created), and 17 more"), "{said}");
    }
}
