//! Whether the kernel could bound the memory and the processes of a command as a whole.
//!
//! Nika does not have it do so: a control group is delegated to few sessions, and never in containers, so the bounds
//! that hold everywhere are those of each process and the count of all of them. This only tells a person what their
//! machine would grant.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// What bounds a whole command.
const WANTED: [&str; 2] = ["memory", "pids"];

/// The group below which commands could have groups of their own, or why there is none.
pub fn delegated() -> Result<PathBuf, String> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let writable = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    find(&read, &writable)
}

fn find(read: &dyn Fn(&Path) -> Option<String>, writable: &dyn Fn(&Path) -> bool) -> Result<PathBuf, String> {
    let mounts = read(Path::new("/proc/self/mountinfo")).ok_or("/proc/self/mountinfo cannot be read")?;
    // ID PARENT MAJOR:MINOR ROOT MOUNT OPTIONS… - TYPE SOURCE OPTIONS
    let mounted = |line: &str| {
        let (place, kind) = line.split_once(" - ")?;
        kind.starts_with("cgroup2 ").then(|| place.split(' ').nth(4)).flatten().map(PathBuf::from)
    };
    let mount = mounts.lines().find_map(mounted).ok_or("cgroup v2 is not mounted")?;
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let own =
        groups.lines().find_map(|line| line.strip_prefix("0::/")).ok_or("this process is in no group of cgroup v2")?;
    let group = mount.join(own);
    let shown = group.display();
    let there = read(&group.join("cgroup.controllers")).ok_or_else(|| format!("{shown} cannot be read"))?;
    let lacking: Vec<&str> =
        WANTED.into_iter().filter(|wanted| !there.split_whitespace().any(|known| known == *wanted)).collect();
    if !lacking.is_empty() {
        return Err(format!("{shown} does not control {}", lacking.join(" and ")));
    }
    let all = ["", "cgroup.procs", "cgroup.subtree_control"];
    if !all.iter().all(|file| writable(&group.join(file))) {
        return Err(format!("{shown} is not delegated to this user"));
    }
    Ok(group)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str =
        "24 1 0:22 / /proc rw - proc proc rw\n30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";

    fn tried(mounts: &str, groups: &str, controllers: Option<&str>, writable: bool) -> Result<PathBuf, String> {
        let read = |path: &Path| match path.to_str()? {
            "/proc/self/mountinfo" => Some(mounts.to_owned()),
            "/proc/self/cgroup" => Some(groups.to_owned()),
            "/sys/fs/cgroup/user/a/cgroup.controllers" => controllers.map(str::to_owned),
            _ => None,
        };
        find(&read, &|path| writable && path.starts_with("/sys/fs/cgroup/user/a"))
    }

    #[test]
    fn a_delegated_group_is_found_and_what_is_missing_is_named() {
        let (own, all) = ("0::/user/a\n", Some("cpu memory pids\n"));
        assert_eq!(tried(MOUNTS, own, all, true), Ok(PathBuf::from("/sys/fs/cgroup/user/a")));
        for (result, why) in [
            (tried("24 1 0:22 / /proc rw - proc proc rw\n", own, all, true), "not mounted"),
            (tried(MOUNTS, "4:memory:/a\n", all, true), "no group"),
            (tried(MOUNTS, own, None, true), "cannot be read"),
            (tried(MOUNTS, own, Some("cpu pids\n"), true), "does not control memory"),
            (tried(MOUNTS, own, Some("\n"), true), "memory and pids"),
            (tried(MOUNTS, own, all, false), "not delegated"),
        ] {
            let said = result.expect_err(why);
            assert!(said.contains(why), "{said}");
        }
    }
}
