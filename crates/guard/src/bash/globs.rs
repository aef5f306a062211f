//! Which secret and guarded files a file name pattern may mean.
//!
//! `*` means a whole directory, and that is how it is judged. But `.en?` or `.g*/config` mean one file
//! and hide its name; here the names that matter are put in where the pattern allows them.

use super::words::LABEL;

/// Names that make a path a secret or a guarded one, alone or below each other.
const HIDDEN: &[&str] = &[
    ".env",
    ".envrc",
    ".env.local",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".bash_history",
    ".zsh_history",
    ".git",
    ".gitconfig",
    ".gitmodules",
    ".husky",
    ".githooks",
    ".github",
    ".gitlab-ci.yml",
    ".circleci",
    ".pre-commit-config.yaml",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".vimrc",
    ".exrc",
    ".mcp.json",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".nika",
    ".cargo",
    ".config",
];
const OPEN: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
    "secrets.toml",
    "config",
    "config.json",
    "config.toml",
    "config.worktree",
    "hooks",
    "modules",
    "info",
    "attributes",
    "workflows",
    "actions",
    "mcp.json",
    "opencode.json",
    "environ",
    "mem",
];

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

/// Paths of the kind that matters which the pattern may match. Only some of all: it stands for names
/// that the pattern's own letters point at.
pub(super) fn pointed_at(pattern: &str) -> Vec<String> {
    let pattern = &pattern.replace(LABEL, "*");
    let mut paths = vec![String::new()];
    let mut special = false;
    for (index, part) in pattern.split('/').enumerate() {
        let of = |part: &str| if is_wild(part) { names(part, special) } else { vec![part.to_owned()] };
        // What nobody knows may end with a slash: then the rest is a name of its own, as in `"$dir".env`.
        let rest = part.strip_prefix("**").map(|rest| rest.trim_start_matches('*')).filter(|rest| !rest.is_empty());
        let names: Vec<String> = of(part).into_iter().chain(rest.into_iter().flat_map(of)).collect();
        // Workflows are guarded whatever their names are, and a pattern for all of them points at none.
        special = part != "workflows" && (special || names.iter().any(|name| HIDDEN.contains(&name.as_str())));
        let join = |path: &String, name: &String| if index == 0 { name.clone() } else { format!("{path}/{name}") };
        paths = paths.iter().flat_map(|path| names.iter().map(|name| join(path, name))).take(MOST).collect();
    }
    paths
}

/// Files that hold secrets, as a filter over all names spells them: there `*` finds hidden names, too.
const SECRETS: &[&str] = &[
    ".env",
    ".env.x",
    ".envrc",
    ".flaskenv",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    ".secrets",
    ".vault-token",
    "credentials",
    "credentials.json",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
    "secrets.toml",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "x.pem",
    ".bash_history",
    ".zsh_history",
];

/// The secret of which a filter over names spells most letters: `*env*` is `.env`, `*config*` is any of many files.
pub(super) fn spelled(pattern: &str) -> Option<&'static str> {
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    let letters = |text: &str| text.bytes().filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let given = letters(last);
    // A set that has a dot and no letter in it: whatever stands behind it, that finds hidden names.
    let (first, _) = one(last.as_bytes());
    let dot = first.starts_with(b"[") && accepts(first, b'.') && !b"ax".iter().any(|letter| accepts(first, *letter));
    let enough = given >= 2 + usize::from(last.ends_with('*'));
    let spells = |name: &&&str| {
        let most = enough && given * 3 >= letters(name) * 2;
        (most || dot && name.starts_with('.')) && matches(last.as_bytes(), name.as_bytes())
    };
    is_wild(last).then(|| SECRETS.iter().find(spells).copied()).flatten()
}

/// What one part of a pattern may be: itself with letters for its wildcards, or a name that matters.
fn names(part: &str, special: bool) -> Vec<String> {
    let mut own = String::new();
    let mut rest = part;
    while let Some(c) = rest.chars().next() {
        let (_, after) = one(rest.as_bytes());
        own.push(if matches!(c, '*' | '?' | '[') { 'x' } else { c });
        rest = rest.get(rest.len() - after.len()..).unwrap_or_default();
    }
    let sure = special || points(part);
    let table = if part.starts_with(['.', '[', '?']) { [HIDDEN, OPEN] } else { [OPEN, &[]] };
    let mut out: Vec<String> = table
        .iter()
        .flat_map(|names| names.iter())
        .filter(|name| sure && (!name.starts_with('.') || part.starts_with('.')))
        .filter(|name| matches(part.as_bytes(), name.as_bytes()))
        .map(|name| (*name).to_owned())
        .collect();
    out.push(own);
    out
}

/// Whether the letters of the pattern say enough: `s*` and `*.json` mean many files, `id_*` does not. A dot in front says
/// it by itself: what hides is `.env` and its kind, and `*` alone finds none of them.
fn points(part: &str) -> bool {
    let letters = |text: &str| text.bytes().filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let prefix = part.split(['*', '?', '[']).next().unwrap_or_default();
    let suffix = part.rsplit('*').next().unwrap_or_default();
    match part.starts_with('.') {
        true => true,
        false if !part.contains('*') => letters(part) > 2,
        false => letters(prefix) > 1 || letters(suffix) > 2 && !suffix.contains('.'),
    }
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
    let mut reached = vec![pattern];
    for byte in name {
        let mut next: Vec<&[u8]> = Vec::new();
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
        reached = next;
    }
    reached.iter().any(|rest| rest.iter().all(|byte| *byte == b'*'))
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
