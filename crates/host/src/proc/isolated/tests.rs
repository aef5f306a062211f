//! Children that behave, and children that do not. The shell plays most of them; this test program
//! itself, run again, is the one that limits itself.

use std::io::{ErrorKind, Read};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nika_guard::{Effects, Mode, Permit, Place, Policy, Stance};

use super::{Crash, Isolated};
use crate::proc::{Limits, limit_self};

fn permit() -> Permit {
    let effects = Effects::read(Place::inside("/w", "a.png"));
    Policy::default().judge(&Stance::from(Mode::ReadOnly), &effects).permit(None).expect("reading inside is allowed")
}

fn shell(script: &str) -> Isolated {
    Isolated { wall: Duration::from_secs(20), ..Isolated::new("/bin/sh", vec!["-c".into(), script.into()]) }
}

fn run(isolated: &Isolated, input: Vec<u8>) -> Result<Vec<u8>, Crash> {
    isolated.start(&permit(), "kind", input)?.finish(&|| false)
}

#[test]
fn bytes_go_in_and_come_out() {
    let input: Vec<u8> = (0..3_000_000u32).map(|n| n as u8).collect();
    assert_eq!(run(&shell("cat"), input.clone()).expect("cat works"), input);
    assert_eq!(run(&shell("printf %s $0"), Vec::new()).expect("it works"), b"kind");
}

#[test]
fn a_child_that_does_not_read_may_still_answer() {
    assert_eq!(run(&shell("echo no"), vec![0; 1 << 20]).expect("it answered"), b"no\n");
}

#[test]
fn nothing_of_ours_is_inherited() {
    let _ours = std::fs::File::open("/etc/passwd").expect("it is there");
    let answer = run(&shell("env; ls -l /proc/self/fd; pwd"), Vec::new()).expect("it answered");
    let answer = String::from_utf8(answer).expect("plain text");
    assert!(!answer.contains("CARGO") && !answer.contains("HOME") && !answer.contains("passwd"), "{answer}");
    assert!(answer.ends_with("\n/\n"), "{answer}");
}

#[test]
fn a_slow_child_is_killed_with_all_it_started() {
    let slow = Isolated { wall: Duration::from_millis(100), ..shell("sleep 77.25 & sleep 77.25; echo late") };
    let begun = Instant::now();
    assert!(matches!(run(&slow, Vec::new()), Err(Crash::TimedOut(_))));
    assert!(begun.elapsed() < Duration::from_secs(5));
    let left = || {
        std::fs::read_dir("/proc")
            .expect("proc")
            .flatten()
            .any(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default() == b"sleep\x0077.25\0")
    };
    // The kernel kills the group a moment after the signal was sent.
    while left() {
        assert!(begun.elapsed() < Duration::from_secs(5), "a grandchild outlived the kill");
        std::thread::yield_now();
    }
}

#[test]
fn a_child_that_nobody_wants_is_killed() {
    let stop = AtomicBool::new(false);
    let running = shell("sleep 60").start(&permit(), "kind", Vec::new()).expect("it starts");
    std::thread::scope(|scope| {
        scope.spawn(|| stop.store(true, Ordering::Relaxed));
        assert!(matches!(running.finish(&|| stop.load(Ordering::Relaxed)), Err(Crash::Cancelled)));
    });
}

#[test]
fn an_endless_answer_is_cut() {
    let endless = Isolated { max_output_bytes: 1 << 20, ..shell("cat /dev/zero") };
    assert!(matches!(run(&endless, Vec::new()), Err(Crash::TooMuch(_))));
}

#[test]
fn failing_is_told_from_dying() {
    assert!(matches!(run(&shell("exit 3"), Vec::new()), Err(Crash::Exit(3))));
    assert!(matches!(run(&shell("kill -SEGV $$"), Vec::new()), Err(Crash::Signal(11))));
    assert!(matches!(run(&Isolated::new("/no/such", vec![]), Vec::new()), Err(Crash::Start(_))));
}

