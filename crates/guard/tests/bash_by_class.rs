//! What is asked about and what is not, class by class, and what is warned of: every row counts. The rows are data: none
//! of them is run.
//!
//! A line with `#` names the class of the lines below it.

#[allow(dead_code, reason = "other tests use the rest")]
mod by_class;
#[allow(dead_code, reason = "other tests use the rest")]
mod judging;

use by_class::each;
use judging::{allowed_in_workspace, allowed_read_only};

#[test]
fn what_may_be_more_than_reading_is_asked_about() {
    each(include_str!("data/bash/asked.txt"), |analysis| !allowed_read_only(analysis));
}

#[test]
fn what_only_reads_is_not() {
    each(include_str!("data/bash/read.txt"), allowed_read_only);
}

#[test]
fn what_may_leave_the_workspace_is_asked_about_in_workspace_mode() {
    each(include_str!("data/bash/asked_at_work.txt"), |analysis| !allowed_in_workspace(analysis));
}

#[test]
fn work_needs_no_question() {
    each(include_str!("data/bash/free.txt"), allowed_in_workspace);
}

#[test]
fn what_destroys_is_warned_of() {
    each(include_str!("data/bash/warned.txt"), |analysis| analysis.destructive.is_some());
}

#[test]
fn what_destroys_nothing_is_not() {
    each(include_str!("data/bash/unwarned.txt"), |analysis| analysis.destructive.is_none());
}
