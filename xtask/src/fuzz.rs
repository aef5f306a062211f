//! `cargo xtask fuzz [N]`: the fuzz campaigns, one after another. A campaign is an example of the crate whose parser it
//! attacks, taking a count and a seed, and exiting non-zero at the first input that breaks a promise: so a campaign is
//! plain code beside what it tests, and a failure is repeated by its seed.

use std::path::Path;

use anyhow::{bail, ensure};

use crate::args::Args;
use crate::{paths, process};

/// A campaign is `cargo run --release -p PACKAGE --example EXAMPLE -- N SEED`.
struct Campaign {
    name: &'static str,
    package: &'static str,
    example: &'static str,
    attacks: &'static str,
}

const CAMPAIGNS: &[Campaign] = &[
    Campaign { name: "edit", package: "nika-edit", example: "fuzz", attacks: "the edit matcher and the decoder" },
    Campaign { name: "guard", package: "nika-guard", example: "fuzz", attacks: "rules, effects and path patterns" },
    Campaign { name: "search", package: "nika-search", example: "fuzz", attacks: "globs, ignore files, regex options" },
];

/// Inputs a campaign, unless N is given: some seconds each.
const DEFAULT_INPUTS: u64 = 1_000_000;

pub(crate) fn run(mut args: Args) -> anyhow::Result<()> {
    let seed = args.number("--seed", 1)?;
    let only = args.value("--only")?;
    let inputs = match args.word() {
        Some(text) => text.replace('_', "").parse()?,
        None => DEFAULT_INPUTS,
    };
    args.finish()?;

    let chosen: Vec<&Campaign> =
        CAMPAIGNS.iter().filter(|campaign| only.as_deref().is_none_or(|name| name == campaign.name)).collect();
    ensure!(!chosen.is_empty(), "there is no campaign '{}'", only.unwrap_or_default());

    let workspace = paths::workspace();
    let (mut passed, mut failed, mut missing) = (0, Vec::new(), Vec::new());
    for campaign in chosen {
        if !source(&workspace, campaign).exists() {
            missing.push(campaign.name);
            continue;
        }
        println!("== {}: {}, {inputs} inputs, seed {seed}", campaign.name, campaign.attacks);
        let (count, seed) = (inputs.to_string(), seed.to_string());
        let command = ["run", "--release", "-p", campaign.package, "--example", campaign.example, "--", &count, &seed];
        match process::run(&workspace, Path::new("cargo"), &command) {
            Ok(()) => passed += 1,
            Err(error) => failed.push(format!("{}: {error}", campaign.name)),
        }
    }
    if !missing.is_empty() {
        println!("not written yet: {}", missing.join(", "));
    }
    println!("{passed} passed, {} failed, {} skipped", failed.len(), missing.len());
    if !failed.is_empty() {
        bail!("{}", failed.join("\n"));
    }
    Ok(())
}

fn source(workspace: &Path, campaign: &Campaign) -> std::path::PathBuf {
    let folder = campaign.package.trim_start_matches("nika-");
    workspace.join("crates").join(folder).join("examples").join(format!("{}.rs", campaign.example))
}
