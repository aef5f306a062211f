//! The two tools that make the rest of the surface reachable: `tool_search` and `call`.
//!
//! `tool_search` answers with schemas. `call` is for clients that call only what is listed; the pipeline
//! takes it apart before anything is judged, so the inner tool is judged and logged as itself.

use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code};
use nika_guard::Effects;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::dialect::canonical;
use crate::finder::Finder;
use crate::listing::Listed;

/// Runs any Nika tool by its name, also one that is not listed here. Find it with tool_search first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallParams {
    /// Tool name, such as "list_dir".
    pub tool: String,
    /// Arguments, as the tool's schema has them.
    #[expect(dead_code, reason = "`begin` takes calls apart; this is their schema")]
    pub arguments: Map<String, Value>,
}

/// The gateway. Its calls are taken apart in `lookup`.
#[derive(Debug)]
pub(crate) struct Call;

impl Tool for Call {
    type Params = CallParams;
    const SPEC: Spec = Spec::new("call", "Call a tool", Group::Search)
        .eager()
        .destructive()
        .terms(&["gateway", "deferred", "unlisted", "loaded", "invoke", "not in the list", "name"])
        .examples(CALL_EXAMPLES);

    fn effects(&self, params: &CallParams, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Err(ToolError::new(code::BUG, format!("`call` of {} was not taken apart", params.tool)))
    }

    async fn run(&self, params: CallParams, _: &Cx<'_>) -> Result<Output, ToolError> {
        Err(ToolError::new(code::BUG, format!("`call` of {} was not taken apart", params.tool)))
    }
}

const CALL_EXAMPLES: &[Example] = &[Example {
    title: "A deferred tool through the gateway",
    files: &[("src/main.rs", "fn main() {}\n")],
    before: &[],
    arguments: r#"{"tool": "list_dir", "arguments": {"path": "src"}}"#,
    answer: "main.rs",
}];

/// Finds more tools and shows their schemas. Deferred here: list_dir, change_set (many files at once),
/// notebook_edit, undo, checkpoints, ask_user_question, skill, plan mode.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchParams {
    /// What you want to do, in a few words; or "select:name,name" for tools by name.
    pub query: String,
    /// At most this many. Default 5.
    pub max_results: Option<u32>,
}

/// How many tools an answer shows.
const MAX_RESULTS: u32 = 5;

/// What `tool_search` looks through; stocked when it is called, as the tool is part of it.
#[derive(Debug, Default)]
pub(crate) struct Shelf(Mutex<Option<(u64, Arc<Stock>)>>);

/// Schemas, and an index over them.
type Stock = (Vec<Listed>, Finder);

impl Shelf {
    /// Stocks it anew where what lies there is of another version of the tools.
    pub(crate) fn stock(&self, version: u64, make: impl FnOnce() -> Stock) {
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shelf.as_ref().is_none_or(|(known, _)| *known != version) {
            *shelf = Some((version, Arc::new(make())));
        }
    }

    fn look(&self) -> Option<Arc<Stock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(_, stock)| Arc::clone(stock))
    }
}

/// The search.
#[derive(Debug)]
pub(crate) struct ToolSearch {
    pub shelf: Arc<Shelf>,
}

/// The names whose schemas an answer showed, for the session to load.
#[derive(Debug, Default)]
pub(crate) struct Shown(pub std::sync::Mutex<Vec<&'static str>>);

impl Tool for ToolSearch {
    type Params = SearchParams;
    const SPEC: Spec = Spec::new("tool_search", "Find tools", Group::Search)
        .eager()
        .read_only()
        .terms(&[
            "discover",
            "schema",
            "functions",
            "available",
            "capabilities",
            "which tool",
            "functions exist",
            "right tool",
        ])
        .examples(EXAMPLES);

    fn effects(&self, _: &SearchParams, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(Effects::session())
    }

    async fn run(&self, params: SearchParams, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let Some(stock) = self.shelf.look() else {
            return Err(ToolError::new(code::BUG, "the catalog is not there yet"));
        };
        let (tools, finder) = stock.as_ref();
        let most = params.max_results.unwrap_or(MAX_RESULTS).clamp(1, 50) as usize;
        let (found, missing) = match params.query.trim().strip_prefix("select:") {
            Some(names) => select(tools, names),
            None => {
                let names = finder.search(&params.query);
                let found = names.iter().filter_map(|name| tools.iter().find(|tool| tool.canonical == *name));
                (found.take(most).collect(), Vec::new())
            }
        };
        let shown = cx.session.slot::<Shown>();
        *shown.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
            found.iter().map(|tool| tool.canonical).collect();
        let schemas: Vec<String> = found
            .iter()
            .map(|tool| {
                json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema})
                    .to_string()
            })
            .collect();
        let mut text = schemas.join("\n");
        if found.is_empty() && missing.is_empty() {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            text = format!("No tool fits '{}'. There are: {}.", params.query, names.join(", "));
        }
        if !missing.is_empty() {
            text.push_str(&format!(
                "{}No tool is called {}.",
                if text.is_empty() { "" } else { "\n" },
                missing.join(", ")
            ));
        }
        Ok(Output::text(text).with_fact("found", found.len()))
    }
}

fn select<'a>(tools: &'a [Listed], names: &str) -> (Vec<&'a Listed>, Vec<String>) {
    let mut found: Vec<&Listed> = Vec::new();
    let mut missing = Vec::new();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match tools.iter().find(|tool| tool.canonical == canonical(name)) {
            Some(tool) if !found.iter().any(|seen| seen.canonical == tool.canonical) => found.push(tool),
            Some(_) => {}
            None => missing.push(name.to_owned()),
        }
    }
    (found, missing)
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "By what it does",
        files: &[],
        before: &[],
        arguments: r#"{"query": "take back my last change"}"#,
        answer: "Takes back what one call",
    },
    Example {
        title: "By name",
        files: &[],
        before: &[],
        arguments: r#"{"query": "select:change_set"}"#,
        answer: "\"changes\"",
    },
];
