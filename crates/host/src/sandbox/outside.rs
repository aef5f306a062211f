//! What somebody outside puts in the place of something that is hidden from a command or guarded from it: heard of at once
//! where the system lets us watch, and looked for where it does not.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use super::covers::Covers;
use super::kept::Kept;
use super::watch::{News, Replaced, Watch};

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Outside {
    pub(super) covers: Option<Covers>,
    /// Only of a command that is recorded: nothing else keeps it off what has replaced a guarded file.
    pub(super) kept: Option<Kept>,
    watch: Option<Watch>,
}

impl Outside {
    pub(super) fn of(covers: Option<Covers>) -> Outside {
        Outside { covers, ..Outside::default() }
    }

    /// Becomes readable when [`Outside::heed`] has something to say; `None` as long as nobody watches.
    pub(super) fn news(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(Watch::fd)
    }

    /// Begins to watch; says what was replaced before.
    pub(super) fn begin(&mut self) -> Replaced {
        self.watch = None;
        let guarded = self.look();
        if !self.is_idle() {
            let hidden = self.covers.as_ref().map_or(&[][..], Covers::hidden);
            self.watch = Watch::of(hidden, self.kept.as_ref()).ok();
        }
        // Between the look and the watch something may have been put there.
        let guarded = guarded.into_iter().chain(self.look()).collect();
        Replaced { guarded, begins: true, ..Replaced::default() }
    }

    /// What was replaced since.
    pub(super) fn heed(&mut self) -> Replaced {
        let guarded = self.kept.as_ref().map(Kept::guarded);
        match self.watch.as_mut().map(|watch| watch.read(guarded)) {
            None => Replaced::default(),
            Some(Ok(News::Replaced(mut replaced))) => {
                let heard = std::mem::take(&mut replaced.guarded);
                replaced.guarded = self.kept.as_mut().map(|kept| kept.files(heard)).unwrap_or_default();
                replaced
            }
            // A directory on the way to one is another now, or news was lost: it may have been of any of them.
            Some(Ok(News::Way) | Err(_)) => {
                self.watch = None;
                let hidden = self.covers.as_ref().map(|covers| covers.hidden().to_vec()).unwrap_or_default();
                Replaced { hidden, guarded: self.look(), begins: false }
            }
        }
    }

    /// Guarded files that are others than when that was last asked, or heard.
    pub(super) fn look(&mut self) -> Vec<PathBuf> {
        self.kept.as_mut().map(Kept::replaced).unwrap_or_default()
    }

    /// Hides again what was replaced. Whether it is watched from now on; where it is not, all has to begin again.
    pub(super) fn hide_again(&mut self, replaced: &Replaced) -> io::Result<bool> {
        if let Some(covers) = &mut self.covers {
            if replaced.begins {
                let laid = covers.begin()?;
                self.watch = self.watch.take().filter(|_| laid);
            } else if !replaced.hidden.is_empty() {
                covers.hide_again(&replaced.hidden)?;
            }
        }
        Ok(self.watch.is_some() || self.is_idle())
    }

    fn is_idle(&self) -> bool {
        self.covers.is_none() && self.kept.is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use nika_guard::profile::{Access, Profile};

    use super::*;

    #[test]
    fn many_new_directories_where_all_is_guarded_do_not_make_it_begin_anew() {
        let dir = tempfile::tempdir().expect("a directory");
        let objects = dir.path().join(".git/modules/one/objects");
        fs::create_dir_all(&objects).expect("made");
        let mut profile = Profile::new(Access::Workspace, dir.path(), "/home/dev");
        profile.protected = vec![dir.path().join(".git/modules")];
        let mut outside = Outside { kept: Some(Kept::of(&profile)), ..Outside::default() };
        outside.begin();
        if outside.news().is_none() {
            return eprintln!("skipped: there is no room to watch here");
        }
        let mut heard = Vec::new();
        for number in 0..300 {
            let new = objects.join(format!("{number:03}"));
            fs::create_dir(&new).expect("made");
            fs::write(new.join("object"), "one").expect("written");
            heard.extend(outside.heed().guarded);
            assert!(outside.news().is_some(), "{number}");
        }
        assert_eq!(heard.len(), 300, "{heard:?}");
        assert!(outside.look().is_empty());
        // Where they are too many to be watched one by one, those that lie deepest are left out: that is found out anew.
        for number in 300..600 {
            fs::create_dir(objects.join(format!("{number}"))).expect("made");
        }
        outside.heed();
        assert!(outside.news().is_none());
    }
}
