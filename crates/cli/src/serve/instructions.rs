//! What a model is told once, at the start: where it works, what it may do, how edits and undo work. Short, as
//! it is paid for in every conversation; no schemas, so that lists of tools stay cacheable.

use nika_contract::text;
use nika_guard::manifest::Moment;
use nika_guard::{Act, Cell, Stance};
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
    format!(
        "Mode {stance}: {}.{unasked} Commands run in a sandbox: they write inside the roots only, and reach no host that was not allowed.",
        said.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use nika_guard::Mode;

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
