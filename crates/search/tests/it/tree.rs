//! Trees with nasty content, the same each time for one seed.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A small generator of numbers; quality does not matter, sameness does.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

const NAMES: &[&[u8]] = &[
    b"a.rs",
    b"b.rs",
    b"main.c",
    b"x.o",
    b"notes.txt",
    b".hidden",
    b".env.py",
    b"build",
    b"foo bar",
    b"foo",
    b"Makefile",
    b"caf\xc3\xa9.md",
    b"bad\xff\xfe.rs",
    b"a.b.c",
    b"-dash",
    b"target.rs",
    b"lib.py",
    b"[x].c",
    b"a",
    b"b~",
    b"#x#",
    b"z.tar.gz",
];

const DIRS: &[&[u8]] =
    &[b"src", b"build", b"target", b"a", b".cfg", b"deep", b"foo.d", b"docs", b"x y", b"a.rs.d", b"vendor"];

const RULES: &[&str] = &[
    "*.o",
    "/build",
    "build/",
    "target/",
    "!keep.o",
    "foo",
    "/src/*.c",
    "src/**/a.rs",
    "**/deep",
    "deep/**",
    "*.rs",
    "!a.rs",
    "!*.py",
    "# comment",
    "",
    "\\#x#",
    "a?b",
    "[ab].rs",
    "*.{c,md}",
    ".hidden",
    "!.hidden",
    "!.cfg/",
    ".*",
    "a/b.rs",
    "/a/*/foo",
    "*~",
    "x\\ y",
    "foo bar  ",
    "/**/main.c",
    "**/src/**",
    "[",
    "a[",
    "!/src",
    "docs/*",
    "!docs/notes.txt",
    "*.tar.*",
    "lib.*",
    "/*",
    "!/src/",
    "é*",
    "{a,}",
    "*",
];

const WORDS: &[&str] = &[
    "foo",
    "bar",
    "foobar",
    "foo_bar",
    "Foo",
    "FOO",
    "struct",
    "return x;",
    "abc1234",
    "xyz9999",
    "the quick",
    "été",
    "ÉTÉ",
    "naïve",
    "",
    "",
    "\t",
    "  ",
    "a",
    "fn main() {",
    "}",
    "foo bar foo",
    "x_foo_y",
    "ſ",
    "K",
    "end",
];

/// A tree below a directory of its own.
pub fn plant(dir: &Path, dice: &mut Dice) {
    fs::create_dir_all(dir).expect("the top");
    let late = dice.one_in(2);
    branch(dir, dice, 0, late);
    if !dice.one_in(4) {
        fs::create_dir_all(dir.join(".git/info")).expect("a repository");
        if dice.one_in(2) {
            fs::write(dir.join(".git/info/exclude"), rules(dice)).expect("an exclude file");
        }
    }
}

