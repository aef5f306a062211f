//! The layers below one command, where what it changes is to be taken back: laid before it starts, settled when it has
//! ended.

use std::sync::Arc;

use nika_contract::{Cx, ToolError, code};
use nika_guard::profile::Profile;
use nika_host::overlay::Layer;
use nika_host::proc::{Exited, Job, KilledBy, Order};

use super::ground::Ground;
use super::layered::{self, Settled};

/// What a command runs over.
#[derive(Debug, Default)]
pub(super) struct Over {
    pub layers: Vec<Layer>,
    /// Why there are none, where some were wanted.
    pub bare: Option<String>,
}

impl Over {
    /// Layers where they are `wanted` and can be had.
    pub fn lay(ground: &Ground, cx: &Cx<'_>, profile: &mut Profile, wanted: bool) -> Over {
        let laid = match ground.no_layers.get() {
            _ if !wanted => return Over::default(),
            Some(why) => Err(why.clone()),
            None => layered::lay(ground, cx, profile),
        };
        match laid {
            Ok(layers) => Over { layers, bare: None },
            Err(why) => Over { layers: Vec::new(), bare: Some(why) },
        }
    }

    /// Starts the command; over the bare roots where the system turns out to grant no layers.
    pub fn start(&mut self, ground: &Ground, cx: &Cx<'_>, order: Order) -> Result<Arc<Job>, ToolError> {
        match ground.start(cx, order.clone()) {
            Err(error) if error.code == code::NOT_CONFINED && !self.layers.is_empty() => {
                self.layers.clear();
                let mut order = order;
                order.profile.layers.clear();
                let job = ground.start(cx, order).map_err(|second| without_layer(second, &error.message))?;
                // It was the layers: there will not be any next time either.
                self.bare = Some(ground.no_layers.get_or_init(|| error.message).clone());
                Ok(job)
            }
            // Over the bare roots rules do not hold; why there are no layers is why it is refused.
            Err(error) => Err(self.bare.iter().fold(error, |error, why| without_layer(error, why))),
            started => started,
        }
    }

    /// Puts what the command changed in force; `None` where there was no layer, and all is in force already.
    pub async fn settle(self, ground: &Ground, cx: &Cx<'_>, exited: &Exited) -> Result<Option<Settled>, ToolError> {
        if self.layers.is_empty() {
            return Ok(None);
        }
        // Nothing of it may still write: what watched over it says so, unless that was killed itself.
        let lives = exited.left > 0 || exited.killed_by == Some(KilledBy::Lost);
        layered::apply(ground, cx, self.layers, lives).await.map(Some)
    }
}

/// Why nothing was started over the bare roots, and why there was nothing else to start it over.
fn without_layer(mut error: ToolError, why: &str) -> ToolError {
    if error.code == code::NOT_CONFINED {
        error.message = format!("{}; there is no layer: {why}", error.message);
    }
    error
}
