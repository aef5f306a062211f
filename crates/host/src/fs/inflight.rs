//! The one temporary name that a single change has for a moment. A note in the state directory says what stands under it,
//! so that whoever finds the note of a dead process knows whether that is ours to remove.
//!
//! The process keeps its note locked: that says whether it lives. A process id does not, as in containers over one state
//! several processes have the same, and after a restart another one has it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, RenameFlags, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::{Expect, Locked, Stamp, Workspace, is_absence, land, temp_name};
use crate::moves::{Ground, discard};
use crate::overlay::grounds;

/// The note of this process.
#[derive(Debug)]
pub(super) struct OwnNote {
    path: PathBuf,
    /// Locked as long as it is open.
    file: File,
}

/// What a process notes of itself.
#[derive(Debug, Serialize, Deserialize)]
struct Inflight {
    /// The root that holds them, or what is mounted in it on the way to them; where that is not there, nothing is settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ground: Option<Ground>,
    /// The directory of both names.
    dir: Vec<u8>,
    temp: String,
    /// Before the new file has a name: whatever is found under it is ours.
    exchange: Option<Exchange>,
}

/// Both names are about to be exchanged, or the file is about to get the temporary one.
#[derive(Debug, Serialize, Deserialize)]
struct Exchange {
    name: Vec<u8>,
    /// The new file; `None` where the name goes.
    new: Option<Stamp>,
    /// The file that it takes the place of, or that goes.
    former: Stamp,
}

impl Locked<'_> {
    /// Notes the temporary name of a new file in `dir`.
    pub(super) fn note_inflight(&mut self, dir: Option<&Path>, temp: &str) {
        let Some(dir) = dir else { return };
        self.write_inflight(dir, temp, None);
    }

    /// Notes that it is about to change names with the file at `path`, or that this is about to get the temporary one.
    pub(super) fn note_exchange(&mut self, path: &Path, temp: &str, new: Option<&File>, expect: &Expect) {
        let (Some(dir), Some(name), Expect::Is { stamp, .. }) = (path.parent(), path.file_name(), expect) else {
            return;
        };
        // Without a note that is true, what is found is nobody's to remove.
        let Ok(new) = new.map(rustix::fs::fstat).transpose() else { return self.note_landed() };
        let (new, former) = (new.as_ref().map(Stamp::from), *stamp);
        self.write_inflight(dir, temp, Some(Exchange { name: name.as_bytes().to_vec(), new, former }));
    }

    /// Notes that there is none any more.
    pub(super) fn note_landed(&mut self) {
        if let Some(own) = &self.state.inflight {
            let _ = own.file.set_len(0);
        }
    }

    /// Ends a change with the temporary name `temp`. Where something still stands under that, the note is left to the next
    /// start, which tries again to remove it.
    pub(super) fn note_over(&mut self, dir: &OwnedFd, temp: &str) {
        match rustix::fs::statat(dir, temp, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => self.note_landed(),
            _ => self.state.inflight = None,
        }
    }

    fn write_inflight(&mut self, dir: &Path, temp: &str, exchange: Option<Exchange>) {
        if self.state.inflight.is_none() {
            self.state.inflight = OwnNote::within(&self.files.sets_dir());
            self.state.sets_mtime = self.files.sets_mtime();
        }
        let roots: Vec<PathBuf> = self.files.roots().map(Path::to_path_buf).collect();
        let grounds = grounds(&roots, std::iter::once(dir.join(temp)));
        let note = Inflight {
            ground: grounds.first().and_then(|dir| Ground::of(self.files, dir)),
            dir: dir.as_os_str().as_bytes().to_vec(),
            temp: temp.to_owned(),
            exchange,
        };
        // Without a note a kill in the next microseconds leaves one stray file; no reason to refuse.
        let (Some(own), Ok(note)) = (&self.state.inflight, serde_json::to_vec(&note)) else { return };
        let _ = own.file.write_all_at(&note, 0);
    }

    /// Settles what a note says of a process that is between two changes, as we hold the lock, or dead. That of a dead one
    /// goes, unless something is left to be removed.
    pub(super) fn settle_inflight(&self, path: &Path) {
        if self.state.inflight.as_ref().is_some_and(|own| own.path == path) {
            return;
        }
        // For writing: NFS has such locks only of files that are open so.
        let Ok(file) = File::options().read(true).write(true).open(path) else { return };
        let settled = std::fs::read(path).is_ok_and(|note| self.files.settles(&note));
        if settled && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl OwnNote {
    fn within(sets: &Path) -> Option<OwnNote> {
        let path = sets.join(temp_name().trim_start_matches('.')).with_extension("inflight");
        let file = File::options().create_new(true).write(true).open(&path).ok()?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(OwnNote { path, file })
    }
}

impl Workspace {
    /// Removes what a note says, where that is ours; whether nothing of ours is left.
    fn settles(&self, note: &[u8]) -> bool {
        let Ok(Inflight { ground, dir, temp, exchange }) = serde_json::from_slice(note) else { return true };
        if ground.is_some_and(|ground| !ground.is_there(self)) {
            return false;
        }
        let beside = PathBuf::from(OsString::from_vec(dir)).join(&temp);
        if !exchange.is_none_or(|exchange| self.is_ours(&beside, &exchange)) {
            return true;
        }
        match self.opened_parent(&beside) {
            Ok(at) => discard(&(&at.0, at.1)).is_ok(),
            Err(error) => is_absence(error),
        }
    }

    /// Whether the file under the temporary name is the new one or the one that it replaced. What others wrote at the last
    /// moment is neither, and goes back to its place; where that is taken by yet another, it stays.
    fn is_ours(&self, beside: &Path, exchange: &Exchange) -> bool {
        let Ok((dir, temp)) = self.parent_of(beside) else { return false };
        let there =
            |name: &OsStr| rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| Stamp::from(&stat));
        let Ok(out) = there(&temp) else { return false };
        if exchange.new.is_some_and(|new| out.same_file(&new)) || out.same_content(&exchange.former) {
            return true;
        }
        let name = OsStr::from_bytes(&exchange.name);
        match there(name) {
            // As it was made, and nothing written to it since.
            Ok(new) if exchange.new.is_some_and(|made| new.same_content(&made)) => {
                let exchanged = || rustix::fs::renameat_with(&dir, &temp, &dir, name, RenameFlags::EXCHANGE).is_ok();
                if !exchanged() {
                    return false;
                }
                let is_new = there(&temp).is_ok_and(|out| out.same_content(&new));
                // Others may have put something there since the look: that goes back.
                is_new || {
                    exchanged();
                    false
                }
            }
            Err(Errno::NOENT) => {
                let _ = land((&dir, &temp), (&dir, name));
                false
            }
            _ => false,
        }
    }
}

