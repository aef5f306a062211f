//! What the crate promises, told through its public face.

mod aligned;
mod diff;
mod edit;
mod encodings;
mod merge;
mod near;
mod notebook;
mod pages;
mod properties;
