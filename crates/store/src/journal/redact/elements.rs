//! Secrets in XML: `<password>VALUE</password>`, `<property name="password">VALUE</property>`, `<add key="password"
//! value="VALUE"/>`.

use std::ops::Range;

use super::keys::{self, Strength};
use super::secrets::{Secret, is_placeholder, is_random, is_word, run, value_at};

/// Elements whose `name` or `key` says what they hold.
const HOLDERS: &[&[u8]] = &[b"entry", b"param", b"property", b"string"];
/// Longest name, attributes and value that are looked at.
const MAX_NAME_BYTES: usize = 64;
const MAX_ATTRIBUTES_BYTES: usize = 256;
const MAX_VALUE_BYTES: usize = 4096;

/// The content of the element that begins at `at`, a `<`.
pub(super) fn content(bytes: &[u8], at: usize) -> Option<Secret> {
    let from = at + 1;
    let name = &bytes[from..][..run(&bytes[from..], |b| is_word(b) || b"-.:".contains(&b)).min(MAX_NAME_BYTES)];
    let behind = from + name.len();
    // Generics and comparisons end here.
    if !name.first()?.is_ascii_alphabetic() || !matches!(bytes.get(behind)?, b'>' | b' ') {
        return None;
    }
    let within = &bytes[behind..bytes.len().min(behind + MAX_ATTRIBUTES_BYTES)];
    let attributes = &within[..run(within, |b| b != b'>' && b != b'<')];
    let open = behind + attributes.len();
    if bytes.get(open) != Some(&b'>') || attributes.ends_with(b"/") {
        return None;
    }
    let said = if HOLDERS.contains(&name) { named(attributes)? } else { name };
    let text = text(bytes, open + 1, name)?;
    is_secret(said, &bytes[text.clone()]).then_some(Secret { range: text, kind: "key" })
}

/// The value of the attribute `value` whose sign is at `at`, behind one that gives its name.
pub(super) fn attribute(bytes: &[u8], at: usize) -> Option<Secret> {
    let before = bytes[..at].strip_suffix(b"value")?.strip_suffix(b" ")?;
    let said = named(&before[before.len().saturating_sub(MAX_ATTRIBUTES_BYTES)..])?;
    let value = value_at(bytes, at + 1).filter(|value| value.start == at + 2)?;
    is_secret(said, &bytes[value.clone()]).then_some(Secret { range: value, kind: "key" })
}

/// What `name="…"` or `key="…"` says, the last of these attributes.
fn named(attributes: &[u8]) -> Option<&[u8]> {
    let attributes = attributes.trim_ascii_end();
    let quote = *attributes.last().filter(|b| matches!(b, b'"' | b'\''))?;
    let value = &attributes[..attributes.len() - 1];
    let open = value.iter().rposition(|&b| b == quote)?;
    let is_name = [&b" name="[..], b" key="].iter().any(|name| value[..open].ends_with(name));
    is_name.then_some(&value[open + 1..])
}

/// The text up to the end of the element `name`, whose beginning ends before `from`.
fn text(bytes: &[u8], from: usize, name: &[u8]) -> Option<Range<usize>> {
    let within = &bytes[from..bytes.len().min(from + MAX_VALUE_BYTES)];
    let (skipped, ends): (usize, &[u8]) =
        if within.starts_with(b"<![CDATA[") { (b"<![CDATA[".len(), b"]]></") } else { (0, b"</") };
    let within = &within[skipped..];
    let len = run(within, |b| b != ends[0]);
    let end = within[len..].strip_prefix(ends)?.strip_prefix(name)?;
    let blank = within[..len].len() - within[..len].trim_ascii_start().len();
    let from = from + skipped + blank;
    end.starts_with(b">").then(|| from..from + within[..len].trim_ascii().len())
}

/// A text for people has blanks: `<password>Your password</password>` is a label.
fn is_secret(name: &[u8], text: &[u8]) -> bool {
    let (Ok(name), Ok(shown)) = (std::str::from_utf8(name), std::str::from_utf8(text)) else { return false };
    let sure = match keys::strength(name) {
        Some(Strength::Strong) => true,
        Some(Strength::Weak) => name.ends_with("pwd") || is_random(shown),
        None => false,
    };
    sure && text.len() >= 4
        && !text.iter().any(u8::is_ascii_whitespace)
        && !is_placeholder(text)
        && !super::secrets::is_kind(text)
        && !keys::is_no_secret(name, text)
}
