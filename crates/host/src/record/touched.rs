//! One path that a call touched: what stood there before, and what came of it.
//!
//! What stands there when the command has ended is what it left, unless somebody else has written it meanwhile. So each
//! path is looked at soon after it was touched, too (`rest`): what comes later without a touch is another's, and undo finds
//! that it is not what the call left.
//!
//! | `looked` | `held` | the path |
//! |---|---|---|
//! | none | none | was touched, and nobody has looked since |
//! | none | a file | the command has that open and may write it unseen; another in its place is another's |
//! | what came of it | none | was not touched since that look: whatever else stands there now is another's |
//! | what came of it | a file | the same at the end of a call, of an interpreter that may go on writing that file |
//!
//! A look of which `beside` is said stands for good: what others wrote and what the command wrote after them are not told
//! apart any more.

use std::collections::HashMap;
use std::path::Path;

use nika_contract::{Before, Dress, Kind, Known, More, Preimage, ToolError, Undo};

use super::before::{Entry, Standing, look_at};
use super::held_open::Held;
use super::recorder::Recorded;
use super::rest::Due;
use super::sight::{Found, Sight};
use crate::fs::sha256;
use crate::git;
use crate::overlay::Bounds;

/// The largest file that is hashed while the command goes on, whose next call may wait for it. 16 MiB, some ten
/// milliseconds.
const MOST_LOOKED_AT: u64 = 16 << 20;
/// How often what came of one path is written down while the command goes on.
const MOST_LINES: u32 = 16;

/// A path.
pub(super) struct Touched {
    /// What stood there; `None` where nothing did.
    was: Option<Entry>,
    /// sha256 of its content, where that is kept.
    kept: Option<[u8; 32]>,
    /// Whether that it is about to change is written down.
    noted: bool,
    /// What was seen at the last look, where no touch came since.
    pub(super) looked: Option<Looked>,
    /// What the command was last seen to hold open for writing there, where no touch came since.
    held: Option<Entry>,
    /// How often what came of it was written down.
    lines: u32,
    /// When it is looked at.
    pub(super) due: Due,
}

/// What is kept of what stood at a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept<'a> {
    /// sha256 of its content, where that is kept, or was before.
    pub(super) hash: Option<[u8; 32]>,
    /// The content, where it is not kept yet.
    pub(super) bytes: Option<&'a [u8]>,
    pub(super) dress: Option<&'a Dress>,
}

/// What was seen at one look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looked {
    came: Came,
    /// What the command left there.
    left: Standing,
    /// Somebody else wrote there after that.
    beside: bool,
    /// Whether it is written down.
    written: bool,
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
    /// A device, FIFO or socket, which undo neither removes nor brings back.
    Special,
}

impl Touched {
    /// About to be touched for the first time; what stood there is written down with its content.
    pub(super) fn begun(path: &Path, was: Option<Entry>, kept: Kept<'_>, undo: &dyn Undo, bounds: Bounds) -> Touched {
        // A device, a FIFO or a socket is used and not changed, as a rule.
        let noted = was.is_none_or(|was| was.kind.is_some()) && begun(undo, path, was.as_ref(), kept, bounds).is_ok();
        Touched { was, kept: kept.hash, noted, looked: None, held: None, lines: 0, due: Due::default() }
    }

    /// About to be touched once more. What came of it is not known any more; a later line has to say so. False where
    /// somebody else has written there since, and the command had changed nothing yet: then this is the first touch.
    pub(super) fn again(&mut self, path: &Path, found: Option<&Found>, undo: &dyn Undo, bounds: Bounds) -> bool {
        let replaced = look_at(found).ok().and_then(|now| self.replaced(now.as_ref()));
        match (&mut self.looked, replaced) {
            (Some(looked), replaced) => {
                // What is held open the command has written itself.
                let gone = self.held.is_none() && looked.left.is_gone(found);
                looked.beside |= replaced.is_some() || gone;
            }
            (None, Some(left)) => self.see(path, left, true, undo, bounds, true),
            (None, None) => {}
        }
        self.held = None;
        let Some(looked) = self.looked else { return true };
        if looked.beside {
            return looked.came != Came::Unchanged;
        }
        self.looked = None;
        if looked.written && self.was.is_none_or(|was| was.kind.is_some()) {
            let kept = Kept { hash: self.kept, bytes: None, dress: None };
            self.noted = begun(undo, path, self.was.as_ref(), kept, bounds).is_ok();
        }
        true
    }

