//! The bare floor: what an MCP server over stdio costs when it does nothing but answer. One loop: read a line, parse it,
//! act without any check, print a line. No roots, no journal, no permission, no undo. A hidden part of `bench mcp`.

use std::fs;
use std::io::{BufRead, Write, stdin, stdout};
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::args::Args;

pub(crate) fn run(args: Args) -> Result<()> {
    args.finish()?;
    let mut input = stdin().lock();
    let mut output = stdout().lock();
    // Both buffers are kept: fresh ones of a megabyte cost their page faults at every call.
    let (mut line, mut reply) = (String::new(), Vec::new());
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let request: Value = serde_json::from_str(&line)?;
        let Some(id) = request.get("id") else { continue };
        reply.clear();
        write!(reply, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":")?;
        answer(&request, &mut reply)?;
        reply.extend_from_slice(b"}\n");
        output.write_all(&reply)?;
        output.flush()?;
    }
}

fn answer(request: &Value, reply: &mut Vec<u8>) -> Result<()> {
    let params = &request["params"];
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "floor", "version": "0"},
        }),
        "tools/list" => json!({"tools": tools()}),
        "tools/call" => {
            let text = call(params["name"].as_str().unwrap_or_default(), &params["arguments"])?;
            // By hand: `json!` would copy the text, and a megabyte is worth not copying in a floor.
            reply.extend_from_slice(b"{\"content\":[{\"type\":\"text\",\"text\":");
            serde_json::to_writer(&mut *reply, &text)?;
            reply.extend_from_slice(b"}]}");
            return Ok(());
        }
        _ => json!({}),
    };
    Ok(serde_json::to_writer(reply, &result)?)
}

fn tools() -> Vec<Value> {
    ["echo", "read", "edit", "list"]
        .iter()
        .map(|name| json!({"name": name, "description": name, "inputSchema": {"type": "object"}}))
        .collect()
}

fn call(tool: &str, arguments: &Value) -> Result<String> {
    let text = |name: &str| arguments[name].as_str().with_context(|| format!("{name} is missing"));
    match tool {
        "echo" => Ok(text("text")?.to_owned()),
        "read" => Ok(fs::read_to_string(text("path")?)?),
        "edit" => edit(Path::new(text("path")?), text("old")?, text("new")?),
        "list" => {
            let mut names = Vec::new();
            for entry in fs::read_dir(text("path")?)? {
                let entry = entry?;
                let mark = if entry.file_type()?.is_dir() { "/" } else { "" };
                names.push(format!("{}{mark}", entry.file_name().to_string_lossy()));
            }
            names.sort();
            Ok(names.join("\n"))
        }
        other => anyhow::bail!("no tool {other}"),
    }
}

fn edit(path: &Path, old: &str, new: &str) -> Result<String> {
    let before = fs::read_to_string(path)?;
    let at = before.find(old).context("not found")?;
    let after = format!("{}{new}{}", &before[..at], &before[at + old.len()..]);
    let beside = path.with_extension("new");
    fs::write(&beside, after)?;
    fs::rename(&beside, path)?;
    Ok(format!("-{old}\n+{new}\n"))
}
