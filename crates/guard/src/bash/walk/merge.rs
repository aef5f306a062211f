//! What is known behind branches and loops: only what is so on every way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::super::judge::Stdin;
use super::super::parse::is_name;
use super::super::print::text_of;
use super::super::script::{AssignValue, Command, Fd, Kind, Op, Part, Script, Target, Word};
use super::super::words::{Output, Value};
use super::State;
use super::calls::{self, any_of};
use super::expansions::{arithmetic, called, expansions, names_others, tested};
use super::shapes::{integer, is_declaration, is_integer, set_by};
use super::state::STATEFUL;
use super::sums::changes;
use super::values::{is_several, perhaps_none};
use super::vars::Vars;

/// Most directories that the shell may stand in; each command is judged from all of them.
pub(super) const PLACES: usize = 8;

pub(super) fn join_cwd(left: &[PathBuf], right: &[PathBuf]) -> Vec<PathBuf> {
    if left.is_empty() || right.is_empty() {
        return Vec::new();
    }
    let mut out = left.to_vec();
    out.extend(right.iter().filter(|path| !left.contains(path)).cloned());
    if out.len() > PLACES { Vec::new() } else { out }
}

/// What holds in all of `states` that are still running.
pub(super) fn merge(states: Vec<State>) -> Option<State> {
    // `return` may end a function behind a `readonly`, which lasts.
    let frozen: Vec<_> = states.iter().map(|state| state.frozen.clone()).collect();
    let all_gone = states.iter().all(|state| state.gone);
    let mut running = states.into_iter().filter(|state| all_gone || !state.gone);
    let mut out = running.next()?;
    frozen.iter().for_each(|frozen| out.freeze_as(frozen));
    for state in running {
        out.cwd = join_cwd(&out.cwd, &state.cwd).into();
        out.trail = out.trail.join(&state.trail).into();
        out.background &= state.background;
        out.keyed.meet(&state.keyed);
        if out.positional != state.positional {
            out.positional = None;
        }
        if out.stdin != state.stdin {
            out.stdin = Stdin::Unknown;
        }
        out.vars.lost |= state.vars.lost;
        if out.vars.known == state.vars.known {
            continue;
        }
        let names: BTreeSet<String> = out.vars.keys().chain(state.vars.keys()).cloned().collect();
        for name in names {
            let unknown = || Value::unknown(format!("the value of `{name}`"));
            let joined = match (out.vars.get(&name), state.vars.get(&name)) {
                (Some(left), Some(right)) if left == right => continue,
                (Some(left), Some(right)) if integer(left) && integer(right) => Value::Number,
                (left, right) if counts(left, &out.vars, &name) && counts(right, &state.vars, &name) => COUNTED,
                // Names that a command lists may be none.
                (Some(names), None) if may_be_empty(names) && state.vars.is_unset(&name) => names.clone(),
                (None, Some(names)) if may_be_empty(names) && out.vars.is_unset(&name) => names.clone(),
                _ => unknown(),
            };
            out.vars.insert(name, joined);
        }
    }
    Some(out)
}

/// Digits, or nothing: what counts from nothing on.
pub(super) const COUNTED: Value = Value::Output(Output::NUMBER);

/// Whether an array may have nothing in it, for all that is known.
fn may_be_empty(value: &Value) -> bool {
    matches!(value, Value::List(all) if matches!(all.as_slice(), [only] if perhaps_none(only)))
}

/// Whether a variable with this value is a number wherever one is wanted: what nothing has set is zero there.
pub(super) fn counts(value: Option<&Value>, vars: &Vars, name: &str) -> bool {
    match value {
        None => vars.is_unset(name),
        Some(value) => integer(value) || matches!(value, Value::Output(output) if output.number),
    }
}

/// Variables that `scripts` may set are not known while they run again and again.
pub(super) fn forget(scripts: &[&Script], state: &mut State) {
    let mut set: BTreeMap<String, bool> = BTreeMap::new();
    let mut anything = false;
    for script in scripts {
        assigned(script, &mut set, &mut anything);
    }
    if anything {
        state.vars.clear();
    }
    // The next round has other arguments.
    if scripts.iter().any(|script| {
        any_of(script, &["shift", "set", "eval", "source", ".", "builtin", "command", "?", calls::PASSED])
    }) {
        state.positional = None;
    }
    for (name, number) in set {
        let value = match state.vars.get(&name) {
            Some(before) if number && integer(before) => Value::Number,
            before if number && counts(before, &state.vars, &name) => COUNTED,
            _ => Value::unknown(format!("the value of `{name}` changes in the loop")),
        };
        state.vars.insert(name, value);
    }
}

/// Names that a script may set, and whether they only ever get numbers.
pub(super) fn assigned(script: &Script, out: &mut BTreeMap<String, bool>, anything: &mut bool) {
    for item in &script.items {
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)) {
            for command in &pipeline.stages {
                assigned_by(command, out, anything);
            }
        }
    }
}

