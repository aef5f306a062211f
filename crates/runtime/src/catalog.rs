//! The tools there are, and the pool that one session sees of them.
//!
//! Our own are fixed; those of other servers come and go, so a call takes a [`Tools`] as they are at its beginning and
//! holds it to its end.

use std::sync::{Arc, PoisonError, RwLock};

use nika_contract::{AnyTool, Guests, ToolError, code, text};
use nika_guard::Policy;

use crate::dialect::{Dialect, canonical};

/// Every tool, at one moment: built-ins first; each of the two kinds sorted by name, so that prompts stay cacheable.
#[derive(Debug, Default)]
pub struct Tools {
    version: u64,
    tools: Vec<Arc<dyn AnyTool>>,
    foreign_from: usize,
}

/// Where tools come from.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    built_in: Vec<Arc<dyn AnyTool>>,
    guests: Option<Arc<dyn Guests>>,
    now: RwLock<Option<Arc<Tools>>>,
}

impl Catalog {
    /// Our own tools, and whoever brings others.
    pub(crate) fn new(built_in: Vec<Box<dyn AnyTool>>, guests: Option<Arc<dyn Guests>>) -> Catalog {
        let mut built_in: Vec<Arc<dyn AnyTool>> = built_in.into_iter().map(Arc::from).collect();
        built_in.sort_by_key(|tool| tool.spec().name);
        built_in.dedup_by_key(|tool| tool.spec().name);
        Catalog { built_in, guests, now: RwLock::default() }
    }

    /// The tools there are at this moment.
    pub(crate) fn now(&self) -> Arc<Tools> {
        let version = self.guests.as_ref().map_or(0, |guests| guests.version());
        let known = self.now.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(tools) = known.filter(|tools| tools.version == version) {
            return tools;
        }
        let guests = self.guests.as_ref().map(|guests| guests.tools()).unwrap_or_default();
        let tools = Arc::new(Tools::new(version, &self.built_in, guests));
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&tools));
        tools
    }

    /// The tools there are for a call of `name`: where none has it, and a server may, that server is asked first.
    pub(crate) async fn for_call(&self, name: &str) -> Result<Arc<Tools>, ToolError> {
        let tools = self.now();
        let wanted = canonical(name);
        match &self.guests {
            Some(guests) if wanted.starts_with("mcp__") && tools.named(wanted).is_none() => {
                guests.seek(wanted).await?;
                Ok(self.now())
            }
            _ => Ok(tools),
        }
    }
}

impl Tools {
    /// Assembles the pool: a built-in wins over a foreign tool of the same name.
    fn new(version: u64, built_in: &[Arc<dyn AnyTool>], guests: Vec<Arc<dyn AnyTool>>) -> Tools {
        let mut tools = built_in.to_vec();
        let foreign_from = tools.len();
        let mut others: Vec<_> =
            guests.into_iter().filter(|tool| !tools.iter().any(|own| own.spec().name == tool.spec().name)).collect();
        others.sort_by_key(|tool| tool.spec().name);
        others.dedup_by_key(|tool| tool.spec().name);
        tools.extend(others);
        Tools { version, tools, foreign_from }
    }

    /// Another number whenever the tools are others.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The tools that `policy` leaves in the pool.
    pub fn pool<'a>(&'a self, policy: &'a Policy) -> impl Iterator<Item = &'a dyn AnyTool> {
        self.all().filter(|tool| policy.removes_tool(tool.spec().name).is_none())
    }

    /// Every tool.
    pub fn all(&self) -> impl Iterator<Item = &dyn AnyTool> {
        self.tools.iter().map(Arc::as_ref)
    }

    /// Whether a tool came from a foreign server.
    pub fn is_foreign(&self, name: &str) -> bool {
        self.tools[self.foreign_from..].iter().any(|tool| tool.spec().name == name)
    }

    /// The tool with this canonical name.
    fn named(&self, name: &str) -> Option<&Arc<dyn AnyTool>> {
        self.tools.iter().find(|tool| tool.spec().name == name)
    }

    /// The tool that `name` means, in any dialect.
    pub fn find(&self, name: &str, policy: &Policy, dialect: Dialect) -> Result<&Arc<dyn AnyTool>, ToolError> {
        let wanted = canonical(name);
        let Some(tool) = self.named(wanted) else {
            let near = text::near_names(wanted, self.pool(policy).map(|tool| tool.spec().name.to_owned()), 3);
            let shown: Vec<String> = near.iter().map(|name| format!("`{}`", dialect.tool(name))).collect();
            let hint = match shown.as_slice() {
                [] => "`tool_search` finds tools by what they do".to_owned(),
                names => format!("did you mean {}?", names.join(" or ")),
            };
            return Err(ToolError::new(code::UNKNOWN_TOOL, format!("no tool is called '{}'", text::preview(name, 80)))
                .hint(hint));
        };
        match policy.removes_tool(tool.spec().name) {
            None => Ok(tool),
            Some(rule) => Err(ToolError::new(
                code::TOOL_REMOVED,
                format!("`{name}` is removed by the {} rule `{}` ({})", rule.layer, rule.rule, rule.at),
            )),
        }
    }
}
