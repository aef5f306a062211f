//! For tests of the tables: a simple command in one line, and the facts that come of it.
//!
//! Knows quotes, `*`, `?`, `$NAME` and `{a,b}` as one word of several, and nothing else of the shell.

use std::path::PathBuf;

use super::super::fact::{Fact, Target};
use super::super::judge::{Arg, Judge, Nested, Site, Stdin, Word};

/// The place of every test: the workspace is `/w/repo`, the home is `/home/dev`.
pub(in super::super) fn site() -> Site {
    Site::on_paper(vec!["/w/repo".into()], "/w/repo".into(), "/home/dev".into())
}

/// The facts of a simple command and of the commands inside it.
pub(in super::super) fn facts(line: &str) -> Vec<Fact> {
    facts_from(line, Stdin::None)
}

/// The same with something on standard input.
pub(in super::super) fn facts_from(line: &str, stdin: Stdin) -> Vec<Fact> {
    judged(&words(line), stdin)
}

fn judged(argv: &[Arg], stdin: Stdin) -> Vec<Fact> {
    let site = site();
    let mut judge = Judge::new(&site, stdin.clone(), 0..0);
    super::judge(argv, &mut judge);
    let mut facts = judge.facts;
    for nested in judge.nested {
        facts.extend(match nested {
            Nested::Argv(argv) => judged(&argv, stdin.clone()),
            Nested::Script { text, .. } => judged(&words(&text), stdin.clone()),
        });
    }
    facts
}

/// Whether these facts are proved harmless: reads in the workspace or of public system information.
pub(in super::super) fn is_harmless(facts: &[Fact]) -> bool {
    let public = ["/w/repo", "/usr", "/proc/cpuinfo", "/etc/os-release"];
    let fine = |target: &Target| public.iter().any(|root| target.path.starts_with(PathBuf::from(root)));
    facts.iter().all(|fact| matches!(fact, Fact::Read(target) if fine(target)))
}

/// Fails for every line that is not proved harmless.
pub(in super::super) fn all_harmless(lines: &[&str]) {
    let wrong: Vec<_> = lines.iter().map(|line| (line, facts(line))).filter(|(_, facts)| !is_harmless(facts)).collect();
    assert!(wrong.is_empty(), "these should be harmless: {wrong:#?}");
}

/// Fails for every line that is taken for harmless.
pub(in super::super) fn none_harmless(lines: &[&str]) {
    let wrong: Vec<_> = lines.iter().filter(|line| is_harmless(&facts(line))).collect();
    assert!(wrong.is_empty(), "these should not be harmless: {wrong:#?}");
}

/// The words of a line.
pub(in super::super) fn words(line: &str) -> Vec<Arg> {
    let (mut out, mut chars) = (Vec::new(), line.chars().peekable());
    let mut current: Option<Piece> = None;
    while let Some(letter) = chars.next() {
        match letter {
            ' ' => out.extend(current.take().map(Piece::word)),
            '\'' | '"' => {
                let piece = current.get_or_insert_default();
                for inner in chars.by_ref().take_while(|inner| *inner != letter) {
                    match inner {
                        '$' if letter == '"' => piece.unknown(false),
                        _ => piece.text.push(inner),
                    }
                }
            }
            '*' | '?' => current.get_or_insert_default().glob(letter),
            '$' => {
                while chars.next_if(|next| next.is_ascii_alphanumeric()).is_some() {}
                current.get_or_insert_default().unknown(true);
            }
            '{' if chars.peek().is_some_and(|next| next.is_alphanumeric() || *next == '-') => {
                let inner: String = chars.by_ref().take_while(|inner| *inner != '}').collect();
                let words = inner.split(',').map(|word| Word::Exact(word.to_owned())).collect();
                out.push(Arg { word: Word::OneOf(words), span: 0..0 });
            }
            _ => current.get_or_insert_default().text.push(letter),
        }
    }
    out.extend(current.take().map(Piece::word));
    out
}

#[derive(Default)]
struct Piece {
    text: String,
    prefix: Option<String>,
    unknown: Option<(String, bool)>,
}

impl Piece {
    fn glob(&mut self, letter: char) {
        self.prefix.get_or_insert(self.text.clone());
        self.text.push(letter);
    }

    fn unknown(&mut self, splits: bool) {
        let known = self.text.clone();
        self.unknown.get_or_insert((known, splits)).1 |= splits;
    }

    fn word(self) -> Arg {
        let word = match (self.unknown, self.prefix) {
            (Some((prefix, splits)), _) => Word::Opaque { prefix, splits, why: "not known".into() },
            (None, Some(prefix)) => Word::Glob { pattern: self.text, prefix },
            (None, None) => Word::Exact(self.text),
        };
        Arg { word, span: 0..0 }
    }
}
