//! `web_fetch`: a page of the web as text, or what a model finds in it.
//!
//! The call needs the host; a page of a documentation host on the shipped list needs no question. What comes back was
//! written by strangers and is marked so.

use std::sync::Arc;
use std::time::Duration;

use nika_contract::{Cx, Example, Group, Output, Reading, Scene, Spec, Tool, ToolError, code, event, text};
use nika_guard::Effects;
use nika_host::net::{Address, Got};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::cache::{Hop, Kept};
use super::clean::clean;
use super::envelope::seal;
use super::follow::{Followed, covers, effect, follow};
use super::{Ground, page};
use crate::lenient;

/// Fetches a page: HTML as Markdown, PDF and text as text. With `prompt` a model answers that from the page, where one
/// is configured. Many documentation hosts need no question. For APIs and anything but GET use remote_trigger.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// `https://…`; no localhost or private network.
    pub url: String,
    /// What to find out from the page. Leave it out to read the page itself.
    #[serde(default)]
    pub prompt: Option<String>,
    /// Characters of the page, from its beginning.
    #[serde(default, deserialize_with = "lenient::number")]
    #[schemars(with = "Option<u32>")]
    pub max_chars: Option<u32>,
}

const EXAMPLES: &[Example] = &[
    Example {
        title: "A page as Markdown",
        files: &[],
        before: &[],
        arguments: r#"{"url": "http://example.com/"}"#,
        answer: "# Example Domain",
    },
    Example {
        title: "Its beginning",
        files: &[],
        before: &[],
        arguments: r#"{"url": "http://example.com/", "max_chars": 20}"#,
        answer: "a larger `max_chars` shows more",
    },
];

