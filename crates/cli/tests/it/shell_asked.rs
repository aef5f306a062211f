//! A command that is asked about and writes only inside: it is tried over a layer, the person sees what it did, a yes
//! applies exactly that without running it again, and anything else leaves nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::peer::Peer;
use crate::pty::Screen;
use crate::shell::{git, worktree};
use crate::shell_undo::tree;
use crate::world::{World, exists, world};

/// Where a person answers.
const PROMPT: &str = "instead: ";
/// What a question says whose command was tried.
const TRIED: &str = "It was tried over a layer";

/// A call of `bash` at a terminal of its own, whose question is open.
fn open(world: &World, command: &str, more: &[&str]) -> Screen {
    let command = format!("command={command}");
    let mut screen = Screen::start(world, &[&["call", "bash", &command, "--session", "s"], more].concat());
    assert!(screen.shows(PROMPT), "no question about {command}: {}", screen.shown);
    screen
}

/// The same, answered: the exit code, what was shown, and what went to stdout.
fn answered(world: &World, command: &str, more: &[&str], answer: &str) -> (i32, String, String) {
    let mut screen = open(world, command, more);
    screen.types(answer);
    screen.end()
}

/// The number that the command printed, as the question shows it.
fn printed(shown: &str) -> u64 {
    let line = shown.lines().find_map(|line| line.strip_prefix("  │ "));
    line.and_then(|line| line.trim_end().parse().ok()).unwrap_or_else(|| panic!("no number: {shown}"))
}

/// The journal's lines of an event, in the session of the calls above.
fn lines(world: &World, event: &str) -> Vec<Value> {
    let journal = world.run(&["log", "export", "s"]);
    let lines = journal.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line"));
    lines.filter(|line| line["event"] == event).collect()
}

/// What lies in the state's directory of this name.
fn left_in(world: &World, name: &str) -> Vec<String> {
    let entries = fs::read_dir(world.state().join(name)).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Waits until no layer is left, as some are thrown away aside.
fn until_no_layer(world: &World) {
    let since = Instant::now();
    while !left_in(world, "layers").is_empty() {
        assert!(since.elapsed() < Duration::from_secs(20), "a layer is left");
        std::thread::yield_now();
    }
}

/// Whether a process runs whose command line holds this.
fn runs(word: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("it is there").flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| line.starts_with(b"sleep")).any(|line| String::from_utf8_lossy(&line).contains(word))
}

#[test]
fn a_yes_applies_exactly_what_was_shown_and_the_command_ran_once() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world =
        world().file("a.txt", "one\n").file("gone.txt", "x\n").file("x.sh", "date +%s%N > f; rm gone.txt; cat f");
    let before = tree(&world.root());
    let mut screen = open(&world, "sh x.sh", &[]);
    assert_eq!(tree(&world.root()), before, "nothing is changed before the yes");
    let shown = screen.shown.clone();
    assert!(
        shown.contains(TRIED) && shown.contains("A yes applies exactly this, and does not run it again"),
        "{shown}"
    );
    assert!(shown.contains("It would change f, gone.txt (2 paths: 1 created, 1 deleted)"), "{shown}");
    let number = printed(&shown);
    assert!(shown.contains(&format!("+{number}")), "the diff shows what is in f: {shown}");
    screen.types("y");
    let (code, shown, out) = screen.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(world.text("f"), format!("{number}\n"), "another run would have written another number");
    assert!(!exists(world.root().join("gone.txt")));
    assert!(out.contains(&number.to_string()) && out.contains("[exit 0 · in . · sandbox workspace]"), "{out}");
    assert!(out.contains("[2 paths: 1 created, 1 deleted · undo takes it back]"), "{out}");
    let asked = &lines(&world, "PermissionRequest")[0]["rehearsal"];
    assert_eq!((&asked["held"], &asked["exit_code"], &asked["would_change"]), (&json!(true), &json!(0), &json!(2)));
    let ran = &lines(&world, "ToolBash")[0];
    assert_eq!((&ran["rehearsed"], &ran["exit_code"], &ran["changed_paths"]), (&json!(true), &json!(0), &json!(2)));
    world.run(&["undo", "--mode", "workspace"]).exits(0);
    assert_eq!(tree(&world.root()), before);
}

