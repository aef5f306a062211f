//! Repositories that would like to run things when somebody only looks at them.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::peer::Peer;
use crate::shell::is_confined_here;
use crate::shell_undo::{scripted, undo};
use crate::world::{World, exists, world};

/// Git without a sandbox, as the attacker's victim runs it.
fn git(world: &World, words: &[&str]) -> String {
    let out = Command::new("git")
        .args(words)
        .current_dir(world.root())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", world.path("home"))
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .output()
        .expect("git runs");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// A repository with one committed and changed file, and a program that leaves `ran` behind and says so.
fn repository() -> World {
    let world = world().file("a.txt", "one\n").file(".gitattributes", "* diff=x filter=x\n").file("evil", "");
    let ran = world.path("ran").display().to_string();
    let text = format!("#!/bin/sh\necho EVIL' 'RAN >&2\n: > '{ran}' 2>/dev/null\n: > ran 2>/dev/null\ncat \"$@\"\n");
    std::fs::write(world.root().join("evil"), text).expect("written");
    let made = Command::new("chmod").args(["755", "evil"]).current_dir(world.root()).status().expect("chmod runs");
    assert!(made.success());
    for words in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.name", "a"],
        &["config", "user.email", "a@example.org"],
        &["add", "."],
        &["commit", "-q", "-m", "begin"],
    ] {
        git(&world, words);
    }
    std::fs::write(world.root().join("a.txt"), "two\n").expect("written");
    // What is in no commit would be pruned.
    git(&world, &["hash-object", "-w", "a.txt"]);
    world
}

/// Whether the program ran, and forgets that it did.
fn ran(world: &World) -> bool {
    let left = [world.path("ran"), world.root().join("ran")];
    left.iter().filter(|path| exists(path) && std::fs::remove_file(path).is_ok()).count() > 0
}

#[test]
fn on_a_terminal_git_runs_no_pager_and_no_filter_of_the_repository() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    for key in ["pager.log", "pager.diff", "core.pager", "interactive.diffFilter"] {
        git(&world, &["config", key, "./evil"]);
    }
    for (mode, command, shows) in [
        ("workspace", "git log", "begin"),
        ("workspace", "git diff", "two"),
        ("accept-all", "git add -p", "Stage this hunk"),
    ] {
        let mut peer = Peer::start(world.nika(&["serve", "--mode", mode, "--list", "all"]));
        peer.initialize("2025-11-25");
        let order = json!({"command": command, "run_in_background": true, "tty": true});
        let started = peer.call("nika_bash", order);
        assert!(started.to_string().contains("on a terminal"), "{command}: {started}");
        let look = json!({"job_id": "j1", "wait_ms": 20_000, "filter": "^never$"});
        peer.call("nika_job_output", look);
        let shown = peer.call("nika_job_output", json!({"job_id": "j1", "offset": 0})).to_string();
        assert!(shown.contains(shows) && !shown.contains("EVIL RAN"), "{command}: {shown}");
        assert_eq!(peer.end(), 0);
        assert!(!ran(&world), "{command}");
    }
}

/// What is configured, and what reads and runs it.
const RUNS: &[(&[&str], &str)] = &[
    (&["config", "diff.x.textconv", "./evil"], "diff"),
    (&["config", "diff.x.textconv", "./evil"], "log -p -1"),
    (&["config", "diff.x.textconv", "./evil"], "commit --dry-run -v -a"),
    (&["config", "gc.recentObjectsHook", "./evil"], "prune -n"),
    (&["config", "diff.x.command", "./evil"], "diff"),
    (&["config", "diff.external", "./evil"], "diff"),
    (&["config", "filter.x.clean", "./evil"], "status"),
    (&["config", "filter.x.clean", "./evil"], "diff --stat"),
    (&["config", "filter.x.process", "./evil"], "status --short"),
    (&["config", "filter.x.smudge", "./evil"], "archive HEAD"),
    (&["config", "tar.zip.command", "./evil"], "archive --format=zip HEAD"),
    (&["config", "-f", "hidden", "diff.x.textconv", "./evil"], "show"),
    (&["config", "-f", "../home/.gitconfig", "diff.x.textconv", "./evil"], "diff"),
];

