//! Files that processes hold open for writing: what they write there no further call will tell of.

use std::fs;
use std::path::Path;

use rustix::process::Pid;

use super::sight::{Found, Seen, Sight};

/// Descriptors of one process that are looked at. An interpreter holds a handful.
const MOST: usize = 4096;
/// The bits of an open's flags that say what it is for.
const FOR_WRITING: u32 = (libc::O_WRONLY | libc::O_RDWR) as u32;

/// Those in the roots.
pub(super) fn by(processes: &[Pid], sight: &Sight) -> Vec<Found> {
    let mut found = Vec::new();
    for pid in processes {
        let pid = pid.as_raw_nonzero().get().unsigned_abs();
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten().take(MOST);
        for entry in open {
            let Some(number) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
            // Most are pipes; of the others the flags say the rest.
            if !fs::read_link(entry.path()).is_ok_and(|place| place.is_absolute()) || !is_for_writing(pid, number) {
                continue;
            }
            if let Seen::Inside(place) = sight.open(pid, number) {
                found.push(place);
            }
        }
    }
    found
}

fn is_for_writing(pid: u32, number: i32) -> bool {
    let told = fs::read_to_string(Path::new("/proc").join(format!("{pid}/fdinfo/{number}"))).unwrap_or_default();
    let flags = told.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_some_and(|flags| flags & FOR_WRITING != 0)
}
