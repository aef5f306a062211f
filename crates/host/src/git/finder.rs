//! What git would find in a directory, without starting git: its configuration, that of the person and the system, and
//! that of the repositories in it which git looks into by itself.
//!
//! More is taken for found than git would take: every included file, whatever its condition, and each submodule. What
//! cannot be read as git reads it is said to be unknown, so that nobody takes a repository for tame that is only odd.

mod elsewhere;
mod links;
mod spelled;

use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use nika_guard::repository::{Repositories, Repository, Setting, config};
use rustix::fs::OFlags;

use self::elsewhere::{Bounds, Set};
use super::{Personal, index, leads};

/// Bytes of one configuration. 1 MiB: a clone of thousands of branches has some hundred kilobytes.
pub(super) const CONFIG_BYTES: u64 = 1 << 20;
/// Bytes of one index: some five million files.
pub(crate) const INDEX_BYTES: u64 = 512 << 20;
/// Bytes of a file that names a directory.
const POINTER_BYTES: u64 = 8 << 10;
/// How deep files include each other, as in git.
pub(super) const INCLUDES: usize = 10;
/// Files that are included in all, there or not: ten lines in each of ten files that include each other would be read
/// ten thousand million times. Default 64.
pub(super) const INCLUDED: usize = 64;
/// Repositories in one, itself counted. Default 64.
const REPOSITORIES: usize = 64;
/// Entries of one directory that are looked at for names. Default 10,000, some milliseconds.
const ENTRIES: usize = 10_000;
/// Directories that are looked at for the submodules of one repository.
const MODULE_DIRECTORIES: usize = 1024;

/// Where the system's configuration lies in the gits that there are.
pub(super) const SYSTEM: &[&str] = &["/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"];

/// Variables that tell git of another repository than the one it would find.
const ELSEWHERE: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_CEILING_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Sections of a repository's configuration that have names in them, and in which git finds no fault before it needs them.
/// For a mistake elsewhere it would print nothing.
const NAMED: &[&str] = &["remote.", "branch.", "submodule.", "filter.", "url."];

/// Settings of `core` that `git init` writes, which are true or false.
const WRITTEN: &[&str] = &[
    "core.bare",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.symlinks",
];

/// Looks, and remembers what it saw: one is made for each judgement, so that all of one judgement see the same.
#[derive(Debug)]
pub struct Finder {
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
    personal: Vec<PathBuf>,
    /// The environment tells git where a repository lies.
    told: bool,
    seen: Mutex<HashMap<PathBuf, Arc<Repository>>>,
}

impl Finder {
    /// Git as it would run with `env`; what lies below `roots` is nobody's own.
    pub fn new(env: &[(String, String)], roots: Vec<PathBuf>) -> Finder {
        let variable = |wanted: &str| env.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone());
        let person = Personal::of(variable);
        let personal = SYSTEM.iter().map(PathBuf::from).chain(person.files()).collect();
        let told = env.iter().any(|(name, _)| ELSEWHERE.contains(&name.as_str()));
        Finder { roots, home: person.home().map(Path::to_owned), personal, told, seen: Mutex::default() }
    }
}

