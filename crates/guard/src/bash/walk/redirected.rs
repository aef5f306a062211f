//! Redirections that may fail: then the command they stand at is not run, neither a builtin nor a group, and the script
//! goes on behind it. So nothing that such a command sets, and not even its `exit`, is certain.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::analysis::is_sink;
use super::super::commands;
use super::super::fact::{Category, Fact};
use super::super::judge::{Arg, Site, Stdin, normal};
use super::super::print::text_of;
use super::super::script::{Command, Fd, Kind, Op, Part, Pipeline, Redirect, RedirectOp, Target, Word};
use super::expansions::called;
use super::found::asks_the_repository;
use super::merge::merge;
use super::{Report, State, Walker};

/// The three descriptors that every script begins with.
const STANDARD: [&str; 3] = ["0", "1", "2"];

/// Whether one of them may fail. Only `/dev/null` is always there to be opened, and the standard descriptors to be
/// copied; a here-document may want a file of its own.
pub(super) fn may_fail(redirects: &[Redirect]) -> bool {
    redirects.iter().any(|redirect| {
        let placed = match &redirect.fd {
            Fd::Default => true,
            // A higher one may be above the limit.
            Fd::Number(number) => number.len() == 1,
            Fd::Named(_) => false,
        };
        let target = match &redirect.target {
            Target::Word(word) => text_of(word).unwrap_or_default(),
            Target::Here(_) => return true,
        };
        let certain = match redirect.op {
            RedirectOp::DupIn | RedirectOp::DupOut => {
                let from = target.strip_suffix('-').unwrap_or(&target);
                target == "-" || STANDARD.contains(&from)
            }
            RedirectOp::HereString | RedirectOp::Here | RedirectOp::HereStrip => false,
            _ => target == "/dev/null",
        };
        !placed || !certain
    })
}

/// Whether a command may not be run because a name that it is given for itself is readonly.
pub(super) fn may_be_refused(command: &Command, state: &State) -> bool {
    matches!(&command.kind, Kind::Simple { assigns, words }
        if !words.is_empty() && assigns.iter().any(|assign| state.frozen.contains(&assign.name)))
}

/// Whether one of them takes a standard descriptor away, so that a copy of it fails from there on.
fn takes_away(redirects: &[Redirect]) -> bool {
    redirects.iter().any(|redirect| {
        if !matches!(redirect.op, RedirectOp::DupIn | RedirectOp::DupOut) {
            return false;
        }
        let Target::Word(word) = &redirect.target else { return false };
        let Some(target) = text_of(word) else { return true };
        let Some(from) = target.strip_suffix('-') else { return false };
        let closed = match &redirect.fd {
            Fd::Number(number) => number.len() > 1 || STANDARD.contains(&number.as_str()),
            Fd::Default => true,
            // With `fd=2` before it, `{fd}>&-` closes that one.
            Fd::Named(_) => true,
        };
        from.is_empty() && closed || STANDARD.contains(&from)
    })
}

/// Whether a word of it may be `/dev/stderr` or the like.
fn may_name_an_output(command: &Command) -> bool {
    let Kind::Simple { words, .. } = &command.kind else { return true };
    words.iter().any(|word| text_of(word).is_none_or(|text| text.contains("/dev/") || text.contains("/proc/")))
}

/// Ends of the names of files that hold data, and are not made empty to begin with.
const DATA: &[&str] = &["log", "db", "sqlite", "sqlite3", "csv", "tsv", "sql", "jsonl", "ndjson", "parquet", "dump"];

/// What is no source, without an end.
const NOISE: &[&str] = &["/dev/zero", "/dev/urandom", "/dev/random"];

