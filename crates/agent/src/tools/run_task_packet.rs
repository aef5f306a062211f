//! `run_task_packet`: a whole piece of work with its terms: where it may write, how it is checked, whether it is
//! committed, and when a person is asked. The program keeps the terms, not the agent's goodwill.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Inquiry, Offer, Output, Replied, Scene, Spec, Tool, ToolError, code, text};
use nika_guard::{Effect, Effects, Exec, ExecKind, Place};
use nika_host::git::Git;
use nika_runtime::{Incoming, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::slug;
use crate::sub::{Child, Commit, Finished, Fleet, Order, Packet, Report, Written, apart, git_failed};

/// Has an agent do a packet of work under its terms: it writes within scope only, each acceptance test is run and
/// reported with its exit code, and nothing is committed unless all pass.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// What is to be achieved.
    pub objective: String,
    /// What may be written: workspace; module, single_file or custom with scope_path; or paths and patterns outright.
    pub scope: String,
    /// The path of a scope that needs one; several with commas.
    pub scope_path: Option<String>,
    /// `.`, or the directory below the workspace that it is about.
    pub repo: String,
    /// none: in place. worktree: on a branch of its own, in a directory of its own.
    pub branch_policy: String,
    /// Commands that have to end with 0 when the work is done.
    pub acceptance_tests: Vec<String>,
    /// never, or on_success: one commit of what was changed within scope, when all tests pass.
    pub commit_policy: String,
    /// What the agent is to report at its end.
    pub reporting_contract: String,
    /// ask: a person is asked when the tests fail, and the agent may ask, too. stop: it ends there.
    pub escalation_policy: String,
    /// What else has to hold; the agent is told.
    #[serde(default)]
    pub acceptance_criteria: Vec<String>,
    /// Files, pages and the like that the agent should look at.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Another model than this one.
    pub model: Option<String>,
}

/// The tool.
#[derive(Debug)]
pub struct RunTaskPacket {
    /// The agents.
    pub fleet: Arc<Fleet>,
}

/// How often the agent is sent back to failed tests when a person says so.
const MOST_ROUNDS: u32 = 5;
/// Milliseconds that an acceptance test may take: what `bash` takes at most.
const TEST_MS: u32 = 600_000;
/// Characters of a failed test's output that the agent is sent back with.
const FAILURE_CHARS: usize = 6_000;

/// The answer, as data.
#[derive(Debug, Serialize, JsonSchema)]
struct Answer {
    passed: bool,
    acceptance_tests: Vec<Tested>,
    /// How often the agent went to work.
    rounds: u32,
    /// What a person was asked, and said.
    asked: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_committed: Option<String>,
    outside_scope: Vec<PathBuf>,
    outside_scope_by_tests: Vec<PathBuf>,
    agent: Report,
}

/// One acceptance test.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct Tested {
    command: String,
    passed: bool,
    /// None where it could not be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    call: String,
    output: String,
}

impl Tool for RunTaskPacket {
    type Params = Params;
    const SPEC: Spec = Spec::new("run_task_packet", "Run task packet", Group::Agent)
        .open_world()
        .text()
        .terms(&[
            "packet",
            "contract",
            "acceptance",
            "scope",
            "delegate",
            "commit",
            "agent",
            "worktree",
            "packaged",
            "assignment",
            "fully specified",
            "hand over",
            "order",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Answer>())
    }

    fn effects(&self, params: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        let packet = self.packet(params)?;
        let mut effects = Effects::one(Effect::Spawn("task packet".to_owned()));
        if packet.apart {
            effects = effects.and(Effect::Write(self.fleet.worktree_place(&slug_of(params, scene.session.id()))));
        }
        if packet.commit == Commit::OnSuccess {
            let commands = vec![vec!["git".to_owned(), "commit".to_owned()]];
            let why = "commits what the packet changed, when its tests pass".to_owned();
            let exec = Exec::plain(commands, ExecKind::WritesInside, why);
            let tree = Place::inside(&self.fleet.settings().root, "").tree();
            effects = effects.and(Effect::Exec(exec)).and(Effect::Read(tree));
        }
        Ok(effects)
    }

