//! From a task and what is known to what is done: templates are read here, and nowhere later.

use std::time::Duration;

use nika_contract::{ToolError, code};
use serde_json::{Map, Value};

use crate::model::{
    Answer, Called, Capture, Command, Dynamic, Fetch, FetchRead, ModelChoice, Step, Task, Template, Use, Verb,
};

/// What templates know: `inputs`, `use`, `secrets`, `env`, the element of a loop, `tasks`.
pub type Scope = crate::template::Context;

/// Reads templates.
pub trait Render: Send + Sync {
    /// A text.
    fn text(&self, template: &Template, scope: &Scope) -> Result<String, ToolError>;
    /// A value: a text that is one expression and nothing else is that expression's.
    fn value(&self, dynamic: &Dynamic, scope: &Scope) -> Result<Value, ToolError>;
    /// Whether it holds.
    fn truth(&self, template: &Template, scope: &Scope) -> Result<bool, ToolError>;
}

/// What is done, with every template read.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Asks a model.
    Infer {
        /// What is asked.
        prompt: String,
        /// What stands before it.
        system: Option<String>,
        /// Which.
        model: Model,
        /// What the answer has to be.
        answer: Answer,
    },
    /// Runs a program.
    Exec {
        /// The program and its words; empty for a text.
        words: Vec<String>,
        /// A text for bash.
        shell: Option<String>,
        /// Below a root.
        cwd: Option<String>,
        /// Beside what all commands see.
        env: Vec<(String, String)>,
        /// What it reads.
        stdin: Option<String>,
        /// Exit codes that are no failure.
        ok_exit: Vec<i32>,
        /// What of it is the output.
        capture: Capture,
    },
    /// Makes an HTTP request.
    Fetch {
        /// Where.
        url: String,
        /// How.
        method: String,
        /// Sent.
        headers: Vec<(String, String)>,
        /// Sent.
        body: Option<Value>,
        /// What of the answer is the output.
        read: FetchRead,
    },
    /// Calls a tool.
    Tool {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: Map<String, Value>,
    },
    /// Reads a resource of an MCP server.
    Resource {
        /// The server.
        server: String,
        /// Its address there.
        uri: String,
    },
    /// Runs another workflow.
    Workflow {
        /// Its file, below the root.
        path: String,
        /// Its inputs.
        inputs: Map<String, Value>,
    },
    /// Gives a task to an agent.
    Agent {
        /// What it is to do.
        prompt: String,
        /// What stands before it.
        system: Option<String>,
        /// Which model.
        model: Model,
        /// Tools it is given; those that the permits name when nothing is said.
        tools: Option<Vec<String>>,
        /// Turns at most.
        max_turns: u32,
        /// Tokens at most.
        tokens: Option<u64>,
        /// What its answer has to be.
        answer: Answer,
    },
}

/// A provider and a model, where the document names them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Model {
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
}

/// What a task does under `scope`.
pub fn action(task: &Task, default: &ModelChoice, scope: &Scope, render: &dyn Render) -> Result<Action, ToolError> {
    let text = |template: &Template| render.text(template, scope);
    let some = |template: &Option<Template>| template.as_ref().map(text).transpose();
    Ok(match &task.verb {
        Verb::Infer(infer) => Action::Infer {
            prompt: text(&infer.prompt)?,
            system: some(&infer.system)?,
            model: model(&infer.model, default),
            answer: infer.answer.clone(),
        },
        Verb::Exec(exec) => {
            let (words, shell) = match &exec.command {
                Command::Words(words) => (words.iter().map(text).collect::<Result<_, _>>()?, None),
                Command::Shell(shell) => (Vec::new(), Some(shell.value.clone())),
            };
            let env = exec.env.iter().map(|(name, value)| Ok::<_, ToolError>((name.value.clone(), text(value)?)));
            Action::Exec {
                words,
                shell,
                cwd: some(&exec.cwd)?,
                env: env.collect::<Result<_, _>>()?,
                stdin: some(&exec.stdin)?,
                ok_exit: if exec.ok_exit.is_empty() { vec![0] } else { exec.ok_exit.clone() },
                capture: exec.capture,
            }
        }
        Verb::Fetch(fetch) => request(fetch, scope, render)?,
        Verb::Invoke(invoke) => {
            let arguments = match render.value(&invoke.params, scope)? {
                Value::Object(arguments) => arguments,
                Value::Null => Map::new(),
                other => return Err(unfit(&task.id.value, "params", "an object", &other)),
            };
            match &invoke.what {
                Called::Tool(name) => Action::Tool { name: name.value.clone(), arguments },
                Called::Resource { server, uri } => Action::Resource { server: server.value.clone(), uri: text(uri)? },
                Called::Workflow(path) => Action::Workflow { path: path.value.clone(), inputs: arguments },
            }
        }
        Verb::Agent(agent) => Action::Agent {
            prompt: text(&agent.prompt)?,
            system: some(&agent.system)?,
            model: model(&agent.model, default),
            tools: agent.tools.as_ref().map(|tools| tools.iter().map(|tool| tool.value.clone()).collect()),
            max_turns: agent.max_turns,
            tokens: agent.tokens,
            answer: agent.answer.clone(),
        },
    })
}

