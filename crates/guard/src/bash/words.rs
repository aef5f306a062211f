//! From the pieces of a word to the words that a command gets: braces, `~`, values, splitting,
//! wildcards. Whatever is not known stays opaque, with the text in front of it.

use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use super::judge::{Arg, Why, Word};
use super::parse::is_name;
use super::script::Part;

/// Most words that one word of the script may become.
const MOST: usize = 256;

/// Most texts that one word may become where its values are each one of several.
const ALTERNATIVES: usize = 64;

/// Most braces of one word that are looked into: each is read again for those before it.
const BRACES: usize = 32;

/// The word that a job of the script becomes: `kill` must not take it for process 0, which is everybody.
const JOB: &str = "%1";

/// The word that the shell itself becomes. No job has this number.
pub(super) const SHELL: &str = "%0";

/// What is known of a variable, or of an expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// This text.
    Exact(String),
    /// Digits.
    Number,
    /// The number of a process that the script has started.
    Job,
    /// The number of the shell that runs the script.
    Shell,
    /// One of these texts.
    OneOf(Vec<String>),
    /// One file name that the pattern matches.
    Pattern { pattern: String, prefix: String },
    /// What a command of a known kind prints: no word, or several.
    Output(Output),
    /// An array with these elements. It says so only where all of them are meant, or one by its number.
    List(Rc<Vec<Arg>>),
    /// Anything; the reason.
    Opaque(Why),
}

impl Value {
    /// Anything, for this reason.
    pub fn unknown(why: impl Into<Why>) -> Value {
        Value::Opaque(why.into())
    }
}

/// The words that a command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Output {
    /// How every word starts.
    pub start: Start,
    /// Only digits.
    pub number: bool,
    /// Names of files below the working directory: how all of it starts where quotes make one name of it.
    pub begins: Option<&'static str>,
    /// One word that leads nowhere.
    pub label: Label,
}

/// How a word starts that a command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// In any way.
    Anyhow,
    /// As a name below the working directory does.
    Here,
    /// As the path of a program of the system does.
    Program,
    /// With a letter or a digit, and it has no slash: a hash, a number, a name.
    Plain,
    /// As the number of a line does that grep has found: with a digit, or with what it says of a file that is no text, `grep`
    /// or `Binary`. Only sed and arithmetic take one for a number, to which those are an error or the name of a variable.
    Line,
    /// As the name of a branch does: no blank, no `..` and no part that starts with a dot, but perhaps a slash, and a dash
    /// in front. So it is known only behind text of the script, as `origin/` and `main..` are.
    Branch,
}

impl Start {
    /// A text that starts so, for patterns.
    pub fn text(self) -> &'static str {
        match self {
            Start::Anyhow | Start::Branch | Start::Line => "",
            Start::Here => "./",
            Start::Program => "/usr/bin/",
            Start::Plain => "0",
        }
    }
}

/// Whether what is printed is one word of letters, digits, `_`, `-` and single dots that begins with a letter or a digit. It
/// is no option then, leads to no other directory, and is no name that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// That is not known.
    No,
    /// It is, where anything is printed.
    Perhaps,
    /// It is.
    Always,
}

impl Output {
    /// Words that start so, of which no more is known.
    pub const fn starting(start: Start) -> Output {
        Output { start, number: false, begins: None, label: Label::No }
    }

    /// Digits.
    pub const NUMBER: Output = Output { number: true, ..Output::starting(Start::Plain) };

    /// Digits, and at least one.
    pub const COUNT: Output = Output { label: Label::Always, ..Output::NUMBER };
}

/// Stands in a pattern for a number, or for what a command prints that is a [`Label`]. A text has it nowhere else: control
/// characters are refused.
pub(super) const LABEL: char = '\u{3}';

/// A piece of a word whose values are known as far as they are.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Plain(String),
    Quoted(String),
    Value { value: Value, quoted: bool },
}

#[derive(Debug, Clone)]
enum Atom {
    /// A character outside quotes.
    Bare(char),
    Quoted(String),
    Value(Value, bool),
}

/// Whether text outside quotes stands for itself.
pub(super) fn is_literal(text: &str) -> bool {
    !text.is_empty() && !text.bytes().any(|byte| matches!(byte, b'{' | b'~' | b'*' | b'?' | b'['))
}

