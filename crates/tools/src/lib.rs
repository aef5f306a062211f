//! The built-in tools, one file each, grouped as the surface is.

pub mod file;
pub mod search;

use std::sync::Arc;

use nika_contract::AnyTool;
use nika_host::fs::Workspace;

/// Every tool of this crate.
pub fn all(_files: &Arc<Workspace>) -> Vec<Box<dyn AnyTool>> {
    Vec::new()
}
