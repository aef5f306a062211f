//! Paths as JSON: text where they are text, bytes where they are not, so that no name a stranger chose can make a
//! profile impossible to send.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Wire {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&Path> for Wire {
    fn from(path: &Path) -> Wire {
        match path.to_str() {
            Some(text) => Wire::Text(text.to_owned()),
            None => Wire::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }
}

impl From<Wire> for PathBuf {
    fn from(wire: Wire) -> PathBuf {
        match wire {
            Wire::Text(text) => PathBuf::from(text),
            Wire::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        }
    }
}

pub(super) mod path {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Wire;

    pub(in crate::profile) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        Wire::from(path).serialize(to)
    }

    pub(in crate::profile) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Wire::deserialize(from).map(PathBuf::from)
    }
}

pub(super) mod paths {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::Wire;

    pub(in crate::profile) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| Wire::from(path.as_path())))
    }

    pub(in crate::profile) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<Wire>::deserialize(from)?.into_iter().map(PathBuf::from).collect())
    }
}
