//! Tools that read and change files.

pub mod change_set;
pub mod checkpoints;
pub mod edit;
mod layered;
pub mod list_dir;
pub(crate) mod names;
pub mod notebook_edit;
mod objects;
pub mod read;
mod reshape;
pub(crate) mod seen;
mod shown;
mod slot;
pub mod undo;
mod unmake;
mod withstood;
pub mod write;

pub use seen::ByPlan;
