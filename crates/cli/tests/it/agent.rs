//! `nika agent` as a person or a script uses it: a scripted model, the real program, real tools.

use serde_json::Value;

use crate::world::{Ran, World, world};

/// A model that mends `sums.rs`, after it has looked at what it is asked.
const MENDS: &str = "\
turns:
  - expect: {tools_include: [read, edit, bash, tool_search], system_contains: [Use tabs here]}
    say: I look first.
    calls:
      - {tool: read, arguments: {file_path: sums.rs}}
      - {tool: grep, arguments: {pattern: fn add}}
    usage: {input: 1000, output: 20}
  - say: It subtracts.
    calls: [{tool: edit, arguments: {file_path: sums.rs, old_string: a - b, new_string: a + b}}]
    usage: {input: 100, cache_read: 1000, output: 30}
  - say: It adds now.
    usage: {input: 50, cache_read: 1100, output: 10}
";

const SUMS: &str = "fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n";

fn scene(script: &str) -> World {
    let world = world().file("sums.rs", SUMS).file("AGENTS.md", "Use tabs here.\n");
    std::fs::write(world.path("script.yaml"), script).expect("written");
    world
}

fn agent(world: &World, words: &[&str]) -> Ran {
    world.run(&with_script(words))
}

fn with_script<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["agent"], words, &["--provider", "scripted", "--model", "../script.yaml"]].concat()
}

/// The session of the last run, from `nika sessions`.
fn last_session(world: &World) -> String {
    let listed = world.run(&["sessions", "--output", "json"]).json();
    listed[0]["session"].as_str().expect("a session").to_owned()
}

#[test]
fn a_task_is_done_shown_and_taken_back() {
    let world = scene(MENDS);
    let ran = agent(&world, &["make add add", "--mode", "accept-edits"]);
    ran.exits(0);
    assert_eq!(ran.out, "It adds now.\n", "the answer alone is on stdout");
    ran.complains("● edit sums.rs")
        .complains("+    a + b")
        .complains("3 turns · 3 calls · 3,250 tokens in (2,100 cached)");
    assert!(world.text("sums.rs").contains("a + b"));
    world.run(&["undo"]).exits(0);
    assert_eq!(world.text("sums.rs"), SUMS);
    // The journal has the calls under the conversation's session, and what the model took.
    let shown = world.run(&["log", "show", &last_session(&world)]);
    shown.exits(0).says("edit").says("sums.rs");
}

#[test]
fn without_a_person_a_question_is_a_refusal_that_the_model_reads() {
    let script = "turns:\n\
        - calls: [{tool: read, arguments: {file_path: sums.rs}}]\n\
        - calls: [{id: c2, tool: edit, arguments: {file_path: sums.rs, old_string: a - b, new_string: a + b}}]\n\
        - expect: {results: [{id: c2, code: 205, is_error: true}]}\n  say: I may not.\n";
    let world = scene(script);
    agent(&world, &["make add add"]).exits(0).says("I may not.");
    assert_eq!(world.text("sums.rs"), SUMS);
}

#[test]
fn programs_get_one_object_or_a_stream_that_ends_with_it() {
    let world = scene(MENDS);
    let object = agent(&world, &["x", "--mode", "accept-edits", "--output", "json"]).json();
    assert_eq!((object["ok"].as_bool(), object["answer"].as_str()), (Some(true), Some("It adds now.")));
    assert_eq!((object["turns"].as_u64(), object["calls"].as_u64()), (Some(3), Some(3)));
    assert_eq!(object["usage"]["cache_read"], 2100);

    let world = scene(MENDS);
    let ran = agent(&world, &["x", "--mode", "accept-edits", "--output", "stream-json"]);
    let events: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let named = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!((named("turn"), named("call"), named("result"), named("ended")), (3, 3, 3, 1));
    let last = events.last().expect("events");
    assert_eq!((&last["event"], &last["stopped"]), (&Value::from("ended"), &Value::from("done")));
    assert!(events.iter().any(|event| event["event"] == "result" && event["diff"].is_string()), "{events:?}");
}

