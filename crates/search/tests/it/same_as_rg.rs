//! About a thousand generated searches give what ripgrep gives.

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nika_search::{GlobQuery, GrepQuery, Mode, Scope, glob, grep};

use super::oracle;
use super::render::{render, tidy};
use super::tree::{Dice, plant};

const TREES: u64 = 24;
const SEARCHES: usize = 42;

const PATTERNS: &[&str] = &[
    "foo",
    "foo_bar",
    "struct",
    "return",
    "kmalloc_rare",
    "foo|bar|struct",
    r"\bfoo\w+",
    r"\w+_foo\w+",
    r"\w+_bar",
    r"[a-z]{3}\d{4}",
    "",
    "^$",
    "^",
    "$",
    "^foo",
    "foo$",
    "zzz",
    "zzqqxx",
    "é",
    "été",
    r"\s+$",
    "[^a]",
    "(?i)foo",
    r"\w\w\w",
    ".",
    ".*",
    "x;$",
    r"\Afoo",
    r"foo\z",
    "(foo|bar) ",
    "z{50}",
    r"\bk\b",
    "a\\b",
    "f.o",
    r"\p{Lu}",
    r"(?-u:\xff)",
];

const MULTILINE: &[&str] = &[
    r"foo\n",
    r"foo.*bar",
    r"\}\s*\n\s*foo",
    r"(?s)struct.{0,40}foo",
    r"foo\s+bar",
    "^$",
    r"a\n*b",
    "foo",
    r"\n\n",
    r"\Afoo",
];

/// The `rg` to compare with, if there is one: `NIKA_TEST_RG`, else on the path.
fn ripgrep() -> Option<PathBuf> {
    let given = std::env::var_os("NIKA_TEST_RG").map(PathBuf::from);
    let rg = given.unwrap_or_else(|| PathBuf::from("rg"));
    let version = Command::new(&rg).arg("--version").stdin(Stdio::null()).output().ok()?;
    version.stdout.starts_with(b"ripgrep 15.").then_some(rg)
}

/// One search, for both.
#[derive(Debug)]
struct Search {
    query: GrepQuery,
    base: PathBuf,
    named: bool,
    hidden: bool,
    no_ignore: bool,
}

fn roll(dice: &mut Dice, bases: &[PathBuf], files: &[PathBuf]) -> Search {
    let multiline = dice.one_in(5);
    let mut query = GrepQuery::new(dice.pick(if multiline { MULTILINE } else { PATTERNS }));
    query.multiline = multiline;
    query.literal = dice.one_in(6) && !multiline;
    query.ignore_case = dice.one_in(4);
    query.mode = [Mode::Files, Mode::Count, Mode::Content, Mode::Content][dice.below(4)];
    if query.mode == Mode::Content && dice.one_in(2) {
        (query.before, query.after) = (dice.below(4), dice.below(4));
    }
    query.line_numbers = !dice.one_in(4);
    let globs = [
        "*.rs",
        "!*.rs",
        "*.{c,md}",
        "src/**",
        "**/a.rs",
        "!build/",
        "*.[cr]*",
        "/a.rs",
        "!.hidden",
        "foo",
        "deep",
        "a/**/*.rs",
        ".*",
    ];
    for _ in 0..[0, 0, 0, 1, 2][dice.below(5)] {
        query.globs.push(dice.pick(&globs).to_owned());
    }
    if dice.one_in(6) {
        query.types.push(dice.pick(&["rust", "c", "py", "md", "make"]).to_owned());
    }
    let named = dice.one_in(8) && !files.is_empty();
    let base = match named {
        true => files[dice.below(files.len())].clone(),
        false if dice.one_in(3) => bases[dice.below(bases.len())].clone(),
        false => PathBuf::new(),
    };
    Search { query, base, named, hidden: dice.one_in(3), no_ignore: dice.one_in(4) }
}

