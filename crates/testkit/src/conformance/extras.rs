//! Prompts, resources, completion and logging, as the suite wants them.

use std::sync::Arc;

use nika_contract::BoxFuture;
use nika_mcp::{Answered, Client, Extras, Object, ProtocolError};
use serde_json::{Value, json};

use super::samples::png_base64;
use super::slot::elicit;

/// They need no state.
pub(super) struct Offered;

const STATIC_TEXT: &str = "test://static-text";
const STATIC_BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";

impl Extras for Offered {
    fn capabilities(&self) -> Object {
        object(json!({
            "prompts": { "listChanged": true },
            "resources": { "subscribe": true, "listChanged": true },
            "completions": {},
            "logging": {},
        }))
    }

    fn request<'a>(
        &'a self,
        method: &'a str,
        params: Object,
        client: Arc<dyn Client>,
    ) -> BoxFuture<'a, Result<Answered, ProtocolError>> {
        Box::pin(async move {
            let result = match method {
                "prompts/list" => prompts(),
                "prompts/get" => return prompt(&Value::Object(params), &*client),
                "resources/list" => resources(),
                "resources/templates/list" => json!({ "resourceTemplates": [
                    { "uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json" },
                ] }),
                "resources/read" => resource(params.get("uri").and_then(Value::as_str).unwrap_or_default())?,
                "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" => json!({}),
                "completion/complete" => json!({ "completion": { "values": [], "total": 0, "hasMore": false } }),
                _ => return Err(error(-32601, format!("no method {method:?}"), None)),
            };
            Ok(Answered::Result(object(result)))
        })
    }
}

fn prompts() -> Value {
    let argument = |name: &str| json!({ "name": name, "description": "For the test.", "required": true });
    json!({ "prompts": [
        { "name": "test_simple_prompt", "description": "A prompt without arguments." },
        {
            "name": "test_prompt_with_arguments",
            "description": "A prompt that shows its arguments.",
            "arguments": [argument("arg1"), argument("arg2")],
        },
        {
            "name": "test_prompt_with_embedded_resource",
            "description": "A prompt with a resource in it.",
            "arguments": [argument("resourceUri")],
        },
        { "name": "test_prompt_with_image", "description": "A prompt with a picture in it." },
        { "name": "test_input_required_result_prompt", "description": "A prompt that asks first." },
    ] })
}

fn prompt(params: &Value, client: &dyn Client) -> Result<Answered, ProtocolError> {
    let user = |content: Value| json!({ "role": "user", "content": content });
    let text = |text: String| user(json!({ "type": "text", "text": text }));
    let argument = |name: &str| params["arguments"][name].as_str().unwrap_or_default();
    let messages = match params["name"].as_str().unwrap_or_default() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.".into())],
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1"), argument("arg2"));
            vec![text(format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({
                "uri": argument("resourceUri"),
                "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            });
            let about = text("Please process the embedded resource above.".into());
            vec![user(json!({ "type": "resource", "resource": resource })), about]
        }
        "test_prompt_with_image" => {
            let image = json!({ "type": "image", "data": png_base64(), "mimeType": "image/png" });
            vec![user(image), text("Please analyze the image above.".into())]
        }
        "test_input_required_result_prompt" => {
            let answers = client.responses().unwrap_or_default();
            match answers.get("user_context").and_then(|answer| answer["content"]["context"].as_str()) {
                Some(context) => vec![text(format!("Use this context: {context}"))],
                None => {
                    let ask = elicit("What context should the prompt use?", "context", "string");
                    let requests = object(json!({ "user_context": ask }));
                    return Ok(Answered::Input { requests, state: None });
                }
            }
        }
        other => return Err(error(-32602, format!("no prompt {other:?}"), None)),
    };
    Ok(Answered::Result(object(json!({ "messages": messages }))))
}

fn resources() -> Value {
    let row = |uri: &str, name: &str, mime: &str| json!({ "uri": uri, "name": name, "description": "For the test.", "mimeType": mime });
    json!({ "resources": [
        row(STATIC_TEXT, "static text", "text/plain"),
        row(STATIC_BINARY, "static binary", "image/png"),
        row(WATCHED, "watched", "text/plain"),
    ] })
}

fn resource(uri: &str) -> Result<Value, ProtocolError> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let content = match (uri, id) {
        (STATIC_TEXT, _) => json!({
            "uri": uri,
            "mimeType": "text/plain",
            "text": "This is the content of the static text resource.",
        }),
        (STATIC_BINARY, _) => json!({ "uri": uri, "mimeType": "image/png", "blob": png_base64() }),
        (WATCHED, _) => json!({ "uri": uri, "mimeType": "text/plain", "text": "Watched." }),
        (_, Some(id)) => {
            let text = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string();
            json!({ "uri": uri, "mimeType": "application/json", "text": text })
        }
        // The SDK makes it -32602 where the revision wants that.
        _ => return Err(error(-32002, "no such resource".to_owned(), Some(json!({ "uri": uri })))),
    };
    Ok(json!({ "contents": [content] }))
}

fn error(code: i32, message: String, data: Option<Value>) -> ProtocolError {
    ProtocolError { code, message, data }
}

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}
