//! Taking back what commands did: any number of paths of any kind, one at a time in memory, as one change.
//!
//! What shall stand is put together in a layer and applied as a command's own changes are. So a taking back is
//! all or nothing, too, and can be taken back.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use nika_contract::{Before, Cx, Dress, Kind, Known, ToolError, code};
use nika_edit::merge3;
use nika_guard::Place;
use nika_host::fs::{AsOwner, Expect, FileNow, Glance, Ledger, Locked, NotMade, Seen, Shown, Workspace, sha256};
use nika_host::git::index_sum;
use nika_host::overlay::{Changes, Entry, Stands, What};
use nika_store::{CallChanges, Change, Checkpoints, Hash};

use super::layered;
use super::names::{Names, was_linked};
use super::seen::MAX_BYTES;
use super::withstood::{Side, changed_after, gone_since, not_shown, rights};
use crate::told::{self, Sides, Telling, is_noted, is_of_git};

/// The largest content that is merged, or shown where that cannot be, in bytes.
const SHOWN_BYTES: u64 = 1 << 20;

/// The largest index that is looked into. 512 MiB, some five million files.
const INDEX_BYTES: u64 = 512 << 20;

/// Calls that are looked through for a large file's hash.
const RECENT_CALLS: usize = 200;

/// See the module's page.
pub(super) struct Unmaker<'a> {
    pub files: &'a Workspace,
    pub checkpoints: &'a Checkpoints,
    pub cx: &'a Cx<'a>,
    /// The newest first.
    pub calls: &'a [CallChanges],
}

/// What was, or would be, taken back.
#[derive(Debug, Default)]
pub(super) struct Unmade {
    pub paths: Vec<String>,
    pub diff: String,
    /// What becomes of files with several names, and of directories that stay.
    pub names: Names,
}

/// A path on its way back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    Nothing,
    /// As it stands on disk, but perhaps for its permission bits.
    Disk {
        kind: Kind,
        mode: u32,
    },
    /// What the undo store has.
    Stored {
        kind: Kind,
        hash: Hash,
        mode: Option<u32>,
        numbers: Option<[i64; 4]>,
        dress: Option<Dress>,
    },
    /// A file in which a later change was kept.
    Merged {
        bytes: Vec<u8>,
        mode: Option<u32>,
    },
}

impl State {
    fn mode(&self) -> Option<u32> {
        match self {
            State::Nothing => None,
            State::Disk { mode, .. } => Some(*mode),
            State::Stored { mode, .. } | State::Merged { mode, .. } => *mode,
        }
    }

    fn with_mode(mut self, wanted: Option<u32>) -> State {
        match &mut self {
            State::Nothing => {}
            State::Disk { mode, .. } => *mode = wanted.unwrap_or(*mode),
            State::Stored { mode, .. } | State::Merged { mode, .. } => *mode = wanted,
        }
        self
    }
}

/// A call, and what it did to a path.
type Made<'a> = (&'a CallChanges, &'a Change);

/// What calls did, by path, in the order of the calls.
fn by_path(calls: &[CallChanges]) -> HashMap<&Path, Vec<Made<'_>>> {
    let mut all: HashMap<&Path, Vec<Made<'_>>> = HashMap::new();
    for call in calls {
        for change in &call.changes {
            all.entry(&change.path).or_default().push((call, change));
        }
    }
    all
}

fn is_dir(state: &State) -> bool {
    matches!(state, State::Disk { kind: Kind::Directory, .. } | State::Stored { kind: Kind::Directory, .. })
}

/// What stands at the paths of a plan, and what it would have there.
struct Planned<'a> {
    unmaker: &'a Unmaker<'a>,
    plan: &'a BTreeMap<PathBuf, State>,
}

