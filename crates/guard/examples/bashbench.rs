//! Times the analysis of shell commands over the fixtures of the tests, and over texts of 2 KiB made of them.
//! `cargo run --release -p nika-guard --example bashbench`. Nothing is run.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use nika_guard::bash::{Site, analyse};

const FIXTURES: [&str; 3] = [
    include_str!("../tests/data/bash/bash_adversarial.jsonl"),
    include_str!("../tests/data/bash/bash_benign.jsonl"),
    include_str!("../tests/data/bash/bash_destructive.jsonl"),
];

fn main() {
    let site = Site { roots: vec!["/w/repo".into()], cwd: PathBuf::from("/w/repo"), home: PathBuf::from("/home/dev") };
    let commands: Vec<String> = FIXTURES
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| line.split_once("\"cmd\": \""))
        .map(|(_, rest)| rest.split("\", \"").next().unwrap_or_default().replace("\\n", "\n").replace("\\\"", "\""))
        .collect();
    let mut texts: Vec<(String, String)> =
        commands.iter().filter(|text| text.len() <= 2048).map(|text| (text.clone(), text.clone())).collect();
    let single = texts.len();
    for start in 0..commands.len() {
        let mut text = String::new();
        let rest = commands.iter().cycle().skip(start).take(commands.len());
        for command in rest.filter(|command| !command.contains(['\n', '#', '\0'])) {
            if text.len() + command.len() > 2046 {
                break;
            }
            text.push_str(command);
            text.push('\n');
        }
        texts.push((format!("2 KiB from {start}"), text));
    }
    for (name, part) in [("fixtures", &texts[..single]), ("2 KiB", &texts[single..])] {
        let mut times: Vec<(Duration, &str)> = Vec::new();
        for _ in 0..20 {
            for (label, text) in part {
                let start = Instant::now();
                std::hint::black_box(analyse(text, &site));
                times.push((start.elapsed(), label));
            }
        }
        times.sort();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].0;
        let (worst, label) = times[times.len() - 1];
        let short: String = label.chars().take(60).collect();
        println!("{name}: p50 {:?}, p90 {:?}, p99 {:?}, worst {worst:?} ({short})", at(0.5), at(0.9), at(0.99));
    }
}
