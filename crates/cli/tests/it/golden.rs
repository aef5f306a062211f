//! `nika test`: each case is its own result, and what is taken for right leaves the rest of the file alone.

use std::fs;

use serde_json::{Value, json};

use crate::world::{World, exists, world};

/// Says a word back; needs one.
const ECHO: &str = "schema: nika/workflow@1\ninputs: {word: {type: string}}\npermits: {exec: [\"printf *\"]}\ntasks:\n  - {id: say, exec: [printf, \"%s\", \"{{ inputs.word }}\"]}\noutputs: {said: \"{{ tasks.say }}\"}\n";
/// Reads a file that may not be there.
const READS: &str = "schema: nika/workflow@1\npermits: {fs: {read: [\"**\"]}, tools: [read]}\ntasks:\n  - {id: look, invoke: {tool: read, params: {file_path: a.txt}}}\n";
/// Needs no command and no model.
const WRITES: &str = "schema: nika/workflow@1\npermits: {fs: {write: [\"out/**\"]}, tools: [write]}\ntasks:\n  - {id: note, invoke: {tool: write, params: {file_path: out/a.txt, content: \"hello\\n\"}}}\noutputs: {bytes: \"{{ tasks.note.bytes }}\"}\n";

fn cases(world: &World, words: &[&str]) -> Vec<Value> {
    let ran = world.run(&[&["test", "--output", "json"], words].concat());
    ran.json()["cases"].as_array().cloned().unwrap_or_else(|| panic!("no cases in {ran:?}"))
}

#[test]
fn what_is_refused_before_a_run_is_the_result_of_its_case_alone() {
    let secret = "schema: nika/workflow@1\nsecrets: [NO_SUCH_TOKEN]\ntasks:\n  - {id: a, exec: [printf, x]}\npermits: {exec: [\"printf *\"]}\n";
    let faulty = "schema: nika/workflow@1\ntasks:\n  - {id: a, invoke: {tool: reed}}\n";
    let world = world()
        .file("echo.nika.yaml", ECHO)
        .file("echo.test.yaml", "cases:\n  - {name: needs a word, fails: NIKA-891}\n  - {name: was to be fine}\n")
        .file("faulty.nika.yaml", faulty)
        .file("faulty.test.yaml", "cases:\n  - {name: has findings, fails: NIKA-882}\n  - {name: the finding, fails: NIKA-873}\n")
        .file("reads.nika.yaml", READS)
        .file("reads.test.yaml", "cases:\n  - {name: is not there, fails: NIKA-208}\n  - {name: outside, given: {../x: y}, fails: NIKA-100}\n  - {name: no script, script: no.yaml, fails: NIKA-100}\n")
        .file("secret.nika.yaml", secret)
        .file("secret.test.yaml", "cases:\n  - {name: unset, fails: NIKA-892}\n")
        .file("unread.nika.yaml", READS)
        .file("unread.test.yaml", "cases:\n  - {nome: x}\n");
    let all = cases(&world, &["--yes"]);
    let row = |file: &str, case: Value| {
        let found = all.iter().find(|row| row["file"] == format!("{file}.test.yaml") && row["case"] == case);
        found.unwrap_or_else(|| panic!("no {file} {case} in {all:?}"))
    };
    for (file, case) in [
        ("echo", "needs a word"),
        ("faulty", "has findings"),
        ("faulty", "the finding"),
        ("reads", "is not there"),
        ("secret", "unset"),
    ] {
        assert_eq!(row(file, case.into())["ok"], true, "{all:?}");
    }
    for (file, case, why) in [
        ("echo", json!("was to be fine"), "NIKA-891"),
        ("reads", json!("outside"), "it cannot be tried: NIKA-100 `given` names ../x"),
        ("reads", json!("no script"), "it cannot be tried: NIKA-100 there is no script"),
        ("unread", Value::Null, "nome"),
    ] {
        let row = row(file, case);
        assert_eq!(row["ok"], false, "{row}");
        assert!(row["differs"][0].as_str().is_some_and(|said| said.contains(why)), "{row}");
    }
    // A test that cannot be read is wrong usage; the others are told of all the same.
    world.run(&["test", "--yes"]).exits(2).says("ok    secret.test.yaml: unset").says("FAIL  unread.test.yaml\n");
    world.run(&["test", "--yes", "echo.nika.yaml"]).exits(1).says("1 passed, 1 failed");
}

