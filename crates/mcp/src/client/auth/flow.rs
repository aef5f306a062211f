//! The steps by which a token is got: a person logs in, or the client has a right of its own; and how one is renewed.
//! Nothing here decides when.

use std::sync::Arc;
use std::time::Duration;

use nika_contract::{BoxFuture, Clock, ToolError, code};
use reqwest::Url;
use tokio::time::Instant;

use super::address::{canonical, parse};
use super::challenge::Challenge;
use super::client::{self, client, said};
use super::discover::{Anchor, Found, Judge, discover, scopes};
use super::fetch::Fetch;
use super::redirect::{self, Listener};
use super::secret::{Secret, random, s256};
use super::settings::{Grant, Settings};
use super::token::{self, Given, Refused};
use super::vault::{self, Client, Login, Vault};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

/// How long another process may take to renew a token: its own request has 20 s.
const HOLD_PATIENCE: Duration = Duration::from_secs(30);

/// What logins share.
pub struct Parts {
    /// Where they are kept.
    pub vault: Arc<dyn Vault>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Makes the requests.
    pub fetch: Fetch,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}

/// A page on which a person is to log in.
#[derive(Debug, Clone)]
pub struct Invitation {
    /// The server's name in configuration.
    pub server: String,
    /// Who asks for the login.
    pub issuer: String,
    /// The page.
    pub url: String,
}

/// What became of an [`Invitation`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Visited {
    /// A person sees it; the browser comes back by itself.
    Shown,
    /// The address that the browser came back to, brought by another way.
    Back(String),
    /// The person sees it and does not want to.
    Declined,
    /// There is nobody to see it.
    Nobody,
}

/// Shows a person where to log in.
pub trait Visit: Send + Sync {
    /// Shows it, and may wait for what comes of it.
    fn visit<'a>(&'a self, invitation: &'a Invitation) -> BoxFuture<'a, Visited>;
}

/// How a person's login goes.
#[derive(Clone, Copy)]
pub struct ByPerson<'a> {
    /// Who shows the page.
    pub visit: &'a dyn Visit,
    /// How long the person may take.
    pub patience: Duration,
    /// Whether the login is no longer wanted.
    pub cancelled: &'a (dyn Fn() -> bool + Send + Sync),
    /// Whether a person has asked for this very login, so that the first may be made at the authorization server that the
    /// server names, with a secret of the configuration, too.
    pub asked_for: bool,
}

impl std::fmt::Debug for ByPerson<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByPerson").field("patience", &self.patience).finish_non_exhaustive()
    }
}

/// One server and how its logins are made.
pub(crate) struct Flow<'a> {
    pub name: &'a str,
    pub server: &'a Url,
    pub settings: &'a Settings,
    pub parts: &'a Parts,
}

