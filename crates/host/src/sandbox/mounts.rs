//! The file system of a contained command.
//!
//! Everything is made read-only at once, and the exceptions are laid over it: they are copies of mounts taken before,
//! so nothing has to be made writable again. One memory file system holds all that is private or empty. Nothing is
//! pivoted: what is covered can only be uncovered with a privilege that nobody in here has.
//!
//! Paths are resolved without following any link, so that what another process swaps meanwhile is an error and not
//! another place.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use nika_guard::profile::{Access, Layered, Placeholder, Profile, Step};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, StatxAttributes, StatxFlags, Timespec, Timestamps, chmod,
    fchmod, ftruncate, futimens, mkdirat, openat, openat2, readlink, statat, statx, symlinkat, unlinkat,
};
use rustix::io::{Errno, write};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create, fsconfig_set_string,
    fsmount, fsopen, move_mount, open_tree,
};

use super::{Refusal, base};
use crate::overlay::{Cover, by_handle};
use crate::scratch::KEPT;

/// Bytes of the private memory file system, `/tmp` above all. 2 GiB: it counts as memory of the machine.
const PRIVATE_BYTES: &str = "2147483648";
/// Files in it.
const PRIVATE_FILES: &str = "400000";
/// Device nodes that say nothing and keep nothing.
const NODES: &[&CStr] = &[c"null", c"zero", c"full", c"random", c"urandom", c"tty"];
/// Links of a usual `/dev`.
const LINKS: &[(&CStr, &CStr)] = &[
    (c"/proc/self/fd", c"fd"),
    (c"/proc/self/fd/0", c"stdin"),
    (c"/proc/self/fd/1", c"stdout"),
    (c"/proc/self/fd/2", c"stderr"),
    (c"pts/ptmx", c"ptmx"),
];
/// Directories that are the command's own: name in the private file system, and where it goes.
const OWN: &[(&str, &str)] = &[("run", "/run"), ("vartmp", "/var/tmp"), ("dev", "/dev"), ("tmp", "/tmp")];
/// Links in `/run` that whole distributions live behind.
const KEPT_IN_RUN: &[&str] = &["current-system", "booted-system", "wrappers", "opengl-driver"];
/// Bits of a mode that let a file be run: git compares the owner's.
const EXECUTABLE: u32 = 0o111;
/// The first kernel where a world has its own bound on processes.
const OWN_PID_MAX: (u32, u32) = (6, 14);

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const INERT: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;

type Result<T> = std::result::Result<T, Refusal>;

/// Adds the guarantee's name to what failed.
fn lost(guarantee: &'static str, what: impl Into<String>) -> impl FnOnce(Errno) -> Refusal {
    let what = what.into();
    move |error| Refusal::of(guarantee, &what, error)
}

const LAYOUT: &str = "a file system that is read-only but for the roots";
const LAYER: &str = "changes that can be taken back";
const TMP: &str = "a private temporary directory";
const PROTECTED: &str = "protected files";
const HIDDEN: &str = "hidden secrets";
const PROC: &str = "its own list of processes";
const TERMINALS: &str = "terminals of its own";

