//! Keeping the checkpoints bounded: the oldest calls go first, and the objects that only they named.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::FlockOperation;

use super::Checkpoints;
use super::line::Line;
use crate::error::StoreError;
use crate::hash::Hash;
use crate::objects::{Objects, Swept};

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of pre-images, compressed, on disk. 1 GiB: months of edits, minutes of `cargo` output.
    pub max_bytes: u64,
    /// Of a call. 30 days.
    pub max_age_ms: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_bytes: 1 << 30, max_age_ms: 30 * 24 * 60 * 60 * 1000 }
    }
}

/// What a collection did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Collected {
    /// Calls that can no longer be taken back.
    pub calls_dropped: usize,
    /// Calls that still can.
    pub calls_kept: usize,
    /// What became of the objects.
    pub objects: Swept,
}

impl Checkpoints {
    /// Drops the oldest calls until `limits` hold, then every object that no kept line and nothing in
    /// `also_keep` names (see [`crate::sessions::objects_in_use`]). Recording waits meanwhile.
    pub fn collect(
        &self,
        limits: &Limits,
        also_keep: &HashSet<Hash>,
        now_unix_ms: u64,
    ) -> Result<Collected, StoreError> {
        let failed = |error: io::Error| StoreError::io("collect", &self.path, error);
        let mut log = self.log.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.lock(&mut log, FlockOperation::LockExclusive)?;
        let result = (|| {
            let mut text = Vec::new();
            File::open(&self.path).and_then(|mut file| file.read_to_end(&mut text)).map_err(failed)?;
            let plan = plan(&text, limits, &self.objects, now_unix_ms, &|call| self.is_held(call));
            if plan.calls_dropped > 0 {
                self.replace(&plan.text).map_err(failed)?;
            }
            let keep = &plan.keep | also_keep;
            let objects = self.objects.collect(&keep, now_unix_ms)?;
            Ok(Collected { calls_dropped: plan.calls_dropped, calls_kept: plan.calls_kept, objects })
        })();
        let _ = rustix::fs::flock(&*log, FlockOperation::Unlock);
        result
    }

    /// Puts another log in place of this one. Whoever waits for the old one's lock will see that it
    /// has no name any more.
    fn replace(&self, text: &[u8]) -> io::Result<()> {
        let temporary = self.path.with_extension("new");
        let mut options = File::options();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(text)?;
        // The old log is about to go for good; the new one must not be empty after a power cut.
        file.sync_data()?;
        std::fs::rename(&temporary, &self.path)
    }
}

struct Plan {
    /// The lines that stay.
    text: Vec<u8>,
    keep: HashSet<Hash>,
    calls_dropped: usize,
    calls_kept: usize,
}

/// Decides from the newest call to the oldest. Once one does not fit, no older one is kept either:
/// what can be taken back has no holes. A call that goes on keeps what it has.
fn plan(text: &[u8], limits: &Limits, objects: &Objects, now: u64, held: &dyn Fn(&str) -> bool) -> Plan {
    let lines: Vec<(&[u8], Line<'_>)> =
        text.split(|&b| b == b'\n').filter_map(|line| Some((line, Line::decode(line)?))).collect();
    let mut kept: HashSet<(&str, &str)> = HashSet::new();
    let mut dropped: HashSet<(&str, &str)> = HashSet::new();
    let mut counted = HashSet::new();
    let mut bytes = 0;
    let mut full = false;
    let mut going_on: HashMap<&str, bool> = HashMap::new();
    for (_, line) in lines.iter().rev() {
        let Line::Change(record) = line else { continue };
        let call = (&*record.session, &*record.call);
        let old = record.at.saturating_add(limits.max_age_ms) < now;
        if !old && !full && !dropped.contains(&call) {
            if let Some(hash) = record.before.filter(|hash| counted.insert(*hash)) {
                bytes += objects.stored(&hash).unwrap_or(0);
            }
            full = bytes > limits.max_bytes;
        }
        let goes_on = *going_on.entry(&*record.call).or_insert_with(|| held(&record.call));
        if (old || full) && !goes_on {
            // Half a call cannot be taken back: its newer lines go with it.
            kept.remove(&call);
            dropped.insert(call);
        } else if !dropped.contains(&call) {
            kept.insert(call);
        }
    }
    let calls: HashSet<&str> = kept.iter().map(|(_, call)| *call).collect();
    let mut plan =
        Plan { text: Vec::new(), keep: HashSet::new(), calls_dropped: dropped.len(), calls_kept: kept.len() };
    for (text, line) in &lines {
        let stays = match line {
            Line::Change(record) => kept.contains(&(&*record.session, &*record.call)),
            Line::Mark(mark) => calls.contains(&*mark.undone),
        };
        if stays {
            plan.text.push(b'\n');
            plan.text.extend_from_slice(text);
            plan.text.push(b'\n');
            if let Line::Change(record) = line {
                plan.keep.extend(record.before);
            }
        }
    }
    plan
}
