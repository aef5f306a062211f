//! What the operating system must enforce on one command.
//!
//! A [`Profile`] is data: who decides makes it, who launches obeys it, and it crosses between the two as JSON.
//! Paths in it are absolute and resolved. What follows from it without looking at the disk is here, too: the
//! mount plan ([`plan`]) for Linux, and the text of a Seatbelt profile ([`seatbelt`]) for macOS. Whether a path
//! exists is the host's to say.

mod caches;
mod environment;
mod git;
mod names;
mod plan;
mod seatbelt;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::pathtext;

pub use caches::CACHES;
pub(crate) use environment::set_for_reading;
pub use environment::{environment, narrow};
pub use git::{brings_commands, is_plain_git_config, only_follows};
pub use names::{Placeholder, guarded_below, leads_to_code, placeholder, secrets_of, starts_code};
pub use plan::{MAX_PROTECTED, Step, plan};
pub use seatbelt::seatbelt;

/// How much of the file system a command may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Nothing but a private temporary directory.
    ReadOnly,
    /// The roots, without what is protected in them, and a private temporary directory.
    Workspace,
    /// Whatever the user may: no confinement at all. Only when a person asked for it.
    Unconfined,
}

impl Access {
    /// The name that results and options use.
    pub fn name(self) -> &'static str {
        match self {
            Access::ReadOnly => "read-only",
            Access::Workspace => "workspace",
            Access::Unconfined => "unconfined",
        }
    }
}

/// A root whose changes land elsewhere, until they are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layered {
    /// The directory that is covered: one of the roots.
    #[serde(with = "pathtext")]
    pub root: PathBuf,
    /// Where changes go.
    #[serde(with = "pathtext")]
    pub upper: PathBuf,
    /// The kernel's own place for what is half done; beside `upper`.
    #[serde(with = "pathtext")]
    pub work: PathBuf,
    /// What is hidden by what the layer has in its place, so that no mount has to: it can be replaced, and not read.
    #[serde(with = "pathtext::list", default)]
    pub stand_ins: Vec<PathBuf>,
}

/// A file that is seen as another one, by a command that writes neither.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instead {
    /// Where it is seen.
    #[serde(with = "pathtext")]
    pub path: PathBuf,
    /// The file that is seen.
    #[serde(with = "pathtext")]
    pub by: PathBuf,
}

/// What git keeps of a root elsewhere, because the root is a linked worktree: it is written as the `.git` of another
/// root is, and only as far as git writes there for this worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// The worktree: one of the roots.
    #[serde(with = "pathtext")]
    pub root: PathBuf,
    /// The directory that all worktrees of the repository share. Files can be made right in it, directories cannot.
    #[serde(with = "pathtext")]
    pub common: PathBuf,
    /// The directory in it that is this worktree's alone.
    #[serde(with = "pathtext")]
    pub own: PathBuf,
    /// Directories in `common` that may be written with all below them, `own` among them. Empty: all of it is only seen.
    #[serde(with = "pathtext::list")]
    pub open: Vec<PathBuf>,
}

/// Names below `.git` that each worktree has for itself.
const OF_ONE_WORKTREE: &[&str] = &["HEAD", "index", "config.worktree", "modules", "gitdir", "commondir"];

impl Repository {
    /// Whether anything of it may be written.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Where git keeps what would be `path` if the root had a `.git` directory.
    fn counterpart(&self, path: &Path) -> Option<PathBuf> {
        let inside = path.strip_prefix(self.root.join(".git")).ok()?;
        let first = inside.iter().next()?;
        let of_one = OF_ONE_WORKTREE.iter().any(|name| first == *name);
        Some(if of_one { &self.own } else { &self.common }.join(inside))
    }
}

