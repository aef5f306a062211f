//! `nika explain`: what a code, or a finding in a command, means and what to do about it; or what a tool does.

use nika_contract::code::{self, Code};
use nika_contract::{ToolError, text};
use nika_guard::bash::FINDINGS;

use crate::args;
use crate::cmd::{policy, tools};
use crate::failure::Failure;
use crate::out;

pub fn run(args: &args::Explain) -> Result<(), Failure> {
    let what = args.what.trim();
    let lower = what.to_lowercase();
    let digits = lower.strip_prefix("nika").map_or(lower.as_str(), |rest| rest.trim_start_matches(['-', '_', ' ']));
    if let Some(row) = FINDINGS.iter().flat_map(|rows| rows.iter()).find(|row| row.code == lower) {
        let raises = row.raises.map_or("nothing: it is noted", policy::kind);
        let page = format!("{}\n\n{}\n{}\n\nRaises to {raises}. For example:\n", row.code, row.when, row.why);
        out::line(&page)?;
        return Ok(out::line(&format!("  {}", text::harmless(row.example)))?);
    }
    let Ok(number) = digits.parse() else { return tools::show(what, false).map_err(|no_tool| near(&lower, no_tool)) };
    let Some(entry) = code::entry(Code(number)) else {
        let codes = code::TABLE.iter().map(|entry| entry.code.to_string());
        let near = text::near_names(&Code(number).to_string(), codes, 5);
        let error = ToolError::new(code::BAD_ARGUMENTS, format!("there is no code {what}"));
        return Err(hinting(error, &near).into());
    };
    Ok(out::line(&format!("{} {}\n\n{}.\n{}", entry.code, entry.name, entry.title, entry.advice))?)
}

/// What was probably meant where it is no tool either: a finding.
fn near(lower: &str, no_tool: Failure) -> Failure {
    let findings = FINDINGS.iter().flat_map(|rows| rows.iter()).map(|row| row.code.to_owned());
    match text::near_names(lower, findings, 5).as_slice() {
        [] => no_tool,
        near => {
            let error = ToolError::new(code::BAD_ARGUMENTS, format!("there is no finding, code or tool `{lower}`"));
            hinting(error, near).into()
        }
    }
}

fn hinting(error: ToolError, near: &[String]) -> ToolError {
    match text::there_are(near) {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
