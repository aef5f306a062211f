//! Shell text of an older document, made so that values reach it as environment.
//!
//! Older documents put a value's text into the shell's text, so a value could become a command. Here each template
//! becomes a reference to a variable, quoted for the place where it stands: its meaning is *the value as one word*.
//! Where that cannot be said, because the shell or the program that it starts would read the value as a program, the
//! place is refused with what to write instead.
//!
//! This reads quoting and the order of words, nothing more: what the text does is the guard's to judge.

use super::program::{base, declared, makes_integers, program, reads_input, runs_input};
use super::text::{Piece, Reference};

/// What became of a text.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Carried {
    /// The text, with variables where templates stood.
    pub text: String,
    /// Names of the variables, each with the value that it takes; in the order of their first use.
    pub env: Vec<(String, Reference)>,
    /// Templates that cannot be carried, with why and what to write instead.
    pub refused: Vec<(Reference, Refusal)>,
}

/// Why a template cannot be carried from where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Completes *it stands*.
    pub place: &'static str,
    /// What would work.
    pub instead: &'static str,
}

const COMMAND: Refusal = Refusal {
    place: "where the name of a command is read",
    instead: "name the command in the document, and let the value be one of its words",
};
const PROGRAM: Refusal = Refusal {
    place: "in text that a program reads as a program",
    instead: "hand the value over as a word after the program: `sh -c 'echo \"$1\"' sh {{use.x}}`",
};
const ARITHMETIC: Refusal = Refusal {
    place: "inside shell arithmetic, which runs what it finds",
    instead: "compare with `[ {{use.x}} -gt 1 ]`, or compute in the task that makes the value",
};
const PARAMETER: Refusal = Refusal {
    place: "inside `${…}`",
    instead: "give the value to a variable first: `V={{use.x}}; echo \"${V%.txt}\"`",
};
const BACKTICKS: Refusal = Refusal { place: "inside backticks", instead: "write `$(…)` instead of backticks" };
const QUOTED_DOCUMENT: Refusal = Refusal {
    place: "in a here-document whose delimiter is quoted, where nothing is replaced",
    instead: "take the quotes from the delimiter (`<<EOF`), and write `\\$` where a dollar is meant",
};
const DELIMITER: Refusal =
    Refusal { place: "in the delimiter of a here-document", instead: "write the delimiter as a plain word: `<<EOF`" };
const LOOP: Refusal = Refusal {
    place: "in the list of a `for` loop, which would take the whole value as one word",
    instead: "write `for_each: \"{{use.x}}\"` beside the task, and run the command for one element",
};
const DOLLAR: Refusal = Refusal {
    place: "right after `$` or `\\`, which would change what it means",
    instead: "put a space or a quote between",
};

/// Words after which a command begins.
const BEFORE_COMMANDS: &[&str] =
    &["if", "then", "elif", "else", "do", "while", "until", "!", "{", "time", "coproc", "function"];
/// Comparisons of `[[ … ]]` that evaluate their operands.
const COMPARISONS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"];

/// Puts variables where templates stood.
pub(super) fn carry(pieces: &[Piece]) -> Carried {
    let symbols: Vec<Symbol<'_>> = pieces
        .iter()
        .flat_map(|piece| -> Box<dyn Iterator<Item = Symbol<'_>>> {
            match piece {
                Piece::Text(text) => Box::new(text.chars().map(Symbol::Char)),
                Piece::Value(reference) => Box::new(std::iter::once(Symbol::Value(reference))),
            }
        })
        .collect();
    let mut reader = Reader {
        symbols: &symbols,
        at: 0,
        done: Carried::default(),
        used: Vec::new(),
        pipes: Vec::new(),
        documents: Vec::new(),
        integers: false,
    };
    reader.code(None);
    reader.done
}

#[derive(Debug, Clone, Copy)]
enum Symbol<'p> {
    Char(char),
    Value(&'p Reference),
}

/// A here-document that was announced, and whose body begins with the next line.
struct Document {
    delimiter: String,
    quoted: bool,
    tabs: bool,
    /// Read by a program as a program.
    runs: bool,
}

/// A template that was carried.
struct Used {
    value: Reference,
    /// It stands in text that its command reads: a here-document, a here-string, the output of `<(…)`.
    input: bool,
}

