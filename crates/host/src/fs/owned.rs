//! Looks at what rights keep from its own owner, too. They are for `undo` alone, which gives it other rights: any other tool may
//! look at what its user may.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use nika_contract::ToolError;
use nika_guard::{Permit, Place};
use rustix::fs::OFlags;
use rustix::io;

use super::{FileNow, Glance, Workspace};

/// Which rights a look is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rights {
    AsTheyAre,
    /// All that the owner can have.
    OfOwner,
}

impl Rights {
    pub(super) fn reopen(self, handle: &OwnedFd) -> io::Result<File> {
        match self {
            Rights::AsTheyAre => Workspace::reopen(handle),
            Rights::OfOwner => Workspace::reopen_as_owner(handle),
        }
    }
}

impl Workspace {
    pub(super) fn open_by(&self, path: &Path, flags: OFlags, rights: Rights) -> io::Result<OwnedFd> {
        match rights {
            Rights::AsTheyAre => self.open_exact(path, flags),
            Rights::OfOwner => self.look_as_owner(path, flags),
        }
    }
}

/// The looks of [`Workspace`] that are called so there, with all rights that the owner can have.
#[derive(Debug, Clone, Copy)]
pub struct AsOwner<'a>(pub &'a Workspace);

impl AsOwner<'_> {
    /// As [`Workspace::glance`].
    pub fn glance(self, permit: &Permit, place: &Place) -> Result<Option<Glance>, ToolError> {
        self.0.glance_by(permit, place, Rights::OfOwner)
    }

    /// As [`Workspace::digest`].
    pub fn digest(self, permit: &Permit, place: &Place) -> Result<[u8; 32], ToolError> {
        self.0.digest_by(permit, place, Rights::OfOwner)
    }

    /// As [`Workspace::read_file`].
    pub fn read_file(self, permit: &Permit, place: &Place, max_bytes: u64) -> Result<FileNow, ToolError> {
        let mut open = self.0.open_file_by(permit, place, Rights::OfOwner)?;
        let bytes = open.read_all(max_bytes)?;
        Ok(FileNow { open, bytes })
    }

    /// As [`Workspace::names`].
    pub fn names(self, permit: &Permit, place: &Place) -> Vec<OsString> {
        self.0.names_by(permit, place, Rights::OfOwner)
    }
}
