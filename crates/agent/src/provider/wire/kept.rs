//! The form in which thinking rests in a transcript until its provider is asked again.
//!
//! A form of our own, not the library's: a transcript is read again after the library has changed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::Part;

/// One thing that its provider wants back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub(super) enum Kept {
    /// A signature; the text that it signs follows, where there is any.
    Signature {
        /// Exactly as it came.
        text: String,
    },
    /// Thinking in words.
    Text {
        /// Exactly as it came.
        text: String,
    },
    /// A block that came whole and goes back whole.
    Block {
        /// Exactly as it came.
        data: Value,
    },
    /// Signatures that came with one call and go back with it.
    OfCall {
        /// The call's name.
        call: String,
        /// Exactly as they came.
        signatures: Vec<String>,
    },
}

impl Kept {
    /// As a part of the answer.
    pub fn part(&self, provider: &str) -> Part {
        let value = serde_json::to_value(self).expect("strings and JSON always become JSON");
        Part::Kept { provider: provider.to_owned(), value }
    }

    /// From a part; `None` for what another version wrote and this one does not know.
    pub fn read(value: &Value) -> Option<Kept> {
        Kept::deserialize(value).ok()
    }
}
