//! `yarn`: scripts and programs of the project, and what it fetches.

use super::super::judge::{Arg, Judge};
use super::effects::{outside, run, run_words};
use super::places::is_plain_below;
use super::spec::Parsed;
use super::{goals, offline, runners};

/// Its words, for which it has no table: what is no subcommand is a script.
pub(super) fn yarn(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words: Vec<Option<&str>> = parsed.operands.iter().map(Arg::exact).collect();
    // Whether a file names one in its place is looked up.
    if matches!(words.as_slice(), [Some("-v" | "--version")]) {
        return;
    }
    // `yarnPath` of `.yarnrc.yml`.
    judge.code("the settings of the project name the program that yarn runs in its place");
    match words.as_slice() {
        [Some("--help" | "-h")] => {}
        // They change what is shown, or keep it from asking a server.
        [
            Some("--silent" | "-s" | "--offline" | "--verbose" | "--json" | "--no-progress" | "--non-interactive"),
            _,
            ..,
        ] => {
            yarn(&runners::behind(parsed, 1), judge);
        }
        [Some("--cwd"), Some(_), ..] => {
            parsed.operands.iter().skip(1).take(1).for_each(|place| judge.read_tree(place));
            if !words[1].is_some_and(is_plain_below) {
                judge.opaque("it runs in a directory where other names are guarded");
            }
            yarn(&runners::behind(parsed, 2), judge);
        }
        [Some("list" | "why"), ..] if words.iter().all(Option::is_some) => {
            judge.read_cwd();
            outside(&parsed.operands, judge);
        }
        [
            Some(
                "test" | "build" | "start" | "lint" | "format" | "dev" | "pack" | "typecheck" | "type-check" | "check"
                | "e2e" | "coverage" | "clean" | "compile" | "watch",
            ),
            ..,
        ] => run(parsed, judge),
        [Some("exec" | "run"), ..] => {
            let rest = runners::behind(parsed, 1);
            goals::script_reaches(&rest.operands, judge);
            runners::exec(&rest, judge);
        }
        [Some("node"), ..] => run_words(parsed, &parsed.operands, judge),
        [Some("install"), ..] => offline::installs(&runners::behind(parsed, 1), judge),
        // `workspace NAME COMMAND`, `workspaces foreach [OPTIONS] COMMAND`: the command is yarn's again.
        [Some("workspace"), Some(_), ..] => yarn(&runners::behind(parsed, 2), judge),
        [Some("workspaces"), Some("foreach" | "run"), rest @ ..] => {
            let options = rest.iter().take_while(|word| word.is_some_and(|word| word.starts_with('-'))).count();
            yarn(&runners::behind(parsed, 2 + options), judge);
        }
        [Some(script), ..] if !script.starts_with('-') && !YARN_NET.split_whitespace().any(|name| name == *script) => {
            goals::script_reaches(&parsed.operands, judge);
            run_words(parsed, &parsed.operands, judge)
        }
        _ => judge.net(None),
    }
}

const YARN_NET: &str = "add install remove up upgrade upgrade-interactive global publish dlx create login logout \
    npm outdated audit info link unlink \
    import policies set plugin config cache init owner tag team dedupe rebuild search patch stage version \
    self-update owner licenses generate-lock-entry \
    autoclean versions";
