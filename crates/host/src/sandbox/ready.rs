//! A world that waits for its command.
//!
//! Making namespaces, the network's above all, takes as long as all the rest of a launch. None of it depends on the
//! command, so whoever expects one makes its world ahead: process 1 is there, knows nothing yet, and waits for a
//! profile, a plan and a command line, all by one message. A world is used once, so nothing of one command is there
//! for the next.
//!
//! What it would see of mounts is as old as it is. So it counts only while this process's table of mounts is the one
//! that it was made from ([`Ready::is_current`]).

use std::ffi::CString;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nika_guard::profile::{Profile, Step};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, waitpid};
use serde::{Deserialize, Serialize};

use super::base::{self, Side};
use super::covers::{Covers, Way};
use super::init::{self, Kind, Stock, Wires};
use super::{Entered, Prepared, Refusal, Stops, handle};

/// Input, output, error, the way to the proxy, and to who hears of changes; an order brings a shared network and a lock, too.
const MOST_FDS: usize = 8;
/// What a message may hold: the longest command line that Linux takes is 2 MiB, and a profile some thousands of places.
const MOST_BYTES: u32 = 16 << 20;

/// See the module's page. Dropped, it is gone.
#[derive(Debug)]
pub(crate) struct Ready {
    init: Waiting,
    pidfd: OwnedFd,
    order: OwnedFd,
    report: OwnedFd,
    status: OwnedFd,
    way: Way,
    mounts: File,
}

/// Process 1 of a world that has no command; killed when nobody has use for it.
#[derive(Debug)]
struct Waiting(Option<Pid>);

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(init) = self.0.take() {
            let _ = rustix::process::kill_process(init, Signal::KILL);
            let _ = waitpid(Some(init), WaitOptions::empty());
        }
    }
}

/// What process 1 is told, its words left out.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    profile: Profile,
    steps: Vec<Step>,
    /// How many of the words are paths of the program, and how many its arguments; the rest is its environment.
    programs: usize,
    argv: usize,
    /// Which of input, output and error come beside it, and whether the way to the proxy does, and to who hears of its
    /// calls.
    stdio: [bool; 3],
    listener: bool,
    stops: Option<Stops>,
    terminal: bool,
}

impl Ready {
    /// Makes a world. An error is the system's: whoever wants a command then starts it the usual way, which names
    /// what is missing.
    pub(crate) fn make() -> io::Result<Ready> {
        // Opened before the world is made, so that no change falls between.
        let mounts = File::open("/proc/self/mountinfo")?;
        let (order, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let (report, report_in) = pipe_with(PipeFlags::CLOEXEC)?;
        let (status, status_in) = pipe_with(PipeFlags::CLOEXEC)?;
        let wires = Wires { go: theirs, report: report_in, status: status_in, listener: None };
        let init = match base::clone(base::NAMESPACES)? {
            Side::Child => wait_for_order(wires),
            Side::Parent(pid) => Pid::from_raw(pid).ok_or_else(|| io::Error::other("no process"))?,
        };
        drop(wires);
        let waiting = Waiting(Some(init));
        let pidfd = handle(init)?;
        let way = Way::to(init).map_err(|refusal| io::Error::other(refusal.why))?;
        init::map_users(init)?;
        rustix::net::send(&order, b"!", SendFlags::NOSIGNAL)?;
        Ok(Ready { init: waiting, pidfd, order, report, status, way, mounts })
    }

    /// Whether it still is what a world made now would be.
    pub(crate) fn is_current(&self) -> bool {
        let mut fds = [PollFd::new(&self.mounts, PollFlags::PRI)];
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|_| fds[0].revents().is_empty())
    }

    /// Becomes ready when it no longer is.
    pub(crate) fn aging(&self) -> PollFd<'_> {
        PollFd::new(&self.mounts, PollFlags::PRI)
    }

    /// Starts `target` in it, as [`init::start`] does.
    pub(super) fn start(self, profile: &Profile, target: &Prepared, steps: &[Step]) -> Result<Entered, Refusal> {
        let Ready { mut init, pidfd, order, report, status, way, mounts: _ } = self;
        let plain = |error: io::Error| Refusal::of("descriptors for the launch", "socket", error);
        let (proxy, listener) = init::proxy(profile, Kind::Contained)?;
        let fds = target.stdio.iter().flatten().chain(&listener).chain(target.ear());
        let fds: Vec<BorrowedFd<'_>> = fds.map(AsFd::as_fd).collect();
        send(&order, profile, target, steps, listener.is_some(), &fds).map_err(plain)?;
        drop(listener);
        init::heard(report)?;
        let pid = init.0.take().expect("nothing but this takes it");
        let covers = Covers::new(way, steps);
        Ok(init::entered(pid, pidfd, status, profile, Kind::Contained, proxy, covers))
    }
}