/// What a command is held to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// What may be written.
    pub access: Access,
    /// Directories of the workspace.
    #[serde(with = "pathtext::list")]
    pub roots: Vec<PathBuf>,
    /// Where the command starts.
    #[serde(with = "pathtext")]
    pub cwd: PathBuf,
    /// The user's home.
    #[serde(with = "pathtext")]
    pub home: PathBuf,
    /// Existing entries in the roots that must not change.
    #[serde(with = "pathtext::list", default)]
    pub protected: Vec<PathBuf>,
    /// Paths that this very call may write. Over a layer that opens the protected directories around them: of what else
    /// changes there, nothing is applied.
    #[serde(with = "pathtext::list", default)]
    pub opened: Vec<PathBuf>,
    /// Guarded names in the roots that do not exist and must not come to be.
    #[serde(with = "pathtext::list", default)]
    pub absent: Vec<PathBuf>,
    /// Those of them that no name tells, as only a configuration of git leads there. Sorted.
    #[serde(with = "pathtext::list", default)]
    pub led: Vec<PathBuf>,
    /// The same of files that git reads where they exist. Sorted.
    #[serde(with = "pathtext::list", default)]
    pub included: Vec<PathBuf>,
    /// Files and directories that must not be read.
    #[serde(with = "pathtext::list", default)]
    pub secrets: Vec<PathBuf>,
    /// Directories that must not even be seen, such as Nika's own state.
    #[serde(with = "pathtext::list", default)]
    pub masked: Vec<PathBuf>,
    /// Files that are seen as others. Only of a command that writes nothing: what is mounted, none can replace.
    #[serde(default)]
    pub instead: Vec<Instead>,
    /// Where the session's temporary directories are kept, `tmp` and `vartmp`. Without one the command has its own, which
    /// go with it.
    #[serde(with = "pathtext::option", default)]
    pub scratch: Option<PathBuf>,
    /// What others have in a directory that is the command's own, and what it may see of that.
    #[serde(with = "pathtext::list", default)]
    pub shown: Vec<PathBuf>,
    /// Hosts that may be reached: exact names, `*.` and a name for what is below it, or `*` for every one but those
    /// that stand with a `!` before them. Empty: no network.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The whole environment of the command.
    pub env: Vec<(String, String)>,
    /// Bounds.
    #[serde(default)]
    pub limits: Limits,
    /// Whether Landlock and seccomp alone will do where the system grants no namespaces.
    #[serde(default)]
    pub landlock_only: bool,
    /// Roots that are covered by a layer. If one cannot be, nothing is started.
    #[serde(default)]
    pub layers: Vec<Layered>,
    /// Caches of tools in the home, covered by what commands write to them. One that cannot be covered stays as it is.
    #[serde(default)]
    pub caches: Vec<Layered>,
    /// What git keeps of roots that are linked worktrees.
    #[serde(default)]
    pub repositories: Vec<Repository>,
}

impl Profile {
    /// What stands in for a path that must not come to be; `None` when it is only looked at afterwards.
    pub fn stand_in(&self, path: &Path) -> Option<Placeholder> {
        let is_of = |list: &[PathBuf]| list.binary_search_by(|one| one.as_path().cmp(path)).is_ok();
        let by_git = || match is_of(&self.included) {
            true => Some(Placeholder::Empty),
            false => is_of(&self.led).then_some(Placeholder::File),
        };
        placeholder(path).or_else(by_git)
    }

    /// Whether changes at `path` land in a layer.
    pub fn is_layered(&self, path: &Path) -> bool {
        self.layers.iter().any(|layer| path.starts_with(&layer.root))
    }

    /// The repository elsewhere that `path` lies in, with one of the roots as its worktree.
    pub fn repository_of(&self, path: &Path) -> Option<&Repository> {
        self.repositories.iter().find(|repository| path.starts_with(&repository.common))
    }

    /// From now on, repositories elsewhere are only seen.
    pub fn close_repositories(&mut self) {
        let commons: Vec<PathBuf> = self.repositories.iter().map(|one| one.common.clone()).collect();
        let elsewhere = |path: &PathBuf| !commons.iter().any(|common| path.starts_with(common));
        self.protected.retain(elsewhere);
        self.absent.retain(elsewhere);
        self.repositories.iter_mut().for_each(|repository| repository.open.clear());
    }

    /// Takes the protection off `path`, which this very call may change.
    pub fn release(&mut self, path: &Path) {
        let mut all: Vec<PathBuf> = self.repositories.iter().filter_map(|one| one.counterpart(path)).collect();
        all.push(path.to_path_buf());
        self.protected.retain(|path| !all.contains(path));
        self.absent.retain(|path| !all.contains(path));
        self.opened.push(path.to_path_buf());
    }

    /// Whether a layer holds a protected entry to what may be written in it.
    fn is_opened(&self, protected: &Path) -> bool {
        self.is_layered(protected) && self.opened.iter().any(|path| path.starts_with(protected))
    }

