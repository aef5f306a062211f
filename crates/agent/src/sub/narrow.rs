//! What an agent may not do, from its type and its order. Pure, and everything in it takes away.

use nika_contract::ToolError;
use nika_guard::{Layer, LayeredRule, Mode, Rule, RuleKind, Stance, names};
use nika_store::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::earlier;
use super::types::AgentType;

/// What an agent is started with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// In a few words, for people.
    pub description: String,
    /// What it is told.
    pub prompt: String,
    /// Its type; `general` when nothing is said.
    pub kind: Option<String>,
    /// What to call it; its type when nothing is said.
    pub name: Option<String>,
    /// The model; the type's wish, then the starter's own.
    pub model: Option<String>,
    /// How it stands at most, by name.
    pub mode: Option<String>,
    /// Turns at most.
    pub max_turns: Option<u32>,
    /// It changes nothing.
    pub no_writes: bool,
    /// It runs no commands.
    pub no_shell: bool,
    /// Nobody is asked on its behalf.
    pub alone: bool,
    /// Patterns that hold every path it may write; any when empty.
    pub writes_only: Vec<String>,
    /// The worktree it works in, by its slug; where the starter works when nothing is said.
    pub worktree: Option<String>,
    /// The JSON schema of the object it answers with.
    pub wanted: Option<Value>,
    /// The session of an earlier agent, with a copy of whose conversation it goes on.
    pub resume: Option<String>,
    /// It is told what its starter's conversation was.
    pub with_context: bool,
}

/// What is taken away.
#[derive(Debug, Clone)]
pub(crate) struct Narrowed {
    /// Joined with the parent's.
    pub stance: Stance,
    /// On top of the parent's rules.
    pub without: Vec<LayeredRule>,
    /// The tools that are left, where the type names some.
    pub tools: Option<Vec<String>>,
    /// Tools that the type names and that are not here.
    pub unknown: Vec<String>,
}

/// Stands nowhere in the way: joined with any other it is the other.
pub const OPEN: Stance = Stance { mode: Mode::AcceptAll, unsafe_commands: true, ask_writes: false };

/// Tools that start agents.
const STARTERS: &[&str] = &["agent", "delegate_agent", "run_task_packet"];
/// Tools that stay whatever a type names: they only find and call the others.
const ALWAYS: &[&str] = &["call", "tool_search"];
/// Tools that run commands.
const SHELLS: &[&str] = &["bash", "repl", "powershell", "job_input"];

/// What `kind` and `order` leave of `pool`, the canonical names of all tools. Without `may_start` nothing that starts
/// agents is left.
pub(crate) fn narrow(kind: &AgentType, order: &Order, pool: &[&str], may_start: bool) -> Result<Narrowed, ToolError> {
    let mut stance = OPEN;
    for mode in [kind.mode, order.mode()?].into_iter().flatten() {
        stance = stance.joined(mode.into());
    }
    if order.no_writes {
        stance = stance.joined(Mode::ReadOnly.into());
    }
    let named = |names: &[String]| -> Vec<String> { names.iter().map(|name| canonical(name).to_owned()).collect() };
    let allowed = kind.tools.as_deref().map(named);
    let taken = named(&kind.without);
    let mut at = Vec::new();
    for tool in pool {
        let why = if allowed.as_ref().is_some_and(|allowed| !holds(allowed, tool) && !is_always(tool, order)) {
            format!("the agent type `{}` ({}) does not name it", kind.name, kind.from)
        } else if holds(&taken, tool) {
            format!("the agent type `{}` ({}) takes it away", kind.name, kind.from)
        } else if !may_start && STARTERS.contains(tool) {
            "agents may not stand any further below one another".to_owned()
        } else if order.no_shell && SHELLS.contains(tool) {
            "this agent was started without commands".to_owned()
        } else if order.alone && *tool == "ask_user_question" {
            "this agent was started to ask nobody".to_owned()
        } else {
            continue;
        };
        at.push((format!("tool({tool})"), why));
    }
    if order.no_shell {
        at.push(("exec".to_owned(), "this agent was started without commands".to_owned()));
    }
    let mut without = Vec::new();
    for (text, at) in at {
        let rule = Rule::parse(&text, None).map_err(|error| bad_rule(&error))?;
        without.push(denial(rule, at));
    }
    if !order.writes_only.is_empty() {
        let patterns: Vec<&str> = order.writes_only.iter().map(String::as_str).collect();
        let rule = Rule::writing_elsewhere(&patterns, None).map_err(|error| bad_rule(&error))?;
        without.push(denial(rule, "the scope of the task".to_owned()));
    }
    let is_there = |name: &&String| pool.contains(&name.as_str());
    let unknown = allowed.iter().flatten().filter(|name| !is_there(name)).cloned().collect();
    let tools = allowed.map(|allowed| allowed.into_iter().filter(|name| is_there(&name)).collect());
    Ok(Narrowed { stance, without, tools, unknown })
}

impl Order {
    /// Refuses conversations that it cannot go on with, or be told of, before anything is begun.
    pub(crate) fn check_conversations(&self, parent: &str, state: &State) -> Result<(), ToolError> {
        if let Some(session) = &self.resume {
            earlier::check(state, parent, session)?;
        }
        if self.with_context { earlier::context(state, parent).map(drop) } else { Ok(()) }
    }

