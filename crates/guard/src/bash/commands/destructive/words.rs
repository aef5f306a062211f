//! The words of a command as the warnings read them: options apart from operands, approximately.

use std::rc::Rc;

use super::super::super::judge::{Arg, Why, Word};
use super::super::spec::lists;
use super::valued::{like, valued};

/// A word, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its text; for a pattern with its wildcards, for an unknown word what it starts with.
    pub text: Rc<str>,
    /// Whether that is all of it.
    pub known: bool,
    /// Whether it is a file name pattern.
    pub glob: bool,
}

impl Piece {
    /// A known word.
    pub fn known(text: &str) -> Piece {
        Piece { text: text.into(), known: true, glob: false }
    }

    /// The word that `arg` is.
    pub fn of(arg: &Arg) -> Piece {
        match &arg.word {
            Word::Exact(text) => Piece::known(text),
            Word::Glob { pattern, .. } => Piece { text: pattern.as_str().into(), known: false, glob: true },
            Word::OneOf(words) => match words.first() {
                Some(Word::Exact(text)) => Piece { text: text.as_str().into(), known: false, glob: false },
                _ => Piece { text: "".into(), known: false, glob: false },
            },
            // `while read -r f; do rm "$f"; done`: as many as were listed.
            Word::Opaque { prefix, why: Why::Listed | Why::Loose | Why::Found, .. } => {
                Piece { text: format!("{prefix}**").into(), known: false, glob: true }
            }
            Word::Opaque { prefix, .. } => Piece { text: prefix.as_str().into(), known: false, glob: false },
        }
    }
}

/// An option: as written with its dashes (each letter of a bundle by itself), and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flag {
    /// `-f`, `--force`, `-auto-approve`.
    pub name: String,
    /// What is attached to it, or the next word where the option is known to take one.
    pub value: Option<Piece>,
    /// How many operands stand before it.
    pub after: usize,
}

/// A command, read.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    /// The program without its directory, lower case `.exe` removed.
    pub program: String,
    /// The program as it was called.
    pub name: Rc<str>,
    /// Every word behind the program.
    pub raw: Vec<Piece>,
    /// Options in order.
    pub flags: Vec<Flag>,
    /// Operands in order.
    pub operands: Vec<Piece>,
    /// Of every operand, which of the words it is, and whether it may be the value of the option right before it.
    pub spots: Vec<(usize, bool)>,
}

/// Letters of one bundle that are looked at: more than any program has.
const BUNDLE: usize = 64;

/// How many values of unknown options are passed over in front of a subcommand.
const SKIPPED: usize = 4;

/// Options that take no value in any program that destroys something with them.
pub(super) const VALUELESS: &str = "-y --force --hard --all --recursive --delete --yes --no-verify --prune --volumes \
    --quiet --verbose --debug --no-pager --no-input --noinput --global";

/// Options that hardly any program gives a value: the operand behind one is no value of it.
const SWITCHES: &str = "-q -v -it -A --user --json";

/// Programs of which `-f`, `-r` and `-D` take no value either; elsewhere they may: `curl -D FILE`, `restic -r PLACE`.
pub(super) const PLAIN: &str = "rm git";

/// The program that the first word of a command names. The script that starts and stops a service does what `service`
/// does with its name.
pub(super) fn program(word: &str) -> &str {
    if is_service(word) {
        return "service";
    }
    let name = file_name(word);
    // `npx prisma@5`: which version it is makes no other program of it.
    let name = name.split_once('@').map_or(name, |(plain, _)| if plain.is_empty() { name } else { plain });
    SAME.iter().find(|(other, _)| *other == name).map_or(name, |(_, known)| known)
}

fn file_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name)
}

fn is_service(word: &str) -> bool {
    word.starts_with('/') && SERVICES.iter().any(|place| word.starts_with(place))
}

/// Where the scripts of services are.
const SERVICES: &[&str] = &["/etc/init.d/", "/etc/rc.d/"];

