//! What workflows need and only the program knows: files, models, the environment.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use nika_agent::Briefing;
use nika_agent::provider::Provider;
use nika_agent::provider::choose::Said;
use nika_contract::text::harmless;
use nika_contract::{ToolError, code};
use nika_flow::check::block;
use nika_flow::run::action::Model;
use nika_flow::run::same::work_hash;
use nika_flow::run::verbs;
use nika_flow::run::verbs::Document;
use nika_flow::tools::ENDING;
use nika_flow::{finding, model};
use nika_guard::{PermitLine, Permits};
use nika_runtime::{Session, Whole};
use nika_store::Hash;
use nika_tools::file::ByPlan;
use nika_tools::talk::structured_output;
use serde_json::Value;

use super::around::may_choose;
use super::{Around, files};
use crate::briefing::{self, For};
use crate::compose::{self, Built};
use crate::failure::Failure;
use crate::models;
use crate::world::World;

/// Bytes of `.env` and of a schema.
const MOST_BYTES: u64 = 1 << 20;

/// See the module's page.
pub struct Library {
    pub world: World,
    pub built: Arc<Built>,
    /// The provider and the model that the command line names: they stand over those of the workflow.
    pub said: Model,
    pub by: By,
}

/// Who begins runs.
pub enum By {
    /// A person, at the command line.
    Person,
    /// A call of a session, whose model stands in where the workflow names none. It gets no secret, and no variable that
    /// a command of the session would not see: a file that a model has written could name any.
    Caller(Option<Arc<dyn Provider>>),
}

impl Library {
    /// A plain file of the workspace, its links followed and found inside.
    fn file(&self, path: &str, most: u64) -> Result<Vec<u8>, ToolError> {
        let place = self.built.files.locate(path)?;
        if place.below_root.is_none() || nika_guard::classify(&place.path).secret.is_some() {
            let message = format!("{} is no file that a workflow may name", place.shown());
            return Err(
                ToolError::new(code::OUT_OF_BOUNDS, message).hint("it has to lie below a root, and be no secret")
            );
        }
        read(&place.path, most)
    }
}

/// A plain file, bounded.
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<u8>, ToolError> {
    let shown = path.display();
    let failed = |error: std::io::Error| {
        let code = if error.kind() == std::io::ErrorKind::NotFound { code::NOT_FOUND } else { code::READ_FAILED };
        ToolError::new(code, format!("{shown}: {error}"))
    };
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(ToolError::new(code::NOT_A_FILE, format!("{shown} is not a regular file")));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(failed)?.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(ToolError::new(code::TOO_LARGE, format!("{shown} is larger than {most} bytes")));
    }
    Ok(bytes)
}

/// [`text_of`] a file, with what was meant where there is no such one below the root.
pub fn text_below(root: &Path, file: &Path) -> Result<String, Failure> {
    text_of(file).map_err(|failure| match failure {
        Failure::Error(error) if error.hint.is_none() && file.as_os_str() != "-" && !file.is_file() => {
            Failure::Error(ToolError { hint: files::instead(root, file), ..error })
        }
        other => other,
    })
}

/// The text of a workflow that a person names; `-` is what comes from stdin. One that is too large is handed on as far
/// as says so: the check has words for it.
pub fn text_of(file: &Path) -> Result<String, Failure> {
    let failed = |why: String| -> Failure {
        let shown = file.display().to_string();
        ToolError::new(code::BAD_ARGUMENTS, format!("{} cannot be read: {why}", harmless(&shown))).into()
    };
    let broken = |error: std::io::Error| failed(error.to_string());
    let most = nika_flow::MAX_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    if file.as_os_str() == "-" {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(broken)?;
    } else {
        if !std::fs::metadata(file).map_err(broken)?.is_file() {
            return Err(failed("it is no regular file".to_owned()));
        }
        std::fs::File::open(file).map_err(broken)?.take(most).read_to_end(&mut bytes).map_err(broken)?;
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        failed(format!("line {} is not UTF-8", line + 1))
    })
}

/// The workflow at `path`, called `shown`, where a check finds no fault with it.
pub fn open_document(path: &Path, shown: &str, around: &Around) -> Result<Document, Failure> {
    Ok(document(text_below(around.root(), path)?.as_bytes(), shown, around)?)
}

fn document(bytes: &[u8], shown: &str, around: &Around) -> Result<Document, ToolError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| ToolError::new(code::FLOW_UNREADABLE, format!("{shown} is not UTF-8 text")))?;
    let checked = nika_flow::check(text, shown, around);
    let clean = checked.is_clean();
    let Some(flow) = checked.flow.filter(|_| clean) else {
        let faults = checked.findings.iter().filter(|found| found.is_error());
        let all: Vec<String> = faults.map(|found| finding::show(shown, text, found)).collect();
        let message = format!("{shown} has findings, so it is not run:\n{}", all.join("").trim_end());
        return Err(ToolError::new(code::FLOW_FAULTY, message).hint(format!("`nika check {shown}` shows them again")));
    };
    let lines: Vec<PermitLine> = match &flow.permits {
        Some(stated) => {
            let at = |line: usize| format!("{shown}:{line}");
            let line = |(kind, text): (_, &model::At<String>)| PermitLine {
                kind,
                text: text.value.clone(),
                at: at(text.at.line),
            };
            stated.lines().map(line).collect()
        }
        None => {
            let at = format!("{shown}, as its tasks need it");
            let line = |(kind, text)| PermitLine { kind, text, at: at.clone() };
            block(&checked.needs).into_iter().map(line).collect()
        }
    };
    let permits = Permits::parse(shown, &lines, around.home().as_deref())
        .map_err(|error| ToolError::new(code::FLOW_RULE, format!("{shown}: `permits`: {error}")))?;
    Ok(Document {
        path: shown.to_owned(),
        hash: Hash::of(bytes).to_string(),
        work_hash: work_hash(text),
        flow: Arc::new(flow),
        permits: Arc::new(permits),
    })
}

