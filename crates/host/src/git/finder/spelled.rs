//! Whether a file of settings has a text in it, however that is spelled: a key of TOML, JSON or YAML may be written with
//! escapes (`"p\u0061th"`), and one of an ini file in capitals.

/// Whether `bytes` have `text` in them, as they stand or without their escapes.
pub(super) fn says(bytes: &[u8], text: &str) -> bool {
    let has = |bytes: &[u8]| bytes.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text.as_bytes()));
    has(bytes) || bytes.contains(&b'\\') && has(&plain(bytes))
}

/// The same with `\xXX`, `\uXXXX` and `\UXXXXXXXX` as the characters that they mean, and lines joined that end in a backslash.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((byte, behind)) = rest.split_first() {
        let digits = match (byte, behind.first()) {
            (b'\\', Some(b'x')) => 2,
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            (b'\\', Some(b'\r' | b'\n')) => {
                rest = behind.trim_ascii_start();
                continue;
            }
            _ => 0,
        };
        let code = behind.get(1..=digits).and_then(|code| std::str::from_utf8(code).ok());
        let meant = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        if let Some(meant) = meant {
            out.extend(meant.encode_utf8(&mut [0; 4]).as_bytes());
            rest = behind.get(1 + digits..).unwrap_or_default();
        } else {
            out.push(*byte);
            rest = behind;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::says;

    #[test]
    fn a_key_is_seen_however_it_is_spelled() {
        for text in [
            "path = 1",
            r#""p\u0061th" = 1"#,
            r#""\U00000070ath" = 1"#,
            r#"{"p\u0061\u0074h": 1}"#,
            r#""\x70ath": 1"#,
            "PATH = 1",
            r#""P\u0041TH": 1"#,
            "? \"pa\\\n   th\"\n: 1",
            "? \"pa\\\r\n th\"\n: 1",
        ] {
            assert!(says(text.as_bytes(), "path"), "{text}");
        }
        for text in ["", "pa th", r"p\u0062th", r"p\u006", r"p\uD861th", r"\", r"p\xzzth", "p\u{430}th"] {
            assert!(!says(text.as_bytes(), "path"), "{text}");
        }
    }
}
