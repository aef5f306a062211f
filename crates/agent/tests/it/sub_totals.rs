//! What agents below a session took: part of what its run took, and not forgotten by the next process. And what they do
//! in the background: waited for, and told.

use std::sync::Arc;

use nika_agent::provider::Scripted;
use nika_agent::sub::CostBound;
use nika_agent::{Happening, Watch, Why};
use nika_contract::Cancel;
use nika_guard::Budget;
use nika_store::tasks::Status;

use crate::sub_world::{Made, world};

/// A session that has another work for it. A token costs a dollar.
const HAS_HELP: &str = "
prices: {input: 1000000, output: 0, cache_read: 0, cache_write: 0}
conversations:
  - when: {name_begins: test.a1}
    turns: [{say: forty-two, usage: {input: 30, output: 3}}]
turns:
  - calls: [{tool: agent, arguments: {description: d, prompt: p}}]
    usage: {input: 1, output: 1}
  - {say: It says forty-two., usage: {input: 2, output: 1}}
";

fn run(made: &Made, script: &str, task: &str) -> nika_agent::Ended {
    let mut agent = made.agent(script);
    made.tokio.block_on(agent.run(task)).expect("no fault of ours")
}

#[test]
fn what_agents_take_is_part_of_the_run() {
    let made = world(HAS_HELP).make();
    let ended = run(&made, HAS_HELP, "ask somebody");
    assert_eq!((&ended.why, ended.answer.as_str()), (&Why::Done, "It says forty-two."));
    assert_eq!((ended.usage.input, ended.usage.output, ended.cost_micros), (33, 5, Some(33_000_000)));
    assert_eq!((ended.below.usage.input, ended.below.cost_micros), (30, Some(30_000_000)));
    let journal = made.events("test", "AgentEnded");
    assert_eq!((&journal[0]["input"], &journal[0]["cost_micros"]), (&33.into(), &33_000_000.into()));
}

#[test]
fn an_agent_with_another_model_is_priced_by_that_one() {
    let dear = "prices: {input: 5000000, output: 0}\nturns: [{say: forty-two, usage: {input: 30}}]\n";
    let mut set = world(HAS_HELP);
    let model = Scripted::parse("dear.yaml", dear).unwrap_or_else(|error| panic!("{error}"));
    set.models.0.insert(Some("dear".into()), Arc::new(model));
    let ended = run(&set.make(), &HAS_HELP.replace("prompt: p}", "prompt: p, model: dear}"), "ask somebody");
    assert_eq!((&ended.why, ended.cost_micros), (&Why::Done, Some(153_000_000)));
    assert_eq!((ended.below.usage.input, ended.below.cost_micros), (30, Some(150_000_000)));
}

#[test]
fn below_a_bound_on_money_no_agent_has_a_model_without_a_price() {
    let mut set = world(HAS_HELP);
    set.models.0.insert(Some("unpriced".into()), crate::sub_background::Mute::new());
    let made = set.make();
    made.session.state.slot::<CostBound>().set("`limits.cost_usd` of a.nika.yaml");
    let order = |model: Option<&str>| serde_json::json!({"description": "d", "prompt": "p", "model": model});
    let error = made.refused("agent", order(Some("unpriced")), 100);
    assert!(error.message.starts_with("`limits.cost_usd` of a.nika.yaml needs prices"), "{error}");
    // Nor has one further down.
    let script = HAS_HELP
        .replace("turns: [{say: forty-two, usage: {input: 30, output: 3}}]", "turns: [{calls: [{tool: agent, arguments: {description: d, prompt: p, model: unpriced}}]}, {expect: {results: [{code: NIKA-100}]}, say: alone}]");
    let mut set = world(&script);
    set.models.0.insert(Some("unpriced".into()), crate::sub_background::Mute::new());
    let made = set.make();
    made.session.state.slot::<CostBound>().set("`limits.cost_usd` of a.nika.yaml");
    assert!(made.call("agent", order(None)).joined_text().starts_with("alone"));
}

