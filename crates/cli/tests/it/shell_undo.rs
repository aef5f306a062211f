//! What a command changed is one change: applied as a whole, taken back by `undo`, or only foretold.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use crate::peer::text;
use crate::world::{Ran, World, exists, world};

/// Runs `script` as a file, which nobody can read beforehand; the answer of the call.
pub fn scripted(world: &World, script: &str, more: &[&str]) -> Value {
    // Outside what is compared: in a directory that was there before.
    fs::create_dir_all(world.root().join("tools")).expect("a directory");
    fs::write(world.root().join("tools/run.sh"), script).expect("a script");
    world.json(&[&["bash", "command=bash tools/run.sh", "--mode", "workspace"][..], more].concat())
}

pub fn undo(world: &World, answer: &Value) -> Ran {
    world.run(&["undo", answer["call_id"].as_str().expect("an id"), "--mode", "workspace"])
}

/// Every path but the script, with mode, and content or target; without what stands in for guarded names while a command
/// runs.
pub fn tree(root: &Path) -> BTreeMap<String, (u32, String)> {
    fn walk(root: &Path, dir: &Path, into: &mut BTreeMap<String, (u32, String)>) {
        for entry in fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("it").path()) {
            let name = entry.strip_prefix(root).expect("below").display().to_string();
            let meta = fs::symlink_metadata(&entry).expect("it");
            if name.starts_with("tools") || !(meta.is_file() || meta.is_dir() || meta.is_symlink()) {
                continue;
            }
            let content = if meta.is_symlink() {
                fs::read_link(&entry).expect("a link").display().to_string()
            } else if meta.is_dir() {
                walk(root, &entry, into);
                String::new()
            } else {
                String::from_utf8_lossy(&fs::read(&entry).expect("a file")).into_owned()
            };
            into.insert(name, (meta.mode(), content));
        }
    }
    let mut all = BTreeMap::new();
    walk(root, root, &mut all);
    all
}

#[test]
fn whatever_a_command_did_is_taken_back_byte_by_byte() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world()
        .file("a.txt", "one\n")
        .file("gone.txt", "gone\n")
        .file("old/name.txt", "moved\n")
        .file("dir/deep/x", "x\n")
        .file(".gitignore", "target/\n")
        .file("target/out", "built\n");
    fs::set_permissions(world.root().join("a.txt"), fs::Permissions::from_mode(0o640)).expect("rights");
    symlink("a.txt", world.root().join("link")).expect("a link");
    let before = tree(&world.root());
    let ran = scripted(
        &world,
        "sed -i s/one/two/ a.txt; chmod 755 a.txt; rm gone.txt; mv old/name.txt old/other.txt; mkdir -p new/sub\n\
         echo hello > new/sub/file; ln -sfn gone.txt link; ln -s nowhere dangling; echo more >> target/out\n\
         touch untracked; ln new/sub/file new/hard; mv dir moved; rm -r old; mkdir old; echo again > old/name.txt\n",
        &[],
    );
    assert!(text(&ran).contains("undo takes it back"), "{ran}");
    assert_eq!(ran["ok"], true, "{ran}");
    let after = tree(&world.root());
    assert_eq!(after["a.txt"], (0o100_755, "two\n".to_owned()));
    assert!(!after.contains_key("gone.txt") && !after.contains_key("dir"), "{after:?}");
    assert_eq!(after["link"].1, "gone.txt");
    assert_eq!(after["moved/deep/x"].1, "x\n");
    assert_eq!(after["old/name.txt"].1, "again\n");
    let ino = |name: &str| fs::metadata(world.root().join(name)).expect("it").ino();
    assert_eq!(ino("new/hard"), ino("new/sub/file"));
    undo(&world, &ran).exits(0);
    assert_eq!(tree(&world.root()), before);
}

#[test]
fn of_two_commands_the_first_is_taken_back_unless_that_would_lose_the_second() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("b", "1\n");
    let first = scripted(&world, "echo 2 > a; echo 2 > b", &[]);
    let second = scripted(&world, "echo 3 > a", &[]);
    undo(&world, &first).complains("changed again");
    assert_eq!((world.text("a").as_str(), world.text("b").as_str()), ("3\n", "2\n"));
    undo(&world, &second).exits(0);
    undo(&world, &first).exits(0);
    assert_eq!((world.text("a").as_str(), world.text("b").as_str()), ("1\n", "1\n"));
}

