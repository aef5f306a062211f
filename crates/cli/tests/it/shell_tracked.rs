//! Git beside files that the sandbox hides and the repository tracks: test keys, a sample environment.

use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::peer::{Peer, text};
use crate::pty::Screen;
use crate::shell::{git, is_confined_here};
use crate::shell_terminal::{sleeps, until};
use crate::world::{World, world};

const HIDDEN: &[&str] = &[".env", "tests/server.key", "tests/run.pem"];

/// A repository that tracks them, committed long before now, with a change beside them.
fn repository() -> World {
    let world = world().file("a.txt", "one\n");
    let world = HIDDEN.iter().fold(world, |world, name| world.file(name, "SECRET=abc\n"));
    let at = world.root();
    let run = at.join("tests/run.pem");
    std::fs::set_permissions(&run, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
    // Of a file as new as its index git knows nothing by time.
    let before = SystemTime::now() - Duration::from_secs(3600);
    for name in HIDDEN {
        let file = std::fs::File::options().write(true).open(at.join(name)).expect("it is there");
        file.set_modified(before).expect("ours");
    }
    git(&at, &["init", "-q", "-b", "main"]);
    git(&at, &["config", "user.name", "a"]);
    git(&at, &["config", "user.email", "a@example.org"]);
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "begin"]);
    std::fs::write(at.join("a.txt"), "two\n").expect("written");
    world
}

#[test]
fn a_tracked_secret_that_nobody_changed_is_unchanged_to_git_and_stays_unread() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    for (mode, more) in [("read-only", ""), ("workspace", "; touch new; rm new")] {
        let call = |text: &str| world.run(&["call", "bash", &format!("command={text}{more}"), "--mode", mode]);
        let status = call("git status --short");
        status.exits(0).says(" M a.txt");
        assert!(HIDDEN.iter().all(|name| !status.out.contains(name)), "{status:?}");
        call("git diff").exits(0).says("+two");
        // Not by way of a script, either: the name is all that there is.
        let read = call("python3 -c 'print(open(\".env\").read())' 2>&1");
        assert!(!read.out.contains("SECRET"), "{read:?}");
    }
}

#[test]
fn a_tracked_secret_as_new_as_its_index_is_unchanged_for_who_only_looks() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    let at = world.root();
    let status =
        || world.run(&["call", "bash", "command=git status --short && git diff --stat", "--mode", "read-only"]);
    // As in a fresh clone, and as after a copy: what git would have to read.
    let later = SystemTime::now() + Duration::from_secs(5);
    for name in [".env", "tests/run.pem", "b.txt", "c.txt"] {
        std::fs::write(at.join(name), "SECRET=abc\n").expect("written");
        let file = std::fs::File::options().write(true).open(at.join(name)).expect("it is there");
        file.set_modified(later).expect("ours");
    }
    git(&at, &["add", "b.txt", "c.txt"]);
    git(&at, &["commit", "-q", "-m", "others"]);
    // Of the same time and size, and other content: nothing but reading tells.
    std::fs::write(at.join("c.txt"), "SECRET=abd\n").expect("written");
    std::fs::File::options()
        .write(true)
        .open(at.join("c.txt"))
        .expect("it is there")
        .set_modified(later)
        .expect("ours");
    for _ in 0..2 {
        let found = status();
        found.exits(0).says(" M a.txt").says(" M c.txt").says("2 files changed");
        assert!(HIDDEN.iter().all(|name| !found.out.contains(name)) && !found.out.contains("b.txt"), "{found:?}");
    }
    // One that was changed is: nobody takes it for what it was.
    std::fs::write(at.join(".env"), "SECRET=abd\n").expect("written");
    std::fs::File::options().write(true).open(at.join(".env")).expect("it is there").set_modified(later).expect("ours");
    status().says(" M .env");
    // The index itself is as it was, and is seen so by its owner.
    assert_eq!(git(&at, &["status", "--short"]), " M .env\n M a.txt\n M c.txt".trim_start());
}

