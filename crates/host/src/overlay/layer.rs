//! The place where a command's changes land: made before it starts, read when it has ended, then gone.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use nika_contract::{ToolError, code};
use nika_guard::Permit;
use rustix::fs::{AtFlags, CWD, FlockOperation, Gid, Mode, OFlags, Timespec, Timestamps, XattrFlags, chownat, flock};
use rustix::io::Errno;

use super::refreshed::IndexBefore;
use super::stand_ins::{Given, StandIn};
use super::tried::Tried;
use super::{Changes, Cover, OfGit, sweep, walk};
use crate::fs::{Stamp, errno};

/// File systems that cannot hold an upper layer: they know no whiteouts, or are overlays themselves.
const UNFIT: &[u64] = &[
    0x794c_7630, // overlayfs
    0x6969,      // NFS
    0x6573_5546, // FUSE
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB2
    0x0102_1997, // 9P
    0x4d44,      // FAT
    0x2011_bab0, // exFAT
];
/// Where layers lie when the state directory's file system cannot hold them.
pub(super) const IN_MEMORY: &str = "/dev/shm";

/// Layers lie in a directory of this name in the state.
pub(super) const LAYERS: &str = "layers";

/// A layer over one root. Dropped, it is thrown away with all that is in it.
#[derive(Debug)]
pub struct Layer {
    pub(super) root: PathBuf,
    pub(super) dir: PathBuf,
    /// When it was made, by the clock of its file system: seconds and nanoseconds.
    pub(super) began: (i64, u64),
    pub(super) in_memory: bool,
    /// Whether a command fills it: then the permit says that one may run, and not what it will change.
    pub(super) by_command: bool,
    /// What the command line has of git: what git is told to note, it may.
    pub(super) of_git: OfGit,
    /// What the command's sandbox protects, where that is known.
    pub(super) protected: Option<HashSet<PathBuf>>,
    /// What the command cannot replace, or could not without a layer: what is protected, and what is hidden from it.
    pub(super) held: Vec<PathBuf>,
    /// What stands in for files that are hidden from the command.
    pub(super) stand_ins: HashMap<PathBuf, StandIn>,
    /// Indexes that stand in the layer from the start, in the place of the root's, and the times that they give to files.
    pub(super) indexes: HashMap<PathBuf, (Stamp, Vec<Given>)>,
    /// The index of the root's repository as it was when the layer was made, where there is one.
    pub(super) index_before: Option<IndexBefore>,
    /// Directories of the root that layers of their own lie over.
    pub(super) not_in: Vec<PathBuf>,
    /// What tries to apply it did, and were taken back.
    pub(super) tried: Tried,
    /// An intent names it that is not settled yet: whoever settles that throws it away.
    is_left: AtomicBool,
    /// Locked while this process lives: a layer that nobody locks is an orphan.
    _owner: File,
}

impl Layer {
    /// An empty layer over `root`, in the workspace's directory of Nika's state; both canonical. The permit
    /// must cover writing the root, or a command that may change what lies there.
    ///
    /// Where the state lies on a file system that cannot hold a layer, or below the root, the layer is in
    /// memory: [`Layer::in_memory`].
    pub fn prepare(permit: &Permit, state: &Path, root: &Path) -> Result<Layer, ToolError> {
        let mut layer = Layer::make(state, root)?;
        layer.by_command = true;
        layer.permitted(permit)?;
        Ok(layer)
    }

    /// What is at or below `protected` is kept from being applied, as the sandbox of a command without a layer protects
    /// it; and deeper in the root what starts code by being there. By default it is all that by its name may become
    /// code or policy.
    pub fn protecting(mut self, _permit: &Permit, protected: impl IntoIterator<Item = PathBuf>) -> Layer {
        self.protected = Some(protected.into_iter().collect());
        self
    }