/// The text of a word in which nothing is expanded: most words.
fn literal(pieces: &[Piece]) -> Option<String> {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Plain(text) if is_literal(text) => out.push_str(text),
            Piece::Quoted(text) => out.push_str(text),
            _ => return None,
        }
    }
    (!pieces.is_empty()).then_some(out)
}

/// The words that `pieces` become.
pub(super) fn expand(pieces: &[Piece], home: &Path, span: &Range<usize>) -> Vec<Arg> {
    if let Some(text) = literal(pieces) {
        return vec![Arg { word: Word::Exact(text), span: span.clone() }];
    }
    let mut atoms = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Plain(text) => atoms.extend(text.chars().map(Atom::Bare)),
            Piece::Quoted(text) => atoms.push(Atom::Quoted(text.clone())),
            Piece::Value { value, quoted } => atoms.push(Atom::Value(value.clone(), *quoted)),
        }
    }
    let opaque = |why: &str| Word::Opaque { prefix: String::new(), splits: true, why: why.into() };
    let mut words = Vec::new();
    let alternatives = match atoms.iter().filter(|atom| matches!(atom, Atom::Bare('{'))).count() {
        0 => Some(vec![atoms]),
        some if some <= BRACES => braces(atoms, 0),
        _ => None,
    };
    match alternatives {
        None => words.push(opaque("the braces stand for too many words")),
        Some(alternatives) => {
            for atoms in alternatives {
                finish(&atoms, home, true, &mut words);
                if words.len() > MOST {
                    words = vec![opaque("it stands for too many words")];
                    break;
                }
            }
        }
    }
    words.into_iter().map(|word| Arg { word, span: span.clone() }).collect()
}

/// The one text that `pieces` are where no word is split (assignments, here-strings, `case`).
pub(super) fn single(pieces: &[Piece], home: &Path) -> Value {
    if let Some(text) = literal(pieces) {
        return Value::Exact(text);
    }
    let mut atoms = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Plain(text) => atoms.extend(text.chars().map(Atom::Bare)),
            Piece::Quoted(text) => atoms.push(Atom::Quoted(text.clone())),
            Piece::Value { value, .. } => atoms.push(Atom::Value(value.clone(), true)),
        }
    }
    if let [Atom::Value(value, _)] = atoms.as_slice() {
        return value.clone();
    }
    if atoms.windows(2).any(|pair| matches!(pair, [Atom::Bare(':' | '='), Atom::Bare('~')])) {
        return Value::unknown("`~` inside a value");
    }
    let mut words = Vec::new();
    finish(&atoms, home, false, &mut words);
    match words.into_iter().next() {
        None => Value::Exact(String::new()),
        Some(Word::Exact(text)) => Value::Exact(text),
        Some(Word::Glob { pattern, prefix }) => Value::Pattern { pattern, prefix },
        Some(Word::OneOf(words)) => {
            let texts: Option<Vec<String>> = words
                .into_iter()
                .map(|word| match word {
                    Word::Exact(text) => Some(text),
                    _ => None,
                })
                .collect();
            texts.map_or_else(|| Value::unknown("one of several patterns"), Value::OneOf)
        }
        Some(Word::Opaque { why, .. }) => Value::Opaque(why),
    }
}

// Braces.

/// Whether braces bring a letter behind a `$name` that is written without them: `$a{b,c}` is `$ab $ac`, for bash reads names
/// when it is done with braces.
pub(super) fn runs_on(parts: &[Part]) -> bool {
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            Part::Plain(text) => atoms.extend(text.chars().map(Atom::Bare)),
            Part::Param { param, quoted: false } if !param.closed && is_name(&param.name) => {
                atoms.push(Atom::Value(Value::Number, false));
            }
            _ => atoms.push(Atom::Quoted(String::new())),
        }
    }
    match atoms.iter().filter(|atom| matches!(atom, Atom::Bare('{'))).count() {
        0 => return false,
        some if some > BRACES => return true,
        _ => {}
    }
    let joined =
        |pair: &[Atom]| matches!(pair, [Atom::Value(..), Atom::Bare(c)] if c.is_ascii_alphanumeric() || *c == '_');
    braces(atoms, 0).is_none_or(|words| words.iter().any(|word| word.windows(2).any(joined)))
}

