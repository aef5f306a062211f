//! What commands do not get to see, and what of a repository's configuration they cannot change: in great numbers, after
//! a directory got another name, outside the workspace, under whatever name git is told.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::peer::{Peer, text};
use crate::shell::is_confined_here;
use crate::world::{Ran, World, exists, world};

fn server(world: &World, more: &[&str]) -> Peer {
    let words: Vec<&str> = ["serve", "--list", "all"].iter().chain(more).copied().collect();
    let mut peer = Peer::start(world.nika(&words));
    peer.initialize("2025-11-25");
    peer
}

/// Runs `command` in the background of `server`, and gives all that it said.
fn job(peer: &mut Peer, id: &str, command: &str) -> String {
    let started = peer.call("nika_bash", json!({"command": command, "run_in_background": true}));
    assert!(text(&started).contains("Started"), "{started}");
    peer.call("nika_job_output", json!({"job_id": id, "wait_ms": 20_000, "filter": "^never$"}));
    text(&peer.call("nika_job_output", json!({"job_id": id, "offset": 0})))
}

fn git(world: &World, words: &[&str]) {
    let mut git = Command::new("git");
    git.args(words).current_dir(world.root()).env("HOME", world.path("home")).stdin(Stdio::null());
    assert!(git.status().expect("git runs").success(), "{words:?}");
}

#[test]
fn secrets_in_any_number_hide_none_of_the_others() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("app/prod/.env", "TOK=abc\n").file("certs/README", "TOK=none\n");
    for n in 0..600 {
        std::fs::write(world.root().join(format!("certs/k{n}.pem")), "").expect("written");
    }
    let found = world.run(&["call", "bash", "command=grep -r TOK= .", "--mode", "read-only"]);
    assert!(found.out.contains("certs/README:TOK=none") && !found.out.contains("TOK=abc"), "{found:?}");
    // Alone in their directory they are hidden with it, and a call that names one sees that one.
    std::fs::remove_file(world.root().join("certs/README")).expect("removed");
    for (command, says) in [("grep -r TOK= .", "Permission denied"), ("ls certs | wc -l", "600")] {
        let seen = world.run(&["call", "bash", &format!("command={command}"), "--mode", "read-only"]);
        assert!(seen.out.contains(says) && !seen.out.contains("TOK=abc"), "{command}: {seen:?}");
    }
    let made = world.run(&["call", "bash", "command=echo x > certs/notes", "--mode", "workspace"]);
    made.exits(0);
    assert_eq!(world.text("certs/notes"), "x\n");
    // More than can be hidden: nothing runs, and the answer says where they are.
    for n in 0..4100 {
        std::fs::write(world.root().join(format!("certs/m{n}.pem")), "").expect("written");
    }
    let refused = world.run(&["call", "bash", "command=grep -r TOK= .", "--mode", "read-only"]);
    refused.exits(3).complains("NIKA-910").complains("most are in `certs`");
    assert!(!refused.out.contains("TOK=abc"), "{refused:?}");
    let refused = world.run(&["sandbox", "exec", "--", "cat", "app/prod/.env"]);
    assert!(refused.code != 0 && !refused.out.contains("TOK=abc"), "{refused:?}");
}

#[test]
fn a_job_that_renames_a_directory_sees_no_more_of_it() {
    if !is_confined_here() {
        return;
    }
    const TRIES: &str = "import os\n\
        for old, new in [('config', 'node_modules/config'), ('config/prod', 'node_modules/prod'), ('config', 'pub'),\n\
                         ('a', 'b'), ('a/secret', 'a/open'), ('top', 'pub2')]:\n    \
            try: os.rename(old, new)\n    \
            except OSError as error: print(old, error.strerror)\n\
        for dir, _, names in os.walk('.'):\n    \
            for name in names:\n        \
                try: print(name, open(os.path.join(dir, name)).read())\n        \
                except OSError: pass\n\
        os.rename('plain', 'renamed'); os.rename('config/free', 'config/other')\n";
    let world = world()
        .file("config/prod/.env", "TOK=abc\n")
        .file("a/secret/x", "TOK=abc\n")
        .file("top/x", "TOK=abc\n")
        .file("plain/x", "plain\n")
        .file("config/free/x", "free\n")
        .file("node_modules/x", "x\n")
        .file("try.py", TRIES);
    let rules = ["--mode", "workspace", "--deny", "read(/a/secret/**)", "--deny", "read(/top/**)"];
    let mut peer = server(&world, &rules);
    let said = job(&mut peer, "j1", "python3 try.py");
    assert!(said.contains("config Device or resource busy") && said.contains("top Device or resource busy"), "{said}");
    assert!(!said.contains("TOK=abc"), "{said}");
    assert_eq!(peer.end(), 0);
    for path in ["config/prod/.env", "a/secret/x", "top/x", "renamed/x", "config/other/x"] {
        assert!(exists(world.root().join(path)), "{path}: {said}");
    }
}

