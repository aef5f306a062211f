//! What the tasks of a flow need of `permits`: for each verb the effects that are sure, and what only the run knows.
//!
//! One list serves two: [`super::authority`] holds it against what is stated, and `--infer-permits` makes the smallest
//! statement of it.

use std::path::{Component, Path, PathBuf};

use nika_guard::bash::{ANY_HOST, Site, Target, analyse};
use nika_guard::{Effect, ExecKind, PermitKind, Place, Rule};
use serde_json::{Map, Value};

use super::nested::{Inner, Nested};
use super::standin::stand_in;
use super::{Surroundings, Type, texts};
use crate::model::{At, Called, Command, Dynamic, Exec, Flow, Index, Invoke, Span, Task, Template, Verb};
use crate::template::names::walk;
use crate::template::{Source, condition_source, is_template, source};

/// Something that a task needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// Which task.
    pub task: Index,
    /// Where it is written.
    pub at: Span,
    /// What.
    pub want: Want,
    /// The workflow that the task runs, and that needs it.
    pub of: Option<String>,
}

/// What is needed.
#[derive(Debug, Clone, PartialEq)]
pub enum Want {
    /// An effect that is sure, of a call of this tool.
    Effect(Effect, String),
    /// A tool by its name.
    Tool(String),
    /// A command; `None` is a word that a template makes.
    Words(Vec<Option<String>>),
    /// A path that a template makes, with its known beginning.
    Path {
        /// Reading or writing.
        kind: PermitKind,
        /// What is known of it: a directory, or nothing.
        below: String,
    },
    /// A host that a template makes.
    Host,
    /// Another workflow.
    Workflow(String),
    /// A resource of an MCP server.
    Resource(String),
    /// A variable that no command may be given.
    Variable(String),
    /// A variable of the environment that a template reads.
    Env(String),
    /// What the tool itself can say only when it runs.
    Unsaid(String),
    /// What can never be done, whatever is stated: why, and what would do.
    Never(String, &'static str),
}

/// Tools of which a parameter is a path or an address: tool, parameter, kind, whether all below it, whether the
/// workspace when nothing is said. For calls that the tool itself cannot be asked about.
const TOUCHES: &[(&str, &str, PermitKind, bool, bool)] = &[
    ("read", "file_path", PermitKind::Read, false, false),
    ("write", "file_path", PermitKind::Write, false, false),
    ("edit", "file_path", PermitKind::Write, false, false),
    ("notebook_edit", "notebook_path", PermitKind::Write, false, false),
    ("list_dir", "path", PermitKind::Read, true, true),
    ("glob", "path", PermitKind::Read, true, true),
    ("grep", "path", PermitKind::Read, true, true),
    ("web_fetch", "url", PermitKind::Net, false, false),
];

/// What every task needs.
pub(super) fn gather(flow: &Flow, unbroken: &[Index], nested: &Nested<'_>) -> Vec<Need> {
    let around = nested.around;
    let mut gather = Gather { site: around.site(), around, nested, needs: Vec::new(), task: 0, begun: 0 };
    for index in unbroken {
        (gather.task, gather.begun) = (*index, gather.needs.len());
        let task = &flow.tasks[*index];
        gather.verb(task);
        texts::each(task, &mut |template| gather.env(template));
        // A condition is an expression, with braces or without.
        if let Some(when) = &task.when {
            gather.read_env(when.at, &when.text, &condition_source(&when.text));
        }
    }
    for (_, value) in &flow.outputs {
        texts::inside(value, &mut |template| gather.env(template));
    }
    gather.needs
}

struct Gather<'a> {
    site: Site,
    around: &'a dyn Surroundings,
    nested: &'a Nested<'a>,
    needs: Vec<Need>,
    task: Index,
    /// Where the needs of this task begin: each is said once a task.
    begun: usize,
}

