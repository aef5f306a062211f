//! Calls that are tried before a question: what the pipeline holds for a yes, and that it lets go of it else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nika_contract::{
    Asked, Cx, Erased, Group, Held, Output, Pending, Rehearsal, Replied, Scene, Spec, Tool, ToolError, code,
};
use nika_guard::{Effect, Effects, Exec, ExecKind, HookPoint, Mode, RuleKind};
use nika_testkit::{World, no, world, yes};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// A tool that can be tried.
#[derive(Debug)]
struct Trial(Arc<Counts>);

/// What became of its trials.
#[derive(Debug, Default)]
struct Counts {
    tried: AtomicUsize,
    let_go: AtomicUsize,
}

/// What a trial holds.
struct Layer(Arc<Counts>, u64);

impl Drop for Layer {
    fn drop(&mut self) {
        self.0.let_go.fetch_add(1, Ordering::Relaxed);
    }
}

/// Does as told.
#[derive(Debug, Deserialize, JsonSchema)]
struct Told {
    #[serde(default)]
    how: String,
    /// What it would change.
    #[serde(default)]
    change: u64,
}

impl Tool for Trial {
    type Params = Told;
    const SPEC: Spec = Spec::new("trial", "Trial", Group::Test);

    fn effects(&self, _: &Told, _: &Scene<'_>) -> Result<Effects, ToolError> {
        let (commands, kind) = (vec![vec!["make".to_owned()]], ExecKind::WritesInside);
        Ok(Effects::one(Effect::Exec(Exec::plain(commands, kind, ""))))
    }

    async fn rehearse(&self, told: &Told, cx: &Cx<'_>) -> Result<Option<Rehearsal>, ToolError> {
        let times = self.0.tried.fetch_add(1, Ordering::Relaxed);
        assert!(cx.permit.rehearses() && cx.beside.held().is_none());
        tokio::task::yield_now().await;
        match told.how.as_str() {
            "panic" => panic!("while it is tried"),
            "fail" => Err(ToolError::new(code::NOT_CONFINED, "there is no layer")),
            "be cancelled" => Err(ToolError::cancelled()),
            "not" => Ok(None),
            _ => Ok(Some(Rehearsal {
                shown: format!("tried \u{1b}[2J {times} times before"),
                facts: vec![("held", true.into())],
                held: Some(Held::new(format!("change {}", told.change), Layer(Arc::clone(&self.0), told.change))),
            })),
        }
    }

    async fn run(&self, _: Told, cx: &Cx<'_>) -> Result<Output, ToolError> {
        assert!(!cx.permit.rehearses());
        let held = cx.beside.held().and_then(Held::take::<Layer>);
        Ok(Output::text(held.map_or_else(|| "it ran".to_owned(), |held| format!("change {} applied", held.1))))
    }
}

/// A world with the tool, and what becomes of its trials.
fn asked(answer: Asked) -> (World, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let world = world().mode(Mode::Ask).tool(Erased::boxed(Trial(Arc::clone(&counts)))).person(answer);
    (world, counts)
}

/// How often it was tried, and how often that was let go of.
fn seen(counts: &Counts) -> (usize, usize) {
    (counts.tried.load(Ordering::Relaxed), counts.let_go.load(Ordering::Relaxed))
}

fn requests(world: &World) -> Vec<Value> {
    world.journal().into_iter().filter(|line| line["event"] == "PermissionRequest").collect()
}

#[test]
fn a_yes_gets_what_was_held_and_everything_else_lets_go_of_it() {
    let (world, counts) = asked(yes());
    world.call("trial", json!({"change": 7})).says("change 7 applied");
    assert_eq!((seen(&counts), &requests(&world)[0]["rehearsal"]), ((1, 1), &json!({"held": true})));

    let (world, counts) = asked(no("not now"));
    world.call("trial", json!({})).refused(205);
    assert_eq!(seen(&counts), (1, 1));

    let (world, counts) = asked(Asked::Later);
    assert!(world.call("trial", json!({})).outcome.question.is_some());
    assert_eq!(seen(&counts), (1, 1));

    let (world, counts) = asked(Asked::Nobody);
    world.call("trial", json!({})).refused(205);
    assert_eq!(seen(&counts), (1, 1), "somebody seemed to be there");
}

#[test]
fn nothing_is_tried_for_nobody_nor_where_there_is_no_question_or_a_hook_asks() {
    let counts = Arc::new(Counts::default());
    let bare = || world().tool(Erased::boxed(Trial(Arc::clone(&counts))));
    bare().mode(Mode::Ask).call("trial", json!({})).refused(205);
    bare().mode(Mode::ReadOnly).replies(Replied::Nobody).call("trial", json!({})).refused(205);
    bare().mode(Mode::Ask).rule(RuleKind::Deny, "exec(make)").person(yes()).call("trial", json!({})).refused(205);
    bare().mode(Mode::Workspace).person(yes()).call("trial", json!({})).says("it ran");
    let asks = "echo '{\"decision\": \"ask\"}'";
    let hooked = bare().mode(Mode::Ask).hook(HookPoint::Before, "trial", asks).person(yes());
    hooked.call("trial", json!({})).says("it ran");
    assert_eq!(seen(&counts), (0, 0));
}

#[test]
fn a_trial_that_goes_wrong_is_no_answer_to_the_question() {
    for how in ["panic", "fail", "not"] {
        let (world, counts) = asked(yes());
        world.call("trial", json!({"how": how})).says("it ran");
        assert_eq!(seen(&counts), (1, 0), "{how}");
    }
    let (world, _) = asked(Asked::Later);
    let preview = |how: &str| match world.call("trial", json!({"how": how})).outcome.question {
        Some(Pending::Permission(question)) => question.preview.unwrap_or_default(),
        other => panic!("no question: {other:?}"),
    };
    assert_eq!(preview("fail"), "What it would change cannot be shown: there is no layer. A yes runs it.");
    assert!(preview("panic").contains("while it is tried") && preview("panic").ends_with("A yes runs it."));
    assert_eq!(preview("not"), "");
    assert!(!preview("").contains('\u{1b}'), "what is shown must not redraw a terminal");
    let cancelled = world.call("trial", json!({"how": "be cancelled"}));
    assert!(cancelled.outcome.question.is_none());
    cancelled.refused(105);
}

#[test]
fn a_question_is_named_by_what_would_change_and_not_by_what_was_printed() {
    let (world, counts) = asked(Asked::Later);
    let id = |arguments: Value| match world.call("trial", arguments).outcome.question {
        Some(Pending::Permission(question)) => question.id,
        other => panic!("no question: {other:?}"),
    };
    let first = id(json!({"change": 1}));
    assert_eq!(first, id(json!({"change": 1})), "it said something else the second time");
    assert_eq!(seen(&counts), (2, 2));
    for other in [json!({"change": 2}), json!({"change": 1, "how": "fail"}), json!({"change": 1, "how": "any"})] {
        assert_ne!(first, id(other.clone()), "{other}");
    }
}
