//! Layers for a command, and what is told of them: what it changed, in numbers and as a diff.
//!
//! What becomes of a layer: [`super::settling`]. Where none can be had, the command runs on the bare roots and is recorded
//! ([`super::recorded`]).

use std::path::{Path, PathBuf};

use nika_contract::{Code, Cx, Kind, ToolError, code};
use nika_guard::classify;
use nika_guard::profile::{Access, Profile};
use nika_host::fs::Workspace;
use nika_host::overlay::{Changes, Entry, Layer, OfGit, What, mounts_below, of_another_group};

use super::ground::Ground;
use super::of_git::about_behind;
use crate::told::folders::{Shown, folded};
use crate::told::{Sides, Telling, is_of_git, sizes};

/// Names of left-out paths in a result.
pub(super) const SHOWN_NAMES: usize = 10;

/// What a command changed, for its result.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub created: usize,
    pub changed: usize,
    pub deleted: usize,
    /// New files in which nothing is, of which a diff would have no lines.
    pub empty: Vec<PathBuf>,
    /// Paths that were not applied.
    pub left_out: usize,
    pub diff: String,
    /// Each a line of the result.
    pub lines: Vec<String>,
    /// Why it was not applied as a whole.
    pub failed: Option<Code>,
}

impl Settled {
    /// Paths in all.
    pub fn paths(&self) -> usize {
        self.created + self.changed + self.deleted
    }

    /// `2 paths: 1 created, 1 deleted`; nothing where there are none.
    pub fn counts(&self) -> Option<String> {
        let counts = [(self.created, "created"), (self.changed, "changed"), (self.deleted, "deleted")];
        let counts: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        let noun = if self.paths() == 1 { "path" } else { "paths" };
        (!counts.is_empty()).then(|| format!("{} {noun}: {}", self.paths(), counts.join(", ")))
    }

    /// Says what git could not put in place; the call has failed then.
    pub fn tell_behind(&mut self, names: &[String]) {
        let said = about_behind(names);
        self.failed = self.failed.or(said.as_ref().map(|_| code::COMMAND_FAILED));
        self.lines.extend(said);
    }
}

/// Layers over all roots, and the profile that makes a command run over them; or why there are none.
pub(super) fn lay(ground: &Ground, cx: &Cx<'_>, profile: &mut Profile, of_git: OfGit) -> Result<Vec<Layer>, String> {
    // Below an overlay, a change that others make is not always seen: a command that waits for a file would wait
    // forever. A job that only reads makes none, and git waits for none.
    let session = cx.session.id();
    let reads = |id: &str| {
        let confined = ground.jobs.confinement(session, id);
        confined.is_some_and(|confined| confined.access == Access::ReadOnly)
    };
    let mut jobs = ground.jobs.list(cx.permit, session).into_iter();
    if of_git != OfGit::All && jobs.any(|job| (job.background || job.keep) && !reads(&job.job)) {
        return Err("jobs run in the background, and may change files meanwhile".to_owned());
    }
    let mut layers = Vec::new();
    for root in ground.files.roots() {
        fit(root)?;
        if let Some(why) = of_another_group(cx.permit, root) {
            return Err(why);
        }
        let layer = Layer::prepare(cx.permit, ground.files.state(), root).map_err(|error| error.message)?;
        if layer.in_memory(cx.permit) {
            return Err("Nika's state lies where no layer can".to_owned());
        }
        let layer = layer.protecting(cx.permit, profile.protected.iter().chain(&profile.absent).cloned());
        let held = profile.protected.iter().chain(&profile.absent).chain(&profile.secrets);
        let layer = layer.holding(cx.permit, held.cloned());
        let layer = layer.of_git(cx.permit, of_git);
        layers.push(if of_git == OfGit::Nothing { layer } else { layer.hiding(cx.permit, &profile.secrets) });
    }
    if of_git != OfGit::Nothing {
        // Git may write there what branches follow, and files of the work tree that are guarded; the layer keeps what
        // nobody was asked about from being applied.
        let recorded = |path: &&PathBuf| layers.iter().any(|layer| layer.has_records_of(cx.permit, path));
        let left =
            profile.protected.iter().filter(|path| path.ends_with(".git/config") || !is_of_git(path) && recorded(path));
        profile.opened.extend(left.cloned());
    }
    profile.layers = layers.iter().map(|layer| layer.cover(cx.permit).into()).collect();
    Ok(layers)
}

