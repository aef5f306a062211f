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
/// Headers of a request, and bytes of them: servers take about so many.
const MOST_HEADERS: usize = 50;
const HEADERS_BYTES: usize = 32 << 10;
/// Ends of the names of headers that say who asks: `X-Api-Key` is one. A question tells how long they are and no more.
const WHO_ASKS: &[&str] = &[
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "jwt",
    "key",
    "pass",
    "passwd",
    "password",
    "secret",
    "session",
    "signature",
    "token",
];
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

    fn flaw(&self, p: &Params) -> Option<ToolError> {
        asked(p).ok()?.headers_fit().err()
    }

    fn preview(&self, p: &Params, _: &Cx<'_>) -> Result<Option<String>, ToolError> {
        Ok(Some(question(&asked(p)?)))
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
        let leads_to = got.leads_to().and_then(|location| asked.address.join(location).ok());
        let raw = json!({"status": got.status, "headers": headers, "body": plain.unwrap_or_default()});
        let mut notes = Vec::new();
        if got.leads_to().is_some() {
            notes.push("the redirect was not followed; send another request to go there".to_owned());
        }
        let mut output = Output::text(seal(&format!("{} {address}", asked.method), &notes, &answer));
        if let Some(to) = leads_to {
            output = output.with_fact("leads_to", to.as_str());
        }
        Ok(output
            .with_raw(raw)
            .with_fact("method", asked.method)
            .with_fact("url", address)
            .with_fact("status", got.status)
            .with_fact("bytes", got.body.len()))
    }
}

/// The request as a person reads it before they say yes.
fn question(asked: &Asked) -> String {
    let mut shown = format!("{} {}", asked.method, asked.address);
    for (name, value) in &asked.headers {
        let said = match is_secret(name) {
            true => format!("({} characters, which say who asks)", value.chars().count()),
            false => text::preview(&text::harmless(value), HEADER_CHARS),
        };
        shown.push_str(&format!("\n{}: {said}", text::preview(&text::harmless(name), HEADER_CHARS)));
    }
    if let Some(body) = &asked.body {
        let body = String::from_utf8_lossy(body);
        let cut = text::head_and_tail(&body, SHOWN_CHARS).unwrap_or_else(|| body.into_owned());
        shown.push_str(&format!("\n\n{cut}"));
    }
    shown
}

/// Whether a header's value says who asks.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WHO_ASKS.iter().any(|end| name.ends_with(end))
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
    let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > HEADERS_BYTES {
        return Err(ToolError::argument(
            "headers",
            format!("takes at most {HEADERS_BYTES} bytes, and these are {bytes}"),
        ));
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
    if body.as_ref().is_some_and(|body| body.len() + bytes > SENT_BYTES) {
        return Err(ToolError::argument("body", format!("takes at most {SENT_BYTES} bytes, headers included")));
    }
    Ok(Asked { method, address, accept: "*/*", headers, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(headers: Value) -> Params {
        let params = json!({"url": "https://hook.example/", "method": "POST", "headers": headers, "body": "b"});
        serde_json::from_value(params).expect("they fit")
    }

    #[test]
    fn a_question_shows_what_headers_carry_out_but_for_who_asks() {
        let headers = json!({
            "X-Data": "line of the workspace", "X-Long": "x".repeat(1_000), "X-Odd": "a\u{202e}b",
            "Authorization": "Bearer hush-1", "Cookie": "sid=hush-2", "X-API-Key": "hush-3", "X-Auth-Token": "hush-4",
        });
        let said = question(&asked(&params(headers)).expect("a request"));
        for part in
            ["POST https://hook.example/", "X-Data: line of the workspace", "Authorization: (13 characters", "\n\nb"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!said.contains("hush") && !said.contains('\u{202e}'), "{said}");
        assert!(said.chars().count() < 1_500, "{said}");
    }

    #[test]
    fn headers_are_bounded_in_number_and_size() {
        let many: Map<String, Value> = (0..=MOST_HEADERS).map(|at| (format!("X-{at}"), "a".into())).collect();
        let long = json!({"X-Data": "x".repeat(HEADERS_BYTES)});
        let named = json!({("X".repeat(HEADERS_BYTES)): "x"});
        for headers in [Value::Object(many), long, named] {
            let error = asked(&params(headers)).expect_err("too much");
            assert!(error.message.contains("headers"), "{error}");
        }
        let mut both = params(json!({"X-Data": "x".repeat(1 << 10)}));
        both.body = Some("x".repeat(SENT_BYTES).into());
        assert!(asked(&both).expect_err("together too much").message.contains("headers included"));
    }
}
