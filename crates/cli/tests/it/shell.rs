//! Commands through the real program: what runs, under which sandbox, and what is left.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::peer::{Peer, text};
use crate::world::{exists, world};

fn server(world: &crate::world::World, mode: &str) -> Peer {
    let mut peer = Peer::start(world.nika(&["serve", "--mode", mode, "--list", "all"]));
    peer.initialize("2025-11-25");
    peer
}

/// Whether this machine grants what the sandbox needs; where it does not, these tests say so and end.
pub fn is_confined_here() -> bool {
    let ran = world().run(&["sandbox", "exec", "--profile", "workspace", "--", "true"]);
    if ran.code != 0 {
        eprintln!("skipped: the sandbox cannot be had here: {}", ran.err);
    }
    ran.code == 0
}

#[test]
fn what_only_reads_runs_in_the_read_only_sandbox_in_every_mode_but_deny() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\ntwo\n");
    for mode in ["read-only", "ask", "accept-edits", "workspace", "accept-all"] {
        let ran = world.run(&["call", "bash", "command=wc -l < a.txt", "--mode", mode]);
        ran.exits(0).says("2").says("[exit 0 · in . · sandbox read-only]");
    }
    world.run(&["call", "bash", "command=wc -l a.txt", "--mode", "deny"]).exits(3).complains("NIKA-205");
}

#[test]
fn what_writes_is_asked_in_ask_and_runs_in_the_workspace_sandbox_in_workspace() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n");
    let command = "command=sed -i s/one/two/ a.txt";
    world.run(&["call", "bash", command]).exits(3).complains("--mode workspace");
    assert_eq!(world.text("a.txt"), "one\n");
    world.run(&["call", "bash", command, "--mode", "workspace"]).exits(0).says("sandbox workspace");
    assert_eq!(world.text("a.txt"), "two\n");
}

#[test]
fn what_stands_there_already_is_written_over_as_in_any_workspace() {
    if !is_confined_here() {
        return;
    }
    for (command, name, left) in [
        ("cp a b", "b", "one\n"),
        ("cp a d/a", "d/a", "one\n"),
        ("cp -r d e && cp a e/a", "e/a", "one\n"),
        ("mv a b", "b", "one\n"),
        ("install -m 644 a b", "b", "one\n"),
        ("ln -f a b", "b", "one\n"),
        ("ln -sf a to_file && cat to_file > seen", "seen", "one\n"),
        ("ln -sfn d to_dir && cat to_dir/a > seen", "seen", "three\n"),
        ("rm a; mkdir a; echo in > a/in", "a/in", "in\n"),
        ("ls -l stale > seen; rm stale; echo gone > b", "b", "gone\n"),
        ("ln -sf a stale && cat stale > seen", "seen", "one\n"),
        ("echo new > stale", "missing", "new\n"),
        ("mv stale kept; readlink kept > seen", "seen", "missing\n"),
        ("rm to_file && mkdir to_file && echo x > to_file/q", "to_file/q", "x\n"),
    ] {
        let world = world().file("a", "one\n").file("b", "two\n").file("d/a", "three\n");
        for (link, to) in [("to_file", "b"), ("to_dir", "d"), ("stale", "missing")] {
            std::os::unix::fs::symlink(to, world.root().join(link)).expect("a link");
        }
        let before = crate::shell_undo::tree(&world.root());
        world.run(&["call", "bash", &format!("command={command}"), "--mode", "workspace"]).exits(0);
        assert_eq!(world.text(name), left, "{command}");
        world.run(&["undo", "--mode", "workspace"]).exits(0);
        assert_eq!(crate::shell_undo::tree(&world.root()), before, "{command}");
    }
    // What leads out of the workspace is asked about as ever, and what cannot be there is a read of this one.
    let world = world().file("a", "one\n");
    let far = world.path("far");
    std::fs::write(&far, "far\n").expect("written");
    std::os::unix::fs::symlink(&far, world.root().join("out")).expect("a link");
    for (link, to) in [("away", "/etc/not-there"), ("hook", ".git/hooks/pre-commit"), ("round", "round")] {
        std::os::unix::fs::symlink(to, world.root().join(link)).expect("a link");
    }
    let asked = ["cp a out", "cp a out/x", "echo x > out/y", "rm out; echo x > out"];
    for command in asked.into_iter().chain(["echo x > away", "echo x > hook", "echo x > round"]) {
        let refused = world.run(&["call", "bash", &format!("command={command}"), "--mode", "workspace"]);
        refused.exits(3).complains("NIKA-205");
    }
    assert_eq!(std::fs::read_to_string(&far).expect("it is there"), "far\n");
    world.run(&["call", "bash", "command=cat a/x", "--mode", "read-only"]).exits(1).says("Not a directory");
}

