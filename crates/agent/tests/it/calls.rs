//! The calls of one answer: at once where they do not meet, in order where they do, answered whatever happens.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nika_agent::{Conversation, Happening, SIMPLE, Watch, Why};
use nika_contract::{Cancel, Erased, Fault, Output, ToolError, code};
use nika_guard::RuleKind;
use nika_runtime::Listing;
use nika_testkit::{World, world, world_in};
use serde_json::json;
use tokio::sync::Barrier;

use crate::scene::{Mark, Meeting, Thinker, agent_in, calls, done, paired, run, words};

/// A world with a tool that returns once so many of its calls run.
fn meeting_of(size: usize) -> World {
    let barrier = Arc::new(Barrier::new(size));
    world().tool(Erased::boxed(Meeting(move |_, _| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            Ok(Output::text("met"))
        }
    })))
}

#[test]
fn reads_run_at_once() {
    let world = meeting_of(4);
    let four: Vec<_> = (0..4).map(|n| ("meeting", json!({ "n": n }))).collect();
    let model = Thinker::says(vec![calls(&four), words("all met")]);
    // One after the other they would wait for each other for ever.
    let ended = run(&world, &model);
    assert_eq!((ended.why, ended.calls), (Why::Done, 4));
    assert!(model.asked()[1].results().iter().all(|result| result.text == "met"));
}

#[test]
fn no_more_run_at_once_than_may() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (current, highest) = (Arc::clone(&now), Arc::clone(&most));
    let world = world().tool(Erased::boxed(Meeting(move |_, _| {
        let (current, highest) = (Arc::clone(&current), Arc::clone(&highest));
        async move {
            highest.fetch_max(current.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            current.fetch_sub(1, Ordering::SeqCst);
            Ok(Output::text("met"))
        }
    })));
    let ten: Vec<_> = (0..10).map(|n| ("meeting", json!({ "n": n }))).collect();
    let mut scene = agent_in(&world, "a", Thinker::says(vec![calls(&ten), words("ok")]));
    scene.agent.bounds.parallel = 3;
    done(&world.wait(scene.agent.run("go")), "ok");
    assert_eq!((most.load(Ordering::SeqCst), now.load(Ordering::SeqCst)), (3, 0));
}

#[test]
fn two_edits_of_one_file_stay_in_their_order() {
    let world = world().file("a.txt", "1\n").file("b.txt", "x\n");
    let edit = |from: &str, to: &str| ("edit", json!({"file_path": "a.txt", "old_string": from, "new_string": to}));
    let model = Thinker::says(vec![
        calls(&[
            ("read", json!({"file_path": "a.txt"})),
            edit("1", "2"),
            ("read", json!({"file_path": "b.txt"})),
            edit("2", "3"),
            ("read", json!({"file_path": "a.txt"})),
            edit("3", "4"),
        ]),
        words("ok"),
    ]);
    let ended = run(&world, &model);
    let results = model.asked()[1].results();
    assert!(results.iter().all(|result| !result.is_error), "{results:#?}");
    assert!(results[4].text.contains('3') && !results[4].text.contains('4'), "between the two edits: {results:?}");
    assert_eq!((ended.why, world.text("a.txt").as_str()), (Why::Done, "4\n"));
}

#[test]
fn a_later_call_does_not_overtake_one_that_waits() {
    // Three of one place wait for each other; the one of another place may go first.
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&order);
    let world = world().tool(Erased::boxed(Mark(move |fields: serde_json::Map<String, serde_json::Value>, _| {
        let log = Arc::clone(&log);
        async move {
            tokio::task::yield_now().await;
            log.lock().expect("not poisoned").push(fields["n"].as_u64());
            Ok(Output::text("marked"))
        }
    })));
    let mark = |name: &str, n: u64| ("mark", json!({"name": name, "n": n}));
    let model = Thinker::says(vec![calls(&[mark("a", 1), mark("a", 2), mark("b", 3), mark("a", 4)]), words("ok")]);
    run(&world, &model);
    let order: Vec<u64> = order.lock().expect("not poisoned").iter().flatten().copied().collect();
    assert_eq!(order.iter().copied().filter(|n| *n != 3).collect::<Vec<_>>(), [1, 2, 4]);
    assert!(order.iter().position(|n| *n == 3) < order.iter().position(|n| *n == 2), "b waits for nobody: {order:?}");
}

