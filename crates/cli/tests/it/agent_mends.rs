//! `nika agent` from a failing test to one that passes and back again, as its page shows it; and over the wires of a
//! server that somebody else wrote.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nika_testkit::Katan;
use serde_json::Value;

use crate::world::{Ran, World, world};

const PAGE: &str = include_str!("../../../../docs/agent.md");
const EXAMPLE: &str = "examples/failing-test";

/// The steps of the page's example: a command, and what it says.
fn steps() -> Vec<(&'static str, Vec<&'static str>)> {
    let story = PAGE.split("```console\n").find(|block| block.starts_with(&format!("$ cp -r {EXAMPLE}")));
    let story = story.and_then(|block| block.split("```").next()).expect("the page has the example");
    let step = |step: &'static str| {
        let mut lines = step.lines();
        (lines.next().expect("a command"), lines.collect())
    };
    story.split("$ ").filter(|step| !step.is_empty()).map(step).collect()
}

/// Everything below `dir`, with its bytes and its mode.
fn tree(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
    use std::os::unix::fs::PermissionsExt;
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(&at).expect("a directory").map(|entry| entry.expect("an entry")) {
            let (path, meta) = (entry.path(), entry.metadata().expect("it is there"));
            let bytes = if meta.is_dir() { Vec::new() } else { std::fs::read(&path).expect("a file") };
            let below = path.strip_prefix(dir).expect("below it").to_owned();
            found.insert(below, (bytes, meta.permissions().mode()));
            if meta.is_dir() {
                open.push(path);
            }
        }
    }
    found
}

/// A line of `sh` in the world, with the program on its path and the toolchain where it is.
fn sh(world: &World, line: &str) -> Ran {
    let beside = Path::new(env!("CARGO_BIN_EXE_nika")).parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([beside].into_iter().chain(std::env::split_paths(&path))).expect("a path");
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1\n{line}")]).current_dir(world.root()).env_clear();
    shell.env("PATH", path).env("HOME", world.path("home")).env("NIKA_STATE_DIR", world.path("state"));
    shell.stdin(Stdio::null());
    for (name, usual) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        shell.env(name, std::env::var_os(name).unwrap_or_else(|| home.join(usual).into_os_string()));
    }
    Ran::of(shell.output().expect("sh starts"))
}

/// Each line of an example is said, in its order; `…` stands for any text of it.
fn says(ran: &Ran, lines: &[&str]) {
    let mut rest = ran.out.as_str();
    for piece in lines.iter().flat_map(|line| line.split('…')).filter(|piece| !piece.trim().is_empty()) {
        let at = rest.find(piece).unwrap_or_else(|| panic!("it does not say {piece:?} there: {}", ran.out));
        rest = &rest[at + piece.len()..];
    }
    assert!(!lines.is_empty() || ran.out.is_empty(), "the page shows nothing, and it says {}", ran.out);
}

#[test]
fn the_example_of_the_page_mends_a_failing_test_and_is_taken_back_byte_for_byte() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(EXAMPLE);
    std::fs::create_dir(world.root().join("examples")).expect("a directory");
    let copied = Command::new("cp").arg("-r").arg(&from).arg(world.root().join("examples")).status().expect("cp");
    assert!(copied.success());
    let steps = steps();
    assert!(steps.len() >= 4, "{steps:?}");
    let (tried, mut trees) = (world.root().join("tried"), Vec::new());
    for (line, wanted) in &steps {
        let ran = sh(&world, line);
        assert_eq!(ran.code, 0, "{line}: {}", ran.out);
        says(&ran, wanted);
        trees.push(tree(&tried));
    }
    let [copied, mended, .., last] = trees.as_slice() else { panic!("a tree after each step") };
    let source = |tree: &BTreeMap<PathBuf, (Vec<u8>, u32)>| tree[Path::new("src/split.rs")].0.clone();
    assert!(String::from_utf8_lossy(&source(mended)).contains("at < rest"));
    assert_ne!(source(mended), source(copied));
    let names = |tree: &BTreeMap<PathBuf, (Vec<u8>, u32)>| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(last), names(copied), "what the tests built is gone as well");
    assert!(last == copied, "byte for byte");
}

/// A run over one of its wires. A token costs a cent.
fn over(katan: &Katan, world: &World, adapter: &str, words: &[&str]) -> Ran {
    let provider = format!(
        "providers.katan={{address: \"http://127.0.0.1:{}\", adapter: {adapter}, key_env: KATAN_KEY, \
         prices: {{echo-*: {{input: 10000, output: 10000}}}}}}",
        katan.port
    );
    let all = [&["agent"], words, &["--provider", "katan", "--model", "echo-model", "--set", &provider]].concat();
    Ran::of(world.nika(&all).env("KATAN_KEY", "any").output().expect("it starts"))
}

const WIRES: [&str; 2] = ["openai-chat", "anthropic"];

#[test]
fn a_run_over_the_wires_of_another_server_is_answered_and_paid_for() {
    let Some(katan) = Katan::started(&["--no-auto-tool-providers", "openai,anthropic"]) else { return };
    for adapter in WIRES {
        let world = world();
        let object = over(&katan, &world, adapter, &["Say hello to Ada", "--output", "json"]).json();
        let answer = object["answer"].as_str().unwrap_or_default();
        assert!(object["ok"] == true && answer.contains("Say hello to Ada"), "{adapter}: {object}");
        let tokens = ["input", "cache_read", "cache_write", "output"].map(|kind| object["usage"][kind].as_u64());
        let tokens: u64 = tokens.iter().flatten().sum();
        let cost = object["cost_usd"].as_f64().unwrap_or_default();
        assert!(tokens > 0 && (cost - tokens as f64 / 100.0).abs() < 1e-6, "{adapter}: {object}");
        // It is seen as it comes, and said once more where a program reads it.
        let shown = over(&katan, &world, adapter, &["Say hello to Ada"]);
        shown.exits(0).says("Say hello to Ada").complains("1 turn · 0 calls").complains(" · $");
    }
}

#[test]
fn calls_over_the_wires_of_another_server_are_answered_until_the_money_is_spent() {
    let Some(katan) = Katan::started(&[]) else { return };
    for adapter in WIRES {
        let world = world();
        // The same senseless call again and again: its arguments are refused, the model is told, the run ends.
        let object = over(&katan, &world, adapter, &["Look around", "--output", "json"]).json();
        assert_eq!((&object["ok"], &object["turns"]), (&false.into(), &object["calls"]), "{adapter}: {object}");
        assert!(object["turns"].as_u64() >= Some(3), "{adapter}: {object}");
        let events = over(&katan, &world, adapter, &["Look around", "--output", "stream-json", "--max-cost", "0.01"]);
        events.exits(3);
        let events: Vec<Value> = events.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let named = |name: &str| events.iter().filter(|event| event["event"] == name).count();
        assert_eq!((named("turn"), named("call"), named("result")), (1, 1, 1), "{adapter}: {events:?}");
        let last = events.last().expect("events");
        assert_eq!((&last["code"], last["cost_usd"].as_f64() > Some(0.01)), (&"NIKA-106".into(), true), "{last}");
        let session = last["session"].as_str().expect("a session");
        world.run(&["log", "verify", session]).exits(0);
    }
}