/// What every world has, made but not mounted anywhere yet: it depends on no command.
#[derive(Debug)]
pub(super) struct Stock {
    /// What becomes [`Private`].
    memory: OwnedFd,
    processes: OwnedFd,
    /// None where no program may make any.
    terminals: Option<OwnedFd>,
    nodes: Vec<(&'static CStr, OwnedFd)>,
}

impl Stock {
    /// Made by process 1 of the world.
    pub(super) fn make(with_terminals: bool) -> Result<Stock> {
        Ok(Stock {
            memory: memory().map_err(lost(TMP, "tmpfs"))?,
            processes: processes().map_err(lost(PROC, "proc"))?,
            terminals: with_terminals.then(terminals).transpose().map_err(lost(TERMINALS, "devpts"))?,
            nodes: nodes(),
        })
    }
}

/// Makes the world's file system; handles of the caches in it that can be written.
pub(super) fn build(profile: &Profile, steps: &[Step], stock: Stock) -> Result<Vec<OwnedFd>> {
    // Taken while they are what they are outside.
    let (shown, mut writable, mut kept_scratch, caches) =
        (shown(profile, steps)?, writable(profile, steps)?, scratch(profile)?, caches(profile));
    base::mount_attributes(libc::AT_FDCWD, c"/", true, READ_ONLY | INERT, 0)
        .map_err(|error| Refusal::of(LAYOUT, "mount_setattr /", error))?;
    // Copies of what is read-only by now are read-only.
    let kept = steps.iter().map(|step| protected(profile, step)).collect::<Result<Vec<_>>>()?;
    let private = Private::of(stock.memory)?;
    for (path, tree) in shown.iter().map(|(path, tree)| (path, tree)).chain(&writable) {
        private.make_way(path, tree, &kept_scratch)?;
    }
    // `/tmp` last: until then the private file system stands there.
    for (name, at) in OWN {
        if is_directory(Path::new(at)) {
            let own = kept_scratch.remove(name).map_or_else(|| private.part(name), Ok)?;
            put(&own, &place(Path::new(at)).map_err(lost(TMP, *at))?).map_err(lost(TMP, *at))?;
        }
    }
    for (name, node) in stock.nodes {
        let at = PathBuf::from("/dev").join(name.to_string_lossy().as_ref());
        put(&node, &place(&at).map_err(lost("a minimal /dev", "node"))?).map_err(lost("a minimal /dev", "node"))?;
    }
    bound_processes(&stock.processes, profile)?;
    read_only(&stock.processes, PROC)?;
    put_at(&stock.processes, "/proc").map_err(lost(PROC, "/proc"))?;
    if let Some(terminals) = stock.terminals.filter(|_| profile.access == Access::Workspace) {
        put_at(&terminals, "/dev/pts").map_err(lost(TERMINALS, "/dev/pts"))?;
    }
    for (path, tree) in shown {
        let at = place(&path).map_err(lost(LAYOUT, path.to_string_lossy()))?;
        put(&tree, &at).map_err(lost(LAYOUT, path.to_string_lossy()))?;
    }
    let mut covered = Vec::new();
    for (path, tree) in &caches {
        // What there is no place for stays as it is: nothing can be written.
        covered.extend(place(path).and_then(|at| put(tree, &at)).and_then(|()| place(path)).ok());
    }
    for (step, kept) in steps.iter().zip(kept) {
        let kept = match step {
            Step::Writable(path) => writable.remove(path),
            // Of what git keeps for others, something may be gone by now.
            Step::ReadOnly(_) | Step::Instead(..) if kept.is_none() => continue,
            _ => kept,
        };
        // What a command has put in the place of a cache's directories leads to nothing that is hidden below these.
        let in_cache = || profile.caches.iter().any(|cache| step.path().starts_with(&cache.root));
        if matches!(step, Step::Hide(_)) && in_cache() && place(step.path()).is_err() {
            continue;
        }
        private.lay(step, kept)?;
    }
    Ok(covered)
}

/// What would hide each of `paths` that exists here, as mounts that stand nowhere. For a process that has mounts of its
/// own, which become unusable for all else.
pub(super) fn stand_ins<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<Vec<(&'p Path, OwnedFd)>> {
    let there = |path: &'p Path| match place(path) {
        Ok(at) => Some(Ok((path, at))),
        Err(error) => is_out_of_reach(error).map(|()| None).map_err(lost(HIDDEN, path.to_string_lossy())).transpose(),
    };
    // First, as the private file system covers what lies below where it stands.
    let all = paths.filter_map(there).collect::<Result<Vec<_>>>()?;
    let private = Private::of(memory().map_err(lost(HIDDEN, "tmpfs"))?)?;
    all.into_iter().map(|(path, at)| Ok((path, private.stand_in(&at, path)?))).collect()
}

/// Hides what stands at `path` with `stand_in`, unless it is hidden.
pub(super) fn hide_again(path: &Path, stand_in: &OwnedFd) -> Result<()> {
    let failed = || lost(HIDDEN, path.to_string_lossy());
    let at = match place(path) {
        Err(error) => return is_out_of_reach(error).map_err(failed()),
        Ok(at) => at,
    };
    let stat = statx(&at, "", AtFlags::EMPTY_PATH, StatxFlags::empty()).map_err(failed())?;
    if stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT) {
        return Ok(());
    }
    put(stand_in, &at).map_err(failed())
}

