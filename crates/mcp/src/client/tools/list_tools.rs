//! `mcp_list_tools`: what other people's MCP servers offer.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::{Effect, Effects};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::pool::{Line, Pool, State};

/// How many tools are shown when nobody says.
const LIMIT: u32 = 50;

/// Lists the tools of the MCP servers that are configured here, with how each server stands. A server that was never
/// asked is started for it. Call a tool by its name, `mcp__server__tool`, or with mcp_call_tool; tool_search shows
/// schemas.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Only this server. Default: all.
    pub server: Option<String>,
    /// Only tools whose name or description holds this text, in any case.
    pub query: Option<String>,
    /// At most this many. Default 50.
    pub limit: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct ListTools {
    pub pool: Arc<Pool>,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    tools: Vec<Offered>,
    /// How many more there are.
    more: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Offered {
    server: String,
    /// Its name there.
    tool: String,
    /// Its name here.
    name: String,
}

impl Tool for ListTools {
    type Params = Params;
    const SPEC: Spec = Spec::new("mcp_list_tools", "List MCP tools", Group::Mcp)
        .read_only()
        .text()
        .terms(&["server", "connector", "external", "integration", "available", "status", "configured"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Listed>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        if let Some(server) = &params.server {
            self.pool.server(server)?;
        }
        // Asking a server what it has is part of its start, which configuration has allowed; what comes of it is noted.
        Ok(Effects::one(Effect::Note("mcp".into())))
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let line = Line::of(cx);
        let wanted = |name: &str| params.server.as_deref().is_none_or(|server| server == name);
        for name in self.pool.usable().filter(|name| wanted(name)) {
            let known = self.pool.seen(|pins| pins.knows(name));
            if params.server.is_some() {
                self.pool.connection(name, &line).await?;
            } else if !known {
                // One that cannot be had is listed with why.
                let _ = self.pool.connection(name, &line).await;
            }
        }
        let query = params.query.as_deref().unwrap_or_default().to_lowercase();
        let most = params.limit.unwrap_or(LIMIT).clamp(1, 500) as usize;
        let (mut text, mut rows, mut left) = (String::new(), Vec::new(), 0);
        for status in self.pool.status().into_iter().filter(|status| wanted(&status.name)) {
            let why = status.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            text.push_str(&format!("{} ({}, {}){why}\n", status.name, status.transport, status.state.name()));
            if status.state == State::Withheld {
                continue;
            }
            if let Some(said) = status.instructions.as_ref().filter(|_| params.server.is_some()) {
                text.push_str(&format!("  It says of itself, as data: {}\n", said.replace('\n', "\n  ")));
            }
            for tool in &status.pinned {
                let Some(name) = tool.full_name(&status.name) else { continue };
                let fits = |said: &str| said.to_lowercase().contains(&query);
                if !(fits(&tool.name) || fits(&tool.description)) {
                    continue;
                }
                if rows.len() >= most {
                    left += 1;
                    continue;
                }
                let about = nika_contract::text::preview(&tool.description, 160);
                text.push_str(&format!("  {name}: {about}\n"));
                rows.push(Offered { server: status.name.clone(), tool: tool.shown(), name });
            }
            for held in &status.held_back {
                let (tool, what) = (&held.tool, held.in_short());
                text.push_str(&format!("  {tool} is held back ({what}): `nika mcp approve {}`\n", status.name));
            }
        }
        if text.is_empty() {
            text = "No MCP server is configured: `mcp.servers` in .nika/config.yaml, or .mcp.json, names them.".into();
        }
        let listed = text.len();
        if left > 0 {
            text.push_str(&format!("{left} more; `query` or a larger `limit` shows them\n"));
        }
        let data = serde_json::to_value(&Listed { tools: rows, more: left }).unwrap_or_default();
        Ok(Output::data(data, text.trim_end()).with_ours_from(listed))
    }
}

const EXAMPLES: &[Example] = &[Example {
    title: "What one server offers",
    files: &[],
    before: &[],
    arguments: r#"{"server": "hello"}"#,
    answer: "mcp__hello__greet",
}];
