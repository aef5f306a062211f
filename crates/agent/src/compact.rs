//! When a conversation becomes too long: what stays, what a summary is made of, what stands in its place. Pure; who
//! asks the model is `room`.

use nika_contract::text;

use crate::provider::{Arguments, Call, Message, Part, Role, ToolCard};

/// Characters that make a token, about. Low, as code has more tokens than prose: a guess that is too high compacts a
/// little early, one that is too low fails at the provider.
const CHARS_A_TOKEN: u64 = 3;

/// A guess at a picture's tokens: most providers count one to two thousand.
const IMAGE_TOKENS: u64 = 1_500;

/// About how many tokens messages are.
pub(crate) fn about_tokens(messages: &[Message]) -> u64 {
    let (mut chars, mut images) = (0, 0);
    for part in messages.iter().flat_map(|message| &message.parts) {
        match part {
            Part::Text(text) => chars += text.len(),
            Part::Image { .. } => images += 1,
            Part::Call(call) => chars += call.name.len() + arguments(call).len(),
            Part::Result(result) => {
                chars += result.text.len();
                images += result.images.len() as u64;
            }
            Part::Kept { value, .. } => chars += value.to_string().len(),
        }
    }
    chars as u64 / CHARS_A_TOKEN + images * IMAGE_TOKENS
}

/// About how many tokens stand before a conversation.
pub(crate) fn about_tokens_of(system: &str, tools: &[ToolCard]) -> u64 {
    let tools = tools.iter().map(|tool| tool.description.len() + tool.schema.to_string().len());
    (system.len() + tools.sum::<usize>()) as u64 / CHARS_A_TOKEN
}

/// Cuts results to `chars` characters each and leaves their pictures out.
pub(crate) fn shorten(messages: &mut [Message], chars: usize) {
    for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
        if let Part::Result(result) = part {
            if let Some(cut) = text::head_and_tail(&result.text, chars) {
                result.text = cut;
            }
            if !result.images.is_empty() {
                result.images.clear();
                result.text.push_str("\n[pictures left out]");
            }
        }
    }
}

/// The first message that stays, when about `room` tokens of the latest may: an answer or a word of the user, never
/// results without their calls. At least the last turn stays, whole. Nothing where that leaves out less than two
/// messages, as one summary would take their place.
pub(crate) fn cut(messages: &[Message], room: u64) -> Option<usize> {
    let mut kept = None;
    let mut size = 0;
    for at in (2..messages.len()).rev() {
        size += about_tokens(&messages[at..=at]);
        if kept.is_some() && size > room {
            break;
        }
        if messages[at].role != Role::Tool {
            kept = Some(at);
        }
    }
    kept
}

/// Whether cutting results to `chars` would change anything.
pub(crate) fn would_shorten(messages: &[Message], chars: usize) -> bool {
    let longer = |part: &Part| match part {
        Part::Result(result) => !result.images.is_empty() || text::head_and_tail(&result.text, chars).is_some(),
        _ => false,
    };
    messages.iter().any(|message| message.parts.iter().any(longer))
}

/// Characters of a message's text, of a call's arguments and of a result, in what is to be summed up.
const SAID_CHARS: usize = 4_000;
const ARGUMENTS_CHARS: usize = 600;
const RESULT_CHARS: usize = 1_500;

/// What the model that sums up is told.
pub(crate) const SUM_UP: &str = "\
You keep the memory of an agent whose conversation became too long. Below is its older part. Write down what the agent \
needs to go on without it: what was found out (paths, names, line numbers, exact errors), what was decided and why, \
what was changed, what was tried and failed, what is unfinished and what comes next. No greeting and no advice; at \
most 800 words.";

