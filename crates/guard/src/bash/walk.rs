//! Walks a script in the order in which it would run, keeps what is known of the shell's state, and
//! has every simple command judged by the tables.

mod arms;
mod around;
mod arrays;
mod calls;
mod calm;
mod code;
mod declared;
mod descriptors;
mod dropped;
mod expansions;
mod fetched;
mod found;
mod given;
mod input;
mod judged;
mod keyed;
mod likely;
mod listed;
mod merge;
mod named;
mod numbered;
mod posix;
mod redirected;
mod repeat;
mod search;
mod settings;
pub(super) mod shapes;
mod shared;
mod signals;
mod state;
mod strict;
mod sums;
mod tops;
mod trail;
mod traps;
mod values;
mod vars;
mod written;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use super::commands::Printed;
use super::danger::Danger;
use super::fact::{Category, Fact};
use super::finding::Finding;
use super::judge::{Arg, Shell, Site, Stdin, Word as Became, Written};
use super::limits::WALKED;
use super::names::{Meaning, meaning};
use super::script::{Assign, Command, Item, Kind, Part, Pipeline, Program, Script, Word};
use super::words::{Output, Piece, Start, Value};

use arrays::{Arrays, is_keyed};
use calls::Functions;
use descriptors::Descriptors;
use dropped::READONLY;
use fetched::Fetched;
use given::Given;
use keyed::Keyed;
use likely::Likely;
use merge::merge;
use redirected::{may_be_refused, may_fail, perhaps_run};
use repeat::Round;
use shapes::{errors_come, is_bomb, is_declaration, is_one_read, name_of, reads_secret, reads_text, told, values_of};
use shared::Shared;
use trail::Trail;
use vars::Vars;
use written::{REREAD, hinted};

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
#[derive(Debug, Clone)]
pub(super) struct Report {
    /// Its words; empty for what belongs to the script itself.
    pub argv: Rc<[Arg]>,
    /// Variables that it is given and that may decide what runs, as they are written before it.
    pub sets: Vec<String>,
    pub span: Range<usize>,
    pub facts: Vec<Fact>,
    pub findings: Vec<Finding>,
}

impl Report {
    /// Of the command with these words, as far as it is known.
    fn of(argv: Rc<[Arg]>, span: Range<usize>, facts: Vec<Fact>) -> Report {
        Report { argv, sets: Vec::new(), span, facts, findings: Vec::new() }
    }

    /// Of what belongs to no command.
    fn of_the_script(span: Range<usize>, facts: Vec<Fact>) -> Report {
        Report::of(Rc::default(), span, facts)
    }
}

/// What is known of the shell at a point.
#[derive(Debug, Clone)]
struct State {
    vars: Vars,
    /// Where it may be; empty when that is not known.
    cwd: Shared<Vec<PathBuf>>,
    /// Where it was before.
    trail: Shared<Trail>,
    /// `$1`, `$2`, …; `None` when not known.
    positional: Option<Rc<Vec<Arg>>>,
    stdin: Stdin,
    /// `exit` was reached.
    gone: bool,
    /// Names that were made readonly: a later assignment may fail, and the script goes on.
    frozen: Shared<BTreeSet<String>>,
    /// Something was started in the background, so `$!` is a number.
    background: bool,
    /// Arrays whose subscripts are texts.
    keyed: Keyed,
}

impl State {
    /// Notes the value of a variable. The shell itself changes `_` with every command.
    fn set(&mut self, name: &str, value: Value) {
        let known = name != "_" && !self.is_frozen(name);
        let short = !matches!(&value, Value::Exact(text) if text.len() > VALUE);
        let value = if known && short { value } else { Value::unknown(format!("the value of `{name}`")) };
        if self.vars.len() >= VARIABLES {
            self.vars.clear();
        }
        self.vars.insert(name.to_owned(), value);
    }
}

