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
//! What git changed of guarded files makes the call one that is judged again ([`Foreseen`]): then nothing is applied.

use std::path::{Path, PathBuf};

use nika_contract::{Code, Cx, Foreseen, Kind, ToolError, TurnedOut, code};
use nika_guard::{Effect, Place};
use nika_host::fs::{Locked, NotMade};
use nika_host::overlay::{Applied, Bounds, Changes, Layer, LeftOut, Likeness, NotApplied, OfGit};

use super::ground::{Ground, unguessable};
use super::layered::{SHOWN_NAMES, Settled, beside, describe, diff_of, listed};
use super::of_git::{of_git, runs_git, said_to_stay};
use super::recorded::PARTED;
use crate::file::names::NOT_BACK;
use crate::file::seen::retried;
use crate::told::{is_noted, is_of_git};

/// How often what cannot be applied is set apart and the rest is tried again.
const ROUNDS: usize = 6;

/// Applies what the command changed. Nothing of it is lost: what cannot be applied is kept where it can be read.
/// An error only when nobody wants the call any more, or it is to be judged again.
pub(super) async fn apply(
    ground: &Ground,
    cx: &Cx<'_>,
    layers: Vec<Layer>,
    lives: bool,
    said: &str,
) -> Result<Settled, ToolError> {
    Settling::of(ground, cx, None, said).settle(layers, lives).await
}

/// The same of what a person was shown before: that, or nothing where somebody else has changed any of it since.
pub(super) async fn apply_as_shown(
    ground: &Ground,
    cx: &Cx<'_>,
    layers: Vec<Layer>,
    shown: Likeness,
    said: &str,
) -> Result<Settled, ToolError> {
    Settling::of(ground, cx, Some(shown), said).settle(layers, false).await
}

/// One call's layers on their way.
struct Settling<'a> {
    ground: &'a Ground,
    cx: &'a Cx<'a>,
    /// What a person was shown.
    shown: Option<Likeness>,
    /// What the command line has of git. Where it is nothing else, the whole is applied or nothing.
    of_git: OfGit,
    /// Where what is left out is kept.
    apart: PathBuf,
    left: Vec<Left>,
    /// Files that git says it could not take away.
    stayed: Vec<String>,
    /// What a yes was to, of what git brings.
    mark: Option<String>,
    /// What the call turned out to do beside what it was judged for.
    turned_out: TurnedOut,
}

type Round = Result<Option<(Settled, Applied)>, NotMade>;

