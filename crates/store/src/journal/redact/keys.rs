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
    "dbpass",
    "dbpwd",
    "encryptionkey",
    "jwt",
    "masterkey",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "recoveryphrase",
    "secret",
    "secretkey",
    "seedphrase",
    "sharedkey",
    "signingkey",
    "smtppass",
    "token",
    "userpass",
];

/// Last words of names.
const WEAK: &[&str] = &["auth", "key", "pass", "pat", "pwd", "sas", "sig", "signature"];

/// Last words that are sure where a name has several, all in capitals: `MYSQL_PWD`.
const STRONG_IN_CAPITALS: &[&str] = &["pass", "pat", "pwd"];

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
    let word = &plain[last_word..];
    let shouted = || last_word > 0 && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    if STRONG.iter().any(|end| plain.ends_with(end.as_bytes()))
        || STRONG_IN_CAPITALS.iter().any(|end| word == end.as_bytes()) && shouted()
        // As npm has it.
        || name == "_auth"
    {
        Some(Strength::Strong)
    } else if WEAK.iter().any(|end| word == end.as_bytes()) {
        Some(Strength::Weak)
    } else {
        None
    }
}

/// `?sig=…`: nobody signs an address but to let somebody in.
pub(super) fn is_sure_in_query(name: &str) -> bool {
    let ends = ["sig", "signature", "sas", "pass", "pwd"];
    ends.iter().any(|end| {
        let word = name.rsplit(['-', '_', '.']).next().unwrap_or_default();
        word.eq_ignore_ascii_case(end)
    })
}

/// `PASS=… ./run`
pub(super) fn is_sure_in_shell(name: &str) -> bool {
    matches!(name, "PASS" | "PAT")
}

/// `passphrase: correct horse battery staple`
pub(super) fn is_of_words(name: &str) -> bool {
    name.len() >= 6 && name.as_bytes()[name.len() - 6..].eq_ignore_ascii_case(b"phrase")
}

/// A directory, or a pattern: what the short names stand for elsewhere.
pub(super) fn is_no_secret(name: &str, text: &[u8]) -> bool {
    let name = name.as_bytes();
    let ends = |end: &[u8]| name.len() >= end.len() && name[name.len() - end.len()..].eq_ignore_ascii_case(end);
    let is_path = || [&b"/"[..], b"~/", b"./", b"../"].iter().any(|start| text.starts_with(start));
    ends(b"pwd") && is_path() || ends(b"_pat") && text.iter().any(|b| b"*?^|\\([".contains(b))
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
            "db_pwd",
            "MYSQL_PWD",
            "SMTP_PASS",
            "AZURE_DEVOPS_EXT_PAT",
            "dbPass",
            "_auth",
            "_authToken",
        ] {
            assert_eq!(strength(strong), Some(Strength::Strong), "{strong}");
        }
        for weak in ["key", "cacheKey", "AUTH", "sig", "PWD", "PASS", "first_pass"] {
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
            "OLDPWD",
            "BYPASS",
            "passwordless",
            "password-file",
            "TOOL_PATH",
        ] {
            assert_eq!(strength(plain), None, "{plain}");
        }
    }
}
