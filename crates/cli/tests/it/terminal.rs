//! A person at a terminal is asked, with the diff, and answers.

use std::process::Command;

use crate::pty::Screen;
use crate::world::{Ran, World, exists, world};

/// Runs a command with a person at its terminal who says yes to whatever is asked.
pub fn with_a_yes(command: Command) -> Ran {
    let mut screen = Screen::of(command);
    while screen.shows("[N]o:") {
        screen.types("y");
    }
    let (code, err, out) = screen.end();
    Ran { code, out, err }
}

/// Runs a call at a terminal of its own, types `answer` once asked, and returns the exit code with what was shown.
fn at_terminal(world: &World, words: &[&str], answer: &str) -> (i32, String) {
    let (code, shown, _) = typing(world, words, &[("instead: ", answer)]);
    (code, shown)
}

/// The same, for several answers, each typed when what comes before it was shown; and what went to stdout.
fn typing(world: &World, words: &[&str], answers: &[(&str, &str)]) -> (i32, String, String) {
    let mut screen = Screen::start(world, words);
    for (prompt, answer) in answers {
        if screen.shows(prompt) {
            screen.types(answer);
        }
    }
    screen.end()
}

#[test]
fn yes_no_and_always() {
    let world = world();
    let write = |name: &'static str| ["call", "write", name, "content=hello"];
    let (code, shown) = at_terminal(&world, &write("file_path=a.txt"), "y");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("write(a.txt)") && shown.contains("+hello"), "{shown}");
    let (code, _) = at_terminal(&world, &write("file_path=b.txt"), "no, use c.txt");
    assert_eq!(code, 3);
    assert!(!exists(world.root().join("b.txt")));

    let session = ["--session", "s"];
    let (code, shown) = at_terminal(&world, &[&write("file_path=d.txt")[..], &session].concat(), "a");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("[a]lways in this session (`write(/d.txt)`)"), "{shown}");
    assert!(shown.contains("always would allow every change of this path, by any tool"), "{shown}");
    // The grant is kept: nobody has to be asked in the next process.
    world
        .run(&[&["call", "edit", "file_path=d.txt", "old_string=hello", "new_string=bye"][..], &session].concat())
        .exits(0);
}

#[test]
fn a_menu_is_answered_by_number_after_a_slip() {
    let world = world();
    let question = r#"{"question": "Which way?", "options": ["left", "right"], "allow_free_text": false}"#;
    let words = ["call", "ask_user_question", "--json", question];
    let answers = [("declines): ", "7"), ("from 1 to 2: ", "2")];
    let (code, shown, out) = typing(&world, &words, &answers);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("Which way?") && shown.contains("2. right"), "{shown}");
    assert!(out.contains("The person chose: right"), "{out}");
    let words = ["call", "ask_user_question", "question=Why?"];
    let (_, _, out) = typing(&world, &words, &[("declines): ", "because")]);
    assert!(out.contains("The person wrote: because"), "{out}");
}

#[test]
fn a_plan_is_approved_at_the_terminal_and_the_session_remembers() {
    let world = world();
    let session = ["--session", "s", "--mode", "accept-edits"];
    world.run(&[&["call", "enter_plan_mode"][..], &session].concat()).exits(0).says("Plan mode");
    let write = [&["call", "write", "file_path=a.txt", "content=x"][..], &session].concat();
    world.run(&write).exits(3).complains("by plan mode");
    let exit = [&["call", "exit_plan_mode", "plan=Write a.txt."][..], &session].concat();
    world.run(&exit).exits(0).says("Nobody can be asked here");
    world.run(&write).exits(3).complains("by plan mode");
    let (code, shown, out) = typing(&world, &exit, &[("declines): ", "1")]);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("Write a.txt.") && out.contains("Approved"), "{shown}{out}");
    world.run(&write).exits(0);
    world.run(&["call", "enter_plan_mode"]).exits(1).complains("NIKA-603");
}
