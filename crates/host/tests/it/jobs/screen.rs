//! What a job's terminal shows, and how it ends.

use std::sync::Arc;

use nika_guard::ExecKind;
use nika_host::proc::{How, Job, Jobs, KilledBy, Order, Reading, State, Stdin, Until};

use crate::scene::{LONG, argv, end, jobs, lives, permit, shell};

const SIZE: Stdin = Stdin::Terminal { rows: 10, cols: 40 };

fn start(jobs: &Jobs, mut order: Order) -> Arc<Job> {
    order.stdin = SIZE;
    order.profile.env.push(("TERM".to_owned(), "xterm-256color".to_owned()));
    jobs.start(&permit(), order).expect("it starts")
}

/// What is typed.
fn keys(text: &str) -> Vec<u8> {
    text.replace('\n', "\r").into_bytes()
}

/// What stands there once a line pleases.
fn shows(job: &Job, cursor: u64, text: &str) -> (String, u64) {
    let there = |line: &[u8]| String::from_utf8_lossy(line).contains(text);
    job.find(&Reading { at_most: LONG, ..Reading::from(cursor) }, &there);
    let view = job.view(&Reading::from(cursor));
    let screen = view.screen.map(|picture| picture.text).unwrap_or_default();
    let shown = format!("{}{screen}", view.text);
    assert!(shown.contains(text), "no {text:?} in {shown:?}");
    (shown, view.chunk.next)
}

/// Whether a line comes that is this.
fn finds(job: &Job, text: &str) -> bool {
    let there = |line: &[u8]| line == text.as_bytes();
    !job.find(&Reading { at_most: LONG, ..Reading::from(0) }, &there).text.is_empty()
}

#[test]
fn progress_is_one_line_and_colours_are_none() {
    let jobs = jobs();
    let script = r"for n in 1 2 3; do printf '\r%s of 3' $n; done; printf '\n\033[32mgreen\033[m\n'; printf 'a\tb\n'";
    let job = start(&jobs, shell(script));
    end(&job);
    let view = job.view(&Reading::from(0));
    assert_eq!((view.text.as_str(), view.screen), ("3 of 3\ngreen\na       b\n", None));
}

#[test]
fn a_program_that_draws_is_seen_as_it_stands() {
    let jobs = jobs();
    let script = r"printf 'before\n\033[?1049h\033[2J\033[3;5Hmenu'; read x; printf '\033[4;5H%s' $x; read y; printf '\033[?1049lafter\n'";
    let job = start(&jobs, shell(script));
    let (shown, next) = shows(&job, 0, "menu");
    assert_eq!(shown, "before\n\n\n    menu");
    job.write(&keys("one\n"), LONG).expect("taken");
    let (_, next) = shows(&job, next, "    one");
    job.write(&keys("two\n"), LONG).expect("taken");
    end(&job);
    let view = job.view(&Reading::from(next));
    assert_eq!((view.text.as_str(), view.screen), ("after\n", None));
}

#[test]
fn what_is_asked_of_the_terminal_is_answered() {
    let jobs = jobs();
    // Where the cursor is, as prompts ask it: the reply is typed.
    let script = r"stty raw -echo; printf 'ab\033[6n'; IFS= read -r -n 6 -t 20 x; stty sane; printf '\nheard %q\n' $x";
    let job = start(&jobs, shell(script));
    shows(&job, 0, r"heard $'\E[1;3R'");
    end(&job);
}

#[test]
fn what_is_new_is_read_when_it_is_quiet() {
    let jobs = jobs();
    let job = start(&jobs, shell(r"for n in 1 2 3 4; do printf '%s ' $n; sleep 0.01; done; read y"));
    let view = job.view(&Reading::from(0).waiting(Until::Output, LONG));
    assert_eq!(view.text, "1 2 3 4\n");
    job.stop();
}

