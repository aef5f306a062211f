//! The proof that a verdict was asked and said yes.
//!
//! Fields are private and nothing outside this crate can build one, so a function that takes a
//! `&Permit` cannot be called without a decision. It also says *for what*: the host checks each act
//! against it, and a tool that does more than it declared is refused there.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::effect::{Effect, Effects, ExecKind, Extent, Place};
use crate::mode::Stance;
use crate::path::is_secret;
use crate::pattern::Below;
use crate::policy::Policy;
use crate::rule::RuleKind;
use crate::verdict::{Decision, Reason};

/// A person's answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Go ahead, this once.
    Yes {
        /// Who said so, for the journal.
        who: String,
    },
    /// Do not.
    No {
        /// Who said so.
        who: String,
        /// In their words; the model reads it.
        why: Option<String>,
    },
}

/// What one call may do.
#[derive(Debug)]
pub struct Permit {
    effects: Effects,
    /// Paths of single writes: a call may name thousands, and each is asked for again.
    written: HashSet<OsString>,
    policy: Policy,
    stance: Stance,
    answered_by: Option<String>,
    /// Whether what is done under it must not count: a command may run over a layer, and the layer is not applied.
    rehearses: bool,
}

impl Permit {
    pub(crate) fn new(effects: Effects, policy: Policy, stance: Stance, answered_by: Option<String>) -> Permit {
        let single = effects.all.iter().filter_map(|effect| match effect {
            Effect::Write(place) if place.extent == Extent::One => Some(place.path.clone().into_os_string()),
            _ => None,
        });
        let written = single.collect();
        Permit { effects, written, policy, stance, answered_by, rehearses: false }
    }

    /// The same, for trying what was declared where nothing of it counts.
    pub(crate) fn for_rehearsal(self) -> Permit {
        Permit { rehearses: true, ..self }
    }

    /// Whether nothing that is done under it may be put in force: it was made before anybody said yes.
    pub fn rehearses(&self) -> bool {
        self.rehearses
    }

    /// What was declared and allowed.
    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    /// Who answered, when a person had to.
    pub fn answered_by(&self) -> Option<&str> {
        self.answered_by.as_deref()
    }

    /// Whether the resolved absolute `path` may be read. A write includes the look before it.
    pub fn covers_read(&self, path: &Path) -> bool {
        if self.written.contains(path.as_os_str()) {
            return true;
        }
        self.effects.all.iter().any(|effect| match effect {
            Effect::Read(place) => covers(place, path) && !self.withholds_in(place, path),
            Effect::Write(place) => covers(place, path),
            _ => false,
        })
    }

    /// Whether the resolved absolute `path` may be written.
    pub fn covers_write(&self, path: &Path) -> bool {
        !self.rehearses && self.declares_write(path)
    }

    /// Whether the call said that it writes the resolved absolute `path`. It may be written only where
    /// [`Permit::covers_write`] says so, too.
    pub fn declares_write(&self, path: &Path) -> bool {
        if self.written.contains(path.as_os_str()) {
            return true;
        }
        self.effects.all.iter().any(|effect| match effect {
            Effect::Write(place) => covers(place, path),
            _ => false,
        })
    }

    /// Whether the call said that it writes the resolved absolute `path` or the directory around it, and was judged for
    /// that: more than that it may change anything in a root.
    pub fn names_write(&self, path: &Path) -> bool {
        if self.written.contains(path.as_os_str()) {
            return true;
        }
        let is_root = |place: &Place| place.below_root.as_ref().is_some_and(|below| below.as_os_str().is_empty());
        self.effects.all.iter().any(|effect| match effect {
            Effect::Write(place) => covers(place, path) && !(place.extent == Extent::Tree && is_root(place)),
            _ => false,
        })
    }

