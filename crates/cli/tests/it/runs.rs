//! Workflows run: what they may, what they leave, how they go on.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use nika_contract::Tool;
use nika_flow::tools::workflow_list::WorkflowList;
use nika_flow::tools::workflow_run::WorkflowRun;
use serde_json::{Value, json};

use crate::durability::{Dice, rounds};
use crate::peer::Peer;
use crate::world::{World, exists, world};

const PAGE: &str = include_str!("../../../../docs/runs.md");

/// The blocks of the page that are written in `language`.
fn blocks(language: &str) -> Vec<&'static str> {
    let open = format!("```{language}\n");
    PAGE.split(open.as_str()).skip(1).map(|piece| piece.split("```").next().expect("a block ends")).collect()
}

/// Each line of an example is said, in its order; `…` stands for any text of it.
#[test]
fn the_examples_of_the_page_are_what_is_printed() {
    let world = world().file("workflows/hello.nika.yaml", blocks("yaml")[0]);
    let mut shown = 0;
    for scene in blocks("console").iter().flat_map(|block| block.split("$ nika ").skip(1)) {
        let (line, answers) = scene.split_once('\n').expect("a line");
        let words: Vec<&str> = line.split(' ').map(|word| word.trim_matches('\'')).collect();
        let ran = world.run(&words);
        let said = format!("{}\n{}", ran.err, ran.out);
        let mut rest = said.as_str();
        for piece in answers.lines().flat_map(|answer| answer.split('…')) {
            let at = rest.find(piece).unwrap_or_else(|| panic!("`nika {line}` does not say {piece:?}: {said}"));
            rest = &rest[at + piece.len()..];
            shown += usize::from(!piece.is_empty());
        }
    }
    assert!(shown >= 8, "{shown} pieces were looked for");
}

const CHAIN: &str = r#"
schema: nika/workflow@1
name: chain
inputs:
  word: {type: string, default: hello}
permits:
  fs: {read: ["**"], write: ["out/**"]}
  exec: ["printf *"]
  tools: [write]
tasks:
  - id: say
    exec: [printf, "%s", "{{ inputs.word }} $(id) ; x"]
  - id: keep
    use: {said: say}
    invoke:
      tool: write
      params: {file_path: out/said.txt, content: "{{ use.said }}"}
outputs:
  said: "{{ tasks.say }}"
"#;

fn chain() -> World {
    world().file("w/chain.nika.yaml", CHAIN)
}

#[test]
fn a_workflow_runs_and_a_value_stays_one_word() {
    let world = chain();
    world.run(&["run", "w/chain.nika.yaml", "word=it's"]).exits(0).says("said: it's $(id) ; x");
    assert_eq!(world.text("out/said.txt"), "it's $(id) ; x");
    // What a run writes it may write again: nobody has to read it first.
    let json = world.run(&["run", "w/chain.nika.yaml", "--output", "json"]).json();
    assert_eq!((&json["ok"], &json["outputs"]["said"]), (&json!(true), &json!("hello $(id) ; x")));
    world.run(&["trace", "list"]).exits(0).says("completed").says("w/chain.nika.yaml");
    world.run(&["trace", "verify"]).exits(0).says("ok  run-");
    world.run(&["trace", "show"]).exits(0).says("say ended in").says("completed in");
    let exported = world.run(&["trace", "export", "last", "--format", "json"]).json();
    assert_eq!(exported[1]["event"], "WorkflowStarted");
    world.run(&["trace", "export", "last", "--format", "yaml"]).exits(0).says("event: TaskCompleted");
    world.run(&["run", "w/chain.nika.yaml", "wrod=x"]).exits(2).complains("NIKA-891").complains("`word`?");
    world.run(&["log", "verify"]).exits(0);
}

