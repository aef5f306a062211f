//! Which processes are there below one, what they use, and whether one of them waits for input.
//!
//! All of it is read from `/proc`; nothing is stopped or traced. A process that ends while it is looked at
//! is simply not in the answer.
//!
//! A process lives until its last thread has ended, and its first may end long before that. It is `Z` then, and what `/proc`
//! shows by its own number is nothing: no memory, no environment, no open files. So these are read by a thread that lives.

use std::fs;
use std::os::linux::fs::MetadataExt;
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::PathBuf;

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::process::Pid;

/// How many threads of one process are looked at: an interpreter that reads has few.
const MOST_THREADS: usize = 16;
/// How often a thread that lives is looked for among threads that begin and end while we look.
const ROUNDS: usize = 8;
/// How many entries of a poll set are looked at.
const MOST_POLLED: u64 = 64;
/// The longest name of a file that is looked for: as long as the kernel takes one.
const MOST_NAME: usize = 4096;
/// `/dev/tty`: whichever terminal a process has.
const DEV_TTY: u64 = 5 << 8;
/// Opened to be looked at: nobody at its other end hears of it.
const LOOKED_AT: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// One process, as the kernel's `stat` line says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id, in our pid namespace.
    pub pid: i32,
    /// Its parent's.
    pub parent: i32,
    /// The kernel's name for it: the program's, at most 15 bytes.
    pub name: String,
    /// `R` runs, `S` sleeps, `D` waits for a device, `T` is stopped, `Z` is dead and not yet reaped; of a thread that
    /// lives, while there is one.
    pub state: char,
    /// Processor time so far, itself alone, in milliseconds.
    pub cpu_ms: u64,
    /// Resident memory in bytes; what it shares counts in full.
    pub rss_bytes: u64,
    /// How many threads it has.
    pub threads: u64,
    /// The number by which its memory and its files are found in `/proc`: its id, or that of a thread that lives where its
    /// first has ended.
    pub task: i32,
    /// When it began: clock ticks since the system's start. With the id, it names a process for good.
    pub started_ticks: u64,
}

impl Process {
    /// Whether a thread of it is left.
    pub(crate) fn lives(&self) -> bool {
        self.state != 'Z' || self.threads > 1
    }
}

/// What a job reads its input from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// A pipe: both of its ends are this inode.
    Pipe { dev: u64, ino: u64 },
    /// A terminal: this device, or `/dev/tty` for those who have it as theirs.
    Terminal { rdev: u64 },
}

/// The ids of all processes below `root`, itself not among them, parents first.
pub(crate) fn below(root: Pid) -> Vec<Pid> {
    let mut found = children(root);
    let mut at = 0;
    while at < found.len() {
        for child in children(found[at]) {
            // A process that moves up while we look could be met twice.
            if !found.contains(&child) {
                found.push(child);
            }
        }
        at += 1;
    }
    found
}

/// The threads of a process.
pub(crate) fn threads(process: Pid) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{}/task", process.as_raw_nonzero())).into_iter().flatten().flatten();
    tasks.filter_map(|task| Pid::from_raw(task.file_name().to_str()?.parse().ok()?)).collect()
}

/// Whether no thread of a process does anything: each is stopped, or has ended.
pub(crate) fn stands_still(process: Pid) -> bool {
    is_of_states(process, &['T', 't', 'Z', 'X'])
}

/// Whether a thread of a process would take in what it is told: it runs, or waits for something that a signal ends.
pub(crate) fn heeds(process: Pid) -> bool {
    !is_of_states(process, &['T', 't', 'Z', 'X', 'D'])
}

fn is_of_states(process: Pid, states: &[char]) -> bool {
    let of = process.as_raw_nonzero();
    let looks =
        threads(process).into_iter().map(|thread| stat(&format!("/proc/{of}/task/{}/stat", thread.as_raw_nonzero())));
    looks.flatten().all(|thread| states.contains(&thread.state))
}

/// The children of `parent`, by each of its threads.
fn children(parent: Pid) -> Vec<Pid> {
    let parent = parent.as_raw_nonzero();
    let Ok(tasks) = fs::read_dir(format!("/proc/{parent}/task")) else { return Vec::new() };
    let mut found = Vec::new();
    for task in tasks.flatten() {
        match fs::read_to_string(task.path().join("children")) {
            Ok(line) => found.extend(line.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?))),
            // Gone, or a kernel without this file: then every process says who its parent is.
            Err(_) if fs::exists(task.path()).unwrap_or(false) => return children_by_scan(parent.get()),
            Err(_) => {}
        }
    }
    found
}

