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
mod cmd;
mod compose;
mod config;
mod failure;
mod out;
mod render;
mod serve;
mod session;
mod time;
mod trust;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = args::parse(std::env::args_os());
    match cmd::run(cli.command) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}
