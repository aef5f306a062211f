//! `cargo xtask demo`: the main job, and then the README's examples, run in a scratch folder. Builds the release program
//! first, so that it is also the one command that shows the main job on a fresh machine.
//!
//! The main job is done twice. A small repository that is made here has all of it: its tests run in the sandbox, and
//! where a key of a model is set, the summary is written. This repository is looked through without its tests, which
//! take minutes, and no model is told of it.
//!
//! A fenced block `console` is a story: lines that begin with `$ ` are commands for `sh`, the lines below one are what
//! it prints. A line `…` stands for any lines, `…` inside a line for any text. All blocks of a file share one folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::{codegen, paths};

const README: &str = "README.md";
/// The main job.
const WORKFLOW: &str = "examples/repository-report.nika.yaml";
/// What it writes.
const REPORT: &str = "report/index.html";

/// A command and the lines it is said to print.
#[derive(Debug, Default, PartialEq)]
struct Step {
    line: usize,
    command: String,
    wanted: Vec<String>,
}

pub(crate) fn run(mut args: Args) -> Result<()> {
    let root = paths::workspace();
    let given = args.value("--nika")?.map(PathBuf::from);
    let page = args.value("--page")?.unwrap_or_else(|| README.to_owned());
    args.finish()?;
    let nika = match given {
        Some(nika) => nika,
        None => codegen::built(&root, "release")?,
    };
    let text = std::fs::read_to_string(root.join(&page)).with_context(|| format!("cannot read {page}"))?;
    let scratch = std::env::temp_dir().join(format!("nika-demo-{}", std::process::id()));
    for name in ["work", "home"] {
        std::fs::create_dir_all(scratch.join(name))?;
    }
    // Pages name the examples as they lie in this repository.
    std::os::unix::fs::symlink(root.join("examples"), scratch.join("work/examples"))?;
    let whole = page == README;
    if whole {
        main_job(&root, &nika, &scratch)?;
    }
    let told = steps(&text).iter().try_for_each(|step| take(step, &page, &nika, &scratch));
    std::fs::remove_dir_all(&scratch)?;
    told?;
    println!("\nThe program: {}", nika.display());
    if whole {
        println!("The report: {}", root.join(REPORT).display());
    }
    Ok(())
}

/// What the small repository holds.
const SMALL: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    (
        "src/lib.rs",
        "/// The sum of a list. TODO: say what happens when it is too large.\npub fn sum(numbers: &[u32]) -> u32 {\n    \
         numbers.iter().sum()\n}\n\n#[test]\nfn three_numbers_have_a_sum() {\n    assert_eq!(sum(&[1, 2, 3]), 6);\n}\n",
    ),
    (".gitignore", "/target\n"),
    ("README.md", "# Small\n\nA sum.\n"),
];
const COMMIT: &str =
    "git init -q . && git add . && git -c user.name=Demo -c user.email=demo@example.com commit -qm 'Add a sum'";
