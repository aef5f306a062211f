//! The parameters of calls against the schemas of what is called, and then against the tool itself: unknown names, missing
//! ones, values that do not fit. What a template makes is judged as far as its type is sure; the rest is left to the run.

use std::collections::HashMap;

use nika_contract::fit::{self, Part, Problem, Step, Wrong};
use nika_contract::{ToolError, code};
use serde_json::{Map, Value, json};

use super::Surroundings;
use super::needs::host;
use super::nested::{Inner, Nested};
use super::standin::{filled, is_known};
use crate::finding::Finding;
use crate::model::{At, Called, DEEPEST, Dynamic, Fetch, Flow, Index, Kind, Span, Template, Verb};
use crate::read::meant;
use crate::template::{is_template, source};

/// What was found in calls.
pub(super) struct Calls {
    pub findings: Vec<Finding>,
    /// How many workflows stand below one another, this one the first.
    pub height: usize,
    /// The names on the way to a workflow that runs what runs it.
    pub circle: Option<Vec<String>>,
}

/// Looks at every call. `params` is what is known of their parameters.
pub(super) fn check(
    flow: &Flow,
    unbroken: &[Index],
    params: &HashMap<Index, Vec<Part<'static>>>,
    nested: &Nested<'_>,
) -> Calls {
    let calls = Calls { findings: Vec::new(), height: 1, circle: None };
    let mut look = Look { flow, nested, around: nested.around, calls };
    for index in unbroken {
        let task = &flow.tasks[*index];
        if let Verb::Agent(agent) = &task.verb {
            agent.tools.iter().flatten().for_each(|name| look.unknown(name));
        }
        if let Verb::Fetch(fetch) = &task.verb {
            look.request(fetch, task.id.at);
        }
        let Verb::Invoke(invoke) = &task.verb else { continue };
        if let Called::Resource { server, .. } = &invoke.what {
            look.server(server);
        }
        for part in params.get(index).into_iter().flatten() {
            match &invoke.what {
                Called::Tool(name) => look.tool(name, &Told { params: &invoke.params, part }),
                Called::Workflow(path) => look.workflow(path, &Told { params: &invoke.params, part }),
                Called::Resource { .. } => {}
            }
        }
    }
    look.calls
}

struct Look<'a> {
    flow: &'a Flow,
    nested: &'a Nested<'a>,
    around: &'a dyn Surroundings,
    calls: Calls,
}

/// Arguments: as they are written, and what is known of them.
struct Told<'a> {
    params: &'a Dynamic,
    part: &'a Part<'static>,
}

