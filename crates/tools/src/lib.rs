//! The built-in tools, one file each, grouped as the surface is.
//!
//! A tool reads top to bottom: why it exists, what the model sees, what it touches, what it does, the
//! pure part, tests. It never asks for permission, truncates, logs, or formats for a provider.

pub mod file;
pub mod search;
pub mod shell;
pub mod talk;
mod told;
pub mod web;
pub mod work;

use std::sync::Arc;

pub(crate) use nika_contract::lenient;
use nika_contract::{AnyTool, Erased};
use nika_host::fs::Workspace;
use nika_host::proc::{Isolated, Repls};
use nika_store::Checkpoints;

/// What the tools work on.
#[derive(Debug, Clone)]
pub struct Needs {
    /// The files.
    pub files: Arc<Workspace>,
    /// What can be taken back.
    pub checkpoints: Arc<Checkpoints>,
    /// How hostile formats are parsed; `None` parses them in this process, for tests.
    pub parsers: Option<Isolated>,
    /// What commands stand on; without it there are none.
    pub shell: Option<Arc<shell::ground::Ground>>,
    /// Where notes and tasks are kept; without it there are none.
    pub work: Option<Arc<work::Ground>>,
    /// What the conversation stands on.
    pub talk: talk::Talk,
}

/// The tools that runs of workflows have beside the surface.
pub fn of_flows(shell: &Arc<shell::ground::Ground>) -> Vec<Box<dyn AnyTool>> {
    vec![Erased::boxed(shell::exec::ExecTool { ground: Arc::clone(shell) })]
}

/// Every tool of this crate.
pub fn all(needs: &Needs) -> Vec<Box<dyn AnyTool>> {
    let files = || Arc::clone(&needs.files);
    let checkpoints = || Arc::clone(&needs.checkpoints);
    let mut tools: Vec<Box<dyn AnyTool>> = vec![
        Erased::boxed(file::read::Read { files: files(), parsers: needs.parsers.clone() }),
        Erased::boxed(file::write::Write { files: files() }),
        Erased::boxed(file::edit::Edit { files: files() }),
        Erased::boxed(file::change_set::ChangeSet { files: files() }),
        Erased::boxed(file::notebook_edit::NotebookEdit { files: files() }),
        Erased::boxed(file::list_dir::ListDir { files: files() }),
        Erased::boxed(file::undo::Undo { files: files(), checkpoints: checkpoints() }),
        Erased::boxed(file::checkpoints::ListCheckpoints { files: files(), checkpoints: checkpoints() }),
        Erased::boxed(search::glob::Glob { files: files() }),
        Erased::boxed(search::grep::Grep { files: files() }),
        Erased::boxed(shell::sleep::Sleep),
    ];
    if let Some(shell) = &needs.shell {
        let ground = || Arc::clone(shell);
        tools.push(Erased::boxed(shell::bash::Bash { ground: ground() }));
        tools.push(Erased::boxed(shell::job_output::JobOutput { ground: ground() }));
        tools.push(Erased::boxed(shell::job_input::JobInput { ground: ground() }));
        tools.push(Erased::boxed(shell::job_stop::JobStop { ground: ground() }));
        tools.push(Erased::boxed(shell::job_list::JobList { ground: ground() }));
        let repls = Arc::new(Repls::new(Arc::clone(&shell.jobs)));
        tools.push(Erased::boxed(shell::repl::Repl { ground: ground(), repls }));
        tools.push(Erased::boxed(shell::powershell::Powershell::new(ground())));
    }
    if let Some(work) = &needs.work {
        let ground = || Arc::clone(work);
        tools.push(Erased::boxed(work::todo_write::TodoWrite { ground: ground() }));
        tools.push(Erased::boxed(work::plan_get::PlanGet { ground: ground() }));
        tools.push(Erased::boxed(work::update_plan::UpdatePlan { ground: ground() }));
        tools.push(Erased::boxed(work::plan_clear::PlanClear { ground: ground() }));
        tools.push(Erased::boxed(work::task_create::TaskCreate { ground: ground() }));
        tools.push(Erased::boxed(work::task_get::TaskGet { ground: ground() }));
        tools.push(Erased::boxed(work::task_list::TaskList { ground: ground() }));
        tools.push(Erased::boxed(work::task_update::TaskUpdate { ground: ground() }));
        tools.push(Erased::boxed(work::task_start::TaskStart { ground: ground() }));
        tools.push(Erased::boxed(work::task_complete::TaskComplete { ground: ground() }));
        tools.push(Erased::boxed(work::task_block::TaskBlock { ground: ground() }));
        tools.push(Erased::boxed(work::task_cancel::TaskCancel { ground: ground() }));
        tools.push(Erased::boxed(work::task_next::TaskNext { ground: ground() }));
        tools.push(Erased::boxed(work::task_output::TaskOutput { ground: ground() }));
        tools.push(Erased::boxed(work::task_stop::TaskStop { ground: ground() }));
    }
    tools.extend(talk::all(&needs.talk, &needs.files));
    tools
}
