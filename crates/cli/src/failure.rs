//! How a command ends badly: a code, a sentence, a suggestion, and the exit code they amount to.

use std::io;
use std::process::ExitCode;

use nika_contract::{Code, Fault, ToolError, code};
use nika_store::{Broken, StoreError};

use crate::config::ConfigError;
use crate::out;

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

/// Codes whose exit code is not that of a tool that failed.
const EXITS: &[(Code, u8)] = &[
    (code::BAD_ARGUMENTS, USAGE),
    (code::UNKNOWN_TOOL, USAGE),
    (code::TOOL_REMOVED, REFUSED),
    (code::BUDGET_SPENT, REFUSED),
    (code::HOOK_REFUSED, REFUSED),
    (code::OUT_OF_BOUNDS, REFUSED),
    (code::PERMISSION_DENIED, REFUSED),
    (code::CONFIG_MALFORMED, USAGE),
    (code::RULE_MALFORMED, USAGE),
    (code::BAD_ROOT, USAGE),
    (code::NO_MODEL, USAGE),
    (code::UNKNOWN_SESSION, USAGE),
    (code::SCHEMA_UNUSABLE, USAGE),
    (code::NOT_CONFINED, REFUSED),
    (code::FLOW_FAULTY, USAGE),
    (code::RUN_INPUT, USAGE),
    (code::RUN_SECRET, USAGE),
    (code::RUN_NOT_ALLOWED, REFUSED),
    (code::RUN_LIMIT, REFUSED),
    (code::RUN_TRACE, USAGE),
    (code::RUN_OTHER, USAGE),
    (code::NOT_STARTED, NOT_STARTED),
];

/// The exit code for a failure with this code.
pub fn exit(code: Code) -> u8 {
    EXITS.iter().find(|(of, _)| *of == code).map_or(FAILED, |(_, exit)| *exit)
}

impl Failure {
    /// Wrong use of the command line.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Error(ToolError::new(code::BAD_ARGUMENTS, message))
    }

    /// Says it on stderr.
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::NobodyListens => ExitCode::SUCCESS,
            Failure::Error(error) => {
                out::complain(&format!("error: {}", text(error)));
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
        Failure::Error(ToolError::new(fault.code, fault.message))
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