    fn preview(&self, params: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        self.fleet.check(cx.session.id(), None, params.model.as_deref())?;
        Ok(Some(told(params, &self.packet(params)?)))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let packet = self.packet(&params)?;
        let root = self.fleet.settings().root.clone();
        if !root.join(&packet.below).is_dir() {
            let why = format!("there is no directory {} in the workspace", packet.below.display());
            return Err(ToolError::argument("repo", why));
        }
        let ledger = Ledger::open(&self.fleet, &packet, &root, cx).await?;
        let order = Order {
            description: text::preview(&params.objective, 80),
            prompt: told(&params, &packet),
            model: params.model.clone(),
            name: Some("packet".to_owned()),
            alone: !packet.asks,
            writes_only: packet.scope.patterns.clone(),
            worktree: packet.apart.then(|| slug_of(&params, cx.session.id())),
            ..Order::default()
        };
        let mut child = Child::hire(&self.fleet, self.fleet.starter(cx)?, &order).await?;
        let mut ledger = ledger;
        let worked = rounds(&mut child, &mut ledger, &params, &packet, &order.prompt, cx).await;
        let worked = match worked {
            Ok(worked) => worked,
            Err(error) => {
                child.dismiss().await?;
                return Err(error);
            }
        };
        let kept = ledger.close(&child, &packet, &params, worked.passed, cx).await;
        let finished = child.dismiss().await?;
        cx.check_cancelled()?;
        Ok(answer(&packet, &worked, &kept, &finished))
    }
}

impl RunTaskPacket {
    fn packet(&self, params: &Params) -> Result<Packet, ToolError> {
        for (field, text) in [("objective", &params.objective), ("reporting_contract", &params.reporting_contract)] {
            if text.trim().is_empty() {
                return Err(ToolError::argument(field, "takes a few words"));
            }
        }
        if params.acceptance_tests.iter().any(|test| test.trim().is_empty()) {
            return Err(ToolError::argument("acceptance_tests", "takes commands, none of them empty"));
        }
        let written = Written {
            scope: &params.scope,
            scope_path: params.scope_path.as_deref(),
            repo: &params.repo,
            branch_policy: &params.branch_policy,
            commit_policy: &params.commit_policy,
            escalation_policy: &params.escalation_policy,
        };
        Packet::read(&written, &self.fleet.settings().root)
    }
}

fn slug_of(params: &Params, session: &str) -> String {
    slug(None, &params.objective, &(session, &params.objective, &params.acceptance_tests))
}

/// The packet as its agent is told it.
fn told(params: &Params, packet: &Packet) -> String {
    let list = |items: &[String]| items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n");
    let mut said = vec![format!("Objective: {}", params.objective.trim())];
    if !packet.below.as_os_str().is_empty() {
        said.push(format!("It is about the directory {}.", packet.below.display()));
    }
    said.push(format!("You may write {} and nothing else; other writes are refused.", packet.scope));
    if !params.acceptance_tests.is_empty() {
        said.push(format!(
            "Done means that each of these ends with 0; they are run when you and all that you started have ended:\n{}",
            list(&params.acceptance_tests)
        ));
    }
    if !params.acceptance_criteria.is_empty() {
        said.push(format!("And that this holds:\n{}", list(&params.acceptance_criteria)));
    }
    if !params.resources.is_empty() {
        said.push(format!("Look at:\n{}", list(&params.resources)));
    }
    said.push(match packet.commit {
        Commit::Never => "Do not commit.".to_owned(),
        Commit::OnSuccess => "Do not commit: that is done for you when the tests pass.".to_owned(),
    });
    said.push(match packet.asks {
        true => "Where only a person can decide, ask with `ask_user_question`.".to_owned(),
        false => "Nobody can be asked: where only a person can decide, stop and say what is missing.".to_owned(),
    });
    said.push(format!("Report at the end: {}", params.reporting_contract.trim()));
    said.join("\n\n")
}

/// How the work went.
struct Worked {
    passed: bool,
    tests: Vec<Tested>,
    rounds: u32,
    /// What a person was asked, and said.
    asked: Vec<String>,
}