/// Whether an overlay shows all of `root`, and can hold what is changed there.
fn fit(root: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    if !mounts_below(root).is_ok_and(|mounts| mounts.is_empty()) {
        return Err(format!("other file systems are mounted in {}", root.display()));
    }
    let own = rustix::process::geteuid();
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let all_mapped = map.split_ascii_whitespace().eq(["0", "0", "4294967295"]);
    let owner = std::fs::symlink_metadata(root).map(|meta| meta.uid()).ok();
    match own.is_root() {
        true if !all_mapped => {
            Err("root here is root of a container, which cannot copy the files of others".to_owned())
        }
        false if owner != Some(own.as_raw()) => Err(format!("{} belongs to somebody else", root.display())),
        _ => Ok(()),
    }
}

/// What the layers would change. Nothing is.
pub(super) fn look(ground: &Ground, cx: &Cx<'_>, layers: &[Layer]) -> Result<Settled, ToolError> {
    let all = layers.iter().map(|layer| layer.changes(cx.permit)).collect::<Result<Vec<_>, _>>()?;
    Ok(describe(ground, cx, &all))
}

pub(super) fn beside(ground: &Ground, what: &str, paths: &[PathBuf]) -> Option<String> {
    (!paths.is_empty()).then(|| format!("[{what}: {}]", listed(&ground.files, paths)))
}

/// Paths as results show them; of many, the first.
pub(super) fn listed(files: &Workspace, paths: &[PathBuf]) -> String {
    let mut names: Vec<String> = paths.iter().take(SHOWN_NAMES).map(|path| files.shown(path)).collect();
    if paths.len() > SHOWN_NAMES {
        names.push(format!("{} more", paths.len() - SHOWN_NAMES));
    }
    names.join(", ")
}

/// The changes that are told of.
pub(super) fn told<'a>(changes: &'a Changes<'_>) -> impl Iterator<Item = &'a Entry> {
    changes.entries.iter().filter(|entry| entry.what != What::Touched)
}

/// What the layers change, in numbers and as a diff.
pub(super) fn describe(ground: &Ground, cx: &Cx<'_>, all: &[Changes<'_>]) -> Settled {
    let mut settled = Settled::default();
    for entry in all.iter().flat_map(told) {
        match entry.what {
            What::Created => settled.created += 1,
            What::Deleted => settled.deleted += 1,
            _ => settled.changed += 1,
        }
    }
    let is_empty = |entry: &&Entry| entry.what == What::Created && entry.kind == Kind::File && entry.bytes == 0;
    for one in folded(all.iter().flat_map(told).filter(|entry| !is_of_git(&entry.path))) {
        if let Shown::Path(entry) = one {
            settled.empty.extend(Some(entry).filter(is_empty).map(|entry| entry.path.clone()));
        }
    }
    let layers: Vec<InLayer<'_>> = all.iter().map(|changes| InLayer { ground, cx, changes }).collect();
    let tellings: Vec<Telling<'_>> = layers.iter().map(InLayer::telling).collect();
    settled.diff = crate::told::diff(&tellings);
    settled
}

/// The diff of `paths` alone.
pub(super) fn diff_of(ground: &Ground, cx: &Cx<'_>, all: &[Changes<'_>], paths: &[PathBuf]) -> String {
    let layers: Vec<InLayer<'_>> = all.iter().map(|changes| InLayer { ground, cx, changes }).collect();
    let tellings: Vec<Telling<'_>> = layers.iter().map(InLayer::telling).collect();
    crate::told::diff_of(&tellings, paths)
}

/// A layer beside the root that it covers.
struct InLayer<'a> {
    ground: &'a Ground,
    cx: &'a Cx<'a>,
    changes: &'a Changes<'a>,
}

impl InLayer<'_> {
    fn telling(&self) -> Telling<'_> {
        Telling { files: &self.ground.files, entries: told(self.changes).collect(), sides: self, hides: &is_of_git }
    }
}

impl Sides for InLayer<'_> {
    fn before(&self, entry: &Entry, most_bytes: u64) -> Option<Vec<u8>> {
        self.changes.before(self.cx.permit, entry, most_bytes)
    }

    fn after(&self, entry: &Entry, most_bytes: u64) -> Option<Vec<u8>> {
        self.changes.after(self.cx.permit, entry, most_bytes)
    }

    fn withheld(&self, entry: &Entry) -> Option<String> {
        let is_secret = classify(&entry.path).secret.is_some();
        is_secret.then(|| sizes(&self.ground.files.shown(&entry.path), entry))
    }
}
