//! Command hooks of a file: when they run, for which tool, what runs, and what counts when it fails.
//!
//! ```yaml
//! hooks: [{on: before, tool: edit, run: [.nika/hooks/check.sh], timeout_ms: 2000, on_failure: deny}]
//! ```

use std::fmt;
use std::path::Path;

use nika_guard::{HookPoint, OnFailure};
use serde_json::{Value, json};

use super::ConfigError;
use super::change::Change;
use super::keys::{Brought, Reads, Wrong, expected};
use super::values::{whole, word};
use super::yaml::{Key, Kind, Node, Spot};

/// A hook as it is written; whether it may run is settled later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub point: HookPoint,
    /// `None` is every tool.
    pub tool: Option<String>,
    pub argv: Vec<String>,
    /// Where each of them stands.
    pub spots: Vec<Spot>,
    pub timeout_ms: u32,
    pub on_failure: OnFailure,
}

const FIELDS: [&str; 5] = ["on", "tool", "run", "timeout_ms", "on_failure"];
const POINTS: &[(&str, HookPoint)] = &[("before", HookPoint::Before), ("after", HookPoint::After)];
const FAILURES: &[(&str, OnFailure)] =
    &[("deny", OnFailure::Deny), ("allow", OnFailure::Allow), ("note", OnFailure::Note)];
/// A hook that takes as long as a person notices is slow already; ten times that is broken.
const TIMEOUT_MS: u32 = 5_000;
/// The most: every call waits for its hooks.
const MAX_TIMEOUT_MS: u64 = 60_000;

/// Reads the list under `hooks`.
pub(super) fn read(node: &Node, home: Option<&str>) -> Reads {
    match &node.kind {
        Kind::Nothing => Ok(Vec::new()),
        Kind::List(items) => items.iter().map(|item| Ok((item.spot, None, Change::Hook(hook(item, home)?)))).collect(),
        _ => expected(node, "a list of hooks, for example [{on: before, tool: edit, run: [check-edit]}]"),
    }
}

fn hook(node: &Node, home: Option<&str>) -> Result<Written, Wrong> {
    let Kind::Map(entries) = &node.kind else {
        return expected(node, "a hook such as {on: before, tool: edit, run: [check-edit]}");
    };
    if let Some((key, _)) = entries.iter().find(|(key, _)| !FIELDS.contains(&key.name.as_str())) {
        return Err(Wrong::unknown(key, FIELDS));
    }
    let field = |name: &str| entries.iter().find(|(key, _): &&(Key, Node)| key.name == name).map(|(_, value)| value);
    let needed = |name: &str| match field(name) {
        Some(value) => Ok(value),
        None => expected(node, &format!("a hook with `{name}`")),
    };
    let on = needed("on")?;
    let point = match word(&on.kind, POINTS) {
        Some(point) => point,
        None => return expected(on, "before or after"),
    };
    let tool = match field("tool") {
        None => None,
        Some(Node { kind: Kind::Text(name), .. }) if !name.is_empty() && !name.contains(char::is_whitespace) => {
            Some(name.clone()).filter(|name| name != "*")
        }
        Some(other) => return expected(other, "a tool's name, or \"*\" for every tool"),
    };
    let timeout_ms = match field("timeout_ms") {
        None => TIMEOUT_MS,
        Some(value) => match whole(&value.kind, 1, MAX_TIMEOUT_MS).and_then(|count| u32::try_from(count).ok()) {
            Some(count) => count,
            None => return expected(value, "a whole number of milliseconds from 1 to 60000"),
        },
    };
    let on_failure = match field("on_failure") {
        None => OnFailure::default(),
        Some(value) => match word(&value.kind, FAILURES) {
            Some(what) => what,
            None => return expected(value, "deny, allow or note"),
        },
    };
    let (argv, spots) = argv(needed("run")?, home)?;
    Ok(Written { point, tool, argv, spots, timeout_ms, on_failure })
}

/// The program and its arguments, and where each stands.
fn argv(node: &Node, home: Option<&str>) -> Result<(Vec<String>, Vec<Spot>), Wrong> {
    let Kind::List(items) = &node.kind else {
        return expected(node, "a list: the program and its arguments; no shell reads it");
    };
    let text = |item: &Node| match &item.kind {
        Kind::Text(text) if !text.contains('\0') => Ok(text.clone()),
        _ => expected(item, "an argument as text; put it in quotes"),
    };
    let at_home = |word: String| match (word.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => format!("{home}/{below}"),
        _ => word,
    };
    let argv: Vec<String> = items.iter().map(|item| text(item).map(at_home)).collect::<Result<_, _>>()?;
    match argv.first() {
        Some(program) if !program.is_empty() => Ok((argv, items.iter().map(|item| item.spot).collect())),
        _ => expected(node, "a list that begins with a program"),
    }
}

/// Shells: the word behind an option that ends in `c` is a text.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "fish"];
/// Other programs that run the file which they are given first.
const INTERPRETERS: &[&str] =
    &["python", "python3", "node", "deno", "bun", "ruby", "perl", "php", "lua", "Rscript", "pwsh"];
