//! Path forms and what stands at them: links, FIFOs, devices, races, names.

use std::os::unix::fs::symlink;

use nika_guard::{Mode, RuleKind};
use nika_testkit::{no, world, yes};
use serde_json::json;

/// Every way to write a path that must not reach `secret.txt` beside the root.
#[test]
fn no_form_of_a_path_leaves_the_root() {
    let outside = tempfile::tempdir().expect("a directory");
    std::fs::write(outside.path().join("secret.txt"), "outside\n").expect("written");
    let out = outside.path().to_str().expect("UTF-8");
    let world = world().file("in.txt", "in\n").file("dir/x", "");
    symlink(outside.path(), world.path("link_dir")).expect("link");
    symlink(outside.path().join("secret.txt"), world.path("link_file")).expect("link");
    symlink(outside.path().join("new.txt"), world.path("dangling")).expect("link");
    symlink("missing/../../up", world.path("dangling_up")).expect("link");
    let root = world.root().to_str().expect("UTF-8").to_owned();
    // A directory whose name begins as the root's does: a comparison of texts would take it for a part of it.
    let sibling = std::path::PathBuf::from(format!("{root}-sibling"));
    std::fs::create_dir(&sibling).expect("made");
    std::fs::write(sibling.join("secret.txt"), "outside\n").expect("written");
    let sibling_name = sibling.file_name().expect("a name").to_string_lossy().into_owned();
    symlink(&sibling, world.path("link_sibling")).expect("link");
    let forms = [
        format!("{out}/secret.txt"),
        format!("..{out}/secret.txt"),
        format!("../{}/secret.txt", outside.path().file_name().expect("name").to_string_lossy()),
        format!("dir/../../{}/secret.txt", outside.path().file_name().expect("name").to_string_lossy()),
        "link_dir/secret.txt".to_owned(),
        "link_dir/../secret.txt".to_owned(),
        "link_file".to_owned(),
        format!("{root}/../{}/secret.txt", outside.path().file_name().expect("name").to_string_lossy()),
        format!("/proc/self/root{out}/secret.txt"),
        format!("/proc/self/cwd/../../../../../..{out}/secret.txt"),
        format!("/proc/1/root{out}/secret.txt"),
        format!("{root}-sibling/secret.txt"),
        format!("../{sibling_name}/secret.txt"),
        format!("dir/../../{sibling_name}/secret.txt"),
        "link_sibling/secret.txt".to_owned(),
    ];
    for form in &forms {
        let read = world.call("read", json!({"file_path": form}));
        let code = read.outcome.result.as_ref().expect_err(form).code.0;
        assert!([200, 204, 205, 208].contains(&code), "read {form}: {code}");
        let write = world.call("write", json!({"file_path": form, "content": "x"}));
        let code = write.outcome.result.as_ref().expect_err(form).code.0;
        assert!([200, 204, 205, 208, 213].contains(&code), "write {form}: {code}");
        let grep = world.call("grep", json!({"pattern": "outside", "path": form}));
        assert!(grep.outcome.result.is_err(), "grep {form}");
    }
    let beside = format!("{root}-sibling/new.txt");
    for form in ["dangling", "dangling_up", "link_dir/new.txt", "link_sibling/new.txt", &beside] {
        world.call("write", json!({"file_path": form, "content": "x"})).outcome.result.as_ref().expect_err(form);
    }
    assert_eq!(std::fs::read_to_string(outside.path().join("secret.txt")).expect("there"), "outside\n");
    assert_eq!(std::fs::read_dir(outside.path()).expect("dir").count(), 1);
    let left: Vec<_> = std::fs::read_dir(&sibling).expect("dir").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["secret.txt"]);
    assert_eq!(std::fs::read_to_string(sibling.join("secret.txt")).expect("there"), "outside\n");
    std::fs::remove_dir_all(&sibling).expect("removed");
    world.call("grep", json!({"pattern": "outside", "hidden": true, "no_ignore": true})).says("No matches.");
}

