//! What the text itself puts into files: `cat > x.patch <<'EOF'`, `echo 'git clean -fdx' > a.sh`.
//!
//! Whoever reads such a file further down reads what was seen here. It is remembered to the end of the text, in branches
//! and subshells, too, and what is put there later stands behind it: nothing is allowed for it, it only raises questions
//! and warnings.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::super::fact::Fact;
use super::super::judge::{Arg, Shell, Stdin, Word as Became, Written, normal};
use super::code::runs_text;
use super::fetched::code_words;
use super::shapes::{SQL_READERS, told};
use super::{NESTED, NESTING, Report, State, Walker};

/// Most files that are remembered, and most bytes of one: more than any text of a person has.
const FILES: usize = 64;
const BYTES: usize = NESTED;

/// Most bytes of such files that are read, all together: each command may read them again.
pub(super) const REREAD: usize = 4 * NESTED;

/// Who reads a script that is named: the shells, and the one that is running.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "source", "."];

/// Programs that put a file under another name, which is the last of their words.
const GIVES_NAMES: &[&str] = &["mv", "gmv", "cp", "gcp", "ln", "gln", "install", "ginstall"];

/// The files that redirections write, by their facts.
pub(super) fn redirected_to(facts: &[Fact]) -> Vec<PathBuf> {
    let file = |fact: &Fact| match fact {
        Fact::Write(target) if target.redirected && !target.tree => Some(target.path.clone()),
        _ => None,
    };
    facts.iter().filter_map(file).collect()
}

/// Whether a script that is run by its name is one for a shell.
fn is_for_a_shell(text: &str) -> bool {
    text.strip_prefix("#!").is_none_or(|rest| rest.lines().next().is_some_and(|line| line.trim_end().ends_with("sh")))
}

