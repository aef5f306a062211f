//! From what was said, configured and set in the environment to a model that can be asked.

use std::io::Read;
use std::sync::Arc;

use nika_agent::provider::choose::{Chosen, Configured, SCRIPTED, Said, choose, unpriced};
use nika_agent::provider::{Key, Patience, Provider, Proxies, Retrying, Scripted, Sleeping, Wire};
use nika_contract::{ToolError, code};
use nika_guard::{Budget, Budgets, Layer};

use crate::failure::Failure;
use crate::time::SystemClock;
use crate::world::World;

/// Bytes of a script.
const MOST_BYTES: u64 = 4 << 20;

/// The model to ask. Its client is made when it is asked for the first time.
pub fn model(world: &World, said: Said<'_>, configured: &Configured) -> Result<Arc<dyn Provider>, Failure> {
    let is_set = |name: &str| world.variable(name).is_some();
    match choose(said, configured, &is_set)? {
        Chosen::Scripted { file } => {
            let text = script(&file).map_err(|error| {
                ToolError::new(code::NO_MODEL, format!("the script {file} cannot be read: {error}"))
                    .hint("--model names a file when the provider is `scripted`")
            })?;
            let scripted = Scripted::parse(&file, &text)
                .map_err(|error| ToolError::new(code::NO_MODEL, error.message).hint("docs/models.md shows the form"))?;
            Ok(patient(world, scripted))
        }
        Chosen::Wire(choice) => {
            let key = choice.key_env.as_deref().and_then(|name| world.variable(name)).map(|key| Key::new(&key));
            let proxy = |name: &str| world.variable(name).or_else(|| world.variable(&name.to_uppercase()));
            let proxies =
                Proxies { http: proxy("http_proxy"), https: proxy("https_proxy"), none_for: proxy("no_proxy") };
            Ok(patient(world, Wire::new(choice.endpoint(key), proxies, Patience::default(), Arc::new(SystemClock))?))
        }
    }
}

/// The provider that a person chose, by configuration, the command line or the key that is set: its name or address.
pub fn provider(world: &World, configured: &Configured) -> Result<String, Failure> {
    if let Some(provider) = &configured.provider {
        return Ok(provider.clone());
    }
    let is_set = |name: &str| world.variable(name).is_some();
    Ok(match choose(Said::default(), configured, &is_set)? {
        Chosen::Wire(choice) => choice.provider,
        Chosen::Scripted { .. } => SCRIPTED.to_owned(),
    })
}

/// Whether what this model costs can be counted, where something bounds it. A bound that nobody can count must not look
/// as if it held: what the person at the command line wants is refused, what stands elsewhere is told of.
pub fn counted(model: &dyn Provider, budgets: &Budgets) -> Result<Option<String>, ToolError> {
    let Some(limit) = budgets.get(Budget::TotalCost).filter(|_| model.model().prices.is_none()) else {
        return Ok(None);
    };
    let error = unpriced(model, &limit.at);
    if limit.layer == Layer::CommandLine {
        return Err(error);
    }
    let hint = error.hint.unwrap_or_default();
    Ok(Some(format!("{}: it does not bound this run; {hint}", error.message)))
}

/// The script, which is a plain file and no book.
fn script(file: &str) -> std::io::Result<String> {
    if !std::fs::metadata(file)?.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    std::fs::File::open(file)?.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// A model that is asked again where that may help.
fn patient(world: &World, model: impl Provider + 'static) -> Arc<dyn Provider> {
    Arc::new(Retrying::new(model, Arc::new(Sleeping), u64::from(world.pid)))
}
