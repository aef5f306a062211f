//! One agent that works for a session: what it may, what it is told, what comes back.

use std::sync::Arc;

use nika_agent::sub::types::{Found, Types};
use nika_guard::{Budget, Mode, RuleKind};
use nika_tools::talk::structured_output;
use serde_json::json;

use crate::sub_world::{Person, world};

/// The model of an agent that does one thing and says so.
fn does(tool: &str, arguments: &str) -> String {
    format!(
        "turns:\n  - calls: [{{tool: {tool}, arguments: {arguments}}}]\n    usage: {{input: 100, output: 10}}\n  - say: \
         All done.\n    usage: {{input: 200, output: 20}}\n"
    )
}

#[test]
fn an_agent_answers_with_its_last_message_and_what_it_took() {
    let made = world(&does("read", "{file_path: a.txt}")).make();
    made.file("a.txt", "hello\n");
    let output = made.call("agent", json!({"description": "Look", "prompt": "Read a.txt.", "name": "reader"}));
    let text = output.joined_text();
    assert!(
        text.starts_with("All done.\n[agent reader (general), session test.a1: 2 turns, 1 calls, 330 tokens"),
        "{text}"
    );
    let data = output.structured.expect("data");
    assert_eq!(
        (&data["session"], &data["result"], &data["ended"]),
        (&json!("test.a1"), &json!("All done."), &json!("done"))
    );
    assert_eq!(data["usage"]["output"], 30);
    assert_eq!(data["steps"][0]["tool"], "read");
    let transcript = std::fs::read_to_string(data["transcript"].as_str().expect("a path")).expect("it is there");
    assert!(transcript.contains("Read a.txt."));

    // Both are told in the parent's journal; the agent has one of its own.
    assert_eq!(made.events("test", "AgentSpawned")[0]["agent"], "test.a1");
    let complete = &made.events("test", "AgentComplete")[0];
    assert_eq!((&complete["ok"], &complete["turns"]), (&json!(true), &json!(2)));
    assert_eq!(made.events("test.a1", "ToolRead").len(), 1);
    assert!(made.events("test", "ToolRead").is_empty());

    // What the agent has read its starter has not.
    made.refused("edit", json!({"file_path": "a.txt", "old_string": "hello", "new_string": "bye"}), 203);
    let output = made.call("agent", json!({"description": "Look", "prompt": "Read a.txt."}));
    assert_eq!(output.structured.expect("data")["session"], "test.a2");
}

#[test]
fn an_agent_that_explores_changes_nothing_in_any_mode() {
    for (tool, arguments) in [
        ("write", "{file_path: b.txt, content: x}"),
        ("bash", "{command: touch b.txt}"),
        ("agent", "{description: d, prompt: p}"),
    ] {
        let made = world(&does(tool, arguments)).make();
        let output = made.call("agent", json!({"description": "d", "prompt": "p", "subagent_type": "explore"}));
        let steps = output.structured.expect("data")["steps"].clone();
        assert!(steps[0]["code"].is_string(), "{tool}: {steps}");
        assert_eq!(made.text("b.txt"), "");
        assert_eq!(made.events("test", "AgentSpawned")[0]["stance"], "read-only");
    }
}

#[test]
fn what_is_asked_on_an_agents_behalf_names_it() {
    for (no, want) in [(false, "x"), (true, "")] {
        let person = Arc::new(Person { no, ..Person::default() });
        let made = world(&does("write", "{file_path: b.txt, content: x}")).mode(Mode::Ask).person(&person).make();
        let arguments = json!({"description": "d", "prompt": "p", "name": "writer"});
        if no {
            // The first question is whether it may be started at all.
            made.refused("agent", arguments, 205);
            continue;
        }
        made.call("agent", arguments);
        assert_eq!(made.text("b.txt"), want);
        let asked = person.asked.lock().expect("unpoisoned");
        assert_eq!(asked.len(), 2, "{asked:?}");
        assert!(asked[1].starts_with("The agent writer asks: "), "{asked:?}");
    }
}

