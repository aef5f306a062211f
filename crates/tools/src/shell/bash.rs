//! `bash`: runs a command, in the sandbox that the verdict on it picks.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nika_contract::{
    Block, Cx, Example, Foreseen, Group, Held, Output, Rehearsal, Scene, SessionState, Spec, Tool, ToolError, code,
};
use nika_guard::bash::{Outcome, Scratch, Site};
use nika_guard::profile::{Access, Profile};
use nika_guard::{Effect, Effects, Exec, ExecKind};
use nika_host::proc::{Exited, Job, Order, Reachable, Stdin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::command::{self, Command};
use super::ground::{Cwd, Ground};
use super::isolation;
use super::layered::{self, Settled};
use super::over::{self, Over, Wanted};
use super::rehearsed::{self, Accepted, Tried};
use super::{report, scratch};
use crate::lenient;

/// Runs a command with bash and returns its output, stdout and stderr as one, and its exit code. The working
/// directory is kept between calls, and so is /tmp, which only commands see; variables are not. Standard input is
/// closed. Quote paths that hold blanks. Prefer read, edit, glob and grep to cat, sed, find and grep. Do not loop
/// on sleep: run in the background and wait with job_output. Never skip git hooks (--no-verify) unless told to.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The command.
    pub command: String,
    /// Milliseconds it may take. Default 120000, at most 600000.
    #[serde(default, deserialize_with = "lenient::number")]
    pub timeout: Option<u32>,
    /// What it does, in a few words, for people.
    pub description: Option<String>,
    /// Return at once; read its output with job_output. You are told when it ends. A server that runs so is reached by
    /// later calls at localhost. Default false.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub run_in_background: Option<bool>,
    /// With run_in_background: on a terminal, for programs that ask or draw. job_input types. Default false.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub tty: Option<bool>,
    /// Run without the sandbox; a person is asked each time. Default false.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub dangerously_disable_sandbox: Option<bool>,
    /// Narrow what may be written: `workspace-only` (the default at most) or `allow-list` (nothing but a private
    /// /tmp). `off` is the same as dangerously_disable_sandbox.
    pub filesystem_mode: Option<FilesystemMode>,
    /// Run it without network and show its output and the diff of what it would change; change nothing.
    /// Default false.
    #[serde(default, deserialize_with = "lenient::switch")]
    pub preview: Option<bool>,
    /// Another agent's words for how a command is held, here and below: taken, and not listed, as the sandbox is always
    /// there. This one says that it keeps to namespaces of its own.
    #[serde(default, deserialize_with = "lenient::switch")]
    #[schemars(skip)]
    pub namespace_restrictions: Option<bool>,
    /// That it reaches no network, whatever rules say.
    #[serde(default, deserialize_with = "lenient::switch")]
    #[schemars(skip)]
    pub isolate_network: Option<bool>,
    /// Places besides the workspace. A call cannot open any.
    #[serde(default)]
    #[schemars(skip)]
    pub allowed_mounts: Option<Vec<String>>,
}

/// See the parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FilesystemMode {
    /// No sandbox.
    Off,
    /// Writes stay inside the workspace.
    WorkspaceOnly,
    /// Nothing is written.
    AllowList,
}

/// The tool.
#[derive(Debug)]
pub struct Bash {
    /// What commands stand on.
    pub ground: Arc<Ground>,
}

/// The longest that a call waits, in milliseconds.
const MOST_MS: u32 = 600_000;
/// Lines and columns of a terminal: wide enough for a table or a diff, and as a screen some 900 tokens at most.
const TERMINAL: Stdin = Stdin::Terminal { rows: 30, cols: 120 };
/// What programs on it are told of it. Those that draw frames do it in characters that need no second set.
/// And `less` only reads: it starts nothing, opens no other file and writes none, whatever is typed.
const TERMINAL_ENV: &[(&str, &str)] = &[("TERM", "xterm-256color"), ("NCURSES_NO_UTF8_ACS", "1"), ("LESSSECURE", "1")];
/// What a person's environment says of another terminal, and would be believed.
const OTHER_TERMINAL: &[&str] = &["COLUMNS", "LINES"];
/// Between two words to whoever waits.
pub(super) const BEAT: Duration = Duration::from_secs(1);

