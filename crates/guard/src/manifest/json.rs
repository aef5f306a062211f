//! JSON as a tree in which every value and every key knows its line and column.
//!
//! Our own, and strict: a denial is reported by the line that made it, a key that stands twice is an error and
//! not the last one's, and nothing that only looks like JSON is taken for it.

use super::Spot;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Json {
    /// What it is.
    pub kind: JsonKind,
    /// Its first character.
    pub spot: Spot,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// As written.
    Number(String),
    /// Its escapes resolved.
    Text(String),
    /// `[…]`.
    List(Vec<Json>),
    /// `{…}`, each key once.
    Map(Vec<(JsonKey, Json)>),
}

/// A key of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonKey {
    /// Its text.
    pub name: String,
    /// Its opening quote.
    pub spot: Spot,
}

/// Text that is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken {
    pub spot: Spot,
    pub what: String,
}

/// The deepest value of a manifest lies four levels down; settings of other programs may go further.
const MAX_DEPTH: usize = 32;

impl Json {
    /// How an error names it.
    pub fn describe(&self) -> String {
        match &self.kind {
            JsonKind::Null => "`null`".into(),
            JsonKind::Bool(value) => format!("`{value}`"),
            JsonKind::Number(text) => format!("`{text}`"),
            JsonKind::Text(text) => format!("'{}'", text.escape_debug()),
            JsonKind::List(_) => "a list".into(),
            JsonKind::Map(_) => "an object".into(),
        }
    }

    /// As it would be written on one line.
    pub fn text(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match &self.kind {
            JsonKind::Null => "null".into(),
            JsonKind::Bool(value) => value.to_string(),
            JsonKind::Number(text) => text.clone(),
            JsonKind::Text(text) => text.escape_debug().to_string(),
            JsonKind::List(items) => format!("[{}]", joined(items.iter().map(Json::text).collect())),
            JsonKind::Map(entries) => {
                let entry = |(key, value): &(JsonKey, Json)| format!("{}: {}", key.name.escape_debug(), value.text());
                format!("{{{}}}", joined(entries.iter().map(entry).collect()))
            }
        }
    }
}

/// Parses one value and nothing behind it.
pub(super) fn parse(text: &str) -> Result<Json, Broken> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { rest: text, spot: Spot { line: 1, column: 1 } };
    let value = reader.value(0)?;
    reader.blanks();
    match reader.rest.chars().next() {
        None => Ok(value),
        Some(found) => reader.fail(format!("found {found:?} behind the end of the object")),
    }
}

struct Reader<'t> {
    rest: &'t str,
    spot: Spot,
}

