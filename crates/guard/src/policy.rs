//! Rules of every layer, and the one function that judges.
//!
//! Precedence, for each effect: a deny from anywhere is final; then what the mode table denies;
//! then floors, which nothing lowers; then ask rules; then an allow rule, which answers a `?` and
//! nothing else; then the table. The call's verdict is the strictest of its effects.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::bash::Scratch;
use crate::effect::{Effect, Effects, ExecKind, Place};
use crate::mode::{Act, Cell, Stance};
use crate::path::classify;
use crate::pattern::Below;
use crate::rule::{HostPattern, Rule, RuleKind, Subject};
use crate::verdict::{BY_MODE, Decision, Reason, Source, Verdict};
use crate::web::Listed;

/// Who brought a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layer {
    /// This program: nobody can change it.
    BuiltIn,
    /// The machine's administrator.
    Managed,
    /// The person.
    User,
    /// The repository. May tighten at once; loosens only when trusted.
    Project,
    /// The person's own file inside the repository; trusted as the repository is.
    Local,
    /// The command line.
    CommandLine,
    /// A person's *always*, kept for this session.
    Session,
}

impl Layer {
    /// Whether its rules come out of the working tree, where a commit may bring them.
    pub fn is_repository(self) -> bool {
        matches!(self, Layer::Project | Layer::Local)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::BuiltIn => "built-in",
            Layer::Managed => "managed",
            Layer::User => "user",
            Layer::Project => "project",
            Layer::Local => "local",
            Layer::CommandLine => "command-line",
            Layer::Session => "session",
        })
    }
}

/// A rule with what it does and where it came from.
#[derive(Debug, Clone)]
pub struct LayeredRule {
    /// What it does.
    pub kind: RuleKind,
    /// What it says.
    pub rule: Rule,
    /// Who brought it.
    pub layer: Layer,
    /// `file:line`, or what stands for it.
    pub at: String,
}

/// Every rule in force. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: Arc<[LayeredRule]>,
    restricts_reads: bool,
    listed: Listed,
}

impl Policy {
    /// The rules in force. What a repository brings loosens nothing until it is `trusted`.
    pub fn new(rules: Vec<LayeredRule>, trusted: bool) -> Policy {
        let rules: Vec<LayeredRule> = rules
            .into_iter()
            .filter(|rule| trusted || !rule.layer.is_repository() || rule.kind != RuleKind::Allow)
            .collect();
        let restricts_reads = rules.iter().any(|rule| {
            rule.kind != RuleKind::Allow
                && matches!(rule.rule.subject, Subject::Read(_) | Subject::Tool(_) | Subject::Elsewhere(_))
        });
        Policy { rules: rules.into(), restricts_reads, listed: Listed::default() }
    }

    /// This policy with another list of hosts whose pages may be looked at.
    pub fn listing(self, listed: Listed) -> Policy {
        Policy { listed, ..self }
    }

    /// This policy with more rules, for one session.
    pub fn with(&self, more: Vec<LayeredRule>) -> Policy {
        Policy::new(self.rules.iter().cloned().chain(more).collect(), true).listing(self.listed.clone())
    }

    /// The rules in force.
    pub fn rules(&self) -> &[LayeredRule] {
        &self.rules
    }

    /// Whether a deny or ask rule speaks of reading paths.
    pub(crate) fn restricts_paths(&self) -> bool {
        self.rules.iter().any(|rule| rule.kind != RuleKind::Allow && matches!(rule.rule.subject, Subject::Read(_)))
    }

    /// The entries that a rule on reading denies or asks about and names by their place in the file system.
    pub(crate) fn restricted_entries(&self) -> impl Iterator<Item = (PathBuf, Below)> {
        self.rules.iter().filter(|rule| rule.kind != RuleKind::Allow).filter_map(|rule| match &rule.rule.subject {
            Subject::Read(pattern) => pattern.entry_outside(),
            _ => None,
        })
    }

    /// The hosts that a rule denies or asks about.
    pub(crate) fn restricted_hosts(&self) -> impl Iterator<Item = &HostPattern> {
        self.rules.iter().filter(|rule| rule.kind != RuleKind::Allow).filter_map(|rule| match &rule.rule.subject {
            Subject::Net(pattern) => Some(pattern),
            _ => None,
        })
    }

