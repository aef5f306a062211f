//! Front matter: what a Markdown file says about itself, between two lines `---` at its top.
//!
//! It is read line by line and not as YAML: files that other systems take hold descriptions with colons in them, which
//! YAML refuses. Keys stand at the left edge; what is indented, or a list's line, belongs to the key above it.

use crate::text;

/// A key with what stands behind it, and on the lines below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The key.
    pub key: String,
    /// Its line in the file, from 1.
    pub line: usize,
    rest: String,
    below: Vec<String>,
}

/// Front matter, where there is any, and the text below it. What is begun and not ended is none.
pub fn parts(written: &str) -> (Option<&str>, &str) {
    let written = written.strip_prefix('\u{feff}').unwrap_or(written);
    let rest =
        written.strip_prefix("---").and_then(|rest| rest.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n'));
    let Some(rest) = rest else { return (None, written) };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (Some(&rest[..at]), &rest[at + line.len()..]);
        }
        at += line.len();
    }
    (None, written)
}

/// The fields of what [`parts`] found, or the line that is none, with why.
pub fn fields(front: &str) -> Result<Vec<Field>, (usize, String)> {
    let mut found: Vec<Field> = Vec::new();
    // The file's first line is the one that begins it.
    for (number, line) in (2..).zip(front.lines()) {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let indented = line.starts_with([' ', '\t', '-']);
        match (indented, bare.split_once(':'), found.last_mut()) {
            (true, _, Some(last)) => last.below.push(bare.to_owned()),
            (false, Some((key, rest)), _) => {
                let (key, rest, below) = (key.trim().to_owned(), rest.trim().to_owned(), Vec::new());
                found.push(Field { key, line: number, rest, below });
            }
            _ => return Err((number, format!("'{}' is no `key: value`", text::preview(bare, 60)))),
        }
    }
    Ok(found)
}

impl Field {
    /// As one text.
    pub fn text(&self) -> String {
        match self.rest.as_str() {
            "" | ">" | ">-" => self.below.join(" ").trim().to_owned(),
            "|" | "|-" => self.below.join("\n").trim().to_owned(),
            rest => {
                let all = std::iter::once(rest).chain(self.below.iter().map(String::as_str));
                unquoted(&all.collect::<Vec<_>>().join(" ")).to_owned()
            }
        }
    }

    /// As names: `a, b`, `[a, b]`, or one a line with `- `.
    pub fn names(&self) -> Vec<String> {
        let below = self.below.iter().map(|line| line.strip_prefix("- ").unwrap_or(line));
        let all = std::iter::once(self.rest.as_str()).chain(below).collect::<Vec<_>>().join(",");
        let all = all.trim().trim_matches(|c| c == '[' || c == ']' || c == ',');
        all.split(',').map(|name| unquoted(name.trim()).to_owned()).filter(|name| !name.is_empty()).collect()
    }
}

fn unquoted(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    within('"').or_else(|| within('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_told_from_text() {
        for (written, front, body) in [
            ("---\nname: a\n---\nbody\n", Some("name: a\n"), "body\n"),
            ("\u{feff}---\r\nname: a\r\n---\r\nbody", Some("name: a\r\n"), "body"),
            ("---\n---\n", Some(""), ""),
            ("---\nname: a\n", None, "---\nname: a\n"),
            ("----\na\n----\n", None, "----\na\n----\n"),
            ("body", None, "body"),
            ("", None, ""),
        ] {
            assert_eq!(parts(written), (front, body), "{written:?}");
        }
    }

    #[test]
    fn a_field_is_a_text_or_names() {
        let read = fields("# said\na: 'x: y'\nb: >\n  one\n  two\nc: |\n  one\n  two\n\nd: [m, \"n\"]\ne:\n- m\n- n\n");
        let read = read.expect("it reads");
        let texts: Vec<(usize, String)> = read.iter().take(3).map(|field| (field.line, field.text())).collect();
        assert_eq!(texts, [(3, "x: y".to_owned()), (4, "one two".to_owned()), (7, "one\ntwo".to_owned())]);
        assert!(read[3..].iter().all(|field| field.names() == ["m", "n"]), "{read:?}");
        assert_eq!(fields("a: b\nno key\n"), Err((3, "'no key' is no `key: value`".to_owned())));
        assert_eq!(fields("  b\n").map_err(|(line, _)| line), Err(2));
    }
}