impl Repositories for Finder {
    fn at(&self, dir: &Path) -> Arc<Repository> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let found = seen.entry(dir.to_owned()).or_insert_with(|| {
            let mut look = Look {
                finder: self,
                dir: dir.to_owned(),
                found: Repository::default(),
                visited: HashSet::new(),
                included: 0,
            };
            look.all();
            Arc::new(look.found)
        });
        Arc::clone(found)
    }

    fn top(&self, dir: &Path) -> Option<PathBuf> {
        if self.told {
            return None;
        }
        let dir = dir.canonicalize().ok()?;
        let is_dir = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        // The first that has anything of that name, and no repository without a work tree below it.
        let top = dir.ancestors().find(|dir| is_git(dir) || dir.join(".git").symlink_metadata().is_ok())?;
        let git = top.join(".git");
        if is_git(top) || !is_dir(&git) || !["objects", "refs"].iter().all(|name| is_dir(&git.join(name))) {
            return None;
        }
        // Git trusts none that belongs to another user, and none whose `HEAD` it does not understand.
        let user = rustix::process::geteuid().as_raw();
        let ours = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.uid() == user);
        let head = git.join("HEAD");
        let plain = head.symlink_metadata().is_ok_and(|meta| meta.is_file());
        let head = read(&head, POINTER_BYTES).ok().flatten()?;
        let named =
            head.strip_prefix(b"ref: refs/heads/").is_some_and(|name| name.trim_ascii().len() + 1 == name.len());
        let hash =
            head.strip_suffix(b"\n").is_some_and(|hash| hash.len() == 40 && hash.iter().all(u8::is_ascii_hexdigit));
        if !ours(top) || !ours(&git) || !plain || !(named || hash) || git.join("commondir").symlink_metadata().is_ok() {
            return None;
        }
        let text = read(&git.join("config"), CONFIG_BYTES).ok().flatten()?;
        let fine = |(key, value): &(String, String)| match key.as_str() {
            "core.repositoryformatversion" => value == "0",
            // A repository without a work tree has no top.
            "core.bare" => value == "false",
            key if WRITTEN.contains(&key) => matches!(value.as_str(), "true" | "false"),
            "user.name" | "user.email" => !value.is_empty(),
            key if key.starts_with("lfs.") => true,
            key => NAMED.iter().any(|start| key.starts_with(start)) && key.matches('.').count() > 1,
        };
        config::read(&text).is_ok_and(|settings| settings.iter().all(fine)).then(|| top.to_owned())
    }

    fn links(&self, pattern: &Path) -> Option<Vec<PathBuf>> {
        links::meant(&self.roots, pattern)
    }

    fn has_python_module(&self, dir: &Path, names: &[&str]) -> bool {
        let Ok(entries) = fs::read_dir(dir) else { return false };
        let named = |name: &str| match name.split_once('.') {
            Some((name, rest)) => {
                let ending = rest.rsplit('.').next().unwrap_or_default();
                names.contains(&name) && matches!(ending, "py" | "pyc" | "so" | "pyd")
            }
            // A directory without such a file yields to the module that is installed.
            None => {
                let inits = ["__init__.py", "__init__.pyc", "__init__.so"];
                names.contains(&name) && inits.iter().any(|init| dir.join(name).join(init).exists())
            }
        };
        // Where there is too much to look at, it is taken to be there.
        let mut seen = 0;
        entries.flatten().any(|entry| {
            seen += 1;
            seen > ENTRIES || entry.file_name().to_str().is_some_and(named)
        })
    }

    fn has_file(&self, dir: &Path, names: &[&str], text: &str) -> bool {
        let inside = |dir: &&Path| self.roots.iter().any(|root| dir.starts_with(root));
        let there = |path: PathBuf| match text {
            "" => path.exists(),
            // What cannot be read, or not to its end, may say it.
            text => match read(&path, CONFIG_BYTES) {
                Ok(None) => false,
                Ok(Some(bytes)) => spelled::says(&bytes, text),
                Err(_) => true,
            },
        };
        dir.ancestors().take_while(inside).any(|dir| names.iter().any(|name| there(dir.join(name))))
    }
}

/// One look.
struct Look<'f> {
    finder: &'f Finder,
    /// Where the command begins.
    dir: PathBuf,
    found: Repository,
    visited: HashSet<PathBuf>,
    /// Files that were included so far.
    included: usize,
}

/// A repository's own directory, and the top of its work tree.
pub(super) struct Found {
    pub(super) git: PathBuf,
    pub(super) top: PathBuf,
}

