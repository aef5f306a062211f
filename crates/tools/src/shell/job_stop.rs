//! `job_stop`: ends a background command and all it started.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code};
use nika_guard::Effects;
use schemars::JsonSchema;
use serde::Deserialize;

use super::ground::Ground;
use super::{recorded, report};

/// Ends a background command and every process that it started: asks first, kills after two seconds.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The job, as bash named it: `j1`.
    pub job_id: String,
}

/// The tool.
#[derive(Debug)]
pub struct JobStop {
    /// What commands stand on.
    pub ground: Arc<Ground>,
}

impl Tool for JobStop {
    type Params = Params;
    const SPEC: Spec = Spec::new("job_stop", "Stop a job", Group::Shell)
        .terms(&[
            "kill",
            "terminate",
            "cancel",
            "end",
            "background",
            "server",
            "shut down",
            "interrupt",
            "stop",
            "started",
            "process",
            "long-running",
            "build",
        ])
        .examples(EXAMPLES);

    fn effects(&self, _: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        // Only what this session started.
        Ok(Effects::session())
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let job = self.ground.job(cx, &params.job_id)?;
        let stopping = Arc::clone(&job);
        let stopped = tokio::task::spawn_blocking(move || stopping.stop()).await;
        let exited = stopped.map_err(|error| ToolError::new(code::BUG, format!("stopping failed: {error}")))?;
        let how = exited.map_or_else(|| "it had ended already".to_owned(), |exited| report::ending(&exited, None));
        let changed = job.recorded().and_then(|recorded| recorded::told(&self.ground.files, &recorded));
        let changed = changed.map(|told| format!(" {told}.")).unwrap_or_default();
        Ok(Output::text(format!("{}: {how}.{changed}", params.job_id)).with_fact("job", params.job_id))
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "End a job",
    files: &[],
    before: &[("bash", r#"{"command": "sleep 60", "run_in_background": true}"#)],
    arguments: r#"{"job_id": "j1"}"#,
    answer: "stopped",
}];
