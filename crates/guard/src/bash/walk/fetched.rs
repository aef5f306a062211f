//! What came from the network, and what holds it now: words, variables, files, standard input. Whoever runs one of these runs
//! what nobody has seen.
//!
//! What is put away is remembered to the end of the text, in branches and subshells, too: to forget it would be to know that
//! it was replaced. What only unpacks, clones or installs is no download of one file, and is not followed.

use super::*;

/// Programs that name a file after the address.
const DOWNLOADERS: &[&str] = &["curl", "wget", "aria2c", "axel", "lwp-download"];

/// What holds it.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    /// Places of words with a substitution that reached the network.
    words: BTreeSet<(usize, usize)>,
    /// Places of words with the value of a variable that holds it.
    values: BTreeSet<(usize, usize)>,
    names: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
    /// How often a variable that holds it was asked for.
    asked: usize,
}

/// A moment: what comes later is looked for behind it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    reports: usize,
    asked: usize,
}

impl Fetched {
    /// A variable is asked for its value.
    pub(super) fn asked_for(&mut self, name: &str) {
        self.asked += usize::from(self.names.contains(name));
    }

    /// The word at this place reached the network itself.
    pub(super) fn word(&mut self, span: &Range<usize>) {
        self.words.insert((span.start, span.end));
    }
}

impl Walker<'_> {
    pub(super) fn moment(&self) -> Moment {
        Moment { reports: self.reports.len(), asked: self.fetched.asked }
    }

    /// Whether something came from the network since then, or out of what holds it.
    pub(super) fn fetches_since(&self, then: Moment) -> bool {
        let from = |fact: &Fact| match fact {
            Fact::Net(_) => true,
            Fact::Read(target) | Fact::Delete(target) => self.fetched.files.contains(&target.path),
            _ => false,
        };
        self.fetched.asked > then.asked || self.since(then.reports).any(from)
    }

    /// Notes the words that came of one.
    pub(super) fn words_since(&mut self, then: Moment, became: &[Arg]) {
        if !self.fetches_since(then) {
            return;
        }
        let itself = self.since(then.reports).any(|fact| matches!(fact, Fact::Net(_)));
        let into = if itself { &mut self.fetched.words } else { &mut self.fetched.values };
        into.extend(became.iter().map(|arg| (arg.span.start, arg.span.end)));
    }

    /// Notes what a variable was given.
    pub(super) fn name_since(&mut self, then: Moment, name: &str) {
        if self.fetches_since(then) {
            self.fetched.names.insert(name.to_owned());
        }
    }

    /// Notes the variables that a command sets of what it reads, or of its own words.
    pub(super) fn names_of(&mut self, args: &[Arg], stdin: &Stdin) {
        let Some((name, rest)) = args.split_first() else { return };
        let held = |arg: &&Arg| {
            let place = (arg.span.start, arg.span.end);
            self.fetched.words.contains(&place) || self.fetched.values.contains(&place)
        };
        let remote = matches!(stdin, Stdin::Pipe { remote: true, .. });
        let mut names: Vec<String> = Vec::new();
        match name.exact().unwrap_or_default() {
            "read" | "mapfile" | "readarray" if remote => {
                names.extend(["REPLY".to_owned(), "MAPFILE".to_owned()]);
                names.extend(rest.iter().filter_map(Arg::exact).filter(|text| is_name(text)).map(str::to_owned));
            }
            "printf" if rest.iter().any(|arg| held(&arg)) => {
                let mut words = rest.iter().filter_map(Arg::exact);
                names.extend(words.by_ref().find(|text| *text == "-v").and_then(|_| words.next()).map(str::to_owned));
            }
            declares if is_declaration(declares) => {
                let starts = rest.iter().filter(held).filter_map(|arg| match &arg.word {
                    Became::Exact(text) => text.split_once('='),
                    Became::Opaque { prefix, .. } | Became::Glob { prefix, .. } => prefix.split_once('='),
                    Became::OneOf(_) => None,
                });
                names.extend(starts.map(|(name, _)| name.trim_end_matches('+').to_owned()));
            }
            _ => {}
        }
        self.fetched.names.extend(names);
    }

    /// Notes the files that a pipeline has put it into, if it did.
    pub(super) fn files_since(&mut self, then: Moment) {
        if !self.fetches_since(then) {
            return;
        }
        let mut files = Vec::new();
        for report in self.reports.get(then.reports..).unwrap_or_default() {
            let downloads = report.argv.first().and_then(Arg::exact).is_some_and(|name| DOWNLOADERS.contains(&name));
            let names = if downloads { named_by(&report.argv) } else { Vec::new() };
            for fact in &report.facts {
                let Fact::Write(target) = fact else { continue };
                files.extend(names.iter().map(|name| target.path.join(name)));
                files.extend((!target.tree).then(|| target.path.clone()));
            }
        }
        self.fetched.files.extend(files);
    }

    /// Whether one of these files holds it.
    pub(super) fn is_fetched(&self, name: &str, state: &State) -> bool {
        let files = &self.fetched.files;
        !files.is_empty() && state.cwd.iter().any(|place| files.contains(&normal(&place.join(name))))
    }

    /// Says so where a command runs what came from the network: as a shell's or an interpreter's text, as its file, as its
    /// input, or as the command itself.
    pub(super) fn feed(&self, program: &str, args: &[Arg], state: &State, stdin: &Stdin, report: &mut Report) {
        let base = program.rsplit('/').next().unwrap_or_default();
        let remote_pipe = matches!(stdin, Stdin::Pipe { remote: true, .. });
        let lists = matches!(base, "xargs" | "gxargs" | "parallel");
        let runs = match runs_text(base) {
            _ if lists && remote_pipe && runs_input(args) => true,
            true if only_looks(base, args) => false,
            true => {
                let place = |arg: &Arg| (arg.span.start, arg.span.end);
                let file = |arg: &Arg| arg.exact().is_some_and(|name| self.is_fetched(name, state));
                args.iter().skip(1).any(|arg| self.fetched.words.contains(&place(arg)))
                    || code_words(args).any(|arg| self.fetched.values.contains(&place(arg)) || file(arg))
                    || remote_pipe && reads_script_from_stdin(args)
            }
            false => false,
        };
        if runs {
            report.facts.push(Fact::Forbidden(Danger::Fetched, format!("`{base}` runs what comes from the network")));
        }
    }

    /// The same of a command that is itself what came: a word of it, or a file.
    pub(super) fn is_fetched_command(&self, first: &Arg, state: &State) -> bool {
        let place = (first.span.start, first.span.end);
        match first.exact() {
            Some(name) => name.contains('/') && self.is_fetched(name, state),
            None => self.fetched.words.contains(&place) || self.fetched.values.contains(&place),
        }
    }
}

