//! A supervisor and a world that wait for the next command.

use nika_guard::profile::Access;
use nika_host::proc::{How, Jobs, Order};

use crate::scene::{jobs, permit, profile, run, text, until, with_word};

fn ready(jobs: &Jobs) {
    until("a supervisor waits", || jobs.waiting().is_some());
}

/// `text` in a read-only sandbox.
fn confined(text: &str, dir: &std::path::Path) -> Order {
    let mut profile = profile(dir);
    profile.access = Access::ReadOnly;
    Order::shell(text, profile, "s")
}

#[test]
fn the_next_command_finds_nothing_of_the_one_before() {
    let dir = tempfile::tempdir().expect("a directory");
    let jobs = jobs();
    jobs.expect_more();
    let leave = "echo x > /tmp/left; echo x > /dev/shm/left; umask 0; ulimit -n 17; export LEFT=1; cd /; \
                 (setsid sleep 67.125 >/dev/null 2>&1 &); echo $$";
    let look = "ls -A /tmp /dev/shm | grep left; umask; ulimit -n; echo ${LEFT-none}; pwd; ps -e | grep -c sleep; \
                ip addr 2>/dev/null | grep -c 'inet ' ";
    let (cold, _) = run(&jobs, confined(look, dir.path()));
    for _ in 0..3 {
        ready(&jobs);
        let (_, exited) = run(&jobs, confined(leave, dir.path()));
        assert_eq!((exited.how, exited.left), (How::Status(0), 0));
        assert_eq!(with_word("67.125"), Vec::<String>::new());
        ready(&jobs);
        let (warm, exited) = run(&jobs, confined(look, dir.path()));
        assert_eq!(text(&warm), text(&cold));
        assert_eq!(warm.held(), cold.held());
        assert_eq!(exited.cwd, Some(dir.path().canonicalize().expect("it is there")));
    }
}

#[test]
fn an_unconfined_command_and_a_refused_one_need_no_world_and_leave_none() {
    let dir = tempfile::tempdir().expect("a directory");
    let jobs = jobs();
    jobs.expect_more();
    run(&jobs, Order::shell("true", profile(dir.path()), "s"));
    ready(&jobs);
    let (job, _) = run(&jobs, Order::shell("readlink /proc/self/ns/net", profile(dir.path()), "s"));
    let ours = std::fs::read_link("/proc/self/ns/net").expect("a link");
    assert_eq!(text(&job).trim(), ours.to_string_lossy());
    ready(&jobs);
    let mut refused = confined("true", dir.path());
    refused.profile.cwd = "/no/such/place".into();
    assert!(jobs.start(&permit(), refused).is_err());
    // The next one starts a supervisor of its own.
    let (job, _) = run(&jobs, confined("echo on", dir.path()));
    assert_eq!(text(&job), "on\n");
}

#[test]
fn who_waits_ends_with_the_jobs_and_one_that_was_killed_is_replaced() {
    let dir = tempfile::tempdir().expect("a directory");
    let jobs = jobs();
    run(&jobs, confined("true", dir.path()));
    assert!(jobs.waiting().is_none(), "nobody expects more");
    jobs.expect_more();
    run(&jobs, confined("true", dir.path()));
    ready(&jobs);
    let waiting = jobs.waiting().expect("a supervisor waits");
    rustix::process::kill_process(waiting, rustix::process::Signal::KILL).expect("it is ours");
    until("it is dead", || !crate::scene::lives(&waiting.as_raw_nonzero().to_string()));
    let (job, _) = run(&jobs, confined("echo on", dir.path()));
    assert_eq!(text(&job), "on\n");
    ready(&jobs);
    let waiting = jobs.waiting().expect("a supervisor waits").as_raw_nonzero().to_string();
    assert!(crate::scene::lives(&waiting));
    drop(jobs);
    // The thread that follows the last command may let go of them a moment later.
    until("it is gone", || !crate::scene::lives(&waiting));
}
