//! The index of a repository: which entries are repositories of their own, and what git knows of the others.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::tracked::hash;

/// What an index has.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Links {
    /// Paths of repositories, from the top of the work tree.
    pub links: Vec<PathBuf>,
    /// The name of the index that has the rest, where it is split.
    pub shared: Option<String>,
}

/// Bytes of an entry before its object's name: times, device, inode, mode, owner, size.
const HEAD: usize = 40;
/// Where in them the modification time, the mode and the size stand.
const MTIME: usize = 8;
const MODE: usize = 24;
const SIZE: usize = 36;
/// The longest name: no system opens a longer one, and each entry of version 4 may be one letter longer than the last.
const NAME_BYTES: usize = 4096;
/// What the flags of an entry say that git was only told of, with no content.
const TOLD_OF: u32 = 0x2000;
/// The mode of a link to a commit of another repository.
const LINK: u32 = 0o160_000;

/// What an index says of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<'i> {
    /// Where it begins.
    pub at: usize,
    /// From the top of the work tree.
    pub name: &'i [u8],
    /// The object's name.
    pub object: &'i [u8],
    mode: u32,
    /// When anything of the file that git knows changed last, in seconds.
    pub ctime: u32,
    /// Its modification time: seconds and nanoseconds.
    pub mtime: (u32, u32),
    /// Its bytes, as far as 32 bits hold them.
    pub size: u32,
    /// Whether it is one of the sides of a merge that nobody has decided.
    pub is_side: bool,
    /// What else git was told of it, but for the length of its name.
    flags: u32,
}

impl Entry<'_> {
    /// Whether git was told of it and has no content for it (`git add -N`).
    pub(crate) fn is_only_told_of(&self) -> bool {
        self.flags & TOLD_OF != 0
    }
}

/// Reads an index of version 2 to 4; `long` says that objects have 32 bytes in their names. None where it is odd.
pub(super) fn links(bytes: &[u8], long: bool) -> Option<Links> {
    let mut links = Vec::new();
    let shared = entries(bytes, long, |entry| {
        if entry.mode & 0o170_000 == LINK {
            links.push(PathBuf::from(OsStr::from_bytes(entry.name)));
        }
    })?;
    Some(Links { links, shared })
}

/// Reads an index as [`links`] does, entry by entry; the name of the index that has the rest, where it is split.
pub(super) fn entries(bytes: &[u8], long: bool, mut each: impl FnMut(&Entry<'_>)) -> Option<Option<String>> {
    let object = if long { 32 } else { 20 };
    let (version, count) = (word(bytes, 4)?, word(bytes, 8)?);
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let (mut at, mut name) = (12, Vec::new());
    for _ in 0..count {
        let mode = word(bytes, at + MODE)?;
        let ctime = word(bytes, at)?;
        let mtime = (word(bytes, at + MTIME)?, word(bytes, at + MTIME + 4)?);
        let (begin, size) = (at, word(bytes, at + SIZE)?);
        let id = bytes.get(at + HEAD..at + HEAD + object)?;
        let flags = half(bytes, at + HEAD + object)?;
        let extended = flags & 0x4000 != 0 && version > 2;
        let more = if extended { half(bytes, at + HEAD + object + 2)? } else { 0 };
        let mut to = at + HEAD + object + 2 + if extended { 2 } else { 0 };
        if version == 4 {
            let (dropped, length) = varint(bytes.get(to..)?)?;
            to += length;
            name.truncate(name.len().checked_sub(dropped)?);
        } else {
            name.clear();
        }
        let rest = bytes.get(to..)?;
        let known = usize::from(flags & 0xFFF);
        let length = match version {
            // Most names are as long as the entry says, so that nothing has to be looked for.
            2 | 3 if known < 0xFFF && rest.get(known) == Some(&0) => known,
            _ => rest.iter().position(|byte| *byte == 0)?,
        };
        name.extend_from_slice(rest.get(..length)?);
        if name.len() > NAME_BYTES {
            return None;
        }
        to += length;
        at = if version == 4 { to + 1 } else { at + (to - at + 8) / 8 * 8 };
        let is_side = flags & 0x3000 != 0;
        let flags = u32::from(flags & 0xF000) << 16 | u32::from(more);
        each(&Entry { at: begin, name: &name, object: id, mode, ctime, mtime, size, is_side, flags });
    }
    let mut shared = None;
    while at + object < bytes.len() {
        let (kind, length) = (bytes.get(at..at + 4)?, word(bytes, at + 4)?);
        if kind == b"link" {
            let name = bytes.get(at + 8..at + 8 + object)?;
            shared = Some(name.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(length).ok()?)?;
    }
    // With names of the other length it would not end just so.
    (at + object == bytes.len()).then_some(shared)
}

/// What an index says of every path, as a sum: another one where git was told or did anything, the same where it only
/// looked at the files anew. `None` where it is split, or not whole.
pub(crate) fn meaning(bytes: &[u8]) -> Option<[u8; 32]> {
    let sum_of = |long: bool| {
        let mut all = Sha256::new();
        let shared = entries(bytes, long, |entry| {
            all.update((entry.name.len() as u64).to_le_bytes());
            all.update(entry.name);
            all.update(entry.object);
            all.update(entry.mode.to_le_bytes());
            all.update(entry.flags.to_le_bytes());
        })?;
        let (body, sum) = bytes.split_at(bytes.len() - if long { 32 } else { 20 });
        // Git can be told to write none.
        let is_whole = sum.iter().all(|byte| *byte == 0) || hash(&[body], long) == sum;
        (shared.is_none() && is_whole).then(|| all.finalize().into())
    };
    sum_of(false).or_else(|| sum_of(true))
}

/// Writes another time and size into the entry that begins at `at`.
pub(super) fn set_stat(bytes: &mut [u8], at: usize, mtime: (u32, u32), size: u32) -> Option<()> {
    for (place, value) in [(MTIME, mtime.0), (MTIME + 4, mtime.1), (SIZE, size)] {
        bytes.get_mut(at + place..at + place + 4)?.copy_from_slice(&value.to_be_bytes());
    }
    Some(())
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// A number as git packs them, and how many bytes it takes.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value: usize = 0;
    for (at, byte) in bytes.iter().enumerate().take(9) {
        value = (value << 7) | usize::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}
