//! Names and types: what each template of each task names is there, and is what is asked of it.

use std::collections::HashMap;

use nika_contract::code;
use serde_json::Value;

use super::place;
use super::{Surroundings, Type};
use crate::finding::Finding;
use crate::graph;
use crate::model::{
    Answer, Called, Capture, Command, Dynamic, Fetch, FetchRead, Flow, Index, OnError, Step, Task, Template, Verb,
};
use crate::read::meant;
use crate::template::names::{FaultKind, Walked, walk};
use crate::template::{condition_source, is_template, source};

/// Looks at every template. `whole`: no task was lost in reading, so that a missing name is sure.
pub(super) fn check(
    flow: &Flow,
    unbroken: &[Index],
    whole: bool,
    text: &str,
    around: &dyn Surroundings,
) -> Vec<Finding> {
    let mut look = Look {
        flow,
        text,
        around,
        findings: Vec::new(),
        outputs: vec![Type::Unknown; flow.tasks.len()],
        tools: HashMap::new(),
    };
    let mut order = unbroken.to_vec();
    if let Some(layers) = graph::layers(flow) {
        order.sort_by_key(|index| (layers[*index], *index));
    }
    let common = look.common();
    for index in order {
        look.task(index, &common);
    }
    look.results(&common, whole);
    look.findings
}

struct Look<'f> {
    flow: &'f Flow,
    text: &'f str,
    around: &'f dyn Surroundings,
    findings: Vec<Finding>,
    /// What each task makes.
    outputs: Vec<Type>,
    /// What tools make: schemas are read once.
    tools: HashMap<String, Type>,
}

type Names = Vec<(String, Type)>;

