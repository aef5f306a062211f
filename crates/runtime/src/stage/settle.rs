//! *Settle*: a question is put to a person, with what would happen. Nobody there is a no.
//!
//! A command that can be tried where nothing of it counts is tried before ([`rehearse`]): then a yes is to what was
//! shown and puts just that in force. Whatever else comes of the question leaves nothing of it.

use std::sync::Arc;

use nika_contract::{
    AnyTool, Asked, Choice, Cx, Held, Pending, Preimage, Prepared, Question, Scene, ToolError, Undo, code, event, text,
};
use nika_guard::{Answer, Decision, Permit, Source, Verdict};
use nika_store::journal::{redact, redact_text};
use serde_json::{Map, Value, json};

use crate::dispatch::Runtime;
use crate::session::Session;
use crate::stage::before::Wishes;
use crate::stage::begin::Begun;
use crate::stage::decide::{Judged, judged};
use crate::stage::end::Stopped;
use crate::stage::rehearse::{if_again_alike, rehearse, stands_for_trial};
use crate::stage::run::AtHand;

/// A call that may happen, and what it may do.
pub(crate) struct Permitted<'r> {
    pub tool: &'r dyn AnyTool,
    pub prepared: Box<dyn Prepared + 'r>,
    pub permit: Arc<Permit>,
    /// `mode workspace`, a rule, or who said yes: for the journal.
    pub decided_by: String,
    pub wishes: Wishes,
    /// What was tried, where that is what was said yes to.
    pub held: Option<Held>,
}

pub(crate) async fn settle<'r>(
    runtime: &Runtime,
    session: &Session,
    begun: &Begun,
    judged: Judged<'r>,
) -> Result<Permitted<'r>, Stopped> {
    let Judged { tool, prepared, mut verdict, wishes } = judged;
    let mut answered = (None, None);
    if matches!(verdict.decision, Decision::Ask | Decision::Floor) {
        answered = ask(runtime, session, begun, tool, prepared.as_ref(), &mut verdict, &wishes).await?;
    }
    let (answer, held) = answered;
    let decided_by = match &answer {
        Some(Answer::Yes { who }) => who.clone(),
        _ => verdict.decisive().map(|reason| reason.source.to_string()).unwrap_or_default(),
    };
    let decision = verdict.decision;
    match verdict.permit(answer) {
        Ok(permit) => Ok(Permitted { tool, prepared, permit: Arc::new(permit), decided_by, wishes, held }),
        Err(refusal) => Err(Stopped::Refused {
            error: ToolError { code: code::PERMISSION_DENIED, message: refusal.message, hint: refusal.hint },
            decision,
            decided_by,
        }),
    }
}

async fn ask(
    runtime: &Runtime,
    session: &Session,
    begun: &Begun,
    tool: &dyn AnyTool,
    prepared: &dyn Prepared,
    verdict: &mut Verdict,
    wishes: &Wishes,
) -> Result<(Option<Answer>, Option<Held>), Stopped> {
    let asker = &begun.incoming.asker;
    let looks = verdict.look().map(Arc::new);
    let look = || looks.clone().map_or(Ok(None), |permit| look_ahead(runtime, session, begun, prepared, permit));
    // Nobody is asked about a call that cannot work. And where nobody can be asked, a yes would not help a call that
    // names what is not there: that is what it is told.
    let ahead = match look() {
        Err(error) if asker.is_there() || error.code == code::NOT_FOUND => return Err(error.into()),
        Ok(ahead) if asker.is_there() => ahead,
        _ => None,
    };
    let tried = match verdict.rehearsal().filter(|_| asker.is_there()) {
        Some(permit) => rehearse(runtime, session, begun, prepared, permit).await?,
        None => None,
    };
    // A trial may show what the text did not say.
    let effects = prepared.effects(&Scene { session: &session.state })?;
    if tried.is_some() && effects.all != verdict.effects().all {
        *verdict = judged(session, &effects, tool, wishes);
        if verdict.decision == Decision::Deny {
            return Ok((None, None));
        }
    }
    let verdict = &*verdict;
    let mut text = verdict.question();
    for source in &wishes.rewrites {
        text.push_str(&format!("\nthe arguments were rewritten by {source}"));
    }
    let text = harmless(&text);
    let rules = if session.state.is_lasting() { settling(verdict) } else { Vec::new() };
    let choices: Vec<Choice> = choice(&rules).into_iter().collect();
    // A yes is to what was shown: another diff is another question.
    let wanted = wishes.arguments.as_ref().unwrap_or(&begun.incoming.arguments);
    let shown = ahead.as_deref().map_or_else(String::new, harmless);
    // In whatever order its arguments stand.
    let mut wanted = Value::Object(wanted.clone());
    wanted.sort_all_objects();
    let seen = format!("{}\n{text}\n{shown}\n{wanted}", begun.tool);
    let tried = tried.map(|tried| if_again_alike(tried, asker.as_ref(), &seen));
    // What a person reads before they say yes must not redraw their terminal, nor show what is shown nowhere.
    let parts: Vec<&str> =
        [ahead.as_deref(), tried.as_ref().map(|tried| tried.shown.as_str())].into_iter().flatten().collect();
    let mut preview = (!parts.is_empty()).then(|| harmless(&parts.join("\n\n")));
    preview.iter_mut().for_each(|preview| session.hide(preview));
    let id = stands_for_trial(&seen, tried.as_ref());
    let question = Question { id, tool: begun.tool.clone(), text, preview, choices };

    let reasons: Vec<Value> = verdict
        .reasons
        .iter()
        .filter(|reason| reason.decision > Decision::Allow)
        .map(|reason| json!({"effect": reason.effect, "act": reason.act, "source": reason.source.to_string()}))
        .collect();
    // An effect says the command's words.
    let mut asked = object(json!({"call": begun.call.0, "tool": begun.tool, "reasons": redact(&reasons.into())}));
    if let Some(tried) = &tried {
        let facts = tried.facts.iter().map(|(name, value)| ((*name).to_owned(), redact(value)));
        asked.insert("rehearsal".to_owned(), Value::Object(facts.collect()));
    }
    session.log(&runtime.log_to(), event::PERMISSION_REQUEST, &asked)?;

    let asked = asker.ask(&question).await;
    // Whoever took the call back answered nothing.
    let cancelled = || begun.incoming.cancel.is_cancelled();
    let (word, answer, rule) = match asked {
        Asked::Answered(Answer::No { .. }) | Asked::Nobody if cancelled() => ("cancelled", None, None),
        Asked::Answered(answer) => {
            (if matches!(answer, Answer::Yes { .. }) { "yes" } else { "no" }, Some(answer), None)
        }
        Asked::Always(answer, rule) if question.choices.iter().any(|choice| choice.rule == rule) => {
            ("always", Some(answer), Some(rule))
        }
        // A rule that was not offered is not kept; the yes to this call stands.
        Asked::Always(answer, _) => ("yes", Some(answer), None),
        Asked::Nobody => ("nobody", None, None),
        Asked::Later => ("later", None, None),
    };
    let who = match &answer {
        Some(Answer::Yes { who } | Answer::No { who, .. }) => who.as_str(),
        None => "",
    };
    let kept = rule.as_deref().map(redact_text);
    let settled = json!({"call": begun.call.0, "answer": word, "who": who, "rule": kept});
    session.log(&runtime.log_to(), event::PERMISSION_SETTLED, &object(settled))?;
    if rule.is_some() {
        for rule in &rules {
            session
                .grant(rule, runtime.parts.home.as_deref())
                .map_err(|error| ToolError::new(code::RULE_MALFORMED, error.to_string()))?;
        }
    }
    match word {
        "later" => return Err(Stopped::Later(Box::new(Pending::Permission(question)))),
        "cancelled" => return Err(ToolError::cancelled().into()),
        _ => {}
    }
    // The yes was to what was shown, and minutes may have passed.
    if matches!(answer, Some(Answer::Yes { .. })) && asker.is_there() && look()? != ahead {
        let changed = "what the call would do changed while the question was open; nothing was done";
        return Err(ToolError::new(code::CHANGED_SINCE_READ, changed)
            .hint("repeat the call, to be asked again")
            .into());
    }
    Ok((answer, tried.and_then(|tried| tried.held)))
}

