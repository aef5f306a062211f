//! Sets in which a file gives way to a directory of its name, or a directory to a file. Renames of single files cannot make
//! that: for a moment nothing would stand there. So it is put together in a layer, and applied as one.

use std::collections::BTreeSet;
use std::path::Path;

use nika_contract::{Cx, ToolError, code};
use nika_guard::Place;
use nika_host::fs::{Change, Expect, Locked, NotMade, Workspace, Written};
use nika_host::overlay::Changes;

use super::layered;
use super::slot::Slot;

/// Directories that go when files come to stand at `made`, as all that is in them is `gone`: those between the two.
pub(super) fn emptied<'p>(gone: &[&'p Path], made: &[&'p Path]) -> BTreeSet<&'p Path> {
    let between = |gone: &'p Path, made: &'p Path| {
        let is_below = gone != made && gone.starts_with(made);
        gone.ancestors().skip(1).take_while(move |dir| is_below && *dir != made)
    };
    gone.iter().flat_map(|gone| made.iter().flat_map(move |made| between(gone, made))).collect()
}

/// Whether `path` lies below a file or link that the set takes away.
pub(super) fn is_below_gone(path: &Path, gone: &[&Path]) -> bool {
    gone.iter().any(|gone| path != *gone && path.starts_with(gone))
}

/// Whether a directory can go: the set takes away all that is in it.
pub(super) fn vacated(files: &Workspace, cx: &Cx<'_>, slots: &[Slot], dir: &Place) -> Result<(), ToolError> {
    let is_gone = |slot: &Slot| slot.now.is_none() && !matches!(slot.origin, Expect::Absent);
    for name in files.names(cx.permit, dir) {
        let inside = files.place(dir.path.join(name));
        if slots.iter().any(|slot| slot.place.path == inside.path && is_gone(slot)) {
            continue;
        }
        if slots.iter().any(|slot| slot.place.path.starts_with(&inside.path) && is_gone(slot)) {
            vacated(files, cx, slots, &inside)?;
            continue;
        }
        let message = format!("{} is a directory, and {} in it stays", dir.shown(), inside.shown());
        return Err(ToolError::new(code::NOT_A_FILE, message)
            .hint("a file takes the place of a directory when the same set deletes or moves all that is in it"));
    }
    Ok(())
}

/// Whether files and directories change places in a set that was played through.
pub(super) fn is_needed(slots: &[Slot]) -> bool {
    let gone: Vec<&Path> = gone(slots).collect();
    slots
        .iter()
        .filter(|slot| slot.now.is_some())
        .any(|slot| slot.replaces_dir || is_below_gone(&slot.place.path, &gone))
}

fn gone(slots: &[Slot]) -> impl Iterator<Item = &Path> {
    slots.iter().filter(|slot| slot.now.is_none() && slot.differs()).map(|slot| slot.place.path.as_path())
}

/// Makes such a set.
pub(super) fn commit(
    files: &Workspace,
    cx: &Cx<'_>,
    locked: &mut Locked<'_>,
    slots: &[Slot],
) -> Result<Vec<Written>, NotMade> {
    let mut changed: Vec<&Slot> = slots.iter().filter(|slot| slot.differs()).collect();
    changed.sort_by(|a, b| a.place.path.cmp(&b.place.path));
    if let Some(outside) = changed.iter().find(|slot| slot.place.below_root.is_none()) {
        let message =
            format!("{} lies outside the roots, where a file and a directory are not exchanged", outside.place.shown());
        return Err(ToolError::new(code::OUT_OF_BOUNDS, message).hint("make it in a set of its own").into());
    }
    let fill = |changes: &mut Changes<'_>| fill(cx, changes, &changed);
    let still = |locked: &Locked<'_>| {
        let mut as_they_were = changed.iter().filter(|slot| !slot.replaces_dir).map(|slot| slot.change());
        as_they_were.try_for_each(|change: Change| locked.can_make(cx, &change))
    };
    layered::apply((files, cx, locked), changed.iter().map(|slot| slot.place.path.as_path()), fill, still)?;
    let written = |slot: &&Slot| {
        let now = slot.now.as_deref();
        let stands = now.and_then(|_| files.open_file(cx.permit, &slot.place).ok());
        Written {
            place: slot.place.clone(),
            before: slot.origin.hash(),
            after: now.map(nika_host::fs::sha256),
            stamp: stands.map(|open| open.stamp),
            other_names: 0,
        }
    };
    Ok(changed.iter().map(written).collect())
}

/// What goes, from the inside out, and then what comes.
fn fill(cx: &Cx<'_>, changes: &mut Changes<'_>, changed: &[&Slot]) -> Result<(), ToolError> {
    let permit = cx.permit;
    let ours: Vec<&Slot> = changed.iter().filter(|slot| changes.take(permit, &slot.place.path)).copied().collect();
    let of_root = || ours.iter();
    let made: Vec<&Path> = of_root().filter(|slot| slot.now.is_some()).map(|slot| slot.place.path.as_path()).collect();
    let gone: Vec<&Path> = of_root().filter(|slot| slot.now.is_none()).map(|slot| slot.place.path.as_path()).collect();
    // A file that becomes a directory is not removed before.
    let removed = gone.iter().filter(|gone| !made.iter().any(|made| made.starts_with(gone))).copied();
    let removed: BTreeSet<&Path> = removed.chain(emptied(&gone, &made)).collect();
    for path in removed.into_iter().rev() {
        changes.remove(permit, path)?;
    }
    for slot in of_root() {
        let Some(bytes) = &slot.now else { continue };
        cx.check_cancelled()?;
        changes.put_above(permit, &slot.place.path)?;
        changes.put(permit, &slot.place.path, slot.kind, bytes, (slot.mode, slot.dress.as_ref()))?;
    }
    Ok(())
}