#[test]
fn an_answer_names_what_is_hidden_and_what_the_sandbox_lacks() {
    if !is_confined_here() {
        return;
    }
    let world = repository()
        .file("x.py", "import socket\nsocket.create_connection(('127.0.0.1', 9))\n")
        .file("y.py", "import socket\nsocket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n");
    std::fs::write(world.root().join(".env"), "SECRET=abd\n").expect("written");
    let call = |text: &str| world.run(&["call", "bash", &format!("command={text}"), "--mode", "workspace"]);
    call("git status --short").says("[hidden from commands, as a secret or by a rule: .env. A program");
    // By its path below the root, and what else has its name only where no path is said.
    for dir in ["src", "lib"] {
        std::fs::create_dir_all(world.root().join(dir)).expect("made");
        std::fs::write(world.root().join(dir).join(".env.local"), "SECRET=x\n").expect("written");
    }
    for (script, says) in [
        ("cat src/.env.local", "or by a rule: src/.env.local. A program"),
        ("cd src; cat .env.local", "or by a rule: lib/.env.local, src/.env.local. A program"),
    ] {
        std::fs::write(world.root().join("look.sh"), script).expect("written");
        call("sh look.sh").exits(1).says(says);
    }
    let quiet = call("ls *.txt");
    assert!(!quiet.out.contains("hidden"), "{quiet:?}");
    call("python3 x.py").exits(1).says("[a command hears the servers that this session's jobs are");
    let far = "import socket\nsocket.create_connection(('example.com', 80))\n";
    std::fs::write(world.root().join("z.py"), far).expect("written");
    call("python3 z.py").exits(1).says("[a command reaches no host but those that its text names");
    call("python3 y.py").exits(1).says("and no datagrams; a port of 127.0.0.1");
    std::fs::write(world.root().join("push.sh"), "echo 'ssh: Could not resolve hostname x' >&2; exit 128\n")
        .expect("written");
    call("sh push.sh").exits(1).says("neither keys nor stored credentials are there");
}

#[test]
fn a_commit_of_all_leaves_tracked_secrets_as_they_were() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    let all = "command=git add -A && git commit -q -m second";
    world.run(&["call", "bash", all, "--mode", "workspace"]).exits(0);
    let at = world.root();
    assert_eq!(git(&at, &["show", "--stat=80", "--format=%s", "HEAD"]).lines().next(), Some("second"));
    assert_eq!(git(&at, &["diff", "--name-only", "HEAD~1", "HEAD"]), "a.txt");
    for name in HIDDEN {
        assert_eq!(git(&at, &["show", &format!("HEAD:{name}")]), "SECRET=abc", "{name}");
    }
    assert_eq!(git(&at, &["status", "--short"]), "");
    // One that was changed is a change, which cannot be read.
    std::fs::write(at.join(".env"), "SECRET=abcd\n").expect("written");
    world.run(&["call", "bash", "command=git status --short", "--mode", "read-only"]).exits(0).says(" M .env");
    world.run(&["call", "bash", all, "--mode", "workspace"]).exits(1).says("Permission denied");
    assert_eq!(git(&at, &["show", "HEAD:.env"]), "SECRET=abc");
}

/// The same repository with branches: `keys` has other secrets, `code` also files that are guarded.
fn branches() -> World {
    let world = repository().file(".github/workflows/ci.yml", "one\n").file(".npmrc", "a=1\n").file("old/k.pem", "k\n");
    let at = world.root();
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).expect("written");
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "more"]);
    for branch in ["keys", "code"] {
        git(&at, &["switch", "-q", "-c", branch, "main"]);
        write(".env", &format!("SECRET={branch} abc\n"));
        git(&at, &["rm", "-q", "old/k.pem"]);
        if branch == "code" {
            write(".github/workflows/ci.yml", "two\n");
            write(".npmrc", "a=22\n");
            write(".envrc", "made\n");
        }
        git(&at, &["add", "."]);
        git(&at, &["commit", "-q", "-m", branch]);
    }
    git(&at, &["switch", "-q", "main"]);
    world
}

/// Nothing of the work tree differs from what is checked out, which is `branch`.
fn is_all_of(world: &World, branch: &str) {
    let at = world.root();
    assert_eq!(git(&at, &["branch", "--show-current"]), branch);
    assert_eq!(git(&at, &["status", "--porcelain"]), "", "{branch}");
    assert_eq!(git(&at, &["diff", branch]), "", "{branch}");
}

#[test]
fn git_puts_tracked_secrets_of_another_branch_in_place_and_nobody_reads_them() {
    if !is_confined_here() {
        return;
    }
    // Right after a commit the index is as new as the files: git would have to read them.
    let world = branches();
    let call = |text: &str| world.run(&["call", "bash", &format!("command={text}"), "--mode", "workspace"]);
    for (command, branch) in [
        ("git switch keys", "keys"),
        ("git switch main", "main"),
        ("git switch -q -c copy && git merge -q --ff-only keys", "copy"),
        ("git checkout -q HEAD~1 && git switch -q keys && git stash list", "keys"),
        ("git switch -q main", "main"),
    ] {
        call(command).exits(0);
        let at = world.root();
        assert_eq!(git(&at, &["branch", "--show-current"]), branch, "{command}");
        assert_eq!(git(&at, &["status", "--porcelain"]), "", "{command}");
    }
    call("git switch keys").exits(0);
    assert_eq!(world.text(".env"), "SECRET=keys abc\n");
    assert!(!world.root().join("old").exists());
    world.run(&["undo"]).exits(0);
    is_all_of(&world, "main");
    assert_eq!((world.text(".env"), world.text("old/k.pem")), ("SECRET=abc\n".into(), "k\n".into()));
}

