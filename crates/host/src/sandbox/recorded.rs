//! A second filter on top of the one that refuses: it stops a command at the calls that change files by name, until
//! somebody outside has kept what they change ([`crate::record`]). It refuses nothing by itself.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use seccompiler::{BpfProgram, SeccompAction, SeccompRule};

use super::{Refusal, base, syscalls};
use crate::record;

/// The name of what cannot be had where the kernel refuses it: below a filter that asks already, such as some containers
/// have, there is no second one.
const GUARANTEE: &str = "a record of what it changes";

/// Puts this process and all that it starts under the filter, and sends the kernel's end of it over `to`. From then on a
/// call that changes files waits for whoever holds that end.
pub(super) fn begin(to: &OwnedFd) -> Result<(), Refusal> {
    let filter = program().map_err(|why| Refusal { guarantee: Some(GUARANTEE.to_owned()), why, errno: None })?;
    let failed = |error: io::Error| Refusal::of(GUARANTEE, "seccomp", error);
    let listener = base::listen(&filter).map_err(failed)?;
    base::send_fd(to, listener.as_fd()).map_err(failed)
}

fn program() -> Result<BpfProgram, String> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (call, when, _) in record::CALLS.iter().copied().flatten() {
        rules.insert(*call, syscalls::conditions(*when).map_err(|error| error.to_string())?);
    }
    // The builder has no word for "ask": another that the filters here do not use stands for it.
    let mut filter = syscalls::compiled(rules, SeccompAction::Trace(0))?;
    for op in &mut filter {
        if u32::from(op.code) == libc::BPF_RET | libc::BPF_K && op.k == libc::SECCOMP_RET_TRACE {
            op.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    Ok(filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_asks_and_refuses_nothing() {
        let filter = program().expect("it compiles");
        let ends = filter.iter().filter(|op| u32::from(op.code) == libc::BPF_RET | libc::BPF_K).map(|op| op.k);
        let mut ends: Vec<u32> = ends.collect();
        ends.sort_unstable();
        ends.dedup();
        // Another architecture's table: the first filter ends such a process, too.
        let killed = libc::SECCOMP_RET_KILL_PROCESS;
        let mut wanted = vec![libc::SECCOMP_RET_USER_NOTIF, libc::SECCOMP_RET_ALLOW, killed];
        wanted.sort_unstable();
        assert_eq!(ends, wanted);
        assert!(filter.len() < 4096, "{}", filter.len());
    }
}
