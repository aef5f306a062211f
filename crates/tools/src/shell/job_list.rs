//! `job_list`: every process that a call of this session started and that still lives.

use std::fmt::Write as _;
use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, text};
use nika_guard::Effects;
use nika_host::proc::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ground::{Ground, told};
use super::report;

/// Lists every process that this session's commands started and that still lives, by job.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// The tool.
#[derive(Debug)]
pub struct JobList {
    /// What commands stand on.
    pub ground: Arc<Ground>,
}

/// The result, as data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Live {
    /// The jobs.
    pub jobs: Vec<One>,
    /// Those that have ended and were not told of yet, each with how.
    pub ended: Vec<String>,
}

/// One job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct One {
    /// Its id.
    pub job: String,
    /// Its command.
    pub command: String,
    /// Whether it runs on a terminal.
    pub tty: bool,
    /// `runs`, `waits for input` or `ended`.
    pub state: &'static str,
    /// Milliseconds since it was started.
    pub age_ms: u64,
    /// Its processes.
    pub processes: Vec<Process>,
}

/// One process.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Process {
    /// Its id in the system.
    pub pid: i32,
    /// Its program's name.
    pub name: String,
    /// Milliseconds since it was started.
    pub age_ms: u64,
}

/// Characters of a command in the list.
const COMMAND_CHARS: usize = 100;

impl Tool for JobList {
    type Params = Params;
    const SPEC: Spec = Spec::new("job_list", "List jobs", Group::Shell)
        .read_only()
        .terms(&[
            "processes",
            "ps",
            "background",
            "running",
            "jobs",
            "active",
            "servers",
            "left running",
            "leave running",
            "alive",
            "right now",
            "servers started",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Live>())
    }

    fn effects(&self, _: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(Effects::session())
    }

    async fn run(&self, _: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        // Before the look at what lives: what ends in between is told with the next answer.
        let notices = self.ground.jobs.take_notices(cx.session.id());
        let ended: Vec<String> = notices.iter().map(|notice| told(&self.ground.files, notice)).collect();
        let jobs: Vec<One> = self.ground.jobs.list(cx.permit, cx.session.id()).into_iter().map(one).collect();
        let mut text = String::new();
        for job in &jobs {
            let place = if job.tty { " on a terminal" } else { "" };
            let _ = writeln!(text, "{} {}{place}, {} s: {}", job.job, job.state, job.age_ms / 1000, job.command);
            for process in &job.processes {
                let _ = writeln!(text, "  {} {}", process.pid, process.name);
            }
        }
        if jobs.is_empty() {
            text.push_str("No process of this session lives.\n");
        }
        for ended in &ended {
            let _ = writeln!(text, "[{ended}]");
        }
        Ok(Output::data(serde_json::to_value(&Live { jobs, ended }).unwrap_or_default(), text.trim_end()))
    }
}

fn one(listed: nika_host::proc::Listed) -> One {
    let state = match listed.state {
        State::Running => "runs",
        State::Waiting => "waits for input",
        State::Ended(_) => "ended",
    };
    let process = |(process, age_ms): (nika_host::proc::Process, u64)| Process {
        pid: process.pid,
        name: text::harmless(&process.name).into_owned(),
        age_ms,
    };
    One {
        job: listed.job,
        command: report::in_one_line(&listed.command, COMMAND_CHARS),
        tty: listed.terminal,
        state,
        age_ms: listed.age_ms,
        processes: listed.processes.into_iter().map(process).collect(),
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "What still runs",
    files: &[],
    before: &[("bash", r#"{"command": "sleep 60", "run_in_background": true}"#)],
    arguments: "{}",
    answer: "sleep 60",
}];
