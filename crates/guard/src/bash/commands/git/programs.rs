//! Programs that a configuration names and a reading git command runs.
//!
//! What the host can pin for every command (`core.fsmonitor`, hooks, pagers) is no concern here. What has the
//! name of a driver in its key cannot be pinned, so the configuration is looked at: a setting that would run makes the
//! command one that cannot be judged. What the person has set for all their repositories is theirs, unless
//! it runs what the workspace holds.

use std::sync::Arc;

use crate::ExecKind;
use crate::repository::{Repository, Setting};

use super::super::super::analysis::analyse;
use super::super::super::finding::{Family, Row};
use super::super::super::judge::{Judge, Site};
use super::super::spec::Parsed;
use super::{base, own, signatures};

/// The page.
pub(in super::super) const FINDINGS: &[Row] = &[Row {
    code: "git_runs",
    family: Family::Special,
    raises: Some(ExecKind::Opaque),
    when: "A git command that only reads would run a program that the configuration of the repository names: a filter, \
           a driver that shows differences, an alias; or what that configuration has any git command run or read cannot \
           be told.",
    why: "A repository that was unpacked or shared brings its configuration along. `git config --list --show-origin` \
          shows where a setting stands. What stands in your own configuration is yours and asks nothing, unless it \
          runs a file of the workspace.",
    example: "git diff",
}];

/// Settings (`*` is the name of a driver), the subcommands that run them, and the options and the setting that it takes, if
/// any do.
struct Runs {
    keys: &'static str,
    subs: Subs,
    options: &'static str,
    setting: &'static str,
}

