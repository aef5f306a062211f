//! The journal from the outside: listed, shown, verified, exported, followed; whole after a kill.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::peer::Peer;
use crate::world::world;

#[test]
fn what_happened_can_be_read() {
    let world = world().file("a.txt", "one\n");
    world.run(&["log"]).exits(0).says("Nothing");
    world.run(&["call", "read", "file_path=a.txt"]).exits(0);
    world.run(&["call", "write", "file_path=b.txt", "content=x"]).exits(3);
    let list = world.run(&["log", "list", "--output", "json"]).json();
    assert_eq!((&list[0]["calls"], &list[0]["refusals"]), (&2.into(), &1.into()));
    let id = list[0]["id"].as_str().expect("a name").to_owned();
    assert!(id.starts_with("cli-20") && id.len() == "cli-20261121".len(), "{id}");
    world.run(&["log", "show"]).exits(0).says("a.txt").says("done").says("refused NIKA-205").says(" ms");
    world.run(&["log", "show", &id, "--output", "json"]).exits(0).says("CallBegun");
    world.run(&["log", "verify"]).exits(0).says("ok");
    let lines = world.run(&["log", "export", &id]);
    assert!(lines.out.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{lines:?}");
    assert!(world.run(&["log", "export", &id, "--format", "json"]).json().is_array());
    world.run(&["log", "show", "nobody"]).exits(2).complains("nobody");
}

#[test]
fn a_dry_run_is_not_told_as_done() {
    let world = world().file("a.txt", "one\n");
    let set = r#"{"changes": [{"op": "delete", "file_path": "a.txt"}], "dry_run": DRY}"#;
    for dry in ["true", "false"] {
        let set = set.replace("DRY", dry);
        world.run(&["call", "change_set", "--json", &set, "--mode", "accept-edits"]).exits(0);
    }
    world.run(&["undo", "--dry-run"]).exits(0);
    world.run(&["undo"]).exits(0);
    let shown = world.run(&["log", "show"]);
    let became = |line: &str| ["  dry run ", "  done "].into_iter().find(|word| line.contains(word));
    let became: Vec<&str> = shown.exits(0).out.lines().filter_map(became).map(str::trim).collect();
    assert_eq!(became, ["dry run", "done", "dry run", "done"], "{shown:?}");
}

#[test]
fn a_changed_journal_does_not_verify() {
    let world = world().file("a.txt", "one\n");
    world.run(&["call", "read", "file_path=a.txt"]).exits(0);
    let dir = world.state().join("journal");
    let path = std::fs::read_dir(dir).expect("it is there").next().expect("one").expect("it").path();
    let text = std::fs::read_to_string(&path).expect("text").replace("a.txt", "b.txt");
    std::fs::write(&path, text).expect("it can be written");
    world.run(&["log", "verify"]).exits(1).complains("NIKA-907");
    // Whoever reads it is told, too.
    world.run(&["log", "show"]).exits(0).complains("NIKA-907");
    let id = path.file_stem().and_then(|name| name.to_str()).expect("a name");
    world.run(&["log", "export", id]).exits(0).complains("NIKA-907");
}

#[test]
fn a_kill_leaves_a_journal_that_verifies() {
    let world = world().file("a.txt", "one\n");
    let mut peer = Peer::start(world.nika(&["serve"]));
    peer.initialize("2025-06-18");
    for _ in 0..20 {
        peer.call("nika_read", serde_json::json!({"file_path": "a.txt"}));
    }
    // Asked and killed: the last call may have begun, or not.
    peer.send("tools/call", serde_json::json!({"name": "nika_grep", "arguments": {"pattern": "o"}}));
    peer.kill();
    world.run(&["log", "verify"]).exits(0).says("mcp-");
    let list = world.run(&["log", "list", "--output", "json"]).json();
    assert!(list[0]["calls"].as_u64().is_some_and(|calls| calls >= 20), "{list}");
}

#[test]
fn lines_can_be_followed() {
    let world = world().file("a.txt", "one\n");
    world.run(&["call", "list_dir"]).exits(0);
    let mut child = world.nika(&["log", "--follow"]).stdout(Stdio::piped()).spawn().expect("it starts");
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    // It may begin to follow after the first of these, or within one, whose arguments it then has not seen; the next
    // is shown whole.
    let whole = |line: &String| line.contains("a.txt");
    let shown = std::thread::spawn(move || lines.map(|line| line.expect("text")).find(whole).expect("a line"));
    while !shown.is_finished() {
        world.run(&["call", "read", "file_path=a.txt"]).exits(0);
    }
    let line = shown.join().expect("a line came");
    assert!(line.contains("read") && line.contains("a.txt") && line.contains("done"), "{line}");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn whom_commands_ask_for_is_written_down_also_when_their_call_has_ended() {
    if !crate::shell::is_confined_here() || std::process::Command::new("curl").arg("--version").output().is_err() {
        return;
    }
    let world = world();
    let allow = ["--mode", "workspace", "--allow", "net(10.0.0.1)", "--allow", "net(10.0.0.2)"];
    let mut peer = Peer::start(world.nika(&[&["serve", "--list", "all"][..], &allow].concat()));
    peer.initialize("2025-11-25");
    let asks = "curl -s http://10.0.0.1/; curl -s http://10.0.0.1/; curl -s http://10.0.0.2:8080/";
    let said = peer.call("nika_bash", serde_json::json!({"command": asks}));
    assert!(
        said.to_string().contains("10.0.0.1:80 was not reached through the sandbox: 10.0.0.1 is an address"),
        "{said}"
    );
    peer.call("nika_bash", serde_json::json!({"command": asks, "run_in_background": true}));
    peer.call("nika_job_output", serde_json::json!({"job_id": "j2", "wait_ms": 20_000, "filter": "^never$"}));
    assert_eq!(peer.end(), 0);
    let shown = world.run(&["log", "show"]);
    for line in [
        "j1 asked for 10.0.0.1:80, which was refused",
        "j1 asked for 10.0.0.2:8080, which was refused",
        "j2 asked for 10.0.0.1:80, which was refused",
        "j2 asked for 10.0.0.2:8080, which was refused",
    ] {
        assert_eq!(shown.out.matches(line).count(), 1, "{line}: {}", shown.out);
    }
}
