//! What a shell command would do, said before it runs.
//!
//! ```text
//! text ─limits─▶ ─parse─▶ Script ─words─▶ argv ─commands─▶ facts ─▶ Analysis
//!                    └─here-documents─▶ lexical ─────findings──────────▲
//! ```
//!
//! The text is read as `bash -c` would read it (no rc files, extglob off, a fresh shell). Every
//! simple command in it is found, however deep it is nested, its words are resolved, and the table
//! of [`commands`] says what that program does with those options. What the analysis cannot say is
//! said to be opaque: it never guesses towards yes.
//!
//! Pure: neither the workspace nor the programs need exist. Paths leave here lexically normalised;
//! the host resolves their links before the policy judges them.

mod analysis;
mod commands;
mod danger;
mod effects;
pub mod exit;
mod fact;
mod finding;
mod globs;
mod judge;
mod lang;
mod lexical;
mod limits;
mod listed;
mod names;
pub mod oracle;
mod parse;
mod print;
mod proof;
mod script;
mod second;
mod seeds;
mod walk;
mod words;

pub use analysis::{Analysis, Command, Touched, analyse};
pub use danger::Danger;
pub use effects::ANY_HOST;
pub use fact::{Category, Fact, Target};
pub use finding::{FINDINGS, Family, Finding, Outcome, Row};
pub use globs::may_mean;
pub(crate) use judge::normal;
pub use judge::{Arg, Judge, Scratch, Site, Why, Word};
pub use names::may_be_set;
