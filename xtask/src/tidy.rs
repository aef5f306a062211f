//! `cargo xtask tidy`: the walls of `ARCHITECTURE.md`, checked over manifests and source text. Nothing is built.
//!
//! One table of checks; each says what it refuses, and a check that has exceptions says why for each of them where it
//! stands. A finding names file and line, what is wrong, and what would work. `xtask/tests/tidy.rs` runs the checks
//! over this repository, and over a small bad tree for each, so that a check that cannot fail is noticed.

mod clean;
mod files;
mod host;
mod manifests;
mod tables;
mod tree;
mod walls;

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::args::Args;
use crate::paths;
use tree::Tree;

/// One check.
struct Check {
    name: &'static str,
    refuses: &'static str,
    run: fn(&Tree, &mut Findings),
}

const CHECKS: &[Check] = &[
    Check { name: "floors", refuses: "a crate that depends on its own floor or a higher one", run: manifests::floors },
    Check { name: "owners", refuses: "a library outside the crate that owns it", run: manifests::owners },
    Check { name: "licence", refuses: "a package without the common licence, lints or name", run: manifests::licence },
    Check { name: "pure", refuses: "files, processes, clock or async in guard and edit", run: walls::pure },
    Check { name: "permit", refuses: "a Permit made outside guard", run: walls::permit },
    Check {
        name: "host-takes-permit",
        refuses: "a public host function without Permit or Cx",
        run: host::takes_permit,
    },
    Check { name: "processes", refuses: "starting a process outside host", run: walls::processes },
    Check { name: "file-writes", refuses: "changing files outside host, and store's own", run: walls::file_writes },
    Check { name: "sockets", refuses: "sockets outside host, and mcp's listener", run: walls::sockets },
    Check { name: "unsafe", refuses: "the word unsafe outside host", run: walls::unsafe_code },
    Check { name: "printing", refuses: "the terminal outside cli", run: walls::printing },
    Check { name: "environment", refuses: "environment and current directory outside cli", run: walls::environment },
    Check { name: "statics", refuses: "a static that can change", run: walls::statics },
    Check { name: "unfinished", refuses: "ignored tests, todo!, unimplemented!", run: walls::unfinished },
    Check { name: "sleeping-tests", refuses: "a test that sleeps", run: walls::sleeping_tests },
    Check { name: "opening-words", refuses: "a module that does not open with //!", run: files::opening_words },
    Check { name: "file-names", refuses: "util.rs, common.rs and the like", run: files::names },
    Check { name: "file-length", refuses: "a source file of more than 900 lines", run: files::length },
    Check { name: "machine-paths", refuses: "a path or host of one machine", run: files::machine_paths },
    Check { name: "codes", refuses: "a code that nothing raises or no page explains", run: tables::codes },
    Check { name: "events", refuses: "an event that nothing writes or no page explains", run: tables::events },
    Check {
        name: "tools",
        refuses: "a tool listed twice or nowhere, or without schema, example or test",
        run: tables::tools,
    },
];

/// What the checks found, ready to print.
#[derive(Debug, Default)]
struct Findings(Vec<String>);

impl Findings {
    fn add(&mut self, path: &str, line: usize, what: impl std::fmt::Display, instead: impl std::fmt::Display) {
        self.0.push(format!("{path}:{line}: {what}; {instead}"));
    }
}

pub(crate) fn run(mut args: Args) -> Result<()> {
    let root = args.value("--root")?.map_or_else(paths::workspace, PathBuf::from);
    let only = args.value("--only")?;
    let list = args.flag("--list");
    args.finish()?;
    if list {
        let width = CHECKS.iter().map(|check| check.name.len()).max().unwrap_or(0);
        CHECKS.iter().for_each(|check| println!("{:width$}  refuses {}", check.name, check.refuses));
        return Ok(());
    }
    let chosen: Vec<&Check> =
        CHECKS.iter().filter(|check| only.as_deref().is_none_or(|name| name == check.name)).collect();
    if chosen.is_empty() {
        bail!("there is no check '{}'; `cargo xtask tidy --list` names them", only.unwrap_or_default());
    }
    let tree = Tree::read(&root)?;
    let mut count = 0;
    for check in &chosen {
        let mut findings = Findings::default();
        (check.run)(&tree, &mut findings);
        findings.0.iter().for_each(|finding| println!("{finding} [{}]", check.name));
        count += findings.0.len();
    }
    if count > 0 {
        bail!("{count} finding(s)");
    }
    println!("tidy: {} checks over {} files, nothing found", chosen.len(), tree.len());
    Ok(())
}
