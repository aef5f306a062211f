//! What an undo says beside its diff. Of files with several names it brings back one by one: each is put there anew, and
//! what the other names keep is said. So are directories that stay, though the call made them.

use std::collections::HashMap;
use std::path::Path;

use nika_store::CallChanges;

/// What is said of those that are gone for good, in the answer of the command that took them away and in that of `undo`.
pub(crate) const NOT_BACK: &str = "devices, FIFOs and sockets are not brought back by undo";

/// Names that a line has.
const SHOWN: usize = 10;

/// A file, and how many names it has.
type Stands = ([i64; 4], u64);

/// The files that are put anew.
#[derive(Debug, Default)]
pub(super) struct Names {
    replaced: Vec<(String, Option<Stands>, bool)>,
    /// Of which a name goes.
    removed: Vec<[i64; 4]>,
    /// Directories that stay.
    staying: Vec<String>,
    /// Devices, FIFOs and sockets that are gone for good.
    not_back: Vec<String>,
}

impl Names {
    /// A file comes to stand at a path: in the place of another, perhaps, and perhaps it had other names.
    pub fn replaced(&mut self, shown: String, stands: Option<Stands>, was_linked: bool) {
        self.replaced.push((shown, stands, was_linked));
    }

    /// A file goes from a path.
    pub fn removed(&mut self, stands: Option<Stands>) {
        self.removed.extend(stands.map(|(file, _)| file));
    }

    /// A directory stays, as not all in it goes.
    pub fn stays(&mut self, shown: &str) {
        self.staying.push(format!("{shown}/"));
    }

    /// A device, FIFO or socket does not come back.
    pub fn not_back(&mut self, shown: String) {
        self.not_back.push(shown);
    }

    /// Whether something is not as it was before.
    pub fn any_differs(&self) -> bool {
        !self.staying.is_empty() || !self.not_back.is_empty()
    }

    /// What is to be said of them, a line each; nothing, as a rule.
    pub fn said(&self) -> String {
        let mut together: HashMap<[i64; 4], u64> = HashMap::new();
        let replaced = self.replaced.iter().filter_map(|(_, stands, _)| stands.map(|(file, _)| file));
        for file in replaced.chain(self.removed.iter().copied()) {
            *together.entry(file).or_default() += 1;
        }
        let keeps = |stands: &Option<Stands>| stands.is_some_and(|(file, names)| together[&file] < names);
        let (keep, rest): (Vec<_>, Vec<_>) = self.replaced.iter().partition(|(_, stands, _)| keeps(stands));
        let own = rest.into_iter().filter(|(_, _, linked)| *linked).map(|(shown, ..)| shown.as_str()).collect();
        let keep = keep.into_iter().map(|(shown, ..)| shown.as_str()).collect();
        line("other names of the same file keep what stands there now", keep)
            + &line("had other names by hard links, and comes back as a file of its own", own)
            + &line("stays, as something else lies in it", self.staying.iter().map(String::as_str).collect())
            + &line(NOT_BACK, self.not_back.iter().map(String::as_str).collect())
    }
}

/// Whether a file with several names stood at a path before one of the calls.
pub(super) fn was_linked(calls: &[CallChanges], path: &Path) -> bool {
    calls.iter().flat_map(|call| &call.changes).any(|change| change.linked && change.path == *path)
}

fn line(what: &str, mut names: Vec<&str>) -> String {
    let more = names.len().saturating_sub(SHOWN);
    let and = if more > 0 { format!(", {more} more") } else { String::new() };
    names.truncate(SHOWN);
    if names.is_empty() { String::new() } else { format!("[{what}: {}{and}]\n", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_taken_back_keep_what_stands_there() {
        let mut names = Names::default();
        let (one, two) = ([1, 2, 3, 4], [5, 6, 7, 8]);
        names.replaced("alone".into(), Some((two, 1)), false);
        assert_eq!(names.said(), "");
        names.replaced("a".into(), Some((one, 3)), true);
        assert_eq!(names.said(), "[other names of the same file keep what stands there now: a]\n");
        names.removed(Some((one, 3)));
        names.replaced("b".into(), Some((one, 3)), true);
        names.replaced("gone".into(), None, true);
        assert_eq!(names.said(), "[had other names by hard links, and comes back as a file of its own: a, b, gone]\n");
    }
}
