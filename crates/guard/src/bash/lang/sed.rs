//! What a sed program touches besides its input: files it reads and writes, commands it runs.
//!
//! A parser of GNU sed programs, because only the grammar tells a `w` that is a command from one that
//! is part of a pattern. It refuses to guess: where versions of sed read a text differently, every
//! reading counts; where the end of a text is in doubt, the program cannot be said.

/// The standard streams that sed knows by name.
const STREAMS: [&str; 2] = ["/dev/stdout", "/dev/stderr"];

/// Commands that work on the text in memory and the output, and take nothing.
const PLAIN: &str = "=dDgGhHnNpPxzF";
/// Commands that may take a number: exit codes and line lengths.
const NUMBER: &str = "qQlL";
/// Commands that take a label.
const LABEL: &str = "btTv";
/// Commands that take text to the end of the line.
const TEXT: &str = "aic";
/// Flags of `s` that change nothing but the match.
const FLAGS: &str = "gpiImM0123456789";

/// What a program touches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// Files it reads (`r`, `R`).
    pub reads: Vec<String>,
    /// Files it writes (`w`, `W`, the flag `w` of `s`).
    pub writes: Vec<String>,
    /// It runs commands (`e`, the flag `e` of `s`).
    pub runs: bool,
}

/// Why a reading ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stop {
    /// sed would refuse the program before its first line. Files named until then were opened.
    Syntax(String),
    /// It is not certain what sed would read.
    Unsure(String),
}

/// Reads a program: the texts of all `-e` options joined by newlines. The error says why not.
pub fn analyse(program: &str) -> Result<Effects, String> {
    // Newer versions take a delimiter inside `[…]` as part of the pattern, older ones do not.
    let mut effects = Effects::default();
    let (mut read, mut refused) = (false, String::new());
    for brackets in [true, false] {
        let mut parser = Parser { text: program.chars().collect(), at: 0, brackets, effects: Effects::default() };
        match parser.program() {
            Ok(()) => read = true,
            Err(Stop::Syntax(why)) => refused = why,
            Err(Stop::Unsure(why)) => return Err(why),
        }
        effects.join(parser.effects);
    }
    if read { Ok(effects) } else { Err(refused) }
}

impl Effects {
    fn join(&mut self, other: Effects) {
        for (mine, theirs) in [(&mut self.reads, other.reads), (&mut self.writes, other.writes)] {
            for name in theirs {
                if !mine.contains(&name) {
                    mine.push(name);
                }
            }
        }
        self.runs |= other.runs;
    }
}

fn syntax<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Syntax(why.into()))
}