fn rg_flags(rg: &mut Command, root: &Path, hidden: bool, no_ignore: bool, globs: &[String], types: &[String]) {
    rg.current_dir(root)
        .stdin(Stdio::null())
        .env_remove("RIPGREP_CONFIG_PATH")
        .env("HOME", "/nowhere")
        .env("XDG_CONFIG_HOME", "/nowhere")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    rg.args(["--no-config", "--null", "--sort", "path", "--no-messages"]);
    for (on, flag) in [(hidden, "--hidden"), (no_ignore, "--no-ignore")] {
        rg.args(on.then_some(flag));
    }
    rg.args(globs.iter().flat_map(|g| ["-g", g])).args(types.iter().flat_map(|t| ["-t", t]));
}

fn ask_rg(rg: &Path, root: &Path, search: &Search) -> Vec<u8> {
    let (q, mut rg) = (&search.query, Command::new(rg));
    rg_flags(&mut rg, root, search.hidden, search.no_ignore, &q.globs, &q.types);
    rg.args(["--no-heading", "-H", "--color", "never"]);
    for (on, flag) in
        [(q.literal, "-F"), (q.ignore_case, "-i"), (q.multiline, "-U"), (q.multiline, "--multiline-dotall")]
    {
        rg.args(on.then_some(flag));
    }
    match q.mode {
        Mode::Files => rg.arg("-l"),
        Mode::Count => rg.arg("-c"),
        Mode::Content => {
            rg.args(["-B", &q.before.to_string(), "-A", &q.after.to_string(), if q.line_numbers { "-n" } else { "-N" }])
        }
    };
    rg.arg("-e").arg(&q.pattern);
    if !search.base.as_os_str().is_empty() {
        rg.arg("--").arg(&search.base);
    }
    rg.output().expect("rg runs").stdout
}

fn ask_rg_files(rg: &Path, root: &Path, pattern: &str, hidden: bool, no_ignore: bool) -> Vec<PathBuf> {
    let mut rg = Command::new(rg);
    rg_flags(&mut rg, root, hidden, no_ignore, &[pattern.to_owned()], &[]);
    let out = rg.arg("--files").output().expect("rg runs").stdout;
    out.split(|b| *b == 0).filter(|p| !p.is_empty()).map(|p| PathBuf::from(std::ffi::OsStr::from_bytes(p))).collect()
}

fn subdirectories(root: &Path, below: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(root.join(below)).expect("a directory").flatten() {
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            all.push(below.join(entry.file_name()));
            subdirectories(root, &below.join(entry.file_name()), all);
        }
    }
}

/// Both from a little before where they part.
fn part(ours: &[u8], theirs: &[u8]) -> String {
    let at = ours.iter().zip(theirs).position(|(a, b)| a != b).unwrap_or(ours.len().min(theirs.len()));
    let near =
        |all: &[u8]| String::from_utf8_lossy(&all[at.saturating_sub(150)..all.len().min(at + 150)]).replace('\0', "|");
    format!("they part at byte {at}\n--- ours\n{}\n--- theirs\n{}\n", near(ours), near(theirs))
}

#[test]
fn a_thousand_generated_searches_equal_ripgreps() {
    let rg = ripgrep();
    let halves = std::thread::scope(|s| {
        let other = s.spawn(|| compare((2..=TREES).step_by(2), rg.as_deref()));
        [compare((1..=TREES).step_by(2), rg.as_deref()), other.join().expect("no search differs")]
    });
    let (searches, found_some) = (halves[0].0 + halves[1].0, halves[0].1 + halves[1].1);
    // Searches that find nothing prove little.
    assert!(searches >= 1000 && found_some * 3 > searches, "{found_some} of {searches} found something");
}

