//! Where the specification of a command puts what it found out.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::repository::{Repositories, Repository};

use super::analysis::{is_stream, public_file};
use super::commands::Printed;
use super::danger::Danger;
use super::fact::{Category, Fact, Target};
use super::finding::Finding;
use super::globs;
use super::words::LABEL;

/// Where a command would run. Nothing of it needs to exist.
#[derive(Debug, Clone)]
pub struct Site {
    /// The workspace roots, absolute.
    pub roots: Vec<PathBuf>,
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// What `~` and `$HOME` mean, absolute.
    pub home: PathBuf,
    /// Who says what git finds in a directory. Without anybody no repository is configured to run anything.
    pub repositories: Option<Arc<dyn Repositories>>,
    /// Variables that are set before, to values that are not known, beside those that every command sees. Those are
    /// written in capitals.
    pub given: Vec<String>,
    /// The temporary directories that commands have for themselves.
    pub scratch: Scratch,
}

/// Directories that are a command's own: what others have in them is not there for it, and what it leaves is for no other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scratch {
    /// Which they are. None where it runs without a sandbox, or in one without mounts.
    pub dirs: &'static [&'static str],
    /// Where the session's are kept from one command to the next, where they are.
    pub kept: Option<PathBuf>,
    /// Whether it is looked up what others have there. On paper nobody has anything.
    pub shared: bool,
}

impl Scratch {
    /// What the sandbox has of its own, new for each command.
    pub fn private() -> Scratch {
        Scratch { dirs: &["/tmp", "/var/tmp", "/dev/shm"], kept: None, shared: false }
    }

    /// Whether a path is one of the directories.
    pub fn is_one(&self, path: &Path) -> bool {
        self.dirs.iter().any(|dir| path == Path::new(dir))
    }

    /// Whether a path lies below one of the directories.
    pub fn holds(&self, path: &Path) -> bool {
        self.dirs.iter().any(|dir| path.starts_with(dir)) && !self.is_one(path)
    }
}

impl Site {
    /// A place of which nothing is known but its paths.
    pub fn on_paper(roots: Vec<PathBuf>, cwd: PathBuf, home: PathBuf) -> Site {
        Site { roots, cwd, home, repositories: None, given: Vec::new(), scratch: Scratch::private() }
    }

    /// The same, where programs see these variables.
    pub fn seeing<'e>(self, names: impl IntoIterator<Item = &'e String>) -> Site {
        let small = |name: &&String| name.bytes().any(|byte| byte.is_ascii_lowercase());
        let given = names.into_iter().filter(small).cloned().collect();
        Site { given, ..self }
    }

    /// The same, seen from another directory.
    pub(super) fn moved(&self, cwd: PathBuf) -> Site {
        Site { cwd, ..self.clone() }
    }

    /// Whether what lies at `place` is of the workspace, or of the session's own: nobody else's code.
    pub(super) fn is_ours(&self, place: &Path) -> bool {
        self.roots.iter().any(|root| place.starts_with(root)) || self.scratch.holds(place)
    }

    /// The top of the work tree that `dir` lies in, where it is certain and lies in the workspace.
    pub(super) fn top(&self, dir: &Path) -> Option<PathBuf> {
        let top = self.repositories.as_ref()?.top(dir)?;
        self.roots.iter().any(|root| top.starts_with(root)).then_some(top)
    }

    /// What git would find in `dir`.
    pub(super) fn repository(&self, dir: &Path) -> Option<Arc<Repository>> {
        self.repositories.as_ref().map(|repositories| repositories.at(dir))
    }
}

/// What a word of a command becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Exactly this text.
    Exact(String),
    /// A file name pattern: zero or more words, each starting with `prefix` (the text before the first wildcard).
    Glob {
        /// The pattern with quoting removed.
        pattern: String,
        /// Literal text before the first wildcard; empty or `-…` may become an option.
        prefix: String,
    },
    /// Exactly one of these words (a loop variable over known words, a case of branches).
    OneOf(Vec<Word>),
    /// Not known.
    Opaque {
        /// Known text at its start, for example `./` in `./$f`.
        prefix: String,
        /// Unquoted: it may be no word, or several.
        splits: bool,
        /// Why it is not known.
        why: Why,
    },
}

