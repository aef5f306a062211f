//! One directory: names, kinds, sizes and times, sorted by name.

use std::ffi::{OsStr, OsString};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType};

use crate::record::{Record, Tally};
use crate::walk::{Entries, FoundKind, kind_of_mode};

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link; its target is not looked at.
    Link,
    /// A FIFO, socket or device.
    Other,
}

/// One entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, not necessarily UTF-8.
    pub name: OsString,
    /// What it is.
    pub kind: Kind,
    /// Its size in bytes.
    pub size: u64,
    /// When its content last changed: seconds since 1970, and nanoseconds.
    pub modified: (i64, u32),
}

/// A page of a directory.
#[derive(Clone, Debug)]
pub struct Listing {
    /// By name, in bytes.
    pub entries: Vec<Entry>,
    /// How many there are, shown or not.
    pub total: usize,
    /// What was looked at, and what the caller withheld, which is not among the total.
    pub record: Record,
    /// Where the next page starts, if there is more.
    pub next_offset: Option<usize>,
}

/// Says whether a name (and whether it is a directory) is left out.
pub type Withhold<'a> = &'a dyn Fn(&OsStr, bool) -> bool;

/// Lists an open directory. Only the entries shown are looked at closely.
/// `withhold` is asked with each name and whether it is a directory.
pub fn list(
    dir: BorrowedFd<'_>,
    offset: usize,
    limit: Option<usize>,
    withhold: Option<Withhold<'_>>,
) -> std::io::Result<Listing> {
    let mut all = Entries::default();
    // A new description, so that listing twice starts at the beginning twice.
    let fresh = crate::walk::reopen_dir(dir)?;
    all.read(std::os::fd::AsFd::as_fd(&fresh))?;
    all.sort();
    let there: Vec<usize> = (0..all.len()).filter(|&i| !is_blank(dir, &all, i)).collect();
    let kept: Vec<usize> = (there.iter().copied())
        .filter(|&i| withhold.is_none_or(|w| !w(OsStr::from_bytes(all.name(i).to_bytes()), all.is_dir(i))))
        .collect();
    let end = limit.map_or(kept.len(), |l| offset.saturating_add(l).min(kept.len()));
    let shown = kept.get(offset..end).unwrap_or(&[]);
    let mut entries = Vec::with_capacity(shown.len());
    let withheld = (there.len() - kept.len()) as u64;
    let mut tally = Tally { dirs: 1, scanned: kept.len() as u64, withheld, ..Tally::default() };
    for &i in shown {
        let name = all.name(i);
        match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => entries.push(Entry {
                name: OsStr::from_bytes(name.to_bytes()).to_owned(),
                kind: kind_of_mode(FileType::from_raw_mode(stat.st_mode)),
                size: stat.st_size as u64,
                modified: (stat.st_mtime, stat.st_mtime_nsec as u32),
            }),
            // Gone since it was listed.
            Err(rustix::io::Errno::NOENT) => {}
            Err(e) => tally.unreadable(OsStr::from_bytes(name.to_bytes()).into(), e),
        }
    }
    let next_offset = (end < kept.len()).then_some(end);
    let mut record = Record::from_tallies(vec![tally]);
    record.cut.limit = next_offset.is_some();
    Ok(Listing { entries, total: kept.len(), record, next_offset })
}

/// Whether an entry is a character device of number 0: what stands for a name that is not there, as in the layers of
/// overlayfs. Sandboxes put such ones where a guarded name is absent, for as long as a job runs.
fn is_blank(dir: BorrowedFd<'_>, all: &Entries, i: usize) -> bool {
    all.kind(i) == FoundKind::Other
        && rustix::fs::statat(dir, all.name(i), AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_page_is_sorted_and_says_where_the_next_starts() {
        let dir = tempfile::tempdir().expect("a directory");
        for name in ["b", "a", ".env", "c"] {
            std::fs::write(dir.path().join(name), name).expect("a file");
        }
        std::fs::create_dir(dir.path().join("d")).expect("a directory");
        std::os::unix::fs::symlink("nowhere", dir.path().join("e")).expect("a link");
        let (device, mode) = (FileType::CharacterDevice, rustix::fs::Mode::empty());
        rustix::fs::mknodat(rustix::fs::CWD, dir.path().join("blank"), device, mode, 0).expect("anybody may");
        let fd = std::fs::File::open(dir.path()).expect("open");
        let page =
            |offset, limit| list(fd.as_fd(), offset, limit, Some(&|n: &OsStr, _| n == ".env")).expect("a listing");
        let names =
            |l: &Listing| l.entries.iter().map(|e| e.name.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
        let all = page(0, None);
        assert_eq!((names(&all).as_str(), all.total, all.record.withheld, all.next_offset), ("a b c d e", 5, 1, None));
        assert!(!all.record.complete(), "an entry was withheld");
        assert_eq!(all.entries[3].kind, Kind::Dir);
        assert_eq!(all.entries[4].kind, Kind::Link);
        let some = page(1, Some(2));
        assert_eq!((names(&some).as_str(), some.next_offset), ("b c", Some(3)));
        assert!(some.record.cut.limit);
        assert!(page(9, Some(2)).entries.is_empty());
    }
}