impl Look<'_> {
    fn found(&mut self, finding: Finding) {
        self.calls.findings.push(finding);
    }

    /// A call of a tool.
    fn tool(&mut self, name: &At<String>, told: &Told<'_>) {
        let canonical = nika_guard::names::canonical(&name.value);
        let Some(facts) = self.around.tool(canonical) else { return self.unknown(name) };
        let before = self.calls.findings.len();
        if canonical.starts_with("mcp__") {
            self.fits(&facts.input, &name.value, name.at, told);
        } else {
            // Our schemas leave out that what may be missing may be nothing as well; the tool itself knows.
            let part = without_nothing(told.part);
            self.fits(&facts.input, &name.value, name.at, &Told { part: &part, ..*told });
            if self.calls.findings.len() == before {
                self.asked(canonical, &facts.input, name, told);
            }
        }
        if self.calls.findings.len() == before {
            self.through(canonical, name.at, told);
        }
    }

    /// The tools that call others: what they call is looked at as itself.
    fn through(&mut self, tool: &str, at: Span, told: &Told<'_>) {
        let text = |key: &str| told.text(key);
        let named = match tool {
            "call" => text("tool"),
            "mcp_call_tool" => text("server").zip(text("tool")).map(|(server, tool)| format!("mcp__{server}__{tool}")),
            "mcp_read_resource" => {
                if let Some(server) = text("server") {
                    self.server(&At { value: server, at });
                }
                None
            }
            _ => None,
        };
        let Some(named) = named else { return };
        let (nothing, none) = (Dynamic::Object(Vec::new()), Part::Object(Vec::new()));
        let (params, part) = told.entry("arguments").unwrap_or((&nothing, &none));
        self.tool(&At { value: named, at }, &Told { params, part });
    }

    /// A tool that there is not. A server's tool is known only where servers were asked.
    fn unknown(&mut self, name: &At<String>) {
        if self.around.tool(nika_guard::names::canonical(&name.value)).is_some() {
            return;
        }
        let known = self.around.tools();
        if known.is_empty() {
            return;
        }
        let near = || {
            let meant = meant(&name.value, known.iter().map(String::as_str));
            meant.filter(|meant| meant.starts_with("did"))
        };
        if let Some(rest) = name.value.strip_prefix("mcp__") {
            if !self.around.strict() {
                return;
            }
            // `mcp__SERVER`, of an agent: all that the server has.
            let Some((server, tool)) = rest.split_once("__") else {
                return self.server(&At { value: rest.to_owned(), at: name.at });
            };
            match self.around.missing(&name.value) {
                Some(why) => {
                    let message = format!("`{}` cannot be looked at", name.value);
                    self.found(Finding::error(code::FLOW_UNKNOWN, name.at, message).suggest(why));
                }
                None if tool == "*" && !server.is_empty() => {}
                None => {
                    let message = format!("no configured server has the tool `{}`", name.value);
                    self.found(Finding::error(code::FLOW_UNKNOWN, name.at, message).suggest_some(near()));
                }
            }
            return;
        }
        if name.value.contains(['*', '?', '[']) {
            return;
        }
        let message = format!("there is no tool `{}`", name.value);
        let suggestion = near().unwrap_or_else(|| "`nika tools` lists them".to_owned());
        self.found(Finding::error(code::FLOW_UNKNOWN, name.at, message).suggest(suggestion));
    }

    /// A server whose tools or resources are used: `--strict` asks whether it may be, and starts.
    fn server(&mut self, server: &At<String>) {
        if !self.around.strict() {
            return;
        }
        if let Some(why) = self.around.missing(&format!("mcp__{}__resources", server.value)) {
            let message = format!("the server `{}` cannot be looked at", server.value);
            self.found(Finding::error(code::FLOW_UNKNOWN, server.at, message).suggest(why));
        }
    }

    /// Another workflow: its inputs are its parameters, and its secrets have to be stated here, too.
    fn workflow(&mut self, path: &At<String>, told: &Told<'_>) {
        let nested = self.nested.look(&path.value);
        let inner = match &*nested {
            Inner::Fine(inner) => inner,
            Inner::Missing => {
                // Where nobody can look, nobody misses it.
                if !self.around.tools().is_empty() {
                    let message = format!("there is no workflow {} below the workspace", path.value);
                    self.found(Finding::error(code::FLOW_UNKNOWN, path.at, message));
                }
                return;
            }
            Inner::Faulty => {
                let message = format!("the workflow {} has findings of its own", path.value);
                let hint = format!("`nika check {}` shows them", path.value);
                return self.found(Finding::error(code::FLOW_FAULTY, path.at, message).suggest(hint));
            }
            Inner::Circle(names) => {
                let message = format!("workflows run one another in a circle: {}", names.join(" → "));
                self.calls.circle = Some(names.clone());
                let hint = "take one of its steps out: the run refuses it";
                return self.found(Finding::error(code::FLOW_CYCLE, path.at, message).suggest(hint));
            }
        };
        self.calls.height = self.calls.height.max(1 + inner.height);
        if 1 + inner.height > DEEPEST {
            let message = format!("workflows run one another {} deep, and may {DEEPEST}", 1 + inner.height);
            self.found(
                Finding::error(code::FLOW_CYCLE, path.at, message).suggest("call what is below from fewer places"),
            );
        }
        let stated = |name: &str| self.flow.secrets.iter().any(|secret| secret.value == name);
        let more: Vec<&str> =
            inner.flow.secrets.iter().map(|secret| secret.value.as_str()).filter(|name| !stated(name)).collect();
        if !more.is_empty() {
            let message =
                format!("{} takes secrets that this workflow does not state: {}", path.value, more.join(", "));
            let hint = format!("list them here, too: secrets: [{}]", more.join(", "));
            self.found(Finding::error(code::FLOW_SECRET, path.at, message).suggest(hint));
        }
        self.fits(&taken(&inner.flow), &path.value, path.at, told);
    }

    /// Arguments against a schema.
    fn fits(&mut self, schema: &Value, tool: &str, at: Span, told: &Told<'_>) {
        for problem in fit::refute(schema, told.part) {
            let finding = told.worded(&problem, tool, at);
            self.found(finding);
        }
    }

    /// Arguments against the tool itself: bounds that its schema does not say, parameters that exclude each other,
    /// patterns that do not compile. `shown` is what the document calls.
    fn asked(&mut self, tool: &str, schema: &Value, shown: &At<String>, told: &Told<'_>) {
        let Some(error) = self.refused(tool, schema, told.part) else { return };
        // It names the parameter first; one that was stood in for is none of the document's.
        let named = error.message.strip_prefix('`').and_then(|rest| rest.split(['`', '.', '[']).next());
        // What is no address is so in every tool that takes one, and they call it alike.
        let named = if error.code == code::BAD_URL { Some("url") } else { named };
        let entry = named.and_then(|named| told.entry(named).map(|(_, part)| (named.to_owned(), part)));
        let at = match entry {
            Some((_, part)) if !is_known(part) => return,
            Some((key, _)) => Some(key),
            None => self.cause(tool, schema, told.part, &error),
        };
        let at = match at {
            // Whoever looks at addresses has said it.
            Some(key) if error.code == code::BAD_URL && told.text(&key).is_some_and(|url| host(&url).is_none()) => {
                return;
            }
            Some(key) => told.place(&[Step::Key(key)], shown.at),
            None if is_known(told.part) => shown.at,
            None => return,
        };
        let message = format!("`{}` does not take this: {}", shown.value, error.message);
        self.found(Finding::error(code::FLOW_PARAMS, at, message).suggest_some(error.hint));
    }

    /// Why the tool does not take them, with what is not known stood in for.
    fn refused(&self, tool: &str, schema: &Value, part: &Part<'static>) -> Option<ToolError> {
        let Value::Object(arguments) = filled(part, schema) else { return None };
        self.around.refusal(tool, &arguments)
    }

    /// The parameter that a refusal is about which names none: one that is written, and without which there is none.
    fn cause(&self, tool: &str, schema: &Value, part: &Part<'static>, error: &ToolError) -> Option<String> {
        let Part::Object(entries) = part else { return None };
        let mut written = entries.iter().filter(|(_, part)| is_known(part)).map(|(name, _)| name);
        let mends = |name: &&String| {
            let other = |(own, part): &(String, Part<'static>)| {
                (own.clone(), if own == *name { Part::Open(&[]) } else { part.clone() })
            };
            let without = Part::Object(entries.iter().map(other).collect());
            self.refused(tool, schema, &without).is_none_or(|left| left.code != error.code)
        };
        written.find(mends).cloned()
    }

    /// A request, as the tool that makes it would look at it: what a template makes is stood in for by what is fine.
    fn request(&mut self, fetch: &Fetch, at: Span) {
        let Some(facts) = self.around.tool(REQUEST) else { return };
        let key = |name: &str, at: Span| At { value: name.to_owned(), at };
        let known = |template: &Template, instead: &str| {
            let text = if is_template(&template.text) { instead } else { template.text.as_str() };
            Part::known_as(text.into())
        };
        let mut params = vec![(key("url", fetch.url.at), Dynamic::Text(fetch.url.clone()))];
        let mut parts = vec![("url".to_owned(), known(&fetch.url, "https://host/"))];
        if let Some((first, _)) = fetch.headers.first() {
            params.push((key("headers", first.at), Dynamic::Object(Vec::new())));
            let header = |(name, value): &(At<String>, Template)| (name.value.clone(), known(value, "x"));
            parts.push(("headers".to_owned(), Part::Object(fetch.headers.iter().map(header).collect())));
        }
        let told = Told { params: &Dynamic::Object(params), part: &Part::Object(parts) };
        self.asked(REQUEST, &facts.input, &key("fetch", at), &told);
    }
}