/// What a page is wanted as.
const ACCEPT: &str = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, \
                      application/json;q=0.8, application/pdf;q=0.7, */*;q=0.5";
/// Characters of a page that a model is given to read: about 25,000 tokens.
const READER_CHARS: usize = 100_000;
/// Between two looks at whether the call is still wanted.
const LOOK: Duration = Duration::from_millis(20);
/// Characters of what a server says beside an error.
const ERROR_CHARS: usize = 300;

/// The tool.
#[derive(Debug)]
pub struct WebFetch {
    /// What it stands on.
    pub ground: Arc<Ground>,
}

impl Tool for WebFetch {
    type Params = Params;
    const SPEC: Spec = Spec::new("web_fetch", "Fetch page", Group::Web)
        .read_only()
        .open_world()
        .event(event::WEB_FETCH)
        .terms(&[
            "url",
            "http",
            "https",
            "link",
            "website",
            "page",
            "documentation",
            "download",
            "browse",
            "curl",
            "pdf",
        ])
        .examples(EXAMPLES);

    fn effects(&self, p: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        if p.max_chars == Some(0) {
            return Err(ToolError::argument("max_chars", "takes at least 1"));
        }
        Ok(Effects::one(effect(&Address::parse(&p.url)?)))
    }

    fn preview(&self, p: &Params, _: &Cx<'_>) -> Result<Option<String>, ToolError> {
        Ok(Some(format!("GET {}", Address::parse(&p.url)?)))
    }

    async fn run(&self, p: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let address = Address::parse(&p.url)?;
        let now = cx.clock.unix_ms();
        let cached = self.ground.pages.get(address.as_str(), now).filter(|kept| still_allowed(cx, &kept.hops));
        let (kept, fresh) = match cached {
            Some(kept) => (kept, false),
            None => match self.fetch(&address, cx).await? {
                Fetched::Page(kept) => (kept, true),
                Fetched::Elsewhere(output) => return Ok(*output),
            },
        };
        let mut notes = notes(&address, &kept);
        if !fresh {
            notes.push(format!("from the cache, {} s old", kept.age_ms(now) / 1000));
        }
        let (content, source) = self.content(&p, &kept, &mut notes, cx).await?;
        let hops: Vec<_> = kept
            .hops
            .iter()
            .skip(1)
            .map(|hop| json!({"needs": hop.effect.to_string(), "by": hop.allowed_by}))
            .collect();
        Ok(Output::text(seal(&source, &notes, &content))
            .with_raw(json!({"url": kept.last.as_str(), "markdown": content}))
            .with_fact("url", kept.last.as_str())
            .with_fact("status", kept.status)
            .with_fact("bytes", kept.bytes)
            .with_fact("type", kept.page.mime.as_str())
            .with_fact("hops", hops)
            .with_fact("cached", !fresh)
            .with_fact("hidden", kept.page.hidden))
    }
}

enum Fetched {
    Page(Arc<Kept>),
    Elsewhere(Box<Output>),
}

impl WebFetch {
    /// The page, over the redirects that may be followed.
    async fn fetch(&self, address: &Address, cx: &Cx<'_>) -> Result<Fetched, ToolError> {
        let ground = &self.ground;
        let (got, last, hops) = match follow(ground, cx.permit, address.clone(), ACCEPT, cx.cancel).await? {
            Followed::There { got, last, hops } => (got, last, hops),
            Followed::Elsewhere { to, from, why } => {
                return Ok(Fetched::Elsewhere(Box::new(elsewhere(&to, &from, &why))));
            }
        };
        let page = page::read(ground.parsers.as_ref(), cx, last.as_str(), got.header("content-type"), &got.body).await;
        if !(200..300).contains(&got.status) {
            return Err(refused(&last, &got, page.as_ref().ok().map(|page| page.text.as_str())));
        }
        let page = page.map_err(|error| ToolError { message: format!("{last}: {}", error.message), ..error })?;
        let now = cx.clock.unix_ms();
        let kept = Arc::new(Kept::new(page, hops, last.as_str().to_owned(), got.status, got.body.len(), now));
        let private = got.header("cache-control").is_some_and(|value| value.to_ascii_lowercase().contains("no-store"));
        if !private {
            ground.pages.keep(address.as_str(), Arc::clone(&kept), now);
        }
        Ok(Fetched::Page(kept))
    }

    /// What stands between the marks, and whose words it is.
    async fn content(
        &self,
        p: &Params,
        kept: &Kept,
        notes: &mut Vec<String>,
        cx: &Cx<'_>,
    ) -> Result<(String, String), ToolError> {
        let prompt = p.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty());
        if let Some(prompt) = prompt {
            let page = head(&kept.page.text, READER_CHARS);
            let reading = Reading { address: &kept.last, page, prompt };
            let reply = match &self.ground.reader {
                Some(reader) => tokio::select! {
                    reply = reader.read(&reading, cx.purse) => reply?,
                    () = unwanted(cx) => return Err(ToolError::cancelled()),
                },
                None => None,
            };
            match reply {
                Some(reply) => {
                    if page.len() < kept.page.text.len() {
                        notes.push(format!("the model was given the first {READER_CHARS} characters of the page"));
                    }
                    let (answer, _) = clean(&reply.text);
                    return Ok((answer, format!("{}, as {} read it", kept.last, reply.model)));
                }
                None => notes.push("no model is configured to apply `prompt`: this is the page itself".to_owned()),
            }
        }
        let most = p.max_chars.map_or(usize::MAX, |chars| usize::try_from(chars).unwrap_or(usize::MAX));
        let shown = head(&kept.page.text, most);
        if shown.len() < kept.page.text.len() {
            let total = kept.page.text.chars().count();
            notes.push(format!("the first {most} of {total} characters; a larger `max_chars` shows more"));
        }
        Ok((shown.to_owned(), kept.last.clone()))
    }
}

/// Ends when the call is cancelled.
async fn unwanted(cx: &Cx<'_>) {
    while !cx.cancel.is_cancelled() {
        tokio::time::sleep(LOOK).await;
    }
}

/// Whether the steps that led to a page are still allowed, the first being the call's own.
fn still_allowed(cx: &Cx<'_>, hops: &[Hop]) -> bool {
    hops.iter().all(|hop| covers(cx.permit, &hop.effect) || cx.permit.also(hop.effect.clone()).is_ok())
}

/// What is said before the page, in our own words.
fn notes(asked: &Address, kept: &Kept) -> Vec<String> {
    let mut notes = Vec::new();
    if kept.last != asked.as_str() {
        notes.push(format!("redirected to {}", kept.last));
    }
    if kept.page.cut {
        notes.push("the page is larger than is converted; its end is missing".to_owned());
    }
    if kept.page.hidden > 0 {
        notes.push(format!("{} characters that a reader would not see were left out", kept.page.hidden));
    }
    notes
}

/// The first characters of a text.
fn head(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(at, _)| &text[..at])
}

/// The answer where a page leads to a host that nobody has allowed.
fn elsewhere(to: &Address, from: &Address, why: &str) -> Output {
    let ours = format!(
        "{} redirects to another host and was not followed there: {why}; it was not decided by this call. Call web_fetch \
         with the address below, if that is the page that is wanted",
        from.host()
    );
    let text = seal(&format!("the redirect of {}", from.host()), &[ours], to.as_str());
    let raw = json!({"redirects_to": to.as_str()});
    Output::text(text).with_raw(raw).with_fact("url", from.as_str()).with_fact("redirects_to", to.as_str())
}

/// The error of a server, with the beginning of what it says where that is text.
fn refused(address: &Address, got: &Got, said: Option<&str>) -> ToolError {
    let mut message = format!("{address} answered {}", named(got.status));
    if let Some(said) = said.map(|said| text::preview(said, ERROR_CHARS)).filter(|said| !said.is_empty()) {
        message.push_str(&format!(". Its own words, which nobody vouches for: {said:?}"));
    }
    let error = ToolError::new(code::HTTP_STATUS, message);
    match got.status {
        401 | 403 | 407 => error.hint("no login and no cookie is sent; the page may be for members only"),
        404 | 410 => error.hint("look at the address, or search for the page"),
        429 | 503 => error.hint(match got.header("retry-after").filter(|after| after.len() < 40) {
            Some(after) => format!("the server wants to be asked again later: {}", text::harmless(after)),
            None => "try again later".to_owned(),
        }),
        _ => error,
    }
}

/// A status with its usual name.
pub(super) fn named(status: u16) -> String {
    const NAMES: &[(u16, &str)] = &[
        (200, "OK"),
        (201, "Created"),
        (202, "Accepted"),
        (204, "No Content"),
        (400, "Bad Request"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "Not Found"),
        (405, "Method Not Allowed"),
        (409, "Conflict"),
        (410, "Gone"),
        (422, "Unprocessable Content"),
        (429, "Too Many Requests"),
        (500, "Internal Server Error"),
        (502, "Bad Gateway"),
        (503, "Service Unavailable"),
    ];
    let name = NAMES.iter().find(|(known, _)| *known == status).map_or("", |(_, name)| name);
    format!("{status} {name}").trim_end().to_owned()
}