fn branch(dir: &Path, dice: &mut Dice, depth: usize, late: bool) {
    for _ in 0..2 + dice.below(7) {
        let path = child(dir, dice.pick(NAMES));
        if !path.exists() {
            let _ = fs::write(path, content(dice, late));
        }
    }
    for (name, odds) in [(".gitignore", 2), (".ignore", 5), (".rgignore", 8)] {
        if dice.one_in(odds) {
            fs::write(dir.join(name), rules(dice)).expect("an ignore file");
        }
    }
    if dice.one_in(6) && depth > 0 {
        let nested = dir.join(".git");
        match dice.below(3) {
            0 => fs::write(nested, "gitdir: ../nowhere\n").expect("a worktree's file"),
            1 => fs::create_dir_all(nested.join("info"))
                .and_then(|()| fs::write(nested.join("info/exclude"), rules(dice)))
                .expect("a nested repository"),
            _ => fs::create_dir_all(dir.join(".jj")).expect("a nested repository"),
        }
    }
    if dice.one_in(3) {
        let _ = std::os::unix::fs::symlink(
            dice.pick(&["a.rs", "..", "/etc/passwd", "nowhere", "src"]),
            dir.join("link.rs"),
        );
    }
    if dice.one_in(4) {
        let pipe = rustix::fs::CWD;
        let _ = rustix::fs::mknodat(pipe, dir.join("pipe.rs"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0);
    }
    if depth < 4 {
        for _ in 0..dice.below(if depth < 2 { 5 } else { 3 }) {
            let sub = child(dir, dice.pick(DIRS));
            if fs::create_dir(&sub).is_ok() {
                branch(&sub, dice, depth + 1, late);
            }
        }
    }
}

fn child(dir: &Path, name: &[u8]) -> PathBuf {
    dir.join(OsStr::from_bytes(name))
}

fn rules(dice: &mut Dice) -> String {
    let mut text = String::new();
    if dice.one_in(12) {
        text.push('\u{feff}');
    }
    let most = if dice.one_in(3) { 14 } else { 4 };
    for _ in 0..1 + dice.below(most) {
        text.push_str(dice.pick(RULES));
        text.push_str(dice.pick(&["\n", "\n", "\n", "\r\n", " \n"]));
    }
    text
}

fn lines(dice: &mut Dice, end: &str) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..dice.below(30) {
        for _ in 0..dice.below(4) {
            text.extend_from_slice(dice.pick(WORDS).as_bytes());
            text.push(b' ');
        }
        text.extend_from_slice(end.as_bytes());
    }
    text
}

/// Has either long lines or late NUL bytes in one tree: in `rg` itself, what
/// a NUL byte hides depends on the lines of files searched before.
fn content(dice: &mut Dice, late: bool) -> Vec<u8> {
    let mut text = lines(dice, "\n");
    match dice.below(18) {
        0 => text.clear(),
        1 => text = lines(dice, "\r\n"),
        2 => text.extend_from_slice(b"foo without a line end"),
        3 => {
            let at = dice.below(text.len() + 1);
            text.insert(at, 0);
        }
        4 => text.extend_from_slice(b"foo\0bar\nfoo\n"),
        // A NUL byte beyond what ripgrep reads first.
        5 if late => {
            while text.len() < 70_000 + dice.below(70_000) {
                text.extend_from_slice(&lines(dice, "\n"));
                text.extend_from_slice(b"filler filler filler filler filler filler\n");
            }
            text.extend_from_slice(b"foo end\nx\0y foo\nstruct\n");
            text.extend_from_slice(&lines(dice, "\n"));
        }
        6 => text.splice(0..0, *b"\xef\xbb\xbf").for_each(drop),
        7 => text = utf16(&text, b"\xff\xfe", u16::to_le_bytes),
        8 => text = utf16(&text, b"\xfe\xff", u16::to_be_bytes),
        9 => {
            for _ in 0..5 {
                let at = dice.below(text.len() + 1);
                text.insert(at, 0x80 + dice.below(0x7f) as u8);
            }
        }
        // A long line, longer than a buffer now and then.
        10 if !late => {
            text.extend(std::iter::repeat_n(b'z', 66_000 + dice.below(70_000)));
            text.extend_from_slice(b" foo_bar abc1234\nfoo\n");
        }
        11 => text = b"\n\n\n\nfoo\n\n".to_vec(),
        12 => text = b"\n\0foo\nfoo\n".to_vec(),
        // Larger than the engine's own buffer.
        13 if dice.one_in(3) => {
            while text.len() < 270_000 {
                text.extend_from_slice(&lines(dice, "\n"));
                text.extend_from_slice(b"filler filler filler filler filler filler filler filler filler\n");
            }
            if late && dice.one_in(3) {
                text.extend_from_slice(b"foo\0\nstruct\n");
            }
            if dice.one_in(2) {
                text.extend_from_slice(b"kmalloc_rare_word(1234)\nno end");
            }
        }
        _ => {}
    }
    text
}

fn utf16(text: &[u8], mark: &[u8], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let mut out = mark.to_vec();
    out.extend(String::from_utf8_lossy(text).encode_utf16().flat_map(bytes));
    out
}
