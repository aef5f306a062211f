//! Which root is taken for a worktree of which repository, and what of it a profile then opens.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use nika_guard::profile::Access;

use super::*;

/// A repository with the worktrees `one` and `two` beside it.
fn scene() -> (tempfile::TempDir, PathBuf) {
    let scene = tempfile::tempdir().expect("a directory");
    let base = scene.path().canonicalize().expect("it was just made");
    git(&base, &["init", "-q", "repo"]);
    git(&base.join("repo"), &["commit", "-q", "--allow-empty", "-m", "first"]);
    for name in ["one", "two"] {
        git(&base.join("repo"), &["worktree", "add", "-q", "-b", name, &format!("../{name}")]);
    }
    (scene, base)
}

fn git(at: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    for name in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{name}_NAME"), "Ada").env(format!("GIT_{name}_EMAIL"), "ada@example.com");
    }
    let ran = command.args(words).current_dir(at).env("GIT_CONFIG_GLOBAL", "/dev/null").output();
    let ran = ran.expect("git is needed");
    assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn profile(root: &Path) -> Profile {
    let mut profile = Profile::new(Access::Workspace, root, "/home/dev");
    if let Some(linked) = Linked::of(root) {
        linked.put_into(&mut profile);
    }
    profile
}

#[test]
fn a_worktree_opens_its_own_part_of_the_repository_and_no_more() {
    let (_scene, base) = scene();
    let common = base.join("repo/.git");
    fs::write(common.join("index.lock"), "").expect("a file");
    let profile = profile(&base.join("one"));
    let own = common.join("worktrees/one");
    let [repository] = &profile.repositories[..] else { panic!("{profile:?}") };
    assert_eq!((&repository.common, &repository.own), (&common, &own));
    assert_eq!(repository.open, [common.join("logs"), common.join("objects"), common.join("refs"), own.clone()]);
    for name in ["config", "HEAD", "index", "hooks", "info", "worktrees", "logs/HEAD", "worktrees/one/gitdir"] {
        assert!(profile.protected.contains(&common.join(name)), "{name} in {:?}", profile.protected);
    }
    for name in ["commondir", "config.worktree", "worktrees/one/config.worktree", "worktrees/one/modules"] {
        assert!(profile.absent.contains(&common.join(name)), "{name} in {:?}", profile.absent);
    }
    for name in ["objects", "refs", "logs", "packed-refs", "index.lock", "worktrees/one"] {
        assert!(!profile.protected.contains(&common.join(name)), "{name} in {:?}", profile.protected);
    }
}

#[test]
fn a_repository_of_any_name_has_worktrees() {
    let (_scene, base) = scene();
    git(&base, &["clone", "-q", "--bare", "repo", "store"]);
    git(&base.join("store"), &["worktree", "add", "-q", "-b", "three", "../three"]);
    assert_eq!(Linked::of(&base.join("three")).expect("it is one").common, base.join("store"));
    // As newer versions of git write it when they are asked to.
    let own = base.join("store/worktrees/three");
    fs::write(base.join("three/.git"), "gitdir: ../store/worktrees/three\n").expect("a file");
    fs::write(own.join("gitdir"), "../../../three/.git\n").expect("a file");
    assert_eq!(Linked::of(&base.join("three")).expect("it is one").own, own);
}

#[test]
fn what_a_file_claims_alone_is_nothing() {
    let (_scene, base) = scene();
    let root = base.join("claims");
    fs::create_dir(&root).expect("a directory");
    let claims = |text: &str| {
        fs::write(root.join(".git"), text).expect("a file");
        Linked::of(&root)
    };
    let repo = base.join("repo/.git");
    // Another's directory, the repository itself, a link to the place that would be right.
    assert_eq!(claims(&format!("gitdir: {}\n", repo.join("worktrees/one").display())), None);
    assert_eq!(claims(&format!("gitdir: {}\n", repo.display())), None);
    assert_eq!(claims("gitdir: nowhere\n"), None);
    assert_eq!(claims(""), None);
    symlink(repo.join("worktrees/one"), root.join("way")).expect("a link");
    fs::write(repo.join("worktrees/one/gitdir"), format!("{}/.git\n", root.display())).expect("a file");
    assert_eq!(claims(&format!("gitdir: {}/way\n", root.display())), None);
    assert!(claims(&format!("gitdir: {}\n", repo.join("worktrees/one").display())).is_some());
    fs::rename(root.join(".git"), root.join("git")).expect("a move");
    symlink("git", root.join(".git")).expect("a link");
    assert_eq!(Linked::of(&root), None);
}

#[test]
fn a_repository_that_is_not_one_or_says_otherwise_is_none() {
    let (_scene, base) = scene();
    let (root, common) = (base.join("one"), base.join("repo/.git"));
    let own = common.join("worktrees/one");
    let without = |change: &dyn Fn(), back: &dyn Fn()| {
        change();
        assert_eq!(Linked::of(&root), None);
        back();
        assert!(Linked::of(&root).is_some());
    };
    let write = |name: &str, text: &str| fs::write(own.join(name), text).expect("a file");
    without(&|| write("commondir", "../../..\n"), &|| write("commondir", "../..\n"));
    let backlink = fs::read_to_string(own.join("gitdir")).expect("a file");
    without(&|| write("gitdir", "/elsewhere/.git\n"), &|| write("gitdir", &backlink));
    let [objects, moved] = ["objects", "moved"].map(|name| common.join(name));
    let link = || {
        fs::rename(&objects, &moved).expect("a move");
        symlink(&moved, &objects).expect("a link");
    };
    without(&link, &|| {
        fs::remove_file(&objects).expect("a link");
        fs::rename(&moved, &objects).expect("a move");
    });
    // Where the worktree and its backlink are somebody else's, so may be what they lead to.
    if rustix::process::geteuid().is_root() {
        let own_by = |user| std::os::unix::fs::chown(own.join("gitdir"), Some(user), None).expect("root may");
        without(&|| own_by(1234), &|| own_by(0));
    }
}

#[test]
fn what_a_root_reaches_into_is_left_to_the_root() {
    let (_scene, base) = scene();
    let mut two_roots = Profile::new(Access::Workspace, base.join("one"), "/home/dev");
    two_roots.roots.push(base.join("repo"));
    let before = two_roots.clone();
    Linked::of(&base.join("one")).expect("it is one").put_into(&mut two_roots);
    assert_eq!(two_roots, before);
    let mut at_home = Profile::new(Access::Workspace, base.join("one"), base.join("repo/.git/home"));
    let before = at_home.clone();
    Linked::of(&base.join("one")).expect("it is one").put_into(&mut at_home);
    assert_eq!(at_home, before);
    assert_eq!(Linked::of(&base.join("repo")), None, "it keeps its own `.git`");
}
