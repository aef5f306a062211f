//! *Inquire*: a tool that may run asks what only a person knows. That is no permission: a call that nobody
//! answers still runs, and its tool says what came of it.

use nika_contract::{Inquiry, Pending, Replied, Scene, ToolError, event};
use serde_json::json;

use crate::dispatch::Runtime;
use crate::session::Session;
use crate::stage::begin::Begun;
use crate::stage::end::Stopped;
use crate::stage::settle::{Permitted, object, stands_for};

/// A call that knows what its tool wanted to know.
pub(crate) struct Informed<'r> {
    pub permitted: Permitted<'r>,
    pub reply: Option<Replied>,
}

pub(crate) async fn inquire<'r>(
    runtime: &Runtime,
    session: &Session,
    begun: &Begun,
    permitted: Permitted<'r>,
) -> Result<Informed<'r>, Stopped> {
    let Some(inquiry) = permitted.prepared.inquires(&Scene { session: &session.state })? else {
        return Ok(Informed { permitted, reply: None });
    };
    let said = format!("{}\n{:?}\n{}\n{:?}", begun.tool, inquiry.header, inquiry.text, inquiry.options);
    let inquiry = Inquiry { id: stands_for(&said), tool: begun.tool.clone(), ..inquiry };
    let put = json!({"call": begun.call.0, "tool": begun.tool, "question": inquiry.text});
    session.log(&runtime.log_to(), event::INQUIRY, &object(put))?;
    let reply = begun.incoming.asker.inquire(&inquiry).await;
    // Whoever took the call back answered nothing.
    let cancelled = begun.incoming.cancel.is_cancelled();
    let (word, text) = match &reply {
        Replied::Declined { .. } | Replied::Nobody if cancelled => ("cancelled", ""),
        Replied::Chosen(label) => ("chosen", label.as_str()),
        Replied::Wrote(text) => ("wrote", text.as_str()),
        Replied::Declined { why } => ("declined", why.as_deref().unwrap_or_default()),
        Replied::Nobody => ("nobody", ""),
        Replied::Later => ("later", ""),
    };
    let answered = json!({"call": begun.call.0, "answer": word, "text": nika_store::journal::redact_text(text)});
    session.log(&runtime.log_to(), event::INQUIRY_ANSWERED, &object(answered))?;
    match word {
        "later" => return Err(Stopped::Later(Box::new(Pending::Inquiry(inquiry)))),
        "cancelled" => return Err(ToolError::cancelled().into()),
        _ => {}
    }
    Ok(Informed { permitted, reply: Some(reply) })
}
