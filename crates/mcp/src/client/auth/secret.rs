//! Values that nobody may guess or see: secrets that cannot be printed, PKCE verifiers, states.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A secret. It cannot be printed; serde writes it, for the one file that holds it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Takes a secret as it was set; the line end of a file it may have come from is no part of it.
    pub fn new(text: &str) -> Secret {
        Secret(text.trim().to_owned())
    }

    /// The text itself: for a header, a form or a signature, nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// 32 random bytes as text that fits an address.
pub(crate) fn random() -> String {
    let mut bytes = [0u8; 32];
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty()) {
            Ok(more) => filled += more,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => unreachable!("getrandom of 32 bytes cannot fail on Linux: {error}"),
        }
    }
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The S256 challenge of a verifier (RFC 7636).
pub(crate) fn s256(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_the_one_of_the_rfc() {
        assert_eq!(s256("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn verifiers_are_long_and_differ_and_secrets_do_not_print() {
        let (one, other) = (random(), random());
        assert!(one.len() >= 43 && one != other);
        assert_eq!(format!("{:?}", Secret::new("hush\n")), "Secret(…)");
        assert_eq!(Secret::new("hush\n").reveal(), "hush");
    }
}
