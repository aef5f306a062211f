//! What a call would do to the world, said before it does it.
//!
//! Effects are facts about one call: which resolved paths it reads or writes, which hosts it
//! reaches, what it starts. They carry no opinion; whether they may happen is [`crate::Policy`]'s.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// A resolved place in the file system. Links have been followed: what is judged is what is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Absolute, normalised, every link resolved.
    pub path: PathBuf,
    /// Path below the root that holds it; `None` when it lies outside every root.
    pub below_root: Option<PathBuf>,
    /// Whether that root is where relative paths begin, so that a relative path says which file is meant.
    pub in_first_root: bool,
    /// Whether this names one entry or everything below it.
    pub extent: Extent,
    /// The place as it was written, where links lead from there to `path`: a rule that denies or asks
    /// about the link's name holds, too.
    pub named: Option<Box<Place>>,
    /// Why a write to it counts as guarded, where its name does not say so and something else does.
    pub guarded: Option<&'static str>,
    /// Whether writing it takes back what a call did there that nobody had to be asked about. Its name, then, is no
    /// question either.
    pub taken_back: bool,
    /// Whether it lies in a temporary directory that the session's commands have for themselves, so that nothing there
    /// is anybody else's.
    pub scratch: bool,
    /// Whether it is read in such a directory where nobody has looked who has something there: on paper, where nobody has.
    pub unclaimed: bool,
    /// Whether it is written by a redirection: a rule that allows a command says nothing of where its output goes.
    pub redirected: bool,
}

/// What guards a place that a configuration of git leads to.
pub const LED_BY_GIT: &str = "git is configured to run it, or what it names";

/// Why a place is guarded that stands in a repository which is not called `.git`, or makes one.
pub const IN_REPOSITORY: &str = "git takes its directory for a repository, and runs what this names";

/// How much of the tree a [`Place`] speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// This file or directory entry alone.
    One,
    /// The directory and all below it, minus what the policy withholds file by file.
    Tree,
}

impl Place {
    /// A place `below` a workspace root.
    pub fn inside(root: impl AsRef<Path>, below: impl AsRef<Path>) -> Place {
        let (root, below) = (root.as_ref(), below.as_ref());
        let path = if below.as_os_str().is_empty() { root.to_path_buf() } else { root.join(below) };
        Place {
            path,
            below_root: Some(below.to_path_buf()),
            in_first_root: true,
            extent: Extent::One,
            named: None,
            guarded: None,
            taken_back: false,
            scratch: false,
            unclaimed: false,
            redirected: false,
        }
    }

    /// A place outside every root.
    pub fn outside(path: impl Into<PathBuf>) -> Place {
        let (path, extent) = (path.into(), Extent::One);
        Place {
            path,
            below_root: None,
            in_first_root: false,
            extent,
            named: None,
            guarded: None,
            taken_back: false,
            scratch: false,
            unclaimed: false,
            redirected: false,
        }
    }

    /// The same place and everything below it.
    pub fn tree(mut self) -> Place {
        self.extent = Extent::Tree;
        self.named = self.named.map(|named| Box::new(named.tree()));
        self
    }

    /// The same place, written with a link on the way.
    pub fn written_as(mut self, named: Place) -> Place {
        self.named = Some(Box::new(named));
        self
    }

    /// The place, as it is called by each link that led to it.
    pub fn by_all_names(&self) -> impl Iterator<Item = &Place> {
        std::iter::successors(Some(self), |place| place.named.as_deref())
    }

    /// One entry of this tree, `below` it.
    pub(crate) fn entry(&self, path: &Path, below: &Path) -> Place {
        Place {
            path: path.to_path_buf(),
            below_root: self.below_root.as_ref().map(|root| root.join(below)),
            in_first_root: self.in_first_root,
            extent: Extent::One,
            guarded: self.guarded,
            taken_back: self.taken_back,
            scratch: self.scratch,
            unclaimed: self.unclaimed,
            redirected: self.redirected,
            named: self.named.as_ref().map(|named| Box::new(named.entry(&named.path.join(below), below))),
        }
    }

    /// The path a person recognises: relative to the first root, absolute elsewhere. Characters that
    /// could redraw a terminal are escaped: this stands in questions.
    pub fn shown(&self) -> Cow<'_, str> {
        let path = match &self.below_root {
            Some(below) if self.in_first_root && below.as_os_str().is_empty() => return ".".into(),
            Some(below) if self.in_first_root => below.to_string_lossy(),
            _ => self.path.to_string_lossy(),
        };
        if !path.chars().any(char::is_control) {
            return path;
        }
        path.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
    }
}

