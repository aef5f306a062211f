//! The five verbs of older documents.

use nika_contract::code;
use serde_json::Value;

use super::keys::{self, Taken};
use super::text::{self, Known, Piece};
use super::{Reader, shell};
use crate::finding::Finding;
use crate::model::{
    Agent, Answer, At, Called, Capture, Command, Dynamic, Exec, Fetch, FetchRead, Infer, Invoke, ModelChoice, Template,
    Verb,
};
use crate::read::yaml::{Kind, Node};

/// The verbs, as tasks name them.
const VERBS: &[&str] = &["infer", "exec", "fetch", "invoke", "agent"];
/// What `fetch` sends.
const METHODS: &[&str] = &["GET", "POST", "PUT", "DELETE", "PATCH"];
/// Turns of an agent when nothing is said, and at most.
const TURNS: (u32, u64) = (10, 100);

/// What `output` says.
#[derive(Default)]
struct Wanted {
    json: bool,
    schema: Option<At<Value>>,
}

impl Reader<'_> {
    pub(super) fn verb(&mut self, taken: &Taken<'_>, id: &At<String>, known: &Known<'_>) -> Option<Verb> {
        let said: Vec<_> = taken.all().iter().filter(|(key, _)| VERBS.contains(&key.value.as_str())).collect();
        let (key, node) = match said.as_slice() {
            [one] => **one,
            // It was said already what is wrong with its verb.
            [] if VERBS.iter().any(|verb| taken.missed(verb)) => return None,
            [] => {
                let message = format!("the task `{}` does nothing", id.value);
                self.error(id.at, message, &format!("give it one of {}", VERBS.join(", ")));
                return None;
            }
            [_, second, ..] => {
                let message = format!("the task `{}` does two things: `{}` is the second", id.value, second.0.value);
                self.error(second.0.at, message, "make two tasks of it");
                return None;
            }
        };
        let wanted = taken.get("output").map(|node| self.wanted(node)).unwrap_or_default();
        if let (Some(schema), false) = (&wanted.schema, matches!(key.value.as_str(), "infer" | "agent")) {
            let what = format!("`output.schema` of `{}`", key.value);
            self.gone(schema.at, &what, "write `format: json` alone; schemas are for `infer` and `agent`");
        }
        Some(match key.value.as_str() {
            "infer" => Verb::Infer(self.infer(node, wanted, known)?),
            "exec" => Verb::Exec(self.exec(node, &wanted, known)?),
            "fetch" => Verb::Fetch(self.fetch(node, &wanted, known)?),
            "invoke" => Verb::Invoke(self.invoke(node, known)?),
            _ => Verb::Agent(self.agent(node, wanted, known)?),
        })
    }

    fn wanted(&mut self, node: &Node) -> Wanted {
        let Some(taken) = self.mapping(node, "`output`", keys::OUTPUT) else { return Wanted::default() };
        let json = match taken.get("format").and_then(|node| self.text_of(node, "format")) {
            Some(format) => {
                if !matches!(format.value.as_str(), "text" | "json") {
                    let message = format!("`format` takes `text` or `json`, not '{}'", format.value);
                    self.findings.push(Finding::error(code::FLOW_SHAPE, format.at, message));
                }
                format.value == "json"
            }
            None => false,
        };
        let schema = taken.get("schema").and_then(|node| match &node.kind {
            Kind::Text(_) | Kind::Map(_) => Some(At { value: node.value(), at: node.at }),
            _ => {
                self.shape(node, "schema", "a path to a JSON schema");
                None
            }
        });
        Wanted { json, schema }
    }

    fn infer(&mut self, node: &Node, wanted: Wanted, known: &Known<'_>) -> Option<Infer> {
        let (prompt, model) = match &node.kind {
            Kind::Map(_) => {
                let taken = self.mapping(node, "`infer`", keys::INFER)?;
                (self.required(&taken, node, "prompt", known)?, self.model(&taken))
            }
            _ => (self.template(node, "infer", known)?, ModelChoice::default()),
        };
        Some(Infer { prompt, system: None, model, answer: answer(wanted) })
    }

    fn exec(&mut self, node: &Node, wanted: &Wanted, known: &Known<'_>) -> Option<Exec> {
        let command = match &node.kind {
            Kind::Map(_) => {
                let taken = self.mapping(node, "`exec`", keys::EXEC)?;
                match taken.get("command") {
                    Some(node) => self.text_of(node, "command")?,
                    None => {
                        self.error(node.at, "`command` is missing", "write `exec: \"make\"`");
                        return None;
                    }
                }
            }
            _ => self.text_of(node, "exec")?,
        };
        let at = command.at;
        let pieces = self.pieces_of(&command, known)?;
        let carried = shell::carry(&pieces);
        for (value, refusal) in &carried.refused {
            let message = format!(
                "`{}` stands {}; that is not carried over from nika/workflow@{}",
                value.raw, refusal.place, self.release
            );
            let place = self.place(at, &value.raw, value.nth);
            let instead = refusal.instead.replace("{{use.x}}", &value.raw);
            self.findings.push(Finding::error(code::FLOW_NOT_CARRIED, place, message).suggest(instead));
        }
        let env = carried.env.into_iter().map(|(name, value)| {
            let place = self.place(at, &value.raw, value.nth);
            (At { value: name, at: place }, Template { text: text::today(&[Piece::Value(value)]), at: place })
        });
        Some(Exec {
            env: env.collect(),
            command: Command::Shell(At { value: carried.text, at }),
            cwd: None,
            stdin: None,
            ok_exit: vec![0],
            capture: if wanted.json { Capture::Json } else { Capture::Stdout },
        })
    }

    fn fetch(&mut self, node: &Node, wanted: &Wanted, known: &Known<'_>) -> Option<Fetch> {
        let read = if wanted.json { FetchRead::Json } else { FetchRead::Text };
        let Kind::Map(_) = node.kind else {
            let url = self.template(node, "fetch", known)?;
            return Some(Fetch { url, method: "GET".into(), headers: Vec::new(), body: None, read });
        };
        let taken = self.mapping(node, "`fetch`", keys::FETCH)?;
        let url = self.required(&taken, node, "url", known);
        let method = match taken.get("method").and_then(|node| self.text_of(node, "method")) {
            None => "GET".to_owned(),
            Some(method) => {
                let upper = method.value.to_uppercase();
                if !METHODS.contains(&upper.as_str()) {
                    let message = format!("`method` takes {}, not '{}'", METHODS.join(", "), method.value);
                    self.findings.push(Finding::error(code::FLOW_SHAPE, method.at, message));
                }
                upper
            }
        };
        let mut headers = Vec::new();
        match taken.get("headers").map(|node| (node, &node.kind)) {
            None => {}
            Some((_, Kind::Map(entries))) => {
                for (name, node) in entries {
                    headers.extend(self.template(node, &name.value, known).map(|value| (name.clone(), value)));
                }
            }
            Some((node, _)) => self.shape(node, "headers", "names and texts"),
        }
        let body = taken.get("body").and_then(|node| self.dynamic(node, known));
        Some(Fetch { url: url?, method, headers, body, read })
    }

    fn invoke(&mut self, node: &Node, known: &Known<'_>) -> Option<Invoke> {
        let taken = self.mapping(node, "`invoke`", keys::INVOKE)?;
        let Some(server) = taken.get("mcp") else {
            self.error(node.at, "`mcp` is missing", "name the server: `invoke: {mcp: SERVER, tool: NAME}`");
            return None;
        };
        let server = self.text_of(server, "mcp")?;
        let params = match taken.get("params") {
            Some(node) if matches!(node.kind, Kind::Map(_)) => self.dynamic(node, known)?,
            Some(node) => {
                self.shape(node, "params", "names and values");
                return None;
            }
            None => Dynamic::Object(Vec::new()),
        };
        let what = match (taken.entry("tool"), taken.entry("resource")) {
            (Some((_, tool)), None) => {
                let tool = self.text_of(tool, "tool")?;
                Called::Tool(At { value: format!("mcp__{}__{}", server.value, tool.value), at: tool.at })
            }
            (None, Some((_, uri))) => {
                if let Some((key, _)) = taken.entry("params") {
                    self.error(key.at, "a resource takes no `params`", "take them out");
                }
                Called::Resource { server, uri: self.template(uri, "resource", known)? }
            }
            (None, None) => {
                self.error(
                    node.at,
                    "`invoke` names neither a tool nor a resource",
                    "write `tool: NAME` or `resource: URI`",
                );
                return None;
            }
            (Some(_), Some((key, _))) => {
                self.error(key.at, "`invoke` names a tool and a resource", "make two tasks of it");
                return None;
            }
        };
        Some(Invoke { what, params })
    }

    fn agent(&mut self, node: &Node, wanted: Wanted, known: &Known<'_>) -> Option<Agent> {
        let Kind::Map(_) = node.kind else {
            let prompt = self.template(node, "agent", known)?;
            return Some(Agent {
                prompt,
                system: None,
                model: ModelChoice::default(),
                tools: Some(Vec::new()),
                max_turns: TURNS.0,
                tokens: None,
                answer: answer(wanted),
            });
        };
        let taken = self.mapping(node, "`agent`", keys::AGENT)?;
        if let Some(scope) = taken.get("scope").and_then(|node| self.text_of(node, "scope"))
            && scope.value != "full"
        {
            let what = format!("`scope: {}`", scope.value);
            self.gone(scope.at, &what, "take it out: an agent sees its prompt, and what `use` hands it");
        }
        if let Some((key, node)) = taken.entry("extended_thinking")
            && self.boolean(node, "extended_thinking") == Some(true)
        {
            let instead = "say how hard the model thinks in the configuration: `providers.NAME.effort: high`";
            self.gone(key.at, "`extended_thinking`", instead);
        }
        // An agent of older documents has the tools of the servers that it names, and no others.
        let tools = match taken.get("mcp").map(|node| (node, &node.kind)) {
            None => Vec::new(),
            Some((_, Kind::List(nodes))) => {
                let servers: Vec<At<String>> = nodes.iter().filter_map(|node| self.text_of(node, "mcp")).collect();
                servers.into_iter().map(|server| At { value: format!("mcp__{}", server.value), ..server }).collect()
            }
            Some((node, _)) => {
                self.shape(node, "mcp", "a list of servers");
                Vec::new()
            }
        };
        let turns = taken.get("max_turns").and_then(|node| self.whole(node, "max_turns", 1..=TURNS.1));
        let tokens = taken.get("token_budget").and_then(|node| self.whole(node, "token_budget", 1..=u64::MAX));
        let prompt = self.required(&taken, node, "prompt", known);
        let system = taken.get("system").and_then(|node| self.template(node, "system", known));
        let model = self.model(&taken);
        Some(Agent {
            prompt: prompt?,
            system,
            model,
            tools: Some(tools),
            max_turns: turns.and_then(|turns| u32::try_from(turns).ok()).unwrap_or(TURNS.0),
            tokens,
            answer: answer(wanted),
        })
    }

    fn required(&mut self, taken: &Taken<'_>, node: &Node, key: &str, known: &Known<'_>) -> Option<Template> {
        match taken.get(key) {
            Some(node) => self.template(node, key, known),
            None => {
                if !taken.missed(key) {
                    self.error(node.at, format!("`{key}` is missing"), &format!("write `{key}: …`"));
                }
                None
            }
        }
    }

    /// A text with its templates translated.
    fn template(&mut self, node: &Node, key: &str, known: &Known<'_>) -> Option<Template> {
        let said = match &node.kind {
            // A header or a part of a text may look like a number.
            Kind::Number(number) => At { value: number.to_string(), at: node.at },
            _ => self.text_of(node, key)?,
        };
        let pieces = self.pieces_of(&said, known)?;
        Some(Template { text: text::today(&pieces), at: said.at })
    }

    /// A value whose texts have their templates translated.
    pub(super) fn dynamic(&mut self, node: &Node, known: &Known<'_>) -> Option<Dynamic> {
        Some(match &node.kind {
            Kind::Text(_) => Dynamic::Text(self.template(node, "text", known)?),
            Kind::List(items) => {
                Dynamic::List(items.iter().map(|item| self.dynamic(item, known)).collect::<Option<_>>()?)
            }
            Kind::Map(entries) => {
                let entries = entries.iter().map(|(key, node)| Some((key.clone(), self.dynamic(node, known)?)));
                Dynamic::Object(entries.collect::<Option<_>>()?)
            }
            _ => Dynamic::Plain(node.value()),
        })
    }

    fn pieces_of(&mut self, said: &At<String>, known: &Known<'_>) -> Option<Vec<Piece>> {
        let node = Node { kind: Kind::Null, at: said.at };
        self.pieces(&said.value, &node, known)
    }

    /// A text in its parts; a template that names nothing is said.
    pub(super) fn pieces(&mut self, said: &str, node: &Node, known: &Known<'_>) -> Option<Vec<Piece>> {
        match text::pieces(said, known) {
            Ok(pieces) => Some(pieces),
            Err(unknown) => {
                for one in unknown {
                    let place = self.place(node.at, &one.raw, one.nth);
                    let finding = Finding::error(code::FLOW_TEMPLATE, place, format!("`{}` {}", one.raw, one.why));
                    self.findings.push(finding.suggest_some(one.instead));
                }
                None
            }
        }
    }
}

fn answer(wanted: Wanted) -> Answer {
    match wanted {
        Wanted { schema: Some(schema), .. } => Answer::Fitting(schema),
        Wanted { json: true, .. } => Answer::Json,
        _ => Answer::Text,
    }
}