#[test]
fn without_a_permit_to_read_nothing_starts() {
    let effects = Effects::session();
    let permit = Policy::default().judge(&Stance::from(Mode::ReadOnly), &effects).permit(None).expect("allowed");
    assert!(matches!(shell("echo").start(&permit, "kind", Vec::new()), Err(Crash::Start(_))));
}

/// Runs `limited_child` below in a child of its own.
fn limited(deed: &str) -> Result<String, Crash> {
    let args = ["--exact", "proc::isolated::tests::limited_child", "--nocapture", "--test-threads=1"];
    let again =
        Isolated { wall: Duration::from_secs(20), ..Isolated::new("/proc/self/exe", args.map(String::from).into()) };
    run(&again, deed.as_bytes().to_vec()).map(|answer| String::from_utf8_lossy(&answer).into_owned())
}

/// Not a test by itself: a child's life, when this program was started as one.
#[test]
fn limited_child() {
    let command_line = std::fs::read("/proc/self/cmdline").expect("our own");
    if !command_line.ends_with(b"\0kind\0") {
        return;
    }
    let mut deed = [0; 16];
    let read = rustix::io::read(rustix::stdio::stdin(), &mut deed).expect("a deed");
    let status = std::fs::File::open("/proc/thread-self/status").expect("our own");
    limit_self(&Limits { cpu_seconds: 1, ..Limits::default() }).expect("limits can be set");
    let say = |text: &str| rustix::io::write(rustix::stdio::stdout(), text.as_bytes()).expect("the pipe takes it");
    let tell = |what: &str, done: std::io::Result<()>| {
        say(&format!("{what}: {}\n", done.map_or_else(|error| format!("{:?}", error.kind()), |()| "done".into())))
    };
    match &deed[..read] {
        b"memory" => {
            let mut hoard = vec![0u8; 2 << 30];
            hoard[1 << 30] = 1;
            say(&format!("got {}", hoard.iter().map(|byte| usize::from(*byte)).sum::<usize>()));
        }
        b"spin" => {
            let mut n = 0u64;
            loop {
                n = std::hint::black_box(n.wrapping_add(1));
            }
        }
        b"tries" => {
            let path = std::env::temp_dir().join(format!("nika-limited-{}", std::process::id()));
            tell("read", std::fs::read("/etc/passwd").map(drop));
            tell("list", std::fs::read_dir("/").map(drop));
            tell("look", std::fs::metadata("/etc/passwd").map(drop));
            tell("write", std::fs::write(&path, "something"));
            tell("socket", std::net::UdpSocket::bind("127.0.0.1:0").map(drop));
            tell("pair", std::os::unix::net::UnixStream::pair().map(drop));
            tell("start", Command::new("/bin/true").spawn().map(drop));
            tell("thread", std::thread::Builder::new().spawn(|| ()).map(drop));
            tell("signal", rustix::process::test_kill_process(rustix::process::getpid()).map_err(Into::into));
            // What a parser does go on doing.
            drop(std::hint::black_box(vec![1u8; 64 << 20]));
            tell("memory", Ok(()));
            tell("panic", std::panic::catch_unwind(|| panic!("a parser's")).map_err(|_| ErrorKind::Other.into()));
        }
        _ => {
            let mut text = String::new();
            (&status).read_to_string(&mut text).expect("it is open");
            say(&text);
        }
    }
}

#[test]
fn a_limited_child_cannot_do_much() {
    assert!(matches!(limited("memory"), Err(Crash::Signal(6))));
    assert!(matches!(limited("spin"), Err(Crash::Signal(24 | 9))));
    let status = limited("status").expect("it answers");
    assert!(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "{status}");
    let told = limited("tries").expect("it answers");
    for what in ["read", "list", "look", "write", "socket", "pair", "start", "thread", "signal"] {
        assert!(told.contains(&format!("{what}: PermissionDenied\n")), "{what}: {told}");
    }
    for (what, how) in [("memory", "done"), ("panic", "Other")] {
        assert!(told.contains(&format!("{what}: {how}\n")), "{what}: {told}");
    }
}
