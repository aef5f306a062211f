//! The answer to *may this happen*, with its reasons.
//!
//! Verdicts join: the strictest wins, and no reason is lost on the way.

use std::fmt;

use crate::effect::{Effect, Effects};
use crate::mode::Stance;
use crate::permit::{Answer, Permit};
use crate::policy::{Layer, Policy};
use crate::web::ListedBy;

/// How strict an answer is. Ordered: a later one is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// Goes ahead.
    Allow,
    /// A person decides; a kept rule may answer.
    Ask,
    /// A person decides each time; no rule answers.
    Floor,
    /// Refused, whoever asks.
    Deny,
}

impl Decision {
    /// The word in the journal and in JSON output: a floor is an ask to those outside.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Ask | Decision::Floor => "ask",
            Decision::Deny => "deny",
        }
    }
}

/// Where a reason comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A field of the mode table.
    Mode(Stance),
    /// The same, where only plan mode has the session stand so.
    Planning,
    /// A rule, with the place it was written.
    Rule {
        /// As written.
        text: String,
        /// Which layer brought it.
        layer: Layer,
        /// `file:line`, or what stands for it.
        at: String,
    },
    /// The list of hosts whose pages may be looked at.
    Listed(ListedBy),
    /// A person's answer.
    Person(String),
    /// A command hook, with what it said.
    Hook {
        /// Its program.
        program: String,
        /// `file:line`.
        at: String,
        /// Its reason; empty when it gave none.
        why: String,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Mode(stance) => write!(f, "mode {stance}"),
            Source::Planning => f.write_str("plan mode"),
            Source::Rule { text, layer, at } => write!(f, "{layer} rule `{text}` ({at})"),
            Source::Listed(by) => by.fmt(f),
            Source::Person(who) => write!(f, "{who}"),
            Source::Hook { program, at, why } if why.is_empty() => write!(f, "hook `{program}` ({at})"),
            Source::Hook { program, at, why } => write!(f, "hook `{program}` ({at}): {why}"),
        }
    }
}

/// One reason of a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What this reason alone would decide.
    pub decision: Decision,
    /// The effect it speaks of, as text: `write(src/a.rs)`.
    pub effect: String,
    /// What the effect amounts to: `write inside`.
    pub act: String,
    /// Who says so.
    pub source: Source,
    /// What would let it through: a mode, a flag, a rule. Empty when nothing would.
    pub remedy: Vec<String>,
    /// The narrowest allow rule for exactly this effect, where one can be written.
    pub rule: Option<String>,
}

/// The joined answer for all effects of a call.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The strictest of the reasons.
    pub decision: Decision,
    /// In the order of the effects.
    pub reasons: Vec<Reason>,
    effects: Effects,
    policy: Policy,
    stance: Stance,
}

/// Why a verdict made no permit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Deny for a final no, Ask or Floor for a question nobody answered, or a person's no.
    pub decision: Decision,
    /// One sentence that names the effect and its source.
    pub message: String,
    /// What would let it through.
    pub hint: Option<String>,
}

impl Verdict {
    pub(crate) fn new(effects: Effects, reasons: Vec<Reason>, policy: Policy, stance: Stance) -> Verdict {
        // Nothing stated is nothing known: a call without effects is not a harmless one.
        let decision = reasons.iter().map(|reason| reason.decision).max().unwrap_or(Decision::Deny);
        Verdict { decision, reasons, effects, policy, stance }
    }

    /// What was judged.
    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    /// The stance it was judged under.
    pub fn stance(&self) -> &Stance {
        &self.stance
    }

    /// The reason that decided: the first of the strictest.
    pub fn decisive(&self) -> Option<&Reason> {
        self.reasons.iter().find(|reason| reason.decision == self.decision)
    }

    /// The question a person is shown.
    pub fn question(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for reason in self.reasons.iter().filter(|reason| reason.decision > Decision::Allow) {
            lines.push(format!("{} — {} ({})", reason.effect, reason.act, reason.source));
        }
        lines.join("\n")
    }

