//! Links and descriptors that lead out of the sandbox: what a link in the workspace points at, and what stands behind
//! standard input, is neither shown nor changed through them.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::peer::{Peer, text};
use crate::shell::{git, is_confined_here};
use crate::world::{Ran, World, exists, world};

fn exec(world: &World, profile: &str, script: &str) -> Ran {
    world.run(&["sandbox", "exec", "--profile", profile, "--", "sh", "-c", script])
}

#[test]
fn a_link_that_is_called_like_a_secret_shows_none_and_hides_nothing_that_is_needed() {
    if !is_confined_here() {
        return;
    }
    let world = world().file(".env", "TOK=abc\n").file("a.txt", "seen\n");
    let home = world.path("home");
    fs::create_dir_all(home.join(".ssh")).expect("made");
    fs::write(home.join(".ssh/id_rsa"), "TOK=key\n").expect("written");
    for (name, to) in [("a.pem", "/"), ("b.key", "/usr"), ("c.pem", "."), ("d.pem", "..")] {
        symlink(to, world.root().join(name)).expect("a link");
    }
    for profile in ["read-only", "workspace"] {
        let seen = exec(&world, profile, "cat a.txt; cat .env ~/.ssh/id_rsa a.pem/../.env; head -1 /etc/shadow");
        assert!(seen.out.contains("seen") && !seen.out.contains("TOK") && !seen.out.contains("root:"), "{seen:?}");
    }
    world.run(&["call", "bash", "command=cat a.txt", "--mode", "workspace"]).exits(0).says("seen");
}

#[test]
fn a_link_on_the_way_to_a_guarded_name_changes_nothing_where_it_leads() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("link.sh", "ln -s \"$HOME/.config\" .config\n");
    let config = world.path("home").join(".config");
    for name in ["nika", "git"] {
        fs::create_dir_all(config.join(name)).expect("made");
    }
    let names = || {
        let mut all: Vec<_> = fs::read_dir(&config).expect("there").flatten().map(|one| one.file_name()).collect();
        all.sort();
        all
    };
    let bare = ["call", "bash", "command=sh link.sh", "--mode", "workspace", "--set", "shell.undo=off"];
    let confined = ["sandbox", "exec", "--profile", "workspace", "--", "sh", "link.sh"];
    for words in [&bare[..], &confined[..]] {
        let ran = world.run(words);
        assert_eq!(names(), ["git", "nika"], "{ran:?}");
        assert!(!exists(world.root().join(".config")), "{ran:?}");
        fs::remove_file(world.root().join(".config.refused-by-nika")).expect("the link was set aside");
    }
}

/// Also what the last of a job made, when the job itself had ended.
#[test]
fn what_a_job_made_under_guarded_names_is_told_with_its_end() {
    if !is_confined_here() {
        return;
    }
    const LEAVES: &str = "(until [ -e go ]; do sleep 0.02; done; echo x > .profile) &\necho x > .zshrc\n";
    let world = world().file("makes.sh", "echo x > .bashrc\n").file("leaves.sh", LEAVES);
    let words = ["serve", "--mode", "workspace", "--list", "all", "--set", "shell.undo=off"];
    let mut peer = Peer::start(world.nika(&words));
    peer.initialize("2025-11-25");
    let mut aside = |job: &str, script: &str, names: &[&str]| {
        peer.call("nika_bash", json!({"command": format!("sh {script}"), "run_in_background": true}));
        fs::write(world.root().join("go"), "").expect("written");
        let said: Vec<String> = names
            .iter()
            .map(|name| {
                let aside = world.root().join(format!("{name}.refused-by-nika"));
                format!("a guarded name was made and set aside: {}", aside.display())
            })
            .collect();
        let (mut told, mut read, since) = (String::new(), String::new(), Instant::now());
        let is_all = |text: &String| said.iter().all(|said| text.contains(said));
        while !(is_all(&told) && is_all(&read)) && since.elapsed() < Duration::from_secs(20) {
            let answer = peer.call("nika_job_output", json!({"job_id": job}));
            read = answer["content"][0]["text"].to_string();
            // The news are behind what was asked for.
            told.push_str(text(&answer).split_once(']').expect("an answer").1);
            told.push_str(&text(&peer.call("nika_sleep", json!({"duration_ms": 20}))));
        }
        assert!(is_all(&told), "no {said:?} in {told}");
        assert!(is_all(&read), "no {said:?} in {read}");
        names.iter().for_each(|name| assert!(!exists(world.root().join(name)), "{name}"));
    };
    aside("j1", "makes.sh", &[".bashrc"]);
    fs::remove_file(world.root().join("go")).expect("removed");
    aside("j2", "leaves.sh", &[".profile", ".zshrc"]);
    assert_eq!(peer.end(), 0);
    let journals = fs::read_dir(world.state().join("journal")).expect("journals").flatten();
    let lines: String = journals.map(|file| fs::read_to_string(file.path()).expect("text")).collect();
    let noted: Vec<&str> = lines.lines().filter(|line| line.contains("GuardedSetAside")).collect();
    assert!(noted.len() == 2 && noted[0].contains(".bashrc.refused") && noted[0].contains("j1"), "{noted:?}");
    assert!(noted[1].contains(".profile.refused") && noted[1].contains(".zshrc.refused"), "{noted:?}");
}

