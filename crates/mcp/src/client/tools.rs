//! The tools that reach servers by name: what they have, a call, their resources.

mod call_tool;
mod list_resources;
mod list_tools;
mod read_resource;

use std::sync::Arc;

use nika_contract::{AnyTool, Erased};

use super::pool::Pool;

/// All of them, over one pool.
pub fn tools(pool: &Arc<Pool>) -> Vec<Box<dyn AnyTool>> {
    vec![
        Erased::boxed(list_tools::ListTools { pool: Arc::clone(pool) }),
        Erased::boxed(call_tool::CallTool { pool: Arc::clone(pool) }),
        Erased::boxed(list_resources::ListResources { pool: Arc::clone(pool) }),
        Erased::boxed(read_resource::ReadResource { pool: Arc::clone(pool) }),
    ]
}
