//! From text to a [`Flow`].
//!
//! All that is wrong is found in one reading: a task that cannot be read keeps its place in the list, so that what
//! names it is no finding too. Reading looks at the form; what templates, effects and schemas say is looked at in
//! [`crate::check`].

mod binding;
pub(crate) mod fields;
mod slips;
mod tasks;
mod verbs;
pub(crate) mod yaml;

use std::collections::HashMap;

use nika_contract::code;
use serde_json::Value;

pub(crate) use fields::{is_id, is_name, meant, truth};
pub use yaml::MAX_BYTES;

use crate::finding::{Finding, sorted};
use crate::graph;
use crate::model::{At, Dynamic, Flow, Input, Kind as InputKind, Limits, ModelChoice, Permits, Span};
use crate::old;
use crate::shape;
use fields::{Fields, Reader};
use yaml::Kind;

/// The version that is written today.
pub const VERSION: &str = "nika/workflow@1";

/// Versions that are translated.
pub const OLDER: &[&str] =
    &["nika/workflow@0.1", "nika/workflow@0.2", "nika/workflow@0.3", "nika/workflow@0.4", "nika/workflow@0.5"];

/// Reads a document. `path` names it where it does not name itself. The tasks of what comes back wait for each other
/// in no circle.
pub fn read(text: &str, path: &str) -> Result<Flow, Vec<Finding>> {
    let (draft, findings) = draft(text, path);
    let findings = sorted(findings);
    match draft {
        Some(draft) if !findings.iter().any(Finding::is_error) => Ok(draft.flow),
        _ => Err(findings),
    }
}

/// A flow as far as it could be read.
#[derive(Debug)]
pub(crate) struct Draft {
    pub flow: Flow,
    /// Tasks of which something could not be read: what they hold is not looked at further.
    pub broken: Vec<bool>,
    /// Whether all is there: no name was lost.
    pub whole: bool,
    /// Where `permits` stands, or would.
    pub permits_at: Span,
    /// Whether all of it could be read.
    pub permits_whole: bool,
}

/// Reads what can be read.
pub(crate) fn draft(text: &str, path: &str) -> (Option<Draft>, Vec<Finding>) {
    let root = match yaml::parse(text) {
        Ok(root) => root,
        Err(finding) => return (None, vec![finding]),
    };
    let mut reader = Reader::default();
    let Kind::Map(entries) = &root.kind else {
        let message = format!("a workflow is a mapping with `schema` and `tasks`, and this is {}", root.described());
        reader.error(code::FLOW_SHAPE, root.at, message);
        return (None, reader.findings);
    };
    match version(entries, root.at) {
        Ok(None) => {}
        Ok(Some((release, schema))) => return older(text, &root, release, &schema, path),
        Err(finding) => return (None, vec![finding]),
    }
    let Some(fields) = reader.fields(&root, &shape::DOCUMENT) else {
        return (None, reader.findings);
    };
    let mut flow = header(&mut reader, &fields, path);
    let before = reader.findings.len();
    flow.permits = Some(fields.get("permits").map(|node| permits(&mut reader, node)).unwrap_or_default());
    let permits_whole = reader.findings.len() == before;
    let mut broken = Vec::new();
    let mut waits = Vec::new();
    let tasks = fields.get("tasks").map(|node| list_of_tasks(&mut reader, node)).unwrap_or_default();
    if let Some(node) = fields.get("tasks").filter(|node| matches!(&node.kind, Kind::List(items) if items.is_empty())) {
        reader.error(code::FLOW_SHAPE, node.at, "`tasks` is empty; a workflow has at least one task");
    }
    for (number, node) in tasks.iter().enumerate() {
        let before = reader.findings.len();
        let (task, names) = tasks::task(&mut reader, node, number);
        flow.tasks.push(task);
        waits.push(names);
        broken.push(reader.findings.len() > before);
    }
    let whole = broken.iter().all(|broken| !broken);
    connect(&mut reader, &mut flow, &mut broken, &waits, fields.get("flows"));
    reader.findings.extend(graph::circles(&flow));
    let permits_at = fields.entry("permits").or(fields.entry("tasks")).map_or(root.at, |(key, _)| key.at);
    (Some(Draft { flow, broken, whole, permits_at, permits_whole }), reader.findings)
}

