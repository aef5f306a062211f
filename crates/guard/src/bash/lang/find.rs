//! What an expression of find does: which trees it walks, which files it writes, which commands it runs.
//!
//! An option, a test or an action that is not in the table makes the command opaque, and so does a
//! word that may become one of them.

use super::super::commands::spec::lists;
use super::super::fact::Category;
use super::super::globs;
use super::super::judge::{Arg, Judge, Word};

/// What follows a word of the expression, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Nothing.
    Nothing,
    /// Text to compare with, or a format.
    Text,
    /// A pattern for names of files.
    Name,
    /// A file whose metadata is read.
    File,
    /// A file that is written.
    Output,
    /// A file that is written, and a format.
    OutputAndText,
    /// A command up to `;` or `{} +`.
    Command,
    /// Nothing; removes what it finds.
    Delete,
}

/// The words of an expression.
const WORDS: &[(Takes, &str)] = &[
    (Takes::Nothing, "( ) ! , -a -and -o -or -not"),
    (Takes::Nothing, "-daystart -depth -d -follow -help -ignore_readdir_race -mount -noignore_readdir_race"),
    (Takes::Nothing, "-noleaf -nowarn -version -warn -xdev"),
    (Takes::Nothing, "-empty -executable -false -nogroup -nouser -readable -true -writable"),
    (Takes::Nothing, "-ls -print -print0 -prune -quit"),
    (Takes::Text, "-amin -atime -cmin -context -ctime -fstype -gid -group -inum -links -mmin -mtime -perm"),
    (Takes::Text, "-size -type -uid -used -user -xtype -maxdepth -mindepth -regextype -printf"),
    (Takes::Name, "-ilname -iname -ipath -iregex -iwholename -lname -name -path -regex -wholename"),
    (Takes::File, "-anewer -cnewer -newer -samefile"),
    (Takes::Output, "-fls -fprint -fprint0"),
    (Takes::OutputAndText, "-fprintf"),
    (Takes::Command, "-exec -execdir -ok -okdir"),
    (Takes::Delete, "-delete"),
];

/// Guarded files that one expression asks for by name and of which each is looked at: more than any person writes.
const NAMED: usize = 8;

/// Most names times places of one expression: what a person writes has some ten of them.
const PAIRS: usize = 256;

/// Words behind which what was left out may be meant after all.
const TURNS: [&str; 4] = ["(", "-o", "-or", ","];

/// Programs that remove or empty what they are given.
const REMOVERS: [&str; 4] = ["rm", "unlink", "shred", "truncate"];

/// How many words of an expression stand in front of it only to leave out what they name: `-name '.*' -prune -o`. What
/// follows is not asked about those.
pub fn pruned(words: &[&str]) -> usize {
    let mut at = 0;
    loop {
        let rest = words.get(at..).unwrap_or_default();
        at += match rest {
            ["-name" | "-path" | "-iname" | "-ipath", _, "-prune", "-o" | "-or", ..] => 4,
            ["-name" | "-path" | "-iname" | "-ipath", _, "-type", "d", "-prune", "-o" | "-or", ..]
            | ["-type", "d", "-name" | "-path" | "-iname" | "-ipath", _, "-prune", "-o" | "-or", ..] => 6,
            _ => return at,
        };
    }
}

/// Whether `-delete` is an action among these words, of which only some are known: not the text of a test, nor a word of a
/// command that is run. Behind a word that may become several, or that no table has, it always counts for one.
pub fn deletes<'w>(words: impl IntoIterator<Item = Option<&'w str>>) -> bool {
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let passed = match word {
            Some("-delete") => return true,
            Some(word) if !word.starts_with('-') || matches!(word, "--" | "-H" | "-L" | "-P") => Some(()),
            Some(word) => takes(word).and_then(|takes| pass(takes, &mut words)),
            None => None,
        };
        if passed.is_none() {
            return words.any(|word| word == Some("-delete"));
        }
    }
    false
}