#[test]
fn a_command_that_fails_or_takes_too_long_is_taken_back_too() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let failed = scripted(&world, "echo 2 > a; exit 7", &[]);
    assert_eq!((&failed["ok"], world.text("a").as_str()), (&Value::Bool(false), "2\n"), "{failed}");
    undo(&world, &failed).exits(0);
    assert_eq!(world.text("a"), "1\n");
    let late = scripted(&world, "echo 3 > a; sleep 60", &["timeout=400"]);
    assert!(text(&late).contains("its time was up") && text(&late).contains("undo takes it back"), "{late}");
    assert_eq!(world.text("a"), "3\n");
    undo(&world, &late).exits(0);
    assert_eq!(world.text("a"), "1\n");
}

#[test]
fn what_may_become_code_is_left_out_and_the_rest_applied() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let ran = scripted(&world, "echo evil > .envrc; mkdir -p .vscode; echo {} > .vscode/tasks.json; echo 2 > a", &[]);
    let said = text(&ran);
    assert!(said.contains("not applied, as it may become code or policy") && said.contains(".envrc"), "{said}");
    assert!(!exists(world.root().join(".envrc")) && !exists(world.root().join(".vscode/tasks.json")), "{said}");
    assert_eq!(world.text("a"), "2\n");
    let kept = said.split("the command's version lies in ").nth(1).and_then(|rest| rest.split(']').next());
    let kept = Path::new(kept.expect("a directory"));
    assert_eq!(fs::read_to_string(kept.join(".envrc")).expect("it is kept"), "evil\n");
    undo(&world, &ran).exits(0);
    assert_eq!(world.text("a"), "1\n");
}

#[test]
fn what_nobody_was_asked_about_is_taken_back_without_a_question() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("node_modules/p/.vscode/tasks.json", "{}\n").file("node_modules/p/server.pem", "theirs\n");
    let before = tree(&world.root());
    let script = "set -e; echo TOKEN=made-up > .env; echo k > k.pem; git init -q new; rm -r node_modules; \
                  mkdir -p node_modules/q/.github/workflows; echo on: push > node_modules/q/.github/workflows/ci.yml";
    let ran = scripted(&world, script, &[]);
    assert!(exists(world.root().join("new/.git/config")) && exists(world.root().join(".env")), "{ran}");
    let after = tree(&world.root());
    let back = world.run(&["undo", "--mode", "workspace", "--output", "json"]);
    back.exits(0);
    assert_eq!(tree(&world.root()), before);
    for secret in ["made-up", "theirs"] {
        assert!(!back.out.contains(secret), "{}", back.out);
    }
    assert!(text(&back.json()).contains(".env: a secret by its name, so its content is not shown"), "{}", back.out);
    // To have it again is to write what is guarded, and nobody was asked about that.
    let again = undo(&world, &back.json());
    again.exits(3).complains("needs a person's yes");
    assert_eq!(tree(&world.root()), before);
    assert!(after.len() > before.len());
}

#[test]
fn what_a_person_allowed_is_not_taken_back_without_one() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file(".vscode/tasks.json", "{}\n").file("beside.sh", "echo {} > .vscode/settings.json\n");
    let command = "command=echo more >> .vscode/tasks.json; bash beside.sh";
    let words = ["call", "bash", command, "--mode", "workspace", "--session", "s"];
    let mut screen = crate::pty::Screen::start(&world, &words);
    assert!(screen.shows("instead: "), "{}", screen.shown);
    screen.types("y");
    let (code, shown, out) = screen.end();
    assert_eq!(code, 0, "{shown} {out}");
    assert_eq!(world.text(".vscode/tasks.json"), "{}\nmore\n");
    assert!(out.contains("may become code or policy") && out.contains(".vscode/settings.json"), "{out}");
    assert!(!exists(world.root().join(".vscode/settings.json")));
    world.run(&["undo", "--session", "s", "--mode", "workspace"]).exits(3).complains(".vscode/tasks.json");
    assert_eq!(world.text(".vscode/tasks.json"), "{}\nmore\n");
}

