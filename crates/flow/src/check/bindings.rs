//! Names and types: what each template of each task names is there, and is what is asked of it.

use std::cell::OnceCell;
use std::collections::HashMap;

use nika_contract::code;
use nika_contract::fit::Part;
use serde_json::Value;

use super::nested::{Inner, Nested};
use super::place;
use super::{Type, needs};
use crate::finding::Finding;
use crate::graph;
use crate::model::{
    Answer, Called, Capture, Command, Dynamic, Fetch, FetchRead, Flow, Index, OnError, Step, Task, Template, Verb,
};
use crate::read::meant;
use crate::template::names::{FaultKind, Walked, walk};
use crate::template::{Context, Templates, condition_source, is_template, source};

/// What was found in templates, and what is known of what they make.
pub(super) struct Bound {
    pub findings: Vec<Finding>,
    /// The parameters of each call, as far as they are known; several where a loop makes several of them.
    pub params: HashMap<Index, Vec<Part<'static>>>,
    /// What the workflow answers with.
    pub outputs: Vec<(String, Type)>,
}

/// Looks at every template. `whole`: no task was lost in reading, so that a missing name is sure.
pub(super) fn check(flow: &Flow, unbroken: &[Index], whole: bool, text: &str, nested: &Nested<'_>) -> Bound {
    let mut look = Look {
        flow,
        text,
        nested,
        findings: Vec::new(),
        outputs: vec![Type::Unknown; flow.tasks.len()],
        tools: HashMap::new(),
        params: HashMap::new(),
        engine: OnceCell::new(),
        task: None,
        element: None,
    };
    let mut order = unbroken.to_vec();
    if let Some(layers) = graph::layers(flow) {
        order.sort_by_key(|index| (layers[*index], *index));
    }
    let common = look.common();
    for index in order {
        look.task(index, &common);
    }
    let outputs = look.results(&common, whole);
    Bound { findings: look.findings, params: look.params, outputs }
}

struct Look<'f> {
    flow: &'f Flow,
    text: &'f str,
    nested: &'f Nested<'f>,
    findings: Vec<Finding>,
    /// What each task makes.
    outputs: Vec<Type>,
    /// What tools make: schemas are read once.
    tools: HashMap<String, Type>,
    params: HashMap<Index, Vec<Part<'static>>>,
    /// Works out what names nothing that only the run knows.
    engine: OnceCell<Templates>,
    /// The task that is looked at.
    task: Option<Index>,
    /// The element of its loop, where it is written: its name and value.
    element: Option<(String, Value)>,
}

