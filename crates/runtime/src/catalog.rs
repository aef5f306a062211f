//! The tools there are, and the pool that one session sees of them.
//!
//! Our own are fixed; those of other servers come and go, so a call takes a [`Tools`] as they are at its beginning and
//! holds it to its end.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use nika_contract::{AnyTool, Cancel, Guests, ToolError, code, text};
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
        // A name given twice is a bug of ours, which every test meets; which of the two would be called is not to be guessed.
        if let Some(twice) = built_in.windows(2).find(|pair| pair[0].spec().name == pair[1].spec().name) {
            panic!("two built-in tools are called `{}`", twice[0].spec().name);
        }
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

    /// The tools there are for a call of `name`: where none has it, and a server may, that server is asked first, as long
    /// as the call is wanted.
    pub(crate) async fn for_call(&self, name: &str, cancel: &Cancel) -> Result<Arc<Tools>, ToolError> {
        let tools = self.now();
        let wanted = canonical(name);
        match &self.guests {
            Some(guests) if wanted.starts_with("mcp__") && tools.named(wanted).is_none() => {
                tokio::select! {
                    sought = guests.seek(wanted) => sought?,
                    () = cancelled(cancel) => return Err(ToolError::cancelled()),
                }
                Ok(self.now())
            }
            _ => Ok(tools),
        }
    }
}

/// How often a wait looks at whether it is still wanted.
const LOOK: Duration = Duration::from_millis(20);

async fn cancelled(cancel: &Cancel) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(LOOK).await;
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

    /// The tools that `policy` leaves in the pool, and that work on this machine.
    pub fn pool<'a>(&'a self, policy: &'a Policy) -> impl Iterator<Item = &'a dyn AnyTool> {
        self.left(policy).filter(|tool| tool.lacks().is_none())
    }

    /// The tools that `policy` leaves, also those for which this machine lacks something: for documents.
    pub fn left<'a>(&'a self, policy: &'a Policy) -> impl Iterator<Item = &'a dyn AnyTool> {
        self.all().filter(|tool| policy.removes_tool(tool.spec().name).is_none())
    }

    /// Every tool.
    pub fn all(&self) -> impl Iterator<Item = &dyn AnyTool> {
        self.tools.iter().map(Arc::as_ref)
    }

    /// Whether a tool came from a foreign server.
    pub fn is_foreign(&self, name: &str) -> bool {
        among(&self.tools[self.foreign_from..], name).is_some()
    }

    /// The tool with this canonical name.
    fn named(&self, name: &str) -> Option<&Arc<dyn AnyTool>> {
        let (own, foreign) = self.tools.split_at(self.foreign_from);
        among(own, name).or_else(|| among(foreign, name))
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

/// The tool of this name among some that are sorted by name.
fn among<'t>(sorted: &'t [Arc<dyn AnyTool>], name: &str) -> Option<&'t Arc<dyn AnyTool>> {
    sorted.binary_search_by_key(&name, |tool| tool.spec().name).ok().map(|at| &sorted[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    use nika_contract::{BoxFuture, Cx, Erased, Group, Output, Scene, Spec, Tool};
    use nika_guard::Effects;
    use schemars::JsonSchema;
    use serde::Deserialize;

    /// A server that never says what it has.
    #[derive(Debug)]
    struct Silent;

    impl Guests for Silent {
        fn version(&self) -> u64 {
            1
        }

        fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
            Vec::new()
        }

        fn seek<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), ToolError>> {
            Box::pin(std::future::pending())
        }
    }

    #[test]
    fn a_call_that_nobody_wants_does_not_wait_for_a_server() {
        let catalog = Catalog::new(Vec::new(), Some(Arc::new(Silent)));
        let thread = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let cancel = Cancel::default();
        cancel.cancel();
        let found = thread.block_on(catalog.for_call("mcp__silent__tool", &cancel));
        assert_eq!(found.expect_err("it was cancelled").code, code::CANCELLED);
        assert!(thread.block_on(catalog.for_call("read", &cancel)).is_ok(), "nobody is asked for our own");
    }

    /// Takes nothing.
    #[derive(Debug, Deserialize, JsonSchema)]
    pub(super) struct Nothing {}

    const SPECS: [Spec; 6] = [
        Spec::new("read", "ours", Group::Test),
        Spec::new("edit", "ours", Group::Test),
        Spec::new("read", "theirs", Group::Test),
        Spec::new("mcp__a__alpha", "theirs", Group::Test),
        Spec::new("mcp__a__zulu", "theirs", Group::Test),
        Spec::new("mcp__a__zulu", "another's", Group::Test),
    ];

    /// The tool in this row.
    struct Row<const N: usize>;

    impl<const N: usize> Tool for Row<N> {
        type Params = Nothing;
        const SPEC: Spec = SPECS[N];

        fn effects(&self, _: &Nothing, _: &Scene<'_>) -> Result<Effects, ToolError> {
            Ok(Effects::session())
        }

        async fn run(&self, _: Nothing, _: &Cx<'_>) -> Result<Output, ToolError> {
            Ok(Output::text("done"))
        }
    }

    /// A server that has these tools, until it has none.
    #[derive(Debug, Default)]
    struct Server(AtomicU64);

    impl Guests for Server {
        fn version(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }

        fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
            if self.version() > 0 {
                return Vec::new();
            }
            let boxed =
                [Erased::boxed(Row::<4>), Erased::boxed(Row::<2>), Erased::boxed(Row::<5>), Erased::boxed(Row::<3>)];
            boxed.into_iter().map(Arc::from).collect()
        }

        fn seek<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), ToolError>> {
            Box::pin(async { Ok(()) })
        }
    }

    fn shown(tools: &Tools) -> Vec<(&'static str, &'static str)> {
        tools.all().map(|tool| (tool.spec().name, tool.spec().title)).collect()
    }

    #[test]
    fn a_built_in_wins_a_clash_and_each_kind_is_sorted() {
        let server = Arc::new(Server::default());
        let guests: Arc<dyn Guests> = Arc::<Server>::clone(&server);
        let catalog = Catalog::new(vec![Erased::boxed(Row::<0>), Erased::boxed(Row::<1>)], Some(guests));
        let now = catalog.now();
        let own = [("edit", "ours"), ("read", "ours")];
        assert_eq!(shown(&now)[..2], own);
        assert_eq!(shown(&now)[2..], [("mcp__a__alpha", "theirs"), ("mcp__a__zulu", "theirs")]);
        assert!(now.is_foreign("mcp__a__zulu") && !now.is_foreign("read"));
        // Those of a server that goes, go; what a call took at its beginning it keeps.
        server.0.store(1, Ordering::Relaxed);
        assert_eq!(shown(&catalog.now()), own);
        assert_eq!(shown(&now).len(), 4);
    }

    #[test]
    #[should_panic(expected = "two built-in tools are called `read`")]
    fn a_name_of_ours_is_given_once() {
        Catalog::new(vec![Erased::boxed(Row::<0>), Erased::boxed(Row::<2>)], None);
    }
}
