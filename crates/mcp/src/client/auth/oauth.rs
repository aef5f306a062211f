//! When a token is used, renewed or asked for: one server's [`Authorizer`].
//!
//! A request carries the token of its server and of no other. A refusal is answered once by what needs nobody (another
//! process's token, a renewal, a service account); where a person is needed, the call ends and says so, unless somebody
//! is there to be shown a page. Loops end: rights that were asked for are not asked for again, and a server that refuses
//! what it was just given is not asked a fourth time in a minute.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nika_contract::{BoxFuture, ToolError, code};
use reqwest::Url;

use super::super::authorizer::{Again, Authorizer, Refusal};
use super::address::{canonical, parse, same_origin, shown};
use super::challenge::Challenge;
use super::discover::Judge;
use super::flow::{ByPerson, Flow, Parts, Visit};
use super::secret::Secret;
use super::settings::{Grant, Settings};
use super::vault::{self, Login, State};

/// A token is renewed this long before its end, or in the last quarter of its life where that is shorter.
const MARGIN_S: u64 = 60;
/// New tokens within [`WINDOW_MS`].
const MAX_TRIES: usize = 3;
const WINDOW_MS: u64 = 60_000;
/// How long a person may take who is shown a page in the middle of a call.
const PATIENCE: Duration = Duration::from_secs(300);

/// One server's logins.
pub struct OAuth {
    name: String,
    server: Url,
    settings: Settings,
    parts: Arc<Parts>,
    /// Somebody who is shown a page whenever one is needed; without, only [`OAuth::login`] shows one.
    visit: Option<Arc<dyn Visit>>,
    seen: Mutex<Seen>,
    /// One refusal is answered at a time; the others find the token that it brought.
    turn: tokio::sync::Mutex<Vec<u64>>,
}

#[derive(Default)]
struct Seen {
    given: Option<Secret>,
    challenge: Challenge,
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("name", &self.name)
            .field("server", &canonical(&self.server))
            .finish_non_exhaustive()
    }
}

impl OAuth {
    /// The logins to the server called `name` at `url`.
    pub fn new(name: &str, url: &str, settings: Settings, parts: Arc<Parts>) -> Result<OAuth, ToolError> {
        let server = parse(url, "the server's address")?;
        let (seen, turn) = (Mutex::default(), tokio::sync::Mutex::default());
        Ok(OAuth { name: name.to_owned(), server, settings, parts, visit: None, seen, turn })
    }

    /// The same, with somebody who is shown a page in the middle of a call.
    pub fn with_visit(mut self, visit: Arc<dyn Visit>) -> OAuth {
        self.visit = Some(visit);
        self
    }

    /// How the login stands. Asks nobody.
    pub fn state(&self) -> Result<State, ToolError> {
        let login = self.flow().kept()?;
        Ok(login.map_or(State::Missing, |login| login.state(self.now_s())))
    }

    /// Forgets the login. Whether there was any.
    pub fn logout(&self) -> Result<bool, ToolError> {
        self.seen().given = None;
        vault::forget(&*self.parts.vault, &canonical(&self.server))
    }

    /// Logs in, whatever was there before. Every host is judged; a person takes as long as `how` lets them.
    pub async fn login(&self, judge: Judge<'_>, how: &ByPerson<'_>) -> Result<State, ToolError> {
        let mut challenge = self.seen().challenge.clone();
        if challenge == Challenge::default() {
            judge(self.server.host_str().unwrap_or_default())?;
            let values = self.parts.fetch.challenges(&self.server).await?;
            challenge = Challenge::read(values.iter().map(String::as_str));
        }
        let _turn = self.turn.lock().await;
        let login = match self.settings.grant {
            Grant::Person => self.flow().by_person(&challenge, judge, how).await?,
            _ => self.flow().by_itself(&challenge, judge, how.asked_for).await?,
        };
        Ok(login.state(self.now_s()))
    }

