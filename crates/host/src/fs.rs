//! Files beneath roots.
//!
//! [`Workspace`] resolves what a caller wrote into a [`nika_guard::Place`] (links followed, nothing
//! opened), opens what a permit covers, and commits changes: verified, kept for undo, written apart,
//! renamed into place. [`Ledger`] remembers what a session has seen.

mod beside;
mod change;
mod commit;
mod dirs;
mod dress;
mod fault;
mod git_runs;
mod ignores;
mod inflight;
mod led;
mod ledger;
mod lock;
mod names;
mod open;
mod owned;
mod recovered;
mod resolve;
mod rights;
mod sets;
mod twins;
mod unheld;
mod workspace;

pub use crate::moves::Apart;
pub use beside::Beside;
pub use change::{Change, Expect, Target, Written};
pub use commit::NotMade;
pub(crate) use commit::{is_temp_name, temp_name};
pub(crate) use dirs::{Emptied, Made, birth_id};
pub(crate) use dress::{bare, dress, wear, worn, worn_by_all};
pub use fault::errno;
pub(crate) use fault::is_absence;
pub use ignores::{Ignores, Outer, SearchRoot};
pub(crate) use led::{led, led_straight};
pub use ledger::{FORMER_PATHS, Former, Ledger, Seen, Shown};
pub use lock::{LOOK_AGAIN, Locked, PATIENCE};
pub(crate) use names::{land, put_away};
pub use open::{FileNow, Glance, OpenFile, Stamp, sha256};
pub(crate) use open::{kind_of, sha256_of};
pub use owned::AsOwner;
pub(crate) use recovered::read_note;
pub use recovered::{Outcome, Recovered, Why};
pub(crate) use resolve::plain;
pub(crate) use rights::{
    look_as_owner, move_as_owner, open_as_owner, parent_as_owner, reopen_as_owner, reopen_with_rights, stat_as_owner,
    with_rights,
};
pub(crate) use sets::Stuck;
#[cfg(test)]
pub(crate) use unheld::tests::while_it_writes;
pub(crate) use unheld::{is_guarded, unheld};
pub use workspace::{Fsync, Settings, Workspace};
