//! What words become: expansion with what is known of variables and of the output of commands.

use std::ops::Range;

use super::super::commands::{self, Printed, SplitAt};
use super::super::fact::Fact;
use super::super::judge::{Arg, Stdin, Why, Word as Became, normal};
use super::super::print::text_of;
use super::super::script::{Command, Fd, Kind, Op, Param, Part, RedirectOp, Script, Word};
use super::super::words::{self, Output, Piece, Start, Value};
use super::arrays::{has_plain_key, may_be_keyed, one_word};
use super::found::is_found;
use super::merge::COUNTED;
use super::shapes::{cut, cut_pattern, is_integer, replaced, values_of};
use super::sums::{constant, is_plain_subscript};
use super::{State, Walker, dropped, numbered};

/// Variables in which bash itself keeps a number.
pub(super) const NUMBERS: &[&str] = &["RANDOM", "SECONDS", "LINENO", "PPID", "UID", "EUID", "EPOCHSECONDS"];

/// The argument at a place, where it is certain which one stands there: each before it is one word.
fn argument(state: &State, index: usize) -> Option<&Arg> {
    nth(state.positional.as_ref()?, index)
}

/// The word at a place, where it is certain which one stands there.
pub(super) fn nth(args: &[Arg], index: usize) -> Option<&Arg> {
    let one = |arg: &Arg| match &arg.word {
        Became::Exact(_) => true,
        // A pattern among them is a name that may fall apart.
        Became::OneOf(words) => words.iter().all(|word| matches!(word, Became::Exact(_))),
        Became::Glob { .. } => false,
        Became::Opaque { splits, .. } => !splits,
    };
    // Where it is no word, the next one stands in its place.
    let stands = |arg: &&Arg| index + 1 == args.len() || !perhaps_none(arg);
    args.iter().take(index).all(one).then(|| args.get(index)).flatten().filter(stands)
}

/// Whether an expansion in double quotes may be no word, or several.
pub(super) fn is_several(param: &Param) -> bool {
    let within = |part: &Part| matches!(part, Part::Param { param, .. } if is_several(param));
    let inner = match &param.op {
        Op::Default { word, .. } | Op::Edit(word) => word.iter().any(within),
        _ => false,
    };
    param.name == "@" || param.index.as_deref() == Some("@") || inner
}

/// What `${name:+word}` becomes where the word is taken. Its quotes still count: `"a b"` is one word there, and `""` is
/// a word, too, which a value by itself would not be.
fn alternative(word: &[Part], becomes: Value) -> Value {
    let bare = word.iter().all(|part| matches!(part, Part::Plain(_)));
    match becomes {
        Value::Exact(text) if bare || !text.is_empty() && !words::has_special(&text) => Value::Exact(text),
        Value::Number => Value::Number,
        Value::Job => Value::Job,
        Value::Shell => Value::Shell,
        _ => Value::unknown("a text of which parts are in quotes"),
    }
}

/// Names that a command lists: where it lists none, there is no word.
pub(super) fn perhaps_none(arg: &Arg) -> bool {
    matches!(&arg.word, Became::Glob { pattern, .. } if pattern.ends_with("**"))
}

/// The one expansion that a word is, in double quotes.
pub(super) fn quoted_alone(word: &Word) -> Option<&Param> {
    let mut meant = word.parts.iter().filter(|part| !matches!(part, Part::Quoted(text) if text.is_empty()));
    match (meant.next(), meant.next()) {
        (Some(Part::Param { param, quoted: true }), None) => Some(param),
        _ => None,
    }
}

/// Whether a script is a single pipeline of simple commands whose errors and whose output go nowhere else.
pub(super) fn is_one_list(script: &Script) -> bool {
    let [item] = script.items.as_slice() else { return false };
    let quiet = |stage: &Command| {
        stage.redirects.iter().all(|redirect| match &redirect.fd {
            Fd::Number(number) => number == "2" && redirect.op != RedirectOp::DupOut,
            Fd::Default => redirect.op == RedirectOp::Read,
            Fd::Named(_) => false,
        })
    };
    let plain = |stage: &Command| matches!(&stage.kind, Kind::Simple { assigns, .. } if assigns.is_empty());
    !item.first.both.contains(&true)
        && !item.background
        && item.rest.is_empty()
        && item.first.stages.iter().all(|stage| quiet(stage) && plain(stage))
}

