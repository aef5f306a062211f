//! What stands in, on the real disk, for guarded names that do not exist.
//!
//! A mount needs something to be mounted on. For a file that is a whiteout, a device that is none: everybody may make
//! one, git does not see it, and nobody mistakes it for a file. Where a file system makes none, as an overlay, it is a
//! socket that nobody listens at, for the same reasons. For what git itself opens it is a file that says nothing
//! new, as git outside the sandbox fails on a device; for a directory an empty one. All but a whiteout have a mode that
//! nobody else uses, by which they are known again, so whoever comes last removes them, also those of a process that was killed; a
//! shared lock on the root says whether somebody still needs them.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nika_guard::profile::{Access, Placeholder, Profile, Step, guarded_below};
use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, RawMode, RenameFlags, Stat, flock, fstat, linkat, lstat,
    mkdir, mknodat, open, renameat_with, rmdir, unlink,
};
use rustix::io::Errno;

use super::Refusal;
use crate::fs::temp_name;

/// Mode of a directory that stands in.
const DIRECTORY: RawMode = 0o1555;
/// Mode of a socket that stands in; and of a file, where git would open it or the file system makes neither.
const FILE: RawMode = 0o1444;
/// What stands in for `commondir`: the directory itself.
const HERE: &[u8] = b".\n";
/// How often a lock is tried that another may have for a moment only, and how long that is.
const TRIES: usize = 5;
const A_MOMENT: Duration = Duration::from_millis(1);
/// What is added to the name of a guarded entry that came to be in spite of all.
const ASIDE: &str = ".refused-by-nika";

/// The stand-ins of one run.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    locks: Vec<(PathBuf, File)>,
    /// Stand-ins, children before parents.
    made: Vec<PathBuf>,
    /// The first whiteout or socket among them: the others are names of it, which costs no inode each.
    first: Option<PathBuf>,
    /// Names that cannot be stood in for: what comes to be there is set aside.
    watched: Vec<PathBuf>,
}

impl Placeholders {
    /// Makes the stand-ins for the absent names among `steps`, and brings the steps up to date with what is on disk:
    /// an absent name that exists by now is protected, a protected one that is gone is absent.
    ///
    /// With `sets_aside`, what comes to be under names that nothing stands in for is renamed at the end.
    pub(super) fn make(
        profile: &Profile,
        steps: Vec<Step>,
        sets_aside: bool,
    ) -> Result<(Placeholders, Vec<Step>), Refusal> {
        let mut all = Placeholders::default();
        if profile.access != Access::Workspace {
            return Ok((all, steps));
        }
        if profile.roots.iter().any(|root| root.parent().is_none()) {
            return Err(Refusal {
                guarantee: Some("a file system that is read-only but for the roots".to_owned()),
                why: "`/` cannot be a root that commands may write".to_owned(),
                errno: None,
            });
        }
        let shared = profile.repositories.iter().filter(|one| one.is_open()).map(|one| &one.common);
        for root in profile.roots.iter().filter(|root| !profile.is_layered(root)).chain(shared) {
            all.lock(root);
        }
        let mut kept = Vec::with_capacity(steps.len());
        for step in steps {
            // In a layer nothing stands in: what comes to be there is not applied. (A whiteout could not be mounted
            // on, either: below an overlay it is nothing at all.)
            let step = match step {
                Step::ReadOnly(path) | Step::Absent(path, _) if profile.is_layered(&path) => {
                    if lstat(&path).is_ok_and(|stat| !is_stand_in(&stat)) {
                        kept.push(Step::ReadOnly(path));
                    }
                    continue;
                }
                Step::ReadOnly(path) if lstat(&path).is_err() => match profile.stand_in(&path) {
                    Some(what) => Step::Absent(path, what),
                    // What others are doing there comes and goes, and is theirs.
                    None if profile.repository_of(&path).is_some() => continue,
                    None => {
                        all.watched.push(path);
                        continue;
                    }
                },
                other => other,
            };
            match step {
                Step::Absent(path, what) => match all.stand_in(&path, what) {
                    Ok(true) => kept.push(Step::Absent(path, what)),
                    Ok(false) => kept.push(Step::ReadOnly(path)),
                    // Where we cannot make it, the command cannot either: it has no more rights than this.
                    Err(Errno::ROFS | Errno::ACCESS | Errno::PERM | Errno::NOTDIR | Errno::NOENT) => {}
                    Err(error) => {
                        let what = path.to_string_lossy();
                        all.remove();
                        return Err(Refusal::of("absent guarded names", &what, error));
                    }
                },
                other => kept.push(other),
            }
        }
        all.made.reverse();
        let seen = |path: &&PathBuf| {
            profile.stand_in(path).is_none() && !profile.is_layered(path) && lstat(path.as_path()).is_err()
        };
        all.watched.extend(profile.absent.iter().filter(seen).cloned());
        if !sets_aside {
            all.watched.clear();
        }
        Ok((all, kept))
    }

