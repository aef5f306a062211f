//! One task: what surrounds its verb.

use std::time::Duration;

use nika_contract::code;

use super::binding;
use super::fields::{Fields, Reader, is_id, meant};
use super::verbs;
use super::yaml::{Kind, Node};
use crate::finding::Finding;
use crate::model::{At, Command, Dynamic, Exec, ForEach, OnError, Retry, Span, Task, Template, Use, Verb};
use crate::shape;

/// Names of other tasks, before anybody knows where they stand.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    pub after: Vec<At<String>>,
    pub uses: Vec<(Use, At<String>)>,
}

/// Reads a task. What cannot be read has a finding, and the task stands in its place all the same.
pub(crate) fn task(reader: &mut Reader, node: &Node, number: usize) -> (Task, Waits) {
    let mut task = empty(node.at);
    let mut waits = Waits::default();
    if let Kind::Map(entries) = &node.kind {
        // A task of one key that is no key of tasks is one of the older form: `name: {…}`.
        if let [(key, Node { kind: Kind::Map(_), .. })] = entries.as_slice()
            && !shape::TASK.keys.iter().any(|known| known.name == key.value)
        {
            let message = format!("`{}` is not a key of a task; its name is written `id: {}`", key.value, key.value);
            reader.error(code::FLOW_SHAPE, key.at, message);
            return (task, waits);
        }
    }
    let Some(fields) = reader.fields(node, &shape::TASK) else { return (task, waits) };
    if let Some(id) = fields.get("id").and_then(|node| reader.text(node, &format!("`id` of task {}", number + 1))) {
        if is_id(&id.value) {
            task.id = id;
        } else {
            let message = format!("`{}` cannot be the id of a task", super::preview(&id.value));
            let words = "ids are a letter or `_`, then letters, digits, `_` and `-`";
            reader.findings.push(Finding::error(code::FLOW_NAME, id.at, message).suggest(words));
        }
    }
    if let Some(node) = fields.get("description") {
        task.description = reader.text(node, "`description`").map(|text| text.value);
    }
    if let Some(node) = fields.get("depends_on") {
        waits.after = reader.texts(node, "`depends_on`");
    }
    if let Some(node) = fields.get("use") {
        waits.uses = uses(reader, node);
    }
    task.for_each = for_each(reader, &fields);
    task.when = fields.get("when").and_then(|node| when(reader, node));
    if let Some(node) = fields.get("retry") {
        task.retry = retry(reader, node);
    }
    if let Some(verb) = verb(reader, node, &fields) {
        task.verb = verb;
    }
    let timeout = fields.get("timeout").and_then(|node| reader.duration(node, "`timeout`"));
    task.timeout = timeout.as_ref().map_or(task.verb.default_timeout(), |at| at.value);
    if let (Some(at), Some(most)) = (timeout, task.verb.longest_timeout().filter(|most| task.timeout > *most)) {
        let (verb, most) = (task.verb.name(), written(most));
        let message = format!("`timeout` of `{verb}` takes at most {most}, as no {verb} is waited for longer");
        reader.findings.push(Finding::error(code::FLOW_SHAPE, at.at, message).suggest(format!("`{most}`?")));
    }
    if let Some(node) = fields.get("on_error") {
        task.on_error = on_error(reader, node);
    }
    (task, waits)
}

