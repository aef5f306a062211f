//! One fuzz input through everything that reads strangers' bytes, with what must always hold.
//! A plain function, so that tests, a seeded example and campaigns in xtask can drive it.

use std::borrow::Cow;

use crate::notebook::{self, CellEdit, CellKind, Op};
use crate::{EditError, Encoding, Limits, Plan, Replace, decode, merge3, plan, rebase, unified};

/// Runs one input. Panics when something that must hold does not.
pub fn fuzz_one(data: &[u8]) {
    let mut input = Input { data };
    match input.byte() % 4 {
        0 => raw(&mut input),
        1 | 2 => built(&mut input),
        _ => json(&mut input),
    }
}

/// Reads a fuzz input front to back; zeros when it is used up.
struct Input<'a> {
    data: &'a [u8],
}

impl<'a> Input<'a> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.data.split_first() else { return 0 };
        self.data = rest;
        *first
    }

    fn below(&mut self, n: usize) -> usize {
        let wide = usize::from(self.byte()) << 8 | usize::from(self.byte());
        if n == 0 { 0 } else { wide % n }
    }

    fn take(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.data.split_at(n.min(self.data.len()));
        self.data = rest;
        taken
    }
}

/// Any bytes as file, old and new text.
fn raw(input: &mut Input<'_>) {
    let (old_len, new_len, all) = (input.below(40), input.below(40), input.byte().is_multiple_of(2));
    let old = String::from_utf8_lossy(input.take(old_len)).into_owned();
    let new = String::from_utf8_lossy(input.take(new_len)).into_owned();
    let bytes = input.data;
    if let Ok(text) = decode(bytes) {
        assert!(text.bom <= bytes.len());
        let shown: usize = crate::lines(&text.body, 7).map(|line| line.text.chars().count().min(7) + line.cut).sum();
        assert!(shown <= text.body.chars().count() + 7);
        let _ = crate::whole_lines(bytes, text.encoding, false);
    }
    let _ = notebook::read(bytes);
    if let Ok(plan) = plan(bytes, &Replace { old: &old, new: &new, all }) {
        holds(bytes, &plan);
    }
    // A piece of the file as old text must be found, or the refusal must say why.
    let from = input.below(bytes.len().max(1));
    let to = (from + 1 + input.below(30)).min(bytes.len());
    let piece = String::from_utf8_lossy(bytes.get(from..to).unwrap_or_default());
    if let Ok(plan) = plan(bytes, &Replace { old: &piece, new: &new, all: true }) {
        holds(bytes, &plan);
    }
    let half = bytes.len() / 2;
    let (a, b) = bytes.split_at(half);
    let _ = unified(Some(a), Some(b), "f", &Limits::default());
    if let Ok(merged) = merge3(a, b, bytes) {
        assert!(merged.bytes.len() <= 2 * bytes.len() + 8);
    }
}

const TOKENS: &[&str] = &[
    "a", "b", "foo", "bar ", "  ", "\t", "\n", "\n", "\r\n", "\r\n", "\r", " \n", "\t\r\n", "é", "表", "ソ", "漢字",
    "—", "“x”", "😀", "\u{a0}", "x = 1;", "}", "{\n", "\u{fffd}", "ю", "中", "の\n",
];

const ENCODINGS: &[(Encoding, &[u8])] = &[
    (Encoding::Utf8, b""),
    (Encoding::Utf8, b"\xef\xbb\xbf"),
    (Encoding::Utf16Le, b"\xff\xfe"),
    (Encoding::Utf16Be, b"\xfe\xff"),
    (Encoding::Utf32Le, b"\xff\xfe\0\0"),
    (Encoding::Utf32Be, b"\0\0\xfe\xff"),
    (Encoding::Utf16Le, b""),
    (Encoding::Legacy(encoding_rs::SHIFT_JIS), b""),
    (Encoding::Legacy(encoding_rs::EUC_JP), b""),
    (Encoding::Legacy(encoding_rs::GB18030), b""),
    (Encoding::Legacy(encoding_rs::BIG5), b""),
    (Encoding::Legacy(encoding_rs::EUC_KR), b""),
    (Encoding::Legacy(encoding_rs::WINDOWS_1252), b""),
    (Encoding::Legacy(encoding_rs::KOI8_R), b""),
    (Encoding::Legacy(encoding_rs::ISO_2022_JP), b""),
];