/// Collects reports.
pub(super) struct Walker<'a> {
    site: &'a Site,
    reading: Reading,
    pub reports: Vec<Report>,
    nesting: usize,
    left: Left,
    names: Names,
    /// What came from the network.
    fetched: Fetched,
    descriptors: Descriptors,
    /// A variable holds what was read from a secret.
    secret_held: bool,
    /// Files that the redirections of the pipeline empty before it begins.
    emptied: Vec<PathBuf>,
    /// What the text has put into files.
    written: Rc<Written>,
    /// The next command is all of the condition of a `while`: behind it, it worked.
    condition: bool,
    round: Round,
    /// What else has read from standard input.
    taken: input::Taken,
    /// The words of each stage of the last pipeline, where they are known.
    outlet: Vec<Rc<[Arg]>>,
    likely: Likely,
    /// The program of the last command of the last pipeline.
    pub last: Option<String>,
    /// Where the reports of the last simple command begin, behind those of what its words run.
    own: usize,
    /// Simple commands seen.
    pub count: usize,
    /// Where the current item may have ended with an error, behind which the next one runs.
    dropped: Vec<State>,
    /// What is set behind each of its traps.
    later: traps::Later,
    /// Where the next command fails, the script ends.
    works: bool,
    /// Whether directories that are there now are taken to be there later: not (`None`), and if so, whether it mattered.
    stands: Option<bool>,
}

/// The script that is walked. Another one in an argument takes its place for as long as that is walked.
struct Reading {
    /// It, with its here-documents.
    program: Rc<Program>,
    /// Who reads it.
    shell: Shell,
    functions: Functions,
}

impl Reading {
    fn of(program: Rc<Program>, shell: Shell) -> Reading {
        Reading { functions: Functions::beside(&program.heres), program, shell }
    }
}

/// How much more is looked at.
struct Left {
    /// Bytes of what the text has put into files.
    written: usize,
    /// Bytes of scripts in arguments, and of functions that are called.
    text: usize,
    /// The script has too much in it: what follows is not looked at.
    full: bool,
}

/// What is known of the names of variables, whatever they hold.
struct Names {
    /// Programs see them: setting one again gives it to them.
    exported: BTreeSet<String>,
    /// What was said of those that programs are given.
    given: Given,
    /// What declarations would take for lists.
    arrays: Arrays,
    /// The word belongs to a declaration of arrays whose subscripts are texts.
    keyed: bool,
    /// Lists of directories that were set for all that follows, and behind which report.
    searched: Vec<(usize, String)>,
}

