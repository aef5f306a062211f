//! Options of linters: what they print, and which of their files they read.

use super::effects::Opts;
use super::spec::Does;

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
    (Does::Flag, "files diff hidden no-ignore sort identifiers words binary force-exclude isolated"),
    (Does::Value, "format color exclude j threads locale type"),
    (Does::Read, "c config"),
    (Does::Info, "V version type-list h help dump-config-none"),
];