/// The facts of an end, for programs.
#[derive(Debug, Serialize)]
struct Facts<'a> {
    exit_code: Option<i32>,
    wall_ms: u64,
    sandbox: &'a str,
    cwd: &'a str,
}

impl Tool for Bash {
    type Params = Params;
    const SPEC: Spec = Spec::new("bash", "Run a command", Group::Shell)
        .eager()
        .destructive()
        .event(nika_contract::event::TOOL_BASH)
        .terms(&[
            "shell",
            "terminal",
            "execute",
            "run",
            "script",
            "build",
            "test",
            "git",
            "npm",
            "cargo",
            "make",
            "command line",
            "launch a program",
            "install a package",
            "pytest",
        ])
        .examples(EXAMPLES);

    fn effects(&self, params: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        if let Some(ms) = params.timeout.filter(|ms| *ms == 0 || *ms > MOST_MS) {
            return Err(ToolError::argument("timeout", format!("takes 1 to {MOST_MS} milliseconds, not {ms}"))
                .hint("what takes longer belongs in the background: run_in_background"));
        }
        if params.on_terminal() && !params.in_background() {
            return Err(ToolError::argument("tty", "goes only with run_in_background")
                .hint("with it, job_input types and job_output shows what stands on the terminal"));
        }
        if params.is_preview() && (params.unconfined() || params.run_in_background.unwrap_or_default()) {
            return Err(ToolError::argument("preview", "goes neither with the background nor without the sandbox"));
        }
        isolation::check(params)?;
        self.ground.stands(scene.session)?;
        self.effects_at(params, &self.ground.site(scene.session), scene.session)
    }

    fn preview(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        let site = self.ground.site(cx.session);
        let command = self.read(params, &site);
        self.ground.can_hold(&command.effects, params.most())?;
        let mut lines = Vec::new();
        for finding in command.analysis.findings.iter().filter(|finding| finding.outcome >= Outcome::Ask) {
            lines.push(format!("{}: {}", finding.code, finding.why));
        }
        if let Some(canonical) = &command.analysis.canonical {
            lines.push(format!("What runs:\n{canonical}"));
        }
        lines.extend(over::about_brought(cx.session, &self.effects_at(params, &site, cx.session)?));
        Ok((!lines.is_empty()).then(|| lines.join("\n")))
    }

    fn again(params: &Params) -> Option<Params> {
        Some(params.clone())
    }

    async fn rehearse(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<Rehearsal>, ToolError> {
        if params.is_preview() || params.in_background() || params.unconfined() {
            return Ok(None);
        }
        let site = self.judged_site(params, cx)?;
        let command = self.read(params, &site);
        let profile = self.profile(params, cx, site.cwd)?;
        let order = self.order(params, cx, &command, profile);
        rehearsed::rehearse(&self.ground, cx, &command, order, |_| ()).await
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let site = self.judged_site(&params, cx)?;
        let command = self.read(&params, &site);
        if let Some(tried) = cx.beside.held().and_then(Held::take::<Tried>) {
            let Accepted { ended, exited, settled, closed } = rehearsed::accept(&self.ground, cx, tried).await?;
            let answer = with_reason(self.answer(cx, &ended.job, &exited, &command), closed.as_deref());
            return Ok(with_layers(answer, settled).with_fact("rehearsed", true));
        }
        let mut profile = self.profile(&params, cx, site.cwd)?;
        let writes = profile.access != Access::ReadOnly;
        let closed = closed_repository(&profile);
        let hidden = hidden(&profile);
        let mut over = self.lay(&params, cx, &mut profile)?;
        let order = self.order(&params, cx, &command, profile);
        // What is only to be looked at runs over layers or not at all.
        let job =
            if params.is_preview() { self.ground.start(cx, order)? } else { over.start(&self.ground, cx, order)? };
        if params.in_background() {
            return Ok(over.goes_on(in_background(&job), cx));
        }
        let exited = wait(Arc::clone(&job), cx).await?;
        if params.is_preview() {
            return Ok(foretold(&job, &exited, &command, layered::look(&self.ground, cx, &over.layers)));
        }
        let (bare, has_layers) = (over.irrevocable(), !over.layers.is_empty());
        let settled = over.settle(&self.ground, cx, &job, &exited).await?;
        if writes {
            self.ground.look_again();
        }
        let answer = with_reason(self.answer(cx, &job, &exited, &command), closed.as_deref());
        let answer = if report::hides(job.held()) { with_hidden(answer, &hidden) } else { answer };
        Ok(if has_layers { with_layers(answer, settled) } else { with_changes(answer, settled, bare) })
    }
}

impl Params {
    pub(super) fn unconfined(&self) -> bool {
        self.dangerously_disable_sandbox.unwrap_or_default() || self.filesystem_mode == Some(FilesystemMode::Off)
    }

