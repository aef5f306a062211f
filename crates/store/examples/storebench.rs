//! What the store costs a call: medians in microseconds, of the clock and of this thread's processor
//! time (which a busy machine disturbs less), in a directory given as the first argument
//! (a temporary one otherwise).
//!
//! `cargo run --release -p nika-store --example storebench [DIR]`

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use nika_contract::{Clock, Kind, Preimage};
use nika_store::checkpoints::{Begun, Limits};
use nika_store::journal::{redact, redact_text, verify};
use nika_store::{CheckpointMeta, Checkpoints, Hash, Journal, Objects, State};
use serde_json::{Map, Value, json};

#[derive(Debug)]
struct Now;

impl Clock for Now {
    fn unix_ms(&self) -> u64 {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let temporary = tempfile::tempdir()?;
    let dir = std::env::args_os().nth(1).map_or_else(|| temporary.path().join("state"), PathBuf::from);
    let state = State::open(&dir)?;
    measure("State::open, existing", 2000, |_| State::open(&dir).map(drop));

    let journal = Journal::create(&state, "bench", &Map::new(), Arc::new(Now))?;
    let begun = object(json!({"call": "c0007-3f2a", "tool": "edit", "arguments":
        {"file_path": "/repo/src/main.rs", "old_string": "let x = 1;", "new_string": "let x = 2;"}}));
    let ended = object(json!({"call": "c0007-3f2a", "tool": "edit", "ok": true, "code": null, "message": null,
        "decision": "allow", "source": "mode accept-edits", "took_us": 312, "chars": 512, "spilled": null}));
    measure("append CallBegun", 20_000, |_| journal.append("CallBegun", &begun).map(drop));
    measure("append CallEnded", 20_000, |_| journal.append("CallEnded", &ended).map(drop));
    let other = Journal::create(&state, "bench", &Map::new(), Arc::new(Now))?;
    measure("append, two taking turns (each pair)", 5000, |_| {
        journal.append("CallBegun", &begun)?;
        other.append("CallEnded", &ended).map(drop)
    });
    let start = Instant::now();
    let verified = verify(&state, "bench")?;
    println!("{:<40} {:>9.1} ms for {} lines", "verify", start.elapsed().as_secs_f64() * 1e3, verified.lines);
    measure("Journal::create, existing", 2000, |_| {
        Journal::create(&state, "bench", &Map::new(), Arc::new(Now)).map(drop)
    });

    let arguments = Value::Object(begun);
    measure("redact, small arguments", 20_000, |_| {
        black_box(redact(&arguments));
        Ok::<_, std::fmt::Error>(())
    });
    let long = Value::from(source(1 << 20, 0));
    measure("redact, 1 MB", 200, |_| {
        black_box(redact(&long));
        Ok::<_, std::fmt::Error>(())
    });

    // As texts of which all is shown: of a long one only the beginning is looked at.
    let text = source(1 << 20, 0);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let pieces: Vec<String> = lines.chunks(4).map(<[&str]>::concat).collect();
    measure("redact, 1 MB in texts of four lines", 50, |_| {
        pieces.iter().for_each(|piece| drop(black_box(redact_text(piece))));
        Ok::<_, std::fmt::Error>(())
    });
    let objects = Objects::open(&state)?;
    for (name, bytes, rounds) in [("10 KB", 10 << 10, 2000), ("100 KB", 100 << 10, 500), ("1 MB", 1 << 20, 200)] {
        let texts: Vec<String> = (0..rounds).map(|n| source(bytes, n)).collect();
        measure(&format!("put {name}"), rounds, |n| objects.put(texts[n].as_bytes(), None).map(drop));
        measure(&format!("put {name}, there already"), rounds, |n| objects.put(texts[n].as_bytes(), None).map(drop));
        let hashes: Vec<Hash> = texts.iter().map(|text| Hash::of(text.as_bytes())).collect();
        measure(&format!("get {name}"), rounds, |n| objects.get(&hashes[n]).map(drop));
        let known: Vec<String> = (0..rounds).map(|n| source(bytes, n + rounds)).collect();
        let hashes: Vec<Hash> = known.iter().map(|text| Hash::of(text.as_bytes())).collect();
        measure(&format!("put {name}, hash known"), rounds, |n| {
            objects.put(known[n].as_bytes(), Some(hashes[n].0)).map(drop)
        });
        let noisy: Vec<Vec<u8>> = (0..rounds).map(|n| noise(bytes, n as u64 + 1)).collect();
        measure(&format!("put {name} that does not pack"), rounds, |n| objects.put(&noisy[n], None).map(drop));
    }

    // As the program has them: bounded, and far from the bound.
    let checkpoints = Checkpoints::bounded(&state, Limits::default())?;
    let record = |call: String, path: &Path, text: &str| {
        let (session, tool, at) = ("bench".into(), "edit".into(), Now.unix_ms());
        let meta = CheckpointMeta { call, session, tool, at, asked: false, begun: Begun::default() };
        let bytes = Some(text.as_bytes());
        let preimage = Preimage {
            path,
            kind: Kind::File,
            bytes,
            hash: None,
            mode: Some(0o644),
            mode_left: None,
            after: Some([7; 32]),
            more: None,
            dress: None,
            linked: false,
        };
        checkpoints.record(&meta, &preimage)
    };
    let texts: Vec<String> = (0..2000).map(|n| source(10 << 10, n + 10_000)).collect();
    let path = Path::new("/repo/src/main.rs");
    measure("record 10 KB", 2000, |n| record(format!("c{n}"), path, &texts[n]));
    measure("record 10 KB, content kept already", 2000, |n| record(format!("d{n}"), path, &texts[n]));
    measure("list 20", 200, |_| checkpoints.list(20, None).map(drop));
    measure("find the oldest of 4000", 50, |_| checkpoints.find("c0").map(drop));
    Ok(())
}

/// Runs `act` some rounds and prints the medians and the 99th percentile.
fn measure<E: std::fmt::Display>(name: &str, rounds: usize, mut act: impl FnMut(usize) -> Result<(), E>) {
    let (mut took, mut worked): (Vec<f64>, Vec<f64>) = (0..rounds)
        .map(|n| {
            let (start, work) = (Instant::now(), processor_us());
            if let Err(error) = act(n) {
                println!("{name}: {error}");
                std::process::exit(1);
            }
            (start.elapsed().as_secs_f64() * 1e6, processor_us() - work)
        })
        .unzip();
    took.sort_by(f64::total_cmp);
    worked.sort_by(f64::total_cmp);
    let (half, most) = (rounds / 2, rounds * 99 / 100);
    println!("{name:<40} {:>9.1} µs   p99 {:>9.1} µs   processor {:>9.1} µs", took[half], took[most], worked[half]);
}

fn processor_us() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// Source code, different for each `seed`: this crate's own, from another place on.
fn source(bytes: usize, seed: usize) -> String {
    const FILES: [&str; 6] = [
        include_str!("../src/journal/write.rs"),
        include_str!("../src/journal/redact/secrets.rs"),
        include_str!("../src/objects.rs"),
        include_str!("../src/checkpoints/history.rs"),
        include_str!("../src/sessions.rs"),
        include_str!("../src/journal/log.rs"),
    ];
    let mut text = format!("// {seed}\n");
    text.reserve(bytes + (64 << 10));
    for file in FILES.iter().cycle().skip(seed) {
        let from = file.char_indices().nth(seed * 131 % 5000).map_or(0, |(at, _)| at);
        text.push_str(&file[from..]);
        if text.len() >= bytes {
            break;
        }
    }
    text.truncate(text.floor_char_boundary(bytes));
    text
}

fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 32) as u8
    };
    std::iter::repeat_with(next).take(bytes).collect()
}