    /// Whether a rule leaves nothing that may be written.
    pub(crate) fn forbids_changes(&self) -> bool {
        self.rules.iter().any(|rule| match &rule.rule.subject {
            Subject::Elsewhere(permits) => rule.kind == RuleKind::Deny && !permits.writes_anything(),
            _ => false,
        })
    }

    /// What rules on paths say of a change of `place` that a command made without having named it: denied, or to be
    /// asked about. Rules on a tool or a command were answered when the call was.
    pub(crate) fn rule_on_change(&self, place: &Place, tool: &str) -> Option<RuleKind> {
        let effect = Effect::Write(place.clone());
        let says = |kind| {
            self.rules.iter().any(|rule| {
                let counts = kind == RuleKind::Deny || rule.rule.speaks_of_changes();
                rule.kind == kind && counts && rule.rule.touches(&effect, tool)
            })
        };
        [RuleKind::Deny, RuleKind::Ask].into_iter().find(|kind| says(*kind))
    }

    /// What rules may say of some change in the directory `root`, the strictest of it.
    pub(crate) fn rule_on_changes_in(&self, root: &Place, tool: &str) -> Option<RuleKind> {
        let everything = Effect::Write(root.clone().tree());
        let may_touch = |rule: &LayeredRule| match &rule.rule.subject {
            Subject::Write(pattern) => pattern.may_match_in(root),
            _ if rule.kind == RuleKind::Deny || rule.rule.speaks_of_changes() => rule.rule.touches(&everything, tool),
            _ => false,
        };
        let says = |kind| self.rules.iter().any(|rule| rule.kind == kind && may_touch(rule));
        [RuleKind::Deny, RuleKind::Ask].into_iter().find(|kind| says(*kind))
    }

    pub(crate) fn restricts_reads(&self) -> bool {
        self.restricts_reads
    }

    /// The rule that removes `tool` from the pool, if one does.
    pub fn removes_tool(&self, tool: &str) -> Option<&LayeredRule> {
        self.rules.iter().find(|rule| rule.kind == RuleKind::Deny && rule.rule.names_tool(tool))
    }

    /// The verdict for a call.
    pub fn judge(&self, stance: &Stance, effects: &Effects) -> Verdict {
        let mut reasons: Vec<Reason> =
            effects.all.iter().map(|effect| self.judge_one(stance, effect, &effects.tool)).collect();
        covered_by_commands(&effects.all, &mut reasons);
        outside_the_sandbox(&effects.all, &mut reasons);
        Verdict::new(effects.clone(), reasons, self.clone(), *stance)
    }

    /// The verdict's share for one effect.
    pub(crate) fn judge_one(&self, stance: &Stance, effect: &Effect, tool: &str) -> Reason {
        let find = |kind| self.rules.iter().find(|rule| rule.kind == kind && rule.rule.touches(effect, tool));
        let (act, cell) = acts(effect, tool)
            .into_iter()
            .map(|act| (act, act.under(stance)))
            .max_by_key(|(_, cell)| Decision::from(*cell))
            .expect("every effect is at least one act");
        let by_mode = |decision| self.reason(decision, (effect, tool), act, Source::Mode(*stance), stance);
        let by_rule = |decision, rule: &LayeredRule| {
            let source = Source::Rule { text: rule.rule.text.clone(), layer: rule.layer, at: rule.at.clone() };
            self.reason(decision, (effect, tool), act, source, stance)
        };
        if let Some(rule) = find(RuleKind::Deny) {
            return by_rule(Decision::Deny, rule);
        }
        if cell == Cell::Deny || cell == Cell::Floor {
            return by_mode(cell.into());
        }
        if let Some(rule) = find(RuleKind::Ask) {
            return by_rule(Decision::Ask, rule);
        }
        if cell == Cell::Ask {
            let allowing = self.rules.iter().find(|rule| rule.kind == RuleKind::Allow && rule.rule.holds(effect, tool));
            let listed = match effect {
                Effect::Fetch(host) => self.listed.holds(host),
                _ => None,
            };
            return match (allowing, listed) {
                (Some(rule), _) => by_rule(Decision::Allow, rule),
                (None, Some(by)) => self.reason(Decision::Allow, (effect, tool), act, Source::Listed(by), stance),
                (None, None) => self
                    .allowed_together(effect, tool)
                    .map_or_else(|| by_mode(Decision::Ask), |rule| by_rule(Decision::Allow, rule)),
            };
        }
        by_mode(Decision::Allow)
    }