#[test]
fn unknown_tools_and_malformed_arguments_are_answered() {
    let world = world().file("a.txt", "one\n");
    let model = Thinker::says(vec![
        calls(&[
            ("raed", json!({"file_path": "a.txt"})),
            ("read", json!("{\"file_path\": \"a.txt\"")),
            ("read", json!({"path_of_file": 3})),
            ("read", json!({"file_path": "a.txt"})),
            ("checkpoints", json!("")),
        ]),
        words("ok"),
    ]);
    let mut scene = agent_in(&world, "a", model.clone());
    done(&world.wait(scene.agent.run("go")), "ok");
    let results = model.asked()[1].results();
    let said: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
    assert!(said[0].starts_with("NIKA-101") && said[0].contains("did you mean `read`"), "{}", said[0]);
    assert!(said[1].starts_with("NIKA-100") && said[1].contains("EOF while parsing an object"), "{}", said[1]);
    assert!(said[2].starts_with("NIKA-100") && said[2].contains("path_of_file"), "{}", said[2]);
    assert!(said[3].contains("one") && !results[3].is_error);
    assert!(!results[4].is_error, "nothing at all is an empty object: {}", said[4]);
    paired(scene.agent.talk.messages());
}

#[test]
fn calls_of_one_name_are_told_apart() {
    let world = world().file("a.txt", "one\n").file("b.txt", "two\n");
    let mut answer = calls(&[("read", json!({"file_path": "a.txt"})), ("read", json!({"file_path": "b.txt"}))]);
    for part in &mut answer.parts {
        if let nika_agent::provider::Part::Call(call) = part {
            call.id = "same".into();
        }
    }
    let mut scene = agent_in(&world, "a", Thinker::says(vec![answer, words("ok")]));
    done(&world.wait(scene.agent.run("go")), "ok");
    paired(scene.agent.talk.messages());
    let ids: Vec<String> =
        crate::scene::results(&scene.agent.talk.messages()[2]).into_iter().map(|one| one.id).collect();
    assert_eq!(ids, ["same", "samecall-2"]);
}

#[test]
fn simple_is_three_tools_and_no_others() {
    let world = world().listing(Listing::Eager).file("a.txt", "one\n");
    let model = Thinker::says(vec![
        calls(&[
            ("grep", json!({"pattern": "one"})),
            ("Read", json!({"file_path": "a.txt"})),
            ("call", json!({"tool": "grep", "arguments": {"pattern": "one"}})),
            ("tool_search", json!({"query": "undo"})),
        ]),
        words("ok"),
    ]);
    let mut scene = agent_in(&world, "a", model.clone());
    scene.agent.briefing.allowed = Some(SIMPLE.iter().map(|name| (*name).to_owned()).collect());
    done(&world.wait(scene.agent.run("go")), "ok");
    // This world has no shell.
    assert_eq!(model.asked()[0].tools, ["nika_edit", "nika_read"]);
    let results = model.asked()[1].results();
    for at in [0, 2, 3] {
        assert!(
            results[at].text.starts_with("NIKA-827") && results[at].text.contains("nika_read"),
            "{:?}",
            results[at]
        );
    }
    assert!(!results[1].is_error, "in any dialect: {:?}", results[1]);
}

#[test]
fn a_tool_that_a_rule_removes_is_not_offered() {
    let world = world().rule(RuleKind::Deny, "tool(grep)");
    let model = Thinker::says(vec![words("ok")]);
    run(&world, &model);
    assert!(!model.asked()[0].tools.contains(&"nika_grep".to_owned()));
}

/// A world with a tool that runs until it is cancelled, and with `stubborn` also then.
fn endless(cancel: &Cancel, stubborn: bool) -> World {
    let outer = cancel.clone();
    world().file("a.txt", "one\n").tool(Erased::boxed(Mark(move |_, cancel: Cancel| {
        outer.cancel();
        async move {
            if stubborn {
                std::future::pending::<()>().await;
            }
            while !cancel.is_cancelled() {
                tokio::task::yield_now().await;
            }
            Err::<Output, _>(ToolError::cancelled())
        }
    })))
}

