//! `cargo xtask fuzz [N] [--seed S]`: the fuzz campaigns, one after another. A campaign is an example of the crate whose parser it
//! attacks, taking a count and a seed, and exiting non-zero at the first input that breaks a promise: so a campaign is
//! plain code beside what it tests, and a failure is repeated by its seed. `--built DIR` takes examples that are built
//! already, as continuous integration does for a short part of each.
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
    /// One input of so many: where each costs more than a text does.
    share: u64,
}

const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        name: "matcher",
        package: "nika-edit",
        example: "editfuzz",
        what: Some("matcher"),
        attacks: "the edit matcher: text in known encodings, changed by us and by others",
        share: 1,
    },
    Campaign {
        name: "decoder",
        package: "nika-edit",
        example: "editfuzz",
        what: Some("decoder"),
        attacks: "the decoder, diffs and merges: any bytes",
        share: 1,
    },
    Campaign {
        name: "notebooks",
        package: "nika-edit",
        example: "editfuzz",
        what: Some("notebooks"),
        attacks: "notebooks, broken and changed",
        share: 1,
    },
    Campaign {
        name: "read",
        package: "nika-tools",
        example: "readfuzz",
        what: None,
        attacks: "what `read` shows: text, pictures, PDF, notebooks, a parser's answers",
        share: 1,
    },
    Campaign {
        name: "search",
        package: "nika-search",
        example: "searchfuzz",
        what: None,
        attacks: "globs, ignore files and patterns, beside ripgrep's own crates",
        share: 1,
    },
    Campaign {
        name: "guard",
        package: "nika-guard",
        example: "guardfuzz",
        what: None,
        attacks: "rules, effects and path patterns",
        share: 1,
    },
    Campaign {
        name: "commands",
        package: "nika-guard",
        example: "guardfuzz",
        what: Some("bash"),
        attacks: "the reading of shell commands, and its canonical print",
        share: 10,
    },
];

/// Inputs a campaign, unless N is given: what a release is tried with. It takes hours.
const DEFAULT_INPUTS: u64 = 10_000_000;

pub(crate) fn run(mut args: Args) -> anyhow::Result<()> {
    let word = args.word();
    if word.as_deref() == Some("scripts") {
        return scripts(args);
    }
    let seed = args.number("--seed", 1)?;
    let only = args.value("--only")?;
    let built = args.value("--built")?;
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
        let inputs = (inputs / campaign.share).max(1);
        println!("== {}: {}, {inputs} inputs, seed {seed}", campaign.name, campaign.attacks);
        let (count, seed) = (inputs.to_string(), seed.to_string());
        let mut words = vec![count.as_str(), seed.as_str()];
        words.extend(campaign.what);
        let ran = match &built {
            Some(dir) => process::run(&workspace, &Path::new(dir).join(campaign.example), &words),
            None => {
                let mut command = vec!["run", "--release", "-p", campaign.package, "--example", campaign.example, "--"];
                command.extend(words);
                process::run(&workspace, Path::new("cargo"), &command)
            }
        };
        match ran {
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
