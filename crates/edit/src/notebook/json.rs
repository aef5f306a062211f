//! JSON as places in the text: what stands where, so that one value can be replaced and every
//! other byte kept. Strict, without numbers' values, and bounded in depth and in number.

use std::ops::Range;

/// A value and where it stands.
#[derive(Debug)]
pub(crate) struct Value {
    pub at: Range<usize>,
    pub kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Object(Vec<Member>),
    Array(Vec<Value>),
    String,
    Number,
    /// `true` or `false`.
    Bool,
    Null,
}

#[derive(Debug)]
pub(crate) struct Member {
    /// Where the key stands, with its quotes.
    pub key: Range<usize>,
    pub name: String,
    pub value: Value,
}

/// Where the text stops being JSON, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotJson {
    pub at: usize,
    pub why: &'static str,
}

/// Notebooks nest some ten deep; a widget's state perhaps thirty.
const MAX_DEPTH: usize = 128;
/// Values of one text. A million: each takes some 50 bytes and more, of which a text may need but two, so that a small
/// file could fill the memory; a notebook of plots has some hundred thousand.
const MAX_VALUES: usize = 1_000_000;

impl Value {
    pub fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    pub fn items(&self) -> &[Value] {
        match &self.kind {
            Kind::Array(items) => items,
            _ => &[],
        }
    }

    /// The last member of that name, which is what other readers take, too.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.member(name).map(|member| &member.value)
    }

    pub fn member(&self, name: &str) -> Option<&Member> {
        self.members().iter().rev().find(|member| member.name == name)
    }

    pub fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array(_))
    }

    pub fn string(&self, text: &str) -> Option<String> {
        matches!(self.kind, Kind::String).then(|| unquote(text.get(self.at.clone()).unwrap_or_default()))
    }

    pub fn integer(&self, text: &str) -> Option<i64> {
        matches!(self.kind, Kind::Number).then(|| text.get(self.at.clone())?.parse().ok())?
    }

    /// A string, or the lines of a list of strings joined: how notebooks keep longer text.
    pub fn text(&self, text: &str) -> Option<String> {
        match &self.kind {
            Kind::String => self.string(text),
            Kind::Array(items) => items.iter().map(|item| item.string(text)).collect(),
            _ => None,
        }
    }
}

/// Finds all values of a text that is one JSON value from `from` on.
pub(crate) fn scan(text: &str, from: usize) -> Result<Value, NotJson> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: from, values: 0 };
    let value = scanner.value(0)?;
    scanner.blanks();
    if scanner.at < text.len() {
        return Err(scanner.wrong("something follows the end of the JSON value"));
    }
    Ok(value)
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How many were begun.
    values: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn wrong(&self, why: &'static str) -> NotJson {
        NotJson { at: self.at, why }
    }

    fn value(&mut self, depth: usize) -> Result<Value, NotJson> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("it is nested more than 128 deep"));
        }
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(self.wrong("it holds more than a million values"));
        }
        self.blanks();
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.object(depth)?),
            Some(b'[') => Kind::Array(self.array(depth)?),
            Some(b'"') => {
                self.string()?;
                Kind::String
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                Kind::Number
            }
            _ => self.word()?,
        };
        Ok(Value { at: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Member>, NotJson> {
        let mut members = Vec::new();
        self.at += 1;
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(members);
        }
        loop {
            self.blanks();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a key in double quotes is missing"));
            }
            self.string()?;
            let key = start..self.at;
            let quoted = self.bytes.get(key.clone()).and_then(|b| std::str::from_utf8(b).ok());
            let name = unquote(quoted.unwrap_or_default());
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.wrong("a colon is missing"));
            }
            self.at += 1;
            let value = self.value(depth + 1)?;
            members.push(Member { key, name, value });
            if !self.goes_on(b'}')? {
                return Ok(members);
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Value>, NotJson> {
        let mut items = Vec::new();
        self.at += 1;
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(items);
        }
        loop {
            items.push(self.value(depth + 1)?);
            if !self.goes_on(b']')? {
                return Ok(items);
            }
        }
    }

    /// A comma: more follows. The closing bracket: done.
    fn goes_on(&mut self, close: u8) -> Result<bool, NotJson> {
        self.blanks();
        let more = match self.peek() {
            Some(b',') => true,
            Some(byte) if byte == close => false,
            _ => return Err(self.wrong("a comma or closing bracket is missing")),
        };
        self.at += 1;
        Ok(more)
    }

    fn string(&mut self) -> Result<(), NotJson> {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
                        Some(b'u') => {
                            let digits = self.bytes.get(self.at + 1..self.at + 5);
                            if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                                return Err(self.wrong("four hexadecimal digits are missing after \\u"));
                            }
                            self.at += 5;
                        }
                        _ => return Err(self.wrong("a backslash starts no known escape")),
                    }
                }
                Some(0..0x20) => return Err(self.wrong("a control character stands in a string")),
                Some(_) => {
                    let rest = self.bytes.get(self.at..).unwrap_or_default();
                    self.at += rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
                }
                None => return Err(self.wrong("a string does not end")),
            }
        }
    }

    fn digits(&mut self) -> Result<(), NotJson> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.wrong("a digit is missing"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), NotJson> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn word(&mut self) -> Result<Kind, NotJson> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        // NaN and infinities are not JSON, but Python writes them into outputs.
        for (word, kind) in [
            ("true", Kind::Bool),
            ("false", Kind::Bool),
            ("null", Kind::Null),
            ("NaN", Kind::Number),
            ("Infinity", Kind::Number),
        ] {
            if rest.starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(kind);
            }
        }
        Err(self.wrong(if rest.is_empty() { "it ends in the middle" } else { "no JSON value starts here" }))
    }
}

/// The text of a quoted string. Half a surrogate pair becomes U+FFFD.
pub(crate) fn unquote(quoted: &str) -> String {
    let inner = quoted.strip_prefix('"').unwrap_or(quoted);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if !inner.contains('\\') {
        return inner.to_owned();
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or_default());
        let escape = rest.get(at + 1..).unwrap_or_default();
        let (c, len) = match escape.bytes().next() {
            Some(b'n') => ('\n', 1),
            Some(b't') => ('\t', 1),
            Some(b'r') => ('\r', 1),
            Some(b'b') => ('\u{8}', 1),
            Some(b'f') => ('\u{c}', 1),
            Some(b'u') => code(escape),
            Some(c) if c.is_ascii() => (char::from(c), 1),
            _ => ('\u{fffd}', 0),
        };
        out.push(c);
        rest = escape.get(len..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// `uXXXX`, or `uXXXX\uXXXX` for a pair, and how long it is.
fn code(escape: &str) -> (char, usize) {
    let unit = |at: usize| escape.get(at..at + 4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
    let Some(first) = unit(1) else { return ('\u{fffd}', 1) };
    if let Some(c) = char::from_u32(u32::from(first)) {
        return (c, 5);
    }
    if escape.get(5..7) == Some("\\u")
        && let Some(second) = unit(7)
        && let Some(Ok(c)) = char::decode_utf16([first, second]).next()
    {
        return (c, 11);
    }
    ('\u{fffd}', 5)
}

/// A string as JSON, non-ASCII as it is or as `\u` escapes.
pub(crate) fn quote(text: &str, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' || c == '\u{7f}' && ascii || ascii && !c.is_ascii() => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
