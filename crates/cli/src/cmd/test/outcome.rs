//! What comes of a case, and how that differs from what the case says. Pure.

use std::collections::BTreeMap;

use nika_contract::{Code, ToolError, code};
use nika_edit::{Limits, unified};
use nika_flow::run::Ended;
use serde_json::{Map, Value};

use super::cases::Case;

/// How a case ended.
#[derive(Debug)]
pub enum Outcome {
    /// It ran.
    Ended(Ended),
    /// It was not run: an input, a secret, what it may do, or the workflow itself stood in the way.
    Refused(ToolError),
    /// Nobody knows what would come of it: the case, or this machine, has to be mended first.
    Broken(ToolError),
}

/// What a case really brings.
#[derive(Debug)]
pub struct Came {
    pub outcome: Outcome,
    /// The files that the case names as they are now, or all.
    pub files: BTreeMap<String, Option<String>>,
}

impl Came {
    pub fn broken(error: ToolError) -> Came {
        Came { outcome: Outcome::Broken(error), files: BTreeMap::new() }
    }

    /// The error that it ended with.
    fn error(&self) -> Option<ToolError> {
        match &self.outcome {
            Outcome::Ended(Ended::Completed(_)) => None,
            Outcome::Ended(Ended::Failed(error) | Ended::Aborted(error))
            | Outcome::Refused(error)
            | Outcome::Broken(error) => Some(error.clone()),
            Outcome::Ended(Ended::Paused) => Some(ToolError::cancelled()),
        }
    }

    fn outputs(&self) -> Option<&Map<String, Value>> {
        match &self.outcome {
            Outcome::Ended(Ended::Completed(outputs)) => Some(outputs),
            _ => None,
        }
    }

