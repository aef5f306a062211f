//! `exec`: runs one program with its words as they are, for a workflow's task of that name.
//!
//! The words reach the process as its argument vector: no shell reads them, so that a value which stands in one of
//! them is a word and nothing else. They are judged as a shell's line of quoted words is, by the same analysis and
//! table, so that no rule is written twice. It is part of no surface: only runs of workflows have it in their pool.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Cx, Example, Foreseen, Group, Held, Output, Rehearsal, Scene, Spec, Tool, ToolError, code};
use nika_guard::Effects;
use nika_guard::bash::{Site, may_be_set};
use nika_guard::profile::{Access, Profile};
use nika_host::proc::{Exited, How, Job, Order, Program, Reachable, Stdin};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::bash::{set_variables, wait};
use super::command::{self, Command};
use super::ground::Ground;
use super::layered::Settled;
use super::over::{self, Over};
use super::rehearsed::{self, Accepted, Tried};
use super::report;

/// Runs a program with its words as they are, or a text with bash, and returns its exit code, standard output and
/// standard error. For tasks of workflows; elsewhere use bash.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The program and its words. One of words and shell is given.
    #[serde(default)]
    pub words: Vec<String>,
    /// A text for bash.
    pub shell: Option<String>,
    /// The directory that it begins in, below a root. Default: the root.
    pub cwd: Option<String>,
    /// Variables beside those that every command sees.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What it reads from its standard input, which is closed else.
    pub stdin: Option<String>,
    /// Milliseconds it may take, at most 600000. Default 60000.
    pub timeout: Option<u32>,
    /// Keep standard output and standard error as one, in the order they came.
    #[serde(default)]
    pub combined: bool,
}

/// The tool.
#[derive(Debug)]
pub struct ExecTool {
    /// What commands stand on.
    pub ground: Arc<Ground>,
}

/// Bytes of an output that another task can read: more is an error, as half an output would be taken for all of it.
const MOST_BYTES: usize = 16 << 20;
/// Milliseconds, unless a call says otherwise.
const DEFAULT_MS: u32 = 60_000;
/// The longest that a call waits, in milliseconds.
const MOST_MS: u32 = 600_000;

impl Tool for ExecTool {
    type Params = Params;
    const SPEC: Spec = Spec::new("exec", "Run a program", Group::Shell)
        .destructive()
        .event(nika_contract::event::TOOL_BASH)
        .terms(&["exec", "argv", "program", "command"])
        .max_output_chars(usize::MAX)
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(json!({
            "type": "object",
            "properties": {
                "exit": {"type": ["integer", "null"]},
                "stdout": {"type": "string"},
                "stderr": {"type": "string"},
                "wall_ms": {"type": "integer"}
            },
            "required": ["exit", "stdout", "stderr", "wall_ms"]
        }))
    }

    fn effects(&self, params: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        let site = self.site(params, scene.session)?;
        Ok(Foreseen::with_known(scene.session, self.read(params, &site)?.effects))
    }

    fn preview(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        let command = self.read(params, &self.site(params, cx.session)?)?;
        self.ground.can_hold(&command.effects, Access::Workspace)?;
        let runs = command.analysis.canonical.map(|canonical| format!("What runs:\n{canonical}"));
        let effects = Foreseen::with_known(cx.session, command.effects);
        let lines: Vec<String> = runs.into_iter().chain(over::about_brought(cx.session, &effects)).collect();
        Ok((!lines.is_empty()).then(|| lines.join("\n")))
    }

    fn again(params: &Params) -> Option<Params> {
        Some(params.clone())
    }

    async fn rehearse(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<Rehearsal>, ToolError> {
        let (command, profile) = self.judged(params, cx)?;
        let order = order(params, cx, &command, profile);
        rehearsed::rehearse(&self.ground, cx, &command, order, |job| feed(job, params.stdin.clone())).await
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        if let Some(tried) = cx.beside.held().and_then(Held::take::<Tried>) {
            let Accepted { ended, exited, settled, .. } = rehearsed::accept(&self.ground, cx, tried).await?;
            return Ok(answer(&ended.job, &exited, settled)?.with_fact("rehearsed", true));
        }
        let (command, mut profile) = self.judged(&params, cx)?;
        let writes = profile.access != Access::ReadOnly;
        let wanted = self.ground.wanted(cx.permit, false);
        // Without layers it runs on the bare roots only where all of them may be changed: `start` looks.
        let mut over = Over::lay(&self.ground, cx, &mut profile, wanted)?;
        let job = over.start(&self.ground, cx, order(&params, cx, &command, profile))?;
        feed(&job, params.stdin);
        let exited = wait(Arc::clone(&job), cx).await?;
        let settled = over.settle(&self.ground, cx, &job, &exited).await?;
        if writes {
            self.ground.look_again();
        }
        answer(&job, &exited, settled)
    }
}

impl ExecTool {
    /// Where it runs.
    fn site(&self, params: &Params, session: &nika_contract::SessionState) -> Result<Site, ToolError> {
        let mut site = self.ground.site(session);
        site.cwd = match &params.cwd {
            Some(dir) => self.dir(dir)?,
            None => self.ground.files.root().to_owned(),
        };
        site.given.extend(params.env.keys().cloned());
        Ok(site)
    }

