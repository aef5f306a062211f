//! `bench start`: what the tools cost that a session begins with, in tokens: those that `nika agent` tells its model of at
//! its first turn, as they stand in the request, beside the lists of servers. Nothing is timed, so any build will do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::client::{Client, Launch};
use super::ours::{self, Ours};
use super::peers::{Peers, peers};
use super::raw::Raw;
use super::scene::Scene;
use super::table::{Table, keep};
use super::tokens;
use super::verdict::Verdict;
use crate::args::Args;
use crate::paths;

/// Tokens of the tools at the start of a session of `nika agent`.
const MOST: usize = 3_500;

pub(crate) fn run(mut args: Args) -> Result<()> {
    let ours = Ours::from_args(&mut args)?.context("build it, or name a program with --nika")?;
    args.finish()?;
    let peers = peers()?;
    let scene = Scene::make(&paths::made("bench/start")?.join("scene"))?;
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let reference = vec![text(&peers.node.program), text(&peers.reference), text(&scene.root)];
    let rust = vec![text(&peers.rust_mcp_filesystem), "--allow-write".into(), text(&scene.root)];
    let lists = [
        ("nika agent", told(&ours, &scene, &[])?),
        ("nika agent --simple", told(&ours, &scene, &["--simple"])?),
        ("nika serve", listed("nika", ours.serve(&scene.root))?),
        ("server-filesystem (reference)", listed("reference", reference)?),
        ("rust-mcp-filesystem", listed("rust-mcp-filesystem", rust)?),
    ];
    let mut table = Table::new(["who", "tools", "bytes", "tokens (o200k_base)", "target", "ok?"]);
    let (mut verdict, mut raw, mut lines) = (Verdict::default(), Vec::new(), Vec::new());
    for (at, (who, tools)) in lists.iter().enumerate() {
        let count = tools.as_array().map_or(0, Vec::len);
        ensure!(count > 0, "{who} has no tools");
        let (bytes, tokens) = tokens::of_tools(&peers, tools)?;
        let (target, ok) = match at {
            0 => (format!("≤ {MOST}"), verdict.judge("tokens of the tools of nika agent", tokens <= MOST)),
            _ => (String::new(), ""),
        };
        table.row([who.to_string(), count.to_string(), bytes.to_string(), tokens.to_string(), target, ok.to_owned()]);
        raw.push(json!({"who": who, "tools": count, "bytes": bytes, "tokens": tokens}));
        lines.push(Raw::new(*who, "tokens", &[tokens as f64]));
    }
    let versions = versions(&peers, &ours)?;
    println!("{}\n{}", versions.join("\n"), table.text());
    keep("start", &lines, &json!({"versions": versions, "lists": raw}))?;
    verdict.finish()
}

fn versions(peers: &Peers, ours: &Ours) -> Result<Vec<String>> {
    let named = peers.versions()?.into_iter().filter(|line| !line.starts_with("ripgrep"));
    Ok(named.chain([ours.version()?]).collect())
}

/// What a server lists.
fn listed(name: &str, command: Vec<String>) -> Result<Value> {
    let launch = Launch { name: name.to_owned(), command, env: ours::environment()? };
    let (client, opening) = Client::start(&launch, &paths::made("bench/start")?)?;
    drop(client);
    Ok(opening.tools)
}

/// The tools of the first request that `nika agent` makes.
fn told(ours: &Ours, scene: &Scene, more: &[&str]) -> Result<Value> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/v1", listener.local_addr()?);
    let heard = thread::spawn(move || first_body(&listener));
    let mut child = Command::new(&ours.program)
        .args(["agent", "say hello", "--provider", &address, "--model", "any", "--output", "json", "--max-turns", "1"])
        .args(more)
        .arg("--root")
        .arg(&scene.root)
        .envs(ours::environment()?)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start nika")?;
    let body = heard.join().map_err(|_| anyhow::anyhow!("the listener panicked"))??;
    child.wait()?;
    let asked: Value = serde_json::from_slice(&body).context("the request is no JSON")?;
    Ok(asked["tools"].clone())
}

/// The body of the first request, which is answered with a refusal: nothing more is wanted.
fn first_body(listener: &TcpListener) -> Result<Vec<u8>> {
    let (mut stream, _) = listener.accept()?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        ensure!(reader.read_line(&mut line)? > 0, "the request ended within its head");
        let line = line.trim_end();
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().context("no length")?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")?;
    Ok(body)
}
