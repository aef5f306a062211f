//! Whether a file is a secret under another name: `ln .env notes.txt` made one file of two names, and whoever is not asked
//! about the one is not asked about the other.
//!
//! Only a file that has several names is looked at so. The secrets of the roots are found by a walk, whose result is taken
//! for true for a while, as a package manager may link all that it installs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use nika_guard::{Place, classify};
use rustix::fs::{FileType, OFlags, Stat, fstat, lstat};

use super::Workspace;
use crate::sandbox::scan;

/// For so many times as long as the walk took: it costs one part in twenty of the time at most.
const TRUSTED_FOR: u32 = 20;
/// Entries of a secret directory that are looked at. Default 1,000: keys lie in such directories, and few.
const MOST_INSIDE: usize = 1_000;

/// Secrets that have several names, when they were looked for, and how long that took.
#[derive(Debug)]
pub(super) struct Twins {
    linked: Arc<Vec<((u64, u64), PathBuf)>>,
    at: Instant,
    took: Duration,
}

impl Workspace {
    /// The secret in a root that is the very file at `place`, which is none by its own name.
    pub fn secret_twin(&self, place: &Place) -> Option<Place> {
        let handle = self.open_exact(&place.path, OFlags::PATH | OFlags::NOFOLLOW).ok()?;
        let file = linked(&fstat(&handle).ok()?)?;
        if classify(&place.path).secret.is_some() {
            return None;
        }
        let secrets = self.linked_secrets();
        let twin = secrets.iter().find(|(secret, path)| *secret == file && *path != place.path);
        twin.map(|(_, path)| self.place(path.clone()))
    }

    fn linked_secrets(&self) -> Arc<Vec<((u64, u64), PathBuf)>> {
        let mut twins = self.twins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = twins.as_ref().filter(|known| known.at.elapsed() < known.took * TRUSTED_FOR) {
            return Arc::clone(&known.linked);
        }
        let at = Instant::now();
        let secrets: Vec<PathBuf> = self.roots().flat_map(|root| scan(root, self.person()).secrets).collect();
        let linked = Arc::new(secrets.iter().flat_map(|secret| files(secret)).collect::<Vec<_>>());
        *twins = Some(Twins { linked: Arc::clone(&linked), at, took: at.elapsed() });
        linked
    }
}

/// The files with several names at a secret, or in it.
fn files(secret: &Path) -> Vec<((u64, u64), PathBuf)> {
    let inside = std::fs::read_dir(secret).into_iter().flatten().flatten().take(MOST_INSIDE).map(|entry| entry.path());
    let all = std::iter::once(secret.to_path_buf()).chain(inside);
    all.filter_map(|path| Some((linked(&lstat(&path).ok()?)?, path))).collect()
}

/// Which file it is, if it is one with several names.
fn linked(stat: &Stat) -> Option<(u64, u64)> {
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    (is_file && stat.st_nlink > 1).then_some((stat.st_dev, stat.st_ino))
}
