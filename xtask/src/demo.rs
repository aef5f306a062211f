//! `cargo xtask demo`: the main job on this repository, and then the README's examples, run in a scratch folder. Builds
//! the release program first, so that it is also the one command that shows the main job on a fresh machine.
//!
//! A fenced block `console` is a story: lines that begin with `$ ` are commands for `sh`, the lines below one are what
//! it prints. A line `…` stands for any lines, `…` inside a line for any text. All blocks of a file share one folder.

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

/// The workflow of the README's first command, on this repository, without its tests: they would take longer than
/// anybody watches. Its state goes away with the scratch folder; no key of the person's is handed on.
fn main_job(root: &Path, nika: &Path, scratch: &Path) -> Result<()> {
    let said = ["run", WORKFLOW, "tests=false"];
    println!("$ nika {}", said.join(" "));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let ran = Command::new(nika)
        .args(said)
        .current_dir(root)
        .env_clear()
        .env("PATH", path)
        .env("HOME", scratch.join("home"))
        .envs(std::env::var_os("TERM").map(|term| ("TERM", term)))
        .status()
        .context("cannot start nika")?;
    if !ran.success() || !root.join(REPORT).is_file() {
        bail!("{WORKFLOW} wrote no report: {ran}");
    }
    println!();
    Ok(())
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
