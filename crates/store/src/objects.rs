//! Contents by their sha256: written once, compressed, checked whenever they come back.
//!
//! A file `objects/ab/cdef…` is a head of 12 bytes (`N1`, how it is packed, a zero, the content's
//! length as eight little-endian bytes) and the content, as one lz4 block or as it is. It is written
//! under another name and renamed, so that a name never holds half a content.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, SystemTime};

use lz4_flex::block::{self, CompressTable};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::{Errno, IoSlice};

use crate::error::StoreError;
use crate::hash::Hash;
use crate::state::State;

const MAGIC: [u8; 2] = *b"N1";
const HEAD_BYTES: usize = 12;
const PLAIN: u8 = 0;
const LZ4: u8 = 1;
/// Below this, a block of the file system is taken either way.
const MIN_PACKED_BYTES: usize = 512;
/// From here on a second thread is worth its start.
const SIDE_BY_SIDE_BYTES: usize = 256 << 10;
/// What a packer holds on to between calls.
const MAX_HELD_BYTES: usize = 2 << 20;
/// A temporary file older than this was left by a kill: nobody writes so long at one content.
const LONGEST_WRITE: Duration = Duration::from_secs(15 * 60);

/// The store of contents.
pub struct Objects {
    path: PathBuf,
    dir: OwnedFd,
    packer: Mutex<Packer>,
}

/// What a collection did to the objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Objects that stay.
    pub kept: u64,
    /// Their bytes on disk.
    pub kept_bytes: u64,
    /// Objects that went, abandoned temporary files among them.
    pub removed: u64,
    /// Their bytes on disk.
    pub removed_bytes: u64,
}

/// What lies there and nobody needs.
pub(crate) struct Idle {
    path: PathBuf,
    /// `None` for what is no object.
    hash: Option<Hash>,
    bytes: u64,
}

impl Idle {
    /// Removes it, unless `keep` names it by now.
    pub(crate) fn settle(&self, keep: &HashSet<Hash>, swept: &mut Swept) {
        let is_kept = self.hash.is_some_and(|hash| keep.contains(&hash));
        let (count, bytes) = if is_kept || fs::remove_file(&self.path).is_err() {
            (&mut swept.kept, &mut swept.kept_bytes)
        } else {
            (&mut swept.removed, &mut swept.removed_bytes)
        };
        *count += 1;
        *bytes += self.bytes;
    }
}

impl Objects {
    /// The objects of a state.
    pub fn open(state: &State) -> Result<Objects, StoreError> {
        let path = state.objects_dir();
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let dir =
            rustix::fs::open(&path, flags, Mode::empty()).map_err(|errno| StoreError::io("open", &path, errno))?;
        Ok(Objects { path, dir, packer: Mutex::default() })
    }

    /// Keeps `bytes`, whose sha256 may be handed in when it is known. What is kept already is not
    /// written again.
    pub fn put(&self, bytes: &[u8], known_hash: Option<[u8; 32]>) -> Result<Hash, StoreError> {
        Ok(self.add(bytes, known_hash)?.0)
    }

    /// The same, and how many bytes were written: none where the content was kept already.
    pub(crate) fn add(&self, bytes: &[u8], known_hash: Option<[u8; 32]>) -> Result<(Hash, u64), StoreError> {
        if known_hash.is_none() && bytes.len() >= SIDE_BY_SIDE_BYTES {
            return self.with_packer(|packer| {
                let (hash, packed) = hash_and_pack(bytes, packer);
                Ok((hash, self.write_new(&hash, bytes.len(), || packed)?))
            });
        }
        let hash = known_hash.map_or_else(|| Hash::of(bytes), Hash);
        Ok((hash, self.with_packer(|packer| self.write_new(&hash, bytes.len(), || packer.pack(bytes)))?))
    }

