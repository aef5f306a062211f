//! What a repository in the workspace has git read outside of it. A directory that was unpacked or shared brings files of
//! git along which name others' places: then `git log` shows another project's history, and `git diff` any files.
//!
//! | what names a place | read there |
//! |---|---|
//! | a `.git` file | the repository, unless that says itself that its work tree is this one |
//! | `commondir` | the repository |
//! | `core.worktree` | the files |
//! | `format.signatureFile`, `blame.ignoreRevsFile`, `fsck.skipList`, `mailmap.file`, `core.excludesFile`, `core.attributesFile` | the file: git prints it, or lines of it |
//! | `include.path`, `includeIf.*.path` | the file |

use std::path::{Path, PathBuf};

use nika_guard::repository::Setting;

use super::{Found, leads, pointer};

/// Settings that name a file.
const FILES: &[&str] = &[
    "format.signaturefile",
    "blame.ignorerevsfile",
    "fsck.skiplist",
    "fetch.fsck.skiplist",
    "receive.fsck.skiplist",
    "mailmap.file",
    "core.excludesfile",
    "core.attributesfile",
];

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

    /// Where one repository has git read. `common` is what it shares with others, and `own` what it sets itself.
    pub(super) fn read_by(&self, found: &Found, common: &Path, own: &[Setting]) -> Vec<PathBuf> {
        // What lies around the workspace, or elsewhere, is not of it.
        if self.outside(&found.top).is_some() {
            return Vec::new();
        }
        let values =
            |name: &'static str| own.iter().filter(move |setting| setting.key == name).map(|setting| &setting.value);
        let tops: Vec<PathBuf> = values("core.worktree").map(|place| found.git.join(place)).collect();
        let its_own = match self.outside(&found.git) {
            Some(_) if is_said_back(found, &tops) => Vec::new(),
            Some(git) => vec![git],
            None => self.outside(common).into_iter().collect(),
        };
        let files = FILES.iter().flat_map(|name| values(name)).filter_map(|file| leads::written(file, self.home));
        let files = files.map(|file| found.top.join(file));
        its_own.into_iter().chain(tops.iter().cloned().chain(files).filter_map(|place| self.outside(&place))).collect()
    }
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
