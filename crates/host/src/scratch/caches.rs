//! Caches of tools in the home, as a command may write them: what it changes lies over them in Nika's state, and the home
//! stays as it is.
//!
//! Two commands at once must not write one such place, as locks do not reach from one overlay into the other. So there are
//! some, and a command takes the first that is free. They are the workspace's: a build of the next session is as quick. They
//! go when nobody has used them for a day, as scratch directories do.

use std::fs::File;
use std::path::{Path, PathBuf};

use nika_guard::Permit;
use nika_guard::profile::{CACHES, Layered, Profile};
use rustix::fs::{FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, flock, futimens, open};
use rustix::io::Errno;

use super::{OWNER, SCRATCH, made};
use crate::overlay::remove_tree;

/// Commands that can have caches to write at the same time; the others only read them.
const MOST: u32 = 4;
/// Where what has no place in the home goes: the session's own.
const INSTEAD: &str = "/var/tmp";

/// A place that one command writes to. Nobody else takes it while this lives.
#[derive(Debug)]
pub struct Caches {
    dir: PathBuf,
    owner: File,
    kept: bool,
}

impl Caches {
    /// The first free place in `state`, for a command that may change files. Without `kept` a new one that goes with the
    /// command. `None` where there is none, which leaves a command to read the caches.
    pub fn take(permit: &Permit, state: &Path, kept: bool) -> Option<Caches> {
        let writes = permit.covers_changes_of_a_command();
        let scratch = state.join(SCRATCH);
        if !writes || made(&scratch).is_err() {
            return None;
        }
        if !kept {
            let name = crate::fs::temp_name();
            return Caches::lock(&scratch.join(format!("caches-{}", name.trim_matches('.'))), kept).ok();
        }
        (0..MOST).find_map(|number| Caches::lock(&scratch.join(format!("caches-{number}")), kept).ok())
    }

    fn lock(dir: &Path, kept: bool) -> Result<Caches, Errno> {
        made(dir)?;
        let path = dir.join(OWNER);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let owner = open(&path, flags, Mode::RUSR | Mode::WUSR)?;
        flock(&owner, FlockOperation::NonBlockingLockExclusive)?;
        // It may have been thrown away before it was locked.
        let (own, there) = (rustix::fs::fstat(&owner)?, rustix::fs::stat(&path)?);
        if (own.st_dev, own.st_ino) != (there.st_dev, there.st_ino) {
            return Err(Errno::AGAIN);
        }
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        futimens(&owner, &Timestamps { last_access: now, last_modification: now })?;
        Ok(Caches { dir: dir.to_path_buf(), owner: owner.into(), kept })
    }

    /// Has `profile` write them here. A cache that does not exist gets another place by its variable. One that holds
    /// programs that are looked for stays as it is, and so does one that meets a root.
    pub fn put_into(&self, _permit: &Permit, profile: &mut Profile) {
        let path =
            profile.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone()).unwrap_or_default();
        let holds_programs = |dir: &Path| path.split(':').any(|searched| Path::new(searched).starts_with(dir));
        let meets_root = |dir: &Path| profile.roots.iter().any(|root| dir.starts_with(root) || root.starts_with(dir));
        let mut more = Vec::new();
        for (below, variable) in CACHES {
            let dir = profile.home.join(below);
            match std::fs::canonicalize(&dir) {
                Ok(dir) if dir.is_dir() && !holds_programs(&dir) && !meets_root(&dir) => {
                    if let Some(layered) = self.over(dir, below) {
                        profile.caches.push(layered);
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => more.extend(
                    variable.map(|variable| (variable.to_owned(), format!("{INSTEAD}/{}", below.replace('/', "-")))),
                ),
                _ => {}
            }
        }
        more.retain(|(name, _)| !profile.env.iter().any(|(set, _)| set == name));
        profile.env.extend(more);
    }

    fn over(&self, root: PathBuf, below: &str) -> Option<Layered> {
        let at = self.dir.join(below.replace('/', "-"));
        let [upper, work] = ["upper", "work"].map(|name| at.join(name));
        [&at, &upper, &work].into_iter().try_for_each(|dir| made(dir).map(drop)).ok()?;
        Some(Layered { root, upper, work, stand_ins: Vec::new() })
    }
}

impl Drop for Caches {
    fn drop(&mut self) {
        if !self.kept {
            remove_tree(&self.dir);
        }
        // With the descriptor goes the lock.
        let _ = &self.owner;
    }
}
