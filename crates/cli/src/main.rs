//! `nika`: the hands of an AI coding agent, as a program.
//!
//! ```text
//! argv ──args──▶ command ──world──▶ compose ──▶ Runtime::dispatch ──out──▶ stdout, exit code
//! ```
//!
//! Only this crate reads the environment ([`world`]), prints ([`out`]) and knows every other crate
//! ([`compose`]). What a call may do, does and leaves behind is decided below it.

mod args;
mod arguments;
mod ask;
mod briefing;
mod cmd;
mod compose;
mod config;
mod crew;
mod failure;
mod flows;
mod mcp;
mod mcp_logins;
mod models;
mod out;
mod recovered;
mod render;
mod search_keys;
mod serve;
mod session;
mod skills;
mod talk;
mod time;
mod trust;
mod watch;
mod web;
mod world;

use std::process::ExitCode;

use nika_contract::{ToolError, code};

use crate::failure::Failure;

/// The hidden word that makes this program the supervisor of one command. It is looked for before anything else:
/// a supervisor has one thread, and starts often.
const SUPERVISE: &str = "__run";
/// The hidden word that makes it the guard of one hook.
const GUARD: &str = "__guard";

fn main() -> ExitCode {
    let argv: Vec<_> = std::env::args_os().collect();
    match argv.get(1) {
        Some(word) if word == SUPERVISE => return nika_host::proc::supervise(),
        Some(word) if word == GUARD => return nika_host::proc::guard(std::io::stdin().lock()),
        _ => {}
    }
    let as_json = args::wants_json(&argv);
    let done = match args::parse(&argv) {
        Ok(cli) => cmd::run(cli.command),
        Err(mistake) if mistake.use_stderr() && as_json => Err(misused(&mistake)),
        Err(mistake) if mistake.use_stderr() => {
            out::complain(mistake.to_string().trim_end());
            return ExitCode::from(u8::try_from(mistake.exit_code()).unwrap_or(failure::USAGE));
        }
        Err(asked) => asked.exit(),
    };
    done.unwrap_or_else(|failure| failure.report(as_json))
}

/// A command line that does not parse, told to the program that wrote it.
fn misused(mistake: &clap::Error) -> Failure {
    let text = mistake.to_string();
    let (message, usage) = text.trim_start_matches("error: ").split_once("\n\n").unwrap_or((&text, ""));
    ToolError::new(code::BAD_ARGUMENTS, message.trim()).hint(usage.trim()).into()
}
