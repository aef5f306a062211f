//! Where else what is hidden stands: a file system that is mounted twice shows it under two names, and a mount that hides
//! covers one of them.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nika_guard::profile::{Profile, Step};

use super::Refusal;
use crate::mount_table::{self, Mount, holding};

/// `steps`, and those that hide the same again wherever other mounts show it.
pub(super) fn hidden_too(profile: &Profile, steps: Vec<Step>) -> Result<Vec<Step>, Refusal> {
    let by_mount = steps.iter().filter(|step| matches!(step, Step::Hide(_))).map(Step::path);
    let by_layer = profile.layers.iter().flat_map(|layer| &layer.stand_ins).map(PathBuf::as_path);
    let hidden: Vec<&Path> = by_mount.chain(by_layer).collect();
    if hidden.is_empty() {
        return Ok(steps);
    }
    let table = mount_table::read().map_err(|error| Refusal::of("hidden secrets", "the table of mounts", error))?;
    let more: Vec<PathBuf> =
        aliases(&hidden, &table).into_iter().filter(|(of, at)| are_one(of, at)).map(|(_, at)| at).collect();
    if more.is_empty() {
        return Ok(steps);
    }
    // Parents before children, as they came.
    let mut all: BTreeMap<PathBuf, Step> = more.into_iter().map(|path| (path.clone(), Step::Hide(path))).collect();
    all.extend(steps.into_iter().map(|step| (step.path().to_path_buf(), step)));
    Ok(all.into_values().collect())
}

/// Each of `hidden`, and what is mounted below it, with every other name that the table gives it.
fn aliases(hidden: &[&Path], table: &[Mount]) -> Vec<(PathBuf, PathBuf)> {
    // Few file systems are mounted twice, and most of what is hidden lies in none of those.
    let mut mounted: HashMap<&[u8], usize> = HashMap::new();
    table.iter().for_each(|mount| *mounted.entry(&mount.device).or_default() += 1);
    let twice: Vec<&Mount> = table.iter().filter(|mount| mounted[&*mount.device] > 1).collect();
    let mut found = Vec::new();
    let mut seek = |path: &Path| {
        if !twice.iter().any(|mount| path.starts_with(&mount.at)) {
            return;
        }
        let Some(mount) = holding(table, path) else { return };
        let Ok(rest) = path.strip_prefix(&mount.at) else { return };
        let inside: PathBuf = mount.shows.components().chain(rest.components()).collect();
        let others = twice.iter().filter(|other| other.device == mount.device);
        // By components: joined with nothing, a file's name would end in a slash.
        let below = |other: &&Mount| {
            Some(other.at.components().chain(inside.strip_prefix(&other.shows).ok()?.components()).collect())
        };
        let names = others.filter_map(below);
        found.extend(names.filter(|name: &PathBuf| name != path).map(|name| (path.to_path_buf(), name)));
    };
    for path in hidden {
        seek(path);
        twice.iter().filter(|mount| mount.at.starts_with(path) && mount.at != **path).for_each(|mount| seek(&mount.at));
    }
    found
}

/// Whether both names lead to one file. A mount that others lie over shows nothing, or something else.
fn are_one(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| path.symlink_metadata().map(|of| (of.dev(), of.ino())).ok();
    identity(one).is_some_and(|it| identity(other) == Some(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(device: &str, shows: &str, at: &str) -> Mount {
        Mount { device: device.into(), shows: shows.into(), at: at.into() }
    }

    fn names(path: &str, table: &[Mount]) -> Vec<String> {
        aliases(&[Path::new(path)], table).into_iter().map(|(_, at)| at.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_second_mount_of_a_directory_above_gives_another_name() {
        let table = [mount("8:1", "/", "/"), mount("8:1", "/home/dev", "/mnt/twin"), mount("8:2", "/", "/data")];
        assert_eq!(names("/home/dev/.ssh", &table), ["/mnt/twin/.ssh"]);
        assert_eq!(names("/mnt/twin/.ssh", &table), ["/home/dev/.ssh"]);
        assert!(names("/data/.env", &table).is_empty());
        assert!(names("/home/other/.ssh", &table).is_empty());
    }

    #[test]
    fn a_volume_at_two_places_is_hidden_at_both() {
        let table = [mount("0:9", "/", "/"), mount("8:1", "/v/code", "/w"), mount("8:1", "/v", "/volumes")];
        assert_eq!(names("/w/.env", &table), ["/volumes/code/.env"]);
    }

    #[test]
    fn so_is_what_is_mounted_below_something_hidden() {
        let table = [mount("8:1", "/", "/"), mount("0:9", "/", "/home/dev/.vault"), mount("0:9", "/", "/mnt/vault")];
        assert_eq!(names("/home/dev/.vault", &table), ["/mnt/vault"]);
        assert_eq!(names("/home/dev", &table), ["/mnt/vault"]);
    }
}