#[test]
fn what_is_not_stated_is_refused_whatever_the_mode() {
    let world = world()
        .file("secret.txt", "s")
        .file(
            "w.nika.yaml",
            "schema: nika/workflow@1\npermits:\n  fs: {read: [\"src/**\"]}\n  tools: [read]\ninputs: {file: {type: string, default: secret.txt}}\ntasks:\n  - id: a\n    invoke: {tool: read, params: {file_path: \"{{ inputs.file }}\"}}\n",
        )
        .file(
            "x.nika.yaml",
            "schema: nika/workflow@1\npermits:\n  exec: [\"git log *\"]\ninputs: {what: {type: string, default: status}}\ntasks:\n  - id: a\n    exec: [git, \"{{ inputs.what }}\"]\n",
        );
    // Only the run knows what the templates make of it.
    for file in ["w.nika.yaml", "x.nika.yaml"] {
        world.run(&["run", file, "--mode", "accept-all", "--yes"]).exits(1).complains("all but `permits`");
    }
}

#[test]
fn what_the_check_refuses_is_not_begun() {
    let world = world().file("there.txt", "x");
    for (task, code) in [
        ("exec: [touch, began]", "NIKA-877"),
        ("invoke: {tool: read, params: {file: there.txt}}", "NIKA-880"),
        ("invoke: {tool: exec, params: {argv: [touch, began]}}", "NIKA-873"),
        ("exec: [cat, \"{{ use.y }}\"]", "NIKA-873"),
    ] {
        let text = format!(
            "schema: nika/workflow@1\npermits: {{fs: {{read: [\"**\"]}}, exec: [\"cat *\"], tools: [read, exec]}}\ntasks:\n  - id: first\n    exec: [cat, there.txt]\n  - id: second\n    {task}\n"
        );
        std::fs::write(world.root().join("w.nika.yaml"), text).expect("written");
        world.run(&["check", "w.nika.yaml"]).exits(1).says(code);
        world.run(&["run", "w.nika.yaml", "--yes"]).exits(2).complains("NIKA-882").complains(code);
        world.run(&["trace", "list"]).exits(0).says("No workflow was run here yet");
    }
}

const OLDER: &str = "schema: nika/workflow@0.1\nworkflow: notes\ntasks:\n  - id: list\n    exec: ls src\n  - id: note\n    use: {found: list}\n    exec: 'echo \"found: {{use.found}}\" > note.txt'\n";

#[test]
fn an_older_workflow_runs_with_what_its_tasks_need_once_somebody_said_yes() {
    let world = world().file("src/a.rs", "").file("notes.nika.yaml", OLDER);
    let refused = world.run(&["run", "notes.nika.yaml", "--mode", "accept-all"]);
    refused.exits(3).complains("NIKA-893").complains("older workflow").complains("--yes");
    for line in ["fs.write: /note.txt", "exec: ls src", "exec: echo *"] {
        refused.complains(line);
    }
    assert!(!world.root().join("note.txt").exists());
    world.run(&["run", "notes.nika.yaml", "--yes"]).exits(0);
    assert_eq!(world.text("note.txt"), "found: a.rs\n");
}

const COUNTS: &str = r#"
schema: nika/workflow@1
name: count-words
description: Counts the lines that hold a word.
inputs:
  word: {type: string, description: What to look for}
permits:
  fs: {read: ["**"], write: ["out/**"]}
  tools: [grep, write]
tasks:
  - id: find
    invoke: {tool: grep, params: {pattern: "{{ inputs.word }}", path: src, output_mode: count}}
  - id: keep
    use: {found: find.text}
    invoke: {tool: write, params: {file_path: out/found.txt, content: "{{ use.found }}"}}
outputs:
  found: "{{ tasks.find.text }}"
"#;

fn counting() -> World {
    world().file("workflows/count.nika.yaml", COUNTS).file("src/a.rs", "TODO one\nTODO two\n")
}

#[test]
fn a_call_lists_workflows_and_what_they_take() {
    let world = counting().file(".nika/workflows/broken.nika.yaml", "tasks: [").file("other/x.nika.yaml", COUNTS);
    let listed = world.json(&["workflow_list"]);
    let rows = listed["structured"]["workflows"].as_array().expect("rows");
    let paths: Vec<&str> = rows.iter().filter_map(|row| row["path"].as_str()).collect();
    assert_eq!(paths, ["workflows/count.nika.yaml", ".nika/workflows/broken.nika.yaml"]);
    assert!(rows[1]["problem"].is_string(), "{listed}");
    assert_eq!(
        rows[0]["inputs"][0],
        json!({
            "name": "word", "type": "string", "required": true, "description": "What to look for",
        })
    );
    world.run(&["call", "workflow_list", "query=LINES count"]).exits(0).says("count-words (word!). Counts the lines");
    world.run(&["call", "workflow_list", "query=nothing-like-it"]).exits(0).says("No workflow holds these words");
}

