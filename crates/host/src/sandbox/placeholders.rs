//! What stands in, on the real disk, for guarded names that do not exist.
//!
//! A mount needs something to be mounted on. For a file that is a whiteout, a device that is none: everybody may make
//! one, git does not see it, and nobody mistakes it for a file. Where a file system makes none, as an overlay, it is a
//! socket that nobody listens at, for the same reasons. For what git itself opens it is a file that says nothing
//! new, as git outside the sandbox fails on a device; for a directory an empty one. All but a whiteout have a mode that
//! nobody else uses, by which they are known again, so whoever comes last removes them, also those of a process that was killed; a
//! shared lock on the root says whether somebody still needs them.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nika_guard::profile::{Access, Placeholder, Profile, Step, guarded_below};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, RawMode, Stat, flock, lstat, open};
use rustix::io::Errno;

use super::Refusal;
use super::entry::Entry;

/// Mode of a directory that stands in.
const DIRECTORY: RawMode = 0o1555;
/// Mode of a socket that stands in; and of a file, where git would open it or the file system makes neither.
const FILE: RawMode = 0o1444;
/// What stands in for `commondir`: the directory itself.
const HERE: &[u8] = b".\n";
/// How often a lock is tried that another may have for a moment only, and how long that is.
const TRIES: usize = 5;
const A_MOMENT: Duration = Duration::from_millis(1);
/// How long a root may be locked by another.
const LOCKED: Duration = Duration::from_secs(5);
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
            all.lock(root)?;
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

    /// Says that somebody needs what stands in below `root`. A root that cannot be locked is only cleaned less well; but
    /// while another holds it alone, what stands in may be removed.
    fn lock(&mut self, root: &Path) -> Result<(), Refusal> {
        let Ok(handle) = open(root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else {
            return Ok(());
        };
        let since = Instant::now();
        loop {
            match flock(&handle, FlockOperation::NonBlockingLockShared) {
                Err(Errno::WOULDBLOCK) if since.elapsed() < LOCKED => std::thread::sleep(A_MOMENT),
                Err(Errno::WOULDBLOCK) => {
                    let what = format!("{}, which another program keeps locked (`flock`)", root.display());
                    return Err(Refusal::of("absent guarded names", &what, Errno::WOULDBLOCK));
                }
                Err(_) => return Ok(()),
                Ok(()) => break,
            }
        }
        self.locks.push((root.to_path_buf(), File::from(handle)));
        Ok(())
    }

    /// Makes a stand-in, or takes the one that is there. False when something real is there.
    fn stand_in(&mut self, path: &Path, what: Placeholder) -> Result<bool, Errno> {
        let entry = Entry::at(path)?;
        let made = match what {
            Placeholder::Directory => entry.make_directory(DIRECTORY),
            Placeholder::Here => here(&entry),
            Placeholder::Empty => entry.make_file(FILE, b""),
            Placeholder::File if self.link(&entry) => Ok(()),
            Placeholder::File => match node(&entry) {
                Err(Errno::PERM | Errno::OPNOTSUPP | Errno::INVAL) => entry.make_file(FILE, b""),
                // Not so a file: what somebody writes to one name of it would stand at all of them.
                Ok(()) => {
                    self.first = Some(path.to_path_buf());
                    Ok(())
                }
                Err(error) => Err(error),
            },
        };
        match made {
            Ok(()) => {}
            Err(Errno::EXIST) => {
                let stat = entry.stat()?;
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
    fn link(&self, entry: &Entry) -> bool {
        let first = self.first.as_ref().and_then(|first| Entry::at(first).ok());
        first.is_some_and(|first| entry.link_to(&first).is_ok())
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
            let is_ours = stands_in(&path);
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
        std::mem::take(&mut self.watched).iter().filter_map(|path| set_aside(came(path)?)).collect()
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
fn node(entry: &Entry) -> Result<(), Errno> {
    match entry.make_node(FileType::CharacterDevice, 0) {
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::INVAL) => entry.make_node(FileType::Socket, FILE),
        made => made,
    }
}

/// The file that stands in for `commondir`, whole from its first moment: git outside fails on an empty one.
fn here(entry: &Entry) -> Result<(), Errno> {
    let apart = entry.beside(crate::fs::temp_name());
    apart.make_file(FILE, HERE)?;
    match apart.rename_to(entry) {
        // A file system that cannot rename so.
        Err(Errno::INVAL) => {
            apart.remove()?;
            entry.make_file(FILE, HERE)
        }
        Err(error) => apart.remove().and(Err(error)),
        Ok(()) => Ok(()),
    }
}

/// What is to be renamed where something came to be at `path`: itself, or the link on the way to it. What a link leads to
/// is others'.
fn came(path: &Path) -> Option<&Path> {
    let way: Vec<&Path> = path.ancestors().skip(1).collect();
    let is_link =
        |above: &&&Path| lstat(**above).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
    match way.iter().rev().find(is_link) {
        Some(link) => std::fs::symlink_metadata(path).is_ok().then_some(*link),
        None => lstat(path).is_ok().then_some(path),
    }
}

/// Renames what is at `path` so that nothing takes it for what it is called.
fn set_aside(path: &Path) -> Option<PathBuf> {
    let entry = Entry::at(path).ok()?;
    for n in 0..100 {
        let mut name = path.file_name()?.to_owned();
        name.push(ASIDE);
        if n > 0 {
            name.push(format!(".{n}"));
        }
        match entry.rename_to(&entry.beside(&name)) {
            Ok(()) => return Some(path.with_file_name(name)),
            Err(Errno::EXIST) => {}
            Err(_) => return None,
        }
    }
    None
}

/// Whether something of ours stands at `path`, which no link leads to.
fn stands_in(path: &Path) -> bool {
    Entry::at(path).and_then(|entry| entry.stat()).is_ok_and(|stat| is_stand_in(&stat))
}

/// Whether something stands in above `path`.
pub(crate) fn is_below_stand_in(path: &Path) -> bool {
    path.ancestors().skip(1).any(|above| lstat(above).is_ok_and(|stat| is_stand_in(&stat)))
}

/// Clears `path` below `root`, and its way there, of what stands in for a run that was killed. False where a living run
/// needs it: one of this root, or of one around or in it.
pub fn clear_stand_ins(root: &Path, path: &Path) -> bool {
    let below = path.ancestors().take_while(|above| *above != root);
    let ours: Vec<&Path> = below.filter(|above| stands_in(above)).collect();
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
    let _ = Entry::at(path).and_then(|entry| entry.remove());
}

/// Whether this stands in for a file that does not exist, and nobody could take it for one.
pub fn is_no_file(meta: &Metadata) -> bool {
    let of = meta.file_type();
    of.is_char_device() && meta.rdev() == 0 || of.is_socket() && meta.mode() & 0o7777 == FILE
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
