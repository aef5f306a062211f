//! Where in the file something inside a template stands.
//!
//! A value is not what is written: quotes, escapes and indents are gone. So the words are looked for in the file, from
//! where the value begins: as the same words stood so many times before in the value, they are found that many times
//! before in the file, too.

use std::ops::Range;

use crate::model::{Span, Template};

/// Lines that a value is looked for in.
const MOST_LINES: usize = 5_000;

/// The place of `range` of a template's text.
pub(super) fn inside(document: &str, template: &Template, range: Range<usize>) -> Span {
    let document = document.strip_prefix('\u{feff}').unwrap_or(document);
    let text = &template.text;
    let start = text.floor_char_boundary(range.start.min(text.len()));
    let end = text.ceil_char_boundary(range.end.clamp(start, text.len()));
    let words = text[start..end].lines().next().unwrap_or_default().trim_end();
    if words.trim().is_empty() {
        return template.at;
    }
    let mut before = text[..start].matches(words).count();
    for (number, line) in document.lines().enumerate().skip(template.at.line.saturating_sub(1)).take(MOST_LINES) {
        let from = if number + 1 == template.at.line {
            line.char_indices().nth(template.at.column.saturating_sub(1)).map_or(line.len(), |(at, _)| at)
        } else {
            0
        };
        for (at, _) in line[from..].match_indices(words) {
            if before == 0 {
                let column = line[..from + at].chars().count() + 1;
                return Span { line: number + 1, column, length: words.chars().count() };
            }
            before -= 1;
        }
    }
    template.at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_where_they_are_written() {
        let document = "a: 1\nb: \"x {{ use.a }} y {{ use.a }}\"\nc: |\n  first\n  {{ use.a }}\n";
        let quoted =
            Template { text: "x {{ use.a }} y {{ use.a }}".to_owned(), at: Span { line: 2, column: 4, length: 1 } };
        let second = quoted.text.rfind("use.a").expect("it is there");
        assert_eq!(inside(document, &quoted, second..second + 5), Span { line: 2, column: 24, length: 5 });
        let block = Template { text: "first\n{{ use.a }}\n".to_owned(), at: Span { line: 3, column: 4, length: 1 } };
        assert_eq!(inside(document, &block, 9..14), Span { line: 5, column: 6, length: 5 });
        assert_eq!(inside(document, &block, 900..910), block.at);
    }
}
