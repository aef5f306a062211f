//! A command over layers of the roots: what it changed becomes one change, which `undo` takes back.
//!
//! | what happened | what is applied |
//! |---|---|
//! | it ended, whatever its status, or its time was up | all that it changed |
//! | it changed what may become code or policy | the rest; that is kept beside and named |
//! | it changed what a rule denies | the rest; that is kept beside and named, and the command failed |
//! | it changed what a rule asks about, and did not name it before | the same, as nobody was asked |
//! | somebody else changed the same path meanwhile | the rest; the command's version is kept beside and named, and the command failed |
//! | the same, of what a person was shown and said yes to | nothing; all of it is kept beside |
//! | nobody wants the call any more | nothing |
//!
//! Where no layer can be had, the command runs on the bare roots and is recorded (`recorded`).

use std::path::{Path, PathBuf};

use nika_contract::{Code, Cx, Foreseen, Kind, ToolError, code};
use nika_edit::{BINARY_FILES, Limits, unified};
use nika_guard::profile::{Access, Profile};
use nika_guard::{Place, classify};
use nika_host::fs::{NotMade, Workspace};
use nika_host::overlay::{
    Applied, Bounds, Changes, Entry, Layer, LeftOut, Likeness, NotApplied, OfGit, What, mounts_below,
};

use super::folders::{self, Binary, Shown, folded, gathered};
use super::ground::{Ground, is_only_git, names_git, unguessable};
use super::kinds;
use crate::file::seen::retried;

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
/// How often what cannot be applied is set apart and the rest is tried again.
const ROUNDS: usize = 6;

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
}

