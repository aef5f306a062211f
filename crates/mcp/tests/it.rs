//! Real peers, over pipes and over HTTP, in both eras.

#[path = "it/backend.rs"]
mod backend;
#[path = "it/client/mod.rs"]
mod client;
#[path = "it/http.rs"]
mod http;
#[path = "it/login.rs"]
mod login;
#[path = "it/pages.rs"]
mod pages;
#[path = "it/peer.rs"]
mod peer;
#[path = "it/questions.rs"]
mod questions;
#[path = "it/sdk.rs"]
mod sdk;
#[path = "it/stdio.rs"]
mod stdio;
