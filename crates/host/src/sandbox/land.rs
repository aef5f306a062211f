//! The Landlock layer: what was forgotten among the mounts cannot be written either.
//!
//! It allows reading everywhere and writing at the few places that are meant for it. What it cannot say (deny below
//! what is allowed, modes, times, sockets by path) is the mounts' and seccomp's part.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, RestrictionStatus,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
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

/// Puts this process and all that it starts under the profile's rules, for good; `caches` are directories that it may write
/// besides.
pub(super) fn confine(profile: &Profile, kind: Kind, caches: &[OwnedFd]) -> Result<(), Refusal> {
    rules(profile, kind, caches).map_err(|error| Refusal {
        guarantee: Some("Landlock".to_owned()),
        why: error.to_string(),
        errno: None,
    })
}

/// Keeps this process from every file, network and other process, for good: no rule lets it to any. What it has open
/// stays open. Without Landlock nothing is kept; the error says so.
pub(super) fn keep_from_all() -> Result<(), Box<dyn std::error::Error>> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    enforced(&ruleset.create()?.restrict_self()?)
}

fn enforced(status: &RestrictionStatus) -> Result<(), Box<dyn std::error::Error>> {
    match status.ruleset {
        RulesetStatus::NotEnforced => Err("no rule is in force".into()),
        _ => Ok(()),
    }
}

fn rules(profile: &Profile, kind: Kind, caches: &[OwnedFd]) -> Result<(), Box<dyn std::error::Error>> {
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
        for cache in caches {
            ruleset = ruleset.add_rule(PathBeneath::new(cache.as_fd(), all))?;
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
    enforced(&ruleset.restrict_self()?)
}

fn beneath(
    path: impl AsRef<Path>,
    access: impl Into<BitFlags<AccessFs>>,
) -> Result<PathBeneath<PathFd>, landlock::PathFdError> {
    Ok(PathBeneath::new(PathFd::new(path)?, access))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{ErrorKind, Read};

    #[test]
    fn what_is_kept_from_all_reads_only_what_it_has_open() {
        // Rules hold for the thread that takes them.
        let tried = std::thread::spawn(|| {
            let mut open = File::open("/proc/self/status").expect("ours");
            super::keep_from_all().map_err(|error| error.to_string())?;
            let denied = ["/etc/passwd", "/proc/self/status", "/dev/null"]
                .map(|path| File::open(path).expect_err("no rule lets it").kind());
            let mut text = String::new();
            let read = open.read_to_string(&mut text).is_ok();
            Ok::<_, String>((denied, std::fs::read_dir("/").map(drop).map_err(|error| error.kind()), read))
        });
        let told = tried.join().expect("it lives");
        if let (Err(why), Err(lacking)) = (&told, super::floor()) {
            println!("skipped: {why}; {lacking}");
            return;
        }
        let no = ErrorKind::PermissionDenied;
        assert_eq!(told, Ok(([no; 3], Err(no), true)));
    }
}
