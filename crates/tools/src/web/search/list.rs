//! `search_list_providers`: which search providers are configured, and which one a search would ask.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError};
use nika_guard::Effects;
use schemars::JsonSchema;
use serde::Deserialize;

use super::provider::Provider;
use super::{Ground, provider};
use crate::lenient;

/// Lists the search providers and which one web_search asks.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Only those whose name, kind or host holds this.
    #[serde(default)]
    pub query: Option<String>,
    /// Another agent's bound on how many are shown: taken, and not listed, as there are a few.
    #[serde(default, deserialize_with = "lenient::number")]
    #[schemars(skip)]
    pub max_providers: Option<u32>,
}

const EXAMPLES: &[Example] =
    &[Example { title: "All of them", files: &[], before: &[], arguments: "{}", answer: "searxng at " }];

/// The tool.
#[derive(Debug)]
pub struct SearchListProviders {
    /// What it stands on.
    pub ground: Arc<Ground>,
}

impl Tool for SearchListProviders {
    type Params = Params;
    const SPEC: Spec = Spec::new("search_list_providers", "List search providers", Group::Web)
        .read_only()
        .terms(&[
            "brave",
            "tavily",
            "searxng",
            "engine",
            "which search",
            "backends",
            "available",
            "configured",
            "services",
            "set up",
        ])
        .examples(EXAMPLES);

    fn effects(&self, params: &Params, _: &Scene<'_>) -> Result<Effects, ToolError> {
        lenient::some("max_providers", params.max_providers)?;
        Ok(Effects::session())
    }

    async fn run(&self, p: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        // Where none is configured, the error says how one comes to be.
        let asked = provider(&self.ground, cx.session, None)?;
        let query = p.query.unwrap_or_default().to_lowercase();
        let fits = |one: &&Provider| {
            [one.name.as_str(), one.kind.name(), one.address.host()]
                .iter()
                .any(|text| text.to_lowercase().contains(&query))
        };
        let most = p.max_providers.map_or(usize::MAX, |most| most as usize);
        let found: Vec<&Provider> = self.ground.providers.iter().filter(fits).collect();
        let mut lines: Vec<String> = found.iter().take(most).map(|one| line(one, one.name == asked.name)).collect();
        if found.len() > lines.len() {
            lines.push(format!("… and {} more.", found.len() - lines.len()));
        }
        Ok(Output::text(match lines.is_empty() {
            true => format!("No provider is called or like {query:?}."),
            false => lines.join("\n"),
        }))
    }
}

/// A provider in a line. Of its key only whether it is there.
fn line(one: &Provider, asked: bool) -> String {
    let key = match (&one.key_env, one.key.is_some()) {
        _ if one.is_kept => "key kept by `nika search login`".to_owned(),
        (None, _) => "no key needed".to_owned(),
        (Some(variable), true) => format!("key from {variable}"),
        (Some(variable), false) => {
            format!("needs a key in {variable}, which is not set, or by `nika search login {}`", one.name)
        }
    };
    let asked = if asked { " (asked now)" } else { "" };
    format!("{}{asked}: {} at {}, {key}", one.name, one.kind.name(), one.address.host())
}
