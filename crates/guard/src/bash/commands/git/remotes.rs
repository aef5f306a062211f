//! Remotes that are directories: `git push o` to a repository beside this one reaches no network.
//!
//! Only what is certain counts: a path that the command line writes out, or a remote of which each address is one. Where
//! a setting may lead elsewhere, or starts a program, it is the network, as it is where nobody has looked.

use std::path::{Path, PathBuf};

use super::super::super::judge::{Arg, Judge};
use super::super::spec::Parsed;
use super::{base, own};
use crate::repository::{Repository, Setting};

/// Settings with which other remotes are asked, too, or other programs ask.
const ELSEWHERE: &[(&str, &str)] = &[
    ("url.", ".insteadof"),
    ("url.", ".pushinsteadof"),
    ("remote.", ".uploadpack"),
    ("remote.", ".receivepack"),
    ("remote.", ".vcs"),
    ("remote.", ".promisor"),
    ("remotes.", ""),
    ("extensions.partialclone", ""),
];

/// Settings with which git goes on into repositories in this one.
const DEEPER: &[&str] = &["submodule.", "fetch.recursesubmodules", "push.recursesubmodules"];

/// The directories that are reached: nothing where one of the addresses is none.
pub(super) fn local(parsed: &Parsed, remote: Option<&Arg>, judge: &Judge<'_>) -> Option<Vec<PathBuf>> {
    let dir = judge.site.cwd.join(base(parsed));
    // In a directory below, versions of git do not agree where a path leads from.
    let top = judge.site.top(&dir).unwrap_or_else(|| judge.resolve(&base(parsed)));
    let at = |place: &str| judge.resolve(top.join(place).to_str().unwrap_or_default());
    let named = match remote {
        Some(arg) => Some(arg.exact()?),
        None => None,
    };
    let repository = judge.site.repository(&dir);
    let settings = repository.as_ref().map_or(&[][..], |repository| repository.settings.as_slice());
    // Repositories inside have remotes of their own.
    if goes_deeper(parsed) || settings.iter().any(|one| DEEPER.iter().any(|start| one.key.starts_with(start))) {
        return None;
    }
    let is_replaced = |text: &str| settings.iter().any(|setting| replaces(setting, text));
    if let Some(path) =
        named.filter(|text| !is_replaced(text)).and_then(path).filter(|path| path.starts_with(['.', '/']))
    {
        return (top == judge.resolve(&base(parsed)) || path.starts_with('/')).then(|| vec![at(path)]);
    }
    let repository = repository?;
    if repository.unknown.is_some() || repository.settings.iter().any(leads_elsewhere) {
        return None;
    }
    let every = named.is_none() || own(parsed, "all multiple").is_some();
    if every && !follows_remotes(&repository) {
        return None;
    }
    let addresses = addresses(&repository, named.filter(|_| !every))?;
    addresses.iter().map(|address| path(address).map(at)).collect()
}

/// Whether an option says so.
pub(super) fn goes_deeper(parsed: &Parsed) -> bool {
    let stays = |value: &Arg| matches!(value.exact(), Some("no" | "check"));
    own(parsed, "recurse-submodules").is_some_and(|(_, value)| !value.as_ref().is_some_and(stays))
}

/// An address that is a path of this machine.
fn path(address: &str) -> Option<&str> {
    let place = address.strip_prefix("file://").unwrap_or(address);
    // In an address `%2e` is a dot.
    let plain = !place.is_empty() && !place.contains([':', '\\', '~', '%']) && !place.starts_with('-');
    (plain && (place.len() == address.len() || place.starts_with('/'))).then_some(place)
}

/// Whether a setting has git take another address for this one.
fn replaces(setting: &Setting, address: &str) -> bool {
    setting.key.starts_with("url.") && setting.key.ends_with("insteadof") && address.starts_with(&setting.value)
}

/// The directory that `clone` is given.
pub(super) fn local_source<'a>(from: &'a Arg, parsed: &Parsed, judge: &Judge<'_>) -> Option<&'a str> {
    let text = from.exact()?;
    let repository = judge.site.repository(&judge.site.cwd.join(base(parsed)));
    let is_replaced = repository.is_some_and(|all| all.settings.iter().any(|setting| replaces(setting, text)));
    let goes_deeper = own(parsed, "recursive recurse-submodules").is_some();
    path(text).filter(|_| !is_replaced && !goes_deeper)
}

fn leads_elsewhere(setting: &Setting) -> bool {
    ELSEWHERE.iter().any(|(start, end)| setting.key.starts_with(start) && setting.key.ends_with(end))
}

/// The addresses of one remote, or of all; nothing where there are none.
fn addresses<'r>(repository: &'r Repository, named: Option<&str>) -> Option<Vec<&'r str>> {
    let of = |setting: &'r Setting| {
        let remote = setting.key.strip_prefix("remote.")?;
        let name = remote.strip_suffix(".url").or_else(|| remote.strip_suffix(".pushurl"))?;
        named.is_none_or(|named| named == name).then_some(setting.value.as_str())
    };
    let found: Vec<&str> = repository.settings.iter().filter_map(of).collect();
    (!found.is_empty()).then_some(found)
}

