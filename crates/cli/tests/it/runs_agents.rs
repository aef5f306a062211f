//! Tasks for models and agents: the tools that an agent is told of, the form of answers, what all of it costs.

use serde_json::json;

use crate::runs_servers::{UNSEEN, serving};
use crate::world::{Ran, World, world};

/// Runs `w.nika.yaml` on `w.script.yaml`, which lies beside it.
fn scripted(world: &World, more: &[&str]) -> Ran {
    world.run(&[&["run", "w.nika.yaml", "--provider", "scripted", "--yes"], more].concat())
}

/// Expects the tool of the server, calls it, and says what it heard.
const GREETS: &str = "turns:
- expect: {tools_include: [mcp__hello__greet]}
  calls: [{id: a, tool: mcp__hello__greet, arguments: {name: Ada}}]
- expect: {results: [{id: a, contains: Hello there.}]}
  say: it greets
";

fn with_agent(permits: &str, agent: &str) -> String {
    format!(
        "schema: nika/workflow@1\npermits: {permits}\ntasks:\n  - id: a\n    agent: {agent}\noutputs: {{said: \"{{{{ tasks.a }}}}\"}}\n"
    )
}

#[test]
fn an_agent_is_told_of_a_whole_server() {
    for (tools, agent) in [
        ("[mcp__hello]", "{prompt: x, tools: [mcp__hello]}"),
        ("[mcp__hello]", "{prompt: x, tools: [mcp__hello__*]}"),
        ("[mcp__hello]", "{prompt: x, tools: [mcp__hello__greet]}"),
        ("[mcp__hello]", "{prompt: x}"),
        ("[mcp__hello__*]", "x"),
    ] {
        let text = with_agent(&format!("{{tools: {tools}}}"), agent);
        let world = serving(UNSEEN).file("w.nika.yaml", &text).file("w.script.yaml", GREETS);
        scripted(&world, &[]).exits(0).says("said: it greets");
    }
}

#[test]
fn patterns_and_names_of_other_programs_are_tools_within_the_permits() {
    let script = "turns:
- expect: {tools_include: [read, grep, glob], tools_exclude: [write, exec, bash]}
  calls: [{id: a, tool: read, arguments: {file_path: a.txt}}]
- expect: {results: [{id: a, contains: inside}]}
  say: fine
";
    for (tools, agent) in [
        ("[read, 'g*']", "{prompt: x, tools: [Read, 'g*']}"),
        ("[Read, 'g*']", "{prompt: x}"),
        ("['*']", "{prompt: x, tools: [nika_read, 'g*']}"),
    ] {
        let text = with_agent(&format!("{{fs: {{read: ['**']}}, tools: {tools}}}"), agent);
        let world = world().file("a.txt", "inside").file("w.nika.yaml", &text).file("w.script.yaml", script);
        scripted(&world, &[]).exits(0).says("said: fine");
    }
}

/// What worked in an older document works as it was, and as `nika upgrade` writes it.
#[test]
fn an_older_agent_has_the_tools_of_its_servers() {
    let older =
        "schema: nika/workflow@0.2\nworkflow: w\ntasks:\n  - id: a\n    agent: {prompt: Greet Ada., mcp: [hello]}\n";
    let world = serving(UNSEEN).file("w.nika.yaml", older).file("w.script.yaml", GREETS);
    scripted(&world, &[]).exits(0);
    let upgraded = world.run(&["upgrade", "w.nika.yaml"]);
    upgraded.exits(0).says("mcp__hello");
    let world = world.file("w.nika.yaml", &upgraded.out);
    scripted(&world, &[]).exits(0);
}

#[test]
fn an_agent_that_is_to_answer_json_is_told_so_and_asked_again() {
    let text = "schema: nika/workflow@1\ntasks:\n  - {id: a, agent: {prompt: Count., tools: []}, output: {format: json}}\noutputs: {count: \"{{ tasks.a.count }}\"}\n";
    let asked = "system_contains: [Answer with one JSON value and nothing else.]";
    for turns in [
        format!("- expect: {{{asked}}}\n  say: |\n    Here you are:\n    ```json\n    {{\"count\": 3}}\n    ```\n"),
        format!(
            "- say: three\n- expect: {{{asked}, last_user_contains: That cannot be used}}\n  say: '{{\"count\": 3}}'\n"
        ),
    ] {
        let world = world().file("w.nika.yaml", text).file("w.script.yaml", &format!("turns:\n{turns}"));
        scripted(&world, &[]).exits(0).says("count: 3");
    }
    let never = "turns: [{say: one}, {say: two}, {say: three}]\n";
    let world = world().file("w.nika.yaml", text).file("w.script.yaml", never);
    scripted(&world, &[]).exits(1).complains("NIKA-862").complains("three");
}