#[test]
fn a_call_runs_a_workflow_with_what_its_session_may_and_no_more() {
    let world = counting();
    let call = |mode: &str, name: &str| {
        world.json(&["workflow_run", &format!("workflow={name}"), "arguments:={\"word\": \"TODO\"}", "--mode", mode])
    };
    // Nobody is there to be asked, and the mode asks before anything is started.
    assert_eq!(call("ask", "workflows/count.nika.yaml")["code"], "NIKA-205");
    assert!(!exists(world.root().join("out")));
    let read_only = call("read-only", "workflows/count.nika.yaml");
    assert_eq!(read_only["ok"], false, "{read_only}");
    assert!(!exists(world.root().join("out")), "what may change nothing changes nothing through a workflow");
    for name in ["workflows/count.nika.yaml", "count", "count-words"] {
        let done = call("accept-all", name);
        assert_eq!(done["ok"], true, "{done}");
        let data = &done["structured"];
        assert_eq!(data["workflow"], "workflows/count.nika.yaml");
        assert!(data["outputs"]["found"].as_str().is_some_and(|found| found.contains("src/a.rs:2")), "{done}");
        let run = data["run"].as_str().expect("the trace's name");
        assert!(done["content"][0]["text"].as_str().is_some_and(|text| text.contains(run)), "{done}");
        world.run(&["trace", "show", run]).exits(0).says("keep ended in");
        world.run(&["trace", "verify", run]).exits(0);
    }
    assert!(world.text("out/found.txt").contains("src/a.rs:2"));
    let denied = world.json(&[
        "workflow_run",
        "workflow=count",
        "arguments:={\"word\": \"TODO\"}",
        "--mode",
        "accept-all",
        "--deny",
        "write(out/**)",
    ]);
    assert_eq!(denied["ok"], false, "{denied}");
    assert!(denied["error"]["message"].as_str().is_some_and(|said| said.contains("count.nika.yaml")), "{denied}");
    for (words, code) in [
        (&["workflow=counts"][..], "NIKA-208"),
        (&["workflow=workflows/none.nika.yaml"], "NIKA-208"),
        (&["workflow=count"], "NIKA-891"),
        (&["workflow=src/a.rs"], "NIKA-208"),
        (&["workflow=../x.nika.yaml"], "NIKA-204"),
    ] {
        let refused = world.json(&[&["workflow_run"], words, &["--mode", "accept-all"]].concat());
        assert_eq!(refused["code"], code, "{words:?}: {refused}");
    }
}

#[test]
fn every_example_of_the_tools_runs() {
    let mut ran = 0;
    for spec in [<WorkflowList as Tool>::SPEC, <WorkflowRun as Tool>::SPEC] {
        for example in spec.examples {
            let world = example.files.iter().fold(world(), |world, (path, text)| world.file(path, text));
            let arguments: Value = serde_json::from_str(example.arguments).expect("the example is JSON");
            let fields = arguments.as_object().expect("an object").iter();
            let words: Vec<String> = fields.map(|(name, value)| format!("{name}:={value}")).collect();
            let mut all = vec![spec.name, "--mode", "accept-all"];
            all.extend(words.iter().map(String::as_str));
            let answer = world.json(&all);
            let said = answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}: {answer}", spec.name));
            assert!(said.contains(example.answer), "{}: {}: {said}", spec.name, example.title);
            ran += 1;
        }
    }
    assert_eq!(ran, 2);
}

