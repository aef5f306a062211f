//! A workflow written out in the language of today: what an older document has become.
//!
//! What is usual is left out, so that the text is as short as a person would write it.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use crate::model::{
    Agent, Answer, At, Called, Capture, Command, Dynamic, Exec, Fetch, FetchRead, Flow, Infer, Invoke, Limits,
    ModelChoice, OnError, Permits, Retry, Step, Task, Template, Use, Verb,
};

/// The document of a workflow. Comments and layout of the one that it was read from are gone.
pub fn write(flow: &Flow) -> String {
    let mut map = Map::default();
    map.text("schema", "nika/workflow@1");
    map.text("name", &flow.name);
    map.optional("description", flow.description.as_deref());
    map.choice(&flow.model);
    map.entry("inputs", Yaml::Map(inputs(flow)));
    map.entry("secrets", texts(&flow.secrets));
    if let Some(permits) = &flow.permits {
        map.entry("permits", Yaml::Map(permitted(permits)));
    }
    map.entry("limits", Yaml::Map(limits(&flow.limits)));
    map.0.push(("tasks".into(), Yaml::List(flow.tasks.iter().map(|one| Yaml::Map(task(flow, one))).collect())));
    map.entry(
        "outputs",
        Yaml::Map(Map(flow.outputs.iter().map(|(name, value)| (name.value.clone(), dynamic(value))).collect())),
    );
    let mut text = String::new();
    for (index, (key, value)) in map.0.iter().enumerate() {
        // A blank line before what is more than a line.
        if index > 0 && matches!(value, Yaml::Map(_) | Yaml::List(_)) {
            text.push('\n');
        }
        entry(&mut text, key, value, 0);
    }
    text
}

/// What is written.
#[derive(Debug, Clone, PartialEq)]
enum Yaml {
    Text(String),
    Plain(Value),
    List(Vec<Yaml>),
    Map(Map),
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Map(Vec<(String, Yaml)>);

impl Map {
    fn text(&mut self, key: &str, text: &str) {
        self.0.push((key.into(), Yaml::Text(text.into())));
    }

