//! A directory that is entered and left again: `pushd "$d"; make; popd`.
//!
//! With nothing on the stack it comes back to where it began, whether there is such a directory or not: where `pushd` fails,
//! `popd` fails, too. So in a loop each round begins at the same place.

use super::*;

/// Commands that move, turn the stack around, leave the loop before the end, or may be any of these.
const STRAYS: &[&str] =
    &["cd", "pushd", "popd", "dirs", "break", "continue", "eval", "source", ".", "builtin", "command", "trap", "?"];

/// Which item of a script ends the visit that begins at `at`, if one does.
pub(super) fn end(script: &Script, at: usize) -> Option<usize> {
    let begins = script.items.get(at)?;
    let [enters] = begins.first.stages.as_slice() else { return None };
    let Kind::Simple { words, .. } = &enters.kind else { return None };
    let plain = words.len() == 2 && name_of(enters) == "pushd" && begins.first.bangs == 0 && !begins.background;
    let option = words.get(1).and_then(text_of).is_some_and(|text| text.starts_with(['-', '+']));
    if !plain || option || !script.items.iter().skip(at + 1).any(leaves) {
        return None;
    }
    let end = script.items.iter().skip(at + 1).position(leaves)? + at + 1;
    let between = script.items.get(at + 1..end)?.to_vec();
    let behind = begins.rest.iter().map(|(_, next)| Item { first: next.clone(), rest: Vec::new(), background: false });
    let inner = Script { items: behind.chain(between).collect() };
    (!any_of(&inner, STRAYS)).then_some(end)
}

/// `popd`, which is certain to be reached and to run.
fn leaves(item: &Item) -> bool {
    let [stage] = item.first.stages.as_slice() else { return false };
    let Kind::Simple { assigns, words } = &stage.kind else { return false };
    let quiet = |redirect: &Redirect| match &redirect.target {
        Target::Word(word) => text_of(word).is_some_and(|text| matches!(&*text, "/dev/null" | "1")),
        Target::Here(_) => false,
    };
    let alone = item.rest.is_empty() && !item.background && item.first.bangs == 0;
    alone && assigns.is_empty() && words.len() == 1 && name_of(stage) == "popd" && stage.redirects.iter().all(quiet)
}

impl Walker<'_> {
    /// The commands of a script, one behind the other.
    pub(super) fn script(&mut self, script: &Script, state: &mut State) {
        let mut back: Option<(usize, State)> = None;
        for (at, item) in script.items.iter().enumerate() {
            if self.is_full() {
                return;
            }
            if back.is_none() && self.functions.are_none() && state.trail.has_no_stack() {
                back = end(script, at).map(|end| (end, state.clone()));
            }
            self.item(item, state);
            if let Some((_, before)) = back.take_if(|(end, _)| *end == at) {
                state.cwd = before.cwd;
                state.trail = before.trail;
                state.trail.forgets();
            }
        }
    }
}