#[test]
fn looking_at_a_repository_asks_before_it_runs_what_its_configuration_names() {
    if !is_confined_here() {
        return;
    }
    for (set, reads) in RUNS {
        let world = repository();
        git(&world, set);
        if set.contains(&"hidden") {
            git(&world, &["config", "include.path", "../hidden"]);
        }
        let words: Vec<&str> = reads.split(' ').collect();
        git(&world, &words);
        assert!(ran(&world), "{set:?}: `git {reads}` runs it, else this tests nothing");
        for mode in ["read-only", "workspace"] {
            let asked = world.run(&["call", "bash", &format!("command=git {reads}"), "--mode", mode]);
            asked.exits(3);
            assert!(asked.err.contains("is configured, and `git"), "{set:?} {reads}: {asked:?}");
            assert!(!ran(&world), "{set:?} {reads}");
        }
    }
}

#[test]
fn a_repository_that_names_nothing_is_looked_at_freely() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    let call = |text: &str| world.run(&["call", "bash", &format!("command={text}"), "--mode", "read-only"]);
    call("git diff").exits(0).says("+two");
    call("git diff --stat | cat").exits(0).says("a.txt");
    call("git status --short").exits(0).says("M a.txt");
    call("git log -p -1").exits(0).says("+one");
    call("git blame a.txt").exits(0).says("two");
    call("git grep -n two").exits(0).says("a.txt:1");
    let twice = world.run(&["call", "bash", "command=git diff; echo x > new", "--mode", "workspace"]);
    twice.exits(0).says("+two");
}

#[test]
fn what_can_be_pinned_is_not_asked_about_and_does_not_run() {
    if !is_confined_here() {
        return;
    }
    let hook = |world: &World| {
        std::fs::create_dir_all(world.root().join(".husky")).expect("made");
        std::fs::copy(world.root().join("evil"), world.root().join(".husky/pre-commit")).expect("copied");
    };
    for (set, reads) in [
        (&["config", "core.fsmonitor", "./evil"][..], "git status"),
        (&["config", "alias.status", "!./evil"], "git status"),
        (&["config", "core.hooksPath", ".husky"], "git log -p"),
    ] {
        let world = repository();
        hook(&world);
        git(&world, set);
        for (after, mode) in [("", "read-only"), ("; echo x > new", "workspace")] {
            let done = world.run(&["call", "bash", &format!("command={reads}{after}"), "--mode", mode]);
            done.exits(0);
            assert!(!done.out.contains("EVIL RAN") && !ran(&world), "{set:?} {mode}: {done:?}");
        }
    }
    let world = repository();
    git(&world, &["config", "core.fsmonitor", "./evil"]);
    for sly in ["env -i git status", "env -u GIT_CONFIG_COUNT git status", "env - sh -c 'git status'"] {
        world.run(&["call", "bash", &format!("command={sly}"), "--mode", "workspace"]).exits(3);
    }
    git(&world, &["status"]);
    assert!(ran(&world), "without the pin it runs");
}

#[test]
fn a_repository_in_the_repository_counts_where_git_looks_into_it() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    let inner = world.root().join("inner");
    std::fs::create_dir(&inner).expect("made");
    std::fs::write(inner.join("a.txt"), "one\n").expect("written");
    let evil = world.root().join("evil").display().to_string();
    for words in [
        &["-C", "inner", "init", "-q", "-b", "main"][..],
        &["-C", "inner", "add", "."],
        &["-C", "inner", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "in"],
        &["-C", "inner", "config", "filter.x.clean", &evil],
    ] {
        git(&world, words);
    }
    let call = |text: &str| world.run(&["call", "bash", &format!("command={text}"), "--mode", "read-only"]);
    call("git status").exits(0);
    call("git -C inner status").exits(3);
    call("cd inner && git diff").exits(3);
    git(&world, &["add", "inner"]);
    std::fs::write(inner.join(".gitattributes"), "* filter=x\n").expect("written");
    std::fs::write(inner.join("a.txt"), "two\n").expect("written");
    let _ = ran(&world);
    git(&world, &["status"]);
    assert!(ran(&world), "git looks into it");
    call("git status").exits(3).complains("is configured, and `git status` would run it");
    assert!(!ran(&world));
    call("git log --oneline").exits(0);
    assert!(!Path::new(&world.root().join("ran")).exists());
}

