//! What a protected resource and an authorization server say of themselves, and whether that is enough. Pure.

use nika_contract::{ToolError, code};
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

use super::address::{canonical, covers, named, same_issuer, shown};

/// A protected resource: the MCP server (RFC 9728).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resource {
    /// As it names itself, letter by letter: what tokens are asked for.
    pub resource: String,
    pub issuers: Vec<String>,
    pub scopes: Vec<String>,
}

/// An authorization server (RFC 8414, RFC 9207, OpenID Connect discovery).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Issuer {
    /// As it names itself, letter by letter: what an answer is compared with.
    pub issuer: String,
    pub authorize: Option<Url>,
    pub token: Url,
    pub register: Option<Url>,
    pub scopes: Vec<String>,
    /// How clients say who they are at the token end point; empty where it does not say.
    pub methods: Vec<String>,
    /// Whether PKCE with S256 is among what it does.
    pub s256: bool,
    /// Whether its answers name it.
    pub names_itself: bool,
    /// Whether a client may be the address of a document about it.
    pub documents: bool,
}

#[derive(Deserialize)]
struct RawResource {
    resource: Option<String>,
    #[serde(default)]
    authorization_servers: Option<Vec<String>>,
    #[serde(default)]
    scopes_supported: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct RawIssuer {
    issuer: Option<String>,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    registration_endpoint: Option<String>,
    scopes_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
    client_id_metadata_document_supported: Option<bool>,
}

impl Resource {
    /// Reads the document at `from`, which `server` has to be covered by.
    pub(crate) fn read(document: Value, from: &Url, server: &Url) -> Result<Resource, ToolError> {
        let raw: RawResource = serde_json::from_value(document).map_err(|error| malformed(from, &error.to_string()))?;
        let resource = raw.resource.ok_or_else(|| malformed(from, "`resource` is missing"))?;
        if !covers(&resource, server) {
            let (server, says) = (canonical(server), shown(&resource));
            let message = format!("'{server}' says it is '{says}': a token would be for another server");
            return Err(ToolError::new(code::MCP_LOGIN_RESOURCE, message)
                .hint("compare the server's `url` in the configuration with what its operator publishes"));
        }
        let issuers = raw.authorization_servers.unwrap_or_default();
        Ok(Resource { resource, issuers, scopes: raw.scopes_supported.unwrap_or_default() })
    }
}

impl Issuer {
    /// Reads the document at `from`, which has to speak of `issuer`.
    pub(crate) fn read(document: Value, from: &Url, issuer: &str, server: &Url) -> Result<Issuer, ToolError> {
        let raw: RawIssuer = serde_json::from_value(document).map_err(|error| malformed(from, &error.to_string()))?;
        let says = raw.issuer.ok_or_else(|| malformed(from, "`issuer` is missing"))?;
        if !same_issuer(&says, issuer) {
            let (from, says, asked) = (canonical(from), shown(&says), shown(issuer));
            let message = format!("the metadata at '{from}' are of '{says}', not of '{asked}'");
            return Err(ToolError::new(code::MCP_LOGIN_UNSAFE, message)
                .hint("somebody may want a login to end at the wrong place: tell the server's operator"));
        }
        let place = |text: Option<String>, what: &str| text.map(|text| named(&text, what, server)).transpose();
        let token = place(raw.token_endpoint, "the token endpoint")?;
        Ok(Issuer {
            issuer: says,
            authorize: place(raw.authorization_endpoint, "the authorization endpoint")?,
            token: token.ok_or_else(|| malformed(from, "`token_endpoint` is missing"))?,
            register: place(raw.registration_endpoint, "the registration endpoint")?,
            scopes: raw.scopes_supported.unwrap_or_default(),
            methods: raw.token_endpoint_auth_methods_supported.unwrap_or_default(),
            s256: raw.code_challenge_methods_supported.is_some_and(|known| known.iter().any(|name| name == "S256")),
            names_itself: raw.authorization_response_iss_parameter_supported.unwrap_or(false),
            documents: raw.client_id_metadata_document_supported.unwrap_or(false),
        })
    }

