//! `exec`: a program with its words, or a text that holds no template. What of it is the output, the task says.

use nika_contract::{ToolError, code, text};
use serde_json::{Map, Value, json};

use super::Hands;
use crate::model::Capture;
use crate::run::action::{Action, within};
use crate::run::tries::too_long;
use crate::run::world::{Made, Order, Unmade};

/// The longest that a command may take that somebody waits for.
const MOST_MS: u64 = 600_000;
/// Characters of what a failed command said that its error shows.
const SHOWN_CHARS: usize = 1_000;
/// Characters of what the tool says of how it ended.
const REPORT_CHARS: usize = 2_000;

pub(super) async fn exec(hands: &Hands, order: &Order) -> Result<Made, Unmade> {
    let Action::Exec { words, shell, cwd, env, stdin, ok_exit, capture } = &order.action else {
        unreachable!("the caller looked")
    };
    let stated: Vec<&str> = hands.permits.variables().collect();
    let mut variables = hands.library.variables(&stated);
    for (name, value) in env {
        variables.retain(|(known, _)| known != name);
        variables.push((name.clone(), value.clone()));
    }
    let mut arguments = Map::new();
    let mut put = |name: &str, value: Value| _ = arguments.insert(name.to_owned(), value);
    match shell {
        Some(text) => put("shell", text.as_str().into()),
        None => put("words", words.clone().into()),
    }
    // As names and values: the journal leaves out what stands under the name of a secret.
    put("env", Value::Object(variables.into_iter().map(|(name, value)| (name, value.into())).collect()));
    let timeout_ms = within(std::time::Duration::from_millis(order.timeout_ms), MOST_MS);
    put("timeout", timeout_ms.into());
    put("combined", (*capture == Capture::Combined).into());
    for (name, value) in [("cwd", cwd), ("stdin", stdin)] {
        if let Some(value) = value {
            put(name, value.as_str().into());
        }
    }
    let (output, call) = hands.made(order, &order.origin, "exec", arguments).await?;
    let data = output.structured.as_ref().cloned().unwrap_or_default();
    if let Some(code) = output.failed {
        // It was stopped, or changed what it may not: what the tool says of that comes first.
        let how = text::preview(&output.joined_text(), REPORT_CHARS);
        if code == code::COMMAND_FAILED && data["wall_ms"].as_u64().is_some_and(|wall_ms| wall_ms >= timeout_ms) {
            let error = too_long(&order.unit, order.timeout_ms, Some(&printed(&data)));
            return Err(ToolError { message: format!("{}\n{how}", error.message), ..error }.into());
        }
        return Err(ToolError::new(code, format!("{how}{}", said(&data))).into());
    }
    let output = captured(&data, *capture, ok_exit)?;
    Ok(Made { call: Some(call), ..Made::of(output) })
}

/// The output, by what is captured; an error where the exit code is a failure.
fn captured(data: &Value, capture: Capture, ok_exit: &[i32]) -> Result<Value, ToolError> {
    let field = |name: &str| data[name].as_str().unwrap_or_default();
    let exit = data["exit"].as_i64().unwrap_or_default();
    if !ok_exit.iter().any(|fine| i64::from(*fine) == exit) {
        let message = format!("the command ended with exit code {exit}{}", said(data));
        return Err(ToolError::new(code::COMMAND_FAILED, message)
            .hint("`ok_exit` lists exit codes that are no failure; `on_error` says what a failure means"));
    }
    let line = |text: &str| Value::from(text.strip_suffix('\n').unwrap_or(text));
    Ok(match capture {
        Capture::Stdout | Capture::Combined => line(field("stdout")),
        Capture::Stderr => line(field("stderr")),
        Capture::Json => serde_json::from_str(field("stdout")).map_err(|error| {
            let shown = text::preview(field("stdout"), 120);
            ToolError::new(code::RUN_DATA, format!("the command was to print JSON, and printed `{shown}`: {error}"))
                .hint("`capture: stdout` takes it as text")
        })?,
        Capture::All => json!({"exit": exit, "stdout": field("stdout"), "stderr": field("stderr")}),
    })
}

/// All that a command printed.
fn printed(data: &Value) -> String {
    let of = |name: &str| data[name].as_str().unwrap_or_default().trim_end();
    [of("stdout"), of("stderr")].into_iter().filter(|said| !said.is_empty()).collect::<Vec<_>>().join("\n")
}

/// What a failed command printed, below the sentence that says how it ended: its errors, else its output.
fn said(data: &Value) -> String {
    let of = |name: &str| data[name].as_str().unwrap_or_default().trim_end();
    let said = [of("stderr"), of("stdout")].into_iter().find(|said| !said.is_empty()).unwrap_or_default();
    match text::head_and_tail(said, SHOWN_CHARS) {
        Some(cut) => format!(":\n{cut}"),
        None if said.is_empty() => String::new(),
        None => format!(":\n{said}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_task_says_what_of_a_command_is_the_output() {
        let data = json!({"exit": 1, "stdout": "{\"a\": 1}\n", "stderr": "careful\n"});
        for (capture, want) in [
            (Capture::Stdout, json!("{\"a\": 1}")),
            (Capture::Stderr, json!("careful")),
            (Capture::Json, json!({"a": 1})),
            (Capture::All, json!({"exit": 1, "stdout": "{\"a\": 1}\n", "stderr": "careful\n"})),
        ] {
            assert_eq!(captured(&data, capture, &[0, 1]), Ok(want), "{capture:?}");
        }
    }

    #[test]
    fn a_failure_says_what_the_command_said() {
        let error = captured(&json!({"exit": 2, "stdout": "", "stderr": "no such file\n"}), Capture::Stdout, &[0]);
        let error = error.expect_err("2 is none of them");
        assert_eq!(error.message, "the command ended with exit code 2:\nno such file");
        assert_eq!(said(&json!({"stdout": "half of it\n", "stderr": " \n"})), ":\nhalf of it");
        assert_eq!(said(&json!({"stdout": "", "stderr": ""})), "");
        assert!(captured(&json!({"exit": 0, "stdout": "x", "stderr": ""}), Capture::Json, &[0]).is_err());
    }
}
