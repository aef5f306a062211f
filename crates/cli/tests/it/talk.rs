//! Questions without a person, messages, skills and plan mode, in the program and over MCP.

use serde_json::{Value, json};

use crate::peer::Peer;
use crate::world::world;

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn answers_given_beforehand_answer_questions_and_no_permission() {
    let world = world();
    let ask = ["call", "ask_user_question", "question=Which port?", "options:=[\"8080\", \"any\"]"];
    world.run(&ask).exits(0).says("Nobody can be asked here");
    world.run(&[&ask[..], &["--answer", "2"]].concat()).exits(0).says("The person chose: any");
    let matched = r#"{"question": "PORT", "answer": "9"}"#;
    let other = r#"{"question": "host", "answer": "h"}"#;
    world.run(&[&ask[..], &["--answer", other, "--answer", matched]].concat()).exits(0).says("The person wrote: 9");
    world.run(&[&ask[..], &["--answer", "{"]].concat()).exits(2);
    world.run(&["call", "write", "file_path=a", "content=x", "--answer", "y"]).exits(3).complains("NIKA-205");
}

#[test]
fn a_message_is_printed_beside_the_answer() {
    let world = world().file("report.md", "x");
    let words = ["call", "send_user_message", "message=Half done.", "attachments:=[\"report.md\"]", "--output", "json"];
    let ran = world.run(&words);
    ran.exits(0).complains("nika: Half done.\n  with report.md");
    assert_eq!(text(&ran.json()), "Shown to the person, with report.md.");
}

#[test]
fn a_repositorys_skill_waits_for_trust() {
    let skill = "---\ndescription: Cuts a release.\n---\nSet $ARGUMENTS.\n";
    let world = world().file(".claude/skills/release/SKILL.md", skill);
    let own = world.path("home/.config/nika/skills/mine");
    std::fs::create_dir_all(&own).expect("a directory");
    std::fs::write(own.join("SKILL.md"), "Do mine; see more.md.").expect("a file");
    std::fs::write(own.join("more.md"), "more of mine").expect("a file");
    let call = ["call", "skill", "skill=release", "args=1.2"];
    world.run(&call).exits(1).complains("NIKA-865").complains("nika trust");
    // The person's own need no trust, and no question though they lie outside.
    world.run(&["call", "skill", "skill=mine"]).exits(0).says("Do mine");
    let more = format!("file_path={}", own.join("more.md").display());
    world.run(&["call", "read", &more]).exits(0).says("more of mine");
    world.run(&["call", "write", &more, "content=x", "--mode", "accept-all"]).exits(3);

    let instructions = |world: &crate::world::World| {
        let mut peer = Peer::start(world.nika(&["serve"]));
        peer.initialize("2025-11-25")["instructions"].as_str().expect("a text").to_owned()
    };
    let said = instructions(&world);
    assert!(said.contains("- mine: Do mine; see more.md.") && !said.contains("release"), "{said}");
    world.run(&["trust", "--yes"]).exits(0);
    world.run(&call).exits(0).says("Set 1.2.");
    assert!(instructions(&world).contains("- release: Cuts a release."));
    let world = world.file(".claude/skills/release/SKILL.md", "Do evil.");
    world.run(&call).exits(1).complains("changed since `nika trust`: .claude/skills/release/SKILL.md");
}

#[test]
fn over_stdio_a_message_is_a_notification_where_the_revision_has_them() {
    let world = world();
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all"]));
    peer.initialize("2025-11-25");
    let names = peer.names();
    assert!(names.iter().any(|name| name == "nika_send_user_message"), "{names:?}");
    assert!(names.iter().all(|name| name != "nika_structured_output"), "nobody wants an object here");
    assert_eq!(text(&peer.call("nika_send_user_message", json!({"message": "Half done."}))), "Shown to the person.");
    let told = peer.heard.iter().find(|message| message["method"] == "notifications/message").expect("it was told");
    assert_eq!(told["params"]["data"], "Half done.");
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all"]));
    peer.stateless("2026-07-28", json!({}));
    let said = peer.call("nika_send_user_message", json!({"message": "Half done."}));
    assert!(text(&said).starts_with("Not shown"), "{said}");
}

#[test]
fn a_question_and_a_plan_travel_as_results_and_are_answered_with_the_next_call() {
    let world = world();
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "accept-edits"]));
    peer.stateless("2026-07-28", json!({"elicitation": {"form": {}}}));
    let mut answered = |tool: &str, arguments: Value, content: Value| {
        let asked = peer.call(tool, arguments.clone());
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let key = asked["inputRequests"].as_object().expect("requests").keys().next().expect("one").clone();
        let done = peer.request(
            "tools/call",
            json!({
                "name": tool, "arguments": arguments, "requestState": asked["requestState"],
                "inputResponses": {key: {"action": "accept", "content": content}},
            }),
        );
        text(&done["result"]).to_owned()
    };
    let question = json!({"question": "Which way?", "options": ["left", "right"]});
    assert_eq!(answered("nika_ask_user_question", question, json!({"choice": "right"})), "The person chose: right");
    assert!(text(&peer.call("nika_enter_plan_mode", json!({}))).starts_with("Plan mode"));
    let write = json!({"file_path": "a.txt", "content": "x"});
    let refused = peer.call("nika_write", write.clone());
    assert!(text(&refused).contains("by plan mode"), "{refused}");
    let plan = json!({"plan": "Write a.txt."});
    let asked = peer.call("nika_exit_plan_mode", plan.clone());
    let (key, form) = asked["inputRequests"].as_object().and_then(|all| all.iter().next()).expect("one");
    assert!(form["params"]["message"].as_str().is_some_and(|text| text.contains("Write a.txt.")), "{form}");
    let mut again = json!({"name": "nika_exit_plan_mode", "arguments": plan, "requestState": asked["requestState"]});
    again["inputResponses"] = json!({key.as_str(): {"action": "accept", "content": {"choice": "Approve"}}});
    let done = peer.request("tools/call", again);
    assert!(text(&done["result"]).starts_with("Approved"), "{done}");
    assert_ne!(peer.call("nika_write", write)["isError"], true);
    assert_eq!(world.text("a.txt"), "x");
}

#[test]
fn a_call_that_asks_twice_is_answered_once_for_each() {
    let world = world();
    let mut peer =
        Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace", "--ask", "tool(ask_user_question)"]));
    peer.stateless("2026-07-28", json!({"elicitation": {"form": {}}}));
    let arguments = json!({"question": "Which way?", "options": ["left", "right"]});
    let mut call = json!({"name": "nika_ask_user_question", "arguments": arguments});
    let mut asked = peer.request("tools/call", call.clone());
    for content in [json!({"answer": "yes"}), json!({"choice": "left"})] {
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        call["requestState"] = asked["result"]["requestState"].clone();
        call["inputResponses"] = json!({"permission": {"action": "accept", "content": content}});
        asked = peer.request("tools/call", call.clone());
    }
    assert_eq!(text(&asked["result"]), "The person chose: left");
    // Its answers were for that call: sent again, they answer nothing, and the first question is put anew.
    let again = peer.request("tools/call", call);
    let form = &again["result"]["inputRequests"]["permission"]["params"]["message"];
    assert!(form.as_str().is_some_and(|text| text.contains("ask_user_question")), "{again}");
}
