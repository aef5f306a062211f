//! `task_next`: what to take up next.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::Effects;
use nika_store::Db;
use nika_store::tasks::{Filter, Status, TaskError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Ground, answer, note};
use crate::lenient;

/// Names the tasks that can be started now, by priority, then age. task_start takes one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Default 1, at most 50.
    #[serde(default, deserialize_with = "lenient::number")]
    pub limit: Option<u32>,
}

/// The tool.
#[derive(Debug)]
pub struct TaskNext {
    /// Where tasks are kept.
    pub ground: Arc<Ground>,
}

const MAX_LIMIT: u32 = 50;

impl Tool for TaskNext {
    type Params = Params;
    const SPEC: Spec = Spec::new("task_next", "Next task", Group::Work)
        .read_only()
        .text()
        .terms(&[
            "task",
            "ready",
            "available",
            "pick",
            "work on",
            "unblocked",
            "highest priority",
            "not blocked",
            "suggest",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<answer::Rows>())
    }

    fn effects(&self, _: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(note("task"))
    }

    async fn run(&self, params: Params, _: &Cx<'_>) -> Result<Output, ToolError> {
        let limit = Some(params.limit.unwrap_or(1).clamp(1, MAX_LIMIT));
        let look = move |db: &Db| -> Result<_, TaskError> {
            let (tasks, total) = db.tasks(&Filter { actionable: true, limit, ..Filter::default() })?;
            let count = |status| {
                let filter = Filter { statuses: vec![status], limit: Some(0), ..Filter::default() };
                db.tasks(&filter).map(|(_, count)| count)
            };
            Ok((tasks, total, count(Status::InProgress)?, count(Status::Blocked)?))
        };
        let (tasks, total, in_progress, blocked) = self.ground.ask(look).await?;
        let said = if tasks.is_empty() {
            format!("Nothing can be started: {in_progress} in progress, {blocked} blocked.")
        } else {
            tasks.iter().map(answer::line).collect::<Vec<_>>().join("\n")
        };
        Ok(answer::rows(tasks, total, said))
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "The most urgent that waits for nothing",
    files: &[],
    before: &[
        ("task_create", r#"{"title": "Tidy up"}"#),
        ("task_create", r#"{"title": "Fix the parser", "priority": "high"}"#),
        ("task_create", r#"{"title": "Release", "priority": "urgent", "blocked_by": ["t2"]}"#),
    ],
    arguments: "{}",
    answer: "t2 [pending] Fix the parser (high)",
}];
