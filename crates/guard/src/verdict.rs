//! The answer to *may this happen*, with its reasons.
//!
//! Verdicts join: the strictest wins, and no reason is lost on the way.

use std::collections::HashSet;
use std::fmt;

use crate::effect::{Effect, Effects, ExecKind};
use crate::mode::{Act, Mode, Stance};
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
    /// The word in the journal and in JSON output, but for that of `policy explain`, which tells a floor from an ask.
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

/// Places that a question names of those that are written inside: as many paths as a diff shows.
const PLAIN_WRITES: usize = 50;
/// Effects that the answer to a no names.
const DECLINED: usize = 5;

impl Reason {
    /// Whether it speaks of a write inside the roots that nothing but the mode has asked about.
    fn is_plain_write(&self) -> bool {
        self.act == Act::WriteInside.title() && matches!(self.source, Source::Mode(_) | Source::Planning)
    }
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

    /// The question a person is shown: each effect once. Of many places inside about which no rule has anything to say,
    /// only the first are named; what is special of one is never left out.
    pub fn question(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        let mut said = HashSet::new();
        let mut inside = 0;
        for reason in self.reasons.iter().filter(|reason| reason.decision > Decision::Allow) {
            let line = format!("{} — {} ({})", reason.effect, reason.act, reason.source);
            if !said.insert(line.clone()) {
                continue;
            }
            inside += usize::from(reason.is_plain_write());
            if !reason.is_plain_write() || inside <= PLAIN_WRITES {
                lines.push(line);
            }
        }
        if inside > PLAIN_WRITES {
            lines.push(format!("{} paths more — {}", inside - PLAIN_WRITES, Act::WriteInside.title()));
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

    /// A permit to try a command over a layer that nobody applies, so that the question about it shows what it did.
    ///
    /// Only where the question is about writing inside the roots and about commands that write nowhere else. A layer
    /// holds nothing of what happens elsewhere, and what cannot be judged, is hidden, guarded or privileged waits for
    /// its yes. So does what a hook asks about, as it says of no effect that it is the one.
    pub fn rehearsal(&self) -> Option<Permit> {
        let runs = self.effects.all.iter().any(|effect| matches!(effect, Effect::Exec(_)));
        let about_effects = self.reasons.len() == self.effects.all.len();
        if self.decision != Decision::Ask || !runs || !about_effects {
            return None;
        }
        let stays_inside = |(effect, reason): (&Effect, &Reason)| match effect {
            Effect::Write(place) => place.below_root.is_some(),
            Effect::Exec(exec) => match exec.kind {
                ExecKind::ReadOnly | ExecKind::WritesInside => true,
                // A rule of the person may have allowed it; then only what else it does is asked about.
                ExecKind::Opaque => reason.decision == Decision::Allow,
                ExecKind::Misparse | ExecKind::Destructive | ExecKind::Unconfined | ExecKind::Forbidden => false,
            },
            Effect::Read(_) | Effect::Session => reason.decision == Decision::Allow,
            _ => false,
        };
        self.effects
            .all
            .iter()
            .zip(&self.reasons)
            .all(stays_inside)
            .then(|| Permit::new(self.effects.clone(), self.policy.clone(), self.stance, None).for_rehearsal())
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
                let why = why.filter(|why| !why.is_empty()).map_or_else(String::new, |why| format!(": {why}"));
                let message = format!("{who} declined {}{why}", self.asked_about());
                Err(Refusal { decision: self.decision, message, hint: None })
            }
            (decision, _) => Err(self.refusal(decision)),
        }
    }

    /// What a question was about, what decided first: `exec(touch x), exec(touch y)`.
    fn asked_about(&self) -> String {
        let asked = || self.reasons.iter().filter(|reason| reason.decision > Decision::Allow);
        let (first, rest) = asked().partition::<Vec<_>, _>(|reason| reason.decision == self.decision);
        let mut said = HashSet::new();
        let all: Vec<&str> =
            first.into_iter().chain(rest).map(|reason| &*reason.effect).filter(|effect| said.insert(*effect)).collect();
        let more = all.len().saturating_sub(DECLINED);
        let and = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{and}", all[..all.len() - more].join(", "))
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
        Refusal { decision, message, hint: self.remedy().map(|ways| format!("it would be allowed {ways}")) }
    }

