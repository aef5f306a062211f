//! Git, for worktrees in which an agent works apart, and for what it leaves there.
//!
//! Git does what a repository's configuration says, and a repository may be anybody's: hooks, monitors, filters and
//! helpers are programs that it names. Every run here has its configuration pinned so that none of them starts:
//! [`QUIET`], and what is configured under a name of its own ([`NAMED`]) is blanked by that name, in the bytes that git
//! has for it. None reaches another repository, or starts git in a submodule, which has a configuration of its own.
//! Only git's own worktree and index commands run; what an agent itself does with git goes through `bash` and its
//! sandbox.

mod finder;
mod index;
mod leads;
mod personal;
mod settled;
mod tracked;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nika_contract::Cancel;
use nika_guard::{Effect, Permit};
use rustix::process::{Pid, Signal, kill_process_group};

pub use finder::Finder;
pub(crate) use finder::{INDEX_BYTES, read};
pub(crate) use index::meaning;
pub(crate) use leads::{Leads, makes_repository};
pub use personal::Personal;
pub use settled::settled_indexes;
pub use tracked::{Before, index_sum};
pub(crate) use tracked::{COMPARED_BYTES, Index, LOG_BYTES, Went, top_of, went};

/// What would start a program or change something unasked, and what it is set to.
const QUIET: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.askPass", ""),
    ("core.attributesFile", "/dev/null"),
    ("core.sshCommand", "/bin/false"),
    ("core.alternateRefsCommand", ""),
    ("commit.gpgSign", "false"),
    ("credential.helper", ""),
    ("diff.external", ""),
    ("gc.auto", "0"),
    ("gpg.program", "/bin/false"),
    ("gpg.ssh.program", "/bin/false"),
    ("gpg.x509.program", "/bin/false"),
    ("interactive.diffFilter", ""),
    ("maintenance.auto", "false"),
    ("protocol.allow", "never"),
    // What a repository says of one protocol counts for more than what is said of all.
    ("protocol.ext.allow", "never"),
    ("submodule.recurse", "false"),
    ("advice.detachedHead", "false"),
];

/// What may be configured under any name, and what makes it start nothing. A hook is switched off; should a git know
/// hooks but not the switch, it runs what does nothing.
const NAMED: &[(&str, &[(&str, &str)])] = &[
    ("filter", &[("smudge", ""), ("clean", ""), ("process", ""), ("required", "false")]),
    ("hook", &[("enabled", "false"), ("command", "true")]),
];

/// The longest that one run may take: a checkout of a very large repository.
const WALL: Duration = Duration::from_secs(600);
/// Between two looks at whether a run has ended.
const LOOK: Duration = Duration::from_millis(5);
/// Bytes of an answer: a status of a hundred thousand paths. A longer one is refused: what is left of a list that was
/// cut may be what mattered.
const MAX_OUTPUT_BYTES: u64 = 16 << 20;
/// New files that are named in one run: a kernel takes so many words of any length that a path has.
const AT_ONCE: usize = 200;
/// Characters of a complaint.
const MAX_COMPLAINT: usize = 2_000;

/// How git is found and run.
#[derive(Debug, Clone)]
pub struct Git {
    path: OsString,
    home: Option<PathBuf>,
}

/// A worktree with a branch of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// The directory it was made for.
    pub repo: PathBuf,
    /// Where it lies.
    pub dir: PathBuf,
    /// What in it stands for `repo`: the same directory where that is the top of its repository, else one below.
    pub root: PathBuf,
    /// Its branch.
    pub branch: String,
    /// The commit it began at.
    pub base: String,
}

/// What was done in a worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Paths below it that are changed or new and not committed.
    pub changed: Vec<PathBuf>,
    /// Commits on its branch that no checked-out branch of the repository has.
    pub commits: u64,
}

impl Status {
    /// Whether nothing is lost when it goes.
    pub fn is_clean(&self) -> bool {
        self.changed.is_empty() && self.commits == 0
    }
}

/// Why it was not done.
#[derive(Debug)]
#[non_exhaustive]
pub enum GitError {
    /// The call was not allowed this.
    NotPermitted(String),
    /// Git cannot be started.
    NoGit(io::Error),
    /// The directory belongs to no repository, or the repository has no commit.
    NoRepo(PathBuf, String),
    /// Something has the worktree's directory or branch.
    Taken(String),
    /// It holds work that would be lost.
    HoldsWork(PathBuf, Status),
    /// Git said no.
    Failed(String, String),
    /// It took too long.
    TimedOut(String),
    /// It answered more than is taken.
    TooMuch(String),
    /// Nobody wants it any more.
    Cancelled,
}

