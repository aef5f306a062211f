//! `remote_trigger`: one request of any method to another machine, as it is written, and what came back.
//!
//! Nothing is followed and nothing is kept: a redirect is an answer that says where it leads. The shipped list of
//! documentation hosts does not hold for it.

use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, event, text};
use nika_guard::{Effect, Effects};
use nika_host::net::{Address, Asked, Caps};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::envelope::seal;
use super::fetch::named;
use super::{Ground, page};

/// Sends a request: webhooks, APIs, triggers of pipelines. Follows no redirect. To read a page use web_fetch.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// `https://…`; no localhost or private network.
    pub url: String,
    /// GET where nothing is said.
    #[serde(default)]
    pub method: Option<Method>,
    /// Names and values. Those that say who asks are left out of the journal.
    #[serde(default)]
    pub headers: Option<Map<String, Value>>,
    /// A text, sent as it is; anything else is sent as JSON.
    #[serde(default)]
    pub body: Option<Value>,
}

/// What the request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "a method is called what it is called")]
pub enum Method {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "A webhook",
    files: &[],
    before: &[],
    arguments: r#"{"url": "http://example.com/hook", "method": "POST", "body": {"ref": "main"}}"#,
    answer: "200 OK",
}];

/// For the whole exchange.
const WHOLE: Duration = Duration::from_secs(30);
/// Bytes of an answer that are taken in.
const BODY_BYTES: usize = 2 << 20;
/// Bytes of a body that is sent.
const SENT_BYTES: usize = 1 << 20;
/// Headers of a request.
const MOST_HEADERS: usize = 50;
/// Characters of a body in a question.
const SHOWN_CHARS: usize = 2_000;
/// Headers of an answer that are shown, with so many characters of each.
const SHOWN_HEADERS: usize = 40;
const HEADER_CHARS: usize = 300;
/// Headers of an answer that open doors.
const KEPT_BACK: &[&str] = &["set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate", "authorization"];

/// The tool.
#[derive(Debug)]
pub struct RemoteTrigger {
    /// What it stands on.
    pub ground: Arc<Ground>,
}

impl Tool for RemoteTrigger {
    type Params = Params;
    const SPEC: Spec = Spec::new("remote_trigger", "Send request", Group::Web)
        .destructive()
        .open_world()
        .event(event::WEB_REQUEST)
        .terms(&["post", "put", "delete", "webhook", "api", "rest", "http request", "curl", "endpoint", "notify"])
        .examples(EXAMPLES);

    fn effects(&self, p: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        let asked = asked(p)?;
        Ok(Effects::one(Effect::Net(asked.address.host().to_owned())))
    }

    fn preview(&self, p: &Params, _: &Cx<'_>) -> Result<Option<String>, ToolError> {
        let asked = asked(p)?;
        let mut shown = format!("{} {}", asked.method, asked.address);
        for (name, _) in &asked.headers {
            shown.push_str(&format!("\n{name}: …"));
        }
        if let Some(body) = &asked.body {
            let body = String::from_utf8_lossy(body);
            let cut = text::head_and_tail(&body, SHOWN_CHARS).unwrap_or_else(|| body.into_owned());
            shown.push_str(&format!("\n\n{cut}"));
        }
        Ok(Some(shown))
    }

    async fn run(&self, p: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let asked = asked(&p)?;
        let caps = Caps { body_bytes: BODY_BYTES, whole: WHOLE, ..self.ground.caps };
        let got = self.ground.net.exchange(cx.permit, &asked, &caps, cx.cancel).await?;
        let mut answer = named(got.status);
        let shown = |name: &str| !KEPT_BACK.contains(&name);
        for (name, value) in got.headers.iter().filter(|(name, _)| shown(name)).take(SHOWN_HEADERS) {
            let value = text::preview(&super::clean::clean(value).0, HEADER_CHARS);
            answer.push_str(&format!("\n{name}: {value}"));
        }
        let address = asked.address.as_str();
        let kind = got.header("content-type");
        let mut plain = String::from_utf8(got.body.clone()).ok();
        if !got.body.is_empty() {
            let body = page::read(self.ground.parsers.as_ref(), cx, address, kind, &got.body).await;
            // What cannot be read is no failure of the request, which was made.
            let body = body.map_or_else(|error| format!("[{}]", error.message), |page| page.text);
            plain.get_or_insert_with(|| body.clone());
            answer.push_str(&format!("\n\n{body}"));
        }
        let headers: Map<String, Value> = got
            .headers
            .iter()
            .filter(|(name, _)| shown(name))
            .map(|(name, value)| (name.clone(), value.as_str().into()))
            .collect();
        let raw = json!({"status": got.status, "headers": headers, "body": plain.unwrap_or_default()});
        let mut notes = Vec::new();
        if got.leads_to().is_some() {
            notes.push("the redirect was not followed; send another request to go there".to_owned());
        }
        Ok(Output::text(seal(&format!("{} {address}", asked.method), &notes, &answer))
            .with_raw(raw)
            .with_fact("method", asked.method)
            .with_fact("url", address)
            .with_fact("status", got.status)
            .with_fact("bytes", got.body.len()))
    }
}

/// The request.
fn asked(p: &Params) -> Result<Asked, ToolError> {
    let address = Address::parse(&p.url)?;
    let method = p.method.unwrap_or(Method::Get).name();
    let given = p.headers.iter().flatten();
    let mut headers = Vec::new();
    for (name, value) in given {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
            _ => return Err(ToolError::argument(&format!("headers.{name}"), "takes a text")),
        };
        headers.push((name.clone(), value));
    }
    if headers.len() > MOST_HEADERS {
        return Err(ToolError::argument("headers", format!("takes at most {MOST_HEADERS}")));
    }
    let body = match &p.body {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone().into_bytes()),
        Some(value) => {
            if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
            }
            Some(value.to_string().into_bytes())
        }
    };
    if body.as_ref().is_some_and(|body| body.len() > SENT_BYTES) {
        return Err(ToolError::argument("body", format!("takes at most {SENT_BYTES} bytes")));
    }
    Ok(Asked { method, address, accept: "*/*", headers, body })
}
