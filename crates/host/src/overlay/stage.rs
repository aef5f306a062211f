//! A layer on another file system than its root: what is to be moved is copied beside its place first.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};

use super::joined::Joined;
use super::marks;
use super::walk::MAX_DEPTH;

/// Zeros of this length become a hole.
const CHUNK_BYTES: usize = 64 << 10;

/// Copies entries and remembers their inodes, so that names of one file stay names of one file.
#[derive(Debug, Default)]
pub(super) struct Stage<'a> {
    copied: HashMap<(u64, u64), PathBuf>,
    /// Files that what is copied here and there is a name of.
    joined: Option<&'a Joined>,
}

impl<'a> Stage<'a> {
    /// Where copies are of `joined` files, these get names.
    pub(super) fn joining(joined: &'a Joined) -> Stage<'a> {
        Stage { copied: HashMap::new(), joined: Some(joined) }
    }

    /// Copies `from` to `to`, where nothing stands: content, rights, times, attributes, links as links. What is deeper
    /// than what can be applied is refused.
    pub(super) fn copy(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.copy_at(from, to, 0)
    }

    fn copy_at(&mut self, from: &Path, to: &Path, depth: usize) -> io::Result<()> {
        let meta = fs::symlink_metadata(from)?;
        let id = (meta.dev(), meta.ino());
        if meta.is_symlink() {
            symlink(fs::read_link(from)?, to)?;
            return times(to, &meta);
        }
        if meta.is_dir() {
            if depth > MAX_DEPTH {
                return Err(io::Error::other(format!("it is more than {MAX_DEPTH} directories deep")));
            }
            fs::create_dir(to)?;
            for entry in fs::read_dir(from)? {
                let name = entry?.file_name();
                self.copy_at(&from.join(&name), &to.join(&name), depth + 1)?;
            }
        } else {
            if self.joined.is_some_and(|joined| joined.link(id, to)) {
                return Ok(());
            }
            if let Some(first) = self.copied.get(&id)
                && meta.nlink() > 1
            {
                return fs::hard_link(first, to);
            }
            sparse(&mut File::open(from)?, &mut File::create_new(to)?)?;
            self.copied.insert(id, to.to_path_buf());
        }
        // Owners differ only where one was given, and who could give it can do so here.
        let _ = std::os::unix::fs::lchown(to, Some(meta.uid()), Some(meta.gid()));
        attributes(from, to);
        fs::set_permissions(to, fs::Permissions::from_mode(meta.mode() & 0o7777))?;
        times(to, &meta)
    }
}

fn sparse(from: &mut File, to: &mut File) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut length = 0;
    loop {
        let read = from.read(&mut chunk)?;
        if read == 0 {
            return to.set_len(length);
        }
        length += read as u64;
        if chunk[..read].iter().all(|byte| *byte == 0) {
            to.seek(SeekFrom::Start(length))?;
        } else {
            to.write_all(&chunk[..read])?;
        }
    }
}

/// Losing an attribute that this file system does not take is not worth a refusal.
fn attributes(from: &Path, to: &Path) {
    let (Some(from), Some(to_text)) = (from.to_str(), to.to_str()) else { return };
    for name in marks::attributes(from) {
        let mut value = vec![0u8; 64 << 10];
        if let Ok(length) = rustix::fs::lgetxattr(from, &*name, &mut value[..]) {
            let _ = rustix::fs::lsetxattr(to_text, &*name, &value[..length], rustix::fs::XattrFlags::empty());
        }
    }
}

fn times(to: &Path, meta: &fs::Metadata) -> io::Result<()> {
    let times = Timestamps {
        last_access: Timespec { tv_sec: meta.atime(), tv_nsec: meta.atime_nsec() as _ },
        last_modification: Timespec { tv_sec: meta.mtime(), tv_nsec: meta.mtime_nsec() as _ },
    };
    Ok(rustix::fs::utimensat(CWD, to, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}
