//! cmake: it configures and builds as other tools do, and behind `-E` it has commands of its own.

use super::super::judge::{Arg, Judge};
use super::effects::{named, only, outside, run};
use super::inline;
use super::places;
use super::spec::Parsed;

/// `cmake -E` is a shell of its own; `-P` runs a script; all else configures and builds.
pub(super) fn cmake(parsed: &Parsed, judge: &mut Judge<'_>) {
    if only(
        parsed,
        "--version --help -version --help-full --help-command-list --help-module-list \
        --help-variable-list",
    ) {
        return;
    }
    let at = parsed.operands.iter().position(|arg| arg.exact() == Some("-E"));
    if let Some(at) = at {
        let rest = parsed.operands.get(at + 1..).unwrap_or_default();
        match rest.first().and_then(Arg::exact) {
            Some("echo" | "capabilities") => outside(rest, judge),
            Some("cat" | "compare_files") => rest.iter().skip(1).for_each(|file| judge.read(file)),
            Some(sum) if sum.ends_with("sum") => rest.iter().skip(1).for_each(|file| judge.read(file)),
            Some("env" | "time") => judge.command(rest),
            Some(
                "make_directory" | "touch" | "copy" | "copy_directory" | "copy_if_different" | "rename"
                | "create_symlink",
            ) => {
                named(rest, judge);
                rest.iter().for_each(|place| places::takes_along(place, judge));
                judge.write_cwd();
            }
            _ => judge.opaque("`cmake -E` runs commands of its own"),
        }
        return;
    }
    inline::runs_words(parsed, judge);
    inline::runs_behind(parsed, judge);
    run(parsed, judge);
}
