//! How a command is described: options as an allow-list, and what its operands are.
//!
//! An option that is not in the table makes the command opaque. Names in a table row are separated
//! by blanks: one character is a short option (`n` is `-n`), more are a long one (`lines` is
//! `--lines`), and a name with a leading `-` is a long option behind one dash (`-name` of find). The
//! name `#` is a number behind a dash (`head -5`).
//!
//! Where an option cannot be read the reading goes on as well as it can: the command is opaque, and
//! what else it says (a forced, recursive removal) is still seen.

use super::super::judge::{Arg, Judge, Why, Word};

/// How options are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// getopt_long: bundles, abbreviations of long names, attached values, permuted operands, `--`.
    Gnu,
    /// The same, but the first operand ends the options: env, timeout, bash, git before its subcommand.
    GnuStop,
    /// Only long options behind one dash or two, never bundled: go, java, terraform, openssl.
    OneDash,
    /// `name=value` operands: dd.
    Dd,
    /// Not by the interpreter: the command's `check` sees every argument as an operand.
    Raw,
}

/// How short options are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Short {
    /// getopt: letters in one word, the value attached or the next word.
    Bundled,
    /// Letters in one word, but a value is always the next word; only digits may be attached.
    Apart,
    /// Each letter is a word of its own; what else is attached to a flag is not looked at by the program.
    Alone,
}

/// What an option does, and whether it takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Takes no value and does nothing to the world.
    Flag,
    /// Takes a value and does nothing to the world.
    Value,
    /// May take a value, attached only (`--color[=WHEN]`, `-i[SUFFIX]`).
    Maybe,
    /// Takes a value and does nothing to the world; another program of that name takes none, or an attached one only, and
    /// what follows is an operand there. Both readings are judged.
    Either,
    /// Takes a file that is read.
    Read,
    /// Takes a directory that is read as a tree.
    ReadTree,
    /// Takes a file that is written.
    Write,
    /// Takes a directory that is written below.
    WriteTree,
    /// Takes a host or address that is reached.
    Net,
    /// Takes no value; the command reaches the network.
    NetFlag,
    /// Takes a value that is run (a command line, a program, a library, inline code).
    Run,
    /// Takes no value; what it does cannot be said or needs a question.
    AskFlag,
    /// Takes no value; where nothing else is given the command only prints and exits.
    Info,
}

/// What operands are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operands {
    /// There should be none; one makes the command opaque.
    None,
    /// Text without meaning to the world: echo, expr, seq.
    Words,
    /// Files that are read; without any, standard input.
    Read,
    /// Trees that are read; without any, the working directory.
    ReadTree,
    /// The first is a pattern (unless one of `patterns` was given), the rest are files that are read.
    PatternThenRead,
    /// Files that are created or changed.
    Write,
    /// Files that are removed.
    Delete,
    /// All but the last are read, the last is written: cp, install, ln.
    Copy,
    /// All but the last are removed, the last is written: mv.
    Move,
    /// The rest is a command.
    Command,
    /// The first names a subcommand in `subs`; an unknown one makes the command opaque, unless a subcommand has `*` among its
    /// names: that one is meant by every other name of a script. Without one the command is opaque too, unless a subcommand
    /// has `_` among its names: that one is meant then.
    Sub,
    /// Seen by `check` alone.
    Custom,
}

/// Everything known about a command.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Names, separated by blanks.
    pub names: &'static str,
    /// How options are read.
    pub style: Style,
    /// How short options are written.
    pub short: Short,
    /// Two letters that mean one option of their own (blank-separated); in a bundle they make the command opaque.
    pub pairs: &'static str,
    /// Rows of options.
    pub opts: &'static [(Does, &'static str)],
    /// What operands are.
    pub operands: Operands,
    /// Subcommands.
    pub subs: &'static [Spec],
    /// Every option of the real program is harmless, so a pattern that may become an option is too.
    pub closed: bool,
    /// Ends of file names (blank-separated) that are in no option: a word that starts with a dash and ends so makes the
    /// program stop before it does anything.
    pub refuses: &'static str,
    /// Options that stand for the pattern of [`Operands::PatternThenRead`] (blank-separated).
    pub patterns: &'static str,
    /// Its subcommands read its options too (the persistent options of many Go programs).
    pub inherit: bool,
    /// For what a table cannot say; runs after the table.
    pub check: Option<fn(&Parsed, &mut Judge<'_>)>,
}