/// An edit shows what others changed meanwhile; of what may not be read it shows nothing, and nobody is asked by the way.
#[test]
fn an_edit_shows_nothing_of_a_file_that_a_read_would_be_asked_about() {
    let rules = [(RuleKind::Deny, "read(secret/**)"), (RuleKind::Ask, "read(q.txt)")];
    for file in [".env", "secret/n", "q.txt"] {
        let world = rules.iter().fold(world().mode(Mode::AcceptEdits), |world, (kind, rule)| world.rule(*kind, rule));
        let lines = "KEY=\nA=1\nB=1\nC=1\nD=1\n";
        world.call("write", json!({"file_path": file, "content": lines})).ok();
        let theirs = lines.replace("KEY=", "KEY=abc");
        world.put(file, theirs.as_bytes());
        for (old, new) in [("D=1", "D=2"), ("KEY=", "KEY=mine"), ("nowhere", "x")] {
            let edits = json!({"file_path": file, "old_string": old, "new_string": new});
            let one = world.call("edit", edits.clone());
            let error = one.refused(212);
            assert!(!format!("{error:?}").contains("abc"), "{file} {old}: {error:?}");
            let cell = json!({"changes": [{"op": "edit", "file_path": file, "old_string": old, "new_string": new}]});
            let set = world.call("change_set", cell);
            assert!(!format!("{:?}", set.outcome.result).contains("abc"), "{file} {old}: {:?}", set.outcome.result);
        }
        assert_eq!(world.on_disk(file), theirs.as_bytes());
        world.call("edit", json!({"file_path": file, "old_string": "D=1", "new_string": "D=2"})).refused(212);
    }
    // What may be read is merged and shown, as ever.
    let world = world().mode(Mode::AcceptEdits);
    world.call("write", json!({"file_path": "a", "content": "KEY=\nA=1\nB=1\nC=1\nD=1\n"})).ok();
    world.put("a", b"KEY=abc\nA=1\nB=1\nC=1\nD=1\n");
    world.call("edit", json!({"file_path": "a", "old_string": "D=1", "new_string": "D=2"})).says("+KEY=abc");
}

#[test]
fn a_rule_on_a_links_own_name_holds_for_what_other_links_reach_through_it() {
    let world = world().file("real/x.rs", "needle\n").file("sub/y", "").rule(RuleKind::Deny, "read(lnk/**)");
    let world = world.rule(RuleKind::Deny, "read(file_link)");
    for (name, to) in [
        ("lnk", "real"),
        ("lnk2", "lnk"),
        ("lnk3", "lnk2"),
        ("f2", "lnk/x.rs"),
        ("sub/up", "../lnk"),
        ("file_link", "real/x.rs"),
        ("sub/f3", "../file_link"),
        ("round", "round2"),
        ("round2", "round"),
    ] {
        symlink(to, world.path(name)).expect("link");
    }
    for path in ["lnk/x.rs", "lnk2/x.rs", "lnk3/x.rs", "f2", "sub/up/x.rs", "sub/../lnk2/x.rs", "file_link", "sub/f3"] {
        world.call("read", json!({"file_path": path})).refused(205);
        let grep = world.call("grep", json!({"pattern": "needle", "path": path, "output_mode": "content"}));
        assert!(!format!("{:?}", grep.outcome.result).contains("1:needle"), "{path}: {:?}", grep.outcome.result);
    }
    world.call("read", json!({"file_path": "real/x.rs"})).says("needle");
    assert!(world.call("read", json!({"file_path": "round"})).outcome.result.is_err());
}

#[test]
fn paths_that_cannot_be_are_refused_in_words() {
    let world = world();
    for (path, code) in
        [("", 223), ("a\0b", 223), (&"x/".repeat(2500), 223), (&"y".repeat(300), 223), ("gone/../../x", 208)]
    {
        world.call("read", json!({"file_path": path})).refused(code);
        world.call("write", json!({"file_path": path, "content": ""})).refused(code);
    }
    assert!(world.tree().is_empty());
}

