//! Secrets that are chosen by a filter instead of being named: `--include=.env`, `-g '*.pem'`, `fd '^\\.env$' -x cat`.

use std::path::Path;

use super::super::globs;
use super::super::judge::{Arg, Judge, Word};
use super::spec::Parsed;

/// The secrets that a file name pattern points at. One that leaves files out (`!…`) points at none.
pub(super) fn secrets(pattern: &str) -> Vec<String> {
    if pattern.starts_with('!') {
        return Vec::new();
    }
    let pattern = pattern.trim_start_matches("**/").trim_start_matches('/');
    // `{a,b}`: each of them.
    let each: Vec<String> = match (pattern.split_once('{'), pattern.rsplit_once('}')) {
        (Some((before, _)), Some((_, after))) => {
            let inside = pattern.get(before.len() + 1..pattern.len() - after.len() - 1).unwrap_or_default();
            inside.split(',').map(|one| format!("{before}{one}{after}")).collect()
        }
        _ => vec![pattern.to_owned()],
    };
    let mut found: Vec<String> = each.iter().flat_map(|pattern| globs::pointed_at(pattern)).collect();
    found.retain(|path| crate::classify(Path::new(path)).secret.is_some());
    found.extend(each.iter().filter_map(|pattern| globs::spelled(pattern)));
    found
}

/// The secret of which a regular expression over all names, hidden ones too, spells most letters: `env`, `_rsa$`.
pub(super) fn spelled_by_regex(regex: &str) -> Option<String> {
    let plain = |part: &str| part.replace(".*", "*").replace(".+", "*").replace(['\\', '^', '$', '(', ')'], "");
    regex.split('|').filter(|part| !part.contains('/')).find_map(|part| {
        let before = if part.trim_start_matches('(').starts_with('^') { "" } else { "*" };
        let after = if part.trim_end_matches(')').ends_with('$') { "" } else { "*" };
        globs::spelled(&format!("{before}{}{after}", plain(part)))
    })
}

/// Whether fd is told to find hidden names, and by a word that spells a secret.
pub(super) fn finds_hidden(words: &[Arg]) -> bool {
    let short = |text: &str| !text.starts_with("--") && text.starts_with('-') && text.contains(['H', 'u']);
    let hidden = |text: &str| text.starts_with("--hid") || text.starts_with("--unr") || short(text);
    let spells = |text: &str| !text.starts_with('-') && spelled_by_regex(text).is_some();
    words.iter().filter_map(text).any(hidden) && words.iter().skip(1).filter_map(text).any(spells)
}

/// The secrets that a regular expression over names points at.
pub(super) fn secrets_by_regex(regex: &str) -> Vec<String> {
    let plain = regex.replace(".*", "*").replace(".+", "*").replace(['\\', '^', '$', '(', ')'], "");
    let mut found: Vec<String> = plain.split('|').flat_map(secrets).collect();
    // One that only says how a name begins: `^\.`.
    let begins = regex.split('|').filter(|part| part.starts_with('^') && !part.ends_with('$'));
    let begins = begins.map(|part| part.replace(".*", "*").replace(['\\', '^', '(', ')'], ""));
    found.extend(begins.filter(|part| !part.is_empty()).flat_map(|part| secrets(&format!("{part}*"))));
    // Without an anchor it matches the ends of longer names, too: `\.pem`.
    found.extend(plain.split('|').filter(|part| part.starts_with('.')).flat_map(|part| secrets(&format!("*{part}"))));
    found
}

/// Reads the secrets that the values of these options choose (blank-separated names), unless only names are printed.
pub(super) fn chosen(parsed: &Parsed, options: &str, judge: &mut Judge<'_>) {
    for (value, name) in
        parsed.values(options).flat_map(|value| secrets(&glob_of(value)).into_iter().map(move |name| (value, name)))
    {
        judge.read(&value.with(&name));
    }
}

/// Whether one of these options chooses a secret.
pub(super) fn chooses(parsed: &Parsed, options: &str) -> bool {
    parsed.values(options).any(|value| !secrets(&glob_of(value)).is_empty())
}

/// What is known of a word: its text, or its pattern where the shell has found no file for it.
pub(super) fn text(arg: &Arg) -> Option<&str> {
    match &arg.word {
        Word::Exact(text) | Word::Glob { pattern: text, .. } => Some(text),
        _ => None,
    }
}

/// The pattern of `GLOB`, or of `NAME:GLOB` behind `--type-add`.
fn glob_of(value: &Arg) -> String {
    let text = text(value).unwrap_or_default();
    text.rsplit_once(':').map_or(text, |(_, glob)| glob).to_owned()
}

/// Whether a word among these, as a name, a glob or a regular expression, points at a secret; `-e EXT`, too.
pub(super) fn names_a_secret(words: &[Arg]) -> bool {
    let mut extension = false;
    words.iter().filter_map(text).any(|text| {
        let value = text.rsplit_once('=').map_or(text, |(_, value)| value);
        let ends = extension || text.starts_with("-e") && text.len() > 2 || text.starts_with("--extension=");
        let end = if extension { text } else { text.strip_prefix("-e").unwrap_or(value) };
        extension = matches!(text, "-e" | "--extension");
        ends && !secrets(&format!("x.{}", end.trim_start_matches('.'))).is_empty()
            || !text.starts_with('-') && (!secrets(value).is_empty() || !secrets_by_regex(value).is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_point_at_secrets() {
        for glob in [".env", ".env*", "*.pem", "**/.env", "*.{rs,pem}", "id_rsa", ".*", ".?*"] {
            assert!(!secrets(glob).is_empty(), "{glob}");
        }
        for glob in ["*", "*.rs", "!.env", "*.{rs,toml}", "src/**", ".github", "*.env.example"] {
            assert!(secrets(glob).is_empty(), "{glob}: {:?}", secrets(glob));
        }
        for regex in ["env", "env$", "^.env", "a|env", "_rsa$", "(env)"] {
            assert!(spelled_by_regex(regex).is_some(), "{regex}");
        }
        for regex in ["", ".", "environment", "config", "\\.rs$", "^env"] {
            assert!(spelled_by_regex(regex).is_none(), "{regex}");
        }
        for regex in ["^\\.env$", "\\.pem$", "a|\\.env", "id_rsa", "^\\.", "^\\.e"] {
            assert!(!secrets_by_regex(regex).is_empty(), "{regex}");
        }
        for regex in ["", ".", "\\.rs$", "main", "^src", "test_.*\\.py"] {
            assert!(secrets_by_regex(regex).is_empty(), "{regex}: {:?}", secrets_by_regex(regex));
        }
    }
}