/// A number that a command prints is none below zero, which a sum may be: with text behind it, too, it is a label.
fn counted(pieces: &mut [Piece], parts: &[Part]) {
    let several = parts.len() > 1;
    for (piece, part) in pieces.iter_mut().zip(parts).filter(|_| several) {
        if let (Piece::Value { value: value @ Value::Number, .. }, Part::Command { .. }) = (piece, part) {
            *value = Value::Output(Output::COUNT);
        }
    }
}

/// The word that stands for itself.
pub(super) fn literal(word: &Word) -> Option<Arg> {
    let text = match word.parts.as_slice() {
        [Part::Quoted(text)] => text,
        [Part::Plain(text)] if words::is_literal(text) => text,
        _ => return None,
    };
    Some(Arg { word: Became::Exact(text.clone()), span: word.span.clone() })
}

impl<'a> Walker<'a> {
    pub(super) fn words(&mut self, word: &Word, state: &mut State) -> Vec<Arg> {
        if let Some(arg) = literal(word) {
            return vec![arg];
        }
        if let Some(param) = quoted_alone(word)
            && param.name == "@"
            && param.op == Op::Plain
            && let Some(args) = state.positional.clone()
            // Without arguments, `"$@"""` may still be one empty word.
            && (args.len() > 1 || word.parts.len() == 1)
        {
            return args.get(1..).unwrap_or_default().to_vec();
        }
        if let Some(param) = quoted_alone(word)
            && param.op == Op::Plain
            && let Ok(index) = param.name.parse::<usize>()
            && let Some(arg) = argument(state, index)
        {
            return vec![one_word(arg)];
        }
        if let Some(param) = quoted_alone(word)
            && let Some(elements) = self.elements(param, state)
            && (!elements.is_empty() || word.parts.len() == 1)
        {
            self.param(param, state, &word.span);
            let here = |arg: Arg| Arg { span: word.span.clone(), ..arg };
            return elements.into_iter().map(here).collect();
        }
        let mut pieces = self.pieces(&word.parts, state, &word.span);
        counted(&mut pieces, &word.parts);
        self.expanded(&pieces, word)
    }

    /// The words that the pieces of `word` become.
    pub(super) fn expanded(&self, pieces: &[Piece], word: &Word) -> Vec<Arg> {
        if words::runs_on(&word.parts) {
            let why = Why::from("a name runs on into what the braces beside it stand for");
            return vec![Arg {
                word: Became::Opaque { prefix: String::new(), splits: true, why },
                span: word.span.clone(),
            }];
        }
        words::expand(pieces, &self.site.home, &word.span)
    }

    pub(super) fn value(&mut self, word: &Word, state: &mut State) -> Value {
        let mut pieces = self.pieces(&word.parts, state, &word.span);
        counted(&mut pieces, &word.parts);
        words::single(&pieces, &self.site.home)
    }