impl Gather<'_> {
    fn need(&mut self, at: Span, want: Want) {
        self.add(Need { task: self.task, at, want, of: None });
    }

    fn add(&mut self, need: Need) {
        if !self.needs[self.begun..].contains(&need) {
            self.needs.push(need);
        }
    }

    /// Variables that a template reads.
    fn env(&mut self, template: &Template) {
        if is_template(&template.text) {
            self.read_env(template.at, &template.text, &source(&template.text));
        }
    }

    /// Variables that an expression reads.
    fn read_env(&mut self, at: Span, text: &str, source: &Source) {
        // Most read none, and are not walked over for it.
        if !text.contains("env") {
            return;
        }
        let open = Type::Object { fields: Vec::new(), open: true };
        for name in walk(source, &[("env".to_owned(), open)]).below("env") {
            self.need(at, Want::Env(name));
        }
    }

    fn verb(&mut self, task: &Task) {
        match &task.verb {
            Verb::Infer(_) => {}
            Verb::Exec(exec) => self.exec(exec, task.id.at),
            Verb::Fetch(fetch) => self.address(&fetch.url, "web_fetch"),
            Verb::Invoke(invoke) => self.invoke(invoke),
            Verb::Agent(agent) => {
                for tool in agent.tools.iter().flatten() {
                    self.need(tool.at, Want::Tool(tool.value.clone()));
                }
            }
        }
    }

    fn exec(&mut self, exec: &Exec, at: Span) {
        let mut site = self.site.clone();
        match &exec.cwd {
            Some(cwd) if is_template(&cwd.text) => self.need(cwd.at, Want::Unsaid("where the command runs".to_owned())),
            Some(cwd) => {
                site.cwd = resolved(&site, &cwd.text);
                if !site.roots.iter().any(|root| site.cwd.starts_with(root)) {
                    let why = format!("`cwd` leads outside the workspace: {}", cwd.text);
                    self.need(cwd.at, Want::Never(why, "commands begin below the workspace's root"));
                }
            }
            None => {}
        }
        let words = match &exec.command {
            Command::Words(words) => words.as_slice(),
            Command::Shell(_) => &[],
        };
        for word in words.iter().chain(exec.env.iter().map(|(_, value)| value)) {
            if word.text.contains('\0') {
                let why = "a word of a command cannot hold the character NUL".to_owned();
                self.need(word.at, Want::Never(why, "hand it over on standard input: `stdin`"));
            }
        }
        for (name, _) in &exec.env {
            if !nika_guard::bash::may_be_set(&name.value) {
                self.need(name.at, Want::Variable(name.value.clone()));
            }
        }
        match &exec.command {
            Command::Shell(text) => self.command(&text.value, &site, text.at, "exec"),
            Command::Words(words) => {
                let place = words.first().map_or(at, |word| word.at);
                let known: Vec<Option<String>> =
                    words.iter().map(|word| (!is_template(&word.text)).then(|| word.text.clone())).collect();
                if known.iter().all(Option::is_some) {
                    return self.command(&quoted(&known), &site, place, "exec");
                }
                // What the known words do whatever the others are; a tree may be one file when they are known.
                let effects = analyse(&quoted(&known), &site).effects(&|target| placed(&site, target)).all;
                self.need(place, Want::Words(known));
                for effect in effects {
                    match &effect {
                        Effect::Read(at) | Effect::Write(at) if at.extent == nika_guard::Extent::One => {
                            self.need(place, Want::Effect(effect, "exec".to_owned()));
                        }
                        Effect::Net(host) if host != ANY_HOST => {
                            self.need(place, Want::Effect(effect, "exec".to_owned()))
                        }
                        Effect::Net(_) => self.need(place, Want::Host),
                        _ => {}
                    }
                }
            }
        }
    }

    /// A command whose every word is known.
    fn command(&mut self, text: &str, site: &Site, at: Span, tool: &str) {
        for effect in analyse(text, site).effects(&|target| placed(site, target)).all {
            self.need(at, Want::Effect(effect, tool.to_owned()));
        }
    }

    /// A URL.
    fn address(&mut self, url: &Template, tool: &str) {
        match host(&url.text) {
            Some(host) => self.need(url.at, Want::Effect(Effect::Net(host), tool.to_owned())),
            None if is_template(&url.text) => self.need(url.at, Want::Host),
            None => {
                let why = format!("`{}` is no address", nika_contract::text::preview(&url.text, 60));
                self.need(url.at, Want::Never(why, "write it whole: `https://host/path`"));
            }
        }
    }

    fn invoke(&mut self, invoke: &Invoke) {
        match &invoke.what {
            Called::Workflow(path) => {
                self.need(path.at, Want::Workflow(path.value.clone()));
                self.below(path);
            }
            Called::Resource { server, .. } => self.need(server.at, Want::Resource(server.value.clone())),
            Called::Tool(name) => {
                if let Some((server, tool)) = name.value.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
                    let effect = Effect::Foreign { server: server.to_owned(), tool: tool.to_owned() };
                    return self.need(name.at, Want::Effect(effect, name.value.clone()));
                }
                let tool = nika_guard::names::canonical(&name.value).to_owned();
                self.need(name.at, Want::Tool(tool.clone()));
                self.touched(&tool, &invoke.params, name.at);
            }
        }
    }

    /// What another workflow needs: the permits of both hold for it.
    fn below(&mut self, path: &At<String>) {
        let nested = self.nested.look(&path.value);
        let Inner::Fine(inner) = &*nested else { return };
        for need in &inner.needs {
            // Which workflows that one may run, it states for itself.
            if !matches!(need.want, Want::Workflow(_)) {
                let of = Some(path.value.clone());
                self.add(Need { task: self.task, at: path.at, want: need.want.clone(), of });
            }
        }
    }

    /// What a call of one of our tools touches.
    fn touched(&mut self, tool: &str, params: &Dynamic, at: Span) {
        let Dynamic::Object(entries) = params else { return };
        let touches: Vec<_> = TOUCHES.iter().filter(|(name, ..)| *name == tool).collect();
        let open = |name: &str| entries.iter().any(|(key, value)| key.value == name && value.has_templates());
        let paths_known = match touches.is_empty() {
            true => !params.has_templates(),
            // What else a template makes changes nothing of what is touched.
            false => touches.iter().all(|(_, name, ..)| !open(name)),
        };
        if tool == "bash" {
            match entries.iter().find(|(key, _)| key.value == "command") {
                Some((_, Dynamic::Text(text))) if !is_template(&text.text) => {
                    let site = self.site.clone();
                    self.command(&text.text, &site, text.at, "bash");
                }
                _ => self.need(at, Want::Unsaid("the command that `bash` runs".to_owned())),
            }
            return;
        }
        if paths_known && let Some(effects) = self.asked(tool, entries) {
            for effect in effects {
                self.need(at, Want::Effect(effect, tool.to_owned()));
            }
            return;
        }
        if touches.is_empty() {
            if self.around.tool(tool).is_some() {
                self.need(at, Want::Unsaid(format!("what `{tool}` touches")));
            }
            return;
        }
        for (_, name, kind, tree, default) in touches {
            match entries.iter().find(|(key, _)| key.value == *name) {
                Some((_, Dynamic::Text(url))) if *kind == PermitKind::Net => self.address(url, tool),
                Some((_, Dynamic::Text(path))) if is_template(&path.text) => {
                    let known = path.text.split("{{").next().unwrap_or_default();
                    let below = known.rsplit_once('/').map_or("", |(directory, _)| directory).to_owned();
                    self.need(path.at, Want::Path { kind: *kind, below });
                }
                Some((_, Dynamic::Text(path))) => {
                    let place = placed(
                        &self.site,
                        &Target {
                            path: resolved(&self.site, &path.text),
                            tree: *tree,
                            itself: false,
                            redirected: false,
                        },
                    );
                    self.path(path.at, *kind, place, tool);
                }
                None if *default => {
                    let place = placed(
                        &self.site,
                        &Target { path: self.site.roots[0].clone(), tree: true, itself: false, redirected: false },
                    );
                    self.path(at, *kind, place, tool);
                }
                _ => {}
            }
        }
    }

    fn path(&mut self, at: Span, kind: PermitKind, place: Place, tool: &str) {
        let effect = if kind == PermitKind::Write { Effect::Write(place) } else { Effect::Read(place) };
        self.need(at, Want::Effect(effect, tool.to_owned()));
    }

    /// What the tool itself says. Templates are stood in for by a value of the type that the schema wants.
    fn asked(&self, tool: &str, entries: &[(At<String>, Dynamic)]) -> Option<Vec<Effect>> {
        let schema = self.around.tool(tool)?.input;
        let mut arguments = Map::new();
        for (key, value) in entries {
            let value = match literal(value) {
                Some(value) => value,
                None => stand_in(&schema["properties"][&key.value]),
            };
            arguments.insert(key.value.clone(), value);
        }
        Some(self.around.effects(tool, &arguments)?.all)
    }
}

