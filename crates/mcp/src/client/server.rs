//! What configuration says of one server: read from a JSON object, whether it stood in `.mcp.json` or in YAML. Pure.
//!
//! [`Written`] is what stands there; [`Written::settle`] makes a [`Server`] of it, which only somebody whose word counts
//! can bring: a program's command line becomes [`Configured`], and variables are read, for nobody else.

use nika_guard::{Configured, Layer};
use serde_json::{Map, Value};

use super::auth::Settings;

/// How long a server may take to be ready, when nobody says.
pub const CONNECT_TIMEOUT_MS: u64 = 10_000;
/// How long a call may take, when nobody says.
pub const CALL_TIMEOUT_MS: u64 = 30_000;
/// The longest time that configuration may give: an hour.
const MOST_TIMEOUT_MS: u64 = 3_600_000;
/// The longest name of a server.
const MOST_NAME_CHARS: usize = 64;

/// A server that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name in configuration.
    pub name: String,
    /// Where it is.
    pub reach: Reach,
    /// How long it may take to be ready.
    pub connect_timeout_ms: u64,
    /// How long a call may take without a sign of life.
    pub timeout_ms: u64,
    /// Whether it may ask our model.
    pub sampling: bool,
    /// Which of its tools are seen.
    pub filter: Filter,
    /// How a login to it is made, where configuration says anything about that.
    pub oauth: Option<Settings>,
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A program that is started and talked to over pipes.
    Program(Program),
    /// An address that speaks streamable HTTP.
    Http(Address),
    /// An address that speaks HTTP with server-sent events, as before 2025-03-26.
    Sse(Address),
}

/// A server's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its command line, by somebody whose word counts.
    pub command: Configured,
    /// Variables beside the harmless ones.
    pub env: Vec<(String, String)>,
    /// Where it starts, below the workspace unless absolute.
    pub cwd: Option<String>,
    /// Hosts that it may reach.
    pub net: Vec<String>,
    /// Whether it may write the workspace.
    pub write: bool,
}

/// A server's address.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// The URL.
    pub url: String,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values of headers are secrets.
        f.debug_struct("Address").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Which tools of a server are seen, by their own names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only these, where there are any.
    pub allow: Vec<String>,
    /// Never these.
    pub deny: Vec<String>,
}

impl Filter {
    /// Whether `tool` is seen.
    pub fn shows(&self, tool: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| name == tool);
        !named(&self.deny) && (self.allow.is_empty() || named(&self.allow))
    }
}

impl Server {
    /// Headers of the configuration.
    pub fn headers(&self) -> &[(String, String)] {
        match &self.reach {
            Reach::Program(_) => &[],
            Reach::Http(address) | Reach::Sse(address) => &address.headers,
        }
    }

    /// Its address, where it has one.
    pub fn url(&self) -> Option<&str> {
        match &self.reach {
            Reach::Program(_) => None,
            Reach::Http(address) | Reach::Sse(address) => Some(&address.url),
        }
    }
}

/// A server as it is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Its name.
    pub name: String,
    /// `stdio`, `http` or `sse`.
    pub transport: &'static str,
    /// Whether it is switched off there.
    pub disabled: bool,
    command: Vec<String>,
    env: Vec<(String, String)>,
    cwd: Option<String>,
    url: String,
    headers: Vec<(String, String)>,
    net: Vec<String>,
    write: bool,
    sampling: bool,
    connect_timeout_ms: u64,
    timeout_ms: u64,
    filter: Filter,
    oauth: Option<Value>,
}

/// The keys, and what each takes.
pub const KEYS: &[(&str, &str)] = &[
    ("command", "a program, and maybe its arguments in a list"),
    ("args", "a list of texts"),
    ("env", "a mapping of names to texts"),
    ("cwd", "a directory"),
    ("url", "an http:// or https:// address"),
    ("headers", "a mapping of names to texts"),
    ("type", "stdio, http or sse"),
    ("connect_timeout_ms", "a whole number from 100 to 3600000"),
    ("timeout_ms", "a whole number from 100 to 3600000"),
    ("net", "a list of hosts"),
    ("write", "true or false"),
    ("sampling", "true or false"),
    ("tools", "a mapping with `allow` and `deny`, lists of tool names"),
    ("oauth", "a mapping; `docs/mcp-login.md` lists its keys"),
    ("disabled", "true or false"),
];