impl<'a> Walker<'a> {
    pub fn new(site: &'a Site, program: Rc<Program>) -> Walker<'a> {
        Walker {
            site,
            reading: Reading::of(program, Shell::Bash),
            reports: Vec::new(),
            nesting: 0,
            left: Left { written: REREAD, text: NESTED, full: false },
            names: Names {
                exported: crate::profile::set_for_reading().map(str::to_owned).collect(),
                given: Given::default(),
                arrays: Arrays::default(),
                keyed: false,
                searched: Vec::new(),
            },
            fetched: Fetched::default(),
            descriptors: Descriptors::default(),
            secret_held: false,
            emptied: Vec::new(),
            written: Rc::default(),
            condition: false,
            round: Round::default(),
            taken: input::Taken::default(),
            outlet: Vec::new(),
            likely: Likely::default(),
            last: None,
            own: 0,
            count: 0,
            dropped: Vec::new(),
            later: traps::Later::new(),
            works: false,
            stands: None,
        }
    }

    /// Walks a whole script as `bash -c` starts it.
    pub fn run(&mut self, script: &Script) {
        let mut state = State {
            vars: Vars::default(),
            cwd: vec![self.site.cwd.clone()].into(),
            trail: Trail::begins().into(),
            positional: None,
            stdin: Stdin::None,
            gone: false,
            frozen: READONLY.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>().into(),
            background: false,
            keyed: Keyed::of(script),
        };
        for name in &self.site.given {
            state
                .vars
                .insert(name.clone(), Value::unknown(format!("the value of `{name}`, which the environment has")));
        }
        self.later = traps::later(script);
        let strict = strict::begins(script);
        for (at, item) in script.items.iter().enumerate() {
            if self.is_full() {
                break;
            }
            if !self.defines(item) {
                let before = (state.positional.clone(), state.stdin.clone());
                let own = !["set", "cd"].iter().any(|name| self.reading.functions.has(name));
                self.works = own && strict.is_some_and(|from| from < at) && strict::is_lone_cd(item);
                self.item(item, &mut state);
                self.rejoin(&before, &mut state, false);
            }
        }
        self.uncalled(&state);
        self.forgive_exports();
        self.gives_searched();
        if self.secret_held
            && self.reports.iter().any(|report| report.facts.iter().any(|fact| matches!(fact, Fact::Net(_))))
        {
            self.say(
                0..0,
                Fact::Forbidden(
                    Danger::Secret,
                    "what a secret file holds is kept and the network is reached".to_owned(),
                ),
            );
        }
    }

    fn say(&mut self, span: Range<usize>, fact: Fact) {
        self.reports.push(Report::of_the_script(span, vec![fact]));
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
        if !self.left.full && (self.reports.len() > REPORTS || self.count > WALKED) {
            self.left.full = true;
            self.say(0..0, Fact::Misparse("the script is too large to analyse to its end".to_owned()));
        }
        self.left.full
    }

    fn item(&mut self, item: &Item, state: &mut State) {
        if item.background {
            let mut own = state.clone();
            own.stdin = Stdin::None;
            self.apart(|walker| walker.and_or(item, &mut own));
            state.background = true;
        } else {
            self.and_or(item, state);
        }
    }

    fn and_or(&mut self, item: &Item, state: &mut State) {
        if item.rest.is_empty() {
            // Alone it changes only where the script goes on if it fails.
            let before = state.place();
            let works = std::mem::take(&mut self.works);
            self.pipeline(&item.first, state);
            if state.place() != before && !works && !self.arrives(&before, &item.first, state) {
                let failed = state.failed(&before, &item.first);
                if failed.place() != state.place()
                    && let Some(merged) = merge(vec![failed, state.clone()])
                {
                    *state = merged;
                }
            }
            return;
        }
        // Where the script goes on when a link of the chain fails.
        let mut failed: Vec<State> = Vec::new();
        let before = state.clone();
        self.pipeline(&item.first, state);
        failed.extend(self.fails(&before, state, &item.first));
        for (and, pipeline) in &item.rest {
            if self.is_full() {
                break;
            }
            if *and {
                let before = state.clone();
                self.pipeline(pipeline, state);
                failed.extend(self.fails(&before, state, pipeline));
            } else {
                let worked = state.clone();
                *state = merge(std::mem::take(&mut failed)).unwrap_or_else(|| worked.clone());
                let before = state.clone();
                self.pipeline(pipeline, state);
                failed.extend(self.fails(&before, state, pipeline));
                failed.push(worked);
            }
        }
        if failed.iter().any(|other| other.differs(state)) {
            failed.push(state.clone());
            if let Some(merged) = merge(failed) {
                *state = merged;
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, state: &mut State) {
        let (start, then) = (self.reports.len(), self.moment());
        let several = pipeline.stages.len() > 1;
        let (outer, mut read) = (std::mem::take(&mut self.emptied), BTreeSet::new());
        let mut argvs: Vec<Rc<[Arg]>> = Vec::new();
        let mut hint = None;
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
                    let argvs: Vec<&[Arg]> = argvs.iter().map(AsRef::as_ref).collect();
                    let remote = self.passes_on(then, argvs.first(), &state.stdin);
                    own.stdin = match (argvs.as_slice(), name_of(stage)) {
                        ([argv], reader) if !remote && reads_text(argv, &reader).is_some() => {
                            reads_text(argv, &reader).unwrap_or_default()
                        }
                        _ => {
                            let told = told(&argvs).or_else(|| self.passed_on(pipeline.stages.get(..index)?));
                            // An error quotes whatever names the command was given.
                            let errs = errors_come(pipeline, index);
                            let printed = if errs { Printed::Anything } else { Printed::by(&argvs, self.site) };
                            Stdin::Pipe {
                                printed,
                                remote,
                                told: told.filter(|_| !errs),
                                hint: self.hint(&argvs, state).or(hint.clone()),
                            }
                        }
                    };
                }
                let (outer, round) = (self.taken, self.round);
                if index > 0 {
                    self.taken = input::Taken::default();
                }
                self.apart(|walker| walker.command(stage, &mut own));
                self.round = round;
                if index > 0 {
                    self.taken = outer;
                }
            }
            let simple = matches!(stage.kind, Kind::Simple { .. });
            self.reads_since(if simple { self.own.max(before) } else { before }, state, &mut read);
            let own = self.reports.get(self.own.max(before)..).unwrap_or_default().iter();
            let own = own.filter(|report| simple && !report.argv.is_empty()).find(|report| report.span == stage.span);
            // One that reads something else passes on nothing of what stands before it.
            let passes = index == 0 || !stage.redirects.iter().any(shapes::is_input);
            let own = own.filter(|_| passes);
            hint = match own {
                Some(report) => hinted(&report.argv, hint),
                None => self.printed_since(before),
            };
            argvs.push(own.map(|report| Rc::clone(&report.argv)).unwrap_or_default());
            name_of(stage).as_ref().clone_into(self.last.get_or_insert_default());
        }
        self.outlet = argvs;
        self.reads_what_is_empty(pipeline, &read);
        self.emptied = outer;
        self.files_since(then);
        self.read_since(then);
        let reads = self.since(start).any(reads_secret);
        if reads && self.since(start).any(|fact| matches!(fact, Fact::Net(_))) {
            let span = pipeline.stages.first().map_or(0..0, |stage| stage.span.clone());
            self.say(
                span,
                Fact::Forbidden(
                    Danger::Secret,
                    "a secret file is read and the network is reached in one pipeline".to_owned(),
                ),
            );
        }
    }

