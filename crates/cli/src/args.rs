//! The command line, as data. Doc comments here are the help a person reads.

mod agent;
mod check;
mod dashed;
mod init;
mod log;
mod mcp;
mod run;
mod search;
mod upgrade;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use nika_guard::Mode;
use nika_runtime::{Dialect, Listing};

pub use agent::{Agent, Report, Sessions};
pub use check::{Check, Picture};
pub use init::{Init, Template};
pub use log::{ExportFormat, Log, LogCommand};
pub use mcp::{Mcp, McpCommand, McpCommon};
pub use run::{Run, Test, Trace, TraceCommand, TraceFormat};
pub use search::{Search, SearchCommand};
pub use upgrade::Upgrade;

use crate::ask::Ready;

/// The hands of an AI coding agent: read, search and edit a code base, safely and fast.
///
/// Start it as an MCP server for any agent (`nika serve`), or call one tool (`nika call`). Every call is
/// judged by one permission model, written to one journal, and can be taken back with one undo.
#[derive(Debug, Parser)]
#[command(name = "nika", version, max_term_width = 100, after_help = AFTER, after_long_help = AFTER_LONG)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const AFTER: &str = "\
Let an MCP client work on a repository:  nika serve --mode accept-edits --root ~/src/project
Exit codes: 0 done, 1 the tool failed, 2 wrong usage or configuration, 3 refused, 130 interrupted.";

const AFTER_LONG: &str = "\
Let an MCP client work on a repository:
  nika serve --mode accept-edits --root ~/src/project
Do one thing yourself:
  nika call grep pattern=TODO glob='*.rs' output_mode=content
See and take back what was done:
  nika log show
  nika undo

Exit codes: 0 done; 1 the tool failed; 2 wrong usage, arguments or configuration; 3 refused by
mode, rule, hook, budget or boundary (NIKA-102, -106, -107, -204, -205), or a bound of a run;
127 a confined program could not be started (NIKA-911); 130 interrupted.
`nika explain CODE` says more.

Environment: NIKA_STATE_DIR moves the journal and undo store (default $XDG_STATE_HOME/nika or
~/.local/state/nika). XDG_CONFIG_HOME moves the user's configuration. NO_COLOR turns off colours.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the tools to an MCP client, over stdio or HTTP.
    ///
    /// Where the client cannot be asked, the default mode only reads: start with `--mode accept-edits` to let it
    /// edit inside the roots.
    Serve(Serve),
    /// Call one tool.
    Call(Call),
    /// Let a model of your choice do a task with the tools.
    ///
    /// What it may do is the mode's and the rules' to say, as for every other caller; where nobody can be asked, a
    /// question is a refusal. Let it edit and run builds with `--mode workspace`.
    Agent(Box<Agent>),
    /// Run a workflow: a YAML file that says what is done, in which order, with which authority.
    ///
    /// It may do what its `permits` state and nothing else. What of that your mode would ask about is shown before
    /// anything begins. A run that was stopped goes on with `--resume`.
    Run(Box<Run>),
    /// List, show, verify or export the traces of workflow runs.
    Trace(Trace),
    /// Run workflows against the results that their tests hold.
    Test(Test),
    /// List the conversations of `nika agent` that can be gone on with.
    Sessions(Sessions),
    /// Say what is wrong with workflows, before they run.
    ///
    /// Reads, and starts nothing: the form, the graph, names and types, what tasks do against `permits`, parameters
    /// against the schemas of tools, and what models can cost.
    #[command(alias = "validate")]
    Check(Check),
    /// Print an older workflow in the language of today, with the authority that it needs.
    Upgrade(Upgrade),
    /// Begin a directory with a workflow, its configuration and a README. Overwrites nothing.
    Init(Init),
    /// List the tools, or show one.
    Tools(Tools),
    /// Say what a code or a tool means.
    Explain(Explain),
    /// Take back what a call did to files; without a call, the last one.
    Undo(Undo),
    /// List what can be taken back.
    Checkpoints(Checkpoints),
    /// Show, verify, export or follow the journal.
    Log(Log),
    /// Show the configuration in force, each value with its file and line.
    Config(Config),
    /// List the hooks in force, or try them on a call that is not made.
    Hooks(Hooks),
    /// List other people's MCP servers and their tools, and say yes to those that changed.
    Mcp(Mcp),
    /// Keep or forget the keys of search providers.
    Search(Search),
    /// Let the configuration that this repository brings loosen permissions.
    Trust(Trust),
    /// Judge commands without running them; test rules; judge the past by another policy.
    Policy(Policy),
    /// Run a program in the sandbox.
    Sandbox(Sandbox),
    /// Try to break each guarantee of the sandbox, and say which hold.
    Doctor(Doctor),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of the program or of one command.
    Man {
        /// The command, in one word or more: `policy check`.
        command: Vec<String>,
    },
    /// Parse one hostile file, read from stdin, in this process and nothing else.
    #[command(name = "__parse", hide = true)]
    Parse {
        /// What the bytes claim to be.
        kind: String,
    },
    /// Try to leave the sandbox that this runs in, a line of JSON an attempt.
    #[command(name = "__probe", hide = true)]
    Probe {
        /// What may be tried on what.
        scene: String,
    },
    /// Print the surface as JSON, for generators.
    #[command(name = "__surface", hide = true)]
    Surface,
    /// Print every command's help as Markdown, for generators.
    #[command(name = "__help", hide = true)]
    HelpPages,
}

