//! What a tool answers.

use serde_json::Value;

use crate::code::Code;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Text for the model.
    Text(String),
    /// A picture.
    Image {
        /// `image/png` and the like.
        mime: &'static str,
        /// The encoded file.
        data: Vec<u8>,
    },
    /// Audio; only test fixtures speak.
    Audio {
        /// `audio/wav` and the like.
        mime: &'static str,
        /// The encoded file.
        data: Vec<u8>,
    },
    /// A pointer to something that can be read: the whole of an output that was cut.
    Link {
        /// `file:///…`
        uri: String,
        /// What to call it.
        name: String,
        /// Size in bytes.
        bytes: u64,
    },
    /// A resource carried in the answer.
    Resource {
        /// Its URI.
        uri: String,
        /// Its type.
        mime: String,
        /// Its text.
        text: String,
    },
}

/// A whole answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// In the order the model reads it.
    pub content: Vec<Block>,
    /// Where the result is data: the data itself, with all that the text says. Where the answer is its text
    /// ([`crate::Spec::text`]): what programs have of it as data; clients over MCP have the text alone.
    pub structured: Option<Value>,
    /// The answer as data, for a workflow that made the call: what the text says to a model, unmarked and uncut. No
    /// model is shown it.
    pub raw: Option<Value>,
    /// What changed, as a unified diff, for people and front ends.
    pub diff: Option<String>,
    /// Facts for the journal beside the call: sizes, hashes, counts.
    pub facts: Vec<(&'static str, Value)>,
    /// Whether it only shows what the tool would do: the journal then has no event of the tool's own for it.
    pub only_shown: bool,
    /// What was done ended badly, and this answer says how: a command that failed. The call itself was made.
    pub failed: Option<Code>,
    /// Where words of ours begin, as a block of the content and a byte of its text. They speak of parameters and tools,
    /// and reach the caller in the names that it was shown; what stands before them is a file's or a command's and is
    /// never touched.
    pub ours_from: Option<(usize, usize)>,
    /// Characters of text that the caller wants at most, where that is less than the answer may have.
    pub most_chars: Option<usize>,
}

impl Output {
    /// An answer of text.
    pub fn text(text: impl Into<String>) -> Output {
        Output { content: vec![Block::Text(text.into())], ..Output::default() }
    }

    /// An answer of data, with the text a model reads beside it.
    pub fn data(structured: Value, text: impl Into<String>) -> Output {
        Output { structured: Some(structured), ..Output::text(text) }
    }

    /// The same answer with a diff for people.
    pub fn with_diff(mut self, diff: impl Into<String>) -> Output {
        self.diff = Some(diff.into());
        self
    }

    /// The same answer with itself as data, for a workflow.
    pub fn with_raw(mut self, raw: Value) -> Output {
        self.raw = Some(raw);
        self
    }

    /// The same answer with a fact for the journal.
    pub fn with_fact(mut self, name: &'static str, value: impl Into<Value>) -> Output {
        self.facts.push((name, value.into()));
        self
    }

    /// The same answer, to a call that only shows what it would do if `dry_run`.
    pub fn only_shown(mut self, dry_run: bool) -> Output {
        self.only_shown = dry_run;
        self
    }

    /// The same answer, of whose last text what stands from this byte on is ours.
    pub fn with_ours_from(mut self, byte: usize) -> Output {
        let last = self.content.iter().rposition(|block| matches!(block, Block::Text(_)));
        self.ours_from = last.map(|block| (block, byte));
        self
    }

    /// The same answer in at most so many characters.
    pub fn within(mut self, most_chars: Option<u32>) -> Output {
        self.most_chars = most_chars.map(|chars| usize::try_from(chars).unwrap_or(usize::MAX));
        self
    }

    /// All text blocks, joined.
    pub fn joined_text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}
