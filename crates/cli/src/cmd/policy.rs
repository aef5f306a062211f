//! `nika policy`: what the policy says to commands, without running any.

mod check;
mod explain;
mod replay;
mod rules;
#[cfg(test)]
mod same;

pub use check::kind;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use nika_guard::bash::Site;
use nika_guard::repository::Assumed;
use nika_guard::{Policy, Stance};
use nika_host::fs::Workspace;
use nika_host::git::Finder;
use nika_tools::shell::command::{self, Command};

use crate::args::{self, PolicyCommand, Standing, Where};
use crate::compose::{Ground, command_env, open_files};
use crate::config::Effective;
use crate::failure::Failure;
use crate::world::World;

pub fn run(args: args::Policy) -> Result<ExitCode, Failure> {
    match args.what {
        PolicyCommand::Check(args) => check::run(&args),
        PolicyCommand::Explain(args) => explain::run(&args),
        PolicyCommand::Test { output, place, standing } => rules::run(output, &place, &standing),
        PolicyCommand::Replay(args) => replay::run(&args),
    }
}

/// The roots, which need not exist.
fn ground(world: &World, place: &Where) -> Result<Ground, Failure> {
    match Ground::find(world, place) {
        Err(_) if place.roots.iter().any(|root| !root.exists()) => Ground::on_paper(world, place),
        found => found,
    }
}

/// Where commands are judged, and by what.
pub struct Court {
    effective: Effective,
    site: Site,
    /// The roots, where they exist: then links are followed.
    files: Option<Workspace>,
}

impl Court {
    /// Roots and home need not exist.
    fn new(place: &Where, home: Option<&Path>, standing: &Standing) -> Result<Court, Failure> {
        let mut world = World::look();
        if let Some(home) = home {
            // What `~` means may not depend on where a command would stand.
            world.home = Some(world.cwd()?.join(home));
        }
        Court::in_world(&world, place, standing)
    }

    fn in_world(world: &World, place: &Where, standing: &Standing) -> Result<Court, Failure> {
        let ground = ground(world, place)?;
        let effective = ground.configure(world, standing)?;
        let files = if ground.root().exists() { Some(open_files(world, &ground, &effective)?) } else { None };
        let home = world.home.clone().unwrap_or_else(|| PathBuf::from("/nonexistent"));
        let mut site = Site::on_paper(ground.roots.clone(), ground.root().to_owned(), home.clone());
        if files.is_some() {
            let mut env = command_env(world, &effective);
            site.scratch.shared = true;
            site = site.seeing(env.iter().map(|(name, _)| name));
            env.retain(|(name, _)| name != "HOME");
            env.push(("HOME".to_owned(), home.display().to_string()));
            site.repositories = Some(Arc::new(Finder::new(&env, ground.roots.clone())));
        } else {
            // Nothing on disk says otherwise, so each root is taken for the top of a work tree.
            site.repositories = Some(Arc::new(Assumed(ground.roots.clone())));
        }
        Ok(Court { effective, site, files })
    }

    fn read(&self, text: &str) -> Command {
        match &self.files {
            Some(files) => command::read(text, &self.site, &|target| command::place_in(files, target)),
            None => command::read(text, &self.site, &|target| command::place_on_paper(&self.site.roots, target)),
        }
    }

    fn policy(&self) -> &Policy {
        &self.effective.policy
    }

    fn stance(&self) -> &Stance {
        &self.effective.stance
    }
}