#[test]
fn what_a_rule_withholds_outside_the_workspace_is_hidden_from_scripts() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("look.py", "import sys\nfor name in sys.argv[1:]: print(open(name).read())\n");
    let home = world.path("home");
    for name in ["private/n", "private/deep/m", "public"] {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, format!("{name} says TOK=abc\n")).expect("written");
    }
    let [n, public] = ["private/n", "public"].map(|name| home.join(name).display().to_string());
    let below = format!("read(/{}/**)", home.join("PRIVATE").display());
    let look = |path: &str, kind: &str, rule: &str| {
        let command = format!("command=python3 look.py $(printf '%s' {path})");
        world.run(&["call", "bash", &command, "--mode", "accept-all", kind, rule])
    };
    look(&n, "--deny", "read(other)").says("TOK=abc");
    for kind in ["--deny", "--ask"] {
        for rule in ["read(~/private/**)", "read(~/private)", "read(~/**)", &below] {
            let seen = look(&n, kind, rule);
            assert!(!seen.out.contains("TOK=abc"), "{kind} {rule}: {seen:?}");
            assert!(seen.err.contains("Permission denied") || seen.out.contains("Permission denied"), "{seen:?}");
        }
        look(&public, kind, "read(~/private/**)").says("public says");
        // What leads to the workspace, and what every program is made of, stays.
        std::fs::write(home.join(".gitconfig"), "[user]\n\tname = a\n").expect("written");
        for (n, rule) in ["read(//**)", "read(//usr/**)", "read(//bin)", "read(~/**)"].iter().enumerate() {
            let command = format!("command=git init -q new{n}{} && python3 -c 'print(6 * 7)'", &kind[2..]);
            world.run(&["call", "bash", &command, "--mode", "accept-all", kind, rule]).exits(0).says("42");
        }
    }
}

/// A repository whose hooks, and a file that its configuration includes, lie in the work tree.
fn team() -> World {
    let world = world()
        .file("gc/hooks/commit-msg", "#!/bin/sh\n")
        .file("gc/team.gitconfig", "[alias]\n\tst = status\n")
        .file("gc/README", "one\n")
        .file("evil.sh", "echo x >> gc/hooks/pre-commit\necho y >> gc/hooks/commit-msg\necho '[core]' >> gc/team.gitconfig\necho two > gc/README\n");
    git(&world, &["init", "-q"]);
    git(&world, &["config", "core.hooksPath", "gc/hooks"]);
    git(&world, &["config", "include.path", "../gc/team.gitconfig"]);
    world
}

fn is_as_it_was(root: &Path) -> bool {
    let text = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    !exists(root.join("gc/hooks/pre-commit"))
        && text("gc/hooks/commit-msg") == "#!/bin/sh\n"
        && text("gc/team.gitconfig") == "[alias]\n\tst = status\n"
}

#[test]
fn what_git_is_told_to_run_in_the_work_tree_is_guarded_as_its_hooks_are() {
    if !is_confined_here() {
        return;
    }
    let world = team();
    // A script, over a layer and without one.
    let ran = world.run(&["call", "bash", "command=sh evil.sh", "--mode", "workspace"]);
    assert!(is_as_it_was(&world.root()), "{ran:?}");
    assert_eq!(world.text("gc/README"), "two\n", "{ran:?}");
    std::fs::write(world.root().join("gc/README"), "one\n").expect("written");
    let mut peer = server(&world, &["--mode", "workspace"]);
    let said = job(&mut peer, "j1", "sh evil.sh; mv gc gc2; mkdir gc; true");
    assert_eq!(peer.end(), 0);
    assert!(is_as_it_was(&world.root()), "{said}");
    assert_eq!(world.text("gc/README"), "two\n", "{said}");
    // Whoever names one is asked.
    for path in ["gc/hooks/pre-commit", "gc/hooks/commit-msg", "gc/team.gitconfig"] {
        let command = format!("command=echo x >> {path}");
        world
            .run(&["call", "bash", &command, "--mode", "accept-all"])
            .exits(3)
            .complains("git is configured to run it");
        let words = ["call", "write", &format!("file_path={path}"), "content=x", "--mode", "accept-all"];
        world.run(&words).exits(3).complains("git is configured to run it");
    }
    assert!(is_as_it_was(&world.root()));
    world.run(&["call", "write", "file_path=gc/other", "content=x", "--mode", "accept-edits"]).exits(0);
    // What git itself does goes on.
    let committed = "git add -A && git -c user.name=a -c user.email=a@example.org commit -q -m one && git status";
    world.run(&["call", "bash", &format!("command={committed}"), "--mode", "accept-all"]).exits(0);
}

