//! Commands inside texts of other languages: `system("…")` of awk, `!…` of an editor, an alias of git.
//!
//! Reads no language: it looks for the words that start a command, and takes the quoted text, or the rest of the line,
//! behind them. What is only printed stands behind no such word.

use super::super::index::by_first;
use super::super::spec::lists;
use super::words::{Line, commands};

/// Where the text of the command stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    /// In the string behind one of these calls, or in the strings of its list: `system("…")`, `run(["git", "push"])`.
    Called,
    /// The rest of the line behind one of these.
    Behind,
    /// The rest of the line behind one of these where a statement begins, after its address.
    Statement,
}

/// Programs, where the command stands, and what stands before it.
const STARTS: &[(&str, Where, &[&str])] = &[
    ("awk gawk mawk nawk original-awk", Where::Called, &["system(", "|"]),
    (
        "python py python2 python3 ipython",
        Where::Called,
        &["system(", "popen(", "run(", "call(", "check_call(", "check_output(", "Popen(", "getoutput(", "spawn("],
    ),
    (
        "node nodejs deno bun",
        Where::Called,
        &["exec(", "execSync(", "spawn(", "spawnSync(", "execFile(", "execFileSync(", "$`", "Command("],
    ),
    ("perl ruby lua php rails", Where::Called, &["system(", "system ", "exec(", "exec ", "qx", "`", "%x", "passthru("]),
    ("lua", Where::Called, &["os.execute(", "io.popen("]),
    (
        "Rscript julia elixir groovy expect tclsh osascript",
        Where::Called,
        &["system(", "cmd(", "run(", "exec ", "spawn "],
    ),
    ("expect", Where::Behind, &["spawn ", "exec "]),
    ("osascript", Where::Called, &["do shell script "]),
    ("vim nvim vi ex view vimdiff gvim ed", Where::Behind, &["!"]),
    ("vim nvim", Where::Called, &["system("]),
    ("psql pgcli", Where::Behind, &["\\!"]),
    ("mysql mariadb mycli", Where::Behind, &["\\!", "system "]),
    ("sqlite3 sqlite duckdb", Where::Behind, &[".shell ", ".system "]),
    ("aws", Where::Behind, &["commands="]),
    ("aws", Where::Called, &["commands=", "\"commands\":"]),
    ("gdb lldb", Where::Behind, &["shell ", "!"]),
    ("ftp sftp lftp", Where::Behind, &["!"]),
    ("sed gsed", Where::Statement, &["e "]),
];

/// Texts of one command that are looked at: more than any person writes.
const TEXTS: usize = 32;

/// Letters of one such text that are looked at.
const LONG: usize = 2048;

/// Whether `program` may have a command in a text.
pub(super) fn names(program: &str) -> bool {
    program == "git" || by_first!(STARTS).named(program).next().is_some()
}

/// The commands in the texts of `line`.
pub(super) fn inner(line: &Line) -> Vec<Line> {
    if line.program == "git" {
        return alias(line);
    }
    let rows = by_first!(STARTS).named(&line.program).filter_map(|row| STARTS.get(row));
    let mut found = Vec::new();
    for (_, place, starts) in rows.filter(|(names, ..)| lists(names, &line.program)) {
        for text in line.raw.iter().map(|word| word.text.as_ref()).filter(|text| text.len() > 3) {
            for (at, start) in starts.iter().flat_map(|start| text.match_indices(start)).take(TEXTS) {
                let (before, rest) =
                    (text.get(..at).unwrap_or_default(), text.get(at + start.len()..).unwrap_or_default());
                match place {
                    Where::Called => found.extend(called(start, rest)),
                    Where::Behind => found.extend(commands(line_of(rest))),
                    Where::Statement if is_address(before) => {
                        found.extend(commands(line_of(rest)));
                    }
                    Where::Statement => {}
                }
            }
        }
    }
    found.retain(|inner| !inner.program.is_empty());
    found.truncate(TEXTS);
    found
}

/// The rest of the line, as much of it as is looked at.
fn line_of(rest: &str) -> &str {
    let line = rest.lines().next().unwrap_or_default();
    line.char_indices().nth(LONG).map_or(line, |(end, _)| line.get(..end).unwrap_or(line))
}

/// What the call is given: one string is a text for a shell, several are the words of a command.
fn called(start: &str, rest: &str) -> Vec<Line> {
    if start.ends_with('`') || matches!(start, "qx" | "%x") {
        let close = match (start, rest.chars().next()) {
            ("qx" | "%x", Some('(')) => ')',
            ("qx" | "%x", Some('{')) => '}',
            ("qx" | "%x", Some('[')) => ']',
            ("qx" | "%x", Some(other)) if !other.is_alphanumeric() => other,
            ("qx" | "%x", _) => return Vec::new(),
            _ => '`',
        };
        let text = if start.ends_with('`') { rest } else { rest.get(1..).unwrap_or_default() };
        return text.split_once(close).map(|(text, _)| commands(text)).unwrap_or_default();
    }
    let end = rest.find([')', ';', '\n']).filter(|_| !rest.trim_start().starts_with(['"', '\'']));
    let strings = strings(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default());
    match strings.as_slice() {
        [] => Vec::new(),
        [only] => commands(only),
        [first, ..] if first.contains(' ') => commands(first),
        words => commands(&words.join(" ")),
    }
}

/// The strings at the start of `text`, between commas and brackets.
fn strings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', ',', '[', '(', '\t']);
        let Some(quote) = rest.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`')) else { break };
        let body = rest.get(1..).unwrap_or_default();
        let mut text = String::new();
        let mut chars = body.char_indices();
        let mut end = None;
        while let Some((at, letter)) = chars.next() {
            match letter {
                '\\' => text.extend(chars.next().map(|(_, escaped)| escaped)),
                letter if letter == quote => {
                    end = Some(at + 1);
                    break;
                }
                letter => text.push(letter),
            }
        }
        found.push(text);
        let Some(end) = end.filter(|_| found.len() < TEXTS) else { break };
        rest = body.get(end..).unwrap_or_default();
    }
    found
}

/// Whether nothing but an address of sed, or another statement, stands before.
fn is_address(before: &str) -> bool {
    let own = before.rsplit([';', '{', '\n']).next().unwrap_or_default().trim();
    let starts = own.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '/' | '$' | '\\'));
    own.is_empty() || starts && own.ends_with(|last: char| last.is_ascii_digit() || matches!(last, '/' | '$' | '!'))
}

/// `git -c alias.NAME='!rm -rf x' NAME`.
fn alias(line: &Line) -> Vec<Line> {
    let name = line.operand(0);
    let behind = || line.operands.iter().skip(1).map(|piece| piece.text.as_ref()).collect::<Vec<_>>().join(" ");
    let given = line.values("-c").filter_map(|piece| {
        let (key, value) = piece.text.split_once('=')?;
        (!name.is_empty() && key.strip_prefix("alias.") == Some(name)).then(|| value.trim().to_owned())
    });
    given
        .flat_map(|value| match value.strip_prefix('!') {
            Some(shell) => commands(&format!("{shell} {}", behind())),
            None => commands(&format!("git {value} {}", behind())),
        })
        .collect()
}
