//! The SDK's own client as a second opinion: what it takes for a server, others will.

use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ErrorData, Implementation, ProtocolVersion,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient};
use serde_json::json;

use crate::backend::Scene;
use crate::http::{TOKEN, Web};
use crate::peer::pipes;

/// Says yes to whatever it is asked.
#[derive(Default)]
struct Agreeable {
    asked: Mutex<usize>,
}

impl ClientHandler for Agreeable {
    fn get_info(&self) -> ClientConfig {
        let capabilities: ClientCapabilities = serde_json::from_value(json!({ "elicitation": {} })).expect("it fits");
        ClientConfig::new(capabilities, Implementation::new("agreeable", "0"))
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        *self.asked.lock().expect("not poisoned") += 1;
        let mut result = ElicitResult::new(ElicitationAction::Accept);
        result.content = Some(json!({ "answer": "yes" }));
        Ok(result)
    }
}

fn eras() -> [ClientLifecycleMode; 2] {
    [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    ]
}

async fn try_everything(client: rmcp::service::RunningService<RoleClient, Agreeable>) {
    let tools = client.list_all_tools().await.expect("tools");
    assert_eq!(tools.len(), 10);
    for (tool, want) in [("echo", "hi"), ("ask", "yes by the client's user"), ("fail", "NIKA-208 no a.rs; look around")]
    {
        let arguments = json!({ "text": "hi" }).as_object().expect("an object").clone();
        let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.expect(tool);
        assert_eq!(result.content[0].as_text().map(|text| text.text.as_str()), Some(want));
        assert_eq!(result.is_error, (tool == "fail").then_some(true));
    }
    assert_eq!(*client.service().asked.lock().expect("not poisoned"), 1);
    assert!(client.call_tool(CallToolRequestParams::new("nope")).await.is_err());
    client.cancel().await.expect("closed");
}

#[tokio::test]
async fn over_pipes() {
    for era in eras() {
        let (input, output, server) = pipes(Arc::new(Scene::default()));
        let client = Agreeable::default().serve_with_lifecycle((output, input), era).await.expect("served");
        try_everything(client).await;
        server.await.expect("no panic").expect("no error");
    }
}

#[tokio::test]
async fn over_http() {
    // The client's library has TLS built in and no cryptography of its own; where another test was first, it is there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let web = Web::open().await;
    for era in eras() {
        let mut config = StreamableHttpClientTransportConfig::with_uri(format!("http://{}/mcp", web.address));
        config.auth_header = Some(TOKEN.to_owned());
        let transport = StreamableHttpClientTransport::from_config(config);
        let client = Agreeable::default().serve_with_lifecycle(transport, era).await.expect("served");
        try_everything(client).await;
    }
}
