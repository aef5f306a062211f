//! Arithmetic, as far as it is known beforehand, and what it may evaluate.

use super::super::names::{Meaning, meaning};
use super::super::parse::is_name;
use super::super::script::Part;
use super::super::words::Value;
use super::shapes::{integer, is_integer, is_sum};
use super::{State, values};

/// The value of arithmetic over literals.
pub(super) fn constant(parts: &[Part]) -> Option<i64> {
    let [Part::Plain(text) | Part::Quoted(text)] = parts else { return None };
    let mut rest: &[u8] = text.as_bytes();
    let value = sum(&mut rest, 0)?;
    rest.iter().all(u8::is_ascii_whitespace).then_some(value)
}

/// Characters of sums that hold nothing but names, numbers and operators.
pub(super) fn in_sums(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_ =+-*/%()<>!&|^~?:,".contains(c)
}

/// Products that are added and taken off.
pub(super) fn sum(rest: &mut &[u8], depth: usize) -> Option<i64> {
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

pub(super) fn product(rest: &mut &[u8], depth: usize) -> Option<i64> {
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
pub(super) fn literal(rest: &mut &[u8], depth: usize) -> Option<i64> {
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

/// Whether a subscript is a number, or the name or value of a variable that holds one: evaluated, it runs nothing.
pub(super) fn is_plain_subscript(index: &str, state: &State) -> bool {
    let index = index.strip_prefix('"').and_then(|index| index.strip_suffix('"')).unwrap_or(index);
    let name = index.strip_prefix('$').unwrap_or(index);
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    is_integer(index) || is_name(name) && state.vars.get(name).is_some_and(integer)
}

/// Whether a name with this behind it gets another value.
pub(super) fn changes(rest: &str) -> bool {
    let operator = rest.trim_start_matches(['+', '-', '*', '/', '%', '<', '>', '&', '^', '|']);
    let compared = rest.starts_with("==") || matches!(rest.get(..2), Some("<=" | ">="));
    operator.starts_with('=') && !compared || rest.starts_with("++") || rest.starts_with("--")
}

/// Reads one arithmetic expression: only numbers and names of numbers are let through, because the text
/// of any other name is evaluated again.
#[derive(Debug, Default)]
pub(super) struct Sum {
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
    pub(super) fn value(&mut self, is_name: bool) -> bool {
        let apart = !self.name;
        self.name = is_name;
        self.begun = true;
        apart
    }

    pub(super) fn text(&mut self, text: &str, state: &mut State) -> bool {
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

    pub(super) fn word(&mut self, name: &str, rest: &str, state: &mut State) -> bool {
        self.name = rest.is_empty();
        let rest = rest.trim_start();
        // What bash itself keeps a number in, until something is set there.
        if values::NUMBERS.contains(&name) && state.vars.get(name).is_none() && !changes(rest) {
            return true;
        }
        if meaning(name) == Meaning::Rewires {
            return false;
        }
        let known = state.vars.get(name).is_some_and(integer);
        if matches!(state.vars.get(name), Some(Value::Output(output)) if is_sum(output, state)) {
            // Digits or nothing, which is zero here; it may still be nothing where it is a word.
        } else if known {
            state.set(name, Value::Number);
        } else if !(rest.starts_with('=') && !rest.starts_with("==") || state.vars.is_unset(name) && changes(rest)) {
            // What nothing has set counts from zero on. Only to read such a name is left a question.
            return false;
        } else if self.begun || self.depth > 0 {
            self.doubtful.push(name.to_owned());
        } else {
            self.assigned.push(name.to_owned());
        }
        true
    }

    /// The end of the expression, or of a part before a comma.
    pub(super) fn end(&mut self, state: &mut State) {
        for name in self.doubtful.drain(..) {
            state.set(&name, Value::unknown(format!("the value of `{name}`")));
        }
        for name in self.assigned.drain(..) {
            state.set(&name, Value::Number);
        }
        self.begun = false;
    }
}