    fn optional(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    fn number(&mut self, key: &str, number: impl Into<Value>) {
        self.0.push((key.into(), Yaml::Plain(number.into())));
    }

    /// A list or a mapping, unless it is empty.
    fn entry(&mut self, key: &str, value: Yaml) {
        let empty = match &value {
            Yaml::List(items) => items.is_empty(),
            Yaml::Map(map) => map.0.is_empty(),
            _ => false,
        };
        if !empty {
            self.0.push((key.into(), value));
        }
    }

    fn choice(&mut self, model: &ModelChoice) {
        self.optional("provider", model.provider.as_ref().map(|name| name.value.as_str()));
        self.optional("model", model.model.as_ref().map(|name| name.value.as_str()));
    }

    /// A verb whose short form says all: its first entry alone.
    fn short(mut self) -> Yaml {
        match self.0.len() {
            1 => self.0.remove(0).1,
            _ => Yaml::Map(self),
        }
    }
}

fn inputs(flow: &Flow) -> Map {
    let inputs = flow.inputs.iter().map(|input| {
        let mut map = Map::default();
        map.text("type", input.kind.name());
        if let Some(default) = &input.default {
            map.0.push(("default".into(), literal(default)));
        }
        map.optional("description", input.description.as_deref());
        (input.name.value.clone(), Yaml::Map(map))
    });
    Map(inputs.collect())
}

fn permitted(permits: &Permits) -> Map {
    let mut map = Map::default();
    let mut files = Map::default();
    files.entry("read", texts(&permits.read));
    files.entry("write", texts(&permits.write));
    map.entry("fs", Yaml::Map(files));
    map.entry("net", texts(&permits.net));
    map.entry("exec", texts(&permits.exec));
    map.entry("tools", texts(&permits.tools));
    map.entry("env", texts(&permits.env));
    map
}

fn limits(limits: &Limits) -> Map {
    let mut map = Map::default();
    if let Some(parallel) = &limits.parallel {
        map.number("parallel", parallel.value);
    }
    if let Some(timeout) = &limits.timeout {
        map.text("timeout", &duration(timeout.value));
    }
    if let Some(cost) = &limits.cost_micros {
        #[allow(clippy::cast_precision_loss, reason = "a limit in dollars is far below 2^52 millionths")]
        map.number("cost_usd", cost.value as f64 / 1e6);
    }
    if let Some(tokens) = &limits.tokens {
        map.number("tokens", tokens.value);
    }
    map
}

fn task(flow: &Flow, task: &Task) -> Map {
    let mut map = Map::default();
    map.text("id", &task.id.value);
    map.optional("description", task.description.as_deref());
    let implied = |index: usize| task.uses.iter().any(|bound| bound.task == index);
    let after: Vec<Yaml> = task
        .after
        .iter()
        .filter(|index| !implied(**index))
        .filter_map(|index| flow.tasks.get(*index))
        .map(|before| Yaml::Text(before.id.value.clone()))
        .collect();
    map.entry("depends_on", Yaml::List(after));
    map.entry(
        "use",
        Yaml::Map(Map(task.uses.iter().map(|bound| (bound.name.value.clone(), binding(flow, bound))).collect())),
    );
    if let Some(each) = &task.for_each {
        map.0.push(("for_each".into(), dynamic(&each.items)));
        if each.name != "item" {
            map.text("as", &each.name);
        }
        if each.concurrency != 1 {
            map.number("concurrency", each.concurrency);
        }
        if !each.fail_fast {
            map.number("fail_fast", false);
        }
    }
    map.optional("when", task.when.as_ref().map(|when| when.text.as_str()));
    map.0.push((task.verb.name().into(), verb(&task.verb)));
    if let Some(answer) = answer(&task.verb) {
        map.0.push(("output".into(), answer));
    }
    let usual = Retry::default();
    if task.retry != usual {
        let mut retry = Map::default();
        retry.number("attempts", task.retry.attempts);
        if task.retry.backoff != usual.backoff {
            retry.text("backoff", &duration(task.retry.backoff));
        }
        if (task.retry.factor - usual.factor).abs() > f64::EPSILON {
            retry.number("factor", task.retry.factor);
        }
        if task.retry.most != usual.most {
            retry.text("max_backoff", &duration(task.retry.most));
        }
        map.0.push(("retry".into(), Yaml::Map(retry)));
    }
    if task.timeout != task.verb.default_timeout() {
        map.text("timeout", &duration(task.timeout));
    }
    match &task.on_error {
        OnError::Fail => {}
        OnError::Skip => map.text("on_error", "skip"),
        OnError::Value(value) => {
            map.0.push(("on_error".into(), Yaml::Map(Map(vec![("value".into(), dynamic(value))]))));
        }
    }
    map
}

fn binding(flow: &Flow, bound: &Use) -> Yaml {
    let mut path = flow.tasks.get(bound.task).map(|task| task.id.value.clone()).unwrap_or_default();
    for step in &bound.path {
        match step {
            Step::Key(key) => {
                let _ = write!(path, ".{key}");
            }
            Step::Index(index) => {
                let _ = write!(path, "[{index}]");
            }
        }
    }
    match &bound.default {
        None => Yaml::Text(path),
        Some(default) => Yaml::Map(Map(vec![("path".into(), Yaml::Text(path)), ("default".into(), literal(default))])),
    }
}

fn verb(verb: &Verb) -> Yaml {
    match verb {
        Verb::Infer(infer) => asked(infer),
        Verb::Exec(exec) => executed(exec),
        Verb::Fetch(fetch) => fetched(fetch),
        Verb::Invoke(invoke) => invoked(invoke),
        Verb::Agent(agent) => worked(agent),
    }
}

fn asked(infer: &Infer) -> Yaml {
    let mut map = Map::default();
    map.text("prompt", &infer.prompt.text);
    map.optional("system", template(infer.system.as_ref()));
    map.choice(&infer.model);
    map.short()
}

fn executed(exec: &Exec) -> Yaml {
    let mut map = Map::default();
    let words = match &exec.command {
        Command::Words(words) => Yaml::List(words.iter().map(|word| Yaml::Text(word.text.clone())).collect()),
        Command::Shell(text) => Yaml::Text(text.value.clone()),
    };
    let argv = matches!(exec.command, Command::Words(_));
    map.0.push((if argv { "command" } else { "shell" }.into(), words));
    map.optional("cwd", template(exec.cwd.as_ref()));
    map.entry("env", pairs(&exec.env));
    map.optional("stdin", template(exec.stdin.as_ref()));
    if exec.ok_exit != [0] && !exec.ok_exit.is_empty() {
        map.0.push((
            "ok_exit".into(),
            Yaml::List(exec.ok_exit.iter().map(|code| Yaml::Plain((*code).into())).collect()),
        ));
    }
    match exec.capture {
        Capture::Stdout => {}
        Capture::Stderr => map.text("capture", "stderr"),
        Capture::Combined => map.text("capture", "combined"),
        Capture::Json => map.text("capture", "json"),
        Capture::All => map.text("capture", "all"),
    }
    if argv { map.short() } else { Yaml::Map(map) }
}

fn fetched(fetch: &Fetch) -> Yaml {
    let mut map = Map::default();
    map.text("url", &fetch.url.text);
    if fetch.method != "GET" {
        map.text("method", &fetch.method);
    }
    map.entry("headers", pairs(&fetch.headers));
    if let Some(body) = &fetch.body {
        map.0.push(("body".into(), dynamic(body)));
    }
    match fetch.read {
        FetchRead::Text => {}
        FetchRead::Json => map.text("read", "json"),
        FetchRead::Markdown => map.text("read", "markdown"),
        FetchRead::Answer => map.text("read", "answer"),
    }
    map.short()
}

fn invoked(invoke: &Invoke) -> Yaml {
    let mut map = Map::default();
    match &invoke.what {
        Called::Tool(name) => map.text("tool", &name.value),
        Called::Resource { server, uri } => {
            map.text("mcp", &server.value);
            map.text("resource", &uri.text);
        }
        Called::Workflow(path) => map.text("workflow", &path.value),
    }
    map.entry("params", dynamic(&invoke.params));
    Yaml::Map(map)
}

fn worked(agent: &Agent) -> Yaml {
    let mut map = Map::default();
    map.text("prompt", &agent.prompt.text);
    map.optional("system", template(agent.system.as_ref()));
    map.choice(&agent.model);
    if let Some(tools) = &agent.tools {
        map.0.push(("tools".into(), texts(tools)));
    }
    map.number("max_turns", agent.max_turns);
    if let Some(tokens) = agent.tokens {
        map.number("token_budget", tokens);
    }
    map.short()
}

fn answer(verb: &Verb) -> Option<Yaml> {
    let answer = match verb {
        Verb::Infer(infer) => &infer.answer,
        Verb::Agent(agent) => &agent.answer,
        _ => return None,
    };
    let mut map = Map::default();
    match answer {
        Answer::Text => return None,
        Answer::Json => map.text("format", "json"),
        Answer::Fitting(schema) => map.0.push(("schema".into(), literal(&schema.value))),
    }
    Some(Yaml::Map(map))
}

fn template(template: Option<&Template>) -> Option<&str> {
    template.map(|template| template.text.as_str())
}

fn pairs(pairs: &[(At<String>, Template)]) -> Yaml {
    Yaml::Map(Map(pairs.iter().map(|(name, value)| (name.value.clone(), Yaml::Text(value.text.clone()))).collect()))
}

fn texts(texts: &[At<String>]) -> Yaml {
    Yaml::List(texts.iter().map(|text| Yaml::Text(text.value.clone())).collect())
}

fn dynamic(value: &Dynamic) -> Yaml {
    match value {
        Dynamic::Plain(value) => literal(value),
        Dynamic::Text(template) => Yaml::Text(template.text.clone()),
        Dynamic::List(items) => Yaml::List(items.iter().map(dynamic).collect()),
        Dynamic::Object(entries) => {
            Yaml::Map(Map(entries.iter().map(|(key, value)| (key.value.clone(), dynamic(value))).collect()))
        }
    }
}

fn literal(value: &Value) -> Yaml {
    match value {
        Value::String(text) => Yaml::Text(text.clone()),
        Value::Array(items) => Yaml::List(items.iter().map(literal).collect()),
        Value::Object(entries) => {
            Yaml::Map(Map(entries.iter().map(|(key, value)| (key.clone(), literal(value))).collect()))
        }
        plain => Yaml::Plain(plain.clone()),
    }
}

fn duration(duration: Duration) -> String {
    match (duration.as_secs(), duration.subsec_millis()) {
        (seconds, 0) if seconds >= 60 && seconds % 60 == 0 => format!("{}m", seconds / 60),
        (seconds, 0) => format!("{seconds}s"),
        _ => format!("{}ms", duration.as_millis()),
    }
}

/// Lists and mappings that fit are written in one line up to this column.
const WIDTH: usize = 100;

fn entry(text: &mut String, key: &str, value: &Yaml, indent: usize) {
    let space = " ".repeat(indent);
    let key = scalar(key);
    match value {
        Yaml::Text(said) => {
            let _ = write!(text, "{space}{key}: ");
            written(text, said, indent + 2);
        }
        Yaml::Plain(value) => {
            let _ = writeln!(text, "{space}{key}: {value}");
        }
        Yaml::List(items) if items.iter().any(|item| matches!(item, Yaml::Map(map) if map.0.len() > 1)) => {
            let _ = writeln!(text, "{space}{key}:");
            for (at, item) in items.iter().enumerate() {
                if at > 0 && indent == 0 {
                    text.push('\n');
                }
                listed(text, item, indent + 2);
            }
        }
        Yaml::List(_) | Yaml::Map(_) => match flowing(value) {
            // A mapping reads better in lines, unless it is small.
            Some(line) if indent + key.len() + line.len() < WIDTH && (small(value) && indent > 0) => {
                let _ = writeln!(text, "{space}{key}: {line}");
            }
            _ => match value {
                Yaml::Map(map) if !map.0.is_empty() => {
                    let _ = writeln!(text, "{space}{key}:");
                    for (key, value) in &map.0 {
                        entry(text, key, value, indent + 2);
                    }
                }
                Yaml::List(items) if !items.is_empty() => {
                    let _ = writeln!(text, "{space}{key}:");
                    for item in items {
                        listed(text, item, indent + 2);
                    }
                }
                Yaml::Map(_) => {
                    let _ = writeln!(text, "{space}{key}: {{}}");
                }
                _ => {
                    let _ = writeln!(text, "{space}{key}: []");
                }
            },
        },
    }
}

fn listed(text: &mut String, item: &Yaml, indent: usize) {
    let space = " ".repeat(indent);
    match item {
        Yaml::Map(map) if !map.0.is_empty() => {
            let mut inner = String::new();
            for (key, value) in &map.0 {
                entry(&mut inner, key, value, indent + 2);
            }
            let _ = write!(text, "{space}- {}", inner.trim_start_matches(' '));
        }
        Yaml::List(items) if !items.is_empty() => {
            let _ = writeln!(text, "{space}-");
            for item in items {
                listed(text, item, indent + 2);
            }
        }
        Yaml::Text(said) => {
            let _ = write!(text, "{space}- ");
            written(text, said, indent + 2);
        }
        other => {
            let _ = writeln!(text, "{space}- {}", flowing(other).unwrap_or_default());
        }
    }
}

/// Whether it is read at a glance: no mapping inside another, no more than three names.
fn small(value: &Yaml) -> bool {
    match value {
        Yaml::Map(map) => map.0.len() <= 3 && map.0.iter().all(|(_, value)| flat(value)),
        Yaml::List(items) => items.iter().all(|item| !matches!(item, Yaml::Map(_))),
        _ => true,
    }
}

fn flat(value: &Yaml) -> bool {
    match value {
        Yaml::Map(map) => map.0.is_empty(),
        Yaml::List(items) => items.is_empty(),
        _ => true,
    }
}

/// In one line; none where a text has more than one.
fn flowing(value: &Yaml) -> Option<String> {
    Some(match value {
        Yaml::Text(said) if said.contains('\n') => return None,
        Yaml::Text(said) => scalar(said),
        Yaml::Plain(value) => value.to_string(),
        Yaml::List(items) => format!("[{}]", items.iter().map(flowing).collect::<Option<Vec<_>>>()?.join(", ")),
        Yaml::Map(map) => {
            let entries = map.0.iter().map(|(key, value)| Some(format!("{}: {}", scalar(key), flowing(value)?)));
            format!("{{{}}}", entries.collect::<Option<Vec<_>>>()?.join(", "))
        }
    })
}

/// A text after its key: lines of its own where it has several.
fn written(text: &mut String, said: &str, indent: usize) {
    let lines = said.contains('\n')
        && !said.starts_with([' ', '\n', '\t'])
        && !said.ends_with("\n\n")
        && said.lines().all(|line| !line.ends_with([' ', '\t', '\r']))
        && said.chars().all(|c| c == '\n' || !c.is_control())
        && said.chars().all(printable);
    if !lines {
        text.push_str(&scalar(said));
        text.push('\n');
        return;
    }
    text.push_str(if said.ends_with('\n') { "|\n" } else { "|-\n" });
    for line in said.lines() {
        if !line.is_empty() {
            text.push_str(&" ".repeat(indent));
            text.push_str(line);
        }
        text.push('\n');
    }
}

/// Characters that YAML takes as they are.
fn printable(c: char) -> bool {
    !matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A text in one line: as it is where nothing can misread it, else in double quotes.
fn scalar(said: &str) -> String {
    const WORDS: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"];
    let plain = said.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '/'))
        && said.chars().all(|c| c.is_ascii_alphanumeric() || " _-./@+%=$()".contains(c))
        && !said.ends_with(' ')
        && !WORDS.contains(&said.to_lowercase().as_str());
    if plain {
        return said.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in said.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() || !printable(c) => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