#[test]
fn a_directory_that_a_command_made_and_filled_is_one_line_of_the_question() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let build =
        "echo two > a.txt; mkdir -p out/deep few; for n in $(seq 13); do echo $n > out/deep/$n; done; echo x > few/x";
    let world = world().file("a.txt", "one\n").file("build.sh", build);
    let (_, shown, _) = answered(&world, "sh build.sh", &[], "n");
    let shown = shown.replace('\r', "");
    let named = "It would change a.txt, few, few/x, out/ (13 new files, 30 B) (18 paths: 17 created, 1 changed)";
    assert!(shown.contains(named), "{shown}");
    assert!(shown.lines().any(|line| line == "New directory out/: 13 new files, 30 B"), "{shown}");
    assert!(shown.contains("+++ b/few/x") && shown.contains("+two") && !shown.contains("out/deep"), "{shown}");
    // So says the diff of what ran; what is asked about by its name, a directory with another name, and how much is not shown
    // are said.
    let ran = world.json(&["bash", "command=sh build.sh", "--mode", "workspace"]);
    let diff = ran["diff"].as_str().expect("a diff");
    assert!(diff.contains("New directory out/: 13 new files, 30 B\n") && !diff.contains("out/deep"), "{diff}");
    assert!(exists(world.root().join("out/deep/13")));
    let more = "mkdir new; for n in $(seq 20); do echo $n > new/f$n; done; echo x > new/.gdbinit; chmod +x new/f3; \
         ln -s / new/top; mv out moved; echo other > moved/deep/7; for n in $(seq 60); do echo $n > z$n; done";
    fs::write(world.root().join("more.sh"), more).expect("a script");
    let ran = world.json(&["bash", "command=sh more.sh", "preview=true", "--mode", "workspace"]);
    let diff = ran["diff"].as_str().expect("a diff");
    assert!(diff.contains("New directory new/: 21 new files, 52 B, 1 link, 1 executable\n"), "{diff}");
    assert!(
        diff.contains("+++ b/new/.gdbinit") && diff.contains("+++ b/moved/deep/7\n@@ -0,0 +1,1 @@\n+other"),
        "{diff}"
    );
    assert!(diff.contains("paths more, not shown\n"), "{diff}");
}

#[test]
fn whoever_waits_for_the_question_is_told_why() {
    if !crate::shell::is_confined_here() {
        return;
    }
    const WHY: &str = "nika: trying it first, over a layer …";
    let world = world().file("slow.sh", "sleep 1.3; echo x > f").file("fast.sh", "echo x > f");
    let (_, shown, _) = answered(&world, "sh slow.sh", &[], "n");
    let (told, asked) = (shown.find(WHY), shown.find("may `bash` do this?"));
    assert!(told.is_some() && told < asked, "{shown}");
    let (_, shown, _) = answered(&world, "sh fast.sh", &[], "n");
    assert!(!shown.contains(WHY), "{shown}");
    // Nobody is told where nobody is asked.
    let ran = world.run(&["call", "bash", "command=sh slow.sh"]);
    assert!(ran.code == 3 && !ran.err.contains(WHY), "{ran:?}");
}

#[test]
fn what_always_would_allow_is_said_once_for_all_commands_of_a_line() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n").file("b.txt", "two\n");
    let (_, shown, _) = answered(&world, "rm a.txt; rm b.txt", &[], "n");
    let said = "  always would allow this command, in exactly these words; and every change of this path, by any tool";
    assert!(shown.replace('\r', "").lines().any(|line| line == said), "{shown}");
    assert!(shown.contains("`exec(rm a.txt) and exec(rm b.txt) and write(/a.txt) and write(/b.txt)`"), "{shown}");
}