impl fmt::Display for GitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GitError::NotPermitted(what) => write!(f, "this call was not allowed to {what}"),
            GitError::NoGit(error) => write!(f, "git cannot be started: {error}"),
            GitError::NoRepo(dir, why) => write!(f, "{} has no commit to begin at: {why}", dir.display()),
            GitError::Taken(what) => write!(f, "{what} is there already"),
            GitError::HoldsWork(dir, status) => write!(
                f,
                "{} holds {} uncommitted paths and {} commits that are nowhere else",
                dir.display(),
                status.changed.len(),
                status.commits
            ),
            GitError::Failed(what, said) => write!(f, "`git {what}` failed: {said}"),
            GitError::TimedOut(what) => write!(f, "`git {what}` took longer than {} s", WALL.as_secs()),
            GitError::TooMuch(what) => {
                let most = MAX_OUTPUT_BYTES >> 20;
                write!(f, "`git {what}` answered more than {most} MiB; run it there to see what makes it so long")
            }
            GitError::Cancelled => f.write_str("the call was cancelled"),
        }
    }
}

impl std::error::Error for GitError {}

/// Where the worktree `slug` of the repository at `root` lies, and its branch.
pub fn worktree_place(root: &Path, slug: &str) -> (PathBuf, String) {
    let mut beside = root.as_os_str().to_owned();
    beside.push("-nika-worktrees");
    (PathBuf::from(beside).join(slug), format!("nika/{slug}"))
}

impl Git {
    /// Git as `path` (the variable's form) finds it; `home` is where the person's name is looked up for commits.
    pub fn new(path: impl Into<OsString>, home: Option<PathBuf>) -> Git {
        Git { path: path.into(), home }
    }

    /// Makes the worktree `slug` of the repository that `root` lies in, at its present commit, with a new branch.
    pub fn create(&self, permit: &Permit, root: &Path, slug: &str, cancel: &Cancel) -> Result<Worktree, GitError> {
        let (dir, branch) = worktree_place(root, slug);
        may_write(permit, &dir)?;
        let run = self.at(root, cancel);
        let lacking = |error: GitError| match error {
            GitError::Failed(_, said) => GitError::NoRepo(root.to_owned(), said),
            other => other,
        };
        let prefix = run.line(&["rev-parse", "--show-prefix"]).map_err(lacking)?;
        let base = run.line(&["rev-parse", "--verify", "HEAD^{commit}"]).map_err(lacking)?;
        if dir.symlink_metadata().is_ok() {
            return Err(GitError::Taken(dir.display().to_string()));
        }
        if run.line(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")]).is_ok() {
            return Err(GitError::Taken(format!("the branch {branch}")));
        }
        // What is configured may hang on the worktree's place and its branch (`includeIf`), so that the filters are
        // known only once it is there: its files come after that.
        let arguments: [&OsStr; 8] = [
            "worktree".as_ref(),
            "add".as_ref(),
            "--quiet".as_ref(),
            "--no-checkout".as_ref(),
            "-b".as_ref(),
            branch.as_ref(),
            dir.as_ref(),
            base.as_ref(),
        ];
        let filled = |_| self.at(&dir, cancel).bytes(&["reset", "--hard", "--quiet", "--no-recurse-submodules"]);
        if let Err(error) = run.bytes(&arguments).and_then(filled) {
            // A half made one is ours, and nothing was done in it.
            let left = Worktree { repo: root.to_owned(), dir: dir.clone(), root: dir, branch, base };
            let _ = self.at(root, &Cancel::default()).forget(&left);
            return Err(error);
        }
        // A worktree lies apart from what `root` allows and forbids below it: links on the way are resolved once.
        let dir = dir.canonicalize().map_err(|error| GitError::Failed("worktree add".into(), error.to_string()))?;
        let at = if prefix.is_empty() { dir.clone() } else { dir.join(&prefix) };
        Ok(Worktree { repo: root.to_owned(), root: at, dir, branch, base })
    }

