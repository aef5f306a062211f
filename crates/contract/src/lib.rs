//! What a tool is.
//!
//! For people who write tools: a [`Tool`] has a [`Spec`], typed parameters, says its effects, and
//! runs under a [`Cx`]. Everything else — permission, journal, undo, cutting of output, the wire —
//! is done around it by the pipeline, which this crate does not know.
//!
//! ```text
//! Value ──parse──▶ Params ──effects──▶ (guard) ──Permit──▶ run(Params, Cx) ──▶ Output | ToolError
//! ```

pub mod code;
mod cx;
mod error;
pub mod event;
pub mod fit;
mod foreseen;
pub mod front;
pub mod lenient;
mod misfit;
mod output;
mod port;
mod rehearsal;
mod schema;
mod session;
mod spec;
pub mod text;
mod tool;

pub use code::Code;
pub use cx::{CallId, Cancel, Cx, Scene};
pub use error::{Fault, ToolError};
pub use foreseen::{Foreseen, TurnedOut};
pub use nika_guard::pathtext;
pub use output::{Block, Output};
pub use port::{
    Alone, Asked, Asker, Before, Beside, BoxFuture, Choice, Clock, Dress, Herald, Inquiry, Kind, Known, Lasting, More,
    News, Nobody, Noting, Offer, Pending, Preimage, Progress, Purse, Question, Reader, Reading, Replied, Reply, Silent,
    Spoken, Unbounded, Undo,
};
pub use rehearsal::{Held, Rehearsal};
pub use schema::{inline_schema, input_schema, output_schema};
pub use session::{PlanMode, SessionState, Wanted};
pub use spec::{Example, Group, MAX_OUTPUT_CHARS, Spec};
pub use tool::{AnyTool, Erased, Guests, Prepared, Tool};