    /// Whether the server has asked for rights that the login does not have, and that were not asked for yet.
    pub fn wants_more(&self) -> Result<bool, ToolError> {
        let challenge = self.seen().challenge.clone();
        if challenge.error.as_deref() != Some("insufficient_scope") {
            return Ok(false);
        }
        let login = self.flow().kept()?;
        let asked = login.map_or(Vec::new(), |login| login.asked);
        Ok(challenge.scopes.iter().any(|scope| !asked.contains(scope)))
    }

    /// Renews a login that has run out, where that needs nobody; else how it stands.
    pub async fn revive(&self) -> Result<State, ToolError> {
        if let Some(login) = self.flow().kept()?
            && !login.holds(self.now_s(), 0)
            && login.refresh.is_some()
        {
            self.flow().renew(&login).await?;
        }
        self.state()
    }

    fn flow(&self) -> Flow<'_> {
        Flow { name: &self.name, server: &self.server, settings: &self.settings, parts: &self.parts }
    }

    fn now_s(&self) -> u64 {
        self.parts.clock.unix_ms() / 1000
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token for a request now.
    async fn token(&self) -> Result<Option<Secret>, ToolError> {
        let Some(login) = self.flow().kept()? else { return Ok(None) };
        let now = self.now_s();
        if login.holds(now, margin(&login)) {
            return Ok(login.access);
        }
        if login.refresh.is_some() {
            return match self.flow().renew(&login).await {
                Ok(renewed) => Ok(renewed.and_then(|login| login.access)),
                // It still holds for a moment: what failed is tried again at the next call.
                Err(_) if login.holds(now, 0) => Ok(login.access),
                Err(error) => Err(error),
            };
        }
        // Run out. Without it the server says what it wants.
        Ok(login.access.filter(|_| login.expires_s.is_none_or(|until| until > now)))
    }

    async fn answer(&self, refusal: &Refusal) -> Result<Again, ToolError> {
        let mut tries = self.turn.lock().await;
        let challenge = Challenge::read(refusal.challenges.iter().map(String::as_str));
        self.seen().challenge = challenge.clone();
        let given = self.seen().given.clone();
        let login = self.flow().kept()?;
        let more_rights = refusal.status == 403;
        if more_rights {
            if challenge.error.as_deref() != Some("insufficient_scope") {
                return Ok(Again::No);
            }
            self.more(&challenge, login.as_ref())?;
        } else if let Some(login) = &login {
            let now = self.now_s();
            if login.access != given && login.holds(now, 0) {
                return Ok(Again::Yes);
            }
            if login.refresh.is_some() && login.access == given && !just_given(login, self.parts.clock.unix_ms()) {
                self.count(&mut tries)?;
                if self.flow().renew(login).await?.is_some() {
                    return Ok(Again::Yes);
                }
            }
        }
        let judge = |host: &str| self.known_host(host);
        match (&self.settings.grant, &self.visit) {
            (Grant::Person, Some(visit)) => {
                self.count(&mut tries)?;
                let how = ByPerson { visit: &**visit, patience: PATIENCE, cancelled: &|| false, asked_for: false };
                self.flow().by_person(&challenge, &judge, &how).await?;
            }
            // Nothing is fetched, so nothing is counted: nobody logs in here however often it is tried.
            (Grant::Person, None) => return Err(self.wanted(&challenge, login.as_ref(), more_rights)),
            _ => {
                self.count(&mut tries)?;
                self.flow().by_itself(&challenge, &judge, false).await?;
            }
        }
        Ok(Again::Yes)
    }

    /// Whether the server wants rights that it was not asked for yet. Asking for the same again would go on for ever.
    fn more(&self, challenge: &Challenge, login: Option<&Login>) -> Result<(), ToolError> {
        let asked = login.map_or(&[][..], |login| &login.asked);
        if challenge.scopes.iter().any(|scope| !asked.contains(scope)) {
            return Ok(());
        }
        let wants: Vec<String> = challenge.scopes.iter().map(|scope| shown(scope)).collect();
        let message = format!(
            "the MCP server '{}' wants more rights ({}) than the login has, and they were asked for already",
            self.name,
            if wants.is_empty() { "it does not say which".to_owned() } else { wants.join(" ") }
        );
        Err(ToolError::new(code::MCP_LOGIN_SCOPE, message)
            .hint("the account that logged in may not have them; log in with another one"))
    }

    fn wanted(&self, challenge: &Challenge, login: Option<&Login>, more_rights: bool) -> ToolError {
        let name = &self.name;
        let hint = format!("call `mcp_auth` with server '{name}', or a person runs `nika mcp login {name}`");
        if more_rights {
            let wants: Vec<String> = challenge.scopes.iter().map(|scope| shown(scope)).collect();
            let message = format!("the MCP server '{name}' wants more rights than the login has: {}", wants.join(" "));
            return ToolError::new(code::MCP_LOGIN_SCOPE, message).hint(hint);
        }
        match login {
            Some(login) if login.access.is_some() => {
                let message = format!(
                    "the login to the MCP server '{name}' is good no more; {} wants a new one",
                    shown(&login.issuer)
                );
                ToolError::new(code::MCP_LOGIN_EXPIRED, message).hint(hint)
            }
            _ => ToolError::new(code::MCP_LOGIN_NEEDED, format!("the MCP server '{name}' wants a login")).hint(hint),
        }
    }

    /// Counts a new token within the last minute.
    fn count(&self, tries: &mut Vec<u64>) -> Result<(), ToolError> {
        let now = self.parts.clock.unix_ms();
        tries.retain(|at| now.saturating_sub(*at) < WINDOW_MS);
        if tries.len() >= MAX_TRIES {
            let message = format!("the MCP server '{}' refuses every token that it is given", self.name);
            return Err(ToolError::new(code::MCP_LOGIN_LOOP, message).hint(
                "tell its operator; `nika mcp logout` forgets the login, and a minute later it can be tried again",
            ));
        }
        tries.push(now);
        Ok(())
    }

    /// In the middle of a call only hosts are asked that the configuration names, or a login used before.
    fn known_host(&self, host: &str) -> Result<(), ToolError> {
        let of = |text: &str| Url::parse(text).ok().and_then(|url| url.host_str().map(str::to_owned));
        let login = self.flow().kept()?;
        let exchange = match &self.settings.grant {
            Grant::Exchange { token_endpoint, .. } => of(token_endpoint),
            _ => None,
        };
        let known = [
            self.server.host_str().map(str::to_owned),
            self.settings.issuer.as_deref().and_then(of),
            login.as_ref().and_then(|login| of(&login.issuer)),
            login.as_ref().and_then(|login| of(&login.token_endpoint)),
            exchange,
        ];
        if known.iter().flatten().any(|known| known == host) {
            return Ok(());
        }
        let message =
            format!("the login to the MCP server '{}' leads to '{}', which nobody named", self.name, shown(host));
        Err(ToolError::new(code::MCP_LOGIN_HOST, message)
            .hint(format!("set `oauth.issuer` for the server, or run `nika mcp login {}`", self.name)))
    }
}

fn margin(login: &Login) -> u64 {
    let life = login.expires_s.map_or(u64::MAX, |until| until.saturating_sub(login.at_ms / 1000));
    MARGIN_S.min(life / 4)
}

/// A token that is a second old was not refused for its age: renewing it would bring another that is refused.
fn just_given(login: &Login, now_ms: u64) -> bool {
    now_ms.saturating_sub(login.at_ms) < 1000
}

impl Authorizer for OAuth {
    fn headers<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Vec<(String, String)>, ToolError>> {
        Box::pin(async move {
            // A token goes to the server that it was given for, wherever a request was led.
            if !Url::parse(url).is_ok_and(|url| same_origin(&url, &self.server)) {
                return Ok(Vec::new());
            }
            let token = self.token().await?;
            self.seen().given.clone_from(&token);
            Ok(token
                .map(|token| ("authorization".to_owned(), format!("Bearer {}", token.reveal())))
                .into_iter()
                .collect())
        })
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> BoxFuture<'a, Result<Again, ToolError>> {
        Box::pin(async move {
            if !Url::parse(&refusal.url).is_ok_and(|url| same_origin(&url, &self.server)) {
                return Ok(Again::No);
            }
            self.answer(refusal).await
        })
    }
}