/// A command with no options and no operands, to build others on: `Spec { names: "pwd", ..PLAIN }`.
pub const PLAIN: Spec = Spec {
    names: "",
    style: Style::Gnu,
    short: Short::Bundled,
    pairs: "",
    opts: &[],
    operands: Operands::None,
    subs: &[],
    closed: false,
    refuses: "",
    patterns: "",
    inherit: false,
    check: None,
};

/// Options of which the value may look like an option, in every program that has them: text that is looked for or put in.
///
/// Of all others versions differ, and programs that share a row: where one takes a value another takes none, and what
/// stands behind it is an option of its own (`git diff --unified --output=x`, `nm -j --plugin=x`).
const ANY_TEXT: &str = "e regexp S G grep m message g glob iglob r replace context-separator field-match-separator";

/// The same of single programs: every version of git sorts by the word behind it, which has a dash in front to turn it round.
const ANY_TEXT_OF: &[(&str, &str)] = &[("git", "sort")];

/// Whether a word looks like an option: no number, and not `-` alone.
fn reads_as_option(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c == '-' || c.is_ascii_alphabetic()))
}

/// Whether every name that a pattern finds ends in a way that no option of the program does.
pub(super) fn is_refused(refuses: &str, arg: &Arg) -> bool {
    let Word::Glob { pattern, .. } = &arg.word else { return false };
    let ends = |end: &str| !end.is_empty() && pattern.strip_suffix(end).is_some_and(|rest| rest.ends_with('*'));
    refuses.split(' ').any(ends)
}

/// A command's words, read by its table.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// The command and its subcommands: `["git", "remote", "add"]`.
    pub path: Vec<String>,
    /// Options in order: the table's full name (the long one where it was abbreviated), and the value.
    pub opts: Vec<(String, Option<Arg>)>,
    /// Operands in order.
    pub operands: Vec<Arg>,
    /// How many of `opts` stood before the last subcommand: git's `-C`, not that of `git diff`.
    pub outer: usize,
    /// The first thing that could not be read: the command is opaque.
    pub unknown: Option<String>,
    /// All that is unknown is that the name of a file here may become an option. Who can name files can
    /// change what builds and tests run, so it counts as code of the workspace.
    named_by_files: bool,
    /// What each of `opts` does, in the same order.
    does: Vec<Does>,
    /// Words that are values of options here, but could also be operands or options.
    strays: Vec<Arg>,
    /// One of them may be the first operand: then all of `operands` stand one place further.
    pub(super) shifted: bool,
}

impl Parsed {
    /// The same command with other operands and no options.
    pub(super) fn with_operands(&self, operands: &[Arg]) -> Parsed {
        Parsed { path: self.path.clone(), operands: operands.to_vec(), ..Parsed::default() }
    }

    /// Whether an option was given under any of these names (blank-separated, as in tables).
    pub fn has(&self, names: &str) -> bool {
        self.opts.iter().any(|(given, _)| lists(names, given))
    }

    /// Options with their values and what each does, in order.
    pub(super) fn done(&self) -> impl Iterator<Item = (&str, Option<&Arg>, Does)> {
        self.opts.iter().zip(&self.does).map(|((name, value), does)| (name.as_str(), value.as_ref(), *does))
    }

    /// What the last of these switches says, of a program that takes `-x=false` for none: nothing where it was not given, or
    /// with a value that is not known to be either.
    pub fn switch(&self, names: &str) -> Option<bool> {
        let (_, value) = self.opts.iter().rev().find(|(given, _)| lists(names, given))?;
        let Some(value) = value else { return Some(true) };
        match value.exact()? {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
            _ => None,
        }
    }

