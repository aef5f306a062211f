//! What a tree of processes holds of the machine's memory.
//!
//! Resident pages are counted for each process. Three things need a closer look: pages that several share are counted once
//! for each of them; those of files on disk come back from there and are nobody's need; and the bytes of a file in memory
//! are counted for nobody who does not touch them. Such files are what `memfd_create` makes, memory that processes share
//! (`MAP_SHARED` without a file) and segments of System V. Each counts once, with all that it holds, for as long as one of
//! the processes has it open or maps any of it. What is on a file system in memory is bounded by that.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::fs::MemfdFlags;

use super::tree::Process;

/// Bytes of a block, as `stat` counts.
const BLOCK_BYTES: u64 = 512;
/// What the link of an open file in memory begins with.
const IN_MEMORY: &str = "/memfd:";
/// What the name of a mapped segment of System V begins with.
const SEGMENT: &str = "/SYSV";
/// Which part of a bound may be held in files before they are looked for: a look costs a call an open file and a line a
/// mapping.
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
        let growth = self.growth();
        let files = if growth.is_none_or(|growth| growth > most / PART) { bytes(&files(all), growth) } else { 0 };
        if resident.saturating_add(files) <= most {
            return resident.saturating_add(files);
        }
        // Now look closer. What of a file is mapped was counted with it.
        let (mut alone, mut shared) = (0, 0);
        for process in all {
            let (own, of_files) = proportional(process).unwrap_or((process.rss_bytes, 0));
            alone += own;
            shared += of_files;
        }
        alone + shared.max(files)
    }

    /// How much more than at the least the machine holds in files in memory; `None` where it does not say.
    fn growth(&self) -> Option<u64> {
        let now = shared_by_all()?;
        self.least.set(self.least.get().min(now));
        Some(now - self.least.get())
    }
}

/// Memory of `process` in bytes, what it shares counted by its share: what is of no file, and what is of files in memory;
/// `None` where the kernel will not say.
fn proportional(process: &Process) -> Option<(u64, u64)> {
    parts(&fs::read_to_string(format!("/proc/{}/smaps_rollup", process.task)).ok()?)
}

fn parts(text: &str) -> Option<(u64, u64)> {
    let in_memory = field(text, "Pss_Shmem:").unwrap_or(0);
    // A database may map gigabytes that are on its disk. Kernels before 5.4 do not tell them from the rest.
    let on_disk = field(text, "Pss_File:").unwrap_or(0);
    Some((field(text, "Pss:")?.saturating_sub(in_memory).saturating_sub(on_disk), in_memory))
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

/// Which file in memory: its inode. A segment of System V has its own number for that, which another file may have, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct File {
    ino: u64,
    is_segment: bool,
}

/// What is known of a file in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    /// The bytes that it holds.
    Held(u64),
    /// Nobody has it open, and we may not look through mappings, which takes privilege over the machine: where what is
    /// mapped of it ends. It may hold less, with holes, and more, behind that.
    Mapped(u64),
}

/// What files hold. Of those that are only known to be mapped no more than the machine came to hold meanwhile, beside the
/// others: a runtime may reserve a large one that it does not fill.
fn bytes(files: &HashMap<File, Size>, growth: Option<u64>) -> u64 {
    let (mut held, mut mapped) = (0u64, 0u64);
    for size in files.values() {
        match size {
            Size::Held(bytes) => held = held.saturating_add(*bytes),
            Size::Mapped(end) => mapped = mapped.saturating_add(*end),
        }
    }
    held.saturating_add(mapped.min(growth.unwrap_or(0).saturating_sub(held)))
}

/// All files in memory that `all` have open or map.
fn files(all: &[Process]) -> HashMap<File, Size> {
    let mut found = HashMap::new();
    for process in all {
        let Ok(open) = fs::read_dir(format!("/proc/{}/fd", process.task)) else { continue };
        for link in open.flatten().map(|entry| entry.path()) {
            // By its name first: to ask a file system that hangs would hang us.
            let is_one = fs::read_link(&link).is_ok_and(|to| to.to_string_lossy().starts_with(IN_MEMORY));
            if let (true, Ok(meta)) = (is_one, fs::metadata(&link)) {
                let file = File { ino: meta.ino(), is_segment: false };
                found.insert(file, Size::Held(meta.blocks() * BLOCK_BYTES));
            }
        }
    }
    let Some(device) = device() else { return found };
    for process in all {
        let Ok(maps) = fs::read(format!("/proc/{}/maps", process.task)) else { continue };
        for mapping in maps.split(|byte| *byte == b'\n').filter_map(|line| Mapping::parse(line, device)) {
            let known = found.get(&mapping.file).copied();
            let through = || fs::metadata(format!("/proc/{}/map_files/{}", process.task, mapping.range)).ok();
            let size = match known {
                Some(Size::Held(_)) => continue,
                Some(Size::Mapped(end)) => Size::Mapped(end.max(mapping.end)),
                None => through().map_or(Size::Mapped(mapping.end), |meta| Size::Held(meta.blocks() * BLOCK_BYTES)),
            };
            found.insert(mapping.file, size);
        }
    }
    found
}

