//! One server, asked directly: no pool, no pins, nothing kept. For tests of what goes over the wire.

use std::sync::Arc;

use nika_contract::{Asker, Cancel, Silent, ToolError};
use serde_json::{Map, Value};

use super::ask::Caller;
use super::connect::{Ways, connect};
use super::connection::Connection;
use super::server::Server;

/// A connection without anything around it.
#[derive(Debug)]
pub struct Direct {
    connection: Connection,
    caller: Arc<Caller>,
}

impl Direct {
    /// Connects; questions of the server go to `asker`.
    pub async fn open(server: Server, ways: &Ways, asker: Arc<dyn Asker>) -> Result<Direct, ToolError> {
        let connection = connect(&Arc::new(server), ways, Arc::new(|| {})).await?;
        Ok(Direct { connection, caller: Caller::new(asker, Arc::new(Silent), "direct", "direct") })
    }

    /// Names of its tools and the schemas of their arguments.
    pub async fn tools(&self) -> Result<Vec<(String, Value)>, ToolError> {
        let tools = self.connection.tools(&self.caller, &Cancel::default()).await?;
        Ok(tools
            .into_iter()
            .map(|tool| (tool.name.into_owned(), Value::Object((*tool.input_schema).clone())))
            .collect())
    }

    /// Calls a tool; its result as JSON.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, ToolError> {
        let result = self.connection.call(tool, arguments, &self.caller, &Cancel::default()).await?;
        Ok(serde_json::to_value(result).unwrap_or_default())
    }

    /// The URIs of its resources.
    pub async fn resources(&self) -> Result<Vec<String>, ToolError> {
        let resources = self.connection.resources(&self.caller, &Cancel::default()).await?;
        Ok(resources.into_iter().map(|resource| resource.uri.clone()).collect())
    }

    /// Reads a resource; its contents as JSON.
    pub async fn read(&self, uri: &str) -> Result<Value, ToolError> {
        let result = self.connection.read(uri, &self.caller, &Cancel::default()).await?;
        Ok(serde_json::to_value(result).unwrap_or_default())
    }
}
