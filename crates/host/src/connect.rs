//! The connections of commands that write, made in their place.
//!
//! Who finds the name of a unix socket is let to whoever listens there: no mount and, before Linux 7, no rule of Landlock
//! is between a command and an agent of keys, a container's daemon or a database of the machine. So the kernel stops a
//! command that connects anything ([`Stops`](crate::sandbox::Stops)), and the connection is made here: with the very
//! socket that stands under its number, to the address as it was read once. What another thread swaps meanwhile counts for
//! nothing.
//!
//! ```text
//! listen(5, …) ──▶ stopped ─▶ the file that socket 5 is bound to is the command's own ─▶ goes on
//! connect(7, …) ─▶ stopped ─▶ its socket, the address ─┬▶ internet: as it says, in the network of the socket
//!                                                      └▶ unix: where does the name lead? ─▶ a file of its own: connected
//!                                                                                         └▶ any other: not permitted
//! ```
//!
//! A command's own are the files at which it listens itself: neither the machine's nor those of another command of its
//! session, which may have the same directories. Datagrams name whom they go to at each call, so their unix sockets do not
//! exist in there.

mod address;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags, fcntl_getfl, openat, readlink, statx};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, sockopt};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use self::address::Address;
use crate::sandbox::{
    Answer, Heard, Listener, Stopped, beneath, file_of_socket, interrupt, is_of_our_network, memory_of,
};

/// Connections that are being made, each by a thread: of one command, and of all that this process runs.
const MOST_OF_ONE: usize = 64;
/// More of them by sockets that do not wait for the other side, so that those which do hold up nobody.
const MORE_THAT_PASS: usize = 16;
const MOST_OF_ALL: usize = 256;
/// Files at which one command listens, one after another. A test suite has some hundred.
const MOST_FILES: usize = 10_000;
/// The same where each of them has to be held open.
const MOST_HELD: usize = 64;
const STACK_BYTES: usize = 128 << 10;
/// Between two attempts to end what waits for the other side.
const BEAT: Duration = Duration::from_millis(2);
/// A thread of a process, not the process: since Linux 6.9.
const OF_THREAD: PidfdFlags = PidfdFlags::from_bits_retain(libc::O_EXCL as u32);

/// How many connections are being made by all that share this.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room(Arc<AtomicUsize>);

/// A place in the room, given back when it goes.
struct Taken(Arc<AtomicUsize>);

