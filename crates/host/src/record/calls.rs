//! The calls that change files by name, and what their arguments say. Pure.
//!
//! One table is both what the kernel is told to stop at and how what it stopped is read. Calls on a descriptor that had
//! to be opened for writing are not in it: opening it was.

use crate::sandbox::When::{self, Always, Bits};

/// How arguments name a path: by number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name {
    /// The directory that it begins in; none is the working directory.
    dir: Option<u8>,
    text: u8,
}

/// What a call does, by the numbers of its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Does {
    /// Opens for writing; where its flags are no argument, these.
    Opens(Name, Flags),
    /// Changes what a link at the end leads to, unless the flags in the argument say otherwise.
    Changes(Name, Option<u8>),
    /// Changes what is open.
    ChangesOpen(u8),
    /// Makes the entry itself.
    Names(Name),
    /// Removes the entry itself.
    Removes(Name),
    /// Makes an entry for a unix socket, whose address begins here and is so long.
    Binds(u8, u8),
    /// Gives an entry another name; the flags may have the two change places.
    Moves(Name, Name, Option<u8>),
    /// Gives what is named first another name besides.
    Links(Name, Name, Option<u8>),
}

/// Where the flags of an open are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Flags {
    Argument(u8),
    Are(u64),
}

/// A call, when it is stopped, and what it does.
pub(crate) type Row = (libc::c_long, When, Does);

const fn here(text: u8) -> Name {
    Name { dir: None, text }
}

const fn below(dir: u8, text: u8) -> Name {
    Name { dir: Some(dir), text }
}

/// Any of these and an open may change something. Opens that only read cost nothing.
const WRITES: u64 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u64;
const CREATES: u64 = (libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC) as u64;
/// A file without a name.
const NAMELESS: u64 = 0o20_000_000;
const EXCHANGE: u64 = libc::RENAME_EXCHANGE as u64;

/// `openat2` is not in it, as no command that can write has that call.
const EVERYWHERE: &[Row] = &[
    (libc::SYS_openat, Bits(2, WRITES as u32), Does::Opens(below(0, 1), Flags::Argument(2))),
    (libc::SYS_truncate, Always, Does::Changes(here(0), None)),
    (libc::SYS_fchmod, Always, Does::ChangesOpen(0)),
    (libc::SYS_fchmodat, Always, Does::Changes(below(0, 1), None)),
    (libc::SYS_fchmodat2, Always, Does::Changes(below(0, 1), Some(3))),
    (libc::SYS_unlinkat, Always, Does::Removes(below(0, 1))),
    (libc::SYS_mkdirat, Always, Does::Names(below(0, 1))),
    (libc::SYS_mknodat, Always, Does::Names(below(0, 1))),
    (libc::SYS_bind, Always, Does::Binds(1, 2)),
    (libc::SYS_symlinkat, Always, Does::Names(below(1, 2))),
    (libc::SYS_linkat, Always, Does::Links(below(0, 1), below(2, 3), Some(4))),
    (libc::SYS_renameat2, Always, Does::Moves(below(0, 1), below(2, 3), Some(4))),
];

/// Calls that newer architectures do without.
#[cfg(target_arch = "x86_64")]
const OLDER: &[Row] = &[
    (libc::SYS_open, Bits(1, WRITES as u32), Does::Opens(here(0), Flags::Argument(1))),
    (libc::SYS_creat, Always, Does::Opens(here(0), Flags::Are(CREATES))),
    (libc::SYS_chmod, Always, Does::Changes(here(0), None)),
    (libc::SYS_unlink, Always, Does::Removes(here(0))),
    (libc::SYS_rmdir, Always, Does::Removes(here(0))),
    (libc::SYS_mkdir, Always, Does::Names(here(0))),
    (libc::SYS_mknod, Always, Does::Names(here(0))),
    (libc::SYS_symlink, Always, Does::Names(here(1))),
    (libc::SYS_link, Always, Does::Links(here(0), here(1), None)),
    (libc::SYS_rename, Always, Does::Moves(here(0), here(1), None)),
    (libc::SYS_renameat, Always, Does::Moves(below(0, 1), below(2, 3), None)),
];
#[cfg(target_arch = "aarch64")]
const OLDER: &[Row] = &[(libc::SYS_renameat, Always, Does::Moves(below(0, 1), below(2, 3), None))];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OLDER: &[Row] = &[];

/// All of them.
pub(crate) const CALLS: &[&[Row]] = &[EVERYWHERE, OLDER];

/// A path as a process names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    /// A descriptor of the process, or `AT_FDCWD`.
    pub(super) dir: i32,
    /// Where in its memory the text lies.
    pub(super) text: u64,
    /// Whether a link at the end is followed.
    pub(super) follows: bool,
}

/// What a stopped call is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Change or make what is named.
    At(Named),
    /// Remove what is named, which changes no other name of it.
    Remove(Named),
    /// Open what is named, if it is there.
    Find(Named),
    /// Change what the process has open under this number.
    Open(i32),
    /// Make a name for a socket, by the address that begins here in memory and is so long.
    Bind { at: u64, length: u32 },
    /// Move the first to the second; or have them change places.
    Move { from: Named, to: Named, swaps: bool },
    /// Give the first the second as another name.
    Link { from: Named, to: Named },
}