#[test]
fn a_secret_that_was_changed_again_is_not_shown_by_the_refusal() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world();
    let ran = scripted(&world, "echo TOKEN=made-up > .env", &[]);
    fs::write(world.root().join(".env"), "TOKEN=by-hand\n").expect("written");
    let refused = undo(&world, &ran);
    refused.complains("changed again").complains("not shown");
    assert!(!refused.err.contains("by-hand") && !refused.err.contains("made-up"), "{}", refused.err);
    assert_eq!(world.text(".env"), "TOKEN=by-hand\n");
}

#[test]
fn a_link_put_in_the_place_of_what_a_command_made_leads_undo_nowhere() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world();
    for at in ["own", "made"] {
        let made = std::process::Command::new("git").args(["init", "-q"]).arg(world.root().join(at)).status();
        assert!(made.expect("git").success());
    }
    fs::remove_dir_all(world.root().join("made/.git")).expect("removed");
    let ran = scripted(&world, "git init -q made", &[]);
    fs::remove_dir_all(world.root().join("made")).expect("removed");
    symlink("own", world.root().join("made")).expect("a link");
    let before = tree(&world.root());
    undo(&world, &ran).says("0 paths");
    assert_eq!(tree(&world.root()), before);
}

#[test]
fn what_starts_code_is_left_out_however_deep_and_new_repositories_work() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("sub/a", "1\n");
    let script = "set -e; echo 2 > sub/a; mkdir -p sub/x/.vscode node_modules/p/.vscode; echo evil > sub/.envrc; \
                  echo evil > sub/x/.vscode/tasks.json; echo p > node_modules/p/.vscode/tasks.json; \
                  echo evil > x.code-workspace; ln -s /bin/true sub/.mcp.json; git init -q plain; git init -q odd; \
                  git -C odd config core.fsmonitor evil; echo evil > plain/.git/hooks/post-checkout; \
                  mkdir nest; mkdir hid; mkdir hid/hooks; echo evil > hid/hooks/pre-commit; mv hid nest/.git; \
                  echo 'gitdir: ../plain/.git' > sub/.git";
    let ran = scripted(&world, script, &[]);
    let said = text(&ran);
    for name in [
        "sub/.envrc",
        "sub/x/.vscode/tasks.json",
        "sub/.mcp.json",
        "x.code-workspace",
        "odd/.git/config",
        "plain/.git/hooks/post-checkout",
        "nest/.git/hooks/pre-commit",
        "sub/.git",
    ] {
        assert!(!exists(world.root().join(name)), "{name}: {said}");
    }
    assert_eq!(world.text("sub/a"), "2\n");
    assert!(exists(world.root().join("node_modules/p/.vscode/tasks.json")), "{said}");
    assert!(exists(world.root().join("plain/.git/config")) && exists(world.root().join("odd/.git/HEAD")), "{said}");
    let commit =
        "cd plain; echo a > a; git add a; git -c user.name=a -c user.email=a@b.c commit -q -m a; git status -s";
    let ran = scripted(&world, commit, &[]);
    assert_eq!(&ran["ok"], &Value::Bool(true), "{ran}");
    assert!(exists(world.root().join("plain/.git/refs/heads")), "{ran}");
}

#[test]
fn a_repository_that_begins_at_the_root_is_one_and_brings_no_program() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let first = "git init -q && git add a && git -c user.name=a -c user.email=a@b.c commit -q -m one";
    let ran = world.run(&["call", "bash", &format!("command={first}"), "--mode", "workspace"]);
    ran.exits(0);
    assert!(!ran.out.contains("not applied"), "{ran:?}");
    let log = ["call", "bash", "command=git log --format=%s && git status --short", "--mode", "workspace"];
    assert_eq!(world.run(&log).exits(0).out.lines().next(), Some("one"));
    // What would run is left out there as anywhere.
    for evil in [
        "git init -q; git config core.fsmonitor evil",
        "git init -q; echo evil > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout",
        "git init -q --separate-git-dir other",
        "mkdir .git; echo evil > .git/config",
        "mkdir x; git init -q x; git -C x config core.sshCommand evil; mv x/.git .git",
        "mkdir -p hid/hooks; echo evil > hid/hooks/pre-commit; git init -q; rm -rf .git/hooks; mv hid/hooks .git/hooks",
    ] {
        let world = crate::world::world().file("a", "1\n");
        let ran = scripted(&world, evil, &[]);
        let text = |name: &str| fs::read_to_string(world.root().join(name)).unwrap_or_default();
        let hooks = fs::read_dir(world.root().join(".git/hooks")).into_iter().flatten().flatten();
        let hooks: Vec<_> = hooks.filter(|hook| !hook.path().ends_with(".sample")).map(|hook| hook.path()).collect();
        let runs = hooks.iter().any(|hook| hook.extension().is_none_or(|end| end != "sample"));
        assert!(!text(".git/config").contains("evil") && !runs, "{evil}: {hooks:?} {ran}");
        assert!(!fs::symlink_metadata(world.root().join(".git")).is_ok_and(|meta| meta.is_file()), "{evil}: {ran}");
    }
}

