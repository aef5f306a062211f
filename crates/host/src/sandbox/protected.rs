//! Which entries of a tree are guarded or secret, found by looking.
//!
//! One walk by directory handles that follows no link and stays on what it is given. Directories that hold nothing but
//! what others made ([`SKIPPED`]) are not entered: nothing in them is started by being there, and tools must be able
//! to delete them. The caller keeps the result and looks again after a command that could write.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nika_guard::classify;
use nika_guard::profile::{Profile, guarded_below, placeholder, secrets_of};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, lstat, openat, readlink, statat};

use super::linked::little;
use super::placeholders::is_stand_in;
use crate::git::{Leads, Personal, makes_repository};

/// Directories of downloaded packages and build results. What is guarded or secret in them is not protected.
pub const SKIPPED: &[&str] = &["node_modules", "__pycache__", "site-packages", ".venv", "venv"];
/// How deep a walk goes.
const MAX_DEPTH: usize = 128;
/// How many repositories of a tree have their guarded names protected one by one. Default 64; further ones become
/// read-only as a whole.
pub const MAX_REPOSITORIES: usize = 64;
/// How many entries can be hidden from a command, secrets and what rules withhold. Default 4096, which takes some 60 ms a
/// start; where there are more, no command is started.
pub const MAX_HIDDEN: usize = 4096;

/// From so many entries on, a directory of which rules withhold all is hidden as one. Fewer are hidden one by one, so that
/// new files can be put beside them.
const CROWD: usize = 64;

/// How many secrets of a tree are hidden one by one, whatever lies beside them. Default 512, some 8 ms a start. Of more,
/// a directory with a [`CROWD`] of them and nothing else is hidden as one.
const SECRETS_APART: usize = 512;

/// What is known of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Existing guarded entries; of a guarded directory only itself.
    pub protected: Vec<PathBuf>,
    /// Guarded names that do not exist, in the root and in repositories below it.
    pub absent: Vec<PathBuf>,
    /// Those of them that only a configuration of git leads to.
    pub led: Vec<PathBuf>,
    /// The same of files that git reads where they exist.
    pub included: Vec<PathBuf>,
    /// Secrets; all of them.
    pub secrets: Vec<PathBuf>,
    /// What the caller's rules withhold; all of it.
    pub withheld: Vec<PathBuf>,
    /// How many entries were looked at.
    pub entries: u64,
    /// Directories that could not be opened: nobody with our rights can write there either.
    pub closed: u64,
}

impl Known {
    /// Adds what is known to `profile`.
    pub fn put_into(&self, profile: &mut Profile) {
        profile.protected.extend(self.protected.iter().cloned());
        profile.absent.extend(self.absent.iter().cloned());
        profile.led.extend(self.led.iter().cloned());
        profile.led.sort();
        profile.included.extend(self.included.iter().cloned());
        profile.included.sort();
        profile.secrets.extend(self.secrets.iter().chain(&self.withheld).cloned());
    }
}

/// Looks at the tree of `root`, an absolute resolved path, where the git of `person` works.
pub fn scan(root: &Path, person: &Personal) -> Known {
    scan_with(root, person, &|_| false)
}

/// The same; what `hidden` names is withheld with all below it.
pub fn scan_with(root: &Path, person: &Personal, hidden: &dyn Fn(&Path) -> bool) -> Known {
    let mut known = Known::default();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if let Ok(handle) = openat(CWD, root, flags, Mode::empty()) {
        let leads = Leads::new(person);
        let (buffer, crowds) = (Vec::new(), Vec::new());
        let mut walk = Walk { known: &mut known, root, hidden, leads, buffer, crowds, repositories: 0 };
        walk.directory(&handle, &mut root.to_path_buf(), 0);
        let has_git = is_directory(&root.join(".git"));
        walk.names(root, has_git);
        root.ancestors().skip(1).for_each(|above| walk.led(above));
        let crowds = walk.crowds;
        if known.secrets.len() > SECRETS_APART {
            together(&mut known.secrets, crowds);
        }
    } else {
        known.closed = 1;
    }
    known.protected.sort();
    known.protected.dedup();
    known.absent.sort();
    known.absent.dedup();
    for list in [&mut known.led, &mut known.included] {
        list.sort();
        list.dedup();
    }
    known.secrets.sort();
    known.secrets.dedup();
    known
}

