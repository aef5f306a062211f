//! Which names say that their value is a secret.

/// How sure a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strength {
    /// Whatever stands there is a secret.
    Strong,
    /// It is one when it looks random.
    Weak,
}

/// Ends of names, without case and separators: `X-Api-Key`, `apiKey` and `API_KEY` are `apikey`.
/// `tokens` is not here: `max_tokens` counts.
const STRONG: &[&str] = &[
    "accesskey",
    "accountkey",
    "apikey",
    "authorization",
    "authkey",
    "connectionstring",
    "cookie",
    "credential",
    "credentials",
    "encryptionkey",
    "jwt",
    "masterkey",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "sharedkey",
    "signingkey",
    "token",
];

/// Last words of names.
const WEAK: &[&str] = &["auth", "key", "pass", "pat", "pwd", "sas", "sig", "signature"];

/// Longest name that is looked at: beyond, it is no name.
const MAX_NAME_BYTES: usize = 64;

/// What `name` says of its value; `None` for an ordinary name.
pub(super) fn strength(name: &str) -> Option<Strength> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let mut plain = [0; MAX_NAME_BYTES];
    let mut len = 0;
    let mut last_word = 0;
    let mut before = b'_';
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() {
            if !before.is_ascii_alphanumeric() || before.is_ascii_lowercase() && byte.is_ascii_uppercase() {
                last_word = len;
            }
            plain[len] = byte.to_ascii_lowercase();
            len += 1;
        }
        before = byte;
    }
    let plain = &plain[..len];
    if STRONG.iter().any(|end| plain.ends_with(end.as_bytes())) {
        Some(Strength::Strong)
    } else if WEAK.iter().any(|word| &plain[last_word..] == word.as_bytes()) {
        Some(Strength::Weak)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for strong in [
            "password",
            "db_password",
            "PGPASSWORD",
            "Passwd",
            "api_key",
            "apiKey",
            "X-Api-Key",
            "AWS_SECRET_ACCESS_KEY",
            "aws_session_token",
            "Authorization",
            "Proxy-Authorization",
            "clientSecret",
            "Set-Cookie",
            "GITHUB_TOKEN",
            "access.token",
            "private-key",
            "AccountKey",
        ] {
            assert_eq!(strength(strong), Some(Strength::Strong), "{strong}");
        }
        for weak in ["key", "cacheKey", "AUTH", "db_pwd", "sig"] {
            assert_eq!(strength(weak), Some(Strength::Weak), "{weak}");
        }
        for plain in [
            "max_tokens",
            "token_count",
            "tokenizer",
            "author",
            "keyword",
            "monkey",
            "path",
            "cookies_enabled",
            "compass",
            "secretary",
            "",
            "-",
            "design",
        ] {
            assert_eq!(strength(plain), None, "{plain}");
        }
    }
}
