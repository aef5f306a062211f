//! `nika test`: workflows, against the results that their tests hold.
//!
//! Beside `X.nika.yaml` lies `X.test.yaml`: cases, each with what the workflow is given and what has to come of it.
//! A case runs in a directory of its own, which holds the workflow and the files that the case gives; nothing of the
//! workspace is read or changed. What one case comes to is its own result: the others run all the same.

mod cases;
mod outcome;
mod place;
mod trial;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nika_contract::code;
use nika_contract::text::harmless;
use serde_json::{Value, json};

use crate::args::{self, Format};
use crate::compose::Ground;
use crate::failure::{self, Failure};
use crate::flows::files;
use crate::out;
use crate::world::World;
use cases::{Case, Cases};
use outcome::{Came, Outcome};

/// Why a text is no file of cases, if it is none.
pub(super) fn unreadable(text: &str) -> Option<String> {
    Cases::read(text).err()
}

/// What came of a case, or of a file that holds none that can be read.
#[derive(Debug)]
struct Row {
    file: String,
    case: Option<String>,
    /// Differences, as text; none when it is as it should be.
    differs: Vec<String>,
    /// Whether the file now holds what came.
    taken: bool,
}

pub fn run(args: args::Test) -> Result<ExitCode, Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &args.place)?;
    let tests: Vec<PathBuf> = match args.files.as_slice() {
        [] => tests_below(ground.root()),
        files => files.iter().map(|file| test_of(file, args.update)).collect::<Result<_, _>>()?,
    };
    let rows: Vec<Row> = tests.iter().flat_map(|file| test(&world, &ground, file, &args)).collect();
    if rows.is_empty() {
        return Err(Failure::usage("there is no test: `X.test.yaml` lies beside `X.nika.yaml`"));
    }
    tell(&rows, args.output)?;
    let unreadable = rows.iter().any(|row| row.case.is_none());
    let failed = rows.iter().any(|row| !row.differs.is_empty());
    Ok(match (unreadable, failed) {
        (true, _) => ExitCode::from(failure::USAGE),
        (false, true) => ExitCode::from(failure::exit(code::TEST_DIFFERS)),
        (false, false) => ExitCode::SUCCESS,
    })
}

fn tell(rows: &[Row], output: Format) -> Result<(), Failure> {
    let failed = rows.iter().filter(|row| !row.differs.is_empty()).count();
    if output == Format::Json {
        let object = |row: &Row| -> Value {
            json!({
                "file": row.file, "case": row.case, "ok": row.differs.is_empty(), "differs": row.differs,
                "updated": row.taken,
            })
        };
        return Ok(out::json(&json!({"ok": failed == 0, "cases": rows.iter().map(object).collect::<Vec<_>>()}))?);
    }
    for row in rows {
        let mark = match (row.differs.is_empty(), row.taken) {
            (true, false) => "ok  ",
            (true, true) => "new ",
            (false, _) => "FAIL",
        };
        let case = row.case.as_ref().map(|case| format!(": {case}")).unwrap_or_default();
        out::line(&harmless(&format!("{mark}  {}{case}", row.file)))?;
        for differs in &row.differs {
            out::line(harmless(differs).trim_end())?;
        }
    }
    Ok(out::line(&format!("{} passed, {failed} failed", rows.len() - failed))?)
}

/// The end of a test's name, and of its workflow's.
const TEST: &str = ".test.yaml";
const WORKFLOW: &str = nika_flow::tools::ENDING;
/// Directories that no test of a repository lies in.
const PASSED_BY: &[&str] = &["target", "node_modules"];

fn tests_below(root: &Path) -> Vec<PathBuf> {
    let wanted = files::Wanted { ending: TEST, depth: None, all: false, without: PASSED_BY };
    let mut found = files::below(root, wanted);
    found.extend(files::below(&root.join(".nika"), files::Wanted { all: true, ..wanted }));
    // Others have files of that name, too: a test of ours lies beside a workflow.
    found.retain(|path| workflow_of(path).is_file());
    found.sort();
    found
}

/// `X.test.yaml` for itself or for `X.nika.yaml`. One that is not there yet is a test where it is about to be made.
fn test_of(file: &Path, update: bool) -> Result<PathBuf, Failure> {
    let name = file.to_string_lossy();
    let test = match name.strip_suffix(WORKFLOW) {
        Some(stem) => PathBuf::from(format!("{stem}{TEST}")),
        None => file.to_owned(),
    };
    if !test.to_string_lossy().ends_with(TEST) {
        return Err(Failure::usage(format!("{name} is no test: `X{TEST}` lies beside `X{WORKFLOW}`")));
    }
    let workflow = workflow_of(&test);
    match (test.is_file(), workflow.is_file()) {
        (true, _) => Ok(test),
        (false, true) if update && test != *file => Ok(test),
        (false, true) => Err(Failure::Error(
            nika_contract::ToolError::new(code::BAD_ARGUMENTS, format!("there is no test {}", test.display()))
                .hint(format!("`nika test --update {}` makes the first one of a run", workflow.display())),
        )),
        (false, false) => {
            Err(Failure::usage(format!("there is neither {} nor {}", workflow.display(), test.display())))
        }
    }
}

fn workflow_of(test: &Path) -> PathBuf {
    let name = test.to_string_lossy();
    PathBuf::from(format!("{}{WORKFLOW}", name.strip_suffix(TEST).unwrap_or(&name)))
}

/// The rows of one file.
fn test(world: &World, ground: &Ground, file: &Path, args: &args::Test) -> Vec<Row> {
    let shown = file.strip_prefix(ground.root()).unwrap_or(file).display().to_string();
    let broken = |why: String| vec![Row { file: shown.clone(), case: None, differs: vec![why], taken: false }];
    let workflow = workflow_of(file);
    let bytes = match std::fs::read(&workflow) {
        Ok(bytes) => bytes,
        Err(error) => return broken(format!("its workflow {}: {error}", workflow.display())),
    };
    let trial = |case: &Case, all: bool| trial::trial(world, file, &workflow, &bytes, case, args.yes, all);
    let row = |case: &Case, differs: Vec<String>, taken| Row {
        file: shown.clone(),
        case: Some(case.name.clone()),
        differs,
        taken,
    };
    if !file.exists() {
        let mut case = Case::first(file, &workflow);
        let came = trial(&case, true);
        let made = came.first(&mut case).and_then(|()| {
            let text = Cases::of(case.clone()).map_err(|error| error.to_string())?;
            place::create(file, &text).map_err(|error| format!("it cannot be written: {error}"))
        });
        return vec![match made {
            Ok(()) => row(&case, Vec::new(), true),
            Err(why) => row(&case, vec![why], false),
        }];
    }
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return broken(error.to_string()),
    };
    let cases = match Cases::read(&text) {
        Ok(cases) => cases,
        Err(why) => return broken(why),
    };
    let mut now = cases.all.clone();
    let mut rows = Vec::new();
    for (case, now) in cases.all.iter().zip(&mut now) {
        let came = trial(case, false);
        let differs = came.differences(case);
        let taken = args.update && !differs.is_empty() && came.take_over(now);
        rows.push(row(case, if taken { Vec::new() } else { differs }, taken));
    }
    if rows.iter().any(|row| row.taken) {
        let written = cases.rewritten(&text, &now).map_err(|error| error.to_string());
        if let Err(why) = written.and_then(|text| place::replace(file, &text).map_err(|error| error.to_string())) {
            rows.extend(broken(format!("it cannot be written: {why}")));
        }
    }
    rows
}
