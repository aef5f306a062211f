//! Killed while a command's changes are applied: what stands is what stood, or all of what the command left, and the
//! latter can be taken back.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::durability::{Dice, rounds};
use crate::shell_undo::tree;
use crate::world::{World, world};

/// Every kind of change, on files enough for a kill to fall between two.
const SCRIPT: &str = "for f in d*/*; do echo new >> $f; done; rm -r gone; rm link; ln -s d1 link; mkdir new; \
                      for i in $(seq 40); do echo $i > new/$i; done; rm d1/1; mkdir d1/1; echo x > d1/1/x; \
                      chmod 600 d2/2; rm -r d3; echo file > d3; mv new/1 new/moved";

fn begin() -> World {
    let mut world = world().file("gone/x/y", "y\n").file("tools/run.sh", SCRIPT);
    for n in 0..150 {
        world = world.file(&format!("d{}/{n}", n % 7), &format!("{n}\n"));
    }
    std::os::unix::fs::symlink("gone", world.root().join("link")).expect("a link");
    world
}

fn started(world: &World) -> Child {
    let words = ["call", "bash", "command=bash tools/run.sh", "--mode", "workspace"];
    world.nika(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

/// Waits until something lies in a directory of the state of this name, or the program has ended.
fn until_there(world: &World, child: &mut Child, name: &str) {
    let lies = |dir: PathBuf| fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
    let there = || {
        let mut states = fs::read_dir(world.path("state")).into_iter().flatten().flatten();
        states.any(|state| lies(state.path().join(name)))
    };
    while !there() && child.try_wait().is_ok_and(|ended| ended.is_none()) {
        std::thread::yield_now();
    }
}

fn holds_something(world: &World, name: &str) -> bool {
    fs::read_dir(world.state().join(name)).is_ok_and(|mut entries| entries.next().is_some())
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_state_or_the_new_one_and_undo_is_whole() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let reference = begin();
    let old = tree(&reference.root());
    assert!(started(&reference).wait().expect("it ends").success());
    let new = tree(&reference.root());
    assert_ne!(old, new);
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for round in 0..rounds(6) {
        let world = begin();
        let mut child = started(&world);
        // Half of the kills fall somewhere in the call, half of them where its changes are made.
        let (name, within) = if round % 2 == 0 { ("layers", 120_000) } else { ("sets", 12_000) };
        until_there(&world, &mut child, name);
        let (begun, after) = (Instant::now(), Duration::from_micros(dice.roll(within)));
        while begun.elapsed() < after {
            std::hint::spin_loop();
        }
        child.kill().ok();
        child.wait().expect("it ended");
        // The next start, whatever it is.
        world.run(&["call", "list_dir"]).exits(0);
        let now = tree(&world.root());
        assert!(now == old || now == new, "round {round}: a mix");
        let undone = world.run(&["undo", "--mode", "workspace"]);
        assert!(undone.code == 0 || now == old, "round {round}: {undone:?}");
        assert_eq!(tree(&world.root()), old, "round {round}: {undone:?}");
        let since = Instant::now();
        while let Some(left) = ["layers", "sets"].into_iter().find(|name| holds_something(&world, name)) {
            // What the killed program had started may take a moment to die, and is in there until then.
            assert!(since.elapsed() < Duration::from_secs(20), "round {round}: something is left in {left}");
            world.run(&["call", "list_dir"]).exits(0);
        }
    }
}

#[test]
fn what_a_killed_job_left_under_guarded_names_goes_with_the_next_start() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("x.sh", "echo up; sleep 61.6180\n");
    let mut job = world
        .nika(&["call", "bash", "command=sh x.sh", "run_in_background=true", "--mode", "workspace"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let stands_in = || fs::symlink_metadata(world.root().join(".envrc")).is_ok();
    let since = Instant::now();
    while !stands_in() {
        assert!(since.elapsed() < Duration::from_secs(20), "the job runs");
        std::thread::yield_now();
    }
    // The program, what watches over the job, and the job, none of which can clean up then.
    let below = |pid: u32| -> Vec<u32> {
        let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
    };
    let mut all = vec![job.id()];
    let mut at = 0;
    while at < all.len() {
        let more = below(all[at]);
        all.extend(more);
        at += 1;
    }
    for pid in &all {
        let pid = rustix::process::Pid::from_raw(*pid as i32).expect("a process");
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    job.wait().expect("it ends");
    while all.iter().any(|pid| fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z")))
    {
        assert!(since.elapsed() < Duration::from_secs(40), "they end");
        std::thread::yield_now();
    }
    assert!(stands_in(), "nobody was left to remove it");
    world.run(&["call", "list_dir"]).exits(0);
    let left: Vec<_> = fs::read_dir(world.root()).expect("there").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["x.sh"]);
}
