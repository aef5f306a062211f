//! `sh -c TEXT`: another shell than bash, perhaps. dash and ash have no `[[`, so `[[ a || b ]]` runs `b` there, and
//! `$'a\'` ends where bash reads on. What only bash reads so is a question in such a text.

use std::ops::Range;

use super::super::fact::Fact;
use super::super::judge::{Arg, Shell};
use super::super::words::Value;
use super::{State, Walker};

/// Builtins of bash that set or move something, which another shell does not find and goes on without.
const ONLY_BASH: &[&str] =
    &["declare", "typeset", "let", "pushd", "popd", "mapfile", "readarray", "shopt", "builtin", "enable"];

/// Variables that bash sets by itself; in another shell they may be empty.
const SET_BY_BASH: &[&str] =
    &["RANDOM", "SRANDOM", "SECONDS", "UID", "EUID", "BASHPID", "EPOCHSECONDS", "LINENO", "HOSTNAME", "OSTYPE"];

/// What bash sets by itself is not known there.
pub(super) fn unset(state: &mut State) {
    for name in SET_BY_BASH {
        state.vars.insert((*name).to_owned(), Value::unknown(format!("`{name}`, which only bash sets")));
    }
}

impl<'a> Walker<'a> {
    /// Says what stands in a text for `sh` that only bash reads so.
    pub(super) fn only_bash(&mut self, what: Option<&str>, span: &Range<usize>) {
        if let Some(what) = what {
            self.opaque(span, format!("{what} means something else where `sh` is not bash; say `bash -c`"));
        }
    }

    /// A builtin that another shell than bash does not have, or not with these words.
    pub(super) fn not_in_sh(&self, args: &[Arg]) -> Option<Fact> {
        let (first, rest) = args.split_first().filter(|_| self.reading.shell == Shell::Sh)?;
        let name = first.exact()?;
        let option = |arg: &Arg| arg.exact().is_none_or(|text| text.starts_with('-') && text != "-r" && text != "--");
        let unlike = match name {
            "read" | "local" | "export" | "readonly" => rest.iter().any(option),
            "printf" => rest.first().is_some_and(option),
            _ => ONLY_BASH.contains(&name),
        };
        unlike.then(|| Fact::Opaque(format!("`{name}` of bash is not in every `sh`; say `bash -c`")))
    }
}
