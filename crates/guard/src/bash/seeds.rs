//! The named checks that readers of shell text have always made, one row each.
//!
//! Most of them see obfuscation, not effects. Where the analysis accounts for what they see, the
//! finding is noted and raises nothing: a redirection is a write with a path, a substitution a script
//! of its own. Those that stay strict are the ones that change how the rest is read.

use std::ops::Range;

use crate::ExecKind;

use super::finding::{Family, Finding, Outcome, Row};
use super::walk::Report;

const fn noted(code: &'static str, when: &'static str, why: &'static str, example: &'static str) -> Row {
    Row { code, family: Family::Validator, raises: None, when, why, example }
}

const fn raised(
    code: &'static str,
    raises: ExecKind,
    when: &'static str,
    why: &'static str,
    example: &'static str,
) -> Row {
    Row { code, family: Family::Validator, raises: Some(raises), when, why, example }
}

/// The rows.
pub(super) const FINDINGS: &[Row] = &[
    noted("empty", "There is no command in the text.", "Nothing runs. Say what you want to run.", "  "),
    raised(
        "incomplete_commands",
        ExecKind::Misparse,
        "The text begins or ends in the middle of a command.",
        "It looks like a piece of something longer; bash may run the complete lines before it finds the error. \
         Send the whole command.",
        "echo a &&",
    ),
    raised(
        "unreadable",
        ExecKind::Misparse,
        "The text is not a script as bash reads it, or uses syntax that shells read differently.",
        "What cannot be read is not guessed. The reason says where; a simpler way to write it is accepted.",
        "echo $[1+1]",
    ),
    raised(
        "readers_disagree",
        ExecKind::Misparse,
        "Two independent readers of shell text see different words.",
        "Nothing proved about such a text counts. Quote the words in question.",
        "echo {fd}> x",
    ),
    noted(
        "git_commit",
        "`git commit` gets its message in the command.",
        "A message in single quotes is only text. Substitutions in it run first and are judged as scripts.",
        "git commit -m 'Fix the build'",
    ),
    noted(
        "jq_command",
        "jq calls `system(` or reads its program or values from files.",
        "What the files are is judged as reads; a program from a file is not known.",
        "jq --slurpfile a b.json . c.json",
    ),
    noted(
        "obfuscated_flags",
        "Quotes stand inside or around an option, or `$'…'` or `$\"…\"` is used.",
        "Quoting is removed before anything is judged, so it hides nothing. Write options bare.",
        "find . \"-name\" x",
    ),
    noted(
        "shell_metacharacters",
        "`;`, `|` or `&` stands inside a quoted argument.",
        "It is text there; programs with a language of their own are read by their own parsers.",
        "grep 'a|b' notes.txt",
    ),
    noted(
        "dangerous_variables",
        "A variable stands next to a redirection or a pipe.",
        "A value that is not known makes the command opaque. Write the name itself.",
        "cat < $x",
    ),
    noted(
        "newlines",
        "A line break is followed by another command.",
        "Every line is a command and is judged.",
        "ls\npwd",
    ),
    raised(
        "ifs_injection",
        ExecKind::Opaque,
        "`IFS` is used or set, other than as the prefix of `read`.",
        "It changes how values fall apart into words, and stands in for blanks to hide them. Use quotes.",
        "cat$IFS/etc/hosts",
    ),
    raised(
        "proc_environ_access",
        ExecKind::Opaque,
        "A path of the form `/proc/…/environ` is named.",
        "The environment of a process holds its credentials. Ask for the one variable that you need.",
        "cat /proc/self/environ",
    ),
    noted(
        "dangerous_patterns",
        "Backticks, `$(…)`, `${…}` or a process substitution is used.",
        "The script inside is judged as every other; where its output goes, the word is not known.",
        "echo \"$(date)\"",
    ),
    noted(
        "redirections",
        "`<` or `>` leads somewhere else than to /dev/null or another descriptor.",
        "It is a read or a write of that path and judged as one.",
        "echo a > b.txt",
    ),
    noted(
        "brace_expansion",
        "Braces outside quotes stand for several words.",
        "Every word they stand for is judged.",
        "echo {a,b}",
    ),
    raised(
        "zsh_dangerous_commands",
        ExecKind::Opaque,
        "A builtin of zsh that loads modules, opens files or sockets, or `fc -e` is used.",
        "bash does not have them; text that expects another shell is not what it seems.",
        "zmodload zsh/system",
    ),
];