#[test]
fn what_others_changed_meanwhile_is_theirs_and_nothing_is_lost() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("b", "1\n");
    fs::create_dir_all(world.root().join("tools")).expect("a directory");
    let script = "echo 2 > a; echo 2 > b; echo go; sleep 1.5";
    fs::write(world.root().join("tools/run.sh"), script).expect("a script");
    let words = ["call", "bash", "command=bash tools/run.sh", "--mode", "workspace", "--output", "json"];
    let mut command = world.nika(&words);
    let child = command.stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    // Others write when the command has its layer: that is when its directory is there and something lies in it.
    let layers = || {
        let dirs = fs::read_dir(world.path("state")).into_iter().flatten().flatten();
        let layers = dirs.flat_map(|dir| fs::read_dir(dir.path().join("layers")).into_iter().flatten().flatten());
        layers.map(|layer| layer.path().join("upper/b")).collect::<Vec<_>>()
    };
    while !layers().iter().any(exists) {
        std::thread::yield_now();
    }
    fs::write(world.root().join("b"), "theirs\n").expect("a file");
    let ran = Ran::of(child.wait_with_output().expect("it ends"));
    let ran = ran.exits(1).json();
    let said = text(&ran);
    assert_eq!((&ran["ok"], &ran["code"]), (&Value::Bool(false), &Value::from("NIKA-212")), "{ran}");
    assert!(said.contains("not applied, as others changed it meanwhile: b;"), "{said}");
    assert_eq!((world.text("a").as_str(), world.text("b").as_str()), ("2\n", "theirs\n"));
    let kept = said.split("the command's version lies in ").nth(1).and_then(|rest| rest.split(']').next());
    assert_eq!(fs::read_to_string(Path::new(kept.expect("a directory")).join("b")).expect("it is kept"), "2\n");
    undo(&world, &ran).exits(0);
    assert_eq!((world.text("a").as_str(), world.text("b").as_str()), ("1\n", "theirs\n"));
}

#[test]
fn what_is_left_out_of_a_later_root_is_named_where_it_lies() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let second = world.path("second");
    fs::create_dir(&second).expect("a directory");
    let script = format!("echo evil > {}/.envrc; echo 2 > a", second.display());
    let [first, other] = [world.root(), second.clone()].map(|root| root.display().to_string());
    let ran = scripted(&world, &script, &["--root", &first, "--root", &other]);
    let said = text(&ran);
    let kept = said.split("the command's version lies in ").nth(1).and_then(|rest| rest.split(']').next());
    let kept = Path::new(kept.unwrap_or_else(|| panic!("{said}")));
    assert_eq!(fs::read_to_string(kept.join(".envrc")).expect("it is kept"), "evil\n", "{said}");
    assert!(!exists(second.join(".envrc")) && world.text("a") == "2\n", "{said}");
}