    /// Looks what stands there while the command goes on; false where the command may still write there without a touch,
    /// or its end has to be awaited for another reason. The first looks are written down, so that they outlive a kill;
    /// a file that is written day and night would fill the log.
    pub(super) fn look(&mut self, path: &Path, sight: &Sight, held: &Held, undo: &dyn Undo, bounds: Bounds) -> bool {
        // It may be that it cannot be looked at now.
        let Ok(found) = sight.at(path) else { return false };
        let Ok(now) = look_at(found.as_ref()) else { return false };
        let writes = self.lines < MOST_LINES;
        if let Some(left) = self.replaced(now.as_ref()) {
            self.see(path, left, true, undo, bounds, writes);
            return true;
        }
        // What has other names is written under these, too. A large file would be told by its time, which may be set
        // without a touch.
        let waits = |now: &Entry| now.kind == Some(Kind::File) && (now.links > 1 || now.bytes > MOST_LOOKED_AT);
        let is_held = now.is_some_and(|now| held.holds(path, &now.stamp));
        if is_held {
            self.held = now;
        }
        if is_held || now.as_ref().is_some_and(waits) {
            return false;
        }
        let Ok(standing) = Standing::at(found.as_ref(), MOST_LOOKED_AT) else { return false };
        self.see(path, standing, false, undo, bounds, writes);
        true
    }

    /// At an end: looks what stands there, where that was not done since the last touch or the command could go on
    /// writing there, and has it written down.
    pub(super) fn settle(&mut self, path: &Path, sight: &Sight, undo: &dyn Undo, bounds: Bounds) {
        if let Some(looked) = self.looked.filter(|looked| looked.beside || self.held.is_none()) {
            if !looked.written {
                self.looked = Some(self.write(path, looked, undo, bounds));
            }
            return;
        }
        // A directory that we may not enter: nobody knows, and undo says so when it cannot look either.
        let now = sight.at(path).and_then(|found| Standing::at(found.as_ref(), bounds.hashed_bytes));
        let replaced = now.as_ref().ok().and_then(|now| self.replaced(now.entry.as_ref()));
        match (self.looked, replaced, now) {
            (Some(looked), Some(_), _) => self.looked = Some(Looked { beside: true, ..looked }),
            (None, Some(left), _) => self.see(path, left, true, undo, bounds, true),
            (_, None, Ok(now)) => self.see(path, now, false, undo, bounds, true),
            (_, _, Err(_)) => self.looked = None,
        }
    }

    /// After an end: the command goes on, and has open for writing what stands there.
    pub(super) fn hold(&mut self, found: &Found) {
        self.held = look_at(Some(found)).ok().flatten();
    }

    /// What the command left, where it held a file open and another stands there now, or none: no touch put that there.
    fn replaced(&self, now: Option<&Entry>) -> Option<Standing> {
        let held = self.held.filter(|held| !now.is_some_and(|now| now.stamp.same_file(&held.stamp)))?;
        Some(Standing { entry: Some(held), hash: None })
    }

    /// Takes `left` for what the command left.
    fn see(&mut self, path: &Path, left: Standing, beside: bool, undo: &dyn Undo, bounds: Bounds, writes: bool) {
        let (came, _) = self.compare(&left);
        let looked = Looked { came, left, beside, written: false };
        self.held = None;
        self.looked = Some(if writes { self.write(path, looked, undo, bounds) } else { looked });
    }

