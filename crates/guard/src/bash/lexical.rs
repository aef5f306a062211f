//! Characters and quoting, seen before any meaning: what a terminal shows differently from what a
//! shell reads, and what two readers could split differently.

use std::ops::Range;

use crate::ExecKind;

use super::finding::{Family, Finding, Outcome, Row};

const MISPARSE: Option<ExecKind> = Some(ExecKind::Misparse);

/// The rows.
pub(super) const FINDINGS: &[Row] = &[
    Row {
        code: "control_characters",
        family: Family::Lexical,
        raises: Some(ExecKind::Forbidden),
        when: "The text has NUL, another control character than tab and newline, or DEL.",
        why: "A terminal obeys them and a shell drops or keeps them, so what is shown is not what runs. \
              Write them as escapes: `printf '\\033'`.",
        example: "ls\u{8}\u{8}rm -r src",
    },
    Row {
        code: "carriage_return",
        family: Family::Lexical,
        raises: MISPARSE,
        when: "A carriage return stands outside double quotes.",
        why: "Some readers end a line at it, bash takes it as part of the word. Use plain newlines.",
        example: "ls\r-la",
    },
    Row {
        code: "unicode_whitespace",
        family: Family::Lexical,
        raises: MISPARSE,
        when: "A blank that is not ASCII stands outside quotes.",
        why: "It looks like a gap between words and is not one. Use an ordinary blank, or quote it.",
        example: "ls\u{a0}-la",
    },
    Row {
        code: "hidden_characters",
        family: Family::Lexical,
        raises: MISPARSE,
        when: "The text has characters without width, or ones that turn the direction of writing.",
        why: "What a person sees is not what runs. Leave them out; in a pattern, write them as escapes.",
        example: "echo \u{202e}txt.sh",
    },
    Row {
        code: "line_continuation",
        family: Family::Lexical,
        raises: MISPARSE,
        when: "A backslash at the end of a line continues it in the middle of a word.",
        why: "Readers disagree about `$` and `(` on both sides of it. Break lines only behind a blank.",
        example: "echo $\\\n(id)",
    },
    Row {
        code: "mid_word_hash",
        family: Family::Lexical,
        raises: MISPARSE,
        when: "`#` stands inside a word outside quotes, other than between letters of an option's value (`-Dtest=A#b`).",
        why: "Some readers take the rest for a comment, bash does not. Quote the word.",
        example: "echo a#b",
    },
    Row {
        code: "comment_quote_desync",
        family: Family::Lexical,
        raises: MISPARSE,
        when: "A comment has a quote without its partner.",
        why: "A reader that counts quotes in comments sees the next lines as text. Take the quote out of the comment.",
        example: "ls # don't\npwd",
    },
    Row {
        code: "quoted_newline",
        family: Family::Lexical,
        raises: MISPARSE,
        when: "A line inside quotes begins with `#`.",
        why: "A reader that works line by line takes it for a comment and loses the closing quote. \
              Use a here-document with a quoted end word.",
        example: "echo \"a\n# b\"",
    },
    Row {
        code: "backslash_escaped_whitespace",
        family: Family::Lexical,
        raises: None,
        when: "A blank is escaped by a backslash outside quotes.",
        why: "The analysis reads it as bash does: part of the word. Quotes are easier to see.",
        example: "cat my\\ file.txt",
    },
    Row {
        code: "backslash_escaped_operators",
        family: Family::Lexical,
        raises: None,
        when: "`;`, `|`, `&`, `<` or `>` is escaped by a backslash outside quotes.",
        why: "The analysis reads it as bash does: text, as in `find -exec … \\;`.",
        example: "find . -name x -exec wc -l {} \\;",
    },
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Bare,
    Single,
    Double,
    Comment,
    /// In a here-document.
    Body,
}