    /// All values given to any of these options, in order.
    pub(super) fn values<'p>(&'p self, names: &'p str) -> impl Iterator<Item = &'p Arg> {
        self.opts.iter().filter(|(given, _)| lists(names, given)).filter_map(|(_, value)| value.as_ref())
    }

    /// The last value given to any of these options.
    pub fn value(&self, names: &str) -> Option<&Arg> {
        self.opts.iter().rev().find(|(given, _)| lists(names, given)).and_then(|(_, value)| value.as_ref())
    }
}

impl Does {
    /// Whether a value follows, attached or as the next word.
    fn takes_value(self) -> bool {
        matches!(
            self,
            Does::Value
                | Does::Either
                | Does::Read
                | Does::ReadTree
                | Does::Write
                | Does::WriteTree
                | Does::Net
                | Does::Run
        )
    }
}

impl Spec {
    /// Whether `name` is one of its names.
    pub fn is(&self, name: &str) -> bool {
        lists(self.names, name)
    }

    /// The subcommand of that name.
    pub fn sub(&self, name: &str) -> Option<&Spec> {
        self.subs.iter().find(|sub| sub.is(name))
    }

    /// The subcommand of that name, or the one for all others.
    fn meant(&self, name: &str) -> Option<&Spec> {
        let is_script = || {
            name.starts_with(|c: char| c.is_ascii_alphanumeric())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.".contains(c))
        };
        self.sub(name).or_else(|| self.sub("*").filter(|_| is_script()))
    }

    /// What the option `name` does.
    pub(super) fn option(&self, name: &str) -> Option<Does> {
        let row = self.opts.iter().find(|(_, names)| lists(names, name));
        row.map(|(does, _)| *does)
    }

    /// Long options that start with `start`.
    fn starting<'s>(&'s self, start: &'s str) -> impl Iterator<Item = (Does, &'static str)> + 's {
        let names = self.opts.iter().flat_map(|(does, names)| names.split(' ').map(|name| (*does, name)));
        names.filter(move |(_, name)| name.len() > 1 && !name.starts_with('-') && name.starts_with(start))
    }
}

/// Whether `name` is one of `names`, which stand between blanks. Tables are looked through again and again, so this
/// compares only where a byte of it stands: the first that is no dash, as every option begins with one.
pub(in super::super) fn lists(names: &str, name: &str) -> bool {
    let (names, name) = (names.as_bytes(), name.as_bytes());
    let dashes = name.iter().take_while(|byte| **byte == b'-').count().min(name.len().saturating_sub(1));
    let (Some(sought), Some(sites)) = (name.get(dashes), names.get(dashes..)) else { return false };
    memchr::memchr_iter(*sought, sites).any(|at| {
        let ends = || matches!(names.get(at + name.len()), None | Some(b' '));
        (at == 0 || names.get(at - 1) == Some(&b' '))
            && ends()
            && names.get(at..at + name.len()).is_some_and(|there| there == name)
    })
}

/// Reads `argv` (with its name) by `spec`.
pub fn parse(spec: &Spec, argv: &[Arg]) -> Parsed {
    let mut parsed = Parsed::default();
    let name = argv.first().and_then(Arg::exact).unwrap_or_default();
    parsed.path.push(name.rsplit('/').next().unwrap_or(name).to_owned());
    let mut reader = Reader { parsed, rest: argv.get(1..).unwrap_or_default(), above: Vec::new() };
    reader.read(spec);
    reader.parsed
}

/// Puts what `parsed` does into `judge`.
pub fn apply(spec: &Spec, parsed: &Parsed, judge: &mut Judge<'_>) {
    let chain = chain(spec, parsed);
    let Some(leaf) = chain.last().copied() else { return };
    match &parsed.unknown {
        Some(why) if parsed.named_by_files => judge.code(why.clone()),
        Some(why) => judge.opaque(why.clone()),
        None => {}
    }
    for stray in &parsed.strays {
        judge.read(stray);
    }
    for ((name, value), does) in parsed.opts.iter().zip(&parsed.does) {
        option(name, value.as_ref(), *does, judge);
    }
    if tells_of_itself(leaf, parsed) {
        return;
    }
    operands(leaf, parsed, judge);
    for check in chain.iter().filter_map(|spec| spec.check) {
        check(parsed, judge);
    }
}

