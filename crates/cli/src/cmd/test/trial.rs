//! One case, run in a directory of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nika_contract::{Cancel, Nobody, ToolError, code};
use nika_flow::run::action::Model;
use nika_flow::run::events::Unwatched;
use nika_flow::run::inputs;

use super::cases::Case;
use super::place::Place;
use super::{Came, Outcome};
use crate::compose::Ground;
use crate::failure::Failure;
use crate::flows::{self, Around, By, Consent, Desk, Library, Wanted, files};
use crate::world::World;

/// Files of a run that a first test takes in; more make no test that anybody reads.
const MOST_FILES: usize = 20;
/// Bytes of one of them.
const MOST_BYTES: u64 = 64 << 10;

/// What comes of it; `all` takes in every text that the run has left, not only what the case names.
pub fn trial(world: &World, test: &Path, workflow: &Path, bytes: &[u8], case: &Case, yes: bool, all: bool) -> Came {
    let prepared = prepare(world, workflow, bytes, case);
    let (place, name) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => return Came::broken(failure.into()),
    };
    let root = place.path().join("work");
    let script = match case.script.as_ref().map(|script| test.with_file_name(script)) {
        Some(script) if !script.is_file() => {
            let message = format!("there is no script {}", script.display());
            return Came::broken(ToolError::new(code::BAD_ARGUMENTS, message));
        }
        script => script.map(|path| path.display().to_string()),
    };
    let outcome = match tried(world, &place, &name, case, script, yes) {
        Ok(outcome) => outcome,
        Err(failure) => match ToolError::from(failure) {
            // What is wrong with this machine, or with what is configured on it, says nothing about the workflow.
            error if is_of_the_machine(&error) => Outcome::Broken(error),
            error => Outcome::Refused(error),
        },
    };
    let read = |path: String| (std::fs::read_to_string(root.join(&path)).ok(), path);
    let read: Vec<(Option<String>, String)> = match all {
        true => left(&root, &name).into_iter().map(read).collect(),
        false => case.files.keys().cloned().map(read).collect(),
    };
    Came { outcome, files: read.into_iter().map(|(text, path)| (path, text)).collect::<BTreeMap<_, _>>() }
}

/// Codes of the host: 9xx.
fn is_of_the_machine(error: &ToolError) -> bool {
    error.code.0 / 100 == 9
}

/// The directory, with what the case gives, and the workflow's name in it.
fn prepare(world: &World, workflow: &Path, bytes: &[u8], case: &Case) -> Result<(Place, PathBuf), Failure> {
    let made = |error: std::io::Error| Failure::usage(format!("the test's own directory: {error}"));
    let place = Place::new(world.pid).map_err(made)?;
    let name = workflow.file_name().map(PathBuf::from).unwrap_or_default();
    let put = |below: &Path, bytes: &[u8]| -> Result<(), Failure> {
        if below.is_absolute() || below.components().any(|part| part.as_os_str() == "..") {
            return Err(Failure::usage(format!("`given` names {}, which is not below the root", below.display())));
        }
        place.write(&Path::new("work").join(below), bytes).map_err(made)
    };
    put(&name, bytes)?;
    for (path, text) in &case.given {
        put(Path::new(path), text.as_bytes())?;
    }
    Ok((place, name))
}

fn tried(
    world: &World,
    place: &Place,
    name: &Path,
    case: &Case,
    script: Option<String>,
    yes: bool,
) -> Result<Outcome, Failure> {
    let root = place.path().join("work");
    let ground = Ground::worktree(&root, place.path().join("state"), root.clone());
    let built = crate::cmd::run::built_for_flows(world, &ground)?;
    let document = flows::open_document(&root.join(name), &name.display().to_string(), &Around::over(world, &built))?;
    let traces = flows::traces(&built)?;
    let mut nobody = world.clone();
    nobody.has_person = false;
    let consent = Consent { world: &nobody, runs: &traces, root: &root, stance: built.effective.stance, yes };
    let granted = consent.settle(&document)?;
    let said = Model { provider: script.as_ref().map(|_| "scripted".to_owned()), model: script };
    let library = Arc::new(Library { world: world.clone(), built: Arc::clone(&built), said, by: By::Person });
    let given = inputs::gather(&document.flow, case.inputs.clone(), &[])?;
    let wanted = Wanted { document, inputs: given, granted, id: "run-test".to_owned(), goes_on: false };
    let desk = Desk { built, library, asker: Arc::new(Nobody), watch: Arc::new(Unwatched), cancel: Cancel::default() };
    Ok(Outcome::Ended(crate::cmd::run::threads()?.block_on(desk.run(wanted))?.ended))
}

/// The texts below `root` but for the workflow, by their paths.
fn left(root: &Path, workflow: &Path) -> Vec<String> {
    let wanted = files::Wanted { ending: "", depth: None, all: true, without: &[] };
    let small = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|meta| meta.len() <= MOST_BYTES);
    let below = |path: PathBuf| Some(path.strip_prefix(root).ok()?.to_owned());
    let found = files::below(root, wanted).into_iter().filter(small).filter_map(below);
    let others = found.filter(|path| path != workflow).filter_map(|path| Some(path.to_str()?.to_owned()));
    others.take(MOST_FILES).collect()
}