#[test]
fn a_call_hands_no_secret_to_a_workflow() {
    let text = "schema: nika/workflow@1\nsecrets: [TOKEN]\npermits: {exec: [\"printf *\"]}\ntasks:\n  - id: a\n    exec: {command: [printf, x], env: {T: \"{{ secrets.TOKEN }}\"}}\n";
    let env = "schema: nika/workflow@1\npermits: {exec: [\"printf *\"], env: [TOKEN]}\ntasks:\n  - id: a\n    exec: [printf, \"%s\", \"{{ env.TOKEN ?? 'nothing' }}\"]\noutputs: {a: \"{{ tasks.a }}\"}\n";
    let world = world().file("w.nika.yaml", text).file("e.nika.yaml", env).file(".env", "TOKEN=hunter2-hunter2\n");
    let refused = world.json(&["workflow_run", "workflow=w.nika.yaml", "--mode", "accept-all"]);
    assert_eq!(refused["code"], "NIKA-892", "{refused}");
    let words = ["call", "workflow_run", "workflow=e.nika.yaml", "--mode", "accept-all", "--output", "json"];
    let out = world.nika(&words).env("TOKEN", "hunter2-hunter2").output().expect("the program starts");
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(said.contains("nothing") && !said.contains("hunter2"), "{said}");
}

#[test]
fn a_client_runs_a_workflow_over_mcp() {
    let world = counting();
    let mut peer = Peer::start(world.nika(&["serve", "--mode", "accept-all"]));
    peer.initialize("2025-06-18");
    let arguments = json!({"workflow": "count", "arguments": {"word": "TODO"}});
    let mut call = || peer.call("nika_call", json!({"tool": "workflow_run", "arguments": arguments}));
    // A deferred tool answers the first call with its schema, or does it at once.
    let first = call();
    let done = if first["structuredContent"]["run"].is_string() { first } else { call() };
    assert_ne!(done["isError"], true, "{done}");
    assert_eq!(done["structuredContent"]["workflow"], "workflows/count.nika.yaml", "{done}");
    assert!(world.text("out/found.txt").contains("src/a.rs:2"));
}

#[test]
fn an_agent_runs_a_workflow_and_in_plan_mode_none() {
    let script = "turns:
- calls: [{tool: tool_search, arguments: {query: 'select:workflow_run,enter_plan_mode'}}]
- calls: [{id: a, tool: workflow_run, arguments: {workflow: count, arguments: {word: TODO}}}]
- expect: {results: [{id: a, contains: workflows/count.nika.yaml is done}]}
  calls: [{tool: enter_plan_mode, arguments: {}}]
- calls: [{id: b, tool: workflow_run, arguments: {workflow: count, arguments: {word: TODO}}}]
- expect: {results: [{id: b, contains: plan mode, is_error: true}]}
  say: as it should be
";
    let world = counting();
    std::fs::write(world.path("script.yaml"), script).expect("written");
    let words = ["agent", "x", "--provider", "scripted", "--model", "../script.yaml", "--mode", "accept-all"];
    world.run(&words).exits(0).says("as it should be");
    assert!(world.text("out/found.txt").contains("src/a.rs:2"));
    // Its calls are its session's: an agent's own name below the agent that called.
    world.run(&["trace", "list"]).exits(0).says(".a1");
    world.run(&["log", "verify"]).exits(0);
}

#[test]
fn a_task_of_a_called_workflow_asks_the_callers_model() {
    let script = "conversations:
- when: {first_user_contains: How many?}
  turns: [{say: forty-two}]
- turns:
  - calls: [{tool: tool_search, arguments: {query: 'select:workflow_run'}}]
  - calls: [{id: a, tool: workflow_run, arguments: {workflow: ask.nika.yaml}}]
  - expect: {results: [{id: a, contains: 'answer: forty-two'}]}
    say: as it should be
";
    let ask = "schema: nika/workflow@1\ntasks: [{id: ask, infer: How many?}]\noutputs: {answer: \"{{ tasks.ask }}\"}\n";
    let world = world().file("ask.nika.yaml", ask);
    std::fs::write(world.path("script.yaml"), script).expect("written");
    let words = ["agent", "x", "--provider", "scripted", "--model", "../script.yaml", "--mode", "accept-all"];
    world.run(&words).exits(0).says("as it should be");
}

