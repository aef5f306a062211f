//! The commands, one file each.

mod agent;
mod call;
mod check;
mod checkpoints;
mod config;
mod doctor;
mod explain;
mod hooks;
mod init;
mod log;
mod mcp;
mod mcp_auth;
mod policy;
mod reference;
mod run;
mod sandbox;
mod search;
mod sessions;
mod test;
mod tools;
mod trace;
mod trust;
mod undo;
mod upgrade;

use std::io;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::builder::PossibleValuesParser;
use nika_guard::Mode;
use nika_runtime::Dialect;

pub use call::one_thread;

use crate::args::{Cli, Command};
use crate::failure::Failure;
use crate::out;
use crate::serve;

/// Runs a command to its exit code.
pub fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Serve(args) => serve::run(args).map(|()| ExitCode::SUCCESS),
        Command::Call(args) => call::run(args),
        Command::Agent(args) => agent::run(*args),
        Command::Run(args) => run::run(*args),
        Command::Trace(args) => trace::run(args),
        Command::Test(args) => test::run(args),
        Command::Sessions(args) => done(sessions::run(&args)),
        Command::Check(args) => check::run(&args),
        Command::Init(args) => done(init::run(&args)),
        Command::Upgrade(args) => upgrade::run(&args),
        Command::Tools(args) => done(tools::run(args)),
        Command::Explain(args) => done(explain::run(&args)),
        Command::Undo(args) => undo::run(args),
        Command::Checkpoints(args) => checkpoints::run(args),
        Command::Log(args) => log::run(args),
        Command::Config(args) => done(config::run(&args)),
        Command::Hooks(args) => hooks::run(args),
        Command::Mcp(args) => mcp::run(args),
        Command::Search(args) => search::run(args),
        Command::Trust(args) => done(trust::run(&args)),
        Command::Policy(args) => policy::run(args),
        Command::Sandbox(args) => sandbox::run(args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Probe { scene } => doctor::probe(&scene),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut offered(&Cli::command())?, "nika", &mut script);
            done(out::verbatim(&String::from_utf8_lossy(&script)).map_err(Failure::from))
        }
        Command::Man { command } => done(reference::manual(&command)),
        Command::Parse { kind } => Ok(parse(&kind)),
        Command::Surface => done(reference::surface()),
        Command::HelpPages => done(reference::help()),
    }
}

fn done(result: Result<(), Failure>) -> Result<ExitCode, Failure> {
    result.map(|()| ExitCode::SUCCESS)
}

/// The killable child that looks at hostile bytes: limits first, then bytes in, bytes out.
fn parse(kind: &str) -> ExitCode {
    let limited = nika_host::proc::limit_self(&nika_host::proc::Limits::default());
    if limited.is_err() {
        return ExitCode::FAILURE;
    }
    match nika_tools::file::read::parse_child(kind, io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The commands that a person is offered, as a shell completes what is hidden, too; with values of arguments that are read
/// more freely than a list says.
fn offered(whole: &clap::Command) -> Result<clap::Command, Failure> {
    let visible = whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let tools = tools::whole_surface()?.iter().map(|tool| tool.canonical).collect();
    let values = [
        ("mode", Mode::ALL.map(Mode::name).to_vec()),
        ("dialect", Dialect::ALL.map(Dialect::name).to_vec()),
        ("tool", tools),
    ];
    let visible = visible.map(|command| with_values(command, &values));
    Ok(clap::Command::default().name("nika").args(whole.get_arguments().cloned()).subcommands(visible))
}

/// The command with these values for arguments of these names, and so those below it.
fn with_values(command: clap::Command, values: &[(&str, Vec<&'static str>)]) -> clap::Command {
    let command = command.mut_args(|arg| match values.iter().find(|(name, _)| arg.get_id() == name) {
        Some((_, words)) => arg.value_parser(PossibleValuesParser::new(words.clone())),
        None => arg,
    });
    command.mut_subcommands(|below| with_values(below, values))
}
