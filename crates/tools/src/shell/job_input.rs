//! `job_input`: writes to the input of a background command.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code};
use nika_guard::profile::Access;
use nika_guard::{Effect, Effects, Exec, ExecKind};
use nika_host::proc::Confinement;
use schemars::JsonSchema;
use serde::Deserialize;

use super::ground::Ground;

/// Writes text to the standard input of a background command; end a line with \n. The job goes on under the
/// sandbox that it was started with. One with `tty` gets it as typed: \n is Enter, \u0003 Ctrl-C, \u0004 Ctrl-D,
/// \u001b Escape, \u001b[A, B, C and D the arrows up, down, right and left.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The job, as bash named it: `j1`.
    pub job_id: String,
    /// The text.
    pub text: String,
}

/// The tool.
#[derive(Debug)]
pub struct JobInput {
    /// What commands stand on.
    pub ground: Arc<Ground>,
}

/// What the key Enter sends.
const ENTER: &str = "\r";
/// How long a job may take to take it.
const AT_MOST: Duration = Duration::from_secs(5);

impl Tool for JobInput {
    type Params = Params;
    const SPEC: Spec = Spec::new("job_input", "Write to a job", Group::Shell)
        .destructive()
        .terms(&[
            "stdin",
            "type",
            "answer",
            "prompt",
            "send",
            "keys",
            "interactive",
            "enter",
            "process",
            "program",
            "feed",
            "keyboard",
            "terminal",
        ])
        .examples(EXAMPLES);

    fn effects(&self, params: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        // What a running program makes of its input, nobody can say. What holds it says how much that matters.
        let id = &params.job_id;
        let (kind, why) = match self.ground.jobs.confinement(scene.session.id(), id) {
            Some(Confinement { reserved: true, .. }) => {
                let what = format!("{id} is an interpreter of `repl`, which alone talks to it");
                return Err(ToolError::new(code::JOB_TAKES_NO_INPUT, what).hint("give the code to `repl`"));
            }
            Some(Confinement { access: Access::Unconfined, .. }) => {
                (ExecKind::Unconfined, format!("{id} runs without the sandbox"))
            }
            Some(Confinement { reaches: true, .. }) => (ExecKind::Opaque, format!("{id} may reach the network")),
            // At a terminal a pager or an editor starts whatever it is told to: what was proved of the command as it
            // was written is proved no more.
            Some(Confinement { terminal: true, kind: ExecKind::ReadOnly | ExecKind::WritesInside, .. }) => (
                ExecKind::Opaque,
                format!("{id} was judged by its text, and at a terminal it may be told to start others"),
            ),
            None => {
                return Err(ToolError::new(code::NO_SUCH_JOB, format!("there is no job {id} in this session"))
                    .hint("`job_list` shows those that live"));
            }
            Some(_) => (ExecKind::WritesInside, format!("{id} runs what it reads, in its sandbox")),
        };
        let argv = vec!["job_input".to_owned(), id.clone()];
        Ok(Effects::one(Effect::Exec(Exec::plain(vec![argv], kind, why))))
    }

    fn preview(&self, params: &Params, _: &Cx<'_>) -> Result<Option<String>, ToolError> {
        Ok(Some(params.text.clone()))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        if self.effects(&params, &Scene { session: cx.session })?.all != cx.permit.effects().all {
            return Err(ToolError::new(code::CHANGED_SINCE_READ, format!("{} is another job now", params.job_id)));
        }
        let job = self.ground.job(cx, &params.job_id)?;
        let bytes = if job.is_on_terminal() { keys(&params.text) } else { params.text.into_bytes() };
        let total = bytes.len();
        let write = tokio::task::spawn_blocking(move || job.write(&bytes, AT_MOST));
        let taken = write.await.map_err(|error| ToolError::new(code::BUG, format!("writing failed: {error}")))?;
        let taken = taken.map_err(|error| {
            let hint = match error.kind() {
                ErrorKind::InvalidInput => {
                    "break the line, or let the program read it from a file; \\u0015 (Ctrl-U) takes back what stands there"
                }
                _ => "only a command that was started in the background, and still runs, takes input",
            };
            ToolError::new(code::JOB_TAKES_NO_INPUT, format!("{} does not take this: {error}", params.job_id))
                .hint(hint)
        })?;
        let rest = if taken < total {
            format!("; the other {} it did not take in time", total - taken)
        } else {
            String::new()
        };
        Ok(Output::text(format!("{} took {taken} bytes{rest}.", params.job_id)).with_fact("taken", taken))
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "Answer a prompt",
    files: &[],
    before: &[("bash", r#"{"command": "read -r name; echo \"hello $name\"", "run_in_background": true}"#)],
    arguments: r#"{"job_id": "j1", "text": "Ada\n"}"#,
    answer: "took 4 bytes",
}];

/// What typing `text` sends: the end of a line is the key Enter, all else is itself. Programs that read single keys know
/// Enter by nothing else; for those that read lines the terminal makes an end of line of it.
fn keys(text: &str) -> Vec<u8> {
    text.replace("\r\n", ENTER).replace('\n', ENTER).into_bytes()
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_end_of_line_is_enter() {
        assert_eq!(super::keys("a\nb\r\nc\r\u{3}\u{1b}[A"), b"a\rb\rc\r\x03\x1b[A");
    }
}
