//! What each form of git does.

use super::super::super::fact::Fact;
use super::super::super::judge::Stdin;
use super::super::super::{Site, analyse};
use super::super::testing::{all_harmless, facts, facts_from, none_harmless};

fn any(line: &str, wanted: impl Fn(&Fact) -> bool) -> bool {
    facts(line).iter().any(wanted)
}

fn is_opaque(line: &str) -> bool {
    any(line, |fact| matches!(fact, Fact::Opaque(_)))
}

#[test]
fn reading_forms_are_harmless() {
    all_harmless(&[
        "git --version",
        "git version",
        "git --help",
        "git --exec-path",
        "git help",
        "git help log",
        "git status",
        "git status -s",
        "git status -sb",
        "git status --porcelain",
        "git status --porcelain=v2 --branch",
        "git status --short --untracked-files=no",
        "git status -uno --ignored",
        "git status -- src",
        "git --no-pager log -5",
        "git -P diff",
        "git -C sub status",
        "git -C sub -C sub2 log --oneline",
        "git -c color.ui=false status",
        "git -c core.pager=cat log -n 3",
        "git -c core.quotePath=off ls-files",
        "git --no-optional-locks status",
        "git --literal-pathspecs log -- 'a*'",
        "git --git-dir=.git log",
        "git log",
        "git log --oneline -5",
        "git log --oneline -n 5",
        "git log -n5 --stat --graph --decorate --all",
        "git log --pretty=format:%h%x20%s",
        "git log --format=%H -1",
        "git log -p -1 -- src/lib.rs",
        "git log -L 10,20:src/lib.rs",
        "git log -L10,20:src/lib.rs",
        "git log --diff-filter=D --name-only --oneline -5",
        "git log -S foo --source --all",
        "git log -Sfoo -G bar -i --grep fix",
        "git log --since '2 weeks ago' --until=yesterday --author=me",
        "git log --follow --name-status -M50% -- a.rs",
        "git log main..HEAD --no-merges --first-parent --reverse",
        "git log --abbrev-commit --date=short --color=never",
        "git log -U3 -w -b --word-diff=color",
        "git log --merges --left-right --cherry-pick a...b",
        "git show",
        "git show HEAD",
        "git show HEAD:src/lib.rs",
        "git show --stat --format=fuller abc123",
        "git show -s --format=%B HEAD",
        "git show abc^{tree}",
        "git show :/fix",
        "git whatchanged -3",
        "git diff",
        "git diff --stat",
        "git diff --cached",
        "git diff --staged --name-only",
        "git diff HEAD~3 -- src",
        "git diff HEAD~3..HEAD",
        "git diff main...feature --shortstat",
        "git diff --diff-filter=AM --name-only",
        "git diff --word-diff -- README.md",
        "git diff --no-ext-diff --no-textconv -U10",
        "git diff --check --exit-code --quiet",
        "git diff --no-index a.txt b.txt",
        "git diff --ignore-all-space --color-words=. -- '*.rs'",
        "git diff -- *.rs",
        "git diff ./src/*",
        "git diff --numstat -z --summary --dirstat=files",
        "git diff --minimal --patience --relative=src",
        "git diff-tree --no-commit-id --name-only -r HEAD",
        "git diff-index --cached HEAD",
        "git diff-files --name-only",
        "git range-diff main a b",
        "git shortlog -sn",
        "git shortlog -sne --all --since=2020",
        "git describe",
        "git describe --tags --always --dirty",
        "git describe --tags --abbrev=0",
        "git blame src/lib.rs",
        "git blame -L 10,20 -w -C -C HEAD -- src/lib.rs",
        "git annotate -e a.rs",
        "git grep -n TODO",
        "git grep -il -e foo --and -e bar -- src",
        "git grep -C3 -W foo HEAD~2 -- src",
        "git grep --count --heading -E 'a|b'",
        "git ls-files",
        "git ls-files -o --exclude-standard",
        "git ls-files -z -s --full-name -- '*.rs'",
        "git ls-files --others --ignored --exclude-standard --directory",
        "git ls-tree -r --name-only HEAD",
        "git ls-tree -l HEAD src/",
        "git cat-file -t HEAD",
        "git cat-file -s HEAD:README.md",
        "git cat-file -p HEAD^{tree}",
        "git cat-file --batch-check=%(objectname)",
        "git rev-parse HEAD",
        "git rev-parse --short HEAD",
        "git rev-parse --short=8 HEAD",
        "git rev-parse --show-toplevel",
        "git rev-parse --abbrev-ref HEAD",
        "git rev-parse --abbrev-ref --symbolic-full-name @{u",
        "git rev-parse --is-inside-work-tree",
        "git rev-parse --verify -q main",
        "git rev-list --count HEAD",
        "git rev-list --all --max-count=5 --objects",
        "git for-each-ref --sort=-committerdate --format='%(refname:short)' refs/heads --count=5",
        "git show-ref --heads",
        "git show-ref --verify --quiet refs/heads/main",
        "git name-rev --name-only HEAD",
        "git merge-base main HEAD",
        "git merge-base --is-ancestor a b",
        "git show-branch --list",
        "git reflog",
        "git reflog -5",
        "git reflog show main",
        "git reflog HEAD --date=iso",
        "git branch",
        "git branch -a",
        "git branch -vv",
        "git branch -r --sort=-committerdate",
        "git branch --show-current",
        "git branch --list 'feat/*'",
        "git branch --contains abc123",
        "git branch --no-merged main",
        "git branch --merged",
        "git branch --format='%(refname:short)'",
        "git tag",
        "git tag -l 'v1*'",
        "git tag --list --sort=-v:refname",
        "git tag -n",
        "git tag -n3 v1",
        "git tag --contains HEAD",
        "git tag --points-at HEAD",
        "git tag -v v1",
        "git remote",
        "git remote -v",
        "git remote show -n origin",
        "git remote get-url origin",
        "git stash list",
        "git stash list --format=%gd",
        "git stash show",
        "git stash show -p",
        "git stash show -p stash@{1",
        "git stash show --stat --include-untracked",
        "git config --list",
        "git config -l --show-origin",
        "git config --get user.name",
        "git config user.name",
        "git config --get-all remote.origin.fetch",
        "git config --get-regexp 'alias.*'",
        "git config list",
        "git config get user.email",
        "git config --local --list",
        "git config --bool core.bare",
        "git config --global user.name",
        "git worktree list",
        "git worktree list --porcelain",
        "git submodule",
        "git submodule status --recursive",
        "git sparse-checkout list",
        "git notes",
        "git notes list",
        "git notes show HEAD",
        "git bisect log",
        "git var GIT_EDITOR",
        "git var -l",
        "git count-objects -vH",
        "git cherry -v main",
        "git verify-commit HEAD",
        "git archive --list",
        "git archive HEAD --format=tar",
        "git bundle verify a.bundle",
        "git symbolic-ref HEAD",
        "git symbolic-ref --short HEAD",
        "git check-ignore -v target",
        "git check-attr -a README.md",
        "git hash-object a.txt",
        "git fsck --full",
        "git clean -n",
        "git clean -ndx",
        "git apply --check x.patch",
        "git apply --stat x.patch",
        "git apply --stat --index x.patch",
        "git apply --check --cached x.patch",
        "git verify-pack -v .git/objects/pack/x.idx",
        "git format-patch -1 --stdout",
        "git commit --dry-run",
        "git patch-id --stable",
        "git check-ref-format --branch x",
    ]);
}