fn tokens(input: &mut Input<'_>, most: usize) -> String {
    let count = input.below(most);
    (0..count).map(|_| TOKENS[usize::from(input.byte()) % TOKENS.len()]).collect()
}

/// Text in a known encoding, a piece of it as old text, and changes by others.
fn built(input: &mut Input<'_>) {
    let (encoding, mark) = ENCODINGS[usize::from(input.byte()) % ENCODINGS.len()];
    let only = |text: String| -> String {
        let mut utf8 = [0; 4];
        text.chars().filter(|c| encoding.encode(c.encode_utf8(&mut utf8)).is_ok()).collect()
    };
    let text = only(tokens(input, 60));
    let Ok(body) = encoding.encode(&text) else { return };
    let mut bytes = mark.to_vec();
    bytes.extend_from_slice(&body);
    if input.byte().is_multiple_of(8) && !bytes.is_empty() {
        // Break a byte.
        let at = input.below(bytes.len());
        bytes[at] = input.byte();
    }
    let shown = decode(&bytes).map(|text| text.body.into_owned()).unwrap_or(text);
    let chars: Vec<char> = shown.chars().collect();
    let from = input.below(chars.len() + 1);
    let to = (from + 1 + input.below(20)).min(chars.len());
    let mut old: String = chars.get(from..to).unwrap_or_default().iter().collect();
    match input.byte() % 4 {
        0 => old = old.replace("\r\n", "\n"),
        1 => old = old.replace('\n', " \n"),
        _ => {}
    }
    let new = match input.byte() % 4 {
        0 => String::new(),
        1 => format!("{old}{}", tokens(input, 6)),
        2 => format!("{}{old}", tokens(input, 6)),
        _ => tokens(input, 10),
    };
    let all = input.byte().is_multiple_of(2);
    let made = match plan(&bytes, &Replace { old: &old, new: &new, all }) {
        Ok(made) => made,
        Err(error) => {
            let said = error.to_string();
            assert!(!said.is_empty());
            if let EditError::NoMatch(miss) = &error
                && let Some(near) = &miss.nearest
                && let Some(text) = &near.text
            {
                // What is handed back can be sent.
                let again = plan(&bytes, &Replace { old: text, new: "", all: true });
                assert!(!matches!(again, Err(EditError::NoMatch(_) | EditError::EmptyOld)), "{text:?}");
            }
            return;
        }
    };
    holds(&bytes, &made);
    means(&bytes, &made, &old, &new);
    others(input, &bytes, &made, &only);
}

/// But for line endings, the new text is the old text with one replaced by the other.
fn means(bytes: &[u8], made: &Plan, old: &str, new: &str) {
    let lone_cr = |text: &str| text.replace("\r\n", "").contains('\r');
    let flat = |text: &str| text.replace("\r\n", "\n");
    let body = |bytes: &[u8]| made.encoding.decode(bytes.get(made.shape.bom..).unwrap_or_default()).into_owned();
    let (before, after) = (body(bytes), body(&made.apply(bytes)));
    let odd = [&before, old, new].iter().any(|text| lone_cr(text) || text.contains(['\u{fffd}', '\u{feff}']));
    if made.level == crate::Level::Exact && !odd && !old.contains('\r') {
        assert_eq!(flat(&after), flat(&before).replace(old, &flat(new)));
    }
}

