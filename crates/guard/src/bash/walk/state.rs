//! What a command does to the shell itself: its directory, its variables, its builtins.

use std::ops::Range;
use std::path::{Component, PathBuf};
use std::rc::Rc;

use super::super::commands::{self, Printed, SplitAt};
use super::super::fact::{Fact, Target as Place};
use super::super::judge::{Arg, Stdin, Why, Word as Became, normal};
use super::super::names::{Meaning, is_label, meaning, meaning_of};
use super::super::parse::is_name;
use super::super::script::{Assign, AssignValue, Part};
use super::super::words::{self, Output, Start, Value};
use super::arrays::{expands_again, is_written_keyed, may_be_keyed, reads_arrays};
use super::calm::{calms, is_packaged};
use super::dropped::ANY_NAME;
use super::given::Whom;
use super::merge::{COUNTED, PLACES};
use super::shapes::{integer, is_declaration, is_integer, line_reader, loose_reader, set_by, text_appends};
use super::shared::Shared;
use super::sums::{in_sums, is_plain_subscript};
use super::{NESTING, Report, State, Walker, calls, found, search};

/// The directories that a word of `cd` or `pushd` may name, where it is certain to be no option.
fn directories(arg: &Arg, name: &str) -> Option<Vec<String>> {
    let plain = |text: &str| name == "cd" || !text.starts_with('+');
    match &arg.word {
        Became::Exact(text) if plain(text) => Some(vec![text.clone()]),
        Became::OneOf(words) => {
            let exact = |word: &Became| match word {
                Became::Exact(text) if plain(text) && !text.starts_with('-') => Some(text.clone()),
                _ => None,
            };
            words.iter().map(exact).collect()
        }
        _ => None,
    }
}

/// The arguments behind `set`: those that it is given, or the ones before where it only has options.
fn arguments_set(args: &[Arg], state: &State) -> Option<Rc<Vec<Arg>>> {
    let is_option = |arg: &Arg| arg.exact().is_some_and(|text| text.len() > 1 && text.starts_with(['-', '+']));
    match args.iter().position(|arg| arg.exact() == Some("--")) {
        Some(at) if args.iter().take(at).skip(1).all(is_option) => Some(calls::arguments(args.get(at..)?)),
        None if args.len() > 1 && args.iter().skip(1).all(is_option) => state.positional.clone(),
        _ => None,
    }
}