/// Other names of the same program.
const SAME: &[(&str, &str)] = &[
    ("grm", "rm"),
    ("gmv", "mv"),
    ("gcp", "cp"),
    ("gdd", "dd"),
    ("gchmod", "chmod"),
    ("gchown", "chown"),
    ("gchgrp", "chgrp"),
    ("gtruncate", "truncate"),
    ("gshred", "shred"),
    ("awslocal", "aws"),
    ("aws-cdk", "cdk"),
    ("firebase-tools", "firebase"),
    ("finch", "docker"),
    ("python2", "python"),
    ("python3", "python"),
];

impl Line {
    /// Reads `argv`.
    pub fn of(argv: &[Arg]) -> Line {
        Line::read(argv.iter().map(Piece::of).collect())
    }

    /// Reads words.
    pub fn read(words: Vec<Piece>) -> Line {
        let mut words = words.into_iter();
        let Some(first) = words.next().filter(|first| first.known) else { return Line::default() };
        let mut line = Line {
            program: program(&first.text).to_owned(),
            name: Rc::clone(&first.text),
            raw: words.collect(),
            flags: Vec::new(),
            operands: Vec::new(),
            spots: Vec::new(),
        };
        if is_service(&first.text) {
            line.raw.insert(0, Piece::known(file_name(&first.text)));
        }
        line.split();
        line
    }

    fn split(&mut self) {
        let program = like(&self.program);
        let general = valued(program, None).unwrap_or_default();
        let mut takes = general;
        let mut words = self.raw.iter().enumerate();
        let mut ended = false;
        // Whether an option just ended that may take a value without our knowledge.
        let mut open = false;
        while let Some((place, word)) = words.next() {
            let text = word.text.as_ref();
            let may_be_value = std::mem::take(&mut open);
            if ended || text.len() < 2 || !text.starts_with('-') {
                if self.operands.is_empty() {
                    // `cargo +nightly clean`: which of them it is makes no subcommand.
                    if program == "cargo" && text.starts_with('+') {
                        continue;
                    }
                    if program == "git" {
                        // Of its subcommands this letter means something else.
                        self.flags.retain(|flag| flag.name != "-C");
                    }
                    takes = valued(program, Some(text)).unwrap_or(general);
                }
                self.operands.push(word.clone());
                self.spots.push((place, may_be_value && !ended));
                continue;
            }
            if text == "--" {
                ended = true;
                let after = self.operands.len();
                self.flags.push(Flag { name: text.to_owned(), value: None, after });
                continue;
            }
            let after = self.operands.len();
            let wants = |name: &str| lists(takes, name);
            let (name, attached) = match text.split_once('=') {
                Some((name, value)) => (name, Some(Piece { text: value.into(), ..word.clone() })),
                None => (text, None),
            };
            // As one name: long options, and those behind one dash. A long bundle of letters never equals one.
            let separate = attached.is_none() && name.len() > 2 && wants(name);
            let value = if separate { words.next().map(|(_, word)| word.clone()) } else { attached };
            open = value.is_none()
                && ![VALUELESS, SWITCHES].iter().any(|names| lists(names, name))
                && !lists(PLAIN, program);
            self.flags.push(Flag { name: name.to_owned(), value, after });
            if text.starts_with("--") || separate {
                continue;
            }
            for (at, letter) in text.char_indices().skip(1).take(BUNDLE) {
                let short = String::from_iter(['-', letter]);
                let rest = text.get(at + letter.len_utf8()..).unwrap_or_default();
                let done = wants(&short);
                let value = match (done, rest) {
                    (false, _) => None,
                    (true, "") if word.known => words.next().map(|(_, word)| word.clone()),
                    (true, rest) => Some(Piece { text: rest.trim_start_matches('=').into(), ..word.clone() }),
                };
                // `-f` alone was pushed as a whole already; with its value it says more.
                if name.len() == 2 && done {
                    self.flags.pop();
                }
                if name.len() > 2 || done {
                    self.flags.push(Flag { name: short, value, after });
                }
                if done {
                    open = false;
                    break;
                }
            }
        }
    }

    /// How many operands the words of `path`, between blanks, take up at the front, if that is where they stand. What may
    /// be the value of an option that no table knows is passed over.
    pub fn leads(&self, path: &str) -> Option<usize> {
        self.lead(path, 0, SKIPPED)
    }