    pub(super) fn is_preview(&self) -> bool {
        self.preview.unwrap_or_default()
    }

    pub(super) fn in_background(&self) -> bool {
        self.run_in_background.unwrap_or_default()
    }

    fn on_terminal(&self) -> bool {
        self.tty.unwrap_or_default()
    }

    /// The most that it may be let do.
    fn most(&self) -> Access {
        match self.filesystem_mode {
            _ if self.unconfined() => Access::Unconfined,
            Some(FilesystemMode::AllowList) => Access::ReadOnly,
            _ => Access::Workspace,
        }
    }
}

impl Bash {
    /// Where the command runs. The directory, or what a path leads to, may be another since it was judged.
    pub(super) fn judged_site(&self, params: &Params, cx: &Cx<'_>) -> Result<Site, ToolError> {
        let site = self.ground.site(cx.session);
        if self.effects_at(params, &site, cx.session)?.of(Self::SPEC.name).all == cx.permit.effects().all {
            return Ok(site);
        }
        let message = "what the command would touch changed since it was judged";
        Err(ToolError::new(code::CHANGED_SINCE_READ, message)
            .hint("repeat the call; calls that change the directory go one after another"))
    }

    pub(super) fn profile(&self, params: &Params, cx: &Cx<'_>, cwd: PathBuf) -> Result<Profile, ToolError> {
        let mut profile = self.ground.profile(cx.permit, cx.session, params.most())?;
        profile.cwd = cwd;
        isolation::narrow(params, &mut profile);
        if params.is_preview() {
            profile.hosts.clear();
            profile.scratch = None;
            profile.roots = self.ground.files.roots().map(Path::to_owned).collect();
            // What git keeps of them elsewhere is under no layer.
            profile.close_repositories();
        }
        Ok(profile)
    }

    /// Layers for what is to be taken back or only to be looked at.
    fn lay(&self, params: &Params, cx: &Cx<'_>, profile: &mut Profile) -> Result<Over, ToolError> {
        let wanted = match (params.is_preview(), params.in_background()) {
            (true, _) => Wanted::Layers,
            (_, background) => self.ground.wanted(cx.permit, background),
        };
        let over = Over::lay(&self.ground, cx, profile, wanted)?;
        match over.no_layer {
            Some(why) if params.is_preview() => {
                Err(ToolError::new(code::NOT_CONFINED, format!("there is no preview: {why}")))
            }
            _ => Ok(over),
        }
    }

    /// What runs is what was read: the text in one way of writing, not the one that came.
    pub(super) fn order(&self, params: &Params, cx: &Cx<'_>, command: &Command, profile: Profile) -> Order {
        let text = command.analysis.canonical.clone().unwrap_or_else(|| params.command.clone());
        let mut order = Order::shell(text, profile, cx.session.id());
        order.timeout = params.timeout.map(|ms| Duration::from_millis(ms.into()));
        order.background = params.in_background();
        // Servers put themselves into the background, and are what the call is for.
        order.linger = order.background;
        order.trial = params.is_preview();
        order.network = if order.background { Reachable::AsServer } else { Reachable::Session };
        order.stdin = match (params.on_terminal(), order.background) {
            (true, _) => TERMINAL,
            (false, true) => Stdin::Pipe,
            (false, false) => Stdin::Closed,
        };
        if params.on_terminal() {
            let env = &mut order.profile.env;
            env.retain(|(name, _)| !OTHER_TERMINAL.contains(&name.as_str()));
            set_variables(env, TERMINAL_ENV.iter().copied());
        }
        order
    }

