//! How a run of an agent ended, and what it brought.

use nika_contract::{ToolError, code};
use serde_json::Value;

use crate::provider::{ModelError, Usage};
use crate::took::Took;

/// What a run brought.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Why it ended.
    pub why: Why,
    /// The model's last words; empty where it had none. They cannot steer a terminal.
    pub answer: String,
    /// The object that was asked for, where one was and the model gave it: data, as the model wrote it.
    pub structured: Option<Value>,
    /// Tokens of this run, those of the agents below it included.
    pub usage: Usage,
    /// What it cost with them in millionths of a US dollar, where prices are known.
    pub cost_micros: Option<u64>,
    /// What of that the agents below it took.
    pub below: Took,
    /// Turns: how often the model was asked to go on.
    pub turns: u32,
    /// Calls that the model made.
    pub calls: u32,
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Why {
    /// The model has said what it wanted.
    Done,
    /// A budget is spent.
    Budget(ToolError),
    /// It has taken all the turns that it may.
    Turns(u32),
    /// Its caller no longer wants it.
    Cancelled,
    /// The same call brought the same answer, again and again.
    Looping {
        /// The tool.
        tool: String,
        /// How often.
        times: u32,
    },
    /// The model did not answer.
    Model(ModelError),
    /// The provider withheld the answer.
    Withheld,
    /// The model ended without the object that was asked for, also when it was told.
    NoObject,
}

impl Why {
    /// In a word, for journals and programs.
    pub fn word(&self) -> &'static str {
        match self {
            Why::Done => "done",
            Why::Budget(_) => "budget",
            Why::Turns(_) => "turns",
            Why::Cancelled => "cancelled",
            Why::Looping { .. } => "looping",
            Why::Model(_) => "model",
            Why::Withheld => "withheld",
            Why::NoObject => "no-object",
        }
    }

    /// The error that it is; none where the work is done.
    pub fn error(&self) -> Option<ToolError> {
        Some(match self {
            Why::Done => return None,
            Why::Budget(error) => error.clone(),
            Why::Turns(most) => {
                let message = format!("the task was not done in {most} turns, which is all that it may take");
                ToolError::new(code::OUT_OF_TURNS, message).hint("go on with the session, or allow more turns")
            }
            Why::Cancelled => ToolError::new(code::CANCELLED, "the run was cancelled"),
            Why::Looping { tool, times } => {
                let message =
                    format!("the model goes in circles: `{tool}` was called {times} times alike, with one answer");
                ToolError::new(code::GOES_IN_CIRCLES, message)
                    .hint("go on with the session and say what to do differently")
            }
            Why::Model(error) => ToolError::new(error.kind.code(), error.message.clone()),
            Why::Withheld => ToolError::new(code::ANSWER_WITHHELD, "the provider withheld the model's answer")
                .hint("word the task differently, or ask another model"),
            Why::NoObject => ToolError::new(
                code::NO_OBJECT,
                "the model ended without the object that was asked for, though it was told",
            )
            .hint("ask another model, or for a simpler object"),
        })
    }
}
