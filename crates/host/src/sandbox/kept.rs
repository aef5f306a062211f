//! The guarded names of a command that writes to the roots themselves, and what stands under them that can be written: files,
//! pipes, and links that lead to what is not guarded.
//!
//! A guarded file that somebody outside replaces is another file from then on, and the command may have a hold of that by
//! the name it had before. So whoever watches over the command has to know when one is another, and here is what they
//! stand by where nobody watches: in the first tenth of a second, at the end, and where the system has no room to watch.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use nika_guard::profile::Profile;
use rustix::fs::{FileType, lstat};

use super::guarded::Guarded;
use super::placeholders::is_stand_in;
use crate::fs::{Stamp, led};

/// Directories that are guarded with all that is in them, and files under guarded names: so many are looked at, those that
/// lie deepest last. What is watched takes memory of the system, and what is known is looked at anew at the end.
pub(super) const MOST_DIRECTORIES: usize = 512;
pub(super) const MOST_FILES: usize = 8_192;

/// See the module's page.
#[derive(Debug)]
pub(super) struct Kept {
    guarded: Guarded,
    known: Standing,
    /// Where links led when the command began. Git makes them again with each `git switch`: that is no news.
    links: HashMap<PathBuf, PathBuf>,
}

/// What stands under guarded names.
#[derive(Debug, Default)]
struct Standing {
    files: HashMap<PathBuf, Stamp>,
    directories: Vec<PathBuf>,
}

impl Kept {
    /// Of what `profile` guards, as it stands now. What this very command may change is none of it.
    pub(super) fn of(profile: &Profile) -> Kept {
        let mut kept = Kept { guarded: Guarded::of(profile), known: Standing::default(), links: HashMap::new() };
        kept.known = kept.look();
        let links = kept.known.files.keys().filter_map(|path| Some((path.clone(), fs::read_link(path).ok()?)));
        kept.links = links.collect();
        kept
    }

    pub(super) fn guarded(&self) -> &Guarded {
        &self.guarded
    }

    /// Directories that are guarded with all that is in them, as they were last seen.
    pub(super) fn directories(&self) -> &[PathBuf] {
        &self.known.directories
    }

    /// Looks anew; the files that are others than they were when that was last done.
    pub(super) fn replaced(&mut self) -> Vec<PathBuf> {
        let before = std::mem::take(&mut self.known).files;
        self.known = self.look();
        let is_other = |(path, now): &(&PathBuf, &Stamp)| before.get(*path).is_none_or(|before| !before.same_file(now));
        self.known.files.iter().filter(is_other).map(|(path, _)| path.clone()).collect()
    }