/// Hides each directory of `crowds`, and not what it holds one by one.
fn together(secrets: &mut Vec<PathBuf>, crowds: Vec<PathBuf>) {
    let crowds: HashSet<PathBuf> = crowds.into_iter().collect();
    secrets.retain(|secret| !secret.ancestors().skip(1).any(|above| crowds.contains(above)));
    let top = |crowd: &&PathBuf| !crowd.ancestors().skip(1).any(|above| crowds.contains(above));
    secrets.extend(crowds.iter().filter(top).cloned());
}

/// The secrets at known places of `home` and of the system that exist, links followed.
pub fn secrets_at_home(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in secrets_of(home) {
        if lstat(&path).is_ok() {
            // The link's target is what holds the secret.
            found.push(std::fs::canonicalize(&path).unwrap_or(path));
        }
    }
    found.sort();
    found.dedup();
    found
}

struct Walk<'k> {
    known: &'k mut Known,
    root: &'k Path,
    hidden: &'k dyn Fn(&Path) -> bool,
    leads: Leads,
    buffer: Vec<u8>,
    /// Directories that hold many secrets and nothing else.
    crowds: Vec<PathBuf>,
    repositories: usize,
}

struct Entry {
    name: Vec<u8>,
    kind: FileType,
}

impl Walk<'_> {
    /// Whether there is something in it, and all of it is hidden.
    fn directory(&mut self, handle: &OwnedFd, path: &mut PathBuf, depth: usize) -> bool {
        let entries = self.list(handle);
        let (count, before) = (entries.len(), self.known.withheld.len());
        let secrets_before = self.known.secrets.len();
        let (mut withheld, mut hidden) = (0, 0);
        if makes_repository(|name| entries.iter().any(|entry| entry.name == name.as_bytes())) {
            self.unnamed(path);
        }
        for entry in entries {
            self.known.entries += 1;
            let name = OsStr::from_bytes(&entry.name);
            path.push(name);
            let class = classify(self.below(path));
            let mut kind = entry.kind;
            if kind == FileType::Unknown || class.guarded.is_some() || class.secret.is_some() {
                match statat(handle, name, AtFlags::SYMLINK_NOFOLLOW) {
                    // What an earlier run left is as good as absent.
                    Ok(stat) if class.guarded.is_some() && is_stand_in(&stat) => {
                        path.pop();
                        continue;
                    }
                    Ok(stat) => kind = FileType::from_raw_mode(stat.st_mode),
                    Err(_) => {}
                }
            }
            let is_directory = kind == FileType::Directory;
            if (self.hidden)(path) {
                self.known.withheld.extend(followed(path, self.root));
                withheld += 1;
                hidden += 1;
                path.pop();
                continue;
            }
            let is_git = entry.name == b".git";
            if class.guarded.is_some() && !(is_git && is_directory) {
                self.protect(path, kind);
            }
            if class.secret.is_some() && !is_directory {
                self.hide(path);
                hidden += 1;
            }
            if is_git && let Some(top) = path.parent() {
                self.led(top);
            }
            if is_git && is_directory {
                self.repository(path);
            } else if is_directory && depth < MAX_DEPTH && !SKIPPED.iter().any(|skip| skip.as_bytes() == entry.name) {
                // Below a guarded directory only secrets are of interest, and they are few.
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                match openat(handle, name, flags, Mode::empty()) {
                    Ok(inner) => hidden += usize::from(self.directory(&inner, path, depth + 1)),
                    Err(_) => self.known.closed += 1,
                }
            }
            path.pop();
        }
        let is_hidden = count > 0 && hidden == count;
        if depth > 0 && is_hidden && self.known.secrets.len() - secrets_before >= CROWD {
            self.crowds.push(path.clone());
        }
        if depth > 0 && withheld == count && count >= CROWD {
            let mut index = 0;
            self.known.withheld.retain(|one| {
                index += 1;
                index <= before || !one.starts_with(&path)
            });
            self.known.withheld.push(path.clone());
        }
        is_hidden
    }

    /// What leads from the root to `path`, which begins with it as it is spelled.
    fn below<'p>(&self, path: &'p Path) -> &'p Path {
        let behind = path.as_os_str().as_bytes().get(self.root.as_os_str().len()..).unwrap_or_default();
        Path::new(OsStr::from_bytes(behind.strip_prefix(b"/").unwrap_or(behind)))
    }

    /// What `handle` lists. All at once: the recursion shares one buffer.
    fn list(&mut self, handle: &OwnedFd) -> Vec<Entry> {
        let mut entries = Vec::new();
        self.buffer.reserve(32 << 10);
        let mut directory = RawDir::new(handle, self.buffer.spare_capacity_mut());
        while let Some(Ok(entry)) = directory.next() {
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                entries.push(Entry { name: name.to_vec(), kind: entry.file_type() });
            }
        }
        entries
    }

    /// Of a guarded directory only the top: what is below cannot change then.
    fn protect(&mut self, path: &Path, kind: FileType) {
        if self.known.protected.last().is_some_and(|last| path.starts_with(last)) {
            return;
        }
        self.known.protected.push(path.to_path_buf());
        // A link leads to what is really used; a `.git` file names the repository.
        let to = match kind {
            FileType::Symlink => std::fs::canonicalize(path).ok(),
            FileType::RegularFile if path.ends_with(".git") => pointed(path),
            _ => None,
        };
        if let Some(to) = to.filter(|to| to.starts_with(self.root) && to != self.root) {
            if to.join("HEAD").exists() && is_directory(&to) {
                self.repository(&to);
            } else {
                self.known.protected.push(to);
            }
        }
    }

    fn hide(&mut self, path: &Path) {
        self.known.secrets.extend(followed(path, self.root));
    }

    /// The guarded entries of a repository's own directory; its objects are not walked.
    fn repository(&mut self, git: &Path) {
        let Some(top) = git.parent() else { return };
        self.repositories += 1;
        if self.repositories > MAX_REPOSITORIES {
            return self.known.protected.push(git.to_path_buf());
        }
        for path in guarded_below(top, true) {
            let Ok(inside) = path.strip_prefix(top.join(".git")) else { continue };
            if inside.as_os_str().is_empty() {
                continue;
            }
            self.name(git.join(inside));
        }
        // Submodules keep their repositories in here: they are guarded as a whole by `modules`.
    }

    /// The same of a repository that is called anything but `.git`: nothing of this is guarded by its name.
    fn unnamed(&mut self, git: &Path) {
        self.repositories += 1;
        if self.repositories > MAX_REPOSITORIES {
            return self.known.protected.push(git.to_path_buf());
        }
        let common = little(&git.join("commondir")).and_then(|text| {
            let to = git.join(OsStr::from_bytes(&text));
            std::fs::canonicalize(to).ok().filter(|to| to.starts_with(self.root) && to != self.root)
        });
        for part in [Some(git.to_path_buf()), common].into_iter().flatten() {
            self.held(["config", "config.worktree"].map(|name| part.join(name)), true);
            self.held(["hooks", "commondir"].map(|name| part.join(name)), false);
        }
        self.led(git);
    }

    /// What git runs because the configuration of the repository in `dir` leads there, or the person's own.
    fn led(&mut self, dir: &Path) {
        let (run, included) = self.leads.apart(dir, self.root);
        self.held(run, false);
        self.held(included, true);
    }

    /// Guards paths that no name tells; something stands in for those that do not exist.
    fn held(&mut self, paths: impl IntoIterator<Item = PathBuf>, git_reads: bool) {
        for path in paths {
            if let Some(absent) = self.sorted(path.clone(), true) {
                // Where only the way to it is missing, nobody reads what stands in for that.
                match git_reads && absent == path {
                    true => self.known.included.push(absent.clone()),
                    false => self.known.led.push(absent.clone()),
                }
                self.known.absent.push(absent);
            }
        }
    }

    /// Guarded names of the root that the walk cannot see, because they do not exist.
    fn names(&mut self, root: &Path, has_git: bool) {
        for path in guarded_below(root, has_git) {
            if path != root.join(".git") || !has_git {
                self.name(path);
            }
        }
    }

    fn name(&mut self, path: PathBuf) {
        let stands_in = placeholder(&path).is_some();
        let absent = self.sorted(path, stands_in);
        self.known.absent.extend(absent);
    }

    /// Protects a guarded path that exists, or the link on the way to one. Of one that does not, what must not come to be:
    /// itself, or where something `stands_in`, the first part of the way that is missing.
    fn sorted(&mut self, path: PathBuf, stands_in: bool) -> Option<PathBuf> {
        match lstat(&path) {
            Ok(stat) if is_stand_in(&stat) => Some(path),
            Ok(_) => {
                self.known.protected.push(path);
                None
            }
            Err(_) => {
                // A link on the way would lead elsewhere: then the link is what must stay.
                let way =
                    path.ancestors().skip(1).take_while(|above| above.starts_with(self.root) && *above != self.root);
                let (there, missing): (Vec<&Path>, Vec<&Path>) = way.partition(|above| lstat(*above).is_ok());
                match there.into_iter().find(|above| !is_directory(above)) {
                    Some(other) if lstat(other).is_ok_and(|stat| is_stand_in(&stat)) => Some(other.to_path_buf()),
                    Some(link) => {
                        self.known.protected.push(link.to_path_buf());
                        None
                    }
                    None if stands_in => {
                        let first = missing.last().map(|first| first.to_path_buf());
                        Some(first.unwrap_or(path))
                    }
                    None => Some(path),
                }
            }
        }
    }
}

