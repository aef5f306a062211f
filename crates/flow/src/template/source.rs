//! From our text to minijinja's: `a ?? b` is written out, `{#` is a text like any other, and every place in the new
//! text knows the place in the old one that it came from.

use std::ops::Range;

/// What minijinja reads, and where it came from.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Source {
    pub text: String,
    /// Where in `text` a piece begins, and where in the original; in the order of `text`.
    pieces: Vec<(usize, usize)>,
    /// Whether the text is one expression that stands for its value.
    pub whole: bool,
}

impl Source {
    fn push(&mut self, text: &str, from: usize) {
        self.pieces.push((self.text.len(), from));
        self.text.push_str(text);
    }

    /// Our own words between pieces.
    fn glue(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The place in the original of a range of the new text.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        let at = |place: usize| {
            let piece = self.pieces.partition_point(|(start, _)| *start <= place).saturating_sub(1);
            self.pieces.get(piece).map_or(place, |(start, from)| from + place.saturating_sub(*start))
        };
        let start = at(range.start);
        start..at(range.end.max(range.start + 1) - 1).max(start) + 1
    }
}

/// Where a tag begins and ends, and where its inside does.
#[derive(Debug, PartialEq)]
struct Tag {
    outer: Range<usize>,
    inner: Range<usize>,
    statement: bool,
}

/// The next tag from `from` on: strings and braces inside are read, so that `'}}'` ends nothing.
fn tag(text: &str, from: usize) -> Option<Tag> {
    let bytes = text.as_bytes();
    let start = from
        + (0..bytes.len().saturating_sub(from + 1))
            .find(|at| bytes[from + at] == b'{' && matches!(bytes[from + at + 1], b'{' | b'%'))?;
    let statement = bytes[start + 1] == b'%';
    let close = if statement { b"%}" } else { b"}}" };
    let mut at = start + 2;
    let mut depth = 0usize;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'\'' | b'"') => at = quoted(bytes, at, quote) - 1,
            b'{' => depth += 1,
            _ if depth == 0 && bytes[at..].starts_with(close) => {
                return Some(Tag { outer: start..at + 2, inner: start + 2..at, statement });
            }
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    // Without an end: minijinja says so.
    Some(Tag { outer: start..bytes.len(), inner: start + 2..bytes.len(), statement })
}

/// The place behind a quoted text.
fn quoted(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The expression of a text that is one `{{ … }}` and nothing else, and where it begins.
pub(crate) fn whole(text: &str) -> Option<Range<usize>> {
    let trimmed = text.trim_end();
    let tag = tag(trimmed, 0)?;
    let alone = !tag.statement && trimmed[..tag.outer.start].trim().is_empty() && tag.outer.end == trimmed.len();
    let mut inner = tag.inner;
    // `{{-` and `-}}` strip white space, of which there is none.
    let text = &trimmed[inner.clone()];
    inner.start += usize::from(text.starts_with('-') && text[1..].starts_with(char::is_whitespace));
    inner.end -= usize::from(text.ends_with('-') && inner.end > inner.start);
    (alone && tag.outer.end >= inner.end + 2).then_some(inner)
}

/// What minijinja reads of a text: the expression alone where it is whole.
pub(crate) fn source(text: &str) -> Source {
    let mut source = Source::default();
    if let Some(inner) = whole(text) {
        source.whole = true;
        expression(&mut source, &text[inner.clone()], inner.start, false);
        return source;
    }
    let mut at = 0;
    while let Some(tag) = tag(text, at) {
        literal(&mut source, &text[at..tag.outer.start], at);
        source.push(&text[tag.outer.start..tag.inner.start], tag.outer.start);
        let inner = &text[tag.inner.clone()];
        expression(&mut source, inner, tag.inner.start, tag.statement);
        source.push(&text[tag.inner.end..tag.outer.end], tag.inner.end);
        at = tag.outer.end;
        let words = inner.trim_matches(['-', '+']).trim();
        if tag.statement && words == "raw" {
            // Up to the end of what is not read.
            let end = text[at..].find("endraw").map_or(text.len(), |end| at + end);
            let end = text[..end].rfind("{%").filter(|open| *open >= at).unwrap_or(end);
            source.push(&text[at..end], at);
            at = end;
        }
    }
    literal(&mut source, &text[at..], at);
    source
}

/// The source of an expression that stands without braces.
pub(crate) fn bare(text: &str) -> Source {
    let mut source = Source { whole: true, ..Source::default() };
    expression(&mut source, text, 0, false);
    source
}

/// Text between tags. What minijinja would take for a comment is written as a text.
fn literal(source: &mut Source, text: &str, from: usize) {
    let mut at = 0;
    while let Some(found) = text[at..].find("{#") {
        source.push(&text[at..at + found], from + at);
        source.push("{{ '{#' }}", from + at + found);
        at += found + 2;
    }
    source.push(&text[at..], from + at);
}

/// Writes out `??` in the inside of a tag, or in brackets of one.
fn expression(source: &mut Source, text: &str, from: usize, statement: bool) {
    if !text.contains("??") {
        source.push(text, from);
        return;
    }
    let loops = statement && text.trim_start_matches(['-', '+']).trim_start().starts_with("for ");
    let mut start = 0;
    for end in separators(text, loops) {
        alternatives(source, &text[start..end.start], from + start);
        source.push(&text[end.clone()], from + end.start);
        start = end.end;
    }
    alternatives(source, &text[start..], from + start);
}

/// Where the operands of `??` end: `,` `:` `=` and the words `if`, `elif`, `else`, outside brackets and quotes.
fn separators(text: &str, loops: bool) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut depth) = (0, 0usize);
    let word_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'\'' | b'"' => {
                at = quoted(bytes, at, byte);
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' | b':' if depth == 0 => found.push(at..at + 1),
            b'=' if depth == 0 => {
                let next = bytes.get(at + 1) == Some(&b'=');
                let before = at > 0 && matches!(bytes[at - 1], b'=' | b'!' | b'<' | b'>');
                if !next && !before {
                    found.push(at..at + 1);
                }
            }
            byte if word_byte(byte) => {
                let end = at + bytes[at..].iter().position(|byte| !word_byte(*byte)).unwrap_or(bytes.len() - at);
                let word = &text[at..end];
                let member = text[..at].trim_end().ends_with('.');
                if depth == 0 && !member && (matches!(word, "if" | "elif" | "else") || (loops && word == "in")) {
                    found.push(at..end);
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// `a ?? b ?? c`, from the left: the first that is there.
fn alternatives(source: &mut Source, text: &str, from: usize) {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut split) = (0, 0usize, None);
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'\'' | b'"') => {
                at = quoted(bytes, at, quote);
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'?' if depth == 0 && bytes.get(at + 1) == Some(&b'?') => {
                split = Some(at);
                break;
            }
            _ => {}
        }
        at += 1;
    }
    let Some(split) = split else {
        return brackets(source, text, from);
    };
    let (left, right) = (&text[..split], &text[split + 2..]);
    let space = left.len() - left.trim_start().len();
    // A blank before and behind: words on both sides stay words.
    source.glue(" ((");
    brackets(source, left, from);
    source.glue(") if ");
    match path(left) {
        Some((root, steps)) => {
            source.glue("(");
            source.push(root, from + space);
            source.glue(" is defined and __has(");
            source.push(root, from + space);
            for (step, key) in steps {
                source.glue(", ");
                match key {
                    true => source.glue(&format!("'{}'", &left[step])),
                    false => expression(source, &left[step.clone()], from + step.start, false),
                }
            }
            source.glue("))");
        }
        None => {
            source.glue("((");
            brackets(source, left, from);
            source.glue(") is defined and (");
            brackets(source, left, from);
            source.glue(") is not none)");
        }
    }
    source.glue(" else (");
    alternatives(source, right, from + split + 2);
    source.glue(")) ");
}