#[test]
fn only_regular_files_are_opened_and_nothing_blocks() {
    let world = world().file("dir/x", "");
    let fifo = world.path("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a FIFO");
    let _socket = std::os::unix::net::UnixListener::bind(world.path("socket")).expect("a socket");
    symlink("/dev/zero", world.path("zero")).expect("link");
    for (path, code) in [("fifo", 213), ("socket", 213), ("dir", 213), ("zero", 205)] {
        world.call("read", json!({"file_path": path})).refused(code);
    }
    for path in ["fifo", "socket"] {
        world.call("write", json!({"file_path": path, "content": "x"})).refused(213);
        world.call("change_set", json!({"changes": [{"op": "delete", "file_path": path}]})).refused(218);
    }
    world.call("grep", json!({"pattern": "x", "hidden": true, "no_ignore": true})).says("No matches");
    let device = nika_testkit::world().mode(Mode::AcceptAll);
    device.call("read", json!({"file_path": "/dev/zero"})).refused(213);
}

#[test]
fn secrets_ask_and_searches_do_not_leak_them() {
    let make = || world().file(".env", "TOKEN=hunter2\n").file("sub/id_rsa", "hunter2\n").file("a.txt", "hunter2\n");
    let world = make();
    world.call("read", json!({"file_path": ".env"})).refused(205);
    world.call("read", json!({"file_path": "sub/ID_RSA"})).refused(205);
    symlink(".env", world.path("innocent")).expect("link");
    world.call("read", json!({"file_path": "innocent"})).refused(205);
    let found =
        world.call("grep", json!({"pattern": "hunter2", "hidden": true, "no_ignore": true, "output_mode": "content"}));
    found.says("a.txt:1:hunter2").says("2 withheld").says("NOT complete");
    assert!(!found.text().contains(".env") && !found.text().contains("id_rsa"), "{}", found.text());
    world.call("grep", json!({"pattern": "hunter2", "path": ".env"})).refused(205);
    assert_eq!(found.data()["completeness"]["withheld"], 2);
    // Names are no secret.
    world.call("glob", json!({"pattern": "**/id_*"})).says("sub/id_rsa");
    make().person(yes()).call("read", json!({"file_path": ".env"})).says("hunter2");
    let declined = make().person(no("not that one"));
    assert!(declined.call("read", json!({"file_path": ".env"})).refused(205).message.contains("not that one"));
}

#[test]
fn guarded_paths_ask_whatever_the_mode() {
    for path in [
        ".git/hooks/pre-commit",
        ".nika/config.yaml",
        ".vscode/tasks.json",
        ".mcp.json",
        "sub/.git/config",
        ".github/workflows/ci.yml",
    ] {
        let world = world().mode(Mode::AcceptAll).rule(RuleKind::Allow, "write(**)");
        world.call("write", json!({"file_path": path, "content": "x"})).refused(205);
        world
            .call("change_set", json!({"changes": [{"op": "create", "file_path": path, "content": "x"}]}))
            .refused(205);
        assert!(!world.path(path).exists());
        world.call("write", json!({"file_path": "ordinary", "content": "x"})).ok();
        world
            .call("change_set", json!({"changes": [{"op": "move", "file_path": "ordinary", "to": path}]}))
            .refused(205);
    }
}

/// The project's own policy is neither deleted, moved away, replaced by another's nor reached by another name without a
/// question.
#[test]
fn policy_files_are_guarded_against_every_way_of_changing_them() {
    const POLICY: &str = "permissions:\n  deny:\n    - write(x)\n";
    for path in [".nika/config.yaml", ".nika/local.yaml", ".claw-policy.json", ".NIKA/Config.YAML"] {
        let world = world().mode(Mode::AcceptAll).rule(RuleKind::Allow, "write(**)").file(path, POLICY).file("ok", "");
        symlink(path, world.path("innocent")).expect("link");
        std::fs::hard_link(world.path(path), world.path("twin")).expect("a second name");
        let before = world.tree();
        world.call("read", json!({"file_path": path})).ok();
        let edit = |at: &str| json!({"op": "edit", "file_path": at, "old_string": "deny", "new_string": "allow"});
        for change in [
            json!({"op": "delete", "file_path": path}),
            json!({"op": "move", "file_path": path, "to": "elsewhere"}),
            json!({"op": "move", "file_path": "ok", "to": path}),
            edit(path),
            edit("innocent"),
        ] {
            world.call("change_set", json!({"changes": [change]})).refused(205);
        }
        world.call("write", json!({"file_path": path, "content": ""})).refused(205);
        world.call("write", json!({"file_path": "innocent", "content": ""})).refused(205);
        world.call("edit", json!({"file_path": path, "old_string": "deny", "new_string": "allow"})).refused(205);
        // A second name is a file of its own as soon as it changes.
        world.call("read", json!({"file_path": "twin"})).ok();
        world.call("edit", json!({"file_path": "twin", "old_string": "deny", "new_string": "allow"})).ok();
        assert_eq!((world.text(path).as_str(), world.tree()), (POLICY, before), "{path}");
    }
}

