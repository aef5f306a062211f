//! What one simple command does, as facts without an opinion.

use std::collections::HashSet;
use std::hash::Hash;
use std::path::PathBuf;

use super::danger::Danger;

/// Lists up to this long are compared item by item, which is quicker for them.
const SHORT: usize = 16;

/// Keeps the first of equal items.
pub(super) fn each_once<T: Eq + Hash>(list: &mut Vec<T>) {
    if list.len() > SHORT {
        let mut seen = HashSet::with_capacity(list.len());
        let first: Vec<bool> = list.iter().map(|item| seen.insert(item)).collect();
        let mut first = first.into_iter();
        return list.retain(|_| first.next().unwrap_or(true));
    }
    let mut at = 1;
    while at < list.len() {
        let (before, rest) = list.split_at(at);
        match rest.first().is_some_and(|item| before.contains(item)) {
            true => drop(list.remove(at)),
            false => at += 1,
        }
    }
}

/// A path that a command names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// Absolute and lexically normalised. For a pattern: the directory above its first wildcard.
    pub path: PathBuf,
    /// Whether everything below it is meant (a pattern, a recursive option, a directory walk).
    pub tree: bool,
    /// Whether a link at its end is meant itself, and not what it leads to: what is removed.
    pub itself: bool,
    /// Whether a redirection names it, and not the command: what a rule says of that does not hold for it.
    pub redirected: bool,
}

/// What is destroyed, for the warning and its page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// Uncommitted work: reset --hard, checkout, clean, stash drop.
    GitDiscard,
    /// Published or local history: push --force, branch -D, reflog expire, --no-verify.
    GitHistory,
    /// Files: rm -r, find -delete, shred, truncate, rsync --delete.
    Files,
    /// Disks and volumes: mkfs, wipefs, dd of=/dev/…, lvremove.
    Disk,
    /// Databases: DROP, TRUNCATE, DELETE without WHERE, FLUSHALL.
    Database,
    /// Containers and images.
    Container,
    /// Kubernetes.
    Kubernetes,
    /// terraform, pulumi, ansible, vagrant.
    Infrastructure,
    /// aws, gcloud, az, rclone, gh.
    Cloud,
    /// Packages removed from a system or a registry.
    Package,
    /// Users, processes, power, services, firewall.
    System,
}

/// One thing a simple command does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fact {
    /// Reads a file or a tree.
    Read(Target),
    /// Creates, changes or links.
    Write(Target),
    /// Removes or moves away.
    Delete(Target),
    /// Reaches the network; the host where it is written in the command, lower case.
    Net(Option<String>),
    /// Runs code of the workspace in a known way (build, test, a script in a file). Confined by the sandbox.
    Code(String),
    /// Runs what the analysis cannot say: inline code, an unknown program or option, an unknown word.
    Opaque(String),
    /// Changes the state of the system or of processes of others: kill, mount, systemctl, date -s.
    System(String),
    /// Asks for the rights of another user: sudo, su, set-uid bits.
    Privilege(String),
    /// Destroys what cannot be had back.
    Destroys(Category, String),
    /// Nobody should: remote code into a shell, `/dev/tcp`, theft of keys, fork bombs.
    Forbidden(Danger, String),
    /// Shells would disagree about what the text means.
    Misparse(String),
}
