//! Where a search begins, and the ignore files that hold for it from outside its root.
//!
//! A root may be one package of a larger repository: the rules of the directories above it, and the
//! person's own, decide what a search there shows, as they do for git and ripgrep. Only files with
//! exactly these names are read above a root, and nothing of them is shown but the rule that ignored.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nika_contract::ToolError;
use nika_guard::repository::config;
use nika_guard::{Permit, Place};
use rustix::fs::{FileType, Mode, OFlags};

use super::Workspace;
use crate::git::Personal;

/// Ignore files larger than this are not read; the largest in the wild are some tens of kilobytes.
const MAX_BYTES: u64 = 1 << 20;
/// Directories above a root that are looked at.
const MAX_LEVELS: usize = 32;

/// An open directory to search from.
#[derive(Debug)]
pub struct SearchRoot {
    /// The open directory: a root, or the place itself when it lies outside.
    pub dir: OwnedFd,
    /// Its path.
    pub path: PathBuf,
    /// The place that was asked for, below it.
    pub base: PathBuf,
}

/// Ignore files outside a root.
#[derive(Debug, Default)]
pub struct Ignores {
    /// Directories above the root, the nearest first.
    pub above: Vec<Outer>,
    /// The person's own ignore file.
    pub global: Option<Vec<u8>>,
}

/// The ignore files of one directory above a root.
#[derive(Debug, Default)]
pub struct Outer {
    /// The path from it down to the root.
    pub to_root: Vec<u8>,
    /// Whether a repository begins here.
    pub is_repository: bool,
    /// `.gitignore`.
    pub gitignore: Option<Vec<u8>>,
    /// `.ignore`.
    pub ignore: Option<Vec<u8>>,
    /// `.rgignore`.
    pub rgignore: Option<Vec<u8>>,
    /// `.git/info/exclude`.
    pub exclude: Option<Vec<u8>>,
}

impl Workspace {
    /// Opens the directory from which a declared tree is searched: its root, so that the ignore files
    /// between the two count.
    pub fn search_root(&self, permit: &Permit, place: &Place) -> Result<SearchRoot, ToolError> {
        self.covered(permit.covers_read(&place.path), place)?;
        let root = self.root_of(&place.path).filter(|_| place.below_root.is_some());
        let (path, base) = match (root, place.path.parent()) {
            (Some(root), _) => (root.path.clone(), place.below_root.clone().unwrap_or_default()),
            (None, Some(parent)) if !self.is_dir(permit, place) => {
                (parent.to_path_buf(), place.path.file_name().map(PathBuf::from).unwrap_or_default())
            }
            (None, _) => (place.path.clone(), PathBuf::new()),
        };
        let what =
            |error| super::errno(&format!("search {}", place.shown()), error, nika_contract::code::SEARCH_FAILED);
        let dir = self.open_exact(&path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW).map_err(what)?;
        Ok(SearchRoot { dir, path, base })
    }

    /// The ignore files that hold below `root` from outside it.
    pub fn ignores_above(&self, root: &Path) -> Ignores {
        let mut above = Vec::new();
        for dir in root.ancestors().skip(1).take(MAX_LEVELS) {
            let to_root = root.strip_prefix(dir).unwrap_or(root).as_os_str().as_bytes().to_vec();
            above.push(Outer {
                to_root,
                is_repository: dir.join(".git").exists() || dir.join(".jj").exists(),
                gitignore: small_file(&dir.join(".gitignore")),
                ignore: small_file(&dir.join(".ignore")),
                rgignore: small_file(&dir.join(".rgignore")),
                exclude: small_file(&dir.join(".git/info/exclude")),
            });
        }
        let global = global_ignore(self.person()).and_then(|path| small_file(&path));
        Ignores { above, global }
    }
}

/// Where git looks for the person's ignore file: `core.excludesFile`, or its default.
fn global_ignore(person: &Personal) -> Option<PathBuf> {
    let named_in = |file: PathBuf| {
        let settings = config::read(&small_file(&file)?).ok()?;
        // The last of one file counts, as in git.
        let (_, value) = settings.into_iter().rev().find(|(key, _)| key == "core.excludesfile")?;
        match value.strip_prefix("~/") {
            Some(below) => person.home().map(|home| home.join(below)),
            None => Some(PathBuf::from(value)),
        }
    };
    let configured = person.files().into_iter().rev().find_map(named_in);
    configured.or_else(|| person.ignore_file())
}

/// A small regular file, whole.
fn small_file(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&fd).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_size.unsigned_abs() > MAX_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::fs::File::from(fd), &mut bytes).ok()?;
    Some(bytes)
}
