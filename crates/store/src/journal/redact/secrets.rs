//! Where in a text a secret stands: by its form ([`SHAPES`]), or by what stands before it.
//!
//! One pass over the bytes, no regular expressions: this runs on every argument of every call.

use std::ops::Range;

use super::keys::{self, Strength};

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Secret {
    pub(super) range: Range<usize>,
    pub(super) kind: &'static str,
}

/// A secret that is known by how it begins.
struct Shape {
    prefix: &'static str,
    kind: &'static str,
    /// What may follow.
    rest: fn(u8) -> bool,
    /// At least so many bytes follow.
    min: usize,
    /// And the whole must look like this.
    also: fn(&[u8]) -> bool,
}

const fn shape(prefix: &'static str, kind: &'static str, rest: fn(u8) -> bool, min: usize) -> Shape {
    Shape { prefix, kind, rest, min, also: |_| true }
}

/// By their prefixes' first bytes.
const SHAPES: &[Shape] = &[
    Shape { also: |all| all.len() == 20, ..shape("ABIA", "aws_key", is_upper, 16) },
    Shape { also: |all| all.len() == 20, ..shape("ACCA", "aws_key", is_upper, 16) },
    shape("AGE-SECRET-KEY-1", "age_key", is_upper, 40),
    Shape { also: |all| all.len() == 20, ..shape("AKIA", "aws_key", is_upper, 16) },
    Shape { also: |all| all.len() == 20, ..shape("ASIA", "aws_key", is_upper, 16) },
    shape("AIza", "google_key", is_url64, 35),
    shape("GOCSPX-", "google_secret", is_url64, 20),
    shape("SG.", "sendgrid_key", is_dotted, 40),
    shape("dapi", "databricks_token", is_hex, 32),
    shape("dop_v1_", "digitalocean_token", is_hex, 40),
    Shape { also: is_jwt, ..shape("eyJ", "jwt", is_dotted, 20) },
    shape("gho_", "github_token", is_alnum, 20),
    shape("ghp_", "github_token", is_alnum, 20),
    shape("ghr_", "github_token", is_alnum, 20),
    shape("ghs_", "github_token", is_alnum, 20),
    shape("ghu_", "github_token", is_alnum, 20),
    shape("github_pat_", "github_token", is_word, 20),
    shape("glpat-", "gitlab_token", is_dotted, 20),
    shape("glrt-", "gitlab_token", is_dotted, 20),
    shape("hf_", "huggingface_token", is_alnum, 30),
    shape("hvs.", "vault_token", is_url64, 20),
    shape("lin_api_", "linear_key", is_alnum, 20),
    shape("npm_", "npm_token", is_alnum, 30),
    shape("pypi-", "pypi_token", is_url64, 50),
    shape("rk_live_", "stripe_key", is_alnum, 16),
    shape("rk_test_", "stripe_key", is_alnum, 16),
    shape("shpat_", "shopify_token", is_hex, 32),
    Shape { also: has_solid_run, ..shape("sk-", "api_key", is_url64, 20) },
    shape("sk_live_", "stripe_key", is_alnum, 16),
    shape("sk_test_", "stripe_key", is_alnum, 16),
    shape("whsec_", "stripe_key", is_base64, 16),
    shape("xapp-", "slack_token", is_url64, 20),
    shape("xoxa-", "slack_token", is_url64, 10),
    shape("xoxb-", "slack_token", is_url64, 10),
    shape("xoxe", "slack_token", is_dotted, 20),
    shape("xoxp-", "slack_token", is_url64, 10),
    shape("xoxr-", "slack_token", is_url64, 10),
    shape("xoxs-", "slack_token", is_url64, 10),
    shape("ya29.", "google_token", is_url64, 20),
];

/// For each first byte, the rows of [`SHAPES`] that begin with it.
const ROWS: [(u8, u8); 256] = {
    let mut rows = [(0, 0); 256];
    let mut at = 0;
    while at < SHAPES.len() {
        let first = SHAPES[at].prefix.as_bytes()[0] as usize;
        if rows[first].1 == 0 {
            rows[first].0 = at as u8;
        }
        rows[first].1 = at as u8 + 1;
        at += 1;
    }
    rows
};

