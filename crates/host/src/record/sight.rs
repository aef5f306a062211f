//! Where a name leads that a stopped process gave to the kernel, if that is a place in the roots which it could write.
//!
//! The name is followed in the process's own world, as the kernel will; what is opened to be read is opened beneath the
//! handles of our roots, by the path that came out. Both have to be the same inode. So what stands over a hidden file in
//! there makes nobody read the file out here.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{
    CWD, FileType, Mode, OFlags, ResolveFlags, Stat, StatVfsMountFlags, fstat, fstatfs, fstatvfs, openat, openat2,
    readlink, readlinkat,
};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use super::calls::Named;
use crate::connect::unix_name;
use crate::fs::{Workspace, is_absence, look_as_owner, stat_as_owner};
use crate::sandbox::{beneath, memory_of, owner};

/// The longest path that the kernel takes, its NUL included.
const PATH_MAX: usize = 4096;
/// Links on the way of one path. As many as the kernel follows.
const MAX_LINKS: usize = 40;
/// How often a place is looked at in both worlds that is not the same in them.
const LOOKS: usize = 3;
/// The file system whose links lead elsewhere than they say.
const PROC: i64 = 0x9fa0;

/// What a name leads to.
#[derive(Debug)]
pub(super) enum Seen {
    /// An entry of a root, or a place for one.
    Inside(Found),
    /// Nothing that the process could change in a root.
    Elsewhere,
    /// It cannot be told.
    Unknown,
}

/// A place in a root.
#[derive(Debug)]
pub(super) struct Found {
    /// Absolute and resolved.
    pub(super) path: PathBuf,
    /// Its directory, opened beneath our root.
    pub(super) dir: OwnedFd,
    pub(super) name: OsString,
}

/// The end of a way.
enum End {
    /// A name in a directory, whether something stands there or not.
    Entry { parent: OwnedFd, name: OsString },
    /// Something that is open, or a directory named by a dot.
    Handle(OwnedFd),
}

impl End {
    /// What stands there; `None` where nothing does.
    fn stands(&self) -> Result<Option<OwnedFd>, Errno> {
        match self {
            End::Entry { parent, name } => absent_or(look_as_owner(parent, name.as_ref(), PATH | OFlags::NOFOLLOW)),
            End::Handle(handle) => fcntl_dupfd_cloexec(handle, 0).map(Some),
        }
    }
}

/// Sees with the eyes of the processes of one job, whose worlds are one.
#[derive(Debug)]
pub(super) struct Sight {
    files: Arc<Workspace>,
    slash: OnceLock<OwnedFd>,
}

/// Why nothing came out: the call will fail by itself, or we could not look.
pub(super) struct Lost(Seen);

impl From<Errno> for Lost {
    fn from(error: Errno) -> Lost {
        let fails = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::NAMETOOLONG, Errno::BADF, Errno::SRCH];
        Lost(if fails.contains(&error) { Seen::Elsewhere } else { Seen::Unknown })
    }
}

impl Sight {
    pub(super) fn new(files: Arc<Workspace>) -> Sight {
        Sight { files, slash: OnceLock::new() }
    }

    /// Where a path leads that the thread names.
    pub(super) fn named(&self, thread: u32, named: &Named) -> Seen {
        let end = text(thread, named.text).and_then(|text| self.lead(thread, named.dir, text, named.follows));
        end.and_then(|end| self.ours(end)).unwrap_or_else(|Lost(seen)| seen)
    }

    /// Where the name leads that the thread gives to a socket, if that is one of a file: its address begins there in its
    /// memory.
    pub(super) fn bound(&self, thread: u32, at: u64, length: u32) -> Seen {
        match unix_name(length, |into| memory_of(thread, at, into)) {
            Some(name) => {
                let end = self.lead(thread, libc::AT_FDCWD, name, false);
                end.and_then(|end| self.ours(end)).unwrap_or_else(|Lost(seen)| seen)
            }
            None => Seen::Elsewhere,
        }
    }

    /// What the thread has open under a number.
    pub(super) fn open(&self, thread: u32, number: i32) -> Seen {
        let handle = openat(CWD, format!("/proc/{thread}/fd/{number}"), PATH, Mode::empty());
        handle.map_err(Lost::from).and_then(|fd| self.ours(End::Handle(fd))).unwrap_or_else(|Lost(seen)| seen)
    }

    /// The file with this inode that a process has mapped, by its path as `/proc/PID/maps` says it.
    pub(super) fn mapped(&self, path: &[u8], inode: u64) -> Seen {
        let mut names = path.to_vec();
        // A newline is written in octal, and a file may be called so: the inode tells which it is.
        while let Some(at) = names.windows(4).position(|four| four == br"\012") {
            names.splice(at..at + 4, *b"\n");
        }
        for names in [path, &names] {
            let path = Path::new(OsStr::from_bytes(names));
            let in_a_root = self.files.roots().any(|root| path.starts_with(root) && path != root);
            if in_a_root
                && !self.files.is_own_state(path)
                && let Ok(Some(found)) = self.at(path)
                && stat_as_owner(&found.dir, &found.name).is_ok_and(|stat| stat.st_ino == inode)
            {
                return Seen::Inside(found);
            }
        }
        Seen::Elsewhere
    }