/// Layers over all roots, and the profile that makes a command run over them; or why there are none.
pub(super) fn lay(ground: &Ground, cx: &Cx<'_>, profile: &mut Profile) -> Result<Vec<Layer>, String> {
    // Below an overlay, a change that others make is not always seen: a command that waits for a file would wait
    // forever. A job that only reads makes none, and git waits for none.
    let session = cx.session.id();
    let reads = |id: &str| {
        let confined = ground.jobs.confinement(session, id);
        confined.is_some_and(|confined| confined.access == Access::ReadOnly)
    };
    let mut jobs = ground.jobs.list(cx.permit, session).into_iter();
    if !is_only_git(cx.permit.effects()) && jobs.any(|job| (job.background || job.keep) && !reads(&job.job)) {
        return Err("jobs run in the background, and may change files meanwhile".to_owned());
    }
    let mut layers = Vec::new();
    let of_git = of_git(cx);
    for root in ground.files.roots() {
        fit(root)?;
        let layer = Layer::prepare(cx.permit, ground.files.state(), root).map_err(|error| error.message)?;
        if layer.in_memory(cx.permit) {
            return Err("Nika's state lies where no layer can".to_owned());
        }
        let layer = layer.protecting(cx.permit, profile.protected.iter().chain(&profile.absent).cloned());
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

/// What the call's command line has of git.
fn of_git(cx: &Cx<'_>) -> OfGit {
    match cx.permit.effects() {
        effects if is_only_git(effects) => OfGit::All,
        effects if names_git(effects) => OfGit::Something,
        _ => OfGit::Nothing,
    }
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

/// Applies what the command changed. Nothing of it is lost: what cannot be applied is kept where it can be read.
/// An error only when nobody wants the call any more.
pub(super) async fn apply(ground: &Ground, cx: &Cx<'_>, layers: Vec<Layer>, lives: bool) -> Result<Settled, ToolError> {
    settle(ground, cx, layers, lives, None).await
}

/// The same of what a person was shown before: that, or nothing where somebody else has changed any of it since.
pub(super) async fn apply_as_shown(
    ground: &Ground,
    cx: &Cx<'_>,
    layers: Vec<Layer>,
    shown: Likeness,
) -> Result<Settled, ToolError> {
    settle(ground, cx, layers, false, Some(shown)).await
}

async fn settle(
    ground: &Ground,
    cx: &Cx<'_>,
    layers: Vec<Layer>,
    lives: bool,
    shown: Option<Likeness>,
) -> Result<Settled, ToolError> {
    let apart = ground.spill.join(format!("{}-{}", cx.call, unguessable()));
    let place = |at: usize| if at == 0 { apart.clone() } else { apart.with_extension(format!("root{at}")) };
    let alone = of_git(cx) == OfGit::All;
    let mut left: Vec<Left> = Vec::new();
    let mut brings: Vec<PathBuf> = Vec::new();
    let applied = match lives {
        true => Err(ToolError::new(code::COMMAND_FAILED, "something of it may still run")),
        false => {
            retried(&ground.files, cx, |locked| {
                for round in 0..ROUNDS {
                    let all = layers.iter().map(|layer| layer.changes(cx.permit)).collect::<Result<Vec<_>, _>>()?;
                    // What was left out of it was said to be.
                    if shown.is_some_and(|shown| left.is_empty() && Likeness::of_paths(cx.permit, &all) != shown) {
                        return Err(NotMade::Refused(disturbed(ground, &[])));
                    }
                    let settled = describe(ground, cx, &all);
                    if all.iter().all(|changes| changes.is_empty(cx.permit)) {
                        let special = all.iter().flat_map(|changes| changes.special.clone()).collect();
                        return Ok((settled, Applied { special, ..Applied::default() }));
                    }
                    let (why, places) = match locked.apply(cx, &all, &Bounds::default()) {
                        Ok(applied) => return Ok((settled, applied)),
                        // A directory that somebody made a moment ago is none once it is seen.
                        Err(NotApplied::Conflict(_)) if round == 0 => continue,
                        Err(NotApplied::Conflict(places)) if shown.is_some() => {
                            return Err(NotMade::Refused(disturbed(ground, &places)));
                        }
                        Err(NotApplied::Conflict(places)) => (Why::Conflict, places),
                        Err(NotApplied::Guarded(places)) => {
                            brings = brought_by_git(cx, &all, &places);
                            if !brings.is_empty() {
                                return Err(NotMade::Refused(brings_more(ground, &brings)));
                            }
                            (Why::Guarded, places)
                        }
                        Err(NotApplied::Hidden(places)) => (Why::Hidden, places),
                        Err(NotApplied::Forbidden(places)) => (Why::Forbidden, places),
                        Err(NotApplied::Refused(error)) => return Err(NotMade::Refused(error)),
                    };
                    // What is denied first, what nobody was asked about in the next round.
                    let (why, places) = match why {
                        Why::Forbidden => unasked(cx, &all, places),
                        why => (why, places),
                    };
                    if alone && why.is_for_git() {
                        return Err(NotMade::Refused(not_as_a_whole(ground, why, &places)));
                    }
                    let paths: Vec<PathBuf> = places.into_iter().map(|place| place.path).collect();
                    for (at, changes) in all.into_iter().enumerate() {
                        let root = changes.root(cx.permit).to_path_buf();
                        let own: Vec<PathBuf> = paths.iter().filter(|path| path.starts_with(&root)).cloned().collect();
                        if !own.is_empty() {
                            let out = changes.leave_out(cx.permit, &own, &place(at))?;
                            left.extend(out.into_iter().map(|one| Left { why, at, one }));
                        }
                    }
                }
                let message = "others keep changing the same files";
                Err(NotMade::Refused(ToolError::new(code::WRITE_FAILED, message)))
            })
            .await
        }
    };
    let mut settled = match applied {
        Ok((mut settled, applied)) => {
            settled.lines.extend(line(&settled, &applied));
            settled.lines.extend(beside(ground, "not kept for undo", &applied.not_kept));
            settled.lines.extend(beside(
                ground,
                "devices, FIFOs and sockets are neither made nor brought back",
                &applied.special,
            ));
            settled.lines.extend(beside(
                ground,
                "had other names by hard links, which keep the former content",
                &applied.parted,
            ));
            layers.into_iter().for_each(|layer| layer.discard_aside(cx.permit));
            settled
        }
        Err(error) if !brings.is_empty() => {
            let places = brings.into_iter().map(|path| ground.files.place(path)).collect();
            Foreseen::note(cx.session, cx.call, cx.permit.effects(), places);
            return Err(error);
        }
        Err(error) if cx.cancel.is_cancelled() => return Err(error),
        Err(error) => {
            cx.undo.void();
            let mut settled = Settled { failed: Some(error.code), ..Settled::default() };
            let (mut lost, mut kept) = (Vec::new(), Vec::new());
            for (at, layer) in layers.into_iter().enumerate() {
                let root = layer.root(cx.permit).to_path_buf();
                // Beside what was set apart before.
                let to = if left.is_empty() { place(at) } else { place(at).join(".rest") };
                if layer.changes(cx.permit).is_ok_and(|changes| changes.is_empty(cx.permit)) {
                    continue;
                }
                match layer.keep(cx.permit, &to) {
                    Ok(()) => kept.push(to),
                    Err(error) => {
                        let (root, why) = (root.display(), error.message);
                        lost.push(format!("[what it changed in {root} could not be kept: {why}]"));
                    }
                }
            }
            let lies = places("; what it changed lies in", &kept);
            settled.lines.push(format!("[nothing was applied: {}{lies}]", error.message));
            settled.lines.extend(lost);
            settled
        }
    };
    settled.left_out = left.len();
    // What is left out of a work tree git takes for somebody's change.
    let of_tree = |left: &&Left| alone && left.why == Why::Guarded && !is_of_git(&left.one.path);
    let of_tree = left.iter().find(of_tree).map(|_| code::PERMISSION_DENIED);
    let failure = left.iter().filter_map(|left| left.why.failure()).min();
    settled.failed = settled.failed.or(failure).or(of_tree);
    for why in [Why::Guarded, Why::Forbidden, Why::Unasked, Why::Hidden, Why::Conflict] {
        let of: Vec<&Left> = left.iter().filter(|left| left.why == why).collect();
        if of.is_empty() {
            continue;
        }
        let names: Vec<PathBuf> = of.iter().map(|left| left.one.path.clone()).collect();
        let mut kept: Vec<PathBuf> =
            of.iter().filter(|left| left.one.kept.is_some()).map(|left| place(left.at)).collect();
        kept.dedup();
        let kept = places("; the command's version lies in", &kept);
        settled.lines.push(format!("[not applied, {}: {}{kept}]", why.words(), listed(&ground.files, &names)));
    }
    Ok(settled)
}

/// Of guarded places that a command changed, those that git did by what it has recorded.
pub(super) fn brought_by_git(cx: &Cx<'_>, all: &[Changes<'_>], places: &[Place]) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> = places.iter().map(|place| place.path.clone()).collect();
    all.iter().flat_map(|changes| changes.noted_by_git(cx.permit, &paths)).collect()
}

/// What git alone did is applied as it left it, or not.
fn not_as_a_whole(ground: &Ground, why: Why, places: &[Place]) -> ToolError {
    let paths: Vec<PathBuf> = places.iter().map(|place| place.path.clone()).collect();
    let message = format!("git would change {}, and that is left out {}", listed(&ground.files, &paths), why.words());
    ToolError::new(code::PERMISSION_DENIED, message)
}

/// Without these, what git left would be of two commits.
fn brings_more(ground: &Ground, paths: &[PathBuf]) -> ToolError {
    let paths = listed(&ground.files, paths);
    let message = format!("git would change {paths}, which may become code or policy; nothing was applied");
    ToolError::new(code::CHANGED_SINCE_READ, message).hint("run it again, to be asked about these")
}

/// Others changed what a person said yes to.
fn disturbed(ground: &Ground, places: &[Place]) -> ToolError {
    let paths: Vec<PathBuf> = places.iter().map(|place| place.path.clone()).collect();
    let what = if paths.is_empty() { "what the command changes".to_owned() } else { listed(&ground.files, &paths) };
    let message = format!("somebody else changed {what} while the question was open");
    ToolError::new(code::CHANGED_SINCE_READ, message)
}

/// A path that was left out.
struct Left {
    why: Why,
    /// The number of its root.
    at: usize,
    one: LeftOut,
}

/// Where something lies, after `words`; nothing where there is nothing.
fn places(words: &str, places: &[PathBuf]) -> String {
    let all: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    if all.is_empty() { String::new() } else { format!("{words} {}", all.join(" and ")) }
}

/// Why a path was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Guarded,
    Forbidden,
    Unasked,
    Hidden,
    Conflict,
}

