//! Texts by class: a line with `#` names the class of the lines below it. None of them is run.

use nika_guard::bash::{Analysis, analyse};

use crate::judging::site;

/// Classes and their texts.
pub fn classes(text: &'static str) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut classes: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("# "), classes.last_mut()) {
            (Some(class), _) => classes.push((class, Vec::new())),
            (None, Some((_, texts))) => texts.push(line),
            (None, None) => panic!("`{line}` stands in no class"),
        }
    }
    classes
}

/// Fails where a text is judged otherwise than `right` says, and where a class has fewer than five.
pub fn each(text: &'static str, right: impl Fn(&Analysis) -> bool) {
    let site = site();
    let mut wrong = Vec::new();
    for (class, texts) in classes(text) {
        assert!(texts.len() >= 5, "{class}");
        let judged = texts.iter().map(|text| (text, analyse(text, &site)));
        let failed = judged.filter(|(_, analysis)| !right(analysis));
        wrong.extend(failed.map(|(text, analysis)| format!("{class}: {text:?}\n      {:?}", analysis.facts)));
    }
    assert!(wrong.is_empty(), "{}\n  {}", wrong.len(), wrong.join("\n  "));
}