    fn effects_at(&self, params: &Params, site: &Site, session: &SessionState) -> Result<Effects, ToolError> {
        let mut effects = Foreseen::with_known(session, self.read(params, site).effects);
        if params.is_preview() {
            // What it writes inside stays in the layer; that it runs is asked as ever.
            let before = effects.all.len();
            effects.all.retain(
                |effect| !matches!(effect, Effect::Write(place) if place.below_root.is_some() || place.scratch),
            );
            if effects.all.len() < before {
                let why =
                    "a trial: what it would write in the workspace is shown, and none of it is written".to_owned();
                effects.all.push(Effect::Exec(Exec::plain(Vec::new(), ExecKind::WritesInside, why)));
            }
        }
        if params.unconfined() {
            let why = "it runs without the sandbox".to_owned();
            effects.all.push(Effect::Exec(Exec::plain(Vec::new(), ExecKind::Unconfined, why)));
        }
        Ok(effects)
    }

    /// What a call is found to do at a place: what judges it, what shows it and what runs ask this.
    pub fn read(&self, params: &Params, site: &Site) -> Command {
        let bare = params.unconfined().then(|| Site { scratch: Scratch::default(), ..site.clone() });
        let site = bare.as_ref().unwrap_or(site);
        command::read(&params.command, site, &|target| command::place_in(&self.ground.files, target))
    }