#[test]
fn a_run_that_is_cancelled_in_the_middle_leaves_pairs() {
    for stubborn in [false, true] {
        let cancel = Cancel::default();
        let world = endless(&cancel, stubborn);
        let model = Thinker::says(vec![calls(&[
            ("read", json!({"file_path": "a.txt"})),
            ("mark", json!({"name": "x"})),
            ("mark", json!({"name": "x"})),
        ])]);
        let mut scene = agent_in(&world, "a", model);
        scene.agent.cancel = cancel;
        let ended = world.wait(scene.agent.run("go")).expect("no fault of ours");
        assert_eq!(ended.why, Why::Cancelled);
        paired(scene.agent.talk.messages());
        let results = crate::scene::results(scene.agent.talk.messages().last().expect("messages"));
        let codes: Vec<&str> = results.iter().map(|result| &result.text[..8]).collect();
        assert_eq!(codes[1..], ["NIKA-105", "NIKA-105"], "stubborn: {stubborn}");
        let ends = world.journal_of("a").iter().filter(|line| line["event"] == "CallEnded").count();
        assert_eq!(ends, 2, "the third never began");
        // The next run goes on from there.
        let mut again = agent_in(&world, "a", Thinker::says(vec![words("fine")]));
        done(&world.wait(again.agent.run("and now")), "fine");
        paired(again.agent.talk.messages());
    }
}

#[test]
fn a_run_that_is_cancelled_while_the_model_thinks_ends() {
    let world = world();
    let cancel = Cancel::default();
    let flag = cancel.clone();
    let model = Thinker::new(move |_, _| {
        flag.cancel();
        None
    });
    let mut scene = agent_in(&world, "a", model);
    scene.agent.cancel = cancel;
    let ended = world.wait(scene.agent.run("go")).expect("no fault of ours");
    assert_eq!(ended.why, Why::Cancelled);
    assert!(world.journal_of("a").iter().any(|line| line["event"] == "ProviderFailed" && line["kind"] == "cancelled"));
}

/// Does something when the nth thing happens.
struct At {
    nth: usize,
    seen: AtomicUsize,
    act: Box<dyn Fn() + Send + Sync>,
}

impl Watch for At {
    fn saw(&self, _: &Happening<'_>) {
        if self.seen.fetch_add(1, Ordering::SeqCst) == self.nth {
            (self.act)();
        }
    }
}

/// A session of three turns; `act` is done at its nth happening.
fn disturbed(nth: usize, act: impl Fn(&Path, &Cancel) + Send + Sync + 'static) -> (World, Result<Why, Fault>) {
    let world = world().file("a.txt", "one\n");
    let model = Thinker::new(|nth, _| {
        let read = ("read", json!({"file_path": "a.txt"}));
        let write = |n: usize| ("write", json!({"file_path": format!("{n}.txt"), "content": "x"}));
        Some(Ok(if nth == 3 { words("done") } else { calls(&[read.clone(), write(nth), read, write(nth + 10)]) }))
    });
    let mut scene = agent_in(&world, "a", model);
    let (state, cancel) = (world.state_dir(), scene.agent.cancel.clone());
    scene.agent.watch = Arc::new(At { nth, seen: AtomicUsize::new(0), act: Box::new(move || act(&state, &cancel)) });
    let ended = world.wait(scene.agent.run("go")).map(|ended| ended.why);
    paired(scene.agent.talk.messages());
    drop(scene);
    (world, ended)
}