    /// Of paths that were heard of those under which something stands that can be written; they are known from now on.
    pub(super) fn files(&mut self, heard: Vec<PathBuf>) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for path in heard {
            if let Some((what, stamp)) = self.standing(&path)
                && self.can_be_written(&path, what)
            {
                // One that is not known is only looked at once more, at the end.
                if self.known.files.len() < MOST_FILES || self.known.files.contains_key(&path) {
                    self.known.files.insert(path.clone(), stamp);
                }
                files.push(path);
            }
        }
        files
    }

    /// What stands at a path that is neither the command's own to change nor a stand-in of ours.
    fn standing(&self, path: &Path) -> Option<(FileType, Stamp)> {
        if self.guarded.is_opened(path) {
            return None;
        }
        let stat = lstat(path).ok().filter(|stat| !is_stand_in(stat))?;
        Some((FileType::from_raw_mode(stat.st_mode), Stamp::from(&stat)))
    }

    fn can_be_written(&self, path: &Path, what: FileType) -> bool {
        match what {
            FileType::RegularFile | FileType::Fifo => true,
            FileType::Symlink => !self.leads_as_before(path) && self.leads_astray(path),
            _ => false,
        }
    }

    fn leads_as_before(&self, link: &Path) -> bool {
        self.links.get(link).is_some_and(|before| fs::read_link(link).is_ok_and(|now| now == *before))
    }

    /// Whether a link leads into a root to what the command may change, whether it exists or not, or by a link that it may.
    fn leads_astray(&self, link: &Path) -> bool {
        let may_change = |path: &Path| self.guarded.is_in_a_root(path) && !self.guarded.has(path);
        let mut has_another = false;
        let to = led(link, |at| has_another |= may_change(at));
        has_another || may_change(&to)
    }

    fn look(&self) -> Standing {
        let mut found = Standing::default();
        let mut open: VecDeque<PathBuf> = self.guarded.names().iter().cloned().collect();
        let at_top = self.guarded.roots().iter().flat_map(|root| entries(root));
        open.extend(at_top.filter(|path| self.guarded.has(path) && !self.guarded.names().contains(path)));
        while let Some(path) = open.pop_front() {
            match self.standing(&path) {
                Some((FileType::Directory, _)) if found.directories.len() < MOST_DIRECTORIES => {
                    open.extend(entries(&path).take(MOST_FILES.saturating_sub(open.len())));
                    found.directories.push(path);
                }
                Some((what, stamp)) if found.files.len() < MOST_FILES && self.can_be_written(&path, what) => {
                    found.files.insert(path, stamp);
                }
                _ => {}
            }
        }
        found
    }
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use nika_guard::profile::Access;

    use super::*;

    #[test]
    fn a_file_that_is_another_is_found_without_a_watch_and_one_that_was_written_is_not() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at(".vscode/deep")).expect("made");
        for name in [".npmrc", ".envrc", ".vscode/deep/tasks.json", "new", "other", "plain"] {
            fs::write(at(name), name).expect("written");
        }
        let mut profile = Profile::new(Access::Workspace, dir.path().canonicalize().expect("there"), "/home/dev");
        profile.protected = vec![at(".npmrc"), at(".vscode"), at(".envrc"), at(".mcp.json")];
        profile.absent = vec![at(".gitmodules")];
        profile.opened = vec![at(".mcp.json")];
        let mut kept = Kept::of(&profile);
        assert!(kept.replaced().is_empty());
        fs::write(at(".envrc"), "in place").expect("written");
        fs::write(at(".mcp.json"), "its own").expect("written");
        assert!(kept.replaced().is_empty());
        fs::rename(at("new"), at(".npmrc")).expect("renamed");
        fs::rename(at("other"), at(".vscode/deep/tasks.json")).expect("renamed");
        fs::rename(at("plain"), at("a.code-workspace")).expect("renamed");
        // Links to what is guarded, by whichever case and though no list has it, to what lies outside, to what a command may
        // write, though it has a guarded name, and to what it may make.
        fs::create_dir(at("own")).expect("made");
        let links = [
            ("guarded", "../.envrc"),
            ("case", "../.ENVRC"),
            ("top", "../Jenkinsfile"),
            ("out", "/etc/hostname"),
            ("own", "../own"),
            ("opened", "../.mcp.json"),
            ("new", "../own/new"),
            ("nowhere", "/opt/nowhere/deep/ext"),
            ("absent", "../none/deep/new"),
            ("byway", "../away/hostname"),
        ];
        std::os::unix::fs::symlink("/etc", at("away")).expect("a link");
        for (name, to) in links {
            std::os::unix::fs::symlink(to, at(".vscode").join(name)).expect("a link");
        }
        let mut replaced = kept.replaced();
        replaced.sort();
        let wanted = [
            ".npmrc",
            ".vscode/absent",
            ".vscode/byway",
            ".vscode/deep/tasks.json",
            ".vscode/new",
            ".vscode/opened",
            ".vscode/own",
            "a.code-workspace",
        ];
        assert_eq!(replaced, wanted.map(at));
        assert!(kept.replaced().is_empty());
    }
}
