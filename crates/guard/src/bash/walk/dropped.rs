//! Errors behind which bash drops the rest of what it reads as one, and goes on with the next line: `$((1/0))`, `r=2` of
//! a readonly name, `break 1 2`.
//!
//! Where one may happen, the state of that moment is kept; behind the item, only what is so in all of them is known.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::super::judge::{Arg, Stdin};
use super::super::script::{Op, Part, Script};
use super::super::words::Value;
use super::merge::merge;
use super::shapes::is_integer;
use super::shared::Shared;
use super::{State, Walker};

/// Most states that are kept apart; above it they are merged.
const KEPT: usize = 16;

/// The arguments and the input that an item begins with: no function's own.
type Outer = (Option<Rc<Vec<Arg>>>, Stdin);

/// Names that bash itself holds readonly.
pub(super) const READONLY: &[&str] = &["UID", "EUID", "PPID", "BASHOPTS", "BASH_VERSINFO", "SHELLOPTS"];

/// Stands among readonly names for all of them.
pub(super) const ANY_NAME: &str = "*";

impl State {
    /// Makes readonly what is so elsewhere, too.
    pub(super) fn freeze_as(&mut self, frozen: &Shared<BTreeSet<String>>) {
        if self.frozen != *frozen {
            self.frozen.extend(frozen.iter().cloned());
        }
    }

    /// Whether setting a name may fail.
    pub(super) fn is_frozen(&self, name: &str) -> bool {
        self.frozen.contains(name) || self.frozen.contains(ANY_NAME)
    }
}

impl<'a> Walker<'a> {
    /// An error here may drop the rest of the item.
    pub(super) fn may_drop(&mut self, state: &State) {
        let same =
            |kept: &State| kept.vars == state.vars && kept.place() == state.place() && kept.frozen == state.frozen;
        if state.gone || self.dropped.last().is_some_and(same) {
            return;
        }
        self.dropped.push(state.clone());
        if self.dropped.len() > KEPT {
            self.dropped = merge(std::mem::take(&mut self.dropped)).into_iter().collect();
        }
    }

    /// What a copy of the shell runs: an error ends the copy, and nothing else.
    pub(super) fn apart<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let held = std::mem::take(&mut self.dropped);
        let out = run(self);
        self.dropped = held;
        out
    }

    /// Behind an item, which may have been dropped on its way. With `lasting`, what follows may stand on the same line,
    /// and be dropped, too.
    pub(super) fn rejoin(&mut self, before: &Outer, state: &mut State, lasting: bool) {
        if self.dropped.is_empty() {
            return;
        }
        let back = |kept: &State| {
            let (positional, stdin) = before.clone();
            State { positional, stdin, ..kept.clone() }
        };
        let states: Vec<State> = std::iter::once(state.clone()).chain(self.dropped.iter().map(back)).collect();
        if let Some(merged) = merge(states) {
            *state = merged;
        }
        if lasting {
            self.dropped = merge(std::mem::take(&mut self.dropped)).into_iter().collect();
        } else {
            self.dropped.clear();
        }
    }

    /// The items of a script in the lines that somebody wrote, which another reader of scripts gets as they are.
    pub(super) fn lines(&mut self, script: &Script, state: &mut State) {
        for item in &script.items {
            if self.is_full() {
                return;
            }
            let before = (state.positional.clone(), state.stdin.clone());
            self.item(item, state);
            self.rejoin(&before, state, true);
        }
    }

    /// Whether arithmetic is certain to have a result: decimal numbers that are added, taken off and multiplied, and
    /// divided by numbers that are written out.
    pub(super) fn always_sums(&self, parts: &[Part], state: &State) -> bool {
        let mut reader = Certain::default();
        parts.iter().all(|part| match part {
            Part::Plain(text) | Part::Quoted(text) => reader.text(text, state),
            Part::Param { param, .. } if param.op == Op::Plain && param.index.is_none() => {
                let known = decimal(&self.variable(&param.name, state));
                known && reader.operand(false)
            }
            _ => false,
        }) && reader.behind
            && reader.depth == 0
    }
}

/// Reads sums of which every step is certain.
#[derive(Default)]
struct Certain {
    depth: usize,
    /// An operand was read, so an operator or the end comes next.
    behind: bool,
    /// A `/` or `%` stands before the operand.
    divides: bool,
}

impl Certain {
    fn operand(&mut self, divisor: bool) -> bool {
        let fits = !self.behind && (!self.divides || divisor);
        self.behind = true;
        self.divides = false;
        fits
    }

    fn text(&mut self, text: &str, state: &State) -> bool {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let within = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = if within(first) { rest.find(|c| !within(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
            let (token, behind) = rest.split_at(end);
            let fits = match first {
                '0'..='9' => plain_digits(token) && self.operand(token != "0"),
                _ if within(first) => {
                    let known = state.vars.get(token).map_or_else(|| state.vars.is_unset(token), decimal);
                    known && self.operand(false)
                }
                '(' if !self.behind && !self.divides => {
                    self.depth += 1;
                    true
                }
                ')' if self.behind && self.depth > 0 => {
                    self.depth -= 1;
                    true
                }
                '+' | '-' | '*' | '/' | '%' if self.behind => {
                    self.behind = false;
                    self.divides = matches!(first, '/' | '%');
                    true
                }
                _ => false,
            };
            if !fits {
                return false;
            }
            rest = behind.trim_start();
        }
        true
    }
}

/// Digits that are no octal number and not too many.
fn plain_digits(text: &str) -> bool {
    is_integer(text) && !text.starts_with('-') && (text == "0" || !text.starts_with('0'))
}

fn decimal(value: &Value) -> bool {
    let plain = |text: &String| plain_digits(text.strip_prefix('-').unwrap_or(text));
    match value {
        Value::Number | Value::Job | Value::Shell => true,
        Value::Exact(text) => plain(text),
        Value::OneOf(texts) => texts.iter().all(plain),
        _ => false,
    }
}

/// Whether `${name:offset:length}` takes numbers that are written out, with which nothing can go wrong.
pub(super) fn is_plain_cut(parts: &[Part]) -> bool {
    let [Part::Plain(text) | Part::Quoted(text)] = parts else { return false };
    text.split(':').all(|number| plain_digits(number.trim()))
}
