//! What a workflow is, once it is read: the form that checking and running agree on.
//!
//! A [`Flow`] comes out of a document of any version. Texts in it still hold templates; each knows the place in the
//! file that it came from, so that whoever finds fault with it can point there.

use std::time::Duration;

use nika_guard::PermitKind;
use serde_json::Value;

/// How deep workflows may run one another, the first of them counted. The check refuses what is deeper, and so does the
/// run; deeper than eight nobody finds their way, and each level holds a session.
pub const DEEPEST: usize = 8;

/// A place in the document: one-based line and column, and how many characters it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// One-based.
    pub line: usize,
    /// One-based, in characters.
    pub column: usize,
    /// In characters; at least 1 where something stands there.
    pub length: usize,
}

/// Something with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct At<T> {
    /// What stands there.
    pub value: T,
    /// Where.
    pub at: Span,
}

/// A workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// `name`, or the file's stem.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The `schema` that the document was written in: `nika/workflow@1`, or an older one that was translated.
    pub version: String,
    /// The model of tasks that name none.
    pub model: ModelChoice,
    /// What it takes.
    pub inputs: Vec<Input>,
    /// Names of values that are never shown: environment variables.
    pub secrets: Vec<At<String>>,
    /// What it may do. `None` only in a translated document: then they are inferred, and shown for a yes.
    pub permits: Option<Permits>,
    /// Bounds of the whole run.
    pub limits: Limits,
    /// In the order of the document.
    pub tasks: Vec<Task>,
    /// What it answers with: names and templates.
    pub outputs: Vec<(At<String>, Dynamic)>,
}

/// A provider and a model, where the document names them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelChoice {
    /// `anthropic`, `openai`, `scripted`, …
    pub provider: Option<At<String>>,
    /// As the provider names it.
    pub model: Option<At<String>>,
}

/// Something the workflow takes: `nika run FILE name=value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: At<String>,
    /// What kind of value.
    pub kind: Kind,
    /// What it is for.
    pub description: Option<String>,
    /// Taken when none is given; without one it is required.
    pub default: Option<Value>,
}

/// What kind of value an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Text.
    #[default]
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list.
    List,
    /// Names and values.
    Object,
}

impl Kind {
    /// As documents write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::List => "list",
            Kind::Object => "object",
        }
    }
}

/// What a workflow may do: everything else is denied. Each text is a pattern of the rule language.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Permits {
    /// Paths it reads (`fs.read`), as in `read(…)`.
    pub read: Vec<At<String>>,
    /// Paths it changes (`fs.write`), as in `write(…)`.
    pub write: Vec<At<String>>,
    /// Hosts it reaches, as in `net(…)`.
    pub net: Vec<At<String>>,
    /// Commands it runs, as in `exec(…)`.
    pub exec: Vec<At<String>>,
    /// Tools that `invoke` and `agent` use: a name, `mcp__SERVER__TOOL`, `mcp__SERVER`, or `workflow(PATH)`.
    pub tools: Vec<At<String>>,
    /// Environment variables that its commands see beside the harmless ones.
    pub env: Vec<At<String>>,
}

impl Permits {
    /// Every line with its kind, in the order that pages show them.
    pub fn lines(&self) -> impl Iterator<Item = (PermitKind, &At<String>)> {
        let groups = [
            (PermitKind::Read, &self.read),
            (PermitKind::Write, &self.write),
            (PermitKind::Net, &self.net),
            (PermitKind::Exec, &self.exec),
            (PermitKind::Tool, &self.tools),
            (PermitKind::Env, &self.env),
        ];
        groups.into_iter().flat_map(|(kind, of)| of.iter().map(move |line| (kind, line)))
    }
}

/// Bounds of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limits {
    /// Tasks at once.
    pub parallel: Option<At<usize>>,
    /// Of the whole run.
    pub timeout: Option<At<Duration>>,
    /// In millionths of a US dollar.
    pub cost_micros: Option<At<u64>>,
    /// Tokens, read and written.
    pub tokens: Option<At<u64>>,
}

/// Where a task stands in [`Flow::tasks`].
pub type Index = usize;

