//! What git runs of a work tree because a configuration leads there, whatever it is called: a directory of hooks
//! (`core.hooksPath`), and files that a configuration includes, which can name any program.
//!
//! All that could count is taken to count: what an included file sets, whatever its condition, and a person's own settings
//! in each repository. What cannot be read leads nowhere, as git does not go there either.

use std::cell::OnceCell;
use std::fs;
use std::iter::once;
use std::path::{Component, Path, PathBuf};

use nika_guard::repository::config;

use super::Personal;
use super::finder::{Found, INCLUDED, INCLUDES, SYSTEM, here, pointer, read};
use crate::sandbox::SKIPPED;

/// What git runs of a directory of hooks, by name. Only where that directory holds the work tree itself.
const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];
/// The longest configuration that is read. 64 MiB: git itself knows no bound.
const LONGEST: u64 = 64 << 20;
/// Where gits were installed (`%(prefix)`).
const PREFIXES: &[&str] = &["/usr", "/usr/local", "/opt/homebrew"];
/// Links that are followed on one way, as the kernel does.
const LINKS: usize = 40;

/// The configuration of a person, which counts in each of their repositories.
#[derive(Debug)]
pub(crate) struct Leads {
    person: Personal,
    /// Read when a repository is met: most files that are named lie in none, or are asked about one by one.
    own: OnceCell<Configured>,
}

/// What configurations say of other places.
#[derive(Debug, Clone, Default)]
struct Configured {
    /// Files that are included.
    included: Vec<PathBuf>,
    /// Directories of hooks, and work trees, as they are written.
    hooks: Vec<String>,
    worktrees: Vec<String>,
}

impl Leads {
    /// Nothing is read yet.
    pub(crate) fn new(person: &Personal) -> Leads {
        Leads { person: person.clone(), own: OnceCell::new() }
    }

    /// What the person's own configuration says.
    fn own(&self) -> &Configured {
        self.own.get_or_init(|| {
            let mut own = Configured::default();
            for file in SYSTEM.iter().map(PathBuf::from).chain(self.person.all_files()) {
                own.add(&file, self.person.home(), 0);
            }
            own
        })
    }

    /// What git would run below `root` for the repository whose work tree has its top in `dir`, if one has: paths that
    /// need not exist, without links on the way to them, and the links. Directories of downloaded packages are left out.
    pub(crate) fn from(&self, dir: &Path, root: &Path) -> Vec<PathBuf> {
        let (mut all, included) = self.apart(dir, root);
        all.extend(included);
        all.sort();
        all.dedup();
        all
    }

    /// The same; apart from the rest the files that are included, which git reads where they exist.
    pub(crate) fn apart(&self, dir: &Path, root: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let Some(found) = repository(dir) else { return Default::default() };
        let common = match pointer(&found.git.join("commondir")) {
            Ok(Some(to)) => found.git.join(to),
            _ => found.git.clone(),
        };
        let mut all = self.own().clone();
        for file in [common.join("config"), found.git.join("config.worktree")] {
            all.add(&file, self.person.home(), 0);
        }
        let (mut out, mut included) = (Vec::new(), Vec::new());
        let mut tops = vec![found.top];
        tops.extend(all.worktrees.iter().map(|place| found.git.join(place)));
        for file in &all.included {
            let end = follow(file, &mut out);
            included.push(end);
        }
        let hooks = all.hooks.iter().flat_map(|text| readings(text));
        for hooks in hooks.flat_map(|text| may_be(text, self.person.home())) {
            for top in &tops {
                let end = follow(&top.join(&hooks), &mut out);
                // What holds the work tree holds more than hooks.
                match top.starts_with(&end) {
                    true => out.extend(HOOKS.iter().map(|name| end.join(name))),
                    false => out.push(end),
                }
            }
        }
        let skipped = |part: Component<'_>| SKIPPED.iter().any(|name| part.as_os_str() == *name);
        let is_below = |path: &PathBuf| match path.strip_prefix(root) {
            Ok(below) => !below.as_os_str().is_empty() && !below.components().any(skipped),
            Err(_) => false,
        };
        out.retain(is_below);
        included.retain(is_below);
        (out, included)
    }
}

