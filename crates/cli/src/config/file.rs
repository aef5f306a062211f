//! Opens a configuration file: regular, at most 1 MiB, UTF-8; never waiting on a FIFO or a device.
//!
//! A person's own file may be a link, as people keep theirs in a repository of dot files. Below a project
//! no component may be one: there the link's target is not part of what the person was shown.

use std::fs;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, openat2, statat};
use rustix::io::Errno;

use super::ConfigError;

/// The largest configuration taken: a hundred times what a large one needs.
const MAX_BYTES: u64 = 1 << 20;

/// A configuration file's text.
#[derive(Debug)]
pub(super) struct File {
    /// As a person writes it: `.nika/config.yaml`, `~/.config/nika/config.yaml`.
    pub name: String,
    pub text: String,
}

/// The file at `path`, links followed; `None` when there is none.
pub(super) fn open(path: &Path, home: Option<&str>) -> Result<Option<File>, ConfigError> {
    let name = shown(path, home);
    let opened = openat2(CWD, path, FLAGS, Mode::empty(), ResolveFlags::NO_MAGICLINKS);
    match opened {
        Err(Errno::NOENT) if fs::symlink_metadata(path).is_ok() => Err(unusable(&name, "is a link that leads nowhere")),
        opened => read(name, opened),
    }
}

/// The file `below` a project directory, no link on the way; `None` when there is none.
pub(super) fn open_beneath(project_dir: &Path, below: &str) -> Result<Option<File>, ConfigError> {
    open_beneath_as(project_dir, below, below)
}

/// The same, called `shown` for people.
pub(super) fn open_beneath_as(project_dir: &Path, below: &str, shown: &str) -> Result<Option<File>, ConfigError> {
    let dir = rustix::fs::open(project_dir, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| {
            unusable(&project_dir.display().to_string(), &format!("cannot be opened: {}", words(errno)))
        })?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(&dir, below, FLAGS, Mode::empty(), resolve) {
        Err(Errno::LOOP) => {
            Err(unusable(shown, "it, or a directory on the way to it, is a link; a project's configuration is a file"))
        }
        // Nobody but root may even try to open it.
        Err(Errno::NXIO | Errno::ACCESS) if stands_in(&dir, below) => Ok(None),
        opened => read(shown.to_owned(), opened),
    }
}

/// Whether it is the device that is none, which stands in for a guarded name while a command of another Nika runs here.
fn stands_in(dir: &OwnedFd, below: &str) -> bool {
    let whiteout = |stat: rustix::fs::Stat| {
        FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0
    };
    statat(dir, below, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(whiteout)
}

const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

fn read(name: String, opened: Result<OwnedFd, Errno>) -> Result<Option<File>, ConfigError> {
    let mut file = match opened {
        Ok(fd) => fs::File::from(fd),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(errno) => return Err(unusable(&name, &format!("cannot be read: {}", words(errno)))),
    };
    let failed = |error: std::io::Error| unusable(&name, &format!("cannot be read: {error}"));
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(unusable(&name, "is not a regular file"));
    }
    let mut bytes = Vec::new();
    // Not the size it claims to have: it may grow while it is read.
    Read::by_ref(&mut file).take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unusable(&name, "is larger than 1 MiB, the most that a configuration may be"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(File { name, text })),
        Err(error) => {
            let good = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
            let line = good.matches('\n').count() + 1;
            let column = good.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            let what = "this is not UTF-8".to_owned();
            Err(ConfigError::Malformed { at: format!("{name}:{line}:{column}"), what, hint: None })
        }
    }
}

fn unusable(file: &str, why: &str) -> ConfigError {
    ConfigError::Unusable { file: file.to_owned(), why: why.to_owned() }
}

fn words(errno: Errno) -> String {
    // The first file that a Nika in a sandbox opens is one of these.
    if errno == Errno::NOSYS {
        return "there is no call `openat2`: the kernel is older than Linux 5.6, or a sandbox hides it, as Nika's own does \
                where something can be written (a server with `write: true`)"
            .to_owned();
    }
    std::io::Error::from(errno).to_string()
}

/// `path` with the home directory written `~`.
fn shown(path: &Path, home: Option<&str>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}