#[cfg(test)]
#[allow(unsafe_code)]
mod tests {
    use std::fs;

    use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_bind, mount_change, unmount};
    use rustix::thread::{UnshareFlags, unshare_unsafe};

    use super::*;
    use crate::overlay::tests::World;

    fn notes(world: &World) -> usize {
        fs::read_dir(world.state.join("sets")).unwrap().count()
    }

    #[test]
    fn the_note_of_a_dead_process_is_settled_whatever_id_we_have_and_that_of_one_that_lives_stays() {
        let world = World::new();
        fs::write(world.root.join("a"), "new").unwrap();
        let temp = temp_name();
        fs::write(world.root.join(&temp), "old").unwrap();
        // As it was left by a process of the same id, of another container or before a restart.
        let note = Inflight {
            ground: None,
            dir: world.root.as_os_str().as_bytes().to_vec(),
            temp: temp.clone(),
            exchange: None,
        };
        let dead = world.state.join(format!("sets/{}.inflight", std::process::id()));
        fs::write(&dead, serde_json::to_vec(&note).unwrap()).unwrap();
        let lives = world.files();
        assert!(!world.root.join(&temp).exists() && !dead.exists());
        let mut locked = lives.lock_within(std::time::Duration::ZERO).unwrap().unwrap();
        locked.note_inflight(Some(&world.root), &temp);
        locked.note_landed();
        drop(locked);
        drop(world.files());
        assert_eq!(notes(&world), 1, "it lives");
        drop(lives);
        drop(world.files());
        assert_eq!(notes(&world), 0);
    }

    #[test]
    fn the_name_waits_while_its_root_is_not_there() {
        let world = World::new();
        let temp = temp_name();
        let dead = world.files();
        dead.lock_within(std::time::Duration::ZERO).unwrap().unwrap().note_inflight(Some(&world.root), &temp);
        fs::write(world.root.join(&temp), "old").unwrap();
        drop(dead);
        let away = world.root.with_file_name("away");
        fs::rename(&world.root, &away).unwrap();
        fs::create_dir(&world.root).unwrap();
        drop(world.files());
        fs::remove_dir(&world.root).unwrap();
        fs::rename(&away, &world.root).unwrap();
        drop(world.files());
        assert!(!world.root.join(&temp).exists());
        assert_eq!(notes(&world), 0);
    }

    /// The root is there all the time.
    #[test]
    fn the_name_waits_while_what_is_mounted_around_it_is_not_there() {
        let world = World::new();
        let (point, disk) = (world.root.join("m"), world.root.with_file_name("disk"));
        fs::create_dir(&point).unwrap();
        fs::create_dir(&disk).unwrap();
        let temp = temp_name();
        let in_own_namespace = || {
            // SAFETY: it is of this thread alone, which ends.
            let apart = unsafe { unshare_unsafe(UnshareFlags::NEWNS) };
            let alone = || mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC);
            let mounted = || mount_bind(&disk, &point);
            if let Err(error) = apart.and_then(|()| alone()).and_then(|()| mounted()) {
                eprintln!("skipped: nothing can be mounted here: {error}");
                return;
            }
            let dead = world.files();
            dead.lock_within(std::time::Duration::ZERO).unwrap().unwrap().note_inflight(Some(&point), &temp);
            fs::write(point.join(&temp), "old").unwrap();
            drop(dead);
            unmount(&point, UnmountFlags::DETACH).unwrap();
            drop(world.files());
            mounted().unwrap();
            drop(world.files());
            assert!(!point.join(&temp).exists());
            assert_eq!(notes(&world), 0);
        };
        std::thread::scope(|scope| scope.spawn(in_own_namespace).join().unwrap());
    }
}
