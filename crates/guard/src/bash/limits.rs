//! How much text is looked at. Above a limit a command is never allowed unseen. Too long a text is not read
//! at all; one that is only too deep or too full is still analysed as far as it can be read.

use crate::ExecKind;

use super::finding::{Family, Finding, Row};

/// Most bytes of one command: longer than anything a person reads before saying yes.
pub(super) const BYTES: usize = 64 * 1024;

/// Deepest nesting. Hand-written scripts stay below ten; the reader recurses once a level.
pub(super) const DEPTH: usize = 64;

/// Deepest nesting that the second reader is shown: it recurses without a bound of its own.
pub(super) const SHOWN_DEPTH: usize = 256;

/// Most simple commands in one script.
pub(super) const COMMANDS: usize = 256;

/// Simple commands after which the analysis stops: what follows is not known.
pub(super) const WALKED: usize = 4 * COMMANDS;

/// The rows.
pub(super) const FINDINGS: &[Row] = &[
    Row {
        code: "too_long",
        family: Family::Limit,
        raises: Some(ExecKind::Misparse),
        when: "The command is longer than 64 KiB.",
        why: "Nobody reads that much before saying yes, and length hides a tail. Put the script into a file and run that.",
        example: "echo aaaa… (64 KiB and more)",
    },
    Row {
        code: "too_deep",
        family: Family::Limit,
        raises: Some(ExecKind::Opaque),
        when: "Brackets, substitutions or compound commands are nested deeper than 64 levels.",
        why: "Such depth exists to exhaust a reader. Write it flat.",
        example: "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1",
    },
    Row {
        code: "too_many_commands",
        family: Family::Limit,
        raises: Some(ExecKind::Opaque),
        when: "The script has more than 256 simple commands.",
        why: "A list this long is no longer a command that a person can judge; behind 1024 nothing is analysed. Use a file.",
        example: "true && true && … (257 times)",
    },
];

/// What the text alone exceeds.
pub(super) fn check(text: &str) -> Vec<Finding> {
    let mut out = Vec::new();
    if text.len() > BYTES {
        let why = format!("{} bytes; the limit is {BYTES}", text.len());
        out.push(Finding::new("too_long", 0..text.len(), why));
    }
    let (deepest, at) = deepest(text);
    if deepest > DEPTH {
        out.push(Finding::new("too_deep", at..at + 1, format!("{deepest} levels; the limit is {DEPTH}")));
    }
    out
}

/// How deep brackets are nested, whatever quotes them, and where first.
pub(super) fn deepest(text: &str) -> (usize, usize) {
    let (mut depth, mut deepest, mut at) = (0usize, 0usize, 0usize);
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > deepest {
            (deepest, at) = (depth, index);
        }
    }
    (deepest, at)
}

/// The finding for a script with `count` simple commands, if that is too many.
pub(super) fn commands(count: usize, len: usize) -> Option<Finding> {
    (count > COMMANDS)
        .then(|| Finding::new("too_many_commands", 0..len, format!("{count} simple commands; the limit is {COMMANDS}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hit_just_above_their_number() {
        let codes = |text: &str| check(text).iter().map(|finding| finding.code).collect::<Vec<_>>();
        assert!(codes(&"a".repeat(BYTES)).is_empty());
        assert_eq!(codes(&"a".repeat(BYTES + 1)), ["too_long"]);
        assert!(codes(&"(".repeat(DEPTH)).is_empty());
        assert_eq!(codes(&"{".repeat(DEPTH + 1)), ["too_deep"]);
        assert!(codes(&"[]".repeat(500)).is_empty());
        assert!(commands(COMMANDS, 1).is_none() && commands(COMMANDS + 1, 1).is_some());
    }
}
