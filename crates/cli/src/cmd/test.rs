//! `nika test`: workflows, against the results that their tests hold.
//!
//! Beside `X.nika.yaml` lies `X.test.yaml`: cases, each with what the workflow is given and what has to come of it.
//! A case runs in a directory of its own, which holds the workflow and the files that the case gives; nothing of the
//! workspace is read or changed.

mod place;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use nika_contract::{Cancel, Nobody, ToolError, code};
use nika_edit::{Limits, unified};
use nika_flow::run::Ended;
use nika_flow::run::action::Model;
use nika_flow::run::events::Unwatched;
use nika_flow::run::inputs;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::args::{self, Format};
use crate::compose::Ground;
use crate::failure::{self, Failure};
use crate::flows::{self, Around, By, Consent, Library, Wanted};
use crate::out;
use crate::world::World;
use place::Place;

/// A file of cases.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    cases: Vec<Case>,
}

/// One case.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    inputs: Map<String, Value>,
    /// Files that are there when it begins.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    given: BTreeMap<String, String>,
    /// The script of the model, beside the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    script: Option<String>,
    /// What the workflow answers with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outputs: Option<Map<String, Value>>,
    /// Files that are there when it has ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
    /// The code that it fails with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fails: Option<String>,
}

/// What came of a case.
#[derive(Debug)]
struct Came {
    file: String,
    name: String,
    /// Differences, as text; none when it is as it should be.
    differs: Vec<String>,
}

pub fn run(args: args::Test) -> Result<ExitCode, Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &args.place)?;
    let files = if args.files.is_empty() { tests_below(ground.root()) } else { args.files.clone() };
    let mut all = Vec::new();
    for file in &files {
        all.extend(test(&world, &ground, &test_of(file)?, &args)?);
    }
    if all.is_empty() {
        return Err(Failure::usage("there is no test: `X.test.yaml` lies beside `X.nika.yaml`"));
    }
    let failed = all.iter().filter(|came| !came.differs.is_empty()).count();
    if args.output == Format::Json {
        let row = |came: &Came| json!({"file": came.file, "case": came.name, "ok": came.differs.is_empty(), "differs": came.differs});
        out::json(&json!({ "ok": failed == 0, "cases": all.iter().map(row).collect::<Vec<_>>() }))?;
    } else {
        for came in &all {
            let mark = if came.differs.is_empty() { "ok  " } else { "FAIL" };
            out::line(&format!("{mark}  {}: {}", came.file, came.name))?;
            for differs in &came.differs {
                out::line(nika_contract::text::harmless(differs).trim_end())?;
            }
        }
        out::line(&format!("{} passed, {failed} failed", all.len() - failed))?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(failure::exit(code::TEST_DIFFERS)) })
}

/// Directories that no test of a repository lies in.
const PASSED_BY: &[&str] = &["target", "node_modules"];

fn tests_below(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    let hidden = name.starts_with('.') && name != ".nika";
                    if !hidden && !PASSED_BY.contains(&name.as_str()) {
                        open.push(entry.path());
                    }
                }
                Ok(kind) if kind.is_file() && name.ends_with(".test.yaml") => found.push(entry.path()),
                _ => {}
            }
        }
    }
    // Others have files of that name, too: a test of ours lies beside a workflow.
    found.retain(|path| workflow_of(path).is_file());
    found.sort();
    found
}

/// `X.test.yaml` for itself or for `X.nika.yaml`.
fn test_of(file: &Path) -> Result<PathBuf, Failure> {
    let name = file.to_string_lossy();
    let test = match name.strip_suffix(".nika.yaml") {
        Some(stem) => PathBuf::from(format!("{stem}.test.yaml")),
        None => file.to_owned(),
    };
    if test.is_file() && test.to_string_lossy().ends_with(".test.yaml") {
        return Ok(test);
    }
    Err(Failure::usage(format!("{} is no test: `X.test.yaml` lies beside `X.nika.yaml`", test.display())))
}

fn workflow_of(test: &Path) -> PathBuf {
    let name = test.to_string_lossy();
    PathBuf::from(format!("{}.nika.yaml", name.strip_suffix(".test.yaml").unwrap_or(&name)))
}

