//! The rule language: one line, written on effects, so that one rule holds for every tool.
//!
//! | written | speaks of |
//! |---|---|
//! | `read(PATH)`, `Read(PATH)` | reading a path, whichever tool reads it |
//! | `write(PATH)`, `Write(PATH)`, `Edit(PATH)` | creating, changing, moving or deleting a path |
//! | `exec(WORDS)`, `Bash(WORDS)`, `Bash(WORDS:*)` | each simple command, word by word |
//! | `net(HOST)`, `WebFetch(domain:HOST)` | reaching a host; `*.x.org` is every name below `x.org` |
//! | `tool(NAME)` | a tool by its name |
//! | `mcp__SERVER__TOOL`, `mcp__SERVER` | a foreign server's tool, or all of them |
//!
//! A verb without parentheses speaks of everything of its kind. Paths read as in
//! [`crate::PathPattern`]. In `exec` each word is a glob; a last word that ends in `*` (or `:*`)
//! leaves the rest of the command free, anything else matches the whole command and nothing longer.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};

use crate::argv::{is_unknown, readings, readings_of_unknown, unknown, within};
use crate::bash;
use crate::effect::{Effect, ExecKind, Extent, Place};
use crate::names;
use crate::pattern::{PathPattern, PatternError};
use crate::permits::Permits;

/// What a rule does when it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// Answers a `?`.
    Allow,
    /// Raises to a question, past any allow rule.
    Ask,
    /// Final.
    Deny,
}

impl fmt::Display for RuleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RuleKind::Allow => "allow",
            RuleKind::Ask => "ask",
            RuleKind::Deny => "deny",
        })
    }
}

/// What a rule speaks of.
#[derive(Debug, Clone)]
pub enum Subject {
    /// Reads of paths.
    Read(PathPattern),
    /// Writes of paths.
    Write(PathPattern),
    /// Writes of every path but these. Not written by anybody: an agent whose task has a scope gets it.
    WriteElsewhere(Vec<PathPattern>),
    /// Whatever a workflow does not state. Not written by anybody: a run gets it from its `permits`.
    Elsewhere(Arc<Permits>),
    /// Commands.
    Exec(CommandPattern),
    /// Hosts.
    Net(HostPattern),
    /// A tool's canonical name, or a glob over names.
    Tool(GlobMatcher),
    /// A foreign server's tools; `None` is all of them.
    Foreign {
        /// The server's configured name.
        server: String,
        /// One tool, or every tool.
        tool: Option<String>,
    },
}

/// Words of a command, each a glob.
#[derive(Debug, Clone)]
pub struct CommandPattern {
    words: Vec<GlobMatcher>,
    rest_free: bool,
}

/// A host name, or every name below one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostPattern {
    /// Every host.
    Any,
    /// Exactly this name.
    Exact(String),
    /// Names with at least one label before this one.
    Below(String),
}

/// A parsed rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// As written.
    pub text: String,
    /// What it speaks of.
    pub subject: Subject,
    /// What it should and should not match, where the file says so.
    pub examples: Examples,
}

/// Examples that a rule carries, written as its subject is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examples {
    /// It matches these.
    pub matches: Vec<String>,
    /// It does not match these.
    pub not_matches: Vec<String>,
}

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The verb before the parenthesis is not known.
    #[error("rule '{rule}': unknown verb '{verb}'; use read, write, exec, net, tool or mcp__SERVER__TOOL")]
    Verb {
        /// The whole rule.
        rule: String,
        /// The unknown verb.
        verb: String,
    },
    /// A parenthesis is missing or doubled.
    #[error("rule '{0}': write it as VERB(PATTERN), for example write(src/**)")]
    Shape(String),
    /// The path pattern does not compile.
    #[error("rule '{rule}': {source}")]
    Path {
        /// The whole rule.
        rule: String,
        /// Why.
        source: PatternError,
    },
    /// A command, host or name pattern does not compile.
    #[error("rule '{rule}': {why}")]
    Pattern {
        /// The whole rule.
        rule: String,
        /// Why.
        why: String,
    },
    /// An example that should match does not, or the other way round.
    #[error("rule '{rule}': its example '{example}' is listed under {expected} and {found}")]
    Example {
        /// The whole rule.
        rule: String,
        /// The example.
        example: String,
        /// `match` or `not_match`.
        expected: &'static str,
        /// `does not match` or `matches`.
        found: &'static str,
    },
}

