//! What a turn is: real tools, real files, and what the model is sent.

use nika_agent::provider::{Kind, Role, Stop};
use nika_agent::{Conversation, Why};
use nika_contract::{News, PlanMode};
use nika_guard::Mode;
use nika_guard::manifest::Moment;
use nika_runtime::Listing;
use nika_testkit::world;
use serde_json::{Value, json};

use crate::scene::{Thinker, agent_in, calls, done, failed, paired, run, words};

#[test]
fn a_task_is_done_with_tools_and_words() {
    let world = world().file("src/a.rs", "fn one() {}\nfn main() { one() }\n");
    let model = Thinker::says(vec![
        calls(&[("grep", json!({"pattern": "fn one"})), ("read", json!({"file_path": "src/a.rs"}))]),
        calls(&[("edit", json!({"file_path": "src/a.rs", "old_string": "fn one()", "new_string": "fn two()"}))]),
        words("Renamed."),
    ]);
    let mut scene = agent_in(&world, "a", model.clone());
    let ended = world.wait(scene.agent.run("rename one to two"));
    done(&ended, "Renamed.");
    let ended = ended.expect("checked above");
    assert_eq!((ended.turns, ended.calls, ended.usage.output), (3, 3, 150));
    // 3 x (100 at 1, 1,000 at 0.1, 50 at 10 millionths).
    assert_eq!(ended.cost_micros, Some(3 * (100 + 100 + 500)));
    assert!(world.text("src/a.rs").starts_with("fn two()"));
    let asked = model.asked();
    assert_eq!(asked[0].messages.len(), 1, "the task alone");
    let results = asked[1].results();
    assert!(results[0].text.contains("src/a.rs:1") || results[0].text.contains("src/a.rs"), "{results:?}");
    assert!(results[1].text.contains("fn main()"), "the order of the calls: {results:?}");
    assert!(asked[2].results()[0].text.contains("+fn two()"), "{:?}", asked[2].results());
    paired(scene.agent.talk.messages());
    let seen = scene.seen.lines();
    let place = |line: &str| {
        seen.iter().position(|other| other.starts_with(line)).unwrap_or_else(|| panic!("{line} in {seen:#?}"))
    };
    assert!(place("turn 1") < place("began 3.0 grep") && place("ended 3.0 grep ok") < place("turn 2"), "{seen:#?}");
    assert_eq!(seen.last().map(String::as_str), Some("ended done"));
}

#[test]
fn the_journal_has_every_turn_and_what_it_took() {
    let world = world().file("a.txt", "one\n");
    let model = Thinker::says(vec![calls(&[("read", json!({"file_path": "a.txt"}))]), words("ok")]);
    run(&world, &model);
    let journal = world.journal_of("a");
    let events: Vec<&str> = journal.iter().filter_map(|line| line["event"].as_str()).collect();
    let want = [
        "SessionStarted",
        "AgentTurn",
        "ProviderCalled",
        "ProviderResponded",
        "CallBegun",
        "ToolRead",
        "CallEnded",
        "AgentTurn",
        "ProviderCalled",
        "ProviderResponded",
        "AgentEnded",
    ];
    assert_eq!(events, want);
    let responded = &journal[3];
    for (field, want) in [("cache_read", 1_000), ("output", 50), ("reasoning", 10), ("calls", 1), ("cost_micros", 700)]
    {
        assert_eq!(responded[field], want, "{field} of {responded}");
    }
    assert!(journal[4]["origin"].as_str().is_some_and(|origin| origin == "3.0 id0"), "{}", journal[4]);
}