fn children_by_scan(parent: i32) -> Vec<Pid> {
    all_pids()
        .filter(|pid| look(*pid).is_some_and(|process| process.parent == parent))
        .filter_map(Pid::from_raw)
        .collect()
}

/// All processes that can be seen.
pub(crate) fn all() -> impl Iterator<Item = Pid> {
    all_pids().filter_map(Pid::from_raw)
}

fn all_pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The processes whose first environment holds `mark`, for those whose supervisor was killed.
pub(crate) fn marked(mark: &str) -> Vec<Pid> {
    marked_among(mark, all_pids())
}

/// The same, of those that live and began after `first` did: a few, which costs little to look at.
pub(crate) fn marked_since(mark: &str, first: Pid) -> Vec<Pid> {
    let first = first.as_raw_nonzero().get();
    let last = fs::read_to_string("/proc/loadavg").ok().and_then(|line| line.split_whitespace().last()?.parse().ok());
    // Ids begin anew at some point: then all are looked at.
    let since = if last.is_some_and(|last: i32| last >= first) { first } else { 0 };
    let lives = |pid: &i32| look(*pid).is_some_and(|process| process.lives());
    marked_among(mark, all_pids().filter(|pid| *pid > since).filter(lives))
}

fn marked_among(mark: &str, pids: impl Iterator<Item = i32>) -> Vec<Pid> {
    let environment = |task: i32| fs::read(format!("/proc/{task}/environ")).unwrap_or_default();
    let holds = |pid: &i32| {
        let mut all = environment(*pid);
        if all.is_empty() {
            // It is none that we may see, has none, or its first thread has ended.
            let other = look(*pid).map(|process| process.task).filter(|task| task != pid);
            all = other.map(environment).unwrap_or_default();
        }
        all.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    };
    pids.filter(holds).filter_map(Pid::from_raw).collect()
}

/// One process, if it is still there.
pub(crate) fn look(pid: i32) -> Option<Process> {
    let first = stat(&format!("/proc/{pid}/stat"))?;
    if first.state != 'Z' || first.threads <= 1 {
        return Some(first);
    }
    let other = (0..ROUNDS).find_map(|_| {
        let threads = threads(Pid::from_raw(pid)?).into_iter().map(|thread| thread.as_raw_nonzero());
        let looks = threads.filter_map(|thread| stat(&format!("/proc/{pid}/task/{thread}/stat")));
        // One that is about to end has given up its memory.
        looks.filter(|thread| !matches!(thread.state, 'Z' | 'X')).find(|thread| thread.rss_bytes > 0)
    });
    // Time and number of threads are of the whole process already; when a thread began is not when the process did.
    Some(match other {
        Some(other) => Process { state: other.state, rss_bytes: other.rss_bytes, task: other.pid, ..first },
        None => first,
    })
}

fn stat(path: &str) -> Option<Process> {
    parse_stat(&fs::read(path).ok()?)
}

/// The processes below `root` that still live.
pub(crate) fn look_below(root: Pid) -> Vec<Process> {
    below(root).into_iter().filter_map(|pid| look(pid.as_raw_nonzero().get())).filter(Process::lives).collect()
}

/// `PID (NAME) STATE PARENT …`; a name may hold blanks and brackets.
fn parse_stat(line: &[u8]) -> Option<Process> {
    let open = line.iter().position(|byte| *byte == b'(')?;
    let close = line.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(line.get(..open)?).ok()?.trim().parse().ok()?;
    let name = String::from_utf8_lossy(line.get(open + 1..close)?).into_owned();
    // Counted from the third field of proc(5), the state.
    let rest: Vec<&str> = std::str::from_utf8(line.get(close + 1..)?).ok()?.split_ascii_whitespace().collect();
    let number = |field: usize| rest.get(field - 3)?.parse::<u64>().ok();
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    Some(Process {
        pid,
        parent: rest.get(1)?.parse().ok()?,
        name,
        state: rest.first()?.chars().next()?,
        cpu_ms: (number(14)? + number(15)?) * 1000 / ticks,
        rss_bytes: number(24)? * rustix::param::page_size() as u64,
        threads: number(20)?,
        task: pid,
        started_ticks: number(22)?,
    })
}