impl Look<'_> {
    /// What every template sees.
    fn common(&self) -> Names {
        use crate::model::Kind;
        let of = |kind: Kind| match kind {
            Kind::String => Type::Text,
            Kind::Number => Type::Number,
            Kind::Boolean => Type::Bool,
            // What is given may hold more than the default does.
            Kind::List => Type::List(Box::new(Type::Unknown)),
            Kind::Object => Type::Object { fields: Vec::new(), open: true },
        };
        let closed = |fields: Names| Type::Object { fields, open: false };
        let inputs = self.flow.inputs.iter().map(|input| (input.name.value.clone(), of(input.kind)));
        let texts =
            |names: &[crate::model::At<String>]| names.iter().map(|name| (name.value.clone(), Type::Text)).collect();
        let env = self.flow.permits.as_ref().map(|permits| texts(&permits.env));
        vec![
            ("inputs".to_owned(), closed(inputs.collect())),
            ("secrets".to_owned(), closed(texts(&self.flow.secrets))),
            ("env".to_owned(), env.map_or(Type::Object { fields: Vec::new(), open: true }, closed)),
        ]
    }

    fn task(&mut self, index: Index, common: &Names) {
        let flow = self.flow;
        let task = &flow.tasks[index];
        let mut names = common.clone();
        let mut uses = Names::new();
        for binding in &task.uses {
            let kind = self.binding(task, binding);
            uses.push((binding.name.value.clone(), kind));
        }
        names.push(("use".to_owned(), Type::Object { fields: uses, open: false }));
        if let Some(when) = &task.when {
            self.condition(when, &names);
        }
        if let Some(each) = &task.for_each {
            let items = self.dynamic(&each.items, &names);
            if !matches!(items, Type::List(_) | Type::Unknown) {
                let at = match &each.items {
                    Dynamic::Text(template) => template.at,
                    _ => task.id.at,
                };
                let message = format!("`for_each` walks through a list, and this is {}", items.name());
                let hint = match items {
                    Type::Text => Some("`| lines` or `| split(',')` makes a list of a text".to_owned()),
                    Type::Object { .. } => Some("`| items` makes a list of pairs".to_owned()),
                    _ => None,
                };
                self.findings.push(Finding::error(code::FLOW_TYPE, at, message).suggest_some(hint));
            }
            names.push((each.name.clone(), items.element()));
        }
        let mut made = self.verb(task, &names);
        if task.for_each.is_some() {
            made = Type::List(Box::new(made));
        }
        if let OnError::Value(value) = &task.on_error {
            let instead = self.dynamic(value, &names);
            made = made.or(instead);
        }
        self.outputs[index] = made;
    }

    /// What a `use` stands for.
    fn binding(&mut self, task: &Task, binding: &crate::model::Use) -> Type {
        let flow = self.flow;
        let of = &flow.tasks[binding.task];
        let mut kind = self.outputs[binding.task].clone();
        let mut said = of.id.value.clone();
        for step in &binding.path {
            let (next, fault) = stepped(&kind, step, &said);
            match step {
                Step::Key(key) => said.push_str(&format!(".{key}")),
                Step::Index(place) => said.push_str(&format!("[{place}]")),
            }
            if let (Some((message, hint)), None) = (fault, &binding.default) {
                let message = format!("`use.{}` of `{}`: {message}", binding.name.value, task.id.value);
                self.findings.push(Finding::error(code::FLOW_TYPE, binding.name.at, message).suggest_some(hint));
                return Type::Unknown;
            }
            kind = next;
        }
        match &binding.default {
            Some(default) => kind.or(Type::of(default)),
            None => kind,
        }
    }

    fn condition(&mut self, when: &Template, names: &Names) {
        let source = condition_source(&when.text);
        let walked = walk(&source, names);
        let broken = self.faults(when, &walked);
        if !source.whole && !broken {
            let message = "`when` is a text with a template in it, which is neither true nor false";
            let expression = when.text.replace("{{", "").replace("}}", "");
            let expression = expression.split_whitespace().collect::<Vec<_>>().join(" ");
            let finding = Finding::error(code::FLOW_TYPE, when.at, message);
            self.findings.push(finding.suggest(format!("write the expression alone: when: {expression}")));
        }
    }

    /// Looks at a template, and says of what type its value is.
    fn template(&mut self, template: &Template, names: &Names) -> Type {
        if !is_template(&template.text) {
            return Type::Text;
        }
        let walked = walk(&source(&template.text), names);
        self.faults(template, &walked);
        walked.kind
    }

    fn dynamic(&mut self, dynamic: &Dynamic, names: &Names) -> Type {
        match dynamic {
            Dynamic::Plain(value) => Type::of(value),
            Dynamic::Text(template) => self.template(template, names),
            Dynamic::List(items) => {
                let kinds: Vec<Type> = items.iter().map(|item| self.dynamic(item, names)).collect();
                Type::List(Box::new(kinds.into_iter().reduce(Type::or).unwrap_or(Type::Unknown)))
            }
            Dynamic::Object(entries) => {
                let fields = entries.iter().map(|(name, value)| (name.value.clone(), self.dynamic(value, names)));
                Type::Object { fields: fields.collect(), open: false }
            }
        }
    }

    /// Faults as findings; whether there were any.
    fn faults(&mut self, template: &Template, walked: &Walked) -> bool {
        for fault in &walked.faults {
            let code = match fault.kind {
                FaultKind::Syntax => code::FLOW_TEMPLATE,
                FaultKind::Unknown => code::FLOW_UNKNOWN,
                FaultKind::Type => code::FLOW_TYPE,
                FaultKind::Env => code::FLOW_PERMIT,
            };
            let at = place::inside(self.text, template, fault.at.clone());
            let mut suggestion = fault.suggestion.clone();
            // The usual slips: a task's id for an alias, and `tasks` outside of `outputs`.
            let word = template.text.get(fault.at.clone()).unwrap_or_default();
            if fault.kind == FaultKind::Unknown {
                let id = word.strip_prefix("use.").or_else(|| word.strip_prefix("tasks.")).unwrap_or(word);
                let id = id.split(['.', '[']).next().unwrap_or_default();
                let known = self.flow.tasks.iter().any(|task| task.id.value == id);
                let below = word.starts_with("tasks") || word == id || word.starts_with("use.");
                if word == "tasks" {
                    suggestion = Some(
                        "`tasks` stands in `outputs` only; here, `use: {ALIAS: TASK}` names a task's output".to_owned(),
                    );
                } else if known && below && !suggestion.as_deref().is_some_and(|s| s.starts_with("`use.")) {
                    suggestion = Some(format!("add `use: {{{id}: {id}}}` to this task, and write `use.{id}`"));
                }
            }
            self.findings.push(Finding::error(code, at, fault.message.clone()).suggest_some(suggestion));
        }
        !walked.faults.is_empty()
    }

    /// Looks at a verb's templates; what it makes.
    fn verb(&mut self, task: &Task, names: &Names) -> Type {
        match &task.verb {
            Verb::Infer(infer) => {
                self.template(&infer.prompt, names);
                infer.system.iter().for_each(|template| _ = self.template(template, names));
                self.answer(&infer.answer)
            }
            Verb::Agent(agent) => {
                self.template(&agent.prompt, names);
                agent.system.iter().for_each(|template| _ = self.template(template, names));
                self.answer(&agent.answer)
            }
            Verb::Exec(exec) => {
                if let Command::Words(words) = &exec.command {
                    words.iter().for_each(|word| _ = self.template(word, names));
                }
                exec.cwd.iter().chain(&exec.stdin).for_each(|template| _ = self.template(template, names));
                exec.env.iter().for_each(|(_, template)| _ = self.template(template, names));
                let field = |name: &str, kind| (name.to_owned(), kind);
                match exec.capture {
                    Capture::Stdout | Capture::Stderr | Capture::Combined => Type::Text,
                    Capture::Json => Type::Unknown,
                    Capture::All => Type::Object {
                        fields: vec![
                            field("exit", Type::Number),
                            field("stdout", Type::Text),
                            field("stderr", Type::Text),
                        ],
                        open: false,
                    },
                }
            }
            Verb::Fetch(fetch) => self.fetch(fetch, names),
            Verb::Invoke(invoke) => {
                self.dynamic(&invoke.params, names);
                match &invoke.what {
                    Called::Tool(name) => self.made_by(&name.value),
                    Called::Resource { uri, .. } => {
                        self.template(uri, names);
                        Type::Text
                    }
                    Called::Workflow(path) => self.workflow(path),
                }
            }
        }
    }

    fn fetch(&mut self, fetch: &Fetch, names: &Names) -> Type {
        self.template(&fetch.url, names);
        fetch.headers.iter().for_each(|(_, template)| _ = self.template(template, names));
        fetch.body.iter().for_each(|body| _ = self.dynamic(body, names));
        match fetch.read {
            FetchRead::Text | FetchRead::Markdown => Type::Text,
            FetchRead::Json => Type::Unknown,
            FetchRead::Answer => {
                let field = |name: &str, kind| (name.to_owned(), kind);
                let headers = Type::Object { fields: Vec::new(), open: true };
                Type::Object {
                    fields: vec![
                        field("status", Type::Number),
                        field("headers", headers),
                        field("body", Type::Unknown),
                    ],
                    open: false,
                }
            }
        }
    }

    fn answer(&mut self, answer: &Answer) -> Type {
        match answer {
            Answer::Text => Type::Text,
            Answer::Json => Type::Unknown,
            Answer::Fitting(schema) => {
                let read = match &schema.value {
                    Value::String(path) => match self.around.file(path).map(|text| serde_json::from_str(&text)) {
                        Some(Ok(schema)) => schema,
                        Some(Err(error)) => {
                            let message = format!("the schema file {path} is not JSON: {error}");
                            self.findings.push(Finding::error(code::FLOW_SHAPE, schema.at, message));
                            return Type::Unknown;
                        }
                        None => {
                            let message = format!("there is no schema file {path} below the workspace");
                            self.findings.push(Finding::error(code::FLOW_UNKNOWN, schema.at, message));
                            return Type::Unknown;
                        }
                    },
                    other => other.clone(),
                };
                let unfit =
                    || self.around.unfit(&read).into_iter().map(|why| format!("the schema cannot be used: {why}"));
                let problems = no_schema(&read).map_or_else(|| unfit().collect(), |message| vec![message]);
                for message in problems {
                    self.findings.push(Finding::error(code::FLOW_SHAPE, schema.at, message));
                }
                Type::of_schema(&read, false)
            }
        }
    }

    /// What a tool makes.
    fn made_by(&mut self, tool: &str) -> Type {
        if let Some(known) = self.tools.get(tool) {
            return known.clone();
        }
        let facts = self.around.tool(tool);
        let kind = match facts.and_then(|facts| facts.output) {
            // Ours are written from the types that make the results; others may hold more than their schema says.
            Some(schema) => Type::of_schema(&schema, !tool.starts_with("mcp__")),
            None => Type::Unknown,
        };
        self.tools.insert(tool.to_owned(), kind.clone());
        kind
    }

    /// What another workflow answers with.
    fn workflow(&mut self, path: &crate::model::At<String>) -> Type {
        let Some(text) = self.around.file(&path.value) else { return Type::Unknown };
        match crate::read::read(&text, &path.value) {
            Ok(flow) => {
                let fields = flow.outputs.iter().map(|(name, _)| (name.value.clone(), Type::Unknown)).collect();
                Type::Object { fields, open: false }
            }
            Err(_) => Type::Unknown,
        }
    }

    /// `outputs`.
    fn results(&mut self, common: &Names, whole: bool) {
        let flow = self.flow;
        let tasks: Names =
            flow.tasks.iter().zip(&self.outputs).map(|(task, kind)| (task.id.value.clone(), kind.clone())).collect();
        let mut names = common.clone();
        names.push(("tasks".to_owned(), Type::Object { fields: tasks, open: !whole }));
        for (_, value) in &flow.outputs {
            self.dynamic(value, &names);
        }
    }
}

