//! What words most likely are, where that is not certain: `$(which rm) -rf build`, `${RM:-rm} -rf build`,
//! `git $(echo reset) --hard`.
//!
//! Nothing is allowed for it. Only what such a command would destroy is said.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::super::judge::Arg;
use super::super::script::{Part, Word};
use super::redirected::literal;
use super::shapes::told;

/// What such words and variables most likely are.
#[derive(Debug, Default)]
pub(super) struct Likely {
    /// Of what was expanded last.
    hint: Option<String>,
    /// Words by their places.
    words: BTreeMap<(usize, usize), Guess>,
    variables: BTreeMap<String, String>,
}

/// A guess at a word.
#[derive(Debug)]
enum Guess {
    /// All of it, in quotes.
    Whole(String),
    /// All of it; it falls apart at its blanks.
    Split(String),
    /// Only parts of it are known, and `*` stands for the others: `mkfs.$FS`, `db.$c.drop()`.
    Parts(String),
}

/// Programs that say where another one is.
const TELLS: &[&[&str]] = &[&["which"], &["command", "-v"], &["type", "-P"], &["type", "-p"]];

/// Programs whose code on the command line is looked at for what it calls, whatever is put into it.
const CALLED: &[&str] = &["mongosh", "mongo"];

/// Longest guess, in bytes: more than any command that a person puts into another.
const LONG: usize = 1024;

impl Likely {
    /// Before a word or a value is expanded.
    pub(super) fn begin(&mut self) {
        self.hint = None;
    }

    /// A substitution whose one command has these words.
    pub(super) fn told(&mut self, outlet: &[Rc<[Arg]>]) {
        let [argv] = outlet else { return };
        let words: Option<Vec<&str>> = argv.iter().map(Arg::exact).collect();
        let Some(words) = words else { return };
        let name = TELLS.iter().find_map(|tells| one(words.strip_prefix(*tells)?)).map(str::to_owned);
        self.hint = name.or_else(|| told(&[argv])).filter(|text| text.len() < LONG);
    }

    /// An expansion of a variable, which `other` stands in for.
    pub(super) fn variable(&mut self, name: &str, other: Option<&[Part]>) {
        let other = match other {
            Some([Part::Plain(text) | Part::Quoted(text)]) => Some(text.clone()),
            _ => None,
        };
        self.hint = self.variables.get(name).cloned().or(other);
    }

    /// Behind the expansion of a word.
    pub(super) fn word(&mut self, word: &Word) {
        let meant = || word.parts.iter().filter(|part| !matches!(part, Part::Quoted(text) if text.is_empty()));
        let mut parts = meant().map(literal);
        let alone = meant().count() == 1;
        let quoted =
            |part: &Part| matches!(part, Part::Param { quoted: true, .. } | Part::Command { quoted: true, .. });
        let guess = match self.hint.take() {
            Some(text) if alone && meant().any(quoted) => Guess::Whole(text),
            Some(text) if alone => Guess::Split(text),
            _ if parts.next().is_some_and(|first| first.is_some()) && parts.any(|part| part.is_none()) => {
                Guess::Parts(meant().map(|part| literal(part).unwrap_or("*")).collect())
            }
            _ => return,
        };
        self.words.insert((word.span.start, word.span.end), guess);
    }

    /// Behind the value that a variable gets.
    pub(super) fn assigned(&mut self, variable: &str) {
        match self.hint.take() {
            Some(name) => self.variables.insert(variable.to_owned(), name),
            None => self.variables.remove(variable),
        };
    }

    /// The words of a command with what those most likely are that are not known.
    pub(super) fn argv(&self, args: &[Arg]) -> Option<Vec<Arg>> {
        let first = args.first()?.exact();
        let guess = |arg: &Arg| match arg.exact() {
            Some(_) => None,
            None => self.words.get(&(arg.span.start, arg.span.end)),
        };
        if !args.iter().any(|arg| guess(arg).is_some()) {
            return None;
        }
        let (mut argv, mut guessed) = (Vec::new(), false);
        for arg in args {
            let before = argv.len();
            match guess(arg) {
                Some(Guess::Whole(text)) => argv.push(arg.with(text)),
                Some(Guess::Split(text)) => argv.extend(text.split_whitespace().map(|word| arg.with(word))),
                // Of what stands behind other programs, they look at the start themselves.
                Some(Guess::Parts(text)) if before == 0 || first.is_some_and(|name| CALLED.contains(&name)) => {
                    argv.push(arg.with(text));
                }
                _ => {
                    argv.push(arg.clone());
                    continue;
                }
            }
            guessed = true;
        }
        let named = argv.first().and_then(Arg::exact).is_some_and(|name| !name.starts_with('-'));
        (guessed && named).then_some(argv)
    }
}

/// The one name that words are.
fn one<'w>(words: &[&'w str]) -> Option<&'w str> {
    let [name] = words else { return None };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+/".contains(c);
    (!name.is_empty() && !name.starts_with('-') && name.chars().all(plain)).then_some(*name)
}