/// A directory with these parts is a repository to git, and it runs what its configuration names.
#[test]
fn what_makes_a_repository_and_what_git_runs_of_one_asks_whatever_it_is_called() {
    let config = "[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = ./x\n";
    let write = |path: &str| json!({"file_path": path, "content": config});
    let world = world().mode(Mode::Workspace).file("z/HEAD", "ref: refs/heads/main\n").file("z/objects/a", "");
    for path in ["z/config", "z/hooks/update", "z/config.worktree"] {
        world.call("write", write(path)).ok();
    }
    // The last of its parts makes it one.
    world.call("write", json!({"file_path": "z/refs/a", "content": ""})).refused(205);
    std::fs::create_dir(world.path("z/refs")).expect("made");
    for path in ["z/config", "z/hooks/post-update", "z/config.worktree", "z/commondir"] {
        world.call("read", json!({"file_path": path}));
        world.call("write", write(path)).refused(205);
    }
    for path in ["z/refs/heads/main", "z/objects/b", "z/notes"] {
        world.call("write", write(path)).ok();
    }
    // In one set each counts for the others.
    let create = |path: &str| json!({"op": "create", "file_path": path, "content": config});
    let set = |paths: &[&str]| json!({"changes": paths.iter().map(|path| create(path)).collect::<Vec<_>>()});
    world.call("change_set", set(&["y/config", "y/HEAD", "y/objects/a", "y/refs/a"])).refused(205);
    world.call("change_set", set(&["y/config", "y/HEAD", "y/objects/a"])).ok();
    world.call("change_set", set(&["y/refs/a"])).refused(205);
}

/// What undo brings back, git would run as if it were written.
#[test]
fn undo_asks_before_it_brings_back_what_git_would_run() {
    let world = world().mode(Mode::Workspace);
    let git = |words: &[&str]| {
        let ran = std::process::Command::new("git").current_dir(world.root()).args(words).status();
        assert!(ran.expect("git runs").success(), "{words:?}");
    };
    git(&["init", "-q"]);
    let write = |content: &str| json!({"file_path": "myhooks/pre-commit", "content": content});
    world.call("write", write("#!/bin/sh\ntouch EVIL\n")).ok();
    world.call("write", write("#!/bin/sh\nexit 0\n")).ok();
    git(&["config", "core.hooksPath", "myhooks"]);
    world.call("undo", json!({})).refused(205);
    world.call("undo", json!({"steps": 2})).refused(205);
    assert_eq!(world.text("myhooks/pre-commit"), "#!/bin/sh\nexit 0\n");
}

#[test]
fn a_secret_under_another_name_is_asked_about_as_the_secret() {
    let world = world().file("app/.env", "KEY=hunter2\n").file("a.txt", "one\n");
    std::fs::hard_link(world.path("app/.env"), world.path("notes.txt")).expect("linked");
    std::fs::hard_link(world.path("a.txt"), world.path("b.txt")).expect("linked");
    let refused = world.call("read", json!({"file_path": "notes.txt"}));
    assert!(refused.refused(205).message.contains("app/.env"), "{:?}", refused.outcome.result);
    world.call("read", json!({"file_path": "b.txt"})).says("one");
    let world = world.person(nika_testkit::yes());
    world.call("read", json!({"file_path": "notes.txt"})).says("hunter2");
}