    /// What would let the call through, as it follows *it would be allowed*: the one mode that allows all of it, if there is
    /// one; for each effect that is in the way, where they need other things.
    pub fn remedy(&self) -> Option<String> {
        let in_the_way = || self.reasons.iter().filter(|reason| reason.decision > Decision::Allow);
        // Nothing lets that through.
        if in_the_way().any(|reason| reason.remedy.is_empty()) {
            return None;
        }
        let each = once_each(in_the_way().map(|reason| (&*reason.effect, reason.remedy.join(", or "))));
        let listed = |each: &[(&str, String)]| {
            let each: Vec<String> = each.iter().map(|(effect, ways)| format!("{effect} by {ways}")).collect();
            format!("with all of these: {}", each.join("; "))
        };
        match (each.as_slice(), self.mode_for_all()) {
            ([], _) => None,
            ([(_, one)], _) => Some(format!("by {one}")),
            (several, None) => Some(listed(several)),
            (_, Some(mode)) => {
                let other = |reason: &Reason| {
                    let ways = reason.remedy.iter().filter(|way| !way.starts_with(BY_MODE)).map(String::as_str);
                    ways.collect::<Vec<_>>().join(", or ")
                };
                let others = once_each(in_the_way().map(|reason| (&*reason.effect, other(reason))));
                let all = others.iter().all(|(_, ways)| !ways.is_empty());
                let more = if all { format!(", or {}", listed(&others)) } else { String::new() };
                Some(format!("by {BY_MODE}{mode}{more}"))
            }
        }
    }

    /// The mode that allows all of the call at once, where each part of it is something that a mode allows.
    fn mode_for_all(&self) -> Option<Mode> {
        let by_mode = |reason: &Reason| reason.remedy.iter().any(|way| way.starts_with(BY_MODE));
        let mut in_the_way = self.reasons.iter().filter(|reason| reason.decision > Decision::Allow);
        if !in_the_way.all(by_mode) {
            return None;
        }
        let allows = |mode: &Mode| {
            let stance = Stance { mode: *mode, ..self.stance };
            self.policy.judge(&stance, &self.effects).decision == Decision::Allow
        };
        Mode::ALL.into_iter().find(allows)
    }
}

/// The first effect for each of the ways.
fn once_each<'r>(reasons: impl Iterator<Item = (&'r str, String)>) -> Vec<(&'r str, String)> {
    let mut each: Vec<(&str, String)> = Vec::new();
    for (effect, ways) in reasons {
        if each.iter().all(|(_, known)| *known != ways) {
            each.push((effect, ways));
        }
    }
    each
}

