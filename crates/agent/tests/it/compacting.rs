//! A conversation that becomes too long.

use std::sync::Arc;

use nika_agent::provider::{Answered, Kind, Usage};
use nika_agent::{Notes, Why};
use nika_guard::Budget;
use nika_testkit::{World, world};
use serde_json::json;

use crate::scene::{Asked, Thinker, agent_in, calls, done, failed, paired, said, words};

/// Twelve files of two thousand characters.
fn files() -> World {
    (0..12).fold(world(), |world, n| world.file(&format!("f{n}.txt"), &format!("file {n} {}\n", "x".repeat(2_000))))
}

fn is_summary(asked: &Asked) -> bool {
    asked.system.contains("You keep the memory of an agent")
}

/// What a request really is, in tokens of three characters.
fn weighed(answered: Answered, asked: &Asked) -> Answered {
    let chars: usize = serde_json::to_string(&asked.messages).expect("plain data").len();
    Answered { usage: Usage { input: chars as u64 / 3, ..Usage::default() }, ..answered }
}

/// Reads a file on every turn, then says so; sums up when asked to.
fn reader(sums_up: bool) -> Arc<Thinker> {
    Thinker::with(6_000, move |_, asked| {
        if is_summary(asked) {
            assert!(asked.tools.is_empty());
            return Some(if sums_up { Ok(words("It has read a few files.")) } else { failed(Kind::Server) });
        }
        let text = serde_json::to_string(&asked.messages).expect("plain data");
        let read = (0..12).filter(|n| text.contains(&format!("f{n}.txt"))).max().map_or(0, |n| n + 1);
        Some(Ok(weighed(
            if read == 12 {
                words("all read")
            } else {
                calls(&[("read", json!({"file_path": format!("f{read}.txt")}))])
            },
            asked,
        )))
    })
}

struct Plan;

impl Notes for Plan {
    fn of(&self, session: &str) -> Vec<(String, String)> {
        assert_eq!(session, "a");
        vec![("Plan".into(), "1. read everything".into()), ("To do".into(), String::new())]
    }
}

#[test]
fn the_older_part_becomes_a_summary_and_the_work_goes_on() {
    for sums_up in [true, false] {
        let world = files();
        let model = reader(sums_up);
        let mut scene = agent_in(&world, "a", model.clone());
        scene.agent.notes = Some(Arc::new(Plan));
        let ended = world.wait(scene.agent.run("Read the twelve files, please."));
        done(&ended, "all read");
        let asked = model.asked();
        assert!(asked.iter().any(is_summary), "it became too long");
        for asked in asked.iter().filter(|asked| !is_summary(asked)) {
            paired(&asked.messages);
            let size = serde_json::to_string(&asked.messages).expect("plain data").len() / 3;
            assert!(size < 6_000, "{size} tokens were sent");
        }
        let last = asked.last().expect("asked");
        let told = said(&last.messages[0]);
        for piece in ["Read the twelve files, please.", "## Plan\n1. read everything", "/f0.txt"] {
            assert!(told.contains(piece), "{piece} in:\n{told}");
        }
        assert!(!told.contains("## To do"), "{told}");
        let summary = if sums_up { "It has read a few files." } else { "- read {\"file_path\":\"f0.txt\"}" };
        assert!(told.contains(summary), "{told}");
        assert!(last.results()[0].text.contains("file 11"), "the last turn stands whole");
        assert!(scene.seen.lines().contains(&format!("compacted {sums_up}")));
        let by = if sums_up { "model" } else { "digest" };
        assert!(world.journal_of("a").iter().any(|line| line["event"] == "ContextCompacted" && line["by"] == by));
        // Who goes on has the short form, too.
        let going_on = Thinker::says(vec![words("ok")]);
        let mut again = agent_in(&world, "a", going_on.clone());
        done(&world.wait(again.agent.run("thanks")), "ok");
        assert!(going_on.asked()[0].messages.starts_with(&last.messages));
    }
}