/// Every secret in `text`, in order, none overlapping.
pub(super) fn find(text: &str) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let secret = match bytes[at] {
            b'-' => pem(bytes, at).or_else(|| flag(bytes, at)),
            b'=' => assigned(bytes, at),
            b':' => url_password(bytes, at).or_else(|| assigned(bytes, at)),
            first if first.is_ascii_alphabetic() && !at.checked_sub(1).is_some_and(|b| is_alnum(bytes[b])) => {
                shaped(bytes, at).or_else(|| bearer(bytes, at))
            }
            _ => None,
        };
        match secret {
            Some(secret) if !secret.range.is_empty() => {
                // Ends come from ASCII boundaries, or from the text's own end.
                at = secret.range.end;
                found.push(secret);
            }
            _ => at += 1,
        }
    }
    found
}

/// Whether a text is random enough to be a key: long, letters and digits, no hash and no UUID.
pub(super) fn is_random(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 20 || !bytes.iter().all(|&b| is_base64(b) || matches!(b, b'-' | b'.' | b'~')) {
        return false;
    }
    let has = |class: fn(&u8) -> bool| bytes.iter().any(class);
    if !has(u8::is_ascii_digit) || !has(u8::is_ascii_alphabetic) || bytes.iter().all(|&b| is_hex(b) || b == b'-') {
        return false;
    }
    let mut counts = [0_u32; 128];
    bytes.iter().for_each(|&b| counts[usize::from(b & 127)] += 1);
    let len = bytes.len() as f64;
    let bits = |n: u32| f64::from(n) / len * (len / f64::from(n)).log2();
    let entropy: f64 = counts.iter().filter(|&&n| n > 0).map(|&n| bits(n)).sum();
    entropy >= 3.5
}

fn secret(range: Range<usize>, kind: &'static str) -> Option<Secret> {
    Some(Secret { range, kind })
}

fn shaped(bytes: &[u8], at: usize) -> Option<Secret> {
    let (from, to) = ROWS[usize::from(bytes[at])];
    SHAPES[usize::from(from)..usize::from(to)].iter().find_map(|shape| {
        let rest = bytes[at..].strip_prefix(shape.prefix.as_bytes())?;
        let mut len = run(rest, shape.rest);
        // The full stop behind a token is the sentence's.
        len -= rest[..len].iter().rev().take_while(|&&b| b == b'.').count();
        let end = at + shape.prefix.len() + len;
        (len >= shape.min && (shape.also)(&bytes[at..end])).then_some(Secret { range: at..end, kind: shape.kind })
    })
}

/// `-----BEGIN … PRIVATE KEY-----` to its end, or to the text's end.
fn pem(bytes: &[u8], at: usize) -> Option<Secret> {
    let label = bytes[at..].strip_prefix(b"-----BEGIN ")?;
    let label = &label[..run(label, |b| b != b'-').min(64)];
    position(label, b"PRIVATE KEY")?;
    let begun = at + 11 + label.len() + 5.min(bytes.len() - at - 11 - label.len());
    let end = position(&bytes[begun..], b"-----END ").and_then(|end| {
        let tail = begun + end + 9;
        position(&bytes[tail..], b"-----").map(|end| tail + end + 5)
    });
    secret(at..end.unwrap_or(bytes.len()), "private_key")
}

/// `Bearer TOKEN`
fn bearer(bytes: &[u8], at: usize) -> Option<Secret> {
    let rest = bytes[at..].get(6..)?;
    if !bytes[at..at + 6].eq_ignore_ascii_case(b"bearer") || rest.first() != Some(&b' ') {
        return None;
    }
    let token = &rest[1..][..run(&rest[1..], is_token68)];
    let worded = token.len() < 20 && !token.iter().any(u8::is_ascii_digit);
    let from = at + 7;
    if token.len() < 8 || worded { None } else { secret(from..from + token.len(), "bearer") }
}

/// `scheme://user:PASSWORD@host`, at the colon before the slashes.
fn url_password(bytes: &[u8], at: usize) -> Option<Secret> {
    let rest = bytes[at..].strip_prefix(b"://")?;
    let authority = &rest[..run(rest, |b| !b.is_ascii_whitespace() && !b"/?#\"'`<>\\".contains(&b))];
    let user = &authority[..authority.iter().rposition(|&b| b == b'@')?];
    let from = at + 3;
    match user.iter().position(|&b| b == b':') {
        Some(colon) => {
            let password = &user[colon + 1..];
            if is_placeholder(password) { None } else { secret(from + colon + 1..from + user.len(), "url_password") }
        }
        None if is_random(std::str::from_utf8(user).ok()?) => secret(from..from + user.len(), "url_password"),
        None => None,
    }
}