/// `tasks`. Whoever writes them as names and values is told how a name is written.
fn list_of_tasks<'n>(reader: &mut Reader, node: &'n yaml::Node) -> &'n [yaml::Node] {
    let Kind::Map(entries) = &node.kind else { return reader.list(node, "`tasks`") };
    let message = "`tasks` takes a list, and this is a mapping";
    let hint = match entries.first() {
        Some((key, _)) => format!("each task is an element that begins with its name: `- id: {}`", preview(&key.value)),
        None => "each task is an element that begins with its name: `- id: NAME`".to_owned(),
    };
    reader.findings.push(Finding::error(code::FLOW_SHAPE, node.at, message).suggest(hint));
    &[]
}

/// Translates a document of an older version. It states no authority, and knows nothing of ours but its tasks.
fn older(
    text: &str,
    root: &yaml::Node,
    release: old::Release,
    schema: &At<String>,
    path: &str,
) -> (Option<Draft>, Vec<Finding>) {
    match old::read(text, root, release, schema, stem(path)) {
        Ok(flow) => {
            let circles = graph::circles(&flow);
            let broken = vec![false; flow.tasks.len()];
            (Some(Draft { flow, broken, whole: true, permits_at: schema.at, permits_whole: true }), circles)
        }
        Err(findings) => (None, findings),
    }
}

