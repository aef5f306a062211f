//! `powershell`: runs a text with PowerShell 7, where that is installed.
//!
//! Nobody reads its language beforehand, so a call is judged as `repl` is: code that may do anything, held by the
//! sandbox. The text reaches `pwsh` as one word of its own; no other shell sees it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nika_contract::{Block, Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code};
use nika_guard::profile::Access;
use nika_guard::{Effect, Effects, Exec, ExecKind};
use nika_host::proc::{Exited, How, Job, Order, Program, Reachable, Stdin};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::bash::{in_background, set_variables, wait, with_changes};
use super::ground::Ground;
use super::over::Over;
use super::report;
use crate::lenient;

/// Runs a text with PowerShell 7 (`pwsh`) in the sandbox, and answers as bash does. It begins in the directory of bash,
/// without profile, network or input; nothing is kept between calls. The exit code is 1 when the last command failed:
/// `exit $LASTEXITCODE` hands on that of a program. For everything else use bash.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The text, in PowerShell's language.
    pub command: String,
    /// Milliseconds it may take. Default 120000, at most 600000.
    #[serde(default, deserialize_with = "lenient::number")]
    pub timeout: Option<u32>,
    /// What it does, in a few words, for people.
    pub description: Option<String>,
    /// Return at once; read its output with job_output. You are told when it ends. Default false.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub run_in_background: Option<bool>,
}

/// The tool.
#[derive(Debug)]
pub struct Powershell {
    ground: Arc<Ground>,
    /// Where `pwsh` lies, once that was looked for.
    found: OnceLock<Option<PathBuf>>,
}

/// The program.
const PWSH: &str = "pwsh";
/// No banner, no start-up file, no question. The text is the last word: what stands behind `-Command` is taken as it
/// is, but for `-` alone.
const WORDS: &[&str] = &["-NoLogo", "-NoProfile", "-NonInteractive", "-Command"];
/// No colours, and nothing told to its makers; the runtime opens no door for debuggers.
const SET: &[(&str, &str)] = &[
    ("NO_COLOR", "1"),
    ("POWERSHELL_TELEMETRY_OPTOUT", "1"),
    ("POWERSHELL_UPDATECHECK", "Off"),
    ("DOTNET_EnableDiagnostics", "0"),
];
/// The longest that a call waits, in milliseconds.
const MOST_MS: u32 = 600_000;
/// The longest text, in bytes: the kernel takes 128 KiB for one word of a command line.
const MOST_BYTES: usize = 120 << 10;

impl Tool for Powershell {
    type Params = Params;
    const SPEC: Spec = Spec::new("powershell", "Run PowerShell", Group::Shell)
        .destructive()
        .event(nika_contract::event::TOOL_BASH)
        .terms(&["pwsh", "ps1", "cmdlet", "Pester", "Windows"])
        .examples(EXAMPLES);

    fn lacks(&self) -> Option<ToolError> {
        self.pwsh().err()
    }

    fn effects(&self, params: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        self.pwsh()?;
        if let Some(ms) = params.timeout.filter(|ms| *ms == 0 || *ms > MOST_MS) {
            return Err(ToolError::argument("timeout", format!("takes 1 to {MOST_MS} milliseconds, not {ms}"))
                .hint("what takes longer belongs in the background: run_in_background"));
        }
        self.ground.stands(scene.session)?;
        let text = &params.command;
        if matches!(text.trim(), "" | "-") || text.contains('\0') {
            return Err(ToolError::argument("command", "takes a text in PowerShell's language, without NUL"));
        }
        if text.len() > MOST_BYTES {
            let why = format!("takes {MOST_BYTES} bytes, not {}", text.len());
            return Err(ToolError::argument("command", why).hint("write it to a file and run that: `& ./file.ps1`"));
        }
        let why = "a text for pwsh, which nobody reads beforehand".to_owned();
        let argv = vec![PWSH.to_owned(), "-Command".to_owned(), text.clone()];
        Ok(Effects::one(Effect::Exec(Exec::plain(vec![argv], ExecKind::Opaque, why))))
    }

    fn preview(&self, params: &Params, _: &Cx<'_>) -> Result<Option<String>, ToolError> {
        Ok(Some(params.command.clone()))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let pwsh = self.pwsh()?;
        let background = params.run_in_background.unwrap_or_default();
        let mut profile = self.ground.profile(cx.permit, cx.session, Access::Workspace)?;
        set_variables(&mut profile.env, SET.iter().copied());
        let writes = profile.access != Access::ReadOnly;
        let wanted = self.ground.wanted(cx.permit, background);
        let mut over = Over::lay(&self.ground, cx, &mut profile, wanted)?;
        let words = WORDS.iter().copied().chain([params.command.as_str()]).map(str::to_owned);
        let argv = std::iter::once(pwsh.display().to_string()).chain(words).collect();
        let mut order = Order::new(Program::Argv(argv), profile, cx.session.id());
        order.timeout = params.timeout.map(|ms| Duration::from_millis(ms.into()));
        order.background = background;
        order.network = if background { Reachable::AsServer } else { Reachable::Session };
        order.stdin = if background { Stdin::Pipe } else { Stdin::Closed };
        let job = over.start(&self.ground, cx, order)?;
        if background {
            return Ok(over.goes_on(in_background(&job), cx));
        }
        let exited = wait(Arc::clone(&job), cx).await?;
        let bare = over.irrevocable();
        let settled = over.settle(&self.ground, cx, &job, &exited).await?;
        if writes {
            self.ground.look_again();
        }
        let cwd = report::shown_dir(self.ground.files.root(), &self.ground.cwd(cx.session));
        Ok(with_changes(answer(&job, &exited, &cwd), settled, bare))
    }
}

impl Powershell {
    /// Over the ground; where `pwsh` lies is looked for when it is wanted.
    pub fn new(ground: Arc<Ground>) -> Powershell {
        Powershell { ground, found: OnceLock::new() }
    }

    fn pwsh(&self) -> Result<&PathBuf, ToolError> {
        self.found.get_or_init(|| self.ground.program(PWSH)).as_ref().ok_or_else(|| {
            let message = "there is no PowerShell here: no `pwsh` on the PATH, outside the workspace";
            ToolError::new(code::NOT_STARTED, message)
                .hint("install PowerShell 7 and start Nika anew; `bash` runs everything else")
        })
    }
}

fn answer(job: &Job, exited: &Exited, cwd: &str) -> Output {
    let summary = job.summary();
    let mut text = report::output(&summary);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&report::footer(exited, None, cwd, job.held()));
    let exit_code = match exited.how {
        How::Status(status) => Value::from(status),
        How::Signal(_) => Value::Null,
    };
    let mut output = Output::text(text)
        .with_fact("exit_code", exit_code)
        .with_fact("wall_ms", exited.wall_ms)
        .with_fact("sandbox", job.held().profile.as_str())
        .with_fact("cwd", cwd);
    if let Some((path, bytes)) = summary.spilled {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        output.content.push(Block::Link { uri: format!("file://{}", path.display()), name, bytes });
    }
    output.failed = report::failed(exited, None).then_some(code::COMMAND_FAILED);
    output
}

const EXAMPLES: &[Example] = &[Example {
    title: "Look at a file's end",
    files: &[("log.txt", "one\ntwo\nthree\n")],
    before: &[],
    arguments: r#"{"command": "Get-Content log.txt -Tail 1"}"#,
    answer: "three",
}];
