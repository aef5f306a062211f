//! `nika policy replay`: what another policy would have said to the calls of the past.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

use nika_contract::{Scene, SessionState, ToolError, code, event, text};
use nika_guard::{Decision, Effects, Stance};
use nika_store::journal;
use nika_tools::shell::ground::Cwd;
use serde_json::{Value, json};

use crate::args::{self, Format};
use crate::compose::{self, Built, Ground, Shape};
use crate::config::Effective;
use crate::failure::Failure;
use crate::out;
use crate::world::World;

/// The lines that tell what was called, what was decided, and where a command left the session.
const TOLD_BY: [&str; 4] = [event::CALL_BEGUN, event::PERMISSION_REQUEST, event::CALL_ENDED, event::TOOL_BASH];

/// A call of the past: what was decided then, and what would be now.
struct Judged {
    session: String,
    call: String,
    tool: String,
    what: String,
    then: &'static str,
    now: &'static str,
    why: String,
}

pub fn run(args: &args::PolicyReplay) -> Result<ExitCode, Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &args.place)?;
    let ours = ground.configure(&world, &args.standing)?;
    let other = ground.configure_with(&world, &args.standing, args.against.clone())?;
    let built = compose::build(&world, &ground, ours, Shape::default())?;
    let (mut judged, mut unread) = (0usize, 0usize);
    let mut differing = Vec::new();
    for log in journal::list(&built.state)? {
        let told = |line: &Value| TOLD_BY.iter().any(|event| line["event"] == *event);
        let lines: Vec<Value> = journal::lines(&built.state, &log.id)?.map_while(Result::ok).filter(told).collect();
        let past = Past::of(&lines);
        let state = SessionState::new(&log.id, false);
        for line in &lines {
            if line["event"] == event::TOOL_BASH {
                stand(&state, ground.root(), line);
            }
            if line["event"] != event::CALL_BEGUN {
                continue;
            }
            match rejudge(&built, &other, &past, &state, line) {
                Ok(one) => {
                    judged += 1;
                    if one.then != one.now {
                        differing.push(one);
                    }
                }
                Err(_) => unread += 1,
            }
        }
    }
    if args.output == Format::Json {
        let row = |one: &Judged| {
            json!({
                "session": one.session, "call": one.call, "tool": one.tool, "what": one.what,
                "before": one.then, "after": one.now, "why": one.why,
            })
        };
        let rows: Vec<Value> = differing.iter().map(row).collect();
        out::json(&json!({"calls": judged, "not_judged": unread, "differing": rows}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |one: &Judged| {
        let change = format!("{} → {}", one.then, one.now);
        vec![one.call.clone(), change, one.what.clone(), one.why.clone()]
    };
    out::print(&out::table(&differing.iter().map(row).collect::<Vec<_>>()))?;
    let rest = if unread == 0 { String::new() } else { format!(", {unread} could not be judged again") };
    out::line(&format!("{judged} calls, {} would be judged differently{rest}", differing.len()))?;
    Ok(ExitCode::SUCCESS)
}

/// What the journal says of the decisions.
struct Past<'j>(HashMap<&'j str, &'static str>);

impl<'j> Past<'j> {
    fn of(lines: &'j [Value]) -> Past<'j> {
        let mut decisions = HashMap::new();
        for line in lines {
            let Some(call) = line["call"].as_str() else { continue };
            match line["event"].as_str() {
                // Whoever answered it: a yes makes a question no rule.
                Some(event::PERMISSION_REQUEST) => {
                    decisions.insert(call, Decision::Ask.name());
                }
                Some(event::CALL_ENDED) => {
                    let named = |one: &Decision| line["decision"] == one.name();
                    // What a rule keeps out of the pool comes to no verdict.
                    let decision = match line["code"] == code::TOOL_REMOVED.to_string() {
                        true => Some(Decision::Deny),
                        false => [Decision::Allow, Decision::Ask, Decision::Deny].into_iter().find(named),
                    };
                    if let Some(decision) = decision {
                        decisions.entry(call).or_insert(decision.name());
                    }
                }
                _ => {}
            }
        }
        Past(decisions)
    }
}

/// From now on the session stands where this command left it.
fn stand(state: &SessionState, root: &Path, line: &Value) {
    if let Some(dir) = line["cwd"].as_str() {
        state.slot::<Cwd>().set(Some(root.join(dir)));
    }
}

/// The mode that `other` is in where a file or flag names one, else that of the call.
fn stance(other: &Effective, call: &Value) -> Stance {
    let is_named = other.shown.iter().any(|row| row.key == "mode" && row.layer != "default");
    let then = call["mode"].as_str().and_then(|mode| mode.parse().ok());
    then.filter(|_| !is_named).unwrap_or(other.stance)
}

/// The decision of then beside that of `other`. A call that never came to one is judged by the present
/// configuration instead. An error where the call means nothing any more: its tool is gone, its path cannot be
/// resolved, or the journal shortened what it was.
fn rejudge(
    built: &Built,
    other: &Effective,
    past: &Past<'_>,
    state: &SessionState,
    fields: &Value,
) -> Result<Judged, ToolError> {
    let text = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
    let (call, tool) = (text("call"), text("tool"));
    let effects = effects(built, state, &tool, fields["arguments"].clone())?;
    let present = || built.effective.policy.judge(&built.effective.stance, &effects).decision.name();
    let then = past.0.get(call.as_str()).copied().unwrap_or_else(present);
    let now = other.policy.judge(&stance(other, fields), &effects);
    let why = now.decisive().map(|reason| format!("{}, by {}", reason.effect, reason.source)).unwrap_or_default();
    let what: Vec<String> = effects.all.iter().map(ToString::to_string).collect();
    Ok(Judged {
        session: state.id().to_owned(),
        call,
        tool,
        what: text::preview(&text::harmless(&what.join(" ")), 100),
        then,
        now: now.decision.name(),
        why: text::harmless(&why).into_owned(),
    })
}

fn effects(built: &Built, state: &SessionState, tool: &str, arguments: Value) -> Result<Effects, ToolError> {
    let tool = built.runtime.find(tool)?;
    tool.parse(arguments)?.effects(&Scene { session: state })
}
