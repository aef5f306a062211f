//! Subcommands of git that read, and their reading forms.

use super::super::super::globs;
use super::super::super::judge::{Arg, Judge, Stdin};
use super::super::piped::Printed;
use super::super::spec::{Does, Operands, PLAIN, Parsed, Spec};
use super::{at, changes, own, reads};
use Does::{AskFlag, Flag, Maybe, NetFlag, Read, Value, Write};

type Opts = (Does, &'static str);

/// What every subcommand that prints differences takes.
const DIFF: [Opts; 7] = [
    (
        Flag,
        "p u patch s no-patch raw patch-with-raw patch-with-stat indent-heuristic no-indent-heuristic minimal \
         patience \
         histogram numstat shortstat compact-summary cumulative summary z name-only name-status no-color \
         no-color-moved no-color-moved-ws no-renames rename-empty no-rename-empty check full-index binary \
         find-copies-harder D irreversible-delete pickaxe-all pickaxe-regex R a text ignore-cr-at-eol \
         ignore-space-at-eol b ignore-space-change w ignore-all-space ignore-blank-lines W function-context \
         no-function-context exit-code quiet no-ext-diff no-textconv no-prefix default-prefix no-relative \
         ita-invisible-in-index ita-visible-in-index combined-all-paths m c cc dd remerge-diff no-diff-merges t r",
    ),
    (
        Maybe,
        "stat color color-words color-moved word-diff dirstat X dirstat-by-file submodule M find-renames C \
         find-copies B break-rewrites abbrev relative ignore-submodules U unified",
    ),
    (
        Value,
        "diff-filter S G find-object skip-to rotate-to I ignore-matching-lines inter-hunk-context src-prefix \
         dst-prefix line-prefix diff-algorithm anchored output-indicator-new output-indicator-old \
         output-indicator-context l stat-width stat-name-width stat-count stat-graph-width word-diff-regex \
         ws-error-highlight color-moved-ws diff-merges",
    ),
    (Read, "O"),
    (Write, "output"),
    (AskFlag, "ext-diff textconv"),
    (Flag, "no-abbrev include-untracked only-untracked no-include-untracked"),
];

/// What every subcommand that walks commits takes.
const WALK: [Opts; 3] = [
    (
        Flag,
        "follow no-decorate clear-decorations source mailmap no-mailmap use-mailmap no-use-mailmap log-size oneline \
         graph no-graph all all-match invert-grep i regexp-ignore-case basic-regexp E extended-regexp F \
         fixed-strings P \
         perl-regexp remove-empty merges no-merges first-parent exclude-first-parent-only not reflog g walk-reflogs \
         single-worktree ignore-missing bisect stdin cherry-mark cherry-pick left-only right-only cherry merge \
         boundary \
         simplify-by-decoration show-pulls full-history dense sparse simplify-merges date-order author-date-order \
         topo-order reverse parents children left-right abbrev-commit no-abbrev-commit show-signature \
         no-show-signature relative-date no-expand-tabs no-notes standard-notes no-standard-notes no-min-parents \
         no-max-parents do-walk in-commit-order full-diff q",
    ),
    (
        Maybe,
        "decorate show-linear-break pretty format expand-tabs notes show-notes branches tags remotes ancestry-path \
         no-walk min-parents max-parents",
    ),
    (
        Value,
        "n # max-count skip since after until before since-as-filter author committer grep grep-reflog \
         decorate-refs decorate-refs-exclude L date encoding glob exclude exclude-hidden",
    ),
];

/// `git log`, and what prints like it.
pub(super) const LOG: &[Opts] =
    &[WALK[0], WALK[1], WALK[2], DIFF[0], DIFF[1], DIFF[2], DIFF[3], DIFF[4], DIFF[5], DIFF[6]];

/// A row with what all reading subcommands have in common.
const fn reader(names: &'static str, opts: &'static [Opts]) -> Spec {
    Spec { names, opts, operands: Operands::Custom, check: Some(revisions), ..PLAIN }
}

/// The subcommands.
pub(super) const SUBS: &[Spec] = &[
    reader("log show whatchanged", LOG),
    reader(
        "status",
        &[
            (
                Flag,
                "s short b branch show-stash long v verbose z null no-ahead-behind ahead-behind no-renames \
             renames",
            ),
            (Flag, "no-column no-untracked-files"),
            (Maybe, "porcelain u untracked-files ignore-submodules ignored column find-renames"),
        ],
    ),
    Spec {
        check: Some(diff),
        ..reader(
            "diff",
            &[
                DIFF[0],
                DIFF[1],
                DIFF[2],
                DIFF[3],
                DIFF[4],
                DIFF[5],
                DIFF[6],
                (Flag, "cached staged no-index merge-base base ours theirs 0 1 2 3 no-indent-heuristic"),
            ],
        )
    },
    reader(
        "diff-tree diff-index diff-files",
        &[
            DIFF[0],
            DIFF[1],
            DIFF[2],
            DIFF[3],
            DIFF[4],
            DIFF[5],
            DIFF[6],
            (Flag, "v root stdin cached merge-base always no-commit-id q base ours theirs 0 1 2 3 first-parent"),
            (Maybe, "pretty notes format"),
            (Value, "encoding"),
        ],
    ),
    reader(
        "range-diff",
        &[
            DIFF[0],
            DIFF[1],
            DIFF[2],
            DIFF[3],
            DIFF[4],
            DIFF[5],
            DIFF[6],
            (Flag, "no-dual-color left-only right-only no-notes"),
            (Maybe, "notes"),
            (Value, "creation-factor"),
        ],
    ),
    reader(
        "shortlog",
        &[
            WALK[0],
            WALK[1],
            (Flag, "n numbered s summary e email c"),
            (Maybe, "w format"),
            (Value, "# max-count skip since after until before author committer grep group date glob exclude"),
        ],
    ),
    reader(
        "rev-list",
        &[
            WALK[0],
            WALK[1],
            WALK[2],
            DIFF[1],
            (Flag, "count objects objects-edge objects-edge-aggressive unpacked timestamp header quiet bisect-vars"),
            (Flag, "bisect-all object-names no-object-names use-bitmap-index no-commit-header commit-header z"),
            (Flag, "indexed-objects alternate-refs no-filter progress"),
            (Maybe, "disk-usage filter missing"),
        ],
    ),
    reader(
        "blame annotate",
        &[
            (Flag, "b root show-stats s l t f show-name n show-number e show-email p porcelain line-porcelain"),
            (Flag, "incremental c w color-lines color-by-age no-progress progress minimal reverse first-parent"),
            (Maybe, "M C abbrev score-debug"),
            (Value, "L since date encoding ignore-rev diff-algorithm"),
            (Read, "S contents ignore-revs-file"),
        ],
    ),
    Spec {
        check: Some(grep),
        ..reader(
            "grep",
            &[
                (Flag, "cached untracked no-exclude-standard exclude-standard recurse-submodules no-index a text"),
                (Flag, "i ignore-case I no-textconv r recursive no-recursive w word-regexp v invert-match h H"),
                (
                    Flag,
                    "full-name E extended-regexp G basic-regexp P perl-regexp F fixed-strings n line-number \
                 column",
                ),
                (Flag, "l files-with-matches name-only L files-without-match z null o only-matching c count break"),
                (
                    Flag,
                    "heading p show-function W function-context q quiet and or not all-match no-color no-line-number",
                ),
                (Maybe, "O open-files-in-pager color"),
                (
                    Value,
                    "e C context A after-context B before-context # m max-count threads max-depth \
                 parent-basename",
                ),
                (Read, "f"),
                (AskFlag, "textconv"),
            ],
        )
    },
    reader(
        "ls-files",
        &[
            (
                Flag,
                "c cached d deleted o others i ignored s stage u unmerged k killed m modified directory \
                 empty-directory",
            ),
            (Flag, "no-empty-directory eol z full-name v t f deduplicate exclude-standard error-unmatch"),
            (Flag, "recurse-submodules debug sparse resolve-undo"),
            (Maybe, "abbrev"),
            (Value, "x exclude with-tree format"),
            (Read, "X exclude-from exclude-per-directory"),
        ],
    ),
    reader(
        "ls-tree",
        &[
            (Flag, "d r t l long z name-only name-status object-only full-name full-tree"),
            (Maybe, "abbrev"),
            (Value, "format"),
        ],
    ),
    Spec {
        check: Some(cat_file),
        ..reader(
            "cat-file",
            &[
                (Flag, "t s e p allow-unknown-type follow-symlinks batch-all-objects buffer unordered z Z mailmap"),
                (Flag, "use-mailmap no-mailmap"),
                (Maybe, "batch batch-check batch-command"),
                (Value, "filter"),
                (AskFlag, "textconv filters"),
            ],
        )
    },
    reader(
        "rev-parse",
        &[
            (Flag, "revs-only no-revs flags no-flags verify q quiet sq symbolic symbolic-full-name all not sq-quote"),
            (Flag, "show-toplevel show-prefix show-cdup git-dir absolute-git-dir git-common-dir is-inside-git-dir"),
            (Flag, "is-inside-work-tree is-bare-repository is-shallow-repository show-superproject-working-tree"),
            (Flag, "shared-index-path local-env-vars git-path"),
            (Maybe, "short abbrev-ref branches tags remotes show-object-format show-ref-format"),
            (Value, "default prefix since after until before disambiguate glob exclude exclude-hidden path-format"),
        ],
    ),
    reader(
        "for-each-ref",
        &[
            (Flag, "s shell p perl python tcl ignore-case omit-empty stdin include-root-refs start-after"),
            (Maybe, "color contains no-contains merged no-merged"),
            (Value, "count sort format points-at exclude"),
        ],
    ),
    reader(
        "show-ref",
        &[
            (Flag, "head branches heads tags d dereference verify exists q quiet"),
            (Maybe, "s hash abbrev exclude-existing"),
        ],
    ),
    reader(
        "describe name-rev",
        &[
            (Flag, "all tags contains debug long first-parent exact-match always name-only stdin annotate-stdin"),
            (Flag, "no-undefined undefined"),
            (Maybe, "dirty broken abbrev"),
            (Value, "candidates match exclude refs"),
        ],
    ),
    reader("merge-base", &[(Flag, "a all octopus independent is-ancestor fork-point")]),
    reader(
        "show-branch",
        &[
            (
                Flag,
                "r remotes a all current topo-order date-order sparse merge-base independent no-name sha1-name \
                 topics",
            ),
            (Flag, "list no-color"),
            (Maybe, "more color g reflog"),
        ],
    ),
    reader("cherry", &[(Flag, "v verbose"), (Maybe, "abbrev")]),
    reader("count-objects", &[(Flag, "v verbose H human-readable")]),
    reader("verify-commit verify-tag", &[(Flag, "v verbose raw"), (Value, "format")]),
    Spec { check: Some(files), ..reader("verify-pack", &[(Flag, "v verbose s stat-only")]) },
    reader("check-ignore", &[(Flag, "q quiet v verbose stdin z n non-matching no-index")]),
    reader("check-attr", &[(Flag, "a all stdin z cached"), (Value, "source")]),
    reader("check-mailmap", &[(Flag, "stdin")]),
    reader("check-ref-format", &[(Flag, "branch allow-onelevel no-allow-onelevel refspec-pattern normalize print")]),
    reader("var", &[(Flag, "l")]),
    reader("version", &[(Flag, "build-options")]),
    reader("help", &[(Flag, "a all g guides v verbose c config no-external-commands no-aliases user-interfaces")]),
    reader("patch-id", &[(Flag, "stable unstable verbatim")]),
    reader("stripspace", &[(Flag, "s strip-comments c comment-lines")]),
    reader("column", &[(Value, "mode raw-mode width indent nl padding")]),
    reader("get-tar-commit-id", &[]),
    reader(
        "fsck",
        &[
            (
                Flag,
                "tags root cache no-reflogs no-full full connectivity-only strict v verbose no-dangling dangling \
                 progress",
            ),
            (Flag, "no-progress name-objects unreachable references no-references"),
        ],
    ),
    Spec {
        check: Some(hash_object),
        ..reader("hash-object", &[(Flag, "w stdin stdin-paths no-filters literally"), (Value, "t path")])
    },
    Spec {
        check: Some(symbolic_ref),
        ..reader("symbolic-ref", &[(Flag, "q quiet short recurse no-recurse d delete"), (Value, "m")])
    },
    Spec {
        check: Some(branch),
        ..reader(
            "branch",
            &[
                (
                    Flag,
                    "a all r remotes l list v verbose vv q quiet i ignore-case no-color no-column no-abbrev \
                     show-current",
                ),
                (Flag, "d delete D m move M c copy C f force no-track unset-upstream create-reflog omit-empty"),
                (Maybe, "color column abbrev contains no-contains merged no-merged points-at t track"),
                (Maybe, "recurse-submodules"),
                (Value, "sort format u set-upstream-to"),
                (AskFlag, "edit-description"),
            ],
        )
    },
    Spec {
        check: Some(tag),
        ..reader(
            "tag",
            &[
                (
                    Flag,
                    "l list i ignore-case no-column a annotate s sign no-sign f force d delete v verify \
                     create-reflog",
                ),
                (Flag, "omit-empty no-edit"),
                (Maybe, "n color column contains no-contains merged no-merged points-at"),
                (Value, "sort format m message cleanup u local-user trailer"),
                (Read, "F file"),
                (AskFlag, "e edit"),
            ],
        )
    },
    Spec { names: "reflog", opts: LOG, operands: Operands::Custom, check: Some(reflog), ..PLAIN },
    // Without `-p` the first of its files takes what was merged.
    Spec {
        check: Some(merge_file),
        ..reader(
            "merge-file",
            &[
                (Flag, "p stdout diff3 zdiff3 ours theirs union q quiet"),
                (Value, "L marker-size diff-algorithm"),
                (AskFlag, "object-id"),
            ],
        )
    },
    reader(
        "fast-export",
        &[
            WALK[0],
            WALK[2],
            (Flag, "no-data full-tree use-done-feature fake-missing-tagger show-original-ids anonymize mark-tags"),
            (Flag, "reference-excluded-parents M C"),
            (Maybe, "progress branches tags remotes"),
            (Value, "signed-tags signed-commits tag-of-filtered-object reencode refspec anonymize-map"),
            (Read, "import-marks import-marks-if-exists"),
            (Write, "export-marks"),
        ],
    ),
    Spec {
        check: Some(trailers),
        ..reader(
            "interpret-trailers",
            &[
                (Flag, "parse only-trailers only-input unfold no-divider divider trim-empty in-place"),
                (Value, "trailer where if-exists if-missing"),
            ],
        )
    },
    Spec {
        names: "rerere",
        opts: &[(Flag, "rerere-autoupdate no-rerere-autoupdate")],
        operands: Operands::Sub,
        subs: &[
            Spec { check: Some(reads), ..reader("status", &[]) },
            // What it compares is named in a file of the repository.
            Spec { check: Some(changes), ..reader("_ clear forget diff remaining gc", &[]) },
        ],
        ..PLAIN
    },
    // A program of its own, which an alias may stand for. `track` writes hooks even where it only lists.
    Spec {
        names: "lfs",
        operands: Operands::Sub,
        subs: &[
            reader(
                "ls-files",
                &[(Flag, "l long s size d debug a all deleted n name-only json"), (Value, "I include X exclude")],
            ),
            reader("status", &[(Flag, "p porcelain j json")]),
            reader("env version", &[]),
            Spec {
                names: "install uninstall",
                opts: &[(Flag, "f force l local w worktree system s skip-smudge skip-repo"), (Value, "file")],
                check: Some(|parsed, judge| super::super::hooks::lfs(parsed, &super::base(parsed), judge)),
                ..PLAIN
            },
        ],
        ..PLAIN
    },
    reader(
        "ls-remote",
        &[
            (Flag, "h heads branches t tags refs q quiet symref exit-code get-url"),
            (Value, "sort o server-option"),
            (NetFlag, "4 6"),
        ],
    ),
    Spec {
        check: Some(archive),
        ..reader(
            "archive",
            &[
                (Flag, "l list v verbose worktree-attributes 0 1 2 3 4 5 6 7 8 9"),
                (Value, "format prefix add-virtual-file mtime remote"),
                (Read, "add-file"),
                (Write, "o output"),
            ],
        )
    },
];

/// Reads the repository. `REVISION:PATH` names a file, which may be a secret that was committed.
fn revisions(parsed: &Parsed, judge: &mut Judge<'_>) {
    reads(parsed, judge);
    // `--get-url` only says what the configuration makes of a name.
    if parsed.path.iter().any(|name| name == "ls-remote") && own(parsed, "get-url").is_none() {
        super::reaches(parsed.operands.first(), judge);
    }
    for arg in &parsed.operands {
        if let Some(path) = arg.exact().and_then(committed) {
            judge.read(&at(parsed, &arg.with(path)));
        }
    }
    // `-L FROM,TO:FILE` shows lines of the file. To `git grep` it is to list those that lack something.
    let lists = parsed.path.iter().any(|name| name == "grep");
    for (_, value) in parsed.opts.iter().skip(parsed.outer).filter(|(name, _)| name == "L" && !lists) {
        match value.as_ref().map(|value| (value, value.exact())) {
            Some((value, Some(lines))) => {
                if let Some((_, file)) = lines.rsplit_once(':') {
                    judge.read(&at(parsed, &value.with(file)));
                }
            }
            _ => judge.opaque("which lines are shown is not known"),
        }
    }
    // Of files as they are, which may lie above the workspace in the same repository.
    if parsed.path.iter().any(|name| matches!(name.as_str(), "blame" | "annotate" | "diff-files" | "diff-index")) {
        outside(parsed, judge);
    }
    shown(parsed, judge);
}

/// Reads the operands that lead away.
fn outside(parsed: &Parsed, judge: &mut Judge<'_>) {
    for arg in &parsed.operands {
        let leads = |text: &str| text.starts_with('/') || text.split('/').any(|part| part == "..");
        if arg.exact().is_none_or(leads) || parsed.has("no-index") {
            judge.read_tree(&at(parsed, arg));
        }
    }
}

/// A secret in the work tree or in a commit, where its content is shown.
pub(super) fn shown(parsed: &Parsed, judge: &mut Judge<'_>) {
    const SHOWS: &[&str] = &[
        "show",
        "diff",
        "diff-tree",
        "diff-index",
        "diff-files",
        "blame",
        "annotate",
        "grep",
        "stash",
        "archive",
        "format-patch",
        "cat-file",
        "whatchanged",
        "range-diff",
        "fast-export",
    ];
    let says_more = parsed.path.iter().any(|name| name == "status") && own(parsed, "v verbose").is_some();
    let shows = parsed.path.iter().any(|name| SHOWS.contains(&name.as_str()));
    if shows || says_more || own(parsed, PATCH).is_some() {
        // The first word of `git grep` is what is looked for.
        let patterns = usize::from(parsed.path.iter().any(|name| name == "grep") && own(parsed, "e f").is_none());
        for (index, arg) in parsed.operands.iter().enumerate() {
            let Some(text) = arg.exact() else {
                judge.read(&at(parsed, arg));
                continue;
            };
            let left_out = text.starts_with(":!") || text.starts_with(":^") || text.starts_with(":(exclude");
            let spelled = globs::spelled(pathspec(text)).filter(|_| index >= patterns && !left_out);
            for name in globs::pointed_at(pathspec(text)).into_iter().chain(spelled) {
                let path = at(parsed, &arg.with(&name));
                if path.exact().is_some_and(|path| crate::classify(&judge.resolve(path)).secret.is_some()) {
                    judge.read(&path);
                }
            }
        }
    }
}

/// Options with which commits are shown with what they changed, alone or because they imply it.
pub(super) const PATCH: &str = "p u patch L c cc m dd U unified binary patch-with-stat patch-with-raw remerge-diff diff-merges \
    word-diff word-diff-regex color-words W function-context";

/// The path of `REVISION:PATH` and of `:STAGE:PATH`.
fn committed(text: &str) -> Option<&str> {
    let (_, path) = text.split_once(':')?;
    let staged = path.get(1..2) == Some(":") && path.starts_with(|stage: char| stage.is_ascii_digit());
    let path = if staged && text.starts_with(':') { path.get(2..)? } else { path };
    (!path.is_empty() && !path.starts_with(['/', '(', '!', '^'])).then_some(path)
}

/// Whether a pathspec leaves out what it means: `:!x`, `:^x`, `:(exclude)x`.
pub(super) fn leaves_out(text: &str) -> bool {
    let Some(magic) = text.strip_prefix(':') else { return false };
    match magic.strip_prefix('(') {
        Some(long) => long.split(')').next().is_some_and(|words| words.split(',').any(|word| word.trim() == "exclude")),
        None => magic.chars().take_while(|c| matches!(c, '/' | '!' | '^')).any(|c| c != '/'),
    }
}

/// What a pathspec means without its magic: `:(top)x`, `:/x`, `:!x`.
pub(super) fn pathspec(text: &str) -> &str {
    match text.strip_prefix(':') {
        Some(rest) if rest.starts_with('(') => rest.split_once(')').map_or(rest, |(_, path)| path),
        Some(rest) => rest.trim_start_matches(['/', '^', '!', ':']),
        None => text,
    }
}

/// What is shown may be named on standard input, as `HEAD:.env`, or by the hash that `git ls-tree` knows it by; only
/// hashes of commits are let through.
fn cat_file(parsed: &Parsed, judge: &mut Judge<'_>) {
    revisions(parsed, judge);
    if own(parsed, "batch batch-command").is_some() {
        match &judge.stdin {
            Stdin::None => {}
            Stdin::Pipe { printed: Printed::Hashes, .. } => {}
            _ => judge.opaque("what is shown is named on standard input"),
        }
    }
}

/// Outside of the work tree, git compares files.
fn diff(parsed: &Parsed, judge: &mut Judge<'_>) {
    revisions(parsed, judge);
    outside(parsed, judge);
}

fn grep(parsed: &Parsed, judge: &mut Judge<'_>) {
    if own(parsed, "O open-files-in-pager").is_some() {
        judge.opaque("`-O` opens the files in a program");
    }
    diff(parsed, judge);
}

/// A file that is merged into is written, unless the result is printed.
fn merge_file(parsed: &Parsed, judge: &mut Judge<'_>) {
    super::files(parsed, judge);
    if own(parsed, "p stdout").is_none()
        && let Some(into) = parsed.operands.first()
    {
        judge.write(&at(parsed, into));
    }
    super::programs::check(parsed, judge);
}

/// The configuration may name programs that say what a trailer is; of one that is only read none is asked.
fn trailers(parsed: &Parsed, judge: &mut Judge<'_>) {
    for file in &parsed.operands {
        judge.read(&at(parsed, file));
        if own(parsed, "in-place").is_some() {
            judge.write(&at(parsed, file));
        }
    }
    if own(parsed, "parse only-input").is_none() || own(parsed, "trailer").is_some() {
        judge.code("the configuration may name programs that make trailers");
    }
    super::programs::check(parsed, judge);
}

/// Reads the files that are named, wherever they are.
fn files(parsed: &Parsed, judge: &mut Judge<'_>) {
    super::files(parsed, judge);
    reads(parsed, judge);
}

fn hash_object(parsed: &Parsed, judge: &mut Judge<'_>) {
    super::files(parsed, judge);
    if own(parsed, "stdin-paths").is_some() && judge.stdin != Stdin::None {
        judge.opaque("which files are read is named on standard input");
    }
    if parsed.has("w") { changes(parsed, judge) } else { reads(parsed, judge) }
}

fn symbolic_ref(parsed: &Parsed, judge: &mut Judge<'_>) {
    let prints = parsed.operands.len() < 2 && own(parsed, "d delete m").is_none();
    if prints { reads(parsed, judge) } else { changes(parsed, judge) }
}

fn branch(parsed: &Parsed, judge: &mut Judge<'_>) {
    const CHANGES: &str = "d delete D m move M c copy C f force u set-upstream-to unset-upstream edit-description";
    const LISTS: &str = "l list contains no-contains merged no-merged points-at show-current";
    let lists = parsed.operands.is_empty() || own(parsed, LISTS).is_some();
    if lists && own(parsed, CHANGES).is_none() { reads(parsed, judge) } else { changes(parsed, judge) }
}

fn tag(parsed: &Parsed, judge: &mut Judge<'_>) {
    const LISTS: &str = "l list n contains no-contains merged no-merged points-at v verify";
    const CHANGES: &str = "d delete a annotate s sign u local-user m message F file f force";
    let lists = parsed.operands.is_empty() || own(parsed, LISTS).is_some();
    if lists && own(parsed, CHANGES).is_none() {
        return reads(parsed, judge);
    }
    changes(parsed, judge);
    if own(parsed, "a annotate s sign u local-user").is_some() && own(parsed, "m message F file").is_none() {
        judge.opaque("without `-m` git opens an editor");
    }
}

fn reflog(parsed: &Parsed, judge: &mut Judge<'_>) {
    match parsed.operands.first().map(Arg::exact) {
        Some(Some("expire" | "delete" | "drop" | "write")) => changes(parsed, judge),
        Some(None) => judge.opaque("the subcommand is not known"),
        _ => revisions(parsed, judge),
    }
}

fn archive(parsed: &Parsed, judge: &mut Judge<'_>) {
    revisions(parsed, judge);
    if let Some((_, remote)) = own(parsed, "remote") {
        super::reaches(remote.as_ref(), judge);
    }
    let format = own(parsed, "format").and_then(|(_, format)| format.as_ref());
    if format.and_then(Arg::exact).is_some_and(|format| matches!(format, "tgz" | "tar.gz")) {
        judge.code("the configuration says what packs this format");
    }
    if format.is_some_and(|format| !matches!(format.exact(), Some("tar" | "zip" | "tgz" | "tar.gz"))) {
        judge.opaque("a format of archives may be a program");
    }
    // Without `--format` the name of the output says it.
    let file = own(parsed, "o output").and_then(|(_, file)| file.as_ref()).and_then(Arg::exact);
    let known = |file: &str| [".tar", ".zip", ".tgz", ".tar.gz"].iter().any(|known| file.ends_with(known));
    if format.is_none() && file.is_some_and(|file| !known(file)) {
        judge.opaque("a format of archives may be a program");
    }
}
