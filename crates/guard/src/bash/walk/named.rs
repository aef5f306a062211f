//! What the name of a command leads to: a program of the system, a file of the workspace, or nothing that is known.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::super::judge::normal;
use super::{State, Walker};

/// Where programs stand that only an administrator changes.
const TRUSTED: &[&str] = &["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin"];

pub(super) enum Found<'n> {
    Named(Cow<'n, str>),
    Workspace(PathBuf),
    Unknown(String),
}

impl Walker<'_> {
    pub(super) fn program<'n>(&self, name: &'n str, state: &State) -> Found<'n> {
        if !name.contains('/') {
            return Found::Named(Cow::Borrowed(name));
        }
        let root = [PathBuf::from("/")];
        let places = if name.starts_with('/') { &root } else { state.cwd.as_slice() };
        if places.is_empty() {
            return Found::Unknown("a program in a directory that is not known".to_owned());
        }
        let paths: Vec<PathBuf> = places.iter().map(|place| normal(&place.join(name))).collect();
        let trusted = paths
            .iter()
            .all(|path| path.parent().is_some_and(|above| TRUSTED.iter().any(|dir| above == Path::new(dir))));
        match paths.first() {
            Some(path) if trusted && name.starts_with('/') && !name.contains("..") => {
                Found::Named(Cow::Owned(path.file_name().unwrap_or_default().to_string_lossy().into_owned()))
            }
            Some(path) if paths.iter().all(|path| self.inside(path)) => Found::Workspace(path.clone()),
            _ => Found::Unknown(format!("`{name}` is a program outside the workspace and the system's directories")),
        }
    }
}
