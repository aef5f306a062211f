//! *Settle*: a question is put to a person, with what would happen. Nobody there is a no.
//!
//! A command that can be tried where nothing of it counts is tried before ([`rehearse`]): then a yes is to what was
//! shown and puts just that in force. Whatever else comes of the question leaves nothing of it.

use std::sync::Arc;

use nika_contract::{
    AnyTool, Asked, Choice, Cx, Held, Pending, Preimage, Prepared, Question, Rehearsal, Scene, ToolError, Undo, code,
    event, text,
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
        let asking = Asking { runtime, session, begun, tool, prepared: prepared.as_ref(), wishes: &wishes };
        answered = asking.ask(&mut verdict).await?;
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

/// A call that a person is asked about.
struct Asking<'a> {
    runtime: &'a Runtime,
    session: &'a Session,
    begun: &'a Begun,
    tool: &'a dyn AnyTool,
    prepared: &'a dyn Prepared,
    wishes: &'a Wishes,
}

/// What a person is to see of it.
#[derive(Default)]
struct Shown {
    ahead: Option<String>,
    tried: Option<Rehearsal>,
}

/// What came of a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Came {
    Yes,
    /// A yes that is kept as a rule.
    Always,
    No,
    Nobody,
    Later,
    Cancelled,
}

impl Came {
    /// Its name in the journal.
    fn name(self) -> &'static str {
        match self {
            Came::Yes => "yes",
            Came::Always => "always",
            Came::No => "no",
            Came::Nobody => "nobody",
            Came::Later => "later",
            Came::Cancelled => "cancelled",
        }
    }
}

