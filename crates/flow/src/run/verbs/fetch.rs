//! `fetch`: an HTTP request, through the tools that judge a host before it is reached and again with each redirect.

use nika_contract::{ToolError, code};
use serde_json::{Map, Value, json};

use super::Hands;
use super::invoke::value;
use crate::model::FetchRead;
use crate::run::action::Action;
use crate::run::world::{Made, Order};

/// The tool that makes requests.
const REQUEST: &str = "remote_trigger";
/// The tool that reads pages.
const PAGE: &str = "web_fetch";

pub(super) async fn fetch(hands: &Hands, order: &Order) -> Result<Made, ToolError> {
    let Action::Fetch { url, method, headers, body, read } = &order.action else { unreachable!("the caller looked") };
    let plain = method.eq_ignore_ascii_case("GET") && headers.is_empty() && body.is_none();
    if *read == FetchRead::Markdown && plain {
        there(hands, PAGE)?;
        let arguments = json!({"url": url}).as_object().cloned().unwrap_or_default();
        let (output, call) = hands.call(order, PAGE, arguments).await?;
        return Ok(Made { call: Some(call), ..Made::of(page(value(output), url)?) });
    }
    there(hands, REQUEST)?;
    let mut arguments = Map::new();
    arguments.insert("url".into(), url.as_str().into());
    arguments.insert("method".into(), method.to_uppercase().into());
    let headers: Map<String, Value> =
        headers.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    if !headers.is_empty() {
        arguments.insert("headers".into(), Value::Object(headers));
    }
    if let Some(body) = body {
        arguments.insert("body".into(), body.clone());
    }
    let (output, call) = hands.call(order, REQUEST, arguments).await?;
    Ok(Made { call: Some(call), ..Made::of(wanted(value(output), *read)?) })
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
fn wanted(answer: Value, read: FetchRead) -> Result<Value, ToolError> {
    if read == FetchRead::Answer {
        return Ok(answer);
    }
    let status = answer["status"].as_u64().unwrap_or(200);
    let body = match answer {
        Value::Object(mut answer) => answer.remove("body").unwrap_or_default(),
        text => text,
    };
    let text = || match &body {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if status >= 400 {
        let message =
            format!("the server answered with status {status}: {}", nika_contract::text::preview(&text(), 200));
        return Err(ToolError::new(code::RUN_DATA, message).hint("`read: answer` takes any status for an answer"));
    }
    match (read, &body) {
        (FetchRead::Json, Value::String(text)) => serde_json::from_str(text).map_err(|error| {
            let shown = nika_contract::text::preview(text, 120);
            ToolError::new(code::RUN_DATA, format!("the answer was to be JSON, and is `{shown}`: {error}"))
        }),
        (FetchRead::Json, _) => Ok(body),
        _ => Ok(Value::String(text())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_task_says_what_of_an_answer_is_the_output() {
        let answer = || json!({"status": 200, "headers": {}, "body": "{\"a\": 1}"});
        assert_eq!(wanted(answer(), FetchRead::Text), Ok(json!("{\"a\": 1}")));
        assert_eq!(wanted(answer(), FetchRead::Json), Ok(json!({"a": 1})));
        assert_eq!(wanted(answer(), FetchRead::Answer), Ok(answer()));
        assert_eq!(page(json!({"url": "u", "markdown": "# A"}), "u"), Ok(json!("# A")));
        let elsewhere =
            page(json!({"redirects_to": "https://b.org/"}), "https://a.org/").expect_err("nobody decided it");
        assert!(elsewhere.message.contains("b.org"), "{elsewhere}");
        let gone = || json!({"status": 404, "headers": {}, "body": "gone"});
        assert!(wanted(gone(), FetchRead::Text).expect_err("a failure").message.contains("404"));
        assert_eq!(wanted(gone(), FetchRead::Answer), Ok(gone()));
    }
}
