//! Programs inside arguments: sed, awk, find expressions, jq, Perl, SQL, patches.

pub(super) mod awk;
pub(super) mod find;
pub(super) mod jq;
pub(super) mod patch;
pub(super) mod perl;
pub(super) mod sed;
pub(super) mod sql;
