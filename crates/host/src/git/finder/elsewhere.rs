//! What a repository in the workspace has git read outside of it. A directory that was unpacked or shared brings files of
//! git along which name others' places: then `git log` shows another project's history, and `git diff` any files.
//!
//! | what names a place | read there |
//! |---|---|
//! | a `.git` file | the repository, unless that says itself that its work tree is this one |
//! | `commondir` | the repository |
//! | `core.worktree` | the files |
//! | `format.signatureFile`, `blame.ignoreRevsFile`, `diff.orderFile` and others of [`FILES`] | the file: git prints it, or lines of it, or goes by it |
//! | `gpg.ssh.allowedSignersFile` and others of [`SIGNERS`] | the file, by who verifies signatures |
//! | `include.path`, `includeIf.*.path` | the file |
//! | a link in the repository itself (`config`, `HEAD`, `objects`, `rebase-merge/done`, …) | where it leads |

use std::collections::HashSet;
use std::fs;
use std::iter::once;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nika_guard::repository::Setting;

use super::{Found, is_git, leads, pointer};

/// Settings that name a file which a command that only looks reads, of all that `git help --config` of 2.47 lists. Those that
/// name programs are judged as what runs (`git_runs`). Left out is what is read to reach a host alone, which is asked about
/// by itself (`http.sslCAInfo`, `http.cookieFile`), what only a command that writes reads (`commit.template`), and what only
/// a person's own configuration may set (`trace2.*`, `safe.*`).
const FILES: &[&str] = &[
    "blame.ignorerevsfile",
    "core.attributesfile",
    "core.excludesfile",
    "diff.orderfile",
    "format.signaturefile",
    "fsck.skiplist",
    "mailmap.file",
];

/// The same of who verifies signatures.
const SIGNERS: &[&str] = &["gpg.ssh.allowedsignersfile", "gpg.ssh.revocationfile"];

/// What other programs keep at the top of a repository's directory, and hooks, which are judged as what runs. Links there
/// are no concern. Any other name git may be told to open: it takes each for that of a ref.
const OTHERS: &[&str] =
    &["TAGS", "annex", "cscope.in.out", "cscope.out", "cscope.po.out", "gc.pid", "hooks", "lfs", "svn", "tags"];

/// Entries of a repository's directory that are looked at for links: a repository has a ref and a log for each branch that
/// was fetched. They take about a second.
const ENTRIES: usize = 1_000_000;

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

    /// Where one repository has git read. `common` is what it shares with others, and `set` what it sets itself. An error
    /// where that cannot be told.
    pub(super) fn read_by(&self, found: &Found, common: &Path, set: &Set<'_>) -> Result<Vec<PathBuf>, String> {
        // What lies around the workspace, or elsewhere, is not of it.
        if self.outside(&found.top).is_some() {
            return Ok(Vec::new());
        }
        let its_own = match self.outside(&found.git) {
            Some(_) if is_said_back(found, &set.tops) => Vec::new(),
            Some(git) => vec![git],
            None => self.outside(common).into_iter().collect(),
        };
        let worktrees = set.tops.iter().filter_map(|place| self.outside(place));
        let mut all: Vec<PathBuf> = its_own.into_iter().chain(worktrees).collect();
        all.extend(self.named(FILES, set)?);
        let mut left = ENTRIES;
        for dir in once(&*found.git).chain((common != found.git).then_some(common)) {
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

    /// Where it has git read when signatures are verified.
    pub(super) fn read_for_signatures(&self, found: &Found, set: &Set<'_>) -> Result<Vec<PathBuf>, String> {
        match self.outside(&found.top) {
            Some(_) => Ok(Vec::new()),
            None => self.named(SIGNERS, set),
        }
    }

    /// The files outside that settings of these names name, wherever git may stand.
    fn named(&self, names: &[&str], set: &Set<'_>) -> Result<Vec<PathBuf>, String> {
        let mut out = Vec::new();
        for Setting { key, value, .. } in set.own.iter().filter(|setting| names.contains(&setting.key.as_str())) {
            let places = leads::readings(value).map(|value| leads::written(value, self.home));
            for place in places {
                let place = place.ok_or_else(|| format!("`{key}` leads to `{value}`"))?;
                out.extend(set.stands.iter().filter_map(|dir| self.outside(&dir.join(&place))));
            }
        }
        out.sort();
        out.dedup();
        Ok(out)
    }

    /// Where the links in a repository's directory lead, where that is not in the workspace. None where there is too much
    /// to look at.
    fn links_in(&self, git: &Path, left: &mut usize, all: &mut Vec<PathBuf>) -> Option<()> {
        let objects = git.join("objects");
        let (mut dirs, mut known) = (vec![git.to_owned()], HashSet::new());
        while let Some(dir) = dirs.pop() {
            // A submodule's own is looked at by itself.
            if is_below_modules(git, &dir) && is_git(&dir) {
                continue;
            }
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                *left = left.checked_sub(1)?;
                let (name, path) = (entry.file_name(), entry.path());
                let name = name.to_string_lossy();
                let Ok(kind) = entry.file_type() else { continue };
                if dir == git && OTHERS.contains(&&*name) {
                    continue;
                }
                let outside = kind.is_symlink().then(|| self.outside(&path)).flatten();
                // Loose objects are known by what they hold: nothing else is shown under their names. A link that stays in
                // the workspace may lead to a directory in which others do not, or in a circle.
                let is_loose = dir == objects && name.len() == 2;
                let may_go_on = !is_loose && (kind.is_dir() || kind.is_symlink() && outside.is_none());
                let meta = may_go_on.then(|| fs::metadata(&path).ok()).flatten().filter(fs::Metadata::is_dir);
                let is_new = meta.is_some_and(|meta| known.insert((meta.dev(), meta.ino())));
                dirs.extend(is_new.then_some(path));
                all.extend(outside);
            }
        }
        Some(())
    }
}

/// What a repository sets itself.
pub(super) struct Set<'s> {
    own: &'s [Setting],
    /// The work trees that it names.
    tops: Vec<PathBuf>,
    /// Where git may stand when it opens what a setting names: at the top of a work tree, in its own directory, or, inside
    /// of that, where the command began.
    pub(super) stands: Vec<PathBuf>,
}

impl<'s> Set<'s> {
    /// `own` by the repository `found`, for a command that began in `dir`.
    pub(super) fn new(own: &'s [Setting], found: &Found, dir: &Path) -> Set<'s> {
        let values = own.iter().filter(|setting| setting.key == "core.worktree").map(|setting| &setting.value);
        let tops: Vec<PathBuf> = values.map(|place| found.git.join(place)).collect();
        let stands = once(&found.top).chain(&tops).chain([&found.git]).cloned().chain([dir.to_owned()]).collect();
        Set { own, tops, stands }
    }

    /// The tops of its work trees, the one in which it was found first.
    pub(super) fn tops<'t>(&'t self, found: &'t Found) -> impl Iterator<Item = &'t PathBuf> {
        once(&found.top).chain(&self.tops)
    }
}

/// Whether a directory of the repository `git` lies where submodules are kept, be it those of a linked worktree.
fn is_below_modules(git: &Path, dir: &Path) -> bool {
    let parts: Vec<_> = dir.strip_prefix(git).into_iter().flat_map(Path::iter).collect();
    match parts.as_slice() {
        [kept, _, ..] if *kept == "modules" => true,
        [worktrees, _, kept, _, ..] => *worktrees == "worktrees" && *kept == "modules",
        _ => false,
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