/// Every alternative; `None` when there are too many.
fn braces(atoms: Vec<Atom>, from: usize) -> Option<Vec<Vec<Atom>>> {
    let mut open = from;
    loop {
        open = match atoms.iter().skip(open).position(|atom| matches!(atom, Atom::Bare('{'))) {
            Some(ahead) => open + ahead,
            None => return Some(vec![atoms]),
        };
        let Some((commas, close)) = matching(&atoms, open) else {
            open += 1;
            continue;
        };
        let before = atoms.get(..open).unwrap_or_default();
        let inside = atoms.get(open + 1..close).unwrap_or_default();
        let after = atoms.get(close + 1..).unwrap_or_default();
        let alternatives: Vec<Vec<Atom>> = if commas.is_empty() {
            match sequence(inside) {
                Sequence::None => {
                    open += 1;
                    continue;
                }
                Sequence::TooLong => return None,
                Sequence::Words(words) => {
                    words.into_iter().map(|word| word.chars().map(Atom::Bare).collect()).collect()
                }
            }
        } else {
            let mut parts = Vec::new();
            let mut start = open + 1;
            for comma in commas.iter().copied().chain([close]) {
                parts.push(atoms.get(start..comma).unwrap_or_default().to_vec());
                start = comma + 1;
            }
            parts
        };
        let tails = braces(after.to_vec(), 0)?;
        let mut out = Vec::new();
        for alternative in alternatives {
            for inner in braces(alternative, 0)? {
                for tail in &tails {
                    if out.len() >= MOST {
                        return None;
                    }
                    out.push(before.iter().chain(&inner).chain(tail).cloned().collect());
                }
            }
        }
        return Some(out);
    }
}

/// The commas of this brace's own level and its partner.
fn matching(atoms: &[Atom], open: usize) -> Option<(Vec<usize>, usize)> {
    let mut depth = 0usize;
    let mut commas = Vec::new();
    for (at, atom) in atoms.iter().enumerate().skip(open) {
        match atom {
            Atom::Bare('{') => depth += 1,
            Atom::Bare('}') => {
                depth -= 1;
                if depth == 0 {
                    return Some((commas, at));
                }
            }
            Atom::Bare(',') if depth == 1 => commas.push(at),
            _ => {}
        }
    }
    None
}

enum Sequence {
    None,
    TooLong,
    Words(Vec<String>),
}

fn sequence(inside: &[Atom]) -> Sequence {
    let text: Option<String> = inside
        .iter()
        .map(|atom| match atom {
            Atom::Bare(c) => Some(*c),
            _ => None,
        })
        .collect();
    let Some(text) = text else { return Sequence::None };
    let parts: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match parts.as_slice() {
        [first, last] => (*first, *last, "1"),
        [first, last, step] => (*first, *last, *step),
        _ => return Sequence::None,
    };
    let Ok(step) = step.parse::<i64>() else { return Sequence::None };
    let step = step.unsigned_abs().max(1);
    let letter = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|c| c.is_ascii_alphabetic() && chars.next().is_none()).map(|c| i64::from(u32::from(c)))
    };
    let (from, to, letters) = match (first.parse::<i64>(), last.parse::<i64>(), letter(first), letter(last)) {
        (Ok(from), Ok(to), ..) => (from, to, false),
        (.., Some(from), Some(to)) => (from, to, true),
        _ => return Sequence::None,
    };
    let count = from.abs_diff(to) / step + 1;
    if count > MOST as u64 {
        return Sequence::TooLong;
    }
    let digits = |text: &str| text.trim_start_matches(['-', '+']).len();
    let padded = |text: &str| digits(text) > 1 && text.trim_start_matches(['-', '+']).starts_with('0');
    let width = if !letters && (padded(first) || padded(last)) { first.len().max(last.len()) } else { 0 };
    let words = (0..count).map(|index| {
        let ahead = i64::try_from(index * step).unwrap_or(0);
        let value = if from <= to { from + ahead } else { from - ahead };
        if letters {
            u32::try_from(value).ok().and_then(char::from_u32).map_or_else(String::new, String::from)
        } else {
            format!("{value:0width$}")
        }
    });
    Sequence::Words(words.collect())
}

// Values, splitting, wildcards.

