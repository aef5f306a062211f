//! Why a change cannot be taken back: what came after it would be lost. Content and permission bits are told alike.

use nika_contract::{Cx, Kind, ToolError, code};
use nika_edit::{Limits, unified};
use nika_guard::Place;
use nika_store::{CallChanges, Change};

/// Lines of the diff that a refusal shows.
const LINES: usize = 80;

/// What stands, or stood, at a path, as a refusal shows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Side {
    Nothing,
    Text(Vec<u8>),
    /// What has no text, or none at hand.
    Other(&'static str),
}

impl Side {
    pub fn of(kind: Kind, bytes: Option<Vec<u8>>) -> Side {
        match (kind, bytes) {
            (Kind::File, Some(bytes)) => Side::Text(bytes),
            (Kind::File, None) => Side::Other("a file that is not shown"),
            (Kind::Link, _) => Side::Other("a link"),
            (Kind::Directory, _) => Side::Other("a directory"),
        }
    }

    /// `None` where it cannot be part of a diff.
    fn text(&self) -> Option<Option<&[u8]>> {
        match self {
            Side::Nothing => Some(None),
            Side::Text(bytes) => Some(Some(bytes)),
            Side::Other(_) => None,
        }
    }

    fn said(&self) -> &'static str {
        match self {
            Side::Nothing => "nothing",
            Side::Text(_) => "a file",
            Side::Other(what) => what,
        }
    }
}

/// The refusal to take back what was changed since, with what would be lost.
pub(super) fn changed_after(
    cx: &Cx<'_>,
    call: &CallChanges,
    place: &Place,
    is_known: bool,
    standing: &Side,
    former: &Side,
) -> ToolError {
    let shown = place.shown();
    let how = match is_known {
        true => "where that call had changed it",
        false => "and what that call left is not kept, so that the two cannot be told apart",
    };
    let lost = match (cx.permit.withholds(&place.path), standing.text(), former.text()) {
        (true, ..) => not_shown(place),
        (false, Some(standing), Some(former)) => {
            unified(standing, former, &shown, &Limits { max_lines: LINES, ..Limits::default() })
        }
        _ => format!("now {}, then {}\n", standing.said(), former.said()),
    };
    let what = format!(
        "{shown} was changed again after call {}, {how}; from what stands now to what stood before:\n{lost}",
        call.call
    );
    refusal(what)
}

/// The refusal to give permission bits back to what does not stand there any more.
pub(super) fn gone_since(call: &CallChanges, change: &Change, place: &Place, standing: &Side) -> ToolError {
    let (shown, former) = (place.shown(), Side::of(change.kind, Some(Vec::new())));
    let given = change.mode.zip(change.mode_left).map(|(mode, left)| format!(" ({mode:o} → {left:o})"));
    refusal(format!(
        "{shown} was changed again after call {}, which had changed its permission bits alone{}: {} stands there now, \
         where it was {}\n",
        call.call,
        given.unwrap_or_default(),
        standing.said(),
        former.said(),
    ))
}

/// The permission bits that a path gets back: those from before the call. Those that somebody gave it since stay where the
/// call had not changed any, and else cannot stand beside them.
pub(super) fn rights(
    call: &CallChanges,
    change: &Change,
    place: &Place,
    now: Option<u32>,
) -> Result<Option<u32>, ToolError> {
    let now = now.map(|now| now & 0o7777);
    match (change.mode, change.mode_left, now) {
        (Some(before), Some(left), Some(now)) if now != left && now != before && before != left => {
            Err(refusal(format!(
                "{} was given other permission bits again after call {}: {before:o} before it, {left:o} after it, and \
                 {now:o} now\n",
                place.shown(),
                call.call
            )))
        }
        (_, Some(left), Some(now)) if now != left => Ok(Some(now)),
        (before, _, now) => Ok(before.or(now)),
    }
}

fn refusal(message: String) -> ToolError {
    ToolError::new(code::UNDO_CONFLICT, message)
        .hint("if a later call changed it, undo that one first (`checkpoints` lists them); else settle it by hand")
}

/// What stands for the diff of a secret.
pub(super) fn not_shown(place: &Place) -> String {
    format!("{}: a secret by its name, so its content is not shown\n", place.shown())
}