    /// Several allow rules may cover the commands of one line between them; each command needs one.
    fn allowed_together(&self, effect: &Effect, tool: &str) -> Option<&LayeredRule> {
        let Effect::Exec(exec) = effect else { return None };
        let mut first = None;
        for argv in &exec.commands {
            let single = Effect::Exec(exec.alone(argv));
            let rule = self.rules.iter().find(|rule| rule.kind == RuleKind::Allow && rule.rule.holds(&single, tool))?;
            first.get_or_insert(rule);
        }
        first
    }

    fn reason(
        &self,
        decision: Decision,
        (effect, tool): (&Effect, &str),
        act: Act,
        source: Source,
        stance: &Stance,
    ) -> Reason {
        let mut title = act.title().to_owned();
        if let Effect::Read(place) | Effect::Write(place) = effect {
            let class = classify(&place.path);
            let why = match act {
                Act::ReadSecret => class.secret,
                Act::WriteGuarded => place.guarded.or(class.asked()),
                _ => None,
            };
            if let Some(why) = why {
                title = format!("{title}: {why}");
            }
        }
        if let Effect::Exec(exec) = effect
            && !exec.why.is_empty()
        {
            title = format!("{title}: {}", exec.why);
        }
        let remedy = remedy(decision, (effect, tool), act, &source, stance);
        Reason {
            decision,
            effect: effect.to_string(),
            act: title,
            source,
            remedy,
            rule: (decision != Decision::Allow).then(|| effect.rule()).flatten(),
        }
    }
}

impl From<Cell> for Decision {
    fn from(cell: Cell) -> Decision {
        match cell {
            Cell::Allow => Decision::Allow,
            Cell::Ask => Decision::Ask,
            Cell::Floor => Decision::Floor,
            Cell::Deny => Decision::Deny,
        }
    }
}

/// A rule that lets a command run lets it write inside, where its sandbox keeps it: that is no second question.
/// What a rule says about the place, or what is guarded or outside, stays as it is; and where its output is redirected to, the
/// rule on the command does not say.
fn covered_by_commands(effects: &[Effect], reasons: &mut [Reason]) {
    let pairs = || effects.iter().zip(reasons.iter());
    let commands = || pairs().filter(|(effect, _)| matches!(effect, Effect::Exec(_))).map(|(_, reason)| reason);
    if !commands().all(|reason| reason.decision == Decision::Allow) {
        return;
    }
    let by_rule = |reason: &&Reason| matches!(reason.source, Source::Rule { .. });
    let Some(source) = commands().find(by_rule).map(|reason| reason.source.clone()) else { return };
    for (effect, reason) in effects.iter().zip(reasons.iter_mut()) {
        let inside =
            matches!(effect, Effect::Write(place) if !place.redirected) && acts(effect, "") == [Act::WriteInside];
        if inside && reason.decision == Decision::Ask && matches!(reason.source, Source::Mode(_)) {
            (reason.decision, reason.source) = (Decision::Allow, source.clone());
            (reason.remedy, reason.rule) = (Vec::new(), None);
        }
    }
}

/// What writes only inside by its words is held to them by nothing where the call runs without the sandbox: so it is said.
fn outside_the_sandbox(effects: &[Effect], reasons: &mut [Reason]) {
    let is_unconfined = |effect: &Effect| matches!(effect, Effect::Exec(exec) if exec.kind == ExecKind::Unconfined);
    if !effects.iter().any(is_unconfined) {
        return;
    }
    for reason in reasons {
        if let Some(why) = reason.act.strip_prefix(Act::ExecInside.title()) {
            reason.act = format!("{BY_ITS_WORDS}{why}");
        }
    }
}

/// What stands for the title of [`Act::ExecInside`] where there is no sandbox.
const BY_ITS_WORDS: &str = "exec, writes only inside by its words, not sandboxed";

