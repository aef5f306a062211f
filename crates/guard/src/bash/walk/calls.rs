//! Functions: names that a script itself gives to commands.
//!
//! One is followed where it is certain what its name means: it is defined right in the script, in no branch, and under
//! a name that no table knows, so that it takes the place of nothing that is judged by its name. Then its body is judged
//! at each call, with the words of that call. One that nothing calls, that calls itself, or that may be taken away again
//! stays a question.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::super::commands;
use super::super::fact::Fact;
use super::super::judge::{Arg, Stdin, Word as Became};
use super::super::parse::is_name;
use super::super::script::{Command, Here, Item, Kind, Op, Pipeline, Script, Word};
use super::super::words::Value;
use super::expansions::{called, expansions};
use super::merge::assigned_by;
use super::shapes::is_bomb;
use super::{NESTING, Report, State, VARIABLES, Walker, values};

/// Commands that move the shell to another directory, or may.
const MOVES: &[&str] = &["cd", "pushd", "popd", "eval", "source", ".", "builtin", "command", "?"];
/// Commands behind which the rest of a body is not reached.
const LEAVES: &[&str] = &["return", "exit", "eval", "source", ".", "builtin", "command", "?"];
/// How the command `"$@"` is called: the one that the words of the call are.
pub(super) const PASSED: &str = "$@";
/// What bash calls by itself where a name means nothing.
const CALLED_BY_BASH: &str = "command_not_found_handle";

/// Most functions that are followed: a script has a handful.
const FUNCTIONS: usize = 64;

/// The functions of a script that are certain, and what they do to the shell between them.
#[derive(Debug, Default)]
pub(super) struct Functions {
    bodies: BTreeMap<String, Rc<Command>>,
    /// Those that were called.
    called: BTreeSet<String>,
    /// Those that run, the innermost last.
    running: Vec<String>,
    /// Names that one of them may set.
    sets: BTreeMap<String, bool>,
    /// One of them may set any name.
    sets_any: bool,
    /// One of them may end before its end, having moved.
    strays: (bool, bool),
}

impl Functions {
    /// Whether a function runs.
    pub(super) fn run(&self) -> bool {
        !self.running.is_empty()
    }

    /// What a name stands for, if it is one.
    pub(super) fn body(&self, name: &str) -> Option<Rc<Command>> {
        self.bodies.get(name).map(Rc::clone)
    }

    /// Somebody calls it.
    pub(super) fn is_called(&mut self, name: &str) {
        if self.has(name) {
            self.called.insert(name.to_owned());
        }
    }

    /// Whether one of them may set a variable.
    pub(super) fn may_set(&self, name: &str) -> bool {
        self.sets_any || self.sets.contains_key(name)
    }

    /// Whether there are none.
    pub(super) fn are_none(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Whether a name is that of one.
    pub(super) fn has(&self, name: &str) -> bool {
        self.bodies.contains_key(name)
    }

    /// What they set is not known while they are called again and again.
    pub(super) fn forgotten(&self, state: &mut State) {
        if self.sets_any {
            state.vars.clear();
        }
        for name in self.sets.keys() {
            state.set(name, Value::unknown(format!("the value of `{name}`, which a function sets")));
        }
    }

    /// None yet. What here-documents set may be set again whenever they are read.
    pub(super) fn beside(heres: &[Here]) -> Functions {
        let mut own = Functions::default();
        for here in heres.iter().filter(|here| !here.quoted) {
            expansions(&here.parts, &mut own.sets, &mut own.sets_any);
        }
        own
    }

    fn add(&mut self, name: &str, body: &Command) {
        assigned_by(body, &mut self.sets, &mut self.sets_any);
        self.sets_any |= self.sets.len() > VARIABLES;
        self.strays.0 |= mentions(body, MOVES);
        self.strays.1 |= mentions(body, LEAVES);
        self.bodies.insert(name.to_owned(), Rc::new(body.clone()));
    }
}

/// The function that an item defines on every way, and does nothing else.
fn definition(item: &Item) -> Option<(&str, &Command)> {
    let [Command { kind: Kind::Function { name, body }, redirects, .. }] = item.first.stages.as_slice() else {
        return None;
    };
    let alone = item.rest.is_empty() && !item.background && item.first.bangs == 0 && item.first.timed.is_none();
    let fresh = is_name(name) && name != CALLED_BY_BASH && !commands::is_known(name) && !is_bomb(name, body);
    (alone && fresh && redirects.is_empty()).then_some((name.as_str(), body.as_ref()))
}

/// Whether a simple command in `command`, run by this shell and not by a copy of it, has one of `names`. What has a
/// name that is not known is called `?`.
fn mentions(command: &Command, names: &[&str]) -> bool {
    let script = |script: &Script| any_of(script, names);
    match &command.kind {
        Kind::Simple { words, .. } if words.first().is_some_and(passes_on) => names.contains(&PASSED),
        Kind::Simple { words, .. } => !words.is_empty() && names.contains(&called(command).as_ref()),
        Kind::Subshell(_) | Kind::Arith(_) | Kind::Test(_) => false,
        Kind::Group(body) | Kind::For { body, .. } | Kind::ArithFor { body, .. } => script(body),
        Kind::If { arms, otherwise } => {
            arms.iter().any(|(condition, body)| script(condition) || script(body))
                || otherwise.as_ref().is_some_and(script)
        }
        Kind::Loop { condition, body, .. } => script(condition) || script(body),
        Kind::Case { arms, .. } => arms.iter().any(|arm| script(&arm.body)),
        Kind::Function { body, .. } | Kind::Coproc { body } => mentions(body, names),
    }
}

/// Whether a word is `"$@"`.
fn passes_on(word: &Word) -> bool {
    values::quoted_alone(word).is_some_and(|param| param.name == "@" && param.op == Op::Plain)
}

/// Whether words are known and name nothing that moves the shell or leaves a function.
fn stay(words: &[Arg]) -> bool {
    let moves = |text: &str| MOVES.contains(&text) || LEAVES.contains(&text);
    words.iter().all(|word| word.exact().is_some_and(|text| !moves(text)))
}

/// As [`mentions`], for all commands of a script.
pub(super) fn any_of(script: &Script, names: &[&str]) -> bool {
    let within = |pipeline: &Pipeline| pipeline.stages.iter().any(|stage| mentions(stage, names));
    script.items.iter().any(|item| within(&item.first) || item.rest.iter().any(|(_, next)| within(next)))
}

/// `$1`, `$2`, … of a call. What stands for `$0` is still the shell.
pub(super) fn arguments(args: &[Arg]) -> Rc<Vec<Arg>> {
    let mut out = args.to_vec();
    if let Some(first) = out.first_mut() {
        first.word = Became::Opaque { prefix: String::new(), splits: false, why: "the name of the shell".into() };
    }
    Rc::new(out)
}

impl<'a> Walker<'a> {
    /// Follows the function that an item defines, if it is one to follow.
    pub(super) fn defines(&mut self, item: &Item) -> bool {
        let Some((name, body)) = definition(item).filter(|_| self.reading.functions.bodies.len() < FUNCTIONS) else {
            return false;
        };
        self.reading.functions.add(name, body);
        true
    }