/// How long ago `process` began, in milliseconds.
pub(crate) fn age_ms(process: &Process) -> u64 {
    let uptime = fs::read_to_string("/proc/uptime").ok();
    let seconds = uptime.as_deref().and_then(|text| text.split_ascii_whitespace().next()?.parse::<f64>().ok());
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    ((seconds.unwrap_or(0.0) * 1000.0) as u64).saturating_sub(process.started_ticks * 1000 / ticks)
}

/// Whether a process below `root` is blocked until somebody gives it `input`.
pub(crate) fn waits_for(root: Pid, input: Input) -> bool {
    below(root)
        .into_iter()
        .any(|pid| threads(pid).into_iter().take(MOST_THREADS).any(|thread| blocked_on(thread, input)))
}

/// Memory and descriptors are asked of the thread, not of its process: these are the same, but while the first has ended.
fn blocked_on(thread: Pid, input: Input) -> bool {
    let thread = thread.as_raw_nonzero().get();
    fs::read_to_string(format!("/proc/{thread}/syscall"))
        .ok()
        .and_then(|line| parse_syscall(&line))
        .is_some_and(|(number, arguments)| awaited(thread, number, &arguments).any(|fd| is_input(thread, fd, input)))
}

/// What a process below `root` waits to open: a FIFO that nobody has open at its other end. By the program, and as it names
/// the FIFO.
pub(crate) fn opens(root: Pid) -> Option<(String, String)> {
    below(root).into_iter().find_map(|pid| {
        let fifo = threads(pid).into_iter().take(MOST_THREADS).find_map(fifo_being_opened)?;
        Some((look(pid.as_raw_nonzero().get())?.name, fifo))
    })
}

fn fifo_being_opened(thread: Pid) -> Option<String> {
    let thread = thread.as_raw_nonzero().get();
    let (number, arguments) = parse_syscall(&fs::read_to_string(format!("/proc/{thread}/syscall")).ok()?)?;
    let (dir, name) = match number {
        libc::SYS_openat | libc::SYS_openat2 => (arguments[0], arguments[1]),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => (libc::AT_FDCWD as u64, arguments[0]),
        _ => return None,
    };
    let name = text_at(thread, name)?;
    // A descriptor is an `int`, whatever the upper half of its register holds.
    let from = match dir as i32 {
        _ if name.starts_with('/') => "root".to_owned(),
        libc::AT_FDCWD => "cwd".to_owned(),
        fd => format!("fd/{fd}"),
    };
    is_fifo(thread, &from, &name).then_some(name)
}

/// Whether a name leads to a FIFO from what a thread has as `from` in `/proc`.
fn is_fifo(thread: i32, from: &str, name: &str) -> bool {
    let has = format!("/proc/{thread}/{from}");
    // A link on the way that begins with `/` begins at the thread's own root, and not at ours.
    let in_its_root = || {
        let begins = if from == "root" { PathBuf::from("/") } else { fs::read_link(&has).ok()? };
        let root = open(format!("/proc/{thread}/root"), LOOKED_AT, Mode::empty()).ok()?;
        openat2(root, begins.join(name.trim_start_matches('/')), LOOKED_AT, Mode::empty(), ResolveFlags::IN_ROOT).ok()
    };
    match in_its_root().and_then(|there| fstat(there).ok()) {
        Some(stat) => FileType::from_raw_mode(stat.st_mode) == FileType::Fifo,
        // Such as a link of `/proc`, which leads where no name does.
        None => fs::metadata(format!("{has}/{name}")).is_ok_and(|there| there.file_type().is_fifo()),
    }
}

/// The text that ends with a zero byte at `at` in another process's memory.
fn text_at(pid: i32, at: u64) -> Option<String> {
    let mut found = vec![0; MOST_NAME];
    let read = fs::File::open(format!("/proc/{pid}/mem")).and_then(|file| file.read_at(&mut found, at)).ok()?;
    let end = found[..read].iter().position(|byte| *byte == 0)?;
    String::from_utf8(found[..end].to_vec()).ok()
}