/// What an effect amounts to. A path may be several things at once; the strictest counts.
fn acts(effect: &Effect, tool: &str) -> Vec<Act> {
    let place_acts = |place: &Place, inside: Act, special: Option<Act>| {
        let base = match place.below_root.is_some() || place.scratch {
            true => inside,
            // It is the command's own as far as its sandbox makes it so.
            false if place.unclaimed => Act::ExecInside,
            false => Act::ReachOutside,
        };
        std::iter::once(base).chain(special).collect()
    };
    match effect {
        Effect::Read(place) => {
            let secret = classify(&place.path).secret.is_some();
            place_acts(place, Act::ReadInside, secret.then_some(Act::ReadSecret))
        }
        Effect::Write(place) => {
            let class = classify(&place.path);
            // A write that replaces a tree takes what lies in it along; a `.git` or `.nika` below it is
            // not named here, so the host refuses to move or delete a directory that holds one.
            // What undo takes back a command was allowed to do: git wrote its own files, and only their name is asked
            // about. What is guarded whoever writes it is a question for undo, too, unless it was none for the call.
            let by_name = match tool {
                "undo" if place.taken_back => None,
                "undo" => class.guarded,
                _ => class.asked(),
            };
            let why = by_name.or(place.guarded);
            let special = why.is_some().then_some(Act::WriteGuarded);
            place_acts(place, Act::WriteInside, special)
        }
        Effect::Exec(exec) => vec![match exec.kind {
            ExecKind::ReadOnly => Act::ExecReadOnly,
            ExecKind::WritesInside => Act::ExecInside,
            ExecKind::Opaque => Act::ExecOpaque,
            ExecKind::Misparse => Act::ExecMisparse,
            ExecKind::Destructive => Act::ExecDestructive,
            ExecKind::Unconfined => Act::ExecUnconfined,
            ExecKind::Forbidden => Act::ExecForbidden,
        }],
        Effect::Net(_) | Effect::Fetch(_) => vec![Act::Net],
        Effect::Spawn(_) => vec![Act::Spawn],
        Effect::Note(_) => vec![Act::Note],
        Effect::Control(_) => vec![Act::Control],
        Effect::Ask => vec![Act::AskPerson],
        Effect::Session => vec![Act::Session],
        Effect::Foreign { .. } => vec![Act::Foreign],
    }
}

/// How what is asked each time gets its answer.
const BY_A_PERSON: &str = "a person's yes, each time: a client that can ask its user, or a terminal";

/// What would let an effect through that was not.
fn remedy(
    decision: Decision,
    (effect, tool): (&Effect, &str),
    act: Act,
    source: &Source,
    stance: &Stance,
) -> Vec<String> {
    if decision == Decision::Allow {
        return Vec::new();
    }
    if let Source::Rule { text, layer, at } = source {
        let changing = (*layer != Layer::BuiltIn).then(|| format!("changing the rule `{text}` at {at}"));
        return (decision != Decision::Deny).then(|| BY_A_PERSON.to_owned()).into_iter().chain(changing).collect();
    }
    let mut ways = Vec::new();
    if let Some(mode) = act.allowed_by().filter(|mode| *mode != stance.mode) {
        ways.push(format!("{BY_MODE}{mode}"));
    }
    if act == Act::ExecDestructive {
        ways.push("--unsafe".to_owned());
    }
    if decision == Decision::Ask {
        ways.extend(effect.rule().map(|rule| format!("the allow rule `{rule}`")));
    }
    if decision == Decision::Floor {
        ways.push(BY_A_PERSON.to_owned());
    }
    // What a command writes there is its own, unless somebody has the name already.
    if act == Act::ReachOutside
        && COMMANDS.contains(&tool)
        && matches!(effect, Effect::Write(place) if Scratch::private().holds(&place.path))
    {
        ways.push("a name there that nobody else has".to_owned());
    }
    ways
}

