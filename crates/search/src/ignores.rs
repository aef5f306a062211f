//! Ignore files: what one says, and who wins when several speak.
//!
//! Within a file the last rule that matches wins; among files `.rgignore`
//! beats `.ignore` beats `.gitignore` beats `.git/info/exclude` beats the
//! person's own; within one sort the nearest directory wins. Git's files
//! count only inside a repository, and not above its top. Nothing here opens
//! a file.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::order::path_order;
use crate::pattern::{Name, Pattern};
use crate::record::RuleCount;

/// The sorts of ignore file, strongest first.
pub(crate) const SORTS: usize = 4;
pub(crate) const RGIGNORE: usize = 0;
pub(crate) const IGNORE: usize = 1;
pub(crate) const GITIGNORE: usize = 2;
pub(crate) const EXCLUDE: usize = 3;

/// What ignore files say of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Nothing,
    Ignore,
    Keep,
}

/// One line of an ignore file or one `-g` glob, which is the same language.
#[derive(Debug)]
pub(crate) struct Rule {
    pub pattern: Pattern,
    pub negated: bool,
    pub only_dirs: bool,
    pub line: u64,
    pub text: String,
    /// How many entries it left out, for the record.
    pub hits: AtomicU64,
}

impl Rule {
    /// Reads one line. `Ok(None)` for a blank line or a comment.
    pub fn parse(line: &str, number: u64, lenient: bool) -> Result<Option<Rule>, String> {
        if line.starts_with('#') {
            return Ok(None);
        }
        let text = if line.ends_with("\\ ") { line } else { line.trim_end() };
        if text.is_empty() {
            return Ok(None);
        }
        let (mut rest, mut negated, mut anchored) = (text, false, false);
        if rest.starts_with("\\!") || rest.starts_with("\\#") {
            rest = &rest[1..];
        } else {
            if let Some(after) = rest.strip_prefix('!') {
                (rest, negated) = (after, true);
            }
            if let Some(after) = rest.strip_prefix('/') {
                (rest, anchored) = (after, true);
            }
        }
        let only_dirs = rest.ends_with('/');
        if only_dirs {
            rest = &rest[..rest.len() - 1];
            rest = rest.strip_suffix('\\').unwrap_or(rest);
        }
        let mut glob = rest.to_owned();
        if !anchored && !rest.contains('/') && rest != "**" {
            glob.insert_str(0, "**/");
        }
        if glob.ends_with("/**") {
            glob.push_str("/*");
        }
        let pattern = Pattern::new(&glob, lenient)?;
        Ok(Some(Rule { pattern, negated, only_dirs, line: number, text: text.to_owned(), hits: AtomicU64::new(0) }))
    }
}

/// One ignore file, compiled.
#[derive(Debug)]
pub(crate) struct IgnoreFile {
    /// Where it is, for the record.
    path: PathBuf,
    rules: Vec<Rule>,
    index: Option<Index>,
}

/// Rules by what a name must be, so that a long file costs a few lookups.
#[derive(Debug, Default)]
struct Index {
    /// Rules for one exact name.
    names: ByName<Vec<u32>>,
    /// Rules for a suffix, by what follows its last dot.
    suffixes: ByName<Vec<u32>>,
    /// All other rules, last first.
    others: Vec<u32>,
}

/// A map by names. The standard hasher costs more than the lookup is worth;
/// what somebody could gain by names that collide is a slower walk of their
/// own tree.
type ByName<V> = HashMap<Vec<u8>, V, BuildHasherDefault<NameHasher>>;

#[derive(Default)]
struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

/// From how many rules an index is quicker than asking each.
const INDEX_FROM: usize = 8;