#[test]
fn a_name_that_is_no_utf8_is_opened_as_it_is_shown() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let odd = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let world = world().file("plain.txt", "plain\n");
    std::fs::create_dir(world.root().join(odd(b"d\xff"))).expect("made");
    let file = world.root().join(odd(b"d\xff")).join(odd(b"caf\xe9.txt"));
    let twin = file.with_file_name(odd(b"caf\xe8.txt"));
    std::fs::write(&file, "one\n").expect("written");
    let shown = "d\u{fffd}/caf\u{fffd}.txt";
    world.call("list_dir", json!({"path": "d\u{fffd}"})).says("caf\u{fffd}.txt");
    world.call("grep", json!({"pattern": "one"})).says(shown);
    world.call("grep", json!({"pattern": "one", "path": shown, "output_mode": "content"})).says("one");
    world.call("read", json!({"file_path": shown})).says("one");
    world.call("edit", json!({"file_path": shown, "old_string": "one", "new_string": "two"})).ok();
    let set = json!([
        {"op": "edit", "file_path": shown, "old_string": "two", "new_string": "three"},
        {"op": "move", "file_path": "plain.txt", "to": "d\u{fffd}/moved.txt"},
    ]);
    world.call("change_set", json!({ "changes": set })).ok();
    assert_eq!(std::fs::read_to_string(&file).expect("there"), "three\n");
    assert!(file.with_file_name("moved.txt").exists() && !world.path("plain.txt").exists());
    world.call("undo", json!({"steps": 2})).ok();
    assert_eq!(std::fs::read_to_string(&file).expect("there"), "one\n");
    assert_eq!(world.text("plain.txt"), "plain\n");
    // Two that are shown alike are told apart by nobody, and are not guessed.
    std::fs::write(&twin, "twin\n").expect("written");
    let refused = world.call("read", json!({"file_path": shown}));
    assert!(refused.refused(223).message.contains("2 names"));
    world.call("write", json!({"file_path": shown, "content": "x"})).refused(223);
    // What has that very name is meant first.
    std::fs::write(world.path(shown.rsplit('/').next().expect("a name")), "literal\n").expect("written");
    world.call("read", json!({"file_path": "caf\u{fffd}.txt"})).says("literal");
}

#[test]
fn an_outside_path_is_a_question_and_a_yes_reaches_only_that_path() {
    let outside = tempfile::tempdir().expect("a directory");
    let file = outside.path().join("x.txt");
    std::fs::write(&file, "one\n").expect("written");
    let path = file.to_str().expect("UTF-8");
    world().call("read", json!({"file_path": path})).refused(205);
    let asked = world().person(yes());
    asked.call("read", json!({"file_path": path})).says("one");
    asked.call("edit", json!({"file_path": path, "old_string": "one", "new_string": "two"})).ok();
    assert_eq!(std::fs::read_to_string(&file).expect("there"), "two\n");
}

/// A link that is swapped while calls run never lets one through to the outside.
#[test]
fn a_swapped_link_never_wins_the_race() {
    let outside = tempfile::tempdir().expect("a directory");
    std::fs::write(outside.path().join("f.txt"), "outside\n").expect("written");
    let world = world().file("real/f.txt", "inside\n");
    let (dir, spare) = (world.path("d"), world.path("d2"));
    std::fs::create_dir(&dir).expect("made");
    std::fs::write(dir.join("f.txt"), "inside\n").expect("written");
    symlink(outside.path(), &spare).expect("link");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = rustix::fs::renameat_with(
                    rustix::fs::CWD,
                    &dir,
                    rustix::fs::CWD,
                    &spare,
                    rustix::fs::RenameFlags::EXCHANGE,
                );
            }
        });
        for round in 0..2000 {
            if let Ok(output) = &world.call("read", json!({"file_path": "d/f.txt"})).outcome.result {
                assert!(!output.joined_text().contains("outside"), "round {round}");
            }
            let _ = world.call("write", json!({"file_path": format!("d/n{round}"), "content": "x"}));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(std::fs::read_dir(outside.path()).expect("dir").count(), 1);
}