    /// A place that lies in a root by its path; `None` where there is no such directory.
    pub(super) fn at(&self, path: &Path) -> Result<Option<Found>, Errno> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::ISDIR) };
        match self.files.look_as_owner(above, PATH | OFlags::DIRECTORY) {
            Ok(dir) => Ok(Some(Found { path: path.to_path_buf(), dir, name: name.to_owned() })),
            Err(error) if is_absence(error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a place is to the job what it is to us: where nothing is mounted over it, and it could write there.
    pub(super) fn is_shared(&self, found: &Found) -> bool {
        let theirs = |slash: &OwnedFd| {
            let above = found.path.parent()?;
            let parent = beneath_as_owner(slash, above.as_os_str().as_bytes()).ok()?;
            self.ours(End::Entry { parent, name: found.name.clone() }).ok()
        };
        matches!(self.slash.get().and_then(theirs), Some(Seen::Inside(theirs)) if theirs.path == found.path)
    }

    fn lead(&self, thread: u32, dir: i32, text: Vec<u8>, follows: bool) -> Result<End, Lost> {
        if text.is_empty() {
            let open = format!("/proc/{thread}/fd/{dir}");
            return Ok(End::Handle(openat(CWD, open, PATH, Mode::empty())?));
        }
        let mut full = match text.first() {
            Some(b'/') => text,
            _ => [self.begins(thread, dir)?.as_slice(), b"/", &text].concat(),
        };
        let slash = self.slash()?;
        for _ in 0..MAX_LINKS {
            let (above, name) = match split(&full) {
                Some((above, name)) => (above.to_vec(), name.to_vec()),
                None => return Ok(End::Handle(beneath_as_owner(slash, &full)?)),
            };
            let parent = match beneath_as_owner(slash, &above) {
                Ok(parent) => parent,
                // Through `/proc`: what is `self` to the process is not what it is to us.
                Err(Errno::LOOP | Errno::NOENT) => return self.walk(thread, &full, follows),
                Err(error) => return Err(error.into()),
            };
            let follows = follows || full.last() == Some(&b'/');
            match pointed(&parent, OsStr::from_bytes(&name)) {
                Ok(_) if follows && is_proc(&parent) => return self.walk(thread, &full, true),
                Ok(target) if follows => {
                    let target = target.into_bytes();
                    full = if target.first() == Some(&b'/') {
                        target
                    } else {
                        [Workspace::path_of(&parent)?.as_os_str().as_bytes(), b"/", &target].concat()
                    };
                }
                _ => return Ok(End::Entry { parent, name: OsString::from_vec(name) }),
            }
        }
        Err(Lost(Seen::Elsewhere))
    }

    /// Where a relative path of the thread begins.
    fn begins(&self, thread: u32, dir: i32) -> Result<Vec<u8>, Lost> {
        let link = match dir {
            libc::AT_FDCWD => format!("/proc/{thread}/cwd"),
            dir => format!("/proc/{thread}/fd/{dir}"),
        };
        let place = readlink(link, Vec::with_capacity(256))?.into_bytes();
        // What is no directory, or has no name any more, begins nothing.
        if place.first() == Some(&b'/') { Ok(place) } else { Err(Lost(Seen::Elsewhere)) }
    }

    /// Learns the top of the job's world from one of its threads, once: no process of it can get another. `is_it` says,
    /// when that was looked at, whether the number still was that thread's.
    pub(super) fn learn(&self, thread: u32, is_it: impl FnOnce() -> bool) {
        if self.slash.get().is_none()
            && let Ok(slash) = openat(CWD, format!("/proc/{thread}/root"), PATH | OFlags::DIRECTORY, Mode::empty())
            && is_it()
        {
            self.slash.get_or_init(|| slash);
        }
    }

    fn slash(&self) -> Result<&OwnedFd, Lost> {
        self.slash.get().ok_or(Lost(Seen::Unknown))
    }

    /// The same way name by name, for paths through links of `/proc`, which lead to what a process has open.
    fn walk(&self, thread: u32, full: &[u8], follows: bool) -> Result<End, Lost> {
        let parts = |text: &[u8]| -> Vec<OsString> {
            let all = text.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".");
            all.rev().map(|part| OsString::from_vec(part.to_vec())).collect()
        };
        let top = || Ok::<_, Lost>(openat(self.slash()?, ".", PATH | OFlags::DIRECTORY, Mode::empty())?);
        let (mut at, mut rest, mut links) = (top()?, parts(full), 0);
        while let Some(part) = rest.pop() {
            let last = rest.is_empty();
            if part == ".." {
                at = openat(&at, "..", PATH | OFlags::DIRECTORY, Mode::empty())?;
                continue;
            }
            let there = match openat(&at, &part, PATH | OFlags::NOFOLLOW, Mode::empty()) {
                Err(Errno::NOENT) if last => return Ok(End::Entry { parent: at, name: part }),
                there => there?,
            };
            if kind(&fstat(&there)?) != FileType::Symlink || (last && !follows) {
                if last {
                    return Ok(End::Entry { parent: at, name: part });
                }
                at = there;
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                break;
            }
            if is_proc(&at) {
                // Whoever looks is `self`; here it is who was stopped.
                at = match part.as_bytes() {
                    b"self" | b"thread-self" => openat(CWD, format!("/proc/{thread}"), PATH, Mode::empty())?,
                    _ => openat(&at, &part, PATH, Mode::empty())?,
                };
                continue;
            }
            let target = readlinkat(&at, &part, Vec::new())?.into_bytes();
            if target.first() == Some(&b'/') {
                at = top()?;
            }
            rest.extend(parts(&target));
        }
        if links > MAX_LINKS { Err(Lost(Seen::Elsewhere)) } else { Ok(End::Handle(at)) }
    }

    /// The same place beneath our roots, if it is one there and the process could write it.
    fn ours(&self, end: End) -> Result<Seen, Lost> {
        let elsewhere = Ok(Seen::Elsewhere);
        let path = match &end {
            End::Entry { parent, name } => Workspace::path_of(parent)?.join(name),
            End::Handle(handle) => Workspace::path_of(handle)?,
        };
        let in_a_root = |path: &Path| self.files.roots().any(|root| path.starts_with(root) && path != root);
        if !in_a_root(&path) || self.files.is_own_state(&path) {
            return elsewhere;
        }
        let Some(found) = self.at(&path)? else { return elsewhere };
        if let End::Entry { parent, .. } = &end
            && (!same(&fstat(parent)?, &fstat(&found.dir)?) || is_read_only(parent))
        {
            return elsewhere;
        }
        // What is mounted over is another at each look; what somebody puts there between the two is so at one.
        for _ in 0..LOOKS {
            let theirs = end.stands()?;
            let ours = absent_or(stat_as_owner(&found.dir, &found.name))?;
            match (&theirs, ours) {
                (None, None) => return Ok(Seen::Inside(found)),
                (Some(theirs), Some(ours)) if same(&fstat(theirs)?, &ours) => {
                    return if is_read_only(theirs) { elsewhere } else { Ok(Seen::Inside(found)) };
                }
                _ => {}
            }
        }
        elsewhere
    }
}