    fn mode(&self) -> Result<Option<Mode>, ToolError> {
        let read = |name: &str| match name {
            "plan" => Ok(Mode::ReadOnly),
            name => name.parse::<Mode>().map_err(|error| ToolError::argument("mode", error.to_string())),
        };
        self.mode.as_deref().map(read).transpose()
    }
}

fn denial(rule: Rule, at: String) -> LayeredRule {
    LayeredRule { kind: RuleKind::Deny, rule, layer: Layer::Session, at }
}

fn bad_rule(error: &nika_guard::RuleError) -> ToolError {
    ToolError::argument("scope_path", error.to_string())
}

/// A tool's own name for what a file calls it, also with the prefix that lists put before it.
fn canonical(name: &str) -> &str {
    names::canonical(name.strip_prefix("nika_").unwrap_or(name))
}

/// Whether `names` has the tool; a foreign server's name stands for all of its tools.
fn holds(names: &[String], tool: &str) -> bool {
    names.iter().any(|name| {
        name == tool
            || name.starts_with("mcp__") && tool.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with("__"))
    })
}

fn is_always(tool: &str, order: &Order) -> bool {
    ALWAYS.contains(&tool) || tool == "structured_output" && order.wanted.is_some()
}

#[cfg(test)]
mod tests {
    use super::super::types::parse;
    use super::*;
    use nika_guard::{Effects, Exec, ExecKind, Place, Policy};

    const POOL: &[&str] = &[
        "agent",
        "ask_user_question",
        "bash",
        "call",
        "edit",
        "grep",
        "mcp__git__log",
        "mcp__git__push",
        "read",
        "tool_search",
    ];

    fn kind(head: &str) -> AgentType {
        parse(&format!("---\nname: a\ndescription: b\n{head}\n---\nc"), "a.md").expect("reads")
    }

    /// The tools that are left.
    fn left(head: &str, order: &Order) -> Vec<&'static str> {
        let narrowed = narrow(&kind(head), order, POOL, true).expect("narrows");
        let policy = Policy::new(narrowed.without, true);
        POOL.iter().copied().filter(|tool| policy.removes_tool(tool).is_none()).collect()
    }

    #[test]
    fn a_type_names_tools_in_any_dialect() {
        let none = Order::default();
        assert_eq!(left("model: inherit", &none), POOL);
        assert_eq!(
            left("tools: Read, Grep, mcp__git__log", &none),
            ["call", "grep", "mcp__git__log", "read", "tool_search"]
        );
        assert_eq!(left("tools: mcp__git", &none), ["call", "mcp__git__log", "mcp__git__push", "tool_search"]);
        assert_eq!(left("tools: []", &none), ["call", "tool_search"]);
        assert!(!left("disallowedTools: Edit, nika_bash", &none).iter().any(|tool| ["edit", "bash"].contains(tool)));
        let narrowed = narrow(&kind("tools: read, WebFetch"), &none, POOL, true).expect("narrows");
        assert_eq!((narrowed.tools, narrowed.unknown), (Some(vec!["read".into()]), vec!["web_fetch".into()]));
    }

    #[test]
    fn orders_take_away_more() {
        let alone = Order { alone: true, ..Order::default() };
        assert!(!left("model: x", &alone).contains(&"ask_user_question"));
        let narrowed = narrow(&kind("model: x"), &Order::default(), POOL, false).expect("narrows");
        assert!(Policy::new(narrowed.without, true).removes_tool("agent").is_some());

        let quiet = Order { no_shell: true, ..Order::default() };
        let narrowed = narrow(&kind("model: x"), &quiet, POOL, true).expect("narrows");
        let exec = Exec::plain(vec![vec!["ls".into()]], ExecKind::ReadOnly, "");
        let verdict = Policy::new(narrowed.without, true).judge(&OPEN, &Effects::one(nika_guard::Effect::Exec(exec)));
        assert_eq!(verdict.decision, nika_guard::Decision::Deny, "whatever tool would run it");
    }

    #[test]
    fn the_strictest_mode_of_all_that_are_named_holds() {
        let mode = |head: &str, order: &Order| narrow(&kind(head), order, POOL, true).expect("narrows").stance.mode;
        let wish = |mode: &str| Order { mode: Some(mode.into()), ..Order::default() };
        assert_eq!(mode("mode: ask", &wish("accept-all")), Mode::Ask);
        assert_eq!(mode("mode: accept-all", &wish("plan")), Mode::ReadOnly);
        assert_eq!(mode("model: x", &Order { no_writes: true, ..Order::default() }), Mode::ReadOnly);
        assert!(narrow(&kind("model: x"), &wish("wild"), POOL, true).is_err());
    }

    #[test]
    fn a_scope_keeps_every_write_within() {
        let order = Order { writes_only: vec!["src/**".into(), "/README.md".into()], ..Order::default() };
        let narrowed = narrow(&kind("model: x"), &order, POOL, true).expect("narrows");
        let policy = Policy::new(narrowed.without, true);
        let decided = |place: Place| policy.judge(&OPEN, &Effects::write(place)).decision;
        use nika_guard::Decision::{Allow, Deny};
        assert_eq!(decided(Place::inside("/r", "src/a/b.rs")), Allow);
        assert_eq!(decided(Place::inside("/r", "README.md")), Allow);
        assert_eq!(decided(Place::inside("/r", "src").tree()), Allow);
        for outside in
            [Place::inside("/r", "Cargo.toml"), Place::inside("/r", "").tree(), Place::outside("/x/src/a.rs")]
        {
            assert_eq!(decided(outside.clone()), Deny, "{outside:?}");
        }
    }
}
