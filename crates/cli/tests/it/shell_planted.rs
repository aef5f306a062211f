//! What a script of the workspace leaves behind for git to run later: no repository of its making starts a program, and
//! ordinary ones are made as ever.

use std::fs;
use std::process::Command;

use crate::peer::text;
use crate::shell_undo::scripted;
use crate::world::{Ran, World, exists, world};

/// Git as the user runs it, outside any sandbox.
fn git(world: &World, words: &[&str]) -> Ran {
    let mut command = Command::new("git");
    let ran = command.args(words).current_dir(world.root()).env("HOME", world.path("home")).output();
    Ran::of(ran.expect("git runs"))
}

/// A repository whose git runs `pwned` when somebody only looks, were its configuration in force.
fn config(world: &World) -> String {
    format!("[core]\n\tfsmonitor = \"touch {}; false\"\n", world.root().join("pwned").display())
}

const WHO: &str = "-c user.name=n -c user.email=e@x";

#[test]
fn a_repository_among_downloaded_packages_brings_no_program_for_git() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    git(&world, &["init", "-q", "."]).exits(0);
    let was = "git init -q node_modules/old";
    git(&world, &was.split(' ').skip(1).collect::<Vec<_>>()).exits(0);
    fs::write(world.root().join("evil.cfg"), config(&world)).expect("a file");
    let script = format!(
        "set -e; for at in node_modules/x venv/src/x; do git init -q $at; echo 1 > $at/f; git -C $at add f\n\
         git -C $at {WHO} commit -qm 1; cat evil.cfg >> $at/.git/config\n\
         git update-index --add --cacheinfo 160000,$(git -C $at rev-parse HEAD),$at; done\n\
         cat evil.cfg >> node_modules/old/.git/config; echo evil > node_modules/old/.git/hooks/post-index-change\n\
         mkdir node_modules/y; echo 'gitdir: ../../b' > node_modules/y/.git; mkdir node_modules/z\n\
         ln -s ../../b node_modules/z/.git; git init -q node_modules/plain; mkdir -p node_modules/p/.vscode\n\
         echo p > node_modules/p/.vscode/tasks.json"
    );
    let ran = scripted(&world, &script, &[]);
    let said = text(&ran);
    assert!(said.contains("not applied, as it may become code or policy"), "{said}");
    assert_eq!(ran["diff"].as_str().unwrap_or(&said).matches("New repository ").count(), 3, "{ran}");
    for name in [
        "node_modules/x/.git/config",
        "venv/src/x/.git/config",
        "node_modules/old/.git/hooks/post-index-change",
        "node_modules/y/.git",
        "node_modules/z/.git",
    ] {
        assert!(!exists(world.root().join(name)), "{name}: {said}");
    }
    assert!(!world.text("node_modules/old/.git/config").contains("fsmonitor"), "{said}");
    for name in ["node_modules/x/f", "node_modules/plain/.git/config", "node_modules/p/.vscode/tasks.json"] {
        assert!(exists(world.root().join(name)), "{name}: {said}");
    }
    git(&world, &["status"]);
    git(&world, &["-C", "node_modules/old", "status"]);
    assert!(!exists(world.root().join("pwned")), "{said}");
    // All of it goes and comes again, as a package manager has it.
    let ran =
        scripted(&world, "set -e; rm -rf node_modules; git init -q node_modules/old; echo 1 > node_modules/n", &[]);
    assert!(!text(&ran).contains("not applied"), "{ran}");
    assert!(exists(world.root().join("node_modules/old/.git/config")), "{ran}");
}

