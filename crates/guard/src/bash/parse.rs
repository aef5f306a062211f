//! Reads a script as `bash -c` does, into a tree whose every nested script is read too.
//!
//! This is a reader of our own because the tree must reach into what general parsers leave as raw
//! text (arithmetic, defaults, here-documents, subscripts) and because every byte of it must have a
//! place in the text. It is narrower than bash on purpose: what bash versions read differently, or
//! what nobody writes by hand, is refused with a reason. A second, independent parser has to agree
//! about the words of every simple command ([`super::second`]); where they differ, nobody is right.

mod compound;
mod word;

use std::ops::Range;

use super::limits::DEPTH;
use super::script::{
    Arm, Assign, AssignValue, Command, Fd, Here, Item, Kind, Op, Param, Part, Pipeline, Program, Redirect, RedirectOp,
    Script, Target, Test, Word, number,
};

/// Why a text is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    /// Byte offset in the text.
    pub at: usize,
    /// One sentence.
    pub why: String,
    /// The text stops before it is complete.
    pub cut: bool,
}

type Read<T> = Result<T, Trouble>;

/// Words that mean something to the grammar where a command may start.
pub(super) const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "select", "while", "until", "do", "done", "case", "esac", "function",
    "time", "coproc", "{", "}", "!", "[[", "]]", "in",
];

/// What ends a list of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Text,
    Paren,
    /// One of these reserved words.
    Words(&'static [&'static str]),
    /// `;;`, `;&`, `;;&` or `esac`.
    Case,
}

/// What was read.
pub(super) struct Outcome {
    pub program: Program,
    /// The bodies of here-documents, and the ends of their lines, in the text itself.
    pub bodies: Vec<Range<usize>>,
    /// The first thing that bash reads and another `sh` does not, or reads otherwise.
    pub beyond: Option<&'static str>,
}

/// Reads `text`; spans are shifted to the place `base` when the text stands inside another.
pub(super) fn parse(text: &str, base: Option<Range<usize>>) -> Read<Outcome> {
    let mut parser = Parser {
        text,
        bytes: text.as_bytes(),
        at: 0,
        fixed: base,
        offset: 0,
        depth: 0,
        pending: Vec::new(),
        outer_pending: false,
        heres: Vec::new(),
        bodies: Vec::new(),
        beyond: None,
    };
    let script = parser.list(End::Text)?;
    Ok(Outcome { program: Program { script, heres: parser.heres }, bodies: parser.bodies, beyond: parser.beyond })
}

struct Pending {
    here: usize,
}

struct Parser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// Every span is this one: the text was unescaped from another place.
    fixed: Option<Range<usize>>,
    /// Added to every span: the text is a slice.
    offset: usize,
    depth: usize,
    pending: Vec<Pending>,
    outer_pending: bool,
    heres: Vec<Here>,
    bodies: Vec<Range<usize>>,
    beyond: Option<&'static str>,
}

fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'(' | b')' | b'<' | b'>')
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether `text` is the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| is_name_start(*byte)) && bytes.iter().all(|byte| is_name_byte(*byte))
}

