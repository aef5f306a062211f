//! What `bench grep` and `bench glob` share: whole processes timed in turn (A B A B …), Nika's results compared with the
//! peer's, and a table with the ratio that the goal is about.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::client::{Client, Launch};
use super::ours::{self, Ours};
use super::raw::Raw;
use super::stats::{geomean, median};
use super::table::{Table, keep, time};
use super::verdict::Verdict;
use super::{machine, peers};
use crate::args::Args;
use crate::{paths, process as programs};

/// What a line of a result looks like, to tell results from what is said around them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `path`
    Paths,
    /// `path:12`
    Counts,
    /// `path:12:text`, context as `path-12-text`
    Lines,
}

/// One thing to search for: how the peers are asked (the first is the one to beat), and how Nika is.
pub(crate) struct Case {
    pub name: String,
    pub rivals: Vec<Vec<String>>,
    pub tool: &'static str,
    pub arguments: Value,
    pub shape: Shape,
}

/// The goal over all cases.
pub(crate) struct Goal {
    pub geomean: f64,
    pub worst: f64,
}

/// What a bench of this kind was told.
pub(crate) struct Setup {
    pub tree: PathBuf,
    rounds: usize,
    ours: Option<Ours>,
    served: bool,
    pub rg: String,
    versions: Vec<String>,
}

impl Setup {
    pub(crate) fn from_args(mut args: Args) -> Result<Self> {
        let tree = super::tree::existing(&mut args)?;
        let rounds = args.number("--rounds", 5)? as usize;
        let served = args.flag("--server");
        let ours = Ours::from_args(&mut args)?;
        args.finish()?;
        let peers = peers::peers()?;
        let git = programs::output(&tree, Path::new("git"), &["--version"])?;
        let mut versions = vec![peers.versions()?.swap_remove(0), git.trim().to_owned()];
        versions.extend(ours.as_ref().map(Ours::version).transpose()?);
        Ok(Setup { tree, rounds: rounds.max(1), ours, served, rg: peers.rg.to_string_lossy().into_owned(), versions })
    }
}

/// Measures every case and prints one line each; `names` are the rivals' column heads.
pub(crate) fn run(bench: &str, setup: &Setup, names: &[&str], cases: &[Case], goal: &Goal) -> Result<()> {
    println!("{}\ntree {}, load {}", setup.versions.join("\n"), setup.tree.display(), machine::load());
    machine::warn_if_busy();
    let mut server = match &setup.ours {
        Some(ours) if setup.served => Some(serve(ours, &setup.tree)?),
        _ => None,
    };
    let mut table = Table::new(["case"].into_iter().chain(names.iter().copied()).chain([
        "nika",
        "ratio",
        "results",
        "ulimit -n 1024",
    ]));
    let (mut ratios, mut raw, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let mut verdict = Verdict::default();
    for case in cases {
        eprintln!("{}", case.name);
        let mut theirs = vec![Vec::new(); case.rivals.len()];
        let mut mine = Vec::new();
        let (mut expected, mut found) = (String::new(), String::new());
        // Round 0 warms the page cache and keeps the results.
        for round in 0..=setup.rounds {
            for (command, samples) in case.rivals.iter().zip(&mut theirs) {
                let (elapsed, text) = process(command, &setup.tree, false)?;
                if round > 0 {
                    samples.push(elapsed.as_secs_f64() * 1e6);
                } else if expected.is_empty() {
                    expected = text;
                }
            }
            let Some(ours) = &setup.ours else { continue };
            let (elapsed, text) = match &mut server {
                Some(client) => served(client, case)?,
                None => process(&ours.call(case.tool, &case.arguments, &setup.tree), &setup.tree, false)?,
            };
            if round > 0 {
                mine.push(elapsed.as_secs_f64() * 1e6);
            } else {
                found = text;
            }
        }
        let ratio = median(&mine).zip(median(&theirs[0])).map(|(mine, theirs)| mine / theirs);
        ratios.extend(ratio);
        let (results, few_files) = match &setup.ours {
            None => ("–".to_owned(), "–".to_owned()),
            Some(ours) => {
                let (_, limited) = process(&ours.call(case.tool, &case.arguments, &setup.tree), &setup.tree, true)?;
                let mut compared = |text: &str, how: &str| {
                    let same = compare(&expected, text, case.shape, &setup.tree);
                    verdict.judge(&format!("{}: the same results{how}", case.name), same.is_ok());
                    same.map_or_else(|differ| differ, |total| format!("equal ({total})"))
                };
                (compared(&found, ""), compared(&limited, " with few files open"))
            }
        };
        let mut cells = vec![case.name.clone()];
        cells.extend(theirs.iter().map(|samples| time(median(samples))));
        let shown = ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}"));
        cells.extend([time(median(&mine)), shown, results, few_files]);
        table.row(cells);
        let named = names.iter().copied().zip(&theirs).chain([("nika", &mine)]);
        let measured = named.filter(|(_, samples)| !samples.is_empty());
        lines.extend(measured.map(|(name, samples)| Raw::new(format!("{}, {name}", case.name), "µs", samples)));
        raw.push(json!({"case": case.name, "rivals": names, "rival_us": theirs, "nika_us": mine}));
    }
    println!("\n{}", table.text());
    if let (Some(mean), Some(worst)) = (geomean(&ratios), ratios.iter().copied().reduce(f64::max)) {
        let mut told = |what: &str, figure: f64, most: f64| {
            let ok = verdict.judge(&format!("{what} {figure:.2} (≤ {most})"), figure <= most);
            println!("{what:7} {figure:.2} (≤ {most}: {ok})");
        };
        told("geomean", mean, goal.geomean);
        told("worst", worst, goal.worst);
    }
    println!("load {} at the end", machine::load());
    keep(bench, &lines, &json!({"machine": machine::facts(), "versions": setup.versions, "cases": raw}))?;
    verdict.finish()
}

