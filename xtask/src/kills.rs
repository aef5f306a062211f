//! `cargo xtask kills [N] [--release]`: the tests that kill the program at random moments, again and again, with the numbers that a
//! release is tried with; N is a number for all of them. With few kills they run among all tests. The moments are seeded,
//! where they fall is the machine's; of fewer than fifty all may fall before what they should interrupt, and then the test says so.

use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::args::Args;
use crate::paths;

/// A campaign is a test that asks `NIKA_TEST_ROUNDS` how often it kills.
struct Campaign {
    package: &'static str,
    target: &'static str,
    test: &'static str,
    kills: &'static str,
    rounds: u64,
}

const CAMPAIGNS: &[Campaign] = &[
    Campaign {
        package: "nika-cli",
        target: "it",
        test: "durability::a_killed_change_set_is_whole_or_nothing",
        kills: "change sets",
        rounds: 1_000,
    },
    Campaign {
        package: "nika-cli",
        target: "it",
        test: "durability::a_killed_writer_leaves_a_database",
        kills: "writers of tasks and plans",
        rounds: 200,
    },
    Campaign {
        package: "nika-cli",
        target: "it",
        test: "shell_killed::a_kill_at_any_moment_leaves_the_old_state_or_the_new_one_and_undo_is_whole",
        kills: "commands that change files",
        rounds: 200,
    },
    Campaign {
        package: "nika-cli",
        target: "it",
        test: "shell_recorded::killed_with_a_job_at_work_what_it_did_so_far_is_taken_back_at_the_next_start",
        kills: "jobs that change files",
        rounds: 100,
    },
    Campaign {
        package: "nika-agent",
        target: "it",
        test: "kills::a_session_that_is_killed_loses_and_doubles_no_call",
        kills: "sessions of agents",
        rounds: 1_000,
    },
    Campaign {
        package: "nika-cli",
        target: "it",
        test: "runs::a_killed_run_goes_on_to_the_same_end",
        kills: "runs of workflows",
        rounds: 200,
    },
];

pub(crate) fn run(mut args: Args) -> anyhow::Result<()> {
    let (only, release) = (args.value("--only")?, args.flag("--release"));
    let rounds: Option<u64> = match args.word() {
        Some(text) => Some(text.replace('_', "").parse().with_context(|| format!("'{text}' is no number of kills"))?),
        None => None,
    };
    args.finish()?;
    let wanted = |campaign: &&Campaign| only.as_deref().is_none_or(|word| campaign.test.contains(word));
    let chosen: Vec<&Campaign> = CAMPAIGNS.iter().filter(wanted).collect();
    ensure!(!chosen.is_empty(), "no campaign's test is called '{}'", only.unwrap_or_default());
    let mut failed = Vec::new();
    for campaign in &chosen {
        let rounds = rounds.unwrap_or(campaign.rounds);
        println!("== {}: {rounds} kills", campaign.kills);
        if let Err(error) = one(campaign, rounds, release) {
            failed.push(format!("{}: {error}", campaign.test));
        }
    }
    println!("{} passed, {} failed", chosen.len() - failed.len(), failed.len());
    if !failed.is_empty() {
        bail!("{}", failed.join("\n"));
    }
    Ok(())
}

fn one(campaign: &Campaign, rounds: u64, release: bool) -> anyhow::Result<()> {
    let built: &[&str] = if release { &["--release"] } else { &[] };
    let out = Command::new("cargo")
        .args(["test", "-p", campaign.package])
        .args(built)
        .args(["--test", campaign.target, "--", "--exact", "--nocapture", campaign.test])
        .env("NIKA_TEST_ROUNDS", rounds.to_string())
        .current_dir(paths::workspace())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    let said = String::from_utf8_lossy(&out.stdout);
    print!("{said}");
    ensure!(out.status.success(), "it failed");
    // A name that no test has runs none and succeeds.
    ensure!(said.contains("test result: ok. 1 passed"), "there is no such test: tell xtask/src/kills.rs its name");
    Ok(())
}