#[derive(Debug, Clone, Default)]
struct Build {
    text: String,
    /// Where the first wildcard stands.
    wild: Option<usize>,
    /// Text before what is not known, whether it splits, and why it is not known.
    opaque: Option<(String, bool, Why)>,
    /// Something is there even if the text is empty.
    present: bool,
}

impl Build {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.present = true;
    }

    fn wildcard(&mut self, c: char) {
        self.wild.get_or_insert(self.text.len());
        self.text.push(c);
        self.present = true;
    }

    /// Whether a label may be put in here: what is in front of it is known.
    fn takes_label(&self, label: Label) -> bool {
        self.opaque.is_none() && (label == Label::Always || label == Label::Perhaps && !self.text.is_empty())
    }

    fn unknown(&mut self, splits: bool, why: impl Into<Why>) {
        let known = self.text.get(..self.wild.unwrap_or(self.text.len())).unwrap_or_default().to_owned();
        let (_, split, _) = self.opaque.get_or_insert_with(|| (known, splits, why.into()));
        *split |= splits;
        self.present = true;
    }

    fn word(self) -> Word {
        match (self.opaque, self.wild) {
            (Some((prefix, splits, why)), _) => Word::Opaque { prefix, splits, why },
            (None, Some(at)) => {
                let prefix = self.text.get(..at).unwrap_or_default().to_owned();
                let pattern = match self.text.contains(['*', '?', '[']) {
                    true => self.text.replace(LABEL, "*"),
                    false => self.text,
                };
                Word::Glob { pattern, prefix }
            }
            (None, None) => Word::Exact(self.text),
        }
    }
}

/// Whether a word is one value, in quotes or not.
fn alone(atoms: &[Atom]) -> bool {
    atoms.iter().filter(|atom| !matches!(atom, Atom::Quoted(text) if text.is_empty())).take(2).count() == 1
}

/// What the atoms of one word become, once its braces are gone.
fn finish(atoms: &[Atom], home: &Path, splits: bool, words: &mut Vec<Word>) {
    let mut making = Making { atoms, splits, alone: alone(atoms), builds: vec![Build::default()], words };
    let home = home.to_string_lossy();
    let mut at = 0;
    match tilde(atoms, 0) {
        Some(Tilde::Home(next)) => {
            making.push(&home);
            at = next;
        }
        Some(Tilde::Other) => making.unknown(false, "the home of somebody else, or a directory of the stack"),
        None => {}
    }
    let bracket = atoms.iter().rposition(|atom| matches!(atom, Atom::Bare(']'))).unwrap_or(0);
    // `name=~/x` is expanded in every argument, not only in assignments.
    let equals = atoms.iter().position(|atom| !matches!(atom, Atom::Bare(c) if c.is_ascii_alphanumeric() || *c == '_'));
    while let Some(atom) = atoms.get(at) {
        match atom {
            Atom::Bare('~')
                if at > 0 && equals == Some(at - 1) && matches!(atoms.get(at - 1), Some(Atom::Bare('='))) =>
            {
                match tilde(atoms, at) {
                    Some(Tilde::Home(next)) => {
                        making.push(&home);
                        at = next;
                        continue;
                    }
                    _ => making.unknown(false, "`~` of somebody else"),
                }
            }
            Atom::Bare(c) => making.bare(*c, bracket >= at + 2),
            Atom::Quoted(text) => making.push(text),
            Atom::Value(value, quoted) => making.value(value, !quoted && splits, at),
        }
        at += 1;
    }
    let mut builds = making.builds;
    builds.retain(|build| build.present);
    let mut finished: Vec<Word> = builds.into_iter().map(Build::word).collect();
    finished.dedup();
    if finished.len() > 1 {
        words.push(Word::OneOf(finished));
    } else {
        words.append(&mut finished);
    }
}

/// A word that is being made.
struct Making<'m> {
    atoms: &'m [Atom],
    /// Wildcards stand for names, and values outside quotes fall apart.
    splits: bool,
    /// The word is one value, in quotes or not.
    alone: bool,
    /// What it may have become up to here: several texts where a value is one of several.
    builds: Vec<Build>,
    /// The words in front of it, into which a value has fallen apart.
    words: &'m mut Vec<Word>,
}

