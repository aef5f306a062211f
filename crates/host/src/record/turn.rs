//! What one call touched: each path once, as it was before; and what came of it.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nika_contract::{Before, Kind, Known, Lasting, More, Preimage, Undo};
use rustix::fs::{Dir, Mode, OFlags, openat};

use super::before::{Entry, content, hash, look};
use super::recorder::Recorded;
use super::sight::{Found, Sight};
use crate::fs::sha256;
use crate::overlay::Bounds;

/// Paths of one call. 100,000: what is known of them takes some 30 MB.
const MOST_PATHS: usize = 100_000;
/// Directories within directories, of one that is moved.
const MAX_DEPTH: usize = 256;

/// See the module's page.
pub(super) struct Turn {
    call: String,
    undo: Arc<dyn Undo>,
    /// While it is there, the call cannot be taken back.
    hold: Option<Box<dyn Any + Send>>,
    pub(super) bounds: Bounds,
    pub(super) most_paths: usize,
    paths: HashMap<PathBuf, Touched>,
    kept_bytes: u64,
    /// The first path that was one too many.
    beyond: Option<PathBuf>,
    /// Whether something was touched of which nothing can be told.
    blind: bool,
}

/// A path.
struct Touched {
    /// What stood there; `None` where nothing did.
    was: Option<Entry>,
    /// sha256 of its content, where that is kept.
    kept: Option<[u8; 32]>,
    /// Whether that it is about to change is written down.
    noted: bool,
    /// What came of it, where that is known and it was not touched since.
    came: Option<Came>,
    /// Whether it was open for writing when that was looked at.
    open: bool,
    /// Whether what stands there now is the same file, and no other in its place.
    in_place: bool,
}

/// What came of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Unchanged,
    Created,
    Changed,
    Deleted,
    /// Changed, and what stood there is not kept.
    Lost,
    /// A device, FIFO or socket, which undo leaves alone.
    Special,
}

impl Turn {
    pub(super) fn new(lasting: Lasting) -> Turn {
        let Lasting { call, undo, hold } = lasting;
        Turn {
            call,
            undo,
            hold: Some(hold),
            bounds: Bounds::default(),
            most_paths: MOST_PATHS,
            paths: HashMap::new(),
            kept_bytes: 0,
            beyond: None,
            blind: false,
        }
    }

    /// Something is about to be touched, and nobody can say what.
    pub(super) fn touch_unknown(&mut self) {
        self.blind = true;
    }

    /// A place is about to be touched: at the first time, what stands there is kept.
    pub(super) fn touch(&mut self, found: &Found) {
        self.touch_as(found, true);
    }

    /// `reads`: whether the command itself could read what stands there.
    fn touch_as(&mut self, found: &Found, reads: bool) {
        if let Some(touched) = self.paths.get_mut(&found.path) {
            if touched.came.take().is_some() && touched.was.is_none_or(|was| was.kind.is_some()) {
                // What came of it is not known any more; a later line has to say so.
                let (was, kept) = (touched.was, touched.kept);
                touched.noted = begun(self.undo.as_ref(), &found.path, was.as_ref(), kept, None, self.bounds).is_ok();
            }
            return;
        }
        if self.paths.len() >= self.most_paths {
            self.go_beyond(&found.path, look(&found.dir, &found.name).ok().flatten().as_ref());
            return;
        }
        let Ok(was) = look(&found.dir, &found.name) else {
            self.blind = true;
            return;
        };
        let bytes = was.filter(|_| reads).and_then(|was| self.content_of(found, &was));
        let kept = bytes.as_deref().map(sha256);
        // A device, a FIFO or a socket is used and not changed, as a rule.
        let noted = was.is_none_or(|was| was.kind.is_some())
            && begun(self.undo.as_ref(), &found.path, was.as_ref(), kept, bytes.as_deref(), self.bounds).is_ok();
        self.kept_bytes += bytes.map_or(0, |bytes| bytes.len() as u64);
        self.paths.insert(found.path.clone(), Touched::new(was, kept, noted));
    }

    /// The same for a directory and all that is in it; names below it.
    pub(super) fn touch_all(&mut self, found: &Found, sight: &Sight) -> Vec<PathBuf> {
        self.touch(found);
        let mut below = Vec::new();
        if look(&found.dir, &found.name).is_ok_and(|entry| entry.is_some_and(|it| it.kind == Some(Kind::Directory))) {
            self.blind |= !names_below(&found.dir, &found.name, Path::new(""), 0, &mut below);
        }
        for name in &below {
            self.touch_at(&found.path.join(name), sight);
        }
        below
    }

