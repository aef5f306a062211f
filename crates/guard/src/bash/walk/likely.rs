//! Which program a word calls most likely, where it is not certain: `$(which rm) -rf build`, `${RM:-rm} -rf build`.
//!
//! Nothing is allowed for it. Only what that program would destroy is said.

use super::*;

/// What such words and variables most likely are.
#[derive(Debug, Default)]
pub(super) struct Likely {
    /// Of what was expanded last.
    hint: Option<String>,
    words: Vec<(Range<usize>, String)>,
    variables: BTreeMap<String, String>,
}

/// Programs that say where another one is, or what they are given.
const TELLS: &[&[&str]] = &[&["which"], &["command", "-v"], &["type", "-P"], &["type", "-p"], &["echo"]];

/// Programs in front of another one.
const BEFORE: &[&str] = &["sudo", "doas", "find"];

impl Likely {
    /// Before a word or a value is expanded.
    pub(super) fn begin(&mut self) {
        self.hint = None;
    }

    /// A substitution whose one command has these words.
    pub(super) fn told(&mut self, outlet: &[Rc<[Arg]>]) {
        let [argv] = outlet else { return };
        let words: Option<Vec<&str>> = argv.iter().map(Arg::exact).collect();
        let name = words.and_then(|words| TELLS.iter().find_map(|tells| one(words.strip_prefix(*tells)?)));
        self.hint = name.map(str::to_owned);
    }

    /// An expansion of a variable, which `other` stands in for.
    pub(super) fn variable(&mut self, name: &str, other: Option<&[Part]>) {
        let other = match other {
            Some([Part::Plain(text) | Part::Quoted(text)]) => one(&[text]).map(str::to_owned),
            _ => None,
        };
        self.hint = self.variables.get(name).cloned().or(other);
    }

    /// Behind the expansion of a word.
    pub(super) fn word(&mut self, word: &Word) {
        let parts = word.parts.iter().filter(|part| !matches!(part, Part::Quoted(text) if text.is_empty()));
        if let Some(name) = self.hint.take().filter(|_| parts.count() == 1) {
            self.words.push((word.span.clone(), name));
        }
    }

    /// Behind the value that a variable gets.
    pub(super) fn assigned(&mut self, variable: &str) {
        match self.hint.take() {
            Some(name) => self.variables.insert(variable.to_owned(), name),
            None => self.variables.remove(variable),
        };
    }

    /// The words of a command with that program in front, or behind a program whose own words are followed no further.
    pub(super) fn argv(&self, args: &[Arg]) -> Option<Vec<Arg>> {
        let named =
            |arg: &Arg| self.words.iter().rev().find(|(span, _)| *span == arg.span).map(|(_, name)| arg.with(name));
        let first = args.first()?;
        match first.exact() {
            None => Some([named(first)?].into_iter().chain(args.iter().skip(1).cloned()).collect()),
            Some(before) if BEFORE.contains(&before) && args.iter().any(|arg| named(arg).is_some()) => {
                Some(args.iter().map(|arg| named(arg).unwrap_or_else(|| arg.clone())).collect())
            }
            Some(_) => None,
        }
    }
}

/// The one name that words are.
fn one<'w>(words: &[&'w str]) -> Option<&'w str> {
    let [name] = words else { return None };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+/".contains(c);
    (!name.is_empty() && !name.starts_with('-') && name.chars().all(plain)).then_some(*name)
}