#[test]
fn what_failed_tasks_took_is_in_the_sum() {
    let turn = "{say: 'no', usage: {input: 10, output: 5, reasoning: 2}}";
    let fitting = "output: {format: json, schema: {type: object}}";
    let text = format!(
        "schema: nika/workflow@1\ntasks:\n  - {{id: a, infer: Judge., {fitting}}}\n  - {{id: b, agent: {{prompt: x, tools: [], max_turns: 1}}, on_error: skip, {fitting}}}\n"
    );
    let script = format!("turns: [{turn}, {turn}, {turn}, {turn}]\n");
    let world = world().file("w.nika.yaml", &text).file("w.script.yaml", &script);
    let ran = scripted(&world, &["--output", "json"]);
    ran.exits(1);
    assert_eq!(ran.json()["tokens"], json!(60), "three answers of the one, one of the other: {ran:?}");
    let lines = world.run(&["trace", "export", "last", "--format", "json"]).json();
    let of = |event: &str| lines.as_array().into_iter().flatten().find(|line| line["event"] == event).cloned();
    assert_eq!(of("TaskFailed").expect("it failed")["tokens"], json!(45), "{lines}");
    assert_eq!(of("TaskSkipped").expect("it was skipped")["tokens"], json!(15), "{lines}");
}

/// The hint of a limit that was reached can be followed: the file's limits are no part of what a run goes on with.
#[test]
fn a_run_that_reached_a_limit_goes_on_once_it_was_raised() {
    let flow = |tokens: u32| {
        format!(
            "schema: nika/workflow@1\nlimits:\n  tokens: {tokens}\n  parallel: 1\npermits: {{exec: ['printf *']}}\ntasks:\n  - {{id: a, infer: One.}}\n  - {{id: b, use: {{a: a}}, exec: [printf, '%s', '{{{{ use.a }}}}']}}\noutputs: {{b: '{{{{ tasks.b }}}}'}}\n"
        )
    };
    let script = "turns: [{say: said, usage: {input: 10, output: 5}}]\n";
    let world = world().file("w.nika.yaml", &flow(5)).file("w.script.yaml", script);
    scripted(&world, &[]).exits(3).complains("NIKA-897").complains("raise the limit in the file, and resume the run");
    let on = ["run", "--resume", "last", "--yes", "--provider", "scripted"];
    world.run(&on).exits(3).complains("NIKA-897");
    let world = world.file("w.nika.yaml", &flow(500));
    world.run(&on).exits(0).says("b: said");
    let world = world.file("w.nika.yaml", &flow(500).replace("One.", "Two."));
    world.run(&on).exits(2).complains("NIKA-895");
}

#[test]
fn a_limit_on_cost_that_nobody_can_count_begins_nothing() {
    let text = "schema: nika/workflow@1
limits: {cost_usd: 1}
permits: {fs: {write: [a.txt]}, tools: [write]}
tasks:
  - {id: a, invoke: {tool: write, params: {file_path: a.txt, content: x}}}
  - {id: b, infer: Say it.}
";
    let world = world().file("w.nika.yaml", text).file("w.script.yaml", "turns: [{say: cheap}]\n");
    // Nobody listens there, and nobody is asked.
    let unpriced = ["run", "w.nika.yaml", "--yes", "--provider", "http://127.0.0.1:9", "--model", "m"];
    let ran = world.run(&unpriced);
    ran.exits(2)
        .complains("NIKA-100 `limits.cost_usd` of w.nika.yaml needs prices, and none are known for the model m");
    ran.complains("`providers.openai-compatible.prices: {m: {input: …");
    assert!(!world.root().join("a.txt").exists(), "nothing has run");
    // What is played costs nothing, so that a test of the workflow needs no prices.
    scripted(&world, &[]).exits(0);

    // What it runs is within the same limit.
    let outer = "schema: nika/workflow@1
limits: {cost_usd: 1}
permits: {tools: [workflow(inner.nika.yaml)]}
tasks: [{id: a, invoke: {workflow: inner.nika.yaml}}]
";
    let inner = "schema: nika/workflow@1\ntasks: [{id: b, infer: Say it.}]\n";
    let world = world.file("w.nika.yaml", outer).file("inner.nika.yaml", inner);
    let ran = world.run(&unpriced);
    assert!(ran.code != 0 && format!("{}{}", ran.out, ran.err).contains("`limits.cost_usd` of w.nika.yaml"), "{ran:?}");
}