/// Somebody else changes the file, too.
fn others(input: &mut Input<'_>, base: &[u8], made: &Plan, only: &dyn Fn(String) -> String) {
    let extra = only(tokens(input, 5));
    let Ok(extra) = made.encoding.encode(&extra) else { return };
    let unit = made.encoding.unit();
    let at = made.shape.bom + input.below((base.len() - made.shape.bom) / unit + 1) * unit;
    let cut = (at + input.below(6) * unit).min(base.len());
    let theirs: Vec<u8> = [base.get(..at).unwrap_or_default(), &extra, base.get(cut..).unwrap_or_default()].concat();
    let ours = made.apply(base);
    if let Ok(moved) = rebase(base, &theirs, made) {
        holds(&theirs, &moved.plan);
        for (then, now) in made.spans.iter().zip(&moved.plan.spans) {
            assert_eq!(base.get(then.old.clone()), theirs.get(now.old.clone()));
        }
        // Somebody else's work is whole: taking the edit back leaves it.
        let both = moved.plan.apply(&theirs);
        assert_eq!(moved.plan.inverse(&theirs).apply(&both), theirs);
    }
    if let Ok(merged) = merge3(base, &ours, &theirs) {
        let swapped = merge3(base, &theirs, &ours).map(|merged| merged.bytes);
        assert_eq!(swapped.as_ref(), Ok(&merged.bytes));
    }
    let _ = unified(Some(base), Some(&theirs), "f", &Limits { max_lines: 5, ..Limits::default() });
}

/// What holds for every plan.
pub(crate) fn holds(bytes: &[u8], plan: &Plan) {
    assert!(plan.fits(bytes));
    let after = plan.apply(bytes);
    assert_eq!(after.len(), plan.new_len());
    assert_ne!(after, bytes, "a plan changes something");
    // Outside the spans nothing changes.
    let (mut old_at, mut new_at) = (0, 0);
    for span in &plan.spans {
        assert!(old_at <= span.old.start && span.old.start <= span.old.end);
        assert_eq!(bytes.get(old_at..span.old.start), after.get(new_at..span.new.start));
        assert_eq!(after.get(span.new.clone()), Some(span.with.as_slice()));
        assert!(span.matched.start <= span.old.start && span.old.end <= span.matched.end);
        (old_at, new_at) = (span.old.end, span.new.end);
    }
    assert_eq!(bytes.get(old_at..), after.get(new_at..));
    assert!(bytes.get(..plan.shape.bom) == after.get(..plan.shape.bom));
    assert_eq!(plan.inverse(bytes).apply(&after), bytes);
    let diff = plan.diff(bytes, "f");
    assert!(diff.starts_with("--- a/f\n+++ b/f\n@@ "), "{diff}");
}

/// A notebook with broken places, and changes to it.
fn json(input: &mut Input<'_>) {
    const NOTEBOOK: &str = include_str!("notebook/sample.ipynb");
    let mut text: Cow<'_, str> = Cow::Borrowed(NOTEBOOK);
    for _ in 0..input.below(4) {
        let at = text.floor_char_boundary(input.below(text.len()));
        let to = text.floor_char_boundary((at + input.below(30)).min(text.len())).max(at);
        let bit = ["", "{", "}", "[", "]", ",", "\"", "\\", "\\ud83d", "1e5", "null", "é", "\n", "{\"id\": \"a\"}"]
            [input.below(14)];
        text.to_mut().replace_range(at..to, bit);
    }
    let source = tokens(input, 12);
    let (id, index) = match input.byte() % 3 {
        0 => (Some("intro"), None),
        1 => (None, Some(input.below(6))),
        _ => (None, None),
    };
    let kind = [None, Some(CellKind::Code), Some(CellKind::Markdown)][input.below(3)];
    let edit = CellEdit {
        op: [Op::Replace, Op::Insert, Op::Delete][input.below(3)],
        id,
        index,
        kind,
        source: (!input.byte().is_multiple_of(4)).then_some(source.as_str()),
        new_id: "new",
    };
    let before = notebook::read(text.as_bytes());
    let Ok(change) = notebook::plan(text.as_bytes(), &edit) else { return };
    let before = before.expect("what can be changed can be read");
    holds(text.as_bytes(), &change.plan);
    let after = notebook::read(&change.plan.apply(text.as_bytes())).expect("a changed notebook is a notebook");
    assert_eq!(after.cells.len(), change.cells);
    match edit.op {
        Op::Delete => assert_eq!(after.cells.len() + 1, before.cells.len()),
        Op::Insert => assert_eq!(after.cells[change.index].source, source),
        Op::Replace => {
            if edit.source.is_some() {
                assert_eq!(after.cells[change.index].source, source);
            }
        }
    }
}