/// Where to work.
#[derive(Debug, Clone, Default, Args)]
pub struct Where {
    /// Work in this directory (repeatable; relative paths begin at the first). Default: the current one.
    #[arg(long = "root", value_name = "DIR", help_heading = "Where")]
    pub roots: Vec<PathBuf>,
}

/// How the call or the server stands.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Permissions")]
pub struct Standing {
    /// How to stand: deny, read-only, ask, accept-edits, workspace or accept-all. Default: ask.
    #[arg(long, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// The same as `--mode accept-edits`.
    #[arg(long)]
    pub allow_write: bool,
    /// The same as `--mode workspace`, with writes still asked unless `--allow-write` is there too.
    #[arg(long)]
    pub allow_shell: bool,
    /// The same as `--mode accept-all`, with destructive and privileged commands allowed too.
    #[arg(long = "unsafe")]
    pub unsafe_: bool,
    /// The same as `--mode accept-all`.
    #[arg(long)]
    pub yolo: bool,
    /// Allow what this rule matches (repeatable): `write(src/**)`, `tool(edit)`.
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Ask before what this rule matches (repeatable).
    #[arg(long, value_name = "RULE")]
    pub ask: Vec<String>,
    /// Deny what this rule matches (repeatable).
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,
    /// Set a configuration value for this run (repeatable): `files.fsync=off`.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// How to print.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON value.
    Json,
}

/// The exit codes, for pages that are about calls.
const EXITS: &str = "\
Exit codes: 0 done; 1 the tool failed; 2 wrong usage, arguments or configuration; 3 refused by
mode, rule, hook, budget or boundary (NIKA-102, -106, -107, -204, -205), or a bound of a run;
127 a confined program could not be started (NIKA-911); 130 interrupted.";