/// A copy of a protected entry, or of what is seen in the place of another.
fn protected(profile: &Profile, step: &Step) -> Result<Option<OwnedFd>> {
    let path = match step {
        Step::ReadOnly(path) => path,
        // One that is gone again leaves the file seen as it is.
        Step::Instead(_, by) => return Ok(place(by).and_then(|at| copy(&at, false)).ok()),
        _ => return Ok(None),
    };
    match place(path).and_then(|at| copy(&at, true)) {
        Err(Errno::NOENT) if profile.repository_of(path).is_some() => Ok(None),
        tree => tree.map(Some).map_err(lost(PROTECTED, path.to_string_lossy())),
    }
}

/// Whether this kernel bounds the processes of a world even when they are root's.
pub(super) fn counts_processes() -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= OWN_PID_MAX
}

/// Copies of what must be seen as it is and may not be written: roots and what git keeps of them, and where the command
/// starts and lives, and what it was allowed to see, when a private directory would cover it.
fn shown(profile: &Profile, steps: &[Step]) -> Result<Vec<(PathBuf, OwnedFd)>> {
    let covered = |path: &&PathBuf| OWN.iter().any(|(_, at)| path.starts_with(at) && path.as_path() != Path::new(at));
    let written = |path: &Path| steps.iter().any(|step| matches!(step, Step::Writable(top) if path.starts_with(top)));
    let of_git = profile.repositories.iter().map(|repository| &repository.common);
    // Continuous integration names homes that do not exist.
    let home = Some(&profile.home).filter(|home| home.is_dir());
    let all = profile.roots.iter().chain(of_git).chain([&profile.cwd]).chain(home);
    let mut wanted: Vec<&PathBuf> = all.filter(covered).filter(|path| !written(path)).collect();
    // Parents first, as they are put back in this order.
    wanted.sort();
    let tree = |path: &PathBuf| {
        let what = || path.to_string_lossy().into_owned();
        let tree = place(path).and_then(|at| copy(&at, true)).map_err(lost(LAYOUT, what()))?;
        base::mount_attributes(tree.as_raw_fd(), c"", true, INERT | READ_ONLY, 0)
            .map_err(|error| Refusal::of(LAYOUT, &what(), error))?;
        Ok((path.clone(), tree))
    };
    let mut trees: Vec<(PathBuf, OwnedFd)> = wanted.into_iter().map(tree).collect::<Result<_>>()?;
    // Only files: a socket in a directory would lead to whoever listens there.
    for path in profile.shown.iter().filter(covered).filter(|path| is_file(path)) {
        trees.push(tree(path)?);
    }
    Ok(trees)
}

/// Copies of what may be written, or the layers over it.
fn writable(profile: &Profile, steps: &[Step]) -> Result<BTreeMap<PathBuf, OwnedFd>> {
    let mut trees = BTreeMap::new();
    for step in steps {
        let Step::Writable(path) = step else { continue };
        let what = || path.to_string_lossy().into_owned();
        let tree = match profile.layers.iter().find(|layer| layer.root == *path) {
            Some(layer) => Cover::from(layer).tree().map_err(|error| Refusal::of(LAYER, &what(), error))?,
            None => place(path).and_then(|at| copy(&at, true)).map_err(lost(LAYOUT, what()))?,
        };
        base::mount_attributes(tree.as_raw_fd(), c"", true, INERT, 0)
            .map_err(|error| Refusal::of(LAYOUT, &what(), error))?;
        trees.insert(path.clone(), tree);
    }
    Ok(trees)
}

/// What commands write to caches, over these, where it can be had.
fn caches(profile: &Profile) -> Vec<(PathBuf, OwnedFd)> {
    let of = profile.caches.iter().filter(|_| profile.access == Access::Workspace);
    let over = |layer: &Layered| {
        let tree = Cover::from(layer).tree().ok()?;
        base::mount_attributes(tree.as_raw_fd(), c"", true, INERT, 0).ok()?;
        Some((layer.root.clone(), tree))
    };
    of.filter_map(over).collect()
}

