//! No agent ever stands wider than who started it: every mode of the parent, type, wish and narrowing, through the
//! real way of starting one, and while the parent changes its mind.

use std::sync::{Arc, Mutex, OnceLock};

use nika_agent::provider::{Answered, Asking, Model, ModelError, Part, Provider, Sink, Stop, Usage};
use nika_agent::sub::Fleet;
use nika_contract::{BoxFuture, PlanMode};
use nika_guard::{Act, Cell, Decision, Effect, Effects, Exec, ExecKind, Mode, Place, RuleKind, Stance, TABLE};
use nika_runtime::Session;
use serde_json::json;

use crate::sub_world::{Made, world};

fn strictness(cell: Cell) -> usize {
    [Cell::Allow, Cell::Ask, Cell::Floor, Cell::Deny].iter().position(|other| *other == cell).expect("four cells")
}

/// Looks at its own session from inside, instead of thinking.
#[derive(Debug)]
struct Peeping {
    model: Model,
    fleet: OnceLock<Arc<Fleet>>,
    /// What was found to be wider, and how many cells were compared.
    found: Mutex<(Vec<String>, usize)>,
}

impl Peeping {
    fn look(&self, child: &Session, parent: &Session, when: &str) {
        let mut found = self.found.lock().expect("unpoisoned");
        for (act, ..) in TABLE {
            let cell = |session: &Session| strictness(act.under(&session.stance()));
            found.1 += 1;
            if cell(child) < cell(parent) {
                let wider = format!("{when}: {act:?} of {} below {}", child.stance(), parent.stance());
                found.0.push(wider);
            }
        }
        // And as it is judged, with the rules of both.
        for effect in effects() {
            let decided = |session: &Session| {
                session.policy().judge(&session.stance(), &Effects::one(effect.clone()).of("bash")).decision
            };
            found.1 += 1;
            if decided(child) < decided(parent) {
                let wider = format!("{when}: {effect:?} is {:?} below {:?}", decided(child), decided(parent));
                found.0.push(wider);
            }
        }
    }
}

/// Effects that the rules of the scene speak of, and such that no rule does.
fn effects() -> Vec<Effect> {
    let exec = |line: &str, kind| {
        let commands = vec![line.split(' ').map(str::to_owned).collect()];
        Effect::Exec(Exec::plain(commands, kind, ""))
    };
    vec![
        Effect::Read(Place::inside("/r", "private/a")),
        Effect::Read(Place::inside("/r", "a")),
        Effect::Write(Place::inside("/r", "src/a")),
        Effect::Write(Place::inside("/r", "careful/a")),
        Effect::Write(Place::inside("/r", "free/a")),
        exec("cargo test", ExecKind::Opaque),
        exec("git push", ExecKind::Opaque),
        exec("rm -r x", ExecKind::Destructive),
        Effect::Net("bad.example".into()),
        Effect::Net("good.example".into()),
        Effect::Spawn("agent".into()),
        Effect::Control("task".into()),
        Effect::Note("todo".into()),
        Effect::Ask,
    ]
}

impl Provider for Peeping {
    fn name(&self) -> &str {
        "peeping"
    }

    fn model(&self) -> &Model {
        &self.model
    }

    fn answer<'a>(
        &'a self,
        asking: &'a Asking<'a>,
        _: &'a mut Sink<'_>,
    ) -> BoxFuture<'a, Result<Answered, ModelError>> {
        let child = self.fleet.get().and_then(|fleet| fleet.session(asking.cache_key)).expect("it is at work");
        let parent = Arc::clone(child.parent().expect("it was started"));
        self.look(&child, &parent, "at work");
        parent.state.slot::<PlanMode>().set(true);
        self.look(&child, &parent, "while its parent plans");
        assert_ne!(Act::WriteInside.under(&child.stance()), Cell::Allow, "{}", child.stance());
        parent.state.slot::<PlanMode>().set(false);
        // Granted to the agent, a rule opens nothing that its parent is denied.
        child.grant("net(bad.example)", None).expect("a rule");
        let net = Effects::one(Effect::Net("bad.example".into()));
        assert_eq!(child.policy().judge(&child.stance(), &net).decision, Decision::Deny);
        let (usage, parts) = (Usage::default(), vec![Part::Text("looked".into())]);
        Box::pin(async move { Ok(Answered { parts, stop: Stop::Done, usage, first_ms: 0, took_ms: 0 }) })
    }
}

