//! Files with several names, as each was before its first change under any of them: a name that is touched after that held
//! the same, whatever the file holds by then.

use std::collections::HashMap;

use nika_contract::{Dress, Kind};
use rustix::fs::{AtFlags, StatxFlags, statx};

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
type Id = (u64, u64, Option<(i64, u32)>);

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
    let known = stat.filter(|stat| StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME));
    (device, inode, known.map(|stat| (stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec)))
}
