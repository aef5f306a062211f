//! Logins to MCP servers, put together: in one file of the person's state, apart from every workspace.

use std::path::Path;
use std::sync::Arc;

use nika_contract::{ToolError, code};
use nika_mcp::client::Proxies;
use nika_mcp::client::auth::{Fetch, Limits, Logins, Parts, Vault};
use nika_store::{Private, StoreError};

use crate::time::SystemClock;
use crate::world::World;

/// The file below the state's base.
const FILE: &str = "mcp-logins.json";

/// The logins of this person. Nothing is read or reached for it.
pub fn logins(world: &World, base: &Path) -> Arc<Logins> {
    let fetch = Fetch::new(proxies(world), Limits::default());
    let vault = Arc::new(Kept(Private::new(&base.join(FILE))));
    Arc::new(Logins::new(Parts { vault, clock: Arc::new(SystemClock), fetch }))
}

/// Proxies, as the environment names them.
pub fn proxies(world: &World) -> Proxies {
    let proxy = |name: &str| world.variable(name).or_else(|| world.variable(&name.to_uppercase()));
    Proxies { http: proxy("http_proxy"), https: proxy("https_proxy"), none_for: proxy("no_proxy") }
}

/// Where logins are kept.
struct Kept(Private);

/// What can go wrong on the way: with the file, or with what stands in it.
struct Wrong(ToolError);

impl From<StoreError> for Wrong {
    fn from(error: StoreError) -> Wrong {
        Wrong(unusable(&error))
    }
}

fn unusable(error: &StoreError) -> ToolError {
    ToolError::new(code::MCP_LOGIN_STORE, format!("the file of logins cannot be used: {error}"))
        .hint("mend or remove it; without it one logs in anew")
}

impl Vault for Kept {
    fn read(&self) -> Result<Option<Vec<u8>>, ToolError> {
        self.0.read().map_err(|error| unusable(&error))
    }

    fn change(&self, change: &mut dyn FnMut(Option<Vec<u8>>) -> Result<Vec<u8>, ToolError>) -> Result<(), ToolError> {
        self.0.change(|bytes| change(bytes).map_err(Wrong)).map_err(|Wrong(error)| error)
    }

    fn hold(&self, key: &str) -> Result<Option<Box<dyn Send>>, ToolError> {
        let held = self.0.hold(key).map_err(|error| unusable(&error))?;
        Ok(held.map(|held| Box::new(held) as Box<dyn Send>))
    }
}