impl Flow<'_> {
    fn now_s(&self) -> u64 {
        self.parts.clock.unix_ms() / 1000
    }

    /// The authorization server that this login may be made at.
    fn anchor<'k>(&'k self, kept: Option<&'k Login>, asked_for: bool) -> Anchor<'k> {
        match (&self.settings.issuer, kept) {
            (Some(configured), _) => Anchor::Configured(configured),
            (None, Some(login)) => Anchor::Earlier(&login.issuer),
            (None, None) if self.settings.has_secret() && !asked_for => Anchor::Unsaid,
            (None, None) => Anchor::Any,
        }
    }

    /// The login that counts: the youngest, and where the configuration names an authorization server, one of that.
    pub fn kept(&self) -> Result<Option<Login>, ToolError> {
        vault::find(&*self.parts.vault, &canonical(self.server), self.settings.issuer.as_deref())
    }

    /// The rights that were asked for at this authorization server before.
    fn known(&self, issuer: &str) -> Result<Option<Login>, ToolError> {
        vault::find_at(&*self.parts.vault, &canonical(self.server), issuer)
    }

    /// A person logs in.
    pub async fn by_person(
        &self,
        challenge: &Challenge,
        judge: Judge<'_>,
        how: &ByPerson<'_>,
    ) -> Result<Login, ToolError> {
        let fetch = &self.parts.fetch;
        let kept = self.kept()?;
        let anchor = self.anchor(kept.as_ref(), how.asked_for);
        let found = discover(fetch, self.name, self.server, anchor, challenge, judge).await?;
        let page = found.issuer.login_page()?.clone();
        for place in [Some(&found.issuer.token), found.issuer.register.as_ref(), Some(&page)].into_iter().flatten() {
            judge(place.host_str().unwrap_or_default())?;
        }
        let known = self.known(&found.issuer.issuer)?;
        let before = known.as_ref().and_then(|login| login.client.redirect.as_deref());
        let listener = self.listen(before).await?;
        let known_client = known.as_ref().map(|login| login.client.clone());
        let client = client(fetch, &found.issuer, self.settings, known_client, listener.address()).await?;
        let asked = scopes(&found, challenge, self.settings, known.as_ref().map_or(&[], |login| &login.asked));
        let (state, verifier) = (random(), random());
        let url = authorize(&page, &client, &listener, &found, &asked, &state, &verifier);
        let invitation = Invitation { server: self.name.to_owned(), issuer: found.issuer.issuer.clone(), url };
        let back = self.visited(&invitation, &page, &listener, &state, how).await?;
        let back = redirect::read(&back, &state, &found.issuer.issuer, found.issuer.names_itself)?;
        let form = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", back.code),
            ("redirect_uri", listener.address().to_owned()),
            ("code_verifier", verifier),
            ("resource", found.resource.clone()),
        ];
        let given = self.ask(&found, &client, form).await?;
        self.keep(&found, client, given, asked)
    }

    /// The port that was registered before is taken again where it is free; else another one, and another client.
    async fn listen(&self, before: Option<&str>) -> Result<Listener, ToolError> {
        if let Some(port) = self.settings.redirect_port {
            return Listener::open(port).await;
        }
        let port = before.and_then(|address| Url::parse(address).ok()).and_then(|url| url.port());
        if let Some(port) = port
            && let Ok(listener) = Listener::open(port).await
        {
            return Ok(listener);
        }
        Listener::open(0).await
    }

    /// Waits for the browser, the person, the end of patience or of the call, whichever comes first.
    async fn visited(
        &self,
        invitation: &Invitation,
        page: &Url,
        listener: &Listener,
        state: &str,
        how: &ByPerson<'_>,
    ) -> Result<String, ToolError> {
        let end = Instant::now() + how.patience;
        let mut look = tokio::time::interval(Duration::from_millis(100));
        let mut visit = how.visit.visit(invitation);
        let mut shown = false;
        let answer = listener.answer(state);
        tokio::pin!(answer);
        loop {
            tokio::select! {
                back = &mut answer => return Ok(back),
                visited = &mut visit, if !shown => match visited {
                    Visited::Shown => shown = true,
                    Visited::Back(address) => return Ok(address),
                    Visited::Declined => {
                        let message = format!("nobody wants to log in to the MCP server '{}' now", self.name);
                        return Err(ToolError::new(code::MCP_LOGIN_REFUSED, message).hint("go on without that server"));
                    }
                    Visited::Nobody => {
                        let message = format!(
                            "the MCP server '{}' wants a login at '{page}', and nobody is here to make it", self.name
                        );
                        return Err(ToolError::new(code::MCP_LOGIN_NEEDED, message)
                            .hint(format!("a person runs `nika mcp login {}` once; later calls use that login", self.name)));
                    }
                },
                _ = look.tick() => {
                    if (how.cancelled)() {
                        return Err(ToolError::cancelled());
                    }
                    if Instant::now() >= end {
                        let message = format!(
                            "nobody finished the login to '{}' within {} s", self.name, how.patience.as_secs()
                        );
                        return Err(ToolError::new(code::MCP_LOGIN_TIMEOUT, message)
                            .hint(format!("begin again when somebody is there, or run `nika mcp login {}`", self.name)));
                    }
                }
            }
        }
    }

    /// Nobody has to log in: the configuration holds what proves the right.
    pub async fn by_itself(
        &self,
        challenge: &Challenge,
        judge: Judge<'_>,
        asked_for: bool,
    ) -> Result<Login, ToolError> {
        let fetch = &self.parts.fetch;
        let kept = self.kept()?;
        let anchor = self.anchor(kept.as_ref(), asked_for);
        let found = discover(fetch, self.name, self.server, anchor, challenge, judge).await?;
        judge(found.issuer.token.host_str().unwrap_or_default())?;
        let client = client(fetch, &found.issuer, self.settings, None, "").await?;
        let known = self.known(&found.issuer.issuer)?;
        let asked = scopes(&found, challenge, self.settings, known.as_ref().map_or(&[], |login| &login.asked));
        let mut form = match &self.settings.grant {
            Grant::Client(_) => vec![("grant_type", "client_credentials".to_owned())],
            Grant::Assertion(statement) => {
                vec![("grant_type", JWT_BEARER.to_owned()), ("assertion", statement.reveal().to_owned())]
            }
            Grant::Exchange { token_endpoint, client_id, id_token } => {
                let voucher = self.exchange(&found, token_endpoint, client_id, id_token, &asked, judge).await?;
                vec![("grant_type", JWT_BEARER.to_owned()), ("assertion", voucher.reveal().to_owned())]
            }
            Grant::Person => unreachable!("a person's login is another function"),
        };
        form.push(("resource", found.resource.clone()));
        if !asked.is_empty() {
            form.push(("scope", asked.join(" ")));
        }
        let given = self.ask(&found, &client, form).await?;
        self.keep(&found, client, given, asked)
    }

    /// Exchanges a person's identity token at the identity provider for a voucher to the authorization server
    /// (RFC 8693).
    async fn exchange(
        &self,
        found: &Found,
        token_endpoint: &str,
        client_id: &str,
        id_token: &Secret,
        asked: &[String],
        judge: Judge<'_>,
    ) -> Result<Secret, ToolError> {
        let place = parse(token_endpoint, "`oauth.idp_token_endpoint`")?;
        judge(place.host_str().unwrap_or_default())?;
        let mut form = vec![
            ("grant_type", TOKEN_EXCHANGE.to_owned()),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag".to_owned()),
            ("subject_token", id_token.reveal().to_owned()),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token".to_owned()),
            ("audience", found.issuer.issuer.clone()),
            ("resource", found.resource.clone()),
            ("client_id", client_id.to_owned()),
        ];
        if !asked.is_empty() {
            form.push(("scope", asked.join(" ")));
        }
        let answer = self.parts.fetch.form(&place, &form, None).await?;
        let voucher = answer
            .json()
            .filter(|_| answer.status.is_success())
            .and_then(|json| json["access_token"].as_str().filter(|token| !token.is_empty()).map(Secret::new));
        voucher.ok_or_else(|| {
            let message = format!("the identity provider at '{place}' vouches for nobody: {}", said(&answer));
            ToolError::new(code::MCP_LOGIN_REFUSED, message).hint("get a new identity token into `oauth.id_token_env`")
        })
    }

    async fn ask(&self, found: &Found, client: &Client, form: Vec<(&str, String)>) -> Result<Given, ToolError> {
        let issuer = &found.issuer;
        let answer =
            client::send(&self.parts.fetch, &issuer.token, client, self.settings, &issuer.issuer, self.now_s(), form)
                .await?;
        token::read(&answer, &issuer.issuer).map_err(Refused::error)
    }

    fn keep(&self, found: &Found, client: Client, given: Given, asked: Vec<String>) -> Result<Login, ToolError> {
        let login = Login {
            server: canonical(self.server),
            issuer: found.issuer.issuer.clone(),
            resource: Some(found.resource.clone()),
            token_endpoint: found.issuer.token.to_string(),
            client,
            access: Some(given.access),
            refresh: given.refresh,
            expires_s: given.lasts_s.map(|lasts| self.now_s().saturating_add(lasts)),
            scopes: given.scopes.unwrap_or_else(|| asked.clone()),
            asked,
            at_ms: self.parts.clock.unix_ms(),
        };
        vault::keep(&*self.parts.vault, &login)?;
        Ok(login)
    }

    /// Renews a login; `None` where it can be renewed no more. One process at a time does so, and the others take what
    /// it got: a refresh token is often good for one use.
    pub async fn renew(&self, old: &Login) -> Result<Option<Login>, ToolError> {
        let _held = self.hold(&old.server, &old.issuer).await?;
        let Some(login) = vault::find_at(&*self.parts.vault, &old.server, &old.issuer)? else { return Ok(None) };
        if login.access != old.access && login.holds(self.now_s(), 0) {
            return Ok(Some(login));
        }
        let Some(refresh) = &login.refresh else { return Ok(None) };
        let place = parse(&login.token_endpoint, "the token endpoint of the login")?;
        let mut form = vec![("grant_type", "refresh_token".to_owned()), ("refresh_token", refresh.reveal().to_owned())];
        form.extend(login.resource.clone().map(|resource| ("resource", resource)));
        let answer =
            client::send(&self.parts.fetch, &place, &login.client, self.settings, &login.issuer, self.now_s(), form)
                .await?;
        let mut renewed = login.clone();
        renewed.at_ms = self.parts.clock.unix_ms();
        match token::read(&answer, &login.issuer) {
            Ok(given) => {
                renewed.access = Some(given.access);
                renewed.refresh = given.refresh.or(renewed.refresh);
                renewed.expires_s = given.lasts_s.map(|lasts| self.now_s().saturating_add(lasts));
                renewed.scopes = given.scopes.unwrap_or(renewed.scopes);
                vault::keep(&*self.parts.vault, &renewed)?;
                Ok(Some(renewed))
            }
            Err(Refused::Spent(_)) => {
                // What was registered and asked for stays: the next login is shorter.
                renewed.refresh = None;
                renewed.expires_s = Some(0);
                vault::keep(&*self.parts.vault, &renewed)?;
                Ok(None)
            }
            Err(Refused::Otherwise(error)) => Err(error),
        }
    }

    async fn hold(&self, server: &str, issuer: &str) -> Result<Box<dyn Send>, ToolError> {
        let key = format!("{server}\n{issuer}");
        let end = Instant::now() + HOLD_PATIENCE;
        loop {
            if let Some(held) = self.parts.vault.hold(&key)? {
                return Ok(held);
            }
            if Instant::now() >= end {
                let message = format!("another process has been renewing the login to '{}' for 30 s", self.name);
                return Err(ToolError::new(code::MCP_LOGIN_STORE, message).hint("try again"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// The page, with what the authorization server has to know.
fn authorize(
    page: &Url,
    client: &Client,
    listener: &Listener,
    found: &Found,
    asked: &[String],
    state: &str,
    verifier: &str,
) -> String {
    let mut url = page.clone();
    {
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", listener.address())
            .append_pair("state", state)
            .append_pair("code_challenge", &s256(verifier))
            .append_pair("code_challenge_method", "S256")
            .append_pair("resource", &found.resource);
        if !asked.is_empty() {
            query.append_pair("scope", &asked.join(" "));
        }
        if asked.iter().any(|scope| scope == "offline_access") {
            // OpenID Connect gives a refresh token only where the person agrees anew.
            query.append_pair("prompt", "consent");
        }
    }
    url.to_string()
}
