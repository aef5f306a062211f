//! The client under test of the MCP conformance suite: `nika-conformance-client URL`, with what the suite says in the
//! environment. Every scenario is driven by the same few steps through our own client: connect, list, read what is
//! there, call what is there. A person who agrees to everything stands in for a person, and follows the login's page as a
//! browser would.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Asked, Asker, BoxFuture, Clock, Inquiry, Question, Replied, ToolError, code};
use nika_guard::Layer;
use nika_mcp::client::auth::{ByPerson, Fetch, Invitation, Logins, Memory, Parts, Visit, Visited};
use nika_mcp::client::{Direct, Http, NoPrograms, Server, Ways, Written};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The document that stands for this client where authorization servers take such: the suite's own example.
const CLIENT_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// How long a login may take.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("usage: nika-conformance-client URL")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".into());
    let context: Value = serde_json::from_str(&context)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(drive(&url, &scenario, &context))?)
}

async fn drive(url: &str, scenario: &str, context: &Value) -> Result<(), ToolError> {
    let parts = Parts { vault: Arc::new(Memory::default()), clock: Arc::new(Now), fetch: Fetch::default() };
    let logins = Arc::new(Logins::new(parts).with_visit(Arc::new(Browser)));
    let server = server(url, scenario, context);
    if server.oauth.as_ref().is_some_and(|oauth| oauth.issuer.is_none() && oauth.has_secret()) {
        // Where a secret would go to whomever the server names, a person runs `nika mcp login` once.
        let how = ByPerson { visit: &Browser, patience: PATIENCE, cancelled: &|| false, asked_for: true };
        logins.of(&server)?.login(&|_| Ok(()), &how).await?;
    }
    match calls(&server, &logins, context).await {
        // So does a person who reads that the server names another authorization server now, and finds that right.
        Err(error) if error.code == code::MCP_LOGIN_HOST => {
            logins.of(&server)?.logout()?;
            calls(&server, &logins, context).await
        }
        done => done,
    }
}

async fn calls(server: &Server, logins: &Arc<Logins>, context: &Value) -> Result<(), ToolError> {
    let ways = Ways {
        launch: Arc::new(NoPrograms),
        authorizers: Arc::<Logins>::clone(logins),
        http: Arc::new(Http::default()),
        sampler: None,
        roots: Arc::new(Vec::new()),
    };
    let server = Direct::open(server.clone(), &ways, Arc::new(Agreeable)).await?;
    let tools = server.tools().await?;
    for uri in server.resources().await? {
        server.read(&uri).await?;
    }
    let given = context["toolCalls"].as_array().cloned().unwrap_or_default();
    for (tool, schema) in &tools {
        let own: Vec<_> = given.iter().filter(|call| call["name"] == tool.as_str()).collect();
        let calls = match own.as_slice() {
            [] => vec![arguments(schema, &tools)],
            own => own.iter().map(|call| call["arguments"].as_object().cloned().unwrap_or_default()).collect(),
        };
        for arguments in calls {
            match server.call(tool, arguments).await {
                // A server that lists what it does not do: the call has reached it all the same.
                Err(error) if error.code == code::NO_SUCH_FOREIGN => {}
                other => drop(other?),
            }
        }
    }
    Ok(())
}

/// The server as a person would configure it for what the suite says beforehand.
fn server(url: &str, scenario: &str, context: &Value) -> Server {
    let mut oauth = json!({ "client_metadata_url": CLIENT_DOCUMENT });
    let settings: &[(&str, &str)] = match scenario {
        "auth/pre-registration" => &[],
        "auth/client-credentials-basic" => &[("grant", "client_credentials")],
        "auth/client-credentials-jwt" => &[("grant", "client_credentials"), ("private_key_env", "private_key_pem")],
        "auth/wif-jwt-bearer" => &[("grant", "jwt_bearer"), ("assertion_env", "valid_jwt")],
        "auth/enterprise-managed-authorization" => &[("grant", "cross_app"), ("id_token_env", "idp_id_token")],
        _ => &[],
    };
    for (key, value) in settings {
        oauth[*key] = (*value).into();
    }
    for key in ["client_id", "issuer", "signing_algorithm", "idp_token_endpoint", "idp_client_id"] {
        if let Some(value) = context[key].as_str() {
            oauth[key] = value.into();
        }
    }
    if context["client_secret"].is_string() {
        oauth["client_secret_env"] = "client_secret".into();
    }
    // Secrets come from the environment in a configuration; here from what the suite says.
    let variable = |name: &str| context[name].as_str().map(str::to_owned);
    let written = Written::read("conformance", &json!({ "url": url, "oauth": oauth }), true).expect("a server");
    written.settle(Layer::User, "here:1", true, &variable).expect("a server that may be used")
}

/// Something for every argument. An object that is wanted is the schema of the first tool, as it was listed.
fn arguments(schema: &Value, tools: &[(String, Value)]) -> Map<String, Value> {
    let value = |(name, property): (&String, &Value)| {
        let value = match property["type"].as_str() {
            Some("number" | "integer") => json!(1),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => tools.first().map_or(json!({}), |(_, schema)| schema.clone()),
            Some("null") => Value::Null,
            _ => json!("text"),
        };
        (name.clone(), value)
    };
    schema["properties"].as_object().into_iter().flatten().map(value).collect()
}

/// Leaves what may be left, and chooses what stands first of the rest.
struct Agreeable;

impl Asker for Agreeable {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Asked> {
        Box::pin(async { Asked::Nobody })
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry) -> BoxFuture<'a, Replied> {
        let leave = inquiry.options.iter().find(|offer| offer.label.starts_with("Leave it "));
        let reply = match leave.or(inquiry.options.first()) {
            Some(offer) => Replied::Chosen(offer.label.clone()),
            None => Replied::Declined { why: None },
        };
        Box::pin(async { reply })
    }
}

/// Follows a login's page to where it leads.
struct Browser;

impl Visit for Browser {
    fn visit<'a>(&'a self, invitation: &'a Invitation) -> BoxFuture<'a, Visited> {
        Box::pin(async move {
            match page(&invitation.url).await {
                Some(back) => Visited::Back(back),
                None => Visited::Nobody,
            }
        })
    }
}

/// Where an `http://` page redirects to.
async fn page(url: &str) -> Option<String> {
    let rest = url.strip_prefix("http://")?;
    let (host, path) = rest.split_once('/')?;
    let mut stream = tokio::net::TcpStream::connect(host).await.ok()?;
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    let head = String::from_utf8_lossy(&answer).into_owned();
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
    })
}

#[derive(Debug)]
struct Now;

impl Clock for Now {
    fn unix_ms(&self) -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}
