//! What a command over the bare roots changed, as its answer and the news of its end say it.
//!
//! | what is recorded | whose it is |
//! |---|---|
//! | a job in the background | the call that started it, until it ends |
//! | code for an interpreter | the call that brought it; what the interpreter does between two calls is the earlier one's |
//! | a command that has no layer | its own |

use std::path::PathBuf;

use nika_contract::{Block, Cx, Output, ToolError};
use nika_host::fs::Workspace;
use nika_host::record::{Recorded, Recorder};

use super::bash;
use super::ground::Ground;
use super::layered::{Settled, beside, listed};
use super::of_git::about_behind;

/// What paths are named for that others may have written.
const OTHERS: &str = "changed after the command was last seen to write there, by somebody else or unseen";

/// What is said of files with several names: of those that keep it, and of those that part.
const LINKED: &str = "these have other names, too, which changed with them and which undo leaves";
pub(super) const PARTED: &str = "had other names by hard links, and undo makes files of their own of these";

/// A recorder for the call; or why there is none.
pub(super) fn recorder(ground: &Ground, cx: &Cx<'_>) -> Result<Result<Recorder, String>, ToolError> {
    if let Some(why) = ground.no_record.get() {
        return Ok(Err(why.clone()));
    }
    match cx.undo.lasting() {
        Ok(Some(lasting)) => Recorder::new(cx.permit, &ground.files, lasting).map(Ok),
        Ok(None) => Ok(Err("nothing is kept for this call".to_owned())),
        // A full disk, say: no matter of what the system can do, and gone when there is space.
        Err(error) => {
            let message = format!("what it changes could not be taken back, so it was not run: {}", error.message);
            let hint = "make room for the state directory, or have nothing taken back: `shell.undo: off`";
            Err(ToolError::new(error.code, message).hint(hint))
        }
    }
}

/// What it changed, for the answer.
pub(super) fn settled(ground: &Ground, recorded: &Recorded) -> Settled {
    let Recorded { created, changed, deleted, .. } = *recorded;
    let mut settled = Settled { created, changed, deleted, ..Settled::default() };
    settled.lines.extend(counts(recorded).map(|counts| format!("[{counts}]")));
    settled.lines.extend(beside(ground, "not kept for undo", &recorded.not_kept));
    settled.lines.extend(beside(ground, "devices, FIFOs and sockets are left as they are, or gone", &recorded.special));
    for (what, paths) in told_beside(recorded) {
        settled.lines.extend(beside(ground, what, paths));
    }
    if let Some(path) = &recorded.beyond {
        let first = ground.files.shown(path);
        settled
            .lines
            .push(format!("[more paths than are kept: of {first}, and of all that came after it, nothing is]"));
    }
    if recorded.blind {
        settled.lines.push("[of some changes nobody could tell what they were; undo leaves these]".to_owned());
    }
    settled
}

/// What is said of single paths, in an answer and in the news alike.
fn told_beside(recorded: &Recorded) -> [(&'static str, &[PathBuf]); 3] {
    [(LINKED, &recorded.linked), (PARTED, &recorded.parted), (OTHERS, &recorded.others)]
}

/// `2 paths: 1 created, 1 deleted · undo takes it back`; nothing where nothing was changed.
fn counts(recorded: &Recorded) -> Option<String> {
    let Recorded { created, changed, deleted, .. } = *recorded;
    let counts = Settled { created, changed, deleted, ..Settled::default() }.counts();
    let whole = recorded.not_kept.is_empty() && recorded.beyond.is_none() && !recorded.blind;
    let kept = match (whole, recorded.refused) {
        (false, _) => "undo cannot take it back",
        (true, true) => "undo is refused while what others wrote stands there",
        (true, false) => "undo takes it back",
    };
    match counts {
        Some(counts) => Some(format!("{counts} · {kept}")),
        None if whole => None,
        None => Some(format!("what is not kept was changed · {kept}")),
    }
}

/// The same for the news of a job's end, with the call that undo takes and the paths of which more is to be said.
pub(super) fn told(files: &Workspace, recorded: &Recorded) -> Option<String> {
    let said = told_beside(recorded).into_iter().filter(|(_, paths)| !paths.is_empty());
    let others: String = said.map(|(what, paths)| format!(" · {what}: {}", listed(files, paths))).collect();
    let names: Vec<String> = recorded.behind.iter().map(|path| files.shown(path)).collect();
    let counts = counts(recorded).map(|counts| format!("{counts}{others} (call {})", recorded.call));
    let all: Vec<String> = counts.into_iter().chain(about_behind(&names)).collect();
    (!all.is_empty()).then(|| all.join(" · "))
}

/// The answer of a job that goes on, and how what it changes is taken back.
pub(super) fn goes_on(mut output: Output, cx: &Cx<'_>, recorded: bool, irrevocable: Option<String>) -> Output {
    match (irrevocable, output.content.first_mut()) {
        (Some(why), _) => return bash::irrevocable(output, why),
        (None, Some(Block::Text(text))) if recorded => {
            text.push_str(&format!("\n[when it has ended, undo of call {} takes back what it changed]", cx.call));
        }
        (None, _) => {}
    }
    output
}