/// The tool that makes the requests of `fetch`.
const REQUEST: &str = "remote_trigger";

/// The schema of what a workflow takes.
fn taken(flow: &Flow) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for input in &flow.inputs {
        let kind = match input.kind {
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::List => "array",
            Kind::Object => "object",
        };
        properties.insert(input.name.value.clone(), json!({"type": kind, "description": input.description}));
        if input.default.is_none() {
            required.push(input.name.value.clone());
        }
    }
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The same with nothing fitting everywhere.
fn without_nothing(part: &Part<'static>) -> Part<'static> {
    match part {
        Part::Known(value) => match value.as_ref() {
            Value::Null => Part::Open(&[]),
            Value::Array(items) => {
                Part::List(items.iter().map(|item| without_nothing(&Part::known_as(item.clone()))).collect())
            }
            Value::Object(fields) => {
                let of =
                    |(name, value): (&String, &Value)| (name.clone(), without_nothing(&Part::known_as(value.clone())));
                Part::Object(fields.iter().map(of).collect())
            }
            _ => part.clone(),
        },
        Part::Open(kinds) if kinds.contains(&"null") => Part::Open(&[]),
        Part::Open(kinds) => Part::Open(kinds),
        Part::List(items) => Part::List(items.iter().map(without_nothing).collect()),
        Part::Object(entries) => {
            Part::Object(entries.iter().map(|(name, part)| (name.clone(), without_nothing(part))).collect())
        }
    }
}

impl Told<'_> {
    /// A parameter, as it is written and as it is known.
    fn entry(&self, key: &str) -> Option<(&Dynamic, &Part<'static>)> {
        let (Dynamic::Object(written), Part::Object(known)) = (self.params, self.part) else { return None };
        let (_, dynamic) = written.iter().find(|(name, _)| name.value == key)?;
        let (_, part) = known.iter().find(|(name, _)| name == key)?;
        Some((dynamic, part))
    }

    /// A parameter that is a text, where it is known.
    fn text(&self, key: &str) -> Option<String> {
        self.entry(key)?.1.known()?.as_str().map(str::to_owned)
    }

    /// What is written at the end of a path, and where: of what a template makes, where that begins.
    fn written(&self, path: &[Step], at: Span) -> (Option<&Dynamic>, Span) {
        let (mut here, mut place) = (Some(self.params), at);
        for step in path {
            here = match (here, step) {
                (Some(Dynamic::Object(entries)), Step::Key(key)) => {
                    let entry = entries.iter().find(|(name, _)| name.value == *key);
                    place = entry.map_or(place, |(name, _)| name.at);
                    entry.map(|(_, value)| value)
                }
                (Some(Dynamic::List(items)), Step::Index(index)) => items.get(*index),
                _ => None,
            };
            if let Some(Dynamic::Text(template)) = here {
                place = template.at;
            }
        }
        (here, place)
    }

    fn place(&self, path: &[Step], at: Span) -> Span {
        self.written(path, at).1
    }

    /// What is known at the end of a path.
    fn known(&self, path: &[Step]) -> Option<Part<'static>> {
        let mut part = self.part.clone();
        for step in path {
            part = match (part, step) {
                (Part::Object(entries), Step::Key(key)) => entries.into_iter().find(|(name, _)| name == key)?.1,
                (Part::List(items), Step::Index(index)) => items.into_iter().nth(*index)?,
                (Part::Known(value), Step::Key(key)) => Part::known_as(value.get(key)?.clone()),
                (Part::Known(value), Step::Index(index)) => Part::known_as(value.get(index)?.clone()),
                _ => return None,
            };
        }
        Some(part)
    }

    /// A problem in the words of findings.
    fn worded(&self, problem: &Problem, tool: &str, at: Span) -> Finding {
        let about = |path: &[Step]| match path {
            [] => format!("`{tool}`"),
            path => format!("`{}` of `{tool}`", fit::shown(path)),
        };
        let (written, place) = self.written(&problem.at, at);
        let what = about(&problem.at);
        let (parent, last) = match problem.at.split_last() {
            Some((Step::Key(last), parent)) => (parent, last.as_str()),
            _ => (&problem.at[..], ""),
        };
        let error = |at: Span, message: String| Finding::error(code::FLOW_PARAMS, at, message);
        match &problem.wrong {
            Wrong::Missing(says) => {
                let says = says.as_ref().map(|text| nika_contract::text::preview(text, 120));
                let at = self.place(parent, at);
                error(at, format!("{} needs the parameter `{last}`", about(parent))).suggest_some(says)
            }
            Wrong::Unknown(known) => {
                let key = match self.written(parent, at).0 {
                    Some(Dynamic::Object(entries)) => entries.iter().find(|(name, _)| name.value == last),
                    _ => None,
                };
                let near = meant(last, known.iter().map(String::as_str));
                let at = key.map_or(place, |(name, _)| name.at);
                error(at, format!("{} has no parameter `{last}`", about(parent))).suggest_some(near)
            }
            Wrong::Type(names) => {
                let found = self.known(&problem.at).map_or("something else", |part| kind_of(&part));
                let message = format!("{what} takes {}, and this is {found}", names.join(" or "));
                error(place, message).suggest_some(written.and_then(|written| rewritten(written, names)))
            }
            Wrong::Choice(values) => {
                let names: Vec<String> =
                    values.iter().map(|value| value.as_str().map_or(value.to_string(), str::to_owned)).collect();
                let known = self.known(&problem.at);
                let literal = known.as_ref().and_then(Part::known);
                let message = match literal {
                    Some(literal) => format!("{what} takes {}, and not {literal}", names.join(", ")),
                    None => {
                        let found = known.as_ref().map_or("something else", kind_of);
                        format!("{what} takes {}, and this is {found}", names.join(", "))
                    }
                };
                let near = meant(literal.and_then(Value::as_str).unwrap_or_default(), names.iter().map(String::as_str));
                error(place, message).suggest_some(near.filter(|meant| meant.starts_with("did")))
            }
            Wrong::Other => error(place, format!("{what} {}", problem.why)),
        }
    }
}