/// `--password VALUE`, `-u NAME:PASSWORD`.
fn flag(bytes: &[u8], at: usize) -> Option<Secret> {
    if at > 0 && !bytes[at - 1].is_ascii_whitespace() && !b"\"'".contains(&bytes[at - 1]) {
        return None;
    }
    let dashes = run(&bytes[at..], |b| b == b'-');
    let name_at = at + dashes;
    let name = &bytes[name_at..][..run(&bytes[name_at..], |b| is_word(b) || b == b'-')];
    let space = name_at + name.len();
    if name.is_empty() || bytes.get(space) != Some(&b' ') {
        return None;
    }
    let value = value_at(bytes, space + 1)?;
    let text = &bytes[value.clone()];
    if matches!(name, b"u" | b"user" | b"proxy-user") {
        let colon = text.iter().position(|&b| b == b':')?;
        // `docker run -u 1000:1000`
        let numbers = text.iter().all(|b| b.is_ascii_digit() || *b == b':');
        let password = value.start + colon + 1..value.end;
        let kept = numbers || text[colon..].starts_with(b"://") || is_placeholder(&bytes[password.clone()]);
        return if kept { None } else { secret(password, "password") };
    }
    let strong = dashes == 2 && keys::strength(std::str::from_utf8(name).ok()?) == Some(Strength::Strong);
    if strong && text.len() >= 4 && text[0] != b'-' && !is_placeholder(text) { secret(value, "key") } else { None }
}

/// `NAME=VALUE`, `NAME: VALUE`, `"NAME": "VALUE"`, at the sign between.
fn assigned(bytes: &[u8], at: usize) -> Option<Secret> {
    let sign = bytes[at];
    let next = bytes.get(at + 1).copied().unwrap_or(b' ');
    let before = at.checked_sub(1).map_or(b' ', |b| bytes[b]);
    // Comparisons, arrows, paths, `:=` (which comes again at its `=`).
    if matches!(next, b'=' | b'>' | b':') && !(sign == b'=' && next == b':') || b"=!<>".contains(&before) {
        return None;
    }
    let name = name_before(bytes, at)?;
    let strength = keys::strength(std::str::from_utf8(&bytes[name.clone()]).ok()?)?;

    let mut from = at + 1;
    from += run(&bytes[from..], |b| b == b' ' || b == b'\t').min(8);
    let spaced = from > at + 1 || before == b' ';
    let mut quoted = bytes.get(from).is_some_and(|b| b"\"'`\\".contains(b));
    let mut value = value_at(bytes, from)?;
    // `Authorization: Bearer TOKEN`: the scheme may stay.
    let scheme = &bytes[value.clone()];
    let scheme = &scheme[..run(scheme, is_alnum)];
    if [&b"bearer"[..], b"basic", b"token", b"digest", b"bot"].iter().any(|word| scheme.eq_ignore_ascii_case(word)) {
        let after = value.start + scheme.len();
        if bytes.get(after) == Some(&b' ') {
            value = if quoted { after + 1..value.end.max(after + 1) } else { value_at(bytes, after + 1)? };
            // As sure as quotes: code has no two words there.
            quoted = true;
        }
    }
    let text = &bytes[value.clone()];
    if text.len() < 4 || is_placeholder(text) {
        return None;
    }
    // Its own form says more than its name.
    if let Some(shaped) = shaped(bytes, value.start).filter(|shaped| shaped.range.end == value.end) {
        return Some(shaped);
    }
    let is_secret = match strength {
        Strength::Weak => is_random(std::str::from_utf8(text).ok()?),
        Strength::Strong if quoted => true,
        Strength::Strong => {
            let code = bytes.get(value.end).is_some_and(|b| b"({[<".contains(b)) || position(text, b"::").is_some();
            let lettered = text.iter().all(|&b| is_word(b) && !b.is_ascii_digit() || b == b'.');
            let shouted = bytes[name].iter().all(|b| !b.is_ascii_lowercase());
            // `token=token` is code, `TOKEN=token` is a shell's; `password: String` is code,
            // `password: correcthorse` is YAML.
            let plain_word = text.len() >= 10 && text.iter().all(u8::is_ascii_lowercase);
            !code && (!lettered || plain_word || shouted && sign == b'=' && !spaced)
        }
    };
    if is_secret { secret(value, "key") } else { None }
}

