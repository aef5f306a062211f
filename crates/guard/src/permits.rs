//! What a workflow states that it may do, and the walls that makes.
//!
//! A statement is used twice. As *bounds* it takes away: one rule that denies every effect that no line of it holds
//! for, whichever tool has it and whatever the session's mode would say. As *grants* it gives what a person said yes
//! to: allow rules, which answer a `?` and nothing else, so that floors and other people's denials stay as they are.
//!
//! | line | holds for |
//! |---|---|
//! | `fs.read: P`, `fs.write: P` | reads, changes of paths, as `read(P)`, `write(P)` |
//! | `net: H` | requests to hosts, as `net(H)` |
//! | `exec: W` | commands, as `exec(W)`: each simple command of a line needs one |
//! | `tools: N` | calls of tools, as `tool(N)`, `mcp__SERVER__TOOL`; `workflow(PATH)` |
//! | `env: N` | variables that its commands see |
//!
//! A tool has to be named *and* what it touches has to be stated: `tools: [read]` alone reads nothing.

use std::sync::Arc;

use crate::effect::Effect;
use crate::mode::{Act, Cell, Stance};
use crate::policy::{Layer, LayeredRule};
use crate::rule::{Rule, RuleError, RuleKind, Subject};

/// Of what kind a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PermitKind {
    /// `fs.read`.
    Read,
    /// `fs.write`.
    Write,
    /// `net`.
    Net,
    /// `exec`.
    Exec,
    /// `tools`.
    Tool,
    /// `env`.
    Env,
}

impl PermitKind {
    /// As documents write it.
    pub fn key(self) -> &'static str {
        match self {
            PermitKind::Read => "fs.read",
            PermitKind::Write => "fs.write",
            PermitKind::Net => "net",
            PermitKind::Exec => "exec",
            PermitKind::Tool => "tools",
            PermitKind::Env => "env",
        }
    }
}

/// One line of a statement, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermitLine {
    /// Its kind.
    pub kind: PermitKind,
    /// Its text.
    pub text: String,
    /// `file:line`, or what stands for it.
    pub at: String,
}

/// A statement that was read.
#[derive(Debug, Clone)]
pub struct Permits {
    source: String,
    lines: Vec<Stated>,
}

/// A line and what it means.
#[derive(Debug, Clone)]
struct Stated {
    line: PermitLine,
    means: Means,
}

#[derive(Debug, Clone)]
enum Means {
    Rule(Rule),
    /// Another workflow, by its path.
    Workflow(String),
    /// A variable.
    Variable,
}

/// Tools that a workflow's verbs stand on, or that only find and call others: they need no name in `tools`, as each
/// thing that they touch needs a line of its own.
const CARRIERS: &[&str] = &[
    "exec",
    "web_fetch",
    "remote_trigger",
    "mcp_call_tool",
    "mcp_read_resource",
    "call",
    "tool_search",
    "structured_output",
];