#[test]
fn a_link_in_the_place_of_a_directory_that_starts_code_is_not_applied() {
    if !is_confined_here() {
        return;
    }
    const SCRIPT: &str = "mkdir -p sub/cc s4/hh new\necho x > sub/cc/config.toml\nln -s cc sub/.cargo\nln -s hh s4/.hg\n\
                          ln -s cc sub/plain\nln -s gh .github\nln -s c .config\nln -s cc sub/.CARGO\n";
    let world = world().file("x.sh", SCRIPT);
    let ran = world.run(&["call", "bash", "command=sh x.sh", "--mode", "workspace"]);
    ran.exits(0).says("not applied");
    for name in ["sub/.cargo", "sub/.CARGO", "s4/.hg", ".github", ".config"] {
        assert!(!exists(world.root().join(name)), "{name}: {ran:?}");
    }
    assert!(exists(world.root().join("sub/plain")), "{ran:?}");
}

#[test]
fn what_stands_behind_standard_input_is_only_read() {
    if !is_confined_here() {
        return;
    }
    const CHANGES: &str = "import os\n\
        for name, change in [('mode', lambda: os.fchmod(0, 0o777)), ('times', lambda: os.utime(0, (1, 1))),\n\
                             ('attribute', lambda: os.setxattr(0, 'user.a', b'1')),\n\
                             ('content', lambda: os.open('/proc/self/fd/0', os.O_WRONLY)),\n\
                             ('mode', lambda: os.chmod('/dev/null', 0o600)),\n\
                             ('times', lambda: os.utime('/dev/full', (1, 1)))]:\n    \
            try:\n        change(); print('changed', name)\n    \
            except OSError as error: pass\n\
        print(os.read(0, 100).decode())\n";
    let world = world().file("change.py", CHANGES).file("given", "one\ntwo\n").file("sub/.env", "TOK=abc\n");
    let outside = world.path("outside");
    fs::write(&outside, "three\n").expect("written");
    for path in [outside.clone(), world.root().join("given"), world.root().join("sub/.env")] {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
        let before = fs::metadata(&path).expect("there");
        for profile in ["read-only", "workspace"] {
            let words = ["sandbox", "exec", "--profile", profile, "--", "python3", "change.py"];
            let mut command = world.nika(&words);
            let given = fs::File::open(&path).expect("opened");
            let ran = Ran::of(command.stdin(Stdio::from(given)).output().expect("it runs"));
            let content = fs::read_to_string(&path).expect("read");
            assert!(ran.out.contains(content.trim()) && !ran.out.contains("changed"), "{path:?} {profile}: {ran:?}");
            let after = fs::metadata(&path).expect("there");
            assert_eq!((after.mode(), after.mtime()), (before.mode(), before.mtime()), "{profile}: {ran:?}");
        }
    }
    // A device that everybody uses.
    for profile in ["read-only", "workspace"] {
        let script = "echo x > /dev/null && head -c 1 /dev/zero | wc -c && python3 change.py";
        let mut command = world.nika(&["sandbox", "exec", "--profile", profile, "--", "sh", "-c", script]);
        let ran = Ran::of(command.stdin(Stdio::null()).output().expect("it runs"));
        // It can be written, as everywhere.
        let changed: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("changed")).collect();
        assert!(ran.out.starts_with('1') && changed == ["changed content"], "{profile}: {ran:?}");
    }
    world.run(&["call", "bash", "command=python3 change.py", "--mode", "workspace"]).exits(0);
    assert_ne!(fs::metadata("/dev/null").expect("there").mode() & 0o777, 0o600);
}

