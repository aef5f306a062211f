//! Input, terminals, and who waits for either.

use std::sync::Arc;

use nika_host::proc::{How, Job, Jobs, Order, Reading, State, Stdin, Until};

use crate::scene::{LONG, argv, end, jobs, line, permit, run, shell, text, until};

const TERMINAL: Stdin = Stdin::Terminal { rows: 30, cols: 97 };

fn start(jobs: &Jobs, mut order: Order, stdin: Stdin) -> Arc<Job> {
    order.stdin = stdin;
    order.profile.env.push(("TERM".to_owned(), "xterm".to_owned()));
    jobs.start(&permit(), order).expect("it starts")
}

#[test]
fn a_closed_input_is_at_its_end() {
    let jobs = jobs();
    let (job, exited) = run(&jobs, shell("cat; read x; echo $?"));
    assert_eq!((text(&job).as_str(), exited.how), ("1\n", How::Status(0)));
    assert!(job.write(b"x", LONG).is_err());
}

#[test]
fn a_pipe_takes_what_it_is_given() {
    let jobs = jobs();
    let job = start(&jobs, argv(&["wc", "-c"]), Stdin::Pipe);
    let much = vec![b'x'; 1_000_000];
    assert_eq!(job.write(&much, LONG).expect("taken"), much.len());
    job.close_input().expect("closed");
    end(&job);
    assert_eq!(text(&job).trim(), "1000000");
}

#[test]
fn a_pipe_that_nobody_reads_takes_what_fits() {
    let jobs = jobs();
    let job = start(&jobs, argv(&["sleep", "80.5"]), Stdin::Pipe);
    let written = job.write(&vec![0; 1 << 20], std::time::Duration::from_millis(50)).expect("some of it");
    assert_eq!(written, 64 << 10);
    job.stop();
}

#[test]
fn a_terminal_is_one() {
    let jobs = jobs();
    let job = start(
        &jobs,
        shell("tty; stty size; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo three; echo > /dev/tty && echo controls"),
        TERMINAL,
    );
    end(&job);
    let said = text(&job).replace('\r', "");
    assert!(said.starts_with("/dev/pts/") && said.contains("\n30 97\nthree\n"), "{said}");
    assert!(said.ends_with("controls\n"), "{said}");
}

#[test]
fn a_terminal_echoes_and_has_its_keys() {
    let jobs = jobs();
    let job = start(&jobs, shell("read x; echo got $x; cat; echo over; sleep 81.5; echo never"), TERMINAL);
    job.write(b"hello\n", LONG).expect("taken");
    line(&job, "got hello");
    assert!(text(&job).starts_with("hello\r\n"));
    job.write(b"\x04", LONG).expect("taken");
    line(&job, "over");
    // Ctrl-C, once the sleep is what the terminal's foreground is.
    until("it sleeps", || {
        let listed = jobs.list(&permit(), "s");
        listed.iter().any(|job| job.processes.iter().any(|(process, _)| process.name == "sleep"))
    });
    job.write(b"\x03", LONG).expect("taken");
    assert_eq!(end(&job).how, How::Signal(2));
}

/// A thread polls the input and reads a line of it, while the first of its process has ended.
const FIRST_THREAD_ENDED: &str = "
import ctypes, os, platform, select, threading
def read():
    p = select.poll()
    p.register(0, select.POLLIN)
    p.poll()
    os.read(0, 9)
    os._exit(0)
threading.Thread(target=read).start()
ctypes.CDLL(None).syscall({'x86_64': 60}.get(platform.machine(), 93), 0)
";

fn waits(order: Order, stdin: Stdin) {
    let shown = format!("{:?}", order.program);
    let jobs = jobs();
    let job = start(&jobs, order, stdin);
    let chunk = job.read(&Reading::from(0).waiting(Until::End, LONG));
    assert_eq!(chunk.state, State::Waiting, "{shown}");
    // What it gets ends the wait, and is what ends it.
    job.write(b"x\n", LONG).expect("taken");
    // It may have ended by it already; waiting it is no more.
    assert_ne!(job.state(), State::Waiting, "{shown}");
    // Whoever has ended reads no end of input.
    let _ = job.close_input();
    assert_eq!(end(&job).how, How::Status(0), "{shown}");
}

#[test]
fn who_waits_for_input_is_known() {
    let all = [
        (shell("read x"), Stdin::Pipe),
        (shell("read x"), TERMINAL),
        (shell("cat > /dev/null"), Stdin::Pipe),
        (shell("true | (cat <&3 >/dev/null) 3<&0; read x || true"), Stdin::Pipe),
        (argv(&["cat"]), TERMINAL),
        (argv(&["python3", "-c", "input()"]), Stdin::Pipe),
        (argv(&["python3", "-c", "input('name? ')"]), TERMINAL),
        (
            shell("exec 3</dev/tty 0</dev/null; printf 'Password: ' >/dev/tty; read -rs x <&3; read x <&3; true"),
            TERMINAL,
        ),
        (argv(&["python3", "-c", FIRST_THREAD_ENDED]), Stdin::Pipe),
        (argv(&["python3", "-c", FIRST_THREAD_ENDED]), TERMINAL),
        (argv(&["python3", "-c", "import select, sys; select.select([sys.stdin], [], [])"]), Stdin::Pipe),
        (
            argv(&["python3", "-c", "import select; p = select.poll(); p.register(0, select.POLLIN); p.poll()"]),
            Stdin::Pipe,
        ),
        (
            argv(&["python3", "-c", "import select; p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()"]),
            Stdin::Pipe,
        ),
    ];
    std::thread::scope(|scope| {
        for (order, stdin) in all {
            scope.spawn(move || waits(order, stdin));
        }
    });
}

#[test]
fn a_reader_that_was_told_of_the_wait_can_wait_for_more() {
    let jobs = jobs();
    // Like a server that would take keys, too.
    let job = start(&jobs, shell("(sleep 2.5; echo late) & read x"), TERMINAL);
    let chunk = job.read(&Reading::from(0).waiting(Until::Output, LONG));
    assert_eq!((chunk.state, chunk.bytes), (State::Waiting, Vec::new()));
    let chunk = job.read(&Reading::from(0).waiting(Until::Output, LONG));
    assert_eq!(chunk.bytes, b"late\r\n");
    job.stop();
}

#[test]
fn who_sleeps_works_or_talks_does_not_wait() {
    let jobs = jobs();
    let all = [
        ("sleep 82.5", Stdin::Pipe),
        ("while :; do :; done", Stdin::Pipe),
        ("while :; do echo x; sleep 0.3; done", TERMINAL),
        ("exec 3<>/dev/zero; sleep 82.5 | read x", Stdin::Pipe),
    ];
    let started: Vec<_> = all.iter().map(|(script, stdin)| start(&jobs, shell(script), *stdin)).collect();
    // Another waits beside them, so that the time is up when it is said to.
    let control = start(&jobs, shell("read x"), Stdin::Pipe);
    let chunk = control.read(&Reading::from(0).waiting(Until::End, LONG));
    assert_eq!(chunk.state, State::Waiting);
    for (job, (script, _)) in started.iter().zip(all) {
        assert_eq!(job.state(), State::Running, "{script}");
    }
    jobs.end_session("s");
}
