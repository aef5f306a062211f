//! Files that a layer hides from the command it is for: something of their name, size and time stands there in their
//! place, which nobody may read.
//!
//! A mount would hide them as well, and hold them: git cannot replace what is mounted. What stands in the layer it can,
//! without having read it. What git would have to read to know that it is unchanged, as it was written when the index
//! was, is read here: then the index in the layer says so.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use nika_contract::Kind;
use nika_guard::{Permit, classify};
use rustix::fs::{
    AtFlags, CWD, Gid, Mode, OFlags, ResolveFlags, Stat, Timespec, Timestamps, Uid, fchmod, fchown, fstat, ftruncate,
    futimens, linkat, mkdirat, openat, openat2, statat, unlinkat,
};
use rustix::io::Errno;

use super::sides::content;
use super::walk::{bits, directory, kind};
use super::{Layer, marks};
use crate::fs::Stamp;
use crate::git::{COMPARED_BYTES, INDEX_BYTES, Index, top_of};

/// A file of which an index in a layer gives another time.
#[derive(Debug)]
pub(super) struct Given {
    /// From the top of the work tree.
    path: PathBuf,
    time: i64,
    /// How it was when it was compared.
    was: Stat,
}

/// What stands in for a file.
#[derive(Debug)]
pub(super) struct StandIn {
    pub stamp: Stamp,
    /// Its permission bits: who may run the file, and nobody may read it.
    rights: u32,
}

impl Layer {
    /// Hides those of `hidden` that are secrets by their name and that git tracks in the root. What cannot be hidden so is left
    /// to others: what rules withhold is not shown either when it is replaced.
    pub fn hiding(mut self, _permit: &Permit, hidden: &[PathBuf]) -> Layer {
        let mut tops: Vec<(&Path, HashSet<&Path>)> = Vec::new();
        let secrets = hidden.iter().filter(|path| classify(path).secret.is_some());
        for path in secrets.filter(|path| path.starts_with(&self.root)) {
            let Some(top) = top_of(&self.root, path) else { continue };
            let Ok(below) = path.strip_prefix(top) else { continue };
            match tops.iter_mut().find(|(other, _)| *other == top) {
                Some((_, of_it)) => drop(of_it.insert(below)),
                None => tops.push((top, HashSet::from([below]))),
            }
        }
        let mut made = BTreeSet::new();
        for (top, wanted) in tops {
            self.hide_tracked(top, &wanted, &mut made);
        }
        // What was put in a directory gave it a time.
        for dir in made.iter().rev() {
            let open = |base: PathBuf| directory(CWD, base.join(dir).as_os_str(), false);
            let (Ok(upper), Ok(was)) = (open(self.upper()), open(self.root.clone())) else { continue };
            let _ = fstat(&was).and_then(|was| futimens(&upper, &times(&was, None)));
        }
        self
    }

    /// Hides those of `wanted` that the repository at `top` tracks. The directories around them are noted in `made`.
    fn hide_tracked(&mut self, top: &Path, wanted: &HashSet<&Path>, made: &mut BTreeSet<PathBuf>) {
        let file = top.join(".git/index");
        let Some(mut index) = Index::of(&file, |path| wanted.contains(path)) else { return };
        let mut given = Vec::new();
        let tracked: Vec<&Path> = wanted.iter().copied().filter(|path| index.has(path)).collect();
        for below in tracked {
            let path = top.join(below);
            let Ok(was) = rustix::fs::lstat(&path) else { continue };
            let content = || content(&self.root, &path, Kind::File, COMPARED_BYTES);
            let time = match index.is_sure_of(below, &was) {
                true => None,
                false if content().is_some_and(|content| index.holds_as_text(below, &content)) => {
                    let time = index.note_as_sure(below, was.st_size.unsigned_abs());
                    given.extend(time.map(|time| Given { path: below.to_path_buf(), time, was }));
                    time
                }
                // Git shall not take it for unchanged.
                false => Some(was.st_mtime.saturating_add(1)),
            };
            if let Ok(one) = self.put(&path, time, made) {
                self.stand_ins.insert(path, one);
            }
        }
        if !given.is_empty()
            && let Some(bytes) = index.into_bytes()
        {
            // Without it git takes some for changed, and says so.
            let put = self.put_copy(&file, &bytes, made);
            self.indexes.extend(put.ok().map(|stamp| (file, (stamp, given))));
        }
    }

