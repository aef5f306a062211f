//! A change to one path, as data: what must stand there, and what shall.

use nika_contract::{Dress, Kind};
use nika_guard::Place;

use super::{FileNow, Stamp};

/// What must stand at a path for the change to be made.
#[derive(Debug, Clone)]
pub enum Expect {
    /// Nothing.
    Absent,
    /// This, unchanged since it was looked at.
    Is {
        /// Identity when it was looked at.
        stamp: Stamp,
        /// sha256 of its bytes.
        hash: [u8; 32],
        /// The bytes, for undo.
        bytes: Vec<u8>,
        /// Permission bits.
        mode: u32,
        /// Owner and group.
        owner: (u32, u32),
        /// Names that the file has.
        links: u64,
        /// A file, or a link whose bytes are its target.
        kind: Kind,
    },
}

/// What shall stand there.
#[derive(Debug, Clone)]
pub enum Target {
    /// These bytes. Permission bits are kept, or taken from here, or the system's for a new file.
    File {
        /// The bytes.
        bytes: Vec<u8>,
        /// Permission bits, when they should not be those of before.
        mode: Option<u32>,
        /// What else it shall have, when that should not be what stands there has.
        dress: Option<Dress>,
    },
    /// A link to this.
    Link(Vec<u8>),
    /// Nothing.
    Absent,
}

/// A change to one path.
#[derive(Debug, Clone)]
pub struct Change {
    /// Where.
    pub place: Place,
    /// What must stand there.
    pub expect: Expect,
    /// What shall.
    pub target: Target,
}

impl Change {
    /// A new file where nothing stands.
    pub fn create(place: Place, bytes: Vec<u8>) -> Change {
        Change { place, expect: Expect::Absent, target: Target::File { bytes, mode: None, dress: None } }
    }

    /// Other bytes in a file that was looked at. `hash` is that of the bytes looked at.
    pub fn replace(now: FileNow, hash: [u8; 32], bytes: Vec<u8>) -> Change {
        let place = now.open.place.clone();
        Change { place, expect: Expect::of(now, hash), target: Target::File { bytes, mode: None, dress: None } }
    }

    /// No file any more.
    pub fn remove(now: FileNow, hash: [u8; 32]) -> Change {
        let place = now.open.place.clone();
        Change { place, expect: Expect::of(now, hash), target: Target::Absent }
    }

    /// A change back to what an undo store kept. `bytes` of a link are where it points.
    pub fn restore(
        place: Place,
        expect: Expect,
        kind: Kind,
        bytes: Option<Vec<u8>>,
        mode: Option<u32>,
        dress: Option<Dress>,
    ) -> Change {
        let target = match (kind, bytes) {
            (_, None) => Target::Absent,
            (Kind::Link, Some(target)) => Target::Link(target),
            (_, Some(bytes)) => Target::File { bytes, mode, dress },
        };
        Change { place, expect, target }
    }
}

impl Expect {
    /// What was looked at.
    pub fn of(now: FileNow, hash: [u8; 32]) -> Expect {
        Expect::Is {
            stamp: now.open.stamp,
            hash,
            bytes: now.bytes,
            mode: now.open.mode,
            owner: now.open.owner,
            links: now.open.links,
            kind: Kind::File,
        }
    }

    /// The permission bits of what must stand there.
    pub fn mode(&self) -> Option<u32> {
        match self {
            Expect::Absent => None,
            Expect::Is { mode, .. } => Some(*mode),
        }
    }

    /// sha256 of what must stand there.
    pub fn hash(&self) -> Option<[u8; 32]> {
        match self {
            Expect::Absent => None,
            Expect::Is { hash, .. } => Some(*hash),
        }
    }
}

/// What a change did.
#[derive(Debug, Clone)]
pub struct Written {
    /// Where.
    pub place: Place,
    /// sha256 before; `None` where nothing stood.
    pub before: Option<[u8; 32]>,
    /// sha256 after; `None` where nothing stands.
    pub after: Option<[u8; 32]>,
    /// The new identity, where something stands.
    pub stamp: Option<Stamp>,
    /// Other names the file had: they keep the former bytes.
    pub other_names: u64,
}