#[test]
fn a_preview_that_cannot_say_what_would_change_still_says_what_was_said() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    fs::create_dir_all(world.root().join("tools")).expect("a directory");
    fs::write(world.root().join("tools/run.sh"), "echo said; echo 2 > a; sleep 1.5").expect("a script");
    let words =
        ["call", "bash", "command=bash tools/run.sh", "preview=true", "--mode", "workspace", "--output", "json"];
    let mut command = world.nika(&words);
    let child = command.stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    let layer = || {
        let dirs = fs::read_dir(world.path("state")).into_iter().flatten().flatten();
        let mut layers = dirs.flat_map(|dir| fs::read_dir(dir.path().join("layers")).into_iter().flatten().flatten());
        layers.find(|layer| exists(layer.path().join("upper/a"))).map(|layer| layer.path())
    };
    let layer = loop {
        if let Some(layer) = layer() {
            break layer;
        }
        std::thread::yield_now();
    };
    fs::rename(layer.join("upper"), layer.join("elsewhere")).expect("it is ours");
    let ran = Ran::of(child.wait_with_output().expect("it ends")).json();
    let said = text(&ran);
    assert!(said.starts_with("said\n") && said.contains("What it would change cannot be said"), "{ran}");
    assert_eq!((&ran["ok"], world.text("a").as_str()), (&Value::Bool(false), "1\n"), "{ran}");
}

#[test]
fn a_preview_says_what_would_change_and_changes_nothing() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n").file("b", "b\n");
    let before = tree(&world.root());
    let ran = scripted(&world, "sed -i s/one/two/ a.txt; rm b; echo n > n; echo said", &["preview=true"]);
    let said = text(&ran);
    assert!(said.starts_with("said\n") && said.contains("It would change 3 paths"), "{said}");
    assert!(said.contains("-one\n+two"), "{said}");
    assert_eq!(tree(&world.root()), before);
    // What only prints, and what writes by redirection alone.
    world.run(&["call", "bash", "command=cat a.txt", "preview=true"]).exits(0).says("change nothing");
    let words = ["call", "bash", "command=echo two > a.txt", "preview=true", "--mode", "workspace"];
    world.run(&words).exits(0).says("+two");
    world.run(&words[..4]).exits(3);
    world.run(&["call", "bash", "command=true", "preview=true", "run_in_background=true"]).exits(2);
    assert_eq!(tree(&world.root()), before);
    world.run(&["undo"]).complains("NIKA-");
}

#[test]
fn two_thousand_files_come_and_go() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("g/old", "old\n");
    let before = tree(&world.root());
    let ran = scripted(&world, "for i in $(seq 2000); do echo $i > g/$i; done; rm g/old", &[]);
    assert!(text(&ran).contains("2001 paths: 2000 created, 1 deleted"), "{ran}");
    assert_eq!(world.text("g/1999"), "1999\n");
    undo(&world, &ran).exits(0);
    assert_eq!(tree(&world.root()), before);
}

#[test]
fn a_commit_is_made_over_a_layer_and_leaves_hooks_and_configuration_alone() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a.txt", "one\n");
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        let ran = command.args(words).current_dir(world.root()).env("HOME", world.path("home")).output();
        Ran::of(ran.expect("git runs"))
    };
    let who = "git -c user.name=n -c user.email=e@x";
    git(&["init", "-q", "."]).exits(0);
    let config = world.text(".git/config");
    let ran = scripted(&world, &format!("git init -q . ; git add a.txt; {who} commit -qm first; {who} tag t"), &[]);
    assert_eq!(ran["ok"], true, "{ran}");
    git(&["fsck"]).exits(0);
    git(&["log", "--oneline", "t"]).exits(0).says("first");
    assert_eq!(world.text(".git/config"), config);
    undo(&world, &ran).exits(0);
    assert_ne!(git(&["log"]).code, 0);
    git(&["fsck"]).exits(0);
}

#[test]
fn two_sessions_at_once_both_keep_their_work() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n").file("b", "1\n");
    fs::create_dir_all(world.root().join("tools")).expect("a directory");
    let start = |name: &str| {
        let script = format!("echo 2 > {name}; mkdir -p out/{name}; echo x > out/{name}/x; sleep 0.5; echo 3 > {name}");
        let at = format!("tools/{name}.sh");
        fs::write(world.root().join(&at), script).expect("a script");
        let command = format!("command=bash {at}");
        let words = ["call", "bash", &command, "--mode", "workspace", "--output", "json"];
        world.nika(&words).stdout(std::process::Stdio::piped()).spawn().expect("it starts")
    };
    fs::create_dir(world.root().join("out")).expect("a directory");
    let children = [start("a"), start("b")];
    let ran = children.map(|child| Ran::of(child.wait_with_output().expect("it ends")).json());
    for (name, ran) in ["a", "b"].iter().zip(&ran) {
        assert_eq!(ran["ok"], true, "{ran}");
        assert_eq!(world.text(name), "3\n", "{ran}");
        assert_eq!(world.text(&format!("out/{name}/x")), "x\n", "{ran}");
    }
    undo(&world, &ran[0]).exits(0);
    assert_eq!((world.text("a").as_str(), world.text("b").as_str()), ("1\n", "3\n"));
}

