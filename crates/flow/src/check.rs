//! What is wrong with a workflow, before a token or a byte is spent.
//!
//! ```text
//! text ─▶ read ─▶ bindings and types ─▶ effects against permits ─▶ secrets ─▶ parameters ─▶ models, cost ─▶ findings
//! ```
//!
//! All findings at once, in the order of the document. What is not sure is no fault: where only the run can tell, a
//! note says so. [`Surroundings`] is what the check knows of the world: tools, prices, roots. It starts nothing.

mod authority;
mod bindings;
mod cost;
mod models;
mod needs;
mod nested;
mod params;
mod place;
mod secrets;
mod standin;
#[cfg(test)]
mod tests;
mod texts;
mod types;

use std::path::PathBuf;

use nika_contract::{Code, ToolError, code};
use nika_guard::Effects;
use nika_guard::bash::Site;
use serde_json::{Map, Value};

pub use cost::{Ceiling, Prices};
pub use needs::{Need, Want, block};
use nested::Nested;
pub(crate) use types::Type;

use crate::finding::{Finding, sorted};
use crate::model::Flow;
use crate::read::{self, Draft};

/// Codes by which tools refuse arguments for what they are, and not for what is there. Of what a document writes the
/// check finds them; of what a template makes the run says them as data: [`crate::run`].
pub const OF_ARGUMENTS: &[Code] = &[
    code::BAD_ARGUMENTS,
    code::INVALID_GLOB,
    code::INVALID_REGEX,
    code::BAD_PATH,
    code::UNKNOWN_FILE_TYPE,
    code::BAD_URL,
];

/// What is known of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolFacts {
    /// Schema of its arguments.
    pub input: Value,
    /// Schema of its structured result, where it has one.
    pub output: Option<Value>,
}

/// What the check knows of the world around a document.
pub trait Surroundings {
    /// Where commands run, on paper.
    fn site(&self) -> Site;

    /// A tool by its canonical name, or `mcp__SERVER__TOOL`. `None`: there is none, or nobody asked the server.
    fn tool(&self, name: &str) -> Option<ToolFacts>;

    /// Names of the tools that there are, for suggestions; empty where nobody knows.
    fn tools(&self) -> Vec<String>;

    /// What a call with these arguments would do, as the tool itself says. `None` where it cannot say before it runs.
    fn effects(&self, tool: &str, arguments: &Map<String, Value>) -> Option<Effects>;

    /// Why the tool itself does not take these arguments, by a code of [`OF_ARGUMENTS`]; a name in backticks at the
    /// beginning of the message is the parameter's.
    fn refusal(&self, _tool: &str, _arguments: &Map<String, Value>) -> Option<ToolError> {
        None
    }

    /// Why a document may not choose this provider of models; `None` where it may.
    fn provider(&self, _name: &str) -> Option<String> {
        None
    }

    /// What a million tokens cost; `None` where nobody said.
    fn prices(&self, provider: Option<&str>, model: Option<&str>) -> Option<Prices>;

    /// Text of a file below the root: schemas and other workflows. `None` where there is none.
    fn file(&self, path: &str) -> Option<String>;

    /// What is wrong with a schema that an answer has to fit: keywords that nobody holds an answer against.
    fn unfit(&self, _schema: &Value) -> Vec<String> {
        Vec::new()
    }

    /// Why a server's tool is not known, where more is known than that: its server may not be used, or does not start.
    fn missing(&self, _tool: &str) -> Option<String> {
        None
    }

    /// Whether servers were asked for their tools, so that one that is not known is an error: `--strict`.
    fn strict(&self) -> bool {
        false
    }
}

/// A world of which nothing is known but a root: for embedding, and for documents that call no tools.
#[derive(Debug, Clone)]
pub struct Nothing {
    /// The root on paper.
    pub root: PathBuf,
}

impl Surroundings for Nothing {
    fn site(&self) -> Site {
        Site::on_paper(vec![self.root.clone()], self.root.clone(), PathBuf::from("/nonexistent"))
    }

    fn tool(&self, _: &str) -> Option<ToolFacts> {
        None
    }

    fn tools(&self) -> Vec<String> {
        Vec::new()
    }

    fn effects(&self, _: &str, _: &Map<String, Value>) -> Option<Effects> {
        None
    }

    fn prices(&self, _: Option<&str>, _: Option<&str>) -> Option<Prices> {
        None
    }

    fn file(&self, _: &str) -> Option<String> {
        None
    }
}

/// What a check found.
#[derive(Debug)]
pub struct Checked {
    /// The flow, where it could be read.
    pub flow: Option<Flow>,
    /// Faults and notes, by place.
    pub findings: Vec<Finding>,
    /// What its tasks need of `permits`, each once.
    pub needs: Vec<Need>,
    /// What its models can cost.
    pub ceiling: Ceiling,
}

impl Checked {
    /// Whether it may be run.
    pub fn is_clean(&self) -> bool {
        self.flow.is_some() && !self.findings.iter().any(Finding::is_error)
    }
}

/// Checks a document. `path` names it where it does not name itself.
pub fn check(text: &str, path: &str, around: &dyn Surroundings) -> Checked {
    within(text, path, &Nested::new(around)).checked
}

/// What a check found, and what only a workflow that runs this one asks for.
struct Looked {
    checked: Checked,
    /// What its outputs are.
    outputs: Vec<(String, Type)>,
    /// How many workflows stand below one another, itself the first.
    height: usize,
    /// The names on the way to one that runs what runs it.
    circle: Option<Vec<String>>,
}

fn within(text: &str, path: &str, nested: &Nested<'_>) -> Looked {
    let around = nested.around;
    let (draft, mut findings) = read::draft(text, path);
    let Some(draft) = draft else {
        let ceiling = Ceiling::default();
        let checked = Checked { flow: None, findings: sorted(findings), needs: Vec::new(), ceiling };
        return Looked { checked, outputs: Vec::new(), height: 1, circle: None };
    };
    let Draft { flow, broken, whole, permits_at, permits_whole } = draft;
    let unbroken: Vec<usize> = (0..flow.tasks.len()).filter(|index| !broken[*index]).collect();
    nested.below(path, text, || {
        let bound = bindings::check(&flow, &unbroken, whole, text, nested);
        findings.extend(bound.findings);
        let needs = needs::gather(&flow, &unbroken, nested);
        // Of a statement that could not be read in full nobody knows what it lacks.
        let judged = if permits_whole { needs.as_slice() } else { &[] };
        findings.extend(authority::check(&flow, judged, permits_at, around));
        findings.extend(secrets::check(&flow, &unbroken));
        let called = params::check(&flow, &unbroken, &bound.params, nested);
        findings.extend(called.findings);
        findings.extend(models::check(&flow, &unbroken, around));
        let (ceiling, found) = cost::check(&flow, nested);
        findings.extend(found);
        let checked = Checked { flow: Some(flow), findings: sorted(findings), needs, ceiling };
        Looked { checked, outputs: bound.outputs, height: called.height, circle: called.circle }
    })
}