/// Whether all that is asked of a program is what it says of itself. Beside anything else it may have acted before it comes to
/// that, or go on behind it: `sed -e 'w out' --version`, `awk -h 'BEGIN{…}'`.
fn tells_of_itself(leaf: &Spec, parsed: &Parsed) -> bool {
    let alone = leaf.operands == Operands::Sub || parsed.does.iter().all(|does| *does == Does::Info);
    alone && parsed.does.contains(&Does::Info) && parsed.operands.is_empty()
}

/// The specifications from the program down to the subcommand that was read.
fn chain<'s>(spec: &'s Spec, parsed: &Parsed) -> Vec<&'s Spec> {
    let mut chain = vec![spec];
    let mut leaf = spec;
    for name in parsed.path.iter().skip(1) {
        let Some(sub) = leaf.meant(name) else { break };
        chain.push(sub);
        leaf = sub;
    }
    if leaf.operands == Operands::Sub && parsed.operands.is_empty() {
        chain.extend(leaf.sub("_"));
    }
    chain
}

fn option(name: &str, value: Option<&Arg>, does: Does, judge: &mut Judge<'_>) {
    match (does, value) {
        (Does::Flag | Does::Value | Does::Either | Does::Maybe | Does::Info, _) => {}
        (Does::Read, Some(file)) => read(file, judge),
        (Does::ReadTree, Some(tree)) => judge.read_tree(tree),
        (Does::Write, Some(file)) => judge.write(file),
        (Does::WriteTree, Some(tree)) => judge.write_tree(tree),
        (Does::Net, Some(host)) => judge.net(host.exact()),
        (Does::NetFlag, _) => judge.net(None),
        (Does::Run, _) => judge.opaque(format!("`{}` runs a command", dashed(name))),
        (Does::AskFlag, _) => judge.opaque(format!("what `{}` does cannot be said", dashed(name))),
        (_, None) => judge.opaque(format!("`{}` needs a value", dashed(name))),
    }
}

fn dashed(name: &str) -> String {
    match name {
        "#" => "-NUMBER".to_owned(),
        _ if name.starts_with('-') => name.to_owned(),
        _ if name.chars().count() == 1 => format!("-{name}"),
        _ => format!("--{name}"),
    }
}

fn operands(leaf: &Spec, parsed: &Parsed, judge: &mut Judge<'_>) {
    let given = &parsed.operands;
    match leaf.operands {
        Operands::Custom => {}
        Operands::Words => super::places::listed_elsewhere(given, judge),
        Operands::None if given.is_empty() => {}
        Operands::None => judge.opaque("it takes no operands"),
        Operands::Read => given.iter().for_each(|file| read(file, judge)),
        Operands::ReadTree if given.is_empty() => judge.read_cwd(),
        Operands::ReadTree => given.iter().for_each(|tree| judge.read_tree(tree)),
        Operands::PatternThenRead if parsed.shifted || !leaf.patterns.is_empty() && parsed.has(leaf.patterns) => {
            given.iter().for_each(|file| read(file, judge));
        }
        Operands::PatternThenRead => {
            let Some((pattern, files)) = given.split_first() else { return };
            if may_be_more(pattern) {
                judge.read(pattern);
            }
            files.iter().for_each(|file| read(file, judge));
        }
        Operands::Write => given.iter().for_each(|file| judge.write(file)),
        Operands::Delete => given.iter().for_each(|file| judge.remove(file, false)),
        Operands::Copy => transfer(parsed, judge, Judge::read_tree),
        Operands::Move => transfer(parsed, judge, Judge::delete_tree),
        Operands::Command if given.is_empty() => {}
        Operands::Command => judge.command(given),
        Operands::Sub if parsed.unknown.is_none() => judge.opaque("it has no subcommand"),
        Operands::Sub => {}
    }
}

