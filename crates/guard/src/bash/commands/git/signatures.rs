//! Which commands of git have a program look at signatures: those that are told to by an option, by a format that shows
//! what came of it, or by a setting. All others show the same commits and start nothing.

use super::super::super::judge::Arg;
use super::super::spec::{Parsed, lists};
use super::{before, own};
use crate::repository::Repository;

/// Settings that name such a program, one for each kind of signature.
pub(super) const PROGRAMS: &str = "gpg.program gpg.*.program gpg.ssh.defaultkeycommand";

/// Which subcommands look at signatures.
pub(super) struct Looks {
    /// Whatever they are told.
    always: &'static str,
    /// As `log.showSignature` says.
    logs: &'static str,
    /// As a format of commits or an order of refs asks for it.
    formats: &'static str,
}

/// Of those that read. `git archive` puts into a file what `$Format:%G?$` in it asks for.
pub(super) const READERS: Looks = Looks {
    always: "verify-commit verify-tag archive",
    logs: "log show whatchanged reflog stash range-diff notes submodule",
    formats: "log show whatchanged reflog stash range-diff notes shortlog rev-list diff-tree format-patch branch tag \
              for-each-ref ls-remote",
};

/// Of those that change the repository. What is known of a signed tag is put into the message of its merge; a commit that
/// was looked for, or at which a rebase stopped, is shown as `git show` does.
pub(super) const WRITERS: Looks = Looks { always: "merge pull", logs: "am bisect rebase", formats: "am bisect rebase" };

impl Looks {
    /// Whether the command may have a signature looked at.
    pub(super) fn verify(&self, sub: &str, parsed: &Parsed, repository: &Repository) -> bool {
        let ordered = parsed.opts.iter().skip(parsed.outer).filter(|(name, _)| lists("format pretty sort group", name));
        let asked = ordered.filter_map(|(_, value)| value.as_ref()).any(|value| value.exact().is_none_or(shows))
            || own(parsed, "show-signature").is_some()
            || sub == "tag" && own(parsed, "v verify").is_some();
        // A summary of submodules is their `git log`.
        let logs = lists(self.logs, sub)
            || lists("status commit", sub)
                && set(parsed, repository, |key, value| key == "status.submodulesummary" && is_true(value));
        let shown = |key: &str, value: &str| is_format(key) && shows(value);
        lists(self.always, sub)
            || lists(self.formats, sub) && (asked || set(parsed, repository, shown))
            || logs && set(parsed, repository, |key, value| key == "log.showsignature" && is_true(value))
    }
}

/// Whether a setting of the repository, or one that the command line makes, is of this kind.
pub(super) fn set(parsed: &Parsed, repository: &Repository, is: impl Fn(&str, &str) -> bool) -> bool {
    let here = before(parsed).iter().filter(|(name, _)| name == "c").filter_map(|(_, value)| value.as_ref());
    let mut here = here.filter_map(Arg::exact).map(|text| text.split_once('=').unwrap_or((text, "true")));
    here.any(|(key, value)| is(&key.to_ascii_lowercase(), value))
        || repository.settings.iter().any(|setting| is(&setting.key, &setting.value))
}

/// Formats by a name of their own, those that count where none is given, that of a rebase's list, and the orders of refs.
fn is_format(key: &str) -> bool {
    key.starts_with("pretty.")
        || matches!(key, "format.pretty" | "rebase.instructionformat" | "branch.sort" | "tag.sort")
}

/// Whether a format or an order has what is known of a signature in it: `%G?`, `%+GK`, `%(signature:grade)`.
fn shows(text: &str) -> bool {
    let placeholder = |rest: &str| rest.trim_start_matches(['+', '-', ' ']).starts_with('G');
    text.contains("signature") || text.replace("%%", "").split('%').skip(1).any(placeholder)
}