/// How an analysed command stands: the rows of the mode table that speak of `exec`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExecKind {
    /// Proved to change nothing.
    ReadOnly,
    /// Writes only inside the workspace, in the sandbox.
    WritesInside,
    /// The analysis cannot say, or anything not named by another kind.
    Opaque,
    /// Shells would disagree about what this text means.
    Misparse,
    /// Destroys, or asks for privilege.
    Destructive,
    /// Whatever it is, it runs without the sandbox: always a question.
    Unconfined,
    /// Control characters, remote code into a shell, `/dev/tcp`, theft of keys.
    Forbidden,
}

/// One command to run, as far as the policy needs to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exec {
    /// Resolved argument vectors of every simple command, in order.
    pub commands: Vec<Vec<String>>,
    /// Variables that they are given and that may decide what runs (`PATH=…`). A rule that allows has to name them.
    pub sets: Vec<String>,
    /// The strictest kind found among them.
    pub kind: ExecKind,
    /// Why it is of that kind, in words; may be empty.
    pub why: String,
}

/// Builtins that move the working directory, which the next command begins in.
const MOVES: [&str; 3] = ["cd", "pushd", "popd"];

impl Exec {
    /// Commands without variables that decide what runs.
    pub fn plain(commands: Vec<Vec<String>>, kind: ExecKind, why: impl Into<String>) -> Exec {
        Exec { commands, sets: Vec::new(), kind, why: why.into() }
    }

    /// The values of the variables that it is given, behind a program that none of them is.
    pub(crate) fn values(&self) -> Vec<String> {
        let value = |set: &String| set.split_once('=').map_or_else(String::new, |(_, value)| value.to_owned());
        std::iter::once(String::new()).chain(self.sets.iter().map(value)).collect()
    }

    /// A command with the variables that stand before it.
    pub fn with_sets<'e>(&self, argv: &'e [String]) -> Cow<'e, [String]> {
        match self.sets.is_empty() {
            true => Cow::Borrowed(argv),
            false => self.sets.iter().chain(argv).cloned().collect(),
        }
    }

    /// The same with one of its commands alone, as a rule is held against it.
    pub fn alone(&self, argv: &[String]) -> Exec {
        Exec { commands: vec![argv.to_vec()], sets: self.sets.clone(), kind: self.kind, why: String::new() }
    }

    /// Whether it changes nothing, the working directory included. A word anywhere among its words counts as the
    /// builtin (`command cd`): that order is kept for nothing costs less than an order that is lost.
    fn only_looks(&self) -> bool {
        let moves = |argv: &Vec<String>| argv.iter().any(|word| MOVES.contains(&word.as_str()));
        self.kind == ExecKind::ReadOnly && !self.commands.is_empty() && !self.commands.iter().any(moves)
    }
}

/// What reading a server's resources is called where a rule names a tool of the server: `mcp__SERVER__resources/read`.
/// The method's own name, which no tool can have: those are shown with letters, digits, `-` and `_`.
pub const READ_RESOURCE: &str = "resources/read";
/// As [`READ_RESOURCE`], for listing them.
pub const LIST_RESOURCES: &str = "resources/list";

/// One thing a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Reads a file, a listing, or a tree.
    Read(Place),
    /// Creates, replaces, moves or deletes.
    Write(Place),
    /// Runs a command.
    Exec(Exec),
    /// Reaches a host (normalised: lower case, no trailing dot).
    Net(String),
    /// Looks at a page of a host: a GET of an ordinary address, which sends nothing but the address. Less than
    /// [`Effect::Net`]; rules speak of both as `net`.
    Fetch(String),
    /// Starts an agent, a worker or a schedule.
    Spawn(String),
    /// Changes Nika's own lists: todo, plan, task rows.
    Note(String),
    /// Stops or deletes durable work.
    Control(String),
    /// Puts a question to a person.
    Ask,
    /// Changes only the session.
    Session,
    /// Whatever a foreign MCP server does behind its tool.
    Foreign {
        /// The server's configured name.
        server: String,
        /// The tool on that server.
        tool: String,
    },
}

impl Effect {
    /// The word that rules and documents use for this kind.
    pub fn verb(&self) -> &'static str {
        match self {
            Effect::Read(_) => "read",
            Effect::Write(_) => "write",
            Effect::Exec(_) => "exec",
            Effect::Net(_) | Effect::Fetch(_) => "net",
            Effect::Spawn(_) => "spawn",
            Effect::Note(_) => "note",
            Effect::Control(_) => "control",
            Effect::Ask => "ask",
            Effect::Session => "session",
            Effect::Foreign { .. } => "foreign",
        }
    }
}