/// What stands out. `bodies` are here-documents that the reader found.
pub(super) fn check(text: &str, bodies: &[Range<usize>]) -> Vec<Finding> {
    let mut out: Vec<Finding> = Vec::new();
    let mut state = State::Bare;
    let mut before: Option<char> = None;
    let mut escaped = false;
    let mut comment = Comment::default();
    let mut open = Open::default();
    let mut bodies: Vec<&Range<usize>> = bodies.iter().collect();
    bodies.sort_by_key(|body| body.start);
    let mut ahead = bodies.into_iter().peekable();
    let mut chars = text.char_indices().peekable();
    let plain = ahead.peek().is_none();
    while let Some((at, c)) = chars.next() {
        open.goes_on(c);
        // Most characters mean nothing in any state.
        if plain && !escaped && (c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '=' | ',' | ':')) {
            before = Some(c);
            continue;
        }
        let end = at + c.len_utf8();
        while ahead.peek().is_some_and(|body| body.end <= at) {
            ahead.next();
        }
        let in_body = ahead.peek().is_some_and(|body| body.contains(&at));
        if in_body && state == State::Bare {
            state = State::Body;
        } else if !in_body && state == State::Body {
            state = State::Bare;
            before = Some('\n');
            escaped = false;
        }
        let note = |out: &mut Vec<Finding>, code: &'static str, why: String| {
            push(out, Finding::new(code, at..end, why));
        };
        if (c.is_control() && !matches!(c, '\t' | '\n' | '\r')) || c == '\u{7f}' {
            note(&mut out, "control_characters", format!("the control character {}", name(c)));
        }
        if is_hidden(c) {
            note(&mut out, "hidden_characters", format!("the character {} is not shown", name(c)));
        }
        if c == '\r' && !matches!(state, State::Double | State::Body) {
            note(&mut out, "carriage_return", "a carriage return".to_owned());
        }
        if is_blank(c) && state == State::Bare {
            note(&mut out, "unicode_whitespace", format!("the blank {}", name(c)));
        }
        let next = chars.peek().map(|(_, next)| *next);
        let joins = c == '\\' && next == Some('\n') && !escaped && matches!(state, State::Bare | State::Double);
        if joins && !before.is_none_or(|before| matches!(before, ' ' | '\t' | '\n')) {
            note(&mut out, "line_continuation", "a line is continued in the middle of a word".to_owned());
        }
        match state {
            State::Bare if escaped => {
                match c {
                    ' ' | '\t' => note(&mut out, "backslash_escaped_whitespace", "an escaped blank".to_owned()),
                    ';' | '|' | '&' | '<' | '>' => {
                        note(&mut out, "backslash_escaped_operators", format!("an escaped `{c}`"));
                    }
                    _ => {}
                }
                escaped = false;
                // An escaped character is part of a word, whatever it is; a continuation is nothing.
                before = Some(if c == '\n' { before.unwrap_or('\n') } else { 'x' });
                continue;
            }
            State::Bare => match c {
                '\\' => {
                    escaped = true;
                    if next != Some('\n') {
                        before = Some('x');
                    }
                    continue;
                }
                '\'' => state = State::Single,
                '"' => state = State::Double,
                '#' => match before {
                    None | Some(' ' | '\t' | '\n' | ';' | '|' | '&' | '(' | ')' | '<' | '>') => {
                        state = State::Comment;
                        comment = Comment { start: at, ..Comment::default() };
                    }
                    // `$#`, `${#x}`, `${x#y}`, `${x##y}` are expansions.
                    Some('$') => {}
                    _ if open.braces || open.sum || in_a_value(text, at) => {}
                    _ => note(&mut out, "mid_word_hash", "`#` inside a word".to_owned()),
                },
                _ => {}
            },
            State::Single => {
                if c == '\'' {
                    state = State::Bare;
                }
            }
            State::Double if escaped => escaped = false,
            State::Double => match c {
                '\\' => escaped = true,
                '"' => state = State::Bare,
                _ => {}
            },
            State::Comment => match c {
                '\'' => comment.single += 1,
                '"' | '`' => comment.double += 1,
                '\n' => {
                    state = State::Bare;
                    comment.ends(&mut out, at);
                }
                _ => {}
            },
            State::Body => {}
        }
        if c == '\n' && matches!(state, State::Single | State::Double) && next == Some('#') {
            note(&mut out, "quoted_newline", "a line inside quotes begins with `#`".to_owned());
        }
        before = Some(c);
    }
    if state == State::Comment {
        comment.ends(&mut out, text.len());
    }
    out
}

/// Adds a finding. A few of a kind say it; a thousand would only make the answer long.
fn push(out: &mut Vec<Finding>, finding: Finding) {
    if out.iter().filter(|other| other.code == finding.code).count() < 8 {
        out.push(finding);
    }
}

/// A comment, and how many quotes are in it.
#[derive(Debug, Default)]
struct Comment {
    start: usize,
    single: usize,
    double: usize,
}

impl Comment {
    fn ends(&self, out: &mut Vec<Finding>, end: usize) {
        if self.single + self.double == 0 {
            return;
        }
        let mut finding = Finding::new("comment_quote_desync", self.start..end, "a quote inside a comment");
        if self.single.is_multiple_of(2) && self.double.is_multiple_of(2) {
            finding.outcome = Outcome::Passthrough;
        }
        push(out, finding);
    }
}

