//! The temporary directories of one session's commands: what is `/tmp` and `/var/tmp` to them, from one command to the next.
//!
//! They lie in Nika's own state, which no command sees; the sandbox mounts them where they are looked for. They go when no
//! process has used the session for a day: a name on the command line may come back, and then finds what it left.

mod caches;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nika_contract::{ToolError, code};
use nika_guard::Permit;
use rustix::fs::{
    FlockOperation, Mode, OFlags, ResolveFlags, Timespec, Timestamps, UTIME_NOW, chmod, flock, fstat, futimens, mkdir,
    open, openat2, stat,
};
use rustix::io::Errno;

use crate::fs::{errno, sha256};
use crate::overlay::{by_handle, remove_tree};

pub use caches::{Caches, Taker, program_places};

/// Where they lie in the state.
const SCRATCH: &str = "scratch";
/// The lock that says that somebody uses them, and by its time, when somebody last did.
const OWNER: &str = "owner";
/// Where each stands for a command, and its name.
pub(crate) const KEPT: [(&str, &str); 2] = [("/tmp", "tmp"), ("/var/tmp", "vartmp")];
/// How long they are kept when nobody uses them.
const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// Somebody may throw them away while they are taken: so often it is tried again.
const TRIES: u32 = 3;

/// Those of one session, which nobody throws away while this lives.
#[derive(Debug)]
pub struct Scratch {
    dir: PathBuf,
    owner: File,
}