/// Copies of the session's temporary directories, by the names of what they stand for.
fn scratch(profile: &Profile) -> Result<BTreeMap<&'static str, OwnedFd>> {
    let copied = |dir: &Path, name: &'static str| {
        let what = || dir.join(name).to_string_lossy().into_owned();
        let tree = place(&dir.join(name)).and_then(|at| copy(&at, false)).map_err(lost(TMP, what()))?;
        base::mount_attributes(tree.as_raw_fd(), c"", false, INERT, 0)
            .map_err(|error| Refusal::of(TMP, &what(), error))?;
        Ok((name, tree))
    };
    let dir = profile.scratch.iter();
    dir.flat_map(|dir| KEPT.iter().map(move |(_, name)| copied(dir, name))).collect()
}

/// Copies of the harmless device nodes that exist, read-only: they can be written all the same, but their modes and times,
/// which are those of the machine, cannot be changed.
fn nodes() -> Vec<(&'static CStr, OwnedFd)> {
    let open = |name: &&'static CStr| {
        let at = place(&Path::new("/dev").join(name.to_string_lossy().as_ref())).ok()?;
        let node = copy(&at, false).ok()?;
        base::mount_attributes(node.as_raw_fd(), c"", false, READ_ONLY, 0).ok()?;
        Some((*name, node))
    };
    NODES.iter().filter_map(open).collect()
}

/// The memory file system, with all that it begins with.
fn memory() -> std::result::Result<OwnedFd, Errno> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [("size", PRIVATE_BYTES), ("nr_inodes", PRIVATE_FILES), ("mode", "0755")] {
        fsconfig_set_string(&context, key, value)?;
    }
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let tree = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    let directory = |name: &str, mode: u32| -> std::result::Result<OwnedFd, Errno> {
        mkdirat(&tree, name, Mode::from_raw_mode(0o700))?;
        let made = openat(&tree, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        fchmod(&made, Mode::from_raw_mode(mode))?;
        Ok(made)
    };
    let file = |at: &OwnedFd, name: &CStr, content: &[u8], mode: u32| -> std::result::Result<(), Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = openat(at, name, flags, Mode::from_raw_mode(0o600))?;
        write(&made, content)?;
        fchmod(&made, Mode::from_raw_mode(mode))
    };
    for (name, mode) in
        [("tmp", 0o1777), ("vartmp", 0o1777), ("fixed", 0o755), ("hidden-directory", 0), ("absent-directory", 0o555)]
    {
        directory(name, mode)?;
    }
    for (name, content, mode) in
        [(c"hidden-file", &b""[..], 0), (c"absent-file", b"", 0o444), (c"absent-here", b".\n", 0o444)]
    {
        file(&tree, name, content, mode)?;
    }
    let dev = directory("dev", 0o755)?;
    for name in NODES {
        file(&dev, name, b"", 0o666)?;
    }
    for (to, name) in LINKS {
        symlinkat(*to, &dev, *name)?;
    }
    for (name, mode) in [("pts", 0o755), ("shm", 0o1777)] {
        directory(&format!("dev/{name}"), mode)?;
    }
    let run = directory("run", 0o755)?;
    for name in KEPT_IN_RUN {
        if let Ok(to) = readlink(Path::new("/run").join(name), Vec::new()) {
            symlinkat(to, &run, *name)?;
        }
    }
    Ok(tree)
}

/// The memory file system that holds all that is private or empty.
struct Private {
    own: OwnedFd,
    /// The same, read-only: copies of its entries are, too.
    fixed: OwnedFd,
    /// Hidden files that have a stand-in of their own.
    hidden: Cell<u32>,
}

impl Private {
    fn of(own: OwnedFd) -> Result<Private> {
        put_at(&own, "/tmp").map_err(lost(TMP, "tmpfs"))?;
        let fixed = copy(&own, false).map_err(lost(TMP, "tmpfs"))?;
        base::mount_attributes(fixed.as_raw_fd(), c"", false, READ_ONLY | INERT, 0)
            .map_err(|error| Refusal::of(LAYOUT, "mount_setattr", error))?;
        // It must stand somewhere to be copied from.
        let at = openat2(&own, "fixed", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::BENEATH);
        at.and_then(|at| put(&fixed, &at)).map_err(lost(TMP, "tmpfs"))?;
        Ok(Private { own, fixed, hidden: Cell::new(0) })
    }