fn send(
    link: &OwnedFd,
    profile: &Profile,
    target: &Prepared,
    steps: &[Step],
    listener: bool,
    fds: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut brief = profile.clone();
    // In there, the plan stands for these, and the words for that.
    for list in [
        &mut brief.protected,
        &mut brief.absent,
        &mut brief.led,
        &mut brief.included,
        &mut brief.secrets,
        &mut brief.masked,
    ] {
        list.clear();
    }
    brief.env.clear();
    let told = Told {
        profile: brief,
        steps: steps.to_vec(),
        programs: target.programs.len(),
        argv: target.argv.len(),
        stdio: [0, 1, 2].map(|at: usize| target.stdio[at].is_some()),
        listener,
        stops: target.stops.as_ref().map(|(stops, _)| *stops),
        terminal: target.terminal,
    };
    let mut body = vec![0; 8];
    serde_json::to_writer(&mut body, &told)?;
    let told = u32::try_from(body.len() - 8).map_err(io::Error::other)?;
    for word in target.programs.iter().chain(&target.argv).chain(&target.env) {
        body.extend_from_slice(word.as_bytes_with_nul());
    }
    let words = u32::try_from(body.len() - 8).map_err(io::Error::other)? - told;
    body[..4].copy_from_slice(&told.to_ne_bytes());
    body[4..8].copy_from_slice(&words.to_ne_bytes());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other("more descriptors than a world has room for"));
    }
    let sent = rustix::net::sendmsg(link, &[IoSlice::new(&body)], &mut beside, SendFlags::NOSIGNAL)?;
    let mut rest = body.get(sent..).unwrap_or_default();
    while !rest.is_empty() {
        let sent = rustix::io::retry_on_intr(|| rustix::net::send(link, rest, SendFlags::NOSIGNAL))?;
        rest = &rest[sent..];
    }
    Ok(())
}

/// The far side, until it knows what for. Never returns: no destructor of what this is a copy of may run here.
fn wait_for_order(mut wires: Wires) -> ! {
    init::begin_world(&wires, &[]);
    let made = Stock::make(Kind::Contained, true, true).and_then(|stock| {
        let failed = |error| Refusal::of("a launched process", "its order", error);
        let Some((profile, steps, target, listener)) = receive(&wires.go).map_err(failed)? else {
            // Nobody needs it.
            base::exit(125)
        };
        wires.listener = listener;
        init::world(&profile, &target, &steps, Kind::Contained, stock, &mut wires)
    });
    init::end(&wires, made)
}

/// Takes the first bytes of a message into `bytes`, with the descriptors beside them; `None` when the other end is
/// gone. How many bytes came: the rest follows as plain bytes.
pub(crate) fn take_beside(link: impl AsFd, bytes: &mut [u8]) -> io::Result<Option<(usize, Vec<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FDS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let got = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(&link, &mut [IoSliceMut::new(bytes)], &mut beside, RecvFlags::CMSG_CLOEXEC)
    })?;
    if got.bytes == 0 {
        return Ok(None);
    }
    let mut fds = Vec::new();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    Ok(Some((got.bytes, fds)))
}

type Received = (Profile, Vec<Step>, Prepared, Option<OwnedFd>);

fn receive(link: &OwnedFd) -> io::Result<Option<Received>> {
    let mut lengths = [0; 8];
    let Some((came, fds)) = take_beside(link, &mut lengths)? else { return Ok(None) };
    let mut rest = File::from(rustix::io::fcntl_dupfd_cloexec(link, 3)?);
    rest.read_exact(&mut lengths[came..])?;
    let [told, words] = [0, 4].map(|at| u32::from_ne_bytes([0, 1, 2, 3].map(|byte| lengths[at + byte])));
    if told > MOST_BYTES || words > MOST_BYTES {
        return Err(io::Error::other("a message of this length is none"));
    }
    let mut body = vec![0; told as usize + words as usize];
    rest.read_exact(&mut body)?;
    let (told, words) = body.split_at(told as usize);
    let told: Told = serde_json::from_slice(told)?;
    let words = words.split_inclusive(|byte| *byte == 0).map(|word| CString::from_vec_with_nul(word.to_vec()));
    let mut programs = words.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
    if programs.len() < told.programs + told.argv {
        return Err(io::Error::other("words are missing"));
    }
    let mut argv = programs.split_off(told.programs);
    let env = argv.split_off(told.argv);
    let mut fds = fds.into_iter();
    let stdio = told.stdio.map(|comes| if comes { fds.next() } else { None });
    let listener = if told.listener { fds.next() } else { None };
    let stops = told.stops.and_then(|stops| Some((stops, fds.next()?)));
    let target = Prepared { programs, argv, env, stdio, terminal: told.terminal, stops, network: None };
    Ok(Some((told.profile, told.steps, target, listener)))
}