const ZSH: &[&str] = &[
    "zmodload", "emulate", "sysopen", "sysread", "syswrite", "sysseek", "zpty", "ztcp", "zsocket", "zf_rm", "zf_mv",
    "zf_ln", "zf_chmod", "zf_chown", "zf_chgrp", "zf_mkdir", "zf_rmdir", "zf_sync", "zcompile", "autoload", "bindkey",
    "zle", "sched",
];

/// How much a byte is quoted: outside, in single quotes, in double quotes, elsewhere (comment, here-document).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum In {
    Bare,
    Escaped,
    Single,
    Double,
    Other,
}

fn quoting(text: &str, bodies: &[Range<usize>]) -> Vec<In> {
    let bytes = text.as_bytes();
    let mut out = vec![In::Bare; bytes.len()];
    let mut state = In::Bare;
    let mut at = 0;
    let mut bodies: Vec<&Range<usize>> = bodies.iter().collect();
    bodies.sort_by_key(|body| body.start);
    let mut ahead = bodies.into_iter().peekable();
    while at < bytes.len() {
        while ahead.peek().is_some_and(|body| body.end <= at) {
            ahead.next();
        }
        if let Some(body) = ahead.peek().filter(|body| body.contains(&at)) {
            out[at..body.end.min(bytes.len())].fill(In::Other);
            at = body.end.max(at + 1);
            continue;
        }
        let byte = bytes[at];
        out[at] = state;
        match (state, byte) {
            (In::Bare, b'\\') | (In::Double, b'\\') => {
                if let Some(next) = out.get_mut(at + 1) {
                    *next = if state == In::Bare { In::Escaped } else { In::Double };
                }
                at += 1;
            }
            (In::Bare, b'\'') => state = In::Single,
            (In::Bare, b'"') => state = In::Double,
            (In::Single, b'\'') | (In::Double, b'"') => state = In::Bare,
            (In::Bare, b'#')
                if at == 0 || matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'(') =>
            {
                state = In::Other;
                out[at] = In::Other;
            }
            (In::Other, b'\n') => {
                state = In::Bare;
                out[at] = In::Bare;
            }
            _ => {}
        }
        at += 1;
    }
    out
}

/// What the checks say of a text that was read. `bodies` are its here-documents.
pub(super) fn check(text: &str, reports: &[Report], bodies: &[Range<usize>]) -> Vec<Finding> {
    let mut out = Vec::new();
    if text.trim().is_empty() {
        out.push(Finding::new("empty", 0..text.len(), "there is no command"));
        return out;
    }
    let quotes = quoting(text, bodies);
    by_text(text, &quotes, reports, &mut out);
    by_command(text, reports, &mut out);
    out
}

