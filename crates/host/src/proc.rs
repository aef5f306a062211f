//! Children of ours.