/// Elements of a written list that are looked at one by one.
const MOST_ELEMENTS: usize = 16;

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
        self.task = Some(index);
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
        let mut made = match self.elements(task) {
            elements if elements.is_empty() => self.once(task, &names),
            elements => {
                let mut made: Option<Type> = None;
                for (name, value) in elements {
                    let last = names.len() - 1;
                    names[last].1 = Type::of(&value);
                    self.element = Some((name, value));
                    let of_this = self.once(task, &names);
                    made = Some(made.map_or(of_this.clone(), |made| made.or(of_this)));
                }
                self.element = None;
                made.unwrap_or(Type::Unknown)
            }
        };
        if task.for_each.is_some() {
            made = Type::List(Box::new(made));
        }
        self.outputs[index] = made;
    }

    /// The elements of a loop over a written list of few, each once.
    fn elements(&self, task: &Task) -> Vec<(String, Value)> {
        let Some(each) = &task.for_each else { return Vec::new() };
        let Dynamic::List(items) = &each.items else { return Vec::new() };
        let values: Option<Vec<Value>> = items.iter().map(needs::literal).collect();
        let mut once: Vec<Value> = Vec::new();
        for value in values.unwrap_or_default() {
            if !once.contains(&value) {
                once.push(value);
            }
            if once.len() > MOST_ELEMENTS {
                return Vec::new();
            }
        }
        once.into_iter().map(|value| (each.name.clone(), value)).collect()
    }

    /// The verb, and what stands for its output where it fails: of one element, in a loop.
    fn once(&mut self, task: &Task, names: &Names) -> Type {
        let made = self.verb(task, names);
        match &task.on_error {
            OnError::Value(value) => {
                let instead = self.dynamic(value, names);
                made.or(instead)
            }
            _ => made,
        }
    }

    /// What a `use` stands for.
    fn binding(&mut self, task: &Task, binding: &crate::model::Use) -> Type {
        let flow = self.flow;
        let of = &flow.tasks[binding.task];
        let mut kind = self.outputs[binding.task].clone();
        let mut said = of.id.value.clone();
        for step in &binding.path {
            let (next, fault) = stepped(&kind, step, &said, |key| as_more(flow, of, key));
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
        } else if !broken && walked.roots.is_empty() {
            let engine = self.engine.get_or_init(Templates::new);
            if let Err(error) = engine.truth(when, &Context::new()) {
                self.findings.push(Finding::error(code::FLOW_TYPE, when.at, error.message));
            }
        }
    }

    /// Looks at a template, and says of what type its value is.
    fn template(&mut self, template: &Template, names: &Names) -> Type {
        match self.made(template, names) {
            (_, Some(value)) => Type::of(&value),
            (kind, None) => kind,
        }
    }

    /// Looks at a template; what it makes, and the value where nothing of it is left to the run.
    fn made(&mut self, template: &Template, names: &Names) -> (Type, Option<Value>) {
        if !is_template(&template.text) {
            return (Type::Text, Some(Value::String(template.text.clone())));
        }
        let walked = walk(&source(&template.text), names);
        let broken = self.faults(template, &walked);
        // Of what cannot be made nothing is known, and one fault is enough.
        if broken {
            return (Type::Unknown, None);
        }
        let known = |root: &String| self.element.as_ref().is_some_and(|(name, _)| name == root);
        if !walked.roots.iter().all(known) {
            return (walked.kind, None);
        }
        let mut context = Context::new();
        if let Some((name, value)) = &self.element {
            context.element(name, value);
        }
        let engine = self.engine.get_or_init(Templates::new);
        match engine.render(&Dynamic::Text(template.clone()), &context) {
            Ok(value) => (walked.kind, Some(value)),
            Err(error) => {
                let message = format!("the template fails whatever the run brings: {}", error.message);
                self.findings.push(Finding::error(code::FLOW_TYPE, template.at, message));
                (Type::Unknown, None)
            }
        }
    }

    /// What is known of a value before the run.
    fn part(&mut self, dynamic: &Dynamic, names: &Names) -> Part<'static> {
        match dynamic {
            Dynamic::Plain(value) => Part::known_as(value.clone()),
            Dynamic::Text(template) => match self.made(template, names) {
                (_, Some(value)) => Part::known_as(value),
                (kind, None) => kind.part(),
            },
            Dynamic::List(items) => Part::List(items.iter().map(|item| self.part(item, names)).collect()),
            Dynamic::Object(entries) => {
                let part =
                    |(name, value): &(crate::model::At<String>, Dynamic)| (name.value.clone(), self.part(value, names));
                Part::Object(entries.iter().map(part).collect())
            }
        }
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
            // A text that is asked for more than a text has: how its task makes more of it.
            if fault.kind == FaultKind::Type && suggestion.as_deref().is_some_and(|said| said.contains("capture: json"))
            {
                let said = fault.message.split('`').nth(1).unwrap_or_default();
                let key = fault.message.rsplit('`').nth(1).unwrap_or_default();
                suggestion = self.used_task(said).and_then(|of| as_more(self.flow, of, key));
            }
            self.findings.push(Finding::error(code, at, fault.message.clone()).suggest_some(suggestion));
        }
        !walked.faults.is_empty()
    }

    /// The task whose output `use.ALIAS…` is, in the task that is looked at.
    fn used_task(&self, path: &str) -> Option<&Task> {
        let alias = path.strip_prefix("use.")?.split(['.', '[']).next()?;
        let used = self.flow.tasks[self.task?].uses.iter().find(|used| used.name.value == alias)?;
        used.path.is_empty().then(|| &self.flow.tasks[used.task])
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
                let part = self.part(&invoke.params, names);
                if let Some(index) = self.task {
                    self.params.entry(index).or_default().push(part);
                }
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
                    Value::String(path) => {
                        match self.nested.around.file(path).map(|text| serde_json::from_str(&text)) {
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
                        }
                    }
                    other => other.clone(),
                };
                let unfit = || {
                    self.nested.around.unfit(&read).into_iter().map(|why| format!("the schema cannot be used: {why}"))
                };
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
        let facts = self.nested.around.tool(nika_guard::names::canonical(tool));
        let kind = match facts.and_then(|facts| facts.output) {
            // Ours are written from the types that make the results; others may hold more than their schema says.
            Some(schema) => {
                let mut kind = Type::of_schema(&schema, !tool.starts_with("mcp__"));
                // The run puts the call's text beside its data.
                if let Type::Object { fields, .. } = &mut kind
                    && fields.iter().all(|(name, _)| name != "text")
                {
                    fields.push(("text".to_owned(), Type::Text));
                }
                kind
            }
            None => Type::Unknown,
        };
        self.tools.insert(tool.to_owned(), kind.clone());
        kind
    }

    /// What another workflow answers with.
    fn workflow(&self, path: &crate::model::At<String>) -> Type {
        match &*self.nested.look(&path.value) {
            Inner::Fine(inner) => Type::Object { fields: inner.outputs.clone(), open: false },
            _ => Type::Unknown,
        }
    }

    /// `outputs`: their types.
    fn results(&mut self, common: &Names, whole: bool) -> Names {
        let flow = self.flow;
        self.task = None;
        let tasks: Names =
            flow.tasks.iter().zip(&self.outputs).map(|(task, kind)| (task.id.value.clone(), kind.clone())).collect();
        let mut names = common.clone();
        names.push(("tasks".to_owned(), Type::Object { fields: tasks, open: !whole }));
        flow.outputs.iter().map(|(name, value)| (name.value.clone(), self.dynamic(value, &names))).collect()
    }
}

