//! `bench glob`: Nika's glob, newest first, against `rg --files`, which need not sort, and against git's own index.

use anyhow::Result;
use serde_json::json;

use super::search::{self, Case, Goal, Setup, Shape};
use crate::args::Args;

/// Many files, few files everywhere, and one part of the tree.
const PATTERNS: &[&str] = &["**/*.c", "**/Makefile", "drivers/net/**/*.h"];

/// The unsorted `rg --files` is the one to beat, although Nika sorts.
const RIVALS: &[&str] = &["rg --files", "rg --files --sortr", "git ls-files"];

const GOAL: Goal = Goal { geomean: 0.9, worst: 1.0 };

/// More than the tree has, so that results can be compared.
const ALL: u64 = 1_000_000;

pub(crate) fn run(args: Args) -> Result<()> {
    let setup = Setup::from_args(args)?;
    let cases: Vec<Case> = PATTERNS.iter().map(|pattern| case(pattern, &setup.rg)).collect();
    search::run("glob", &setup, RIVALS, &cases, &GOAL)
}

fn case(pattern: &str, rg: &str) -> Case {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let rivals = vec![
        words(&[rg, "--no-config", "--files", "--glob", pattern, "./"]),
        words(&[rg, "--no-config", "--files", "--sortr", "modified", "--glob", pattern, "./"]),
        words(&["git", "ls-files", "--", &format!(":(glob){pattern}")]),
    ];
    let arguments = json!({"pattern": pattern, "limit": ALL});
    Case { name: pattern.to_owned(), rivals, tool: "glob", arguments, shape: Shape::Paths }
}
