//! Mutants that pass the check, played through: every template of every task is made something of, with all that the
//! document promises in place and outputs of the types that its verbs make. What goes wrong then is data, never the form.

use std::collections::BTreeMap;

use nika_flow::check;
use nika_flow::graph::layers;
use nika_flow::model::{
    Answer, Called, Capture, Command, Dynamic, FetchRead, Flow, Kind, OnError, Step, Task, Template, Verb,
};
use nika_flow::{Context, DataError, DataKind, Templates};
use serde_json::{Value, json};

use crate::documents::GOOD;
use crate::mutants::{MUTANTS, mutant};
use crate::world::Paper;

/// What a run would do, without doing it.
struct Play<'f> {
    flow: &'f Flow,
    templates: Templates,
    outputs: BTreeMap<usize, Value>,
    errors: Vec<DataError>,
    /// Templates that were made something of.
    made: usize,
}

impl Play<'_> {
    fn through(flow: &Flow) -> Play<'_> {
        let mut play =
            Play { flow, templates: Templates::new(), outputs: BTreeMap::new(), errors: Vec::new(), made: 0 };
        let layers = layers(flow).expect("what passed has no circles");
        let mut order: Vec<usize> = (0..flow.tasks.len()).collect();
        order.sort_by_key(|task| layers[*task]);
        for task in order {
            play.task(task);
        }
        let mut context = play.common();
        context.root("tasks");
        for (task, output) in &play.outputs {
            context.put("tasks", &flow.tasks[*task].id.value, output);
        }
        for (_, value) in &flow.outputs {
            play.value(value, &context);
        }
        play
    }

    fn common(&self) -> Context {
        let mut context = Context::new();
        for root in ["inputs", "secrets", "env", "use"] {
            context.root(root);
        }
        for input in &self.flow.inputs {
            let of_kind = match input.kind {
                Kind::String => json!("given"),
                Kind::Number => json!(2),
                Kind::Boolean => json!(true),
                Kind::List => json!(["one", "two"]),
                Kind::Object => json!({"a": 1}),
            };
            context.put("inputs", &input.name.value, input.default.as_ref().unwrap_or(&of_kind));
        }
        self.flow.secrets.iter().for_each(|name| context.put("secrets", &name.value, &json!("s3cret")));
        let env = self.flow.permits.iter().flat_map(|permits| &permits.env);
        env.for_each(|name| context.put("env", &name.value, &json!("C")));
        context
    }

    fn task(&mut self, index: usize) {
        let flow = self.flow;
        let task = &flow.tasks[index];
        let mut context = self.common();
        for binding in &task.uses {
            let mut value = self.outputs.get(&binding.task);
            for step in &binding.path {
                value = value.and_then(|value| match step {
                    Step::Key(key) => value.get(key),
                    Step::Index(index) => value.get(index),
                });
            }
            // Where the path leads nowhere is data: the run says so, and this task is not begun.
            let Some(value) = value.or(binding.default.as_ref()).cloned() else { return };
            context.put("use", &binding.name.value, &value);
        }
        if let Some(when) = &task.when {
            self.made += 1;
            let held = self.templates.truth(when, &context);
            self.keep(held.err());
        }
        let output = match &task.for_each {
            None => self.once(task, &context),
            Some(each) => {
                let items = match self.value(&each.items, &context) {
                    Some(Value::Array(items)) => items,
                    _ => return,
                };
                let outputs = items.iter().map(|item| {
                    let mut context = context.clone();
                    context.element(&each.name, item);
                    self.once(task, &context)
                });
                Value::Array(outputs.collect())
            }
        };
        self.outputs.insert(index, output);
    }

    fn once(&mut self, task: &Task, context: &Context) -> Value {
        if let OnError::Value(value) = &task.on_error {
            self.value(value, context);
        }
        match &task.verb {
            Verb::Infer(infer) => {
                self.texts(std::iter::once(&infer.prompt).chain(&infer.system), context);
                answered(&infer.answer)
            }
            Verb::Agent(agent) => {
                self.texts(std::iter::once(&agent.prompt).chain(&agent.system), context);
                answered(&agent.answer)
            }
            Verb::Exec(exec) => {
                if let Command::Words(words) = &exec.command {
                    self.texts(words.iter(), context);
                }
                self.texts(exec.cwd.iter().chain(&exec.stdin).chain(exec.env.iter().map(|(_, text)| text)), context);
                match exec.capture {
                    Capture::Json => json!({"any": ["thing"]}),
                    Capture::All => json!({"exit": 0, "stdout": "out", "stderr": ""}),
                    _ => json!("out"),
                }
            }
            Verb::Fetch(fetch) => {
                self.texts(std::iter::once(&fetch.url).chain(fetch.headers.iter().map(|(_, text)| text)), context);
                fetch.body.iter().for_each(|body| _ = self.value(body, context));
                match fetch.read {
                    FetchRead::Json => json!({"name": "item"}),
                    FetchRead::Answer => json!({"status": 200, "headers": {}, "body": null}),
                    _ => json!("page"),
                }
            }
            Verb::Invoke(invoke) => {
                self.value(&invoke.params, context);
                match &invoke.what {
                    Called::Tool(name) if name.value == "grep" => json!({"total": 3}),
                    _ => json!("called"),
                }
            }
        }
    }

    fn texts<'t>(&mut self, texts: impl Iterator<Item = &'t Template>, context: &Context) {
        for text in texts {
            self.made += 1;
            let made = self.templates.render_text(text, context);
            self.keep(made.err());
        }
    }

    fn value(&mut self, value: &Dynamic, context: &Context) -> Option<Value> {
        self.made += 1;
        match self.templates.render(value, context) {
            Ok(value) => Some(value),
            Err(error) => {
                self.keep(Some(error));
                None
            }
        }
    }

    fn keep(&mut self, error: Option<DataError>) {
        self.errors.extend(error);
    }
}