/// `-` is standard input; where a program takes addresses, too, one of them is fetched.
pub(super) fn read(file: &Arg, judge: &mut Judge<'_>) {
    match file.exact() {
        Some("-") => {}
        Some(address) if address.contains("://") && !address.starts_with("file:") => judge.net(None),
        Some(address) if address.starts_with("file:") => {
            judge.read(&file.with(address.trim_start_matches("file:").trim_start_matches("//")));
            judge.read(file);
        }
        _ => judge.read(file),
    }
}

/// All but the last operand into the last, or into the directory given with `-t`.
pub(super) fn transfer<'j>(parsed: &Parsed, judge: &mut Judge<'j>, source: fn(&mut Judge<'j>, &Arg)) {
    let named = parsed.value("t target-directory");
    let (from, to) = match (named, parsed.operands.split_last()) {
        (Some(to), _) => (parsed.operands.as_slice(), to),
        (None, Some((to, from))) => (from, to),
        (None, None) => return,
    };
    // The names of what lies below a directory, or of what a pattern matches, are not written here.
    let unnamed = |file: &Arg| {
        file.exact().is_none_or(|text| text.ends_with('/') || matches!(text.rsplit('/').next(), Some("." | "..")))
    };
    // A whole directory may come or go: with `mv`, and with the options of `cp` that copy trees.
    let moves = parsed.path.first().is_some_and(|name| matches!(name.as_str(), "mv" | "gmv"));
    let any_unnamed = from.iter().any(unnamed);
    match any_unnamed {
        // What is moved away is gone with the session, and nobody can say what it was.
        true if moves => judge.write_tree(to),
        true => judge.fill(to),
        false => {}
    }
    let whole = moves || parsed.has("r R recursive a archive");
    if whole {
        super::places::takes_along(to, judge);
    }
    // Told that there is no directory, `mv` puts what it moves in the place of a link there.
    let replaces = moves && named.is_none() && from.len() == 1 && parsed.has("T no-target-directory");
    for file in from {
        source(judge, file);
        if moves {
            super::places::takes_along(file, judge);
        }
        if replaces {
            continue;
        }
        // Into a directory: what is written is the name below it, which may be a protected one.
        if let (Some(file), Some(into)) = (file.exact(), to.exact()) {
            let name = file.trim_end_matches('/').rsplit('/').next().unwrap_or(file);
            // `src/.`: what lies below it has its place there, and that is said.
            if name == "." {
                continue;
            }
            let below = to.with(&format!("{into}/{name}"));
            judge.write(&below);
            if whole {
                super::places::takes_along(&below, judge);
            }
        }
    }
    // What is a directory for sure stays one: of the session's own, only the names in it are written.
    let own = |text: &str| judge.site.scratch.is_one(&judge.resolve(text));
    if to.exact().is_some_and(own) && !(moves && any_unnamed) && !parsed.has("T no-target-directory") {
        return;
    }
    if replaces { judge.replace(to) } else { judge.write(to) }
}

/// What follows the known start of a word.
#[derive(Clone, Copy)]
enum Tail<'a> {
    /// Nothing: the word is known.
    None,
    /// Something unknown.
    Of(&'a Arg),
}

struct Reader<'a, 's> {
    parsed: Parsed,
    rest: &'a [Arg],
    /// Specifications above whose options are read too.
    above: Vec<&'s Spec>,
}

impl<'a, 's> Reader<'a, 's> {
    fn read(&mut self, spec: &'s Spec) {
        match spec.style {
            Style::Raw => self.parsed.operands.extend(std::mem::take(&mut self.rest).iter().cloned()),
            Style::Dd => self.assignments(spec),
            Style::Gnu | Style::GnuStop | Style::OneDash => self.words(spec),
        }
    }