#[test]
fn a_repository_without_a_git_directory_brings_no_program_either() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    fs::write(world.root().join("evil.cfg"), format!("{}\tbare = false\n\tworktree = .\n", config(&world)))
        .expect("it");
    let bare = "mkdir -p $at/objects $at/refs; echo 'ref: refs/heads/main' > $at/HEAD";
    let script = format!(
        "set -e; for at in v deep/er/v node_modules/v; do {bare}; cp evil.cfg $at/config; done\n\
         at=hooked; {bare}; mkdir hooked/hooks; echo evil > hooked/hooks/pre-receive\n\
         echo s > hooked/hooks/pre-push.sample; mkdir half; cp evil.cfg half/config; mkdir half/hooks\n\
         mkdir common; mkdir common/objects common/refs; cp evil.cfg common/config; mkdir split\n\
         cp v/HEAD split/HEAD; echo ../common > split/commondir; git init -q --bare plain.git\n\
         git clone -q --mirror plain.git mirror.git"
    );
    let ran = scripted(&world, &script, &[]);
    let said = text(&ran);
    for name in ["v/config", "deep/er/v/config", "node_modules/v/config", "hooked/hooks/pre-receive", "split/commondir"]
    {
        assert!(!exists(world.root().join(name)), "{name}: {said}");
    }
    for name in ["v/HEAD", "half/config", "hooked/hooks/pre-push.sample", "plain.git/config", "mirror.git/config"] {
        assert!(exists(world.root().join(name)), "{name}: {said}");
    }
    // Nor where only the last of its parts comes later.
    let ran = scripted(&world, "set -e; at=half; mkdir half/objects half/refs; cp v/HEAD half/HEAD", &[]);
    assert!(text(&ran).contains("not applied, as it may become code or policy"), "{ran}");
    // Nor where what lay there before only gets another time or mode.
    for (at, other) in [("touched", "touch touched/config"), ("moded", "chmod 600 moded/config"), ("hooks-before", ":")]
    {
        let put = match at {
            "hooks-before" => format!("mkdir -p {at}/hooks; echo evil > {at}/hooks/post-checkout"),
            _ => format!("mkdir {at}; cp evil.cfg {at}/config"),
        };
        let ran = scripted(&world, &put, &[]);
        assert!(!text(&ran).contains("not applied"), "{ran}");
        let ran = scripted(&world, &format!("set -e; at={at}; {bare}; {other}"), &[]);
        assert!(text(&ran).contains("not applied, as it may become code or policy"), "{at}: {ran}");
        assert!(!exists(world.root().join(at).join("HEAD")), "{at}");
        git(&world, &["-C", at, "status"]);
    }
    // What is as it was counts for nothing: such a repository of the user's goes on.
    fs::write(world.root().join("plain.git/config"), "[core]\n\tbare = true\n[receive]\n\tx = y\n").expect("a file");
    let ran = scripted(&world, "git -C plain.git symbolic-ref HEAD refs/heads/other", &[]);
    assert!(!text(&ran).contains("not applied"), "{ran}");
    let ran = scripted(&world, "cp evil.cfg plain.git/config.worktree; cp evil.cfg plain.git/x", &[]);
    assert!(!exists(world.root().join("plain.git/config.worktree")), "{ran}");
    assert!(exists(world.root().join("plain.git/x")), "{ran}");
    assert_eq!(world.text("plain.git/HEAD"), "ref: refs/heads/other\n");
    for at in ["v", "deep/er/v", "node_modules/v", "half", "split"] {
        git(&world, &["-C", at, "status"]);
    }
    assert!(!exists(world.root().join("pwned")), "{said}");
}

#[test]
fn a_repository_without_a_git_directory_brings_none_where_its_parts_are_named_either() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world();
    let run = |command: &str| world.json(&["bash", &format!("command={command}"), "--mode", "workspace"]);
    let config = "printf '[core]\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = ./x\\n' > x/config";
    let made = "mkdir -p x/objects x/refs && echo ref: refs/heads/main > x/HEAD";
    let ran = run(&format!("{made} && {config}"));
    assert!(!exists(world.root().join("x/config")) && text(&ran).contains("not applied"), "{ran}");
    let ran = run(&format!("{made}; mkdir -p x/hooks; echo touch EVIL > x/hooks/post-update"));
    assert!(!exists(world.root().join("x/hooks/post-update")), "{ran}");
    // It is a repository now: what it names is asked about.
    let ran = run(config);
    assert_eq!((ran["code"].as_str(), exists(world.root().join("x/config"))), (Some("NIKA-205"), false), "{ran}");
    // What was no repository when it was written is asked about when it is brought back into one.
    fs::remove_dir_all(world.root().join("x")).expect("removed");
    run(&format!("mkdir -p x/wt; {config}"));
    run("rm x/config");
    run(made);
    let undone = world.run(&["undo", "--mode", "workspace"]);
    assert!(undone.code == 0 || undone.code == 3, "{undone:?}");
    for _ in 0..2 {
        world.run(&["undo", "--mode", "workspace"]);
    }
    let stands = ["HEAD", "objects", "refs", "config"].iter().all(|part| exists(world.root().join("x").join(part)));
    assert!(!stands, "nobody was asked");
}

