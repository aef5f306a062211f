//! The directories that a process may work in, held as open handles.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use nika_contract::{ToolError, code};
use nika_guard::Place;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

use crate::git::Personal;
use crate::overlay::by_handle;

/// How far a write goes before it counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fsync {
    /// Left to the system: a power cut may bring back the old file, or an empty one.
    Off,
    /// The default: data are on the disk before the rename, so a power cut leaves the old file or the
    /// new one, whole.
    #[default]
    Data,
    /// The directory too: once answered, the new file is there after a power cut.
    Full,
}

/// What a workspace is told at its start.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Directories to work in; the first is where relative paths begin.
    pub roots: Vec<PathBuf>,
    /// Read-only directories of our own: spilled output.
    pub readable: Vec<PathBuf>,
    /// What `~/` means.
    pub home: Option<PathBuf>,
    /// Where the person's git keeps its configuration; of `home` where that is not said.
    pub git: Option<Personal>,
    /// Where interrupted change sets are noted.
    pub state: PathBuf,
    /// The directory of all of Nika's own state, of every workspace: the lock's home, and out of reach
    /// for every call, whatever is allowed.
    pub own: PathBuf,
    /// How far a write goes.
    pub fsync: Fsync,
}

/// How a handle is opened to be read.
const REOPEN: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Open roots. One a process; sessions share it.
#[derive(Debug)]
pub struct Workspace {
    pub(super) roots: Vec<Root>,
    /// Where relative paths begin.
    pub(super) base: PathBuf,
    pub(super) slash: OwnedFd,
    pub(super) home: Option<PathBuf>,
    person: Personal,
    pub(super) state: PathBuf,
    pub(super) own: PathBuf,
    pub(super) fsync: Fsync,
    pub(super) lock: Mutex<super::lock::State>,
    pub(super) recovered: Mutex<Vec<super::Recovered>>,
    pub(super) twins: Mutex<Option<super::twins::Twins>>,
}

#[derive(Debug)]
pub(super) struct Root {
    pub(super) path: PathBuf,
    pub(super) dir: OwnedFd,
    pub(super) writable: bool,
}

impl Workspace {
    /// Opens every root, then settles what an interrupted change set left behind.
    pub fn open(settings: Settings) -> Result<Workspace, ToolError> {
        let mut roots: Vec<Root> = Vec::new();
        let mut base = None;
        for (path, writable) in
            settings.roots.iter().map(|path| (path, true)).chain(settings.readable.iter().map(|path| (path, false)))
        {
            let refuse =
                |why: String| ToolError::new(code::BAD_ROOT, format!("cannot open root {}: {why}", path.display()));
            let path = std::fs::canonicalize(path).map_err(|error| refuse(error.to_string()))?;
            let dir = rustix::fs::open(&path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
                .map_err(|error| refuse(error.to_string()))?;
            if Workspace::path_of(&dir).is_err() {
                let message = "/proc is not mounted here, and nothing else says which file an open handle is";
                return Err(ToolError::new(code::BAD_ROOT, message).hint("`mount -t proc proc /proc`"));
            }
            if writable && base.is_none() {
                base = Some(path.clone());
            }
            roots.push(Root { path, dir, writable });
        }
        let Some(base) = base else { return Err(ToolError::new(code::BAD_ROOT, "no root was given")) };
        // A root within a root adds nothing, and a rule written from the outer one must hold in it.
        let writable: Vec<PathBuf> = roots.iter().filter(|root| root.writable).map(|root| root.path.clone()).collect();
        roots.retain(|root| {
            !root.writable || !writable.iter().any(|other| *other != root.path && root.path.starts_with(other))
        });
        roots.dedup_by(|a, b| a.path == b.path);
        let settle = |path: PathBuf| std::fs::canonicalize(&path).unwrap_or(path);
        let slash = rustix::fs::open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| ToolError::new(code::BAD_ROOT, format!("cannot open /: {error}")))?;
        let first = &roots[0].dir;
        if let Err(rustix::io::Errno::NOSYS) =
            openat2(first, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::BENEATH)
        {
            return Err(ToolError::new(code::KERNEL_TOO_OLD, "the kernel has no `openat2`, or a sandbox hides it"));
        }
        let home = settings.home.map(settle);
        let workspace = Workspace {
            roots,
            base,
            slash,
            person: settings.git.unwrap_or_else(|| Personal::at_home(home.as_deref())).settled(settle),
            home,
            state: settle(settings.state),
            own: settle(settings.own),
            fsync: settings.fsync,
            lock: Mutex::default(),
            recovered: Mutex::default(),
            twins: Mutex::default(),
        };
        workspace.recover(super::PATIENCE);
        Ok(workspace)
    }