impl Making<'_> {
    fn each(&mut self, change: impl Fn(&mut Build)) {
        self.builds.iter_mut().for_each(change);
    }

    fn push(&mut self, text: &str) {
        self.each(|build| build.push(text));
    }

    fn unknown(&mut self, splits: bool, why: impl Into<Why>) {
        let why = why.into();
        self.each(|build| build.unknown(splits, why.clone()));
    }

    /// A character outside quotes. `closed`: where it opens a bracket, another one closes it.
    fn bare(&mut self, c: char, closed: bool) {
        let wild = match c {
            '*' | '?' => true,
            '[' => closed,
            _ => false,
        };
        match wild && self.splits {
            true => self.each(|build| build.wildcard(c)),
            false => self.push(c.encode_utf8(&mut [0; 4])),
        }
    }

    /// A value, which stands at `at`; `bare`: it falls apart there.
    fn value(&mut self, value: &Value, bare: bool, at: usize) {
        match value {
            Value::Exact(text) if bare => {
                if !exact_bare(text, &mut self.builds, self.words) {
                    self.unknown(true, "a value with blanks");
                }
            }
            Value::Exact(text) => self.push(text),
            // As a word it stands as bash itself writes a job of the script; behind a dash it is its group.
            Value::Job if self.is_process(at) => self.push(JOB),
            Value::Shell if self.is_process(at) => self.push(SHELL),
            Value::Number if self.alone => self.push("0"),
            Value::Number | Value::Job | Value::Shell => self.each(|build| {
                if build.text.is_empty() || build.opaque.is_some() {
                    build.unknown(false, Why::Number);
                } else {
                    build.wildcard(LABEL);
                }
            }),
            Value::OneOf(texts) => self.one_of(texts, bare),
            Value::Pattern { pattern, prefix } => self.pattern(pattern, prefix, bare),
            Value::Output(output) => self.printed(*output, bare, at),
            Value::List(_) => self.unknown(bare, Why::Array),
            Value::Opaque(why) => {
                let known = why.is_listed() || matches!(why, Why::Found | Why::Kept);
                let without = self.without(at).filter(|_| known);
                // What stands behind such a name may lead out of where it was listed.
                let ends = self.atoms.get(at + 1..).unwrap_or_default().iter().all(is_nothing);
                let why = if *why == Why::Loose && !ends { &Why::Listed } else { why };
                self.unknown(bare, why.clone());
                self.builds.extend(without);
            }
        }
    }

    /// What the word is without the value at `at`, where what stands behind that may then begin a path from the root: what a
    /// command prints may be nothing.
    fn without(&self, at: usize) -> Option<Build> {
        let rest = self.atoms.get(at + 1..).unwrap_or_default();
        let may_lead_away = match rest.iter().find(|atom| !is_nothing(atom))? {
            Atom::Bare(c) => *c == '/',
            Atom::Quoted(text) => text.starts_with('/'),
            Atom::Value(Value::Exact(text), _) => text.is_empty() || text.starts_with('/'),
            Atom::Value(Value::Number | Value::Job | Value::Shell, _) => false,
            Atom::Value(..) => true,
        };
        let empty = |build: &&Build| build.text.is_empty() && build.opaque.is_none();
        self.builds.iter().find(empty).filter(|_| may_lead_away).cloned()
    }

    /// Whether the number of a process at `at` is all of the word, but for a dash in front.
    fn is_process(&self, at: usize) -> bool {
        self.alone || at + 1 == self.atoms.len() && self.builds.iter().all(|build| build.text == "-")
    }

    fn one_of(&mut self, texts: &[String], bare: bool) {
        let odd = bare && texts.iter().any(|text| text.is_empty() || has_special(text));
        if odd || self.builds.len() * texts.len() > ALTERNATIVES {
            return self.unknown(bare, "one of several values");
        }
        let with = |build: &Build, text: &String| {
            let mut build = build.clone();
            build.push(text);
            build
        };
        self.builds = self.builds.iter().flat_map(|build| texts.iter().map(|text| with(build, text))).collect();
    }

    fn pattern(&mut self, pattern: &str, prefix: &str, bare: bool) {
        // Outside quotes a name with blanks becomes several words, so nothing is known of
        // their start; and behind a slash they could be any path.
        let deep = pattern.get(prefix.len()..).is_some_and(|rest| rest.contains('/'));
        if bare && deep {
            return self.unknown(true, "names with blanks fall apart here; put the variable into quotes");
        }
        // The name as it is, and a piece of it that starts anyhow.
        let pieces: Vec<Build> = self.builds.iter().filter(|_| bare).cloned().collect();
        for build in &mut self.builds {
            build.wild.get_or_insert(build.text.len() + prefix.len());
            build.text.push_str(pattern);
            build.present = true;
        }
        for mut piece in pieces {
            piece.wild = Some(0);
            piece.text.push_str(pattern);
            piece.present = true;
            if !self.builds.iter().any(|build| build.wild == Some(0) && build.text == piece.text) {
                self.builds.push(piece);
            }
        }
    }

    /// What a command printed, which stands at `at`.
    fn printed(&mut self, output: Output, bare: bool, at: usize) {
        let before = self.atoms.get(..at).unwrap_or_default();
        let rest = self.atoms.get(at + 1..).unwrap_or_default();
        if output.start == Start::Line {
            return self.unknown(bare, PRINTED);
        }
        if output.start == Start::Branch {
            return self.branch(bare, rest);
        }
        let alone = before.iter().all(is_nothing);
        let labelled = match output.label {
            Label::No if output.number && !bare => Label::Perhaps,
            label => label,
        };
        if !(alone && rest.iter().all(is_nothing) && labelled == Label::Perhaps)
            && self.builds.iter().all(|build| build.takes_label(labelled))
        {
            return self.each(|build| build.wildcard(LABEL));
        }
        let lone =
            alone && rest.iter().all(is_nothing) || output.start == Start::Plain && alone && extends_revision(rest);
        if let (Some(begins), false, true) = (output.begins, bare, lone) {
            self.push(begins);
            return self.unknown(false, Why::Found);
        }
        if !lone || !(bare || matches!(output.start, Start::Plain | Start::Program)) {
            let without = self.without(at);
            match output.start {
                Start::Here | Start::Anyhow => self.unknown(bare, Why::Listed),
                Start::Plain => self.unknown(bare, Why::Kept),
                Start::Program | Start::Branch | Start::Line => self.unknown(bare, PRINTED),
            }
            return self.builds.extend(without);
        }
        // A name with blanks becomes several words, and the second starts as it likes.
        self.push(if output.start == Start::Here { "" } else { output.start.text() });
        self.each(|build| build.wildcard('*'));
        self.each(|build| build.wildcard('*'));
        // In quotes it is one word, which may be empty.
        self.builds.extend((!bare).then(|| Build { present: true, ..Build::default() }));
    }

    /// The name of a branch, with `rest` behind it.
    fn branch(&mut self, bare: bool, rest: &[Atom]) {
        // Where no name is printed, `main..` alone is still no step up, as `..` and `sub/..` would be.
        let range = |text: &str| text.ends_with("..") && text.trim_end_matches('.').ends_with(|c: char| c != '/');
        let begins = |text: &str| text.ends_with('/') || range(text);
        let named = |build: &Build| begins(&build.text) && !build.text.starts_with('-') && build.opaque.is_none();
        let ends = rest.iter().all(is_nothing) || extends_revision(rest);
        match ends && self.builds.iter().all(named) {
            true => self.each(|build| build.wildcard('*')),
            false => self.unknown(bare, PRINTED),
        }
    }
}