    /// A profile that protects, hides and allows nothing beyond `access`.
    pub fn new(access: Access, root: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Profile {
        let root = root.into();
        Profile {
            access,
            cwd: root.clone(),
            roots: vec![root],
            home: home.into(),
            protected: Vec::new(),
            opened: Vec::new(),
            absent: Vec::new(),
            led: Vec::new(),
            included: Vec::new(),
            secrets: Vec::new(),
            masked: Vec::new(),
            instead: Vec::new(),
            scratch: None,
            shown: Vec::new(),
            hosts: Vec::new(),
            env: Vec::new(),
            limits: Limits::default(),
            landlock_only: false,
            layers: Vec::new(),
            caches: Vec::new(),
            repositories: Vec::new(),
        }
    }
}

/// Bounds of one command. Zero means none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processes and threads at once. Default 512: a build on 64 cores fits, a fork bomb ends at once.
    pub processes: u64,
    /// Memory a process may write to, in bytes. Default 8 GiB: what large linkers take.
    pub memory_bytes: u64,
    /// Size of one file, in bytes. Default 8 GiB: a debug build's largest artefacts fit.
    pub file_bytes: u64,
    /// Files that one process may have open. Default 65,536, or what is inherited where that is less: search engines do
    /// not start with fewer than 65,535, other databases ask for some 64,000, and runtimes take what they get. Systems set
    /// it at a million, or at none, and a pair of sockets holds some 400 KiB that no count of memory sees.
    pub open_files: u64,
    /// Wall time in milliseconds. Default none: the caller knows how long it waits.
    pub wall_ms: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { processes: 512, memory_bytes: 8 << 30, file_bytes: 8 << 30, open_files: 64 << 10, wall_ms: 0 }
    }
}

/// What really held a command, for its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Held {
    /// The profile's name.
    pub profile: &'static str,
    /// Guarantees that were not given, in words. Empty when all were.
    pub missing: Vec<String>,
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn what_a_call_may_change_of_a_worktree_lies_elsewhere() {
        let mut profile = Profile::new(Access::Workspace, "/w", "/home/dev");
        let [common, own] = ["/r/.git", "/r/.git/worktrees/w"].map(PathBuf::from);
        profile.repositories = vec![Repository { root: "/w".into(), open: vec![own.clone()], common, own }];
        let [config, hooks, head] = ["/r/.git/config", "/r/.git/hooks", "/r/.git/HEAD"].map(PathBuf::from);
        let own = PathBuf::from("/r/.git/worktrees/w/config.worktree");
        profile.protected = vec![config, hooks.clone(), head.clone()];
        profile.absent = vec![own.clone()];
        for named in ["/w/.git/config", "/w/.git/HEAD", "/w/.git", "/w/config"] {
            profile.release(Path::new(named));
        }
        assert_eq!((&profile.protected, &profile.absent), (&vec![hooks, head], &vec![own]));
        profile.release(Path::new("/w/.git/config.worktree"));
        assert!(profile.absent.is_empty());
        profile.protected.push("/w/.envrc".into());
        profile.close_repositories();
        assert_eq!(profile.protected, [PathBuf::from("/w/.envrc")]);
        assert!(!profile.repositories[0].is_open());
    }

    #[test]
    fn a_profile_crosses_as_json_with_any_path() {
        let mut profile = Profile::new(Access::Workspace, "/work", "/home/dev");
        profile.protected = vec![PathBuf::from(std::ffi::OsStr::from_bytes(b"/repo/\xff/.git"))];
        profile.env = vec![("PATH".into(), "/usr/bin".into())];
        let [root, upper, work] = ["/work", "/state/upper", "/state/work"].map(PathBuf::from);
        profile.layers = vec![Layered { root, upper, work, stand_ins: vec!["/secret".into()] }];
        let [root, common, own] = ["/work", "/repo/.git", "/repo/.git/worktrees/work"].map(PathBuf::from);
        profile.repositories = vec![Repository { root, common, open: vec![own.clone()], own }];
        let json = serde_json::to_string(&profile).unwrap();
        assert!(json.contains(r#""access":"workspace""#), "{json}");
        assert_eq!(serde_json::from_str::<Profile>(&json).unwrap(), profile);
    }
}