impl<'a> Settling<'a> {
    fn of(ground: &'a Ground, cx: &'a Cx<'a>, shown: Option<Likeness>, said: &str) -> Settling<'a> {
        let apart = ground.spill.join(format!("{}-{}", cx.call, unguessable()));
        let effects = cx.permit.effects();
        let known = || Foreseen::last(cx.session, effects).and_then(|known| known.mark);
        let mark = if shown.is_none() { known() } else { None };
        let (of_git, stayed) = (of_git(effects), said_to_stay(said));
        Settling { ground, cx, shown, of_git, apart, left: Vec::new(), stayed, mark, turned_out: TurnedOut::default() }
    }

    async fn settle(mut self, layers: Vec<Layer>, lives: bool) -> Result<Settled, ToolError> {
        let (ground, cx) = (self.ground, self.cx);
        let applied = match lives {
            true => Err(ToolError::new(code::COMMAND_FAILED, "something of it may still run")),
            false => {
                retried(&ground.files, cx, |locked| {
                    for number in 0..ROUNDS {
                        if let Some(applied) = self.round(locked, &layers, number)? {
                            return Ok(applied);
                        }
                    }
                    let message = "others keep changing the same files";
                    Err(NotMade::Refused(ToolError::new(code::WRITE_FAILED, message)))
                })
                .await
            }
        };
        let mut settled = match applied {
            Ok((settled, applied)) => {
                layers.into_iter().for_each(|layer| layer.discard_aside(cx.permit));
                told(ground, settled, &applied)
            }
            Err(error) if !self.turned_out.effects.is_empty() => {
                Foreseen::note(cx.session, cx.call, cx.permit.effects(), self.turned_out);
                return Err(error);
            }
            Err(error) if cx.cancel.is_cancelled() => return Err(self.with_left(error)),
            Err(error) => {
                cx.undo.void();
                self.keep(layers, &error)
            }
        };
        self.tell_left(&mut settled);
        Ok(settled)
    }

    /// Tries to apply all that is still in the layers. `None`: something was left out, or has to be looked at anew.
    fn round(&mut self, locked: &mut Locked<'_>, layers: &[Layer], number: usize) -> Round {
        let (ground, cx) = (self.ground, self.cx);
        let all = layers.iter().map(|layer| layer.changes(cx.permit)).collect::<Result<Vec<_>, _>>()?;
        // What was left out of it was said to be.
        let is_other = |shown| self.left.is_empty() && Likeness::of_paths(cx.permit, &all) != shown;
        if self.shown.is_some_and(is_other) {
            return Err(NotMade::Refused(disturbed(ground, &[])));
        }
        let settled = describe(ground, cx, &all);
        if all.iter().all(|changes| changes.is_empty(cx.permit)) {
            let special = all.iter().flat_map(|changes| changes.special.clone()).collect();
            return Ok(Some((settled, Applied { special, ..Applied::default() })));
        }
        if number == 0 {
            self.whole(&all)?;
            self.as_shown(&all)?;
        }
        match locked.apply(cx, &all, &Bounds::default()) {
            Ok(applied) => return Ok(Some((settled, applied))),
            // A directory that somebody made a moment ago is none once it is seen.
            Err(NotApplied::Conflict(_)) if number == 0 => {}
            Err(why) => {
                let (why, places) = self.why(&all, why)?;
                self.leave_out(all, why, places)?;
            }
        }
        Ok(None)
    }

    /// Refuses what git could not put in place as a whole. Where nobody knew of it, git is given the means next time.
    fn whole(&mut self, all: &[Changes<'_>]) -> Result<(), NotMade> {
        let names = behind(self.ground, self.cx, all, &self.stayed);
        let unknown = self.of_git == OfGit::Nothing && self.shown.is_none();
        let error = match names.is_empty() {
            false => not_in_place(&names),
            true if unknown && all.iter().any(|changes| changes.goes_elsewhere(self.cx.permit)) => {
                let message = "a program of it had git go to another commit, where it could not replace what is guarded or hidden";
                ToolError::new(code::PERMISSION_DENIED, message)
            }
            true => return Ok(()),
        };
        if !unknown {
            return Err(NotMade::Refused(error));
        }
        self.turned_out.effects.push(runs_git());
        let hint = "run git in a command line that names it";
        Err(NotMade::Refused(ToolError { code: code::CHANGED_SINCE_READ, ..error }.hint(hint)))
    }

    /// Refuses what git brings where it is other than what a person said yes to.
    fn as_shown(&self, all: &[Changes<'_>]) -> Result<(), NotMade> {
        let Some(mark) = &self.mark else { return Ok(()) };
        match Likeness::of_those(self.cx.permit, all, &|path| counts(self.cx, path))?.to_string() == *mark {
            true => Ok(()),
            false => Err(NotMade::Refused(disturbed(self.ground, &[]))),
        }
    }

    /// What is to be left out, and why; an error where nothing is to be applied at all.
    fn why(&mut self, all: &[Changes<'_>], not_applied: NotApplied) -> Result<(Why, Vec<Place>), NotMade> {
        let (why, places) = match not_applied {
            NotApplied::Conflict(places) if self.shown.is_some() => {
                return Err(NotMade::Refused(disturbed(self.ground, &places)));
            }
            NotApplied::Conflict(places) if places.iter().any(|place| is_record(&place.path)) => {
                return Err(NotMade::Refused(recorded_meanwhile(self.ground, &places)));
            }
            NotApplied::Conflict(places) => (Why::Conflict, places),
            NotApplied::Guarded(places) => {
                let brings = brought_by_git(self.cx, all, &places);
                if !brings.is_empty() {
                    self.turned_out = brought(self.ground, self.cx, all, &brings)?;
                    return Err(NotMade::Refused(brings_more(self.ground, &brings)));
                }
                (Why::Guarded, places)
            }
            NotApplied::Hidden(places) => (Why::Hidden, places),
            // What is denied first, what nobody was asked about in the next round.
            NotApplied::Forbidden(places) => unasked(self.cx, all, places),
            NotApplied::Refused(error) => return Err(NotMade::Refused(error)),
        };
        if self.of_git == OfGit::All && why.is_for_git() {
            return Err(NotMade::Refused(not_as_a_whole(self.ground, why, &places)));
        }
        Ok((why, places))
    }

    fn leave_out(&mut self, all: Vec<Changes<'_>>, why: Why, places: Vec<Place>) -> Result<(), ToolError> {
        let paths: Vec<PathBuf> = places.into_iter().map(|place| place.path).collect();
        for (at, changes) in all.into_iter().enumerate() {
            let root = changes.root(self.cx.permit).to_path_buf();
            let own: Vec<PathBuf> = paths.iter().filter(|path| path.starts_with(&root)).cloned().collect();
            if !own.is_empty() {
                let out = changes.leave_out(self.cx.permit, &own, &self.place(at))?;
                self.left.extend(out.into_iter().map(|one| Left { why, at, one }));
            }
        }
        Ok(())
    }

    /// Where what is left out of a root is kept.
    fn place(&self, at: usize) -> PathBuf {
        if at == 0 { self.apart.clone() } else { self.apart.with_extension(format!("root{at}")) }
    }

    /// Keeps all that the command left, as it is not applied for `error`.
    fn keep(&self, layers: Vec<Layer>, error: &ToolError) -> Settled {
        let mut settled = Settled { failed: Some(error.code), ..Settled::default() };
        let (mut lost, mut kept) = (Vec::new(), Vec::new());
        let others = layers.iter().flat_map(|layer| layer.others(self.cx.permit)).collect();
        let is_stuck = layers.iter().any(|layer| layer.is_left(self.cx.permit));
        for (at, layer) in layers.into_iter().enumerate() {
            let root = layer.root(self.cx.permit).to_path_buf();
            // Beside what was set apart before.
            let to = if self.left.is_empty() { self.place(at) } else { self.place(at).join(".rest") };
            if layer.changes(self.cx.permit).is_ok_and(|changes| changes.is_empty(self.cx.permit)) {
                continue;
            }
            match layer.keep(self.cx.permit, &to) {
                Ok(()) => kept.push(to),
                Err(error) => {
                    let (root, why) = (root.display(), error.message);
                    lost.push(format!("[what it changed in {root} could not be kept: {why}]"));
                }
            }
        }
        let lies = format!("{}{}", places("; what it changed lies in", &kept), self.with_others(others));
        let became = if is_stuck { "not applied as a whole" } else { "nothing was applied" };
        settled.lines.push(format!("[{became}: {}{lies}]", error.message));
        settled.lines.extend(lost);
        settled
    }

    /// Says where that lies which was left out before nobody wanted the call any more.
    fn with_left(&self, error: ToolError) -> ToolError {
        let mut kept: Vec<PathBuf> =
            self.left.iter().filter(|left| left.one.kept.is_some()).map(|left| self.place(left.at)).collect();
        kept.dedup();
        let lies = places("what others changed, too, lies in", &kept);
        if lies.is_empty() { error } else { error.hint(lies) }
    }

    /// Says what was left out, and whether the call failed for that.
    fn tell_left(&self, settled: &mut Settled) {
        settled.left_out = self.left.len();
        // What is left out of a work tree git takes for somebody's change.
        let names_git = self.of_git != OfGit::Nothing;
        let of_tree = |left: &&Left| names_git && left.why == Why::Guarded && !is_of_git(&left.one.path);
        let of_tree = self.left.iter().find(of_tree).map(|_| code::PERMISSION_DENIED);
        let failure = self.left.iter().filter_map(|left| left.why.failure()).min();
        settled.failed = settled.failed.or(failure).or(of_tree);
        for why in [Why::Guarded, Why::Forbidden, Why::Unasked, Why::Hidden, Why::Conflict] {
            let of: Vec<&Left> = self.left.iter().filter(|left| left.why == why).collect();
            if of.is_empty() {
                continue;
            }
            let names: Vec<PathBuf> = of.iter().map(|left| left.one.path.clone()).collect();
            let mut kept: Vec<PathBuf> =
                of.iter().filter(|left| left.one.kept.is_some()).map(|left| self.place(left.at)).collect();
            kept.dedup();
            let kept = places("; the command's version lies in", &kept);
            let others = self.with_others(of.iter().flat_map(|left| left.one.others.clone()).collect());
            let names = listed(&self.ground.files, &names);
            settled.lines.push(format!("[not applied, {}: {names}{kept}{others}]", why.words()));
        }
    }

    /// That what is kept has something of others in it; nothing where it has none.
    fn with_others(&self, others: Vec<PathBuf>) -> String {
        if others.is_empty() {
            return String::new();
        }
        format!(", with what others wrote to it as it was applied: {}", listed(&self.ground.files, &others))
    }
}

/// What was applied, with what is to be said of it.
fn told(ground: &Ground, mut settled: Settled, applied: &Applied) -> Settled {
    settled.lines.extend(line(&settled, applied));
    settled.lines.extend(beside(ground, "new and empty", &settled.empty));
    for (what, paths) in [
        ("not kept for undo", &applied.not_kept),
        ("devices, FIFOs and sockets are not made", &applied.special),
        (NOT_BACK, &applied.not_back),
        ("had other names by hard links, which keep the former content", &applied.parted),
        (PARTED, &applied.unnamed),
        ("copies, where hard links were asked for", &applied.copies),
    ] {
        settled.lines.extend(beside(ground, what, paths));
    }
    settled
}

/// Files that git could not put in place, by its records in the layers or as it says itself.
pub(super) fn behind(ground: &Ground, cx: &Cx<'_>, all: &[Changes<'_>], stayed: &[String]) -> Vec<String> {
    let recorded = all.iter().flat_map(|changes| changes.behind(cx.permit));
    let said = all.iter().flat_map(|changes| changes.held_among(cx.permit, stayed));
    let mut names: Vec<String> = recorded.chain(said).map(|path| ground.files.shown(&path)).collect();
    names.sort();
    names.dedup();
    names
}

/// Of guarded places that a command changed, those that git did by what it has recorded.
pub(super) fn brought_by_git(cx: &Cx<'_>, all: &[Changes<'_>], places: &[Place]) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> = places.iter().map(|place| place.path.clone()).collect();
    all.iter().flat_map(|changes| changes.noted_by_git(cx.permit, &paths)).collect()
}

/// What a call does that brings these, and what a question shows of it.
fn brought(ground: &Ground, cx: &Cx<'_>, all: &[Changes<'_>], paths: &[PathBuf]) -> Result<TurnedOut, ToolError> {
    let own: Vec<PathBuf> = paths.iter().filter(|path| !is_noted(path)).cloned().collect();
    let is_one = |path: &Path| own.iter().any(|one| one == path) || counts(cx, path);
    let mark = Likeness::of_those(cx.permit, all, &is_one)?.to_string();
    let shown = diff_of(ground, cx, all, &own);
    let effects = paths.iter().map(|path| Effect::Write(ground.files.place(path.clone()))).collect();
    Ok(TurnedOut { effects, shown: Some(shown), mark: Some(mark) })
}