#[test]
fn hooks_that_do_not_exist_yet_and_those_of_a_persons_own_configuration_are_guarded_too() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("evil.sh", "mkdir -p tools/hooks mine; echo x > tools/hooks/pre-push; echo x > mine/c\n");
    git(&world, &["init", "-q"]);
    std::fs::write(
        world.path("home/.gitconfig"),
        "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../work/mine/c\n",
    )
    .expect("written");
    let ran = world.run(&["call", "bash", "command=sh evil.sh", "--mode", "workspace"]);
    assert!(!exists(world.root().join("tools/hooks/pre-push")) && !exists(world.root().join("mine/c")), "{ran:?}");
    let mut peer = server(&world, &["--mode", "workspace"]);
    // Not even while the job lives, and whether or not there are directories to put them into.
    for id in ["j1", "j2"] {
        let words = json!({"command": "sh evil.sh; echo made; sleep 60", "run_in_background": true});
        peer.call("nika_bash", words);
        let said = text(&peer.call("nika_job_output", json!({"job_id": id, "filter": "made", "wait_ms": 20_000})));
        assert!(said.contains("made"), "{said}");
        assert!(!exists(world.root().join("tools/hooks/pre-push")), "{said}");
        assert_eq!(std::fs::read_to_string(world.root().join("mine/c")).unwrap_or_default(), "", "{said}");
        git(&world, &["status", "--porcelain"]);
        let write = ["call", "write", "file_path=mine/c", "content=x", "--mode", "workspace"];
        let written = world.run(&write);
        // The second may still be held to what was missing before the first: then all of the directory is kept from it.
        assert!(written.code == 1 && written.err.contains("NIKA-404 mine/c") || id == "j2", "{written:?}");
        peer.call("nika_job_stop", json!({"job_id": id}));
        for dir in ["tools", "mine"] {
            std::fs::create_dir_all(world.root().join(dir)).expect("what stood in is gone");
        }
    }
    assert_eq!(peer.end(), 0);
    assert!(!exists(world.root().join("tools/hooks/pre-push")) && !exists(world.root().join("mine/c")));
    world.run(&["call", "write", "file_path=tools/hooks/pre-push", "content=x", "--mode", "accept-all"]).exits(3);
}

#[test]
fn a_persons_configuration_is_found_where_variables_say_that_it_lies() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("evil.sh", "mkdir hx ha; echo x > hx/h; echo x > ha/h\n");
    git(&world, &["init", "-q"]);
    for (file, hooks, ignores) in [("xdg/git/config", "hx", "no.xdg"), ("all", "ha", "no.all")] {
        let at = world.path(file);
        std::fs::create_dir_all(at.parent().expect("one")).expect("made");
        let list = world.path(ignores);
        std::fs::write(&list, format!("{ignores}\n")).expect("written");
        let text = format!("[core]\n\thooksPath = {hooks}\n\texcludesFile = {}\n", list.display());
        std::fs::write(at, text).expect("written");
    }
    let run = |words: &[&str], global: bool| {
        let mut nika = world.nika(words);
        nika.env("XDG_CONFIG_HOME", world.path("xdg"));
        if global {
            nika.env("GIT_CONFIG_GLOBAL", world.path("all"));
        }
        Ran::of(nika.output().expect("it runs"))
    };
    for name in ["no.xdg", "no.all", "yes"] {
        std::fs::write(world.root().join(name), "word\n").expect("written");
    }
    for global in [false, true] {
        // The person's git may be started with the variable or without it.
        let ran = run(&["call", "bash", "command=sh evil.sh", "--mode", "workspace"], global);
        let hooks = ["hx/h", "ha/h"].map(|name| exists(world.root().join(name)));
        assert_eq!(hooks, [false, !global], "{ran:?}");
        let _ = std::fs::remove_dir_all(world.root().join("ha"));
        let words = ["call", "write", "file_path=hx/h", "content=x", "--mode", "accept-all"];
        run(&words, global).exits(3).complains("git is configured to run it");
        let found = run(&["call", "grep", "pattern=^word$"], global);
        let seen = ["no.xdg", "no.all", "yes"].map(|name| found.out.lines().any(|line| line == name));
        assert_eq!(seen, [global, !global, true], "{found:?}");
    }
}

