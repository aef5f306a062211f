//! Pages, searches and requests over the real pipeline, against servers of the test.

mod pages;
mod probes;
mod requests;
mod scene;
mod searches;