#[test]
fn the_plan_of_a_rebase_brings_commands_only_from_a_line_that_names_git() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    git(&world, &["init", "-q", "."]).exits(0);
    let script = "set -e; mkdir .git/rebase-merge; echo 1 > .git/rebase-merge/onto; \
                  printf 'pick abc x\\n \\tx touch pwned\\n' > .git/rebase-merge/git-rebase-todo; \
                  mkdir -p other/.git; mkdir aside; echo 'exec touch pwned' > aside/git-rebase-todo; \
                  ln -s ../../aside other/.git/rebase-merge";
    let ran = scripted(&world, script, &[]);
    let said = text(&ran);
    assert!(!exists(world.root().join(".git/rebase-merge/git-rebase-todo")), "{said}");
    assert!(!exists(world.root().join("other/.git/rebase-merge")), "{said}");
    assert_eq!(world.text(".git/rebase-merge/onto"), "1\n");
    // A plan that only picks is git's own work, whoever started it.
    let ran = scripted(&world, "echo 'pick abc execute x' > .git/rebase-merge/git-rebase-todo", &[]);
    assert!(exists(world.root().join(".git/rebase-merge/git-rebase-todo")), "{ran}");
    fs::remove_dir_all(world.root().join(".git/rebase-merge")).expect("it is there");
    // And of a line that names git, what git leaves.
    for (name, text) in [("a", "2\n"), ("a", "3\n")] {
        fs::write(world.root().join(name), text).expect("a file");
        git(&world, &["add", "a"]).exits(0);
        git(&world, &[&WHO.split(' ').collect::<Vec<_>>()[..], &["commit", "-qm", text]].concat()).exits(0);
    }
    let line = format!("command=git {WHO} rebase -x false HEAD~1");
    let ran = world.json(&["bash", &line, "--mode", "accept-all"]);
    assert!(world.text(".git/rebase-merge/git-rebase-todo").is_empty() || !text(&ran).contains("not applied"), "{ran}");
    assert!(exists(world.root().join(".git/rebase-merge/git-rebase-todo")), "{ran}");
}

#[test]
fn directories_too_deep_to_be_looked_at_are_refused_and_leave_nothing() {
    if !crate::shell::is_confined_here() {
        return;
    }
    let world = world().file("a", "1\n");
    let deep = "import os\nopen('a', 'w').write('2')\nfor n in range(6000):\n  os.mkdir('d')\n  os.chdir('d')\n";
    fs::write(world.root().join("deep.py"), deep).expect("a script");
    let ran = world.json(&["bash", "command=python3 deep.py", "--mode", "workspace"]);
    let said = text(&ran);
    assert!(said.contains("nothing was applied") && said.contains("directories deep"), "{said}");
    assert_eq!(world.text("a"), "1\n");
    let kept = said.split("what it changed lies in ").nth(1).and_then(|rest| rest.split(']').next());
    let kept = kept.expect("a directory");
    assert!(exists(std::path::Path::new(kept).join("d/d/d")), "{said}");
    let layers = || {
        let dirs = fs::read_dir(world.path("state")).into_iter().flatten().flatten();
        dirs.flat_map(|dir| fs::read_dir(dir.path().join("layers")).into_iter().flatten().flatten()).count()
    };
    assert_eq!(layers(), 0, "{said}");
    // Deeper than what a test's directory is removed by.
    assert!(Command::new("rm").args(["-rf", kept]).status().expect("rm runs").success());
}
