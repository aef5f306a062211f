//! Finds out how one logs in to a server: what the server says of itself, then what its authorization server says.
//! Every host is judged before it is asked.

use nika_contract::{ToolError, code};
use reqwest::Url;

use super::address::{at_root, canonical, issuer_metadata, named, resource_metadata, same_issuer, shown};
use super::challenge::Challenge;
use super::fetch::Fetch;
use super::metadata::{Issuer, Resource};
use super::settings::Settings;

/// Says whether a host may be asked; an error says why not.
pub type Judge<'a> = &'a (dyn Fn(&str) -> Result<(), ToolError> + Send + Sync);

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// What tokens are asked for.
    pub resource: String,
    /// The rights that the server says it has.
    pub scopes: Vec<String>,
    pub issuer: Issuer,
}

/// Which authorization server a login may be made at: a server that fell into other hands would name one of theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor<'a> {
    /// The one of the configuration.
    Configured(&'a str),
    /// The one of the login that is kept.
    Earlier(&'a str),
    /// Whichever the server names: nothing of ours goes there, or a person has asked for this very login.
    Any,
    /// None, before somebody says which: a secret of the configuration would go there.
    Unsaid,
}

/// Asks the server, then its authorization server. `name` is the server's in configuration.
pub(crate) async fn discover(
    fetch: &Fetch,
    name: &str,
    server: &Url,
    anchor: Anchor<'_>,
    challenge: &Challenge,
    judge: Judge<'_>,
) -> Result<Found, ToolError> {
    let resource = resource(fetch, server, challenge, judge).await?;
    let (resource, scopes, issuers) = match resource {
        Some(resource) => (resource.resource, resource.scopes, resource.issuers),
        None => (canonical(server), Vec::new(), Vec::new()),
    };
    let chosen = choose(name, anchor, &issuers, server)?;
    if let Some(chosen) = chosen {
        let issuer = issuer(fetch, &chosen, server, judge).await?.ok_or_else(|| {
            let message = format!("the authorization server '{}' publishes no metadata", shown(&chosen));
            ToolError::new(code::MCP_LOGIN_UNDISCOVERED, message)
                .hint("look at the address; another one can be set as `oauth.issuer` for the server")
        })?;
        return Ok(Found { resource, scopes, issuer });
    }
    // Before 2025-06-18 a server was its own authorization server, at the root of its host.
    let origin = canonical(&at_root(server, "/"));
    if let Some(issuer) = issuer(fetch, &origin, server, judge).await? {
        return Ok(Found { resource, scopes, issuer });
    }
    let issuer = Issuer {
        issuer: origin,
        authorize: Some(at_root(server, "/authorize")),
        token: at_root(server, "/token"),
        register: Some(at_root(server, "/register")),
        scopes: Vec::new(),
        methods: Vec::new(),
        // That revision demands PKCE of its servers; nothing is published that could say so.
        s256: true,
        names_itself: false,
        documents: false,
    };
    Ok(Found { resource, scopes, issuer })
}

/// The authorization server: the one that is held to, where the server does not contradict; else the first. `None` where
/// the server is its own, at the root of its host.
fn choose(name: &str, anchor: Anchor<'_>, issuers: &[String], server: &Url) -> Result<Option<String>, ToolError> {
    let own = canonical(&at_root(server, "/"));
    let named = issuers.first().unwrap_or(&own);
    let all = || {
        let listed: Vec<String> = issuers.iter().map(|issuer| format!("'{}'", shown(issuer))).collect();
        if listed.is_empty() { format!("'{own}'") } else { listed.join(", ") }
    };
    match anchor {
        Anchor::Any => Ok(issuers.first().cloned()),
        Anchor::Configured(wanted) if issuers.is_empty() => Ok(Some(wanted.to_owned())),
        Anchor::Configured(wanted) => match issuers.iter().find(|issuer| same_issuer(issuer, wanted)) {
            Some(issuer) => Ok(Some(issuer.clone())),
            None => {
                let (server, wanted) = (canonical(server), shown(wanted));
                let message = format!("'{server}' takes no tokens of '{wanted}'; it names {}", all());
                Err(ToolError::new(code::MCP_LOGIN_RESOURCE, message).hint("correct `oauth.issuer`, or leave it out"))
            }
        },
        Anchor::Earlier(known) if issuers.is_empty() && same_issuer(known, &own) => Ok(None),
        Anchor::Earlier(known) => match issuers.iter().find(|issuer| same_issuer(issuer, known)) {
            Some(issuer) => Ok(Some(issuer.clone())),
            None => {
                let message = format!(
                    "the login to the MCP server '{name}' was made at '{}', and it names {} now: nothing is sent there",
                    shown(known),
                    all()
                );
                Err(ToolError::new(code::MCP_LOGIN_HOST, message).hint(format!(
                    "ask its operator; if that is right, set `oauth.issuer: {}` for the server, or run `nika mcp logout \
                     {name}` and log in again",
                    shown(named)
                )))
            }
        },
        Anchor::Unsaid => {
            let message = format!(
                "the MCP server '{name}' names {} as its authorization server, which nobody named here: the secret of the \
                 configuration is not sent there",
                all()
            );
            Err(ToolError::new(code::MCP_LOGIN_HOST, message).hint(format!(
                "if that is right, set `oauth.issuer: {}` for the server, or run `nika mcp login {name}` once",
                shown(named)
            )))
        }
    }
}

async fn resource(
    fetch: &Fetch,
    server: &Url,
    challenge: &Challenge,
    judge: Judge<'_>,
) -> Result<Option<Resource>, ToolError> {
    let mut places = Vec::new();
    if let Some(said) = &challenge.resource_metadata {
        places.push(named(said, "the address of the server's metadata", server)?);
    }
    for place in resource_metadata(server) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    for place in places {
        judge(place.host_str().unwrap_or_default())?;
        if let Some(document) = fetch.document(&place).await? {
            return Resource::read(document, &place, server).map(Some);
        }
    }
    Ok(None)
}

async fn issuer(fetch: &Fetch, issuer: &str, server: &Url, judge: Judge<'_>) -> Result<Option<Issuer>, ToolError> {
    let address = named(issuer, "the authorization server", server)?;
    judge(address.host_str().unwrap_or_default())?;
    for place in issuer_metadata(&address) {
        if let Some(document) = fetch.document(&place).await? {
            return Issuer::read(document, &place, issuer, server).map(Some);
        }
    }
    Ok(None)
}

/// Which rights to ask for. What the server wants now comes first, then what it says it has; nothing is asked for
/// where neither says anything, so that the authorization server gives what it gives.
pub(crate) fn scopes(found: &Found, challenge: &Challenge, settings: &Settings, asked: &[String]) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    let wanted =
        if challenge.scopes.is_empty() && settings.scopes.is_empty() { &found.scopes } else { &challenge.scopes };
    let all = wanted.iter().chain(&settings.scopes).chain(asked);
    for scope in all {
        if !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
    const OFFLINE: &str = "offline_access";
    // Asked for alone it would take away what is given without being asked for.
    let has = |scopes: &[String]| scopes.iter().any(|scope| scope == OFFLINE);
    if !scopes.is_empty() && has(&found.issuer.scopes) && !has(&scopes) {
        scopes.push(OFFLINE.to_owned());
    }
    scopes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(resource: &[&str], issuer: &[&str]) -> Found {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let at = |text: &str| Url::parse(text).unwrap();
        Found {
            resource: "https://a.example".into(),
            scopes: texts(resource),
            issuer: Issuer {
                issuer: "https://a.example".into(),
                authorize: None,
                token: at("https://a.example/token"),
                register: None,
                scopes: texts(issuer),
                methods: vec![],
                s256: true,
                names_itself: false,
                documents: false,
            },
        }
    }

    #[test]
    fn rights_are_those_wanted_now_and_those_asked_for_before() {
        let challenge = Challenge { scopes: vec!["write".into()], ..Challenge::default() };
        let none = Settings::default();
        let wide = found(&["all", "more"], &["offline_access"]);
        assert_eq!(scopes(&wide, &challenge, &none, &["read".into()]), ["write", "read", "offline_access"]);
        assert_eq!(scopes(&wide, &Challenge::default(), &none, &[]), ["all", "more", "offline_access"]);
        assert!(scopes(&found(&[], &["offline_access"]), &Challenge::default(), &none, &[]).is_empty());
        let own = Settings { scopes: vec!["mine".into()], ..Settings::default() };
        assert_eq!(scopes(&found(&["all"], &[]), &Challenge::default(), &own, &[]), ["mine"]);
    }

    #[test]
    fn the_authorization_server_is_the_one_that_is_held_to() {
        let server = Url::parse("https://a.example/mcp?key=hush").unwrap();
        let both = ["https://one.example".to_owned(), "https://two.example".to_owned()];
        let chosen = |anchor, issuers: &[String]| choose("srv", anchor, issuers, &server);
        let two = "https://two.example/";
        for (anchor, issuers, want) in [
            (Anchor::Any, &both[..], Some(&both[0])),
            (Anchor::Any, &[], None),
            (Anchor::Configured(two), &both[..], Some(&both[1])),
            (Anchor::Earlier(two), &both[..], Some(&both[1])),
            (Anchor::Earlier("https://a.example"), &[], None),
        ] {
            assert_eq!(chosen(anchor, issuers).unwrap().as_ref(), want, "{anchor:?}");
        }
        assert_eq!(chosen(Anchor::Configured(two), &[]).unwrap().as_deref(), Some(two));
        for (anchor, issuers, code, hint) in [
            (Anchor::Configured(two), &both[..1], code::MCP_LOGIN_RESOURCE, "`oauth.issuer`"),
            (Anchor::Earlier(two), &both[..1], code::MCP_LOGIN_HOST, "`oauth.issuer: https://one.example`"),
            (Anchor::Earlier(two), &[], code::MCP_LOGIN_HOST, "`oauth.issuer: https://a.example`"),
            (Anchor::Unsaid, &both[..], code::MCP_LOGIN_HOST, "`oauth.issuer: https://one.example`"),
            (Anchor::Unsaid, &[], code::MCP_LOGIN_HOST, "`oauth.issuer: https://a.example`"),
        ] {
            let error = chosen(anchor, issuers).unwrap_err();
            assert_eq!(error.code, code, "{anchor:?}");
            assert!(error.hint.as_deref().is_some_and(|said| said.contains(hint)), "{error}");
            assert!(!error.to_string().contains("hush"), "{error}");
        }
    }
}