/// Which kind of subject each accepted verb makes.
const VERBS: &[(&str, Verb)] = &[
    ("read", Verb::Read),
    ("Read", Verb::Read),
    ("Glob", Verb::Read),
    ("Grep", Verb::Read),
    ("LS", Verb::Read),
    ("write", Verb::Write),
    ("Write", Verb::Write),
    ("Edit", Verb::Write),
    ("MultiEdit", Verb::Write),
    ("NotebookEdit", Verb::Write),
    ("exec", Verb::Exec),
    ("Bash", Verb::Exec),
    ("net", Verb::Net),
    ("WebFetch", Verb::Net),
    ("tool", Verb::Tool),
];

#[derive(Clone, Copy)]
enum Verb {
    Read,
    Write,
    Exec,
    Net,
    Tool,
}

impl Rule {
    /// Parses one rule. `home` anchors `~/` in path patterns.
    pub fn parse(text: &str, home: Option<&str>) -> Result<Rule, RuleError> {
        let text = text.trim();
        let subject = match text.strip_prefix("mcp__") {
            Some(name) => foreign(text, name)?,
            None => native(text, home)?,
        };
        Ok(Rule { text: text.to_owned(), subject, examples: Examples::default() })
    }

    /// This rule with examples, which it stands: paths, commands, hosts or names of its own kind. `home` anchors `~/`
    /// in paths.
    pub fn with_examples(mut self, kind: RuleKind, examples: Examples, home: Option<&str>) -> Result<Rule, RuleError> {
        self.check_examples(kind, &examples, home)?;
        self.examples = examples;
        Ok(self)
    }

    /// The tool that it names where no dialect has such a tool: the rule would hold for nothing, and nobody would know.
    pub fn unknown_tool(&self) -> Option<&str> {
        let Subject::Tool(name) = &self.subject else { return None };
        let name = name.glob().glob();
        let is_pattern = name.contains(['*', '?', '[', '{', '\\']);
        (!is_pattern && !names::is_known(name)).then_some(name)
    }

    /// What this rule lets through when it allows, for a person who is to keep it.
    pub fn reach(&self) -> String {
        match &self.subject {
            Subject::Read(_) => "every read of this path, by any tool".to_owned(),
            Subject::Write(_) => "every change of this path, by any tool".to_owned(),
            Subject::WriteElsewhere(_) => "every change of any other path, by any tool".to_owned(),
            Subject::Elsewhere(permits) => format!("whatever {} does not state", permits.source()),
            Subject::Exec(pattern) if pattern.rest_free => "this command with any words after these".to_owned(),
            Subject::Exec(_) => "this command, in exactly these words".to_owned(),
            Subject::Net(_) => "every request to this host, by any tool".to_owned(),
            Subject::Tool(_) => "every call of this tool, whatever its arguments".to_owned(),
            Subject::Foreign { server, .. } => format!("every call of this tool of {server}, whatever its arguments"),
        }
    }

    /// The rule that denies writing anything but what one of `patterns` matches, whichever tool writes it.
    pub fn writing_elsewhere(patterns: &[&str], home: Option<&str>) -> Result<Rule, RuleError> {
        let text = format!("write(all but {})", patterns.join(", "));
        let compiled: Result<Vec<_>, _> = patterns.iter().map(|pattern| PathPattern::new(pattern, home)).collect();
        let compiled = compiled.map_err(|source| RuleError::Path { rule: text.clone(), source })?;
        Ok(Rule { text, subject: Subject::WriteElsewhere(compiled), examples: Examples::default() })
    }

    /// The rule that denies one tool by its name in any dialect, whatever the case; `*` is every tool.
    pub(crate) fn denying_tool(name: &str) -> Rule {
        match name {
            "*" => Rule::tool_like("*"),
            name => Rule::tool_like(&globset::escape(&canonical_tool(name))),
        }
    }

    /// The rules that deny every tool whose name, in any dialect, begins so.
    pub(crate) fn denying_prefix(prefix: &str) -> Vec<Rule> {
        let prefix = prefix.strip_suffix('*').unwrap_or(prefix).to_lowercase();
        let prefix = prefix.strip_prefix("nika_").unwrap_or(&prefix);
        let other = names::pairs()
            .filter(|(ours, other)| other.to_lowercase().starts_with(prefix) && !ours.starts_with(prefix));
        let mut ours: Vec<&str> = other.map(|(ours, _)| ours).collect();
        ours.sort_unstable();
        ours.dedup();
        let all = Rule::tool_like(&format!("{}*", globset::escape(prefix)));
        std::iter::once(all).chain(ours.into_iter().map(Rule::tool_like)).collect()
    }

