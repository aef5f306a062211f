//! Whether a request is what a script expects; where it is not, the difference in words.

use nika_contract::text::preview;

use super::super::{Asking, CallResult, Message, Part, Role};
use super::form::{Expect, ExpectResult, When};

/// Characters of a text that a difference shows.
const SHOWN: usize = 200;

/// Whether the request belongs to this conversation.
pub(super) fn concerns(when: &When, asking: &Asking<'_>) -> bool {
    let holds = |wanted: &Option<String>, text: &dyn Fn() -> String| match wanted {
        Some(wanted) => text().contains(wanted.as_str()),
        None => true,
    };
    when.name_begins.as_ref().is_none_or(|name| asking.cache_key.starts_with(name.as_str()))
        && holds(&when.system_contains, &|| asking.system.to_owned())
        && holds(&when.first_user_contains, &|| asking.messages.iter().find(is_user).map(text).unwrap_or_default())
        && holds(&when.last_user_contains, &|| last_user(asking))
}

/// Whether everything holds; otherwise the first difference.
pub(super) fn met(expect: &Expect, asking: &Asking<'_>) -> Result<(), String> {
    let offered = || asking.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>();
    if let Some(missing) = expect.tools_include.iter().find(|name| !offered().contains(&name.as_str())) {
        return Err(format!("expected the tool `{missing}` to be offered; offered were {}", list(&offered())));
    }
    if let Some(extra) = expect.tools_exclude.iter().find(|name| offered().contains(&name.as_str())) {
        return Err(format!("expected the tool `{extra}` not to be offered; it was"));
    }
    if let Some(wanted) = expect.system_contains.iter().find(|wanted| !asking.system.contains(wanted.as_str())) {
        return Err(lacking("the system's text", wanted, asking.system));
    }
    if let Some(wanted) = &expect.last_user_contains {
        let said = last_user(asking);
        if !said.contains(wanted.as_str()) {
            return Err(lacking("the last message of the person", wanted, &said));
        }
    }
    if let Some(count) = expect.messages.filter(|count| *count != asking.messages.len()) {
        return Err(format!("expected {count} messages; there were {}", asking.messages.len()));
    }
    if let Some(name) = expect.must_call.as_deref().filter(|name| asking.must_call != Some(name)) {
        return Err(format!("expected `{name}` to be the tool to call; it was {:?}", asking.must_call));
    }
    expect.results.iter().try_for_each(|wanted| result(wanted, asking))
}

fn result(wanted: &ExpectResult, asking: &Asking<'_>) -> Result<(), String> {
    let named = match &wanted.id {
        Some(id) => format!("the result of call `{id}`"),
        None => "the first result of the last message".to_owned(),
    };
    let found = match &wanted.id {
        Some(id) => asking.messages.iter().rev().flat_map(results).find(|result| result.id == *id),
        None => asking.messages.last().and_then(|message| results(message).next()),
    };
    let Some(found) = found else {
        let known: Vec<&str> = asking.messages.iter().flat_map(results).map(|result| result.id.as_str()).collect();
        return Err(format!("expected {named}; there is none (results are there of {})", list(&known)));
    };
    if let Some(text) = wanted.contains.as_deref().filter(|text| !found.text.contains(text)) {
        return Err(lacking(&named, text, &found.text));
    }
    if let Some(text) = wanted.lacks.as_deref().filter(|text| found.text.contains(text)) {
        return Err(format!("expected {named} not to contain '{text}'; it was '{}'", preview(&found.text, SHOWN)));
    }
    if let Some(code) = &wanted.code {
        let code = if code.starts_with("NIKA-") { code.clone() } else { format!("NIKA-{code}") };
        if !found.text.starts_with(&code) {
            return Err(format!("expected {named} to begin with {code}; it was '{}'", preview(&found.text, SHOWN)));
        }
    }
    if let Some(is_error) = wanted.is_error.filter(|is_error| *is_error != found.is_error) {
        let (wanted, was) = if is_error { ("a failure", "none") } else { ("no failure", "one") };
        return Err(format!("expected {named} to be {wanted}; it was {was}: '{}'", preview(&found.text, SHOWN)));
    }
    Ok(())
}

fn lacking(what: &str, wanted: &str, was: &str) -> String {
    format!("expected {what} to contain '{wanted}'; it was '{}'", preview(was, SHOWN))
}

fn list(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn is_user(message: &&Message) -> bool {
    message.role == Role::User
}

fn last_user(asking: &Asking<'_>) -> String {
    asking.messages.iter().rev().find(is_user).map(text).unwrap_or_default()
}

fn text(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn results(message: &Message) -> impl Iterator<Item = &CallResult> {
    message.parts.iter().filter_map(|part| match part {
        Part::Result(result) => Some(result),
        _ => None,
    })
}
