//! One path that a call touched: what stood there before, and what came of it.
//!
//! What stands there when the command has ended is what it left, unless somebody else has written it meanwhile. So each
//! path is looked at soon after it was touched, too (`rest`): what comes later without a touch is another's, and undo finds
//! that it is not what the call left.

use std::path::Path;

use nika_contract::{Before, Kind, Known, More, Preimage, ToolError, Undo};

use super::before::{Entry, Standing, look};
use super::held_open::Held;
use super::recorder::Recorded;
use super::rest::Due;
use super::sight::{Found, Sight};
use crate::fs::sha256;
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
    /// What came of it, where that is known and it was not touched since.
    pub(super) came: Option<Came>,
    /// Whether it was open for writing when the last call ended.
    pub(super) open: bool,
    /// What the command was last seen to hold open for writing there, where no touch came since: another file in its
    /// place is not the command's.
    seen: Option<Entry>,
    /// What stood there when it was last looked at, where `came` tells of that.
    left: Option<Standing>,
    /// Whether `came` is written down.
    written: bool,
    /// How often it was.
    lines: u32,
    /// Somebody else wrote there between two touches: what the command had left before that is all that is known.
    beside: bool,
    /// When it is looked at.
    pub(super) due: Due,
    /// Whether what stands there now is the same file, and no other in its place.
    in_place: bool,
}

/// What came of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Came {
    Unchanged,
    Created,
    Changed,
    Deleted,
    /// Changed, and what stood there is not kept.
    Lost,
    /// A device, FIFO or socket, which undo leaves alone.
    Special,
}

impl Touched {
    /// About to be touched for the first time; what stood there is written down with its content.
    pub(super) fn begun(
        path: &Path,
        was: Option<Entry>,
        bytes: Option<&[u8]>,
        undo: &dyn Undo,
        bounds: Bounds,
    ) -> Touched {
        let kept = bytes.map(sha256);
        // A device, a FIFO or a socket is used and not changed, as a rule.
        let noted =
            was.is_none_or(|was| was.kind.is_some()) && begun(undo, path, was.as_ref(), kept, bytes, bounds).is_ok();
        Touched {
            was,
            kept,
            noted,
            came: None,
            open: false,
            seen: None,
            left: None,
            written: false,
            lines: 0,
            beside: false,
            due: Due::default(),
            in_place: false,
        }
    }

    /// About to be touched once more. What came of it is not known any more; a later line has to say so. False where
    /// somebody else has written there since, and the command had changed nothing yet: then this is the first touch.
    pub(super) fn again(&mut self, found: &Found, undo: &dyn Undo, bounds: Bounds) -> bool {
        self.seen = None;
        self.beside |= self.left.is_some_and(|left| left.is_gone(Some(found)));
        match (self.came, self.beside) {
            (Some(Came::Unchanged), true) => return false,
            (None, _) | (_, true) => return true,
            (Some(_), false) => (self.came, self.left) = (None, None),
        }
        if self.written && self.was.is_none_or(|was| was.kind.is_some()) {
            self.noted = begun(undo, &found.path, self.was.as_ref(), self.kept, None, bounds).is_ok();
        }
        true
    }

    /// Looks what stands there while the command goes on; false where the command may still write there without a touch,
    /// or its end has to be awaited for another reason. The first looks are written down, so that they outlive a kill;
    /// a file that is written day and night would fill the log.
    pub(super) fn look(&mut self, path: &Path, sight: &Sight, held: &Held, undo: &dyn Undo, bounds: Bounds) -> bool {
        let Some(found) = sight.place(path) else { return false };
        let Ok(now) = found.as_ref().map(|found| look(&found.dir, &found.name)).transpose().map(Option::flatten) else {
            return false;
        };
        // What has other names is written under these, too. A large file would be told by its time, which may be set
        // without a touch.
        let waits = |now: &Entry| now.kind == Some(Kind::File) && (now.links > 1 || now.bytes > MOST_LOOKED_AT);
        let is_held = now.is_some_and(|now| held.holds(path, &now.stamp));
        if is_held {
            self.seen = now;
        }
        if is_held || now.as_ref().is_some_and(waits) {
            return false;
        }
        let Ok(standing) = Standing::at(found.as_ref(), MOST_LOOKED_AT) else { return false };
        self.came_of(path, standing, undo, bounds, self.lines < MOST_LINES);
        self.left = Some(standing);
        true
    }

    /// At an end: looks what stands there, where that was not done since the last touch, and has it written down.
    pub(super) fn settle(&mut self, path: &Path, sight: &Sight, undo: &dyn Undo, bounds: Bounds) {
        match (self.came, self.left) {
            (Some(_), Some(left)) if !self.written => self.came_of(path, left, undo, bounds, true),
            (Some(_), _) => {}
            (None, _) => match Standing::at(sight.at(path).as_ref(), bounds.hashed_bytes) {
                Ok(now) => self.came_of(path, now, undo, bounds, true),
                // A directory that we may not enter: nobody knows, and undo says so when it cannot look either.
                Err(_) => self.came = Some(Came::Lost),
            },
        }
    }

    /// The same, and looks again at what was open.
    pub(super) fn settle_open(&mut self, path: &Path, sight: &Sight, undo: &dyn Undo, bounds: Bounds) {
        if !self.beside {
            (self.came, self.left) = (None, None);
        }
        self.settle(path, sight, undo, bounds);
    }

    /// What came of it when this is what stands there.
    fn came_of(&mut self, path: &Path, standing: Standing, undo: &dyn Undo, bounds: Bounds, writes: bool) {
        // The command had that file, and none of it put another in its place.
        let replaced = self.seen.filter(|seen| !standing.entry.is_some_and(|now| now.stamp.same_file(&seen.stamp)));
        self.beside |= replaced.is_some();
        let Standing { entry: now, hash: after } =
            replaced.map_or(standing, |seen| Standing { entry: Some(seen), hash: None });
        let stood = |was: &Entry| now.is_some_and(|now| now.stamp.same_file(&was.stamp));
        self.in_place = self.was.as_ref().is_some_and(stood);
        let (came, before) = self.compare(now.as_ref(), after);
        (self.came, self.written) = (Some(came), writes);
        if !writes {
            return;
        }
        self.lines += 1;
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
        if written.is_err() && came != Came::Unchanged {
            self.came = Some(Came::Lost);
        }
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

    /// Adds it to what the answer says.
    pub(super) fn count(&self, path: &Path, sight: &Sight, recorded: &mut Recorded) {
        if self.beside || self.left.is_some_and(|left| left.is_gone(sight.at(path).as_ref())) {
            recorded.others.push(path.to_path_buf());
            recorded.refused |= self.came != Some(Came::Unchanged);
        }
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
) -> Result<(), ToolError> {
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
