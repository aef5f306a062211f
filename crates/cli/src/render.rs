//! A call's outcome, for people and for programs.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nika_contract::text::harmless;
use nika_contract::{Block, Code, Output, ToolError, code};
use nika_runtime::Outcome;
use serde_json::{Map, Value, json};

use crate::args::Report;
use crate::failure::{self, Failure};
use crate::out;

/// The one object of `--output json`.
pub fn object(outcome: &Outcome) -> Value {
    let call = Some(outcome.call.0.as_str());
    match &outcome.result {
        Ok(output) => {
            let mut object = json!({
                "ok": output.failed.is_none(),
                "code": output.failed.map(|code| code.to_string()),
                "content": output.content.iter().map(block).collect::<Vec<_>>(),
                "structured": output.structured,
                "diff": output.diff,
                "facts": output.facts.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Map<_, _>>(),
                "call_id": call,
            });
            if let Some(code) = output.failed {
                object["message"] = failing(output, code).into();
                object["hint"] = "`content` says how it ended".into();
            }
            object
        }
        Err(error) => error_object(error, call),
    }
}

/// Why what was answered is no success: the code in words, and a command's exit code.
fn failing(output: &Output, code: Code) -> String {
    let title = code::entry(code).map_or_else(|| code.to_string(), |entry| entry.title.to_owned());
    let exit = output.facts.iter().find(|(name, _)| *name == "exit_code").and_then(|(_, value)| value.as_i64());
    match exit.filter(|_| code == code::COMMAND_FAILED) {
        Some(exit) => format!("{title} (exit {exit})"),
        None => title,
    }
}

/// The same object for a call that failed, or was never made; every command that prints JSON fails with it.
pub fn error_object(error: &ToolError, call: Option<&str>) -> Value {
    json!({
        "ok": false,
        "code": error.code.to_string(),
        "message": error.message,
        "hint": error.hint,
        "content": [{ "type": "text", "text": error.to_string() }],
        "structured": null,
        "diff": null,
        "facts": {},
        "call_id": call,
        "error": { "code": error.code.to_string(), "message": error.message, "hint": error.hint },
    })
}

/// A run that could not be done, as an object where objects were asked for, which says `how` it ended. Whatever happens,
/// the last line of a stream is that object.
pub fn told(output: Report, how: (&str, &str), done: Result<ExitCode, Failure>) -> Result<ExitCode, Failure> {
    match done {
        Err(Failure::Error(error)) if output != Report::Text => {
            let mut object = error_object(&error, None);
            object[how.0] = how.1.into();
            if output == Report::StreamJson {
                object["event"] = "ended".into();
            }
            out::json(&object)?;
            Ok(ExitCode::from(failure::exit(error.code)))
        }
        other => other,
    }
}

/// A block in the form that MCP gives it.
fn block(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Image { mime, data } => json!({ "type": "image", "data": STANDARD.encode(data), "mimeType": mime }),
        Block::Audio { mime, data } => json!({ "type": "audio", "data": STANDARD.encode(data), "mimeType": mime }),
        Block::Link { uri, name, bytes } => {
            json!({ "type": "resource_link", "uri": uri, "name": name, "size": bytes })
        }
        Block::Resource { uri, mime, text } => {
            json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime, "text": text } })
        }
    }
}

/// The answer on stdout, or the error on stderr. `save` is where images go.
pub fn for_people(outcome: &Outcome, colours: bool, save: Option<&Path>) -> Result<(), Failure> {
    let output = match &outcome.result {
        Ok(output) => output,
        Err(error) => {
            out::complain(&failure::text(error));
            return Ok(());
        }
    };
    let text = text(output, &outcome.call.0, save)?;
    let text = harmless(&text);
    let diff = harmless(output.diff.as_deref().map(str::trim_end).unwrap_or_default());
    let diff = diff.as_ref();
    let paint = |diff: &str| if colours { out::coloured(diff) } else { format!("{diff}\n") };
    // Some tools show the diff to the model as well: it is printed once.
    match text.split_once(diff).filter(|_| !diff.is_empty()) {
        Some((before, after)) => {
            let whole = format!("{before}{}{}", paint(diff), after.trim_start_matches('\n'));
            out::verbatim(&format!("{}\n", whole.strip_suffix('\n').unwrap_or(&whole)))?;
        }
        None if diff.is_empty() => out::line(&text)?,
        None => out::verbatim(&format!("{}\n{}", text.trim_end(), paint(diff)))?,
    }
    Ok(())
}

fn text(output: &Output, call: &str, save: Option<&Path>) -> Result<String, Failure> {
    let mut parts = Vec::new();
    for (number, block) in output.content.iter().enumerate() {
        match block {
            Block::Text(text) => parts.push(text.clone()),
            Block::Image { mime, data } | Block::Audio { mime, data } => parts.push(match save {
                Some(dir) => format!("[{mime}, {} bytes: {}]", data.len(), keep(dir, call, number, mime, data)?),
                None => format!("[{mime}, {} bytes; --save DIR keeps it as a file]", data.len()),
            }),
            // The text that was cut names the file already.
            Block::Link { .. } => {}
            Block::Resource { uri, text, .. } => parts.push(format!("[{uri}]\n{text}")),
        }
    }
    Ok(parts.join("\n"))
}

/// Writes a block as a new file and says where.
fn keep(dir: &Path, call: &str, number: usize, mime: &str, data: &[u8]) -> Result<String, Failure> {
    let kind = mime.rsplit_once('/').map_or("bin", |(_, kind)| kind);
    let path = dir.join(format!("{call}-{number}.{kind}"));
    let failed = |error: std::io::Error| {
        Failure::from(ToolError::new(code::WRITE_FAILED, format!("cannot save {}: {error}", path.display())))
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path).map_err(failed)?;
    file.write_all(data).map_err(failed)?;
    Ok(path.display().to_string())
}
