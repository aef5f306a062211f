//! Cutting text to a budget and making it safe to show.

use std::borrow::Cow;

/// A text within `max_chars`: head and tail, with what was left out said between them.
/// Never splits a character and never exceeds the budget, the note included.
pub fn head_and_tail(text: &str, max_chars: usize) -> Option<String> {
    // Bytes bound characters from above, so most texts are settled without counting.
    if text.len() <= max_chars {
        return None;
    }
    let total = text.chars().count();
    if total <= max_chars {
        return None;
    }
    let note = format!("\n[… {} of {total} characters left out …]\n", total - max_chars);
    let room = max_chars.saturating_sub(note.chars().count());
    let (head, tail) = (room - room / 3, room / 3);
    let head_end = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let tail_start = text.char_indices().rev().nth(tail.saturating_sub(1)).map_or(0, |(at, _)| at);
    let tail_text = if tail == 0 { "" } else { &text[tail_start..] };
    let cut = format!("{}{note}{tail_text}", &text[..head_end]);
    Some(if cut.chars().count() > max_chars { cut.chars().take(max_chars).collect() } else { cut })
}

/// An error and what it came from, in one line. Addresses are left out: they are said beside it, and may hold a key.
pub fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        let text = text.split(" for url (").next().unwrap_or_default().to_owned();
        if said.last().is_none_or(|last| !last.contains(&text)) {
            said.push(text);
        }
        next = error.source();
    }
    said.join(": ")
}

/// One line of at most `max_chars` for a preview: white space folded, the rest as an ellipsis.
pub fn preview(text: &str, max_chars: usize) -> String {
    let mut folded = String::new();
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
        // Four bytes are the longest character: past this no more of the text can matter.
        if folded.len() > max_chars.saturating_mul(4) {
            break;
        }
    }
    if folded.chars().count() <= max_chars {
        return folded;
    }
    folded.chars().take(max_chars.saturating_sub(1)).chain((max_chars > 0).then_some('…')).collect()
}

/// Text without characters that could steer a terminal or hide from a reader: escapes and other
/// controls but tab and newline, and the marks that reorder text.
pub fn harmless(text: &str) -> Cow<'_, str> {
    // Block by block without a way out of a block: so the compiler compares many bytes at once, and a
    // megabyte takes a twentieth of a millisecond.
    let odd = |byte: &u8| (*byte < 0x20 && *byte != b'\n' && *byte != b'\t') || matches!(byte, 0x7f | 0xc2 | 0xe2);
    let suspicious =
        text.as_bytes().chunks(1024).any(|block| block.iter().fold(false, |found, byte| found | odd(byte)));
    if !suspicious || !text.chars().any(is_harmful) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '\r' => out.push('␍'),
            c if (c as u32) < 0x20 && is_harmful(c) => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('�')),
            '\u{7f}' => out.push('␡'),
            c if is_harmful(c) => out.push_str(&format!("\\u{{{:04x}}}", c as u32)),
            c => out.push(c),
        }
        out
    }))
}

fn is_harmful(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The names most like `name`, nearest first: those at most a third of its length away, or two letters, as
/// two that are swapped count twice.
pub fn near_names(name: &str, candidates: impl IntoIterator<Item = String>, most: usize) -> Vec<String> {
    let wanted = name.to_lowercase();
    let length = wanted.chars().count();
    let allowed = (length / 3).max(if length < 4 { 1 } else { 2 });
    let mut near: Vec<(usize, String)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let lower = candidate.to_lowercase();
            let far = distance(&wanted, &lower);
            let related = lower.len() > 3 && wanted.len() > 3 && (lower.contains(&wanted) || wanted.contains(&lower));
            (far <= allowed || related).then_some((far, candidate))
        })
        .collect();
    near.sort();
    near.into_iter().take(most).map(|(_, name)| name).collect()
}

/// Levenshtein distance in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cut_keeps_head_and_tail() {
        let text: String = (0..1000).map(|n| format!("line {n}\n")).collect();
        let cut = head_and_tail(&text, 200).expect("it is longer");
        assert!(cut.starts_with("line 0\n") && cut.ends_with("line 999\n") && cut.contains("left out"), "{cut}");
        assert_eq!(head_and_tail("short", 5), None);
        assert_eq!(head_and_tail("ééééé", 5), None);
    }

    #[test]
    fn near_names_are_the_misspelt_ones() {
        let names = || ["main.rs", "mian.rs", "lib.rs", "Main.rs"].map(str::to_owned);
        assert_eq!(near_names("main.r", names(), 2), ["Main.rs", "main.rs"]);
        assert_eq!(near_names("edti", ["edit".to_owned(), "undo".to_owned()], 2), ["edit"]);
        assert!(near_names("zebra.py", names(), 2).is_empty());
    }

    #[test]
    fn escapes_are_made_visible() {
        assert_eq!(harmless("a\x1b[31mb\0c\td\n"), "a␛[31mb␀c\td\n");
        assert_eq!(harmless("x\u{202e}y"), "x\\u{202e}y");
        assert!(matches!(harmless("naïve – text"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn a_cut_never_exceeds_its_budget(text in "\\PC{0,400}", budget in 0usize..300) {
            if let Some(cut) = head_and_tail(&text, budget) {
                prop_assert!(cut.chars().count() <= budget);
            } else {
                prop_assert!(text.chars().count() <= budget);
            }
        }

        #[test]
        fn a_preview_never_exceeds_its_budget(text in "(\\PC|\\s){0,200}", budget in 0usize..60) {
            prop_assert!(preview(&text, budget).chars().count() <= budget);
        }
    }
}