/// A path that is written out, with `~` and `$HOME` in front of it.
fn written_out(word: &Word, home: &Path) -> Option<String> {
    let home = home.to_string_lossy();
    let rest = |parts: &[&Part]| parts.iter().map(|part| literal(part)).collect::<Option<String>>();
    let parts: Vec<&Part> = word.parts.iter().filter(|part| literal(part) != Some("")).collect();
    match parts.as_slice() {
        [Part::Param { param, .. }, behind @ ..] if param.name == "HOME" && param.op == Op::Plain => {
            Some(format!("{home}{}", rest(behind)?))
        }
        [Part::Plain(first), behind @ ..] if first == "~" || first.starts_with("~/") => {
            Some(format!("{home}{}{}", &first[1..], rest(behind)?))
        }
        _ => text_of(word).map(|text| text.to_string()),
    }
}

pub(super) fn literal(part: &Part) -> Option<&str> {
    match part {
        Part::Plain(text) | Part::Quoted(text) => Some(text),
        _ => None,
    }
}

/// The file that a command empties which prints nothing into it, or nothing of sense: `: > app.log`,
/// `cat /dev/null > users.csv`, `yes > src/main.rs`. What lies
/// here may only begin that way; of what lies elsewhere that is not likely.
fn emptied(command: &Command, site: &Site) -> Option<String> {
    let Kind::Simple { assigns, words } = &command.kind else { return None };
    let [Redirect { fd, op: RedirectOp::Write | RedirectOp::Clobber, target: Target::Word(target), .. }] =
        command.redirects.as_slice()
    else {
        return None;
    };
    let texts: Option<Vec<_>> = words.iter().map(text_of).collect();
    let texts = texts.filter(|_| assigns.is_empty())?;
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let plain = matches!(fd, Fd::Default) || matches!(fd, Fd::Number(number) if number == "1");
    let name = written_out(target, &site.home).filter(|_| plain)?;
    let at = normal(&site.cwd.join(&name));
    let elsewhere = || !at.starts_with("/dev") && !at.starts_with("/proc") && !site.is_ours(&at) && !is_scratch(&at);
    let data = || Path::new(&*name).extension().is_some_and(|end| DATA.iter().any(|known| end == *known));
    let nothing = match texts.as_slice() {
        ["awk" | "gawk" | "mawk", program] if program.replace(' ', "") == "BEGIN{}" => {
            commands::destructive::is_code(&name)
        }
        ["yes", ..] => commands::destructive::is_code(&name),
        ["cat" | "head", rest @ ..] if rest.iter().any(|word| NOISE.contains(word)) => {
            commands::destructive::is_code(&name)
        }
        ["cat", "/dev/null"] => !is_sink(Path::new(&*name)),
        [] | [":" | "true"] => data() || elsewhere(),
        ["echo" | "printf", rest @ ..] => {
            rest.iter().all(|word| word.is_empty() || *word == "-n") && (data() || elsewhere())
        }
        _ => false,
    };
    nothing.then_some(name)
}

/// Formatters that read whatever they are given, also a file without an end.
const FORMATS: &[&str] =
    &["prettier", "prettierd", "shfmt", "goimports", "terser", "uglifyjs", "tidy", "autopep8", "yapf"];

/// Whether a program does nothing but run in the project. Formatters and filters of that kind have no table of what they
/// read: what they are given by its name is looked at.
fn runs_here(report: &Report) -> bool {
    let here = |fact: &Fact| matches!(fact, Fact::Code(_) | Fact::Read(_) | Fact::Write(_));
    report.facts.iter().any(|fact| matches!(fact, Fact::Code(_))) && report.facts.iter().all(here)
}

/// A word behind another that is a file to such a program. A goal has no end as a file has, and some options only say what
/// the input is called.
fn works_on<'a>(words: &[Arg], before: &Arg, text: &'a str) -> Option<&'a str> {
    let end = text.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, end)| end);
    let is_name = end.starts_with(|c: char| c.is_ascii_alphabetic()) && end.bytes().all(|b| b.is_ascii_alphanumeric());
    let formats = || words.first().and_then(Arg::exact).is_some_and(|program| FORMATS.contains(&program));
    let says = before.exact().is_some_and(|option| option.starts_with('-') && option.contains("file"));
    ((is_name || formats()) && !says && !text.starts_with('-')).then_some(text)
}

