//! A path in JSON: a string, or `{"hex": "…"}` where its bytes are no UTF-8. For `#[serde(with = "text")]`.

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

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => {
            let hex = path.as_os_str().as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            Form::Bytes { hex }.serialize(serializer)
        }
    }
}

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
