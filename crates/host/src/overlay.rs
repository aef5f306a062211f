//! A command's changes, held back until they are wanted.
//!
//! The command sees its root covered by an overlay: what it changes lands in a [`Layer`] of Nika's state and the
//! root stays as it is. When the command has ended, the layer is read as [`Changes`], which cost what was changed
//! and not what the tree holds. They are applied as one (`Locked::apply`), or the layer is dropped and nothing
//! has happened.
//!
//! ```text
//! Layer::prepare ─▶ Cover::mount (in the command's own mount namespace) ─▶ Layer::changes ─▶ Locked::apply
//! ```
//!
//! Two things differ from the bare root. A directory of the root cannot be renamed: the kernel answers `EXDEV`, as
//! between two file systems, and `mv` copies then. And names of one file: of a file that had several in the root, a
//! change reaches the one that it was made through. Names that the command adds to a file, of the root or its own, stay
//! together with it ([`joined`]).

mod apply;
mod aside;
mod behind;
mod by_hand;
mod clean;
mod cover;
mod embedded;
mod grounds;
mod groups;
mod guarded;
mod joined;
mod layer;
mod likeness;
mod marks;
mod moves;
mod noted;
mod plan;
mod refreshed;
mod sides;
mod stage;
mod stand_ins;
mod sweep;
mod theirs;
mod tried;
mod unheld;
mod walk;

pub use apply::{Applied, Bounds, HeldBack, NotApplied};
pub use aside::LeftOut;
pub(crate) use aside::take;
pub use cover::{Cover, mounts_below};
pub(crate) use grounds::grounds;
pub use groups::of_another_group;
pub use layer::Layer;
pub(crate) use layer::holds_layers;
pub use likeness::Likeness;
pub(crate) use marks::by_handle;
pub use noted::OfGit;
pub(crate) use sweep::{orphans, remove_tree};
pub use walk::{Changes, Entry, Stands, What};

#[cfg(test)]
pub(crate) mod tests;
