//! *Run*: the tool, under its permit. A panic is our bug and ends this call alone.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use nika_contract::{Asker, Beside, CallId, Cx, Held, Noting, Output, Prepared, Scene, Spec, ToolError, Undo, code};
use serde_json::{Map, Value};

use crate::dispatch::Runtime;
use crate::session::Session;
use crate::stage::before::{Heard, Wishes};
use crate::stage::begin::Begun;
use crate::stage::checkpoint::Armed;
use crate::stage::end::Stopped;

/// A call that ran.
pub(crate) struct Ran {
    pub spec: &'static Spec,
    pub output: Output,
    pub decided_by: String,
    /// Whether a person had to say yes to it.
    pub asked: bool,
    pub wishes: Wishes,
}

/// What came of a run.
pub(crate) enum Came<'r> {
    /// An answer.
    Ran(Box<Ran>),
    /// Nothing, as the call would do other things than it was judged for: it is judged again.
    Other(Box<Heard<'r>>, ToolError),
}

pub(crate) async fn run<'r>(
    runtime: &Runtime,
    session: &Session,
    begun: &Begun,
    armed: Armed<'r>,
) -> Result<Came<'r>, Stopped> {
    let Armed { tool, prepared, permit, decided_by, undo, wishes, reply, held } = armed;
    if begun.incoming.cancel.is_cancelled() {
        return Err(ToolError::cancelled().into());
    }
    let cx = Cx {
        permit: &permit,
        call: &begun.call,
        session: &session.state,
        cancel: &begun.incoming.cancel,
        progress: &begun.incoming.progress,
        undo: &undo,
        clock: undo.clock(),
        reply: reply.as_ref(),
        purse: session,
        beside: &AtHand { runtime, session, begun, held: held.as_ref() },
    };
    let again = prepared.again();
    match caught(prepared.run(&cx)).await {
        Ok(output) => {
            let asked = permit.answered_by().is_some();
            Ok(Came::Ran(Box::new(Ran { spec: tool.spec(), output, decided_by, asked, wishes })))
        }
        Err(error) => {
            // What it had begun to change was not changed: there is nothing of it to take back.
            undo.void();
            let scene = Scene { session: &session.state };
            let is_other =
                |call: &dyn Prepared| call.effects(&scene).is_ok_and(|effects| effects.all != permit.effects().all);
            let fits = error.code == code::CHANGED_SINCE_READ;
            if let Some(prepared) = again.filter(|call| fits && is_other(call.as_ref())) {
                return Ok(Came::Other(Box::new(Heard { tool, prepared, wishes }), error));
            }
            Err(Stopped::Failed { error, decided_by })
        }
    }
}

/// What a call that runs has beside it.
pub(crate) struct AtHand<'a> {
    pub runtime: &'a Runtime,
    pub session: &'a Session,
    pub begun: &'a Begun,
    /// What a person said yes to, where the call was tried before.
    pub held: Option<&'a Held>,
}

impl Beside for AtHand<'_> {
    fn asker(&self) -> &Arc<dyn Asker> {
        &self.begun.incoming.asker
    }

    fn note(&self, event: &'static str, fields: Map<String, Value>) {
        // A journal that is lost is met by the call's own last line.
        let _ = self.session.log(&self.runtime.log_to(), event, &line_of(&self.begun.call, fields));
    }

    fn noting(&self) -> Noting {
        let (scribe, call) = (self.session.scribe(), self.begun.call.clone());
        Arc::new(move |event, fields| _ = scribe.log(event, &line_of(&call, fields)))
    }

    fn held(&self) -> Option<&Held> {
        self.held
    }
}

fn line_of(call: &CallId, fields: Map<String, Value>) -> Map<String, Value> {
    let mut line = Map::new();
    line.insert("call".into(), call.0.as_str().into());
    line.extend(fields);
    line
}

/// `work`, whose panic is an error of its own and of nobody else.
pub(crate) async fn caught<T, E: From<ToolError>>(work: impl Future<Output = Result<T, E>> + Send) -> Result<T, E> {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|context| {
        catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))).unwrap_or_else(|panic| {
            let why = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let why = why.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            let error = ToolError::new(code::BUG, format!("the call failed by a bug of Nika's: {why}"));
            Poll::Ready(Err(error.into()))
        })
    })
    .await
}
