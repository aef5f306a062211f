//! Jobs that behave, jobs that do not, and what is left of either.

#[path = "jobs/ahead.rs"]
mod ahead;
#[path = "jobs/bounds.rs"]
mod bounds;
#[path = "jobs/descendants.rs"]
mod descendants;
#[path = "jobs/held.rs"]
mod held;
#[path = "jobs/input.rs"]
mod input;
#[path = "jobs/output.rs"]
mod output;
#[path = "jobs/place.rs"]
mod place;
#[path = "jobs/screen.rs"]
mod screen;

use std::time::{Duration, Instant};

use nika_guard::{Effects, Mode, Policy, Stance};
use nika_host::proc::{How, Jobs, KilledBy, StartError, State};

use crate::scene::{argv, end, jobs, permit, run, shell, text};

#[test]
fn a_status_is_a_status_and_a_signal_a_signal() {
    let jobs = jobs();
    for (script, how) in [
        ("true", How::Status(0)),
        ("exit 3", How::Status(3)),
        ("exit 255", How::Status(255)),
        ("kill -SEGV $$", How::Signal(11)),
        ("kill -KILL $$", How::Signal(9)),
        ("no-such-program-here", How::Status(127)),
        ("if", How::Status(2)),
    ] {
        let (_, exited) = run(&jobs, shell(script));
        assert_eq!((exited.how, exited.killed_by), (how, None), "{script}");
    }
}

#[test]
fn a_program_runs_without_a_shell() {
    let jobs = jobs();
    let (job, exited) = run(&jobs, argv(&["printf", "%s|", "a b", "$HOME", ""]));
    assert_eq!((text(&job).as_str(), exited.how), ("a b|$HOME||", How::Status(0)));
}

#[test]
fn the_text_sees_bash_as_it_always_is() {
    let jobs = jobs();
    let (job, _) = run(&jobs, shell("echo $0 $# \"$-\" $LINENO; declare -F; trap; shopt -q login_shell || echo plain"));
    assert_eq!(text(&job), "bash 0 hBc 1\nplain\n");
    let (job, exited) = run(&jobs, shell("printf '<%s>' a\\"));
    assert_eq!((text(&job).as_str(), exited.how), ("<a\\>", How::Status(0)));
    let (job, _) = run(&jobs, shell("cat <<END\nin\nEND"));
    assert_eq!(text(&job), "in\n");
}

#[test]
fn its_environment_is_the_profile_s() {
    let jobs = jobs();
    let mut order = argv(&["env"]);
    order.profile.env.push(("A".to_owned(), "1 2\n3".to_owned()));
    let (job, _) = run(&jobs, order);
    let text = text(&job);
    let names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert_eq!(names, ["PATH", "A", "NIKA_JOB"]);
}

#[test]
fn it_gets_nothing_else_of_ours() {
    let jobs = jobs();
    let _ours = std::fs::File::open("/etc/passwd").expect("it is there");
    // The two signals that the C library keeps for itself are as whoever runs the tests left them.
    let signals = "x=$(grep Sig /proc/self/status); \
                   while read -r name mask; do case $name in SigIgn:|SigBlk:) echo $((0x$mask & 0x7fffffff));; esac; done";
    let (job, _) = run(&jobs, shell(&format!("ls /proc/self/fd; {signals} <<< \"$x\"")));
    assert_eq!(text(&job), "0\n1\n2\n3\n0\n0\n");
}

#[test]
fn what_cannot_be_started_says_why() {
    let jobs = jobs();
    for (order, says) in [
        (argv(&["no-such-program-here"]), "the program cannot be run: No such file"),
        (argv(&["/etc/passwd"]), "the program cannot be run: Permission denied"),
        (argv(&["printf", "a\0b"]), "an argument or a variable holds a zero byte"),
        (argv(&[]), "the program cannot be run"),
    ] {
        // Places that only some users may look into would be another reason.
        let mut order = order;
        order.profile.env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let error = jobs.start(&permit(), order).expect_err("it cannot be started").to_string();
        assert!(error.starts_with(says), "{error}");
    }
    let mut nowhere = shell("true");
    nowhere.profile.cwd = "/no/such/place".into();
    let error = jobs.start(&permit(), nowhere).expect_err("there is no such place").to_string();
    assert!(error.starts_with("its working directory cannot be entered: No such file"), "{error}");
    let broken = Jobs::new("/no/such/program", None);
    assert!(matches!(broken.start(&permit(), shell("true")), Err(StartError::Io(_))));
    let mute = Jobs::new("/bin/true", None);
    assert!(matches!(mute.start(&permit(), shell("true")), Err(StartError::Io(_))));
}

