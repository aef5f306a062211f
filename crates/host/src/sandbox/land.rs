//! The Landlock layer: what was forgotten among the mounts cannot be written either.
//!
//! It allows reading everywhere and writing at the few places that are meant for it. What it cannot say (deny below
//! what is allowed, modes, times, sockets by path) is the mounts' and seccomp's part.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, Scope,
};
use nika_guard::profile::{Access, Profile};

use super::init::Kind;
use super::{Refusal, base};

/// The newest version that this knows how to use; older kernels get what they have.
const NEWEST: ABI = ABI::V7;
/// The oldest that is enough: it covers truncation and moves between directories (Linux 6.2).
const FLOOR: i64 = 3;

/// Devices that say nothing and keep nothing.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"];
/// What a contained command has for itself.
const PRIVATE: &[&str] = &["/tmp", "/var/tmp", "/dev/shm", "/dev/pts"];

/// Whether the kernel has Landlock, new enough.
pub(super) fn floor() -> Result<(), Refusal> {
    match base::landlock_abi() {
        Ok(abi) if abi >= FLOOR => Ok(()),
        Ok(abi) => Err(Refusal {
            guarantee: Some("Landlock".to_owned()),
            why: format!("the kernel has version {abi}, and {FLOOR} (Linux 6.2) is needed"),
            errno: None,
        }),
        Err(error) => Err(Refusal::of("Landlock", "the kernel has none, or it is switched off", error)),
    }
}

/// Puts this process and all that it starts under the profile's rules, for good.
pub(super) fn confine(profile: &Profile, kind: Kind) -> Result<(), Refusal> {
    rules(profile, kind).map_err(|error| Refusal {
        guarantee: Some("Landlock".to_owned()),
        why: error.to_string(),
        errno: None,
    })
}

fn rules(profile: &Profile, kind: Kind) -> Result<(), Box<dyn std::error::Error>> {
    let all = AccessFs::from_all(NEWEST);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(NEWEST))?;
    if kind == Kind::LandlockOnly {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    let mut ruleset = ruleset.create()?.add_rule(beneath("/", AccessFs::from_read(NEWEST))?)?;
    for device in DEVICES {
        let access = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        if let Ok(rule) = beneath(device, access) {
            ruleset = ruleset.add_rule(rule)?;
        }
    }
    if kind == Kind::Contained {
        for place in PRIVATE {
            if let Ok(rule) = beneath(place, all) {
                ruleset = ruleset.add_rule(rule)?;
            }
        }
    }
    if profile.access == Access::Workspace {
        for root in &profile.roots {
            ruleset = ruleset.add_rule(beneath(root, all)?)?;
        }
        // The mounts protect what is in it; without them it stays as it is.
        let shared = profile.repositories.iter().filter(|one| one.is_open() && kind == Kind::Contained);
        for repository in shared {
            // Git makes `packed-refs` and its locks right in it. A directory made there could be its hooks.
            let files = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::MakeReg | AccessFs::RemoveFile;
            ruleset = ruleset.add_rule(beneath(&repository.common, files)?)?;
            for open in &repository.open {
                ruleset = ruleset.add_rule(beneath(open, all)?)?;
            }
        }
    }
    let status = ruleset.restrict_self()?;
    match status.ruleset {
        landlock::RulesetStatus::NotEnforced => Err("no rule is in force".into()),
        _ => Ok(()),
    }
}

fn beneath(
    path: impl AsRef<Path>,
    access: impl Into<BitFlags<AccessFs>>,
) -> Result<PathBeneath<PathFd>, landlock::PathFdError> {
    Ok(PathBeneath::new(PathFd::new(path)?, access))
}