#[test]
fn it_can_be_switched_off_and_whoever_waits_for_a_jobs_file_sees_it_come() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let config = world.path("home").join(".config/nika");
    fs::create_dir_all(&config).expect("a directory");
    fs::write(config.join("config.yaml"), "shell: {undo: off}\n").expect("a file");
    let ran = scripted(&world, "echo 2 > a", &[]);
    assert!(!text(&ran).contains("undo"), "{ran}");
    assert_eq!(world.text("a"), "2\n");
    undo(&world, &ran).complains("NIKA-");
    fs::remove_dir_all(&config).expect("it is there");
    // Whoever waits for a job's file must see it come.
    let mut peer = crate::peer::Peer::start(world.nika(&["serve", "--mode", "workspace", "--list", "all"]));
    peer.initialize("2025-11-25");
    let call = |peer: &mut crate::peer::Peer, arguments: Value| text(&peer.call("nika_bash", arguments));
    call(&mut peer, serde_json::json!({"command": "sleep 0.5; touch ready; sleep 60", "run_in_background": true}));
    let wait = "until test -e ready; do sleep 0.05; done; echo 3 > a";
    let said = call(&mut peer, serde_json::json!({"command": wait, "timeout": 20000}));
    assert!(said.contains("[1 path: 1 changed · undo takes it back]"), "{said}");
    assert_eq!(world.text("a"), "3\n");
    assert_eq!(peer.end(), 0);
}

#[test]
fn a_directory_that_became_a_link_to_one_like_it_comes_back() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("current/app", "1\n").file("current/sub/x", "1\n");
    for file in ["app", "sub/x"] {
        let at = world.root().join("releases/v2").join(file);
        fs::create_dir_all(at.parent().expect("a directory")).expect("a directory");
        fs::write(at, "2\n").expect("a file");
    }
    let before = tree(&world.root());
    let ran = scripted(&world, "rm -r current && ln -s releases/v2 current", &[]);
    assert_eq!(world.text("current/app"), "2\n", "{ran}");
    undo(&world, &ran).exits(0);
    assert_eq!(tree(&world.root()), before);
}

#[test]
fn rights_that_somebody_gave_since_stay_and_those_of_the_call_go() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world();
    let names = ["edited", "content", "rights", "both", "untouched", "gone"];
    for name in names {
        fs::write(world.root().join(name), "1\n2\n3\n4\n5\n6\n7\n8\n9\n").expect("a file");
    }
    let give = |name: &str, mode: u32| {
        fs::set_permissions(world.root().join(name), fs::Permissions::from_mode(mode)).expect("rights");
    };
    let mode = |name: &str| fs::metadata(world.root().join(name)).expect("it").mode() & 0o7777;
    names.iter().for_each(|name| give(name, 0o644));
    let script = "sed -i s/1/one/ content; chmod 755 rights; sed -i s/1/one/ both untouched; chmod 755 both untouched\n\
                  rm gone";
    let ran = scripted(&world, script, &[]);
    give("content", 0o600);
    undo(&world, &ran).exits(0);
    assert_eq!(names[1..].iter().map(|name| mode(name)).collect::<Vec<_>>(), [0o600, 0o644, 0o644, 0o644, 0o644]);
    assert_eq!((world.text("both"), world.text("gone")), (world.text("content"), world.text("edited")));
    let change =
        ["edit", "file_path=edited", "old_string=1", "new_string=one", "--session", "s", "--mode", "workspace"];
    world.run(&["call", "read", "file_path=edited", "--session", "s"]).exits(0);
    let edited = world.json(&change);
    give("edited", 0o700);
    undo(&world, &edited).exits(0);
    assert_eq!((mode("edited"), world.text("edited")), (0o700, world.text("gone")));
}

