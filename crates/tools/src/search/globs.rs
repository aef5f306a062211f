//! Globs as callers write them, as the engine takes them: counted from the directory that is searched.

use std::path::Path;

use nika_search::SearchError;

/// A glob with `./` or the searched directory itself before it counts from that directory, as `/x` does where it `has`
/// an `x`. One that leads elsewhere matches nothing, and to say so of files that are there would be no answer: it is an
/// error.
pub(super) fn from_place(glob: &str, place: &Path, has: impl Fn(&str) -> bool) -> Result<String, SearchError> {
    let (not, plain) = match glob.strip_prefix('!') {
        Some(rest) => ("!", rest),
        None => ("", glob),
    };
    let elsewhere =
        |message: &str| Err(SearchError::InvalidGlob { glob: glob.to_owned(), message: message.to_owned() });
    if plain.starts_with("~/") || plain.split('/').any(|part| part == "..") {
        return elsewhere("it leads out of the directory that is searched; give that of the files as `path`");
    }
    if plain.starts_with("./") {
        let rest = plain.trim_start_matches("./").trim_start_matches('/');
        return Ok(format!("{not}/{rest}"));
    }
    if !plain.starts_with('/') {
        return Ok(glob.to_owned());
    }
    let below = |dir: &Path| plain.strip_prefix(dir.to_str()?).filter(|rest| rest.starts_with('/'));
    if let Some(rest) = below(place) {
        return Ok(format!("{not}{rest}"));
    }
    let first = plain.split('/').nth(1).unwrap_or_default();
    if !first.contains(['*', '?', '[', '{', '\\']) && !has(first) {
        return elsewhere("globs count from the directory that is searched, and it has none of this name; give `path`");
    }
    Ok(glob.to_owned())
}

/// Several globs in one text, as models send them: `*.c *.h`, `*.c,*.h`. A name may hold a blank or a comma, too: what
/// could be one is taken for both. Behind a backslash, and inside braces, nothing is parted.
pub(super) fn several(text: &str) -> Vec<String> {
    let (mut globs, mut glob, mut depth, mut escaped) = (Vec::new(), String::new(), 0usize, false);
    for c in text.chars() {
        match c {
            _ if escaped => {}
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ' ' | ',' if depth == 0 => {
                globs.push(std::mem::take(&mut glob));
                continue;
            }
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        glob.push(c);
    }
    globs.push(glob);
    globs.retain(|glob| !glob.is_empty());
    let is_glob = |glob: &String| glob.starts_with('!') || glob.contains(['*', '?', '[', '{']);
    if globs.len() < 2 || globs.iter().all(is_glob) {
        return globs;
    }
    // A file's name with an extension, and nothing that only a glob has.
    if !globs.iter().all(|glob| is_glob(glob) || glob.contains('.')) {
        globs.clear();
    }
    globs.push(text.to_owned());
    globs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_count_from_the_searched_directory() {
        let taken = |glob: &str| from_place(glob, Path::new("/w/repo"), |name| name == "src").ok();
        for (glob, same) in [
            ("src/*.rs", "src/*.rs"),
            ("*.rs", "*.rs"),
            ("/src/*.rs", "/src/*.rs"),
            ("**/*.rs", "**/*.rs"),
            ("./src/*.rs", "/src/*.rs"),
            ("././a", "/a"),
            ("!./src/*.rs", "!/src/*.rs"),
            ("/w/repo/a.md", "/a.md"),
            ("!/w/repo/**/a", "!/**/a"),
            ("a..b/*", "a..b/*"),
        ] {
            assert_eq!(taken(glob).as_deref(), Some(same), "{glob}");
        }
        for glob in ["../*", "a/../b", "~/x", "/w/other/*.rs", "/w/repository/a", "!../x", "/etc/*.conf"] {
            assert_eq!(taken(glob), None, "{glob}");
        }
    }

    #[test]
    fn several_globs_or_one_name() {
        for (text, globs) in [
            ("*.c *.h", &["*.c", "*.h"][..]),
            ("*.c,*.h", &["*.c", "*.h"]),
            ("*.{c,h} !x*", &["*.{c,h}", "!x*"]),
            ("*.{ts,tsx},!*.d.ts", &["*.{ts,tsx}", "!*.d.ts"]),
            ("c d.py", &["c d.py"]),
            ("a,b.txt", &["a,b.txt"]),
            (r"c\ d.py", &[r"c\ d.py"]),
            ("package.json,tsconfig.json", &["package.json", "tsconfig.json", "package.json,tsconfig.json"]),
            ("one.rs", &["one.rs"]),
            ("*.rs  ", &["*.rs"]),
        ] {
            assert_eq!(several(text), globs, "{text}");
        }
    }
}
