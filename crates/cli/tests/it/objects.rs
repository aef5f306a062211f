//! Whoever asks for JSON reads JSON, also of what went wrong: one object, the same for every command.

use serde_json::Value;

use crate::world::world;

/// Each command that prints JSON, with something that cannot be done.
const CANNOT: &[(&str, &[&str])] = &[
    ("nika call", &["call", "read", "file_path=nowhere", "--output", "json"]),
    ("nika agent", &["agent", "x", "--provider", "nobody", "--output", "json"]),
    ("nika run", &["run", "nowhere.nika.yaml", "--output", "json"]),
    ("nika trace", &["trace", "--root", "nowhere", "--output", "json"]),
    ("nika trace list", &["trace", "list", "--root", "nowhere", "--output", "json"]),
    ("nika trace show", &["trace", "show", "nothing", "--output", "json"]),
    ("nika trace verify", &["trace", "verify", "nothing", "--output", "json"]),
    ("nika trace export", &["trace", "export", "nothing", "--output", "json"]),
    ("nika test", &["test", "nowhere.nika.yaml", "--output", "json"]),
    ("nika sessions", &["sessions", "--root", "nowhere", "--output", "json"]),
    ("nika check", &["check", "nowhere.nika.yaml", "--json"]),
    ("nika tools", &["tools", "--dialect", "klingon", "--json"]),
    ("nika tools show", &["tools", "show", "nothing", "--json"]),
    ("nika undo", &["undo", "c000000000", "--output", "json"]),
    ("nika checkpoints", &["checkpoints", "--root", "nowhere", "--output", "json"]),
    ("nika log", &["log", "--root", "nowhere", "--output", "json"]),
    ("nika log list", &["log", "list", "--root", "nowhere", "--output", "json"]),
    ("nika log show", &["log", "show", "nothing", "--output", "json"]),
    ("nika log verify", &["log", "verify", "nothing", "--output", "json"]),
    ("nika log export", &["log", "export", "nothing", "--output", "json"]),
    ("nika config", &["config", "--set", "no.such=key", "--output", "json"]),
    ("nika hooks list", &["hooks", "list", "--root", "nowhere", "--output", "json"]),
    ("nika hooks test", &["hooks", "test", "nothing", "--output", "json"]),
    ("nika mcp list", &["mcp", "list", "--root", "nowhere", "--json"]),
    ("nika mcp tools", &["mcp", "tools", "nobody", "--json"]),
    ("nika mcp approve", &["mcp", "approve", "nobody", "--output", "json"]),
    ("nika mcp login", &["mcp", "login", "nobody", "--output", "json"]),
    ("nika mcp logout", &["mcp", "logout", "nobody", "--json"]),
    ("nika search login", &["search", "login", "nobody", "--json"]),
    ("nika search logout", &["search", "logout", "--json"]),
    ("nika policy explain", &["policy", "explain", "ls", "--mode", "wild", "--output", "json"]),
    ("nika policy test", &["policy", "test", "--mode", "wild", "--output", "json"]),
    ("nika policy replay", &["policy", "replay", "--against", "nowhere.yaml", "--output", "json"]),
    ("nika doctor", &["doctor", "--nothing", "--output", "json"]),
];

/// The commands whose help offers JSON, from the program itself.
fn that_print_json(help: &str) -> Vec<String> {
    let offers = |section: &&str| {
        section.lines().any(|line| {
            let line = line.trim_start();
            line.starts_with("--output <FORMAT>") || line == "--json" || line.starts_with("--json  ")
        })
    };
    let sections = help.split("## `").skip(1).filter(offers);
    sections.filter_map(|section| Some(section.split_once('`')?.0.to_owned())).collect()
}

