//! Which secret and guarded files a file name pattern may mean.
//!
//! `*` means a whole directory, and that is how it is judged. But `.en?` or `.g*/config` mean one file
//! and hide its name; here the names that matter are put in where the pattern allows them.

use std::borrow::Cow;

use super::words::LABEL;
use crate::path::{Shape, guarded_shapes, secret_shapes};

/// Most paths that one pattern stands for here.
const MOST: usize = 128;

/// Whether a wildcard may be followed by a step up, which could lead anywhere.
pub(super) fn climbs(pattern: &str) -> bool {
    let pattern = &pattern.replace(LABEL, "*");
    let mut wild = false;
    let mut up = false;
    for part in pattern.split('/') {
        if up && !part.is_empty() || wild && part == ".." {
            return true;
        }
        let here = is_wild(part);
        wild |= here;
        // Before bash 5.2 `.*` matched `..`, too.
        up |= here && part.starts_with('.') && matches(part.as_bytes(), b"..");
    }
    false
}

/// Paths of the kind that matters which the pattern may match, and one that it means in any case. Only some of all: they
/// stand for names that the pattern's own letters point at.
pub(super) fn pointed_at(pattern: &str) -> Vec<String> {
    let pattern = &pattern.replace(LABEL, "*");
    let parts: Vec<Part<'_>> = pattern.split('/').map(Part::of).collect();
    // What nobody knows may end with a slash: then the rest is a name of its own, as in `"$dir".env`.
    let ends: Vec<Part<'_>> = parts.iter().map(Part::end).collect();
    let readings = if ends == parts { vec![parts] } else { vec![parts, ends] };
    let mut paths = Vec::new();
    for parts in &readings {
        paths.push(with(parts, 0, &[]));
        if parts.iter().any(Part::is_wild) {
            paths.extend(secret_shapes().filter_map(|shape| stands_for(parts, shape, |part, _| part.points())));
            paths.extend(
                guarded_shapes().filter_map(|shape| stands_for(parts, shape, |part, name| part.spells_half(name))),
            );
        }
    }
    paths.truncate(MOST);
    paths
}

/// Whether one part of a pattern, with wildcards in it, may mean a file of this name.
pub fn may_mean(part: &str, name: &str) -> bool {
    Part::of(part).may_be(name)
}

/// What lies between two slashes of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Part<'p> {
    text: &'p str,
    /// What stands before its first wildcard.
    start: &'p str,
}