/// `NUMBER ARG0 … ARG5 SP PC`, or a word when the thread is not in a system call.
fn parse_syscall(line: &str) -> Option<(i64, [u64; 6])> {
    let mut words = line.split_ascii_whitespace();
    let number = words.next()?.parse().ok()?;
    let mut arguments = [0; 6];
    for argument in &mut arguments {
        *argument = u64::from_str_radix(words.next()?.trim_start_matches("0x"), 16).ok()?;
    }
    Some((number, arguments))
}

/// The descriptors that a system call waits to read from.
fn awaited(pid: i32, number: i64, arguments: &[u64; 6]) -> Box<dyn Iterator<Item = u64>> {
    match waiting_call(number) {
        Some(Call::Read) => Box::new(std::iter::once(arguments[0])),
        Some(Call::Poll) => {
            let count = arguments[1].min(MOST_POLLED);
            let set = memory(pid, arguments[0], count as usize * 8);
            let entries: Vec<u64> = set.chunks_exact(8).filter_map(polled).collect();
            Box::new(entries.into_iter())
        }
        Some(Call::Select) => {
            let set = memory(pid, arguments[1], 8);
            let first = u64::from_le_bytes(set.try_into().unwrap_or_default());
            Box::new((0..arguments[0].min(64)).filter(move |fd| first >> fd & 1 == 1))
        }
        Some(Call::Epoll) => {
            let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{}", arguments[0])).unwrap_or_default();
            let fds: Vec<u64> = info.lines().filter_map(watched).collect();
            Box::new(fds.into_iter())
        }
        None => Box::new(std::iter::empty()),
    }
}

/// One `struct pollfd` that asks for input: `fd: i32, events: i16, revents: i16`.
fn polled(entry: &[u8]) -> Option<u64> {
    let fd = i32::from_ne_bytes(entry.get(..4)?.try_into().ok()?);
    let events = i16::from_ne_bytes(entry.get(4..6)?.try_into().ok()?);
    (events & libc::POLLIN != 0).then_some(u64::try_from(fd).ok()?)
}

/// `tfd:        0 events:       19 data: …`: the events in hexadecimal, 1 is input.
fn watched(line: &str) -> Option<u64> {
    let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
    let fd = words.next()?.parse().ok()?;
    let events = u64::from_str_radix(words.nth(1)?, 16).ok()?;
    (events & 1 == 1).then_some(fd)
}

enum Call {
    Read,
    Poll,
    Select,
    Epoll,
}

fn waiting_call(number: i64) -> Option<Call> {
    #[cfg(target_arch = "x86_64")]
    let old: &[(i64, Call)] =
        &[(libc::SYS_poll, Call::Poll), (libc::SYS_select, Call::Select), (libc::SYS_epoll_wait, Call::Epoll)];
    #[cfg(not(target_arch = "x86_64"))]
    let old: &[(i64, Call)] = &[];
    let table = [
        (libc::SYS_read, Call::Read),
        (libc::SYS_readv, Call::Read),
        (libc::SYS_recvfrom, Call::Read),
        (libc::SYS_ppoll, Call::Poll),
        (libc::SYS_pselect6, Call::Select),
        (libc::SYS_epoll_pwait, Call::Epoll),
        (libc::SYS_epoll_pwait2, Call::Epoll),
    ];
    let row = table.iter().chain(old).find(|(call, _)| *call == number)?;
    Some(match row.1 {
        Call::Read => Call::Read,
        Call::Poll => Call::Poll,
        Call::Select => Call::Select,
        Call::Epoll => Call::Epoll,
    })
}

/// Some bytes of another process's memory; none where that may not be seen.
fn memory(pid: i32, at: u64, bytes: usize) -> Vec<u8> {
    let mut found = vec![0; bytes];
    let read = fs::File::open(format!("/proc/{pid}/mem")).and_then(|file| file.read_exact_at(&mut found, at));
    if read.is_err() {
        found.clear();
    }
    found
}