/// A step into a value of a known type: what is there, and what is wrong with it.
fn stepped(kind: &Type, step: &Step, said: &str) -> (Type, Option<(String, Option<String>)>) {
    match (kind, step) {
        (Type::Unknown, _) => (Type::Unknown, None),
        (Type::Object { fields, open }, Step::Key(key)) => match fields.iter().find(|(name, _)| name == key) {
            Some((_, kind)) => (kind.clone(), None),
            None if *open => (Type::Unknown, None),
            None => {
                let near = meant(key, fields.iter().map(|(name, _)| name.as_str()));
                (Type::Unknown, Some((format!("the output of `{said}` has no `{key}`"), near)))
            }
        },
        (Type::List(of), Step::Index(_)) => ((**of).clone(), None),
        (other, Step::Key(key)) => {
            let hint = match other {
                Type::Text => Some("`capture: json` in `exec` and `read: json` in `fetch` read JSON".to_owned()),
                Type::List(_) => Some("an element is `[0]`".to_owned()),
                _ => None,
            };
            (Type::Unknown, Some((format!("`{said}` is {}, and has no `{key}`", other.name()), hint)))
        }
        (other, Step::Index(place)) => {
            (Type::Unknown, Some((format!("`{said}` is {}, and has no element {place}", other.name()), None)))
        }
    }
}

/// What is wrong with a schema that a document brings.
fn no_schema(schema: &Value) -> Option<String> {
    const TYPES: &[&str] = &["object", "array", "string", "number", "integer", "boolean", "null"];
    let Value::Object(entries) = schema else {
        return Some("a schema is an object with `type`, `properties`, …".to_owned());
    };
    let kinds: Vec<&str> = match entries.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(_) => return Some("`type` of a schema takes a name, or a list of names".to_owned()),
        None => Vec::new(),
    };
    if let Some(unknown) = kinds.iter().find(|kind| !TYPES.contains(kind)) {
        return Some(format!("`{unknown}` is no type of JSON schema; there is {}", TYPES.join(", ")));
    }
    if let Some(properties) = entries.get("properties") {
        let Value::Object(properties) = properties else {
            return Some("`properties` of a schema takes names and schemas".to_owned());
        };
        if let Some(said) = properties.values().filter(|value| !value.is_boolean()).find_map(no_schema) {
            return Some(said);
        }
    }
    match entries.get("items") {
        Some(Value::Bool(_)) | None => None,
        Some(items) => no_schema(items),
    }
}
