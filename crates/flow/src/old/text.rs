//! Templates of older documents: `{{use.alias.path}}` and nothing else. Everything else in a text is as it stands,
//! also what templates of today would read as their own.

use nika_contract::text::near_names;

use crate::model::Step;

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// As it stands.
    Text(String),
    /// What a template stands for.
    Value(Reference),
}

/// A template: a name and steps into its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reference {
    /// As written, braces included.
    pub raw: String,
    /// How many of the same were written before it in the same text.
    pub nth: usize,
    /// Whose value.
    pub root: Root,
    /// Steps into it.
    pub path: Vec<Step>,
}

/// What a template begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Root {
    /// `use.NAME`
    Use(String),
    /// The element of the loop, by its name.
    Item(String),
}

/// What a task's templates may name.
pub(super) struct Known<'a> {
    /// Names of `use`.
    pub uses: &'a [String],
    /// What the element of `for_each` is called.
    pub item: Option<&'a str>,
}

/// A template that names nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unknown {
    /// As written.
    pub raw: String,
    /// How many of the same were written before it in the same text.
    pub nth: usize,
    /// What is wrong with it.
    pub why: String,
    /// What would work.
    pub instead: Option<String>,
}

/// Names that templates have since `nika/workflow@1`.
const LATER: &[&str] = &["inputs", "secrets", "env", "tasks", "with", "context"];

/// A text in its parts, or every template in it that names nothing.
pub(super) fn pieces(text: &str, known: &Known<'_>) -> Result<Vec<Piece>, Vec<Unknown>> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut unknown: Vec<Unknown> = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        plain.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let (meant, length) = match inside.find("}}") {
            Some(end) => (meant(&inside[..end], known), end + 4),
            None => (Meant::Plain, 0),
        };
        let raw = rest[at..at + length].to_owned();
        let before = text.len() - rest.len() + at;
        let nth = if length == 0 { 0 } else { text[..before].matches(raw.as_str()).count() };
        match meant {
            Meant::Value(root, path) => {
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Value(Reference { raw, nth, root, path }));
                rest = &rest[at + length..];
            }
            Meant::Nothing { why, instead } => {
                unknown.push(Unknown { raw, nth, why, instead });
                rest = &rest[at + length..];
            }
            Meant::Plain => {
                // One brace at a time: `{{{use.a}}}` holds a template.
                plain.push('{');
                rest = &rest[at + 1..];
            }
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    if unknown.is_empty() { Ok(pieces) } else { Err(unknown) }
}

/// What stands between two pairs of braces.
enum Meant {
    Value(Root, Vec<Step>),
    Nothing { why: String, instead: Option<String> },
    Plain,
}

fn meant(inside: &str, known: &Known<'_>) -> Meant {
    let nothing = |why: String, instead: String| Meant::Nothing { why, instead: Some(instead) };
    let Some(mut steps) = path(inside.trim()) else {
        let begins = inside.trim_start();
        return match begins.starts_with("use.") || begins.starts_with("use[") {
            true => nothing(
                "is more than a path".into(),
                "older documents take `{{use.ALIAS.PATH}}` only; filters and expressions come with \
                 `schema: nika/workflow@1`"
                    .into(),
            ),
            false => Meant::Plain,
        };
    };
    let Step::Key(first) = steps.remove(0) else { return Meant::Plain };
    if known.item == Some(first.as_str()) {
        return Meant::Value(Root::Item(first), steps);
    }
    if first != "use" {
        if known.uses.contains(&first) {
            return Meant::Value(Root::Use(first), steps);
        }
        if LATER.contains(&first.as_str()) && !steps.is_empty() {
            return nothing(
                format!("names `{first}`, which older documents do not have"),
                "it comes with `schema: nika/workflow@1`; or bind the value with `use:`".into(),
            );
        }
        return Meant::Plain;
    }
    let alias = match steps.first() {
        Some(Step::Key(alias)) => alias.clone(),
        _ => return nothing("names no alias".into(), "write `{{use.ALIAS}}`".into()),
    };
    steps.remove(0);
    if known.uses.contains(&alias) {
        return Meant::Value(Root::Use(alias), steps);
    }
    if known.item == Some(alias.as_str()) {
        return Meant::Value(Root::Item(alias), steps);
    }
    let near = near_names(&alias, known.uses.iter().cloned().chain(known.item.map(str::to_owned)), 1);
    let instead = match near.first() {
        Some(near) => format!("did you mean `{{{{use.{near}}}}}`?"),
        None => format!("bind it: `use: {{{alias}: TASK}}`"),
    };
    nothing(format!("names `{alias}`, which this task does not bind"), instead)
}

/// `a.b[0].1` in steps; none where it is something else.
pub(super) fn path(text: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for (at, part) in text.split('.').enumerate() {
        let (name, mut indexes) = match part.find('[') {
            Some(open) => part.split_at(open),
            None => (part, ""),
        };
        if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-') {
            match name.parse() {
                Ok(index) if at > 0 => steps.push(Step::Index(index)),
                _ => steps.push(Step::Key(name.to_owned())),
            }
        } else {
            return None;
        }
        while let Some(after) = indexes.strip_prefix('[') {
            let (index, rest) = after.split_once(']')?;
            steps.push(Step::Index(index.parse().ok()?));
            indexes = rest;
        }
        if !indexes.is_empty() {
            return None;
        }
    }
    Some(steps)
}