fn by_text(text: &str, quotes: &[In], reports: &[Report], out: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let only_echo = matches!(reports, [one] if one.argv.first().and_then(|arg| arg.exact()) == Some("echo"));
    for (at, (byte, inside)) in bytes.iter().zip(quotes).enumerate() {
        let next = bytes.get(at + 1).copied();
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied();
        let bare = *inside == In::Bare;
        let expands = bare || *inside == In::Double;
        let here = at..at + 1;
        match byte {
            b'$' if bare && matches!(next, Some(b'\'' | b'"')) && !only_echo => {
                once(out, "obfuscated_flags", at..at + 2, "a quote with `$` before it");
            }
            b'\'' | b'"' if bare && !only_echo => {
                let opens_option = next == Some(b'-') && matches!(before, None | Some(b' ' | b'\t' | b'\n'));
                let in_option = before == Some(b'-');
                let empty = next == Some(*byte)
                    && (matches!(before, Some(byte) if byte.is_ascii_graphic() && byte != b'=')
                        && matches!(bytes.get(at + 2), Some(byte) if byte.is_ascii_graphic()));
                if opens_option || in_option || empty {
                    once(out, "obfuscated_flags", here, "a quote inside or around an option");
                }
            }
            b';' | b'|' | b'&' if matches!(inside, In::Single | In::Double) => {
                once(out, "shell_metacharacters", here, "an operator of the shell inside quotes");
            }
            b'`' if expands => once(out, "dangerous_patterns", here, "a command in backticks"),
            b'$' if expands && matches!(next, Some(b'(' | b'{' | b'[')) => {
                once(out, "dangerous_patterns", at..at + 2, "a substitution");
            }
            b'<' | b'>' if bare && next == Some(b'(') => {
                once(out, "dangerous_patterns", at..at + 2, "a process substitution");
            }
            b'<' | b'>' | b'|' if bare => {
                let rest = near(text, at + 1).trim_start_matches([' ', '<', '>', '|', '&', '"']);
                let front = text.get(text.ceil_char_boundary(at.saturating_sub(NEAR))..at).unwrap_or_default();
                let front = front.trim_end_matches([' ', '<', '>', '|', '"']);
                let word = front.rsplit([' ', '\t', '\n', ';', '|']).next().unwrap_or_default();
                if rest.starts_with('$') && !rest.starts_with("$(") || word.starts_with('$') && !word.contains('(') {
                    once(out, "dangerous_variables", here.clone(), "a variable next to a redirection or a pipe");
                }
                if *byte != b'|' && !is_harmless_redirect(text, at) {
                    once(out, "redirections", here, "a redirection");
                }
            }
            b'\n' if bare => {
                let rest = near(text, at + 1).trim_start();
                if !rest.is_empty() && !rest.starts_with('#') {
                    once(out, "newlines", here, "another command on the next line");
                }
            }
            b'{' if bare && before != Some(b'$') => {
                let inside = near(text, at + 1);
                let inside = inside.split('}').next().unwrap_or_default();
                if !inside.contains([' ', '\n']) && (inside.contains(',') || inside.contains("..")) {
                    once(out, "brace_expansion", here, "braces that stand for several words");
                }
            }
            b'I' if expands && is_word(text, at, "IFS") => {
                let rest = text.get(at..).unwrap_or_default();
                let mut finding = Finding::new("ifs_injection", at..at + 3, "`IFS` is used");
                if before != Some(b'$') && before != Some(b'{') && is_read_prefix(rest) {
                    finding.outcome = Outcome::Passthrough;
                }
                let known = out.iter_mut().find(|other| other.code == "ifs_injection");
                match known {
                    None => out.push(finding),
                    Some(other) if other.outcome < finding.outcome => *other = finding,
                    Some(_) => {}
                }
            }
            _ => {}
        }
    }
}

/// How many bytes beside a place are looked at for a note: a text may repeat one byte to its end.
const NEAR: usize = 64;

/// What stands at `at` and shortly behind it.
fn near(text: &str, at: usize) -> &str {
    let end = text.floor_char_boundary(at.saturating_add(NEAR));
    text.get(at..end).unwrap_or_default()
}

fn once(out: &mut Vec<Finding>, code: &'static str, span: Range<usize>, why: &str) {
    if !out.iter().any(|finding| finding.code == code) {
        out.push(Finding::new(code, span, why));
    }
}

fn is_word(text: &str, at: usize, name: &str) -> bool {
    let part_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = text.as_bytes();
    text.get(at..).is_some_and(|rest| rest.starts_with(name))
        && !at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(part_of_name)
        && !bytes.get(at + name.len()).is_some_and(part_of_name)
}

