//! Jobs that a sandbox holds: the same supervisor, the same promises.

use std::path::Path;
use std::time::Duration;

use nika_guard::profile::{Access, Profile};
use nika_host::proc::{How, KilledBy, Order, Reading, StartError, State, Stdin, Until};

use crate::scene::{LONG, end, jobs, line, permit, text, with_word};

fn order(access: Access, root: &Path, script: &str) -> Order {
    let mut profile = Profile::new(access, std::fs::canonicalize(root).expect("it is there"), "/nonexistent");
    profile.env = vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
    Order::shell(script, profile, "s")
}

/// Starts it, or says that this system has no sandbox.
macro_rules! start {
    ($jobs:expr, $order:expr) => {
        match $jobs.start(&permit(), $order) {
            Ok(job) => job,
            Err(StartError::Refused { why, .. }) => {
                println!("skipped: {why}");
                return;
            }
            Err(error) => panic!("{error}"),
        }
    };
}

#[test]
fn a_held_job_runs_and_says_what_held() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let job = start!(jobs, order(Access::ReadOnly, dir.path(), "echo hello; echo x > f; exit 3"));
    let exited = end(&job);
    assert_eq!((exited.how, exited.killed_by, exited.left), (How::Status(3), None, 0));
    assert!(text(&job).starts_with("hello\n") && !dir.path().join("f").exists());
    assert_eq!(job.held().profile, "read-only");
}

#[test]
fn a_held_job_says_where_it_ended() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    for (script, how, place) in [
        ("mkdir -p a/b; cd a && exec true", How::Status(0), "a"),
        ("cd a; cd b; exit 4", How::Status(4), "a/b"),
        ("(cd a); false", How::Status(1), ""),
    ] {
        let job = start!(jobs, order(Access::Workspace, dir.path(), script));
        let exited = end(&job);
        let place = std::fs::canonicalize(dir.path().join(place)).expect("it is there");
        assert_eq!((exited.how, exited.cwd), (how, Some(place)), "{script}");
    }
}

#[test]
fn a_held_daemon_does_not_survive() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let script = "(setsid nohup sleep 90.25 >/dev/null 2>&1 &); echo up";
    let job = start!(jobs, order(Access::Workspace, dir.path(), script));
    let exited = end(&job);
    assert_eq!((exited.how, exited.left), (How::Status(0), 0));
    assert_eq!(exited.ended_too, ["sleep"]);
    assert_eq!(with_word("90.25"), Vec::<String>::new());
}

#[test]
fn what_a_held_job_left_may_finish_what_it_is_at() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let job = start!(jobs, order(Access::Workspace, dir.path(), "echo a > >(sleep 0.05; cat > late); exit 3"));
    let exited = end(&job);
    assert_eq!((exited.how, exited.left, exited.ended_too), (How::Status(3), 0, Vec::new()));
    assert_eq!(std::fs::read_to_string(dir.path().join("late")).expect("written"), "a\n");
}

#[test]
fn a_held_job_is_ended_by_its_bounds_and_by_request() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let mut late = order(Access::ReadOnly, dir.path(), "sleep 91.25; echo late");
    late.timeout = Some(Duration::from_millis(200));
    let job = start!(jobs, late);
    let exited = end(&job);
    assert_eq!((exited.how, exited.killed_by), (How::Signal(15), Some(KilledBy::Timeout)));
    let job = start!(jobs, order(Access::ReadOnly, dir.path(), "trap 'exit 9' TERM; echo up; sleep 91.25 & wait"));
    line(&job, "up");
    assert_eq!(job.stop().map(|exited| exited.how), Some(How::Status(9)));
    assert_eq!(with_word("91.25"), Vec::<String>::new());
}

#[test]
fn a_held_job_that_lingers_lives_on() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let mut lingers = order(Access::Workspace, dir.path(), "(setsid sleep 92.25 &); echo now");
    lingers.linger = true;
    let job = start!(jobs, lingers);
    let exited = end(&job);
    assert_eq!((exited.how, exited.left), (How::Status(0), 1));
    assert_eq!(with_word("92.25").len(), 1);
    jobs.end_session("s");
    assert_eq!(with_word("92.25"), Vec::<String>::new());
    let mut alone = order(Access::Workspace, dir.path(), "echo now");
    alone.linger = true;
    let job = start!(jobs, alone);
    assert_eq!(end(&job).left, 0);
}

#[test]
fn a_held_job_has_its_terminal_and_waits_at_it() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let mut typed = order(Access::ReadOnly, dir.path(), "stty size; read -p 'name? ' x < /dev/tty; echo hello $x");
    typed.stdin = Stdin::Terminal { rows: 20, cols: 70 };
    let job = start!(jobs, typed);
    let chunk = job.read(&Reading::from(0).waiting(Until::End, LONG));
    assert_eq!(chunk.state, State::Waiting, "{:?}", String::from_utf8_lossy(&chunk.bytes));
    job.write(b"you\n", LONG).expect("taken");
    assert_eq!(end(&job).how, How::Status(0));
    let said = text(&job);
    assert!(said.starts_with("20 70\r\n") && said.ends_with("hello you\r\n"), "{said:?}");
}

#[test]
fn a_held_job_that_leaves_its_terminal_is_heard_when_it_comes_back() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let script = "echo here; exec 0<&- 1>&- 2>&-; sleep 0.6; exec 1>/dev/tty; seq 1 40000; echo over";
    let mut leaves = order(Access::Workspace, dir.path(), script);
    leaves.stdin = Stdin::Terminal { rows: 20, cols: 70 };
    let job = start!(jobs, leaves);
    assert_eq!(end(&job).how, How::Status(0));
    let summary = job.summary();
    let (head, tail) = (String::from_utf8_lossy(&summary.head), String::from_utf8_lossy(&summary.tail));
    assert!(head.starts_with("here\r\n1\r\n") && tail.ends_with("40000\r\nover\r\n"), "{tail:?}");
}

#[test]
fn a_held_job_cannot_type_into_its_terminal_nor_change_what_drives_it() {
    let jobs = jobs();
    let dir = tempfile::tempdir().expect("a directory");
    let tries = "import fcntl, termios\n\
                 for request, argument in (termios.TIOCSTI, b'x'), (termios.TIOCSETD, bytes(4)), (0x541c, bytes(1)):\n    \
                     try: fcntl.ioctl(0, request, argument); print('done')\n    \
                     except OSError as error: print(error.errno)\n\
                 print(fcntl.ioctl(0, termios.FIONREAD, bytes(4)) == bytes(4))\n";
    let mut typed = order(Access::Workspace, dir.path(), &format!("python3 -c \"{tries}\""));
    typed.stdin = Stdin::Terminal { rows: 20, cols: 70 };
    let job = start!(jobs, typed);
    end(&job);
    // Not permitted, each of them, and nothing waits to be read.
    assert_eq!(text(&job), "1\r\n1\r\n1\r\nTrue\r\n");
}