/// The device on which the kernel keeps files in memory that have no place. No file of another is one, whatever its name.
fn device() -> Option<u64> {
    let file = rustix::fs::memfd_create("nika", MemfdFlags::CLOEXEC).ok()?;
    Some(rustix::fs::fstat(&file).ok()?.st_dev)
}

/// A mapping of a file in memory.
#[derive(Debug, PartialEq, Eq)]
struct Mapping<'line> {
    /// Where it is, as the name of a link.
    range: &'line str,
    /// Of what.
    file: File,
    /// Where in the file it ends, in bytes.
    end: u64,
}

impl Mapping<'_> {
    /// A line of `/proc/PID/maps`: `7f00-7f10 rw-s 00001000 00:01 1234   /dev/zero (deleted)`, all but the inode's number in
    /// hexadecimal; where it is of a file on `device`.
    fn parse(line: &[u8], device: u64) -> Option<Mapping<'_>> {
        // What comes behind the inode need be no text.
        let mut words = line.splitn(6, |byte| *byte == b' ').map(|word| std::str::from_utf8(word).ok());
        let mut word = || words.next().flatten();
        let (range, _, offset, on, ino) = (word()?, word()?, word()?, word()?, word()?);
        let is_segment = word().is_some_and(|name| name.trim_start().starts_with(SEGMENT));
        let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
        let (major, minor) = on.split_once(':')?;
        let on = rustix::fs::makedev(hex(major)?.try_into().ok()?, hex(minor)?.try_into().ok()?);
        if on != device {
            return None;
        }
        let (from, to) = range.split_once('-')?;
        let length = hex(to)?.checked_sub(hex(from)?)?;
        let file = File { ino: ino.parse().ok()?, is_segment };
        Some(Mapping { range, file, end: hex(offset)?.saturating_add(length) })
    }
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
        let file = rustix::fs::memfd_create("x", MemfdFlags::CLOEXEC).expect("one");
        let again = rustix::io::fcntl_dupfd_cloexec(&file, 3).expect("another name");
        rustix::io::write(&file, &vec![1; 3 << 20]).expect("written");
        let meta = fs::metadata(format!("/proc/self/fd/{}", file.as_raw_fd())).expect("it is open");
        assert_eq!(Some(meta.dev()), device());
        let id = File { ino: meta.ino(), is_segment: false };
        assert_eq!(files(&all).get(&id), Some(&Size::Held(3 << 20)));
        assert!(proportional(&all[0]).is_some_and(|(own, _)| own > 0));
        drop((file, again));
        assert_eq!(files(&all).get(&id), None);
    }

    #[test]
    fn what_is_known_of_a_mapped_file_is_where_its_mappings_end_and_no_more_than_the_machine_holds() {
        let device = rustix::fs::makedev(0, 1);
        let line = |rest: &str| {
            Mapping::parse(format!("7f0000000000-7f0000003000 {rest}").as_bytes(), device)
                .map(|one| (one.file.ino, one.file.is_segment, one.end))
        };
        assert_eq!(line("rw-s 00000000 00:01 1234                  /dev/zero (deleted)"), Some((1234, false, 0x3000)));
        assert_eq!(line("r--p 00002000 00:01 7                     /memfd:a b (deleted)"), Some((7, false, 0x5000)));
        assert_eq!(line("rw-s 00000000 00:01 0                     /SYSV00000000 (deleted)"), Some((0, true, 0x3000)));
        // Files of other file systems, whatever they are called, and what is of no file.
        assert_eq!(line("rw-s 00000000 fe:00 1234                  /memfd:x (deleted)"), None);
        assert_eq!(line("rw-p 00000000 00:00 0 "), None);
        for bad in
            ["", "7f00", "7f00-7e00 rw-s 00000000 00:01 1 /x", "x-y rw-s 0 00:01 1 /x", "7f00-7f10 rw-s 0 1 1 /x"]
        {
            assert_eq!(Mapping::parse(bad.as_bytes(), device), None, "{bad}");
        }
        let all = |sizes: &[Size]| {
            let files = (0..).map(|ino| File { ino, is_segment: false });
            files.zip(sizes.iter().copied()).collect::<HashMap<File, Size>>()
        };
        let files = all(&[Size::Held(30), Size::Mapped(500), Size::Mapped(70)]);
        assert_eq!([Some(100), Some(10), Some(1000), None].map(|growth| bytes(&files, growth)), [100, 30, 600, 30]);
        assert_eq!(bytes(&all(&[Size::Mapped(u64::MAX), Size::Mapped(2)]), Some(u64::MAX)), u64::MAX);
    }

    #[test]
    fn a_field_is_found_by_its_name() {
        let text = "Pss_Dirty:  7 kB\nPss:   12 kB\nPss_Anon: 5 kB\nPss_File: 3 kB\nPss_Shmem: 4 kB\n";
        assert_eq!(
            (field(text, "Pss:"), field(text, "Pss_Shmem:"), field(text, "Rss:")),
            (Some(12288), Some(4096), None)
        );
        assert_eq!(
            (parts(text), parts("Pss: 1 kB\n"), parts("")),
            (Some((5 << 10, 4 << 10)), Some((1 << 10, 0)), None)
        );
    }
}
