//! Which places git would run something of: where a configuration leads ([`Leads`]), and what makes a directory a
//! repository or stands in one that is called anything but `.git`. Whoever asks git for a status there runs what its
//! configuration names.
//!
//! Only who writes has to know: it is a look at the disk.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use nika_guard::{IN_REPOSITORY, LED_BY_GIT, Place};

use super::Workspace;
use crate::git::Leads;

/// What git knows a repository's own directory by.
const PARTS: &[&str] = &["HEAD", "objects", "refs"];
/// Where else two of them lie.
const ELSEWHERE: &str = "commondir";
/// What names programs there, or is one.
const RUNS: &[&str] = &["config", "config.worktree", ELSEWHERE, "hooks"];

impl Workspace {
    /// The place, which says why where git would run something of it.
    pub(super) fn with_git(&self, place: Place) -> Place {
        Look::new(self, HashSet::new()).at(place)
    }

    /// The same for places that are written as one: each counts as standing for the others.
    pub fn with_git_together(&self, places: Vec<Place>) -> Vec<Place> {
        let coming = places.iter().flat_map(|place| place.path.ancestors()).map(Path::to_path_buf).collect();
        let mut look = Look::new(self, coming);
        places.into_iter().map(|place| look.at(place)).collect()
    }
}

struct Look<'a> {
    files: &'a Workspace,
    leads: Leads,
    /// What a directory's repository leads to.
    ends: HashMap<PathBuf, Vec<PathBuf>>,
    coming: HashSet<PathBuf>,
}

impl<'a> Look<'a> {
    fn new(files: &'a Workspace, coming: HashSet<PathBuf>) -> Look<'a> {
        Look { files, leads: Leads::new(files.person()), ends: HashMap::new(), coming }
    }

    fn at(&mut self, mut place: Place) -> Place {
        let Some(root) = self.files.root_of(&place.path).filter(|root| root.writable) else { return place };
        if place.below_root.is_none() || place.guarded.is_some() {
            return place;
        }
        if self.is_led_to(&place.path, &root.path) {
            place.guarded = Some(LED_BY_GIT);
        } else if self.is_in_repository(&place.path, &root.path) {
            place.guarded = Some(IN_REPOSITORY);
        }
        place
    }

    /// Whether a configuration of git leads to `path`, or to a directory that holds it: that of a repository that it
    /// lies in, or the person's own.
    fn is_led_to(&mut self, path: &Path, root: &Path) -> bool {
        path.ancestors().skip(1).any(|dir| {
            let (leads, ends) = (&self.leads, &mut self.ends);
            let ends = ends.entry(dir.to_path_buf()).or_insert_with(|| leads.from(dir, root));
            ends.iter().any(|end| path.starts_with(end))
        })
    }

    /// Whether git would run `path`, or what stands beside it, of a directory that is a repository once `path` stands.
    fn is_in_repository(&self, path: &Path, root: &Path) -> bool {
        path.ancestors().skip(1).take_while(|dir| dir.starts_with(root)).any(|dir| {
            let Some(part) = path.strip_prefix(dir).ok().and_then(|below| below.iter().next()) else { return false };
            let is = |names: &[&str]| names.iter().any(|name| part == *name);
            if !is(PARTS) && !is(RUNS) || is_git(dir.file_name()) {
                return false;
            }
            let stands = |name: &&str| {
                let path = dir.join(name);
                part == *name || self.coming.contains(&path) || path.symlink_metadata().is_ok()
            };
            let is_repository = PARTS.iter().all(&stands) || stands(&"HEAD") && stands(&ELSEWHERE);
            // A part that stands already makes nothing of what stands beside it.
            let makes_one = || dir.join(part).symlink_metadata().is_err() && RUNS.iter().any(&stands);
            is_repository && (is(RUNS) || makes_one())
        })
    }
}

/// Those are known by their name.
fn is_git(name: Option<&OsStr>) -> bool {
    name.is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}
