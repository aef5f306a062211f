//! What the stories need: a permit, a profile, a directory, and waiting for something to be so.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nika_guard::profile::{Access, Profile};
use nika_guard::{Effect, Effects, Exec, ExecKind, Mode, Permit, Policy, Stance};
use nika_host::proc::{Exited, Job, Jobs, Order, Program, Reading};

/// Long enough for a machine that does other things, too.
pub const LONG: Duration = Duration::from_secs(30);

pub fn permit() -> Permit {
    let exec = Exec::plain(Vec::new(), ExecKind::Opaque, "");
    let effects = Effects::one(Effect::Exec(exec));
    Policy::default().judge(&Stance::from(Mode::AcceptAll), &effects).permit(None).expect("everything is accepted")
}

pub fn jobs() -> Jobs {
    Jobs::new(env!("CARGO_BIN_EXE_nika-run"), None)
}

pub fn profile(dir: impl AsRef<Path>) -> Profile {
    let mut profile = Profile::new(Access::Unconfined, dir.as_ref(), "/nonexistent");
    profile.env = vec![("PATH".to_owned(), std::env::var("PATH").expect("a path"))];
    profile
}

pub fn shell(text: &str) -> Order {
    Order::shell(text, profile("/tmp"), "s")
}

pub fn argv(words: &[&str]) -> Order {
    Order::new(Program::Argv(words.iter().map(|word| (*word).to_owned()).collect()), profile("/tmp"), "s")
}

/// Starts a job and waits for its end.
pub fn run(jobs: &Jobs, order: Order) -> (Arc<Job>, Exited) {
    let job = jobs.start(&permit(), order).expect("it starts");
    let exited = end(&job);
    (job, exited)
}

pub fn end(job: &Job) -> Exited {
    job.wait(LONG, &|| false).expect("it ends")
}

/// All output in memory.
pub fn output(job: &Job) -> Vec<u8> {
    let summary = job.summary();
    assert_eq!(summary.omitted, 0, "not all of it is in memory");
    [summary.head, summary.tail].concat()
}

pub fn text(job: &Job) -> String {
    String::from_utf8(output(job)).expect("text")
}

/// Waits for a line that begins with `start`; the rest of it.
pub fn line(job: &Job, start: &str) -> String {
    let there = |line: &[u8]| line.starts_with(start.as_bytes());
    let text = job.find(&Reading { at_most: LONG, ..Reading::from(0) }, &there).text;
    let line = text.lines().find_map(|line| line.strip_prefix(start));
    line.unwrap_or_else(|| panic!("no {start:?} in {:?}", &text[..text.len().min(2000)])).trim().to_owned()
}

pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        std::thread::yield_now();
        assert!(begun.elapsed() < LONG, "never: {what}");
    }
}

/// Whether a process still does anything.
pub fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}

/// Processes whose command line holds `word`.
pub fn with_word(word: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").expect("proc").flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()) && lives(pid))
        .filter(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.windows(word.len()).any(|window| window == word.as_bytes())
        })
        .collect()
}
