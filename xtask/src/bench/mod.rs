//! `cargo xtask bench …`: Nika beside its peers, in one run on one machine, so that a figure is never compared with a
//! figure of another day. Each bench prints the versions, a table, and its raw samples ([`raw`]), keeps these in
//! `target/bench/*.json`, too, and fails when a stated figure was not reached ([`verdict`]).
//!
//! Every measuring bench runs from a release build of this program: the client and the bare floor are part of what is
//! measured, and a debug build of them would flatter everyone else.

mod client;
mod floor;
mod glob;
mod grep;
mod machine;
mod mcp;
mod ours;
mod peers;
mod raw;
mod rivals;
mod scene;
mod search;
mod start;
mod stats;
mod table;
mod tokens;
mod tree;
mod verdict;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use self::raw::Raw;
use self::table::keep;
use crate::args::Args;
use crate::{Task, dispatch, paths, process};

const BENCHES: &[Task] = &[
    Task { name: "peers", help: "install the peers into target/bench/peers and print their versions", run: peers::run },
    Task {
        name: "tree",
        help: "make the Linux source tree in target/bench/linux, or check [--dir DIR]",
        run: tree::run,
    },
    Task {
        name: "mcp",
        help: "servers over stdio [--quick] [--server \"CMD ARGS\"] [--skip NAME,NAME]",
        run: |args| measured("mcp", args, mcp::run),
    },
    Task {
        name: "start",
        help: "tokens of the tools that a session begins with, beside servers' [--nika PROGRAM]",
        run: start::run,
    },
    Task {
        name: "turns",
        help: "what a turn of an agent costs beside the model and the tools [--dir DIR]",
        run: |mut args| {
            let dir = args.value("--dir")?.map_or_else(|| paths::made("bench/turns"), |dir| Ok(dir.into()))?;
            args.finish()?;
            example("nika-agent", "turnbench", &[&dir.to_string_lossy()])
        },
    },
    Task {
        name: "grep",
        help: "grep against rg [--dir TREE] [--rounds N] [--nika PROGRAM] [--server]",
        run: |args| measured("grep", args, grep::run),
    },
    Task {
        name: "glob",
        help: "glob against rg --files and git ls-files [--dir TREE] [--rounds N] [--nika PROGRAM] [--server]",
        run: |args| measured("glob", args, glob::run),
    },
    Task {
        name: "sandbox",
        help: "start of `bash -c true`: bare, in each profile, in bubblewrap [--dir TREE] [--rounds N]",
        run: |mut args| {
            let tree = args.value("--dir")?.unwrap_or_else(|| "target/bench/linux".to_owned());
            let rounds = args.number("--rounds", 200)?.to_string();
            args.finish()?;
            example("nika-host", "launch", &[&tree, &rounds])
        },
    },
    Task {
        name: "layer",
        help: "what taking a command's changes back costs: make, mount, read, apply, throw away [--dir TREE]",
        run: |mut args| {
            let tree = args.value("--dir")?.unwrap_or_else(|| "target/bench/linux".to_owned());
            args.finish()?;
            let state = paths::made("bench/layer")?;
            example("nika-host", "layer", &[&tree, &state.to_string_lossy()])
        },
    },
    Task {
        name: "commands",
        help: "reading of shell commands: the fixtures, and texts of 2 KiB",
        run: |args| {
            args.finish()?;
            example("nika-guard", "bashbench", &[])
        },
    },
    Task {
        name: "flow",
        help: "check of a workflow of 1,000 tasks; the scheduler over 10,000 tasks that do nothing",
        run: |args| {
            args.finish()?;
            // Both, whatever the first says.
            match (example("nika-flow", "checkbench", &[]), example("nika-flow", "flowbench", &[])) {
                (Err(first), Err(second)) => bail!("{first}\n{second}"),
                (first, second) => first.and(second),
            }
        },
    },
    // No help: the measured side of `mcp`, not for people.
    Task { name: "floor", help: "", run: floor::run },
];

pub(crate) fn run(args: Args) -> Result<()> {
    dispatch(BENCHES, "cargo xtask bench", args)
}

/// Runs a bench that is an example of its crate, in release. It prints all its samples, of which as much is shown as of
/// any bench's, and fails by itself where a stated figure is not reached.
fn example(package: &str, name: &str, words: &[&str]) -> Result<()> {
    let mut all = vec!["run", "--quiet", "--release", "-p", package, "--example", name, "--"];
    all.extend(words);
    let versions = machine::versions();
    println!("{versions}\nload {}", machine::load());
    machine::warn_if_busy();
    let mut raw = Vec::new();
    let ran = process::lines(&paths::workspace(), Path::new("cargo"), &all, |line| match Raw::of_line(line) {
        Some(samples) => raw.push(samples),
        None => println!("{line}"),
    });
    let samples: Vec<Value> =
        raw.iter().map(|raw| json!({"what": raw.what, "unit": raw.unit, "samples": raw.samples})).collect();
    keep(name, &raw, &json!({"machine": machine::facts(), "versions": [versions], "samples": samples}))?;
    ran
}

/// Runs a bench here if this is a release build, else in one.
fn measured(name: &str, args: Args, bench: fn(Args) -> Result<()>) -> Result<()> {
    if !cfg!(debug_assertions) {
        return bench(args);
    }
    let workspace = paths::workspace();
    process::run(&workspace, Path::new("cargo"), &["build", "--quiet", "--release", "-p", "xtask"])?;
    let program = paths::binary("release", "xtask");
    let failed = Command::new(&program).args(["bench", name]).args(args.rest()).exec();
    Err(failed).with_context(|| format!("cannot start {}", program.display()))
}
