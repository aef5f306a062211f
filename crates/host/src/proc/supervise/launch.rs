//! Starting the one command of a supervisor that no sandbox holds.
//!
//! Where it ends is known without asking the shell: the child is forked so that it and the supervisor have
//! one working directory between them. When the child has ended, however it did, the supervisor is where
//! the child was. (A trap would be the text's to replace, and a wrapper would change what `$0`, `set -e`
//! and error messages are.)

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Resource, Rlimit, Signal};

use super::signals::{self, Argv, Forked};
use crate::proc::wire::Order;

/// The steps between fork and exec, as words for the one that failed.
const STEPS: [&str; 6] = [
    "it could not begin a session of its own",
    "it could not take the terminal",
    "it could not have its input and output",
    "its working directory cannot be entered",
    "its limits could not be set",
    "the program cannot be run",
];

/// Why it was not started.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) why: String,
    pub(super) errno: Option<i32>,
}

impl Failure {
    pub(super) fn new(why: &str, error: &io::Error) -> Failure {
        Failure { why: why.to_owned(), errno: error.raw_os_error() }
    }
}

/// Starts the command of `order` on `stdio`.
pub(super) fn launch(order: &Order, stdio: &[OwnedFd]) -> Result<Pid, Failure> {
    let strings = |list: Vec<Vec<u8>>| list.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>();
    let whole = |_| Failure { why: "an argument or a variable holds a zero byte".to_owned(), errno: None };
    let programs = order.programs.iter().map(|path| path.as_os_str().as_bytes().to_vec()).collect();
    let programs = strings(programs).map_err(whole)?;
    let argv = Argv::new(strings(order.argv.iter().map(|word| word.clone().into_bytes()).collect()).map_err(whole)?);
    let env = order.profile.env.iter().map(|(name, value)| format!("{name}={value}").into_bytes()).collect();
    let env = Argv::new(strings(env).map_err(whole)?);
    let (news, tell) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| Failure::new("no pipe", &error.into()))?;
    match signals::fork(order.watch_cwd).map_err(|error| Failure::new("no process could be made", &error))? {
        Forked::Child => {
            let (step, error) = become_it(order, stdio, &programs, &argv, &env);
            let mut word = [step; 5];
            word[1..].copy_from_slice(&error.raw_os_error().unwrap_or(0).to_le_bytes());
            let _ = rustix::io::write(&tell, &word);
            signals::leave(127)
        }
        Forked::Parent(pid) => {
            drop(tell);
            let mut word = Vec::new();
            let _ = File::from(news).read_to_end(&mut word);
            let Some((step, errno)) = word.split_first() else { return Ok(pid) };
            let errno = errno.try_into().map_or(0, i32::from_le_bytes);
            Err(Failure { why: STEPS[usize::from(*step) % STEPS.len()].to_owned(), errno: Some(errno) })
        }
    }
}

/// The child's part; it comes back only when a step fails, and says which.
fn become_it(order: &Order, stdio: &[OwnedFd], programs: &[CString], argv: &Argv, env: &Argv) -> (u8, io::Error) {
    let steps = || -> Result<(), (u8, io::Error)> {
        let at = |step: u8| move |error: rustix::io::Errno| (step, io::Error::from(error));
        signals::restore_defaults();
        rustix::process::setsid().map_err(at(0))?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(at(0))?;
        if let Some(terminal) = stdio.first().filter(|_| order.terminal) {
            rustix::process::ioctl_tiocsctty(terminal).map_err(at(1))?;
        }
        for (fd, target) in stdio.iter().zip(0..3) {
            signals::put(std::os::fd::AsFd::as_fd(fd), target).map_err(|error| (2, error))?;
        }
        signals::close_on_exec_from(3);
        rustix::process::chdir(&order.profile.cwd).map_err(at(3))?;
        limit(order).map_err(at(4))
    };
    match steps() {
        Err(failed) => failed,
        Ok(()) => (5, signals::exec(programs, argv, env)),
    }
}

/// What one process can be held to. Memory and number are counted over the whole tree, by the supervisor.
fn limit(order: &Order) -> rustix::io::Result<()> {
    let mut table = vec![(Resource::Core, 0)];
    table.extend(super::bound(order.profile.limits.file_bytes).map(|most| (Resource::Fsize, most)));
    for (resource, most) in table {
        let hard = rustix::process::getrlimit(resource).maximum;
        let most = hard.map_or(most, |hard| hard.min(most));
        rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}
