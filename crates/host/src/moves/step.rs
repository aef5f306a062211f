//! One move, made, looked at, and taken back.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, Timespec, Timestamps};
use rustix::io::Errno;

use super::{Act, At, Identity, Places, Step, in_place, standing};
use crate::fs::{Stamp, land, look_as_owner, move_as_owner, put_away, stat_as_owner, wear, with_rights};
use crate::overlay::by_handle;

impl Step {
    /// Whether the path is as the step leaves it. What comes out of a name and is not what was looked at goes back.
    pub(super) fn make(&self, places: &Places<'_>, careful: bool) -> Result<bool, Errno> {
        let Places { target, source, aside, .. } = places;
        let stands = standing(target);
        match self.act {
            Act::Put => match stands {
                None if standing(source) == self.new => places.comes(source),
                stands => Ok(stands.is_some() && stands == self.new),
            },
            Act::Remove => match stands {
                Some(_) if stands == self.old => match places.goes(aside) {
                    Err(Errno::XDEV) if self.emptied => remove_empty(target),
                    moved => Ok(moved? && self.is_kept_or_goes_back(places)?),
                },
                Some(_) => Ok(false),
                None if !careful => Ok(self.old.is_none()),
                // It went before the kill.
                None => self.is_kept_or_goes_back(places),
            },
            Act::Swap => self.swap(places, stands),
            Act::Set { mode, mtime } => {
                if !is_set_on(stands, self) {
                    return Ok(false);
                }
                set(target, mode, mtime)?;
                Ok(true)
            }
        }
    }

