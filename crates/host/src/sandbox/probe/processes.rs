//! Attempts on other processes, on what was inherited, and on bounds.
#![allow(unsafe_code)]

use std::fs::{self, OpenOptions};
use std::io;
use std::net::{TcpListener, TcpStream};

use super::Must::{Fail, Work};
use super::{LIMITS, Row, broken};

pub(super) const ROWS: &[Row] = &[
    ("inherited-descriptor", Fail, "use a descriptor that was open outside", |_| {
        // 0 to 2 are given; what is above was opened by nobody in here.
        let open = (3..256).find(|fd| {
            // SAFETY: numbers only.
            unsafe { libc::fcntl(*fd, libc::F_GETFD) >= 0 }
        });
        match open {
            Some(_) => Ok(()),
            None => broken("none is open"),
        }
    }),
    ("environment-of-first", Fail, "read /proc/1/environ", |_| match fs::read("/proc/1/environ")? {
        content if content.is_empty() => broken("it is empty"),
        _ => Ok(()),
    }),
    ("memory-of-first", Fail, "open /proc/1/mem", |_| fs::File::open("/proc/1/mem").map(drop)),
    ("descriptors-of-first", Fail, "open a descriptor of the first process", |_| {
        let names = fs::read_dir("/proc/1/fd")?.flatten();
        let opened = names.map(|entry| fs::File::open(entry.path())).find(|file| file.is_ok());
        opened.unwrap_or_else(|| broken("none could be opened")).map(drop)
    }),
    ("other-processes", Fail, "see processes of the machine", |_| {
        let ids = fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        match ids.count() {
            0..=4 => broken("only its own are listed"),
            _ => Ok(()),
        }
    }),
    ("signal-outside", Fail, "signal a process of the machine", |scene| {
        // In its own world this id is nobody's, or one of its own, so the id alone says nothing: only one above all own.
        signal(scene.pid.max(1 << 20), 0)
    }),
    ("kill-first", Work, "survive killing the first process", |_| {
        let _ = signal(1, libc::SIGKILL);
        fs::metadata("/proc/1").map(drop)
    }),
    ("privileges", Fail, "have a capability, or gain one", |_| {
        let status = fs::read_to_string("/proc/self/status")?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.map(|value| value.trim_start_matches(':').trim().to_owned()).unwrap_or_default()
        };
        // The set that bounds what a program could gain is the kernel's to empty where one is privileged; without new
        // privileges nothing is gained.
        let none = ["CapInh", "CapPrm", "CapEff", "CapAmb"].iter().all(|name| {
            let value = field(name);
            !value.is_empty() && value.bytes().all(|byte| byte == b'0')
        });
        if none && field("NoNewPrivs") == "1" && field("Seccomp") == "2" {
            return broken("no capability, no new privileges, seccomp on");
        }
        Ok(())
    }),
    ("become-root", Fail, "become another user", |_| {
        // SAFETY: numbers only.
        match unsafe { libc::setresuid(12345, 12345, 12345) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }),
    ("fork-bomb", Fail, "start ten times as many processes as allowed", |_| {
        let most = LIMITS.processes * 10;
        let mut children = Vec::new();
        let mut error = None;
        for _ in 0..most {
            // SAFETY: one thread; the child only waits to be killed.
            match unsafe { libc::fork() } {
                0 => loop {
                    // SAFETY: no arguments.
                    unsafe { libc::pause() };
                },
                -1 => {
                    error = Some(io::Error::last_os_error());
                    break;
                }
                child => children.push(child),
            }
        }
        for child in &children {
            let _ = signal(*child, libc::SIGKILL);
            // SAFETY: a child of ours; nobody else waits for it.
            unsafe { libc::waitpid(*child, std::ptr::null_mut(), 0) };
        }
        error.map_or(Ok(()), Err)
    }),
    ("memory", Fail, "take more memory than allowed", |_| {
        let bytes = LIMITS.memory_bytes as usize + 1;
        let how = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping that nothing touches.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, how, -1, 0) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: what was just mapped.
        unsafe { libc::munmap(at, bytes) };
        Ok(())
    }),
    ("file-size", Fail, "make a file larger than allowed", |_| {
        // SAFETY: ignoring a signal.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        let file = OpenOptions::new().write(true).create(true).truncate(true).open("/tmp/nika-probe-large")?;
        file.set_len(LIMITS.file_bytes + 1)
    }),
    ("open-files", Fail, "have more files open than allowed", |_| {
        let bound = libc::rlimit { rlim_cur: LIMITS.open_files + 1, rlim_max: LIMITS.open_files + 1 };
        // SAFETY: the bound lives across the call.
        match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const bound) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }),
    ("core-dump", Fail, "allow core dumps again", |_| {
        let bound = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
        // SAFETY: the bound lives across the call.
        match unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const bound) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }),
    ("loopback", Work, "talk to itself over 127.0.0.1", |_| {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        TcpStream::connect(listener.local_addr()?).map(drop)
    }),
    ("pipe", Work, "start a process and read from it", |_| {
        let output = std::process::Command::new("/bin/sh").args(["-c", "echo out | cat"]).output()?;
        if output.stdout == b"out\n" { Ok(()) } else { broken("it said something else") }
    }),
    ("threads", Work, "start threads", |_| {
        let threads: Vec<_> = (0..8).map(|n| std::thread::spawn(move || n)).collect();
        let sum: i32 = threads.into_iter().filter_map(|thread| thread.join().ok()).sum();
        if sum == 28 { Ok(()) } else { broken("some did not run") }
    }),
];

fn signal(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: numbers only.
    match unsafe { libc::kill(pid, signal) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
