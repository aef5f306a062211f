//! What the crate promises, told through its public face.

mod diff;
mod edit;
mod encodings;
mod merge;
mod near;
mod notebook;
mod properties;