/// The file's name without what says that it is a workflow.
fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    [".nika.yaml", ".nika.yml", ".yaml", ".yml"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// Says whether the document is of the version that is read here, or of which older one.
fn version(entries: &[(At<String>, yaml::Node)], at: Span) -> Result<Option<(old::Release, At<String>)>, Finding> {
    let Some((key, node)) = entries.iter().find(|(key, _)| key.value == "schema") else {
        let message = "the document does not say `schema`";
        return Err(Finding::error(code::FLOW_SHAPE, at, message).suggest(format!("begin it with `schema: {VERSION}`")));
    };
    let older = match &node.kind {
        Kind::Text(text) => old::Release::of(text).map(|release| (release, At { value: text.clone(), at: node.at })),
        _ => None,
    };
    match &node.kind {
        Kind::Text(text) if text == VERSION => Ok(None),
        _ if older.is_some() => Ok(older),
        Kind::Null => {
            Err(Finding::error(code::FLOW_SHAPE, key.at, "`schema` says nothing").suggest(format!("`{VERSION}`")))
        }
        _ => {
            let written = match &node.kind {
                Kind::Text(text) => text.clone(),
                _ => String::new(),
            };
            let message = format!("this version knows {VERSION}, and not {}", node.described());
            let range = || "of older ones, nika/workflow@0.1 to nika/workflow@0.5 are read".to_owned();
            let meant =
                if written.starts_with("nika/workflow@0.") { Some(range()) } else { meant(&written, [VERSION]) };
            Err(Finding::error(code::FLOW_SHAPE, node.at, message).suggest_some(meant))
        }
    }
}

/// All but the permits and the tasks.
fn header(reader: &mut Reader, fields: &Fields<'_>, path: &str) -> Flow {
    let stem = stem(path);
    let mut said = |key: &str| fields.get(key).and_then(|node| reader.text(node, &format!("`{key}`")));
    let (name, description, provider, model) = (said("name"), said("description"), said("provider"), said("model"));
    Flow {
        name: name.map_or_else(|| stem.to_owned(), |name| name.value),
        description: description.map(|text| text.value),
        version: VERSION.to_owned(),
        model: ModelChoice { provider, model },
        inputs: fields.get("inputs").map(|node| inputs(reader, node)).unwrap_or_default(),
        secrets: fields.get("secrets").map(|node| secrets(reader, node)).unwrap_or_default(),
        permits: None,
        limits: fields.get("limits").map(|node| limits(reader, node)).unwrap_or_default(),
        tasks: Vec::new(),
        outputs: fields.get("outputs").map(|node| outputs(reader, node)).unwrap_or_default(),
    }
}

fn inputs(reader: &mut Reader, node: &yaml::Node) -> Vec<Input> {
    const KINDS: &[(&str, InputKind)] = &[
        ("string", InputKind::String),
        ("number", InputKind::Number),
        ("boolean", InputKind::Boolean),
        ("list", InputKind::List),
        ("object", InputKind::Object),
    ];
    let entries = reader.entries(node, "`inputs`");
    let mut inputs = Vec::new();
    for (name, node) in entries {
        reader.name(name, "an input");
        let mut input = Input { name: name.clone(), kind: InputKind::default(), description: None, default: None };
        // `words:` with nothing behind it is a required text.
        if !matches!(node.kind, Kind::Null)
            && let Some(fields) = reader.fields(node, &shape::INPUT)
        {
            let what = |key: &str| format!("`{key}` of the input `{}`", name.value);
            if let Some(node) = fields.get("type") {
                // One that cannot be read is what its default is: what follows from it is no fault of its own.
                let of_default =
                    || fields.get("default").and_then(|node| KINDS.iter().find(|(_, k)| k.takes(&node.value())));
                let kind = reader.choice(node, &what("type"), KINDS);
                input.kind = kind.or_else(|| Some(of_default()?.1)).unwrap_or_default();
            }
            input.description = fields
                .get("description")
                .and_then(|node| reader.text(node, &what("description")))
                .map(|text| text.value);
            if let Some(node) = fields.get("default") {
                let value = node.value();
                if !input.kind.takes(&value) {
                    let kind = KINDS.iter().find(|(_, kind)| *kind == input.kind).map_or("", |(name, _)| name);
                    let message =
                        format!("the input `{}` is a {kind}, and its default is {}", name.value, node.described());
                    let meant = input.kind.meant(&value);
                    reader.findings.push(Finding::error(code::FLOW_TYPE, node.at, message).suggest_some(meant));
                }
                input.default = Some(value);
            }
        }
        inputs.push(input);
    }
    inputs
}

impl InputKind {
    /// Whether a value is of this kind.
    pub fn takes(self, value: &Value) -> bool {
        match self {
            InputKind::String => value.is_string(),
            InputKind::Number => value.is_number(),
            InputKind::Boolean => value.is_boolean(),
            InputKind::List => value.is_array(),
            InputKind::Object => value.is_object(),
        }
    }

    /// What was meant by a value of another kind.
    fn meant(self, value: &Value) -> Option<String> {
        let text = value.as_str();
        match self {
            InputKind::String if value.is_number() || value.is_boolean() => Some(format!("in quotes: \"{value}\"")),
            InputKind::Number => {
                text?.trim().parse::<f64>().ok().map(|_| format!("without quotes: {}", text.unwrap_or_default().trim()))
            }
            InputKind::Boolean => truth(text?).map(|value| format!("without quotes: {value}")),
            InputKind::List if !value.is_object() && !value.is_null() => {
                Some(format!("[{}]", text.map_or_else(|| value.to_string(), str::to_owned)))
            }
            _ => None,
        }
    }
}

fn secrets(reader: &mut Reader, node: &yaml::Node) -> Vec<At<String>> {
    let names = reader.texts(node, "`secrets`");
    names.iter().for_each(|name| _ = reader.name(name, "a secret, which is an environment variable"));
    names
}

fn permits(reader: &mut Reader, node: &yaml::Node) -> Permits {
    let Some(fields) = reader.fields(node, &shape::PERMITS) else { return Permits::default() };
    let mut lines = |fields: &Fields<'_>, key: &str, what: &str| {
        fields.get(key).map(|node| reader.texts(node, what)).unwrap_or_default()
    };
    let mut permits = Permits {
        net: lines(&fields, "net", "`permits.net`"),
        exec: lines(&fields, "exec", "`permits.exec`"),
        tools: lines(&fields, "tools", "`permits.tools`"),
        env: lines(&fields, "env", "`permits.env`"),
        ..Permits::default()
    };
    if let Some(fs) = fields.get("fs").and_then(|node| reader.fields(node, &shape::FS)) {
        let mut lines = |key: &str, what: &str| fs.get(key).map(|node| reader.texts(node, what)).unwrap_or_default();
        permits.read = lines("read", "`permits.fs.read`");
        permits.write = lines("write", "`permits.fs.write`");
    }
    permits.env.iter().for_each(|name| _ = reader.name(name, "an environment variable"));
    permits
}

