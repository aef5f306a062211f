//! Installers of git hooks: the very files that they write, which is what a yes to them is for. Where the project says which
//! hooks there are, it is the directory.

use super::super::judge::{Arg, Judge};
use super::effects::run;
use super::places::leads_away;
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, lists};
use Does::{Flag, Value};

/// `pre-commit install`: one file for each type of hook.
pub(super) const PRE_COMMIT: Spec = Spec {
    names: "install uninstall init-templatedir",
    opts: &[
        (Flag, "f overwrite install-hooks allow-missing-config no-allow-missing-config"),
        (Value, "c config t hook-type color"),
    ],
    operands: Operands::Custom,
    check: Some(pre_commit),
    ..PLAIN
};

/// Types of hooks that pre-commit knows.
const TYPES: &str = "commit-msg post-checkout post-commit post-merge post-rewrite pre-commit pre-merge-commit pre-push \
    pre-rebase prepare-commit-msg";

/// What husky puts into its directory, beside one file for each hook.
const HUSKY: &str = ". _ _/.gitignore _/h _/husky.sh _/pre-commit _/pre-merge-commit _/prepare-commit-msg _/commit-msg \
    _/post-commit _/applypatch-msg _/pre-applypatch _/post-applypatch _/pre-rebase _/post-rewrite _/post-checkout \
    _/post-merge _/pre-push _/pre-auto-gc";

/// The hooks of git-lfs.
const LFS: &str = "pre-push post-checkout post-commit post-merge";

/// A path in the repository around the working directory, or around `dir` below that.
pub(super) fn of_repository(dir: &str, path: &str, judge: &Judge<'_>) -> Arg {
    let top = judge.site.top(&judge.resolve(dir)).and_then(|top| Some(top.join(path).to_str()?.to_owned()));
    let below = || if dir.is_empty() { path.to_owned() } else { format!("{dir}/{path}") };
    judge.word(top.unwrap_or_else(below))
}

/// The command writes this file of the repository.
pub(super) fn write(dir: &str, path: &str, judge: &mut Judge<'_>) {
    let file = of_repository(dir, path, judge);
    judge.write(&file);
}

/// The files of `directory`, each for itself.
fn files<'n>(directory: &str, names: impl IntoIterator<Item = &'n str>, judge: &mut Judge<'_>) {
    for name in names {
        let file = judge.word(format!("{directory}/{name}"));
        judge.write(&file);
    }
}

fn pre_commit(parsed: &Parsed, judge: &mut Judge<'_>) {
    let templates = parsed.path.last().is_some_and(|name| name == "init-templatedir");
    let into = match (templates, parsed.operands.first()) {
        (false, _) => of_repository("", ".git/hooks", judge),
        (true, Some(dir)) => match dir.exact() {
            Some(dir) => judge.word(format!("{dir}/hooks")),
            None => return judge.opaque("where it installs hooks is not known"),
        },
        (true, None) => return judge.opaque("it needs a directory"),
    };
    let into_text = into.exact().unwrap_or_default().to_owned();
    let types: Vec<Option<&str>> = parsed
        .opts
        .iter()
        .filter(|(name, _)| lists("t hook-type", name))
        .map(|(_, value)| value.as_ref().and_then(Arg::exact).filter(|kind| lists(TYPES, kind)))
        .collect();
    match types.iter().copied().collect::<Option<Vec<&str>>>() {
        Some(kinds) if !kinds.is_empty() => files(&into_text, kinds, judge),
        // Which types there are without one that is named, the configuration may say.
        Some(_) if !says_types(parsed, judge) => files(&into_text, ["pre-commit"], judge),
        _ => judge.write(&into),
    }
    if parsed.has("install-hooks") {
        judge.net(None);
    }
    let config = parsed.value("c config").filter(|file| file.exact().is_none_or(leads_away));
    if let Some(config) = config {
        judge.read(config);
    }
    judge.code(format!("runs `{}`", parsed.path.join(" ")));
    judge.write_cwd();
}

/// Whether the configuration says which types are installed, or it is not known which file that is.
fn says_types(parsed: &Parsed, judge: &Judge<'_>) -> bool {
    let name = match parsed.value("c config").map(Arg::exact) {
        None => ".pre-commit-config.yaml",
        Some(Some(name)) if !name.contains('/') => name,
        Some(_) => return true,
    };
    let host = judge.site.repositories.as_ref();
    host.is_some_and(|host| host.has_file(&judge.site.cwd, &[name], "default_install_hook_types"))
}

