//! One glob pattern, compiled to the cheapest test that decides it.
//!
//! Nearly all patterns in ignore files and `-g` globs are a directory part
//! without wildcards and a simple name (`*.o`, `/build`, `src/**/*_test.rs`):
//! those become byte comparisons. The rest goes, unread, to `globset`, whose
//! regular expression is the definition of what a pattern means; a property
//! test holds the two equal.

use std::sync::OnceLock;

use regex_automata::{meta::Regex, util::syntax};

/// A compiled pattern, matched against a path relative to where it applies.
#[derive(Debug)]
pub(crate) struct Pattern(Shape);

#[derive(Debug)]
enum Shape {
    Fast(Fast),
    AnyOf(Vec<Fast>),
    Slow(Slow),
}

/// A directory test and a name test; both must hold.
#[derive(Debug, PartialEq)]
pub(crate) struct Fast {
    pub dir: Dir,
    pub name: Name,
}

/// What the part of the path before the last slash must be.
#[derive(Debug, PartialEq)]
pub(crate) enum Dir {
    /// `**/name`
    Any,
    /// `/name` (empty) and `a/b/name`
    Exactly(Vec<u8>),
    /// `a/**/name`; kept with its trailing slash
    Under(Vec<u8>),
    /// `**/a/b/name`
    Tail(Vec<u8>),
}

/// What the part after the last slash must be.
#[derive(Debug, PartialEq)]
pub(crate) enum Name {
    All,
    Literal(Vec<u8>),
    Prefix(Vec<u8>),
    Suffix(Vec<u8>),
    Ends(Vec<u8>, Vec<u8>),
    Wild(Vec<Step>),
}

/// One step of a wildcard name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Byte(u8),
    Any,
    Star,
    OneOf(Box<[u64; 4]>),
}

#[derive(Debug)]
struct Slow {
    /// What every matching path starts with.
    prefix: Vec<u8>,
    source: String,
    regex: OnceLock<Option<Regex>>,
}

/// The alternatives a brace expansion may grow to before it is left to
/// `globset`.
const MAX_ALTERNATIVES: usize = 32;

impl Pattern {
    /// Compiles a pattern in which `*` does not cross a slash. `lenient`
    /// takes an unclosed `[` literally, as ignore files do.
    pub fn new(glob: &str, lenient: bool) -> Result<Pattern, String> {
        if let Some(fast) = fast(glob) {
            return Ok(Pattern(Shape::Fast(fast)));
        }
        // The definition also finds what is malformed, so it comes first.
        let parsed = globset::GlobBuilder::new(glob)
            .literal_separator(true)
            .backslash_escape(true)
            .allow_unclosed_class(lenient)
            .build()
            .map_err(|err| err.kind().to_string())?;
        if let Some(all) = expand(glob).and_then(|all| all.iter().map(|g| fast(g)).collect::<Option<Vec<_>>>()) {
            return Ok(Pattern(Shape::AnyOf(all)));
        }
        let prefix = glob.bytes().take_while(|b| !b"*?[]{}\\,!".contains(b)).collect();
        Ok(Pattern(Shape::Slow(Slow { prefix, source: parsed.regex().to_owned(), regex: OnceLock::new() })))
    }

    /// Whether it matches a path; `name_at` is where its last component starts.
    pub fn matches(&self, path: &[u8], name_at: usize) -> bool {
        match &self.0 {
            Shape::Fast(fast) => fast.matches(path, name_at),
            Shape::AnyOf(all) => all.iter().any(|fast| fast.matches(path, name_at)),
            Shape::Slow(slow) => slow.matches(path),
        }
    }

    /// The byte comparison, when it is just one.
    pub fn as_fast(&self) -> Option<&Fast> {
        match &self.0 {
            Shape::Fast(fast) => Some(fast),
            _ => None,
        }
    }

    /// Whether its fixed part, what stands before any wildcard, leads through
    /// this directory. `dir` as for [`Pattern::may_match_below`].
    pub fn leads_through(&self, dir: &[u8]) -> bool {
        match &self.0 {
            Shape::Fast(fast) => fast.dir.leads_through(dir),
            Shape::AnyOf(all) => all.iter().any(|fast| fast.dir.leads_through(dir)),
            Shape::Slow(slow) => slow.prefix.len() > dir.len() && starts_with_dir(&slow.prefix, dir),
        }
    }

    /// Whether a path below this directory could match. `dir` has no slash at
    /// its end and is not empty.
    pub fn may_match_below(&self, dir: &[u8]) -> bool {
        match &self.0 {
            Shape::Fast(fast) => fast.may_match_below(dir),
            Shape::AnyOf(all) => all.iter().any(|fast| fast.may_match_below(dir)),
            Shape::Slow(slow) => {
                let common = dir.len().min(slow.prefix.len());
                dir[..common] == slow.prefix[..common] && (dir.len() >= common || slow.prefix[common] == b'/')
            }
        }
    }
}