#[test]
fn a_root_that_somebody_keeps_locked_holds_no_command_up_for_long() {
    if !is_confined_here() {
        return;
    }
    let world = world();
    let root = fs::File::open(world.root()).expect("opened");
    rustix::fs::flock(&root, rustix::fs::FlockOperation::LockExclusive).expect("locked");
    world.run(&["sandbox", "exec", "--profile", "workspace", "--", "true"]).complains("keeps locked");
    drop(root);
    world.run(&["sandbox", "exec", "--profile", "workspace", "--", "true"]).exits(0);
}

#[test]
fn what_the_links_among_a_patterns_matches_lead_to_is_asked_about() {
    let world = world().file("src/a.c", "mine\n").file("src/b.h", "mine\n");
    let other = world.path("other");
    fs::create_dir_all(&other).expect("made");
    fs::write(other.join("notes.txt"), "theirs\n").expect("written");
    let allowed = ["cat src/*", "cat src/?.c", "cat */*.h", "for f in src/*; do head -1 \"$f\"; done"];
    for command in allowed {
        world.run(&["call", "bash", &format!("command={command}")]).exits(0).says("mine");
    }
    symlink(other.join("notes.txt"), world.root().join("src/l.c")).expect("a link");
    symlink(&other, world.root().join("src/d")).expect("a link");
    for command in allowed[..2].iter().chain(&["cat src/*/notes.txt", "tail -n1 s*/l.c", allowed[3]]) {
        let ran = world.run(&["call", "bash", &format!("command={command}")]);
        ran.exits(3);
        assert!(ran.err.contains("other") && !ran.out.contains("theirs"), "{command}: {ran:?}");
    }
    // What no link is among goes on as before.
    world.run(&["call", "bash", "command=cat src/*.h"]).exits(0).says("mine");
}

#[test]
fn what_git_reads_elsewhere_for_the_sake_of_a_nested_repository_is_asked_about() {
    let world = world().file("a.txt", "mine\n");
    git(&world.root(), &["init", "-q"]);
    let other = world.path("other");
    fs::create_dir_all(&other).expect("made");
    fs::write(other.join("notes.txt"), "theirs\n").expect("written");
    for (file, text) in [
        ("HEAD", "ref: refs/heads/main\n".to_owned()),
        ("objects/x", String::new()),
        ("refs/x", String::new()),
        ("config", format!("[core]\nworktree = {}\n", other.display())),
    ] {
        let file = world.root().join("vendor/x").join(file);
        fs::create_dir_all(file.parent().expect("a parent")).expect("made");
        fs::write(file, text).expect("written");
    }
    world.run(&["call", "bash", "command=git status --short"]).exits(0);
    for command in ["git -C vendor/x status", "cd vendor/x && git diff", "git -C vendor/x grep -n x"] {
        let ran = world.run(&["call", "bash", &format!("command={command}")]);
        ran.exits(3);
        assert!(ran.err.contains("other"), "{command}: {ran:?}");
    }
}

/// A repository of one commit, and beside the workspace a file of others.
fn beside_others() -> World {
    let world = world().file("a.txt", "mine\n");
    git(&world.root(), &["init", "-q"]);
    git(&world.root(), &["add", "."]);
    git(&world.root(), &["commit", "-q", "-m", "begin"]);
    fs::write(world.path("other"), "theirs\n").expect("written");
    world
}

