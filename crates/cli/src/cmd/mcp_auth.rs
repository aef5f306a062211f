//! `nika mcp login` and `logout`: a person's logins to MCP servers.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::process::ExitCode;
use std::time::Duration;

use nika_contract::{BoxFuture, text};
use nika_mcp::client::Pool;
use nika_mcp::client::auth::{ByPerson, Invitation, State, Visit, Visited};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::call::one_thread;
use crate::args::Format;
use crate::failure::Failure;
use crate::mcp_logins::logins;
use crate::out;
use crate::world::World;

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// Logs in to `server`. `paste` reads the address that a browser ended at from stdin, whoever writes there.
pub fn login(world: &World, pool: &Pool, server: &str, paste: bool, format: Format) -> Result<ExitCode, Failure> {
    let oauth = logins(world, &world.state_base()?).of(pool.server(server)?)?;
    let terminal = Terminal { reads: paste || world.has_person };
    let how = ByPerson { visit: &terminal, patience: PATIENCE, cancelled: &|| false, asked_for: true };
    // Whoever types this has named the server, and is shown where the login leads.
    let state = one_thread()?.block_on(oauth.login(&|_| Ok(()), &how))?;
    match format {
        Format::Json => out::pretty(&shown(server, &state))?,
        Format::Text => out::line(&format!("{server}: {}", text::harmless(&state.to_string())))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Forgets the login to `server`.
pub fn logout(world: &World, pool: &Pool, server: &str, format: Format) -> Result<ExitCode, Failure> {
    let any = logins(world, &world.state_base()?).of(pool.server(server)?)?.logout()?;
    match format {
        Format::Json => out::pretty(&json!({ "server": server, "forgotten": any }))?,
        Format::Text if any => {
            out::line(&format!("The login to {server} is forgotten here. Its token holds until it runs out."))?;
        }
        Format::Text => out::line(&format!("There was no login to {server}."))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// How the logins of these servers stand, of those that have or want one.
pub fn states(world: &World, pool: &Pool) -> Result<BTreeMap<String, String>, Failure> {
    let logins = logins(world, &world.state_base()?);
    let mut states = BTreeMap::new();
    for name in pool.usable() {
        let Ok(server) = pool.server(name) else { continue };
        let Ok(oauth) = logins.of(server) else { continue };
        // A file that cannot be read is a state, too: the list is for looking at what is wrong.
        let said = match oauth.state() {
            Ok(State::Missing) if server.oauth.is_none() => continue,
            Ok(state) => state.to_string(),
            Err(error) => error.to_string(),
        };
        states.insert(name.to_owned(), text::harmless(&said).into_owned());
    }
    Ok(states)
}

fn shown(server: &str, state: &State) -> Value {
    let (until, scopes) = match state {
        State::Authorized { until_s, scopes, .. } => (*until_s, scopes.clone()),
        _ => (None, Vec::new()),
    };
    json!({ "server": server, "state": state.to_string(), "until": until, "scopes": scopes })
}

/// Shows the page on stderr, and reads what is pasted.
struct Terminal {
    reads: bool,
}

impl Visit for Terminal {
    fn visit<'a>(&'a self, invitation: &'a Invitation) -> BoxFuture<'a, Visited> {
        Box::pin(async move {
            if !self.reads {
                return Visited::Nobody;
            }
            out::note(&format!(
                "Open this page of {} in a browser on this machine and log in:\n\n{}\n\nWith a browser on another \
                 machine: paste the address that it ends at, which begins with http://127.0.0.1, and press Enter.",
                text::harmless(&invitation.issuer),
                invitation.url
            ));
            // A thread of its own, which nobody waits for: the browser may be faster.
            let (tell, told) = oneshot::channel();
            std::thread::spawn(move || {
                let pasted = io::stdin().lock().lines().map_while(Result::ok).find(|line| line.contains("state="));
                let _ = tell.send(pasted);
            });
            match told.await {
                Ok(Some(address)) => Visited::Back(address),
                // Nothing more comes from there; the browser may still.
                _ => Visited::Shown,
            }
        })
    }
}

/// The servers' logins beside what else is said of them.
pub fn beside(rows: &mut [Value], states: &BTreeMap<String, String>) {
    for row in rows {
        let login = row["name"].as_str().and_then(|name| states.get(name)).cloned();
        row["login"] = login.map_or(Value::Null, Value::String);
    }
}