/// The name that ends before the sign at `at`, quotes and blanks passed over.
fn name_before(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let back = |end: usize, class: fn(u8) -> bool, most: usize| {
        end - bytes[..end].iter().rev().take(most).take_while(|&&b| class(b)).count()
    };
    let end = back(at, |b| b":+?".contains(&b), 1);
    let end = back(end, |b| b == b' ' || b == b'\t', 8);
    let end = back(end, |b| b"\"'`]\\".contains(&b), 3);
    let start = back(end, |b| is_word(b) || b == b'-' || b == b'.', 65);
    (start < end).then_some(start..end)
}

/// The value that begins at `at`: to its closing quote, or to where a word ends.
fn value_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    // A quote inside a quoted text: `\"`.
    let escaped = bytes.get(at) == Some(&b'\\');
    let open = at + usize::from(escaped);
    let quote = *bytes.get(open)?;
    if b"\"'`".contains(&quote) {
        let from = open + 1;
        let mut end = from;
        while end < bytes.len() && bytes[end] != quote && bytes[end] != b'\n' {
            // In a text that is not itself inside one, a backslash keeps the next byte from closing.
            end += if bytes[end] == b'\\' && !escaped { 2 } else { 1 };
        }
        let mut end = end.min(bytes.len());
        if escaped && end > from && bytes[end - 1] == b'\\' {
            end -= 1;
        }
        return Some(from..end);
    }
    let stops = |b: u8| b.is_ascii_whitespace() || b"\"'`;,&|<>(){}[]\\".contains(&b);
    Some(at..at + run(&bytes[at..], |b| !stops(b)))
}

/// What stands for a secret without being one.
fn is_placeholder(text: &[u8]) -> bool {
    const STARTS: &[&[u8]] =
        &[b"<", b"${", b"$(", b"{{", b"{", b"%(", b"...", b"***", b"[redacted", b"process.env", b"os.environ", b"env."];
    let variable = text.first() == Some(&b'$') && text[1..].iter().all(|&b| is_word(b));
    text.is_empty()
        || variable
        || STARTS.iter().any(|start| text.starts_with(start))
        || text.iter().all(|&b| b == text[0])
}

fn run(bytes: &[u8], class: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&b| !class(b)).unwrap_or(bytes.len())
}

fn position(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

fn is_alnum(b: u8) -> bool {
    b.is_ascii_alphanumeric()
}

fn is_upper(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit()
}

fn is_hex(b: u8) -> bool {
    b.is_ascii_hexdigit()
}

fn is_word(b: u8) -> bool {
    is_alnum(b) || b == b'_'
}

fn is_url64(b: u8) -> bool {
    is_word(b) || b == b'-'
}

fn is_dotted(b: u8) -> bool {
    is_url64(b) || b == b'.'
}

fn is_base64(b: u8) -> bool {
    is_word(b) || matches!(b, b'+' | b'/' | b'=')
}

fn is_token68(b: u8) -> bool {
    is_base64(b) || matches!(b, b'-' | b'.' | b'~')
}

/// Two parts at least, and the first long enough to be a header.
fn is_jwt(all: &[u8]) -> bool {
    let mut parts = all.split(|&b| b == b'.');
    parts.next().is_some_and(|header| header.len() >= 15) && parts.next().is_some_and(|claims| claims.len() >= 5)
}

/// No `sk-list-item-of-words`: some part of it is one long run with digits and letters.
fn has_solid_run(all: &[u8]) -> bool {
    all.split(|&b| b == b'-')
        .any(|part| part.len() >= 16 && part.iter().any(u8::is_ascii_digit) && part.iter().any(u8::is_ascii_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_stand_together_by_their_first_byte() {
        let firsts: Vec<u8> = SHAPES.iter().map(|shape| shape.prefix.as_bytes()[0]).collect();
        assert!(firsts.is_sorted());
    }
}