#[test]
fn a_workflow_that_runs_another_names_it() {
    let outer = |tools: &str| {
        format!(
            "schema: nika/workflow@1\npermits: {{fs: {{read: [\"**\"], write: [\"out/**\"]}}, tools: [{tools}]}}\ntasks:\n  - id: run\n    invoke: {{tool: workflow_run, params: {{workflow: workflows/count.nika.yaml, arguments: {{word: TODO}}}}}}\noutputs: {{found: \"{{{{ tasks.run.outputs.found }}}}\"}}\n"
        )
    };
    let world = counting().file("o.nika.yaml", &outer("workflow_run, grep, write"));
    world.run(&["check", "o.nika.yaml"]).exits(1).says("NIKA-877").says("workflow(workflows/count.nika.yaml)");
    let inferred = world.run(&["check", "--infer-permits", "o.nika.yaml"]);
    inferred.exits(0).says("workflow(workflows/count.nika.yaml)");
    let named = outer("workflow_run, grep, write, workflow(workflows/count.nika.yaml)");
    let world = world.file("o.nika.yaml", &named);
    world.run(&["check", "o.nika.yaml"]).exits(0);
    world.run(&["run", "o.nika.yaml", "--yes"]).exits(0).says("src/a.rs:2");
}

#[test]
fn a_workflow_that_runs_itself_comes_to_an_end() {
    let itself = "schema: nika/workflow@1\npermits: {fs: {read: [\"**\"]}, tools: [workflow_run, workflow(w.nika.yaml)]}\ntasks:\n  - id: again\n    invoke: {tool: workflow_run, params: {workflow: w.nika.yaml}}\n";
    let world = world().file("w.nika.yaml", itself);
    let ended = world.json(&["workflow_run", "workflow=w.nika.yaml", "--mode", "accept-all"]);
    assert_eq!(ended["ok"], false);
    let said = ended["error"]["message"].as_str().expect("a message");
    assert!(said.contains("NIKA-897 workflows and agents stand 8 deep"), "{said}");
}

#[test]
fn a_command_changes_only_what_is_stated() {
    let world = world().file(
        "w.nika.yaml",
        "schema: nika/workflow@1\npermits:\n  fs: {write: [\"out/**\"]}\n  exec: [\"python3 *\"]\ntasks:\n  - id: a\n    exec: [python3, -c, \"import os; os.makedirs('out', exist_ok=True); open('out/a','w').write('1'); open('b','w').write('2')\"]\n",
    );
    let ran = world.run(&["run", "w.nika.yaml", "--yes"]);
    ran.exits(1).complains("NIKA-205").complains("as a rule denies it");
    assert!(!world.root().join("b").exists(), "what is not stated is not changed");
    assert_eq!(world.text("out/a"), "1");
}

#[test]
fn what_is_taken_of_the_environment_needs_a_yes_in_every_mode() {
    let text = "schema: nika/workflow@1\nsecrets: [TOKEN]\npermits:\n  exec: [\"printf *\"]\n  env: [CI]\ntasks:\n  - id: a\n    exec: [printf, x]\n";
    let world = world().file("w.nika.yaml", text).file(".env", "TOKEN=abcdef\nCI=1\n");
    let ran = world.run(&["run", "w.nika.yaml", "--mode", "accept-all"]);
    ran.exits(3).complains("NIKA-893").complains("secrets: TOKEN").complains("env: CI");
    world.run(&["run", "w.nika.yaml", "--yes"]).exits(0);
}

#[test]
fn what_goes_beyond_the_mode_needs_one_yes() {
    let world = world().file(
        "w.nika.yaml",
        "schema: nika/workflow@1\npermits:\n  net: [example.com]\n  exec: [\"printf *\"]\ntasks:\n  - id: a\n    exec: [printf, x]\n",
    );
    let ran = world.run(&["run", "w.nika.yaml"]);
    ran.exits(3).complains("NIKA-893").complains("net: example.com").complains("--yes");
    world.run(&["run", "w.nika.yaml", "--yes"]).exits(0);
}

