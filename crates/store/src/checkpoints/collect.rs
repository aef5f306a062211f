//! Keeping the checkpoints bounded: the oldest calls go first, and the objects that only they named.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::FlockOperation;

use super::Checkpoints;
use super::line::Line;
use super::tally::on_disk;
use crate::error::StoreError;
use crate::hash::Hash;
use crate::objects::{Objects, Swept};
use crate::sessions;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of pre-images, compressed, and of the lines that name them, on disk. 1 GiB: months of edits, minutes of `cargo`
    /// output. The last call is kept even where it is more by itself.
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
    /// Drops the oldest calls until `limits` hold, then every object that no kept line and no saved session names (see
    /// [`crate::sessions::objects_in_use`]). `None` where another process does so now, or keeps it from being done.
    /// Recording goes on meanwhile; killed on the way, the next one goes on with what is left.
    pub fn collect(&self, limits: &Limits, now_unix_ms: u64) -> Result<Option<Collected>, StoreError> {
        let Some(mut collection) = Collection::begin(self, now_unix_ms)? else { return Ok(None) };
        let mut collected = collection.shorten(limits)?;
        collected.objects = collection.sweep()?;
        self.clear_holds();
        collection.end()?;
        Ok(Some(collected))
    }
}

/// Objects that are removed at once: writers wait so long.
const AT_ONCE: usize = 64;

/// A collection that goes on.
pub(super) struct Collection<'a> {
    pub(super) of: &'a Checkpoints,
    now_unix_ms: u64,
    /// Locked as long as it is open.
    alone: File,
    /// What was added until it began.
    added: u64,
    /// What lines named since that nothing before named: of that, what lay there already was added by nobody, and yet
    /// stays. What is new is counted twice so, and looked at sooner.
    named_since: u64,
    /// How far the log was read.
    read_to: u64,
    /// Named by the lines up to there, and by sessions.
    pub(super) keep: HashSet<Hash>,
}

impl<'a> Collection<'a> {
    pub(super) fn begin(of: &'a Checkpoints, now_unix_ms: u64) -> Result<Option<Collection<'a>>, StoreError> {
        let Some(alone) = of.alone()? else { return Ok(None) };
        let keep = sessions::objects_in_use(&of.state)?;
        // Both at one moment: what is counted as added has its line, and is looked at.
        let (added, read_to) = of.locked(FlockOperation::LockExclusive, |log| {
            let added = of.tally().and_then(|tally| Ok((tally.bytes()?, log.metadata()?.len())));
            added.map_err(|error| failed(of, error))
        })?;
        Ok(Some(Collection { of, now_unix_ms, alone, added, named_since: 0, read_to, keep }))
    }

    /// Drops the lines of calls that are too old or too much, as one step.
    pub(super) fn shorten(&mut self, limits: &Limits) -> Result<Collected, StoreError> {
        let of = self.of;
        let mut text = Vec::new();
        let read = File::open(&of.path).and_then(|log| log.take(self.read_to).read_to_end(&mut text));
        read.map_err(|error| failed(of, error))?;
        let plan = plan(&text, limits, &of.objects, self.now_unix_ms, &|call| of.is_held(call));
        self.keep.extend(plan.keep);
        if plan.calls_dropped > 0 {
            let (temporary, mut new) = fresh(&of.path, &plan.text).map_err(|error| failed(of, error))?;
            of.locked(FlockOperation::LockExclusive, |log| {
                let tail = self.catch_up(log)?;
                let replaced = new.write_all(&tail).and_then(|()| fs::rename(&temporary, &of.path));
                replaced.map_err(|error| failed(of, error))
            })?;
            self.read_to = (plan.text.len() as u64) + self.read_to - (text.len() as u64);
        }
        Ok(Collected { calls_dropped: plan.calls_dropped, calls_kept: plan.calls_kept, ..Collected::default() })
    }

    /// Removes what nobody names. Looking takes its time and is done without a lock; whether it still holds is looked at
    /// under one, a few objects at a time.
    pub(super) fn sweep(&mut self) -> Result<Swept, StoreError> {
        let (of, mut swept) = (self.of, Swept::default());
        for shelf in of.objects.shelves()? {
            let idle = of.objects.idle(&shelf, &self.keep, self.now_unix_ms, &mut swept)?;
            for some in idle.chunks(AT_ONCE) {
                of.locked(FlockOperation::LockExclusive, |log| {
                    self.catch_up(log)?;
                    some.iter().for_each(|idle| idle.settle(&self.keep, &mut swept));
                    Ok(())
                })?;
            }
        }
        Ok(swept)
    }

    pub(super) fn end(self) -> Result<(), StoreError> {
        let (of, last) = (self.of, SystemTime::UNIX_EPOCH + Duration::from_millis(self.now_unix_ms));
        of.locked(FlockOperation::LockExclusive, |_| {
            let counted = of.tally().and_then(|tally| tally.take_off(self.added.saturating_sub(self.named_since)));
            counted.and_then(|()| self.alone.set_modified(last)).map_err(|error| failed(of, error))
        })
    }

    /// Reads the lines that came since, under the log's lock.
    fn catch_up(&mut self, log: &File) -> Result<Vec<u8>, StoreError> {
        let read = || {
            let len = log.metadata()?.len().saturating_sub(self.read_to);
            let mut tail = vec![0; usize::try_from(len).unwrap_or_default()];
            log.read_exact_at(&mut tail, self.read_to)?;
            Ok(tail)
        };
        let tail = read().map_err(|error| failed(self.of, error))?;
        self.read_to += tail.len() as u64;
        for line in tail.split(|&b| b == b'\n').filter_map(Line::decode) {
            let Line::Change(record) = line else { continue };
            if let Some(hash) = record.before.filter(|hash| self.keep.insert(*hash)) {
                self.named_since += on_disk(self.of.objects.stored(&hash).unwrap_or(0));
            }
        }
        Ok(tail)
    }
}

fn failed(of: &Checkpoints, error: io::Error) -> StoreError {
    StoreError::io("collect", &of.path, error)
}

/// Another log, to be put in place of the one at `path`: whoever waits for the old one's lock will see that it has no name
/// any more.
fn fresh(path: &Path, text: &[u8]) -> io::Result<(PathBuf, File)> {
    let temporary = path.with_extension("new");
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(text)?;
    // The old log is about to go for good; the new one must not be empty after a power cut.
    file.sync_data()?;
    Ok((temporary, file))
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
    let mut changes =
        lines.iter().filter_map(|(_, line)| if let Line::Change(record) = line { Some(record) } else { None });
    let whole: HashSet<&str> = changes.clone().filter(|record| !record.goes_on).map(|record| &*record.call).collect();
    // What was done last can be taken back, however much it is.
    let last = changes.next_back().map(|record| (&*record.session, &*record.call));
    for (text, line) in lines.iter().rev() {
        let Line::Change(record) = line else { continue };
        let call = (&*record.session, &*record.call);
        let old = record.at.saturating_add(limits.max_age_ms) < now || !whole.contains(&*record.call);
        if !old && !full && !dropped.contains(&call) {
            if let Some(hash) = record.before.filter(|hash| counted.insert(*hash)) {
                bytes += on_disk(objects.stored(&hash).unwrap_or(0));
            }
            bytes += text.len() as u64;
            full = bytes > limits.max_bytes;
        }
        let goes_on = *going_on.entry(&*record.call).or_insert_with(|| held(&record.call));
        if (old || full && last != Some(call)) && !goes_on {
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
