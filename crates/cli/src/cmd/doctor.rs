//! `nika doctor`: each guarantee of the sandbox, proved by trying to break it on this machine.
//!
//! The attempts are made by this program, run again inside; they are the host's, this file only shows what came of
//! them.

use std::fmt::Write as _;
use std::fs::canonicalize;
use std::process::ExitCode;

use nika_contract::{ToolError, code};
use nika_guard::profile::{Access, Held};
use nika_host::sandbox::cgroup;
use nika_host::sandbox::probe::{Outcome, Scene, Stage, Way, attempt_all};
use serde_json::{Value, json};

use crate::args::{self, Format};
use crate::cmd::sandbox::refused;
use crate::failure::{FAILED, Failure};
use crate::out;
use crate::world::World;

pub fn run(args: &args::Doctor) -> Result<ExitCode, Failure> {
    let world = World::look();
    let base = world.state_base()?.join(format!("doctor-{}", world.pid));
    let unusable = |error| ToolError::new(code::STATE_UNUSABLE, format!("{} cannot be used: {error}", base.display()));
    let exe = canonicalize(world.exe()).unwrap_or_else(|_| world.exe());
    let mut stage = Stage::new(&base, &exe).map_err(unusable)?;
    let mut tried = Vec::new();
    for access in [Access::ReadOnly, Access::Workspace] {
        match stage.attempt(access, Way { landlock_only: args.landlock_only, ..Way::default() }) {
            Ok((held, outcomes)) => tried.push((held, outcomes)),
            Err(refusal) => {
                drop(stage);
                return Err(refused(&refusal));
            }
        }
    }
    drop(stage);
    let broken = tried.iter().flat_map(|(_, outcomes)| outcomes).filter(|outcome| !outcome.held).count();
    match args.output {
        Format::Json => out::json(&as_json(&tried, broken))?,
        Format::Text => out::print(&as_text(&tried, broken, args.all))?,
    }
    Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// Makes the attempts, inside.
pub fn probe(scene: &str) -> Result<ExitCode, Failure> {
    let scene: Scene =
        serde_json::from_str(scene).map_err(|error| Failure::usage(format!("this is no scene: {error}")))?;
    let mut wrong = Ok(());
    attempt_all(&scene, &mut |outcome| {
        if let Ok(line) = serde_json::to_value(&outcome)
            && wrong.is_ok()
        {
            wrong = out::json(&line);
        }
    });
    wrong?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(tried: &[(Held, Vec<Outcome>)], broken: usize) -> Value {
    let profiles: Vec<Value> = tried
        .iter()
        .map(|(held, outcomes)| json!({ "profile": held.profile, "missing": held.missing, "attempts": outcomes }))
        .collect();
    let group = match cgroup::delegated() {
        Ok(group) => json!({ "delegated": group }),
        Err(why) => json!({ "delegated": null, "why": why }),
    };
    json!({ "ok": broken == 0, "broken": broken, "profiles": profiles, "cgroup": group })
}

fn as_text(tried: &[(Held, Vec<Outcome>)], broken: usize, all: bool) -> String {
    let mut text = String::new();
    for (held, outcomes) in tried {
        let fine = outcomes.iter().filter(|outcome| outcome.held).count();
        let _ = writeln!(text, "{}: {fine} of {} held", held.profile, outcomes.len());
        for missing in &held.missing {
            let _ = writeln!(text, "  not guaranteed: {missing}");
        }
        for outcome in outcomes.iter().filter(|outcome| all || !outcome.held) {
            let mark = if outcome.held { '✓' } else { '✗' };
            let _ = writeln!(text, "  {mark} {:22} {} ({})", outcome.name, outcome.tried, outcome.saw);
        }
    }
    let bounds = "memory is bounded for each process and counted over all processes of a command";
    let _ = match cgroup::delegated() {
        Ok(group) => {
            writeln!(
                text,
                "limits: {bounds}; cgroup v2 could bound it as a whole ({}) and is not used",
                group.display()
            )
        }
        Err(why) => writeln!(text, "limits: {bounds}; cgroup v2 could not bound it as a whole: {why}"),
    };
    let _ = match broken {
        0 => writeln!(text, "Every guarantee held. `--all` lists what was tried."),
        1 => writeln!(text, "One guarantee did not hold."),
        n => writeln!(text, "{n} guarantees did not hold."),
    };
    text
}