#[test]
fn a_line_that_the_terminal_would_cut_is_refused_whole() {
    let jobs = jobs();
    let job = start(&jobs, argv(&["wc", "-c"]));
    let long = vec![b'x'; 5000];
    let refused = job.write(&long, LONG).expect_err("it would be cut");
    assert!(refused.to_string().contains("4095"), "{refused}");
    let lines = [&long[..4000], b"\r", &long[..4000], b"\r"].concat();
    assert_eq!(job.write(&lines, LONG).expect("taken"), lines.len());
    job.close_input().expect("its end");
    shows(&job, 0, "8002");
}

#[test]
fn a_line_that_several_calls_type_is_not_cut_either() {
    let jobs = jobs();
    let job = start(&jobs, argv(&["wc", "-c"]));
    let half = vec![b'x'; 3000];
    assert_eq!(job.write(&half, LONG).expect("taken"), 3000);
    let refused = job.write(&half, LONG).expect_err("it would be cut").to_string();
    assert!(refused.contains("4095 bytes, of which 3000 stand there from before"), "{refused}");
    assert_eq!(job.write(b"y\r", LONG).expect("taken"), 2);
    // A line that was taken back counts no more.
    assert_eq!(job.write(&half, LONG).expect("taken"), 3000);
    assert_eq!(job.write(b"\x15", LONG).expect("taken"), 1);
    assert_eq!(job.write(&[&half[..], b"\r"].concat(), LONG).expect("taken"), 3001);
    job.close_input().expect("its end");
    shows(&job, 0, "6003");
    end(&job);
    assert!(job.write(b"x", LONG).is_err(), "it has ended");
}

#[test]
fn a_program_that_reads_keys_takes_any_number_of_them() {
    let jobs = jobs();
    let job = start(&jobs, shell("stty raw -echo; echo up; head -c 9000 | wc -c; stty sane"));
    let (_, next) = shows(&job, 0, "up");
    let keys = vec![b'x'; 3000];
    for _ in 0..3 {
        assert_eq!(job.write(&keys, LONG).expect("taken"), 3000);
    }
    shows(&job, next, "9000");
    end(&job);
}

#[test]
fn what_is_found_in_a_flood_without_lines_is_its_last_state() {
    let jobs = jobs();
    let job = start(
        &jobs,
        shell(r"for ((n = 0; n < 20000; n++)); do printf '\r%s of 20000' $n; done; printf '\rready> '; read x"),
    );
    // Over the last number, whose end is left.
    assert!(finds(&job, "ready> f 20000"));
    job.stop();
}

#[test]
fn a_line_longer_than_the_screen_is_found_once_a_search_at_a_time() {
    let jobs = jobs();
    // Each on the row below the last, and all of them one line: more rows than the screen has, and more than an answer.
    let job =
        start(&jobs, shell(r"echo first; for ((n = 0; n < 99; n++)); do printf '%s\r\v' row$n; done; echo; echo last"));
    end(&job);
    let (mut shown, mut cursor) = (String::new(), 0);
    for _ in 0..99 {
        let view = job.find(&Reading { max_bytes: 200, ..Reading::from(cursor) }, &|line| !line.is_empty());
        shown.push_str(&view.text);
        cursor = view.chunk.next;
        if !view.chunk.more {
            break;
        }
    }
    let rows: String = (0..99).map(|n| format!("row{n}\n")).collect();
    assert_eq!(shown, format!("first\n{rows}last\n"));
}

#[test]
fn a_job_that_leaves_its_terminal_is_heard_when_it_comes_back() {
    let jobs = jobs();
    let script =
        "echo here; exec 0<&- 1>&- 2>&-; sleep 0.6; exec 1>/dev/tty; seq 1 40000; read x < /dev/tty; echo got $x";
    let job = start(&jobs, shell(script));
    shows(&job, 0, "here");
    // More than the terminal holds: somebody must take it.
    assert!(finds(&job, "40000"));
    job.write(&keys("you\n"), LONG).expect("taken");
    end(&job);
    let tail = String::from_utf8_lossy(&job.summary().tail).into_owned();
    assert!(tail.ends_with("got you\r\n"), "{tail:?}");
}