#[test]
fn a_failed_run_goes_on_and_runs_nothing_twice() {
    let world = world().file(
        "w.nika.yaml",
        "schema: nika/workflow@1\npermits:\n  fs: {read: [\"**\"], write: [\"**\"]}\n  exec: [\"python3 *\"]\n  tools: [read]\ntasks:\n  - id: count\n    exec: [python3, -c, \"open('n','a').write('x')\"]\n  - id: needs\n    depends_on: count\n    invoke: {tool: read, params: {file_path: there.txt}}\n",
    );
    world
        .run(&["run", "w.nika.yaml", "--yes"])
        .exits(1)
        .complains("`needs` failed")
        .complains("nika run --resume run-");
    std::fs::write(world.root().join("there.txt"), "here").expect("written");
    world.run(&["run", "--resume", "last", "--yes"]).exits(0);
    assert_eq!(world.text("n"), "x", "what ended is not done again");
    world.run(&["run", "--resume", "last", "--yes"]).exits(0);
    std::fs::write(world.root().join("w.nika.yaml"), CHAIN).expect("written");
    world.run(&["run", "--resume", "last", "--yes"]).exits(2).complains("NIKA-895").complains("was changed");
}

/// A trace names its file from its root: a file of that name where somebody happens to stand is another one.
#[test]
fn going_on_takes_the_file_of_the_root_and_no_other() {
    let own = "schema: nika/workflow@1\npermits: {fs: {read: ['**']}, tools: [read]}\ntasks:\n  - {id: a, invoke: {tool: read, params: {file_path: there.txt}}}\n";
    let world = world().file("sub/w.nika.yaml", own).file("w.nika.yaml", CHAIN);
    let sub = world.root().join("sub").display().to_string();
    let file = world.root().join("sub/w.nika.yaml").display().to_string();
    world.run(&["run", &file, "--root", &sub, "--yes"]).exits(1).complains("`a` failed");
    let world = world.file("sub/there.txt", "here");
    world.run(&["run", "--resume", "last", "--root", &sub, "--yes"]).exits(0);
}

#[test]
fn what_cannot_be_read_is_wrong_usage_for_every_command() {
    let world = world().file("dir.nika.yaml/x", "").file("rule.nika.yaml", "schema: nika/workflow@1\ntasks: [");
    std::fs::write(world.root().join("bytes.nika.yaml"), b"schema: nika/workflow@1\n\xff\n").expect("written");
    for (file, why) in [
        ("none.nika.yaml", "No such file"),
        ("dir.nika.yaml", "no regular file"),
        ("bytes.nika.yaml", "line 2 is not UTF-8"),
    ] {
        for command in ["run", "check", "upgrade"] {
            world.run(&[command, file]).exits(2).complains("NIKA-100").complains(file).complains(why);
        }
    }
    // What can be read and is no workflow has findings: that is what `check` is for.
    world.run(&["run", "rule.nika.yaml"]).exits(2).complains("NIKA-882").complains("NIKA-870");
    world.run(&["check", "rule.nika.yaml"]).exits(1).says("NIKA-870");
}

/// What a command printed before it was ended is in the error, with how it ended.
#[test]
fn a_command_that_is_killed_says_what_it_had_printed() {
    let world = world().file(
        "w.nika.yaml",
        "schema: nika/workflow@1\npermits: {exec: ['python3 *']}\ntasks:\n  - id: a\n    exec: [python3, -c, \"import os; print('half of it', flush=True); os.kill(os.getpid(), 9)\"]\n",
    );
    let ran = world.run(&["run", "w.nika.yaml", "--yes"]);
    ran.exits(1).complains("NIKA-400").complains("signal").complains("half of it");
}

#[test]
fn a_command_whose_time_is_up_says_what_it_had_printed() {
    let world = world().file(
        "w.nika.yaml",
        "schema: nika/workflow@1\npermits: {exec: ['python3 *']}\ntasks:\n  - id: a\n    timeout: 1s\n    exec: [python3, -c, \"import sys, time; print('half of it', flush=True); print('and why', file=sys.stderr, flush=True); time.sleep(60)\"]\n",
    );
    let ran = world.run(&["run", "w.nika.yaml", "--yes"]);
    ran.exits(1).complains("NIKA-896").complains("longer than 1s").complains("half of it").complains("and why");
}

