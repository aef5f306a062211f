//! The text of a git configuration, read as git reads it.
//!
//! What git refuses is refused here: git then does nothing at all, and nobody has to say what it would do.

use std::iter::Peekable;
use std::str::Chars;

/// The settings of `text` in their order: keys as in [`super::Setting`], values unquoted. The line where it stops to be
/// a configuration, if it does.
pub fn read(text: &[u8]) -> Result<Vec<(String, String)>, usize> {
    // Values may be of any encoding; what names a section, a key or a program is found all the same. A value that is
    // no UTF-8 has U+FFFD: whoever opens the path that it names would open another one than git.
    let text = String::from_utf8_lossy(text);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
    let mut reader = Reader { rest: text.chars().peekable(), line: 1, section: None, out: Vec::new() };
    match reader.all() {
        Some(()) => Ok(reader.out),
        None => Err(reader.line),
    }
}

/// The settings of a text that is no configuration as a whole, line by line: those that cannot be read are passed over,
/// and of which section one is is not known.
pub fn read_on(text: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(text);
    let alone = |line: &str| read(format!("[core]\n{}\n", line.trim_end_matches('\\')).as_bytes());
    text.lines().filter_map(|line| alone(line).ok()).flatten().collect()
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    line: usize,
    /// The section that lines belong to, with its dot.
    section: Option<String>,
    out: Vec<(String, String)>,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.next();
        self.line += usize::from(next == Some('\n'));
        next
    }

    fn all(&mut self) -> Option<()> {
        while let Some(c) = self.next() {
            match c {
                '#' | ';' => while self.next().is_some_and(|c| c != '\n') {},
                '[' => self.section = Some(self.header()?),
                c if is_space(c) => {}
                c if c.is_ascii_alphabetic() => self.setting(c)?,
                _ => return None,
            }
        }
        Some(())
    }

    /// `section]`, `section "sub"]`, `section.sub]`.
    fn header(&mut self) -> Option<String> {
        let mut name = String::new();
        loop {
            match self.next()? {
                ']' => return Some(name + "."),
                c if is_space(c) => break,
                c if is_key(c) || c == '.' => name.push(c.to_ascii_lowercase()),
                _ => return None,
            }
        }
        while self.rest.peek().is_some_and(|c| is_space(*c) && *c != '\n') {
            self.next();
        }
        (self.next()? == '"').then_some(())?;
        name.push('.');
        loop {
            match self.next()? {
                '"' => break,
                '\n' => return None,
                '\\' => name.push(self.next().filter(|c| *c != '\n')?),
                c => name.push(c),
            }
        }
        (self.next()? == ']').then(|| name + ".")
    }

    /// `name`, `name = value`.
    fn setting(&mut self, first: char) -> Option<()> {
        let mut key = self.section.clone()?;
        key.push(first.to_ascii_lowercase());
        while let Some(c) = self.rest.peek().copied().filter(|c| is_key(*c)) {
            key.push(c.to_ascii_lowercase());
            self.next();
        }
        while self.rest.peek().is_some_and(|c| matches!(c, ' ' | '\t')) {
            self.next();
        }
        let value = match self.next() {
            None | Some('\n') => String::new(),
            Some('=') => self.value()?,
            Some(_) => return None,
        };
        self.out.push((key, value));
        Some(())
    }

    fn value(&mut self) -> Option<String> {
        let (mut value, mut kept, mut quoted) = (String::new(), 0, false);
        loop {
            match self.next() {
                None | Some('\n') if quoted => return None,
                None | Some('\n') => break,
                Some('#' | ';') if !quoted => {
                    while self.next().is_some_and(|c| c != '\n') {}
                    break;
                }
                Some('"') => {
                    quoted = !quoted;
                    kept = value.len();
                }
                Some('\\') => {
                    match self.next() {
                        // The value goes on in the next line.
                        Some('\n') => continue,
                        Some('t') => value.push('\t'),
                        Some('n') => value.push('\n'),
                        Some('b') => value.push('\u{8}'),
                        Some(c @ ('\\' | '"')) => value.push(c),
                        _ => return None,
                    }
                    kept = value.len();
                }
                Some(c) if is_space(c) && !quoted => {
                    if !value.is_empty() {
                        value.push(c);
                    }
                }
                Some(c) => {
                    value.push(c);
                    kept = value.len();
                }
            }
        }
        value.truncate(kept);
        Some(value)
    }
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::read;

    fn settings(text: &str) -> Vec<(String, String)> {
        read(text.as_bytes()).unwrap_or_else(|line| panic!("{text:?}: line {line}"))
    }

    #[test]
    fn settings_are_found_however_they_are_written() {
        for (text, key, value) in [
            ("[diff \"x\"]\n\ttextconv = run me\n", "diff.x.textconv", "run me"),
            ("[DIFF \"X y\"] TextConv=a", "diff.X y.textconv", "a"),
            ("[diff.X]\ntextconv=a\n", "diff.x.textconv", "a"),
            ("[filter \"a\\\"b\"]\nclean = \"a # b\" ; c\n", "filter.a\"b.clean", "a # b"),
            ("[filter \"a\"]\r\nclean = a\\\r\n b\r\n", "filter.a.clean", "a b"),
            ("\u{feff}[a]\nb = \\tc\\n\\\"", "a.b", "\tc\n\""),
            ("[a]\n[b]\nc\n", "b.c", ""),
            ("[a]b=c # d", "a.b", "c"),
            ("[alias]\n  st = \"!f() { \\\n a; }; f\"\n", "alias.st", "!f() {  a; }; f"),
        ] {
            assert_eq!(settings(text), [(key.to_owned(), value.to_owned())], "{text:?}");
        }
        assert_eq!(settings("# a\n\n; b\n[core]\n"), []);
        assert_eq!(settings("[a]\nb=1\nc=2\n[a \"d\"]\nb=3").len(), 3);
    }

    #[test]
    fn a_value_that_is_not_text_shows_it() {
        let found = read(b"[include]\npath = x\xff\n").expect("git reads it");
        assert_eq!(found, [("include.path".to_owned(), "x\u{fffd}".to_owned())]);
    }

    #[test]
    fn what_git_refuses_is_refused() {
        for text in [
            "a = b",
            "[a",
            "[a\nb=c",
            "[a]\n=b",
            "[a]\n1=b",
            "[a]\nb = \"c\n",
            "[a]\nb = \\q",
            "[a \"b]\n",
            "[a b]",
            "[a]\nb c",
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