/// Why what a command prints is not known, where no more can be said.
const PRINTED: &str = "the output of a command";

fn is_nothing(atom: &Atom) -> bool {
    matches!(atom, Atom::Quoted(text) if text.is_empty())
}

/// Whether what follows makes no path and no option of a revision, even where that is empty: `..HEAD`, `^2`, or the path of
/// a file in it, `:src/main.rs`.
fn extends_revision(rest: &[Atom]) -> bool {
    let mut text = String::new();
    for atom in rest {
        match atom {
            Atom::Bare(c) => text.push(*c),
            Atom::Quoted(quoted) => text.push_str(quoted),
            _ => return false,
        }
    }
    let file = text.strip_prefix(':').is_some_and(|path| !path.starts_with('/') && !path.contains(".."));
    if file {
        return text.chars().skip(1).all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    }
    let before = !text.is_empty() && text.chars().all(|c| matches!(c, '^' | '~'));
    before
        || text.starts_with(['.', '~', '^'])
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '~' | '^' | '_' | '-'))
            && text.chars().any(|c| c.is_ascii_alphanumeric())
}

pub(super) fn has_special(text: &str) -> bool {
    text.contains([' ', '\t', '\n', '*', '?', '['])
}

/// Puts a value in without quotes: it splits at blanks. `false` when that cannot be said here.
fn exact_bare(text: &str, builds: &mut Vec<Build>, words: &mut Vec<Word>) -> bool {
    if !has_special(text) {
        if !text.is_empty() {
            builds.iter_mut().for_each(|build| build.push(text));
        }
        return true;
    }
    let [build] = builds.as_mut_slice() else { return false };
    for (index, c) in text.char_indices() {
        match c {
            ' ' | '\t' | '\n' => {
                if build.present {
                    words.push(std::mem::take(build).word());
                }
            }
            '*' | '?' | '[' => build.wildcard(c),
            _ => build.push(text.get(index..index + c.len_utf8()).unwrap_or_default()),
        }
    }
    true
}

