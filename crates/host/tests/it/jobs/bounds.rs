//! Bounds of time, memory and number, and ends that are asked for.

use std::time::{Duration, Instant};

use nika_host::proc::{How, KilledBy};

use crate::scene::{argv, end, jobs, line, lives, permit, run, shell, until, with_word};

#[test]
fn a_timeout_ends_the_whole_tree() {
    let jobs = jobs();
    let mut order = shell("sleep 63.25 & (setsid sleep 63.25 &); echo $BASHPID; sleep 63.25; echo late");
    order.timeout = Some(Duration::from_millis(300));
    let begun = Instant::now();
    let (job, exited) = run(&jobs, order);
    assert_eq!((exited.how, exited.killed_by, exited.left), (How::Signal(15), Some(KilledBy::Timeout), 0));
    assert!(begun.elapsed() < Duration::from_secs(10) && exited.wall_ms >= 300);
    assert_eq!(with_word("63.25"), Vec::<String>::new());
    assert!(!crate::scene::text(&job).contains("late"));
}

#[test]
fn one_that_will_not_end_is_killed_after_its_grace() {
    let jobs = jobs();
    let job =
        jobs.start(&permit(), shell("trap '' TERM INT HUP; echo up; while :; do sleep 0.1; done")).expect("it starts");
    line(&job, "up");
    let begun = Instant::now();
    let exited = job.stop_within(Duration::from_millis(400)).expect("it ended");
    assert_eq!((exited.how, exited.killed_by), (How::Signal(9), Some(KilledBy::Stop)));
    assert!(begun.elapsed() >= Duration::from_millis(400) && begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn one_that_ends_when_asked_may_tidy_up() {
    let jobs = jobs();
    let script = "trap 'echo tidy; exit 9' TERM; echo up; while :; do sleep 0.05; done";
    let job = jobs.start(&permit(), shell(script)).expect("it starts");
    line(&job, "up");
    let exited = job.stop().expect("it ended");
    assert_eq!((exited.how, exited.killed_by), (How::Status(9), Some(KilledBy::Stop)));
    assert!(crate::scene::text(&job).ends_with("tidy\n"));
}

#[test]
fn one_that_is_stopped_is_ended_too() {
    let jobs = jobs();
    let job = jobs.start(&permit(), shell("echo $$; kill -STOP $$; echo on")).expect("it starts");
    until("it is stopped", || {
        std::fs::read_to_string(format!("/proc/{}/stat", job.pid())).is_ok_and(|stat| stat.contains(") T "))
    });
    let begun = Instant::now();
    assert_eq!(job.stop().expect("it ended").how, How::Signal(15));
    assert!(begun.elapsed() < Duration::from_millis(1900));
}

#[test]
fn one_that_takes_too_much_memory_is_ended() {
    let jobs = jobs();
    let mut order = shell("python3 -c '\nb = []\nwhile True: b.append(bytearray(b\"x\" * 4_000_000))'");
    order.profile.limits.memory_bytes = 150 << 20;
    let (_, exited) = run(&jobs, order);
    assert_eq!((exited.how, exited.killed_by), (How::Signal(9), Some(KilledBy::Memory)));
}

#[test]
fn files_in_memory_that_nobody_maps_count_as_memory() {
    let jobs = jobs();
    let hoard = "import os, time\nheld = []\nfor _ in range(40):\n  f = os.memfd_create(\"x\"); held.append(f)\n  \
                 os.write(f, b\"x\" * (10 << 20)); time.sleep(0.05)\nprint(\"all held\")";
    let mut order = shell(&format!("python3 -c '{hoard}'"));
    order.profile.limits.memory_bytes = 150 << 20;
    let (job, exited) = run(&jobs, order);
    assert_eq!((exited.how, exited.killed_by), (How::Signal(9), Some(KilledBy::Memory)));
    assert!(!crate::scene::text(&job).contains("all held"));
}

/// Ends the first thread of a process; the others go on.
const LEAVE: &str = "import ctypes, mmap, os, platform, sys, threading, time\nlibc = ctypes.CDLL(None)\n\
                     leave = lambda: libc.syscall({'x86_64': 60}.get(platform.machine(), 93), 0)\n";

/// Runs a text of Python under a bound of 150 MiB; whether it came to `all held`.
fn hoards(text: &str) -> (bool, Option<KilledBy>) {
    let jobs = jobs();
    let mut order = argv(&["python3", "-c", &format!("{LEAVE}{text}")]);
    order.profile.limits.memory_bytes = 150 << 20;
    let (job, exited) = run(&jobs, order);
    (crate::scene::text(&job).contains("all held"), exited.killed_by)
}

#[test]
fn what_threads_hold_after_the_first_has_ended_counts_as_memory() {
    let text = "def hoard():\n  held = []\n  for _ in range(40):\n    held.append(bytearray(b\"x\" * (10 << 20)))\n    \
                time.sleep(0.05)\n  print(\"all held\", flush=True)\n  os._exit(0)\n\
                threading.Thread(target=hoard).start()\nleave()";
    assert_eq!(hoards(text), (false, Some(KilledBy::Memory)));
}

#[test]
fn shared_memory_that_nobody_touches_any_more_counts() {
    let text = "held = []\nfor _ in range(40):\n  m = mmap.mmap(-1, 10 << 20)\n  m.write(b\"x\" * (10 << 20))\n  \
                m.madvise(mmap.MADV_DONTNEED)\n  held.append(m)\n  time.sleep(0.05)\nprint(\"all held\")";
    assert_eq!(hoards(text), (false, Some(KilledBy::Memory)));
}

#[test]
fn files_in_memory_that_are_mapped_and_open_nowhere_count_as_memory() {
    let text = "libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]\n\
                for _ in range(40):\n  f = os.memfd_create(\"x\")\n  os.write(f, b\"x\" * (10 << 20))\n  \
                libc.mmap(None, 10 << 20, mmap.PROT_READ, mmap.MAP_SHARED, f, 0)\n  os.close(f)\n  \
                time.sleep(0.05)\nprint(\"all held\")";
    assert_eq!(hoards(text), (false, Some(KilledBy::Memory)));
}

#[test]
fn what_is_mapped_of_a_file_on_disk_is_no_memory_that_is_held() {
    let file = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
    file.set_len(400 << 20).expect("one with holes");
    let (file, jobs) = (std::os::fd::AsRawFd::as_raw_fd(&file), jobs());
    // Some in memory, so that it is looked at, too; and a good part of the bound.
    let text = "m = mmap.mmap(-1, 60 << 20)\nm.write(b\"x\" * (60 << 20))\nfile = open(sys.argv[1], \"r+b\")\n\
                n = mmap.mmap(file.fileno(), 400 << 20)\nfor at in range(0, 400 << 20, 4096): n[at]\n\
                time.sleep(0.5)\nprint(\"all held\")";
    let place = format!("/proc/{}/fd/{file}", std::process::id());
    let mut order = argv(&["python3", "-c", &format!("{LEAVE}{text}"), &place]);
    order.profile.limits.memory_bytes = 150 << 20;
    let (job, exited) = run(&jobs, order);
    assert_eq!((crate::scene::text(&job).as_str(), exited.killed_by), ("all held\n", None));
}

#[test]
fn a_hundred_forks_are_too_many_for_forty() {
    let jobs = jobs();
    let mut order = shell("for i in $(seq 100); do (setsid sleep 64.75 &) ; done; sleep 64.75");
    order.profile.limits.processes = 40;
    let (_, exited) = run(&jobs, order);
    assert_eq!((exited.killed_by, exited.left), (Some(KilledBy::Processes), 0));
    assert_eq!(with_word("64.75"), Vec::<String>::new());
}

#[test]
fn a_fork_bomb_ends() {
    let jobs = jobs();
    // Bounded by itself, should we fail: each level makes two, and there are nine levels.
    let script =
        "bomb() { (($1 > 0)) || { sleep 65.75; return; }; bomb $(($1 - 1)) & bomb $(($1 - 1)) & wait; }; bomb 9";
    let mut order = shell(script);
    order.profile.limits.processes = 60;
    let (_, exited) = run(&jobs, order);
    assert_eq!((exited.killed_by, exited.left), (Some(KilledBy::Processes), 0));
    assert_eq!(with_word("bomb 9"), Vec::<String>::new());
}

#[test]
fn a_file_may_not_grow_without_end() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let mut order = shell("head -c 5000000 /dev/zero > big; ls -l big | cut -d' ' -f5");
    order.profile.cwd = dir.path().to_path_buf();
    order.profile.limits.file_bytes = 1 << 20;
    let (job, _) = run(&jobs, order);
    assert!(crate::scene::text(&job).ends_with("1048576\n"));
}

#[test]
fn a_session_s_end_is_the_end_of_its_jobs_alone() {
    let jobs = jobs();
    let start = |session: &str, keep: bool| {
        let mut order = shell("echo $$; sleep 66.5");
        order.session = session.to_owned();
        order.background = true;
        order.keep = keep;
        let job = jobs.start(&permit(), order).expect("it starts");
        let pid = line(&job, "");
        (job, pid)
    };
    let ((one, first), (_, second), (kept, third)) = (start("a", false), start("b", false), start("a", true));
    jobs.end_session("a");
    assert!(!lives(&first) && lives(&second) && lives(&third));
    assert_eq!(end(&one).killed_by, Some(KilledBy::Stop));
    kept.stop();
    assert!(!lives(&third));
    drop(jobs);
    assert!(!lives(&second));
}