#[test]
fn calls_and_agents_of_an_agent_are_paid_by_who_started_it() {
    let made = world(&does("read", "{file_path: a.txt}")).budget(Budget::ToolCalls, 2).make();
    let output = made.call("agent", json!({"description": "d", "prompt": "p"}));
    assert!(output.structured.expect("data")["steps"][0]["code"].is_string(), "there is no a.txt");
    assert_eq!(made.session.spent(Budget::ToolCalls), 2);
    assert_eq!(made.session.spent(Budget::OutputTokens), 30);
    made.refused("read", json!({"file_path": "a.txt"}), 106);

    let made = world("turns: [{say: one}]").budget(Budget::DelegatedTasks, 1).make();
    made.call("agent", json!({"description": "d", "prompt": "p"}));
    made.refused("agent", json!({"description": "d", "prompt": "p"}), 106);
}

#[test]
fn a_call_that_cannot_work_says_why() {
    let made = world("turns: [{say: one}]").make();
    let error = made.refused("agent", json!({"description": "d", "prompt": "p", "subagent_type": "wizard"}), 841);
    assert!(error.to_string().contains("general, explore, plan, verify"), "{error}");
    made.refused("agent", json!({"description": " ", "prompt": "p"}), 100);
    made.refused("agent", json!({"description": "d", "prompt": "p", "isolation": "moon"}), 100);
    made.refused("agent", json!({"description": "d", "prompt": "p", "mode": "wild"}), 100);
    let error = made.refused("agent", json!({"description": "d", "prompt": "p", "model": "gone"}), 800);
    assert!(error.to_string().contains("docs/models.md"), "{error}");

    let mut bare = world("turns: [{say: one}]");
    bare.models = Default::default();
    let made = bare.make();
    for (tool, arguments) in [
        ("agent", json!({"description": "d", "prompt": "p"})),
        ("agent", json!({"description": "d", "prompt": "p", "run_in_background": true})),
        ("delegate_agent", json!({"subtasks": [{"prompt": "p"}]})),
    ] {
        let error = made.refused(tool, arguments, 800);
        assert!(error.to_string().contains("docs/models.md"), "{tool}: {error}");
    }
    // Nobody said who is asked for this session's agents.
    let stranger = made.runtime.session("stranger", true);
    let incoming = made.incoming("agent", json!({"description": "d", "prompt": "p"}));
    let outcome = made.tokio.block_on(made.runtime.dispatch(&stranger, incoming)).expect("no fault");
    assert_eq!(outcome.result.expect_err("refused").code.0, 840);
}

#[test]
fn agents_stand_no_deeper_than_they_may_and_no_more_than_may_work() {
    // Each starts another; the last one may not.
    let nested = "
conversations:
  - when: {name_begins: test.a1.a1}
    turns:
      - expect: {tools_exclude: [agent, delegate_agent, run_task_packet], tools_include: [read]}
        calls: [{tool: agent, arguments: {description: d, prompt: deeper}}]
      - expect: {results: [{is_error: true}]}
        say: deepest
  - when: {name_begins: test.a1}
    turns:
      - expect: {tools_include: [agent]}
        calls: [{tool: agent, arguments: {description: d, prompt: deeper}}]
      - expect: {results: [{contains: deepest}]}
        say: middle
";
    let made = world(nested).make();
    let output = made.call("agent", json!({"description": "d", "prompt": "p"}));
    assert!(output.joined_text().starts_with("middle"), "{}", output.joined_text());
    assert_eq!(made.events("test.a1", "AgentSpawned")[0]["depth"], 2);

    let alone = "
turns:
  - calls: [{tool: agent, arguments: {description: d, prompt: deeper}}]
  - expect: {results: [{code: NIKA-842}]}
    say: alone
";
    let mut one = world(alone);
    one.at_once = 1;
    let output = one.make().call("agent", json!({"description": "d", "prompt": "p"}));
    assert!(output.joined_text().starts_with("alone"), "{}", output.joined_text());
}