    /// The command as it was judged, and what holds it.
    fn judged(&self, params: &Params, cx: &Cx<'_>) -> Result<(Command, Profile), ToolError> {
        let site = self.site(params, cx.session)?;
        let command = self.read(params, &site)?;
        let effects = Foreseen::with_known(cx.session, command.effects.clone());
        if effects.of(Self::SPEC.name).all != cx.permit.effects().all {
            let message = "what the command would touch changed since it was judged";
            return Err(ToolError::new(code::CHANGED_SINCE_READ, message).hint("run it again"));
        }
        let mut profile = self.ground.profile(cx.permit, cx.session, Access::Workspace)?;
        profile.cwd = site.cwd;
        set_variables(&mut profile.env, &params.env);
        Ok((command, profile))
    }

    /// A directory below a root, its links followed.
    fn dir(&self, dir: &str) -> Result<PathBuf, ToolError> {
        let place = self.ground.files.locate(dir)?;
        if place.below_root.is_none() {
            return Err(ToolError::new(
                code::OUT_OF_BOUNDS,
                format!("`cwd`: {} lies outside the roots", place.shown()),
            )
            .hint("commands begin below a root"));
        }
        if !place.path.is_dir() {
            return Err(ToolError::new(code::NOT_FOUND, format!("`cwd`: there is no directory {}", place.shown())));
        }
        Ok(place.path)
    }

    /// The command and what it would do.
    fn read(&self, params: &Params, site: &Site) -> Result<Command, ToolError> {
        check(params)?;
        let text = params.shell.clone().unwrap_or_else(|| quoted(&params.words));
        let command = command::read(&text, site, &|target| command::place_in(&self.ground.files, target));
        // What is judged has to be what runs: were the words not read back as they are, nobody knows what was judged.
        let read_back = command.analysis.commands.first().map(|first| &first.argv);
        if params.shell.is_none() && read_back != Some(&params.words) {
            let message =
                format!("these words cannot be judged as a command: {}", nika_contract::text::preview(&text, 160));
            return Err(ToolError::new(code::BAD_ARGUMENTS, message).hint("leave control characters out of its words"));
        }
        Ok(command)
    }
}

/// What is wrong with the arguments before anything is looked at.
fn check(params: &Params) -> Result<(), ToolError> {
    let program = params.words.first().map(String::as_str).unwrap_or_default();
    if params.shell.is_some() != params.words.is_empty() {
        return Err(ToolError::argument("words", "takes the program and its words, or `shell` a text; one of both"));
    }
    if params.shell.is_none() && program.is_empty() {
        return Err(ToolError::argument("words[0]", "names no program"));
    }
    if let Some(at) = params.words.iter().position(|word| word.contains('\0')) {
        return Err(ToolError::argument(&format!("words[{at}]"), "holds a NUL, which no word of a command can"));
    }
    if let Some(ms) = params.timeout.filter(|ms| *ms == 0 || *ms > MOST_MS) {
        return Err(ToolError::argument("timeout", format!("takes 1 to {MOST_MS} milliseconds, not {ms}")));
    }
    for (name, value) in &params.env {
        if !may_be_set(name) || value.contains('\0') {
            let why = format!("`{name}` is no variable that a task may set: it could make programs load code");
            return Err(ToolError::argument("env", why).hint("pass the value under a name of your own"));
        }
    }
    Ok(())
}

