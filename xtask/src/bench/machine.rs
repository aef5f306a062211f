//! What was measured on what machine, and how much memory a server holds: read from `/proc` and from git.

use std::path::Path;

use serde_json::{Value, json};

use crate::{paths, process};

/// Memory of a running process in KiB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Pages in memory, shared ones counted in full (`VmRSS`).
    pub rss_kib: f64,
    /// Pages in memory, shared ones divided among their users (`Pss`).
    pub pss_kib: f64,
}

pub(crate) fn memory(pid: u32) -> Option<Memory> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    Some(Memory { rss_kib: field(&status, "VmRSS:")?, pss_kib: field(&rollup, "Pss:")? })
}

/// Kernel, processor, cores and load: a raw-samples file says where it comes from.
pub(crate) fn facts() -> Value {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let cpu = read("/proc/cpuinfo");
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    json!({
        "kernel": read("/proc/sys/kernel/osrelease"),
        "cpu": model.trim_start_matches(['\t', ' ', ':']),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "load": load(),
    })
}

/// What is measured where no other program is: this tree, by its version and commit, and the system below it.
pub(crate) fn versions() -> String {
    let commit = process::output(&paths::workspace(), Path::new("git"), &["rev-parse", "--short", "HEAD"]);
    let commit = commit.map_or_else(|_| String::new(), |commit| format!(" at {}", commit.trim()));
    let facts = facts();
    let fact = |name: &str| facts[name].as_str().unwrap_or_default().to_owned();
    format!("nika {}{commit}\nLinux {}, {}", env!("CARGO_PKG_VERSION"), fact("kernel"), fact("cpu"))
}

/// The load average: a figure taken beside a busy neighbour says so.
pub(crate) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// Says when other work shares the processor: the figures of such a run are for comparing, not for quoting.
pub(crate) fn warn_if_busy() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load: f64 = load().split(' ').next().and_then(|load| load.parse().ok()).unwrap_or(0.0);
    if load > cores as f64 / 2.0 {
        println!(
            "note: the load is {load} on {cores} cores; medians are higher than on a quiet machine, p99 far higher"
        );
    }
}

fn field(text: &str, name: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}