/// Goes behind what a word of the expression takes, where all of that is known.
fn pass<'w>(takes: Takes, words: &mut impl Iterator<Item = Option<&'w str>>) -> Option<()> {
    match takes {
        Takes::Nothing | Takes::Delete => Some(()),
        Takes::Text | Takes::Name | Takes::File | Takes::Output => words.next()?.map(|_| ()),
        Takes::OutputAndText => words.next()?.and(words.next()?).map(|_| ()),
        Takes::Command => {
            let mut before = "";
            loop {
                match words.next()?? {
                    ";" => return Some(()),
                    "+" if before == "{}" => return Some(()),
                    word => before = word,
                }
            }
        }
    }
}

/// Puts what `find ARGS` does into `judge`.
pub fn judge(args: &[Arg], judge: &mut Judge<'_>) {
    if let Err(why) = (Walk { rest: args, starts: Vec::new(), names: Vec::new(), judge }).all() {
        judge.opaque(why);
    }
}

struct Walk<'a, 'j, 's> {
    rest: &'a [Arg],
    starts: Vec<Arg>,
    names: Vec<&'a str>,
    judge: &'j mut Judge<'s>,
}

impl<'a> Walk<'a, '_, '_> {
    fn next(&mut self) -> Option<&'a Arg> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn all(&mut self) -> Result<(), String> {
        self.options()?;
        self.starts()?;
        let mut runs = Vec::new();
        // `! -name x` leaves out what it names: no brackets, no second `!`, and no other half of the expression may
        // turn that round.
        let turned = self.rest.iter().any(|arg| arg.exact().is_some_and(|word| TURNS.contains(&word)));
        let mut negations = 0;
        let words: Vec<&str> = self.rest.iter().map(|arg| arg.exact().unwrap_or_default()).collect();
        let asks = words.len() - pruned(&words);
        while let Some(arg) = self.next() {
            let Some(word) = arg.exact() else {
                return Err("a word in the expression of find is not known".to_owned());
            };
            match takes(word) {
                None => return Err(format!("`{word}` is not a word of find's expressions that the analysis knows")),
                Some(Takes::Nothing) => {}
                Some(Takes::Text) => {
                    self.value(word)?;
                }
                Some(Takes::Name) => {
                    let value = self.value(word)?;
                    if self.rest.len() < asks && (negations != 1 || turned) {
                        texts(&value.word, &mut self.names);
                    }
                }
                Some(Takes::File) => {
                    let file = self.value(word)?;
                    self.judge.read(file);
                }
                Some(kind @ (Takes::Output | Takes::OutputAndText)) => {
                    let file = self.value(word)?;
                    self.judge.write(file);
                    self.judge.find("find_writes", arg.span.clone(), format!("`{word}` writes a file"));
                    if kind == Takes::OutputAndText {
                        self.value(word)?;
                    }
                }
                Some(Takes::Command) => runs.push((arg, word, self.command(word)?)),
                Some(Takes::Delete) => {
                    for start in self.places() {
                        self.judge.delete_tree(&start);
                    }
                    self.judge.destroys(Category::Files, "`-delete` removes everything that find names");
                    self.judge.find("find_delete", arg.span.clone(), "`-delete` removes everything that find names");
                }
            }
            negations = if matches!(word, "!" | "-not") { negations + 1 } else { 0 };
        }
        if runs.is_empty() {
            return Ok(());
        }
        let named = self.named()?;
        for (arg, word, command) in runs {
            self.run(arg, word, command, &named)?;
        }
        Ok(())
    }

    /// Guarded files that are asked for by name. What is asked for so may be a secret, wherever it lies: that is read.
    fn named(&mut self) -> Result<Vec<Arg>, String> {
        let mut named: Vec<Arg> = Vec::new();
        let places = self.places();
        if places.len() * self.names.len() > PAIRS {
            return Err("it asks for too many names in too many places".to_owned());
        }
        for (place, name) in places.iter().flat_map(|place| self.names.iter().map(move |name| (place, *name))) {
            let Some(text) = place.exact() else { continue };
            let above = text.trim_end_matches('/');
            let last = name.rsplit('/').next().unwrap_or(name);
            for below in [last, name.trim_start_matches("./")] {
                let pattern = format!("{above}/{below}");
                match below.contains(['*', '?', '[']) {
                    true => {
                        let prefix = format!("{above}/");
                        self.judge.read(&Arg { word: Word::Glob { prefix, pattern }, span: self.judge.span.clone() });
                    }
                    false => self.judge.read(&place.with(&pattern)),
                }
            }
            if let Some(secret) = globs::spelled(last) {
                self.judge.read(&place.with(&format!("{above}/{secret}")));
            }
            let own = IN_GIT.iter().filter(|(_, names)| names.split_whitespace().any(|name| name == last));
            let own = own.map(|(dir, _)| format!("{above}/{dir}/{last}"));
            for path in self.judge.pointed_at(&format!("{above}/{last}")).into_iter().chain(own) {
                let path = place.with(&path);
                if named.contains(&path) || !self.judge.is_guarded(&path) {
                    continue;
                }
                if named.len() == NAMED {
                    return Err(format!("it asks for more than {NAMED} guarded files by name"));
                }
                named.push(path);
            }
        }
        Ok(named)
    }

    /// What stands before the start points: `-H -L -P -D DEBUG -OLEVEL`.
    fn options(&mut self) -> Result<(), String> {
        while let Some(word) = self.rest.first().and_then(Arg::exact) {
            match word {
                "-H" | "-L" | "-P" | "-E" => {
                    self.next();
                }
                "-D" => {
                    self.next();
                    self.value("-D")?;
                }
                "--" => {
                    self.next();
                    break;
                }
                "--help" | "--version" if self.rest.len() == 1 => {
                    self.rest = &[];
                    break;
                }
                _ if word.strip_prefix("-O").is_some_and(|level| level.bytes().all(|b| b.is_ascii_digit())) => {
                    self.next();
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn starts(&mut self) -> Result<(), String> {
        while let Some(arg) = self.rest.first() {
            if !is_start(&arg.word) {
                let known = arg.exact().is_some();
                return if known {
                    self.no_start()
                } else {
                    Err("a word may become an expression of \
                find"
                        .to_owned())
                };
            }
            self.next();
            self.judge.read_tree(arg);
            self.starts.push(arg.clone());
        }
        self.no_start()
    }

    fn no_start(&mut self) -> Result<(), String> {
        if self.starts.is_empty() {
            self.judge.read_cwd();
        }
        Ok(())
    }

    /// The start points, at least one.
    fn places(&self) -> Vec<Arg> {
        if !self.starts.is_empty() {
            return self.starts.clone();
        }
        vec![self.judge.word(".")]
    }

    fn value(&mut self, of: &str) -> Result<&'a Arg, String> {
        let value = self.next().ok_or_else(|| format!("`{of}` of find needs a value"))?;
        if is_one(&value.word) { Ok(value) } else { Err(format!("the value of `{of}` may become other words")) }
    }

    /// The words of a command, without what ends it.
    fn command(&mut self, word: &str) -> Result<&'a [Arg], String> {
        let all = self.rest;
        let mut held = 0;
        while let Some(arg) = self.next() {
            let after_place = held > 0 && all.get(held - 1).and_then(Arg::exact) == Some("{}");
            match arg.exact() {
                Some(";") => return Ok(&all[..held]),
                Some("+") if after_place && matches!(word, "-exec" | "-execdir") => return Ok(&all[..held]),
                Some(_) => {}
                None if may_end(&arg.word) => return Err(format!("a word may end the command of `{word}`")),
                None => {}
            }
            held += 1;
        }
        Err(format!("the command of `{word}` has no end"))
    }

    fn run(&mut self, arg: &Arg, word: &str, command: &[Arg], named: &[Arg]) -> Result<(), String> {
        let Some(program) = command.first().and_then(Arg::exact).filter(|name| !name.contains("{}")) else {
            return Err(format!("the command of `{word}` is not known"));
        };
        self.judge.find("find_exec", arg.span.clone(), format!("`{word}` runs `{program}` for what find names"));
        // In the directory of each file: what a relative word means is not known.
        let elsewhere =
            |arg: &Arg| !arg.exact().is_some_and(|text| text == "{}" || !text.contains('/') && !text.contains(".."));
        if matches!(word, "-execdir" | "-okdir") && command.iter().any(elsewhere) {
            return Err(format!("`{word}` runs in many directories, where a relative path is not known"));
        }
        let bare = program.rsplit('/').next().unwrap_or(program);
        if matches!(word, "-execdir" | "-okdir") && !lists(BLIND, bare) {
            self.judge.code(format!("`{bare}` runs in many directories, and may obey what lies there"));
        }
        let places = self.places();
        // A guarded file that is asked for by name: what the command would do to that one.
        for path in named {
            let text = path.exact().unwrap_or_default();
            let put = |arg: &Arg| arg.exact().map_or_else(|| arg.clone(), |word| arg.with(&word.replace("{}", text)));
            let argv: Vec<Arg> = command.iter().map(put).collect();
            self.judge.command(&argv);
        }
        if REMOVERS.contains(&bare) {
            self.judge.destroys(Category::Files, format!("`{program}` is run for everything that find names"));
        }
        let argv: Vec<Arg> = command.iter().map(|arg| filled(arg, &places)).collect();
        self.judge.command(&argv);
        Ok(())
    }
}

/// Programs that do the same in every directory: they look at nothing there but what they are given.
const BLIND: &str = "cat head tail wc ls stat file echo printf basename dirname realpath readlink pwd grep egrep fgrep sed awk cut sort \
    uniq nl od xxd strings md5sum sha1sum sha256sum cksum test [ true false du touch mkdir rmdir rm mv cp ln chmod chown";

/// What git has in a directory of its own, of which the names alone say nothing: where one is asked for, it is found there.
const IN_GIT: &[(&str, &str)] = &[
    (".git", "hooks config info modules index HEAD packed-refs"),
    (
        ".git/hooks",
        "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit \
         pre-rebase post-checkout post-merge pre-push pre-receive update post-receive post-update post-rewrite pre-auto-gc",
    ),
];

/// What follows `word`, if it is known.
fn takes(word: &str) -> Option<Takes> {
    if let Some([of, than]) = word.strip_prefix("-newer").map(str::as_bytes) {
        let known = b"aBcm".contains(of) && b"aBcmt".contains(than);
        return known.then_some(if *than == b't' { Takes::Text } else { Takes::File });
    }
    WORDS.iter().find(|(_, names)| names.split(' ').any(|name| name == word)).map(|(takes, _)| *takes)
}

/// The texts that a word becomes. A pattern becomes names that it fits, or stays as it is.
fn texts<'a>(word: &'a Word, out: &mut Vec<&'a str>) {
    match word {
        Word::Exact(text) | Word::Glob { pattern: text, .. } => out.push(text),
        Word::OneOf(words) => words.iter().for_each(|word| texts(word, out)),
        Word::Opaque { .. } => {}
    }
}

