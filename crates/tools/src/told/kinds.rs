//! What the lines of a diff do not say of a path: of which kind it is, where a link leads, and with which rights it
//! stands there. Whoever says yes to a diff says yes to these, too.
//!
//! | was | is | said |
//! |---|---|---|
//! | nothing | a link | `New link x → b` |
//! | nothing | a file that is executable, or has other bits that few have | `New file x, mode 755` |
//! | a link | nothing | `Deleted link x → b` |
//! | one kind, or one target | another | `x: file → link to b` |
//! | a mode | another | `Mode of x: 644 → 755` |

use nika_contract::{Kind, text};
use nika_host::overlay::{Entry, What};

/// Bits of a new file that are said: what runs it, what it runs as, and that everybody may write it.
const SAID: u32 = 0o7113;

/// A line of its own, or nothing. `before` and `after` are where links lead.
pub(crate) fn line(name: &str, entry: &Entry, before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let is = (entry.what != What::Deleted).then_some(entry.kind);
    let is_same = entry.was == is && !entry.was_special;
    match (entry.was, is) {
        (None, Some(Kind::Link)) => format!("New link {name} → {}\n", target(after)),
        (Some(Kind::Link), None) => format!("Deleted link {name} → {}\n", target(before)),
        (None, Some(Kind::File)) => match entry.mode.filter(|mode| mode & SAID != 0) {
            Some(mode) => format!("New file {name}, mode {mode:o}\n"),
            None => String::new(),
        },
        (Some(Kind::Link), Some(Kind::Link)) if before != after => {
            format!("{name}: {} → {}\n", kind(Kind::Link, before), kind(Kind::Link, after))
        }
        (Some(was), Some(is)) if !is_same => {
            let was = if entry.was_special { "device, FIFO or socket".to_owned() } else { kind(was, before) };
            let mode = entry.mode.filter(|mode| is == Kind::File && mode & SAID != 0);
            let mode = mode.map_or_else(String::new, |mode| format!(", mode {mode:o}"));
            format!("{name}: {was} → {}{mode}\n", kind(is, after))
        }
        (Some(Kind::File | Kind::Directory), Some(_)) => match (entry.was_mode, entry.mode) {
            (Some(was), Some(is)) if was != is => format!("Mode of {name}: {was:o} → {is:o}\n"),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

fn kind(kind: Kind, leads_to: Option<&[u8]>) -> String {
    match kind {
        Kind::File => "file".to_owned(),
        Kind::Directory => "directory".to_owned(),
        Kind::Link => format!("link to {}", target(leads_to)),
    }
}

/// On one line, whatever characters are in it.
fn target(bytes: Option<&[u8]>) -> String {
    let Some(bytes) = bytes else { return "what cannot be read".to_owned() };
    let shown = String::from_utf8_lossy(bytes).replace('\n', "\\n");
    text::harmless(&shown).into_owned()
}
