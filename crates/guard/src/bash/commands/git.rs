//! git: what comes before the subcommand, and what all of them share.
//!
//! An alias may run anything, so a subcommand that is not in the tables is opaque. What the repository's
//! own configuration could make git run is pinned by the host where that is possible, and else looked at
//! ([`programs`]); what the command line names is judged here.

mod config;
mod programs;
mod read;
mod remotes;
mod signatures;
mod write;

use std::path::Path;

use super::super::fact::Fact;
use super::super::judge::{Arg, Judge, Word};
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, Style};

pub(super) use programs::{FINDINGS, help, status};

/// The table.
pub(super) const SPECS: &[Spec] = &[Spec {
    names: "git",
    style: Style::GnuStop,
    opts: &[
        (Does::Value, "C c git-dir work-tree namespace"),
        (Does::Flag, "p paginate P no-pager no-replace-objects no-lazy-fetch no-optional-locks no-advice"),
        (Does::Flag, "literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs bare"),
        (Does::Info, "v version h help html-path man-path info-path exec-path"),
    ],
    operands: Operands::Sub,
    subs: &SUBS,
    check: Some(globals),
    ..PLAIN
}];

const SUBS: [Spec; read::SUBS.len() + write::SUBS.len() + config::SUBS.len()] =
    joined([read::SUBS, write::SUBS, config::SUBS]);

const fn joined<const N: usize>(tables: [&[Spec]; 3]) -> [Spec; N] {
    let mut out = [PLAIN; N];
    let (mut table, mut row, mut at) = (0, 0, 0);
    while table < tables.len() {
        if row < tables[table].len() {
            out[at] = tables[table][row];
            at += 1;
            row += 1;
        } else {
            row = 0;
            table += 1;
        }
    }
    out
}

/// Settings of `-c` that name nothing to run: whole keys, and sections that end in a dot.
const SETTINGS: &[&str] = &[
    "advice.",
    "blame.blankboundary",
    "blame.coloring",
    "blame.date",
    "blame.markignoredlines",
    "blame.markunblamablelines",
    "blame.showemail",
    "blame.showroot",
    "branch.sort",
    "color.",
    "column.",
    "commit.cleanup",
    "core.abbrev",
    "core.autocrlf",
    "core.commentchar",
    "core.compression",
    "core.filemode",
    "core.ignorecase",
    "core.longpaths",
    "core.precomposeunicode",
    "core.preloadindex",
    "core.quotepath",
    "core.safecrlf",
    "core.untrackedcache",
    "core.whitespace",
    "diff.algorithm",
    "diff.colormoved",
    "diff.colormovedws",
    "diff.context",
    "diff.ignoresubmodules",
    "diff.indentheuristic",
    "diff.interhunkcontext",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.renamelimit",
    "diff.renames",
    "diff.statgraphwidth",
    "diff.wordregex",
    "diff.wserrorhighlight",
    "feature.manyfiles",
    "gc.auto",
    "grep.column",
    "grep.fullname",
    "grep.linenumber",
    "grep.patterntype",
    "i18n.",
    "init.defaultbranch",
    "log.abbrevcommit",
    "log.date",
    "log.decorate",
    "log.excludedecoration",
    "log.follow",
    "log.mailmap",
    "log.showroot",
    "log.showsignature",
    "merge.conflictstyle",
    "merge.renamelimit",
    "protocol.version",
    "pull.ff",
    "pull.rebase",
    "push.default",
    "rebase.autostash",
    "safe.directory",
    "status.",
    "tag.sort",
    "user.email",
    "user.name",
    "user.useconfigonly",
    "versionsort.suffix",
];

