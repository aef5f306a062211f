//! What stands around a command: redirections, here-documents, tests, arithmetic.

use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use super::super::analysis::{is_disk, is_public_listing, is_sink};
use super::super::commands::{self, Printed};
use super::super::danger::Danger;
use super::super::fact::{Category, Fact};
use super::super::judge::{Arg, Judge, Stdin, Word as Became};
use super::super::names::{Meaning, meaning};
use super::super::parse::is_name;
use super::super::print::text_of;
use super::super::script::{Command, Fd, Part, Redirect, RedirectOp, Target, Test, Word};
use super::super::words::{self, Start, Value};
use super::shapes::{is_number, name_of, told};
use super::sums::Sum;
use super::{Report, State, Walker, input, values};

impl<'a> Walker<'a> {
    pub(super) fn redirects(&mut self, list: &[Redirect], state: &mut State) -> (Vec<Fact>, Option<Stdin>) {
        let mut facts = Vec::new();
        let mut stdin = None;
        for redirect in list {
            if let Fd::Named(name) = &redirect.fd {
                state.vars.insert(name.clone(), Value::unknown("a descriptor"));
                if meaning(name) == Meaning::Rewires {
                    facts.push(Fact::Opaque(format!("it sets `{name}`, which decides what runs")));
                }
            }
            let is_stdin = match (&redirect.fd, redirect.op) {
                (Fd::Number(number), _) => number == "0",
                (Fd::Default, RedirectOp::Read | RedirectOp::ReadWrite | RedirectOp::DupIn) => true,
                (Fd::Default, RedirectOp::Here | RedirectOp::HereStrip | RedirectOp::HereString) => true,
                _ => false,
            };
            let then = self.moment();
            let mut feeds = match &redirect.target {
                Target::Here(index) => self.here(*index, state),
                Target::Word(word) if redirect.op == RedirectOp::HereString => match self.value(word, state) {
                    Value::Exact(text) => Stdin::Text(text + "\n"),
                    _ => Stdin::Unknown,
                },
                Target::Word(word) => self.redirect_file(redirect, word, state, &mut facts),
            };
            let fetched = self.fetches_since(then) || matches!(feeds, Stdin::Pipe { remote: true, .. });
            if feeds == Stdin::Unknown && is_stdin && fetched {
                feeds = Stdin::pipe(true);
            }
            if fetched && !is_stdin && !matches!(redirect.op, RedirectOp::Write | RedirectOp::Append) {
                self.fetched.descriptor(&redirect.fd);
            }
            if is_stdin {
                stdin = Some(feeds);
            }
        }
        facts.extend(facts.iter().filter_map(commands::lost).collect::<Vec<_>>());
        (facts, stdin)
    }

