//! Workflows that run others: the authority of both holds, secrets do too, and what ended within them has ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nika_contract::{BoxFuture, Cx, Erased, ToolError};
use nika_flow::tools::workflow_run::WorkflowRun;
use nika_flow::tools::{Filed, Ran, Shelf};
use nika_guard::{Mode, Place};
use serde_json::{Map, Value, json};

use crate::world::{World, world};

/// Runs `inner.nika.yaml`, and may what is stated.
fn outer(more: &str, permits: &str) -> String {
    format!(
        "schema: nika/workflow@1\n{more}permits: {{{permits}, tools: [workflow(inner.nika.yaml), read]}}\ntasks:\n  - {{id: run, invoke: {{workflow: inner.nika.yaml, params: {{word: hi}}}}}}\noutputs: {{said: \"{{{{ tasks.run.said }}}}\"}}\n"
    )
}

fn scene(outer: &str, inner: &str) -> World {
    world().file("outer.nika.yaml", outer).file("inner.nika.yaml", inner)
}

const SAYS: &str = "schema: nika/workflow@1\ninputs: {word: {type: string}}\npermits: {exec: ['printf *', 'touch *'], fs: {write: ['**']}}\ntasks:\n  - {id: say, exec: [printf, '%s', '{{ inputs.word }}']}\n  - {id: leave, exec: [touch, left]}\noutputs: {said: '{{ tasks.say }}'}\n";