/// What a template makes is data: a tool that does not take it is no error of the check's.
#[test]
fn a_pattern_that_is_given_and_does_not_compile_is_data() {
    let text = "schema: nika/workflow@1\ninputs: {words: {type: string}}\npermits: {fs: {read: ['**']}, tools: [grep, read]}\ntasks:\n  - {id: find, invoke: {tool: grep, params: {pattern: '{{ inputs.words }}'}}, retry: 3}\n  - {id: end, invoke: {tool: read, params: {file_path: a.txt, offset: 99}}}\n";
    let world = world().file("a.txt", "one\n").file("w.nika.yaml", text);
    world.run(&["check", "w.nika.yaml"]).exits(0);
    let ran = world.run(&["run", "w.nika.yaml", "words=(", "--yes"]);
    ran.exits(1).complains("NIKA-890 `find`: what its templates made does not fit `grep`").complains("literal: true");
    ran.complains("NIKA-890 `end`: `read` does not take this, as things are here").complains("beyond the end");
    assert!(!ran.err.contains("again in"), "no try mends it: {ran:?}");
}

#[test]
fn a_value_that_does_not_fit_is_told_once() {
    let text = "schema: nika/workflow@1\ninputs: {n: {type: number}}\npermits: {exec: ['printf *']}\ntasks: [{id: a, exec: [printf, '{{ inputs.n }}']}]\n";
    let world = world().file("w.nika.yaml", text);
    let ran = world.run(&["run", "w.nika.yaml", "n=abc"]);
    ran.exits(2).complains("`n` takes a number, not `abc`");
    assert!(!ran.err.contains("missing"), "{ran:?}");
}

#[test]
fn a_secret_is_shown_nowhere() {
    let world = world().file(
        "w.nika.yaml",
        "schema: nika/workflow@1\nsecrets: [TOKEN]\npermits:\n  exec: [\"python3 *\"]\ntasks:\n  - id: a\n    exec:\n      command: [python3, -c, \"import os,base64; v=os.environ['MY_TOKEN']; print(v, base64.b64encode(v.encode()).decode(), v.encode().hex())\"]\n      env: {MY_TOKEN: \"{{ secrets.TOKEN }}\"}\noutputs:\n  a: \"{{ tasks.a }}\"\n",
    );
    world.run(&["run", "w.nika.yaml", "--yes"]).exits(2).complains("NIKA-892").complains("TOKEN");
    std::fs::write(world.root().join(".env"), "TOKEN='hunter2-hunter2'\n").expect("written");
    let ran = world.run(&["run", "w.nika.yaml", "--yes"]);
    ran.exits(0).says("a: [secret TOKEN] [secret TOKEN] [secret TOKEN]");
    let mut open = vec![world.path("state")];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                let bytes = std::fs::read(entry.path()).expect("readable");
                let text = String::from_utf8_lossy(&bytes);
                assert!(!text.contains("hunter2") && !text.contains("68756e74657232"), "{}", entry.path().display());
            }
        }
    }
}

#[test]
fn a_model_answers_by_a_script_and_is_asked_again_for_what_fits() {
    let world = world()
        .file(
            "w.nika.yaml",
            "schema: nika/workflow@1\ntasks:\n  - id: judge\n    infer: {prompt: \"Is it good?\"}\n    output: {format: json, schema: {type: object, properties: {good: {type: boolean}}, required: [good]}}\noutputs:\n  good: \"{{ tasks.judge.good }}\"\n",
        )
        .file("script.yaml", "turns:\n  - say: 'maybe'\n  - say: '{\"good\": true}'\n");
    let ran = world.run(&["run", "w.nika.yaml", "--provider", "scripted", "--model", "script.yaml"]);
    ran.exits(0).says("good: true");
}

#[test]
fn a_workflow_is_tested_against_what_its_test_holds() {
    let world = chain().file(
        "w/chain.test.yaml",
        "cases:\n  - name: says it\n    inputs: {word: hi}\n    outputs: {said: wrong}\n    files: {out/said.txt: \"hi $(id) ; x\"}\n",
    );
    world.run(&["test"]).exits(1).says("FAIL  w/chain.test.yaml: says it").says("+  \"said\": \"hi $(id) ; x\"");
    world.run(&["test", "--update", "w/chain.nika.yaml"]).exits(0);
    world.run(&["test"]).exits(0).says("1 passed, 0 failed");
    assert!(!world.root().join("out").exists(), "a test works elsewhere");
}