/// Builtins that take words as assignments.
pub(super) const DECLARES: &[&str] = &["declare", "typeset", "local", "readonly", "export"];

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn looking_at(&self, text: &str) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    fn eat(&mut self, text: &str) -> bool {
        let there = self.looking_at(text);
        if there {
            self.at += text.len();
        }
        there
    }

    fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    fn span(&self, start: usize) -> Range<usize> {
        match &self.fixed {
            Some(fixed) => fixed.clone(),
            None => self.offset + start..self.offset + self.at.max(start),
        }
    }

    fn trouble<T>(&self, why: impl Into<String>) -> Read<T> {
        let at = match &self.fixed {
            Some(fixed) => fixed.start,
            None => self.offset + self.at.min(self.bytes.len()),
        };
        Err(Trouble { at, why: why.into(), cut: false })
    }

    /// The text stops too early.
    fn cut<T>(&self, why: &str) -> Read<T> {
        self.trouble(why).map_err(|trouble| Trouble { cut: true, ..trouble })
    }

    /// Only bash reads this so.
    fn only_bash(&mut self, what: &'static str) {
        self.beyond.get_or_insert(what);
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEPTH {
            return self.trouble(format!("it is nested deeper than {DEPTH} levels"));
        }
        self.depth += 1;
        let out = read(self);
        self.depth -= 1;
        out
    }

    /// One character, as text.
    fn take_char(&mut self) -> &'t str {
        let start = self.at;
        let len = self.text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        self.at = (start + len).min(self.bytes.len());
        self.slice(start..self.at)
    }

    // Blanks, comments, newlines.

    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                _ => break,
            }
        }
        if self.peek() == Some(b'#') {
            while self.peek().is_some_and(|byte| byte != b'\n') {
                self.at += 1;
            }
        }
    }

    /// Takes a newline, and with it the bodies of the here-documents that were announced.
    fn newline(&mut self) -> Read<()> {
        if self.outer_pending {
            return self.trouble("a line ends inside a substitution while a here-document is waiting for its body");
        }
        self.at += 1;
        for pending in std::mem::take(&mut self.pending) {
            self.here_body(pending.here)?;
        }
        Ok(())
    }

    fn skip_newlines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    fn here_body(&mut self, index: usize) -> Read<()> {
        let Some((delimiter, quoted, strip)) =
            self.heres.get(index).map(|here| (here.delimiter.clone(), here.quoted, here.strip))
        else {
            return self.trouble("a here-document is lost");
        };
        let start = self.at;
        let end;
        loop {
            if self.at >= self.bytes.len() {
                return self.trouble(format!("the here-document has no line `{delimiter}` that ends it"));
            }
            let line_start = self.at;
            let mut joined = String::new();
            loop {
                let stop = self.bytes[self.at..]
                    .iter()
                    .position(|byte| *byte == b'\n')
                    .map_or(self.bytes.len(), |n| self.at + n);
                let line = self.slice(self.at..stop);
                self.at = (stop + 1).min(self.bytes.len());
                let slashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
                if quoted || slashes % 2 == 0 || stop >= self.bytes.len() {
                    joined.push_str(line);
                    break;
                }
                joined.push_str(line.get(..line.len() - 1).unwrap_or_default());
            }
            let line = if strip { joined.trim_start_matches('\t') } else { joined.as_str() };
            if line == delimiter {
                end = line_start;
                break;
            }
        }
        // The newline that ended the delimiter's line belongs to the grammar.
        if self.bytes.get(self.at.wrapping_sub(1)) == Some(&b'\n') && self.at > end {
            self.at -= 1;
        }
        let after = self.at;
        let body = self.slice(start..end).to_owned();
        if self.fixed.is_none() && self.offset == 0 {
            self.bodies.push(start..end);
        }
        let mut parts = Vec::new();
        if !quoted {
            let mut inner = self.inner(self.slice(start..end), start);
            parts = inner.here_parts()?;
            self.take_back(inner);
        }
        if let Some(here) = self.heres.get_mut(index) {
            here.raw = body;
            here.parts = parts;
        }
        self.at = after;
        // Several here-documents follow each other; between them the newline is taken here.
        if self.peek() == Some(b'\n') {
            self.at += 1;
        }
        Ok(())
    }

    /// A parser over a slice of this text that starts at `at`.
    fn inner(&mut self, slice: &'t str, at: usize) -> Parser<'t> {
        Parser {
            text: slice,
            bytes: slice.as_bytes(),
            at: 0,
            fixed: self.fixed.clone(),
            offset: self.offset + at,
            depth: self.depth + 1,
            pending: Vec::new(),
            outer_pending: false,
            heres: std::mem::take(&mut self.heres),
            bodies: Vec::new(),
            beyond: self.beyond,
        }
    }

    fn take_back(&mut self, inner: Parser<'_>) {
        self.heres = inner.heres;
        self.beyond = inner.beyond;
    }

    // Lists.

    fn at_end(&self, end: End) -> bool {
        match end {
            End::Text => self.at >= self.bytes.len(),
            End::Paren => self.peek() == Some(b')'),
            End::Words(words) => self.keyword().is_some_and(|word| words.contains(&word)),
            End::Case => self.looking_at(";;") || self.looking_at(";&") || self.keyword() == Some("esac"),
        }
    }

    fn list(&mut self, end: End) -> Read<Script> {
        let mut items = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.at_end(end) {
                break;
            }
            if self.at >= self.bytes.len() {
                return self.cut("it ends before its command is complete");
            }
            let mut item = self.item(end)?;
            self.skip_blanks();
            let done = match self.peek() {
                Some(b'&') => {
                    self.at += 1;
                    item.background = true;
                    false
                }
                Some(b';') if !(self.looking_at(";;") || self.looking_at(";&")) => {
                    self.at += 1;
                    false
                }
                Some(b'\n') => {
                    self.newline()?;
                    false
                }
                _ => true,
            };
            items.push(item);
            if done {
                self.skip_blanks();
                if !self.at_end(end) {
                    return match self.peek() {
                        None => self.cut("it ends before its command is complete"),
                        _ => self.trouble("something stands where no command or operator can"),
                    };
                }
                break;
            }
        }
        if end == End::Text && !self.pending.is_empty() {
            return self.trouble("a here-document has no body");
        }
        Ok(Script { items })
    }

    /// A list that must not be empty.
    fn body(&mut self, end: End) -> Read<Script> {
        let script = self.deeper(|this| this.list(end))?;
        if script.items.is_empty() { self.trouble("a command is missing here") } else { Ok(script) }
    }

    fn item(&mut self, end: End) -> Read<Item> {
        let first = self.pipeline(end)?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let and = if self.eat("&&") {
                true
            } else if self.eat("||") {
                false
            } else {
                return Ok(Item { first, rest, background: false });
            };
            self.skip_newlines()?;
            rest.push((and, self.pipeline(end)?));
        }
    }

    fn pipeline(&mut self, end: End) -> Read<Pipeline> {
        let mut out = Pipeline::default();
        loop {
            self.skip_blanks();
            match self.keyword() {
                Some("!") => {
                    self.at += 1;
                    out.bangs += 1;
                }
                Some("time") if out.timed.is_none() && out.bangs == 0 => {
                    self.only_bash("`time` as a word of the grammar");
                    self.at += 4;
                    self.skip_blanks();
                    let posix = self.keyword() == Some("-p");
                    if posix {
                        self.at += 2;
                    }
                    out.timed = Some(posix);
                }
                _ => break,
            }
        }
        loop {
            if out.bangs + usize::from(out.timed.is_some()) > 0 && self.at_end(end) {
                return self.trouble("a command is missing here");
            }
            out.stages.push(self.command()?);
            self.skip_blanks();
            if self.looking_at("|&") {
                self.only_bash("`|&`");
                self.at += 2;
                out.both.push(true);
            } else if self.peek() == Some(b'|') && self.peek_at(1) != Some(b'|') {
                self.at += 1;
                out.both.push(false);
            } else {
                return Ok(out);
            }
            self.skip_newlines()?;
        }
    }

    // Commands.

    /// The unquoted word here, if it is nothing but plain text.
    fn keyword(&self) -> Option<&'t str> {
        let rest = self.bytes.get(self.at..)?;
        let len = rest.iter().position(|byte| is_meta(*byte)).unwrap_or(rest.len());
        let word = self.slice(self.at..self.at + len);
        (!word.is_empty() && !word.bytes().any(|byte| matches!(byte, b'\'' | b'"' | b'\\' | b'$' | b'`')))
            .then_some(word)
    }

    fn expect_word(&mut self, word: &str) -> Read<()> {
        self.skip_newlines()?;
        if self.keyword() == Some(word) {
            self.at += word.len();
            return Ok(());
        }
        self.trouble(format!("`{word}` is missing here"))
    }

    fn command(&mut self) -> Read<Command> {
        self.skip_blanks();
        let start = self.at;
        if self.looking_at("((") {
            self.only_bash("`((…))`");
            let parts = self.arith_command()?;
            return self.finish(start, Kind::Arith(parts));
        }
        if self.peek() == Some(b'(') {
            self.at += 1;
            let script = self.body(End::Paren)?;
            self.at += 1;
            return self.finish(start, Kind::Subshell(script));
        }
        match self.keyword() {
            Some("{") => {
                self.at += 1;
                let script = self.body(End::Words(&["}"]))?;
                self.at += 1;
                self.finish(start, Kind::Group(script))
            }
            Some("if") => self.if_command(start),
            Some(word @ ("while" | "until")) => {
                self.at += 5;
                let condition = self.body(End::Words(&["do"]))?;
                let body = self.do_group()?;
                self.finish(start, Kind::Loop { until: word == "until", condition, body })
            }
            Some("for") => self.for_command(start, false),
            Some("select") => {
                self.only_bash("`select`");
                self.for_command(start, true)
            }
            Some("case") => self.case_command(start),
            Some("[[") => {
                self.only_bash("`[[`");
                self.at += 2;
                let test = self.deeper(Self::test_or)?;
                self.skip_test_blanks()?;
                if !self.eat("]]") {
                    return self.trouble("`]]` is missing here");
                }
                self.finish(start, Kind::Test(test))
            }
            Some("function") => {
                self.only_bash("`function`");
                self.at += 8;
                self.skip_blanks();
                let Some(name) = self.keyword().map(str::to_owned) else {
                    return self.trouble("a function has no plain name");
                };
                self.at += name.len();
                self.skip_blanks();
                if self.eat("(") {
                    self.skip_blanks();
                    if !self.eat(")") {
                        return self.trouble("`)` is missing here");
                    }
                }
                self.skip_newlines()?;
                let body = self.deeper(Self::command)?;
                Ok(Command {
                    kind: Kind::Function { name, body: Box::new(body) },
                    redirects: Vec::new(),
                    span: self.span(start),
                })
            }
            Some("coproc") => {
                self.only_bash("`coproc`");
                self.at += 6;
                let body = self.deeper(Self::command)?;
                Ok(Command {
                    kind: Kind::Coproc { body: Box::new(body) },
                    redirects: Vec::new(),
                    span: self.span(start),
                })
            }
            Some(word) if RESERVED.contains(&word) && word != "in" && word != "]]" => {
                self.trouble(format!("`{word}` stands where a command should start"))
            }
            _ => self.simple(start),
        }
    }

    /// Redirections behind a compound command.
    fn finish(&mut self, start: usize, kind: Kind) -> Read<Command> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(Command { kind, redirects, span: self.span(start) }),
            }
        }
    }

    fn simple(&mut self, start: usize) -> Read<Command> {
        let mut assigns = Vec::new();
        let mut words: Vec<Word> = Vec::new();
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'|' | b'&' | b')') => break,
                Some(b'(') => {
                    if words.len() == 1 && assigns.is_empty() && redirects.is_empty() {
                        return self.function_behind(start, &words);
                    }
                    return self.trouble("`(` stands where it cannot");
                }
                _ => {}
            }
            if words.is_empty()
                && let Some(assign) = self.assignment()?
            {
                assigns.push(assign);
                continue;
            }
            let declares = words.first().is_some_and(|word| match word.parts.as_slice() {
                [Part::Plain(name)] => DECLARES.contains(&name.as_str()),
                _ => false,
            });
            let mut word = self.word()?;
            if declares
                && self.peek() == Some(b'(')
                && matches!(word.parts.last(), Some(Part::Plain(text)) if text.ends_with('='))
            {
                let list = self.deeper(Self::array)?;
                word.parts.push(Part::Array(list));
            }
            if matches!(self.peek(), Some(b'<' | b'>')) && begins_as_element(&word) {
                return self.trouble("a descriptor in an element of an array, whose subscript is evaluated");
            }
            words.push(word);
        }
        if assigns.is_empty() && words.is_empty() && redirects.is_empty() {
            return match self.peek() {
                None => self.cut("it ends before its command is complete"),
                _ => self.trouble("a command is missing here"),
            };
        }
        Ok(Command { kind: Kind::Simple { assigns, words }, redirects, span: self.span(start) })
    }

    /// `name=`, `name+=` or `name[…]=` here.
    fn assignment(&mut self) -> Read<Option<Assign>> {
        let start = self.at;
        let mut at = self.at;
        if !self.bytes.get(at).is_some_and(|byte| is_name_start(*byte)) {
            return Ok(None);
        }
        while self.bytes.get(at).is_some_and(|byte| is_name_byte(*byte)) {
            at += 1;
        }
        let name = self.slice(start..at);
        let mut index = None;
        if self.bytes.get(at) == Some(&b'[') {
            let rest = self.bytes.get(at + 1..).unwrap_or_default();
            let plain = rest
                .iter()
                .take_while(|byte| is_name_byte(**byte) || matches!(byte, b'$' | b'@' | b'*' | b'-' | b'+'))
                .count();
            if rest.get(plain) != Some(&b']') {
                self.at = at;
                return self.trouble("a subscript behind the first word of a command");
            }
            index = Some(self.slice(at + 1..at + 1 + plain).to_owned());
            at += plain + 2;
        }
        let indexed = index.is_some();
        let append = self.bytes.get(at) == Some(&b'+') && self.bytes.get(at + 1) == Some(&b'=');
        if append {
            at += 1;
        }
        if self.bytes.get(at) != Some(&b'=') {
            return Ok(None);
        }
        self.at = at + 1;
        if append || indexed {
            self.only_bash("`+=` and elements of arrays");
        }
        let value = match self.peek() {
            Some(b'(') => AssignValue::Array(self.deeper(Self::array)?),
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b')') => {
                AssignValue::Word(Word { parts: Vec::new(), span: self.span(self.at) })
            }
            Some(b'<' | b'>') if self.peek_at(1) != Some(b'(') => {
                AssignValue::Word(Word { parts: Vec::new(), span: self.span(self.at) })
            }
            _ => AssignValue::Word(self.word()?),
        };
        Ok(Some(Assign { name: name.to_owned(), index, append, value, span: self.span(start) }))
    }

    fn array(&mut self) -> Read<Vec<Word>> {
        self.only_bash("arrays");
        self.at += 1;
        let mut words = Vec::new();
        loop {
            self.skip_newlines()?;
            match self.peek() {
                Some(b')') => {
                    self.at += 1;
                    return Ok(words);
                }
                None => return self.trouble("`)` is missing here"),
                _ => words.push(self.word()?),
            }
        }
    }

    // Redirections.

    fn redirect(&mut self) -> Read<Option<Redirect>> {
        let start = self.at;
        let mut fd = Fd::Default;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 && matches!(rest.get(digits), Some(b'<' | b'>')) {
            if digits > 1 {
                self.only_bash("a descriptor of several digits");
            }
            fd = Fd::Number(number(self.slice(start..start + digits)).to_owned());
            self.at += digits;
        } else if rest.first() == Some(&b'{') {
            let name = rest.iter().skip(1).take_while(|byte| is_name_byte(**byte)).count();
            if name > 0 && rest.get(name + 1) == Some(&b'}') && matches!(rest.get(name + 2), Some(b'<' | b'>')) {
                self.only_bash("a descriptor with a name");
                fd = Fd::Named(self.slice(start + 1..start + 1 + name).to_owned());
                self.at += name + 2;
            }
        }
        if !matches!(self.peek(), Some(b'<' | b'>' | b'&')) {
            return Ok(None);
        }
        const OPS: &[(&str, RedirectOp)] = &[
            ("&>>", RedirectOp::BothAppend),
            ("&>", RedirectOp::Both),
            ("<<<", RedirectOp::HereString),
            ("<<-", RedirectOp::HereStrip),
            ("<<", RedirectOp::Here),
            ("<>", RedirectOp::ReadWrite),
            ("<&", RedirectOp::DupIn),
            (">>", RedirectOp::Append),
            (">|", RedirectOp::Clobber),
            (">&", RedirectOp::DupOut),
            ("<(", RedirectOp::Read),
            (">(", RedirectOp::Write),
            ("<", RedirectOp::Read),
            (">", RedirectOp::Write),
        ];
        let Some((text, op)) = OPS.iter().find(|(text, _)| self.looking_at(text)) else {
            return Ok(None);
        };
        if text.ends_with('(') {
            // Process substitution: a word. Behind a descriptor nobody means that.
            return if fd == Fd::Default { Ok(None) } else { self.trouble("a descriptor before `(`") };
        }
        let op = *op;
        if matches!(op, RedirectOp::Both | RedirectOp::BothAppend | RedirectOp::HereString) {
            self.only_bash("`&>` and `<<<`");
        }
        self.at += text.len();
        self.skip_blanks();
        if matches!(op, RedirectOp::Here | RedirectOp::HereStrip) {
            let here = self.here_word(op == RedirectOp::HereStrip)?;
            self.heres.push(here);
            let index = self.heres.len() - 1;
            self.pending.push(Pending { here: index });
            return Ok(Some(Redirect { fd, op, target: Target::Here(index), span: self.span(start) }));
        }
        match self.peek() {
            None | Some(b'\n' | b';' | b'|' | b'&' | b')' | b'(') => {
                return self.trouble("a redirection has no target");
            }
            Some(b'<' | b'>') if self.peek_at(1) != Some(b'(') => return self.trouble("a redirection has no target"),
            _ => {}
        }
        let word = self.word()?;
        Ok(Some(Redirect { fd, op, target: Target::Word(word), span: self.span(start) }))
    }

    fn here_word(&mut self, strip: bool) -> Read<Here> {
        let start = self.at;
        let word = self.word()?;
        let mut delimiter = String::new();
        let mut quoted = false;
        for part in &word.parts {
            match part {
                Part::Plain(text) => delimiter.push_str(text),
                Part::Quoted(text) => {
                    quoted = true;
                    delimiter.push_str(text);
                }
                _ => return self.trouble("the end word of a here-document is not plain"),
            }
        }
        let raw = self.slice(start..self.at);
        if delimiter.is_empty()
            || delimiter.contains('\n')
            || raw.contains("\\\n")
            || raw.contains("$'")
            || raw.contains("$\"")
        {
            return self.trouble("the end word of a here-document is not plain");
        }
        Ok(Here { delimiter, quoted, strip, raw: String::new(), parts: Vec::new() })
    }

    // `[[ … ]]`.

    // Words.
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArithEnd {
    Parens,
    Semicolon,
}

/// Whether a word begins as `{name[…]}` does: before a redirection bash takes that for where it puts the descriptor.
fn begins_as_element(word: &Word) -> bool {
    let Some(Part::Plain(text)) = word.parts.first() else { return false };
    text.strip_prefix('{').and_then(|text| text.split_once('[')).is_some_and(|(name, _)| is_name(name))
}

fn is_test_operator(word: &str) -> bool {
    matches!(word, "=" | "==" | "!=" | "=~" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-nt" | "-ot" | "-ef")
}
