//! Work that is undone by what git says about it: its changes, applied in reverse, and its files as they are stored.

use super::super::super::fact::Category;
use super::super::super::judge::{Judge, Stdin};
use super::super::piped::Printed;
use super::Hit;
use super::acts::Pattern;
use super::words::Line;

/// What does it, and what it has to be fed with.
const UNDOES: &[(Pattern<'_>, Printed)] = &[
    (Pattern::of("git apply -R|--reverse !--check|--stat|--numstat|--summary"), Printed::Changes),
    (Pattern::of("patch|gpatch -R|--reverse !--dry-run"), Printed::Changes),
    (Pattern::of("tar|gtar|bsdtar -x|--extract|--get !-C|--directory|-k|--keep-old-files"), Printed::Stored),
    (Pattern::of("tar|gtar|bsdtar x|xf|xv|xvf|xfv|xp|xpf|xvpf !-C|--directory|-k|--keep-old-files"), Printed::Stored),
];

/// Whether it may be done with `program`.
pub(super) fn names(program: &str) -> bool {
    UNDOES.iter().any(|(pattern, _)| pattern.names(program))
}

/// Whether the command undoes uncommitted work. Elsewhere than at the top of the workspace the files of an archive are
/// new ones.
pub(super) fn hit(line: &Line, judge: &Judge<'_>) -> Option<Hit> {
    let Stdin::Pipe { printed, .. } = &judge.stdin else { return None };
    let undoes = UNDOES.iter().any(|(pattern, needs)| {
        printed == needs
            && pattern.fits(line)
            && (*printed == Printed::Changes || judge.site.roots.contains(&judge.site.cwd))
    });
    undoes.then(|| (Category::GitDiscard, format!("`{}` takes uncommitted changes back", line.program)))
}
