//! Questions, messages, skills, plan mode and wanted objects, through the real pipeline.

use std::sync::Arc;

use nika_contract::{Asked, Replied, Spoken, Wanted};
use nika_guard::{Mode, RuleKind};
use nika_testkit::{World, world};
use serde_json::{Value, json};

fn events<'a>(journal: &'a [Value], event: &str) -> Vec<&'a Value> {
    journal.iter().filter(|line| line["event"] == event).collect()
}

#[test]
fn a_question_is_put_answered_and_journalled() {
    let question = || json!({"question": "Which port?", "options": ["8080", {"label": "any"}]});
    let scene = world().replies(Replied::Chosen("any".into()));
    assert_eq!(scene.call("ask_user_question", question()).text(), "The person chose: any");
    let journal = scene.journal();
    assert_eq!(events(&journal, "Inquiry")[0]["question"], "Which port?");
    assert_eq!(events(&journal, "InquiryAnswered")[0]["text"], "any");
    let declined = Replied::Declined { why: Some("not now".into()) };
    world().replies(declined).call("ask_user_question", question()).says("did not answer: not now");
    world().replies(Replied::Wrote("9".into())).call("AskUserQuestion", question()).says("The person wrote: 9");
    world().call("ask_user_question", question()).says("Nobody can be asked here");
    // A mode in which nothing is asked refuses the call, and no question is put.
    let scene = world().mode(Mode::Deny).replies(Replied::Chosen("any".into()));
    scene.call("ask_user_question", question()).refused(205);
    assert!(events(&scene.journal(), "Inquiry").is_empty());
}

#[test]
fn a_question_speaks_the_other_dialects() {
    let scene = world().dialect(nika_runtime::Dialect::ClawAgent).replies(Replied::Chosen("a".into()));
    scene.call("ask_user_question", json!({"question": "q", "choices": ["a", "b"]})).says("The person chose: a");
}

#[test]
fn a_message_is_shown_with_files_that_exist() {
    let scene = world().file("out/report.md", "x").file(".env", "KEY=1");
    let said = scene
        .call("SendUserMessage", json!({"message": "Done.", "attachments": ["out/report.md"], "status": "proactive"}));
    assert_eq!(said.text(), "Shown to the person, with out/report.md.");
    let spoken = Spoken { message: "Done.".into(), attachments: vec!["out/report.md".into()], proactive: true };
    assert_eq!(scene.heard(), [spoken]);
    scene.call("Brief", json!({"message": "x", "attachments": ["out/reprt.md"]})).refused(208);
    scene.call("send_user_message", json!({"message": "x", "attachments": ["out"]})).refused(213);
    // Naming a secret is reading it, as far as permission goes.
    scene.call("send_user_message", json!({"message": "x", "attachments": [".env"]})).refused(205);
    scene.call("send_user_message", json!({"message": " "})).refused(100);
    assert_eq!(scene.heard().len(), 1, "what was refused was not said");
}

#[test]
fn plan_mode_refuses_by_its_own_name_and_ends_with_a_yes() {
    let write = || json!({"file_path": "b.txt", "content": "x"});
    let edit =
        |scene: &World| scene.call("edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"}));
    let scene = world().file("a.txt", "one\n").replies(Replied::Chosen("Approve".into()));
    scene.call("read", json!({"file_path": "a.txt"})).ok();
    scene.call("enter_plan_mode", json!({})).says("only look");
    let refused = edit(&scene).refused(205).to_string();
    assert!(refused.contains("denied, by plan mode; it would be allowed by `exit_plan_mode`"), "{refused}");
    scene.call("read", json!({"file_path": "a.txt"})).ok();
    scene.call("grep", json!({"pattern": "one"})).ok();
    assert_eq!(scene.text("a.txt"), "one\n");
    let ended = scene.journal();
    let refusal = ended.iter().find(|line| line["event"] == "CallEnded" && line["tool"] == "edit").expect("it ended");
    assert_eq!(refusal["source"], "plan mode");
    scene.call("exit_plan_mode", json!({"plan": "Change one to two."})).says("Approved");
    edit(&scene).ok();
    assert_eq!(scene.text("a.txt"), "two\n");
    scene.call("exit_plan_mode", json!({})).refused(860);

    for (replied, says) in [
        (Replied::Wrote("smaller steps".into()), "The person wrote: smaller steps"),
        (Replied::Chosen("Keep planning".into()), "wants more planning"),
        (Replied::Declined { why: None }, "declined"),
        (Replied::Nobody, "nobody approved"),
    ] {
        let scene = world().replies(replied);
        scene.call("EnterPlanMode", json!({})).ok();
        scene.call("ExitPlanMode", json!({"plan": "p"})).says(says).says("Plan mode goes on");
        scene.call("write", write()).refused(205);
        assert_eq!(scene.tree(), Vec::<String>::new());
    }
}

