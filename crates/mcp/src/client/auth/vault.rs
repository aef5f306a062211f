//! What is kept of logins, and the port to where it is kept. The file is the composition's: here are its content, who
//! may read which part, and what is shown of it without a secret.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{ToolError, code};
use serde::{Deserialize, Serialize};

use super::address::same_issuer;
use super::secret::Secret;

/// A place that only this person can read, and that several processes share.
pub trait Vault: Send + Sync {
    /// All of it; nothing where there is nothing yet.
    fn read(&self) -> Result<Option<Vec<u8>>, ToolError>;
    /// Replaces all of it in one step that no other process comes between.
    fn change(&self, change: &mut dyn FnMut(Option<Vec<u8>>) -> Result<Vec<u8>, ToolError>) -> Result<(), ToolError>;
    /// Holds `key` against every other process until the answer is dropped; `None` while another holds it.
    fn hold(&self, key: &str) -> Result<Option<Box<dyn Send>>, ToolError>;
}

/// How a client proves who it is at a token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Proof {
    #[serde(rename = "none")]
    Nothing,
    #[serde(rename = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    Post,
    #[serde(rename = "private_key_jwt")]
    Key,
}

/// A client as one authorization server knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Client {
    pub id: String,
    /// Only what the authorization server gave out itself; a configured secret stays where it is configured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub secret: Option<Secret>,
    pub proof: Proof,
    /// Where it said that browsers come back to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub redirect: Option<String>,
    /// Whether it was registered by us, and is worth keeping.
    #[serde(default)]
    pub registered: bool,
}

/// One login: a server, an authorization server, what was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Login {
    pub server: String,
    pub issuer: String,
    pub resource: Option<String>,
    pub token_endpoint: String,
    pub client: Client,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub access: Option<Secret>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refresh: Option<Secret>,
    /// Seconds since 1970; `None` where the authorization server does not say.
    pub expires_s: Option<u64>,
    /// What was granted.
    pub scopes: Vec<String>,
    /// What was asked for, ever.
    pub asked: Vec<String>,
    /// When this was written, in milliseconds: the youngest of a server's logins counts.
    pub at_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    logins: Vec<Login>,
}

/// What may be shown of a server's login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nobody logged in, or the login was taken back.
    Missing,
    /// A token is there.
    Authorized {
        /// Who gave it.
        issuer: String,
        /// Until when, in seconds since 1970, where that is known.
        until_s: Option<u64>,
        /// What it allows, where that is known.
        scopes: Vec<String>,
        /// Whether it renews itself.
        renews: bool,
    },
    /// The token has run out and renews itself at the next call.
    Renewing {
        /// Who gave it.
        issuer: String,
    },
    /// The token has run out and cannot be renewed.
    Expired {
        /// Who gave it.
        issuer: String,
    },
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            State::Missing => f.write_str("not logged in"),
            State::Authorized { issuer, until_s, scopes, renews } => {
                write!(f, "authorized by {issuer}")?;
                if let Some(until) = until_s {
                    write!(f, " until {}", utc(*until))?;
                }
                if *renews {
                    f.write_str(", renews itself")?;
                }
                if !scopes.is_empty() {
                    write!(f, ", for {}", scopes.join(" "))?;
                }
                Ok(())
            }
            State::Renewing { issuer } => write!(f, "run out; renewed by {issuer} at the next call"),
            State::Expired { issuer } => write!(f, "run out; {issuer} wants a new login"),
        }
    }
}

/// `2026-11-22 08:30 UTC`.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Civil from days, after Howard Hinnant: eras of 400 years that begin on 1 March.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", rest / 3_600, rest % 3_600 / 60)
}

impl Login {
    /// Whether the token still holds `margin_s` seconds from now.
    pub fn holds(&self, now_s: u64, margin_s: u64) -> bool {
        self.access.is_some() && self.expires_s.is_none_or(|until| until > now_s + margin_s)
    }

    pub fn state(&self, now_s: u64) -> State {
        let issuer = self.issuer.clone();
        if self.holds(now_s, 0) {
            let (until_s, scopes) = (self.expires_s, self.scopes.clone());
            return State::Authorized { issuer, until_s, scopes, renews: self.refresh.is_some() };
        }
        match (&self.refresh, &self.access) {
            (Some(_), _) => State::Renewing { issuer },
            (None, Some(_)) => State::Expired { issuer },
            (None, None) => State::Missing,
        }
    }
}

/// The youngest login to a server; only those at `issuer`, where one is named.
pub(crate) fn find(vault: &dyn Vault, server: &str, issuer: Option<&str>) -> Result<Option<Login>, ToolError> {
    let logins = read(vault.read()?)?;
    let of = |login: &Login| login.server == server && issuer.is_none_or(|issuer| same_issuer(&login.issuer, issuer));
    Ok(logins.into_iter().filter(of).max_by_key(|login| login.at_ms))
}

/// The login to a server at one authorization server.
pub(crate) fn find_at(vault: &dyn Vault, server: &str, issuer: &str) -> Result<Option<Login>, ToolError> {
    Ok(read(vault.read()?)?.into_iter().find(|login| login.server == server && login.issuer == issuer))
}

