//! `uv run`, `uv lock` and their kind: what uv is told of the environment of the project, and the command that runs in it.

use super::super::judge::{Arg, Judge};
use super::effects::run;
use super::offline::is_package;
use super::places::is_plain_below;
use super::spec::{Parsed, lists};

/// Options of `uv run` that say what the environment has and which it is, or how much is told.
const FLAGS: &str = "--frozen --locked --offline --no-sync --no-project --all-extras --dev --no-dev --only-dev --all-groups \
    --no-default-groups --all-packages --active --isolated --exact --no-editable --no-env-file --no-config --no-progress \
    --quiet --verbose --no-cache -q -qq -v -vv -n";

/// Those that name a part of the project.
const PARTS: &str = "--group --no-group --only-group --extra --no-extra --package";

/// `uv run` makes the environment of the project and runs a command in it: the same command without it, and whatever the
/// project brings under that name.
pub(super) fn runs(parsed: &Parsed, judge: &mut Judge<'_>) {
    judge.code("runs in the environment of the project");
    judge.write_cwd();
    if parsed.operands.iter().any(|arg| arg.exact().is_some_and(|text| text.contains("://"))) {
        judge.net(None);
    }
    let mut words = parsed.operands.as_slice();
    while let Some((first, rest)) = words.split_first() {
        let Some(text) = first.exact().filter(|text| text.starts_with('-') && text.len() > 1) else { break };
        if matches!(text, "-m" | "--module" | "-s" | "--script") {
            break;
        }
        words = rest;
        if text == "--" {
            break;
        }
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) if text.starts_with("--") => (name, Some(first.with(value))),
            _ => (text, None),
        };
        if lists(FLAGS, text) {
            continue;
        }
        if !lists(PARTS, name) && !matches!(name, "--directory" | "--project") {
            // What else it may be told is to be fetched: another Python, a package beside those of the project.
            judge.net(None);
            continue;
        }
        let value = attached.or_else(|| {
            let (value, behind) = words.split_first()?;
            words = behind;
            Some(value.clone())
        });
        match value.as_ref().and_then(Arg::exact) {
            Some(part) if lists(PARTS, name) && is_package(part) => {}
            Some(place) if !lists(PARTS, name) && is_plain_below(place) => judge.read_tree(&judge.word(place)),
            _ => judge.opaque(format!("`{name}` names something that is not known")),
        }
    }
    let Some((first, rest)) = words.split_first() else { return judge.opaque("there is no command") };
    let python = |more: &[&str], behind: &[Arg]| {
        let words = ["python"].iter().chain(more).map(|text| first.with(text));
        words.chain(behind.iter().cloned()).collect::<Vec<Arg>>()
    };
    match first.exact() {
        Some("-m" | "--module") => judge.command(&python(&["-m"], rest)),
        Some("-s" | "--script") => judge.command(&python(&[], rest)),
        Some(file) if file.ends_with(".py") || file.ends_with(".pyw") => judge.command(&python(&[], words)),
        _ => judge.command(words),
    }
}

/// `uv lock --check` asks what a sync asks that finds nothing to do; `uv export --frozen` writes the lock file another way.
pub(super) fn keeps(parsed: &Parsed, judge: &mut Judge<'_>) {
    const CHECKS: &str = "--check --check-exists --locked --frozen --dry-run";
    const EXPORTS: &str = "--frozen --all-extras --all-groups --all-packages --no-dev --dev --only-dev --no-default-groups \
        --no-hashes --no-header --no-annotate --no-emit-project --no-emit-workspace --no-editable";
    const VALUED: &str = "--format -o --output-file --extra --no-extra --group --no-group --only-group --package \
        --no-emit-package --prune";
    let words: Vec<&str> = parsed.operands.iter().map(|word| word.exact().unwrap_or_default()).collect();
    let told = |flag: &str| words.contains(&flag);
    let stays = match parsed.path.last().map(String::as_str) {
        Some("lock") => words.iter().all(|word| lists(CHECKS, word)) && words.iter().any(|word| *word != "--dry-run"),
        Some("export") if told("--frozen") => {
            let mut words = words.iter();
            let mut fine = true;
            while let Some(word) = words.next() {
                let (name, attached) = word.split_once('=').map_or((*word, false), |(name, _)| (name, true));
                fine &= lists(EXPORTS, word)
                    || lists(VALUED, name) && (attached || words.next().is_some_and(|value| !value.is_empty()));
            }
            fine
        }
        _ => false,
    };
    if stays { run(parsed, judge) } else { super::offline::uv(parsed, judge) }
}
