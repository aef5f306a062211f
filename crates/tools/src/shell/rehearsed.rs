//! A command that a person is asked about, tried over layers first: the question shows what it did, and a yes applies
//! just that.
//!
//! | the trial | a yes |
//! |---|---|
//! | ended, whatever its status | applies what was shown; the command does not run again |
//! | did not end in time, or changed more than is held for an answer | runs it |
//! | could not be made: no layer can be had, or it would write where none is | runs it |
//!
//! What holds the trial is what would hold the command after a yes, and nothing of it is let count: so it does what it
//! would do then, or it is not made. What of it cannot be shown is said in its place.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nika_contract::{Cx, Foreseen, Held, Rehearsal, ToolError, TurnedOut, code, text};
use nika_guard::Effect;
use nika_guard::profile::{Access, Repository};
use nika_host::overlay::{Changes, HeldBack, Layer, Likeness, OfGit};
use nika_host::proc::{Exited, How, Job, Jobs, KilledBy, Order, TIMEOUT};
use serde_json::Value;

use super::bash::closed_repository;
use super::command::Command;
use super::ground::Ground;
use super::layered::{self, Settled};
use super::of_git::{of_git, runs_git, said_to_stay};
use super::report;
use super::{scratch, settling};
use crate::told::{folders, is_of_git};

/// How long a question waits for it. What takes longer is rather asked about first.
const AT_MOST: Duration = Duration::from_secs(20);
/// Bytes of what a command left, for all that an open question may cost. 1 GiB: what undo keeps of a call.
const HELD_BYTES: u64 = 1 << 30;
/// Characters of output in a question; the answer after a yes has more.
const OUTPUT_CHARS: usize = 2_000;
/// How long one wait for the end is; within it the trial may become unwanted at any moment.
const LOOK: Duration = Duration::from_secs(1);

/// What waits for a yes. Dropped, it is gone.
pub(super) struct Tried {
    done: Done,
    /// What was shown.
    shown: Likeness,
}

/// A command that has ended, and its changes.
struct Done {
    layers: Vec<Layer>,
    ended: Ended,
    exited: Exited,
    /// What git keeps elsewhere, where it could not be written.
    closed: Option<PathBuf>,
    /// What it was taken to have of git.
    of_git: OfGit,
}

/// What was tried, once a yes has put it in force.
pub(super) struct Accepted {
    pub ended: Ended,
    pub exited: Exited,
    pub settled: Settled,
    pub closed: Option<PathBuf>,
}

/// Tries a command, if that can be done and is wanted. `begun` is told once it runs.
pub(super) async fn rehearse(
    ground: &Ground,
    cx: &Cx<'_>,
    command: &Command,
    mut order: Order,
    begun: impl Fn(&Arc<Job>),
) -> Result<Option<Rehearsal>, ToolError> {
    let profile = &mut order.profile;
    if !ground.rehearses || !ground.undo || profile.access != Access::Workspace || !profile.hosts.is_empty() {
        return Ok(None);
    }
    if scratch::touches(&command.effects) {
        return Ok(Some(untried("it uses the session's temporary files, which no layer covers")));
    }
    // What a trial leaves there, or tells a server, is for nobody.
    profile.scratch = None;
    order.trial = true;
    if profile.repositories.iter().any(Repository::is_open) {
        return Ok(Some(untried("it may write a repository elsewhere, which no layer covers")));
    }
    let known = of_git(cx.permit.effects());
    let mut tried = try_over(ground, cx, order.clone(), known, &begun).await?;
    if let Ok(done) = &tried
        && known == OfGit::Nothing
        && (!stays(ground, cx, done)?.is_empty() || goes_elsewhere(cx, done)?)
    {
        // A program of it runs git: with the means to replace what is guarded.
        tried = try_over(ground, cx, order, OfGit::Something, &begun).await?;
    }
    Ok(Some(match tried.and_then(|done| foreseen(ground, cx, done, command)) {
        Ok(rehearsal) => rehearsal,
        Err(error) => untried(&error.message),
    }))
}

