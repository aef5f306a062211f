//! What a caller asks for by name: globs and a file type.

use crate::error::SearchError;
use crate::ignores::Rule;
use crate::pattern::Pattern;

/// What the parameters say of an entry, before any ignore file is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Named by a glob, which overrides ignore files and hiddenness.
    Surely,
    /// Of the type asked for, which overrides hiddenness but no ignore file.
    EvenHidden,
    /// Nothing against it.
    Perhaps,
    /// Left out.
    No,
}

/// Compiled globs and type.
#[derive(Debug, Default)]
pub(crate) struct Select {
    globs: Vec<Rule>,
    any_include: bool,
    /// The patterns of a file type, on names alone.
    types: Option<Vec<Pattern>>,
    /// A glob only selects: it lifts no ignore rule and shows nothing hidden.
    only_select: bool,
}

impl Select {
    pub fn new(globs: &[String], types: &[String], only_select: bool) -> Result<Select, SearchError> {
        let mut rules = Vec::new();
        for glob in globs {
            match Rule::parse(glob, 0, false) {
                Ok(rule) => rules.extend(rule),
                Err(message) => return Err(SearchError::InvalidGlob { glob: glob.clone(), message }),
            }
        }
        let any_include = rules.iter().any(|r| !r.negated);
        let types = if types.is_empty() { None } else { Some(type_patterns(types)?) };
        Ok(Select { globs: rules, any_include, types, only_select })
    }

    /// `path` is relative to where globs apply; its name starts at `name_at`.
    pub fn wants(&self, path: &[u8], name_at: usize, is_dir: bool) -> Wanted {
        if !self.globs.is_empty() {
            let last = self.globs.iter().rfind(|r| (is_dir || !r.only_dirs) && r.pattern.matches(path, name_at));
            match last {
                Some(rule) if rule.negated => return Wanted::No,
                Some(_) if !self.only_select => return Wanted::Surely,
                Some(_) => {}
                None if self.any_include && !is_dir => return Wanted::No,
                None => {}
            }
        }
        match &self.types {
            Some(types) if !is_dir => match types.iter().any(|p| p.matches(&path[name_at..], 0)) {
                true if !self.only_select => Wanted::EvenHidden,
                true => Wanted::Perhaps,
                false => Wanted::No,
            },
            _ => Wanted::Perhaps,
        }
    }

    /// The same for a link, which may lead to a file or to a directory: it is
    /// left out only if nothing that it may lead to is wanted.
    pub fn wants_link(&self, path: &[u8], name_at: usize) -> Wanted {
        match self.wants(path, name_at, false) {
            Wanted::No if self.may_want_below(path) => self.wants(path, name_at, true),
            wanted => wanted,
        }
    }

    /// Whether a glob's fixed part names a directory, so that what is asked
    /// for lies below it.
    pub fn leads_through(&self, dir: &[u8]) -> bool {
        self.globs.iter().any(|r| !r.negated && r.pattern.leads_through(dir))
    }

    /// Whether anything below a directory can be wanted.
    pub fn may_want_below(&self, dir: &[u8]) -> bool {
        !self.any_include || self.globs.iter().any(|r| !r.negated && r.pattern.may_match_below(dir))
    }
}

fn type_patterns(names: &[String]) -> Result<Vec<Pattern>, SearchError> {
    let definitions = ignore::types::TypesBuilder::new().add_defaults().definitions();
    let mut patterns = Vec::new();
    for name in names {
        let mut found = false;
        for def in definitions.iter().filter(|d| d.name() == name || name == "all") {
            found = true;
            // They are matched on the file name alone, so anchoring is free.
            patterns.extend(def.globs().iter().filter_map(|g| Pattern::new(g, false).ok()));
        }
        if !found {
            let near = nearest(name, definitions.iter().map(|d| d.name()));
            return Err(SearchError::UnknownType { name: name.clone(), near });
        }
    }
    Ok(patterns)
}

/// What people write for a type that goes by another name.
const ALIASES: &[(&str, &str)] = &[
    ("javascript", "js"),
    ("jsx", "js"),
    ("tsx", "ts"),
    ("rs", "rust"),
    ("golang", "go"),
    ("c++", "cpp"),
    ("yml", "yaml"),
    ("rb", "ruby"),
    ("kt", "kotlin"),
    ("cs", "csharp"),
    ("shell", "sh"),
    ("bash", "sh"),
    ("text", "txt"),
    ("hs", "haskell"),
];

/// The names most like one that is none, likeliest first.
fn nearest<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let lower = name.to_lowercase();
    let alias = ALIASES.iter().find(|a| a.0 == lower).map(|a| a.1);
    let mut scored: Vec<(usize, &str)> = all
        .map(|n| match n {
            _ if Some(n) == alias => (0, n),
            _ if n == lower => (0, n),
            _ if n.starts_with(&lower) || lower.starts_with(n) && n.len() > 1 => (1, n),
            _ => (distance(&lower, n), n),
        })
        .filter(|s| s.0 <= 2)
        .collect();
    scored.sort();
    scored.into_iter().take(5).map(|s| s.1.to_owned()).collect()
}

/// Levenshtein's distance, in bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(globs: &[&str], types: &[&str]) -> Result<Select, SearchError> {
        let own = |all: &[&str]| all.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        Select::new(&own(globs), &own(types), false)
    }

    #[test]
    fn an_include_leaves_other_files_out_but_no_directory() {
        let s = select(&["*.rs", "!x.rs"], &[]).expect("valid");
        assert_eq!(s.wants(b"src/a.rs", 4, false), Wanted::Surely);
        assert_eq!(s.wants(b"src/x.rs", 4, false), Wanted::No);
        assert_eq!(s.wants(b"src/a.c", 4, false), Wanted::No);
        assert_eq!(s.wants(b"src", 0, true), Wanted::Perhaps);
    }

    #[test]
    fn a_link_is_wanted_unless_neither_a_file_nor_a_directory_of_its_name_is() {
        let wants = |globs: &[&str], types: &[&str], link: &[u8]| {
            let select = select(globs, types).expect("valid");
            (select.wants_link(link, 0) != Wanted::No, select.leads_through(link))
        };
        assert_eq!(wants(&["lnk/*.rs"], &[], b"lnk"), (true, true));
        assert_eq!(wants(&["lnk/*.rs"], &[], b"other"), (false, false));
        assert_eq!(wants(&["*.rs"], &[], b"lnk"), (true, false));
        assert_eq!(wants(&["*.rs", "!lnk"], &[], b"lnk"), (false, false));
        assert_eq!(wants(&["/lnk"], &[], b"lnk"), (true, false));
        assert_eq!(wants(&[], &["rust"], b"lnk"), (true, false));
    }

    #[test]
    fn an_unknown_type_names_its_neighbours() {
        let near = |name: &str| match select(&[], &[name]) {
            Err(SearchError::UnknownType { near, .. }) => near,
            other => panic!("{other:?}"),
        };
        assert_eq!(near("rs").first().map(String::as_str), Some("rust"));
        assert_eq!(near("javascript").first().map(String::as_str), Some("js"));
        assert!(near("pyhton").contains(&"python".to_owned()));
        assert!(near("qqqqqqqq").is_empty());
    }

    #[test]
    fn a_malformed_glob_is_named() {
        assert!(matches!(select(&["a[b"], &[]), Err(SearchError::InvalidGlob { glob, .. }) if glob == "a[b"));
    }
}
