//! `nika agent` and `nika sessions`, as data.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Format, Standing, Where};
use crate::ask::Ready;

/// How a run is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Report {
    /// For people: what happens on stderr, the answer on stdout.
    #[default]
    Text,
    /// One JSON object when the run has ended.
    Json,
    /// A JSON object a line while it runs; the last is the object of `json`.
    StreamJson,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done; 1 the model, the network or a tool of ours failed; 2 wrong usage or configuration; \
3 refused, or a budget or all turns are spent; 130 interrupted. An interrupted run goes on with `--resume`.")]
pub struct Agent {
    /// What to do; a lone `-` reads it from stdin. With `--resume` it may be left out: the run goes on where it
    /// was interrupted.
    pub task: Option<String>,
    /// Who serves the model: anthropic, openai, openai-chat, gemini, mistral, groq, deepseek, ollama,
    /// scripted, an http address, or a name under `providers` in the configuration. Default: `agent.provider`, else the first
    /// whose key is set.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub provider: Option<String>,
    /// The model, as its provider names it; for `scripted` the file of the script.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub model: Option<String>,
    /// Give the model bash, read and edit alone (also: NIKA_SIMPLE=1).
    #[arg(long, help_heading = "Model")]
    pub simple: bool,
    /// Ask the model at most so many times.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Bounds")]
    pub max_turns: Option<u32>,
    /// Stop when so many US dollars are spent, by the prices that are known for the model.
    #[arg(long, value_name = "USD", value_parser = dollars, help_heading = "Bounds")]
    pub max_cost: Option<u64>,
    /// Go on with this session.
    #[arg(long, value_name = "SESSION", conflicts_with = "fork", help_heading = "Session")]
    pub resume: Option<String>,
    /// Begin a new session with this one's conversation.
    #[arg(long, value_name = "SESSION", help_heading = "Session")]
    pub fork: Option<String>,
    /// Answer what is asked of a person (repeatable, each used once, in their order): a text, or an object
    /// `{"question": PIECE, "question_id": NAME, "match": "exact" | "contains", "answer": TEXT, "consume": true | false}`. Permissions
    /// are not answered so.
    #[arg(long = "answer", value_name = "TEXT", help_heading = "Questions")]
    pub answers: Vec<Ready>,
    /// Answer with one JSON object that fits this JSON schema, and print just that.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub schema: Option<PathBuf>,
    /// Print text, one JSON object, or a JSON object a line while it runs.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub output: Report,
    #[command(flatten)]
    pub place: Where,
    #[command(flatten)]
    pub standing: Standing,
}

/// US dollars as millionths.
fn dollars(text: &str) -> Result<u64, String> {
    match text.parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars > 0.0 => Ok((dollars * 1e6).round() as u64),
        _ => Err("an amount of US dollars above 0, such as 0.50".to_owned()),
    }
}

#[derive(Debug, Args)]
pub struct Sessions {
    /// List the conversations of agents that worked for others, too: they can be copied, and not gone on with.
    #[arg(long)]
    pub agents: bool,
    /// Print text, or one JSON array.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    #[command(flatten)]
    pub place: Where,
}
