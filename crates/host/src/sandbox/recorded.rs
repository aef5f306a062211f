//! A second filter on top of the one that refuses: it stops a command at the calls that change files by name, until
//! somebody outside has kept what they change ([`crate::record`]). It refuses nothing by itself.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::filter::{Program, Rule, program};
use super::{Refusal, base};
use crate::record;

/// The name of what cannot be had where the kernel refuses it: below a filter that asks already, such as some containers
/// have, there is no second one.
const GUARANTEE: &str = "a record of what it changes";

/// Puts this process and all that it starts under the filter, and sends the kernel's end of it over `to`. From then on a
/// call that changes files waits for whoever holds that end.
pub(super) fn begin(to: &OwnedFd) -> Result<(), Refusal> {
    let filter = asking().map_err(|why| Refusal { guarantee: Some(GUARANTEE.to_owned()), why, errno: None })?;
    let failed = |error: io::Error| Refusal::of(GUARANTEE, "seccomp", error);
    let listener = base::listen(&filter).map_err(failed)?;
    base::send_fd(to, listener.as_fd()).map_err(failed)
}

fn asking() -> Result<Program, String> {
    // A call of the x32 table the first filter refuses.
    program(&rules(), libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_ALLOW)
}

fn rules() -> Vec<Rule> {
    record::CALLS
        .iter()
        .copied()
        .flatten()
        .map(|(call, when, _)| (*call, *when, libc::SECCOMP_RET_USER_NOTIF))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::filter::tests::holds;
    use super::*;

    #[test]
    fn the_filter_asks_and_refuses_nothing() {
        let filter = asking().expect("it compiles");
        let ends = filter.iter().filter(|op| u32::from(op.code) == libc::BPF_RET | libc::BPF_K).map(|op| op.k);
        let mut ends: Vec<u32> = ends.collect();
        ends.sort_unstable();
        ends.dedup();
        // Another architecture's table: the first filter ends such a process, too.
        let killed = libc::SECCOMP_RET_KILL_PROCESS;
        let mut wanted = vec![libc::SECCOMP_RET_USER_NOTIF, libc::SECCOMP_RET_ALLOW, killed];
        wanted.sort_unstable();
        assert_eq!(ends, wanted);
        holds(&rules(), libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_ALLOW);
    }
}
