//! Agents that work for a run, through the real program: what they cost, what of theirs is read, what they leave running,
//! and the forms that other systems start them in.

use serde_json::{Value, json};

use crate::world::{Ran, World, world};

const SCRIPTED: [&str; 4] = ["--set", "agent.provider=scripted", "--set", "agent.model=../script.yaml"];

fn scene(script: &str) -> World {
    let world = world().file("a.txt", "one\n");
    std::fs::write(world.path("script.yaml"), script).expect("written");
    world
}

fn agent(world: &World, words: &[&str]) -> Ran {
    world.run(&[&["agent"], words, &["--provider", "scripted", "--model", "../script.yaml"]].concat())
}

/// A tool called by a person, with the script as the model of its agents.
fn call(world: &World, words: &[&str]) -> Ran {
    world.run(&[&["call"], words, &["--mode", "workspace"], &SCRIPTED].concat())
}

#[test]
fn a_bound_on_money_that_nobody_can_count_is_refused_and_one_of_a_file_is_said() {
    let unpriced = "turns: [{say: cheap}]\n";
    let world = scene(unpriced);
    agent(&world, &["x", "--max-cost", "1"]).exits(2).complains("--max-cost needs prices").complains("in the script");
    // A name that has a price next to it, and none of its own.
    let provider =
        "providers.work={address: \"http://127.0.0.1:9\", model: big, prices: {small-*: {input: 1, output: 2}}}";
    let ran = world.run(&["agent", "x", "--provider", "work", "--set", provider, "--max-cost", "1"]);
    ran.exits(2).complains("none are known for the model big of work").complains("`providers.work.prices: {big: {");
    let at_address = ["agent", "x", "--provider", "http://127.0.0.1:9", "--model", "m", "--max-cost", "1"];
    world.run(&at_address).exits(2).complains("`providers.openai-compatible.prices: {m: {input: …");

    let world = scene(unpriced).file(".claw-policy.json", r#"{"budget": {"max_total_cost_usd": 2}}"#);
    let ran = agent(&world, &["x"]);
    ran.exits(0).says("cheap").complains("notice: ").complains("needs prices").complains("does not bound this run");
    let world = scene("prices: {input: 1, output: 1}\nturns: [{say: cheap}]\n");
    assert!(!agent(&world, &["x", "--max-cost", "1"]).exits(0).err.contains("notice"));
}

#[test]
fn a_workflow_is_reckoned_by_the_price_of_the_model_that_it_asks() {
    let prices = "providers: {openai: {prices: {big: {input: 1, output: 4}, small-*: {input: 0.1, output: 0.4}}}}\n";
    let flow = |model: &str| {
        format!(
            "schema: nika/workflow@1\nprovider: openai\nmodel: {model}\nlimits: {{cost_usd: 0.01}}\ntasks:\n  - {{id: a, \
             agent: {{prompt: x, token_budget: 10000}}}}\n"
        )
    };
    let world = world();
    std::fs::create_dir_all(world.path("home/.config/nika")).expect("a directory");
    std::fs::write(world.path("home/.config/nika/config.yaml"), prices).expect("written");
    for (model, said) in [("big", "models can cost $0.04"), ("other", "nobody said what openai/other costs")] {
        std::fs::write(world.root().join("a.nika.yaml"), flow(model)).expect("written");
        let ran = world.run(&["check", "--strict", "a.nika.yaml"]);
        assert!(ran.code != 0 && format!("{}{}", ran.out, ran.err).contains(said), "{model}: {ran:?}");
    }
    std::fs::write(world.root().join("a.nika.yaml"), flow("small-2")).expect("written");
    world.run(&["check", "a.nika.yaml"]).exits(0);
}

#[test]
fn what_had_no_price_when_it_was_taken_is_said_where_a_bound_comes_later() {
    let turns = "turns:\n- {calls: [{tool: read, arguments: {file_path: a.txt}}], usage: {input: 1200, output: 34}}\n\
                 - {say: It says one., usage: {input: 10}}\n";
    let world = scene(turns);
    agent(&world, &["look", "--max-turns", "1"]).exits(3);
    let listed = world.run(&["sessions", "--output", "json"]).json();
    let session = listed[0]["session"].as_str().expect("a session").to_owned();
    std::fs::write(world.path("script.yaml"), format!("prices: {{input: 1, output: 1}}\n{turns}")).expect("written");
    let ran = agent(&world, &["--resume", &session, "--max-cost", "1"]);
    ran.exits(0).says("It says one.").complains("1234 tokens of this session had no price");
}

#[test]
fn what_an_agent_did_is_read_by_who_started_it() {
    let script = "\
turns:
  - calls: [{tool: tool_search, arguments: {query: 'select:agent'}}]
  - calls: [{id: a, tool: agent, arguments: {description: look, prompt: find the word, subagent_type: explore}}]
  - expect: {results: [{id: a, contains: its transcript}]}
    say: Found.
conversations:
  - when: {first_user_contains: find the word}
    turns:
      - say: I look into it.
        calls: [{tool: read, arguments: {file_path: a.txt}}]
      - {say: The word is one.}
";
    let world = scene(script);
    let ran = agent(&world, &["look", "--mode", "workspace", "--output", "stream-json"]);
    ran.exits(0);
    let answer = ran.out.lines().find(|line| line.contains("its transcript, for `read`: ")).expect("it is named");
    let (_, rest) = answer.split_once("for `read`: ").expect("a place");
    let place = rest.split(';').next().expect("a place");
    // The tool reads it, as it reads what was too long for an answer.
    let read = world.run(&["call", "read", &format!("file_path={place}"), "--mode", "read-only"]);
    read.exits(0).says("## Task").says("find the word").says("I look into it.").says("one").says("The word is one.");
}

#[test]
fn several_agents_are_started_in_the_forms_of_another_system() {
    let script = "\
conversations:
  - when: {first_user_contains: weigh}
    turns: [{expect: {last_user_contains: gathered}, say: weighed}]
  - when: {first_user_contains: gather}
    turns: [{expect: {last_user_contains: about apples}, say: gathered, usage: {input: 5}}]
  - when: {first_user_contains: alone}
    turns: [{say: done alone}]
";
    let world = scene(script);
    let subtasks = r#"subtasks:=["gather", {"label": "w", "prompt": "weigh", "depends_on": ["1"]}]"#;
    let several = ["Agent", "description=d", "prompt=all about apples", subtasks, "allow_shell=false", "max_turns=2"];
    call(&world, &several).exits(0).says("2 done, 0 failed, 0 skipped.").says("weighed");
    call(&world, &["delegate_agent", "prompt=do it alone"]).exits(0).says("1 done").says("done alone");
    call(&world, &["Agent", "description=d", "prompt=p", "strategy=parallel"]).exits(2).complains("`strategy`");
    let apart = ["Agent", "description=d", "prompt=p", subtasks, "isolation=worktree"];
    call(&world, &apart).exits(2).complains("`isolation`");
}

#[test]
fn an_agent_goes_on_with_what_an_earlier_one_of_its_starter_knew() {
    let script = "\
conversations:
  - when: {last_user_contains: once more}
    turns: [{expect: {messages: 3}, say: never played}, {expect: {messages: 3}, say: I remember the first time}]
  - when: {first_user_contains: go on}
    turns: [{say: the first time}]
";
    let world = scene(script);
    let named = |words: &[&str]| call(&world, &[words, &["--session", "both"]].concat());
    named(&["agent", "description=d", "prompt=go on"]).exits(0).says("the first time").says("both.a1");
    let again = ["agent", "description=d", "prompt=once more", "resume_session_id=both.a1"];
    named(&again).exits(0).says("I remember the first time").says("both.a2");
    for other in ["somebody.a1", "both.a9", "both"] {
        let wanted = format!("session_id={other}");
        let ran = named(&["agent", "description=d", "prompt=once more", &wanted]);
        ran.exits(2).complains("`resume_session_id`").complains("such as both.a1");
    }
}

#[test]
fn an_agent_is_told_what_its_starter_said_and_did_where_that_is_wanted() {
    let script = "\
turns:
  - calls: [{tool: tool_search, arguments: {query: 'select:agent'}}]
  - say: My favourite number is seventeen.
    calls: [{id: a, tool: agent, arguments: {description: d, prompt: who am I, include_parent_context: true}}]
  - expect: {results: [{id: a, contains: it knows}]}
    calls: [{id: b, tool: agent, arguments: {description: d, prompt: who are you}}]
  - expect: {results: [{id: b, contains: nobody}]}
    say: done
conversations:
  - when: {last_user_contains: who am I}
    turns: [{expect: {last_user_contains: seventeen}, say: it knows}]
  - when: {first_user_contains: who are you}
    turns: [{expect: {messages: 1}, say: nobody}]
";
    let world = scene(script);
    agent(&world, &["begin", "--mode", "workspace"]).exits(0).says("done");
    // Where a person calls the tool there is no conversation to tell of.
    let context = ["agent", "description=d", "prompt=who am I", "include_parent_context=true"];
    call(&world, &context).exits(2).complains("`include_parent_context`");
}

#[test]
fn what_agents_took_counts_for_later_calls_of_the_session() {
    let script = "turns: [{say: forty-two, usage: {input: 30}}]\nprices: {input: 1000000, output: 0}\n";
    let world = scene(script).file(".claw-policy.json", r#"{"budget": {"max_total_cost_usd": 20}}"#);
    let ask = ["agent", "description=d", "prompt=p"];
    let spent = |session: &str| call(&world, &[&ask[..], &["--session", session]].concat());
    // Thirty dollars of twenty: known when they are spent, and by the next process.
    spent("one").exits(0).says("forty-two");
    let again = world.run(&["call", "list_dir", "--session", "one"]);
    again.complains("NIKA-106").complains("20 US dollars");
    world.run(&["call", "list_dir", "--session", "two"]).exits(0);
}

fn git(world: &World, words: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    let out = command.args(words).current_dir(world.root()).env("GIT_CONFIG_GLOBAL", "/dev/null").output();
    let out = out.expect("git is needed");
    assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

#[test]
fn what_an_agent_leaves_running_ends_before_its_tests_which_are_not_blamed_for_it() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let script = "\
turns:
  - calls: [{tool: bash, arguments: {command: sh late.sh, run_in_background: true}}]
  - calls: [{tool: write, arguments: {file_path: src/b.txt, content: new}}]
  - say: Written.
";
    // The job waits for the tests, and the tests give it two seconds.
    let late = "while [ ! -e go.txt ]; do sleep 0.05; done\necho late > log.txt\n";
    let check = "touch go.txt\nn=0\nwhile [ ! -e log.txt ] && [ $n -lt 40 ]; do sleep 0.05; n=$((n+1)); done\n\
                 test -f src/b.txt\n";
    let world = scene(script).file("late.sh", late).file("check.sh", check).file("src/.keep", "");
    for words in [
        &["init", "-q"][..],
        &["config", "user.name", "Ada"],
        &["config", "user.email", "ada@example.com"],
        &["add", "-A"],
        &["commit", "-qm", "first"],
    ] {
        git(&world, words);
    }
    let packet = json!({
        "objective": "Write b.txt", "scope": "workspace", "repo": ".", "branch_policy": "none",
        "acceptance_tests": ["sh check.sh"], "commit_policy": "on_success", "reporting_contract": "what was written",
        "escalation_policy": "stop",
    });
    let ran = world.run(
        &[
            &["call", "run_task_packet", "--json", &packet.to_string(), "--mode", "accept-all"][..],
            &SCRIPTED,
            // Over the bare root, so that what one of both writes the other sees at once.
            &["--set", "shell.undo=off", "--output", "json"],
        ]
        .concat(),
    );
    let data: Value = ran.json()["structured"].clone();
    assert_eq!(data["passed"], true, "{ran:?}");
    assert!(!world.root().join("log.txt").exists(), "it had ended");
    assert_eq!(git(&world, &["show", "--format=", "--name-only"]), "go.txt\nsrc/b.txt", "what ran on changed nothing");
}

#[test]
fn commands_that_only_look_run_at_once_and_one_that_moves_does_not() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let turns = |first: &str, second: &str| {
        format!(
            "turns:\n- calls:\n  - {{id: one, tool: bash, arguments: {{command: {first}}}}}\n  - {{id: two, tool: bash, \
             arguments: {{command: {second}}}}}\n- expect: {{results: [{{id: two, contains: one}}]}}\n  say: seen\n"
        )
    };
    let order = |first: &str, second: &str| -> Vec<String> {
        let world = scene(&turns(first, second)).file("sub/b.txt", "one\n");
        let ran = agent(&world, &["look", "--mode", "workspace", "--output", "stream-json"]);
        ran.exits(0);
        let events = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let names = events.filter_map(|event| event["event"].as_str().map(str::to_owned));
        names.filter(|name| name == "call" || name == "result").collect()
    };
    assert_eq!(order("ls sub", "cat a.txt"), ["call", "call", "result", "result"]);
    assert_eq!(order("cd sub", "cat b.txt"), ["call", "result", "call", "result"]);
}

#[test]
fn a_question_has_a_name_and_a_task_its_number() {
    let world = scene("");
    let ask = ["call", "ask_user_question", "question=Which port?", "question_id=port"];
    let answers = [
        "--answer",
        r#"{"question_id": "host", "answer": "here"}"#,
        "--answer",
        r#"{"question_id": "port", "answer": "9090"}"#,
    ];
    world.run(&[&ask[..], &answers].concat()).exits(0).says("9090");
    world.run(&["call", "task_create", "title=a", "task_id=t40"]).exits(0).says("t40 [pending] a");
    world.run(&["call", "task_create", "title=b"]).exits(0).says("t41 [pending] b");
    world.run(&["call", "task_create", "title=c", "task_id=task_50"]).exits(0).says("t50 [pending] c");
    world.run(&["call", "task_create", "title=d", "task_id=7"]).exits(2).complains("t50 was the last");
    world.run(&["call", "task_create", "title=d", "task_id=900000"]).exits(2).complains("at most t10050");
    world.run(&["call", "task_create", "title=d", "task_id=fix-parser"]).exits(2).complains("belongs into `title`");
}
