//! Nothing that a job starts outlives it, whichever way it leaves, and whoever is killed.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use nika_host::proc::{How, KilledBy};

use crate::scene::{LONG, end, jobs, line, lives, permit, run, shell, text, until};

/// A daemon by the book, from a job that ends at once. It says its id before.
const DAEMON: &str = r#"
python3 - <<'END'
import os, signal, sys, time
if os.fork(): os.wait(); sys.exit()
os.setsid()
if os.fork(): os._exit(0)
for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(s, signal.SIG_IGN)
os.chdir("/")
print("daemon", os.getpid(), flush=True)
null = os.open("/dev/null", os.O_RDWR)
for fd in (0, 1, 2): os.dup2(null, fd)
time.sleep(70)
END
"#;

#[test]
fn a_daemon_does_not_survive() {
    let jobs = jobs();
    // It is up before the command ends: it wrote to the fifo's place, the output, which is read here.
    let job = jobs.start(&permit(), shell(&format!("{DAEMON}\nsleep 0.3"))).expect("it starts");
    let pid = line(&job, "daemon ");
    let exited = end(&job);
    assert_eq!((exited.how, exited.killed_by, exited.left), (How::Status(0), None, 0));
    assert!(!lives(&pid));
}

#[test]
fn neither_nohup_nor_setsid_nor_disown_helps() {
    let jobs = jobs();
    let script =
        "nohup setsid sleep 71.25 >/dev/null 2>&1 & disown; (setsid nohup sleep 71.25 >/dev/null 2>&1 &); exit 0";
    let (_, exited) = run(&jobs, shell(script));
    assert_eq!((exited.how, exited.left), (How::Status(0), 0));
    assert_eq!(exited.ended_too, ["sleep"]);
    assert_eq!(crate::scene::with_word("71.25"), Vec::<String>::new());
}

#[test]
fn one_whose_first_thread_has_ended_is_listed_while_it_lives_and_named_when_it_is_ended() {
    let jobs = jobs();
    let python = "import ctypes, platform, threading, time\nthreading.Thread(target=time.sleep, args=(73.5,)).start()\n\
                  ctypes.CDLL(None).syscall({\"x86_64\": 60}.get(platform.machine(), 93), 0)";
    let script = format!("exec 2>&1; setsid python3 -c '{python}' & echo $!; read x; exit 0");
    let mut order = shell(&script);
    order.stdin = nika_host::proc::Stdin::Pipe;
    let job = jobs.start(&permit(), order).expect("it starts");
    let pid = line(&job, "");
    until("its first thread has ended", || !lives(&pid));
    let listed = jobs.list(&permit(), "s").into_iter().flat_map(|job| job.processes).map(|(process, _)| process);
    let listed = listed.filter(|process| process.pid.to_string() == pid).collect::<Vec<_>>();
    assert!(
        matches!(listed.as_slice(), [one] if one.state != 'Z' && one.rss_bytes > 0 && one.threads == 2),
        "{listed:?}"
    );
    job.write(b"x\n", LONG).expect("taken");
    assert_eq!(end(&job).ended_too, ["python3"]);
    assert!(!std::path::Path::new("/proc").join(pid).exists());
}

#[test]
fn what_is_about_to_finish_may() {
    let jobs = jobs();
    let (job, exited) = run(&jobs, shell("echo now; (sleep 0.05; echo then) & exit 3"));
    assert_eq!((exited.how, exited.left, exited.ended_too), (How::Status(3), 0, Vec::new()));
    assert_eq!(text(&job), "now\nthen\n");
}

#[test]
fn an_open_output_does_not_hold_up_the_end() {
    let jobs = jobs();
    let (job, exited) = run(&jobs, shell("sleep 72.25 & echo done"));
    assert_eq!((text(&job).as_str(), exited.how), ("done\n", How::Status(0)));
}