    /// The first root: where relative paths begin.
    pub fn root(&self) -> &Path {
        &self.base
    }

    /// Every root that can be written, canonical.
    pub fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().filter(|root| root.writable).map(|root| root.path.as_path())
    }

    /// What `~/` means.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Whose git works here.
    pub fn person(&self) -> &Personal {
        &self.person
    }

    pub(crate) fn fsync(&self) -> Fsync {
        self.fsync
    }

    /// The workspace's own directory in Nika's state.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The root that holds the resolved `path`: the deepest, when they nest.
    pub(super) fn root_of(&self, path: &Path) -> Option<&Root> {
        self.roots.iter().filter(|root| path.starts_with(&root.path)).max_by_key(|root| root.path.as_os_str().len())
    }

    /// A resolved absolute path as a place.
    pub fn place(&self, path: PathBuf) -> Place {
        // Our own state may lie below a root (a root of `/` or of the home). It is not the workspace.
        match self.root_of(&path) {
            Some(root) if !self.is_own_state(&path) => {
                let below = path.strip_prefix(&root.path).expect("root_of compared the prefix").to_path_buf();
                // The base may lie within the root that holds it: then only absolute paths are plain.
                let in_first_root = root.path == self.base;
                Place { in_first_root, ..Place::inside(&root.path, below) }
            }
            _ => Place::outside(path),
        }
    }

    /// Whether `path` is Nika's own state. A spilled file is not, for those who were told its name; the
    /// directory that would tell all names is.
    pub fn is_own_state(&self, path: &Path) -> bool {
        let spilled = |root: &Root| !root.writable && path.starts_with(&root.path) && path != root.path;
        path.starts_with(&self.own) && !self.roots.iter().any(spilled)
    }

    /// Where Nika's own state lies.
    pub fn own_state(&self) -> &Path {
        &self.own
    }

    /// Whether Nika's own state lies below `root`.
    pub fn holds_own_state(&self, root: &Path) -> bool {
        self.own.starts_with(root) || root.starts_with(&self.own)
    }

    /// A path as results show it: relative to the first root, absolute elsewhere.
    pub fn shown(&self, path: &Path) -> String {
        self.place(path.to_path_buf()).shown().into_owned()
    }

    /// The handle and the path below it that reach a resolved path: its root, or `/` for a place outside.
    pub(super) fn anchor<'a>(&'a self, path: &'a Path) -> (&'a OwnedFd, &'a Path) {
        let dot = Path::new(".");
        let (dir, below) = match self.root_of(path) {
            Some(root) => (&root.dir, path.strip_prefix(&root.path).unwrap_or(dot)),
            None => (&self.slash, path.strip_prefix("/").unwrap_or(dot)),
        };
        (dir, if below.as_os_str().is_empty() { dot } else { below })
    }

    /// Opens a resolved path: no link on the way, none at the end, so what opens is what was judged.
    pub(crate) fn open_exact(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let (dir, below) = self.anchor(path);
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
        openat2(dir.as_fd(), below, flags | OFlags::CLOEXEC, Mode::empty(), resolve)
    }

    /// The same, whatever rights it has, and the directories on the way.
    pub(crate) fn look_as_owner(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let (dir, below) = self.anchor(path);
        super::look_as_owner(dir, below, flags)
    }

    /// The real path behind a handle.
    pub(crate) fn path_of(fd: &OwnedFd) -> rustix::io::Result<PathBuf> {
        use std::os::fd::AsRawFd;
        use std::os::unix::ffi::OsStringExt;
        let link = format!("/proc/self/fd/{}", fd.as_raw_fd());
        let target = rustix::fs::readlink(link, Vec::with_capacity(256))?;
        Ok(std::ffi::OsString::from_vec(target.into_bytes()).into())
    }

    /// Opens, for reading, what an `O_PATH` handle stands for: the same inode, whatever its name is now.
    pub(crate) fn reopen(fd: &OwnedFd) -> rustix::io::Result<File> {
        rustix::fs::open(by_handle(fd), REOPEN, Mode::empty()).map(File::from)
    }

    /// The same, whatever rights it has.
    pub(crate) fn reopen_as_owner(fd: &OwnedFd) -> rustix::io::Result<File> {
        super::reopen_as_owner(fd, REOPEN).map(File::from)
    }
}