    /// What was done in it.
    pub fn status(&self, permit: &Permit, worktree: &Worktree, cancel: &Cancel) -> Result<Status, GitError> {
        if !permit.covers_read(&worktree.dir) {
            return Err(GitError::NotPermitted(format!("look at {}", worktree.dir.display())));
        }
        let here = self.at(&worktree.dir, cancel);
        let mut changed = changed(&here.porcelain()?);
        // None is there at first, so one that is was fetched to be worked in: what it holds only its own git can say.
        let staged = here.bytes(&["ls-files", "--stage", "-z"])?;
        for entry in staged.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"160000 ")) {
            let path = entry.splitn(2, |byte| *byte == b'\t').nth(1).and_then(listed_path).map(PathBuf::from);
            changed.extend(path.filter(|path| worktree.dir.join(path).join(".git").exists()));
        }
        changed.sort();
        changed.dedup();
        // What the repository's own branch has taken over is not lost.
        let own = format!("refs/heads/{}", worktree.branch);
        let run = self.at(&worktree.repo, cancel);
        let count = run.line(&["rev-list", "--count", &own, "--not", "HEAD", &worktree.base])?;
        Ok(Status { changed, commits: count.parse().unwrap_or(u64::MAX) })
    }

    /// Takes the worktree and its branch away. Refused while it holds work, unless `work_too` is said.
    pub fn remove(
        &self,
        permit: &Permit,
        worktree: &Worktree,
        work_too: bool,
        cancel: &Cancel,
    ) -> Result<(), GitError> {
        may_write(permit, &worktree.dir)?;
        let status = self.status(permit, worktree, cancel)?;
        if !status.is_clean() && !work_too {
            return Err(GitError::HoldsWork(worktree.dir.clone(), status));
        }
        self.at(&worktree.repo, cancel).forget(worktree)?;
        // The directory of worktrees goes with the last of them; it stays when others are there.
        if let Some(parent) = worktree.dir.parent() {
            let _ = std::fs::remove_dir(parent);
        }
        Ok(())
    }

    /// What is changed or new in the repository that `dir` lies in, as whole paths.
    pub fn changes(&self, permit: &Permit, dir: &Path, cancel: &Cancel) -> Result<Vec<PathBuf>, GitError> {
        if !permit.covers_read(dir) {
            return Err(GitError::NotPermitted(format!("look at {}", dir.display())));
        }
        let run = self.at(dir, cancel);
        let top = run.top()?;
        Ok(changed(&run.porcelain()?).into_iter().map(|path| top.join(path)).collect())
    }

    /// Commits `paths`, whole or from the repository's top, with the person's own name, and nothing else: what was
    /// staged before stays so. No hook runs. The commit's name is the answer.
    pub fn commit(
        &self,
        permit: &Permit,
        dir: &Path,
        paths: &[PathBuf],
        message: &str,
        cancel: &Cancel,
    ) -> Result<String, GitError> {
        let commits = |argv: &Vec<String>| argv.iter().take(2).map(String::as_str).eq(["git", "commit"]);
        let allowed = |effect: &Effect| matches!(effect, Effect::Exec(exec) if exec.commands.iter().any(commits));
        if !permit.effects().all.iter().any(allowed) {
            return Err(GitError::NotPermitted("commit".to_owned()));
        }
        let run = self.at(dir, cancel);
        let top = run.top()?;
        let mut run = self.at(&top, cancel);
        let who = self.identity(&top, cancel)?;
        run.config.extend(who);
        let with = |words: &[&str]| {
            let words = words.iter().map(OsString::from).chain(paths.iter().map(|path| path.clone().into_os_string()));
            words.collect::<Vec<_>>()
        };
        // Not `add`, which starts git in each submodule among the paths. The commit itself takes what is tracked.
        let new =
            run.bytes(&with(&["--literal-pathspecs", "ls-files", "--others", "--exclude-standard", "-z", "--"]))?;
        let new: Vec<&OsStr> = new.split(|byte| *byte == 0).filter_map(listed_path).collect();
        for some in new.chunks(AT_ONCE) {
            let words: [&OsStr; 4] = ["update-index".as_ref(), "--add".as_ref(), "--replace".as_ref(), "--".as_ref()];
            run.bytes(&[&words, some].concat())?;
        }
        run.bytes(&with(&[
            "--literal-pathspecs",
            "commit",
            "--quiet",
            "--no-verify",
            "--message",
            message,
            "--only",
            "--",
        ]))?;
        run.line(&["rev-parse", "HEAD"])
    }

    /// The person's name and address, as git has them. Reading them starts nothing.
    fn identity(&self, top: &Path, cancel: &Cancel) -> Result<Vec<(OsString, OsString)>, GitError> {
        let mut run = self.at(top, cancel);
        run.person = self.home.clone();
        let read = |key: &str| {
            run.text(&["config", "--get", key]).map(|value| (key.into(), value)).map_err(|error| match error {
                GitError::Failed(..) => GitError::Failed(
                    "commit".into(),
                    format!("git does not know who commits; `git config --global {key} …` says it"),
                ),
                other => other,
            })
        };
        Ok(vec![read("user.name")?, read("user.email")?])
    }

    fn at<'a>(&'a self, dir: &'a Path, cancel: &'a Cancel) -> Run<'a> {
        Run { git: self, dir, cancel, config: Vec::new(), person: None }
    }
}