/// Whether a part that may be a name means it.
type Sure = fn(&Part<'_>, &str) -> bool;

impl<'p> Part<'p> {
    fn of(text: &'p str) -> Part<'p> {
        Part { text, start: text.split(['*', '?', '[']).next().unwrap_or_default() }
    }

    /// What stands behind something that nobody knows.
    fn end(&self) -> Part<'p> {
        let end = self.text.strip_prefix("**").map(|rest| rest.trim_start_matches('*'));
        end.filter(|end| !end.is_empty()).map_or(*self, Part::of)
    }

    /// Whether it may be the name of what hides.
    fn is_dotted(&self) -> bool {
        self.text.starts_with('.') && !matches!(self.text, "." | "..")
    }

    fn is_wild(&self) -> bool {
        self.start.len() < self.text.len()
    }

    /// Whether it is no literal, and may begin as `name` does. Bash finds the dot in front only where it is written.
    fn may_begin(&self, name: &str) -> bool {
        let alike = |(a, b): (u8, u8)| a.eq_ignore_ascii_case(&b);
        let seen = !name.starts_with('.') || self.text.starts_with('.');
        seen && self.is_wild() && name.bytes().zip(self.start.bytes()).all(alike)
    }

    fn may_be(&self, name: &str) -> bool {
        self.may_begin(name) && matches(self.text.as_bytes(), name.as_bytes())
    }

    /// Whether its letters say enough to mean a secret: `s*` and `*.json` mean many files, `id_*` does not. A dot in front
    /// says it by itself: what hides is `.env` and its kind, and `*` alone finds none of them.
    fn points(&self) -> bool {
        let suffix = self.text.rsplit('*').next().unwrap_or_default();
        match self.text.starts_with('.') {
            true => true,
            false if !self.text.contains('*') => letters(self.text) > 2,
            false => letters(self.start) > 1 || letters(suffix) > 2 && !suffix.contains('.'),
        }
    }

    /// Whether they say enough to mean what is guarded: without a dot in front that has the names of ordinary files, and
    /// `build*` or `app*` are not meant for a build service.
    fn spells_half(&self, name: &str) -> bool {
        self.text.starts_with('.') || letters(self.text) * 2 >= letters(name)
    }

    /// It with letters for its wildcards.
    fn filled(&self) -> String {
        let mut own = String::new();
        let mut rest = self.text;
        while let Some(c) = rest.chars().next() {
            let (_, after) = one(rest.as_bytes());
            own.push(if matches!(c, '*' | '?' | '[') { 'x' } else { c });
            rest = rest.get(rest.len() - after.len()..).unwrap_or_default();
        }
        own
    }
}

/// The path of this shape that the parts of a pattern stand for, where they may, and `sure` says that they do.
fn stands_for(parts: &[Part<'_>], shape: &Shape, sure: Sure) -> Option<String> {
    let (at, last) = (parts.len() - 1, parts.last()?);
    match *shape {
        Shape::Name(name) => (sure(last, name) && last.may_be(name)).then(|| with(parts, at, &[name])),
        // `*` may be all of it, and `.*.swp` means other files.
        Shape::Prefix(start) => {
            let may = last.may_begin(start) && sure(last, start);
            let local = may.then(|| format!("{start}local"))?;
            let spelled = last.text.split('*').next().unwrap_or_default();
            let meant = begins(spelled.as_bytes(), start.as_bytes()) || last.may_be(&local);
            meant.then(|| with(parts, at, &[&local]))
        }
        // Many files have an end of some kind: its letters must be spelled.
        Shape::Suffix(end) => {
            let ending = |part: &str| part.ends_with(['*', '?', ']']) || part.bytes().last() == end.bytes().last();
            let part = Some(last).filter(|last| last.is_wild() && ending(last.text))?.text;
            let part = part.rfind('*').map_or(part, |star| &part[star..]);
            let spelled = part.rsplit_once('.').map_or(0, |(_, spelled)| letters(spelled));
            let meant = spelled > 1 && ends(part.as_bytes(), end.as_bytes());
            meant.then(|| with(parts, at, &[&format!("x{end}")]))
        }
        Shape::Below(_) | Shape::Ends(_) if !parts.iter().any(Part::is_dotted) => None,
        Shape::Below(run) => (0..parts.len()).find_map(|at| in_a_row(parts, at, run, sure)),
        Shape::Ends(run) => in_a_row(parts, parts.len().checked_sub(run.len())?, run, sure),
        Shape::Rooted(run) if parts[0].text.is_empty() => {
            // Of `/etc/*` nobody knows which it is; `/*/shadow` is one.
            let named = parts.get(run.len()).is_some_and(|part| part.text.bytes().any(|byte| byte != b'*'));
            named.then(|| in_a_row(parts, 1, run, |_, _| true)).flatten()
        }
        Shape::Rooted(_) => None,
    }
}

/// The path in which the components `run` stand for the parts from `at` on, where that may be. What stands below a name
/// with a dot in front is meant by any pattern there.
fn in_a_row(parts: &[Part<'_>], at: usize, run: &[&str], sure: Sure) -> Option<String> {
    let here = parts.get(at..at + run.len())?;
    let below = run.first()?.starts_with('.');
    let fits = |(index, (part, name)): (usize, (&Part<'_>, &&str))| {
        let meant = || below && index > 0 || sure(part, name);
        *name == "*" || part.text.eq_ignore_ascii_case(name) || part.may_be(name) && meant()
    };
    let all = here.iter().zip(run).enumerate().all(fits);
    (all && here.iter().any(Part::is_wild)).then(|| with(parts, at, run))
}

/// The path of a pattern's parts in which these names stand from `at` on; `*` among them is any.
fn with(parts: &[Part<'_>], at: usize, names: &[&str]) -> String {
    let name = |(index, part): (usize, &Part<'_>)| match index.checked_sub(at).and_then(|index| names.get(index)) {
        Some(name) if *name != "*" => (*name).to_owned(),
        _ => part.filled(),
    };
    parts.iter().enumerate().map(name).collect::<Vec<_>>().join("/")
}

/// Words that stand in the names of many files which are no secrets.
const COMMON: &[&str] = &["key", "keystore", "docker", "boto"];

/// The secret of which a filter over names spells most letters: `*env*` is `.env`, `*config*` is any of many files. There
/// `*` finds hidden names, too.
pub(super) fn spelled(pattern: &str) -> Option<String> {
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    let given = letters(last);
    // A set that has a dot and no letter in it: whatever stands behind it, that finds hidden names.
    let (first, _) = one(last.as_bytes());
    let dot = first.starts_with(b"[") && accepts(first, b'.') && !b"ax".iter().any(|letter| accepts(first, *letter));
    let word = last.trim_matches('*').to_ascii_lowercase();
    let enough = given >= 2 + usize::from(last.ends_with('*')) && !COMMON.contains(&word.as_str());
    let spells = |name: &Cow<'_, str>| {
        let most = enough && given * 3 >= letters(name) * 2;
        (most || dot && name.starts_with('.')) && matches(last.as_bytes(), name.as_bytes())
    };
    let names = secret_shapes().filter_map(|shape| match shape {
        Shape::Name(name) => Some(Cow::Borrowed(*name)),
        Shape::Prefix(start) => Some(Cow::Owned(format!("{start}x"))),
        Shape::Suffix(end) => Some(Cow::Owned(format!("x{end}"))),
        _ => None,
    });
    is_wild(last).then(|| names.into_iter().find(spells)).flatten().map(Cow::into_owned)
}

fn letters(text: &str) -> usize {
    text.bytes().filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

fn is_wild(part: &str) -> bool {
    part.contains(['*', '?', '['])
}

/// The first element of a pattern, and what stands behind it.
fn one(pattern: &[u8]) -> (&[u8], &[u8]) {
    let mut end = 1;
    if pattern.first() == Some(&b'[') {
        let from = if matches!(pattern.get(1), Some(b'!' | b'^')) { 3 } else { 2 };
        // What may close it may also stand first, or close a class in it: `[]a]`, `[[:lower:]]`.
        let mut at = from - usize::from(class(pattern.get(from - 1..).unwrap_or_default()).is_some());
        while let Some(byte) = pattern.get(at) {
            match class(pattern.get(at..).unwrap_or_default()) {
                Some((_, length)) => at += length,
                None if *byte == b']' => {
                    end = at + 1;
                    break;
                }
                None => at += 1,
            }
        }
    }
    while pattern.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        end += 1;
    }
    pattern.split_at(end.min(pattern.len()))
}

/// The class of letters that `set` begins with, as it is written, and its length: `[:lower:]`, `[=e=]`, `[.-.]`.
fn class(set: &[u8]) -> Option<(&[u8], usize)> {
    let [b'[', kind @ (b':' | b'=' | b'.'), rest @ ..] = set else { return None };
    let end = rest.windows(2).position(|pair| pair == [*kind, b']'])?;
    Some((&set[1..end + 2], end + 4))
}

/// Whether a letter is in a class. None where that cannot be said: cases may be one, and a class may not be known.
fn holds(class: &[u8], byte: u8) -> Option<bool> {
    match class {
        b":alpha" => Some(byte.is_ascii_alphabetic()),
        b":lower" | b":upper" => (!byte.is_ascii_alphabetic()).then_some(false),
        b":alnum" => Some(byte.is_ascii_alphanumeric()),
        b":word" => Some(byte.is_ascii_alphanumeric() || byte == b'_'),
        b":digit" => Some(byte.is_ascii_digit()),
        b":xdigit" => Some(byte.is_ascii_hexdigit()),
        b":punct" => Some(byte.is_ascii_punctuation()),
        b":space" | b":blank" | b":cntrl" => (!byte.is_ascii_whitespace() && !byte.is_ascii_control()).then_some(false),
        _ => None,
    }
}

/// Whether a letter is in a range. None where that depends on the order of letters, which is not everywhere the same.
fn spans(from: u8, to: u8, byte: u8) -> Option<bool> {
    let alike = [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit];
    let plain = alike.iter().any(|kind| kind(&from) && kind(&to));
    let letters = from.is_ascii_alphabetic() || to.is_ascii_alphabetic() || !from.is_ascii() || !to.is_ascii();
    match (from..=to).contains(&byte) {
        true if plain => Some(true),
        false if plain || !letters => Some(false),
        _ => None,
    }
}

/// The elements of a set, each with what it says of a letter.
fn said(mut set: &[u8], byte: u8) -> Vec<Option<bool>> {
    let mut all = Vec::new();
    while let [first, behind @ ..] = set {
        let (one, rest) = match (class(set), behind) {
            (Some((name, length)), _) => (holds(name, byte), set.get(length..).unwrap_or_default()),
            // A class may end a range, too.
            (None, [b'-', rest @ ..]) if class(rest).is_some() => (None, rest),
            (None, [b'-', to, rest @ ..]) => (spans(*first, *to, byte), rest),
            (None, _) => (Some(*first == byte), behind),
        };
        all.push(one);
        set = rest;
    }
    all
}

/// Whether one part of a pattern may match `name`, in letters of any case: where they are one, `.ENV` is `.env`.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // Most patterns have another end.
    let ends = |(a, b): (&u8, &u8)| a.eq_ignore_ascii_case(b) || matches!(a, b'*' | b'?' | b']');
    if !pattern.last().zip(name.last()).is_none_or(ends) {
        return false;
    }
    run(vec![pattern], name).iter().any(|rest| rest.iter().all(|byte| *byte == b'*'))
}

/// Whether it may match a name that begins with `text`.
fn begins(pattern: &[u8], text: &[u8]) -> bool {
    !run(vec![pattern], text).is_empty()
}

/// Whether it may match a longer name that ends with `text`.
fn ends(pattern: &[u8], text: &[u8]) -> bool {
    let mut behind = Vec::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        let (element, after) = one(rest);
        behind.extend((element == b"*").then_some(rest));
        behind.push(after);
        rest = after;
    }
    run(behind, text).iter().any(|rest| rest.iter().all(|byte| *byte == b'*'))
}

/// What of a pattern may be left behind `text`, from each of these places in it.
fn run<'p>(mut reached: Vec<&'p [u8]>, text: &[u8]) -> Vec<&'p [u8]> {
    let mut next: Vec<&[u8]> = Vec::new();
    for byte in text {
        next.clear();
        let mut at = 0;
        while let Some(rest) = reached.get(at).copied() {
            at += 1;
            let (element, after) = if rest.is_empty() { continue } else { one(rest) };
            if element == b"*" {
                if !reached.contains(&after) {
                    reached.push(after);
                }
                next.push(rest);
            } else if [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()].iter().any(|byte| accepts(element, *byte))
            {
                next.push(after);
            }
        }
        std::mem::swap(&mut reached, &mut next);
    }
    reached
}

