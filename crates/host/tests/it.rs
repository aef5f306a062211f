//! Real processes under real supervisors.

#[path = "it/jobs.rs"]
mod jobs;
#[path = "it/peer.rs"]
mod peer;
#[path = "it/repl.rs"]
mod repl;
#[path = "it/scene.rs"]
mod scene;
