//! What makes a command's changes to be taken back: layers below it, laid before it starts and settled when it has ended;
//! or a recorder beside it, where it lives longer than its call or no layer can be had.

use std::sync::Arc;

use nika_contract::{Cx, Foreseen, Output, SessionState, ToolError, code};
use nika_guard::Effects;
use nika_guard::profile::{Access, Profile};
use nika_host::git::Before;
use nika_host::overlay::Layer;
use nika_host::proc::{Exited, Job, KilledBy, Order};
use nika_host::record::Recorder;

use super::ground::Ground;
use super::layered::{self, Settled};
use super::{of_git, recorded, report, settling};

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
    /// What git had recorded before, where no layer shows that.
    git_before: Option<Arc<Before>>,
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
        let over = Over::laid(ground, cx, profile, wanted)?;
        let git_before = of_git::before(cx, profile).map(Arc::new);
        Ok(Over { git_before, ..over })
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
            None => layered::lay(ground, cx, profile, of_git::of_git(cx.permit.effects())),
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
                self.git_before = of_git::before(cx, &order.profile).map(Arc::new);
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
        order.git_before.clone_from(&self.git_before);
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
        let (said, bare) = (report::output(&job.summary()), self.layers.is_empty());
        let (mut settled, behind) = if self.layers.is_empty() {
            let recorded = job.recorded();
            let settled = recorded.as_ref().map(|recorded| recorded::settled(ground, recorded)).unwrap_or_default();
            (settled, recorded.map(|recorded| recorded.behind))
        } else {
            // Nothing of it may still write: what watched over it says so, unless that was killed itself.
            let lives = exited.left > 0 || exited.killed_by == Some(KilledBy::Lost);
            (settling::apply(ground, cx, self.layers, lives, &said).await?, None)
        };
        let known = || self.git_before.map(|before| before.behind(cx.permit));
        let behind = behind.or_else(known).unwrap_or_default();
        let names: Vec<String> = behind.iter().map(|path| ground.files.shown(path)).collect();
        let names_git = bare && of_git::names_git(cx.permit.effects());
        settled.tell_behind(&if names.is_empty() && names_git { of_git::said_to_stay(&said) } else { names });
        Ok(settled)
    }

    /// The answer of a job that goes on, and whether it can be taken back.
    pub fn goes_on(&self, output: Output, cx: &Cx<'_>) -> Output {
        recorded::goes_on(output, cx, self.recorder.is_some(), self.irrevocable())
    }
}

/// What a question says of guarded files that git brings: a run of the command has shown them.
pub(super) fn about_brought(session: &SessionState, effects: &Effects) -> Option<String> {
    let shown = Foreseen::last(session, effects)?.shown.filter(|shown| !shown.is_empty())?;
    Some(format!("Of what git brings, and a yes is to just this:\n{}", shown.trim_end()))
}

/// Why nothing was started over the bare roots, and why there was nothing else to start it over.
fn without_layer(mut error: ToolError, why: &str) -> ToolError {
    if error.code == code::NOT_CONFINED {
        error.message = format!("{}; there is no layer: {why}", error.message);
    }
    error
}