/// Whether descriptor `fd` of `pid` is where the job's input comes from.
fn is_input(pid: i32, fd: u64, input: Input) -> bool {
    let Ok(file) = fs::metadata(format!("/proc/{pid}/fd/{fd}")) else { return false };
    match input {
        Input::Pipe { dev, ino } => file.st_dev() == dev && file.st_ino() == ino,
        Input::Terminal { rdev } => {
            file.st_mode() & libc::S_IFMT == libc::S_IFCHR && (file.st_rdev() == rdev || file.st_rdev() == DEV_TTY)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let line = b"42 (a) S (b) R 7 42 42 0 -1 4194304 90 0 0 0 200 100 0 0 20 0 1 0 5000 9 3 0";
        let process = parse_stat(line).expect("it is whole");
        assert_eq!((process.pid, process.parent, process.state, process.name.as_str()), (42, 7, 'R', "a) S (b"));
        assert_eq!(process.started_ticks, 5000);
        assert_eq!(parse_stat(b"42 (a) S"), None);
        assert_eq!(parse_stat(b""), None);
    }

    #[test]
    fn system_calls_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse_syscall("0 0x3 0x10 0x1 0x0 0x0 0x0 0x7ff 0x7f9\n"), Some((0, [3, 16, 1, 0, 0, 0])));
        assert_eq!(parse_syscall("running\n"), None);
        assert_eq!(watched("tfd:        0 events:       19 data:  0 pos:0 ino:3 sdev:d"), Some(0));
        assert_eq!(watched("tfd:        9 events:        4 data:  0"), None);
        assert_eq!(polled(&[3, 0, 0, 0, 1, 0, 0, 0]), Some(3));
        assert_eq!(polled(&[255, 255, 255, 255, 1, 0, 0, 0]), None);
    }

    #[test]
    fn a_process_whose_first_thread_has_ended_is_known_by_another() {
        let text = "import ctypes, platform, sys, threading\nthreading.Thread(target=sys.stdin.read).start()\n\
                    print('r', end='', flush=True)\n\
                    ctypes.CDLL(None).syscall({'x86_64': 60}.get(platform.machine(), 93), 0)";
        let mark = format!("NIKA_TEST=tree-{}", std::process::id());
        let mut python = std::process::Command::new("python3");
        let pipe = std::process::Stdio::piped;
        python.args(["-c", text]).env("NIKA_TEST", &mark["NIKA_TEST=".len()..]).stdin(pipe()).stdout(pipe());
        let Ok(mut python) = python.spawn() else { return eprintln!("skipped: there is no python3 here") };
        let pid = i32::try_from(python.id()).expect("a pid");
        std::io::Read::read_exact(python.stdout.as_mut().expect("a pipe"), &mut [0]).expect("it is up");
        while stat(&format!("/proc/{pid}/stat")).expect("it is there").state != 'Z' {
            std::thread::yield_now();
        }
        let process = look(pid).expect("it is there");
        assert!(process.lives() && process.state != 'Z' && process.rss_bytes > 0 && process.pid == pid, "{process:?}");
        assert_ne!(process.task, pid);
        assert_eq!(marked(&mark), [Pid::from_child(&python)]);
        drop(python.stdin.take());
        python.wait().expect("it ends");
        assert_eq!((look(pid), marked(&mark)), (None, Vec::new()));
    }

    #[test]
    fn a_fifo_that_is_being_opened_is_seen_as_the_program_names_it() {
        let dir = tempfile::tempdir().expect("a directory");
        for (script, program, fifo) in [
            ("mkfifo p; cat p; true", "cat", "p".to_owned()),
            ("mkfifo q; cd /; head -1 \"$OLDPWD/q\"; true", "head", format!("{}/q", dir.path().display())),
            ("mkfifo r; (echo x >r); true", "bash", "r".to_owned()),
        ] {
            let mut bash = std::process::Command::new("bash");
            let mut bash = bash.args(["-c", script]).current_dir(dir.path()).spawn().expect("bash runs");
            let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
            let seen = loop {
                let seen = opens(Pid::from_child(&bash));
                if seen.is_some() || std::time::Instant::now() > until {
                    break seen;
                }
                std::thread::yield_now();
            };
            for pid in below(Pid::from_child(&bash)) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
            bash.kill().expect("it runs");
            bash.wait().expect("it ends");
            assert_eq!(seen, Some((program.to_owned(), fifo)), "{script}");
        }
    }

    #[test]
    fn we_see_ourselves() {
        let process = look(rustix::process::getpid().as_raw_nonzero().get()).expect("we live");
        assert!(process.rss_bytes > 0 && age_ms(&process) < 3_600_000);
    }
}