    /// What the command cannot replace, or could not without a layer.
    pub fn holding(mut self, _permit: &Permit, held: impl IntoIterator<Item = PathBuf>) -> Layer {
        self.held.extend(held);
        self
    }

    /// For a command line that has so much of git, which may have been told to run commands in a rebase.
    pub fn of_git(mut self, _permit: &Permit, of_git: OfGit) -> Layer {
        self.of_git = of_git;
        self
    }

    pub(super) fn make(state: &Path, root: &Path) -> Result<Layer, ToolError> {
        let layers = state.join(LAYERS);
        let unusable = |error: Errno| errno("make a layer for the command's changes", error, code::STATE_UNUSABLE);
        match rustix::fs::mkdir(&layers, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(unusable(error)),
        }
        let layers = std::fs::canonicalize(&layers).unwrap_or(layers);
        let in_memory = unfit(&layers) || layers.starts_with(root);
        let (dir, _owner) = if in_memory {
            made(Path::new(IN_MEMORY), &format!("nika-{}-", rustix::process::geteuid().as_raw()))
        } else {
            let _making = sweep::making(&layers);
            made(&layers, "")
        }
        .map_err(unusable)?;
        let mut layer = Layer {
            root: root.to_path_buf(),
            dir,
            began: (0, 0),
            in_memory,
            by_command: false,
            of_git: OfGit::Nothing,
            protected: None,
            held: Vec::new(),
            stand_ins: HashMap::new(),
            indexes: HashMap::new(),
            index_before: IndexBefore::of(root),
            not_in: Vec::new(),
            tried: Tried::default(),
            is_left: AtomicBool::new(false),
            _owner,
        };
        layer.furnish().map_err(unusable)?;
        Ok(layer)
    }

    /// Its directories. The upper one stands for the root, so it has the root's rights and times.
    fn furnish(&mut self) -> Result<(), Errno> {
        let root = rustix::fs::stat(&self.root)?;
        for name in ["work", "upper"] {
            rustix::fs::mkdir(self.dir.join(name), Mode::RWXU)?;
        }
        let upper = self.upper();
        as_root_is(&self.root, &root, &upper);
        rustix::fs::chmodat(CWD, &upper, Mode::from_raw_mode(root.st_mode & 0o7777), AtFlags::empty())?;
        let time = |sec, nsec: u64| Timespec { tv_sec: sec, tv_nsec: nsec as _ };
        let times = Timestamps {
            last_access: time(root.st_atime, root.st_atime_nsec),
            last_modification: time(root.st_mtime, root.st_mtime_nsec),
        };
        rustix::fs::utimensat(CWD, &upper, &times, AtFlags::empty())?;
        let now = rustix::fs::stat(&upper)?;
        self.began = (now.st_ctime, now.st_ctime_nsec);
        Ok(())
    }

    /// What is to be mounted.
    pub fn cover(&self, _permit: &Permit) -> Cover {
        let mut stand_ins: Vec<PathBuf> = self.stand_ins.keys().cloned().collect();
        stand_ins.sort();
        Cover { root: self.root.clone(), upper: self.upper(), work: self.dir.join("work"), stand_ins }
    }

    /// The root it lies over.
    pub fn root(&self, _permit: &Permit) -> &Path {
        &self.root
    }

    /// Whether changes go to memory: bounded by what `/dev/shm` takes, and copied when they are applied.
    pub fn in_memory(&self, _permit: &Permit) -> bool {
        self.in_memory
    }

