//! `bench mcp`: servers over stdio, side by side. Every round asks each server in turn, so that a busy moment of the
//! machine falls on all of them.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::client::{Client, Launch, Opening};
use super::machine;
use super::ours::{self, NO_FSYNC, Ours};
use super::peers::{Peers, peers};
use super::raw::Raw;
use super::rivals::{Dialect, Op, Rival};
use super::scene::{self, LAST_LINE, Scene};
use super::stats::{median, percentile};
use super::table::{Table, keep, time};
use super::tokens;
use super::verdict::Verdict;
use crate::args::Args;
use crate::paths;

/// Samples by `(what, server)`, in microseconds unless the name says otherwise.
type Samples = BTreeMap<(String, String), Vec<f64>>;

const FLOOR: &str = "floor";
const OURS: &str = "nika";
const OURS_NO_FSYNC: &str = "nika-no-fsync";

/// An operation: its name, rounds, and calls a round. More calls where calls are cheap.
const OPS: &[(Op, &str, usize, usize)] = &[
    (Op::Trivial, "trivial", 40, 50),
    (Op::ReadSmall, "read 10 KB", 40, 25),
    (Op::ReadLarge, "read 1 MB", 20, 5),
    (Op::EditSmall, "edit 10 KB", 20, 10),
    (Op::EditLarge, "edit 1 MB", 20, 4),
    (Op::List, "list_dir 200", 40, 10),
];
const STARTS: usize = 30;

/// What a figure has to reach. Microseconds, MiB, or tokens, as the row's.
enum Goal {
    AtMost(f64),
    /// A figure, or so many times the floor where the machine is slower than the one the figure was taken on.
    AtMostOrFloor(f64, f64),
    /// A share of the fastest peer.
    OfBestPeer(f64),
    /// A figure, and what syncing costs on this disk on top.
    AtMostAndSync(f64, &'static str),
    None,
}

/// One line of the report: which samples, which of the ranks, by which server of ours, and its goal.
struct Line {
    what: &'static str,
    key: &'static str,
    share: f64,
    ours: &'static str,
    goal: Goal,
}

const REPORT: &[Line] = &[
    Line { what: "start to tools/list, p50", key: "start", share: 0.5, ours: OURS, goal: Goal::AtMost(6_000.0) },
    Line { what: "memory then, RSS MiB", key: "rss MiB", share: 0.5, ours: OURS, goal: Goal::AtMost(12.0) },
    Line { what: "memory then, PSS MiB", key: "pss MiB", share: 0.5, ours: OURS, goal: Goal::None },
    Line { what: "trivial call, p50", key: "trivial", share: 0.5, ours: OURS, goal: Goal::AtMostOrFloor(50.0, 2.5) },
    Line { what: "trivial call, p99", key: "trivial", share: 0.99, ours: OURS, goal: Goal::AtMostOrFloor(150.0, 2.5) },
    Line { what: "read 10 KB, p50", key: "read 10 KB", share: 0.5, ours: OURS, goal: Goal::AtMost(80.0) },
    Line { what: "read 10 KB, p99", key: "read 10 KB", share: 0.99, ours: OURS, goal: Goal::AtMost(200.0) },
    Line { what: "read 1 MB, p50", key: "read 1 MB", share: 0.5, ours: OURS, goal: Goal::OfBestPeer(0.85) },
    Line {
        what: "edit 10 KB, no fsync, p50",
        key: "edit 10 KB",
        share: 0.5,
        ours: OURS_NO_FSYNC,
        goal: Goal::AtMost(270.0),
    },
    Line {
        what: "edit 1 MB, no fsync, p50",
        key: "edit 1 MB",
        share: 0.5,
        ours: OURS_NO_FSYNC,
        goal: Goal::AtMost(4_200.0),
    },
    Line {
        what: "edit 10 KB, fsync, p50",
        key: "edit 10 KB",
        share: 0.5,
        ours: OURS,
        goal: Goal::AtMostAndSync(270.0, "sync 10 KB"),
    },
    Line {
        what: "edit 1 MB, fsync, p50",
        key: "edit 1 MB",
        share: 0.5,
        ours: OURS,
        goal: Goal::AtMostAndSync(4_200.0, "sync 1 MB"),
    },
    Line { what: "list_dir of 200, p50", key: "list_dir 200", share: 0.5, ours: OURS, goal: Goal::AtMost(200.0) },
    Line { what: "tools/list, bytes", key: "bytes", share: 0.5, ours: OURS, goal: Goal::None },
    Line { what: "tools/list, tokens", key: "tokens", share: 0.5, ours: OURS, goal: Goal::AtMost(2_500.0) },
];

pub(crate) fn run(mut args: Args) -> Result<()> {
    let quick = args.flag("--quick");
    let server = args.value("--server")?;
    let skip = args.value("--skip")?.unwrap_or_default();
    let ours = if server.is_some() { None } else { Ours::from_args(&mut args)? };
    args.finish()?;

    let peers = peers()?;
    let mut rivals = rivals(&peers, ours.as_ref(), server.as_deref())?;
    rivals.retain(|rival| !skip.split(',').any(|name| name == rival.name()));
    let load = machine::load();
    let mut versions = peers.versions()?;
    versions.extend(ours.as_ref().map(Ours::version).transpose()?);
    println!("{}\nload {load}", versions.join("\n"));
    machine::warn_if_busy();

    let scale = if quick { 5 } else { 1 };
    let mut samples = Samples::new();
    starts(&rivals, STARTS / scale, &peers, &mut samples)?;
    let trivial = calls(&mut rivals, scale, &mut samples)?;
    for (key, bytes) in [("sync 10 KB", 10_000), ("sync 1 MB", 1_000_000)] {
        let cost = scene::fsync_cost(&paths::made("bench/mcp")?, bytes, 60 / scale)?;
        samples.insert((key.to_owned(), FLOOR.to_owned()), cost);
    }

    let mut verdict = Verdict::default();
    println!("\n{}", report(&rivals, &samples, &mut verdict).text());
    for line in trivial {
        println!("{line}");
    }
    println!("load {load} before, {} after", machine::load());
    let lines: Vec<Raw> = samples
        .iter()
        .map(|((what, server), values)| Raw::new(format!("{what}, {server}"), unit(what), values))
        .collect();
    let raw: Vec<Value> = samples
        .iter()
        .map(|((what, server), values)| json!({"what": what, "server": server, "samples": values}))
        .collect();
    keep("mcp", &lines, &json!({"machine": machine::facts(), "versions": versions, "samples": raw}))?;
    verdict.finish()
}

/// What the samples of a name are counted in.
fn unit(what: &str) -> &'static str {
    match what {
        "rss MiB" | "pss MiB" => "MiB",
        "bytes" | "tokens" | "tools" => "number",
        _ => "µs",
    }
}