impl Fast {
    pub fn matches(&self, path: &[u8], name_at: usize) -> bool {
        self.name.matches(&path[name_at..]) && self.dir.matches(path, name_at)
    }

    fn may_match_below(&self, dir: &[u8]) -> bool {
        match &self.dir {
            Dir::Any | Dir::Tail(_) => true,
            Dir::Exactly(lit) => starts_with_dir(lit, dir),
            Dir::Under(lit) => starts_with_dir(lit, dir) || dir.starts_with(lit),
        }
    }
}

/// Whether a path is, or begins with, a directory.
fn starts_with_dir(path: &[u8], dir: &[u8]) -> bool {
    path.starts_with(dir) && path.get(dir.len()).is_none_or(|b| *b == b'/')
}

impl Dir {
    pub fn matches(&self, path: &[u8], name_at: usize) -> bool {
        match self {
            Dir::Any => true,
            Dir::Exactly(lit) => path[..name_at.saturating_sub(1)] == lit[..],
            Dir::Under(lit) => path[..name_at].starts_with(lit),
            Dir::Tail(lit) => {
                let dir = &path[..name_at.saturating_sub(1)];
                ends_with_parts(dir, lit)
            }
        }
    }

    fn leads_through(&self, dir: &[u8]) -> bool {
        match self {
            Dir::Any => false,
            Dir::Exactly(lit) | Dir::Under(lit) => starts_with_dir(lit, dir),
            // From its first component to any other.
            Dir::Tail(lit) => {
                memchr::memchr_iter(b'/', lit).chain([lit.len()]).any(|to| ends_with_parts(dir, &lit[..to]))
            }
        }
    }
}

/// Whether the last components of a path are these.
fn ends_with_parts(path: &[u8], parts: &[u8]) -> bool {
    path.ends_with(parts) && (path.len() == parts.len() || path[path.len() - parts.len() - 1] == b'/')
}

impl Name {
    pub fn matches(&self, name: &[u8]) -> bool {
        match self {
            Name::All => true,
            Name::Literal(lit) => name == &lit[..],
            Name::Prefix(lit) => name.starts_with(lit),
            Name::Suffix(lit) => name.ends_with(lit),
            Name::Ends(a, b) => name.len() >= a.len() + b.len() && name.starts_with(a) && name.ends_with(b),
            Name::Wild(steps) => wild(steps, name),
        }
    }
}

/// Matches a name with wildcards. One star is enough to come back to: what an
/// earlier star could take, the last one can.
fn wild(steps: &[Step], name: &[u8]) -> bool {
    let (mut s, mut n) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    loop {
        match steps.get(s) {
            Some(Step::Star) => {
                back = Some((s + 1, n));
                s += 1;
                continue;
            }
            Some(step) if n < name.len() && step.takes(name[n]) => {
                s += 1;
                n += 1;
                continue;
            }
            None if n == name.len() => return true,
            _ => {}
        }
        match back {
            Some((after, from)) if from < name.len() => {
                back = Some((after, from + 1));
                s = after;
                n = from + 1;
            }
            _ => return false,
        }
    }
}