fn harmless(shown: &str) -> String {
    text::harmless(shown).into_owned()
}

/// What would change, found under a permit that only looks.
fn look_ahead(
    runtime: &Runtime,
    session: &Session,
    begun: &Begun,
    prepared: &dyn Prepared,
    permit: Arc<Permit>,
) -> Result<Option<String>, ToolError> {
    let (permit, beside) = (permit, AtHand { runtime, session, begun, held: None });
    let cx = beside.only_looking(&permit);
    // A preview that panics is no preview; the question is asked without it.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| prepared.preview(&cx))).unwrap_or(Ok(None))
}

/// A name for a question that equal questions share.
pub(crate) fn stands_for(shown: &str) -> String {
    nika_host::fs::sha256(shown.as_bytes()).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

/// Rules that one answer may keep. Four: a command, what it writes, what it reads outside, where it connects.
const AT_ONCE: usize = 4;

/// The narrowest rules that together settle the whole question. None where one part of it is asked each time, as a
/// floor and what a rule itself asks about are, and where there would be more than a person reads.
fn settling(verdict: &Verdict) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    for reason in verdict.reasons.iter().filter(|reason| reason.decision > Decision::Allow) {
        match &reason.rule {
            Some(rule) if reason.decision == Decision::Ask && matches!(reason.source, Source::Mode(_)) => {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
            _ => return Vec::new(),
        }
    }
    if rules.len() > AT_ONCE { Vec::new() } else { rules }
}

/// Rules to keep, with what else they would let through.
fn choice(rules: &[String]) -> Option<Choice> {
    let reach = |rule: &String| nika_guard::Rule::parse(rule, None).map(|rule| rule.reach()).unwrap_or_default();
    let mut beyond: Vec<String> = Vec::new();
    for said in rules.iter().map(reach).filter(|said| !said.is_empty()) {
        // Of two commands it is the same, and is said once.
        if !beyond.contains(&said) {
            beyond.push(said);
        }
    }
    (!rules.is_empty()).then(|| Choice { rule: rules.join(" and "), beyond: beyond.join("; and ") })
}

impl AtHand<'_> {
    /// What a call has that looks ahead: no answer yet, and no place for pre-images, so that it can change nothing.
    pub(crate) fn only_looking<'a>(&'a self, permit: &'a Arc<Permit>) -> Cx<'a> {
        let AtHand { runtime, session, begun, .. } = self;
        Cx {
            permit,
            call: &begun.call,
            session: &session.state,
            cancel: &begun.incoming.cancel,
            progress: &begun.incoming.progress,
            undo: &NoChanges,
            clock: runtime.parts.clock.as_ref(),
            reply: None,
            purse: *session,
            beside: self,
        }
    }
}

/// Looking ahead changes nothing.
struct NoChanges;

impl Undo for NoChanges {
    fn keep(&self, _: &Preimage<'_>) -> Result<(), ToolError> {
        Err(ToolError::new(code::BUG, "a preview tried to change something"))
    }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