#[test]
fn what_stands_before_the_conversation_grows_at_its_end_only() {
    let world = world().listing(Listing::Eager).file("a.txt", "one\n");
    let model = Thinker::says(vec![
        calls(&[("tool_search", json!({"query": "select:undo"}))]),
        calls(&[("tool_search", json!({"query": "select:list_dir,checkpoints"}))]),
        calls(&[("list_dir", json!({}))]),
        words("ok"),
    ]);
    run(&world, &model);
    let asked = model.asked();
    for pair in asked.windows(2) {
        assert_eq!(pair[0].system, pair[1].system);
        assert!(pair[1].tools.starts_with(&pair[0].tools), "{:?} then {:?}", pair[0].tools, pair[1].tools);
        assert!(pair[1].messages.starts_with(&pair[0].messages), "what was said is sent again as it was");
    }
    let first = &asked[0].tools;
    assert!(first.is_sorted() && first.iter().any(|name| name == "nika_tool_search"), "{first:?}");
    assert!(!first.iter().any(|name| name == "nika_call"), "a list that grows needs no gateway");
    assert_eq!(asked[1].tools[first.len()..], ["nika_undo"]);
    assert_eq!(asked[2].tools[first.len()..], ["nika_undo", "nika_checkpoints", "nika_list_dir"]);
    assert!(!asked[3].results()[0].is_error, "a loaded tool is called at once: {:?}", asked[3].results());
    // Who goes on sends the same.
    let going_on = Thinker::says(vec![words("still here")]);
    run(&world, &going_on);
    assert_eq!(going_on.asked()[0].tools, asked[3].tools);
    assert!(going_on.asked()[0].messages.starts_with(&asked[3].messages));
}

#[test]
fn a_deferred_tool_called_by_name_shows_its_schema_first() {
    let world = world().listing(Listing::Eager).file("a.txt", "one\n");
    let model = Thinker::says(vec![calls(&[("list_dir", json!({}))]), calls(&[("list_dir", json!({}))]), words("ok")]);
    run(&world, &model);
    let asked = model.asked();
    assert!(asked[1].results()[0].text.starts_with("NIKA-103"), "{:?}", asked[1].results());
    assert!(asked[1].tools.contains(&"nika_list_dir".to_owned()));
    assert!(asked[2].results()[0].text.contains("a.txt"));
}

#[test]
fn plan_mode_holds_from_the_next_call_on() {
    let world = world().mode(Mode::AcceptAll).file("a.txt", "one\n");
    let write = || calls(&[("write", json!({"file_path": "new.txt", "content": "x"}))]);
    let model = Thinker::says(vec![write(), words("refused"), write(), words("written")]);
    let mut scene = agent_in(&world, "a", model.clone());
    scene.agent.session.state.slot::<PlanMode>().set(true);
    done(&world.wait(scene.agent.run("write")), "refused");
    assert!(model.asked()[1].results()[0].text.starts_with("NIKA-205"), "{:?}", model.asked()[1].results());
    scene.agent.session.state.slot::<PlanMode>().set(false);
    done(&world.wait(scene.agent.run("now")), "written");
    assert_eq!(world.text("new.txt"), "x");
}

struct Jobs(std::sync::Mutex<Vec<String>>);

impl News for Jobs {
    fn take(&self, session: &str) -> Vec<String> {
        assert_eq!(session, "a");
        std::mem::take(&mut self.0.lock().expect("not poisoned"))
    }
}

#[test]
fn news_are_told_between_turns() {
    let world = world().file("a.txt", "one\n");
    let jobs = std::sync::Arc::new(Jobs(vec!["job 1 ended with exit code 0".to_owned()].into()));
    let model = Thinker::says(vec![calls(&[("read", json!({"file_path": "a.txt"}))]), words("ok")]);
    let mut scene = agent_in(&world, "a", model.clone());
    scene.agent.news = Some(jobs.clone());
    done(&world.wait(scene.agent.run("wait")), "ok");
    let asked = model.asked();
    assert_eq!(asked[0].last(), "job 1 ended with exit code 0");
    assert_eq!(asked[1].messages.iter().filter(|message| message.role == Role::User).count(), 2, "told once");
    assert!(scene.seen.lines().contains(&"told job 1 ended with exit code 0".to_owned()));
}

