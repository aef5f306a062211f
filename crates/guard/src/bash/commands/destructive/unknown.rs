//! Programs that nobody here knows, by what their subcommand says: `somecloud volumes destroy v-1`.
//!
//! The name of a subcommand is a promise that most programs keep. It is believed where it stands as one does: a bare word
//! among the first operands, with no word before it that makes it a thing to look for.

use super::super::super::fact::Category;
use super::super::spec::lists;
use super::Hit;
use super::words::{Line, fits};

/// How many operands a subcommand takes up: `cloud compute volumes destroy`.
const DEPTH: usize = 4;

/// Subcommands that remove, wherever they stand.
const ALWAYS: &str = "delete destroy purge wipe terminate erase nuke del teardown drop rm rmi deprovision decommission \
    delete-all destroy-all drop-all purge-all factory-reset hard-delete force-delete delete-force";

/// Those that remove behind what is removed; alone they may mean a dependency of a project: `tool remove left-pad`.
const BEHIND: &str = "remove uninstall prune revoke unlink empty flush truncate";

/// Parts of a subcommand of several words.
const PARTS: &[&str] = &[
    "delete-*",
    "destroy-*",
    "purge-*",
    "wipe-*",
    "terminate-*",
    "drop-*",
    "*-delete",
    "*-destroy",
    "*-purge",
    "*-wipe",
    "*:delete",
    "*:destroy",
    "*:drop",
    "*:purge",
    "*:wipe",
    "*:terminate",
    "*:remove",
    "*:deprovision",
    "*-terminate",
    "*.delete",
    "*.destroy",
    "*.remove",
];

/// Words behind which anything is only named.
const NAMES_ONLY: &str = "get list ls show describe help explain view search find info status create add install log \
    logs \
    config set new edit test echo print run exec start grep cat open build lint check watch diff inspect validate plan \
    doc docs man completion generate init fmt format import export compile render say send \
    enable disable can-i grant report reports event events audit metrics perms permission permissions feature features";

/// Programs whose words are text.
const TEXT: &str = "notify-send say espeak spd-say figlet toilet cowsay banner logger wall write zenity dialog \
    whiptail \
    terminal-notifier lolcat tldr cheat sift pt ucg git-grep gitk wn dict aspell";

/// Words of several that name a thing: what is removed softly, kept from it, or told about.
const THINGS: &str = "soft-delete no-delete delete-protection deletion-protection delete-marker delete-markers delete-policy \
    purge-report delete-report no-purge undelete";

/// Options by which a program that is not known only shows.
const SHOWS: &str = "--plan --check --preview --diff";

/// What an unknown program promises to remove.
pub(super) fn hit(line: &Line) -> Option<Hit> {
    let shows = line.raw.iter().any(|piece| piece.known && lists(SHOWS, &piece.text));
    if shows || lists(TEXT, &line.program) {
        return None;
    }
    let words = line.operands.iter().take(DEPTH).map(|piece| if piece.known { piece.text.as_ref() } else { "" });
    let words: Vec<&str> = words.take_while(|word| is_plain(word) && !lists(NAMES_ONLY, word)).collect();
    // `--type delete` asks for one kind.
    let is_value = |at: usize| line.spots.get(at).is_some_and(|(_, is_value)| *is_value);
    let mut named = words.iter().enumerate();
    let at = named.position(|(at, word)| !is_value(at) && (removes(word) || at > 0 && lists(BEHIND, word)))?;
    let path = words.get(..=at).unwrap_or_default().join(" ");
    Some((Category::Cloud, format!("`{} {path}` says that it removes, and the program is not known", line.program)))
}

fn removes(word: &str) -> bool {
    !lists(THINGS, word) && (lists(ALWAYS, word) || PARTS.iter().any(|part| fits(part, word)))
}

/// Whether a word may be a subcommand: a name, and no file.
fn is_plain(word: &str) -> bool {
    let parts = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || b"-:_.".contains(&letter);
    !word.is_empty() && word.bytes().all(parts) && word.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
}
