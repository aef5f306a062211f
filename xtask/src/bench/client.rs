//! A small MCP client over stdio, made for measuring: the clock runs from before the request is written until its answer
//! has been read as a line. Building the request and parsing the answer are not in the time.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::machine::{self, Memory};

/// The revision that every peer speaks.
const REVISION: &str = "2025-11-25";

/// How to start a server.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub name: String,
    pub command: Vec<String>,
    pub env: Vec<(String, String)>,
}

/// A running server, initialized.
pub(crate) struct Client {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
    /// Kept from answer to answer: growing a fresh one to a megabyte would be in every time.
    line: String,
}

/// What the start showed: from before the process is made until `tools/list` was answered.
pub(crate) struct Opening {
    pub elapsed: Duration,
    pub memory: Option<Memory>,
    pub tools: Value,
}

impl Client {
    /// Starts a server and lists its tools. What it prints on stderr goes to `NAME.stderr` in `logs`.
    pub(crate) fn start(launch: &Launch, logs: &Path) -> Result<(Self, Opening)> {
        let log = File::create(logs.join(format!("{}.stderr", launch.name)))?;
        let (program, args) = launch.command.split_first().context("an empty command")?;
        let begun = Instant::now();
        let mut child = Command::new(program)
            .args(args)
            .envs(launch.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}: {program}", launch.name))?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("no stdout")?;
        let output = BufReader::with_capacity(1 << 20, output);
        let mut client = Client { name: launch.name.clone(), child, input, output, next_id: 0, line: String::new() };
        let hello = json!({
            "protocolVersion": REVISION,
            "capabilities": {},
            "clientInfo": {"name": "nika-bench", "version": "0"},
        });
        client.request("initialize", &hello)?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())?;
        let (_, listed) = client.request("tools/list", &json!({}))?;
        let elapsed = begun.elapsed();
        let memory = machine::memory(client.child.id());
        Ok((client, Opening { elapsed, memory, tools: listed["tools"].clone() }))
    }

    /// Calls a tool; a tool that failed is an error here, since a refusal is fast and would look like a good figure.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<(Duration, Value)> {
        let (elapsed, result) = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        ensure!(
            result["isError"] != Value::Bool(true),
            "{}: {tool} failed: {}",
            self.name,
            cut(&result["content"].to_string())
        );
        Ok((elapsed, result))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<(Duration, Value)> {
        self.next_id += 1;
        let id = self.next_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        let begun = Instant::now();
        self.send(&request)?;
        loop {
            self.line.clear();
            let read = self.output.read_line(&mut self.line)?;
            let elapsed = begun.elapsed();
            if read == 0 {
                bail!("{} closed its output during {method}; see its .stderr file", self.name);
            }
            let mut message: Value = serde_json::from_str(&self.line)
                .with_context(|| format!("{} sent no JSON: {}", self.name, cut(&self.line)))?;
            if message["method"].is_string() {
                // A notification, or a question that a bench cannot answer; the answer to ours is still to come.
                continue;
            }
            ensure!(message["id"] == json!(id), "{} answered out of order: {}", self.name, cut(&self.line));
            if !message["error"].is_null() {
                bail!("{}: {method} failed: {}", self.name, cut(&message["error"].to_string()));
            }
            return Ok((elapsed, message["result"].take()));
        }
    }

    fn send(&mut self, message: &str) -> Result<()> {
        let input = self.input.as_mut().context("the input is closed")?;
        // One write: two would show a server half a line first.
        let mut line = String::with_capacity(message.len() + 1);
        line.push_str(message);
        line.push('\n');
        input.write_all(line.as_bytes()).with_context(|| format!("{} has gone", self.name))?;
        Ok(input.flush()?)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Closing stdin is how a stdio server is told to end; one that does not is ended.
        drop(self.input.take());
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn cut(text: &str) -> String {
    text.chars().take(300).collect()
}