impl Sides for Planned<'_> {
    fn before(&self, entry: &Entry, most_bytes: u64) -> Option<Vec<u8>> {
        let (files, cx) = (self.unmaker.files, self.unmaker.cx);
        if self.withheld(entry).is_some() {
            return None;
        }
        let place = files.place(entry.path.clone());
        match entry.was? {
            Kind::Directory => None,
            Kind::File => AsOwner(files).read_file(cx.permit, &place, most_bytes).ok().map(|now| now.bytes),
            Kind::Link => match files.look(cx.permit, &place, most_bytes).ok()?? {
                Expect::Is { bytes, kind: Kind::Link, .. } => Some(bytes),
                _ => None,
            },
        }
    }

    fn after(&self, entry: &Entry, most_bytes: u64) -> Option<Vec<u8>> {
        if self.withheld(entry).is_some() {
            return None;
        }
        match self.plan.get(&entry.path)? {
            State::Stored { hash, .. } => {
                let objects = self.unmaker.checkpoints.objects();
                let fits = objects.size(hash).is_ok_and(|size| size <= most_bytes);
                fits.then(|| objects.get(hash).ok()).flatten()
            }
            State::Merged { bytes, .. } => Some(bytes.clone()),
            State::Nothing | State::Disk { .. } => None,
        }
    }

    fn withheld(&self, entry: &Entry) -> Option<String> {
        let withholds = self.unmaker.cx.permit.withholds(&entry.path);
        withholds.then(|| not_shown(&self.unmaker.files.place(entry.path.clone())))
    }
}

