//! *After*: a person's hooks hear of the answer. They note, or withhold it; what was done is done, and undo
//! takes it back as ever. Texts of manifests for the tool come beside the answer.

use nika_contract::{Block, ToolError, code};
use nika_guard::HookPoint;
use nika_guard::manifest::Moment;
use serde_json::json;

use crate::dispatch::Runtime;
use crate::hooks::{About, Say, seen};
use crate::session::Session;
use crate::stage::before::note;
use crate::stage::begin::Begun;
use crate::stage::end::Stopped;
use crate::stage::run::Ran;

/// A call whose answer the model may read.
pub(crate) struct Witnessed(pub Ran);

pub(crate) async fn attend(
    runtime: &Runtime,
    session: &Session,
    begun: &Begun,
    mut ran: Ran,
) -> Result<Witnessed, Stopped> {
    let tool = ran.spec.name;
    let mut notes = std::mem::take(&mut ran.wishes.notes);
    let arguments = ran.wishes.arguments.take().unwrap_or_default();
    let about = About { tool, call: &begun.call.0, session: session.id(), cancel: &begun.incoming.cancel };
    for hook in runtime.parts.hooks.for_call(HookPoint::After, tool) {
        let result = json!({"text": seen(&ran.output.joined_text()), "structured": ran.output.structured});
        let report = runtime.parts.hooks.ask(hook, &about, &arguments, Some(&result)).await?;
        report.log(runtime, session, &about)?;
        match report.says() {
            Say::Nothing => {}
            Say::Note(text) => notes.push(note(hook.command.at(), &text)),
            Say::Ask | Say::Deny => {
                let message = format!("`{tool}` was done, and its answer is withheld by {}", report.source());
                let error = ToolError::new(code::HOOK_REFUSED, message);
                let hint = format!("a person can change the hook at {}; `undo` takes the call back", hook.command.at());
                return Err(Stopped::Failed { error: error.hint(hint), decided_by: ran.decided_by });
            }
        }
        notes.extend(report.note().map(|text| note(hook.command.at(), text)));
    }
    for message in runtime.parts.messages.for_tool(Moment::AfterTool, tool) {
        notes.push(note(&message.at, &message.text));
    }
    ran.output.content.extend(notes.into_iter().map(Block::Text));
    Ok(Witnessed(ran))
}
