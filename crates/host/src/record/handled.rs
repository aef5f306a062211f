//! Files that a command was about to change, known by what neither another name nor another content alters: somebody may
//! give one of them a guarded name later. What it wrote there, or writes in the moment before it is stopped, is then what
//! the guarded file holds.
//!
//! What it had nothing of then it may still come to by a name that is not guarded: by one of several that the file has, or
//! because the guarded name is a link to the file. So it is refused such files from then on.
//!
//! What stands at a place is looked at before the call and once more when it has happened: what the command makes is not
//! there before, and somebody may put another file there in between.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, lstat, statat};
use rustix::io::Errno;

use super::firsts::{Id, id_of_file};
use super::sight::Found;
use crate::fs::{led, led_straight};

/// So many are known, some 5 MB; of more the first are forgotten. What is still held open is seen all the same.
const MOST: usize = 100_000;
/// How long a call takes that was let through, and how many places at most wait to be looked at then.
const PASSES_WITHIN: Duration = Duration::from_millis(1);
const MOST_PASSED: usize = 64;
/// How long after a look the last one is where nothing stands.
const PASSES_AT_LAST: Duration = Duration::from_millis(64);

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Handled(Mutex<All>);

#[derive(Debug, Default)]
struct All {
    ids: HashSet<Id>,
    /// In which order they were seen.
    order: VecDeque<Id>,
    /// Files with guarded names that have others, too, and these guarded names, or links to the file that have such.
    named_twice: HashMap<Id, HashSet<PathBuf>>,
    /// Where links lead that have guarded names, and these links.
    led_to: HashMap<PathBuf, HashSet<PathBuf>>,
}

impl Handled {
    /// What stands there is about to be changed, or came to stand there. False where it has a guarded name, too, which the
    /// command had not come to when it got that.
    pub(super) fn note(&self, found: &Found) -> bool {
        let Some(id) = id_of_file(&found.dir, &found.name) else { return true };
        let mut all = self.all();
        let has_still = |names: &HashSet<PathBuf>| names.iter().any(|name| file_of(name).1 == Some(id));
        if all.named_twice.get(&id).is_some_and(has_still) {
            return false;
        }
        if !all.ids.insert(id) {
            return true;
        }
        all.order.push_back(id);
        if all.order.len() > MOST
            && let Some(first) = all.order.pop_front()
        {
            all.ids.remove(&first);
        }
        true
    }

    /// Those of `files`, which have guarded names now, that are among them; or, of links, lead to such. The others are kept from
    /// the command by whichever name.
    pub(super) fn of(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        let mut all = self.all();
        files.iter().filter(|path| all.has_or_keeps(path)).cloned().collect()
    }

    /// Whether a link with a guarded name leads to a path still; `takes_along`: or below it.
    pub(super) fn is_led_to(&self, path: &Path, takes_along: bool) -> bool {
        let all = self.all();
        let leads = |(to, links): (&PathBuf, &HashSet<PathBuf>)| links.iter().any(|link| led(link, |_| {}) == *to);
        all.led_to.get_key_value(path).is_some_and(leads)
            || takes_along && all.led_to.iter().any(|led| led.0.starts_with(path) && leads(led))
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl All {
    fn has_or_keeps(&mut self, path: &Path) -> bool {
        let (to, id) = file_of(path);
        if id.is_some_and(|id| self.ids.contains(&id)) {
            return true;
        }
        let has_others = || lstat(to.as_deref().unwrap_or(path)).is_ok_and(|stat| stat.st_nlink > 1);
        if let Some(id) = id.filter(|_| has_others()) {
            self.named_twice.entry(id).or_default().insert(path.to_path_buf());
        }
        if let Some(to) = to {
            self.led_to.entry(to).or_default().insert(path.to_path_buf());
        }
        // More than that nobody remembers, and who could come to them is not to go on.
        self.named_twice.len().max(self.led_to.len()) > MOST
    }
}

/// Where a link leads that stands at `path`, and which file stands there, or at the path itself.
fn file_of(path: &Path) -> (Option<PathBuf>, Option<Id>) {
    let to = led_straight(path);
    let id = id_of_file(CWD, to.as_deref().unwrap_or(path));
    (to, id)
}

/// Places that are looked at once more.
#[derive(Debug, Default)]
pub(super) struct Passed(VecDeque<Place>);

#[derive(Debug)]
struct Place {
    found: Found,
    /// When to look, and how long that is after the last look.
    at: Instant,
    after: Duration,
}

impl Passed {
    /// A call was let through there.
    pub(super) fn add(&mut self, found: Found, handled: &Handled) {
        if self.0.len() >= MOST_PASSED
            && let Some(first) = self.0.pop_front()
        {
            handled.note(&first.found);
        }
        self.0.push_back(Place { found, at: Instant::now() + PASSES_WITHIN, after: PASSES_WITHIN });
    }

    /// Until one is to be looked at.
    pub(super) fn wait(&self) -> Option<Duration> {
        self.0.iter().map(|place| place.at).min().map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Looks at those whose time has come. Where nothing stands, the call may not have had its turn yet, as on a busy machine.
    pub(super) fn settle(&mut self, handled: &Handled) {
        let now = Instant::now();
        self.0.retain_mut(|Place { found, at, after }| {
            if now < *at {
                return true;
            }
            handled.note(found);
            *after *= 4;
            *at = now + *after;
            *after <= PASSES_AT_LAST
                && matches!(statat(&found.dir, &found.name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
        });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_known_by_another_name_and_one_that_has_its_inode_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let found = |name: &str| {
            let handle = rustix::fs::open(dir.path(), rustix::fs::OFlags::PATH, rustix::fs::Mode::empty()).unwrap();
            Found { path: at(name), dir: handle, name: name.into() }
        };
        let handled = Handled::default();
        fs::write(at("one"), "one").unwrap();
        handled.note(&found("one"));
        handled.note(&found("absent"));
        handled.note(&found("."));
        let mut passed = Passed::default();
        for number in 0..=MOST_PASSED {
            passed.add(found(&format!("made{number}")), &handled);
            fs::write(at(&format!("made{number}")), "made").unwrap();
        }
        // One too many was looked at when that came.
        assert_eq!((passed.0.len(), handled.of(&[at("made0"), at("made1")])), (MOST_PASSED, vec![at("made0")]));
        while passed.wait().is_some() {
            passed.settle(&handled);
        }
        let made = [at(&format!("made{MOST_PASSED}")), at("made1")];
        assert_eq!(handled.of(&made), made);
        fs::rename(at("one"), at(".npmrc")).unwrap();
        fs::write(at(".npmrc"), "another content").unwrap();
        fs::write(at("two"), "two").unwrap();
        let files = [at(".npmrc"), at("two"), at("gone")];
        assert_eq!(handled.of(&files), [at(".npmrc")]);
        let inode = |name: &str| std::os::unix::fs::MetadataExt::ino(&fs::metadata(at(name)).unwrap());
        let was = inode(".npmrc");
        fs::remove_file(at(".npmrc")).unwrap();
        // Most file systems give it to one of the next.
        let mut others: Vec<PathBuf> = (0..64).map(|number| at(&format!("new{number}"))).collect();
        for other in &others {
            fs::write(other, "new").unwrap();
        }
        others.retain(|other| std::os::unix::fs::MetadataExt::ino(&fs::metadata(other).unwrap()) == was);
        let knows_births = id_of_file(CWD, at("two").as_path()).is_some_and(|id| id.2.is_some());
        assert!(!knows_births || handled.of(&others).is_empty(), "{others:?}");
    }
}
