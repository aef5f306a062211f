//! Who may come in.

use std::hint::black_box;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

/// Checks tokens.
pub(crate) struct Door {
    /// Of the token. Comparing digests takes the same time wherever they first differ, and says
    /// nothing of the token's length.
    digest: Option<[u8; 32]>,
    caller: Arc<str>,
}

impl Door {
    pub(crate) fn new(token: Option<&str>) -> Door {
        let digest = token.map(digest);
        // Only half of the digest: it names the caller in records and must not open the door.
        let caller = match &digest {
            Some(digest) => digest[..16].iter().map(|byte| format!("{byte:02x}")).collect(),
            None => "anybody".to_owned(),
        };
        Door { digest, caller: caller.into() }
    }

    /// Who comes in here: what session handles are bound to.
    pub(crate) fn caller(&self) -> &Arc<str> {
        &self.caller
    }

    fn opens(&self, headers: &HeaderMap) -> bool {
        let Some(want) = &self.digest else { return true };
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return false };
        let Some((scheme, token)) = value.to_str().ok().and_then(|value| value.split_once(' ')) else { return false };
        if !scheme.eq_ignore_ascii_case("bearer") {
            return false;
        }
        let got = digest(token.trim());
        let differs = want.iter().zip(&got).fold(0u8, |differs, (a, b)| black_box(differs | (a ^ b)));
        differs == 0
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Lets a request in, or says what it lacks.
pub(crate) async fn enter(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    if door.opens(request.headers()) {
        return next.run(request).await;
    }
    // One request a connection: who has no token holds none.
    let challenge = [(header::WWW_AUTHENTICATE, r#"Bearer realm="nika""#), (header::CONNECTION, "close")];
    let body = "Send the token that `nika serve --http` printed, as `Authorization: Bearer TOKEN`.\n";
    (StatusCode::UNAUTHORIZED, challenge, body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_opens() {
        let door = Door::new(Some("secret"));
        for (value, want) in [
            ("Bearer secret", true),
            ("bearer secret", true),
            ("Bearer secre", false),
            ("Bearer secretx", false),
            ("Basic secret", false),
            ("secret", false),
            ("Bearer ", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, value.parse().expect("a header"));
            assert_eq!(door.opens(&headers), want, "{value:?}");
            headers.append(header::AUTHORIZATION, "Bearer secret".parse().expect("a header"));
            assert!(!door.opens(&headers), "two of them");
        }
        assert!(!door.opens(&HeaderMap::new()));
        assert!(Door::new(None).opens(&HeaderMap::new()));
        assert!(!door.caller().contains("secret"));
    }
}
