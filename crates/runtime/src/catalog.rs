//! The tools there are, and the pool that one session sees of them.

use nika_contract::{AnyTool, ToolError, code, text};
use nika_guard::Policy;

use crate::dialect::{Dialect, canonical};

/// Every tool, built-ins first; each of the two kinds sorted by name, so that prompts stay cacheable.
#[derive(Debug, Default)]
pub struct Catalog {
    tools: Vec<Box<dyn AnyTool>>,
    foreign_from: usize,
}

impl Catalog {
    /// Assembles the pool: a built-in wins over a foreign tool of the same name.
    pub fn new(built_in: Vec<Box<dyn AnyTool>>, foreign: Vec<Box<dyn AnyTool>>) -> Catalog {
        let mut tools = built_in;
        tools.sort_by_key(|tool| tool.spec().name);
        tools.dedup_by_key(|tool| tool.spec().name);
        let foreign_from = tools.len();
        let mut others: Vec<_> =
            foreign.into_iter().filter(|tool| !tools.iter().any(|own| own.spec().name == tool.spec().name)).collect();
        others.sort_by_key(|tool| tool.spec().name);
        others.dedup_by_key(|tool| tool.spec().name);
        tools.extend(others);
        Catalog { tools, foreign_from }
    }

    /// The tools that `policy` leaves in the pool.
    pub fn pool<'a>(&'a self, policy: &'a Policy) -> impl Iterator<Item = &'a dyn AnyTool> {
        self.all().filter(|tool| policy.removes_tool(tool.spec().name).is_none())
    }

    /// Every tool.
    pub fn all(&self) -> impl Iterator<Item = &dyn AnyTool> {
        self.tools.iter().map(Box::as_ref)
    }

    /// Whether a tool came from a foreign server.
    pub fn is_foreign(&self, name: &str) -> bool {
        self.tools[self.foreign_from..].iter().any(|tool| tool.spec().name == name)
    }

    /// The tool that `name` means, in any dialect.
    pub fn find(&self, name: &str, policy: &Policy, dialect: Dialect) -> Result<&dyn AnyTool, ToolError> {
        let wanted = canonical(name);
        let Some(tool) = self.all().find(|tool| tool.spec().name == wanted) else {
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