/// Appends a letter to a file of its own for each task and element; what they print is what was appended.
const MANY: &str = r#"
schema: nika/workflow@1
permits:
  fs: {read: ["**"], write: ["out/**"]}
  exec: ["tee *", "printf *"]
limits: {parallel: 2}
tasks:
  - id: first
    exec: {command: [tee, -a, out/first], stdin: x}
  - id: each
    depends_on: first
    for_each: {items: [a, b, c, d], as: name, concurrency: 2}
    exec: {command: [tee, -a, "out/each-{{ name }}"], stdin: "{{ name }}"}
  - id: last
    use: {all: each}
    exec: {command: [tee, -a, out/last], stdin: x}
  - id: sum
    use: {all: each, last: last}
    exec: [printf, "%s", "{{ use.all | join('') }}{{ use.last }}"]
outputs:
  all: "{{ tasks.sum }}"
"#;

/// The traces' lines, of the one run there is.
fn trace_of(state: &Path) -> Vec<Value> {
    let (mut open, mut lines) = (vec![state.to_path_buf()], Vec::new());
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().contains("/runs/journal/run-") {
                let text = std::fs::read_to_string(&path).expect("readable");
                // A run that was killed before it had begun has a journal as well, with nothing of a task in it.
                lines.extend(text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()));
            }
        }
    }
    lines
}

/// Killed at any moment and gone on with until it is done, a run ends as one that was never killed; what the trace says
/// had ended was done once.
#[test]
fn a_killed_run_goes_on_to_the_same_end() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let (mut kills, mut latest, wanted) = (0, 600_000, rounds(6));
    while kills < wanted {
        let world = world().file("w.nika.yaml", MANY).file("out/.keep", "");
        let mut words = vec!["run", "w.nika.yaml", "--yes"];
        let mut fell = 0;
        loop {
            let mut child: std::process::Child = spawn(&world, &words);
            // The moment of the kill: no state of the program is waited for here.
            std::thread::sleep(Duration::from_micros(dice.roll(latest)));
            let ended = child.try_wait().expect("it is ours");
            child.kill().ok();
            let status = child.wait().expect("it ended");
            if ended.is_some() && status.success() {
                break;
            }
            (kills, fell) = (kills + 1, fell + 1);
            let lines = trace_of(&world.path("state"));
            if lines.iter().any(|line| line["event"] == "WorkflowStarted") {
                words = vec!["run", "--resume", "last", "--yes"];
            }
            // Later, the longer it takes: every run comes to its end.
            latest = if fell > 6 { 3_000_000 } else { 600_000 };
        }
        let done = world.run(&["run", "--resume", "last", "--yes", "--output", "json"]).json();
        assert_eq!(done["outputs"], json!({"all": "abcdx"}), "as an uninterrupted run");
        let lines = trace_of(&world.path("state"));
        for (task, element, file) in [
            ("first", None, "first"),
            ("each", Some(0), "each-a"),
            ("each", Some(1), "each-b"),
            ("each", Some(2), "each-c"),
            ("each", Some(3), "each-d"),
            ("last", None, "last"),
        ] {
            let of = |line: &&Value| line["task"] == task && line["element"].as_u64() == element;
            let ended = lines.iter().filter(of).filter(|line| line["event"] == "TaskCompleted").count();
            let begun = lines.iter().filter(of).filter(|line| line["event"] == "TaskStarted").count();
            let effects = world.text(&format!("out/{file}")).len();
            assert_eq!(ended, 1, "{task} {element:?} ended once");
            assert!((1..=begun).contains(&effects), "{task} {element:?}: {effects} effects of {begun} tries");
            // After its end it was never begun again.
            let end = lines.iter().position(|line| of(&line) && line["event"] == "TaskCompleted");
            let last = lines.iter().rposition(|line| of(&line) && line["event"] == "TaskStarted");
            assert!(last < end, "{task} {element:?} was begun after it had ended");
        }
        world.run(&["trace", "verify"]).exits(0);
    }
}

fn spawn(world: &World, words: &[&str]) -> std::process::Child {
    let mut command: Command = world.nika(words);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}