impl Effect {
    /// The narrowest allow rule that holds for exactly this effect, where the rule language can say it.
    pub fn rule(&self) -> Option<String> {
        let text = match self {
            Effect::Read(place) | Effect::Write(place) if place.extent == Extent::One => {
                let (anchor, path) = match &place.below_root {
                    // Only of the first root a path below it says which file is meant.
                    Some(below) if place.in_first_root => ("/", below.to_str()?),
                    _ => ("//", place.path.to_str()?.trim_start_matches('/')),
                };
                let escaped: String = path
                    .chars()
                    .flat_map(|c| {
                        matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!')
                            .then_some('\\')
                            .into_iter()
                            .chain([c])
                    })
                    .collect();
                format!("{}({anchor}{escaped})", self.verb())
            }
            Effect::Net(host) | Effect::Fetch(host) => format!("net({host})"),
            Effect::Exec(exec) if exec.commands.len() == 1 => {
                format!("exec({})", words(&exec.sets, &exec.commands[0])?)
            }
            Effect::Foreign { server, tool } => format!("mcp__{server}__{tool}"),
            _ => return None,
        };
        // What does not come back as a rule for this very effect is not offered.
        let rule = crate::Rule::parse(&text, None).ok()?;
        rule.holds(self, "").then_some(text)
    }
}

/// A command in the rule language, behind the variables that it is given: its words as they are, up to the first that
/// the language cannot say.
fn words(sets: &[String], argv: &[String]) -> Option<String> {
    let all = || sets.iter().chain(argv);
    // A word that is not known stands as it is written: a rule on it would hold for whatever it becomes.
    if all().any(|word| word.contains(['$', '`', '…'])) {
        return None;
    }
    let sayable = |word: &&String| {
        !word.is_empty() && word.chars().all(|c| !c.is_whitespace() && !c.is_control() && !"(){},\"'".contains(c))
    };
    let escaped = |word: &String| {
        let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\' | '!');
        word.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect::<String>()
    };
    let said: Vec<String> = all().take_while(sayable).map(escaped).collect();
    match said.len() {
        // A program alone is too much to allow for the sake of one of its commands.
        few if few <= sets.len() + 1 && few < sets.len() + argv.len() => None,
        whole if whole == sets.len() + argv.len() => Some(said.join(" ")),
        // What it ends in front of is code: the rule would hold for any other.
        cut if crate::argv::takes_code(argv, cut - sets.len()) => None,
        _ => Some(format!("{} *", said.join(" "))),
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Read(place) | Effect::Write(place) => {
                write!(f, "{}({}", self.verb(), place.shown())?;
                f.write_str(if place.extent == Extent::Tree { "/**)" } else { ")" })
            }
            Effect::Exec(exec) => {
                if exec.commands.is_empty() {
                    return f.write_str("exec(the text as a whole)");
                }
                let lines: Vec<String> = exec.commands.iter().map(|argv| exec.with_sets(argv).join(" ")).collect();
                write!(f, "exec({})", lines.join("; "))
            }
            Effect::Net(name)
            | Effect::Fetch(name)
            | Effect::Spawn(name)
            | Effect::Note(name)
            | Effect::Control(name) => {
                write!(f, "{}({name})", self.verb())
            }
            Effect::Ask | Effect::Session => f.write_str(self.verb()),
            Effect::Foreign { server, tool } => write!(f, "foreign(mcp__{server}__{tool})"),
        }
    }
}

impl Effect {
    /// Half of the table; the other half is the same with the two exchanged.
    fn conflicts_with(&self, other: &Effect) -> bool {
        match (self, other) {
            (Effect::Write(one), Effect::Read(two) | Effect::Write(two)) => overlap(one, two),
            // A command moves the working directory and runs in one; what only reads and stays may stand beside it.
            (Effect::Exec(one), Effect::Exec(two)) => !(one.only_looks() && two.only_looks()),
            (Effect::Exec(_), Effect::Write(_)) => true,
            (Effect::Exec(exec), Effect::Read(_)) => exec.kind != ExecKind::ReadOnly,
            (Effect::Note(one), Effect::Note(two)) => one == two,
            // One question at a time is enough for a person.
            (Effect::Ask, Effect::Ask) => true,
            (Effect::Foreign { server: one, .. }, Effect::Foreign { server: two, .. }) => one == two,
            // The session itself may stand otherwise afterwards, or what others work on may be gone.
            (Effect::Session | Effect::Control(_), _) => true,
            _ => false,
        }
    }
}