#[test]
fn a_fifo_that_nobody_opens_at_its_other_end_is_named() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let ends = |script: &str, seconds: u64| {
        let mut order = shell(script);
        (order.profile.cwd, order.timeout) = (dir.path().to_path_buf(), Some(Duration::from_secs(seconds)));
        let exited = run(&jobs, order).1;
        assert_eq!(exited.killed_by, Some(KilledBy::Timeout), "{script}");
        exited.opens
    };
    // On a busy machine it may not have begun when its time is up.
    let named = [2, 6, 18, 54].into_iter().find_map(|seconds| ends("[ -p p ] || mkfifo p; cat p", seconds));
    assert_eq!(named, Some(("cat".to_owned(), "p".to_owned())));
    assert_eq!(ends("exec 3<>p; cat <p", 2), None, "somebody has it open");
}

#[test]
fn without_a_permit_to_run_nothing_starts() {
    let jobs = jobs();
    let effects = Effects::session();
    let session = Policy::default().judge(&Stance::from(Mode::ReadOnly), &effects).permit(None).expect("allowed");
    assert!(matches!(jobs.start(&session, shell("true")), Err(StartError::NotPermitted)));
    let (job, _) = run(&jobs, shell("true"));
    assert!(jobs.job(&session, "s", job.id()).is_some());
    assert!(jobs.job(&session, "another session", job.id()).is_none());
}

#[test]
fn what_it_used_is_told() {
    let jobs = jobs();
    let burn = "python3 -c 'b = bytearray(90_000_000)\nfor i in range(0, 90_000_000, 4096): b[i] = 1'";
    // Orphans count, too.
    let (_, exited) = run(&jobs, shell(&format!("{burn}; (i=0; while ((i < 150000)); do ((i++)); done) & wait")));
    assert!(exited.max_rss_bytes > 80_000_000 && exited.max_rss_bytes < 400_000_000, "{exited:?}");
    assert!(exited.user_ms > 20 && exited.wall_ms >= 20, "{exited:?}");
}

#[test]
fn a_background_job_tells_its_end_once() {
    let (tell, told) = std::sync::mpsc::channel();
    let tell = std::sync::Mutex::new(tell);
    let on_end = move |notice: &nika_host::proc::Notice| {
        let _ = tell.lock().expect("nobody panicked").send(notice.clone());
    };
    let jobs = Jobs::new(env!("CARGO_BIN_EXE_nika-run"), Some(Box::new(on_end)));
    run(&jobs, shell("true"));
    let mut order = shell("exit 4");
    order.background = true;
    let job = jobs.start(&permit(), order).expect("it starts");
    let notice = told.recv_timeout(crate::scene::LONG).expect("it is told");
    assert_eq!((notice.job.as_str(), notice.exited.how), (job.id(), How::Status(4)));
    crate::scene::until("the notice is kept", || jobs.take_notices("s") == [notice.clone()]);
    assert_eq!(jobs.take_notices("s"), []);
    assert!(told.try_recv().is_err(), "a job that somebody waits for was told, too");
}

#[test]
fn live_jobs_are_listed_with_all_their_processes() {
    let jobs = jobs();
    let job = jobs.start(&permit(), shell("sleep 61.5 & (setsid sleep 61.5 &) ; echo up; wait")).expect("it starts");
    crate::scene::line(&job, "up");
    crate::scene::until("both sleep", || {
        let listed = jobs.list(&permit(), "s");
        let [listed] = listed.as_slice() else { return false };
        let sleeping = listed.processes.iter().filter(|(process, _)| process.name == "sleep").count();
        sleeping == 2 && listed.job == job.id() && listed.processes.iter().any(|(one, _)| one.pid == job.pid())
    });
    assert!(jobs.list(&permit(), "another").is_empty());
    let exited = job.stop().expect("it ended");
    assert_eq!(exited.killed_by, Some(KilledBy::Stop));
    assert!(jobs.list(&permit(), "s").is_empty());
    assert_eq!(crate::scene::with_word("61.5"), Vec::<String>::new());
    assert_eq!(job.state(), State::Ended(exited));
}

#[test]
fn fifty_at_once() {
    let jobs = jobs();
    let all: Vec<_> = (0..50)
        .map(|n| jobs.start(&permit(), shell(&format!("read x < <(echo {n}); echo $x; exit $x"))).expect("it starts"))
        .collect();
    for (n, job) in all.iter().enumerate() {
        assert_eq!(end(job).how, How::Status(n as i32));
        assert_eq!(text(job), format!("{n}\n"));
    }
}

#[test]
fn one_job_costs_a_few_milliseconds() {
    let jobs = jobs();
    let mut took: Vec<Duration> = (0..200)
        .map(|_| {
            let begun = Instant::now();
            run(&jobs, shell("true"));
            begun.elapsed()
        })
        .collect();
    took.sort();
    // A bound that only a mistake breaks; the figure itself is for those who ask for it.
    println!("a job: median {:?}, best {:?}, p95 {:?}", took[100], took[0], took[190]);
    assert!(took[100] < Duration::from_millis(100), "{:?}", took[100]);
}