/// A bound as documents write it.
fn written(most: Duration) -> String {
    match most.as_secs() {
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

/// What stands for a task that could not be read.
fn empty(at: Span) -> Task {
    let verb = Verb::Exec(Exec {
        command: Command::Words(Vec::new()),
        cwd: None,
        env: Vec::new(),
        stdin: None,
        ok_exit: vec![0],
        capture: Default::default(),
    });
    Task {
        id: At { value: String::new(), at },
        description: None,
        timeout: verb.default_timeout(),
        verb,
        after: Vec::new(),
        uses: Vec::new(),
        for_each: None,
        when: None,
        retry: Retry::default(),
        on_error: OnError::default(),
    }
}

/// The one verb.
fn verb(reader: &mut Reader, node: &Node, fields: &Fields<'_>) -> Option<Verb> {
    let mut found: Vec<&str> = shape::VERBS.iter().copied().filter(|verb| fields.entry(verb).is_some()).collect();
    found.sort_by_key(|verb| fields.entry(verb).map(|(key, _)| (key.at.line, key.at.column)));
    let (first, rest) = match found.split_first() {
        Some(split) => split,
        None => {
            let Kind::Map(entries) = &node.kind else { return None };
            let said = entries.iter().find(|(key, _)| key.value == "id").map_or(node.at, |(key, _)| key.at);
            let message = "a task has one verb, and this one has none";
            let finding = Finding::error(code::FLOW_SHAPE, said, message);
            reader.findings.push(finding.suggest(format!("add one of {}", shape::VERBS.join(", "))));
            return None;
        }
    };
    for second in rest {
        let at = fields.entry(second).map_or(node.at, |(key, _)| key.at);
        let message = format!("a task has one verb, and this one has `{first}` and `{second}`");
        reader.findings.push(Finding::error(code::FLOW_SHAPE, at, message).suggest("make it two tasks"));
    }
    let answer = verbs::answer(reader, fields.entry("output"), first);
    let (key, node) = fields.entry(first)?;
    if matches!(node.kind, Kind::Null) {
        reader.error(code::FLOW_SHAPE, key.at, format!("`{first}` says nothing"));
        return None;
    }
    match *first {
        "infer" => verbs::infer(reader, node, answer).map(Verb::Infer),
        "exec" => verbs::exec(reader, node).map(Verb::Exec),
        "fetch" => verbs::fetch(reader, node).map(Verb::Fetch),
        "invoke" => verbs::invoke(reader, node).map(Verb::Invoke),
        _ => verbs::agent(reader, node, answer).map(Verb::Agent),
    }
}

fn uses(reader: &mut Reader, node: &Node) -> Vec<(Use, At<String>)> {
    let entries = reader.entries(node, "`use`");
    let mut uses = Vec::new();
    for (name, node) in entries {
        reader.name(name, "a `use`");
        let what = format!("`use.{}`", super::preview(&name.value));
        let (path, given) = match &node.kind {
            Kind::Map(_) => {
                let Some(fields) = reader.fields(node, &shape::USE) else { continue };
                let default = fields.entry("default").map(|(_, node)| node.value());
                (fields.get("path").and_then(|node| reader.text(node, &format!("`path` of {what}"))), default)
            }
            _ => (reader.text(node, &what), None),
        };
        let Some(path) = path else { continue };
        match binding::binding(&path.value) {
            Ok(binding) => {
                let default = given.or(binding.default);
                let length = binding.task.chars().count();
                // The id stands first, behind a quote where there is one.
                let task = At { value: binding.task, at: Span { length, ..path.at } };
                uses.push((Use { name: name.clone(), task: 0, path: binding.path, default }, task));
            }
            Err(why) => reader.error(code::FLOW_SHAPE, path.at, format!("{what}: {why}")),
        }
    }
    uses
}

fn for_each(reader: &mut Reader, fields: &Fields<'_>) -> Option<ForEach> {
    let beside = |key: &str| fields.entry(key);
    let Some(node) = fields.get("for_each") else {
        for key in ["as", "concurrency", "fail_fast"] {
            if let Some((key, _)) = beside(key) {
                let message = format!("`{}` stands beside `for_each`, and there is none", key.value);
                reader.error(code::FLOW_SHAPE, key.at, message);
            }
        }
        if let Some((key, _)) = beside("for_each") {
            reader.error(code::FLOW_SHAPE, key.at, "`for_each` says nothing");
        }
        return None;
    };
    let inner = match &node.kind {
        Kind::Map(_) => Some(reader.fields(node, &shape::FOR_EACH)?),
        _ => None,
    };
    let said = |key: &str| {
        let (inside, outside) = (inner.as_ref().and_then(|fields| fields.entry(key)), beside(key));
        if let (Some(_), Some((key, _))) = (inside, outside) {
            return Err((key.at, format!("`{}` stands in `for_each` already", key.value)));
        }
        Ok(inside.or(outside).map(|(_, node)| node).filter(|node| !matches!(node.kind, Kind::Null)))
    };
    let get = |reader: &mut Reader, key: &str| match said(key) {
        Ok(node) => node,
        Err((at, message)) => {
            reader.error(code::FLOW_SHAPE, at, message);
            None
        }
    };
    let name = get(reader, "as").and_then(|node| reader.text(node, "`as`"));
    let concurrency =
        get(reader, "concurrency").and_then(|node| reader.count(node, "`concurrency`", 1, shape::MOST_AT_ONCE));
    let fail_fast = get(reader, "fail_fast").and_then(|node| reader.truth(node, "`fail_fast`"));
    if let Some(name) = &name {
        const OURS: &[&str] = &["inputs", "use", "secrets", "env", "tasks", "loop", "range"];
        if OURS.contains(&name.value.as_str()) {
            let message = format!("`{}` is a name of templates already, so no element can be called so", name.value);
            reader.findings.push(Finding::error(code::FLOW_NAME, name.at, message).suggest("`item`?"));
        } else {
            reader.name(name, "an element");
        }
    }
    let node = match &inner {
        Some(fields) => fields.get("items")?,
        None => node,
    };
    let items = match &node.kind {
        Kind::List(_) => reader.dynamic(node),
        Kind::Text(text) if crate::template::is_template(text) => reader.dynamic(node),
        Kind::Text(text) => {
            let message =
                format!("`for_each` takes a list, or a template that gives one, and this is {}", node.described());
            let name = text.trim().trim_start_matches('$');
            let meant = (!name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.[]".contains(c)))
                .then(|| format!("\"{{{{ {name} }}}}\"?"));
            reader.findings.push(Finding::error(code::FLOW_TYPE, node.at, message).suggest_some(meant));
            return None;
        }
        _ => {
            let message =
                format!("`for_each` takes a list, or a template that gives one, and this is {}", node.described());
            reader.error(code::FLOW_TYPE, node.at, message);
            return None;
        }
    };
    Some(ForEach {
        items,
        name: name.map_or_else(|| "item".to_owned(), |name| name.value),
        concurrency: concurrency.and_then(|count| usize::try_from(count).ok()).unwrap_or(1),
        fail_fast: fail_fast.unwrap_or(true),
    })
}

fn when(reader: &mut Reader, node: &Node) -> Option<Template> {
    match &node.kind {
        Kind::Bool(value) => Some(Template { text: value.to_string(), at: node.at }),
        _ => reader.template(node, "`when`"),
    }
}

fn retry(reader: &mut Reader, node: &Node) -> Retry {
    let mut retry = Retry::default();
    let attempts = |reader: &mut Reader, node: &Node| {
        reader.count(node, "the tries of `retry`", 1, 100).and_then(|count| u32::try_from(count).ok()).unwrap_or(1)
    };
    if !matches!(node.kind, Kind::Map(_)) {
        retry.attempts = attempts(reader, node);
        return retry;
    }
    let Some(fields) = reader.fields(node, &shape::RETRY) else { return retry };
    if let Some(node) = fields.get("attempts") {
        retry.attempts = attempts(reader, node);
    }
    let mut wait = |key: &str, so_far: Duration| {
        let read = fields.get(key).and_then(|node| reader.duration(node, &format!("`{key}` of `retry`")));
        read.map_or(so_far, |at| at.value)
    };
    retry.backoff = wait("backoff", retry.backoff);
    retry.most = wait("max_backoff", retry.most);
    if let Some(factor) = fields.get("factor").and_then(|node| reader.number(node, "`factor` of `retry`", 1.0, 100.0)) {
        retry.factor = factor;
    }
    retry
}

fn on_error(reader: &mut Reader, node: &Node) -> OnError {
    match &node.kind {
        Kind::Text(text) if text == "fail" => OnError::Fail,
        Kind::Text(text) if text == "skip" => OnError::Skip,
        Kind::Map(_) => {
            let Some(fields) = reader.fields(node, &shape::ON_ERROR) else { return OnError::Fail };
            // Nothing is a value, too.
            fields.entry("value").map_or(OnError::Fail, |(_, node)| OnError::Value(reader.dynamic(node)))
        }
        _ => {
            let message = format!("`on_error` takes fail, skip or {{value: …}}, and this is {}", node.described());
            let written = match &node.kind {
                Kind::Text(text) => text.as_str(),
                _ => "",
            };
            let near = meant(written, ["fail", "skip"]).filter(|meant| meant.starts_with("did"));
            let value = || format!("`skip` leaves the task out; {{value: {written}}} puts that in its place");
            let meant = near.or_else(|| (!written.is_empty()).then(value));
            reader.findings.push(Finding::error(code::FLOW_SHAPE, node.at, message).suggest_some(meant));
            OnError::Value(Dynamic::Plain(serde_json::Value::Null))
        }
    }
}
