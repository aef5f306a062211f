//! `nika config`: every value in force with the place it was written, and what is written and not in force.

use crate::args::{self, Format};
use crate::compose::Ground;
use crate::config::Shown;
use crate::failure::Failure;
use crate::out;
use crate::world::World;

pub fn run(args: &args::Config) -> Result<(), Failure> {
    let world = World::look();
    let effective = Ground::find(&world, &args.place)?.configure(&world, &args.standing)?;
    if args.output == Format::Json {
        return Ok(out::pretty(&effective.to_json())?);
    }
    let mut text = out::table(&effective.shown.iter().map(row).collect::<Vec<_>>());
    if !effective.inactive.is_empty() {
        text.push_str("\nNot in force:\n");
        text.push_str(&out::table(&effective.inactive.iter().map(row).collect::<Vec<_>>()));
    }
    text.push_str(&format!("\nThis repository: {}.\n", effective.trusted.describe()));
    Ok(out::print(&text)?)
}

fn row(shown: &Shown) -> Vec<String> {
    let mut row = vec![shown.key.clone(), shown.value.clone(), shown.at.clone()];
    row.extend([&shown.why, &shown.remark].into_iter().flatten().map(|text| format!("({text})")));
    row
}