/// Whether each branch, and what is pushed to, follows a remote by its name: an address may stand there as well.
fn follows_remotes(repository: &Repository) -> bool {
    let follows = |key: &str| {
        key == "remote.pushdefault"
            || key.starts_with("branch.") && (key.ends_with(".remote") || key.ends_with(".pushremote"))
    };
    let known = |name: &str| name == "." || addresses(repository, Some(name)).is_some();
    repository.settings.iter().filter(|setting| follows(&setting.key)).all(|setting| known(&setting.value))
}

/// Notes what is reached in these directories: a push writes there, and runs the hooks that lie there.
pub(super) fn reach(parsed: &Parsed, places: &[PathBuf], judge: &mut Judge<'_>) {
    let pushes = parsed.path.last().is_some_and(|sub| sub == "push");
    for place in places.iter().filter_map(|place| Path::to_str(place)) {
        let place = judge.word(place);
        if pushes { judge.write_tree(&place) } else { judge.read_tree(&place) }
    }
    if pushes {
        judge.code("may run the hooks of the repository that it pushes to");
    }
}

#[cfg(test)]
mod tests {
    use super::super::programs::tests::{settings, tell_here};

    /// Whether it reaches a host, with these settings.
    fn reaches(text: &str, all: &[(&str, &str)]) -> bool {
        !tell_here(text, settings(all)).touched().hosts.is_empty()
    }

    #[test]
    fn a_remote_that_is_a_directory_is_no_host() {
        let there = [("remote.o.url", "remote.git"), ("remote.origin.url", "https://x.example/r")];
        for text in ["git push o main", "git fetch o", "git pull o main", "git push -u o HEAD", "git push --repo o"] {
            assert!(!reaches(text, &there), "{text}");
        }
        for text in ["git push ./remote.git main", "git fetch /w/repo/remote.git", "git pull file:///w/repo/r main"] {
            assert!(!reaches(text, &[]), "{text}");
        }
        for text in ["git pull", "git push", "git fetch --all"] {
            assert!(!reaches(text, &[("remote.o.url", "/w/repo/r"), ("branch.main.remote", "o")]), "{text}");
        }
    }

    #[test]
    fn what_may_lead_elsewhere_is() {
        let there = [("remote.o.url", "remote.git"), ("remote.origin.url", "https://x.example/r")];
        for text in ["git pull", "git push", "git push origin", "git push other", "git fetch --all", "git push $x"] {
            assert!(reaches(text, &there), "{text}");
        }
        for more in [
            ("url.https://x.example/.insteadof", "remote"),
            ("remote.o.pushurl", "https://x.example/r"),
            ("remote.o.url", "x.example:r"),
            ("remote.o.promisor", "true"),
            ("remote.o.receivepack", "x"),
            ("remotes.o", "origin"),
        ] {
            assert!(reaches("git push o main", &[there[0], more]), "{more:?}");
        }
        let instead = [("url.https://x.example/.insteadof", "./r")];
        for text in ["git fetch ./remote.git", "git push ./r main", "git clone ./r d"] {
            assert!(reaches(text, &instead), "{text}");
        }
        assert!(!reaches("git fetch ../other", &instead));
        let elsewhere = [("branch.main.remote", "https://x.example/r"), ("remote.pushdefault", "origin")];
        for more in elsewhere {
            assert!(reaches("git push", &[there[0], more]), "{more:?}");
        }
        for text in ["git fetch o", "git fetch ./remote.git", "git pull --all"] {
            assert!(reaches(text, &[there[0], ("submodule.x.url", "https://x.example/r")]), "{text}");
        }
    }

    #[test]
    fn two_remotes_are_both_meant_and_repositories_inside_have_their_own() {
        for text in [
            "git push --repo=./r https://x.example/r",
            "git push --repo=https://x.example/r ./r",
            "git push --recurse-submodules=on-demand ../r",
            "git push ../r main --recurse-submodules=only",
            "git fetch --recurse-submodules ./r",
            "git pull --recurse-submodules=yes ./r main",
            "git clone --recursive ./r d",
            "git clone --recurse-submodules=x ./r",
            "git push file:///w/repo/%2e%2e/other main",
        ] {
            assert!(reaches(text, &[]), "{text}");
        }
        assert!(!reaches("git push --recurse-submodules=check ./r main", &[]));
        assert!(!reaches("git push --repo=./r", &[]));
        assert!(!reaches("git clone file:///w/repo/r d", &[]));
    }

    #[test]
    fn a_push_writes_there() {
        let analysis = tell_here("git push o main", settings(&[("remote.o.url", "remote.git")]));
        assert!(analysis.touched().writes.iter().any(|target| target.path.ends_with("repo/remote.git")));
        let outside = tell_here("git push ../remote.git main", settings(&[]));
        assert!(outside.touched().writes.iter().any(|target| target.path.ends_with("w/remote.git")));
    }
}