    /// The content of `hash`, which it is certain to be.
    pub fn get(&self, hash: &Hash) -> Result<Vec<u8>, StoreError> {
        let name = name(hash);
        let damaged = |why: &str| StoreError::Damaged { path: self.path.join(&name), why: why.to_owned() };
        let mut file = self.open_object(hash)?;
        let mut packed = Vec::new();
        file.read_to_end(&mut packed).map_err(|e| StoreError::io("read", &self.path.join(&name), e))?;
        let (kind, len) = head(&packed).ok_or_else(|| damaged("it does not begin as an object does"))?;
        let body = packed.split_off(HEAD_BYTES);
        let bytes = match kind {
            PLAIN => body,
            // lz4 packs at most 255 to 1: a greater length is a lie that would only take memory.
            LZ4 if len <= body.len() as u64 * 255 + 64 => {
                block::decompress(&body, len as usize).map_err(|e| damaged(&format!("it does not unpack: {e}")))?
            }
            _ => return Err(damaged("its head makes no sense")),
        };
        if bytes.len() as u64 != len || Hash::of(&bytes) != *hash {
            return Err(damaged("its content does not have its name's sha256"));
        }
        Ok(bytes)
    }

    /// Whether a content is kept.
    pub fn contains(&self, hash: &Hash) -> bool {
        rustix::fs::statat(&self.dir, name(hash), AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// The content's length, without reading it.
    pub fn size(&self, hash: &Hash) -> Result<u64, StoreError> {
        let path = self.path.join(name(hash));
        let mut first = [0; HEAD_BYTES];
        self.open_object(hash)?.read_exact(&mut first).map_err(|e| StoreError::io("read", &path, e))?;
        let damaged = || StoreError::Damaged { path, why: "it does not begin as an object does".to_owned() };
        head(&first).map(|(_, len)| len).ok_or_else(damaged)
    }

    /// The bytes a content takes on disk; `None` when it is not kept.
    pub fn stored(&self, hash: &Hash) -> Option<u64> {
        rustix::fs::statat(&self.dir, name(hash), AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| stat.st_size as u64)
    }

    /// The directories that objects lie in.
    pub(crate) fn shelves(&self) -> Result<Vec<PathBuf>, StoreError> {
        let failed = |error: io::Error| StoreError::io("sweep", &self.path, error);
        let mut shelves = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_type().map_err(failed)?.is_dir() {
                shelves.push(entry.path());
            }
        }
        Ok(shelves)
    }

    /// What lies on a shelf and can go: objects that are not in `keep`, and what a kill left half written. The rest is
    /// counted.
    pub(crate) fn idle(
        &self,
        shelf: &Path,
        keep: &HashSet<Hash>,
        now_unix_ms: u64,
        swept: &mut Swept,
    ) -> Result<Vec<Idle>, StoreError> {
        let failed = |error: io::Error| StoreError::io("sweep", shelf, error);
        let before = SystemTime::UNIX_EPOCH + Duration::from_millis(now_unix_ms).saturating_sub(LONGEST_WRITE);
        let mut idle = Vec::new();
        for entry in fs::read_dir(shelf).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // Gone in between is as good as removed.
            let Ok(meta) = entry.metadata() else { continue };
            let name =
                [shelf.file_name().unwrap_or_default(), &entry.file_name()].map(OsStr::as_encoded_bytes).concat();
            let hash = Hash::parse(&name);
            let stays = match hash {
                Some(hash) => keep.contains(&hash),
                None => meta.modified().map_err(failed)? >= before,
            };
            if stays {
                swept.kept += 1;
                swept.kept_bytes += meta.len();
            } else {
                idle.push(Idle { path: entry.path(), hash, bytes: meta.len() });
            }
        }
        Ok(idle)
    }

    /// Whoever finds the packer in use takes a new one rather than wait.
    fn with_packer<T>(&self, act: impl FnOnce(&mut Packer) -> T) -> T {
        let Ok(mut packer) = self.packer.try_lock() else { return act(&mut Packer::default()) };
        let result = act(&mut packer);
        packer.out.truncate(MAX_HELD_BYTES);
        packer.out.shrink_to(MAX_HELD_BYTES);
        result
    }

