//! `cargo xtask fuzz [N]`: the fuzz campaigns, one after another. A campaign is an example of the crate whose parser it
//! attacks, taking a count and a seed, and exiting non-zero at the first input that breaks a promise: so a campaign is
//! plain code beside what it tests, and a failure is repeated by its seed.
//!
//! `cargo xtask fuzz scripts` takes what people wrote instead: every shell script of the machine, against bash.

use std::path::Path;

use anyhow::{bail, ensure};

use crate::args::Args;
use crate::{paths, process};

/// A campaign is `cargo run --release -p PACKAGE --example EXAMPLE -- N SEED [WHAT]`.
struct Campaign {
    name: &'static str,
    package: &'static str,
    example: &'static str,
    what: Option<&'static str>,
    attacks: &'static str,
}

const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        name: "edit",
        package: "nika-edit",
        example: "fuzz",
        what: None,
        attacks: "the edit matcher and the decoder",
    },
    Campaign {
        name: "guard",
        package: "nika-guard",
        example: "fuzz",
        what: None,
        attacks: "rules, effects and path patterns",
    },
    Campaign {
        name: "commands",
        package: "nika-guard",
        example: "fuzz",
        what: Some("bash"),
        attacks: "the reading of shell commands, and its canonical print",
    },
];

/// Inputs a campaign, unless N is given: some seconds each.
const DEFAULT_INPUTS: u64 = 1_000_000;

pub(crate) fn run(mut args: Args) -> anyhow::Result<()> {
    let word = args.word();
    if word.as_deref() == Some("scripts") {
        return scripts(args);
    }
    let seed = args.number("--seed", 1)?;
    let only = args.value("--only")?;
    let inputs = match word {
        Some(text) => text.replace('_', "").parse()?,
        None => DEFAULT_INPUTS,
    };
    args.finish()?;

    let chosen: Vec<&Campaign> =
        CAMPAIGNS.iter().filter(|campaign| only.as_deref().is_none_or(|name| name == campaign.name)).collect();
    ensure!(!chosen.is_empty(), "there is no campaign '{}'", only.unwrap_or_default());

    let workspace = paths::workspace();
    let (mut passed, mut failed) = (0, Vec::new());
    for campaign in chosen {
        println!("== {}: {}, {inputs} inputs, seed {seed}", campaign.name, campaign.attacks);
        let (count, seed) = (inputs.to_string(), seed.to_string());
        let mut command =
            vec!["run", "--release", "-p", campaign.package, "--example", campaign.example, "--", &count, &seed];
        command.extend(campaign.what);
        match process::run(&workspace, Path::new("cargo"), &command) {
            Ok(()) => passed += 1,
            Err(error) => failed.push(format!("{}: {error}", campaign.name)),
        }
    }
    println!("{passed} passed, {} failed", failed.len());
    if !failed.is_empty() {
        bail!("{}", failed.join("\n"));
    }
    Ok(())
}

/// Where scripts are, besides the packages that cargo fetched.
const SCRIPTS: &[&str] = &["/usr", "/etc", "/opt"];

/// Our reading of the shell scripts below `--dir` (may be given again and again) beside bash's. Nothing is executed.
fn scripts(mut args: Args) -> anyhow::Result<()> {
    let mut places = Vec::new();
    while let Some(place) = args.value("--dir")? {
        places.push(place);
    }
    let show = args.flag("--show");
    args.finish()?;
    if places.is_empty() {
        places.extend(SCRIPTS.iter().map(|place| (*place).to_owned()));
        let home = std::env::var("HOME").map(|home| format!("{home}/.cargo"));
        places.extend(std::env::var("CARGO_HOME").or(home).map(|cargo| format!("{cargo}/registry")));
    }
    let mut command = vec!["run", "--release", "-p", "nika-guard", "--example", "scripts", "--"];
    command.extend(show.then_some("--show"));
    command.extend(places.iter().map(String::as_str));
    process::run(&paths::workspace(), Path::new("cargo"), &command)
}
