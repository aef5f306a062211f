//! *Run*: the tool, under its permit. A panic is our bug and ends this call alone.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use nika_contract::{BoxFuture, Cx, Output, Spec, ToolError, code};

use crate::session::Session;
use crate::stage::begin::Begun;
use crate::stage::checkpoint::Armed;
use crate::stage::end::Stopped;

/// A call that ran.
pub(crate) struct Ran {
    pub spec: &'static Spec,
    pub output: Output,
    pub decided_by: String,
}

pub(crate) async fn run(session: &Session, begun: &Begun, armed: Armed<'_>) -> Result<Ran, Stopped> {
    let Armed { tool, prepared, permit, decided_by, undo } = armed;
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
    };
    let result = Caught(prepared.run(&cx)).await;
    match result {
        Ok(output) => Ok(Ran { spec: tool.spec(), output, decided_by }),
        Err(error) => Err(Stopped::Failed { error, decided_by }),
    }
}

/// A future whose panic is an error.
struct Caught<'a>(BoxFuture<'a, Result<Output, ToolError>>);

impl Future for Caught<'_> {
    type Output = Result<Output, ToolError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))).unwrap_or_else(|panic| {
            let why = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let why = why.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Poll::Ready(Err(ToolError::new(code::BUG, format!("the tool failed by a bug of Nika's: {why}"))))
        })
    }
}