#[test]
fn a_no_leaves_nothing_behind() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n").file("x.sh", "echo two > a.txt; seq 100000; sleep 31.4159 & echo b > b");
    let before = tree(&world.root());
    let mut screen = open(&world, "sh x.sh", &[]);
    assert!(screen.shown.contains("It would change a.txt, b (2 paths: 1 created, 1 changed)"), "{}", screen.shown);
    assert!(!runs("31.4159"), "a process of it lives while the question is open");
    assert_eq!(left_in(&world, "layers").len(), 1);
    screen.types("no, leave a.txt");
    let (code, shown, _) = screen.end();
    assert_eq!(code, 3, "{shown}");
    assert_eq!(tree(&world.root()), before);
    assert!(!runs("31.4159") && left_in(&world, "layers").is_empty(), "{shown}");
    assert_eq!(left_in(&world, "spill"), Vec::<String>::new(), "what it printed is kept nowhere");
    assert_eq!(lines(&world, "Checkpoint"), Vec::<Value>::new());
}

#[test]
fn a_command_that_fails_is_shown_as_it_ended_and_is_not_run_again() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("x.sh", "date +%s%N | tee f; exit 7");
    let mut screen = open(&world, "sh x.sh", &[]);
    let shown = screen.shown.clone();
    assert!(shown.contains("nothing is changed yet: exit 7 after"), "{shown}");
    let number = printed(&shown);
    screen.types("y");
    let (code, shown, out) = screen.end();
    assert_eq!(code, 1, "{shown}");
    assert!(out.contains("[exit 7 · in ."), "{out}");
    assert_eq!(world.text("f"), format!("{number}\n"));
}

#[test]
fn both_roots_are_layered() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n");
    let other = world.path("other");
    fs::create_dir(&other).expect("a directory");
    fs::write(other.join("b.txt"), "one\n").expect("a file");
    let script = format!("echo two > a.txt; echo two > {}/b.txt", other.display());
    let world = world.file("x.sh", &script);
    let (root, second) = (world.root().display().to_string(), other.display().to_string());
    let roots = ["--root", &root, "--root", &second];
    let (code, shown, _) = answered(&world, "sh x.sh", &roots, "n");
    assert_eq!(code, 3, "{shown}");
    assert!(shown.contains("(2 paths: 2 changed)"), "{shown}");
    assert_eq!(
        (world.text("a.txt"), fs::read_to_string(other.join("b.txt")).expect("it")),
        ("one\n".into(), "one\n".into())
    );
    let (code, shown, _) = answered(&world, "sh x.sh", &roots, "y");
    assert_eq!(code, 0, "{shown}");
    assert_eq!(
        (world.text("a.txt"), fs::read_to_string(other.join("b.txt")).expect("it")),
        ("two\n".into(), "two\n".into())
    );
}

#[test]
fn a_yes_lets_a_file_be_copied_to_a_name_outside_that_does_not_exist_yet() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n");
    let beside = world.path("beside");
    fs::create_dir(&beside).expect("a directory");
    let to = beside.join("new.txt");
    for text in ["one\n", "two\n"] {
        fs::write(world.root().join("a.txt"), text).expect("written");
        let (code, shown, _) = answered(&world, &format!("cp a.txt {}", to.display()), &[], "y");
        assert_eq!(code, 0, "{shown}");
        assert_eq!(fs::read_to_string(&to).expect("it was copied"), text);
    }
    assert_eq!(fs::read_dir(&beside).expect("a directory").count(), 1);
}