    /// Writes what `pack` makes of a content of `len` bytes, unless it is kept already, and says how much that was.
    fn write_new<'a>(&self, hash: &Hash, len: usize, pack: impl FnOnce() -> (u8, &'a [u8])) -> Result<u64, StoreError> {
        if self.contains(hash) {
            return Ok(0);
        }
        let (name, (kind, body)) = (name(hash), pack());
        self.write(&name, kind, len, body).map_err(|e| StoreError::io("write", &self.path.join(&name), e))?;
        Ok((HEAD_BYTES + body.len()) as u64)
    }

    fn write(&self, name: &str, kind: u8, len: usize, body: &[u8]) -> Result<(), Errno> {
        let mut head = [0; HEAD_BYTES];
        head[..2].copy_from_slice(&MAGIC);
        head[2] = kind;
        head[4..].copy_from_slice(&(len as u64).to_le_bytes());
        let (temporary, file) = self.temporary(name)?;
        let result =
            write_both(&file, &head, body).and_then(|()| rustix::fs::renameat(&self.dir, &temporary, &self.dir, name));
        if result.is_err() {
            let _ = rustix::fs::unlinkat(&self.dir, &temporary, AtFlags::empty());
        }
        result
    }

    /// A new file beside `name` that nobody else writes.
    fn temporary(&self, name: &str) -> Result<(String, OwnedFd), Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut number = 0;
        loop {
            let temporary = format!("{name}.{}.{number}", std::process::id());
            match rustix::fs::openat(&self.dir, &temporary, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => return Ok((temporary, file)),
                // Another thread's, or left by a process that had our number.
                Err(Errno::EXIST) => number += 1,
                Err(Errno::NOENT) => match rustix::fs::mkdirat(&self.dir, &name[..2], Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno),
                },
                Err(errno) => return Err(errno),
            }
        }
    }

    fn open_object(&self, hash: &Hash) -> Result<File, StoreError> {
        let name = name(hash);
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        match rustix::fs::openat(&self.dir, &name, flags, Mode::empty()) {
            Ok(file) => Ok(File::from(file)),
            Err(Errno::NOENT) => Err(StoreError::Gone(*hash)),
            Err(errno) => Err(StoreError::io("open", &self.path.join(name), errno)),
        }
    }
}

/// Both at once, on two threads: each takes about a millisecond a megabyte.
fn hash_and_pack<'a>(bytes: &'a [u8], packer: &'a mut Packer) -> (Hash, (u8, &'a [u8])) {
    thread::scope(|scope| {
        let hashing = thread::Builder::new().spawn_scoped(scope, || Hash::of(bytes));
        let packed = packer.pack(bytes);
        // No thread to be had: one after the other.
        let hash = hashing.ok().and_then(|hashing| hashing.join().ok()).unwrap_or_else(|| Hash::of(bytes));
        (hash, packed)
    })
}

/// lz4's table and output, kept between calls: to a small file, new ones cost more than the packing.
#[derive(Default)]
struct Packer {
    table: CompressTable,
    out: Vec<u8>,
}

impl Packer {
    /// How the content will lie on disk: packed where that is shorter.
    fn pack<'a>(&'a mut self, bytes: &'a [u8]) -> (u8, &'a [u8]) {
        if bytes.len() < MIN_PACKED_BYTES {
            return (PLAIN, bytes);
        }
        let most = block::get_maximum_output_size(bytes.len());
        if self.out.len() < most {
            self.out.resize(most, 0);
        }
        match block::compress_into_with_table(bytes, &mut self.out, &mut self.table) {
            Ok(len) if len < bytes.len() => (LZ4, &self.out[..len]),
            _ => (PLAIN, bytes),
        }
    }
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Objects").field("path", &self.path).finish_non_exhaustive()
    }
}

/// `ab/cdef…`
fn name(hash: &Hash) -> String {
    let hex = hash.hex();
    let text = std::str::from_utf8(&hex).expect("hex digits are ASCII");
    let mut name = String::with_capacity(65);
    name.push_str(&text[..2]);
    name.push('/');
    name.push_str(&text[2..]);
    name
}

/// How it is packed, and the content's length.
fn head(file: &[u8]) -> Option<(u8, u64)> {
    let head = file.get(..HEAD_BYTES)?;
    let len = u64::from_le_bytes(head[4..].try_into().ok()?);
    (head[..2] == MAGIC && head[3] == 0).then_some((head[2], len))
}

/// Both parts, in one call as a rule.
fn write_both(file: &OwnedFd, head: &[u8], body: &[u8]) -> Result<(), Errno> {
    let all = head.len() + body.len();
    let mut done = 0;
    while done < all {
        let rest_of_head = head.get(done..).unwrap_or_default();
        let rest_of_body = &body[done.saturating_sub(head.len())..];
        match rustix::io::writev(file, &[IoSlice::new(rest_of_head), IoSlice::new(rest_of_body)]) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(more) => done += more,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "objects_tests.rs"]
mod tests;
