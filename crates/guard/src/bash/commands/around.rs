//! Programs that stand around a build: they put a compiler, a list of what is compiled, or rights that are only played, around
//! the command behind them. What that does is judged by itself.

use super::spec::Does::{Flag, Info, Write, WriteTree};
use super::spec::{Operands, Spec};
use super::wrappers::{WRAPPER, inside, inside_or_shell};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        names: "ccache",
        opts: &[(Info, "s show-stats p show-config V version h help v verbose")],
        check: Some(|parsed, judge| {
            judge.code("runs `ccache`");
            inside(&parsed.operands, judge);
        }),
        ..WRAPPER
    },
    // It starts a server of its own beside the first compiler, and that ends with the command.
    Spec {
        names: "sccache",
        opts: &[
            (Flag, "s show-stats show-adv-stats start-server stop-server z zero-stats"),
            (super::spec::Does::Value, "stats-format"),
            (Info, "V version h help"),
        ],
        check: Some(|parsed, judge| {
            judge.code("runs `sccache`");
            inside(&parsed.operands, judge);
        }),
        ..WRAPPER
    },
    Spec { names: "chronic", opts: &[(Flag, "v e")], operands: Operands::Command, ..WRAPPER },
    // Rights that it only plays.
    Spec {
        names: "fakeroot",
        opts: &[(Flag, "u unknown-is-real"), (Info, "h v")],
        check: Some(|parsed, judge| inside_or_shell(&parsed.operands, judge)),
        ..WRAPPER
    },
    // They put a compiler, or a list of what was compiled, around a build.
    Spec {
        names: "emcmake emmake emconfigure bear scan-build",
        opts: &[(Flag, "append v verbose status-bugs"), (Write, "output"), (WriteTree, "o")],
        check: Some(|parsed, judge| {
            judge.code(format!("runs `{}`", parsed.path.join(" ")));
            judge.write_cwd();
            inside(&parsed.operands, judge);
        }),
        ..WRAPPER
    },
];

#[cfg(test)]
mod tests {
    use super::super::super::fact::Fact;
    use super::super::testing::{all_harmless, facts, none_harmless};

    #[test]
    fn what_stands_behind_them_is_judged() {
        let reaches = |line: &str| facts(line).iter().any(|fact| matches!(fact, Fact::Net(_)));
        for program in ["bear --", "ccache", "chronic", "fakeroot", "emmake", "scan-build"] {
            assert!(reaches(&format!("{program} curl x.example")), "{program}");
            assert!(!reaches(&format!("{program} make")), "{program}");
        }
        all_harmless(&["ccache -s", "ccache --version"]);
        none_harmless(&["ccache -C", "ccache -o max_size=1G", "bear --output /etc/x -- make", "fakeroot -s x make"]);
    }
}