#[test]
fn what_reaches_beyond_the_roots_or_cannot_be_judged_waits_for_its_yes() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n").file(".env", "KEY=1\n").file("d/x", "x\n");
    fs::write(world.path("home/there.txt"), "there\n").expect("a file");
    let outside = world.path("home");
    let outside = outside.display();
    // Not into the home itself: the sandbox cannot open that for one file, so nobody is asked about it.
    let beside = world.path("beside");
    fs::create_dir(&beside).expect("a directory");
    let beside = beside.display();
    for (command, more) in [
        ("curl -o page https://example.com/", &[][..]),
        ("git clone https://example.com/x.git", &[]),
        ("cp .env copy", &[]),
        ("cp a.txt .envrc", &[]),
        (&format!("cp {outside}/there.txt here.txt"), &[]),
        (&format!("cp a.txt {beside}/"), &[]),
        ("rm -rf d", &[]),
        ("python3 -c 'open(\"made\", \"w\")'", &[]),
        ("python3 -c 'print(1)'", &["--mode", "workspace"]),
        ("touch made", &["run_in_background=true"]),
        ("touch made", &["dangerously_disable_sandbox=true"]),
        ("touch made", &["preview=true"]),
        ("touch made", &["--set", "shell.preview=off"]),
        ("touch made", &["--set", "shell.undo=off"]),
    ] {
        let before = tree(&world.root());
        let (code, shown, _) = answered(&world, command, more, "n");
        assert_eq!(code, 3, "{command}: {shown}");
        assert!(!shown.contains(TRIED) && !shown.contains("A yes"), "{command}: {shown}");
        assert!(lines(&world, "PermissionRequest").iter().all(|line| line.get("rehearsal").is_none()), "{command}");
        assert_eq!(tree(&world.root()), before, "{command}");
    }
    // What is denied is no question.
    let world = world.file("x.sh", "touch made");
    for rule in ["exec(sh *)", "tool(bash)"] {
        world.run(&["call", "bash", "command=sh x.sh", "--deny", rule]).exits(3);
    }
    assert!(!exists(world.root().join("made")) && left_in(&world, "layers").is_empty());
}

#[test]
fn a_trial_sees_no_secret_and_reaches_no_host() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let script = "cat .env; (exec 3<>/dev/tcp/127.0.0.1/$PORT) && echo reached; touch seen";
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it has one").port().to_string();
    let world = world().file(".env", "KEY=hunter2\n").file("x.sh", &script.replace("$PORT", &port));
    let (_, shown, _) = answered(&world, "bash x.sh", &[], "n");
    assert!(shown.contains(TRIED) && shown.contains("Permission denied"), "{shown}");
    assert!(!shown.contains("hunter2") && !shown.contains("reached"), "{shown}");
}

#[test]
fn what_may_become_code_and_what_a_rule_denies_is_named_beforehand_and_left_out() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("docs/a", "one\n").file("x.sh", "echo evil > .envrc; echo two > docs/a; echo b > b");
    let (code, shown, out) = answered(&world, "sh x.sh", &["--deny", "write(docs/**)"], "y");
    assert!(shown.contains("[a yes leaves out, as it may become code or policy: .envrc]"), "{shown}");
    assert!(shown.contains("[a yes leaves out, as a rule denies it or has it asked about: docs/a]"), "{shown}");
    assert_eq!(code, 3, "{shown}{out}");
    assert!(out.contains("not applied, as it may become code or policy: .envrc"), "{out}");
    assert!(out.contains("not applied, as a rule denies it: docs/a"), "{out}");
    assert_eq!((world.text("docs/a"), world.text("b")), ("one\n".into(), "b\n".into()));
    assert!(!exists(world.root().join(".envrc")));
}

#[test]
fn what_others_change_while_the_question_is_open_ends_the_yes_and_nothing_is_lost() {
    if !crate::shell::is_confined_here() {
        return;
    }
    for theirs in [Some("theirs\n"), None] {
        let world = world().file("a", "1\n").file("b", "1\n").file("x.sh", "echo 2 > a; echo 2 > b");
        let mut screen = open(&world, "sh x.sh", &[]);
        match theirs {
            Some(text) => fs::write(world.root().join("b"), text).expect("a file"),
            None => fs::remove_file(world.root().join("b")).expect("it was there"),
        }
        screen.types("y");
        let (code, shown, out) = screen.end();
        assert_ne!(code, 0, "{shown}");
        assert!(out.contains("nothing was applied: somebody else changed"), "{shown}{out}");
        assert!(out.contains("while the question was open"), "{out}");
        assert_eq!(world.text("a"), "1\n", "{out}");
        assert_eq!(fs::read_to_string(world.root().join("b")).ok().as_deref(), theirs);
        let kept = out.split("what it changed lies in ").nth(1).and_then(|rest| rest.split(']').next());
        let kept = std::path::Path::new(kept.expect("a directory"));
        assert_eq!(fs::read_to_string(kept.join("b")).expect("it is kept"), "2\n");
    }
}

