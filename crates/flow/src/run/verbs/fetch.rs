//! `fetch`: an HTTP request, through the tools that judge a host before it is reached and again with each redirect.
//!
//! Where a GET is redirected, the next address is a call of its own, judged and journalled as the first. Nothing is sent
//! a second time but by GET: of any other method a redirect is an error that names the address.

use nika_contract::{Output, ToolError, code, text};
use serde_json::{Map, Value, json};

use super::invoke::value;
use super::{Hands, later};
use crate::model::FetchRead;
use crate::run::action::Action;
use crate::run::world::{Made, Order, Unmade};

/// The tool that makes requests.
const REQUEST: &str = "remote_trigger";
/// The tool that reads pages.
const PAGE: &str = "web_fetch";
/// Redirects that are followed.
const REDIRECTS: usize = 5;
/// Headers that go along to another host: they say what is wanted, and not who asks.
const GO_ALONG: &[&str] = &["accept", "accept-language"];

pub(super) async fn fetch(hands: &Hands, order: &Order) -> Result<Made, Unmade> {
    let Action::Fetch { url, method, headers, body, read } = &order.action else { unreachable!("the caller looked") };
    let gets = method.eq_ignore_ascii_case("GET");
    if *read == FetchRead::Markdown && gets && headers.is_empty() && body.is_none() {
        there(hands, PAGE)?;
        let arguments = json!({"url": url}).as_object().cloned().unwrap_or_default();
        let (output, call) = hands.call(order, PAGE, arguments).await?;
        return Ok(Made { call: Some(call), ..Made::of(page(value(output), url)?) });
    }
    there(hands, REQUEST)?;
    let (mut headers, mut body) = (headers.clone(), body.as_ref());
    let mut asked = vec![url.clone()];
    // `answer` takes whatever comes, also a redirect.
    let follows = gets && *read != FetchRead::Answer;
    loop {
        let here = asked.last().expect("the first is there");
        // Only the last of several calls ends the task, so none of them bears the task's own name.
        let origin = if follows { format!("{}>{}", order.origin, asked.len()) } else { order.origin.clone() };
        let request = request(here, method, &headers, body);
        let (output, call) = hands.made(order, &origin, REQUEST, request).await?;
        let to = leads_to(&output);
        let answer = value(output);
        match to.filter(|_| follows) {
            None => {
                return Ok(Made {
                    call: Some(call),
                    ..Made::of(wanted(answer, *read, method, here, hands.clock.unix_ms())?)
                });
            }
            Some(to) => {
                may_follow(&asked, &to)?;
                if origin_of(here) != origin_of(&to) {
                    headers.retain(|(name, _)| GO_ALONG.contains(&name.to_ascii_lowercase().as_str()));
                    body = None;
                }
                asked.push(to);
            }
        }
    }
}

fn request(url: &str, method: &str, headers: &[(String, String)], body: Option<&Value>) -> Map<String, Value> {
    let mut request = Map::new();
    request.insert("url".into(), url.into());
    request.insert("method".into(), method.to_uppercase().into());
    if !headers.is_empty() {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
        request.insert("headers".into(), Value::Object(headers.collect()));
    }
    if let Some(body) = body {
        request.insert("body".into(), body.clone());
    }
    request
}

/// Where an answer leads, if it is a redirect.
fn leads_to(output: &Output) -> Option<String> {
    let (_, to) = output.facts.iter().find(|(name, _)| *name == "leads_to")?;
    to.as_str().map(str::to_owned)
}

/// Whether the way may go on there, whatever is stated of the host.
fn may_follow(asked: &[String], to: &str) -> Result<(), ToolError> {
    let here = asked.last().map(String::as_str).unwrap_or_default();
    let why = if secret(here) && !secret(to) {
        "it would go on without TLS".to_owned()
    } else if asked.iter().any(|before| before == to) {
        "it leads in a circle".to_owned()
    } else if asked.len() > REDIRECTS {
        format!("these are more than {REDIRECTS} redirects")
    } else {
        return Ok(());
    };
    let message = format!("{here} redirects to {}, which is not followed: {why}", shown(to));
    Err(ToolError::new(code::BAD_REDIRECT, message))
}

fn secret(url: &str) -> bool {
    url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
}

/// Scheme, host and port, as they are written.
fn origin_of(url: &str) -> String {
    url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/").to_ascii_lowercase()
}

fn shown(url: &str) -> String {
    text::harmless(&text::preview(url, 200)).into_owned()
}

/// The page of what was read at `url`, as Markdown.
fn page(mut read: Value, url: &str) -> Result<Value, ToolError> {
    if let Some(elsewhere) = read["redirects_to"].as_str() {
        let message = format!("{url} redirects to {elsewhere}, another host");
        return Err(
            ToolError::new(code::RUN_DATA, message).hint("fetch that address, and state its host in `permits.net`")
        );
    }
    Ok(read.get_mut("markdown").map(Value::take).unwrap_or(read))
}

fn there(hands: &Hands, tool: &str) -> Result<(), ToolError> {
    hands.runtime.find(tool).map(drop).map_err(|error| match error.code {
        code::UNKNOWN_TOOL => {
            ToolError::new(code::UNKNOWN_TOOL, format!("`fetch` needs the tool `{tool}`, which is not here"))
                .hint("a command may fetch it: `exec: [curl, -sS, URL]`, with `permits.exec` and `permits.net`")
        }
        _ => error,
    })
}