/// husky and others. What they install stands in the project, but for husky.
pub(super) fn installs(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words: Vec<Option<&str>> = parsed.operands.iter().map(Arg::exact).collect();
    let name = parsed.path.first().map_or("", String::as_str);
    // The others take any word for a directory of hooks.
    let asks = matches!(words.as_slice(), [Some("--version" | "-v" | "version" | "--help" | "-h" | "help")]);
    if asks && matches!(name, "lefthook" | "overcommit") {
        return;
    }
    if !matches!(words.first(), Some(Some("run" | "validate" | "dump"))) {
        let place = match (name, words.as_slice()) {
            ("husky", [] | [Some("install" | "init")]) => Some(".husky"),
            ("husky", [Some(dir)] | [Some("install"), Some(dir)]) if !dir.starts_with('-') => Some(*dir),
            _ => None,
        };
        match place {
            Some(place) => {
                files(place, HUSKY.split(' '), judge);
                if words == [Some("init")] {
                    files(place, ["pre-commit"], judge);
                }
            }
            None => write("", ".git/hooks", judge),
        }
        write("", ".git/config", judge);
    }
    run(parsed, judge);
}

/// `git lfs install` in the repository around `dir`: its filters in one configuration, and its hooks.
pub(super) fn lfs(parsed: &Parsed, dir: &str, judge: &mut Judge<'_>) {
    if parsed.has("system") {
        let everybodys = judge.word("/etc/gitconfig");
        judge.write(&everybodys);
    } else if parsed.has("file") {
        parsed.value("file").into_iter().for_each(|file| judge.write(file));
    } else if parsed.has("w worktree") {
        write(dir, ".git/config.worktree", judge);
    } else if !parsed.has("l local") {
        let own = judge.site.home.join(".gitconfig").display().to_string();
        let own = judge.word(own);
        judge.write(&own);
    }
    if parsed.has("l local w worktree") {
        write(dir, ".git/config", judge);
    }
    if !parsed.has("skip-repo") {
        let hooks = of_repository(dir, ".git/hooks", judge);
        files(hooks.exact().unwrap_or_default(), LFS.split(' '), judge);
    }
    judge.code("runs `git lfs`");
}

#[cfg(test)]
mod tests {
    use super::super::super::fact::{Fact, Target};
    use super::super::testing::facts;

    /// What a line writes, but for the working directory, without the way to it.
    fn written(line: &str) -> String {
        let path = |fact| match fact {
            Fact::Write(Target { path, tree, .. }) if !tree => Some(path.display().to_string()),
            _ => None,
        };
        let all: Vec<String> = facts(line).into_iter().filter_map(path).collect();
        all.join(" ").replace("/w/repo/", "")
    }

    #[test]
    fn what_is_installed_is_named_file_by_file() {
        for (line, wanted) in [
            ("pre-commit install", ".git/hooks/pre-commit"),
            ("pre-commit install -f --allow-missing-config", ".git/hooks/pre-commit"),
            ("pre-commit install -t commit-msg --hook-type=pre-push", ".git/hooks/commit-msg .git/hooks/pre-push"),
            ("pre-commit install -tpre-push", ".git/hooks/pre-push"),
            ("pre-commit uninstall", ".git/hooks/pre-commit"),
            ("pre-commit init-templatedir t -t pre-push", "t/hooks/pre-push"),
            ("pre-commit install -t unheard-of", ".git/hooks"),
            ("pre-commit install -t $type", ".git/hooks"),
            ("lefthook install", ".git/hooks .git/config"),
            (
                "git lfs install --local",
                ".git/config .git/hooks/pre-push .git/hooks/post-checkout .git/hooks/post-commit .git/hooks/post-merge",
            ),
            ("git lfs install --local --skip-repo", ".git/config"),
            ("git lfs install --skip-repo", "/home/dev/.gitconfig"),
            ("git sparse-checkout set src", ".git/config .git/config.worktree .git/info/sparse-checkout"),
            ("git sparse-checkout disable", ".git/config .git/config.worktree .git/info/sparse-checkout"),
            (
                "git -C sub sparse-checkout add x",
                "sub/.git/config sub/.git/config.worktree sub/.git/info/sparse-checkout",
            ),
        ] {
            assert_eq!(written(line), wanted, "{line}");
        }
    }

    #[test]
    fn husky_has_a_directory_of_its_own() {
        for line in ["husky", "npx husky", "husky install", "husky init"] {
            let written = written(line);
            for file in [".husky/_/pre-commit", ".husky/_/h", ".git/config"] {
                assert!(written.split(' ').any(|path| path == file), "{line}: {written}");
            }
            assert!(!written.contains(".git/hooks"), "{line}: {written}");
            assert_eq!(written.contains(".husky/pre-commit"), line.ends_with("init"), "{line}");
        }
    }

    #[test]
    fn hooks_are_fetched_only_where_that_is_asked_for() {
        let reaches = |line: &str| facts(line).contains(&Fact::Net(None));
        assert!(reaches("pre-commit install --install-hooks"));
        assert!(!reaches("pre-commit install"));
    }
}
