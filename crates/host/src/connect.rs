//! The connections of commands that write, made in their place.
//!
//! Who finds the name of a unix socket is let to whoever listens there: no mount and, before Linux 7, no rule of Landlock
//! is between a command and an agent of keys, a container's daemon or a database of the machine. So the kernel stops a
//! command that connects anything ([`Stops`](crate::sandbox::Stops)), and the connection is made here: with the very
//! socket that stands under its number, to the address as it was read once. What another thread swaps meanwhile counts for
//! nothing.
//!
//! ```text
//! connect(7, …) ─▶ stopped ─▶ its socket, the address ─┬▶ internet: as it says, in the network of the socket
//!                                                      └▶ unix: where does the name lead? ─▶ a place of its own: connected
//!                                                                                         └▶ elsewhere: not permitted
//! ```
//!
//! A place is the command's own when it lies in a mount that its world alone has: its temporary directories, and its layer
//! over a root, through which no socket of the machine can be reached. Datagrams name whom they go to at each call, so
//! their unix sockets do not exist in there.

mod address;

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};

use nika_guard::profile::{Profile, Step, plan};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags, fcntl_getfl, openat, openat2, statx};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, sockopt};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use self::address::Address;
use crate::sandbox::{Answer, Heard, Listener, Stopped, memory_of, own_places};

/// Connections of one command that wait for the other side. Each has a thread.
const MOST_WAITING: usize = 64;
const STACK_BYTES: usize = 128 << 10;
/// A thread of a process, not the process: since Linux 6.9.
const OF_THREAD: PidfdFlags = PidfdFlags::from_bits_retain(libc::O_EXCL as u32);

/// Which sockets with names are a command's own.
#[derive(Debug)]
pub(crate) struct Own {
    /// Mount points of its world that nobody else has.
    places: Vec<PathBuf>,
    /// Whether its network is, in which the names without a file live.
    network: bool,
}

impl Own {
    /// Those of a command under `profile`.
    pub(crate) fn of(profile: &Profile, shares_network: bool) -> Own {
        // What is mounted over such a place, or above it, is the machine's; except for a layer.
        let steps = plan(profile);
        let written = steps.iter().filter_map(|step| if let Step::Writable(path) = step { Some(path) } else { None });
        let bare: Vec<&PathBuf> = written
            .chain([&profile.cwd, &profile.home])
            .chain(&profile.roots)
            .chain(&profile.shown)
            .filter(|path| profile.layers.iter().all(|layer| layer.root != **path))
            .collect();
        let private = own_places().filter(|at| !bare.iter().any(|path| at.starts_with(path))).map(Path::to_path_buf);
        let layers = profile.layers.iter().map(|layer| layer.root.clone());
        Own { places: private.chain(layers).collect(), network: !shares_network }
    }
}

/// Makes the connections of one command.
#[derive(Debug)]
pub(crate) struct Connects {
    own: Own,
    /// The mounts of its places, by number: they stay as long as its world does.
    mounts: OnceLock<Vec<u64>>,
    waiting: Mutex<Vec<JoinHandle<()>>>,
}

/// A connection to be made.
struct Wanted {
    socket: OwnedFd,
    to: Address,
    /// What the name of a unix socket led to, which is connected instead.
    found: Option<OwnedFd>,
}

/// Sees to the connections of a command, on a thread that ends when nothing of it is left.
pub(crate) fn watch(listener: OwnedFd, own: Own) -> io::Result<JoinHandle<()>> {
    let (listener, connects) = (Arc::new(Listener::new(listener)), Connects::new(own));
    threads("connects").spawn(move || {
        while let Ok(Heard::Stopped(stopped)) = listener.next(None) {
            connects.heed(&listener, stopped);
        }
        lock(&connects.waiting).drain(..).for_each(|waiting| drop(waiting.join()));
    })
}

fn threads(name: &str) -> Builder {
    Builder::new().name(name.to_owned()).stack_size(STACK_BYTES)
}

