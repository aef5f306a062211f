//! Hears of names under which somebody outside puts something else: of what is hidden from a command, and of what is
//! guarded from it.
//!
//! One instance of inotify tells of both, as a user has few of them (128 as a rule).

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::guarded::Guarded;
use super::kept::{Kept, MOST_DIRECTORIES, MOST_FILES};

/// Bytes of news that are read at once, and how often before something else gets its turn.
const NEWS_BYTES: usize = 8 << 10;
const READS: usize = 64;

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    /// Something was put under these names.
    Replaced(Replaced),
    /// A directory that leads to such a name was made or put there, or so much that is guarded that not all of it is
    /// watched: who is to be watched has to be found out anew.
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
    /// So many of them at most.
    most: usize,
}

#[derive(Debug, Default)]
struct Directory {
    path: PathBuf,
    hidden: HashSet<OsString>,
    /// Names on the way to what is hidden or guarded, whatever their case.
    leading: HashSet<OsString>,
}

/// What came to be since.
#[derive(Debug, Default)]
struct Heard {
    replaced: Replaced,
    /// Directories where all is guarded.
    directories: Vec<PathBuf>,
    /// Numbers under which nothing is watched any more.
    gone: Vec<i32>,
    is_way: bool,
}

impl Watch {
    pub(super) fn of(hidden: &[PathBuf], kept: Option<&Kept>) -> io::Result<Watch> {
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let mut watch = Watch { fd, directories: HashMap::new(), most: 0 };
        let mut known: HashSet<&Path> = HashSet::new();
        for path in hidden {
            watch.lead_to(path, &mut known)?;
            if let Some((above, name)) = watch.above(path)? {
                above.hidden.insert(name.to_owned());
            }
        }
        let Some(kept) = kept else { return Ok(watch) };
        for path in kept.guarded().names() {
            watch.lead_to(path, &mut known)?;
            watch.above(path)?;
        }
        for root in kept.guarded().roots() {
            watch.lead_to(root, &mut known)?;
            watch.directory(root)?;
        }
        for path in kept.directories() {
            watch.directory(path)?;
        }
        watch.most = watch.directories.len() + MOST_DIRECTORIES.saturating_sub(kept.directories().len());
        Ok(watch)
    }