/// Whether an element may mean a letter.
fn accepts(element: &[u8], byte: u8) -> bool {
    match element {
        b"?" => true,
        // Outside of what is surely in it, inside of what may be.
        [b'[', b'!' | b'^', set @ .., b']'] if !set.is_empty() => !said(set, byte).contains(&Some(true)),
        [b'[', set @ .., b']'] if !set.is_empty() => said(set, byte).iter().any(|one| *one != Some(false)),
        literal => literal == [byte],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_point_at_names() {
        let points = |pattern: &str, path: &str| pointed_at(pattern).iter().any(|found| found == path);
        for (pattern, path) in [
            (".en?", ".env"),
            (".[e]nv", ".env"),
            (".e*", ".env"),
            ("a/.g*/config", "a/.git/config"),
            (".g?t/h*/pre-commit", ".git/hooks/pre-commit"),
            (".git/*/x", ".git/hooks/x"),
            ("id_*", "id_rsa"),
            ("cred*", "credentials.json"),
            ("*.pem", "x.pem"),
            ("*.pe?", "x.pem"),
            ("a*.t?vars", "x.tfvars"),
            (".en?.production", ".env.local"),
            ("/etc/sh*", "/etc/shadow"),
            ("/*/shadow", "/etc/shadow"),
            ("/proc/1/task/2/en*", "/proc/1/task/2/environ"),
            ("jenkinsfil?", "jenkinsfile"),
            ("**/.env", "xx/.env"),
            (".EN*", ".env"),
            (".*", ".env"),
            (".??*", ".env"),
            (".[!.]*", ".ssh"),
            ("./.?*", "./.env"),
            ("sub/.*", "sub/.env"),
            ("*/.*", "x/.env"),
            (".[a-f]nv", ".env"),
            (".[!a]nv", ".env"),
            (".[[:lower:]]nv", ".env"),
            (".e[[:alnum:]_]v", ".env"),
            (".[![:digit:]]nv", ".env"),
            (".[[=e=]]nv", ".env"),
            (".[][:alpha:]]nv", ".env"),
            ("id_[[:lower:]]sa", "id_rsa"),
            (".[![:upper:]]nv", ".env"),
            (".[^[:upper:]]nv", ".env"),
            (".[![=a=]]nv", ".env"),
            (".[![.a.]]nv", ".env"),
            (".[![:foo:]]nv", ".env"),
            (".[!A-Z]nv", ".env"),
            (".[A-Z]nv", ".env"),
            (".[a-Z]nv", ".env"),
            (".[!B-z]nv", ".env"),
            (".[!a-c-z]nv", ".env"),
            (".[!a[:digit:]-z]nv", ".env"),
            (".[!a-[.c.]z]nv", ".env"),
            ("id_[![:upper:]]sa", "id_rsa"),
            (".g[![:upper:]]t/config", ".git/config"),
            (".[![:upper:]]nvrc", ".envrc"),
            (".g[[:alpha:]]t/config", ".git/config"),
        ] {
            assert!(points(pattern, path), "{pattern}: {:?}", pointed_at(pattern));
        }
        for (pattern, path) in [
            ("*", ".env"),
            ("[.]*", ".env"),
            ("?env", ".env"),
            ("*.json", "credentials.json"),
            ("s*", "secrets.yml"),
            ("build*", "buildspec.yml"),
            ("app*", "appveyor.yml"),
            ("test.*", "x.pem"),
            ("*.[ch]", "x.key"),
            (".*.swp", ".env.local"),
            ("/etc/*", "/etc/shadow"),
            (".[[:digit:]]nv", ".env"),
            (".[![:alpha:]]nv", ".env"),
            (".[!a-zA-Z]nv", ".env"),
            (".[!eE]nv", ".env"),
            (".[x-z]nv", ".env"),
            (".[0-9]nv", ".env"),
        ] {
            assert!(!points(pattern, path), "{pattern}");
        }
    }

    #[test]
    fn each_name_that_matters_is_found_with_a_letter_left_open() {
        for shape in secret_shapes().chain(guarded_shapes()) {
            let name = match shape {
                Shape::Name(name) => (*name).to_owned(),
                Shape::Prefix(start) => format!("{start}local"),
                Shape::Suffix(end) => format!("x{end}"),
                Shape::Below(run) | Shape::Ends(run) => run.join("/"),
                Shape::Rooted(run) => format!("/{}", run.join("/").replace('*', "1")),
            };
            let open = |at: usize| format!("{}?{}", &name[..at], &name[at + 1..]);
            let last = match shape {
                Shape::Prefix(start) => start.len() - 2,
                _ => name.len() - 1,
            };
            let found = pointed_at(&open(last));
            assert!(found.contains(&name), "{}: {found:?}", open(last));
        }
    }

    #[test]
    fn a_filter_spells_most_of_a_name_or_means_many() {
        for pattern in [
            "*env*",
            "*env",
            "?env",
            "[.]env",
            "*nv",
            "*.env*",
            "*netrc",
            "*credential*",
            "*secret*",
            "*_rsa",
            "[.]*",
            "[!a-z]e*",
        ] {
            assert!(spelled(pattern).is_some(), "{pattern}");
        }
        for pattern in
            ["*", "*.rs", "*config*", "*token*", "*docker*", "*key*", "*en*", "env*.ts", "*.json", "*rc", ".env"]
        {
            assert!(spelled(pattern).is_none(), "{pattern}: {:?}", spelled(pattern));
        }
    }

    #[test]
    fn steps_up_behind_wildcards() {
        for pattern in ["*/../x", "a*/b/../c", "?/..", ".*/x", ".?/x"] {
            assert!(climbs(pattern), "{pattern}");
        }
        for pattern in ["*", "../*", "a/../*.rs", ".*", ".*/", ".[!.]*/x", "*/.x/..y"] {
            assert!(!climbs(pattern), "{pattern}");
        }
    }
}
