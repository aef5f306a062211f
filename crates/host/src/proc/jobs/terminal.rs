//! A pseudo-terminal for a job.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// The longest line that a terminal takes while it puts lines together for the program: the kernel drops what is beyond.
const LONGEST_LINE: usize = 4095;

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
    resize(&ours, rows, cols)?;
    Ok(Terminal { ours, theirs })
}

/// Gives the terminal another size; its foreground processes are told.
pub(super) fn resize(ours: &impl AsFd, rows: u16, cols: u16) -> io::Result<()> {
    Ok(tcsetwinsize(ours, Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 })?)
}

/// Whether these bytes hold a line that the terminal would cut.
pub(super) fn would_cut(ours: &impl AsFd, bytes: &[u8]) -> bool {
    let by_lines = tcgetattr(ours).is_ok_and(|set| set.local_modes.contains(LocalModes::ICANON));
    by_lines && bytes.split(|byte| matches!(byte, b'\r' | b'\n')).any(|line| line.len() > LONGEST_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_only_where_lines_are_put_together() {
        use rustix::termios::{OptionalActions, tcsetattr};
        let terminal = open(3, 20).expect("a terminal");
        let long = [&[b'x'; 4000][..], b"\r", &[b'x'; 4096]].concat();
        assert!(!would_cut(&terminal.ours, &long[..8000]));
        assert!(would_cut(&terminal.ours, &long));
        let mut set = tcgetattr(&terminal.theirs).expect("its settings");
        set.make_raw();
        tcsetattr(&terminal.theirs, OptionalActions::Now, &set).expect("they are set");
        assert!(!would_cut(&terminal.ours, &long));
    }
}