#[test]
fn manifests_speak_at_the_start_and_after_a_turn() {
    let world =
        world().message(Moment::BeforePrompt, "*", "Mind the gap.").message(Moment::AfterTurn, "*", "Be brief.");
    let model = Thinker::says(vec![words("one"), words("two")]);
    let mut scene = agent_in(&world, "a", model.clone());
    done(&world.wait(scene.agent.run("first")), "one");
    done(&world.wait(scene.agent.run("second")), "two");
    let asked = model.asked();
    assert!(asked[0].system.contains("Mind the gap.") && asked[0].last() == "first");
    assert_eq!(asked[1].last(), "Be brief.\n\nsecond");
}

#[test]
fn an_answer_that_was_cut_is_gone_on_with_and_read_as_one() {
    let world = world();
    let mut cut = words("The beginning, ");
    cut.stop = Stop::Length;
    let model = Thinker::says(vec![cut, words("and the end.")]);
    let ended = run(&world, &model);
    assert_eq!((ended.why, ended.answer.as_str(), ended.turns), (Why::Done, "The beginning, and the end.", 2));
    assert!(model.asked()[1].last().contains("Go on exactly where it stopped"));
}

#[test]
fn an_empty_answer_is_asked_for_again_and_never_sent_back() {
    let world = world();
    let model = Thinker::says(vec![words(""), words("  "), words("here")]);
    let ended = run(&world, &model);
    assert_eq!((ended.why, ended.answer.as_str()), (Why::Done, "here"));
    assert!(
        model.asked()[2].messages.iter().all(|message| message.role == Role::User),
        "{:?}",
        model.asked()[2].messages
    );
    let silent = Thinker::new(|_, _| Some(Ok(words(""))));
    let ended = crate::scene::run(&world, &silent);
    assert_eq!((ended.why, ended.answer.as_str(), ended.turns), (Why::Done, "", 4));
}

#[test]
fn a_model_that_fails_ends_the_run_and_the_next_goes_on() {
    let world = world().file("a.txt", "one\n");
    let model = Thinker::new(|nth, _| match nth {
        0 => Some(Ok(calls(&[("read", json!({"file_path": "a.txt"}))]))),
        _ => Some(failed(Kind::Overloaded)),
    });
    let ended = run(&world, &model);
    let error = ended.why.error().expect("it is one");
    assert_eq!((error.code.to_string().as_str(), error.message.as_str()), ("NIKA-804", "the test's Overloaded"));
    let mut scene = agent_in(&world, "a", Thinker::says(vec![words("read it")]));
    done(&world.wait(scene.agent.resume()), "read it");
    paired(scene.agent.talk.messages());
    assert!(world.journal_of("a").iter().any(|line| line["event"] == "ProviderFailed" && line["kind"] == "Overloaded"));
}

#[test]
fn an_answer_that_the_provider_withholds_ends_the_run() {
    let world = world();
    let mut withheld = words("");
    withheld.stop = Stop::Filter;
    assert_eq!(run(&world, &Thinker::says(vec![withheld])).why, Why::Withheld);
}

#[test]
fn what_a_model_says_cannot_steer_a_terminal() {
    let world = world();
    let model = Thinker::says(vec![
        calls(&[("no\u{1b}tool", json!({"a\u{1b}[2J": "\u{1b}]0;x\u{7}"}))]),
        words("done \u{1b}[31mred"),
    ]);
    let mut scene = agent_in(&world, "a", model);
    let ended = world.wait(scene.agent.run("say"));
    done(&ended, "done ␛[31mred");
    let seen = scene.seen.lines().join("\n");
    assert!(!seen.contains('\u{1b}') && seen.contains("no␛tool") && seen.contains("text done ␛[31mred"), "{seen}");
}

#[test]
fn conversations_are_listed_with_what_was_asked() {
    let world = world();
    let mut scene = agent_in(&world, "first", Thinker::says(vec![words("ok")]));
    world.wait(scene.agent.run("mend the\nroof\u{1b}")).expect("no fault of ours");
    let listed = Conversation::list(world.state()).expect("a list");
    let told: Vec<_> = listed.iter().map(|one| (one.session.as_str(), one.task.as_str(), one.model.as_str())).collect();
    assert_eq!(told, [("first", "mend the roof␛", "test/thinker-1")]);
    assert_eq!(Value::from(listed[0].lines), json!(4), "opened, said, answered, ended");
}