impl Room {
    fn take(&self) -> Option<Taken> {
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        let taken = Taken(Arc::clone(&self.0));
        (before < MOST_OF_ALL).then_some(taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A file, told from one that has its number after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Identity {
    device: (u32, u32),
    inode: u64,
    born: Option<(i64, u32)>,
}

/// Makes the connections of one command.
#[derive(Debug)]
pub(crate) struct Connects {
    /// Whether nobody else is in its network, in which the names without a file live.
    alone: bool,
    /// Where it listens. A file is held open of which the system does not say when it came to be, so that no other gets its
    /// number.
    own: Mutex<HashMap<Identity, Option<OwnedFd>>>,
    room: Room,
    making: Mutex<Vec<(Stopped, JoinHandle<()>)>>,
}

/// A connection to be made.
struct Wanted {
    socket: OwnedFd,
    to: Address,
    /// What the name of a unix socket led to, which is connected instead.
    found: Option<OwnedFd>,
}

/// Sees to the connections of a command, on a thread that ends when nothing of it is left.
pub(crate) fn watch(listener: OwnedFd, shares_network: bool, room: &Room) -> io::Result<JoinHandle<()>> {
    let (listener, connects) = (Arc::new(Listener::new(listener)), Connects::new(shares_network, room));
    threads("connects").spawn(move || {
        while let Ok(Heard::Stopped(stopped)) = listener.next(None) {
            connects.heed(&listener, stopped);
        }
        connects.end();
    })
}

fn threads(name: &str) -> Builder {
    Builder::new().name(name.to_owned()).stack_size(STACK_BYTES)
}

/// What a panic elsewhere left is as true as it was.
fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connects {
    pub(crate) fn new(shares_network: bool, room: &Room) -> Connects {
        let (own, making, room) = (Mutex::default(), Mutex::default(), room.clone());
        Connects { alone: !shares_network, own, room, making }
    }

    /// Whether a stopped call is one of these.
    pub(crate) fn concerns(stopped: &Stopped) -> bool {
        [libc::SYS_connect, libc::SYS_listen].contains(&stopped.number)
    }

    /// Lets a call that listens go on, or makes the connection that was stopped, and says what came of it.
    pub(crate) fn heed(&self, listener: &Arc<Listener>, stopped: Stopped) {
        if stopped.number == libc::SYS_listen {
            self.listens(listener, &stopped);
            return listener.answer(&stopped, Answer::GoOn);
        }
        let begun = self.wanted(listener, &stopped).and_then(|wanted| match wanted.to {
            // Netlink sends to the kernel whether it is connected or not.
            Address::Kernel => {
                listener.answer(&stopped, Answer::Done);
                Ok(())
            }
            _ => self.begin(listener, stopped, wanted),
        });
        if let Err(error) = begun {
            listener.answer(&stopped, Answer::Failed(error));
        }
    }

    /// Makes a connection on a thread of its own: whether it waits for the other side others can decide meanwhile.
    fn begin(&self, listener: &Arc<Listener>, stopped: Stopped, wanted: Wanted) -> Result<(), Errno> {
        let mut making = lock(&self.making);
        making.retain(|(_, thread)| !thread.is_finished());
        let passes = fcntl_getfl(&wanted.socket).is_ok_and(|flags| flags.contains(OFlags::NONBLOCK));
        if making.len() >= MOST_OF_ONE + if passes { MORE_THAT_PASS } else { 0 } {
            // Who was killed waits for nobody.
            making.iter().filter(|(stopped, _)| !listener.waits(stopped)).for_each(|(_, thread)| interrupt(thread));
            return Err(Errno::AGAIN);
        }
        let (taken, theirs) = (self.room.take().ok_or(Errno::AGAIN)?, Arc::clone(listener));
        let begun = threads("connect").spawn(move || {
            theirs.answer(&stopped, wanted.make());
            drop(taken);
        });
        making.push((stopped, begun.map_err(|_| Errno::AGAIN)?));
        Ok(())
    }

    /// Ends what still waits: nobody is left who could be answered.
    pub(crate) fn end(&self) {
        let mut making = lock(&self.making);
        while !making.is_empty() {
            making.retain(|(_, thread)| !thread.is_finished());
            making.iter().for_each(|(_, thread)| interrupt(thread));
            if !making.is_empty() {
                std::thread::sleep(BEAT);
            }
        }
    }

    /// Notes where a socket listens from now on, if that is one of the command's network.
    fn listens(&self, listener: &Listener, stopped: &Stopped) {
        let [number, ..] = stopped.arguments;
        let Ok(socket) = socket_of(stopped.thread, number as u32 as i32) else { return };
        if is_of_our_network(&socket) || !listener.waits(stopped) {
            return;
        }
        let Ok(file) = file_of_socket(&socket) else { return };
        let mut own = lock(&self.own);
        if let Some(identity) = identity(&file) {
            let (most, held) = if identity.born.is_some() { (MOST_FILES, None) } else { (MOST_HELD, Some(file)) };
            if own.len() < most {
                own.insert(identity, held);
            }
        }
    }

    /// What is to be connected, to what.
    fn wanted(&self, listener: &Listener, stopped: &Stopped) -> Result<Wanted, Errno> {
        let [number, at, length, ..] = stopped.arguments;
        let text = address::text(length as u32, |into| memory_of(stopped.thread, at, into))?;
        let socket = socket_of(stopped.thread, number as u32 as i32)?;
        // One that it was given: it would be connected in the machine's network, with our rights.
        if is_of_our_network(&socket) {
            return Err(Errno::PERM);
        }
        let to = Address::of(sockopt::socket_domain(&socket)?, &text)?;
        let found = match &to {
            Address::Named(path) => Some(self.named(stopped.thread, path)?),
            Address::Abstract(_) if !self.alone => return Err(Errno::PERM),
            _ => None,
        };
        // Until here it waited, so all of that was its own.
        if listener.waits(stopped) { Ok(Wanted { socket, to, found }) } else { Err(Errno::INTR) }
    }

    /// The file of its own that a path leads a thread to.
    fn named(&self, thread: u32, path: &Path) -> Result<OwnedFd, Errno> {
        let slash = openat(CWD, format!("/proc/{thread}/root"), PATH | OFlags::DIRECTORY, Mode::empty())?;
        let whole = match path.is_absolute() {
            true => path.to_path_buf(),
            false => {
                let cwd = readlink(format!("/proc/{thread}/cwd"), Vec::new())?.into_bytes();
                // One that has no name any more begins nothing.
                let cwd = Some(Path::new(OsStr::from_bytes(&cwd))).filter(|cwd| cwd.is_absolute());
                cwd.ok_or(Errno::NOENT)?.join(path)
            }
        };
        let found = beneath(&slash, whole.as_os_str().as_bytes())?;
        match identity(&found) {
            None => Err(Errno::CONNREFUSED),
            Some(identity) if lock(&self.own).contains_key(&identity) => Ok(found),
            Some(_) => Err(Errno::PERM),
        }
    }
}

/// Which file that is, if it is a socket's.
fn identity(file: &OwnedFd) -> Option<Identity> {
    let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::BTIME;
    let stat = statx(file, "", AtFlags::EMPTY_PATH, wanted).ok()?;
    let is_socket = FileType::from_raw_mode(stat.stx_mode.into()) == FileType::Socket;
    let is_told = |what: StatxFlags| stat.stx_mask & what.bits() == what.bits();
    (is_socket && is_told(StatxFlags::INO)).then_some(Identity {
        device: (stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
        born: is_told(StatxFlags::BTIME).then_some((stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec)),
    })
}

impl Wanted {
    fn make(&self) -> Answer {
        let made = match &self.found {
            // What was looked at, and not what has that name by now.
            Some(found) => SocketAddrUnix::new(format!("/proc/self/fd/{}", found.as_raw_fd()))
                .and_then(|at| rustix::net::connect(&self.socket, &at)),
            None => self.to.connect(&self.socket),
        };
        made.map_or_else(Answer::Failed, |()| Answer::Done)
    }
}

/// The name in the file system that an address of this length gives to a unix socket, if it does; `read` fills it in.
pub(crate) fn unix_name(length: u32, read: impl FnOnce(&mut [u8]) -> usize) -> Option<Vec<u8>> {
    match Address::of(AddressFamily::UNIX, &address::text(length, read).ok()?) {
        Ok(Address::Named(path)) => Some(path.into_os_string().into_encoded_bytes()),
        _ => None,
    }
}

const PATH: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Whether a process that `process` stands for can be asked for what it has open. Some containers refuse that, and then
/// no connection can be made in anybody's place.
pub(crate) fn can_ask(process: Pid) -> bool {
    let number = |process: OwnedFd| pidfd_getfd(process, 0, PidfdGetfdFlags::empty());
    // That it has nothing under this number is an answer, too.
    matches!(pidfd_open(process, PidfdFlags::empty()).and_then(number), Ok(_) | Err(Errno::BADF))
}

/// The very socket that a thread has under a number.
fn socket_of(thread: u32, number: i32) -> Result<OwnedFd, Errno> {
    let pid = |id: u32| i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH);
    let process = match pidfd_open(pid(thread)?, OF_THREAD) {
        // An older kernel has them of whole processes only, which share what is open.
        Err(Errno::INVAL) => pidfd_open(pid(process_of(thread)?)?, PidfdFlags::empty()),
        other => other,
    }?;
    pidfd_getfd(process, number, PidfdGetfdFlags::empty())
}

fn process_of(thread: u32) -> Result<u32, Errno> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).map_err(|_| Errno::SRCH)?;
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    line.and_then(|id| id.trim().parse().ok()).ok_or(Errno::SRCH)
}