    /// A permit to look at what would be written, so that a question can show the difference.
    /// `None` where the look itself would need a question: secrets, places outside.
    pub fn look(&self) -> Option<Permit> {
        let reads = self.effects.all.iter().filter_map(|effect| match effect {
            Effect::Read(place) | Effect::Write(place) => Some(Effect::Read(place.clone())),
            _ => None,
        });
        let mut effects = Effects { tool: self.effects.tool.clone(), all: reads.collect() };
        // What a command is, an agent is told or a task says can be shown without opening anything; of what a
        // command names, what is free to see.
        let told = |effect: &Effect| {
            use Effect::{Control, Exec, Fetch, Net, Spawn};
            matches!(effect, Exec(_) | Spawn(_) | Control(_) | Net(_) | Fetch(_))
        };
        if self.effects.all.iter().any(told) {
            let free = |effect: &Effect| {
                self.policy.judge_one(&self.stance, effect, &self.effects.tool).decision == Decision::Allow
            };
            effects.all.retain(free);
            return Some(Permit::new(effects, self.policy.clone(), self.stance, None));
        }
        let free = !effects.all.is_empty() && self.policy.judge(&self.stance, &effects).decision == Decision::Allow;
        free.then(|| Permit::new(effects, self.policy.clone(), self.stance, None))
    }

    /// This verdict, made at least as strict as `decision` for a reason of its own.
    pub fn raised(mut self, reason: Reason) -> Verdict {
        self.decision = self.decision.max(reason.decision);
        self.reasons.push(reason);
        self
    }

    /// This verdict of a session that plans, naming plan mode wherever `otherwise`, the verdict without it, would
    /// be laxer: there no mode and no rule is in the way, only a plan that nobody has approved yet.
    pub fn while_planning(mut self, otherwise: &Verdict) -> Verdict {
        for (reason, then) in self.reasons.iter_mut().zip(&otherwise.reasons) {
            if matches!(reason.source, Source::Mode(_)) && then.decision < reason.decision {
                reason.source = Source::Planning;
                reason.remedy = vec!["`exit_plan_mode`, once a person approves the plan".to_owned()];
            }
        }
        self
    }

    /// The permit, if the verdict allows or `answer` settles its question.
    pub fn permit(self, answer: Option<Answer>) -> Result<Permit, Refusal> {
        match (self.decision, answer) {
            (Decision::Allow, _) => Ok(Permit::new(self.effects, self.policy, self.stance, None)),
            (Decision::Ask | Decision::Floor, Some(Answer::Yes { who })) => {
                Ok(Permit::new(self.effects, self.policy, self.stance, Some(who)))
            }
            (Decision::Ask | Decision::Floor, Some(Answer::No { who, why })) => {
                let effect = self.decisive().map_or_else(String::new, |reason| reason.effect.clone());
                let why = why.filter(|why| !why.is_empty()).map_or_else(String::new, |why| format!(": {why}"));
                Err(Refusal { decision: self.decision, message: format!("{who} declined {effect}{why}"), hint: None })
            }
            (decision, _) => Err(self.refusal(decision)),
        }
    }

    fn refusal(&self, decision: Decision) -> Refusal {
        let Some(reason) = self.decisive() else {
            return Refusal {
                decision,
                message: "the call states no effect, so nothing can allow it".into(),
                hint: None,
            };
        };
        let verb = match decision {
            Decision::Deny => "is denied",
            _ => "needs a person's yes and nobody can be asked here",
        };
        let message = format!("{} ({}) {verb}, by {}", reason.effect, reason.act, reason.source);
        let hint =
            (!reason.remedy.is_empty()).then(|| format!("it would be allowed by {}", reason.remedy.join(", or ")));
        Refusal { decision, message, hint }
    }
}
