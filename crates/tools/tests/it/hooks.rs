//! Hooks, notes and budgets over the real pipeline: a hook tightens and never loosens, and one that gives no
//! answer does not let a call through.

use nika_contract::{Asked, Pending};
use nika_guard::manifest::Moment;
use nika_guard::{Budget, HookPoint, Mode, OnFailure};
use nika_testkit::{World, world, yes};
use serde_json::{Value, json};

use HookPoint::{After, Before};

fn scene() -> World {
    world().file("a.txt", "one\n")
}

fn read(world: &World) -> nika_testkit::Called {
    world.call("read", json!({"file_path": "a.txt"}))
}

fn write(world: &World, path: &str) -> nika_testkit::Called {
    world.call("write", json!({"file_path": path, "content": "x\n"}))
}

fn ran(world: &World) -> Vec<Value> {
    world.journal().into_iter().filter(|line| line["event"] == "HookRan").collect()
}

/// A script that answers so, whatever it is asked.
fn says(answer: &Value) -> String {
    format!("cat >/dev/null; printf '%s' '{answer}'")
}

#[test]
fn a_hook_is_told_of_the_call_and_may_be_silent() {
    let world = scene().hook(Before, "Read", "cat > \"$NIKA_ROOT/asked.json\"; echo \"$NIKA_EVENT $NIKA_TOOL\" > env");
    read(&world).says("one");
    let asked: Value = serde_json::from_str(&world.text("asked.json")).expect("one object");
    assert_eq!((&asked["event"], &asked["tool"]), (&json!("before"), &json!("read")));
    assert_eq!(asked["arguments"], json!({"file_path": "a.txt"}));
    assert_eq!(asked["session"], "test");
    assert_eq!(asked["cwd"], json!(world.root()));
    assert!(asked.get("result").is_none());
    assert_eq!(world.text("env"), "before read\n");
    let journal = ran(&world);
    assert_eq!(
        (journal.len(), &journal[0]["outcome"], &journal[0]["decision"]),
        (1, &json!("decided"), &json!("none"))
    );
    assert_eq!(journal[0]["call"], asked["call"]);
    assert!(journal[0]["took_us"].is_u64());
    write(&world, "b.txt").ok();
    assert_eq!(ran(&world).len(), 1, "another tool's call is not its business");
}

#[test]
fn a_hook_refuses_with_its_reason() {
    let world = scene().hook(Before, "*", &says(&json!({"decision": "deny", "reason": "not on a Sunday"})));
    let error = read(&world).refused(107).to_string();
    assert!(error.contains("not on a Sunday") && error.contains("hooks:1"), "{error}");
    let ended = world.journal().pop().expect("a last line");
    assert_eq!(
        (&ended["event"], &ended["decision"], &ended["code"]),
        (&json!("CallEnded"), &json!("deny"), &json!("NIKA-107"))
    );
}

/// Each way to give no answer, and the word that the model reads for it.
#[test]
fn a_hook_without_an_answer_refuses() {
    let cases: [(&str, u32, &str, &str); 9] = [
        ("exit 3", 20_000, "crashed", "status 3"),
        ("echo because >&2; exit 2", 20_000, "crashed", "because"),
        ("kill -SEGV $$", 20_000, "crashed", "signal 11"),
        ("sleep 60", 50, "timed-out", "longer than 50 ms"),
        ("echo yes", 20_000, "malformed", "cannot be used"),
        ("printf '{\"decision\": \"maybe\"}'", 20_000, "malformed", "maybe"),
        ("printf '{\"decision\": \"allow\", \"extra\": 1}'", 20_000, "malformed", "extra"),
        ("head -c 2000000 /dev/zero", 20_000, "malformed", "more than 1048576 bytes"),
        ("printf '\\377'", 20_000, "malformed", "UTF-8"),
    ];
    for (script, timeout, outcome, word) in cases {
        let argv = ["/bin/sh", "-c", script];
        let world = scene().hook_with(Before, "*", &argv, timeout, OnFailure::Deny);
        let error = read(&world).refused(107).to_string();
        assert!(error.contains(word), "{script}: {error}");
        assert_eq!(ran(&world)[0]["outcome"], outcome, "{script}");
        let world = scene().hook_with(Before, "*", &argv, timeout, OnFailure::Allow);
        read(&world).says("one");
        let world = scene().hook_with(Before, "*", &argv, timeout, OnFailure::Note);
        read(&world).says("one").says(word).says("[note of hooks:1]");
    }
    let nowhere = ["/nowhere/check"];
    let world = scene().hook_with(Before, "*", &nowhere, 20_000, OnFailure::Deny);
    assert!(read(&world).refused(107).to_string().contains("could not be started"));
    assert_eq!(ran(&world)[0]["outcome"], "not-found");
}

