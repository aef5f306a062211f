//! What a failed request means and what can be done about it.
//!
//! Providers say the same thing in many ways: by a status, by an error inside a stream that began well, by a
//! word in a sentence. All of them end in one [`Kind`].

use genai::Error;
use genai::webc::StreamTimeout;
use reqwest::header::HeaderMap;
use serde_json::Value;

use nika_contract::text;

use super::super::endpoint::{Adapter, Endpoint};
use super::super::{Kind, ModelError};
use super::Seen;

/// Characters of a provider's own words that are passed on: a paragraph, not a page of HTML.
const MOST_WORDS: usize = 600;

/// The error in our terms. `now_ms` is needed for providers that name a date to come back at.
pub(super) fn read(endpoint: &Endpoint, error: &Error, now_ms: u64) -> ModelError {
    let found = find(error, now_ms);
    let words = found.words.map(|words| tidy(endpoint, &words)).filter(|words| !words.is_empty());
    let what = match found.status {
        Some(status) => format!("{} ({status})", meaning(found.kind)),
        None => meaning(found.kind).to_owned(),
    };
    let mut message = format!("{}: {what}", endpoint.provider);
    match found.kind {
        Kind::Unreachable | Kind::TimedOut | Kind::NoModel => {
            message.push_str(&format!("; asked for `{}` at {}", endpoint.model.id, endpoint.address));
        }
        Kind::Key if endpoint.key.is_none() => message.push_str("; no key is set"),
        _ => {}
    }
    if let Some(words) = words {
        message.push_str(": ");
        message.push_str(&words);
    }
    ModelError { kind: found.kind, message, retry_after_ms: found.retry_after_ms }
}

/// How much of the thinking to ask for instead, where the request was refused for asking. OpenAI gives summaries
/// to verified customers alone, and models that do not think refuse to be asked for any of it.
pub(super) fn wants_less(adapter: Adapter, error: &ModelError, seen: Seen) -> Option<Seen> {
    let words = error.message.to_lowercase();
    let about = |all: &[&str]| all.iter().any(|word| words.contains(word));
    if error.kind != Kind::BadRequest || seen == Seen::Nothing {
        return None;
    }
    match adapter {
        Adapter::OpenAiResponses if about(&["summary", "summaries"]) && seen == Seen::Words => Some(Seen::Signatures),
        Adapter::OpenAiResponses if about(&["reasoning", "encrypted"]) => Some(Seen::Nothing),
        Adapter::Gemini if about(&["thinking", "thoughts"]) => Some(Seen::Nothing),
        _ => None,
    }
}

/// An answer that ended before its end.
pub(super) fn cut(endpoint: &Endpoint) -> ModelError {
    ModelError {
        kind: Kind::Cut,
        message: format!("{}: {}", endpoint.provider, meaning(Kind::Cut)),
        retry_after_ms: None,
    }
}

fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::Key => "the key was refused",
        Kind::NoModel => "there is no such model or address",
        Kind::TooLong => "the conversation is too long for the model",
        Kind::BadRequest => "the request was refused",
        Kind::Limited => "too many requests",
        Kind::Overloaded => "overloaded",
        Kind::Server => "the server failed",
        Kind::Cut => "the answer ended before its end",
        Kind::TimedOut => "nothing came in time",
        Kind::Unreachable => "the address cannot be reached",
        Kind::Script => "the script does not fit",
        Kind::Other => "the request failed",
    }
}

struct Found {
    kind: Kind,
    status: Option<u16>,
    words: Option<String>,
    retry_after_ms: Option<u64>,
}

impl Found {
    fn of(kind: Kind, words: impl Into<Option<String>>) -> Found {
        Found { kind, status: None, words: words.into(), retry_after_ms: None }
    }
}

fn find(error: &Error, now_ms: u64) -> Found {
    match error {
        Error::HttpError { status, body, headers, .. } => http(status.as_u16(), body, Some(headers), now_ms),
        // In a stream the failure lies in a box: the status of the outside is none.
        Error::WebStream { error, .. } => boxed(error.as_ref(), now_ms),
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => match webc_error {
            genai::webc::Error::ResponseFailedStatus { status, body, headers } => {
                http(status.as_u16(), body, Some(headers), now_ms)
            }
            genai::webc::Error::Reqwest(error) => transport(error),
            genai::webc::Error::ResponseFailedNotJson { body, .. } if body.trim().is_empty() => {
                Found::of(Kind::Cut, None)
            }
            genai::webc::Error::ResponseFailedNotJson { content_type, .. } => Found::of(
                Kind::Other,
                format!("it answered `{content_type}` and no JSON; the address may be another program's"),
            ),
            genai::webc::Error::ResponseFailedInvalidJson { cause, .. } => Found::of(Kind::Cut, cause.clone()),
            genai::webc::Error::JsonValueExt(error) => Found::of(Kind::Other, error.to_string()),
        },
        Error::ChatResponse { body, .. } => told(body),
        // The library's text of these holds the whole request.
        Error::ChatResponseGeneration { cause, .. } => Found::of(Kind::Other, cause.clone()),
        Error::StreamParse { serde_error, .. } => Found::of(Kind::Server, serde_error.to_string()),
        Error::RequiresApiKey { .. }
        | Error::NoAuthData { .. }
        | Error::NoAuthResolver { .. }
        | Error::Resolver { .. } => Found::of(Kind::Key, None),
        other => Found::of(Kind::Other, other.to_string()),
    }
}

