//! `task_list`: the workspace's tasks, what is open first.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::Effects;
use nika_store::tasks::{Filter, TaskError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::words::StatusWord;
use super::{Ground, answer, note};
use crate::lenient;

/// Lists tasks: open ones first, by priority and age, then those that ended.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Only these.
    pub status: Option<StatusWord>,
    /// Only this owner's.
    pub owner: Option<String>,
    /// Only those that can be started now.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub actionable_only: Option<bool>,
    /// Default 50, at most 500.
    #[serde(default, deserialize_with = "lenient::number")]
    pub limit: Option<u32>,
}

/// The tool.
#[derive(Debug)]
pub struct TaskList {
    /// Where tasks are kept.
    pub ground: Arc<Ground>,
}

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 500;

impl Tool for TaskList {
    type Params = Params;
    const SPEC: Spec = Spec::new("task_list", "List tasks", Group::Work)
        .read_only()
        .terms(&[
            "tasks",
            "all",
            "workspace",
            "tickets",
            "backlog",
            "open",
            "remaining",
            "progress",
            "who",
            "working",
            "owner",
            "pending",
            "overview",
            "items",
            "assigned",
            "mine",
            "left",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<answer::Rows>())
    }

    fn effects(&self, _: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(note("task"))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let filter = Filter {
            statuses: params.status.map(Into::into).into_iter().collect(),
            owner: params.owner,
            actionable: params.actionable_only == Some(true),
            limit: Some(params.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)),
        };
        let now = cx.clock.unix_ms();
        let look = move |db: &nika_store::Db| -> Result<_, TaskError> {
            db.bury(now)?;
            db.tasks(&filter)
        };
        let (tasks, total) = self.ground.ask(look).await?;
        let mut lines: Vec<String> = tasks.iter().map(answer::line).collect();
        let listed = lines.join("\n").len();
        match total - tasks.len() as u64 {
            _ if tasks.is_empty() => lines.push("There are no such tasks.".to_owned()),
            0 => {}
            more => lines.push(format!("… and {more} more: set `limit`, or narrow by `status` or `owner`.")),
        }
        Ok(answer::rows(tasks, total, lines.join("\n")).with_ours_from(listed))
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "What is left",
    files: &[],
    before: &[
        ("task_create", r#"{"title": "Fix the parser"}"#),
        ("task_create", r#"{"title": "Release", "blocked_by": ["t1"]}"#),
    ],
    arguments: "{}",
    answer: "t1 [pending] Fix the parser\nt2 [blocked] Release (waits for t1)",
}];
