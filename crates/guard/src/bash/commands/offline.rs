//! Installing for a project from what the machine has already: `npm ci --offline`, `cargo fetch --offline`.
//!
//! It brings no more than code of the workspace, and runs the scripts that come with it, as a test does. Whatever names a
//! package, or anything but a switch, is asked about as before.

use super::super::judge::{Arg, Judge, Word};
use super::build::named;
use super::effects::run;
use super::spec::Parsed;

/// Switches beside the one that says so, which name neither a package nor a place.
const BESIDE: &str = "--frozen-lockfile --immutable --ignore-scripts --no-audit --no-fund --prefer-offline \
    --silent --quiet -q -s --production --prod -P --dev -D --locked --frozen --no-progress --verbose -v \
    --legacy-peer-deps --force -f --no-save --save --save-dev --save-exact -E --omit=dev --omit=optional \
    --omit=peer --include=dev --include-workspace-root --workspaces -ws --recursive -r --pure-lockfile \
    --non-interactive";

/// `cargo deny --offline`, `cargo audit --no-fetch`: held against the list of advisories that is there.
pub(super) fn audits(parsed: &Parsed, judge: &mut Judge<'_>) {
    const STAYS: &[&str] = &["--offline", "--no-fetch", "-n", "--disable-fetch", "--version", "-V", "--help"];
    let is = |name: &str| parsed.path.last().is_some_and(|sub| sub == name);
    let stays = |text: &str| STAYS.contains(&text) && (text != "-n" || is("audit")) || text == "--locked" && is("vet");
    // `cargo deny fetch` and `cargo audit fix` ask a server whatever they are told.
    let asks = |text: &str| matches!(text, "fetch" | "fix");
    let words = || parsed.operands.iter().map(|word| word.exact().unwrap_or_default());
    match (parsed.has("offline") || words().any(stays)) && !words().any(asks) {
        true => run(parsed, judge),
        false => judge.net(None),
    }
}

/// Installs what the project names.
pub(super) fn installs(parsed: &Parsed, judge: &mut Judge<'_>) {
    let offline = if named("bundle bundler", parsed) { "--local" } else { "--offline" };
    let is = |word: &Arg, list: &str| word.exact().is_some_and(|text| list.split_whitespace().any(|one| one == text));
    let says = |word: &Arg| is(word, offline);
    let stays_here = parsed.operands.iter().any(says);
    // What these two are given by its name they have kept, or fail: it is no code of the workspace, and reaches no network.
    let kept = |word: &Arg| named("npm pnpm", parsed) && word.exact().is_some_and(is_kept);
    let mut others = parsed.operands.iter().filter(|word| !says(word) && !is(word, BESIDE)).peekable();
    match stays_here {
        true if others.peek().is_none() => run(parsed, judge),
        true if others.all(kept) => {
            judge.opaque("installs a package that this machine has kept");
            judge.write_cwd();
        }
        _ => judge.net(None),
    }
}

/// A name of a package of JavaScript, with its version: `x`, `@y/x@1`. Not `user/x`, which is a repository.
fn is_kept(text: &str) -> bool {
    let name = match text.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').map_or("", |(_, name)| name),
        None => text,
    };
    is_package(&name.replacen('@', "=", 1))
}