/// A conversation as plain text, for the model that sums it up: at most `most` characters.
pub(crate) fn written_out(messages: &[Message], most: usize) -> String {
    let mut out = Vec::new();
    let short = |said: &str, chars: usize| text::head_and_tail(said, chars).unwrap_or_else(|| said.to_owned());
    for message in messages {
        let who = if message.role == Role::Assistant { "AGENT" } else { "USER" };
        for part in &message.parts {
            match part {
                Part::Text(said) => out.push(format!("{who}: {}", short(said, SAID_CHARS))),
                Part::Image { mime, .. } => out.push(format!("{who}: [a picture, {mime}]")),
                Part::Call(call) => {
                    out.push(format!("CALL {} {}", call.name, short(&arguments(call), ARGUMENTS_CHARS)));
                }
                Part::Result(result) => {
                    let failed = if result.is_error { " (failed)" } else { "" };
                    out.push(format!("RESULT {}{failed}: {}", result.name, short(&result.text, RESULT_CHARS)));
                }
                Part::Kept { .. } => {}
            }
        }
    }
    let whole = out.join("\n");
    text::head_and_tail(&whole, most).unwrap_or(whole)
}

/// Calls that a digest lists.
const DIGEST_CALLS: usize = 120;

/// What was done, a line for each call: in place of a summary when the model gives none.
pub(crate) fn digest(messages: &[Message]) -> String {
    let mut lines = Vec::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        match part {
            Part::Text(said) if said.starts_with(RETOLD) => lines.push(short_summary(said)),
            Part::Call(call) => lines.push(format!("- {} {}", call.name, text::preview(&arguments(call), 160))),
            Part::Result(result) if result.is_error => {
                lines.push(format!("  {} failed: {}", result.name, text::preview(&result.text, 160)));
            }
            _ => {}
        }
    }
    let left_out = lines.len().saturating_sub(DIGEST_CALLS);
    let note = if left_out > 0 { format!("({left_out} lines left out)\n") } else { String::new() };
    format!("What was done, in order:\n{note}{}", lines[left_out..].join("\n"))
}

/// Of an earlier retelling, its summary.
fn short_summary(said: &str) -> String {
    let after = said.split_once(SUMMARY).map_or("", |(_, after)| after);
    after.split("\n## ").next().unwrap_or_default().trim().to_owned()
}

/// How a retelling begins.
const RETOLD: &str = "[The conversation became too long for the model. This stands for its older part.]";
const SUMMARY: &str = "\n## What happened\n";

/// Characters of everything that was asked for: the first and the latest words count most.
const ASKED_CHARS: usize = 12_000;

/// Files that are named.
const FILES: usize = 60;

/// The message that stands for what was left out. `notes` are the plan and the like, `files` those that were read.
pub(crate) fn retold(asked: &[String], summary: &str, notes: &[(String, String)], files: &[String]) -> String {
    let asked = asked.join("\n\n");
    let asked = text::head_and_tail(&asked, ASKED_CHARS).unwrap_or(asked);
    let mut told = format!("{RETOLD}\n## What was asked\n{asked}\n{SUMMARY}{}\n", summary.trim());
    for (title, text) in notes.iter().filter(|(_, text)| !text.trim().is_empty()) {
        told.push_str(&format!("\n## {title}\n{}\n", text.trim()));
    }
    if !files.is_empty() {
        let more = files.len().saturating_sub(FILES);
        let named = files.iter().take(FILES).map(String::as_str).collect::<Vec<_>>().join("\n");
        let more = if more > 0 { format!("\nand {more} more") } else { String::new() };
        told.push_str(&format!("\n## Files read in this session (read again what you need)\n{named}{more}\n"));
    }
    told.push_str("\nGo on with the work.");
    told
}