enum Subs {
    /// These.
    Of(&'static str),
    /// All but these.
    But(&'static str),
}

use Subs::{But, Of};

const fn runs(keys: &'static str, subs: Subs, options: &'static str) -> Runs {
    Runs { keys, subs, options, setting: "" }
}

impl Runs {
    /// The same, where the repository has this setting.
    const fn set(self, setting: &'static str) -> Runs {
        Runs { setting, ..self }
    }
}

/// Never look at a file of the work tree, so that nothing has to be cleaned before it is compared.
const UNLOOKING: &str = "log show whatchanged reflog rev-parse rev-list shortlog branch tag for-each-ref show-ref ls-tree \
    cat-file config remote var version merge-base name-rev count-objects verify-commit verify-tag verify-pack \
    check-ignore check-attr check-mailmap check-ref-format symbolic-ref ls-remote cherry show-branch range-diff patch-id \
    stripspace diff-tree help fsck get-tar-commit-id format-patch grep worktree describe ls-files archive \
    merge-file fast-export interpret-trailers rerere";

const CLEANS: &str = "filter.*.clean filter.*.process hook.*.command hook.post-index-change lfs.extension.*.clean \
    lfs.customtransfer.*.path";

const SHOWS: &str = "diff.*.command diff.*.textconv";

/// Can make a merge again, to show what was changed in it.
const REMERGES: &str = "log show whatchanged reflog stash range-diff diff-tree";

const TABLE: &[Runs] = &[
    runs(CLEANS, But(UNLOOKING), ""),
    runs(CLEANS, Of("describe"), "dirty broken"),
    runs(CLEANS, Of("ls-files"), "m modified"),
    runs("filter.*.smudge filter.*.process lfs.extension.*.smudge", Of("archive"), ""),
    // Where no format is named, the archive is not packed.
    runs("tar.*.command", Of("archive"), "format o output"),
    runs(
        SHOWS,
        Of(
            "show diff diff-tree diff-index diff-files blame annotate stash range-diff format-patch whatchanged notes commit",
        ),
        "",
    ),
    // An empty one cannot be pinned: git would try to run it.
    runs("diff.external", Of("diff diff-tree diff-index diff-files stash"), ""),
    // A submodule is shown with `git diff`.
    runs("diff.external", Of("log show whatchanged reflog format-patch"), "submodule"),
    runs("diff.external", Of("log reflog"), super::read::PATCH).set("diff.submodule"),
    runs("diff.external", Of("show whatchanged format-patch range-diff notes"), "").set("diff.submodule"),
    runs(SHOWS, Of("log reflog shortlog rev-list"), super::read::PATCH),
    runs(SHOWS, Of("log reflog shortlog rev-list"), "S G"),
    runs(SHOWS, Of("status"), "v verbose"),
    runs("merge.*.driver", Of(REMERGES), "remerge-diff diff-merges"),
    runs("merge.*.driver", Of(REMERGES), "m").set("log.diffmerges"),
    runs("gc.recentobjectshook", Of("prune"), ""),
    runs("core.alternaterefscommand", Of("rev-list"), "alternate-refs"),
    runs("clangformat.binary", Of("clang-format"), ""),
    runs("trailer.*.command trailer.*.cmd", Of("interpret-trailers"), ""),
    runs("man.* browser.* help.browser help.format web.browser", Of("help"), ""),
];

/// What fetches an object that a partial clone lacks, which any command may come to need.
const FETCHES: &str =
    "remote.*.vcs remote.*.uploadpack core.gitproxy core.sshcommand credential.helper credential.*.helper";

/// Subcommands that are no part of some gits, so that an alias of that name is taken.
const NOT_EVERYWHERE: &str = "annotate cherry clang-format count-objects diff-files diff-index diff-tree get-tar-commit-id lfs patch-id \
    range-diff show-branch stripspace whatchanged";

/// What `git lfs install` writes.
const LFS: &[&str] = &[
    "git-lfs clean -- %f",
    "git-lfs smudge -- %f",
    "git-lfs smudge --skip -- %f",
    "git-lfs filter-process",
    "git-lfs filter-process --skip",
];

/// Characters of a key and of a program that are shown.
const SHOWN: usize = 80;

/// Notes what the reading command would run.
pub(super) fn check(parsed: &Parsed, judge: &mut Judge<'_>) {
    let Some(repository) = repository(parsed, judge) else { return };
    let sub = sub(parsed);
    let given = |options: &str| options.is_empty() || own(parsed, options).is_some();
    let is_set = |key: &str| key.is_empty() || signatures::set(parsed, &repository, |set, _| set == key);
    let rows = TABLE.iter().filter(|row| row.subs.have(sub) && given(row.options) && is_set(row.setting));
    let verifies = signatures::READERS.verify(sub, parsed, &repository);
    let signed = if verifies { signatures::PROGRAMS } else { "" };
    let keys = rows.map(|row| row.keys).chain([signed]).flat_map(str::split_whitespace);
    led_by(&repository, verifies, judge);
    note(sub, &repository, keys, judge);
}

/// Notes where a command that changes the repository is led out of the workspace: it says how a rebase stands as `git status`
/// does, and puts what it reads into commits and patches.
pub(super) fn led(parsed: &Parsed, judge: &mut Judge<'_>) {
    if let Some(repository) = repository(parsed, judge) {
        led_by(&repository, signatures::WRITERS.verify(sub(parsed), parsed, &repository), judge);
    }
}

fn sub(parsed: &Parsed) -> &str {
    parsed.path.get(1).map_or("", String::as_str)
}

/// What is known of the repository that the command is about.
fn repository(parsed: &Parsed, judge: &Judge<'_>) -> Option<Arc<Repository>> {
    // Not brought into shape: behind a link `..` is where the link leads.
    judge.site.repository(&judge.site.cwd.join(base(parsed)))
}

/// What a setting of this name may be.
pub(super) fn values(key: &str, parsed: &Parsed, judge: &Judge<'_>) -> Vec<String> {
    let repository = repository(parsed, judge);
    let settings = repository.iter().flat_map(|repository| &repository.settings);
    settings.filter(|setting| setting.key == key).map(|setting| setting.value.clone()).collect()
}

/// What `git SUB --help` would run, which opens a page.
pub(in super::super) fn help(judge: &mut Judge<'_>) {
    plain("help", judge);
}

/// The same of a program that asks `git status` by itself.
pub(in super::super) fn status(judge: &mut Judge<'_>) {
    plain("status", judge);
}

/// The same of a subcommand without options, in the working directory.
fn plain(sub: &str, judge: &mut Judge<'_>) {
    let Some(repository) = judge.site.repository(&judge.site.cwd) else { return };
    let rows = TABLE.iter().filter(|row| row.subs.have(sub) && row.options.is_empty() && row.setting.is_empty());
    led_by(&repository, false, judge);
    note(sub, &repository, rows.flat_map(|row| row.keys.split_whitespace()), judge);
}

/// Reads where the repository has git read outside of the workspace.
fn led_by(repository: &Repository, verifies: bool, judge: &mut Judge<'_>) {
    let (signers, unknown_signers) = match verifies {
        true => (repository.signers.as_slice(), repository.unknown_signers.as_ref()),
        false => Default::default(),
    };
    for place in repository.elsewhere.iter().chain(signers) {
        let place = judge.word(place.to_string_lossy());
        judge.read_tree(&place);
    }
    if let Some(why) = repository.unknown.as_ref().or(unknown_signers) {
        let span = judge.span.clone();
        judge.find("git_runs", span, format!("what git is configured to run or read is not known: {why}"));
    }
}

fn note<'k>(sub: &str, repository: &Repository, keys: impl Iterator<Item = &'k str>, judge: &mut Judge<'_>) {
    let mut keys: Vec<&str> = keys.collect();
    let promised =
        |setting: &Setting| fits("remote.*.promisor", &setting.key) || setting.key == "extensions.partialclone";
    if repository.settings.iter().any(promised) {
        keys.extend(FETCHES.split_whitespace());
    }
    let alias = format!("alias.{sub}");
    let names = |setting: &&Setting| {
        keys.iter().any(|key| fits(key, &setting.key))
            || setting.key == alias && NOT_EVERYWHERE.split_whitespace().any(|name| name == sub)
    };
    let found = repository.settings.iter().filter(names).find(|setting| !is_fine(setting, judge.site));
    if let Some(setting) = found {
        // The program alone: what stands behind it may be nobody's business.
        let program = setting.value.split_whitespace().find(|word| !word.contains('=')).unwrap_or("…");
        let program: String = program.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
        let key: String = setting.key.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
        let why = format!("`{key}` is configured, and `git {sub}` would run it: `{program}`");
        let span = judge.span.clone();
        judge.find("git_runs", span, why);
    }
}

impl Subs {
    fn have(&self, sub: &str) -> bool {
        let among = |names: &str| names.split_whitespace().any(|name| name == sub);
        match self {
            Of(names) => among(names),
            But(names) => !among(names),
        }
    }
}

/// Whether a key has this form; `*` is anything between.
fn fits(form: &str, key: &str) -> bool {
    match form.split_once('*') {
        Some((start, end)) => key.len() > start.len() + end.len() && key.starts_with(start) && key.ends_with(end),
        None => form == key,
    }
}

/// Whether a setting runs nothing that somebody else brought.
fn is_fine(setting: &Setting, site: &Site) -> bool {
    let value = setting.value.trim();
    if value.is_empty() || setting.key.starts_with("filter.") && LFS.contains(&value) {
        return true;
    }
    // No shell reads the name of what looks at signatures, and git says all its words.
    let is_path = setting.key.starts_with("gpg.") && setting.key.ends_with(".program");
    let runs_nothing_else = || if is_path { is_installed(value, site) } else { is_program_of_its_own(value, site) };
    setting.own && !setting.key.starts_with("alias.") && runs_nothing_else()
}

/// Whether this is the name of a program that lies outside of the workspace.
fn is_installed(name: &str, site: &Site) -> bool {
    let inside = site.roots.iter().any(|root| name.starts_with(&*root.to_string_lossy()));
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "/._+-".contains(c));
    plain && (!name.contains('/') || name.starts_with('/') && !inside && !name.contains(".."))
}

