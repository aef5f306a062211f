//! Builds that install what they made: `make install`, `cmake --install build`, `ninja install`.
//!
//! Without a word about where, they do it where the machine keeps its programs.

use super::super::judge::{Arg, Judge};
use super::goals;
use super::spec::{Parsed, lists};

/// Where nearly every build puts things that is not told otherwise.
pub(in super::super) const USUAL: &str = "/usr/local";

/// Builds that know the goal.
pub(in super::super) const BUILDERS: &str = "make gmake bmake ninja samu autoninja cmake meson";

/// Whether a word is a variable of a build, and says where all of it goes. One that is empty says nothing.
pub(in super::super) fn says_where(word: &str) -> bool {
    const PLACES: &str =
        "PREFIX prefix DESTDIR destdir INSTALL_ROOT INSTALL_PATH INSTALL_PREFIX INSTALL_DIR --prefix --destdir";
    let (name, place) = word.split_once('=').unwrap_or((word, if word.starts_with("--") { "." } else { "" }));
    !place.is_empty() && !place.starts_with(USUAL) && lists(PLACES, name.trim_end_matches([':', '?', '+']))
}

/// Writes where the build installs, if it is told to, and nowhere else.
pub(super) fn writes(parsed: &Parsed, judge: &mut Judge<'_>) {
    let words = || parsed.operands.iter().filter_map(Arg::exact);
    let is_goal =
        |word: &str| matches!(word, "install" | "install-strip" | "install/strip" | "install/local" | "install-all");
    let program = parsed.path.first().map_or("", String::as_str);
    let installs = match program {
        "cmake" => words().any(|word| word == "--install") || goals::targets(&parsed.operands).any(is_goal),
        "meson" => words().next() == Some("install"),
        "make" | "gmake" | "bmake" => words().any(is_goal) && !words().any(only_shows),
        _ => {
            lists(BUILDERS, program) && words().any(is_goal) && !words().any(|word| word == "-n" || word == "--dry-run")
        }
    };
    if installs && !words().any(says_where) {
        judge.write_tree(&judge.word(USUAL));
    }
}

/// Options of make that only show what would be done.
fn only_shows(word: &str) -> bool {
    const ALONE: &str = "bBdeiknpqrRsStvw";
    let mut letters = word.strip_prefix('-').unwrap_or_default().chars().take_while(|c| ALONE.contains(*c));
    matches!(word, "--dry-run" | "--just-print" | "--recon" | "--question") || letters.any(|c| matches!(c, 'n' | 'q'))
}