/// The agent works and is tested, again when a person says so.
async fn rounds(
    child: &mut Child,
    ledger: &mut Ledger,
    params: &Params,
    packet: &Packet,
    prompt: &str,
    cx: &Cx<'_>,
) -> Result<Worked, ToolError> {
    let mut task = prompt.to_owned();
    let mut asked = Vec::new();
    // One for all rounds: what a person grants to the tests they are asked about once.
    let checking = child.checking();
    for round in 1.. {
        let ended = child.work(&task).await?;
        cx.check_cancelled()?;
        // What it left running would change things while the tests run, and they would be blamed for it.
        child.end_what_runs().await;
        let worked = ledger.changes(child, cx).await;
        let mut tests = Vec::new();
        for command in &params.acceptance_tests {
            cx.check_cancelled()?;
            tests.push(test(child, &checking, command, cx).await?);
        }
        ledger.tested(worked.as_ref(), ledger.changes(child, cx).await);
        let done = ended.why.error();
        let passed = done.is_none() && tests.iter().all(|test| test.passed);
        let more = Worked { passed, tests, rounds: round, asked: Vec::new() };
        if passed || !packet.asks || round >= MOST_ROUNDS {
            return Ok(Worked { asked, ..more });
        }
        let trouble = done.map_or_else(|| failures(&more.tests), |error| error.to_string());
        let replied = child.asker().inquire(&inquiry(params, &more.tests, &trouble, cx)).await;
        let again = match &replied {
            Replied::Chosen(label) if label == AGAIN => Some("Go on until the tests pass."),
            Replied::Wrote(words) => Some(words.as_str()),
            _ => None,
        };
        asked.push(match &replied {
            Replied::Chosen(said) | Replied::Wrote(said) => format!("round {round}: {said}"),
            Replied::Declined { why } => format!("round {round}: no answer ({})", why.as_deref().unwrap_or("declined")),
            Replied::Nobody | Replied::Later => format!("round {round}: nobody could be asked"),
        });
        match again {
            Some(words) => task = format!("The work was checked, and this did not pass:\n{trouble}\n\n{words}"),
            None => return Ok(Worked { asked, ..more }),
        }
    }
    unreachable!("a round is returned from, at the last of them")
}

const AGAIN: &str = "Try again";
const LEAVE: &str = "Leave it as it is";

fn inquiry(params: &Params, tests: &[Tested], trouble: &str, cx: &Cx<'_>) -> Inquiry {
    let failed = tests.iter().filter(|test| !test.passed).count();
    let text = format!(
        "\"{}\" does not pass ({failed} of {} acceptance tests failed).\n{}",
        text::preview(&params.objective, 200),
        tests.len(),
        text::head_and_tail(trouble, 1_500).unwrap_or_else(|| trouble.to_owned())
    );
    let offer = |label: &str, about: &str| Offer { label: label.to_owned(), description: Some(about.to_owned()) };
    Inquiry {
        id: cx.call.to_string(),
        tool: "run_task_packet".to_owned(),
        name: None,
        header: Some("Task packet".to_owned()),
        text,
        options: vec![
            offer(AGAIN, "the agent goes on with what failed"),
            offer(LEAVE, "nothing is committed, and nothing is undone"),
        ],
        free_text: true,
    }
}

