//! What a model is told once, at the start: where it works, what it may do, how edits and undo work. Short, as
//! it is paid for in every conversation; no schemas, so that lists of tools stay cacheable.

use nika_contract::text;
use nika_guard::manifest::Moment;
use nika_guard::{Act, Cell, Mode, Stance};
use nika_runtime::Dialect;
use nika_tools::talk::skill;

use crate::compose::{Built, Shape};

/// Characters for names and descriptions of skills: some 500 tokens.
const MAX_SKILLS_CHARS: usize = 2_000;
/// Roots that are named; more are counted.
const MAX_ROOTS: usize = 5;

/// The instructions for a client.
pub fn write(built: &Built, shape: &Shape, over_http: bool) -> String {
    let tools = built.runtime.list(None);
    let name = |canonical: &str| {
        let dialect = shape.dialect.or_else(|| built.effective.dialect.as_deref()?.parse().ok()).unwrap_or_default();
        match dialect {
            Dialect::Nika if shape.prefixed => format!("nika_{canonical}"),
            other => other.tool(canonical).to_owned(),
        }
    };
    let mut said = vec![roots(built), standing(&built.effective.stance, "this client cannot ask")];
    said.push(format!(
        "Read a file with {} before editing or replacing it; edits are byte exact, and what others changed \
         meanwhile is kept. {} takes back any call's changes.",
        name("read"),
        name("undo")
    ));
    said.push(format!(
        "{} makes the session read-only until the user approves the plan given to {}: what is refused meanwhile is \
         refused by plan mode.",
        name("enter_plan_mode"),
        name("exit_plan_mode")
    ));
    if over_http {
        said.push("Pass `nika_session` from the first answer in every call, or nothing counts as read.".into());
    }
    if tools.iter().any(|tool| tool.canonical == "tool_search") {
        said.push(format!("More tools: {} finds them, {} runs them.", name("tool_search"), name("call")));
    }
    let skills = skill::listing(&built.skills.all(), MAX_SKILLS_CHARS);
    if !skills.is_empty() {
        said.push(format!("Skills, instructions to read with {} when they fit:", name("skill")));
        said.push(text::harmless(skills.trim_end()).into_owned());
    }
    said.extend(built.runtime.messages(Moment::BeforePrompt).map(|message| text::harmless(message).into_owned()));
    said.join("\n")
}

/// Where it works.
pub fn roots(built: &Built) -> String {
    let roots: Vec<String> = built.files.roots().map(|root| root.display().to_string()).collect();
    let rest = roots.len().saturating_sub(MAX_ROOTS);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let named = roots.iter().take(MAX_ROOTS).cloned().collect::<Vec<_>>().join(", ");
    match roots.len() {
        1 => format!("Nika works in {named}; relative paths begin there."),
        _ => format!("Nika works in {named}{more}; relative paths begin at the first."),
    }
}

/// How it stands; `unless` says when nobody can be asked.
pub fn standing(stance: &Stance, unless: &str) -> String {
    let says = |cell: Cell, what: &str| match cell {
        Cell::Allow => format!("{what} is free"),
        Cell::Ask | Cell::Floor => format!("{what} asks the user"),
        Cell::Deny => format!("{what} is refused"),
    };
    let acts = [(Act::ReadInside, "reading"), (Act::WriteInside, "writing"), (Act::ReachOutside, "reaching outside")];
    let said: Vec<String> = acts.iter().map(|(act, what)| says(act.under(stance), what)).collect();
    let asks = acts.iter().any(|(act, _)| matches!(act.under(stance), Cell::Ask | Cell::Floor));
    let unasked = if asks { format!(" Where {unless}, a question is a refusal (NIKA-205).") } else { String::new() };
    format!("Mode {stance}: {}.{unasked} {}", said.join(", "), commands(stance.mode))
}

/// What becomes of commands, by mode: the table of modes and the sandbox together.
const COMMANDS: &[(&[Mode], &str)] = &[
    (&[Mode::Deny], "No command runs."),
    (
        &[Mode::ReadOnly],
        "A command runs only where it is proved to change nothing, in a sandbox that holds it to that and reaches no host.",
    ),
    (
        &[Mode::Ask, Mode::AcceptEdits],
        "Commands run in a sandbox: one that is proved to change nothing runs at once; any other asks the user, then writes \
         inside the roots only, and reaches no host that was not allowed.",
    ),
    (
        &[Mode::Workspace],
        "Commands run in a sandbox: they write inside the roots only, and reach no host that was not allowed. One that \
         cannot be judged asks the user.",
    ),
    (
        &[Mode::AcceptAll],
        "Commands run in a sandbox: they write inside the roots and where their words lead outside, and reach the hosts \
         that they name. One that destroys asks the user.",
    ),
];

fn commands(mode: Mode) -> &'static str {
    let row = COMMANDS.iter().find(|(modes, _)| modes.contains(&mode));
    row.map(|(_, said)| *said).expect("a test holds the table to every mode")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_commands_is_what_the_mode_does_with_them() {
        let at_once = |mode: Mode, act: Act| act.under(&mode.into()) == Cell::Allow;
        for mode in Mode::ALL {
            let said = commands(mode);
            assert_eq!(COMMANDS.iter().filter(|(modes, _)| modes.contains(&mode)).count(), 1, "{mode}");
            assert_eq!(said.contains("No command runs"), !at_once(mode, Act::ExecReadOnly), "{mode}");
            let writes = Act::ExecInside.under(&mode.into());
            assert_eq!(said.contains("write"), writes != Cell::Deny, "{mode}: {said}");
            assert_eq!(said.contains("any other asks"), writes == Cell::Ask, "{mode}: {said}");
            let asks = [Act::ExecOpaque, Act::ExecDestructive].map(|act| act.under(&mode.into()));
            assert_eq!(said.contains("asks the user"), asks.iter().any(|cell| *cell != Cell::Deny), "{mode}: {said}");
            assert_eq!(said.contains("outside"), at_once(mode, Act::ReachOutside), "{mode}: {said}");
        }
        let read_only = standing(&Mode::ReadOnly.into(), "this client cannot ask");
        assert!(!read_only.contains("write inside") && read_only.contains("proved to change nothing"), "{read_only}");
    }

    #[test]
    fn each_mode_is_said_as_it_is() {
        for (mode, want) in [
            (Mode::ReadOnly, "reading is free, writing is refused, reaching outside is refused."),
            (Mode::Ask, "reading is free, writing asks the user, reaching outside asks the user. Where"),
            (Mode::AcceptEdits, "reading is free, writing is free, reaching outside asks the user. Where"),
        ] {
            let said = standing(&mode.into(), "this client cannot ask");
            assert!(said.contains(want), "{said}");
        }
    }
}