    /// Whether a command was allowed that may change what lies in the roots. Which paths those will be nobody can
    /// say beforehand: the sandbox holds it to the roots, and a layer over a root shows what they were.
    pub fn covers_changes_of_a_command(&self) -> bool {
        let all = &self.effects.all;
        let runs = |effect: &Effect| matches!(effect, Effect::Exec(_));
        let changes = |effect: &Effect| match effect {
            Effect::Exec(exec) => exec.kind != ExecKind::ReadOnly,
            Effect::Write(_) | Effect::Net(_) => true,
            _ => false,
        };
        all.iter().any(runs) && all.iter().any(changes)
    }

    /// Whether a rule keeps a change of `place` that a command made without having named it from counting: it denies
    /// the change, or would have it asked about. A directory counts as what lies in it.
    pub fn forbids_change(&self, place: &Place, is_directory: bool) -> bool {
        self.rule_on_change(place, is_directory).is_some()
    }

    /// Whether [`Permit::forbids_change`] only as a rule would have the change asked about.
    pub fn would_ask_about_change(&self, place: &Place, is_directory: bool) -> bool {
        self.rule_on_change(place, is_directory) == Some(RuleKind::Ask)
    }

    fn rule_on_change(&self, place: &Place, is_directory: bool) -> Option<RuleKind> {
        let tool = &self.effects.tool;
        let own = self.policy.rule_on_change(place, tool)?;
        if !is_directory {
            return Some(own);
        }
        let below = self.policy.rule_on_change(&place.clone().tree(), tool)?;
        Some(if own == RuleKind::Ask { own } else { below })
    }

    /// What rules leave of the changes that a command may make below `root`.
    pub fn changes_left(&self, root: &Place) -> ChangesLeft {
        if self.policy.forbids_changes() {
            return ChangesLeft::None;
        }
        match self.policy.rule_on_changes_in(root, &self.effects.tool) {
            Some(RuleKind::Deny) => ChangesLeft::Some,
            Some(_) => ChangesLeft::Asked,
            None => ChangesLeft::All,
        }
    }

    /// Whether `host` may be reached.
    pub fn covers_net(&self, host: &str) -> bool {
        self.effects.all.iter().any(|effect| matches!(effect, Effect::Net(name) if name == host))
    }

    /// Whether a page of `host` may be looked at, sending nothing but its address.
    pub fn covers_fetch(&self, host: &str) -> bool {
        let looks = |effect: &Effect| matches!(effect, Effect::Fetch(name) if name == host);
        self.covers_net(host) || self.effects.all.iter().any(looks)
    }

    /// This permit and one effect more, where the same rules and stance allow that without a question: a page that
    /// leads to another host. With it, what allowed it; what is not allowed says why.
    pub fn also(&self, effect: Effect) -> Result<(Permit, Reason), Box<Reason>> {
        let reason = self.policy.judge_one(&self.stance, &effect, &self.effects.tool);
        if reason.decision != Decision::Allow {
            return Err(Box::new(reason));
        }
        let effects = self.effects.clone().and(effect);
        let permit = Permit::new(effects, self.policy.clone(), self.stance, self.answered_by.clone());
        Ok((Permit { rehearses: self.rehearses, ..permit }, reason))
    }

    /// What a command that was allowed to reach any host must not reach all the same: hosts that a rule denies or
    /// asks about. A host that this call names itself was judged by its name.
    pub fn withheld_hosts(&self) -> Vec<String> {
        self.policy.restricted_hosts().map(ToString::to_string).collect()
    }

    /// Whether the declared tree read that holds `path` keeps this entry back: a secret, or what a
    /// deny or ask rule names. A tree search asks this before it opens anything.
    pub fn withholds(&self, path: &Path) -> bool {
        !self.effects.all.iter().any(|effect| match effect {
            Effect::Read(place) => covers(place, path) && !self.withholds_in(place, path),
            _ => false,
        })
    }

