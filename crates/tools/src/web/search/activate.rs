//! `search_activate_provider`: which provider the searches of this session ask from now on.

use std::sync::Arc;

use nika_contract::{Cx, Example, Group, Output, Scene, Spec, Tool, ToolError, code};
use nika_guard::Effects;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Chosen, Ground, provider};

/// Chooses the provider that web_search asks for the rest of this session.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// A name that search_list_providers shows.
    pub provider: String,
}

const EXAMPLES: &[Example] = &[Example {
    title: "Another one from now on",
    files: &[],
    before: &[],
    arguments: r#"{"provider": "local"}"#,
    answer: "Searches of this session ask local",
}];

/// The tool.
#[derive(Debug)]
pub struct SearchActivateProvider {
    /// What it stands on.
    pub ground: Arc<Ground>,
}

impl Tool for SearchActivateProvider {
    type Params = Params;
    const SPEC: Spec = Spec::new("search_activate_provider", "Choose search provider", Group::Web)
        .idempotent()
        .terms(&["switch", "use brave", "use tavily", "engine", "default search", "backend"])
        .examples(EXAMPLES);

    fn effects(&self, p: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        provider(&self.ground, scene.session, Some(&p.provider))?;
        Ok(Effects::session())
    }

    async fn run(&self, p: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let chosen = provider(&self.ground, cx.session, Some(&p.provider))?;
        if !cx.session.is_lasting() {
            return Err(ToolError::new(code::NEEDS_SESSION, "this session ends with the call, and the choice with it")
                .hint("pass `provider` to web_search instead"));
        }
        cx.session.slot::<Chosen>().set(Some(&chosen.name));
        let mut text = format!("Searches of this session ask {} from now on.", chosen.name);
        if let Some(variable) = chosen.key_env.as_deref().filter(|_| !chosen.is_ready()) {
            let name = &chosen.name;
            text.push_str(&format!(
                " Its key is missing: {variable} is not set, and a person keeps none (`nika search login {name}`)."
            ));
        }
        Ok(Output::text(text))
    }
}