/// Whether the word, and every word it becomes, is a start point and no part of an expression.
fn is_start(word: &Word) -> bool {
    let path = |text: &str| match text.as_bytes() {
        [] | [b'(' | b')' | b'!' | b','] => false,
        [b'-', more @ ..] => more.is_empty(),
        [first, ..] => !b"(),!".contains(first),
    };
    match word {
        Word::Exact(text) => path(text),
        // No expression ends with a slash: a directory of such a name is refused.
        Word::Glob { pattern, prefix } if prefix.is_empty() => pattern.ends_with('/'),
        Word::Glob { prefix, .. } => !prefix.starts_with('-') && path(prefix),
        Word::Opaque { prefix, splits, .. } => !splits && !prefix.starts_with('-') && path(prefix),
        Word::OneOf(words) => words.iter().all(is_start),
    }
}

/// Whether the word stands for exactly one, or for several that find would refuse to read.
fn is_one(word: &Word) -> bool {
    match word {
        Word::Exact(_) => true,
        Word::Opaque { splits, .. } => !splits,
        Word::OneOf(words) => words.iter().all(is_one),
        // `-name *.rs` without quotes: files that are named so are no words of an expression.
        Word::Glob { pattern, prefix } => {
            let literal = |c: char| c.is_ascii_alphanumeric() || "._/".contains(c);
            let tail = pattern.rsplit(|c| !literal(c)).next().unwrap_or_default();
            prefix.starts_with(literal) || tail.contains(['.', '/'])
        }
    }
}