    fn swap(&self, places: &Places<'_>, stands: Option<Identity>) -> Result<bool, Errno> {
        let Places { target, source, aside, .. } = places;
        if stands.is_some() && stands == self.new {
            return self.is_kept_or_goes_back(places);
        }
        if stands.is_some() && stands == self.old && standing(source) == self.new {
            return match places.exchange() {
                Ok(()) => self.is_kept_or_goes_back(places),
                // A file system that cannot exchange: two moves, and nothing stands there between them. One that replaces
                // what stands there would lose what others wrote to it since the look.
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    Ok(places.goes(aside)? && self.is_kept_or_goes_back(places)? && places.comes(source)?)
                }
                Err(error @ (Errno::BUSY | Errno::PERM | Errno::ACCESS)) if places.of_layer => {
                    match in_place::write(source, target, aside, self.old) {
                        // What it is not for.
                        Err(Errno::INVAL) => Err(error),
                        written => written,
                    }
                }
                Err(Errno::XDEV) if self.emptied => Ok(remove_empty(target)? && places.comes(source)?),
                Err(error) => Err(error),
            };
        }
        match in_place::begun(source, target, aside, self.old) {
            Some(in_place::HowFar::Whole) => return Ok(true),
            Some(in_place::HowFar::Part) => return in_place::write_again(source, target).map(|()| true),
            None => {}
        }
        // Between two moves.
        if stands.is_none() && standing(source) == self.new && (standing(aside).is_some() || was_removed(self, aside)) {
            return Ok(self.is_kept_or_goes_back(places)? && places.comes(source)?);
        }
        Ok(false)
    }

    pub(super) fn take_back(&self, places: &Places<'_>) -> Result<(), Errno> {
        let Places { target, source, aside, .. } = places;
        let stands = standing(target);
        let ours = self.is_new(stands);
        match self.act {
            Act::Put if ours => self.wait_again(places),
            // What lies aside came from there, and nowhere else; an overlay may have given it another inode on the way.
            Act::Remove if stands.is_none() && standing(aside).is_some() => places.comes(aside).map(drop),
            Act::Remove if stands.is_none() && was_removed(self, aside) => made_again(target, self),
            Act::Swap if ours => match self.give_back(places) {
                Err(Errno::NOENT) if was_removed(self, aside) => {
                    places.goes(source)?;
                    made_again(target, self)
                }
                given => given,
            },
            Act::Swap if stands.is_none() && standing(aside).is_some() => places.comes(aside).map(drop),
            Act::Swap if in_place::begun(source, target, aside, self.old).is_some() => {
                in_place::put_back(target, aside)
            }
            Act::Swap if stands.is_none() && was_removed(self, aside) => made_again(target, self),
            Act::Set { .. } if is_set_on(stands, self) => match self.was {
                Some((mode, mtime)) => set(target, mode, Some(mtime)),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Whether its directory was removed, and stands nowhere.
    pub(super) fn is_to_be_made_again(&self, places: &Places<'_>) -> bool {
        let stands = standing(&places.target);
        let is_made = match self.act {
            Act::Remove => stands.is_none(),
            Act::Swap => (stands.is_none() || self.is_new(stands)) && standing(&places.source) != self.old,
            Act::Put | Act::Set { .. } => false,
        };
        is_made && was_removed(self, &places.aside)
    }

    /// Gives a directory that was made again the time that it had.
    pub(super) fn give_time_back(&self, places: &Places<'_>) {
        if let Some((mode, mtime)) = self.was {
            let _ = set(&places.target, mode, Some(mtime));
        }
    }

    /// Whether what came out of the name is what was looked at before. Anything else goes back to its place: others wrote
    /// it in the last moment.
    fn is_kept_or_goes_back(&self, places: &Places<'_>) -> Result<bool, Errno> {
        let Places { target, source, aside, .. } = places;
        if self.is_kept(source, aside) {
            return Ok(true);
        }
        match standing(target) {
            None => places.comes(aside)?.then_some(()).ok_or(Errno::EXIST)?,
            stands if self.is_new(stands) => self.give_back(places)?,
            // Others put something in its place, too: that stands.
            _ => {}
        }
        Ok(false)
    }

    /// Whether what was moved away, if this was, is what was looked at before.
    pub(super) fn is_kept(&self, source: &At<'_>, aside: &At<'_>) -> bool {
        let came_out = match self.act {
            Act::Put | Act::Set { .. } => return true,
            Act::Remove => aside,
            Act::Swap if standing(aside).is_some() => aside,
            // Nothing came out yet, or of a file that is written where it stands, nothing does.
            Act::Swap if standing(source) == self.new => return true,
            Act::Swap => source,
        };
        // An emptied directory may have been removed; and after a kill, what is of no use any more.
        let Ok(stat) = stat_as_owner(came_out.0, &came_out.1) else { return true };
        match (FileType::from_raw_mode(stat.st_mode), &self.stamp) {
            (FileType::Directory, _) => !self.emptied || is_empty(came_out),
            (_, Some(stamp)) => Stamp::from(&stat).same_content(stamp),
            // After a kill.
            (_, None) => Some(Identity::of(&stat)) == self.old,
        }
    }

    /// Whether it is not made, and cannot be: others took its place.
    pub(super) fn is_blocked(&self, places: &Places<'_>) -> bool {
        let Places { target, source, aside, .. } = places;
        match self.act {
            Act::Put | Act::Swap => {
                let is_waiting = self.new.is_some() && standing(source) == self.new && standing(target) != self.new;
                is_waiting && in_place::begun(source, target, aside, self.old).is_none()
            }
            Act::Remove => standing(target).is_some(),
            Act::Set { .. } => false,
        }
    }

    /// Whether what stood there was moved away, and lies nowhere any more.
    pub(super) fn is_cleared(&self, places: &Places<'_>) -> bool {
        let Places { target, source, aside, .. } = places;
        let lies = match self.act {
            Act::Put | Act::Set { .. } => true,
            Act::Swap => standing(source).is_some() || standing(aside).is_some(),
            Act::Remove => standing(target).is_some() || standing(aside).is_some(),
        };
        !lies && !self.emptied && self.old.is_some()
    }

    /// Whether it is made, and what stood there lies nowhere any more.
    pub(super) fn cannot_return(&self, places: &Places<'_>) -> bool {
        let stands = standing(&places.target);
        let is_made = match self.act {
            Act::Put | Act::Set { .. } => false,
            Act::Swap => self.is_new(stands),
            Act::Remove => stands.is_none(),
        };
        is_made && self.is_cleared(places)
    }

    /// The new one goes back to where it waited, and the old one to its place.
    fn give_back(&self, places: &Places<'_>) -> Result<(), Errno> {
        let Places { target, source, aside, .. } = places;
        // Where a move takes two calls, a kill came between them: the new one has both names.
        if standing(source).is_none() || standing(source) == standing(target) {
            standing(aside).ok_or(Errno::NOENT)?;
            self.wait_again(places)?;
            return places.comes(aside).map(drop);
        }
        let exchange = || places.exchange();
        exchange()?;
        match self.is_new(standing(source)) {
            true => Ok(()),
            // Others wrote to the new one just then: that stands.
            false => exchange(),
        }
    }

    /// The new one goes back to where it waited, unless others wrote to it just then.
    fn wait_again(&self, places: &Places<'_>) -> Result<(), Errno> {
        let source = &places.source;
        places.goes(source)?.then_some(()).ok_or(Errno::EXIST)?;
        match self.is_new(standing(source)) {
            true => Ok(()),
            false => places.comes(source)?.then_some(()).ok_or(Errno::EXIST),
        }
    }
}

/// By what an entry gets another name.
type Rename = fn((&OwnedFd, &OsStr), (&OwnedFd, &OsStr)) -> Result<(), Errno>;

impl Places<'_> {
    /// Moves an entry to the place in the root. False where something stands.
    fn comes(&self, from: &At<'_>) -> Result<bool, Errno> {
        self.onto_nothing(from, &self.target, land)
    }

    /// Moves what stands in the root to a place of ours. False where something stands.
    fn goes(&self, to: &At<'_>) -> Result<bool, Errno> {
        self.onto_nothing(&self.target, to, put_away)
    }

    fn exchange(&self) -> Result<(), Errno> {
        self.rename(&self.source, &self.target, |(above, from), (dir, to)| {
            rustix::fs::renameat_with(above, from, dir, to, RenameFlags::EXCHANGE)
        })
    }

    fn onto_nothing(&self, from: &At<'_>, to: &At<'_>, how: Rename) -> Result<bool, Errno> {
        match self.rename(from, to, how) {
            Ok(()) => Ok(true),
            // Both are names of one file: where that takes two calls, a kill came between them.
            Err(Errno::EXIST) if standing(from) == standing(to) => {
                rustix::fs::unlinkat(from.0, from.1.as_os_str(), AtFlags::empty()).map(|()| true)
            }
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn rename(&self, from: &At<'_>, to: &At<'_>, how: Rename) -> Result<(), Errno> {
        let (from, to) = ((from.0, &*from.1), (to.0, &*to.1));
        if self.of_layer { move_as_owner(from, to, how) } else { how(from, to) }
    }
}

/// Whether a `Set` is still to be made here or is made already: it moves the modification time.
fn is_set_on(stands: Option<Identity>, step: &Step) -> bool {
    let Act::Set { mtime: Some(time), .. } = step.act else { return stands.is_some() && stands == step.old };
    let after = step.old.map(|old| old.modified(time));
    stands.is_some() && (stands == step.old || stands == after)
}

/// Removes an emptied directory that cannot be renamed: an overlay renames none that is in its lower part. False where
/// something came to lie in it.
fn remove_empty((dir, name): &At<'_>) -> Result<bool, Errno> {
    match rustix::fs::unlinkat(dir, name.as_os_str(), AtFlags::REMOVEDIR) {
        Ok(()) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether an emptied directory that stands nowhere was removed so.
fn was_removed(step: &Step, aside: &At<'_>) -> bool {
    step.emptied && step.old.is_some() && standing(aside).is_none()
}

fn made_again(at: &At<'_>, step: &Step) -> Result<(), Errno> {
    rustix::fs::mkdirat(at.0, at.1.as_os_str(), Mode::RWXU)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = File::from(rustix::fs::openat(at.0, at.1.as_os_str(), flags, Mode::empty())?);
    if let Some(dress) = &step.dress {
        // As far as we may.
        wear(&made, dress);
    }
    step.was.map_or(Ok(()), |(mode, _)| set(at, mode, None))
}

fn is_empty((dir, name): &At<'_>) -> bool {
    look_as_owner(dir, name.as_ref(), OFlags::DIRECTORY | OFlags::NOFOLLOW)
        .and_then(rustix::fs::Dir::new)
        .is_ok_and(|entries| entries.flatten().all(|entry| matches!(entry.file_name().to_bytes(), b"." | b"..")))
}

fn set(at: &At<'_>, mode: u32, mtime: Option<(i64, u64)>) -> Result<(), Errno> {
    let handle = look_as_owner(at.0, at.1.as_ref(), OFlags::PATH | OFlags::NOFOLLOW)?;
    let path = by_handle(&handle);
    let wanted = Mode::from_raw_mode(mode);
    if rustix::fs::fstat(&handle)?.st_mode & 0o7777 != mode {
        rustix::fs::chmod(&path, wanted)?;
    }
    let Some((sec, nsec)) = mtime else { return Ok(()) };
    let omit = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
    let last_modification = Timespec { tv_sec: sec, tv_nsec: nsec as _ };
    let times = Timestamps { last_access: omit, last_modification };
    with_rights(&handle, || rustix::fs::utimensat(CWD, &path, &times, AtFlags::empty()))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, FileTimes};
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::fs::worn_by_all;
    use crate::moves::{After, Mover};
    use crate::overlay::tests::World;

    /// Taken for an empty place, it would be left as it is, and called taken back.
    #[test]
    fn a_place_that_cannot_be_looked_at_is_not_taken_for_an_empty_one() {
        let world = World::new();
        let beside = world.root.join(".nika-0123456789abcdef.tmp");
        fs::write(&beside, "new").unwrap();
        let new = Some(Identity::of(&rustix::fs::lstat(&beside).unwrap()));
        // No name is as long.
        let target = world.root.join("n".repeat(300));
        let places = (beside.clone(), beside.with_extension("old"));
        let step = |act| Step { new, old: new, ..Step::new(target.clone(), places.clone(), act) };
        for act in [Act::Put, Act::Swap, Act::Remove] {
            let files = world.files();
            assert!(Mover::new(&files).back(&[step(act)], After::Failure).is_err(), "{act:?}");
            for careful in [false, true] {
                assert!(Mover::new(&files).forward(&[step(act)], careful).is_err(), "{act:?}");
            }
        }
    }

    /// As on an overlay, which renames no directory of its lower part.
    #[test]
    fn an_emptied_directory_that_was_removed_comes_back_as_it_was() {
        let world = World::new();
        let (dir, beside) = (world.root.join("d"), world.root.join(".nika-0123456789abcdef.tmp"));
        fs::create_dir(&dir).unwrap();
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&dir, Some(1000), Some(1000)).unwrap();
        }
        let _ = rustix::fs::setxattr(&dir, "user.mine", b"1", rustix::fs::XattrFlags::empty());
        rustix::fs::chmod(&dir, Mode::from_raw_mode(0o2750)).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        File::open(&dir).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
        let look = || {
            let stat = rustix::fs::lstat(&dir).unwrap();
            (stat, worn_by_all(&File::open(&dir).unwrap().into()))
        };
        let (stat, dress) = look();
        let step = Step {
            old: Some(Identity::of(&stat)),
            was: Some((stat.st_mode & 0o7777, (stat.st_mtime, stat.st_mtime_nsec))),
            dress: dress.clone(),
            emptied: true,
            stamp: Some(Stamp::from(&stat)),
            ..Step::new(dir.clone(), (beside.clone(), beside), Act::Remove)
        };
        fs::remove_dir(&dir).unwrap();
        Mover::new(&world.files()).back(&[step], After::Failure).unwrap();
        let (again, worn) = look();
        assert_eq!((again.st_mode, again.st_mtime, worn), (stat.st_mode, 1_000_000_000, dress));
    }
}
