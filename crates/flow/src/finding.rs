//! What is wrong with a workflow: a code, words, a place and, where one is known, what would be right.
//!
//! Findings are data; [`show`] makes them text for people, with the line and a caret below it. Whoever prints adds
//! the colour.

use nika_contract::Code;
use nika_contract::text::harmless;

use crate::model::Span;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// The workflow is not run.
    Error,
    /// Something that is decided at run time, or may be meant.
    Note,
}

/// Something to say about a place in the document.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Of the table of codes.
    pub code: Code,
    /// How much it weighs.
    pub weight: Weight,
    /// Names the thing.
    pub message: String,
    /// Where.
    pub at: Span,
    /// What would be right.
    pub suggestion: Option<String>,
}

impl Finding {
    /// A fault.
    pub fn error(code: Code, at: Span, message: impl Into<String>) -> Finding {
        Finding { code, weight: Weight::Error, message: message.into(), at, suggestion: None }
    }

    /// A remark.
    pub fn note(code: Code, at: Span, message: impl Into<String>) -> Finding {
        Finding { weight: Weight::Note, ..Finding::error(code, at, message) }
    }

    /// The same with what would be right.
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Finding {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// The same, with what would be right where it is known.
    pub fn suggest_some(mut self, suggestion: Option<String>) -> Finding {
        self.suggestion = suggestion;
        self
    }

    /// Whether the workflow is not run because of it.
    pub fn is_error(&self) -> bool {
        self.weight == Weight::Error
    }
}

/// Findings in the order of their places, each once.
pub fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|one, two| {
        let key = |f: &Finding| (f.at.line, f.at.column, f.weight, f.code);
        key(one).cmp(&key(two)).then_with(|| one.message.cmp(&two.message))
    });
    findings.dedup();
    findings
}

/// The line that a finding points at and the caret line below it: one string each. Long lines are cut around the place.
pub fn excerpt(text: &str, at: Span) -> (String, String) {
    /// Characters shown of a line: what fits beside a line number on a usual terminal.
    const WIDTH: usize = 110;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let line = text.lines().nth(at.line.saturating_sub(1)).unwrap_or_default();
    let skip = if at.column > WIDTH - 20 { at.column - 40 } else { 0 };
    // A tab counts as one column, so it is shown as one space.
    let shown: String = line.chars().skip(skip).take(WIDTH).map(|c| if c == '\t' { ' ' } else { c }).collect();
    let before = at.column.saturating_sub(1 + skip);
    let left = shown.chars().count().saturating_sub(before).max(1);
    let carets = at.length.clamp(1, left);
    // What could steer a terminal is one character there, too, so that the caret stays below its word.
    let shown: String =
        shown.chars().map(|c| if harmless(c.encode_utf8(&mut [0; 4])).len() > 4 { '�' } else { c }).collect();
    (harmless(&shown).into_owned(), format!("{}{}", " ".repeat(before), "^".repeat(carets)))
}

/// One finding for people: where, what, the line with a caret, and what would be right.
pub fn show(path: &str, text: &str, finding: &Finding) -> String {
    let (line, carets) = excerpt(text, finding.at);
    let number = finding.at.line.to_string();
    let margin = " ".repeat(number.len());
    let weight = match finding.weight {
        Weight::Error => "",
        Weight::Note => "note: ",
    };
    let mut shown = format!(
        "{path}:{}:{}: {} {weight}{}\n{number} | {line}\n{margin} | {carets}\n",
        finding.at.line,
        finding.at.column,
        finding.code,
        harmless(&finding.message),
    );
    if let Some(suggestion) = &finding.suggestion {
        shown.push_str(&format!("{margin} = {}\n", harmless(suggestion)));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_points_at_its_word() {
        let text = "schema: nika/workflow@1\ntaks: []\n";
        let at = Span { line: 2, column: 1, length: 4 };
        let finding =
            Finding::error(nika_contract::code::FLOW_SHAPE, at, "`taks` is not a key here").suggest("`tasks`?");
        assert_eq!(
            show("a.yaml", text, &finding),
            "a.yaml:2:1: NIKA-871 `taks` is not a key here\n2 | taks: []\n  | ^^^^\n  = `tasks`?\n"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}HERE{}", "a".repeat(500), "b".repeat(500));
        let (line, carets) = excerpt(&text, Span { line: 1, column: 501, length: 4 });
        assert_eq!(line.chars().count(), 110);
        let under: String =
            line.chars().zip(carets.chars()).filter(|(_, caret)| *caret == '^').map(|(c, _)| c).collect();
        assert_eq!(under, "HERE");
    }

    #[test]
    fn a_place_past_the_end_is_shown_all_the_same() {
        assert_eq!(excerpt("", Span { line: 9, column: 9, length: 0 }), (String::new(), format!("{}^", " ".repeat(8))));
    }
}
