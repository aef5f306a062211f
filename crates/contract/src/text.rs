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

/// A name as a line of its own holds it: [`harmless`], and a line break in it begins no other line.
pub fn name_in_line(name: &str) -> Cow<'_, str> {
    match harmless(name) {
        safe if safe.contains('\n') => Cow::Owned(safe.replace('\n', "␊")),
        safe => safe,
    }
}

/// Only printable ASCII, tabs and newlines: one character a byte, nothing to make harmless.
pub fn is_printable_ascii(bytes: &[u8]) -> bool {
    // No early end: without branches the compiler takes 16 or 32 bytes at a time.
    bytes
        .iter()
        .fold(true, |plain, &byte| plain & ((byte.wrapping_sub(0x20) < 0x5f) | (byte == b'\t') | (byte == b'\n')))
}

/// Text without characters that could steer a terminal or hide from a reader: escapes and other controls but tab and
/// newline, marks that reorder text, and what cannot be seen and carries words all the same. Each is shown, by its
/// picture or its number; what writing needs of them ([`is_needed`]) stays.
pub fn harmless(text: &str) -> Cow<'_, str> {
    // Block by block: most of them are told by three comparisons a byte. Beyond ASCII these are the first bytes of what is
    // unseen.
    let odd = |byte: &u8| {
        (*byte < 0x20 && *byte != b'\n' && *byte != b'\t')
            || matches!(byte, 0x7f | 0xc2 | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef..=0xf4)
    };
    let holds_odd = |block: &[u8]| block.iter().fold(false, |found, byte| found | odd(byte));
    let suspicious = text.as_bytes().chunks(1024).any(|block| !is_printable_ascii(block) && holds_odd(block));
    if !suspicious {
        return Cow::Borrowed(text);
    }
    let (mut out, mut taken, mut at) = (String::new(), 0, 0);
    // What is odd begins a character, so that the rest need not be looked at by characters.
    while let Some(step) = text.as_bytes()[at..].iter().position(odd) {
        let here = at + step;
        let Some(c) = text[here..].chars().next() else { break };
        at = here + c.len_utf8();
        let before = if taken == here { out.chars().next_back() } else { text[..here].chars().next_back() };
        if !is_unseen(c) || is_needed(before, c, text[at..].chars().next()) {
            continue;
        }
        out.push_str(&text[taken..here]);
        match c {
            '\r' => out.push('␍'),
            c if (c as u32) < 0x20 => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('�')),
            '\u{7f}' => out.push('␡'),
            c => out.push_str(&format!("\\u{{{:04x}}}", c as u32)),
        }
        taken = at;
    }
    if taken == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[taken..]);
    Cow::Owned(out)
}

/// Whether a character has no form of its own, or changes the order of what stands around it. Private characters are
/// not meant: editors show icons by them, and where a font has none, a box.
pub fn is_unseen(c: char) -> bool {
    // Most of what is asked about.
    if matches!(c, ' '..='~' | '\u{3165}'..='\u{fdff}') {
        return false;
    }
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        // Soft hyphen, joiners, Arabic letter mark, Hangul and Mongolian fillers.
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        // Zero width, marks and overrides of direction, invisible operators.
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        // Musical beams, tags, the second half of variation selectors.
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether the unseen `c` stands where writing needs it. Without these, text would be wrong or a picture fall apart:
///
/// | what | where |
/// |---|---|
/// | the joiner and its opposite | after what is not ASCII: Persian, the scripts of India, emoji of several parts |
/// | the choice of a sign's form | after such a sign; in a keycap, after the digit |
///
/// One at a time: a row of them, or one among plain letters, is no writing but a message. Tags are never needed, though
/// three flags of regions are spelt with them: what spells a flag spells anything.
pub fn is_needed(before: Option<char>, c: char, after: Option<char>) -> bool {
    const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];
    const FORMS: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];
    const KEYCAP: char = '\u{20e3}';
    let Some(before) = before else { return false };
    let beyond = !before.is_ascii() && !JOINERS.contains(&before);
    match c {
        c if JOINERS.contains(&c) => beyond,
        c if FORMS.contains(&c) => {
            let cap = after == Some(KEYCAP) && matches!(before, '0'..='9' | '#' | '*');
            (beyond && !FORMS.contains(&before)) || cap
        }
        _ => false,
    }
}

