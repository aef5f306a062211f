//! What came from the network, and what holds it now: words, variables, files, standard input. Whoever runs one of these runs
//! what nobody has seen.
//!
//! What is put away is remembered to the end of the text, in branches and subshells, too: to forget it would be to know that
//! it was replaced. What only unpacks, clones or installs is no download of one file, and is not followed.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::super::danger::Danger;
use super::super::fact::Fact;
use super::super::judge::{Arg, Stdin, Word as Became, normal};
use super::super::parse::is_name;
use super::super::script::{Fd, Script, number};
use super::code::runs_text;
use super::shapes::{is_declaration, reads_script_from_stdin};
use super::{Report, State, Walker, code, input};

/// Programs that make commands of a list.
const LISTS: &[&str] = &["xargs", "gxargs", "parallel", "sem"];

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
    /// Names of the same file, or of the same directory.
    links: Vec<BTreeSet<PathBuf>>,
    /// Numbers of descriptors out of which it comes.
    descriptors: BTreeSet<String>,
    /// What reads the output of a command: `> >(…)`.
    readers: Vec<(Script, State)>,
    /// Those that stay for all that follows: `exec > >(…)`.
    lasting: Vec<(Script, State)>,
    /// How often a variable that holds it was asked for.
    asked: usize,
}

/// A moment: what comes later is looked for behind it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    reports: usize,
    asked: usize,
    readers: usize,
}

/// Most links that are followed, and names that one file may have: a script makes a few.
const LINKS: usize = 32;

impl Fetched {
    /// A variable is asked for its value.
    pub(super) fn asked_for(&mut self, name: &str) {
        self.asked += usize::from(self.names.contains(name));
    }

    /// Whether nothing came from the network yet that could be run.
    fn is_nothing(&self) -> bool {
        let Fetched { words, values, files, descriptors, .. } = self;
        words.is_empty() && values.is_empty() && files.is_empty() && descriptors.is_empty()
    }

    /// The word at this place reached the network itself.
    pub(super) fn word(&mut self, span: &Range<usize>) {
        self.words.insert((span.start, span.end));
    }

    /// A command writes to what this script reads.
    pub(super) fn read_by(&mut self, script: &Script, state: &State) {
        self.readers.push((script.clone(), state.clone()));
    }

    /// A descriptor has it, or a variable with the number of one.
    pub(super) fn descriptor(&mut self, fd: &Fd) {
        match fd {
            Fd::Number(number) => self.descriptors.insert(number.clone()),
            Fd::Named(name) => self.names.insert(name.clone()),
            Fd::Default => false,
        };
    }

    /// A descriptor is read: whether it has it.
    pub(super) fn reads_descriptor(&mut self, from: &str) -> bool {
        let holds = self.descriptors.contains(number(from.trim_end_matches('-')));
        self.asked += usize::from(holds);
        holds
    }

    /// Whether this file holds it, by whatever name.
    fn holds(&self, path: &Path) -> bool {
        let descriptor = || {
            let text = path.to_str().unwrap_or_default();
            let number = ["/dev/fd/", "/proc/self/fd/"].iter().find_map(|above| text.strip_prefix(above));
            number.is_some_and(|number| self.descriptors.contains(number))
        };
        if self.files.contains(path) || descriptor() {
            return true;
        }
        if self.files.is_empty() || self.links.is_empty() {
            return false;
        }
        let mut names = vec![path.to_owned()];
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            for link in &self.links {
                for behind in link.iter().filter_map(|known| name.strip_prefix(known).ok()) {
                    // Joined to nothing, a path would get a slash at its end.
                    let other = |known: &PathBuf| match behind.as_os_str().is_empty() {
                        true => known.clone(),
                        false => known.join(behind),
                    };
                    let others: Vec<PathBuf> = link.iter().map(other).filter(|other| !names.contains(other)).collect();
                    names.extend(others);
                }
            }
            at += 1;
            if names.len() > LINKS {
                break;
            }
        }
        names.iter().any(|name| self.files.contains(name))
    }
}

