//! What configuration says of one server's login. Pure: variables are looked up by whoever reads the configuration.

use nika_contract::{ToolError, code};
use serde::Deserialize;
use serde_json::Value;

use super::jwt::SigningKey;
use super::secret::Secret;

/// How a server's login is made. The default fits a server that registers clients by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The client that was registered with the authorization server beforehand.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<Secret>,
    /// The address of a document about this client, for authorization servers that take such (CIMD).
    pub client_metadata_url: Option<String>,
    /// The authorization server to use, where the server names several or none.
    pub issuer: Option<String>,
    /// Rights to ask for besides what the server wants.
    pub scopes: Vec<String>,
    /// The port that a browser comes back to; a free one when unset.
    pub redirect_port: Option<u16>,
    /// By what right.
    pub grant: Grant,
}

/// By what right a token is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Grant {
    /// A person logs in.
    #[default]
    Person,
    /// The client itself may: a service account. It proves who it is with its secret or this key.
    Client(Option<SigningKey>),
    /// Somebody else vouches: a workload's signed statement (RFC 7523).
    Assertion(Secret),
    /// A company's identity provider vouches (cross-app access): its identity token is exchanged there first.
    Exchange {
        /// Where the identity provider exchanges tokens.
        token_endpoint: String,
        /// This client's name there.
        client_id: String,
        /// The person's identity token.
        id_token: Secret,
    },
}

/// `oauth` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    client_id: Option<String>,
    client_secret_env: Option<String>,
    client_metadata_url: Option<String>,
    issuer: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
    redirect_port: Option<u16>,
    grant: Option<String>,
    private_key_env: Option<String>,
    signing_algorithm: Option<String>,
    assertion_env: Option<String>,
    idp_token_endpoint: Option<String>,
    idp_client_id: Option<String>,
    id_token_env: Option<String>,
}

/// The grants by the names that configuration gives them.
pub const GRANTS: &[&str] = &["authorization_code", "client_credentials", "jwt_bearer", "cross_app"];

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// A port.
    Port,
    /// One of these.
    One(&'static [&'static str]),
}

/// The settings: their names, what they take, what they are for.
pub const OAUTH_KEYS: &[(&str, Takes, &str)] = &[
    ("client_id", Takes::Text, "The client that was registered with the authorization server beforehand."),
    ("client_secret_env", Takes::Text, "The variable that holds its secret."),
    ("client_metadata_url", Takes::Text, "The address of a document about this client, where such are taken."),
    ("issuer", Takes::Text, "The authorization server, where the server names several or none."),
    ("scopes", Takes::Texts, "Rights to ask for besides what the server wants."),
    ("redirect_port", Takes::Port, "The port that the browser comes back to. A free one by default."),
    ("grant", Takes::One(GRANTS), "By what right a token is asked for. By default a person logs in."),
    ("private_key_env", Takes::Text, "client_credentials: the variable that holds a PKCS#8 key in PEM."),
    ("signing_algorithm", Takes::One(&["ES256", "ES384", "RS256"]), "How the key signs. ES256 by default."),
    ("assertion_env", Takes::Text, "jwt_bearer: the variable that holds the signed statement."),
    ("idp_token_endpoint", Takes::Text, "cross_app: where the identity provider exchanges tokens."),
    ("idp_client_id", Takes::Text, "cross_app: this client's name there."),
    ("id_token_env", Takes::Text, "cross_app: the variable that holds the person's identity token."),
];

impl Settings {
    /// Whether anything of it must reach nobody but the right authorization server.
    pub fn has_secret(&self) -> bool {
        self.client_secret.is_some() || self.grant != Grant::Person
    }

