//! `invoke`: any tool of the pipeline, or a resource of an MCP server. Its output is the call's data, else its text,
//! whole: the pipeline of runs cuts nothing.

use nika_contract::{Block, Output, ToolError, code};
use serde_json::{Map, Value, json};

use super::Hands;
use crate::run::action::Action;
use crate::run::events::Spent;
use crate::run::world::{Made, Order, Unmade};
use crate::tools::workflow_run;

pub(super) async fn invoke(hands: &Hands, order: &Order) -> Result<Made, Unmade> {
    let (tool, arguments) = match &order.action {
        Action::Tool { name, arguments } => (name.as_str(), arguments.clone()),
        Action::Resource { server, uri } => {
            let named = json!({"server": server, "uri": uri}).as_object().cloned();
            ("mcp_read_resource", named.unwrap_or_else(Map::new))
        }
        _ => unreachable!("the caller looked"),
    };
    // A server that was not asked yet is started by the call.
    let (output, call) = hands.call(order, tool, arguments).await.map_err(|error| unknown(tool, error))?;
    let output = value(output);
    let spent = if tool == workflow_run::NAME { took(&output) } else { Spent::default() };
    Ok(Made { output, spent, call: Some(call) })
}

/// What the models of a workflow took that a call ran.
fn took(output: &Value) -> Spent {
    Spent { tokens: output["tokens"].as_u64().unwrap_or_default(), cost_micros: output["cost_micros"].as_u64() }
}

/// What nobody knows the name of, and a server would bring.
fn unknown(tool: &str, error: ToolError) -> ToolError {
    if error.code != code::UNKNOWN_TOOL || !tool.starts_with("mcp_") {
        return error;
    }
    let message = format!("`{tool}` is not here: no MCP server that is configured has it");
    let near = error.hint.filter(|hint| hint.starts_with("did you mean"));
    ToolError::new(code::UNKNOWN_TOOL, message).hint(
        near.unwrap_or_else(|| {
            "`nika mcp list` shows the servers; `.mcp.json` and `.nika/config.yaml` name them".into()
        }),
    )
}

/// The data of an answer with its texts as `text`, where it has none of that name; texts alone where there is no data.
pub(super) fn value(output: Output) -> Value {
    if let Some(raw) = output.raw {
        return raw;
    }
    let texts: Vec<String> = output
        .content
        .into_iter()
        .filter_map(|block| match block {
            Block::Text(text) | Block::Resource { text, .. } => Some(text),
            _ => None,
        })
        .collect();
    let text = Value::String(texts.join("\n"));
    match output.structured {
        None => text,
        Some(Value::Object(mut data)) => {
            data.entry("text").or_insert(text);
            Value::Object(data)
        }
        Some(data) => data,
    }
}