    /// Watches the directories on the way to a path, but for those in `known`.
    fn lead_to<'p>(&mut self, path: &'p Path, known: &mut HashSet<&'p Path>) -> io::Result<()> {
        for at in path.ancestors().skip(1).take_while(|at| known.insert(at)) {
            if let Some((above, name)) = self.above(at)? {
                above.leading.insert(name.to_ascii_lowercase());
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
    pub(super) fn read(&mut self, guarded: Option<&Guarded>) -> io::Result<News> {
        let mut heard = self.hear(guarded)?;
        for number in heard.gone {
            self.directories.remove(&number);
        }
        if heard.is_way || !self.take_in(heard.directories, &mut heard.replaced.guarded)? {
            return Ok(News::Way);
        }
        Ok(News::Replaced(heard.replaced))
    }

    fn hear(&self, guarded: Option<&Guarded>) -> io::Result<Heard> {
        let (mut heard, mut reads) = (Heard::default(), 0);
        let mut space = [MaybeUninit::uninit(); NEWS_BYTES];
        let mut news = Reader::new(&self.fd, &mut space);
        loop {
            // What is left is news at the next look.
            reads += usize::from(news.is_buffer_empty());
            if reads > READS {
                return Ok(heard);
            }
            let event = match news.next() {
                Err(Errno::AGAIN) => return Ok(heard),
                Err(Errno::INTR) => continue,
                event => event?,
            };
            let what = event.events();
            if what.contains(ReadFlags::QUEUE_OVERFLOW) {
                return Err(io::Error::other("news was lost"));
            }
            if what.contains(ReadFlags::IGNORED) {
                heard.gone.push(event.wd());
            }
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            let Some((directory, name)) = self.directories.get(&event.wd()).zip(name) else { continue };
            let path = directory.path.join(name);
            heard.is_way |= directory.leading.contains(&name.to_ascii_lowercase());
            if directory.hidden.contains(name) {
                heard.replaced.hidden.push(path.clone());
            }
            if guarded.is_some_and(|guarded| guarded.has(&path)) {
                let is_directory = what.contains(ReadFlags::ISDIR);
                let all = if is_directory { &mut heard.directories } else { &mut heard.replaced.guarded };
                all.push(path);
            }
        }
    }

    /// Watches directories where all is guarded, too, and adds the files in them. What is made in one afterwards is news of
    /// its own. False where that is more than is looked at.
    ///
    /// Not all from the beginning: a `git fetch` makes some hundred directories, and each would cost a walk of thousands.
    fn take_in(&mut self, mut open: Vec<PathBuf>, files: &mut Vec<PathBuf>) -> io::Result<bool> {
        while let Some(path) = open.pop() {
            if self.directories.len() >= self.most || files.len() > MOST_FILES {
                return Ok(false);
            }
            // Watched before it is listed, so that nothing comes in between.
            let Some(directory) = self.directory(&path)? else { continue };
            // One that was moved has its number from before.
            directory.path.clone_from(&path);
            for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
                let is_directory = entry.file_type().is_ok_and(|what| what.is_dir());
                let all = if is_directory { &mut open } else { &mut *files };
                all.push(entry.path());
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use nika_guard::profile::{Access, Profile};

    use super::*;

    const NONE: [Vec<PathBuf>; 2] = [Vec::new(), Vec::new()];

    fn read(watch: &mut Watch, kept: Option<&Kept>) -> [Vec<PathBuf>; 2] {
        match watch.read(kept.map(Kept::guarded)).expect("it reads") {
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
        assert_eq!(read(&mut watch, None), NONE);
        std::fs::rename(at("other"), at(".env")).expect("renamed");
        std::fs::remove_file(at("deep/key.pem")).expect("removed");
        std::fs::write(at("deep/key.pem"), "two").expect("written");
        assert_eq!(read(&mut watch, None), [vec![at(".env"), at("deep/key.pem")], Vec::new()]);
        assert_eq!(read(&mut watch, None), NONE);
        std::fs::rename(at("deep"), at("old")).expect("renamed");
        std::fs::create_dir(at("deep")).expect("made");
        assert_eq!(read(&mut watch, None)[0], [PathBuf::from("the way")]);
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
        assert_eq!(read(&mut watch, Some(&kept)), NONE);
        let moves =
            [("one", ".npmrc"), ("two", ".ENVRC"), ("three", ".github/workflows/deep/ci.yml"), ("four", "Jenkinsfile")];
        for (from, to) in moves {
            std::fs::rename(at(from), at(to)).expect("renamed");
        }
        assert_eq!(read(&mut watch, Some(&kept)), [Vec::new(), moves.map(|(_, to)| at(to)).to_vec()]);
        // Of a directory that is new there all that is in it, also what came before anybody watched, and what comes later.
        std::fs::create_dir_all(at("made/below")).expect("made");
        std::fs::write(at("made/below/old"), "").expect("written");
        std::fs::rename(at("made"), at(".github/workflows/more")).expect("renamed");
        assert_eq!(read(&mut watch, Some(&kept))[1], [at(".github/workflows/more/below/old")]);
        std::fs::write(at(".github/workflows/more/below/new"), "").expect("written");
        assert_eq!(read(&mut watch, Some(&kept))[1], [at(".github/workflows/more/below/new")]);
        // Also where it has another name by now.
        std::fs::rename(at(".github/workflows/more"), at(".github/workflows/other")).expect("renamed");
        assert_eq!(read(&mut watch, Some(&kept))[1].len(), 2);
        std::fs::write(at(".github/workflows/other/below/newer"), "").expect("written");
        assert_eq!(read(&mut watch, Some(&kept))[1], [at(".github/workflows/other/below/newer")]);
        std::fs::remove_dir_all(at(".github/workflows/other")).expect("removed");
        let watched = watch.directories.len();
        assert_eq!(read(&mut watch, Some(&kept)), NONE);
        assert_eq!(watch.directories.len(), watched - 2);
        std::fs::create_dir(at(".cargo")).expect("made");
        assert_eq!(read(&mut watch, Some(&kept))[0], [PathBuf::from("the way")]);
    }
}