#[test]
fn exit_codes_mean_something() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("a", "x\n").file("b", "y\n");
    world.run(&["call", "bash", "command=grep zzz a"]).exits(0).says("exit 1: no match");
    world.run(&["call", "bash", "command=diff a b"]).exits(0).says("exit 1:");
    let object = world.json(&["bash", "command=cat missing"]);
    let facts = &object["facts"];
    assert_eq!((&facts["exit_code"], &facts["cwd"], &facts["sandbox"]), (&json!(1), &json!("."), &json!("read-only")));
    assert_eq!((&object["ok"], &object["code"]), (&json!(false), &json!("NIKA-400")), "{object}");
    assert!(text(&object).contains("No such file"), "{object}");
    world.run(&["call", "bash", "command=cat missing"]).exits(1);
}

#[test]
fn the_directory_is_kept_between_calls_of_a_session() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("sub/a.txt", "here\n");
    world.run(&["call", "bash", "command=cd sub", "--session", "s"]).exits(0).says("in sub");
    world.run(&["call", "bash", "command=cat a.txt", "--session", "s"]).exits(0).says("here");
    world.run(&["call", "bash", "command=cat a.txt"]).exits(1);
    // A program that moves does not move the shell that ran it.
    world
        .run(&[
            "call",
            "bash",
            "command=python3 -c 'import os; os.chdir(\"/usr\")'",
            "--session",
            "s",
            "--mode",
            "accept-all",
        ])
        .says("in sub");
    // Whoever ends outside begins where the call began.
    world.run(&["call", "bash", "command=cd /usr", "--session", "s"]).says("in sub");
}

#[test]
fn secrets_are_not_there_and_guarded_names_cannot_be_made() {
    if !is_confined_here() {
        return;
    }
    let world = world().file(".env", "TOKEN=abcdef\n").file("src/a.rs", "x\n").file(".git/config", "[core]\n");
    std::fs::create_dir_all(world.root().join(".git/hooks")).expect("a directory");
    let ran = world.run(&["call", "bash", "command=grep -r TOKEN . ; cat src/a.rs"]);
    assert!(!ran.out.contains("abcdef") && ran.out.contains('x'), "{ran:?}");
    world.run(&["call", "bash", "command=cat .env", "--mode", "workspace"]).exits(3).complains("secret");
    // A script that nobody can read beforehand does no more than the sandbox lets it.
    let script = "echo 'echo evil' > .git/hooks/pre-commit; echo x >> .git/config; mv .git g; echo 1 > .envrc; \
                  mkdir -p .vscode && echo {} > .vscode/tasks.json; cat .env; touch made";
    let world = world.file("build.sh", script);
    let ran = world.run(&["call", "bash", "command=bash build.sh", "--mode", "workspace"]);
    assert!(!ran.out.contains("abcdef"), "{ran:?}");
    assert!(exists(world.root().join("made")), "{ran:?}");
    for name in [".git/hooks/pre-commit", "g", ".envrc", ".vscode/tasks.json"] {
        assert!(!exists(world.root().join(name)), "{name} was made: {ran:?}");
    }
    assert_eq!(world.text(".git/config"), "[core]\n");
}

#[test]
fn there_is_no_network_and_no_way_to_our_own_state() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("net.sh", "exec 3<>/dev/tcp/127.0.0.1/9 && echo open; ls \"$1\" 2>&1; echo done\n");
    let state = world.path("state").display().to_string();
    let ran = world.run(&["call", "bash", &format!("command=bash net.sh {state}"), "--mode", "workspace"]);
    assert!(ran.out.contains("done") && !ran.out.contains("open\n"), "{ran:?}");
    assert!(!ran.out.contains("journal") && !ran.out.contains("checkpoints"), "{ran:?}");
}

#[test]
fn long_output_is_cut_in_the_middle_and_kept_whole() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    // What fits is shown whole; what memory holds is kept with the answer, what it does not hold as it comes.
    for lines in [6_000, 20_000, 100_000] {
        let object = world.json(&["bash", &format!("command=seq 1 {lines}")]);
        let said = text(&object);
        assert!(said.starts_with("1\n2\n") && said.contains(&format!("\n{lines}\n")), "{}", &said[said.len() - 300..]);
        assert!(said.chars().count() <= 30_000, "{}", said.chars().count());
        let kept =
            said.split("all of it, which `read` and `grep` open: ").nth(1).or_else(|| said.split(" bytes: ").nth(1));
        let Some(path) = kept.and_then(|rest| rest.split(']').next()) else {
            assert!(lines == 6_000 && said.contains("\n3000\n"), "{lines}: {said}");
            continue;
        };
        let whole = std::fs::read_to_string(path).expect("it is kept");
        assert_eq!(whole.lines().filter(|line| line.parse::<u32>().is_ok()).count(), lines);
        assert_eq!(object["content"][1]["type"], "resource_link", "{}", object["content"][1]);
    }
}

