//! Where names lead by links, also as far as nothing stands there.

use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// As many links on one way as the kernel follows.
const MOST_LINKS: u32 = 40;

/// Where an absolute path leads, also as far as it does not exist. `on_the_way` hears of each link.
pub(crate) fn led(path: &Path, mut on_the_way: impl FnMut(&Path)) -> PathBuf {
    let mut rest: Vec<OsString> = path.iter().rev().map(OsStr::to_os_string).collect();
    let (mut at, mut links) = (PathBuf::from("/"), 0);
    while let Some(part) = rest.pop() {
        match part.as_bytes() {
            b"/" => at = PathBuf::from("/"),
            b"." => {}
            b".." => drop(at.pop()),
            _ => match std::fs::read_link(at.join(&part)).ok().filter(|_| links < MOST_LINKS) {
                Some(target) => {
                    links += 1;
                    on_the_way(&at.join(&part));
                    rest.extend(target.iter().rev().map(OsStr::to_os_string));
                }
                None => at.push(part),
            },
        }
    }
    at
}

/// The file that a link leads to, or the place where one may come to be, if that is all that counts: no other link is on the
/// way, and its directory is there.
pub(crate) fn led_straight(link: &Path) -> Option<PathBuf> {
    let mut links = 0;
    let to = led(link, |_| links += 1);
    let is_file_or_nothing = match to.symlink_metadata() {
        Ok(meta) => meta.is_file(),
        Err(error) => error.kind() == ErrorKind::NotFound && to.parent().is_some_and(Path::is_dir),
    };
    (links == 1 && is_file_or_nothing).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_somewhere_though_nothing_is_there_and_straight_where_nothing_else_is_on_the_way() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().canonicalize().expect("there");
        std::fs::create_dir_all(root.join("docs/deep")).expect("made");
        std::fs::write(root.join("docs/a"), "a").expect("written");
        std::os::unix::fs::symlink("docs", root.join("other")).expect("a link");
        let cases = [
            ("../docs/a", "docs/a", true),
            ("../docs/new", "docs/new", true),
            ("../docs/deep", "docs/deep", false),
            ("../none/new", "none/new", false),
            ("../other/a", "docs/a", false),
            ("../other/../x", "x", false),
            ("dev@host.12:3", "links/dev@host.12:3", true),
            ("/opt/nowhere/ext", "/opt/nowhere/ext", false),
        ];
        std::fs::create_dir(root.join("links")).expect("made");
        for (number, (to, leads, straight)) in cases.into_iter().enumerate() {
            let link = root.join("links").join(number.to_string());
            std::os::unix::fs::symlink(to, &link).expect("a link");
            let leads = root.join(leads);
            assert_eq!((led(&link, |_| {}), led_straight(&link)), (leads.clone(), straight.then_some(leads)), "{to}");
        }
    }
}
