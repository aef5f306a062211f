//! Where a command ended, however it did.

use std::path::PathBuf;

use nika_host::proc::{Exited, How, Order};

use crate::scene::{argv, jobs, profile, run};

fn ended(text: &str) -> (tempfile::TempDir, Exited) {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::create_dir_all(dir.path().join("a/b")).expect("made");
    let (_, exited) = run(&jobs(), Order::shell(text, profile(dir.path()), "s"));
    (dir, exited)
}

#[test]
fn the_place_is_where_the_shell_ended() {
    for (text, how, place) in [
        ("true", How::Status(0), ""),
        ("cd a", How::Status(0), "a"),
        ("cd a; exit 3", How::Status(3), "a"),
        ("cd a; cd b && false", How::Status(1), "a/b"),
        ("set -e; cd a; false; cd b", How::Status(1), "a"),
        ("cd a && exec true", How::Status(0), "a"),
        ("cd a; trap 'exit 5' EXIT; cd b", How::Status(5), "a/b"),
        ("(cd a)", How::Status(0), ""),
        ("cd a | true", How::Status(0), ""),
        ("pushd a >/dev/null; pushd b >/dev/null; popd >/dev/null", How::Status(0), "a"),
        ("cd a; kill -KILL $$", How::Signal(9), "a"),
        ("cd a; bash -c 'cd b; exit 6'", How::Status(6), "a"),
        ("cd a; if", How::Status(2), "a"),
        ("cd a\nif", How::Status(2), "a"),
        ("exec python3 -c 'import os; os.chdir(\"a\")'", How::Status(0), "a"),
        ("cd no-such-place", How::Status(1), ""),
    ] {
        // A text that bash cannot read whole does nothing of its line.
        let place = if text == "cd a; if" { "" } else { place };
        let (dir, exited) = ended(text);
        let expected = std::fs::canonicalize(dir.path().join(place)).expect("it is there");
        assert_eq!((exited.how, exited.cwd), (how, Some(expected)), "{text}");
    }
}

#[test]
fn a_place_that_is_gone_is_none() {
    let (_dir, exited) = ended("cd a/b; rmdir ../b");
    assert_eq!(exited.cwd, None);
}

#[test]
fn a_link_is_where_it_leads() {
    let (dir, exited) = ended("ln -s a l; cd l");
    assert_eq!(exited.cwd, Some(std::fs::canonicalize(dir.path().join("a")).expect("it is there")));
}

#[test]
fn the_last_command_still_has_a_process_of_its_own() {
    // What shares its working directory gets nothing from a set-user-id program.
    let (job, _) = run(&jobs(), Order::shell("cat /proc/self/stat; true && cat /proc/self/stat", profile("/"), "s"));
    let output = crate::scene::text(&job);
    let shell = job.pid().to_string();
    assert!(output.lines().all(|line| line.split(' ').next() != Some(&shell)), "{output}");
}

#[test]
fn a_program_without_a_shell_has_none() {
    let (_, exited) = run(&jobs(), argv(&["true"]));
    assert_eq!(exited.cwd, None::<PathBuf>);
}
