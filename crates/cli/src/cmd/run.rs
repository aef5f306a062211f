//! `nika run`: a workflow, from its file to its outputs.

mod live;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use nika_agent::provider::choose::{Configured, SCRIPTED};
use nika_contract::{Asker, Cancel, Nobody, ToolError, code};
use nika_flow::run::Ended;
use nika_flow::run::action::Model;
use nika_flow::run::inputs;
use nika_flow::run::resume::Before;
use nika_flow::run::verbs::Document;
use nika_flow::tools::ENDING;
use nika_store::{State, journal};
use serde_json::{Map, Value};

use crate::args::{self, Report};
use crate::ask::Terminal;
use crate::cmd::call::interrupted;
use crate::compose::{self, Built, Ground, Shape, Voice};
use crate::failure::{self, Failure};
use crate::flows::{self, Around, By, Consent, Desk, Library, Wanted};
use crate::out;
use crate::render;
use crate::time;
use crate::world::World;
use report::View;

pub fn run(args: args::Run) -> Result<ExitCode, Failure> {
    let output = args.output;
    render::told(output, ("status", "refused"), work(args))
}

fn work(args: args::Run) -> Result<ExitCode, Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &args.place)?;
    let mut effective = ground.configure(&world, &args.standing)?;
    flows::stand(&mut effective);
    let view = View::new(&world, args.output);
    let shape = Shape { voice: Voice::Here, objects: true, flows: true, lasting: true, ..Shape::default() };
    let built = Arc::new(compose::build(&world, &ground, effective, shape)?);
    let traces = flows::traces(&built)?;
    let before = args.resume.as_deref().map(|id| gone_on_with(&traces, id)).transpose()?;
    let (file, pairs) = file_and_inputs(&args, ground.root(), before.as_ref().map(|(_, before)| before))?;
    let document = flows::open_document(&file, &shown(&ground, &file), &Around::over(&world, &built))?;
    let inputs = given(&args, &document, &pairs, before.as_ref().map(|(_, before)| before))?;
    flows::may_use_servers(&document, &built.servers)?;
    let consent =
        Consent { world: &world, runs: &traces, root: ground.root(), stance: built.effective.stance, yes: args.yes };
    let granted = consent.settle(&document)?;

    let cancel = Cancel::default();
    let asker: Arc<dyn Asker> = if world.has_person && args.output == Report::Text {
        Arc::new(view.holding(Terminal {
            colours: world.colours_in_errors,
            cancel: cancel.clone(),
            floor: view.floor(),
        }))
    } else {
        Arc::new(Nobody)
    };
    let said = said(&args, &file, &built.effective.models.configured);
    let library = Arc::new(Library { world: world.clone(), built: Arc::clone(&built), said, by: By::Person });
    let (id, goes_on) = match before {
        Some((id, _)) => (id, true),
        None => (format!("run-{}-{}", time::compact(built.clock.unix_ms()), world.pid), false),
    };
    view.begin(&document.flow);
    let stopping = view.clone();
    let at_once = format!("\nended at once\n  go on with: nika run --resume {id}");
    interrupted(cancel.clone(), move || stopping.stopping(), move || out::complain(&at_once));
    let wanted = Wanted { document, inputs, granted, id: id.clone(), goes_on };
    let launched = threads()?.block_on(async {
        let launched =
            Desk { built: Arc::clone(&built), library, asker, watch: view.watch(), cancel }.run(wanted).await;
        built.servers.close().await;
        launched
    });
    view.end();
    let launched = launched?;
    view.close(&id, &launched)?;
    built.tidy();
    Ok(match &launched.ended {
        Ended::Completed(_) => ExitCode::SUCCESS,
        Ended::Failed(_) => ExitCode::from(failure::FAILED),
        Ended::Aborted(error) => ExitCode::from(failure::exit(error.code)),
        Ended::Paused => ExitCode::from(failure::INTERRUPTED),
    })
}

/// Tasks run at once: some threads, for tools that think while they hold one.
pub fn threads() -> Result<tokio::runtime::Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build()?)
}

/// The run that is gone on with, and what its trace says.
fn gone_on_with(traces: &State, id: &str) -> Result<(String, Before), Failure> {
    let id = find(traces, id)?;
    let lines: Result<Vec<Value>, _> = journal::lines(traces, &id)?.collect();
    Ok((id, Before::read(lines?)))
}

