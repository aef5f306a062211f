//! Looks at what rights keep from its own owner, too. They are for `undo` alone, which gives it other rights: any other tool may
//! look at what its user may.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use nika_contract::ToolError;
use nika_guard::{Permit, Place};
use rustix::fs::OFlags;
use rustix::io::Result;

use super::{FileNow, Glance, Workspace};
use crate::sandbox::owner::Asking;

/// Which rights a look is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rights {
    AsTheyAre,
    /// All that the owner can have.
    OfOwner,
}

impl Rights {
    pub(super) fn reopen(self, handle: &OwnedFd) -> Result<File> {
        match self {
            Rights::AsTheyAre => Workspace::reopen(handle),
            Rights::OfOwner => Workspace::reopen_as_owner(handle),
        }
    }
}

impl Workspace {
    pub(super) fn open_by(&self, path: &Path, flags: OFlags, rights: Rights) -> Result<OwnedFd> {
        match rights {
            Rights::AsTheyAre => self.open_exact(path, flags),
            Rights::OfOwner => self.look_as_owner(path, flags),
        }
    }
}

/// The looks of [`Workspace`] that are called so there, with all rights that the owner can have.
#[derive(Debug)]
pub struct AsOwner<'a> {
    files: &'a Workspace,
    _asking: Asking,
}

impl<'a> AsOwner<'a> {
    /// Those of `files`.
    pub fn of(files: &'a Workspace) -> AsOwner<'a> {
        AsOwner { files, _asking: Asking::begin() }
    }

    /// As [`Workspace::glance`].
    pub fn glance(&self, permit: &Permit, place: &Place) -> std::result::Result<Option<Glance>, ToolError> {
        self.files.glance_by(permit, place, Rights::OfOwner)
    }

    /// As [`Workspace::digest`].
    pub fn digest(&self, permit: &Permit, place: &Place) -> std::result::Result<[u8; 32], ToolError> {
        self.files.digest_by(permit, place, Rights::OfOwner)
    }

    /// As [`Workspace::read_file`].
    pub fn read_file(&self, permit: &Permit, place: &Place, max_bytes: u64) -> std::result::Result<FileNow, ToolError> {
        let mut open = self.files.open_file_by(permit, place, Rights::OfOwner)?;
        let bytes = open.read_all(max_bytes)?;
        Ok(FileNow { open, bytes })
    }

    /// As [`Workspace::names`].
    pub fn names(&self, permit: &Permit, place: &Place) -> Vec<OsString> {
        self.files.names_by(permit, place, Rights::OfOwner)
    }
}
