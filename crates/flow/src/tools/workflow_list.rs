//! `workflow_list`: the workflows of the repository, and what each takes.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, lenient, text};
use nika_guard::{Effect, Effects};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Listed>())
    }

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
        let listed = lines.join("\n").len();
        match (found.is_empty(), words.is_empty()) {
            (true, true) => {
                lines.push("There are no workflows below workflows/, .nika/workflows/ or examples/.".into())
            }
            (true, false) => lines.push("No workflow holds these words; without query all are listed.".into()),
            _ if more > 0 => lines.push(format!("… and {more} more: set `limit`, or narrow with `query`.")),
            _ => {}
        }
        let count = found.len();
        let data = serde_json::to_value(&Listed { workflows: found, more }).unwrap_or_default();
        Ok(Output::data(data, lines.join("\n")).with_ours_from(listed).with_fact("workflows", count))
    }
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    workflows: Vec<Row>,
    /// How many more there are.
    more: usize,
}

/// One workflow of the list.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Row {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<Taken>,
    /// Why it cannot be read, where it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// One input of a workflow.
#[derive(Debug, Serialize, JsonSchema)]
struct Taken {
    name: String,
    r#type: &'static str,
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl Row {
    fn of(filed: &Filed) -> Row {
        match read(&filed.text, &filed.path) {
            Ok(flow) => Row::described(&filed.path, &flow),
            // One that cannot be read is there all the same: whoever looks for it hears so.
            Err(findings) => {
                let first = findings.first().map_or_else(String::new, |finding| finding.message.clone());
                let problem = text::preview(&text::harmless(&first), LINE_CHARS);
                Row { path: filed.path.clone(), problem: Some(problem), ..Row::default() }
            }
        }
    }

    fn described(path: &str, flow: &Flow) -> Row {
        let shown = |text: &str| text::harmless(text).into_owned();
        let taken = |input: &Input| Taken {
            name: shown(&input.name.value),
            r#type: input.kind.name(),
            required: input.default.is_none(),
            default: input.default.clone(),
            description: input.description.as_deref().map(shown),
        };
        Row {
            path: path.to_owned(),
            name: Some(shown(&flow.name)),
            description: flow.description.as_deref().map(shown),
            inputs: flow.inputs.iter().map(taken).collect(),
            problem: None,
        }
    }

    /// Whether its path, name or description holds `word`, which is in lower case.
    fn says(&self, word: &str) -> bool {
        let texts = [Some(&self.path), self.name.as_ref(), self.description.as_ref()];
        texts.into_iter().flatten().any(|text| text.to_lowercase().contains(word))
    }

    fn line(&self) -> String {
        if let Some(problem) = &self.problem {
            return format!("{}: cannot be read: {problem}", self.path);
        }
        let mut line = format!("{}: {}", self.path, self.name.as_deref().unwrap_or_default());
        if !self.inputs.is_empty() {
            let input = |input: &Taken| format!("{}{}", input.name, if input.required { "!" } else { "" });
            line.push_str(&format!(" ({})", self.inputs.iter().map(input).collect::<Vec<_>>().join(" ")));
        }
        if let Some(description) = self.description.as_deref().filter(|said| !said.is_empty()) {
            line.push_str(&format!(". {}", text::preview(&description.replace('\n', " "), LINE_CHARS)));
        }
        line
    }
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