    fn next(&mut self) -> Option<&'a Arg> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn unknown(&mut self, why: impl FnOnce() -> String) {
        if self.parsed.unknown.is_none() || self.parsed.named_by_files {
            self.parsed.unknown = Some(why());
            self.parsed.named_by_files = false;
        }
    }

    fn words(&mut self, spec: &'s Spec) {
        let mut ended = false;
        while let Some(arg) = self.next() {
            let dashed = !ended && start(arg).is_some_and(|start| start.len() > 1 && start.starts_with('-'));
            match (arg.exact(), dashed) {
                (Some("--"), true) => ended = true,
                (Some(text), true) => self.option(spec, arg, text, Tail::None),
                (None, true) => self.option(spec, arg, start(arg).unwrap_or_default(), Tail::Of(arg)),
                (_, false) => {
                    if !ended && !spec.closed && may_be_option(arg) && !is_refused(spec.refuses, arg) {
                        let otherwise = self.parsed.unknown.is_some() && !self.parsed.named_by_files;
                        self.unknown(|| "a word that is not known may become an option".to_owned());
                        self.parsed.named_by_files = !otherwise && is_file_here(arg);
                    }
                    if spec.operands == Operands::Sub {
                        return self.subcommand(spec, arg);
                    }
                    self.parsed.operands.push(arg.clone());
                    ended |= spec.style == Style::GnuStop;
                }
            }
        }
    }

    fn subcommand(&mut self, spec: &'s Spec, arg: &Arg) {
        match arg.exact().map(|name| (name, spec.meant(name))) {
            Some((name, Some(sub))) => {
                self.parsed.path.push(name.to_owned());
                self.parsed.outer = self.parsed.opts.len();
                if spec.inherit {
                    self.above.push(spec);
                } else {
                    self.above.clear();
                }
                self.read(sub);
            }
            Some((name, None)) => {
                self.unknown(|| format!("`{name}` is not a subcommand the analysis knows"));
                self.parsed.operands.push(arg.clone());
                self.parsed.operands.extend(std::mem::take(&mut self.rest).iter().cloned());
            }
            None => {
                self.unknown(|| "the subcommand is not known".to_owned());
                self.parsed.operands.push(arg.clone());
                self.parsed.operands.extend(std::mem::take(&mut self.rest).iter().cloned());
            }
        }
    }

    fn assignments(&mut self, spec: &Spec) {
        while let Some(arg) = self.next() {
            let known = start(arg).unwrap_or_default();
            let Some((name, value)) = known.split_once('=') else {
                self.unknown(|| "an operand is not of the form NAME=VALUE".to_owned());
                self.parsed.operands.push(arg.clone());
                continue;
            };
            match spec.option(name) {
                Some(does) => self.push(does, name, Some(behind(arg, known.len() - value.len()))),
                None => self.unknown(|| format!("`{name}=` is not an operand the analysis knows")),
            }
        }
    }

    fn look(&self, spec: &Spec, name: &str) -> Option<Does> {
        spec.option(name).or_else(|| self.above.iter().find_map(|spec| spec.option(name)))
    }

    fn push(&mut self, does: Does, name: &str, value: Option<Arg>) {
        self.parsed.opts.push((name.to_owned(), value));
        self.parsed.does.push(does);
    }

    fn option(&mut self, spec: &Spec, arg: &Arg, known: &str, tail: Tail<'_>) {
        let number = known.get(1..).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        if let (Some(digits), Tail::None, Some(does)) = (number, tail, self.look(spec, "#")) {
            return self.push(does, "#", Some(arg.with(digits)));
        }
        let body = known.strip_prefix("--").or_else(|| known.strip_prefix('-')).unwrap_or(known);
        if spec.style == Style::OneDash {
            let (name, _) = body.split_once('=').unwrap_or((body, ""));
            return match self.look(spec, name) {
                Some(does) => self.long(spec, arg, known, does, name, tail),
                None => self.unknown(|| unknown_option(known)),
            };
        }
        if known.starts_with("--") {
            let (name, _) = body.split_once('=').unwrap_or((body, ""));
            if let Some(does) = self.look(spec, name).filter(|_| name.chars().count() > 1) {
                return self.long(spec, arg, known, does, name, tail);
            }
            return self.abbreviated(spec, arg, known, name, tail);
        }
        let (single, _) = known.split_once('=').unwrap_or((known, ""));
        if let Some(does) = self.look(spec, single).filter(|_| single.starts_with('-')) {
            return self.long(spec, arg, known, does, single, tail);
        }
        self.bundle(spec, arg, known, tail);
    }

    /// A unique start of a long name. The real program may have names that the table does not: one of
    /// them may be meant exactly, so it counts only where every option is harmless.
    fn abbreviated(&mut self, spec: &Spec, arg: &Arg, known: &str, name: &str, tail: Tail<'_>) {
        let mut found = spec.starting(name);
        match (found.next(), found.next()) {
            (Some((does, full)), None) if !name.is_empty() => {
                drop(found);
                if !spec.closed {
                    self.unknown(|| format!("`--{name}` is an abbreviation; write the option in full"));
                }
                self.long(spec, arg, known, does, full, tail);
            }
            _ => self.unknown(|| unknown_option(known)),
        }
    }

    fn long(&mut self, spec: &Spec, arg: &Arg, known: &str, does: Does, name: &str, tail: Tail<'_>) {
        let attached = known.find('=').map(|at| behind(arg, at + 1));
        match (attached, tail) {
            (None, Tail::Of(_)) => self.unknown(|| "an option is not known to its end".to_owned()),
            (Some(value), tail) if does.takes_value() || does == Does::Maybe => {
                if let Tail::Of(arg) = tail {
                    self.one_word(spec, arg, true);
                }
                self.push(does, name, Some(value));
            }
            (Some(value), _) if spec.style == Style::OneDash => self.push(does, name, Some(value)),
            (Some(_), _) => {
                self.push(does, name, None);
                self.unknown(|| format!("`{}` takes no value", dashed(name)));
            }
            (None, Tail::None) if does.takes_value() => self.separate(spec, does, name),
            (None, Tail::None) => self.push(does, name, None),
        }
    }

    fn separate(&mut self, spec: &Spec, does: Does, name: &str) {
        let Some(value) = self.next() else {
            self.push(does, name, None);
            return self.unknown(|| format!("`{}` needs a value", dashed(name)));
        };
        self.one_word(spec, value, false);
        if does == Does::Either {
            self.parsed.strays.push(value.clone());
            self.parsed.shifted = true;
        }
        let option = start(value).is_some_and(reads_as_option);
        let program = self.parsed.path.first().map_or("", String::as_str);
        let text = lists(ANY_TEXT, name) || ANY_TEXT_OF.contains(&(program, name));
        if option && !spec.closed && !text {
            self.unknown(|| {
                format!("whether the value of `{}` is an option is not certain; write it behind `=`", dashed(name))
            });
        }
        self.push(does, name, Some(value.clone()));
    }

    /// A value that may become no word or several moves the words after it.
    fn one_word(&mut self, spec: &Spec, arg: &Arg, attached: bool) {
        let glob_is_fine = attached;
        let moves = match &arg.word {
            Word::Glob { .. } => !glob_is_fine && may_be_more(arg) && super::git::stays_a_setting(arg).is_none(),
            _ => may_be_more(arg),
        };
        if moves && spec.closed {
            self.parsed.strays.push(arg.clone());
        } else if moves {
            self.unknown(|| "the value of an option may be no word or several".to_owned());
        }
    }

    fn bundle(&mut self, spec: &Spec, arg: &Arg, known: &str, tail: Tail<'_>) {
        if spec.pairs.split_whitespace().any(|pair| known.contains(pair)) {
            self.unknown(|| format!("two letters of `{known}` are one option"));
        }
        for (at, letter) in known.char_indices().skip(1) {
            let name = &known[at..at + letter.len_utf8()];
            let Some(does) = self.look(spec, name) else {
                return self.unknown(|| unknown_option(&format!("-{name}")));
            };
            let behind_at = at + letter.len_utf8();
            let last = behind_at == known.len() && matches!(tail, Tail::None);
            let digits = matches!(tail, Tail::None)
                && known.get(behind_at..).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
            match spec.short {
                Short::Alone if !last && !does.takes_value() => {
                    self.unknown(|| format!("only the first letter of `{known}` is looked at"));
                }
                Short::Apart if !last && (does.takes_value() || does == Does::Maybe) && !digits => {
                    self.unknown(|| format!("the value in `{known}` is the next word"));
                }
                _ => {}
            }
            if does == Does::Maybe || (does.takes_value() && !last) {
                if let Tail::Of(arg) = tail {
                    self.one_word(spec, arg, true);
                }
                return self.push(does, name, (!last).then(|| behind(arg, behind_at)));
            }
            if does.takes_value() {
                return self.separate(spec, does, name);
            }
            self.push(does, name, None);
        }
        if let Tail::Of(_) = tail {
            self.unknown(|| "an option is not known to its end".to_owned());
        }
    }
}