#[test]
fn a_job_changes_neither_configuration_nor_hooks_of_a_repository_of_any_name() {
    if !is_confined_here() {
        return;
    }
    let script = "echo x >> b.git/config; echo x > b.git/hooks/post-update; mkdir n.git/hooks\n\
                  echo x > n.git/hooks/post-update; echo .. > b.git/commondir; echo x > b.git/description\n\
                  mkdir hk; echo x > hk/x; echo x > inc.cfg; echo x > c/config; git -C b.git rev-parse --git-dir\n";
    let world = world().file("evil.sh", script);
    git(&world, &["init", "-q", "--bare", "b.git"]);
    git(&world, &["init", "-q", "--bare", "n.git"]);
    std::fs::remove_dir_all(world.root().join("n.git/hooks")).expect("removed");
    git(&world, &["-C", "b.git", "config", "core.hooksPath", "../hk"]);
    git(&world, &["-C", "b.git", "config", "include.path", "../inc.cfg"]);
    std::fs::create_dir_all(world.root().join("lk")).expect("made");
    std::fs::create_dir_all(world.root().join("c")).expect("made");
    std::fs::write(world.root().join("lk/HEAD"), "ref: refs/heads/main\n").expect("written");
    std::fs::write(world.root().join("lk/commondir"), "../c\n").expect("written");
    let config = world.text("b.git/config");
    let mut peer = server(&world, &["--mode", "workspace"]);
    let said = job(&mut peer, "j1", "sh evil.sh");
    assert!(said.lines().any(|line| line == "."), "git goes on there: {said}");
    assert_eq!(peer.end(), 0);
    assert_eq!((world.text("b.git/config"), world.text("b.git/description")), (config, "x\n".to_owned()), "{said}");
    for name in ["b.git/hooks/post-update", "n.git/hooks", "b.git/commondir", "hk/x", "inc.cfg", "c/config"] {
        assert!(!exists(world.root().join(name)), "{name}: {said}");
    }
    git(&world, &["-C", "b.git", "rev-parse"]);
}

#[test]
fn what_others_replace_while_a_job_lives_is_guarded_as_before() {
    if !is_confined_here() {
        return;
    }
    let script = "tries() { for at in .git/config .vscode/tasks.json .envrc .git/hooks/post-checkout .mcp.json; do\n\
                  echo EVIL >> $at; echo EVIL > evil; mv -f evil $at; ln -f evil $at; rm -f $at; ln -sf ../evil $at\n\
                  done; mv .vscode v2; mv .git g2; mv .git/hooks h2; }\n\
                  echo up; until [ -e go ]; do sleep 0.02; done; tries 2>/dev/null; echo tried\n\
                  touch x.code-workspace Jenkinsfile .codex-x .claw-y; mkdir -p .github/workflows; echo e > .github/workflows/e.yml\n\
                  echo fine > fine; echo done\n";
    let world = world().file("evil.sh", script).file(".vscode/tasks.json", "{}\n");
    git(&world, &["init", "-q"]);
    let mut peer = server(&world, &["--mode", "workspace"]);
    peer.call("nika_bash", json!({"command": "sh evil.sh", "run_in_background": true}));
    let says = |peer: &mut Peer, word: &str| {
        let said = text(&peer.call("nika_job_output", json!({"job_id": "j1", "filter": word, "wait_ms": 20_000})));
        assert!(said.contains(word), "{said}");
        said
    };
    says(&mut peer, "up");
    // As git and editors do: another file under the same name.
    git(&world, &["config", "user.name", "Ada"]);
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(world.root().join(name).parent().expect("one")).expect("a directory");
        std::fs::write(world.path("new"), text).expect("written");
        std::fs::rename(world.path("new"), world.root().join(name)).expect("renamed");
    };
    let mine = [(".vscode/tasks.json", "[]\n"), (".envrc", "mine\n"), (".git/hooks/post-checkout", "#!/bin/sh\n")];
    std::fs::rename(world.root().join(".git/hooks"), world.root().join(".git/hooks.old")).expect("renamed");
    mine.iter().for_each(|(name, text)| write(name, text));
    let config = world.text(".git/config");
    write("go", "");
    let said = says(&mut peer, "done");
    peer.call("nika_job_stop", json!({"job_id": "j1"}));
    assert_eq!(peer.end(), 0);
    assert_eq!((world.text(".git/config"), world.text("fine").as_str()), (config, "fine\n"), "{said}");
    for (name, text) in mine {
        assert_eq!(world.text(name), text, "{said}");
    }
    for name in [".mcp.json", "v2", "g2", "h2", "x.code-workspace", "Jenkinsfile", ".codex-x", ".claw-y"] {
        assert!(!exists(world.root().join(name)), "{name}: {said}");
    }
    assert!(!exists(world.root().join(".github/workflows/e.yml")), "{said}");
}