/// `pip install --no-index -e .`, `pip install --no-index --find-links wheels x`: the project itself, or what lies here, with
/// what the machine has.
pub(super) fn installs_for_python(parsed: &Parsed, judge: &mut Judge<'_>) {
    const FLAGS: &str = "--no-index --no-deps --no-build-isolation -e --editable -q --quiet -v --no-input \
        --disable-pip-version-check --upgrade -U --force-reinstall --no-cache-dir";
    let has = |flag: &str| parsed.operands.iter().any(|word| word.exact() == Some(flag));
    // Without dependencies and with the build's own tools at hand, a project needs nothing from a server.
    let (no_index, alone) = (has("--no-index"), has("--no-deps") && has("--no-build-isolation"));
    let own = |text: &str| text == "." || text.starts_with("./") || text.starts_with(".[");
    let (mut found, mut files, mut into) = (Vec::new(), Vec::new(), Vec::new());
    let mut words = parsed.operands.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.exact() else {
            // What a pattern finds here, by its end, is no option.
            match &word.word {
                Word::Glob { pattern, prefix } if !prefix.is_empty() && is_archive(pattern) => files.push(word),
                _ => return judge.net(None),
            }
            continue;
        };
        let (option, attached) = match text.split_once('=') {
            Some((option, value)) if text.starts_with("--") => (option, Some(value)),
            _ => (text, None),
        };
        let fits = match option {
            "-f" | "--find-links" | "-r" | "--requirement" | "-c" | "--constraint" if no_index => {
                let value = attached.or_else(|| words.next().and_then(Arg::exact)).unwrap_or("://");
                found.push(value);
                !value.contains(':')
            }
            "-t" | "--target" | "--prefix" | "--root" => {
                let Some(value) = attached.map(|value| word.with(value)).or_else(|| words.next().cloned()) else {
                    return judge.net(None);
                };
                into.push(value);
                true
            }
            _ if is_archive(text) => {
                files.push(word);
                true
            }
            _ if own(text) || FLAGS.split_whitespace().any(|flag| flag == text) => true,
            _ => no_index && is_package(text),
        };
        if !fits {
            return judge.net(None);
        }
    }
    if !no_index && !alone {
        return judge.net(None);
    }
    found.iter().for_each(|place| judge.read_tree(&judge.word(*place)));
    files.iter().for_each(|file| judge.read(file));
    into.iter().for_each(|place| judge.write_tree(place));
    run(parsed, judge);
}

/// A package in a file.
fn is_archive(text: &str) -> bool {
    let ends = [".whl", ".tar.gz", ".zip"];
    !text.starts_with('-') && !text.contains(':') && ends.iter().any(|end| text.ends_with(end))
}

/// `cargo add serde --offline`, `cargo add --path crates/x`: it writes what the project needs, from what the machine has. Of
/// a package that lies here nobody is asked.
pub(super) fn adds(parsed: &Parsed, judge: &mut Judge<'_>) {
    const FLAGS: &str = "--offline --dev --build --optional --no-optional --no-default-features --default-features --locked \
        --frozen -q --quiet -v --verbose -n --dry-run";
    let offline = parsed.has("offline") || parsed.operands.iter().any(|word| word.exact() == Some("--offline"));
    let mut words = parsed.operands.iter();
    let (mut lies_here, mut packages) = (false, 0);
    while let Some(word) = words.next() {
        let text = word.exact().unwrap_or_default();
        let fits = match text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value))) {
            ("--path", attached) => match attached.map(|place| word.with(place)).or_else(|| words.next().cloned()) {
                Some(place) => {
                    judge.read_tree(&place);
                    lies_here = true;
                    place.exact().is_some_and(|place| !place.starts_with('-'))
                }
                None => false,
            },
            ("-F" | "--features" | "-p" | "--package", None) => {
                words.next().and_then(Arg::exact).is_some_and(is_package)
            }
            _ if FLAGS.split_whitespace().any(|flag| flag == text) => true,
            _ => {
                packages += 1;
                is_package(&text.replacen('@', "=", 1))
            }
        };
        if !fits {
            return judge.net(None);
        }
    }
    if offline || lies_here && packages < 2 { run(parsed, judge) } else { judge.net(None) }
}

/// A name of a package, with its version: `x`, `x[y]==1.2`.
pub(super) fn is_package(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-[]=<>!~,".contains(c))
}

/// `uv sync --offline`, `uv pip install --offline -e .`: uv asks no server then.
pub(super) fn uv(parsed: &Parsed, judge: &mut Judge<'_>) {
    const FLAGS: &str = "--offline --frozen --locked --all-extras --all-groups --all-packages --dev --no-dev --no-sync --inexact \
        --exact --upgrade -U --no-install-project --check --dry-run -q --quiet -v -e --editable --no-deps \
        --no-build-isolation --no-cache -n";
    let own = |text: &str| text == "." || text.starts_with("./") || text.starts_with(".[");
    let names = parsed.path.last().is_some_and(|sub| matches!(sub.as_str(), "install" | "add" | "remove"));
    let fits = |word: &Arg| {
        word.exact().is_some_and(|text| {
            own(text) || FLAGS.split_whitespace().any(|flag| flag == text) || names && is_package(text)
        })
    };
    let offline = parsed.has("offline") || parsed.operands.iter().any(|word| word.exact() == Some("--offline"));
    match offline && parsed.operands.iter().all(fits) {
        true => run(parsed, judge),
        false => judge.net(None),
    }
}
