//! Version controls beside git: Mercurial, Jujutsu and Subversion. What they do here is code of the workspace, as their
//! repository names what they run; what asks another repository reaches the network.

use super::super::judge::{Arg, Judge};
use super::effects::{Opts, only, outside, reaches, run, with};
use super::runners::raw;
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, lists};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    with("svn", &[(Does::Info, "version"), (Does::Flag, "q quiet non-interactive")], SVN),
    raw("hg", hg),
    raw("jj", jj),
];

/// What Mercurial does without another repository, and without throwing anything away.
const HG: &str = "status st log history diff add commit ci branch branches heads tip parents summary annotate blame cat files \
    manifest root paths locate addremove forget move mv rename copy cp bookmarks bookmark tags tag phase grep resolve";

/// The same of Jujutsu, which keeps each state in its log of operations.
const JJ: &str = "status st log diff show commit ci describe desc new edit squash split bookmark b branch file files rebase evolog \
    obslog root workspace next prev abandon duplicate restore interdiff tag";

/// Extensions named by the repository's own configuration run in every command.
fn hg(parsed: &Parsed, judge: &mut Judge<'_>) {
    if !only(parsed, "version -q") {
        local(parsed, HG, "a repository may name extensions that `hg` runs", judge);
    }
}

fn jj(parsed: &Parsed, judge: &mut Judge<'_>) {
    if !only(parsed, "version --version help --help") {
        local(parsed, JJ, "a repository may name programs that `jj` runs", judge);
    }
}

/// A subcommand in front, and no option that leads to another repository or to other settings.
fn local(parsed: &Parsed, subs: &str, why: &str, judge: &mut Judge<'_>) {
    const LEADS: &[&str] =
        &["--config", "--cwd", "-R", "--repo", "--tool", "--ssh", "--remotecmd", "-e", "--edit", "-i", "--interactive"];
    let words = || parsed.operands.iter().map(|word| word.exact().unwrap_or_default());
    let sub = words().next().unwrap_or_default();
    // Long options may be cut short.
    let cut = |word: &str| {
        let name = word.split('=').next().unwrap_or(word);
        name.len() > 2 && name.starts_with("--") && LEADS.iter().any(|option| option.starts_with(name))
    };
    let leads = |word: &str| {
        LEADS.iter().any(|option| word.starts_with(option)) || cut(word) || word.contains("://") || word.is_empty()
    };
    // Without a message they open an editor.
    let message = |word: &str| ["-m", "--message", "-l", "--logfile"].iter().any(|option| word.starts_with(option));
    let told = !lists("commit ci describe desc split", sub) || words().any(message);
    if !lists(subs, sub) || words().any(leads) || !told {
        return judge.opaque(why);
    }
    run(parsed, judge);
}

const SVN: &[Spec] = &[
    Spec { names: "status st stat", opts: SVN_LOOK, operands: Operands::ReadTree, ..PLAIN },
    Spec { names: "info", opts: SVN_LOOK, operands: Operands::Custom, check: Some(svn_info), ..PLAIN },
    // Against what was checked out. The user's settings may name a program that compares, as git's may.
    Spec {
        names: "diff di",
        opts: &[
            (Does::Flag, "q quiet N non-recursive internal-diff summarize git xml no-diff-deleted ignore-properties"),
            (Does::Value, "x extensions depth cl changelist"),
            (Does::Run, "diff-cmd"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            judge.code("settings may name the program that compares");
            svn_info(parsed, judge);
        }),
        ..PLAIN
    },
    Spec {
        names: "add",
        opts: &[
            (Does::Flag, "q quiet N non-recursive force no-ignore parents auto-props no-auto-props"),
            (Does::Value, "depth"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            judge.write_cwd();
            outside(&parsed.operands, judge);
            svn_info(parsed, judge);
        }),
        ..PLAIN
    },
    reaches(
        "checkout co update up commit ci log cat list ls blame copy cp move mv merge export import \
        switch sw propset propget \
        lock unlock mkdir delete rm cleanup revert resolve relocate upgrade",
    ),
];

const SVN_LOOK: Opts = &[
    (
        Does::Flag,
        "v verbose q quiet N non-recursive no-ignore xml \
    ignore-externals",
    ),
    (Does::Value, "depth show-item"),
];

/// What is looked at: files here, or addresses.
fn svn_info(parsed: &Parsed, judge: &mut Judge<'_>) {
    if parsed.operands.is_empty() {
        return judge.read_cwd();
    }
    let fetched = |arg: &Arg| arg.exact().is_none_or(|text| text.contains("://") || text.starts_with('^'));
    for arg in &parsed.operands {
        if fetched(arg) { judge.net(None) } else { judge.read(arg) }
    }
}