    /// Has an index that the command left note files as they were when it began, and not as they seemed to be. Who changed
    /// one since finds that git sees it.
    pub(super) fn note_as_it_was(&self) {
        for (file, (stamp, given)) in &self.indexes {
            // Where it fails git looks at these files once more.
            let _ = self.note_in(file, stamp, given);
        }
    }

    /// The same in one index, whose time stays: by it git knows which files it has to compare. Nothing is followed, as the
    /// command may have left a link to any file there, or given one another name.
    fn note_in(&self, file: &Path, put: &Stamp, given: &[Given]) -> Option<()> {
        let upper = directory(CWD, self.upper().as_os_str(), false).ok()?;
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let below = file.strip_prefix(&self.root).ok()?;
        let handle = File::from(openat2(&upper, below, flags, Mode::empty(), resolve).ok()?);
        let now = fstat(&handle).ok()?;
        let size = u64::try_from(now.st_size).ok().filter(|size| *size <= INDEX_BYTES)?;
        if kind(&now) != Some(Kind::File) || now.st_nlink != 1 || put.same_content(&Stamp::from(&now)) {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        handle.read_exact_at(&mut bytes, 0).ok()?;
        let is_given = |path: &Path| given.iter().any(|one| one.path == path);
        let mut index = Index::from_bytes(bytes, now.st_mtime, is_given)?;
        let noted = given.iter().map(|Given { path, time, was }| index.note_as_it_was(path, *time, was));
        if noted.fold(false, |all, one| all | one) {
            handle.write_all_at(&index.into_bytes()?, 0).ok()?;
            futimens(&handle, &times(&now, None)).ok()?;
        }
        Some(())
    }

    /// Whether `now`, at `path`, is what was put there before the command began. Of its rights tells [`Layer::made_readable`].
    pub(super) fn stands_in(&self, path: &Path, now: &Stat) -> bool {
        let stand_in = self.stand_ins.get(path).map(|one| &one.stamp);
        let put = stand_in.or_else(|| self.indexes.get(path).map(|(stamp, _)| stamp));
        put.is_some_and(|stamp| stamp.same_content(&Stamp::from(now)))
    }

    /// The files whose stand-ins the command gave other rights, wherever they are now: it may have taken them for the files,
    /// and recorded them as such.
    pub(super) fn made_readable(&self) -> Vec<PathBuf> {
        let is_as_put = |one: &StandIn| {
            let held = rustix::fs::lstat(self.held(one.stamp.inode().1));
            held.is_ok_and(|held| bits(&held) == one.rights)
        };
        let others = self.stand_ins.iter().filter(|(_, one)| !is_as_put(one));
        let mut all: Vec<PathBuf> = others.map(|(path, _)| path.clone()).collect();
        all.sort();
        all
    }

    /// Leaves in the layer only what the command put there.
    pub(super) fn remove_stand_ins(&self) {
        for path in self.stand_ins.keys().chain(self.indexes.keys()) {
            let at = self.inside(path);
            if rustix::fs::lstat(&at).is_ok_and(|now| self.stands_in(path, &now)) {
                // One that stays says nothing.
                let _ = std::fs::remove_file(at);
            }
        }
    }

    /// Puts a stand-in for the file at `path`, of another time where one is given.
    fn put(&self, path: &Path, time: Option<i64>, made: &mut BTreeSet<PathBuf>) -> rustix::io::Result<StandIn> {
        let (upper, name, was) = self.place(path, made)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&upper, name, flags, Mode::empty())?;
        // Git looks at who may run it.
        let rights = Mode::from_raw_mode(was.st_mode & 0o111);
        // Its number stays taken, whatever the command does to it: so it is known wherever it comes to be.
        let held = self.held(fstat(&file)?.st_ino);
        let put = ftruncate(&file, was.st_size.unsigned_abs())
            .and_then(|()| own_as(&file, &was))
            .and_then(|()| fchmod(&file, rights))
            .and_then(|()| futimens(&file, &times(&was, time)))
            .and_then(|()| linkat(&upper, name, CWD, held, AtFlags::empty()))
            .and_then(|()| fstat(&file));
        if put.is_err() {
            unlinkat(&upper, name, AtFlags::empty())?;
        }
        put.map(|stat| StandIn { stamp: Stamp::from(&stat), rights: bits(&stat) })
    }