/// Why a name is none for a server.
pub fn name_problem(name: &str) -> Option<&'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > MOST_NAME_CHARS || !name.chars().all(fits) {
        return Some("a server's name is 1 to 64 of A-Z a-z 0-9 - _");
    }
    // `mcp__SERVER__TOOL` has to be taken apart again.
    (name.contains("__") || name.ends_with('_')).then_some("a server's name holds no `__` and does not end in `_`")
}

impl Written {
    /// Reads what `value` says of the server `name`. `strict` refuses keys that are none of ours, as our own files do;
    /// those of other programs hold more than we know.
    pub fn read(name: &str, value: &Value, strict: bool) -> Result<Written, String> {
        if let Some(problem) = name_problem(name) {
            return Err(problem.to_owned());
        }
        let Value::Object(object) = value else { return Err("a server is a mapping".to_owned()) };
        if let Some(key) = object.keys().find(|key| strict && !KEYS.iter().any(|(known, _)| known == key)) {
            let known: Vec<&str> = KEYS.iter().map(|(known, _)| *known).collect();
            return Err(format!("`{key}` is no key of a server; there are {}", known.join(", ")));
        }
        let fields = Fields(object);
        let mut command = fields.words("command")?;
        command.extend(fields.texts("args")?);
        let url = fields.text("url")?.unwrap_or_default();
        let transport = transport(fields.text("type")?.as_deref(), !command.is_empty(), !url.is_empty())?;
        if transport != "stdio" && !(url.starts_with("http://") || url.starts_with("https://") || url.starts_with("${"))
        {
            return Err(fields.wrong("url"));
        }
        let tools = match object.get("tools") {
            None | Some(Value::Null) => Filter::default(),
            Some(Value::Object(tools)) => {
                let tools = Fields(tools);
                Filter { allow: tools.texts("allow")?, deny: tools.texts("deny")? }
            }
            // Other programs write lists there, of tools that they let through.
            Some(_) if !strict => Filter::default(),
            Some(_) => return Err(fields.wrong("tools")),
        };
        Ok(Written {
            name: name.to_owned(),
            transport,
            disabled: fields.flag("disabled")?,
            command,
            env: fields.pairs("env")?,
            cwd: fields.text("cwd")?,
            url,
            headers: fields.pairs("headers")?,
            net: fields.texts("net")?,
            write: fields.flag("write")?,
            sampling: fields.flag("sampling")?,
            connect_timeout_ms: fields.millis("connect_timeout_ms")?.unwrap_or(CONNECT_TIMEOUT_MS),
            timeout_ms: fields.millis("timeout_ms")?.unwrap_or(CALL_TIMEOUT_MS),
            filter: tools,
            oauth: object.get("oauth").filter(|oauth| oauth.is_object()).cloned(),
        })
    }

