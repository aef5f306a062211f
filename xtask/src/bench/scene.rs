//! The files that servers read and edit while they are measured: one folder a server, so that none edits another's.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;

/// The word that edits toggle; it stands once in each file, in the middle.
pub(crate) const WORDS: [&str; 2] = ["toggle_word_alpha", "toggle_word_omega"];

/// The last line of each file: an answer that holds it was not cut.
pub(crate) const LAST_LINE: &str = "the last line of this file";

const SMALL_BYTES: usize = 10_000;
const LARGE_BYTES: usize = 1_000_000;
const ENTRIES: usize = 200;

/// A folder with everything the operations need.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub root: PathBuf,
    pub small: PathBuf,
    pub large: PathBuf,
    pub empty: PathBuf,
    pub crowded: PathBuf,
}

impl Scene {
    /// Makes the folder anew.
    pub(crate) fn make(root: &Path) -> Result<Self> {
        let _ = fs::remove_dir_all(root);
        let at = |name: &str| root.join(name);
        let scene = Scene {
            root: root.to_path_buf(),
            small: at("small.rs"),
            large: at("large.rs"),
            empty: at("empty"),
            crowded: at("crowded"),
        };
        fs::create_dir_all(&scene.empty)?;
        fs::create_dir_all(&scene.crowded)?;
        fs::write(&scene.small, source(SMALL_BYTES))?;
        fs::write(&scene.large, source(LARGE_BYTES))?;
        for number in 0..ENTRIES {
            fs::write(scene.crowded.join(format!("file_{number:03}.rs")), "fn main() {}\n")?;
        }
        Ok(scene)
    }
}

/// Source-like text of about `bytes` bytes: short lines, no two alike, the toggled word in the middle.
fn source(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 200);
    let mut number = 0;
    let mut placed = false;
    while text.len() < bytes {
        if !placed && text.len() >= bytes / 2 {
            text.push_str(&format!("    let {} = true;\n", WORDS[0]));
            placed = true;
        }
        text.push_str(&format!("    let value_{number} = compute(\"key {number}\", {}) + 1;\n", number * 7));
        number += 1;
    }
    text.push_str(LAST_LINE);
    text.push('\n');
    text
}

/// What syncing adds to replacing a file: samples of write + fsync + rename + fsync of the folder, less the median of the
/// same without syncing, in microseconds.
pub(crate) fn fsync_cost(root: &Path, bytes: usize, rounds: usize) -> Result<Vec<f64>> {
    let text = source(bytes);
    let timed = |sync: bool| -> Result<f64> {
        let (fresh, file) = (root.join("sync.new"), root.join("sync.txt"));
        let begun = Instant::now();
        let mut out = File::create(&fresh)?;
        out.write_all(text.as_bytes())?;
        if sync {
            out.sync_all()?;
        }
        fs::rename(&fresh, &file)?;
        if sync {
            File::open(root)?.sync_all()?;
        }
        Ok(begun.elapsed().as_secs_f64() * 1e6)
    };
    let (mut plain, mut synced) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        plain.push(timed(false)?);
        synced.push(timed(true)?);
    }
    let base = super::stats::median(&plain).unwrap_or(0.0);
    Ok(synced.into_iter().map(|micros| (micros - base).max(0.0)).collect())
}
