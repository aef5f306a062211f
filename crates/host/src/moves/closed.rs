//! Directories that their owner may not write. A move into one, or of one, gives its owner the rights for a moment, and a
//! kill in that moment leaves them given.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use nika_contract::pathtext;
use rustix::fs::{FileType, Mode, OFlags, Stat, chmod, fstat};
use serde::{Deserialize, Serialize};

use super::{Act, Step};
use crate::fs::Workspace;
use crate::overlay::by_handle;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Closed {
    #[serde(with = "pathtext")]
    pub(crate) path: PathBuf,
    inode: u64,
    mode: u32,
}

impl Closed {
    /// What is noted of an entry at `path`, if it is such a directory.
    pub(crate) fn of(path: &Path, stat: &Stat) -> Option<Closed> {
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let is_closed = is_directory && !mode.contains(Mode::RWXU);
        is_closed.then(|| Closed { path: path.to_path_buf(), inode: stat.st_ino, mode: mode.as_raw_mode() })
    }

    /// Drops those that the steps give other rights: these they have in the end.
    pub(crate) fn drop_set(all: &mut Vec<Closed>, steps: &[Step]) {
        let set: HashMap<&Path, u32> = steps
            .iter()
            .filter_map(|step| match step.act {
                Act::Set { mode, .. } => Some((step.target.as_path(), mode)),
                Act::Put | Act::Swap | Act::Remove => None,
            })
            .collect();
        all.retain(|dir| set.get(dir.path.as_path()).is_none_or(|mode| *mode == dir.mode));
    }

    /// Takes the rights away again, if they are those that were given: other ones are somebody's wish.
    pub(super) fn close(&self, files: &Workspace) {
        let Ok(dir) = files.look_as_owner(&self.path, OFlags::PATH | OFlags::DIRECTORY) else { return };
        let Ok(stat) = fstat(&dir) else { return };
        let mode = Mode::from_raw_mode(self.mode);
        let given = (mode | Mode::RWXU).as_raw_mode();
        if stat.st_ino == self.inode && stat.st_mode & 0o7777 == given {
            let _ = chmod(by_handle(&dir), mode);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many as a command may change; each compared with each would be some 10^9 paths.
    #[test]
    fn of_many_those_stay_that_no_step_gives_other_rights() {
        const MANY: u32 = 30_000;
        let path = |n: u32| PathBuf::from(format!("/w/{n}"));
        let mut all: Vec<Closed> = (0..MANY).map(|n| Closed { path: path(n), inode: 1, mode: 0o555 }).collect();
        let steps: Vec<Step> = (0..MANY)
            .map(|n| {
                let act = match n % 3 {
                    0 => Act::Set { mode: 0o755, mtime: None },
                    1 => Act::Set { mode: 0o555, mtime: None },
                    _ => Act::Swap,
                };
                Step::new(path(n), (path(n), path(n)), act)
            })
            .collect();
        Closed::drop_set(&mut all, &steps);
        assert_eq!(all.len() as u32, MANY / 3 * 2);
        assert_eq!([&all[0], &all[1], &all[2]].map(|dir| dir.path.clone()), [path(1), path(2), path(4)]);
    }
}
