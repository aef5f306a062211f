//! Modes, rules, questions, the journal's two lines.

use std::path::Path;
use std::sync::Arc;

use nika_contract::{
    Asked, Cancel, Cx, Erased, Group, Kind, Nobody, Output, Pending, Preimage, Scene, Silent, Spec, Tool, ToolError,
    code,
};
use nika_guard::{Answer, Effects, Mode, RuleKind};
use nika_runtime::Incoming;
use nika_testkit::{no, world, yes};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

fn events(journal: &[Value]) -> Vec<&str> {
    journal.iter().filter_map(|line| line["event"].as_str()).collect()
}

#[test]
fn every_call_begins_once_and_ends_once() {
    let world = world().file("a.txt", "one\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.call("read", json!({"file_path": "gone"})).refused(208);
    world.call("read", json!({"file": "a.txt"})).refused(100);
    world.call("raed", json!({})).refused(101);
    world.call("read", json!({"file_path": "/etc/passwd"})).refused(205);
    let journal = world.journal();
    assert_eq!(
        events(&journal),
        [
            "SessionStarted",
            "CallBegun",
            "ToolRead",
            "CallEnded",
            "CallBegun",
            "CallEnded",
            "CallBegun",
            "CallEnded",
            "CallBegun",
            "CallEnded",
            "CallBegun",
            "PermissionRequest",
            "PermissionSettled",
            "CallEnded",
        ]
    );
    let ended: Vec<&Value> = journal.iter().filter(|line| line["event"] == "CallEnded").collect();
    assert_eq!(ended[0]["ok"], true);
    assert_eq!(ended[4]["code"], "NIKA-205");
    assert_eq!(ended[4]["decision"], "ask");
}

#[test]
fn nothing_is_added_to_a_broken_journal_and_the_fault_says_why() {
    let world = world().file("a.txt", "one\n");
    let session = world.session("broken");
    let read = json!({"file_path": "a.txt"});
    world.call_in(&session, "read", read.clone()).ok();
    let path = world.state_dir().join("journal/broken.jsonl");
    let lines = std::fs::read(&path).expect("the journal");
    std::fs::write(&path, &lines[..lines.len() / 2]).expect("it can be written");
    let incoming = Incoming {
        name: "read".into(),
        arguments: read.as_object().cloned().unwrap_or_default(),
        cancel: Cancel::default(),
        progress: Arc::new(Silent),
        asker: Arc::new(Nobody),
        deferral: false,
        origin: None,
    };
    let fault = world.wait(world.runtime().dispatch(&session, incoming)).expect_err("it does not verify");
    assert_eq!(fault.code, code::JOURNAL_BROKEN);
    assert!(fault.message.contains("nika log verify"), "{}", fault.message);
}

#[test]
fn secrets_in_arguments_do_not_reach_the_journal() {
    let world = world();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    world.call("write", json!({"file_path": "a.txt", "content": format!("token = {token}\n")})).ok();
    let journal = serde_json::to_string(&world.journal()).expect("JSON");
    assert!(!journal.contains(&token), "{journal}");
}

#[test]
fn the_default_mode_reads_and_says_what_would_allow_more() {
    let world = world().mode(Mode::Ask).file("a.txt", "one\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    let error = world.call("edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"}));
    let hint = error.refused(205).hint.clone().expect("a way out");
    assert!(hint.contains("--mode accept-edits") && hint.contains("write(/a.txt)"), "{hint}");
}

#[test]
fn a_person_answers_once_always_or_no() {
    let make = || world().mode(Mode::Ask);
    let write = |n: u32| json!({"file_path": "a.txt", "content": n.to_string()});
    make().person(yes()).call("write", write(1)).ok();
    assert!(make().person(no("wrong file")).call("write", write(1)).refused(205).message.contains("wrong file"));
    let always = make().person(Asked::Always(Answer::Yes { who: "me".into() }, "write(/a.txt)".into()));
    always.call("write", write(1)).ok();
    always.call("write", write(2)).ok();
    let asked = events(&always.journal()).iter().filter(|event| **event == "PermissionRequest").count();
    assert_eq!(asked, 1, "the second write is answered by the rule");
    // A rule that was not offered is not kept.
    let greedy = make().person(Asked::Always(Answer::Yes { who: "me".into() }, "write(**)".into()));
    greedy.call("write", write(1)).ok();
    greedy.call("write", json!({"file_path": "b.txt", "content": ""})).ok();
    let asked = events(&greedy.journal()).iter().filter(|event| **event == "PermissionRequest").count();
    assert_eq!(asked, 2);
}

#[test]
fn always_answers_a_question_about_several_things_with_a_rule_for_each() {
    let both = "write(/a.txt) and write(/b.txt)";
    let world = world().mode(Mode::Ask).person(Asked::Always(Answer::Yes { who: "me".into() }, both.into()));
    let create = |path: &str, content: &str| json!({"op": "create", "file_path": path, "content": content});
    world.call("change_set", json!({"changes": [create("a.txt", "1"), create("b.txt", "1")]})).ok();
    world.call("edit", json!({"file_path": "a.txt", "old_string": "1", "new_string": "2"})).ok();
    world.call("edit", json!({"file_path": "b.txt", "old_string": "1", "new_string": "2"})).ok();
    let asked = || events(&world.journal()).iter().filter(|event| **event == "PermissionRequest").count();
    assert_eq!(asked(), 1, "each rule answers for its file");
    world.call("write", json!({"file_path": "c.txt", "content": ""})).ok();
    assert_eq!(asked(), 2, "and for nothing else");
    // Where one part has to be answered each time, or nobody would read them all, no rules are kept.
    for (paths, why) in [
        (&["d.txt", ".github/workflows/ci.yml"][..], "a floor"),
        (&["1.txt", "2.txt", "3.txt", "4.txt", "5.txt"], "too many"),
    ] {
        let before = asked();
        for content in ["1", "2"] {
            let changes: Vec<_> = paths.iter().map(|path| create(path, content)).collect();
            world.call("change_set", json!({"changes": changes})).ok();
            world.call("undo", json!({}));
        }
        assert!(asked() >= before + 2, "{why}");
    }
}

#[test]
fn a_call_that_waits_for_an_answer_does_nothing_yet() {
    let world = world().mode(Mode::Ask).person(Asked::Later).file("a.txt", "one\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    let called = world.call("edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"}));
    let Some(Pending::Permission(question)) = &called.outcome.question else { panic!("a question: {called:?}") };
    assert!(question.preview.as_deref().is_some_and(|diff| diff.contains("+two")), "{question:?}");
    assert_eq!(world.text("a.txt"), "one\n");
}

#[test]
fn nobody_is_asked_about_a_call_that_cannot_work() {
    let world = world().mode(Mode::Ask).person(yes()).file("a.txt", "one\n").file("b.txt", "two\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    for (tool, arguments, code) in [
        ("edit", json!({"file_path": "a.txt", "old_string": "three", "new_string": "four"}), 202),
        ("edit", json!({"file_path": "b.txt", "old_string": "two", "new_string": "four"}), 203),
        ("write", json!({"file_path": "b.txt", "content": "unread"}), 203),
        ("change_set", json!({"changes": [{"op": "create", "file_path": "a.txt", "content": ""}]}), 218),
        ("undo", json!({}), 221),
    ] {
        world.call(tool, arguments).refused(code);
    }
    assert!(!events(&world.journal()).contains(&"PermissionRequest"), "a question was put");
}

#[test]
fn where_nobody_can_be_asked_what_is_missing_is_said_before_what_a_yes_would_allow() {
    let world = world().mode(Mode::Ask).file("a.txt", "one\n").file(".env", "KEY=1\n");
    let edit = |path: &str| json!({"file_path": path, "old_string": "one", "new_string": "two"});
    assert!(world.call("edit", edit("b.txt")).refused(208).message.contains("b.txt"));
    world.call("edit", edit("a.txt")).refused(205);
    // Where the look itself needs a yes, nothing is told.
    world.call("edit", edit("/nowhere/b.txt")).refused(205);
    world.call("read", json!({"file_path": "lost/.env"})).refused(205);
    // A new file is not missing.
    world.call("write", json!({"file_path": "b.txt", "content": "x"})).refused(205);
}

#[test]
fn a_yes_is_to_what_was_shown() {
    let world = world().mode(Mode::Ask).file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    let path = world.path("a.txt");
    let world = world.slow_person(move || std::fs::write(&path, "one\ntwo\nthree\nfour\nFIVE\n").expect("written"));
    let edit = json!({"file_path": "a.txt", "old_string": "two", "new_string": "zwei"});
    // The file changed under the question: the diff that was shown is no longer what would happen.
    assert!(world.call("edit", edit.clone()).refused(212).message.contains("while the question was open"));
    assert_eq!(world.text("a.txt"), "one\ntwo\nthree\nfour\nFIVE\n");
    world.call("edit", edit).ok();
    assert_eq!(world.text("a.txt"), "one\nzwei\nthree\nfour\nFIVE\n");
}

#[test]
fn a_link_that_turns_while_a_question_is_open_turns_no_call() {
    let world = world().mode(Mode::Ask).file("a/x.txt", "old\n").file("b/x.txt", "old\n");
    let way = world.path("way");
    std::os::unix::fs::symlink("a", &way).expect("a link");
    world.call("read", json!({"file_path": "way/x.txt"})).ok();
    let world = world.slow_person(move || {
        std::fs::remove_file(&way).expect("it is there");
        std::os::unix::fs::symlink("b", &way).expect("a link");
    });
    world.call("edit", json!({"file_path": "way/x.txt", "old_string": "old", "new_string": "new"})).ok();
    assert_eq!((world.text("a/x.txt").as_str(), world.text("b/x.txt").as_str()), ("new\n", "old\n"));
}

#[test]
fn a_rule_on_a_links_name_holds_for_what_is_behind_it() {
    let world = world()
        .file("releases/1/notes.txt", "needle\n")
        .file("other/notes.txt", "needle\n")
        .rule(RuleKind::Deny, "read(current/**)")
        .rule(RuleKind::Deny, "write(current/**)");
    std::os::unix::fs::symlink("releases/1", world.path("current")).expect("a link");
    world.call("read", json!({"file_path": "current/notes.txt"})).refused(205);
    world.call("write", json!({"file_path": "current/new.txt", "content": ""})).refused(205);
    assert!(!world.path("releases/1/new.txt").exists());
    world.call("grep", json!({"pattern": "needle", "path": "current"})).refused(205);
    world.call("read", json!({"file_path": "other/notes.txt"})).ok();
}

#[test]
fn a_denied_tool_leaves_the_pool() {
    let world = world().rule(RuleKind::Deny, "tool(edit)");
    assert!(!world.runtime().list(None).iter().any(|tool| tool.canonical == "edit"));
    let error = world.call("edit", json!({}));
    assert!(error.refused(102).message.contains("tool(edit)"));
}

#[test]
fn a_long_answer_is_cut_and_kept_whole_in_a_file() {
    let long: String = (0..400).map(|n| format!("line number {n}\n")).collect();
    let world = world().file("a.txt", &long).max_output_chars(600);
    let called = world.call("grep", json!({"pattern": "line", "output_mode": "content"}));
    let text = called.text();
    assert!(text.chars().count() <= 600, "{}", text.chars().count());
    assert!(text.contains("a.txt:1:line number 0") && text.contains("left out") && text.contains("complete"), "{text}");
    let path = text.rsplit(": ").next().expect("a path").trim_end_matches(']').to_owned();
    let whole = std::fs::read_to_string(&path).expect("the spill file");
    assert!(whole.contains("a.txt:400:line number 399"));
    // What was spilled can be read on through the same tools.
    world.call("read", json!({"file_path": path, "offset": 300, "limit": 2})).says("line number 299");
    // By those who were told its name: the directory tells nobody.
    let dir = std::path::Path::new(&path).parent().and_then(std::path::Path::to_str).expect("a directory");
    for (tool, arguments) in [
        ("list_dir", json!({"path": dir})),
        ("glob", json!({"pattern": "*", "path": dir})),
        ("grep", json!({"pattern": "line", "path": dir})),
    ] {
        world.call(tool, arguments).refused(205);
    }
}

/// A tool of a test, which does what its one argument says.
#[derive(Debug)]
struct Fixture;

/// Does as told.
#[derive(Debug, Deserialize, JsonSchema)]
struct Told {
    how: String,
}

impl Tool for Fixture {
    type Params = Told;
    const SPEC: Spec = Spec::new("fixture", "Fixture", Group::Test);

    fn effects(&self, told: &Told, _: &Scene<'_>) -> Result<Effects, ToolError> {
        assert_ne!(told.how, "panic while it says what it would do");
        Ok(Effects::session())
    }

    async fn run(&self, told: Told, cx: &Cx<'_>) -> Result<Output, ToolError> {
        match told.how.as_str() {
            "panic at once" => panic!("the first thing it does"),
            "panic later" => {
                tokio::task::yield_now().await;
                panic!("the last thing it does")
            }
            "be cancelled" => {
                while !cx.cancel.is_cancelled() {
                    tokio::task::yield_now().await;
                }
                Err(ToolError::cancelled())
            }
            "keep and leave it" => {
                let (path, bytes) = (Path::new("/a.txt"), Some(&b"one\n"[..]));
                let kind = Kind::File;
                cx.undo.keep(&Preimage {
                    path,
                    kind,
                    bytes,
                    hash: None,
                    mode: None,
                    mode_left: None,
                    after: None,
                    more: None,
                    dress: None,
                    linked: false,
                })?;
                cx.undo.void();
                Ok(Output::text("nothing was applied"))
            }
            _ => Ok(Output::text("done")),
        }
    }
}

#[test]
fn a_tool_that_panics_ends_its_own_call_alone() {
    let world = world().tool(Erased::boxed(Fixture)).file("a.txt", "one\n");
    for (how, what) in [("panic at once", "the first thing"), ("panic later", "the last thing")] {
        let called = world.call("fixture", json!({ "how": how }));
        let error = called.outcome.result.as_ref().expect_err("it panicked");
        assert_eq!(error.code, code::BUG);
        assert!(error.message.contains("a bug of Nika's") && error.message.contains(what), "{error}");
        // Everything else goes on, in the same session.
        world.call("fixture", json!({"how": "well"})).says("done");
        world.call("read", json!({"file_path": "a.txt"})).says("one");
    }
    let journal = world.journal();
    let ended = |line: &&Value| line["event"] == "CallEnded" && line["tool"] == "fixture";
    let codes: Vec<&Value> = journal.iter().filter(ended).map(|line| &line["code"]).collect();
    let bug = json!(code::BUG.to_string());
    assert_eq!(codes, [&bug, &Value::Null, &bug, &Value::Null]);
}

#[test]
fn a_call_that_changed_nothing_after_all_is_not_taken_back() {
    let world = world().tool(Erased::boxed(Fixture)).file("a.txt", "one\n");
    world.call("read", json!({"file_path": "a.txt"})).ok();
    world.call("edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"})).ok();
    world.call("fixture", json!({"how": "keep and leave it"})).says("nothing was applied");
    world.call("checkpoints", json!({})).says("fixture [nothing of it stands]:");
    world.call("undo", json!({})).says("(edit): 1 path.");
    assert_eq!(world.text("a.txt"), "one\n");
}

#[test]
fn a_cancelled_call_ends_in_the_journal() {
    let world = world().tool(Erased::boxed(Fixture));
    let session = world.session("test");
    let Value::Object(arguments) = json!({"how": "be cancelled"}) else { panic!("an object") };
    let cancel = Cancel::default();
    let incoming = Incoming {
        name: "fixture".into(),
        arguments,
        cancel: cancel.clone(),
        progress: Arc::new(Silent),
        asker: Arc::new(Nobody),
        deferral: false,
        origin: None,
    };
    let runtime = Arc::clone(world.runtime());
    let outcome = world.wait(async move {
        let call = runtime.dispatch(&session, incoming);
        let later = async {
            tokio::task::yield_now().await;
            cancel.cancel();
        };
        tokio::join!(call, later).0.expect("no fault of ours")
    });
    assert_eq!(outcome.result.expect_err("cancelled").code, code::CANCELLED);
    let journal = world.journal();
    let last = journal.last().expect("a line");
    assert_eq!((&last["event"], &last["ok"], &last["code"]), (&json!("CallEnded"), &json!(false), &json!("NIKA-105")));
    assert_eq!(last["call"], outcome.call.0.as_str());
}

#[test]
fn escapes_in_a_result_are_made_visible_whatever_tool_brought_them() {
    let world = world().file("a.txt", "x \u{1b}[31mred\u{7} y\n");
    let text = world.call("grep", json!({"pattern": "red", "output_mode": "content"})).text();
    assert!(text.contains("␛[31mred␇"), "{text}");
}
