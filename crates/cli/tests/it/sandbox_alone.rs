//! `nika sandbox exec` without namespaces: nothing of the command outlives the program, however either ends.

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::world::{World, until_run, world};

/// `command` where the system grants its user none of `what`: a file of `/proc/sys/user`.
pub fn without(what: &str, command: &Command) -> Command {
    let mut outer = Command::new("unshare");
    outer.args(["-U", "-r", "sh", "-c", &format!("echo 0 > /proc/sys/user/{what}; exec \"$@\""), "sh"]);
    outer.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        outer.env(name, value.unwrap_or_default());
    }
    outer.current_dir(command.get_current_dir().expect("a world has its place"));
    outer
}

/// The program where no namespace can be had.
fn without_namespaces(world: &World, script: &str) -> Command {
    let inner = world.nika(&["sandbox", "exec", "--landlock-only", "--", "sh", "-c", script]);
    let mut outer = without("max_user_namespaces", &inner);
    outer.stdin(Stdio::null()).stdout(Stdio::null());
    outer
}

#[test]
fn nothing_of_a_command_outlives_the_program_where_no_world_ends_with_it() {
    let world = world();
    let tried = without_namespaces(&world, "exit 7").stderr(Stdio::piped()).output();
    let falls_back = tried.is_ok_and(|tried| {
        tried.status.code() == Some(7) && String::from_utf8_lossy(&tried.stderr).contains("not guaranteed")
    });
    if !falls_back {
        eprintln!("skipped: there is no place without namespaces here");
        return;
    }
    for (seconds, signal) in [("952.25", Signal::TERM), ("952.26", Signal::INT), ("952.27", Signal::KILL)] {
        let script = format!("setsid sleep {seconds} & sleep {seconds}; true");
        let mut program = without_namespaces(&world, &script).stderr(Stdio::null()).spawn().expect("it starts");
        until_run(&["sleep", seconds], 2);
        kill_process(Pid::from_child(&program), signal).expect("it runs");
        program.wait().expect("it ends");
        until_run(&["sleep", seconds], 0);
    }
    // And at its own end.
    let script = "setsid sleep 952.28 & (setsid sh -c 'sleep 952.28; true' &); exit 3";
    let ended = without_namespaces(&world, script).stderr(Stdio::null()).status().expect("it starts");
    assert_eq!(ended.code(), Some(3));
    until_run(&["sleep", "952.28"], 0);
}
