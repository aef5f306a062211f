//! The repository's workflows, for the tools that find and run them.
//!
//! A run that a call begins is done in a child of the caller's session, over a pipeline of its own: the caller's rules,
//! mode, plan and budgets hold for it as they are at each moment, its `permits` take away from them, and nothing is
//! granted. Who is asked, and who cancels, are the caller's.

use std::path::PathBuf;
use std::sync::Arc;

use nika_agent::sub::Fleet;
use nika_contract::{BoxFuture, Cx, ToolError, code};
use nika_flow::model::DEEPEST;
use nika_flow::run::action::Model;
use nika_flow::run::events::Unwatched;
use nika_flow::run::verbs::Library as _;
use nika_flow::run::{Ended, inputs};
use nika_flow::tools::{self, DIRECTORIES, ENDING, Filed, Ran};
use nika_guard::Place;
use nika_host::fs::Workspace;
use nika_mcp::client::Pool;
use nika_runtime::{Dialect, Session};
use serde_json::{Map, Value};

use super::library::read;
use super::{By, Desk, Library, Wanted, files};
use crate::compose::{self, Ground, Shape, Voice};
use crate::config::Effective;
use crate::failure::Failure;
use crate::world::World;

/// Workflows that a list holds, of all directories together; more are not looked at.
const MOST: usize = 500;
/// Directories below one another.
const MOST_DEEP: usize = 6;
/// Bytes of a workflow that is listed.
const MOST_BYTES: u64 = 256 << 10;

/// See the module's page.
#[derive(Debug)]
pub struct Shelf {
    pub world: World,
    pub ground: Ground,
    pub effective: Effective,
    pub files: Arc<Workspace>,
    pub fleet: Arc<Fleet>,
    pub servers: Arc<Pool>,
}

impl Shelf {
    /// A workflow's directories as they are called, of every root.
    fn named(&self) -> impl Iterator<Item = String> {
        let roots = self.ground.roots().iter().enumerate();
        roots.flat_map(|(number, root)| {
            DIRECTORIES.iter().map(move |dir| match number {
                0 => (*dir).to_owned(),
                _ => root.join(dir).display().to_string(),
            })
        })
    }

    /// As documents name it.
    fn shown(place: &Place) -> String {
        match &place.below_root {
            Some(below) if place.in_first_root => below.display().to_string(),
            _ => place.path.display().to_string(),
        }
    }

    async fn begin(&self, path: &str, given: Map<String, Value>, cx: &Cx<'_>) -> Result<Ran, Failure> {
        let (parent, enrolment) = self.fleet.member(cx.session.id())?;
        // Sessions count, agents' among them: workflows may run one another through calls, too.
        if std::iter::successors(Some(&parent), |session| session.parent()).count() > DEEPEST {
            let message = format!("workflows and agents stand {DEEPEST} deep below one another, which is all they may");
            return Err(ToolError::new(code::RUN_LIMIT, message).hint("run it from further above").into());
        }
        let shape = Shape {
            dialect: Some(Dialect::Nika),
            voice: Voice::Nowhere,
            objects: true,
            flows: true,
            fleet: Some(Arc::clone(&self.fleet)),
            servers: Some(Arc::clone(&self.servers)),
            ..Shape::default()
        };
        let built = Arc::new(compose::build(&self.world, &self.ground, self.effective.clone(), shape)?);
        let library = Arc::new(Library {
            world: self.world.clone(),
            built: Arc::clone(&built),
            said: Model { provider: None, model: None },
            by: By::Caller(enrolment.model),
        });
        let document = library.document(path)?;
        let inputs = inputs::gather(&document.flow, given, &[])?;
        let id = self.fleet.name_for(parent.id(), &built.state)?;
        let wanted = Wanted { document, inputs, granted: Vec::new(), id: id.clone(), goes_on: false };
        let bounds = wanted.document.permits.bounds();
        let child = |id: &str| -> Session { parent.child(id, nika_agent::sub::OPEN, bounds) };
        let cancel = cx.cancel.clone();
        let desk = Desk { built, library, asker: enrolment.asker, watch: Arc::new(Unwatched), cancel };
        let launched = desk.within(wanted, child).await?;
        let why = |error: ToolError| ToolError {
            message: format!("{path}: {}", error.message),
            hint: error.hint.or_else(|| Some(format!("`nika trace show {id}` shows what happened"))),
            ..error
        };
        match launched.ended {
            Ended::Completed(outputs) => Ok(Ran { run: id, path: path.to_owned(), outputs, spent: launched.spent }),
            Ended::Failed(error) | Ended::Aborted(error) => Err(why(error).into()),
            Ended::Paused => Err(ToolError::cancelled().into()),
        }
    }
}

impl tools::Shelf for Shelf {
    fn directories(&self) -> Result<Vec<Place>, ToolError> {
        let mut places = Vec::new();
        for name in self.named() {
            let place = self.files.locate(&name)?;
            // A link that leads out of the roots leads to nobody's workflows.
            if place.below_root.is_some() && place.path.is_dir() {
                places.push(place);
            }
        }
        Ok(places)
    }

    fn all(&self) -> Result<Vec<Filed>, ToolError> {
        let wanted = files::Wanted { ending: ENDING, depth: Some(MOST_DEEP), all: true, without: &[] };
        let places = tools::Shelf::directories(self)?;
        let paths = places.iter().flat_map(|place| files::below(&place.path, wanted)).take(MOST);
        let filed = |path: PathBuf| {
            let text = read(&path, MOST_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok())?;
            let path = path.strip_prefix(self.files.root()).unwrap_or(&path).display().to_string();
            Some(Filed { path, text })
        };
        Ok(paths.filter_map(filed).collect())
    }

    fn place(&self, path: &str) -> Result<(Place, String), ToolError> {
        let place = self.files.locate(path)?;
        if place.below_root.is_none() || !place.path.to_string_lossy().ends_with(ENDING) {
            let message = format!("{} is no workflow that a call may run", place.shown());
            return Err(ToolError::new(code::OUT_OF_BOUNDS, message)
                .hint(format!("it has to lie below a root, and its name to end in {ENDING}")));
        }
        let shown = Shelf::shown(&place);
        Ok((place, shown))
    }

    fn run<'a>(
        &'a self,
        path: &'a str,
        given: Map<String, Value>,
        cx: &'a Cx<'a>,
    ) -> BoxFuture<'a, Result<Ran, ToolError>> {
        Box::pin(async move { Ok(self.begin(path, given, cx).await?) })
    }
}
