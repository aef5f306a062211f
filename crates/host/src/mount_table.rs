//! The kernel's table of this process's mounts.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Its file system: two numbers.
    pub(crate) device: Vec<u8>,
    /// Which directory of that file system it shows.
    pub(crate) shows: PathBuf,
    /// Where.
    pub(crate) at: PathBuf,
}

/// All of them, each after those that it lies over.
pub(crate) fn read() -> io::Result<Vec<Mount>> {
    Ok(parse(&std::fs::read("/proc/self/mountinfo")?))
}

fn parse(table: &[u8]) -> Vec<Mount> {
    let line = |line: &[u8]| {
        let mut fields = line.split(|byte| *byte == b' ').skip(2);
        let (device, shows, at) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Mount { device: device.to_vec(), shows: unescaped(shows), at: unescaped(at) })
    };
    table.split(|byte| *byte == b'\n').filter_map(line).collect()
}

/// The mount that a path without links lies in.
pub(crate) fn holding<'t>(table: &'t [Mount], path: &Path) -> Option<&'t Mount> {
    // Of several at one place the last is seen.
    table.iter().filter(|mount| path.starts_with(&mount.at)).max_by_key(|mount| mount.at.components().count())
}

/// A field of the table: blanks and backslashes stand as three octal digits.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, after @ ..] = rest {
        let code = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_backslashes_are_read_back() {
        let table =
            b"22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n23 22 254:0 /a\\040b /mnt/x\\134y rw - ext4 /dev/vda rw\n";
        let mounts = parse(table);
        assert_eq!((mounts[1].shows.as_path(), mounts[1].at.as_path()), (Path::new("/a b"), Path::new("/mnt/x\\y")));
        assert_eq!(holding(&mounts, Path::new("/mnt/x\\y/c")), Some(&mounts[1]));
        assert_eq!(holding(&mounts, Path::new("/mnt/xy")), Some(&mounts[0]));
        assert_eq!(unescaped(b"/a\\"), PathBuf::from("/a\\"));
        assert!(read().unwrap().iter().any(|mount| mount.at == Path::new("/proc")));
    }

    /// `max_by_key` gives the last of equals.
    #[test]
    fn of_two_mounts_at_one_place_the_upper_one_holds() {
        let mounts = parse(b"1 0 0:1 / / rw - a b c\n2 1 0:2 / /w rw - a b c\n3 2 0:3 / /w rw - a b c\n");
        assert_eq!(holding(&mounts, Path::new("/w/f")).map(|mount| mount.device.as_slice()), Some(&b"0:3"[..]));
    }
}