/// Reads a stopped call; nothing for one that changes no name's content.
pub(super) fn read(number: i64, arguments: &[u64; 6]) -> Option<Act> {
    let row = CALLS.iter().copied().flatten().find(|(call, ..)| *call == number)?;
    let argument = |at: u8| arguments.get(usize::from(at)).copied().unwrap_or_default();
    let named = |name: Name, follows: bool| Named {
        // Descriptors are 32-bit numbers: the kernel ignores the upper half.
        dir: name.dir.map_or(libc::AT_FDCWD, |at| argument(at) as u32 as i32),
        text: argument(name.text),
        follows,
    };
    let has = |flags: u64, bits: u64| flags & bits == bits;
    Some(match row.2 {
        Does::Opens(name, flags) => {
            let flags = match flags {
                Flags::Argument(at) => argument(at),
                Flags::Are(flags) => flags,
            };
            if has(flags, NAMELESS) || has(flags, libc::O_PATH as u64) {
                return None;
            }
            let new = has(flags, (libc::O_CREAT | libc::O_EXCL) as u64);
            let named = named(name, !new && !has(flags, libc::O_NOFOLLOW as u64));
            if has(flags, libc::O_CREAT as u64) { Act::At(named) } else { Act::Find(named) }
        }
        Does::Changes(name, flags) => {
            let stays = flags.is_some_and(|at| has(argument(at), libc::AT_SYMLINK_NOFOLLOW as u64));
            Act::At(named(name, !stays))
        }
        Does::ChangesOpen(at) => Act::Open(argument(at) as u32 as i32),
        Does::Names(name) => Act::At(named(name, false)),
        Does::Removes(name) => Act::Remove(named(name, false)),
        Does::Binds(at, length) => Act::Bind { at: argument(at), length: argument(length) as u32 },
        Does::Moves(from, to, flags) => {
            let swaps = flags.is_some_and(|at| has(argument(at), EXCHANGE));
            Act::Move { from: named(from, false), to: named(to, false), swaps }
        }
        Does::Links(from, to, flags) => {
            let follows = flags.is_some_and(|at| has(argument(at), libc::AT_SYMLINK_FOLLOW as u64));
            Act::Link { from: named(from, follows), to: named(to, false) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANYWHERE: i32 = libc::AT_FDCWD;

    fn at(dir: i32, text: u64, follows: bool) -> Act {
        Act::At(Named { dir, text, follows })
    }

    #[test]
    fn flags_say_whether_a_link_is_followed_and_whether_there_is_a_name_at_all() {
        let open = |flags: i32| read(libc::SYS_openat, &[7, 100, flags as u64, 0o644, 0, 0]);
        let found = |follows| Some(Act::Find(Named { dir: 7, text: 100, follows }));
        assert_eq!(open(libc::O_WRONLY), found(true));
        assert_eq!(open(libc::O_WRONLY | libc::O_CREAT), Some(at(7, 100, true)));
        assert_eq!(open(libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL), Some(at(7, 100, false)));
        assert_eq!(open(libc::O_RDWR | libc::O_NOFOLLOW), found(false));
        assert_eq!(open(libc::O_RDWR | libc::O_TMPFILE), None);
        assert_eq!(open(libc::O_PATH | libc::O_RDWR), None);
        let chmod = |flags: i32| read(libc::SYS_fchmodat2, &[3, 100, 0o600, flags as u64, 0, 0]);
        assert_eq!(chmod(0), Some(at(3, 100, true)));
        assert_eq!(chmod(libc::AT_SYMLINK_NOFOLLOW), Some(at(3, 100, false)));
    }

    #[test]
    fn of_two_names_each_has_its_directory() {
        let named = |dir, text, follows| Named { dir, text, follows };
        // A descriptor as it stands in a register: the upper half is nobody's.
        let here = u64::from(ANYWHERE as u32);
        let moves = read(libc::SYS_renameat2, &[here, 1, 5, 2, u64::from(libc::RENAME_EXCHANGE), 0]);
        let (from, to) = (named(ANYWHERE, 1, false), named(5, 2, false));
        assert_eq!(moves, Some(Act::Move { from, to, swaps: true }));
        let links = read(libc::SYS_linkat, &[4, 1, 5, 2, libc::AT_SYMLINK_FOLLOW as u64, 0]);
        assert_eq!(links, Some(Act::Link { from: named(4, 1, true), to: named(5, 2, false) }));
        assert_eq!(read(libc::SYS_symlinkat, &[1, 5, 2, 0, 0, 0]), Some(at(5, 2, false)));
        assert_eq!(read(libc::SYS_bind, &[3, 100, 110, 0, 0, 0]), Some(Act::Bind { at: 100, length: 110 }));
        assert_eq!(read(libc::SYS_fchmod, &[9, 0o600, 0, 0, 0, 0]), Some(Act::Open(9)));
        assert_eq!(read(libc::SYS_read, &[0; 6]), None);
    }
}
