//! The two ways a call can end badly: an answer for the model, or a fault of ours.

use std::fmt;

use crate::code::{self, Code};

/// What the model reads: a code, one sentence that names the thing, one suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// From the table in [`crate::code`].
    pub code: Code,
    /// One sentence (it may carry an excerpt below it).
    pub message: String,
    /// One suggestion.
    pub hint: Option<String>,
}

impl ToolError {
    /// An error without a suggestion.
    pub fn new(code: Code, message: impl Into<String>) -> ToolError {
        ToolError { code, message: message.into(), hint: None }
    }

    /// The same error with a suggestion.
    pub fn hint(mut self, hint: impl Into<String>) -> ToolError {
        self.hint = Some(hint.into());
        self
    }

    /// Bad arguments: `field` is a path such as `changes[2].path`.
    pub fn argument(field: &str, why: impl fmt::Display) -> ToolError {
        ToolError::new(code::BAD_ARGUMENTS, format!("`{field}`: {why}"))
    }

    /// The call was cancelled.
    pub fn cancelled() -> ToolError {
        ToolError::new(code::CANCELLED, "the call was cancelled")
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.message)?;
        if let Some(hint) = &self.hint {
            let gap = if self.message.contains('\n') { "\n" } else { "; " };
            write!(f, "{gap}{hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ToolError {}

/// A failure of Nika itself that ends the turn: the journal is lost, or there is a bug.
#[derive(Debug, Clone)]
pub struct Fault {
    /// From the table in [`crate::code`].
    pub code: Code,
    /// What failed.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, self.message)
    }
}

impl std::error::Error for Fault {}

/// For callers that answer with it all the same: who asked has nobody above it that could end.
impl From<Fault> for ToolError {
    fn from(fault: Fault) -> ToolError {
        ToolError::new(fault.code, fault.message)
    }
}
