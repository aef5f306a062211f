//! A program that is talked to over pipes for as long as it is wanted: somebody else's server.
//!
//! A person's configuration names it ([`Configured`]), as it starts before any call is judged and serves many. It is
//! supervised and confined as any command is, and ends, with all that it started, when its [`Peer`] is dropped.
//! What its supervisor reports is taken as it comes: reports that nobody reads would fill the socket, and the proxy would
//! wait with the next connection until somebody does.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use nika_guard::Configured;
use nika_guard::profile::Profile;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{Shutdown, shutdown};
use rustix::pipe::{PipeFlags, pipe_with};

use super::begun::Begun;
use super::order::{Order, Program};
use super::{Jobs, StartError, lock, random_word};
use crate::proc::wire::{self, Held, Lines, Report};

/// How many hosts that were asked for in vain are remembered.
const MOST_REFUSED: usize = 8;

/// Our ends of a peer's pipes; none of them blocks.
#[derive(Debug)]
pub struct PeerPipes {
    /// What it reads.
    pub stdin: OwnedFd,
    /// What it answers.
    pub stdout: OwnedFd,
    /// What it complains of.
    pub stderr: OwnedFd,
}

/// A program at work. Dropped, it is ended with all that it started.
pub struct Peer {
    held: Held,
    child: Child,
    line: Arc<Line>,
    reader: Option<JoinHandle<()>>,
}

/// The way to its supervisor.
struct Line {
    /// Shut when the peer is dropped: its end is the supervisor's sign to end everything.
    link: OwnedFd,
    heard: Mutex<Heard>,
}

/// What its supervisor has said.
#[derive(Debug, Default)]
struct Heard {
    lines: Lines,
    ended: Option<String>,
    refused: Vec<String>,
}

impl Jobs {
    /// Starts what was configured under `profile`; returns when it runs.
    pub fn start_peer(&self, configured: &Configured, profile: Profile) -> Result<(Peer, PeerPipes), StartError> {
        let order =
            Order { background: true, ..Order::new(Program::Argv(configured.argv().to_vec()), profile, String::new()) };
        let wire = order.to_wire(&format!("peer-{}", random_word()?));
        let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from);
        let ((their_in, stdin), (stdout, their_out), (stderr, their_err)) = (pipe()?, pipe()?, pipe()?);
        for ours in [&stdin, &stdout, &stderr] {
            rustix::io::ioctl_fionbio(ours, true).map_err(io::Error::from)?;
        }
        let (link, supervisor) = self.supervisor()?;
        let theirs = [their_in.as_fd(), their_out.as_fd(), their_err.as_fd()];
        let Begun { held, link, supervisor: child, lines, .. } = Begun::of(link, supervisor, &wire, &theirs)?;
        let line = Arc::new(Line { link, heard: Mutex::new(Heard { lines, ..Heard::default() }) });
        let mut peer = Peer { held, child, line: Arc::clone(&line), reader: None };
        let reader = thread::Builder::new().name("peer".to_owned()).stack_size(256 << 10);
        peer.reader = Some(reader.spawn(move || line.follow())?);
        Ok((peer, PeerPipes { stdin, stdout, stderr }))
    }
}

impl Peer {
    /// The profile that holds it.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// How it ended, once it has.
    pub fn ended(&self) -> Option<String> {
        self.line.listen();
        lock(&self.line.heard).ended.clone()
    }

    /// Hosts that it asked for and was not let through to, the first few.
    pub fn refused_hosts(&self) -> Vec<String> {
        self.line.listen();
        lock(&self.line.heard).refused.clone()
    }
}

impl Line {
    /// Listens until there is nothing more to hear.
    fn follow(&self) {
        loop {
            match poll(&mut [PollFd::new(&self.link, PollFlags::IN)], None) {
                Ok(_) if self.listen() => {}
                Err(rustix::io::Errno::INTR) => {}
                _ => return,
            }
        }
    }

    /// Takes as much as lies there; false at the end.
    fn listen(&self) -> bool {
        let mut heard = lock(&self.heard);
        // A reading that brings no line is the last.
        while let Ok(true) = heard.lines.fill(self.link.as_fd()) {
            let mut any = false;
            while let Some(report) = heard.lines.next() {
                any = true;
                match report {
                    Report::Exited(exited) => heard.ended = Some(wire::how_it_ended(&exited)),
                    Report::Reached(reached) if reached.refused.is_some() && heard.refused.len() < MOST_REFUSED => {
                        heard.refused.push(reached.host);
                    }
                    _ => {}
                }
            }
            if !any {
                return true;
            }
        }
        false
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = shutdown(&self.line.link, Shutdown::Both);
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("held", &self.held).finish_non_exhaustive()
    }
}
