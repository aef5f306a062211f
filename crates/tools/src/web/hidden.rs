//! Takes out of a page what a reader would not see before anything else reads it: scripts, comments, and elements that
//! are hidden by an attribute, by their style, or by a simple rule of the page's own style sheets.
//!
//! One pass over the bytes, each looked at a bounded number of times, however the page is built. Where markup is broken
//! it takes out rather more than less. What only a browser can know (a colour like the background's, a style sheet
//! elsewhere) stays.

mod style;

use std::collections::HashSet;

use style::{hides, rules};

/// Elements whose content is no text for readers.
const UNREAD: &[&str] =
    &["script", "style", "noscript", "template", "iframe", "object", "noembed", "noframes", "canvas"];
/// Elements whose content is no markup.
const RAW: &[&str] = &["script", "style", "iframe", "noembed", "noframes", "textarea", "title", "xmp"];
/// Elements that have no content.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];
/// Elements that end where the next of their kind begins.
const LOOSE: &[&str] = &["p", "li", "dt", "dd", "option", "tr", "td", "th"];
/// Selectors that are kept of a page's style sheets.
const MOST_RULES: usize = 2_000;

/// The page without them, and how many bytes went that could have been text.
pub(super) fn visible(page: &str) -> (String, usize) {
    let sheet = sheets(page);
    let mut out = String::with_capacity(page.len());
    let (mut at, mut hidden) = (0, 0);
    while let Some(found) = page[at..].find('<') {
        out.push_str(&page[at..at + found]);
        at += found;
        if page[at..].starts_with("<!--") {
            at = comment_end(page, at);
            continue;
        }
        let Some(tag) = Tag::read(page, at) else {
            out.push('<');
            at += 1;
            continue;
        };
        let end = tag.end;
        if tag.closes {
            if !UNREAD.contains(&tag.name.as_str()) {
                out.push_str(&page[at..end]);
            }
            at = end;
        } else if UNREAD.contains(&tag.name.as_str()) {
            at = if tag.empty { end } else { past(page, end, &tag.name) };
            out.push(' ');
        } else if tag.is_hidden(&sheet) {
            let to = if tag.is_void() { end } else { past(page, end, &tag.name) };
            // Its last tag is no text.
            hidden += to - end;
            at = to;
            out.push(' ');
        } else {
            out.push_str(&page[at..end]);
            at = end;
        }
    }
    out.push_str(&page[at..]);
    (out, hidden)
}

/// The text of `<title>`.
pub(super) fn title(page: &str) -> Option<String> {
    let (mut at, lower) = (0, page.to_ascii_lowercase());
    loop {
        at += lower[at..].find("<title")?;
        match Tag::read(page, at) {
            Some(tag) if tag.name == "title" => {
                let end = lower[tag.end..].find("</title").map_or(page.len(), |found| tag.end + found);
                let text = entities(&page[tag.end..end]);
                return Some(nika_contract::text::preview(&text, 200)).filter(|title| !title.is_empty());
            }
            Some(tag) => at = tag.end,
            None => at += 1,
        }
    }
}

/// Selectors of the page's own style sheets that hide: `.class`, `#id` and names of elements.
fn sheets(page: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut at = 0;
    while let Some(open) = page[at..].find('<') {
        at += open;
        if page[at..].starts_with("<!--") {
            at = comment_end(page, at);
            continue;
        }
        match Tag::read(page, at) {
            Some(tag) if tag.name == "style" && !tag.closes => {
                let to = past(page, tag.end, "style");
                let text = &page[tag.end..to];
                let text = text.rfind("</").map_or(text, |end| &text[..end]);
                for selector in rules(text) {
                    if found.len() < MOST_RULES {
                        found.insert(selector);
                    }
                }
                at = to;
            }
            Some(tag) if RAW.contains(&tag.name.as_str()) && !tag.closes && !tag.empty => {
                at = past(page, tag.end, &tag.name);
            }
            Some(tag) => at = tag.end,
            None => at += 1,
        }
    }
    found
}