/// What the report has to say of its tests.
const PASSED: &str = "### cargo test: passed";
/// Where the keys of providers are named.
const KEYS: &str = "crates/cli/templates/env.example";
/// Without these a toolchain that is installed for the person is not found from another home.
const TOOLCHAIN: &[&str] = &["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];

/// The workflow of the README's first command, on a small repository of its own and on this one. Its state goes away with
/// the scratch folder.
fn main_job(root: &Path, nika: &Path, scratch: &Path) -> Result<()> {
    let small = scratch.join("small");
    for (name, text) in SMALL {
        let path = small.join(name);
        std::fs::create_dir_all(path.parent().context("it lies in the folder")?)?;
        std::fs::write(path, text)?;
    }
    let committed =
        Command::new("sh").args(["-c", COMMIT]).current_dir(&small).env("HOME", scratch.join("home")).status();
    if !committed.context("cannot start sh")?.success() {
        bail!("git cannot make the small repository");
    }
    let names = std::fs::read_to_string(root.join(KEYS)).with_context(|| format!("cannot read {KEYS}"))?;
    let keys: Vec<(&str, OsString)> = keys(&names).filter_map(|name| Some((name, std::env::var_os(name)?))).collect();
    println!(
        "A small repository, with its tests{}.",
        match keys.first() {
            Some((key, _)) => format!(", and a summary by the model whose key {key} is"),
            None => ", and without a summary, as no key of a model is set".to_owned(),
        }
    );
    report(nika, &root.join(WORKFLOW), &small, scratch, &[], &keys)?;
    let text = std::fs::read_to_string(small.join("report/index.md"))?;
    let tests: Vec<&str> = text.lines().skip_while(|line| *line != "## Tests").collect();
    let tests: Vec<&str> =
        tests.iter().copied().take_while(|line| *line == "## Tests" || !line.starts_with("## ")).collect();
    println!("\n{}\n", tests.join("\n").trim());
    if !tests.contains(&PASSED) {
        bail!("the tests of the small repository did not run in the sandbox, or did not pass");
    }
    println!("This repository, without its tests, which take minutes.");
    report(nika, Path::new(WORKFLOW), root, scratch, &["tests=false"], &[])
}

/// Runs the workflow in `dir`, with these keys and no other.
fn report(
    nika: &Path,
    workflow: &Path,
    dir: &Path,
    scratch: &Path,
    inputs: &[&str],
    keys: &[(&str, OsString)],
) -> Result<()> {
    println!("$ nika run {WORKFLOW} {}", inputs.join(" "));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut command = Command::new(nika);
    command.arg("run").arg(workflow).args(inputs).current_dir(dir).env_clear();
    command.env("PATH", path).env("HOME", scratch.join("home")).envs(toolchain()).envs(keys.iter().cloned());
    let ran = command.status().context("cannot start nika")?;
    if !ran.success() || !dir.join(REPORT).is_file() {
        bail!("{WORKFLOW} wrote no report: {ran}");
    }
    println!();
    Ok(())
}

/// What a toolchain is found by from another home.
fn toolchain() -> Vec<(&'static str, OsString)> {
    let set = |name: &'static str| Some((name, std::env::var_os(name)?));
    let mut kept: Vec<_> = TOOLCHAIN.iter().chain(&["TERM"]).filter_map(|name| set(name)).collect();
    if let Some(home) = std::env::var_os("HOME").filter(|_| std::env::var_os("RUSTUP_HOME").is_none()) {
        kept.push(("RUSTUP_HOME", Path::new(&home).join(".rustup").into_os_string()));
    }
    kept
}

/// The variables that a file of settings names: `NAME=`, also where they are commented out.
fn keys(settings: &str) -> impl Iterator<Item = &str> {
    let names = settings.lines().filter_map(|line| line.trim_start_matches(['#', ' ']).split_once('='));
    names.map(|(name, _)| name).filter(|name| name.ends_with("_API_KEY"))
}

fn take(step: &Step, page: &str, nika: &Path, scratch: &Path) -> Result<()> {
    println!("$ {}", step.command);
    let beside = nika.parent().context("the program lies in a folder")?.canonicalize()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([beside].into_iter().chain(std::env::split_paths(&path)))?;
    let ran = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{}", step.command)])
        .current_dir(scratch.join("work"))
        .env_clear()
        .env("PATH", path)
        .env("HOME", scratch.join("home"))
        .envs(toolchain())
        .stdin(Stdio::null())
        .output()
        .context("cannot start sh")?;
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    print!("{printed}");
    let lines: Vec<&str> = printed.lines().collect();
    let wanted: Vec<&str> = step.wanted.iter().map(String::as_str).collect();
    if !fits(&wanted, &lines) {
        bail!("{page}:{}: the example prints something else than it shows:\n{}", step.line, step.wanted.join("\n"));
    }
    Ok(())
}

/// Every command of every block `console`.
fn steps(page: &str) -> Vec<Step> {
    let (mut steps, mut inside) = (Vec::<Step>::new(), false);
    for (at, line) in page.lines().enumerate() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => {
                    steps.push(Step { line: at + 1, command: command.to_owned(), wanted: Vec::new() });
                }
                (None, Some(step)) => step.wanted.push(line.to_owned()),
                (None, None) => {}
            },
        }
    }
    for step in &mut steps {
        while step.wanted.last().is_some_and(String::is_empty) {
            step.wanted.pop();
        }
    }
    steps
}

fn fits(wanted: &[&str], lines: &[&str]) -> bool {
    match wanted {
        [] => lines.is_empty(),
        ["…", rest @ ..] => (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..])),
        [first, rest @ ..] => lines.first().is_some_and(|line| line_fits(first, line)) && fits(rest, &lines[1..]),
    }
}

fn line_fits(wanted: &str, line: &str) -> bool {
    let (wanted, line) = (wanted.trim_end(), line.trim_end());
    let mut pieces = wanted.split('…');
    let Some(mut rest) = line.strip_prefix(pieces.next().unwrap_or_default()) else { return false };
    let mut open = false;
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
        open = piece.is_empty();
    }
    open || rest.is_empty()
        || wanted.rsplit('…').next().is_some_and(|last| wanted.contains('…') && rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_that_the_template_names() {
        let names = std::fs::read_to_string(paths::workspace().join(KEYS)).expect("it is there");
        let found: Vec<&str> = keys(&names).collect();
        assert!(
            found.len() > 4 && found.contains(&"ANTHROPIC_API_KEY") && found.contains(&"OPENAI_API_KEY"),
            "{found:?}"
        );
        assert_eq!(keys("# A=1\nnika run x=y\n").count(), 0);
    }

    #[test]
    fn blocks_are_stories_and_dots_stand_for_anything() {
        let found = steps("a\n```console\n$ one\nx\n…\n\n$ two\n```\n```sh\n$ not\n```\n");
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].line, &*found[0].command, &*found[0].wanted),
            (3, "one", &["x".to_owned(), "…".to_owned()][..])
        );
        assert!(fits(&["x", "…"], &["x", "y", "z"]));
        assert!(fits(&["…", "call … done … ms"], &["a", "call 5 done 1.2 ms"]));
        assert!(fits(&["id …"], &["id 12"]));
        assert!(!fits(&["x"], &["x", "y"]));
        assert!(!fits(&["call … done"], &["call 5 failed"]));
        assert!(!fits(&["x", "y"], &["x"]));
    }
}