#[test]
fn plan_mode_is_named_only_where_it_is_in_the_way() {
    let scene = world().mode(Mode::ReadOnly);
    scene.call("enter_plan_mode", json!({})).ok();
    let refused = scene.call("write", json!({"file_path": "b", "content": "x"})).refused(205).to_string();
    assert!(refused.contains("by mode read-only"), "{refused}");
    let scene = world().rule(RuleKind::Deny, "write(b)");
    scene.call("enter_plan_mode", json!({})).ok();
    let refused = scene.call("write", json!({"file_path": "b", "content": "x"})).refused(205).to_string();
    assert!(refused.contains("write(b)") && !refused.contains("plan mode"), "{refused}");
}

#[test]
fn plan_mode_reaches_agents_at_once_and_needs_a_session() {
    let scene = world().replies(Replied::Chosen("Approve".into()));
    let parent = Arc::new(scene.session("parent"));
    let child = parent.child("parent.a1", Mode::AcceptAll.into(), Vec::new());
    let write = |name: &str| json!({"file_path": name, "content": "x"});
    scene.call_in(&child, "write", write("a")).ok();
    scene.call_in(&parent, "enter_plan_mode", json!({})).ok();
    let refused = scene.call_in(&child, "write", write("b")).refused(205).to_string();
    assert!(refused.contains("by plan mode"), "{refused}");
    // The child cannot end what its parent began.
    scene.call_in(&child, "exit_plan_mode", json!({"plan": "p"})).refused(860);
    scene.call_in(&parent, "exit_plan_mode", json!({"plan": "p"})).says("Approved");
    scene.call_in(&child, "write", write("b")).ok();

    let passing = scene.runtime().session("passing", false);
    for tool in ["enter_plan_mode", "exit_plan_mode"] {
        let error = scene.call_in(&passing, tool, json!({})).refused(603).to_string();
        assert!(error.contains("--session NAME"), "{error}");
    }
}

#[test]
fn a_wanted_object_is_taken_when_it_fits() {
    let schema = json!({
        "type": "object",
        "properties": {"passed": {"type": "boolean"}, "failures": {"type": "array", "items": {"type": "string"}}},
        "required": ["passed", "failures"],
        "additionalProperties": false,
    });
    let scene = world().wants(schema.clone());
    let error = scene
        .call("structured_output", json!({"passed": 1, "failures": ["a", 2], "why": "x"}))
        .refused(862)
        .to_string();
    for place in ["in 3 places", "`passed`: is a number", "`failures[1]`: is a number", "`why`: is not wanted"] {
        assert!(error.contains(place), "{place}: {error}");
    }
    scene.call("StructuredOutput", json!({"passed": false, "failures": ["a"]})).says("Taken");
    let unusable = world().wants(json!({"properties": {"a": {"if": true}}}));
    let error = unusable.call("structured_output", json!({})).refused(863).to_string();
    assert!(error.contains("`properties.a.if`"), "{error}");
    let other = scene.session("other");
    scene.call_in(&other, "structured_output", json!({"passed": true})).refused(866);
    other.state.slot::<Wanted>().ask(schema);
    scene.call_in(&other, "structured_output", json!({"passed": true, "failures": []})).ok();
    assert_eq!(other.state.slot::<Wanted>().answered(), Some(json!({"passed": true, "failures": []})));
}

#[test]
fn a_skill_is_read_where_it_lies_and_a_wrong_name_helps() {
    let text = "---\nname: release\ndescription: d\n---\nSet $ARGUMENTS, then follow steps.md.\n";
    let scene = world().file(".nika/skills/release/SKILL.md", text).file(".nika/skills/release/steps.md", "1. x\n");
    let said = scene.call("Skill", json!({"skill": "/release", "args": "1.2"})).text();
    assert!(said.contains("Set 1.2, then follow steps.md.") && !said.contains("description: d"), "{said}");
    assert!(said.contains("Paths in it begin in .nika/skills/release;"), "{said}");
    scene.call("read", json!({"file_path": ".nika/skills/release/steps.md"})).says("1. x");
    let error = scene.call("skill", json!({"skill": "relase"})).refused(864).to_string();
    assert!(error.contains("did you mean release?"), "{error}");
    let error = scene.call("skill", json!({"skill": "zzz"})).refused(864).to_string();
    assert!(error.contains("there are release"), "{error}");
    // It is a read like any other: a rule may deny it.
    let scene = world().rule(RuleKind::Deny, "read(.nika/**)").file(".nika/skills/release/SKILL.md", text);
    scene.call("skill", json!({"skill": "release"})).refused(205);
    // A skill that leads out of the workspace is a reach outside.
    let scene = world().person(Asked::Nobody);
    let outside = tempfile::tempdir().expect("a directory");
    std::fs::write(outside.path().join("secret"), "s").expect("a file");
    std::fs::create_dir_all(scene.path(".nika/skills/link")).expect("a directory");
    std::os::unix::fs::symlink(outside.path().join("secret"), scene.path(".nika/skills/link/SKILL.md"))
        .expect("a link");
    scene.call("skill", json!({"skill": "link"})).refused(205);
}