/// One task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Unique in the workflow: a letter or `_`, then letters, digits, `_`, `-`.
    pub id: At<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it does.
    pub verb: Verb,
    /// Tasks that end before it begins: of `depends_on`, of `flows`, and of `use`. Sorted, none twice.
    pub after: Vec<Index>,
    /// Names for what other tasks made.
    pub uses: Vec<Use>,
    /// Once for each element of a list.
    pub for_each: Option<ForEach>,
    /// Only when this is true.
    pub when: Option<Template>,
    /// Tries after one that failed.
    pub retry: Retry,
    /// Of one try; [`default_timeout`] of the verb when the document says nothing.
    pub timeout: Duration,
    /// What its failure means.
    pub on_error: OnError,
}

/// A name for something that another task made.
#[derive(Debug, Clone, PartialEq)]
pub struct Use {
    /// `{{ use.NAME }}`.
    pub name: At<String>,
    /// Whose output.
    pub task: Index,
    /// Steps into it.
    pub path: Vec<Step>,
    /// Taken when the task made nothing, was skipped, or the path leads nowhere.
    pub default: Option<Value>,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// `.name`
    Key(String),
    /// `[3]`, or `.3`
    Index(usize),
}

/// A loop over a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ForEach {
    /// The list: literal, or a template whose value is one.
    pub items: Dynamic,
    /// What an element is called in templates; `item` when nothing is said.
    pub name: String,
    /// Elements at once.
    pub concurrency: usize,
    /// Whether the first failure ends the loop.
    pub fail_fast: bool,
}

/// Tries after a failure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retry {
    /// All tries, the first included.
    pub attempts: u32,
    /// Before the second try.
    pub backoff: Duration,
    /// Each further wait is so many times the one before.
    pub factor: f64,
    /// No wait is longer.
    pub most: Duration,
}

impl Default for Retry {
    fn default() -> Retry {
        Retry { attempts: 1, backoff: Duration::from_secs(1), factor: 2.0, most: Duration::from_secs(60) }
    }
}

/// What a task's failure means.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum OnError {
    /// What depends on it is not begun, and the run fails.
    #[default]
    Fail,
    /// It counts as skipped: what uses it needs a default.
    Skip,
    /// This is its output instead.
    Value(Dynamic),
}

/// What a task does.
#[derive(Debug, Clone, PartialEq)]
pub enum Verb {
    /// Asks a model.
    Infer(Infer),
    /// Runs a command.
    Exec(Exec),
    /// Makes an HTTP request.
    Fetch(Fetch),
    /// Calls a tool, reads a resource, or runs another workflow.
    Invoke(Invoke),
    /// Gives a task to an agent.
    Agent(Agent),
}

impl Verb {
    /// As documents and events name it.
    pub fn name(&self) -> &'static str {
        match self {
            Verb::Infer(_) => "infer",
            Verb::Exec(_) => "exec",
            Verb::Fetch(_) => "fetch",
            Verb::Invoke(_) => "invoke",
            Verb::Agent(_) => "agent",
        }
    }

    /// How long a try may take when the document says nothing.
    pub fn default_timeout(&self) -> Duration {
        Duration::from_secs(match self {
            Verb::Exec(_) => 60,
            Verb::Fetch(_) | Verb::Invoke(_) => 30,
            Verb::Infer(_) => 120,
            Verb::Agent(_) => 600,
        })
    }
}

impl Verb {
    /// How long a try may take at most, where what does it has a bound of its own.
    pub fn longest_timeout(&self) -> Option<Duration> {
        match self {
            Verb::Exec(_) => Some(Duration::from_secs(600)),
            Verb::Fetch(_) => Some(Duration::from_secs(30)),
            Verb::Infer(_) | Verb::Invoke(_) | Verb::Agent(_) => None,
        }
    }
}

/// A prompt to a model. Its output is text, or a JSON value where a schema or `format: json` asks for one.
#[derive(Debug, Clone, PartialEq)]
pub struct Infer {
    /// What is asked.
    pub prompt: Template,
    /// What stands before it.
    pub system: Option<Template>,
    /// The workflow's when nothing is said.
    pub model: ModelChoice,
    /// What the answer has to be.
    pub answer: Answer,
}