impl Why {
    fn words(self) -> &'static str {
        match self {
            Why::Guarded => "as it may become code or policy",
            Why::Forbidden => "as a rule denies it",
            Why::Unasked => "as a rule has it asked about, and the command line did not name it",
            Why::Hidden => "as it is hidden from commands",
            Why::Conflict => "as others changed it meanwhile",
        }
    }

    /// Whether git that did this did the rest for nothing.
    fn is_for_git(self) -> bool {
        matches!(self, Why::Forbidden | Why::Unasked | Why::Hidden)
    }

    /// The code of a command that changed such a path. What it wrote is not there for whoever goes on.
    fn failure(self) -> Option<Code> {
        match self {
            Why::Guarded => None,
            Why::Forbidden | Why::Unasked | Why::Hidden => Some(code::PERMISSION_DENIED),
            Why::Conflict => Some(code::CHANGED_SINCE_READ),
        }
    }
}

/// Of `places`, which rules keep from being changed, those that are denied; where there are none, those that a rule
/// would have asked about.
fn unasked(cx: &Cx<'_>, all: &[Changes<'_>], places: Vec<Place>) -> (Why, Vec<Place>) {
    let is_directory = |place: &Place| {
        let entries = || all.iter().flat_map(|changes| &changes.entries);
        entries().any(|entry| entry.path == place.path && entry.kind == Kind::Directory)
    };
    let (asked, denied): (Vec<Place>, Vec<Place>) =
        places.into_iter().partition(|place| cx.permit.would_ask_about_change(place, is_directory(place)));
    if denied.is_empty() { (Why::Unasked, asked) } else { (Why::Forbidden, denied) }
}

fn line(settled: &Settled, applied: &Applied) -> Option<String> {
    let all = if applied.not_kept.is_empty() { "undo takes it back" } else { "undo cannot take it back" };
    settled.counts().map(|counts| format!("[{counts} · {all}]"))
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
        for one in folded(told(changes).filter(|entry| !is_of_git(&entry.path))) {
            let head = |entry| head(ground, cx, changes, entry);
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
    if diff.is_empty() && head.is_empty() { sizes() } else { diff }
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