#[test]
fn everything_else_is_not() {
    none_harmless(&[
        "git",
        "git frobnicate",
        "git $x",
        "git status $x",
        "git diff *",
        "git -ccore.fsmonitor=./x status",
        "git -c core.fsmonitor=./x status",
        "git -c core.pager=./x log",
        "git -c alias.x='!id' x",
        "git -c core.sshCommand=x fetch",
        "git -c color.ui=$x status",
        "git --exec-path=. status",
        "git --git-dir=/tmp/x.git log",
        "git --git-dir=evil.git log",
        "git --work-tree=/tmp status",
        "git --config-env=a=b status",
        "git -C /tmp log",
        "git -C ../other log",
        "git -C .git log",
        "git -C $x log",
        "git log -p --output=log.txt",
        "git log --outp=log.txt",
        "git log --output log.txt",
        "git diff --output=x",
        "git diff --ext-diff",
        "git diff --ext",
        "git show --textconv HEAD",
        "git diff /etc/passwd /etc/shadow",
        "git diff ../../etc/passwd a",
        "git diff --no-index /etc/passwd a",
        "git diff -O/home/dev/x",
        "git blame --contents /home/dev/x a",
        "git grep -O foo",
        "git grep -O./x foo",
        "git grep --open-files-in-pager=./x foo",
        "git grep --no-index foo /home",
        "git grep -f /home/dev/x",
        "git cat-file --textconv HEAD:a",
        "git cat-file --filters HEAD:a",
        "git cat-file --fil HEAD:a",
        "git show HEAD:../../../x/y/z",
        "git branch new",
        "git branch -v new",
        "git branch -d old",
        "git branch -D old",
        "git branch -m a b",
        "git branch --edit-description",
        "git branch -u origin/main",
        "git tag v1",
        "git tag -d v1",
        "git tag -a v1 -m x",
        "git tag -f v1 HEAD",
        "git remote add o https://example.com/x",
        "git remote set-url origin x",
        "git remote rm origin",
        "git remote show origin",
        "git remote update",
        "git remote prune origin",
        "git stash",
        "git stash -u",
        "git stash push -m x",
        "git stash pop",
        "git stash drop",
        "git stash frob",
        "git config user.email me@example.com",
        "git config --global user.name x",
        "git config set user.name x",
        "git config --unset user.name",
        "git config --add a.b c",
        "git config -e",
        "git config edit",
        "git config -f x a.b c",
        "git config alias.x '!id'",
        "git config --file /home/dev/x --list",
        "git worktree add ../x",
        "git worktree remove x",
        "git submodule update --init",
        "git submodule foreach id",
        "git submodule add https://example.com/x",
        "git notes add -m x",
        "git bisect start",
        "git bisect run ./x",
        "git archive -o x.tar HEAD",
        "git archive --format=evil HEAD",
        "git archive --remote=host:x HEAD",
        "git archive --exec=x HEAD",
        "git bundle create x HEAD",
        "git symbolic-ref HEAD refs/heads/x",
        "git symbolic-ref -d HEAD",
        "git hash-object -w a",
        "git clean -f",
        "git apply x.patch",
        "git apply --stat --apply x.patch",
        "git am x.patch",
        "git apply --check --index x.patch",
        "git apply --check --3way x.patch",
        "git am ../x.mbox",
        "git verify-pack /home/dev/x",
        "git -c diff.submodule=diff log -p",
        "git fetch",
        "git fetch --all",
        "git fetch --upload-pack=./x .",
        "git fetch ext::sh",
        "git pull",
        "git push",
        "git push --receive-pack=x .",
        "git clone https://example.com/x",
        "git clone -u ./x . y",
        "git clone ext::sh y",
        "git clone --template=x . y",
        "git ls-remote",
        "git ls-remote --upload-pack=./x .",
        "git ls-remote ext::sh",
        "git add .",
        "git commit -m x",
        "git commit",
        "git checkout main",
        "git switch -c x",
        "git restore a",
        "git reset",
        "git rm a",
        "git mv a b",
        "git merge x",
        "git rebase main",
        "git rebase -x id main",
        "git cherry-pick x",
        "git revert HEAD",
        "git init",
        "git gc",
        "git update-ref refs/heads/x HEAD",
        "git update-index --refresh",
        "git read-tree HEAD",
        "git format-patch -1",
        "git reflog expire --all",
        "git reflog delete HEAD",
        "git filter-branch x",
        "git difftool",
        "git mergetool",
        "git help -w log",
        "git send-email x",
        "git daemon",
        "git credential fill",
        "git interpret-trailers --in-place x",
        "git var --frob",
    ]);
}

