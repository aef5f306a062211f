//! What a file has beside its content and permission bits: its owner, access lists and labels. What takes its place
//! is given them, and what was taken away gets them back with its content.
//!
//! What cannot be given is not worth a refusal; but what would let others run a file as whoever it does not belong to is
//! dropped then.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nika_contract::Dress;
use rustix::fs::{Gid, Mode, Uid, XattrFlags, fchmod, fchown, fremovexattr, fsetxattr, fstat, getxattr, listxattr};

/// Bytes of attributes that are kept of one file. 16 KiB: an access list of a thousand entries has half of that, and lines
/// of the undo store are read whole.
const KEPT_BYTES: usize = 16 << 10;

/// Lets whoever runs a program do more than who they are. It is said of its content, so no other content is given it.
const CAPABILITY: &[u8] = b"security.capability";

/// Who else may do what.
const ACCESS: &[u8] = b"system.posix_acl_access";

/// Said of a content, or by the kernel alone, or marks of an overlay: never written down to be given back.
const NOT_KEPT: &[&[u8]] = &[CAPABILITY, b"security.ima", b"security.evm", b"user.overlay.", b"trusted.overlay."];

/// Gives a new file what the one has that it takes the place of: its owner, access lists and labels, and rights.
/// `same_content`: whether it holds what that one held.
pub(crate) fn dress(
    file: &File,
    former: Option<&OwnedFd>,
    owner: (u32, u32),
    mut rights: u32,
    same_content: bool,
) -> rustix::io::Result<()> {
    if !owned_by(file, owner) {
        rights &= !0o6000;
    }
    let former: Vec<(Vec<u8>, Vec<u8>)> = former.into_iter().flat_map(attributes).collect();
    for (name, value) in &former {
        if same_content || name != CAPABILITY {
            let _ = fsetxattr(file, &**name, value, XattrFlags::empty());
        }
    }
    without_inherited(file, former.iter().any(|(name, _)| name == ACCESS));
    if fstat(file)?.st_mode & 0o7777 != rights {
        let _ = fchmod(file, Mode::from_raw_mode(rights));
    }
    Ok(())
}

/// What stands there has of its own, to be written down; `None` where a new file is given the same.
pub(crate) fn worn(handle: &OwnedFd) -> Option<Dress> {
    worn_by_all(handle).filter(|dress| *dress != bare())
}

/// What a new file is given.
pub(crate) fn bare() -> Dress {
    let owner = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    Dress { owner, attributes: Vec::new() }
}

/// The same of every file: also of one that has nothing but what a new one has.
pub(crate) fn worn_by_all(handle: &OwnedFd) -> Option<Dress> {
    let stat = fstat(handle).ok()?;
    let mut room = KEPT_BYTES;
    let kept = attributes(handle).into_iter().filter(|(name, value)| {
        let fits = is_kept(name) && name.len() + value.len() <= room;
        if fits {
            room -= name.len() + value.len();
        }
        fits
    });
    let attributes: Vec<(String, Vec<u8>)> =
        kept.filter_map(|(name, value)| Some((String::from_utf8(name).ok()?, value))).collect();
    Some(Dress { owner: (stat.st_uid, stat.st_gid), attributes })
}

/// Gives what was written down of a file to what stands for it again; whether its owner could be given.
pub(crate) fn wear(file: &File, dress: &Dress) -> bool {
    let owned = owned_by(file, dress.owner);
    for (name, value) in dress.attributes.iter().filter(|(name, _)| is_kept(name.as_bytes())) {
        let _ = fsetxattr(file, name.as_str(), value, XattrFlags::empty());
    }
    without_inherited(file, dress.attributes.iter().any(|(name, _)| name.as_bytes() == ACCESS));
    owned
}

/// Takes the access list away that a new file has from its directory, where what it stands for has none.
fn without_inherited(file: &File, has_own: bool) {
    if !has_own {
        let _ = fremovexattr(file, ACCESS);
    }
}

fn is_kept(name: &[u8]) -> bool {
    !NOT_KEPT.iter().any(|not| name.starts_with(not))
}

/// Gives a file its owner. An ordinary user gives no file away: who may write one of somebody else's gets it, as from git,
/// in its group where that can be.
fn owned_by(file: impl AsFd, owner: (u32, u32)) -> bool {
    let (uid, gid) = (Uid::from_raw(owner.0), Gid::from_raw(owner.1));
    if fstat(&file).is_ok_and(|stat| (stat.st_uid, stat.st_gid) == owner) {
        return true;
    }
    let owned = fchown(&file, Some(uid), Some(gid)).is_ok();
    if !owned {
        let _ = fchown(&file, None, Some(gid));
    }
    owned
}

/// Names and values, as far as they can be read.
fn attributes(of: &OwnedFd) -> Vec<(Vec<u8>, Vec<u8>)> {
    let at = format!("/proc/self/fd/{}", of.as_raw_fd());
    let Some(names) = grown(1024, |names| listxattr(&at, names)) else { return Vec::new() };
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.filter_map(|name| Some((name.to_vec(), grown(256, |value| getxattr(&at, name, value))?))).collect()
}

/// What the kernel writes into as much room as it needs: mostly little, and never more than 64 KiB.
fn grown(room: usize, read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> Option<Vec<u8>> {
    [room, 64 << 10].into_iter().find_map(|room| {
        let mut bytes = vec![0; room];
        let length = read(&mut bytes).ok()?;
        bytes.truncate(length);
        Some(bytes)
    })
}
