//! Addresses of OpenSSL: where it reads a certificate or a key it takes the address of a store, too.
//!
//! What stands before the first colon names what opens the store: `org.openssl.engine:LIBRARY:KEY` loads a library by its
//! place, and what `pkcs11:` and `winstore:` load is configured elsewhere. That of a `file:` is judged by its path.

use super::super::judge::{Judge, Word};
use super::spec::{Parsed, is_file_here};

/// Options that name what is read.
const READ: &str = "in key CAfile untrusted trusted CRLfile";

/// Asks about every file that may be an address. All verbs alike, as versions differ in which of them open a store.
pub(super) fn addresses(parsed: &Parsed, judge: &mut Judge<'_>) {
    // Operands of the others are no certificates, but ciphers (`ALL:!aNULL`), numbers and plain files.
    let certificates = match parsed.path.get(1).map(String::as_str) {
        Some("verify") => parsed.operands.as_slice(),
        _ => &[],
    };
    for file in parsed.values(READ).chain(certificates).filter(|file| may_be_one(&file.word)) {
        match is_file_here(file) {
            true => judge.code("the name of a file here may be an address of OpenSSL"),
            false => judge.opaque("OpenSSL loads what opens an address, which may be a library"),
        }
    }
}

/// Whether something else than a file stands before the first colon. A `file:` names its host or none: with one it is taken
/// for a path that is not the one that is read.
fn is_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let of_host = rest.strip_prefix("//").is_some_and(|path| !path.starts_with('/'));
    is_scheme(scheme) && (scheme != "file" || of_host)
}

fn is_scheme(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
}

/// Whether a word that is not known to its end may be one. A name that a pattern finds without a slash names no library by
/// its place.
fn may_be_one(word: &Word) -> bool {
    match word {
        Word::Exact(text) => is_address(text),
        Word::Glob { pattern, prefix } => is_address(prefix) || pattern.contains('/') && begins_one(prefix),
        Word::Opaque { prefix, .. } => begins_one(prefix),
        Word::OneOf(words) => words.iter().any(may_be_one),
    }
}

fn begins_one(known: &str) -> bool {
    if known.contains(':') { is_address(known) } else { is_scheme(known) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_harmless, none_harmless};

    #[test]
    fn an_address_is_no_file() {
        none_harmless(&[
            "openssl x509 -noout -in org.openssl.engine:/w/repo/a.so:k",
            "openssl verify -CAfile ca.crt PKCS11:object=x",
            "openssl x509 -noout -in=*/a.pem",
            "openssl x509 -noout -in=org.openssl.engine:*",
            "openssl x509 -noout -in FILE:a.crt",
            "openssl x509 -noout -in file://localhost/etc/ssl/private/a.pem",
        ]);
        all_harmless(&[
            "openssl x509 -noout -in ./a:b.crt",
            "openssl x509 -noout -in certs/a:b.crt",
            "openssl x509 -noout -in file:a.crt",
            "openssl verify -CAfile ca.crt a.crt",
        ]);
    }
}