    fn tool_like(glob: &str) -> Rule {
        let matcher = GlobBuilder::new(glob).case_insensitive(true).backslash_escape(true).build();
        let matcher = matcher.expect("names are escaped").compile_matcher();
        Rule { text: format!("tool({glob})"), subject: Subject::Tool(matcher), examples: Examples::default() }
    }

    fn check_examples(&self, kind: RuleKind, examples: &Examples, home: Option<&str>) -> Result<(), RuleError> {
        let lists = [(true, "match", &examples.matches), (false, "not_match", &examples.not_matches)];
        for (should, expected, list) in lists {
            if let Some(example) = list.iter().find(|example| self.decides(kind, example, home) != should) {
                let (rule, example) = (self.text.clone(), example.clone());
                let found = if should { "does not match" } else { "matches" };
                return Err(RuleError::Example { rule, example, expected, found });
            }
        }
        Ok(())
    }

    /// Whether this rule, as one of that kind, decides on an example that is written as its subject is: held against it
    /// as against a call, so a command is read as bash reads it. A path begins at `home` as a pattern does.
    pub fn decides(&self, kind: RuleKind, example: &str, home: Option<&str>) -> bool {
        let at_home = home.zip(example.strip_prefix("~/")).map(|(home, below)| Path::new(home).join(below));
        let written = at_home.as_deref().unwrap_or(Path::new(example));
        let path: &Path = &bash::normal(written);
        let place = || match written.is_absolute() {
            true => Place::outside(path),
            false => Place::inside("/", path.strip_prefix("/").unwrap_or(path)),
        };
        let (tool, effects) = match &self.subject {
            Subject::Read(_) => ("read", vec![Effect::Read(place())]),
            Subject::Write(_) | Subject::WriteElsewhere(_) => ("write", vec![Effect::Write(place())]),
            Subject::Exec(_) => ("bash", executed(example)),
            Subject::Net(_) => ("web_fetch", vec![Effect::Net(example.to_owned())]),
            Subject::Tool(_) => (called(example), vec![Effect::Read(Place::inside("/", "x"))]),
            // It carries no examples: it is not written.
            Subject::Elsewhere(_) => return false,
            Subject::Foreign { .. } => {
                return foreign_name(example).is_some_and(|(server, tool)| self.matches_foreign(server, tool));
            }
        };
        match kind {
            RuleKind::Allow => !effects.is_empty() && effects.iter().all(|effect| self.holds(effect, tool)),
            RuleKind::Ask | RuleKind::Deny => effects.iter().any(|effect| self.touches(effect, tool)),
        }
    }

    fn matches_foreign(&self, server: &str, tool: &str) -> bool {
        matches!(&self.subject, Subject::Foreign { server: s, tool: t }
            if s == server && t.as_deref().is_none_or(|t| t == tool))
    }

    /// Whether this rule, as a deny or ask, touches `effect` of a call to `tool`. A tree is touched
    /// only when all of it is: single entries are withheld one by one.
    pub fn touches(&self, effect: &Effect, tool: &str) -> bool {
        match (&self.subject, effect) {
            (Subject::Exec(pattern), Effect::Exec(exec)) => exec.commands.iter().any(|argv| {
                pattern.matches(argv)
                    || !exec.sets.is_empty() && pattern.matches(&exec.with_sets(argv))
                    || readings(argv).iter().any(|words| pattern.matches(words))
                    || is_unknown(argv) && pattern.fits_behind(argv)
                    || pattern.may_match(argv)
                    || exec.kind >= ExecKind::Opaque
                        && (pattern.stands_within(argv) || pattern.stands_within(&exec.values()))
            }),
            (Subject::Read(pattern), Effect::Read(place)) | (Subject::Write(pattern), Effect::Write(place)) => {
                let fits = |place: &Place| match place.extent {
                    Extent::One => pattern.matches(place),
                    Extent::Tree => pattern.covers_tree(place),
                };
                place.by_all_names().any(fits)
            }
            (Subject::WriteElsewhere(patterns), Effect::Write(place)) => !patterns.iter().any(|pattern| {
                // A pattern that is meant for the workspace lets nothing through outside it.
                let within = place.below_root.is_some() || pattern.reaches_outside();
                within
                    && match place.extent {
                        Extent::One => pattern.matches(place),
                        Extent::Tree => pattern.covers_tree(place),
                    }
            }),
            (Subject::Tool(name), _) => name.is_match(tool),
            (Subject::Elsewhere(permits), _) => permits.refusal(effect, tool).is_some(),
            _ => self.holds(effect, tool),
        }
    }

