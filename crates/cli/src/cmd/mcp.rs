//! `nika mcp`: which servers there are, what their tools are, and a person's yes to them.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use nika_contract::{ToolError, code, text};
use nika_mcp::client::{HeldBack, Pool, State, Status};
use serde_json::{Value, json};

use super::call::one_thread;
use super::mcp_auth;
use crate::args::{self, Format, McpCommand, McpCommon};
use crate::ask::{Confirmed, confirmed};
use crate::compose::{self, Ground, Shape};
use crate::failure::Failure;
use crate::out;
use crate::world::World;

pub fn run(args: args::Mcp) -> Result<ExitCode, Failure> {
    match args.command {
        McpCommand::List { check, common } => list(check, &common),
        McpCommand::Tools { server, common } => tools(server.as_deref(), &common),
        McpCommand::Approve { server, yes, common } => approve(&server, yes, &common),
        McpCommand::Login { server, paste, common } => {
            let (world, pool) = pool(&common)?;
            mcp_auth::login(&world, &pool, &server, paste, format(&common))
        }
        McpCommand::Logout { server, common } => {
            let (world, pool) = pool(&common)?;
            mcp_auth::logout(&world, &pool, &server, format(&common))
        }
    }
}

fn format(common: &McpCommon) -> Format {
    if common.json { Format::Json } else { common.output }
}

/// The servers, and the world that they were found in.
fn pool(common: &McpCommon) -> Result<(World, Arc<Pool>), Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &common.place)?;
    let effective = ground.configure(&world, &common.standing)?;
    let built = compose::build(&world, &ground, effective, Shape::default())?;
    Ok((world, built.servers))
}

fn list(check: bool, common: &McpCommon) -> Result<ExitCode, Failure> {
    let (world, pool) = pool(common)?;
    let all = one_thread()?.block_on(async {
        if check {
            for name in pool.usable() {
                // What comes of it is how it stands.
                let _ = pool.refresh(name).await;
            }
        }
        let all = pool.status();
        pool.close().await;
        all
    });
    let logins = mcp_auth::states(&world, &pool)?;
    if format(common) == Format::Json {
        let mut rows: Vec<Value> = all.iter().map(Status::to_json).collect();
        mcp_auth::beside(&mut rows, &logins);
        out::pretty(&Value::Array(rows))?;
    } else if all.is_empty() {
        out::line("No MCP server is configured: `mcp.servers` in .nika/config.yaml, or .mcp.json, names them.")?;
    } else {
        let row = |status: &Status| {
            let held = match status.held_back.len() {
                0 => String::new(),
                count => format!(", {count} held back"),
            };
            let tools = format!("{} tools{held}", status.pinned.len());
            let place = text::preview(&text::harmless(&status.place), 60);
            vec![
                status.name.clone(),
                status.state.name().into(),
                status.transport.into(),
                tools,
                status.at.clone(),
                place,
            ]
        };
        out::print(&out::table(&all.iter().map(row).collect::<Vec<_>>()))?;
        for status in &all {
            if let Some(why) = &status.why {
                out::line(&format!("{}: {}", status.name, text::harmless(why)))?;
            }
            if let Some(login) = logins.get(&status.name) {
                out::line(&format!("{}: {login}", status.name))?;
            }
        }
    }
    let failed = check && all.iter().any(|status| status.state == State::Failed);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn tools(server: Option<&str>, common: &McpCommon) -> Result<ExitCode, Failure> {
    let (_, pool) = pool(common)?;
    let all = one_thread()?.block_on(async {
        if let Some(server) = server {
            let asked = pool.refresh(server).await;
            pool.close().await;
            asked?;
        }
        let mut all = pool.status();
        all.retain(|status| server.is_none_or(|server| server == status.name));
        Ok::<_, ToolError>(all)
    })?;
    if format(common) == Format::Json {
        out::pretty(&Value::Array(all.iter().map(Status::to_json).collect()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut shown = String::new();
    for status in &all {
        let about = status.about.as_ref().map(|(title, revision)| format!(" ({title}, MCP {revision})"));
        let _ = writeln!(shown, "{}{}", status.name, about.unwrap_or_default());
        for tool in &status.pinned {
            let about = text::preview(&tool.description, 100);
            let _ = writeln!(shown, "  mcp__{}__{}  {about}", status.name, tool.shown());
        }
        shown.push_str(&held(&status.held_back));
    }
    out::print(&shown)?;
    Ok(ExitCode::SUCCESS)
}

/// Tools that wait for a yes, each whole: what is not read cannot be agreed to.
fn held(all: &[HeldBack]) -> String {
    all.iter().fold(String::new(), |mut shown, held| {
        let _ = writeln!(shown, "  held back: {}, {}", held.tool, held.in_short());
        shown.push_str(&held.whole());
        shown
    })
}

fn approve(server: &str, yes: bool, common: &McpCommon) -> Result<ExitCode, Failure> {
    let (world, pool) = pool(common)?;
    let threads = one_thread()?;
    let done = threads.block_on(async {
        pool.refresh(server).await?;
        let found = pool.status().into_iter().find(|status| status.name == server);
        let found =
            found.ok_or_else(|| ToolError::new(code::NO_SUCH_SERVER, format!("no server is called {server}")))?;
        if found.held_back.is_empty() {
            return Ok((found.pinned.len(), Vec::new()));
        }
        match format(common) {
            Format::Text => out::print(&held(&found.held_back))?,
            // Beside the answer, which is for a program: whoever is asked reads it, too.
            Format::Json => out::note(&text::harmless(&held(&found.held_back))),
        }
        if !yes && confirmed(&world, "May these tools be used as they are now? [y]es, [N]o:")? != Confirmed::Yes {
            return Err(Failure::from(
                ToolError::new(code::PERMISSION_DENIED, "nothing was approved: no person said yes")
                    .hint("answer at a terminal, or pass --yes"),
            ));
        }
        // What was shown, and not what the server says by now.
        pool.approve(server, &found.held_back)?;
        Ok((found.pinned.len(), found.held_back))
    });
    threads.block_on(pool.close());
    let (known, approved) = done?;
    if format(common) == Format::Json {
        let names: Vec<&str> = approved.iter().map(|held| held.tool.as_str()).collect();
        let hashes: Vec<&str> = approved.iter().map(|held| held.now.hash.as_str()).collect();
        out::pretty(&json!({"server": server, "approved": names, "sha256": hashes}))?;
    } else if approved.is_empty() {
        out::line(&format!("Nothing is held back: the {known} tools of {server} are as they were seen."))?;
    } else {
        out::line(&format!("Approved, until one of them changes: {} of {server}'s tools.", approved.len()))?;
    }
    Ok(ExitCode::SUCCESS)
}
