//! A path in JSON: a string, or `{"hex": "…"}` where its bytes are no UTF-8, so that no name a stranger chose can make
//! a record impossible to write.
//!
//! For `#[serde(with = "pathtext")]`, and `pathtext::list` for many. What is kept on disk is written so, too: the form
//! stays as it is.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes { hex: String },
}

impl From<&Path> for Form {
    fn from(path: &Path) -> Form {
        match path.to_str() {
            Some(text) => Form::Text(text.to_owned()),
            None => {
                let bytes = path.as_os_str().as_bytes();
                Form::Bytes { hex: bytes.iter().map(|byte| format!("{byte:02x}")).collect() }
            }
        }
    }
}

impl Form {
    fn path<E: serde::de::Error>(self) -> Result<PathBuf, E> {
        match self {
            Form::Text(text) => Ok(PathBuf::from(text)),
            Form::Bytes { hex } => {
                let pair = |at: usize| hex.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
                let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(pair).collect();
                let path = bytes.map(|bytes| PathBuf::from(OsString::from_vec(bytes)));
                path.ok_or_else(|| E::custom("a path's `hex` is not pairs of hex digits"))
            }
        }
    }
}

/// Writes a path.
pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => to.serialize_str(text),
        None => Form::from(path).serialize(to),
    }
}

/// Reads one.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    Form::deserialize(from)?.path::<D::Error>().map_err(D::Error::custom)
}

/// Many paths.
pub mod list {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::Form;

    /// Writes them.
    pub fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| Form::from(path.as_path())))
    }

    /// Reads them.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        Vec::<Form>::deserialize(from)?.into_iter().map(Form::path).collect()
    }
}

/// One that may be missing.
pub mod option {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Form;

    /// Writes it.
    pub fn serialize<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        path.as_deref().map(Form::from).serialize(to)
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
        Option::<Form>::deserialize(from)?.map(Form::path).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        #[serde(with = "super")]
        path: PathBuf,
        #[serde(with = "super::list")]
        more: Vec<PathBuf>,
        #[serde(with = "super::option", default)]
        perhaps: Option<PathBuf>,
    }

    #[test]
    fn any_path_survives_alone_and_among_others() {
        for bytes in [b"/a/\xc3\xa9".as_slice(), b"/a/\xff\x01", b"/a\"\n"] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            let holder = Holder { more: vec![path.clone(), "/b".into()], perhaps: Some(path.clone()), path };
            let json = serde_json::to_string(&holder).unwrap();
            assert_eq!(serde_json::from_str::<Holder>(&json).unwrap(), holder);
        }
    }

    #[test]
    fn what_is_missing_is_missing() {
        let holder = serde_json::from_str::<Holder>(r#"{"path": "/a", "more": []}"#).unwrap();
        assert_eq!(holder.perhaps, None);
        let json = serde_json::to_string(&holder).unwrap();
        assert_eq!(serde_json::from_str::<Holder>(&json).unwrap(), holder);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for hex in ["f", "zz", "fff", "é0"] {
            let json = format!(r#"{{"path": {{"hex": "{hex}"}}, "more": []}}"#);
            assert!(serde_json::from_str::<Holder>(&json).is_err(), "{hex}");
        }
    }
}