    fn since(&self, start: usize) -> impl Iterator<Item = &Fact> {
        self.reports.get(start..).unwrap_or_default().iter().flat_map(|report| report.facts.iter())
    }

    // Commands.

    fn command(&mut self, command: &Command, state: &mut State) {
        // Where it may not be run at all, what was known before it holds as well.
        let before = (may_fail(&command.redirects) || may_be_refused(command, state)).then(|| state.clone());
        self.looks_at_redirects(command);
        if let Kind::Simple { assigns, words } = &command.kind {
            self.simple(command, assigns, words, state);
            return before.into_iter().for_each(|before| perhaps_run(before, state));
        }
        let outer = state.stdin.clone();
        let (facts, stdin) = self.redirects(&command.redirects, state);
        let taken = stdin.is_some().then(|| std::mem::take(&mut self.taken));
        let files = written::redirected_to(&facts);
        if !facts.is_empty() {
            self.reports.push(Report::of_the_script(command.span.clone(), facts));
        }
        if let Some(stdin) = stdin {
            state.stdin = stdin;
        }
        let inside = self.reports.len();
        self.compound(command, state);
        self.keeps_printed(inside, files);
        match taken {
            Some(taken) => {
                state.stdin = outer;
                self.taken = taken;
            }
            // `exec` may have put something else in its place.
            None if state.stdin != outer => state.stdin = Stdin::Unknown,
            None => {}
        }
        before.into_iter().for_each(|before| perhaps_run(before, state));
    }