/// The trace that `id` names; `last` is the latest that no other run has begun.
pub fn find(traces: &State, id: &str) -> Result<String, Failure> {
    let all = journal::list(traces)?;
    if id == "last" {
        let own = all.iter().find(|log| log.id.starts_with("run-") && !log.id.contains('.'));
        return own.map(|log| log.id.clone()).ok_or_else(|| unknown("nothing was run here yet".to_owned(), &[]));
    }
    if all.iter().any(|log| log.id == id) {
        return Ok(id.to_owned());
    }
    let near = nika_contract::text::near_names(id, all.into_iter().map(|log| log.id), 3);
    Err(unknown(format!("no run here is called '{id}'"), &near))
}

fn unknown(message: String, near: &[String]) -> Failure {
    let hint = nika_contract::text::there_are(near).unwrap_or_else(|| "`nika trace list` names them".into());
    ToolError::new(code::RUN_TRACE, message).hint(hint).into()
}

/// The file, and what is said of inputs. Going on with a run needs neither.
fn file_and_inputs(
    args: &args::Run,
    root: &Path,
    before: Option<&Before>,
) -> Result<(PathBuf, Vec<(String, String)>), Failure> {
    let mut words = args.inputs.clone();
    // A trace names the file from its root, wherever somebody stands who goes on with it.
    let traced = |before: &Before| root.join(&before.file);
    let file = match (&args.file, before) {
        // Without a file the first word is an input.
        (Some(file), Some(before)) if file.to_string_lossy().contains('=') && !file.exists() => {
            words.insert(0, file.to_string_lossy().into_owned());
            traced(before)
        }
        (Some(file), _) if file.is_relative() && !file.exists() => root.join(file),
        (Some(file), _) => file.clone(),
        (None, Some(before)) => traced(before),
        (None, None) => {
            return Err(Failure::usage("there is no workflow: `nika run workflows/NAME.nika.yaml NAME=VALUE`"));
        }
    };
    let pair = |word: &String| {
        let (name, value) =
            word.split_once('=').ok_or_else(|| Failure::usage(format!("'{word}' is no input; write NAME=VALUE")))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    Ok((file, words.iter().map(pair).collect::<Result<_, Failure>>()?))
}

/// What the workflow is given: what was said, else what the run began with.
fn given(
    args: &args::Run,
    document: &Document,
    pairs: &[(String, String)],
    before: Option<&Before>,
) -> Result<Map<String, Value>, Failure> {
    let values = match (&args.input_file, before) {
        (Some(path), _) => flows::object_from(path)?,
        (None, Some(before)) => before.inputs.clone(),
        (None, None) => Map::new(),
    };
    Ok(inputs::gather(&document.flow, values, pairs)?)
}

/// The model that the command line names. A script that lies beside the workflow is the one that is meant when nobody
/// names another: `X.script.yaml` beside `X.nika.yaml`.
fn said(args: &args::Run, file: &Path, configured: &Configured) -> Model {
    let said = Model { provider: args.provider.clone(), model: args.model.clone() };
    let wants = said.provider.as_deref() == Some(SCRIPTED) && said.model.is_none();
    let other = configured.provider.as_deref() == Some(SCRIPTED) && configured.model.is_some();
    match script_beside(file).filter(|_| wants && !other) {
        Some(script) => {
            let script = script.display().to_string();
            out::complain(&format!("nika: the model answers by {}", nika_contract::text::harmless(&script)));
            Model { model: Some(script), ..said }
        }
        None => said,
    }
}

fn script_beside(file: &Path) -> Option<PathBuf> {
    let stem = file.file_name()?.to_str()?.strip_suffix(ENDING)?;
    let script = file.with_file_name(format!("{stem}.script.yaml"));
    script.is_file().then_some(script)
}

/// The file as people recognise it: below the root where it lies there, else the whole of it, so that it is found from
/// anywhere.
fn shown(ground: &Ground, file: &Path) -> String {
    let whole = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    whole.strip_prefix(ground.root()).unwrap_or(&whole).display().to_string()
}

/// Builds what a run stands on, for commands that run several.
pub fn built_for_flows(world: &World, ground: &Ground) -> Result<Arc<Built>, Failure> {
    let mut effective = ground.configure(world, &args::Standing::default())?;
    flows::stand(&mut effective);
    let shape = Shape { voice: Voice::Nowhere, objects: true, flows: true, ..Shape::default() };
    Ok(Arc::new(compose::build(world, ground, effective, shape)?))
}