#[test]
fn what_takes_too_long_to_be_shown_is_asked_about_all_the_same() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("x.sh", "echo begun > f; sleep 27.1828");
    let mut screen = open(&world, "sh x.sh", &["timeout=400"]);
    let said = "What it would change cannot be shown: it did not end within 0.4 s. A yes runs it.";
    assert!(screen.shown.contains(said), "{}", screen.shown);
    assert!(!exists(world.root().join("f")) && left_in(&world, "layers").is_empty() && !runs("27.1828"));
    assert_eq!(lines(&world, "PermissionRequest")[0]["rehearsal"]["held"], false);
    screen.types("y");
    let (_, shown, out) = screen.end();
    assert!(out.contains("its time was up") && out.contains("1 created"), "{shown}{out}");
    assert_eq!(world.text("f"), "begun\n");
    assert!(lines(&world, "ToolBash")[0].get("rehearsed").is_none());
}

#[test]
fn where_no_layer_can_be_had_the_question_says_so() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("w.sh", "sleep 60");
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all"]));
    peer.initialize_with("2025-11-25", json!({"elicitation": {}}));
    let arguments = json!({"command": "sh w.sh", "run_in_background": true});
    peer.send("tools/call", json!({"name": "nika_bash", "arguments": arguments}));
    let asked = peer.asked();
    peer.answers(&asked, json!({"action": "accept", "content": {"answer": "yes"}}));
    assert!(peer.next_result().to_string().contains("in the background"));
    peer.send("tools/call", json!({"name": "nika_bash", "arguments": {"command": "sed -i s/1/2/ a"}}));
    let asked = peer.asked();
    let message = asked["params"]["message"].as_str().expect("a message");
    assert!(message.contains("cannot be shown: jobs run in the background"), "{message}");
    peer.answers(&asked, json!({"action": "accept", "content": {"answer": "yes"}}));
    assert!(peer.next_result().to_string().contains("exit 0"));
    assert_eq!(world.text("a"), "2\n");
    peer.end();
}

#[test]
fn a_client_shows_what_was_tried_and_a_cancelled_call_leaves_nothing() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all"]));
    peer.initialize_with("2025-11-25", json!({"elicitation": {}}));
    let ask = |peer: &mut Peer| {
        let id = peer.send("tools/call", json!({"name": "nika_bash", "arguments": {"command": "sed -i s/1/2/ a"}}));
        (id, peer.asked())
    };
    let (id, asked) = ask(&mut peer);
    let message = asked["params"]["message"].as_str().expect("a message");
    assert!(message.contains(TRIED) && message.contains("\n-1\n+2"), "{message}");
    peer.tells("notifications/cancelled", json!({"requestId": id}));
    until_no_layer(&world);
    assert_eq!(world.text("a"), "1\n");
    let (_, asked) = ask(&mut peer);
    peer.answers(&asked, json!({"action": "accept", "content": {"answer": "yes"}}));
    let result = peer.next_result();
    assert_ne!(result["isError"], true, "{result}");
    assert_eq!(world.text("a"), "2\n");
    // What nobody said yes to is read by nobody: the first trial was job 1.
    let read = peer.call("nika_job_output", json!({"job_id": "j1"}));
    assert_eq!(read["isError"], true, "{read}");
    peer.end();
    // Whoever took the call back said neither yes nor no.
    let sessions = world.run(&["log", "list", "--output", "json"]).json();
    let id = sessions[0]["id"].as_str().expect("a session").to_owned();
    let exported = world.run(&["log", "export", &id]);
    let lines = &exported.out;
    let of = |event: &str, call: &Value| -> Value {
        let all = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        all.into_iter().find(|line| line["event"] == event && line["call"] == *call).expect(event)
    };
    let first = lines.lines().find(|line| line.contains("\"PermissionRequest\"")).expect("it was asked about");
    let call = serde_json::from_str::<Value>(first).expect("JSON")["call"].clone();
    let (settled, ended) = (of("PermissionSettled", &call), of("CallEnded", &call));
    assert_eq!((&settled["answer"], &settled["who"]), (&json!("cancelled"), &json!("")), "{settled}");
    assert_eq!(ended["code"], "NIKA-105", "{ended}");
}

