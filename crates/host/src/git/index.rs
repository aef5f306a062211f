//! The index of a repository, read for one thing: which entries are repositories of their own.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

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
/// Where in them the mode stands.
const MODE: usize = 24;
/// The mode of a link to a commit of another repository.
const LINK: u32 = 0o160_000;

/// Reads an index of version 2 to 4; `long` says that objects have 32 bytes in their names. None where it is odd.
pub(super) fn links(bytes: &[u8], long: bool) -> Option<Links> {
    let object = if long { 32 } else { 20 };
    let (version, count) = (word(bytes, 4)?, word(bytes, 8)?);
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut out = Links::default();
    let (mut at, mut name) = (12, Vec::new());
    for _ in 0..count {
        let mode = word(bytes, at + MODE)?;
        let flags = u16::from_be_bytes(bytes.get(at + HEAD + object..)?.get(..2)?.try_into().ok()?);
        let extended = flags & 0x4000 != 0 && version > 2;
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
        to += length;
        at = if version == 4 { to + 1 } else { at + (to - at + 8) / 8 * 8 };
        if mode & 0o170_000 == LINK {
            out.links.push(PathBuf::from(OsStr::from_bytes(&name)));
        }
    }
    while at + object < bytes.len() {
        let (kind, length) = (bytes.get(at..at + 4)?, word(bytes, at + 4)?);
        if kind == b"link" {
            let name = bytes.get(at + 8..at + 8 + object)?;
            out.shared = Some(name.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(length).ok()?)?;
    }
    Some(out)
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
