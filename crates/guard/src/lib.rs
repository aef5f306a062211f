//! May this happen?
//!
//! A call states its [`Effects`] before it runs. [`Policy::judge`] turns effects and the
//! session's [`Stance`] into a [`Verdict`]; only a verdict can make a [`Permit`]; and every
//! function of the host that touches the world demands one. So the way from a wish to an act
//! leads through this crate, whoever asks.
//!
//! ```text
//! Effects ──judge(Stance, rules)──▶ Verdict ──allowed, or answered by a person──▶ Permit
//! ```
//!
//! The crate is pure. It does not know files, processes, the environment, time or async: paths
//! arrive resolved, hosts arrive named, and the answer is data that can be replayed.
//!
//! ```
//! use nika_guard::{Decision, Effect, Effects, Mode, Place, Policy, Stance};
//!
//! let policy = Policy::default();
//! let edit = Effects::one(Effect::Write(Place::inside("/repo", "src/a.rs")));
//! let verdict = policy.judge(&Stance::from(Mode::AcceptEdits), &edit);
//! assert_eq!(verdict.decision, Decision::Allow);
//! let permit = verdict.permit(None).expect("the mode allows writes inside");
//! assert!(permit.covers_write("/repo/src/a.rs".as_ref()));
//! assert!(!permit.covers_write("/repo/src/b.rs".as_ref()));
//! ```

mod argv;
pub mod bash;
mod budget;
mod effect;
mod hook;
pub mod manifest;
mod mode;
pub mod names;
mod path;
pub mod pathtext;
mod pattern;
mod permit;
mod permits;
mod policy;
pub mod profile;
pub mod repository;
mod rule;
mod verdict;
pub mod web;

pub use budget::{Budget, Budgets, Limit};
pub use effect::{
    Effect, Effects, Exec, ExecKind, Extent, IN_REPOSITORY, LED_BY_GIT, LIST_RESOURCES, Place, READ_RESOURCE,
};
pub use hook::{Configured, Hook, HookPoint, OnFailure};
pub use mode::{Act, Cell, Mode, Stance, TABLE, UnknownMode};
pub use path::{PathClass, classify};
pub use pattern::{PathPattern, PatternError};
pub use permit::{Answer, ChangesLeft, Looking, Permit, TreeFilter};
pub use permits::{PermitKind, PermitLine, Permits};
pub use policy::{Layer, LayeredRule, Policy};
pub use rule::{Examples, HostPattern, Rule, RuleError, RuleKind, Subject};
pub use verdict::{Decision, Reason, Refusal, Source, Verdict};
