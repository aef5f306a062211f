//! Named findings: what stands out in a command, each with its page in `docs/reference/findings/`.

use std::ops::Range;

use crate::ExecKind;

/// What a finding says by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Proved harmless.
    Allow,
    /// No opinion: another part of the analysis accounts for it.
    Passthrough,
    /// A person decides.
    Ask,
    /// Refused.
    Deny,
}

/// Which part of the analysis brings a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Size and depth.
    Limit,
    /// Characters and quoting, before any parser.
    Lexical,
    /// One of the eighteen validators, or of the three that run before them.
    Validator,
    /// A command with handling of its own: git commit, jq, sed, find, python, node.
    Special,
    /// Destroys.
    Destructive,
    /// What the words and commands do.
    Effect,
}

/// One row of the table: a page.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The name: lower case, words joined by `_`.
    pub code: &'static str,
    /// Who brings it.
    pub family: Family,
    /// What it raises a command to, unless the place that found it says that it is accounted for.
    pub raises: Option<ExecKind>,
    /// One sentence: when it hits.
    pub when: &'static str,
    /// Why that matters, and what to write instead.
    pub why: &'static str,
    /// A command that has it.
    pub example: &'static str,
}

/// Something that stands out at a place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    /// The row's name.
    pub code: &'static str,
    /// Byte range in the analysed text.
    pub span: Range<usize>,
    /// One sentence about this very place.
    pub why: String,
    /// What it says by itself.
    pub outcome: Outcome,
}

impl Finding {
    /// A finding whose outcome is what its row says.
    pub fn new(code: &'static str, span: Range<usize>, why: impl Into<String>) -> Finding {
        let raises =
            FINDINGS.iter().flat_map(|rows| rows.iter()).find(|row| row.code == code).and_then(|row| row.raises);
        let outcome = match raises {
            None => Outcome::Passthrough,
            Some(ExecKind::Forbidden) => Outcome::Deny,
            Some(ExecKind::ReadOnly) => Outcome::Allow,
            Some(_) => Outcome::Ask,
        };
        Finding { code, span, why: why.into(), outcome }
    }
}

/// Every finding there is, in the groups that own them.
pub const FINDINGS: &[&[Row]] = &[
    super::limits::FINDINGS,
    super::lexical::FINDINGS,
    super::seeds::FINDINGS,
    super::commands::FINDINGS,
    super::commands::FINDINGS_OF_GIT,
    super::commands::destructive::FINDINGS,
    super::danger::FINDINGS,
];
