//! One path on its way from how it stands to how it shall stand. A change set and an undo play their steps
//! through on slots, in memory, and commit what comes out.

use nika_contract::{Cx, Dress, Kind, ToolError};
use nika_edit::{Limits, unified};
use nika_guard::Place;
use nika_host::fs::{Change, Expect, Ledger, Shown, Workspace};
use nika_host::overlay::{Entry, Stands};

use super::seen::MAX_BYTES;
use super::shown;
use crate::told::kinds;

/// See the module's page.
#[derive(Debug)]
pub(super) struct Slot {
    pub place: Place,
    /// What stands there.
    pub origin: Expect,
    /// What shall; `None` for nothing. Of a link, where it points.
    pub now: Option<Vec<u8>>,
    pub kind: Kind,
    /// Whether a directory stands there, of which nothing is left.
    pub replaces_dir: bool,
    /// Permission bits, when they shall be others than those that stand there.
    pub mode: Option<u32>,
    /// What else it shall have, when that should not be what stands there has.
    pub dress: Option<Dress>,
    /// Whether the session knows its content: it read or wrote it.
    pub known: bool,
    /// How much of it, as it shall stand there, the session has seen.
    pub shown: Shown,
    /// What the session takes the content for, where others changed it since it was read.
    pub seen: Option<Vec<u8>>,
    /// What others changed since then, to be told.
    pub outside: String,
}

impl Slot {
    /// A path as it stands.
    pub fn look(files: &Workspace, cx: &Cx<'_>, place: &Place) -> Result<Slot, ToolError> {
        let origin = files.look(cx.permit, place, MAX_BYTES)?.unwrap_or(Expect::Absent);
        let (now, kind) = match &origin {
            Expect::Absent => (None, Kind::File),
            Expect::Is { bytes, kind, .. } => (Some(bytes.clone()), *kind),
        };
        let seen = cx.session.slot::<Ledger>().seen(&place.path).filter(|seen| seen.hash == origin.hash());
        let known = seen.is_some();
        let shown = seen.map_or_else(Shown::default, |seen| seen.shown);
        let place = place.clone();
        let (mode, seen, outside) = (None, None, String::new());
        Ok(Slot { place, origin, now, kind, replaces_dir: false, mode, dress: None, known, shown, seen, outside })
    }

    /// A path where a directory goes.
    pub fn of_dir(place: &Place) -> Slot {
        let (place, origin, outside) = (place.clone(), Expect::Absent, String::new());
        let (now, mode, seen, shown) = (None, None, None, Shown::default());
        let (kind, dress) = (Kind::File, None);
        Slot { place, origin, now, kind, replaces_dir: true, mode, dress, known: false, shown, seen, outside }
    }

    /// The bytes that stand there.
    pub fn before(&self) -> Option<&[u8]> {
        match &self.origin {
            Expect::Absent => None,
            Expect::Is { bytes, .. } => Some(bytes),
        }
    }

    /// The permission bits that stand there.
    pub fn own_mode(&self) -> Option<u32> {
        self.origin.mode()
    }

    /// Other text in a file that the session knows.
    pub fn rewrite(&mut self, bytes: Vec<u8>) {
        let former = self.now.as_deref().unwrap_or_default();
        self.shown = shown::after(&self.place.path, &self.shown, former, &bytes);
        self.now = Some(bytes);
    }

    /// Whether there is anything to commit.
    pub fn differs(&self) -> bool {
        let rights =
            self.now.is_some() && self.mode.is_some() && self.own_mode().is_some_and(|own| self.mode != Some(own));
        self.before() != self.now.as_deref() || rights
    }

    /// How it would change: what a diff does not say, and the lines.
    fn told(&self, limits: &Limits) -> String {
        if !self.differs() {
            return String::new();
        }
        let (before, name) = (self.before(), self.place.shown());
        let size = |bytes: &[u8]| bytes.len() as u64;
        let was: Option<Stands> = match &self.origin {
            Expect::Absent => None,
            Expect::Is { bytes, kind, .. } => Some((*kind, size(bytes), self.own_mode())),
        };
        let is: Option<Stands> = self.now.as_deref().map(|now| (self.kind, size(now), self.mode.or(self.own_mode())));
        let of_file = |stands: Option<Stands>| stands.is_some_and(|(kind, ..)| kind == Kind::File);
        let head = kinds::line(&name, &Entry::planned(&self.place.path, was, is), before, self.now.as_deref());
        let (old, new) = (before.filter(|_| of_file(was)), self.now.as_deref().filter(|_| of_file(is)));
        head + &unified(old, new, &name, limits)
    }

    /// What to commit.
    pub fn change(&self) -> Change {
        Change::restore(
            self.place.clone(),
            self.origin.clone(),
            self.kind,
            self.now.clone(),
            self.mode,
            self.dress.clone(),
        )
    }
}

/// All that would change, as one diff of at most `max_lines` a path. What only moves is told in git's words for a
/// rename, not line by line, twice.
pub(super) fn diff<'a>(slots: impl IntoIterator<Item = &'a Slot>, max_lines: usize) -> String {
    let limits = Limits { max_lines, ..Limits::default() };
    let slots: Vec<&Slot> = slots.into_iter().collect();
    let moves = moves(&slots);
    let one = |(at, slot): (usize, &&Slot)| match moves.iter().find(|(from, to)| *from == at || *to == at) {
        Some((from, _)) if *from == at => String::new(),
        Some((from, _)) => renamed(slots[*from], slot),
        None => slot.told(&limits),
    };
    slots.iter().enumerate().map(one).collect()
}

/// Which slots lose what another gains, byte for byte and with its rights. An empty file is like any other and says
/// nothing.
fn moves(slots: &[&Slot]) -> Vec<(usize, usize)> {
    let mut moves: Vec<(usize, usize)> = Vec::new();
    let gains = slots.iter().enumerate().filter(|(_, slot)| slot.before().is_none() && slot.kind == Kind::File);
    for (to, gain) in gains {
        let Some(new) = gain.now.as_deref().filter(|bytes| !bytes.is_empty()) else { continue };
        let from = (0..slots.len()).find(|at| {
            let slot = slots[*at];
            slot.now.is_none()
                && slot.kind == Kind::File
                && slot.before() == Some(new)
                && slot.own_mode() == gain.mode
                && moves.iter().all(|(taken, _)| taken != at)
        });
        moves.extend(from.map(|from| (from, to)));
    }
    moves
}

fn renamed(from: &Slot, to: &Slot) -> String {
    let (from, to) = (from.place.shown(), to.place.shown());
    format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n")
}