/// What of an answer is the output.
fn wanted(answer: Value, read: FetchRead, method: &str, url: &str, now_ms: u64) -> Result<Value, Unmade> {
    if read == FetchRead::Answer {
        return Ok(answer);
    }
    let status = answer["status"].as_u64().unwrap_or(200);
    if !(200..300).contains(&status) {
        return Err(failed(status, &answer, method, url, now_ms));
    }
    let body = match answer {
        Value::Object(mut answer) => answer.remove("body").unwrap_or_default(),
        text => text,
    };
    match (read, body) {
        (FetchRead::Json, Value::String(said)) => serde_json::from_str(&said).map_err(|error| {
            let shown = text::preview(&said, 120);
            ToolError::new(code::RUN_DATA, format!("the answer was to be JSON, and is `{shown}`: {error}")).into()
        }),
        (FetchRead::Json, body) => Ok(body),
        (_, Value::String(said)) => Ok(Value::String(said)),
        (_, other) => Ok(Value::String(other.to_string())),
    }
}

/// An answer that is no success, with how long its server wants to be left alone.
fn failed(status: u64, answer: &Value, method: &str, url: &str, now_ms: u64) -> Unmade {
    let header = |name: &str| answer["headers"][name].as_str();
    if (300..400).contains(&status) {
        let to = header("location").map_or_else(|| "nowhere".to_owned(), shown);
        let message =
            format!("{} of {url} was answered with status {status}, which leads to {to}", method.to_uppercase());
        return ToolError::new(code::BAD_REDIRECT, message)
            .hint("only GET is followed; send it there, and state the host in `permits.net`")
            .into();
    }
    let said = answer["body"].as_str().unwrap_or_default();
    let message = format!("{url} answered with status {status}: {}", text::preview(said, 200));
    let error = ToolError::new(code::HTTP_STATUS, message).hint("`read: answer` takes any status for an answer");
    let rest_ms = later::rest_ms(header("retry-after"), header("date"), now_ms);
    Unmade { rest_ms, ..Unmade::from(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn got(answer: Value, read: FetchRead) -> Result<Value, Unmade> {
        wanted(answer, read, "post", "https://a.org/x", 784_111_777_000)
    }

    #[test]
    fn the_task_says_what_of_an_answer_is_the_output() {
        let answer = || json!({"status": 200, "headers": {}, "body": "{\"a\": 1}"});
        assert_eq!(got(answer(), FetchRead::Text), Ok(json!("{\"a\": 1}")));
        assert_eq!(got(answer(), FetchRead::Json), Ok(json!({"a": 1})));
        assert_eq!(got(answer(), FetchRead::Answer), Ok(answer()));
        assert_eq!(page(json!({"url": "u", "markdown": "# A"}), "u"), Ok(json!("# A")));
        let elsewhere =
            page(json!({"redirects_to": "https://b.org/"}), "https://a.org/").expect_err("nobody decided it");
        assert!(elsewhere.message.contains("b.org"), "{elsewhere}");
    }

    #[test]
    fn what_is_no_success_is_an_error_that_can_be_tried_again() {
        let busy = || json!({"status": 503, "headers": {"retry-after": "7"}, "body": "later"});
        let failed = got(busy(), FetchRead::Text).expect_err("a failure");
        assert_eq!((failed.error.code, failed.rest_ms), (code::HTTP_STATUS, 7_000));
        assert!(failed.error.message.contains("503: later"), "{}", failed.error);
        assert_eq!(got(busy(), FetchRead::Answer), Ok(busy()));
        let until = json!({"status": 429, "headers": {"retry-after": "Sun, 06 Nov 1994 08:49:50 GMT"}, "body": ""});
        assert_eq!(got(until, FetchRead::Text).expect_err("a failure").rest_ms, 13_000);
        let moved = json!({"status": 302, "headers": {"location": "/there"}, "body": ""});
        let failed = got(moved, FetchRead::Text).expect_err("a redirect");
        assert_eq!(failed.error.code, code::BAD_REDIRECT);
        assert!(failed.error.message.contains("POST") && failed.error.message.contains("/there"), "{}", failed.error);
    }

    #[test]
    fn a_way_over_redirects_has_bounds() {
        let way = |from: &[&str]| from.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>();
        assert_eq!(may_follow(&way(&["https://a.org/"]), "https://b.org/"), Ok(()));
        assert_eq!(may_follow(&way(&["http://a.org/"]), "https://a.org/"), Ok(()));
        let many: Vec<String> = (0..=REDIRECTS).map(|at| format!("https://a.org/{at}")).collect();
        for (from, to, why) in [
            (way(&["https://a.org/"]), "http://a.org/x", "without TLS"),
            (way(&["https://a.org/", "https://b.org/"]), "https://a.org/", "circle"),
            (many, "https://a.org/end", "more than 5"),
        ] {
            let error = may_follow(&from, to).expect_err(to);
            assert!(error.message.contains(why) && error.message.contains(to), "{error}");
        }
        assert_eq!(origin_of("HTTPS://A.org:8/b/c"), origin_of("https://a.org:8"));
        assert_ne!(origin_of("https://a.org/"), origin_of("https://a.org:8/"));
    }
}