    /// A file that nobody can read and nobody can tell from the one that it hides without reading: by size and time
    /// git knows that a tracked file is unchanged (`core.checkStat=minimal`), and does not fail on it.
    fn unreadable(&self, like: &Stat) -> std::result::Result<String, Errno> {
        let name = format!("hidden-{}", self.hidden.get());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&self.own, &name, flags, Mode::empty())?;
        self.hidden.set(self.hidden.get() + 1);
        fchmod(&file, Mode::from_raw_mode(like.st_mode & EXECUTABLE))?;
        ftruncate(&file, like.st_size.unsigned_abs())?;
        let modified = Timespec { tv_sec: like.st_mtime, tv_nsec: like.st_mtime_nsec as _ };
        futimens(&file, &Timestamps { last_access: modified, last_modification: modified })?;
        Ok(name)
    }

    /// What hides the entry at `at`, as a mount.
    fn stand_in(&self, at: &OwnedFd, path: &Path) -> Result<OwnedFd> {
        let failed = || lost(HIDDEN, path.to_string_lossy());
        let stat = statat(at, "", AtFlags::EMPTY_PATH).map_err(failed())?;
        let name = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => "hidden-directory".to_owned(),
            FileType::RegularFile => self.unreadable(&stat).map_err(failed())?,
            _ => "hidden-file".to_owned(),
        };
        self.fixed_part(&name)
    }

    /// A copy of one of its entries, as a mount.
    fn part(&self, name: &str) -> Result<OwnedFd> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        open_tree(&self.own, name, flags).map_err(lost(TMP, name))
    }

    /// The same, read-only.
    fn fixed_part(&self, name: &str) -> Result<OwnedFd> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        open_tree(&self.fixed, name, flags).map_err(lost(TMP, name))
    }

    /// Makes the directories that lead to `path`, and what `tree` can be mounted on there, when it lies in a directory that
    /// is private. What a command of the session left in the way, a link above all, is nowhere followed and makes room.
    fn make_way(&self, path: &Path, tree: &OwnedFd, kept: &BTreeMap<&'static str, OwnedFd>) -> Result<()> {
        let Some((name, below)) =
            OWN.iter().find_map(|(name, at)| path.strip_prefix(at).ok().map(|below| (*name, below)))
        else {
            return Ok(());
        };
        let failed = || lost(TMP, path.to_string_lossy());
        let top = kept.get(name).map_or_else(|| directory(&self.own, name), |tree| directory(tree, "."));
        let mut way = top.map_err(failed())?;
        let is_file = kind_of(tree).map_err(failed())? != FileType::Directory;
        let mut parts = below.iter().peekable();
        while let Some(part) = parts.next() {
            if is_file && parts.peek().is_none() {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                openat(&way, part, flags, Mode::RUSR).map_err(failed())?;
            } else {
                way = next_directory(&way, part).map_err(failed())?;
            }
        }
        Ok(())
    }

    /// Lays one step of the plan over what is there; `kept` is the copy of what may be written, or of a protected entry.
    fn lay(&self, step: &Step, kept: Option<OwnedFd>) -> Result<()> {
        let path = step.path();
        let (guarantee, tree) = match step {
            Step::Writable(_) => (LAYOUT, kept),
            Step::ReadOnly(_) => (PROTECTED, kept),
            Step::Instead(..) => (LAYOUT, kept),
            Step::Pin(_) => ("directories that cannot be swapped", None),
            Step::Absent(_, placeholder) => {
                let name = match placeholder {
                    Placeholder::File | Placeholder::Empty => "absent-file",
                    Placeholder::Directory => "absent-directory",
                    Placeholder::Here => "absent-here",
                };
                ("absent guarded names", Some(self.fixed_part(name)?))
            }
            Step::Hide(_) => (HIDDEN, None),
        };
        let failed = || lost(guarantee, path.to_string_lossy());
        let at = match place(path) {
            Ok(at) => at,
            // What is to be below it is not there either, and says so itself where that matters.
            Err(error) if matches!(step, Step::Hide(_) | Step::Pin(_) | Step::Instead(..)) => {
                return is_out_of_reach(error).map_err(failed());
            }
            Err(error) => return Err(failed()(error)),
        };
        let tree = match (step, tree) {
            (_, Some(tree)) => tree,
            (Step::Hide(_), None) => self.stand_in(&at, path)?,
            // A copy of itself.
            (_, None) => copy(&at, true).map_err(failed())?,
        };
        put(&tree, &at).map_err(failed())
    }
}

