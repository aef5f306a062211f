//! The chores that are tests too: tidiness, generated pages, and what documents show.

#[path = "it/documents.rs"]
mod documents;
#[path = "it/pages.rs"]
mod pages;
#[path = "it/tidy.rs"]
mod tidy;
