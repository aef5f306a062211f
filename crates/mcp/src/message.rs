//! Any message of JSON-RPC, as a server reads it: which it is, or what is wrong with it.

use rmcp::model::{ErrorData, RequestId};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::port::Object;

/// A message whose form is right. What it has of the last three says what it is.
pub(crate) struct Message {
    pub(crate) id: Option<RequestId>,
    pub(crate) params: Object,
    pub(crate) method: Option<String>,
    pub(crate) result: Option<Value>,
    pub(crate) error: Option<ErrorData>,
}

/// What is wrong with one, and the id that the answer goes to, where there is one.
pub(crate) type Refused = Box<(Option<RequestId>, ErrorData)>;

/// As it is written. One pass over the line, whatever it is.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Written {
    jsonrpc: Option<String>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<String>,
    params: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    error: Option<ErrorData>,
}

/// Tells `null` from nothing.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// What is said of an answer to a question of ours that says nothing.
pub(crate) const NO_ANSWER: &str = "the answer has neither a result nor an error";

/// Reads one message.
pub(crate) fn read(line: &[u8]) -> Result<Message, Refused> {
    if line.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
        return Err(Box::new((None, not_one_message(line))));
    }
    let written: Written = serde_json::from_slice(line).map_err(|error| {
        let refused = if error.is_data() {
            ErrorData::invalid_request(format!("not a JSON-RPC message: {error}"), None)
        } else {
            ErrorData::parse_error(format!("not JSON: {error}"), None)
        };
        Box::new((id_of(line), refused))
    })?;
    let id = match written.id.map(request_id) {
        None => None,
        Some(Some(id)) => Some(id),
        Some(None) => {
            let why = "an id is a string or a whole number";
            return Err(Box::new((None, ErrorData::invalid_request(why, None))));
        }
    };
    if written.jsonrpc.as_deref() != Some("2.0") {
        let why = "`jsonrpc` is \"2.0\" in every message";
        return Err(Box::new((id, ErrorData::invalid_request(why, None))));
    }
    let params = match written.params {
        Some(Value::Object(params)) => params,
        None | Some(Value::Null) => Object::new(),
        Some(_) => return Err(Box::new((id, ErrorData::invalid_params("`params` is an object", None)))),
    };
    Ok(Message { id, params, method: written.method, result: written.result, error: written.error })
}

/// Of a line that is no message: which request of ours it was to answer. Whoever waits for that would wait for ever.
pub(crate) fn answers(line: &[u8]) -> Option<i64> {
    #[derive(Deserialize)]
    struct Answer {
        id: i64,
        method: Option<IgnoredAny>,
    }
    let answer: Answer = serde_json::from_slice(line).ok()?;
    answer.method.is_none().then_some(answer.id)
}

/// An id as the SDK has it; `None` for what cannot be one.
pub(crate) fn request_id(value: Value) -> Option<RequestId> {
    match value {
        Value::String(text) => Some(RequestId::String(text.into())),
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        _ => None,
    }
}

/// The id of what is no message, where it can be told: whoever waits for an answer gets one. What stands elsewhere in the
/// line does not matter here, be it text that no string can hold. An answer's id is one of ours, and the client may have
/// the same among its own: it is not given back.
pub(crate) fn id_of(line: &[u8]) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Request {
        id: Option<Value>,
        #[serde(rename = "method")]
        _method: IgnoredAny,
    }
    serde_json::from_slice::<Request>(line).ok()?.id.and_then(request_id)
}

/// An array: no revision spoken here has batches.
fn not_one_message(line: &[u8]) -> ErrorData {
    match serde_json::from_slice::<IgnoredAny>(line) {
        Ok(_) => ErrorData::invalid_request("one message at a time: no revision spoken here has batches", None),
        Err(error) => ErrorData::parse_error(format!("not JSON: {error}"), None),
    }
}
