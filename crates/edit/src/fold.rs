//! A text with everything left out that near misses differ in: blanks, invisible characters,
//! kinds of quotes and dashes, ASCII case. Only for finding candidates, never for matching.

/// Folded bytes, each with the place of its character in the source.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    pub bytes: Vec<u8>,
    places: Vec<u32>,
}

impl Folded {
    /// Sources are below 4 GiB; `near` looks at far less.
    pub fn of(source: &str) -> Folded {
        let mut folded = Folded { bytes: Vec::with_capacity(source.len()), places: Vec::with_capacity(source.len()) };
        let mut utf8 = [0; 4];
        for (at, c) in source.char_indices() {
            let place = u32::try_from(at).unwrap_or(u32::MAX);
            if c.is_ascii() {
                if !c.is_ascii_whitespace() {
                    folded.bytes.push((c as u8).to_ascii_lowercase());
                    folded.places.push(place);
                }
                continue;
            }
            if c.is_whitespace() || is_invisible(c) {
                continue;
            }
            for &byte in plain(c).encode_utf8(&mut utf8).as_bytes() {
                folded.bytes.push(byte);
                folded.places.push(place);
            }
        }
        folded
    }

    /// Source range of a folded range, from its first character to its last.
    pub fn source(&self, source: &str, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let place = |at: usize| self.places.get(at).map(|p| *p as usize);
        let start = place(range.start).unwrap_or(source.len());
        let last = range.end.checked_sub(1).and_then(place).unwrap_or(start);
        let end = source.get(last..).and_then(|rest| rest.chars().next()).map_or(last, |c| last + c.len_utf8());
        start..end.max(start)
    }
}

/// The ASCII look-alike that a keyboard gives.
pub(crate) fn plain(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{00b4}' | '\u{02bc}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{00ab}' | '\u{00bb}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).map_or(c, |ascii| ascii.to_ascii_lowercase()),
        // What stands for a control character where a file is shown.
        '\u{2400}'..='\u{2408}' | '\u{240e}'..='\u{241f}' => char::from_u32(u32::from(c) - 0x2400).unwrap_or(c),
        _ => c,
    }
}

/// Characters that show nothing, or turn what follows.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// A line with its blanks shown: `·` space, `→` tab, `␍` CR, `⍽` no-break space, `\u{…}` for
/// what is otherwise unseen. At most `max_chars` characters of it.
pub(crate) fn visible(line: &str, max_chars: usize) -> String {
    let mut out = String::with_capacity(line.len() + 16);
    for (n, c) in line.chars().enumerate() {
        if n == max_chars {
            out.push('…');
            break;
        }
        match c {
            ' ' => out.push('·'),
            '\t' => out.push('→'),
            '\r' => out.push('␍'),
            '\u{a0}' => out.push('⍽'),
            c if c.is_control() || is_invisible(c) || c.is_whitespace() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}
