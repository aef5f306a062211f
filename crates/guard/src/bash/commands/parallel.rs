//! `parallel COMMAND ::: ARGUMENTS`: one command for each argument that stands on the command line.
//!
//! The command is a text for a shell, in which `{}` is an argument with its quotes. Only a text of plain words is followed;
//! arguments from standard input or a file are not known.

use super::super::judge::{Arg, Judge, Shell, Word};
use super::spec::Parsed;

/// Puts in what runs; `false` where that cannot be said.
pub(super) fn judge(parsed: &Parsed, judge: &mut Judge<'_>) -> bool {
    const FLAGS: &[&str] =
        &["-k", "--keep-order", "--bar", "--progress", "--eta", "--will-cite", "--lb", "--line-buffer", "-u", "--tag"];
    let mut words = parsed.operands.as_slice();
    while let Some((word, rest)) = words.split_first() {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'%');
        let taken = match word.exact() {
            Some(flag) if FLAGS.contains(&flag) => 0,
            Some("-j" | "--jobs") if rest.first().and_then(Arg::exact).is_some_and(digits) => 1,
            Some(text) if text.strip_prefix("-j").is_some_and(digits) => 0,
            Some(text) if text.starts_with('-') => return false,
            _ => break,
        };
        words = rest.get(taken..).unwrap_or_default();
    }
    let marks = |word: &Arg| word.exact().is_some_and(|text| text.starts_with(":::"));
    let Some(at) = words.iter().position(marks) else { return false };
    let (command, arguments) = words.split_at(at);
    let arguments = arguments.get(1..).unwrap_or_default();
    let one = words.get(at).and_then(Arg::exact) == Some(":::") && !arguments.iter().any(marks);
    let texts: Option<Vec<&str>> = command.iter().map(Arg::exact).collect();
    let Some(text) = texts.filter(|_| one && !arguments.is_empty()).map(|texts| texts.join(" ")) else { return false };
    let plain = |c: char| c.is_ascii_alphanumeric() || " _-./:=,+@%{}".contains(c);
    let holes = text.matches("{}").count();
    if text.trim().is_empty() || !text.chars().all(plain) || text.matches(['{', '}']).count() != 2 * holes {
        return false;
    }
    let script = match holes {
        0 => format!("{text} \"$1\""),
        _ => text.replace("{}", "\"$1\""),
    };
    let argument = match arguments {
        [one] => one.word.clone(),
        several => Word::OneOf(several.iter().map(|argument| argument.word.clone()).collect()),
    };
    let span = judge.span.clone();
    let place = [judge.word("parallel"), Arg { word: argument, span: span.clone() }];
    judge.script(Shell::Sh, &script, &place, span);
    true
}