#[test]
fn what_stands_in_for_a_secret_is_neither_read_nor_changed_by_a_script_beside_git() {
    if !is_confined_here() {
        return;
    }
    let world = branches();
    for (script, says) in [
        ("cat .env; chmod 644 .env; cat .env; dd if=.env", "abc"),
        ("rm .env", "[not applied, as it is hidden from commands: .env"),
        ("mv .env other", "as it is hidden from commands: .env, other"),
        ("ln .env other; rm .env", "as it is hidden from commands: .env, other"),
        ("chmod 644 .env; echo x >> .env", "changed the rights of what is hidden from it: .env"),
        ("rm -r old", "as it is hidden from commands: old]"),
        ("echo x > n; mv n .env; touch -d @1 .env", "as it is hidden from commands: .env"),
        ("git update-index --force-remove .env; echo x > n; mv n .env", "as it is hidden from commands: .env"),
        ("git mv .env other", "as it is hidden from commands: .env, other"),
        (
            "printf 'SECRET=abc\\n' > n; mv n .env; git add .env; rm .env; git rm -q --cached .env",
            "as it is hidden from commands: .env",
        ),
    ] {
        // What git has not recorded nobody else may do away with.
        if script.contains("--cached") {
            std::fs::write(world.root().join(".env"), "SECRET=abc \n").expect("written");
        }
        std::fs::write(world.root().join("x.sh"), script).expect("written");
        let command = "command=git log --oneline; sh x.sh";
        let ran = world.run(&["call", "bash", command, "--mode", "workspace"]);
        match says {
            // A commit may have these three letters in its name.
            "abc" => assert!(!ran.out.contains("=abc"), "{script}: {ran:?}"),
            says => assert!(ran.out.contains(says) && ran.code == 3, "{script}: {ran:?}"),
        }
        assert_eq!(world.text(".env").trim_end(), "SECRET=abc", "{script}");
        assert_eq!(world.text("old/k.pem"), "k\n", "{script}");
        git(&world.root(), &["reset", "-q", "--hard", "main"]);
        git(&world.root(), &["clean", "-qfd"]);
    }
}

#[test]
fn a_branch_with_other_guarded_files_is_asked_about_and_put_in_place_as_a_whole_or_not_at_all() {
    if !is_confined_here() {
        return;
    }
    let world = branches();
    for mode in ["workspace", "accept-all"] {
        let refused = world.run(&["call", "bash", "command=git switch code", "--mode", mode]);
        refused.exits(3).complains("NIKA-205").complains("git would change .envrc, .github/workflows/ci.yml, .npmrc,");
        is_all_of(&world, "main");
    }
    // The default mode asks about any change, and tries it before: there is one question, about all of it.
    for (answer, branch, mode) in [("n\r", "main", "workspace"), ("y\r", "code", "workspace"), ("y\r", "code", "ask")] {
        git(&world.root(), &["switch", "-q", "main"]);
        let mut screen = Screen::start(&world, &["call", "bash", "command=git switch code", "--mode", mode]);
        assert!(screen.shows("instead: "), "{mode}: {}", screen.shown);
        assert!(screen.shown.contains("write(.github/workflows/ci.yml)"), "{}", screen.shown);
        assert!(!screen.shown.contains("abc"), "{}", screen.shown);
        screen.types(answer);
        let (code, shown, _) = screen.end();
        assert_eq!(code, if branch == "code" { 0 } else { 3 }, "{mode}: {shown}");
        assert_eq!(shown.matches("instead: ").count(), 1, "{mode}: {shown}");
        is_all_of(&world, branch);
    }
    assert_eq!((world.text(".npmrc"), world.text(".envrc")), ("a=22\n".into(), "made\n".into()));
    let mut screen = Screen::start(&world, &["undo"]);
    assert!(screen.shows("instead: "), "{}", screen.shown);
    screen.types("y\r");
    assert_eq!(screen.end().0, 0);
    is_all_of(&world, "main");
}