/// Directories of the system, where a link in a root may lead without hiding anything: what is secret there is known by its
/// own name, and nothing runs without the rest.
const OF_THE_SYSTEM: [&str; 11] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/dev", "/proc", "/sys"];

/// What is to be hidden for `path` to be: of a link, what it leads to. Anybody may have put it there, so it hides neither
/// the root itself nor the system.
fn followed(path: &Path, root: &Path) -> Option<PathBuf> {
    if readlink(path, Vec::new()).is_err() {
        return Some(path.to_path_buf());
    }
    let to = std::fs::canonicalize(path).ok()?;
    let is_needed = root.starts_with(&to) || OF_THE_SYSTEM.iter().any(|dir| to.starts_with(dir));
    (!is_needed || classify(&to).secret.is_some()).then_some(to)
}

/// Where a `.git` file points. Git takes it for one name, which may have ends of lines in its middle, and stops at a NUL.
fn pointed(file: &Path) -> Option<PathBuf> {
    let text = little(file)?;
    let to = text.strip_prefix(b"gitdir: ")?.split(|byte| *byte == 0).next()?;
    std::fs::canonicalize(file.parent()?.join(OsStr::from_bytes(to))).ok()
}

/// Whether a directory stands there, and not what stands in for one that does not.
fn is_directory(path: &Path) -> bool {
    let is =
        |stat: &rustix::fs::Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory && !is_stand_in(stat);
    lstat(path).is_ok_and(|stat| is(&stat))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn all_that_is_secret_or_withheld_is_hidden_in_crowds_as_one() {
        let scene = tempfile::tempdir().unwrap();
        let root = scene.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("deep/er")).unwrap();
        const MANY: usize = SECRETS_APART + 40;
        for n in 0..MANY {
            fs::write(root.join(format!("deep/er/{n}.dat")), "x").unwrap();
            fs::write(root.join(format!("deep/er/{n}.pem")), "x").unwrap();
        }
        fs::write(root.join("near.pem"), "x").unwrap();
        let by_end = |path: &Path| path.extension().is_some_and(|end| end == "dat");
        let known = scan_with(&root, &Personal::default(), &by_end);
        assert_eq!((known.withheld.len(), known.secrets.len()), (MANY, 2), "{:?}", known.secrets);
        assert_eq!(known.secrets, [root.join("deep"), root.join("near.pem")]);
        // What else lies beside them stays to be seen, and then each is hidden for itself, the deepest, too.
        fs::create_dir(root.join("deep/er/est")).unwrap();
        fs::write(root.join("deep/er/est/.env"), "x").unwrap();
        let known = scan(&root, &Personal::default());
        assert_eq!(known.secrets.len(), MANY + 2);
        assert!(known.secrets.contains(&root.join("deep/er/est/.env")));
        let mut profile = Profile::new(nika_guard::profile::Access::ReadOnly, &root, &root);
        known.put_into(&mut profile);
        assert_eq!(profile.secrets.len(), MANY + 2);
        // So it is with all of few, as new files can be put beside them.
        fs::remove_dir_all(root.join("deep")).unwrap();
        fs::create_dir(root.join("certs")).unwrap();
        for n in 0..CROWD * 2 {
            fs::write(root.join(format!("certs/{n}.pem")), "x").unwrap();
        }
        assert_eq!(scan(&root, &Personal::default()).secrets.len(), CROWD * 2 + 1);
        fs::create_dir_all(root.join("deep/er")).unwrap();
        for n in 0..CROWD {
            fs::write(root.join(format!("deep/er/{n}")), "x").unwrap();
        }
        // A directory of which all is withheld is one entry.
        let known = scan_with(&root, &Personal::default(), &|path| {
            path.starts_with(root.join("deep/er/")) && path != root.join("deep/er")
        });
        assert_eq!(known.withheld, [root.join("deep/er")]);
    }

    #[test]
    fn a_git_file_is_read_as_far_as_such_a_file_goes() {
        let scene = tempfile::tempdir().unwrap();
        let root = scene.path().canonicalize().unwrap();
        for (top, own, end) in [("plain", "own", "\n"), ("odd", "o\nwn", "\r\n"), ("more", "other", "\0and more")] {
            fs::create_dir_all(root.join(own).join("hooks")).unwrap();
            fs::write(root.join(own).join("HEAD"), "x").unwrap();
            fs::create_dir(root.join(top)).unwrap();
            fs::write(root.join(top).join(".git"), format!("gitdir: ../{own}{end}")).unwrap();
        }
        // Takes no room on the disk, and all of it in memory where it is read whole.
        fs::create_dir(root.join("huge")).unwrap();
        fs::File::create(root.join("huge/.git")).unwrap().set_len(1 << 30).unwrap();
        let most_resident_kib = || -> u64 {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
            line.trim().trim_end_matches(" kB").parse().unwrap()
        };
        let before = most_resident_kib();
        let known = scan(&root, &Personal::default());
        for name in ["plain/.git", "odd/.git", "huge/.git", "own/hooks", "o\nwn/hooks", "other/hooks"] {
            assert!(known.protected.contains(&root.join(name)), "{name:?} in {:?}", known.protected);
        }
        let grown = most_resident_kib() - before;
        assert!(grown < 512 << 10, "{grown} KiB for a file of git's");
    }

    #[test]
    fn a_tree_says_what_is_guarded_secret_and_absent() {
        let scene = tempfile::tempdir().unwrap();
        let root = scene.path().canonicalize().unwrap();
        for directory in [".git/hooks", ".git/objects/ab", "sub/.git", "a/.vscode", "node_modules/x/.vscode", "deep/b"]
        {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for file in [".git/config", "sub/.git/config", "a/.vscode/tasks.json", ".env", "deep/b/server.pem", "x.rs"] {
            fs::write(root.join(file), "x").unwrap();
        }
        std::os::unix::fs::symlink("deep", root.join(".claude")).unwrap();
        let known = scan(&root, &Personal::default());
        let below = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().map(|path| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(
            below(&known.protected),
            [".claude", ".git/config", ".git/hooks", "a/.vscode", "deep", "sub/.git/config"]
        );
        assert_eq!(below(&known.secrets), [".env", "deep/b/server.pem"]);
        let absent = below(&known.absent);
        for name in [".envrc", ".mcp.json", ".vscode", ".git/modules", "sub/.git/hooks", ".github/workflows"] {
            assert!(absent.contains(&name.to_owned()), "{name} in {absent:?}");
        }
        for name in [".git", ".claude", ".git/hooks", ".git/rebase-merge"] {
            assert!(!absent.contains(&name.to_owned()), "{name} in {absent:?}");
        }
    }
}
