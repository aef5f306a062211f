//! Which texts may name a session or a call: they become file names.

use crate::error::StoreError;

/// Longest name. File names hold 255 bytes; suffixes and people need room too.
pub(crate) const MAX_ID_BYTES: usize = 64;

/// `id`, if it is safe as a file name: letters, digits, `-`, `_`, `.`, not beginning with a dot.
pub(crate) fn check(id: &str) -> Result<&str, StoreError> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    if id.is_empty() || id.len() > MAX_ID_BYTES || id.starts_with('.') || !id.bytes().all(plain) {
        return Err(StoreError::BadId(id.to_owned()));
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names() {
        for good in ["a", "cli", "s-3f2a.1_B", &"x".repeat(64)] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", ".hidden", "a/b", "a\0", "a b", "é", "../x", &"x".repeat(65)] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