#[test]
fn another_process_knows_what_agents_took() {
    let made = world(HAS_HELP).budget(Budget::TotalCost, 20_000_000).make();
    let ended = run(&made, HAS_HELP, "ask somebody");
    assert!(matches!(ended.why, Why::Budget(_)), "the helper has spent it: {:?}", ended.why);
    let mut again = made.agent("turns: [{say: never}]");
    let ended = made.tokio.block_on(again.run("more")).expect("no fault of ours");
    assert!(matches!(ended.why, Why::Budget(_)), "{:?}", ended.why);
    let spent = |budget| again.session.spent(budget);
    assert_eq!((spent(Budget::TotalCost), spent(Budget::DelegatedTasks)), (31_000_000, 1));
    assert_eq!((spent(Budget::ModelCalls), spent(Budget::InputTokens)), (2, 31));
}

#[test]
fn no_more_agents_than_may_be_in_all_processes_and_the_work_goes_on_without() {
    let made = world(HAS_HELP).budget(Budget::DelegatedTasks, 1).make();
    assert_eq!(run(&made, HAS_HELP, "ask somebody").why, Why::Done);
    let again = "
turns:
  - say: unused
  - say: unused
  - calls: [{id: second, tool: agent, arguments: {description: d, prompt: p}}]
  - expect: {results: [{id: second, code: NIKA-106, contains: no other agent is started}]}
    say: Then I do it myself.
";
    let ended = run(&made, again, "ask another");
    assert_eq!((&ended.why, ended.answer.as_str()), (&Why::Done, "Then I do it myself."));
    assert_eq!(made.events("test", "AgentSpawned").len(), 1);
}

#[test]
fn what_was_begun_in_the_background_is_waited_for_and_told() {
    let script = "
conversations:
  - when: {name_begins: test.a1}
    turns:
      - calls: [{tool: sleep, arguments: {duration_ms: 50}}]
      - say: forty-two
turns:
  - calls: [{tool: agent, arguments: {description: Count, prompt: p, run_in_background: true}}]
  - say: It is begun.
  - expect: {last_user_contains: task t1 (Count) has ended}
    say: It has ended.
";
    let made = world(script).make();
    let ended = run(&made, script, "begin it");
    assert_eq!((&ended.why, ended.answer.as_str(), ended.turns), (&Why::Done, "It has ended.", 3));
    let task = made.db.task(nika_store::tasks::TaskId(1)).expect("the row is there");
    assert_eq!(task.status, Status::Completed);
}

#[test]
fn a_task_that_was_done_stays_done_where_no_turn_is_left_to_tell_of_others() {
    let script = "
conversations:
  - when: {name_begins: test.a1}
    turns: [{say: forty-two}]
turns:
  - calls: [{tool: agent, arguments: {description: Count, prompt: p, run_in_background: true}}]
  - say: It is begun.
";
    let made = world(script).make();
    let mut agent = made.agent(script);
    agent.bounds.max_turns = Some(2);
    let ended = made.tokio.block_on(agent.run("begin it")).expect("no fault of ours");
    assert_eq!((&ended.why, ended.answer.as_str()), (&Why::Done, "It is begun."));
}

/// Cancels as soon as somebody is waited for.
struct Impatient(Cancel);

impl Watch for Impatient {
    fn saw(&self, what: &Happening<'_>) {
        if matches!(what, Happening::Awaiting { .. }) {
            self.0.cancel();
        }
    }
}

#[test]
fn a_person_may_end_the_wait() {
    let script = "
conversations:
  - when: {name_begins: test.a1}
    turns: [{calls: [{tool: sleep, arguments: {duration_ms: 300000}}]}]
turns:
  - calls: [{tool: agent, arguments: {description: Count, prompt: p, run_in_background: true}}]
  - say: It is begun.
";
    let made = world(script).make();
    let mut agent = made.agent(script);
    agent.watch = Arc::new(Impatient(agent.cancel.clone()));
    let ended = made.tokio.block_on(agent.run("begin it")).expect("no fault of ours");
    assert_eq!((&ended.why, ended.answer.as_str()), (&Why::Cancelled, "It is begun."));
}
