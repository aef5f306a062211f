//! Whether what a change leaves is found to be the text that it is. A file without a mark says by its bytes alone in
//! which encoding it is, so a change can make it be taken for another one, or for no text: after that nobody could read
//! it or take up the edit. Knows nothing of what was changed.

use crate::detect::{Detected, NotTextReason, detect};

/// Why a change would leave what cannot be read back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("what this leaves would be taken for no text: {0}")]
    NotText(NotTextReason),
    #[error("what this leaves would be taken for {found} instead of {encoding}, and show other characters")]
    Other { found: &'static str, encoding: &'static str },
}

/// Refuses bytes that would not be read as the text that they are in `of`.
pub fn reads_back(of: Detected, bytes: &[u8]) -> Result<(), Unreadable> {
    let found = detect(bytes).map_err(|no| Unreadable::NotText(no.reason))?;
    let text = |as_: Detected| as_.encoding.decode(bytes.get(as_.bom..).unwrap_or_default());
    if found == of || text(found) == text(of) {
        return Ok(());
    }
    Err(Unreadable::Other { found: found.encoding.name(), encoding: of.encoding.name() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Encoding;

    #[test]
    fn what_would_be_taken_for_something_else_is_refused() {
        let plain = |encoding| Detected { encoding, bom: 0 };
        let latin = plain(Encoding::Legacy(encoding_rs::WINDOWS_1252));
        let wide = plain(Encoding::Utf16Le);
        assert_eq!(reads_back(latin, b"caf\xe9\n"), Ok(()));
        assert_eq!(reads_back(latin, b"cafe\n"), Ok(()), "the same text in both");
        assert!(matches!(reads_back(latin, b"caf\xe9\x01\n"), Err(Unreadable::NotText(_))));
        assert!(matches!(reads_back(latin, "café".as_bytes()), Err(Unreadable::Other { found: "UTF-8", .. })));
        let bytes = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        assert_eq!(reads_back(wide, &bytes("a ─\n")), Ok(()));
        assert!(reads_back(wide, &bytes("──────")).is_err());
    }
}