enum Tilde {
    /// Behind it.
    Home(usize),
    Other,
}

fn tilde(atoms: &[Atom], at: usize) -> Option<Tilde> {
    if !matches!(atoms.get(at), Some(Atom::Bare('~'))) {
        return None;
    }
    match atoms.get(at + 1) {
        None | Some(Atom::Bare('/' | ':')) => Some(Tilde::Home(at + 1)),
        // `~""x` and `~$x` are no tilde expansion.
        Some(Atom::Quoted(_) | Atom::Value(..)) => None,
        Some(_) => Some(Tilde::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[Piece]) -> Vec<Word> {
        expand(pieces, Path::new("/home/dev"), &(0..1)).into_iter().map(|arg| arg.word).collect()
    }

    fn plain(text: &str) -> Vec<String> {
        all(&[Piece::Plain(text.to_owned())])
            .into_iter()
            .map(|word| match word {
                Word::Exact(text) => text,
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn braces_become_what_bash_makes_of_them() {
        for (text, want) in [
            ("{a,b}c", "ac bc"),
            ("a{,b}", "a ab"),
            ("{a,{b,c}}", "a b c"),
            ("{a,b}{1,2}", "a1 a2 b1 b2"),
            ("{1..3}", "1 2 3"),
            ("{3..1}", "3 2 1"),
            ("{01..03}", "01 02 03"),
            ("{a..e..2}", "a c e"),
            ("{1..10..4}", "1 5 9"),
            ("{a}", "{a}"),
            ("{}", "{}"),
            ("{a,b", "{a,b"),
            ("{{a,b}", "{a {b"),
            ("{a,b}}", "a} b}"),
            ("x{1..b}", "x{1..b}"),
            ("-{d,e}lete", "-dlete -elete"),
            ("~/x", "/home/dev/x"),
            ("if=~/x", "if=/home/dev/x"),
            ("--a=~/x", "--a=~/x"),
        ] {
            assert_eq!(plain(text).join(" "), want, "{text}");
        }
        assert!(matches!(all(&[Piece::Plain("{1..9999}".into())]).as_slice(), [Word::Opaque { .. }]));
        assert!(matches!(all(&[Piece::Plain("~root/x".into())]).as_slice(), [Word::Opaque { .. }]));
    }

    #[test]
    fn values_split_outside_quotes_only() {
        let value = |text: &str, quoted| Piece::Value { value: Value::Exact(text.into()), quoted };
        assert_eq!(all(&[value("-l -a", false)]), [Word::Exact("-l".into()), Word::Exact("-a".into())]);
        assert_eq!(all(&[value("-l -a", true)]), [Word::Exact("-l -a".into())]);
        assert_eq!(all(&[value("", false)]), []);
        assert_eq!(all(&[value("", true)]), [Word::Exact(String::new())]);
        assert_eq!(
            all(&[Piece::Plain("src/".into()), value("*.rs", false)]),
            [Word::Glob { pattern: "src/*.rs".into(), prefix: "src/".into() }]
        );
        let unknown = Piece::Value { value: Value::Opaque("x".into()), quoted: false };
        assert_eq!(
            all(&[Piece::Plain("./".into()), unknown]),
            [Word::Opaque { prefix: "./".into(), splits: true, why: "x".into() }]
        );
    }
}
