//! What makes a command's changes to be taken back: layers below it, laid before it starts and settled when it has ended;
//! or a recorder beside it, where it lives longer than its call or no layer can be had.

use std::sync::Arc;

use nika_contract::{Cx, Output, ToolError, code};
use nika_guard::profile::{Access, Profile};
use nika_host::overlay::Layer;
use nika_host::proc::{Exited, Job, KilledBy, Order};
use nika_host::record::Recorder;

use super::ground::Ground;
use super::layered::{self, Settled};
use super::of_git::Watched;
use super::{recorded, settling};

/// What a command runs over.
#[derive(Debug, Default)]
pub(super) struct Over {
    pub layers: Vec<Layer>,
    /// Who keeps what it changes, where there are none.
    pub recorder: Option<Recorder>,
    /// Why there are no layers, where some were wanted.
    pub no_layer: Option<String>,
    /// Why there is no recorder either.
    no_record: Option<String>,
    /// What git had recorded before.
    watched: Option<Watched>,
}

/// What is wanted for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Nothing: it changes no file, or nothing shall be taken back.
    Nothing,
    /// Layers or nothing: what is in them is only looked at.
    Layers,
    /// Layers, or a recorder where none can be had.
    Undo,
    /// A recorder: it goes on when its call has ended.
    Record,
}

impl Over {
    /// What is `wanted`, as far as the system has it. An error where only space for it is missing.
    pub fn lay(ground: &Ground, cx: &Cx<'_>, profile: &mut Profile, wanted: Wanted) -> Result<Over, ToolError> {
        let watched = Watched::of(cx, profile);
        Ok(Over { watched, ..Over::laid(ground, cx, profile, wanted)? })
    }

    fn laid(ground: &Ground, cx: &Cx<'_>, profile: &mut Profile, wanted: Wanted) -> Result<Over, ToolError> {
        match (profile.access, wanted) {
            (_, Wanted::Nothing) | (Access::ReadOnly, _) => return Ok(Over::default()),
            (Access::Unconfined, Wanted::Layers) => return Ok(Over::default()),
            (Access::Unconfined, _) => {
                let why = "nobody sees what a command without the sandbox changes".to_owned();
                return Ok(Over { no_record: Some(why), ..Over::default() });
            }
            (Access::Workspace, _) => {}
        }
        if wanted == Wanted::Record {
            return Over::default().recording(ground, cx);
        }
        let laid = match ground.no_layers.get() {
            Some(why) => Err(why.clone()),
            None => layered::lay(ground, cx, profile),
        };
        match laid {
            Ok(layers) => Ok(Over { layers, ..Over::default() }),
            Err(why) if wanted == Wanted::Layers => Ok(Over { no_layer: Some(why), ..Over::default() }),
            Err(why) => Over { no_layer: Some(why), ..Over::default() }.recording(ground, cx),
        }
    }

    /// Without layers, and with a recorder where one can be had.
    fn recording(self, ground: &Ground, cx: &Cx<'_>) -> Result<Over, ToolError> {
        Ok(match recorded::recorder(ground, cx)? {
            Ok(recorder) => Over { layers: Vec::new(), recorder: Some(recorder), ..self },
            Err(why) => Over { layers: Vec::new(), no_record: Some(why), ..self },
        })
    }

    /// Why the call cannot be taken back, where it was meant to be.
    pub fn irrevocable(&self) -> Option<String> {
        let why = self.no_layer.iter().chain(&self.no_record).cloned().collect::<Vec<_>>().join("; ");
        (self.layers.is_empty() && self.recorder.is_none() && !why.is_empty()).then_some(why)
    }

    /// Starts the command; over the bare roots where the system turns out to grant no layers.
    pub fn start(&mut self, ground: &Ground, cx: &Cx<'_>, mut order: Order) -> Result<Arc<Job>, ToolError> {
        if self.layers.is_empty() {
            // Over the bare roots rules do not hold; why there are no layers is why it is refused.
            let started = self.start_bare(ground, cx, order);
            return started.map_err(|error| self.no_layer.iter().fold(error, |error, why| without_layer(error, why)));
        }
        match ground.start(cx, order.clone()) {
            Err(error) if error.code == code::NOT_CONFINED => {
                order.profile.layers.clear();
                *self = std::mem::take(self).recording(ground, cx)?;
                let started = self.start_bare(ground, cx, order);
                let job = started.map_err(|second| without_layer(second, &error.message))?;
                // It was the layers: there will not be any next time either.
                self.no_layer = Some(ground.no_layers.get_or_init(|| error.message).clone());
                Ok(job)
            }
            started => started,
        }
    }

    /// Starts it over the bare roots; without its recorder where the system turns out to grant none.
    fn start_bare(&mut self, ground: &Ground, cx: &Cx<'_>, mut order: Order) -> Result<Arc<Job>, ToolError> {
        order.recorder.clone_from(&self.recorder);
        match ground.start(cx, order.clone()) {
            Err(error) if error.code == code::NOT_CONFINED && self.recorder.is_some() => {
                self.recorder = None;
                order.recorder = None;
                let job = ground.start(cx, order)?;
                self.no_record = Some(ground.no_record.get_or_init(|| error.message).clone());
                Ok(job)
            }
            started => started,
        }
    }

    /// Puts what the command changed in force, or says what it changed; nothing where nobody kept it.
    pub async fn settle(self, ground: &Ground, cx: &Cx<'_>, job: &Job, exited: &Exited) -> Result<Settled, ToolError> {
        let mut settled = if self.layers.is_empty() {
            job.recorded().map(|recorded| recorded::settled(ground, &recorded)).unwrap_or_default()
        } else {
            // Nothing of it may still write: what watched over it says so, unless that was killed itself.
            let lives = exited.left > 0 || exited.killed_by == Some(KilledBy::Lost);
            settling::apply(ground, cx, self.layers, lives).await?
        };
        self.watched.iter().for_each(|watched| watched.tell(cx, job, &mut settled));
        Ok(settled)
    }

    /// The answer of a job that goes on, and whether it can be taken back.
    pub fn goes_on(&self, output: Output, cx: &Cx<'_>) -> Output {
        recorded::goes_on(output, cx, self.recorder.is_some(), self.irrevocable())
    }
}

/// Why nothing was started over the bare roots, and why there was nothing else to start it over.
fn without_layer(mut error: ToolError, why: &str) -> ToolError {
    if error.code == code::NOT_CONFINED {
        error.message = format!("{}; there is no layer: {why}", error.message);
    }
    error
}
