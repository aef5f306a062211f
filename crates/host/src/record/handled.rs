//! Files that a command was about to change, known by what neither another name nor another content alters: somebody may
//! give one of them a guarded name later. What it wrote there, or writes in the moment before it is stopped, is then what
//! the guarded file holds.
//!
//! What stands at a place is looked at before the call and once more when it has happened: what the command makes is not
//! there before, and somebody may put another file there in between.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::CWD;

use super::firsts::{Id, id_of_file};
use super::sight::Found;

/// So many are known, some 5 MB; of more the first are forgotten. What is still held open is seen all the same.
const MOST: usize = 100_000;
/// How long a call takes that was let through, and how many places at most wait to be looked at then.
const PASSES_WITHIN: Duration = Duration::from_millis(1);
const MOST_PASSED: usize = 64;

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Handled(Mutex<All>);

#[derive(Debug, Default)]
struct All {
    ids: HashSet<Id>,
    /// In which order they were seen.
    order: VecDeque<Id>,
}

impl Handled {
    /// What stands there is about to be changed, or came to stand there.
    pub(super) fn note(&self, found: &Found) {
        let Some(id) = id_of_file(&found.dir, &found.name) else { return };
        let mut all = self.all();
        if !all.ids.insert(id) {
            return;
        }
        all.order.push_back(id);
        if all.order.len() > MOST
            && let Some(first) = all.order.pop_front()
        {
            all.ids.remove(&first);
        }
    }

    /// Those of `files` that are among them.
    pub(super) fn of(&self, files: &[PathBuf]) -> Vec<PathBuf> {
        let all = self.all();
        let is_handled = |path: &&PathBuf| {
            let id = id_of_file(CWD, path.as_path());
            id.is_some_and(|id| all.ids.contains(&id))
        };
        files.iter().filter(is_handled).cloned().collect()
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Places that are looked at once more.
#[derive(Debug, Default)]
pub(super) struct Passed(VecDeque<(Instant, Found)>);

impl Passed {
    /// A call was let through there.
    pub(super) fn add(&mut self, found: Found, handled: &Handled) {
        if self.0.len() >= MOST_PASSED
            && let Some((_, first)) = self.0.pop_front()
        {
            handled.note(&first);
        }
        self.0.push_back((Instant::now() + PASSES_WITHIN, found));
    }

    /// Until one is to be looked at.
    pub(super) fn wait(&self) -> Option<Duration> {
        self.0.front().map(|(at, _)| at.saturating_duration_since(Instant::now()))
    }

    /// Looks at those whose time has come.
    pub(super) fn settle(&mut self, handled: &Handled) {
        while self.wait().is_some_and(|wait| wait.is_zero())
            && let Some((_, found)) = self.0.pop_front()
        {
            handled.note(&found);
        }
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
