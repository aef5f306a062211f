//! Caches of tools in the home, as a command may write them: what it changes lies over them in Nika's state, and the home
//! stays as it is.
//!
//! Two commands at once must not write one such place, as locks do not reach from one overlay into the other. So there are
//! some, and a command takes one that is free, or one that goes with it. They are the workspace's: a build of the next
//! session is as quick. They go when nobody has used them for a day, as scratch directories do, and when the machine has
//! started anew: what is written there is not synced.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use nika_guard::Permit;
use nika_guard::profile::{CACHES, Layered, Profile};
use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, chmodat, flock, futimens, open,
};
use rustix::io::Errno;

use super::{OWNER, SCRATCH, made};
use crate::fs::led;
use crate::overlay::{holds_layers, mounts_below, remove_tree};

/// Places that are kept. What is more at once is cold.
const KEPT: u32 = 4;
/// Where what has no place in the home goes: the session's own.
const INSTEAD: &str = "/var/tmp";
/// Directories whose programs the system's packages put there: none leads into a home.
const OF_SYSTEM: &[&str] = &["/bin", "/sbin", "/usr/bin", "/usr/sbin"];

/// Who takes a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taker {
    /// A command that somebody waits for: the first place, which is the warmest.
    Command,
    /// A job, which may keep it for long: the last.
    Job,
    /// What nobody keeps: none but its own.
    Trial,
}

/// A place that one command writes to. Nobody else takes it while this, or a copy of [`Caches::held`], is open.
#[derive(Debug)]
pub struct Caches {
    dir: PathBuf,
    owner: File,
    kept: bool,
    ending: AtomicBool,
}

/// Where programs that commands look for lie, or would lie: the directories of `path`, what the links in them lead to, and
/// each link on the way.
pub fn program_places(path: &str) -> HashSet<PathBuf> {
    let mut places = HashSet::new();
    for dir in path.split(':').filter(|dir| dir.starts_with('/')).map(Path::new) {
        let real = walked(dir, &mut places);
        if !OF_SYSTEM.iter().any(|system| real == Path::new(system)) {
            let links = std::fs::read_dir(&real).into_iter().flatten().flatten().map(|entry| entry.path());
            for link in links.filter(|path| path.is_symlink()) {
                walked(&link, &mut places);
            }
        }
    }
    places
}

/// Where a path leads, also as far as it does not exist. Its directory and that of each link on the way are noted.
fn walked(path: &Path, places: &mut HashSet<PathBuf>) -> PathBuf {
    let at = led(path, |link| places.extend(link.parent().map(Path::to_path_buf)));
    places.extend([at.clone()].into_iter().chain(at.parent().filter(|_| !at.is_dir()).map(Path::to_path_buf)));
    at
}

impl Caches {
    /// A place in `state` for a command that may change files. `None` where there is none to be had.
    pub(crate) fn take(permit: &Permit, state: &Path, taker: Taker) -> Option<Caches> {
        let scratch = state.join(SCRATCH);
        if !permit.covers_changes_of_a_command() || made(&scratch).is_err() {
            return None;
        }
        let place = |number: u32| Caches::lock(&scratch.join(format!("caches-{number}")), true).ok();
        let kept = match taker {
            Taker::Command => (0..KEPT).find_map(place),
            Taker::Job => (0..KEPT).rev().find_map(place),
            Taker::Trial => None,
        };
        let name = crate::fs::temp_name();
        kept.or_else(|| Caches::lock(&scratch.join(format!("caches-{}", name.trim_matches('.'))), false).ok())
    }

    /// The first place, if it is free.
    pub(crate) fn take_first(permit: &Permit, state: &Path) -> Option<Caches> {
        let dir = state.join(SCRATCH).join("caches-0");
        permit.covers_changes_of_a_command().then(|| Caches::lock(&dir, true).ok())?
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
        let mut caches = Caches { dir: dir.to_path_buf(), owner: owner.into(), kept, ending: AtomicBool::new(false) };
        caches.renew();
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        futimens(&caches.owner, &Timestamps { last_access: now, last_modification: now })?;
        Ok(caches)
    }