impl verbs::Library for Library {
    fn document(&self, path: &str) -> Result<Document, ToolError> {
        // What is wrong with a file is said with its lines: a call shows those of workflows alone.
        if matches!(self.by, By::Caller(_)) && !path.ends_with(ENDING) {
            let message = format!("{path} is no workflow that a call may run");
            return Err(ToolError::new(code::OUT_OF_BOUNDS, message).hint(format!("its name has to end in {ENDING}")));
        }
        let bytes = self.file(path, nika_flow::MAX_BYTES as u64)?;
        document(&bytes, path, &Around::over(&self.world, &self.built))
    }

    fn model(&self, wanted: &Model) -> Result<Arc<dyn Provider>, ToolError> {
        if let (By::Caller(Some(model)), None, None) = (&self.by, &wanted.provider, &wanted.model) {
            return Ok(Arc::clone(model));
        }
        let configured = &self.built.effective.models.configured;
        let said = if self.said.provider.is_some() || self.said.model.is_some() { &self.said } else { wanted };
        if std::ptr::eq(said, wanted)
            && let Some(provider) = &wanted.provider
        {
            // A file of the repository names it: it chooses among providers that are known, and opens no file and no
            // address.
            if !may_choose(configured, provider) {
                let message =
                    format!("the workflow asks for the provider `{provider}`, which only a person can choose");
                return Err(ToolError::new(code::NO_MODEL, message).hint(format!("nika run --provider {provider} …")));
            }
        }
        let said = Said { provider: said.provider.as_deref(), model: said.model.as_deref() };
        Ok(models::model(&self.world, said, configured)?)
    }

    fn briefing(&self) -> Briefing {
        briefing::write(&self.built, For::Crew, None)
    }

    fn schema(&self, path: &str) -> Result<Value, ToolError> {
        let bytes = self.file(path, MOST_BYTES)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| ToolError::new(code::SCHEMA_UNUSABLE, format!("{path} is no JSON: {error}")))
    }

    fn fits(&self, schema: &Value, value: &Value) -> Result<(), ToolError> {
        structured_output::fits(schema, value)
    }

    fn secrets(&self, names: &[String]) -> Result<Vec<(String, String)>, ToolError> {
        if let (By::Caller(_), false) = (&self.by, names.is_empty()) {
            let message = format!("a workflow that takes secrets ({}) is run by a person alone", names.join(", "));
            return Err(ToolError::new(code::RUN_SECRET, message).hint("a person runs it: `nika run FILE`"));
        }
        let missing: Vec<&String> = names.iter().filter(|name| self.world.variable(name).is_none()).collect();
        let beside = if missing.is_empty() { Vec::new() } else { dotenv(&self.built.files.root().join(".env")) };
        let (mut values, mut unset) = (Vec::new(), Vec::new());
        for name in names {
            let of_file = || beside.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
            match self.world.variable(name).or_else(of_file) {
                Some(value) => values.push((name.clone(), value)),
                None => unset.push(name.as_str()),
            }
        }
        match unset.as_slice() {
            [] => Ok(values),
            unset => Err(ToolError::new(code::RUN_SECRET, format!("secrets are not set: {}", unset.join(", ")))
                .hint("set them in the environment, or in `.env` at the root")),
        }
    }

    fn prepare(&self, session: &Session) {
        session.state.slot::<Whole>().set();
        session.state.slot::<ByPlan>().set();
    }

    fn variables(&self, names: &[&str]) -> Vec<(String, String)> {
        let set = |name: &&str| Some(((*name).to_owned(), self.world.variable(name)?));
        let set = names.iter().filter_map(set);
        match self.by {
            By::Person => set.collect(),
            By::Caller(_) => {
                let seen = compose::command_env(&self.world, &self.built.effective);
                set.filter(|(name, _)| seen.iter().any(|(known, _)| known == name)).collect()
            }
        }
    }
}

/// The lines `NAME=VALUE` of a file, quotes around a value taken off. One that is not there says nothing.
fn dotenv(path: &Path) -> Vec<(String, String)> {
    let text = read(path, MOST_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let line = |line: &str| {
        let line = line.trim();
        let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
        let value = value.trim();
        let unquoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        (!line.starts_with('#')).then(|| (name.trim().to_owned(), unquoted.unwrap_or(value).to_owned()))
    };
    text.lines().filter_map(line).collect()
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").field("said", &self.said).finish_non_exhaustive()
    }
}