fn test(world: &World, ground: &Ground, file: &Path, args: &args::Test) -> Result<Vec<Came>, Failure> {
    let wrong = |why: String| Failure::usage(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let mut cases: Cases = serde_saphyr::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let shown = file.strip_prefix(ground.root()).unwrap_or(file).display().to_string();
    let mut all = Vec::new();
    for case in &mut cases.cases {
        let came = try_case(world, file, case, args).map_err(|failure| match failure {
            Failure::Error(error) => {
                Failure::Error(ToolError { message: format!("{shown}: {}: {}", case.name, error.message), ..error })
            }
            other => other,
        })?;
        let differs = if args.update {
            came.take_over(case);
            Vec::new()
        } else {
            came.differences(case)
        };
        all.push(Came { file: shown.clone(), name: case.name.clone(), differs });
    }
    if args.update {
        let now = serde_saphyr::to_string(&cases).map_err(|error| wrong(error.to_string()))?;
        if now != text {
            place::replace(file, &now).map_err(|error| wrong(error.to_string()))?;
        }
    }
    Ok(all)
}

/// What a case really brings.
struct Real {
    ended: Ended,
    files: BTreeMap<String, Option<String>>,
}

fn try_case(world: &World, file: &Path, case: &Case, args: &args::Test) -> Result<Real, Failure> {
    let made = |error: std::io::Error| Failure::usage(format!("the test's own directory: {error}"));
    let place = Place::new(world.pid).map_err(made)?;
    let root = place.path().join("work");
    let workflow = workflow_of(file);
    let name = workflow.file_name().map(PathBuf::from).unwrap_or_default();
    let put = |below: &Path, bytes: &[u8]| -> Result<(), Failure> {
        if below.is_absolute() || below.components().any(|part| part.as_os_str() == "..") {
            return Err(Failure::usage(format!("`given` names {}, which is not below the root", below.display())));
        }
        place.write(&Path::new("work").join(below), bytes).map_err(made)
    };
    put(&name, &std::fs::read(&workflow).map_err(made)?)?;
    for (path, text) in &case.given {
        put(Path::new(path), text.as_bytes())?;
    }
    let ground = Ground::worktree(&root, place.path().join("state"), root.clone());
    let built = crate::cmd::run::built_for_flows(world, &ground)?;
    let document = flows::open_document(&root.join(&name), &name.display().to_string(), &Around::over(world, &built))?;
    let traces = flows::traces(&built)?;
    let mut nobody = world.clone();
    nobody.has_person = false;
    let consent = Consent { world: &nobody, runs: &traces, root: &root, stance: built.effective.stance, yes: args.yes };
    let granted = consent.settle(&document)?;
    let script = case.script.as_ref().map(|script| file.with_file_name(script).display().to_string());
    let said = Model { provider: script.as_ref().map(|_| "scripted".to_owned()), model: script };
    let library = Arc::new(Library { world: world.clone(), built: Arc::clone(&built), said, by: By::Person });
    let given = inputs::gather(&document.flow, case.inputs.clone(), &[])?;
    let wanted = Wanted { document, inputs: given, granted, id: "run-test".to_owned(), goes_on: false };
    let run = flows::run(&built, library, Arc::new(Nobody), Arc::new(Unwatched), Cancel::default(), wanted);
    let launched = crate::cmd::run::threads()?.block_on(run)?;
    let read = |path: &String| (path.clone(), std::fs::read_to_string(root.join(path)).ok());
    Ok(Real { ended: launched.ended, files: case.files.keys().map(read).collect() })
}

impl Real {
    fn fails(&self) -> Option<String> {
        match &self.ended {
            Ended::Failed(error) | Ended::Aborted(error) => Some(format!("{}: {}", error.code, error.message)),
            Ended::Paused => Some("it was stopped".to_owned()),
            Ended::Completed(_) => None,
        }
    }

    fn outputs(&self) -> Option<&Map<String, Value>> {
        match &self.ended {
            Ended::Completed(outputs) => Some(outputs),
            _ => None,
        }
    }

    /// What is other than the case says.
    fn differences(&self, case: &Case) -> Vec<String> {
        let mut differs = Vec::new();
        match (self.fails(), &case.fails) {
            (Some(real), Some(wanted)) if !real.contains(wanted.as_str()) => {
                differs.push(format!("it was to fail with {wanted}, and failed with {real}"));
            }
            (Some(real), None) => differs.push(format!("it failed: {real}")),
            (None, Some(wanted)) => differs.push(format!("it was to fail with {wanted}, and did not")),
            _ => {}
        }
        if let (Some(wanted), Some(real)) = (&case.outputs, self.outputs())
            && wanted != real
        {
            let text = |of: &Map<String, Value>| format!("{:#}\n", Value::Object(of.clone()));
            differs.push(difference("outputs", Some(&text(wanted)), Some(&text(real))));
        }
        for (path, wanted) in &case.files {
            let real = self.files.get(path).and_then(Option::as_deref);
            if real != Some(wanted.as_str()) {
                differs.push(difference(path, Some(wanted), real));
            }
        }
        differs
    }

    /// Takes what came for right.
    fn take_over(&self, case: &mut Case) {
        case.outputs = self.outputs().cloned();
        case.fails = self.fails().map(|said| {
            let named = said.split_whitespace().find(|word| word.starts_with("NIKA-"));
            named.unwrap_or(&said).trim_end_matches(':').to_owned()
        });
        for (path, real) in &self.files {
            match real {
                Some(text) => _ = case.files.insert(path.clone(), text.clone()),
                None => _ = case.files.remove(path),
            }
        }
    }
}

fn difference(name: &str, wanted: Option<&str>, real: Option<&str>) -> String {
    unified(wanted.map(str::as_bytes), real.map(str::as_bytes), name, &Limits::default())
}
