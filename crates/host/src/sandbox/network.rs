//! A network that several commands have in common, with a loopback device and nothing else: so a call reaches the server
//! that another one's job is.
//!
//! It belongs to a user namespace in which no command runs. Those that share it have worlds below that one, side by side:
//! none has power over another's, nor over the network itself.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, set_parent_process_death_signal, waitpid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::base::{self, Side};
use super::init::map_users;

/// See the module's page. It is there as long as anybody has it or runs in it.
#[derive(Debug)]
pub(crate) struct Network {
    users: OwnedFd,
    net: OwnedFd,
}

impl Network {
    /// Makes one.
    pub(crate) fn make() -> io::Result<Network> {
        let (go, go_in) = pipe_with(PipeFlags::CLOEXEC)?;
        let namespaces = libc::CLONE_NEWUSER | libc::CLONE_NEWNET;
        // The child makes system calls and nothing else, as its parent may have threads.
        let pid = match base::clone(namespaces)? {
            Side::Child => {
                let _ = set_parent_process_death_signal(Some(Signal::KILL));
                // Its own copy would keep the pipe open, and it would wait for ever.
                drop(go_in);
                let told = rustix::io::read(&go, &mut [0]);
                let up = matches!(told, Ok(1)) && base::loopback_up().is_ok();
                base::exit(i32::from(!up))
            }
            Side::Parent(pid) => Pid::from_raw(pid).ok_or_else(|| io::Error::other("no process"))?,
        };
        let made = (|| {
            map_users(pid)?;
            let open = |kind: &str| {
                let at = format!("/proc/{}/ns/{kind}", pid.as_raw_nonzero());
                openat(CWD, at, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            };
            let made = Network { users: open("user")?, net: open("net")? };
            rustix::io::write(&go_in, b"!")?;
            Ok(made)
        })();
        // Without the byte it ends at once.
        drop(go_in);
        let ended = rustix::io::retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()))?;
        let up = ended.is_some_and(|(_, status)| status.exit_status() == Some(0));
        made.and_then(|made| if up { Ok(made) } else { Err(io::Error::other("no loopback device in a network")) })
    }

    /// Its two parts, for whoever starts a command in it.
    pub(crate) fn parts(&self) -> [BorrowedFd<'_>; 2] {
        [self.users.as_fd(), self.net.as_fd()]
    }

    /// What was handed over as [`Network::parts`].
    pub(crate) fn of(users: OwnedFd, net: OwnedFd) -> Network {
        Network { users, net }
    }

    /// Copies this process, which has one thread, into `namespaces` of its own below the network, and no network of its own.
    /// The copy's users are mapped.
    pub(super) fn clone_into(&self, namespaces: libc::c_int) -> io::Result<Side> {
        let (said, says) = pipe_with(PipeFlags::CLOEXEC)?;
        // Who enters the network's users cannot come back: another process goes there, and has its child here.
        let between = match base::clone(0)? {
            Side::Child => {
                drop(said);
                return match self
                    .enter()
                    .and_then(|()| base::clone((namespaces & !libc::CLONE_NEWNET) | libc::CLONE_PARENT))
                {
                    Ok(Side::Child) => Ok(Side::Child),
                    Ok(Side::Parent(pid)) => {
                        let mapped = Pid::from_raw(pid).is_some_and(|pid| map_users(pid).is_ok());
                        let _ = rustix::io::write(&says, &pid.to_ne_bytes());
                        base::exit(i32::from(!mapped))
                    }
                    Err(error) => base::exit(error.raw_os_error().unwrap_or(1).clamp(1, 255)),
                };
            }
            Side::Parent(pid) => Pid::from_raw(pid).ok_or_else(|| io::Error::other("no process"))?,
        };
        drop(says);
        let mut pid = [0; 4];
        let said = rustix::io::retry_on_intr(|| rustix::io::read(&said, &mut pid));
        let ended = rustix::io::retry_on_intr(|| waitpid(Some(between), WaitOptions::empty()))?;
        let pid = matches!(said, Ok(4)).then(|| i32::from_ne_bytes(pid));
        match (ended.and_then(|(_, status)| status.exit_status()), pid) {
            (Some(0), Some(pid)) => Ok(Side::Parent(pid)),
            (_, Some(pid)) => {
                if let Some(pid) = Pid::from_raw(pid) {
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                    let _ = waitpid(Some(pid), WaitOptions::empty());
                }
                Err(io::Error::other("its users cannot be mapped"))
            }
            (Some(error), None) => Err(io::Error::from_raw_os_error(error)),
            (None, None) => Err(io::Error::other("it ended on the way there")),
        }
    }

    fn enter(&self) -> io::Result<()> {
        move_into_link_name_space(self.users.as_fd(), Some(LinkNameSpaceType::User))?;
        Ok(move_into_link_name_space(self.net.as_fd(), Some(LinkNameSpaceType::Network))?)
    }
}