/// Whether the word, or one it becomes, may be the `;` or `+` that ends a command.
fn may_end(word: &Word) -> bool {
    match word {
        Word::Exact(text) => matches!(text.as_str(), ";" | "+" | "{}"),
        Word::Glob { prefix, .. } => prefix.is_empty() || prefix.starts_with([';', '+', '{']),
        Word::Opaque { prefix, splits, .. } => *splits || prefix.is_empty() || prefix.starts_with([';', '+', '{']),
        Word::OneOf(words) => words.iter().any(may_end),
    }
}

/// `arg` with every `{}` replaced by what find may put there: a name below one of `places`.
fn filled(arg: &Arg, places: &[Arg]) -> Arg {
    let Some((before, after)) = arg.exact().and_then(|text| text.split_once("{}")) else { return arg.clone() };
    let mut words = Vec::new();
    for place in places {
        fill(&place.word, before, after, &mut words);
    }
    let word = match words.len() {
        1 => words.remove(0),
        _ => Word::OneOf(words),
    };
    Arg { word, span: arg.span.clone() }
}

fn fill(place: &Word, before: &str, after: &str, out: &mut Vec<Word>) {
    let glob = |start: String| Word::Glob { pattern: format!("{start}*{after}"), prefix: start };
    match place {
        Word::Exact(text) if text.ends_with('/') => out.push(glob(format!("{before}{text}"))),
        Word::Exact(text) => out.push(glob(format!("{before}{text}/"))),
        Word::Glob { prefix, .. } => out.push(glob(format!("{before}{prefix}"))),
        Word::Opaque { prefix, why, .. } => {
            out.push(Word::Opaque { prefix: format!("{before}{prefix}"), splits: false, why: why.clone() });
        }
        Word::OneOf(words) => words.iter().for_each(|word| fill(word, before, after, out)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::super::fact::Fact;
    use super::super::super::judge::{Nested, Site, Stdin};
    use super::*;

    fn word(text: &str) -> Arg {
        let word = match text {
            "$x" => Word::Opaque { prefix: String::new(), splits: true, why: "x".into() },
            "\"$x\"" => Word::Opaque { prefix: String::new(), splits: false, why: "x".into() },
            "./$x" => Word::Opaque { prefix: "./".to_owned(), splits: false, why: "x".into() },
            _ => match text.strip_prefix('@') {
                Some(glob) => Word::Glob {
                    pattern: glob.to_owned(),
                    prefix: glob.split('*').next().unwrap_or_default().to_owned(),
                },
                None => Word::Exact(text.to_owned()),
            },
        };
        Arg { word, span: 0..1 }
    }

    /// Facts (paths below `/w/repo`), findings and nested commands of a line split at blanks; `@a*` is a glob.
    fn find(line: &str) -> (Vec<Fact>, Vec<&'static str>, Vec<Vec<Word>>) {
        let site = Site::on_paper(vec![PathBuf::from("/w/repo")], PathBuf::from("/w/repo"), PathBuf::from("/h"));
        let mut collected = Judge::new(&site, Stdin::None, 0..1);
        let args: Vec<Arg> = line.split_whitespace().map(word).collect();
        judge(&args, &mut collected);
        let nested = collected.nested.iter().map(|nested| match nested {
            Nested::Argv(argv) => argv.iter().map(|arg| arg.word.clone()).collect(),
            Nested::Script { .. } => vec![],
        });
        let nested = nested.collect();
        (collected.facts, collected.findings.iter().map(|finding| finding.code).collect(), nested)
    }

    #[test]
    fn searches_read() {
        let lines = [
            "",
            ".",
            "src tests",
            ". -name *.py",
            ". -type f -name x -print",
            "-name x",
            "-L src -maxdepth 2 -type d",
            "-O3 -D tree . -empty",
            ". ( -name a -o -name b ) -prune -o -print",
            ". ! -path ./target/x -not -iname y -a -size +1M",
            ". -newer Cargo.toml -newermt 2024-01-01 -newerac x",
            ". -printf %p\\n -quit",
            ". -regextype posix-extended -regex .*x -print0",
            ". -perm /111 -user dev -mtime -7 -ls , -true",
            ". -name @*.py",
            ". -name @test_*",
            "@src/* -name x",
            "@./* -type f",
            "--version",
            ". -name \"$x\"",
            "./src/ -samefile a -links 2",
        ];
        for line in lines {
            let (facts, findings, nested) = find(line);
            assert!(facts.iter().all(|fact| matches!(fact, Fact::Read(_))), "{line}: {facts:?}");
            assert!(findings.is_empty() && nested.is_empty(), "{line}");
        }
    }

    #[test]
    fn actions_are_named() {
        let codes = |line: &str| find(line).1;
        assert_eq!(codes(". -delete"), ["find_delete"]);
        assert_eq!(codes(". -fls x"), ["find_writes"]);
        assert_eq!(codes(". -printf a -fprintf x b"), ["find_writes"]);
        assert_eq!(codes(". -exec wc -l {} ; -exec cat {} +"), ["find_exec", "find_exec"]);
        let destroys = |line: &str| find(line).0.iter().any(|fact| matches!(fact, Fact::Destroys(..)));
        assert!(destroys("build -type f -delete"));
        assert!(destroys(". -name x -exec rm -f {} +"));
        assert!(!destroys(". -name x -exec cat {} +"));
        let writes = |line: &str| find(line).0.iter().any(|fact| matches!(fact, Fact::Write(_)));
        assert!(["-fprint x", "-fprint0 x", "-fls x", "-fprintf x y"].iter().all(|action| writes(action)));
    }

    #[test]
    fn commands_get_the_place_of_what_is_found() {
        let glob = |pattern: &str, prefix: &str| Word::Glob { pattern: pattern.to_owned(), prefix: prefix.to_owned() };
        let (_, _, nested) = find(". -exec wc -l {} ;");
        assert_eq!(nested[0][2], glob("./*", "./"));
        let (_, _, nested) = find("src/ -exec cp {} {}.bak ;");
        assert_eq!(nested[0][1..], [glob("src/*", "src/"), glob("src/*.bak", "src/")]);
        let (_, _, nested) = find("a b -exec cat {} +");
        assert_eq!(nested[0][1], Word::OneOf(vec![glob("a/*", "a/"), glob("b/*", "b/")]));
        let (_, _, nested) = find("-exec cat {} ;");
        assert_eq!(nested[0][1], glob("./*", "./"));
        let (facts, ..) = find(". -name .env -exec cat {} ;");
        assert!(facts.iter().any(|fact| matches!(fact, Fact::Read(at) if at.path.ends_with("repo/.env"))));
    }

    #[test]
    fn what_is_not_known_is_opaque() {
        let lines = [
            "-unknown",
            ". -exe wc {} ;",
            ". -exec",
            ". -exec wc {}",
            ". -exec wc + {} ;x",
            ". -exec {} ;",
            ". -exec ./{} ;",
            ". -exec $x {} ;",
            ". -exec cat @* ;",
            ". -exec cat $x ;",
            ". -execdir ./run {} ;",
            ". -execdir cp {} ../../x ;",
            ". -ok wc {} +",
            ". -name",
            ". -name @*",
            ". -name $x",
            ". -name x @*",
            "@*",
            "$x",
            "\"$x\"",
            "./$x",
            ". -files0-from x",
            ". -fstyp x",
            ". -newerxy f",
            ". -newertm f",
            ". x y -delete z",
            ". -Delete",
        ];
        for line in lines {
            let (facts, ..) = find(line);
            assert!(facts.iter().any(|fact| matches!(fact, Fact::Opaque(_))), "{line}: {facts:?}");
        }
    }
}