    /// Throws away what was written before the machine started: it may not all be there.
    fn renew(&mut self) {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let mut noted = String::new();
        if self.owner.read_to_string(&mut noted).is_ok() && noted == boot {
            return;
        }
        for entry in std::fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            if entry.file_name() != OWNER {
                remove_tree(&entry.path());
            }
        }
        let noted = self.owner.set_len(0).and_then(|()| self.owner.rewind());
        // Where that fails it is thrown away once more.
        let _ = noted.and_then(|()| self.owner.write_all(boot.as_bytes()));
    }

    /// Keeps the place as long as a copy is open: for whoever watches over the command.
    pub(crate) fn held(&self) -> BorrowedFd<'_> {
        self.owner.as_fd()
    }

    /// The command has ended, and in a moment nobody uses the place.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::Release);
    }

    /// Whether it is about to be free.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Has `profile` write them here. A cache that does not exist, or cannot be covered, gets another place by its variable.
    /// One that holds programs that are looked for, that are in `programs`, stays as it is, and so does one that meets a
    /// root, leads out of the home, or is somebody else's.
    pub fn put_into(&self, _permit: &Permit, profile: &mut Profile, programs: &HashSet<PathBuf>) {
        let Ok(home) = std::fs::canonicalize(&profile.home) else { return };
        let own = rustix::process::geteuid().as_raw();
        let meets_root = |dir: &Path| profile.roots.iter().any(|root| dir.starts_with(root) || root.starts_with(dir));
        let stays = |dir: &Path| {
            let is_own = std::fs::metadata(dir).is_ok_and(|meta| meta.is_dir() && meta.uid() == own);
            !is_own || !dir.starts_with(&home) || meets_root(dir) || programs.iter().any(|place| place.starts_with(dir))
        };
        let can_hold = holds_layers(&self.dir);
        let mut more = Vec::new();
        for (below, variable) in CACHES {
            let set = variable.and_then(|variable| profile.env.iter().find(|(name, _)| name == variable));
            let dir = set.map_or_else(|| home.join(below), |(_, value)| PathBuf::from(value));
            let covered = match std::fs::canonicalize(&dir) {
                Ok(dir) if stays(&dir) => continue,
                Ok(dir) if can_hold && mounts_below(&dir).is_ok_and(|mounts| mounts.is_empty()) => {
                    self.over(dir, below)
                }
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => continue,
                _ => None,
            };
            match (covered, variable) {
                (Some(layered), _) => profile.caches.push(layered),
                (None, Some(variable)) if set.is_none() => {
                    more.push(((*variable).to_owned(), format!("{INSTEAD}/{}", below.replace('/', "-"))));
                }
                _ => {}
            }
        }
        profile.env.extend(more);
    }

    fn over(&self, root: PathBuf, below: &str) -> Option<Layered> {
        let at = self.dir.join(below.replace('/', "-"));
        let [upper, work] = ["upper", "work"].map(|name| at.join(name));
        // It says that it was not synced, and nobody would mount it again.
        remove_tree(&work);
        [&at, &upper, &work].into_iter().try_for_each(|dir| made(dir).map(drop)).ok()?;
        // A command may have taken it away from itself, and from every other.
        let mode = std::fs::metadata(&root).ok()?.mode() & 0o7777;
        chmodat(CWD, &upper, Mode::from_raw_mode(mode), AtFlags::empty()).ok()?;
        Some(Layered { root, upper, work, stand_ins: Vec::new() })
    }
}

impl Drop for Caches {
    fn drop(&mut self) {
        if !self.kept {
            remove_tree(&self.dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn programs_are_found_where_links_lead() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        for name in ["home/.dotnet/tools", "home/bin", "opt"] {
            std::fs::create_dir_all(at(name)).expect("made");
        }
        std::fs::write(at("home/.dotnet/dotnet"), "").expect("written");
        symlink(at("home/.dotnet/tools"), at("link")).expect("a link");
        symlink("../home/.dotnet/dotnet", at("opt/dotnet")).expect("a link");
        symlink(at("mid/prog"), at("home/bin/prog")).expect("a link");
        std::fs::create_dir(at("mid")).expect("made");
        symlink("/usr/bin/env", at("mid/prog")).expect("a link");
        let real = |name: &str| std::fs::canonicalize(at(name)).expect("there");
        for (path, found) in [
            (at("link"), real("home/.dotnet/tools")),
            (at("home/bin/../.dotnet/tools"), real("home/.dotnet/tools")),
            (at("opt"), real("home/.dotnet/dotnet")),
            (at("home/.dotnet/later/bin"), real("home/.dotnet").join("later/bin")),
            (at("home/bin"), real("mid")),
            (at("link"), real("home").parent().expect("above").to_path_buf()),
        ] {
            let places = program_places(&format!("relative::{}", path.display()));
            assert!(places.contains(&found), "{} {places:?}", path.display());
        }
        // The way to `/bin` may be a link in the top directory.
        let system = program_places("/usr/bin:/bin");
        assert!(
            system
                .iter()
                .all(|place| place == Path::new("/") || ["/usr", "/bin"].iter().any(|at| place.starts_with(at)))
        );
    }
}
