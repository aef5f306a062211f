//! `cargo xtask probes`: the tests in which the tools of the web are asked for addresses that nobody may reach, by every
//! spelling, by names that lead inside and by redirects, and how many of them were reached. None may be.

use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::args::Args;
use crate::paths;

/// A test that prints `probes of WHAT: N, reached: M`, by its package, the words that choose its program, and its name.
const TESTS: &[(&str, &[&str], &str)] = &[
    ("nika-host", &["--lib"], "net::tests::no_spelling_of_an_inner_address_is_connected_to"),
    ("nika-host", &["--lib"], "net::tests::a_name_that_leads_inside_is_not_followed_there"),
    ("nika-tools", &["--test", "it"], "web::probes::no_redirect_leads_inside"),
];

pub(crate) fn run(mut args: Args) -> anyhow::Result<()> {
    let release = args.flag("--release");
    args.finish()?;
    let (mut probes, mut reached) = (0, 0);
    for (package, target, test) in TESTS {
        let said = one(package, target, test, release)?;
        let line = said.lines().find(|line| line.starts_with("probes of "));
        let line = line.with_context(|| format!("{test} does not say how many it tried"))?;
        println!("{line}");
        let (tried, met) = counts(line).with_context(|| format!("{test} says '{line}'"))?;
        (probes, reached) = (probes + tried, reached + met);
    }
    println!("{reached} of {probes} probes reached an address that is forbidden");
    if reached > 0 {
        bail!("{reached} were reached");
    }
    Ok(())
}

/// What a test printed, once it has passed.
fn one(package: &str, target: &[&str], test: &str, release: bool) -> anyhow::Result<String> {
    let built: &[&str] = if release { &["--release"] } else { &[] };
    let out = Command::new("cargo")
        .args(["test", "--quiet", "-p", package])
        .args(built)
        .args(target)
        .args(["--", "--exact", "--nocapture", test])
        .current_dir(paths::workspace())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    ensure!(out.status.success(), "{test} failed:\n{said}");
    Ok(said)
}

/// `probes of addresses: 47, reached: 0`.
fn counts(line: &str) -> Option<(u64, u64)> {
    let (_, numbers) = line.split_once(": ")?;
    let (tried, reached) = numbers.split_once(", reached: ")?;
    Some((tried.parse().ok()?, reached.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_test_is_two_numbers() {
        assert_eq!(counts("probes of addresses: 47, reached: 2"), Some((47, 2)));
        assert_eq!(counts("probes of addresses: 47"), None);
    }
}
