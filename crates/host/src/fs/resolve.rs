//! From what a caller wrote to the place it means. The kernel follows the links; nothing is opened
//! but handles that can neither read nor write.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use nika_contract::{ToolError, code};
use nika_guard::Place;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2, readlinkat};
use rustix::io::Errno;

use super::{Workspace, errno, reopen_as_owner};
use crate::sandbox::{is_below_stand_in, owner};

/// How often a path is looked up again when what it named was just replaced. A deleted file that a process
/// still holds never gets a name again.
const MAX_TRIES: u32 = 100;

/// Links to nothing on the way of one path. As many as the kernel follows of others.
const MAX_LINKS: usize = 40;

/// The longest path the system takes, in bytes.
const PATH_MAX: usize = 4096;

impl Workspace {
    /// The place that `text` names, whether it exists or not. The last link is followed.
    pub fn locate(&self, text: &str) -> Result<Place, ToolError> {
        Ok(self.with_git(self.locate_without_git(text)?))
    }

    /// The same for a file that is to be written. The system would refuse a path that ends in a slash, which names a
    /// directory; with the slash dropped a file would stand where a directory was meant.
    pub fn locate_file(&self, text: &str) -> Result<Place, ToolError> {
        let place = self.locate(text)?;
        no_directory(text)?;
        Ok(place)
    }

    /// The same for what is only read, or was judged before: whether git is configured to run it is not looked at, as
    /// that bears on the decision to write it alone.
    pub fn locate_without_git(&self, text: &str) -> Result<Place, ToolError> {
        let path = self.meant(text)?;
        let place = self.place(self.resolve(&path, text)?);
        Ok(self.with_name(place, &path))
    }

    /// The same for a path of a command, which may change what stands in its way before: what is named below a file lies
    /// where the file does.
    pub fn locate_in_command(&self, text: &str) -> Result<Place, ToolError> {
        let path = self.absolute(text)?;
        Ok(self.with_name(self.with_git(self.place(self.in_command(&path, text)?)), &path))
    }