    fn compound(&mut self, command: &Command, state: &mut State) {
        match &command.kind {
            Kind::Simple { .. } => {}
            Kind::Subshell(script) => {
                let mut own = state.clone();
                own.keyed.within(script);
                let round = self.round;
                self.apart(|walker| walker.script(script, &mut own));
                self.round = round;
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
                walker.condition = !until && is_one_read(condition);
                walker.script(condition, state);
                walker.condition = false;
                walker.script(body, state);
            }),
            Kind::For { name, words, body, select } => {
                if *select {
                    self.opaque(&command.span, "`select` takes its choice from standard input");
                }
                let then = self.moment();
                let values = self.loop_values(words.as_deref(), state);
                self.name_since(then, name);
                self.assign_name(name, &command.span);
                let name = name.clone();
                self.repeat(&[body], state, |walker, state| {
                    state.set(&name, values.clone());
                    walker.script(body, state);
                });
                state.set(&name, Value::unknown("the variable of a loop"));
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
            Kind::Case { word, arms } => self.case(word, arms, state),
            Kind::Function { name, body } => {
                if is_bomb(name, body) {
                    let why = format!("`{name}` starts copies of itself without end");
                    self.say(command.span.clone(), Fact::Destroys(Category::System, why.clone()));
                    self.say(command.span.clone(), Fact::Forbidden(Danger::Copies, why));
                }
                self.opaque(&command.span, format!("it defines the function `{name}`"));
                let mut own = state.clone();
                own.vars.clear();
                own.strays();
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

    fn loop_values(&mut self, list: Option<&[Word]>, state: &mut State) -> Value {
        if let Some([word]) = list
            && self.numbers_elements(word)
        {
            self.words(word, state);
            return Value::Number;
        }
        let args: Vec<Arg> = match list {
            Some([word]) if matches!(word.parts.as_slice(), [Part::Command { quoted: false, .. }]) => {
                let pieces = self.pieces(&word.parts, state, &word.span);
                // Each of them is one: where there is none, there is no round.
                if let [Piece::Value { value: Value::Output(Output { number: true, .. }), .. }] = pieces.as_slice() {
                    return Value::Output(Output::COUNT);
                }
                self.expanded(&pieces, word)
            }
            Some(list) => list.iter().flat_map(|word| self.words(word, state)).collect(),
            None => match &state.positional {
                Some(args) => args.get(1..).unwrap_or_default().to_vec(),
                None => return Value::unknown("the arguments of the script"),
            },
        };
        // Hashes have no blanks to fall apart at.
        if let (Some([Word { parts, .. }]), [Arg { word: Became::Glob { pattern, .. }, .. }]) = (list, args.as_slice())
            && matches!(parts.as_slice(), [Part::Command { quoted: false, .. } | Part::Param { quoted: true, .. }])
            && pattern == "0**"
        {
            return Value::Output(Output::starting(Start::Plain));
        }
        values_of(&args)
    }

    // Simple commands.

    fn simple(&mut self, command: &Command, assigns: &[Assign], list: &[Word], state: &mut State) {
        self.count += 1;
        let start = self.reports.len();
        let mut args: Vec<Arg> = Vec::with_capacity(list.len());
        // What one word becomes, and empty again behind it.
        let mut became: Vec<Arg> = Vec::new();
        for word in list {
            let then = self.moment();
            self.likely.begin();
            if args.first().and_then(Arg::exact).is_some_and(is_declaration) {
                let bare = list.first().is_some_and(|first| matches!(first.parts.as_slice(), [Part::Plain(_)]));
                self.names.keyed = bare && args.len() == 2 && is_keyed(&args);
                became.append(&mut self.declared(word, bare, state));
                self.names.keyed = false;
            } else if let Some(arg) = values::literal(word) {
                became.push(arg);
            } else {
                let mut words = self.numbered(&args, word, state).unwrap_or_else(|| self.words(word, state));
                became.append(&mut words);
            }
            self.words_since(then, &became);
            if shapes::may_be_operators(&args, word, &became) {
                self.say(
                    command.span.clone(),
                    Fact::Opaque("a word of the condition may become several; put it into quotes".to_owned()),
                );
            }
            self.likely.word(word);
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
        let one = |assign: &Assign| self.assign(assign, alone, reads_with, state, &mut facts);
        let sets: Vec<String> = assigns.iter().filter_map(one).collect();
        let (mut redirect_facts, redirected) = self.redirects(&command.redirects, state);
        facts.append(&mut redirect_facts);
        let outer = redirected.is_some().then(|| std::mem::take(&mut self.taken));
        let stdin = redirected.unwrap_or_else(|| match &state.stdin {
            // The rest of a text is another text.
            Stdin::Text(_) if self.taken != input::Taken::default() => Stdin::Unknown,
            whole => whole.clone(),
        });
        let stdin = if reads_with { input::cut_at(assigns, stdin) } else { stdin };
        self.keeps(&args, &facts, &stdin, state);
        if outer.is_none() && !args.is_empty() {
            let follows = args.first().and_then(Arg::exact).is_some_and(|name| self.reading.functions.has(name));
            self.taken.by(&args, follows);
        }
        if alone && self.since(start).any(reads_secret) && !assigns.is_empty() {
            self.secret_held = true;
        }
        if args.is_empty() {
            self.taken = outer.unwrap_or(self.taken);
            if !facts.is_empty() || !list.is_empty() || !command.redirects.is_empty() {
                self.reports.push(Report::of_the_script(command.span.clone(), facts));
            }
            self.own = self.reports.len();
            return;
        }
        let own = self.reports.len();
        // A function sees them as its own, and `readonly` and `export` keep them.
        let unknown = |state: &mut State| {
            assigns.iter().for_each(|one| state.set(&one.name, Value::unknown(format!("the value of `{}`", one.name))));
        };
        let before = state.place();
        unknown(state);
        self.argv(args.into(), &command.span, state, &stdin, facts, false);
        self.installs_where_told(own, &sets);
        if !self.means_nothing(own, assigns) {
            self.reports.iter_mut().skip(own).for_each(|report| report.sets.extend_from_slice(&sets));
        }
        unknown(state);
        self.round.moved |= state.place() != before;
        if let Some(outer) = outer {
            self.taken = outer;
        }
        // Inside backticks every command has the same place, so the place does not say which report is its own.
        self.own = own;
    }
}
