//! `nika policy replay`: what another policy would have said to the calls of the past.

use std::process::ExitCode;

use nika_contract::{Scene, SessionState, ToolError, event, text};
use nika_guard::Effects;
use nika_store::journal;
use serde_json::{Value, json};

use crate::args::{self, Format};
use crate::compose::{self, Built, Ground, Shape};
use crate::config::Effective;
use crate::failure::Failure;
use crate::out;
use crate::world::World;

/// A call of the past, judged twice.
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
        for line in journal::lines(&built.state, &log.id)? {
            let Ok(line) = line else { break };
            if line["event"] != event::CALL_BEGUN {
                continue;
            }
            match rejudge(&built, &other, &log.id, &line) {
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

/// The verdicts of both policies. An error where the call means nothing any more: its tool is gone, its path
/// cannot be resolved, or the journal shortened what it was.
fn rejudge(built: &Built, other: &Effective, session: &str, fields: &Value) -> Result<Judged, ToolError> {
    let text = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
    let (call, tool) = (text("call"), text("tool"));
    let effects = effects(built, session, &tool, fields["arguments"].clone())?;
    let then = built.effective.policy.judge(&built.effective.stance, &effects);
    let now = other.policy.judge(&other.stance, &effects);
    let why = now.decisive().map(|reason| format!("{}, by {}", reason.effect, reason.source)).unwrap_or_default();
    let what: Vec<String> = effects.all.iter().map(ToString::to_string).collect();
    Ok(Judged {
        session: session.to_owned(),
        call,
        tool,
        what: text::preview(&text::harmless(&what.join(" ")), 100),
        then: then.decision.name(),
        now: now.decision.name(),
        why: text::harmless(&why).into_owned(),
    })
}

fn effects(built: &Built, session: &str, tool: &str, arguments: Value) -> Result<Effects, ToolError> {
    let state = SessionState::new(session, false);
    let tool = built.runtime.find(tool)?;
    tool.parse(arguments)?.effects(&Scene { session: &state })
}
