//! The pattern, compiled as ripgrep compiles it, and what to say when it
//! cannot be.

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};
use regex_syntax::{ParserBuilder, ast};

use crate::error::SearchError;
use crate::runs::Quick;

/// How a pattern is to be read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    pub literal: bool,
    pub ignore_case: bool,
    pub multiline: bool,
}

/// Compiles a pattern.
pub(crate) fn compile(pattern: &str, reading: Reading) -> Result<Quick, SearchError> {
    let matcher = compile_regex(pattern, reading)?;
    // Line by line, and with no anchor to where a buffer starts or ends.
    let by_line = matcher.line_terminator() == Some(LineTerminator::byte(b'\n'));
    let hir = match by_line && !reading.literal {
        true => ParserBuilder::new()
            .multi_line(true)
            .utf8(false)
            .case_insensitive(reading.ignore_case)
            .build()
            .parse(pattern)
            .ok(),
        false => None,
    };
    Ok(Quick::new(matcher, hir.as_ref()))
}

fn compile_regex(pattern: &str, reading: Reading) -> Result<RegexMatcher, SearchError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(true)
        .octal(false)
        .fixed_strings(reading.literal)
        .case_insensitive(reading.ignore_case)
        .ban_byte(Some(0));
    match reading.multiline {
        true => builder.dot_matches_new_line(true),
        false => builder.line_terminator(Some(b'\n')).dot_matches_new_line(false),
    };
    builder.build_many(&[pattern]).map_err(|err| explain(pattern, reading, &err))
}

/// Whether text without a candidate can be passed over. Not so where `\A` or
/// `\z` see the ends of ripgrep's buffer, wherever those fall.
pub(crate) fn may_test_whole(matcher: &Quick, pattern: &str, multi: bool) -> bool {
    if multi || matcher.line_terminator() == Some(LineTerminator::byte(b'\n')) {
        return true;
    }
    regex_syntax::parse(pattern).is_ok_and(|hir| !hir.properties().look_set().contains_anchor_haystack())
}

/// Characters of one range that are looked at each: in a longer one there are letters for sure.
const LOOKED_AT: u32 = 64;

/// Whether what the pattern finds may hold letters or signs beyond ASCII. Blanks and digits have some there, too, which
/// hardly any text has, and so have `k` and `s` where case does not count.
pub(crate) fn is_beyond_ascii(pattern: &str, literal: bool) -> bool {
    fn holds(hir: &Hir) -> bool {
        match hir.kind() {
            HirKind::Literal(literal) => !literal.0.is_ascii(),
            HirKind::Class(Class::Unicode(class)) => {
                let common = |c: char| c.is_whitespace() || c.is_numeric() || matches!(c, 'ſ' | '\u{212a}');
                class.iter().filter(|range| !range.end().is_ascii()).any(|range| {
                    let start = range.start().max('\u{80}');
                    range.end() as u32 - start as u32 > LOOKED_AT || (start..=range.end()).any(|c| !common(c))
                })
            }
            HirKind::Class(Class::Bytes(class)) => !class.is_ascii(),
            HirKind::Repetition(repeated) => holds(&repeated.sub),
            HirKind::Capture(group) => holds(&group.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(holds),
            HirKind::Empty | HirKind::Look(_) => false,
        }
    }
    let read = || ParserBuilder::new().utf8(false).build().parse(pattern).ok();
    !pattern.is_ascii() || !literal && read().is_some_and(|hir| holds(&hir))
}

fn explain(pattern: &str, reading: Reading, err: &grep_regex::Error) -> SearchError {
    let broken = |message: String, column, hint| SearchError::InvalidRegex {
        pattern: pattern.to_owned(),
        message,
        column,
        hint,
    };
    if !reading.literal
        && let Err(syntax) = ast::parse::Parser::new().parse(pattern)
    {
        let column = pattern.get(..syntax.span().start.offset).map(|before| before.chars().count() + 1);
        return broken(syntax.kind().to_string(), column, syntax_hint(syntax.kind()));
    }
    match err.kind() {
        ErrorKind::NotAllowed(_) => broken(
            "it contains a line break, and lines are searched one by one".to_owned(),
            None,
            Some("multiline: true"),
        ),
        ErrorKind::Banned(0) => {
            broken("it can only match a NUL byte, and files with NUL bytes are binary".to_owned(), None, None)
        }
        ErrorKind::Regex(message) if message.contains("size limit") => broken(
            format!("compiled it exceeds the size limit ({message})"),
            None,
            Some("fewer or smaller counted repetitions"),
        ),
        _ => broken(err.to_string().lines().last().unwrap_or_default().trim().to_owned(), None, None),
    }
}

/// What would work instead. A pattern that breaks on a bracket or a star was
/// mostly meant as text.
fn syntax_hint(kind: &ast::ErrorKind) -> Option<&'static str> {
    use ast::ErrorKind as K;
    match kind {
        K::UnsupportedLookAround | K::UnsupportedBackreference => {
            Some("a pattern without look-around and backreferences, then a filter on what it finds")
        }
        K::ClassUnclosed
        | K::GroupUnclosed
        | K::GroupUnopened
        | K::GroupNameInvalid
        | K::GroupNameEmpty
        | K::GroupNameUnexpectedEof
        | K::FlagUnrecognized
        | K::RepetitionMissing
        | K::RepetitionCountUnclosed
        | K::RepetitionCountInvalid
        | K::RepetitionCountDecimalEmpty
        | K::DecimalEmpty
        | K::DecimalInvalid
        | K::EscapeUnrecognized
        | K::EscapeUnexpectedEof
        | K::ClassRangeInvalid
        | K::ClassEscapeInvalid
        | K::ClassRangeLiteral => Some("literal: true"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(pattern: &str) -> (String, Option<usize>, Option<&'static str>) {
        match compile(pattern, Reading::default()) {
            Err(SearchError::InvalidRegex { message, column, hint, .. }) => (message, column, hint),
            other => panic!("{pattern:?}: {other:?}"),
        }
    }

    #[test]
    fn a_broken_pattern_says_where_and_what_would_work() {
        assert_eq!(broken("foo(bar"), ("unclosed group".into(), Some(4), Some("literal: true")));
        assert_eq!(broken("é*)").1, Some(3));
        assert_eq!(broken("a\\nb").2, Some("multiline: true"));
        assert!(broken(r"(?=a)").2.is_some_and(|h| h.contains("look-around")));
        assert!(broken(r"(\w{100}){100}{10}").0.contains("size limit"));
    }

    #[test]
    fn what_is_broken_as_a_pattern_is_fine_as_text() {
        let reading = Reading { literal: true, ..Reading::default() };
        assert!(compile("foo(bar", reading).is_ok_and(|m| m.is_match(b"x foo(bar y").unwrap_or(false)));
    }
}