impl IgnoreFile {
    /// Compiles a file's text. A malformed rule is skipped, and what follows
    /// a line that is not UTF-8 is not read: both as ripgrep does.
    pub fn new(path: PathBuf, text: &[u8]) -> IgnoreFile {
        let mut rules = Vec::new();
        for (i, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
            let line = line.strip_suffix(b"\n").map_or(line, |l| l.strip_suffix(b"\r").unwrap_or(l));
            let Ok(mut line) = std::str::from_utf8(line) else { break };
            if i == 0 {
                line = line.trim_start_matches('\u{feff}');
            }
            if let Ok(Some(rule)) = Rule::parse(line, i as u64 + 1, true) {
                rules.push(rule);
            }
        }
        let index = (rules.len() >= INDEX_FROM).then(|| Index::new(&rules));
        IgnoreFile { path, rules, index }
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// What it says of a path relative to its directory.
    pub fn says(&self, path: &[u8], name_at: usize, is_dir: bool) -> Said {
        let last = match &self.index {
            Some(index) => index.last(&self.rules, path, name_at, is_dir),
            None => self.rules.iter().rposition(|r| (is_dir || !r.only_dirs) && r.pattern.matches(path, name_at)),
        };
        match last.map(|i| &self.rules[i]) {
            None => Said::Nothing,
            Some(rule) if rule.negated => Said::Keep,
            Some(rule) => {
                rule.hits.fetch_add(1, Ordering::Relaxed);
                Said::Ignore
            }
        }
    }

    /// The rules that left something out.
    pub fn counts(&self) -> impl Iterator<Item = RuleCount> + '_ {
        self.rules.iter().filter_map(|r| {
            let entries = r.hits.load(Ordering::Relaxed);
            let (file, pattern) = (self.path.clone(), r.text.clone());
            (entries > 0).then_some(RuleCount { file, line: r.line, pattern, entries })
        })
    }

    pub fn path(&self) -> &PathBuf {
        &self.path
    }
}

impl Index {
    fn new(rules: &[Rule]) -> Index {
        let mut index = Index::default();
        for (i, rule) in rules.iter().enumerate().rev() {
            let i = i as u32;
            match rule.pattern.as_fast().map(|f| &f.name) {
                Some(Name::Literal(lit)) => index.names.entry(lit.clone()).or_default().push(i),
                Some(Name::Suffix(lit)) if lit.contains(&b'.') => {
                    index.suffixes.entry(extension(lit).to_vec()).or_default().push(i);
                }
                _ => index.others.push(i),
            }
        }
        index
    }

    /// The last rule that matches.
    fn last(&self, rules: &[Rule], path: &[u8], name_at: usize, is_dir: bool) -> Option<usize> {
        let name = &path[name_at..];
        let holds = |i: &u32| {
            let rule = &rules[*i as usize];
            (is_dir || !rule.only_dirs) && rule.pattern.matches(path, name_at)
        };
        let mut best = None;
        for list in [self.names.get(name), self.suffixes.get(extension(name))].into_iter().flatten() {
            best = best.max(list.iter().find(|i| holds(i)).copied());
        }
        let other = self.others.iter().take_while(|i| best.is_none_or(|b| **i > b)).find(|i| holds(i));
        best.max(other.copied()).map(|i| i as usize)
    }
}

/// What follows the last dot, or nothing.
fn extension(name: &[u8]) -> &[u8] {
    memchr::memrchr(b'.', name).map_or(&[], |at| &name[at + 1..])
}

/// The ignore files that apply in one directory: its own, and through its
/// parent those above.
#[derive(Debug, Default)]
pub(crate) struct Node {
    parent: Option<Arc<Node>>,
    /// How many bytes of a walked path lead to this directory, slash included.
    strip: usize,
    files: [Option<Arc<IgnoreFile>>; SORTS],
    is_repository: bool,
    /// Whether this or a directory above is a repository.
    in_repository: bool,
    /// Which sorts this or a directory above has.
    has: [bool; SORTS],
    /// The person's own rules, on every node.
    global: Option<Arc<IgnoreFile>>,
}

impl Node {
    /// The outermost node, which has only the person's own rules.
    pub fn outermost(global: Option<Arc<IgnoreFile>>) -> Node {
        Node { global, ..Node::default() }
    }

    /// The node of a directory below, or the same where it adds nothing.
    pub fn child(
        self: &Arc<Node>,
        strip: usize,
        files: [Option<Arc<IgnoreFile>>; SORTS],
        is_repository: bool,
    ) -> Arc<Node> {
        if !is_repository && files.iter().all(Option::is_none) {
            return self.clone();
        }
        let has = std::array::from_fn(|sort| self.has[sort] || files[sort].is_some());
        Arc::new(Node {
            parent: Some(self.clone()),
            strip,
            files,
            is_repository,
            in_repository: self.in_repository || is_repository,
            has,
            global: self.global.clone(),
        })
    }