fn unknown_option(text: &str) -> String {
    format!("`{text}` is not an option the analysis knows")
}

/// The text that the word is known to start with; for several words, none.
fn start(arg: &Arg) -> Option<&str> {
    match &arg.word {
        Word::Exact(text) => Some(text),
        Word::Glob { prefix, .. } | Word::Opaque { prefix, .. } => Some(prefix),
        Word::OneOf(_) => None,
    }
}

/// The part of a word behind its first `at` known bytes.
fn behind(arg: &Arg, at: usize) -> Arg {
    let cut = |text: &str| text.get(at..).unwrap_or_default().to_owned();
    let word = match &arg.word {
        Word::Exact(text) => Word::Exact(cut(text)),
        Word::Glob { pattern, prefix } => Word::Glob { pattern: cut(pattern), prefix: cut(prefix) },
        Word::Opaque { prefix, splits, why } => Word::Opaque { prefix: cut(prefix), splits: *splits, why: why.clone() },
        Word::OneOf(words) => Word::OneOf(words.clone()),
    };
    Arg { word, span: arg.span.clone() }
}

/// Whether the word, or one of the words it becomes, may start with `-`.
pub fn may_be_option(arg: &Arg) -> bool {
    fn may(word: &Word) -> bool {
        match word {
            Word::Exact(text) => text.len() > 1 && text.starts_with('-'),
            Word::Glob { prefix, .. } => prefix.is_empty() || prefix.starts_with('-'),
            Word::Opaque { prefix, splits, .. } => *splits || prefix.is_empty() || prefix.starts_with('-'),
            Word::OneOf(words) => words.iter().any(may),
        }
    }
    may(&arg.word)
}

