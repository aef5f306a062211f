//! The ways a search cannot start. What goes wrong with one file on the way
//! is no error: it is in the [`crate::Record`].

use std::io;
use std::path::PathBuf;

/// Why a search did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The pattern is not a regular expression, or would grow too large.
    #[error("the pattern {pattern:?} is not a valid regular expression{}: {message}", at(.column))]
    InvalidRegex {
        /// The pattern as it was given.
        pattern: String,
        /// What is wrong with it.
        message: String,
        /// Where, as a column in characters, from 1.
        column: Option<usize>,
        /// What would work instead, such as `literal: true`.
        hint: Option<&'static str>,
    },
    /// A glob is malformed.
    #[error("the glob {glob:?} is not valid: {message}")]
    InvalidGlob {
        /// The glob as it was given.
        glob: String,
        /// What is wrong with it.
        message: String,
    },
    /// No file type has that name.
    #[error("no file type is called {name:?}{}", near_names(.near))]
    UnknownType {
        /// The name as it was given.
        name: String,
        /// Names like it, the likeliest first.
        near: Vec<String>,
    },
    /// Nothing is at the base.
    #[error("{} does not exist", .path.display())]
    BaseNotFound {
        /// The base, relative to the root.
        path: PathBuf,
    },
    /// What is at the base cannot be searched so: a link, a device, or a file
    /// where a directory is needed.
    #[error("{} is {found}, not {wanted}", .path.display())]
    BaseKind {
        /// The base, relative to the root.
        path: PathBuf,
        /// What it is.
        found: &'static str,
        /// What would have done.
        wanted: &'static str,
    },
    /// The base is withheld by the caller.
    #[error("{} is withheld from searches", .path.display())]
    BaseWithheld {
        /// The base, relative to the root.
        path: PathBuf,
    },
    /// The base could not be opened or listed.
    #[error("cannot open {}: {source}", .path.display())]
    Io {
        /// The base, relative to the root.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn at(column: &Option<usize>) -> String {
    column.map_or(String::new(), |c| format!(" at column {c}"))
}

fn near_names(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; near names: {}", names.join(", ")) }
}
