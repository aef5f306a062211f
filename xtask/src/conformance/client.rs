//! `cargo xtask conformance --client`: the suite's client scenarios against our client of MCP servers. Scenario by
//! scenario, so that the exit code of the client counts, too: run as a set, the suite does not look at it.
//!
//! What a revision requires has to pass, its warnings included. What the suite runs beside (extensions, scenarios of
//! later) is run and told, and decides nothing, as the suite's own requirement sets have it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::{Counts, REVISIONS, SUITE};
use crate::node::Node;
use crate::{paths, process};

/// The program that the suite starts: its cargo target.
const CLIENT: &str = "nika-conformance-client";
/// How long one scenario may take, in milliseconds.
const TIMEOUT_MS: &str = "30000";

/// What a revision of before the suite's requirement sets had: servers of then are still about.
const BEFORE: &[&str] = &["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"];

/// The scenarios of one revision.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    required: Vec<String>,
    beside: Vec<String>,
}

/// What became of one scenario.
struct Ended {
    passed: bool,
    checks: Vec<Value>,
}

pub(super) fn run(node: &Node, dir: &Path, only: Option<&str>, verbose: bool) -> Result<()> {
    let program = build()?;
    let suite = Suite { node, dir, program: &program, verbose };
    let (mut passed, mut failed, mut beside) = (0, 0, 0);
    for revision in REVISIONS {
        let asked = suite.asked(revision)?;
        ensure!(!asked.required.is_empty(), "the suite requires no client scenario for {revision}");
        let required = suite.all(revision, &asked.required, only)?;
        let other = suite.all(revision, &asked.beside, only)?;
        let told = |what: &str, all: &[(&String, Ended)]| {
            let ok = all.iter().filter(|(_, ended)| ended.passed).count();
            let counts = Counts::of_all(all.iter().flat_map(|(_, ended)| &ended.checks));
            println!(
                "{revision}: {what}: {ok} of {} scenarios, {} checks passed, {} failed, {} warnings",
                all.len(),
                counts.of("SUCCESS"),
                counts.of("FAILURE"),
                counts.of("WARNING")
            );
            for (scenario, ended) in all.iter().filter(|(_, ended)| !ended.passed) {
                println!("  not passed: {scenario}");
                super::print_unclean(scenario, &ended.checks);
            }
            ok
        };
        let ok = told("required", &required);
        passed += ok;
        failed += required.len() - ok;
        beside += told("beside", &other);
    }
    let before: Vec<String> = BEFORE.iter().map(|name| (*name).to_owned()).collect();
    for (scenario, ended) in suite.all("", &before, only)? {
        println!("2025-03-26: {scenario}: {}", if ended.passed { "passed" } else { "not passed" });
        super::print_unclean(scenario, &ended.checks);
        beside += usize::from(ended.passed);
    }
    // The form that a CI reads.
    println!("conformance of the client: {passed} required scenarios passed, {failed} failed; {beside} passed beside");
    if failed > 0 {
        bail!("{failed} required scenarios failed; what was sent is in {}", suite.results().display());
    }
    ensure!(passed + beside > 0, "no scenario was run");
    Ok(())
}

struct Suite<'a> {
    node: &'a Node,
    dir: &'a Path,
    program: &'a Path,
    verbose: bool,
}

impl Suite<'_> {
    fn results(&self) -> PathBuf {
        self.dir.join("results-client")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.node.program);
        command.arg(self.dir.join("node_modules").join(SUITE).join("dist/index.js")).current_dir(self.dir);
        command.stdin(Stdio::null());
        command
    }

    /// What the suite wants of a client for `revision`.
    fn asked(&self, revision: &str) -> Result<Asked> {
        let output =
            self.command().args(["list", "--requirements", revision]).output().context("cannot start the suite")?;
        Ok(listed(&String::from_utf8_lossy(&output.stdout)))
    }

    fn all<'s>(&self, revision: &str, scenarios: &'s [String], only: Option<&str>) -> Result<Vec<(&'s String, Ended)>> {
        let wanted = scenarios.iter().filter(|scenario| only.is_none_or(|only| only == scenario.as_str()));
        wanted.map(|scenario| Ok((scenario, self.one(revision, scenario)?))).collect()
    }

    fn one(&self, revision: &str, scenario: &str) -> Result<Ended> {
        let results = self.results().join(revision).join(scenario.replace('/', "_"));
        let _ = std::fs::remove_dir_all(&results);
        std::fs::create_dir_all(&results)?;
        let mut command = self.command();
        command.args(["client", "--scenario", scenario, "--timeout", TIMEOUT_MS, "--command"]).arg(self.program);
        command.arg("--output-dir").arg(&results);
        if !revision.is_empty() {
            // Forced: extensions stand on no revision's list, and would be skipped.
            command.args(["--spec-version", revision, "--force"]);
        }
        let log = std::fs::File::create(results.join("suite.log"))?;
        if self.verbose {
            command.stdout(Stdio::inherit()).stderr(Stdio::inherit());
        } else {
            command.stdout(log.try_clone()?).stderr(log);
        }
        let status = command.status().context("cannot start the suite")?;
        let checks = checks(&results)?;
        // A scenario that was skipped ends well, too, and has passed nothing.
        Ok(Ended { passed: status.success() && !checks.is_empty(), checks })
    }
}

/// The checks below `dir`: the suite makes a folder of the scenario's name and the time, and names hold slashes.
fn checks(dir: &Path) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            all.extend(checks(&path)?);
        } else if path.ends_with("checks.json") {
            all.extend(serde_json::from_str::<Vec<Value>>(&std::fs::read_to_string(&path)?)?);
        }
    }
    Ok(all)
}

/// Reads `list --requirements`: what is required stands below a heading, what is run beside is marked `[client]`.
fn listed(text: &str) -> Asked {
    let mut asked = Asked::default();
    let mut of_clients = false;
    for line in text.lines() {
        if let Some(name) = line.trim_start().strip_prefix("- ") {
            match name.strip_suffix(" [client]") {
                Some(name) => asked.beside.push(name.to_owned()),
                None if of_clients => asked.required.push(name.to_owned()),
                None => {}
            }
        } else if line.starts_with(|c: char| c.is_alphabetic()) {
            of_clients = line.starts_with("Client scenarios");
        }
    }
    asked
}

fn build() -> Result<PathBuf> {
    process::run(
        &paths::workspace(),
        Path::new("cargo"),
        &["build", "--quiet", "--package", "nika-testkit", "--bin", CLIENT],
    )?;
    Ok(paths::binary("debug", CLIENT))
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn what_is_required_and_what_is_run_beside_are_told_apart() {
        let asked = listed(
            "Server scenarios (test against a server):\n  - ping\n\nClient scenarios (test against a client):\n  - \
             initialize\n  - auth/basic-cimd\n\nRun and reported, but never scored:\n  extension (2):\n    - auth/dpop \
             [client]\n    - tasks-lifecycle [server]\n",
        );
        assert_eq!(asked.required, ["initialize", "auth/basic-cimd"]);
        assert_eq!(asked.beside, ["auth/dpop"]);
    }
}
