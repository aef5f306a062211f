//! Whether a run that is gone on with is of the workflow and the inputs that it began with. Pure.
//!
//! What a file says is compared, not its bytes: a comment changes no task. Its `limits` are left out, so that a run
//! that reached one of them goes on once it was raised.

use nika_contract::{ToolError, code};
use nika_store::Hash;
use serde_json::{Map, Value};

use super::resume::Before;
use super::verbs::Document;
use crate::read::yaml;

/// sha256 of what a document says, but for its limits; of its bytes where nobody can read it.
pub fn work_hash(text: &str) -> String {
    let said = yaml::parse(text).ok().map(|root| root.value());
    let said = said.map(|mut said| {
        if let Value::Object(keys) = &mut said {
            keys.shift_remove("limits");
        }
        said.to_string()
    });
    Hash::of(said.as_deref().unwrap_or(text).as_bytes()).to_string()
}

/// sha256 of what a run is given.
pub fn inputs_hash(inputs: &Map<String, Value>) -> String {
    Hash::of(Value::Object(inputs.clone()).to_string().as_bytes()).to_string()
}

/// What differs between the run that began before and the one that is to go on with it, where something does.
pub fn same(before: &Before, document: &Document, inputs_hash: &str) -> Result<(), ToolError> {
    let other = |what: &str, hint: &str| Err(ToolError::new(code::RUN_OTHER, what.to_owned()).hint(hint));
    if before.flow_hash != document.hash && before.work_hash != document.work_hash {
        let what = format!("{} was changed since the run began", document.path);
        return other(&what, "take the change back to go on with it (`limits` may be another), or begin a new run");
    }
    if before.inputs_hash != inputs_hash {
        return other("the inputs are not those that the run began with", "give the same ones, or begin a new run");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_comments_are_no_other_workflow() {
        let tasks = "schema: nika/workflow@1\ntasks:\n  - {id: a, exec: [ls]}\n";
        let of = work_hash(tasks);
        for alike in [
            format!("{tasks}limits: {{tokens: 5}}\n"),
            format!("# A comment.\n{tasks}"),
            "schema: nika/workflow@1\nlimits:\n  cost_usd: 1\n  timeout: 5m\n\ntasks: [{id: a, exec: [\"ls\"]}]"
                .to_owned(),
        ] {
            assert_eq!(work_hash(&alike), of, "{alike}");
        }
        for other in [tasks.replace("ls", "id"), format!("{tasks}outputs: {{limits: 1}}\n"), String::new()] {
            assert_ne!(work_hash(&other), of, "{other}");
        }
        assert_ne!(work_hash("{"), work_hash("["), "what cannot be read is its bytes");
    }
}