/// Where a session's lie, whether they exist or not.
pub fn dir_of(state: &Path, session: &str) -> PathBuf {
    let name: String = sha256(session.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    state.join(SCRATCH).join(name)
}

/// Whether something lies at `path`, as a command of the session names it, with no link on the way.
pub fn keeps(dir: &Path, path: &Path) -> bool {
    let found = KEPT.iter().find_map(|(at, name)| Some((name, path.strip_prefix(at).ok()?)));
    found.is_some_and(|(name, below)| {
        let Ok(kept) = open(dir.join(name), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) else {
            return false;
        };
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let entry = openat2(&kept, below, flags, Mode::empty(), resolve);
        entry.and_then(fstat).is_ok_and(|stat| stat.st_mode & libc::S_IFMT != libc::S_IFLNK)
    })
}

/// Whether a link of the session's lies at `path`, or on the way to it.
pub fn leads_away(dir: &Path, path: &Path) -> bool {
    let found = KEPT.iter().find_map(|(at, name)| Some((dir.join(name), path.strip_prefix(at).ok()?)));
    found.is_some_and(|(top, below)| {
        let mut way = top;
        below.iter().any(|part| {
            way.push(part);
            fs::symlink_metadata(&way).is_ok_and(|meta| meta.is_symlink())
        })
    })
}

/// Whether something stands at `path` on the machine.
pub fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

impl Scratch {
    /// Those of `session`, made where there are none.
    pub fn of(_permit: &Permit, state: &Path, session: &str) -> Result<Scratch, ToolError> {
        let dir = dir_of(state, session);
        let mut failed = Errno::AGAIN;
        for _ in 0..TRIES {
            match Scratch::take(&dir) {
                Ok(scratch) => return Ok(scratch),
                Err(error) => failed = error,
            }
        }
        Err(errno("make a temporary directory for the session's commands", failed, code::STATE_UNUSABLE))
    }

    fn take(dir: &Path) -> Result<Scratch, Errno> {
        for dir in dir.parent().into_iter().chain([dir]) {
            made(dir)?;
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = dir.join(OWNER);
        let owner = open(&path, flags, Mode::RUSR | Mode::WUSR)?;
        flock(&owner, FlockOperation::NonBlockingLockShared)?;
        // It may have been thrown away before it was locked.
        let (own, there) = (fstat(&owner)?, stat(&path)?);
        if (own.st_dev, own.st_ino) != (there.st_dev, there.st_ino) {
            return Err(Errno::AGAIN);
        }
        for (_, name) in KEPT {
            let dir = dir.join(name);
            made(&dir)?;
            // A command may have taken them away from itself, and from every other.
            let handle =
                open(&dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
            chmod(by_handle(&handle), Mode::from_raw_mode(0o1777))?;
        }
        Ok(Scratch { dir: dir.to_path_buf(), owner: owner.into() })
    }

    /// Where they lie. They count as used now.
    pub fn dir(&self, _permit: &Permit) -> &Path {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let _ = futimens(&self.owner, &Timestamps { last_access: now, last_modification: now });
        &self.dir
    }
}

/// Makes a directory that only its owner may enter; whether it was not there.
fn made(dir: &Path) -> Result<bool, Errno> {
    match mkdir(dir, Mode::RWXU) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Throws away those that nobody has used for long.
pub(crate) fn orphans(state: &Path) {
    for entry in fs::read_dir(state.join(SCRATCH)).into_iter().flatten().flatten() {
        let dir = entry.path();
        let owner = dir.join(OWNER);
        // One without a lock is being made, or was being removed: its own time counts.
        let used =
            fs::symlink_metadata(&owner).or_else(|_| fs::symlink_metadata(&dir)).and_then(|meta| meta.modified());
        if !used.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > KEPT_FOR)) {
            continue;
        }
        let lock = File::open(&owner);
        if lock.as_ref().is_ok_and(|lock| flock(lock, FlockOperation::NonBlockingLockExclusive).is_err()) {
            continue;
        }
        // Under another name, so that who takes it meanwhile makes a new one.
        let dying = state.join(SCRATCH).join(crate::fs::temp_name());
        remove_tree(if fs::rename(&dir, &dying).is_ok() { &dying } else { &dir });
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::time::{Instant, SystemTime};

    use nika_guard::{Effect, Effects, Mode, Place, Policy, Stance};

    use super::*;

    fn permit() -> Permit {
        let effects = Effects::one(Effect::Read(Place::inside("/r", "")));
        let verdict = Policy::default().judge(&Stance::from(Mode::AcceptAll), &effects);
        verdict.permit(None).expect("reading inside is allowed")
    }

    fn age(dir: &Path, by: Duration) {
        let owner = File::options().write(true).open(dir.join(OWNER)).expect("the lock");
        owner.set_modified(SystemTime::now() - by).expect("its time");
    }

    #[test]
    fn a_session_finds_what_it_left_and_no_other_does() {
        let state = tempfile::tempdir().expect("a directory");
        let permit = permit();
        let one = Scratch::of(&permit, state.path(), "one").expect("its own");
        fs::write(one.dir(&permit).join("tmp/log"), "x").expect("written");
        symlink("/etc", one.dir(&permit).join("tmp/link")).expect("a link");
        let dir = dir_of(state.path(), "one");
        assert!(keeps(&dir, Path::new("/tmp/log")) && !keeps(&dir, Path::new("/var/tmp/log")));
        for other in ["/tmp/link", "/tmp/link/passwd", "/tmp/../owner", "/tmp/nothing", "/etc/passwd", "/tmpx"] {
            assert!(!keeps(&dir, Path::new(other)), "{other}");
        }
        for (path, leads) in [("/tmp/link", true), ("/tmp/link/x", true), ("/tmp/log", false), ("/tmp/none/x", false)] {
            assert_eq!(leads_away(&dir, Path::new(path)), leads, "{path}");
        }
        assert!(!keeps(&dir_of(state.path(), "two"), Path::new("/tmp/log")));
        drop(one);
        let again = Scratch::of(&permit, state.path(), "one").expect("its own");
        assert_eq!(fs::read(again.dir(&permit).join("tmp/log")).expect("kept"), b"x");
    }

    #[test]
    fn what_nobody_uses_for_a_day_goes_and_what_somebody_holds_stays() {
        let state = tempfile::tempdir().expect("a directory");
        let permit = permit();
        let held = Scratch::of(&permit, state.path(), "held").expect("its own");
        for name in ["new", "old"] {
            Scratch::of(&permit, state.path(), name).expect("its own");
        }
        for name in ["held", "old"] {
            age(&dir_of(state.path(), name), KEPT_FOR + Duration::from_secs(60));
        }
        // A process that another test has just forked holds what was open then until it becomes its program.
        let goes = |name: &str| {
            let within = Instant::now() + Duration::from_secs(10);
            while dir_of(state.path(), name).exists() && Instant::now() < within {
                orphans(state.path());
            }
            !dir_of(state.path(), name).exists()
        };
        assert!(goes("old"));
        assert!(["held", "new"].iter().all(|name| dir_of(state.path(), name).exists()));
        drop(held);
        assert!(goes("held"));
    }
}
