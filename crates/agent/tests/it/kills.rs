//! Killed at any moment, again and again: no call is lost, none is made twice, every one has its result.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nika_agent::provider::{Part, Role};
use nika_agent::{Conversation, Ended};
use nika_contract::{Erased, Output};
use nika_testkit::{World, world_in};
use serde_json::{Map, Value, json};

use crate::scene::{Mark, Thinker, agent_in, calls, paired, results, words};

/// Turns of the session, each with two marks that may be made at once, two of one place that may not, and a file.
const TURNS: usize = 6;

/// Where a process that is to be killed works.
const WHERE: &str = "NIKA_TEST_KILLED_IN";

/// A world whose `mark` appends its name to a file: what is made twice stands there twice.
fn marked(dir: &Path) -> World {
    let marks = dir.join("marks");
    let log = move |fields: Map<String, Value>, _| {
        let marks = marks.clone();
        async move {
            tokio::task::yield_now().await;
            let mut file = std::fs::File::options().append(true).create(true).open(marks).expect("it opens");
            // One write: half a line would be taken for another mark.
            let line = format!("{}\n", fields["what"].as_str().unwrap_or_default());
            file.write_all(line.as_bytes()).expect("written");
            tokio::task::yield_now().await;
            Ok(Output::text("marked"))
        }
    };
    world_in(&made(dir, "files"), &made(dir, "state")).tool(Erased::boxed(Mark(log)))
}

fn made(dir: &Path, name: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::create_dir_all(&path).expect("made");
    path
}

/// One life: from where the last one was killed to the end.
fn live(dir: &Path) -> Ended {
    let world = marked(dir);
    let model = Thinker::new(|_, asked| {
        let turn = asked.messages.iter().filter(|message| message.role == Role::Assistant).count();
        let mark = |name: &str, which: usize| ("mark", json!({"name": name, "what": format!("{turn}.{which}")}));
        Some(Ok(if turn == TURNS {
            words("all marked")
        } else {
            let write = ("write", json!({"file_path": format!("{turn}.txt"), "content": "once"}));
            calls(&[mark("a", 0), mark("b", 1), mark("same", 2), mark("same", 3), write])
        }))
    });
    let mut scene = agent_in(&world, "s", Arc::clone(&model));
    let begun = !scene.agent.talk.is_empty();
    let ended =
        world.wait(async { if begun { scene.agent.resume().await } else { scene.agent.run("mark everything").await } });
    ended.expect("no fault of ours")
}

/// What became of the calls of a session that came to its end.
#[derive(Default)]
struct Fates {
    /// The answer is there.
    whole: usize,
    /// Made, and the answer was lost with its process.
    lost: usize,
    /// Begun, and nobody knows how far it came.
    interrupted: usize,
}

/// Every call has one result; what was made was made once; what was not is said to be interrupted.
fn check(dir: &Path, fates: &mut Fates) {
    let world = marked(dir);
    let talk = Conversation::open(world.state(), "s").expect("it opens");
    paired(talk.messages());
    let mut begun: BTreeMap<String, usize> = BTreeMap::new();
    for line in world.journal_of("s").iter().filter(|line| line["event"] == "CallBegun") {
        *begun.entry(line["origin"].as_str().expect("the loop's calls have one").to_owned()).or_default() += 1;
    }
    assert!(begun.values().all(|times| *times == 1), "a call was made twice: {begun:?}");
    let mut marks: BTreeMap<String, usize> = BTreeMap::new();
    for mark in std::fs::read_to_string(dir.join("marks")).expect("it is there").lines() {
        *marks.entry(mark.to_owned()).or_default() += 1;
    }
    let mut made = 0;
    for (at, message) in talk.messages().iter().enumerate().filter(|(_, message)| message.role == Role::Tool) {
        let asked = talk.messages()[at - 1].parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        });
        for (call, result) in asked.zip(results(message)) {
            made += 1;
            let nika_agent::provider::Arguments::Object(fields) = &call.arguments else { panic!("an object") };
            let times = match fields.get("what").and_then(Value::as_str) {
                Some(what) => marks.get(what).copied().unwrap_or(0),
                None => {
                    let path = dir.join("files").join(fields["file_path"].as_str().expect("a path"));
                    usize::from(std::fs::read_to_string(path).is_ok_and(|text| text == "once"))
                }
            };
            match &result.text {
                text if text.starts_with("NIKA-823") => {
                    assert!(times <= 1, "{fields:?} was made {times} times");
                    fates.interrupted += 1;
                }
                text => {
                    let lost = text.starts_with("NIKA-824");
                    assert!(lost || !result.is_error, "{text}");
                    assert_eq!(times, 1, "{fields:?}: {text}");
                    if lost { fates.lost += 1 } else { fates.whole += 1 }
                }
            }
        }
    }
    assert_eq!((made, begun.len()), (TURNS * 5, TURNS * 5), "every call was begun, and is answered");
}

/// Unkilled, in this process; or in the directory of the one that kills it.
#[test]
fn a_session_marks_everything_once() {
    let here = tempfile::tempdir().expect("a directory");
    let there = std::env::var_os(WHERE).map(PathBuf::from);
    let dir = there.as_deref().unwrap_or(here.path());
    let ended = live(dir);
    assert_eq!(ended.answer, "all marked");
    let mut fates = Fates::default();
    check(dir, &mut fates);
    assert!(there.is_some() || fates.whole == TURNS * 5);
}

/// A tiny generator, so that a run can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

fn start(dir: &Path) -> std::process::Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "kills::a_session_marks_everything_once", "--nocapture"])
        .env(WHERE, dir)
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

#[test]
fn a_session_that_is_killed_loses_and_doubles_no_call() {
    let rounds: u64 = std::env::var("NIKA_TEST_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let whole = tempfile::tempdir().expect("a directory");
    let since = Instant::now();
    assert!(start(whole.path()).wait().expect("it ends").success());
    let span = u64::try_from(since.elapsed().as_micros()).expect("a short time").max(1_000);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut kills, mut sessions) = (0, 0);
    let mut fates = Fates::default();
    while kills < rounds {
        let dir = tempfile::tempdir().expect("a directory");
        loop {
            let mut child = start(dir.path());
            // The moment of the kill: no state of the program is waited for here.
            std::thread::sleep(Duration::from_micros(dice.roll(span)));
            child.kill().ok();
            let life = child.wait_with_output().expect("it ends");
            match life.status.signal() {
                Some(9) => kills += 1,
                _ => {
                    let said = String::from_utf8_lossy(&life.stderr);
                    assert!(life.status.success(), "a life ended badly after {kills} kills: {said}");
                    break;
                }
            }
        }
        sessions += 1;
        check(dir.path(), &mut fates);
    }
    let Fates { whole, lost, interrupted } = fates;
    println!(
        "{kills} kills over {sessions} sessions: {whole} answers, {lost} lost with them, {interrupted} interrupted"
    );
    assert_eq!(whole + lost + interrupted, sessions * TURNS * 5);
}