/// A resolved word and where it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arg {
    /// What it becomes.
    pub word: Word,
    /// Byte range in the analysed text.
    pub span: Range<usize>,
}

impl Arg {
    /// The text, if it is exactly known.
    pub fn exact(&self) -> Option<&str> {
        match &self.word {
            Word::Exact(text) => Some(text),
            _ => None,
        }
    }

    /// A part of this argument (the value behind `--opt=`), at the same place.
    pub fn with(&self, text: &str) -> Arg {
        self.as_word(Word::Exact(text.to_owned()))
    }

    /// Another word at the same place.
    pub fn as_word(&self, word: Word) -> Arg {
        Arg { word, span: self.span.clone() }
    }
}

/// Why a word or a value is not known. Some reasons say enough to be told from the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It is a name that `read` takes from a list.
    Listed,
    /// It is one of those that a command lists below the working directory, without its backslashes, as `read` takes them out.
    Loose,
    /// It is one of the names that a command lists, which lie below the working directory.
    Found,
    /// The repository holds it, or the calendar: a file of the workspace, a tag, a commit, a date. Who can change it can
    /// change what builds and tests run.
    Kept,
    /// It is options of a compiler that the system's list of packages says.
    Packaged,
    /// It is a list of directories, of the workspace and those that were in it before.
    Places,
    /// It is a number.
    Number,
    /// It is an array that is written out.
    Array,
    /// This reason.
    Other(String),
}

impl Why {
    /// Whether it is a name of a list, whoever made that.
    pub fn is_listed(&self) -> bool {
        matches!(self, Why::Listed | Why::Loose)
    }

    /// The reason as a person reads it.
    pub fn text(&self) -> &str {
        match self {
            Why::Listed => "names that a list holds",
            Why::Found | Why::Loose => "a name that a command lists",
            Why::Kept => "a text that the repository holds",
            Why::Packaged => "options that the list of packages says",
            Why::Places => "places of the workspace, and those that were there before",
            Why::Number => "a number",
            Why::Array => "an array",
            Why::Other(why) => why,
        }
    }
}

impl From<&str> for Why {
    fn from(why: &str) -> Why {
        Why::Other(why.to_owned())
    }
}

impl From<String> for Why {
    fn from(why: String) -> Why {
        Why::Other(why)
    }
}

/// Collects the facts of one simple command. A specification calls these methods; it never decides.
#[derive(Debug)]
pub struct Judge<'a> {
    /// Where it runs (the working directory is the tracked one).
    pub site: &'a Site,
    /// What was found out so far.
    pub facts: Vec<Fact>,
    /// Findings of this command, in order.
    pub findings: Vec<Finding>,
    /// Nested commands and scripts that the walker still has to analyse.
    pub nested: Vec<Nested>,
    /// Whether standard input comes from a pipe or a redirection, and what feeds it.
    pub stdin: Stdin,
    /// The whole simple command in the text.
    pub span: Range<usize>,
    /// What the script has put into files before. For questions and warnings: it is not exact.
    pub written: Option<Rc<Written>>,
    /// How many more paths its patterns may be held against.
    left: usize,
}

/// Most paths that the patterns of one command stand for. Five of the widest patterns, and more than any that a person
/// writes; each is looked up.
const POINTED_AT: usize = 1024;

/// What a command's standard input is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Stdin {
    /// Closed or empty.
    #[default]
    None,
    /// A pipe.
    Pipe {
        /// What the commands on the left print.
        printed: Printed,
        /// Whether what comes may be remote.
        remote: bool,
        /// About what comes, where a command prints its own words. For warnings: it is not exact.
        told: Option<String>,
        /// A part of what comes, or a guess at it. It only raises questions and warnings.
        hint: Option<String>,
    },
    /// A file.
    File {
        /// What it holds, where the script itself has just put that there. For questions and warnings: it is not exact.
        told: Option<String>,
    },
    /// This very text: a here-document or here-string without unknown parts.
    Text(String),
    /// A here-document or here-string with parts that are not known.
    Unknown,
}

