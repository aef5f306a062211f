//! What a repository in the workspace has git read outside of it. A directory that was unpacked or shared brings files of
//! git along which name others' places: then `git log` shows another project's history, and `git diff` any files.
//!
//! | what names a place | read there |
//! |---|---|
//! | a `.git` file | the repository, unless that says itself that its work tree is this one |
//! | `commondir` | the repository |
//! | `core.worktree` | the files |
//! | `format.signatureFile`, `blame.ignoreRevsFile`, `diff.orderFile` and others of [`FILES`] | the file: git prints it, or lines of it, or goes by it |
//! | `include.path`, `includeIf.*.path` | the file |
//! | a link in the repository itself (`config`, `HEAD`, `objects`, `worktrees/x`, …) | where it leads |

use std::fs;
use std::path::{Path, PathBuf};

use nika_guard::repository::Setting;

use super::{Found, leads, pointer};

/// Settings that name a file which git reads, of all that `git help --config` of 2.47 lists. Those that name programs are
/// judged as what runs (`git_runs`). Left out is what is read to reach a host alone, which is asked about by itself
/// (`http.sslCAInfo`, `http.sslKey`), and what only a person's own configuration may set (`trace2.*`, `safe.*`).
const FILES: &[&str] = &[
    "blame.ignorerevsfile",
    "commit.template",
    "core.attributesfile",
    "core.excludesfile",
    "diff.orderfile",
    "fetch.fsck.skiplist",
    "format.signaturefile",
    "fsck.skiplist",
    "gpg.ssh.allowedsignersfile",
    "gpg.ssh.revocationfile",
    "http.cookiefile",
    "init.templatedir",
    "mailmap.file",
    "receive.fsck.skiplist",
    "sendemail.aliasesfile",
    "sendemail.mailmap.file",
];

/// Where in a repository's directory git opens things by name, as far as a link there would show another's: objects and refs
/// further below would have to be known by their names already.
const OPENED: &[&str] = &[
    "",
    "info",
    "logs",
    "modules",
    "objects",
    "objects/info",
    "objects/pack",
    "refs",
    "refs/heads",
    "refs/remotes",
    "refs/tags",
    "worktrees",
];

/// What lies there and no command that only looks reads: hooks, and what other programs keep.
const UNREAD: &[&str] = &["hooks", "lfs", "annex"];

/// Entries of a repository's directory that are looked at for links. Default 100,000, some thirty milliseconds.
const ENTRIES: usize = 100_000;

/// The workspace, and the home directory that `~` means.
pub(super) struct Bounds<'b> {
    pub(super) roots: &'b [PathBuf],
    pub(super) home: Option<&'b Path>,
}

impl Bounds<'_> {
    /// Where `path` leads, where that is not in the workspace.
    pub(super) fn outside(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        (!self.has(&real)).then_some(real)
    }

    pub(super) fn has(&self, real: &Path) -> bool {
        self.roots.iter().any(|root| real.starts_with(root))
    }

    /// Where one repository has git read. `common` is what it shares with others, and `own` what it sets itself. An error
    /// where there is too much to look at.
    pub(super) fn read_by(&self, found: &Found, common: &Path, own: &[Setting]) -> Result<Vec<PathBuf>, String> {
        // What lies around the workspace, or elsewhere, is not of it.
        if self.outside(&found.top).is_some() {
            return Ok(Vec::new());
        }
        let values =
            |name: &'static str| own.iter().filter(move |setting| is(name, &setting.key)).map(|setting| &setting.value);
        let tops: Vec<PathBuf> = values("core.worktree").map(|place| found.git.join(place)).collect();
        let its_own = match self.outside(&found.git) {
            Some(_) if is_said_back(found, &tops) => Vec::new(),
            Some(git) => vec![git],
            None => self.outside(common).into_iter().collect(),
        };
        let files = FILES.iter().flat_map(|name| values(name)).filter_map(|file| leads::written(file, self.home));
        let files = files.map(|file| found.top.join(file));
        let places = tops.iter().cloned().chain(files).filter_map(|place| self.outside(&place));
        let mut all: Vec<PathBuf> = its_own.into_iter().chain(places).collect();
        let mut left = ENTRIES;
        for dir in [&*found.git, common] {
            // What another repository keeps is its own.
            if self.outside(dir).is_none() {
                self.links_in(dir, &mut left, &mut all)
                    .ok_or_else(|| format!("{} holds too many entries", dir.display()))?;
            }
        }
        all.sort();
        all.dedup();
        Ok(all)
    }

    /// Where the links in a repository's directory lead, where that is not in the workspace. None where there is too much
    /// to look at.
    fn links_in(&self, git: &Path, left: &mut usize, all: &mut Vec<PathBuf>) -> Option<()> {
        for below in OPENED {
            let dir = git.join(below);
            // What a link on the way leads to was met before.
            if dir.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
                continue;
            }
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                *left = left.checked_sub(1)?;
                let unread = below.is_empty() && UNREAD.iter().any(|name| entry.file_name() == *name);
                if !unread && entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                    all.extend(self.outside(&entry.path()));
                }
            }
        }
        Some(())
    }
}

/// Whether a key is that of a setting, be it for one address alone (`http.URL.cookieFile`) or one identity.
fn is(name: &str, key: &str) -> bool {
    let parts = || name.split_once('.').zip(key.rsplit_once('.'));
    let for_one = matches!(name, "http.cookiefile" | "sendemail.aliasesfile")
        && parts().is_some_and(|((section, last), (before, end))| {
            end == last && before.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
        });
    key == name || for_one
}

/// Whether a repository elsewhere says itself that this is its work tree: git writes the name of the `.git` file into a
/// linked worktree's directory, and the work tree into a submodule's configuration.
fn is_said_back(found: &Found, tops: &[PathBuf]) -> bool {
    let same = |place: &Path, here: &Path| {
        place.canonicalize().ok().is_some_and(|place| here.canonicalize().is_ok_and(|here| here == place))
    };
    let file = pointer(&found.git.join("gitdir")).ok().flatten().map(|file| found.git.join(file));
    file.is_some_and(|file| same(&file, &found.top.join(".git"))) || tops.iter().any(|top| same(top, &found.top))
}
