//! `repl`: an interpreter that keeps its state between calls.

use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code};
use nika_guard::profile::Access;
use nika_guard::{Effect, Effects, Exec, ExecKind};
use nika_host::proc::{Code, Evaluated, Held, Language, Outcome as ReplOutcome, Repls, StartError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::bash::{BEAT, with_changes};
use super::ground::{Ground, start_error};
use super::{of_git, recorded, report};
use crate::lenient;

/// Runs code in an interpreter that keeps its state between calls of a session, and returns what it printed
/// and the value of its last expression. It runs in the workspace sandbox, without network.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The code.
    pub code: String,
    /// The interpreter.
    pub language: Interpreter,
    /// Milliseconds it may take. Default 120000, at most 600000. Then it is interrupted; its state stays.
    #[serde(default, deserialize_with = "lenient::number")]
    pub timeout_ms: Option<u32>,
}

/// See the parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interpreter {
    /// Python 3.
    #[serde(alias = "python3", alias = "py")]
    Python,
    /// Node.
    #[serde(alias = "javascript", alias = "js")]
    Node,
    /// Bash.
    #[serde(alias = "sh", alias = "shell")]
    Bash,
}

/// The tool.
#[derive(Debug)]
pub struct Repl {
    /// What commands stand on.
    pub ground: Arc<Ground>,
    /// The interpreters.
    pub repls: Arc<Repls>,
}

/// How long code may take by default, and at most, in milliseconds.
const DEFAULT_MS: u32 = 120_000;
const MOST_MS: u32 = 600_000;

impl Tool for Repl {
    type Params = Params;
    const SPEC: Spec = Spec::new("repl", "Run code", Group::Shell)
        .destructive()
        .terms(&["python", "node", "javascript", "interpreter", "evaluate", "calculate", "script", "notebook"])
        .examples(EXAMPLES);

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        if let Some(ms) = params.timeout_ms.filter(|ms| *ms == 0 || *ms > MOST_MS) {
            return Err(ToolError::argument("timeout_ms", format!("takes 1 to {MOST_MS}, not {ms}")));
        }
        let language = params.language.language();
        // Bash drops it, and so waits for a byte that never comes.
        if language == Language::Bash && params.code.contains('\0') {
            return Err(ToolError::argument(
                "code",
                "has a NUL character, which bash cannot read: write it as `\\0` for printf",
            ));
        }
        let language = language.program();
        let why = format!("code for {language}, which nobody reads beforehand");
        let argv = vec!["repl".to_owned(), language.to_owned()];
        Ok(Effects::one(Effect::Exec(Exec::plain(vec![argv], ExecKind::Opaque, why))))
    }

    fn preview(&self, params: &Params, _: &Cx<'_>) -> Result<Option<String>, ToolError> {
        Ok(Some(params.code.clone()))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        // It lives from call to call, so no layer can show what one call changed: a recorder does.
        let bounded = self.ground.is_bounded(cx.permit);
        let most = if bounded { Access::ReadOnly } else { Access::Workspace };
        let profile = self.ground.profile(cx.permit, cx.session, most)?;
        let kept = self.ground.undo && profile.access == Access::Workspace;
        let (recorder, bare) = match kept.then(|| recorded::recorder(&self.ground, cx)).transpose()? {
            None => (None, None),
            Some(Ok(recorder)) => (Some(recorder), None),
            Some(Err(why)) => (None, Some(why)),
        };
        let git_before = of_git::before(cx, &profile);
        let jobs = Arc::clone(&self.ground.jobs);
        let ground = Arc::clone(&self.ground);
        let (repls, permit, cancel) = (Arc::clone(&self.repls), Arc::clone(cx.permit), cx.cancel.clone());
        let (session, timeout) = (cx.session.id().to_owned(), params.timeout_ms.unwrap_or(DEFAULT_MS));
        let language = params.language.language();
        let mut evaluating = tokio::task::spawn_blocking(move || {
            let mut code = Code {
                session: &session,
                language,
                text: &params.code,
                profile: &profile,
                timeout: Duration::from_millis(timeout.into()),
                recorder,
                git_before: git_before.as_ref(),
                stopped: &|| cancel.is_cancelled(),
            };
            match repls.evaluate(&permit, &code) {
                // Perhaps it was the recorder that the system does not grant.
                Err(StartError::Refused { why, .. }) if code.recorder.take().is_some() => {
                    let evaluated = repls.evaluate(&permit, &code)?;
                    Ok((evaluated, Some(ground.no_record.get_or_init(|| why).clone())))
                }
                evaluated => evaluated.map(|evaluated| (evaluated, bare)),
            }
        });
        let mut seconds = 0;
        let evaluated = loop {
            match tokio::time::timeout(BEAT, &mut evaluating).await {
                Ok(ended) => break ended,
                Err(_) => seconds += 1,
            }
            cx.progress.step(seconds, None, "running");
        };
        let evaluated = evaluated.map_err(|error| ToolError::new(code::BUG, format!("it failed: {error}")))?;
        self.ground.look_again();
        let held = |id: &str| jobs.job(cx.permit, cx.session.id(), id).map(|job| job.held().clone());
        let answered = |(evaluated, bare): (Evaluated, Option<String>)| {
            let held = held(&evaluated.job);
            let recorded = evaluated.recorded.clone().unwrap_or_default();
            let mut settled = recorded::settled(&self.ground, &recorded);
            settled.tell_behind(&recorded.behind.iter().map(|path| self.ground.files.shown(path)).collect::<Vec<_>>());
            let answer = answer(&evaluated, language, held.as_ref(), most, bounded);
            with_changes(answer, settled, bare)
        };
        evaluated.map(answered).map_err(|error| match error.lacks_guarantee() {
            true => start_error(&error),
            false => {
                start_error(&error).hint(format!("the interpreter is `{}`; it must be installed", language.program()))
            }
        })
    }
}