#[test]
fn ordinary_edits_are_writes_and_nothing_more() {
    let lines = [
        "git add .",
        "git add -A",
        "git add -u src",
        "git add -N -- '*.rs'",
        "git commit -m 'a message'",
        "git commit -am x",
        "git commit -q -m x -m y --author 'A <a@b>'",
        "git commit -F msg.txt --allow-empty",
        "git commit --fixup HEAD",
        "git checkout -b new",
        "git checkout main",
        "git switch -c new origin/main",
        "git switch -",
        "git restore --staged a.rs",
        "git reset HEAD~1",
        "git reset -q -- a.rs",
        "git branch new",
        "git branch -m old new",
        "git tag v1",
        "git tag -a v1 -m x",
        "git stash",
        "git stash -u",
        "git stash push -m wip -- src",
        "git stash pop",
        "git stash apply stash@{1",
        "git mv a.rs b.rs",
        "git rm --cached a.rs",
        "git merge --no-ff feature",
        "git merge --abort",
        "git rebase main",
        "git rebase --continue",
        "git cherry-pick -x abc",
        "git revert --no-edit HEAD",
        "git init",
        "git init sub",
        "git apply x.patch",
        "git am x.patch",
        "git notes add -m x HEAD",
        "git worktree add wt",
        "git worktree prune",
        "git bisect start",
        "git -C sub add x",
        "git -c user.name=x -c user.email=y commit -m z",
        "git bisect good",
        "git update-index --chmod=+x run.sh",
    ];
    for line in lines {
        let facts = facts(line);
        let inside = |target: &super::super::super::fact::Target| {
            target.path.starts_with("/w/repo") && !target.path.starts_with("/w/repo/.git")
        };
        let ordinary = |fact: &Fact| match fact {
            Fact::Read(target) | Fact::Write(target) | Fact::Delete(target) => inside(target),
            Fact::Code(_) => true,
            _ => false,
        };
        assert!(facts.iter().all(ordinary), "{line}: {facts:?}");
        assert!(facts.iter().any(|fact| matches!(fact, Fact::Write(_))), "{line}");
    }
}

