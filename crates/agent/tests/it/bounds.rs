//! What ends a run: budgets, turns, circles.

use nika_agent::Why;
use nika_contract::code;
use nika_guard::Budget;
use nika_testkit::{World, world};
use serde_json::json;

use crate::scene::{Thinker, agent_in, calls, done, paired, run, words};

/// A model that reads another line on every turn.
fn reader() -> std::sync::Arc<Thinker> {
    Thinker::new(|nth, _| Some(Ok(calls(&[("read", json!({"file_path": "a.txt", "offset": nth + 1}))]))))
}

fn files() -> World {
    world().file("a.txt", &"line\n".repeat(500))
}

#[test]
fn each_budget_ends_the_run_with_words_that_name_it() {
    for (budget, amount, requests, made, says) in [
        (Budget::SessionTurns, 2, 2, 2, "2 turns"),
        (Budget::ModelCalls, 3, 3, 3, "3 model calls"),
        // The third call is refused, and that ends it.
        (Budget::ToolCalls, 2, 3, 2, "2 tool calls"),
        // Each answer reads 1,100 tokens, writes 50 with 10 of reasoning, and costs 700 millionths. The calls of the
        // answer that was too much are not made.
        (Budget::InputTokens, 2_000, 2, 1, "2000 tokens sent to models"),
        (Budget::OutputTokens, 120, 3, 2, "120 tokens that models wrote"),
        (Budget::ReasoningTokens, 15, 2, 1, "15 tokens of reasoning"),
        (Budget::TotalTokens, 1_200, 2, 1, "1200 tokens"),
        (Budget::TotalCost, 2_000, 3, 2, "0.002"),
    ] {
        let world = files().budget(budget, amount);
        let model = reader();
        let mut scene = agent_in(&world, "a", model.clone());
        let ended = world.wait(scene.agent.run("read on")).expect("no fault of ours");
        let Why::Budget(error) = &ended.why else { panic!("{budget}: {:?}", ended.why) };
        assert_eq!(error.code, code::BUDGET_SPENT);
        assert!(error.message.replace(',', "").contains(says), "{budget}: {error}");
        assert_eq!(model.asked().len(), requests, "{budget}");
        let reads = world.journal_of("a").iter().filter(|line| line["event"] == "ToolRead").count();
        assert_eq!(reads, made, "{budget}");
        paired(scene.agent.talk.messages());
    }
}

#[test]
fn a_task_that_is_done_with_the_last_tokens_is_done() {
    let world = files().budget(Budget::OutputTokens, 10);
    let ended = run(&world, &Thinker::says(vec![words("done")]));
    assert_eq!((ended.why, ended.answer.as_str()), (Why::Done, "done"));
    // From then on nothing more is asked, in another process either: the transcript knows what was spent.
    let mut scene = agent_in(&world, "a", Thinker::says(vec![]));
    let ended = world.wait(scene.agent.run("more")).expect("no fault of ours");
    assert!(matches!(ended.why, Why::Budget(_)), "{:?}", ended.why);
}

#[test]
fn no_more_turns_than_it_may() {
    let world = files();
    let model = reader();
    let mut scene = agent_in(&world, "a", model.clone());
    scene.agent.bounds.max_turns = Some(3);
    let ended = world.wait(scene.agent.run("read on")).expect("no fault of ours");
    assert_eq!((&ended.why, ended.turns, model.asked().len()), (&Why::Turns(3), 3, 3));
    assert_eq!(ended.why.error().map(|error| error.code), Some(code::OUT_OF_TURNS));
    paired(scene.agent.talk.messages());
    // Going on gives it as many again.
    let mut again = agent_in(&world, "a", Thinker::says(vec![words("read")]));
    again.agent.bounds.max_turns = Some(1);
    done(&world.wait(again.agent.resume()), "read");
}

#[test]
fn a_model_that_goes_in_circles_is_told_once_and_then_stopped() {
    let world = files();
    let model = Thinker::new(|_, _| Some(Ok(calls(&[("read", json!({"file_path": "no.txt"}))]))));
    let mut scene = agent_in(&world, "a", model.clone());
    let ended = world.wait(scene.agent.run("read")).expect("no fault of ours");
    assert_eq!((&ended.why, ended.turns), (&Why::Looping { tool: "read".into(), times: 6 }, 6));
    assert_eq!(ended.why.error().map(|error| error.code), Some(code::GOES_IN_CIRCLES));
    let told: Vec<bool> = model
        .asked()
        .iter()
        .map(|asked| asked.results().iter().any(|one| one.text.contains("was made 3 times")))
        .collect();
    assert_eq!(told, [false, false, false, true, false, false]);
    paired(scene.agent.talk.messages());
}

#[test]
fn a_model_that_waits_for_somebody_goes_in_no_circle() {
    let world = world();
    let model = Thinker::new(|nth, _| {
        Some(Ok(match nth {
            0 => calls(&[("task_create", json!({"title": "Build", "status": "in_progress", "owner": "ada"}))]),
            1..8 => calls(&[("task_output", json!({"task_id": "t1", "timeout_ms": 500}))]),
            _ => words("It is not done yet."),
        }))
    });
    let mut scene = agent_in(&world, "a", model.clone());
    done(&world.wait(scene.agent.run("wait for the build")), "It is not done yet.");
    let told = |text: &str| text.contains("t1 [in_progress] Build (ada)") && !text.contains("was made");
    assert!(model.asked()[2..].iter().all(|asked| asked.results().iter().all(|one| told(&one.text))));
}

#[test]
fn a_model_that_makes_progress_may_repeat_itself() {
    let world = world().file("a.txt", "0\n").file("same.txt", "same\n");
    let model = Thinker::new(|nth, _| {
        let edit = json!({"file_path": "a.txt", "old_string": nth.to_string(), "new_string": (nth + 1).to_string()});
        Some(Ok(match nth {
            12 => words("twelve"),
            _ => calls(&[
                ("read", json!({"file_path": "a.txt", "limit": 1})),
                ("edit", edit),
                ("grep", json!({"pattern": "same"})),
            ]),
        }))
    });
    assert_eq!(run(&world, &model).why, Why::Done);
    assert_eq!(world.text("a.txt"), "12\n");
}
