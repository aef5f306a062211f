//! The usual slips behind a file that is no YAML: a quote without an end, and a line that is indented otherwise than those
//! around it. A scanner stops where it can go no further, which is often far behind the slip.

use crate::model::Span;

/// What is most likely wrong at or before a line, in words.
pub(super) fn slip(text: &str, line: usize) -> Option<String> {
    open_quote(text)
        .filter(|(of, _)| *of <= line)
        .map(|(of, quote)| {
            format!("the {quote} in line {of} has no end there; a text in quotes ends with the same quote")
        })
        .or_else(|| {
            let (of, indent, near) = off(text).filter(|(of, ..)| *of <= line)?;
            let near: Vec<String> = near.iter().map(usize::to_string).collect();
            Some(format!("line {of} is indented by {indent} spaces; what stands beside it is by {}", near.join(" or ")))
        })
}

/// Where a key stands without its `:` before a line that a scanner cannot take, and how it is written; or a text that
/// holds one and needs quotes.
pub(super) fn no_colon(text: &str, line: usize) -> Option<(Span, String)> {
    let lines: Vec<&str> = text.lines().take(line).collect();
    let here = lines.last()?;
    let spot = |number: usize, line: &str| {
        let said = line.trim();
        let column = line.chars().take_while(|c| c.is_whitespace()).count() + 1;
        Span { line: number + 1, column, length: said.chars().count().max(1) }
    };
    if here.matches(": ").count() > 1 && !here.contains(['"', '\'', '{']) {
        let (key, value) = here.trim().split_once(": ")?;
        return Some((
            spot(lines.len() - 1, here),
            format!("a text that holds `: ` stands in quotes: {key}: \"{value}\""),
        ));
    }
    let (number, above) = lines.iter().enumerate().rev().skip(1).find(|(_, line)| !line.trim().is_empty())?;
    let said = above.trim().trim_start_matches("- ");
    let (key, value) = said.split_once(' ')?;
    let is_key = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') && !said.contains(':');
    is_key.then(|| (spot(number, above), format!("with a colon: `{key}: {}`", value.trim())))
}

/// The first line in which a quoted value begins that does not end as one.
fn open_quote(text: &str) -> Option<(usize, char)> {
    let starts = |before: &str| {
        let before = before.trim_end_matches(' ');
        before.is_empty() || before.ends_with([':', '-', '[', '{', ','])
    };
    let mut from = 0;
    while let Some(found) = text[from..].find(['"', '\'']) {
        let at = from + found;
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let quote = if text[at..].starts_with('"') { '"' } else { '\'' };
        from = at + 1;
        // A quote inside a text, or behind a `#`, is a character like any other.
        if !starts(&text[line..at]) || text[line..at].contains(" #") || text[line..at].trim_start().starts_with('#') {
            continue;
        }
        let number = text[..at].matches('\n').count() + 1;
        let Some(end) = closed(text, at + 1, quote) else { return Some((number, quote)) };
        let rest = text[end..].lines().next().unwrap_or_default().trim_start();
        if !(rest.is_empty() || rest.starts_with([',', ']', '}', ':', '#'])) {
            return Some((number, quote));
        }
        from = end;
    }
    None
}

/// The place behind the end of a quoted text.
fn closed(text: &str, from: usize, quote: char) -> Option<usize> {
    let mut chars = text[from..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quote == '"' => _ = chars.next(),
            c if c == quote => match chars.peek() {
                Some((_, next)) if quote == '\'' && *next == '\'' => _ = chars.next(),
                _ => return Some(from + at + 1),
            },
            _ => {}
        }
    }
    None
}

/// The first line whose indent is none that is open there, or more than what stands above it allows: its number, its
/// indent, and those that would do.
fn off(text: &str) -> Option<(usize, usize, Vec<usize>)> {
    let mut open: Vec<usize> = vec![0];
    let mut above = "";
    // Lines of a block text are of any indent that is more than that of its key.
    let mut block: Option<usize> = None;
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim_start_matches(' ');
        if trimmed.trim().is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let indent = line.len() - trimmed.len();
        if block.is_some_and(|of| indent > of) {
            continue;
        }
        block = None;
        let last = *open.last().unwrap_or(&0);
        if indent > last {
            let ended = above.trim_end();
            let goes_on = ended.is_empty() || ended.ends_with([':', '|', '>', ',', '[', '{', '-']);
            let begins = trimmed.contains(": ") || trimmed.trim_end().ends_with(':') || trimmed.starts_with("- ");
            if !goes_on && begins {
                return Some((number + 1, indent, vec![last]));
            }
        } else {
            let higher: Vec<usize> = open.iter().copied().filter(|level| *level > indent).take(1).collect();
            open.retain(|level| *level <= indent);
            let level = *open.last().unwrap_or(&0);
            if level != indent {
                return Some((number + 1, indent, [level].into_iter().chain(higher).collect()));
            }
        }
        if open.last() != Some(&indent) {
            open.push(indent);
        }
        // What stands behind `- ` is where the keys of an element are.
        let mut inner = trimmed;
        let mut column = indent;
        while let Some(rest) = inner.strip_prefix("- ") {
            let next = rest.trim_start_matches(' ');
            column += inner.len() - next.len();
            inner = next;
            open.push(column);
        }
        if inner.trim_end().ends_with(['|', '>'])
            || inner.trim_end().ends_with("|-")
            || inner.trim_end().ends_with(">-")
        {
            block = Some(column);
        }
        above = line;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_without_an_end_is_found_where_it_begins() {
        for (text, want) in [
            ("a: \"x\nb: 1\n", Some((1, '"'))),
            ("a: 1\nb: 'x\nc: 'y'\n", Some((2, '\''))),
            ("a: \"x\\\"\nb: 1\n", Some((1, '"'))),
            ("a: [x, \"y]\n", Some((1, '"'))),
            ("a: \"x\"\nb: 'it''s'\nc: it's\nd: say \"x\n", None),
            ("a: \"x\n  y\"\n", None),
            ("# don't: 'x\na: 1\n", None),
        ] {
            assert_eq!(open_quote(text), want, "{text}");
        }
    }

    #[test]
    fn a_key_without_its_colon_is_found() {
        for (text, line, want) in [
            ("a:\n  tool write\n  params: 1\n", 3, Some((2, 3, "with a colon: `tool: write`"))),
            ("a:\n  - id x\n\n    exec: [ls]\n", 4, Some((2, 3, "with a colon: `id: x`"))),
            ("a: b: c\n", 1, Some((1, 1, "a text that holds `: ` stands in quotes: a: \"b: c\""))),
            ("a:\n  said: one\n  b: 1\n", 3, None),
            ("a: 1\n", 1, None),
        ] {
            let found = no_colon(text, line);
            let found = found.as_ref().map(|(at, said)| (at.line, at.column, said.as_str()));
            assert_eq!(found, want, "{text}");
        }
    }

    #[test]
    fn a_line_that_is_off_is_found() {
        for (text, want) in [
            ("a:\n  - id: a\n    b: 1\n   - id: c\n", Some((4, 3, vec![2, 4]))),
            ("a:\n    b: 1\n  c: 2\n", Some((3, 2, vec![0, 4]))),
            ("a: 1\n  b: 2\n", Some((2, 2, vec![0]))),
            ("a:\n  - id: a\n    b: |\n        x: 1\n      y\n    c: 2\n  - id: d\ne: 1\n", None),
            ("a:\n- b: 1\n  c: 2\n- d: 3\n", None),
            ("a: [1,\n   2]\nb: 3\n", None),
        ] {
            assert_eq!(off(text), want, "{text}");
        }
    }
}