/// The floor, the peers, and ours twice: with the default, and without fsync.
fn rivals(peers: &Peers, ours: Option<&Ours>, server: Option<&str>) -> Result<Vec<Rival>> {
    let here = std::env::current_exe()?.to_string_lossy().into_owned();
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let mut rivals = Vec::new();
    let mut add = |name: &str, dialect, edits_only, command: &dyn Fn(&Scene) -> Vec<String>| -> Result<()> {
        let scene = Scene::make(&paths::made("bench/mcp")?.join(name))?;
        let launch = Launch { name: name.to_owned(), command: command(&scene), env: ours::environment()? };
        rivals.push(Rival { launch, dialect, scene, edits_only, trivial: None });
        Ok(())
    };
    add(FLOOR, Dialect::Floor, false, &|_| vec![here.clone(), "bench".into(), "floor".into()])?;
    add("rust-mcp-filesystem", Dialect::Filesystem, false, &|scene| {
        vec![text(&peers.rust_mcp_filesystem), "--allow-write".into(), text(&scene.root)]
    })?;
    add("reference", Dialect::Filesystem, false, &|scene| {
        vec![text(&peers.node.program), text(&peers.reference), text(&scene.root)]
    })?;
    let command = |scene: &Scene| match (server, ours) {
        (Some(given), _) => ours::given_server(given, &scene.root),
        (None, Some(ours)) => ours.serve(&scene.root),
        (None, None) => Vec::new(),
    };
    if server.is_some() || ours.is_some() {
        add(OURS, Dialect::Nika, false, &command)?;
        add(OURS_NO_FSYNC, Dialect::Nika, true, &|scene| {
            command(scene).into_iter().chain(NO_FSYNC.map(str::to_owned)).collect()
        })?;
    }
    Ok(rivals)
}