/// Keeps a login in place of an earlier one to the same server at the same authorization server.
pub(crate) fn keep(vault: &dyn Vault, login: &Login) -> Result<(), ToolError> {
    vault.change(&mut |bytes| {
        let mut logins = read(bytes)?;
        logins.retain(|known| known.server != login.server || known.issuer != login.issuer);
        logins.push(login.clone());
        Ok(written(logins))
    })
}

/// Forgets every login to a server. Whether there was any.
pub(crate) fn forget(vault: &dyn Vault, server: &str) -> Result<bool, ToolError> {
    let mut any = false;
    vault.change(&mut |bytes| {
        let mut logins = read(bytes)?;
        any = logins.iter().any(|login| login.server == server);
        logins.retain(|login| login.server != server);
        Ok(written(logins))
    })?;
    Ok(any)
}

fn read(bytes: Option<Vec<u8>>) -> Result<Vec<Login>, ToolError> {
    let Some(bytes) = bytes else { return Ok(Vec::new()) };
    // Where it fails is said, not what stands there: it may be a secret.
    let unusable = |why: String| {
        ToolError::new(code::MCP_LOGIN_STORE, format!("the file of logins cannot be used: {why}"))
            .hint("remove it and log in again")
    };
    let file: File = serde_json::from_slice(&bytes)
        .map_err(|error| unusable(format!("line {}, column {}", error.line(), error.column())))?;
    match file.version {
        1 => Ok(file.logins),
        newer => Err(unusable(format!("its version is {newer}, and this Nika knows 1"))),
    }
}

fn written(logins: Vec<Login>) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(&File { version: 1, logins }).expect("logins are text and numbers");
    bytes.push(b'\n');
    bytes
}

/// Keeps logins as long as the process lives: for tests, and for whoever wants nothing on disk.
#[derive(Debug, Default, Clone)]
pub struct Memory {
    bytes: Arc<Mutex<Option<Vec<u8>>>>,
    held: Arc<Mutex<Vec<String>>>,
}

struct Held(Arc<Mutex<Vec<String>>>, String);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|key| *key != self.1);
    }
}

impl Vault for Memory {
    fn read(&self) -> Result<Option<Vec<u8>>, ToolError> {
        Ok(self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn change(&self, change: &mut dyn FnMut(Option<Vec<u8>>) -> Result<Vec<u8>, ToolError>) -> Result<(), ToolError> {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *bytes = Some(change(bytes.clone())?);
        Ok(())
    }

    fn hold(&self, key: &str) -> Result<Option<Box<dyn Send>>, ToolError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.iter().any(|known| known == key) {
            return Ok(None);
        }
        held.push(key.to_owned());
        Ok(Some(Box::new(Held(Arc::clone(&self.held), key.to_owned()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(server: &str, issuer: &str, at_ms: u64) -> Login {
        Login {
            server: server.into(),
            issuer: issuer.into(),
            resource: None,
            token_endpoint: format!("{issuer}/token"),
            client: Client { id: "c".into(), secret: None, proof: Proof::Nothing, redirect: None, registered: true },
            access: Some(Secret::new("hush")),
            refresh: None,
            expires_s: Some(100),
            scopes: vec![],
            asked: vec![],
            at_ms,
        }
    }

    #[test]
    fn the_youngest_login_of_a_server_counts_and_each_authorization_server_has_its_own() {
        let vault = Memory::default();
        keep(&vault, &login("s", "one", 1)).unwrap();
        keep(&vault, &login("s", "two", 3)).unwrap();
        keep(&vault, &login("other", "one", 9)).unwrap();
        assert_eq!(find(&vault, "s", None).unwrap().unwrap().issuer, "two");
        assert_eq!(find(&vault, "s", Some("one")).unwrap().unwrap().issuer, "one");
        assert!(find(&vault, "s", Some("three")).unwrap().is_none());
        assert_eq!(find_at(&vault, "s", "one").unwrap().unwrap().at_ms, 1);
        assert!(forget(&vault, "s").unwrap());
        assert!(!forget(&vault, "s").unwrap());
        assert!(find(&vault, "other", None).unwrap().is_some());
    }

    #[test]
    fn a_torn_file_is_an_error_that_shows_nothing_of_it() {
        let vault = Memory::default();
        vault.change(&mut |_| Ok(b"{\"version\": 1, \"logins\": [{\"access\": \"hush".to_vec())).unwrap();
        let error = find(&vault, "s", None).unwrap_err();
        assert_eq!(error.code, code::MCP_LOGIN_STORE);
        assert!(!error.to_string().contains("hush"), "{error}");
    }

    #[test]
    fn a_state_is_said_without_its_token() {
        let login = login("s", "https://auth.example", 1);
        assert_eq!(login.state(99).to_string(), "authorized by https://auth.example until 1970-01-01 00:01 UTC");
        assert_eq!(login.state(100), State::Expired { issuer: "https://auth.example".into() });
        assert!(!format!("{login:?}").contains("hush"));
        assert_eq!(utc(1_795_336_200), "2026-11-22 08:30 UTC");
    }

    #[test]
    fn a_key_is_held_by_one() {
        let vault = Memory::default();
        let held = vault.hold("k").unwrap();
        assert!(held.is_some() && vault.hold("k").unwrap().is_none());
        drop(held);
        assert!(vault.hold("k").unwrap().is_some());
    }
}