    /// A second name of a stand-in.
    fn held(&self, inode: u64) -> PathBuf {
        self.dir.join(format!("held{inode}"))
    }

    /// Puts `bytes` in the place of the file at `path`, with its rights and time.
    fn put_copy(&self, path: &Path, bytes: &[u8], made: &mut BTreeSet<PathBuf>) -> io::Result<Stamp> {
        let (upper, name, was) = self.place(path, made)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&upper, name, flags, Mode::RUSR | Mode::WUSR)?);
        let put = file.write_all(bytes).and_then(|()| {
            let file = OwnedFd::from(file);
            own_as(&file, &was)?;
            fchmod(&file, Mode::from_raw_mode(was.st_mode & 0o7777))?;
            futimens(&file, &times(&was, None))?;
            Ok(Stamp::from(&fstat(&file)?))
        });
        if put.is_err() {
            unlinkat(&upper, name, AtFlags::empty())?;
        }
        put
    }

    /// Where the layer takes the file at `path`: its directory, its name, and what it is. Directories that are made on the
    /// way are as those of the root, and noted.
    fn place<'p>(
        &self,
        path: &'p Path,
        made: &mut BTreeSet<PathBuf>,
    ) -> rustix::io::Result<(OwnedFd, &'p OsStr, Stat)> {
        let below = path.strip_prefix(&self.root).map_err(|_| Errno::INVAL)?;
        let (Some(within), Some(name)) = (below.parent(), path.file_name()) else { return Err(Errno::INVAL) };
        let mut upper = directory(CWD, self.upper().as_os_str(), false)?;
        let mut lower = directory(CWD, self.root.as_os_str(), false)?;
        let mut at = PathBuf::new();
        made.insert(at.clone());
        for part in within {
            lower = directory(&lower, part, true)?;
            upper = like(&upper, part, &lower)?;
            at.push(part);
            made.insert(at.clone());
        }
        let was = statat(&lower, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if kind(&was) != Some(Kind::File) {
            return Err(Errno::INVAL);
        }
        Ok((upper, name, was))
    }
}

/// The directory `name` of the layer, made as `was` is where there is none.
fn like(upper: &OwnedFd, name: &OsStr, was: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    match mkdirat(upper, name, Mode::RWXU) {
        Err(Errno::EXIST) => return directory(upper, name, false),
        other => other?,
    }
    let dressed = directory(upper, name, false).and_then(|dir| {
        // What lists rights would have to be copied, and is rare.
        if marks::attributes(&marks::by_handle(was)).iter().any(|name| name.starts_with(b"system.posix_acl")) {
            return Err(Errno::OPNOTSUPP);
        }
        let stat = fstat(was)?;
        own_as(&dir, &stat)?;
        fchmod(&dir, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
        futimens(&dir, &times(&stat, None))?;
        Ok(dir)
    });
    if dressed.is_err() {
        unlinkat(upper, name, AtFlags::REMOVEDIR)?;
    }
    dressed
}

/// Gives what is ours the owner and group that `was` has; an error where that is somebody else and we are not root.
fn own_as(file: &OwnedFd, was: &Stat) -> rustix::io::Result<()> {
    let is = fstat(file)?;
    if (is.st_uid, is.st_gid) == (was.st_uid, was.st_gid) {
        return Ok(());
    }
    fchown(file, Some(Uid::from_raw(was.st_uid)), Some(Gid::from_raw(was.st_gid)))
}

/// The times of `was`; with another one of modification, in whole seconds.
fn times(was: &Stat, modified: Option<i64>) -> Timestamps {
    let time = |sec, nsec: u64| Timespec { tv_sec: sec, tv_nsec: nsec as _ };
    Timestamps {
        last_access: time(was.st_atime, was.st_atime_nsec),
        last_modification: match modified {
            Some(seconds) => time(seconds, 0),
            None => time(was.st_mtime, was.st_mtime_nsec),
        },
    }
}