#[test]
fn what_cannot_be_read_as_text_steers_nothing() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("a.bin", "x\u{0}y\u{1b}[31mred\n");
    let said = text(&world.json(&["bash", "command=cat a.bin"]));
    assert!(!said.contains('\u{1b}') && !said.contains('\0'), "{said:?}");
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_all_it_started() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let since = Instant::now();
    let ran = world.run(&["call", "bash", "command=sleep 60 & sleep 60", "timeout=300", "--mode", "workspace"]);
    ran.exits(1).says("its time was up");
    const FIFO: &str = "mkfifo /tmp/nobody-opens-this && ln -s /tmp/nobody-opens-this /tmp/link && cd /tmp";
    for fifo in ["/tmp/nobody-opens-this", "/tmp/link", "link"] {
        let text = format!("command={FIFO} && cat {fifo}");
        let ran = world.run(&["call", "bash", &text, "timeout=1000", "--mode", "workspace"]);
        ran.exits(1).says(&format!("its time was up; cat waited to open the FIFO {fifo}, which nobody"));
    }
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    world.run(&["call", "bash", "command=true", "timeout=600001"]).exits(2).complains("run_in_background");
}

#[test]
fn a_job_is_read_written_listed_stopped_and_told_of() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "");
    let mut peer = server(&world, "workspace");
    let start = |peer: &mut Peer, command: &str| {
        text(&peer.call("nika_bash", json!({"command": command, "run_in_background": true})))
    };
    assert!(start(&mut peer, "read -r name; echo \"hello $name\"").contains("j1"));
    let listed = text(&peer.call("nika_job_list", json!({})));
    assert!(listed.contains("j1") && listed.contains("read -r name; echo"), "{listed}");
    assert!(text(&peer.call("nika_job_input", json!({"job_id": "j1", "text": "Ada\n"}))).contains("4 bytes"));
    let output = peer.call("nika_job_output", json!({"job_id": "j1", "wait_ms": 10_000, "filter": "hello"}));
    assert!(text(&output).contains("hello Ada"), "{output}");
    // Its end is told with whatever is asked next.
    let mut told = text(&output).contains("[j1 ended");
    for _ in 0..200 {
        if told {
            break;
        }
        told = text(&peer.call("nika_sleep", json!({"duration_ms": 20}))).contains("[j1 ended: exit 0");
    }
    assert!(told, "the end was never told");
    // The message of it goes its own way: it may come before that answer, or after.
    let said = |message: &Value| message["params"]["data"].as_str().is_some_and(|line| line.contains("j1 ended"));
    let messages =
        |peer: &Peer| peer.heard.iter().any(|message| message["method"] == "notifications/message" && said(message));
    for _ in 0..200 {
        if messages(&peer) {
            break;
        }
        peer.call("nika_sleep", json!({"duration_ms": 20}));
    }
    assert!(messages(&peer), "no message told of the end");
    assert!(start(&mut peer, "sleep 60").contains("j2"));
    assert!(text(&peer.call("nika_job_stop", json!({"job_id": "j2"}))).contains("stopped"));
    assert!(!text(&peer.call("nika_job_list", json!({}))).contains("sleep"));
    assert!(text(&peer.call("nika_job_output", json!({"job_id": "j9"}))).contains("NIKA-402"));
    // A client that wants no such messages hears of an end with its next answer alone.
    assert_eq!(peer.request("logging/setLevel", json!({"level": "loud"}))["error"]["code"], -32602);
    assert_eq!(peer.request("logging/setLevel", json!({"level": "warning"}))["result"], json!({}));
    peer.heard.clear();
    let started = start(&mut peer, "true");
    assert!(started.contains("j3"), "{started}");
    let mut told = started.contains("[j3 ended: exit 0");
    for _ in 0..200 {
        told = told || text(&peer.call("nika_sleep", json!({"duration_ms": 20}))).contains("[j3 ended: exit 0");
        if told {
            break;
        }
    }
    assert!(told, "the end was never told");
    // The one of the job before may have been on its way.
    let of_it = |message: &&Value| message["params"]["data"].as_str().is_some_and(|line| line.contains("j3"));
    assert_eq!(peer.heard.iter().find(of_it), None);
    assert_eq!(peer.end(), 0);
}

#[test]
fn nothing_outlives_the_server() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = server(&world, "workspace");
    let mark = format!("7{:05}", std::process::id() % 100_000);
    peer.call("nika_bash", json!({"command": format!("sleep {mark}"), "run_in_background": true}));
    peer.call("nika_bash", json!({"command": format!("setsid nohup sleep {mark} >/dev/null 2>&1 &"), "timeout": 2000}));
    assert_eq!(peer.end(), 0);
    let alive = |mark: &str| {
        let dirs = std::fs::read_dir("/proc").expect("proc");
        dirs.filter_map(Result::ok)
            .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
            .any(|line| line.split(|byte| *byte == 0).any(|word| word == mark.as_bytes()))
    };
    let since = Instant::now();
    while alive(&mark) && since.elapsed() < Duration::from_secs(10) {
        std::thread::yield_now();
    }
    assert!(!alive(&mark));
}

