//! Texts by class that must not count as reading, and ordinary ones beside them that must.

use nika_guard::bash::analyse;

use crate::judging::{allowed_read_only, site};

/// Fails where a text of a class counts as reading, and where a class has fewer than five.
pub fn none_counts_as_reading<'a>(classes: impl IntoIterator<Item = (&'a str, Vec<String>)>) {
    let site = site();
    let mut wrong = Vec::new();
    for (class, texts) in classes {
        assert!(texts.len() >= 5, "{class}");
        let read = texts.iter().map(|text| (text, analyse(text, &site)));
        let read = read.filter(|(_, analysis)| allowed_read_only(analysis));
        wrong.extend(read.map(|(text, analysis)| format!("{class}: {text:?}\n      {:?}", analysis.facts)));
    }
    assert!(wrong.is_empty(), "{}\n  {}", wrong.len(), wrong.join("\n  "));
}

/// Fails where one of them needs a question in read-only mode.
pub fn all_count_as_reading(texts: &[&str]) {
    let site = site();
    let wrong: Vec<String> = texts
        .iter()
        .map(|text| (text, analyse(text, &site)))
        .filter(|(_, analysis)| !allowed_read_only(analysis))
        .map(|(text, analysis)| format!("{text:?}\n      {analysis:?}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}\n  {}", wrong.len(), texts.len(), wrong.join("\n  "));
}
