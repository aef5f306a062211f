//! `nika policy check` and the `bash` tool say the same: every fixture goes through both, in every mode.
//!
//! The tool's side is the pipeline's plan, which judges a call and makes none. What is here is no supervisor either: a
//! command that were started would find this test instead, and no test of its name.

use std::collections::BTreeSet;
use std::sync::Arc;

use nika_contract::{Cancel, Nobody, SessionState, Silent};
use nika_guard::Mode;
use nika_host::proc::Jobs;
use nika_runtime::Incoming;
use nika_tools::shell::bash::{Bash, Params};
use nika_tools::shell::command::Command;
use nika_tools::shell::ground::Ground as Shell;
use serde_json::{Value, json};

use super::{Court, check};
use crate::args::{Standing, Where};
use crate::compose::{self, Ground, Shape, command_env, open_files};
use crate::world::World;

/// The classes; the longer sets repeat them with other words, and are compared in one mode.
const CLASSES: &[&str] = &[
    include_str!("../../../../guard/tests/data/bash/bash_adversarial.jsonl"),
    include_str!("../../../../guard/tests/data/bash/bash_benign.jsonl"),
    include_str!("../../../../guard/tests/data/bash/bash_destructive.jsonl"),
    include_str!("../../../../guard/tests/data/bash/not_ordinary.jsonl"),
];
const LONGER: &[&str] = &[
    include_str!("../../../../guard/tests/data/bash/ordinary.jsonl"),
    include_str!("../../../../guard/tests/data/bash/options.jsonl"),
    include_str!("../../../../guard/tests/data/bash/warnings.jsonl"),
];

fn commands(sets: &[&str]) -> Vec<String> {
    let lines = sets.iter().flat_map(|set| set.lines()).filter(|line| !line.trim().is_empty());
    let row = |line: &str| serde_json::from_str::<Value>(line).expect("a row is JSON");
    lines.map(|line| row(line)["cmd"].as_str().expect("a row has a command").to_owned()).collect()
}

/// Where the two said something else, and all that they said.
fn differing(mode: Mode, commands: &[String]) -> (Vec<String>, BTreeSet<String>) {
    let dir = tempfile::tempdir().expect("a directory");
    for name in ["home", "work/src"] {
        std::fs::create_dir_all(dir.path().join(name)).expect("a directory");
    }
    std::fs::write(dir.path().join("work/src/main.rs"), "fn main() {}\n").expect("a file");
    std::os::unix::fs::symlink("/etc", dir.path().join("work/out")).expect("a link");
    let world = World::of_test(dir.path());
    let place = Where { roots: vec![dir.path().join("work")] };
    let standing = Standing { mode: Some(mode), ..Standing::default() };
    let court = Court::in_world(&world, &place, &standing).expect("a court");
    let ground = Ground::find(&world, &place).expect("the root is there");
    let effective = ground.configure(&world, &standing).expect("it is configured");
    let bash = bash(&world, &ground, &effective);
    let runtime = compose::build(&world, &ground, effective, Shape::default()).expect("a pipeline").runtime;
    let session = runtime.session("same", false);
    let (mut wrong, mut said) = (Vec::new(), BTreeSet::new());
    for command in commands {
        let arguments = json!({"command": command});
        let incoming = Incoming {
            name: "bash".into(),
            arguments: arguments.as_object().expect("an object").clone(),
            cancel: Cancel::default(),
            progress: Arc::new(Silent),
            asker: Arc::new(Nobody),
            deferral: false,
            origin: None,
        };
        let planned = runtime.plan(&session, &incoming).expect("a plan");
        let params: Params = serde_json::from_value(arguments).expect("they fit");
        let site = bash.ground.site(&SessionState::new("same", false));
        let own = Command { effects: planned.effects().clone(), ..bash.read(&params, &site) };
        let tool = check::told(Value::Null, &own, &planned.verdict(&session));
        let check = check::judged(&court, Value::Null, command);
        said.insert(check["decision"].to_string());
        if tool != check {
            wrong.push(format!("{mode}: {command:?}\n  the tool: {tool}\n  the check: {check}"));
        }
    }
    (wrong, said)
}

/// The tool, over the same place.
fn bash(world: &World, ground: &Ground, effective: &crate::config::Effective) -> Bash {
    let files = Arc::new(open_files(world, ground, effective).expect("the root opens"));
    let jobs = Arc::new(Jobs::new(world.exe(), None));
    let env = command_env(world, effective);
    let spill = ground.base().join("spill");
    Bash { ground: Arc::new(Shell::new(files, jobs, env, spill, false, true)) }
}

#[test]
fn the_check_and_the_tool_say_the_same_of_every_fixture() {
    let (classes, longer) = (commands(CLASSES), commands(LONGER));
    assert!(classes.len() > 100 && longer.len() > 1000, "{} and {}", classes.len(), longer.len());
    let mut said = BTreeSet::new();
    for (mode, set) in Mode::ALL.into_iter().map(|mode| (mode, &classes)).chain([(Mode::Workspace, &longer)]) {
        let (wrong, decisions) = differing(mode, set);
        assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), set.len(), wrong.join("\n"));
        said.extend(decisions);
    }
    // Every word of a verdict was among them.
    assert_eq!(said.into_iter().collect::<Vec<_>>(), ["\"allow\"", "\"ask\"", "\"deny\""]);
}
