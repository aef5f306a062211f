//! `sleep`: waits without a process.

use std::time::Duration;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::Effects;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::lenient;

/// Waits. To wait for a background command use job_output with wait_ms instead.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Milliseconds, at most 300000.
    #[serde(deserialize_with = "lenient::needed_number")]
    pub duration_ms: u32,
}

/// The tool.
#[derive(Debug)]
pub struct Sleep;

/// The longest wait, in milliseconds.
const MOST_MS: u32 = 300_000;
/// Between two looks at whether the call is still wanted.
const LOOK: Duration = Duration::from_millis(20);

impl Tool for Sleep {
    type Params = Params;
    const SPEC: Spec = Spec::new("sleep", "Wait", Group::Shell)
        .read_only()
        .terms(&[
            "pause", "delay", "wait", "seconds", "minute", "time", "hold on", "nothing", "while", "idle", "moment",
        ])
        .examples(EXAMPLES);

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        match params.duration_ms {
            ms if ms > MOST_MS => Err(ToolError::argument("duration_ms", format!("takes at most {MOST_MS}, not {ms}"))),
            _ => Ok(Effects::session()),
        }
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let began = tokio::time::Instant::now();
        let end = began + Duration::from_millis(params.duration_ms.into());
        while tokio::time::Instant::now() < end {
            cx.check_cancelled()?;
            // A whole second at a time, as it only grows.
            match began.elapsed().as_secs() {
                0 => {}
                seconds => cx.progress.step(seconds, Some(u64::from(params.duration_ms).div_ceil(1000)), "waiting"),
            }
            tokio::time::sleep_until(end.min(tokio::time::Instant::now() + LOOK)).await;
        }
        Ok(Output::text(format!("Waited {} ms.", params.duration_ms)))
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "A moment",
    files: &[],
    before: &[],
    arguments: r#"{"duration_ms": 10}"#,
    answer: "Waited 10 ms.",
}];
