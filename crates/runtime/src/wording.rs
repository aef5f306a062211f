//! What is said of parameters and tools, in the names that the caller was shown.
//!
//! A tool knows its parameters by one name. What it says of them in errors, below its answers and in its schema is
//! renamed here, on the way out, so that no sentence sends a caller to a parameter that its schema does not have.
//! Only words of ours are touched: not what stands in a file, and not what an error quotes below itself.

use nika_contract::{Block, Output, ToolError};
use serde_json::Value;

use crate::dialect::Dialect;

/// Where the completeness record of a search keeps names of parameters as data.
const WIDEN_WITH: &str = "/completeness/widen_with";

/// How one tool is spoken of in one dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wording<'a> {
    dialect: Dialect,
    tool: &'a str,
    /// Of its arguments, canonical: a parameter may be called as another tool is.
    schema: Option<&'a Value>,
}

impl<'a> Wording<'a> {
    pub(crate) fn new(dialect: Dialect, tool: &'a str, schema: Option<&'a Value>) -> Wording<'a> {
        Wording { dialect, tool, schema }
    }

    /// An error.
    pub(crate) fn error(self, error: ToolError) -> ToolError {
        ToolError { message: self.above_quotes(&error.message), hint: error.hint.map(|hint| self.text(&hint)), ..error }
    }

    /// An answer: what of it is ours.
    pub(crate) fn answer(self, output: &mut Output) {
        if self.dialect == Dialect::Nika {
            return;
        }
        if let Some((block, byte)) = output.ours_from
            && let Some(Block::Text(text)) = output.content.get_mut(block)
            && let Some(ours) = text.get(byte..)
        {
            let ours = self.text(ours);
            text.replace_range(byte.., &ours);
        }
        let names = output.structured.as_mut().and_then(|data| data.pointer_mut(WIDEN_WITH));
        for name in names.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(own) = name.as_str().and_then(|name| self.dialect.parameter(self.tool, name)) {
                *name = own.into();
            }
        }
    }

    /// Descriptions in a schema, at every depth.
    pub(crate) fn schema(self, schema: &mut Value) {
        match schema {
            Value::Object(object) => {
                for (key, value) in object {
                    match value {
                        Value::String(text) if key == "description" => *text = self.text(text),
                        value => self.schema(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.schema(item)),
            _ => {}
        }
    }

    /// A message up to the line that ends in a colon: below that stands what is quoted, as does what is indented.
    fn above_quotes(self, message: &str) -> String {
        let mut told = String::with_capacity(message.len());
        let mut quoting = false;
        for line in message.split_inclusive('\n') {
            if quoting || line.starts_with("  ") {
                told.push_str(line);
            } else {
                told.push_str(&self.text(line));
            }
            quoting |= line.ends_with(":\n");
        }
        told
    }

    /// A sentence of ours. A name stands between backticks, before the value that it is given, in the list of what a tool
    /// takes, or is told from other words by its underscore.
    pub(crate) fn text(self, text: &str) -> String {
        if self.dialect == Dialect::Nika {
            return text.to_owned();
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut told = String::with_capacity(text.len());
        let mut rest = text;
        let mut listed = false;
        while let Some(at) = rest.find(is_word) {
            told.push_str(&rest[..at]);
            rest = &rest[at..];
            let (word, behind) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
            // A parameter may be called as its own tool is: `skill`.
            let is_tool = word == self.tool && behind.starts_with("` takes ");
            let own = match Place::of(told.chars().next_back(), behind, word, listed) {
                _ if is_tool => self.dialect.tool_named(word),
                Place::Value => self.dialect.parameter(self.tool, word),
                Place::Name => self.own(word),
                Place::Sentence => None,
            };
            told.push_str(own.unwrap_or(word));
            listed |= word == "takes" && told.ends_with("` takes") && behind.starts_with(' ');
            rest = behind;
        }
        told.push_str(rest);
        told
    }

    /// What the dialect calls the parameter or the tool of this name, where that is something else.
    fn own(self, word: &str) -> Option<&'a str> {
        if let Some(own) = self.dialect.parameter(self.tool, word) {
            return Some(own);
        }
        let is_ours = self.schema.is_some_and(|schema| schema["properties"].get(word).is_some());
        if is_ours {
            return None;
        }
        Some(self.dialect.tool_named(word)?).filter(|own| *own != word)
    }
}

/// What a word may be by what stands around it.
enum Place {
    /// A parameter that is given a value.
    Value,
    /// A parameter or a tool.
    Name,
    /// A word like others.
    Sentence,
}

impl Place {
    fn of(before: Option<char>, behind: &str, word: &str, listed: bool) -> Place {
        let mut after = behind.chars();
        let (next, second) = (after.next(), after.next());
        let glued = |c: Option<char>| c.is_some_and(|c| matches!(c, '/' | '-' | '\'' | '"' | '$' | '\\'));
        let file = next == Some('.') && second.is_some_and(char::is_alphanumeric);
        match before {
            Some('`') if matches!(next, Some('`' | '.' | '[' | ':' | '=')) => Place::Name,
            Some('`' | '.') => Place::Sentence,
            _ if glued(before) || glued(next) || file => Place::Sentence,
            _ if next == Some('=') && second != Some('=') => Place::Value,
            _ if listed || word.contains('_') => Place::Name,
            _ => Place::Sentence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nika_contract::code;
    use serde_json::json;

    use Dialect::{Claude, Claw, ClawAgent};

    fn told(dialect: Dialect, tool: &str, text: &str) -> String {
        Wording::new(dialect, tool, None).text(text)
    }

    #[test]
    fn an_error_speaks_of_the_names_that_were_shown() {
        let error = || {
            ToolError::new(
                code::BAD_ARGUMENTS,
                "`old_string`: unknown field `x`, expected one of `file_path`, `new_string`",
            )
            .hint("`edit` takes file_path!, old_string!, new_string!, replace_all (! is required)")
        };
        let told = Wording::new(ClawAgent, "edit", None).error(error());
        assert_eq!(told.message, "`old_text`: unknown field `x`, expected one of `path`, `new_text`");
        let hint = "`edit_file` takes path!, old_text!, new_text!, replace_all (! is required)";
        assert_eq!(told.hint.as_deref(), Some(hint));
        assert_eq!(Wording::new(Dialect::Nika, "edit", None).error(error()), error());
    }

    #[test]
    fn what_is_no_name_stays() {
        for (dialect, tool, text) in [
            (ClawAgent, "list_dir", "the limit of title is `a.rs`"),
            (ClawAgent, "grep", "head_limit.rs, src/head_limit and 'head_limit' are the caller's"),
            (ClawAgent, "read", "a limit == 3, read --offset=3"),
            (ClawAgent, "edit", "`path`: read the file"),
        ] {
            assert_eq!(told(dialect, tool, text), text);
        }
    }

    #[test]
    fn a_name_is_known_by_its_form() {
        for (dialect, tool, text, want) in [
            (ClawAgent, "read", "go on with offset=4]", "go on with start_line=4]"),
            (ClawAgent, "read", "`offset` and `limit` choose lines", "`start_line` and `end_line` choose lines"),
            (ClawAgent, "grep", "(raise `head_limit` or use `offset`)", "(raise `max_matches` or use `offset`)"),
            (
                Claude,
                "bash",
                "job_output reads; or dangerously_disable_sandbox",
                "BashOutput reads; or dangerouslyDisableSandbox",
            ),
            (Claw, "bash", "`filesystem_mode: allow-list`", "`filesystemMode: allow-list`"),
            (Claude, "grep", "`list_dir` shows them, `glob` too", "`LS` shows them, `Glob` too"),
        ] {
            assert_eq!(told(dialect, tool, text), want);
        }
    }

    #[test]
    fn a_parameter_is_not_taken_for_the_tool_of_its_name() {
        let schema = json!({"properties": {"glob": {}}});
        let wording = Wording::new(Claude, "grep", Some(&schema));
        assert_eq!(wording.text("`glob`: no glob; `list_dir`"), "`glob`: no glob; `LS`");
        let schema = json!({"properties": {"skill": {}}});
        let wording = Wording::new(Claude, "skill", Some(&schema));
        assert_eq!(
            wording.text("`skill`: none; `skill` takes skill!, args"),
            "`skill`: none; `Skill` takes skill!, args"
        );
    }

    #[test]
    fn what_an_error_quotes_and_what_a_file_says_stays() {
        let message =
            "old_string is not in the file\n  sent: old_string\nsend this as old_string:\n`old_string`\noffset=1";
        let told = Wording::new(ClawAgent, "edit", None).error(ToolError::new(code::EDIT_FAILED, message));
        let want = "old_text is not in the file\n  sent: old_string\nsend this as old_text:\n`old_string`\noffset=1";
        assert_eq!(told.message, want);
        let file = "     1\tgo on with offset=4\n";
        let mut output = Output::text(format!("{file}[line 1 of 9; go on with offset=2]")).with_ours_from(file.len());
        output.structured = Some(json!({"completeness": {"widen_with": ["offset", "hidden"]}}));
        Wording::new(ClawAgent, "read", None).answer(&mut output);
        assert_eq!(output.joined_text(), format!("{file}[line 1 of 9; go on with start_line=2]"));
        assert_eq!(output.structured, Some(json!({"completeness": {"widen_with": ["start_line", "hidden"]}})));
    }
}
