//! What a tree of processes holds of the machine's memory.
//!
//! Resident pages are counted for each process. Two things need a closer look: pages that several share are counted once
//! for each of them, and the bytes of a file in memory (`memfd_create`) that nobody has mapped for none.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use super::tree::Process;

/// Bytes of a block, as `stat` counts.
const BLOCK_BYTES: u64 = 512;
/// What the link of an open file in memory begins with.
const IN_MEMORY: &str = "/memfd:";
/// Which part of a bound may be held in files before they are looked for: a look costs a call an open file.
const PART: u64 = 8;

/// Watches over a bound.
#[derive(Debug)]
pub(super) struct Memory {
    /// The least that the machine held in files in memory since the command began.
    least: Cell<u64>,
}

impl Memory {
    pub(super) fn begin() -> Memory {
        Memory { least: Cell::new(shared_by_all().unwrap_or(0)) }
    }

    /// What `all` hold, as far as a bound of `most` bytes is concerned.
    pub(super) fn held(&self, all: &[Process], most: u64) -> u64 {
        let resident = all.iter().map(|process| process.rss_bytes).sum::<u64>();
        let files = if self.may_be_in_files(most) { files(all).values().sum() } else { 0 };
        if resident.saturating_add(files) <= most {
            return resident.saturating_add(files);
        }
        // Now look closer. What of a file is mapped was counted with it.
        let (mut alone, mut shared) = (0, 0);
        for process in all {
            let (own, of_files) = proportional(process).unwrap_or((process.rss_bytes, 0));
            alone += own - of_files.min(own);
            shared += of_files;
        }
        alone + shared.max(files)
    }

    fn may_be_in_files(&self, most: u64) -> bool {
        shared_by_all().is_none_or(|now| {
            self.least.set(self.least.get().min(now));
            now - self.least.get() > most / PART
        })
    }
}

/// Memory of `process` in bytes, what it shares counted by its share, and what of that is of files in memory; `None` where
/// the kernel will not say.
fn proportional(process: &Process) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", process.pid)).ok()?;
    Some((field(&text, "Pss:")?, field(&text, "Pss_Shmem:").unwrap_or(0)))
}

/// What the whole machine holds in files in memory.
fn shared_by_all() -> Option<u64> {
    field(&fs::read_to_string("/proc/meminfo").ok()?, "Shmem:")
}

/// A line of the form `NAME:   12 kB`, in bytes.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(rest.split_ascii_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Bytes of all files in memory that `all` have open, each once.
fn files(all: &[Process]) -> HashMap<(u64, u64), u64> {
    let mut found: HashMap<(u64, u64), u64> = HashMap::new();
    for process in all {
        let Ok(open) = fs::read_dir(format!("/proc/{}/fd", process.pid)) else { continue };
        for link in open.flatten().map(|entry| entry.path()) {
            let is_one = fs::read_link(&link).is_ok_and(|to| to.to_string_lossy().starts_with(IN_MEMORY));
            if let (true, Ok(meta)) = (is_one, fs::metadata(&link)) {
                found.insert((meta.dev(), meta.ino()), meta.blocks() * BLOCK_BYTES);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::super::tree::look;
    use super::*;

    #[test]
    fn files_in_memory_count_once_whoever_has_them_open() {
        let me = look(rustix::process::getpid().as_raw_nonzero().get()).expect("we live");
        let all = [me.clone(), me];
        let file = rustix::fs::memfd_create("x", rustix::fs::MemfdFlags::CLOEXEC).expect("one");
        let again = rustix::io::fcntl_dupfd_cloexec(&file, 3).expect("another name");
        rustix::io::write(&file, &vec![1; 3 << 20]).expect("written");
        let meta = fs::metadata(format!("/proc/self/fd/{}", file.as_raw_fd())).expect("it is open");
        let id = (meta.dev(), meta.ino());
        assert_eq!(files(&all).get(&id), Some(&(3 << 20)));
        assert!(proportional(&all[0]).is_some_and(|(all, files)| all > 0 && files <= all));
        drop((file, again));
        assert_eq!(files(&all).get(&id), None);
    }

    #[test]
    fn a_field_is_found_by_its_name() {
        let text = "Pss_Dirty:  7 kB\nPss:   12 kB\nPss_Shmem: 4 kB\n";
        assert_eq!(
            (field(text, "Pss:"), field(text, "Pss_Shmem:"), field(text, "Rss:")),
            (Some(12288), Some(4096), None)
        );
    }
}
