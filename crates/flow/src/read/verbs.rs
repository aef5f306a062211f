//! What each verb takes, in its short form and its long one.

use nika_contract::code;

use super::fields::{Fields, Reader};
use super::yaml::{Kind, Node};
use crate::finding::Finding;
use crate::model::{
    Agent, Answer, At, Called, Capture, Command, Dynamic, Exec, Fetch, FetchRead, Infer, Invoke, ModelChoice, Template,
};
use crate::shape;
use crate::template::is_template;

/// Turns of an agent when the document says nothing.
const MAX_TURNS: u32 = 10;

/// `output`, which only models know.
pub(super) fn answer(reader: &mut Reader, said: Option<&(At<String>, Node)>, verb: &str) -> Answer {
    let Some((key, node)) = said else { return Answer::Text };
    if !matches!(verb, "infer" | "agent") {
        let message = format!("`output` says what a model answers with, and `{verb}` asks none");
        let finding = Finding::error(code::FLOW_SHAPE, key.at, message);
        let instead = match verb {
            "exec" => Some("`capture: json` inside `exec` reads what it printed".to_owned()),
            "fetch" => Some("`read: json` inside `fetch` reads the answer".to_owned()),
            _ => None,
        };
        reader.findings.push(finding.suggest_some(instead));
        return Answer::Text;
    }
    let Some(fields) = reader.fields(node, &shape::OUTPUT) else { return Answer::Text };
    let format =
        fields.get("format").and_then(|node| reader.choice(node, "`format`", &[("text", false), ("json", true)]));
    let Some(node) = fields.get("schema") else {
        return if format == Some(true) { Answer::Json } else { Answer::Text };
    };
    if format == Some(false) {
        reader.error(code::FLOW_SHAPE, node.at, "an answer that fits a schema is JSON, and `format` says text");
    }
    match &node.kind {
        Kind::Map(_) | Kind::Text(_) => Answer::Fitting(At { value: node.value(), at: node.at }),
        _ => {
            let message = format!("`schema` takes a JSON schema or a file with one, and this is {}", node.described());
            reader.error(code::FLOW_SHAPE, node.at, message);
            Answer::Json
        }
    }
}

fn model(reader: &mut Reader, fields: &Fields<'_>) -> ModelChoice {
    let mut said = |key: &str| fields.get(key).and_then(|node| reader.text(node, &format!("`{key}`")));
    ModelChoice { provider: said("provider"), model: said("model") }
}

fn templated(reader: &mut Reader, fields: &Fields<'_>, key: &str) -> Option<Template> {
    fields.get(key).and_then(|node| reader.template(node, &format!("`{key}`")))
}

pub(super) fn infer(reader: &mut Reader, node: &Node, answer: Answer) -> Option<Infer> {
    if matches!(node.kind, Kind::Text(_)) {
        let prompt = reader.template(node, "`infer`")?;
        return Some(Infer { prompt, system: None, model: ModelChoice::default(), answer });
    }
    let fields = reader.fields(node, &shape::INFER)?;
    let (prompt, system) = (templated(reader, &fields, "prompt"), templated(reader, &fields, "system"));
    let model = model(reader, &fields);
    Some(Infer { prompt: prompt?, system, model, answer })
}

pub(super) fn agent(reader: &mut Reader, node: &Node, answer: Answer) -> Option<Agent> {
    let mut agent = Agent {
        prompt: Template { text: String::new(), at: node.at },
        system: None,
        model: ModelChoice::default(),
        tools: None,
        max_turns: MAX_TURNS,
        tokens: None,
        answer,
    };
    if matches!(node.kind, Kind::Text(_)) {
        agent.prompt = reader.template(node, "`agent`")?;
        return Some(agent);
    }
    let fields = reader.fields(node, &shape::AGENT)?;
    let prompt = templated(reader, &fields, "prompt");
    agent.system = templated(reader, &fields, "system");
    agent.model = model(reader, &fields);
    agent.tools = fields.get("tools").map(|node| reader.texts(node, "`tools`"));
    if let Some(turns) = fields.get("max_turns").and_then(|node| reader.count(node, "`max_turns`", 1, 100)) {
        agent.max_turns = u32::try_from(turns).unwrap_or(MAX_TURNS);
    }
    agent.tokens = fields.get("token_budget").and_then(|node| reader.count(node, "`token_budget`", 1, u64::MAX));
    agent.prompt = prompt?;
    Some(agent)
}