/// The names that downloads get: what stands behind `-o`, `-O` and their bundles, and the ends of addresses.
fn named_by(argv: &[Arg]) -> Vec<&str> {
    let texts = argv.iter().map(|arg| match &arg.word {
        Became::Exact(text) | Became::Glob { pattern: text, .. } => text.as_str(),
        _ => "",
    });
    let texts: Vec<&str> = texts.collect();
    let behind =
        |pair: &[&'_ str]| matches!(pair, [option, _] if option.starts_with('-') && option.ends_with(['o', 'O']));
    let given = texts.windows(2).filter(|pair| behind(pair)).filter_map(|pair| pair.get(1).copied());
    let addresses = texts.iter().skip(1).filter(|text| !text.starts_with('-'));
    let ends = addresses.filter_map(|text| text.split(['?', '#']).next()?.rsplit_once('/')).map(|(_, name)| name);
    given.chain(ends).filter(|name| !name.is_empty()).collect()
}

/// Whether it only looks whether the text can be read: that one option, one file, and nothing else.
fn only_looks(base: &str, args: &[Arg]) -> bool {
    let [_, option, file] = args else { return false };
    let plain = file.exact().is_some_and(|name| !name.starts_with(['-', '+']));
    plain
        && match base {
            "sh" | "bash" | "dash" | "zsh" | "ksh" => option.exact() == Some("-n"),
            "node" => option.exact() == Some("--check"),
            _ => false,
        }
}

fn runs_text(base: &str) -> bool {
    RUNS_TEXT.iter().any(|name| base == *name || base.strip_prefix(name).is_some_and(is_version))
}

/// The words of a command that it runs as text or as a file; the others are for that text. What a wrapper runs is a command
/// of its own.
fn code_words(args: &[Arg]) -> impl Iterator<Item = &Arg> {
    let name = args.first().and_then(Arg::exact).unwrap_or_default();
    let every = name == "eval";
    let mut done = matches!(name.rsplit('/').next(), Some("env" | "sudo" | "xargs"));
    let mut code = false;
    args.iter().skip(1).filter(move |arg| {
        let text = arg.exact().unwrap_or_default();
        let option = text.starts_with(['-', '+']) && text.len() > 1;
        let here = every || !done && (code || !option);
        code = option && text.trim_start_matches(['-', '+']).ends_with(['c', 'e', 'r', 'p']) || text == "--eval";
        done |= here;
        here
    })
}

/// Whether `xargs` makes code of what it reads: the text behind `-c` of a shell, a part of it, or the very commands.
fn runs_input(args: &[Arg]) -> bool {
    let texts: Vec<&str> = args.iter().map(|arg| arg.exact().unwrap_or_default()).collect();
    let Some(shell) = texts.iter().skip(1).position(|text| runs_text(text.rsplit('/').next().unwrap_or(text))) else {
        return texts.first() == Some(&"parallel") && texts.iter().skip(1).all(|text| text.starts_with('-'));
    };
    let (before, behind) = texts.split_at(shell + 2);
    let code = behind.iter().position(|text| text.starts_with('-') && text.ends_with(['c', 'e', 'r']));
    let mut marks = before.windows(2).filter_map(|pair| match pair {
        ["-I", mark] => Some(*mark),
        [_, option] => option.strip_prefix("-I").filter(|mark| !mark.is_empty()),
        _ => None,
    });
    let put_in = |code: &&str| code.contains("{}") || marks.any(|mark| code.contains(mark));
    code.is_some_and(|at| behind.get(at + 1).is_none_or(put_in))
}