    /// The same for a path in a root. What is another thing to the command than to us, as a hidden file is, is not read.
    pub(super) fn touch_at(&mut self, path: &Path, sight: &Sight) {
        match sight.at(path) {
            Some(found) => self.touch_as(&found, sight.is_shared(&found)),
            // A place in a directory that is not there yet.
            None if !self.paths.contains_key(path) && self.paths.len() < self.most_paths => {
                let noted = begun(self.undo.as_ref(), path, None, None, None, self.bounds).is_ok();
                self.paths.insert(path.into(), Touched::new(None, None, noted));
            }
            None if !self.paths.contains_key(path) => self.go_beyond(path, None),
            None => {}
        }
    }

    fn content_of(&self, found: &Found, was: &Entry) -> Option<Vec<u8>> {
        let left = self.bounds.call_bytes.saturating_sub(self.kept_bytes);
        content(&found.dir, &found.name, was.kind?, self.bounds.file_bytes.min(left))
    }

    /// One path too many: the call as a whole cannot be taken back any more, and its line says so.
    fn go_beyond(&mut self, path: &Path, was: Option<&Entry>) {
        if self.beyond.is_some() {
            return;
        }
        self.beyond = Some(path.to_path_buf());
        let more = More { left: None, left_as: None, was_as: None, before: Before::Lost, known: Known::Begun };
        // Where even that cannot be written, the answer says it.
        let _ = self.undo.keep(&Preimage {
            path,
            kind: was.and_then(|was| was.kind).unwrap_or(Kind::File),
            bytes: None,
            hash: None,
            mode: was.map(|was| was.mode),
            after: None,
            more: Some(more),
        });
    }

    /// Looks what came of every path that was touched since the last look, and lets the call be taken back.
    pub(super) fn settle(&mut self, sight: &Sight, held_open: &[Found]) -> Recorded {
        let mut recorded = Recorded { call: self.call.clone(), ..Recorded::default() };
        for (path, touched) in &mut self.paths {
            if touched.came.is_none() {
                touched.came = Some(touched.settle(path, sight, self.undo.as_ref(), self.bounds));
            }
            touched.open = false;
            touched.count(path, &mut recorded);
        }
        for found in held_open {
            if let Some(touched) = self.paths.get_mut(&found.path) {
                touched.open = true;
            }
        }
        recorded.beyond.clone_from(&self.beyond);
        recorded.blind = self.blind;
        recorded.not_kept.sort();
        recorded.special.sort();
        recorded.linked.sort();
        self.hold = None;
        recorded
    }

    /// The last look, when another call follows: also at what was written since through what was held open.
    pub(super) fn close(mut self, sight: &Sight) {
        for touched in self.paths.values_mut().filter(|touched| touched.open) {
            touched.came = None;
        }
        self.settle(sight, &[]);
    }
}

impl Touched {
    fn new(was: Option<Entry>, kept: Option<[u8; 32]>, noted: bool) -> Touched {
        Touched { was, kept, noted, came: None, open: false, in_place: false }
    }

    /// Looks what stands there now, and writes down what came of it.
    fn settle(&mut self, path: &Path, sight: &Sight, undo: &dyn Undo, bounds: Bounds) -> Came {
        let found = sight.at(path);
        let now = match found.as_ref().map(|found| look(&found.dir, &found.name)).transpose() {
            Ok(now) => now.flatten(),
            // A directory that we may not enter: nobody knows, and undo says so when it cannot look either.
            Err(_) => return Came::Lost,
        };
        let stood = |was: &Entry| now.is_some_and(|now| now.stamp.same_file(&was.stamp));
        self.in_place = self.was.as_ref().is_some_and(stood);
        let after = match (&found, &now) {
            (Some(found), Some(Entry { kind: Some(kind), bytes, .. })) if *bytes <= bounds.hashed_bytes => {
                hash(&found.dir, &found.name, *kind, bounds.hashed_bytes)
            }
            _ => None,
        };
        let (came, before) = self.compare(now.as_ref(), after);
        let told = match came {
            Came::Unchanged => Known::Unchanged,
            Came::Special if self.was.is_none() => Known::Unchanged,
            _ => Known::Settled,
        };
        let more = More {
            left: now.and_then(|now| now.kind),
            left_as: now.filter(|_| after.is_none()).map(|now| now.stamp.as_numbers()),
            was_as: self.was.filter(|was| was.bytes > bounds.hashed_bytes).map(|was| was.stamp.as_numbers()),
            before,
            known: told,
        };
        let kind = self.was.and_then(|was| was.kind).or(now.and_then(|now| now.kind));
        let written = undo.keep(&Preimage {
            path,
            kind: kind.unwrap_or(Kind::File),
            bytes: None,
            hash: if before == Before::Same { after } else { self.kept },
            mode: self.was.map(|was| was.mode),
            after,
            more: Some(more),
        });
        // Without that line undo takes for what the call left whatever stands there: that is said, too.
        if written.is_err() && came != Came::Unchanged { Came::Lost } else { came }
    }

