//! `mcp_list_resources`: what other people's MCP servers have to read.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, text};
use nika_guard::{Effect, Effects, LIST_RESOURCES};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::pool::Pool;

/// Lists the resources of MCP servers: texts and data that mcp_read_resource reads by their URI.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Params {
    /// Only this server. Default: all.
    pub server: Option<String>,
}

#[derive(Debug)]
pub(crate) struct ListResources {
    pub pool: Arc<Pool>,
}

impl ListResources {
    fn servers<'a>(&'a self, params: &'a Params) -> Result<Vec<&'a str>, ToolError> {
        match &params.server {
            Some(server) => self.pool.server(server).map(|server| vec![server.name.as_str()]),
            None => Ok(self.pool.usable().collect()),
        }
    }
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    resources: Vec<Resource>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Resource {
    server: String,
    uri: String,
    name: String,
}

impl Tool for ListResources {
    type Params = Params;
    const SPEC: Spec = Spec::new("mcp_list_resources", "List MCP resources", Group::Mcp)
        .read_only()
        .text()
        .open_world()
        .terms(&["server", "connector", "external", "documents", "data", "available"])
        .examples(EXAMPLES);

    fn output_schema() -> Option<Value> {
        Some(nika_contract::output_schema::<Listed>())
    }

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        let asks = |server: &str| Effect::Foreign { server: server.to_owned(), tool: LIST_RESOURCES.to_owned() };
        let all: Vec<Effect> = self.servers(params)?.into_iter().map(asks).collect();
        // With no server nobody is asked.
        let all = if all.is_empty() { vec![Effect::Note("mcp".into())] } else { all };
        Ok(Effects { tool: String::new(), all })
    }

    async fn run(&self, params: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let servers = self.servers(&params)?;
        let (mut said, mut rows) = (String::new(), Vec::new());
        for server in &servers {
            let found = match self.pool.resources(server, cx).await {
                Ok(found) => found,
                // Asked for alone, its trouble is the answer.
                Err(error) if servers.len() == 1 => return Err(error),
                Err(error) => {
                    said.push_str(&format!("{server}: {error}\n"));
                    continue;
                }
            };
            for resource in &found {
                let part = |key: &str| text::harmless(resource[key].as_str().unwrap_or_default()).into_owned();
                let (uri, name) = (part("uri"), text::preview(&part("name"), 80));
                let about = text::preview(&part("description"), 160);
                let gap = if about.is_empty() { "" } else { ": " };
                said.push_str(&format!("{server} {uri} ({name}){gap}{about}\n"));
                rows.push(Resource { server: (*server).to_owned(), uri, name });
            }
        }
        if said.is_empty() {
            said = "No MCP server here has resources.".to_owned();
        }
        Ok(Output::data(serde_json::to_value(&Listed { resources: rows }).unwrap_or_default(), said.trim_end()))
    }
}

const EXAMPLES: &[Example] =
    &[Example { title: "What there is to read", files: &[], before: &[], arguments: "{}", answer: "hello docs://a" }];
