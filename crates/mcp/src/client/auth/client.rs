//! Who we are to an authorization server: a client that was registered beforehand, the address of a document about us,
//! or a registration made now (RFC 7591), in this order.

use nika_contract::{ToolError, code};
use serde::Deserialize;
use serde_json::json;

use super::address::{parse, shown};
use super::fetch::{Basic, Fetch, Fetched};
use super::jwt::{self, SigningKey};
use super::metadata::Issuer;
use super::secret::Secret;
use super::settings::{Grant, Settings};
use super::vault::{Client, Proof};

/// Proofs by the names of the registry, the one that is preferred first.
const PROOFS: &[(&str, Proof)] =
    &[("client_secret_basic", Proof::Basic), ("client_secret_post", Proof::Post), ("none", Proof::Nothing)];

/// The client to use at `issuer`. `known` is one that was registered there before; `redirect` is where a browser would
/// come back to.
pub(crate) async fn client(
    fetch: &Fetch,
    issuer: &Issuer,
    settings: &Settings,
    known: Option<Client>,
    redirect: &str,
) -> Result<Client, ToolError> {
    if let Some(id) = &settings.client_id {
        return Ok(configured(id, settings, issuer));
    }
    if let Some(document) = settings.client_metadata_url.as_ref().filter(|_| issuer.documents) {
        parse(document, "`oauth.client_metadata_url`")?;
        return Ok(Client {
            id: document.clone(),
            secret: None,
            proof: Proof::Nothing,
            redirect: None,
            registered: false,
        });
    }
    if let Some(known) = known.filter(|known| known.registered && known.redirect.as_deref() == Some(redirect)) {
        return Ok(known);
    }
    register(fetch, issuer, redirect).await
}

fn configured(id: &str, settings: &Settings, issuer: &Issuer) -> Client {
    let proof = match (&settings.grant, &settings.client_secret) {
        (Grant::Client(Some(_)), _) => Proof::Key,
        (_, None) => Proof::Nothing,
        // A secret that was configured is used, whatever is said of clients without one.
        (_, Some(_)) => match preferred(&issuer.methods) {
            Some(Proof::Post) => Proof::Post,
            _ => Proof::Basic,
        },
    };
    Client { id: id.to_owned(), secret: None, proof, redirect: None, registered: false }
}

/// The best proof among those offered. An authorization server that says nothing takes the header (RFC 8414).
fn preferred(offered: &[String]) -> Option<Proof> {
    PROOFS.iter().find(|(name, _)| offered.iter().any(|offer| offer == name)).map(|(_, proof)| *proof)
}

#[derive(Deserialize)]
struct Registered {
    client_id: Option<String>,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
}

async fn register(fetch: &Fetch, issuer: &Issuer, redirect: &str) -> Result<Client, ToolError> {
    let refused = |why: &str| {
        let message = format!("'{}' {why}", shown(&issuer.issuer));
        ToolError::new(code::MCP_LOGIN_REGISTRATION, message).hint(
            "register Nika there by hand, and put what you get into `oauth.client_id` (and `client_secret_env`) of the \
             server in the configuration",
        )
    };
    let place = issuer.register.as_ref().ok_or_else(|| refused("does not register clients by itself"))?;
    // A program on a person's machine keeps no secret from that person: none is asked for where that is taken.
    let public = issuer.methods.is_empty() || issuer.methods.iter().any(|method| method == "none");
    let wanted = if public { "none" } else { name(preferred(&issuer.methods).unwrap_or(Proof::Basic)) };
    let request = json!({
        "client_name": "Nika",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted,
        "application_type": "native",
    });
    let answer = fetch.json(place, &request).await?;
    if !answer.status.is_success() {
        return Err(refused(&format!("does not register Nika: {}", said(&answer))));
    }
    let registered: Option<Registered> = answer.json().and_then(|json| serde_json::from_value(json).ok());
    let registered = registered.ok_or_else(|| refused("registered something that cannot be read"))?;
    let id = registered
        .client_id
        .filter(|id| !id.is_empty())
        .ok_or_else(|| refused("registered a client without a name"))?;
    let secret = registered.client_secret.filter(|secret| !secret.is_empty()).map(|secret| Secret::new(&secret));
    let given = registered.token_endpoint_auth_method.as_deref().unwrap_or(wanted);
    let proof = PROOFS
        .iter()
        .find(|(name, _)| *name == given)
        .map(|(_, proof)| *proof)
        .ok_or_else(|| refused(&format!("wants clients to prove themselves by '{}'", shown(given))))?;
    if proof != Proof::Nothing && secret.is_none() {
        return Err(refused("registered a client that needs a secret, and gave none"));
    }
    Ok(Client { id, secret, proof, redirect: Some(redirect.to_owned()), registered: true })
}

fn name(proof: Proof) -> &'static str {
    PROOFS.iter().find(|(_, known)| *known == proof).map_or("none", |(name, _)| name)
}

/// Sends a form to a token endpoint as this client.
pub(crate) async fn send(
    fetch: &Fetch,
    token_endpoint: &reqwest::Url,
    client: &Client,
    settings: &Settings,
    audience: &str,
    now_s: u64,
    mut form: Vec<(&str, String)>,
) -> Result<Fetched, ToolError> {
    let secret = client.secret.as_ref().or(settings.client_secret.as_ref());
    let missing = || {
        ToolError::new(code::MCP_LOGIN_SETTINGS, format!("the secret of the client '{}' is not set", shown(&client.id)))
            .hint("set the variable that `oauth.client_secret_env` names, or log in again")
    };
    match client.proof {
        Proof::Basic => {
            let secret = secret.ok_or_else(missing)?;
            let basic = Basic { id: &client.id, secret: secret.reveal() };
            fetch.form(token_endpoint, &form, Some(basic)).await
        }
        Proof::Post => {
            form.push(("client_id", client.id.clone()));
            form.push(("client_secret", secret.ok_or_else(missing)?.reveal().to_owned()));
            fetch.form(token_endpoint, &form, None).await
        }
        Proof::Nothing => {
            form.push(("client_id", client.id.clone()));
            fetch.form(token_endpoint, &form, None).await
        }
        Proof::Key => {
            let key: &SigningKey = match &settings.grant {
                Grant::Client(Some(key)) => key,
                _ => return Err(missing()),
            };
            form.push(("client_id", client.id.clone()));
            form.push(("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer".into()));
            form.push(("client_assertion", jwt::assertion(key, &client.id, audience, now_s)?));
            fetch.form(token_endpoint, &form, None).await
        }
    }
}

/// What a refusal says, in the server's words.
pub(crate) fn said(answer: &Fetched) -> String {
    let json = answer.json().unwrap_or_default();
    let word = |name: &str| json[name].as_str().map(shown).filter(|text| !text.is_empty());
    match (word("error"), word("error_description")) {
        (Some(error), Some(more)) => format!("{error}: {more}"),
        (Some(error), None) => error,
        _ => answer.status.to_string(),
    }
}
