//! Hooks, manifests and budgets of the real program: scripts on disk, files that configure them, and what a
//! call, `nika hooks` and `nika config` make of them.

use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::peer::{Peer, text};
use crate::shell::is_confined_here;
use crate::world::{World, until_run, world};

const READ: &[&str] = &["read", "file_path=a.txt"];

/// A person's own hook, as a script in their home.
pub fn with_hook(fields: &str, script: &str) -> World {
    let world = world().file("a.txt", "one\n");
    let path = world.path("home/check.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it may run");
    user(&world, "config.yaml", &format!("hooks:\n  - {{on: before, run: [\"~/check.sh\"]{fields}}}\n"));
    world
}

fn user(world: &World, name: &str, text: &str) {
    let dir = world.path("home/.config/nika");
    std::fs::create_dir_all(&dir).expect("a directory");
    std::fs::write(dir.join(name), text).expect("a file");
}

fn code(answer: &Value) -> &str {
    answer["code"].as_str().unwrap_or("done")
}

#[test]
fn a_script_is_heard_before_each_call() {
    let world = with_hook(
        "",
        "cat > \"$HOME/asked\"; env > \"$HOME/env\"; echo '{\"decision\": \"deny\", \"reason\": \"lunch\"}'",
    );
    let answer = world.json(READ);
    assert_eq!(code(&answer), "NIKA-107");
    let message = answer["error"]["message"].as_str().expect("a message");
    assert!(message.contains("lunch") && message.contains("config.yaml:2"), "{message}");
    world.run(&["call", "read", "file_path=a.txt"]).exits(3).complains("lunch");
    let asked = std::fs::read_to_string(world.path("home/asked")).expect("it was asked");
    assert_eq!(serde_json::from_str::<Value>(&asked).expect("JSON")["arguments"], json!({"file_path": "a.txt"}));
    let env = std::fs::read_to_string(world.path("home/env")).expect("it has an environment");
    assert!(env.contains("NIKA_TOOL=read") && env.contains("HOME=") && !env.contains("NIKA_STATE_DIR"), "{env}");
    world.run(&["log", "show"]).exits(0);
}

#[test]
fn what_a_script_withholds_is_told_nowhere() {
    if !is_confined_here() {
        return;
    }
    let deny = "grep -q SECRET && echo '{\"decision\": \"deny\", \"reason\": \"leaks\"}'; exit 0";
    let world = with_hook("", deny);
    user(&world, "config.yaml", "hooks:\n  - {on: after, run: [\"~/check.sh\"]}\n");
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "accept-all"]));
    peer.initialize("2025-11-25");
    let lasts = json!({"command": "echo SEC'RET'; sleep 2.2; cat a.txt >b.txt"});
    let withheld =
        peer.request("tools/call", json!({"name": "nika_bash", "arguments": lasts, "_meta": {"progressToken": 7}}));
    assert!(withheld.to_string().contains("NIKA-107"), "{withheld}");
    let steps: Vec<&Value> = peer.heard.iter().filter(|heard| heard["method"] == "notifications/progress").collect();
    assert!(!steps.is_empty() && steps.iter().all(|step| !step.to_string().contains("SECRET")), "{steps:?}");
    let code = json!({"language": "bash", "code": "echo SEC'RET'"});
    assert!(text(&peer.call("nika_repl", code)).contains("NIKA-107"));
    for number in 1..8 {
        let read = json!({"job_id": format!("j{number}"), "offset": 0});
        let refused = text(&peer.call("nika_job_output", read));
        assert!(refused.contains("NIKA-") && !refused.contains("SECRET"), "{refused}");
    }
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_script_that_is_not_there_refuses_every_call() {
    let world = with_hook("", "");
    std::fs::remove_file(world.path("home/check.sh")).expect("removed");
    assert_eq!(code(&world.json(READ)), "NIKA-107");
    user(&world, "config.yaml", "hooks: [{on: before, run: [\"~/check.sh\"], on_failure: note}]");
    let answer = world.json(READ);
    assert_eq!(code(&answer), "done");
    assert!(answer.to_string().contains("could not be started"), "{answer}");
}

