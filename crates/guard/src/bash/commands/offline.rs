//! Installing for a project from what the machine has already: `npm ci --offline`, `cargo fetch --offline`.
//!
//! It brings no more than code of the workspace, and runs the scripts that come with it, as a test does. Whatever names a
//! package, or anything but a switch, is asked about as before.

use super::super::judge::{Arg, Judge};
use super::build::named;
use super::effects::run;
use super::spec::Parsed;

/// Switches beside the one that says so, which name neither a package nor a place.
const BESIDE: &str = "--frozen-lockfile --immutable --ignore-scripts --no-audit --no-fund --prefer-offline --silent --quiet \
    -q -s --production --prod -P --dev -D --locked --frozen --no-progress --verbose -v --legacy-peer-deps --force -f \
    --no-save --include-workspace-root --workspaces -ws --recursive -r --pure-lockfile --non-interactive";

/// Installs what the project names.
pub(super) fn installs(parsed: &Parsed, judge: &mut Judge<'_>) {
    let offline = if named("bundle bundler", parsed) { "--local" } else { "--offline" };
    let is = |word: &Arg, list: &str| word.exact().is_some_and(|text| list.split_whitespace().any(|one| one == text));
    let says = |word: &Arg| is(word, offline);
    let stays_here = parsed.operands.iter().any(says);
    match stays_here && parsed.operands.iter().all(|word| says(word) || is(word, BESIDE)) {
        true => run(parsed, judge),
        false => judge.net(None),
    }
}

/// `pip install --no-index -e .`: the project itself, with what the machine has.
pub(super) fn installs_for_python(parsed: &Parsed, judge: &mut Judge<'_>) {
    const FLAGS: &str =
        "--no-index --no-deps --no-build-isolation -e --editable -q --quiet -v --no-input --disable-pip-version-check";
    let own = |text: &str| text == "." || text.starts_with("./") || text.starts_with(".[");
    let plain = |word: &Arg| word.exact().is_some_and(|text| own(text) || FLAGS.split(' ').any(|flag| flag == text));
    let says = parsed.operands.iter().any(|word| word.exact() == Some("--no-index"));
    match says && parsed.operands.iter().all(plain) {
        true => run(parsed, judge),
        false => judge.net(None),
    }
}