    /// The filter of a tree search that was declared as a read of `tree`. Names alone are less than
    /// contents: a listing shows that a secret is there, a search does not look into it.
    pub fn tree_filter(&self, tree: &Place, what: Looking) -> TreeFilter<'_> {
        let rules = self.policy.restricts_reads();
        TreeFilter { permit: self, tree: tree.clone(), secrets: what == Looking::IntoFiles, rules }
    }

    /// Whether a deny or ask rule speaks of reading paths at all.
    pub fn hides_by_rule(&self) -> bool {
        self.policy.restricts_paths()
    }

    /// Whether a rule keeps `place` from being read without a question: what commands must not see either,
    /// whatever way they take to it. What this call itself was allowed to read is not hidden from it.
    pub fn hides(&self, place: &Place) -> bool {
        let reads =
            |effect: &Effect| matches!(effect, Effect::Read(of) if of.extent == Extent::One && of.path == place.path);
        self.is_ruled_out(&Effect::Read(place.clone())) && !self.effects.all.iter().any(reads)
    }

    /// Entries that rules withhold and name by their place in the file system, wherever that is; with each, whether it is
    /// withheld itself, or only what is below it.
    pub fn withheld_entries(&self) -> Vec<(PathBuf, bool)> {
        self.policy.restricted_entries().map(|(path, below)| (path, below == Below::Too)).collect()
    }

    /// Whether a rule, and not the mode, keeps `effect` from happening without a question.
    pub fn is_ruled_out(&self, effect: &Effect) -> bool {
        let reason = self.policy.judge_one(&self.stance, effect, &self.effects.tool);
        matches!(reason.source, crate::Source::Rule { .. }) && reason.decision > Decision::Allow
    }

    /// Whether an error may mention that `place` exists: only what a read would show without a question.
    pub fn may_mention(&self, place: Place) -> bool {
        !is_secret(&place.path)
            && self.policy.judge_one(&self.stance, &Effect::Read(place), &self.effects.tool).decision == Decision::Allow
    }

    fn withholds_in(&self, place: &Place, path: &Path) -> bool {
        if place.extent == Extent::One || path == place.path {
            return false;
        }
        if is_secret(path) {
            return true;
        }
        if !self.policy.restricts_reads() {
            return false;
        }
        let Ok(below) = path.strip_prefix(&place.path) else { return true };
        let entry = place.entry(path, below);
        self.policy.judge_one(&self.stance, &Effect::Read(entry), &self.effects.tool).decision
            > self.tree_decision(place)
    }

    /// What the tree itself was judged as: a person who said yes to it said yes to its plain files.
    fn tree_decision(&self, place: &Place) -> Decision {
        match self.answered_by {
            None => Decision::Allow,
            Some(_) => self.policy.judge_one(&self.stance, &Effect::Read(place.clone()), &self.effects.tool).decision,
        }
    }
}

/// What rules leave of the changes that a command may make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesLeft {
    /// Whatever its mode lets it.
    All,
    /// What no rule would have asked about: which they were is only known afterwards, too.
    Asked,
    /// Some: which they were is only known afterwards, so it has to run over a layer.
    Some,
    /// None.
    None,
}

/// What a tree search looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looking {
    /// Names, sizes, times.
    AtNames,
    /// Contents.
    IntoFiles,
}

/// What a tree search leaves out, asked for every entry of the tree.
#[derive(Debug)]
pub struct TreeFilter<'p> {
    permit: &'p Permit,
    tree: Place,
    secrets: bool,
    rules: bool,
}

impl TreeFilter<'_> {
    /// Whether anything at all may be withheld.
    pub fn is_idle(&self) -> bool {
        !self.secrets && !self.rules
    }

    /// Whether the entry at `path` is kept back; `below_tree` is the part of it below the tree.
    pub fn withholds(&self, path: &Path, below_tree: &Path) -> bool {
        // The whole path: `config.json` is a secret in `.docker`, also when the search begins there.
        let secret = self.secrets && is_secret(path);
        if secret || !self.rules {
            return secret;
        }
        let effect = Effect::Read(self.tree.entry(path, below_tree));
        let reason = self.permit.policy.judge_one(&self.permit.stance, &effect, &self.permit.effects.tool);
        let raised = reason.decision > self.permit.tree_decision(&self.tree);
        // What only its being a secret raises, by asking or by a mode that asks nobody, does not hide a name.
        let denied_by_rule = reason.decision == Decision::Deny && matches!(reason.source, crate::Source::Rule { .. });
        raised && (self.secrets || !is_secret(path) || denied_by_rule)
    }
}

