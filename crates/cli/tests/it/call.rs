//! One call: forms of arguments, forms of output, exit codes.

use serde_json::json;

use crate::world::{Ran, exists, world};

#[test]
fn text_goes_to_stdout_and_errors_to_stderr() {
    let world = world().file("a.txt", "one\ntwo\n");
    world.run(&["call", "read", "file_path=a.txt"]).exits(0).says("two");
    let ran = world.run(&["call", "read", "file_path=b.txt"]);
    ran.exits(1).complains("NIKA-208");
    assert_eq!(ran.out, "");
}

#[test]
fn json_is_one_object_whatever_happens() {
    let world = world().file("a.txt", "one\n");
    let good = world.json(&["read", "file_path=a.txt"]);
    let mut keys: Vec<&str> = good.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["call_id", "code", "content", "diff", "facts", "ok", "structured"]);
    assert_eq!((&good["ok"], &good["code"]), (&json!(true), &json!(null)));
    assert_eq!(good["content"][0]["type"], "text");
    assert!(good["call_id"].as_str().is_some_and(|id| id.starts_with('c')));

    let bad = world.json(&["read", "file_path=b.txt"]);
    assert_eq!(
        (&bad["ok"], &bad["code"], &bad["error"]["code"]),
        (&json!(false), &json!("NIKA-208"), &json!("NIKA-208"))
    );
    for words in
        [&["read", "file_path:={"][..], &["read", "noequals"], &["read", "a=@/no/such"], &["read", "--root=/no/such"]]
    {
        let never = world.json(words);
        assert_eq!((&never["ok"], &never["call_id"]), (&json!(false), &json!(null)), "{words:?}");
    }
}

#[test]
fn a_search_in_one_of_two_roots_says_which_it_did_not_look_at() {
    let world = world().file("a.txt", "one\n");
    std::fs::create_dir(world.path("second")).expect("made");
    std::fs::write(world.path("second/b.txt"), "needle\n").expect("written");
    let (first, second) = (world.root().display().to_string(), world.path("second").display().to_string());
    let roots = ["--root", &first, "--root", &second];
    for what in [["call", "grep", "pattern=needle"], ["call", "glob", "pattern=b.*"]] {
        let said = world.run(&[&what[..], &roots].concat());
        said.exits(0)
            .says("that was not all")
            .says("NOT complete")
            .says(&format!("not in the other roots (path looks there): {second}"));
        let path = format!("path={second}");
        world.run(&[&what[..], &[&path], &roots].concat()).exits(0).says("b.txt").says("[complete");
    }
}

#[test]
fn a_configuration_above_the_root_is_said_not_to_be_in_force() {
    let world = world().file("sub/a.txt", "one\n").file(".nika/config.yaml", "permissions: {deny: [\"read(**)\"]}\n");
    let begun_in = |dir: &str, more: &[&str]| {
        let words = [&["call", "read", "file_path=a.txt"], more].concat();
        Ran::of(world.nika(&words).current_dir(world.root().join(dir)).output().expect("it starts"))
    };
    let below = begun_in("sub", &[]);
    let root = world.root().display().to_string();
    assert_eq!(below.code, 0, "{below:?}");
    let note = format!("note: {root}/.nika/config.yaml is not in force in {root}/sub; with `--root {root}` it is");
    assert!(below.err.contains(&note), "{below:?}");
    assert!(begun_in("", &[]).code == 3 && !begun_in("", &[]).err.contains("note:"));
    assert!(!begun_in("sub", &["--root", "."]).err.contains("note:"), "who names a root means it");
}

#[test]
fn every_exit_code_has_its_meaning() {
    let world = world().file("a.txt", "one\n").file("secret/.env", "KEY=1\n");
    for (words, code) in [
        (&["call", "read", "file_path=a.txt"][..], 0),
        (&["call", "read", "file_path=missing"], 1),
        (&["call", "grep", "pattern=("], 1),
        (&["call", "nothing"], 2),
        (&["call", "read"], 2),
        (&["call", "read", "file_path=a.txt", "limit=many"], 2),
        (&["call"], 2),
        (&["frobnicate"], 2),
        (&["call", "read", "file_path=a.txt", "--mode", "sudo"], 2),
        (&["call", "read", "file_path=a.txt", "--root", "nowhere"], 2),
        (&["call", "read", "file_path=a.txt", "--mode", "deny"], 3),
        (&["call", "write", "file_path=b.txt", "content=x"], 3),
        (&["call", "read", "file_path=secret/.env"], 3),
        (&["call", "read", "file_path=/etc/hostname"], 3),
        (&["call", "read", "file_path=a.txt", "--deny", "tool(read)"], 3),
    ] {
        assert_eq!(world.run(words).code, code, "{words:?} {:?}", world.run(words));
    }
    assert!(!exists(world.root().join("b.txt")));
}

