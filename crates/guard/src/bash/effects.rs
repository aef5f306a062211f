//! From what was found in a command to the effects that the policy judges.
//!
//! One effect a simple command, so that each is judged by itself and a rule answers only for what it names;
//! then the places that they touch, and the hosts that they reach.

use super::analysis::{Analysis, Command, is_public, is_sink};
use super::fact::{Fact, Target};
use super::finding::{FINDINGS, Outcome};
use crate::{Effect, Effects, Exec, ExecKind, Place};

/// Any host: what a command reaches that does not say which.
pub const ANY_HOST: &str = "*";

impl Analysis {
    /// The effects. `place` says where a path leads: the host follows links, a dry judgement takes it as written.
    pub fn effects(&self, place: &dyn Fn(&Target) -> Place) -> Effects {
        let mut all: Vec<Effect> = self.commands.iter().map(|command| Effect::Exec(exec(command))).collect();
        // What belongs to no simple command is judged by itself: no rule on a command answers for it.
        if self.loose > ExecKind::ReadOnly || self.commands.is_empty() {
            all.push(Effect::Exec(Exec::plain(Vec::new(), self.loose, self.why())));
        }
        for fact in &self.facts {
            let effect = match fact {
                Fact::Read(target) if !is_public(target) => Effect::Read(place(target)),
                Fact::Write(target) if !is_sink(&target.path) => {
                    Effect::Write(Place { redirected: target.redirected, ..place(target) })
                }
                Fact::Delete(target) => Effect::Write(place(target)),
                Fact::Net(host) => Effect::Net(host.clone().unwrap_or_else(|| ANY_HOST.to_owned())),
                _ => continue,
            };
            if !all.contains(&effect) {
                all.push(effect);
            }
        }
        // Where a redirection writes the same place, that is held to more rules, and is the one to be asked about.
        let redirected: Vec<Place> = all.iter().filter_map(redirection).collect();
        all.retain(|effect| !matches!(effect, Effect::Write(place) if redirected.contains(place)));
        Effects { tool: String::new(), all }
    }

    /// What made the text as a whole what it is: a finding, or what it does.
    fn why(&self) -> String {
        let raised = |code: &str| FINDINGS.iter().flat_map(|rows| rows.iter()).find(|row| row.code == code)?.raises;
        let of_kind = |outcome: Outcome, code| outcome >= Outcome::Ask && raised(code) == Some(self.loose);
        let found = self.findings.iter().find(|finding| of_kind(finding.outcome, finding.code));
        let told = || self.facts.iter().find_map(|fact| reason(fact, self.loose));
        found.map(|finding| finding.why.clone()).or_else(told).unwrap_or_default()
    }
}

/// The place of a redirection, as a command alone would write it.
fn redirection(effect: &Effect) -> Option<Place> {
    match effect {
        Effect::Write(place) if place.redirected => Some(Place { redirected: false, ..place.clone() }),
        _ => None,
    }
}

/// One simple command, and the reason for its kind.
fn exec(command: &Command) -> Exec {
    // A host that is named is judged as a host; the rest of the command by what else it does.
    let named = |fact: &Fact| matches!(fact, Fact::Net(Some(_)));
    let only_net = command.kind == ExecKind::Opaque
        && command.facts.iter().any(named)
        && !command.facts.iter().any(|fact| !named(fact) && is_strict(fact))
        && !command.findings.iter().any(|finding| finding.outcome >= Outcome::Ask);
    let kind = if only_net { ExecKind::WritesInside } else { command.kind };
    let why = command.facts.iter().find_map(|fact| reason(fact, command.kind));
    let found = || command.findings.iter().find(|finding| finding.outcome >= Outcome::Ask);
    let why = why.or_else(|| found().map(|finding| finding.why.clone())).unwrap_or_default();
    Exec { commands: vec![command.argv.clone()], sets: command.sets.clone(), kind, why }
}

/// Whether a fact alone makes a command opaque or worse.
fn is_strict(fact: &Fact) -> bool {
    !matches!(fact, Fact::Read(_) | Fact::Write(_) | Fact::Delete(_) | Fact::Code(_))
}

/// The fact's words, if it makes a command what it is.
fn reason(fact: &Fact, kind: ExecKind) -> Option<String> {
    let (of, why) = match fact {
        Fact::Code(why) => (ExecKind::WritesInside, why),
        Fact::Opaque(why) | Fact::System(why) => (ExecKind::Opaque, why),
        Fact::Privilege(why) | Fact::Destroys(_, why) => (ExecKind::Destructive, why),
        Fact::Forbidden(_, why) => (ExecKind::Forbidden, why),
        Fact::Misparse(why) => (ExecKind::Misparse, why),
        Fact::Net(Some(host)) => return (kind == ExecKind::Opaque).then(|| format!("it reaches {host}")),
        Fact::Net(None) => return (kind == ExecKind::Opaque).then(|| "it reaches the network".to_owned()),
        Fact::Read(_) | Fact::Write(_) | Fact::Delete(_) => return None,
    };
    (of == kind).then(|| why.clone())
}
