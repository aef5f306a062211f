//! Globs as callers write them, as the engine takes them: counted from the directory that is searched.

use std::path::Path;

use nika_search::SearchError;

/// Where globs count from, and where what is searched lies.
pub(super) struct Ground<'a> {
    /// The directory that is searched.
    pub place: &'a Path,
    /// The way to it from where the engine counts globs from, where that is not the same.
    pub way: Option<&'a Path>,
    /// The same way as it was written, where it leads through a link.
    pub written: Option<&'a Path>,
    /// Whether the caller named it, by `path`.
    pub is_named: bool,
}

impl Ground<'_> {
    /// A glob for what is at `below` in the directory that is searched.
    fn at(&self, not: &str, below: &str) -> String {
        let way = self.way.and_then(Path::to_str).unwrap_or_default();
        let mut glob = format!("{not}/");
        for c in way.chars() {
            if "*?[]{}\\".contains(c) {
                glob.push('\\');
            }
            glob.push(c);
        }
        let below = below.trim_start_matches('/');
        if !way.is_empty() {
            glob.push('/');
        }
        glob.push_str(below);
        glob
    }

    /// What would help where a glob begins with a name that the directory does not have.
    fn instead(&self, plain: &str) -> String {
        let parts: Vec<&str> = plain.trim_matches('/').split('/').collect();
        let leading = (1..=parts.len()).map(|count| parts[..count].join("/"));
        match (leading.into_iter().find(|leading| self.place.ends_with(leading)), self.is_named) {
            (Some(leading), true) => format!("leave out `/{leading}`, which `path` says"),
            (Some(leading), false) => format!("leave out `/{leading}`, which is that directory"),
            (None, true) => "give another `path`".to_owned(),
            (None, false) => "give `path`".to_owned(),
        }
    }
}

/// A glob with `./` or the searched directory itself before it counts from that directory, as `/x` does where it `has`
/// an `x`. One that leads elsewhere matches nothing, and to say so of files that are there would be no answer: it is an
/// error.
pub(super) fn from_place(glob: &str, ground: &Ground<'_>, has: impl Fn(&str) -> bool) -> Result<String, SearchError> {
    let (not, plain) = match glob.strip_prefix('!') {
        Some(rest) => ("!", rest),
        None => ("", glob),
    };
    let slashes = plain.len() - plain.trim_start_matches('/').len();
    // Several are one, as in paths.
    let plain = &plain[slashes.saturating_sub(1)..];
    let elsewhere =
        |message: &str| Err(SearchError::InvalidGlob { glob: glob.to_owned(), message: message.to_owned() });
    if plain.starts_with("~/") || plain.split('/').any(|part| part == "..") {
        return elsewhere("it leads out of the directory that is searched; give that of the files as `path`");
    }
    if plain.starts_with("./") {
        return Ok(ground.at(not, plain.trim_start_matches("./")));
    }
    let below = |dir: &Path| plain.strip_prefix(dir.to_str()?).filter(|rest| rest.starts_with('/'));
    let named = if plain.starts_with('/') { Some(ground.place) } else { ground.written };
    if let Some(rest) = named.and_then(below) {
        return Ok(ground.at(not, rest));
    }
    if !plain.starts_with('/') {
        return Ok(glob.to_owned());
    }
    let first = plain.split('/').nth(1).unwrap_or_default();
    if first.is_empty() {
        return elsewhere("it names no file; `**` is all that is below the directory that is searched");
    }
    if first.contains(['*', '?', '[', '{', '\\']) {
        return Ok(format!("{not}{plain}"));
    }
    if has(first) {
        return Ok(ground.at(not, plain));
    }
    let instead = ground.instead(plain);
    elsewhere(&format!("globs count from the directory that is searched, and it has none of this name; {instead}"))
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
        let ground = Ground { place: Path::new("/w/repo"), way: None, written: None, is_named: false };
        let taken = |glob: &str| from_place(glob, &ground, |name| name == "src").ok();
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
            ("//src/*", "/src/*"),
            ("//*.rs", "/*.rs"),
            ("!//w/repo/a", "!/a"),
        ] {
            assert_eq!(taken(glob).as_deref(), Some(same), "{glob}");
        }
        for glob in ["../*", "a/../b", "~/x", "/w/other/*.rs", "/w/repository/a", "!../x", "/etc/*.conf"] {
            assert_eq!(taken(glob), None, "{glob}");
        }
    }

    #[test]
    fn a_glob_that_leads_elsewhere_is_told_what_helps() {
        let said = |place: &str, is_named, glob: &str| {
            let ground = Ground { place: Path::new(place), way: None, written: None, is_named };
            from_place(glob, &ground, |_| false).expect_err(glob).to_string()
        };
        for (place, is_named, glob, want) in [
            ("/w/proj", false, "/proj/src/*", "leave out `/proj`, which is that directory"),
            ("/w/proj/src/sub", true, "/src/sub/b.rs", "leave out `/src/sub`, which `path` says"),
            ("/w/proj/src/sub", true, "/sub/b.rs", "leave out `/sub`, which `path` says"),
            ("/w/proj/src/sub", true, "/lib/b.rs", "give another `path`"),
            ("/w/proj", false, "/etc/*.conf", "give `path`"),
            ("/w/proj", false, "/", "it names no file"),
            ("/w/proj", true, "//", "it names no file"),
        ] {
            let told = said(place, is_named, glob);
            assert!(told.contains(want), "{glob}: {told}");
        }
    }

    #[test]
    fn globs_from_a_directory_below_the_root_lead_there() {
        let [place, way, written] = ["/w/repo/re[al", "re[al", "lnk"].map(Path::new);
        let ground = Ground { place, way: Some(way), written: Some(written), is_named: true };
        let taken = |glob: &str| from_place(glob, &ground, |name| name == "src").ok();
        for (glob, same) in [
            ("./src/*.rs", r"/re\[al/src/*.rs"),
            ("!./*.rs", r"!/re\[al/*.rs"),
            ("/w/repo/re[al/*.rs", r"/re\[al/*.rs"),
            ("/src/*.rs", r"/re\[al/src/*.rs"),
            ("lnk/*.rs", r"/re\[al/*.rs"),
            ("!lnk/a", r"!/re\[al/a"),
            ("*.rs", "*.rs"),
            ("lnk", "lnk"),
            ("lnk2/*.rs", "lnk2/*.rs"),
            ("/*.rs", "/*.rs"),
        ] {
            assert_eq!(taken(glob).as_deref(), Some(same), "{glob}");
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