fn limits(reader: &mut Reader, node: &yaml::Node) -> Limits {
    let Some(fields) = reader.fields(node, &shape::LIMITS) else { return Limits::default() };
    let at = |key: &str| fields.get(key);
    Limits {
        parallel: at("parallel").and_then(|node| {
            let count = reader.count(node, "`limits.parallel`", 1, shape::MOST_AT_ONCE)?;
            Some(At { value: usize::try_from(count).ok()?, at: node.at })
        }),
        timeout: at("timeout").and_then(|node| reader.duration(node, "`limits.timeout`")),
        cost_micros: at("cost_usd").and_then(|node| {
            let dollars = reader.number(node, "`limits.cost_usd`", 0.0, 1e9)?;
            // Below a thousand million dollars, so it fits.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the bounds above")]
            let value = (dollars * 1e6).round() as u64;
            Some(At { value, at: node.at })
        }),
        tokens: at("tokens")
            .and_then(|node| Some(At { value: reader.count(node, "`limits.tokens`", 1, u64::MAX)?, at: node.at })),
    }
}

fn outputs(reader: &mut Reader, node: &yaml::Node) -> Vec<(At<String>, Dynamic)> {
    let entries = reader.entries(node, "`outputs`");
    let mut outputs = Vec::new();
    for (name, node) in entries {
        reader.name(name, "an output");
        outputs.push((name.clone(), reader.dynamic(node)));
    }
    outputs
}

/// Finds the tasks that names mean: of `depends_on`, `use` and `flows`.
fn connect(
    reader: &mut Reader,
    flow: &mut Flow,
    broken: &mut [bool],
    waits: &[tasks::Waits],
    flows: Option<&yaml::Node>,
) {
    let mut indices: HashMap<String, usize> = HashMap::new();
    for (index, task) in flow.tasks.iter().enumerate() {
        if task.id.value.is_empty() {
            continue;
        }
        if let Some(first) = indices.get(&task.id.value) {
            let message = format!(
                "the id `{}` is given twice; line {} has it already",
                task.id.value, flow.tasks[*first].id.at.line
            );
            reader.error(code::FLOW_NAME, task.id.at, message);
            broken[index] = true;
        } else {
            indices.insert(task.id.value.clone(), index);
        }
    }
    let find = |reader: &mut Reader, name: &str, at: Span, what: &str| -> Option<usize> {
        let found = indices.get(name).copied();
        if found.is_none() {
            let message = format!("{what} names the task `{}`, and there is none of that id", preview(name));
            let mut ids: Vec<&str> = indices.keys().map(String::as_str).collect();
            ids.sort_unstable();
            reader.findings.push(Finding::error(code::FLOW_UNKNOWN, at, message).suggest_some(meant(name, ids)));
        }
        found
    };
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); flow.tasks.len()];
    for (index, waits) in waits.iter().enumerate() {
        for id in &waits.after {
            after[index].extend(find(reader, &id.value, id.at, "`depends_on`"));
        }
        for (mut binding, id) in waits.uses.iter().cloned() {
            let what = format!("`use.{}`", binding.name.value);
            match find(reader, &id.value, id.at, &what) {
                Some(task) => {
                    binding.task = task;
                    after[index].push(task);
                    flow.tasks[index].uses.push(binding);
                }
                None => broken[index] = true,
            }
        }
    }
    let edges = flows.map(|node| reader.list(node, "`flows`")).unwrap_or_default();
    for node in edges {
        let Some(fields) = reader.fields(node, &shape::EDGE) else { continue };
        let mut named = |key: &str| {
            fields.get(key).map(|node| reader.texts(node, &format!("`{key}` of a flow"))).unwrap_or_default()
        };
        let (sources, targets) = (named("source"), named("target"));
        if let [_, second, ..] = sources.as_slice() {
            reader.error(code::FLOW_SHAPE, second.at, "`source` of a flow takes one task; `target` may be a list");
        }
        let source = sources.first().and_then(|id| find(reader, &id.value, id.at, "`source`"));
        for id in &targets {
            if let (Some(target), Some(source)) = (find(reader, &id.value, id.at, "`target`"), source) {
                after[target].push(source);
            }
        }
    }
    for (task, mut after) in flow.tasks.iter_mut().zip(after) {
        after.sort_unstable();
        after.dedup();
        task.after = after;
    }
}