fn boxed(error: &(dyn std::error::Error + Send + Sync + 'static), now_ms: u64) -> Found {
    if let Some(error) = error.downcast_ref::<Error>() {
        return find(error, now_ms);
    }
    if error.downcast_ref::<StreamTimeout>().is_some() {
        return Found::of(Kind::TimedOut, None);
    }
    match error.downcast_ref::<reqwest::Error>() {
        Some(error) => transport(error),
        None => Found::of(Kind::Cut, error.to_string()),
    }
}

fn transport(error: &reqwest::Error) -> Found {
    let kind = if error.is_timeout() && !error.is_connect() {
        Kind::TimedOut
    } else if error.is_connect() {
        Kind::Unreachable
    } else if error.is_builder() {
        Kind::Other
    } else {
        // The connection stood and broke.
        Kind::Cut
    };
    Found::of(kind, text::causes(error))
}

fn http(status: u16, body: &str, headers: Option<&HeaderMap>, now_ms: u64) -> Found {
    let json: Option<Value> = serde_json::from_str(body).ok();
    let said = json.as_ref().map(say);
    let words = said.as_ref().map_or(body, |said| said.words.as_str()).to_owned();
    let code = said.as_ref().map_or("", |said| said.code.as_str());
    let kind = match status {
        _ if too_long(code, &words) => Kind::TooLong,
        _ if code == "insufficient_quota" => Kind::Key,
        401 | 403 => Kind::Key,
        404 => Kind::NoModel,
        408 | 504 => Kind::TimedOut,
        413 => Kind::TooLong,
        429 => Kind::Limited,
        503 | 529 => Kind::Overloaded,
        500.. => Kind::Server,
        _ => Kind::BadRequest,
    };
    let asked = headers.and_then(|headers| retry_after(headers, now_ms));
    let retry_after_ms = asked.or_else(|| json.as_ref().and_then(retry_delay));
    // A page of HTML tells nobody anything.
    let words = if json.is_none() && words.trim_start().starts_with('<') { String::new() } else { words };
    Found { kind, status: Some(status), words: Some(words), retry_after_ms }
}

/// An error that came inside a stream, or in an answer that says 200.
fn told(body: &Value) -> Found {
    let said = say(body);
    let kind = match said.code.as_str() {
        _ if too_long(&said.code, &said.words) => Kind::TooLong,
        "overloaded_error" | "overloaded" | "UNAVAILABLE" | "server_overloaded" | "503" | "529" => Kind::Overloaded,
        "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" | "429" => Kind::Limited,
        "authentication_error"
        | "permission_error"
        | "invalid_api_key"
        | "insufficient_quota"
        | "UNAUTHENTICATED"
        | "PERMISSION_DENIED"
        | "401"
        | "403" => Kind::Key,
        "not_found_error" | "model_not_found" | "NOT_FOUND" | "404" => Kind::NoModel,
        "invalid_request_error" | "INVALID_ARGUMENT" | "tool_use_failed" | "400" => Kind::BadRequest,
        "timeout_error" | "DEADLINE_EXCEEDED" => Kind::TimedOut,
        "api_error" | "server_error" | "internal_server_error" | "INTERNAL" | "500" => Kind::Server,
        _ if body.get("finishReason").is_some() => {
            return Found::of(Kind::Other, "it gave no answer, perhaps withholding one".to_owned());
        }
        _ => Kind::Server,
    };
    Found { kind, status: None, words: Some(said.words), retry_after_ms: retry_delay(body) }
}

struct Said {
    code: String,
    words: String,
}

/// Code and words of an error, in any provider's shape:
/// `{"error":{"type","code","status","message"}}`, the same without the outer object, `{"error":"…"}`, `{"message"}`.
fn say(body: &Value) -> Said {
    // Gemini wraps its errors in a list when it streams.
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let inner = match body.get("error") {
        Some(inner) if !inner.is_null() => inner,
        _ => body,
    };
    let text = |key: &str| match inner.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let words = text("message")
        .or_else(|| inner.as_str().map(str::to_owned))
        .or_else(|| inner.get("message").or(inner.get("detail")).map(Value::to_string))
        .unwrap_or_default();
    // `status` is Gemini's word, `code` OpenAI's, `type` everybody's; `error` alone is the event's name.
    let codes = ["status", "code", "type"].into_iter().filter_map(text);
    Said { code: codes.into_iter().find(|code| code != "error").unwrap_or_default(), words }
}

/// Whether the request was too long: only some providers have a code for it.
fn too_long(code: &str, words: &str) -> bool {
    const SAID: &[&str] = &[
        "prompt is too long",
        "maximum context length",
        "context length exceeded",
        "exceeds the context window",
        "exceeds the maximum number of tokens",
        "input token count",
        "too large for model",
        "reduce the length of the messages",
        "exceed context limit",
        "exceeds the available context size",
    ];
    let words = words.to_lowercase();
    code == "context_length_exceeded"
        || code == "request_too_large"
        || SAID.iter().any(|said| words.contains(said)) && !words.contains("quota")
}

/// How long to wait, by header: milliseconds, seconds, or a date.
fn retry_after(headers: &HeaderMap, now_ms: u64) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    if let Some(ms) = text("retry-after-ms").and_then(number) {
        return Some(ms.ceil() as u64);
    }
    let after = text("retry-after")?;
    if let Some(seconds) = number(after) {
        return Some((seconds * 1000.0).ceil() as u64);
    }
    let date = httpdate::parse_http_date(after).ok()?;
    let date_ms = date.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis() as u64;
    Some(date_ms.saturating_sub(now_ms))
}

