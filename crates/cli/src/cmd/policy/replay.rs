//! `nika policy replay`: what another policy would have said to the calls of the past. Hooks are on neither side: they
//! are not run, and what they decided then is not compared.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

use nika_contract::{Scene, SessionState, ToolError, code, event, text};
use nika_guard::{Decision, Effects, Stance};
use nika_runtime::{Dialect, HOOK_ASKS};
use nika_store::journal;
use nika_tools::shell::ground::Cwd;
use serde_json::{Map, Value, json};

use crate::args::{self, Format};
use crate::compose::{self, Built, Ground, Shape};
use crate::config::Effective;
use crate::failure::Failure;
use crate::out;
use crate::world::World;

/// The lines that tell what was called, what a hook made of it, what was decided, and where a command left the session.
const TOLD_BY: [&str; 5] =
    [event::CALL_BEGUN, event::HOOK_RAN, event::PERMISSION_REQUEST, event::CALL_ENDED, event::TOOL_BASH];

/// Arguments that are judged by their text.
const TEXTS: [&str; 2] = ["command", "code"];

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

/// A call of the past that cannot be judged again.
struct Unread {
    session: String,
    call: String,
    tool: String,
    why: String,
}

pub fn run(args: &args::PolicyReplay) -> Result<ExitCode, Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &args.place)?;
    let ours = ground.configure(&world, &args.standing)?;
    let other = ground.configure_with(&world, &args.standing, args.against.clone())?;
    let built = compose::build(&world, &ground, ours, Shape::default())?;
    let (mut judged, mut by_hooks) = (0usize, 0usize);
    let (mut differing, mut unread) = (Vec::new(), Vec::new());
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
            by_hooks += usize::from(past.of_call(line).is_some_and(|came| came.by_hook));
            match rejudge(&built, &other, &past, &state, line) {
                Ok(one) => {
                    judged += 1;
                    if one.then != one.now {
                        differing.push(one);
                    }
                }
                Err(error) => {
                    let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
                    let why = text::harmless(&error.message).into_owned();
                    unread.push(Unread { session: log.id.clone(), call: text("call"), tool: text("tool"), why });
                }
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
        let missed = |one: &Unread| json!({"session": one.session, "call": one.call, "tool": one.tool, "why": one.why});
        out::json(&json!({
            "calls": judged,
            "not_judged": unread.len(),
            "decided_by_hooks": by_hooks,
            "differing": differing.iter().map(row).collect::<Vec<_>>(),
            "unjudged": unread.iter().map(missed).collect::<Vec<_>>(),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |one: &Judged| {
        let change = format!("{} → {}", one.then, one.now);
        vec![one.call.clone(), change, one.what.clone(), one.why.clone()]
    };
    out::print(&out::table(&differing.iter().map(row).collect::<Vec<_>>()))?;
    let missed = |one: &Unread| {
        let why = one.why.lines().next().unwrap_or_default();
        vec![one.call.clone(), "not judged".to_owned(), format!("{}: {why}", one.tool)]
    };
    out::print(&out::table(&unread.iter().map(missed).collect::<Vec<_>>()))?;
    let rest = if unread.is_empty() { String::new() } else { format!(", {} could not be judged again", unread.len()) };
    out::line(&format!("{judged} calls, {} would be judged differently{rest}", differing.len()))?;
    if by_hooks > 0 {
        let calls = if by_hooks == 1 { "1 call was" } else { &format!("{by_hooks} calls were") };
        out::line(&format!("{calls} decided by a hook, which replay does not run; policy alone is compared"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What the journal says came of a call before it ran.
#[derive(Default)]
struct Came<'j> {
    /// What policy decided; none where the journal does not say.
    decision: Option<&'static str>,
    /// Whether a hook refused it, or alone put it to a person.
    by_hook: bool,
    /// The arguments that a hook put in place of the call's.
    rewritten: Option<&'j Value>,
}

/// What the journal says of the calls.
struct Past<'j>(HashMap<&'j str, Came<'j>>);

impl<'j> Past<'j> {
    fn of(lines: &'j [Value]) -> Past<'j> {
        let mut calls: HashMap<&str, Came<'_>> = HashMap::new();
        for line in lines {
            let Some(call) = line["call"].as_str() else { continue };
            let came = calls.entry(call).or_default();
            match line["event"].as_str() {
                Some(event::HOOK_RAN) => {
                    came.rewritten = Some(&line["arguments"]).filter(|new| new.is_object()).or(came.rewritten);
                }
                Some(event::PERMISSION_REQUEST) => {
                    let is_hooks = |reasons: &Vec<Value>| reasons.iter().all(|reason| reason["act"] == HOOK_ASKS);
                    came.by_hook = line["reasons"].as_array().is_some_and(is_hooks);
                    // Whoever answered it: a yes makes a question no rule.
                    came.decision = Some(if came.by_hook { Decision::Allow } else { Decision::Ask }.name());
                }
                Some(event::CALL_ENDED) if came.decision.is_none() => {
                    let is = |code: nika_contract::Code| line["code"] == code.to_string();
                    let named = |one: &Decision| line["decision"] == one.name();
                    let decision = [Decision::Allow, Decision::Ask, Decision::Deny].into_iter().find(named);
                    came.by_hook = is(code::HOOK_REFUSED) && decision == Some(Decision::Deny);
                    // What a rule keeps out of the pool comes to no verdict.
                    let decision = if is(code::TOOL_REMOVED) { Some(Decision::Deny) } else { decision };
                    came.decision = decision.filter(|_| !came.by_hook).map(Decision::name);
                }
                _ => {}
            }
        }
        Past(calls)
    }

    fn of_call(&self, line: &Value) -> Option<&Came<'j>> {
        self.0.get(line["call"].as_str()?)
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
    let came = past.of_call(fields);
    let arguments = came.and_then(|came| came.rewritten).unwrap_or(&fields["arguments"]);
    let effects = effects(built, state, &tool, arguments.as_object().cloned().unwrap_or_default())?;
    let present = || built.effective.policy.judge(&stance(&built.effective, fields), &effects).decision.name();
    let then = came.and_then(|came| came.decision).unwrap_or_else(present);
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

/// What a call with these arguments touches, in whichever dialect they were written.
fn effects(built: &Built, state: &SessionState, tool: &str, given: Map<String, Value>) -> Result<Effects, ToolError> {
    let tool = built.runtime.find(tool)?;
    let is_cut = |name: &&str| given.get(*name).and_then(Value::as_str).is_some_and(journal::is_shortened);
    if let Some(name) = TEXTS.into_iter().find(is_cut) {
        let message = format!("the journal keeps only the beginning of its `{name}`");
        return Err(ToolError::new(code::BAD_ARGUMENTS, message));
    }
    let translated = |dialect: &Dialect| {
        let mut arguments = given.clone();
        dialect.arguments(tool.spec().name, &mut arguments).ok()?;
        tool.parse(Value::Object(arguments)).ok()
    };
    let prepared = tool
        .parse(Value::Object(given.clone()))
        .or_else(|error| Dialect::ALL.iter().find_map(translated).ok_or(error))?;
    prepared.effects(&Scene { session: state })
}