#[test]
fn a_trial_that_nobody_waits_for_ends_with_its_processes() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("x.sh", "echo begun > f; sleep 16.1803");
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all"]));
    peer.initialize_with("2025-11-25", json!({"elicitation": {}}));
    let id = peer.send("tools/call", json!({"name": "nika_bash", "arguments": {"command": "sh x.sh"}}));
    let since = Instant::now();
    while !runs("16.1803") {
        assert!(since.elapsed() < Duration::from_secs(20), "it was not tried");
        std::thread::yield_now();
    }
    peer.tells("notifications/cancelled", json!({"requestId": id}));
    until_no_layer(&world);
    assert!(!runs("16.1803") && !exists(world.root().join("f")));
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
    peer.end();
}

#[test]
fn a_commit_is_the_one_that_was_shown_and_in_a_linked_worktree_it_waits() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n");
    for words in [&["init", "-q"][..], &["config", "user.name", "Ada"], &["config", "user.email", "ada@example.com"]] {
        git(&world.root(), words);
    }
    let commit = "git add a.txt && git commit -qm first && git rev-parse HEAD";
    let (code, shown, out) = answered(&world, commit, &[], "y");
    assert_eq!(code, 0, "{shown}{out}");
    let head = git(&world.root(), &["rev-parse", "HEAD"]);
    assert!(shown.contains(&format!("  │ {head}")) && out.contains(&head), "{shown}{out}");
    git(&world.root(), &["fsck", "--strict"]);

    let world = worktree().file("a.txt", "one\n");
    let (code, shown, out) = answered(&world, commit, &[], "y");
    let said = "cannot be shown: it may write a repository elsewhere, which no layer covers. A yes runs it.";
    assert!(shown.contains(said), "{shown}");
    assert_eq!(code, 0, "{shown}{out}");
    assert!(out.contains(&git(&world.root(), &["rev-parse", "HEAD"])), "{out}");
}

/// A call of `bash` by 2026-07-28, with what an earlier round brought.
fn round(peer: &mut Peer, command: &str, earlier: Option<&Value>) -> Value {
    let mut params = json!({"name": "nika_bash", "arguments": {"command": command}});
    if let Some(asked) = earlier {
        let key = asked["inputRequests"].as_object().expect("requests").keys().next().expect("one").clone();
        params["requestState"] = asked["requestState"].clone();
        params["inputResponses"] = json!({key: {"action": "accept", "content": {"answer": "yes"}}});
    }
    peer.request("tools/call", params)["result"].clone()
}

#[test]
fn nobody_is_asked_about_a_command_that_nothing_could_hold() {
    let world = world();
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--unsafe", "--ask", "exec"]));
    peer.stateless("2026-07-28", json!({"elicitation": {"form": {}}}));
    for command in ["rm -rf /", "rm -rf ~", "echo x > ~/../y", "cp a.txt ~/new.txt", "cp a.txt ~/../none/new.txt"] {
        let refused = round(&mut peer, command, None);
        assert_eq!(refused["isError"], true, "{command}: {refused}");
        let said = refused["content"][0]["text"].as_str().unwrap_or_default();
        assert!(said.contains("NIKA-910") && said.contains("cannot let a command write"), "{command}: {said}");
    }
    peer.end();
}

fn message(asked: &Value) -> String {
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let request = asked["inputRequests"].as_object().expect("requests").values().next().expect("one");
    request["params"]["message"].as_str().expect("a message").to_owned()
}

