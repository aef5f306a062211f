//! Subcommands of git that change the work tree or the repository, and the reading forms they have.
//!
//! Forms that open an editor, run a command or ask questions cannot be said.

use super::super::super::fact::Fact;
use super::super::super::judge::{Arg, Judge, Word};
use super::super::held::{lost, renamed};
use super::super::patched;
use super::super::places::takes_along;
use super::super::spec::{Does, Operands, PLAIN, Parsed, Spec};
use super::{at, changes, configures, files, implied, own, programs, reaches, reads, remotes};
use Does::{AskFlag, Flag, Maybe, Read, Run, Value, Write};

type Opts = (Does, &'static str);

const PATHS: [Opts; 2] = [(Flag, "pathspec-file-nul"), (Read, "pathspec-from-file")];
const STRATEGY: Opts = (Value, "s strategy X strategy-option");
const REMOTE: [Opts; 3] = [
    (
        Flag,
        "all no-all a append atomic dry-run n f force k keep multiple no-multiple p prune no-prune P prune-tags \
         no-tags \
         t tags q quiet v verbose progress no-progress 4 ipv4 6 ipv6 unshallow update-shallow u update-head-ok \
         prefetch write-fetch-head no-write-fetch-head set-upstream no-auto-maintenance no-auto-gc \
         show-forced-updates no-show-forced-updates no-recurse-submodules refetch porcelain stdin",
    ),
    (Maybe, "recurse-submodules recurse-submodules-default"),
    (Value, "depth deepen shallow-since shallow-exclude j jobs o server-option refmap negotiation-tip filter"),
];
const MERGE: [Opts; 2] = [
    (
        Flag,
        "commit no-commit stat no-stat n squash no-squash ff no-ff ff-only verify-signatures no-verify-signatures \
         q quiet \
         v verbose progress no-progress abort quit signoff no-signoff rerere-autoupdate no-rerere-autoupdate \
         allow-unrelated-histories overwrite-ignore no-overwrite-ignore autostash no-autostash verify no-verify \
         no-edit \
         continue skip no-log no-gpg-sign compact-summary",
    ),
    (Maybe, "log S gpg-sign"),
];
const STASH: [Opts; 3] = [
    (Flag, "p patch k keep-index no-keep-index u include-untracked a all S staged q quiet"),
    (Value, "m message"),
    (Read, "pathspec-from-file"),
];

/// A row with what all changing subcommands have in common.
const fn writer(names: &'static str, opts: &'static [Opts]) -> Spec {
    Spec { names, opts, operands: Operands::Custom, check: Some(changes), ..PLAIN }
}

/// The same with a check of its own.
const fn checked(names: &'static str, opts: &'static [Opts], check: fn(&Parsed, &mut Judge<'_>)) -> Spec {
    Spec { check: Some(check), ..writer(names, opts) }
}

/// The subcommands.
pub(super) const SUBS: &[Spec] = &[
    checked(
        "add stage",
        &[
            (
                Flag,
                "n dry-run v verbose f force u update A all no-all ignore-removal no-ignore-removal N intent-to-add",
            ),
            (Flag, "refresh ignore-errors ignore-missing sparse renormalize no-warn-embedded-repo"),
            (AskFlag, "i interactive p patch e edit"),
            (Value, "chmod"),
            PATHS[0],
            PATHS[1],
        ],
        adds,
    ),
    checked(
        "commit",
        &[
            (
                Flag,
                "a all amend no-edit allow-empty allow-empty-message s signoff no-signoff q quiet v verbose dry-run",
            ),
            (
                Flag,
                "short branch porcelain long z null status no-status reset-author no-post-rewrite i include o \
             only",
            ),
            (Flag, "n no-verify verify no-gpg-sign ahead-behind no-ahead-behind"),
            (AskFlag, "p patch interactive e edit"),
            (Maybe, "u untracked-files S gpg-sign"),
            (Value, "m message C reuse-message c reedit-message fixup squash author date cleanup trailer"),
            (Read, "F file t template"),
            PATHS[0],
            PATHS[1],
        ],
        commit,
    ),
    checked(
        "checkout switch",
        &[
            (Flag, "q quiet f force discard-changes no-track guess no-guess l d detach ours theirs m merge"),
            (Flag, "ignore-skip-worktree-bits overwrite-ignore no-overwrite-ignore no-recurse-submodules progress"),
            (Flag, "no-progress ignore-other-worktrees overlay no-overlay 2 3"),
            (Maybe, "t track recurse-submodules"),
            (Value, "b B c C create force-create orphan conflict"),
            (AskFlag, "p patch"),
            PATHS[0],
            PATHS[1],
        ],
        brings,
    ),
    checked(
        "restore",
        &[
            (Flag, "W worktree S staged q quiet progress no-progress ours theirs m merge ignore-unmerged"),
            (Flag, "ignore-skip-worktree-bits recurse-submodules no-recurse-submodules overlay no-overlay 2 3"),
            (Value, "s source conflict"),
            (AskFlag, "p patch"),
            PATHS[0],
            PATHS[1],
        ],
        brings,
    ),
    writer(
        "reset",
        &[
            (
                Flag,
                "q quiet no-quiet soft mixed hard merge keep N intent-to-add refresh no-refresh \
                 no-recurse-submodules",
            ),
            (Maybe, "recurse-submodules"),
            (AskFlag, "p patch"),
            PATHS[0],
            PATHS[1],
        ],
    ),
    checked(
        "clean",
        &[(Flag, "d f force n dry-run q quiet x X"), (AskFlag, "i interactive"), (Value, "e exclude")],
        clean,
    ),
    checked("rm", &[(Flag, "n dry-run q quiet f force r cached ignore-unmatch sparse"), PATHS[0], PATHS[1]], remove),
    checked("mv", &[(Flag, "f force k n dry-run v verbose sparse")], rename),
    checked(
        "merge",
        &[MERGE[0], MERGE[1], STRATEGY, (Value, "m message into-name cleanup"), (Read, "F file"), (AskFlag, "e edit")],
        merge,
    ),
    checked(
        "cherry-pick revert",
        &[
            MERGE[0],
            MERGE[1],
            // A short one is for the line of who signs off.
            (Value, "strategy X strategy-option"),
            (Flag, "x s allow-empty allow-empty-message keep-redundant-commits reference"),
            (Value, "m mainline cleanup empty"),
            (AskFlag, "e edit"),
        ],
        merge,
    ),
    checked(
        "rebase",
        &[
            MERGE[0],
            MERGE[1],
            STRATEGY,
            (Flag, "show-current-patch m merge apply keep-base root no-keep-empty keep-empty reapply-cherry-picks"),
            (Flag, "no-reapply-cherry-picks allow-empty-message committer-date-is-author-date ignore-date"),
            (Flag, "reset-author-date ignore-whitespace f force-rebase no-ff fork-point no-fork-point autosquash"),
            (Flag, "no-autosquash update-refs no-update-refs reschedule-failed-exec no-reschedule-failed-exec"),
            (Maybe, "r rebase-merges C"),
            (Value, "onto empty whitespace"),
            (AskFlag, "i interactive edit-todo e edit"),
            (Run, "x exec"),
        ],
        merge,
    ),
    Spec {
        names: "stash",
        opts: &STASH,
        operands: Operands::Sub,
        subs: &[
            Spec {
                check: Some(|parsed, judge| {
                    reads(parsed, judge);
                    super::read::shown(parsed, judge);
                }),
                ..writer("list show", super::read::LOG)
            },
            checked("push save _", &STASH, stash),
            writer("pop apply", &[(Flag, "index q quiet")]),
            writer("drop clear create branch", &[(Flag, "q quiet")]),
            writer("store", &[(Flag, "q quiet"), (Value, "m message")]),
        ],
        ..PLAIN
    },
    checked(
        "am",
        &[
            (
                Flag,
                "s signoff k keep keep-non-patch keep-cr no-keep-cr c scissors no-scissors q quiet u utf8 no-utf8 3",
            ),
            (
                Flag,
                "3way no-3way ignore-space-change ignore-whitespace reject no-verify \
             committer-date-is-author-date",
            ),
            (Flag, "ignore-date skip continue r resolved quit abort allow-empty m message-id no-message-id"),
            (Maybe, "show-current-patch S gpg-sign"),
            (Value, "p C whitespace directory exclude include patch-format empty quoted-cr"),
        ],
        am,
    ),
    checked(
        "apply",
        &[
            (
                Flag,
                "stat numstat summary check index cached 3 3way R reverse reject z apply v \
                 verbose q",
            ),
            (
                Flag,
                "no-add allow-overlap inaccurate-eof recount ignore-space-change ignore-whitespace unidiff-zero \
                 quiet",
            ),
            (Flag, "allow-empty allow-binary-replacement binary ours theirs union intent-to-add N"),
            (Value, "p C whitespace directory exclude include"),
            (Write, "build-fake-ancestor"),
            (AskFlag, "unsafe-paths"),
        ],
        apply,
    ),
    checked(
        "init",
        &[
            (Flag, "q quiet bare"),
            (Maybe, "shared"),
            (Value, "b initial-branch object-format ref-format"),
            (Write, "separate-git-dir"),
            (Run, "template"),
        ],
        init,
    ),
    checked("fetch", &[REMOTE[0], REMOTE[1], REMOTE[2], (Run, "upload-pack submodule-prefix")], transfer),
    checked(
        "pull",
        &[
            REMOTE[0],
            REMOTE[1],
            REMOTE[2],
            MERGE[0],
            MERGE[1],
            STRATEGY,
            (Maybe, "r rebase"),
            (Flag, "no-rebase"),
            (Value, "cleanup"),
            (Run, "upload-pack"),
            (AskFlag, "e edit"),
        ],
        transfer,
    ),
    checked(
        "push",
        &[
            (
                Flag,
                "all branches mirror tags n dry-run porcelain d delete f force no-force-with-lease force-if-includes",
            ),
            (
                Flag,
                "no-force-if-includes u set-upstream thin no-thin q quiet v verbose progress no-progress prune \
                 verify",
            ),
            (
                Flag,
                "no-verify follow-tags no-follow-tags atomic no-atomic no-signed 4 ipv4 6 ipv6 no-recurse-submodules",
            ),
            (Maybe, "force-with-lease signed recurse-submodules"),
            (Value, "repo o push-option"),
            (Run, "receive-pack exec"),
        ],
        transfer,
    ),
    checked(
        "clone",
        &[
            (Run, "u upload-pack template c config bundle-uri"),
            REMOTE[0],
            REMOTE[1],
            (Flag, "l local no-local no-hardlinks s shared n no-checkout bare mirror single-branch no-single-branch"),
            (Flag, "shallow-submodules no-shallow-submodules sparse reject-shallow no-reject-shallow dissociate"),
            (Flag, "also-filter-submodules remote-submodules recursive"),
            (
                Value,
                "o origin b branch depth shallow-since shallow-exclude j jobs server-option filter ref-format \
                 revision",
            ),
            (Read, "reference reference-if-able"),
            (Write, "separate-git-dir"),
        ],
        clone,
    ),
    checked(
        "gc prune repack pack-refs prune-packed pack-objects index-pack",
        &[
            (
                Flag,
                "aggressive auto q quiet force keep-largest-pack no-prune n dry-run v verbose progress a A d l \
             f F",
            ),
            (Flag, "all no-prune no-detach detach"),
            (Maybe, "prune"),
            (Value, "expire"),
        ],
        packs,
    ),
    // What it keeps beside its objects, to find them sooner.
    checked(
        "commit-graph multi-pack-index maintenance",
        &[
            (Flag, "reachable append changed-paths no-changed-paths progress no-progress q quiet auto bitmap shallow"),
            (Maybe, "split"),
            (Value, "size-multiple max-commits batch-size task"),
        ],
        |parsed, judge| {
            let known = |word: &Arg| matches!(word.exact(), Some("write" | "verify" | "repack" | "expire" | "run"));
            let tasks = parsed.opts.iter().filter(|(name, _)| name == "task").filter_map(|(_, task)| task.as_ref());
            let local = |task: &Arg| {
                matches!(
                    task.exact(),
                    Some("commit-graph" | "loose-objects" | "incremental-repack" | "pack-refs" | "gc")
                )
            };
            if !parsed.operands.iter().all(known) || parsed.operands.len() != 1 || !tasks.into_iter().all(local) {
                judge.opaque("it may fetch, or run on a schedule");
            }
            packs(parsed, judge);
        },
    ),
    checked(
        "update-ref update-index read-tree write-tree commit-tree mktree mktag checkout-index merge-tree replace \
         rerere",
        &[
            (Flag, "d no-deref stdin z refresh really-refresh q add remove force-remove assume-unchanged"),
            (Flag, "no-assume-unchanged skip-worktree no-skip-worktree again u m reset i n missing-ok f a all force"),
            (
                Flag,
                "write-tree name-only messages no-messages allow-unrelated-histories create-reflog l list delete \
                 empty",
            ),
            (Value, "message format p cacheinfo chmod merge-base prefix"),
            (Read, "F"),
        ],
        plumbing,
    ),
    checked(
        "format-patch",
        &[
            (Flag, "k keep-subject s signoff stdout n numbered N no-numbered cover-letter no-cover-letter p no-stat"),
            (
                Flag,
                "numbered-files root q quiet zero-commit full-index binary no-binary stat a text no-attach no-signature",
            ),
            (Maybe, "attach inline thread signature base notes M find-renames C U from rfc"),
            (Value, "interdiff range-diff creation-factor"),
            (Value, "start-number subject-prefix v reroll-count to cc add-header in-reply-to suffix #"),
            (Write, "o output-directory output"),
        ],
        patches,
    ),
    // A program of its own, which the configuration may have run another formatter.
    checked(
        "clang-format",
        &[
            (Flag, "diff diff_from_common_commit diffstat f force q quiet staged cached v verbose"),
            (Value, "extensions style commit"),
            (AskFlag, "p patch"),
            (Run, "binary"),
        ],
        |parsed, judge| {
            reads(parsed, judge);
            changes(parsed, judge);
            for file in &parsed.operands {
                judge.read(&at(parsed, file));
                judge.write(&at(parsed, file));
            }
            super::super::within::style(parsed, judge);
        },
    ),
    Spec {
        names: "bundle",
        operands: Operands::Sub,
        subs: &[
            checked("verify list-heads", &[(Flag, "q quiet")], bundle),
            checked("create", &[(Flag, "q quiet progress all branches tags"), (Value, "version since")], bundle),
            checked("unbundle", &[(Flag, "progress no-progress")], |parsed, judge| {
                bundle(parsed, judge);
                changes(parsed, judge);
            }),
        ],
        ..PLAIN
    },
    Spec {
        names: "bisect",
        operands: Operands::Sub,
        subs: &[
            Spec { check: Some(reads), ..writer("log terms", &[(Flag, "term-good term-bad term-old term-new")]) },
            writer(
                "start good bad new old skip reset",
                &[(Flag, "no-checkout first-parent"), (Value, "term-new term-bad term-old term-good")],
            ),
            Spec { names: "run", style: super::Style::Raw, operands: Operands::Command, check: Some(changes), ..PLAIN },
        ],
        ..PLAIN
    },
    Spec {
        names: "notes",
        opts: &[(Value, "ref")],
        operands: Operands::Sub,
        subs: &[
            Spec { check: Some(reads), ..writer("list show get-ref _", &[]) },
            checked(
                "add append",
                &[
                    (Flag, "f force allow-empty no-separator"),
                    (Maybe, "separator"),
                    (Value, "m message C reuse-message"),
                    (Read, "F file"),
                ],
                message,
            ),
            writer(
                "copy remove prune merge",
                &[
                    (Flag, "f force ignore-missing stdin n dry-run v verbose q quiet commit abort"),
                    (Value, "s strategy"),
                ],
            ),
        ],
        ..PLAIN
    },
];

fn commit(parsed: &Parsed, judge: &mut Judge<'_>) {
    if own(parsed, "dry-run short porcelain long").is_some() {
        // What is to be committed is shown.
        keeps_secrets(parsed, judge);
        return reads(parsed, judge);
    }
    adds(parsed, judge);
    let fixup = own(parsed, "fixup")
        .is_some_and(|(_, value)| value.as_ref().and_then(Arg::exact).is_some_and(|commit| !commit.contains(':')));
    let edits = own(parsed, "c reedit-message t template").is_some();
    if edits || !(fixup || own(parsed, "m message F file C reuse-message no-edit").is_some()) {
        judge.opaque("without `-m` or `--no-edit` git opens an editor");
    }
}

/// Packs the objects; two of them write a pack, or its index, beside the name they are given.
fn packs(parsed: &Parsed, judge: &mut Judge<'_>) {
    let is = |names: &[&str]| parsed.path.last().is_some_and(|name| names.contains(&name.as_str()));
    // To `git repack` the short one is another word.
    let verifies = is(&["commit-graph", "multi-pack-index"])
        && matches!(parsed.operands.as_slice(), [word] if word.exact() == Some("verify"));
    if verifies || is(&["prune", "prune-packed"]) && own(parsed, "n dry-run").is_some() {
        return reads(parsed, judge);
    }
    changes(parsed, judge);
    if is(&["index-pack"]) {
        files(parsed, judge);
    }
    if is(&["pack-objects", "index-pack"]) {
        parsed.operands.iter().for_each(|place| judge.write(&at(parsed, place)));
    }
}

/// Writes files of the index, below a prefix where one is given.
fn plumbing(parsed: &Parsed, judge: &mut Judge<'_>) {
    let lists = own(parsed, "l list").is_some() && own(parsed, "d delete f force").is_none();
    if lists && parsed.path.last().is_some_and(|name| name == "replace") {
        return reads(parsed, judge);
    }
    match parsed.path.last().is_some_and(|name| name == "checkout-index") {
        true => brings(parsed, judge),
        false => changes(parsed, judge),
    }
    // Switches of an entry that is there already put nothing in.
    let switches = "assume-unchanged no-assume-unchanged skip-worktree no-skip-worktree force-remove";
    if parsed.path.last().is_some_and(|name| name == "update-index") && own(parsed, switches).is_none() {
        keeps_secrets(parsed, judge);
    }
    if let Some((_, Some(prefix))) = own(parsed, "prefix") {
        judge.write(&at(parsed, prefix));
        judge.write_tree(&at(parsed, prefix));
    }
}

fn message(parsed: &Parsed, judge: &mut Judge<'_>) {
    changes(parsed, judge);
    if own(parsed, "m message F file C reuse-message").is_none() {
        judge.opaque("without `-m` git opens an editor");
    }
}

fn clean(parsed: &Parsed, judge: &mut Judge<'_>) {
    if own(parsed, "n dry-run").is_some() {
        return reads(parsed, judge);
    }
    // What is ignored may be said elsewhere.
    programs::led(parsed, judge);
    if parsed.operands.is_empty() {
        let tree = implied(parsed, ".", judge);
        judge.delete_tree(&tree);
    }
    for path in &parsed.operands {
        judge.delete_tree(&at(parsed, path));
    }
}

fn remove(parsed: &Parsed, judge: &mut Judge<'_>) {
    reads(parsed, judge);
    if own(parsed, "n dry-run").is_some() {
        return;
    }
    changes(parsed, judge);
    // A link that git keeps is removed, and not what it leads to.
    if own(parsed, "cached").is_none() {
        for path in &parsed.operands {
            judge.remove(&at(parsed, path), true);
        }
    }
}

fn rename(parsed: &Parsed, judge: &mut Judge<'_>) {
    reads(parsed, judge);
    if own(parsed, "n dry-run").is_some() {
        return;
    }
    changes(parsed, judge);
    if let Some((to, from)) = parsed.operands.split_last() {
        for path in from {
            let path = at(parsed, path);
            judge.delete_tree(&path);
            judge.facts.extend(judge.facts.last().and_then(renamed));
            takes_along(&path, judge);
            if let (Some(path), Some(into)) = (path.exact(), at(parsed, to).exact()) {
                let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
                let below = to.with(&format!("{into}/{name}"));
                judge.write(&below);
                takes_along(&below, judge);
            }
        }
        judge.write(&at(parsed, to));
        takes_along(&at(parsed, to), judge);
    }
}

/// A strategy `NAME` that git does not have is the program `git-merge-NAME`.
fn merge(parsed: &Parsed, judge: &mut Judge<'_>) {
    const OWN: [&str; 7] = ["ort", "recursive", "resolve", "octopus", "ours", "subtree", "theirs"];
    let given = parsed.opts.iter().skip(parsed.outer);
    for (name, value) in given {
        let is_own = value.as_ref().and_then(Arg::exact).is_some_and(|value| OWN.contains(&value));
        if value.is_some() && !is_own && matches!(name.as_str(), "s" | "strategy") {
            judge.opaque("a merge strategy may be a program");
        }
    }
    changes(parsed, judge);
}

fn stash(parsed: &Parsed, judge: &mut Judge<'_>) {
    if parsed.has("p patch") {
        judge.opaque("`-p` asks questions");
    }
    brings(parsed, judge);
    // The words of `save` are its message.
    if parsed.path.last().is_none_or(|name| name != "save") {
        keeps_secrets(parsed, judge);
    }
}

fn adds(parsed: &Parsed, judge: &mut Judge<'_>) {
    if own(parsed, "n dry-run").is_some() {
        return reads(parsed, judge);
    }
    changes(parsed, judge);
    keeps_secrets(parsed, judge);
}

/// What a secret holds is kept in the repository from then on, where everyone reads it.
fn keeps_secrets(parsed: &Parsed, judge: &mut Judge<'_>) {
    for arg in &parsed.operands {
        let Some(text) = super::super::filters::text(arg).filter(|text| !super::read::leaves_out(text)) else {
            continue;
        };
        let path = super::read::pathspec(text);
        // A path may be meant whatever its letters are.
        let small = path.to_lowercase();
        let spelled = [path, small.as_str()].into_iter().take(1 + usize::from(small != path));
        for name in spelled.flat_map(|path| judge.pointed_at(path)).collect::<Vec<_>>() {
            let path = at(parsed, &arg.with(&name));
            if path.exact().is_some_and(|path| crate::classify(&judge.resolve(path)).secret.is_some()) {
                judge.read(&path);
            }
        }
    }
}

/// Files that are named come back as they were: a guarded one among them is written.
fn brings(parsed: &Parsed, judge: &mut Judge<'_>) {
    changes(parsed, judge);
    for arg in &parsed.operands {
        let Some(text) = arg.exact() else {
            judge.write(&at(parsed, arg));
            continue;
        };
        for name in judge.pointed_at(super::read::pathspec(text)) {
            let path = at(parsed, &arg.with(&name));
            if judge.is_guarded(&path) {
                judge.write(&path);
            }
            takes_along(&path, judge);
        }
    }
}

fn apply(parsed: &Parsed, judge: &mut Judge<'_>) {
    files(parsed, judge);
    let looks = own(parsed, "stat numstat summary check").is_some();
    // What the index has and the work tree lacks is checked out to be compared.
    let restores = own(parsed, "check").is_some() && own(parsed, "index 3 3way").is_some();
    if looks && !restores && own(parsed, "apply").is_none() {
        reads(parsed, judge);
    } else {
        puts_in(parsed, judge);
    }
}

fn am(parsed: &Parsed, judge: &mut Judge<'_>) {
    files(parsed, judge);
    puts_in(parsed, judge);
}

/// What a patch says is done.
fn puts_in(parsed: &Parsed, judge: &mut Judge<'_>) {
    changes(parsed, judge);
    below_directory(parsed, judge);
    let files: Vec<Arg> = parsed.operands.iter().map(|patch| at(parsed, patch)).collect();
    let below = own(parsed, "directory").and_then(|(_, directory)| directory.as_ref()?.exact());
    let here = judge.word("");
    let place = |name: &str| match below {
        Some(below) => at(parsed, &here.with(&format!("{below}/{name}"))),
        None => at(parsed, &here.with(name)),
    };
    let start = judge.facts.len();
    patched::writes(&files, patched::strip(parsed, Some(1)), place, judge);
    // A secret is in no repository that keeps what is put in its place.
    let lost: Vec<Fact> = judge.facts.iter().skip(start).filter_map(lost).collect();
    judge.facts.extend(lost);
}

/// `--directory` puts every path of a patch behind another.
fn below_directory(parsed: &Parsed, judge: &mut Judge<'_>) {
    if let Some((_, Some(directory))) = own(parsed, "directory") {
        judge.write_tree(&at(parsed, directory));
        takes_along(&at(parsed, directory), judge);
    }
}

fn init(parsed: &Parsed, judge: &mut Judge<'_>) {
    if own(parsed, "separate-git-dir").is_some() {
        // `.git` becomes a file that names the other place.
        let pointer = implied(parsed, ".git", judge);
        judge.write(&pointer);
    }
    match parsed.operands.first() {
        Some(place) => judge.write_tree(&at(parsed, place)),
        None => changes(parsed, judge),
    }
}

fn transfer(parsed: &Parsed, judge: &mut Judge<'_>) {
    merge(parsed, judge);
    // What stands for `--repo` counts where there is no operand; nobody writes both.
    let repo = own(parsed, "repo").and_then(|(_, repo)| repo.as_ref());
    match (parsed.operands.first(), repo) {
        (Some(remote), Some(other)) => [remote, other].iter().for_each(|remote| reaches(Some(remote), judge)),
        (first, repo) => {
            let remote = first.or(repo);
            match remotes::local(parsed, remote, judge) {
                Some(places) => remotes::reach(parsed, &places, judge),
                None => {
                    reaches(remote, judge);
                    if remotes::goes_deeper(parsed) {
                        judge.net(None);
                    }
                }
            }
        }
    }
    if parsed.operands.iter().skip(1).any(|arg| arg.exact().is_some_and(|text| text.contains("::"))) {
        judge.opaque("the transport of the remote repository is a program");
    }
}

fn clone(parsed: &Parsed, judge: &mut Judge<'_>) {
    let Some(from) = parsed.operands.first() else { return judge.opaque("nothing to clone") };
    match remotes::local_source(from, parsed, judge) {
        Some(path) => judge.read_tree(&at(parsed, &from.with(path))),
        None => {
            reaches(Some(from), judge);
            // Repositories inside have remotes of their own.
            if own(parsed, "recursive recurse-submodules").is_some() {
                judge.net(None);
            }
        }
    }
    match parsed.operands.get(1) {
        Some(to) => judge.write_tree(&at(parsed, to)),
        None => {
            let name = from.exact().unwrap_or_default().trim_end_matches('/').trim_end_matches(".git");
            let to = implied(parsed, name.rsplit(['/', ':']).next().unwrap_or(name), judge);
            judge.write_tree(&to);
        }
    }
    judge.code("checks out a repository, with the filters it names");
}

/// Writes a file for each commit, `0001-SUBJECT.patch`, and nothing of the repository.
fn patches(parsed: &Parsed, judge: &mut Judge<'_>) {
    super::read::shown(parsed, judge);
    reads(parsed, judge);
    // The one file of `--output` is written as the table says.
    if own(parsed, "stdout output").is_some() {
        return;
    }
    let given = |option: &str| own(parsed, option).and_then(|(_, value)| value.clone());
    // A setting may stand in a file whose condition is false; git takes `~` in it for the name of a directory.
    let set = |key: &str, judge: &Judge<'_>| -> Vec<Arg> {
        let values = programs::values(key, parsed, judge);
        values.into_iter().map(|value| judge.word(value)).collect()
    };
    let dirs = match given("o output-directory") {
        Some(dir) => vec![dir],
        None => set("format.outputdirectory", judge).into_iter().chain([judge.word(".")]).collect(),
    };
    let ends: Vec<Arg> = set("format.suffix", judge).into_iter().chain(given("suffix")).collect();
    for dir in dirs.iter().map(|dir| at(parsed, dir)) {
        judge.write_tree(&dir);
        for end in &ends {
            match (dir.exact(), end.exact()) {
                (Some(dir), Some(end)) if !end.contains('/') => {
                    let (prefix, pattern) = (format!("{dir}/"), format!("{dir}/[0-9v]*-*{end}"));
                    judge.write(&judge.word("").as_word(Word::Glob { pattern, prefix }));
                }
                _ => judge.opaque("the names of the patches are not known"),
            }
        }
    }
}

fn bundle(parsed: &Parsed, judge: &mut Judge<'_>) {
    reads(parsed, judge);
    let creates = parsed.path.last().is_some_and(|name| name == "create");
    if let Some(file) = parsed.operands.first() {
        if creates { judge.write(&at(parsed, file)) } else { judge.read(&at(parsed, file)) }
    }
    if creates && parsed.operands.is_empty() {
        configures(parsed, judge);
    }
}