    pub(super) fn answer(&self, cx: &Cx<'_>, job: &Job, exited: &Exited, command: &Command) -> Output {
        let root = self.ground.files.root();
        // The next call begins where this one ended, if that is inside.
        let place = exited.cwd.as_ref().filter(|_| command.may_move());
        let inside = place.filter(|dir| self.ground.files.roots().any(|root| dir.starts_with(root))).cloned();
        let left = place.is_some() && inside.is_none();
        if inside.is_some() {
            cx.session.slot::<Cwd>().set(inside.clone());
        }
        let cwd = report::shown_dir(root, &inside.unwrap_or_else(|| self.ground.cwd(cx.session)));
        let last = command.analysis.last_command.as_deref();
        let summary = job.summary();
        let mut text = report::output(&summary);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let notes_from = text.len();
        text.push_str(&report::footer(exited, last, &cwd, job.held()));
        if let Some(note) = scratch::note(cx.session, &command.effects) {
            text.push_str(&format!("\n[{note}]"));
        }
        if let Some(note) = report::beyond_undo(&command.effects) {
            text.push_str(&format!("\n[{note}]"));
        }
        if report::failed(exited, last)
            && let Some(why) = report::about_failure(&text, job)
        {
            text.push_str(&format!("\n[{why}]"));
        }
        if left {
            text.push_str("\n[the command ended outside the workspace; the next one begins where this one did]");
        }
        text.push_str(&report::not_reached(job));
        let exit_code = match exited.how {
            nika_host::proc::How::Status(status) => Some(status),
            nika_host::proc::How::Signal(_) => None,
        };
        let facts = Facts { exit_code, wall_ms: exited.wall_ms, sandbox: &job.held().profile, cwd: &cwd };
        let mut output = Output::text(text)
            .with_ours_from(notes_from)
            .with_fact("exit_code", exit_code.map_or(Value::Null, Value::from))
            .with_fact("wall_ms", facts.wall_ms)
            .with_fact("sandbox", facts.sandbox)
            .with_fact("cwd", facts.cwd);
        if let Some((path, bytes)) = summary.spilled {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            output.content.push(Block::Link { uri: format!("file://{}", path.display()), name, bytes });
        }
        if report::failed(exited, last) {
            output.failed = Some(code::COMMAND_FAILED);
        }
        output
    }
}

/// Sets variables of a command. A name that stands there twice would have the first of its values.
pub(super) fn set_variables<N: AsRef<str>, V: AsRef<str>>(
    env: &mut Vec<(String, String)>,
    those: impl IntoIterator<Item = (N, V)>,
) {
    for (name, value) in those {
        let (name, value) = (name.as_ref().to_owned(), value.as_ref().to_owned());
        env.retain(|(known, _)| *known != name);
        env.push((name, value));
    }
}

/// The answer of a job that goes on by itself.
pub(super) fn in_background(job: &Job) -> Output {
    let (id, held) = (job.id(), report::held(job.held()));
    let (place, use_it) = if job.is_on_terminal() {
        ("on a terminal in the background", "job_output shows what stands there and waits, job_input types")
    } else {
        ("in the background", "job_output reads and waits")
    };
    let text = format!("Started {id} {place}. {use_it}; its end is told.\n[{held}]");
    Output::text(text)
        .with_ours_from(0)
        .with_fact("job", id)
        .with_fact("sandbox", job.held().profile.as_str())
        .with_fact("tty", job.is_on_terminal())
}

/// A repository elsewhere that a command which may write can only see.
pub(super) fn closed_repository(profile: &Profile) -> Option<PathBuf> {
    let writes = profile.access != Access::ReadOnly;
    let closed = profile.repositories.iter().find(|repository| !repository.is_open() && writes);
    closed.map(|repository| repository.common.clone())
}

/// An answer, and why git in it could not write the repository at `closed`, where that is what it says.
pub(super) fn with_reason(mut output: Output, closed: Option<&Path>) -> Output {
    let says = |text: &str, closed: &Path| {
        text.lines().any(|line| line.contains("Read-only file system") && line.contains(&*closed.to_string_lossy()))
    };
    if let (Some(Block::Text(text)), Some(closed)) = (output.content.first_mut(), closed)
        && says(text, closed)
    {
        let closed = closed.display();
        text.push_str(&format!(
            "\n[{closed} is written only by a command line that names git, and where no rule says no]"
        ));
    }
    output
}

/// What of the roots is hidden from a command, as paths below them.
fn hidden(profile: &Profile) -> Vec<PathBuf> {
    let below =
        |path: &PathBuf| profile.roots.iter().find_map(|root| path.strip_prefix(root).ok().map(Path::to_path_buf));
    profile.secrets.iter().filter_map(below).collect()
}

/// How many hidden names an answer says.
const MOST_HIDDEN: usize = 5;

/// An answer, and which of the names that it says are hidden: a program that meets one says no more than that it may not.
fn with_hidden(mut output: Output, hidden: &[PathBuf]) -> Output {
    if let Some(Block::Text(text)) = output.content.first_mut() {
        let is_name = |c: char| c.is_alphanumeric() || "._-".contains(c);
        let says = |name: &str| {
            text.match_indices(name)
                .any(|(at, _)| !text[..at].ends_with(is_name) && !text[at + name.len()..].starts_with(is_name))
        };
        let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).is_some_and(says);
        let mut names: Vec<&str> = hidden.iter().filter(|path| name(path)).filter_map(|path| path.to_str()).collect();
        // Of those below with one name, the ones that are said with their path; all, where none is.
        let last = |path: &str| path.rsplit_once('/').map(|(_, name)| name.to_owned());
        let by_path: Vec<String> = names.iter().filter(|path| says(path)).filter_map(|path| last(path)).collect();
        names.retain(|path| says(path) || last(path).is_none_or(|name| !by_path.contains(&name)));
        names.sort_unstable();
        names.dedup();
        if !names.is_empty() {
            let (more, shown) = (names.len().saturating_sub(MOST_HIDDEN), names.len().min(MOST_HIDDEN));
            let others = if more > 0 { format!(" and {more} more") } else { String::new() };
            text.push_str(&format!(
                "\n[hidden from commands, as a secret or by a rule: {}{others}. A program cannot read or replace them; git \
                 may take them for changed]",
                names[..shown].join(", ")
            ));
        }
    }
    output
}

