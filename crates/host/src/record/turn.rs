//! What one call touched: each path once, as it was before; and what came of it.

use std::any::Any;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use nika_contract::{Before, Kind, Known, Lasting, More, Preimage, Undo};
use rustix::fs::{Dir, OFlags};

use super::before::{Entry, content, dress, look, look_at};
use super::firsts::{First, Firsts};
use super::held_open::Held;
use super::recorder::Recorded;
use super::rest::Rest;
use super::sight::{Found, Sight};
use super::touched::{Kept, Touched};
use crate::fs::{look_as_owner, sha256};
use crate::overlay::Bounds;

/// Paths of one call. 100,000: what is known of them takes some 60 MB.
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
    firsts: Firsts,
    rest: Rest,
    kept_bytes: u64,
    /// The first path that was one too many.
    beyond: Option<PathBuf>,
    /// Whether something was touched of which nothing can be told.
    blind: bool,
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
            firsts: Firsts::default(),
            rest: Rest::default(),
            kept_bytes: 0,
            beyond: None,
            blind: false,
        }
    }

    /// Notes that the command had a hold of files which somebody else gave guarded names.
    pub(super) fn tell_handled(&self, files: &[PathBuf]) {
        self.undo.tell_handled(files);
    }

    /// Something is about to be touched, and nobody can say what.
    pub(super) fn touch_unknown(&mut self) {
        self.blind = true;
    }

    pub(super) fn may_have_touched(&self, path: &Path) -> bool {
        self.paths.contains_key(path) || self.beyond.is_some() || self.blind
    }

    /// A place is about to be touched: at the first time, what stands there is kept.
    pub(super) fn touch(&mut self, found: &Found) {
        self.touch_as(&found.path, Some(found), true);
    }

    /// `found`: none where its directory is not there yet. `reads`: whether the command itself could read what stands
    /// there.
    fn touch_as(&mut self, path: &Path, found: Option<&Found>, reads: bool) {
        if let Some(touched) = self.paths.get_mut(path) {
            if touched.again(path, found, self.undo.as_ref(), self.bounds) {
                return self.rest.touched(path, &mut touched.due, Instant::now());
            }
            self.rest.end(path, &mut touched.due);
            self.paths.remove(path);
            if let Some((found, Ok(Some(now)))) = found.map(|found| (found, look_at(Some(found)))) {
                self.firsts.forget(found, &now);
            }
        }
        let was = look_at(found);
        if self.paths.len() >= self.most_paths {
            return self.go_beyond(path, was.ok().flatten().as_ref());
        }
        let Ok(was) = was else { return self.touch_unknown() };
        // Changed under another name before: what it held is kept already.
        if let Some(First { was, kept, dress }) = found.zip(was).and_then(|(found, was)| self.firsts.of(found, &was)) {
            return self.begin(path, Some(was), Kept { hash: kept, bytes: None, dress: dress.as_ref() });
        }
        let kept = found.zip(was).filter(|_| reads);
        let bytes = kept.and_then(|(found, was)| self.content_of(found, &was));
        let dress = kept.and_then(|(found, was)| dress(found, &was));
        let hash = bytes.as_deref().map(sha256);
        if let Some((found, was)) = found.zip(was) {
            self.firsts.note(found, First { was, kept: hash, dress: dress.clone() });
        }
        self.begin(path, was, Kept { hash, bytes: bytes.as_deref(), dress: dress.as_ref() });
    }

    fn begin(&mut self, path: &Path, was: Option<Entry>, kept: Kept<'_>) {
        let mut touched = Touched::begun(path, was, kept, self.undo.as_ref(), self.bounds);
        self.kept_bytes += kept.bytes.map_or(0, |bytes| bytes.len() as u64);
        self.rest.touched(path, &mut touched.due, Instant::now());
        self.paths.insert(path.into(), touched);
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
            Ok(found) => {
                let reads = found.as_ref().is_some_and(|found| sight.is_shared(found));
                self.touch_as(path, found.as_ref(), reads);
            }
            Err(_) => self.touch_unknown(),
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
            mode_left: None,
            after: None,
            more: Some(more),
            dress: None,
            linked: false,
        });
    }

    /// When the next of the paths is to be looked at that were touched and may be left alone by now.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.rest.next()
    }

    /// Those whose time has come.
    pub(super) fn at_rest(&self, now: Instant) -> Vec<PathBuf> {
        self.rest.until(now)
    }

    /// Looks what came of one of them, when at `since` the command held open what `held` says: what stands there from now
    /// on without a touch is another's.
    pub(super) fn look(&mut self, path: &Path, since: Instant, held: &Held, sight: &Sight) {
        let Some(touched) = self.paths.get_mut(path).filter(|touched| touched.due.is_before(since)) else { return };
        self.rest.end(path, &mut touched.due);
        if touched.looked.is_none() && !touched.look(path, sight, held, self.undo.as_ref(), self.bounds) {
            self.rest.later(path, &mut touched.due, Instant::now());
        }
    }

    /// Looks what came of every path that was touched since the last look, or held open at the last end, and lets the
    /// call be taken back. `held_open`: what may be written from now on without a touch.
    pub(super) fn settle(&mut self, sight: &Sight, held_open: &[Found]) -> Recorded {
        let mut recorded = Recorded { call: self.call.clone(), ..Recorded::default() };
        // How many names of each file are taken back together.
        let mut names: HashMap<(u64, u64), u64> = HashMap::new();
        for (path, touched) in &mut self.paths {
            touched.settle(path, sight, self.undo.as_ref(), self.bounds);
            touched.taken_back().into_iter().for_each(|file| *names.entry(file).or_default() += 1);
        }
        for (path, touched) in &self.paths {
            touched.count(path, sight, self.bounds, &mut recorded);
            touched.count_names(path, &names, &mut recorded);
        }
        for found in held_open {
            if let Some(touched) = self.paths.get_mut(&found.path) {
                touched.hold(found);
            }
        }
        recorded.beyond.clone_from(&self.beyond);
        recorded.blind = self.blind;
        recorded.not_kept.sort();
        recorded.special.sort();
        recorded.linked.sort();
        recorded.parted.sort();
        recorded.others.sort();
        self.hold = None;
        recorded
    }
}

/// Names of all that is in a directory, each directory before what is in it. False where there may be others.
fn names_below(dir: &OwnedFd, name: &OsStr, above: &Path, depth: usize, into: &mut Vec<PathBuf>) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let Ok(dir) = look_as_owner(dir, name.as_ref(), flags) else { return false };
    let names = dir.try_clone().ok().and_then(|dir| Dir::new(dir).ok());
    let Some(entries) = names else { return false };
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
