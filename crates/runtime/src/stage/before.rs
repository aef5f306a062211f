//! *Before*: a person's hooks hear of the call. They note, refuse, raise to a question or rewrite; what they
//! rewrite is parsed again here and judged behind here, and is not shown to them a second time.

use nika_contract::{AnyTool, Fault, Prepared, ToolError, code, text};
use nika_guard::manifest::Moment;
use nika_guard::{HookPoint, Source};
use nika_store::journal::redact;
use serde_json::{Map, Value};

use crate::dispatch::Runtime;
use crate::hooks::{About, HookReport, Say};
use crate::session::Session;
use crate::stage::begin::Begun;
use crate::stage::end::Stopped;
use crate::stage::parse::Parsed;

/// A call that the hooks before it let through.
pub(crate) struct Heard<'r> {
    pub tool: &'r dyn AnyTool,
    pub prepared: Box<dyn Prepared + 'r>,
    pub wishes: Wishes,
}

/// What hooks and manifests want of the rest of the way.
#[derive(Default)]
pub(crate) struct Wishes {
    /// Who wants a person to decide.
    pub asks: Vec<Source>,
    /// Who rewrote the arguments.
    pub rewrites: Vec<Source>,
    /// For the model, beside the answer.
    pub notes: Vec<String>,
    /// The arguments that are in force, where a hook wants to see them.
    pub arguments: Option<Map<String, Value>>,
}

/// Characters of rewritten arguments that the model is shown.
const SHOWN_CHARS: usize = 1_000;

impl Wishes {
    /// Who rewrote the arguments, and what they are now: whoever called knows only what they sent.
    pub fn rewritten(&self) -> Option<String> {
        let arguments = self.arguments.as_ref().filter(|_| !self.rewrites.is_empty())?;
        let by: Vec<String> = self.rewrites.iter().map(Source::to_string).collect();
        // Indented, as what is quoted is.
        Some(format!("the arguments were rewritten by {}; they are now:\n  {}", by.join(" and "), shown(arguments)))
    }
}

/// As the journal has them: a hook may have put a secret in.
fn shown(arguments: &Map<String, Value>) -> String {
    text::preview(&redact(&Value::Object(arguments.clone())).to_string(), SHOWN_CHARS)
}

pub(crate) async fn attend<'r>(
    runtime: &'r Runtime,
    session: &Session,
    begun: &Begun,
    parsed: Parsed<'r>,
) -> Result<Heard<'r>, Stopped> {
    let tool = parsed.tool.spec().name;
    let about = About { tool, call: &begun.call.0, session: session.id(), cancel: &begun.incoming.cancel };
    let mut journal = |report: &HookReport| report.log(runtime, session, &about);
    let mut heard = hear(runtime, &about, parsed, &mut journal).await?;
    for message in runtime.parts.messages.for_tool(Moment::BeforeTool, tool) {
        heard.wishes.notes.push(note(&message.at, &message.text));
    }
    Ok(heard)
}

/// Told of every hook that ran.
pub(crate) type Told<'a> = &'a mut (dyn FnMut(&HookReport) -> Result<(), Fault> + Send);

/// Asks each hook in its turn; one that rewrites is believed by those behind it.
pub(crate) async fn hear<'r>(
    runtime: &'r Runtime,
    about: &About<'_>,
    parsed: Parsed<'r>,
    told: Told<'_>,
) -> Result<Heard<'r>, Stopped> {
    let Parsed { tool, mut prepared, arguments } = parsed;
    let mut wishes = Wishes { arguments, ..Wishes::default() };
    for hook in runtime.parts.hooks.for_call(HookPoint::Before, about.tool) {
        let arguments = wishes.arguments.take().unwrap_or_default();
        let report = runtime.parts.hooks.ask(hook, about, &arguments, None).await?;
        told(&report)?;
        let mut rewritten = report.rewritten().cloned();
        // As in a call, null is what was left out.
        rewritten.iter_mut().for_each(|arguments| arguments.retain(|_, value| !value.is_null()));
        wishes.arguments = Some(arguments);
        match report.says() {
            Say::Nothing => {}
            Say::Note(text) => wishes.notes.push(note(hook.command.at(), &text)),
            Say::Ask => wishes.asks.push(report.source()),
            Say::Deny => return Err(refused(&report)),
        }
        if let Some(text) = report.note() {
            wishes.notes.push(note(hook.command.at(), text));
        }
        if let Some(rewritten) = rewritten.filter(|rewritten| Some(rewritten) != wishes.arguments.as_ref()) {
            prepared = tool.parse(Value::Object(rewritten.clone())).map_err(|error| {
                let source = report.source();
                let message =
                    format!("{source} rewrote the arguments to what `{}` does not take: {}", about.tool, error.message);
                refusal(message, &report)
            })?;
            let told = format!("This hook rewrote the arguments of the call. They are now: {}", shown(&rewritten));
            wishes.notes.push(note(hook.command.at(), &told));
            wishes.rewrites.push(report.source());
            wishes.arguments = Some(rewritten);
        }
    }
    Ok(Heard { tool, prepared, wishes })
}

fn refused(report: &HookReport) -> Stopped {
    refusal(format!("`{}` is refused by {}", report.tool, report.source()), report)
}

fn refusal(message: String, report: &HookReport) -> Stopped {
    let hint = format!("a person can change the hook at {}", report.hook.command.at());
    Stopped::Refused {
        error: ToolError::new(code::HOOK_REFUSED, message).hint(hint),
        decision: nika_guard::Decision::Deny,
        decided_by: report.source().to_string(),
    }
}

/// A text of somebody who is not the tool, marked as such.
pub(crate) fn note(at: &str, text: &str) -> String {
    format!("[note of {at}]\n{text}")
}