impl Walker<'_> {
    /// Notes what a command with these words puts into files. `facts` are those of its redirections.
    pub(super) fn keeps(&mut self, args: &[Arg], facts: &[Fact], stdin: &Stdin, state: &State) {
        let Some((name, words)) = args.split_first().and_then(|(first, words)| Some((first.exact()?, words))) else {
            return;
        };
        let mut files = redirected_to(facts);
        let text = match name {
            name if GIVES_NAMES.contains(&name) => return self.named_anew(words, state),
            "tee" => {
                let names = words.iter().filter_map(Arg::exact).filter(|name| !name.starts_with('-'));
                files.extend(names.flat_map(|name| state.cwd.iter().map(move |place| normal(&place.join(name)))));
                stdin.told().map(str::to_owned)
            }
            "cat" if words.iter().all(|word| word.exact() == Some("-")) => stdin.told().map(str::to_owned),
            "cat" if !files.is_empty() => {
                self.written_in(&words.iter().filter_map(Arg::exact).collect::<Vec<_>>(), state)
            }
            "echo" | "printf" => told(&[args]),
            _ => None,
        };
        if let Some(text) = text {
            self.holds(files, &text);
        }
    }

    /// Notes what a group or a loop prints of its own words, since `start`, into the files behind it.
    pub(super) fn keeps_printed(&mut self, start: usize, files: Vec<PathBuf>) {
        if let Some(text) = self.printed_since(start).filter(|_| !files.is_empty()) {
            self.holds(files, &text);
        }
    }

    /// A file that is moved, copied or linked is there under its other name, or under its own in another directory.
    fn named_anew(&mut self, words: &[Arg], state: &State) {
        let names: Vec<&str> = words.iter().filter_map(Arg::exact).filter(|name| !name.starts_with('-')).collect();
        let Some((to, from)) = names.split_last() else { return };
        for name in from {
            let Some(text) = self.written_in(&[name], state) else { continue };
            let below = format!("{to}/{}", name.rsplit('/').next().unwrap_or(name));
            let places = [*to, below.as_str()].into_iter();
            let files = places.flat_map(|to| state.cwd.iter().map(move |place| normal(&place.join(to)))).collect();
            self.holds(files, &text);
        }
    }

    /// Puts `text` behind what these files hold.
    fn holds(&mut self, files: Vec<PathBuf>, text: &str) {
        if files.is_empty() {
            return;
        }
        let written = Rc::make_mut(&mut self.written);
        for file in files {
            if !written.contains_key(&file) && written.len() >= FILES {
                continue;
            }
            let held = written.entry(file).or_default();
            if held.len() + text.len() < BYTES {
                held.push_str(text);
                held.push('\n');
            }
        }
    }

    /// What the files with these names hold, where the text has put it there.
    pub(super) fn written_in(&mut self, names: &[&str], state: &State) -> Option<String> {
        if self.written.is_empty() {
            return None;
        }
        let paths = names.iter().flat_map(|name| state.cwd.iter().map(move |place| normal(&place.join(name))));
        let written = Rc::clone(&self.written);
        let texts: Vec<&str> = paths.filter_map(|path| written.get(&path)).map(String::as_str).collect();
        let length = texts.iter().map(|text| text.len()).sum();
        (!texts.is_empty() && self.affords(length)).then(|| texts.concat())
    }

    /// What the files hold that the text has written and a pattern finds, as far as the ends of their names say.
    fn written_as(&mut self, pattern: &str) -> Option<String> {
        let end = pattern.rsplit(['*', '?', ']']).next().unwrap_or_default();
        let written = Rc::clone(&self.written);
        let found = written.iter().filter(|(path, _)| path.to_string_lossy().ends_with(end));
        let texts: Vec<&str> = found.map(|(_, text)| text.as_str()).collect();
        let length = texts.iter().map(|text| text.len()).sum();
        (!texts.is_empty() && self.affords(length)).then(|| texts.concat())
    }

    /// The files that a command with these words may read.
    pub(super) fn seen_by(&mut self, args: &[Arg]) -> Option<Rc<Written>> {
        if self.written.is_empty() {
            return None;
        }
        let named = |path: &Path| {
            let name = path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
            args.iter().skip(1).filter_map(Arg::exact).any(|text| text.contains(name))
        };
        let length = self.written.iter().filter(|(path, _)| named(path)).map(|(_, text)| text.len()).sum();
        (length > 0 && self.affords(length)).then(|| Rc::clone(&self.written))
    }

    /// Whether so much more of what was written is read. Said once where it is not.
    fn affords(&mut self, length: usize) -> bool {
        match self.left.written.checked_sub(length) {
            Some(left) => {
                self.left.written = left;
                return true;
            }
            None if self.left.written > 0 => {
                self.left.written = 0;
                self.say(0..0, Fact::Misparse("too much text in files that are written and read again".to_owned()));
            }
            None => {}
        }
        false
    }

    /// What a pipeline of one command passes on: a file that the text has written, or a patch of the files it names.
    pub(super) fn hint(&mut self, argvs: &[&[Arg]], state: &State) -> Option<String> {
        let [argv @ [program, files @ ..]] = argvs else { return None };
        if program.exact() != Some("cat") {
            return patched(argv);
        }
        let names: Option<Vec<&str>> = files.iter().map(Arg::exact).collect();
        self.written_in(&names?, state)
    }

    /// Says what a file does that the text has written, and that a command now runs: as a script, as code of another
    /// language, or as statements for a database. What cannot be said of it counts as code of the workspace, as before.
    pub(super) fn runs_written(
        &mut self,
        name: &str,
        args: &[Arg],
        span: &Range<usize>,
        state: &State,
        report: &mut Report,
    ) {
        if self.written.is_empty() || self.nesting >= NESTING {
            return;
        }
        let base = name.rsplit('/').next().unwrap_or_default();
        let itself = name.contains('/').then(|| self.written_in(&[name], state)).flatten();
        let script = itself.or_else(|| {
            let file = code_words(args).next().filter(|_| SHELLS.contains(&base))?;
            // Told so before it, a shell only reads the script.
            if args.iter().take_while(|arg| arg.span != file.span).any(|arg| arg.exact() == Some("-n")) {
                return None;
            }
            match &file.word {
                Became::Glob { pattern, .. } => self.written_as(pattern),
                _ => self.written_in(&[file.exact()?], state),
            }
        });
        if let Some(text) = script.filter(|text| is_for_a_shell(text)) {
            if text.len() > self.left.text {
                return self.say(span.clone(), Fact::Misparse("too much text in scripts that are run".to_owned()));
            }
            let start = self.reports.len();
            self.nesting += 1;
            self.nested_script(Shell::Bash, &text, &[], span, state.clone());
            self.nesting -= 1;
            for mut inner in self.reports.split_off(start) {
                inner.facts.retain(|fact| !matches!(fact, Fact::Opaque(_) | Fact::Misparse(_) | Fact::Code(_)));
                if !inner.facts.iter().any(|fact| matches!(fact, Fact::Destroys(..))) {
                    inner.findings.clear();
                }
                let Report { facts, findings, .. } = inner;
                self.reports.push(Report { findings, ..Report::of_the_script(span.clone(), facts) });
            }
        } else if runs_text(base) || SQL_READERS.contains(&base) {
            let names: Vec<&str> = args.iter().skip(1).filter_map(Arg::exact).collect();
            let told = self.written_in(&names, state);
            if told.is_some() {
                self.warned_of(args, &Stdin::File { told }, span, report);
            }
        }
    }

    /// What the commands of a group or a loop print of their own words.
    pub(super) fn printed_since(&self, start: usize) -> Option<String> {
        let reports = self.reports.get(start..).unwrap_or_default().iter().filter(|report| !report.argv.is_empty());
        let lines: Vec<String> = reports.filter_map(|report| told(&[&report.argv])).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// What a command with these words passes on where `before` is what it is fed with.
pub(super) fn hinted(argv: &[Arg], before: Option<String>) -> Option<String> {
    /// They leave lines as they are, or leave some out.
    const PASSES: &str = "cat tee grep sort uniq head tail";
    let texts = || argv.iter().skip(1).filter_map(Arg::exact);
    match argv.first().and_then(Arg::exact)? {
        "echo" | "printf" => told(&[argv]),
        program if PASSES.split(' ').any(|known| known == program) => before,
        // The texts between quotes: `{print "rm -rf "$1}`.
        "awk" | "gawk" | "mawk" => {
            let literals = |program: &str| program.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" ");
            texts().find(|text| text.contains("print")).map(|text| literals(text).replace("\\n", "\n"))
        }
        // What is put in: `s/^/rm -rf /`.
        "sed" | "gsed" => {
            let put_in = |text: &str| {
                let rest = text.strip_prefix('s')?;
                let mark = rest.chars().next().filter(char::is_ascii_punctuation)?;
                rest.split(mark).nth(2).map(|text| text.replace('&', "x"))
            };
            texts().find_map(put_in)
        }
        _ => None,
    }
}

/// The files that git is told to print, as the headers of a patch: `git diff other -- .github`, `git archive x .github`.
fn patched(argv: &[Arg]) -> Option<String> {
    const PRINTS: &[&str] = &["diff", "show", "log", "format-patch", "diff-tree", "diff-index", "stash", "archive"];
    let mut words = argv.iter().map(|arg| arg.exact().unwrap_or_default());
    let prints = words.next() == Some("git") && words.any(|word| PRINTS.contains(&word));
    let named = words.filter(|word| !word.starts_with('-') && !word.is_empty());
    prints.then(|| named.map(|name| format!("+++ b/{name}\n")).collect())
}