fn answered(answer: &Answer) -> Value {
    match answer {
        Answer::Text => json!("answer"),
        Answer::Json => json!({"ok": true}),
        Answer::Fitting(_) => json!({"ideas": ["a", "b"]}),
    }
}

/// Whether a message says that a name is not there which the document has to give: the root, or what stands behind it.
fn names_what_is_promised(error: &DataError) -> bool {
    let path = error.message.trim_start_matches('`').split('`').next().unwrap_or_default();
    let steps = path.split(['.', '[']).count();
    let root = path.split(['.', '[']).next().unwrap_or_default();
    error.kind == DataKind::Missing && (steps == 1 || (steps == 2 && ["inputs", "use", "secrets"].contains(&root)))
}

#[test]
fn good_documents_are_played_without_an_error() {
    for (name, text) in GOOD {
        let checked = check(text, "good.nika.yaml", &Paper);
        let flow = checked.flow.expect("it is good");
        let play = Play::through(&flow);
        assert_eq!(play.errors, [], "{name}");
        assert_eq!(play.outputs.len(), flow.tasks.len(), "{name}");
    }
}

#[test]
fn what_passes_the_check_fails_on_data_alone() {
    let (mut clean, mut made, mut failed) = (0, 0, 0);
    for seed in 0..MUTANTS {
        let (name, text) = mutant(seed);
        let checked = check(&text, "mutant.nika.yaml", &Paper);
        let Some(flow) = checked.flow.as_ref().filter(|_| checked.is_clean()) else { continue };
        clean += 1;
        let play = Play::through(flow);
        made += play.made;
        failed += play.errors.len();
        for error in &play.errors {
            assert_ne!(error.kind, DataKind::Form, "mutant {seed} of {name}: {error:?}\n{text}");
            assert!(!names_what_is_promised(error), "mutant {seed} of {name}: {error:?}\n{text}");
        }
    }
    assert!(clean > 50 && made > 500, "{clean} were clean, with {made} templates, of which {failed} failed");
}
