//! Changes of any kind put together in layers of our own, one a root or mount, and applied as a command's own changes are: all or
//! nothing, whatever kills the process, and to be taken back.

use std::path::{Path, PathBuf};

use nika_contract::{Cx, ToolError};
use nika_host::fs::{Locked, NotMade, Workspace};
use nika_host::overlay::{Bounds, Changes, Layer, NotApplied};

/// Has a layer filled for each root or mount in which a path changes, looks once more, and applies what is in them.
pub(super) fn apply<'p>(
    (files, cx, locked): (&Workspace, &Cx<'_>, &mut Locked<'_>),
    paths: impl Iterator<Item = &'p Path>,
    fill: impl Fn(&mut Changes<'_>) -> Result<(), ToolError>,
    still: impl FnOnce(&Locked<'_>) -> Result<(), NotMade>,
) -> Result<(), NotMade> {
    let roots: Vec<PathBuf> = files.roots().map(Path::to_path_buf).collect();
    let layers = Layer::all_by_hand(cx.permit, files.state(), &roots, paths)?;
    let mut all: Vec<Changes<'_>> = layers.iter().map(|layer| layer.blank(cx.permit)).collect();
    for changes in &mut all {
        fill(changes)?;
    }
    still(locked)?;
    if all.iter().all(|changes| changes.entries.is_empty()) {
        return Ok(());
    }
    locked.apply(cx, &all, &Bounds::default()).map(drop).map_err(|error| match error {
        NotApplied::Conflict(mut places) if !places.is_empty() => NotMade::Moved(places.swap_remove(0)),
        error => NotMade::Refused(error.into()),
    })
}
