//! `structured_output`: the answer as an object of the shape that the caller wants.

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, Wanted, code};
use nika_guard::Effects;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use nika_contract::fit::{self, Problem};

/// Gives your answer as the object that your caller wants: its fields are the arguments. Call it once, when the
/// work is done; a refused object names every problem.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Params(Map<String, Value>);

/// The tool.
#[derive(Debug)]
pub struct StructuredOutput;

/// Problems that are named; a model mends these and sees the rest.
const MOST_PROBLEMS: usize = 30;

impl Tool for StructuredOutput {
    type Params = Params;
    const SPEC: Spec = Spec::new("structured_output", "Answer as an object", Group::Talk)
        .open_arguments()
        .idempotent()
        .terms(&["structured", "output", "json", "result", "schema", "answer", "return", "final", "deliver", "data"])
        .examples(EXAMPLES);

    fn effects(&self, _: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        Ok(Effects::session())
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let wanted = cx.session.slot::<Wanted>();
        let Some(shape) = wanted.schema() else {
            let why = "nobody asked this session for structured output";
            return Err(ToolError::new(code::NOTHING_WANTED, why).hint("answer in words"));
        };
        // Whoever asked was told already; half a check would be worse than saying it again.
        usable(&shape)?;
        let object = Value::Object(params.0);
        let problems = fit::validate(&shape, &object);
        if problems.is_empty() {
            wanted.answer(object);
            return Ok(Output::text("Taken: this is the answer."));
        }
        Err(unfit(&problems))
    }
}

/// Whether objects can be held against all of `schema`: to be asked when it is given, before any work is done for it.
pub fn usable(schema: &Value) -> Result<(), ToolError> {
    match fit::check(schema).as_slice() {
        [] => Ok(()),
        problems => Err(ToolError::new(code::SCHEMA_UNUSABLE, said("the schema cannot be used", problems))
            .hint("`docs/talk.md` lists the keywords that are checked")),
    }
}

/// Whether a value fits a schema; every problem in words where it does not.
pub fn fits(schema: &Value, value: &Value) -> Result<(), ToolError> {
    usable(schema)?;
    match fit::validate(schema, value).as_slice() {
        [] => Ok(()),
        problems => Err(ToolError::new(code::OUTPUT_UNFIT, said("the value does not fit its schema", problems))),
    }
}

fn unfit(problems: &[Problem]) -> ToolError {
    ToolError::new(code::OUTPUT_UNFIT, said("the object does not fit its schema", problems))
        .hint("call again with the whole object, mended")
}

/// A head line and a line a problem.
fn said(what: &str, problems: &[Problem]) -> String {
    let mut said = match problems.len() {
        1 => format!("{what}:"),
        count => format!("{what}, in {count} places:"),
    };
    for problem in problems.iter().take(MOST_PROBLEMS) {
        said.push_str(&format!("\n  {problem}"));
    }
    if problems.len() > MOST_PROBLEMS {
        said.push_str(&format!("\n  and {} more", problems.len() - MOST_PROBLEMS));
    }
    said
}

const EXAMPLES: &[Example] = &[Example {
    title: "A verdict, for a caller that wants {\"passed\": boolean, \"failures\": [string]}",
    files: &[],
    before: &[],
    arguments: r#"{"passed": false, "failures": ["parse::empty"]}"#,
    answer: "Taken",
}];