/// How long to wait, as Gemini says it: `{"error":{"details":[{"retryDelay":"37s"}]}}`.
fn retry_delay(body: &Value) -> Option<u64> {
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let details = body.get("error")?.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| (seconds * 1000.0).ceil() as u64)
}

/// A provider's own words, on one line, without the key.
fn tidy(endpoint: &Endpoint, words: &str) -> String {
    let mut words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(key) = endpoint.key.as_ref().map(super::super::Key::secret).filter(|key| key.len() >= 4) {
        words = words.replace(key, "…");
    }
    if let Some((at, _)) = words.char_indices().nth(MOST_WORDS) {
        words.truncate(at);
        words.push('…');
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_status_has_its_meaning() {
        let cases = [
            (401, Kind::Key),
            (403, Kind::Key),
            (404, Kind::NoModel),
            (400, Kind::BadRequest),
            (302, Kind::BadRequest),
            (413, Kind::TooLong),
            (429, Kind::Limited),
            (500, Kind::Server),
            (502, Kind::Server),
            (503, Kind::Overloaded),
            (504, Kind::TimedOut),
            (529, Kind::Overloaded),
        ];
        for (status, kind) in cases {
            assert_eq!(http(status, "{}", None, 0).kind, kind, "{status}");
        }
    }

    #[test]
    fn an_error_inside_a_stream_has_its_meaning_in_every_shape() {
        let cases = [
            (
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
                Kind::Overloaded,
            ),
            (json!({"type": "error", "error": {"type": "api_error", "message": "x"}}), Kind::Server),
            (json!({"message": "x", "type": "server_error"}), Kind::Server),
            (json!({"type": "error", "code": "rate_limit_exceeded", "message": "x"}), Kind::Limited),
            (json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "x"}}), Kind::Overloaded),
            (json!([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "x"}}]), Kind::Limited),
            (json!({"code": "context_length_exceeded", "message": "x"}), Kind::TooLong),
        ];
        for (body, kind) in cases {
            assert_eq!(told(&body).kind, kind, "{body}");
        }
    }

    #[test]
    fn too_long_is_found_in_words_as_well() {
        for words in [
            "prompt is too long: 210000 tokens > 200000 maximum",
            "This model's maximum context length is 128000 tokens.",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "Prompt contains 200000 tokens and is too large for model with 131072 maximum context length",
        ] {
            let body = json!({"error": {"type": "invalid_request_error", "message": words}}).to_string();
            assert_eq!(http(400, &body, None, 0).kind, Kind::TooLong, "{words}");
        }
        assert_eq!(http(400, r#"{"error":{"message":"no"}}"#, None, 0).kind, Kind::BadRequest);
        let quota = json!({"error": {"message": "You exceeded your current quota: input token count per minute"}});
        assert_eq!(http(429, &quota.to_string(), None, 0).kind, Kind::Limited);
    }

    #[test]
    fn the_wait_is_read_from_milliseconds_seconds_or_a_date() {
        let headers = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            headers
        };
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let at_ms = 784_111_777_000;
        assert_eq!(retry_after(&headers("retry-after-ms", "250"), 0), Some(250));
        assert_eq!(retry_after(&headers("retry-after", "7"), 0), Some(7000));
        assert_eq!(retry_after(&headers("retry-after", "0.5"), 0), Some(500));
        assert_eq!(retry_after(&headers("retry-after", date), at_ms - 3000), Some(3000));
        assert_eq!(retry_after(&headers("retry-after", date), at_ms + 3000), Some(0));
        assert_eq!(retry_after(&headers("retry-after", "soon"), 0), None);
        assert_eq!(retry_after(&headers("retry-after", "-1"), 0), None);
        let gemini = json!({"error": {"details": [{"@type": "x"}, {"retryDelay": "37.5s"}]}});
        assert_eq!(retry_delay(&gemini), Some(37_500));
    }
}
