//! The smallest server: one tool that says back what it is told. `drive` measures it.
//!
//! `--sdk` serves the same tool with the SDK's own service loop and stdio, for comparison.

use std::sync::Arc;

use nika_contract::{BoxFuture, Fault, Output};
use nika_mcp::{Answer, Backend, Listed, Object, Reply, Request, Session};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::json;

struct Echo;

fn schema() -> Arc<Object> {
    let schema =
        json!({ "type": "object", "properties": { "text": { "type": "string" }, "times": { "type": "integer" } } });
    Arc::new(schema.as_object().expect("an object").clone())
}

fn say(arguments: &Object) -> String {
    let times = arguments.get("times").and_then(|times| times.as_u64()).unwrap_or(1);
    arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default().repeat(times as usize)
}

impl Backend for Echo {
    fn name(&self) -> String {
        "echo".into()
    }

    fn version(&self) -> String {
        "0".into()
    }

    fn instructions(&self) -> String {
        String::new()
    }

    fn list(&self, _: &Session) -> Vec<Listed> {
        vec![Listed {
            name: "echo".into(),
            title: "Echo".into(),
            description: "Says it back.".into(),
            input_schema: schema(),
            output_schema: None,
            read_only: true,
            destructive: false,
            idempotent: true,
            open_world: false,
        }]
    }

    fn call(&self, request: Request) -> BoxFuture<'_, Result<Answer, Fault>> {
        Box::pin(async move {
            let output = Ok(Output::text(say(&request.arguments)));
            Ok(Answer::Done(Reply { output, call_id: "c0001-0000".into(), session: None, tools_changed: false }))
        })
    }
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![Tool::new("echo", "Says it back.", schema())]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = say(&request.arguments.unwrap_or_default());
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        if std::env::args().any(|argument| argument == "--sdk") {
            let server = Echo.serve((tokio::io::stdin(), tokio::io::stdout())).await?;
            server.waiting().await?;
        } else {
            nika_mcp::serve_stdio(Arc::new(Echo)).await?;
        }
        Ok(())
    })
}