/// Behind the comment that begins at `at`. Both ends are looked for at once: one after the other, a page of comments with
/// one of them would be searched to its end for the other again and again.
fn comment_end(page: &str, at: usize) -> usize {
    let bytes = page.as_bytes();
    let mut from = at + 4;
    while let Some(found) = page[from..].find("--") {
        let dashes = from + found;
        match &bytes[dashes + 2..] {
            [b'>', ..] => return dashes + 3,
            [b'!', b'>', ..] => return dashes + 4,
            _ => from = dashes + 1,
        }
    }
    page.len()
}

/// Behind the element `name` whose content begins at `from`.
fn past(page: &str, from: usize, name: &str) -> usize {
    let raw = RAW.contains(&name);
    let (mut at, mut depth) = (from, 1usize);
    while let Some(found) = page[at..].find('<') {
        at += found;
        if raw {
            let close = page[at..].strip_prefix("</").is_some_and(|rest| starts_with_name(rest, name));
            if close {
                return page[at..].find('>').map_or(page.len(), |end| at + end + 1);
            }
            at += 1;
            continue;
        }
        if page[at..].starts_with("<!--") {
            at = comment_end(page, at);
            continue;
        }
        let Some(tag) = Tag::read(page, at) else {
            at += 1;
            continue;
        };
        if tag.name == name {
            if tag.closes {
                depth -= 1;
                if depth == 0 {
                    return tag.end;
                }
            } else if LOOSE.contains(&name) && depth == 1 {
                // The next of its kind, which is judged by itself.
                return at;
            } else if !tag.empty {
                depth += 1;
            }
        } else if !tag.closes && !tag.empty && RAW.contains(&tag.name.as_str()) {
            at = past(page, tag.end, &tag.name);
            continue;
        }
        at = tag.end;
    }
    page.len()
}

fn starts_with_name(rest: &str, name: &str) -> bool {
    rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name))
        && rest[name.len()..].chars().next().is_none_or(|c| !c.is_ascii_alphanumeric())
}

/// A tag of the page.
struct Tag {
    name: String,
    closes: bool,
    /// Written `<name/>`.
    empty: bool,
    /// Behind its `>`.
    end: usize,
    attributes: Vec<(String, String)>,
}

/// Attributes of one tag that are looked at.
const MOST_ATTRIBUTES: usize = 64;

impl Tag {
    /// The tag that begins at `at`, as a browser would read it.
    fn read(page: &str, at: usize) -> Option<Tag> {
        let bytes = page.as_bytes();
        let closes = bytes.get(at + 1) == Some(&b'/');
        let start = at + 1 + usize::from(closes);
        if !bytes.get(start)?.is_ascii_alphabetic() {
            return None;
        }
        let is_end = |byte: u8| byte.is_ascii_whitespace() || byte == b'/' || byte == b'>';
        let mut here = start;
        while here < bytes.len() && !is_end(bytes[here]) {
            here += 1;
        }
        let mut tag = Tag {
            name: page[start..here].to_ascii_lowercase(),
            closes,
            empty: false,
            end: bytes.len(),
            attributes: vec![],
        };
        while here < bytes.len() {
            match bytes[here] {
                b'>' => {
                    tag.end = here + 1;
                    return Some(tag);
                }
                b'/' => {
                    tag.empty = bytes.get(here + 1) == Some(&b'>');
                    here += 1;
                }
                byte if byte.is_ascii_whitespace() => here += 1,
                _ => here = tag.attribute(page, here),
            }
        }
        // It never ends: nothing behind it is shown.
        Some(tag)
    }