fn request(fetch: &Fetch, scope: &Scope, render: &dyn Render) -> Result<Action, ToolError> {
    let header = |(name, value): &(crate::model::At<String>, Template)| {
        Ok::<_, ToolError>((name.value.clone(), render.text(value, scope)?))
    };
    Ok(Action::Fetch {
        url: render.text(&fetch.url, scope)?,
        method: fetch.method.clone(),
        headers: fetch.headers.iter().map(header).collect::<Result<_, _>>()?,
        body: fetch.body.as_ref().map(|body| render.value(body, scope)).transpose()?,
        read: fetch.read,
    })
}

/// The task's own choice; a provider that is named brings no model of another one along.
pub(super) fn model(own: &ModelChoice, default: &ModelChoice) -> Model {
    let value = |of: &Option<crate::model::At<String>>| of.as_ref().map(|of| of.value.clone());
    match value(&own.provider) {
        Some(provider) => Model { provider: Some(provider), model: value(&own.model) },
        None => {
            Model { provider: value(&default.provider), model: value(&own.model).or_else(|| value(&default.model)) }
        }
    }
}

/// What a `use` stands for: what its path leads to in the output, else its default.
pub fn used(task: &str, of: &Use, output: Option<&Value>) -> Result<Value, ToolError> {
    let mut at = output;
    for step in &of.path {
        at = at.and_then(|value| match (step, value) {
            (Step::Key(key), Value::Object(fields)) => fields.get(key),
            (Step::Index(index), Value::Array(items)) => items.get(*index),
            _ => None,
        });
    }
    match (at.filter(|value| !value.is_null()), &of.default) {
        (Some(value), _) => Ok(value.clone()),
        (None, Some(default)) => Ok(default.clone()),
        // Null is what stands there, unless the way to it led nowhere.
        (None, None) => at.cloned().ok_or_else(|| {
            let steps: String = of
                .path
                .iter()
                .map(|step| match step {
                    Step::Key(key) => format!(".{key}"),
                    Step::Index(index) => format!("[{index}]"),
                })
                .collect();
            let message = format!("`use.{}` of `{task}` is not there: the output has no `{}`", of.name.value, &steps);
            ToolError::new(code::RUN_DATA, message)
                .hint(format!("write `{}{steps} ?? default`, or look at the output with `nika trace show`", task))
        }),
    }
}

/// The elements of a loop.
pub fn items(task: &str, value: Value) -> Result<Vec<Value>, ToolError> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(unfit(task, "for_each", "a list", &other)),
    }
}

fn unfit(task: &str, key: &str, wanted: &str, found: &Value) -> ToolError {
    let kind = match found {
        Value::Null => "nothing",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    ToolError::new(code::RUN_DATA, format!("`{key}` of `{task}` has to be {wanted}, and is {kind}"))
        .hint("look at the outputs before it with `nika trace show`")
}

/// How a try may take at most, as milliseconds that a tool's argument takes.
pub fn within(timeout: Duration, most_ms: u64) -> u64 {
    u64::try_from(timeout.as_millis()).unwrap_or(most_ms).clamp(1, most_ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::testing::at;
    use serde_json::json;

    fn of(path: Vec<Step>, default: Option<Value>) -> Use {
        Use { name: at("x".to_owned()), task: 0, path, default }
    }

    #[test]
    fn a_use_is_what_its_path_leads_to_or_its_default() {
        let output = json!({"a": [{"b": 1}], "n": null});
        let path = || vec![Step::Key("a".into()), Step::Index(0), Step::Key("b".into())];
        assert_eq!(used("t", &of(path(), None), Some(&output)), Ok(json!(1)));
        assert_eq!(used("t", &of(vec![Step::Key("n".into())], Some(json!(2))), Some(&output)), Ok(json!(2)));
        assert_eq!(used("t", &of(vec![Step::Key("n".into())], None), Some(&output)), Ok(Value::Null));
        assert_eq!(used("t", &of(vec![Step::Key("z".into())], Some(json!("d"))), Some(&output)), Ok(json!("d")));
        assert_eq!(used("t", &of(Vec::new(), Some(json!("d"))), None), Ok(json!("d")));
        let error = used("t", &of(vec![Step::Key("z".into())], None), Some(&output)).expect_err("nothing there");
        assert!(error.message.contains("`use.x`") && error.message.contains(".z"), "{error}");
    }

    #[test]
    fn a_named_provider_brings_no_other_ones_model() {
        let choice = |provider: Option<&str>, model: Option<&str>| ModelChoice {
            provider: provider.map(|text| at(text.to_owned())),
            model: model.map(|text| at(text.to_owned())),
        };
        let default = choice(Some("anthropic"), Some("opus"));
        let said = |own: ModelChoice| {
            let Model { provider, model } = model(&own, &default);
            (provider.unwrap_or_default(), model.unwrap_or_default())
        };
        assert_eq!(said(choice(None, None)), ("anthropic".into(), "opus".into()));
        assert_eq!(said(choice(None, Some("haiku"))), ("anthropic".into(), "haiku".into()));
        assert_eq!(said(choice(Some("ollama"), None)), ("ollama".into(), String::new()));
    }
}