    /// The server, if `layer` may bring one: what a repository brings needs `trusted`. The error says why not.
    /// `variable` is asked for `${NAME}`.
    pub fn settle(
        &self,
        layer: Layer,
        at: &str,
        trusted: bool,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Server, String> {
        if layer.is_repository() && !trusted {
            return Err("the repository brings it and is not trusted; look at it, then `nika trust`".to_owned());
        }
        if self.disabled {
            return Err(format!("it is disabled at {at}"));
        }
        let expand = |text: &String| expand(text, variable);
        let pairs = |pairs: &[(String, String)]| {
            pairs.iter().map(|(name, value)| Ok((name.clone(), expand(value)?))).collect::<Result<Vec<_>, String>>()
        };
        let reach = if self.transport == "stdio" {
            let argv = self.command.iter().map(expand).collect::<Result<Vec<_>, String>>()?;
            let command = Configured::new(argv, layer, at, trusted).ok_or("it names no command")?;
            let cwd = self.cwd.as_ref().map(expand).transpose()?;
            Reach::Program(Program { command, env: pairs(&self.env)?, cwd, net: self.net.clone(), write: self.write })
        } else {
            let address = Address { url: expand(&self.url)?, headers: pairs(&self.headers)? };
            if self.transport == "sse" { Reach::Sse(address) } else { Reach::Http(address) }
        };
        let oauth = self.oauth.as_ref().map(|oauth| Settings::read(oauth, variable)).transpose();
        let oauth = oauth.map_err(|error| error.to_string())?;
        Ok(Server {
            name: self.name.clone(),
            reach,
            connect_timeout_ms: self.connect_timeout_ms,
            timeout_ms: self.timeout_ms,
            sampling: self.sampling,
            filter: self.filter.clone(),
            oauth,
        })
    }

    /// Its program and words, where it is switched on and nothing but these says how it is started.
    pub fn bare_command(&self) -> Option<&[String]> {
        let bare = self.transport == "stdio" && !self.disabled && self.env.is_empty() && self.cwd.is_none();
        bare.then_some(self.command.as_slice())
    }

    /// Whether its tool of this name is seen.
    pub fn shows(&self, tool: &str) -> bool {
        self.filter.shows(tool)
    }

    /// Where it is, in one line, with nothing filled in: for lists.
    pub fn place(&self) -> String {
        if self.transport == "stdio" { self.command.join(" ") } else { self.url.clone() }
    }
}

fn transport(named: Option<&str>, command: bool, url: bool) -> Result<&'static str, String> {
    let transport = match named {
        Some("stdio") => "stdio",
        Some("http" | "streamable-http" | "streamable_http" | "streamableHttp") => "http",
        Some("sse") => "sse",
        Some(other) => return Err(format!("type '{other}' is none; it takes stdio, http or sse")),
        None if url && !command => "http",
        None => "stdio",
    };
    match (transport, command, url) {
        (_, true, true) => Err("it has both `command` and `url`; a server is one of the two".to_owned()),
        ("stdio", false, _) => Err("`command` is missing".to_owned()),
        ("http" | "sse", _, false) => Err("`url` is missing".to_owned()),
        _ => Ok(transport),
    }
}

/// `text` with `${NAME}` and `${NAME:-default}` filled in.
fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let Some(end) = inside.find('}') else {
            out.push_str(&rest[at..]);
            return Ok(out);
        };
        let (name, default) = match inside[..end].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&inside[..end], None),
        };
        match (variable(name), default) {
            (Some(value), _) => out.push_str(&value),
            (None, Some(default)) => out.push_str(default),
            (None, None) => {
                return Err(format!("the variable {name} is not set; set it, or write ${{{name}:-a default}}"));
            }
        }
        rest = &inside[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The fields of an object, each as what it takes.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn wrong(&self, key: &str) -> String {
        let takes = KEYS.iter().find(|(known, _)| *known == key).map_or("a list of texts", |(_, takes)| takes);
        format!("`{key}` takes {takes}")
    }

    fn text(&self, key: &str) -> Result<Option<String>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if !text.contains('\0') => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(key)),
        }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => items.iter().map(scalar).collect::<Option<_>>().ok_or_else(|| self.wrong(key)),
            Some(_) => Err(self.wrong(key)),
        }
    }

    /// A text, or a list of texts.
    fn words(&self, key: &str) -> Result<Vec<String>, String> {
        match self.0.get(key) {
            Some(Value::String(_)) => Ok(self.text(key)?.into_iter().filter(|text| !text.is_empty()).collect()),
            _ => self.texts(key),
        }
    }

    fn pairs(&self, key: &str) -> Result<Vec<(String, String)>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Object(entries)) => {
                let pair = |(name, value): (&String, &Value)| {
                    let fits = !name.is_empty() && !name.contains(['=', '\0']);
                    scalar(value).filter(|_| fits).map(|value| (name.clone(), value))
                };
                entries.iter().map(pair).collect::<Option<_>>().ok_or_else(|| self.wrong(key))
            }
            Some(_) => Err(self.wrong(key)),
        }
    }

    fn flag(&self, key: &str) -> Result<bool, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) => Err(self.wrong(key)),
        }
    }

    fn millis(&self, key: &str) -> Result<Option<u64>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64() {
                Some(ms) if (100..=MOST_TIMEOUT_MS).contains(&ms) => Ok(Some(ms)),
                _ => Err(self.wrong(key)),
            },
        }
    }
}