#[test]
fn what_cannot_be_done_is_one_object_whatever_the_command() {
    let world = world();
    let mut all = that_print_json(&world.run(&["__help"]).exits(0).out);
    let mut tried: Vec<&str> = CANNOT.iter().map(|(command, _)| *command).collect();
    all.sort();
    tried.sort_unstable();
    assert_eq!(tried, all, "every command that prints JSON is in the table");
    for (command, words) in CANNOT {
        let ran = world.run(words);
        let said: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{command}: {error}: {ran:?}"));
        assert_eq!(said["ok"], false, "{command}: {said}");
        let code = said["code"].as_str().unwrap_or_default();
        assert!(code.starts_with("NIKA-"), "{command}: {said}");
        let message = said["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty() && said["error"]["message"] == message, "{command}: {said}");
        assert!(said["hint"].is_string() || said["hint"].is_null(), "{command}: {said}");
        assert!([1, 2, 3].contains(&ran.code), "{command}: {ran:?}");
        assert_eq!(ran.err, "", "{command}");
        // To people the same is said in words.
        let plain: Vec<&str> =
            words.iter().copied().filter(|word| !["--output", "json", "--json"].contains(word)).collect();
        let told = world.run(&plain);
        assert_eq!(told.code, ran.code, "{command}: {told:?}");
        assert!(told.out.is_empty() && !told.err.is_empty(), "{command}: {told:?}");
    }
}

#[test]
fn a_command_that_failed_says_so_in_the_same_words() {
    let world = world();
    let said = world.run(&["call", "bash", "command=echo x; exit 3", "--output", "json"]).exits(1).json();
    assert_eq!((&said["ok"], &said["code"]), (&false.into(), &"NIKA-400".into()), "{said}");
    assert_eq!(said["message"], "The command ended with an error (exit 3)", "{said}");
    assert!(said["hint"].as_str().is_some_and(|hint| hint.contains("`content`")), "{said}");
    assert!(said["content"][0]["text"].as_str().is_some_and(|text| text.starts_with("x\n")), "{said}");
    let done = world.run(&["call", "bash", "command=true", "--output", "json"]).exits(0).json();
    assert!(done["ok"] == true && done.get("message").is_none(), "{done}");
}

#[test]
fn a_refused_run_says_how_it_ended_in_both_forms() {
    let world = world().file("w.nika.yaml", "schema: nika/workflow@1\ntasks:\n  - {id: a, exec: ls}\n");
    for form in ["json", "stream-json"] {
        let ran = world.run(&["run", "w.nika.yaml", "--output", form]);
        ran.exits(2);
        let last: Value = serde_json::from_str(ran.out.lines().last().unwrap_or_default()).expect("an object");
        assert_eq!((&last["status"], &last["code"]), (&"refused".into(), &"NIKA-882".into()), "{last}");
    }
}

#[test]
fn names_of_nothing_are_wrong_usage_and_where_nothing_was_done_that_is_the_answer() {
    let world = world();
    for words in [
        &["mcp", "tools", "nobody"][..],
        &["mcp", "login", "nobody"],
        &["log", "show", "nothing"],
        &["trace", "show", "nothing"],
        &["trace", "show", "last"],
        &["tools", "show", "nothing"],
    ] {
        world.run(words).exits(2).complains("error: NIKA-");
    }
    for (words, said) in [
        (&["trace", "show"][..], "No workflow was run here yet."),
        (&["trace", "list"], "No workflow was run here yet."),
        (&["log", "show"], "Nothing was done here yet."),
        (&["log", "list"], "Nothing was done here yet."),
    ] {
        world.run(words).exits(0).says(said);
        assert_eq!(world.run(&[words, &["--output", "json"]].concat()).json(), Value::Array(Vec::new()), "{words:?}");
    }
}

#[test]
fn an_interrupted_call_ends_as_interrupted_programs_do() {
    let world = world();
    let mut child = world
        .nika(&["call", "sleep", "duration_ms=60000", "--session", "s", "--output", "json"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    // Before it listens for the signal, the signal would end it.
    let listens = || {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
        caught & 0b10 != 0 && world.run(&["log", "show", "s", "--output", "json"]).out.contains("CallBegun")
    };
    while !listens() {
        assert_eq!(child.try_wait().expect("it is ours"), None, "it ended by itself");
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("`kill` is there").success());
    let ran = crate::world::Ran::of(child.wait_with_output().expect("it ends"));
    assert_eq!(ran.exits(130).json()["code"], "NIKA-105", "{ran:?}");
}

#[test]
fn an_answer_is_shown_also_where_the_session_cannot_be_kept() {
    let world = world().file("a.txt", "one\n");
    let read = ["call", "read", "file_path=a.txt", "--session", "s"];
    world.run(&read).exits(0);
    // What holds sessions is gone, and is made with the state alone.
    std::fs::remove_dir_all(world.state().join("sessions")).expect("it is there");
    let ran = world.run(&[&read[..], &["--output", "json"]].concat());
    assert_eq!(ran.json()["ok"], true, "{ran:?}");
    ran.complains("error: NIKA-901");
    assert_ne!(ran.code, 0);
}