    /// What the command changed. Asked when it has ended, with all that it started.
    pub fn changes(&self, permit: &Permit) -> Result<Changes<'_>, ToolError> {
        self.permitted(permit)?;
        self.note_as_it_was();
        walk::changes(self)
    }

    pub(super) fn permitted(&self, permit: &Permit) -> Result<(), ToolError> {
        if self.may_change(permit, &self.root) {
            return Ok(());
        }
        let message = format!("{} is not what this call was allowed to change", self.root.display());
        Err(ToolError::new(code::OUT_OF_BOUNDS, message))
    }

    /// Whether `permit` covers a change at `path`.
    pub(super) fn may_change(&self, permit: &Permit, path: &Path) -> bool {
        let of_command = self.by_command && path.starts_with(&self.root) && permit.covers_changes_of_a_command();
        of_command || permit.covers_write(path)
    }

    /// Throws it away on a thread of its own: what a command replaced or made may be many files. What is cut off
    /// by the end of the process goes at the next start.
    pub fn discard_aside(self, _permit: &Permit) {
        // Without a thread to be had, the closure is dropped, and the layer with it.
        let _ = std::thread::Builder::new().name("layer".into()).spawn(move || drop(self));
    }

    /// Leaves it to whoever settles the intent that names it.
    pub(super) fn leave(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    /// What in it others wrote, while it stood in the root for a moment.
    pub fn others(&self, _permit: &Permit) -> Vec<PathBuf> {
        self.tried.others_in(&self.root)
    }

    /// Whether it waits with what stood in the root, as not all of its changes could be taken back.
    pub fn is_left(&self, _permit: &Permit) -> bool {
        self.is_left.load(Ordering::Relaxed)
    }

    /// Where the layer has what stands at `path`.
    pub(super) fn inside(&self, path: &Path) -> PathBuf {
        self.upper().join(path.strip_prefix(&self.root).unwrap_or(Path::new("")))
    }

    pub(super) fn upper(&self) -> PathBuf {
        self.dir.join("upper")
    }

    /// Whether somebody changed what bears `stamp` after the layer was made.
    pub(super) fn precedes(&self, stamp: &Stamp) -> bool {
        stamp.changed() > self.began && !self.tried.moved(stamp)
    }
}

impl Drop for Layer {
    fn drop(&mut self) {
        if !*self.is_left.get_mut() {
            sweep::remove_tree(&self.dir);
        }
    }
}

/// A new directory that only this user reaches, and the lock that says it has an owner.
fn made(within: &Path, start: &str) -> Result<(PathBuf, File), Errno> {
    let name = crate::fs::temp_name();
    let dir = within.join(format!("{start}{}", name.trim_start_matches('.').trim_end_matches(".tmp")));
    rustix::fs::mkdir(&dir, Mode::RWXU)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let opened = rustix::fs::open(dir.join("owner"), flags, Mode::RUSR | Mode::WUSR);
    let owned = opened.and_then(|owner| flock(&owner, FlockOperation::NonBlockingLockExclusive).map(|()| owner));
    // On a full disk there may be room for the directory alone.
    let owner = owned.inspect_err(|_| sweep::remove_tree(&dir))?;
    Ok((dir, owner.into()))
}

/// Gives the upper directory what new files inherit from the root: its group, where set-gid says so, and its access
/// lists. A group that we are no member of is not ours to give.
fn as_root_is(root: &Path, stat: &rustix::fs::Stat, upper: &Path) {
    if stat.st_mode & libc::S_ISGID != 0 {
        let _ = chownat(CWD, upper, None, Some(Gid::from_raw(stat.st_gid)), AtFlags::SYMLINK_NOFOLLOW);
    }
    for name in ["system.posix_acl_access", "system.posix_acl_default"] {
        let mut value = vec![0u8; 64 << 10];
        if let Ok(length) = rustix::fs::lgetxattr(root, name, &mut value[..]) {
            let _ = rustix::fs::lsetxattr(upper, name, &value[..length], XattrFlags::empty());
        }
    }
}

/// Whether a layer's changes can lie in `dir`.
pub(crate) fn holds_layers(dir: &Path) -> bool {
    !unfit(dir)
}

fn unfit(dir: &Path) -> bool {
    rustix::fs::statfs(dir).is_ok_and(|fs| UNFIT.contains(&(fs.f_type as u64 & 0xffff_ffff)))
}