/// Reads a name again and again until it cannot: how often it could, or that it always could.
const LOOK: &str = "look() { n=0; while cat \"$1\" >/dev/null 2>&1; do n=$((n+1)); [ $n -gt 2000 ] && { echo \"$1 seen\"; return; }; done\n\
                    cat \"$1\"; echo \"$1 hidden\"; }\n\
                    echo up; until [ -e go ]; do sleep 0.02; done\n";

#[test]
fn a_secret_that_is_saved_anew_while_a_job_lives_is_hidden_again() {
    if !is_confined_here() {
        return;
    }
    let all = [".env", "config/prod/.env", "keys/id_rsa", "by-hand.pem", "linked.pem", "secret/x", "secret/rule"];
    let looks: String = all.iter().map(|name| format!("look {name}; ")).collect();
    let mut world = world().file("look.sh", &format!("{LOOK}{looks}look \"$HOME/.netrc\"; echo done\n"));
    for name in all {
        world = world.file(name, "TOK=old\n");
    }
    std::fs::write(world.path("home/.netrc"), "TOK=old\n").expect("written");
    let mut peer = server(&world, &["--mode", "workspace", "--deny", "read(/secret/**)"]);
    peer.call("nika_bash", json!({"command": "sh look.sh", "run_in_background": true}));
    let says = |peer: &mut Peer, word: &str| {
        let said = text(&peer.call("nika_job_output", json!({"job_id": "j1", "filter": word, "wait_ms": 30_000})));
        assert!(said.contains(word), "{word}: {said}");
        said
    };
    says(&mut peer, "up");
    // As editors do: by a rename, twice; by another file under the name; by a link.
    for name in all.iter().map(|name| world.root().join(name)).chain([world.path("home/.netrc")]) {
        for round in ["one", "two"] {
            std::fs::write(world.path("new"), format!("TOK={round}\n")).expect("written");
            std::fs::rename(world.path("new"), &name).expect("renamed");
        }
    }
    let [pem, linked] = ["by-hand.pem", "linked.pem"].map(|name| world.root().join(name));
    std::fs::remove_file(&pem).expect("removed");
    std::fs::write(&pem, "TOK=three\n").expect("written");
    std::fs::remove_file(&linked).expect("removed");
    std::fs::hard_link(&pem, &linked).expect("linked");
    // And another directory in the place of the one that it lies in.
    std::fs::create_dir_all(world.path("fresh/prod")).expect("made");
    std::fs::write(world.path("fresh/prod/.env"), "TOK=two\n").expect("written");
    std::fs::rename(world.root().join("config"), world.path("old")).expect("renamed");
    std::fs::rename(world.path("fresh"), world.root().join("config")).expect("renamed");
    std::fs::write(world.root().join("go"), "").expect("written");
    says(&mut peer, "done");
    let said = text(&peer.call("nika_job_output", json!({"job_id": "j1", "offset": 0})));
    assert_eq!(peer.end(), 0);
    for name in all.iter().chain(&[".netrc"]) {
        assert!(said.contains(&format!("{name} hidden")), "{name}: {said}");
    }
    assert!(!said.contains("TOK="), "{said}");
    for name in all.iter().filter(|name| !name.ends_with(".pem")) {
        assert_eq!(world.text(name), "TOK=two\n", "others see what they saved");
    }
}

