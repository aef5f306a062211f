//! The tools that find and run workflows. Where the files lie, and what a run stands on, is the program's: [`Shelf`].

pub mod workflow_list;
pub mod workflow_run;

use std::fmt;
use std::sync::Arc;

use nika_contract::{AnyTool, BoxFuture, Cx, Erased, ToolError};
use nika_guard::Place;
use serde_json::{Map, Value};

use crate::run::events::Spent;

/// How files of workflows end.
pub const ENDING: &str = ".nika.yaml";

/// Where a repository keeps workflows, below its roots.
pub const DIRECTORIES: &[&str] = &["workflows", ".nika/workflows", "examples"];

/// A workflow's file.
#[derive(Debug, Clone, PartialEq)]
pub struct Filed {
    /// As documents and traces name it: below the first root where it lies there.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// A run that is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// Its name, which its trace has.
    pub run: String,
    /// The file.
    pub path: String,
    /// What the workflow answers with.
    pub outputs: Map<String, Value>,
    /// What its models took.
    pub spent: Spent,
}

/// What only the program knows of workflows.
pub trait Shelf: Send + Sync + fmt::Debug {
    /// The directories that hold workflows here, of those that exist.
    fn directories(&self) -> Result<Vec<Place>, ToolError>;

    /// The workflows below them, by path.
    fn all(&self) -> Result<Vec<Filed>, ToolError>;

    /// The file at `path`, and what it is called.
    fn place(&self, path: &str) -> Result<(Place, String), ToolError>;

    /// Runs the workflow at `path` on behalf of the session that calls: with what that may do, and no more.
    fn run<'a>(
        &'a self,
        path: &'a str,
        given: Map<String, Value>,
        cx: &'a Cx<'a>,
    ) -> BoxFuture<'a, Result<Ran, ToolError>>;
}

/// Every tool of this crate.
pub fn all(shelf: &Arc<dyn Shelf>) -> Vec<Box<dyn AnyTool>> {
    vec![
        Erased::boxed(workflow_list::WorkflowList { shelf: Arc::clone(shelf) }),
        Erased::boxed(workflow_run::WorkflowRun { shelf: Arc::clone(shelf) }),
    ]
}
