//! A file whose name cannot be exchanged, as it is mounted by itself or another user's in a directory like `/tmp`: it is
//! written where it stands, after what it held was copied aside, whole. A kill in between leaves the beginning of the new
//! content and the rest of the old one: by that a step is known again, and nothing that others wrote since is touched.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::Errno;

use super::{At, Identity};
use crate::fs::put_away;

/// How much is compared at once.
const CHUNK_BYTES: usize = 64 << 10;

/// How far a step is that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HowFar {
    /// What stands there is the new content, whole.
    Whole,
    /// The beginning of it, and the rest of the old one; perhaps all of the old one.
    Part,
}

/// Copies the target, which is `old`, aside, then the source over it. What cannot be is an error, and then nothing of the
/// target was written, or what was is known by [`begun`].
pub(super) fn write(source: &At<'_>, target: &At<'_>, aside: &At<'_>, old: Option<Identity>) -> Result<bool, Errno> {
    let (mut new, mut file) = (opened(source, OFlags::RDONLY)?, opened(target, OFlags::RDWR)?);
    let stat = fstat(&file)?;
    if Some(Identity::of(&stat)) != old {
        return Ok(false);
    }
    // Its other names are not what is changed.
    if stat.st_nlink > 1 {
        return Err(Errno::INVAL);
    }
    let [kept, part] = names(&aside.1);
    // The target is still the old one: what a kill before the first byte of the new one left aside is no more than it.
    for name in [&part, &kept] {
        let _ = unlinkat(aside.0, name.as_os_str(), AtFlags::empty());
    }
    copy(&mut file, &mut opened(&(aside.0, part.clone()), OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?)?;
    put_away((aside.0, &part), (aside.0, &kept))?;
    copy(&mut new, &mut file)?;
    Ok(true)
}

/// Where what the target held is kept, whole, and where it is while it is copied.
fn names(aside: &OsStr) -> [OsString; 2] {
    ["kept", "part"].map(|what| {
        let mut name = aside.to_owned();
        name.push(format!(".{what}"));
        name
    })
}

/// Writes what the target held over it again.
pub(super) fn put_back(target: &At<'_>, aside: &At<'_>) -> Result<(), Errno> {
    let [kept, _] = names(&aside.1);
    write_again(&(aside.0, kept), target)
}

/// Writes `from` over a target where a step was begun.
pub(super) fn write_again(from: &At<'_>, target: &At<'_>) -> Result<(), Errno> {
    copy(&mut opened(from, OFlags::RDONLY)?, &mut opened(target, OFlags::RDWR)?)
}

/// Whether a step was begun so, and nobody wrote the target since.
pub(super) fn begun(source: &At<'_>, target: &At<'_>, aside: &At<'_>, old: Option<Identity>) -> Option<HowFar> {
    let (new, file) = (opened(source, OFlags::RDONLY).ok()?, opened(target, OFlags::RDONLY).ok()?);
    let [kept, _] = names(&aside.1);
    let kept = opened(&(aside.0, kept), OFlags::RDONLY).ok()?;
    let inode = |file: &File| fstat(file).ok().map(|stat| Identity::of(&stat).inode());
    let is_it = inode(&file).is_some() && inode(&file) == old.map(Identity::inode) && inode(&kept) != inode(&file);
    if !is_it {
        return None;
    }
    let bytes = |file: &File| file.metadata().ok().map(|meta| meta.len());
    let (length, of_new, of_old) = (bytes(&file)?, bytes(&new)?, bytes(&kept)?);
    let same = common(&file, &new, 0).ok()?;
    if same == length && same == of_new {
        return Some(HowFar::Whole);
    }
    let is_part = match same >= of_old {
        true => same == length,
        false => length == of_old && same + common(&file, &kept, same).ok()? == length,
    };
    is_part.then_some(HowFar::Part)
}

/// How many bytes are the same in both from `start` on.
fn common(one: &File, other: &File, start: u64) -> io::Result<u64> {
    let (mut one, mut other) = (one, other);
    one.seek(SeekFrom::Start(start))?;
    other.seek(SeekFrom::Start(start))?;
    let (mut left, mut right) = (Vec::with_capacity(CHUNK_BYTES), Vec::with_capacity(CHUNK_BYTES));
    let mut same = 0;
    loop {
        left.clear();
        right.clear();
        one.take(CHUNK_BYTES as u64).read_to_end(&mut left)?;
        other.take(CHUNK_BYTES as u64).read_to_end(&mut right)?;
        let alike = left.iter().zip(&right).take_while(|(one, other)| one == other).count();
        same += alike as u64;
        if alike < CHUNK_BYTES {
            return Ok(same);
        }
    }
}

fn copy(from: &mut File, to: &mut File) -> Result<(), Errno> {
    let code = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    from.rewind().and_then(|()| to.rewind()).map_err(code)?;
    let length = io::copy(from, to).map_err(code)?;
    to.set_len(length).and_then(|()| to.sync_data()).map_err(code)
}

/// A regular file; anything else is what it is not for.
fn opened((dir, name): &At<'_>, how: OFlags) -> Result<File, Errno> {
    let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(dir, name.as_os_str(), flags, Mode::RUSR | Mode::WUSR)?);
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(file),
        _ => Err(Errno::INVAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_step_that_was_begun_is_known_and_what_others_wrote_is_not_taken_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let handle = OwnedFd::from(File::open(dir.path()).unwrap());
        let at = |name: &str| (&handle, OsString::from(name));
        let set = |name: &str, text: &str| {
            // The same inode, as it is written in place.
            std::fs::write(dir.path().join(name), text).unwrap();
        };
        for (old, new) in [("old text\n", "new, and longer\n"), ("a longer old text\n", "new\n"), ("same\n", "same\n")]
        {
            set("target", old);
            set("source", new);
            let _ = std::fs::remove_file(dir.path().join("aside.kept"));
            let id = fstat(File::open(dir.path().join("target")).unwrap()).map(|stat| Identity::of(&stat)).ok();
            let told = || begun(&at("source"), &at("target"), &at("aside"), id);
            assert_eq!(told(), None, "nothing lies aside");
            // A kill when all was kept, and nothing was written yet.
            set("aside.kept", old);
            set("aside.part", old);
            assert_eq!(write(&at("source"), &at("target"), &at("aside"), id), Ok(true));
            assert_eq!(std::fs::read_to_string(dir.path().join("target")).unwrap(), new);
            assert_eq!(std::fs::read_to_string(dir.path().join("aside.kept")).unwrap(), old);
            assert_eq!(told(), Some(HowFar::Whole));
            for written in 0..new.len() {
                let rest = old.get(written..).unwrap_or_default();
                set("target", &format!("{}{rest}", &new[..written]));
                let whole = std::fs::read_to_string(dir.path().join("target")).unwrap() == new;
                assert_eq!(told(), Some(if whole { HowFar::Whole } else { HowFar::Part }), "{old:?} {new:?} {written}");
            }
            for other in ["", "others wrote this\n", &format!("{new}more\n"), &format!("{old}more\n"), "x"] {
                set("target", other);
                assert_eq!(told(), None, "{other:?}");
            }
            set("target", old);
            let inode = dir.path().join("target").metadata().unwrap().ino();
            write_again(&at("source"), &at("target")).unwrap();
            assert_eq!(dir.path().join("target").metadata().unwrap().ino(), inode);
        }
        let id = fstat(File::open(dir.path().join("target")).unwrap()).map(|stat| Identity::of(&stat)).ok();
        std::fs::hard_link(dir.path().join("target"), dir.path().join("name")).unwrap();
        let before = std::fs::read(dir.path().join("name")).unwrap();
        assert_eq!(write(&at("source"), &at("target"), &at("other"), id), Err(Errno::INVAL), "it has another name");
        assert_eq!(std::fs::read(dir.path().join("name")).unwrap(), before);
        let other = fstat(&handle).map(|stat| Identity::of(&stat)).ok();
        assert_eq!(write(&at("source"), &at("target"), &at("other"), other), Ok(false), "it is another file");
    }
}