impl Interpreter {
    fn language(self) -> Language {
        match self {
            Interpreter::Python => Language::Python,
            Interpreter::Node => Language::Node,
            Interpreter::Bash => Language::Bash,
        }
    }
}

fn answer(evaluated: &Evaluated, language: Language, held: Option<&Held>, most: Access, bounded: bool) -> Output {
    let mut text = report::printed(evaluated);
    let line = |text: &mut String, more: &str| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(more);
    };
    // The value of bash is its status.
    let status = evaluated.value.as_deref().filter(|_| language == Language::Bash);
    if let Some(value) = evaluated.value.as_ref().filter(|_| status.is_none()) {
        line(&mut text, value);
    }
    let (state, failed) = match &evaluated.outcome {
        ReplOutcome::Done => match status.filter(|status| *status != "0") {
            Some(status) => (format!("exit {status}"), true),
            None => ("done".to_owned(), false),
        },
        ReplOutcome::Failed => ("failed".to_owned(), true),
        ReplOutcome::Interrupted => ("interrupted, its time was up; its state stays".to_owned(), true),
        ReplOutcome::BrokeOff => ("broke off: the code interrupted itself; its state stays".to_owned(), true),
        ReplOutcome::Lost(why) => (format!("the interpreter is gone and its state with it: {why}"), true),
    };
    let fresh = if evaluated.fresh { " · a new interpreter" } else { "" };
    // An interpreter that is gone was held by what it was started under.
    let sandbox = held.map_or_else(|| format!("sandbox {}", most.name()), report::held);
    line(&mut text, &format!("[{} {state}{fresh} · {sandbox}]", language.program()));
    if bounded {
        line(&mut text, "[rules leave only some of the paths here to be changed: code here changes none of them]");
    }
    let mut output = Output::text(text)
        .with_fact("job", evaluated.job.as_str())
        .with_fact("fresh", evaluated.fresh)
        .with_fact("sandbox", held.map_or(most.name(), |held| held.profile.as_str()));
    output.failed = failed.then_some(code::COMMAND_FAILED);
    output
}

const EXAMPLES: &[Example] = &[Example {
    title: "State is kept",
    files: &[],
    before: &[("repl", r#"{"language": "bash", "code": "x=20"}"#)],
    arguments: r#"{"language": "bash", "code": "echo $((x + 1))"}"#,
    answer: "21",
}];