fn may_write(permit: &Permit, dir: &Path) -> Result<(), GitError> {
    if permit.covers_write(dir) { Ok(()) } else { Err(GitError::NotPermitted(format!("write {}", dir.display()))) }
}

/// Git in one directory.
struct Run<'a> {
    git: &'a Git,
    dir: &'a Path,
    cancel: &'a Cancel,
    config: Vec<(OsString, OsString)>,
    /// The home directory, where the person's own configuration is to be read.
    person: Option<PathBuf>,
}

impl Run<'_> {
    /// One line of answer.
    fn line<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<String, GitError> {
        Ok(self.text(arguments)?.to_string_lossy().into_owned())
    }

    /// The same in its own bytes: a path, or a name that somebody gave.
    fn text<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<OsString, GitError> {
        let mut bytes = self.bytes(arguments)?;
        while bytes.last().is_some_and(|last| matches!(last, b'\n' | b'\r')) {
            bytes.pop();
        }
        Ok(OsString::from_vec(bytes))
    }

    /// The top of the work tree.
    fn top(&self) -> Result<PathBuf, GitError> {
        self.text(&["rev-parse", "--show-toplevel"]).map(PathBuf::from)
    }

    fn porcelain(&self) -> Result<Vec<u8>, GitError> {
        self.bytes(&[
            "status",
            "--porcelain=v2",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            // Not `none`: git would start itself in each submodule, whose own configuration nobody has pinned.
            "--ignore-submodules=dirty",
        ])
    }

    /// Takes a worktree and its branch away, whatever they hold.
    fn forget(&self, worktree: &Worktree) -> Result<(), GitError> {
        let words: [&OsStr; 4] = ["worktree".as_ref(), "remove".as_ref(), "--force".as_ref(), worktree.dir.as_os_str()];
        let removed = self.bytes(&words);
        self.bytes(&["worktree", "prune"])?;
        let branch = self.bytes(&["branch", "--quiet", "-D", &worktree.branch]);
        removed.and(branch).map(drop)
    }

    /// The answer's bytes. What is configured under names is asked before, as it can only be blanked by them.
    fn bytes<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<u8>, GitError> {
        let first = arguments.first().map(|word| word.as_ref().to_os_string()).unwrap_or_default();
        let mut config = self.config.clone();
        let only_names = ["rev-parse", "config", "rev-list", "branch"].iter().any(|word| first == *word);
        if !only_names {
            let listed = self.start(&["config", "--list", "-z", "--includes"], &[])?;
            config.extend(blanked(&listed));
        }
        self.start(arguments, &config)
    }

    fn start<S: AsRef<OsStr>>(&self, arguments: &[S], config: &[(OsString, OsString)]) -> Result<Vec<u8>, GitError> {
        let shown = arguments.iter().take(2).map(|word| word.as_ref().to_string_lossy()).collect::<Vec<_>>().join(" ");
        let mut command = Command::new("git");
        command.args(arguments).current_dir(self.dir).env_clear().env("PATH", &self.git.path);
        let pinned = QUIET.iter().map(|(key, value)| (OsStr::new(*key), OsStr::new(*value)));
        let all: Vec<_> = pinned.chain(config.iter().map(|(key, value)| (&**key, &**value))).collect();
        command.env("GIT_CONFIG_COUNT", all.len().to_string());
        for (at, (key, value)) in all.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key).env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        match &self.person {
            Some(home) => command.env("HOME", home),
            None => command.env("GIT_CONFIG_GLOBAL", "/dev/null"),
        };
        for (name, value) in [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            // None at all, whatever is configured of any.
            ("GIT_ALLOW_PROTOCOL", ""),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_EDITOR", "false"),
            ("LC_ALL", "C"),
        ] {
            command.env(name, value);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(GitError::NoGit)?;
        let stdout = gather(child.stdout.take());
        let stderr = gather(child.stderr.take());
        let ended = self.wait(&mut child, &shown);
        if ended.is_err() {
            kill(&mut child);
        }
        let ((said, whole), (complaint, _)) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
        let status = ended?;
        if status.success() {
            return if whole { Ok(said) } else { Err(GitError::TooMuch(shown)) };
        }
        let complaint = String::from_utf8_lossy(&complaint).trim().to_owned();
        let complaint = nika_contract::text::preview(&complaint, MAX_COMPLAINT);
        let how = status.code().map_or_else(
            || format!("signal {}", status.signal().unwrap_or_default()),
            |code| format!("exit code {code}"),
        );
        Err(GitError::Failed(shown, if complaint.is_empty() { how } else { complaint }))
    }

    fn wait(&self, child: &mut Child, shown: &str) -> Result<std::process::ExitStatus, GitError> {
        let begun = Instant::now();
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => {}
                Err(error) => return Err(GitError::Failed(shown.to_owned(), error.to_string())),
            }
            if self.cancel.is_cancelled() {
                return Err(GitError::Cancelled);
            }
            if begun.elapsed() > WALL {
                return Err(GitError::TimedOut(shown.to_owned()));
            }
            thread::sleep(LOOK);
        }
    }
}