/// What a model's answer has to be.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Answer {
    /// Text.
    #[default]
    Text,
    /// Any JSON value.
    Json,
    /// A JSON value that fits this schema.
    Fitting(At<Value>),
}

/// A command. Its output is what it printed; see [`Capture`].
#[derive(Debug, Clone, PartialEq)]
pub struct Exec {
    /// Words, or shell text.
    pub command: Command,
    /// Below the root.
    pub cwd: Option<Template>,
    /// Values of templates reach a command here, or as words; never as shell text.
    pub env: Vec<(At<String>, Template)>,
    /// What it reads.
    pub stdin: Option<Template>,
    /// Exit codes that are no failure; 0 when nothing is said.
    pub ok_exit: Vec<i32>,
    /// What of it is the output.
    pub capture: Capture,
}

/// What is run.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// A program and its words; each may hold templates and stays one word.
    Words(Vec<Template>),
    /// Shell text; holds no templates.
    Shell(At<String>),
}

/// What of a command is its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Capture {
    /// Its standard output, without the last line break.
    #[default]
    Stdout,
    /// Its standard error.
    Stderr,
    /// Both, as they came.
    Combined,
    /// Its standard output, read as JSON.
    Json,
    /// `{exit, stdout, stderr}`.
    All,
}

/// An HTTP request. Its output is `{status, headers, body}`, or what [`Fetch::read`] says.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetch {
    /// Where. The host is checked against `permits.net` before and again with every redirect.
    pub url: Template,
    /// `GET` when nothing is said.
    pub method: String,
    /// Sent.
    pub headers: Vec<(At<String>, Template)>,
    /// Sent: text as it is, anything else as JSON.
    pub body: Option<Dynamic>,
    /// What of the answer is the output.
    pub read: FetchRead,
}

/// What of an HTTP answer is the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FetchRead {
    /// The body as text.
    #[default]
    Text,
    /// The body as JSON.
    Json,
    /// The page as Markdown.
    Markdown,
    /// `{status, headers, body}`; a status of 400 or more is no failure then.
    Answer,
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub struct Invoke {
    /// Of what.
    pub what: Called,
    /// Its arguments: an object.
    pub params: Dynamic,
}

/// What `invoke` names.
#[derive(Debug, Clone, PartialEq)]
pub enum Called {
    /// A tool of Nika, or `mcp__SERVER__TOOL`. Its output is the call's structured result, or its text.
    Tool(At<String>),
    /// A resource of an MCP server; its text.
    Resource {
        /// The server's configured name.
        server: At<String>,
        /// Its address there.
        uri: Template,
    },
    /// Another workflow, by a path below the root; its outputs.
    Workflow(At<String>),
}

/// A task for an agent. Its output is its last answer, or an object that fits its schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Agent {
    /// What it is to do.
    pub prompt: Template,
    /// What stands before it.
    pub system: Option<Template>,
    /// The workflow's when nothing is said.
    pub model: ModelChoice,
    /// Tools it is given; those of `permits.tools` when nothing is said.
    pub tools: Option<Vec<At<String>>>,
    /// Turns at most.
    pub max_turns: u32,
    /// Tokens at most.
    pub tokens: Option<u64>,
    /// What its answer has to be.
    pub answer: Answer,
}

/// A text that may hold `{{ … }}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// As written.
    pub text: String,
    /// Where it begins.
    pub at: Span,
}

/// A value whose texts may hold templates. A text that is one `{{ … }}` and nothing else stands for the value itself,
/// whatever its type; any other is text.
#[derive(Debug, Clone, PartialEq)]
pub enum Dynamic {
    /// A number, a truth value, or nothing.
    Plain(Value),
    /// A text.
    Text(Template),
    /// A list.
    List(Vec<Dynamic>),
    /// Names and values, in the document's order.
    Object(Vec<(At<String>, Dynamic)>),
}

impl Dynamic {
    /// Whether only the run knows all of it.
    pub fn has_templates(&self) -> bool {
        match self {
            Dynamic::Plain(_) => false,
            Dynamic::Text(template) => crate::template::is_template(&template.text),
            Dynamic::List(items) => items.iter().any(Dynamic::has_templates),
            Dynamic::Object(entries) => entries.iter().any(|(_, value)| value.has_templates()),
        }
    }
}