#[test]
fn of_two_roots_one_in_the_other_each_job_keeps_its_walls_when_the_other_ends() {
    if !is_confined_here() {
        return;
    }
    let script =
        "echo up; until [ -e go ]; do sleep 0.02; done; echo ../evil > .git/commondir; echo e > .envrc; echo done\n";
    for inner_stays in [true, false] {
        let world = world().file("x.sh", script).file("inner/x.sh", script);
        git(&world, &["init", "-q"]);
        git(&world, &["init", "-q", "inner"]);
        let mut peers: Vec<Peer> = ["", "inner"]
            .iter()
            .map(|below| {
                let root = world.root().join(below).display().to_string();
                let mut peer = server(&world, &["--mode", "workspace", "--root", &root]);
                peer.call("nika_bash", json!({"command": "sh x.sh", "run_in_background": true}));
                let up = peer.call("nika_job_output", json!({"job_id": "j1", "filter": "up", "wait_ms": 20_000}));
                assert!(text(&up).contains("up"), "{up}");
                peer
            })
            .collect();
        let mut stays = peers.remove(usize::from(inner_stays));
        assert_eq!(peers.remove(0).end(), 0);
        let root = world.root().join(if inner_stays { "inner" } else { "" });
        for name in [".git/commondir", ".envrc"] {
            assert!(std::fs::symlink_metadata(root.join(name)).is_ok(), "{name} is held");
        }
        std::fs::write(root.join("go"), "").expect("written");
        let done = stays.call("nika_job_output", json!({"job_id": "j1", "filter": "done", "wait_ms": 20_000}));
        assert!(text(&done).contains("done"), "{done}");
        assert_eq!(stays.end(), 0);
        for name in [".git/commondir", ".envrc", "inner/.git/commondir", "inner/.envrc"] {
            assert!(!exists(world.root().join(name)), "{name} is gone with the last");
        }
    }
}

#[test]
fn what_others_make_while_a_job_lives_keeps_its_name() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("x.sh", "echo up; sleep 60\n");
    let mut peer = server(&world, &["--mode", "workspace"]);
    peer.call("nika_bash", json!({"command": "sh x.sh", "run_in_background": true}));
    peer.call("nika_job_output", json!({"job_id": "j1", "filter": "up", "wait_ms": 20_000}));
    for name in [".gitlab-ci.yml", ".bashrc", ".github/workflows/ci.yml"] {
        let at = world.root().join(name);
        std::fs::create_dir_all(at.parent().expect("one")).expect("a directory");
        std::fs::write(at, "mine\n").expect("written");
    }
    peer.call("nika_job_stop", json!({"job_id": "j1"}));
    assert_eq!(peer.end(), 0);
    for name in [".gitlab-ci.yml", ".bashrc", ".github/workflows/ci.yml"] {
        assert_eq!(world.text(name), "mine\n");
    }
}

#[test]
fn a_secret_where_something_is_to_be_put_holds_nobody_up() {
    if !is_confined_here() {
        return;
    }
    let world = world().file(".env", "S=1\n").file("real", "o\n").file("k.pem", "k\n").file("keys/id_rsa", "k\n");
    std::os::unix::fs::symlink(".env", world.root().join("le")).expect("a link");
    for command in [
        "cp real .env",
        "cp real k.pem",
        "mv real le",
        "install real le",
        "ln -sf real le",
        "touch .env/x",
        "cp real keys",
    ] {
        let ran = world.run(&["call", "bash", &format!("command={command}"), "--mode", "workspace"]);
        assert!(ran.code == 0 || ran.code == 1 || ran.code == 3, "{command}: {ran:?}");
        assert_eq!(world.text(".env"), "S=1\n", "{command}: {ran:?}");
    }
}

#[test]
fn the_users_git_does_not_see_what_stands_in() {
    if !is_confined_here() {
        return;
    }
    let world = world().file("x.sh", "echo up; sleep 60\n");
    git(&world, &["init", "-q"]);
    git(&world, &["config", "core.hooksPath", "hk"]);
    git(&world, &["init", "-q", "--bare", "b.git"]);
    let mut peer = server(&world, &["--mode", "workspace"]);
    peer.call("nika_bash", json!({"command": "sh x.sh", "run_in_background": true}));
    let up = peer.call("nika_job_output", json!({"job_id": "j1", "filter": "up", "wait_ms": 20_000}));
    assert!(text(&up).contains("up") && std::fs::symlink_metadata(world.root().join("hk")).is_ok(), "{up}");
    let mut listed = Command::new("git");
    listed.args(["status", "--porcelain", "-uall"]).current_dir(world.root()).env("HOME", world.path("home"));
    let listed = String::from_utf8(listed.output().expect("git runs").stdout).expect("text");
    let others = listed.lines().filter(|line| !line.contains("x.sh") && !line.contains("b.git/"));
    assert_eq!(others.collect::<Vec<_>>(), Vec::<&str>::new());
    git(&world, &["-C", "b.git", "rev-parse"]);
    assert_eq!(peer.end(), 0);
}