impl Unmaker<'_> {
    /// What a call left may have no rights for its owner.
    fn owned(&self) -> AsOwner<'_> {
        AsOwner(self.files)
    }

    /// What would be taken back.
    pub fn show(&self) -> Result<Unmade, ToolError> {
        let plan = self.plan()?;
        self.unmade(&plan)
    }

    /// Takes it back.
    pub fn make(&self, locked: &mut Locked<'_>) -> Result<Unmade, NotMade> {
        let stood = self.stood()?;
        let plan = self.plan()?;
        let unmade = self.unmade(&plan)?;
        let paths = plan.keys().map(PathBuf::as_path);
        // To read all that, and to put it together, takes as long as there is much.
        let still = |_: &Locked<'_>| match self.stood()?.into_iter().find(|(path, now)| stood.get(path) != Some(now)) {
            Some((path, _)) => Err(NotMade::Moved(self.files.place(path.to_path_buf()))),
            None => Ok(()),
        };
        layered::apply((self.files, self.cx, locked), paths, |changes| self.fill(changes, &plan), still)?;
        plan.into_keys().for_each(|path| self.learn(path));
        Ok(unmade)
    }

    /// What stands at every path, by what others change in it: of a directory, that it is another one.
    fn stood(&self) -> Result<HashMap<&Path, Option<[i64; 4]>>, ToolError> {
        let paths = self.calls.iter().flat_map(|call| &call.changes).map(|change| &*change.path);
        let all = paths.map(|path| (path, self.files.place(path.to_path_buf())));
        let inside = all.filter(|(_, place)| place.below_root.is_some());
        let stands = inside.map(|(path, place)| {
            let glance = self.owned().glance(self.cx.permit, &place)?;
            let is_file = |it: &Glance| it.kind != Some(Kind::Directory);
            Ok((path, glance.map(|it| if is_file(&it) { it.numbers } else { [it.numbers[0], 0, 0, 0] })))
        });
        stands.collect()
    }

    /// Has the session know what stands at a path as far as it has seen the same bytes there before.
    fn learn(&self, path: PathBuf) {
        let ledger = self.cx.session.slot::<Ledger>();
        if !ledger.has_met(&path) {
            return;
        }
        let place = self.files.place(path);
        match self.files.read_file(self.cx.permit, &place, MAX_BYTES) {
            Ok(FileNow { open, bytes }) => {
                let (hash, shown) = (Some(sha256(&bytes)), Shown::default());
                ledger.brought_back(&place.path, Seen { hash, bytes: Some(bytes.into()), stamp: open.stamp, shown });
            }
            Err(_) => ledger.forget_undone(&place.path),
        }
    }

    /// What shall stand at every path.
    fn plan(&self) -> Result<BTreeMap<PathBuf, State>, ToolError> {
        let recent = self.checkpoints.list(RECENT_CALLS, None)?;
        let recent = by_path(&recent);
        let mut plan: BTreeMap<PathBuf, State> = BTreeMap::new();
        for call in self.calls {
            for change in &call.changes {
                self.cx.check_cancelled()?;
                // It is gone for good, and whatever stands there now came later.
                if change.was_special() && change.more.is_some_and(|more| more.left.is_none()) {
                    continue;
                }
                let place = self.files.place(change.path.clone());
                if place.below_root.is_none() {
                    let message =
                        format!("{} lies outside the roots, and other calls here are a command's", place.shown());
                    return Err(ToolError::new(code::OUT_OF_BOUNDS, message).hint("take back one call at a time"));
                }
                let now = match plan.remove(&change.path) {
                    Some(state) => state,
                    None => self.standing(&place)?,
                };
                let back =
                    self.back(call, change, &place, now, recent.get(&*change.path).map_or(&[], Vec::as_slice))?;
                plan.insert(change.path.clone(), back);
            }
        }
        self.leave_objects(&mut plan)?;
        Ok(plan)
    }

    pub(super) fn standing(&self, place: &Place) -> Result<State, ToolError> {
        match self.owned().glance(self.cx.permit, place)? {
            None => Ok(State::Nothing),
            Some(Glance { kind: Some(kind), mode, .. }) => Ok(State::Disk { kind, mode }),
            Some(_) => Err(ToolError::new(
                code::UNDO_CONFLICT,
                format!("{} is a device, FIFO or socket now; what stood there cannot be put back", place.shown()),
            )
            .hint("remove it, then undo again")),
        }
    }

    /// A path without what a call did to it. `recent` is what calls did to it lately, the newest call first.
    fn back(
        &self,
        call: &CallChanges,
        change: &Change,
        place: &Place,
        now: State,
        recent: &[Made<'_>],
    ) -> Result<State, ToolError> {
        let kept = change.more.map_or(Before::Kept, |more| more.before);
        let cut_off = change.more.is_some_and(|more| more.known == Known::Begun);
        if cut_off && self.is_as_before(change, place, &now)? {
            return Ok(match now {
                State::Disk { kind, mode } => State::Disk { kind, mode: change.mode.unwrap_or(mode) },
                now => now,
            });
        }
        let standing = now.mode();
        let mode = || rights(call, change, place, standing);
        if kept == Before::Same {
            return self.only_rights(call, change, place, now);
        }
        let left = if cut_off {
            self.is_left_for_later(call, place, &now, recent)?
        } else {
            self.is_left(change, place, &now, recent)?
        };
        let beside = self.was_changed_beside(call, change, recent);
        if left && !beside {
            let mode = mode()?;
            return match (kept, change.before, now) {
                (Before::Lost, ..) => Err(ToolError::new(
                    code::NOTHING_TO_UNDO,
                    format!("call {} cannot be taken back: what stood at {} was not kept", call.call, place.shown()),
                )),
                (_, None, _) => Ok(State::Nothing),
                (_, Some(_), State::Disk { kind: Kind::Directory, mode: now }) if change.kind == Kind::Directory => {
                    Ok(State::Disk { kind: Kind::Directory, mode: mode.unwrap_or(now) })
                }
                (_, Some(hash), _) => Ok(State::Stored {
                    kind: change.kind,
                    hash,
                    mode,
                    numbers: change.more.and_then(|more| more.was_as),
                    dress: change.dress.clone(),
                }),
            };
        }
        // Somebody took it back by hand.
        let by_hand = match (kept, change.before) {
            (Before::Kept, None) => now == State::Nothing,
            (Before::Kept, Some(hash)) => self.has(place, &now, change.kind, hash)?,
            _ => false,
        };
        match (by_hand, beside) {
            (true, _) => Ok(now.with_mode(mode()?)),
            // What the call left is not known, so there is nothing to merge with.
            (false, true) => Err(self.conflict(call, change, place, &now)),
            (false, false) => self.merged(call, change, place, &now),
        }
    }

    /// Whether a path stands as it did before the call.
    fn is_as_before(&self, change: &Change, place: &Place, now: &State) -> Result<bool, ToolError> {
        match (change.before, change.more.and_then(|more| more.was_as)) {
            (Some(hash), _) => self.has(place, now, change.kind, hash),
            (None, Some(stamp)) => {
                Ok(self.owned().glance(self.cx.permit, place)?.is_some_and(|glance| glance.numbers == stamp))
            }
            (None, None) => Ok(false),
        }
    }

    /// The same as [`Self::is_left`], of a call that was killed before it was known what it left: that is what the next
    /// call found there, or what stands there.
    fn is_left_for_later(
        &self,
        call: &CallChanges,
        place: &Place,
        now: &State,
        recent: &[Made<'_>],
    ) -> Result<bool, ToolError> {
        let later = recent.iter().take_while(|(later, _)| later.call != call.call);
        let found = later.filter(|(later, _)| self.counts(later)).map(|(_, change)| change).last();
        match found {
            None => Ok(true),
            Some(Change { before: Some(hash), kind, .. }) => self.has(place, now, *kind, *hash),
            Some(Change { before: None, more, .. }) => {
                Ok(*now == State::Nothing && more.is_none_or(|more| more.before == Before::Kept))
            }
        }
    }

    /// Whether another call changed a path while this one, which had changed it, went on: a job, say. What stood there
    /// at its end may then be that other call's. One that found what this one left came after it.
    fn was_changed_beside(&self, call: &CallChanges, change: &Change, recent: &[Made<'_>]) -> bool {
        // By when they began: this one's last lines may be newer than theirs.
        let since = |(other, _): &&Made<'_>| other.call != call.call && other.at >= call.at && self.counts(other);
        let first = recent.iter().rfind(since);
        change.more.is_some_and(|more| more.known == Known::Settled)
            && first.is_some_and(|(_, other)| other.before != change.after)
    }

    /// What was taken back since, or is being taken back right now, counts as never made.
    fn counts(&self, other: &CallChanges) -> bool {
        let taken_back = self.calls.iter().any(|own| own.call == other.call);
        other.undone_by.is_none() && other.tool != "undo" && !taken_back
    }

    /// Whether a path stands as the call left it.
    fn is_left(&self, change: &Change, place: &Place, now: &State, recent: &[Made<'_>]) -> Result<bool, ToolError> {
        let kind = match change.more {
            Some(more) => more.left,
            None => change.after.map(|_| change.kind),
        };
        let Some(kind) = kind else { return Ok(*now == State::Nothing) };
        if let Some(stamp) = change.more.and_then(|more| more.left_as) {
            let same = match now {
                State::Disk { .. } => {
                    self.owned().glance(self.cx.permit, place)?.is_some_and(|glance| glance.numbers == stamp)
                }
                State::Stored { numbers, .. } => *numbers == Some(stamp),
                State::Nothing | State::Merged { .. } => false,
            };
            // A later call may have kept it, and that call may have been taken back: then its hash is known.
            if same || *now == State::Nothing {
                return Ok(same);
            }
            // Of a large file that is known by its stamp, where some call kept it.
            let kept = recent.iter().filter(|(_, other)| other.more.is_some_and(|more| more.was_as == Some(stamp)));
            let kept = kept.into_iter().find_map(|(_, other)| other.before);
            return kept.map_or(Ok(false), |hash| self.has(place, now, kind, hash));
        }
        match change.after {
            Some(hash) => self.has(place, now, kind, hash),
            None => Ok(false),
        }
    }

    fn has(&self, place: &Place, now: &State, wanted: Kind, hash: Hash) -> Result<bool, ToolError> {
        Ok(self.holds(place, now, wanted, hash)? || self.is_index_of(place, now, hash))
    }

    /// Whether a repository's index stands there that says what the one did which a call left, and is known by that.
    fn is_index_of(&self, place: &Place, now: &State, hash: Hash) -> bool {
        let bytes = || match now {
            State::Disk { kind: Kind::File, .. } => {
                self.owned().read_file(self.cx.permit, place, INDEX_BYTES).ok().map(|now| now.bytes)
            }
            State::Stored { kind: Kind::File, hash, .. } => self.checkpoints.objects().get(hash).ok(),
            _ => None,
        };
        let sum = || bytes().and_then(|bytes| index_sum(self.cx.permit, &bytes));
        place.path.ends_with(".git/index") && sum() == Some(hash.0)
    }

    fn holds(&self, place: &Place, now: &State, wanted: Kind, hash: Hash) -> Result<bool, ToolError> {
        Ok(match now {
            State::Nothing => false,
            State::Disk { kind, .. } | State::Stored { kind, .. } if *kind != wanted => false,
            State::Disk { kind: Kind::Directory, .. } => true,
            State::Disk { .. } => self.owned().digest(self.cx.permit, place)? == hash.0,
            State::Stored { hash: stored, .. } => *stored == hash,
            State::Merged { bytes, .. } => wanted == Kind::File && Hash::of(bytes) == hash,
        })
    }

    /// The later change kept where both can stand; else the refusal that shows the difference.
    fn merged(&self, call: &CallChanges, change: &Change, place: &Place, now: &State) -> Result<State, ToolError> {
        let get = |hash: Option<Hash>| hash.and_then(|hash| self.checkpoints.objects().get(&hash).ok());
        let (after, former, standing) = (get(change.after), get(change.before), self.content(place, now));
        if let (Kind::File, Some(after), Some(former), Some(standing)) = (change.kind, &after, &former, &standing)
            && let Ok(merged) = merge3(after, former, standing)
        {
            return Ok(State::Merged { bytes: merged.bytes, mode: rights(call, change, place, now.mode())? });
        }
        Err(changed_after(self.cx, call, place, after.is_some(), &self.side(place, now), &self.former(change)))
    }

    /// A path without the permission bits that a call gave it: what it holds now the call did not touch.
    fn only_rights(&self, call: &CallChanges, change: &Change, place: &Place, now: State) -> Result<State, ToolError> {
        match &now {
            State::Disk { kind, .. } | State::Stored { kind, .. } if *kind == change.kind => {}
            State::Merged { .. } if change.kind == Kind::File => {}
            _ => return Err(gone_since(call, change, place, &self.side(place, &now))),
        }
        let mode = rights(call, change, place, now.mode())?;
        Ok(now.with_mode(mode))
    }

    fn side(&self, place: &Place, state: &State) -> Side {
        let kind = match state {
            State::Nothing => return Side::Nothing,
            State::Disk { kind, .. } | State::Stored { kind, .. } => *kind,
            State::Merged { .. } => Kind::File,
        };
        Side::of(kind, self.content(place, state))
    }

    /// What stood at a path before a call.
    fn former(&self, change: &Change) -> Side {
        let stood = change.before.is_some() || change.more.is_some_and(|more| more.before != Before::Kept);
        let fits = |hash: &Hash| self.checkpoints.objects().size(hash).is_ok_and(|size| size <= SHOWN_BYTES);
        let bytes = || change.before.filter(fits).and_then(|hash| self.checkpoints.objects().get(&hash).ok());
        if stood { Side::of(change.kind, bytes()) } else { Side::Nothing }
    }

    /// The refusal that shows what would be lost.
    fn conflict(&self, call: &CallChanges, change: &Change, place: &Place, now: &State) -> ToolError {
        changed_after(self.cx, call, place, true, &self.side(place, now), &self.former(change))
    }

    fn content(&self, place: &Place, state: &State) -> Option<Vec<u8>> {
        match state {
            // The object of a directory is an empty one, and no file's content.
            State::Nothing
            | State::Disk { kind: Kind::Directory | Kind::Link, .. }
            | State::Stored { kind: Kind::Directory, .. } => None,
            State::Disk { .. } => self.owned().read_file(self.cx.permit, place, SHOWN_BYTES).ok().map(|now| now.bytes),
            State::Stored { hash, .. } => {
                let objects = self.checkpoints.objects();
                let fits = objects.size(hash).is_ok_and(|size| size <= SHOWN_BYTES);
                fits.then(|| objects.get(hash).ok()).flatten()
            }
            State::Merged { bytes, .. } => Some(bytes.clone()),
        }
    }

    /// The paths that would change, and how.
    fn unmade(&self, plan: &BTreeMap<PathBuf, State>) -> Result<Unmade, ToolError> {
        let mut unmade = Unmade::default();
        let special = self.calls.iter().flat_map(|call| &call.changes).filter(|change| change.was_special());
        special.for_each(|change| unmade.names.not_back(self.files.shown(&change.path)));
        let gone = self.gone(plan)?;
        let mut entries = Vec::new();
        for (path, state) in plan {
            let place = self.files.place(path.clone());
            let standing = self.standing(&place)?;
            if standing == *state {
                continue;
            }
            if *state == State::Nothing && !gone.contains(&**path) {
                unmade.names.stays(&place.shown());
                continue;
            }
            let glance = self.owned().glance(self.cx.permit, &place)?;
            entries.push(self.entry(path, glance, state));
            let stands = glance.filter(|it| it.kind == Some(Kind::File)).map(|it| (it.numbers, it.links));
            match state {
                State::Stored { kind: Kind::File, .. } | State::Merged { .. } => {
                    unmade.names.replaced(place.shown().into_owned(), stands, was_linked(self.calls, path));
                }
                State::Nothing => unmade.names.removed(stands),
                State::Stored { .. } | State::Disk { .. } => {}
            }
            unmade.paths.push(place.shown().into_owned());
        }
        unmade.diff = self.diff(plan, &entries);
        Ok(unmade)
    }

    /// A path of the plan, as it is told of.
    fn entry(&self, path: &Path, glance: Option<Glance>, state: &State) -> Entry {
        let size = |kind, size| if kind == Kind::Directory { 0 } else { size };
        let was: Option<Stands> = glance.and_then(|it| Some((it.kind?, size(it.kind?, it.size), Some(it.mode))));
        let is: Option<Stands> = match state {
            State::Nothing => None,
            State::Disk { kind, mode } => Some((*kind, was.map_or(0, |(_, bytes, _)| bytes), Some(*mode))),
            State::Stored { kind, hash, mode, .. } => {
                Some((*kind, self.checkpoints.objects().size(hash).unwrap_or_default(), *mode))
            }
            State::Merged { bytes, mode } => Some((Kind::File, bytes.len() as u64, *mode)),
        };
        let mut entry = Entry::planned(path, was, is);
        if let State::Disk { .. } = state {
            entry.what = What::Mode;
        }
        entry
    }

    /// How the paths would change. Of a repository, what git runs or is led by is shown as other files are.
    fn diff(&self, plan: &BTreeMap<PathBuf, State>, entries: &[Entry]) -> String {
        let whole = entries.iter().filter(|entry| entry.path.ends_with(".git") && entry.what != What::Changed);
        let whole: HashSet<&Path> = whole.map(|entry| entry.path.as_path()).collect();
        let is_in_whole = |path: &Path| path.ancestors().any(|above| whole.contains(above));
        let hides = |path: &Path| is_noted(path) || is_of_git(path) && is_in_whole(path);
        let sides = Planned { unmaker: self, plan };
        let mut diff = told::diff(&[Telling {
            files: self.files,
            entries: entries.iter().collect(),
            sides: &sides,
            hides: &hides,
        }]);
        match entries.iter().filter(|entry| is_noted(&entry.path) && !is_in_whole(&entry.path)).count() {
            0 => {}
            1 => diff.push_str("1 path of git's own, not shown\n"),
            many => diff.push_str(&format!("{many} paths of git's own, not shown\n")),
        }
        diff
    }

    /// Where nothing shall stand. A directory in which something else came to lie stays.
    fn gone<'p>(&self, plan: &'p BTreeMap<PathBuf, State>) -> Result<HashSet<&'p Path>, ToolError> {
        let mut gone: HashSet<&Path> = HashSet::new();
        for (path, _) in plan.iter().rev().filter(|(_, state)| **state == State::Nothing) {
            let place = self.files.place(path.clone());
            let names = match is_dir(&self.standing(&place)?) {
                true => self.owned().names(self.cx.permit, &place),
                false => Vec::new(),
            };
            if names.iter().all(|name| gone.contains(path.join(name).as_path())) {
                gone.insert(path);
            }
        }
        Ok(gone)
    }

    /// Puts what shall stand below the layer's root into it. What goes, goes first and from the inside out; what
    /// comes, comes from the outside in.
    fn fill(&self, changes: &mut Changes<'_>, plan: &BTreeMap<PathBuf, State>) -> Result<(), ToolError> {
        let permit = self.cx.permit;
        let gone = self.gone(plan)?;
        for path in plan.keys().rev().filter(|path| gone.contains(path.as_path())) {
            if changes.take(permit, path) {
                changes.remove(permit, path)?;
            }
        }
        for (path, state) in plan.iter() {
            if !changes.take(permit, path) {
                continue;
            }
            self.cx.check_cancelled()?;
            match state {
                State::Nothing => {}
                State::Disk { mode, .. } => changes.set_mode(permit, path, Some(*mode))?,
                State::Stored { kind: Kind::Directory, mode, dress, .. } => {
                    changes.put(permit, path, Kind::Directory, b"", (*mode, dress.as_ref()))?;
                }
                State::Stored { kind, hash, mode, dress, .. } => {
                    let bytes = self.checkpoints.objects().get(hash)?;
                    changes.put(permit, path, *kind, &bytes, (*mode, dress.as_ref()))?;
                }
                State::Merged { bytes, mode } => changes.put(permit, path, Kind::File, bytes, (*mode, None))?,
            }
        }
        Ok(())
    }
}