#[test]
fn what_lingers_lives_on_until_the_session_ends() {
    let jobs = jobs();
    let mut order =
        shell("(while read -t 0.05 x < <(sleep 0.1); [ ! -e go ]; do :; done; echo later; sleep 73.25) & echo now");
    let dir = tempfile::tempdir().expect("a directory");
    order.profile.cwd = dir.path().to_path_buf();
    order.linger = true;
    let (job, exited) = run(&jobs, order);
    assert_eq!(exited.how, How::Status(0));
    assert!(exited.left > 0 && job.is_live());
    std::fs::write(dir.path().join("go"), "").expect("written");
    until("it says more", || text(&job) == "now\nlater\n");
    assert_eq!(jobs.list(&permit(), "s").len(), 1);
    jobs.end_session("s");
    assert!(!job.is_live());
    assert_eq!(crate::scene::with_word("73.25"), Vec::<String>::new());
}

#[test]
fn a_killed_supervisor_takes_all_with_it() {
    let jobs = jobs();
    let script = format!(
        "({DAEMON}) & sleep 74.25 & read -r _ _ _ parent _ < /proc/$$/stat; echo parent $parent; wait; sleep 74.25"
    );
    let job = jobs.start(&permit(), shell(&script)).expect("it starts");
    let daemon = line(&job, "daemon ");
    let supervisor = line(&job, "parent ");
    Command::new("kill").args(["-KILL", &supervisor]).status().expect("kill runs");
    let exited = end(&job);
    assert_eq!(exited.killed_by, Some(KilledBy::Lost));
    // Killed is killed; the system takes a moment to clear away what was, on a busy machine longer than its end waits.
    until("the daemon is gone", || !lives(&daemon));
    until("all of it is gone", || crate::scene::with_word("74.25").is_empty());
}

/// Runs `owner` below in a process of its own, kills it, and says which processes it had started.
fn killed_owner(script: &str, keep: bool) -> Vec<String> {
    let mut owner = Command::new("/proc/self/exe")
        .args(["--exact", "jobs::descendants::owner", "--nocapture", "--test-threads=1"])
        .env("NIKA_OWNER_SCRIPT", script)
        .env("NIKA_OWNER_KEEP", if keep { "1" } else { "" })
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program");
    let said = BufReader::new(owner.stdout.take().expect("piped")).lines().map_while(Result::ok);
    let pids: Vec<String> = said
        .take_while(|line| line != "ready")
        .filter_map(|line| Some(line.strip_prefix("pid ")?.to_owned()))
        .collect();
    assert!(!pids.is_empty() && pids.iter().all(|pid| lives(pid)), "{pids:?}");
    owner.kill().expect("killed");
    owner.wait().expect("reaped");
    pids
}

/// Not a test by itself: owns a job until it is killed.
#[test]
fn owner() {
    let Some(script) = std::env::var_os("NIKA_OWNER_SCRIPT") else { return };
    let jobs = jobs();
    let mut order = shell(&script.into_string().expect("text"));
    order.background = true;
    order.keep = std::env::var_os("NIKA_OWNER_KEEP").is_some_and(|keep| !keep.is_empty());
    let job = jobs.start(&permit(), order).expect("it starts");
    line(&job, "daemon ");
    println!("\npid {}\npid {}\nready", job.pid(), line(&job, "daemon "));
    let _ = std::io::stdin().lines().next();
    job.wait(LONG, &|| false);
}

#[test]
fn a_killed_owner_leaves_nothing() {
    for pid in killed_owner(&format!("({DAEMON}) & trap '' TERM HUP INT; sleep 75.25; sleep 75.25"), false) {
        until("it is gone", || !lives(&pid));
    }
    until("all is gone", || crate::scene::with_word("75.25").is_empty());
}

#[test]
fn a_kept_job_outlives_its_owner_and_is_not_held_up() {
    let script = format!(
        "({DAEMON}) & read -t 2 x < <(sleep 1); for i in {{1..40000}}; do \
         echo some more output; done; echo > $0.done; sleep 76.25"
    );
    let dir = tempfile::tempdir().expect("a directory");
    let done = dir.path().join("x.done");
    let script = script.replace("$0.done", done.to_str().expect("text"));
    let pids = killed_owner(&script, true);
    until("it wrote all it had to say", || done.exists());
    assert!(pids.iter().all(|pid| lives(pid)));
    for pid in pids {
        let _ = Command::new("kill").args(["-KILL", &pid]).status();
    }
    until("all is gone", || crate::scene::with_word("76.25").is_empty());
}
