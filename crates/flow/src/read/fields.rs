//! From values of the tree to typed ones: each function says what it takes, and a value that is something else is a
//! finding that names both.

use std::time::Duration;

use nika_contract::Code;
use nika_contract::code;
use nika_contract::text::near_names;

use super::yaml::{Kind, Node};
use crate::finding::Finding;
use crate::model::{At, Dynamic, Span, Template};
use crate::shape::Shape;

/// Reads values, and keeps what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    pub findings: Vec<Finding>,
}

/// The values of a mapping by their keys, once the keys were looked at.
#[derive(Debug)]
pub(crate) struct Fields<'n> {
    entries: &'n [(At<String>, Node)],
}

impl<'n> Fields<'n> {
    /// The value of a key. A key with nothing behind it counts as absent.
    pub fn get(&self, key: &str) -> Option<&'n Node> {
        self.entry(key).map(|(_, node)| node).filter(|node| !matches!(node.kind, Kind::Null))
    }

    /// The key and its value, even where that is nothing.
    pub fn entry(&self, key: &str) -> Option<&'n (At<String>, Node)> {
        self.entries.iter().find(|(name, _)| name.value == key)
    }
}

/// "`a`?" or "one of `a`, `b`": what could have been meant.
pub(crate) fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    let near = near_names(name, known.iter().map(|name| (*name).to_owned()), 2);
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match (near.is_empty(), known.is_empty()) {
        (false, _) => {
            Some(format!("did you mean {}?", near.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" or ")))
        }
        (true, true) => None,
        (true, false) if known.len() <= 16 => Some(format!("there is {}", quoted(&known))),
        (true, false) => Some(format!("there is {}, … ({} in all)", quoted(&known[..12]), known.len())),
    }
}

/// A letter or `_`, then letters, digits and `_`: what templates can say behind a dot.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.len() <= 100
}

/// As a name, with `-` after the first character.
pub(crate) fn is_id(text: &str) -> bool {
    !text.starts_with('-') && is_name(&text.replace('-', "_"))
}

impl Reader {
    pub fn error(&mut self, code: Code, at: Span, message: impl Into<String>) {
        self.findings.push(Finding::error(code, at, message));
    }

    fn expected(&mut self, node: &Node, what: &str, takes: &str) {
        self.expected_or(node, what, takes, None);
    }

    fn expected_or(&mut self, node: &Node, what: &str, takes: &str, meant: Option<String>) {
        let message = format!("{what} takes {takes}, and this is {}", node.described());
        self.findings.push(Finding::error(code::FLOW_SHAPE, node.at, message).suggest_some(meant));
    }