/// How a remedy begins that is a mode.
pub(crate) const BY_MODE: &str = "--mode ";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::{Exec, Place};
    use crate::policy::LayeredRule;
    use crate::rule::{Rule, RuleKind};

    fn exec(kind: ExecKind) -> Effect {
        Effect::Exec(Exec::plain(vec![vec!["make".into(), "all".into()]], kind, ""))
    }

    fn verdict(mode: Mode, rules: &[(RuleKind, &str)], effects: Vec<Effect>) -> Verdict {
        let rules = rules.iter().map(|(kind, text)| LayeredRule {
            kind: *kind,
            rule: Rule::parse(text, None).expect("it parses"),
            layer: Layer::User,
            at: "test:1".into(),
        });
        let effects = Effects { tool: "bash".into(), all: effects };
        Policy::new(rules.collect(), true).judge(&Stance::from(mode), &effects)
    }

    #[test]
    fn only_a_question_about_what_stays_inside_is_rehearsed() {
        use ExecKind::{Destructive, Forbidden, Misparse, Opaque, ReadOnly, WritesInside};
        use RuleKind::{Allow, Ask, Deny};
        let write = |below: &str| Effect::Write(Place::inside("/r", below));
        let read = |below: &str| Effect::Read(Place::inside("/r", below));
        let (there, net) = (Place::outside("/there"), Effect::Net("example.com".into()));
        for (mode, rules, effects, want) in [
            (Mode::Ask, &[][..], vec![exec(WritesInside)], true),
            (Mode::AcceptEdits, &[], vec![exec(WritesInside)], true),
            (Mode::Ask, &[], vec![read("a"), write("b"), exec(WritesInside)], true),
            (Mode::Ask, &[], vec![write("b"), exec(ReadOnly)], true),
            (Mode::Workspace, &[(Ask, "exec(make *)")], vec![exec(WritesInside)], true),
            (Mode::Workspace, &[(Ask, "write(b)")], vec![write("b"), exec(WritesInside)], true),
            (Mode::Workspace, &[(Allow, "exec(make *)"), (Ask, "write(b)")], vec![write("b"), exec(Opaque)], true),
            // It may happen, or may not, or nobody is asked.
            (Mode::Workspace, &[], vec![exec(WritesInside)], false),
            (Mode::ReadOnly, &[], vec![exec(WritesInside)], false),
            (Mode::Ask, &[(Deny, "exec(make *)")], vec![exec(WritesInside)], false),
            (Mode::Ask, &[(Deny, "write(b)")], vec![write("b"), exec(WritesInside)], false),
            (Mode::Ask, &[], vec![], false),
            // It reaches beyond the roots, also where that alone is allowed.
            (Mode::Ask, &[], vec![net.clone(), exec(WritesInside)], false),
            (Mode::Ask, &[(Allow, "net(example.com)")], vec![net.clone(), exec(WritesInside)], false),
            (Mode::Ask, &[], vec![Effect::Write(there.clone()), exec(WritesInside)], false),
            (Mode::Ask, &[(Allow, "write(//there)")], vec![Effect::Write(there.clone()), exec(WritesInside)], false),
            (Mode::Ask, &[], vec![Effect::Read(there.clone()), exec(WritesInside)], false),
            // It is hidden, guarded, privileged, or nobody knows what it is.
            (Mode::Ask, &[], vec![read(".env"), exec(WritesInside)], false),
            (Mode::Ask, &[(Ask, "read(b)")], vec![read("b"), exec(WritesInside)], false),
            (Mode::Ask, &[], vec![write(".git/config"), exec(WritesInside)], false),
            (Mode::Ask, &[], vec![exec(WritesInside), exec(Destructive)], false),
            (Mode::Ask, &[], vec![exec(Opaque)], false),
            (Mode::Ask, &[], vec![exec(Misparse)], false),
            (Mode::Ask, &[], vec![exec(Forbidden)], false),
            (Mode::Ask, &[], vec![exec(WritesInside), Effect::Spawn("agent".into())], false),
            // It runs nothing.
            (Mode::Ask, &[], vec![write("b")], false),
        ] {
            let said = format!("{mode} {rules:?} {effects:?}");
            assert_eq!(verdict(mode, rules, effects).rehearsal().is_some(), want, "{said}");
        }
    }

    #[test]
    fn what_a_hook_asks_about_waits_and_a_permit_to_rehearse_covers_no_write() {
        let plain =
            verdict(Mode::Ask, &[], vec![Effect::Write(Place::inside("/r", "b")), exec(ExecKind::WritesInside)]);
        let permit = plain.rehearsal().expect("it is rehearsed");
        let path = std::path::Path::new("/r/b");
        assert!(permit.rehearses() && !permit.covers_write(path) && permit.declares_write(path));
        assert_eq!(permit.answered_by(), None);
        let hook = Source::Hook { program: "check".into(), at: "hooks:1".into(), why: String::new() };
        let reason = Reason { source: hook, ..plain.reasons[0].clone() };
        assert!(plain.raised(reason).rehearsal().is_none());
    }
}