/// A pipeline that is being read.
#[derive(Debug, Clone, Copy)]
struct Pipe {
    /// How many templates had been carried when it began.
    from: usize,
    /// How many when its current command began: those between are in what that command reads.
    upstream: usize,
    /// Its last command is still to come, maybe on another line.
    open: bool,
}

/// The simple command that is being read.
#[derive(Default)]
struct Simple<'p> {
    /// Its finished words, quotes removed; what a value makes of them is unknown.
    words: Vec<String>,
    /// The word that is being read.
    word: Option<String>,
    /// The next word is the target of a redirection.
    redirected: bool,
    /// Values in `[[ … ]]`, refused if a comparison evaluates them.
    tested: Vec<&'p Reference>,
    /// How many `case` are open: their patterns end with `)`.
    cases: usize,
    /// Its word that is being read is a here-string.
    here_string: bool,
    /// How many groups, loops and conditions begin with it.
    opened: usize,
}

struct Reader<'p, 's> {
    symbols: &'s [Symbol<'p>],
    at: usize,
    done: Carried,
    /// Templates that were carried, in their order, as often as they stand.
    used: Vec<Used>,
    /// Pipelines that are open, each in a command of the one before it.
    pipes: Vec<Pipe>,
    /// Here-documents whose bodies are still to come.
    documents: Vec<Document>,
    /// A variable is a number, so that what is assigned may be arithmetic.
    integers: bool,
}