#[test]
fn files_that_are_named_are_read() {
    for line in [
        "git am NAME",
        "git am --patch-format=mbox NAME",
        "git am -3 a.patch NAME",
        "git am -q a.patch NAME",
        "git apply NAME",
        "git apply --stat NAME",
        "git verify-pack NAME",
        "git verify-pack -v a.idx NAME",
        "git index-pack NAME",
        "git index-pack -v NAME",
        "git hash-object NAME",
        "git hash-object -w NAME",
        "git interpret-trailers NAME",
        "git merge-file -p a b NAME",
        "git bundle verify NAME",
        "git diff --no-index a NAME",
        "git diff --no-index NAME a",
        "git grep --no-index x NAME",
        "git blame --contents NAME a",
        "git config -f NAME -l",
    ] {
        for (name, place) in [
            ("/home/dev/.ssh/id_rsa", "/home/dev/.ssh/id_rsa"),
            ("/etc/shadow", "/etc/shadow"),
            (".env", "/w/repo/.env"),
            ("../x.mbox", "/w/x.mbox"),
        ] {
            let line = line.replace("NAME", name);
            assert!(
                any(&line, |fact| matches!(fact, Fact::Read(from) if from.path.ends_with(place))),
                "{line}: {:?}",
                facts(&line)
            );
        }
    }
    for line in ["git hash-object --stdin-paths", "git hash-object -w --stdin-paths"] {
        let opaque = |stdin| facts_from(line, stdin).iter().any(|fact| matches!(fact, Fact::Opaque(_)));
        assert!(opaque(Stdin::Unknown) && opaque(Stdin::Text(".env".to_owned())) && !opaque(Stdin::None), "{line}");
    }
    // What is staged of it would be shown.
    for line in
        ["git commit --dry-run -v .env", "git commit --short :/.env", "git status -vv .env", "git status -v :/.env"]
    {
        assert!(any(line, |fact| matches!(fact, Fact::Read(from) if from.path.ends_with(".env"))), "{line}");
    }
    assert!(!any("git status .env", |fact| matches!(fact, Fact::Read(from) if from.path.ends_with(".env"))));
    for (line, place) in [
        ("git -C .aws config -f credentials -l", "/w/repo/.aws/credentials"),
        ("git -C sub blame --contents x a", "/w/repo/sub/x"),
        ("git -C sub commit -F .env", "/w/repo/sub/.env"),
    ] {
        assert!(any(line, |fact| matches!(fact, Fact::Read(from) if from.path.ends_with(place))), "{line}");
    }
    assert!(any("git -C sub am .env", |fact| matches!(fact, Fact::Read(from) if from.path.ends_with("repo/sub/.env"))));
}

#[test]
fn what_becomes_code_is_a_write_of_the_configuration() {
    let writes = |line: &str, path: &str| {
        assert!(any(line, |fact| matches!(fact, Fact::Write(to) if to.path.starts_with(path))), "{line}");
    };
    writes("git config user.email me@example.com", "/w/repo/.git/config");
    writes("git config core.hooksPath x", "/w/repo/.git/config");
    writes("git -C sub config a.b c", "/w/repo/sub/.git/config");
    writes("git config --global a.b c", "/home/dev/.gitconfig");
    writes("git config --system a.b c", "/etc/gitconfig");
    writes("git remote add o x", "/w/repo/.git/config");
    writes("git submodule add x", "/w/repo/.git/config");
    writes("git worktree add -f .git/hooks/x", "/w/repo/.git/hooks/x");
    writes("git -C sub worktree add ../.git/x", "/w/repo/.git/x");
    writes("git -C sub diff --output=../.git/config", "/w/repo/.git/config");
    writes("git mv x .git/hooks/post-checkout", "/w/repo/.git/hooks/post-checkout");
}