#[derive(Debug, Args)]
#[command(after_help = EXITS)]
pub struct Call {
    /// The tool, by its name in any dialect.
    pub tool: String,
    /// Arguments: `key=value` (typed as the tool's schema says), `key:=JSON`, `key=@FILE` for a file's text; a
    /// lone `-` reads one JSON object from stdin.
    #[arg(value_name = "KEY=VALUE")]
    pub pairs: Vec<OsString>,
    /// Arguments as one JSON object (`-` reads it from stdin). `key=value` pairs are laid over it.
    #[arg(long, value_name = "OBJECT")]
    pub json: Option<String>,
    /// Keep what was read, granted and loaded under this name, for later calls.
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Print text, or one JSON object: ok, code, content, structured, diff, facts (what the journal notes), call_id; of a failure message and hint, too.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    /// Prefer this vocabulary's parameter names: nika, claude, claw or claw-agent.
    #[arg(long, value_name = "DIALECT")]
    pub dialect: Option<Dialect>,
    /// Answer what the tool asks a person (repeatable, each used once, in their order): a text, or an object
    /// `{"question": PIECE, "question_id": NAME, "match": "exact" | "contains", "answer": TEXT, "consume": true | false}`. Permissions
    /// are not answered so.
    #[arg(long = "answer", value_name = "TEXT")]
    pub answers: Vec<Ready>,
    /// Save images of the answer as files in this directory.
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Serve streamable HTTP here instead of stdio. Default: 127.0.0.1:8738; a lone port or host is completed.
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1")]
    pub http: Option<String>,
    /// Take the bearer token from this file; make it, 0600, when there is none.
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
    /// Also answer to this name in `Host` (repeatable); loopback names always work.
    #[arg(long, value_name = "NAME", requires = "http")]
    pub allow_host: Vec<String>,
    /// Also let pages of this origin call (repeatable): `https://app.example.com:443`.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub allow_origin: Vec<String>,
    /// List all tools, the eager ones, or these (joined by commas). Default: eager.
    #[arg(long, value_name = "all|eager|NAMES")]
    pub list: Option<Listing>,
    /// List tools under this vocabulary's names: nika, claude, claw or claw-agent.
    #[arg(long, value_name = "DIALECT")]
    pub dialect: Option<Dialect>,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Tools {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Use this vocabulary's names: nika, claude, claw or claw-agent.
    #[arg(long, value_name = "DIALECT")]
    pub dialect: Option<Dialect>,
    #[command(subcommand)]
    pub show: Option<ToolsShow>,
}

#[derive(Debug, Subcommand)]
pub enum ToolsShow {
    /// Show one tool: description, schema, effects, examples.
    Show {
        /// The tool, by its name in any dialect.
        tool: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct Explain {
    /// A code (`NIKA-209` or `209`), a finding in a command (`brace_expansion`), or a tool's name.
    pub what: String,
}

#[derive(Debug, Args)]
#[command(after_help = EXITS)]
pub struct Undo {
    /// The call to take back (`nika checkpoints` lists them).
    pub call: Option<String>,
    /// Take back this many of the last changing calls.
    #[arg(long, value_name = "N", conflicts_with = "call")]
    pub steps: Option<u32>,
    /// Show the diff, change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Look only at this session's calls.
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Print text, or one JSON object.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}

#[derive(Debug, Args)]
pub struct Checkpoints {
    /// List at most this many calls.
    #[arg(long, value_name = "N")]
    pub limit: Option<u32>,
    /// Print text, or one JSON object.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    #[command(flatten)]
    pub place: Where,
}

#[derive(Debug, Args)]
pub struct Config {
    /// Print text or JSON.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}

#[derive(Debug, Args)]
pub struct Policy {
    #[command(subcommand)]
    pub what: PolicyCommand,
}

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Print the judgement of commands as JSON, one line each. Neither the root nor the programs need exist.
    Check(PolicyCheck),
    /// Draw the judgement of one command: every command in it, its verdict, who says so, and what would allow it.
    Explain(PolicyExplain),
    /// Try the examples that rules carry, also of rules that are not in force.
    Test {
        /// Print text, or one JSON object.
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        output: Format,
        #[command(flatten)]
        place: Where,
        #[command(flatten)]
        standing: Standing,
    },
    /// Judge the journal's calls by another configuration and list those whose verdict differs.
    Replay(PolicyReplay),
}

#[derive(Debug, Args)]
pub struct PolicyCheck {
    /// The command. Default: one a line from stdin.
    pub command: Option<String>,
    /// Read lines of JSON, `{"id": …, "cmd": "…"}`, from stdin.
    #[arg(long, conflicts_with = "command")]
    pub jsonl: bool,
    /// What `~` and `$HOME` mean in commands. Default: your home.
    #[arg(long, value_name = "DIR")]
    pub home: Option<PathBuf>,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}

#[derive(Debug, Args)]
pub struct PolicyExplain {
    /// The command, in quotes.
    pub command: String,
    /// What `~` and `$HOME` mean in it. Default: your home.
    #[arg(long, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Print text, or one JSON object.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}

#[derive(Debug, Args)]
pub struct PolicyReplay {
    /// The configuration to judge by, or a manifest (`*.json`), in place of your own. Hooks are not run.
    #[arg(long, value_name = "FILE")]
    pub against: PathBuf,
    /// Print text, or one JSON object.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}

#[derive(Debug, Args)]
pub struct Hooks {
    #[command(subcommand)]
    pub command: HooksCommand,
}

#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// List the hooks in force, and those that are not, with why.
    List {
        /// Print text or JSON.
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        output: Format,
        #[command(flatten)]
        place: Where,
        #[command(flatten)]
        standing: Standing,
    },
    /// Run the hooks on a made-up call and show what each says and what the call would become.
    ///
    /// The call is not made and nothing is journalled. Exit code 1 when a hook gave no answer that can be used.
    Test(HooksTest),
}

#[derive(Debug, Args)]
pub struct HooksTest {
    /// The tool, by its name in any dialect. Default: read.
    pub tool: Option<String>,
    /// Its arguments as one JSON object. Default: those of the tool's first example.
    #[arg(long, value_name = "ARGS")]
    pub json: Option<String>,
    /// Print text or JSON.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}

#[derive(Debug, Args)]
pub struct Trust {
    /// Only say how this repository stands.
    #[arg(long, conflicts_with = "revoke")]
    pub status: bool,
    /// Take the trust back.
    #[arg(long)]
    pub revoke: bool,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// The repository. Default: the current directory.
    #[arg(long = "root", value_name = "DIR")]
    pub root: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Sandbox {
    #[command(subcommand)]
    pub command: SandboxCommand,
}

#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Run a program so that it can change nothing, or nothing but the roots.
    ///
    /// It sees the file system read-only, a private `/tmp`, no secrets, no other process and no network.
    Exec(SandboxExec),
}

/// The exit codes of a confined program.
const SANDBOX_EXITS: &str = "\
Exit codes: the program's own, 128 and the signal that ended it; 3 when the sandbox cannot give one of
its guarantees (NIKA-910); 127 when the program could not be started (NIKA-911).";

#[derive(Debug, Args)]
#[command(after_help = SANDBOX_EXITS)]
pub struct SandboxExec {
    /// What may be written: nothing, or the roots without what is protected in them.
    #[arg(long, value_name = "read-only|workspace", default_value = "read-only")]
    pub profile: SandboxProfile,
    /// The home directory; its secrets are hidden. Default: yours.
    #[arg(long, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Let it reach this host, or what is below `*.NAME`, through a proxy (repeatable).
    #[arg(long, value_name = "HOST")]
    pub allow_host: Vec<String>,
    /// Where the system grants no namespaces, make do with Landlock and seccomp; what is missing is said.
    #[arg(long)]
    pub landlock_only: bool,
    /// The program and its arguments.
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
    #[command(flatten)]
    pub place: Where,
}

/// How much a confined program may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SandboxProfile {
    /// Nothing but a private temporary directory.
    ReadOnly,
    /// The roots.
    Workspace,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// Print text, or one JSON object.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    /// Show every attempt, not only those that broke something.
    #[arg(long)]
    pub all: bool,
    /// Try the fallback of Landlock and seccomp alone where the system grants no namespaces.
    #[arg(long)]
    pub landlock_only: bool,
}

/// Parses a command line. The error is what to print: a mistake, or help that was asked for.
pub fn parse(argv: &[OsString]) -> Result<Cli, clap::Error> {
    let (argv, dashed) = dashed::set_aside(argv.to_vec());
    let mut cli = Cli::try_parse_from(argv).map_err(without_hidden)?;
    if let Command::Call(call) = &mut cli.command {
        call.pairs.extend(dashed);
    }
    Ok(cli)
}

/// A mistake, without the advice to use what no help shows.
fn without_hidden(mut mistake: clap::Error) -> clap::Error {
    const SUGGESTED: ContextKind = ContextKind::SuggestedSubcommand;
    if let Some(ContextValue::Strings(names)) = mistake.remove(SUGGESTED) {
        let shown: Vec<String> = names.into_iter().filter(|name| !name.starts_with("__")).collect();
        if !shown.is_empty() {
            mistake.insert(SUGGESTED, ContextValue::Strings(shown));
        }
    }
    mistake
}

/// Whether a command line asks for JSON, whether or not it parses.
pub fn wants_json(argv: &[OsString]) -> bool {
    let words: Vec<_> = argv.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    // What follows `--` is no word of ours.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let asks = |pair: &[std::borrow::Cow<'_, str>]| match (pair[0].as_ref(), pair.get(1)) {
        ("--json", _) => Some("json"),
        ("--output", Some(format)) => Some(format.as_ref()).filter(|format| is_json(format)).and(Some("output")),
        (word, _) => word.strip_prefix("--output=").filter(|format| is_json(format)).and(Some("output")),
    };
    let asked: Vec<&str> = (0..end).filter_map(|at| asks(&words[at..end.min(at + 2)])).collect();
    if asked.is_empty() {
        return false;
    }
    // The commands that these words begin with: an option of one above may stand below.
    let mut commands = vec![Cli::command()];
    for word in &words[..end] {
        match commands.last().and_then(|command| command.find_subcommand(word.as_ref())).cloned() {
            Some(below) => commands.push(below),
            None => break,
        }
    }
    commands
        .iter()
        .flat_map(clap::Command::get_arguments)
        .any(|arg| arg.get_long().is_some_and(|long| asked.contains(&long)) && is_of_printing(arg))
}

fn is_json(format: &str) -> bool {
    matches!(format, "json" | "stream-json")
}

/// Whether an option says how a command prints: elsewhere `--json` holds arguments, and `--output` names a file.
fn is_of_printing(arg: &clap::Arg) -> bool {
    !arg.get_action().takes_values() || arg.get_possible_values().iter().any(|value| is_json(value.get_name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn flags_of_tools_and_of_ours_are_told_apart() {
        let line = ["nika", "call", "grep", "-i=true", "pattern=x", "--mode=ask", "-A:=3", "--", "-C=2"];
        let cli = parse(&line.map(OsString::from)).expect("it parses");
        let Command::Call(call) = cli.command else { panic!("it is a call") };
        assert_eq!(call.pairs, ["pattern=x", "-C=2", "-i=true", "-A:=3"]);
        assert_eq!(call.standing.mode, Some(Mode::Ask));
    }

    #[test]
    fn whoever_asks_for_json_is_heard_whatever_else_is_wrong() {
        for (line, wanted) in [
            ("nika log list --output json --nonsense", true),
            ("nika run w.yaml --output=stream-json", true),
            ("nika check --json", true),
            ("nika validate --json", true),
            ("nika mcp tools --json --nonsense", true),
            ("nika tools show read --json", true),
            ("nika tools --json", true),
            ("nika log list", false),
            ("nika log list --output text", false),
            ("nika call read --json {}", false),
            ("nika hooks test read --json {}", false),
            ("nika call read --json {} --output json", true),
            ("nika check --graph svg w.yaml --output json", false),
            ("nika sandbox exec prog --output json", false),
            ("nika policy explain -- prog --output json", false),
        ] {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(wants_json(&argv), wanted, "{line}");
        }
    }

    #[test]
    fn everything_has_help() {
        fn check(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for arg in command.get_arguments() {
                assert!(arg.get_help().is_some(), "{} {}", command.get_name(), arg.get_id());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