impl<'p> Reader<'p, '_> {
    /// Commands, up to `closing` or the end.
    fn code(&mut self, closing: Option<char>) {
        let mut simple = Simple::default();
        let bottom = self.pipes.len();
        self.pipes.push(self.pipe());
        self.commands(closing, &mut simple, bottom + 1);
        self.end(&mut simple, bottom + 1);
        self.pipes.truncate(bottom);
    }

    fn commands(&mut self, closing: Option<char>, simple: &mut Simple<'p>, bottom: usize) {
        while let Some(symbol) = self.next() {
            let c = match symbol {
                Symbol::Value(value) => {
                    self.word_value(simple, value);
                    continue;
                }
                Symbol::Char(c) => c,
            };
            match c {
                '\'' | '"' | '`' | '$' | '\\' => self.quoted(c, simple),
                '#' if simple.word.is_none() => self.comment(),
                '\n' => {
                    self.put(c);
                    let goes_on = simple.opened == 0 && simple.words.is_empty() && simple.word.is_none();
                    self.end(simple, bottom);
                    for document in std::mem::take(&mut self.documents) {
                        self.document(&document);
                    }
                    if !(goes_on && self.pipes.last().is_some_and(|pipe| pipe.open)) {
                        self.next_pipeline();
                    }
                }
                ' ' | '\t' | '\r' => {
                    self.put(c);
                    finish(simple);
                }
                ')' if simple.cases > 0 || closing != Some(')') => {
                    self.put(c);
                    self.end(simple, bottom);
                    self.next_pipeline();
                }
                ')' => {
                    self.put(c);
                    return;
                }
                '(' => self.parenthesis(simple),
                '<' if self.follows("<") && !self.follows("<<") => self.announced(simple),
                '<' | '>' => {
                    // A number before it is a descriptor, not a word.
                    if simple.word.as_deref().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit())) {
                        simple.word = None;
                    }
                    finish(simple);
                    self.put(c);
                    simple.here_string = c == '<' && self.follows("<<");
                    while let Some(Symbol::Char(more @ ('<' | '>' | '&' | '|'))) = self.peek() {
                        self.at += 1;
                        self.put(more);
                    }
                    simple.redirected = !matches!(self.peek(), Some(Symbol::Char('(')));
                }
                // `&>` is a redirection.
                '&' if self.follows(">") => {
                    finish(simple);
                    self.put(c);
                }
                '|' if !self.follows("|") => {
                    self.put(c);
                    if self.follows("&") {
                        self.at += 1;
                        self.put('&');
                    }
                    self.end(simple, bottom);
                    let upstream = self.used.len();
                    if let Some(pipe) = self.pipes.last_mut() {
                        (pipe.upstream, pipe.open) = (upstream, true);
                    }
                }
                ';' | '&' | '|' => {
                    self.put(c);
                    if c != ';' && self.follows(&c.to_string()) {
                        self.at += 1;
                        self.put(c);
                    }
                    self.end(simple, bottom);
                    self.next_pipeline();
                }
                _ => {
                    self.apart(c, "\\");
                    self.put(c);
                    simple.word.get_or_insert_default().push(c);
                }
            }
        }
    }

    fn pipe(&self) -> Pipe {
        Pipe { from: self.used.len(), upstream: self.used.len(), open: false }
    }

    /// The end of a pipeline: what follows reads nothing of it.
    fn next_pipeline(&mut self) {
        let pipe = self.pipe();
        if let Some(last) = self.pipes.last_mut() {
            *last = pipe;
        }
    }

    /// `'`, `"`, a backtick, `$` or `\` in a word.
    fn quoted(&mut self, c: char, simple: &mut Simple<'p>) {
        simple.word.get_or_insert_default();
        match c {
            '\'' => {
                self.put(c);
                self.single(simple, "'\"$", "\"'");
            }
            '"' => {
                self.put(c);
                self.double(simple);
            }
            '`' => {
                self.put(c);
                self.backticks();
            }
            '\\' => self.escaped(simple),
            _ => self.dollar(simple, false),
        }
    }

    /// What follows `$`.
    fn dollar(&mut self, simple: &mut Simple<'p>, doubled: bool) {
        self.put('$');
        match self.peek() {
            Some(Symbol::Value(value)) => {
                self.at += 1;
                self.refuse(value, DOLLAR);
            }
            Some(Symbol::Char('(')) if self.follows("((") => self.arithmetic('(', ')'),
            Some(Symbol::Char('(')) => {
                self.at += 1;
                self.put('(');
                let before = self.done.refused.len();
                let from = self.used.len();
                self.code(Some(')'));
                // What a command prints is read as a program as well, if the word that it stands in is.
                if program(&simple.words, simple.word.as_deref()) && self.done.refused.len() == before {
                    let inside: Vec<Reference> = self.used[from..].iter().map(|used| used.value.clone()).collect();
                    self.done.refused.extend(inside.into_iter().map(|value| (value, PROGRAM)));
                }
            }
            Some(Symbol::Char('[')) => self.arithmetic('[', ']'),
            Some(Symbol::Char('{')) => self.braces(),
            Some(Symbol::Char('\'')) if !doubled => {
                self.at += 1;
                self.put('\'');
                self.single(simple, "'\"$", "\"$'");
            }
            Some(Symbol::Char('"')) if !doubled => {
                self.at += 1;
                self.put('"');
                self.double(simple);
            }
            _ => simple.word.get_or_insert_default().push('$'),
        }
    }

    /// Up to the closing `'`. A value leaves the quotes (`open`) and enters them again (`close`); in `$'…'` a
    /// backslash hides a quote.
    fn single(&mut self, simple: &mut Simple<'p>, open: &str, close: &str) {
        let escapes = close.contains('$');
        while let Some(symbol) = self.next() {
            match symbol {
                Symbol::Char('\'') => return self.put('\''),
                Symbol::Char('\\') if escapes => {
                    self.put('\\');
                    self.escaped_next();
                }
                Symbol::Char(c) => {
                    self.apart(c, if escapes { "'$'" } else { "''" });
                    self.put(c);
                    simple.word.get_or_insert_default().push(c);
                }
                Symbol::Value(value) => {
                    if let Some(name) = self.taken(simple, value) {
                        self.done.text.push_str(open);
                        self.done.text.push_str(&name);
                        self.done.text.push_str(close);
                    }
                }
            }
        }
    }

    /// Up to the closing `"`.
    fn double(&mut self, simple: &mut Simple<'p>) {
        while let Some(symbol) = self.next() {
            match symbol {
                Symbol::Char('"') => return self.put('"'),
                Symbol::Char('\\') => self.escaped(simple),
                Symbol::Char('`') => {
                    self.put('`');
                    self.backticks();
                }
                Symbol::Char('$') => self.dollar(simple, true),
                Symbol::Char(c) => {
                    self.apart(c, "\"\"");
                    self.put(c);
                    simple.word.get_or_insert_default().push(c);
                }
                Symbol::Value(value) => {
                    if let Some(name) = self.taken(simple, value) {
                        self.done.text.push_str(&format!("${{{name}}}"));
                    }
                }
            }
        }
    }

    /// A backslash and what it hides.
    fn escaped(&mut self, simple: &mut Simple<'p>) {
        self.put('\\');
        if let Some(c) = self.escaped_next() {
            simple.word.get_or_insert_default().push(c);
        }
    }

    fn escaped_next(&mut self) -> Option<char> {
        match self.next()? {
            Symbol::Char(c) => {
                self.put(c);
                Some(c)
            }
            Symbol::Value(value) => {
                self.refuse(value, DOLLAR);
                None
            }
        }
    }

    fn backticks(&mut self) {
        while let Some(symbol) = self.next() {
            match symbol {
                Symbol::Char('`') => return self.put('`'),
                Symbol::Char('\\') => {
                    self.put('\\');
                    self.escaped_next();
                }
                Symbol::Char(c) => self.put(c),
                Symbol::Value(value) => self.refuse(value, BACKTICKS),
            }
        }
    }

    /// `${…}`, braces counted.
    fn braces(&mut self) {
        self.balanced('{', '}', PARAMETER);
    }

    /// `$((…))`, `((…))`, `$[…]`.
    fn arithmetic(&mut self, open: char, close: char) {
        self.balanced(open, close, ARITHMETIC);
    }

    fn balanced(&mut self, open: char, close: char, refusal: Refusal) {
        let mut depth = 0_usize;
        while let Some(symbol) = self.next() {
            match symbol {
                Symbol::Value(value) => self.refuse(value, refusal),
                Symbol::Char('\\') => {
                    self.put('\\');
                    self.escaped_next();
                }
                Symbol::Char(c) => {
                    self.put(c);
                    depth = depth + usize::from(c == open) - usize::from(c == close && depth > 0);
                    if depth == 0 {
                        return;
                    }
                }
            }
        }
    }

    /// `(`: a subshell, a list of an array, a function, or arithmetic.
    fn parenthesis(&mut self, simple: &mut Simple<'p>) {
        let commands = simple.words.is_empty();
        if commands && simple.word.is_none() && self.follows("(") {
            self.at -= 1;
            self.arithmetic('(', ')');
            return;
        }
        self.put('(');
        if commands && simple.word.as_deref().is_some_and(assigns) {
            // `a=(one two)`: words, none of them a command.
            return self.array(simple);
        }
        if simple.cases > 0 && commands && simple.word.is_none() {
            // `(pattern)` of a `case`.
            return;
        }
        if self.follows(")") && simple.words.len() + usize::from(simple.word.is_some()) == 1 {
            // `name()`: its body begins with a command.
            (simple.words, simple.word) = (Vec::new(), None);
            self.at += 1;
            return self.put(')');
        }
        let printed = self.done.text.ends_with("<(");
        let from = self.used.len();
        self.code(Some(')'));
        if printed {
            self.used[from..].iter_mut().for_each(|used| used.input = true);
        }
    }

    fn array(&mut self, simple: &mut Simple<'p>) {
        while let Some(symbol) = self.next() {
            match symbol {
                Symbol::Char(')') => return self.put(')'),
                Symbol::Char(c @ ('\'' | '"' | '`' | '$' | '\\')) => self.quoted(c, simple),
                Symbol::Char(c) => self.put(c),
                Symbol::Value(value) => {
                    let name = self.variable(value, false);
                    self.done.text.push_str(&format!("\"${name}\""));
                }
            }
        }
    }

    /// A comment, up to the end of its line. What stands there is read by nobody.
    fn comment(&mut self) {
        self.put('#');
        while let Some(symbol) = self.peek() {
            match symbol {
                Symbol::Char('\n') => return,
                Symbol::Char(c) => {
                    self.apart(c, " ");
                    self.put(c);
                }
                Symbol::Value(value) => {
                    let said = value.raw.replace(['{', '}', '\n'], "");
                    self.done.text.push_str(said.trim());
                }
            }
            self.at += 1;
        }
    }

    /// `<<WORD` and `<<-WORD`; the first `<` is read.
    fn announced(&mut self, simple: &mut Simple<'p>) {
        finish(simple);
        self.put('<');
        self.at += 1;
        self.put('<');
        let tabs = self.follows("-");
        if tabs {
            self.at += 1;
            self.put('-');
        }
        while let Some(Symbol::Char(c @ (' ' | '\t'))) = self.peek() {
            self.at += 1;
            self.put(c);
        }
        let (mut delimiter, mut quoted, mut open) = (String::new(), false, None);
        while let Some(symbol) = self.peek() {
            match symbol {
                Symbol::Value(value) => self.refuse(value, DELIMITER),
                Symbol::Char(c) => {
                    let ends = c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')');
                    if open.is_none() && ends {
                        break;
                    }
                    match (open, c) {
                        (None, '\'' | '"') => (open, quoted) = (Some(c), true),
                        (Some(quote), c) if c == quote => open = None,
                        (None, '\\') => quoted = true,
                        (_, c) => delimiter.push(c),
                    }
                    self.put(c);
                }
            }
            self.at += 1;
        }
        if !delimiter.is_empty() {
            self.documents.push(Document { delimiter, quoted, tabs, runs: false });
        }
    }

    /// The body of a here-document, with the line that ends it.
    fn document(&mut self, document: &Document) {
        let mut line = String::new();
        loop {
            match self.next() {
                None => return,
                Some(Symbol::Char('\n')) => {
                    self.put('\n');
                    let said = if document.tabs { line.trim_start_matches('\t') } else { &line };
                    if said == document.delimiter {
                        return;
                    }
                    line.clear();
                }
                Some(Symbol::Char('\\')) if !document.quoted => {
                    self.put('\\');
                    line.push('\\');
                    line.extend(self.escaped_next());
                }
                Some(Symbol::Char(c)) => {
                    self.put(c);
                    line.push(c);
                    // Commands of the body are judged as the shell reads them: a value inside one is not carried.
                    if c == '$' && !document.quoted {
                        match self.peek() {
                            Some(Symbol::Char('(')) if self.follows("((") => self.arithmetic('(', ')'),
                            Some(Symbol::Char('(')) => {
                                self.at += 1;
                                self.put('(');
                                self.code(Some(')'));
                            }
                            Some(Symbol::Char('{')) => self.braces(),
                            Some(Symbol::Value(value)) => {
                                self.at += 1;
                                self.refuse(value, DOLLAR);
                            }
                            _ => {}
                        }
                    }
                }
                Some(Symbol::Value(value)) => match (document.quoted, document.runs) {
                    (_, true) => self.refuse(value, PROGRAM),
                    (true, _) => self.refuse(value, QUOTED_DOCUMENT),
                    _ => {
                        let name = self.variable(value, true);
                        self.done.text.push_str(&format!("${{{name}}}"));
                        line.push('\u{fffd}');
                    }
                },
            }
        }
    }

    /// A value in a word, outside quotes.
    fn word_value(&mut self, simple: &mut Simple<'p>, value: &'p Reference) {
        simple.word.get_or_insert_default();
        if let Some(name) = self.taken(simple, value) {
            self.done.text.push_str(&format!("\"${name}\""));
        }
    }

    /// The name of the variable for a value in the current word; none where it is refused.
    fn taken(&mut self, simple: &mut Simple<'p>, value: &'p Reference) -> Option<String> {
        let word = simple.word.get_or_insert_default();
        let first = simple.words.first().map(|word| base(word));
        let refusal = if simple.words.is_empty() && !simple.redirected && !assigns(word) {
            Some(COMMAND)
        } else if !simple.redirected
            && (declared(&simple.words, word) || (self.integers && simple.words.is_empty() && assigns(word)))
        {
            Some(ARITHMETIC)
        } else if matches!(first, Some("for" | "select")) && simple.words.len() >= 2 {
            Some(LOOP)
        } else if !simple.redirected && program(&simple.words, Some(word)) {
            Some(PROGRAM)
        } else {
            None
        };
        // What the value makes of the word is not known; this stands for it.
        word.push('\u{fffd}');
        if let Some(refusal) = refusal {
            self.refuse(value, refusal);
            return None;
        }
        if first == Some("[[") {
            simple.tested.push(value);
        }
        Some(self.variable(value, simple.redirected && simple.here_string))
    }

    fn refuse(&mut self, value: &Reference, refusal: Refusal) {
        let refused = (value.clone(), refusal);
        if !self.done.refused.contains(&refused) {
            self.done.refused.push(refused);
        }
    }

    fn variable(&mut self, value: &Reference, input: bool) -> String {
        self.used.push(Used { value: value.clone(), input });
        if let Some((name, _)) = self.done.env.iter().find(|(_, known)| known.same_value(value)) {
            return name.clone();
        }
        let wanted = value.variable();
        let taken = |name: &str| self.done.env.iter().any(|(known, _)| known == name);
        let mut name = wanted.clone();
        let mut number = 2;
        while taken(&name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        self.done.env.push((name.clone(), value.clone()));
        name
    }

    /// The end of a simple command.
    fn end(&mut self, simple: &mut Simple<'p>, bottom: usize) {
        finish(simple);
        self.integers |= makes_integers(&simple.words);
        if reads_input(&simple.words) {
            self.run_input(runs_input(&simple.words));
        }
        // What a group prints is in the pipeline that the group stands in.
        for _ in 0..simple.opened {
            let from = self.pipes.last().map_or(0, |pipe| pipe.upstream);
            self.pipes.push(Pipe { from, upstream: from, open: false });
        }
        let closes = simple.words.first().is_some_and(|first| matches!(first.as_str(), "}" | "fi" | "done" | "esac"));
        if closes && self.pipes.len() > bottom {
            self.pipes.pop();
        }
        if simple.words.iter().any(|word| COMPARISONS.contains(&word.as_str())) {
            for value in std::mem::take(&mut simple.tested) {
                self.refuse(value, ARITHMETIC);
            }
        }
        *simple = Simple { cases: simple.cases, ..Simple::default() };
    }

    /// Refuses the values in what the current command reads: those of here-documents and here-strings in its pipeline,
    /// and, if it runs all of its input, those of the commands before it.
    fn run_input(&mut self, all: bool) {
        self.documents.iter_mut().for_each(|document| document.runs = true);
        let mut read = Vec::new();
        for pipe in &self.pipes {
            let before = &self.used[pipe.from..pipe.upstream];
            read.extend(before.iter().filter(|used| all || used.input).map(|used| used.value.clone()));
        }
        let own = self.pipes.last().map_or(0, |pipe| pipe.upstream);
        read.extend(self.used[own..].iter().filter(|used| used.input).map(|used| used.value.clone()));
        for value in read {
            self.refuse(&value, PROGRAM);
        }
    }

    fn next(&mut self) -> Option<Symbol<'p>> {
        let symbol = self.peek()?;
        self.at += 1;
        Some(symbol)
    }

    fn peek(&self) -> Option<Symbol<'p>> {
        self.symbols.get(self.at).copied()
    }

    /// Whether these characters come next.
    fn follows(&self, wanted: &str) -> bool {
        wanted
            .chars()
            .enumerate()
            .all(|(after, wanted)| matches!(self.symbols.get(self.at + after), Some(Symbol::Char(c)) if *c == wanted))
    }

    /// Keeps `{{` and `{%` of another program from being read as a template of today: `between` means nothing to the
    /// shell where this stands.
    fn apart(&mut self, c: char, between: &str) {
        if matches!(c, '{' | '%') && self.done.text.ends_with('{') {
            self.done.text.push_str(between);
        }
    }

    fn put(&mut self, c: char) {
        self.done.text.push(c);
    }
}

/// The end of a word.
fn finish(simple: &mut Simple<'_>) {
    let Some(word) = simple.word.take() else { return };
    let first = simple.words.is_empty();
    if std::mem::take(&mut simple.redirected) || (first && assigns(&word)) {
        return;
    }
    if first && matches!(word.as_str(), "{" | "if" | "while" | "until" | "for" | "select" | "case") {
        simple.opened += 1;
    }
    match word.as_str() {
        "case" if first => simple.cases += 1,
        "esac" if first => simple.cases = simple.cases.saturating_sub(1),
        _ => {}
    }
    if first && BEFORE_COMMANDS.contains(&word.as_str()) {
        return;
    }
    // `case WORD in` is followed by patterns, which are no words of it.
    if word == "in" && simple.words.first().is_some_and(|first| first == "case") && simple.words.len() == 2 {
        simple.words.clear();
        return;
    }
    simple.words.push(word);
}

/// Whether a word begins as an assignment does: `NAME=` or `NAME+=`.
pub(super) fn assigns(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
#[path = "shell/tests.rs"]
mod tests;
