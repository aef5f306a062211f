//! Installing for a project from what the machine has already: `npm ci --offline`, `cargo fetch --offline`.
//!
//! It brings no more than code of the workspace, and runs the scripts that come with it, as a test does. Whatever names a
//! package, or anything but a switch, is asked about as before.

use super::super::judge::{Arg, Judge};
use super::build::named;
use super::effects::run;
use super::spec::Parsed;

/// Switches that say so.
const OFFLINE: &str = "--offline --local";

/// Switches beside them that name neither a package nor a place.
const BESIDE: &str = "--frozen-lockfile --immutable --ignore-scripts --no-audit --no-fund --prefer-offline --silent --quiet \
    -q -s --production --prod -P --dev -D --locked --frozen --no-progress --verbose -v --legacy-peer-deps --force -f \
    --no-save --include-workspace-root --workspaces -ws --recursive -r --pure-lockfile --non-interactive";

fn is_one(list: &str, text: &str) -> bool {
    list.split_whitespace().any(|known| known == text)
}

/// Whether all words are switches, and one of them keeps it off the network.
pub(super) fn stays_here(words: &[Arg]) -> bool {
    let said = |word: &Arg| word.exact().is_some_and(|text| is_one(OFFLINE, text));
    let beside = |word: &Arg| word.exact().is_some_and(|text| is_one(BESIDE, text));
    words.iter().any(said) && words.iter().all(|word| said(word) || beside(word))
}

/// Installs what the project names.
pub(super) fn installs(parsed: &Parsed, judge: &mut Judge<'_>) {
    let tool = parsed.path.first().map(String::as_str).unwrap_or_default();
    let word = if named("bundle bundler", parsed) { "--local" } else { "--offline" };
    let right = parsed.operands.iter().filter_map(Arg::exact).any(|text| text == word);
    match right && stays_here(&parsed.operands) && !tool.is_empty() {
        true => run(parsed, judge),
        false => judge.net(None),
    }
}