/// Whether it is a device or a stream: what is read there is not what was written.
fn is_device(path: &Path) -> bool {
    ["/dev", "/proc"].iter().any(|place| path.starts_with(place))
}

/// Whether what lies there is only for a while, whoever's it is.
fn is_scratch(path: &Path) -> bool {
    ["/tmp", "/var/tmp"].iter().any(|place| path.starts_with(place))
}

impl<'a> Walker<'a> {
    /// What redirections do whatever the command does.
    pub(super) fn looks_at_redirects(&mut self, command: &Command) {
        self.keeps_descriptors(command);
        if let Some(name) = emptied(command, self.site) {
            let why = format!("`{name}` is emptied; what it holds is lost");
            self.say(command.span.clone(), Fact::Destroys(Category::Files, why));
        }
    }

    /// Notes which files a redirection has emptied.
    pub(super) fn empties(&mut self, facts: &[Fact]) {
        let file = |fact: &Fact| match fact {
            Fact::Write(target) if !target.tree && !is_device(&target.path) => Some(target.path.clone()),
            _ => None,
        };
        self.emptied.extend(facts.iter().filter_map(file));
    }

    /// Adds the files that commands read since then. What the words of a command run has read before its redirections
    /// are made, and git reads what it has stored. Of what is read as a tree only a file can have been emptied.
    pub(super) fn reads_since(&self, start: usize, state: &State, read: &mut BTreeSet<PathBuf>) {
        let stored = |report: &&Report| report.argv.first().and_then(Arg::exact).is_some_and(asks_the_repository);
        let reports = self.reports.get(start..).unwrap_or_default().iter().filter(|report| !stored(report));
        for report in reports {
            let file = |fact: &Fact| match fact {
                Fact::Read(target) => Some(target.path.clone()),
                _ => None,
            };
            read.extend(report.facts.iter().filter_map(file));
            let words = if runs_here(report) { report.argv.as_ref() } else { &[] };
            let given = words.windows(2).filter_map(|pair| works_on(words, pair.first()?, pair.last()?.exact()?));
            read.extend(given.flat_map(|name| state.cwd.iter().map(move |place| normal(&place.join(name)))));
        }
    }

    /// `sort f > f`: the shell has emptied the file before anybody reads it, in whatever stage.
    pub(super) fn reads_what_is_empty(&mut self, pipeline: &Pipeline, read: &BTreeSet<PathBuf>) {
        let Some(path) = self.emptied.iter().find(|path| read.contains(*path)) else { return };
        let name = path.strip_prefix(&self.site.cwd).unwrap_or(path).display();
        let why = format!("`{name}` is emptied before it is read; what it holds is lost");
        let span = pipeline.stages.first().map_or(0..0, |stage| stage.span.clone());
        self.say(span, Fact::Destroys(Category::Files, why));
    }

    /// Says where a standard descriptor is missing for more than one program.
    fn keeps_descriptors(&mut self, command: &Command) {
        if !takes_away(&command.redirects) {
            return;
        }
        const KEEPS: &[&str] = &["exec", "command", "builtin", "eval", "source", ".", "?"];
        let lasting = match &command.kind {
            Kind::Simple { .. } => {
                let name = called(command);
                !self.reading.functions.are_none() || KEEPS.contains(&name.as_ref()) || commands::runs_others(&name)
            }
            _ => true,
        };
        if lasting {
            self.opaque(&command.span, "a standard descriptor is closed for the commands that follow");
        } else if may_name_an_output(command) {
            self.opaque(
                &command.span,
                "what it opens to read comes under the closed number, by whose name it is written",
            );
        }
    }
}

/// What is known behind a command that ran, or did not because a redirection failed.
pub(super) fn perhaps_run(before: State, after: &mut State) {
    let stdin = match &after.stdin {
        // Worse than what is not known.
        remote @ Stdin::Pipe { remote: true, .. } => remote.clone(),
        same if *same == before.stdin => same.clone(),
        _ => Stdin::Unknown,
    };
    if let Some(merged) = merge(vec![before, after.clone()]) {
        *after = State { stdin, ..merged };
    }
}