    /// Reads the attribute at `at`; where the next may begin.
    fn attribute(&mut self, page: &str, at: usize) -> usize {
        let bytes = page.as_bytes();
        let mut here = at + 1;
        while here < bytes.len() && !bytes[here].is_ascii_whitespace() && !matches!(bytes[here], b'=' | b'>' | b'/') {
            here += 1;
        }
        let name = &page[at..here];
        let mut value = here;
        while value < bytes.len() && bytes[value].is_ascii_whitespace() {
            value += 1;
        }
        let (text, end) = if bytes.get(value) == Some(&b'=') {
            value += 1;
            while value < bytes.len() && bytes[value].is_ascii_whitespace() {
                value += 1;
            }
            match bytes.get(value) {
                Some(quote @ (b'"' | b'\'')) => {
                    let close = page[value + 1..].find(char::from(*quote)).map(|found| value + 1 + found);
                    (&page[value + 1..close.unwrap_or(page.len())], close.map_or(page.len(), |close| close + 1))
                }
                _ => {
                    let rest = &bytes[value..];
                    let length = rest.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>');
                    let end = length.map_or(page.len(), |length| value + length);
                    (&page[value..end], end)
                }
            }
        } else {
            ("", here)
        };
        let wanted = ["hidden", "style", "class", "id", "aria-hidden", "type"];
        let name = name.to_ascii_lowercase();
        // The first of a name counts.
        let known = self.attributes.iter().any(|(known, _)| *known == name);
        if wanted.contains(&name.as_str()) && !known && self.attributes.len() < MOST_ATTRIBUTES {
            self.attributes.push((name, entities(text)));
        }
        end
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn is_void(&self) -> bool {
        VOID.contains(&self.name.as_str())
    }

    fn is_hidden(&self, sheet: &HashSet<String>) -> bool {
        // The whole page is not hidden: scripts show it.
        if matches!(self.name.as_str(), "html" | "body" | "head") {
            return false;
        }
        let by_attribute = self.get("hidden").is_some()
            || self.get("aria-hidden").is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
            || (self.name == "input" && self.get("type").is_some_and(|kind| kind.eq_ignore_ascii_case("hidden")));
        let by_style = self.get("style").is_some_and(hides);
        let by_sheet = || {
            let classes = self.get("class").unwrap_or_default();
            let named = |selector: String| sheet.contains(&selector);
            classes.split_whitespace().any(|class| named(format!(".{class}")))
                || self.get("id").is_some_and(|id| named(format!("#{}", id.trim())))
                || sheet.contains(&self.name)
        };
        by_attribute || by_style || (!sheet.is_empty() && by_sheet())
    }
}

/// Characters that are written as numbers, and the few by name that styles and titles need.
pub(crate) fn entities(text: &str) -> String {
    const NAMED: &[(&str, char)] = &[
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("nbsp", ' '),
        ("colon", ':'),
        ("semi", ';'),
        ("lpar", '('),
        ("rpar", ')'),
        ("Tab", ' '),
        ("NewLine", ' '),
    ];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '#').unwrap_or(rest.len());
        let name = &rest[..length];
        let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        });
        let named = || NAMED.iter().find(|(known, _)| *known == name).map(|(_, c)| *c);
        match number.and_then(char::from_u32).or_else(named) {
            Some(c) => {
                out.push(c);
                rest = rest[length..].strip_prefix(';').unwrap_or(&rest[length..]);
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_reader_would_not_see_is_gone() {
        for page in [
            "<p>seen</p><p hidden>gone</p>",
            "<p>seen<div style='display:none'>gone</div></p>",
            "seen<div style=\"DISPLAY : NONE !important\">gone<div>gone</div>gone</div>",
            "seen<span style=display:none>gone</span>",
            "seen<span style='display&#58;none'>gone</span>",
            "seen<span style='d\\69splay:none'>gone</span>",
            "seen<span style='dis/**/play:none;display:none/*x*/'>gone</span>",
            "seen<span style='visibility:hidden'>gone</span>",
            "seen<span style='font-size:0px'>gone</span>",
            "seen<span style='font-size: 0.1px; color: red'>gone</span>",
            "seen<span style='font:0/0 a'>gone</span>",
            "seen<span style='position:absolute;left:-9999px'>gone</span>",
            "seen<span style='position:fixed;top:-200vh'>gone</span>",
            "seen<span style='text-indent:-5000px'>gone</span>",
            "seen<span style='position:absolute;clip:rect(0,0,0,0)'>gone</span>",
            "seen<span style='height:0;overflow:hidden'>gone</span>",
            "seen<span style='transform:scale(0)'>gone</span>",
            "seen<span style='color:transparent'>gone</span>",
            "seen<b aria-hidden=true>gone</b>",
            "seen<b ARIA-HIDDEN = \"TRUE\">gone</b>",
            "seen<!-- gone -->",
            "seen<!-- gone --!>",
            "seen<!-- gone ---><!-- gone ----!><!--gone--",
            "seen<!-- gone",
            "seen<script>gone('</div>')</script>",
            "seen<SCRIPT>gone</SCRIPT >",
            "seen<noscript><p>gone</noscript>",
            "seen<template><p>gone</p></template>",
            "seen<iframe>gone</iframe>",
            "<style>.x, #y {display:none} z-z{display:none}</style>seen<i class='a x'>gone</i><i id=y>gone</i><z-z>gone</z-z>",
            "<style>@media print{.s{display:none}} .x{color:red;display:none}</style><p class=s>seen</p><p class=x>gone</p>",
            "<ul><li hidden>gone<li>seen</ul>",
            "seen<div hidden>gone<script>'</div>'</script>gone</div>",
            "seen<div hidden><!-- </div> -->gone</div>",
            "seen<input type=hidden value=gone>",
            "seen<div a='>' hidden>gone</div>",
            "seen<div hidden>gone",
            "seen<div hidden hidden=until-found>gone</div>",
        ] {
            let (text, _) = visible(page);
            assert!(text.contains("seen"), "{page}\n{text}");
            assert!(!text.contains("gone"), "{page}\n{text}");
        }
    }

    #[test]
    fn what_a_reader_would_see_stays() {
        for page in [
            "<p style='display:block'>seen</p>",
            "<p aria-hidden=false>seen</p>",
            "<p style='color:transparent;background-clip:text'>seen</p>",
            "<p style='position:absolute;left:10px'>seen</p>",
            "<p style='font-size:10px;margin-left:-9999px'>seen</p>",
            "<p data-hidden=true>seen</p>",
            "<body style='display:none'>seen</body>",
            "<p title='<!--'>seen</p>",
            "1 < 2 seen",
            "<style>.a .b{display:none} .a:hover{display:none}</style><p class='a b'>seen</p>",
            "<style>@media (max-width: 600px){.w{display:none}}</style><p class=w>seen</p>",
            "<br hidden>seen",
            "<p hidden>x</p>seen",
        ] {
            assert!(visible(page).0.contains("seen"), "{page}\n{}", visible(page).0);
        }
        assert_eq!(visible("<p>a</p><p hidden>gone</p>").1, "gone</p>".len());
    }

    #[test]
    fn titles_are_read() {
        assert_eq!(title("<html><TITLE a=b>Serde &amp; co\n</TITLE>").as_deref(), Some("Serde & co"));
        assert_eq!(title("<titles>x</titles>"), None);
        assert_eq!(title("<title>  </title>"), None);
    }

    #[test]
    fn a_page_of_nothing_but_depth_takes_no_time() {
        for open in [
            "<div>",
            "<div hidden>",
            "<p hidden>",
            "<!--",
            "<!---->",
            "<!----!>",
            "<!----!>x",
            "<script>",
            "<a b='",
            "<style>",
            "<title",
        ] {
            let page = open.repeat(100_000);
            let began = std::time::Instant::now();
            let (text, _) = visible(&page);
            assert!(text.len() <= page.len());
            // What is searched again and again takes minutes here.
            assert!(began.elapsed().as_secs() < 20, "{open}: {:?}", began.elapsed());
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(page in "([<>/='\"!a-c &#;x-]|<div|hidden|style|script|<!--|-->|</|é){0,60}") {
            let (text, hidden) = visible(&page);
            prop_assert!(text.len() <= page.len() + 8 && hidden <= page.len());
            let _ = title(&page);
        }
    }
}