    /// A call, if the words are one.
    pub(super) fn calls(&mut self, args: &Rc<[Arg]>, report: &Report, state: &mut State, stdin: &Stdin) -> bool {
        let Some(name) = args.first().and_then(Arg::exact) else { return false };
        let Some(body) = self.reading.functions.bodies.get(name).map(Rc::clone) else { return false };
        self.reports.push(report.clone());
        self.reading.functions.called.insert(name.to_owned());
        let running = &self.reading.functions.running;
        // Each call reads the body again, so all of them together may read as much as scripts in arguments.
        let left = self.left.text.checked_sub(body.span.len());
        if running.iter().any(|outer| outer == name) || running.len() >= NESTING || left.is_none() {
            let why = format!("the function `{name}` is called while it runs, too deep or too often");
            self.opaque(&report.span, why);
            state.vars.clear();
            state.strays();
            return true;
        }
        self.left.text = left.unwrap_or_default();
        self.reading.functions.running.push(name.to_owned());
        let mut inner = state.clone();
        inner.stdin = stdin.clone();
        inner.positional = Some(arguments(args));
        self.command(&body, &mut inner);
        self.reading.functions.running.pop();
        let passed = mentions(&body, &[PASSED]) && !stay(args.get(1..).unwrap_or_default());
        self.take_over(state, inner);
        if passed {
            state.strays();
        }
        true
    }

    /// What a call leaves behind. `return` may end it anywhere, so whatever any function sets is not known.
    fn take_over(&self, state: &mut State, inner: State) {
        let changed = |name: &&String| state.vars.get(name.as_str()) != inner.vars.get(name.as_str());
        let mut names: BTreeSet<String> = inner.vars.keys().chain(state.vars.keys()).filter(changed).cloned().collect();
        if inner.vars.lost {
            state.vars.clear();
            names.clear();
        }
        self.reading.functions.forgotten(state);
        for name in names {
            let value = Value::unknown(format!("the value of `{name}` behind a function that sets it"));
            state.set(&name, value);
        }
        let (moves, leaves) = self.reading.functions.strays;
        (state.cwd, state.trail) = if moves && leaves { Default::default() } else { (inner.cwd, inner.trail) };
        state.freeze_as(&inner.frozen);
        state.background |= inner.background;
    }

    /// A function is taken away, or may be: what its name means behind this is another program.
    pub(super) fn taken_away(&self, program: &str, args: &[Arg]) -> Option<Fact> {
        let meant = |arg: &Arg| arg.exact().is_none_or(|text| self.reading.functions.bodies.contains_key(text));
        let any = program == "unset" && !self.reading.functions.are_none() && args.iter().skip(1).any(meant);
        any.then(|| Fact::Opaque("it may take away a function that is called by its name".to_owned()))
    }

    /// What was defined and not called: somebody else would call it.
    pub(super) fn uncalled(&mut self, state: &State) {
        let Functions { bodies, called, .. } = std::mem::take(&mut self.reading.functions);
        for (name, body) in bodies.iter().filter(|(name, _)| !called.contains(*name)) {
            self.opaque(&body.span, format!("it defines the function `{name}`, which nothing calls"));
            let mut own = state.clone();
            own.vars.clear();
            own.strays();
            own.positional = None;
            self.command(body, &mut own);
        }
    }
}
