//! `glob`, `grep`, `list_dir`: the record, secrets, pages.

use nika_guard::RuleKind;
use nika_testkit::world;
use serde_json::json;

#[test]
fn a_search_says_what_it_left_out_and_what_would_widen_it() {
    let world = world()
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file(".gitignore", "target/\n*.log\n")
        .file("target/out.txt", "needle\n")
        .file("x.log", "needle\n")
        .file(".hidden/y.txt", "needle\n")
        .file("src/a.txt", "hay\n");
    let none = world.call("grep", json!({"pattern": "needle"}));
    none.says("No matches.").says("2 entries ignored").says("hidden");
    let record = &none.data()["completeness"];
    assert_eq!(record["complete"], true);
    assert_eq!(record["ignored"], 2);
    assert!(record["ignored_by"][0]["rule"].as_str().expect("a rule").starts_with(".gitignore:"));
    let all = world.call("grep", json!({"pattern": "needle", "no_ignore": true, "hidden": true}));
    all.says("target/out.txt").says("x.log").says(".hidden/y.txt");
    world.call("grep", json!({"pattern": "needle", "path": "target"})).says("target/out.txt");
    world.call("glob", json!({"pattern": "*.txt"})).says("src/a.txt");
}

#[test]
fn pages_go_on_where_they_say() {
    let world = (0..250).fold(world(), |world, n| world.file(&format!("f{n:03}.txt"), "needle\nneedle\n"));
    let first = world.call("glob", json!({"pattern": "*.txt"}));
    first.says("[100 of 250 shown, newest first; go on with offset=100]");
    assert_eq!(first.data()["next_offset"], 100);
    let last = world.call("glob", json!({"pattern": "*.txt", "offset": 200}));
    assert_eq!(last.data()["shown"], 50);
    assert!(last.data().get("next_offset").is_none());
    let lines = world.call("grep", json!({"pattern": "needle", "output_mode": "content", "head_limit": 3}));
    lines.says("f000.txt:1:needle").says("go on with offset=3").says("NOT complete");
    world
        .call("grep", json!({"pattern": "needle", "output_mode": "content", "head_limit": 3, "offset": 3}))
        .says("f001.txt:2:needle");
}

#[test]
fn context_and_its_short_form_are_one() {
    let world = world().file("a.txt", "1\n2\n3\n4\n5\n");
    let short = world.call("grep", json!({"pattern": "3", "output_mode": "content", "-C": 1})).text();
    assert_eq!(short, world.call("grep", json!({"pattern": "3", "output_mode": "content", "context": 1})).text());
    assert!(short.starts_with("a.txt-2-2\na.txt:3:3\na.txt-4-4\n"), "{short}");
    world.call("grep", json!({"pattern": "3", "-C": 1, "context": 2})).refused(100);
}

#[test]
fn patterns_that_cannot_be_are_refused_by_their_own_codes() {
    let world = world().file("a.rs", "fn f(\n");
    let regex = world.call("grep", json!({"pattern": "f("}));
    assert!(
        regex.refused(207).hint.as_deref().is_some_and(|hint| hint.contains("literal")),
        "{:?}",
        regex.outcome.result
    );
    world.call("grep", json!({"pattern": "f(", "literal": true})).says("a.rs");
    world.call("glob", json!({"pattern": "a{b"})).refused(206);
    world.call("grep", json!({"pattern": "f", "type": "rast"})).refused(301);
    world.call("grep", json!({"pattern": "f", "path": "gone"})).refused(208);
    world.call("list_dir", json!({"path": "a.rs"})).refused(213);
}

#[test]
fn rules_keep_searches_out() {
    let world =
        world().file("private/a.txt", "needle\n").file("b.txt", "needle\n").rule(RuleKind::Deny, "read(private)");
    let found = world.call("grep", json!({"pattern": "needle"}));
    found.says("b.txt").says("withheld");
    assert!(!found.text().contains("private"));
    world.call("grep", json!({"pattern": "needle", "path": "private"})).refused(205);
    world.call("read", json!({"file_path": "private/a.txt"})).refused(205);
    assert!(!world.call("glob", json!({"pattern": "**/*.txt"})).text().contains("private"));
}
