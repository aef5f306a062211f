//! `nika checkpoints`: the tool `checkpoints`, called by a person.

use std::process::ExitCode;

use serde_json::Map;

use crate::args::{self, Standing};
use crate::arguments::Gathered;
use crate::cmd::call::{Wanted, perform};
use crate::compose::{Ground, Shape};
use crate::failure::Failure;
use crate::world::World;

pub fn run(args: args::Checkpoints) -> Result<ExitCode, Failure> {
    let world = World::look();
    let wanted = Wanted {
        tool: "checkpoints",
        session: None,
        output: args.output,
        save: None,
        answers: &[],
        shape: Shape::default(),
    };
    let ground = Ground::find(&world, &args.place)?;
    let effective = ground.configure(&world, &Standing::default())?;
    perform(&world, &ground, effective, &wanted, |_, _| {
        let limit = args.limit.map(|limit| ("limit".to_owned(), limit.into()));
        Ok(Gathered { arguments: Map::from_iter(limit), took_stdin: false })
    })
}