/// A text, or what YAML and people write for one.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.contains('\0') => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Result<Written, String> {
        Written::read("s", value, true)
    }

    #[test]
    fn each_way_to_write_a_server_is_understood() {
        for (value, transport, place) in [
            (json!({"command": "srv", "args": ["-p", 1]}), "stdio", "srv -p 1"),
            (json!({"command": ["srv", "x"]}), "stdio", "srv x"),
            (json!({"url": "https://x.example/mcp"}), "http", "https://x.example/mcp"),
            (json!({"type": "streamable-http", "url": "http://x/"}), "http", "http://x/"),
            (json!({"type": "sse", "url": "${BASE}/sse"}), "sse", "${BASE}/sse"),
        ] {
            let written = read(&value).expect("it is one");
            assert_eq!((written.transport, written.place().as_str()), (transport, place), "{value}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (name, value, what) in [
            ("a__b", json!({"command": "x"}), "`__`"),
            ("a_", json!({"command": "x"}), "end in `_`"),
            ("a b", json!({"command": "x"}), "1 to 64"),
            ("s", json!([]), "a mapping"),
            ("s", json!({}), "`command` is missing"),
            ("s", json!({"type": "http"}), "`url` is missing"),
            ("s", json!({"command": "x", "url": "http://x"}), "one of the two"),
            ("s", json!({"type": "ws", "url": "ws://x"}), "stdio, http or sse"),
            ("s", json!({"url": "ftp://x"}), "http://"),
            ("s", json!({"command": "x", "colour": 1}), "`colour` is no key"),
            ("s", json!({"command": "x", "env": {"A=B": "1"}}), "`env` takes"),
            ("s", json!({"command": "x", "timeout_ms": 1}), "3600000"),
            ("s", json!({"command": "x", "write": "yes"}), "true or false"),
        ] {
            let error = Written::read(name, &value, true).expect_err("it is none");
            assert!(error.contains(what), "{value}: {error}");
        }
        assert!(Written::read("s", &json!({"command": "x", "colour": 1}), false).is_ok(), "other programs have more");
    }

    #[test]
    fn nothing_of_a_repository_is_used_or_filled_in_until_it_is_trusted() {
        let written = read(&json!({"command": "x", "args": ["${TOKEN}", "${SIZE:-9}", "a$b"]})).expect("it is one");
        let never = |_: &str| -> Option<String> { panic!("no variable is read") };
        assert!(written.settle(Layer::Project, ".mcp.json:1", false, &never).expect_err("no").contains("nika trust"));
        let set = |name: &str| (name == "TOKEN").then(|| "t".to_owned());
        let server = written.settle(Layer::Project, ".mcp.json:1", true, &set).expect("trusted");
        let Reach::Program(program) = server.reach else { panic!("a program") };
        assert_eq!(program.command.argv(), ["x", "t", "9", "a$b"]);
        let none = |_: &str| None;
        assert!(written.settle(Layer::User, "c:1", false, &none).expect_err("unset").contains("TOKEN is not set"));
        let off = read(&json!({"command": "x", "disabled": true})).expect("it is one");
        assert!(off.settle(Layer::User, "c:1", false, &none).expect_err("off").contains("disabled at c:1"));
    }

    #[test]
    fn a_filter_denies_before_it_allows() {
        let filter = |allow: &[&str], deny: &[&str]| Filter {
            allow: allow.iter().map(|name| (*name).to_owned()).collect(),
            deny: deny.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert!(filter(&[], &[]).shows("a"));
        assert!(!filter(&["a"], &["a"]).shows("a"));
        assert!(!filter(&["b"], &[]).shows("a"));
    }
}