/// What the nearest bracket before a character may have opened.
#[derive(Debug, Default)]
struct Open {
    /// `${`, with no blank and no end since.
    braces: bool,
    /// `((`, with no `))` since.
    sum: bool,
    last: Option<char>,
}

impl Open {
    fn goes_on(&mut self, c: char) {
        match (self.last, c) {
            (Some('$'), '{') => self.braces = true,
            (_, '}' | ' ' | '\n') => self.braces = false,
            (Some('('), '(') => self.sum = true,
            (Some(')'), ')') => self.sum = false,
            _ => {}
        }
        self.last = Some(c);
    }
}

fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206f}'
            | '\u{feff}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

fn is_blank(c: char) -> bool {
    !c.is_ascii() && (c.is_whitespace() || matches!(c, '\u{2800}' | '\u{3164}' | '\u{115f}' | '\u{1160}' | '\u{ffa0}'))
}

fn name(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// Whether the `#` stands between letters or digits in the value of a long word that begins like an option: a method of a
/// test. Who took the rest for a comment would see a known option without its end.
fn in_a_value(text: &str, at: usize) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.,:=*+/-".contains(c);
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind(|c: char| !plain(c)).map_or(0, |last| last + 1);
    let alone = start == 0
        || before.get(..start).is_some_and(|gap| {
            gap.ends_with([' ', '\t', '\n']) && !gap.get(..start - 1).is_some_and(|gap| gap.ends_with('\\'))
        });
    let word = before.get(start..).unwrap_or_default();
    let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    alone
        && word.starts_with('-')
        && word.split_once('=').is_some_and(|(_, value)| value.ends_with(|c: char| letter(c) || c == '*'))
        && next.is_some_and(|c| letter(c) || c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raised(text: &str) -> Vec<&'static str> {
        check(text, &[]).iter().filter(|f| f.outcome != Outcome::Passthrough).map(|finding| finding.code).collect()
    }

    #[test]
    fn every_row_shows_itself() {
        for row in FINDINGS {
            assert!(
                check(row.example, &[]).iter().any(|finding| finding.code == row.code),
                "{} in {:?}",
                row.code,
                row.example
            );
        }
    }

    #[test]
    fn what_is_shown_is_what_runs() {
        for (text, code) in [
            ("ls\0", "control_characters"),
            ("ls \u{1b}[2K", "control_characters"),
            ("echo 'a\u{7f}b'", "control_characters"),
            ("echo \u{9b}x", "control_characters"),
            ("echo \"a\u{202e}b\"", "hidden_characters"),
            ("ls;\u{200b}rm x", "hidden_characters"),
            ("\u{feff}ls", "hidden_characters"),
            ("ls\u{3000}-l", "unicode_whitespace"),
            ("ls\r\npwd", "carriage_return"),
            ("echo 'a\rb'", "carriage_return"),
            ("r\\\nm x", "line_continuation"),
            ("echo \"$\\\n(id)\"", "line_continuation"),
            ("echo \"`\\\nid`\"", "line_continuation"),
            ("ls x#y", "mid_word_hash"),
            ("mvn -Dtest#b test", "mid_word_hash"),
            ("mvn a=b#c", "mid_word_hash"),
            ("mvn -Dtest=A# test", "mid_word_hash"),
            ("mvn -Dtest=#b test", "mid_word_hash"),
            ("mvn -Dtest='A'#b test", "mid_word_hash"),
            ("mvn -Dtest=$x#b test", "mid_word_hash"),
            ("mvn x\\ -Dtest=a#b", "mid_word_hash"),
            ("ls # it's\npwd", "comment_quote_desync"),
            ("echo 'a\n#'", "quoted_newline"),
        ] {
            assert_eq!(raised(text), [code], "{text:?}");
        }
    }

    #[test]
    fn everyday_text_raises_nothing() {
        for text in [
            "cat my\\ file",
            "find . -name x -exec wc -l {} \\;",
            "find . \\( -name a -o -name b \\) -print",
            "ls \\\n  -la",
            "echo 'a\u{a0}b' \"c\rd\"",
            "# a comment\nls",
            "ls # \"quoted\"",
            "echo ${#x} $# ${f##*/} ${f#a} $((16#ff))",
            "grep '#include' a.c",
            "echo é 日本",
            "echo a\\#b \"c#d\"",
            "mvn -Dtest=A#b test",
            "mvn -q test -Dtest=com.x.FooTest#bar*",
        ] {
            assert!(raised(text).is_empty(), "{text:?}: {:?}", check(text, &[]));
        }
    }
}
