//! Does a legacy text read as western European, place by place? Knows what its letters and symbols stand beside, and
//! nothing of other pages.
//!
//! A detector that weighs letter pairs needs many of them: one `µ` in a source was Big5 to it, one `£` windows-1250.
//! But where other pages are meant, windows-1252 shows at once that it is wrong: letters in rows (Cyrillic, Greek,
//! two-byte pages), symbols within words (`ród³o`), capitals behind small letters. So what has none of that and not
//! many different places is western; all else is the detector's.

use encoding_rs::WINDOWS_1252;

/// What the high bytes of a text are, read as windows-1252.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Western {
    /// Each stands where western texts have it, but for one in twenty.
    pub plausible: bool,
    /// Letters that differ in themselves or in their neighbours, up to [`COUNTED`].
    pub letters: usize,
}

/// More different letters are enough for a detector in any case.
const COUNTED: usize = 64;

/// Where a symbol can stand beside letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Not behind one: it opens, or comes before a number.
    Before,
    /// Not in front of one: it closes, or comes behind a unit.
    Behind,
    Anywhere,
    /// Not between two.
    Apart,
}

const SYMBOLS: &[(&str, Place)] = &[
    ("«“„‚‘¿¡£¥µ±¶§¼½¾", Place::Before),
    ("»”²³¹®™ºª", Place::Behind),
    ("°’´·–—…•¨¬\u{a0}\u{ad}", Place::Anywhere),
    ("€©¢¤¦×÷†‡‰‹›¯¸", Place::Apart),
];

/// Rare in western texts, and what Slavic, Baltic and Turkish ones are read as: the detector must say.
const ELSEWHERE: &str = "ŠšŽžÐðÞþÝýŸƒˆ˜";

pub(crate) fn western(sample: &[u8]) -> Western {
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(sample);
    let chars: Vec<char> = text.chars().collect();
    let mut seen = Vec::new();
    let (mut places, mut odd) = (0usize, 0usize);
    for (at, &c) in chars.iter().enumerate() {
        if c.is_ascii() {
            continue;
        }
        let beside = |back: usize| at.checked_add(1).and_then(|next| next.checked_sub(back)).and_then(|n| chars.get(n));
        let (before, behind) = (beside(2).copied().unwrap_or('\n'), beside(0).copied().unwrap_or('\n'));
        places += 1;
        odd +=
            usize::from(!if is_letter(c) { letter_fits(&chars, at, before) } else { symbol_fits(c, before, behind) });
        if is_letter(c) && seen.len() < COUNTED && !seen.contains(&(before, c, behind)) {
            seen.push((before, c, behind));
        }
    }
    Western { plausible: odd * 20 <= places, letters: seen.len() }
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !matches!(c, 'ª' | 'º' | 'µ' | 'ˆ' | '˜')
}

/// A letter in a row of them is one of a western word only with plain letters around: `créée`, but not `äà`.
fn letter_fits(chars: &[char], at: usize, before: char) -> bool {
    let Some(&c) = chars.get(at) else { return false };
    let high = |c: &&char| !c.is_ascii() && is_letter(**c);
    let back = chars.get(..at).unwrap_or_default().iter().rev().take_while(high).count();
    let on = chars.get(at..).unwrap_or_default().iter().take_while(high).count();
    let plain = |n: Option<usize>| n.and_then(|n| chars.get(n)).is_some_and(char::is_ascii_alphabetic);
    let in_word = plain((at - back).checked_sub(1)) || plain(Some(at + on));
    let shouts = c.is_uppercase() && before.is_lowercase();
    !ELSEWHERE.contains(c) && !shouts && (back + on == 1 || back + on == 2 && in_word)
}

fn symbol_fits(c: char, before: char, behind: char) -> bool {
    let (after, front) = (is_letter(before), is_letter(behind));
    match SYMBOLS.iter().find(|row| row.0.contains(c)).map(|row| row.1) {
        Some(Place::Before) => !after,
        Some(Place::Behind) => !front,
        Some(Place::Anywhere) => true,
        Some(Place::Apart) => !(after && front),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn western_places_are_told_from_others() {
        let of = |text: &str| western(&WINDOWS_1252.encode(text).0);
        for (text, plausible, letters) in [
            ("5 µm, ±2 °C, £100, «q»", true, 0),
            ("naïve, naïve, créée", true, 3),
            ("AÇÃO ação", true, 4),
            // Polish, Russian, Chinese and Turkish, read so.
            ("¼ród³o b³êdów", false, 3),
            ("Ïðèâåò", false, 6),
            ("ÖÐÎÄ", false, 4),
            ("äà", false, 2),
            ("güneþ", false, 2),
        ] {
            assert_eq!(of(text), Western { plausible, letters }, "{text}");
        }
    }
}