fn scene(stance: Stance) -> (Made, Arc<Peeping>) {
    let model = Model { id: "peeping".into(), context_tokens: 1_000_000, max_output: None, prices: None };
    let peeping = Arc::new(Peeping { model, fleet: OnceLock::new(), found: Mutex::default() });
    let mut scene = world("turns: [{say: never asked}]")
        .rule(RuleKind::Deny, "read(private/**)")
        .rule(RuleKind::Deny, "net(bad.example)")
        .rule(RuleKind::Deny, "exec(git push*)")
        .rule(RuleKind::Ask, "write(careful/**)")
        .rule(RuleKind::Ask, "exec(cargo*)")
        .rule(RuleKind::Allow, "write(free/**)")
        .rule(RuleKind::Allow, "net(good.example)")
        // So that even a parent who may nothing else can be tried.
        .rule(RuleKind::Allow, "tool(agent)");
    scene.mode = stance;
    scene.bare = true;
    scene.models.0.insert(None, Arc::clone(&peeping) as Arc<dyn Provider>);
    let made = scene.make();
    assert!(peeping.fleet.set(Arc::clone(&made.fleet)).is_ok());
    (made, peeping)
}

/// Every type, wish and narrowing below one parent; how many agents were started, and how many calls refused.
fn all_below(stance: Stance) -> (usize, usize) {
    let (made, peeping) = scene(stance);
    let (mut looked, mut refused) = (0, 0);
    for kind in ["general", "explore", "plan", "verify"] {
        for wish in std::iter::once(None).chain(Mode::ALL.map(Some)) {
            for (write, shell) in [(true, true), (true, false), (false, true), (false, false)] {
                let arguments = json!({
                    "description": "look", "prompt": "look", "subagent_type": kind,
                    "mode": wish.map(Mode::name), "allow_write": write, "allow_shell": shell,
                });
                match made.tokio.block_on(made.dispatch("agent", arguments)).result {
                    Ok(output) => {
                        looked += 1;
                        assert!(output.joined_text().starts_with("looked"), "{}", output.joined_text());
                    }
                    // A parent that may not start agents at all.
                    Err(error) => {
                        refused += 1;
                        assert_eq!(error.code.0, 205, "{error}");
                        assert!(matches!(stance.mode, Mode::Deny | Mode::ReadOnly), "{stance}: {error}");
                    }
                }
            }
        }
    }
    let (wider, compared) = &*peeping.found.lock().expect("unpoisoned");
    assert!(wider.is_empty(), "{} wider of {compared}: {:#?}", wider.len(), &wider[..wider.len().min(5)]);
    assert_eq!(*compared, looked * 2 * (TABLE.len() + effects().len()), "every one was looked at, twice");
    (looked, refused)
}

#[test]
fn no_agent_stands_wider_than_who_started_it() {
    let switches = [(false, false), (true, false), (false, true), (true, true)];
    let stances = Mode::ALL
        .into_iter()
        .flat_map(|mode| switches.map(|(unsafe_commands, ask_writes)| Stance { mode, unsafe_commands, ask_writes }));
    // Each agent's transcript is forced to the disk: parents that wait for it at once wait once.
    let counts: Vec<(usize, usize)> = std::thread::scope(|scope| {
        let begun: Vec<_> = stances.map(|stance| scope.spawn(move || all_below(stance))).collect();
        begun.into_iter().map(|thread| thread.join().expect("no agent is wider")).collect()
    });
    let each = 4 * 7 * 4;
    let looked: usize = counts.iter().map(|(looked, _)| looked).sum();
    let refused: usize = counts.iter().map(|(_, refused)| refused).sum();
    assert_eq!((looked, refused), (4 * 4 * each, 2 * 4 * each), "two modes start no agents");
}

#[test]
fn an_agent_of_an_agent_is_held_by_both() {
    let script = "
conversations:
  - when: {name_begins: test.a1.a1}
    turns:
      - calls: [{tool: write, arguments: {file_path: b.txt, content: x}}]
      - expect: {results: [{is_error: true}]}
        say: could not
  - when: {name_begins: test.a1}
    turns:
      - calls: [{tool: agent, arguments: {description: d, prompt: p, mode: accept-all}}]
      - expect: {results: [{contains: could not}]}
        say: as it should
";
    // The agent between may start agents and asks before writing; nobody is there to be asked.
    let mut made = world(script).rule(RuleKind::Allow, "tool(agent)");
    made.mode = Mode::AcceptAll.into();
    let made = made.make();
    let output = made.call("agent", json!({"description": "d", "prompt": "p", "mode": "ask"}));
    assert!(output.joined_text().starts_with("as it should"), "{}", output.joined_text());
    assert_eq!(made.text("b.txt"), "");
}