#[test]
fn a_workflow_runs_another_with_the_authority_of_both() {
    let both = "exec: ['printf *', 'touch *'], fs: {write: ['**']}";
    scene(&outer("", both), SAYS).run(&["run", "outer.nika.yaml", "--yes"]).exits(0).says("said: hi");
    // What the inner one states and the outer does not is refused in the run, whatever the mode.
    let world = scene(&outer("", "exec: ['printf *']"), SAYS);
    let ran = world.run(&["run", "outer.nika.yaml", "--yes", "--mode", "accept-all"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(!world.root().join("left").exists(), "{ran:?}");
    // And what the outer one states and the inner does not.
    let narrow = SAYS.replace("'touch *'", "'true'").replace("[touch, left]", "['{{ inputs.word }}', left]");
    let world = scene(&outer("", both).replace("word: hi", "word: touch"), &narrow);
    let ran = world.run(&["run", "outer.nika.yaml", "--yes", "--mode", "accept-all"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(!world.root().join("left").exists(), "{ran:?}");
}

#[test]
fn a_workflow_within_gets_the_secrets_that_the_outer_one_states() {
    let inner = "schema: nika/workflow@1\ninputs: {word: {type: string}}\nsecrets: [TOKEN]\npermits: {exec: ['printenv *']}\ntasks:\n  - {id: say, exec: {command: [printenv, IT], env: {IT: '{{ secrets.TOKEN }}'}}}\noutputs: {said: '{{ tasks.say }}'}\n";
    let permits = "exec: ['printenv *']";
    let world = scene(&outer("", permits), inner).file(".env", "TOKEN=hunter2-hunter2\n");
    let refused = world.run(&["run", "outer.nika.yaml", "--yes"]);
    refused.exits(2).complains("takes secrets that this workflow does not state: TOKEN").complains("secrets: [TOKEN]");
    let world = world.file("outer.nika.yaml", &outer("secrets: [TOKEN]\n", permits));
    let ran = world.run(&["run", "outer.nika.yaml", "--yes"]);
    ran.exits(0).says("said: [secret TOKEN]");
    assert!(!ran.out.contains("hunter2") && !ran.err.contains("hunter2"), "{ran:?}");
}

/// Counts in a file, then needs another that is not there yet.
fn counting(comment: &str, needs: &str) -> String {
    format!(
        "schema: nika/workflow@1\ndescription: {comment}\ninputs: {{word: {{type: string}}}}\npermits: {{fs: {{read: ['**'], write: ['**']}}, exec: ['tee *'], tools: [read]}}\ntasks:\n  - {{id: count, exec: {{command: [tee, -a, n], stdin: x}}}}\n  - {{id: needs, depends_on: count, invoke: {{tool: read, params: {{file_path: {needs}}}}}}}\noutputs: {{said: done}}\n"
    )
}

const ALL: &str = "fs: {read: ['**'], write: ['**']}, exec: ['tee *']";

#[test]
fn what_ended_within_is_not_done_again() {
    let world = scene(&outer("", ALL), &counting("one", "there.txt"));
    world.run(&["run", "outer.nika.yaml", "--yes"]).exits(1).complains("inner.nika.yaml").complains("`needs` failed");
    world.run(&["run", "--resume", "last", "--yes"]).exits(1);
    let world = world.file("there.txt", "here");
    world.run(&["run", "--resume", "last", "--yes"]).exits(0).says("said: done");
    assert_eq!(world.text("n"), "x");
}

/// An inner workflow that was changed meanwhile is another run, which is itself gone on with the next time.
#[test]
fn what_ended_within_a_changed_one_is_not_done_again_either() {
    let world = scene(&outer("", ALL), &counting("one", "there.txt"));
    world.run(&["run", "outer.nika.yaml", "--yes"]).exits(1);
    let world = world.file("inner.nika.yaml", &counting("two", "other.txt"));
    world.run(&["run", "--resume", "last", "--yes"]).exits(1);
    assert_eq!(world.text("n"), "xx", "another workflow's task has not ended");
    let world = world.file("other.txt", "here");
    world.run(&["run", "--resume", "last", "--yes"]).exits(0);
    assert_eq!(world.text("n"), "xx", "its own has");
    world.run(&["trace", "verify"]).exits(0);
}

/// As deep as they may, each by the same task: every one has a name of its own, and is found again.
#[test]
fn workflows_run_one_another_eight_deep() {
    let run = |number: usize| match number {
        8 => "exec: {command: [tee, -a, n], stdin: x}".to_owned(),
        _ => format!("invoke: {{workflow: w{}.nika.yaml}}", number + 1),
    };
    let world = (1..=8).fold(world(), |world, number| {
        let tools = if number < 8 { format!(", tools: [workflow(w{}.nika.yaml)]", number + 1) } else { String::new() };
        let text = format!(
            "schema: nika/workflow@1\npermits: {{fs: {{read: ['**'], write: ['**']}}, exec: ['tee *']{tools}}}\ntasks:\n  - {{id: a, {}}}\n",
            run(number)
        );
        world.file(&format!("w{number}.nika.yaml"), &text)
    });
    world.run(&["check", "w1.nika.yaml"]).exits(0);
    world.run(&["run", "w1.nika.yaml", "--yes"]).exits(0);
    world.run(&["run", "--resume", "last", "--yes"]).exits(0);
    assert_eq!(world.text("n"), "x");
}

/// The outer limits hold while the inner workflow spends, and not only when it has ended.
#[test]
fn a_limit_holds_for_what_runs_within() {
    let inner = "schema: nika/workflow@1\ninputs: {word: {type: string}}\npermits: {exec: ['sleep *']}\ntasks:\n  - {id: one, infer: '{{ inputs.word }}'}\n  - {id: wait, depends_on: one, exec: [sleep, '30']}\n  - {id: two, depends_on: wait, infer: again}\noutputs: {said: '{{ tasks.two }}'}\n";
    let script = "turns: [{say: a, usage: {input: 20, output: 5}}, {say: b, usage: {input: 20, output: 5}}]\n";
    let world = scene(&outer("limits: {tokens: 20}\n", "exec: ['sleep *']"), inner).file("outer.script.yaml", script);
    let ran = world.run(&["run", "outer.nika.yaml", "--yes", "--provider", "scripted", "--output", "json"]);
    ran.exits(3);
    let object = ran.json();
    assert_eq!((&object["error"]["code"], &object["tokens"]), (&json!("NIKA-897"), &json!(25)), "{object}");
}

/// A shelf on which a name means another file each time that it is looked up.
#[derive(Debug, Default)]
struct Turning(AtomicUsize);

impl Shelf for Turning {
    fn directories(&self) -> Result<Vec<Place>, ToolError> {
        Ok(Vec::new())
    }

    fn all(&self) -> Result<Vec<Filed>, ToolError> {
        let turn = self.0.fetch_add(1, Ordering::SeqCst);
        Ok(vec![Filed { path: format!("{turn}/w.nika.yaml"), text: String::new() }])
    }

    fn place(&self, path: &str) -> Result<(Place, String), ToolError> {
        Ok((Place::inside("/r", path), path.to_owned()))
    }

    fn run<'a>(&'a self, path: &'a str, _: Map<String, Value>, _: &'a Cx<'a>) -> BoxFuture<'a, Result<Ran, ToolError>> {
        panic!("{path} was run, and another was judged")
    }
}

#[test]
fn what_is_run_is_what_was_judged() {
    let tool = WorkflowRun { shelf: Arc::new(Turning::default()) };
    let world = nika_testkit::world().mode(Mode::AcceptAll).tool(Erased::boxed(tool));
    let refused = world.call("workflow_run", json!({"workflow": "w"}));
    refused.refused(212);
}