/// Text in which `??` stands in brackets only.
fn brackets(source: &mut Source, text: &str, from: usize) {
    let bytes = text.as_bytes();
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'\'' | b'"') => {
                at = quoted(bytes, at, quote);
                continue;
            }
            b'(' | b'[' | b'{' => {
                let end = closing(bytes, at);
                if text[at..end].contains("??") {
                    source.push(&text[copied..=at], from + copied);
                    expression(source, &text[at + 1..end], from + at + 1, false);
                    copied = end;
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    source.push(&text[copied..], from + copied);
}

/// Where the bracket at `open` closes, or the end.
fn closing(bytes: &[u8], open: usize) -> usize {
    let (mut at, mut depth) = (open, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'\'' | b'"') => {
                at = quoted(bytes, at, quote);
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Where a step stands, and whether it is a key.
type Stepped = (Range<usize>, bool);

/// `root.key[expression]`: the root, and its steps.
fn path(text: &str) -> Option<(&str, Vec<Stepped>)> {
    let bytes = text.as_bytes();
    let name = |from: usize| {
        from + bytes[from..]
            .iter()
            .position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))
            .unwrap_or(bytes.len() - from)
    };
    let start = text.len() - text.trim_start().len();
    let mut at = name(start);
    let root = &text[start..at];
    if !super::super::read::is_name(root) {
        return None;
    }
    let mut steps = Vec::new();
    let end = text.trim_end().len();
    while at < end {
        match bytes[at] {
            b'.' => {
                let to = name(at + 1);
                if to == at + 1 {
                    return None;
                }
                steps.push((at + 1..to, true));
                at = to;
            }
            b'[' => {
                let close = closing(bytes, at);
                // A slice is no step.
                if close >= end || text[at..close].contains(':') || text[at + 1..close].trim().is_empty() {
                    return None;
                }
                steps.push((at + 1..close, false));
                at = close + 1;
            }
            _ => return None,
        }
    }
    Some((root, steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_one_expression_is_whole() {
        for (text, inside) in [
            ("{{ a }}", Some(" a ")),
            ("  {{a}}\n", Some("a")),
            ("{{ {'a': {'b': 1}} }}", Some(" {'a': {'b': 1}} ")),
            ("{{ '}}' }}", Some(" '}}' ")),
            ("{{- a -}}", Some(" a ")),
            ("{{ -1 }}", Some(" -1 ")),
            ("{{ a }}{{ b }}", None),
            ("{{ a }} b", None),
            ("x", None),
            ("{{ a", None),
            ("{{", None),
            ("{% if a %}{% endif %}", None),
        ] {
            assert_eq!(whole(text).map(|range| &text[range]), inside, "{text}");
        }
    }

    #[test]
    fn what_has_no_question_marks_stays_as_it_is() {
        for text in ["{{ a }} ", "a {{ b }} c", "{% for a in b %}x{% endfor %}", "plain", "a {{ '??' }}", "a {{"] {
            let made = source(text);
            assert_eq!(made.text, if made.whole { " a " } else { text });
        }
    }

    #[test]
    fn places_lead_back() {
        let text = "x {{ use.a ?? inputs.b }} y {{ use.c }}";
        let made = source(text);
        for word in ["inputs.b", "use.c", " y "] {
            let at = made.text.rfind(word).expect("it is there");
            assert_eq!(&text[made.original(at..at + word.len())], word);
        }
    }

    #[test]
    fn a_comment_sign_is_a_text() {
        assert_eq!(source("${#a[@]} {{ b }}").text, "${{ '{#' }}a[@]} {{ b }}");
    }
}