impl Stdin {
    /// A pipe of which no more is known.
    pub fn pipe(remote: bool) -> Stdin {
        Stdin::Pipe { printed: Printed::Anything, remote, told: None, hint: None }
    }

    /// About what comes, where that is known.
    pub fn told(&self) -> Option<&str> {
        match self {
            Stdin::Text(text) => Some(text),
            Stdin::Pipe { told, hint, .. } => told.as_deref().or(hint.as_deref()),
            Stdin::File { told } => told.as_deref(),
            Stdin::None | Stdin::Unknown => None,
        }
    }
}

/// What the script has put into files before, by their paths.
pub type Written = std::collections::BTreeMap<PathBuf, String>;

/// Something inside a command that is itself a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nested {
    /// The words after a wrapper: `timeout 5 CMD…`. Standard input is the wrapper's.
    Argv(Vec<Arg>),
    /// Script text for a shell: `bash -c TEXT`. `args` are `$0`, `$1`, ….
    Script {
        /// Who reads it.
        shell: Shell,
        /// The text.
        text: String,
        /// The positional parameters after it.
        args: Vec<Arg>,
        /// Where it stands.
        span: Range<usize>,
    },
}

/// A shell that reads a script in an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// bash itself.
    Bash,
    /// Whatever `sh` is: bash on one machine, dash or ash on another.
    Sh,
}

