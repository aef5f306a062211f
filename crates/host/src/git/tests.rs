//! Worktrees of real repositories, also of one that would like to run things.

use super::*;
use nika_guard::{Answer, Effects, Exec, ExecKind, Mode, Place, Policy, Stance};
use tempfile::TempDir;

struct Repo {
    dir: TempDir,
}

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Repo {
    /// A repository with one committed file.
    fn new() -> Repo {
        let repo = Repo { dir: tempfile::tempdir().expect("a temporary directory") };
        std::fs::create_dir_all(repo.root().join("sub")).expect("made");
        std::fs::write(repo.root().join("sub/a.txt"), "one\n").expect("written");
        for words in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["config", "user.name", "Ada"],
            &["config", "user.email", "ada@example.org"],
            &["add", "."],
            &["commit", "--quiet", "-m", "begin"],
        ] {
            repo.git(words);
        }
        repo
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("proj")
    }

    fn in_dir(&self, dir: &Path, words: &[&str]) -> String {
        let out = Command::new("git")
            .args(words)
            .current_dir(dir)
            .env_clear()
            .envs([("PATH", PATH), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
            .output()
            .expect("git runs");
        assert!(out.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    }

    fn git(&self, words: &[&str]) -> String {
        self.in_dir(&self.root(), words)
    }

    fn permit(&self) -> Permit {
        let beside = worktree_place(&self.root(), "x").0.parent().expect("a parent").to_owned();
        let exec = Exec::plain(vec![vec!["git".into(), "commit".into()]], ExecKind::WritesInside, "");
        let effects = Effects::write(Place::outside(beside).tree())
            .and(Effect::Read(Place::outside(self.root()).tree()))
            .and(Effect::Exec(exec));
        let verdict = Policy::default().judge(&Stance::from(Mode::AcceptAll), &effects);
        verdict.permit(Some(Answer::Yes { who: "the tester".into() })).expect("a yes")
    }
}

fn git() -> Git {
    Git::new(PATH, None)
}

fn wanted() -> Cancel {
    Cancel::default()
}

#[test]
fn a_worktree_is_made_beside_its_repository_and_goes_when_it_holds_nothing() {
    let repo = Repo::new();
    let permit = repo.permit();
    let made = git().create(&permit, &repo.root(), "fix-it", &wanted()).expect("made");
    assert!(made.dir.ends_with("proj-nika-worktrees/fix-it"), "{made:?}");
    assert_eq!((made.branch.as_str(), &made.root), ("nika/fix-it", &made.dir));
    assert_eq!(std::fs::read_to_string(made.dir.join("sub/a.txt")).expect("checked out"), "one\n");
    assert!(git().status(&permit, &made, &wanted()).expect("status").is_clean());

    let again = git().create(&permit, &repo.root(), "fix-it", &wanted()).expect_err("taken");
    assert!(matches!(again, GitError::Taken(_)), "{again}");
    assert!(made.dir.join("sub/a.txt").exists(), "a refusal leaves what is there");

    git().remove(&permit, &made, false, &wanted()).expect("clean");
    assert!(!made.dir.exists() && !made.dir.parent().expect("a parent").exists());
    assert_eq!(repo.git(&["branch", "--list", "nika/*"]), "");
}

#[test]
fn work_is_not_thrown_away_unless_that_is_said() {
    let repo = Repo::new();
    let permit = repo.permit();
    let made = git().create(&permit, &repo.root(), "w", &wanted()).expect("made");
    std::fs::write(made.dir.join("sub/new name.txt"), "x").expect("written");
    std::fs::write(made.dir.join("sub/a.txt"), "two\n").expect("written");
    let status = git().status(&permit, &made, &wanted()).expect("status");
    assert_eq!(status.changed, ["sub/a.txt", "sub/new name.txt"].map(PathBuf::from));
    let error = git().remove(&permit, &made, false, &wanted()).expect_err("it is dirty");
    assert!(error.to_string().contains("2 uncommitted paths and 0 commits"), "{error}");

    let commit = git().commit(&permit, &made.dir, &status.changed, "Change it", &wanted()).expect("committed");
    assert_eq!(repo.git(&["log", "-1", "--format=%H %an %s", "nika/w"]), format!("{commit} Ada Change it"));
    let status = git().status(&permit, &made, &wanted()).expect("status");
    assert_eq!(status, Status { changed: Vec::new(), commits: 1 });
    assert!(matches!(git().remove(&permit, &made, false, &wanted()), Err(GitError::HoldsWork(..))));

    repo.git(&["merge", "--quiet", "nika/w"]);
    assert!(git().status(&permit, &made, &wanted()).expect("status").is_clean(), "what is merged is not lost");
    git().remove(&permit, &made, false, &wanted()).expect("clean");

    let made = git().create(&permit, &repo.root(), "w", &wanted()).expect("made anew");
    std::fs::write(made.dir.join("b"), "x").expect("written");
    git().remove(&permit, &made, true, &wanted()).expect("told to");
    assert!(!made.dir.exists());
}

#[test]
fn a_commit_takes_only_what_it_is_given() {
    let repo = Repo::new();
    std::fs::write(repo.root().join("mine.txt"), "staged by the person").expect("written");
    repo.git(&["add", "mine.txt"]);
    std::fs::write(repo.root().join("sub/[x].txt"), "new").expect("written");
    let changed = git().changes(&repo.permit(), &repo.root(), &wanted()).expect("status");
    let top = repo.root().canonicalize().expect("there");
    assert_eq!(changed, ["mine.txt", "sub/[x].txt"].map(|path| top.join(path)));
    git().commit(&repo.permit(), &repo.root().join("sub"), &changed[1..], "Mine alone", &wanted()).expect("committed");
    assert_eq!(repo.git(&["show", "--format=", "--name-only", "HEAD"]), "sub/[x].txt");
    assert_eq!(repo.git(&["status", "--porcelain"]), "A  mine.txt");
}

#[test]
fn nothing_that_the_repository_configures_is_run() {
    let repo = Repo::new();
    let trap = repo.dir.path().join("ran");
    let touch = format!("sh -c 'echo $0 >> {}; cat'", trap.display());
    for key in [
        "filter.evil.smudge",
        "filter.evil.clean",
        "filter.evil.process",
        "filter.a.b=c.smudge",
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "diff.external",
        "gpg.program",
        "gpg.ssh.program",
        "gpg.x509.program",
    ] {
        repo.git(&["config", key, &touch]);
    }
    for (key, value) in [("filter.evil.required", "true"), ("commit.gpgSign", "true"), ("core.hooksPath", "hooks")] {
        repo.git(&["config", key, value]);
    }
    // Hooks that are no files, where git knows such.
    for event in ["pre-commit", "post-checkout", "reference-transaction", "post-index-change"] {
        repo.git(&["config", "--add", "hook.evil.event", event]);
    }
    repo.git(&["config", "hook.evil.command", &touch]);
    for dir in [repo.root().join("hooks"), repo.root().join(".git/hooks")] {
        std::fs::create_dir_all(&dir).expect("made");
        for hook in
            ["post-checkout", "pre-commit", "post-commit", "commit-msg", "reference-transaction", "post-index-change"]
        {
            let path = dir.join(hook);
            std::fs::write(&path, format!("#!/bin/sh\necho {hook} >> {}\n", trap.display())).expect("written");
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("set");
        }
    }
    std::fs::write(repo.root().join(".gitattributes"), "*.txt filter=evil\n*.md filter=a.b=c\n").expect("written");
    std::fs::write(repo.root().join("b.md"), "b").expect("written");
    let permit = repo.permit();
    let files = [".gitattributes", "b.md"].map(PathBuf::from);
    git().commit(&permit, &repo.root(), &files, "Attributes", &wanted()).expect("committed");

    let made = git().create(&permit, &repo.root(), "quiet", &wanted()).expect("made");
    assert_eq!(std::fs::read_to_string(made.dir.join("sub/a.txt")).expect("checked out"), "one\n");
    std::fs::write(made.dir.join("sub/a.txt"), "two\n").expect("written");
    let status = git().status(&permit, &made, &wanted()).expect("status");
    git().commit(&permit, &made.dir, &status.changed, "Quietly", &wanted()).expect("committed");
    git().remove(&permit, &made, true, &wanted()).expect("removed");
    assert!(!trap.exists(), "ran: {}", std::fs::read_to_string(&trap).unwrap_or_default());

    // The trap is one: git as it is springs it.
    let loud = Command::new("git").args(["checkout", "-b", "loud"]).current_dir(repo.root()).output();
    assert!(loud.is_ok() && trap.exists(), "the test's own programs never run");
}

#[test]
fn a_part_of_a_repository_stands_for_itself() {
    let repo = Repo::new();
    let (root, slug) = (repo.root().join("sub"), "part");
    let beside = worktree_place(&root, slug).0.parent().expect("a parent").to_owned();
    let effects = Effects::write(Place::outside(beside).tree());
    let verdict = Policy::default().judge(&Stance::from(Mode::AcceptAll), &effects);
    let permit = verdict.permit(None).expect("allowed");
    let made = git().create(&permit, &root, slug, &wanted()).expect("made");
    assert_eq!(made.root, made.dir.join("sub"));
    assert!(made.root.join("a.txt").exists());
}

#[test]
fn without_a_permit_or_a_repository_there_is_none() {
    let repo = Repo::new();
    let look = Effects::read(Place::outside(repo.root()).tree());
    let verdict = Policy::default().judge(&Stance::from(Mode::AcceptAll), &look);
    let permit = verdict.permit(None).expect("allowed");
    let error = git().create(&permit, &repo.root(), "x", &wanted()).expect_err("it may only look");
    assert!(matches!(error, GitError::NotPermitted(_)), "{error}");
    let error = git().commit(&permit, &repo.root(), &[PathBuf::from("a")], "m", &wanted()).expect_err("no commit");
    assert!(matches!(error, GitError::NotPermitted(_)), "{error}");

    let empty = Repo { dir: tempfile::tempdir().expect("a temporary directory") };
    std::fs::create_dir_all(empty.root()).expect("made");
    let error = git().create(&empty.permit(), &empty.root(), "x", &wanted()).expect_err("no repository");
    assert!(matches!(error, GitError::NoRepo(..)), "{error}");
    empty.git(&["init", "--quiet"]);
    let error = git().create(&empty.permit(), &empty.root(), "x", &wanted()).expect_err("no commit");
    assert!(matches!(error, GitError::NoRepo(..)), "{error}");

    let stopped = Cancel::default();
    stopped.cancel();
    let error = git().create(&repo.permit(), &repo.root(), "x", &stopped).expect_err("cancelled");
    assert!(matches!(error, GitError::Cancelled), "{error}");
    assert!(!worktree_place(&repo.root(), "x").0.exists());
}

/// A repository that sets a filter for every file, whose programs an included file names where `condition` holds.
fn filtered_where(condition: &str) -> (Repo, PathBuf) {
    let repo = Repo::new();
    let trap = repo.dir.path().join("ran");
    std::fs::write(repo.root().join(".gitattributes"), "* filter=x\n").expect("written");
    repo.git(&["add", "."]);
    repo.git(&["commit", "--quiet", "-m", "Attributes"]);
    let evil = repo.dir.path().join("evil");
    let touch = format!("sh -c 'echo ran >> {}; cat'", trap.display());
    std::fs::write(&evil, format!("[filter \"x\"]\nsmudge = \"{touch}\"\nclean = \"{touch}\"\n")).expect("written");
    repo.git(&["config", &format!("includeIf.{condition}.path"), evil.to_str().expect("a name")]);
    (repo, trap)
}

/// A repository that sets the filter of these bytes for every file, configured after `before`, and what it writes to.
fn filtered(name: &[u8], before: &[u8]) -> (Repo, PathBuf) {
    let repo = Repo::new();
    let trap = repo.dir.path().join("ran");
    let touch = format!("\"sh -c 'echo ran >> {}; cat'\"", trap.display()).into_bytes();
    let file = repo.root().join(".git/config");
    let mut config = std::fs::read(&file).expect("git wrote it");
    for part in [before, b"\n[filter \"", name, b"\"]\nsmudge = ", &touch, b"\nclean = ", &touch, b"\n"] {
        config.extend_from_slice(part);
    }
    std::fs::write(&file, config).expect("written");
    std::fs::write(repo.root().join(".gitattributes"), [b"* filter=", name, b"\n"].concat()).expect("written");
    (repo, trap)
}

#[test]
fn a_filter_whose_name_is_no_text_is_not_run() {
    let (repo, trap) = filtered(b"\xff", b"");
    std::fs::write(repo.root().join("sub/a.txt"), "two\n").expect("written");
    let permit = repo.permit();
    let changed = git().changes(&permit, &repo.root(), &wanted()).expect("status");
    git().commit(&permit, &repo.root(), &changed, "All", &wanted()).expect("committed");
    let made = git().create(&permit, &repo.root(), "quiet", &wanted()).expect("made");
    assert_eq!(std::fs::read_to_string(made.dir.join("sub/a.txt")).expect("checked out"), "two\n");
    assert!(!trap.exists(), "the filter ran");

    // The trap is one: git as it is springs it.
    std::fs::write(repo.root().join("sub/a.txt"), "six\n").expect("written");
    repo.git(&["add", "."]);
    assert!(trap.exists(), "the test's own filter never runs");
}

#[test]
fn an_answer_of_which_a_part_is_missing_is_none() {
    let line = format!("a = {}\n", "x".repeat(1 << 20));
    let junk = format!("\n[junk]\n{}", line.repeat(17));
    let (repo, trap) = filtered(b"x", junk.as_bytes());
    let permit = repo.permit();
    let error = git().changes(&permit, &repo.root(), &wanted()).expect_err("nobody knows what it configures");
    assert!(error.to_string().contains("`git config --list` answered more than 16 MiB"), "{error}");
    let error = git().create(&permit, &repo.root(), "x", &wanted()).expect_err("the same");
    assert!(matches!(error, GitError::TooMuch(_)), "{error}");
    assert!(!trap.exists(), "the filter ran");
    assert!(!worktree_place(&repo.root(), "x").0.exists());
}

#[test]
fn no_protocol_is_spoken_whatever_the_repository_allows() {
    let repo = Repo::new();
    let trap = repo.dir.path().join("ran");
    for protocol in ["ext", "file"] {
        repo.git(&["config", &format!("protocol.{protocol}.allow"), "always"]);
    }
    let address = format!("ext::touch {}", trap.display());
    let (root, cancel) = (repo.root(), wanted());
    let git = git();
    let run = git.at(&root, &cancel);
    assert_eq!(run.line(&["config", "--get", "protocol.ext.allow"]).expect("set"), "never");
    let error = run.bytes(&["ls-remote", &address]).expect_err("it speaks to nobody");
    assert!(error.to_string().contains("not allowed"), "{error}");
    let error = run.bytes(&["ls-remote", root.to_str().expect("a name")]).expect_err("nor to its own directory");
    assert!(error.to_string().contains("not allowed"), "{error}");
    assert!(!trap.exists(), "ran");

    // The trap is one: git as it is springs it.
    let loud = Command::new("git").args(["ls-remote", &address]).current_dir(&root).output();
    assert!(loud.is_ok() && trap.exists(), "the test's own program never runs");
}

#[test]
fn what_is_configured_by_name_is_blanked_by_that_name() {
    let listed = b"core.bare\nfalse\0filter.a.b=c.smudge\nx\0filter.a.b=c.clean\nx\0filter.\xff.process\nx\0filter.x\0\
        hook.check all.command\nrm -r .\0hook.check all.event\npre-commit\0hooks.x.command\nx\0";
    let blanked = blanked(listed);
    let shown: Vec<String> = blanked
        .iter()
        .map(|(key, value)| format!("{}={}", key.as_bytes().escape_ascii(), value.as_bytes().escape_ascii()))
        .collect();
    let filter = |name: &str| {
        ["smudge=", "clean=", "process=", "required=false"].map(|setting| format!("filter.{name}.{setting}"))
    };
    let hook = ["hook.check all.enabled=false", "hook.check all.command=true"].map(str::to_owned);
    assert_eq!(shown, [&filter("a.b=c")[..], &filter("\\xff"), &hook].concat());
}

#[test]
fn filters_that_are_configured_only_in_a_worktree_are_not_run() {
    for condition in ["onbranch:nika/**", "gitdir:**/worktrees/**"] {
        let (repo, trap) = filtered_where(condition);
        let permit = repo.permit();
        let made = git().create(&permit, &repo.root(), "quiet", &wanted()).expect("made");
        assert_eq!(std::fs::read_to_string(made.dir.join("sub/a.txt")).expect("checked out"), "one\n");
        std::fs::write(made.dir.join("sub/a.txt"), "two\n").expect("written");
        let status = git().status(&permit, &made, &wanted()).expect("status");
        assert_eq!(status.changed, [PathBuf::from("sub/a.txt")]);
        git().commit(&permit, &made.dir, &status.changed, "Quietly", &wanted()).expect("committed");
        assert!(!trap.exists(), "{condition}: a filter of the worktree ran");

        // The trap is one: git as it is springs it there.
        std::fs::remove_file(made.dir.join("sub/a.txt")).expect("removed");
        repo.in_dir(&made.dir, &["checkout", "--", "sub/a.txt"]);
        assert!(trap.exists(), "{condition}: the test's own filter never runs");
        git().remove(&permit, &made, true, &wanted()).expect("removed");
    }
}

#[test]
fn nothing_is_started_in_a_submodule() {
    let repo = Repo::new();
    let trap = repo.dir.path().join("ran");
    let inner = repo.root().join("dep");
    std::fs::create_dir_all(&inner).expect("made");
    std::fs::write(inner.join("lib.txt"), "one\n").expect("written");
    for words in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["config", "user.name", "Ada"],
        &["config", "user.email", "ada@example.org"],
        &["add", "."],
        &["commit", "--quiet", "-m", "begin"],
    ] {
        repo.in_dir(&inner, words);
    }
    std::fs::write(repo.root().join(".gitmodules"), "[submodule \"dep\"]\npath = dep\nurl = ./dep\n").expect("written");
    repo.git(&["-c", "advice.addEmbeddedRepo=false", "add", "."]);
    repo.git(&["commit", "--quiet", "-m", "A submodule"]);
    let touch = format!("sh -c 'echo ran >> {}; cat'", trap.display());
    repo.in_dir(&inner, &["config", "filter.x.clean", &touch]);
    repo.in_dir(&inner, &["config", "core.fsmonitor", &touch]);
    std::fs::write(inner.join(".gitattributes"), "* filter=x\n").expect("written");
    // As long as it was: only its content says that it is another.
    std::fs::write(inner.join("lib.txt"), "two\n").expect("written");
    std::fs::write(repo.root().join("sub/a.txt"), "two\n").expect("written");

    let permit = repo.permit();
    let changed = git().changes(&permit, &repo.root(), &wanted()).expect("status");
    let top = repo.root().canonicalize().expect("there");
    assert_eq!(changed, [top.join("sub/a.txt")], "what lies in a submodule is that submodule's");
    assert!(!trap.exists(), "the look at changes ran something in the submodule");
    let paths = ["dep", "sub"].map(PathBuf::from);
    git().commit(&permit, &repo.root(), &paths, "Both", &wanted()).expect("committed");
    assert!(!trap.exists(), "the commit ran something in the submodule");
    assert_eq!(repo.git(&["show", "--format=", "--name-only", "HEAD"]), "sub/a.txt");
    assert!(!trap.exists());

    // The trap is one: git as it is springs it.
    repo.git(&["status", "--porcelain", "--ignore-submodules=none"]);
    assert!(trap.exists(), "the test's own programs never run");

    // A submodule at another commit is a change of the repository, which is seen and committed.
    repo.in_dir(&inner, &["config", "--unset", "core.fsmonitor"]);
    repo.in_dir(&inner, &["config", "--unset", "filter.x.clean"]);
    repo.in_dir(&inner, &["commit", "--quiet", "--all", "-m", "Further"]);
    repo.in_dir(&inner, &["config", "filter.x.clean", &touch]);
    std::fs::write(inner.join("lib.txt"), "six\n").expect("written");
    std::fs::remove_file(&trap).expect("removed");
    let changed = git().changes(&permit, &repo.root(), &wanted()).expect("status");
    assert_eq!(changed, [top.join("dep")]);
    git().commit(&permit, &repo.root(), &changed, "Further", &wanted()).expect("committed");
    assert_eq!(repo.git(&["show", "--format=", "--name-only", "HEAD"]), "dep");
    assert!(!trap.exists(), "ran in the submodule");

    // What is worked in below a worktree is kept with it.
    let made = git().create(&permit, &repo.root(), "w", &wanted()).expect("made");
    assert!(git().status(&permit, &made, &wanted()).expect("status").is_clean(), "it is not there at first");
    repo.in_dir(&made.dir, &["clone", "--quiet", inner.to_str().expect("a name"), "dep"]);
    let error = git().remove(&permit, &made, false, &wanted()).expect_err("it is there");
    assert!(matches!(&error, GitError::HoldsWork(_, status) if status.changed == [PathBuf::from("dep")]), "{error}");
    assert!(!trap.exists(), "ran in the submodule");
}

#[test]
fn an_index_says_the_same_after_a_look_and_something_else_after_a_change() {
    for version in ["2", "4"] {
        let repo = Repo::new();
        std::fs::write(repo.root().join("b.txt"), "b\n").expect("written");
        repo.git(&["add", "."]);
        repo.git(&["update-index", "--index-version", version]);
        let index = || std::fs::read(repo.root().join(".git/index")).expect("it is there");
        let (before, said) = (index(), index::meaning(&index()).expect("an index"));
        let file = std::fs::File::options().write(true).open(repo.root().join("b.txt")).expect("it is there");
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000)).expect("ours");
        repo.git(&["update-index", "--refresh"]);
        assert_ne!(index(), before, "{version}: it noted the time");
        assert_eq!(index::meaning(&index()), Some(said), "{version}");
        for change in [
            &["update-index", "--chmod=+x", "b.txt"][..],
            &["update-index", "--skip-worktree", "b.txt"],
            &["update-index", "--assume-unchanged", "b.txt"],
            &["update-index", "--force-remove", "b.txt"],
        ] {
            let was = index::meaning(&index());
            repo.git(change);
            assert_ne!(index::meaning(&index()), was, "{version}: {change:?}");
        }
        // Cut anywhere, or with any byte another, it is none or another one, and nothing else happens.
        for at in 0..before.len() {
            assert_ne!(index::meaning(&before[..at]), Some(said), "{version}: cut at {at}");
            let mut other = before.clone();
            other[at] ^= 0xFF;
            let _ = index::meaning(&other);
        }
    }
}