#[test]
fn a_run_that_is_cancelled_anywhere_leaves_pairs() {
    let mut cancelled = 0;
    for nth in 0.. {
        let (world, ended) = disturbed(nth, |_, cancel| cancel.cancel());
        let left = Conversation::open(world.state(), "a").expect("it opens");
        paired(left.messages());
        match ended.expect("no fault of ours") {
            Why::Cancelled => cancelled += 1,
            Why::Done => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(cancelled > 20, "only {cancelled} moments were tried");
}

#[test]
fn a_journal_that_is_lost_anywhere_leaves_pairs() {
    let mut faults = 0;
    for nth in 0.. {
        // Not even its own end can be written down: what is left is looked at without the journal.
        let (world, ended) =
            disturbed(nth, |state, _| std::fs::write(state.join("journal/a.jsonl"), "").expect("emptied"));
        let left = Conversation::open(world.state(), "a").expect("it opens");
        paired(left.messages());
        match ended {
            Err(fault) => faults += usize::from(fault.code == code::JOURNAL_BROKEN),
            Ok(why) => {
                assert_eq!(why, Why::Done);
                break;
            }
        }
    }
    assert!(faults > 20, "only {faults} moments were tried");
}

#[test]
fn a_fault_leaves_pairs_too() {
    // The journal cannot be written any more once the tool has run.
    let (files, state) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let log = state.path().join("journal/a.jsonl");
    let world = world_in(files.path(), state.path()).tool(Erased::boxed(Mark(move |_, _| {
        std::fs::write(&log, "").expect("emptied");
        async { Ok(Output::text("marked")) }
    })));
    let model = Thinker::says(vec![calls(&[("mark", json!({"name": "x"})), ("mark", json!({"name": "x"}))])]);
    let mut scene = agent_in(&world, "a", model);
    let fault = world.wait(scene.agent.run("go")).expect_err("the journal is lost");
    assert_eq!(fault.code.to_string(), "NIKA-907");
    paired(scene.agent.talk.messages());
    // Whoever asked hears what came of the call that was made, and that no journal has its end; the other was not made.
    let results = crate::scene::results(scene.agent.talk.messages().last().expect("messages"));
    let [made, not_made] = results.as_slice() else { panic!("{results:?}") };
    assert!(!made.is_error && not_made.is_error, "{results:?}");
    assert!(format!("{made:?}").contains("this call was made, and its end is in no journal"), "{made:?}");
}

#[test]
fn a_wanted_object_ends_the_run() {
    let world = world();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let model = Thinker::says(vec![words("It is three."), calls(&[("structured_output", json!({"n": 3}))])]);
    let mut scene = agent_in(&world, "a", model.clone());
    scene.agent.briefing.wanted = Some(schema.clone());
    let ended = world.wait(scene.agent.run("count")).expect("no fault of ours");
    assert_eq!((ended.why, ended.structured), (Why::Done, Some(json!({"n": 3}))));
    let asked = model.asked();
    let at = asked[0].tools.iter().position(|name| name == "nika_structured_output").expect("offered");
    assert_eq!(asked[0].schemas[at], schema);
    assert_eq!((asked[0].must_call.as_deref(), asked[1].must_call.as_deref()), (None, Some("nika_structured_output")));
    assert!(asked[1].last().contains("call `nika_structured_output` with it now"));
    // Who resumes it gets the same object without another turn.
    let mut again = agent_in(&world, "a", Thinker::says(vec![]));
    again.agent.briefing.wanted = Some(schema);
    let ended = world.wait(again.agent.resume()).expect("no fault of ours");
    assert_eq!((ended.why, ended.structured, ended.turns), (Why::Done, Some(json!({"n": 3})), 0));
}

#[test]
fn a_model_that_gives_no_object_is_told_once() {
    let world = world();
    let model = Thinker::says(vec![words("Three."), words("I said three.")]);
    let mut scene = agent_in(&world, "a", model);
    scene.agent.briefing.wanted = Some(json!({"type": "object"}));
    let ended = world.wait(scene.agent.run("count")).expect("no fault of ours");
    assert_eq!((ended.why.error().map(|error| error.code.0), ended.turns), (Some(826), 2));
}

#[test]
fn an_object_that_nobody_wants_is_not_offered() {
    let world = world();
    let model = Thinker::says(vec![calls(&[("structured_output", json!({"n": 3}))]), words("ok")]);
    run(&world, &model);
    assert!(!model.asked()[0].tools.iter().any(|name| name.contains("structured")));
    assert!(model.asked()[1].results()[0].text.starts_with("NIKA-827"));
}