    fn lead(&self, path: &str, at: usize, left: usize) -> Option<usize> {
        if path.is_empty() {
            return Some(at);
        }
        let (word, rest) = path.split_once(' ').unwrap_or((path, ""));
        let operand = self.operands.get(at)?;
        let fits = (operand.known || word == "*") && fits_one(word, &operand.text);
        let here = if fits { self.lead(rest, at + 1, left) } else { None };
        here.or_else(|| match self.spots.get(at) {
            Some((_, true)) if left > 0 => self.lead(path, at + 1, left - 1),
            _ => None,
        })
    }

    /// The operands that a path of so many words takes up, without what was passed over.
    pub fn leading(&self, path: &str) -> Vec<&str> {
        let (mut own, mut at) = (Vec::new(), 0);
        for word in path.split(' ').filter(|word| !word.is_empty()) {
            let Some(next) = self.lead(word, at, SKIPPED) else { break };
            own.push(self.operand(next - 1));
            at = next;
        }
        own
    }

    /// Whether the option was given: exactly, or as an unambiguous-looking start of a long one.
    pub fn has(&self, name: &str) -> bool {
        self.flag(name).is_some()
    }

    /// Whether one of these (blank-separated) was given.
    pub fn any(&self, names: &str) -> bool {
        names.split(' ').any(|name| self.has(name))
    }

    /// The option as given.
    pub fn flag(&self, name: &str) -> Option<&Flag> {
        self.flags.iter().find(|flag| {
            flag.name == name || (flag.name.len() > 4 && name.starts_with("--") && name.starts_with(&flag.name))
        })
    }

    /// Every value of these options (blank-separated).
    pub fn values<'l>(&'l self, names: &'l str) -> impl Iterator<Item = &'l Piece> + 'l {
        let named = move |flag: &&Flag| names.split(' ').any(|name| name == flag.name);
        self.flags.iter().filter(named).filter_map(|flag| flag.value.as_ref())
    }

    /// The text of an operand, where it is known.
    pub fn operand(&self, at: usize) -> &str {
        self.operands.get(at).filter(|piece| piece.known).map_or("", |piece| piece.text.as_ref())
    }
}

/// A word that is being read: its text, whether that is all of it, and whether it is a pattern.
type Begun = Option<(String, bool, bool)>;

/// `text` cut into commands and words, with quotes and nothing else of the shell.
pub(super) fn commands(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut words: Vec<Piece> = Vec::new();
    let mut word: Begun = None;
    let begun = |word: &mut Begun| word.take().unwrap_or((String::new(), true, false));
    let end = |word: &mut Begun| word.take().map(|(text, known, glob)| Piece { text: text.into(), known, glob });
    let mut chars = text.chars().peekable();
    while let Some(letter) = chars.next() {
        match letter {
            ' ' | '\t' => words.extend(end(&mut word)),
            ';' | '|' | '&' | '\n' | '(' | ')' => {
                words.extend(end(&mut word));
                lines.push(Line::read(std::mem::take(&mut words)));
            }
            _ => {
                let (mut text, mut known, mut glob) = begun(&mut word);
                match letter {
                    '\'' | '"' => text.extend(chars.by_ref().take_while(|inner| *inner != letter)),
                    '\\' => text.extend(chars.next()),
                    '*' | '?' => {
                        text.push(letter);
                        (known, glob) = (false, true);
                    }
                    '$' | '`' => known = false,
                    letter => text.push(letter),
                }
                word = Some((text, known, glob));
            }
        }
    }
    words.extend(end(&mut word));
    lines.push(Line::read(words));
    lines
}

/// Whether `text` fits one of the patterns between `|`.
pub(super) fn fits_one(patterns: &str, text: &str) -> bool {
    if patterns.bytes().any(|byte| matches!(byte, b'|' | b'*')) {
        patterns.split('|').any(|one| fits(one, text))
    } else {
        patterns == text
    }
}

/// Whether `text` fits `pattern`, in which `*` stands for anything.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    if pattern.bytes().next() != text.bytes().next() && !pattern.starts_with('*') {
        return false;
    }
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => {
            let Some(text) = text.strip_prefix(start) else { return false };
            if rest.is_empty() {
                return true;
            }
            text.char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .any(|at| fits(rest, text.get(at..).unwrap_or_default()))
        }
    }
}