/// Whether a yes to a call is to what it leaves there.
fn counts(cx: &Cx<'_>, path: &Path) -> bool {
    !is_noted(path) && cx.permit.names_write(path)
}

/// Whether git keeps there what was committed, staged or checked out, and not what only somebody at work looks at.
fn is_record(path: &Path) -> bool {
    const NOTES: &[&str] = &["FETCH_HEAD", "ORIG_HEAD", "COMMIT_EDITMSG", "gc.log", "logs", "objects", "refs/remotes"];
    let inside: PathBuf = path.components().skip_while(|part| part.as_os_str() != ".git").skip(1).collect();
    !inside.as_os_str().is_empty() && NOTES.iter().all(|note| !inside.starts_with(note))
}

/// What git notes of one commit fits no other: all of it is applied, or nothing.
fn recorded_meanwhile(ground: &Ground, places: &[Place]) -> ToolError {
    let paths: Vec<PathBuf> = places.iter().map(|place| place.path.clone()).collect();
    let message = format!("others changed {} meanwhile, and git's records stay whole", listed(&ground.files, &paths));
    ToolError::new(code::CHANGED_SINCE_READ, message)
}

/// What git recorded and could not put in place would be taken back by the next commit.
fn not_in_place(names: &[String]) -> ToolError {
    let mut shown = names.iter().take(SHOWN_NAMES).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN_NAMES {
        shown.push_str(&format!(" and {} more", names.len() - SHOWN_NAMES));
    }
    let message =
        format!("git has recorded other content than it could put in place, as it is guarded or hidden here: {shown}");
    ToolError::new(code::PERMISSION_DENIED, message)
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
    let undo = match (applied.not_kept.len(), settled.paths().saturating_sub(applied.not_back.len())) {
        (0, _) if applied.not_back.is_empty() => "undo takes it back".to_owned(),
        (0, rest) if rest > 0 => format!("undo takes back {rest} of them"),
        _ => "undo cannot take it back".to_owned(),
    };
    settled.counts().map(|counts| format!("[{counts} · {undo}]"))
}