fn covers(place: &Place, path: &Path) -> bool {
    match place.extent {
        Extent::One => place.path == path,
        Extent::Tree => path.starts_with(&place.path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Exec;
    use crate::mode::Mode;
    use crate::policy::{Layer, LayeredRule};
    use crate::rule::Rule;

    /// The permit of a command that may change what lies in `/r`, under these rules.
    fn permit(rules: &[(RuleKind, &str)]) -> Permit {
        let rules = rules.iter().map(|(kind, text)| LayeredRule {
            kind: *kind,
            rule: Rule::parse(text, Some("/home/dev")).expect("parses"),
            layer: Layer::User,
            at: "test:1".into(),
        });
        let exec = Exec::plain(vec![vec!["sh".into(), "x.sh".into()]], ExecKind::WritesInside, "");
        let verdict = Policy::new(rules.collect(), true)
            .judge(&Stance::from(Mode::Workspace), &Effects::one(Effect::Exec(exec)).of("bash"));
        verdict.permit(Some(Answer::Yes { who: "test".into() })).expect("a yes")
    }

    #[test]
    fn a_rule_on_a_part_of_the_root_bounds_what_a_command_may_change() {
        use RuleKind::{Allow, Ask, Deny};
        let root = Place::inside("/r", "");
        for (rules, want) in [
            (&[][..], ChangesLeft::All),
            (&[(Deny, "write(docs/**)")], ChangesLeft::Some),
            (&[(Deny, "write(*.lock)")], ChangesLeft::Some),
            (&[(Deny, "write(//r/docs/**)")], ChangesLeft::Some),
            (&[(Deny, "write(**)")], ChangesLeft::Some),
            (&[(Ask, "write(docs/**)")], ChangesLeft::Asked),
            (&[(Ask, "write(docs/**)"), (Deny, "write(src/a)")], ChangesLeft::Some),
            (&[(Deny, "write(//etc/**)")], ChangesLeft::All),
            (&[(Deny, "write(~/.ssh/**)")], ChangesLeft::All),
            (&[(Allow, "write(docs/**)"), (Deny, "read(docs/**)")], ChangesLeft::All),
            (&[(Ask, "tool(bash)")], ChangesLeft::All),
            (&[(Ask, "exec(sh *)")], ChangesLeft::All),
        ] {
            assert_eq!(permit(rules).changes_left(&root), want, "{rules:?}");
        }
    }

    #[test]
    fn what_a_rule_denies_or_asks_about_does_not_count_unasked() {
        let permit = permit(&[
            (RuleKind::Deny, "write(docs/**)"),
            (RuleKind::Ask, "write(src/gen/**)"),
            (RuleKind::Ask, "write(docs/**)"),
            (RuleKind::Ask, "tool(bash)"),
        ]);
        let place = |below: &str| Place::inside("/r", below);
        for (below, is_directory, want) in [
            ("docs/a", false, Some(false)),
            ("docs/sub", true, Some(false)),
            ("docs", true, None),
            ("src/gen/a.rs", false, Some(true)),
            ("src/gen", true, None),
            ("src/gen/deep", true, Some(true)),
            ("src/a.rs", false, None),
        ] {
            let place = place(below);
            assert_eq!(permit.forbids_change(&place, is_directory), want.is_some(), "{below}");
            assert_eq!(permit.would_ask_about_change(&place, is_directory), want == Some(true), "{below}");
        }
    }
}