/// The words as a shell's line that means exactly them.
pub fn quoted(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,".contains(c);
    let quote = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

fn order(params: &Params, cx: &Cx<'_>, command: &Command, profile: Profile) -> Order {
    let program = match &params.shell {
        Some(text) => Program::Shell { text: command.analysis.canonical.clone().unwrap_or_else(|| text.clone()) },
        None => Program::Argv(params.words.clone()),
    };
    let mut order = Order::new(program, profile, cx.session.id());
    order.timeout = Some(Duration::from_millis(params.timeout.unwrap_or(DEFAULT_MS).into()));
    order.stdin = if params.stdin.is_some() { Stdin::Pipe } else { Stdin::Closed };
    order.apart = !params.combined;
    order.network = Reachable::Session;
    (order.output.head_bytes, order.output.tail_bytes) = (MOST_BYTES, 1);
    order
}

/// Writes its input, where it has one, on a thread of its own: the command may read late, or never.
fn feed(job: &Arc<Job>, text: Option<String>) {
    let Some(text) = text else { return };
    let job = Arc::clone(job);
    tokio::task::spawn_blocking(move || {
        // A command that reads no more ends the pipe; that is its own business.
        let _ = job.write(text.as_bytes(), Duration::from_secs(u64::from(MOST_MS) / 1000));
        let _ = job.close_input();
    });
}

fn answer(job: &Job, exited: &Exited, settled: Settled) -> Result<Output, ToolError> {
    let summary = job.summary();
    let errors = job.errors();
    if summary.omitted > 0 || summary.total > MOST_BYTES as u64 || errors.len() >= MOST_BYTES {
        let message = format!("the command printed more than the {} MiB that a task can hand on", MOST_BYTES >> 20);
        return Err(ToolError::new(code::TOO_LARGE, message).hint("have it write a file, and hand on the file's name"));
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut out = summary.head;
    out.extend(summary.tail);
    let exit = match exited.how {
        How::Status(status) if exited.killed_by.is_none() => Some(status),
        _ => None,
    };
    let data = json!({"exit": exit, "stdout": text(&out), "stderr": text(&errors), "wall_ms": exited.wall_ms});
    let mut said = format!("[{} · {}]", report::ending(exited, None), report::held(job.held()));
    settled.lines.iter().for_each(|line| said.extend(["\n", line]));
    said.push_str(&report::not_reached(job));
    let mut output = Output::data(data, said)
        .with_fact("exit_code", exit.map_or(Value::Null, Value::from))
        .with_fact("wall_ms", exited.wall_ms)
        .with_fact("sandbox", job.held().profile.as_str())
        .with_fact("changed_paths", settled.paths())
        .with_fact("not_applied", settled.left_out);
    if !settled.diff.is_empty() {
        output = output.with_diff(settled.diff);
    }
    // Which exit codes are failures is the task's to say; that it was stopped, or changed what it may not, is one.
    output.failed = settled.failed.or(exit.is_none().then_some(code::COMMAND_FAILED));
    Ok(output)
}

const EXAMPLES: &[Example] = &[Example {
    title: "Count the lines of a file whose name holds a blank",
    files: &[("two words.txt", "one\ntwo\n")],
    before: &[],
    arguments: r#"{"words": ["wc", "-l", "two words.txt"]}"#,
    answer: "exit 0",
}];

#[cfg(test)]
mod tests {
    use nika_contract::SessionState;
    use nika_guard::{Effect, ExecKind};
    use nika_host::fs::{Fsync, Settings, Workspace};
    use nika_host::proc::Jobs;

    use super::*;

    #[test]
    fn quoted_words_are_read_back_as_they_are() {
        let site = Site::on_paper(vec!["/r".into()], "/r".into(), "/h".into());
        for words in [
            vec!["git", "log", "--format=%h %s"],
            vec!["echo", "$(rm -rf /)", "`id`", "; ls", "a'b", "\"", "~", "*", "{a,b}", "", "#x", "-n", "!!", "\\"],
            vec!["A=b", "x"],
            vec!["printf", "a\nb\tc"],
            vec!["echo", "ä€😀"],
        ] {
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            let analysis = nika_guard::bash::analyse(&quoted(&words), &site);
            assert_eq!(analysis.commands.first().map(|first| &first.argv), Some(&words), "{}", quoted(&words));
        }
    }

    #[test]
    fn what_a_task_sets_is_no_number_that_counts() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("work")).expect("a directory");
        let files = Workspace::open(Settings {
            roots: vec![at("work").canonicalize().expect("it is there")],
            readable: Vec::new(),
            home: None,
            git: None,
            state: at("state"),
            own: at("state"),
            fsync: Fsync::Off,
        });
        let jobs = Arc::new(Jobs::new(PathBuf::from("/proc/self/exe"), None));
        let files = Arc::new(files.expect("the root opens"));
        let tool = ExecTool { ground: Arc::new(Ground::new(files, jobs, Vec::new(), at("spill"), false, true)) };
        let kinds = |env: &[(&str, &str)]| {
            let params = Params {
                words: Vec::new(),
                shell: Some("((x++)); echo done".into()),
                cwd: None,
                env: env.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
                stdin: None,
                timeout: None,
                combined: false,
            };
            let effects = tool.effects(&params, &Scene { session: &SessionState::new("test", false) });
            let all = effects.expect("it is judged").all.into_iter();
            all.filter_map(|effect| if let Effect::Exec(exec) = effect { Some(exec.kind) } else { None }).max()
        };
        assert_eq!(kinds(&[]), Some(ExecKind::ReadOnly));
        assert_eq!(kinds(&[("y", "1")]), Some(ExecKind::ReadOnly));
        // Arithmetic would evaluate what it holds.
        assert_eq!(kinds(&[("x", "a[$(touch made)]")]), Some(ExecKind::Opaque));
    }

    #[test]
    fn variables_that_load_code_are_refused() {
        let with = |name: &str| Params {
            words: vec!["true".into()],
            shell: None,
            cwd: None,
            env: BTreeMap::from([(name.into(), "x".into())]),
            stdin: None,
            timeout: None,
            combined: false,
        };
        for name in
            ["LD_PRELOAD", "PATH", "BASH_ENV", "PYTHONSTARTUP", "GIT_SSH_COMMAND", "NODE_OPTIONS", "A=B", "", "1A"]
        {
            assert!(check(&with(name)).is_err(), "{name}");
        }
        for name in ["TITLE", "MY_VALUE", "WORDS"] {
            assert!(check(&with(name)).is_ok(), "{name}");
        }
    }
}