/// Runs a program in the tree and reads all it prints: its time ends when it has ended.
fn process(command: &[String], tree: &Path, few_files: bool) -> Result<(Duration, String)> {
    let (program, args) = command.split_first().context("an empty command")?;
    let mut process = if few_files {
        // The shell sets the limit and becomes the program.
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -n 1024; exec \"$@\"", "sh", program]);
        shell
    } else {
        Command::new(program)
    };
    process.args(args).current_dir(tree).envs(ours::environment()?).stdin(Stdio::null()).stderr(Stdio::piped());
    let begun = Instant::now();
    let out = process.stdout(Stdio::piped()).output().with_context(|| format!("cannot start {program}"))?;
    let elapsed = begun.elapsed();
    // 1 is how rg says that nothing matched.
    let code = out.status.code();
    ensure!(
        code == Some(0) || (code == Some(1) && out.stderr.is_empty()),
        "{}: {}\n{}",
        out.status,
        command.join(" "),
        String::from_utf8_lossy(&out.stderr).chars().take(500).collect::<String>()
    );
    Ok((elapsed, String::from_utf8_lossy(&out.stdout).into_owned()))
}

fn serve(ours: &Ours, tree: &Path) -> Result<Client> {
    let launch = Launch { name: "nika".to_owned(), command: ours.serve(tree), env: ours::environment()? };
    Ok(Client::start(&launch, &paths::made("bench")?)?.0)
}

fn served(client: &mut Client, case: &Case) -> Result<(Duration, String)> {
    let (elapsed, result) = client.call(&format!("nika_{}", case.tool), &case.arguments)?;
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    Ok((elapsed, text.join("\n")))
}

/// Whether two outputs hold the same results, in any order: how many, or in what they differ. A line of ours that has no
/// result's shape is something said around the results (the completeness record, a note) and does not count.
fn compare(expected: &str, found: &str, shape: Shape, tree: &Path) -> Result<usize, String> {
    let mut balance: HashMap<&str, i64> = HashMap::new();
    let mut total = 0;
    for line in results(expected) {
        *balance.entry(line).or_default() += 1;
        total += 1;
    }
    for line in results(found) {
        *balance.entry(line).or_default() -= 1;
    }
    let missing: i64 = balance.values().filter(|count| **count > 0).sum();
    let extra = |(line, count): (&&str, &i64)| *count < 0 && is_result(line, shape, tree);
    let extra = balance.iter().filter(|entry| extra(*entry)).count();
    if missing == 0 && extra == 0 {
        return Ok(total);
    }
    Err(format!("DIFFER: {missing} missing, {extra} extra of {total}"))
}

/// The lines of an output without `./` in front and without what separates context. Very long lines by their start:
/// Nika cuts them, rg does not.
fn results(text: &str) -> impl Iterator<Item = &str> {
    const ENOUGH: usize = 400;
    text.lines()
        .map(|line| line.strip_prefix("./").unwrap_or(line))
        .filter(|line| !line.is_empty() && *line != "--")
        .map(|line| line.char_indices().nth(ENOUGH).map_or(line, |(at, _)| &line[..at]))
}

fn is_result(line: &str, shape: Shape, tree: &Path) -> bool {
    let is_file = |path: &str| !path.is_empty() && tree.join(path).is_file();
    let numbered = |mark: char| {
        let ends = line.match_indices(mark).map(|(at, _)| at);
        ends.take(20).any(|at| line[at + 1..].starts_with(|c: char| c.is_ascii_digit()) && is_file(&line[..at]))
    };
    match shape {
        Shape::Paths => is_file(line),
        Shape::Counts => numbered(':'),
        Shape::Lines => numbered(':') || numbered('-'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_remarks_do_not_matter_but_results_do() {
        let tree = paths::workspace();
        let same = |found: &str| compare("./Cargo.toml\n./xtask/Cargo.toml\n", found, Shape::Paths, &tree);
        assert_eq!(same("xtask/Cargo.toml\nCargo.toml\n\n2 files, 9 scanned\n"), Ok(2));
        let differs = |missing: u32, extra: u32| Err(format!("DIFFER: {missing} missing, {extra} extra of 2"));
        assert_eq!(same("Cargo.toml\n"), differs(1, 0));
        assert_eq!(same("Cargo.toml\nxtask/Cargo.toml\nxtask/src/main.rs\n"), differs(0, 1));
        assert!(is_result("Cargo.toml-12-text", Shape::Lines, &tree));
        assert!(!is_result("searched: 12 files", Shape::Counts, &tree));
    }
}