#[test]
fn what_goes_into_the_background_is_ended_or_goes_on_and_both_are_said() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = server(&world, "workspace");
    let ended = text(&peer.call("nika_bash", json!({"command": "sleep 61.75 & echo up"})));
    assert!(ended.contains("was ended: sleep (`run_in_background` keeps it)"), "{ended}");
    let command = "(setsid sleep 61.75 &); echo up";
    let started = text(&peer.call("nika_bash", json!({"command": command, "run_in_background": true})));
    let id = started.split_whitespace().nth(1).expect("a name").to_owned();
    let mut said = started;
    for _ in 0..200 {
        if said.contains("ended: exit 0 · 1 process of it runs on: job_stop ends it") {
            break;
        }
        said = text(&peer.call("nika_sleep", json!({"duration_ms": 20})));
    }
    assert!(said.contains("runs on: job_stop"), "{said}");
    assert!(text(&peer.call("nika_job_list", json!({}))).contains("sleep"));
    let output = text(&peer.call("nika_job_output", json!({"job_id": id})));
    assert!(output.contains("up") && output.contains("1 process of it runs on"), "{output}");
    peer.call("nika_job_stop", json!({"job_id": id}));
    let output = text(&peer.call("nika_job_output", json!({"job_id": id})));
    assert!(output.contains("ended") && !output.contains("runs on"), "{output}");
    assert!(text(&peer.call("nika_job_list", json!({}))).contains("No process"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_list_of_jobs_says_once_which_have_ended() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = server(&world, "workspace");
    peer.call("nika_bash", json!({"command": "true", "run_in_background": true}));
    let since = Instant::now();
    let listed = loop {
        let listed = peer.call("nika_job_list", json!({}));
        if text(&listed).contains("[j1 ended") || since.elapsed() > Duration::from_secs(20) {
            break listed;
        }
    };
    assert!(text(&listed).contains("\n[j1 ended: exit 0 · true]"), "{listed}");
    let ended = |listed: &Value| listed["structuredContent"]["ended"].clone();
    assert_eq!(ended(&listed), json!(["j1 ended: exit 0 · true"]), "{listed}");
    let again = peer.call("nika_job_list", json!({}));
    assert!(!text(&again).contains("[j1 ended") && ended(&again) == json!([]), "{again}");
    assert!(!text(&peer.call("nika_sleep", json!({"duration_ms": 20}))).contains("[j1 ended"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn leaving_the_sandbox_is_asked_in_every_mode() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    for mode in [&["--mode", "ask"][..], &["--mode", "workspace"], &["--mode", "accept-all"], &["--unsafe"]] {
        let words = ["call", "bash", "command=echo x", "dangerously_disable_sandbox=true"];
        world.run(&[&words[..], mode].concat()).exits(3).complains("without the sandbox");
    }
    let mut peer = Peer::start(world.nika(&["serve", "--unsafe", "--list", "all"]));
    peer.stateless("2026-07-28", json!({"elicitation": {"form": {}}}));
    let (_, said) = answered(&mut peer, "nika_bash", json!({"command": "echo x", "filesystem_mode": "off"}));
    assert!(
        said.contains("sandbox unconfined") && said.contains("this call cannot be taken back: nobody sees"),
        "{said}"
    );
    peer.end();
}

/// A call that a person says yes to: what they were asked, and what came of it.
fn answered(peer: &mut Peer, name: &str, arguments: Value) -> (String, String) {
    let mut params = json!({"name": name, "arguments": arguments});
    let asked = peer.request("tools/call", params.clone())["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let (key, request) = asked["inputRequests"].as_object().and_then(|all| all.iter().next()).expect("a question");
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = json!({key: {"action": "accept", "content": {"answer": "yes"}}});
    let question = request["params"]["message"].as_str().unwrap_or_default().to_owned();
    (question, text(&peer.request("tools/call", params)["result"]))
}

#[test]
fn the_examples_of_the_shell_tools_hold() {
    if !is_confined_here() {
        return;
    }
    let listed = world().run(&["tools", "--json"]).json();
    let mut tried = 0;
    for tool in listed.as_array().expect("a list").iter().filter(|tool| tool["group"] == "shell") {
        for example in tool["examples"].as_array().expect("examples") {
            let mut scene = world();
            for file in example["files"].as_array().expect("files") {
                scene = scene.file(file[0].as_str().expect("a name"), file[1].as_str().expect("a text"));
            }
            let allowed = ["--allow", "exec(repl *)", "--allow", "exec(pwsh *)"];
            let mut server = scene.nika(&[&["serve", "--mode", "workspace", "--list", "all"][..], &allowed].concat());
            server.env("PATH", crate::powershell::installed(&scene));
            let mut peer = Peer::start(server);
            peer.initialize("2025-11-25");
            for before in example["before"].as_array().expect("calls") {
                peer.call(&format!("nika_{}", before[0].as_str().expect("a tool")), before[1].clone());
            }
            let name = tool["name"].as_str().expect("a name");
            let said = text(&peer.call(&format!("nika_{name}"), example["arguments"].clone()));
            let wanted = example["answer"].as_str().expect("an answer");
            assert!(said.contains(wanted), "{name}: no {wanted:?} in {said}");
            tried += 1;
        }
    }
    assert!(tried >= 6, "{tried}");
}

#[test]
fn a_filter_finds_a_line_however_it_was_read_before_and_however_far_it_is() {
    if !is_confined_here() {
        return;
    }
    let long: String = format!("{}\n", "x".repeat(99)).repeat(279) + &"y".repeat(96) + "NEEDLE here\n";
    let world = world()
        .file("log1", &long)
        .file("log2", &format!("{}\u{e9}b\n", "a".repeat(27_999)))
        .file("log3", &("line of a build log\n".repeat(200_000) + "BUILD FAILED\nafter it\n"));
    let mut peer = server(&world, "workspace");
    let mut number = 0;
    let mut start = |peer: &mut Peer, command: &str| {
        number += 1;
        let started = text(&peer.call("nika_bash", json!({"command": command, "run_in_background": true})));
        assert!(started.contains(&format!("j{number}")), "{started}");
        format!("j{number}")
    };
    let find = |peer: &mut Peer, job: &str, filter: &str| {
        text(&peer.call("nika_job_output", json!({"job_id": job, "filter": filter, "wait_ms": 20_000})))
    };
    let job = start(&mut peer, "printf serv; read -r _; echo 'er ready'; read -r _");
    assert!(text(&peer.call("nika_job_output", json!({"job_id": job, "wait_ms": 20_000}))).starts_with("serv\n"));
    peer.call("nika_job_input", json!({"job_id": job, "text": "\n"}));
    let found = find(&mut peer, &job, "server ready");
    assert!(found.starts_with("server ready\n"), "{found}");
    // Across the end of what one read gives, and far behind it: one call, and what was passed over is read.
    for (log, filter, line) in [("log1", "NEEDLE here", "NEEDLE here\n["), ("log3", "^BUILD FAILED", "BUILD FAILED\n[")]
    {
        let job = start(&mut peer, &format!("cat {log}"));
        let found = find(&mut peer, &job, filter);
        assert!(found.contains(line) && found.lines().filter(|line| !line.starts_with('[')).count() == 1, "{found}");
    }
    // A line's end stands before its break, whichever that is.
    let job = start(&mut peer, "printf 'ready to wait\\r\\nready\\r\\n'");
    let found = find(&mut peer, &job, "ready$");
    assert!(found.starts_with("ready\n["), "{found}");
    let job = start(&mut peer, "cat log2");
    find(&mut peer, &job, "never");
    let mut read = |more: Value| {
        let mut arguments = json!({"job_id": job});
        arguments.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        text(&peer.call("nika_job_output", arguments))
    };
    let (first, second) = (read(json!({"offset": 0})), read(json!({})));
    assert!(!first.contains('\u{fffd}') && second.starts_with("\u{e9}b\n"), "{second}");
    assert_eq!(peer.end(), 0);
}

/// A server that asks nobody about code for `repl`.
fn with_repl(world: &crate::world::World) -> Peer {
    let words = ["serve", "--mode", "workspace", "--list", "all", "--allow", "exec(repl *)"];
    let mut peer = Peer::start(world.nika(&words));
    peer.initialize("2025-11-25");
    peer
}

#[test]
fn an_interpreter_keeps_its_state() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = with_repl(&world);
    let mut python = |code: &str| peer.call("nika_repl", json!({"language": "python", "code": code}));
    assert!(text(&python("x = 20")).contains("new interpreter"));
    assert!(text(&python("x + 1")).starts_with("21\n"));
    let failed = python("1/0");
    assert!(failed["isError"] == true && text(&failed).contains("ZeroDivisionError"), "{failed}");
    assert!(text(&python("x + 2")).starts_with("22\n"));
    let refused = python("open('/etc/nika-was-here', 'w')");
    assert!(text(&refused).contains("Read-only file system"), "{refused}");
    let broke_off = text(&python("raise KeyboardInterrupt"));
    assert!(broke_off.contains("the code interrupted itself") && !broke_off.contains("time was up"), "{broke_off}");
    // What an answer has no room for is in the file that it names, all of it.
    for (code, end) in
        [("for i in range(60000): print('line', i)", "line 59999\n["), ("'v' * 40000 + 'END'", "END'\n[")]
    {
        let cut = text(&python(code));
        let file =
            cut.split("bytes: ").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or_else(|| panic!("{cut}"));
        assert!(std::fs::read_to_string(file).expect("it is there").contains(end), "{code}");
    }
    let nul = peer.call("nika_repl", json!({"language": "bash", "code": "echo a\u{0}b"}));
    assert!(text(&nul).contains("NIKA-100"), "{nul}");
    assert_eq!(peer.end(), 0);
    world
        .run(&["call", "repl", "language=bash", "code=true", "--mode", "workspace"])
        .exits(3)
        .complains("exec(repl bash)");
    // From the command line nobody goes on in it, so nothing waits for it.
    world.run(&["call", "repl", "language=bash", "code=echo once", "--mode", "accept-all"]).exits(0).says("once");
}

/// Who says yes to code says it to what `repl` shows: its interpreters take code from nowhere else.
#[test]
fn an_interpreter_of_repl_takes_code_from_repl_alone() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = with_repl(&world);
    let mut call = |tool: &str, arguments: Value| text(&peer.call(tool, arguments));
    for (language, program) in [("bash", "bash"), ("python", "python3")] {
        let code =
            json!({"language": language, "code": if language == "bash" { "x=1; echo $x" } else { "x=1; print(x)" }});
        let first = call("nika_repl", code.clone());
        assert!(first.starts_with("1\n"), "{first}");
        let listed = call("nika_job_list", json!({}));
        let told = listed
            .lines()
            .find(|line| line.contains(&format!("{program}, the interpreter of repl")))
            .unwrap_or_else(|| panic!("{listed}"));
        let job = told.split(' ').next().unwrap_or_default().to_owned();
        for frame in ["w 9\ntouch new\n", "touch new\n"] {
            let refused = call("nika_job_input", json!({"job_id": job, "text": frame}));
            assert!(refused.contains("NIKA-403") && refused.contains("`repl`"), "{refused}");
        }
        let refused = call("nika_job_output", json!({"job_id": job}));
        assert!(refused.contains("NIKA-100") && refused.contains("the answer of `repl`"), "{refused}");
        assert!(call("nika_job_stop", json!({"job_id": job})).contains("ended"));
        let anew = call("nika_repl", code);
        assert!(anew.contains("a new interpreter"), "{anew}");
    }
    assert!(!world.root().join("new").exists());
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_command_whose_directory_is_gone_is_refused_and_the_next_runs_in_the_root() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("keep", "k");
    let mut peer = Peer::start(world.nika(&["serve", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    let mut bash = |command: &str| text(&peer.call("nika_bash", json!({"command": command})));
    assert!(bash("mkdir work && cd work && touch keep").contains("in work"));
    std::fs::remove_dir_all(world.root().join("work")).expect("it is ours");
    let refused = bash("rm keep");
    assert!(refused.contains("NIKA-208") && refused.contains("work, where this session's commands run, is gone"));
    assert!(world.root().join("keep").exists(), "{refused}");
    assert!(bash("ls").starts_with("keep\n"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn what_a_rule_withholds_is_hidden_from_commands() {
    if !is_confined_here() {
        return;
    }
    let world =
        world().file("private/a.txt", "needle\n").file("b.txt", "needle\n").file("walk.sh", "cat */*.txt b.txt\n");
    let deny = ["--deny", "read(private/**)", "--mode", "workspace"];
    let run = |command: &str| world.run(&[&["call", "bash", command][..], &deny].concat());
    run("command=cat private/a.txt").exits(3).complains("read(private/**)");
    assert!(!run("command=grep -r needle .").out.contains("private/a.txt:needle"));
    let ran = run("command=bash walk.sh");
    assert_eq!(ran.out.matches("needle").count(), 1, "{ran:?}");
}

#[test]
fn where_a_rule_withholds_more_than_can_be_hidden_nothing_runs() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("data/0.dat", "needle\n").file("data/x.txt", "x\n").file("walk.sh", "cat data/9.dat\n");
    for n in 1..4200 {
        std::fs::write(world.root().join(format!("data/{n}.dat")), "needle\n").expect("a file");
    }
    let run = |rule| world.run(&["call", "bash", "command=bash walk.sh", "--deny", rule, "--mode", "workspace"]);
    let ran = run("read(**/*.dat)");
    assert!(ran.out.contains("NIKA-910") || ran.err.contains("NIKA-910"), "{ran:?}");
    assert!(!ran.out.contains("needle"), "{ran:?}");
    let ran = run("read(data/**)");
    assert!(!ran.out.contains("needle") && !ran.err.contains("NIKA-910"), "{ran:?}");
}

#[test]
fn input_to_what_no_sandbox_holds_is_asked_each_time() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = Peer::start(world.nika(&["serve", "--unsafe", "--list", "all"]));
    peer.stateless("2026-07-28", json!({"elicitation": {"form": {}}}));
    let job = json!({"command": "cat", "run_in_background": true, "dangerously_disable_sandbox": true});
    let (asked, said) = answered(&mut peer, "nika_bash", job);
    assert!(asked.contains("without the sandbox") && said.contains("j1"), "{asked}: {said}");
    let (asked, said) = answered(&mut peer, "nika_job_input", json!({"job_id": "j1", "text": "x\n"}));
    assert!(asked.contains("j1 runs without the sandbox") && said.contains("took 2 bytes"), "{asked}: {said}");
    peer.end();
    // The same under a mode that keeps that floor.
    let explain = ["policy", "check", "sudo true", "--mode", "accept-all"];
    assert_eq!(world.run(&explain).json()["decision"], "ask");
}

#[test]
fn places_outside_are_written_only_where_that_is_allowed() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let outside = world.path("outside");
    std::fs::create_dir(&outside).expect("a directory");
    let command = format!("command=touch {}/made", outside.display());
    world.run(&["call", "bash", &command, "--mode", "workspace"]).exits(3).complains("NIKA-205");
    let ran = world.run(&["call", "bash", &command, "--mode", "accept-all"]);
    assert!(exists(outside.join("made")), "{ran:?}");
    world.run(&["call", "bash", "command=touch /usr/nika-was-here", "--mode", "workspace"]).exits(3);
}

#[test]
fn a_secret_that_came_meanwhile_is_hidden_too() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n");
    let mut peer = server(&world, "ask");
    assert!(text(&peer.call("nika_bash", json!({"command": "grep -r . ."}))).contains("one"));
    let world = world.file("late/.env", "KEY=abcdef\n");
    let mut hidden = false;
    for _ in 0..100 {
        hidden = !text(&peer.call("nika_bash", json!({"command": "grep -r . ."}))).contains("abcdef");
        if hidden {
            break;
        }
    }
    assert!(hidden && exists(world.root().join("late/.env")));
    assert_eq!(peer.end(), 0);
}

/// Git outside any sandbox.
pub(crate) fn git(at: &std::path::Path, words: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    for name in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{name}_NAME"), "Ada").env(format!("GIT_{name}_EMAIL"), "ada@example.com");
    }
    let ran =
        command.args(words).current_dir(at).env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git is needed");
    assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).trim().to_owned()
}

/// A world whose root is a worktree of the repository `repo` beside it. All of it lies below `/tmp`.
pub fn worktree() -> crate::world::World {
    let world = world();
    let repo = world.path("repo");
    std::fs::create_dir(&repo).expect("a directory");
    std::fs::remove_dir(world.root()).expect("it is empty");
    git(&repo, &["init", "-q"]);
    git(&repo, &["config", "user.name", "Ada"]);
    git(&repo, &["config", "user.email", "ada@example.com"]);
    git(&repo, &["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&repo, &["worktree", "add", "-q", "-b", "side", &world.root().display().to_string()]);
    world
}

#[test]
fn a_worktree_is_committed_in_and_its_repository_has_it() {
    if !is_confined_here() {
        return;
    }
    let world = worktree().file("a.txt", "one\n");
    let repo = world.path("repo");
    let run = |command: &str, more: &[&str]| {
        let command = format!("command={command}");
        world.run(&[&["call", "bash", &command, "--mode", "workspace"], more].concat())
    };
    run("git status --short", &[]).exits(0).says("?? a.txt").says("sandbox read-only");
    let commit = run("git add -A && git commit -qm second && git log --format=%s", &[]);
    commit.exits(0).says("second\nfirst").says("sandbox workspace");
    assert_eq!(git(&repo, &["log", "--format=%s", "side"]), "second\nfirst");
    assert_eq!(git(&repo, &["status", "--porcelain"]), "", "the other worktree is what it was");
    // With no layer over the root it is the same, and in the background.
    run(
        "echo two >> a.txt; git commit -qam third && git branch new && git branch -qd new",
        &["--set", "shell.undo=off"],
    )
    .exits(0);
    assert_eq!(git(&repo, &["log", "-1", "--format=%s", "side"]), "third");
    // What was committed stays when the files are taken back: the repository is under no layer.
    run("echo three >> a.txt; git commit -qam fourth", &[]).exits(0);
    world.run(&["undo"]).exits(0);
    assert_eq!(
        (world.text("a.txt"), git(&repo, &["log", "-1", "--format=%s", "side"])),
        ("one\ntwo\n".into(), "fourth".into())
    );
    // And a command that is only looked at commits nothing.
    let seen = run("git commit -qam fifth", &["preview=true"]);
    assert!(seen.out.contains("Read-only file system"), "{seen:?}");
    assert_eq!(git(&repo, &["log", "-1", "--format=%s", "side"]), "fourth");
}

#[test]
fn what_starts_programs_in_a_worktrees_repository_is_guarded_as_in_any() {
    if !is_confined_here() {
        return;
    }
    let world = worktree();
    let repo = world.path("repo");
    let run = |command: &str, mode: &str| world.run(&["call", "bash", &format!("command={command}"), "--mode", mode]);
    // Where the command names it, it is a question; where it does not, the system says no.
    run("git config alias.x y", "workspace").exits(3).complains("NIKA-205");
    let script = world.root().join("x.sh");
    std::fs::write(&script, format!("echo x >> {}/.git/config", repo.display())).expect("a file");
    for command in ["sh x.sh", "git status; sh x.sh", "git add -A; sh x.sh"] {
        let ran = run(command, "workspace");
        assert!(ran.out.contains("Read-only file system"), "{command}: {ran:?}");
    }
    // A command line that does not name git writes nothing of the history that all worktrees share.
    std::fs::write(&script, format!("rm -rf {}/.git/objects/*; git add -A", repo.display())).expect("a file");
    let ran = run("sh x.sh", "workspace");
    ran.says("Read-only file system").says("is written only by a command line that names git");
    git(&repo, &["fsck"]);
    run(&format!("touch {}/.git/hooks/x", repo.display()), "workspace").exits(3).complains("NIKA-205");
    assert_eq!(git(&repo, &["config", "--get-all", "user.name"]), "Ada");
}

#[test]
fn a_rule_that_speaks_of_the_repository_closes_it_to_its_worktree() {
    if !is_confined_here() {
        return;
    }
    let world = worktree().file("a.txt", "one\n");
    let rule = format!("write(/{}/**)", world.path("repo").display());
    let ran = world.run(&["call", "bash", "command=git add a.txt", "--mode", "workspace", "--deny", &rule]);
    ran.says("Read-only file system");
    let ran = world.run(&["call", "bash", "command=git add a.txt", "--mode", "workspace", "--deny", "write(other/**)"]);
    ran.exits(0);
}

#[test]
fn a_file_that_claims_another_repository_opens_nothing_of_it() {
    if !is_confined_here() {
        return;
    }
    let world = worktree().file("a.txt", "one\n");
    let repo = world.path("repo");
    git(&repo, &["worktree", "add", "-q", "-b", "other", "../other"]);
    let claim = format!("gitdir: {}/.git/worktrees/other\n", repo.display());
    std::fs::write(world.root().join(".git"), claim).expect("a file");
    let ran = world.run(&["call", "bash", "command=git add a.txt", "--mode", "workspace"]);
    ran.exits(3).complains("NIKA-205").complains("repo/.git/worktrees/other/**");
    assert_eq!(git(&world.path("other"), &["status", "--porcelain"]), "");
}

#[test]
fn on_the_command_line_a_call_stays_as_long_as_its_job() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let words =
        ["call", "bash", "command=sleep 1; echo done > a; cat a", "run_in_background=true", "--mode", "workspace"];
    let ran = world.run(&words);
    ran.exits(0).says("Started j1").says("done\n[j1 ended: exit 0").complains("j1 is at work");
    assert_eq!(world.text("a"), "done\n");
    let quick = ["call", "bash", "command=echo quick", "run_in_background=true"];
    world.run(&quick).exits(0).says("quick\n[j1 ended: exit 0");
    std::fs::remove_file(world.root().join("a")).expect("it is there");
    let one = world.run(&[&words[..], &["--output", "json"]].concat());
    assert_eq!((one.json()["ok"].as_bool(), world.text("a").as_str()), (Some(true), "done\n"), "{one:?}");
}

#[test]
fn only_what_moves_the_shell_moves_the_session() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("sub/a", "1\n");
    git(&world.root(), &["init", "-q"]);
    let run = |command: &str| {
        let words = ["call", "bash", &format!("command={command}"), "--session", "s", "--mode", "workspace"];
        world.run(&words).out
    };
    for stays in ["git clone -q . cl", "bash -c 'cd sub'", "(cd sub)", "ls . sub", "echo $(cd sub; pwd)"] {
        let said = run(stays);
        assert!(said.contains("· in . ·"), "{stays}: {said}");
    }
    for moves in ["cd sub", "command cd sub", "f() { cd sub; }; f", "ls && cd sub", "pushd sub"] {
        let said = run(moves);
        assert!(said.contains("· in sub ·"), "{moves}: {said}");
        run("cd ..");
    }
}

#[test]
fn what_is_written_outside_is_said_to_be_beyond_undo() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let out = world.path("out");
    std::fs::create_dir(&out).expect("made");
    let command = format!("command=echo x >{}/f; echo y >in", out.display());
    let said = world.run(&["call", "bash", &command, "--mode", "accept-all"]).exits(0).out.clone();
    let line = format!("[outside the workspace `undo` takes nothing back: {}/f]", out.display());
    assert!(said.contains(&line), "{said}");
    assert_eq!(std::fs::read_to_string(out.join("f")).expect("written"), "x\n");
    let inside = world.run(&["call", "bash", "command=echo y >in2", "--mode", "accept-all"]).exits(0).out.clone();
    assert!(!inside.contains("outside"), "{inside}");
}

#[test]
fn hosts_that_a_sandbox_can_never_reach_are_refused() {
    let world = world();
    for host in ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "::1", "10.0.0.8", "[fe80::1]"] {
        let words = ["sandbox", "exec", "--allow-host", host, "--", "true"];
        world.run(&words).exits(2).complains("is of this machine or of a private network");
    }
    let words = ["sandbox", "exec", "--landlock-only", "--allow-host", "example.com", "--", "true"];
    world.run(&words).exits(2).complains("reaches no host");
}

#[test]
fn a_long_output_is_read_line_by_line_and_its_end_is_told_once() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let mut peer = server(&world, "workspace");
    let command = "seq 10000 29999; echo done >made";
    peer.call("nika_bash", json!({"command": command, "run_in_background": true}));
    let mut read = || text(&peer.call("nika_job_output", json!({"job_id": "j1", "wait_ms": 20_000})));
    let (mut lines, mut changes) = (Vec::new(), 0);
    for _ in 0..200 {
        let said = read();
        lines.extend(said.lines().filter(|line| !line.starts_with('[')).map(str::to_owned));
        changes += said.matches("1 path: 1 created").count();
        assert!(said.matches("j1 ended").count() < 2, "{said}");
        if said.contains("j1 ended") && !said.contains("there is more") {
            break;
        }
    }
    let want: Vec<String> = (10_000..30_000).map(|number: u32| number.to_string()).collect();
    assert!(lines == want, "{} lines: {:?}", lines.len(), lines.iter().find(|line| line.len() != 5));
    assert_eq!(changes, 1);
    assert_eq!(peer.end(), 0);
}