/// The tools whose effects are a command's.
const COMMANDS: [&str; 2] = ["bash", "exec"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mode::Mode;
    use proptest::prelude::*;

    fn policy(rules: &[(RuleKind, &str)]) -> Policy {
        layered(&rules.iter().map(|(kind, text)| (*kind, *text, Layer::User)).collect::<Vec<_>>(), true)
    }

    fn layered(rules: &[(RuleKind, &str, Layer)], trusted: bool) -> Policy {
        let rules = rules
            .iter()
            .map(|(kind, text, layer)| LayeredRule {
                kind: *kind,
                rule: Rule::parse(text, None).expect("parses"),
                layer: *layer,
                at: "test:1".into(),
            })
            .collect();
        Policy::new(rules, trusted)
    }

    #[test]
    fn what_a_rule_asks_about_is_let_through_by_a_person_and_what_it_denies_only_by_another_rule() {
        for (kind, ways) in [(RuleKind::Ask, 2), (RuleKind::Deny, 1)] {
            let policy = policy(&[(kind, "write(docs/**)")]);
            let verdict = policy.judge(&Stance::from(Mode::AcceptAll), &Effects::one(write("docs/a")).of("edit"));
            let remedy = &verdict.decisive().expect("a rule decided").remedy;
            assert_eq!(remedy.len(), ways, "{remedy:?}");
            assert_eq!(remedy.last().map(String::as_str), Some("changing the rule `write(docs/**)` at test:1"));
            assert_eq!(remedy.first().is_some_and(|way| way == BY_A_PERSON), kind == RuleKind::Ask);
        }
    }

    #[test]
    fn a_rule_on_a_command_says_nothing_of_where_its_output_goes() {
        let site = crate::bash::Site::on_paper(vec!["/w".into()], "/w".into(), "/home/dev".into());
        let decision = |text: &str, rules: &[(RuleKind, &str)]| {
            let place = |target: &crate::bash::Target| {
                Place::inside("/w", target.path.strip_prefix("/w").expect("it lies inside"))
            };
            let effects = crate::bash::analyse(text, &site).effects(&place).of("bash");
            policy(rules).judge(&Stance::from(Mode::Ask), &effects).decision
        };
        let allow = RuleKind::Allow;
        for text in ["date > main.rs", "git status > main.rs", "date | tee -a x > y", "{ date; } >> z", "date &> x"] {
            let rules = [(allow, "Bash(date:*)"), (allow, "exec(git status*)"), (allow, "exec(tee *)")];
            assert_eq!(decision(text, &rules), Decision::Ask, "{text}");
        }
        assert_eq!(decision("date | tee x", &[(allow, "exec(tee x)"), (allow, "exec(date)")]), Decision::Allow);
        assert_eq!(decision("date > x", &[(allow, "exec(date)"), (allow, "write(/x)")]), Decision::Allow);
        assert_eq!(decision("date 2> /dev/null", &[(allow, "exec(date)")]), Decision::Allow);
    }

    #[test]
    fn what_is_denied_is_denied_in_the_words_of_what_cannot_be_said() {
        let site = crate::bash::Site::on_paper(vec!["/w".into()], "/w".into(), "/home/dev".into());
        let decision = |text: &str| {
            let place = |target: &crate::bash::Target| Place::outside(target.path.clone());
            let effects = crate::bash::analyse(text, &site).effects(&place).of("bash");
            policy(&[(RuleKind::Deny, "exec(git push*)")]).judge(&Stance::from(Mode::AcceptAll), &effects).decision
        };
        for text in [
            "exec -a x git push",
            "bash +x -c 'git push'",
            "env -S 'git push'",
            "git submodule foreach git push",
            "git rebase -x 'git push' main",
            "GIT_EDITOR='git push' git commit",
            "ssh host git push",
        ] {
            assert_eq!(decision(text), Decision::Deny, "{text}");
        }
        for text in ["git commit -m 'git push it'", "grep -rn 'git push' .", "ssh host git pull"] {
            assert_ne!(decision(text), Decision::Deny, "{text}");
        }
    }

    #[test]
    fn nobody_is_told_to_change_a_rule_that_is_built_in() {
        let policy = layered(&[(RuleKind::Ask, "write(docs/**)", Layer::BuiltIn)], true);
        let verdict = policy.judge(&Stance::from(Mode::AcceptAll), &Effects::one(write("docs/a")).of("edit"));
        let reason = verdict.decisive().expect("a rule decided");
        assert_eq!(reason.remedy, [BY_A_PERSON]);
        assert_eq!(reason.source.to_string(), "built-in rule `write(docs/**)` (test:1)");
    }

    fn decide(policy: &Policy, mode: Mode, effect: Effect) -> Decision {
        policy.judge(&Stance::from(mode), &Effects::one(effect).of("edit")).decision
    }

    fn write(path: &str) -> Effect {
        Effect::Write(Place::inside("/r", path))
    }

    fn read(path: &str) -> Effect {
        Effect::Read(Place::inside("/r", path))
    }

    #[test]
    fn precedence_is_deny_then_floor_then_ask_then_allow() {
        use RuleKind::{Allow, Ask, Deny};
        let all = policy(&[
            (Allow, "write(**)"),
            (Ask, "write(docs)"),
            (Deny, "write(docs/secret**)"),
            (Allow, "read(**)"),
            (Allow, "read(//usr/include)"),
        ]);
        for (mode, effect, want) in [
            (Mode::Ask, write("src/a"), Decision::Allow),
            (Mode::Ask, write("docs/a"), Decision::Ask),
            (Mode::AcceptAll, write("docs/a"), Decision::Ask),
            (Mode::AcceptAll, write("docs/secret/a"), Decision::Deny),
            (Mode::ReadOnly, write("src/a"), Decision::Deny),
            (Mode::Ask, write(".git/config"), Decision::Floor),
            (Mode::AcceptAll, write(".nika/config.yaml"), Decision::Floor),
            (Mode::AcceptAll, read(".env"), Decision::Floor),
            (Mode::ReadOnly, read(".env"), Decision::Deny),
            (Mode::Deny, read("a"), Decision::Deny),
            (Mode::Ask, Effect::Read(Place::outside("/etc/hosts")), Decision::Ask),
            (Mode::Ask, Effect::Read(Place::outside("/usr/include/x.h")), Decision::Allow),
            (Mode::Ask, Effect::Write(Place::outside("/etc/hosts")), Decision::Ask),
        ] {
            assert_eq!(decide(&all, mode, effect.clone()), want, "{mode} {effect}");
        }
    }

    #[test]
    fn undo_takes_back_what_git_wrote_itself_and_asks_about_what_is_guarded_whoever_writes() {
        let stance = Stance::from(Mode::Workspace);
        let write = |tool: &str, path: &str| {
            let effects = Effects::write(Place::inside("/r", path)).of(tool);
            Policy::default().judge(&stance, &effects).decision
        };
        assert_eq!((write("undo", ".git/index"), write("write", ".git/index")), (Decision::Allow, Decision::Floor));
        assert_eq!(
            (write("undo", ".git/hooks/x"), write("undo", ".nika/config.yaml")),
            (Decision::Floor, Decision::Floor)
        );
        let back = |tool: &str, place: Place| {
            let effects = Effects::write(Place { taken_back: true, ..place }).of(tool);
            Policy::default().judge(&stance, &effects).decision
        };
        let config = || Place::inside("/r", "new/.git/config");
        assert_eq!(back("undo", config()), Decision::Allow);
        assert_eq!(back("write", config()), Decision::Floor);
        assert_eq!(back("undo", Place { guarded: Some(crate::LED_BY_GIT), ..config() }), Decision::Floor);
        assert_eq!(back("undo", Place::outside("/home/dev/.bashrc")), Decision::Ask);
    }

    #[test]
    fn what_a_repository_brings_tightens_at_once_and_loosens_when_trusted() {
        let rules = [(RuleKind::Allow, "write(**)", Layer::Project), (RuleKind::Deny, "write(a)", Layer::Local)];
        let fresh = layered(&rules, false);
        assert_eq!(decide(&fresh, Mode::Ask, write("b")), Decision::Ask);
        assert_eq!(decide(&fresh, Mode::AcceptAll, write("a")), Decision::Deny);
        let trusted = layered(&rules, true);
        assert_eq!(decide(&trusted, Mode::Ask, write("b")), Decision::Allow);
    }

    #[test]
    fn the_rule_that_is_offered_means_this_effect_and_no_other() {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let exec = |sets: &[&str], argv: &[&str]| {
            let plain = crate::Exec::plain(vec![owned(argv)], ExecKind::Opaque, "");
            Effect::Exec(crate::Exec { sets: owned(sets), ..plain })
        };
        for (effect, rule) in [
            (write("config.json"), Some("write(/config.json)")),
            (write("pages/[id].tsx"), Some("write(/pages/\\[id\\].tsx)")),
            (write("**"), Some("write(/\\*\\*)")),
            (Effect::Read(Place::outside("/etc/hosts")), Some("read(//etc/hosts)")),
            (Effect::Net("docs.rs".into()), Some("net(docs.rs)")),
            (Effect::Spawn("x".into()), None),
            (Effect::Read(Place::inside("/r", "src").tree()), None),
            (exec(&[], &["git", "log"]), Some("exec(git log)")),
            (exec(&[], &["git", "log", "a b"]), Some("exec(git log *)")),
            (exec(&[], &["git", "a b"]), None),
            (exec(&[], &["git"]), Some("exec(git)")),
            // Variables before a command are no words of it.
            (exec(&["A=x"], &["git", "a b"]), None),
            (exec(&["A=x", "B=y"], &["git", "a b"]), None),
            (exec(&["A=x", "B=y z"], &["git", "log"]), None),
            (exec(&["A=x"], &["git", "log", "a b"]), Some("exec(A=x git log *)")),
            (exec(&["A=x"], &["git"]), Some("exec(A=x git)")),
        ] {
            assert_eq!(effect.rule().as_deref(), rule, "{effect}");
        }
        let kept = policy(&[(RuleKind::Allow, &write("config.json").rule().expect("a rule"))]);
        assert_eq!(decide(&kept, Mode::Ask, write("config.json")), Decision::Allow);
        assert_eq!(decide(&kept, Mode::Ask, write("sub/config.json")), Decision::Ask);
    }

    #[test]
    fn a_tool_allowed_by_name_stays_inside_and_one_denied_by_any_name_is_denied() {
        let allowed = policy(&[(RuleKind::Allow, "tool(edit)")]);
        assert_eq!(decide(&allowed, Mode::Ask, write("a")), Decision::Allow);
        assert_eq!(decide(&allowed, Mode::Ask, Effect::Write(Place::outside("/x"))), Decision::Ask);
        let denied = policy(&[(RuleKind::Deny, "tool(Edit)")]);
        assert_eq!(decide(&denied, Mode::AcceptAll, Effect::Write(Place::outside("/x"))), Decision::Deny);
        assert!(denied.removes_tool("edit").is_some());
        let foreign = policy(&[(RuleKind::Deny, "mcp__gh__push"), (RuleKind::Deny, "mcp__bad")]);
        for (tool, gone) in
            [("mcp__gh__push", true), ("mcp__gh__log", false), ("mcp__bad__any", true), ("mcp_call_tool", false)]
        {
            assert_eq!(foreign.removes_tool(tool).is_some(), gone, "{tool}");
        }
    }

    #[test]
    fn a_search_that_begins_beside_a_secret_does_not_see_it() {
        let tree = Place::inside("/r", ".docker").tree();
        let permit =
            policy(&[]).judge(&Stance::from(Mode::Ask), &Effects::read(tree.clone())).permit(None).expect("free");
        let filter = permit.tree_filter(&tree, crate::Looking::IntoFiles);
        assert!(filter.withholds("/r/.docker/config.json".as_ref(), "config.json".as_ref()));
        assert!(!filter.withholds("/r/.docker/notes.txt".as_ref(), "notes.txt".as_ref()));
    }

    #[test]
    fn only_a_rule_that_denies_hides_a_secrets_name() {
        let tree = Place::inside("/r", "").tree();
        for (mode, rule, path, hidden) in [
            (Mode::ReadOnly, (RuleKind::Deny, "read(nothing.txt)"), ".env", false),
            (Mode::ReadOnly, (RuleKind::Ask, "read(nothing.txt)"), ".env", false),
            (Mode::ReadOnly, (RuleKind::Ask, "read(.env)"), ".env", false),
            (Mode::ReadOnly, (RuleKind::Deny, "read(.env)"), ".env", true),
            (Mode::ReadOnly, (RuleKind::Deny, "read(nothing.txt)"), "nothing.txt", true),
            (Mode::Ask, (RuleKind::Deny, "read(nothing.txt)"), ".env", false),
            (Mode::Ask, (RuleKind::Deny, "read(.env)"), ".env", true),
        ] {
            let verdict = policy(&[rule]).judge(&Stance::from(mode), &Effects::read(tree.clone()));
            let permit = verdict.permit(None).expect("the tree is free");
            let filter = permit.tree_filter(&tree, crate::Looking::AtNames);
            let full = format!("/r/{path}");
            assert_eq!(filter.withholds(full.as_ref(), path.as_ref()), hidden, "{mode} {rule:?} {path}");
            // What it holds is another matter.
            assert!(permit.tree_filter(&tree, crate::Looking::IntoFiles).withholds(full.as_ref(), path.as_ref()));
        }
    }

    #[test]
    fn no_effects_is_not_a_yes() {
        let verdict = Policy::default().judge(&Stance::from(Mode::AcceptAll), &Effects::default());
        assert_eq!(verdict.decision, Decision::Deny);
        assert!(verdict.permit(None).is_err());
    }

    #[test]
    fn a_tree_search_withholds_what_a_read_would_refuse() {
        let rules = policy(&[(RuleKind::Deny, "read(private)"), (RuleKind::Ask, "read(*.sql)")]);
        let tree = Effects::read(Place::inside("/r", "").tree()).of("grep");
        let permit = rules.judge(&Stance::from(Mode::Ask), &tree).permit(None).expect("the tree itself is free");
        for (path, kept_back) in [
            ("/r/src/a.rs", false),
            ("/r/.env", true),
            ("/r/a/id_rsa", true),
            ("/r/private", true),
            ("/r/private/x", true),
            ("/r/db/x.sql", true),
            ("/elsewhere", true),
        ] {
            assert_eq!(permit.withholds(path.as_ref()), kept_back, "{path}");
        }
        let denied = rules.judge(&Stance::from(Mode::Ask), &Effects::read(Place::inside("/r", "private").tree()));
        assert_eq!(denied.decision, Decision::Deny);
    }

    #[test]
    fn a_refusal_names_what_would_allow_it() {
        let verdict = Policy::default().judge(&Stance::from(Mode::Ask), &Effects::one(write("src/a.rs")));
        let refusal = verdict.permit(None).expect_err("nobody answered");
        assert!(
            refusal.message.contains("write(src/a.rs)") && refusal.message.contains("mode ask"),
            "{}",
            refusal.message
        );
        let hint = refusal.hint.expect("there is a way");
        assert!(hint.contains("--mode accept-edits") && hint.contains("`write(/src/a.rs)`"), "{hint}");
    }

    #[test]
    fn one_mode_is_named_where_one_allows_all() {
        let run = |kind| Effect::Exec(crate::effect::Exec::plain(vec![vec!["make".into()]], kind, String::new()));
        let hint = |all: Vec<Effect>| {
            let verdict = Policy::default().judge(&Stance::from(Mode::Ask), &Effects { tool: "bash".into(), all });
            verdict.permit(None).expect_err("nobody answered").hint.expect("there is a way")
        };
        let both = hint(vec![run(ExecKind::WritesInside), write("src/a.rs")]);
        assert!(both.starts_with("it would be allowed by --mode workspace, or with all of these: "), "{both}");
        assert!(!both.contains("accept-edits") && both.contains("`write(/src/a.rs)`"), "{both}");
        let none = hint(vec![run(ExecKind::Destructive), write("src/a.rs")]);
        assert!(none.contains("with all of these") && none.contains("--unsafe"), "{none}");
    }

    fn any_effect() -> impl Strategy<Value = Effect> {
        prop_oneof![
            "[a-c.]{1,3}(/[a-c.]{1,3})?".prop_map(|path| write(&path)),
            "[a-c.]{1,3}(/[a-c.]{1,3})?".prop_map(|path| read(&path)),
            "/[a-c]{1,3}".prop_map(|path| Effect::Read(Place::outside(path))),
            "[a-c]{1,2}\\.org".prop_map(Effect::Net),
            Just(Effect::Session),
            Just(Effect::Spawn("x".into())),
        ]
    }

    proptest! {
        /// Adding an effect, a deny or an ask rule never makes a verdict milder.
        #[test]
        fn joining_is_monotone(
            effects in proptest::collection::vec(any_effect(), 1..4),
            more in any_effect(),
            mode in 0usize..6,
            deny in any::<bool>(),
            text in prop_oneof![Just("write(**)"), Just("read(a*)"), Just("net(*)"), Just("tool(edit)"), Just("write(b)")],
        ) {
            let stance = Stance::from(Mode::ALL[mode]);
            let base = policy(&[(RuleKind::Allow, "write(a*)"), (RuleKind::Allow, "net(*.org)")]);
            let kind = if deny { RuleKind::Deny } else { RuleKind::Ask };
            let tighter = policy(&[(RuleKind::Allow, "write(a*)"), (RuleKind::Allow, "net(*.org)"), (kind, text)]);
            let call = Effects { tool: "edit".into(), all: effects };
            let before = base.judge(&stance, &call).decision;
            prop_assert!(tighter.judge(&stance, &call).decision >= before);
            prop_assert!(base.judge(&stance, &call.and(more)).decision >= before);
        }

        #[test]
        fn parsing_never_panics(text in ".{0,40}") {
            let _ = Rule::parse(&text, Some("/h"));
            let _ = crate::PathPattern::new(&text, Some("/h"));
        }
    }
}
