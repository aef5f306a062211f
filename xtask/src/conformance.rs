//! `cargo xtask conformance`: the MCP conformance suite against our fixture server, for both revisions, with nothing
//! excused; with `--client` against our client. The suite and a Node.js for it are installed below `target/`; the
//! fixture prints its address and serves until it is ended here.

mod client;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::args::Args;
use crate::node::{self, Node};
use crate::{paths, process};

const SUITE: &str = "@modelcontextprotocol/conformance";
const SUITE_VERSION: &str = "0.2.0-alpha.12";
const REVISIONS: &[&str] = &["2025-11-25", "2026-07-28"];

/// The fixture: its cargo target and how it is told to listen.
const FIXTURE: &str = "nika-conformance";
const FIXTURE_ARGS: [&str; 2] = ["--http", "127.0.0.1:0"];

/// How often each status was given.
#[derive(Debug, Default)]
struct Counts(BTreeMap<String, usize>);

impl Counts {
    fn of_all<'a>(checks: impl Iterator<Item = &'a Value>) -> Counts {
        let mut counts = Counts::default();
        for check in checks {
            *counts.0.entry(check["status"].as_str().unwrap_or("?").to_owned()).or_default() += 1;
        }
        counts
    }

    fn of(&self, status: &str) -> usize {
        self.0.get(status).copied().unwrap_or(0)
    }
}

/// Ends the fixture however this ends.
struct Fixture {
    child: Child,
    url: String,
}

pub(crate) fn run(mut args: Args) -> Result<()> {
    let only = args.value("--scenario")?;
    let given = args.value("--url")?;
    let verbose = args.flag("--verbose");
    let as_client = args.flag("--client");
    args.finish()?;

    let dir = paths::made("conformance")?;
    let node = node::node()?;
    node.install(&dir, &[&format!("{SUITE}@{SUITE_VERSION}")])?;
    if as_client {
        println!("{SUITE} {}, our client", node::version(&dir, SUITE)?);
        return client::run(&node, &dir, only.as_deref(), verbose);
    }
    let fixture = match &given {
        Some(_) => None,
        None => Some(Fixture::start()?),
    };
    let url = given.or_else(|| fixture.as_ref().map(|fixture| fixture.url.clone())).unwrap_or_default();

    println!("{SUITE} {}, {url}", node::version(&dir, SUITE)?);
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for revision in REVISIONS {
        let results = dir.join("results").join(revision);
        let ran = suite(&node, &dir, &results, &url, revision, only.as_deref(), verbose)?;
        let counts = ran.counts();
        println!(
            "{revision}: {} scenarios, {} passed, {} failed, {} skipped, {} warnings",
            ran.0.len(),
            counts.of("SUCCESS"),
            counts.of("FAILURE"),
            counts.of("SKIPPED"),
            counts.of("WARNING")
        );
        ran.print_unclean();
        ensure!(only.is_some() || !ran.0.is_empty(), "no scenario ran for {revision}");
        passed += counts.of("SUCCESS");
        failed += counts.of("FAILURE");
        skipped += counts.of("SKIPPED");
    }
    // The form that a CI reads.
    println!("conformance: {passed} passed, {failed} failed, {skipped} skipped");
    if failed > 0 {
        bail!("{failed} conformance checks failed; what was sent is in {}", dir.join("results").display());
    }
    ensure!(passed > 0, "no conformance check passed");
    Ok(())
}

/// The checks of each scenario, as the suite wrote them.
struct Ran(Vec<(String, Vec<Value>)>);

/// Runs the suite for one revision. Its exit code is not asked: it says nothing that its files do not.
fn suite(
    node: &Node,
    dir: &Path,
    results: &Path,
    url: &str,
    revision: &str,
    only: Option<&str>,
    verbose: bool,
) -> Result<Ran> {
    let _ = std::fs::remove_dir_all(results);
    std::fs::create_dir_all(results)?;
    let script = dir.join("node_modules").join(SUITE).join("dist/index.js");
    let mut command = Command::new(&node.program);
    command.arg(script).args(["server", "--url", url, "--spec-version", revision, "--output-dir"]).arg(results);
    match only {
        Some(scenario) => command.args(["--scenario", scenario]),
        // All: the "pending" scenarios too, which the suite's own selection leaves out.
        None => command.args(["--suite", "all"]),
    };
    let log = results.join("suite.log");
    let out = std::fs::File::create(&log)?;
    let errors = out.try_clone()?;
    if verbose {
        command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
    } else {
        command.stdout(out).stderr(errors);
    }
    command.current_dir(dir).stdin(Stdio::null()).status().context("cannot start the suite")?;
    read_results(results)
}

/// One folder a scenario: `server-NAME-<time>/checks.json`.
fn read_results(results: &Path) -> Result<Ran> {
    let mut ran = Vec::new();
    for entry in std::fs::read_dir(results)? {
        let folder = entry?.path();
        let Ok(text) = std::fs::read_to_string(folder.join("checks.json")) else { continue };
        let checks: Vec<Value> = serde_json::from_str(&text)?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        ran.push((scenario(&name).to_owned(), checks));
    }
    ran.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(Ran(ran))
}

/// `server-tools-list-2026-…` is about `tools-list`.
fn scenario(folder: &str) -> &str {
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    name.find("-20").map_or(name, |at| {
        let stamp =
            name.rmatch_indices("-20").find(|(at, _)| name[at + 1..].len() > 15 && name[at + 1..].contains('T'));
        stamp.map_or(&name[..at], |(at, _)| &name[..at])
    })
}

impl Ran {
    fn counts(&self) -> Counts {
        Counts::of_all(self.0.iter().flat_map(|(_, checks)| checks))
    }

    /// Everything that is not clean, with the suite's own words.
    fn print_unclean(&self) {
        for (scenario, checks) in &self.0 {
            print_unclean(scenario, checks);
        }
    }
}

/// The checks of one scenario that are not clean.
fn print_unclean(scenario: &str, checks: &[Value]) {
    for check in checks.iter().filter(|check| matches!(check["status"].as_str(), Some("FAILURE" | "WARNING"))) {
        let text = |name: &str| check[name].as_str().unwrap_or_default();
        let said = if text("errorMessage").is_empty() { text("description") } else { text("errorMessage") };
        let said: String = said.chars().take(600).collect();
        println!("  {} {scenario}: {}: {said}", text("status"), text("id"));
    }
}

impl Fixture {
    /// Builds and starts it, and waits for the address on its first line.
    fn start() -> Result<Self> {
        let workspace = paths::workspace();
        process::run(&workspace, Path::new("cargo"), &["build", "--quiet", "--bin", FIXTURE, "--workspace"])?;
        let program: PathBuf = paths::binary("debug", FIXTURE);
        let mut child = Command::new(&program)
            .args(FIXTURE_ARGS)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let output = child.stdout.take().context("the fixture has no stdout")?;
        let mut url = String::new();
        let read = BufReader::new(output).read_line(&mut url);
        let fixture = Fixture { child, url: url.trim().to_owned() };
        read?;
        ensure!(fixture.url.starts_with("http://"), "the fixture's first line is no address: '{}'", fixture.url);
        Ok(fixture)
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::scenario;

    #[test]
    fn a_results_folder_names_its_scenario() {
        assert_eq!(scenario("server-tools-list-2026-11-21T23-04-05-678Z"), "tools-list");
        assert_eq!(scenario("server-json-schema-2020-12-2026-11-21T23-04-05-678Z"), "json-schema-2020-12");
    }
}
