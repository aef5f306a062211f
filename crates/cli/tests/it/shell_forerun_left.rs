//! What a job left running is held off guarded files as the job was, and what has no namespaces hears signals as any other.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::peer::{Peer, text};
use crate::sandbox_alone::without;
use crate::shell::is_confined_here;
use crate::shell_forerun::{ended_for, journaled};
use crate::shell_recorded::{begin, until};
use crate::world::{World, world};

/// A server for whose user the system has none of `what`; `None` where that cannot be had here.
fn serve_without(what: &str, world: &World, more: &[&str]) -> Option<Peer> {
    let ran = without(what, &world.nika(&["sandbox", "exec", "--landlock-only", "--", "true"])).output();
    if !ran.is_ok_and(|ran| ran.status.success()) {
        eprintln!("skipped: nothing of one's own for a user here");
        return None;
    }
    let words = ["serve", "--mode", "workspace", "--list", "all", "--allow", "exec(repl *)"];
    let mut peer = Peer::start(without(what, &world.nika(&[&words[..], more].concat())));
    peer.initialize("2025-11-25");
    Some(peer)
}

/// Waits until what is said of a job has these words.
fn until_told(peer: &mut Peer, job: &str, words: &str) -> String {
    let (mut told, since) = (String::new(), Instant::now());
    while !told.contains(words) && since.elapsed() < Duration::from_secs(30) {
        told.push_str(&text(&peer.call("nika_job_output", json!({"job_id": job, "wait_ms": 200}))));
        told.push_str(&text(&peer.call("nika_sleep", json!({"duration_ms": 100}))));
    }
    assert!(told.contains(words), "no {words:?} in {told}");
    told
}

/// Before anybody looks, as nothing can be watched, its first process ends, and leaves one that could write there.
#[test]
fn a_job_that_leaves_somebody_who_can_write_a_guarded_file_is_ended() {
    if !is_confined_here() {
        return;
    }
    const SCRIPT: &str = "import os, sys, time\nopen('own', 'w').close()\n\
        if os.fork() == 0: time.sleep(600)\n\
        print('holds', flush=True)\n\
        while not os.path.islink('.npmrc'): time.sleep(0.001)\n";
    let world = world().file(".npmrc", "old\n");
    let Some(mut peer) = serve_without("max_inotify_instances", &world, &[]) else { return };
    let begun = begin(&world, &mut peer, "leaves.py", SCRIPT);
    until(&mut peer, &begun.job, "holds");
    symlink("own", world.root().join("t.tmp")).expect("a link");
    fs::rename(world.root().join("t.tmp"), world.root().join(".npmrc")).expect("renamed");
    ended_for(&mut peer, &begun.job, ".npmrc");
    assert!(journaled(&world)[0].contains(".npmrc"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn what_the_last_of_a_job_wrote_when_the_job_itself_had_ended_is_told() {
    if !is_confined_here() {
        return;
    }
    const SCRIPT: &str = "import os, time\nif os.fork(): os._exit(0)\n\
        f = open('t.tmp', 'r+'); f.write('EVIL'); f.close(); print('wrote', flush=True)\n\
        before = os.stat('.npmrc').st_ino\n\
        while os.stat('.npmrc').st_ino == before: time.sleep(0.001)\n";
    let world = world().file(".npmrc", "old\n").file("t.tmp", "new text\n");
    let Some(mut peer) = serve_without("max_inotify_instances", &world, &[]) else { return };
    let begun = begin(&world, &mut peer, "last.py", SCRIPT);
    until_told(&mut peer, &begun.job, "wrote");
    until_told(&mut peer, &begun.job, " ended: ");
    fs::rename(world.root().join("t.tmp"), world.root().join(".npmrc")).expect("renamed");
    let told = until_told(&mut peer, &begun.job, "look at what it holds");
    assert!(told.contains(".npmrc"), "{told}");
    assert!(journaled(&world)[0].contains(".npmrc"));
    assert_eq!(peer.end(), 0);
}

#[test]
fn an_interpreter_that_is_interrupted_goes_on_where_no_namespace_holds_it_together() {
    let world = world();
    let more = ["--set", "sandbox.landlock_only=on"];
    let Some(mut peer) = serve_without("max_user_namespaces", &world, &more) else { return };
    let said = text(&peer.call("nika_bash", json!({"command": "true"})));
    assert!(said.contains("Landlock"), "{said}");
    let mut run = |code: &str, timeout_ms: u32| {
        let arguments = json!({"language": "python", "code": code, "timeout_ms": timeout_ms});
        text(&peer.call("nika_repl", arguments))
    };
    run("kept = 40 + 2", 60_000);
    let said = run("import time; time.sleep(600)", 1_000);
    let news = run("print(kept)", 60_000);
    assert!(news.contains("42"), "{said}\n{news}");
    assert_eq!(peer.end(), 0);
}
