//! Hears of names under which somebody outside puts something else: of what is hidden from a command, and of what is
//! guarded from it.
//!
//! One instance of inotify tells of both, as a user has few of them (128 as a rule).

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nika_guard::classify;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::kept::Kept;

/// Bytes of news that are read at once, and how often before something else gets its turn.
const NEWS_BYTES: usize = 8 << 10;
const READS: usize = 64;

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    /// Something was put under these names.
    Replaced(Replaced),
    /// A directory that leads to such a name was made or put there: nobody watches that one yet.
    Way,
}

/// Names under which something else was put.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Replaced {
    /// Hidden ones.
    pub(super) hidden: Vec<PathBuf>,
    /// Guarded ones.
    pub(crate) guarded: Vec<PathBuf>,
    /// Whether nobody had watched before, so that it may have been any of the hidden.
    pub(super) begins: bool,
}

/// Hears of names that come to be in the directories of what is hidden or guarded, and in those that lead there.
#[derive(Debug)]
pub(super) struct Watch {
    fd: OwnedFd,
    directories: HashMap<i32, Directory>,
}

#[derive(Debug, Default)]
struct Directory {
    path: PathBuf,
    hidden: HashSet<OsString>,
    guarded: HashSet<OsString>,
    leading: HashSet<OsString>,
    /// Whether it is guarded with all that comes to be in it.
    whole: bool,
    /// Whether it is a root, at whose top names are guarded that cannot be listed.
    top: bool,
}

impl Watch {
    pub(super) fn of(hidden: &[PathBuf], kept: Option<&Kept>) -> io::Result<Watch> {
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let mut watch = Watch { fd, directories: HashMap::new() };
        let mut known: HashSet<&Path> = HashSet::new();
        for path in hidden {
            watch.lead_to(path, &mut known)?;
            if let Some((above, name)) = watch.above(path)? {
                above.hidden.insert(name.to_owned());
            }
        }
        let Some(kept) = kept else { return Ok(watch) };
        for path in kept.names() {
            watch.lead_to(path, &mut known)?;
            if let Some((above, name)) = watch.above(path)? {
                above.guarded.insert(name.to_ascii_lowercase());
            }
        }
        for root in kept.roots() {
            watch.lead_to(root, &mut known)?;
            watch.directory(root)?.into_iter().for_each(|root| root.top = true);
        }
        for path in kept.directories() {
            watch.directory(path)?.into_iter().for_each(|directory| directory.whole = true);
        }
        Ok(watch)
    }

    /// Watches the directories on the way to a path, but for those in `known`.
    fn lead_to<'p>(&mut self, path: &'p Path, known: &mut HashSet<&'p Path>) -> io::Result<()> {
        for at in path.ancestors().skip(1).take_while(|at| known.insert(at)) {
            if let Some((above, name)) = self.above(at)? {
                above.leading.insert(name.to_owned());
            }
        }
        Ok(())
    }

    /// The directory that a path lies in, and its name there; `None` where there is no such directory.
    fn above<'p>(&mut self, path: &'p Path) -> io::Result<Option<(&mut Directory, &'p OsStr)>> {
        let Some((above, name)) = path.parent().zip(path.file_name()) else { return Ok(None) };
        Ok(self.directory(above)?.map(|above| (above, name)))
    }

    fn directory(&mut self, path: &Path) -> io::Result<Option<&mut Directory>> {
        let wanted = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
        let number = match inotify::add_watch(&self.fd, path, wanted) {
            Ok(number) => number,
            // Whom nothing is hidden from by us, the system lets look no more than the command.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let new = || Directory { path: path.into(), ..Directory::default() };
        Ok(Some(self.directories.entry(number).or_insert_with(new)))
    }

    /// Becomes readable when something was heard.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// What was put under one of the names since, or on the way to one.
    pub(super) fn read(&mut self) -> io::Result<News> {
        let (mut replaced, mut reads) = (Replaced::default(), 0);
        let mut space = [MaybeUninit::uninit(); NEWS_BYTES];
        let mut news = Reader::new(&self.fd, &mut space);
        loop {
            // What is left is news at the next look.
            reads += usize::from(news.is_buffer_empty());
            if reads > READS {
                return Ok(News::Replaced(replaced));
            }
            let event = match news.next() {
                Err(Errno::AGAIN) => return Ok(News::Replaced(replaced)),
                Err(Errno::INTR) => continue,
                event => event?,
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                return Err(io::Error::other("news was lost"));
            }
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            let Some((directory, name)) = self.directories.get(&event.wd()).zip(name) else { continue };
            let is_directory = event.events().contains(ReadFlags::ISDIR);
            if directory.leads(name, is_directory) {
                return Ok(News::Way);
            }
            if directory.hidden.contains(name) {
                replaced.hidden.push(directory.path.join(name));
            }
            if directory.guards(name) {
                replaced.guarded.push(directory.path.join(name));
            }
        }
    }
}