    /// What became of it, and what is kept of what stood there.
    fn compare(&self, now: Option<&Entry>, after: Option<[u8; 32]>) -> (Came, Before) {
        let kept = match (&self.was, self.kept, self.noted) {
            (None, _, true) | (Some(_), Some(_), true) => Before::Kept,
            _ => Before::Lost,
        };
        let lost_or = |came: Came| if kept == Before::Lost { Came::Lost } else { came };
        let (was, now) = match (&self.was, now) {
            (None, None) => return (Came::Unchanged, Before::Kept),
            (None, Some(now)) if now.kind.is_none() => return (Came::Special, Before::Kept),
            (None, Some(_)) => return (lost_or(Came::Created), kept),
            (Some(_), None) => return (lost_or(Came::Deleted), kept),
            (Some(was), Some(now)) => (was, now),
        };
        let same_content = was.kind == now.kind
            && match (self.kept, after) {
                (Some(kept), Some(after)) => kept == after,
                // Too large to be hashed, or not kept: told by inode, size and modification time.
                _ => was.stamp.same_content(&now.stamp),
            };
        match (same_content, was.mode == now.mode || was.kind == Some(Kind::Link)) {
            (true, true) => (Came::Unchanged, kept),
            (true, false) if was.kind == Some(Kind::File) => (Came::Changed, Before::Same),
            _ if now.kind.is_none() => (Came::Special, kept),
            _ => (lost_or(Came::Changed), kept),
        }
    }

    fn count(&self, path: &Path, recorded: &mut Recorded) {
        match self.came {
            Some(Came::Created) => recorded.created += 1,
            Some(Came::Changed) => recorded.changed += 1,
            Some(Came::Deleted) => recorded.deleted += 1,
            Some(Came::Lost) => recorded.not_kept.push(path.to_path_buf()),
            Some(Came::Special) => recorded.special.push(path.to_path_buf()),
            Some(Came::Unchanged) | None => return,
        }
        let shared = self.was.is_some_and(|was| was.kind == Some(Kind::File) && was.links > 1);
        if shared && self.in_place && self.came == Some(Came::Changed) {
            recorded.linked.push(path.to_path_buf());
        }
    }
}

/// Writes down that a path is about to be touched, and keeps what stands there.
fn begun(
    undo: &dyn Undo,
    path: &Path,
    was: Option<&Entry>,
    kept: Option<[u8; 32]>,
    bytes: Option<&[u8]>,
    bounds: Bounds,
) -> Result<(), nika_contract::ToolError> {
    let lost = was.is_some() && kept.is_none();
    let more = More {
        left: None,
        left_as: None,
        was_as: was.filter(|was| was.bytes > bounds.hashed_bytes).map(|was| was.stamp.as_numbers()),
        before: if lost { Before::Lost } else { Before::Kept },
        known: Known::Begun,
    };
    undo.keep(&Preimage {
        path,
        kind: was.and_then(|was| was.kind).unwrap_or(Kind::File),
        bytes,
        hash: kept,
        mode: was.map(|was| was.mode),
        after: None,
        more: Some(more),
    })
}

/// Names of all that is in a directory, each directory before what is in it. False where there may be others.
fn names_below(dir: &OwnedFd, name: &OsStr, above: &Path, depth: usize, into: &mut Vec<PathBuf>) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(dir) = openat(dir, name, flags, Mode::empty()) else { return false };
    let Ok(entries) = Dir::read_from(&dir) else { return false };
    let mut all = true;
    for entry in entries {
        let Ok(entry) = entry else { return false };
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        // One more than fits, so that it is seen that it does not.
        if into.len() > MOST_PATHS {
            return all;
        }
        let path = above.join(name);
        into.push(path.clone());
        if look(&dir, name).is_ok_and(|it| it.is_some_and(|it| it.kind == Some(Kind::Directory))) {
            all &= depth < MAX_DEPTH && names_below(&dir, name, &path, depth + 1, into);
        }
    }
    all
}