    pub(super) fn redirect_file(
        &mut self,
        redirect: &Redirect,
        word: &Word,
        state: &mut State,
        facts: &mut Vec<Fact>,
    ) -> Stdin {
        let then = self.moment();
        let args = self.words(word, state);
        let remote = self.fetches_since(then);
        let [arg] = args.as_slice() else {
            facts.push(Fact::Opaque("a redirection to no file, or to several".to_owned()));
            return Stdin::Unknown;
        };
        if let [Part::Process { script, .. }] = word.parts.as_slice() {
            if !values::is_one_list(script) {
                return Stdin::pipe(remote);
            }
            let argvs: Vec<&[Arg]> = self.outlet.iter().map(AsRef::as_ref).collect();
            return Stdin::Pipe { printed: Printed::by(&argvs, self.site), remote, told: told(&argvs), hint: None };
        }
        let dup = matches!(redirect.op, RedirectOp::DupIn | RedirectOp::DupOut);
        // Standard input under another number or name: whoever reads there reads here.
        self.taken.part |= match arg.exact() {
            Some(text) if dup => text.trim_end_matches('-').parse() == Ok(0),
            Some(text) => input::is_device(text) && !is_sink(Path::new(text)),
            None => false,
        };
        let from = arg.exact().filter(|_| dup).and_then(|text| text.trim_end_matches('-').parse().ok());
        if self.descriptors.note(redirect, from) {
            let why = "an input comes under the number of an output, by whose name its file is written";
            facts.push(Fact::Opaque(why.to_owned()));
        }
        if dup {
            match arg.exact() {
                Some(text) if text == "-" || text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit()) => {
                    self.fetched.reads_descriptor(text);
                    return if text == "-" { Stdin::None } else { Stdin::Unknown };
                }
                Some(_) if redirect.op == RedirectOp::DupOut && redirect.fd == Fd::Default => {}
                _ => {
                    facts.push(Fact::Opaque("a descriptor that is not a number".to_owned()));
                    return Stdin::Unknown;
                }
            }
        }
        // Not `"$f.new"`: only the very names that a pattern found are files that are there.
        let empty = |part: &&Part| !matches!(part, Part::Quoted(text) if text.is_empty());
        let parts: Vec<&Part> = word.parts.iter().filter(empty).collect();
        let found = matches!(&arg.word, Became::Glob { pattern, .. } if !pattern.contains(words::LABEL));
        let whole = matches!(parts.as_slice(), [Part::Param { .. }]) && found;
        if whole && matches!(redirect.op, RedirectOp::Write | RedirectOp::Clobber) {
            facts.push(Fact::Destroys(Category::Files, "every file that the pattern finds is written over".to_owned()));
        }
        let listed = match &arg.word {
            Became::Opaque { prefix, why, .. } => why.is_listed() && !prefix.contains('/'),
            // One of several, of which not all are written out.
            Became::OneOf(words) => words.iter().any(|word| !matches!(word, Became::Exact(_))),
            _ => false,
        };
        if listed && redirect.op != RedirectOp::Read {
            facts.push(Fact::Opaque("a file that a list names is written over".to_owned()));
        }
        // By the name of an output, or of a substitution, its file is opened again, for writing.
        let is_named = matches!(&redirect.fd, Fd::Number(number) if ["1", "2", "63"].contains(&number.as_str()));
        let (reads, writes) = match redirect.op {
            RedirectOp::Read => (true, is_named),
            RedirectOp::ReadWrite => (true, true),
            _ => (false, true),
        };
        let places = state.places();
        for place in &*places {
            let site = self.seen_from(place);
            let mut judge = Judge::new(&site, Stdin::None, redirect.span.clone());
            if let Some(text) = arg.exact() {
                let path = judge.resolve(text);
                if path.starts_with("/dev/tcp") || path.starts_with("/dev/udp") {
                    facts.push(Fact::Forbidden(Danger::Socket, format!("`{text}` is a connection to the network")));
                    continue;
                }
                if writes && is_sink(&path) {
                    continue;
                }
                if writes && path.starts_with("/proc/sysrq-trigger") {
                    facts.push(Fact::Destroys(
                        Category::System,
                        format!("`{text}` restarts or stops the machine at once"),
                    ));
                }
                if writes && is_disk(&path) {
                    facts.push(Fact::Destroys(
                        Category::Disk,
                        format!("`{text}` is a disk; what it holds is written over"),
                    ));
                }
            }
            if let Became::Opaque { prefix, .. } = &arg.word
                && ["/dev/tcp", "/dev/udp"].iter().any(|net| prefix.starts_with(net))
            {
                facts
                    .push(Fact::Forbidden(Danger::Socket, "a connection to the network through `/dev/tcp`".to_owned()));
                continue;
            }
            // A directory under a number is read through that, with all that is in it.
            let is_directory = arg.exact().is_some_and(|text| is_public_listing(&judge.resolve(text)));
            if reads && is_directory {
                judge.read_tree(arg);
            } else if reads {
                judge.read(arg);
            }
            if writes {
                let before = judge.facts.len();
                judge.write(arg);
                judge.facts.iter_mut().skip(before).for_each(by_redirection);
                if matches!(redirect.op, RedirectOp::Write | RedirectOp::Clobber) {
                    self.empties(judge.facts.get(before..).unwrap_or_default());
                }
            }
            for fact in self.placed(judge.facts, place) {
                if !facts.contains(&fact) {
                    facts.push(fact);
                }
            }
        }
        match arg.exact() {
            Some("/dev/null") => Stdin::None,
            Some(name) if self.is_fetched(name, state) => Stdin::pipe(true),
            name => Stdin::File { told: name.and_then(|name| self.written_in(&[name], state)) },
        }
    }

    pub(super) fn here(&mut self, index: usize, state: &mut State) -> Stdin {
        let program = Rc::clone(&self.reading.program);
        let Some(here) = program.heres.get(index) else { return Stdin::Unknown };
        let strip = |text: &str| {
            if !here.strip {
                return text.to_owned();
            }
            text.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
        };
        if here.quoted {
            return Stdin::Text(strip(&here.raw));
        }
        let pieces = self.pieces(&here.parts, state, &(0..0));
        match words::single(&pieces, &self.site.home) {
            Value::Exact(text) => Stdin::Text(strip(&text)),
            _ => Stdin::Unknown,
        }
    }

    /// About what a pipeline passes on of the here-document that its first command is given. For warnings.
    pub(super) fn passed_on(&self, stages: &[Command]) -> Option<String> {
        let passes = |stage: &Command| matches!(name_of(stage).as_ref(), "cat" | "tee" | "envsubst");
        let first = stages.first().filter(|_| stages.iter().all(passes))?;
        first.redirects.iter().rev().find_map(|redirect| match &redirect.target {
            Target::Here(index) => self.reading.program.heres.get(*index).map(|here| here.raw.clone()),
            Target::Word(word) if redirect.op == RedirectOp::HereString => text_of(word).map(|text| text.to_string()),
            Target::Word(_) => None,
        })
    }

    /// Puts into the report what a program destroys, by its name, that is not judged by a table.
    pub(super) fn warned_of(&self, args: &[Arg], stdin: &Stdin, span: &Range<usize>, report: &mut Report) {
        let mut judge = Judge::new(self.site, stdin.clone(), span.clone());
        commands::warn(args, &mut judge);
        // What was said of the words as they stand is not said again.
        for fact in judge.facts {
            if !report.facts.contains(&fact) {
                report.facts.push(fact);
            }
        }
        for finding in judge.findings {
            if !report.findings.contains(&finding) {
                report.findings.push(finding);
            }
        }
    }

    pub(super) fn test(&mut self, test: &Test, state: &mut State) {
        match test {
            Test::And(left, right) | Test::Or(left, right) => {
                self.test(left, state);
                self.test(right, state);
            }
            Test::Not(inner) | Test::Paren(inner) => self.test(inner, state),
            Test::Word(word) => {
                self.value(word, state);
            }
            Test::Unary(op, word) => {
                let value = self.value(word, state);
                let evaluates = matches!(op.as_str(), "-v" | "-R");
                let plain = matches!(&value, Value::Exact(text) if is_name(text));
                if evaluates && !plain {
                    self.opaque(&word.span, "the name of a variable is evaluated here");
                }
            }
            Test::Binary(op, left, right) => {
                let values = [self.value(left, state), self.value(right, state)];
                let arithmetic = matches!(op.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
                if arithmetic && !values.iter().all(|value| is_number(value, state)) {
                    self.opaque(&left.span, "a text that is not known is evaluated as arithmetic here");
                }
            }
        }
    }

    /// Arithmetic evaluates names again and again: only numbers and names of numbers are let through.
    pub(super) fn arith(&mut self, parts: &[Part], state: &mut State, span: &Range<usize>) -> bool {
        let mut safe = true;
        let mut sum = Sum::default();
        for part in parts {
            match part {
                Part::Plain(text) | Part::Quoted(text) => safe &= sum.text(text, state),
                Part::Param { param, .. } => {
                    let value = self.param(param, state, span);
                    safe &= is_number(&value, state);
                    safe &= sum.value(may_be_name(&value));
                    // `$n = 5` sets what `n` names.
                    if let Value::Exact(text) = &value
                        && is_name(text)
                    {
                        state.set(text, Value::Number);
                    }
                }
                Part::Arith { parts, .. } => {
                    self.may_drop(state);
                    safe &= self.arith(parts, state, span);
                    self.may_drop(state);
                    safe &= sum.value(false);
                }
                Part::Command { script, .. } => {
                    let value = self.output(script, state);
                    safe &= is_number(&value, state);
                    safe &= sum.value(may_be_name(&value));
                }
                Part::Process { .. } | Part::Array(_) => safe = false,
            }
        }
        sum.end(state);
        if !safe {
            self.opaque(span, "arithmetic evaluates a text that is not known, and a subscript in it can run commands");
        }
        safe
    }
}

/// Whether it may be the name of a variable, which text behind it makes another one.
fn may_be_name(value: &Value) -> bool {
    match value {
        Value::Exact(text) => is_name(text),
        Value::Output(output) => output.start == Start::Line,
        _ => false,
    }
}

/// Marks what is written as what no command names.
fn by_redirection(fact: &mut Fact) {
    if let Fact::Write(target) = fact {
        target.redirected = true;
    }
}