impl Step {
    fn takes(&self, byte: u8) -> bool {
        match self {
            Step::Byte(b) => *b == byte,
            Step::Any => true,
            Step::OneOf(set) => set[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1,
            Step::Star => false,
        }
    }
}

impl Slow {
    fn matches(&self, path: &[u8]) -> bool {
        if !path.starts_with(&self.prefix) {
            return false;
        }
        // Compiled when first needed: most slow patterns name a directory that
        // the tree at hand does not have.
        let regex = self.regex.get_or_init(|| {
            Regex::builder()
                .syntax(syntax::Config::new().utf8(false).dot_matches_new_line(true))
                .configure(
                    Regex::config().utf8_empty(false).nfa_size_limit(Some(10 << 20)).hybrid_cache_capacity(10 << 20),
                )
                .build(&self.source)
                .ok()
        });
        regex.as_ref().is_some_and(|r| r.is_match(path))
    }
}

/// A pattern as byte comparisons, or `None` when `globset` must decide.
fn fast(glob: &str) -> Option<Fast> {
    let (any_dir, rest) = match glob.strip_prefix("**/") {
        Some(rest) => (true, rest),
        None => (false, glob),
    };
    let (dir, under, name) = match rest.rfind('/') {
        None => ("", false, rest),
        Some(at) => match rest[..at].strip_suffix("/**") {
            Some(dir) => (dir, true, &rest[at + 1..]),
            None => (&rest[..at], false, &rest[at + 1..]),
        },
    };
    let name = name_test(name)?;
    let has_dir = rest.contains('/');
    if has_dir && (dir.is_empty() || dir.starts_with('/') || dir.ends_with('/') || dir.contains("//")) {
        return None;
    }
    let lit = literal(dir)?;
    let dir = match (any_dir, has_dir, under) {
        (true, false, _) => Dir::Any,
        (true, true, false) => Dir::Tail(lit),
        (true, true, true) => return None,
        (false, _, false) => Dir::Exactly(lit),
        (false, _, true) => Dir::Under([&lit[..], b"/"].concat()),
    };
    Some(Fast { dir, name })
}

/// Directories without any special character, unescaped.
fn literal(dirs: &str) -> Option<Vec<u8>> {
    let dirs: Option<Vec<Vec<u8>>> = dirs.split('/').map(|dir| bytes(&steps(dir)?)).collect();
    dirs.map(|d| d.join(&b'/'))
}

fn bytes(steps: &[Step]) -> Option<Vec<u8>> {
    steps.iter().map(|s| if let Step::Byte(b) = s { Some(*b) } else { None }).collect()
}

fn name_test(text: &str) -> Option<Name> {
    let steps = steps(text)?;
    if steps.is_empty() {
        return None;
    }
    let star = steps.iter().position(|s| *s == Step::Star);
    let simple = match star {
        None => bytes(&steps).map(Name::Literal),
        Some(at) => bytes(&steps[..at]).zip(bytes(&steps[at + 1..])).map(|(a, b)| match (a.is_empty(), b.is_empty()) {
            (true, true) => Name::All,
            (false, true) => Name::Prefix(a),
            (true, false) => Name::Suffix(b),
            (false, false) => Name::Ends(a, b),
        }),
    };
    Some(simple.unwrap_or(Name::Wild(steps)))
}

/// The steps of one component, or `None` for what only `globset` reads right:
/// braces, `**`, negated classes (which match a slash there), classes beyond
/// ASCII, an unclosed class, a dangling escape.
fn steps(text: &str) -> Option<Vec<Step>> {
    let mut out = Vec::new();
    let mut bytes = text.bytes().peekable();
    while let Some(b) = bytes.next() {
        out.push(match b {
            b'{' | b'}' | b'/' => return None,
            b'*' if bytes.peek() == Some(&b'*') => return None,
            b'*' => Step::Star,
            b'?' => Step::Any,
            b'\\' => match bytes.next()? {
                b'/' => return None,
                escaped => Step::Byte(escaped),
            },
            b'[' => Step::OneOf(class(&mut bytes)?),
            b => Step::Byte(b),
        });
    }
    Some(out)
}

fn class(bytes: &mut impl Iterator<Item = u8>) -> Option<Box<[u64; 4]>> {
    let body: Vec<u8> = {
        let mut body = Vec::new();
        loop {
            match bytes.next()? {
                b']' if !body.is_empty() => break body,
                b if !b.is_ascii() || b"]![^\\/".contains(&b) => return None,
                b => body.push(b),
            }
        }
    };
    let mut set = Box::new([0u64; 4]);
    let mut i = 0;
    while i < body.len() {
        let (from, to) =
            if i + 2 < body.len() && body[i + 1] == b'-' { (body[i], body[i + 2]) } else { (body[i], body[i]) };
        // A dash elsewhere, or a range backwards: rare, and not worth knowing.
        if from > to || from == b'-' || to == b'-' || (from < b'/' && b'/' < to) {
            return None;
        }
        for b in from..=to {
            set[usize::from(b >> 6)] |= 1 << (b & 63);
        }
        i += if from == to && !(i + 2 < body.len() && body[i + 1] == b'-') { 1 } else { 3 };
    }
    Some(set)
}

/// The alternatives of a pattern with braces, or `None` where writing them
/// out would change the meaning (empty ones, `**` or escapes near braces).
fn expand(glob: &str) -> Option<Vec<String>> {
    let open = glob.find('{')?;
    if glob.contains('\\') || glob.contains('[') {
        return None;
    }
    let (mut depth, mut start, mut close, mut parts) = (0usize, open + 1, None, Vec::new());
    for (at, b) in glob.bytes().enumerate().skip(open) {
        match b {
            b'{' => depth += 1,
            b',' if depth == 1 => {
                parts.push(&glob[start..at]);
                start = at + 1;
            }
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    parts.push(&glob[start..at]);
                    close = Some(at);
                    break;
                }
            }
            _ => {}
        }
    }
    let (head, tail) = (&glob[..open], &glob[close? + 1..]);
    if parts.iter().any(|p| {
        p.is_empty()
            || p.contains("**")
            || p.starts_with('*') && head.ends_with('*')
            || p.ends_with('*') && tail.starts_with('*')
    }) {
        return None;
    }
    if head.ends_with("**") || tail.starts_with("**") {
        return None;
    }
    let mut all = Vec::new();
    for part in parts {
        let one = format!("{head}{part}{tail}");
        match one.contains('{') {
            true => all.extend(expand(&one)?),
            false => all.push(one),
        }
        if all.len() > MAX_ALTERNATIVES {
            return None;
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(glob: &str, path: &str) -> bool {
        let name_at = path.rfind('/').map_or(0, |i| i + 1);
        Pattern::new(glob, true).expect("a valid glob").matches(path.as_bytes(), name_at)
    }

    #[test]
    fn the_common_patterns_are_byte_comparisons() {
        let name = |glob| match fast(glob) {
            Some(Fast { dir, name }) => format!("{dir:?} {name:?}").replace(' ', ""),
            None => "slow".into(),
        };
        assert_eq!(name("**/*.o"), "AnySuffix([46,111])");
        assert_eq!(name("b"), "Exactly([])Literal([98])");
        assert_eq!(name("a/**/*b"), "Under([97,47])Suffix([98])");
        assert_eq!(name("**/a/b*"), "Tail([97])Prefix([98])");
        for slow in ["**", "a**b", "**/[!a]", "{a,b}", "a/*/b", "**/a/**/b", "a\\", "[a", "//a", "a//b"] {
            assert_eq!(name(slow), "slow", "{slow}");
        }
    }

    #[test]
    fn a_star_may_come_back() {
        assert!(matches("**/*ab*ab?", "x/aababab_"));
        assert!(!matches("**/*ab*ab?", "aabab"));
        assert!(matches("**/*.py[cod]", "a/b.pyo"));
    }

    #[test]
    fn a_prefix_without_wildcards_rules_directories_out() {
        let may = |glob: &str, dir: &str| Pattern::new(glob, false).expect("valid").may_match_below(dir.as_bytes());
        assert!(may("src/**/*_test.rs", "src") && may("src/**/*_test.rs", "src/a"));
        assert!(!may("src/**/*_test.rs", "srcs") && !may("src/**/*_test.rs", "lib"));
        assert!(may("a/b/*.c", "a") && !may("a/b/*.c", "a/bc") && !may("a/b/*.c", "a/b/c"));
        assert!(may("a/b[!c]/*", "a") && !may("a/b[!c]/*", "b") && may("a/b[!c]/*", "a/bd"));
        assert!(may("**/*.c", "anything"));
    }

    #[test]
    fn a_directory_that_the_fixed_part_names_is_told_from_one_that_a_wildcard_may() {
        let through = |glob: &str, dir: &str| Pattern::new(glob, false).expect("valid").leads_through(dir.as_bytes());
        for (glob, dir) in [
            ("a/b/*.c", "a"),
            ("a/b/*.c", "a/b"),
            ("a/**/*.c", "a"),
            ("a/b[!c]/*/x", "a"),
            ("{a,b}/*.c", "b"),
            ("**/a/b/*.c", "x/a"),
            ("**/a/b/*.c", "a/b"),
        ] {
            assert!(through(glob, dir), "{glob} {dir}");
        }
        for (glob, dir) in [
            ("**/*.c", "a"),
            ("a/**/*.c", "a/b"),
            ("a/b/*.c", "ab"),
            ("a/b/*.c", "b"),
            ("a/b/*.c", "a/b/c"),
            ("a*/b/*/c", "a"),
            ("**/a/b/*.c", "xa"),
            ("**/a/b/*.c", "b"),
        ] {
            assert!(!through(glob, dir), "{glob} {dir}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn equals_globset(
            glob in r"(\*\*/)?([ab.*?,!-]|\[a-b.\]|\[!a\]|\{a,b\}|\{\*a,b/\}|\\a|\\\*|/|/\*\*/|\*\*){1,7}(/\*\*)?",
            paths in prop::collection::vec("[ab.,/*é-]{1,7}", 1..12),
        ) {
            let parsed = globset::GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true)
                .allow_unclosed_class(true).build();
            let ours = Pattern::new(&glob, true);
            prop_assert_eq!(parsed.is_ok(), ours.is_ok(), "{}", glob);
            let (Ok(parsed), Ok(ours)) = (parsed, ours) else { return Ok(()) };
            let set = globset::GlobSet::builder().add(parsed).build().expect("a set");
            for path in paths.iter().filter(|p| !p.starts_with('/') && !p.ends_with('/') && !p.contains("//") && !p.split('/').any(|c| c == "." || c == "..")) {
                let name_at = path.rfind('/').map_or(0, |i| i + 1);
                let expected = set.is_match(path);
                prop_assert_eq!(ours.matches(path.as_bytes(), name_at), expected, "{} on {}", glob, path);
                if expected {
                    for (at, _) in path.match_indices('/') {
                        prop_assert!(ours.may_match_below(&path.as_bytes()[..at]), "{} below {}", glob, &path[..at]);
                    }
                }
            }
        }
    }
}