/// Runs it once, as a command line that has so much of git. The outer error ends the call, the inner one says why it was not
/// tried.
async fn try_over(
    ground: &Ground,
    cx: &Cx<'_>,
    mut order: Order,
    of_git: OfGit,
    begun: &impl Fn(&Arc<Job>),
) -> Result<Result<Done, ToolError>, ToolError> {
    let untried = |why: String| Ok(Err(ToolError::new(code::COMMAND_FAILED, why)));
    let closed = closed_repository(&order.profile);
    let laid = match ground.no_layers.get() {
        Some(why) => Err(why.clone()),
        None => layered::lay(ground, cx, &mut order.profile, of_git),
    };
    let layers = match laid {
        Ok(layers) => layers,
        Err(why) => return untried(why),
    };
    let at_most = order.timeout.unwrap_or(TIMEOUT).min(AT_MOST);
    order.timeout = Some(at_most);
    let job = match ground.start(cx, order) {
        Ok(job) => Ended { job, jobs: Arc::clone(&ground.jobs) },
        Err(error) => return untried(error.message),
    };
    begun(&job.job);
    let Some((exited, layers, ended)) = watched(job, layers, cx).await? else { return Err(ToolError::cancelled()) };
    if exited.killed_by == Some(KilledBy::Timeout) {
        return untried(format!("it did not end within {} s", at_most.as_secs_f32()));
    }
    if exited.left > 0 || exited.killed_by == Some(KilledBy::Lost) {
        return untried("something of it went on running".to_owned());
    }
    Ok(Ok(Done { layers, ended, exited, closed, of_git }))
}

/// What git could not put in place.
fn stays(ground: &Ground, cx: &Cx<'_>, done: &Done) -> Result<Vec<String>, ToolError> {
    let all = done.layers.iter().map(|layer| layer.changes(cx.permit)).collect::<Result<Vec<_>, _>>()?;
    let stayed = said_to_stay(&report::output(&done.ended.job.summary()));
    Ok(settling::behind(ground, cx, &all, &stayed))
}

/// Whether git went to another commit there.
fn goes_elsewhere(cx: &Cx<'_>, done: &Done) -> Result<bool, ToolError> {
    let all = done.layers.iter().map(|layer| layer.changes(cx.permit)).collect::<Result<Vec<_>, _>>()?;
    Ok(all.iter().any(|changes| changes.goes_elsewhere(cx.permit)))
}

/// Puts in force what a person said yes to.
pub(super) async fn accept(
    ground: &Arc<Ground>,
    cx: &Cx<'_>,
    Tried { done: Done { layers, ended, exited, closed, .. }, shown }: Tried,
) -> Result<Accepted, ToolError> {
    let said = report::output(&ended.job.summary());
    let settled = settling::apply_as_shown(ground, cx, layers, shown, &said).await?;
    ground.look_again();
    Ok(Accepted { ended, exited, settled, closed })
}

/// A question without a trial, and why.
fn untried(why: &str) -> Rehearsal {
    let mut rehearsal = Rehearsal::without(format!("What it would change cannot be shown: {why}. A yes runs it."));
    rehearsal.facts = vec![("held", false.into()), ("why", why.into())];
    rehearsal
}

/// A job whose output nobody hears of but through this.
pub(super) struct Ended {
    pub job: Arc<Job>,
    jobs: Arc<Jobs>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.jobs.forget(&self.job);
    }
}

/// Set when nobody waits for the trial any more.
#[derive(Default)]
struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Waits for the end on a thread where waiting does no harm. The thread owns the layers meanwhile: they outlive what
/// writes to them, also where whoever waits is gone. `None` where the call is wanted no more.
async fn watched(
    ended: Ended,
    layers: Vec<Layer>,
    cx: &Cx<'_>,
) -> Result<Option<(Exited, Vec<Layer>, Ended)>, ToolError> {
    let gone = Gone::default();
    let (cancel, left) = (cx.cancel.clone(), Arc::clone(&gone.0));
    let waited = tokio::task::spawn_blocking(move || {
        let unwanted = || cancel.is_cancelled() || left.load(Ordering::Acquire);
        let exited = loop {
            match ended.job.wait(LOOK, &unwanted) {
                None if unwanted() => break None,
                None => {}
                exited => break exited,
            }
        };
        // Returns when nothing of it is left.
        ended.job.stop_within(Duration::ZERO);
        exited.map(|exited| (exited, layers, ended))
    });
    let waited = waited.await.map_err(|error| ToolError::new(code::BUG, format!("waiting failed: {error}")));
    drop(gone);
    waited
}