struct Parser {
    text: Vec<char>,
    at: usize,
    /// Whether `[…]` in a pattern may hold the delimiter.
    brackets: bool,
    effects: Effects,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.at += 1;
        }
    }

    fn blanks(&mut self) {
        self.skip(|c| c == ' ' || c == '\t');
    }

    fn line(&mut self) -> String {
        let start = self.at;
        self.skip(|c| c != '\n');
        self.text[start..self.at].iter().collect()
    }

    fn program(&mut self) -> Result<(), Stop> {
        let mut depth = 0_usize;
        loop {
            self.skip(|c| c == ';' || c.is_ascii_whitespace());
            if self.peek().is_none() {
                return if depth == 0 { Ok(()) } else { syntax("a `{` of the sed program is not closed") };
            }
            self.addresses()?;
            let Some(command) = self.next() else { return syntax("the sed program ends before a command") };
            match command {
                '{' => depth += 1,
                '}' if depth == 0 => return syntax("the sed program has a `}` too many"),
                '}' => {
                    depth -= 1;
                    self.end()?;
                }
                '#' => {
                    self.line();
                }
                's' => self.substitute()?,
                'y' => {
                    let delimiter = self.delimiter()?;
                    self.section(delimiter, false)?;
                    self.section(delimiter, false)?;
                    self.end()?;
                }
                'r' | 'R' => {
                    let name = self.file()?;
                    self.effects.reads.extend(name);
                }
                'w' | 'W' => {
                    let name = self.file()?;
                    self.effects.writes.extend(name);
                }
                'e' => {
                    self.effects.runs = true;
                    self.line();
                }
                ':' => {
                    self.blanks();
                    if self.label()? == 0 {
                        return syntax("a label of the sed program has no name");
                    }
                }
                _ if PLAIN.contains(command) => self.end()?,
                _ if NUMBER.contains(command) => {
                    self.blanks();
                    self.skip(|c| c.is_ascii_digit());
                    self.end()?;
                }
                _ if LABEL.contains(command) => {
                    self.blanks();
                    self.label()?;
                }
                _ if TEXT.contains(command) => self.text()?,
                _ => return syntax(format!("`{command}` is not a command of sed")),
            }
        }
    }

    /// `ADDRESS[,ADDRESS][!]`
    fn addresses(&mut self) -> Result<(), Stop> {
        if self.address(false)? {
            self.blanks();
            if self.take(',') {
                self.blanks();
                if !self.address(true)? {
                    return syntax("an address of the sed program is missing behind `,`");
                }
                self.blanks();
            }
        }
        if self.take('!') {
            self.blanks();
        }
        Ok(())
    }

    fn address(&mut self, second: bool) -> Result<bool, Stop> {
        match self.peek() {
            Some('/') => {
                self.at += 1;
                self.section('/', true)?;
            }
            Some('\\') => {
                self.at += 1;
                let delimiter = self.delimiter()?;
                self.section(delimiter, true)?;
            }
            Some('$') => {
                self.at += 1;
                return Ok(true);
            }
            Some('+' | '~') if second => {
                self.at += 1;
                self.skip(|c| c.is_ascii_digit());
                return Ok(true);
            }
            Some(digit) if digit.is_ascii_digit() => {
                self.skip(|c| c.is_ascii_digit());
                self.blanks();
                if self.take('~') {
                    self.blanks();
                    self.skip(|c| c.is_ascii_digit());
                }
                return Ok(true);
            }
            _ => return Ok(false),
        }
        self.skip(|c| matches!(c, ' ' | '\t' | 'I' | 'M'));
        Ok(true)
    }

    fn delimiter(&mut self) -> Result<char, Stop> {
        match self.next() {
            None | Some('\n' | '\\') => syntax("a delimiter of the sed program is missing"),
            Some(delimiter) if delimiter.is_ascii() => Ok(delimiter),
            Some(_) => Err(Stop::Unsure("a delimiter of the sed program is not an ASCII character".to_owned())),
        }
    }

    /// A pattern or replacement up to its delimiter.
    fn section(&mut self, delimiter: char, pattern: bool) -> Result<(), Stop> {
        while let Some(c) = self.next() {
            match c {
                _ if c == delimiter => return Ok(()),
                '\\' => self.at += 1,
                '[' if pattern && self.brackets => self.bracket(delimiter)?,
                '\n' => break,
                _ => {}
            }
        }
        syntax("a pattern or replacement of the sed program is not terminated")
    }

    /// `[…]` behind its `[`.
    fn bracket(&mut self, delimiter: char) -> Result<(), Stop> {
        self.take('^');
        self.take(']');
        let (mut nested, mut delimited) = (delimiter == ']', delimiter == ']');
        while let Some(c) = self.next() {
            match c {
                ']' if nested && delimited => break,
                ']' => return Ok(()),
                '\n' => return syntax("a `[` of the sed program is not closed"),
                '[' => {
                    nested = true;
                    if let Some(kind @ (':' | '.' | '=')) = self.peek() {
                        self.at += 1;
                        delimited |= kind == delimiter;
                        let closed =
                            |at: usize| self.text.get(at) == Some(&kind) && self.text.get(at + 1) == Some(&']');
                        match (self.at..self.text.len()).find(|at| closed(*at)) {
                            Some(at) => {
                                delimited |= self.text[self.at..at].contains(&delimiter);
                                self.at = at + 2;
                            }
                            None => return syntax("a character class of the sed program is not closed"),
                        }
                    }
                }
                _ => delimited |= c == delimiter,
            }
        }
        if nested && delimited {
            return Err(Stop::Unsure("a `[…]` of the sed program holds the delimiter; escape it outside".to_owned()));
        }
        syntax("a `[` of the sed program is not closed")
    }

    fn substitute(&mut self) -> Result<(), Stop> {
        let delimiter = self.delimiter()?;
        self.section(delimiter, true)?;
        self.section(delimiter, false)?;
        while let Some(flag) = self.peek() {
            match flag {
                ';' | '\n' | '}' | '#' => return Ok(()),
                ' ' | '\t' => {}
                'e' => self.effects.runs = true,
                'w' => {
                    self.at += 1;
                    let name = self.file()?;
                    self.effects.writes.extend(name);
                    return Ok(());
                }
                _ if FLAGS.contains(flag) => {}
                _ => return syntax(format!("`{flag}` is not a flag of the sed command `s`")),
            }
            self.at += 1;
        }
        Ok(())
    }

    /// A file name: everything to the end of the line. None for the standard streams.
    fn file(&mut self) -> Result<Option<String>, Stop> {
        self.blanks();
        let name = self.line();
        match name.as_str() {
            "" => syntax("a file name of the sed program is missing"),
            stream if STREAMS.contains(&stream) => Ok(None),
            _ => Ok(Some(name)),
        }
    }

    /// A label, and that nothing stands behind it: versions differ in what ends one.
    fn label(&mut self) -> Result<usize, Stop> {
        let start = self.at;
        self.skip(|c| !c.is_ascii_whitespace() && !matches!(c, ';' | '}' | '#'));
        let length = self.at - start;
        let ends = self.peek() != Some('#');
        match self.end() {
            Ok(()) if ends => Ok(length),
            _ => Err(Stop::Unsure("it is not certain where a label of the sed program ends".to_owned())),
        }
    }

    /// The text of `a`, `i` and `c`: in the same line, or behind `\` and a newline.
    fn text(&mut self) -> Result<(), Stop> {
        self.blanks();
        match self.peek() {
            None | Some('\n') => return syntax("a text of the sed program is missing"),
            Some('\\') => {
                self.at += 1;
                let blank = matches!(self.peek(), Some(' ' | '\t'));
                self.blanks();
                match self.peek() {
                    Some('\n') if !blank => self.at += 1,
                    Some('\n' | '\\') => {
                        let why = "it is not certain where a text of the sed program begins";
                        return Err(Stop::Unsure(why.to_owned()));
                    }
                    _ => {}
                }
            }
            Some(_) => {}
        }
        while let Some(c) = self.next() {
            match c {
                '\\' => self.at += 1,
                '\n' => break,
                _ => {}
            }
        }
        Ok(())
    }

    /// The end of a command: `;`, a newline, `}`, a comment or the end of the program.
    fn end(&mut self) -> Result<(), Stop> {
        self.blanks();
        match self.peek() {
            None | Some('}' | '#') => Ok(()),
            Some(';' | '\n') => {
                self.at += 1;
                Ok(())
            }
            Some(c) => syntax(format!("`{c}` stands behind a command of the sed program")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_transforms_touches_nothing() {
        let programs = [
            "",
            "p",
            "1,5d",
            "900,960p",
            "$p",
            "$!d",
            "0~3p",
            "2,~4p",
            "/a/,+3p",
            "0,/a/Id",
            "/start/,/end/p",
            "\\,usr/bin,p",
            "/x/I,/y/Mp",
            "s/a/b/",
            "s/\\t/    /g",
            "s|/usr|/opt|g",
            "s,a\\,b,c,2p",
            "s/[^/]*$//",
            "s#[#]w x##",
            "s/[]/]/x/",
            "s/w/e/g; s/e/w/gI",
            "s/a/b/;s/c/d/ ; p",
            "s/a/b/ # w file",
            "s/a/\\\nb/",
            "y/abc/xyz/;p",
            "y/a\\/b/xyz/",
            ":a;N;$!ba;s/\\n/ /g",
            ":a\ns/x/y/\nta",
            "$!{N;ba};:a",
            "/x/{s/a/b/;b end\n}\n:end",
            "1{p;q}",
            "{p};{p}",
            "5q",
            "10q1",
            "l 5;=",
            "h;G;x;n;z;F",
            "a text; w file",
            "a\\\nw file\\\ne id\np",
            "3i\\    indented e",
            "/x/c\\replaced",
            "#n\np",
            "# w file\np",
            "v 4.2\np",
            "bx;# comment\n:x",
            "w /dev/stdout",
            "s/a/b/w /dev/stderr",
        ];
        for program in programs {
            assert_eq!(analyse(program), Ok(Effects::default()), "{program}");
        }
    }

    #[test]
    fn files_are_named_to_the_end_of_the_line() {
        let files = |reads: &[&str], writes: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
            (owned(reads), owned(writes))
        };
        let table = [
            ("w out", files(&[], &["out"])),
            ("wout", files(&[], &["out"])),
            ("/x/w out;p", files(&[], &["out;p"])),
            ("1!W  out }", files(&[], &["out }"])),
            ("s/a/b/w out", files(&[], &["out"])),
            ("s/a/b/gpw out", files(&[], &["out"])),
            ("s/a/b/;;s/c/d/2w x\nw y", files(&[], &["x", "y"])),
            ("r in\nR in2", files(&["in", "in2"], &[])),
            ("$r in", files(&["in"], &[])),
            ("/a/{w out\n}", files(&[], &["out"])),
            ("a text\nw out", files(&[], &["out"])),
            ("a\\\ntext\nw out", files(&[], &["out"])),
            (":a;w out", files(&[], &["out"])),
            ("b;w out", files(&[], &["out"])),
            ("y/w/x/;w out", files(&[], &["out"])),
            ("#w x\nw out", files(&[], &["out"])),
            ("s/\\//x/;w out", files(&[], &["out"])),
            ("\\xaxw out", files(&[], &["out"])),
        ];
        for (program, (reads, writes)) in table {
            assert_eq!(analyse(program), Ok(Effects { reads, writes, runs: false }), "{program}");
        }
    }

    #[test]
    fn commands_are_seen() {
        let programs = [
            "e",
            "e id",
            "1e id",
            "s/a/id/e",
            "s/a/id/ge",
            "s/a/id/ e",
            "s,a,id,Ie",
            "p;e",
            "{e\n}",
            "$!{p;e id\n}",
            "1!e",
            "b;e",
            "s/[/]/x/e",
            "s/[a/x/;e #]/x/",
            "s/x/[/;e id;s/]/x/",
            "a\\\ntext\ne id",
            "a text\ne id",
            "/[/]/e id",
            "sexeyee",
        ];
        for program in programs {
            assert!(analyse(program).is_ok_and(|effects| effects.runs), "{program}");
        }
    }

    #[test]
    fn what_is_in_doubt_cannot_be_said() {
        let programs = [
            "s/a/b",
            "k",
            "p p",
            "s/a/b/k",
            "}",
            "{p",
            "a",
            "w",
            "a\\ \ne id",
            "a\\\\\ne id",
            "b x y",
            ":a b",
            "sµaµbµ",
            "s/[[:alpha:]/]/x/",
            "1!!p",
            "b#x;e id",
            "s][]x]y]",
        ];
        for program in programs {
            assert!(analyse(program).is_err(), "{program}");
        }
    }
}
