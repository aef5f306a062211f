//! Names that come from a list: `while read -r file; do wc -l "$file"; done < list.txt`, `xargs wc -l < list.txt`.
//!
//! Which files they are nobody has looked at. A program that does nothing but read or reformat the files it is given does no
//! more with them than code of the workspace may do, so it counts as such. Every other one stays a question.

use std::rc::Rc;

use super::super::commands::{Printed, SplitAt};
use super::super::fact::Fact;
use super::super::judge::{Arg, Stdin, Word as Became};
use super::super::names::{Meaning, meaning};
use super::super::parse::is_name;
use super::super::words::{Output, Start, Value};
use super::Walker;

/// Programs that only read the files they are given, or make directories. Their specifications judge the options that stand
/// in the text.
const LOOKS: &str = "cat head tail wc ls grep egrep fgrep rg echo printf true : test [ stat file du sort uniq cut nl tac \
    basename dirname cksum md5sum sha1sum sha256sum sed jq mkdir shellcheck";

/// Programs that open none of them: to these a name is only text, whoever wrote the list.
const SAYS: &str = "echo true : basename dirname";

/// Programs that check or reformat the files they are given, or run the tests in them. Behind an option a name may be that
/// of a plugin, unless it is one of [`FLAGS`].
const WORKS: &str = "prettier eslint stylelint black isort ruff flake8 pylint mypy pyright rustfmt gofmt goimports \
    clang-format shfmt rubocop pytest jest vitest mocha rspec phpunit cargo tsc";

/// Options of those that take no value, and the one that names a package.
const FLAGS: &str =
    "--write --check --fix --diff --quiet --verbose --lib --tests --release -w -l -i -q -x -v -vv -s -d --";
const PACKAGE: (&str, &str) = ("cargo", "-p");

fn is_one(list: &str, text: &str) -> bool {
    list.split_whitespace().any(|known| known == text)
}

/// Whether names of a list are only files to such a program.
fn are_files(program: &str, args: &[Arg]) -> bool {
    let flag = |before: &Arg| match before.exact() {
        Some(text) if text.starts_with('-') => is_one(FLAGS, text) || (program, text) == PACKAGE,
        _ => true,
    };
    let alone = |pair: &[Arg]| match pair {
        [before, name] => !is_listed(&name.word) || flag(before),
        _ => true,
    };
    is_one(LOOKS, program) || is_one(WORKS, program) && args.windows(2).all(alone)
}

/// Whether the program only prints what it is given. A format that comes from the list may name a variable to set.
fn only_says(program: &str, args: &[Arg]) -> bool {
    let has_format = || args.get(1).and_then(Arg::exact).is_some_and(|format| !format.starts_with('-'));
    is_one(SAYS, program) || program == "printf" && has_format()
}

fn is_listed(word: &Became) -> bool {
    match word {
        Became::Opaque { why, .. } => why.is_listed(),
        Became::OneOf(words) => words.iter().any(is_listed),
        _ => false,
    }
}

impl<'a> Walker<'a> {
    /// What is said where such a name is given to a program that may do anything else with it, or where the list may be
    /// one that was written just before.
    pub(super) fn given_names(&self, program: &str, args: &[Arg]) -> Option<Fact> {
        let wrote = || self.since(0).any(|fact| matches!(fact, Fact::Write(place) if !place.tree));
        let why = || format!("`{program}` is given names that a list holds");
        let named = args.iter().skip(1).any(|arg| is_listed(&arg.word));
        (named && !only_says(program, args) && (!are_files(program, args) || wrote())).then(|| Fact::Opaque(why()))
    }

    /// The variables that `read` fills with names from a list: a file, or what `find` and its kind print.
    pub(super) fn lists(&self, args: &[Arg], stdin: &Stdin) -> Option<Vec<String>> {
        let listed = match stdin {
            Stdin::File { .. } => true,
            Stdin::Pipe { printed, .. } => printed.words(SplitAt::Lines).is_some(),
            _ => false,
        };
        self.names_read(args).filter(|_| listed)
    }

    /// The variables that `read` fills, where they are nobody's but the script's.
    fn names_read(&self, args: &[Arg]) -> Option<Vec<String>> {
        let words: Option<Vec<&str>> = args.iter().skip(1).map(Arg::exact).collect();
        let names: Vec<String> = words?.into_iter().skip_while(|word| *word == "-r").map(str::to_owned).collect();
        let plain =
            |name: &String| is_name(name) && meaning(name) == Meaning::Setting && !self.names.exported.contains(name);
        (!names.is_empty() && names.iter().all(plain)).then_some(names)
    }

    /// The variable that `read` fills with the hash of a commit, and those behind it, from lines that begin with one.
    pub(super) fn of_commits(&self, args: &[Arg], stdin: &Stdin) -> Option<(String, Vec<String>)> {
        let commits = matches!(stdin, Stdin::Pipe { printed: Printed::Commits, .. });
        let mut names = self.names_read(args).filter(|names| commits && names.len() > 1)?;
        let hash = names.remove(0);
        (!names.contains(&hash)).then_some((hash, names))
    }

    /// The array that `mapfile` fills with the names that a command lists, or with hashes, and what it then holds.
    pub(super) fn maps(&self, args: &[Arg], stdin: &Stdin) -> Option<(String, Value)> {
        let words: Option<Vec<&str>> = args.iter().map(Arg::exact).collect();
        let (name, at) = match words?.as_slice() {
            ["mapfile" | "readarray", "-t", name] => ((*name).to_owned(), SplitAt::Lines),
            ["mapfile" | "readarray", "-t", "-d", "", name]
            | ["mapfile" | "readarray", "-d", "", "-t", name]
            | ["mapfile" | "readarray", "-td", "", name] => ((*name).to_owned(), SplitAt::Zeros),
            _ => return None,
        };
        let Stdin::Pipe { printed, .. } = stdin else { return None };
        let Output { start, number: false, .. } = printed.words(at)? else { return None };
        // A name with the end of a line in it is two lines, and the second may start in any way.
        let prefix = if at == SplitAt::Zeros || start == Start::Plain { start.text() } else { "" };
        let names = Became::Glob { pattern: format!("{}**", start.text()), prefix: prefix.to_owned() };
        let known = is_name(&name) && meaning(&name) == Meaning::Setting && self.names.arrays.hold(&name);
        (known && !self.taken.part).then(|| (name, Value::List(Rc::new(vec![Arg { word: names, span: 0..0 }]))))
    }
}
