//! The files of a repository that could loosen or run something, and their hashes.
//!
//! One table says which. Everything found is bound by name and bytes; what cannot be bound (a link to a
//! directory, a FIFO, more than the limits) makes the whole untrustable, and is named.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nika_host::sandbox::is_no_file;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::place::{Place, text};
use crate::config::{ConfigError, MANIFESTS};

/// One row of [`BRINGS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brings {
    /// Every file below this directory.
    Tree(&'static str),
    /// This file.
    File(&'static str),
    /// Files right in this directory (empty: the project's own) whose names start and end so.
    Files(&'static str, &'static str, &'static str),
}

use Brings::{File, Files, Tree};

/// What trust is about: configuration, rules, manifests, hooks, MCP servers, agents, skills, workflows.
/// Instructions for a model (`AGENTS.md` and the like) are not: they are read, they permit nothing.
pub const BRINGS: &[Brings] = &[
    Tree(".nika"),
    File(".mcp.json"),
    File("mcp.json"),
    File(".claude.json"),
    Files(".claude", "settings", ".json"),
    File(".claude/search.json"),
    Tree(".claude/agents"),
    Tree(".claude/commands"),
    Tree(".claude/hooks"),
    Tree(".claude/skills"),
    File(".claw.json"),
    Files("", ".claw-", ".json"),
    Files(".claw", "settings", ".json"),
    Tree(".claw/agents"),
    Tree(".claw/commands"),
    Tree(".claw/hooks"),
    Tree(".claw/skills"),
    Files("", ".codex-", ".json"),
    Files(".codex", "config", ".toml"),
];

/// The most files that trust binds to: a hundred times a well-stocked repository.
const MAX_FILES: usize = 4_096;
/// The most bytes of them: they are hashed at every start, and this takes a tenth of a second.
const MAX_BYTES: u64 = 64 << 20;
/// How deep they may lie.
const MAX_DEPTH: usize = 16;

/// Names and hashes of what a repository brings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brought {
    /// Name below the project directory, and sha256 of the bytes in hex.
    pub files: BTreeMap<String, String>,
    /// What cannot be bound, with why; nothing is trusted while there is any.
    #[serde(skip)]
    pub unbound: Vec<String>,
}

impl Brought {
    /// Whether the repository brings nothing.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.unbound.is_empty()
    }

    /// One hash over every name and all bytes.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for (name, bytes) in &self.files {
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
            hash.update(bytes);
        }
        hex(&hash.finalize())
    }

    /// Puts `bytes`, which were read already, in the place of what the file holds by now.
    pub(super) fn replace(&mut self, name: &str, bytes: &[u8]) {
        self.files.insert(name.to_owned(), hex(&Sha256::digest(bytes)));
    }

    /// The names that are new, gone or other than in `now`.
    pub(super) fn differences(&self, now: &Brought) -> Vec<String> {
        let gone_or_other = self.files.iter().filter(|(name, hash)| now.files.get(*name) != Some(hash));
        let new = now.files.iter().filter(|(name, _)| !self.files.contains_key(*name));
        let mut names: Vec<String> = gone_or_other.chain(new).map(|(name, _)| name.clone()).collect();
        names.sort();
        names.extend(now.unbound.iter().cloned());
        names
    }
}

/// Whether there is any such file below `place`, or a manifest above it. Reads no file.
pub(super) fn any(place: &Place) -> Result<bool, ConfigError> {
    Ok(!found(place, For::One)?.is_empty())
}

/// What tells without reading whether any of them changed: for each when, and how large it is.
pub(super) fn stamps(place: &Place) -> Result<Brought, ConfigError> {
    found(place, For::Stamps)
}

/// Every such file below `place`, and the manifests of the directories above it.
pub(super) fn read(place: &Place) -> Result<Brought, ConfigError> {
    found(place, For::Bytes)
}

fn found(place: &Place, what: For) -> Result<Brought, ConfigError> {
    let mut look = Look { dir: &place.dir, above: place.above.len(), found: Brought::default(), bytes: 0, what };
    look.all()?;
    Ok(look.found)
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    /// Whether there is one.
    One,
    /// When each was changed.
    Stamps,
    /// What each says.
    Bytes,
}

struct Look<'a> {
    dir: &'a Path,
    /// How many directories above count as well.
    above: usize,
    found: Brought,
    bytes: u64,
    what: For,
}