#[test]
fn allow_loosens_nothing() {
    let allow = says(&json!({"decision": "allow"}));
    for mode in [Mode::ReadOnly, Mode::Ask, Mode::Deny] {
        let world = scene().mode(mode).hook(Before, "*", &allow);
        write(&world, "b.txt").refused(205);
    }
    let world = scene().mode(Mode::AcceptAll).hook(Before, "*", &allow);
    write(&world, ".git/config").refused(205);
    let deny = says(&json!({"decision": "deny"}));
    let world = scene().hook(Before, "*", &deny).hook(Before, "*", &allow);
    read(&world).refused(107);
    let world = scene().hook(Before, "*", &allow).hook(Before, "*", &deny);
    read(&world).refused(107);
}

#[test]
fn ask_raises_to_a_question() {
    let ask = says(&json!({"decision": "ask", "reason": "is it worth it?"}));
    let world = scene().hook(Before, "read", &ask);
    let error = read(&world).refused(205).to_string();
    assert!(error.contains("is it worth it?"), "{error}");
    read(&scene().hook(Before, "read", &ask).person(yes())).says("one");
    // Where the mode says no, a person's yes to the hook is no way around it.
    let world = scene().mode(Mode::ReadOnly).hook(Before, "*", &ask).person(yes());
    write(&world, "b.txt").refused(205);
}

#[test]
fn a_rewrite_is_judged_as_what_it_became() {
    let to = |path: &str| says(&json!({"arguments": {"file_path": path, "content": "hooked\n"}}));
    let world = scene().hook(Before, "write", &to("c.txt"));
    write(&world, "b.txt").ok();
    assert_eq!(world.text("c.txt"), "hooked\n");
    assert!(!world.tree().contains(&"b.txt".to_owned()));
    // The journal shows both.
    let journal = world.journal();
    let begun = journal.iter().find(|line| line["event"] == "CallBegun").expect("it begun");
    assert_eq!(begun["arguments"]["file_path"], "b.txt");
    assert_eq!(ran(&world)[0]["arguments"]["file_path"], "c.txt");
    for (path, code) in [(".git/config", 205), (".nika/config.yaml", 205), ("/etc/hosts", 205)] {
        let world = scene().mode(Mode::AcceptEdits).hook(Before, "write", &to(path));
        write(&world, "b.txt").refused(code);
    }
    let world = scene().hook(Before, "write", &says(&json!({"arguments": {"path": 3}})));
    assert!(write(&world, "b.txt").refused(107).to_string().contains("rewrote the arguments"));
    // A hook is not heard about its own rewrite, and the next one is told of it.
    let world = scene().hook(Before, "write", &format!("echo x >> count; {}", to("c.txt"))).hook(
        Before,
        "write",
        "cat > second.json",
    );
    write(&world, "b.txt").ok();
    assert_eq!(world.text("count"), "x\n");
    assert!(world.text("second.json").contains("c.txt"));
}

#[test]
fn a_person_is_told_that_a_hook_rewrote_what_they_are_asked_about() {
    let rewrite = says(&json!({"arguments": {"file_path": "c.txt", "content": "x"}}));
    let world = scene().mode(Mode::Ask).hook(Before, "write", &rewrite).person(Asked::Later);
    let called = write(&world, "b.txt");
    let Some(Pending::Permission(question)) = &called.outcome.question else { panic!("a question: {called:?}") };
    assert!(question.text.contains("c.txt") && question.text.contains("were rewritten by hook"), "{}", question.text);
}

