//! What becomes of a secret that a command names: another name for it, or other content in its place.
//!
//! A rule on reading goes by names, so who gives a secret another one reads it. Who removes it, or puts something in its place,
//! loses it: what it held stands nowhere else. Whether there is one yet is not known here.

use std::path::{Path, PathBuf};

use super::super::fact::{Fact, Target};
use super::super::judge::Judge;

/// Programs whose writes leave what a file holds as it is, or make a key or a certificate and say so. Git keeps what it
/// replaces, but for what it discards, which is another warning.
const LEAVE: &[&str] = &[
    "chmod",
    "gchmod",
    "chown",
    "gchown",
    "chgrp",
    "chattr",
    "setfacl",
    "mkdir",
    "gmkdir",
    "rmdir",
    "git",
    "openssl",
    "ssh-keygen",
];

/// Programs that give a file another name.
const RENAME: &[&str] = &["mv", "gmv", "rename", "prename", "file-rename", "perl-rename"];

/// What `program` does to secrets, by the facts from `start` on.
pub(super) fn judge(program: &str, start: usize, judge: &mut Judge<'_>) {
    let facts = judge.facts.get(start..).unwrap_or_default();
    let more: Vec<Fact> = match program {
        _ if LEAVE.contains(&program) => return,
        _ if RENAME.contains(&program) => {
            facts.iter().filter_map(|fact| renamed(fact).or_else(|| lost(fact))).collect()
        }
        _ => facts.iter().filter_map(lost).collect(),
    };
    judge.facts.extend(more);
}

/// A secret that gets another name is read.
pub(super) fn renamed(fact: &Fact) -> Option<Fact> {
    let Fact::Delete(target) = fact else { return None };
    secret_at(&target.path).map(|path| Fact::Read(Target { path, tree: target.tree, itself: false, redirected: false }))
}

/// The secret that a path names, itself or by the directory that makes it one.
pub(super) fn secret_at(path: &Path) -> Option<PathBuf> {
    const BELOW: &[(&str, &str)] = &[
        (".docker", "config.json"),
        (".m2", "settings.xml"),
        (".cargo", "credentials"),
        (".gem", "credentials"),
        (".terraform.d", "credentials.tfrc.json"),
    ];
    if is_secret(path) {
        return Some(path.to_owned());
    }
    let (_, name) = BELOW.iter().find(|(dir, _)| path.ends_with(dir))?;
    Some(path.join(name))
}

/// A secret that is removed or written over is lost. One that is guarded, too, is asked about as that.
pub(in super::super) fn lost(fact: &Fact) -> Option<Fact> {
    let (Fact::Write(target) | Fact::Delete(target)) = fact else { return None };
    let asked = crate::classify(&target.path).asked().is_some();
    let shown = target.path.file_name().unwrap_or_default().to_string_lossy();
    (is_secret(&target.path) && !asked)
        .then(|| Fact::Opaque(format!("`{shown}` is a secret by its name, and what it holds would be lost")))
}

fn is_secret(path: &Path) -> bool {
    crate::classify(path).secret.is_some()
}