fn starts(rivals: &[Rival], rounds: usize, peers: &Peers, samples: &mut Samples) -> Result<()> {
    let logs = paths::made("bench/mcp")?;
    let begun = Instant::now();
    for round in 0..rounds.max(3) {
        for rival in rivals.iter().filter(|rival| !rival.edits_only) {
            let (client, opening) = Client::start(&rival.launch, &logs)?;
            drop(client);
            let Opening { elapsed, memory, tools } = opening;
            let mut add = |what: &str, value: f64| {
                samples.entry((what.to_owned(), rival.name().to_owned())).or_default().push(value);
            };
            add("start", elapsed.as_secs_f64() * 1e6);
            if let Some(memory) = memory {
                add("rss MiB", memory.rss_kib / 1024.0);
                add("pss MiB", memory.pss_kib / 1024.0);
            }
            if round == 0 {
                let (bytes, tokens) = tokens::of_tools(peers, &tools)?;
                add("bytes", bytes as f64);
                add("tokens", tokens as f64);
                add("tools", tools.as_array().map_or(0, Vec::len) as f64);
            }
        }
    }
    eprintln!("starts: {:.1} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Asks every server for everything; returns what the trivial call of each was.
fn calls(rivals: &mut [Rival], scale: usize, samples: &mut Samples) -> Result<Vec<String>> {
    let logs = paths::made("bench/mcp")?;
    let mut clients = Vec::new();
    for rival in rivals.iter_mut() {
        let (mut client, _) = Client::start(&rival.launch, &logs)?;
        rival.prepare(&mut client).with_context(|| format!("preparing {}", rival.name()))?;
        clients.push(client);
    }
    for (op, what, rounds, each) in OPS {
        let begun = Instant::now();
        let mut turns = vec![0; rivals.len()];
        // Round 0 warms up and looks at the answers.
        for round in 0..=(rounds / scale).max(2) {
            for ((rival, client), turn) in rivals.iter().zip(&mut clients).zip(&mut turns) {
                if !rival.takes(*op) {
                    continue;
                }
                for _ in 0..*each {
                    let (tool, arguments) = rival.request(*op, *turn);
                    *turn += 1;
                    let (elapsed, result) = client.call(tool, &arguments)?;
                    if round > 0 {
                        let micros = elapsed.as_secs_f64() * 1e6;
                        samples.entry(((*what).to_owned(), rival.name().to_owned())).or_default().push(micros);
                    }
                    let reads = matches!(op, Op::ReadSmall | Op::ReadLarge);
                    if round == 0 && reads && *turn == 1 && !result.to_string().contains(LAST_LINE) {
                        println!("note: {} cut its answer to {what}", rival.name());
                    }
                }
            }
        }
        eprintln!("{what}: {:.1} s", begun.elapsed().as_secs_f64());
    }
    let said = rivals.iter().filter(|rival| rival.takes(Op::Trivial)).map(|rival| {
        let (tool, arguments) = rival.request(Op::Trivial, 0);
        format!("trivial call of {}: {tool} {arguments}", rival.name())
    });
    Ok(said.collect())
}

fn report(rivals: &[Rival], samples: &Samples, verdict: &mut Verdict) -> Table {
    let peers: Vec<&str> =
        rivals.iter().filter(|rival| rival.dialect == Dialect::Filesystem).map(Rival::name).collect();
    let header = ["what", FLOOR].into_iter().chain(peers.iter().copied()).chain([OURS, "target", "ok?"]);
    let mut table = Table::new(header);
    let value = |key: &str, server: &str, share: f64| {
        samples.get(&(key.to_owned(), server.to_owned())).and_then(|values| percentile(values, share))
    };
    for line in REPORT {
        let timed = unit(line.key) == "µs";
        let show = |figure: Option<f64>| match figure {
            Some(figure) if !timed && line.key.ends_with("MiB") => format!("{figure:.1}"),
            Some(figure) if !timed => format!("{figure:.0}"),
            other => time(other),
        };
        let best_peer = peers.iter().filter_map(|peer| value(line.key, peer, line.share)).min_by(f64::total_cmp);
        let target = match &line.goal {
            Goal::None => None,
            Goal::AtMost(most) => Some(*most),
            Goal::AtMostOrFloor(most, times) => {
                Some(value(line.key, FLOOR, line.share).map_or(*most, |floor| most.max(floor * times)))
            }
            Goal::OfBestPeer(share) => best_peer.map(|best| best * share),
            Goal::AtMostAndSync(most, key) => {
                let cost = samples.get(&((*key).to_owned(), FLOOR.to_owned())).and_then(|values| median(values));
                cost.map(|cost| most + cost)
            }
        };
        let ours = value(line.key, line.ours, line.share);
        let ok = match (ours, target) {
            (Some(ours), Some(target)) => verdict.judge(line.what, ours <= target),
            _ => "–",
        };
        let mut cells = vec![line.what.to_owned(), show(value(line.key, FLOOR, line.share))];
        cells.extend(peers.iter().map(|peer| show(value(line.key, peer, line.share))));
        cells.extend([
            show(ours),
            target.map_or("–".to_owned(), |target| format!("≤ {}", show(Some(target)))),
            ok.to_owned(),
        ]);
        table.row(cells);
    }
    table
}