    /// The mapping's fields; unknown, doubled and missing keys are findings.
    pub fn fields<'n>(&mut self, node: &'n Node, shape: &Shape) -> Option<Fields<'n>> {
        let Kind::Map(entries) = &node.kind else {
            let names: Vec<&str> = shape.keys.iter().map(|key| key.name).take(6).collect();
            self.expected(node, shape.what, &format!("a mapping with keys like {}", names.join(", ")));
            return None;
        };
        self.doubled(entries);
        for (key, _) in entries {
            if !shape.keys.iter().any(|known| known.name == key.value) {
                let message = format!("`{}` is not a key of {}", key.value, shape.what);
                let meant = meant(&key.value, shape.keys.iter().map(|key| key.name));
                self.findings.push(Finding::error(code::FLOW_SHAPE, key.at, message).suggest_some(meant));
            }
        }
        let fields = Fields { entries };
        for key in shape.keys.iter().filter(|key| key.required) {
            // Where anything stands, nothing is a value, too.
            let there = fields.get(key.name).is_some() || (key.takes == "true" && fields.entry(key.name).is_some());
            if !there {
                let at = fields.entry(key.name).map_or(node.at, |(name, _)| name.at);
                let message = format!("{} has no `{}`", shape.what, key.name);
                let add = format!("add `{}:`. {}", key.name, key.says);
                self.findings.push(Finding::error(code::FLOW_SHAPE, at, message).suggest(add));
            }
        }
        Some(fields)
    }

    /// Keys that occur twice.
    pub fn doubled(&mut self, entries: &[(At<String>, Node)]) {
        let mut seen = std::collections::HashMap::new();
        for (key, _) in entries {
            match seen.get(key.value.as_str()) {
                Some(line) => {
                    let message = format!("the key `{}` occurs twice; it stands in line {line} already", key.value);
                    self.error(code::FLOW_SHAPE, key.at, message);
                }
                None => _ = seen.insert(key.value.as_str(), key.at.line),
            }
        }
    }

    /// Names and values without a fixed set of keys.
    pub fn entries<'n>(&mut self, node: &'n Node, what: &str) -> &'n [(At<String>, Node)] {
        match &node.kind {
            Kind::Map(entries) => {
                self.doubled(entries);
                entries
            }
            _ => {
                self.expected(node, what, "names and values");
                &[]
            }
        }
    }

    pub fn list<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        match &node.kind {
            Kind::List(items) => items,
            _ => {
                self.expected(node, what, "a list");
                &[]
            }
        }
    }

    /// Text that is not empty.
    pub fn text(&mut self, node: &Node, what: &str) -> Option<At<String>> {
        match &node.kind {
            Kind::Text(text) if !text.trim().is_empty() => Some(At { value: text.clone(), at: node.at }),
            _ => {
                self.expected(node, what, "text");
                None
            }
        }
    }

    /// One text, or a list of them.
    pub fn texts(&mut self, node: &Node, what: &str) -> Vec<At<String>> {
        match &node.kind {
            Kind::Text(_) => self.text(node, what).into_iter().collect(),
            Kind::List(items) => {
                items.iter().filter_map(|item| self.text(item, &format!("an element of {what}"))).collect()
            }
            _ => {
                self.expected(node, what, "a text or a list of texts");
                Vec::new()
            }
        }
    }

    /// Text as it is written, numbers and truth values too: a word of a command, a variable, a header.
    pub fn word(&mut self, node: &Node, what: &str) -> Option<Template> {
        let text = match &node.kind {
            Kind::Text(text) => text.clone(),
            Kind::Number(number) => number.to_string(),
            Kind::Bool(value) => value.to_string(),
            _ => {
                self.expected(node, what, "a text");
                return None;
            }
        };
        Some(Template { text, at: node.at })
    }

    /// Text with templates that is not empty.
    pub fn template(&mut self, node: &Node, what: &str) -> Option<Template> {
        self.text(node, what).map(|text| Template { text: text.value, at: text.at })
    }

    /// Names and words, of variables or headers.
    pub fn words(&mut self, node: &Node, what: &str) -> Vec<(At<String>, Template)> {
        let entries = self.entries(node, what);
        entries
            .iter()
            .filter_map(|(key, node)| Some((key.clone(), self.word(node, &format!("`{}` of {what}", key.value))?)))
            .collect()
    }

    /// Any value.
    pub fn dynamic(&mut self, node: &Node) -> Dynamic {
        match &node.kind {
            Kind::Text(text) => Dynamic::Text(Template { text: text.clone(), at: node.at }),
            Kind::List(items) => Dynamic::List(items.iter().map(|item| self.dynamic(item)).collect()),
            Kind::Map(entries) => {
                self.doubled(entries);
                Dynamic::Object(entries.iter().map(|(key, node)| (key.clone(), self.dynamic(node))).collect())
            }
            _ => Dynamic::Plain(node.value()),
        }
    }

    /// A whole number within bounds.
    pub fn count(&mut self, node: &Node, what: &str, least: u64, most: u64) -> Option<u64> {
        if let Kind::Number(number) = &node.kind
            && let Some(count) = number.as_u64().filter(|count| (least..=most).contains(count))
        {
            return Some(count);
        }
        let bounds = if most == u64::MAX { format!("{least} or more") } else { format!("{least} to {most}") };
        let meant = number_meant(node).map(|number| {
            // Within the bounds, and whole: a number that is taken.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "`as` saturates, within bounds"
            )]
            let near = (number.round().max(0.0) as u64).clamp(least, most);
            format!("`{near}`?")
        });
        self.expected_or(node, what, &format!("a whole number, {bounds}"), meant);
        None
    }

    pub fn number(&mut self, node: &Node, what: &str, least: f64, most: f64) -> Option<f64> {
        if let Kind::Number(number) = &node.kind
            && let Some(number) = number.as_f64().filter(|number| (least..=most).contains(number))
        {
            return Some(number);
        }
        let meant = number_meant(node).map(|number| format!("`{}`?", number.clamp(least, most)));
        self.expected_or(node, what, &format!("a number, {least} to {most}"), meant);
        None
    }

    pub fn truth(&mut self, node: &Node, what: &str) -> Option<bool> {
        match node.kind {
            Kind::Bool(value) => Some(value),
            _ => {
                let meant = match &node.kind {
                    Kind::Text(text) => truth(text).map(|value| format!("`{value}`, without quotes?")),
                    _ => None,
                };
                self.expected_or(node, what, "true or false", meant);
                None
            }
        }
    }

    /// `30s`, `5m`, `1h30m`, `500ms`.
    pub fn duration(&mut self, node: &Node, what: &str) -> Option<At<Duration>> {
        let found = match &node.kind {
            Kind::Text(text) => duration(text),
            _ => None,
        };
        if let Some(value) = found {
            return Some(At { value, at: node.at });
        }
        let takes = "a time like `30s`, `5m` or `500ms`, at most 30 days";
        let message = format!("{what} takes {takes}, and this is {}", node.described());
        let seconds = match &node.kind {
            Kind::Number(number) => Some(format!("`{number}s`?")),
            Kind::Text(text) if text.trim().parse::<u32>().is_ok() => Some(format!("`{}s`?", text.trim())),
            Kind::Text(text) if text.contains(|c: char| c.is_ascii_digit()) => {
                let number: String = text.trim().chars().take_while(char::is_ascii_digit).take(6).collect();
                let number = if number.is_empty() { "5" } else { &number };
                let units: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
                Some(format!("units are {}: `{number}{}`", units.join(", "), unit_meant(text)))
            }
            _ => None,
        };
        self.findings.push(Finding::error(code::FLOW_SHAPE, node.at, message).suggest_some(seconds));
        None
    }

    /// One of some words.
    pub fn choice<T: Copy>(&mut self, node: &Node, what: &str, choices: &[(&str, T)]) -> Option<T> {
        let written = match &node.kind {
            Kind::Text(text) => text.as_str(),
            _ => "",
        };
        let found = choices.iter().find(|(name, _)| *name == written);
        if found.is_none() {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            let message = format!("{what} takes {}, and this is {}", names.join(", "), node.described());
            let near = near_names(written, names.iter().map(|name| (*name).to_owned()), 1);
            let other = OTHER_WORDS.iter().find(|(word, name)| *word == written && names.contains(name));
            let meant = other.map(|(_, name)| *name).or(near.first().map(String::as_str));
            let meant = meant.map(|name| format!("did you mean `{name}`?"));
            // The first is what is usual.
            let meant = meant.or_else(|| Some(format!("`{}` is what stands there when nothing is said", names[0])));
            self.findings.push(Finding::error(code::FLOW_SHAPE, node.at, message).suggest_some(meant));
        }
        found.map(|(_, value)| *value)
    }

    /// A name that templates can say.
    pub fn name(&mut self, name: &At<String>, what: &str) -> bool {
        /// Words of the language of templates, and what they have from elsewhere.
        const TAKEN: &[&str] = &[
            "and", "or", "not", "in", "is", "if", "else", "elif", "for", "endfor", "endif", "true", "false", "none",
            "True", "False", "None",
        ];
        let fits = is_name(&name.value) && !TAKEN.contains(&name.value.as_str());
        if !fits {
            let message = format!("`{}` cannot be the name of {what}", nika_contract::text::preview(&name.value, 60));
            let finding = Finding::error(code::FLOW_NAME, name.at, message);
            let better: String =
                name.value.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(60).collect();
            let words = "a letter or `_`, then letters, digits and `_`";
            self.findings.push(finding.suggest(if is_name(&better) && better != name.value {
                format!("`{better}`? Names are {words}")
            } else {
                format!("names are {words}")
            }));
        }
        fits
    }
}

