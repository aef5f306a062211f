//! Walks a script in the order in which it would run, keeps what is known of the shell's state, and
//! has every simple command judged by the tables.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::analysis::{is_disk, is_sink};
use super::commands;
use super::fact::{Category, Fact, Target as Place, each_once};
use super::finding::{Finding, Outcome};
use super::judge::{Arg, Judge, Nested, Site, Stdin, Word as Became};
use super::limits::WALKED;
use super::names::{Meaning, meaning};
use super::parse::{self, is_name};
use super::script::{
    Assign, AssignValue, Command, Fd, Here, Item, Kind, Op, Param, Part, Pipeline, Redirect, RedirectOp, Script,
    Target, Test, Word,
};
use super::words::{self, Output, Piece, Value};
use super::{lexical, second};

/// Most programs that one name may stand for.
const ALTERNATIVES: usize = 16;

/// How deep commands may run commands.
const NESTING: usize = 8;

/// Most reports; above it the analysis says so and stops looking closer.
const REPORTS: usize = 4096;

/// Most variables that are remembered: a script sets a handful, and every branch keeps its own copy.
const VARIABLES: usize = 256;

/// Most words of one command.
const WORDS: usize = 4096;

/// Most bytes of script text in arguments that are read, all together: each wrapper around a text reads it again.
const NESTED: usize = 64 * 1024;

/// Longest value that is remembered, in bytes: `a=$a$a` doubles it, and one word can name it again and again.
const VALUE: usize = 1024;

/// A directory that stands for one that is not known: `..` often enough does not lead out of it.
const NOWHERE: &str =
    "/\u{1}/\u{1}/\u{1}/\u{1}/\u{1}/\u{1}/\u{1}/\u{1}/\u{1}/\u{1}/\u{1}/\u{1}/\u{1}/\u{1}/\u{1}/\u{1}";

/// What was found out about one simple command.
#[derive(Debug, Clone, Default)]
pub(super) struct Report {
    /// Its words; empty for what belongs to the script itself.
    pub argv: Vec<Arg>,
    pub span: Range<usize>,
    pub facts: Vec<Fact>,
    pub findings: Vec<Finding>,
}

/// What is known of the shell at a point.
#[derive(Debug, Clone)]
struct State {
    vars: Vars,
    /// Where it may be; empty when that is not known.
    cwd: Vec<PathBuf>,
    /// `$1`, `$2`, …; `None` when not known.
    positional: Option<Rc<Vec<Arg>>>,
    stdin: Stdin,
    /// `exit` was reached.
    gone: bool,
    /// Names that were made readonly: a later assignment may fail, and the script goes on.
    frozen: BTreeSet<String>,
    /// Something was started in the background, so `$!` is a number.
    background: bool,
}

/// Variables; copies share them until one is changed, because every branch has its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Vars(Rc<BTreeMap<String, Value>>);

impl Vars {
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    fn insert(&mut self, name: String, value: Value) {
        Rc::make_mut(&mut self.0).insert(name, value);
    }

    fn clear(&mut self) {
        self.0 = Rc::default();
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }
}

impl State {
    /// Notes the value of a variable. The shell itself changes `_` with every command.
    fn set(&mut self, name: &str, value: Value) {
        let known = name != "_" && !self.frozen.contains(name);
        let short = !matches!(&value, Value::Exact(text) if text.len() > VALUE);
        let value = if known && short { value } else { Value::Opaque(format!("the value of `{name}`")) };
        if self.vars.len() >= VARIABLES {
            self.vars.clear();
        }
        self.vars.insert(name.to_owned(), value);
    }
}

/// Collects reports.
pub(super) struct Walker<'a> {
    site: &'a Site,
    heres: Rc<Vec<Here>>,
    pub reports: Vec<Report>,
    nesting: usize,
    /// Places of words that came from the network.
    remote: BTreeSet<(usize, usize)>,
    /// A variable holds what was read from a secret.
    secret_held: bool,
    /// The next command is all of the condition of a `while`: behind it, it worked.
    condition: bool,
    /// The words of each stage of the last pipeline, where they are known.
    outlet: Vec<Vec<Arg>>,
    /// The program of the last command of the last pipeline.
    pub last: Option<String>,
    /// Simple commands seen.
    pub count: usize,
    /// The script has too much in it: what follows is not looked at.
    full: bool,
    /// How much more text of scripts in arguments is read.
    text_left: usize,
}