#[test]
fn what_is_not_there_is_named() {
    let world = world().file("reads.nika.yaml", READS).file("alone.test.yaml", "cases: []\n");
    world.run(&["test", "alone.test.yaml"]).exits(2).says("its workflow alone.nika.yaml: No such file");
    world.run(&["test", "reads.nika.yaml"]).exits(2).complains("`nika test --update reads.nika.yaml`");
    world.run(&["test", "no.nika.yaml"]).exits(2).complains("neither no.nika.yaml nor no.test.yaml");
    world.run(&["test", "a.txt"]).exits(2).complains("a.txt is no test");
}

#[test]
fn an_update_writes_what_changed_and_nothing_else() {
    let text = "# Why.\ncases:\n  # It is not there.\n  - {name: gone, fails: NIKA-208}  # as it should\n  # And this one is.\n  - name: there\n    given: {a.txt: \"x\\n\"}\n    fails: NIKA-202\n";
    let world = world().file("reads.nika.yaml", READS).file("reads.test.yaml", text);
    let before = fs::metadata(world.root().join("reads.test.yaml")).expect("it is there").modified().expect("a time");
    world.run(&["test"]).exits(1).says("it was to fail with NIKA-202, and did not");
    assert_eq!(world.text("reads.test.yaml"), text);
    world.run(&["test", "--update"]).exits(0).says("ok    reads.test.yaml: gone").says("new   reads.test.yaml: there");
    let now = world.text("reads.test.yaml");
    assert!(now.starts_with("# Why.\ncases:\n  # It is not there.\n  - {name: gone, fails: NIKA-208}  # as it should\n  # And this one is.\n  - name: there\n"), "{now}");
    assert!(!now.contains("NIKA-202"), "{now}");
    let written = fs::metadata(world.root().join("reads.test.yaml")).expect("it is there").modified().expect("a time");
    assert!(written > before);
    world.run(&["test", "--update"]).exits(0).says("2 passed, 0 failed");
    let again = fs::metadata(world.root().join("reads.test.yaml")).expect("it is there").modified().expect("a time");
    assert_eq!(again, written, "what is right is not written");
    // The code that every failed run has would hold for any failure.
    fs::remove_file(world.root().join("reads.test.yaml")).expect("it is there");
    let world = world.file("reads.test.yaml", "cases:\n  - {name: gone, fails: NIKA-202}\n");
    world.run(&["test", "--update"]).exits(0);
    assert!(world.text("reads.test.yaml").contains("fails: NIKA-208"), "{}", world.text("reads.test.yaml"));
}

#[test]
fn the_first_test_is_made_of_a_run() {
    let world = world()
        .file("w/writes.nika.yaml", WRITES)
        .file("echo.nika.yaml", ECHO)
        .file("target/x.nika.yaml", WRITES)
        .file("target/x.test.yaml", "cases:\n  - {name: not ours, fails: NIKA-1}\n");
    world.run(&["test", "--update", "w/writes.nika.yaml"]).exits(0).says("new   w/writes.test.yaml: with its defaults");
    let made = world.text("w/writes.test.yaml");
    assert!(made.contains("bytes: \"6\"") || made.contains("bytes: 6") || made.contains("bytes: '6'"), "{made}");
    assert!(made.contains("out/a.txt") && made.contains("hello"), "{made}");
    assert!(!exists(world.root().join("out")) && !exists(world.root().join("w/out")), "it ran elsewhere");
    world.run(&["test"]).exits(0).says("1 passed, 0 failed");
    fs::write(world.root().join("w/writes.nika.yaml"), WRITES.replace("hello", "bye")).expect("a file");
    world.run(&["test"]).exits(1).says("+bye");
    // That a workflow fails is not what a first test says of it.
    world.run(&["test", "--update", "echo.nika.yaml"]).exits(1).says("NIKA-891").says("`inputs`");
    assert!(!exists(world.root().join("echo.test.yaml")));
}
