//! What stands behind a command whose output is taken, for when it fails: `n=$(grep -c main a.c || true)`.

use super::*;

/// What else may be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fallback {
    Nothing,
    /// Digits, in a line of their own.
    Number,
}

/// The script without it, where it is a word that only prints.
pub(super) fn without(script: &Script, functions: &Functions) -> Option<(Script, Fallback)> {
    let [item] = script.items.as_slice() else { return None };
    let [(false, other)] = item.rest.as_slice() else { return None };
    let [Command { kind: Kind::Simple { assigns, words }, redirects, .. }] = other.stages.as_slice() else {
        return None;
    };
    let texts: Vec<_> = words.iter().map(text_of).collect::<Option<_>>()?;
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let kind = match texts.as_slice() {
        ["true" | ":"] => Fallback::Nothing,
        ["echo", number] if number.bytes().all(|byte| byte.is_ascii_digit()) => Fallback::Number,
        _ => return None,
    };
    let plain = assigns.is_empty() && redirects.is_empty() && other.bangs == 0 && other.timed.is_none();
    let shadowed = texts.first().is_some_and(|name| functions.has(name));
    (plain && !shadowed && !item.background).then(|| {
        let item = Item { first: item.first.clone(), rest: Vec::new(), background: false };
        (Script { items: vec![item] }, kind)
    })
}
