//! How a command ends badly: a code, a sentence, a suggestion, and the exit code they amount to.

use std::io;
use std::process::ExitCode;

use nika_contract::{Code, Fault, ToolError, code};
use nika_store::{Broken, StoreError};

use crate::config::ConfigError;
use crate::out;
use crate::render;

/// The tool failed.
pub const FAILED: u8 = 1;
/// The command line, the arguments or the configuration are wrong.
pub const USAGE: u8 = 2;
/// Refused by a mode, a rule or the boundary.
pub const REFUSED: u8 = 3;

/// Interrupted by the person; the number that shells use.
pub const INTERRUPTED: u8 = 130;
/// A confined program could not be started; the number that shells use.
pub const NOT_STARTED: u8 = 127;

/// What ends a command before it could answer.
#[derive(Debug)]
pub enum Failure {
    /// Something to read.
    Error(ToolError),
    /// Whoever read our output went away. Nothing is wrong.
    NobodyListens,
}

/// Codes whose exit code is neither that of a refusal nor that of a tool that failed.
const EXITS: &[(Code, u8)] = &[
    (code::BAD_ARGUMENTS, USAGE),
    (code::UNKNOWN_TOOL, USAGE),
    (code::CANCELLED, INTERRUPTED),
    (code::NO_SUCH_SERVER, USAGE),
    (code::CONFIG_MALFORMED, USAGE),
    (code::RULE_MALFORMED, USAGE),
    (code::BAD_ROOT, USAGE),
    (code::NO_MODEL, USAGE),
    (code::MODEL_KEY_REFUSED, USAGE),
    (code::OUT_OF_TURNS, REFUSED),
    (code::UNKNOWN_SESSION, USAGE),
    (code::SCHEMA_UNUSABLE, USAGE),
    (code::FLOW_UNREADABLE, USAGE),
    (code::FLOW_RULE, USAGE),
    (code::FLOW_FAULTY, USAGE),
    (code::RUN_INPUT, USAGE),
    (code::RUN_SECRET, USAGE),
    (code::RUN_TRACE, USAGE),
    (code::RUN_OTHER, USAGE),
    (code::NOT_STARTED, NOT_STARTED),
];

/// The exit code for a failure with this code.
pub fn exit(code: Code) -> u8 {
    let exit = EXITS.iter().find(|(of, _)| *of == code).map(|(_, exit)| *exit);
    exit.unwrap_or(if code.is_refusal() { REFUSED } else { FAILED })
}

impl Failure {
    /// Wrong use of the command line.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Error(ToolError::new(code::BAD_ARGUMENTS, message))
    }

    /// Says it: to people on stderr, to a program that asked for JSON as the one object on stdout.
    pub fn report(&self, as_json: bool) -> ExitCode {
        match self {
            Failure::NobodyListens => ExitCode::SUCCESS,
            Failure::Error(error) => {
                // An object that nobody reads is said to people instead.
                if !as_json || out::json(&render::error_object(error, None)).is_err() {
                    out::complain(&format!("error: {}", text(error)));
                }
                ExitCode::from(exit(error.code))
            }
        }
    }
}

/// `NIKA-209 message`, the hint on a line of its own.
pub fn text(error: &ToolError) -> String {
    match &error.hint {
        Some(hint) => format!("{} {}\n  hint: {hint}", error.code, error.message),
        None => format!("{} {}", error.code, error.message),
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Failure {
        Failure::Error(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        Failure::Error(error.into())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Error(error.into())
    }
}

impl From<Broken> for Failure {
    fn from(error: Broken) -> Failure {
        Failure::Error(ToolError::new(code::JOURNAL_BROKEN, error.to_string()))
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Error(fault.into())
    }
}

/// For those who answer a call: whoever reads the program's output is nobody to them.
impl From<Failure> for ToolError {
    fn from(failure: Failure) -> ToolError {
        match failure {
            Failure::Error(error) => error,
            Failure::NobodyListens => ToolError::new(code::BUG, "the program's own output was closed"),
        }
    }
}

/// Of our own output and input only: errors of files carry more than this.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::NobodyListens,
            _ => Failure::Error(ToolError::new(code::READ_FAILED, format!("input or output failed: {error}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_says_whose_move_it_is() {
        for (code, wanted) in [
            (code::EDIT_FAILED, FAILED),
            (code::BAD_ARGUMENTS, USAGE),
            (code::NO_SUCH_SERVER, USAGE),
            (code::RUN_INPUT, USAGE),
            (code::PERMISSION_DENIED, REFUSED),
            (code::BUDGET_SPENT, REFUSED),
            (code::RUN_NOT_ALLOWED, REFUSED),
            (code::NOT_CONFINED, REFUSED),
            (code::CANCELLED, INTERRUPTED),
            (code::NOT_STARTED, NOT_STARTED),
        ] {
            assert_eq!(exit(code), wanted, "{code}");
        }
        let twice = EXITS.iter().find(|(code, _)| code.is_refusal());
        assert!(twice.is_none(), "a refusal has its exit code by being one: {twice:?}");
    }
}