impl<'a> Walker<'a> {
    /// Builtins that change what follows. `true` when nothing is left to judge.
    pub(super) fn builtin(
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
                let before = state.cwd.clone();
                if args.len() > 1 {
                    state.trail.turned();
                }
                state.cwd = state.trail.popped(&before).into();
                state.trail.moved(&before);
                true
            }
            "exit" | "return" => {
                let plain = args.get(1..).unwrap_or_default().iter().all(
                    |arg| !matches!(&arg.word, Became::Exact(text) if !text.bytes().all(|byte| byte.is_ascii_digit())),
                );
                let splits = |arg: &Arg| {
                    matches!(arg.word, Became::Glob { .. } | Became::OneOf(_) | Became::Opaque { splits: true, .. })
                };
                if args.len() > 2 {
                    report.facts.push(Fact::Opaque(format!("`{name}` with several words does not end anything")));
                }
                if args.iter().skip(1).any(splits) {
                    self.may_drop(state);
                }
                if !plain {
                    report.facts.push(Fact::Opaque("an exit code that is not a number".to_owned()));
                }
                // Outside of a function `return` fails, and the script goes on.
                state.gone |= name == "exit" || self.reading.functions.run();
                true
            }
            // More than one number, or none, and the rest of the line is dropped.
            "break" | "continue" | "shift" => {
                let number = |arg: &Arg| arg.exact().is_some_and(is_integer);
                if args.len() > 2 || !args.iter().skip(1).all(number) {
                    self.may_drop(state);
                }
                false
            }
            "exec" => {
                let rest = args.get(1..).unwrap_or_default();
                match rest.first() {
                    None => state.stdin = stdin.clone(),
                    Some(_) if self.nesting >= NESTING => self.opaque(span, "commands that run commands, too deep"),
                    Some(first) if first.exact().is_some_and(|text| !text.starts_with('-')) => {
                        self.count += 1;
                        self.nesting += 1;
                        self.argv(rest.into(), span, state, stdin, Vec::new(), true);
                        self.nesting -= 1;
                        state.gone = true;
                    }
                    Some(_) => report.facts.push(Fact::Opaque("`exec` with an option".to_owned())),
                }
                true
            }
            "let" => {
                let texts: Option<Vec<&str>> = args.iter().skip(1).map(Arg::exact).collect();
                match texts.filter(|texts| texts.iter().all(|text| text.chars().all(in_sums))) {
                    Some(texts) => {
                        for text in texts {
                            self.arith(&[Part::Plain(text.to_owned())], state, span);
                        }
                    }
                    None => {
                        report.facts.push(Fact::Opaque("it evaluates a text that is not known".to_owned()));
                        state.vars.clear();
                    }
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

    pub(super) fn cd(&mut self, name: &str, args: &[Arg], state: &mut State, report: &mut Report) {
        let before = state.cwd.clone();
        let own = state.vars.get("OLDPWD").is_some() || state.vars.lost;
        let back = matches!(args, [only] if only.exact() == Some("-"));
        let followed = match name {
            "cd" if back && !own => {
                state.cwd = state.trail.back(&before).into();
                true
            }
            _ => self.moves(name, args, state, report),
        };
        state.trail.moved(&before);
        match name {
            "pushd" if followed => state.trail.pushed(&before),
            "pushd" => state.trail.turned(),
            _ => {}
        }
    }

    /// `true` where it is a move to one operand, and nothing else.
    fn moves(&mut self, name: &str, args: &[Arg], state: &mut State, report: &mut Report) -> bool {
        let mut operands = Vec::new();
        let mut options = true;
        for arg in args {
            match arg.exact() {
                Some("--") if options => options = false,
                Some("-L" | "-e") if options && name == "cd" => {}
                // Where a link leads is not known: `..` behind `-P` is above that place.
                Some(text) if options && text.starts_with('-') => {
                    // `cd -`, `pushd -n`: the stack of directories is not followed.
                    state.cwd = Shared::default();
                    return false;
                }
                // Behind `--`, too, `-` is the directory before.
                Some(text) if text == "-" || name == "pushd" && text.starts_with('-') => {
                    state.cwd = Shared::default();
                    return false;
                }
                _ => {
                    options = false;
                    operands.push(arg);
                }
            }
        }
        let targets = match operands.as_slice() {
            [] if name == "cd" => vec![self.site.home.to_string_lossy().into_owned()],
            [Arg { word: Became::Glob { pattern, prefix }, .. }] => {
                // What a label ends is the name of a directory.
                let label = pattern.ends_with(words::LABEL) && pattern.starts_with(|c: char| c.is_ascii_alphanumeric());
                let end = if label { "/" } else { "" };
                let place = format!("{}{end}", pattern.replace(words::LABEL, "*"));
                state.cwd = found::below(&state.cwd, &place, prefix).into();
                return true;
            }
            [arg] => match directories(arg, name) {
                Some(targets) => targets,
                None => {
                    state.cwd = Shared::default();
                    return false;
                }
            },
            _ => {
                report.facts.push(Fact::Opaque(format!("`{name}` with words that are not understood")));
                state.cwd = Shared::default();
                return false;
            }
        };
        let mut next: Vec<PathBuf> = Vec::new();
        let from = std::mem::take(&mut state.cwd);
        let root = [PathBuf::from("/")];
        for target in targets {
            let from = if target.starts_with('/') { root.as_slice() } else { from.as_slice() };
            if from.is_empty() {
                return true;
            }
            let paths: Vec<PathBuf> = from.iter().map(|place| normal(&place.join(&target))).collect();
            // Behind a `cd` that may have failed, `cd ..` that leads back may also lead out: what is done there is held
            // to both, and to be there is to do nothing yet.
            let back = target.starts_with("..") && paths.iter().any(|path| self.inside(path));
            for path in paths {
                if path.components().any(|part| part == Component::ParentDir) {
                    // Out of a directory that a pattern finds.
                    return true;
                }
                if !back && !self.inside(&path) {
                    report.facts.push(Fact::Read(Place {
                        path: path.clone(),
                        tree: false,
                        itself: false,
                        redirected: false,
                    }));
                }
                if !next.contains(&path) {
                    next.push(path);
                }
            }
        }
        if next.len() <= PLACES {
            state.cwd = next.into();
        }
        true
    }

    pub(super) fn declare(&mut self, name: &str, args: &[Arg], state: &mut State, report: &mut Report) {
        let keys = self.keys(name, args, state);
        self.names.arrays.declared(args);
        let exporting = |arg: &Arg| matches!(arg.exact(), Some(flag) if flag.starts_with('-') && flag.contains('x'));
        let exports = name == "export" || args.iter().any(exporting);
        let shows = match args.first().and_then(Arg::exact) {
            Some("-p" | "-F") => name != "export",
            // Behind `readonly` and `export` it is no question.
            Some("-f") => matches!(name, "declare" | "typeset"),
            _ => false,
        };
        if shows && args.iter().skip(1).all(|arg| arg.exact().is_some_and(is_name)) {
            if name == "readonly" {
                // With names behind it, `-p` shows nothing: they become readonly.
                state.frozen.extend(args.iter().skip(1).filter_map(Arg::exact).map(str::to_owned));
            }
            return;
        }
        for arg in args {
            let text = match &arg.word {
                Became::Exact(text) => text.clone(),
                Became::Opaque { prefix, splits: false, .. } if prefix.contains('=') => prefix.clone(),
                _ if let Some((variable, values)) = self.one_of_several(name, args, arg) => {
                    state.set(&variable, Value::OneOf(values));
                    continue;
                }
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
                    _ => !flags.is_empty() && flags.bytes().all(|flag| b"prgxtaA".contains(&flag)),
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
            let fails = name == "local" && !self.reading.functions.run() || flagged('p');
            let known = matches!(&arg.word, Became::Exact(_)).then_some(()).filter(|()| !fails).and(value);
            let means = if value.is_some() { meaning_of(variable, known) } else { meaning(variable) };
            match means {
                _ if known.is_some_and(|text| calms(variable, &Value::Exact(text.to_owned()))) => {}
                _ if search::is_ours(arg) => {
                    report.facts.push(self.searches(variable, true));
                    self.names.exported.insert(variable.to_owned());
                }
                Meaning::Rewires => {
                    report.facts.push(Fact::Opaque(format!("it sets `{variable}`, which decides what runs")))
                }
                // Without a value, one that was assigned before.
                Meaning::Setting if exports && args.first().and_then(Arg::exact) != Some("-n") => {
                    report.facts.push(self.names.given.sets(variable, Whom::All));
                    self.names.exported.insert(variable.to_owned());
                    let text = match (value, state.vars.get(variable)) {
                        (None, Some(Value::Exact(text))) => Some(text.as_str()),
                        // What the line never assigned is what every program is given already.
                        (None, None) if !state.vars.lost => Some(""),
                        (None, _) => None,
                        (Some(_), _) => known,
                    };
                    match text {
                        Some(text) => report.facts.extend(self.given(variable, text, state)),
                        // It fails, and nothing is assigned.
                        None if fails => {}
                        None if is_label(variable) => {}
                        None if matches!(&arg.word, Became::Opaque { why, .. } if is_packaged(variable, why)) => {}
                        None => report.facts.push(self.names.given.unknown(variable)),
                    }
                }
                Meaning::Setting
                    if name == "export" && crate::profile::set_for_reading().any(|set| set == variable) =>
                {
                    report.facts.push(Fact::Code(format!("programs are not given `{variable}` any more")));
                }
                _ => {}
            }
            let written_out = matches!(&arg.word, Became::Opaque { why: Why::Array, .. });
            let numeral = matches!(&arg.word, Became::Opaque { why: Why::Number, .. });
            let array = written_out || flagged('a') || flagged('A');
            let plain = matches!(&arg.word, Became::Exact(_)) && value.is_some_and(|text| !text.starts_with('('));
            let list = value.is_some() && !written_out && !plain;
            let given = list && (self.names.arrays.given(variable) || array);
            if array && self.names.arrays.becomes(variable) || given {
                report.facts.push(Fact::Opaque(expands_again(variable)));
            }
            // `-g` sets the one outside of functions, and their own one stays. An array of one kind does not become
            // one of the other, and keeps what it holds.
            let stays = array || flagged('g');
            if value.is_some() {
                let value = match known.filter(|_| !stays) {
                    Some(text) if !text_appends(arg) => Value::Exact(text.to_owned()),
                    None if numeral && !stays && !fails && !text_appends(arg) => Value::Number,
                    _ => Value::unknown(format!("the value of `{variable}`")),
                };
                state.set(variable, value);
            } else if (self.reading.functions.run() || self.nesting > 0) && !matches!(name, "export" | "readonly") {
                // One of its own, which holds nothing, in the place of the one outside.
                state.set(variable, Value::unknown(format!("the function's own `{variable}`")));
            }
            if name == "readonly" || flagged('r') {
                state.frozen.insert(variable.to_owned());
            }
        }
        state.keyed.extend(keys);
    }

    /// Builtins that may set variables by name.
    pub(super) fn forget_by(&mut self, program: &str, args: &[Arg], stdin: &Stdin, state: &mut State) {
        match program {
            "set" => state.positional = arguments_set(args, state),
            "shift" | "getopts" => state.positional = None,
            _ => {}
        }
        // Without a text to run, traps are only shown or taken away.
        if program == "trap" && matches!(args.get(1).and_then(Arg::exact), Some("-" | "" | "-p" | "-l")) {
            return;
        }
        if matches!(program, "eval" | "source" | "." | "trap") {
            state.vars.clear();
            if program == "eval" {
                state.frozen.insert(ANY_NAME.to_owned());
            }
            // The script that a virtual environment comes with sets variables and stays where it is.
            let stays = match args.get(1).and_then(Arg::exact) {
                Some(file) if matches!(program, "source" | ".") && self.finds_programs(file) => true,
                Some(file) if matches!(program, "source" | ".") => {
                    file.ends_with("/bin/activate")
                        && !state.cwd.is_empty()
                        && state.cwd.iter().all(|place| self.inside(&normal(&place.join(file))))
                }
                _ => false,
            };
            if !stays {
                state.strays();
            }
        }
        // Without `-v`, printf only prints.
        let prints = program == "printf" && args.get(1).and_then(Arg::exact).is_some_and(|text| !text.starts_with('-'));
        if !STATEFUL.contains(&program) || prints {
            return;
        }
        let whole = args.iter().any(|arg| arg.exact() == Some(""));
        let apart = if whole { SplitAt::Zeros } else { SplitAt::Lines };
        let reader = || match stdin {
            Stdin::Pipe { printed, .. } if printed.has_no_escapes() => line_reader(args).or_else(|| loose_reader(args)),
            _ => line_reader(args),
        };
        // Only this once.
        let worked = matches!(program, "read") && std::mem::take(&mut self.condition);
        if let ("read", Stdin::Pipe { printed, .. }, Some(name)) = (program, stdin, reader())
            && worked
            && !self.taken.part
            && let Some(Output { start, number: false, .. }) = printed.words(apart)
        {
            // A hash has neither blanks nor an end of a line in it.
            if start == Start::Plain {
                return state.set(&name, Value::Output(Output::starting(start)));
            }
            // A name with the end of a line in it is two lines, and the second may start in any way.
            let pattern = format!("{}**/*", start.text());
            let prefix = if whole { start.text() } else { "" };
            return state.set(&name, Value::Pattern { pattern, prefix: prefix.to_owned() });
        }
        if let ("read", Stdin::Pipe { printed, .. }, Some(name)) = (program, stdin, loose_reader(args))
            && worked
            && !self.taken.part
            && matches!(printed, Printed::Names { .. })
        {
            return state.set(&name, Value::Opaque(Why::Loose));
        }
        // The first word of each line is the hash.
        if worked
            && !self.taken.part
            && let Some((hash, rest)) = self.of_commits(args, stdin)
        {
            rest.iter().for_each(|name| state.set(name, Value::unknown("what git says of a commit")));
            return state.set(&hash, Value::Output(Output::starting(Start::Plain)));
        }
        if program == "read"
            && let Some(names) = self.lists(args, stdin)
        {
            names.into_iter().for_each(|name| state.set(&name, Value::Opaque(Why::Listed)));
            return;
        }
        if reads_arrays(program, args) {
            let mut given = Vec::new();
            for arg in args.iter().skip(1) {
                set_by(arg.exact().unwrap_or_default(), |name| {
                    if self.names.arrays.becomes(name) {
                        given.push((arg.span.clone(), expands_again(name)));
                    }
                });
            }
            given.into_iter().for_each(|(span, why)| self.opaque(&span, why));
        }
        for arg in args.get(1..).unwrap_or_default() {
            match arg.exact() {
                Some(text) => set_by(text, |name| state.set(name, Value::unknown(format!("the value of `{name}`")))),
                None => state.vars.clear(),
            }
        }
        if let Some((name, names)) = self.maps(args, stdin) {
            state.set(&name, names);
        }
    }

    /// What an assignment does; where it may decide what runs, as a word.
    pub(super) fn assign(
        &mut self,
        assign: &Assign,
        alone: bool,
        for_read: bool,
        state: &mut State,
        facts: &mut Vec<Fact>,
    ) -> Option<String> {
        let (name, before) = (&assign.name, facts.len());
        // A number that is too large is a negative one.
        let counted = |index: &String| index.len() > 9 || !index.bytes().all(|byte| byte.is_ascii_digit());
        if state.is_frozen(name) || assign.index.as_ref().is_some_and(counted) {
            self.may_drop(state);
        }
        let then = self.moment();
        self.likely.begin();
        let mut held = None;
        let value = match &assign.value {
            AssignValue::Word(word) => self.value(word, state),
            AssignValue::Array(list) => {
                let mut written = Vec::with_capacity(list.len());
                for word in list {
                    let args = self.words(word, state);
                    facts.extend(self.looked_up(&args, commands::listed_elsewhere, state, &word.span));
                    // `(["a[$(x)]"]=1)` evaluates its subscript.
                    if is_written_keyed(word) && args.iter().any(may_be_keyed) {
                        facts.push(Fact::Opaque(format!("the elements of the array `{name}` are not known")));
                    }
                    written.push((word, args));
                }
                held = self.held(name, &written, assign.append, state).filter(|_| assign.index.is_none());
                Value::unknown(format!("the array `{name}`"))
            }
        };
        self.name_since(then, name);
        self.likely.assigned(name);
        let keyed = assign.index.is_some() && self.is_keyed(name, state);
        if let Some(index) = &assign.index
            && !keyed
            && !is_plain_subscript(index, state)
        {
            facts.push(Fact::Opaque(format!("the subscript of `{name}` is evaluated as arithmetic")));
        }
        if (assign.index.is_some() || matches!(assign.value, AssignValue::Array(_))) && self.names.arrays.becomes(name)
        {
            facts.push(Fact::Opaque(expands_again(name)));
        }
        let written = match &value {
            Value::Exact(text) => Some(text.as_str()),
            _ => None,
        };
        let ours = match &assign.value {
            AssignValue::Word(word) if assign.index.is_none() => self.finds_ours(name, word, assign.append, state),
            _ => false,
        };
        let whom = if alone { Whom::All } else { Whom::One };
        match meaning_of(name, written) {
            _ if calms(name, &value) => {}
            Meaning::Harmless if alone || !matches!(value, Value::Opaque(_)) => {}
            Meaning::Setting if alone && !self.names.exported.contains(name) => {}
            Meaning::Setting if !matches!(value, Value::Opaque(_)) => {
                facts.push(self.names.given.sets(name, whom));
                facts.extend(written.into_iter().flat_map(|text| self.given(name, text, state)));
            }
            // `IFS= read -r line` changes how this one builtin splits, and nothing after it.
            _ if ours => facts.push(self.searches(name, alone)),
            Meaning::Rewires if name == "IFS" && !alone && for_read && matches!(value, Value::Exact(_)) => {}
            Meaning::Rewires => facts.push(Fact::Opaque(format!("it sets `{name}`, which decides what runs"))),
            // Whatever it is.
            _ if is_label(name) => facts.push(self.names.given.sets(name, whom)),
            // What it says are options of the compiler, as the system's list of packages has them.
            _ if matches!(&value, Value::Opaque(why) if is_packaged(name, why)) => {
                facts.push(self.names.given.sets(name, whom));
            }
            _ if alone => facts.push(self.names.given.unknown(name)),
            _ => facts.push(Fact::Opaque(format!("the value of `{name}` is not known"))),
        }
        if alone {
            let value = if assign.append || assign.index.is_some() {
                match (state.vars.get(name), &value) {
                    (Some(Value::Exact(before)), Value::Exact(more)) if assign.index.is_none() => {
                        Value::Exact(format!("{before}{more}"))
                    }
                    // Each element is a number, and what is none is zero.
                    _ if keyed && !assign.append && integer(&value) && self.counts(name, state) => COUNTED,
                    _ => Value::unknown(format!("the value of `{name}`")),
                }
            } else {
                value
            };
            state.set(name, held.unwrap_or(value));
            return None;
        }
        let shown = match &value {
            Value::Exact(text) => text,
            _ => "…",
        };
        // As it is written: what is put behind a value is not that value.
        let sign = if assign.append { "+=" } else { "=" };
        (facts.len() > before).then(|| format!("{name}{sign}{shown}"))
    }

    pub(super) fn assign_name(&mut self, name: &str, span: &Range<usize>) {
        if meaning(name) == Meaning::Rewires {
            self.opaque(span, format!("it sets `{name}`, which decides what runs"));
        } else if crate::profile::set_for_reading().any(|set| set == name) {
            let fact = self.names.given.sets(name, Whom::All);
            self.say(span.clone(), fact);
        }
    }
}

/// Builtins that set variables or the directory.
pub(super) const STATEFUL: &[&str] = &[
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