impl Look<'_> {
    fn all(&mut self) -> Result<(), ConfigError> {
        for row in BRINGS {
            if self.what == For::One && !self.found.is_empty() {
                break;
            }
            match *row {
                Tree(below) => self.tree(below, 0)?,
                File(name) => self.entry(name, None)?,
                Files(below, start, end) => {
                    let fits = |name: &str| {
                        name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
                    };
                    for name in self.names(below)?.into_iter().filter(|name| fits(name)) {
                        self.entry(&join(below, &name), None)?;
                    }
                }
            }
        }
        // The directory is canonical, so `..` is its parent.
        for up in 1..=self.above {
            for name in MANIFESTS {
                self.entry(&format!("{}{name}", "../".repeat(up)), None)?;
            }
        }
        Ok(())
    }

    /// The entries of a directory, sorted; none where it is missing or no directory.
    fn names(&mut self, below: &str) -> Result<Vec<String>, ConfigError> {
        let listing = match fs::read_dir(self.dir.join(below)) {
            Ok(listing) => listing,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(unreadable(below, &error)),
        };
        let mut names = Vec::new();
        for entry in listing {
            let name = entry.map_err(|error| unreadable(below, &error))?.file_name();
            match name.to_str() {
                Some(name) => names.push(name.to_owned()),
                // In the project's own directory most names are none of ours.
                None if below.is_empty() => {}
                None => self.unbind(&join(below, &text(Path::new(&name))), "has a name that is not UTF-8"),
            }
        }
        names.sort();
        Ok(names)
    }

    fn tree(&mut self, below: &str, depth: usize) -> Result<(), ConfigError> {
        match fs::symlink_metadata(self.dir.join(below)) {
            Ok(meta) if meta.is_symlink() => {
                self.unbind(below, "is a link");
                return Ok(());
            }
            Ok(_) if depth > MAX_DEPTH => {
                self.unbind(below, "lies deeper than trust looks");
                return Ok(());
            }
            _ => {}
        }
        for name in self.names(below)? {
            if self.found.unbound.len() + self.found.files.len() > MAX_FILES {
                self.found.unbound.truncate(MAX_FILES);
                self.unbind(below, "holds more files than trust binds to (4096)");
                return Ok(());
            }
            self.entry(&join(below, &name), Some(depth + 1))?;
        }
        Ok(())
    }

    /// One entry; a directory is entered where `depth` says how deep it lies.
    fn entry(&mut self, name: &str, depth: Option<usize>) -> Result<(), ConfigError> {
        let path = self.dir.join(name);
        let meta = match fs::symlink_metadata(&path) {
            Ok(meta) => meta,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
            Err(error) => return Err(unreadable(name, &error)),
        };
        // While a command runs, for a guarded name that does not exist.
        if is_no_file(&meta) {
            return Ok(());
        }
        match depth {
            Some(depth) if meta.is_dir() => return self.tree(name, depth),
            None if meta.is_dir() => return Ok(()),
            _ => {}
        }
        if self.what != For::Bytes {
            // Of a link, where it leads, too.
            let there = fs::metadata(&path).ok().as_ref().map(stamp).unwrap_or_default();
            self.found.files.insert(name.to_owned(), stamp(&meta) + &there);
            return Ok(());
        }
        let mut hash = Sha256::new();
        if meta.is_symlink() {
            let target = fs::read_link(&path).map_err(|error| unreadable(name, &error))?;
            hash.update(b"link\0");
            hash.update(text(&target));
            hash.update(b"\0");
        }
        self.bytes(name, &path, hash)
    }

    fn bytes(&mut self, name: &str, path: &Path, mut hash: Sha256) -> Result<(), ConfigError> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mut file = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => fs::File::from(fd),
            Err(errno) => {
                self.unbind(name, &format!("cannot be read: {}", std::io::Error::from(errno)));
                return Ok(());
            }
        };
        let meta = file.metadata().map_err(|error| unreadable(name, &error))?;
        if !meta.is_file() {
            self.unbind(name, "leads to no regular file");
            return Ok(());
        }
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = file.read(&mut buffer).map_err(|error| unreadable(name, &error))?;
            if count == 0 {
                self.found.files.insert(name.to_owned(), hex(&hash.finalize()));
                return Ok(());
            }
            self.bytes += count as u64;
            if self.bytes > MAX_BYTES {
                self.unbind(name, "is beyond the 64 MiB that trust binds to");
                return Ok(());
            }
            hash.update(&buffer[..count]);
        }
    }

    fn unbind(&mut self, name: &str, why: &str) {
        self.found.unbound.push(format!("{name} {why}"));
    }
}

/// What no change of a file leaves as it is.
pub(super) fn stamp(meta: &fs::Metadata) -> String {
    let (size, at, of) = (meta.size(), (meta.mtime(), meta.mtime_nsec()), (meta.ctime(), meta.ctime_nsec()));
    format!("{}.{} {size} {at:?} {of:?};", meta.dev(), meta.ino())
}

fn join(below: &str, name: &str) -> String {
    if below.is_empty() { name.to_owned() } else { format!("{below}/{name}") }
}

fn unreadable(name: &str, error: &std::io::Error) -> ConfigError {
    let file = if name.is_empty() { "the project directory" } else { name };
    ConfigError::Unusable { file: file.to_owned(), why: format!("cannot be read: {error}") }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