/// The number that somebody meant: one that is out of bounds, in quotes, or a word.
fn number_meant(node: &Node) -> Option<f64> {
    const WORDS: &[&str] =
        &["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    match &node.kind {
        Kind::Number(number) => number.as_f64(),
        Kind::Text(text) => {
            let text = text.trim().to_lowercase();
            let word = || Some(WORDS.iter().position(|word| *word == text)? as f64);
            text.parse::<f64>().ok().filter(|number| number.is_finite()).or_else(word)
        }
        _ => None,
    }
}

/// The truth value that a text means to people.
pub(crate) fn truth(text: &str) -> Option<bool> {
    const WORDS: &[(&str, bool)] =
        &[("true", true), ("yes", true), ("on", true), ("false", false), ("no", false), ("off", false)];
    let text = text.trim().to_lowercase();
    WORDS.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
}

/// What other languages call what is chosen among here.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("array", "list"),
    ("bool", "boolean"),
    ("dict", "object"),
    ("float", "number"),
    ("int", "number"),
    ("integer", "number"),
    ("map", "object"),
    ("mapping", "object"),
    ("str", "string"),
    ("text", "string"),
];

/// What times are written in, and how many seconds each is.
const UNITS: &[(&str, f64)] = &[("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];

/// The unit that somebody wrote out: `5 minutes`.
fn unit_meant(text: &str) -> &'static str {
    const WORDS: &[(&str, &str)] =
        &[("milli", "ms"), ("sec", "s"), ("min", "m"), ("hour", "h"), ("hr", "h"), ("day", "d")];
    let word = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).to_ascii_lowercase();
    WORDS.iter().find(|(begin, _)| word.starts_with(begin)).map_or("s", |(_, unit)| unit)
}