impl Directory {
    /// Whether what came to be is to be watched itself, as what is in it matters.
    fn leads(&self, name: &OsStr, is_directory: bool) -> bool {
        self.leading.contains(name) || is_directory && self.guards(name)
    }

    fn guards(&self, name: &OsStr) -> bool {
        self.whole || self.guarded.contains(&name.to_ascii_lowercase()) || self.top && guards_at_top(name)
    }
}

/// Whether a name is guarded by itself, though no list has it.
pub(crate) fn guards_at_top(name: &OsStr) -> bool {
    !name.eq_ignore_ascii_case(".git") && classify(Path::new(name)).guarded.is_some()
}

#[cfg(test)]
mod tests {
    use nika_guard::profile::{Access, Profile};

    use super::*;

    const NONE: [Vec<PathBuf>; 2] = [Vec::new(), Vec::new()];

    fn read(watch: &mut Watch) -> [Vec<PathBuf>; 2] {
        match watch.read().expect("it reads") {
            News::Replaced(replaced) => [replaced.hidden, replaced.guarded],
            News::Way => [vec!["the way".into()], Vec::new()],
        }
    }

    #[test]
    fn only_what_came_under_a_hidden_name_is_news() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("deep")).expect("made");
        for name in [".env", "deep/key.pem", "plain"] {
            std::fs::write(at(name), "one").expect("written");
        }
        let hidden = [at(".env"), at("deep/key.pem"), at("gone/away")];
        let mut watch = Watch::of(&hidden, None).expect("it watches");
        std::fs::write(at("plain"), "two").expect("written");
        std::fs::write(at(".env"), "in place: what hides it stays").expect("written");
        std::fs::rename(at("plain"), at("other")).expect("renamed");
        assert_eq!(read(&mut watch), NONE);
        std::fs::rename(at("other"), at(".env")).expect("renamed");
        std::fs::remove_file(at("deep/key.pem")).expect("removed");
        std::fs::write(at("deep/key.pem"), "two").expect("written");
        assert_eq!(read(&mut watch), [vec![at(".env"), at("deep/key.pem")], Vec::new()]);
        assert_eq!(read(&mut watch), NONE);
        std::fs::rename(at("deep"), at("old")).expect("renamed");
        std::fs::create_dir(at("deep")).expect("made");
        assert_eq!(read(&mut watch)[0], [PathBuf::from("the way")]);
    }

    #[test]
    fn what_came_under_a_guarded_name_is_news_whether_it_was_there_before_or_not() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at(".github/workflows/deep")).expect("made");
        for name in [".npmrc", "one", "two", "three", "four"] {
            std::fs::write(at(name), name).expect("written");
        }
        let mut profile = Profile::new(Access::Workspace, dir.path(), "/home/dev");
        profile.protected = vec![at(".npmrc"), at(".github/workflows")];
        profile.absent = vec![at(".envrc"), at(".cargo/config.toml")];
        let kept = Kept::of(&profile);
        let mut watch = Watch::of(&[], Some(&kept)).expect("it watches");
        std::fs::write(at("plain"), "").expect("written");
        std::fs::write(at(".npmrc"), "in place").expect("written");
        assert_eq!(read(&mut watch), NONE);
        let moves =
            [("one", ".npmrc"), ("two", ".ENVRC"), ("three", ".github/workflows/deep/ci.yml"), ("four", "Jenkinsfile")];
        for (from, to) in moves {
            std::fs::rename(at(from), at(to)).expect("renamed");
        }
        assert_eq!(read(&mut watch), [Vec::new(), moves.map(|(_, to)| at(to)).to_vec()]);
        std::fs::create_dir(at(".github/workflows/more")).expect("made");
        assert_eq!(read(&mut watch)[0], [PathBuf::from("the way")]);
        std::fs::create_dir(at(".cargo")).expect("made");
        assert_eq!(read(&mut watch)[0], [PathBuf::from("the way")]);
    }
}
