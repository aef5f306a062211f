//! Turns: a model, the tools it calls, and the agents that work for it.
//!
//! [`provider`] says what a model is asked and what it answers, whoever serves it.

pub mod provider;
