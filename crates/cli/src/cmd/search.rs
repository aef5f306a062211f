//! `nika search login` and `logout`: the keys of search providers that a person keeps here.

use std::io::{self, BufRead, Read};
use std::process::ExitCode;

use nika_contract::{ToolError, code, text};
use nika_tools::web::search::provider::Provider;
use rustix::termios::{self, LocalModes, OptionalActions, Termios};
use serde_json::json;

use crate::args::{self, Format, McpCommon, SearchCommand};
use crate::compose::Ground;
use crate::failure::Failure;
use crate::out;
use crate::search_keys::SearchKeys;
use crate::web;
use crate::world::World;

/// Bytes that are read for a key, and no more.
const MOST_READ: u64 = 16 << 10;

pub fn run(args: args::Search) -> Result<ExitCode, Failure> {
    match args.command {
        SearchCommand::Login { provider, common } => login(&provider, &common),
        SearchCommand::Logout { provider, common } => logout(&provider, &common),
    }
}

fn format(common: &McpCommon) -> Format {
    if common.json { Format::Json } else { common.output }
}

fn login(name: &str, common: &McpCommon) -> Result<ExitCode, Failure> {
    let world = World::look();
    let provider = provider(&world, name, common)?;
    let key = key(&world, name)?;
    SearchKeys::below(&world.state_base()?).keep(name, &provider.address, &key)?;
    let host = provider.address.host();
    match format(common) {
        Format::Json => out::pretty(&json!({"provider": name, "host": host, "kept": true}))?,
        Format::Text => {
            out::line(&format!("{name}: its key is kept, for {host} alone. `nika search logout {name}` forgets it."))?
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn logout(name: &str, common: &McpCommon) -> Result<ExitCode, Failure> {
    let any = SearchKeys::below(&World::look().state_base()?).forget(name)?;
    match format(common) {
        Format::Json => out::pretty(&json!({"provider": name, "forgotten": any}))?,
        Format::Text if any => out::line(&format!("The key of {} is forgotten here.", text::preview(name, 80)))?,
        Format::Text => out::line(&format!("There was no key of {}.", text::preview(name, 80)))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The provider of this name: one of the configuration, or one that everybody knows.
fn provider(world: &World, name: &str, common: &McpCommon) -> Result<Provider, Failure> {
    let effective = Ground::find(world, &common.place)?.configure(world, &common.standing)?;
    let configured = web::providers(world, &effective);
    let mut names: Vec<String> = configured.iter().map(|one| one.name.clone()).collect();
    if let Some(found) = configured.into_iter().find(|one| one.name == name) {
        return Ok(found);
    }
    for (known, kind) in web::KNOWN {
        if *known == name {
            return Ok(Provider::new(known, kind.clone(), None)?);
        }
        names.push((*known).to_owned());
    }
    names.dedup();
    let message = format!("no search provider is called '{}'", text::preview(name, 80));
    Err(ToolError::new(code::NO_SEARCH, message)
        .hint(format!("use one of {}, or name it in `web.search_providers`", names.join(", ")))
        .into())
}

/// The key: what a person types, or the first line of what is piped in. Never an argument, which others could read in
/// the list of processes.
fn key(world: &World, name: &str) -> Result<String, Failure> {
    let _quiet = world.has_person.then(|| {
        out::note(&format!("The key of {name}, which is not shown while you type:\n"));
        Quiet::begin()
    });
    let mut line = String::new();
    io::stdin().lock().take(MOST_READ).read_line(&mut line)?;
    Ok(line)
}

/// A terminal that does not show what is typed, until this is dropped.
struct Quiet(Option<Termios>);

impl Quiet {
    fn begin() -> Quiet {
        // A terminal that cannot do so shows what is typed.
        let Ok(before) = termios::tcgetattr(io::stdin()) else { return Quiet(None) };
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Flush, &quiet);
        Quiet(Some(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}