/// Git takes a name without a value for true; it reads here as an empty one.
fn is_true(value: &str) -> bool {
    !["false", "no", "off", "0"].contains(&value.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::super::programs::tests::{asks, settings};

    #[test]
    fn a_program_for_signatures_counts_where_one_is_looked_at() {
        for key in ["gpg.program", "gpg.ssh.program", "gpg.x509.program", "gpg.openpgp.program"] {
            for text in [
                "git log --show-signature",
                "git show --show-signature HEAD",
                "git log --format=%G?",
                "git log --format='%h %+GS'",
                "git log --pretty='tformat:%-GK'",
                "git log --pretty=\"$f\"",
                "git shortlog --format=%G?",
                "git shortlog --group=%G?",
                "git shortlog --group=format:%G?",
                "git rev-list --format=%GF HEAD",
                "git diff-tree --pretty=%GG HEAD",
                "git reflog --format=%G?",
                "git stash list --format=%G?",
                "git show -s --format=%G? HEAD",
                "git branch --format='%(signature:grade)'",
                "git branch --sort=signature",
                "git tag -l --format='%(*signature)'",
                "git for-each-ref --format='%(signature)'",
                "git for-each-ref --sort=-signature:key",
                "git tag -v v1",
                "git verify-commit HEAD",
                "git verify-tag v1",
                "git archive HEAD",
                "git -c log.showSignature=true log",
                "git -c log.showSignature show",
                "git -c branch.sort=signature branch",
                "git -c tag.sort=signature:grade tag -l",
            ] {
                assert!(asks(text, settings(&[(key, "./evil")])), "{key}: {text}");
            }
            for text in [
                "git log",
                "git log --oneline -5",
                "git log --format='%h %an %s'",
                "git log --pretty=oneline --graph",
                "git log --format='%h 100%% Git'",
                "git show HEAD",
                "git branch -vv",
                "git branch --format='%(refname:short)'",
                "git branch --sort=-committerdate",
                "git tag -l",
                "git tag -l 'v*' --sort=-v:refname",
                "git reflog",
                "git rev-list --count HEAD",
                "git shortlog -sn HEAD",
                "git for-each-ref --format='%(refname)'",
                "git stash list",
                "git range-diff a...b",
                "git diff-tree HEAD",
                "git status",
                "git -c log.showSignature=false log",
            ] {
                assert!(!asks(text, settings(&[(key, "./evil")])), "{key}: {text}");
            }
        }
    }

    #[test]
    fn a_setting_asks_for_it_too() {
        let with = |key: &str, value: &str| settings(&[("gpg.program", "./evil"), (key, value)]);
        for text in ["git log", "git show", "git reflog", "git stash list", "git range-diff a...b"] {
            assert!(asks(text, with("log.showsignature", "true")), "{text}");
            assert!(asks(text, with("log.showsignature", "")), "{text}");
            assert!(!asks(text, with("log.showsignature", "Off")), "{text}");
            assert!(asks(text, with("format.pretty", "%h %G?")), "{text}");
        }
        // These show notes that are commits, and the commits of a submodule.
        for text in ["git notes show", "git submodule summary", "git -c status.submoduleSummary status"] {
            assert!(asks(text, with("log.showsignature", "true")), "{text}");
            assert!(!asks(text, settings(&[("gpg.program", "./evil")])), "{text}");
        }
        let summary = [("gpg.program", "./evil"), ("log.showsignature", "true"), ("status.submodulesummary", "5")];
        for text in ["git status", "git commit --dry-run"] {
            assert!(asks(text, settings(&summary)), "{text}");
            assert!(!asks(text, settings(&summary[..2])), "{text}");
        }
        assert!(asks("git log --pretty=mine", with("pretty.mine", "%G?")));
        assert!(asks("git shortlog --format=mine", with("pretty.mine", "%G?")));
        assert!(asks("git branch", with("branch.sort", "signature")));
        assert!(asks("git tag", with("tag.sort", "-signature:grade")));
        assert!(!asks("git status", with("log.showsignature", "true")));
        assert!(!asks("git branch", with("branch.sort", "-committerdate")));
        assert!(!asks("git log --pretty=mine", with("pretty.mine", "%h")));
    }
}
