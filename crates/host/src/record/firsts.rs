//! Files with several names, as each was before its first change under any of them: a name that is touched after that held
//! the same, whatever the file holds by then.

use std::collections::HashMap;
use std::os::fd::AsFd;

use nika_contract::{Dress, Kind};
use rustix::fs::{AtFlags, FileType, Statx, StatxFlags, makedev, statx};
use rustix::path::Arg;

use super::before::Entry;
use super::sight::Found;

/// What a file was, and what is kept of it.
#[derive(Debug, Clone)]
pub(super) struct First {
    pub(super) was: Entry,
    /// sha256 of its content, where that is kept.
    pub(super) kept: Option<[u8; 32]>,
    pub(super) dress: Option<Dress>,
}

/// Device, inode and, as inodes are used again, when it came to be.
pub(super) type Id = (u64, u64, Option<(i64, u32)>);

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Firsts(HashMap<Id, First>);

impl Firsts {
    /// What the file was that has this name, where it has changed since.
    pub(super) fn of(&self, found: &Found, now: &Entry) -> Option<First> {
        if self.0.is_empty() || now.kind != Some(Kind::File) {
            return None;
        }
        self.0.get(&id(found, now)).filter(|first| first.was.stamp != now.stamp).cloned()
    }

    /// It is about to be changed under one of its names.
    pub(super) fn note(&mut self, found: &Found, first: First) {
        if first.was.kind == Some(Kind::File) && first.was.links > 1 {
            self.0.entry(id(found, &first.was)).or_insert(first);
        }
    }

    /// What it is now is what somebody else made of it.
    pub(super) fn forget(&mut self, found: &Found, now: &Entry) {
        if !self.0.is_empty() {
            self.0.remove(&id(found, now));
        }
    }
}

fn id(found: &Found, entry: &Entry) -> Id {
    let (device, inode) = entry.stamp.inode();
    let stat = statx(&found.dir, &found.name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BTIME).ok();
    (device, inode, stat.as_ref().and_then(born))
}

/// The same of a regular file; `None` where another thing stands there, or nothing.
pub(super) fn id_of_file(dir: impl AsFd, name: impl Arg) -> Option<Id> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let stat = statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
    let is_file = FileType::from_raw_mode(stat.stx_mode.into()) == FileType::RegularFile;
    is_file.then(|| (makedev(stat.stx_dev_major, stat.stx_dev_minor), stat.stx_ino, born(&stat)))
}

/// When it came to be, where the file system knows.
fn born(stat: &Statx) -> Option<(i64, u32)> {
    let is_known = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
    is_known.then_some((stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec))
}