#[test]
fn a_directory_that_git_cannot_rename_over_a_layer_is_moved_as_the_answer_says() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    for words in [&["mv", "a.txt", "b.txt"][..], &["config", "core.hooksPath", ".none"]] {
        git(&world, words);
    }
    std::fs::create_dir(world.root().join("old")).expect("made");
    std::fs::write(world.root().join("old/c.txt"), "three\n").expect("written");
    git(&world, &["add", "old"]);
    let call = |text: &str| world.run(&["call", "bash", &format!("command={text}"), "--mode", "workspace"]);
    let failed = call("git mv old new");
    if failed.code == 0 || failed.out.contains("cannot be taken back") {
        eprintln!("skipped: directories can be renamed here");
        return;
    }
    failed.exits(1).says("use `mv A B && git add -A A B`");
    call("mv old new && git add -A old new").exits(0);
    assert!(exists(world.root().join("new/c.txt")) && !exists(world.root().join("old")));
    assert_eq!(git(&world, &["ls-files", "new", "old"]).trim(), "new/c.txt");
    call("git diff").exits(0);
}

#[test]
fn git_notes_what_a_branch_follows_and_nothing_else_comes_into_its_configuration() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n").file("run.sh", "git config core.fsmonitor ./evil\n");
    for words in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.name", "a"],
        &["config", "user.email", "a@example.org"],
        &["add", "."],
        &["commit", "-q", "-m", "begin"],
        &["remote", "add", "origin", "https://example.org/a.git"],
        &["update-ref", "refs/remotes/origin/feature", "HEAD"],
        &["branch", "old"],
    ] {
        git(&world, words);
    }
    let config = || world.text(".git/config");
    let before = config();
    let call = |text: &str| world.run(&["call", "bash", &format!("command={text}"), "--mode", "workspace"]);
    call("git switch -c feature origin/feature").exits(0).says("set up to track");
    assert!(config().contains("[branch \"feature\"]\n\tremote = origin\n\tmerge = refs/heads/feature"), "{}", config());
    call("git branch -m feature other").exits(0);
    assert!(config().contains("[branch \"other\"]") && !config().contains("\"feature\"]"), "{}", config());
    call("git branch --unset-upstream").exits(0);
    for _ in 0..3 {
        world.run(&["undo", "--mode", "workspace"]).exits(0);
    }
    assert_eq!((config(), git(&world, &["branch"])), (before.clone(), "* main\n  old\n".to_owned()));
    // What names a program is left out, also where the same command does what may count.
    let ran = call("git branch -m old older; bash run.sh");
    assert!(ran.out.contains("may become code or policy") && ran.out.contains(".git/config"), "{ran:?}");
    assert_eq!(config(), before);
    // No command names git: then nobody but a program wrote there.
    let ran = call("bash run.sh");
    assert!(ran.code != 0 || ran.out.contains("Read-only"), "{ran:?}");
    assert_eq!(config(), before);
    call("git config core.fsmonitor ./evil").exits(3);
}

#[test]
fn taking_back_a_commit_breaks_no_history_that_was_built_on_it_since() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    let begin = git(&world, &["rev-parse", "HEAD"]);
    let made = scripted(&world, "git checkout -q -b other && git commit -qam two && git checkout -q main", &[]);
    git(&world, &["tag", "mine", "other"]);
    let undone = undo(&world, &made);
    assert!(undone.code == 0 && !undone.out.contains("objects"), "{undone:?}");
    assert_eq!(git(&world, &["branch", "--list", "other"]), "", "what nobody built on is gone");
    assert_eq!(git(&world, &["log", "--format=%s", "mine"]), "two\nbegin\n");
    let faults = git(&world, &["fsck", "--no-dangling"]);
    assert_eq!((git(&world, &["rev-parse", "HEAD"]), faults), (begin, String::new()));
    // A repository that the command made goes as a whole, or not at all where somebody put something into it.
    for beside in [false, true] {
        let script = format!("git init -q n{beside} && cd n{beside} && echo 1 | git hash-object -w --stdin");
        let made = scripted(&world, &script, &[]);
        let repository = world.root().join(format!("n{beside}/.git"));
        if beside {
            std::fs::write(repository.join("refs/heads/mine"), "").expect("written");
            undo(&world, &made).exits(1).complains("NIKA-217 ntrue/.git was made by this call");
            assert!(exists(repository.join("HEAD")) && exists(repository.join("objects/d0")));
        } else {
            undo(&world, &made).exits(0);
            assert!(!exists(repository));
        }
    }
}