    /// Whether this rule, as an allow, holds for all of `effect`.
    pub fn holds(&self, effect: &Effect, tool: &str) -> bool {
        match (&self.subject, effect) {
            (Subject::Read(pattern), Effect::Read(place)) | (Subject::Write(pattern), Effect::Write(place)) => {
                // `write(*.rs)` was written with the workspace in mind: as a yes it ends at its walls.
                let within = place.below_root.is_some() || pattern.reaches_outside();
                within
                    && match place.extent {
                        Extent::One => pattern.matches(place),
                        Extent::Tree => pattern.covers_tree(place),
                    }
            }
            (Subject::Exec(pattern), Effect::Exec(exec)) => {
                !exec.commands.is_empty() && exec.commands.iter().all(|argv| pattern.matches(&exec.with_sets(argv)))
            }
            (Subject::Net(pattern), Effect::Net(host) | Effect::Fetch(host)) => pattern.matches(host),
            // As a yes, a tool's name ends at the walls too.
            (Subject::Tool(name), Effect::Read(place) | Effect::Write(place)) => {
                place.below_root.is_some() && name.is_match(tool)
            }
            (Subject::Tool(name), _) => name.is_match(tool),
            (Subject::Foreign { .. }, Effect::Foreign { server, tool }) => self.matches_foreign(server, tool),
            _ => false,
        }
    }

    /// Whether this rule speaks of changes of paths, whichever tool makes them.
    pub(crate) fn speaks_of_changes(&self) -> bool {
        matches!(self.subject, Subject::Write(_) | Subject::WriteElsewhere(_) | Subject::Elsewhere(_))
    }