/// Whether the command is asked about, as it would read the file of others.
fn asks_for_others(world: &World, command: &str) {
    let ran = world.run(&["call", "bash", &format!("command={command}"), "--mode", "workspace"]);
    ran.exits(3);
    assert!(ran.err.contains("other") && !ran.out.contains("theirs"), "{command}: {ran:?}");
}

#[test]
fn a_link_that_was_planted_in_a_repository_shows_nothing_unasked() {
    for (link, commands) in [
        ("rebase-merge/done", &["git status", "git commit -m x"][..]),
        ("rebase-merge/git-rebase-todo", &["git status"]),
        ("rebase-merge/head-name", &["git status"]),
        ("worktrees/x/locked", &["git worktree list -v"]),
        ("worktrees/x/gitdir", &["git worktree list -v"]),
        ("branches/zz", &["git remote get-url zz", "git ls-remote --get-url zz"]),
        ("rebase-apply/0001", &["git am --show-current-patch"]),
    ] {
        let world = beside_others();
        let link = world.root().join(".git").join(link);
        fs::create_dir_all(link.parent().expect("a parent")).expect("made");
        symlink(world.path("other"), link).expect("a link");
        commands.iter().for_each(|command| asks_for_others(&world, command));
    }
    let world = beside_others();
    symlink(world.path("other"), world.root().join(".git/tags")).expect("a link");
    world.run(&["call", "bash", "command=git status --short"]).exits(0);
}

#[test]
fn a_file_that_a_setting_names_is_asked_about_however_it_is_written() {
    let world = beside_others();
    let set = |dir: &str, key: &str, value: &str| git(&world.root().join(dir), &["config", key, value]);
    for value in ["~root/.gitconfig", "%(prefix)/../../etc/hostname"] {
        set("", "format.signatureFile", value);
        for command in ["git format-patch --stdout -1", "git format-patch -1", "git commit -m x"] {
            let ran = world.run(&["call", "bash", &format!("command={command}"), "--mode", "workspace"]);
            ran.exits(3).complains(value);
        }
    }
    set("", "format.signatureFile", "../other");
    asks_for_others(&world, "git format-patch --stdout -1");
    asks_for_others(&world, "git format-patch -1");
    git(&world.root(), &["config", "--unset", "format.signatureFile"]);
    git(&world.root(), &["init", "-q", "r"]);
    set("r", "format.signatureFile", "../other");
    world.run(&["call", "bash", "command=git -C r status --short"]).exits(0);
    set("r", "core.worktree", "../..");
    asks_for_others(&world, "git -C r format-patch --stdout -1");
}

#[test]
fn who_may_sign_is_asked_about_where_signatures_are_verified() {
    let world = beside_others();
    let other = world.path("other");
    for key in ["gpg.ssh.allowedSignersFile", "gpg.ssh.revocationFile", "commit.template", "http.cookieFile"] {
        git(&world.root(), &["config", key, &other.display().to_string()]);
    }
    for command in ["git status --short", "git log --oneline", "git diff", "git show --stat", "git branch"] {
        world.run(&["call", "bash", &format!("command={command}")]).exits(0);
    }
    for command in [
        "git log --show-signature",
        "git log --format=%G?",
        "git verify-commit HEAD",
        "git merge --verify-signatures x",
        // It may be a signed tag.
        "git merge x",
    ] {
        asks_for_others(&world, command);
    }
    let call = |text: &str| world.run(&["call", "bash", &format!("command={text}"), "--mode", "workspace"]);
    git(&world.root(), &["config", "gpg.ssh.allowedSignersFile", "~root/x"]);
    call("git log --oneline").exits(0);
    call("git log --show-signature").exits(3).complains("`gpg.ssh.allowedsignersfile` leads to `~root/x`");
}

#[test]
fn a_program_of_the_persons_own_looks_at_signatures_unasked() {
    if !is_confined_here() {
        return;
    }
    let world = beside_others();
    fs::write(world.path("home").join(".gitconfig"), "[gpg]\nprogram = gpg2\n").expect("written");
    let archive = ["call", "bash", "command=git archive HEAD | tar t", "--mode", "read-only"];
    world.run(&archive).exits(0);
    git(&world.root(), &["config", "gpg.program", "gpg2"]);
    world.run(&archive).exits(3);
}