    /// Where a person logs in; an error where that would not be safe.
    pub(crate) fn login_page(&self) -> Result<&Url, ToolError> {
        if !self.s256 {
            let message =
                format!("'{}' does not offer PKCE with S256, so a stolen code would be enough", shown(&self.issuer));
            return Err(ToolError::new(code::MCP_LOGIN_UNSAFE, message).hint(
                "its operator has to list `S256` in `code_challenge_methods_supported`; no login is made without it",
            ));
        }
        self.authorize.as_ref().ok_or_else(|| {
            let message = format!("'{}' names no authorization endpoint", shown(&self.issuer));
            ToolError::new(code::MCP_LOGIN_UNDISCOVERED, message)
                .hint("where no person logs in, set `oauth.grant` for the server in the configuration")
        })
    }
}

fn malformed(from: &Url, why: &str) -> ToolError {
    let message = format!("the metadata at '{}' cannot be used: {}", canonical(from), shown(why));
    ToolError::new(code::MCP_LOGIN_UNDISCOVERED, message).hint("tell the server's operator")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn at(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn issuer(more: Value) -> Result<Issuer, ToolError> {
        let mut document = json!({
            "issuer": "https://auth.example",
            "authorization_endpoint": "https://auth.example/authorize",
            "token_endpoint": "https://auth.example/token",
            "code_challenge_methods_supported": ["plain", "S256"],
        });
        for (name, value) in more.as_object().unwrap() {
            document[name] = value.clone();
        }
        Issuer::read(document, &at("https://auth.example/m"), "https://auth.example", &at("https://mcp.example/mcp"))
    }

    #[test]
    fn a_server_that_lacks_s256_is_refused_before_anybody_is_sent_there() {
        assert!(issuer(json!({})).unwrap().login_page().is_ok());
        for methods in [json!(null), json!([]), json!(["plain"])] {
            let error = issuer(json!({ "code_challenge_methods_supported": methods })).unwrap();
            assert_eq!(error.login_page().unwrap_err().code, code::MCP_LOGIN_UNSAFE);
        }
    }

    #[test]
    fn a_document_speaks_of_whom_it_was_asked_for() {
        assert_eq!(issuer(json!({ "issuer": "https://evil.example" })).unwrap_err().code, code::MCP_LOGIN_UNSAFE);
        assert_eq!(issuer(json!({ "issuer": 7 })).unwrap_err().code, code::MCP_LOGIN_UNDISCOVERED);
        let plain = issuer(json!({ "token_endpoint": "http://auth.example/token" })).unwrap_err();
        assert_eq!(plain.code, code::MCP_LOGIN_ADDRESS);
    }

    #[test]
    fn a_resource_is_kept_as_it_is_written_and_has_to_be_the_server() {
        let read = |resource: &str| {
            let document = json!({ "resource": resource, "authorization_servers": ["https://auth.example"] });
            Resource::read(document, &at("https://mcp.example/m"), &at("https://mcp.example/mcp"))
        };
        assert_eq!(read("https://mcp.example").unwrap().resource, "https://mcp.example");
        assert_eq!(read("https://evil.example/mcp").unwrap_err().code, code::MCP_LOGIN_RESOURCE);
    }

    #[test]
    fn a_key_in_the_servers_address_is_in_no_error() {
        let (from, server) = (at("https://mcp.example/m?key=hush"), at("https://mcp.example/mcp?key=hush"));
        for document in [json!({"resource": "https://evil.example/mcp"}), json!({"resource": 7}), json!({})] {
            let error = Resource::read(document, &from, &server).unwrap_err().to_string();
            assert!(error.contains("https://mcp.example/") && !error.contains("hush"), "{error}");
        }
    }
}