impl Look<'_> {
    fn all(&mut self) {
        for file in &self.finder.personal {
            self.file(file, true, 0);
        }
        // A directory that the command makes first lies in the repository of those above it.
        let Some(dir) = self.dir.ancestors().find_map(|dir| dir.canonicalize().ok()) else { return };
        match discover(&dir) {
            Ok(Some(found)) => self.repository(found),
            Ok(None) => {}
            Err(why) => self.unknown(why),
        }
    }

    fn bounds(&self) -> Bounds<'_> {
        Bounds { roots: &self.finder.roots, home: self.finder.home.as_deref() }
    }

    fn unknown(&mut self, why: String) {
        self.found.unknown.get_or_insert(why);
    }

    fn repository(&mut self, Found { git, top }: Found) {
        let git = git.canonicalize().unwrap_or(git);
        if !self.visited.insert(git.clone()) {
            return;
        }
        if self.visited.len() > REPOSITORIES {
            return self.unknown(format!("it holds more than {REPOSITORIES} repositories"));
        }
        let common = match pointer(&git.join("commondir")) {
            Ok(Some(to)) => git.join(to),
            Ok(None) => git.clone(),
            Err(why) => return self.unknown(why),
        };
        let first = self.found.settings.len();
        self.file(&common.join("config"), false, 0);
        self.file(&git.join("config.worktree"), false, 0);
        let own: Vec<Setting> = self.found.settings.get(first..).unwrap_or_default().to_vec();
        if self.found.unknown.is_some() {
            return;
        }
        let found = Found { git, top };
        let set = Set::new(&own, &found, &self.dir);
        match self.bounds().read_by(&found, &common, &set) {
            Ok(places) => self.found.elsewhere.extend(places),
            Err(why) => return self.unknown(why),
        }
        match self.bounds().read_for_signatures(&found, &set) {
            Ok(places) => self.found.signers.extend(places),
            Err(why) => drop(self.found.unknown_signers.get_or_insert(why)),
        }
        // Each value counts, not the last alone: that may stand in a file whose condition git finds false.
        let values = |key: &'static str| own.iter().filter(move |setting| setting.key == key).map(|s| s.value.as_str());
        let mut configured = Vec::new();
        for value in values("core.hookspath") {
            for reading in leads::readings(value) {
                let Some(hooks) = leads::written(reading, self.finder.home.as_deref()) else {
                    return self.unknown(format!("`core.hookspath` leads to `{value}`"));
                };
                configured.extend(set.stands.iter().map(|dir| dir.join(&hooks)));
            }
        }
        for dir in std::iter::once(common.join("hooks")).chain(configured) {
            let hook = dir.join("post-index-change");
            if hook.exists() {
                let value = hook.display().to_string();
                self.found.settings.push(Setting { key: "hook.post-index-change".to_owned(), value, own: false });
            }
        }
        let mut formats = values("extensions.objectformat").map(|format| format.eq_ignore_ascii_case("sha256"));
        let long = formats.next().unwrap_or_default();
        if formats.any(|other| other != long) {
            return self.unknown(format!("{} has two formats of objects", common.display()));
        }
        match linked(&found.git, long) {
            Ok(links) => set.tops(&found).for_each(|top| links.iter().for_each(|link| self.submodule(&top.join(link)))),
            Err(why) => self.unknown(why),
        }
        self.modules(&common.join("modules"));
    }

    /// A repository in the work tree, where there is one.
    fn submodule(&mut self, dir: &Path) {
        match here(dir) {
            Ok(Some(found)) => self.repository(found),
            Ok(None) => {}
            Err(why) => self.unknown(why),
        }
    }

    /// What a repository keeps of its submodules; their names may have slashes.
    fn modules(&mut self, dir: &Path) {
        let (mut left, mut looked) = (vec![dir.to_owned()], 0);
        while let Some(dir) = left.pop() {
            looked += 1;
            if looked > MODULE_DIRECTORIES {
                return self.unknown(format!("{} holds too many directories", dir.display()));
            }
            if is_git(&dir) {
                let top = dir.clone();
                self.repository(Found { git: dir, top });
                continue;
            }
            let Ok(entries) = fs::read_dir(&dir) else { continue };
            left.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()));
        }
    }

    /// The settings of one file, and of those that it includes. A condition is taken for true. Once something is
    /// unknown nothing more is read: nobody relies on what would be found.
    fn file(&mut self, path: &Path, own: bool, depth: usize) {
        if self.found.unknown.is_some() {
            return;
        }
        let text = match read(path, CONFIG_BYTES) {
            Ok(Some(text)) => text,
            Ok(None) => return,
            // What the person's own git cannot read it does without.
            Err(_) if own => return,
            Err(error) => return self.unknown(format!("{}: {error}", path.display())),
        };
        let settings = match config::read(&text) {
            Ok(settings) => settings,
            Err(line) => return self.unknown(format!("line {line} of {} cannot be read", path.display())),
        };
        for (key, value) in settings {
            let includes = leads::includes(&key);
            let names_place = includes || matches!(key.as_str(), "core.worktree" | "core.hookspath");
            if names_place && value.contains(['\u{fffd}', '\0']) {
                return self.unknown(format!("{} sets `{key}` to a path that is not UTF-8 text", path.display()));
            }
            if !includes {
                self.found.settings.push(Setting { key, value, own });
                continue;
            }
            for reading in leads::readings(&value) {
                let Some(included) = leads::written(reading, self.finder.home.as_deref()) else {
                    return self.unknown(format!("{} includes `{value}`", path.display()));
                };
                self.include(path, &included, own, depth);
                if self.found.unknown.is_some() {
                    return;
                }
            }
        }
    }

    /// What `path` includes.
    fn include(&mut self, path: &Path, included: &Path, own: bool, depth: usize) {
        let included = path.parent().unwrap_or(Path::new("/")).join(included);
        if depth == INCLUDES {
            return self.unknown(format!("{} includes more than {INCLUDES} deep", path.display()));
        }
        self.included += 1;
        if self.included > INCLUDED {
            return self.unknown(format!("{} includes more than {INCLUDED} files", path.display()));
        }
        let real = included.canonicalize().unwrap_or_else(|_| included.clone());
        if self.bounds().outside(path).is_none() {
            self.found.elsewhere.extend(self.bounds().outside(&included));
        }
        let brought = self.finder.roots.iter().any(|root| real.starts_with(root) || included.starts_with(root));
        self.file(&included, own && !brought, depth + 1);
    }
}

