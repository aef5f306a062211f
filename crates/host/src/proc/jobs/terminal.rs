//! A pseudo-terminal for a job.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Our end and the job's.
pub(super) struct Terminal {
    pub(super) ours: OwnedFd,
    pub(super) theirs: OwnedFd,
}

/// Opens one of this size.
pub(super) fn open(rows: u16, cols: u16) -> io::Result<Terminal> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    // By the descriptor where the kernel can: the name may mean another device where `/dev/pts` is mounted anew.
    let theirs = match ioctl_tiocgptpeer(&ours, flags) {
        Ok(theirs) => theirs,
        Err(_) => {
            let name = ptsname(&ours, Vec::new())?;
            rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?
        }
    };
    tcsetwinsize(&ours, Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 })?;
    Ok(Terminal { ours, theirs })
}