#[test]
fn where_no_layer_is_an_answer_says_what_git_could_not_put_in_place() {
    if !is_confined_here() {
        return;
    }
    let world = branches();
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    let job = peer.call("nika_bash", json!({"command": "sleep 60 > out.txt", "run_in_background": true}));
    assert!(text(&job).contains("Started"), "{job}");
    let quiet = peer.call("nika_bash", json!({"command": "git switch -c more && git log -1"}));
    assert!(!text(&quiet).contains("could not"), "{quiet}");
    let whole = peer.call("nika_bash", json!({"command": "git switch keys && git switch main"}));
    assert!(text(&whole).contains("[exit 0"), "{whole}");
    assert_eq!(git(&world.root(), &["status", "--porcelain", "-uall"]), "?? out.txt");
    // Without a layer git has to know by itself that they are unchanged.
    let before = SystemTime::now() - Duration::from_secs(3600);
    for name in [".env", "old/k.pem"] {
        let file = std::fs::File::options().write(true).open(world.root().join(name)).expect("it is there");
        file.set_modified(before).expect("ours");
    }
    git(&world.root(), &["update-index", "--refresh"]);
    let switched = peer.call("nika_bash", json!({"command": "git switch keys; true"}));
    assert_eq!(switched["isError"], true, "{switched}");
    let wanted = "git has recorded other content than it could put in place: .env, old/k.pem. These";
    assert!(text(&switched).contains(wanted), "{switched}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_rebase_over_guarded_files_goes_through_once_it_is_allowed() {
    if !is_confined_here() {
        return;
    }
    let world = branches();
    let at = world.root();
    git(&at, &["switch", "-q", "-c", "mine", "main"]);
    std::fs::write(at.join("mine.txt"), "m\n").expect("written");
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "mine"]);
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    let refused = peer.call("nika_bash", json!({"command": "git rebase -q code"}));
    assert!(text(&refused).contains("git would change .envrc"), "{refused}");
    is_all_of(&world, "mine");
    assert_eq!(peer.end(), 0);
    let mut screen = Screen::start(&world, &["call", "bash", "command=git rebase -q code", "--mode", "workspace"]);
    assert!(screen.shows("instead: "), "{}", screen.shown);
    screen.types("y\r");
    let (code, shown, _) = screen.end();
    assert_eq!(code, 0, "{shown}");
    assert_eq!(git(&at, &["status", "--porcelain"]), "");
    assert_eq!(git(&at, &["log", "--format=%s"]), "mine\ncode\nmore\nbegin");
}

#[test]
fn what_rules_withhold_is_not_shown_when_git_or_a_script_beside_it_replaces_it() {
    if !is_confined_here() {
        return;
    }
    let world = branches();
    let at = world.root();
    std::fs::create_dir_all(world.path("home/.config/nika")).expect("a directory");
    let rules = "permissions:\n  deny: [\"read(priv/**)\"]\n";
    std::fs::write(world.path("home/.config/nika/config.yaml"), rules).expect("written");
    std::fs::create_dir(at.join("priv")).expect("made");
    std::fs::write(at.join("priv/x"), "one\n").expect("written");
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "private"]);
    std::fs::write(at.join("priv/x"), "PRIVATE\n").expect("written");
    for script in [
        "rm priv/x",
        "echo a > n; mv n priv/x; git add priv/x",
        "rm -r priv",
        "cat priv/x; chmod 644 priv/x; cat priv/x",
    ] {
        std::fs::write(at.join("x.sh"), script).expect("written");
        for more in ["preview=true", "preview=false"] {
            let ran =
                world.run(&["call", "bash", "command=git log --oneline -1; sh x.sh", "--mode", "workspace", more]);
            assert!(!ran.out.contains("PRIVATE"), "{script}: {ran:?}");
            assert_eq!(world.text("priv/x"), "PRIVATE\n", "{script}");
        }
    }
}

#[test]
fn a_rule_on_writing_holds_for_what_git_replaces_and_then_nothing_is() {
    if !is_confined_here() {
        return;
    }
    let world = branches();
    std::fs::create_dir_all(world.path("home/.config/nika")).expect("a directory");
    for (rule, told) in [("write(.env)", "a rule denies it"), ("write(old/**)", "a rule denies it")] {
        let rules = format!("permissions:\n  deny: [\"{rule}\"]\n");
        std::fs::write(world.path("home/.config/nika/config.yaml"), rules).expect("written");
        let ran = world.run(&["call", "bash", "command=git switch keys", "--mode", "workspace"]);
        ran.exits(3).says(told);
        is_all_of(&world, "main");
    }
}

#[test]
fn a_merge_and_a_stash_reach_guarded_files_as_a_whole_too() {
    if !is_confined_here() {
        return;
    }
    let world = branches();
    let at = world.root();
    let yes = |command: &str, asks: &str| {
        let refused = world.run(&["call", "bash", &format!("command={command}"), "--mode", "workspace"]);
        refused.exits(3).complains("git would change");
        let mut screen = Screen::start(&world, &["call", "bash", &format!("command={command}"), "--mode", "workspace"]);
        assert!(screen.shows("instead: ") && screen.shown.contains(asks), "{}", screen.shown);
        screen.types("y\r");
        screen.end()
    };
    // Both sides changed it: the markers of the conflict are put there.
    git(&at, &["switch", "-q", "-c", "mine", "main"]);
    std::fs::write(at.join(".github/workflows/ci.yml"), "mine\n").expect("written");
    git(&at, &["commit", "-q", "-a", "-m", "mine"]);
    let merged = yes("git merge code", "write(.github/workflows/ci.yml)");
    assert_eq!(merged.0, 1, "{merged:?}");
    assert!(world.text(".github/workflows/ci.yml").contains("<<<<<<< HEAD\nmine\n"));
    // Files that came from a layer have another time of change, which git has to see first.
    git(&at, &["status", "--short"]);
    git(&at, &["merge", "--abort"]);
    // What was put aside comes back.
    std::fs::write(at.join(".github/workflows/ci.yml"), "dirty\n").expect("written");
    git(&at, &["stash", "-q"]);
    let popped = yes("git stash pop", "write(.github/workflows/ci.yml)");
    assert_eq!(popped.0, 0, "{popped:?}");
    assert_eq!(world.text(".github/workflows/ci.yml"), "dirty\n");
    assert_eq!(git(&at, &["stash", "list"]), "");
}

