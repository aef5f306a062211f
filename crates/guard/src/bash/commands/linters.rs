//! Options of linters: what they print, which of their files they read, and what one corrects.

use super::super::judge::Judge;
use super::effects::Opts;
use super::spec::{Does, Parsed};

pub(super) const SHELLCHECK: Opts = &[
    (Does::Flag, "a check-sourced x external-sources norc"),
    (
        Does::Value,
        "C color i include e exclude f format o enable P source-path s shell S severity W wiki-link-count \
        extended-analysis",
    ),
    (Does::Read, "rcfile"),
    (Does::Info, "V version list-optional help"),
];

pub(super) const YAMLLINT: Opts = &[
    (Does::Flag, "s strict no-warnings list-files"),
    (Does::Value, "f format d config-data"),
    (Does::Read, "c config-file"),
    (Does::Info, "v version h help"),
];

pub(super) const HADOLINT: Opts = &[
    (Does::Flag, "no-fail no-color strict-labels V verbose disable-ignore-pragma"),
    (Does::Value, "f format ignore t failure-threshold error warning info style trusted-registry require-label"),
    (Does::Read, "c config"),
    (Does::Info, "v version h help"),
];

pub(super) const TYPOS: Opts = &[
    (Does::Flag, "w write-changes files diff hidden no-ignore sort identifiers words binary force-exclude isolated"),
    (Does::Value, "format color exclude j threads locale type"),
    (Does::Read, "c config"),
    (Does::Info, "V version type-list h help dump-config-none"),
];

/// It corrects the files where it is told so.
pub(super) fn typos(parsed: &Parsed, judge: &mut Judge<'_>) {
    let corrects = parsed.has("w write-changes");
    if parsed.operands.is_empty() {
        if corrects { judge.write_cwd() } else { judge.read_cwd() }
    }
    for tree in &parsed.operands {
        if corrects { judge.write_tree(tree) } else { judge.read_tree(tree) }
    }
}