impl Walker<'_> {
    pub(super) fn moment(&self) -> Moment {
        let Fetched { asked, readers, .. } = &self.fetched;
        Moment { reports: self.reports.len(), asked: *asked, readers: readers.len() }
    }

    /// Whether something came from the network since then, or out of what holds it.
    pub(super) fn fetches_since(&self, then: Moment) -> bool {
        let from = |fact: &Fact| match fact {
            Fact::Net(_) => true,
            Fact::Read(target) | Fact::Delete(target) => self.fetched.holds(&target.path),
            _ => false,
        };
        self.fetched.asked > then.asked || self.since(then.reports).any(from)
    }

    /// Whether a pipeline hands on what came from the network since then, or what its first command finds on its input.
    pub(super) fn passes_on(&self, then: Moment, first: Option<&&[Arg]>, stdin: &Stdin) -> bool {
        let given = matches!(stdin, Stdin::Pipe { remote: true, .. });
        given && first.is_some_and(|argv| argv.is_empty() || !input::leaves_it(argv)) || self.fetches_since(then)
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
        let number = |pair: &[Arg]| {
            let known = pair.last().and_then(Arg::exact).is_some_and(|text| self.fetched.descriptors.contains(text));
            known && pair.first().and_then(Arg::exact) == Some("-u")
        };
        let remote = matches!(stdin, Stdin::Pipe { remote: true, .. }) || rest.windows(2).any(number);
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
        let Fetched { files, descriptors, .. } = &self.fetched;
        let known = !files.is_empty() || !descriptors.is_empty();
        known && state.cwd.iter().any(|place| self.fetched.holds(&normal(&place.join(name))))
    }

    /// Notes that a command gives a file another name.
    pub(super) fn links_of(&mut self, args: &[Arg], state: &State) {
        if !matches!(args.first().and_then(Arg::exact), Some("ln" | "gln" | "link" | "cp" | "gcp")) {
            return;
        }
        let texts: Vec<&str> = args.iter().map(|arg| arg.exact().unwrap_or_default()).collect();
        let letters = |text: &&str| text.starts_with('-') && !text.starts_with("--") && text.contains(['s', 'l']);
        let copies = texts.iter().any(|text| letters(text) || matches!(*text, "--link" | "--symbolic-link"));
        match texts.first().copied().unwrap_or_default() {
            "ln" | "gln" | "link" => {}
            "cp" | "gcp" if copies => {}
            _ => return,
        }
        let into = texts.windows(2).find_map(|pair| match pair {
            ["-t" | "--target-directory", into] => Some(*into),
            [_, long] => long.strip_prefix("--target-directory="),
            _ => None,
        });
        let mut names: Vec<&str> = texts.iter().skip(1).copied().filter(|text| !text.starts_with('-')).collect();
        names.retain(|name| !name.is_empty() && Some(*name) != into);
        let place = match into {
            Some(into) => into,
            None if names.len() > 1 => names.pop().unwrap_or_default(),
            None => ".",
        };
        for name in names {
            let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
            // Where the link lies its name is read, if it is one by name.
            let above = Path::new(place).parent().unwrap_or(Path::new(""));
            let paths = [
                PathBuf::from(name),
                above.join(name),
                Path::new(place).join(name),
                place.into(),
                Path::new(place).join(last),
            ];
            let at = state.cwd.iter().flat_map(|cwd| paths.iter().map(|path| normal(&cwd.join(path))));
            // The directory itself is no name of the file.
            let mut at: BTreeSet<PathBuf> = at.collect();
            at.retain(|path| !state.cwd.contains(path));
            if self.fetched.links.len() < LINKS {
                self.fetched.links.push(at);
            }
        }
    }

    /// Says so where what came since then is handed to scripts that run it: `> >(sh)`, `| tee >(sh)`.
    pub(super) fn read_since(&mut self, then: Moment) {
        let mut readers = self.fetched.readers.split_off(then.readers.min(self.fetched.readers.len()));
        let fetches = self.fetches_since(then);
        if fetches {
            readers.append(&mut self.fetched.lasting);
        } else if self.last.as_deref() == Some("exec") {
            self.fetched.lasting.append(&mut readers);
        }
        if !fetches || readers.is_empty() {
            return;
        }
        let last = self.last.clone();
        for (script, mut state) in readers {
            let start = self.reports.len();
            state.stdin = Stdin::pipe(true);
            self.apart(|walker| walker.script(&script, &mut state));
            // The rest was said where it stands.
            let forbidden = |fact: &Fact| matches!(fact, Fact::Forbidden(Danger::Fetched, _));
            for mut report in self.reports.split_off(start) {
                report.facts.retain(forbidden);
                if !report.facts.is_empty() {
                    self.reports.push(report);
                }
            }
        }
        self.last = last;
    }

    /// Says so where a command runs what came from the network: as a shell's or an interpreter's text, as its file, as its
    /// input, or as the command itself.
    pub(super) fn feed(&self, program: &str, args: &[Arg], state: &State, stdin: &Stdin, report: &mut Report) {
        let remote_pipe = matches!(stdin, Stdin::Pipe { remote: true, .. });
        if !remote_pipe && self.fetched.is_nothing() {
            return;
        }
        let base = program.rsplit('/').next().unwrap_or_default();
        let place = |arg: &Arg| (arg.span.start, arg.span.end);
        let word = |arg: &Arg| self.fetched.words.contains(&place(arg));
        let value = |arg: &Arg| word(arg) || self.fetched.values.contains(&place(arg));
        let file = |arg: &Arg| arg.exact().is_some_and(|name| self.is_fetched(name, state));
        let runs = match runs_text(base) {
            _ if LISTS.contains(&base) => {
                let listed = remote_pipe || code::list_sources(args).any(|arg| value(arg) || file(arg));
                listed && code::runs_list(args)
            }
            true if only_looks(base, args) => false,
            true => {
                args.iter().skip(1).any(word)
                    || code_words(args).any(|arg| value(arg) || file(arg))
                    || remote_pipe && reads_script_from_stdin(args)
            }
            false => remote_pipe && code::runs_its_input(base, args),
        };
        let code = code::code_of(base, args);
        let input = |arg: &&Arg| remote_pipe && code::name_in(arg).is_some_and(code::is_input);
        let named = |arg: &&Arg| code::name_in(arg).is_some_and(|name| self.is_fetched(name, state));
        // A text that begins with what is known only has something put into it.
        let whole = |arg: &&Arg| {
            let into = |prefix: &str| !(prefix.is_empty() || prefix.starts_with("--") && prefix.ends_with('='));
            value(arg) && !matches!(&arg.word, Became::Opaque { prefix, .. } if into(prefix))
        };
        let runs = runs
            || code.files.iter().any(|arg| value(arg) || input(arg) || named(arg))
            || code.texts.iter().any(whole)
            || code.lying.iter().any(|name| self.is_fetched(name, state));
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

/// The words of a command that it runs as text or as a file; the others are for that text. What a wrapper runs is a command
/// of its own.
pub(super) fn code_words(args: &[Arg]) -> impl Iterator<Item = &Arg> {
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