    /// Reads the value of `mcp.servers.NAME.oauth`; `variable` looks a variable up. Secrets are named there by their
    /// variables, never written down.
    pub fn read(written: &Value, variable: &dyn Fn(&str) -> Option<String>) -> Result<Settings, ToolError> {
        let written: Written = serde_json::from_value(written.clone()).map_err(|error| wrong(&error.to_string()))?;
        let secret = |name: &Option<String>| match name {
            None => Ok(None),
            Some(name) => variable(name)
                .filter(|text| !text.trim().is_empty())
                .map(|text| Some(Secret::new(&text)))
                .ok_or_else(|| wrong(&format!("the variable {name} is not set"))),
        };
        let needed = |what: &str, value: Option<Secret>| value.ok_or_else(|| wrong(&format!("`{what}` is missing")));
        let grant = match written.grant.as_deref().unwrap_or(GRANTS[0]) {
            "authorization_code" => Grant::Person,
            "client_credentials" => {
                let algorithm = written.signing_algorithm.clone().unwrap_or_else(|| "ES256".into());
                Grant::Client(secret(&written.private_key_env)?.map(|pem| SigningKey { pem, algorithm }))
            }
            "jwt_bearer" => Grant::Assertion(needed("assertion_env", secret(&written.assertion_env)?)?),
            "cross_app" => Grant::Exchange {
                token_endpoint: text("idp_token_endpoint", written.idp_token_endpoint.clone())?,
                client_id: text("idp_client_id", written.idp_client_id.clone())?,
                id_token: needed("id_token_env", secret(&written.id_token_env)?)?,
            },
            other => return Err(wrong(&format!("`grant` '{other}' is none of {}", GRANTS.join(", ")))),
        };
        let client_secret = secret(&written.client_secret_env)?;
        if client_secret.is_some() && written.client_id.is_none() {
            return Err(wrong("`client_secret_env` without `client_id`"));
        }
        if written.client_id.is_none() && !matches!(grant, Grant::Person) {
            return Err(wrong("`client_id` is missing: without a person nobody registers one"));
        }
        Ok(Settings {
            client_id: written.client_id,
            client_secret,
            client_metadata_url: written.client_metadata_url,
            issuer: written.issuer,
            scopes: written.scopes,
            redirect_port: written.redirect_port,
            grant,
        })
    }
}

fn text(what: &str, value: Option<String>) -> Result<String, ToolError> {
    value.ok_or_else(|| wrong(&format!("`{what}` is missing")))
}

fn wrong(why: &str) -> ToolError {
    ToolError::new(code::MCP_LOGIN_SETTINGS, format!("`oauth`: {why}"))
        .hint("`docs/mcp-login.md` shows every setting with an example")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(written: Value) -> Result<Settings, ToolError> {
        Settings::read(&written, &|name| (name == "SET").then(|| "hush\n".to_owned()))
    }

    #[test]
    fn secrets_come_from_variables_and_are_not_printed() {
        let settings = read(json!({ "client_id": "me", "client_secret_env": "SET", "scopes": ["a"] })).unwrap();
        assert_eq!(settings.client_secret.as_ref().unwrap().reveal(), "hush");
        assert!(!format!("{settings:?}").contains("hush"));
        assert!(
            read(json!({ "client_id": "me", "client_secret_env": "UNSET" })).unwrap_err().message.contains("UNSET")
        );
    }

    #[test]
    fn every_setting_that_is_listed_is_read() {
        for (key, takes, _) in OAUTH_KEYS {
            let value = match takes {
                Takes::Text => json!("SET"),
                Takes::Texts => json!(["SET"]),
                Takes::Port => json!(8080),
                Takes::One(values) => json!(values[0]),
            };
            let written = json!({ "client_id": "me", *key: value });
            assert!(read(written).is_ok(), "{key}");
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused_with_the_setting_that_is_missing() {
        for (written, why) in [
            (json!({ "client_secret_env": "SET" }), "`client_id`"),
            (json!({ "grant": "client_credentials" }), "`client_id` is missing"),
            (json!({ "grant": "jwt_bearer", "client_id": "me" }), "`assertion_env`"),
            (json!({ "grant": "cross_app", "client_id": "me", "idp_token_endpoint": "x" }), "`idp_client_id`"),
            (json!({ "grant": "password" }), "authorization_code"),
            (json!({ "client_secret": "in the file" }), "client_secret"),
        ] {
            let error = read(written.clone()).unwrap_err();
            assert_eq!(error.code, code::MCP_LOGIN_SETTINGS);
            assert!(error.message.contains(why), "{written}: {error}");
        }
        assert!(matches!(read(json!({})).unwrap().grant, Grant::Person));
    }
}