    /// Whether this rule speaks of a whole tool.
    pub fn names_tool(&self, tool: &str) -> bool {
        match &self.subject {
            Subject::Tool(name) => name.is_match(tool),
            Subject::Foreign { .. } => {
                foreign_name(tool).is_some_and(|(server, tool)| self.matches_foreign(server, tool))
            }
            Subject::Elsewhere(permits) => !permits.names_tool(tool),
            _ => false,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The tool that a call of `name` reaches, in any dialect.
fn called(name: &str) -> &str {
    names::canonical(name.strip_prefix("nika_").unwrap_or(name))
}

/// The name of the tool that `name` means in any dialect, whatever the case.
pub(crate) fn canonical_tool(name: &str) -> String {
    let name = name.to_lowercase();
    let name = name.strip_prefix("nika_").unwrap_or(&name);
    names::pairs().find(|(_, other)| other.to_lowercase() == name).map_or(name, |(ours, _)| ours).to_owned()
}

/// Whether `named`, in any dialect, means the tool with this canonical name.
pub(crate) fn is_tool(named: &str, tool: &str) -> bool {
    canonical_tool(named) == tool.to_lowercase()
}

/// What a command line would run. Examples are no business of any directory.
fn executed(text: &str) -> Vec<Effect> {
    let nowhere = || Path::new("/").to_path_buf();
    let analysis = bash::analyse(text, &bash::Site::on_paper(vec![nowhere()], nowhere(), nowhere()));
    let effects = analysis.effects(&|target| Place::outside(&target.path));
    effects.all.into_iter().filter(|effect| matches!(effect, Effect::Exec(_))).collect()
}

fn foreign_name(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__")
}

fn foreign(rule: &str, name: &str) -> Result<Subject, RuleError> {
    let (server, tool) = name.split_once("__").map_or((name, None), |(server, tool)| (server, Some(tool)));
    if server.is_empty() || name.contains(['(', ')', ' ']) || tool == Some("") {
        return Err(RuleError::Shape(rule.to_owned()));
    }
    Ok(Subject::Foreign { server: server.to_owned(), tool: tool.filter(|tool| *tool != "*").map(str::to_owned) })
}

fn native(rule: &str, home: Option<&str>) -> Result<Subject, RuleError> {
    let shape = || RuleError::Shape(rule.to_owned());
    let (verb, pattern) = match rule.split_once('(') {
        Some((verb, rest)) => (verb.trim(), rest.strip_suffix(')').ok_or_else(shape)?.trim()),
        None if rule.is_empty() || rule.contains([')', ' ']) => return Err(shape()),
        None => (rule, "**"),
    };
    let verb = VERBS
        .iter()
        .find(|(name, _)| *name == verb)
        .map(|(_, verb)| *verb)
        .ok_or_else(|| RuleError::Verb { rule: rule.to_owned(), verb: verb.to_owned() })?;
    if pattern.is_empty() {
        return Err(shape());
    }
    let path = || PathPattern::new(pattern, home).map_err(|source| RuleError::Path { rule: rule.to_owned(), source });
    let broken = |why: String| RuleError::Pattern { rule: rule.to_owned(), why };
    Ok(match verb {
        Verb::Read => Subject::Read(path()?),
        Verb::Write => Subject::Write(path()?),
        Verb::Exec => Subject::Exec(CommandPattern::new(pattern).map_err(broken)?),
        Verb::Net => Subject::Net(HostPattern::new(pattern).map_err(broken)?),
        Verb::Tool => Subject::Tool(word(called(pattern)).map_err(broken)?),
    })
}

fn word(text: &str) -> Result<GlobMatcher, String> {
    GlobBuilder::new(text)
        .literal_separator(false)
        .backslash_escape(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| error.kind().to_string())
}

/// What joins commands, or leads their output elsewhere: a rule with it could never match, and forbid nothing.
const OPERATORS: [&str; 10] = ["&&", "||", "|", "|&", "&", ">", ">>", "<", "2>", "2>&1"];

impl CommandPattern {
    /// Parses words; see the module's page for what a last `*` means.
    pub fn new(text: &str) -> Result<CommandPattern, String> {
        let (text, colon) = text.strip_suffix(":*").map_or((text, false), |text| (text, true));
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let mut rest_free = colon;
        if let Some(last) = words.last().copied()
            && last.ends_with('*')
        {
            rest_free = true;
            if last.chars().all(|c| c == '*') {
                words.pop();
            }
        }
        if words.is_empty() && !rest_free {
            return Err("it names no command".to_owned());
        }
        if let Some(operator) = words.iter().find(|word| OPERATORS.contains(word)) {
            return Err(format!("`{operator}` is no word of a command: write a rule for each simple command"));
        }
        Ok(CommandPattern { words: words.into_iter().map(word).collect::<Result<_, _>>()?, rest_free })
    }

    /// Whether one simple command matches.
    pub fn matches(&self, argv: &[String]) -> bool {
        let long_enough = if self.rest_free { argv.len() >= self.words.len() } else { argv.len() == self.words.len() };
        long_enough && self.words.iter().zip(argv).all(|(word, arg)| word.is_match(arg))
    }

    /// Whether a word behind the program that is only known when it runs may be what this pattern names there:
    /// `git $(echo push)`.
    fn may_match(&self, argv: &[String]) -> bool {
        argv.iter().skip(1).any(|word| unknown(word).is_some())
            && readings_of_unknown(argv).iter().any(|words| self.may_be(words))
    }

    fn may_be(&self, words: &[String]) -> bool {
        let mut filled_in = false;
        for (at, wanted) in self.words.iter().enumerate() {
            let Some(word) = words.get(at) else { return false };
            if wanted.is_match(word) {
                continue;
            }
            let Some(unknown) = unknown(word).filter(|_| at > 0) else { return false };
            let wanted = wanted.glob().glob();
            let known = wanted.find(['*', '?', '[', '{', '\\']).map_or(wanted, |end| &wanted[..end]);
            let fits =
                known.starts_with(unknown.start) || known.len() < wanted.len() && unknown.start.starts_with(known);
            if !fits {
                return false;
            }
            if unknown.splits {
                return true;
            }
            filled_in = true;
        }
        filled_in && (self.rest_free || words.len() == self.words.len())
    }

    /// Whether this pattern's command stands in the words of another one, which may run it.
    fn stands_within(&self, argv: &[String]) -> bool {
        within(argv, self.words.len() + 8)
            .iter()
            .any(|command| readings(command).iter().any(|words| self.matches(words)))
    }

    /// Whether the words behind a program that is not known are those of this pattern, by any reading: then it may be
    /// the pattern's own.
    fn fits_behind(&self, argv: &[String]) -> bool {
        let Some((_, behind)) = self.words.split_first().filter(|(_, behind)| !behind.is_empty()) else { return false };
        let own = CommandPattern { words: behind.to_vec(), rest_free: self.rest_free };
        readings(argv).iter().any(|words| own.matches(words.get(1..).unwrap_or_default()))
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostPattern::Any => f.write_str("*"),
            HostPattern::Exact(name) => f.write_str(name),
            HostPattern::Below(name) => write!(f, "*.{name}"),
        }
    }
}

impl HostPattern {
    /// Parses `name`, `*.name` or `*`, with an optional `domain:` before it.
    pub fn new(text: &str) -> Result<HostPattern, String> {
        let text = text.strip_prefix("domain:").unwrap_or(text).trim_end_matches('.').to_lowercase();
        // Effects name no port, so such a rule would never hold, and a deny not be one.
        if let Some((host, port)) = text.rsplit_once(':')
            && (!host.contains(':') || host.ends_with(']'))
            && port.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Err(format!("'{text}' names a port, and a rule speaks of all ports of a host: write '{host}'"));
        }
        let name = |name: &str| {
            let fine = !name.is_empty()
                && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.' | '_' | ':' | '[' | ']'));
            fine.then(|| name.to_owned()).ok_or_else(|| format!("'{name}' is not a host name"))
        };
        match text.strip_prefix("*.") {
            _ if text == "*" || text == "**" => Ok(HostPattern::Any),
            Some(below) => name(below).map(HostPattern::Below),
            None => name(&text).map(HostPattern::Exact),
        }
    }

    /// Whether `host` matches; it is normalised first.
    pub fn matches(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_lowercase();
        match self {
            HostPattern::Any => true,
            HostPattern::Exact(name) => host == *name,
            HostPattern::Below(name) => {
                host.strip_suffix(name.as_str()).is_some_and(|label| label.len() > 1 && label.ends_with('.'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::{Exec, ExecKind};

    fn rule(text: &str) -> Rule {
        Rule::parse(text, Some("/home/dev")).unwrap_or_else(|error| panic!("{error}"))
    }

    fn exec(lines: &[&str]) -> Effect {
        let commands = lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
        Effect::Exec(Exec::plain(commands, ExecKind::Opaque, ""))
    }

    #[test]
    fn a_rule_for_everything_else_touches_what_no_pattern_covers() {
        let rule = Rule::writing_elsewhere(&["/src", "docs/**/*.md"], None).expect("patterns");
        let touched = |place: Place| rule.touches(&Effect::Write(place), "write");
        for within in ["src/a.rs", "src/b/c.rs", "docs/x/a.md"] {
            assert!(!touched(Place::inside("/r", within)), "{within}");
        }
        for elsewhere in [Place::inside("/r", "a.rs"), Place::inside("/r", "x/src/a.rs"), Place::outside("/x/src/a.rs")]
        {
            assert!(touched(elsewhere.clone()), "{elsewhere:?}");
        }
        assert!(touched(Place::inside("/r", "").tree()) && !touched(Place::inside("/r", "src/b").tree()));
        assert!(!rule.touches(&Effect::Read(Place::inside("/r", "a.rs")), "read"));
        assert!(!rule.holds(&Effect::Write(Place::inside("/r", "a.rs")), "write"), "it lets nothing through");
        assert_eq!(rule.text, "write(all but /src, docs/**/*.md)");
        assert!(Rule::writing_elsewhere(&["!src"], None).is_err());
    }

    #[test]
    fn both_spellings_mean_the_same() {
        let file = Effect::Write(Place::inside("/r", "src/a.rs"));
        for text in
            ["write(src/**)", "Write(src/**)", "Edit(src/**)", "Edit", "tool(edit)", "tool(nika_edit)", "tool(ed*)"]
        {
            assert!(rule(text).holds(&file, "edit"), "{text}");
        }
        assert!(!rule("read(src/**)").holds(&file, "edit"));
        for text in ["exec(git status*)", "Bash(git status:*)", "exec(git status *)"] {
            assert!(rule(text).holds(&exec(&["git status --short"]), "bash"), "{text}");
            assert!(rule(text).holds(&exec(&["git status"]), "bash"), "{text}");
        }
        assert!(!rule("exec(git status)").holds(&exec(&["git status --short"]), "bash"));
        assert!(!rule("Bash(git status:*)").holds(&exec(&["git statusx"]), "bash"));
        assert!(rule("WebFetch(domain:docs.rs)").holds(&Effect::Net("docs.rs".into()), "web_fetch"));
        let foreign = Effect::Foreign { server: "gh".into(), tool: "issue".into() };
        for text in ["mcp__gh__issue", "mcp__gh", "mcp__gh__*"] {
            assert!(rule(text).holds(&foreign, "mcp_call_tool"), "{text}");
        }
        assert!(!rule("mcp__gh__pr").holds(&foreign, "mcp_call_tool"));
    }

    #[test]
    fn an_allow_needs_every_command_and_a_deny_only_one() {
        let both = exec(&["git status", "rm -rf x"]);
        assert!(!rule("exec(git status*)").holds(&both, "bash"));
        assert!(rule("exec(rm*)").touches(&both, "bash"));
        for text in ["git -C . push", "/bin/git --no-pager push -f", "git-push", "git -c a=b push"] {
            assert!(rule("exec(git push*)").touches(&exec(&[text]), "bash"), "{text}");
            assert!(!rule("exec(git push*)").holds(&exec(&[text]), "bash"), "an allow rule is as written: {text}");
        }
        for text in ["\"$GIT\" push", "$GIT -C . push -f", "/usr/bin/gi? push origin", "`x` --no-pager push", "… push"]
        {
            assert!(rule("exec(git push*)").touches(&exec(&[text]), "bash"), "{text}");
            assert!(!rule("exec(git push*)").holds(&exec(&[text]), "bash"), "{text}");
        }
        for text in ["$PYTHON app.py", "\"$GIT\" status", "$X", "$GIT log push"] {
            assert!(!rule("exec(git push*)").touches(&exec(&[text]), "bash"), "{text}");
        }
        assert!(!rule("exec(git*)").touches(&exec(&["$X"]), "bash"), "nothing is left to go by");
    }

    #[test]
    fn a_word_that_is_not_known_may_be_what_is_denied() {
        let touches = |rule_text: &str, argv: &[&str]| {
            let commands = vec![argv.iter().map(|word| (*word).to_owned()).collect()];
            rule(rule_text).touches(&Effect::Exec(Exec::plain(commands, ExecKind::Opaque, "")), "bash")
        };
        let words: &[&[&str]] = &[
            &["git", "$(echo push)"],
            &["git", "\"$(echo push)\"", "origin"],
            &["git", "`echo push`"],
            &["git", "$x"],
            &["git", "\"$x\"", "origin", "main"],
            &["git", "pu$x"],
            &["git", "\"pu$x\""],
            &["git", "pus?"],
            &["git", "…"],
            &["git", "$x", "status"],
            &["git", "--no-pager", "\"$x\""],
            &["git", "-C", ".", "\"$x\""],
            &["git", "-C", "\"$d\"", "$x"],
            &["git", "-C", "$(echo . push)"],
            &["git", "-c", "a=b", "--no-pager", "$x"],
            &["/usr/bin/git", "$x"],
        ];
        for argv in words {
            assert!(touches("exec(git push*)", argv), "{argv:?}");
            assert!(!rule("exec(git push*)").holds(
                &Effect::Exec(Exec::plain(
                    vec![argv.iter().map(|word| (*word).to_owned()).collect()],
                    ExecKind::Opaque,
                    ""
                )),
                "bash"
            ));
        }
        assert!(touches("exec(git push origin main)", &["git", "$(echo push origin main)"]));
        assert!(touches("exec(git push origin main)", &["git", "push", "\"$x\"", "main"]));
        assert!(touches("exec(rm -rf*)", &["rm", "$(echo -rf)", "x"]));
        assert!(touches("exec(kubectl delete*)", &["kubectl", "-n", "x", "$verb", "pod"]));
        let others: &[&[&str]] = &[
            &["git", "status", "$x"],
            &["git", "log", "\"$x\"", "push"],
            &["git", "-C", "\"$d\"", "status"],
            &["git", "-C", "\"$d\"", "log", "$x"],
            &["git", "-c", "\"$x\"", "status"],
            &["git", "--git-dir", "\"$x\"", "log"],
            &["git", "st$x"],
            &["git", "\"log-$x\""],
            &["git", "add", "*.rs"],
            &["echo", "$x"],
            &["gitk", "$x"],
        ];
        for argv in others {
            assert!(!touches("exec(git push*)", argv), "{argv:?}");
        }
        assert!(!touches("exec(kubectl delete*)", &["kubectl", "-n", "\"$ns\"", "get", "pods"]));
        assert!(!touches("exec(rm -rf*)", &["rm", "*.log"]));
        assert!(!touches("exec(rm -rf*)", &["rm", "-f", "\"$f\""]));
        assert!(!touches("exec(git push origin main)", &["git", "push", "\"$x\""]));
    }

    #[test]
    fn a_port_in_a_rule_on_hosts_is_an_error_as_it_would_never_hold() {
        for ported in ["example.com:443", "*.example.com:8080", "[::1]:80", "domain:x.org:22", "x.org:"] {
            let error = HostPattern::new(ported).expect_err(ported);
            assert!(error.contains("all ports of a host"), "{error}");
        }
        for plain in ["example.com", "::1", "[::1]", "2001:db8::8080"] {
            assert!(HostPattern::new(plain).is_ok(), "{plain}");
        }
    }

    #[test]
    fn hosts_match_by_label() {
        for (pattern, host, want) in [
            ("*.example.com", "a.example.com", true),
            ("*.example.com", "a.b.EXAMPLE.com.", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "evilexample.com", false),
            ("example.com", "example.com", true),
            ("example.com", "a.example.com", false),
            ("*", "x", true),
        ] {
            assert_eq!(HostPattern::new(pattern).expect("parses").matches(host), want, "{pattern} {host}");
        }
    }

    #[test]
    fn a_malformed_rule_is_an_error_never_an_empty_one() {
        for text in [
            "exec(a && b)",
            "Bash(git log | head:*)",
            "exec(date > x)",
            "exec(make 2>&1)",
            "exec(a || *)",
            "",
            "write(",
            "write)",
            "write()",
            "paint(x)",
            "exec()",
            "net(a b)",
            "write(a[)",
            "mcp__",
            "read (",
            "Bash( )",
        ] {
            assert!(Rule::parse(text, None).is_err(), "{text:?}");
        }
    }

    #[test]
    fn examples_are_held_against_a_rule_as_calls_are() {
        let fits = |kind, text: &str, matches: &[&str], not_matches: &[&str]| {
            let list = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
            let examples = Examples { matches: list(matches), not_matches: list(not_matches) };
            rule(text).with_examples(kind, examples, Some("/home/dev")).is_ok()
        };
        let (allow, deny) = (RuleKind::Allow, RuleKind::Deny);
        assert!(fits(deny, "exec(git push*)", &["git push origin main"], &["git status"]));
        assert!(!fits(deny, "exec(git push*)", &["git status"], &[]));
        assert!(!fits(deny, "exec(git push*)", &[], &["git push"]));
        assert!(fits(deny, "exec(git push*)", &["cd a && git  push 'origin'", "env A=1 git push"], &["echo git push"]));
        assert!(fits(allow, "exec(git push*)", &["git push 'a b'"], &["git push && rm -rf x", "$(git push)"]));
        assert!(fits(deny, "read(**/.env)", &["a/.env", "./a/../.env"], &["a/env"]));
        assert!(fits(deny, "read(~/private/**)", &["~/private/x", "/home/dev/private/x"], &["private/x", "~/x"]));
        assert!(fits(allow, "write(*.rs)", &["a/x.rs"], &["/etc/x.rs"]));
        assert!(fits(deny, "write(*.rs)", &["a/x.rs", "/etc/x.rs"], &["a/x"]));
        assert!(fits(deny, "net(*.example.com)", &["a.example.com"], &["example.org"]));
        assert!(fits(allow, "tool(grep)", &["grep"], &["glob"]));
        for written in ["Bash", "bash", "nika_bash"] {
            let rule = format!("tool({written})");
            assert!(
                fits(deny, &rule, &["Bash", "bash", "nika_bash", "nika_Bash"], &["Read", "edit_file", "BASH"]),
                "{rule}"
            );
            assert!(!fits(deny, &rule, &[], &["Bash"]) && !fits(allow, &rule, &[], &["nika_bash"]), "{rule}");
        }
        assert!(fits(deny, "tool(*edit)", &["edit_file", "NotebookEdit"], &["write_file"]));
    }
}