#[test]
fn between_two_requests_a_yes_is_to_the_same_change_set_or_to_none() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("x.sh", "sed s/1/2/ a > b; date +%N");
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all"]));
    peer.stateless("2026-07-28", json!({"elicitation": {"form": {}}}));
    // What it prints is another each time, what it changes is not.
    let asked = round(&mut peer, "sh x.sh", None);
    assert!(message(&asked).contains(TRIED) && message(&asked).contains("+2"), "{asked}");
    assert!(!exists(world.root().join("b")) && left_in(&world, "layers").is_empty());
    let done = round(&mut peer, "sh x.sh", Some(&asked));
    assert_ne!(done["isError"], true, "{done}");
    assert_eq!(world.text("b"), "2\n");
    // The workspace is another when the answer comes: so is the change set, and the question is put again.
    fs::remove_file(world.root().join("b")).expect("it was there");
    let asked = round(&mut peer, "sh x.sh", None);
    fs::write(world.root().join("a"), "1 and more\n").expect("a file");
    let again = round(&mut peer, "sh x.sh", Some(&asked));
    assert!(message(&again).contains("+2 and more"), "{again}");
    assert!(!exists(world.root().join("b")));
    let done = round(&mut peer, "sh x.sh", Some(&again));
    assert_ne!(done["isError"], true, "{done}");
    assert_eq!(world.text("b"), "2 and more\n");
    peer.end();
}

#[test]
fn between_requests_what_is_another_each_time_is_asked_about_without_a_trial() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("x.sh", "date +%s%N > f");
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all"]));
    peer.stateless("2026-07-28", json!({"elicitation": {"form": {}}}));
    let mut asked = round(&mut peer, "sh x.sh", None);
    for _ in 0..2 {
        assert!(message(&asked).contains("A yes applies exactly"), "{asked}");
        asked = round(&mut peer, "sh x.sh", Some(&asked));
        assert!(!exists(world.root().join("f")), "a yes to another change set counts for nothing");
    }
    assert!(message(&asked).contains("does something else each time"), "{asked}");
    let done = round(&mut peer, "sh x.sh", Some(&asked));
    assert_ne!(done["isError"], true, "{done}");
    assert!(exists(world.root().join("f")));
    peer.end();
}

#[test]
fn what_a_hook_puts_in_place_is_what_is_tried() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("b", "1\n");
    let hook = world.path("home/check.sh");
    let says = "#!/bin/sh\necho '{\"arguments\": {\"command\": \"sed -i s/1/2/ b\"}}'\n";
    fs::write(&hook, says).expect("a script");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("it may run");
    let dir = world.path("home/.config/nika");
    fs::create_dir_all(&dir).expect("a directory");
    let yaml = "hooks:\n  - {on: before, tool: bash, run: [\"~/check.sh\"]}\n";
    fs::write(dir.join("config.yaml"), yaml).expect("a file");
    let (code, shown, _) = answered(&world, "sed -i s/1/3/ a", &[], "y");
    assert!(
        shown.contains("the arguments were rewritten by") && shown.contains("change b (1 path: 1 changed)"),
        "{shown}"
    );
    assert_eq!((code, world.text("a").as_str(), world.text("b").as_str()), (0, "1\n", "2\n"));
}

#[test]
fn a_kill_while_the_question_is_open_leaves_no_layer_after_the_next_start() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let mut screen = open(&world, "sed -i s/1/2/ a", &[]);
    assert_eq!(left_in(&world, "layers").len(), 1);
    screen.child.kill().expect("it runs");
    screen.child.wait().expect("it ended");
    world.run(&["call", "list_dir"]).exits(0);
    assert_eq!((left_in(&world, "layers").len(), world.text("a").as_str()), (0, "1\n"));
}

#[test]
fn a_task_of_a_workflow_is_tried_too_with_its_input() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let flow = r#"
schema: nika/workflow@1
permits: {exec: ["sh *"], fs: {read: ["**"], write: ["**"]}}
tasks:
  - {id: a, exec: {command: [sh, x.sh], stdin: "given\n", capture: all}}
