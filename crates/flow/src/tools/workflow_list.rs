//! `workflow_list`: the workflows of the repository, and what each takes.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, lenient, text};
use nika_guard::{Effect, Effects};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Filed, Shelf};
use crate::model::{Flow, Input};
use crate::read::read;

/// Lists the repository's workflows (files *.nika.yaml below workflows/, .nika/workflows/ and examples/) with their
/// inputs. workflow_run runs one. A file elsewhere is found with glob.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Words that the name, the path or the description has to hold.
    pub query: Option<String>,
    /// Default 50, at most 200.
    #[serde(default, deserialize_with = "lenient::number")]
    pub limit: Option<u32>,
}

/// The tool.
#[derive(Debug)]
pub struct WorkflowList {
    /// The workflows.
    pub shelf: Arc<dyn Shelf>,
}

const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 200;
/// Characters of a description in the text: one line each.
const LINE_CHARS: usize = 160;

impl Tool for WorkflowList {
    type Params = Params;
    const SPEC: Spec = Spec::new("workflow_list", "List workflows", Group::Flow)
        .read_only()
        .idempotent()
        .terms(&["workflow", "pipeline", "recipe", "automation", "nika.yaml"])
        .examples(EXAMPLES);

    fn effects(&self, _: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        let places = self.shelf.directories()?;
        Ok(places.into_iter().fold(Effects::session(), |effects, place| effects.and(Effect::Read(place.tree()))))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let words: Vec<String> =
            params.query.as_deref().unwrap_or_default().split_whitespace().map(str::to_lowercase).collect();
        let most = params.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT) as usize;
        let mut found = Vec::new();
        for filed in self.shelf.all()? {
            cx.check_cancelled()?;
            let row = Row::of(&filed);
            if words.iter().all(|word| row.says(word)) {
                found.push(row);
            }
        }
        let more = found.len().saturating_sub(most);
        found.truncate(most);
        let mut lines: Vec<String> = found.iter().map(Row::line).collect();
        match (found.is_empty(), words.is_empty()) {
            (true, true) => {
                lines.push("There are no workflows below workflows/, .nika/workflows/ or examples/.".into())
            }
            (true, false) => lines.push("No workflow holds these words; without query all are listed.".into()),
            _ if more > 0 => lines.push(format!("… and {more} more: set limit, or narrow with query.")),
            _ => {}
        }
        let rows: Vec<Value> = found.into_iter().map(|row| row.data).collect();
        let count = rows.len();
        let data = json!({"workflows": rows, "more": more});
        Ok(Output::data(data, lines.join("\n")).with_fact("workflows", count))
    }
}

/// One workflow of the list.
struct Row {
    /// What is searched, in lower case.
    said: String,
    data: Value,
}

impl Row {
    fn of(filed: &Filed) -> Row {
        let data = match read(&filed.text, &filed.path) {
            Ok(flow) => described(&filed.path, &flow),
            // One that cannot be read is there all the same: whoever looks for it hears so.
            Err(findings) => {
                let first = findings.first().map_or_else(String::new, |finding| finding.message.clone());
                json!({"path": filed.path, "problem": text::preview(&text::harmless(&first), LINE_CHARS)})
            }
        };
        let texts = ["name", "path", "description"].map(|key| data[key].as_str().unwrap_or_default());
        Row { said: texts.join("\n").to_lowercase(), data }
    }

    fn says(&self, word: &str) -> bool {
        self.said.contains(word)
    }

    fn line(&self) -> String {
        let of = |key: &str| self.data[key].as_str().unwrap_or_default();
        if let Some(problem) = self.data["problem"].as_str() {
            return format!("{}: cannot be read: {problem}", of("path"));
        }
        let inputs = self.data["inputs"].as_array().map(Vec::as_slice).unwrap_or_default();
        let input = |input: &Value| {
            let mark = if input["required"] == true { "!" } else { "" };
            format!("{}{mark}", input["name"].as_str().unwrap_or_default())
        };
        let mut line = format!("{}: {}", of("path"), of("name"));
        if !inputs.is_empty() {
            line.push_str(&format!(" ({})", inputs.iter().map(input).collect::<Vec<_>>().join(" ")));
        }
        if !of("description").is_empty() {
            line.push_str(&format!(". {}", text::preview(&of("description").replace('\n', " "), LINE_CHARS)));
        }
        line
    }
}

fn described(path: &str, flow: &Flow) -> Value {
    let shown = |text: &str| text::harmless(text).into_owned();
    let input = |input: &Input| {
        json!({
            "name": shown(&input.name.value),
            "type": input.kind.name(),
            "required": input.default.is_none(),
            "default": input.default,
            "description": input.description.as_deref().map(shown),
        })
    };
    json!({
        "name": shown(&flow.name),
        "path": path,
        "description": flow.description.as_deref().map(shown),
        "inputs": flow.inputs.iter().map(input).collect::<Vec<_>>(),
    })
}

const EXAMPLES: &[Example] = &[Example {
    title: "What is there for a release",
    files: &[(
        "workflows/release.nika.yaml",
        "schema: nika/workflow@1\ndescription: Makes a release.\ninputs: {version: {type: string}}\ntasks:\n  - {id: tag, infer: hi}\n",
    )],
    before: &[],
    arguments: r#"{"query": "release"}"#,
    answer: "workflows/release.nika.yaml: release (version!). Makes a release.",
}];
