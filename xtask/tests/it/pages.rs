//! What is generated is as generated, and what the README shows happens.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The program: built beside this one by a test run of the workspace, else built now.
pub fn nika() -> PathBuf {
    let xtask = Path::new(env!("CARGO_BIN_EXE_xtask"));
    let beside = xtask.with_file_name("nika");
    if !beside.exists() {
        let built = Command::new(env!("CARGO")).args(["build", "--quiet", "--package", "nika-cli"]).status();
        assert!(built.expect("cargo starts").success(), "nika-cli builds");
    }
    beside
}

fn xtask(words: &[&str]) {
    let ran = Command::new(env!("CARGO_BIN_EXE_xtask")).args(words).arg("--nika").arg(nika()).output();
    let ran = ran.expect("it starts");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(ran.status.success(), "{}\n{}", said(&ran.stdout), said(&ran.stderr));
}

#[test]
fn generated_files_equal_their_generators_output() {
    xtask(&["codegen", "--check"]);
}

#[test]
fn the_readmes_examples_print_what_they_show() {
    xtask(&["demo"]);
}

#[test]
fn the_examples_of_the_pages_on_beginning_and_on_older_workflows_print_what_they_show() {
    for page in ["docs/init.md", "docs/older-workflows.md"] {
        xtask(&["demo", "--page", page]);
    }
}

#[test]
fn the_examples_of_the_page_on_commands_print_what_they_show() {
    let confined = Command::new(nika()).args(["sandbox", "exec", "--", "true"]).status();
    if !confined.is_ok_and(|status| status.success()) {
        eprintln!("skipped: the sandbox cannot be had here");
        return;
    }
    xtask(&["demo", "--page", "docs/shell.md"]);
}

#[test]
fn the_examples_of_the_pages_on_agents_tasks_and_the_web_print_what_they_show() {
    for page in ["docs/agent.md", "docs/tasks.md", "docs/web.md"] {
        xtask(&["demo", "--page", page]);
    }
}