#[test]
fn editors_commands_and_questions_cannot_be_said() {
    let lines = [
        "git commit",
        "git commit --amend",
        "git commit -c HEAD",
        "git commit -p -m x",
        "git commit -e -m x",
        "git commit --fixup=amend:HEAD",
        "git add -p",
        "git add -i",
        "git rebase -i main",
        "git rebase --exec id main",
        "git merge -s evil x",
        "git merge --strategy=evil x",
        "git pull -s evil",
        "git tag -a v1",
        "git notes add",
        "git notes edit",
        "git stash -p",
        "git clone -c core.sshCommand=x . y",
        "git submodule foreach id",
        "git unknown",
    ];
    for line in lines {
        assert!(is_opaque(line), "{line}");
    }
}

#[test]
fn a_patch_in_the_place_of_a_secret_loses_it() {
    for line in
        ["git apply <<< '+++ b/.env'", "git am <<< '+++ b/sub/id_rsa'", "git apply --directory=x <<< '+++ b/.env'"]
    {
        assert!(opaque_at_work(line), "{line}");
    }
    for line in ["git apply <<< '+++ b/src/a.rs'", "git apply x.patch", "git apply --stat <<< '+++ b/.env'"] {
        assert!(!opaque_at_work(line), "{line}");
    }
}

/// With what it is fed.
fn opaque_at_work(line: &str) -> bool {
    let site = Site::on_paper(vec!["/w/repo".into()], "/w/repo".into(), "/home/dev".into());
    analyse(line, &site).facts.iter().any(|fact| matches!(fact, Fact::Opaque(_)))
}

#[test]
fn the_network_is_named() {
    let host = |line: &str| {
        facts(line).into_iter().find_map(|fact| match fact {
            Fact::Net(host) => Some(host),
            _ => None,
        })
    };
    assert_eq!(host("git fetch"), Some(None));
    assert_eq!(host("git push origin main"), Some(None));
    assert_eq!(host("git clone https://user@Example.com:8443/x.git"), Some(Some("example.com".to_owned())));
    assert_eq!(host("git clone git@example.com:a/b.git"), Some(Some("example.com".to_owned())));
    assert_eq!(host("git ls-remote ssh://example.com/x"), Some(Some("example.com".to_owned())));
    assert_eq!(host("git clone ./a b"), None);
}

#[test]
fn patches_are_files_of_the_directory_they_come_into() {
    let writes = |line: &str| -> Vec<String> {
        let facts = facts(line);
        let runs = facts.iter().any(|fact| matches!(fact, Fact::Code(_) | Fact::Opaque(_)));
        let written = facts.iter().filter_map(|fact| match fact {
            Fact::Write(target) => Some(target.path.display().to_string()),
            _ => None,
        });
        if runs { vec!["runs".to_owned()] } else { written.collect() }
    };
    for (line, places) in [
        ("git format-patch -1", &["/w/repo"][..]),
        ("git format-patch -2 --cover-letter HEAD", &["/w/repo"]),
        ("git -C sub format-patch -1", &["/w/repo/sub"]),
        ("git format-patch -1 --stdout", &[]),
        ("git format-patch -1 --suffix=/x", &["runs"]),
        ("git format-patch -1 --suffix=\"$x\"", &["runs"]),
    ] {
        assert_eq!(writes(line), places, "{line}");
    }
    assert!(writes("git format-patch -1 --suffix=.txt").iter().all(|place| place == "/w/repo"));
    assert!(writes("git format-patch -1 -o .github/workflows --suffix=.yml").len() > 2);
    assert!(writes("git format-patch -1 -o out").iter().all(|place| place == "/w/repo/out"));
    assert!(writes("git -C sub format-patch -o out x").contains(&"/w/repo/sub/out".to_owned()));
    assert_eq!(writes("git format-patch -1 --output=one.patch"), ["/w/repo/one.patch"]);
}