#[test]
fn the_time_of_a_directory_that_was_touched_stays_so_that_make_comes_to_rest() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("build/sub/x", "1\n").file("plain/y", "1\n");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let time = |name: &str| fs::metadata(world.root().join(name)).expect("there").modified().expect("a time");
    for name in ["build", "build/sub", "plain"] {
        fs::File::open(world.root().join(name)).expect("there").set_modified(old).expect("ours");
    }
    // What stands for `make` here ends with this line of its rule.
    scripted(&world, "echo x >> build/sub/x; touch build; cat plain/y\n", &[]);
    assert!(time("build") > old && time("plain") == old);
    assert_eq!(world.text("build/sub/x"), "1\nx\n");
}

#[test]
fn a_file_that_had_other_names_is_named_when_it_is_parted_from_them() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("one", "1\n").file("alone", "1\n");
    fs::hard_link(world.root().join("one"), world.root().join("other")).expect("linked");
    let answer = scripted(&world, "echo 2 >> one; echo 2 >> alone\n", &[]);
    let said = answer["content"].to_string();
    assert!(said.contains("had other names by hard links") && said.contains("one"), "{said}");
    assert_eq!((world.text("one"), world.text("other")), ("1\n2\n".to_owned(), "1\n".to_owned()));
    let alone = scripted(&world, "echo 3 >> alone\n", &[]);
    assert!(!alone["content"].to_string().contains("hard links"), "{alone}");
}