/// Whether the text starts one installed program, which does not itself run what its words name.
fn is_program_of_its_own(text: &str, site: &Site) -> bool {
    let paper = Site::on_paper(site.roots.clone(), site.cwd.clone(), site.home.clone());
    let analysis = analyse(text, &paper);
    let [command] = analysis.commands.as_slice() else { return false };
    let Some(name) = command.argv.first() else { return false };
    let simple = analysis.findings.is_empty() && analysis.loose == ExecKind::ReadOnly;
    let known = super::super::is_known(name.rsplit('/').next().unwrap_or(name));
    is_installed(name, site) && simple && (command.kind == ExecKind::ReadOnly || !known)
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;

    use super::super::super::super::fact::Fact;
    use super::*;
    use crate::bash::Analysis;
    use crate::repository::Repositories;

    /// One repository at `/w/repo`, another below `sub`.
    #[derive(Debug)]
    struct Found(Arc<Repository>, Arc<Repository>);

    impl Repositories for Found {
        fn at(&self, dir: &Path) -> Arc<Repository> {
            Arc::clone(if dir.starts_with("/w/repo/sub") { &self.1 } else { &self.0 })
        }
    }

    /// What the repository brings along.
    pub fn settings(all: &[(&str, &str)]) -> Repository {
        let brought = |(key, value): &(&str, &str)| Setting { key: (*key).into(), value: (*value).into(), own: false };
        Repository { settings: all.iter().map(brought).collect(), ..Repository::default() }
    }

    fn setting(key: &str, value: &str, own: bool) -> Repository {
        let settings = vec![Setting { key: key.to_owned(), value: value.to_owned(), own }];
        Repository { settings, ..Repository::default() }
    }

    fn tell(text: &str, here: Repository, sub: Repository) -> Analysis {
        let site = Site {
            repositories: Some(Arc::new(Found(Arc::new(here), Arc::new(sub)))),
            ..Site::on_paper(vec!["/w/repo".into()], "/w/repo".into(), "/home/dev".into())
        };
        analyse(text, &site)
    }

    /// What is found of a text where the repository has these settings.
    pub fn tell_here(text: &str, here: Repository) -> Analysis {
        tell(text, here, Repository::default())
    }

    /// Whether it is asked about, for what the configuration names.
    pub fn asks(text: &str, here: Repository) -> bool {
        let analysis = tell(text, here, Repository::default());
        let named = analysis.findings.iter().any(|finding| finding.code == "git_runs");
        assert_eq!(named, analysis.kind == ExecKind::Opaque, "{text}: {analysis:?}");
        named
    }

    #[test]
    fn what_the_repository_names_is_asked_about_where_it_runs() {
        for (key, runs, rests) in [
            (
                "diff.x.textconv",
                "git diff|git show HEAD|git log -p|git log -S x|git blame a|git stash show -p|git diff --stat|git status -v|\
                 git notes show HEAD|git commit --dry-run -v|git commit --long -v|git commit --dry-run",
                "git log|git log --oneline -5|git status|git ls-files|git branch|git rev-parse HEAD",
            ),
            ("diff.x.command", "git diff|git diff HEAD~1 -- a|git -C . diff", "git log --stat"),
            (
                "filter.x.clean",
                "git status|git diff|git status -s > /dev/null|git describe --dirty|git ls-files -m|git blame a",
                "git log -p|git ls-files|git show|git describe|git branch -a|git grep x",
            ),
            ("filter.x.process", "git status|git diff --stat|git archive HEAD", "git log"),
            ("filter.x.smudge", "git archive HEAD", "git status|git diff"),
            ("diff.external", "git diff|git diff HEAD~1 --stat", "git log -p|git show|git status"),
            (
                "tar.zip.command",
                "git archive --format=zip HEAD|git archive -o a.zip HEAD|git archive --output=a.tar.gz HEAD",
                "git status|git archive HEAD|git archive HEAD | tar t",
            ),
            (
                "merge.x.driver",
                "git show --remerge-diff|git log --diff-merges=remerge|git diff-tree --remerge-diff HEAD",
                "git show|git log -p|git log -m -p|git show -m|git apply --check x.patch",
            ),
            ("gc.recentobjectshook", "git prune -n|git prune --dry-run", "git log|git prune-packed -n|git fsck"),
            ("diff.external", "git log -p --submodule=diff|git show --submodule", "git log --stat|git show --stat"),
            ("gpg.program", "git log --show-signature|git verify-commit HEAD", "git status|git diff"),
            ("core.alternaterefscommand", "git rev-list --alternate-refs HEAD", "git rev-list HEAD|git log"),
            ("alias.whatchanged", "git whatchanged", "git log"),
            ("clangformat.binary", "git clang-format --diff", "git log|git diff"),
            ("alias.clang-format", "git clang-format", "git log"),
            ("trailer.x.cmd", "git interpret-trailers --parse a.txt", "git log|git status"),
            ("alias.log", "git whatchanged; git diff", "git log|git status"),
            ("man.x.cmd", "git help log|git log --help", "git log"),
            ("hook.post-index-change", "git status|git diff", "git log"),
            ("lfs.extension.x.clean", "git status", "git log"),
            ("core.hookspath", "", "git status|git diff|git log -p"),
        ] {
            for text in runs.split('|').filter(|text| !text.is_empty() && key != "alias.log") {
                assert!(asks(text, setting(key, "./evil", false)), "{key}: {text}");
                assert!(asks(text, setting(key, "evil", false)), "{key}: {text}");
                assert!(!asks(text, setting(key, "", false)), "{key}: {text}");
            }
            for text in rests.split('|') {
                assert!(!asks(text, setting(key, "./evil", false)), "{key}: {text}");
            }
        }
    }

    #[test]
    fn a_setting_may_have_a_program_run_as_an_option_does() {
        for (program, setting, value, texts) in [
            (
                "merge.x.driver",
                "log.diffmerges",
                "remerge",
                "git log -m -p|git show -m|git reflog -m -p|git whatchanged -m -p|git stash list -m -p",
            ),
            (
                "diff.external",
                "diff.submodule",
                "diff",
                "git log -p|git show|git whatchanged -p|git reflog -p|git format-patch --stdout -1|git notes show",
            ),
        ] {
            for text in texts.split('|') {
                assert!(asks(text, settings(&[(program, "./evil"), (setting, value)])), "{program}: {text}");
                assert!(!asks(text, settings(&[(program, "./evil")])), "{program}: {text}");
            }
            for text in ["git log", "git log --oneline -5", "git status", "git branch"] {
                assert!(!asks(text, settings(&[(program, "./evil"), (setting, value)])), "{program}: {text}");
            }
        }
    }

    #[test]
    fn go_asks_for_the_state_of_the_repository() {
        for text in [
            "go list ./...",
            "go list",
            "go list -m=false ./...",
            "go list --m=F ./...",
            "go list -f '{{.Dir}}' ./...",
            "go list -json ./cmd/x | jq .Dir",
            "go list -deps -buildvcs=auto .",
            "cd cmd && go list",
        ] {
            for key in ["filter.x.clean", "filter.x.process"] {
                assert!(asks(text, settings(&[(key, "./evil")])), "{key}: {text}");
            }
            assert!(!asks(text, settings(&[("diff.x.textconv", "./evil")])), "{text}");
        }
        for text in ["go list -buildvcs=false ./...", "go list -m", "go list -m=true all", "go doc fmt", "go version"] {
            assert!(!asks(text, settings(&[("filter.x.clean", "./evil")])), "{text}");
        }
    }

    #[test]
    fn what_the_person_has_set_is_theirs_unless_it_runs_the_workspace() {
        for value in ["git-lfs clean -- %f", "pdftotext -layout", "/usr/bin/hexdump -C", "cat", "exiftool"] {
            assert!(!asks("git diff", setting("diff.x.textconv", value, true)), "{value}");
            assert!(asks("git diff", setting("diff.x.textconv", value, false)), "{value}");
        }
        for value in [
            "./show",
            "tools/show",
            "/w/repo/show",
            "python3 -m show",
            "sh -c show",
            "npx show",
            "a | b",
            "env show",
            "/usr/../w/repo/show",
            "a; b",
            "$X",
            "f() { a; }; f",
        ] {
            assert!(asks("git diff", setting("diff.x.textconv", value, true)), "{value}");
        }
    }

    #[test]
    fn what_the_person_has_look_at_signatures_is_theirs_unless_it_is_of_the_workspace() {
        for text in ["git archive HEAD", "git log --show-signature", "git verify-commit HEAD"] {
            for value in ["gpg", "gpg2", "/usr/bin/gpg", "gpgsm", "ssh-keygen", "/opt/1Password/op-ssh-sign"] {
                for key in ["gpg.program", "gpg.ssh.program"] {
                    assert!(!asks(text, setting(key, value, true)), "{text}: {value}");
                    assert!(asks(text, setting(key, value, false)), "{text}: {value}");
                }
            }
            for value in ["./gpg", "tools/gpg", "/w/repo/gpg", "/usr/../w/repo/gpg", "~/bin/gpg", "gpg -x"] {
                assert!(asks(text, setting("gpg.program", value, true)), "{text}: {value}");
            }
        }
    }

    #[test]
    fn what_lfs_installs_is_known() {
        for value in LFS {
            assert!(!asks("git status", setting("filter.lfs.process", value, false)), "{value}");
        }
        assert!(asks("git status", setting("filter.lfs.process", "git-lfs filter-process; x", false)));
    }

    #[test]
    fn what_cannot_be_read_is_asked_about() {
        let odd = Repository { unknown: Some("line 3 of .git/config".to_owned()), ..Repository::default() };
        assert!(asks("git rev-parse HEAD", odd.clone()));
        for text in ["git commit -m x", "git format-patch -1", "git merge x", "git stash", "git rebase x", "git add ."]
        {
            assert!(asks(text, odd.clone()), "{text}");
        }
        let signers = Repository { unknown_signers: Some("`~root/x`".to_owned()), ..Repository::default() };
        for text in ["git log --show-signature", "git verify-commit HEAD", "git merge v1", "git archive HEAD"] {
            assert!(asks(text, signers.clone()), "{text}");
        }
        for text in ["git log", "git status", "git commit -m x", "git cherry-pick x", "git format-patch -1"] {
            assert!(!asks(text, signers.clone()), "{text}");
        }
    }

    #[test]
    fn what_a_repository_has_git_read_elsewhere_is_read() {
        let leads = || Repository { elsewhere: vec!["/other/x".into()], ..Repository::default() };
        for text in [
            "git log",
            "git diff",
            "git blame a",
            "git format-patch --stdout -1",
            "git help",
            "git -C a status",
            "git am --show-current-patch",
            "git am x",
            "git rebase --show-current-patch",
            "git rebase --continue",
            "git format-patch -1",
            "git commit -m x",
            "git -C a add .",
            "git stash",
            "git worktree list -v",
            "git remote get-url zz",
            "git ls-remote --get-url zz",
            "git bisect log",
            "git merge x",
            "git rerere diff",
            "git clean -fd",
        ] {
            let analysis = tell_here(text, leads());
            let reads =
                |fact: &Fact| matches!(fact, Fact::Read(target) if target.path == Path::new("/other/x") && target.tree);
            assert!(analysis.facts.iter().any(reads), "{text}: {analysis:?}");
        }
    }

    #[test]
    fn patches_come_where_the_configuration_says() {
        let writes = |text: &str, set: &[(&str, &str)]| {
            let written = tell_here(text, settings(set)).touched().writes;
            written.into_iter().map(|target| target.path.display().to_string()).collect::<Vec<_>>()
        };
        let out = [("format.outputdirectory", "../out")];
        assert!(writes("git format-patch -1", &out).contains(&"/w/out".to_owned()));
        assert!(writes("git -C a format-patch -1", &out).contains(&"/w/repo/out".to_owned()));
        for text in ["git format-patch -1 -o x", "git format-patch -1 --stdout", "git format-patch -1 --output=x"] {
            assert!(!writes(text, &out).contains(&"/w/out".to_owned()), "{text}");
        }
        let up = settings(&[("format.suffix", "/../../x")]);
        assert_eq!(tell_here("git format-patch -1", up).kind, ExecKind::Opaque);
    }

    #[test]
    fn who_may_sign_is_read_by_who_verifies_signatures() {
        let reads = |text: &str, set: &[(&str, &str)]| {
            let analysis = tell_here(text, Repository { signers: vec!["/other/x".into()], ..settings(set) });
            let is_there = |fact: &Fact| matches!(fact, Fact::Read(target) if target.path == Path::new("/other/x"));
            analysis.facts.iter().any(is_there)
        };
        for text in [
            "git log --show-signature",
            "git log --format=%G?",
            "git verify-commit HEAD",
            "git verify-tag v1",
            "git tag -v v1",
            "git -c log.showSignature=true show",
            "git merge --verify-signatures x",
            "git pull --verify-signatures",
            // What came of a signed tag is put into the message.
            "git merge v1",
            "git pull . v1",
        ] {
            assert!(reads(text, &[]), "{text}");
        }
        let shows = [("log.showsignature", "true")];
        for text in ["git bisect good", "git am --show-current-patch", "git rebase --show-current-patch"] {
            assert!(reads(text, &shows) && !reads(text, &[]), "{text}");
        }
        assert!(reads("git rebase x", &[("rebase.instructionformat", "%h %G?")]));
        assert!(!reads("git rebase x", &[("rebase.instructionformat", "%h %s")]));
        for text in ["git log", "git status", "git diff", "git show", "git branch", "git tag -l", "git blame a"] {
            assert!(!reads(text, &[]), "{text}");
        }
        for text in ["git commit -m x", "git stash", "git tag v2", "git fetch", "git push", "git cherry-pick x"] {
            assert!(!reads(text, &shows), "{text}");
        }
    }

    #[test]
    fn the_repository_is_that_of_the_directory() {
        let evil = || setting("filter.x.clean", "./evil", false);
        // Where `cd` may have failed, it is one or the other.
        assert_eq!(tell("cd sub; git diff", evil(), Repository::default()).kind, ExecKind::Opaque);
        assert_eq!(tell("cd sub; git diff", Repository::default(), evil()).kind, ExecKind::Opaque);
        for text in ["git -C sub status", "cd sub && git status", "git -C sub/a diff"] {
            assert_eq!(tell(text, Repository::default(), evil()).kind, ExecKind::Opaque, "{text}");
            assert_eq!(tell(text, evil(), Repository::default()).kind, ExecKind::ReadOnly, "{text}");
        }
    }

    #[test]
    fn a_partial_clone_fetches_what_it_lacks() {
        let with = |keys: &[&str]| {
            let all = keys.iter().map(|key| Setting { key: (*key).to_owned(), value: "x".to_owned(), own: false });
            Repository { settings: all.collect(), ..Repository::default() }
        };
        assert!(asks("git log", with(&["remote.o.promisor", "remote.o.uploadpack"])));
        assert!(asks("git log", with(&["extensions.partialclone", "core.sshcommand"])));
        assert!(!asks("git log", with(&["remote.o.promisor", "remote.o.url"])));
        assert!(!asks("git log", with(&["remote.o.uploadpack", "core.sshcommand"])));
    }
}
