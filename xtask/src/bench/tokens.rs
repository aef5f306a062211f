//! How many tokens a tool list costs a model: o200k_base, counted by a package that carries its ranks.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::peers::Peers;

const SCRIPT: &str = "import {encode} from 'gpt-tokenizer/encoding/o200k_base';
import {readFileSync} from 'node:fs';
console.log(encode(readFileSync(0, 'utf8')).length);";

/// Bytes and tokens of the `tools` of a list, as compact JSON.
pub(crate) fn of_tools(peers: &Peers, tools: &Value) -> Result<(usize, usize)> {
    let text = serde_json::to_string(tools)?;
    let mut child = Command::new(&peers.node.program)
        .args(["--input-type=module", "-e", SCRIPT])
        .current_dir(&peers.dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().context("the tokenizer has no stdin")?;
    input.write_all(text.as_bytes())?;
    drop(input);
    let out = child.wait_with_output()?;
    ensure!(out.status.success(), "the tokenizer failed: {}", out.status);
    let tokens = String::from_utf8_lossy(&out.stdout).trim().parse().context("the tokenizer printed no number")?;
    Ok((text.len(), tokens))
}