/// Settings, and sections that end in a dot, that are fine with these values only.
const VALUES: &[(&str, &[&str])] = &[
    ("commit.gpgsign", OFF),
    ("tag.gpgsign", OFF),
    ("core.attributesfile", &["/dev/null"]),
    ("core.excludesfile", &["/dev/null"]),
    ("core.pager", &["cat", ""]),
    ("core.editor", &["true", ":"]),
    ("sequence.editor", &["true", ":"]),
    ("core.fsmonitor", OFF),
    ("core.hookspath", &["/dev/null"]),
    ("diff.external", &[""]),
    // `diff` starts git in the submodules.
    ("diff.submodule", &["log", "short"]),
    // Any other name is that of a format which the configuration spells, perhaps with a look at signatures.
    ("format.pretty", &["oneline", "short", "medium", "full", "fuller", "reference", "email", "mboxrd", "raw"]),
    // `remerge` runs the drivers of merges.
    (
        "log.diffmerges",
        &["off", "none", "on", "m", "first-parent", "1", "separate", "c", "combined", "cc", "dense-combined"],
    ),
    // Whether what a subcommand prints goes through the pager that is set; any other value names one.
    ("pager.", &["false", "0", "no", "off", "true", "1", "yes", "on"]),
    ("rerere.enabled", OFF),
    ("submodule.recurse", OFF),
];

const OFF: &[&str] = &["false", "0", "no", "off"];

fn globals(parsed: &Parsed, judge: &mut Judge<'_>) {
    for (name, value) in before(parsed) {
        let text = value.as_ref().and_then(Arg::exact);
        let text = text.or_else(|| value.as_ref().and_then(stays_a_setting).filter(|_| name == "c"));
        match (name.as_str(), text) {
            ("C", Some(place)) if !place.split('/').any(|part| part.eq_ignore_ascii_case(".git")) => {}
            ("C", _) => judge.opaque("the directory of `-C` is not known, or it is git's own"),
            ("c", Some(setting)) if is_plain(setting) => {}
            ("c", _) => judge.opaque("what `-c` sets may name a program to run"),
            ("git-dir", Some(".git" | "./.git")) | ("work-tree", Some("." | "./")) | ("namespace", Some(_)) => {}
            ("git-dir" | "work-tree" | "namespace", _) => {
                judge.opaque(format!("`--{name}` leads to another repository"))
            }
            _ => {}
        }
    }
    // Files named by options are relative to `-C`.
    let base = base(parsed);
    if !base.is_empty() {
        for (_, value, does) in parsed.done().skip(parsed.outer) {
            match (does, value) {
                (Does::Read, Some(file)) => judge.read(&at(parsed, file)),
                (Does::Write, Some(file)) => judge.write(&at(parsed, file)),
                _ => {}
            }
        }
    }
}

/// Options before the subcommand.
fn before(parsed: &Parsed) -> &[(String, Option<Arg>)] {
    let outer = if parsed.path.len() > 1 { parsed.outer } else { parsed.opts.len() };
    parsed.opts.get(..outer).unwrap_or_default()
}

/// Options of the subcommand itself: `-C` of `git diff`, not that of git.
fn own<'p>(parsed: &'p Parsed, names: &str) -> Option<&'p (String, Option<Arg>)> {
    let named = |given: &str| names.split(' ').any(|name| name == given);
    parsed.opts.iter().skip(parsed.outer).rev().find(|(given, _)| named(given))
}

fn is_plain(setting: &str) -> bool {
    let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
    let key = key.to_ascii_lowercase();
    let listed = |known: &&str| key == **known || (known.ends_with('.') && key.starts_with(*known));
    match VALUES.iter().find(|(known, _)| listed(known)) {
        Some((_, values)) => values.contains(&value.to_ascii_lowercase().as_str()),
        None => SETTINGS.iter().any(listed),
    }
}

/// The text of `safe.directory=*`, which the shell leaves as it is where no file has such a name. What it would find begins
/// so, too: the first is a setting of the same kind, and a second one is the name of no subcommand.
pub(super) fn stays_a_setting(arg: &Arg) -> Option<&str> {
    super::filters::text(arg).filter(|text| text.starts_with("safe.directory="))
}