/// Words behind the operand that ends a program's options, of which it takes some for options again, or none: what they do
/// cannot be said.
pub(super) fn late_options(words: &[Arg], judge: &mut Judge<'_>) {
    for word in words.iter().filter(|word| may_be_option(word)) {
        match is_file_here(word) {
            true => judge.code("the name of a file here may become an option"),
            false => judge.opaque("an option stands between the operands"),
        }
    }
}

/// Whether the word stands for names of files below the working directory, or for those of a list.
pub fn is_file_here(arg: &Arg) -> bool {
    match &arg.word {
        Word::Glob { pattern, prefix } => prefix.is_empty() && !pattern.contains(".."),
        Word::Opaque { prefix, why, .. } if why.is_listed() || *why == Why::Found => prefix.is_empty(),
        Word::Opaque { prefix, why: Why::Kept, .. } => !prefix.starts_with('-'),
        _ => false,
    }
}

/// Whether the word may become no word or several.
pub fn may_be_more(arg: &Arg) -> bool {
    fn may(word: &Word) -> bool {
        match word {
            Word::Exact(_) => false,
            Word::Glob { pattern, .. } => !super::labels::is_one_word(pattern),
            Word::Opaque { splits, .. } => *splits,
            Word::OneOf(words) => words.iter().any(may),
        }
    }
    may(&arg.word)
}