#[test]
fn a_type_of_the_project_says_what_the_agent_is_told_and_gets() {
    let script = "
turns:
  - expect: {system_contains: [You count words., A test.], tools_include: [read, bash], tools_exclude: [edit, write, agent]}
    say: counted
";
    let mut counting = world(script);
    counting.types = Types::new([Found {
        at: ".claude/agents/counter.md".into(),
        text:
            "---\nname: counter\ndescription: counts\ntools: Read, Bash, WebFetch\nmodel: sonnet\n---\nYou count words."
                .into(),
        withheld: None,
    }]);
    let made = counting.make();
    let output = made.call("agent", json!({"description": "d", "prompt": "p", "subagent_type": "Counter"}));
    let text = output.joined_text();
    assert!(text.starts_with("counted") && text.contains("names tools that are not here: web_fetch"), "{text}");
    assert!(text.contains("the model `sonnet`, which is not to be had"), "{text}");
}

#[test]
fn rules_of_the_parent_hold_for_its_agents() {
    let made =
        world(&does("write", "{file_path: secret/b.txt, content: x}")).rule(RuleKind::Deny, "write(secret/**)").make();
    let output = made.call("agent", json!({"description": "d", "prompt": "p"}));
    assert_eq!(output.structured.expect("data")["steps"][0]["code"], "NIKA-205");
    assert_eq!(made.text("secret/b.txt"), "");
}

#[test]
fn an_object_is_answered_where_one_is_wanted() {
    let script = "
turns:
  - expect: {tools_include: [structured_output]}
    calls: [{tool: structured_output, arguments: {count: 3}}]
  - say: never asked
";
    let made = world(script).make();
    let schema = json!({"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]});
    let output = made.call("agent", json!({"description": "d", "prompt": "p", "schema": schema}));
    assert_eq!(
        output.structured.as_ref().expect("data")["structured"],
        json!({"count": 3}),
        "{}",
        output.joined_text()
    );
}

#[test]
fn an_object_is_refused_where_no_agent_can_answer_with_one() {
    let mut without = world("turns: [{say: never asked}]");
    without.objects = false;
    let made = without.make();
    let schema = json!({"type": "object", "properties": {"count": {"type": "integer"}}});
    for background in [false, true] {
        let arguments = json!({"description": "d", "prompt": "p", "schema": schema, "run_in_background": background});
        let error = made.refused("agent", arguments, 840);
        assert!(error.message.contains("structured_output"), "{error}");
        assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("`schema`")), "{error:?}");
    }
    assert!(made.events("test", "AgentSpawned").is_empty());
    let output = made.call("agent", json!({"description": "d", "prompt": "p"}));
    assert!(output.joined_text().starts_with("never asked"), "{}", output.joined_text());
}

#[test]
fn an_agent_that_does_not_come_to_an_end_says_so() {
    let turns = "turns:\n".to_owned() + &"  - calls: [{tool: glob, arguments: {pattern: '*'}}]\n".repeat(3);
    let made = world(&turns).make();
    let output = made.call("agent", json!({"description": "d", "prompt": "p", "max_turns": 2}));
    assert_eq!(output.failed.map(|code| code.0), Some(843));
    assert!(output.joined_text().contains("2 turns"), "{}", output.joined_text());
    assert_eq!(made.events("test", "AgentComplete")[0]["why"], "turns");
}

#[test]
fn every_example_of_every_tool_that_starts_agents_runs() {
    let mut ran = 0;
    let script = "conversations: [{repeat: true, turns: [{say: 'It is in src/session.rs:12.'}]}]";
    for tool in nika_agent::tools::all(&world(script).make().fleet) {
        for example in tool.spec().examples {
            let made = world(script).make();
            for (path, text) in example.files {
                made.file(path, text);
            }
            let arguments = serde_json::from_str(example.arguments).expect("the example is JSON");
            let output = made.call(tool.spec().name, arguments);
            let schema = tool.output_schema().expect("data have a schema");
            let data = output.structured.as_ref().expect("data");
            structured_output::fits(schema, data).unwrap_or_else(|error| panic!("{}: {error}", example.title));
            let said = output.joined_text();
            assert!(said.contains(example.answer), "{}: {}: {said}", tool.spec().name, example.title);
            ran += 1;
        }
    }
    assert_eq!(ran, 3);
}
