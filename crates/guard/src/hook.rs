//! Commands that a person configured to have a say in calls, and the proof that a person did.
//!
//! A hook runs before there is a permit, so it runs under something else: [`Configured`] names one command
//! line, its fields are private, and nothing a repository brought becomes one until a person trusts it. The
//! host runs what it names and nothing else.

use std::fmt;

use crate::policy::Layer;
use crate::rule::is_tool;

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HookPoint {
    /// Before the call is judged.
    Before,
    /// When it has been done.
    After,
}

impl fmt::Display for HookPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HookPoint::Before => "before",
            HookPoint::After => "after",
        })
    }
}

/// What counts when a hook gives no answer that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnFailure {
    /// The call is refused.
    #[default]
    Deny,
    /// As if there were no hook.
    Allow,
    /// The same, and the model is told.
    Note,
}

impl fmt::Display for OnFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OnFailure::Deny => "deny",
            OnFailure::Allow => "allow",
            OnFailure::Note => "note",
        })
    }
}

/// A command line that a person's configuration names, or that of a repository which they trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configured {
    argv: Vec<String>,
    layer: Layer,
    at: String,
}

impl Configured {
    /// `None` for no command, and for what a repository brought that is not `trusted`.
    pub fn new(argv: Vec<String>, layer: Layer, at: impl Into<String>, trusted: bool) -> Option<Configured> {
        let may_run = trusted || !layer.is_repository();
        (may_run && !argv.is_empty()).then(|| Configured { argv, layer, at: at.into() })
    }

    /// The program and its arguments: at least one word.
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// The program, as written.
    pub fn program(&self) -> &str {
        &self.argv[0]
    }

    /// Who brought it.
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// `file:line`.
    pub fn at(&self) -> &str {
        &self.at
    }
}

/// A hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// When.
    pub point: HookPoint,
    /// For which tool, by its name in any dialect; `None` for every one.
    pub tool: Option<String>,
    /// What runs.
    pub command: Configured,
    /// How long it may take.
    pub timeout_ms: u32,
    /// What counts when it gives no answer.
    pub on_failure: OnFailure,
}

impl Hook {
    /// Whether it has a say in calls of `tool`, canonical.
    pub fn concerns(&self, point: HookPoint, tool: &str) -> bool {
        self.point == point && self.tool.as_deref().is_none_or(|named| is_tool(named, tool))
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.point, self.tool.as_deref().unwrap_or("*"), self.command.argv.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_repository_runs_until_it_is_trusted() {
        let made = |layer, trusted| Configured::new(vec!["x".into()], layer, "f:1", trusted).is_some();
        for (layer, trusted, want) in [
            (Layer::Project, false, false),
            (Layer::Local, false, false),
            (Layer::Project, true, true),
            (Layer::User, false, true),
            (Layer::Managed, false, true),
        ] {
            assert_eq!(made(layer, trusted), want, "{layer}");
        }
        assert!(Configured::new(Vec::new(), Layer::User, "f:1", true).is_none());
    }
}