    /// Writes down what was seen.
    fn write(&mut self, path: &Path, looked: Looked, undo: &dyn Undo, bounds: Bounds) -> Looked {
        self.lines += 1;
        let (came, before) = self.compare(&looked.left);
        let Standing { entry: now, hash: after } = looked.left;
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
            mode_left: now.map(|now| now.mode),
            after: after.map(|after| said_by_index(path, after).unwrap_or(after)),
            more: Some(more),
            dress: None,
            linked: self.was.as_ref().is_some_and(has_names),
        });
        // Without that line undo takes for what the call left whatever stands there: that is said, too.
        let lost = written.is_err() && came != Came::Unchanged;
        Looked { came: if lost { Came::Lost } else { came }, written: true, ..looked }
    }

    /// What became of it, when this is what the command left, and what is kept of what stood there.
    fn compare(&self, left: &Standing) -> (Came, Before) {
        let kept = match (&self.was, self.kept, self.noted) {
            (None, _, true) | (Some(_), Some(_), true) => Before::Kept,
            _ => Before::Lost,
        };
        let lost_or = |came: Came| if kept == Before::Lost { Came::Lost } else { came };
        let (was, now) = match (&self.was, &left.entry) {
            (None, None) => return (Came::Unchanged, Before::Kept),
            (None, Some(now)) if now.kind.is_none() => return (Came::Special, Before::Kept),
            (None, Some(_)) => return (lost_or(Came::Created), kept),
            (Some(was), now) if was.kind.is_none() => {
                let came = if now.is_some_and(|now| now.kind.is_none()) { Came::Unchanged } else { Came::Special };
                return (came, Before::Kept);
            }
            (Some(_), None) => return (lost_or(Came::Deleted), kept),
            (Some(was), Some(now)) => (was, now),
        };
        let same_content = was.kind == now.kind
            && match (self.kept, left.hash) {
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

    /// Adds it to what the answer says.
    pub(super) fn count(&self, path: &Path, sight: &Sight, bounds: Bounds, recorded: &mut Recorded) {
        // Nobody could look there.
        let Some(looked) = &self.looked else { return recorded.not_kept.push(path.to_path_buf()) };
        // What cannot be looked at now undo will not find gone either, or say so.
        let found = sight.at(path);
        let gone = found.as_ref().is_ok_and(|found| looked.left.is_gone(found.as_ref()));
        if looked.beside || gone {
            recorded.others.push(path.to_path_buf());
        }
        if gone && looked.came != Came::Unchanged {
            let now = found.and_then(|found| Standing::at(found.as_ref(), bounds.hashed_bytes));
            recorded.refused |= !now.is_ok_and(|now| self.is_back(&now));
        }
        match looked.came {
            Came::Created => recorded.created += 1,
            Came::Changed => recorded.changed += 1,
            Came::Deleted => recorded.deleted += 1,
            Came::Lost => recorded.not_kept.push(path.to_path_buf()),
            Came::Special => recorded.special.push(path.to_path_buf()),
            Came::Unchanged => {}
        }
    }

    /// The file that the command left there, other than it was: undo takes this name from it, or puts another file there.
    pub(super) fn taken_back(&self) -> Option<(u64, u64)> {
        let left = self.looked.filter(|looked| matches!(looked.came, Came::Changed | Came::Created))?.left.entry?;
        (left.kind == Some(Kind::File)).then(|| left.stamp.inode())
    }

    /// Adds what the answer says of other names that a file had: `names` are those of each that are taken back together.
    pub(super) fn count_names(&self, path: &Path, names: &HashMap<(u64, u64), u64>, recorded: &mut Recorded) {
        let (Some(was), Some(looked)) = (self.was.filter(has_names), self.looked) else { return };
        if !matches!(looked.came, Came::Changed | Came::Deleted) {
            return;
        }
        match looked.left.entry.filter(|left| left.stamp.same_file(&was.stamp)) {
            // Rights alone are set on the one file.
            Some(_) if self.compare(&looked.left).1 == Before::Same => {}
            Some(left) if names.get(&left.stamp.inode()).is_none_or(|names| *names < left.links) => {
                recorded.linked.push(path.to_path_buf());
            }
            _ => recorded.parted.push(path.to_path_buf()),
        }
    }

    /// Whether somebody has put back what stood there: that undo does not refuse.
    fn is_back(&self, now: &Standing) -> bool {
        match (&self.was, &now.entry) {
            (Some(was), Some(entry)) => was.kind == entry.kind && self.kept.is_some() && self.kept == now.hash,
            (was, entry) => was.is_none() && entry.is_none(),
        }
    }
}

fn has_names(was: &Entry) -> bool {
    was.kind == Some(Kind::File) && was.links > 1
}

/// Writes down that a path is about to be touched, and keeps what stands there.
fn begun(
    undo: &dyn Undo,
    path: &Path,
    was: Option<&Entry>,
    Kept { hash, bytes, dress }: Kept<'_>,
    bounds: Bounds,
) -> Result<(), ToolError> {
    let lost = was.is_some_and(|was| was.kind.is_some()) && hash.is_none();
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
        hash,
        mode: was.map(|was| was.mode),
        mode_left: None,
        after: None,
        more: Some(more),
        dress,
        linked: was.is_some_and(has_names),
    })
}

/// What a repository's index says, where it has this sum: whoever asks for the status writes it anew, and it says the same.
fn said_by_index(path: &Path, sum: [u8; 32]) -> Option<[u8; 32]> {
    if !path.ends_with(".git/index") {
        return None;
    }
    let bytes = git::read(path, git::INDEX_BYTES).ok()??;
    if sha256(&bytes) == sum { git::meaning(&bytes) } else { None }
}
