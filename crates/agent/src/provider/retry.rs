//! Asks again where asking again may help.
//!
//! Nothing of an answer that broke off was acted upon, so that the same request can always be sent once more.
//! How long to wait the provider knows best; where it does not say, the wait doubles.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nika_contract::BoxFuture;

use super::{Answered, Asking, Model, ModelError, Piece, Provider, Sink};

/// Tries in all: four waits of 1, 2, 4 and 8 seconds outlast most hiccups, and a person does not yet wonder.
const TRIES: u32 = 5;

/// The first wait, in milliseconds.
const FIRST_MS: u64 = 1000;

/// The longest wait that a provider can ask for, in milliseconds: five minutes, after which most limits that
/// count by the minute have passed.
const LONGEST_MS: u64 = 300_000;

/// Lets time pass.
pub trait Pause: Send + Sync + fmt::Debug {
    /// Comes back after `ms` milliseconds. Dropping the future ends the wait.
    fn wait(&self, ms: u64) -> BoxFuture<'_, ()>;
}

/// Waits for as long as it is told, on tokio's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sleeping;

impl Pause for Sleeping {
    fn wait(&self, ms: u64) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(Duration::from_millis(ms)))
    }
}

/// A provider that is asked again where that may help.
#[derive(Debug)]
pub struct Retrying<P> {
    inner: P,
    pause: Arc<dyn Pause>,
    dice: AtomicU64,
}

impl<P: Provider> Retrying<P> {
    /// `seed` spreads the waits of many programs that failed at the same moment.
    pub fn new(inner: P, pause: Arc<dyn Pause>, seed: u64) -> Retrying<P> {
        Retrying { inner, pause, dice: AtomicU64::new(seed) }
    }

    /// A wait of about `ms`: up to a fifth more.
    fn spread(&self, ms: u64) -> u64 {
        // splitmix64: good enough to tell programs apart, and no library.
        let seed = self.dice.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ms + (mixed ^ (mixed >> 31)) % (ms / 5 + 1)
    }

    async fn ask(&self, asking: &Asking<'_>, sink: &mut Sink<'_>) -> Result<Answered, ModelError> {
        let mut tries = 1;
        loop {
            let error = match self.inner.answer(asking, sink).await {
                Ok(answered) => return Ok(answered),
                Err(error) if !error.kind.may_pass() || tries == TRIES => return Err(told(error, tries)),
                Err(error) => error,
            };
            let ms = match error.retry_after_ms {
                // Never less than was asked for.
                Some(ms) => self.spread(ms).min(LONGEST_MS),
                None => self.spread(FIRST_MS << (tries - 1)),
            };
            sink(Piece::Waiting { why: &error.message, ms });
            self.pause.wait(ms).await;
            tries += 1;
        }
    }
}

/// The last error, and how often it was tried.
fn told(mut error: ModelError, tries: u32) -> ModelError {
    if tries > 1 {
        error.message = format!("{} (asked {tries} times)", error.message);
    }
    error
}

impl<P: Provider> Provider for Retrying<P> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn model(&self) -> &Model {
        self.inner.model()
    }

    fn answer<'a>(
        &'a self,
        asking: &'a Asking<'a>,
        sink: &'a mut Sink<'_>,
    ) -> BoxFuture<'a, Result<Answered, ModelError>> {
        Box::pin(self.ask(asking, sink))
    }
}