    /// Says that somebody needs what stands in below `root`. A root that cannot be locked is only cleaned less well.
    fn lock(&mut self, root: &Path) {
        if let Ok(handle) = open(root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            && flock(&handle, FlockOperation::LockShared).is_ok()
        {
            self.locks.push((root.to_path_buf(), File::from(handle)));
        }
    }

    /// Makes a stand-in, or takes the one that is there. False when something real is there.
    fn stand_in(&mut self, path: &Path, what: Placeholder) -> Result<bool, Errno> {
        let made = match what {
            Placeholder::Directory => mkdir(path, Mode::from_raw_mode(DIRECTORY)),
            Placeholder::Here => here(path),
            Placeholder::Empty => file(path, b""),
            Placeholder::File if self.link(path) => Ok(()),
            Placeholder::File => match node(path) {
                Err(Errno::PERM | Errno::OPNOTSUPP | Errno::INVAL) => file(path, b""),
                // Not so a file: what somebody writes to one name of it would stand at all of them.
                Ok(()) => {
                    self.first = Some(path.to_path_buf());
                    Ok(())
                }
                Err(error) => Err(error),
            },
        };
        match made {
            Ok(()) => {
                if what == Placeholder::Directory {
                    // Whatever the umask took away.
                    let _ = set_mode(path, DIRECTORY);
                }
            }
            Err(Errno::EXIST) => {
                let stat = lstat(path)?;
                let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
                if !is_stand_in(&stat) || is_directory != (what == Placeholder::Directory) {
                    return Ok(false);
                }
            }
            Err(error) => return Err(error),
        }
        self.made.push(path.to_path_buf());
        Ok(true)
    }

    /// Gives the whiteout or socket that already stands in another name; false where that cannot be, for whichever reason.
    fn link(&self, path: &Path) -> bool {
        self.first.as_ref().is_some_and(|first| linkat(CWD, first, CWD, path, AtFlags::empty()).is_ok())
    }

    /// Removes what stands in, when nobody else needs it, and sets aside what came to be. Returns where to.
    pub(super) fn remove(&mut self) -> Vec<PathBuf> {
        // Who needs what is there says so at its own root: one of ours, one around it, or one in it. Who comes to one of
        // ours now waits until we are done.
        let (mut needed, mut held, mut roots) = (HashMap::new(), Vec::new(), Vec::new());
        for (root, lock) in self.locks.drain(..) {
            needed.insert(root.clone(), flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err());
            held.push(lock);
            roots.push(root);
        }
        for path in std::mem::take(&mut self.made) {
            let is_ours = lstat(&path).is_ok_and(|stat| is_stand_in(&stat));
            let mut is_needed = |above: &Path| match needed.get(above) {
                Some(known) => *known,
                None => *needed.entry(above.to_path_buf()).or_insert_with(|| keep_runs_out(above).is_err()),
            };
            // A root around ours needs what is in its repositories, and of the rest only what is at its own top.
            let in_git = path.iter().any(|part| part == ".git");
            let concerns = |above: &&Path| in_git || roots.iter().any(|root| above.starts_with(root));
            if is_ours && !path.ancestors().skip(1).filter(concerns).any(&mut is_needed) {
                discard(&path);
            }
        }
        let came = std::mem::take(&mut self.watched).into_iter().filter(|path| lstat(path).is_ok());
        came.filter_map(|path| set_aside(&path)).collect()
    }
}

/// A lock on a directory, while which no run begins that needs what stands in below it; an error where one lives that does.
fn keep_runs_out(dir: &Path) -> Result<Option<OwnedFd>, Errno> {
    let Ok(handle) = open(dir, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else {
        return Ok(None);
    };
    for _ in 0..TRIES {
        match flock(&handle, FlockOperation::NonBlockingLockExclusive) {
            // Who only looks, as this does, has it for a moment.
            Err(Errno::WOULDBLOCK) => std::thread::sleep(A_MOMENT),
            _ => return Ok(Some(handle)),
        }
    }
    Err(Errno::WOULDBLOCK)
}

/// A whiteout that stands in, or a socket.
fn node(path: &Path) -> Result<(), Errno> {
    match mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0) {
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::INVAL) => {
            mknodat(CWD, path, FileType::Socket, Mode::from_raw_mode(FILE), 0)?;
            set_mode(path, FILE)
        }
        made => made,
    }
}