/// The value of what holds no templates.
pub(super) fn literal(dynamic: &Dynamic) -> Option<Value> {
    Some(match dynamic {
        Dynamic::Plain(value) => value.clone(),
        Dynamic::Text(template) if is_template(&template.text) => return None,
        Dynamic::Text(template) => Value::String(template.text.clone()),
        Dynamic::List(items) => Value::Array(items.iter().map(literal).collect::<Option<_>>()?),
        Dynamic::Object(entries) => {
            let pairs = entries.iter().map(|(key, value)| Some((key.value.clone(), literal(value)?)));
            Value::Object(pairs.collect::<Option<_>>()?)
        }
    })
}

/// The host of a URL whose host is written: a template may stand behind it.
pub(super) fn host(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    if !matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https") {
        return None;
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let port = host.rsplit_once(':').filter(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    let host = port.map_or(host, |(host, _)| host).trim_matches(['[', ']']).trim_end_matches('.').to_lowercase();
    (!host.is_empty() && !host.contains(['{', '}'])).then_some(host)
}

/// Words as a shell would read them back; what a template makes is a variable that nobody knows.
fn quoted(words: &[Option<String>]) -> String {
    let word = |word: &Option<String>| match word {
        Some(word) => format!("'{}'", word.replace('\'', r"'\''")),
        None => "\"$NIKA_VALUE\"".to_owned(),
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A path as a document writes it.
fn resolved(site: &Site, path: &str) -> PathBuf {
    let joined = match path.strip_prefix("~/") {
        Some(below) => site.home.join(below),
        None => site.roots[0].join(path),
    };
    let mut clean = PathBuf::new();
    for part in joined.components() {
        match part {
            Component::ParentDir => _ = clean.pop(),
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

/// Where a path leads on paper: links are not known.
fn placed(site: &Site, target: &Target) -> Place {
    let below = |root: &PathBuf| Some((root.clone(), target.path.strip_prefix(root).ok()?.to_path_buf()));
    let place = match site.roots.iter().find_map(below) {
        Some((root, below)) => Place { in_first_root: site.roots.first() == Some(&root), ..Place::inside(root, below) },
        None => Place::outside(Path::new(&target.path)),
    };
    if target.tree { place.tree() } else { place }
}

/// The lines that hold for all of `needs`, each once: what `--infer-permits` prints. What a template makes gets the
/// narrowest pattern that covers whatever it may be.
pub fn block(needs: &[Need]) -> Vec<(PermitKind, String)> {
    let mut lines: Vec<(PermitKind, String)> = Vec::new();
    for need in needs {
        lines.extend(line(&need.want));
    }
    let order =
        [PermitKind::Read, PermitKind::Write, PermitKind::Net, PermitKind::Exec, PermitKind::Tool, PermitKind::Env];
    lines.sort_by_key(|(kind, text)| (order.iter().position(|one| one == kind), text.clone()));
    lines.dedup();
    // A line that another one covers adds nothing.
    let covers = |wide: &str, narrow: &str| match wide.strip_suffix("**") {
        Some(start) => narrow != wide && (start.is_empty() || narrow.trim_start_matches('/').starts_with(start)),
        None => false,
    };
    let paths = |kind: PermitKind| matches!(kind, PermitKind::Read | PermitKind::Write);
    let kept: Vec<_> = lines
        .iter()
        .filter(|(kind, text)| {
            // What lies outside the workspace is covered by no pattern for inside.
            let outside = text.starts_with("//") || text.starts_with('~');
            let wider =
                |(other, wide): &&(PermitKind, String)| other == kind && paths(*kind) && !outside && covers(wide, text);
            let everywhere =
                *kind == PermitKind::Net && text != "*" && lines.contains(&(PermitKind::Net, "*".to_owned()));
            !lines.iter().any(|line| wider(&line)) && !everywhere
        })
        .cloned()
        .collect();
    kept
}

/// The line of one need, if a line can say it.
fn line(want: &Want) -> Option<(PermitKind, String)> {
    Some(match want {
        Want::Effect(Effect::Read(place), _) => (PermitKind::Read, path_line(place)?),
        Want::Effect(Effect::Write(place), _) => (PermitKind::Write, path_line(place)?),
        Want::Effect(Effect::Net(host), _) => (PermitKind::Net, host.clone()),
        Want::Effect(Effect::Exec(exec), _) => {
            let argv: Vec<Option<String>> = exec.with_sets(exec.commands.first()?).iter().cloned().map(Some).collect();
            (PermitKind::Exec, words_line(&argv)?)
        }
        Want::Effect(Effect::Foreign { server, tool }, _) => (PermitKind::Tool, format!("mcp__{server}__{tool}")),
        Want::Effect(Effect::Spawn(what), _) => {
            (PermitKind::Tool, format!("workflow({})", what.strip_prefix("workflow ")?))
        }
        Want::Effect(..) | Want::Unsaid(_) | Want::Variable(_) | Want::Never(..) => return None,
        Want::Env(name) => (PermitKind::Env, name.clone()),
        Want::Tool(name) => (PermitKind::Tool, name.clone()),
        Want::Words(words) => (PermitKind::Exec, words_line(words)?),
        Want::Path { kind, below } => (*kind, if below.is_empty() { "**".to_owned() } else { format!("{below}/**") }),
        Want::Host => (PermitKind::Net, ANY_HOST.to_owned()),
        Want::Workflow(path) => (PermitKind::Tool, format!("workflow({path})")),
        Want::Resource(server) => (PermitKind::Tool, format!("mcp__{server}")),
    })
}

fn path_line(place: &Place) -> Option<String> {
    let inside = place.below_root.as_ref().filter(|_| place.in_first_root);
    let one = Place { extent: nika_guard::Extent::One, named: None, ..place.clone() };
    if place.extent == nika_guard::Extent::Tree {
        return Some(match inside {
            Some(below) if below.as_os_str().is_empty() => "**".to_owned(),
            Some(below) => format!("{}/**", below.to_str()?),
            None => format!("//{}/**", place.path.to_str()?.trim_start_matches('/')).replace("///**", "//**"),
        });
    }
    let rule = Effect::Read(one.clone()).rule()?;
    let anchored = rule.strip_prefix("read(")?.strip_suffix(')')?.to_owned();
    // `src/a.rs` says the same as `/src/a.rs`, and reads better; a bare name would hold anywhere.
    let short = anchored.strip_prefix('/').filter(|short| short.contains('/') && !short.starts_with('/'));
    let holds = |text: &str| {
        Rule::parse(&format!("read({text})"), None).is_ok_and(|rule| rule.holds(&Effect::Read(one.clone()), ""))
    };
    match short {
        Some(short) if holds(short) => Some(short.to_owned()),
        _ => Some(anchored),
    }
}

/// A command in the rule language. A word that it cannot say, or that nobody knows, is a `*`.
fn words_line(argv: &[Option<String>]) -> Option<String> {
    let sayable = |word: &str| {
        !word.is_empty()
            && !word.contains('$')
            && word.chars().all(|c| !c.is_whitespace() && !c.is_control() && !"(){},\"'`…".contains(c))
    };
    let said = |word: &Option<String>| match word {
        Some(word) if sayable(word) => {
            let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\' | '!');
            word.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect::<String>()
        }
        _ => "*".to_owned(),
    };
    let mut words: Vec<String> = argv.iter().map(said).collect();
    // The program is always named, or nothing is.
    if words.first().is_none_or(|program| program == "*") {
        return None;
    }
    // Many stars at the end are one: it leaves the rest free.
    while words.len() > 2 && words[words.len() - 1] == "*" && words[words.len() - 2] == "*" {
        words.pop();
    }
    Some(words.join(" "))
}

/// Whether a command whose kind this is may never run.
pub(super) fn never(kind: ExecKind) -> bool {
    kind == ExecKind::Forbidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_where_it_is_written() {
        for (url, want) in [
            ("https://docs.rs/a", Some("docs.rs")),
            ("https://API.example.com:8443/x?y=1", Some("api.example.com")),
            ("https://user:pw@a.org/{{ use.x }}", Some("a.org")),
            ("https://a.org?x", Some("a.org")),
            ("http://[::1]:80/", Some("::1")),
            ("https://{{ inputs.host }}/a", None),
            ("https://{{ inputs.sub }}.a.org/", None),
            ("{{ use.url }}", None),
            ("docs.rs", None),
            ("ftp://a.org/", None),
            ("https:///a", None),
        ] {
            assert_eq!(host(url).as_deref(), want, "{url}");
        }
    }

    #[test]
    fn lines_are_as_narrow_as_the_language_can_say() {
        let word = |text: &str| Some(text.to_owned());
        for (argv, want) in [
            (vec![word("git"), word("log")], Some("git log")),
            (vec![word("git"), word("log"), None], Some("git log *")),
            (vec![word("cp"), None, word("b")], Some("cp * b")),
            (vec![word("cp"), None, None], Some("cp *")),
            (vec![word("echo"), word("a b")], Some("echo *")),
            (vec![word("ls"), word("*.rs")], Some("ls \\*.rs")),
            (vec![None, word("x")], None),
        ] {
            assert_eq!(words_line(&argv).as_deref(), want, "{argv:?}");
        }
    }
}