/// A step into a value of a known type: what is there, and what is wrong with it.
fn stepped(
    kind: &Type,
    step: &Step,
    said: &str,
    as_more: impl FnOnce(&str) -> Option<String>,
) -> (Type, Option<(String, Option<String>)>) {
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
                Type::Text => as_more(key),
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

/// How the output of a task, which is a text, is made one that has `key`, in the language of its document.
fn as_more(flow: &Flow, of: &Task, key: &str) -> Option<String> {
    let today = flow.version == crate::read::VERSION;
    if let (Verb::Exec(_), true, "exit" | "stdout" | "stderr") = (&of.verb, today, key) {
        let id = &of.id.value;
        return Some(format!("`capture: all` in `exec` of `{id}` makes it `exit`, `stdout` and `stderr`"));
    }
    let key = match (&of.verb, today) {
        (Verb::Infer(_) | Verb::Agent(_), _) | (Verb::Exec(_) | Verb::Fetch(_), false) => "output: {format: json}",
        (Verb::Exec(_), true) => "capture: json",
        (Verb::Fetch(_), true) => "read: json",
        (Verb::Invoke(_), _) => return None,
    };
    let place = match (&of.verb, key) {
        (verb, "capture: json" | "read: json") => format!("in `{}` of `{}`", verb.name(), of.id.value),
        _ => format!("of `{}`", of.id.value),
    };
    Some(format!("`{key}` {place} reads what it answers as JSON"))
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