pub(super) fn assigned_by(command: &Command, out: &mut BTreeMap<String, bool>, anything: &mut bool) {
    for redirect in &command.redirects {
        if let Fd::Named(name) = &redirect.fd {
            out.insert(name.clone(), false);
        }
        if let Target::Word(word) = &redirect.target {
            expansions(&word.parts, out, anything);
        }
    }
    match &command.kind {
        Kind::Simple { assigns, words } => {
            for assign in assigns {
                let number = match &assign.value {
                    AssignValue::Word(word) => match word.parts.as_slice() {
                        [Part::Arith { .. }] => true,
                        _ => text_of(word).is_some_and(|text| is_integer(&text)),
                    },
                    AssignValue::Array(_) => false,
                } && !assign.append;
                let all = out.entry(assign.name.clone()).or_insert(true);
                *all &= number;
                match &assign.value {
                    AssignValue::Word(word) => expansions(&word.parts, out, anything),
                    AssignValue::Array(list) => list.iter().for_each(|word| expansions(&word.parts, out, anything)),
                }
            }
            let name = called(command);
            // What is run under another name, or read as a script, sets what it likes.
            let again = |word: &Word| {
                text_of(word).is_some_and(|text| {
                    STATEFUL.contains(&text.as_ref())
                        || is_declaration(&text)
                        || matches!(text.as_ref(), "command" | "builtin")
                })
            };
            *anything |= match name.as_ref() {
                // Taken away, none runs.
                "trap" => !words.get(1).and_then(text_of).is_some_and(|text| matches!(text.as_ref(), "-" | "")),
                "?" | "eval" | "source" | "." => true,
                "command" | "builtin" => words.iter().skip(1).any(again),
                _ => false,
            };
            // `cd` sets no variable of the script.
            let prints = name == "printf" && only_prints(words);
            let sets =
                STATEFUL.contains(&name.as_ref()) && !prints && !matches!(name.as_ref(), "cd" | "pushd" | "popd");
            if sets || is_declaration(&name) || matches!(name.as_ref(), "command" | "builtin") {
                for word in words.iter().skip(1) {
                    *anything |= names_others(word);
                    if let Some(text) = text_of(word) {
                        if name == "let" {
                            counted(&word.parts, out);
                        }
                        set_by(&text, |name| {
                            out.insert(name.to_owned(), false);
                        });
                        continue;
                    }
                    match word.parts.as_slice() {
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
                expansions(&word.parts, out, anything);
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
        Kind::For { name, words, body, .. } => {
            words.iter().flatten().for_each(|word| expansions(&word.parts, out, anything));
            out.insert(name.clone(), false);
            assigned(body, out, anything);
        }
        Kind::ArithFor { parts, body } => {
            parts.iter().for_each(|parts| arithmetic(parts, out, anything));
            assigned(body, out, anything);
        }
        Kind::Case { word, arms } => {
            let patterns = arms.iter().flat_map(|arm| &arm.patterns);
            std::iter::once(word).chain(patterns).for_each(|word| expansions(&word.parts, out, anything));
            arms.iter().for_each(|arm| assigned(&arm.body, out, anything));
        }
        Kind::Function { body, .. } | Kind::Coproc { body } => assigned_by(body, out, anything),
        Kind::Arith(parts) => arithmetic(parts, out, anything),
        Kind::Test(test) => tested(test, out, anything),
    }
}

/// Whether `printf` sets no variable, by its words as they are written: the first begins with text that begins no option
/// and no list of words, or is one word in quotes that is no `-v NAME`.
fn only_prints(words: &[Word]) -> bool {
    const MAY_BE_OPTION: [char; 6] = ['-', '{', '~', '*', '?', '['];
    let Some(format) = words.get(1) else { return true };
    let in_quotes = |part: &Part| match part {
        Part::Quoted(_) => true,
        Part::Param { param, quoted } => {
            *quoted && param.index.is_none() && !matches!(param.op, Op::Evaluate) && !is_several(param)
        }
        Part::Command { quoted, .. } | Part::Arith { quoted, .. } => *quoted,
        _ => false,
    };
    // `-vNAME` may be one word, but no name ends so.
    let names_none = || match format.parts.last() {
        Some(Part::Quoted(text)) => !text.ends_with(']') && text.contains(|c: char| !c.is_alphanumeric() && c != '_'),
        _ => false,
    };
    match format.parts.as_slice() {
        [Part::Plain(text), ..] if !text.is_empty() => !text.starts_with(MAY_BE_OPTION),
        [Part::Quoted(text), ..] if !text.is_empty() => !text.starts_with('-'),
        parts => parts.iter().all(in_quotes) && (words.len() == 2 || names_none()),
    }
}

/// Names that arithmetic sets, to a number.
pub(super) fn counted(parts: &[Part], out: &mut BTreeMap<String, bool>) {
    for part in parts {
        match part {
            Part::Plain(text) | Part::Quoted(text) => {
                let within = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let mut rest = text.as_str();
                while let Some(at) = rest.find(within) {
                    let (before, from) = rest.split_at(at);
                    let (name, behind) = from.split_at(from.find(|c| !within(c)).unwrap_or(from.len()));
                    let before = before.trim_end();
                    if is_name(name)
                        && (changes(behind.trim_start()) || before.ends_with("++") || before.ends_with("--"))
                    {
                        out.entry(name.to_owned()).or_insert(true);
                    }
                    rest = behind;
                }
            }
            Part::Arith { parts, .. } => counted(parts, out),
            _ => {}
        }
    }
}