#[test]
fn values_are_typed_by_the_schema() {
    let world = world().file("a.txt", "one\ntwo\nthree\n").file("b.txt", "TWO\n");
    let ran = world.run(&["call", "read", "file_path=a.txt", "offset=2", "limit=1"]);
    ran.exits(0).says("two");
    assert!(!ran.out.contains("three"));
    world.run(&["call", "grep", "pattern=two", "-i=true", "output_mode=content"]).exits(0).says("b.txt").says("a.txt");
    world.run(&["call", "grep", "-A=1", "pattern=one", "output_mode=content"]).exits(0).says("two");
    world.run(&["call", "grep", "pattern=one", "output_mode=content", "--", "-A=1"]).exits(0).says("two");
    world.run(&["call", "read", "file_path=a.txt", "limit:=1"]).exits(0).says("one");
    // A dialect's own names are typed as well.
    world.run(&["call", "read_file", "path=a.txt", "start_line=3", "end_line=3"]).exits(0).says("three");
}

#[test]
fn a_command_line_that_does_not_parse_is_one_object_too() {
    let world = world();
    for words in [
        &["call", "read", "--output", "json", "--no-such-flag"][..],
        &["call", "--output=json"],
        &["log", "list", "--output", "json", "--session"],
    ] {
        let ran = world.run(words);
        let object = ran.exits(2).json();
        assert_eq!((&object["ok"], &object["code"]), (&false.into(), &"NIKA-100".into()), "{words:?}");
        assert!(object["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{words:?}");
    }
    world.run(&["call", "--no-such-flag"]).exits(2).complains("unexpected argument");
}

#[test]
fn a_configuration_directory_that_was_moved_is_guarded() {
    let world = world();
    let dir = world.path("elsewhere/nika");
    std::fs::create_dir_all(&dir).expect("a directory");
    let path = dir.join("config.yaml");
    let call = |mode: &str| {
        let file = format!("file_path={}", path.display());
        let mut nika = world.nika(&["call", "write", &file, "content=mode: accept-all", "--mode", mode]);
        super::world::Ran::of(nika.env("XDG_CONFIG_HOME", world.path("elsewhere")).output().expect("it starts"))
    };
    for mode in ["accept-edits", "workspace", "accept-all"] {
        let refused = call(mode);
        refused.exits(3).complains("NIKA-205").complains("built-in rule").complains("a person's yes, each time");
        assert!(!refused.err.contains("changing the rule"), "nobody can: {refused:?}");
    }
    assert!(!path.exists());
    let mut tried = world.nika(&["policy", "test"]);
    let tried = tried.env("XDG_CONFIG_HOME", world.path("elsewhere")).output().expect("it starts");
    super::world::Ran::of(tried).exits(0).says("no rules, no examples");
}

#[test]
fn arguments_come_as_json_from_a_word_from_stdin_and_from_files() {
    let world = world().file("a.txt", "one\n").file("new text", "from a file\n");
    let object = r#"{"file_path": "a.txt"}"#;
    world.run(&["call", "read", "--json", object]).exits(0).says("one");
    world.run_with(&["call", "read", "-"], object).exits(0).says("one");
    world.run_with(&["call", "read", "--json", "-"], object).exits(0).says("one");
    world.run_with(&["call", "read", "-"], "[1]").exits(2).complains("object");
    world.run(&["call", "write", "file_path=b.txt", "content=@new text", "--allow-write"]).exits(0);
    assert_eq!(world.text("b.txt"), "from a file\n");
}

#[test]
fn a_refusal_says_what_would_allow_it() {
    let world = world();
    let ran = world.run(&["call", "write", "file_path=a.txt", "content=x"]);
    ran.exits(3).complains("NIKA-205").complains("hint:").complains("--mode accept-edits");
    for flags in [&["--mode", "accept-edits"][..], &["--allow-write"], &["--yolo"], &["--allow", "write(a*.txt)"]] {
        let name = format!("file_path=a{}.txt", flags.len() + flags[0].len());
        let mut words = vec!["call", "write", &name, "content=x"];
        words.extend(flags);
        world.run(&words).exits(0);
    }
}

#[test]
fn an_edit_shows_its_diff_without_colours_in_a_pipe() {
    let world = world().file("a.txt", "one\ntwo\n");
    let session = ["--session", "s", "--allow-write"];
    world.run(&[&["call", "read", "file_path=a.txt"][..], &session].concat()).exits(0);
    let edit = ["call", "edit", "file_path=a.txt", "old_string=two", "new_string=2"];
    let ran = world.run(&[&edit[..], &session].concat());
    ran.exits(0).says("-two\n+2");
    assert_eq!(ran.out.matches("+2").count(), 1, "{ran:?}");
    assert!(!ran.out.contains('\x1b'));
}

#[test]
fn dialects_rename_tools_and_parameters() {
    let world = world().file("a.txt", "one\n");
    for (dialect, tool, key) in [
        ("claude", "Read", "file_path"),
        ("claw", "read_file", "path"),
        ("claw-agent", "read_file", "path"),
        ("nika", "read", "file_path"),
    ] {
        let argument = format!("{key}=a.txt");
        world.run(&["call", tool, &argument, "--dialect", dialect]).exits(0).says("one");
    }
}

#[test]
fn settings_of_one_run() {
    let world = world();
    world.run(&["call", "write", "file_path=a", "content=x", "--allow-write", "--set", "files.fsync=off"]).exits(0);
    world.run(&["call", "list_dir", "--set", "files.fsink=off"]).exits(2).complains("NIKA-902");
}

#[test]
fn a_reader_that_goes_away_is_no_crash() {
    let world = world().file("a.txt", &"line\n".repeat(5_000));
    let mut child = world
        .nika(&["call", "read", "file_path=a.txt", "limit=5000"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn images_can_be_kept() {
    // A picture of one white pixel.
    const PNG: &[u8] = &[
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 58, 126,
        155, 85, 0, 0, 0, 10, 73, 68, 65, 84, 120, 156, 99, 248, 15, 0, 1, 1, 1, 0, 177, 56, 246, 20, 0, 0, 0, 0, 73,
        69, 78, 68, 174, 66, 96, 130,
    ];
    let world = world();
    std::fs::write(world.root().join("dot.png"), PNG).expect("a file");
    world.run(&["call", "read", "file_path=dot.png"]).exits(0).says("image/png").says("--save");
    world.run(&["call", "read", "file_path=dot.png", "--save", "../saved"]).exits(0);
    assert_eq!(std::fs::read_dir(world.path("saved")).expect("it was made").count(), 1);
    let answer = world.json(&["read", "file_path=dot.png"]);
    let blocks = answer["content"].as_array().expect("blocks");
    assert!(blocks.iter().any(|block| block["type"] == "image" && block["mimeType"] == "image/png"), "{answer}");
}

#[test]
fn bytes_that_are_no_text_are_refused_not_crashed_on() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let world = world();
    let odd = world.root().join(OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(&odd).expect("a directory");
    std::fs::write(odd.join("a.txt"), "inside\n").expect("a file");
    let mut command = world.nika(&["call", "read", "file_path=a.txt", "--root"]);
    let output = command.arg(&odd).output().expect("it starts");
    assert!(String::from_utf8_lossy(&output.stdout).contains("inside"));
    let mut command = world.nika(&["call", "read"]);
    let output = command.arg(OsStr::from_bytes(b"file_path=\xff")).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_command_that_is_none_is_answered_with_what_a_person_can_use() {
    let wrong = world().run(&["frob"]);
    wrong.exits(2).complains("frob");
    assert!(!wrong.err.contains("__"), "{wrong:?}");
    world().run(&["sserve"]).exits(2).complains("serve");
}
