//! `workflow_run`: one of the repository's workflows, done in a session of its own below the caller's.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code, text};
use nika_guard::{Effect, Effects, Place};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ENDING, Filed, Ran, Shelf};
use crate::read::read;

/// Runs a workflow of the repository and answers with its outputs. workflow_list shows them and what each takes. It does
/// no more than its `permits` state and no more than you may; what you would be asked about, it is asked about.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Its path (workflows/release.nika.yaml), or the name that workflow_list shows.
    pub workflow: String,
    /// Its inputs, by name.
    #[serde(default)]
    pub arguments: Option<Map<String, Value>>,
}

/// What it is called.
pub const NAME: &str = <WorkflowRun as Tool>::SPEC.name;

/// The tool.
#[derive(Debug)]
pub struct WorkflowRun {
    /// The workflows.
    pub shelf: Arc<dyn Shelf>,
}

impl Tool for WorkflowRun {
    type Params = Params;
    const SPEC: Spec = Spec::new("workflow_run", "Run workflow", Group::Flow)
        .open_world()
        .terms(&["workflow", "pipeline", "recipe", "automation", "nika.yaml"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Done>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        let (place, shown) = self.shelf.place(&self.path(&params.workflow)?)?;
        Ok(touches(place, &shown))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let (place, path) = self.shelf.place(&self.path(&params.workflow)?)?;
        // A name may mean another file by now than the one that was judged.
        if touches(place, &path).of(Self::SPEC.name).all != cx.permit.effects().all {
            let message = format!("which workflow '{}' means changed since the call was judged", params.workflow);
            return Err(ToolError::new(code::CHANGED_SINCE_READ, message).hint("run it again"));
        }
        let ran = self.shelf.run(&path, params.arguments.unwrap_or_default(), cx).await?;
        Ok(answer(ran))
    }
}

/// What a run of the workflow there is. What is wrong with a file is said with its lines, so the file is read.
fn touches(place: Place, shown: &str) -> Effects {
    Effects::read(place).and(Effect::Spawn(format!("workflow {shown}")))
}

impl WorkflowRun {
    /// The path that was given, or that of the one workflow of that name.
    fn path(&self, wanted: &str) -> Result<String, ToolError> {
        if wanted.trim().is_empty() {
            return Err(ToolError::argument("workflow", "takes a path or a name"));
        }
        if wanted.ends_with(ENDING) {
            return Ok(wanted.to_owned());
        }
        let all = self.shelf.all()?;
        let named: Vec<&Filed> = all.iter().filter(|filed| is_called(filed, wanted)).collect();
        match named.as_slice() {
            [one] => Ok(one.path.clone()),
            [] => {
                let stems = all.iter().map(|filed| stem(&filed.path).to_owned());
                let near = text::near_names(wanted, stems, 3);
                let all = || "`workflow_list` shows them; a path ends in .nika.yaml".to_owned();
                let hint = text::there_are(&near).unwrap_or_else(all);
                let message = format!("no workflow is called '{}'", text::preview(wanted, 80));
                Err(ToolError::new(code::NOT_FOUND, message).hint(hint))
            }
            several => {
                let paths: Vec<&str> = several.iter().map(|filed| filed.path.as_str()).collect();
                let why = format!("several are called '{wanted}': {}; give the path", paths.join(", "));
                Err(ToolError::argument("workflow", why))
            }
        }
    }
}

fn is_called(filed: &Filed, name: &str) -> bool {
    stem(&filed.path) == name || read(&filed.text, &filed.path).is_ok_and(|flow| flow.name == name)
}

fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.strip_suffix(ENDING).unwrap_or(file)
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    /// Its path.
    workflow: String,
    /// The run, by the name of its trace.
    run: String,
    outputs: Map<String, Value>,
    /// What its models took.
    tokens: u64,
    /// In millionths of a US dollar, where prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_micros: Option<u64>,
}

fn answer(ran: Ran) -> Output {
    let Ran { run, path, outputs, spent } = ran;
    let mut lines = vec![format!("{path} is done. Its trace: {run}.")];
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    lines.extend(outputs.iter().map(|(name, value)| format!("{name}: {}", shown(value))));
    let fact = run.clone();
    let done = Done { workflow: path, run, outputs, tokens: spent.tokens, cost_micros: spent.cost_micros };
    Output::data(serde_json::to_value(&done).unwrap_or_default(), lines.join("\n")).with_fact("run", fact)
}

const EXAMPLES: &[Example] = &[Example {
    title: "A report that the repository has a workflow for",
    files: &[
        ("src/a.rs", "// TODO one\n"),
        (
            "workflows/todo.nika.yaml",
            "schema: nika/workflow@1\ninputs: {word: {type: string}}\npermits: {fs: {read: [\"**\"]}, tools: [grep]}\ntasks:\n  - id: find\n    invoke: {tool: grep, params: {pattern: \"{{ inputs.word }}\", path: src, output_mode: count}}\noutputs: {places: \"{{ tasks.find.text }}\"}\n",
        ),
    ],
    before: &[],
    arguments: r#"{"workflow": "workflows/todo.nika.yaml", "arguments": {"word": "TODO"}}"#,
    answer: "workflows/todo.nika.yaml is done.",
}];
