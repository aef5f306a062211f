//! `nika trust`: shows what a repository brings, and lets it loosen permissions once a person says yes.

use nika_contract::{ToolError, code};

use crate::args::{self, Standing, Where};
use crate::ask::{Confirmed, confirmed};
use crate::compose::Ground;
use crate::failure::Failure;
use crate::out;
use crate::trust::{self, Trust};
use crate::world::World;

pub fn run(args: &args::Trust) -> Result<(), Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &Where { roots: args.root.iter().cloned().collect() })?;
    let (root, store) = (ground.root(), ground.trust_store());
    if args.revoke {
        let had = trust::revoke(root, &store)?;
        return Ok(out::line(if had { "Not trusted any more." } else { "It was not trusted." })?);
    }
    if args.status {
        // Through the configuration: a `trusted: false` there has a say as well.
        let effective = ground.configure(&world, &Standing::default())?;
        return Ok(out::line(&effective.trusted.describe())?);
    }
    if let Trust::Refused { at } = ground.configure(&world, &Standing::default())?.trusted {
        let message = format!("{at} says `trusted: false`, which wins over any trust; nothing was trusted");
        return Err(ToolError::new(code::PERMISSION_DENIED, message).hint("take that line out first").into());
    }
    let brought = trust::brought(root)?;
    if brought.is_empty() {
        return Ok(out::line("There is nothing to trust: this repository brings no configuration.")?);
    }
    let names: Vec<String> = brought.files.keys().map(|name| format!("  {name}")).collect();
    out::line(&format!("{} brings:\n{}", root.display(), names.join("\n")))?;
    if !args.yes && confirmed(&world, QUESTION)? != Confirmed::Yes {
        return Err(declined());
    }
    let granted = trust::grant(root, &store)?;
    if granted.digest() != brought.digest() {
        trust::revoke(root, &store)?;
        let message = "these files changed while you were asked, so nothing was trusted";
        return Err(ToolError::new(code::PERMISSION_DENIED, message).hint("look at them again").into());
    }
    Ok(out::line("Trusted, until one of these files changes. `nika trust --revoke` takes it back.")?)
}

const QUESTION: &str = "May these files loosen what calls may do here? [y]es, [N]o:";

fn declined() -> Failure {
    ToolError::new(code::PERMISSION_DENIED, "nothing was trusted: no person said yes")
        .hint("answer at a terminal, or pass --yes")
        .into()
}