#[test]
fn a_way_there_and_back_changes_nothing_and_a_refusal_is_not_remembered() {
    if !is_confined_here() {
        return;
    }
    let world = branches();
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    let mut bash = |command: &str| text(&peer.call("nika_bash", json!({"command": command})));
    let back = bash("git switch -q code && git switch -q main");
    assert!(back.contains("[exit 0"), "{back}");
    is_all_of(&world, "main");
    assert!(bash("git merge -q code").contains("git would change"));
    git(&world.root(), &["merge", "-q", "code"]);
    let merged = bash("git merge -q code");
    assert!(merged.contains("[exit 0"), "{merged}");
    // What git noted by our word alone is noted as it is, where it is left behind.
    let clean = bash("git commit -q --allow-empty -m empty && git status --short");
    assert!(!clean.contains(" M "), "{clean}");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_work_tree_whose_records_lie_elsewhere_is_not_of_two_commits_in_silence() {
    if !is_confined_here() {
        return;
    }
    let world = branches();
    let at = world.root();
    git(&at, &["config", "core.splitIndex", "true"]);
    git(&at, &["update-index", "--split-index"]);
    let ran = world.run(&["call", "bash", "command=git switch code", "--mode", "workspace"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    is_all_of(&world, "main");
    git(&at, &["update-index", "--no-split-index"]);
    let linked = world.path("linked");
    git(&at, &["worktree", "add", "-q", linked.to_str().expect("text"), "-b", "wt", "main"]);
    let words = ["call", "bash", "command=git merge -q code", "--mode", "workspace", "--root"];
    let ran = world.run(&[&words[..], &[linked.to_str().expect("text")]].concat());
    assert_ne!(ran.code, 0, "{ran:?}");
}

/// The same, where git knows by their times that the hidden files are unchanged.
pub fn settled() -> World {
    let world = branches();
    let at = world.root();
    let before = SystemTime::now() - Duration::from_secs(3600);
    for name in HIDDEN.iter().chain(&["old/k.pem", ".npmrc"]) {
        let file = std::fs::File::options().write(true).open(at.join(name)).expect("it is there");
        file.set_modified(before).expect("ours");
    }
    git(&at, &["update-index", "--refresh"]);
    world
}

#[test]
fn nothing_counts_that_was_done_with_a_stand_in_as_if_it_were_the_file() {
    if !is_confined_here() {
        return;
    }
    let world = settled().file("x.sh", "chmod 644 .env; git add -A; git commit -qm all\n");
    let at = world.root();
    std::fs::write(at.join(".env"), "SECRET=dirty\n").expect("written");
    let head = git(&at, &["rev-parse", "HEAD"]);
    for command in [
        "chmod 644 .env && git commit -qam x",
        "find . -maxdepth 1 -type f -exec chmod 644 {} + ; git add -A; git commit -qm y",
        "sh x.sh; git log -1",
    ] {
        let ran = world.run(&["call", "bash", &format!("command={command}"), "--mode", "accept-all"]);
        assert_ne!(ran.code, 0, "{command}: {ran:?}");
        assert_eq!(git(&at, &["rev-parse", "HEAD"]), head, "{command}");
        assert_eq!(world.text(".env"), "SECRET=dirty\n", "{command}");
    }
    // A hook of git's is not git.
    std::fs::create_dir_all(at.join(".git/hooks")).expect("made");
    let hook = at.join(".git/hooks/pre-commit");
    std::fs::write(&hook, "#!/bin/sh\nrm -f .env; echo PWNED > .env\n").expect("written");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("ours");
    let ran = world.run(&["call", "bash", "command=git commit -qm z --allow-empty", "--mode", "workspace"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_eq!(world.text(".env"), "SECRET=dirty\n");
}

#[test]
fn a_tree_that_git_left_of_two_commits_is_a_failure_wherever_its_records_lie() {
    if !is_confined_here() {
        return;
    }
    let world = settled();
    let at = world.root();
    git(&at, &["update-index", "--split-index"]);
    let run = |command: &str, root: &str| {
        let words = ["call", "bash", &format!("command={command}"), "--mode", "workspace", "--root", root];
        world.run(&words).code
    };
    assert_ne!(run("git switch -q keys", at.to_str().expect("text")), 0);
    assert_eq!(git(&at, &["branch", "--show-current"]), "main", "nothing was applied");
    let linked = world.path("linked");
    let shown = linked.to_str().expect("text");
    git(&at, &["worktree", "add", "-q", shown, "-b", "wt", "main"]);
    let before = SystemTime::now() - Duration::from_secs(3600);
    let file = std::fs::File::options().write(true).open(linked.join(".env")).expect("it is there");
    file.set_modified(before).expect("ours");
    git(&linked, &["update-index", "--refresh"]);
    assert_ne!(run("git switch -q -c wt2 keys 2>/dev/null", shown), 0);
}

#[test]
fn what_git_took_out_of_a_stash_beside_something_else_is_no_success_where_a_part_is_left_out() {
    if !is_confined_here() {
        return;
    }
    let world = settled();
    let at = world.root();
    std::fs::write(at.join(".github/workflows/ci.yml"), "dirty\n").expect("written");
    std::fs::write(at.join("a.txt"), "dirty\n").expect("written");
    git(&at, &["stash", "-q"]);
    let ran = world.run(&["call", "bash", "command=git stash pop && ls", "--mode", "workspace"]);
    ran.exits(3).says("[not applied, as it may become code or policy: .github/workflows/ci.yml");
}

#[test]
fn git_that_a_script_starts_brings_guarded_files_whole_or_not_at_all() {
    if !is_confined_here() {
        return;
    }
    let world = settled()
        .file("Makefile", "rel:\n\tgit switch -q code 2>/dev/null && echo v2 >a.txt && git commit -qam release\n")
        .file("records.sh", "git reset -q HEAD~1; git rm -q --cached old/k.pem; git checkout -q -b other\n");
    let at = world.root();
    git(&at, &["add", "Makefile", "records.sh"]);
    git(&at, &["commit", "-q", "-m", "make"]);
    let head = git(&at, &["rev-parse", "HEAD"]);
    // Nobody is there to be asked about the workflow.
    let refused = world.run(&["call", "bash", "command=make -s rel", "--mode", "workspace"]);
    refused.exits(3).complains(".github/workflows/ci.yml");
    assert_eq!(git(&at, &["rev-parse", "HEAD", "code"]), format!("{head}\n{}", git(&at, &["rev-parse", "code"])));
    assert_eq!(world.text(".github/workflows/ci.yml"), "one\n");
    // With a yes it is as without a sandbox: the release has what the branch has.
    let mut screen = Screen::start(&world, &["call", "bash", "command=make -s rel", "--mode", "workspace"]);
    assert!(screen.shows("instead: ") && screen.shown.contains("+two"), "{}", screen.shown);
    screen.types("y\r");
    assert_eq!(screen.end().0, 0);
    assert_eq!(git(&at, &["show", "code:.github/workflows/ci.yml"]), "two");
    assert_eq!(git(&at, &["show", "--format=", "--name-only", "code"]), "a.txt");
    assert_eq!((world.text(".github/workflows/ci.yml").as_str(), world.text("a.txt").as_str()), ("two\n", "v2\n"));
    // What only changes records is not held up.
    git(&at, &["switch", "-q", "-f", "main"]);
    world.run(&["call", "bash", "command=sh records.sh", "--mode", "workspace"]).exits(0);
    assert_eq!(git(&at, &["branch", "--show-current"]), "other");
    assert!(world.root().join("old/k.pem").exists());
}

#[test]
fn a_secret_that_somebody_saves_beside_git_is_seen_by_the_next_git() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    let at = world.root();
    git(&at, &["config", "core.trustctime", "false"]);
    // As new as the index, so that Nika vouches for it.
    std::fs::write(at.join(".env"), "SECRET=abc\n").expect("written");
    let meanwhile = "command=git commit -qam second; sleep 1.713";
    std::thread::scope(|scope| {
        let ran = scope.spawn(|| world.run(&["call", "bash", meanwhile, "--mode", "workspace"]));
        until("it has committed", || sleeps("1.713"));
        std::fs::write(at.join(".env"), "SECRET=mine, and longer\n").expect("written");
        ran.join().expect("it ended").exits(0);
    });
    assert_eq!(git(&at, &["status", "--short"]), "M .env");
}

#[test]
fn who_asks_for_the_status_meanwhile_or_since_holds_up_neither_a_commit_nor_its_undo() {
    if !is_confined_here() {
        return;
    }
    let world = repository().file("slow.sh", "sleep 1.827\n").file("b.txt", "b\n");
    let at = world.root();
    git(&at, &["add", "slow.sh", "b.txt"]);
    git(&at, &["commit", "-q", "-m", "more"]);
    let looks = || {
        std::fs::File::options()
            .write(true)
            .open(at.join("b.txt"))
            .expect("there")
            .set_modified(SystemTime::now())
            .expect("ours");
        git(&at, &["status", "--short"]);
    };
    let before = git(&at, &["rev-parse", "HEAD"]);
    let commit = "command=sh slow.sh && git commit -qam second";
    let call = |during: &dyn Fn()| {
        std::thread::scope(|scope| {
            let ran = scope.spawn(|| world.run(&["call", "bash", commit, "--mode", "workspace", "--output", "json"]));
            until("it runs", || sleeps("1.827"));
            during();
            ran.join().expect("it ended")
        })
    };
    let ran = call(&looks);
    ran.exits(0);
    assert_eq!(
        (git(&at, &["status", "--short"]), git(&at, &["log", "-1", "--format=%s"])),
        (String::new(), "second".into())
    );
    looks();
    world.run(&["undo", ran.json()["call_id"].as_str().expect("a call")]).exits(0);
    assert_eq!(
        (git(&at, &["rev-parse", "HEAD"]), git(&at, &["status", "--short"])),
        (before.clone(), "M a.txt".to_owned())
    );
    // Who tells git something meanwhile is not overruled, and not half the commit counts.
    let ran = call(&|| {
        std::fs::write(at.join("c.txt"), "c\n").expect("written");
        git(&at, &["add", "c.txt"]);
    });
    ran.says("git's records stay whole");
    assert_ne!(ran.code, 0);
    assert_eq!(
        (git(&at, &["rev-parse", "HEAD"]), git(&at, &["status", "--short"])),
        (before, "M a.txt\nA  c.txt".to_owned())
    );
}

#[test]
fn a_worktree_of_git_is_made_as_a_whole_or_not_at_all() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    let at = world.root();
    git(&at, &["commit", "-qam", "two"]);
    let add = "command=git worktree add -q wt -b side";
    let then = "command=git worktree add -q wt -b side && cd wt && echo x >>a.txt && git commit -qam x";
    for command in [add, then] {
        world.run(&["call", "bash", command, "--mode", "workspace"]).exits(3).complains(".git/worktrees");
        assert!(!at.join("wt").exists(), "nothing was applied");
    }
    let mut screen = Screen::start(&world, &["call", "bash", add, "--mode", "workspace"]);
    assert!(screen.shows("instead: ") && screen.shown.contains(".git/worktrees"), "{}", screen.shown);
    screen.types("y\r");
    let (code, shown, out) = screen.end();
    assert_eq!(code, 0, "{shown}{out}");
    assert_eq!(git(&at.join("wt"), &["status", "--short"]), "");
    assert_eq!(git(&at.join("wt"), &["branch", "--show-current"]), "side");
}

#[test]
fn a_secret_whose_lines_git_ended_otherwise_is_unchanged_too() {
    if !is_confined_here() {
        return;
    }
    let world = branches();
    let at = world.root();
    git(&at, &["config", "core.autocrlf", "true"]);
    git(&at, &["switch", "-q", "keys"]);
    git(&at, &["switch", "-q", "main"]);
    assert_eq!(world.text(".env"), "SECRET=abc\r\n");
    world.run(&["call", "bash", "command=git status --short", "--mode", "read-only"]).exits(0).says("[exit 0");
    world.run(&["call", "bash", "command=git switch -q keys", "--mode", "workspace"]).exits(0);
    assert_eq!(world.text(".env"), "SECRET=keys abc\r\n");
    assert_eq!(git(&at, &["status", "--short"]), "");
}

/// A repository whose branch `code` has one more commit, which changes a workflow and two other files.
fn ahead() -> World {
    let world = settled();
    let at = world.root();
    git(&at, &["switch", "-q", "-c", "next", "main"]);
    for (name, text) in [(".github/workflows/ci.yml", "next\n"), ("b.txt", "next\n"), ("c.txt", "next\n")] {
        std::fs::write(at.join(name), text).expect("written");
    }
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "next"]);
    git(&at, &["switch", "-q", "main"]);
    world
}

#[test]
fn a_script_that_commits_all_after_a_switch_takes_nothing_back() {
    if !is_confined_here() {
        return;
    }
    let script = "git switch -q next 2>/dev/null && echo v2 >a.txt && git commit -qam release\n";
    let world = world().file("a.txt", "one\n").file(".github/workflows/ci.yml", "one\n").file("rel.sh", script);
    let at = world.root();
    git(&at, &["init", "-q", "-b", "main"]);
    git(&at, &["config", "user.name", "a"]);
    git(&at, &["config", "user.email", "a@example.org"]);
    git(&at, &["add", "."]);
    git(&at, &["commit", "-qm", "one"]);
    git(&at, &["switch", "-q", "-c", "next"]);
    std::fs::write(at.join(".github/workflows/ci.yml"), "next\n").expect("written");
    git(&at, &["commit", "-qam", "next"]);
    git(&at, &["switch", "-q", "main"]);
    let refused = world.run(&["call", "bash", "command=sh rel.sh", "--mode", "workspace"]);
    refused.exits(3).complains(".github/workflows/ci.yml");
    assert_eq!(git(&at, &["log", "-1", "--format=%s", "next"]), "next");
    let rule = ["--allow", "write(.github/**)"];
    let words = ["call", "bash", "command=sh rel.sh", "--mode", "workspace", rule[0], rule[1]];
    let mut screen = Screen::start(&world, &words);
    assert!(screen.shows("instead: "), "{}", screen.shown);
    screen.types("y\r");
    assert_eq!(screen.end().0, 0);
    assert_eq!(git(&at, &["show", "next:.github/workflows/ci.yml"]), "next");
    assert_eq!(git(&at, &["show", "--format=", "--name-only", "next"]), "a.txt");
}

#[test]
fn git_that_fails_in_a_script_leaves_no_half_of_what_it_was_to_bring() {
    if !is_confined_here() {
        return;
    }
    for script in ["git cherry-pick next\n", "git rebase -q next\n", "git cherry-pick -n next\n"] {
        let world = ahead().file("x.sh", script);
        let at = world.root();
        let head = git(&at, &["rev-parse", "HEAD"]);
        let ran = world.run(&["call", "bash", "command=sh x.sh", "--mode", "workspace"]);
        ran.exits(3).complains(".github/workflows/ci.yml");
        assert_eq!(
            (git(&at, &["rev-parse", "HEAD"]), git(&at, &["status", "--short"])),
            (head, "?? x.sh".to_owned()),
            "{script}"
        );
    }
}

#[test]
fn what_only_looks_like_git_that_failed_is_applied() {
    if !is_confined_here() {
        return;
    }
    let world = repository().file(".github/workflows/ci.yml", "one\n").file("b.txt", "one\n");
    let at = world.root();
    git(&at, &["add", "."]);
    git(&at, &["commit", "-qam", "one"]);
    for name in [".github/workflows/ci.yml", "b.txt"] {
        std::fs::write(at.join(name), "two\n").expect("written");
    }
    git(&at, &["commit", "-qam", "two"]);
    git(&at, &["branch", "other", "HEAD~1"]);
    for command in [
        // Text of a program.
        "printf \"warning: unable to unlink 'b': Busy\\n\"; echo 9 >a.txt; git commit -qam text",
        // Records alone, and new content beside them.
        "git reset -q HEAD~1 && echo three >b.txt && git add b.txt && git commit -qm redo",
        "git add -N . && echo v3 >a.txt && git add a.txt && git commit -qm told",
        "git rm -q --cached .env && git commit -qm untrack && git merge -q --no-edit other",
    ] {
        let ran = world.run(&["call", "bash", &format!("command={command}"), "--mode", "workspace"]);
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
    }
    assert_eq!(git(&at, &["log", "-4", "--format=%s"]), "untrack\ntold\nredo\ntwo");
}

#[test]
fn an_index_that_a_command_left_as_a_link_leads_nowhere() {
    if !is_confined_here() {
        return;
    }
    let world = repository().file("x.sh", "rm -f .git/index; ln -s \"$1\" .git/index\n");
    let at = world.root();
    // Another index that notes the same file, in no root.
    let other = world.path("other");
    git(&at, &["clone", "-q", at.to_str().expect("text"), other.to_str().expect("text")]);
    let index = other.join(".git/index");
    // As new as the index, so that Nika vouches for it.
    std::fs::write(at.join(".env"), "SECRET=abc\n").expect("written");
    let before = (std::fs::read(&index).expect("there"), index.metadata().expect("there").modified().expect("a time"));
    let command = format!("command=sh x.sh {}; git --version", index.display());
    world.run(&["call", "bash", &command, "--mode", "accept-all"]);
    let after = (std::fs::read(&index).expect("there"), index.metadata().expect("there").modified().expect("a time"));
    assert!(before == after);
}

#[test]
fn an_index_that_nika_vouched_in_has_the_time_that_git_gave_it() {
    if !is_confined_here() {
        return;
    }
    let world = repository();
    let at = world.root();
    std::fs::write(at.join(".env"), "SECRET=abc\n").expect("written");
    let racy = "command=echo bbb >a.txt; git add a.txt; echo ccc >a.txt; sleep 1.2; git --version";
    world.run(&["call", "bash", racy, "--mode", "workspace"]).exits(0);
    world.run(&["call", "bash", "command=git commit -qam z", "--mode", "workspace"]).exits(0);
    assert_eq!(git(&at, &["show", "HEAD:a.txt"]), "ccc");
}

#[test]
fn a_job_that_puts_something_else_in_the_place_of_the_index_holds_nobody_up() {
    if !is_confined_here() {
        return;
    }
    let world = settled();
    let mut peer = Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
    peer.initialize("2025-11-25");
    let job = "until [ -e /tmp/go ]; do sleep 0.02; done; rm -f .git/index; mkfifo .git/index; sleep 30";
    peer.call("nika_bash", json!({"command": job, "run_in_background": true}));
    let ran = peer.call("nika_bash", json!({"command": "git add -A && touch /tmp/go && sleep 0.6 && git add -A"}));
    assert!(!text(&ran).is_empty(), "{ran}");
    let next = peer.call("nika_bash", json!({"command": "echo hi"}));
    assert!(text(&next).contains("hi"), "{next}");
    assert_eq!(peer.end(), 0);
}