#[test]
fn undo_leaves_a_file_its_access_list_attributes_and_owner() {
    if !crate::shell::is_confined_here() {
        return;
    }
    // An access list: whoever owns it may write, `nobody` may read and write, the group may do nothing.
    let entry =
        |tag: u16, rights: u16, id: u32| [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat();
    let all = u32::MAX;
    let list = [(1, 6, all), (2, 6, 65534), (4, 0, all), (0x10, 6, all), (0x20, 0, all)];
    let list = [2u32.to_le_bytes().to_vec()].into_iter().chain(list.map(|(tag, rights, id)| entry(tag, rights, id)));
    let list: Vec<u8> = list.flatten().collect();
    let world = world().file("a", "one\n");
    let file = world.root().join("a");
    let set =
        |name: &str, value: &[u8]| rustix::fs::setxattr(&file, name, value, rustix::fs::XattrFlags::empty()).is_ok();
    if !set("user.k", b"v") || !set("system.posix_acl_access", &list) {
        return;
    }
    let get = |name: &str| {
        let mut value = [0; 256];
        rustix::fs::getxattr(&file, name, &mut value[..]).map(|length| value[..length].to_vec())
    };
    let is_root = fs::metadata(&file).expect("there").uid() == 0;
    if is_root {
        std::os::unix::fs::chown(&file, Some(65534), Some(65534)).expect("root may");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("root may");
    }
    let before = fs::metadata(&file).expect("there");
    for job in [false, true] {
        if job {
            // Without a layer.
            let mut peer = crate::peer::Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
            peer.initialize("2025-11-25");
            peer.call("nika_bash", serde_json::json!({"command": "echo two >> a", "run_in_background": true}));
            peer.call("nika_job_output", serde_json::json!({"job_id": "j1", "wait_ms": 20_000, "filter": "^never$"}));
            assert_eq!(world.text("a"), "one\ntwo\n");
            text(&peer.call("nika_undo", serde_json::json!({})));
            assert_eq!(peer.end(), 0);
        } else {
            let answer = scripted(&world, "echo two >> a\n", &[]);
            assert_eq!(world.text("a"), "one\ntwo\n");
            undo(&world, &answer).exits(0);
        }
        let after = fs::metadata(&file).expect("there");
        assert_eq!(world.text("a"), "one\n");
        assert_eq!((after.uid(), after.gid(), after.mode()), (before.uid(), before.gid(), before.mode()));
        assert_eq!(get("user.k").as_deref(), Ok(&b"v"[..]));
        assert!(
            get("system.posix_acl_access").is_ok_and(|list| list.len() == 44),
            "{:?}",
            get("system.posix_acl_access")
        );
    }
}

/// What a file has beside content: owner, group, rights and two attributes.
fn dress(path: &Path) -> (u32, u32, u32, Vec<Option<Vec<u8>>>) {
    let meta = fs::symlink_metadata(path).expect("there");
    let get = |name: &str| {
        let mut value = [0; 256];
        rustix::fs::getxattr(path, name, &mut value[..]).map(|length| value[..length].to_vec()).ok()
    };
    (meta.uid(), meta.gid(), meta.mode(), ["user.k", "system.posix_acl_access"].map(get).to_vec())
}

#[test]
fn what_was_taken_away_comes_back_with_its_owner_access_list_and_attributes() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let entry =
        |tag: u16, rights: u16, id: u32| [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat();
    let all = u32::MAX;
    let list = [(1, 7, all), (2, 6, 65534), (4, 0, all), (0x10, 7, all), (0x20, 0, all)];
    let list = [2u32.to_le_bytes().to_vec()].into_iter().chain(list.map(|(tag, rights, id)| entry(tag, rights, id)));
    let list: Vec<u8> = list.flatten().collect();
    let world = world().file("a", "one\n").file("d/b", "two\n").file("keep", "k\n");
    let paths = ["a", "d", "d/b"].map(|name| world.root().join(name));
    for path in &paths {
        if fs::metadata(path).expect("there").uid() == 0 {
            std::os::unix::fs::chown(path, Some(65534), Some(65533)).expect("root may");
        }
        let set =
            |name: &str, value: &[u8]| rustix::fs::setxattr(path, name, value, rustix::fs::XattrFlags::empty()).is_ok();
        if !set("user.k", b"v") || !set("system.posix_acl_access", &list) {
            return;
        }
    }
    let before = paths.each_ref().map(|path| dress(path));
    let was = tree(&world.root());
    for (way, script) in [
        ("layer", "rm -r a d"),
        ("layer", "rm a d/b; echo new > a; echo new > d/b"),
        ("layer", "rm -r d; echo file > d; rm a; mkdir a; touch a/x"),
        ("job", "rm -r a d"),
        ("set", r#"[{"op": "delete", "file_path": "a"}, {"op": "delete", "file_path": "d/b"}]"#),
        ("set", r#"[{"op": "delete", "file_path": "a"}, {"op": "create", "file_path": "a/b", "content": "x"}]"#),
    ] {
        match way {
            "layer" => {
                undo(&world, &scripted(&world, script, &[])).exits(0);
            }
            "job" => {
                let mut peer = crate::peer::Peer::start(world.nika(&["serve", "--list", "all", "--mode", "workspace"]));
                peer.initialize("2025-11-25");
                fs::write(world.root().join("tools/run.sh"), script).expect("a script");
                let command = serde_json::json!({"command": "bash tools/run.sh", "run_in_background": true});
                peer.call("nika_bash", command);
                peer.call(
                    "nika_job_output",
                    serde_json::json!({"job_id": "j1", "wait_ms": 20_000, "filter": "^never$"}),
                );
                assert!(!exists(world.root().join("a")), "{script}");
                peer.call("nika_undo", serde_json::json!({}));
                assert_eq!(peer.end(), 0);
            }
            _ => {
                let set = format!(r#"{{"changes": {script}}}"#);
                undo(&world, &world.json(&["change_set", "--json", &set, "--mode", "workspace"])).exits(0);
            }
        }
        assert_eq!(tree(&world.root()), was, "{script}");
        assert_eq!(paths.each_ref().map(|path| dress(path)), before, "{way}: {script}");
    }
}

#[test]
fn other_content_is_given_no_capability() {
    let world = world().file("a", "one\n");
    let file = world.root().join("a");
    // Version 2, effective, CAP_NET_RAW.
    let value: Vec<u8> = [0x0200_0001u32, 1 << 13, 0, 0, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    let set =
        |name: &str, value: &[u8]| rustix::fs::setxattr(&file, name, value, rustix::fs::XattrFlags::empty()).is_ok();
    if !set("security.capability", &value) || !set("user.k", b"v") {
        return;
    }
    let has = |name: &str| rustix::fs::getxattr(&file, name, &mut [0; 64][..]).is_ok();
    world.run(&["call", "read", "file_path=a", "--session", "s"]).exits(0);
    let edit = ["call", "edit", "file_path=a", "old_string=one", "new_string=two", "--allow-write", "--session", "s"];
    world.run(&edit).exits(0);
    assert!(has("user.k") && !has("security.capability"));
}