/// The answer of a command over layers, and what became of its changes.
pub(super) fn with_layers(answer: Output, settled: Settled) -> Output {
    with_changes(answer, settled, None)
}

/// An answer, and what became of the changes.
pub(super) fn with_changes(mut output: Output, settled: Settled, bare: Option<String>) -> Output {
    if let Some(Block::Text(text)) = output.content.first_mut() {
        let about: Vec<&str> = report::about(text).collect();
        about.into_iter().for_each(|why| text.push_str(&format!("\n[{why}]")));
        settled.lines.iter().for_each(|line| text.extend(["\n", line]));
    }
    if let Some(why) = bare {
        output = irrevocable(output, why);
    }
    output = output.with_fact("changed_paths", settled.paths()).with_fact("not_applied", settled.left_out);
    output.failed = output.failed.or(settled.failed);
    if !settled.diff.is_empty() {
        output = output.with_diff(settled.diff);
    }
    output
}

/// An answer, and why the call cannot be taken back.
pub(super) fn irrevocable(mut output: Output, why: String) -> Output {
    if let Some(Block::Text(text)) = output.content.first_mut() {
        text.push_str(&format!("\n[this call cannot be taken back: {why}]"));
    }
    output.with_fact("no_undo", why)
}

/// The answer of a preview: the output, how it ended, and what would be other. That the latter cannot be said is no
/// reason to withhold the former.
fn foretold(job: &Job, exited: &Exited, command: &Command, settled: Result<Settled, ToolError>) -> Output {
    let last = command.analysis.last_command.as_deref();
    let mut text = report::output(&job.summary());
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let (ending, held) = (report::ending(exited, last), report::held(job.held()));
    text.push_str(&format!("[preview, without network: {ending}; nothing was changed · {held}]\n"));
    let (settled, failed) = match settled {
        Ok(settled) => (settled, None),
        Err(error) => {
            text.push_str(&format!("What it would change cannot be said: {}", error.message));
            (Settled::default(), Some(error.code))
        }
    };
    match settled.paths() {
        _ if failed.is_some() => {}
        0 => text.push_str("It would change nothing."),
        1 => text.push_str(&format!("It would change 1 path:\n{}", settled.diff)),
        paths => text.push_str(&format!("It would change {paths} paths:\n{}", settled.diff)),
    }
    let mut output = Output::text(text)
        .with_fact("preview", true)
        .with_fact("would_change", settled.paths())
        .with_fact("wall_ms", exited.wall_ms)
        .with_fact("sandbox", job.held().profile.as_str())
        .with_diff(settled.diff);
    output.failed = failed;
    output
}

/// Waits for the end on a thread where waiting does no harm, and says each second how it goes. A call that nobody wants any
/// more ends its job.
pub(super) async fn wait(job: Arc<Job>, cx: &Cx<'_>) -> Result<Exited, ToolError> {
    let (cancel, progress) = (cx.cancel.clone(), Arc::clone(cx.progress));
    let waited = tokio::task::spawn_blocking(move || {
        for seconds in 1.. {
            if let Some(exited) = job.wait(BEAT, &|| cancel.is_cancelled()) {
                return Some(exited);
            }
            progress.step(seconds, None, &report::beat(&job.summary()));
            if cancel.is_cancelled() {
                job.stop();
                return None;
            }
        }
        None
    });
    let ended = waited.await.map_err(|error| ToolError::new(code::BUG, format!("waiting failed: {error}")))?;
    ended.ok_or_else(ToolError::cancelled)
}

const EXAMPLES: &[Example] = &[Example {
    title: "Look at a file's end",
    files: &[("log.txt", "one\ntwo\nthree\n")],
    before: &[],
    arguments: r#"{"command": "tail -n 1 log.txt"}"#,
    answer: "three",
}];