/// `IFS= read …`, `IFS=: read …`, `IFS=$'\\t' read …`.
fn is_read_prefix(rest: &str) -> bool {
    let Some(value) = rest.strip_prefix("IFS=") else { return false };
    let value = value.strip_prefix('$').unwrap_or(value);
    let behind = match value.chars().next() {
        Some(quote @ ('\'' | '"')) => {
            let inner = value.get(1..).unwrap_or_default();
            match inner.split_once(quote) {
                Some((text, behind)) if !text.contains(['$', '`']) => behind,
                _ => return false,
            }
        }
        _ => match value.find([' ', '\t']) {
            Some(end) if !value.get(..end).unwrap_or_default().contains(['$', '`', ';', '|', '&', '\n']) => {
                value.get(end..).unwrap_or_default()
            }
            _ => return false,
        },
    };
    behind.trim_start_matches([' ', '\t']).starts_with("read ")
}

/// Whether the redirection at `at` leads nowhere that matters.
fn is_harmless_redirect(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|before| before.chars().next_back());
    if matches!(before, Some('<' | '>')) {
        return true;
    }
    let rest = near(text, at + 1);
    let target = rest.trim_start_matches(['>', '|']);
    let dup = target.strip_prefix('&').is_some_and(|fd| fd.starts_with(|c: char| c.is_ascii_digit() || c == '-'));
    let target = target.trim_start_matches('&').trim_start_matches([' ', '\t']);
    let word = target.split([' ', '\t', '\n', ';', '|', '&', ')']).next().unwrap_or_default();
    dup || word == "/dev/null"
}

fn by_command(text: &str, reports: &[Report], out: &mut Vec<Finding>) {
    if text.contains("/proc/") && text.contains("environ") {
        let at = text.find("/proc/").unwrap_or(0);
        once(out, "proc_environ_access", at..at + 6, "the environment of a process");
    }
    for report in reports {
        let exact = |index: usize| report.argv.get(index).and_then(|arg| arg.exact()).unwrap_or_default();
        let environ = report
            .argv
            .iter()
            .filter_map(|arg| arg.exact())
            .any(|word| word.contains("proc") && word.contains("environ") && word.contains('/'));
        if environ {
            once(out, "proc_environ_access", report.span.clone(), "the environment of a process");
        }
        match exact(0) {
            "jq" if report.argv.iter().skip(1).filter_map(|arg| arg.exact()).any(is_jq_file) => {
                once(out, "jq_command", report.span.clone(), "jq reads more than its input");
            }
            "git" if report.argv.iter().any(|arg| arg.exact() == Some("commit")) => {
                let message = |arg: &str| arg.starts_with("-m") || arg == "-am" || arg.starts_with("--message");
                if report.argv.iter().filter_map(|arg| arg.exact()).any(message) {
                    once(out, "git_commit", report.span.clone(), "a message in the command");
                }
            }
            _ => {}
        }
        let modifiers = ["command", "builtin", "noglob", "nocorrect", "exec", "-"];
        let first = report.argv.iter().position(|arg| !arg.exact().is_some_and(|word| modifiers.contains(&word)));
        let first = first.unwrap_or(0);
        let edits = exact(first) == "fc"
            && report.argv.iter().any(|arg| arg.exact().is_some_and(|word| word.starts_with("-e")));
        if ZSH.contains(&exact(first)) || edits {
            once(out, "zsh_dangerous_commands", report.span.clone(), "a builtin of another shell");
        }
    }
}

fn is_jq_file(word: &str) -> bool {
    word.contains("system(")
        || matches!(word, "-f" | "--from-file" | "--rawfile" | "--slurpfile" | "-L" | "--argfile")
        || word.starts_with("-L")
        || word.starts_with("--from-file=")
}