#[test]
fn a_hook_without_a_place_is_never_the_workspaces() {
    let script = |world: &World, path: &str, text: &str| {
        let path = world.path(path);
        std::fs::create_dir_all(path.parent().expect("below the world")).expect("a directory");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it may run");
    };
    let world = world().file("a.txt", "one\n");
    user(&world, "config.yaml", "hooks: [{on: before, run: [check]}]\n");
    script(&world, "home/bin/check", "echo '{\"decision\": \"deny\", \"reason\": \"lunch\"}'");
    for place in ["work/check", "work/.venv/bin/check"] {
        script(&world, place, &format!("touch {}", world.path("ran").display()));
    }
    let entries = ["", ".", ".venv/bin", "../work", &world.path("work/.venv/bin").display().to_string()].join(":");
    let path = format!("{entries}:{}:/usr/bin:/bin", world.path("home/bin").display());
    let ran = world.nika(&["call", "read", "file_path=a.txt"]).env("PATH", path).output().expect("it starts");
    crate::world::Ran::of(ran).exits(3).complains("lunch");
    assert!(!world.path("ran").exists(), "a program of the workspace ran");
}

#[test]
fn hooks_are_listed_and_tried() {
    let world = with_hook(
        ", tool: write",
        "cat >/dev/null; echo '{\"arguments\": {\"file_path\": \".git/config\", \"content\": \"x\"}, \"note\": \"moved\"}'",
    );
    world.run(&["hooks", "list"]).exits(0).says("before write:").says("5000 ms, on failure deny").says("config.yaml:2");
    let listed = world.run(&["hooks", "list", "--output", "json"]).json();
    assert_eq!((&listed["hooks"][0]["on"], &listed["hooks"][0]["layer"]), (&json!("before"), &json!("user")));

    let odd = ["hooks", "list", "--set", "hooks=[{on: before, tool: writ, run: [x]}]"];
    world.run(&odd).exits(0).says("no tool is called 'writ'");

    let tried = world.run(&["hooks", "test"]);
    tried.exits(0).says("No hook is in force for read").says("It would be: allow");
    let words = [
        "hooks",
        "test",
        "Write",
        "--json",
        "{\"file_path\": \"b.txt\", \"content\": \"b\"}",
        "--mode",
        "accept-edits",
    ];
    world.run(&words).exits(0).says("rewrites the arguments").says("notes: moved").says("It would be: ask");
    let tried = world.run(&[words.as_slice(), &["--output", "json"]].concat()).json();
    assert_eq!((&tried["hooks"][0]["outcome"], &tried["decision"]), (&json!("decided"), &json!("ask")));
    assert_eq!(tried["arguments"]["file_path"], ".git/config");
    assert!(tried["hooks"][0]["took_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{tried}");
    assert!(!world.root().join("b.txt").exists() && !world.root().join(".git").exists());

    // Arguments that do not fit come before any hook.
    for (tool, json) in [("write", "{\"x\": 1}"), ("write", "{}")] {
        let unasked = world.run(&["hooks", "test", tool, "--json", json]);
        unasked.exits(1).says("No hook was asked: the arguments do not fit write").says("refused: NIKA-100");
        assert!(!unasked.out.contains("in force"), "{unasked:?}");
    }
    world.run(&["hooks", "test", "read", "--json", "{\"x\": 1}"]).exits(0).says("No hook is in force for read");

    let world = with_hook("", "echo broken");
    world.run(&["hooks", "test"]).exits(1).says("malformed").says("deny").says("would be refused: NIKA-107");
    world.run(&["hooks", "test", "reed"]).exits(2).complains("NIKA-101");
    world.run(&["hooks", "test", "--json", "[]"]).exits(2).complains("one JSON object");
}

#[test]
fn a_repositorys_hook_runs_only_when_trusted_and_as_it_was() {
    let script = "#!/bin/sh\necho '{\"decision\": \"deny\", \"reason\": \"by the repository\"}'\n";
    let world = world()
        .file("a.txt", "one\n")
        .file(".nika/config.yaml", "hooks: [{on: before, run: [.nika/check.sh]}]\n")
        .file(".nika/check.sh", script);
    let path = world.root().join(".nika/check.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it may run");
    assert_eq!(code(&world.json(READ)), "done");
    world.run(&["hooks", "list"]).exits(0).says("No hooks are in force").says("it runs a command");
    world.run(&["trust", "--yes"]).exits(0).says(".nika/check.sh");
    assert_eq!(code(&world.json(READ)), "NIKA-107");
    std::fs::write(&path, "#!/bin/sh\ntouch ran\n").expect("a change");
    assert_eq!(code(&world.json(READ)), "done");
    assert!(!world.root().join("ran").exists(), "what changed since is not trusted");
}

#[test]
fn a_manifest_takes_tools_away_and_says_where() {
    let world = world().file("a.txt", "one\n").file(".claw-policy.json", "{\n  \"denyTools\": [\"read_file\"]\n}");
    let ran = world.run(&["call", "read", "file_path=a.txt"]);
    ran.exits(3).complains("NIKA-102").complains("manifest .claw-policy.json:2");
    assert!(!world.run(&["tools", "--json"]).out.contains("\"name\": \"read\""));
    world.run(&["config"]).exits(0).says("denyTools").says(".claw-policy.json:2").says("manifest");
}

#[test]
fn a_malformed_manifest_lets_nothing_run() {
    let world = world().file("a.txt", "one\n").file(".claw-hooks.json", "{\"denyTools\": [\"x\"],}");
    let list: [&[&str]; 5] =
        [&["call", "read", "file_path=a.txt"], &["serve"], &["config"], &["hooks", "list"], &["hooks", "test"]];
    for words in list {
        world.run(words).exits(2).complains("NIKA-902 .claw-hooks.json:1:21");
    }
}

#[test]
fn a_named_session_is_stopped_by_its_budget_over_processes() {
    let world = world().file("a.txt", "one\n").file(".nika/policy.json", "{\"budget\": {\"max_tool_calls\": 2}}");
    let call = |session: &str| world.run(&["call", "read", "file_path=a.txt", "--session", session]);
    call("work").exits(0);
    call("work").exits(0);
    call("work").exits(3).complains("NIKA-106").complains("max_tool_calls, .nika/policy.json:1");
    call("work").exits(3);
    call("other").exits(0);
    for _ in 0..3 {
        world.run(&["call", "read", "file_path=a.txt"]).exits(0);
    }
}

#[test]
fn a_client_is_told_at_the_start_and_stopped_at_the_end() {
    let world = world().file("a.txt", "one\n");
    let manifest = json!({
        "denyTools": ["Grep"],
        "budget": {"max_tool_calls": 2},
        "hooks": {"beforePrompt": ["Be brief.", "Be kind."], "afterTurn": "Well done.", "afterTool": {"Read": "Read it twice."}},
    });
    user(&world, "policy.json", &manifest.to_string());
    let mut peer = Peer::start(world.nika(&["serve"]));
    let hello = peer.initialize("2025-11-25");
    let said = hello["instructions"].as_str().expect("instructions");
    assert!(said.ends_with("Be brief.\nBe kind.") && !said.contains("Well done."), "{said}");
    assert!(!peer.names().iter().any(|name| name == "nika_grep"));
    let answer = peer.call("nika_read", json!({"file_path": "a.txt"}));
    assert!(answer.to_string().contains("Read it twice."), "{answer}");
    let started = peer.call("nika_bash", json!({"command": "sleep 60", "run_in_background": true}));
    let refused = peer.call("nika_read", json!({"file_path": "a.txt"}));
    assert!(refused["isError"] == true && refused.to_string().contains("NIKA-106"), "{refused}");
    if crate::shell::is_confined_here() {
        let mut stop = || peer.call("nika_job_stop", json!({"job_id": "j1"}));
        let loaded = stop();
        assert!(text(&loaded).contains("NIKA-103"), "its schema comes first: {loaded}");
        let stopped = stop();
        assert!(stopped["isError"] != true, "what runs can be ended: {started} {stopped}");
    }
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_hook_ends_with_the_program_however_that_ends() {
    for (seconds, signal) in ["38.25", "38.26", "38.27"].iter().zip([Signal::KILL, Signal::TERM, Signal::INT]) {
        // One process of it in a session of its own, too.
        let world = with_hook("", &format!("setsid sleep {seconds} & sleep {seconds}; true"));
        let mut peer = Peer::start(world.nika(&["serve"]));
        peer.initialize("2025-11-25");
        peer.send("tools/call", json!({"name": "nika_read", "arguments": {"file_path": "a.txt"}}));
        until_run(&["sleep", seconds], 2);
        let server = rustix::process::Pid::from_raw(peer.id() as i32).expect("a process");
        rustix::process::kill_process(server, signal).expect("it runs");
        until_run(&["sleep", seconds], 0);
        peer.kill();
    }
}

#[test]
fn a_rewrite_is_told_to_the_model_and_shown_in_the_log() {
    let rewrite = |from: &str, to: &str| format!("s/.*{from}.*/{{\"arguments\": {{\"command\": \"{to}\"}}}}/p");
    let script = format!(
        "sed -n '{}; {}; {}'",
        rewrite("echo RW", "echo rewritten"),
        rewrite("echo OUT", "touch ..\\/out"),
        rewrite("echo same", "echo same")
    );
    let world = with_hook(", tool: bash", &script);
    let made = world.json(&["bash", "command=echo RW"]);
    let said = made["content"].to_string();
    assert!(said.contains("config.yaml:2") && said.contains("rewrote the arguments"), "{made}");
    assert!(said.contains("echo rewritten"), "{made}");
    world.run(&["log", "show"]).exits(0).says("bash          echo rewritten").says("(rewritten by a hook)");

    let refused = world.json(&["bash", "command=echo OUT"]);
    assert_eq!(code(&refused), "NIKA-205");
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(message.contains("were rewritten by hook") && message.contains("config.yaml:2"), "{message}");
    assert!(message.contains("touch ../out"), "{message}");

    // What a hook repeats is rewritten by nobody.
    let same = world.json(&["bash", "command=echo same"]);
    assert!(!same.to_string().contains("rewrote"), "{same}");
    assert_eq!(world.run(&["log", "show"]).out.matches("rewritten by a hook").count(), 2);
}

#[test]
fn a_denied_tool_that_there_is_none_of_is_marked() {
    let world = world().file(
        ".nika/policy.json",
        "{\n\"denyTools\": [\"bsah\",\n\"Bash\", \"mcp__x__y\", \"*\"], \"denyToolPrefixes\": [\"nosuch\"]}",
    );
    let shown = world.run(&["config"]);
    shown.exits(0).says("no tool is called 'bsah'; is it bash?");
    assert_eq!(shown.out.matches("no tool is called").count(), 1, "{shown:?}");
    let rows = world.run(&["config", "--output", "json"]).json()["values"].clone();
    let marked: Vec<&Value> = rows.as_array().expect("rows").iter().filter(|row| row["remark"].is_string()).collect();
    assert!(marked.len() == 1 && marked[0]["at"] == "manifest .nika/policy.json:2", "{rows}");
}

#[test]
fn hooks_are_tried_in_the_words_of_any_dialect() {
    let world = with_hook(", tool: read", "cat >\"$HOME/asked\"");
    world.run(&["hooks", "test", "read_file", "--json", "{\"path\": \"a.txt\"}"]).exits(0).says("It would be: allow");
    let asked = std::fs::read_to_string(world.path("home/asked")).expect("it was asked");
    assert_eq!(serde_json::from_str::<Value>(&asked).expect("JSON")["arguments"], json!({"file_path": "a.txt"}));
    let refused = world.run(&["hooks", "test", "sleep", "--json", "{\"nonsense\": 1}"]);
    refused.exits(0).says("No hook is in force for sleep").says("refused: NIKA-100");
}