/// Whether one place is the other, or below it where it speaks of a tree.
fn overlap(one: &Place, two: &Place) -> bool {
    let holds = |tree: &Place, place: &Place| tree.extent == Extent::Tree && place.path.starts_with(&tree.path);
    one.path == two.path || holds(one, two) || holds(two, one)
}

/// All that one call would do, with the name of the tool that would do it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effects {
    /// The canonical tool name, for `tool(name)` rules.
    pub tool: String,
    /// In the order the tool stated them.
    pub all: Vec<Effect>,
}

impl Effects {
    /// Effects that touch only the session.
    pub fn session() -> Effects {
        Effects::one(Effect::Session)
    }

    /// A single effect.
    pub fn one(effect: Effect) -> Effects {
        Effects { tool: String::new(), all: vec![effect] }
    }

    /// A single read.
    pub fn read(place: Place) -> Effects {
        Effects::one(Effect::Read(place))
    }

    /// A single write.
    pub fn write(place: Place) -> Effects {
        Effects::one(Effect::Write(place))
    }

    /// These effects and one more.
    pub fn and(mut self, effect: Effect) -> Effects {
        self.all.push(effect);
        self
    }

    /// The same effects under a tool's name.
    pub fn of(mut self, tool: &str) -> Effects {
        self.tool = tool.to_owned();
        self
    }

    /// Whether the order of both calls could matter, so that they must not run at once.
    pub fn conflict_with(&self, other: &Effects) -> bool {
        self.all.iter().any(|one| other.all.iter().any(|two| one.conflicts_with(two) || two.conflicts_with(one)))
    }

    /// The places that would be written.
    pub fn writes(&self) -> impl Iterator<Item = &Place> {
        self.all.iter().filter_map(|effect| match effect {
            Effect::Write(place) => Some(place),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_whose_order_matters_are_told_from_those_that_may_run_at_once() {
        let file = |name: &str| Place::inside("/repo", name);
        let command = |kind, text: &str| {
            let commands = vec![text.split(' ').map(str::to_owned).collect()];
            Effect::Exec(Exec::plain(commands, kind, ""))
        };
        let exec = |kind| command(kind, "git log");
        let foreign = |server: &str| Effect::Foreign { server: server.into(), tool: "t".into() };
        for (one, two, conflict) in [
            (Effect::Read(file("a")), Effect::Read(file("a")), false),
            (Effect::Write(file("a")), Effect::Read(file("a")), true),
            (Effect::Write(file("a")), Effect::Write(file("b")), false),
            (Effect::Write(file("src/a")), Effect::Read(file("src").tree()), true),
            (Effect::Write(file("src/a")), Effect::Read(file("srcs").tree()), false),
            (Effect::Write(file("src").tree()), Effect::Read(file("src/a")), true),
            (exec(ExecKind::ReadOnly), Effect::Read(file("a")), false),
            (exec(ExecKind::WritesInside), Effect::Read(file("a")), true),
            (exec(ExecKind::ReadOnly), exec(ExecKind::ReadOnly), false),
            (exec(ExecKind::ReadOnly), exec(ExecKind::WritesInside), true),
            (exec(ExecKind::ReadOnly), command(ExecKind::ReadOnly, "cd src"), true),
            (exec(ExecKind::ReadOnly), command(ExecKind::ReadOnly, "command cd src"), true),
            (command(ExecKind::ReadOnly, "popd"), command(ExecKind::ReadOnly, "popd"), true),
            (exec(ExecKind::ReadOnly), Effect::Write(file("a")), true),
            (Effect::Note("todo".into()), Effect::Note("todo".into()), true),
            (Effect::Note("todo".into()), Effect::Note("plan".into()), false),
            (Effect::Ask, Effect::Ask, true),
            (Effect::Session, Effect::Net("example.com".into()), true),
            (Effect::Net("example.com".into()), Effect::Net("example.com".into()), false),
            (Effect::Spawn("agent".into()), Effect::Spawn("agent".into()), false),
            (foreign("one"), foreign("one"), true),
            (foreign("one"), foreign("two"), false),
        ] {
            let said = format!("{one} and {two}");
            let (one, two) = (Effects::one(one), Effects::one(two));
            assert_eq!(one.conflict_with(&two), conflict, "{said}");
            assert_eq!(two.conflict_with(&one), conflict, "{said}");
        }
    }
}