/// Bytes of a name that others are compared with.
const LONGEST_NAME: usize = 256;

/// The names most like `name`, nearest first: those at most a third of its length away, or two letters, as
/// two that are swapped count twice.
pub fn near_names(name: &str, candidates: impl IntoIterator<Item = String>, most: usize) -> Vec<String> {
    // No name of ours is as long, and comparing takes as many steps as both have letters.
    if name.len() > LONGEST_NAME {
        return Vec::new();
    }
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

/// A hint that names what there is; none where that is nothing.
pub fn there_are(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| format!("there are {}", names.join(", ")))
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
        assert!(near_names(&"main".repeat(1_000_000), names(), 2).is_empty());
    }

    #[test]
    fn escapes_are_made_visible() {
        assert_eq!(harmless("a\x1b[31mb\0c\td\n"), "a␛[31mb␀c\td\n");
        assert_eq!(harmless("x\u{202e}y"), "x\\u{202e}y");
        assert!(matches!(harmless("naïve – text"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        for (hidden, shown) in [
            ("a\u{200b}b\u{2060}\u{2064}", "a\\u{200b}b\\u{2060}\\u{2064}"),
            ("\u{feff}x\u{200e}y\u{200f}z\u{61c}", "\\u{feff}x\\u{200e}y\\u{200f}z\\u{061c}"),
            ("so\u{ad}ft\u{34f}\u{115f}\u{180e}\u{3164}", "so\\u{00ad}ft\\u{034f}\\u{115f}\\u{180e}\\u{3164}"),
            ("\u{fe00}\u{ffa0}\u{fff9}\u{1d173}", "\\u{fe00}\\u{ffa0}\\u{fff9}\\u{1d173}"),
            // Words in tags and in variation selectors, behind a sign that is seen.
            ("Hi\u{e0068}\u{e0069}\u{e007f}", "Hi\\u{e0068}\\u{e0069}\\u{e007f}"),
            ("😀\u{e0152}\u{e0155}", "😀\\u{e0152}\\u{e0155}"),
            ("🏴\u{e0067}", "🏴\\u{e0067}"),
            // Bits in what writing may need, where it does not need it.
            ("a\u{200d}b\u{200c}", "a\\u{200d}b\\u{200c}"),
            ("é\u{200d}\u{200c}\u{200d}x", "é\u{200d}\\u{200c}\\u{200d}x"),
            ("❤\u{fe0f}\u{fe0f}\u{fe0e}", "❤\u{fe0f}\\u{fe0f}\\u{fe0e}"),
            ("1\u{fe0f} x\u{fe0f}\u{20e3}", "1\\u{fe0f} x\\u{fe0f}\u{20e3}"),
            ("\u{200d}", "\\u{200d}"),
        ] {
            assert_eq!(harmless(hidden), shown, "{hidden:?}");
        }
        for whole in [
            "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "1\u{fe0f}\u{20e3} ↩\u{fe0e}",
            "\u{f0001}\u{e0b0}",
        ] {
            assert!(matches!(harmless(whole), Cow::Borrowed(_)), "{whole:?}: {}", harmless(whole));
        }
    }

    #[test]
    fn every_unseen_character_is_noticed() {
        for c in ('\0'..=char::MAX).filter(|c| is_unseen(*c) && !matches!(c, '\n' | '\t')) {
            assert!(matches!(harmless(&c.to_string()), Cow::Owned(_)), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_harmless_stays_so(text in "\\PC{0,40}|[\u{0}-\u{a0}\u{200a}-\u{2070}\u{fe0e}\u{fe0f}1é]{0,40}") {
            let once = harmless(&text).into_owned();
            prop_assert_eq!(harmless(&once), once.as_str());
        }

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
