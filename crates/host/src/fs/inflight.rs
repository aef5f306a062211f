//! The one temporary name that a single change has for a moment. A note in the state directory says what stands under it,
//! so that whoever finds the note of a dead process knows whether that is ours to remove.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, RenameFlags};
use serde::{Deserialize, Serialize};

use super::{Expect, Locked, Stamp, Workspace, land};

/// What a process notes of itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Inflight {
    /// The directory of both names.
    dir: Vec<u8>,
    temp: String,
    /// Before the new file has a name: whatever is found under it is ours.
    exchange: Option<Exchange>,
}

/// Both names are about to be exchanged, or the file is about to get the temporary one.
#[derive(Debug, Serialize, Deserialize)]
struct Exchange {
    name: Vec<u8>,
    /// The new file; `None` where the name goes.
    new: Option<Stamp>,
    /// The file that it takes the place of, or that goes.
    former: Stamp,
}

impl Locked<'_> {
    /// Notes the temporary name of a new file in `dir`.
    pub(super) fn note_inflight(&mut self, dir: Option<&Path>, temp: &str) {
        let Some(dir) = dir else { return };
        self.write_inflight(&Inflight {
            dir: dir.as_os_str().as_bytes().to_vec(),
            temp: temp.to_owned(),
            exchange: None,
        });
    }

    /// Notes that it is about to change names with the file at `path`, or that this is about to get the temporary one.
    pub(super) fn note_exchange(&mut self, path: &Path, temp: &str, new: Option<&File>, expect: &Expect) {
        let (Some(dir), Some(name), Expect::Is { stamp, .. }) = (path.parent(), path.file_name(), expect) else {
            return;
        };
        // Without a note that is true, what is found is nobody's to remove.
        let Ok(new) = new.map(rustix::fs::fstat).transpose() else { return self.note_landed() };
        let (new, former) = (new.as_ref().map(Stamp::from), *stamp);
        let exchange = Some(Exchange { name: name.as_bytes().to_vec(), new, former });
        self.write_inflight(&Inflight { dir: dir.as_os_str().as_bytes().to_vec(), temp: temp.to_owned(), exchange });
    }

    /// Notes that there is none any more.
    pub(super) fn note_landed(&mut self) {
        if let Some(file) = &self.state.inflight {
            let _ = file.set_len(0);
        }
    }

    fn write_inflight(&mut self, note: &Inflight) {
        if self.state.inflight.is_none() {
            let path = self.files.inflight_path();
            self.state.inflight = File::options().create(true).write(true).truncate(true).open(path).ok();
            self.state.sets_mtime = self.files.sets_mtime();
        }
        // Without a note a kill in the next microseconds leaves one stray file; no reason to refuse.
        let (Some(file), Ok(note)) = (&self.state.inflight, serde_json::to_vec(note)) else { return };
        let _ = file.write_all_at(&note, 0);
    }
}

impl Workspace {
    pub(super) fn inflight_path(&self) -> PathBuf {
        self.sets_dir().join(format!("{}.inflight", std::process::id()))
    }

    /// Settles what a note says of a process that is between two changes, or dead.
    pub(super) fn settle_inflight(&self, note: &[u8]) {
        let Ok(Inflight { dir, temp, exchange }) = serde_json::from_slice(note) else { return };
        let beside = PathBuf::from(OsString::from_vec(dir)).join(&temp);
        if exchange.is_none_or(|exchange| self.is_ours(&beside, &exchange)) {
            self.discard(&beside, &temp);
        }
    }

    /// Whether the file under the temporary name is the new one or the one that it replaced. What others wrote at the last
    /// moment is neither, and goes back to its place; where that is taken by yet another, it stays.
    fn is_ours(&self, beside: &Path, exchange: &Exchange) -> bool {
        let Ok((dir, temp)) = self.parent_of(beside) else { return false };
        let there =
            |name: &OsStr| rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| Stamp::from(&stat));
        let Ok(out) = there(&temp) else { return false };
        if exchange.new.is_some_and(|new| out.same_file(&new)) || out.same_content(&exchange.former) {
            return true;
        }
        let name = OsStr::from_bytes(&exchange.name);
        match there(name) {
            // As it was made, and nothing written to it since.
            Ok(new) if exchange.new.is_some_and(|made| new.same_content(&made)) => {
                let exchanged = || rustix::fs::renameat_with(&dir, &temp, &dir, name, RenameFlags::EXCHANGE).is_ok();
                if !exchanged() {
                    return false;
                }
                let is_new = there(&temp).is_ok_and(|out| out.same_content(&new));
                // Others may have put something there since the look: that goes back.
                is_new || {
                    exchanged();
                    false
                }
            }
            Err(rustix::io::Errno::NOENT) => {
                let _ = land((&dir, &temp), (&dir, name));
                false
            }
            _ => false,
        }
    }
}