fn preview(text: &str) -> String {
    nika_contract::text::preview(text, 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::show;
    use crate::model::{Step, Verb};

    /// What is found, one line each: the place and the message.
    fn found(text: &str) -> Vec<String> {
        let findings = read(text, "a.nika.yaml").err().unwrap_or_default();
        findings.iter().map(|f| format!("{}:{} {} {}", f.at.line, f.at.column, f.code, f.message)).collect()
    }

    const HEAD: &str = "schema: nika/workflow@1\n";
    const ONE: &str = "tasks:\n  - {id: a, exec: [ls]}\n";

    #[test]
    fn a_document_becomes_a_flow() {
        let text = "\u{feff}schema: nika/workflow@1\r\ntasks:\r\n  - id: a\r\n    exec: [echo, 5, true]\r\n  - id: b-2\r\n    use: {x: \"a.lines[0] ?? 'none'\"}\r\n    infer: \"say {{ use.x }}\"\r\n";
        let flow = read(text, "workflows/hello.nika.yaml").expect("it reads");
        assert_eq!((flow.name.as_str(), flow.tasks.len()), ("hello", 2));
        let task = &flow.tasks[1];
        assert_eq!((task.id.value.as_str(), &task.after), ("b-2", &vec![0]));
        assert_eq!(task.uses[0].path, [Step::Key("lines".to_owned()), Step::Index(0)]);
        assert_eq!(task.uses[0].default, Some("none".into()));
        assert!(matches!(&task.verb, Verb::Infer(infer) if infer.prompt.text == "say {{ use.x }}"));
        assert!(flow.permits.is_some_and(|permits| permits == Permits::default()));
    }

    #[test]
    fn nothing_is_a_value_where_anything_may_stand() {
        let text = "schema: nika/workflow@1\ntasks:\n  - {id: a, exec: [ls], on_error: {value: null}}\n  - {id: b, use: {x: {path: a, default: null}}, exec: [ls]}\n";
        let flow = read(text, "x").expect("it reads");
        assert_eq!(flow.tasks[0].on_error, crate::model::OnError::Value(Dynamic::Plain(Value::Null)));
        assert_eq!(flow.tasks[1].uses[0].default, Some(Value::Null));
    }

    #[test]
    fn all_that_is_wrong_is_found_at_once() {
        let text = "schema: nika/workflow@1\nnmae: x\ntasks:\n  - id: 1a\n    exec: [ls]\n  - id: b\n    exec: [ls]\n    infer: hi\n    timeout: 30\n  - id: b\n    depends_on: [c]\n    exec: ls -l\n  - id: d\n    when: true\n";
        let seen = found(text);
        for (place, words) in [
            ("2:1", "`nmae` is not a key of a workflow"),
            ("4:9", "`1a` cannot be the id of a task"),
            ("8:5", "has `exec` and `infer`"),
            ("9:14", "`timeout` takes a time like"),
            ("10:9", "the id `b` is given twice; line 6"),
            ("11:18", "names the task `c`"),
            ("12:11", "`exec` takes a list of words"),
            ("13:5", "this one has none"),
        ] {
            assert!(
                seen.iter().any(|line| line.starts_with(place) && line.contains(words)),
                "{place} {words}: {seen:#?}"
            );
        }
        assert_eq!(seen.len(), 8, "{seen:#?}");
    }

    #[test]
    fn what_would_be_right_is_said() {
        let task = |rest: &str| format!("{HEAD}tasks:\n  - {{id: a, {rest}}}\n");
        for (text, words, meant) in [
            (task("infer: x, for_each: [1], concurrency: four"), "`concurrency` takes a whole number, 1 to 64", "`4`?"),
            (task("infer: x, for_each: [1], concurrency: 65"), "`concurrency` takes a whole number, 1 to 64", "`64`?"),
            (task("infer: x, retry: 0"), "the tries of `retry`", "`1`?"),
            (task("infer: x, retry: \"3\""), "the tries of `retry`", "`3`?"),
            (task("infer: x, timeout: 5 minutes"), "`timeout` takes a time", "`5m`"),
            (task("infer: x, on_error: ignore"), "`on_error` takes fail, skip", "`skip` leaves the task out"),
            (format!("{HEAD}inputs: {{n: {{type: array, default: [1]}}}}\n{ONE}"), "`type` of the input `n`", "`list`"),
            (format!("{HEAD}inputs: {{n: {{type: list, default: x}}}}\n{ONE}"), "the input `n` is a list", "[x]"),
            (format!("{HEAD}inputs: {{n: {{type: number, default: '5'}}}}\n{ONE}"), "is a number", "without quotes: 5"),
            (format!("{HEAD}tasks:\n  - id: a\n    description: what\n\texec: [ls]\n"), "a tab indents", "with spaces"),
            (
                format!("{HEAD}tasks:\n  - id: a\n    invoke:\n      tool read\n      params: {{}}\n"),
                "neither",
                "`tool: read`",
            ),
            ("schema: nika/workflow@2\n".to_owned(), "this version knows", "did you mean `nika/workflow@1`?"),
            (task("infer: x, timeout: 5 parsecs"), "`timeout` takes a time", "units are ms, s, m, h, d: `5s`"),
            (
                task("infer: x, for_each: [1], fail_fast: \"no\""),
                "`fail_fast` takes true or false",
                "`false`, without quotes?",
            ),
            (
                task("fetch: {url: \"https://a.org\", method: FOO}"),
                "`method` takes GET, POST",
                "`GET` is what stands there",
            ),
            (
                task("fetch: {url: \"https://a.org\", method: HEAD}"),
                "`method` takes GET, POST, PUT, PATCH, DELETE",
                "`GET`",
            ),
            (format!("{HEAD}tasks: {{a: {{exec: [ls]}}}}\n"), "`tasks` takes a list", "`- id: a`"),
            (
                "schema: nika/workflow@0.6\ntasks: []\n".to_owned(),
                "this version knows",
                "nika/workflow@0.1 to nika/workflow@0.5",
            ),
            (
                "schema: nika/workflow@0.12\ntasks: []\n".to_owned(),
                "this version knows",
                "nika/workflow@0.1 to nika/workflow@0.5",
            ),
            (task("exec: [ls], timeout: 20m"), "`timeout` of `exec` takes at most 10m", "`10m`?"),
            (task("fetch: \"https://a.org\", timeout: 1m"), "`timeout` of `fetch` takes at most 30s", "`30s`?"),
            (
                task("fetch: {url: \"https://a.org\", read: markdown, method: POST}"),
                "takes no `method`",
                "`read: text`",
            ),
            (
                task("fetch: {url: \"https://a.org\", read: markdown, headers: {a: b}}"),
                "takes no `headers`",
                "`read: text`",
            ),
            (task("fetch: {url: \"https://a.org\", read: markdown, body: x}"), "takes no `body`", "`read: text`"),
            (format!("{HEAD}name: \"x\ntasks:\n  - {{id: a, exec: [ls]}}\n"), "", "line 2"),
            (format!("{HEAD}tasks:\n  - id: a\n    exec: [ls]\n   - id: b\n     exec: [ls]\n"), "", "line 5"),
        ] {
            let findings = read(&text, "a.nika.yaml").expect_err(&text);
            let is = |finding: &Finding| {
                let suggestion = finding.suggestion.as_deref().unwrap_or_default();
                finding.message.contains(words) && suggestion.contains(meant)
            };
            assert!(findings.iter().any(is), "{text}\nwanted {words} = {meant}\n{findings:#?}");
        }
        for fine in
            [task("infer: x, timeout: 20m"), task("fetch: {url: \"https://a.org\", read: markdown, method: GET}")]
        {
            assert_eq!(found(&fine), Vec::<String>::new(), "{fine}");
        }
    }

    #[test]
    fn what_is_no_workflow_is_said() {
        for (text, words) in [
            ("", "the file is empty"),
            ("# nothing\n", "the file is empty"),
            ("- a\n", "a workflow is a mapping"),
            ("tasks: []\n", "does not say `schema`"),
            ("schema: nika/workflow@9\n", "this version knows nika/workflow@1"),
            ("schema: nika/workflow@1\ntasks: []\n", "`tasks` is empty"),
            ("schema: nika/workflow@1\ntasks:\n\t- id: a\n", "a tab indents"),
            ("schema: nika/workflow@1\n---\nschema: x\n", "a workflow is one document"),
            ("schema: nika/workflow@1\nschema: nika/workflow@1\ntasks: [{id: a, exec: [ls]}]", "occurs twice"),
            ("schema: nika/workflow@1\ntasks: [", ""),
            ("schema: nika/workflow@1\ntasks:\n  - id: a\n    infer: {{ use.a }}\n", ""),
            ("a: &a [*a]\n", ""),
            ("\0\u{1}", ""),
            ("schema: !!binary x\n", ""),
        ] {
            let seen = found(text);
            assert!(!seen.is_empty() && seen.iter().any(|line| line.contains(words)), "{text}: {seen:#?}");
        }
    }

    #[test]
    fn bombs_and_giants_are_refused() {
        let mut bomb = "schema: nika/workflow@1\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for n in 1..12 {
            let before = format!("*a{}", n - 1);
            bomb.push_str(&format!("a{n}: &a{n} [{}]\n", vec![before; 10].join(",")));
        }
        let started = std::time::Instant::now();
        assert!(found(&bomb)[0].contains("NIKA-870"), "{:?}", found(&bomb));
        let deep = format!("{HEAD}tasks: {}", "[".repeat(100_000));
        assert!(found(&deep)[0].contains("NIKA-870"), "{:?}", found(&deep));
        let large = format!("{HEAD}{}", "# ten megabytes\n".repeat(700_000));
        assert!(found(&large)[0].contains("at most"), "{:?}", found(&large));
        assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    }

    #[test]
    fn circles_are_named() {
        let task = |id: &str, after: &str| format!("  - id: {id}\n    depends_on: [{after}]\n    exec: [ls]\n");
        let text = format!("{HEAD}tasks:\n{}{}{}{}", task("a", "c"), task("b", "a"), task("c", "b"), task("d", "d"));
        let seen = found(&text);
        assert!(seen[0].contains("wait for each other: a → b → c → a"), "{seen:#?}");
        assert!(seen[1].contains("`d` waits for itself"), "{seen:#?}");
        assert_eq!(seen.len(), 2, "{seen:#?}");
    }

    #[test]
    fn a_finding_shows_its_line() {
        let text = "schema: nika/workflow@1\ntasks:\n  - id: a\n    exce: [ls]\n";
        let findings = read(text, "x").expect_err("it has a slip");
        let shown: String = findings.iter().map(|finding| show("x.yaml", text, finding)).collect();
        assert!(shown.contains("x.yaml:4:5: NIKA-871 `exce` is not a key of a task\n4 |     exce: [ls]\n  |     ^^^^\n  = did you mean `exec`?"), "{shown}");
    }
}