/// Passes what says that there is nothing, or nothing that the command could get at.
fn is_out_of_reach(error: Errno) -> std::result::Result<(), Errno> {
    if matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) { Ok(()) } else { Err(error) }
}

fn directory(above: &OwnedFd, name: impl rustix::path::Arg) -> std::result::Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(above, name, flags, Mode::empty())
}

/// The directory of this name, made where there is none.
fn next_directory(above: &OwnedFd, name: &OsStr) -> std::result::Result<OwnedFd, Errno> {
    match mkdirat(above, name, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error),
    }
    match directory(above, name) {
        Err(Errno::NOTDIR | Errno::LOOP) => {
            unlinkat(above, name, AtFlags::empty())?;
            mkdirat(above, name, Mode::from_raw_mode(0o755))?;
            directory(above, name)
        }
        opened => {
            // A command may have left it without the rights to enter it.
            let opened = opened?;
            let _ = chmod(by_handle(&opened), Mode::from_raw_mode(0o755));
            Ok(opened)
        }
    }
}

/// A list of processes that holds only the world's own.
fn processes() -> std::result::Result<OwnedFd, Errno> {
    let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let attributes =
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Bounds the world's processes, where that is the world's to say.
fn bound_processes(tree: &OwnedFd, profile: &Profile) -> Result<()> {
    if profile.limits.processes == 0 || !counts_processes() {
        return Ok(());
    }
    // Ids below 300 are not used again after the first round, so they come on top.
    let most = profile.limits.processes.saturating_add(300).min(1 << 22).to_string();
    let file = openat(tree, "sys/kernel/pid_max", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
    let set = file.and_then(|file| write(&file, most.as_bytes()));
    set.map(drop).map_err(lost("a bounded number of processes", "pid_max"))
}

/// Terminals of its own, for programs that make them.
fn terminals() -> std::result::Result<OwnedFd, Errno> {
    let context = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [("ptmxmode", "0666"), ("mode", "0620")] {
        fsconfig_set_string(&context, key, value)?;
    }
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::MOUNT_ATTR_NOSUID)
}

fn read_only(tree: &OwnedFd, guarantee: &'static str) -> Result<()> {
    base::mount_attributes(tree.as_raw_fd(), c"", true, READ_ONLY | INERT, 0)
        .map_err(|error| Refusal::of(guarantee, "mount_setattr", error))
}

/// The entry at an absolute path, no link on the way; a link at its end is itself the entry.
pub(super) fn place(path: &Path) -> std::result::Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(CWD, path, flags, Mode::empty(), resolve)
}

/// A detached copy of what is mounted at `at`.
pub(super) fn copy(at: &OwnedFd, recursive: bool) -> std::result::Result<OwnedFd, Errno> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    if recursive {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    open_tree(at, "", flags)
}

/// Mounts a detached `tree` at `at`.
fn put(tree: &OwnedFd, at: &OwnedFd) -> std::result::Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree.as_fd(), "", at.as_fd(), "", flags)
}

fn put_at(tree: &OwnedFd, path: &str) -> std::result::Result<(), Errno> {
    put(tree, &place(Path::new(path))?)
}

fn kind_of(tree: &OwnedFd) -> std::result::Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(statat(tree, "", AtFlags::EMPTY_PATH)?.st_mode))
}

/// Whether a file lies there, with no link on the way.
fn is_file(path: &Path) -> bool {
    place(path).and_then(|at| kind_of(&at)).is_ok_and(|kind| kind == FileType::RegularFile)
}

fn is_directory(path: &Path) -> bool {
    statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}
