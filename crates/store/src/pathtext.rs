//! A path in JSON: a string, or `{"hex": "…"}` where its bytes are no UTF-8.

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

/// For `#[serde(with = "pathtext")]`.
pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => {
            let hex = path.as_os_str().as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            Form::Bytes { hex }.serialize(serializer)
        }
    }
}

/// For `#[serde(with = "pathtext")]`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    match Form::deserialize(deserializer)? {
        Form::Text(text) => Ok(PathBuf::from(text)),
        Form::Bytes { hex } => {
            let pair = |at: usize| hex.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
            let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(pair).collect();
            bytes
                .map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
                .ok_or_else(|| D::Error::custom("a path's `hex` is not pairs of hex digits"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Holder {
        #[serde(with = "super")]
        path: PathBuf,
    }

    #[test]
    fn any_path_survives() {
        for bytes in [b"/a/\xc3\xa9".as_slice(), b"/a/\xff\x01", b"/a\"\n"] {
            let path = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            let json = serde_json::to_string(&Holder { path: path.clone() }).unwrap();
            assert_eq!(serde_json::from_str::<Holder>(&json).unwrap().path, path);
        }
    }
}