impl Reference {
    /// As an expression of today.
    pub fn expression(&self) -> String {
        let mut text = match &self.root {
            Root::Use(alias) => format!("use.{}", name(alias)),
            Root::Item(name) => name.clone(),
        };
        for step in &self.path {
            match step {
                Step::Key(name) => text.push_str(&key(name)),
                Step::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }

    /// The environment variable that hands it to a command.
    pub fn variable(&self) -> String {
        let mut name = String::from("NIKA");
        let mut add = |part: &str| {
            name.push('_');
            name.extend(part.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }));
        };
        match &self.root {
            Root::Use(alias) => {
                add("USE");
                add(alias);
            }
            Root::Item(item) => add(item),
        }
        for step in &self.path {
            match step {
                Step::Key(key) => add(key),
                Step::Index(index) => add(&index.to_string()),
            }
        }
        name
    }

    /// Whether both stand for the same value, however they are written.
    pub fn same_value(&self, other: &Reference) -> bool {
        self.root == other.root && self.path == other.path
    }
}

/// What an alias is called today: names have letters, digits and `_`.
pub(super) fn name(alias: &str) -> String {
    let begins = if alias.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    let rest = alias.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    begins.chars().chain(rest).collect()
}

fn key(name: &str) -> String {
    let plain =
        name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
    match plain {
        true => format!(".{name}"),
        // Names hold letters, digits, `_` and `-`: nothing that a quote would have to hide.
        false => format!("['{name}']"),
    }
}

/// The text as a template of today: values as expressions, and what today's templates would read as theirs hidden
/// from them.
pub(super) fn today(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Value(value) => text.push_str(&format!("{{{{ {} }}}}", value.expression())),
            Piece::Text(plain) => text.push_str(&hidden(plain)),
        }
    }
    text
}

/// `{{`, `{%` and `{#` as texts of templates that say just that.
fn hidden(plain: &str) -> String {
    let mut text = String::new();
    let mut rest = plain;
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        let two = rest[at..].chars().nth(1);
        // A brace at the end may stand before a template's braces.
        if matches!(two, None | Some('{' | '%' | '#')) {
            text.push_str("{{ '{' }}");
        } else {
            text.push('{');
        }
        rest = &rest[at + 1..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(text: &str) -> Result<String, Vec<Unknown>> {
        let known = Known { uses: &["a".into(), "my-alias".into()], item: Some("locale") };
        pieces(text, &known).map(|pieces| today(&pieces))
    }

    #[test]
    fn paths_keep_their_meaning() {
        for (old, new) in [
            ("{{use.a}}", "{{ use.a }}"),
            ("x {{ use.a.b.c }} y", "x {{ use.a.b.c }} y"),
            ("{{use.a.0.name}}", "{{ use.a[0].name }}"),
            ("{{use.a.items[2].x}}", "{{ use.a.items[2].x }}"),
            ("{{use.a.b-c}}", "{{ use.a['b-c'] }}"),
            ("{{use.my-alias}}", "{{ use.my_alias }}"),
            ("{{use.locale.code}}", "{{ locale.code }}"),
            ("{{locale}}", "{{ locale }}"),
            ("{{a.b}}", "{{ use.a.b }}"),
        ] {
            assert_eq!(now(old).expect("it reads"), new, "{old}");
        }
    }

    #[test]
    fn what_was_plain_text_stays_plain_text() {
        for (old, new) in [
            ("Hello {{name}}", "Hello {{ '{' }}{name}}"),
            ("{% if %} {# no #}", "{{ '{' }}% if %} {{ '{' }}# no #}"),
            ("{{{use.a}}}", "{{ '{' }}{{ use.a }}}"),
            ("{\"a\": {{use.a}}}", "{\"a\": {{ use.a }}}"),
            ("{{.State}} {{ end", "{{ '{' }}{.State}} {{ '{' }}{ end"),
        ] {
            assert_eq!(now(old).expect("it reads"), new, "{old}");
        }
    }

    #[test]
    fn what_names_nothing_is_said() {
        let said = |text: &str| now(text).expect_err("it names nothing");
        assert!(said("{{use.b}}")[0].why.contains("`b`"));
        assert!(said("{{use.locales}}")[0].instead.as_deref().expect("a hint").contains("{{use.locale}}"));
        assert!(said("{{use.a | upper}}")[0].why.contains("more than a path"));
        assert!(said("{{inputs.x}}")[0].instead.as_deref().expect("a hint").contains("@1"));
        assert!(said("{{use}}")[0].why.contains("no alias"));
        let both = said("{{use.b}} {{use.c}} {{use.b}}");
        assert_eq!(both.iter().map(|unknown| unknown.nth).collect::<Vec<_>>(), [0, 0, 1]);
    }
}