impl Reader<'_> {
    fn fail<T>(&self, what: impl Into<String>) -> Result<T, Broken> {
        Err(Broken { spot: self.spot, what: what.into() })
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek()?;
        self.rest = &self.rest[found.len_utf8()..];
        match found {
            '\n' => self.spot = Spot { line: self.spot.line + 1, column: 1 },
            _ => self.spot.column += 1,
        }
        Some(found)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.next();
        }
    }

    fn take(&mut self, wanted: char, place: &str) -> Result<(), Broken> {
        match self.peek() {
            Some(found) if found == wanted => {
                self.next();
                Ok(())
            }
            Some(found) => self.fail(format!("found {found:?} where {wanted:?} is expected {place}")),
            None => self.fail(format!("the text ends where {wanted:?} is expected {place}")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, Broken> {
        self.blanks();
        let spot = self.spot;
        if depth > MAX_DEPTH {
            return self.fail("this is deeper than any manifest needs");
        }
        let kind = match self.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => JsonKind::Text(self.string()?),
            Some('-' | '0'..='9') => self.number()?,
            Some('t' | 'f' | 'n') => self.word()?,
            Some('/') => return self.fail("JSON has no comments"),
            Some(found) => return self.fail(format!("found {found:?} where a value is expected")),
            None => return self.fail("the text ends where a value is expected"),
        };
        Ok(Json { kind, spot })
    }

    fn object(&mut self, depth: usize) -> Result<JsonKind, Broken> {
        self.take('{', "")?;
        let mut entries: Vec<(JsonKey, Json)> = Vec::new();
        self.blanks();
        if self.peek() == Some('}') {
            self.next();
            return Ok(JsonKind::Map(entries));
        }
        loop {
            self.blanks();
            let spot = self.spot;
            if self.peek() != Some('"') {
                return self.fail(match self.peek() {
                    Some('}') => "a comma stands before the end of the object".to_owned(),
                    Some(found) => format!("found {found:?} where a key in quotes is expected"),
                    None => "the text ends inside an object".to_owned(),
                });
            }
            let key = JsonKey { name: self.string()?, spot };
            if let Some((first, _)) = entries.iter().find(|(other, _)| other.name == key.name) {
                let what = format!("the key `{}` stands on line {} already", key.name.escape_debug(), first.spot.line);
                return Err(Broken { spot, what });
            }
            self.blanks();
            self.take(':', "behind a key")?;
            let value = self.value(depth + 1)?;
            entries.push((key, value));
            self.blanks();
            match self.peek() {
                Some(',') => drop(self.next()),
                _ => {
                    self.take('}', "or a comma")?;
                    return Ok(JsonKind::Map(entries));
                }
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<JsonKind, Broken> {
        self.take('[', "")?;
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(']') {
            self.next();
            return Ok(JsonKind::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            match self.peek() {
                Some(',') => drop(self.next()),
                _ => {
                    self.take(']', "or a comma")?;
                    return Ok(JsonKind::List(items));
                }
            }
        }
    }

    fn string(&mut self) -> Result<String, Broken> {
        self.take('"', "")?;
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return self.fail("the text ends inside a string"),
                Some(control) if control < ' ' => return self.fail(format!("{control:?} stands bare in a string")),
                _ => {}
            }
            match self.next() {
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(plain) => text.push(plain),
                None => {}
            }
        }
    }

    fn escape(&mut self) -> Result<char, Broken> {
        let found = match self.peek() {
            Some('"') => '"',
            Some('\\') => '\\',
            Some('/') => '/',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                self.next();
                return self.unicode();
            }
            _ => return self.fail("this is no escape of JSON"),
        };
        self.next();
        Ok(found)
    }

    /// Behind `\u`; a pair of surrogates is one character, a lone one none.
    fn unicode(&mut self) -> Result<char, Broken> {
        let first = self.four()?;
        let code = match first {
            0xd800..=0xdbff if self.rest.starts_with("\\u") => {
                self.next();
                self.next();
                let second = self.four()?;
                match second {
                    0xdc00..=0xdfff => 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00),
                    _ => return self.fail("half a character stands before this"),
                }
            }
            other => other,
        };
        char::from_u32(code).map_or_else(|| self.fail("half a character stands before this"), Ok)
    }

    fn four(&mut self) -> Result<u32, Broken> {
        let mut code = 0;
        for _ in 0..4 {
            match self.peek().and_then(|digit| digit.to_digit(16)) {
                Some(digit) => code = code * 16 + digit,
                None => return self.fail("four hexadecimal digits are expected behind `\\u`"),
            }
            self.next();
        }
        Ok(code)
    }

    fn number(&mut self) -> Result<JsonKind, Broken> {
        let length = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
        let text = self.rest[..length.unwrap_or(self.rest.len())].to_owned();
        if !is_number(&text) {
            return self.fail(format!("`{text}` is no number of JSON"));
        }
        for _ in text.chars() {
            self.next();
        }
        Ok(JsonKind::Number(text))
    }

    fn word(&mut self) -> Result<JsonKind, Broken> {
        let length = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let text = self.rest[..length].to_owned();
        let kind = match text.as_str() {
            "true" => JsonKind::Bool(true),
            "false" => JsonKind::Bool(false),
            "null" => JsonKind::Null,
            _ => return self.fail(format!("`{text}` is no value; text stands in quotes")),
        };
        for _ in text.chars() {
            self.next();
        }
        Ok(kind)
    }
}

/// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (text, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(text, exponent)| (text, Some(exponent)));
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_know_where_they_stand() {
        let found = parse("{\n  \"a\": [1, true],\n  \"ü\\u00e9\\ud83d\\ude00\\n\": {\"b\": null}\n}\n").expect("JSON");
        let JsonKind::Map(entries) = found.kind else { panic!("an object") };
        let at = |spot: Spot| (spot.line, spot.column);
        assert_eq!((at(entries[0].0.spot), at(entries[0].1.spot)), ((2, 3), (2, 8)));
        assert_eq!(entries[1].0.name, "üé😀\n");
        assert_eq!(at(entries[1].1.spot), (3, 28));
        assert_eq!(entries[0].1.text(), "[1, true]");
    }

    #[test]
    fn what_is_not_json_is_named_with_its_place() {
        for (text, line, column, word) in [
            ("", 1, 1, "ends"),
            ("{", 1, 2, "inside an object"),
            ("{\"a\": 1,}", 1, 9, "comma"),
            ("{\"a\" 1}", 1, 6, "':'"),
            ("{\"a\": 1 \"b\": 2}", 1, 9, "comma"),
            ("{a: 1}", 1, 2, "quotes"),
            ("{\"a\": 1}\n x", 2, 2, "behind the end"),
            ("{\"a\": 1, \"a\": 2}", 1, 10, "already"),
            ("{\"a\": 01}", 1, 7, "no number"),
            ("{\"a\": tru}", 1, 7, "no value"),
            ("{\"a\": \"x", 1, 9, "inside a string"),
            ("{\"a\": \"\\q\"}", 1, 9, "escape"),
            ("{\"a\": \"\\ud800x\"}", 1, 14, "half"),
            ("{\"a\": \"\t\"}", 1, 8, "bare"),
            ("// x\n{}", 1, 1, "comments"),
            ("[1 2]", 1, 4, "comma"),
        ] {
            let broken = parse(text).expect_err(text);
            assert_eq!((broken.spot.line, broken.spot.column), (line, column), "{text}: {}", broken.what);
            assert!(broken.what.contains(word), "{text}: {}", broken.what);
        }
        assert!(parse(&"[".repeat(10_000)).is_err());
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[\\[\\]{}\":,0-9a-u\\\\\\-+. \n\u{e9}]{0,60}") {
            let _ = parse(&text);
        }
    }
}