/// What was meant where a text stands for another type.
fn rewritten(written: &Dynamic, wanted: &[String]) -> Option<String> {
    let Dynamic::Text(template) = written else { return None };
    let text = template.text.trim();
    let takes = |kinds: &[&str]| wanted.iter().any(|name| kinds.contains(&name.as_str()));
    if is_template(text) {
        let alone = source(text).whole;
        return match (alone, takes(&["integer", "number"]), takes(&["string"])) {
            (true, true, _) => Some("`| int` or `| float` makes a number of a text".to_owned()),
            (true, false, true) => Some("`| string` makes a text of it, `| join(', ')` one of a list".to_owned()),
            _ => None,
        };
    }
    if takes(&["integer", "number"]) && text.parse::<f64>().is_ok() {
        return Some(format!("without quotes: {text}"));
    }
    if takes(&["boolean"]) {
        return crate::read::truth(text).map(|value| format!("without quotes: {value}"));
    }
    takes(&["array"]).then(|| format!("[{text}]"))
}

/// What is known of a value, as findings name it.
fn kind_of(part: &Part<'_>) -> &'static str {
    let named = |kind: &str| match kind {
        "boolean" => "true or false",
        "number" | "integer" => "a number",
        "string" => "text",
        "array" => "a list",
        "object" => "names and values",
        _ => "nothing",
    };
    match part {
        Part::Known(value) => named(match value.as_ref() {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }),
        Part::List(_) => named("array"),
        Part::Object(_) => named("object"),
        Part::Open(kinds) => kinds.first().map_or("something else", |kind| named(kind)),
    }
}