    /// What is other than the case says.
    pub fn differences(&self, case: &Case) -> Vec<String> {
        if let Outcome::Broken(error) = &self.outcome {
            return vec![format!("it cannot be tried: {error}")];
        }
        let mut differs = Vec::new();
        match (self.error(), &case.fails) {
            (Some(real), Some(wanted)) if !fits(wanted, &real) => {
                differs.push(format!("it was to fail with {wanted}, and failed with {}", said(&real)));
            }
            (Some(real), None) => differs.push(format!("it failed: {}", said(&real))),
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

    /// Takes what came for right. `false` where nothing came that could be.
    pub fn take_over(&self, case: &mut Case) -> bool {
        match &self.outcome {
            Outcome::Broken(_) => return false,
            Outcome::Refused(error) if OF_WHO_RUNS.contains(&error.code) => return false,
            Outcome::Refused(_) | Outcome::Ended(_) => {}
        }
        let real = self.error();
        case.outputs = self.outputs().cloned();
        // What the case says of its failure stays where it still holds: it may be more, or less, than the code.
        let holds = case.fails.as_ref().zip(real.as_ref()).is_some_and(|(wanted, real)| fits(wanted, real));
        if !holds {
            case.fails = real.as_ref().map(|real| cause(real).to_string());
        }
        for (path, real) in &self.files {
            match real {
                Some(text) => _ = case.files.insert(path.clone(), text.clone()),
                None => _ = case.files.remove(path),
            }
        }
        true
    }

    /// Makes the first case of a run, which has to have ended well: that a workflow fails is for a person to say.
    pub fn first(&self, case: &mut Case) -> Result<(), String> {
        if let Some(error) = self.error() {
            return Err(format!(
                "no test was written, as the run did not end well: {error}\n\
                 Write the file with what it needs (`inputs`, `given`, `script`), and `--update` adds the results."
            ));
        }
        self.take_over(case);
        Ok(())
    }
}

/// Refusals that say how `nika test` was started, and where, and nothing about the workflow.
const OF_WHO_RUNS: &[Code] = &[code::RUN_SECRET, code::RUN_NOT_ALLOWED];

fn said(error: &ToolError) -> String {
    format!("{}: {}", error.code, error.message)
}

/// Whether an error is the one that a case names, by its code or the code of what caused it, or by words of its message.
fn fits(wanted: &str, real: &ToolError) -> bool {
    let is_number = |rest: &str| rest.chars().all(|c| c.is_ascii_digit());
    match code::parse(wanted.trim()) {
        Some(code) => code == real.code || codes(&real.message).any(|inner| inner == code),
        // A number that no code has is a slip, not the beginning of another.
        None if wanted.trim().strip_prefix("NIKA-").is_some_and(is_number) => false,
        None => said(real).contains(wanted),
    }
}

/// The code that says most: of failed tasks it is the first one's.
fn cause(error: &ToolError) -> Code {
    let inner = (error.code == code::TASKS_FAILED).then(|| codes(&error.message).next()).flatten();
    inner.unwrap_or(error.code)
}

/// The codes that a message speaks of, in order.
fn codes(message: &str) -> impl Iterator<Item = Code> + '_ {
    let words = message.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter_map(code::parse)
}

fn difference(name: &str, wanted: Option<&str>, real: Option<&str>) -> String {
    unified(wanted.map(str::as_bytes), real.map(str::as_bytes), name, &Limits::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case(value: Value) -> Case {
        serde_json::from_value(value).expect("a case")
    }

    fn failed(code: Code, message: &str) -> Came {
        let outcome = Outcome::Ended(Ended::Failed(ToolError::new(code, message)));
        Came { outcome, files: BTreeMap::new() }
    }

    #[test]
    fn a_failure_is_known_by_its_cause() {
        let came = failed(code::TASKS_FAILED, "`a` failed: NIKA-208 there is no x");
        for (fails, holds) in
            [("NIKA-208", true), ("NIKA-898", true), ("NIKA-20", false), ("NIKA-202", false), ("there is no x", true)]
        {
            let differs = came.differences(&case(json!({"name": "x", "fails": fails})));
            assert_eq!(differs.is_empty(), holds, "{fails}: {differs:?}");
        }
        let mut now = case(json!({"name": "x", "fails": "NIKA-202"}));
        assert!(came.take_over(&mut now));
        assert_eq!(now.fails.as_deref(), Some("NIKA-208"), "not the code that every failed run has");
        let mut kept = case(json!({"name": "x", "fails": "there is no"}));
        came.take_over(&mut kept);
        assert_eq!(kept.fails.as_deref(), Some("there is no"));
    }

    #[test]
    fn a_refusal_is_a_result_and_what_cannot_be_tried_is_none() {
        let refused = Came {
            outcome: Outcome::Refused(ToolError::new(code::RUN_INPUT, "`who` is missing")),
            files: BTreeMap::new(),
        };
        assert_eq!(refused.differences(&case(json!({"name": "x", "fails": "NIKA-891"}))), [""; 0]);
        assert_eq!(refused.differences(&case(json!({"name": "x"}))), ["it failed: NIKA-891: `who` is missing"]);
        let broken = Came::broken(ToolError::new(code::BAD_ARGUMENTS, "no script"));
        let mut now = case(json!({"name": "x", "fails": "NIKA-100"}));
        assert_eq!(broken.differences(&now), ["it cannot be tried: NIKA-100 no script"]);
        assert!(!broken.take_over(&mut now) && broken.first(&mut now).is_err());
        let mut right = case(json!({"name": "x", "outputs": {"a": 1}}));
        assert!(refused.take_over(&mut right.clone()), "that an input is missing is the workflow's own");
        for code in OF_WHO_RUNS {
            let outcome = Outcome::Refused(ToolError::new(*code, "not here"));
            let unsaid = Came { outcome, files: BTreeMap::new() };
            assert!(!unsaid.differences(&right).is_empty() && !unsaid.take_over(&mut right), "{code}");
        }
        assert!(right.outputs.is_some());
    }

    #[test]
    fn the_first_case_holds_what_a_good_run_brought() {
        let outputs = json!({"a": 1}).as_object().cloned().unwrap_or_default();
        let files = BTreeMap::from([("out/a".to_owned(), Some("x\n".to_owned())), ("bin".to_owned(), None)]);
        let came = Came { outcome: Outcome::Ended(Ended::Completed(outputs)), files };
        let mut made = case(json!({"name": "x"}));
        came.first(&mut made).expect("it ended well");
        assert_eq!(made, case(json!({"name": "x", "outputs": {"a": 1}, "files": {"out/a": "x\n"}})));
        let why = failed(code::TASKS_FAILED, "`a` failed: NIKA-208 x").first(&mut made).expect_err("it failed");
        assert!(why.contains("NIKA-208") && why.contains("`inputs`"), "{why}");
    }
}