/// Runs one acceptance test: a call like any other, in the agent's journal. Whoever gave the packet wrote the command,
/// so it may do what they may; the scope is the agent's alone. A test runner writes where it likes.
async fn test(child: &Child, checking: &Session, command: &str, cx: &Cx<'_>) -> Result<Tested, ToolError> {
    let mut arguments = Map::new();
    arguments.insert("command".to_owned(), command.into());
    arguments.insert("timeout".to_owned(), TEST_MS.into());
    arguments.insert("description".to_owned(), "acceptance test".into());
    let incoming = Incoming {
        name: "bash".to_owned(),
        arguments,
        cancel: cx.cancel.clone(),
        progress: Arc::clone(cx.progress),
        asker: Arc::clone(child.asker()),
        deferral: false,
        origin: Some("acceptance test".to_owned()),
    };
    let outcome = child.crew().runtime.dispatch(checking, incoming).await?;
    let (exit_code, failed, output) = match &outcome.result {
        Ok(output) => {
            let exit = output.facts.iter().find(|(name, _)| *name == "exit_code").and_then(|(_, value)| value.as_i64());
            (exit, output.failed, output.joined_text())
        }
        Err(error) => (None, Some(error.code), error.to_string()),
    };
    let output = text::head_and_tail(&output, FAILURE_CHARS).unwrap_or(output);
    Ok(Tested {
        command: command.to_owned(),
        passed: exit_code == Some(0) && failed.is_none(),
        exit_code,
        code: failed.map(|code| code.to_string()),
        call: outcome.call.to_string(),
        output,
    })
}

fn failures(tests: &[Tested]) -> String {
    let failed = tests.iter().filter(|test| !test.passed);
    let shown = failed.map(|test| format!("$ {}\n{}", test.command, test.output));
    shown.collect::<Vec<_>>().join("\n\n")
}

/// What was changed before the packet, so that only its own changes are committed.
struct Ledger {
    git: Option<Git>,
    before: BTreeSet<PathBuf>,
    /// What the acceptance tests have changed.
    by_tests: BTreeSet<PathBuf>,
}

/// What was committed, and what was not.
#[derive(Default)]
struct Kept {
    commit: Option<String>,
    why_not: Option<String>,
    /// Changed by a command of the agent's outside the scope: nothing is committed then.
    outside: Vec<PathBuf>,
    /// Changed by the acceptance tests outside the scope, and therefore left out of the commit.
    left_by_tests: Vec<PathBuf>,
}

impl Ledger {
    async fn open(fleet: &Fleet, packet: &Packet, root: &Path, cx: &Cx<'_>) -> Result<Ledger, ToolError> {
        if packet.commit == Commit::Never {
            return Ok(Ledger { git: None, before: BTreeSet::new(), by_tests: BTreeSet::new() });
        }
        let git =
            fleet.settings().git.clone().ok_or_else(|| {
                ToolError::argument("commit_policy", "takes never here: this program makes no commits")
            })?;
        // A new worktree has no changes.
        let before = if packet.apart { Vec::new() } else { changes(&git, root, cx).await? };
        Ok(Ledger { git: Some(git), before: before.into_iter().collect(), by_tests: BTreeSet::new() })
    }

    /// What is changed now, where that is looked at and can be said. At the end it is asked again.
    async fn changes(&self, child: &Child, cx: &Cx<'_>) -> Option<BTreeSet<PathBuf>> {
        Some(changes(self.git.as_ref()?, &child.root(), cx).await.ok()?.into_iter().collect())
    }

    /// Notes what the tests have changed: what is changed now and was not when the agent had ended. Where one of the two
    /// is unknown, all counts as the agent's.
    fn tested(&mut self, worked: Option<&BTreeSet<PathBuf>>, now: Option<BTreeSet<PathBuf>>) {
        if let (Some(worked), Some(now)) = (worked, now) {
            self.by_tests.extend(now.into_iter().filter(|path| !worked.contains(path)));
        }
    }

    /// Commits what the packet says.
    async fn close(&self, child: &Child, packet: &Packet, params: &Params, passed: bool, cx: &Cx<'_>) -> Kept {
        let mut kept = Kept::default();
        let Some(git) = &self.git else {
            kept.why_not = Some("commit_policy is never".to_owned());
            return kept;
        };
        let root = child.root();
        let changed = match changes(git, &root, cx).await {
            Ok(changed) => changed,
            Err(error) => {
                kept.why_not = Some(error.to_string());
                return kept;
            }
        };
        let new = changed.into_iter().filter(|path| !self.before.contains(path));
        let (inside, outside): (Vec<PathBuf>, Vec<PathBuf>) =
            new.partition(|path| path.strip_prefix(&root).is_ok_and(|below| packet.scope.holds(&root, below)));
        (kept.left_by_tests, kept.outside) = outside.into_iter().partition(|path| self.by_tests.contains(path));
        kept.why_not = match (passed, inside.is_empty(), kept.outside.is_empty()) {
            (false, ..) => Some("it did not pass".to_owned()),
            (_, _, false) => Some("paths outside its scope were changed by a command".to_owned()),
            (_, true, _) => Some("nothing was changed that was not changed before".to_owned()),
            _ => None,
        };
        if kept.why_not.is_none() {
            let (git, permit, cancel) = (git.clone(), Arc::clone(cx.permit), cx.cancel.clone());
            let message = text::preview(params.objective.lines().next().unwrap_or_default(), 72);
            let made = apart(move || git.commit(&permit, &root, &inside, &message, &cancel)).await;
            match made.and_then(|made| made.map_err(git_failed)) {
                Ok(commit) => kept.commit = Some(commit),
                Err(error) => kept.why_not = Some(error.to_string()),
            }
        }
        kept
    }
}

