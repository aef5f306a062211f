//! What a token endpoint answers, and what of it is taken. Pure.

use nika_contract::{ToolError, code};
use serde_json::Value;

use super::address::shown;
use super::challenge::scopes;
use super::client::said;
use super::fetch::Fetched;
use super::secret::Secret;

/// A token and what came with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub access: Secret,
    pub refresh: Option<Secret>,
    /// Seconds from now.
    pub lasts_s: Option<u64>,
    /// `None` where it does not say: then what was asked for was given.
    pub scopes: Option<Vec<String>>,
}

/// Why there is no token.
#[derive(Debug)]
pub(crate) enum Refused {
    /// What was presented (a code, a refresh token, an assertion) is good no more.
    Spent(ToolError),
    /// Anything else.
    Otherwise(ToolError),
}

impl Refused {
    pub fn error(self) -> ToolError {
        match self {
            Refused::Spent(error) | Refused::Otherwise(error) => error,
        }
    }
}

/// The longest token taken: it travels in a header.
const MAX_TOKEN: usize = 16 << 10;

/// Reads the answer of `issuer`.
pub(crate) fn read(answer: &Fetched, issuer: &str) -> Result<Given, Refused> {
    let json = answer.json();
    if !answer.status.is_success() {
        let error =
            ToolError::new(code::MCP_LOGIN_REFUSED, format!("'{}' gives no token: {}", shown(issuer), said(answer)))
                .hint("log in again; where that does not help, look at the `oauth` settings of the server");
        let spent = json.is_some_and(|json| json["error"] == "invalid_grant");
        return Err(if spent { Refused::Spent(error) } else { Refused::Otherwise(error) });
    }
    let unusable = |why: &str| {
        let message = format!("the token that '{}' gave cannot be used: {why}", shown(issuer));
        Refused::Otherwise(ToolError::new(code::MCP_LOGIN_TOKEN, message).hint("tell the operator of that server"))
    };
    let json = json.ok_or_else(|| unusable("the answer is no JSON"))?;
    let text = |name: &str| json[name].as_str().filter(|text| !text.is_empty());
    match text("token_type") {
        Some(kind) if kind.eq_ignore_ascii_case("bearer") => {}
        Some(kind) => return Err(unusable(&format!("its type is '{}', and only `Bearer` is known", shown(kind)))),
        None => return Err(unusable("its type is missing")),
    }
    let access = text("access_token").ok_or_else(|| unusable("it is missing"))?;
    // Into a header goes nothing that could end it.
    if access.len() > MAX_TOKEN || !access.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(unusable("it does not fit a header"));
    }
    let lasts_s = match &json["expires_in"] {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().map(|seconds| seconds.max(0.0) as u64)),
        // Against the specification, and in use.
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    Ok(Given {
        access: Secret::new(access),
        refresh: text("refresh_token").map(Secret::new),
        lasts_s,
        scopes: json["scope"].as_str().map(scopes),
    })
}
