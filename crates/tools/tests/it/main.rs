//! The tools through the real pipeline. One binary; each module says what belongs in it.

mod boundary;
mod commands;
mod editing;
mod examples;
mod hooks;
mod pipeline;
mod rehearsing;
mod searching;
mod sets;
mod surface;
mod talk;
mod web;
mod work;