    /// The same of an entry that the command removes: a link at the end is not followed.
    pub fn locate_entry_in_command(&self, text: &str) -> Result<Place, ToolError> {
        let path = self.absolute(text)?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return self.locate_in_command(text);
        };
        Ok(self.with_name(self.with_git(self.place(self.in_command(parent, text)?.join(name))), &path))
    }

    fn in_command(&self, path: &Path, text: &str) -> Result<PathBuf, ToolError> {
        let mut way = path.to_path_buf();
        for _ in 0..MAX_LINKS {
            match self.resolved(&way, text, &[Errno::NOENT, Errno::NOTDIR]) {
                // A link that points to nothing names the place that it points to.
                Err(error) if error.code == code::OUT_OF_BOUNDS => match self.behind_its_link(&way) {
                    Some(behind) => way = behind,
                    None => return Err(error),
                },
                resolved => return resolved,
            }
        }
        Err(ToolError::new(code::OUT_OF_BOUNDS, format!("'{text}' goes through too many links")))
    }

    /// The path with the link followed at which it stops, where it stops at one. A link of `/proc` is another to each process
    /// that looks, so nobody knows where it leads a command.
    fn behind_its_link(&self, path: &Path) -> Option<PathBuf> {
        let is_known =
            |link: &OwnedFd| rustix::fs::fstatfs(link).is_ok_and(|fs| fs.f_type != rustix::fs::PROC_SUPER_MAGIC);
        let target = |above| {
            let link = self.reach(above, OFlags::NOFOLLOW).ok()?;
            let target = readlinkat(&link, "", Vec::new()).ok()?.into_bytes();
            Some(is_known(&link).then(|| PathBuf::from(OsString::from_vec(target))))
        };
        let (link, target) = path.ancestors().find_map(|above| Some((above, target(above)?)))?;
        let target = target?;
        let rest = path.strip_prefix(link).ok()?;
        let behind = link.parent()?.join(target);
        Some(if rest.as_os_str().is_empty() { behind } else { behind.join(rest) })
    }

    /// The place of the entry itself: a link at the end is not followed. For moving and deleting.
    pub fn locate_entry(&self, text: &str) -> Result<Place, ToolError> {
        let path = self.meant(text)?;
        no_directory(text)?;
        match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => {
                let place = self.with_git(self.place(self.resolve(parent, text)?.join(name)));
                Ok(self.with_name(place, &path))
            }
            _ => Err(ToolError::new(code::NOT_A_FILE, format!("'{text}' names no file"))),
        }
    }

    /// `place`, remembering the path it was written as when a link led from there to here, and the paths in between when
    /// that link led to another: a rule may be on any of these names.
    fn with_name(&self, place: Place, written: &Path) -> Place {
        if written == place.path {
            return place;
        }
        let mut names = vec![plain(written)];
        while let Some(next) = names.last().and_then(|name| self.behind_its_first_link(name))
            && next != place.path
            && names.len() < MAX_LINKS
        {
            names.push(next);
        }
        names.retain(|name| *name != place.path);
        let by_name = names.into_iter().map(|name| self.place(name)).reduce(|chain, name| name.written_as(chain));
        match by_name {
            Some(named) => place.written_as(named),
            None => place,
        }
    }

    /// The path with the first of its links followed, if it has one.
    fn behind_its_first_link(&self, path: &Path) -> Option<PathBuf> {
        let mut ways: Vec<&Path> = path.ancestors().collect();
        ways.reverse();
        let (way, target) = ways.into_iter().find_map(|way| Some((way, self.target(way)?)))?;
        let rest = path.strip_prefix(way).ok()?;
        Some(plain(&way.parent()?.join(target).join(rest)))
    }

    fn absolute(&self, text: &str) -> Result<PathBuf, ToolError> {
        if text.is_empty() {
            return Err(ToolError::new(code::BAD_PATH, "the path is empty")
                .hint("give a path below the root, such as `src/main.rs`"));
        }
        if text.contains('\0') {
            return Err(ToolError::new(code::BAD_PATH, "the path holds a NUL character"));
        }
        if text.len() >= PATH_MAX {
            return Err(ToolError::new(
                code::BAD_PATH,
                format!("the path is {} bytes long; the system takes fewer than {PATH_MAX}", text.len()),
            ));
        }
        let below_home = text.strip_prefix("~/").or((text == "~").then_some(""));
        Ok(match (below_home, &self.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => self.root().join(text),
        })
    }

    /// What a caller that saw names in answers means by a path. A command's paths mean what they are to its shell.
    fn meant(&self, text: &str) -> Result<PathBuf, ToolError> {
        let path = self.absolute(text)?;
        if text.contains(char::REPLACEMENT_CHARACTER) { self.shown_so(&path, text) } else { Ok(path) }
    }

    /// The path whose names are shown as `path` has them. A name below a root that is no UTF-8 is shown with `\u{fffd}`, and
    /// so it is named in answer: it means the one entry that is shown so, unless something has that very name.
    fn shown_so(&self, path: &Path, text: &str) -> Result<PathBuf, ToolError> {
        let mut real = PathBuf::new();
        for part in path.components() {
            let name = part.as_os_str();
            let is_odd = name.to_str().is_some_and(|name| name.contains(char::REPLACEMENT_CHARACTER));
            let looks =
                is_odd && self.root_of(&real).is_some() && self.reach(&real.join(name), OFlags::NOFOLLOW).is_err();
            let mut found = if looks { self.shown_as(&real, name) } else { Vec::new() };
            if found.len() > 1 {
                let message =
                    format!("'{text}' may be any of {} names that are no UTF-8 and are shown so", found.len());
                return Err(ToolError::new(code::BAD_PATH, message)
                    .hint("give them other names first: a command can tell them apart, by a pattern or in a script"));
            }
            match found.pop() {
                Some(found) => real.push(found),
                None => real.push(part),
            }
        }
        Ok(real)
    }

    /// Names in a directory that are no UTF-8 and are shown as `name`.
    fn shown_as(&self, dir: &Path, name: &OsStr) -> Vec<OsString> {
        let opened = self.reach(dir, OFlags::DIRECTORY).and_then(|dir| reopen_as_owner(&dir, OFlags::DIRECTORY));
        let Ok(entries) = opened.and_then(rustix::fs::Dir::new) else { return Vec::new() };
        let names = entries.flatten().map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
        names.filter(|other| other.to_str().is_none() && OsStr::new(&*other.to_string_lossy()) == name).collect()
    }

    /// Whether the kernel's name for a handle is that of a file whose name is gone: it says so at its end.
    fn was_replaced(&self, real: &Path) -> bool {
        real.as_os_str().as_bytes().ends_with(b" (deleted)") && self.reach(real, OFlags::NOFOLLOW).is_err()
    }

    fn resolve(&self, path: &Path, text: &str) -> Result<PathBuf, ToolError> {
        self.resolved(path, text, &[Errno::NOENT])
    }

    /// Where a link points.
    fn target(&self, path: &Path) -> Option<PathBuf> {
        let target = match readlinkat(&self.slash, strip_slash(path), Vec::new()) {
            Err(Errno::ACCESS) => readlinkat(self.reach(path, OFlags::NOFOLLOW).ok()?, "", Vec::new()),
            other => other,
        };
        Some(PathBuf::from(OsString::from_vec(target.ok()?.into_bytes())))
    }

    /// What stands at a path, its links followed, the last one by these flags. What is in a directory of a root that its own
    /// owner may not look into, a command can come to all the same.
    fn reach(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let (below, flags) = (strip_slash(path), flags | OFlags::PATH | OFlags::CLOEXEC);
        match openat2(&self.slash, below, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS) {
            Err(Errno::ACCESS) if self.root_of(path).is_some() => {
                let below = CString::new(below.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)?;
                owner::opened(|| openat2(&self.slash, &*below, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS))
            }
            other => other,
        }
    }

    /// Follows every link of `path` as far as it exists; what does not exist, by these errors, is added as written.
    fn resolved(&self, path: &Path, text: &str, missing_by: &[Errno]) -> Result<PathBuf, ToolError> {
        let mut existing = path.to_path_buf();
        let mut missing: Vec<OsString> = Vec::new();
        let mut tries = 0;
        loop {
            match self.reach(&existing, OFlags::empty()) {
                Ok(fd) => {
                    let mut real = Self::path_of(&fd)
                        .map_err(|error| errno(&format!("resolve '{text}'"), error, code::READ_FAILED))?;
                    // Renamed over between the open and the look at its name: what stands there now counts.
                    if self.was_replaced(&real) && tries < MAX_TRIES {
                        tries += 1;
                        continue;
                    }
                    real.extend(missing.iter().rev());
                    return Ok(real);
                }
                // What stands in for a guarded name is nothing, so nothing is below it.
                Err(error) if missing_by.contains(&error) || error == Errno::NOTDIR && is_below_stand_in(&existing) => {
                    // A link that points nowhere exists as an entry: writing through it would land elsewhere.
                    if self.target(&existing).is_some() {
                        return Err(ToolError::new(
                            code::OUT_OF_BOUNDS,
                            format!("'{text}' goes through a link that points to nothing"),
                        ));
                    }
                    match existing.components().next_back() {
                        Some(Component::Normal(name)) => missing.push(name.to_owned()),
                        _ => {
                            return Err(ToolError::new(
                                code::NOT_FOUND,
                                format!("'{text}' goes up from a directory that does not exist"),
                            ));
                        }
                    }
                    existing.pop();
                }
                Err(error) => return Err(errno(&format!("resolve '{text}'"), error, code::READ_FAILED)),
            }
        }
    }
}

/// A path without `.` and `..`, by its text alone.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::with_capacity(path.as_os_str().len());
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Refuses a path whose end says that a directory is meant.
fn no_directory(text: &str) -> Result<(), ToolError> {
    match text.ends_with('/') || text.ends_with("/.") {
        true => Err(ToolError::new(code::NOT_A_FILE, format!("'{text}' ends as only a directory's path does"))
            .hint("name the file; directories on the way to it are made with it")),
        false => Ok(()),
    }
}

/// `openat2` from the handle of `/` wants a path without the leading slash.
fn strip_slash(path: &Path) -> &Path {
    match path.strip_prefix("/") {
        Ok(below) if below.as_os_str().is_empty() => Path::new("."),
        Ok(below) => below,
        Err(_) => path,
    }
}