outputs: {out: "{{ tasks.a }}"}
"#;
    let world = world().file("x.sh", "date +%s%N | tee f; cat; echo wrong >&2").file("w.nika.yaml", flow);
    let dir = world.path("home/.config/nika");
    fs::create_dir_all(&dir).expect("a directory");
    fs::write(dir.join("config.yaml"), "permissions:\n  ask: ['exec(sh *)']\n").expect("written");
    for (answer, code) in [("no", 1), ("y", 0)] {
        let mut screen = Screen::start(&world, &["run", "w.nika.yaml", "--mode", "workspace", "--yes"]);
        assert!(screen.shows(PROMPT), "no question: {}", screen.shown);
        let shown = screen.shown.clone();
        assert!(shown.contains(TRIED) && shown.contains("It would change f (1 path: 1 created)"), "{shown}");
        assert!(shown.contains("  │ given") && shown.contains("  │ wrong"), "{shown}");
        assert!(!exists(world.root().join("f")), "nothing is changed before the yes");
        let number = printed(&shown);
        screen.types(answer);
        let (ended, shown, out) = screen.end();
        assert_eq!(ended, code, "{shown}");
        assert_eq!(exists(world.root().join("f")), code == 0, "{shown}");
        if code == 0 {
            assert_eq!(world.text("f"), format!("{number}\n"), "another run would have written another number");
            assert!(out.contains(&number.to_string()) && out.contains("given") && out.contains("wrong"), "{out}");
        }
    }
}

#[test]
fn an_agents_question_shows_it_at_the_terminal() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let script = "turns:\n\
        - calls: [{id: c1, tool: bash, arguments: {command: \"rm old.txt\"}}]\n\
        - expect: {results: [{id: c1, contains: undo takes it back}]}\n  say: It is gone.\n";
    let world = world().file("old.txt", "old\n");
    fs::write(world.path("script.yaml"), script).expect("written");
    let words = ["agent", "tidy up", "--provider", "scripted", "--model", "../script.yaml"];
    let mut screen = Screen::start(&world, &words);
    assert!(screen.shows(PROMPT), "{}", screen.shown);
    assert!(screen.shown.contains("change old.txt (1 path: 1 deleted)") && exists(world.root().join("old.txt")));
    screen.types("y");
    let (code, shown, out) = screen.end();
    assert_eq!((code, out.as_str()), (0, "It is gone.\n"), "{shown}");
    assert!(!exists(world.root().join("old.txt")), "{shown}");
}

#[test]
fn a_link_that_goes_is_judged_by_its_own_name_and_not_by_what_it_leads_to() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a/x", "1\n").file("b/x", "2\n");
    let outside = world.path("outside");
    std::fs::write(&outside, "mine\n").expect("written");
    let link =
        |to: &std::path::Path, name: &str| std::os::unix::fs::symlink(to, world.root().join(name)).expect("a link");
    for (command, is_run) in [
        ("rm out", true),
        ("rm -f out gone && rm dir", true),
        ("mv out other; cat other", false),
        ("unlink gone", true),
        ("ln -sfn a gone && rm a/x", true),
        ("ln -sfnv b dir", true),
        ("echo x > out", false),
        ("rm -r dir/", false),
        ("ln -sf a out && rm dir/x", false),
    ] {
        link(&outside, "out");
        link(&world.path("nowhere"), "gone");
        link(&world.path("home"), "dir");
        let ran = world.run(&["call", "bash", &format!("command={command}"), "--mode", "workspace"]);
        assert_eq!(ran.code == 0, is_run, "{command}: {ran:?}");
        assert!(is_run || ran.code == 3, "{command}: {ran:?}");
        assert_eq!(std::fs::read_to_string(&outside).expect("it is there"), "mine\n");
        for name in ["out", "gone", "dir", "other"] {
            let _ = std::fs::remove_file(world.root().join(name));
        }
    }
}
