//! A conversation that was left in the middle.

use std::sync::Arc;

use nika_agent::Conversation;
use nika_agent::provider::{Arguments, Part};
use nika_contract::{Erased, Output};
use nika_store::Transcript;
use nika_testkit::{World, world};
use serde_json::{Value, json};

use crate::scene::{Mark, Thinker, agent_in, calls, done, paired, results, run, words};

/// Leaves the session `a` after the answer with these calls, as a kill before the first of them does.
fn left_with(world: &World, wanted: &[(&str, Value)]) -> Vec<String> {
    let transcript = Transcript::open(world.state(), "a").expect("it opens");
    let parts: Vec<Value> =
        calls(wanted).parts.iter().map(|part| serde_json::to_value(part).expect("plain data")).collect();
    for line in [
        json!({"opened": {"session": "a", "at_ms": 1, "model": "m", "task": "t"}}),
        json!({"said": {"role": "user", "parts": [{"text": "t"}]}}),
        json!({"answered": {"message": {"role": "assistant", "parts": parts}, "model": "m",
            "usage": {"input": 1, "cache_read": 0, "cache_write": 0, "output": 1, "reasoning": 0}, "cost_micros": null}}),
    ] {
        transcript.append(&line).expect("written");
    }
    (0..wanted.len()).map(|at| format!("3.{at} id{at}")).collect()
}

/// Writes journal lines of the session `a`, as a process that was killed has.
fn journal(world: &World, lines: &[(&str, Value)]) {
    let session = world.session("a");
    for (event, fields) in lines {
        let fields = fields.as_object().expect("an object");
        world.runtime().note(&session, event, fields).expect("written");
    }
}

#[test]
fn what_had_not_begun_is_made_what_had_is_not() {
    let world = world().file("a.txt", "alpha\n").file("b.txt", "beta\n").file("c.txt", "gamma\n");
    let read = |path: &str| ("read", json!({ "file_path": path }));
    let origins = left_with(&world, &[read("a.txt"), read("b.txt"), read("c.txt")]);
    journal(
        &world,
        &[
            ("CallBegun", json!({"call": "c1", "tool": "read", "origin": origins[0]})),
            ("CallEnded", json!({"call": "c1", "tool": "read", "ok": true})),
            ("CallBegun", json!({"call": "c2", "tool": "read", "origin": origins[1]})),
            ("Checkpoint", json!({"call": "c2", "path": "b.txt"})),
        ],
    );
    let model = Thinker::says(vec![words("so it is")]);
    let mut scene = agent_in(&world, "a", model.clone());
    done(&world.wait(scene.agent.resume()), "so it is");
    let results = model.asked()[0].results();
    assert!(
        results[0].text.starts_with("NIKA-824") && results[0].text.contains("(c1) was made and done"),
        "{results:#?}"
    );
    assert!(results[1].text.starts_with("NIKA-823") && results[1].text.contains("b.txt"), "{results:#?}");
    assert!(results[2].text.contains("gamma") && !results[2].is_error, "{results:#?}");
    let begun = world.journal_of("a").iter().filter(|line| line["event"] == "CallBegun").count();
    assert_eq!(begun, 3, "the third alone was made");
    paired(scene.agent.talk.messages());
}

#[test]
fn a_run_settles_what_was_left_before_its_task() {
    let world = world().file("a.txt", "alpha\n");
    left_with(&world, &[("read", json!({"file_path": "a.txt"}))]);
    let model = Thinker::says(vec![words("ok")]);
    let mut scene = agent_in(&world, "a", model.clone());
    done(&world.wait(scene.agent.run("something else")), "ok");
    let asked = &model.asked()[0];
    assert_eq!(asked.messages.len(), 4, "task, call, result, task");
    assert!(asked.results()[0].text.contains("alpha") && asked.last() == "something else");
}

#[test]
fn one_that_was_done_answers_as_it_did() {
    let world = world();
    run(&world, &Thinker::says(vec![words("All done.")]));
    let silent = Thinker::says(vec![]);
    let mut scene = agent_in(&world, "a", silent);
    done(&world.wait(scene.agent.resume()), "All done.");
    let mut nothing = agent_in(&world, "new", Thinker::says(vec![]));
    done(&world.wait(nothing.agent.resume()), "");
}

