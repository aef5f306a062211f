//! Path patterns in gitignore style, with four anchors.
//!
//! | written | means |
//! |---|---|
//! | `name`, `*.rs` | at any depth below a root |
//! | `src/x`, `/x`, `./x` | from the root |
//! | `**/x`, `x/**` | as in `.gitignore` |
//! | `//x` | from the root of the file system |
//! | `~/x` | from the home directory |
//!
//! A pattern that matches a directory holds for everything below it. Letters fold case, as a rule
//! that `.ENV` escapes on one file system protects nobody.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

use crate::effect::Place;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct PathPattern {
    text: String,
    anchor: Anchor,
    matchers: Vec<GlobMatcher>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Anchor {
    Root,
    Home(String),
    FileSystem,
}

/// A pattern that does not compile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{pattern}' is not a path pattern: {why}")]
pub struct PatternError {
    /// As written.
    pub pattern: String,
    /// What is wrong with it.
    pub why: String,
}

impl PathPattern {
    /// Compiles `text`. `home` anchors `~/`; without one such a pattern is an error.
    pub fn new(text: &str, home: Option<&str>) -> Result<PathPattern, PatternError> {
        let refuse = |why: &str| PatternError { pattern: text.to_owned(), why: why.to_owned() };
        if text.trim().is_empty() {
            return Err(refuse("it is empty; use `**` for every path"));
        }
        if text.contains('\0') {
            return Err(refuse("it holds a NUL character"));
        }
        if text.starts_with('!') {
            return Err(refuse("a rule cannot be negated; write a second rule of the other kind"));
        }
        if text.split('/').any(|part| part == "..") {
            return Err(refuse("`..` never matches, as a rule holds for where a path really leads; write that path"));
        }
        let (anchor, body) = match text {
            _ if text.starts_with("//") => (Anchor::FileSystem, text.trim_start_matches('/')),
            _ if text == "~" || text.starts_with("~/") => {
                let home = home.ok_or_else(|| refuse("the home directory is not known here"))?;
                (Anchor::Home(home.trim_end_matches('/').to_owned()), text[1..].trim_start_matches('/'))
            }
            _ => (Anchor::Root, text),
        };
        let floating = anchor == Anchor::Root && !body.trim_end_matches('/').contains('/');
        let parts: Vec<&str> = body.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        let body = match parts.join("/") {
            body if body.is_empty() => "**".to_owned(),
            body if floating => format!("**/{body}"),
            body => body,
        };
        // `x` holds for x and for what is below it; `x/**` holds for what is below x.
        let globs =
            if body == "**" || body.ends_with("/**") { vec![body] } else { vec![body.clone(), format!("{body}/**")] };
        let matchers = globs
            .iter()
            .map(|glob| {
                GlobBuilder::new(glob)
                    .literal_separator(true)
                    .case_insensitive(true)
                    .backslash_escape(true)
                    .build()
                    .map(|glob| glob.compile_matcher())
                    .map_err(|error| refuse(&error.kind().to_string()))
            })
            .collect::<Result<_, _>>()?;
        Ok(PathPattern { text: text.to_owned(), anchor, matchers })
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether `place` itself matches.
    pub fn matches(&self, place: &Place) -> bool {
        match &self.anchor {
            Anchor::Root => match &place.below_root {
                Some(below) => self.hit(below),
                // Only a pattern that floats can mean something outside every root.
                None if self.text.starts_with("**/") || !self.text.trim_end_matches('/').contains('/') => {
                    self.hit(place.path.strip_prefix("/").unwrap_or(&place.path))
                }
                None => false,
            },
            Anchor::Home(home) => place.path.strip_prefix(home).is_ok_and(|below| self.hit(below)),
            Anchor::FileSystem => self.hit(place.path.strip_prefix("/").unwrap_or(&place.path)),
        }
    }

    /// Whether the pattern names places outside the roots on purpose: `//x` and `~/x` do.
    pub fn reaches_outside(&self) -> bool {
        self.anchor != Anchor::Root
    }

    /// The one entry that the pattern names, where it names one by its place in the file system: with all below it, or
    /// (`x/**`) only with that.
    pub(crate) fn entry_outside(&self) -> Option<(PathBuf, Below)> {
        let (from, spelled) = match &self.anchor {
            Anchor::Root => return None,
            Anchor::Home(home) => (home.as_str(), self.text.trim_start_matches('~')),
            Anchor::FileSystem => ("/", self.text.as_str()),
        };
        let spelled = spelled.trim_end_matches('/');
        let (name, below) = match spelled.strip_suffix("/**") {
            Some(name) => (name, Below::Alone),
            None => (spelled, Below::Too),
        };
        let parts = name.split('/').filter(|part| !part.is_empty() && *part != ".");
        let parts: Option<Vec<String>> = parts.map(literal).collect();
        Some((Path::new(from).join(parts?.join("/")), below))
    }

    /// Whether everything below `place` certainly matches.
    pub fn covers_tree(&self, place: &Place) -> bool {
        let mut probe = place.clone();
        // A name no pattern spells: only a pattern that covers all of it matches this.
        let odd = Path::new("\u{1}nika\u{1}/\u{1}nika\u{1}");
        probe.path = probe.path.join(odd);
        probe.below_root = probe.below_root.map(|below| below.join(odd));
        self.matches(&probe)
    }

    /// Whether something in the directory `dir` may match. Said of the words before the first wildcard alone, so that
    /// a yes may be one too many and a no is certain.
    pub fn may_match_in(&self, dir: &Place) -> bool {
        let text = self.text.as_str();
        let (from, spelled) = match &self.anchor {
            // What lies in a root is below it, and so is what the pattern names.
            Anchor::Root => return dir.below_root.is_some() || self.matches(dir) || !text.contains('/'),
            Anchor::Home(home) => (home.as_str(), text.trim_start_matches('~')),
            Anchor::FileSystem => ("/", text),
        };
        let literal = |part: &&str| !part.contains(['*', '?', '[', '{', '\\']);
        let parts = spelled.split('/').filter(|part| !part.is_empty() && *part != ".").take_while(literal);
        let start: Vec<String> =
            from.split('/').filter(|part| !part.is_empty()).chain(parts).map(str::to_lowercase).collect();
        let dir = dir.path.to_string_lossy().to_lowercase();
        let mut dir = dir.split('/').filter(|part| !part.is_empty());
        start.iter().all(|part| dir.next().is_none_or(|other| other == part))
    }

    fn hit(&self, path: &Path) -> bool {
        self.matchers.iter().any(|matcher| matcher.is_match(path))
    }
}

/// Whether a pattern speaks of an entry and what is below it, or of that alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Below {
    Too,
    Alone,
}

/// A part of a pattern that stands for one name.
fn literal(part: &str) -> Option<String> {
    let (mut name, mut chars) = (String::new(), part.chars());
    if part == ".." {
        return None;
    }
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' | '[' | '{' => return None,
            '\\' => name.push(chars.next()?),
            c => name.push(c),
        }
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(pattern: &str, path: &str) -> bool {
        let pattern = PathPattern::new(pattern, Some("/home/dev")).expect("compiles");
        let place = match path.strip_prefix("/repo/") {
            Some(below) => Place::inside("/repo", below),
            None => Place::outside(path),
        };
        pattern.matches(&place)
    }

    #[test]
    fn patterns_read_as_in_gitignore() {
        for (pattern, path, want) in [
            ("**/.env", "/repo/.env", true),
            ("**/.env", "/repo/a/b/.env", true),
            (".env", "/repo/a/b/.env", true),
            (".env", "/repo/a/.environment", false),
            ("*.pem", "/repo/a/K.PEM", true),
            (".github/**", "/repo/.github/workflows/ci.yml", true),
            (".github/**", "/repo/sub/.github/x", false),
            ("/src", "/repo/src/a.rs", true),
            ("./src", "/repo/src/a.rs", true),
            ("/src", "/repo/lib/src/a.rs", false),
            ("src/", "/repo/lib/src/a.rs", true),
            ("src/./deep//a.rs", "/repo/src/deep/a.rs", true),
            ("a..b/c", "/repo/a..b/c", true),
            ("src/*.rs", "/repo/src/a.rs", true),
            ("src/*.rs", "/repo/src/deep/a.rs", false),
            ("src/**/*.rs", "/repo/src/deep/a.rs", true),
            ("~/.ssh/**", "/home/dev/.ssh/id_rsa", true),
            ("~/.ssh", "/home/devil/.ssh/id_rsa", false),
            ("//etc/passwd", "/etc/passwd", true),
            ("//etc", "/etc/ssl/x", true),
            ("//etc", "/repo/etc/x", false),
            ("etc/passwd", "/etc/passwd", false),
            ("**", "/repo/x", true),
            (".", "/repo/a/x", true),
            ("{a,b}/x", "/repo/b/x", true),
            ("[ab].c", "/repo/q/a.c", true),
        ] {
            assert_eq!(hits(pattern, path), want, "{pattern} on {path}");
        }
    }

    #[test]
    fn a_bad_pattern_is_an_error_that_says_why() {
        for pattern in ["", "  ", "!x", "a[", "{a", "a\0b", "..", "../x", "a/../b", "//a/..", "./../x"] {
            assert!(PathPattern::new(pattern, None).is_err(), "{pattern:?}");
        }
        assert!(PathPattern::new("~/x", None).is_err());
    }

    #[test]
    fn what_may_match_in_a_directory_is_told_by_the_start_of_a_pattern() {
        for (pattern, root, want) in [
            ("docs/**", "/repo", true),
            ("*.lock", "/repo", true),
            ("//repo/docs/**", "/repo", true),
            ("//Repo/docs", "/repo", true),
            ("//**/x", "/repo", true),
            ("//r*/x", "/repo", true),
            ("//etc/**", "/repo", false),
            ("//repository/x", "/repo", false),
            ("~/.ssh/**", "/repo", false),
            ("~/.ssh/**", "/home/dev/repo", false),
            ("~/repo/docs", "/home/dev/repo", true),
            ("~/**", "/home/dev/repo", true),
            ("~/.ssh/**", "/home", true),
        ] {
            let compiled = PathPattern::new(pattern, Some("/home/dev")).expect("compiles");
            assert_eq!(compiled.may_match_in(&Place::inside(root, "").tree()), want, "{pattern} in {root}");
        }
    }

    #[test]
    fn a_pattern_may_name_one_entry_by_its_place() {
        for (pattern, want) in [
            ("~/private", Some(("/home/dev/private", Below::Too))),
            ("~/private/", Some(("/home/dev/private", Below::Too))),
            ("~/private/**", Some(("/home/dev/private", Below::Alone))),
            ("//srv/a\\*b/c", Some(("/srv/a*b/c", Below::Too))),
            ("~/**", Some(("/home/dev", Below::Alone))),
            ("//**", Some(("/", Below::Alone))),
            ("~/*.txt", None),
            ("//srv/{a,b}", None),
            ("//srv/**/x", None),
            ("private/**", None),
            ("*.pem", None),
        ] {
            let compiled = PathPattern::new(pattern, Some("/home/dev")).expect("compiles");
            let want = want.map(|(path, below)| (PathBuf::from(path), below));
            assert_eq!(compiled.entry_outside(), want, "{pattern}");
        }
    }

    #[test]
    fn only_a_total_pattern_covers_a_tree() {
        let src = Place::inside("/repo", "src").tree();
        for (pattern, want) in [("src", true), ("src/**", true), ("**", true), ("src/*.rs", false), ("**/x", false)] {
            let pattern = PathPattern::new(pattern, None).expect("compiles");
            assert_eq!(pattern.covers_tree(&src), want, "{}", pattern.text());
        }
    }
}
