//! One command whose words are known as far as they are: which program it is, what that does, and what it runs in turn.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::super::analysis::is_sink;
use super::super::danger::Danger;
use super::super::fact::{Fact, each_once};
use super::super::finding::Outcome;
use super::super::judge::{Arg, Judge, Nested, Shell, Stdin, Word as Became};
use super::super::{commands, lexical, parse, second};
use super::found::{self, READERS, asks_the_repository, is_found};
use super::keyed::Keyed;
use super::merge::merge;
use super::named::Found;
use super::shapes::is_declaration;
use super::shared::Shared;
use super::state::STATEFUL;
use super::{NESTING, NOWHERE, Reading, Report, State, Walker, posix};

/// Most programs that one name may stand for.
const ALTERNATIVES: usize = 16;

/// The same command with each of the programs that its name may be.
fn alternatives(args: &[Arg]) -> Option<Vec<Rc<[Arg]>>> {
    let (first, rest) = args.split_first()?;
    let Became::OneOf(words) = &first.word else { return None };
    let exact = words.iter().all(|word| matches!(word, Became::Exact(_)));
    let with = |word: &Became| [first.as_word(word.clone())].into_iter().chain(rest.iter().cloned()).collect();
    (exact && words.len() <= ALTERNATIVES).then(|| words.iter().map(with).collect())
}

impl<'a> Walker<'a> {
    /// Judges one command. `nested`: another one runs it, so neither functions nor builtins are meant.
    pub(super) fn argv(
        &mut self,
        args: Rc<[Arg]>,
        span: &Range<usize>,
        state: &mut State,
        stdin: &Stdin,
        facts: Vec<Fact>,
        nested: bool,
    ) {
        let Some(first) = args.first() else { return };
        if let Some(alternatives) = alternatives(&args) {
            let mut ends = Vec::new();
            for argv in alternatives {
                let mut own = state.clone();
                self.argv(argv, span, &mut own, stdin, facts.clone(), nested);
                ends.push(own);
            }
            *state = merge(ends).unwrap_or_else(|| state.clone());
            return;
        }
        let mut report = Report::of(Rc::clone(&args), span.clone(), facts);
        if self.is_fetched_command(first, state) {
            report
                .facts
                .push(Fact::Forbidden(Danger::Fetched, "what comes from the network is run as a command".to_owned()));
        }
        self.names_of(&args, stdin);
        self.links_of(&args, state);
        let Some(name) = first.exact() else {
            report.facts.push(Fact::Opaque("the name of the program is not known before it runs".to_owned()));
            self.warns_of_the_likely(stdin, &mut report);
            self.reports.push(report);
            state.vars.clear();
            return state.strays();
        };
        self.round.cut |= matches!(name, "break" | "continue");
        report.facts.extend(self.not_in_sh(&args));
        self.runs_written(name, &args, span, state, &mut report);
        if !nested {
            if self.calls(&args, &report, state, stdin) {
                return;
            }
            let settled = name == "trap" && self.traps(&args, span, state)
                || self.builtin(name, &args, span, state, stdin, &mut report);
            if settled {
                return self.reports.push(report);
            }
        }
        if state.cwd.iter().any(|place| is_found(place)) && !READERS.contains(&name) {
            let why = format!("`{name}` in a directory that a pattern finds");
            if asks_the_repository(name) {
                report.facts.push(Fact::Opaque(why));
                self.reports.push(report);
                return state.vars.clear();
            }
            report.facts.push(Fact::Code(why));
        }
        match self.known(name, state, stdin, &mut report) {
            Some(program) => self.does(&program, state, stdin, report),
            None => self.reports.push(report),
        }
    }