fn arguments(call: &Call) -> String {
    match &call.arguments {
        Arguments::Object(fields) => serde_json::to_string(fields).unwrap_or_default(),
        Arguments::Malformed(raw) => raw.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::CallResult;
    use proptest::prelude::*;
    use serde_json::json;

    fn text(role: Role, said: &str) -> Message {
        Message { role, parts: vec![Part::Text(said.to_owned())] }
    }

    /// A task, then turns with so many calls of results of so many characters; a turn without calls is followed by a
    /// word of the user.
    fn talk(turns: &[(usize, usize)]) -> Vec<Message> {
        let mut messages = vec![text(Role::User, "task")];
        for (calls, chars) in turns {
            let (mut answer, mut results) = (vec![Part::Text("so".into())], Vec::new());
            for n in 0..*calls {
                let fields = json!({"file_path": "a.rs"}).as_object().cloned().unwrap_or_default();
                let id = format!("c{n}");
                answer.push(Part::Call(Call {
                    id: id.clone(),
                    name: "read".into(),
                    arguments: Arguments::Object(fields),
                }));
                let result =
                    CallResult { id, name: "read".into(), text: "x".repeat(*chars), is_error: n == 1, images: vec![] };
                results.push(Part::Result(result));
            }
            messages.push(Message { role: Role::Assistant, parts: answer });
            messages.push(match results.is_empty() {
                true => text(Role::User, "and then?"),
                false => Message { role: Role::Tool, parts: results },
            });
        }
        messages
    }

    proptest! {
        #[test]
        fn no_result_is_parted_from_its_call(turns in prop::collection::vec((0usize..4, 0usize..3_000), 0..12), room in 0u64..6_000) {
            let messages = talk(&turns);
            if let Some(kept) = cut(&messages, room) {
                prop_assert!(kept >= 2 && messages[kept].role != Role::Tool);
                // What stays fits, unless it is the last turn alone.
                let turns_left = messages[kept..].iter().filter(|message| message.role == Role::Assistant).count();
                // Each message is rounded down for itself, so all of them together may come to one more for each.
                let rounded = (messages.len() - kept) as u64;
                prop_assert!(about_tokens(&messages[kept..]) <= room + rounded || turns_left <= 1);
            } else {
                prop_assert!(messages.len() <= 3);
            }
        }
    }

    /// A script's conversation for summaries is found by these words.
    #[test]
    fn the_page_shows_how_a_script_knows_the_request_for_a_summary() {
        let page = include_str!("../../../docs/models.md");
        let words = "keep the memory of an agent";
        assert!(page.contains(&format!("system_contains: {words}")) && SUM_UP.contains(words));
    }

    #[test]
    fn a_digest_names_each_call_and_what_failed() {
        let told = digest(&talk(&[(2, 10)]));
        let read = "- read {\"file_path\":\"a.rs\"}";
        assert_eq!(told, format!("What was done, in order:\n{read}\n{read}\n  read failed: xxxxxxxxxx"));
        // A second digest keeps what the first retelling said.
        let asked = vec!["mend it".to_owned()];
        let first = retold(&asked, &told, &[("Plan".into(), "1. look".into())], &["/w/a.rs".into()]);
        let again = digest(&[vec![text(Role::User, &first)], talk(&[(1, 5)])].concat());
        assert_eq!(again.matches(read).count(), 3, "{again}");
        assert!(!again.contains("Plan") && !again.contains("/w/a.rs"), "they are told anew: {again}");
    }

    #[test]
    fn what_is_summed_up_has_an_end() {
        let long = talk(&[(3, 50_000), (3, 50_000)]);
        let told = written_out(&long, 4_000);
        assert!(told.chars().count() <= 4_000 && told.starts_with("USER: task\nAGENT: so\nCALL read"), "{told}");
        assert!(written_out(&long, 100_000).contains("RESULT read (failed): xxx"));
    }

    #[test]
    fn shortened_results_lose_their_middle_and_their_pictures() {
        let mut messages = talk(&[(1, 5_000)]);
        let Some(Part::Result(result)) = messages[2].parts.first_mut() else { panic!("a result") };
        result.images.push(("image/png".into(), "AAAA".into()));
        assert!(would_shorten(&messages, 500));
        shorten(&mut messages, 500);
        let Some(Part::Result(result)) = messages[2].parts.first() else { panic!("a result") };
        assert!(
            result.text.contains("left out …]")
                && result.text.ends_with("[pictures left out]")
                && result.images.is_empty()
        );
        assert!(about_tokens(&messages) < 400);
    }
}