async fn changes(git: &Git, root: &Path, cx: &Cx<'_>) -> Result<Vec<PathBuf>, ToolError> {
    let (git, permit, root, cancel) = (git.clone(), Arc::clone(cx.permit), root.to_owned(), cx.cancel.clone());
    apart(move || git.changes(&permit, &root, &cancel)).await?.map_err(git_failed)
}

fn answer(packet: &Packet, worked: &Worked, kept: &Kept, finished: &Finished) -> Output {
    let passed = worked.passed && kept.outside.is_empty();
    let mut said = vec![if passed { "The packet is done.".to_owned() } else { "The packet is not done.".to_owned() }];
    for test in &worked.tests {
        let how = match (test.exit_code, &test.code) {
            (Some(exit), _) => format!("exit code {exit}"),
            (None, Some(code)) => format!("not run, {code}"),
            (None, None) => "ended by a signal".to_owned(),
        };
        let mark = if test.passed { "passed" } else { "FAILED" };
        said.push(format!("{mark}: {} ({how})", test.command));
        if !test.passed {
            said.push(text::head_and_tail(&test.output, 2_000).unwrap_or_else(|| test.output.clone()));
        }
    }
    for (paths, by) in [(&kept.outside, "a command"), (&kept.left_by_tests, "its acceptance tests, and not committed")]
    {
        if !paths.is_empty() {
            let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            said.push(format!("Changed outside its scope ({}) by {by}: {}", packet.scope, shown.join(", ")));
        }
    }
    match (&kept.commit, &kept.why_not) {
        (Some(commit), _) => said.push(format!("Committed as {commit}.")),
        (None, Some(why)) => said.push(format!("Not committed: {why}.")),
        (None, None) => {}
    }
    said.extend(worked.asked.iter().map(|line| format!("Asked, {line}")));
    said.push(format!("Its report:\n{}", finished.text()));
    let data = Answer {
        passed,
        acceptance_tests: worked.tests.clone(),
        rounds: worked.rounds,
        asked: worked.asked.clone(),
        commit: kept.commit.clone(),
        not_committed: kept.why_not.clone(),
        outside_scope: kept.outside.clone(),
        outside_scope_by_tests: kept.left_by_tests.clone(),
        agent: finished.report(),
    };
    let data = serde_json::to_value(data).unwrap_or_default();
    let failed = (!passed).then_some(code::ACCEPTANCE_FAILED);
    Output { failed, ..Output::data(data, said.join("\n")) }
        .with_fact("agent", finished.session.as_str())
        .with_fact("passed", passed)
}

const EXAMPLES: &[Example] = &[Example {
    title: "A fix with its own proof",
    files: &[("src/parser/mod.rs", "// Takes empty input.\n")],
    before: &[],
    arguments: r#"{"objective": "Make the parser accept empty input", "scope": "module", "scope_path": "src/parser", "repo": ".", "branch_policy": "none", "acceptance_tests": ["grep -q 'empty input' src/parser/mod.rs"], "commit_policy": "never", "reporting_contract": "what was wrong and what changed", "escalation_policy": "stop"}"#,
    answer: "passed: grep -q 'empty input' src/parser/mod.rs (exit code 0)",
}];
