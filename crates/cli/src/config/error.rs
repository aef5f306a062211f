//! The ways configuration can be unusable, each with the place that has to be mended.

use std::fmt;

use nika_contract::{ToolError, code};

/// Configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigError {
    /// A file, or a `--set`, does not say what it could: `at` is `file:line:column`.
    Malformed {
        /// Where.
        at: String,
        /// What is wrong there.
        what: String,
        /// What is expected, or what was probably meant.
        hint: Option<String>,
    },
    /// A permission rule does not parse, or its own examples contradict it.
    Rule {
        /// Where.
        at: String,
        /// What is wrong with the rule.
        what: String,
    },
    /// A file that is there and cannot be used.
    Unusable {
        /// Which.
        file: String,
        /// Why.
        why: String,
    },
    /// Flags of the command line that contradict one another.
    Usage(String),
}

impl From<ConfigError> for ToolError {
    fn from(error: ConfigError) -> ToolError {
        match error {
            ConfigError::Malformed { at, what, hint } => {
                let error = ToolError::new(code::CONFIG_MALFORMED, format!("{at}: {what}"));
                match hint {
                    Some(hint) => error.hint(hint),
                    None => error,
                }
            }
            ConfigError::Rule { at, what } => ToolError::new(code::RULE_MALFORMED, format!("{at}: {what}")),
            ConfigError::Unusable { file, why } => ToolError::new(code::CONFIG_MALFORMED, format!("{file}: {why}")),
            ConfigError::Usage(what) => ToolError::new(code::BAD_ARGUMENTS, what),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ToolError::from(self.clone()).fmt(f)
    }
}

impl std::error::Error for ConfigError {}
