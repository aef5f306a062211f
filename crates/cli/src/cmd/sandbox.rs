//! `nika sandbox exec`: any program, held to a profile. What it prints and its exit code are its own.

use std::fs::canonicalize;
use std::process::ExitCode;

use nika_contract::{ToolError, code};
use nika_guard::profile::{Access, Profile, environment};
use nika_host::sandbox::{Linked, Reach, Refusal, Target, run as run_confined, scan, secrets_at_home};

use crate::args::{self, SandboxCommand, SandboxProfile};
use crate::compose::Ground;
use crate::failure::Failure;
use crate::out;
use crate::world::World;

/// What ended for its own time, in the convention of `timeout`.
const STOPPED: u8 = 124;
/// Added to the number of a signal.
const SIGNALLED: u8 = 128;

pub fn run(args: args::Sandbox) -> Result<ExitCode, Failure> {
    let SandboxCommand::Exec(args) = args.command;
    let world = World::look();
    let profile = profile(&world, &args)?;
    let mut reach = Reach::new(profile.hosts.clone());
    reach.log = Box::new(|visit| {
        if let Some(refused) = &visit.refused {
            out::complain(&format!("nika: {}:{} was not reached: {refused}", visit.host, visit.port));
        }
    });
    let finished =
        run_confined(&profile, Target::new(args.command), Some(reach)).map_err(|refusal| refused(&refusal))?;
    for missing in &finished.held.missing {
        out::complain(&format!("nika: not guaranteed: {missing}"));
    }
    for aside in &finished.aside {
        out::complain(&format!("nika: this name is guarded; what was made there is now {}", aside.display()));
    }
    Ok(ExitCode::from(match (finished.ended, finished.interrupted) {
        (Some(ended), _) => ended.code(),
        (None, Some(signal)) => SIGNALLED.saturating_add(u8::try_from(signal).unwrap_or(0)),
        (None, None) => STOPPED,
    }))
}

fn profile(world: &World, args: &args::SandboxExec) -> Result<Profile, Failure> {
    let ground = Ground::find(world, &args.place)?;
    let home = match &args.home {
        Some(home) => {
            canonicalize(home).map_err(|error| Failure::usage(format!("--home {}: {error}", home.display())))?
        }
        None => world.home.clone().unwrap_or_else(|| ground.root().to_owned()),
    };
    let access = match args.profile {
        SandboxProfile::ReadOnly => Access::ReadOnly,
        SandboxProfile::Workspace => Access::Workspace,
    };
    let mut profile = Profile::new(access, ground.root(), &home);
    profile.roots = ground.roots().to_vec();
    // Where the caller stands, when that is in a root.
    if let Ok(cwd) = world.cwd()
        && profile.roots.iter().any(|root| cwd.starts_with(root))
    {
        profile.cwd = cwd;
    }
    for root in ground.roots() {
        scan(root, &world.git()).put_into(&mut profile);
    }
    for linked in ground.roots().iter().filter_map(|root| Linked::of(root)) {
        linked.put_into(&mut profile);
    }
    for home in world.home.iter().chain([&home]) {
        profile.secrets.extend(secrets_at_home(home));
    }
    profile.masked.extend(canonicalize(ground.base()));
    if let Some(host) = args.allow_host.iter().find(|host| !Reach::is_entry(host)) {
        let what = "write `example.com`, `*.example.com`, an address, or `*` for all; no scheme, port or path";
        return Err(Failure::usage(format!("--allow-host: {host:?} is no host; {what}")));
    }
    if let Some(host) = args.allow_host.iter().find(|host| Reach::is_never(host)) {
        let what = "is of this machine or of a private network, which a command does not reach by name or address";
        return Err(Failure::usage(format!("--allow-host: {host} {what}")));
    }
    if args.landlock_only && !args.allow_host.is_empty() {
        let why = "Landlock alone lets a command open no socket, so that it reaches no host";
        return Err(Failure::usage(format!("--allow-host does not go with --landlock-only: {why}")));
    }
    profile.hosts = args.allow_host.clone();
    profile.env = environment(world.variables());
    profile.env.retain(|(name, _)| name != "HOME");
    profile.env.extend(home.to_str().map(|home| ("HOME".to_owned(), home.to_owned())));
    profile.landlock_only = args.landlock_only;
    Ok(profile)
}

/// A refusal, as what a person reads.
pub fn refused(refusal: &Refusal) -> Failure {
    match &refusal.guarantee {
        Some(_) => {
            let hint = "`nika doctor` tries every guarantee; `--landlock-only` makes do without namespaces";
            ToolError::new(code::NOT_CONFINED, refusal.to_string()).hint(hint).into()
        }
        None => ToolError::new(code::NOT_STARTED, refusal.to_string()).into(),
    }
}