/// Reads to the end beside the wait, so that neither pipe fills up; says whether all was kept.
fn gather(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<(Vec<u8>, bool)> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let Some(mut pipe) = pipe else { return (bytes, false) };
        let kept = pipe.by_ref().take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes);
        // What is more is not kept, and read all the same: its writer would wait for ever.
        let more = io::copy(&mut pipe, &mut io::sink());
        (bytes, kept.is_ok() && more.is_ok_and(|more| more == 0))
    })
}

fn kill(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Everything of a configuration, as `git config --list -z` prints it, that [`NAMED`] knows, set to start nothing. Names
/// stay bytes: one that is no text would be another one once it is made into text, and git goes by the bytes.
fn blanked(listed: &[u8]) -> Vec<(OsString, OsString)> {
    let entries = listed.split(|byte| *byte == 0).filter_map(|entry| entry.split(|byte| *byte == b'\n').next());
    let mut names: Vec<_> = entries.filter_map(named).collect();
    names.sort_unstable();
    names.dedup();
    let of = |(row, name): (usize, &[u8])| {
        let (section, settings) = NAMED[row];
        let name = OsStr::from_bytes(name).to_owned();
        settings.iter().map(move |(key, value)| {
            let parts = [OsStr::new(section), name.as_os_str(), OsStr::new(key)];
            (parts.join(OsStr::new(".")), OsString::from(value))
        })
    };
    names.into_iter().flat_map(of).collect()
}

/// The row of [`NAMED`] that knows a key, and the name in it.
fn named(key: &[u8]) -> Option<(usize, &[u8])> {
    NAMED.iter().enumerate().find_map(|(row, (section, _))| {
        let rest = key.strip_prefix(section.as_bytes())?.strip_prefix(b".")?;
        // The name may have dots; what is behind the last one is the setting.
        let end = rest.iter().rposition(|byte| *byte == b'.')?;
        Some((row, &rest[..end]))
    })
}

/// A path of a list with NULs. A repository that lies in another one ends with a slash, which is no part of its name.
fn listed_path(entry: &[u8]) -> Option<&OsStr> {
    let path = entry.strip_suffix(b"/").unwrap_or(entry);
    (!path.is_empty()).then(|| OsStr::from_bytes(path))
}

/// The paths of a status in porcelain v2 with NULs and without renames.
fn changed(status: &[u8]) -> Vec<PathBuf> {
    let fields_before = |kind: u8| match kind {
        b'1' => Some(8),
        b'u' => Some(10),
        b'?' => Some(1),
        _ => None,
    };
    let entries = status.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    entries
        .filter_map(|entry| {
            let path = entry.splitn(fields_before(entry[0])? + 1, |byte| *byte == b' ').last()?;
            Some(PathBuf::from(OsStr::from_bytes(path)))
        })
        .collect()
}

#[cfg(test)]
#[path = "git/tests.rs"]
mod tests;