/// The repository that `dir`, or what lies above it, belongs to.
fn discover(dir: &Path) -> Result<Option<Found>, String> {
    for dir in dir.ancestors() {
        if let Some(found) = here(dir)? {
            return Ok(Some(found));
        }
        // One without a work tree.
        if is_git(dir) && dir.join("objects").exists() && dir.join("refs").exists() {
            return Ok(Some(Found { git: dir.to_owned(), top: dir.to_owned() }));
        }
    }
    Ok(None)
}

/// The repository whose work tree has its top here.
pub(super) fn here(dir: &Path) -> Result<Option<Found>, String> {
    let git = dir.join(".git");
    let top = dir.to_owned();
    match fs::metadata(&git) {
        Ok(meta) if meta.is_dir() => Ok(is_git(&git).then_some(Found { git, top })),
        Ok(meta) if meta.is_file() => match pointer(&git)? {
            Some(to) => Ok(Some(Found { git: dir.join(to), top })),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

fn is_git(dir: &Path) -> bool {
    dir.join("HEAD").symlink_metadata().is_ok()
}

/// What a file of one line names: `gitdir: PATH`, or a path alone.
pub(super) fn pointer(file: &Path) -> Result<Option<PathBuf>, String> {
    let odd = |why: String| format!("{}: {why}", file.display());
    let Some(text) = read(file, POINTER_BYTES).map_err(|error| odd(error.to_string()))? else { return Ok(None) };
    let line = text.strip_suffix(b"\n").unwrap_or(&text);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let path = line.strip_prefix(b"gitdir: ").unwrap_or(line);
    if path.is_empty() || path.contains(&b'\n') || path.contains(&0) {
        return Err(odd("it names no directory".to_owned()));
    }
    Ok(Some(PathBuf::from(std::ffi::OsStr::from_bytes(path))))
}

/// The repositories that the index of `git` links to. A split index has one shared one, which has none of its own.
fn linked(git: &Path, long: bool) -> Result<Vec<PathBuf>, String> {
    let Some(own) = index_at(&git.join("index"), long)? else { return Ok(Vec::new()) };
    let mut out = own.links;
    if let Some(name) = own.shared {
        let file = git.join(format!("sharedindex.{name}"));
        if let Some(shared) = index_at(&file, long)? {
            if shared.shared.is_some() {
                return Err(format!("{}: it is a shared index that names another one", file.display()));
            }
            out.extend(shared.links);
        }
    }
    Ok(out)
}

fn index_at(file: &Path, long: bool) -> Result<Option<index::Links>, String> {
    let odd = |why: &str| format!("{}: {why}", file.display());
    match read(file, INDEX_BYTES).map_err(|error| odd(&error.to_string()))? {
        Some(bytes) => index::links(&bytes, long).map(Some).ok_or_else(|| odd("it cannot be read")),
        None => Ok(None),
    }
}

/// A file's bytes; none where there is no file. What is no regular file is not waited for.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY).bits()).unwrap_or_default();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    if meta.len() > most {
        return Err(io::Error::other(format!("it is longer than {most} bytes")));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default());
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

#[cfg(test)]
#[path = "finder/tests.rs"]
mod tests;