    /// The program that `name` is; without one, all that can be said of it is.
    fn known<'n>(&mut self, name: &'n str, state: &State, stdin: &Stdin, report: &mut Report) -> Option<Cow<'n, str>> {
        let args = Rc::clone(&report.argv);
        let span = report.span.clone();
        match self.program(name, state) {
            Found::Named(program) => return Some(program),
            Found::Workspace(path) => {
                report.facts.push(Fact::Code(format!("it runs {}", found::spelled(&path))));
                if let Some(known) = commands::stands_for(&path) {
                    return Some(Cow::Owned(known));
                }
                report.facts.extend(self.secrets_given(&args, state, &span));
                self.feed(name, &args, state, stdin, report);
            }
            Found::Unknown(why) => report.facts.push(Fact::Opaque(why)),
        }
        self.warned_of(&args, stdin, &span, report);
        None
    }

    /// What a program does that has a row in the tables, and what it runs.
    fn does(&mut self, program: &str, state: &mut State, stdin: &Stdin, mut report: Report) {
        let args = Rc::clone(&report.argv);
        let span = report.span.clone();
        let inner = self.judged(program, state, stdin, &mut report);
        report.facts.extend(self.taken_away(program, &args));
        report.facts.extend(self.given_names(program, &args));
        self.warns_of_the_likely(stdin, &mut report);
        report.facts.extend(self.signalled(program, &args, state));
        self.feed(program, &args, state, stdin, &mut report);
        self.reports.push(report);
        self.forget_by(program, &args, stdin, state);
        for (inner, place) in inner {
            if self.nesting >= NESTING {
                self.opaque(&span, "commands that run commands, too deep");
                continue;
            }
            self.nesting += 1;
            let mut own = state.clone();
            own.cwd = if place.as_os_str() == NOWHERE { Vec::new() } else { vec![place] }.into();
            match inner {
                Nested::Argv(args) => self.behind(program, args.into(), &span, own, state, stdin),
                Nested::Script { shell, text, args, span } => {
                    own.stdin = stdin.clone();
                    self.nested_script(shell, &text, &args, &span, own);
                }
            }
            self.nesting -= 1;
        }
    }

    /// Warns of what the words would do that it is likely to have.
    fn warns_of_the_likely(&mut self, stdin: &Stdin, report: &mut Report) {
        let span = report.span.clone();
        if let Some(argv) = self.likely.argv(&report.argv) {
            self.warned_of(&argv, stdin, &span, report);
        }
    }

    /// What the tables say, in each of the directories where it may run: into the report, and what it runs from where.
    fn judged(&mut self, program: &str, state: &State, stdin: &Stdin, report: &mut Report) -> Vec<(Nested, PathBuf)> {
        let args = Rc::clone(&report.argv);
        let mut argv = Cow::Borrowed(args.as_ref());
        if args.first().and_then(Arg::exact) != Some(program)
            && let Some(first) = argv.to_mut().first_mut()
        {
            first.word = Became::Exact(program.to_owned());
        }
        let mut inner: Vec<(Nested, PathBuf)> = Vec::new();
        let written = self.seen_by(&args);
        for place in &*state.places() {
            let site = self.seen_from(place);
            let mut judge = Judge::new(&site, stdin.clone(), report.span.clone());
            judge.written = written.clone();
            commands::judge(&argv, &mut judge);
            let Judge { facts, findings, nested, .. } = judge;
            let sinks = |fact: &Fact| matches!(fact, Fact::Write(target) if is_sink(&target.path));
            report.facts.extend(self.placed(facts, place).into_iter().filter(|fact| !sinks(fact)));
            each_once(&mut report.facts);
            for finding in findings {
                if !report.findings.contains(&finding) {
                    report.findings.push(finding);
                }
            }
            inner.extend(nested.into_iter().map(|nested| (nested, place.clone())));
        }
        inner
    }

    /// The command behind a wrapper, which runs in a state of its `own`; behind `command` and its kind it may be a builtin,
    /// which changes that of the shell.
    fn behind(
        &mut self,
        program: &str,
        args: Rc<[Arg]>,
        span: &Range<usize>,
        mut own: State,
        state: &mut State,
        stdin: &Stdin,
    ) {
        self.count += 1;
        let inner = args.first().and_then(Arg::exact).unwrap_or_default();
        let changes = matches!(inner, "command" | "builtin") || STATEFUL.contains(&inner) || is_declaration(inner);
        if !(matches!(program, "command" | "builtin" | "exec") && changes) {
            return self.argv(args, span, &mut own, stdin, Vec::new(), true);
        }
        self.argv(args, span, &mut own, stdin, Vec::new(), false);
        state.strays();
        state.vars.clear();
        state.positional = None;
        // `command exec < file` puts it in place for all that follows.
        if own.stdin != state.stdin {
            state.stdin = Stdin::Unknown;
        }
        state.freeze_as(&own.frozen);
    }

    pub(super) fn inside(&self, path: &Path) -> bool {
        let climbs = path.components().any(|part| part == Component::ParentDir);
        !climbs && self.site.is_ours(path)
    }

    /// A script in an argument, which another shell reads.
    pub(super) fn nested_script(
        &mut self,
        shell: Shell,
        text: &str,
        args: &[Arg],
        span: &Range<usize>,
        mut own: State,
    ) {
        if text.len() > self.left.text {
            return self.say(span.clone(), Fact::Misparse("too much text in commands that run commands".to_owned()));
        }
        self.left.text -= text.len();
        let outcome = match parse::parse(text, Some(span.clone())) {
            Ok(outcome) => outcome,
            Err(trouble) => {
                return self.say(span.clone(), Fact::Misparse(format!("the script in this argument: {}", trouble.why)));
            }
        };
        let strange = lexical::check(text, &[]).into_iter().find(|finding| finding.outcome > Outcome::Passthrough);
        if let Some(finding) = strange {
            self.say(span.clone(), Fact::Misparse(format!("the script in this argument: {}", finding.why)));
        }
        let alone = parse::parse(text, None);
        let agreed = alone.map(|alone| second::agrees(text, &alone.program, &alone.bodies));
        if let Ok(Err(why)) = agreed {
            self.say(span.clone(), Fact::Misparse(why));
        }
        own.vars.clear();
        own.trail = Shared::default();
        own.keyed = Keyed::default();
        own.positional = Some(Rc::new(args.to_vec()));
        let program = Rc::new(outcome.program);
        // Another shell knows none of the functions, and what `eval` reads has here-documents of its own.
        let outer = std::mem::replace(&mut self.reading, Reading::of(Rc::clone(&program), shell));
        if shell == Shell::Sh {
            self.only_bash(outcome.beyond, span);
            posix::unset(&mut own);
        }
        let last = self.last.clone();
        self.apart(|walker| walker.lines(&program.script, &mut own));
        self.last = last;
        self.reading = outer;
    }
}