/// What a panic elsewhere left are still the threads that run.
fn lock(waiting: &Mutex<Vec<JoinHandle<()>>>) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connects {
    pub(crate) fn new(own: Own) -> Connects {
        Connects { own, mounts: OnceLock::new(), waiting: Mutex::default() }
    }

    /// Makes the connection that was stopped, and says what came of it; on a thread of its own when that may take long.
    pub(crate) fn heed(&self, listener: &Arc<Listener>, stopped: Stopped) {
        let wanted = match self.wanted(listener, &stopped) {
            Ok(wanted) => wanted,
            Err(error) => return listener.answer(&stopped, Answer::Failed(error)),
        };
        if !wanted.waits() {
            return listener.answer(&stopped, wanted.make());
        }
        let mut waiting = lock(&self.waiting);
        waiting.retain(|thread| !thread.is_finished());
        let theirs = Arc::clone(listener);
        let begun = match waiting.len() {
            MOST_WAITING.. => Err(io::Error::from(io::ErrorKind::WouldBlock)),
            _ => threads("connect").spawn(move || theirs.answer(&stopped, wanted.make())),
        };
        match begun {
            Ok(thread) => waiting.push(thread),
            Err(_) => listener.answer(&stopped, Answer::Failed(Errno::AGAIN)),
        }
    }

    /// What is to be connected, to what.
    fn wanted(&self, listener: &Listener, stopped: &Stopped) -> Result<Wanted, Errno> {
        let [number, at, length, ..] = stopped.arguments;
        let text = address::text(length as u32, |into| memory_of(stopped.thread, at, into))?;
        let socket = socket_of(stopped.thread, number as u32 as i32)?;
        let to = Address::of(sockopt::socket_domain(&socket)?, &text)?;
        let found = match &to {
            Address::Named(path) => Some(self.named(stopped.thread, path)?),
            Address::Abstract(_) if !self.own.network => return Err(Errno::PERM),
            _ => None,
        };
        // Until here it waited, so all of that was its own.
        if listener.waits(stopped) { Ok(Wanted { socket, to, found }) } else { Err(Errno::INTR) }
    }

    /// The socket that a path leads a thread to, in a place of its own.
    fn named(&self, thread: u32, path: &Path) -> Result<OwnedFd, Errno> {
        let open = |link: &str| openat(CWD, format!("/proc/{thread}/{link}"), PATH | OFlags::DIRECTORY, Mode::empty());
        let slash = open("root")?;
        let found = if path.is_absolute() {
            beneath(&slash, path, ResolveFlags::IN_ROOT)?
        } else {
            // A link to an absolute path leads to one of ours here, which is none of its own.
            beneath(&open("cwd")?, path, ResolveFlags::empty())?
        };
        let stat = statx(&found, "", AtFlags::EMPTY_PATH, StatxFlags::TYPE | StatxFlags::MNT_ID)?;
        if FileType::from_raw_mode(stat.stx_mode.into()) != FileType::Socket {
            return Err(Errno::CONNREFUSED);
        }
        let mounts = self.mounts.get_or_init(|| {
            let mount = |at: &PathBuf| {
                let at = beneath(&slash, at, ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS).ok()?;
                let stat = statx(&at, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
                has_mount(&stat).then_some(stat.stx_mnt_id)
            };
            self.own.places.iter().filter_map(mount).collect()
        });
        let own = has_mount(&stat) && mounts.contains(&stat.stx_mnt_id);
        if own { Ok(found) } else { Err(Errno::PERM) }
    }
}

impl Wanted {
    /// Whether it may have to wait for the other side.
    fn waits(&self) -> bool {
        let flags = fcntl_getfl(&self.socket);
        let kind = sockopt::socket_type(&self.socket);
        flags.is_ok_and(|flags| !flags.contains(OFlags::NONBLOCK)) && kind.is_ok_and(|kind| kind != SocketType::DGRAM)
    }

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

fn beneath(dir: &OwnedFd, path: &Path, how: ResolveFlags) -> Result<OwnedFd, Errno> {
    let path = OsStr::from_bytes(path.as_os_str().as_bytes());
    openat2(dir, path, PATH, Mode::empty(), how | ResolveFlags::NO_MAGICLINKS)
}

fn has_mount(stat: &rustix::fs::Statx) -> bool {
    stat.stx_mask & StatxFlags::MNT_ID.bits() != 0
}