    pub(super) fn pieces(&mut self, parts: &[Part], state: &mut State, span: &Range<usize>) -> Vec<Piece> {
        let mut out = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Part::Plain(text) => out.push(Piece::Plain(text.clone())),
                Part::Quoted(text) => out.push(Piece::Quoted(text.clone())),
                Part::Param { param, quoted } => {
                    let value = self.param(param, state, span);
                    // `"$@"` may be no word at all, or several.
                    let quoted = *quoted && !is_several(param);
                    out.push(Piece::Value { value, quoted });
                }
                Part::Command { script, quoted, .. } => {
                    let value = self.output(script, state);
                    out.push(Piece::Value { value, quoted: *quoted });
                }
                Part::Arith { parts, quoted } => {
                    let value = if let Some(sum) = constant(parts) {
                        Value::Exact(sum.to_string())
                    } else {
                        let certain = self.always_sums(parts, state);
                        if !certain {
                            self.may_drop(state);
                        }
                        let safe = self.arith(parts, state, span);
                        if !certain {
                            self.may_drop(state);
                        }
                        if safe { Value::Number } else { Value::unknown("the result of arithmetic") }
                    };
                    out.push(Piece::Value { value, quoted: *quoted });
                }
                Part::Process { write, script } => {
                    if *write {
                        self.fetched.read_by(script, state);
                    }
                    let before = self.reports.len();
                    let mut own = state.clone();
                    own.keyed.within(script);
                    own.stdin = Stdin::Unknown;
                    self.apart(|walker| walker.script(script, &mut own));
                    if self.since(before).any(|fact| matches!(fact, Fact::Net(_))) {
                        self.fetched.word(span);
                    }
                    out.push(Piece::Quoted("/dev/fd/63".to_owned()));
                }
                Part::Array(list) => {
                    for word in list {
                        let args = self.words(word, state);
                        let keyed = self.names.keyed && has_plain_key(word);
                        if !keyed && args.iter().any(may_be_keyed) {
                            self.opaque(span, "the elements of an array are not known");
                        }
                    }
                    out.push(Piece::Value { value: Value::Opaque(Why::Array), quoted: true });
                }
            }
        }
        out
    }

    /// What a command substitution gives.
    pub(super) fn output(&mut self, script: &Script, state: &State) -> Value {
        let mut own = state.clone();
        own.keyed.within(script);
        let (last, round) = (self.last.clone(), self.round);
        self.apart(|walker| walker.script(script, &mut own));
        self.likely.begin();
        if is_one_list(script) {
            self.likely.told(&self.outlet);
        }
        (self.last, self.round) = (last, round);
        if let ([item], [cwd]) = (script.items.as_slice(), state.cwd.as_slice())
            && item.rest.is_empty()
            && let [stage] = item.first.stages.as_slice()
            && stage.redirects.is_empty()
            && let Kind::Simple { assigns, words } = &stage.kind
            && assigns.is_empty()
            && let [word] = words.as_slice()
            && text_of(word).as_deref() == Some("pwd")
            && let Some(path) = cwd.to_str().filter(|_| !is_found(cwd))
        {
            return Value::Exact(path.to_owned());
        }
        if !state.vars.lost && state.vars.get("TMPDIR").is_none() && self.makes_temporary(script) {
            return Value::Exact(commands::TEMPORARY.to_owned());
        }
        if let Some(path) = self.top_printed(script, state) {
            return Value::Exact(path);
        }
        if let Some(numbers) = numbered::counted(script) {
            return Value::Exact(numbers);
        }
        if self.counts_in_one(script) {
            return Value::Output(Output::NUMBER);
        }
        self.printed(script).unwrap_or_else(|| Value::Opaque(self.told_by(script, state)))
    }

    /// Why what `script`, which was just walked, prints is not known.
    fn told_by(&self, script: &Script, state: &State) -> Why {
        let known = match self.outlet.as_slice() {
            [argv] if is_one_list(script) => commands::prints_kept(argv, |file| {
                !state.cwd.is_empty() && state.cwd.iter().all(|cwd| self.inside(&normal(&cwd.join(file))))
            }),
            _ => None,
        };
        known.unwrap_or_else(|| "the output of a command".into())
    }

    /// Whether `script`, which was just walked, counts what grep finds in one file, which is no option: `grep -c x "$f"`. In
    /// several it would say their names, too.
    fn counts_in_one(&self, script: &Script) -> bool {
        let ([item], [argv]) = (script.items.as_slice(), self.outlet.as_slice()) else { return false };
        let ([stage], [grep, options, pattern, file]) = (item.first.stages.as_slice(), &**argv) else { return false };
        let Kind::Simple { words, .. } = &stage.kind else { return false };
        let one = words.last().and_then(quoted_alone).is_some_and(|param| !is_several(param));
        let known = [grep.clone(), options.clone(), pattern.clone(), grep.with("a")];
        let here =
            matches!(&file.word, Became::Glob { prefix, .. } if prefix.contains('/') && !prefix.starts_with('-'));
        is_one_list(script) && words.len() == 4 && one && here && commands::counts_matches(&known)
    }

    /// Whether `script`, which was just walked, is one `mktemp` that makes something in `/tmp` and says so.
    fn makes_temporary(&self, script: &Script) -> bool {
        let [item] = script.items.as_slice() else { return false };
        let [stage] = item.first.stages.as_slice() else { return false };
        let bare = matches!(&stage.kind, Kind::Simple { assigns, .. } if assigns.is_empty());
        let walked = matches!(self.outlet.as_slice(), [argv] if commands::makes_temporary(argv));
        item.rest.is_empty() && bare && walked
    }

    /// What the only pipeline of `script`, which was just walked, is known to print.
    pub(super) fn printed(&self, script: &Script) -> Option<Value> {
        if !is_one_list(script) {
            return None;
        }
        let stages: Vec<&[Arg]> = self.outlet.iter().map(AsRef::as_ref).collect();
        if let [argv] = stages.as_slice() {
            if commands::always_number(argv) {
                return Some(Value::Number);
            }
            if commands::user_name(argv) {
                return Some(Value::Output(Output::starting(Start::Plain)));
            }
            if let Some(label) = commands::label(argv) {
                let number = commands::is_time(argv);
                return Some(Value::Output(Output { label, number, ..Output::starting(Start::Plain) }));
            }
            if let Some((pattern, prefix)) = commands::last_part(argv).or_else(|| commands::makes_here(argv)) {
                return Some(Value::Pattern { pattern, prefix });
            }
            if let Some(text) = commands::path_part(argv) {
                return Some(Value::Exact(text));
            }
            if let Some((pattern, prefix)) = commands::pattern_above(argv) {
                return Some(Value::Pattern { pattern, prefix });
            }
        }
        let output = Printed::by(&stages, self.site).words(SplitAt::Words)?;
        Some(Value::Output(Output { begins: commands::begins(output, &stages), ..output }))
    }

    pub(super) fn param(&mut self, param: &Param, state: &mut State, span: &Range<usize>) -> Value {
        self.fetched.asked_for(&param.name);
        let subscript = param.index.as_deref();
        let keyed = self.is_keyed(&param.name, state);
        if subscript.is_some_and(|index| !matches!(index, "@" | "*") && !keyed && !is_plain_subscript(index, state)) {
            self.opaque(span, format!("the subscript of `{}` is evaluated as arithmetic", param.name));
        }
        let known = if param.name == "PIPESTATUS"
            && subscript.is_some_and(|index| index.bytes().all(|b| b.is_ascii_digit()))
        {
            // Nothing, where there were fewer.
            Value::Output(Output::NUMBER)
        } else if keyed && subscript.is_some_and(|index| !matches!(index, "@" | "*")) && self.counts(&param.name, state)
        {
            COUNTED
        } else if subscript.is_some() {
            Value::unknown(format!("an element of `{}`", param.name))
        } else {
            self.variable(&param.name, state)
        };
        match &param.op {
            Op::Plain => {
                self.likely.variable(&param.name, None);
                known
            }
            Op::Length => Value::Number,
            Op::Default { kind, word } => {
                let pieces = self.pieces(word, state, span);
                let other = words::single(&pieces, &self.site.home);
                self.likely.variable(&param.name, Some(word));
                if *kind == '?' {
                    self.may_drop(state);
                }
                if *kind == '=' {
                    if state.is_frozen(&param.name) {
                        self.may_drop(state);
                    }
                    state.vars.insert(param.name.clone(), Value::unknown(format!("the value of `{}`", param.name)));
                    self.assign_name(&param.name, span);
                }
                match (known, kind) {
                    (Value::Exact(text), '-' | '=' | '?') if !text.is_empty() => Value::Exact(text),
                    (Value::Number, '-' | '=' | '?') => Value::Number,
                    (Value::Job, '-' | '=' | '?') => Value::Job,
                    (Value::Shell, '-' | '=' | '?') => Value::Shell,
                    // Nothing may be there, and stay.
                    (COUNTED, '-') if matches!(&other, Value::Exact(text) if is_integer(text) && !text.starts_with('-')) => {
                        COUNTED
                    }
                    (Value::Exact(text), '+') if !text.is_empty() => alternative(word, other),
                    (known, _) => Value::Opaque(match known {
                        Value::Opaque(why) => why,
                        _ => format!("the value of `{}`", param.name).into(),
                    }),
                }
            }
            Op::Edit(word) => {
                self.pieces(word, state, span);
                let edit = param.raw.strip_prefix(&param.name).unwrap_or_default();
                let edited = |text: &String| cut(text, edit).or_else(|| replaced(text, edit));
                let all = match &known {
                    Value::Exact(text) => edited(text).map(Value::Exact),
                    Value::OneOf(texts) => texts.iter().map(edited).collect::<Option<_>>().map(Value::OneOf),
                    _ => None,
                };
                if let Some(all) = all {
                    return all;
                }
                if let Value::Pattern { pattern, prefix } = &known
                    && let Some(cut) =
                        param.raw.strip_prefix(&param.name).and_then(|edit| cut_pattern(pattern, prefix, edit))
                {
                    return cut;
                }
                Value::unknown(format!("a changed value of `{}`", param.name))
            }
            Op::Substring(word) => {
                if !dropped::is_plain_cut(word) {
                    self.may_drop(state);
                }
                self.arith_offsets(word, state, span);
                if !dropped::is_plain_cut(word) {
                    self.may_drop(state);
                }
                Value::unknown(format!("a part of `{}`", param.name))
            }
            Op::Evaluate => {
                self.opaque(span, format!("`${{{}}}` evaluates the value of a variable again", param.raw));
                Value::unknown("a text that was evaluated again")
            }
        }
    }

    /// `offset:length`: arithmetic.
    pub(super) fn arith_offsets(&mut self, parts: &[Part], state: &mut State, span: &Range<usize>) {
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

    pub(super) fn variable(&self, name: &str, state: &State) -> Value {
        match name {
            "?" | "#" => return Value::Number,
            "$" => return Value::Shell,
            "!" if state.background => return Value::Job,
            "!" => return Value::unknown("`$!` without anything in the background"),
            "_" => return Value::unknown("the last word of the command before"),
            "0" => return Value::unknown("the name of the shell"),
            _ => {}
        }
        if let Ok(index) = name.parse::<usize>() {
            let arg = argument(state, index);
            let arg = arg.filter(|arg| !perhaps_none(arg));
            return arg.map_or_else(
                || Value::unknown(format!("the argument `${name}`")),
                |arg| values_of(std::slice::from_ref(arg)),
            );
        }
        if let Some(value) = state.vars.get(name) {
            return match value {
                // The first of them.
                Value::List(_) => Value::unknown(format!("the array `{name}`")),
                value => value.clone(),
            };
        }
        match name {
            "HOME" => Value::Exact(self.site.home.to_string_lossy().into_owned()),
            "PWD" => match state.cwd.as_slice() {
                [cwd] if !is_found(cwd) => Value::Exact(cwd.to_string_lossy().into_owned()),
                _ => Value::unknown("the directory is not known"),
            },
            "OLDPWD" if !state.vars.lost => match state.trail.before() {
                Some(old) => Value::Exact(old.to_string_lossy().into_owned()),
                None => Value::unknown("the directory before is not known"),
            },
            "BASHPID" => Value::Shell,
            _ if NUMBERS.contains(&name) => Value::Number,
            _ => Value::unknown(format!("the value of `{name}`")),
        }
    }
}
