//! Git's objects: what the history of a repository is made of, each named by its content.
//!
//! One that a call added is left where it is when the call is taken back, as whatever was committed, tagged or branched
//! since may need it. What nobody needs goes with git's next cleaning.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use nika_contract::{ToolError, code};

use super::unmake::{State, Unmaker};

/// The directory of the repository whose object lies at `path` (`objects/ab/cdef…`, or one of a pack's files), or
/// whose objects lie in it.
fn repository_of<'p>(path: &'p Path) -> Option<&'p Path> {
    let of_shelf = |shelf: &'p Path| {
        let objects = shelf.parent().filter(|above| above.file_name() == Some(OsStr::new("objects")));
        objects.filter(|_| is_shelf(shelf)).and_then(Path::parent)
    };
    let is_object = |name: &str| name.starts_with("pack-") || is_hex(name, &[38, 62]);
    match path.file_name()?.to_str().is_some_and(is_object) {
        true => path.parent().and_then(of_shelf),
        false => of_shelf(path),
    }
}

fn is_shelf(dir: &Path) -> bool {
    dir.file_name().and_then(OsStr::to_str).is_some_and(|name| name == "pack" || is_hex(name, &[2]))
}

fn is_hex(text: &str, lengths: &[usize]) -> bool {
    lengths.contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl Unmaker<'_> {
    /// Takes the objects out of the plan that would go from a repository which stays. Refused where one would go that
    /// somebody else has put something into.
    pub(super) fn leave_objects(&self, plan: &mut BTreeMap<PathBuf, State>) -> Result<(), ToolError> {
        let mut stays: BTreeMap<PathBuf, bool> = BTreeMap::new();
        for repository in plan.keys().filter_map(|path| repository_of(path)) {
            if !stays.contains_key(repository) {
                let head = self.files.place(repository.join("HEAD"));
                let is_one = !matches!(self.standing(&head), Ok(State::Nothing));
                let is_left = is_one && !self.goes(plan, repository);
                if is_left && plan.get(&repository.join("HEAD")) == Some(&State::Nothing) {
                    return Err(self.would_break(repository));
                }
                stays.insert(repository.to_path_buf(), is_left);
            }
        }
        plan.retain(|path, state| {
            *state != State::Nothing || repository_of(path).is_none_or(|repository| !stays[repository])
        });
        Ok(())
    }

    fn would_break(&self, repository: &Path) -> ToolError {
        let shown = self.files.place(repository.to_path_buf());
        let message = format!(
            "{} was made by this call, and others have put something into it since: it would be no repository any more",
            shown.shown()
        );
        ToolError::new(code::UNDO_CONFLICT, message)
            .hint("remove it by hand if nothing in it is needed, then undo again")
    }

    /// Whether nothing is left of what stands at a path.
    fn goes(&self, plan: &BTreeMap<PathBuf, State>, path: &Path) -> bool {
        let names = || self.files.names(self.cx.permit, &self.files.place(path.to_path_buf()));
        plan.get(path) == Some(&State::Nothing) && names().iter().all(|name| self.goes(plan, &path.join(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_known_by_their_places() {
        let hex = "0123456789abcdef0123456789abcdef012345";
        let of = |path: &str| repository_of(Path::new(path)).map(|found| found.display().to_string());
        for path in [
            &format!("/w/.git/objects/ab/{hex}"),
            "/w/.git/objects/ab",
            "/w/.git/objects/pack/pack-1.idx",
            "/w/.git/objects/pack",
        ] {
            assert_eq!(of(path).as_deref(), Some("/w/.git"), "{path}");
        }
        for path in [
            "/w/.git/objects",
            "/w/.git/objects/info",
            "/w/.git/refs/heads/ab",
            "/w/.git/objects/ab/x",
            "/w/pack-1.idx",
        ] {
            assert_eq!(of(path), None, "{path}");
        }
    }
}
