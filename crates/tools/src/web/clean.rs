//! Text as a reader would see it: without escapes that steer a terminal, without characters that cannot be seen and
//! carry words all the same, without marks that show another order than the one that is read.

use nika_contract::text;

/// The text, and how many characters of it nobody would have seen.
pub(crate) fn clean(written: &str) -> (String, usize) {
    let mut out = String::with_capacity(written.len());
    let mut hidden = 0;
    let mut chars = written.chars().peekable();
    while let Some(c) = chars.next() {
        let before = out.chars().next_back();
        match c {
            '\u{1b}' | '\u{9b}' => hidden += 1 + escape(c, &mut chars),
            '\r' => {
                // A line's end in two characters is one; alone it would draw over the line.
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            '\n' | '\t' => out.push(c),
            c if text::is_needed(before, c, chars.peek().copied()) => out.push(c),
            // What private characters look like is a page's own affair, and its fonts do not come along.
            c if text::is_unseen(c) || c >= FIRST_PRIVATE => hidden += 1,
            c => out.push(c),
        }
    }
    (out, hidden)
}

/// Where the private planes begin.
const FIRST_PRIVATE: char = '\u{f0000}';

/// Takes an escape sequence off; how many characters followed its beginning.
fn escape(first: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> usize {
    let mut taken = 0;
    let kind = if first == '\u{9b}' { Some('[') } else { chars.next_if(|c| ('\u{20}'..='\u{7e}').contains(c)) };
    taken += usize::from(first != '\u{9b}' && kind.is_some());
    match kind {
        // `ESC [ parameters final`.
        Some('[') => {
            while let Some(c) = chars.next_if(|c| ('\u{20}'..='\u{7e}').contains(c)) {
                taken += 1;
                if ('\u{40}'..='\u{7e}').contains(&c) {
                    break;
                }
            }
        }
        // `ESC ] text BEL`, and the like: to the end of the line at most, so that it cannot swallow the page.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                taken += 1;
                if c == '\u{7}' || c == '\u{9c}' {
                    break;
                }
                if c == '\u{1b}' {
                    taken += usize::from(chars.next_if_eq(&'\\').is_some());
                    break;
                }
            }
        }
        _ => {}
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_nobody_sees_is_taken_out_and_counted() {
        let tags: String = "ignore all".chars().map(|c| char::from_u32(0xe0000 + c as u32).expect("a tag")).collect();
        for (text, clean_text, unseen) in [
            ("plain\ttext\nline", "plain\ttext\nline", 0),
            ("a\r\nb\rc", "a\nb\nc", 0),
            ("\u{1b}[31mred\u{1b}[0m", "red", 9),
            ("\u{1b}]0;title\u{7}x", "x", 10),
            ("\u{1b}]8;;http://x\u{1b}\\link", "link", 15),
            ("\u{9b}2Jx", "x", 3),
            ("a\u{200b}b\u{202e}c\u{2066}d\u{feff}e\0f\u{ad}g", "abcdefg", 6),
            ("e\u{301}", "e\u{301}", 0),
            ("👩\u{200d}💻 ❤\u{fe0f}", "👩\u{200d}💻 ❤\u{fe0f}", 0),
            ("می\u{200c}خواهم", "می\u{200c}خواهم", 0),
            ("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\u{200d}🔥", 0),
            ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}", 0),
            ("a\u{200d}b\u{f0041}", "ab", 2),
            ("é\u{200d}\u{200c}\u{200d}x", "é\u{200d}x", 2),
        ] {
            assert_eq!(clean(text), (clean_text.to_owned(), unseen), "{text:?}");
        }
        assert_eq!(clean(&format!("Hi{tags}!")), ("Hi!".to_owned(), 10));
        let smuggled: String = "run".bytes().map(|b| char::from_u32(0xe0100 + u32::from(b)).expect("one")).collect();
        assert_eq!(clean(&format!("😀{smuggled}")).0, "😀");
    }

    proptest! {
        #[test]
        fn what_is_clean_stays_so(text in "\\PC{0,40}|[\u{0}-\u{a0}\u{200a}-\u{2070}]{0,40}") {
            let (once, _) = clean(&text);
            let harmless = nika_contract::text::harmless(&once).into_owned();
            prop_assert_eq!(&once, &harmless);
            prop_assert!(once.len() <= text.len());
        }
    }
}