impl<'a> Walker<'a> {
    pub fn new(site: &'a Site, heres: Vec<Here>) -> Walker<'a> {
        Walker {
            site,
            heres: Rc::new(heres),
            reports: Vec::new(),
            nesting: 0,
            remote: BTreeSet::new(),
            secret_held: false,
            condition: false,
            outlet: Vec::new(),
            last: None,
            count: 0,
            full: false,
            text_left: NESTED,
        }
    }

    /// Walks a whole script as `bash -c` starts it.
    pub fn run(&mut self, script: &Script) {
        let mut state = State {
            vars: Vars::default(),
            cwd: vec![self.site.cwd.clone()],
            positional: None,
            stdin: Stdin::None,
            gone: false,
            frozen: BTreeSet::new(),
            background: false,
        };
        self.script(script, &mut state);
        if self.secret_held
            && self.reports.iter().any(|report| report.facts.iter().any(|fact| matches!(fact, Fact::Net(_))))
        {
            self.say(0..0, Fact::Forbidden("what a secret file holds is kept and the network is reached".to_owned()));
        }
    }

    fn say(&mut self, span: Range<usize>, fact: Fact) {
        self.reports.push(Report { span, facts: vec![fact], ..Report::default() });
    }

    fn opaque(&mut self, span: &Range<usize>, why: impl Into<String>) {
        self.say(span.clone(), Fact::Opaque(why.into()));
    }

    // Lists.

    fn script(&mut self, script: &Script, state: &mut State) {
        for item in &script.items {
            if self.is_full() {
                return;
            }
            self.item(item, state);
        }
    }

    /// Whether there is too much in the script to go on. Said once.
    fn is_full(&mut self) -> bool {
        if !self.full && (self.reports.len() > REPORTS || self.count > WALKED) {
            self.full = true;
            self.say(0..0, Fact::Misparse("the script is too large to analyse to its end".to_owned()));
        }
        self.full
    }

    fn item(&mut self, item: &Item, state: &mut State) {
        if item.background {
            let mut own = state.clone();
            own.stdin = Stdin::None;
            self.and_or(item, &mut own);
            state.background = true;
        } else {
            self.and_or(item, state);
        }
    }

    fn and_or(&mut self, item: &Item, state: &mut State) {
        if item.rest.is_empty() {
            // Alone it changes only where the script goes on if it fails.
            let before = state.cwd.clone();
            self.pipeline(&item.first, state);
            if state.cwd != before {
                let mut failed = state.clone();
                failed.cwd = if is_cd(&item.first) { before } else { join_cwd(&before, &state.cwd) };
                if failed.cwd != state.cwd
                    && let Some(merged) = merge(vec![failed, state.clone()])
                {
                    *state = merged;
                }
            }
            return;
        }
        // Where the script goes on when a link of the chain fails.
        let mut failed: Vec<State> = Vec::new();
        let fail = |before: &State, after: &State, pipeline: &Pipeline| {
            let mut state = after.clone();
            state.cwd = if is_cd(pipeline) { before.cwd.clone() } else { join_cwd(&before.cwd, &after.cwd) };
            state
        };
        let before = state.clone();
        self.pipeline(&item.first, state);
        failed.push(fail(&before, state, &item.first));
        for (and, pipeline) in &item.rest {
            if self.is_full() {
                break;
            }
            if *and {
                let before = state.clone();
                self.pipeline(pipeline, state);
                failed.push(fail(&before, state, pipeline));
            } else {
                let worked = state.clone();
                *state = merge(std::mem::take(&mut failed)).unwrap_or_else(|| worked.clone());
                let before = state.clone();
                self.pipeline(pipeline, state);
                failed.push(fail(&before, state, pipeline));
                failed.push(worked);
            }
        }
        if failed.iter().any(|other| other.cwd != state.cwd || other.vars != state.vars || other.gone != state.gone) {
            failed.push(state.clone());
            if let Some(merged) = merge(failed) {
                *state = merged;
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, state: &mut State) {
        let start = self.reports.len();
        let several = pipeline.stages.len() > 1;
        let mut argvs: Vec<Vec<Arg>> = Vec::new();
        for (index, stage) in pipeline.stages.iter().enumerate() {
            if self.is_full() {
                break;
            }
            let before = self.reports.len();
            if !several {
                self.command(stage, state);
            } else {
                let mut own = state.clone();
                if index > 0 {
                    let remote = self.since(start).any(|fact| matches!(fact, Fact::Net(_)));
                    let argvs: Vec<&[Arg]> = argvs.iter().map(Vec::as_slice).collect();
                    own.stdin = match (argvs.as_slice(), name_of(stage)) {
                        ([argv], reader) if SQL_READERS.contains(&reader.as_str()) && echoed(argv).is_some() => {
                            Stdin::Text(echoed(argv).unwrap_or_default())
                        }
                        _ => Stdin::Pipe { from: commands::feeder(&argvs), remote },
                    };
                }
                self.command(stage, &mut own);
            }
            let simple = matches!(stage.kind, Kind::Simple { .. });
            let own = self.reports.get(before..).unwrap_or_default().iter();
            let own = own.filter(|report| simple && !report.argv.is_empty()).find(|report| report.span == stage.span);
            argvs.push(own.map(|report| report.argv.clone()).unwrap_or_default());
            self.last = Some(name_of(stage));
        }
        self.outlet = argvs;
        let reads = self.since(start).any(reads_secret);
        if reads && self.since(start).any(|fact| matches!(fact, Fact::Net(_))) {
            let span = pipeline.stages.first().map_or(0..0, |stage| stage.span.clone());
            self.say(
                span,
                Fact::Forbidden("a secret file is read and the network is reached in one pipeline".to_owned()),
            );
        }
    }

    fn since(&self, start: usize) -> impl Iterator<Item = &Fact> {
        self.reports.get(start..).unwrap_or_default().iter().flat_map(|report| report.facts.iter())
    }

    // Commands.

    fn command(&mut self, command: &Command, state: &mut State) {
        if let Kind::Simple { assigns, words } = &command.kind {
            return self.simple(command, assigns, words, state);
        }
        let outer = state.stdin.clone();
        let (facts, stdin) = self.redirects(&command.redirects, state);
        if !facts.is_empty() {
            self.reports.push(Report { span: command.span.clone(), facts, ..Report::default() });
        }
        if let Some(stdin) = stdin {
            state.stdin = stdin;
        }
        self.compound(command, state);
        state.stdin = outer;
    }

    fn compound(&mut self, command: &Command, state: &mut State) {
        match &command.kind {
            Kind::Simple { .. } => {}
            Kind::Subshell(script) => {
                let mut own = state.clone();
                self.script(script, &mut own);
            }
            Kind::Group(script) => self.script(script, state),
            Kind::If { arms, otherwise } => {
                let mut ends = Vec::new();
                for (condition, body) in arms {
                    self.script(condition, state);
                    let mut own = state.clone();
                    self.script(body, &mut own);
                    ends.push(own);
                }
                if let Some(body) = otherwise {
                    self.script(body, state);
                }
                ends.push(state.clone());
                *state = merge(ends).unwrap_or_else(|| state.clone());
            }
            Kind::Loop { until, condition, body } => self.repeat(&[condition, body], state, |walker, state| {
                walker.condition = !until && is_one_command(condition);
                walker.script(condition, state);
                walker.condition = false;
                walker.script(body, state);
            }),
            Kind::For { name, words, body, select } => {
                if *select {
                    self.opaque(&command.span, "`select` takes its choice from standard input");
                }
                let values = self.loop_values(words.as_deref(), state);
                self.assign_name(name, &command.span);
                let name = name.clone();
                self.repeat(&[body], state, |walker, state| {
                    state.set(&name, values.clone());
                    walker.script(body, state);
                });
                state.set(&name, Value::Opaque("the variable of a loop".to_owned()));
            }
            Kind::ArithFor { parts, body } => {
                let [start, condition, step] = parts;
                self.arith(start, state, &command.span);
                self.repeat(&[body], state, |walker, state| {
                    walker.arith(condition, state, &command.span);
                    walker.script(body, state);
                    walker.arith(step, state, &command.span);
                });
            }
            Kind::Case { word, arms } => {
                self.value(word, state);
                let mut ends = vec![state.clone()];
                let falls = arms.iter().any(|arm| arm.end != ";;");
                for arm in arms {
                    if self.is_full() {
                        break;
                    }
                    let mut own = state.clone();
                    if falls {
                        forget(&[&arm.body], &mut own);
                    }
                    for pattern in &arm.patterns {
                        self.value(pattern, &mut own);
                    }
                    self.script(&arm.body, &mut own);
                    ends.push(own);
                }
                *state = merge(ends).unwrap_or_else(|| state.clone());
            }
            Kind::Function { name, body } => {
                if is_bomb(name, body) {
                    self.say(
                        command.span.clone(),
                        Fact::Forbidden(format!("`{name}` starts copies of itself without end")),
                    );
                }
                self.opaque(&command.span, format!("it defines the function `{name}`"));
                let mut own = state.clone();
                own.vars.clear();
                own.cwd.clear();
                own.positional = None;
                self.command(body, &mut own);
            }
            Kind::Coproc { body } => {
                self.opaque(&command.span, "it starts a coprocess");
                let mut own = state.clone();
                own.stdin = Stdin::Unknown;
                self.command(body, &mut own);
            }
            Kind::Arith(parts) => {
                self.arith(parts, state, &command.span);
            }
            Kind::Test(test) => self.test(test, state),
        }
    }

    /// A body that may run any number of times: what it changes is not known inside it.
    fn repeat(&mut self, scripts: &[&Script], state: &mut State, run: impl Fn(&mut Self, &mut State)) {
        forget(scripts, state);
        let before = state.clone();
        let reports = self.reports.len();
        run(self, state);
        if state.cwd != before.cwd {
            // A second round starts somewhere else: judge it from nowhere instead.
            self.reports.truncate(reports);
            *state = before.clone();
            state.cwd.clear();
            run(self, state);
            state.cwd.clear();
        }
        *state = merge(vec![before, state.clone()]).unwrap_or_else(|| state.clone());
    }

    fn loop_values(&mut self, list: Option<&[Word]>, state: &mut State) -> Value {
        let args: Vec<Arg> = match list {
            Some(list) => list.iter().flat_map(|word| self.words(word, state)).collect(),
            None => match &state.positional {
                Some(args) => args.to_vec(),
                None => return Value::Opaque("the arguments of the script".to_owned()),
            },
        };
        // Hashes have no blanks to fall apart at.
        if let (Some([Word { parts, .. }]), [Arg { word: Became::Glob { pattern, .. }, .. }]) = (list, args.as_slice())
            && matches!(parts.as_slice(), [Part::Command { quoted: false, .. }])
            && pattern == "0**"
        {
            return Value::Output(Output { prefix: "0", number: false });
        }
        values_of(&args)
    }

    // Simple commands.

    fn simple(&mut self, command: &Command, assigns: &[Assign], list: &[Word], state: &mut State) {
        self.count += 1;
        let start = self.reports.len();
        let mut args: Vec<Arg> = Vec::new();
        for word in list {
            let before = self.reports.len();
            let mut became = self.words(word, state);
            if self.since(before).any(|fact| matches!(fact, Fact::Net(_))) {
                self.remote.extend(became.iter().map(|arg| (arg.span.start, arg.span.end)));
            }
            args.append(&mut became);
            if args.len() > WORDS {
                args.truncate(WORDS);
                let why = format!("one command has more than {WORDS} words");
                self.say(command.span.clone(), Fact::Misparse(why));
                break;
            }
        }
        let mut facts = Vec::new();
        let alone = list.is_empty();
        let reads_with = matches!(args.first().and_then(Arg::exact), Some("read" | "mapfile" | "readarray"));
        for assign in assigns {
            self.assign(assign, alone, reads_with, state, &mut facts);
        }
        let (mut redirect_facts, redirected) = self.redirects(&command.redirects, state);
        facts.append(&mut redirect_facts);
        let stdin = redirected.unwrap_or_else(|| state.stdin.clone());
        if alone && self.since(start).any(reads_secret) && !assigns.is_empty() {
            self.secret_held = true;
        }
        if args.is_empty() {
            if !facts.is_empty() || !list.is_empty() || !command.redirects.is_empty() {
                self.reports.push(Report { span: command.span.clone(), facts, ..Report::default() });
            }
            return;
        }
        self.argv(&args, &command.span, state, &stdin, facts, false);
    }

    /// Judges one command whose words are known as far as they are.
    fn argv(
        &mut self,
        args: &[Arg],
        span: &Range<usize>,
        state: &mut State,
        stdin: &Stdin,
        facts: Vec<Fact>,
        nested: bool,
    ) {
        let mut report = Report { argv: args.to_vec(), span: span.clone(), facts, findings: Vec::new() };
        let Some(first) = args.first() else { return };
        if let Became::OneOf(words) = &first.word
            && words.len() <= ALTERNATIVES
            && words.iter().all(|word| matches!(word, Became::Exact(_)))
        {
            // One of several programs: what each of them would do.
            let mut ends = Vec::new();
            for word in words {
                let mut own = state.clone();
                let mut argv = args.to_vec();
                if let Some(first) = argv.first_mut() {
                    first.word = word.clone();
                }
                self.argv(&argv, span, &mut own, stdin, report.facts.clone(), nested);
                ends.push(own);
            }
            *state = merge(ends).unwrap_or_else(|| state.clone());
            return;
        }
        let Some(name) = first.exact().map(str::to_owned) else {
            report.facts.push(Fact::Opaque("the name of the program is not known before it runs".to_owned()));
            self.reports.push(report);
            state.vars.clear();
            state.cwd.clear();
            return;
        };
        if !nested && self.builtin(&name, args, span, state, stdin, &mut report) {
            self.reports.push(report);
            return;
        }
        let program = match self.program(&name, state) {
            Program::Named(program) => program,
            Program::Workspace(path) => {
                report.facts.push(Fact::Code(format!("it runs {}", path.display())));
                self.feed(&name, args, stdin, &mut report);
                self.reports.push(report);
                return;
            }
            Program::Unknown(why) => {
                report.facts.push(Fact::Opaque(why));
                self.reports.push(report);
                return;
            }
        };
        let mut argv = Cow::Borrowed(args);
        if program != name
            && let Some(first) = argv.to_mut().first_mut()
        {
            first.word = Became::Exact(program.clone());
        }
        let places = if state.cwd.is_empty() { vec![PathBuf::from(NOWHERE)] } else { state.cwd.clone() };
        let mut nested_all: Vec<(Nested, PathBuf)> = Vec::new();
        for place in &places {
            let site = Site { roots: self.site.roots.clone(), cwd: place.clone(), home: self.site.home.clone() };
            let mut judge = Judge::new(&site, stdin.clone(), span.clone());
            commands::judge(&argv, &mut judge);
            let Judge { facts, findings, nested, .. } = judge;
            for fact in facts {
                let fact = self.placed(fact, place);
                if matches!(&fact, Fact::Write(target) if is_sink(&target.path)) {
                    continue;
                }
                report.facts.push(fact);
            }
            each_once(&mut report.facts);
            for finding in findings {
                if !report.findings.contains(&finding) {
                    report.findings.push(finding);
                }
            }
            for inner in nested {
                nested_all.push((inner, place.clone()));
            }
        }
        self.feed(&program, args, stdin, &mut report);
        self.reports.push(report);
        self.forget_by(&program, args, stdin, state);
        for (inner, place) in nested_all {
            if self.nesting >= NESTING {
                self.opaque(span, "commands that run commands, too deep");
                continue;
            }
            self.nesting += 1;
            let mut own = state.clone();
            own.cwd = if place.as_os_str() == NOWHERE { Vec::new() } else { vec![place] };
            match inner {
                Nested::Argv(args) => {
                    self.count += 1;
                    let inner_name = args.first().and_then(Arg::exact).unwrap_or_default().to_owned();
                    let shell = matches!(program.as_str(), "command" | "builtin" | "exec");
                    if shell && (STATEFUL.contains(&inner_name.as_str()) || is_declaration(&inner_name)) {
                        self.argv(&args, span, &mut own, stdin, Vec::new(), false);
                        state.cwd.clear();
                        state.vars.clear();
                        state.positional = None;
                    } else {
                        self.argv(&args, span, &mut own, stdin, Vec::new(), true);
                    }
                }
                Nested::Script { text, args, span } => self.nested_script(&text, &args, &span, &own, stdin),
            }
            self.nesting -= 1;
        }
    }

    /// What follows from where a command runs.
    fn placed(&self, fact: Fact, place: &Path) -> Fact {
        let lost = |target: &Place| target.path.starts_with("/\u{1}");
        let unknown = "relative paths behind a `cd` to a directory that is not known";
        match fact {
            Fact::Read(target) | Fact::Write(target) | Fact::Delete(target) if lost(&target) => {
                Fact::Opaque(unknown.to_owned())
            }
            Fact::Code(why) if !self.inside(place) => Fact::Opaque(format!("{why}, outside the workspace")),
            other => other,
        }
    }

    fn inside(&self, path: &Path) -> bool {
        self.site.roots.iter().any(|root| path.starts_with(root))
    }

    /// A shell that takes its script from elsewhere.
    fn feed(&self, program: &str, args: &[Arg], stdin: &Stdin, report: &mut Report) {
        let base = program.rsplit('/').next().unwrap_or_default();
        if !RUNS_TEXT.iter().any(|name| base == *name || base.strip_prefix(name).is_some_and(is_version)) {
            return;
        }
        let remote_word = args.iter().skip(1).any(|arg| self.remote.contains(&(arg.span.start, arg.span.end)));
        let remote_pipe = matches!(stdin, Stdin::Pipe { remote: true, .. }) && reads_script_from_stdin(args);
        if remote_word || remote_pipe {
            report.facts.push(Fact::Forbidden(format!("`{base}` runs what comes from the network")));
        }
    }

    fn nested_script(&mut self, text: &str, args: &[Arg], span: &Range<usize>, state: &State, stdin: &Stdin) {
        if text.len() > self.text_left {
            return self.say(span.clone(), Fact::Misparse("too much text in commands that run commands".to_owned()));
        }
        self.text_left -= text.len();
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
        let own = parse::parse(text, None);
        let agreed = own.map(|own| second::agrees(text, &own.program, &own.bodies));
        if let Ok(Err(why)) = agreed {
            self.say(span.clone(), Fact::Misparse(why));
        }
        let mut own = state.clone();
        own.vars.clear();
        own.stdin = stdin.clone();
        own.positional = Some(Rc::new(args.to_vec()));
        let heres = std::mem::replace(&mut self.heres, Rc::new(outcome.program.heres));
        let last = self.last.clone();
        self.script(&outcome.program.script, &mut own);
        self.last = last;
        self.heres = heres;
    }

    fn program(&self, name: &str, state: &State) -> Program {
        if !name.contains('/') {
            return Program::Named(name.to_owned());
        }
        const TRUSTED: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin"];
        let places: Vec<PathBuf> = if name.starts_with('/') { vec![PathBuf::from("/")] } else { state.cwd.clone() };
        if places.is_empty() {
            return Program::Unknown("a program in a directory that is not known".to_owned());
        }
        let paths: Vec<PathBuf> = places.iter().map(|place| normal(&place.join(name))).collect();
        let trusted = paths
            .iter()
            .all(|path| path.parent().is_some_and(|above| TRUSTED.iter().any(|dir| above == Path::new(dir))));
        match paths.first() {
            Some(path) if trusted && name.starts_with('/') && !name.contains("..") => {
                Program::Named(path.file_name().map_or_else(String::new, |base| base.to_string_lossy().into_owned()))
            }
            Some(path) if paths.iter().all(|path| self.inside(path)) => Program::Workspace(path.clone()),
            _ => Program::Unknown(format!("`{name}` is a program outside the workspace and the system's directories")),
        }
    }

    /// Builtins that change what follows. `true` when nothing is left to judge.
    fn builtin(
        &mut self,
        name: &str,
        args: &[Arg],
        span: &Range<usize>,
        state: &mut State,
        stdin: &Stdin,
        report: &mut Report,
    ) -> bool {
        match name {
            "cd" | "pushd" => {
                self.cd(name, args.get(1..).unwrap_or_default(), state, report);
                true
            }
            "popd" => {
                state.cwd.clear();
                true
            }
            "exit" | "return" => {
                let plain = args.get(1..).unwrap_or_default().iter().all(
                    |arg| !matches!(&arg.word, Became::Exact(text) if !text.bytes().all(|byte| byte.is_ascii_digit())),
                );
                if !plain {
                    report.facts.push(Fact::Opaque("an exit code that is not a number".to_owned()));
                }
                state.gone = true;
                true
            }
            "exec" => {
                let rest = args.get(1..).unwrap_or_default();
                match rest.first() {
                    None => state.stdin = stdin.clone(),
                    Some(_) if self.nesting >= NESTING => self.opaque(span, "commands that run commands, too deep"),
                    Some(first) if first.exact().is_some_and(|text| !text.starts_with('-')) => {
                        self.count += 1;
                        self.nesting += 1;
                        self.argv(rest, span, state, stdin, Vec::new(), true);
                        self.nesting -= 1;
                        state.gone = true;
                    }
                    Some(_) => report.facts.push(Fact::Opaque("`exec` with an option".to_owned())),
                }
                true
            }
            name if is_declaration(name) => {
                self.declare(name, args.get(1..).unwrap_or_default(), state, report);
                true
            }
            _ => false,
        }
    }

    fn cd(&mut self, name: &str, args: &[Arg], state: &mut State, report: &mut Report) {
        let mut operands = Vec::new();
        let mut options = true;
        for arg in args {
            match arg.exact() {
                Some("--") if options => options = false,
                Some("-L" | "-P" | "-e" | "-LP" | "-PL") if options && name == "cd" => {}
                Some(text) if options && text.starts_with('-') => {
                    // `cd -`, `pushd -n`: the stack of directories is not followed.
                    return state.cwd.clear();
                }
                _ => {
                    options = false;
                    operands.push(arg);
                }
            }
        }
        let target = match operands.as_slice() {
            [] if name == "cd" => self.site.home.to_string_lossy().into_owned(),
            [arg] => match arg.exact() {
                Some(text) if name == "cd" || !text.starts_with('+') => text.to_owned(),
                _ => return state.cwd.clear(),
            },
            _ => {
                report.facts.push(Fact::Opaque(format!("`{name}` with words that are not understood")));
                return state.cwd.clear();
            }
        };
        let mut next: Vec<PathBuf> = Vec::new();
        let from = if target.starts_with('/') { vec![PathBuf::from("/")] } else { std::mem::take(&mut state.cwd) };
        for place in from {
            let path = normal(&place.join(&target));
            if !self.inside(&path) {
                report.facts.push(Fact::Read(Place { path: path.clone(), tree: false }));
            }
            if !next.contains(&path) {
                next.push(path);
            }
        }
        state.cwd = next;
    }

    fn declare(&mut self, name: &str, args: &[Arg], state: &mut State, report: &mut Report) {
        let exporting = |arg: &Arg| matches!(arg.exact(), Some(flag) if flag.starts_with('-') && flag.contains('x'));
        let exports = name == "export" || args.iter().any(exporting);
        let shows = matches!(args.first().and_then(Arg::exact), Some("-p" | "-F")) && name != "export";
        if shows && args.iter().skip(1).all(|arg| arg.exact().is_some_and(is_name)) {
            return;
        }
        for arg in args {
            let text = match &arg.word {
                Became::Exact(text) => text.clone(),
                Became::Opaque { prefix, splits: false, .. } if prefix.contains('=') => prefix.clone(),
                _ => {
                    report.facts.push(Fact::Opaque(format!("`{name}` with a word that is not known")));
                    state.vars.clear();
                    continue;
                }
            };
            if text == "--" {
                continue;
            }
            if let Some(flags) = text.strip_prefix('-') {
                // Integers are evaluated again, name references lead elsewhere, functions are code, and
                // `-l` and `-u` change the letters of every later value.
                let harmless = match name {
                    "export" => matches!(flags, "p" | "n"),
                    _ => {
                        !flags.is_empty() && flags.bytes().all(|flag| matches!(flag, b'p' | b'r' | b'g' | b'x' | b't'))
                    }
                };
                if !harmless {
                    report.facts.push(Fact::Opaque(format!("`{name} {text}` changes how the shell reads values")));
                }
                continue;
            }
            let (variable, value) = match text.split_once('=') {
                Some((variable, value)) => (variable.strip_suffix('+').unwrap_or(variable), Some(value)),
                None => (text.as_str(), None),
            };
            if !is_name(variable) {
                report.facts.push(Fact::Opaque(format!("`{name}` with a subscript or an option that is not known")));
                continue;
            }
            let flagged = |letter: char| {
                args.iter().any(|arg| arg.exact().is_some_and(|t| t.starts_with('-') && t.contains(letter)))
            };
            // `local` fails outside of a function, and with `-p` nothing is assigned.
            let fails = name == "local" || flagged('p');
            let known = matches!(&arg.word, Became::Exact(_)).then_some(()).filter(|()| !fails).and(value);
            match meaning(variable) {
                _ if known.is_some_and(|text| calms(variable, &Value::Exact(text.to_owned()))) => {}
                Meaning::Rewires => {
                    report.facts.push(Fact::Opaque(format!("it sets `{variable}`, which decides what runs")))
                }
                Meaning::Setting if exports && value.is_some() => {
                    report.facts.push(Fact::Code(format!("it sets `{variable}` for the programs that follow")));
                }
                _ => {}
            }
            if value.is_some() {
                let value = match known {
                    Some(text) if !text_appends(arg) => Value::Exact(text.to_owned()),
                    _ => Value::Opaque(format!("the value of `{variable}`")),
                };
                state.set(variable, value);
            }
            if name == "readonly" || flagged('r') {
                state.frozen.insert(variable.to_owned());
            }
        }
    }

    /// Builtins that may set variables by name.
    fn forget_by(&mut self, program: &str, args: &[Arg], stdin: &Stdin, state: &mut State) {
        if matches!(program, "set" | "shift" | "getopts") {
            state.positional = None;
        }
        if matches!(program, "eval" | "source" | "." | "trap") {
            state.vars.clear();
            // The script that a virtual environment comes with sets variables and stays where it is.
            let stays = match args.get(1).and_then(Arg::exact) {
                Some(file) if matches!(program, "source" | ".") => {
                    file.ends_with("/bin/activate")
                        && !state.cwd.is_empty()
                        && state.cwd.iter().all(|place| self.inside(&normal(&place.join(file))))
                }
                _ => false,
            };
            if !stays {
                state.cwd.clear();
            }
        }
        // Without `-v`, printf only prints.
        let prints = program == "printf" && args.get(1).and_then(Arg::exact).is_some_and(|text| !text.starts_with('-'));
        if !STATEFUL.contains(&program) || prints {
            return;
        }
        if let ("read", Stdin::Pipe { from, .. }, Some(name)) = (program, stdin, line_reader(args))
            && std::mem::take(&mut self.condition)
            && let Some(Output { prefix, number: false }) = commands::listed(from)
        {
            let pattern = format!("{prefix}**/*");
            return state.set(&name, Value::Pattern { pattern, prefix: prefix.to_owned() });
        }
        for arg in args.get(1..).unwrap_or_default() {
            match arg.exact() {
                Some(text) => set_by(text, |name| state.set(name, Value::Opaque(format!("the value of `{name}`")))),
                None => state.vars.clear(),
            }
        }
    }

    // Assignments.

    fn assign(&mut self, assign: &Assign, alone: bool, for_read: bool, state: &mut State, facts: &mut Vec<Fact>) {
        let name = &assign.name;
        let value = match &assign.value {
            AssignValue::Word(word) => self.value(word, state),
            AssignValue::Array(list) => {
                for word in list {
                    let args = self.words(word, state);
                    // `(["a[$(x)]"]=1)` evaluates its subscript.
                    if args.iter().any(|arg| arg.exact().is_none_or(|text| text.starts_with('['))) {
                        facts.push(Fact::Opaque(format!("the elements of the array `{name}` are not known")));
                    }
                }
                Value::Opaque(format!("the array `{name}`"))
            }
        };
        if let Some(index) = &assign.index
            && (index.is_empty() || !index.bytes().all(|byte| byte.is_ascii_digit()))
        {
            facts.push(Fact::Opaque(format!("the subscript of `{name}` is evaluated as arithmetic")));
        }
        match meaning(name) {
            _ if calms(name, &value) => {}
            Meaning::Harmless if alone || !matches!(value, Value::Opaque(_)) => {}
            Meaning::Setting if alone => {}
            Meaning::Setting if !matches!(value, Value::Opaque(_)) => {
                facts.push(Fact::Code(format!("it sets `{name}` for the program")));
            }
            // `IFS= read -r line` changes how this one builtin splits, and nothing after it.
            Meaning::Rewires if name == "IFS" && !alone && for_read && matches!(value, Value::Exact(_)) => {}
            Meaning::Rewires => facts.push(Fact::Opaque(format!("it sets `{name}`, which decides what runs"))),
            _ => facts.push(Fact::Opaque(format!("the value of `{name}` is not known"))),
        }
        if alone {
            let value = if assign.append || assign.index.is_some() {
                match (state.vars.get(name), &value) {
                    (Some(Value::Exact(before)), Value::Exact(more)) if assign.index.is_none() => {
                        Value::Exact(format!("{before}{more}"))
                    }
                    _ => Value::Opaque(format!("the value of `{name}`")),
                }
            } else {
                value
            };
            state.set(name, value);
        }
    }

    fn assign_name(&mut self, name: &str, span: &Range<usize>) {
        if meaning(name) == Meaning::Rewires {
            self.opaque(span, format!("it sets `{name}`, which decides what runs"));
        }
    }

    // Redirections.

    fn redirects(&mut self, list: &[Redirect], state: &mut State) -> (Vec<Fact>, Option<Stdin>) {
        let mut facts = Vec::new();
        let mut stdin = None;
        for redirect in list {
            if let Fd::Named(name) = &redirect.fd {
                state.vars.insert(name.clone(), Value::Opaque("a descriptor".to_owned()));
                if meaning(name) == Meaning::Rewires {
                    facts.push(Fact::Opaque(format!("it sets `{name}`, which decides what runs")));
                }
            }
            let is_stdin = match (&redirect.fd, redirect.op) {
                (Fd::Number(number), _) => number.trim_start_matches('0').is_empty(),
                (Fd::Default, RedirectOp::Read | RedirectOp::ReadWrite | RedirectOp::DupIn) => true,
                (Fd::Default, RedirectOp::Here | RedirectOp::HereStrip | RedirectOp::HereString) => true,
                _ => false,
            };
            let feeds = match &redirect.target {
                Target::Here(index) => self.here(*index, state),
                Target::Word(word) if redirect.op == RedirectOp::HereString => match self.value(word, state) {
                    Value::Exact(text) => Stdin::Text(text + "\n"),
                    _ => Stdin::Unknown,
                },
                Target::Word(word) => self.redirect_file(redirect, word, state, &mut facts),
            };
            if is_stdin {
                stdin = Some(feeds);
            }
        }
        (facts, stdin)
    }

    fn redirect_file(&mut self, redirect: &Redirect, word: &Word, state: &mut State, facts: &mut Vec<Fact>) -> Stdin {
        let before = self.reports.len();
        let args = self.words(word, state);
        let remote = self.since(before).any(|fact| matches!(fact, Fact::Net(_)));
        let [arg] = args.as_slice() else {
            facts.push(Fact::Opaque("a redirection to no file, or to several".to_owned()));
            return Stdin::Unknown;
        };
        if matches!(word.parts.as_slice(), [Part::Process { .. }]) {
            let argvs: Vec<&[Arg]> = self.outlet.iter().map(Vec::as_slice).collect();
            return Stdin::Pipe { from: commands::feeder(&argvs), remote };
        }
        let dup = matches!(redirect.op, RedirectOp::DupIn | RedirectOp::DupOut);
        if dup {
            match arg.exact() {
                Some(text) if text == "-" || text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit()) => {
                    return if text == "-" { Stdin::None } else { Stdin::Unknown };
                }
                Some(_) if redirect.op == RedirectOp::DupOut && redirect.fd == Fd::Default => {}
                _ => {
                    facts.push(Fact::Opaque("a descriptor that is not a number".to_owned()));
                    return Stdin::Unknown;
                }
            }
        }
        let (reads, writes) = match redirect.op {
            RedirectOp::Read => (true, false),
            RedirectOp::ReadWrite => (true, true),
            _ => (false, true),
        };
        let places = if state.cwd.is_empty() { vec![PathBuf::from(NOWHERE)] } else { state.cwd.clone() };
        for place in &places {
            let site = Site { roots: self.site.roots.clone(), cwd: place.clone(), home: self.site.home.clone() };
            let mut judge = Judge::new(&site, Stdin::None, redirect.span.clone());
            if let Some(text) = arg.exact() {
                let path = judge.resolve(text);
                if path.starts_with("/dev/tcp") || path.starts_with("/dev/udp") {
                    facts.push(Fact::Forbidden(format!("`{text}` is a connection to the network")));
                    continue;
                }
                if writes && is_sink(&path) {
                    continue;
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
                facts.push(Fact::Forbidden("a connection to the network through `/dev/tcp`".to_owned()));
                continue;
            }
            if reads {
                judge.read(arg);
            }
            if writes {
                judge.write(arg);
            }
            for fact in judge.facts {
                let fact = self.placed(fact, place);
                if !facts.contains(&fact) {
                    facts.push(fact);
                }
            }
        }
        match arg.exact() {
            Some("/dev/null") => Stdin::None,
            _ => Stdin::File,
        }
    }

    fn here(&mut self, index: usize, state: &mut State) -> Stdin {
        let heres = Rc::clone(&self.heres);
        let Some(here) = heres.get(index) else { return Stdin::Unknown };
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

    // `[[ … ]]` and arithmetic.

    fn test(&mut self, test: &Test, state: &mut State) {
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
    fn arith(&mut self, parts: &[Part], state: &mut State, span: &Range<usize>) -> bool {
        let mut safe = true;
        let mut sum = Sum::default();
        for part in parts {
            match part {
                Part::Plain(text) | Part::Quoted(text) => safe &= sum.text(text, state),
                Part::Param { param, .. } => {
                    let value = self.param(param, state, span);
                    safe &= is_number(&value, state);
                    safe &= sum.value(matches!(&value, Value::Exact(text) if is_name(text)));
                    // `$n = 5` sets what `n` names.
                    if let Value::Exact(text) = &value
                        && is_name(text)
                    {
                        state.set(text, Value::Number);
                    }
                }
                Part::Arith { parts, .. } => {
                    safe &= self.arith(parts, state, span);
                    safe &= sum.value(false);
                }
                Part::Command { script, .. } => {
                    let value = self.output(script, state);
                    safe &= is_number(&value, state);
                    safe &= sum.value(false);
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

    // Words.

    fn words(&mut self, word: &Word, state: &mut State) -> Vec<Arg> {
        if let [Part::Param { param, quoted: true }] = word.parts.as_slice()
            && param.name == "@"
            && param.op == Op::Plain
            && let Some(args) = state.positional.clone()
        {
            return args.get(1..).unwrap_or_default().to_vec();
        }
        if let [Part::Param { param, quoted: true }] = word.parts.as_slice()
            && param.op == Op::Plain
            && let Ok(index) = param.name.parse::<usize>()
            && let Some(args) = state.positional.clone()
            && let Some(arg) = args.get(index)
        {
            let word = match &arg.word {
                Became::Opaque { prefix, why, .. } => {
                    Became::Opaque { prefix: prefix.clone(), splits: false, why: why.clone() }
                }
                known => known.clone(),
            };
            return vec![Arg { word, span: word_span(&arg.span) }];
        }
        let pieces = self.pieces(&word.parts, state, &word.span);
        words::expand(&pieces, &self.site.home, &word.span)
    }

    fn value(&mut self, word: &Word, state: &mut State) -> Value {
        let pieces = self.pieces(&word.parts, state, &word.span);
        words::single(&pieces, &self.site.home)
    }

    fn pieces(&mut self, parts: &[Part], state: &mut State, span: &Range<usize>) -> Vec<Piece> {
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Part::Plain(text) => out.push(Piece::Plain(text.clone())),
                Part::Quoted(text) => out.push(Piece::Quoted(text.clone())),
                Part::Param { param, quoted } => {
                    let value = self.param(param, state, span);
                    // `"$@"` may be no word at all, or several.
                    let quoted = *quoted && param.name != "@" && param.index.as_deref() != Some("@");
                    out.push(Piece::Value { value, quoted });
                }
                Part::Command { script, quoted, .. } => {
                    let value = self.output(script, state);
                    out.push(Piece::Value { value, quoted: *quoted });
                }
                Part::Arith { parts, quoted } => {
                    let value = if let Some(sum) = constant(parts) {
                        Value::Exact(sum.to_string())
                    } else if self.arith(parts, state, span) {
                        Value::Number
                    } else {
                        Value::Opaque("the result of arithmetic".to_owned())
                    };
                    out.push(Piece::Value { value, quoted: *quoted });
                }
                Part::Process { script, .. } => {
                    let before = self.reports.len();
                    let mut own = state.clone();
                    own.stdin = Stdin::Unknown;
                    self.script(script, &mut own);
                    if self.since(before).any(|fact| matches!(fact, Fact::Net(_))) {
                        self.remote.insert((span.start, span.end));
                    }
                    out.push(Piece::Quoted("/dev/fd/63".to_owned()));
                }
                Part::Array(list) => {
                    for word in list {
                        self.words(word, state);
                    }
                    out.push(Piece::Value { value: Value::Opaque("an array".to_owned()), quoted: true });
                }
            }
        }
        out
    }

    /// What a command substitution gives.
    fn output(&mut self, script: &Script, state: &State) -> Value {
        let mut own = state.clone();
        let last = self.last.clone();
        self.script(script, &mut own);
        self.last = last;
        if let ([item], [cwd]) = (script.items.as_slice(), state.cwd.as_slice())
            && item.rest.is_empty()
            && let [stage] = item.first.stages.as_slice()
            && stage.redirects.is_empty()
            && let Kind::Simple { assigns, words } = &stage.kind
            && assigns.is_empty()
            && let [Word { parts, .. }] = words.as_slice()
            && let [Part::Plain(name)] = parts.as_slice()
            && name == "pwd"
            && let Some(path) = cwd.to_str()
        {
            return Value::Exact(path.to_owned());
        }
        self.printed(script).unwrap_or_else(|| Value::Opaque("the output of a command".to_owned()))
    }

    /// What the only pipeline of `script`, which was just walked, is known to print.
    fn printed(&self, script: &Script) -> Option<Value> {
        let [item] = script.items.as_slice() else { return None };
        let quiet = |stage: &Command| {
            stage.redirects.iter().all(|redirect| match &redirect.fd {
                Fd::Number(number) => number == "2" && redirect.op != RedirectOp::DupOut,
                Fd::Default => redirect.op == RedirectOp::Read,
                Fd::Named(_) => false,
            })
        };
        let plain = |stage: &Command| matches!(&stage.kind, Kind::Simple { assigns, .. } if assigns.is_empty());
        let errors = item.first.both.contains(&true);
        if errors
            || item.background
            || !item.rest.is_empty()
            || !item.first.stages.iter().all(|stage| quiet(stage) && plain(stage))
        {
            return None;
        }
        let stages: Vec<&[Arg]> = self.outlet.iter().map(Vec::as_slice).collect();
        if let [argv] = stages.as_slice() {
            if commands::always_number(argv) {
                return Some(Value::Number);
            }
            if let Some(text) = commands::path_part(argv) {
                return Some(Value::Exact(text));
            }
        }
        commands::listed(&commands::feeder(&stages)).map(Value::Output)
    }

    fn param(&mut self, param: &Param, state: &mut State, span: &Range<usize>) -> Value {
        let subscript = param.index.as_deref();
        if subscript
            .is_some_and(|index| !matches!(index, "@" | "*") && !index.bytes().all(|byte| byte.is_ascii_digit()))
        {
            self.opaque(span, format!("the subscript of `{}` is evaluated as arithmetic", param.name));
        }
        let known = if subscript.is_some() {
            Value::Opaque(format!("an element of `{}`", param.name))
        } else {
            self.variable(&param.name, state)
        };
        match &param.op {
            Op::Plain => known,
            Op::Length => Value::Number,
            Op::Default { kind, word } => {
                let pieces = self.pieces(word, state, span);
                let other = words::single(&pieces, &self.site.home);
                if *kind == '=' {
                    state.vars.insert(param.name.clone(), Value::Opaque(format!("the value of `{}`", param.name)));
                    self.assign_name(&param.name, span);
                }
                match (known, kind) {
                    (Value::Exact(text), '-' | '=' | '?') if !text.is_empty() => Value::Exact(text),
                    (Value::Number, '-' | '=' | '?') => Value::Number,
                    (Value::Exact(text), '+') if !text.is_empty() => other,
                    (known, _) => Value::Opaque(match known {
                        Value::Opaque(why) => why,
                        _ => format!("the value of `{}`", param.name),
                    }),
                }
            }
            Op::Edit(word) => {
                self.pieces(word, state, span);
                if let Value::Exact(text) = &known
                    && let Some(text) = param.raw.strip_prefix(&param.name).and_then(|edit| cut(text, edit))
                {
                    return Value::Exact(text);
                }
                Value::Opaque(format!("a changed value of `{}`", param.name))
            }
            Op::Substring(word) => {
                self.arith_offsets(word, state, span);
                Value::Opaque(format!("a part of `{}`", param.name))
            }
            Op::Evaluate => {
                self.opaque(span, format!("`${{{}}}` evaluates the value of a variable again", param.raw));
                Value::Opaque("a text that was evaluated again".to_owned())
            }
        }
    }

    /// `offset:length`: arithmetic.
    fn arith_offsets(&mut self, parts: &[Part], state: &mut State, span: &Range<usize>) {
        let split: Vec<Part> = parts
            .iter()
            .map(|part| match part {
                Part::Plain(text) => Part::Plain(text.replace(':', " ")),
                Part::Quoted(text) => Part::Quoted(text.replace(':', " ")),
                other => other.clone(),
            })
            .collect();
        self.arith(&split, state, span);
    }

    fn variable(&self, name: &str, state: &State) -> Value {
        match name {
            "?" | "#" | "$" => return Value::Number,
            "!" if state.background => return Value::Number,
            "!" => return Value::Opaque("`$!` without anything in the background".to_owned()),
            "_" => return Value::Opaque("the last word of the command before".to_owned()),
            "0" => return Value::Opaque("the name of the shell".to_owned()),
            _ => {}
        }
        if let Ok(index) = name.parse::<usize>() {
            let arg = state.positional.as_ref().and_then(|args| args.get(index));
            // Names that a command lists: where it lists none, there is no argument.
            let perhaps_none =
                |arg: &&Arg| matches!(&arg.word, Became::Glob { pattern, .. } if pattern.ends_with("**"));
            let arg = arg.filter(|arg| !perhaps_none(arg));
            return arg.map_or_else(
                || Value::Opaque(format!("the argument `${name}`")),
                |arg| values_of(std::slice::from_ref(arg)),
            );
        }
        if let Some(value) = state.vars.get(name) {
            return value.clone();
        }
        match name {
            "HOME" => Value::Exact(self.site.home.to_string_lossy().into_owned()),
            "PWD" => match state.cwd.as_slice() {
                [cwd] => Value::Exact(cwd.to_string_lossy().into_owned()),
                _ => Value::Opaque("the directory is not known".to_owned()),
            },
            "RANDOM" | "SECONDS" | "LINENO" | "PPID" | "UID" | "EUID" | "BASHPID" | "EPOCHSECONDS" => Value::Number,
            _ => Value::Opaque(format!("the value of `{name}`")),
        }
    }
}

enum Program {
    Named(String),
    Workspace(PathBuf),
    Unknown(String),
}

/// Builtins that set variables or the directory.
const STATEFUL: &[&str] = &[
    "cd",
    "pushd",
    "popd",
    "read",
    "mapfile",
    "readarray",
    "printf",
    "getopts",
    "unset",
    "let",
    "wait",
    "shift",
    "set",
    "eval",
    "source",
    ".",
    "trap",
    "exec",
    "alias",
    "unalias",
    "enable",
    "hash",
    "shopt",
];

/// Programs that run text they are given.
const RUNS_TEXT: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "ash",
    "fish",
    "busybox",
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "php",
    "lua",
    "deno",
    "bun",
    "Rscript",
    "osascript",
    "pwsh",
    "tclsh",
    "eval",
    "source",
    ".",
    "env",
    "sudo",
    "xargs",
];

/// The value of arithmetic over literals.
fn constant(parts: &[Part]) -> Option<i64> {
    let [Part::Plain(text) | Part::Quoted(text)] = parts else { return None };
    let mut rest: &[u8] = text.as_bytes();
    let value = sum(&mut rest, 0)?;
    rest.iter().all(u8::is_ascii_whitespace).then_some(value)
}

/// Products that are added and taken off.
fn sum(rest: &mut &[u8], depth: usize) -> Option<i64> {
    let mut value = product(rest, depth)?;
    loop {
        *rest = rest.trim_ascii_start();
        let (sign, behind) = match rest.split_first() {
            Some((sign @ (b'+' | b'-'), behind)) => (*sign, behind),
            _ => return Some(value),
        };
        *rest = behind;
        let next = product(rest, depth)?;
        value = if sign == b'+' { value.checked_add(next)? } else { value.checked_sub(next)? };
    }
}

fn product(rest: &mut &[u8], depth: usize) -> Option<i64> {
    let mut value = literal(rest, depth)?;
    loop {
        *rest = rest.trim_ascii_start();
        let (sign, behind) = match rest.split_first() {
            Some((sign @ (b'*' | b'/' | b'%'), behind)) => (*sign, behind),
            _ => return Some(value),
        };
        *rest = behind;
        let next = literal(rest, depth)?;
        value = match sign {
            b'*' => value.checked_mul(next)?,
            b'/' => value.checked_div(next)?,
            _ => value.checked_rem(next)?,
        };
    }
}

/// A decimal number or what stands in parentheses. A leading zero would be octal.
fn literal(rest: &mut &[u8], depth: usize) -> Option<i64> {
    *rest = rest.trim_ascii_start();
    if let Some(inside) = rest.strip_prefix(b"(") {
        *rest = inside;
        let value = (depth < 32).then(|| sum(rest, depth + 1)).flatten()?;
        *rest = rest.trim_ascii_start().strip_prefix(b")")?;
        return Some(value);
    }
    let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, behind) = rest.split_at_checked(end)?;
    let text = std::str::from_utf8(digits).ok()?;
    *rest = behind;
    let octal = text.len() > 1 && text.starts_with('0');
    let odd = behind.first().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'#' | b'_' | b'.'));
    if octal || odd { None } else { text.parse().ok() }
}

/// `value` with what `edit` cuts off at its start or end: literal text, with `*` at the far side or before it.
fn cut(value: &str, edit: &str) -> Option<String> {
    let (kind, pattern) = edit.split_at_checked(edit.find(|c| c != '#' && c != '%').unwrap_or(edit.len()))?;
    let text = pattern.trim_matches('*');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-');
    if text.is_empty() || !text.chars().all(plain) || !value.chars().all(plain) {
        return None;
    }
    let star = (pattern.strip_suffix(text) == Some("*"), pattern.strip_prefix(text) == Some("*"));
    let whole = pattern == text;
    let kept = match kind {
        "#" | "##" if whole => value.strip_prefix(text).unwrap_or(value),
        "%" | "%%" if whole => value.strip_suffix(text).unwrap_or(value),
        "#" if star.0 => value.split_once(text).map_or(value, |(_, after)| after),
        "##" if star.0 => value.rsplit_once(text).map_or(value, |(_, after)| after),
        "%" if star.1 => value.rsplit_once(text).map_or(value, |(before, _)| before),
        "%%" if star.1 => value.split_once(text).map_or(value, |(before, _)| before),
        _ => return None,
    };
    Some(kept.to_owned())
}

/// Whether the script is one command, which is not turned around.
fn is_one_command(script: &Script) -> bool {
    matches!(script.items.as_slice(), [item]
        if !item.background && item.rest.is_empty() && item.first.stages.len() == 1 && item.first.bangs == 0)
}

/// Programs whose standard input is commands for a database: what is echoed to them is looked at.
const SQL_READERS: &[&str] =
    &["psql", "mysql", "mariadb", "sqlite3", "redis-cli", "mongosh", "mongo", "cqlsh", "clickhouse-client", "sqlplus"];

/// What `echo` or `printf` with words that are known prints.
fn echoed(argv: &[Arg]) -> Option<String> {
    let (program, words) = argv.split_first()?;
    let words: Option<Vec<&str>> = words.iter().map(Arg::exact).collect();
    let words = words.filter(|words| words.first().is_some_and(|first| !first.starts_with('-')))?;
    matches!(program.exact(), Some("echo" | "printf")).then(|| words.join(" ") + "\n")
}

/// The name that `read` gets a whole line for.
fn line_reader(args: &[Arg]) -> Option<String> {
    let words: Option<Vec<&str>> = args.iter().skip(1).map(Arg::exact).collect();
    match words?.as_slice() {
        [name] | ["-r", name] | ["-r", "-d", "", name] | ["-d", "", "-r", name] | ["-rd", "", name]
            if is_name(name) && meaning(name) != Meaning::Rewires =>
        {
            Some((*name).to_owned())
        }
        _ => None,
    }
}

/// A program that only shows, or asks nothing, in the place of one that could do anything.
fn calms(name: &str, value: &Value) -> bool {
    let Value::Exact(value) = value else { return false };
    match name {
        "GIT_PAGER" | "PAGER" | "MANPAGER" | "GH_PAGER" | "SYSTEMD_PAGER" | "AWS_PAGER" | "DELTA_PAGER" => {
            matches!(value.as_str(), "cat" | "")
        }
        "GIT_EDITOR" | "EDITOR" | "VISUAL" | "GIT_SEQUENCE_EDITOR" => matches!(value.as_str(), "true" | ":" | "cat"),
        "GIT_TERMINAL_PROMPT" | "GIT_OPTIONAL_LOCKS" => matches!(value.as_str(), "0" | "false"),
        _ => false,
    }
}

fn is_version(rest: &str) -> bool {
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn is_declaration(name: &str) -> bool {
    matches!(name, "export" | "declare" | "typeset" | "local" | "readonly")
}

/// The names that a word of `read`, `unset` and their kind may set: itself, `NAME=…`, or the rest of a
/// bundle of options (`-ax` is `-a x`).
fn set_by(text: &str, mut set: impl FnMut(&str)) {
    let starts = if text.starts_with('-') { text.len().min(16) } else { 1 };
    for start in 0..starts {
        let name = text.get(start..).and_then(|rest| rest.split(['=', '[', '+']).next()).unwrap_or_default();
        if is_name(name) {
            set(name);
        }
    }
}

fn text_appends(arg: &Arg) -> bool {
    arg.exact().and_then(|text| text.split_once('=')).is_some_and(|(name, _)| name.ends_with('+'))
}

fn word_span(span: &Range<usize>) -> Range<usize> {
    span.clone()
}

/// Whether a shell with these words takes its script from standard input.
fn reads_script_from_stdin(args: &[Arg]) -> bool {
    let name = args.first().and_then(Arg::exact).unwrap_or_default();
    let base = name.rsplit('/').next().unwrap_or_default();
    if matches!(base, "eval" | "source" | "." | "env" | "sudo" | "xargs") {
        return args
            .iter()
            .skip(1)
            .any(|arg| matches!(arg.exact(), Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")));
    }
    let mut skip = false;
    for arg in args.get(1..).unwrap_or_default() {
        if std::mem::take(&mut skip) {
            continue;
        }
        match arg.exact() {
            Some("-" | "-s" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") => return true,
            Some("-o" | "+o" | "-O" | "--rcfile" | "--init-file") => skip = true,
            Some(text) if text.starts_with("--") => {}
            Some(text)
                if text.starts_with('-')
                    && text.contains('s')
                    && matches!(base, "sh" | "bash" | "dash" | "zsh" | "ksh") =>
            {
                return true;
            }
            Some(text)
                if text.starts_with('-')
                    && text.contains(['c', 'e', 'm', 'n', 'p', 'r'])
                    && !matches!(base, "sh" | "bash" | "dash" | "zsh" | "ksh") =>
            {
                return false;
            }
            Some(text) if text.starts_with('-') && text.contains('c') => return false,
            Some(text) if text.starts_with(['-', '+']) => {}
            _ => return false,
        }
    }
    true
}

fn reads_secret(fact: &Fact) -> bool {
    matches!(fact, Fact::Read(target) if crate::classify(&target.path).secret.is_some())
}

/// `path` without `.` and `..`, and without a look at the disk.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            _ => {}
        }
    }
    out
}

fn is_cd(pipeline: &Pipeline) -> bool {
    match pipeline.stages.as_slice() {
        [Command { kind: Kind::Simple { words, .. }, .. }] => match words.first().map(|word| word.parts.as_slice()) {
            Some([Part::Plain(name)]) => name == "cd" || name == "pushd",
            _ => false,
        },
        _ => false,
    }
}

fn name_of(command: &Command) -> String {
    match &command.kind {
        Kind::Simple { words, .. } => {
            let mut name = String::new();
            for part in words.first().map(|word| word.parts.as_slice()).unwrap_or_default() {
                match part {
                    Part::Plain(text) | Part::Quoted(text) => name.push_str(text),
                    _ => return "?".to_owned(),
                }
            }
            name.rsplit('/').next().unwrap_or_default().to_owned()
        }
        Kind::Test(_) => "[[".to_owned(),
        Kind::Arith(_) => "((".to_owned(),
        _ => "a group of commands".to_owned(),
    }
}

fn join_cwd(left: &[PathBuf], right: &[PathBuf]) -> Vec<PathBuf> {
    if left.is_empty() || right.is_empty() {
        return Vec::new();
    }
    let mut out = left.to_vec();
    out.extend(right.iter().filter(|path| !left.contains(path)).cloned());
    if out.len() > 4 { Vec::new() } else { out }
}

/// What holds in all of `states` that are still running.
fn merge(states: Vec<State>) -> Option<State> {
    let all_gone = states.iter().all(|state| state.gone);
    let mut running = states.into_iter().filter(|state| all_gone || !state.gone);
    let mut out = running.next()?;
    for state in running {
        out.cwd = join_cwd(&out.cwd, &state.cwd);
        out.frozen.extend(state.frozen.iter().cloned());
        out.background &= state.background;
        if out.positional != state.positional {
            out.positional = None;
        }
        if out.vars == state.vars {
            continue;
        }
        let names: BTreeSet<String> = out.vars.keys().chain(state.vars.keys()).cloned().collect();
        for name in names {
            let unknown = || Value::Opaque(format!("the value of `{name}`"));
            let joined = match (out.vars.get(&name), state.vars.get(&name)) {
                (Some(left), Some(right)) if left == right => continue,
                (Some(left), Some(right)) if integer(left) && integer(right) => Value::Number,
                _ => unknown(),
            };
            out.vars.insert(name, joined);
        }
    }
    Some(out)
}

fn integer(value: &Value) -> bool {
    match value {
        Value::Number => true,
        Value::Exact(text) => is_integer(text),
        Value::OneOf(texts) => texts.iter().all(|text| is_integer(text)),
        _ => false,
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.len() < 19 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number(value: &Value, state: &State) -> bool {
    match value {
        Value::Output(output) => output.number,
        Value::Exact(text) if is_name(text) => state.vars.get(text).is_some_and(integer),
        value => integer(value),
    }
}

/// Reads one arithmetic expression: only numbers and names of numbers are let through, because the text
/// of any other name is evaluated again.
#[derive(Debug, Default)]
struct Sum {
    depth: usize,
    /// Something of the current part between commas was read.
    begun: bool,
    /// The text so far ends in a name, which what follows may continue.
    name: bool,
    /// Names that certainly get a number, known from the next comma on.
    assigned: Vec<String>,
    /// Names that may get a number.
    doubtful: Vec<String>,
}

impl Sum {
    /// A value in the middle of the expression, and whether it is a name.
    fn value(&mut self, is_name: bool) -> bool {
        let apart = !self.name;
        self.name = is_name;
        self.begun = true;
        apart
    }

    fn text(&mut self, text: &str, state: &mut State) -> bool {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at).copied() {
            let continues = std::mem::take(&mut self.name);
            if byte.is_ascii_alphanumeric() || byte == b'_' {
                let start = at;
                let within = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let number = |byte: &u8| byte.is_ascii_digit();
                let is_number = number(&byte);
                while bytes.get(at).is_some_and(|b| within(b) || is_number && matches!(b, b'#' | b'@')) {
                    at += 1;
                }
                let name = text.get(start..at).unwrap_or_default();
                let rest = text.get(at..).unwrap_or_default();
                if continues || !is_number && !self.word(name, rest, state) {
                    return false;
                }
                self.begun = true;
                continue;
            }
            match byte {
                b'[' | b']' => return false,
                _ if !byte.is_ascii() => return false,
                b'(' => self.depth += 1,
                b')' => self.depth = self.depth.saturating_sub(1),
                b',' if self.depth == 0 => self.end(state),
                _ => {}
            }
            self.begun |= !byte.is_ascii_whitespace() && byte != b',';
            at += 1;
        }
        true
    }

    fn word(&mut self, name: &str, rest: &str, state: &mut State) -> bool {
        self.name = rest.is_empty();
        let rest = rest.trim_start();
        if meaning(name) == Meaning::Rewires {
            return false;
        }
        let known = state.vars.get(name).is_some_and(integer);
        if matches!(state.vars.get(name), Some(Value::Output(output)) if output.number) {
            // Digits or nothing, which is zero here; it may still be nothing where it is a word.
        } else if known {
            state.set(name, Value::Number);
        } else if !rest.starts_with('=') || rest.starts_with("==") {
            return false;
        } else if self.begun || self.depth > 0 {
            self.doubtful.push(name.to_owned());
        } else {
            self.assigned.push(name.to_owned());
        }
        true
    }

    /// The end of the expression, or of a part before a comma.
    fn end(&mut self, state: &mut State) {
        for name in self.doubtful.drain(..) {
            state.set(&name, Value::Opaque(format!("the value of `{name}`")));
        }
        for name in self.assigned.drain(..) {
            state.set(&name, Value::Number);
        }
        self.begun = false;
    }
}

fn values_of(args: &[Arg]) -> Value {
    let mut texts = Vec::new();
    let mut patterns = Vec::new();
    for arg in args {
        match &arg.word {
            Became::Exact(text) => texts.push(text.clone()),
            Became::OneOf(words) => {
                for word in words {
                    match word {
                        Became::Exact(text) => texts.push(text.clone()),
                        _ => return Value::Opaque("one of several words".to_owned()),
                    }
                }
            }
            Became::Glob { pattern, prefix } => patterns.push((pattern.clone(), prefix.clone())),
            Became::Opaque { why, .. } => return Value::Opaque(why.clone()),
        }
    }
    match (texts.len(), patterns.as_slice()) {
        (1, []) => Value::Exact(texts.remove(0)),
        (_, []) => Value::OneOf(texts),
        (0, [(pattern, prefix)]) => Value::Pattern { pattern: pattern.clone(), prefix: prefix.clone() },
        _ => {
            // Several patterns: what they share at their start.
            let starts: Vec<&str> =
                texts.iter().map(String::as_str).chain(patterns.iter().map(|(_, p)| p.as_str())).collect();
            let shared = starts.iter().skip(1).fold(starts.first().copied().unwrap_or_default(), |shared, next| {
                let same = shared.bytes().zip(next.bytes()).take_while(|(a, b)| a == b).count();
                shared.get(..same).unwrap_or_default()
            });
            let absolute = |text: &&str| text.starts_with('/') || text.contains("..");
            if shared.is_empty() && starts.iter().any(absolute) {
                return Value::Opaque("one of several patterns".to_owned());
            }
            let folder = shared.rfind('/').map_or("", |slash| shared.get(..=slash).unwrap_or_default());
            Value::Pattern { pattern: format!("{folder}*"), prefix: folder.to_owned() }
        }
    }
}

/// Variables that `scripts` may set are not known while they run again and again.
fn forget(scripts: &[&Script], state: &mut State) {
    let mut set: BTreeMap<String, bool> = BTreeMap::new();
    let mut anything = false;
    for script in scripts {
        assigned(script, &mut set, &mut anything);
    }
    if anything {
        state.vars.clear();
    }
    for (name, number) in set {
        let value = match state.vars.get(&name) {
            Some(before) if number && integer(before) => Value::Number,
            _ => Value::Opaque(format!("the value of `{name}` changes in the loop")),
        };
        state.vars.insert(name, value);
    }
}

/// Names that a script may set, and whether they only ever get numbers.
fn assigned(script: &Script, out: &mut BTreeMap<String, bool>, anything: &mut bool) {
    for item in &script.items {
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)) {
            for command in &pipeline.stages {
                assigned_by(command, out, anything);
            }
        }
    }
}

fn assigned_by(command: &Command, out: &mut BTreeMap<String, bool>, anything: &mut bool) {
    for redirect in &command.redirects {
        if let Fd::Named(name) = &redirect.fd {
            out.insert(name.clone(), false);
        }
    }
    match &command.kind {
        Kind::Simple { assigns, words } => {
            for assign in assigns {
                let number = match &assign.value {
                    AssignValue::Word(word) => match word.parts.as_slice() {
                        [Part::Arith { .. }] => true,
                        [Part::Plain(text)] => is_integer(text),
                        _ => false,
                    },
                    AssignValue::Array(_) => false,
                } && !assign.append;
                let all = out.entry(assign.name.clone()).or_insert(true);
                *all &= number;
            }
            let name = name_of(command);
            // `printf -v` is never followed, and `cd` sets no variable of the script.
            let sets =
                STATEFUL.contains(&name.as_str()) && !matches!(name.as_str(), "printf" | "cd" | "pushd" | "popd");
            if sets || is_declaration(&name) || matches!(name.as_str(), "command" | "builtin") {
                for word in words.iter().skip(1) {
                    match word.parts.as_slice() {
                        [Part::Plain(text) | Part::Quoted(text)] => set_by(text, |name| {
                            out.insert(name.to_owned(), false);
                        }),
                        [Part::Plain(text) | Part::Quoted(text), ..] if text.contains(['=', '[']) => {
                            set_by(text, |name| {
                                out.insert(name.to_owned(), false);
                            });
                        }
                        _ => *anything = true,
                    }
                }
            }
            for word in words {
                for part in &word.parts {
                    if let Part::Param { param: Param { name, op: Op::Default { kind: '=', .. }, .. }, .. } = part {
                        out.insert(name.clone(), false);
                    }
                }
            }
        }
        Kind::Subshell(script) | Kind::Group(script) => assigned(script, out, anything),
        Kind::If { arms, otherwise } => {
            for (condition, body) in arms {
                assigned(condition, out, anything);
                assigned(body, out, anything);
            }
            if let Some(body) = otherwise {
                assigned(body, out, anything);
            }
        }
        Kind::Loop { condition, body, .. } => {
            assigned(condition, out, anything);
            assigned(body, out, anything);
        }
        Kind::For { name, body, .. } => {
            out.insert(name.clone(), false);
            assigned(body, out, anything);
        }
        Kind::ArithFor { body, .. } => assigned(body, out, anything),
        Kind::Case { arms, .. } => arms.iter().for_each(|arm| assigned(&arm.body, out, anything)),
        Kind::Function { body, .. } | Kind::Coproc { body } => assigned_by(body, out, anything),
        Kind::Arith(_) | Kind::Test(_) => {}
    }
}

/// Whether a function calls itself in a pipe or in the background.
fn is_bomb(name: &str, body: &Command) -> bool {
    fn within(name: &str, script: &Script) -> bool {
        script.items.iter().any(|item| {
            std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)).any(|pipeline| {
                let calls = pipeline.stages.iter().filter(|stage| name_of(stage) == name).count();
                calls > 0 && (item.background || pipeline.stages.len() > 1)
                    || pipeline.stages.iter().any(|stage| inner(name, stage))
            })
        })
    }
    fn inner(name: &str, command: &Command) -> bool {
        match &command.kind {
            Kind::Subshell(script) | Kind::Group(script) => within(name, script),
            Kind::Loop { condition, body, .. } => within(name, condition) || within(name, body),
            Kind::For { body, .. } | Kind::ArithFor { body, .. } => within(name, body),
            Kind::If { arms, otherwise } => {
                arms.iter().any(|(condition, body)| within(name, condition) || within(name, body))
                    || otherwise.as_ref().is_some_and(|body| within(name, body))
            }
            _ => false,
        }
    }
    inner(name, body)
}