#[test]
fn a_fork_goes_its_own_way_and_makes_no_call_of_the_other() {
    let world = world().file("a.txt", "alpha\n");
    run(&world, &Thinker::says(vec![calls(&[("read", json!({"file_path": "a.txt"}))]), words("read")]));
    let lines = Conversation::open(world.state(), "a").expect("it opens").lines();
    assert_eq!(lines, 6, "opened, said, answered, result, answered, ended");
    let whole = Conversation::fork(world.state(), "a", "whole", None).expect("forked");
    assert_eq!(whole.messages().len(), 4);
    // At the answer with the call: the call was the other's.
    let fork = Conversation::fork(world.state(), "a", "b", Some(3)).expect("forked");
    assert_eq!((fork.messages().len(), fork.session()), (2, "b"));
    drop(fork);
    let model = Thinker::says(vec![words("then not")]);
    let mut scene = agent_in(&world, "b", model.clone());
    done(&world.wait(scene.agent.resume()), "then not");
    assert!(model.asked()[0].results()[0].text.contains("was not made here"), "{:?}", model.asked()[0].results());
    assert!(!world.journal_of("b").iter().any(|line| line["event"] == "CallBegun"));
    assert_eq!(Conversation::open(world.state(), "a").expect("it opens").lines(), lines, "the other is as it was");
    let again = Conversation::fork(world.state(), "a", "b", None).expect_err("there is one");
    assert!(again.message.contains("has a transcript already"), "{again}");
}

#[test]
fn a_fork_that_was_left_before_it_answered_still_makes_no_call_of_the_other() {
    let world = world().file("a.txt", "alpha\n");
    left_with(&world, &[("read", json!({"file_path": "a.txt"}))]);
    Conversation::fork(world.state(), "a", "b", None).expect("forked");
    let opened = json!({"opened": {"session": "b", "at_ms": 2, "model": "m", "task": ""}});
    Transcript::open(world.state(), "b").expect("it opens").append(&opened).expect("written");
    let model = Thinker::says(vec![words("ok")]);
    let mut scene = agent_in(&world, "b", model.clone());
    done(&world.wait(scene.agent.resume()), "ok");
    assert!(model.asked()[0].results()[0].text.starts_with("NIKA-823"));
}

#[test]
fn two_that_go_on_with_one_conversation_do_not_both_make_its_calls() {
    let made = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let world = world().tool(Erased::boxed(Mark(move |_, _| {
        count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async { Ok(Output::text("marked")) }
    })));
    left_with(&world, &[("mark", json!({"name": "x"}))]);
    let (mut one, mut two) =
        (agent_in(&world, "a", Thinker::says(vec![words("ok")])), agent_in(&world, "a", Thinker::says(vec![])));
    done(&world.wait(one.agent.resume()), "ok");
    let fault = world.wait(two.agent.resume()).expect_err("another went on with it");
    assert!(fault.to_string().contains("another process goes on with the session"), "{fault}");
    assert_eq!(made.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[test]
fn what_a_provider_keeps_comes_back_to_the_letter() {
    let world = world().file("a.txt", "alpha\n");
    let kept = json!({"signature": "EqQB+/=", "deep": {"z": 1, "a": [1.5, null]}});
    let mut thought = calls(&[("read", json!({"file_path": "a.txt"}))]);
    thought.parts.insert(0, Part::Kept { provider: "test".into(), value: kept.clone() });
    let model = Thinker::says(vec![thought.clone(), words("ok")]);
    run(&world, &model);
    let talk = Conversation::open(world.state(), "a").expect("it opens");
    assert_eq!(talk.messages()[1].parts, thought.parts);
    assert_eq!(model.asked()[1].messages[1].parts, thought.parts);
    let Part::Call(call) = &talk.messages()[1].parts[1] else { panic!("a call") };
    assert!(matches!(&call.arguments, Arguments::Object(fields) if fields["file_path"] == "a.txt"));
    assert_eq!(results(&talk.messages()[2]).len(), 1);
}

#[test]
fn a_line_that_is_none_is_named() {
    let world = world();
    run(&world, &Thinker::says(vec![words("ok")]));
    Transcript::open(world.state(), "a").expect("it opens").append(&json!({"sung": "la"})).expect("written");
    let error = Conversation::open(world.state(), "a").expect_err("no such line");
    assert!(error.message.contains("line 5") && error.message.contains("sung"), "{error}");
    let ended = Conversation::fork(world.state(), "a", "b", Some(4)).expect("the lines before it are fine");
    assert_eq!(ended.messages().len(), 2);
}