impl<'a> Judge<'a> {
    /// An empty collection for the command at `span`.
    pub fn new(site: &'a Site, stdin: Stdin, span: Range<usize>) -> Judge<'a> {
        Judge {
            site,
            facts: Vec::new(),
            findings: Vec::new(),
            nested: Vec::new(),
            stdin,
            span,
            written: None,
            left: POINTED_AT,
        }
    }

    /// The command reads this file (or, for a pattern, what it matches).
    pub fn read(&mut self, arg: &Arg) {
        self.path(arg, false, Fact::Read);
    }

    /// The command reads this tree.
    pub fn read_tree(&mut self, arg: &Arg) {
        self.path(arg, true, Fact::Read);
    }

    /// The command creates or changes this path.
    pub fn write(&mut self, arg: &Arg) {
        self.path(arg, false, Fact::Write);
    }

    /// The command writes below this directory.
    pub fn write_tree(&mut self, arg: &Arg) {
        self.path(arg, true, Fact::Write);
    }

    /// Something else is put in the place of this entry: of a link, and not of what it leads to.
    pub fn replace(&mut self, arg: &Arg) {
        self.entry(arg, false, |target| Fact::Write(Target { itself: true, ..target }), Fact::Write);
    }

    /// The command looks at this entry: where a link leads, and not at what is there.
    pub fn read_entry(&mut self, arg: &Arg) {
        self.entry(arg, false, |target| Fact::Read(Target { itself: true, ..target }), Fact::Read);
    }

    /// The command removes this path.
    pub fn delete(&mut self, arg: &Arg) {
        self.path(arg, false, Fact::Delete);
    }

    /// The command removes this entry, perhaps with all below it: a link and not what it leads to. With a slash behind it a
    /// link is followed. What only gets another name is another matter: the rest of the text may go through that.
    pub fn remove(&mut self, arg: &Arg, tree: bool) {
        self.entry(arg, tree, |target| Fact::Delete(Target { itself: true, ..target }), Fact::Delete);
    }

    /// An entry by its name: a link as one, and with a slash behind it or where the name is not known what it leads to.
    fn entry(&mut self, arg: &Arg, tree: bool, itself: fn(Target) -> Fact, followed: fn(Target) -> Fact) {
        match &arg.word {
            Word::Exact(text) if !text.ends_with(['/', '.']) && !text.contains(LABEL) => self.path(arg, tree, itself),
            Word::OneOf(words) => {
                let one = |word: &Word| Arg { word: word.clone(), span: arg.span.clone() };
                words.iter().for_each(|word| self.entry(&one(word), tree, itself, followed));
            }
            _ => self.path(arg, tree, followed),
        }
    }

    /// The command removes this tree.
    pub fn delete_tree(&mut self, arg: &Arg) {
        self.path(arg, true, Fact::Delete);
    }

    /// The command reads below the working directory.
    pub fn read_cwd(&mut self) {
        self.facts.push(Fact::Read(Target {
            path: self.site.cwd.clone(),
            tree: true,
            itself: false,
            redirected: false,
        }));
    }

    /// The command writes below the working directory.
    pub fn write_cwd(&mut self) {
        self.facts.push(Fact::Write(Target {
            path: self.site.cwd.clone(),
            tree: true,
            itself: false,
            redirected: false,
        }));
    }

    /// It reaches the network.
    pub fn net(&mut self, host: Option<&str>) {
        self.facts.push(Fact::Net(host.map(|host| host.trim_end_matches('.').to_ascii_lowercase())));
    }

    /// It runs workspace code in a known way.
    pub fn code(&mut self, why: impl Into<String>) {
        self.facts.push(Fact::Code(said(why.into())));
    }

    /// It does what cannot be said.
    pub fn opaque(&mut self, why: impl Into<String>) {
        self.facts.push(Fact::Opaque(said(why.into())));
    }

    /// It changes the system.
    pub fn system(&mut self, why: impl Into<String>) {
        self.facts.push(Fact::System(why.into()));
    }

    /// It asks for rights.
    pub fn privilege(&mut self, why: impl Into<String>) {
        self.facts.push(Fact::Privilege(why.into()));
    }

    /// It destroys.
    pub fn destroys(&mut self, category: Category, why: impl Into<String>) {
        self.facts.push(Fact::Destroys(category, why.into()));
    }

    /// Nobody should.
    pub fn forbidden(&mut self, danger: Danger, why: impl Into<String>) {
        self.facts.push(Fact::Forbidden(danger, why.into()));
    }

    /// Notes a finding at `span` (see [`super::FINDINGS`]).
    pub fn find(&mut self, code: &'static str, span: Range<usize>, why: impl Into<String>) {
        self.findings.push(Finding::new(code, span, why));
    }

    /// The rest is a command of its own.
    pub fn command(&mut self, argv: &[Arg]) {
        self.nested.push(Nested::Argv(argv.to_vec()));
    }

    /// This text is a script for a shell.
    pub fn script(&mut self, shell: Shell, text: &str, args: &[Arg], span: Range<usize>) {
        self.nested.push(Nested::Script { shell, text: text.to_owned(), args: args.to_vec(), span });
    }

    fn path(&mut self, arg: &Arg, tree: bool, fact: fn(Target) -> Fact) {
        match &arg.word {
            Word::Exact(text) if text.contains(LABEL) => {
                let prefix = text.split(LABEL).next().unwrap_or_default().to_owned();
                self.path(
                    &Arg { word: Word::Glob { pattern: text.clone(), prefix }, span: arg.span.clone() },
                    tree,
                    fact,
                );
            }
            Word::Exact(text) => {
                let path = self.resolve(text);
                self.steps_through(text);
                let tree = tree && !is_stream(&path);
                let fact = fact(Target { path, tree, itself: false, redirected: false });
                let along = self.along(&fact);
                self.facts.push(fact);
                self.facts.extend(along);
            }
            Word::Glob { pattern, prefix } => {
                if globs::climbs(pattern) {
                    self.opaque("`..` behind a wildcard leads anywhere");
                }
                let above = prefix.rsplit_once('/').map_or("", |(above, _)| above);
                let above = if above.is_empty() && prefix.starts_with('/') { "/" } else { above };
                self.steps_through(above);
                let path = self.resolve(above);
                let whole = fact(Target { path, tree: true, itself: false, redirected: false });
                let reads = matches!(whole, Fact::Read(_));
                if let Some(path) = public_file(&self.resolve(pattern)).filter(|_| reads) {
                    return self.facts.push(fact(Target { path, tree: false, itself: false, redirected: false }));
                }
                self.facts.push(whole);
                if reads {
                    self.follow_links(pattern, fact);
                }
                for name in self.pointed_at(pattern) {
                    let path = self.resolve(&name);
                    let class = crate::classify(&path);
                    if class.secret.is_some() || class.asked().is_some() && !reads {
                        self.facts.push(fact(Target { path, tree: false, itself: false, redirected: false }));
                    }
                }
            }
            Word::OneOf(words) => {
                for word in words {
                    self.path(&Arg { word: word.clone(), span: arg.span.clone() }, tree, fact);
                }
            }
            Word::Opaque { prefix, why, .. } => self.unknown(prefix, why, fact),
        }
    }

    /// Where the links lead that a pattern means: each is read as if it were written out.
    fn follow_links(&mut self, pattern: &str, fact: fn(Target) -> Fact) {
        let Some(repositories) = &self.site.repositories else { return };
        match repositories.links(&self.resolve(&pattern.replace(LABEL, "*"))) {
            Some(links) => {
                let target = |path| fact(Target { path, tree: false, itself: false, redirected: false });
                self.facts.extend(links.into_iter().map(target));
            }
            None => self.opaque("its patterns mean too many files to look at each for links"),
        }
    }

    /// A path that is not known. Names that a list holds are read as code of the workspace reads: what is kept from the
    /// one is kept from the other. They are written only below a directory that is spelled, for a guarded file may be
    /// among them.
    pub(super) fn unknown(&mut self, prefix: &str, why: &Why, fact: fn(Target) -> Fact) {
        let above = prefix.rsplit_once('/').map_or("", |(above, _)| if above.is_empty() { "/" } else { above });
        let path = self.resolve(above);
        let inside = self.site.roots.iter().any(|root| path.starts_with(root)) && !prefix.contains("..");
        match fact(Target { path, tree: true, itself: false, redirected: false }) {
            Fact::Read(_) if *why == Why::Listed && inside => self.code(why.text()),
            // What it may be is what the command has looked at.
            whole @ Fact::Read(_) if matches!(why, Why::Found | Why::Loose) && inside => self.facts.push(whole),
            whole @ Fact::Write(_) if why.is_listed() && inside && !above.is_empty() => {
                self.code(why.text());
                let along = self.along(&whole);
                self.facts.push(whole);
                self.facts.extend(along);
            }
            _ => self.opaque(why.text()),
        }
    }

    /// Paths of the kind that matters which a pattern may match. A command whose patterns mean too many of them is
    /// opaque.
    pub(super) fn pointed_at(&mut self, pattern: &str) -> Vec<String> {
        if self.left == 0 {
            return Vec::new();
        }
        let paths = globs::pointed_at(pattern);
        // A text that is no pattern stands for itself alone.
        self.left = self.left.saturating_sub(paths.len() - 1);
        if self.left == 0 {
            self.opaque("its patterns mean too many files to look at each");
        }
        paths
    }

    /// Whether this is a guarded file.
    pub(super) fn is_guarded(&self, arg: &Arg) -> bool {
        arg.exact().is_some_and(|text| crate::classify(&self.resolve(text)).asked().is_some())
    }

    /// What a file holds that the script has put there itself.
    pub(super) fn text_in(&self, file: &Arg) -> Option<&str> {
        self.written.as_ref()?.get(&self.resolve(file.exact()?)).map(String::as_str)
    }

    /// A text that the command does not say itself, at its place.
    pub(super) fn word(&self, text: impl Into<String>) -> Arg {
        Arg { word: Word::Exact(text.into()), span: self.span.clone() }
    }

    /// What is unpacked or patched in the working directory may be a guarded file below it.
    pub(super) fn fill_cwd(&mut self) {
        let here = self.word(".");
        match self.stands_for_names(&here) {
            Some(name) => self.write_tree(&name),
            None => {
                self.write_cwd();
                super::commands::takes_along(&here, self);
            }
        }
    }

    /// Files come into a directory under names that the command does not say.
    pub(super) fn fill(&mut self, dir: &Arg) {
        let name = self.stands_for_names(dir);
        self.write_tree(name.as_ref().unwrap_or(dir));
    }

    /// What stands for names that are not said, right in a temporary directory of the command's own: that one stays what it
    /// is, and is not written itself. Where the workspace or the home lies below it, it may be those that are filled.
    fn stands_for_names(&self, dir: &Arg) -> Option<Arg> {
        let path = self.resolve(dir.exact()?);
        let somebodys = self.site.roots.iter().chain([&self.site.home]).any(|known| known.starts_with(&path));
        (self.site.scratch.is_one(&path) && !somebodys).then(|| {
            let name = Path::new(super::commands::TEMPORARY).file_name().unwrap_or_default();
            dir.with(&path.join(name).to_string_lossy())
        })
    }

    /// A directory that is named and holds guarded files has them written along with it. The one where the command
    /// stands is not named: most of what works there touches none of them.
    fn along(&self, fact: &Fact) -> Option<Fact> {
        match fact {
            Fact::Write(Target { path, tree: true, .. }) | Fact::Delete(Target { path, tree: true, .. }) => {
                (*path != self.site.cwd).then(|| super::commands::taken_along(path)).flatten()
            }
            _ => None,
        }
    }

    /// The directories out of which a path steps up again count as read.
    fn steps_through(&mut self, text: &str) {
        if text.contains("..") {
            let through = stepped_through(&self.site.cwd, text, &self.site.roots);
            self.facts.extend(
                through
                    .into_iter()
                    .map(|path| Fact::Read(Target { path, tree: false, itself: false, redirected: false })),
            );
        }
    }

    /// `text` joined to the working directory and normalised without looking at the disk.
    pub fn resolve(&self, text: &str) -> PathBuf {
        normal_below(&self.site.cwd, Path::new(text))
    }
}

/// A reason as a person reads it.
fn said(why: String) -> String {
    if why.contains(LABEL) { why.replace(LABEL, "…") } else { why }
}

/// `path` without `.` and `..`, and without a look at the disk.
pub(crate) fn normal(path: &Path) -> PathBuf {
    normal_below(Path::new(""), path)
}

/// The same of `path` as it is seen from the directory `from`.
fn normal_below(from: &Path, path: &Path) -> PathBuf {
    use std::path::Component;
    let from = if path.is_absolute() { Path::new("") } else { from };
    let mut out = PathBuf::with_capacity(from.as_os_str().len() + path.as_os_str().len() + 2);
    out.push("/");
    for part in from.components().chain(path.components()) {
        match part {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => step_up(&mut out),
            _ => {}
        }
    }
    out
}

/// The directories out of which a path steps up again. Where one is a link, the step leads to the directory above the one
/// it leads to, so whoever resolves links has to see it. The roots, and what is above them, are none.
fn stepped_through(from: &Path, text: &str, roots: &[PathBuf]) -> Vec<PathBuf> {
    use std::path::Component;
    let mut at = PathBuf::from("/");
    let mut through = Vec::new();
    for part in from.join(text).components() {
        match part {
            Component::Normal(name) => at.push(name),
            Component::ParentDir => {
                if at.parent().is_some() && !roots.iter().any(|root| root.starts_with(&at)) && !through.contains(&at) {
                    through.push(at.clone());
                }
                step_up(&mut at);
            }
            _ => {}
        }
    }
    through
}

/// One step up. Out of a directory whose name is not known none leads to a place that is: the walker writes such a
/// part as a control character, and `..` stays behind it to be seen.
fn step_up(path: &mut PathBuf) {
    use std::path::Component;
    let stays = match path.components().next_back() {
        Some(Component::ParentDir) => true,
        Some(Component::Normal(part)) => part == "\u{2}" || part == "\u{1}" && path.starts_with("/\u{1}"),
        _ => false,
    };
    if stays {
        path.push("..");
    } else {
        path.pop();
    }
}
