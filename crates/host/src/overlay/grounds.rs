//! Within what a rename works: one mount, and on some file systems one part of it. Two mounts may show the same file
//! system, as containers have it, and nothing is renamed from one to the other all the same.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use nika_contract::ToolError;
use nika_guard::Permit;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};

use super::Layer;

/// What two directories share between which a rename works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reach {
    device: (u32, u32),
    /// 0 where the kernel does not say: before 5.8.
    mount: u64,
}

fn reach(dir: &Path) -> Option<Reach> {
    let stat = statx(CWD, dir, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::MNT_ID | StatxFlags::TYPE).ok()?;
    // A file that gives way to a directory: on an overlay it may have another device.
    if FileType::from_raw_mode(stat.stx_mode.into()) != FileType::Directory {
        return None;
    }
    let is_told = stat.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    let device = (stat.stx_dev_major, stat.stx_dev_minor);
    Some(Reach { device, mount: if is_told { stat.stx_mnt_id } else { 0 } })
}

/// Whether what lies in one of two directories can be renamed into the other.
pub(super) fn is_shared(one: &Path, other: &Path) -> bool {
    reach(one).is_some_and(|one| reach(other) == Some(one))
}

/// The directories from which `paths` can be reached by renames: those of `roots` that hold any, and what is mounted in
/// them on the way to one.
pub(crate) fn grounds(roots: &[PathBuf], paths: impl Iterator<Item = impl AsRef<Path>>) -> BTreeSet<PathBuf> {
    let mut known: HashMap<PathBuf, Option<Reach>> = HashMap::new();
    let mut grounds = BTreeSet::new();
    for path in paths {
        let path = path.as_ref();
        let holding = roots.iter().filter(|root| path.starts_with(root));
        let Some(root) = holding.max_by_key(|root| root.as_os_str().len()) else { continue };
        let mut on_the_way: Vec<&Path> = path.ancestors().skip(1).take_while(|dir| dir.starts_with(root)).collect();
        on_the_way.reverse();
        let mut last: Option<(&Path, Reach)> = None;
        for dir in on_the_way {
            let here = match known.get(dir) {
                Some(here) => *here,
                None => *known.entry(dir.to_path_buf()).or_insert_with(|| reach(dir)),
            };
            // What is not a directory yet comes to be one where its parent is.
            let Some(here) = here else { break };
            if last.is_none_or(|(_, last)| last != here) {
                last = Some((dir, here));
            }
        }
        grounds.extend(last.map(|(dir, _)| dir.to_path_buf()));
    }
    grounds
}

impl Layer {
    /// Layers that nobody mounts, for changes at `paths` in `roots`: one a root, and one for each place that something is
    /// mounted at, as nothing is renamed over its edge. Each change is checked against the permit.
    pub fn all_by_hand(
        permit: &Permit,
        state: &Path,
        roots: &[PathBuf],
        paths: impl Iterator<Item = impl AsRef<Path>>,
    ) -> Result<Vec<Layer>, ToolError> {
        let grounds = grounds(roots, paths);
        let mut layers = Vec::with_capacity(grounds.len());
        for root in &grounds {
            let mut layer = Layer::by_hand(permit, state, root)?;
            layer.not_in = grounds.iter().filter(|other| *other != root && other.starts_with(root)).cloned().collect();
            layers.push(layer);
        }
        Ok(layers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_for_each_root_that_holds_a_path() {
        let world = tempfile::tempdir().unwrap();
        let at = |name: &str| world.path().canonicalize().unwrap().join(name);
        for name in ["a/deep", "b", "a/inner/d"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        let roots = [at("a"), at("b"), at("a/inner")];
        let found = |paths: &[&str]| grounds(&roots, paths.iter().map(|name| at(name))).into_iter().collect::<Vec<_>>();
        assert_eq!(found(&["a/deep/x", "a/new/y/z"]), [at("a")]);
        assert_eq!(found(&["a/x", "a/inner/d/x"]), [at("a"), at("a/inner")]);
        assert_eq!(found(&["elsewhere/x"]), Vec::<PathBuf>::new());
    }

    #[test]
    fn mounts_are_told_apart() {
        assert!(!is_shared(Path::new("/"), Path::new("/proc")));
        assert!(is_shared(Path::new("/proc"), Path::new("/proc/sys")));
    }
}