impl Asking<'_> {
    /// The answer, none where nobody gave one or the trial showed what is denied; and what was tried, for a yes to that.
    async fn ask(&self, verdict: &mut Verdict) -> Result<(Option<Answer>, Option<Held>), Stopped> {
        let asker = &self.begun.incoming.asker;
        let looks = verdict.look().map(Arc::new);
        // Nobody is asked about a call that cannot work. And where nobody can be asked, a yes would not help a call that
        // names what is not there: that is what it is told.
        let ahead = match self.look_ahead(looks.as_ref()) {
            Err(error) if asker.is_there() || error.code == code::NOT_FOUND => return Err(error.into()),
            Ok(ahead) if asker.is_there() => ahead,
            _ => None,
        };
        let mut shown = Shown { ahead, tried: self.tried(verdict).await? };
        if verdict.decision == Decision::Deny {
            return Ok((None, None));
        }
        let rules = if self.session.state.is_lasting() { settling(verdict) } else { Vec::new() };
        let question = self.question(verdict, &rules, &mut shown);
        self.note_request(verdict, &shown)?;
        let (came, answer) = self.put(&question, &rules).await?;
        match came {
            Came::Later => return Err(Stopped::Later(Box::new(Pending::Permission(question)))),
            Came::Cancelled => return Err(ToolError::cancelled().into()),
            _ => {}
        }
        // The yes was to what was shown, and minutes may have passed.
        let is_yes = matches!(answer, Some(Answer::Yes { .. }));
        if is_yes && asker.is_there() && self.look_ahead(looks.as_ref())? != shown.ahead {
            let changed = "what the call would do changed while the question was open; nothing was done";
            return Err(ToolError::new(code::CHANGED_SINCE_READ, changed)
                .hint("repeat the call, to be asked again")
                .into());
        }
        Ok((answer, shown.tried.and_then(|tried| tried.held)))
    }

    /// What would change, found under a permit that only looks.
    fn look_ahead(&self, permit: Option<&Arc<Permit>>) -> Result<Option<String>, ToolError> {
        let Some(permit) = permit else { return Ok(None) };
        let beside = AtHand { runtime: self.runtime, session: self.session, begun: self.begun, held: None };
        let cx = beside.only_looking(permit);
        // A preview that panics is no preview; the question is asked without it.
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.prepared.preview(&cx))).unwrap_or(Ok(None))
    }

    /// A trial, where one can be had and somebody will see it. It may show what the text did not say: then the verdict is
    /// another.
    async fn tried(&self, verdict: &mut Verdict) -> Result<Option<Rehearsal>, Stopped> {
        let tried = match verdict.rehearsal().filter(|_| self.begun.incoming.asker.is_there()) {
            Some(permit) => rehearse(self.runtime, self.session, self.begun, self.prepared, permit).await?,
            None => None,
        };
        let effects = self.prepared.effects(&Scene { session: &self.session.state })?;
        if tried.is_some() && effects.all != verdict.effects().all {
            *verdict = judged(self.session, &effects, self.tool, self.wishes);
        }
        Ok(tried)
    }

    /// What is put to the person. A yes is to what was shown: another diff is another question.
    fn question(&self, verdict: &Verdict, rules: &[String], shown: &mut Shown) -> Question {
        let mut text = verdict.question();
        for source in &self.wishes.rewrites {
            text.push_str(&format!("\nthe arguments were rewritten by {source}"));
        }
        let text = harmless(&text);
        // In whatever order its arguments stand.
        let mut wanted =
            Value::Object(self.wishes.arguments.as_ref().unwrap_or(&self.begun.incoming.arguments).clone());
        wanted.sort_all_objects();
        let ahead = shown.ahead.as_deref().map_or_else(String::new, harmless);
        let seen = format!("{}\n{text}\n{ahead}\n{wanted}", self.begun.tool);
        let asker = self.begun.incoming.asker.as_ref();
        shown.tried = shown.tried.take().map(|tried| if_again_alike(tried, asker, &seen));
        // What a person reads before they say yes must not redraw their terminal, nor show what is shown nowhere.
        let tried = shown.tried.as_ref();
        let parts: Vec<&str> =
            [shown.ahead.as_deref(), tried.map(|tried| tried.shown.as_str())].into_iter().flatten().collect();
        let mut preview = (!parts.is_empty()).then(|| harmless(&parts.join("\n\n")));
        preview.iter_mut().for_each(|preview| self.session.hide(preview));
        let id = stands_for_trial(&seen, tried);
        Question { id, tool: self.begun.tool.clone(), text, preview, choices: choice(rules).into_iter().collect() }
    }

    /// The question in the journal.
    fn note_request(&self, verdict: &Verdict, shown: &Shown) -> Result<(), Stopped> {
        let reasons = verdict.reasons.iter().filter(|reason| reason.decision > Decision::Allow);
        let reasons: Vec<Value> = reasons
            .map(|reason| json!({"effect": reason.effect, "act": reason.act, "source": reason.source.to_string()}))
            .collect();
        // An effect says the command's words.
        let reasons = redact(&reasons.into());
        let mut asked = object(json!({"call": self.begun.call.0, "tool": self.begun.tool, "reasons": reasons}));
        if let Some(tried) = &shown.tried {
            let facts = tried.facts.iter().map(|(name, value)| ((*name).to_owned(), redact(value)));
            asked.insert("rehearsal".to_owned(), Value::Object(facts.collect()));
        }
        Ok(self.session.log(&self.runtime.log_to(), event::PERMISSION_REQUEST, &asked)?)
    }

    /// Asks, notes what came of it, and keeps `rules` where the answer says so.
    async fn put(&self, question: &Question, rules: &[String]) -> Result<(Came, Option<Answer>), Stopped> {
        let asked = self.begun.incoming.asker.ask(question).await;
        // Whoever took the call back answered nothing.
        let cancelled = || self.begun.incoming.cancel.is_cancelled();
        let (came, answer, rule) = match asked {
            Asked::Answered(Answer::No { .. }) | Asked::Nobody if cancelled() => (Came::Cancelled, None, None),
            Asked::Answered(answer @ Answer::Yes { .. }) => (Came::Yes, Some(answer), None),
            Asked::Answered(answer) => (Came::No, Some(answer), None),
            Asked::Always(answer, rule) if question.choices.iter().any(|choice| choice.rule == rule) => {
                (Came::Always, Some(answer), Some(rule))
            }
            // A rule that was not offered is not kept; the yes to this call stands.
            Asked::Always(answer, _) => (Came::Yes, Some(answer), None),
            Asked::Nobody => (Came::Nobody, None, None),
            Asked::Later => (Came::Later, None, None),
        };
        let who = match &answer {
            Some(Answer::Yes { who } | Answer::No { who, .. }) => who.as_str(),
            None => "",
        };
        let kept = rule.as_deref().map(redact_text);
        let settled = json!({"call": self.begun.call.0, "answer": came.name(), "who": who, "rule": kept});
        self.session.log(&self.runtime.log_to(), event::PERMISSION_SETTLED, &object(settled))?;
        for rule in rules.iter().filter(|_| came == Came::Always) {
            let granted = self.session.grant(rule, self.runtime.parts.home.as_deref());
            granted.map_err(|error| ToolError::new(code::RULE_MALFORMED, error.to_string()))?;
        }
        Ok((came, answer))
    }
}

fn harmless(shown: &str) -> String {
    text::harmless(shown).into_owned()
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
