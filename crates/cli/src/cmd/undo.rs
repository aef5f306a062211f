//! `nika undo`: the tool `undo`, called by a person.

use std::process::ExitCode;

use nika_guard::{Mode, Stance};
use serde_json::{Map, Value};

use crate::args;
use crate::arguments::Gathered;
use crate::cmd::call::{Wanted, perform};
use crate::compose::{Ground, Shape};
use crate::failure::Failure;
use crate::world::World;

pub fn run(args: args::Undo) -> Result<ExitCode, Failure> {
    let world = World::look();
    let wanted = Wanted {
        tool: "undo",
        session: args.session.as_deref(),
        output: args.output,
        save: None,
        answers: &[],
        shape: Shape::default(),
    };
    let ground = Ground::find(&world, &args.place)?;
    let mut effective = ground.configure(&world, &args.standing)?;
    // Who types `nika undo` has said yes to writing inside already. What asks each time still asks, and a
    // mode that only reads still refuses.
    if effective.stance == Stance::from(Mode::Ask) && args.standing.mode.is_none() {
        effective.stance = Mode::AcceptEdits.into();
    }
    perform(&world, &ground, effective, &wanted, |built, _| {
        // To open a session would make it. One whose journal was lost may have changes all the same.
        if let Some(session) = &args.session
            && built.checkpoints.list(1, Some(session)).is_ok_and(|calls| calls.is_empty())
        {
            super::log::known(&built.state, session)?;
        }
        let mut arguments = Map::new();
        if let Some(call) = &args.call {
            arguments.insert("call_id".into(), call.as_str().into());
        }
        if let Some(steps) = args.steps {
            arguments.insert("steps".into(), steps.into());
        }
        if args.dry_run {
            arguments.insert("dry_run".into(), Value::Bool(true));
        }
        Ok(Gathered { arguments, took_stdin: false })
    })
}