/// What the question shows, and what it holds.
fn foreseen(ground: &Ground, cx: &Cx<'_>, done: Done, command: &Command) -> Result<Rehearsal, ToolError> {
    let Done { layers, ended, exited, of_git: as_git, .. } = &done;
    let all = layers.iter().map(|layer| layer.changes(cx.permit)).collect::<Result<Vec<_>, _>>()?;
    let bytes: u64 = all.iter().flat_map(|changes| &changes.entries).map(|entry| entry.bytes).sum();
    if bytes > HELD_BYTES {
        let message = format!("it left {} MiB, and at most {} are held for an answer", bytes >> 20, HELD_BYTES >> 20);
        return Err(ToolError::new(code::TOO_LARGE, message));
    }
    let (shown, mark) = (Likeness::of_paths(cx.permit, &all), Likeness::of(cx.permit, &all)?.to_string());
    let settled = layered::describe(ground, cx, &all);
    let left_out = HeldBack::of(&ground.files, cx.permit, &all);
    let brings = settling::brought_by_git(cx, &all, &left_out.guarded);
    let stays = stays(ground, cx, &done)?;
    let stays = (!stays.is_empty()).then(|| format!("git could not put in place {}", stays.join(", ")));
    let ending = report::ending(exited, command.analysis.last_command.as_deref());
    let words = [
        format!(
            "It was tried over a layer, without network, and nothing is changed yet: {ending} after {} · {}",
            took(exited.wall_ms),
            report::held(ended.job.held())
        ),
        "A yes applies exactly this, and does not run it again; a no leaves nothing of it.".to_owned(),
        changes(ground, &settled, &all, &left_out, &brings),
        stays.map(|names| format!("[{names}; a yes applies nothing]")).unwrap_or_default(),
        printed(&format!("{}{}", report::output(&ended.job.summary()), String::from_utf8_lossy(&ended.job.errors()))),
        settled.diff.clone(),
    ];
    let words: Vec<&str> = words.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()).collect();
    let exit_code = match exited.how {
        How::Status(status) => Value::from(status),
        How::Signal(_) => Value::Null,
    };
    let facts = vec![
        ("held", true.into()),
        ("exit_code", exit_code),
        ("wall_ms", exited.wall_ms.into()),
        ("sandbox", ended.job.held().profile.as_str().into()),
        ("would_change", settled.paths().into()),
    ];
    let words = words.join("\n");
    drop(all);
    let writes = brings.into_iter().map(|path| Effect::Write(ground.files.place(path)));
    let runs = (*as_git != of_git(cx.permit.effects())).then(runs_git);
    let effects: Vec<Effect> = runs.into_iter().chain(writes).collect();
    if !effects.is_empty() {
        // The question is about these, too.
        Foreseen::note(cx.session, cx.call, cx.permit.effects(), TurnedOut { effects, ..TurnedOut::default() });
    }
    Ok(Rehearsal { shown: words, facts, held: Some(Held::new(mark, Tried { done, shown })) })
}

/// Which paths, and which of them a yes leaves as they are.
fn changes(ground: &Ground, settled: &Settled, all: &[Changes<'_>], left_out: &HeldBack, brings: &[PathBuf]) -> String {
    let Some(counts) = settled.counts() else { return "It would change nothing.".to_owned() };
    // Of ten names that a commit changes, the one that a person knows would be the last.
    let (of_git, own): (Vec<_>, Vec<_>) = all.iter().flat_map(layered::told).partition(|entry| is_of_git(&entry.path));
    let own = folders::folded(own);
    let own = (!own.is_empty()).then(|| folders::names(&own, layered::SHOWN_NAMES, |path| ground.files.shown(path)));
    let of_git = (!of_git.is_empty()).then(|| format!("{} of git's own", of_git.len()));
    let what: Vec<String> = own.into_iter().chain(of_git).collect();
    let mut lines = vec![format!("It would change {} ({counts})", what.join(" and "))];
    let all = [
        ("as it may become code or policy", &left_out.guarded),
        ("as a rule denies it or has it asked about", &left_out.forbidden),
        ("as it is hidden from commands", &left_out.hidden),
    ];
    for (why, places) in all {
        let asked = |path: &PathBuf| !brings.contains(path);
        let paths: Vec<_> = places.iter().map(|place| place.path.clone()).filter(asked).collect();
        if paths.is_empty() {
            continue;
        }
        lines.push(format!("[a yes leaves out, {why}: {}]", layered::listed(&ground.files, &paths)));
    }
    lines.join("\n")
}

fn took(ms: u64) -> String {
    if ms < 1000 { format!("{ms} ms") } else { format!("{:.1} s", ms as f64 / 1000.0) }
}

/// What it printed, each line marked: a command must not speak in the question's own voice.
fn printed(output: &str) -> String {
    let cut = text::head_and_tail(output, OUTPUT_CHARS);
    let output = text::harmless(cut.as_deref().unwrap_or(output)).into_owned();
    let lines: Vec<String> = output.lines().map(|line| format!("  │ {line}")).collect();
    if lines.is_empty() { String::new() } else { format!("It printed:\n{}", lines.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_that_a_command_printed_stands_at_the_margin() {
        for output in ["a\nIt would change nothing.\n", "a\r\nA yes applies nothing\r\n\n"] {
            let shown = printed(output);
            assert!(shown.starts_with("It printed:\n"), "{shown}");
            assert!(shown.lines().skip(1).all(|line| line.starts_with("  │ ")), "{shown:?}");
            assert!(!shown.contains('\r'), "{shown:?}");
        }
        assert_eq!(printed(""), "");
        assert!(printed(&"x".repeat(100_000)).chars().count() < OUTPUT_CHARS + 100);
    }
}