/// Where the options `-C` lead, relative to the working directory; empty without any.
fn base(parsed: &Parsed) -> String {
    let mut base = String::new();
    for (_, value) in before(parsed).iter().filter(|(name, _)| name == "C") {
        match value.as_ref().and_then(Arg::exact) {
            Some(place) if place.starts_with('/') || base.is_empty() => base = place.to_owned(),
            Some(place) => base = format!("{base}/{place}"),
            None => {}
        }
    }
    base
}

/// A path of the subcommand, as seen from the working directory.
fn at(parsed: &Parsed, arg: &Arg) -> Arg {
    let base = base(parsed);
    let word = match &arg.word {
        _ if base.is_empty() => arg.word.clone(),
        Word::Exact(text) if !text.starts_with('/') => Word::Exact(format!("{base}/{text}")),
        Word::Glob { pattern, prefix } if !prefix.starts_with('/') => {
            Word::Glob { pattern: format!("{base}/{pattern}"), prefix: format!("{base}/{prefix}") }
        }
        word => word.clone(),
    };
    Arg { word, span: arg.span.clone() }
}

/// A path that the command line does not write out.
fn implied(parsed: &Parsed, path: &str, judge: &Judge<'_>) -> Arg {
    at(parsed, &Arg { word: Word::Exact(path.to_owned()), span: judge.span.clone() })
}

/// It reads the files that the operands name, wherever they are.
fn files(parsed: &Parsed, judge: &mut Judge<'_>) {
    parsed.operands.iter().for_each(|file| judge.read(&at(parsed, file)));
}

/// It reads the repository and the work tree.
fn reads(parsed: &Parsed, judge: &mut Judge<'_>) {
    let tree = implied(parsed, ".", judge);
    judge.read_tree(&tree);
    programs::check(parsed, judge);
}

/// It changes the work tree or the repository, and may run the repository's hooks.
fn changes(parsed: &Parsed, judge: &mut Judge<'_>) {
    let tree = implied(parsed, ".", judge);
    judge.write_tree(&tree);
    programs::led(parsed, judge);
    judge.code("may run the hooks of the repository");
}

/// It changes the configuration of the repository, which names programs that git runs.
fn configures(parsed: &Parsed, judge: &mut Judge<'_>) {
    super::hooks::write(&base(parsed), ".git/config", judge);
}

/// What is put into git's own directory, git may read as its own: a work tree or an archive has no business there.
pub(super) fn leaves_its_own_alone(judge: &mut Judge<'_>) {
    let within = |path: &Path| {
        let above = path.parent().into_iter().flat_map(Path::components);
        above.into_iter().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
    };
    let puts = |fact: &Fact| matches!(fact, Fact::Write(target) | Fact::Delete(target) if within(&target.path));
    if judge.facts.iter().any(puts) {
        judge.opaque("it is told to write into git's own directory");
    }
}

/// It reaches the repository that an operand names. A transport of the form `NAME::…` is a program, and so is one that git
/// does not have itself.
fn reaches(remote: Option<&Arg>, judge: &mut Judge<'_>) {
    const OWN: &[&str] = &["http", "https", "ftp", "ftps", "ssh", "git", "file", "git+ssh", "ssh+git"];
    let Some(remote) = remote else { return judge.net(None) };
    let Some(url) = remote.exact() else {
        judge.net(None);
        return judge.opaque("the remote repository is not known");
    };
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    if url.contains("::") || scheme.is_some_and(|scheme| !OWN.contains(&scheme.as_str())) {
        judge.net(None);
        return judge.opaque("the transport of the remote repository is a program");
    }
    judge.net(host(url));
}

/// The host of `https://host/path` and `user@host:path`.
fn host(url: &str) -> Option<&str> {
    if url.contains("://") {
        return super::addresses::host(url);
    }
    let (authority, _) = url.split_once(':')?;
    super::addresses::name(authority.split_once('@').map_or(authority, |(_, host)| host))
}

#[cfg(test)]
mod tests;
