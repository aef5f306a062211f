//! `mcp_auth`: a person logs in to a server.

use std::sync::Arc;
use std::time::Duration;

use nika_contract::{AnyTool, text};
use nika_contract::{
    Asker, BoxFuture, Cx, Erased, Example, Group, Inquiry, Offer, Output, Replied, Scene, Spec, Tool, ToolError, code,
};
use nika_guard::{Effect, Effects};
use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::pool::Pool;
use super::address::shown;
use super::flow::{ByPerson, Invitation, Visit, Visited};
use super::logins::Logins;
use super::vault::State;

/// How long a person may take: a password, a second factor, a page to read.
const PATIENCE: Duration = Duration::from_secs(300);

/// Logs in to an MCP server over HTTP that wants to know who asks: a person is shown a page and logs in there. Use it
/// when a call to the server failed with NIKA-740, 741 or 756. It waits up to 5 minutes for the person; where nobody is
/// there it fails at once and says what a person has to run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// The server, by its name in configuration.
    #[serde(alias = "server_name")]
    pub server: String,
    /// Hosts that the login leads over, besides the server's own. NIKA-751 names one that is missing.
    #[serde(default)]
    pub via: Vec<String>,
    /// Log in anew although the login still holds.
    #[serde(default)]
    pub again: bool,
}

/// The tool.
#[derive(Debug)]
struct McpAuth {
    pool: Arc<Pool>,
    logins: Arc<Logins>,
}

/// The tool over a pool of servers and their logins.
pub fn tool(pool: &Arc<Pool>, logins: &Arc<Logins>) -> Box<dyn AnyTool> {
    Erased::boxed(McpAuth { pool: Arc::clone(pool), logins: Arc::clone(logins) })
}

impl Tool for McpAuth {
    type Params = Params;
    const SPEC: Spec = Spec::new("mcp_auth", "Log in to an MCP server", Group::Mcp)
        .idempotent()
        .open_world()
        .terms(&[
            "login",
            "oauth",
            "authorize",
            "sign in",
            "connector",
            "authenticate",
            "credentials",
            "token",
            "expired",
            "unauthorized",
            "renew",
            "grant access",
        ])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Login>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        let server = self.pool.server(&params.server)?;
        self.logins.of(server)?;
        let own = server.url().and_then(|url| Url::parse(url).ok()).and_then(|url| url.host_str().map(str::to_owned));
        let mut effects = Effects::one(Effect::Net(own.unwrap_or_default()));
        for host in &params.via {
            effects.all.push(Effect::Net(host_of(host)?));
        }
        Ok(effects)
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let oauth = self.logins.of(self.pool.server(&params.server)?)?;
        if !params.again && !oauth.wants_more()? {
            // One that cannot be renewed now is made anew.
            let state = match oauth.revive().await {
                Ok(state) => state,
                Err(_) => oauth.state()?,
            };
            if matches!(state, State::Authorized { .. }) {
                return Ok(answer(&params.server, &state, "already "));
            }
        }
        let permit = Arc::clone(cx.permit);
        let judge = move |host: &str| {
            if permit.covers_net(host) {
                return Ok(());
            }
            let host = shown(host);
            Err(ToolError::new(
                code::MCP_LOGIN_HOST,
                format!("the login leads over '{host}', which the call did not name"),
            )
            .hint(format!("call again with via: [\"{host}\"] beside the hosts named before, so that it is decided on")))
        };
        let asker = Page { asker: Arc::clone(cx.beside.asker()) };
        let cancel = cx.cancel.clone();
        let cancelled = move || cancel.is_cancelled();
        let how = ByPerson { visit: &asker, patience: PATIENCE, cancelled: &cancelled, asked_for: false };
        let state = oauth.login(&judge, &how).await?;
        Ok(answer(&params.server, &state, ""))
    }
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
struct Login {
    server: String,
    state: String,
    /// When it ends, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
    scopes: Vec<String>,
}

fn answer(server: &str, state: &State, already: &str) -> Output {
    let said = text::harmless(&state.to_string()).into_owned();
    let (until, scopes) = match state {
        State::Authorized { until_s, scopes, .. } => (*until_s, scopes.clone()),
        _ => (None, Vec::new()),
    };
    let text = format!("{server}: {already}{said}");
    let login = Login { server: server.to_owned(), state: said, until, scopes };
    Output::data(serde_json::to_value(&login).unwrap_or_default(), text).with_fact("server", server)
}

fn host_of(text: &str) -> Result<String, ToolError> {
    let url = Url::parse(&format!("https://{text}/")).ok();
    let host = url
        .filter(|url| url.path() == "/" && url.query().is_none() && url.port().is_none() && url.username().is_empty());
    host.and_then(|url| url.host_str().map(str::to_owned)).ok_or_else(|| {
        ToolError::argument("via", format!("'{}' is no host; it looks like auth.example.com", shown(text)))
    })
}

/// Shows the page to whoever can be asked. What they bring back by hand counts, too: the browser may be on another
/// machine.
struct Page {
    asker: Arc<dyn Asker>,
}

const DONE: &str = "I have logged in";

impl Visit for Page {
    fn visit<'a>(&'a self, invitation: &'a Invitation) -> BoxFuture<'a, Visited> {
        Box::pin(async move {
            if !self.asker.is_there() {
                return Visited::Nobody;
            }
            let inquiry = Inquiry {
                id: format!("mcp_auth/{}", invitation.server),
                tool: "mcp_auth".into(),
                name: None,
                header: Some(format!("The MCP server '{}' wants a login", invitation.server)),
                text: format!(
                    "Open this page of {} in a browser on this machine and log in:\n\n{}\n\nIf the browser is on another \
                     machine, paste the address that it ends at.",
                    shown(&invitation.issuer),
                    invitation.url
                ),
                options: vec![Offer { label: DONE.into(), description: None }],
                free_text: true,
            };
            match self.asker.inquire(&inquiry).await {
                Replied::Chosen(_) => Visited::Shown,
                Replied::Wrote(text) if text.contains("state=") => Visited::Back(text),
                Replied::Wrote(_) => Visited::Shown,
                Replied::Declined { .. } => Visited::Declined,
                // A call that is made again would find another page, and the answer to this one lost.
                Replied::Nobody | Replied::Later => Visited::Nobody,
            }
        })
    }
}

const EXAMPLES: &[Example] = &[];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_and_nothing_else() {
        assert_eq!(host_of("Auth.Example.com").unwrap(), "auth.example.com");
        for odd in ["", "a b", "auth.example.com/path", "me@auth.example.com", "auth.example.com:444", "a?b"] {
            assert_eq!(host_of(odd).unwrap_err().code, code::BAD_ARGUMENTS, "{odd}");
        }
    }
}
