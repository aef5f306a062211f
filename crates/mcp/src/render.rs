//! From the pipeline's answers to the wire's: each text is moved, never copied.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nika_contract::{Block, Output};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource, ResourceContents, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::port::{Listed, Object, Reply};
use crate::revision::Revision;

/// The argument that carries a session handle over HTTP.
pub(crate) const SESSION_ARGUMENT: &str = "nika_session";

/// `_meta` of a result: the journal's name for the call, an error's code, a new session's handle.
const META_CALL: &str = "nika/call";
const META_CODE: &str = "nika/code";
pub(crate) const META_SESSION: &str = "nika/session";

/// A row of `tools/list`.
pub(crate) fn tool(listed: Listed, over_http: bool) -> Tool {
    let schema = if over_http { with_session(&listed.input_schema) } else { listed.input_schema };
    let mut tool = Tool::new(listed.name, listed.description, schema);
    let mut hints = ToolAnnotations::new().read_only(listed.read_only).open_world(listed.open_world);
    // Of a tool that never changes anything these two say nothing, and every byte is prompt.
    if !listed.read_only {
        hints = hints.destructive(listed.destructive).idempotent(listed.idempotent);
    }
    tool.annotations = Some(hints);
    tool.title = Some(listed.title).filter(|title| !title.is_empty());
    tool.output_schema = listed.output_schema;
    tool
}

/// A schema with the session argument, optional.
fn with_session(schema: &Arc<Object>) -> Arc<Object> {
    let mut schema = Object::clone(schema);
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        let about = "Handle of your session, from an earlier answer. Without it nothing counts as read.";
        properties.insert(SESSION_ARGUMENT.to_owned(), json!({ "type": "string", "description": about }));
    }
    Arc::new(schema)
}

/// The result of a call that ran or was refused.
pub(crate) fn result(reply: Reply, revision: Revision) -> CallToolResult {
    let mut meta = Object::new();
    if !reply.call_id.is_empty() {
        meta.insert(META_CALL.to_owned(), reply.call_id.into());
    }
    let mut result = match reply.output {
        Ok(Output { content, structured, failed, .. }) => {
            let mut result = CallToolResult::success(content.into_iter().map(block).collect());
            result.structured_content = structured;
            result.is_error = failed.map(|_| true);
            if let Some(code) = failed {
                meta.insert(META_CODE.to_owned(), code.to_string().into());
            }
            result
        }
        Err(error) => {
            meta.insert(META_CODE.to_owned(), error.code.to_string().into());
            CallToolResult::error(vec![ContentBlock::text(error.to_string())])
        }
    };
    if let Some(handle) = reply.session {
        let line = format!("[session: pass {SESSION_ARGUMENT}={handle:?} in your next calls]");
        result.content.push(ContentBlock::text(line));
        // Whoever shows a model the data shows it no line beside them.
        if let Some(Value::Object(data)) = &mut result.structured_content {
            data.insert(SESSION_ARGUMENT.to_owned(), handle.as_str().into());
        }
        meta.insert(META_SESSION.to_owned(), handle.into());
    }
    if !revision.is_stateless() {
        result.result_type = None;
    }
    result.meta = (!meta.is_empty()).then_some(MetaObject(meta));
    result
}

/// The handle that a result brings, when its call minted one.
pub(crate) fn minted_session(result: &CallToolResult) -> Option<&str> {
    result.meta.as_ref()?.0.get(META_SESSION)?.as_str()
}

fn block(block: Block) -> ContentBlock {
    match block {
        Block::Text(text) => ContentBlock::text(text),
        Block::Image { mime, data } => ContentBlock::image(STANDARD.encode(data), mime),
        Block::Audio { mime, data } => ContentBlock::audio(STANDARD.encode(data), mime),
        Block::Link { uri, name, bytes } => {
            let mut resource = Resource::new(uri, name);
            resource.size = Some(bytes);
            ContentBlock::resource_link(resource)
        }
        Block::Resource { uri, mime, text } => {
            ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(mime))
        }
    }
}

/// About how long a result is as JSON, so that its buffer grows once.
pub(crate) fn size_hint(result: &CallToolResult) -> usize {
    let blocks = result.content.iter().map(|block| match block {
        // A line break and a quotation mark take two bytes each: one character in sixteen or so.
        ContentBlock::Text(text) => text.text.len() + text.text.len() / 16,
        ContentBlock::Image(image) => image.data.len(),
        ContentBlock::Audio(audio) => audio.data.len(),
        _ => 0,
    });
    blocks.sum::<usize>() + 512
}

#[cfg(test)]
mod tests {
    use super::*;
    use nika_contract::{ToolError, code};

    fn json_of(reply: Reply, revision: Revision) -> String {
        serde_json::to_string(&result(reply, revision)).expect("serialises")
    }

    #[test]
    fn a_text_is_sent_once() {
        let reply = || Reply {
            output: Ok(Output::text("hello").with_diff("-a")),
            call_id: "c1".into(),
            session: None,
            tools_changed: false,
        };
        assert_eq!(
            json_of(reply(), Revision::V2025_11_25),
            r#"{"content":[{"type":"text","text":"hello"}],"_meta":{"nika/call":"c1"}}"#
        );
        assert_eq!(
            json_of(reply(), Revision::V2026_07_28),
            r#"{"resultType":"complete","content":[{"type":"text","text":"hello"}],"_meta":{"nika/call":"c1"}}"#
        );
    }

    #[test]
    fn a_new_session_is_told_with_the_data_too() {
        let output = Ok(Output::data(json!({"n": 1}), "one"));
        let reply = Reply { output, call_id: "c1".into(), session: Some("s".into()), tools_changed: false };
        let sent = result(reply, Revision::V2025_11_25);
        assert_eq!(sent.structured_content, Some(json!({"n": 1, "nika_session": "s"})));
    }

    #[test]
    fn an_error_is_a_result_with_its_code() {
        let error = ToolError::new(code::NOT_UNIQUE, "'fn main' occurs 3 times").hint("add lines");
        let reply = Reply { output: Err(error), call_id: "c2".into(), session: Some("s".into()), tools_changed: false };
        assert_eq!(
            json_of(reply, Revision::V2025_06_18),
            concat!(
                r#"{"content":[{"type":"text","text":"NIKA-209 'fn main' occurs 3 times; add lines"},"#,
                r#"{"type":"text","text":"[session: pass nika_session=\"s\" in your next calls]"}],"isError":true,"#,
                r#""_meta":{"nika/call":"c2","nika/code":"NIKA-209","nika/session":"s"}}"#
            )
        );
    }
}
