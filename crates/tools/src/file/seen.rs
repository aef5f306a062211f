//! What the session knows of a file against what stands there now.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use nika_contract::{Cx, ToolError, code};
use nika_guard::{Effect, Place};
use nika_host::fs::{FileNow, LOOK_AGAIN, Ledger, Locked, NotMade, PATIENCE, Seen, Shown, Stamp, Workspace, sha256};

use super::shown;

/// The largest file that is edited, in bytes: it is held in memory three times over.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// Refuses a file that an edit would make larger than can be edited again.
pub(super) fn fits(bytes: usize, place: &Place) -> Result<(), ToolError> {
    if bytes as u64 <= MAX_BYTES {
        return Ok(());
    }
    let message = format!("{} would have {bytes} bytes; files of at most {MAX_BYTES} are edited", place.shown());
    Err(ToolError::new(code::TOO_LARGE, message))
}

/// The refusal of a file that is too large, with what works instead: to read a part of it would not help.
pub(super) fn by_command(error: ToolError, instead: &str) -> ToolError {
    if error.code == code::TOO_LARGE { error.hint(instead) } else { error }
}

/// How often a change is begun again when others keep changing the file.
const TRIES: usize = 5;

/// Looks, works out and commits under the workspace's lock. Begun again when somebody who does not ask for
/// the lock got ahead.
pub(crate) async fn retried<T>(
    files: &Workspace,
    cx: &Cx<'_>,
    mut attempt: impl FnMut(&mut Locked<'_>) -> Result<T, NotMade>,
) -> Result<T, ToolError> {
    let since = Instant::now();
    let mut tries = 0;
    loop {
        cx.check_cancelled()?;
        let tried = files.lock(cx.permit)?.map(|mut locked| attempt(&mut locked));
        match tried {
            Some(Ok(done)) => return Ok(done),
            Some(Err(NotMade::Moved(_))) if tries + 1 < TRIES => tries += 1,
            Some(Err(not_made)) => return Err(not_made.into()),
            None if since.elapsed() < PATIENCE => tokio::time::sleep(LOOK_AGAIN).await,
            None => {
                let message = format!("another process has been changing files here for {} s", PATIENCE.as_secs());
                return Err(ToolError::new(code::WRITE_FAILED, message).hint("try again when it is done"));
            }
        }
    }
}

/// The coarsest time stamps in use have two seconds.
const SETTLED_MS: u64 = 2000;

/// A file the session has read, as it stands now.
pub(super) struct Known {
    pub now: FileNow,
    pub hash: [u8; 32],
    pub base: Base,
    /// How much of what it read the session was shown.
    pub shown: Shown,
}

impl Known {
    /// How much of the file the session has seen when it made `bytes` of it.
    pub fn shown_of(&self, bytes: &[u8]) -> Shown {
        let base = match &self.base {
            Base::Stale(base) => base,
            Base::Current | Base::Lost => &*self.now.bytes,
        };
        shown::after(&self.now.open.place.path, &self.shown, base, bytes)
    }
}

/// What the session's knowledge is worth.
pub(super) enum Base {
    /// It is what stands there.
    Current,
    /// Something else stands there; these are the bytes the session read.
    Stale(std::sync::Arc<[u8]>),
    /// Something else stands there, and the bytes are no longer kept, or it may not be shown without a question.
    Lost,
}

/// Whether the session's calls were written down by a person before it began, as a workflow's are: whoever wrote them
/// meant what stands there, whatever it is, and nothing has to be read first. What is replaced can be taken back.
#[derive(Debug, Default)]
pub struct ByPlan(AtomicBool);

impl ByPlan {
    /// From now on.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Reads a file that the session must have read before.
pub(super) fn known(files: &Workspace, cx: &Cx<'_>, place: &Place) -> Result<Known, ToolError> {
    let seen = cx.session.slot::<Ledger>().seen(&place.path);
    let now = files.read_file(cx.permit, place, MAX_BYTES);
    let now = now.map_err(|error| by_command(error, "a command such as `sed` can change it"))?;
    let Some(seen) = seen else {
        if cx.session.slot::<ByPlan>().is_on() {
            let hash = sha256(&now.bytes);
            return Ok(Known { now, hash, base: Base::Current, shown: Shown::All });
        }
        if cx.session.slot::<Ledger>().is_undone(&place.path) {
            let message = format!("{} was read, but not since an undo changed it", place.shown());
            return Err(ToolError::new(code::MUST_READ_FIRST, message).hint("read it again, then repeat the call"));
        }
        return Err(unread(place));
    };
    // On a coarse clock two changes may bear one time: a file that changed just now is hashed again.
    let settled = cx.clock.unix_ms().saturating_sub(now.open.stamp.changed_unix_ms()) > SETTLED_MS;
    if settled
        && seen.stamp == now.open.stamp
        && let Some(hash) = seen.hash
    {
        return Ok(Known { now, hash, base: Base::Current, shown: seen.shown });
    }
    let hash = sha256(&now.bytes);
    // A touch without a change is no change; a part that was read vouches only for the same identity.
    let current = seen.hash.map_or(seen.stamp == now.open.stamp, |known| known == hash);
    // Whoever merges with what others wrote shows it: where the call declared no read, one has to be free.
    let shows = || !cx.permit.withholds(&place.path) || cx.permit.also(Effect::Read(place.clone())).is_ok();
    let base = match (current, seen.bytes) {
        (true, _) => Base::Current,
        (false, Some(bytes)) if shows() => Base::Stale(bytes),
        (false, _) => Base::Lost,
    };
    Ok(Known { now, hash, base, shown: seen.shown })
}

/// The file was not read in this session.
pub(super) fn unread(place: &Place) -> ToolError {
    ToolError::new(code::MUST_READ_FIRST, format!("{} was not read in this session", place.shown()))
        .hint("read it first, then repeat the call")
}

/// The file changed since it was read, and it cannot be said where.
pub(super) fn stale(place: &Place) -> ToolError {
    ToolError::new(code::CHANGED_SINCE_READ, format!("{} changed since it was read", place.shown()))
        .hint("read it again, then repeat the call")
}

/// Notes what the session has just written, and how much of it it has seen.
pub(super) fn note(cx: &Cx<'_>, place: &Place, bytes: Vec<u8>, hash: [u8; 32], stamp: Stamp, shown: Shown) {
    cx.session.slot::<Ledger>().note(&place.path, Seen { hash: Some(hash), bytes: Some(bytes.into()), stamp, shown });
}

/// What is said of a file's other names, which keep what it held; nothing where it has none.
pub(super) fn keep_former(shown: &str, other_names: u64) -> String {
    match other_names {
        0 => String::new(),
        names => format!("[{shown} had {names} other name(s) by hard links; those keep the former text]\n"),
    }
}

/// A hash as people write it.
pub(super) fn hex(hash: [u8; 32]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    hash.iter()
        .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
        .map(char::from)
        .collect()
}