#[test]
fn a_second_summary_takes_the_place_of_the_first_one_and_of_what_that_left() {
    let world = files();
    // The provider counts many more tokens than we guess: there is a summary again before the first one's turns went.
    let model = Thinker::with(60_000, |nth, asked| {
        if is_summary(asked) {
            return Some(Ok(words("Some files.")));
        }
        let answered = match nth {
            0..24 => calls(&[("read", json!({"file_path": format!("f{}.txt", nth % 12)}))]),
            _ => words("done"),
        };
        let input = if nth > 8 { 59_000 } else { 1_000 };
        Some(Ok(Answered { usage: Usage { input, ..Usage::default() }, ..answered }))
    });
    let mut scene = agent_in(&world, "a", model.clone());
    done(&world.wait(scene.agent.run("read")), "done");
    let compacted: Vec<_> = world.journal_of("a").into_iter().filter(|line| line["by"] == "model").collect();
    assert!(compacted.len() > 2, "{compacted:?}");
    for line in &compacted {
        assert!(line["after"].as_u64() < line["before"].as_u64(), "{line}");
    }
    paired(scene.agent.talk.messages());
    let retold = |message: &&nika_agent::provider::Message| said(message).contains("This stands for its older part");
    assert_eq!(scene.agent.talk.messages().iter().filter(retold).count(), 1);
}

#[test]
fn a_model_that_says_too_long_is_asked_again_with_less() {
    let world = files();
    // The context is said to be large; the provider knows better.
    let model = Thinker::new(|nth, asked| {
        if is_summary(asked) {
            return Some(Ok(words("Some files.")));
        }
        let text = serde_json::to_string(&asked.messages).expect("plain data");
        if text.len() > 6_000 {
            return Some(failed(Kind::TooLong));
        }
        Some(Ok(match nth {
            0..4 => calls(&[("read", json!({"file_path": format!("f{nth}.txt")}))]),
            _ => words("done"),
        }))
    });
    let mut scene = agent_in(&world, "a", model.clone());
    done(&world.wait(scene.agent.run("read")), "done");
    assert!(model.asked().iter().any(is_summary));
    paired(scene.agent.talk.messages());
}

#[test]
fn one_turn_that_is_too_long_by_itself_has_its_results_cut() {
    let world = world().file("big.txt", &"0123456789\n".repeat(1_800));
    let model = Thinker::new(|nth, asked| {
        let text = serde_json::to_string(&asked.messages).expect("plain data");
        if text.len() > 9_000 {
            return Some(failed(Kind::TooLong));
        }
        Some(Ok(if nth == 0 { calls(&[("read", json!({"file_path": "big.txt"}))]) } else { words("seen") }))
    });
    let mut scene = agent_in(&world, "a", model.clone());
    done(&world.wait(scene.agent.run("read it")), "seen");
    let last = model.asked().pop().expect("asked");
    assert!(last.results()[0].text.contains("characters left out"), "{:?}", last.results());
    assert_eq!(said(&last.messages[0]), "read it", "there was nothing to sum up");
}

#[test]
fn what_cannot_be_made_shorter_ends_the_run() {
    let world = world();
    let model = Thinker::new(|_, _| Some(failed(Kind::TooLong)));
    let mut scene = agent_in(&world, "a", model.clone());
    let ended = world.wait(scene.agent.run("go")).expect("no fault of ours");
    assert!(matches!(&ended.why, Why::Model(error) if error.kind == Kind::TooLong), "{:?}", ended.why);
    assert!(model.asked().len() <= 2, "asked {} times", model.asked().len());
}

#[test]
fn another_process_knows_what_summaries_took() {
    let world = files();
    let model = reader(true);
    let mut scene = agent_in(&world, "a", model.clone());
    let ended = world.wait(scene.agent.run("read them all")).expect("no fault of ours");
    let asked = model.asked();
    assert!(asked.iter().any(is_summary), "it was summed up");
    let mut again = agent_in(&world, "a", Thinker::says(vec![]));
    done(&world.wait(again.agent.resume()), "all read");
    let spent = |budget| again.agent.session.spent(budget);
    assert_eq!(spent(Budget::ModelCalls), asked.len() as u64);
    assert_eq!(spent(Budget::InputTokens), ended.usage.read());
}