const PATH: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Where a link points.
fn pointed(dir: &OwnedFd, name: &OsStr) -> Result<CString, Errno> {
    match readlinkat(dir, name, Vec::new()) {
        Err(Errno::ACCESS) => readlinkat(look_as_owner(dir, name.as_ref(), PATH | OFlags::NOFOLLOW)?, "", Vec::new()),
        other => other,
    }
}

/// As [`beneath`], whatever rights the directories on the way have.
fn beneath_as_owner(slash: &OwnedFd, path: &[u8]) -> Result<OwnedFd, Errno> {
    match beneath(slash, path) {
        Err(Errno::ACCESS) => {
            let path = CString::new(path).map_err(|_| Errno::INVAL)?;
            let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
            owner::opened(|| openat2(slash, &*path, PATH, Mode::empty(), resolve))
        }
        other => other,
    }
}

/// A text in the memory of a thread.
fn text(thread: u32, at: u64) -> Result<Vec<u8>, Lost> {
    let mut text = vec![0; PATH_MAX];
    let read = memory_of(thread, at, &mut text);
    let end = text.iter().take(read).position(|byte| *byte == 0).ok_or(Lost(Seen::Elsewhere))?;
    text.truncate(end);
    Ok(text)
}

/// The directory and the name of the last entry; `None` where a dot or nothing is named last.
fn split(full: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = full.iter().rposition(|byte| *byte != b'/')? + 1;
    let slash = full[..end].iter().rposition(|byte| *byte == b'/')?;
    let name = &full[slash + 1..end];
    (name != b"." && name != b"..").then_some((&full[..=slash], name))
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn is_proc(dir: &OwnedFd) -> bool {
    fstatfs(dir).is_ok_and(|system| system.f_type == PROC)
}

fn same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

fn absent_or<T>(result: Result<T, Errno>) -> Result<Option<T>, Errno> {
    match result {
        Err(Errno::NOENT) => Ok(None),
        result => result.map(Some),
    }
}

/// Whether the mount that it was reached through is read-only.
fn is_read_only(handle: &OwnedFd) -> bool {
    fstatvfs(handle).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::RDONLY))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_last_name_is_what_is_changed() {
        let of = |text: &'static str| {
            split(text.as_bytes())
                .map(|(above, name)| [above, name].map(|part| std::str::from_utf8(part).expect("text")))
        };
        assert_eq!(of("/a/b"), Some(["/a/", "b"]));
        assert_eq!(of("/a/b//"), Some(["/a/", "b"]));
        assert_eq!(of("/a"), Some(["/", "a"]));
        for none in ["/", "/a/.", "/a/../", "/a/b/.."] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
