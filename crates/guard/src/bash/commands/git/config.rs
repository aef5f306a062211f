//! Subcommands of git that change what git itself does: its configuration, remotes, work trees, submodules.
//!
//! A configuration names programs (pagers, filters, hooks), so writing one is writing `.git/config`: the
//! policy knows that file as guarded.

use super::super::super::judge::{Arg, Judge, Word};
use super::super::hooks;
use super::super::spec::{Does, Operands, PLAIN, Parsed, Spec};
use super::{at, base, changes, configures, own, reaches, reads};
use Does::{AskFlag, Flag, Maybe, Read, Value};

type Opts = (Does, &'static str);
type Check = fn(&Parsed, &mut Judge<'_>);

const fn row(names: &'static str, opts: &'static [Opts], check: Check) -> Spec {
    Spec { names, opts, operands: Operands::Custom, check: Some(check), ..PLAIN }
}

/// The subcommands.
pub(super) const SUBS: &[Spec] = &[
    row(
        "config",
        &[
            (Flag, "global system local worktree get get-all get-regexp get-urlmatch list l name-only show-origin"),
            (
                Flag,
                "show-scope show-names no-show-names z null includes no-includes bool int bool-or-int \
             bool-or-str",
            ),
            (Flag, "path expiry-date no-type all regexp fixed-value get-color get-colorbool"),
            (Flag, "add replace-all unset unset-all rename-section remove-section append"),
            (Value, "type default blob url value comment"),
            (Read, "f file"),
            (AskFlag, "e edit"),
        ],
        config,
    ),
    Spec {
        names: "remote",
        opts: &[(Flag, "v verbose")],
        operands: Operands::Sub,
        subs: &[
            row("_", &[], reads),
            row("show", &[(Flag, "n v verbose")], show_remote),
            row("get-url", &[(Flag, "push all")], reads),
            row("update prune", &[(Flag, "p prune n dry-run")], update),
            row(
                "add set-url rename remove rm set-head set-branches",
                &[
                    (Flag, "f tags no-tags push add delete a auto d progress no-progress"),
                    (Maybe, "mirror"),
                    (Value, "t track m master"),
                ],
                set_remote,
            ),
        ],
        ..PLAIN
    },
    Spec {
        names: "worktree",
        operands: Operands::Sub,
        subs: &[
            row("list", &[(Flag, "porcelain z v verbose"), (Value, "expire")], reads),
            row(
                "add",
                &[
                    (Flag, "f force d detach checkout no-checkout lock q quiet track no-track guess-remote orphan"),
                    (Flag, "no-guess-remote relative-paths no-relative-paths"),
                    (Value, "b B reason"),
                ],
                add_worktree,
            ),
            row("move", &[(Flag, "f force")], move_worktree),
            row("remove", &[(Flag, "f force")], remove_worktree),
            row("prune", &[(Flag, "n dry-run v verbose"), (Value, "expire")], |parsed, judge| {
                if own(parsed, "n dry-run").is_some() { reads(parsed, judge) } else { changes(parsed, judge) }
            }),
            row("lock unlock repair", &[(Value, "reason")], changes),
        ],
        ..PLAIN
    },
    Spec {
        names: "submodule",
        opts: &[(Flag, "q quiet cached")],
        operands: Operands::Sub,
        subs: &[
            row("status summary _", &[(Flag, "cached recursive files"), (Value, "n summary-limit")], reads),
            row(
                "init update sync add absorbgitdirs deinit set-url set-branch",
                &[
                    (
                        Flag,
                        "init recursive remote no-fetch f force checkout merge rebase single-branch progress \
                         dissociate",
                    ),
                    (Flag, "no-recommend-shallow recommend-shallow all d default"),
                    (Value, "depth j jobs reference b branch name filter"),
                ],
                set_submodule,
            ),
        ],
        ..PLAIN
    },
    Spec {
        names: "sparse-checkout",
        operands: Operands::Sub,
        subs: &[
            row("list", &[], reads),
            row(
                "set add reapply disable init",
                &[(Flag, "cone no-cone sparse-index no-sparse-index stdin skip-checks")],
                sparse,
            ),
        ],
        ..PLAIN
    },
];

/// Words that begin the newer form.
const VERBS: [(&str, bool); 7] = [
    ("list", false),
    ("get", false),
    ("set", true),
    ("unset", true),
    ("rename-section", true),
    ("remove-section", true),
    ("edit", true),
];

fn config(parsed: &Parsed, judge: &mut Judge<'_>) {
    // Settings may be read out of any file that is kept, as `HEAD:.aws/credentials`.
    if let Some((_, blob)) = own(parsed, "blob") {
        match blob.as_ref().and_then(Arg::exact).map(|text| text.split_once(':').map_or("", |(_, path)| path)) {
            Some(path) if crate::classify(&judge.resolve(path)).secret.is_some() => judge.read(&judge.word(path)),
            Some(_) => {}
            None => judge.opaque("which file of the repository is read is not known"),
        }
    }
    const READS: &str = "get get-all get-regexp get-urlmatch get-color get-colorbool list l";
    const WRITES: &str = "add replace-all unset unset-all rename-section remove-section append comment";
    let words = &parsed.operands;
    let verb = match words.first().map(Arg::exact) {
        Some(None) => return judge.opaque("what is configured is not known"),
        Some(Some(first)) => VERBS.iter().find(|(verb, _)| *verb == first).map(|(_, writes)| *writes),
        None => None,
    };
    if verb == Some(true) && words.first().and_then(Arg::exact) == Some("edit") {
        judge.opaque("git opens an editor");
    }
    let writes = match verb {
        _ if own(parsed, WRITES).is_some() => true,
        Some(writes) => writes,
        None => own(parsed, READS).is_none() && words.len() > 1,
    };
    if !writes {
        if own(parsed, "includes").is_some() && own(parsed, "f file").is_some() {
            judge.opaque("the file may include others, wherever they are");
        }
        return reads(parsed, judge);
    }
    let file = own(parsed, "f file").and_then(|(_, file)| file.as_ref());
    let implied = |path: String| Arg { word: Word::Exact(path), span: 0..0 };
    if let Some(file) = file {
        judge.write(&at(parsed, file));
        // A file that git is told to include or that is named otherwise is a configuration all the same.
        judge.opaque("it writes a configuration of git");
    } else if own(parsed, "global").is_some() {
        let home = judge.site.home.join(".gitconfig").to_string_lossy().into_owned();
        judge.write(&implied(home));
    } else if own(parsed, "system").is_some() {
        judge.write(&implied("/etc/gitconfig".to_owned()));
    } else {
        configures(parsed, judge);
    }
}

fn show_remote(parsed: &Parsed, judge: &mut Judge<'_>) {
    reads(parsed, judge);
    if own(parsed, "n").is_none() && !parsed.operands.is_empty() {
        reaches(None, judge);
    }
}

fn update(parsed: &Parsed, judge: &mut Judge<'_>) {
    changes(parsed, judge);
    reaches(None, judge);
}

fn set_remote(parsed: &Parsed, judge: &mut Judge<'_>) {
    configures(parsed, judge);
    if own(parsed, "f a auto").is_some() {
        reaches(parsed.operands.get(1), judge);
    }
}

fn add_worktree(parsed: &Parsed, judge: &mut Judge<'_>) {
    changes(parsed, judge);
    match parsed.operands.first() {
        Some(place) => judge.write_tree(&at(parsed, place)),
        None => judge.opaque("the place of the work tree is missing"),
    }
}

fn move_worktree(parsed: &Parsed, judge: &mut Judge<'_>) {
    changes(parsed, judge);
    if let Some((to, from)) = parsed.operands.split_last() {
        from.iter().for_each(|place| judge.delete_tree(&at(parsed, place)));
        judge.write_tree(&at(parsed, to));
    }
}

fn remove_worktree(parsed: &Parsed, judge: &mut Judge<'_>) {
    changes(parsed, judge);
    parsed.operands.iter().for_each(|place| judge.delete_tree(&at(parsed, place)));
}

fn set_submodule(parsed: &Parsed, judge: &mut Judge<'_>) {
    changes(parsed, judge);
    configures(parsed, judge);
    let adds = parsed.path.last().is_some_and(|name| name == "add");
    if adds || parsed.path.last().is_some_and(|name| name == "update") {
        reaches(parsed.operands.first().filter(|_| adds), judge);
    }
}

/// What is checked out stands in a configuration of the work tree alone, which it says in the one of all.
fn sparse(parsed: &Parsed, judge: &mut Judge<'_>) {
    changes(parsed, judge);
    configures(parsed, judge);
    for file in [".git/config.worktree", ".git/info/sparse-checkout"] {
        hooks::write(&base(parsed), file, judge);
    }
}
