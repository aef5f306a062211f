//! Signed statements: a client that proves who it is with a key instead of a secret (RFC 7523). Only signing, with the
//! keys that are in use: ES256, ES384 and RS256. Pure but for the random numbers of a signature.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use nika_contract::{ToolError, code};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

use super::secret::{Secret, random};

/// A private key and how it signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningKey {
    /// PKCS#8 in PEM: `-----BEGIN PRIVATE KEY-----`.
    pub pem: Secret,
    /// `ES256`, `ES384` or `RS256`.
    pub algorithm: String,
}

/// How long an assertion holds, in seconds: clocks differ, and it is used at once.
const LIFE_S: u64 = 300;

/// What a client says of itself to the authorization server `audience`.
pub(crate) fn assertion(key: &SigningKey, client: &str, audience: &str, now_s: u64) -> Result<String, ToolError> {
    let claims = json!({
        "iss": client, "sub": client, "aud": audience, "jti": random(),
        "iat": now_s, "exp": now_s + LIFE_S,
    });
    let header = json!({ "alg": key.algorithm, "typ": "JWT" });
    sign(key, &header, &claims)
}

fn sign(key: &SigningKey, header: &Value, claims: &Value) -> Result<String, ToolError> {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(header), part(claims));
    let signature = signature(key, signed.as_bytes())?;
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

fn signature(key: &SigningKey, bytes: &[u8]) -> Result<Vec<u8>, ToolError> {
    let der = der(key.pem.reveal())?;
    let random = SystemRandom::new();
    let unfit = |_| unusable(&format!("it is no key for {}", key.algorithm));
    let failed = |_| unusable("it cannot sign");
    match key.algorithm.as_str() {
        "ES256" | "ES384" => {
            let kind = if key.algorithm == "ES256" {
                &ECDSA_P256_SHA256_FIXED_SIGNING
            } else {
                &ECDSA_P384_SHA384_FIXED_SIGNING
            };
            let pair = EcdsaKeyPair::from_pkcs8(kind, &der, &random).map_err(unfit)?;
            pair.sign(&random, bytes).map(|signature| signature.as_ref().to_vec()).map_err(failed)
        }
        "RS256" => {
            let pair = RsaKeyPair::from_pkcs8(&der).map_err(unfit)?;
            let mut signature = vec![0; pair.public().modulus_len()];
            pair.sign(&RSA_PKCS1_SHA256, &random, bytes, &mut signature).map_err(failed)?;
            Ok(signature)
        }
        other => Err(unusable(&format!("`signing_algorithm` '{other}' is none of ES256, ES384, RS256"))),
    }
}

fn der(pem: &str) -> Result<Vec<u8>, ToolError> {
    let body = pem
        .split_once("-----BEGIN PRIVATE KEY-----")
        .and_then(|(_, rest)| rest.split_once("-----END PRIVATE KEY-----"))
        .map(|(body, _)| body.split_whitespace().collect::<String>())
        .ok_or_else(|| unusable("it does not hold `-----BEGIN PRIVATE KEY-----`"))?;
    STANDARD.decode(body).map_err(|_| unusable("it is no Base64 between its lines"))
}

fn unusable(why: &str) -> ToolError {
    ToolError::new(code::MCP_LOGIN_SETTINGS, format!("the private key of `oauth` cannot be used: {why}"))
        .hint("give a PKCS#8 key in PEM; `openssl pkcs8 -topk8 -nocrypt` makes one of another form")
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, KeyPair, UnparsedPublicKey};

    use super::*;

    fn key() -> (SigningKey, EcdsaKeyPair) {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap();
        let pem =
            format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(document.as_ref()));
        (SigningKey { pem: Secret::new(&pem), algorithm: "ES256".into() }, pair)
    }

    #[test]
    fn an_assertion_verifies_and_says_who_and_for_whom() {
        let (key, pair) = key();
        let text = assertion(&key, "me", "https://auth.example", 1000).unwrap();
        let (signed, signature) = text.rsplit_once('.').unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref())
            .verify(signed.as_bytes(), &signature)
            .unwrap();
        let claims = URL_SAFE_NO_PAD.decode(signed.split_once('.').unwrap().1).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        assert_eq!((&claims["sub"], &claims["aud"]), (&json!("me"), &json!("https://auth.example")));
        assert_eq!(claims["exp"], 1300);
    }

    #[test]
    fn a_key_that_does_not_fit_is_named_without_showing_it() {
        let (mut wrong, _) = key();
        wrong.algorithm = "RS256".into();
        let error = assertion(&wrong, "me", "a", 0).unwrap_err();
        assert_eq!(error.code, code::MCP_LOGIN_SETTINGS);
        assert!(error.message.contains("RS256"), "{error}");
        let none = SigningKey { pem: Secret::new("hunter2"), algorithm: "ES256".into() };
        let error = assertion(&none, "me", "a", 0).unwrap_err();
        assert!(!error.to_string().contains("hunter2"));
    }
}