#[test]
fn after_a_call_a_hook_notes_or_withholds() {
    let world = scene().hook(After, "*", "cat > \"$NIKA_ROOT/told.json\"; printf '{\"note\": \"well done\"}'");
    read(&world).says("one").says("well done");
    let told: Value = serde_json::from_str(&world.text("told.json")).expect("one object");
    assert_eq!((&told["event"], &told["tool"]), (&json!("after"), &json!("read")));
    assert!(told["result"]["text"].as_str().expect("text").contains("one"), "{told}");
    assert_eq!(told["arguments"]["file_path"], "a.txt");

    let world = scene().hook(After, "write", &says(&json!({"decision": "deny", "reason": "secret"})));
    let error = write(&world, "b.txt").refused(107).to_string();
    assert!(error.contains("was done") && error.contains("secret"), "{error}");
    assert_eq!(world.text("b.txt"), "x\n");
    world.call("undo", json!({})).ok();
    assert!(!world.tree().contains(&"b.txt".to_owned()));

    let world = scene().hook(After, "*", &says(&json!({"arguments": {}})));
    read(&world).refused(107);
    let world = scene().hook(After, "*", "exit 1");
    read(&world).refused(107);
}

#[test]
fn texts_of_manifests_stand_beside_the_answer() {
    let world = scene()
        .message(Moment::BeforeTool, "*", "Be careful.")
        .message(Moment::AfterTool, "read_file", "Read it twice.")
        .message(Moment::AfterTool, "bash", "Never mind.")
        .message(Moment::BeforePrompt, "*", "Welcome.")
        .message(Moment::AfterTurn, "*", "Goodbye.");
    let text = read(&world).text();
    assert!(text.contains("one") && text.contains("[note of policy.json:1]\nBe careful."), "{text}");
    assert!(text.contains("Read it twice.") && !text.contains("Never mind.") && !text.contains("Welcome."), "{text}");
    assert_eq!(world.runtime().messages(Moment::BeforePrompt).collect::<Vec<_>>(), ["Welcome."]);
    assert_eq!(world.runtime().messages(Moment::AfterTurn).collect::<Vec<_>>(), ["Goodbye."]);
}

#[test]
fn a_budget_of_calls_stops_the_session() {
    let world = scene().budget(Budget::ToolCalls, 2);
    read(&world).ok();
    // Refused and failed calls are calls; a name that no tool has is none.
    world.call("read", json!({"file_path": "gone"})).refused(208);
    world.call("raed", json!({})).refused(101);
    let error = read(&world).refused(106).to_string();
    assert!(error.contains("2 tool calls") && error.contains("max_tool_calls, policy.json:1"), "{error}");
    write(&world, "b.txt").refused(106);
    let other = world.session("other");
    world.call_in(&other, "read", json!({"file_path": "a.txt"})).ok();
}

#[test]
fn a_call_that_waits_for_its_answer_is_paid_once() {
    let world = scene().mode(Mode::Ask).budget(Budget::ToolCalls, 1).person(Asked::Later);
    for _ in 0..3 {
        let called = write(&world, "b.txt");
        assert!(called.outcome.question.is_some(), "{called:?}");
    }
    read(&world).ok();
    write(&world, "b.txt").refused(106);
}

#[test]
fn what_is_spent_elsewhere_stops_calls_too() {
    let world = scene().budget(Budget::TotalTokens, 100).budget(Budget::TotalCost, 1_500_000);
    let session = world.session("agent");
    let read = || world.call_in(&session, "read", json!({"file_path": "a.txt"}));
    session.spend(Budget::InputTokens, 60).expect("there is room");
    read().ok();
    let error = session.spend(Budget::OutputTokens, 60).expect_err("120 of 100").to_string();
    assert!(error.contains("NIKA-106") && error.contains("max_total_tokens"), "{error}");
    read().refused(106);
    session.spend(Budget::ModelCalls, 1).expect_err("nothing more is begun");
    let other = world.session("other");
    other.spend(Budget::TotalCost, 1_500_000).expect("exactly that");
    assert!(other.spend(Budget::TotalCost, 1).expect_err("too much").to_string().contains("1.5 US dollars"));
}