/// Options of those behind which comes a text, or the name of a module, and ones behind which comes another value.
const TEXTS: &[&str] = &["-c", "-e", "-E", "-m", "-p", "-r", "--eval", "--print", "-Command"];
const VALUES: &[&str] = &["-W", "-X", "-I", "--require", "--import", "--conditions"];
/// Programs that run the command behind them.
const WRAPPERS: &[&str] = &["env", "nice", "timeout", "nohup", "setsid", "stdbuf"];

/// A program or a script by a relative path is whatever the repository holds there, and a file of the workspace is one
/// that calls may write: a hook would run what it is to judge. A person's own configuration may name neither, and a
/// repository's only where trust binds to its bytes. `root` is the workspace.
pub(super) fn check(layers: &[Brought], root: &Path) -> Result<(), ConfigError> {
    for Brought { layer, said } in layers {
        for said in said {
            let Change::Hook(Written { argv, spots, .. }) = &said.change else { continue };
            for (at, word) in argv.iter().enumerate().filter(|(at, _)| is_file(argv, *at, root)) {
                let refuse = |what: &str, hint: &str| {
                    let what = format!("`{}` {what}", word.escape_debug());
                    Err(ConfigError::Malformed { at: said.place_of(spots[at]), what, hint: Some(hint.to_owned()) })
                };
                let below = word.strip_prefix("./").unwrap_or(word);
                let is_bound = below.starts_with(".nika/") && !below.split('/').any(|part| part == "..");
                let part = if at == 0 { "program" } else { "file" };
                if layer.is_repository() && !below.starts_with('/') {
                    if !is_bound {
                        return refuse("is no file that trust binds to", &format!("put the {part} below .nika/"));
                    }
                } else if !below.starts_with('/') {
                    return refuse(
                        "would be a file of whichever repository is open",
                        "write an absolute path, one that begins with `~/`, or a program's name",
                    );
                } else if lies_in(Path::new(below), root) {
                    return refuse(
                        "lies in this workspace, where calls may write it",
                        &format!("put the {part} outside, such as below ~/.config/nika/"),
                    );
                }
            }
        }
    }
    Ok(())
}

/// Whether a word of a hook is a file that is run or read: the program, if it is a path; the script that an interpreter is
/// given; whatever else with a slash names a file, or could for an interpreter.
fn is_file(argv: &[String], at: usize, root: &Path) -> bool {
    let (word, name) = (&argv[at], argv[0].rsplit('/').next().unwrap_or_default());
    let value = word.strip_prefix('-').and_then(|option| option.split_once('=')).map(|(_, value)| value);
    let exists = |word: &str| word.contains('/') && root.join(word).is_file();
    match at {
        0 => word.contains('/'),
        _ if WRAPPERS.contains(&name) => {
            let inner = argv.iter().skip(1).position(|word| is_interpreter(word) || word.contains('/'));
            inner.map(|inner| inner + 1).is_some_and(|inner| at >= inner && is_file(&argv[inner..], at - inner, root))
        }
        _ if word.starts_with('-') => value.is_some_and(exists),
        _ if is_interpreter(name) => {
            let (behind, is_shell) = (argv[at - 1].as_str(), SHELLS.contains(&name));
            let is_text = if is_shell { is_short(behind) && behind.ends_with('c') } else { TEXTS.contains(&behind) };
            let is_script = |pair: &[String]| !pair[1].starts_with('-') && !takes_value(&pair[0], is_shell);
            let is_first = !argv[..at].windows(2).any(is_script);
            !is_text && !takes_value(behind, is_shell) && (is_first || word.contains('/'))
        }
        _ => exists(word),
    }
}

/// Whether the word behind this option is its value.
fn takes_value(option: &str, is_shell: bool) -> bool {
    if is_shell { is_short(option) && option.ends_with('o') } else { VALUES.contains(&option) }
}

fn is_short(option: &str) -> bool {
    option.starts_with('-') && !option.starts_with("--")
}

fn is_interpreter(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    SHELLS.contains(&name) || INTERPRETERS.contains(&name)
}

fn lies_in(path: &Path, root: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    real(path).starts_with(real(root)) || path.starts_with(root)
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.point, self.tool.as_deref().unwrap_or("*"), self.argv.join(" "))
    }
}

/// The JSON schema of the list.
pub(super) fn schema() -> Value {
    let words = |names: Vec<&str>| json!({ "enum": names });
    json!({
        "type": ["array", "null"],
        "items": {
            "type": "object",
            "properties": {
                "on": words(POINTS.iter().map(|(name, _)| *name).collect()),
                "tool": { "type": "string", "default": "*" },
                "run": { "type": "array", "items": { "type": "string" }, "minItems": 1 },
                "timeout_ms": { "type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT_MS, "default": TIMEOUT_MS },
                "on_failure": { "enum": FAILURES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "default": "deny" },
            },
            "required": ["on", "run"],
            "additionalProperties": false,
        },
    })
}
