//! Layers for a command, and what is told of them: what it changed, in numbers and as a diff.
//!
//! What becomes of a layer: [`super::settling`]. Where none can be had, the command runs on the bare roots and is recorded
//! ([`super::recorded`]).

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use nika_contract::{Code, Cx, Kind, ToolError, code};
use nika_edit::{BINARY_FILES, Limits, NEW_DIRECTORY, unified};
use nika_guard::classify;
use nika_guard::profile::{Access, Profile};
use nika_host::fs::Workspace;
use nika_host::overlay::{Changes, Entry, Layer, OfGit, What, mounts_below, of_another_group};

use super::folders::{self, Binary, Shown, folded, gathered};
use super::ground::Ground;
use super::kinds;
use super::of_git::about_behind;

/// Paths whose diff is shown; the others are counted.
const SHOWN_PATHS: usize = 50;
/// Paths that are looked at for it: of what is no text, only the number is shown.
const LOOKED_AT: usize = 2_000;
/// Bytes that are read for it: less than half a second, before somebody is asked.
const LOOKED_AT_BYTES: u64 = 64 << 20;
/// Lines of diff in all: some 20 KB, which a result can carry.
const SHOWN_LINES: usize = 500;
/// The largest content that is shown, in bytes.
const SHOWN_BYTES: u64 = 1 << 20;
/// Names of left-out paths in a result.
pub(super) const SHOWN_NAMES: usize = 10;
/// What a command changed, for its result.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub created: usize,
    pub changed: usize,
    pub deleted: usize,
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
    let (mut shown, mut looked_at, mut bytes, mut lines, mut unshown) = (0, 0, 0, SHOWN_LINES, 0);
    let mut binary = Vec::new();
    for changes in all {
        for entry in told(changes) {
            match entry.what {
                What::Created => settled.created += 1,
                What::Deleted => settled.deleted += 1,
                _ => settled.changed += 1,
            }
        }
        // What git keeps for itself is not shown; that there is a repository now is.
        let made = told(changes).filter(|entry| entry.was.is_none() && entry.path.ends_with(".git"));
        for entry in made.take(SHOWN_PATHS) {
            settled.diff.push_str(&format!("New repository {}\n", ground.files.shown(&entry.path)));
            lines = lines.saturating_sub(1);
        }
        let filled: HashSet<&Path> = told(changes).filter_map(|entry| entry.path.parent()).collect();
        for one in folded(told(changes).filter(|entry| !is_of_git(&entry.path))) {
            let head = |entry: &Entry| match directory(&ground.files.shown(&entry.path), entry, &filled) {
                Some(line) => line,
                None => head(ground, cx, changes, entry),
            };
            // What is told of below it names it.
            if matches!(one, Shown::Path(entry) if entry.kind == Kind::Directory && head(entry).is_empty()) {
                continue;
            }
            if shown == SHOWN_PATHS || looked_at == LOOKED_AT || bytes > LOOKED_AT_BYTES || lines == 0 {
                unshown += 1;
                continue;
            }
            looked_at += 1;
            let said = match one {
                Shown::Folder(path, filled) => folders::line(&ground.files.shown(path), &filled),
                Shown::Path(entry) => {
                    bytes += if is_readable(entry) { entry.bytes + entry.was_bytes } else { 0 };
                    let head = head(entry);
                    let body = piece(ground, cx, changes, entry, &head, lines);
                    let (of_text, rights) = (!body.starts_with(BINARY_FILES), !head.is_empty());
                    let line = head + &body;
                    if !of_text {
                        binary.push(Binary { name: ground.files.shown(&entry.path), what: entry.what, rights, line });
                        continue;
                    }
                    line
                }
            };
            shown += 1;
            lines = lines.saturating_sub(said.lines().count());
            settled.diff.push_str(&said);
        }
    }
    let (said, left_out) = gathered(binary, SHOWN_PATHS);
    settled.diff.push_str(&said);
    unshown += left_out;
    match unshown {
        0 => {}
        1 => settled.diff.push_str("… 1 path more, not shown\n"),
        many => settled.diff.push_str(&format!("… {many} paths more, not shown\n")),
    }
    settled
}

/// The diff of `paths` alone.
pub(super) fn diff_of(ground: &Ground, cx: &Cx<'_>, all: &[Changes<'_>], paths: &[PathBuf]) -> String {
    let (mut diff, mut lines) = (String::new(), SHOWN_LINES);
    for changes in all {
        for entry in told(changes).filter(|entry| paths.contains(&entry.path)).take(SHOWN_PATHS) {
            let head = head(ground, cx, changes, entry);
            let said = format!("{head}{}", piece(ground, cx, changes, entry, &head, lines));
            lines = lines.saturating_sub(said.lines().count());
            diff.push_str(&said);
        }
    }
    diff
}

/// The line of a directory that is all there is to say.
fn directory(name: &str, entry: &Entry, filled: &HashSet<&Path>) -> Option<String> {
    let is_bare = entry.kind == Kind::Directory && !filled.contains(entry.path.as_path());
    let made = entry.was.is_none() && entry.what == What::Created;
    match entry.what {
        _ if !is_bare => None,
        _ if made => Some(format!("{NEW_DIRECTORY}{name}/\n")),
        What::Deleted => Some(format!("Deleted directory {name}/\n")),
        _ => None,
    }
}

/// What is said of one path before its lines.
fn head(ground: &Ground, cx: &Cx<'_>, changes: &Changes<'_>, entry: &Entry) -> String {
    let before = (entry.was == Some(Kind::Link)).then(|| changes.before(cx.permit, entry, SHOWN_BYTES)).flatten();
    let after = (entry.kind == Kind::Link).then(|| changes.after(cx.permit, entry, SHOWN_BYTES)).flatten();
    kinds::line(&ground.files.shown(&entry.path), entry, before.as_deref(), after.as_deref())
}

/// What a diff says of one path after `head`, in no more than `lines`.
fn piece(ground: &Ground, cx: &Cx<'_>, changes: &Changes<'_>, entry: &Entry, head: &str, lines: usize) -> String {
    let name = ground.files.shown(&entry.path);
    let of_file = |kind: Option<Kind>| kind == Some(Kind::File);
    let (was, is) = (of_file(entry.was) && !entry.was_special, of_file(Some(entry.kind)));
    if entry.what == What::Mode || !(was || is) {
        return String::new();
    }
    let sizes = || format!("{name}: {} → {} bytes\n", entry.was_bytes, entry.bytes);
    if !is_readable(entry) {
        return sizes();
    }
    let was = was.then(|| changes.before(cx.permit, entry, SHOWN_BYTES)).flatten();
    let now = is.then(|| changes.after(cx.permit, entry, SHOWN_BYTES)).flatten();
    let limits = Limits { max_lines: lines, ..Limits::default() };
    let diff = unified(was.as_deref(), now.as_deref(), &name, &limits);
    match diff.is_empty() && head.is_empty() {
        true if was.is_some() && was == now => format!("{name}: the same content, with other attributes\n"),
        true => sizes(),
        false => diff,
    }
}

/// Whether what stands there is read to be shown.
fn is_readable(entry: &Entry) -> bool {
    entry.what != What::Mode
        && entry.bytes.max(entry.was_bytes) <= SHOWN_BYTES
        && classify(&entry.path).secret.is_none()
}

/// What git keeps for itself says nothing to a reader.
pub(super) fn is_of_git(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == ".git")
}