    /// What the rules say of an entry. `global_from` is how many bytes of the
    /// path lead to the root, which the person's own rules are relative to.
    pub fn says(&self, path: &[u8], name_at: usize, is_dir: bool, global_from: usize) -> Said {
        for sort in [RGIGNORE, IGNORE] {
            let said = self.nearest(sort, false, path, name_at, is_dir);
            if said != Said::Nothing {
                return said;
            }
        }
        if !self.in_repository {
            return Said::Nothing;
        }
        for sort in [GITIGNORE, EXCLUDE] {
            let said = self.nearest(sort, true, path, name_at, is_dir);
            if said != Said::Nothing {
                return said;
            }
        }
        match &self.global {
            Some(file) => file.says(&path[global_from..], name_at - global_from, is_dir),
            None => Said::Nothing,
        }
    }

    fn nearest(&self, sort: usize, to_repository: bool, path: &[u8], name_at: usize, is_dir: bool) -> Said {
        if !self.has[sort] {
            return Said::Nothing;
        }
        let mut at = Some(self);
        while let Some(node) = at {
            if let Some(file) = &node.files[sort] {
                let said = file.says(&path[node.strip..], name_at - node.strip, is_dir);
                if said != Said::Nothing {
                    return said;
                }
            }
            if to_repository && node.is_repository {
                break;
            }
            at = node.parent.as_deref();
        }
        Said::Nothing
    }
}

/// Sorts files so that a record is the same each time.
pub(crate) fn by_path(files: &mut [Arc<IgnoreFile>]) {
    use std::os::unix::ffi::OsStrExt;
    files.sort_by(|a, b| path_order(a.path().as_os_str().as_bytes(), b.path().as_os_str().as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(text: &str) -> IgnoreFile {
        IgnoreFile::new(".gitignore".into(), text.as_bytes())
    }

    fn says(file: &IgnoreFile, path: &str, is_dir: bool) -> Said {
        file.says(path.as_bytes(), path.rfind('/').map_or(0, |i| i + 1), is_dir)
    }

    #[test]
    fn the_last_rule_wins() {
        let f = file("*.o\n!keep.o\n");
        assert_eq!(says(&f, "a/x.o", false), Said::Ignore);
        assert_eq!(says(&f, "a/keep.o", false), Said::Keep);
        assert_eq!(f.counts().map(|c| (c.line, c.entries)).collect::<Vec<_>>(), [(1, 1)]);
    }

    #[test]
    fn git_rules_stop_at_the_top_of_a_repository() {
        let top = Arc::new(Node::outermost(None));
        let gitignore = |text: &str| {
            let mut files: [Option<Arc<IgnoreFile>>; SORTS] = Default::default();
            files[GITIGNORE] = Some(Arc::new(file(text)));
            files
        };
        let outer = top.child(0, gitignore("*.o\n"), true);
        let inner = outer.child(4, gitignore("*.a\n"), true);
        assert_eq!(outer.says(b"x.o", 0, false, 0), Said::Ignore);
        assert_eq!(inner.says(b"sub/x.o", 4, false, 0), Said::Nothing);
        assert_eq!(inner.says(b"sub/x.a", 4, false, 0), Said::Ignore);
        let no_repository = top.child(0, gitignore("*.o\n"), false);
        assert_eq!(no_repository.says(b"x.o", 0, false, 0), Said::Nothing);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn a_file_says_what_the_ignore_crate_says(
            lines in prop::collection::vec(r"(!|\\!|#|\\#)?/?(\*\*/)?([abc.*?]|\[a-c\]|\[!a\]|\\a|/|\{a,b\}|\.c|\*\*){1,5}(/|/\*\*|\\ | )?", 0..14),
            paths in prop::collection::vec(("[abc.!#]{1,3}(/[abc. ]{1,3}){0,3}", any::<bool>()), 1..14),
        ) {
            let ours = file(&lines.join("\n"));
            let mut builder = ignore::gitignore::GitignoreBuilder::new("");
            for line in &lines {
                let _ = builder.add_line(None, line);
            }
            let theirs = builder.build().expect("a matcher");
            for (path, is_dir) in paths {
                if path.split('/').any(|c| c == "." || c == "..") { continue }
                let expected = match theirs.matched(&path, is_dir) {
                    ignore::Match::None => Said::Nothing,
                    ignore::Match::Ignore(_) => Said::Ignore,
                    ignore::Match::Whitelist(_) => Said::Keep,
                };
                prop_assert_eq!(says(&ours, &path, is_dir), expected, "{:?} on {}", lines, path);
            }
        }
    }
}