impl Permits {
    /// Reads a statement; `source` is how refusals name it, `home` anchors `~/`. A line that is no pattern is an
    /// error that names it.
    pub fn parse(source: &str, lines: &[PermitLine], home: Option<&str>) -> Result<Permits, RuleError> {
        let read = |line: &PermitLine| {
            let means = match line.kind {
                PermitKind::Read => Means::Rule(Rule::parse(&format!("read({})", line.text), home)?),
                PermitKind::Write => Means::Rule(Rule::parse(&format!("write({})", line.text), home)?),
                PermitKind::Net => Means::Rule(Rule::parse(&format!("net({})", line.text), home)?),
                PermitKind::Exec => Means::Rule(Rule::parse(&format!("exec({})", line.text), home)?),
                PermitKind::Tool => match line.text.strip_prefix("workflow(").and_then(|rest| rest.strip_suffix(')')) {
                    Some(path) => Means::Workflow(path.trim().trim_start_matches("./").to_owned()),
                    None if line.text.starts_with("mcp__") => Means::Rule(Rule::parse(&line.text, home)?),
                    None => Means::Rule(Rule::parse(&format!("tool({})", line.text), home)?),
                },
                PermitKind::Env => Means::Variable,
            };
            Ok(Stated { line: line.clone(), means })
        };
        Ok(Permits { source: source.to_owned(), lines: lines.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// Whose statement it is.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The lines, as they were written.
    pub fn lines(&self) -> impl Iterator<Item = &PermitLine> {
        self.lines.iter().map(|stated| &stated.line)
    }

    /// Why `effect` of a call to `tool` is not stated; `None` where it is.
    pub fn refusal(&self, effect: &Effect, tool: &str) -> Option<String> {
        if let Effect::Foreign { .. } = effect {
            let stated = self.holds(PermitKind::Tool, effect, tool);
            return (!stated).then(|| format!("`permits.tools` names no such tool: {effect}"));
        }
        let carried = CARRIERS.contains(&tool);
        if !carried && !self.names_tool(tool) {
            return Some(format!("`permits.tools` does not name `{tool}`"));
        }
        let kind = match effect {
            Effect::Read(_) => PermitKind::Read,
            Effect::Write(_) => PermitKind::Write,
            Effect::Net(_) | Effect::Fetch(_) => PermitKind::Net,
            Effect::Exec(_) => PermitKind::Exec,
            Effect::Spawn(what) => {
                return match what.strip_prefix("workflow ") {
                    Some(path) if !self.names_workflow(path) => {
                        Some(format!("`permits.tools` does not name `workflow({path})`"))
                    }
                    None if carried => Some(format!("`permits.tools` does not name what starts {what}")),
                    _ => None,
                };
            }
            Effect::Note(_) | Effect::Control(_) if carried => return Some(format!("nothing states {effect}")),
            Effect::Note(_) | Effect::Control(_) | Effect::Ask | Effect::Session => return None,
            Effect::Foreign { .. } => unreachable!("answered above"),
        };
        (!self.holds(kind, effect, tool)).then(|| format!("`permits.{}` does not hold for {effect}", kind.key()))
    }

    /// Whether the tool may be called, whatever it would touch: a line states it, or it needs none.
    pub fn names_tool(&self, tool: &str) -> bool {
        CARRIERS.contains(&tool) || self.states_tool(tool)
    }

    /// Whether a line of `tools` states the tool, by its canonical name.
    pub fn states_tool(&self, tool: &str) -> bool {
        self.lines.iter().any(|stated| match &stated.means {
            Means::Rule(rule) if stated.line.kind == PermitKind::Tool => {
                rule.names_tool(tool) || foreign_name(rule, tool)
            }
            _ => false,
        })
    }

    /// Whether another workflow is stated: its path, or a pattern that ends in `*`.
    pub fn names_workflow(&self, path: &str) -> bool {
        let path = path.trim_start_matches("./");
        self.lines.iter().any(|stated| match &stated.means {
            Means::Workflow(stated) => match stated.strip_suffix('*') {
                Some(start) => path.strip_prefix(start).is_some_and(|rest| !rest.contains("..")),
                None => stated == path,
            },
            _ => false,
        })
    }

    /// This statement for a workflow that one with the statement `above` runs. The bounds of both hold by themselves;
    /// variables are handed out by what is stated, so those that `above` does not state go.
    pub fn below(&self, above: &Permits) -> Permits {
        let stays = |stated: &&Stated| match stated.means {
            Means::Variable => above.variables().any(|name| name == stated.line.text),
            Means::Rule(_) | Means::Workflow(_) => true,
        };
        Permits { source: self.source.clone(), lines: self.lines.iter().filter(stays).cloned().collect() }
    }

    /// The variables that commands may see.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let named = |stated: &&Stated| matches!(stated.means, Means::Variable);
        self.lines.iter().filter(named).map(|stated| stated.line.text.as_str())
    }

    /// The tools that are stated, as they were written.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let tool = |stated: &&Stated| stated.line.kind == PermitKind::Tool && matches!(stated.means, Means::Rule(_));
        self.lines.iter().filter(tool).map(|stated| stated.line.text.as_str())
    }

    /// Whether any path may be changed.
    pub fn writes_anything(&self) -> bool {
        self.lines.iter().any(|stated| stated.line.kind == PermitKind::Write)
    }

    /// The rule that denies everything else, for a session that runs under this statement.
    pub fn bounds(&self) -> Vec<LayeredRule> {
        let rule = Rule {
            text: "all but `permits`".to_owned(),
            subject: Subject::Elsewhere(Arc::new(self.clone())),
            examples: crate::rule::Examples::default(),
        };
        vec![LayeredRule { kind: RuleKind::Deny, rule, layer: Layer::Session, at: self.source.clone() }]
    }

    /// Allow rules for these lines, once a person said yes to them.
    pub fn grants(&self, lines: &[PermitLine]) -> Vec<LayeredRule> {
        let granted = self.lines.iter().filter(|stated| lines.contains(&stated.line));
        let rule = |stated: &Stated| match &stated.means {
            Means::Rule(rule) => Some(LayeredRule {
                kind: RuleKind::Allow,
                rule: rule.clone(),
                layer: Layer::Session,
                at: stated.line.at.clone(),
            }),
            Means::Workflow(_) | Means::Variable => None,
        };
        granted.filter_map(rule).collect()
    }

    /// The lines that ask for more than a session that stands so does without a question. What it denies, or asks a
    /// person each time, no line grants: those are not among them. `kind_of` says what a command line amounts to.
    pub fn beyond(&self, stance: &Stance, kind_of: &dyn Fn(&str) -> crate::ExecKind) -> Vec<PermitLine> {
        let asks = |stated: &&Stated| {
            let act = match (&stated.means, stated.line.kind) {
                (Means::Rule(rule), kind) => match (&rule.subject, kind) {
                    (Subject::Read(pattern) | Subject::Write(pattern), _) if pattern.reaches_outside() => {
                        Act::ReachOutside
                    }
                    (Subject::Read(_), _) => Act::ReadInside,
                    (Subject::Write(_), _) => Act::WriteInside,
                    (Subject::Net(_), _) => Act::Net,
                    (Subject::Foreign { .. }, _) => Act::Foreign,
                    (Subject::Exec(_), _) => match kind_of(&stated.line.text) {
                        crate::ExecKind::ReadOnly => Act::ExecReadOnly,
                        crate::ExecKind::WritesInside => Act::ExecInside,
                        _ => Act::ExecOpaque,
                    },
                    (Subject::Tool(_), _) if STARTERS.iter().any(|tool| rule.names_tool(tool)) => Act::Spawn,
                    // What any other tool does is stated by lines of its own.
                    _ => return false,
                },
                _ => return false,
            };
            act.under(stance) == Cell::Ask
        };
        self.lines.iter().filter(asks).map(|stated| stated.line.clone()).collect()
    }
}

/// Tools that start or end what outlives their call, of which no other line speaks: [`Act::Spawn`] and
/// [`Act::Control`], which stand alike in every mode.
const STARTERS: &[&str] = &[
    "agent",
    "delegate_agent",
    "run_task_packet",
    "task_cancel",
    "task_create",
    "task_stop",
    "task_update",
    "workflow_run",
];

/// Whether a foreign rule names the tool by its name in the pool. `mcp__SERVER` is all that the server has.
fn foreign_name(rule: &Rule, tool: &str) -> bool {
    let Subject::Foreign { server, tool: one } = &rule.subject else { return false };
    let Some(rest) = tool.strip_prefix("mcp__") else { return false };
    let (of, name) = rest.split_once("__").unwrap_or((rest, "*"));
    of == server && one.as_deref().is_none_or(|one| one == name)
}

impl Permits {
    fn holds(&self, kind: PermitKind, effect: &Effect, tool: &str) -> bool {
        let rules = || {
            self.lines.iter().filter(move |stated| stated.line.kind == kind).filter_map(|stated| match &stated.means {
                Means::Rule(rule) => Some(rule),
                _ => None,
            })
        };
        match effect {
            // Several lines may cover the commands of one text between them; each command needs one.
            Effect::Exec(exec) => {
                !exec.commands.is_empty()
                    && exec.commands.iter().all(|argv| {
                        let one = Effect::Exec(exec.alone(argv));
                        rules().any(|rule| rule.holds(&one, tool))
                    })
            }
            // The name of a tool is no statement about foreign servers, nor about anything it touches.
            _ => rules().any(|rule| !matches!(rule.subject, Subject::Tool(_)) && rule.holds(effect, tool)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decision, Effects, Exec, ExecKind, Mode, Place, Policy};

    fn permits(lines: &[(PermitKind, &str)]) -> Permits {
        let lines: Vec<PermitLine> = lines
            .iter()
            .map(|(kind, text)| PermitLine { kind: *kind, text: (*text).to_owned(), at: "w.nika.yaml:3".to_owned() })
            .collect();
        Permits::parse("w.nika.yaml", &lines, Some("/home/dev")).expect("they read")
    }

    fn exec(lines: &[&str]) -> Effect {
        let commands = lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
        Effect::Exec(Exec::plain(commands, ExecKind::WritesInside, ""))
    }

    use PermitKind::{Exec as E, Net as N, Read as R, Tool as T, Write as W};

    /// Under the widest mode there is, with nothing else in the way.
    fn decided(permits: &Permits, tool: &str, effect: Effect) -> Decision {
        let policy = Policy::default().with(permits.bounds());
        policy.judge(&Mode::AcceptAll.into(), &Effects::one(effect).of(tool)).decision
    }

    #[test]
    fn what_is_not_stated_is_denied_in_every_mode() {
        let some =
            permits(&[(R, "src/**"), (W, "report/**"), (N, "docs.rs"), (E, "git log *"), (T, "read"), (T, "grep")]);
        use Decision::{Allow, Deny};
        let inside = |path: &str| Place::inside("/r", path);
        for (tool, effect, want) in [
            ("read", Effect::Read(inside("src/a.rs")), Allow),
            ("read", Effect::Read(inside("Cargo.toml")), Deny),
            ("read", Effect::Read(Place::outside("/r2/src/a.rs")), Deny),
            ("grep", Effect::Read(inside("src").tree()), Allow),
            ("grep", Effect::Read(inside("").tree()), Deny),
            ("edit", Effect::Write(inside("report/a.md")), Deny),
            ("exec", Effect::Write(inside("report/a.md")), Allow),
            ("exec", Effect::Write(inside("report").tree()), Allow),
            ("exec", Effect::Write(inside("src/a.rs")), Deny),
            ("exec", Effect::Write(Place::outside("/report/a.md")), Deny),
            ("exec", exec(&["git log --oneline"]), Allow),
            ("exec", exec(&["git push"]), Deny),
            ("exec", exec(&["git log", "rm -rf x"]), Deny),
            ("exec", Effect::Exec(Exec::plain(Vec::new(), ExecKind::Opaque, "")), Deny),
            ("bash", exec(&["git log"]), Deny),
            ("exec", Effect::Net("docs.rs".into()), Allow),
            ("exec", Effect::Net("*".into()), Deny),
            ("exec", Effect::Net("docs.rs.evil.org".into()), Deny),
            ("agent", Effect::Spawn("agent".into()), Deny),
            ("exec", Effect::Spawn("agent".into()), Deny),
            ("exec", Effect::Control("tasks".into()), Deny),
            ("todo_write", Effect::Note("todo".into()), Deny),
            ("read", Effect::Session, Allow),
            ("mcp__gh__issue", Effect::Foreign { server: "gh".into(), tool: "issue".into() }, Deny),
        ] {
            let said = format!("{tool}: {effect}");
            assert_eq!(decided(&some, tool, effect), want, "{said}");
        }
    }

    #[test]
    fn nothing_stated_is_nothing_allowed() {
        let none = permits(&[]);
        for effect in [
            Effect::Read(Place::inside("/r", "a")),
            Effect::Write(Place::inside("/r", "a")),
            exec(&["true"]),
            Effect::Net("a.org".into()),
            Effect::Foreign { server: "s".into(), tool: "t".into() },
        ] {
            assert_eq!(decided(&none, "exec", effect.clone()), Decision::Deny, "{effect}");
        }
        assert!(Policy::default().with(none.bounds()).removes_tool("read").is_some(), "and it is not in the pool");
    }

    #[test]
    fn the_star_of_a_tool_is_no_statement_about_files_or_servers() {
        let all = permits(&[(T, "*")]);
        assert_eq!(decided(&all, "read", Effect::Read(Place::inside("/r", "a"))), Decision::Deny);
        let foreign = Effect::Foreign { server: "gh".into(), tool: "pr".into() };
        assert_eq!(decided(&all, "mcp__gh__pr", foreign.clone()), Decision::Deny);
        let server = permits(&[(T, "mcp__gh")]);
        for (named, want) in [
            ("mcp__gh", true),
            ("mcp__gh__*", true),
            ("mcp__gh__pr", true),
            ("mcp__g", false),
            ("mcp__other__pr", false),
        ] {
            assert_eq!(server.names_tool(named), want, "{named}");
        }
        assert!(!permits(&[(T, "mcp__gh__pr")]).names_tool("mcp__gh"), "one tool is not all of them");
        assert_eq!(decided(&server, "mcp__gh__pr", foreign.clone()), Decision::Allow);
        assert_eq!(decided(&server, "mcp_call_tool", foreign), Decision::Allow);
    }

    #[test]
    fn a_whole_server_is_stated_by_a_line_of_all_of_it() {
        for (line, whole) in [("mcp__gh", true), ("mcp__gh__*", true), ("mcp__gh__pr", false), ("mcp__other", false)] {
            let stated = permits(&[(T, line)]);
            assert_eq!(stated.names_tool("mcp__gh"), whole, "{line}");
            assert_eq!(stated.names_tool("mcp__gh__*"), whole, "{line}");
            assert_eq!(stated.states_tool("mcp__gh__pr"), line.starts_with("mcp__gh"), "{line}");
        }
        let some = permits(&[(T, "Read"), (T, "web_*")]);
        for (tool, stated) in [("read", true), ("web_search", true), ("web_fetch", true), ("remote_trigger", false)] {
            assert_eq!(some.states_tool(tool), stated, "{tool}");
        }
        assert!(some.names_tool("remote_trigger"), "it needs no name, as what it reaches needs a line");
    }

    #[test]
    fn a_link_is_judged_by_where_it_leads() {
        let some = permits(&[(R, "docs/**"), (T, "read")]);
        let link = Place::inside("/r", "secret/a").written_as(Place::inside("/r", "docs/a"));
        assert_eq!(decided(&some, "read", Effect::Read(link)), Decision::Deny);
    }

    #[test]
    fn workflows_are_named_by_path() {
        let some = permits(&[(T, "workflow_run"), (T, "workflow(sub/*)"), (T, "workflow(./one.nika.yaml)")]);
        for (path, want) in [
            ("one.nika.yaml", Decision::Allow),
            ("sub/a.nika.yaml", Decision::Allow),
            ("sub/../two.nika.yaml", Decision::Deny),
            ("two.nika.yaml", Decision::Deny),
        ] {
            assert_eq!(decided(&some, "workflow_run", Effect::Spawn(format!("workflow {path}"))), want, "{path}");
        }
    }

    #[test]
    fn a_workflow_below_gets_no_variable_that_the_one_above_does_not_state() {
        let below = permits(&[(PermitKind::Env, "CI"), (PermitKind::Env, "TOKEN"), (R, "**")]);
        let left = below.below(&permits(&[(PermitKind::Env, "CI")]));
        assert_eq!(left.variables().collect::<Vec<_>>(), ["CI"]);
        assert_eq!(left.lines().count(), 2, "what else it states stays: bounds take away by themselves");
    }

    #[test]
    fn grants_answer_a_question_and_lower_no_floor() {
        let some = permits(&[(N, "docs.rs"), (W, "**"), (R, "**"), (E, "rm *"), (T, "write")]);
        let kind_of = |_: &str| ExecKind::Destructive;
        let beyond = some.beyond(&Mode::Workspace.into(), &kind_of);
        let texts: Vec<&str> = beyond.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["docs.rs", "rm *"], "what workspace mode does without a question is not asked");
        let policy = Policy::default().with(some.bounds()).with(some.grants(&beyond));
        let judge = |tool: &str, effect| policy.judge(&Mode::Workspace.into(), &Effects::one(effect).of(tool)).decision;
        assert_eq!(judge("web_fetch", Effect::Net("docs.rs".into())), Decision::Allow);
        assert_eq!(judge("web_fetch", Effect::Net("evil.org".into())), Decision::Deny);
        assert_eq!(judge("write", Effect::Write(Place::inside("/r", ".git/config"))), Decision::Floor);
        let rm = Exec::plain(vec![vec!["rm".into(), "x".into()]], ExecKind::Destructive, "");
        assert_eq!(judge("exec", Effect::Exec(rm)), Decision::Floor, "destructive commands are asked each time");
        assert!(some.grants(&[]).is_empty());
    }

    #[test]
    fn a_tool_is_asked_about_only_where_it_starts_or_ends_what_outlives_it() {
        let some = permits(&[(T, "grep"), (T, "write"), (T, "agent"), (T, "task_stop"), (W, "out/**")]);
        let beyond = |mode: Mode| {
            let lines = some.beyond(&mode.into(), &|_| ExecKind::ReadOnly);
            lines.into_iter().map(|line| line.text).collect::<Vec<_>>()
        };
        assert_eq!(beyond(Mode::Ask), ["agent", "task_stop", "out/**"]);
        assert_eq!(beyond(Mode::AcceptEdits), ["agent", "task_stop"]);
        assert!(beyond(Mode::Workspace).is_empty());
        for mode in Mode::ALL {
            assert_eq!(Act::Spawn.under(&mode.into()), Act::Control.under(&mode.into()), "one stands for both");
        }
    }

    #[test]
    fn a_line_that_is_no_pattern_is_an_error() {
        let line = |kind, text: &str| [PermitLine { kind, text: text.to_owned(), at: String::new() }];
        for (kind, text) in [(R, "a["), (N, "a b"), (E, ""), (T, ""), (T, "mcp__")] {
            assert!(Permits::parse("w", &line(kind, text), None).is_err(), "{text:?}");
        }
    }
}
