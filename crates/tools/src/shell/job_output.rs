//! `job_output`: what a background command has written, and waiting for more.

use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code};
use nika_guard::Effects;
use nika_host::proc::{Job, Picture, Reading, State, Until, View};
use regex_automata::meta::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::ground::Ground;
use super::{recorded, report};
use crate::lenient;

/// Reads the output of a background command from where the last read ended. With wait_ms it waits for new
/// output, or with filter for a line that matches. Of one with tty that draws, it shows the present screen.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The job, as bash named it: `j1`.
    pub job_id: String,
    /// Milliseconds to wait at most. Default 0, at most 600000.
    #[serde(default, deserialize_with = "lenient::number")]
    pub wait_ms: Option<u32>,
    /// Regular expression: only matching lines are shown, and a wait ends with the first.
    pub filter: Option<String>,
    /// Read from this byte on. Default: where the last read ended.
    #[serde(default, deserialize_with = "lenient::number")]
    pub offset: Option<u64>,
}

/// The tool.
#[derive(Debug)]
pub struct JobOutput {
    /// What commands stand on.
    pub ground: Arc<Ground>,
}

/// Where the session's reads ended, by job.
#[derive(Debug, Default)]
struct Cursors(std::sync::Mutex<std::collections::HashMap<String, u64>>);

/// The most bytes of one read: what an answer shows.
const READ_BYTES: usize = 28_000;
/// The longest wait, in milliseconds.
const MOST_MS: u32 = 600_000;

impl Tool for JobOutput {
    type Params = Params;
    const SPEC: Spec = Spec::new("job_output", "Read a job's output", Group::Shell)
        .read_only()
        .terms(&[
            "background",
            "monitor",
            "wait",
            "watch",
            "logs",
            "output",
            "poll",
            "follow",
            "server",
            "printed",
            "build",
            "started",
            "tail",
            "check on",
            "stdout",
            "new output",
            "running process",
            "screen",
            "wrote",
            "write",
        ])
        .examples(EXAMPLES);

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        match params.wait_ms {
            Some(ms) if ms > MOST_MS => {
                Err(ToolError::argument("wait_ms", format!("takes at most {MOST_MS}, not {ms}")))
            }
            _ => Ok(Effects::session()),
        }
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let filter = match &params.filter {
            Some(pattern) => Some(Regex::new(pattern).map_err(|error| {
                let why = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
                ToolError::new(code::INVALID_REGEX, format!("`filter`: {why}"))
            })?),
            None => None,
        };
        let job = self.ground.job(cx, &params.job_id)?;
        is_told_here(&job)?;
        let cursors = cx.session.slot::<Cursors>();
        let known = || cursors.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let cursor = params.offset.or_else(|| known().get(&params.job_id).copied()).unwrap_or(0);
        let wait = Duration::from_millis(params.wait_ms.unwrap_or(0).into());
        let cancel = cx.cancel.clone();
        let (reader, pattern) = (Arc::clone(&job), filter.clone());
        let read = tokio::task::spawn_blocking(move || {
            let stopped = || cancel.is_cancelled();
            let until = if wait.is_zero() { Until::Now } else { Until::Output };
            let reading = Reading { max_bytes: READ_BYTES, stopped: &stopped, ..Reading::from(cursor) };
            let reading = reading.waiting(until, wait);
            match &pattern {
                Some(pattern) => reader.find(&reading, &|line| pattern.is_match(line)),
                None => reader.view(&reading),
            }
        });
        let view = read.await.map_err(|error| ToolError::new(code::BUG, format!("reading failed: {error}")))?;
        cx.check_cancelled()?;
        known().insert(params.job_id.clone(), view.chunk.next);
        let mut changed = None;
        if matches!(view.chunk.state, State::Ended(_)) {
            let notice = self.ground.jobs.take_notice(cx.session.id(), &params.job_id);
            changed = notice.and_then(|notice| recorded::told(&self.ground.files, &notice.recorded?));
        }
        Ok(answer(&job, &view, filter.as_ref(), changed))
    }
}

/// What is told by the answer of another call is told there alone: a hook may have withheld it.
fn is_told_here(job: &Job) -> Result<(), ToolError> {
    let (what, hint) = match (job.confinement().reserved, job.is_background()) {
        (false, true) => return Ok(()),
        (true, _) => {
            ("an interpreter of `repl`, which alone talks to it", "what code prints is in the answer of `repl`")
        }
        (false, false) => ("not in the background", "what it prints is in the answer of the call that it is"),
    };
    Err(ToolError::argument("job_id", format!("{} is {what}", job.id())).hint(hint))
}

fn answer(job: &Job, view: &View, filter: Option<&Regex>, changed: Option<String>) -> Output {
    let (id, summary) = (job.id(), job.summary());
    let chunk = &view.chunk;
    let mut shown = lines(&view.text, None);
    if let Some(Picture { text, cursor: (line, column) }) = &view.screen {
        let drawn = lines(text, filter);
        if filter.is_none() || !drawn.is_empty() {
            shown.push_str(&format!("[the screen, its cursor in line {line}, column {column}]\n{drawn}"));
        }
    }
    let mut parts = vec![match &chunk.state {
        State::Running => format!("{id} runs"),
        State::Waiting => format!("{id} waits for input: job_input writes to it"),
        State::Ended(exited) => format!("{id} ended: {}", report::ending(exited, None)),
    }];
    if let State::Ended(exited) = &chunk.state
        && job.is_live()
    {
        parts.extend(report::runs_on(exited));
    }
    parts.push(report::held(job.held()));
    if chunk.skipped > 0 {
        parts.push(format!("{} bytes before this were not kept", chunk.skipped));
    }
    match filter {
        Some(_) if chunk.more => {
            let searched = format!("searched up to byte {} of {}", chunk.next, summary.total);
            parts.push(format!("{searched}; there is more: read again"));
        }
        None if chunk.more => parts.push("there is more: read again".to_owned()),
        _ => {}
    }
    parts.extend(changed);
    parts.extend(report::kept_in(&summary));
    let ended = matches!(chunk.state, State::Ended(_));
    Output::text(format!("{shown}[{}]", parts.join(" · ")))
        .with_ours_from(shown.len())
        .with_fact("job", id)
        .with_fact("next", chunk.next)
        .with_fact("ended", ended)
        .with_fact("sandbox", job.held().profile.as_str())
}

/// All lines, or those that match; each ended.
fn lines(text: &str, filter: Option<&Regex>) -> String {
    let wanted = |line: &&str| filter.is_none_or(|filter| filter.is_match(*line));
    text.split_terminator('\n').filter(wanted).flat_map(|line| [line, "\n"]).collect()
}

const EXAMPLES: &[Example] = &[Example {
    title: "Wait for a line",
    files: &[("log.txt", "starting\nready\n")],
    before: &[("bash", r#"{"command": "cat log.txt", "run_in_background": true}"#)],
    arguments: r#"{"job_id": "j1", "wait_ms": 5000, "filter": "ready"}"#,
    answer: "ready",
}];
