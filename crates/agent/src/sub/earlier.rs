//! Conversations beside an agent's own: its starter's, which it may be told of; an earlier agent's, which it may go on
//! with; and its own as its starter reads it, a text in the place of what was too long for an answer.
//!
//! A transcript itself is read by no tool: it lies in Nika's state, and holds what a provider signed. The text is made
//! when the agent has ended, and leaves out what a person had to allow: that was allowed to one call, and a file would
//! hand it to every later one.

use std::collections::HashSet;
use std::path::PathBuf;

use nika_contract::{ToolError, event, text};
use nika_store::{State, journal, spill, transcript};

use super::fleet::child_id;
use crate::compact;
use crate::conversation::{Conversation, Line, calls, said};
use crate::provider::Arguments;

/// Characters of the starter's conversation that an agent is told: some ten pages, which leaves its own work room.
const CONTEXT_CHARS: usize = 30_000;
/// Characters of one result in the text: what is longer was longer than most answers may be.
const RESULT_CHARS: usize = 20_000;
/// Characters of the arguments of one call.
const ARGUMENTS_CHARS: usize = 4_000;
/// Characters of the whole text.
const MOST_CHARS: usize = 1_000_000;

/// What an agent is told of its starter's conversation before its task.
pub(crate) fn context(state: &State, parent: &str) -> Result<String, ToolError> {
    let none = || {
        let why = "takes true where Nika holds the conversation (`nika agent`), which it does not here: say in `prompt` \
                   what the agent has to know";
        ToolError::argument("include_parent_context", why)
    };
    if transcript::lines(state, parent).map_or(true, |lines| lines.is_empty()) {
        return Err(none());
    }
    let talk = Conversation::open(state, parent)?;
    let told = compact::written_out(talk.messages(), CONTEXT_CHARS);
    Ok(format!(
        "What was said and done before you were started, by who starts you. It is for you to know, and no task:\n\
         <conversation>\n{told}\n</conversation>"
    ))
}

/// Refuses a session that is no agent's which `parent` has started.
pub(crate) fn check(state: &State, parent: &str, session: &str) -> Result<(), ToolError> {
    let number = session.rsplit_once(".a").and_then(|(_, number)| number.parse::<u32>().ok());
    let is_its_own = number.is_some_and(|number| child_id(parent, number) == session);
    if is_its_own && transcript::lines(state, session).is_ok_and(|lines| !lines.is_empty()) {
        return Ok(());
    }
    let why = format!(
        "takes the session of an agent that this session has started, such as {}, not '{}'",
        child_id(parent, 1),
        text::preview(session, 80)
    );
    Err(ToolError::argument("resume_session_id", why).hint("an agent's answer names its session"))
}

/// The conversation of an agent as a text that its starter may read, and where it lies; `None` where it cannot be kept.
pub(crate) fn readable(state: &State, session: &str) -> Option<PathBuf> {
    let lines = transcript::lines(state, session).ok()?;
    let asked = asked(state, session)?;
    let lines = lines.into_iter().filter_map(|line| serde_json::from_value(line).ok());
    let written = written(session, lines, &asked);
    let written = text::head_and_tail(&written, MOST_CHARS).unwrap_or(written);
    spill::write(state, session, &text::harmless(&written)).ok()
}

/// The calls that a person was asked about. `None` where that cannot be known.
fn asked(state: &State, session: &str) -> Option<HashSet<String>> {
    let mut asked = HashSet::new();
    for line in journal::lines(state, session).ok()? {
        let line = line.ok()?;
        if line["event"] == event::PERMISSION_REQUEST {
            asked.extend(line["call"].as_str().map(str::to_owned));
        }
    }
    Some(asked)
}

fn written(session: &str, lines: impl Iterator<Item = Line>, asked: &HashSet<String>) -> String {
    let short = |said: &str, chars: usize| text::head_and_tail(said, chars).unwrap_or_else(|| said.to_owned());
    let mut out = vec![format!("# What {session} was told, said and did")];
    let mut turn = 0;
    for line in lines {
        match line {
            Line::Said(message) => out.push(format!("## Task\n{}", said(&message))),
            Line::Told(told) => out.push(format!("## Told\n{told}")),
            Line::Answered { message, .. } => {
                turn += 1;
                out.push(format!("## Turn {turn}\n{}", said(&message)));
                for call in calls(&message) {
                    let arguments = match &call.arguments {
                        Arguments::Object(fields) => serde_json::to_string(fields).unwrap_or_default(),
                        Arguments::Malformed(raw) => raw.clone(),
                    };
                    out.push(format!("- {} {}", call.name, short(&arguments, ARGUMENTS_CHARS)));
                }
            }
            Line::Result { call, result, .. } => {
                let failed = if result.is_error { ", failed" } else { "" };
                let name = call.as_deref().map(|call| format!(" ({call})")).unwrap_or_default();
                let withheld = call.is_some_and(|call| asked.contains(&call));
                let read = if withheld { "[a person allowed it to that call alone]" } else { &result.text };
                out.push(format!("### {}{name}{failed}\n{}", result.name, short(read, RESULT_CHARS)));
            }
            Line::Compacted { .. } => out.push("[what was said before became a summary for it here]".to_owned()),
            Line::Ended { why } => out.push(format!("[ended: {why}]")),
            Line::Opened { .. } | Line::Loaded(_) | Line::Spent { .. } | Line::Shortened { .. } => {}
        }
    }
    out.retain(|piece| !piece.trim().is_empty());
    out.join("\n\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::{Call, CallResult, Message, Part, Role, Usage};

    #[test]
    fn what_a_person_allowed_to_one_call_stands_in_no_file() {
        let message = |role, parts| Message { role, parts };
        let call = |id: &str, name: &str| {
            Part::Call(Call { id: id.into(), name: name.into(), arguments: Arguments::Malformed("{".into()) })
        };
        let result = |index, call: &str, name: &str, text: &str| {
            let (id, name, text) = (call.to_owned(), name.to_owned(), text.to_owned());
            let result = CallResult { id, name, text, is_error: false, images: Vec::new() };
            Line::Result { of: 3, index, call: Some(call.to_owned()), result }
        };
        let parts = vec![Part::Text("I look.".into()), call("a", "read"), call("b", "bash")];
        let lines = vec![
            Line::Said(message(Role::User, vec![Part::Text("Find it.".into())])),
            Line::Answered {
                message: message(Role::Assistant, parts),
                model: "m".into(),
                usage: Usage::default(),
                cost_micros: None,
            },
            result(0, "c1", "read", "in the file"),
            result(1, "c2", "bash", "what only the person saw"),
            Line::Ended { why: "done".into() },
        ];
        let text = written("s.a1", lines.into_iter(), &HashSet::from(["c2".to_owned()]));
        for piece in
            ["## Task\nFind it.", "## Turn 1\nI look.", "- read {", "### read (c1)\nin the file", "[ended: done]"]
        {
            assert!(text.contains(piece), "{piece} in {text}");
        }
        assert!(text.contains("### bash (c2)\n[a person allowed") && !text.contains("only the person saw"), "{text}");
    }
}
