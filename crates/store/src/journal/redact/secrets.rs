//! Where in a text a secret stands: by its form ([`shaped`]), or by what stands before it.
//!
//! One pass over the bytes, no regular expressions: this runs on every argument of every call.

use std::ops::Range;

use super::keys::{self, Strength};
use super::programs::Command;
use super::shapes::shaped;
use super::{elements, pairs, piped};

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Secret {
    pub(super) range: Range<usize>,
    pub(super) kind: &'static str,
}

/// Every secret in `text`, in order, none overlapping.
pub(super) fn find(text: &str) -> Vec<Secret> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut command = Command::default();
    let mut at = 0;
    while at < bytes.len() {
        let secret = match bytes[at] {
            b'-' => pem(bytes, at).or_else(|| flag(bytes, at, &command)),
            b'=' => assigned(bytes, at).or_else(|| elements::attribute(bytes, at)),
            b':' => url_password(bytes, at).or_else(|| assigned(bytes, at)).or_else(|| pairs::bot(bytes, at)),
            b'_' => npmrc(bytes, at),
            b'<' => elements::content(bytes, at).or_else(|| piped::given(bytes, at)),
            b'\n' | b'\\' | b';' | b'|' | b'&' => {
                command.sign(bytes, at);
                None
            }
            first if first.is_ascii_alphanumeric() && !at.checked_sub(1).is_some_and(|b| is_alnum(bytes[b])) => {
                let own = shaped(bytes, at).or_else(|| pairs::account(bytes, at)).or_else(|| bearer(bytes, at));
                own.or_else(|| command.word(bytes, at))
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

/// Bytes of a text that are looked at to see whether it is random.
const RANDOM_BYTES: usize = 512;

/// Whether a text is random enough to be a key: long, letters and digits, no hash and no UUID.
pub(super) fn is_random(text: &str) -> bool {
    let bytes = &text.as_bytes()[..text.len().min(RANDOM_BYTES)];
    // `%`: an address has some letters of a key as numbers.
    if bytes.len() < 20 || !bytes.iter().all(|&b| is_token68(b) || b == b'%') {
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
        // Hex is a hash elsewhere, and nobody's name here.
        None if is_random(std::str::from_utf8(user).ok()?) || user.len() >= 32 && user.iter().all(|&b| is_hex(b)) => {
            secret(from..from + user.len(), "url_password")
        }
        None => None,
    }
}

/// Options by what their value is.
const USERS: &[&[u8]] = &[b"u", b"user", b"proxy-user"];
const HEADERS: &[&[u8]] = &[b"H", b"header", b"proxy-header"];
/// Names that are weak elsewhere, and of an option are sure.
const SURE: &[&[u8]] = &[b"pass", b"pat", b"pwd"];

/// `--password VALUE`, `-u NAME:PASSWORD`, `-H 'NAME: VALUE'`, and what the program's own options are.
fn flag(bytes: &[u8], at: usize, command: &Command) -> Option<Secret> {
    if at > 0 && !bytes[at - 1].is_ascii_whitespace() && !b"\"'".contains(&bytes[at - 1]) {
        return None;
    }
    let dashes = run(&bytes[at..], |b| b == b'-');
    if let Some(secret) = command.option(bytes, at) {
        return Some(secret);
    }
    let name_at = at + dashes;
    let name = &bytes[name_at..][..run(&bytes[name_at..], |b| is_word(b) || b == b'-')];
    let sign = name_at + name.len();
    let value_from = match bytes.get(sign)? {
        b' ' => sign + 1,
        b'=' if dashes == 2 => sign + 1,
        b'"' | b'\'' if name == b"H" => sign,
        _ => return None,
    };
    if HEADERS.contains(&name) {
        return header(bytes, value_at(bytes, value_from)?);
    }
    let value = word_at(bytes, value_from)?;
    let text = &bytes[value.clone()];
    if USERS.contains(&name) {
        let colon = text.iter().position(|&b| b == b':')?;
        // `docker run -u 1000:1000`
        let numbers = text.iter().all(|b| b.is_ascii_digit() || *b == b':');
        let password = value.start + colon + 1..value.end;
        let kept = numbers
            || command.runs_as()
            || text[colon..].starts_with(b"://")
            || is_placeholder(&bytes[password.clone()]);
        return if kept { None } else { secret(password, "password") };
    }
    // `-passin pass:VALUE`
    if dashes == 1 && name.starts_with(b"pass") && text.len() > 5 && text.starts_with(b"pass:") {
        let password = value.start + 5..value.end;
        return if is_placeholder(&bytes[password.clone()]) { None } else { secret(password, "password") };
    }
    // `--password=VALUE` is found at its sign.
    if dashes != 2 || bytes[sign] == b'=' {
        return None;
    }
    let sure = SURE.contains(&name) || keys::strength(std::str::from_utf8(name).ok()?) == Some(Strength::Strong);
    let kept = text.len() < 4 || text[0] == b'-' || is_placeholder(text) || is_kind(text);
    if sure && !kept { secret(value, "key") } else { None }
}

/// `NAME: VALUE` as the value of an option: the whole is a header.
fn header(bytes: &[u8], all: Range<usize>) -> Option<Secret> {
    let text = &bytes[all.clone()];
    let colon = text.iter().position(|&b| b == b':')?;
    let strength = keys::strength(std::str::from_utf8(&text[..colon]).ok()?)?;
    let mut from = colon + 1;
    from += run(&text[from..], |b| b == b' ');
    // `Bearer VALUE`: the scheme may stay.
    let scheme = run(&text[from..], |b| is_alnum(b) || b == b'-');
    if scheme > 0 && text.get(from + scheme) == Some(&b' ') {
        from += scheme + 1;
    }
    let value = &text[from..];
    let is_secret = strength == Strength::Strong || is_random(std::str::from_utf8(value).ok()?);
    if is_secret && !is_placeholder(value) { secret(all.start + from..all.end, "key") } else { None }
}

/// `:_authToken VALUE`, as in `npm config`.
fn npmrc(bytes: &[u8], at: usize) -> Option<Secret> {
    let before = at.checked_sub(1).map_or(b'\n', |before| bytes[before]);
    if before != b':' && !before.is_ascii_whitespace() {
        return None;
    }
    let names: &[&[u8]] = &[b"_authToken ", b"_password ", b"_auth "];
    let name = names.iter().find(|name| bytes[at..].starts_with(name))?;
    // Names of code, elsewhere.
    if before != b':' && name.len() < names[0].len() {
        return None;
    }
    let value = word_at(bytes, at + name.len())?;
    let text = &bytes[value.clone()];
    if text.len() < 4 || !text[0].is_ascii_alphanumeric() || is_placeholder(text) { None } else { secret(value, "key") }
}

/// What may stand before a credential of one word.
const SCHEMES: &[&[u8]] = &[b"bearer", b"basic", b"token", b"digest", b"bot"];
/// What stands before one that goes to its line's end, and never in a sentence.
const SCHEMES_OF_MORE: &[&[u8]] =
    &[b"api-key", b"apikey", b"aws4-hmac-sha256", b"negotiate", b"ntlm", b"sharedkey", b"sharedkeylite", b"ssws"];

/// `NAME=VALUE`, `NAME: VALUE`, `"NAME": "VALUE"`, `NAME => "VALUE"`, at the sign between.
fn assigned(bytes: &[u8], at: usize) -> Option<Secret> {
    let sign = bytes[at];
    let next = bytes.get(at + 1).copied().unwrap_or(b' ');
    let before = at.checked_sub(1).map_or(b' ', |b| bytes[b]);
    // Comparisons, arrows, paths, `:=` (which comes again at its `=`).
    let maps = sign == b'=' && next == b'>';
    if matches!(next, b'=' | b'>' | b':') && !(sign == b'=' && next == b':') && !maps || b"=!<>".contains(&before) {
        return None;
    }
    let name = name_before(bytes, at)?;
    let named = std::str::from_utf8(&bytes[name.clone()]).ok()?;
    let mut strength = keys::strength(named)?;
    // `?sig=VALUE&token=VALUE`
    let in_query = sign == b'=' && name.start.checked_sub(1).is_some_and(|before| b"?&#;".contains(&bytes[before]));

    let mut from = at + 1 + usize::from(maps);
    from += run(&bytes[from..], |b| b == b' ' || b == b'\t').min(8);
    let spaced = from > at + 1 || before == b' ';
    let mut quoted = bytes.get(from).is_some_and(|b| b"\"'`\\".contains(b));
    // An arrow before a text is an entry of a table; before anything else it is code.
    if maps && !quoted {
        return None;
    }
    let mut value = value_at(bytes, from)?;
    // `Authorization: Bearer TOKEN`: the scheme may stay.
    let scheme = &bytes[value.clone()];
    let scheme = &scheme[..run(scheme, |b| is_alnum(b) || b == b'-')];
    let is_one_of = |words: &[&[u8]]| words.iter().any(|word| scheme.eq_ignore_ascii_case(word));
    let of_more = is_one_of(SCHEMES_OF_MORE);
    if of_more || is_one_of(SCHEMES) {
        let after = value.start + scheme.len();
        if bytes.get(after) == Some(&b' ') {
            value = match (quoted, of_more) {
                (true, _) => after + 1..value.end.max(after + 1),
                (false, true) => after + 1..after + 1 + run(&bytes[after + 1..], |b| !b"\"'`\\\r\n".contains(&b)),
                (false, false) => value_at(bytes, after + 1)?,
            };
            // As sure as quotes: code has no two words there.
            quoted = true;
        }
    }
    let text = &bytes[value.clone()];
    if text.len() < 4 || is_placeholder(text) || keys::is_no_secret(named, text) {
        return None;
    }
    let shouted = bytes[name.clone()].iter().all(|b| !b.is_ascii_lowercase());
    let shell = shouted && sign == b'=' && !spaced;
    if in_query && keys::is_sure_in_query(named) || shell && keys::is_sure_in_shell(named) && !is_number(text) {
        strength = Strength::Strong;
    }
    // Its own form says more than its name.
    if let Some(shaped) = shaped(bytes, value.start).filter(|shaped| shaped.range.end == value.end) {
        return Some(shaped);
    }
    let is_secret = match strength {
        Strength::Weak => is_random(std::str::from_utf8(text).ok()?),
        Strength::Strong if quoted => true,
        Strength::Strong if in_query => !is_kind(text),
        Strength::Strong => {
            let code = bytes.get(value.end).is_some_and(|b| b"({[<".contains(b)) || position(text, b"::").is_some();
            let lettered = text.iter().all(|&b| is_word(b) && !b.is_ascii_digit() || b == b'.');
            // `token=token` is code, `TOKEN=token` is a shell's; `password: String` is code,
            // `password: correcthorse` is YAML.
            let of_itself = named.as_bytes().ends_with(text);
            let least = if keys::is_of_words(named) && !is_demand(text) { 8 } else { 10 };
            let plain_word = text.len() >= least && text.iter().all(u8::is_ascii_lowercase) && !of_itself;
            if keys::is_of_words(named)
                && let Some(end) = phrase(bytes, value.start)
            {
                value.end = end;
                return secret(value, "key");
            }
            !code && (!lettered || plain_word || shell)
        }
    };
    if is_secret { secret(value, "key") } else { None }
}

/// Words that are in every sentence, and in a phrase of random words hardly.
const WORDS_OF_SENTENCES: &[&[u8]] = &[
    b"and", b"are", b"be", b"by", b"can", b"for", b"from", b"if", b"in", b"is", b"must", b"not", b"of", b"on", b"or",
    b"that", b"the", b"this", b"to", b"used", b"when", b"which", b"will", b"with", b"you", b"your",
];

/// Where a phrase of four small words and more ends, the last thing in its line.
fn phrase(bytes: &[u8], from: usize) -> Option<usize> {
    let end = from + run(&bytes[from..], |b| b.is_ascii_lowercase() || b == b' ');
    let text = bytes[from..end].trim_ascii_end();
    let mut words = text.split(|&b| b == b' ');
    let is_phrase = words.clone().count() >= 4
        && words.all(|word| (2..=12).contains(&word.len()) && !WORDS_OF_SENTENCES.contains(&word));
    let ends = bytes.get(end).is_none_or(|b| b"\r\n\\\"'`".contains(b));
    (is_phrase && ends).then_some(from + text.len())
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
pub(super) fn value_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
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

/// The word of a command that begins at `at`: more than a value of code may stand in it.
pub(super) fn word_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let value = value_at(bytes, at)?;
    if value.start > at {
        return Some(value);
    }
    let mut end = at;
    while let Some(&byte) = bytes.get(end) {
        let next = bytes.get(end + 1).copied().unwrap_or_default();
        match byte {
            b'\\' if b" !#$%&()*;<>?@^|~".contains(&next) => end += 2,
            b'\\' | b'"' | b'\'' | b'`' | b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')' => break,
            byte if byte.is_ascii_whitespace() => break,
            _ => end += 1,
        }
    }
    // The sentence's own, or the list's.
    end -= bytes[at..end].iter().rev().take_while(|b| b",.:]}".contains(b)).count();
    Some(at..end)
}

/// A word of a manual that stands for what is given.
pub(super) fn is_kind(text: &[u8]) -> bool {
    const KINDS: &[&[u8]] = &[
        b"bytes",
        b"file",
        b"path",
        b"password",
        b"passwd",
        b"secret",
        b"stdin",
        b"string",
        b"stringarray",
        b"strings",
        b"text",
        b"token",
        b"value",
    ];
    KINDS.iter().any(|kind| text.eq_ignore_ascii_case(kind))
}

/// What a description says of a setting.
fn is_demand(text: &[u8]) -> bool {
    matches!(text, b"optional" | b"required")
}

fn is_number(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit)
}

/// What stands for a secret without being one.
pub(super) fn is_placeholder(text: &[u8]) -> bool {
    const STARTS: &[&[u8]] =
        &[b"<", b"${", b"$(", b"{{", b"{", b"%(", b"...", b"***", b"[redacted", b"process.env", b"os.environ", b"env."];
    let variable = text.first() == Some(&b'$') && text[1..].iter().all(|&b| is_word(b));
    const NONE: &[&[u8]] = &[b"true", b"false", b"null", b"none", b"undefined"];
    text.is_empty()
        || variable
        || NONE.iter().any(|word| text.eq_ignore_ascii_case(word))
        || STARTS.iter().any(|start| text.starts_with(start))
        || text.iter().all(|&b| b == text[0])
}

pub(super) fn run(bytes: &[u8], class: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&b| !class(b)).unwrap_or(bytes.len())
}

fn position(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

pub(super) fn is_alnum(b: u8) -> bool {
    b.is_ascii_alphanumeric()
}

pub(super) fn is_upper(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit()
}

pub(super) fn is_hex(b: u8) -> bool {
    b.is_ascii_hexdigit()
}

pub(super) fn is_word(b: u8) -> bool {
    is_alnum(b) || b == b'_'
}

pub(super) fn is_url64(b: u8) -> bool {
    is_word(b) || b == b'-'
}

pub(super) fn is_dotted(b: u8) -> bool {
    is_url64(b) || b == b'.'
}

pub(super) fn is_base64(b: u8) -> bool {
    is_word(b) || matches!(b, b'+' | b'/' | b'=')
}

fn is_token68(b: u8) -> bool {
    is_base64(b) || matches!(b, b'-' | b'.' | b'~')
}
