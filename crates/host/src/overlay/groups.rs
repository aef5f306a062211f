//! Files of other groups. A layer of an ordinary user lies in a user namespace that has one group: copying a file of another
//! one up into it fails (`EOVERFLOW`), whatever the user's further groups may do there.

use std::path::Path;

use nika_guard::Permit;
use rustix::fs::{AtFlags, Mode, OFlags};

/// Entries of a root that are looked at. A shared directory shows itself at its top: what is made in it gets its group.
const LOOKED_AT: usize = 256;

/// What lies at the top of a root and is of a group that a layer cannot hold; nothing for root, whose layers hold all.
pub fn of_another_group(_permit: &Permit, root: &Path) -> Option<String> {
    if rustix::process::geteuid().is_root() {
        return None;
    }
    let (user, own) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let dir = rustix::fs::open(root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let top = rustix::fs::fstat(&dir).ok()?;
    let because = |name: &str| format!("{name} is of another group, which a layer of an ordinary user cannot hold");
    let groups = rustix::process::getgroups().unwrap_or_default();
    // What the user may not change fails as it would without a layer.
    let is_foreign =
        |uid: u32, gid: u32| gid != own && (uid == user || groups.iter().any(|group| group.as_raw() == gid));
    if is_foreign(top.st_uid, top.st_gid) {
        return Some(because(&root.display().to_string()));
    }
    let entries = rustix::fs::Dir::read_from(&dir).ok()?.flatten();
    let named = entries.filter(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."));
    named.take(LOOKED_AT).find_map(|entry| {
        let stat = rustix::fs::statat(&dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        is_foreign(stat.st_uid, stat.st_gid).then(|| because(&entry.file_name().to_string_lossy()))
    })
}
