//! A second filter on top of the one that refuses: it stops a command at calls that somebody outside has to see to first.
//! Those that connect a socket are made out there in its place ([`crate::connect`]); before those that change files by
//! name, what they change is kept ([`crate::record`]). Where nobody hears of them, there are no sockets with names.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use serde::{Deserialize, Serialize};

use super::filter::{Program, Rule, When, program};
use super::syscalls::{NO_NAMES, refusing};
use super::{Kind, Refusal, base, take_beside};
use crate::record;

/// The name of what cannot be had where the kernel refuses it: below a filter that asks already, such as some containers
/// have, there is no second one.
const GUARANTEE: &str = "a record of what it changes";
/// What is sent beside the kernel's end, or without it.
const HEARD: &[u8] = b"!";

/// At which of its calls a command stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stops {
    /// Those by which a socket listens, and those that connect one.
    AtConnects,
    /// Those that change files, too.
    AtChanges,
    /// Those alone: nobody can make connections in its place.
    AtChangesAlone,
}

impl Stops {
    /// Whether somebody keeps what it changes.
    pub(crate) fn records(self) -> bool {
        self != Stops::AtConnects
    }

    fn connects(self) -> bool {
        self != Stops::AtChangesAlone
    }
}

/// A way on which the kernel's end of the filter comes: ours and the command's.
pub(crate) fn hearing() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// What came on it, if the kernel gave any. A command that runs has sent it before.
pub(crate) fn heard(ours: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    Ok(take_beside(ours, &mut [0; 1])?.and_then(|(_, mut fds)| fds.pop()))
}

/// Puts this process and all that it starts under the filter, and sends the kernel's end of it over the descriptor. From
/// then on a call that stops waits for whoever holds that end.
pub(super) fn begin(stops: Option<&(Stops, OwnedFd)>, kind: Kind) -> Result<(), Refusal> {
    let failed = |error: io::Error| Refusal::of(GUARANTEE, "seccomp", error);
    let built = |filter: Result<Program, String>| {
        filter.map_err(|why| Refusal { guarantee: Some(GUARANTEE.to_owned()), why, errno: None })
    };
    let listener = match stops {
        // Alone with Landlock and seccomp it has no socket at all.
        Some((Stops::AtConnects, _)) if kind != Kind::Contained => None,
        Some((stops, _)) => match base::listen(&built(stopping(*stops))?) {
            Ok(listener) => Some(listener),
            Err(error) if stops.records() => return Err(failed(error)),
            Err(_) => None,
        },
        None => None,
    };
    let has_names = listener.is_some() && stops.is_some_and(|(stops, _)| stops.connects());
    if !has_names {
        let without = built(refusing(&[NO_NAMES]))?;
        base::confine(&without).map_err(|error| Refusal::of("seccomp", "seccomp", error))?;
    }
    match (stops, listener) {
        (Some((_, to)), Some(listener)) => base::send_fd(to, listener.as_fd()).map_err(failed),
        (Some((_, to)), None) => rustix::io::write(to, HEARD).map(drop).map_err(|error| failed(error.into())),
        (None, _) => Ok(()),
    }
}

fn stopping(stops: Stops) -> Result<Program, String> {
    // A call of the x32 table the first filter refuses.
    program(&rules(stops), libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_ALLOW)
}

fn rules(stops: Stops) -> Vec<Rule> {
    let changes = if stops.records() { record::CALLS } else { &[] };
    let changes = changes.iter().copied().flatten().map(|(call, when, _)| (*call, *when));
    let connects: &[libc::c_long] = if stops.connects() { &[libc::SYS_connect, libc::SYS_listen] } else { &[] };
    let connects = connects.iter().map(|call| (*call, When::Always));
    changes.chain(connects).map(|(call, when)| (call, when, libc::SECCOMP_RET_USER_NOTIF)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::filter::tests::holds;
    use super::*;

    #[test]
    fn the_filter_asks_and_refuses_nothing() {
        for stops in [Stops::AtConnects, Stops::AtChanges, Stops::AtChangesAlone] {
            let filter = stopping(stops).expect("it compiles");
            let ends = filter.iter().filter(|op| u32::from(op.code) == libc::BPF_RET | libc::BPF_K).map(|op| op.k);
            let mut ends: Vec<u32> = ends.collect();
            ends.sort_unstable();
            ends.dedup();
            // Another architecture's table: the first filter ends such a process, too.
            let killed = libc::SECCOMP_RET_KILL_PROCESS;
            let mut wanted = vec![libc::SECCOMP_RET_USER_NOTIF, libc::SECCOMP_RET_ALLOW, killed];
            wanted.sort_unstable();
            assert_eq!(ends, wanted);
            holds(&rules(stops), libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_ALLOW);
        }
    }
}