pub(super) fn exec(reader: &mut Reader, node: &Node) -> Option<Exec> {
    let mut exec = Exec {
        command: Command::Words(Vec::new()),
        cwd: None,
        env: Vec::new(),
        stdin: None,
        ok_exit: vec![0],
        capture: Capture::default(),
    };
    match &node.kind {
        Kind::List(_) => {
            exec.command = words(reader, node, "`exec`")?;
            return Some(exec);
        }
        Kind::Text(text) => {
            let message = "`exec` takes a list of words, and this is a text";
            let finding = Finding::error(code::FLOW_SHAPE, node.at, message);
            let plain = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:@%+".contains(c));
            let meant = if !text.is_empty() && text.split_whitespace().all(plain) {
                format!("exec: [{}]", text.split_whitespace().collect::<Vec<_>>().join(", "))
            } else {
                "exec: [program, word, …]; or, for shell text, exec: {shell: …}".to_owned()
            };
            reader.findings.push(finding.suggest(meant));
            return None;
        }
        _ => {}
    }
    let fields = reader.fields(node, &shape::EXEC)?;
    let command = match (fields.get("command"), fields.get("shell")) {
        (Some(_), Some(shell)) => {
            reader.error(code::FLOW_SHAPE, shell.at, "`exec` has `command` and `shell`; it runs one of them");
            None
        }
        (None, None) => {
            let message = "`exec` has no `command`";
            let finding = Finding::error(code::FLOW_SHAPE, node.at, message);
            reader.findings.push(finding.suggest("command: [program, word, …]; or, for shell text, shell: …"));
            None
        }
        (Some(node), None) => match &node.kind {
            Kind::List(_) => words(reader, node, "`command`"),
            _ => {
                let message = format!("`command` takes a list of words, and this is {}", node.described());
                let finding = Finding::error(code::FLOW_SHAPE, node.at, message);
                reader.findings.push(finding.suggest("[program, word, …]; shell text is `shell`"));
                None
            }
        },
        (None, Some(node)) => shell(reader, node),
    };
    let mut word = |key: &str| fields.get(key).and_then(|node| reader.word(node, &format!("`{key}` of `exec`")));
    (exec.cwd, exec.stdin) = (word("cwd"), word("stdin"));
    if let Some(node) = fields.get("env") {
        exec.env = reader.words(node, "`env` of `exec`");
        for (name, _) in &exec.env {
            reader.name(name, "an environment variable");
        }
    }
    if let Some(node) = fields.get("ok_exit") {
        let nodes = match &node.kind {
            Kind::List(items) => items.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let codes = nodes.iter().filter_map(|node| reader.count(node, "`ok_exit`", 0, 255));
        exec.ok_exit = codes.filter_map(|code| i32::try_from(code).ok()).collect();
    }
    if let Some(node) = fields.get("capture") {
        const CAPTURES: &[(&str, Capture)] = &[
            ("stdout", Capture::Stdout),
            ("stderr", Capture::Stderr),
            ("combined", Capture::Combined),
            ("json", Capture::Json),
            ("all", Capture::All),
        ];
        exec.capture = reader.choice(node, "`capture`", CAPTURES).unwrap_or_default();
    }
    exec.command = command?;
    Some(exec)
}

/// A program and its words.
fn words(reader: &mut Reader, node: &Node, what: &str) -> Option<Command> {
    let items = reader.list(node, what);
    let words: Vec<Template> =
        items.iter().filter_map(|item| reader.word(item, &format!("a word of {what}"))).collect();
    if words.len() < items.len() {
        return None;
    }
    match words.first() {
        Some(program) if !program.text.trim().is_empty() => Some(Command::Words(words)),
        _ => {
            reader.error(code::FLOW_SHAPE, node.at, format!("{what} names no program"));
            None
        }
    }
}

fn shell(reader: &mut Reader, node: &Node) -> Option<Command> {
    let text = reader.text(node, "`shell`")?;
    if is_template(&text.value) {
        let message = "shell text holds no templates: what a value holds would be run";
        let finding = Finding::error(code::FLOW_TEMPLATE, text.at, message);
        reader.findings.push(finding.suggest("put the value into `env` and write \"$NAME\" here, or use `command`"));
        return None;
    }
    Some(Command::Shell(text))
}

pub(super) fn fetch(reader: &mut Reader, node: &Node) -> Option<Fetch> {
    let plain =
        |url| Fetch { url, method: "GET".to_owned(), headers: Vec::new(), body: None, read: FetchRead::default() };
    if matches!(node.kind, Kind::Text(_)) {
        return reader.template(node, "`fetch`").map(plain);
    }
    const METHODS: &[(&str, &str)] =
        &[("GET", "GET"), ("POST", "POST"), ("PUT", "PUT"), ("PATCH", "PATCH"), ("DELETE", "DELETE")];
    const READS: &[(&str, FetchRead)] = &[
        ("text", FetchRead::Text),
        ("json", FetchRead::Json),
        ("markdown", FetchRead::Markdown),
        ("answer", FetchRead::Answer),
    ];
    let fields = reader.fields(node, &shape::FETCH)?;
    let url = fields.get("url").and_then(|node| reader.template(node, "`url`"));
    let method = fields.get("method").and_then(|node| reader.choice(node, "`method`", METHODS));
    let headers = fields.get("headers").map(|node| reader.words(node, "`headers`")).unwrap_or_default();
    let body = fields.get("body").map(|node| reader.dynamic(node));
    let read = fields.get("read").and_then(|node| reader.choice(node, "`read`", READS)).unwrap_or_default();
    if read == FetchRead::Markdown {
        // A page is read by a tool of its own, which sends nothing but its address.
        let sends = |key: &str| fields.entry(key).filter(|_| fields.get(key).is_some());
        let method = sends("method").filter(|_| method.is_some_and(|method| method != "GET"));
        for (key, _) in method.into_iter().chain(sends("headers")).chain(sends("body")) {
            let message = format!("`read: markdown` reads a page by its address alone, and takes no `{}`", key.value);
            let finding = Finding::error(code::FLOW_SHAPE, key.at, message);
            reader.findings.push(finding.suggest("`read: text` takes what the server answers as it is"));
        }
    }
    Some(Fetch { method: method.unwrap_or("GET").to_owned(), headers, body, read, ..plain(url?) })
}

pub(super) fn invoke(reader: &mut Reader, node: &Node) -> Option<Invoke> {
    let fields = reader.fields(node, &shape::INVOKE)?;
    let mut said = |key: &str| fields.get(key).and_then(|node| reader.text(node, &format!("`{key}` of `invoke`")));
    let (tool, server, workflow) = (said("tool"), said("mcp"), said("workflow"));
    let uri = fields.get("resource").and_then(|node| reader.template(node, "`resource`"));
    let params = match fields.get("params") {
        Some(node) if matches!(node.kind, Kind::Map(_)) => reader.dynamic(node),
        Some(node) => {
            reader.error(
                code::FLOW_SHAPE,
                node.at,
                format!("`params` takes names and values, and this is {}", node.described()),
            );
            return None;
        }
        None => Dynamic::Object(Vec::new()),
    };
    let named: Vec<&str> = [("tool", tool.is_some()), ("resource", uri.is_some()), ("workflow", workflow.is_some())]
        .into_iter()
        .filter_map(|(name, there)| there.then_some(name))
        .collect();
    if let [first, second, ..] = named.as_slice() {
        let at = fields.entry(second).map_or(node.at, |(key, _)| key.at);
        reader.error(
            code::FLOW_SHAPE,
            at,
            format!("`invoke` calls one thing, and this names `{first}` and `{second}`"),
        );
        return None;
    }
    let what = match (tool, server, uri, workflow) {
        (Some(tool), Some(server), ..) => {
            let joined = match tool.value.strip_prefix("mcp__") {
                Some(_) => tool.value.clone(),
                None => format!("mcp__{}__{}", server.value, tool.value),
            };
            Called::Tool(At { value: joined, at: tool.at })
        }
        (Some(tool), None, ..) => Called::Tool(tool),
        (None, Some(server), Some(uri), _) => Called::Resource { server, uri },
        (None, None, Some(uri), _) => {
            let finding = Finding::error(code::FLOW_SHAPE, uri.at, "`resource` does not say of which server it is");
            reader.findings.push(finding.suggest("add `mcp: SERVER`"));
            return None;
        }
        (None, server, None, Some(workflow)) => {
            if let Some(server) = server {
                reader.error(code::FLOW_SHAPE, server.at, "`mcp` goes with `tool` or `resource`, not with `workflow`");
            }
            Called::Workflow(workflow)
        }
        (None, _, None, None) => {
            let finding = Finding::error(code::FLOW_SHAPE, node.at, "`invoke` does not say what it calls");
            reader.findings.push(finding.suggest("add `tool`, `mcp` with `tool` or `resource`, or `workflow`"));
            return None;
        }
    };
    if let (Called::Resource { .. }, Some((key, _))) = (&what, fields.entry("params")) {
        reader.error(code::FLOW_SHAPE, key.at, "a resource takes no `params`");
    }
    Some(Invoke { what, params })
}