fn duration(text: &str) -> Option<Duration> {
    /// Thirty days: no try and no run is longer, and every clock can add it.
    const MOST: f64 = 30.0 * 86_400.0;
    let mut rest = text.trim();
    let mut seconds = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().ok()?;
        let letters = rest[digits..].find(|c: char| !c.is_ascii_alphabetic()).map_or(rest.len(), |at| digits + at);
        let (_, unit) = UNITS.iter().find(|(name, _)| *name == &rest[digits..letters])?;
        seconds += number * unit;
        rest = rest[letters..].trim_start();
    }
    (0.001..=MOST).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        for (text, millis) in [
            ("30s", Some(30_000)),
            ("500ms", Some(500)),
            ("1h30m", Some(5_400_000)),
            ("1.5s", Some(1_500)),
            ("2d", Some(172_800_000)),
            ("30", None),
            ("", None),
            ("s", None),
            ("-1s", None),
            ("0s", None),
            ("99999d", None),
            ("5 parsecs", None),
            ("1..5s", None),
        ] {
            assert_eq!(duration(text).map(|d| d.as_millis()), millis, "{text}");
        }
    }

    #[test]
    fn what_was_meant_is_the_nearest_name_or_all_there_are() {
        assert_eq!(meant("taks", ["tasks", "name"]).as_deref(), Some("did you mean `tasks`?"));
        assert_eq!(meant("zebra", ["a", "b"]).as_deref(), Some("there is `a`, `b`"));
        assert_eq!(meant("zebra", []), None);
    }
}