/// Whether git takes a directory for a repository's own that has these entries.
pub(crate) fn makes_repository(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

/// The repository whose work tree has its top in `dir`. One that lacks a part at this moment may have it back the next.
fn repository(dir: &Path) -> Option<Found> {
    let git = dir.join(".git");
    match fs::metadata(&git) {
        Ok(meta) if meta.is_dir() => Some(Found { git, top: dir.to_owned() }),
        _ => here(dir).ok().flatten().or_else(|| bare(dir)),
    }
}

/// The repository that a directory itself is: what it names without a way lies in it.
fn bare(dir: &Path) -> Option<Found> {
    let is_one = makes_repository(|name| dir.join(name).symlink_metadata().is_ok());
    is_one.then(|| Found { git: dir.to_owned(), top: dir.to_owned() })
}

impl Configured {
    /// Reads `file`, and what it includes.
    fn add(&mut self, file: &Path, home: Option<&Path>, depth: usize) {
        let Some(text) = read(file, LONGEST).ok().flatten() else { return };
        // Where git stops at a line now, it goes on once that is mended: what stands behind it counts, in whatever section.
        let (settings, is_whole) = match config::read(&text) {
            Ok(settings) => (settings, true),
            Err(_) => (config::read_on(&text), false),
        };
        for (key, value) in settings {
            let is = |known: &str| key == known || !is_whole && key.ends_with(&known["core".len()..]);
            match key.as_str() {
                _ if is("core.hookspath") => self.hooks.push(value),
                _ if is("core.worktree") => self.worktrees.push(value),
                _ if (includes(&key) || !is_whole && key.ends_with(".path"))
                    && depth < INCLUDES
                    && self.included.len() < INCLUDED =>
                {
                    for to in readings(&value).flat_map(|value| may_be(value, home)) {
                        let to = file.parent().unwrap_or(Path::new("/")).join(to);
                        self.included.push(to.clone());
                        self.add(&to, home, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether a setting includes a file.
pub(super) fn includes(key: &str) -> bool {
    key == "include.path" || key.starts_with("includeif.") && key.ends_with(".path")
}

/// How gits read a setting that names a file: with what says that it may be missing, and, the newer ones, without. An
/// empty one names none.
pub(super) fn readings(value: &str) -> impl Iterator<Item = &str> {
    let newer = value.strip_prefix(":(optional)");
    once(value).chain(newer).filter(|value| !value.is_empty())
}

/// The path that a setting names; `~/` is the home. None where that cannot be told: below the home of another, or where git
/// was installed.
pub(super) fn written(value: &str, home: Option<&Path>) -> Option<PathBuf> {
    match value.strip_prefix("~/") {
        Some(below) => home.map(|home| home.join(below)),
        None => (!value.starts_with(['~', '%'])).then(|| PathBuf::from(value)),
    }
}

/// The same, with all that it may be: any name is taken for that of the person and of who lives beside them.
fn may_be(value: &str, home: Option<&Path>) -> Vec<PathBuf> {
    let known = written(value, home);
    if known.is_some() {
        return known.into_iter().collect();
    }
    if let Some(below) = value.strip_prefix("%(prefix)/") {
        return PREFIXES.iter().map(|prefix| Path::new(prefix).join(below)).collect();
    }
    let Some((Some(name), home)) = value.strip_prefix('~').map(|name| name.split_once('/')).zip(home) else {
        return Vec::new();
    };
    let (name, below) = name;
    once(home.join(below)).chain(home.parent().map(|homes| homes.join(name).join(below))).collect()
}

/// Where the absolute `path` leads, and the links on the way: each of them could be made to lead elsewhere. What does
/// not exist is taken as it is written.
fn follow(path: &Path, links: &mut Vec<PathBuf>) -> PathBuf {
    let (mut at, mut left) = (PathBuf::new(), path.to_path_buf());
    let mut followed = 0;
    loop {
        let mut parts = left.components();
        let Some(part) = parts.next() else { return at };
        match part {
            Component::ParentDir => drop(at.pop()),
            Component::CurDir => {}
            part => at.push(part),
        }
        let is_name = matches!(part, Component::Normal(_));
        left = parts.as_path().to_path_buf();
        if let Some(to) = is_name.then(|| fs::read_link(&at).ok()).flatten() {
            followed += 1;
            if followed > LINKS {
                return at;
            }
            links.push(at.clone());
            at.pop();
            left = to.join(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_leads_to_hooks_and_to_what_it_includes() {
        let scene = tempfile::tempdir().unwrap();
        let root = scene.path().canonicalize().unwrap().join("w");
        let home = scene.path().canonicalize().unwrap().join("home");
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::create_dir_all(root.join("real/hooks")).unwrap();
        fs::create_dir_all(&home).unwrap();
        fs::write(root.join(".git/HEAD"), "x").unwrap();
        std::os::unix::fs::symlink("real", root.join("gc")).unwrap();
        let leads = |config: &str, own: &str| -> Vec<String> {
            fs::write(root.join(".git/config"), config).unwrap();
            fs::write(home.join(".gitconfig"), own).unwrap();
            let found = Leads::new(&Personal::at_home(Some(&home))).from(&root, &root);
            found.iter().map(|path| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned()).collect()
        };
        fs::write(root.join("team"), "[include]\npath = deeper\n[core]\nhooksPath = from/team\n").unwrap();
        for (config, own, want) in [
            ("", "", &[][..]),
            ("[core]\nhooksPath = gc/hooks\n", "", &["gc", "real/hooks"]),
            ("[core]\nhooksPath = ../elsewhere\n", "", &[]),
            ("[core]\nhooksPath = .husky/_\n", "", &[".husky/_"]),
            ("[core]\nhooksPath = node_modules/x/hooks\n", "", &[]),
            ("[include]\npath = ../team\n", "", &["deeper", "from/team", "team"]),
            ("[includeIf \"gitdir:/nowhere/\"]\npath = ../team\n", "", &["deeper", "from/team", "team"]),
            ("[include]\npath = ~/../w/mine\n", "", &["mine"]),
            ("", "[core]\nhooksPath = tools/hooks\n", &["tools/hooks"]),
            // A home by its name, and where git was installed.
            ("[core]\nhooksPath = ~dev/../w/hooks\n", "", &["hooks"]),
            ("[core]\nhooksPath = ~w/hooks\n", "", &["hooks"]),
            ("[core]\nhooksPath = :(optional)~w/hooks\n", "", &[":(optional)~w/hooks", "hooks"]),
            ("[include]\npath = ~dev/../w/mine\n", "", &["mine"]),
            ("[core]\nhooksPath = \"\"\n", "", &[]),
            ("", "[include]\npath = ../w/mine\n", &["mine"]),
            ("[core", "", &[]),
            // Where git stops now, it goes on when that is mended.
            ("[branch \"x\"]\n\u{a0}remote = origin\n[core]\nhooksPath = own\n", "", &["own"]),
            ("[core\nhooksPath = own\n[include]\npath = ../team\n", "", &["deeper", "from/team", "own", "team"]),
        ] {
            assert_eq!(leads(config, own), want, "{config:?} {own:?}");
        }
        let prefix = format!("[core]\nhooksPath = %(prefix)/..{}/hooks\n", root.display());
        assert_eq!(leads(&prefix, ""), ["hooks"]);
        // A repository that lacks its HEAD for a moment is one the next.
        fs::remove_file(root.join(".git/HEAD")).unwrap();
        assert_eq!(leads("[core]\nhooksPath = own\n", ""), ["own"]);
        // Where it is the work tree itself that holds the hooks, these alone are meant.
        let all = leads("[core]\nhooksPath = .\n", "");
        assert!(all.contains(&"pre-commit".to_owned()) && all.len() == HOOKS.len(), "{all:?}");
    }
}