/// Compares on some trees; how many searches, and how many found something.
fn compare(seeds: impl Iterator<Item = u64>, rg: Option<&Path>) -> (usize, usize) {
    let (mut found_some, mut searches) = (0, 0);
    for seed in seeds {
        let mut dice = Dice::new(seed);
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().canonicalize().expect("a path").join("top");
        plant(&root, &mut dice);
        let mut bases = vec![PathBuf::new()];
        subdirectories(&root, Path::new(""), &mut bases);
        bases.retain(|b| !b.as_os_str().as_bytes().windows(4).any(|w| w == b".git" || w == b"/.jj"));
        let files = oracle::files(&root, Path::new(""), true, true, &[], &[]);
        let fd = std::fs::File::open(&root).expect("the root");
        for _ in 0..SEARCHES {
            let search = roll(&mut dice, &bases, &files);
            let mut scope = Scope::new(fd.as_fd());
            (scope.hidden, scope.no_ignore, scope.base) = (search.hidden, search.no_ignore, &search.base);
            scope.threads = 1 + dice.below(3);
            let q = &search.query;
            let found = grep(&scope, q).unwrap_or_else(|e| panic!("{search:?}: {e}"));
            let ours = tidy(&render(q, &found, search.named));
            let walked = match search.named {
                true => vec![search.base.clone()],
                false => oracle::files(&root, &search.base, search.hidden, search.no_ignore, &q.globs, &q.types),
            };
            let theirs = tidy(&oracle::grep(&root, &walked, q, search.named));
            assert!(ours == theirs, "ripgrep's crates, seed {seed}, {search:?}\n{}", part(&ours, &theirs));
            if let Some(rg) = rg {
                let theirs = tidy(&ask_rg(rg, &root, &search));
                assert!(ours == theirs, "rg, seed {seed}, {search:?}\n{}", part(&ours, &theirs));
            }
            pages_join_up(&scope, q, &found);
            searches += 1;
            found_some += usize::from(!ours.is_empty());
        }
        for pattern in [
            "*.rs",
            "**/*.rs",
            "src/**/*.rs",
            "*.{c,md}",
            "!*.rs",
            "a*",
            "/a.rs",
            "deep/**",
            "**/src/*",
            "[ab]*",
            ".*",
            "x y/*",
        ] {
            globs_equal(&root, fd.as_fd(), pattern, &mut dice, rg);
        }
    }
    (searches, found_some)
}

/// Pages of a limited search make up the whole, each as if alone.
fn pages_join_up(scope: &Scope<'_>, query: &GrepQuery, whole: &nika_search::GrepFound) {
    let mut query = query.clone();
    query.head_limit = Some(3);
    let entry = |f: &nika_search::FileHits| match f.lines.is_empty() {
        true => vec![(f.path.clone(), None)],
        false => f.lines.iter().map(|l| (f.path.clone(), l.number)).collect(),
    };
    let all: Vec<_> = whole.files.iter().flat_map(entry).collect();
    for page in [0, 2] {
        query.offset = page * 3;
        let found = grep(scope, &query).expect("a search");
        let shown: Vec<_> = found.files.iter().flat_map(entry).collect();
        let (from, to) = ((page * 3).min(all.len()), (page * 3 + 3).min(all.len()));
        assert_eq!(shown, all[from..to], "{query:?}");
        assert_eq!(found.next_offset, (to < all.len()).then_some(to), "{query:?}");
    }
}

fn globs_equal(root: &Path, fd: std::os::fd::BorrowedFd<'_>, pattern: &str, dice: &mut Dice, rg: Option<&Path>) {
    let mut scope = Scope::new(fd);
    (scope.hidden, scope.no_ignore) = (dice.one_in(3), dice.one_in(3));
    let found = glob(&scope, &GlobQuery::new(pattern)).expect("a search");
    assert!(found.files.is_sorted_by(|a, b| a.modified > b.modified || a.modified == b.modified && a.path < b.path));
    let mut ours: Vec<_> = found.files.iter().map(|f| f.path.clone()).collect();
    ours.sort();
    let theirs = oracle::files(root, Path::new(""), scope.hidden, scope.no_ignore, &[pattern.to_owned()], &[]);
    assert_eq!(ours, theirs, "{pattern} {scope:?}");
    if let Some(rg) = rg {
        assert_eq!(ours, ask_rg_files(rg, root, pattern, scope.hidden, scope.no_ignore), "{pattern} {scope:?}");
    }
}
