//! What a caller is shown of the surface: which tools, under which names, with which schemas.

use std::str::FromStr;

use nika_contract::text::near_names;
use nika_contract::{AnyTool, Wanted};
use nika_guard::Policy;
use serde_json::Value;

use crate::catalog::Tools;
use crate::dialect::{Dialect, PREFIX, canonical};
use crate::session::Session;
use crate::wording::Wording;

/// Which tools are in the first list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Listing {
    /// The eager ones, with those the session has loaded.
    #[default]
    Eager,
    /// Every tool.
    All,
    /// These.
    Names(Vec<String>),
}

impl FromStr for Listing {
    type Err = String;

    fn from_str(text: &str) -> Result<Listing, String> {
        match text {
            "" => Err("name tools, or say `all` or `eager`".into()),
            "eager" => Ok(Listing::Eager),
            "all" => Ok(Listing::All),
            names => Ok(Listing::Names(names.split(',').map(|name| canonical(name.trim()).to_owned()).collect())),
        }
    }
}

impl Listing {
    /// The first name that is no tool's, and those that are like it. What a server of others will bring is not known yet.
    pub fn unknown<'n>(
        &self,
        dialect: Dialect,
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Option<(String, Vec<String>)> {
        let Listing::Names(names) = self else { return None };
        let is_known = |name: &str| {
            name.starts_with("mcp__")
                || FOR_DEFERRED.contains(&name)
                || known.clone().any(|known| known == name || dialect.tool(known) == name)
        };
        let name = names.iter().find(|name| !is_known(name))?;
        Some((name.clone(), near_names(name, known.map(|known| dialect.tool(known).to_owned()), 3)))
    }

    /// The same with canonical names, where some are the dialect's.
    pub fn canonical<'n>(self, dialect: Dialect, known: impl Iterator<Item = &'n str> + Clone) -> Listing {
        let own =
            |name: String| known.clone().find(|known| dialect.tool(known) == name).map_or(name.clone(), str::to_owned);
        match self {
            Listing::Names(names) => Listing::Names(names.into_iter().map(own).collect()),
            other => other,
        }
    }
}

/// Tools that are only useful while others are deferred.
const FOR_DEFERRED: &[&str] = &["call", "tool_search"];

/// Tools that answer a caller who has asked for something: nobody else is shown them.
pub(crate) const FOR_CALLERS: &[&str] = &["structured_output"];

/// A tool as a list shows it.
#[derive(Debug, Clone)]
pub struct Listed {
    /// In the list's dialect, with the prefix where one is wanted.
    pub name: String,
    /// The canonical name.
    pub canonical: &'static str,
    /// A person's name for it.
    pub title: &'static str,
    /// For a model.
    pub description: String,
    /// Of the arguments.
    pub input_schema: Value,
    /// Of the structured result.
    pub output_schema: Option<Value>,
    /// Flags from its specification.
    pub spec: &'static nika_contract::Spec,
}

impl Listed {
    /// A tool in `dialect`; canonical names get the prefix that tells them apart among other servers.
    pub fn new(tool: &dyn AnyTool, dialect: Dialect, prefixed: bool) -> Listed {
        let spec = tool.spec();
        let own = dialect.tool(spec.name);
        let name = if prefixed && dialect == Dialect::Nika { format!("{PREFIX}{own}") } else { own.to_owned() };
        let wording = Wording::new(dialect, spec.name, Some(tool.input_schema()));
        let mut input_schema = dialect.schema(spec.name, tool.input_schema());
        wording.schema(&mut input_schema);
        Listed {
            name,
            canonical: spec.name,
            title: spec.title,
            description: wording.text(tool.description()),
            input_schema,
            output_schema: tool.output_schema().cloned(),
            spec,
        }
    }
}

/// Whether a listing defers anything at all: small surfaces are shown whole.
pub(crate) fn defers(listing: &Listing, tools: &Tools, policy: &Policy, defer_above: usize) -> bool {
    match listing {
        Listing::All => false,
        Listing::Eager | Listing::Names(_) => {
            let counts = |tool: &&dyn AnyTool| !FOR_DEFERRED.contains(&tool.spec().name);
            tools.pool(policy).filter(counts).count() > defer_above
        }
    }
}

/// Whether `tool` is in the list of a session.
pub(crate) fn shows(listing: &Listing, tool: &dyn AnyTool, session: Option<&Session>, deferring: bool) -> bool {
    let spec = tool.spec();
    if FOR_DEFERRED.contains(&spec.name) {
        return deferring;
    }
    if FOR_CALLERS.contains(&spec.name) {
        return session.is_some_and(|session| session.state.slot::<Wanted>().schema().is_some());
    }
    let loaded = session.is_some_and(|session| session.has_loaded(spec.name));
    match listing {
        Listing::All => true,
        Listing::Eager => !deferring || spec.eager || loaded,
        Listing::Names(names) => !deferring || loaded || names.iter().any(|name| name == spec.name),
    }
}