/// Gives back what the umask took away, to what was made and not to what a link leads to by now.
fn set_mode(path: &Path, mode: RawMode) -> Result<(), Errno> {
    let handle = open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    match fstat(&handle)?.st_mode {
        now if now & 0o7777 == mode || FileType::from_raw_mode(now) == FileType::Symlink => Ok(()),
        _ => rustix::fs::chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::from_raw_mode(mode)),
    }
}

/// A file that stands in.
fn file(path: &Path, content: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = open(path, flags, Mode::from_raw_mode(FILE))?;
    rustix::io::write(&file, content)?;
    rustix::fs::fchmod(&file, Mode::from_raw_mode(FILE))
}

/// The file that stands in for `commondir`, whole from its first moment: git outside fails on an empty one.
fn here(path: &Path) -> Result<(), Errno> {
    let apart = path.with_file_name(temp_name());
    file(&apart, HERE)?;
    let named = renameat_with(CWD, &apart, CWD, path, RenameFlags::NOREPLACE);
    if named.is_err() {
        unlink(&apart)?;
    }
    match named {
        // A file system that cannot say so.
        Err(Errno::INVAL) => file(path, HERE),
        named => named,
    }
}

/// Renames what is at `path` so that nothing takes it for what it is called.
fn set_aside(path: &Path) -> Option<PathBuf> {
    for n in 0..100 {
        let mut name = path.file_name()?.to_owned();
        name.push(ASIDE);
        if n > 0 {
            name.push(format!(".{n}"));
        }
        let to = path.with_file_name(name);
        match renameat_with(CWD, path, CWD, &to, RenameFlags::NOREPLACE) {
            Ok(()) => return Some(to),
            Err(Errno::EXIST) => {}
            Err(_) => return None,
        }
    }
    None
}

/// Whether something stands in above `path`.
pub(crate) fn is_below_stand_in(path: &Path) -> bool {
    path.ancestors().skip(1).any(|above| lstat(above).is_ok_and(|stat| is_stand_in(&stat)))
}

/// Clears `path` below `root`, and its way there, of what stands in for a run that was killed. False where a living run
/// needs it: one of this root, or of one around or in it.
pub fn clear_stand_ins(root: &Path, path: &Path) -> bool {
    let below = path.ancestors().take_while(|above| *above != root);
    let ours: Vec<&Path> = below.filter(|above| lstat(*above).is_ok_and(|stat| is_stand_in(&stat))).collect();
    if ours.is_empty() {
        return true;
    }
    let held: Result<Vec<_>, Errno> = path.ancestors().skip(1).map(keep_runs_out).collect();
    if held.is_ok() {
        ours.into_iter().for_each(discard);
    }
    held.is_ok()
}

/// Clears `root` of what runs left that were killed; nothing where one lives.
pub(crate) fn clear_left(root: &Path) {
    let stands_in = |path: &Path| lstat(path).is_ok_and(|stat| is_stand_in(&stat));
    let names = guarded_below(root, root.join(".git").is_dir());
    let all = names.iter().flat_map(|path| path.ancestors().take_while(|above| *above != root));
    let mut left: Vec<&Path> = all.filter(|path| stands_in(path)).collect();
    // Children before parents.
    left.sort_by(|one, other| other.cmp(one));
    left.dedup();
    if !left.is_empty() && root.ancestors().map(keep_runs_out).collect::<Result<Vec<_>, Errno>>().is_ok() {
        left.into_iter().for_each(discard);
    }
}

/// Removes a stand-in. Fails, as it should, for a directory with something in it by now, which is somebody's.
fn discard(path: &Path) {
    let is_directory = lstat(path).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
    let _ = if is_directory { rmdir(path) } else { unlink(path) };
}

/// Whether this is something of ours.
pub(crate) fn is_stand_in(stat: &Stat) -> bool {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::CharacterDevice => stat.st_rdev == 0,
        FileType::Directory => stat.st_mode & 0o7777 == DIRECTORY,
        FileType::Socket => stat.st_mode & 0o7777 == FILE,
        FileType::RegularFile => {
            stat.st_mode & 0o7777 == FILE && (stat.st_size == 0 || stat.st_size == HERE.len() as i64)
        }
        _ => false,
    }
}
