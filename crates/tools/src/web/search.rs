//! `web_search`: asks the search provider that a person configured, and shows what it found.

pub mod activate;
pub mod list;
pub mod provider;
mod results;

use std::sync::{Arc, Mutex, PoisonError};

use nika_contract::{Cx, Example, Group, Output, Scene, SessionState, Spec, Tool, ToolError, code, event, text};
use nika_guard::{Effect, Effects};
use nika_host::net::Caps;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Ground;
use super::envelope::seal;
use crate::lenient;
use provider::Provider;
use results::Wanted;

/// Searches the web: titles, addresses and a few words of each result. To read one of them use web_fetch.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// What to look for; at least 2 characters.
    pub query: String,
    /// Only results of these domains and what is below them.
    #[serde(default)]
    pub allowed_domains: Option<Vec<String>>,
    /// No results of these.
    #[serde(default)]
    pub blocked_domains: Option<Vec<String>>,
    /// A provider's name; search_list_providers shows them.
    #[serde(default)]
    pub provider: Option<String>,
    /// At most 20.
    #[serde(default, deserialize_with = "lenient::number")]
    #[schemars(with = "Option<u32>")]
    pub max_results: Option<u32>,
}

const EXAMPLES: &[Example] = &[Example {
    title: "Results of one domain",
    files: &[],
    before: &[],
    arguments: r#"{"query": "borrow checker", "allowed_domains": ["rust-lang.org"]}"#,
    answer: "doc.rust-lang.org",
}];

/// Results of one search.
const MOST_RESULTS: u32 = 20;
/// Results where nobody says how many.
const RESULTS: u32 = 8;
/// Characters of a query: engines take about so many.
const QUERY_CHARS: usize = 400;
/// Domains of one search.
const MOST_DOMAINS: usize = 20;

/// The provider that a session has chosen.
#[derive(Debug, Default)]
pub struct Chosen(Mutex<Option<String>>);

impl Chosen {
    /// Its name; `None` is the first that is configured.
    pub fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on, this one.
    pub fn set(&self, name: Option<&str>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = name.map(str::to_owned);
    }
}

/// The provider of this name, or the session's, or the first.
fn provider<'g>(ground: &'g Ground, session: &SessionState, named: Option<&str>) -> Result<&'g Provider, ToolError> {
    let chosen = session.slot::<Chosen>().get();
    let names = || ground.providers.iter().map(|provider| provider.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(first) = ground.providers.first() else {
        return Err(ToolError::new(code::NO_SEARCH, "no search provider is configured").hint(
            "a person says `nika search login brave`, sets BRAVE_API_KEY, TAVILY_API_KEY or SEARXNG_URL, or \
             `web.search_providers` in the configuration; docs/web.md has each in full",
        ));
    };
    let Some(name) = named.map(str::to_owned).or(chosen) else { return Ok(first) };
    ground.providers.iter().find(|provider| provider.name == name).ok_or_else(|| {
        let shown = text::preview(&name, 80);
        ToolError::new(code::NO_SEARCH, format!("no search provider is called '{shown}'"))
            .hint(format!("use one of {}", names()))
    })
}

/// The tool.
#[derive(Debug)]
pub struct WebSearch {
    /// What it stands on.
    pub ground: Arc<Ground>,
}

impl Tool for WebSearch {
    type Params = Params;
    const SPEC: Spec = Spec::new("web_search", "Search the web", Group::Web)
        .read_only()
        .open_world()
        .event(event::WEB_SEARCH)
        .terms(&[
            "google", "internet", "online", "look up", "news", "engine", "find", "results", "latest", "websites",
            "topic", "current", "pages", "sites",
        ])
        .examples(EXAMPLES);

    fn effects(&self, p: &Params, scene: &Scene<'_>) -> Result<Effects, ToolError> {
        let provider = provider(&self.ground, scene.session, p.provider.as_deref())?;
        wanted(p, provider)?;
        Ok(Effects::one(Effect::Net(provider.address.host().to_owned())))
    }

    fn preview(&self, p: &Params, cx: &Cx<'_>) -> Result<Option<String>, ToolError> {
        let provider = provider(&self.ground, cx.session, p.provider.as_deref())?;
        Ok(Some(format!("ask {} for: {}", provider.name, p.query)))
    }

    async fn run(&self, p: Params, cx: &Cx<'_>) -> Result<Output, ToolError> {
        let provider = provider(&self.ground, cx.session, p.provider.as_deref())?;
        let wanted = wanted(&p, provider)?;
        let asked = provider.asked(&wanted)?;
        let caps = Caps { body_bytes: 4 << 20, ..self.ground.caps };
        let got = self.ground.net.exchange(cx.permit, &asked, &caps, cx.cancel).await?;
        let found = provider.read(&got, &wanted)?;
        let text = match found.is_empty() {
            true => format!("{} found nothing for {:?}.", provider.name, wanted.query),
            false => {
                let list: Vec<String> = found.iter().enumerate().map(|(at, one)| one.shown(at + 1)).collect();
                seal(&format!("a search by {} for {:?}", provider.name, wanted.query), &[], &list.join("\n"))
            }
        };
        Ok(Output::text(text)
            .with_fact("provider", provider.name.as_str())
            .with_fact("host", provider.address.host())
            .with_fact("results", found.len()))
    }
}

/// What is wanted, checked.
fn wanted(p: &Params, provider: &Provider) -> Result<Wanted, ToolError> {
    let query = p.query.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = query.chars().count();
    if !(2..=QUERY_CHARS).contains(&length) {
        return Err(ToolError::argument("query", format!("takes 2 to {QUERY_CHARS} characters, not {length}")));
    }
    let most = p.max_results.unwrap_or(provider.max_results.unwrap_or(RESULTS)).min(MOST_RESULTS);
    if most == 0 {
        return Err(ToolError::argument("max_results", format!("takes 1 to {MOST_RESULTS}")));
    }
    let domains = |field: &str, domains: &Option<Vec<String>>| {
        let domains = domains.as_deref().unwrap_or_default();
        if domains.len() > MOST_DOMAINS {
            return Err(ToolError::argument(field, format!("takes at most {MOST_DOMAINS} domains")));
        }
        domains.iter().map(|domain| results::domain(field, domain)).collect::<Result<Vec<_>, _>>()
    };
    Ok(Wanted {
        query,
        most: most as usize,
        allowed: domains("allowed_domains", &p.allowed_domains)?,
        blocked: domains("blocked_domains", &p.blocked_domains)?,
    })
}