#[test]
fn an_object_is_all_that_is_printed_where_one_is_asked_for() {
    let script = "turns:\n\
        - expect: {tools_include: [structured_output]}\n  \
          calls: [{id: c1, tool: structured_output, arguments: {passed: often}}]\n\
        - expect: {results: [{id: c1, contains: passed}]}\n  \
          calls: [{tool: structured_output, arguments: {passed: true}}]\n\
        - say: done\n";
    let schema = r#"{"type": "object", "required": ["passed"], "properties": {"passed": {"type": "boolean"}}}"#;
    let world = scene(script).file("schema.json", schema).file("broken.json", r#"{"type": "wishes"}"#);
    let ran = agent(&world, &["report", "--schema", "schema.json"]);
    ran.exits(0);
    assert_eq!(serde_json::from_str::<Value>(&ran.out).expect("JSON"), serde_json::json!({"passed": true}));
    agent(&world, &["report", "--schema", "broken.json"]).exits(2).complains("NIKA-863");
    std::fs::write(world.root().join("list.json"), r#"{"type": "array"}"#).expect("written");
    agent(&world, &["report", "--schema", "list.json"]).exits(2).complains("NIKA-863").complains("no object fits");
    agent(&world, &["report", "--schema", "nowhere.json"]).exits(2).complains("nowhere.json");
}

#[test]
fn a_session_goes_on_and_a_copy_leaves_it_as_it_was() {
    let world = scene(MENDS);
    agent(&world, &["make add add", "--mode", "accept-edits", "--max-turns", "1"]).exits(3).complains("--resume");
    let session = last_session(&world);
    let ran = agent(&world, &["--resume", &session, "--mode", "accept-edits"]);
    ran.exits(0).says("It adds now.");
    assert!(world.text("sums.rs").contains("a + b"));
    let lines = |session: &str| {
        let listed = world.run(&["sessions", "--output", "json"]).json();
        let found = listed.as_array().and_then(|all| all.iter().find(|one| one["session"] == session).cloned());
        found.and_then(|found| found["lines"].as_u64()).expect("it is listed")
    };
    let before = lines(&session);
    std::fs::write(world.path("script.yaml"), "turns:\n- say: As I said.\n  expect: {last_user_contains: again}\n")
        .expect("written");
    let script = ["agent", "again", "--fork", &session, "--provider", "scripted", "--model", "../script.yaml"];
    // The copy has answers already, and this script none: it says so, and the first conversation is untouched.
    world.run(&script).exits(1).complains("no more turns");
    assert_eq!(lines(&session), before);
    agent(&world, &["x", "--resume", "nobody"]).exits(2).complains("nika sessions");
}

#[test]
fn bounds_end_a_run_with_a_code_of_their_own() {
    let round = "conversations:\n- repeat: true\n  turns:\n  - calls: [{tool: read, arguments: {file_path: sums.rs}}]\n    \
                 usage: {input: 1000, output: 1000}\n";
    let world = scene(round);
    agent(&world, &["x"]).exits(1).complains("goes in circles");
    let dear = format!("prices: {{input: 1000, output: 1000, cache_read: 0, cache_write: 0}}\n{round}");
    let world = scene(&dear);
    agent(&world, &["x", "--max-cost", "1.5"])
        .exits(3)
        .complains("NIKA-106")
        .complains("1.5 US dollars")
        .complains("are spent; with more it goes on: nika agent --resume")
        .complains("--max-cost USD");
}

#[test]
fn simple_gives_three_tools() {
    let script =
        "turns:\n- expect: {tools_include: [bash, read, edit], tools_exclude: [grep, tool_search]}\n  say: three\n";
    let world = scene(script);
    agent(&world, &["x", "--simple"]).exits(0).says("three");
    let mut command = world.nika(&with_script(&["x"]));
    Ran::of(command.env("NIKA_SIMPLE", "1").output().expect("it starts")).exits(0).says("three");
}

#[test]
fn a_model_that_cannot_be_had_is_an_error_that_helps() {
    let world = scene(MENDS);
    world
        .run(&["agent", "x"])
        .exits(2)
        .complains("NIKA-800")
        .complains("ANTHROPIC_API_KEY")
        .complains("--provider ollama");
    world.run(&["agent"]).exits(2).complains("there is no task");
    let object = world.run(&["agent", "x", "--output", "json"]).json();
    assert_eq!(object["code"], "NIKA-800");
    assert_eq!((&object["stopped"], &object["error"]["code"]), (&"fault".into(), &"NIKA-800".into()));
    for absent in ["session", "answer", "structured", "usage"] {
        assert!(object.get(absent).is_some_and(Value::is_null), "{absent}: {object}");
    }
    assert!(object.get("content").is_none(), "it is no call's object: {object}");
    world.run(&["agent", "x", "--provider", "gemini"]).exits(2).complains("GEMINI_API_KEY");
    let ended = world.run(&["agent", "x", "--output", "stream-json"]).json();
    assert_eq!(
        (&ended["event"], &ended["stopped"], &ended["code"]),
        (&"ended".into(), &"fault".into(), &"NIKA-800".into())
    );
    world.run(&["agent", "x", "--provider", "scripted"]).exits(2).complains("needs a script");
    // What a script expects and does not find is said with its place.
    let world = scene("turns:\n- expect: {tools_include: [teleport]}\n  say: x\n");
    agent(&world, &["x"]).exits(1).complains("script.yaml, line 2").complains("teleport");
}

#[test]
fn a_repository_that_nobody_trusts_chooses_no_model() {
    let world = scene(MENDS).file(".nika/config.yaml", "agent: {provider: scripted, model: ../script.yaml}\n");
    world.run(&["agent", "x"]).exits(2).complains("NIKA-800");
}

/// An agent that has another count, and one that counts in the background.
const COUNTS: &str = "\
conversations:
  - when: {first_user_contains: count the files}
    turns:
      - calls: [{tool: glob, arguments: {pattern: '*'}}]
      - {say: There are two files.}
turns:
  - calls: [{tool: tool_search, arguments: {query: 'select:agent'}}]
  - calls: [{id: a, tool: agent, arguments: {description: count, prompt: count the files, subagent_type: explore}}]
  - expect: {results: [{id: a, contains: two files}]}
    say: The explorer says two.
";

#[test]
fn an_agent_has_another_work_for_it() {
    let world = scene(COUNTS);
    // Starting an agent is a question in the default mode, and nobody is there.
    agent(&world, &["how many files?"]).exits(1).complains("NIKA-205");
    let ran = agent(&world, &["how many files?", "--mode", "workspace"]);
    ran.exits(0).says("The explorer says two.").complains("explore › glob *").complains("● agent count");
    let listed = |words: &[&str]| {
        let all = world.run(&[&["sessions", "--output", "json"], words].concat()).json();
        let names = all.as_array().expect("a list").iter().filter_map(|one| one["session"].as_str());
        names.filter(|session| session.ends_with(".a1")).count()
    };
    assert_eq!((listed(&[]), listed(&["--agents"])), (0, 1), "what cannot be gone on with is not listed as if");
}

#[test]
fn a_task_with_a_prompt_is_done_before_its_call_ends() {
    let world = scene(COUNTS);
    let model = ["--set", "agent.provider=scripted", "--set", "agent.model=../script.yaml"];
    let create = ["call", "task_create", "title=count", "prompt=count the files", "--mode", "workspace"];
    world.run(&[&create[..], &model].concat()).exits(0).says("t1 [pending] count").complains("t1 is at work");
    world.run(&["call", "task_output", "task_id=t1"]).exits(0).says("There are two files.");
    world.run(&["call", "task_list"]).exits(0).says("[completed]");
}

#[test]
fn a_kill_does_not_end_plan_mode() {
    let script = "turns:\n\
        - calls: [{tool: tool_search, arguments: {query: 'select:enter_plan_mode,sleep'}}]\n\
        - calls: [{tool: enter_plan_mode, arguments: {}}]\n\
        - calls: [{tool: sleep, arguments: {duration_ms: 1500}}]\n\
        - calls: [{id: w, tool: write, arguments: {file_path: b.txt, content: x}}]\n\
        - expect: {results: [{id: w, contains: plan mode, is_error: true}]}\n  say: still planning\n";
    let world = scene(script);
    let mut child = world.nika(&with_script(&["x", "--mode", "accept-edits"])).spawn().expect("it starts");
    let session = loop {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ended before it was killed");
        let kept = world.path("state");
        let states =
            std::fs::read_dir(&kept).expect("the base").filter_map(|entry| Some(entry.ok()?.path().join("sessions")));
        let files =
            states.filter_map(|dir| std::fs::read_dir(dir).ok()).flatten().filter_map(|entry| Some(entry.ok()?.path()));
        // A record is written beside its place first, under a name that ends otherwise.
        let planning = |path: &std::path::PathBuf| {
            path.extension().is_some_and(|kind| kind == "json")
                && std::fs::read_to_string(path).is_ok_and(|text| text.contains("\"plans\":true"))
        };
        if let Some(path) = files.into_iter().find(planning) {
            break path.file_stem().expect("a name").to_string_lossy().into_owned();
        }
        std::thread::yield_now();
    };
    child.kill().expect("killed");
    child.wait().expect("gone");
    let ran = agent(&world, &["--resume", &session, "--mode", "accept-edits"]);
    ran.exits(0).says("still planning").complains("plan mode");
    assert!(!world.root().join("b.txt").exists());
}

#[test]
fn a_models_name_opens_no_file_and_chooses_no_other_provider() {
    let asks = |model: &str| {
        format!(
            "turns:\n- calls: [{{tool: tool_search, arguments: {{query: 'select:agent'}}}}]\n- calls: [{{id: a, tool: agent, arguments: \
             {{description: d, prompt: count the files, model: {model}}}}}]\n- say: done\nconversations:\n- when: {{first_user_contains: \
             count the files}}\n  turns: [{{say: by the same model}}]\n"
        )
    };
    for model in ["scripted/../secret.yaml", "anthropic/claude", "'http://127.0.0.1:9/v1'"] {
        let world = scene(&asks(model));
        std::fs::write(world.path("secret.yaml"), "turns: [{say: from the other script}]\n").expect("written");
        let mut command = world.nika(&with_script(&["x", "--mode", "workspace", "--output", "stream-json"]));
        let ran = Ran::of(command.env("ANTHROPIC_API_KEY", "k").output().expect("it starts"));
        ran.exits(0);
        assert!(!ran.out.contains("from the other script") && !ran.out.contains("api.anthropic.com"), "{ran:?}");
    }
}

#[test]
fn what_an_agent_began_for_another_is_copied_and_not_gone_on_with() {
    let world = scene(COUNTS);
    agent(&world, &["how many files?", "--mode", "workspace"]).exits(0);
    let listed = world.run(&["sessions", "--agents", "--output", "json"]).json();
    let all = listed.as_array().expect("a list");
    let child = all.iter().filter_map(|one| one["session"].as_str()).find(|session| session.ends_with(".a1"));
    let child = child.expect("the explorer's").to_owned();
    agent(&world, &["x", "--resume", &child]).exits(2).complains("--fork");
    let world = scene(MENDS);
    agent(&world, &["x", "--max-cost", "1"]).exits(2).complains("needs prices");
}

/// A model that has another commit something, apart.
const COMMITS: &str = "\
turns:
  - calls: [{tool: tool_search, arguments: {query: 'select:agent'}}]
  - calls: [{tool: agent, arguments: {description: Commit, prompt: commit it, isolation: worktree, name: apart}}]
  - say: Done.
conversations:
  - when: {first_user_contains: commit it}
    turns:
      - calls: [{tool: write, arguments: {file_path: new.txt, content: new}}]
      - calls: [{id: git, tool: bash, arguments: {command: 'git add -A && git commit -qm apart && git log --format=%s'}}]
      - expect: {results: [{id: git, contains: \"apart\\nfirst\"}]}
        say: Committed.
";

fn git(world: &World, words: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    let out = command.args(words).current_dir(world.root()).env("GIT_CONFIG_GLOBAL", "/dev/null").output();
    let out = out.expect("git is needed");
    assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

/// The workspace as a repository with one commit.
fn committed(world: &World) {
    git(world, &["init", "-q"]);
    git(world, &["config", "user.name", "Ada"]);
    git(world, &["config", "user.email", "ada@example.com"]);
    git(world, &["add", "-A"]);
    git(world, &["commit", "-qm", "first"]);
}

/// A model that has another look apart.
const LOOKS: &str = "\
turns:
  - calls: [{tool: tool_search, arguments: {query: 'select:agent'}}]
  - calls: [{id: apart, tool: agent, arguments: {description: Look, prompt: look at it, isolation: worktree, name: apart}}]
  - expect: {results: [{id: apart, contains: Looked.}]}
    say: Done.
conversations:
  - when: {first_user_contains: look at it}
    turns:
      - say: Looked.
";

#[test]
fn a_worktree_is_made_by_no_git_of_the_workspace() {
    let world = scene(LOOKS);
    for place in ["work/git", "work/.venv/bin/git"] {
        use std::os::unix::fs::PermissionsExt;
        let path = world.path(place);
        std::fs::create_dir_all(path.parent().expect("below the world")).expect("a directory");
        let script = format!("#!/bin/sh\ntouch {}\nexec /usr/bin/git \"$@\"\n", world.path("ran").display());
        std::fs::write(&path, script).expect("a script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it may run");
    }
    committed(&world);
    let words = with_script(&["start somebody", "--mode", "accept-all"]);
    let entries = ["", ".", ".venv/bin", &world.path("work/.venv/bin").display().to_string()].join(":");
    for path in [format!("{entries}:/usr/local/bin:/usr/bin:/bin"), String::new()] {
        let ran = world.nika(&words).env("PATH", path).output().expect("it starts");
        Ran::of(ran).exits(0).says("Done.");
        assert!(!world.path("ran").exists(), "a git of the workspace ran");
    }
}

#[test]
fn an_agent_in_a_worktree_commits_there() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = scene(COMMITS);
    committed(&world);
    let git = |words: &[&str]| git(&world, words);
    agent(&world, &["start somebody", "--mode", "accept-all"]).exits(0).says("Done.");
    assert_eq!(git(&["log", "--format=%s", "nika/apart"]), "apart\nfirst");
    assert_eq!(git(&["status", "--porcelain"]), "", "the workspace itself is untouched");
    assert_eq!(git(&["-C", "../work-nika-worktrees/apart", "status", "--porcelain"]), "");
}

#[test]
fn answers_given_beforehand_answer_what_the_model_asks() {
    let script = "turns:\n\
        - calls: [{tool: tool_search, arguments: {query: 'select:ask_user_question'}}]\n\
        - calls: [{id: q, tool: ask_user_question, arguments: {question: 'Which port?', options: ['8080', '9090']}}]\n\
        - expect: {results: [{id: q, contains: '9090'}]}\n  say: I take it.\n";
    let world = scene(script);
    agent(&world, &["choose", "--answer", "2"]).exits(0).says("I take it.");
}

/// A helper that counts, behind the model's back.
const BEHIND: &str = "\
conversations:
  - when: {first_user_contains: count the files}
    turns:
      - calls: [{tool: glob, arguments: {pattern: '*'}}]
        usage: {input: 700, output: 7}
      - {say: There are two files., usage: {input: 300, output: 3}}
turns:
  - calls: [{tool: tool_search, arguments: {query: 'select:agent,task_output'}}]
  - calls: [{tool: agent, arguments: {description: count, prompt: count the files, run_in_background: true}}]
  - say: Somebody counts.
  - expect: {last_user_contains: has ended}
    calls: [{id: t, tool: task_output, arguments: {task_id: t1}}]
  - expect: {results: [{id: t, contains: two files}]}
    say: There are two.
";

#[test]
fn what_the_model_begins_in_the_background_is_done_told_and_paid() {
    let world = scene(BEHIND);
    let ran = agent(&world, &["how many?", "--mode", "workspace"]);
    ran.exits(0).says("There are two.").complains("t1 at work").complains("of it agents: 1,000 in, 10 out");
    let world = scene(BEHIND);
    let ran = agent(&world, &["how many?", "--mode", "workspace", "--output", "stream-json"]);
    let events: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let ended = events.last().expect("events");
    assert_eq!((&ended["usage"]["input"], &ended["agents"]["usage"]["input"]), (&1_000.into(), &1_000.into()));
    let session = ended["session"].as_str().expect("a session");
    let of = |event: &&Value| event["event"] == "agent";
    let named: Vec<&Value> = events.iter().filter(of).map(|event| &event["session"]).collect();
    assert!(!named.is_empty() && named.iter().all(|name| **name == *format!("{session}.a1")), "{named:?}");
}

#[test]
fn who_is_not_nika_agent_may_want_an_object_of_an_agent_too() {
    let script = "turns:\n- calls: [{tool: structured_output, arguments: {files: 2}}]\n";
    let world = scene(script);
    let model = ["--set", "agent.provider=scripted", "--set", "agent.model=../script.yaml", "--mode", "workspace"];
    let schema = r#"schema:={"type": "object", "required": ["files"], "properties": {"files": {"type": "integer"}}}"#;
    let wants = |schema| [&["call", "agent", "description=count", "prompt=count", schema], &model[..]].concat();
    world.run(&wants(schema)).exits(0).says(r#"{"files":2}"#);
    let refused = world.run(&wants(r#"schema:={"type": "array"}"#));
    refused.exits(2).complains("NIKA-863").complains("no object fits");

    let mut peer = crate::peer::Peer::start(world.nika(&[&["serve", "--list", "all"], &model[..]].concat()));
    peer.initialize("2025-11-25");
    assert!(peer.names().iter().all(|name| name != "nika_structured_output"), "nobody wants an object of the client");
    let schema: Value = serde_json::from_str(schema.trim_start_matches("schema:=")).expect("JSON");
    let said =
        peer.call("nika_agent", serde_json::json!({"description": "count", "prompt": "count", "schema": schema}));
    assert_eq!(said["content"][0]["text"], r#"{"files":2}"#, "the object alone, for programs: {said}");
    assert_eq!((said["content"].as_array().map(Vec::len), &said["structuredContent"]), (Some(2), &Value::Null));
}

#[test]
fn an_agent_reads_the_memory_files_on_the_way_to_where_its_starter_is() {
    let script = "\
conversations:
  - when: {first_user_contains: look around}
    turns: [{expect: {system_contains: [Use tabs here, Two spaces below]}, say: I know.}]
turns:
  - expect: {system_contains: [Use tabs here, Two spaces below]}
    calls: [{tool: tool_search, arguments: {query: 'select:agent'}}]
  - calls: [{id: a, tool: agent, arguments: {description: d, prompt: look around}}]
  - expect: {results: [{id: a, contains: I know}]}
    say: Both know.
";
    let world = scene(script).file("sub/deep/AGENTS.md", "Two spaces below.\n");
    let mut command = world.nika(&["agent", "x", "--mode", "workspace", "--root", "../.."]);
    command.args(["--provider", "scripted", "--model", "../../../script.yaml"]);
    let ran = Ran::of(command.current_dir(world.root().join("sub/deep")).output().expect("it starts"));
    ran.exits(0).says("Both know.");
}

#[test]
fn a_session_at_work_is_not_gone_on_with_by_a_second_process() {
    let script = "turns:\n\
        - calls: [{tool: tool_search, arguments: {query: 'select:sleep'}}]\n\
        - calls: [{tool: sleep, arguments: {duration_ms: 2500}}]\n\
        - say: slept\n";
    let world = scene(script);
    let child = world
        .nika(&with_script(&["x"]))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    // It holds its session from before the first line of its transcript.
    let session = loop {
        let listed = world.run(&["sessions", "--output", "json"]).json();
        if let Some(session) = listed[0]["session"].as_str() {
            break session.to_owned();
        }
    };
    let second = agent(&world, &["more", "--resume", &session]);
    second.exits(1).complains("NIKA-828").complains("--fork");
    let first = Ran::of(child.wait_with_output().expect("it ends"));
    first.exits(0).says("slept");
    std::fs::write(world.path("script.yaml"), script.to_owned() + "- say: again\n").expect("written");
    agent(&world, &["more", "--resume", &session]).exits(0).says("again");
}

#[test]
fn a_command_that_runs_in_the_background_is_known_after_the_conversation_became_long() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let script = "\
context_tokens: 12000
conversations:
  - when: {system_contains: You keep the memory}
    turns: [{say: Something was begun.}]
turns:
  - calls: [{tool: bash, arguments: {command: sleep 33, run_in_background: true}}]
  - calls: [{tool: read, arguments: {file_path: sums.rs}}]
    usage: {input: 11000}
  - expect: {last_user_contains: \"in the background\\n- j1 sleep 33\"}
    say: It runs still.
";
    let world = scene(script);
    let ran = agent(&world, &["begin it", "--simple", "--mode", "workspace"]);
    ran.exits(0).says("It runs still.").complains("5 messages are 3 now");
}