#[test]
fn a_screen_that_a_program_leaves_behind_is_shown_to_the_end() {
    let jobs = jobs();
    let job = start(&jobs, shell(r"printf 'before\n\033[?1049h\033[2J\033[3;5Hmenu\033]0;no end'"));
    end(&job);
    let view = job.view(&Reading::from(0));
    assert_eq!(
        (view.text.as_str(), view.screen.map(|picture| picture.text)),
        ("before\n", Some("\n\n    menu".into()))
    );
}

#[test]
fn whoever_keeps_the_terminal_open_does_not_keep_the_job() {
    let jobs = jobs();
    let job = start(&jobs, shell("trap '' HUP; setsid sh -c 'echo far $$; sleep 95.5' & read x"));
    let (shown, _) = shows(&job, 0, "far ");
    let pid = shown.lines().find_map(|line| line.strip_prefix("far ")).expect("its id").trim().to_owned();
    job.write(&keys("\n"), LONG).expect("taken");
    let exited = end(&job);
    assert_eq!((exited.how, exited.left, exited.killed_by), (How::Status(0), 0, None));
    assert!(!lives(&pid));
}

#[test]
fn a_hundred_terminals_are_talked_to_at_once() {
    let jobs = jobs();
    let all: Vec<_> = (0..100).map(|_| start(&jobs, shell("read x; echo got $x"))).collect();
    for (n, job) in all.iter().enumerate() {
        job.write(&keys(&format!("n{n}\n")), LONG).expect("taken");
    }
    for (n, job) in all.iter().enumerate() {
        end(job);
        assert_eq!(job.view(&Reading::from(0)).text, format!("n{n}\ngot n{n}\n"));
        assert!(job.write(b"x", LONG).is_err(), "it has ended");
    }
}

#[test]
fn an_interactive_shell_controls_its_jobs_and_ends_with_its_terminal() {
    let jobs = jobs();
    let job = start(&jobs, argv(&["bash", "--norc", "--noprofile", "-i"]));
    // What is in front says so when it is.
    job.write(&keys("bash -c 'echo fro\"\"nt; read x'\n"), LONG).expect("taken");
    let (shown, next) = shows(&job, 0, "front");
    assert!(!shown.contains("no job control") && !shown.contains("terminal process group"), "{shown}");
    // Ctrl-Z goes to it, and the shell goes on.
    job.write(&keys("\u{1a}"), LONG).expect("taken");
    let (_, next) = shows(&job, next, "Stopped");
    job.write(&keys("echo go\"\"es\n"), LONG).expect("taken");
    shows(&job, next, "goes");
    let pids: Vec<String> = jobs.list(&permit(), "s")[0].processes.iter().map(|(one, _)| one.pid.to_string()).collect();
    let exited = job.stop().expect("it ended");
    // It ends by the loss of its terminal, not by the kill that follows what stays.
    assert_eq!((exited.how, exited.killed_by), (How::Signal(1), Some(KilledBy::Stop)));
    assert!(pids.iter().all(|pid| !lives(pid)));
}

#[test]
fn what_left_its_session_ends_with_the_job() {
    let jobs = jobs();
    let script = "trap '' HUP; (setsid setsid sh -c 'trap \"\" HUP TERM; echo far $$; sleep 96.5' &); read x";
    let job = start(&jobs, shell(script));
    let (shown, _) = shows(&job, 0, "far ");
    let pid = shown.lines().find_map(|line| line.strip_prefix("far ")).expect("its id").trim().to_owned();
    assert!(lives(&pid));
    job.stop();
    assert!(!lives(&pid));
}

#[test]
fn a_job_knows_how_it_was_judged_and_that_it_is_on_a_terminal() {
    let jobs = jobs();
    let job = start(&jobs, argv(&["sleep", "97.5"]));
    let confined = jobs.confinement("s", job.id()).expect("it is there");
    assert!(confined.terminal && !confined.reaches && confined.kind == ExecKind::Opaque, "{confined:?}");
    assert!(jobs.list(&permit(), "s")[0].terminal);
    assert_eq!(job.state(), State::Running);
    jobs.end_session("s");
}
