//! `nika serve`: the pipeline as an MCP server. What a session is, what clients are told and how they come in is
//! settled here; the protocol is `nika_mcp`'s.

mod backend;
mod handles;
pub mod instructions;
mod token;

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use nika_contract::{ToolError, code};
use nika_mcp::{HttpConfig, HttpServer, serve_stdio};

use crate::args;
use crate::cmd::one_thread;
use crate::compose::{self, Built, Ground, Shape, Voice};
use crate::failure::Failure;
use crate::out;
use crate::watch::Watch;
use crate::world::World;
use backend::{Backend, Way};

/// Where HTTP listens when only a host, or nothing, is said.
const PORT: u16 = 8738;

pub fn run(args: args::Serve) -> Result<(), Failure> {
    let world = World::look();
    let ground = Ground::find(&world, &args.place)?;
    let stamps = ground.stamps(&world, &args.standing);
    let effective = ground.configure(&world, &args.standing)?;
    // Over HTTP nothing reaches a client that it did not ask for.
    let voice = if args.http.is_some() { Voice::Nowhere } else { Voice::Client };
    let (dialect, listing) = (args.dialect, args.list.clone());
    let rules = Some(Watch::of(&world, &ground, &args.standing, (stamps, &effective)));
    let shape =
        Shape { dialect, listing, prefixed: true, voice, objects: true, lasting: true, rules, ..Shape::default() };
    let built = Arc::new(compose::build(&world, &ground, effective, shape.clone())?);
    match &args.http {
        None => stdio(&world, &built, &shape),
        Some(address) => http(&world, &built, &shape, &args, address),
    }
}

fn stdio(world: &World, built: &Arc<Built>, shape: &Shape) -> Result<(), Failure> {
    if world.has_person {
        out::complain(
            "nika: speaking MCP on stdin and stdout. That is for a client to start; see `nika serve --help`.",
        );
    }
    let backend = Arc::new(Backend::new(Arc::clone(built), world.pid, shape, Way::Stdio));
    one_thread()?.block_on(async {
        built.servers.warm();
        let served = serve_stdio(Arc::<Backend>::clone(&backend)).await;
        backend.end().await;
        built.servers.close().await;
        served
    })?;
    built.tidy();
    Ok(())
}

fn http(world: &World, built: &Arc<Built>, shape: &Shape, args: &args::Serve, address: &str) -> Result<(), Failure> {
    let listen = socket(address)?;
    let token = token::get(args.token_file.as_deref())?;
    let sessions = handles::room();
    let backend = Arc::new(Backend::new(Arc::clone(built), world.pid, shape, Way::Http { sessions }));
    let config = HttpConfig {
        listen,
        token: Some(token.text.clone()),
        hosts: args.allow_host.clone(),
        origins: args.allow_origin.clone(),
    };
    one_thread()?.block_on(async {
        let bound = HttpServer::bind(backend, config).await;
        let server = bound.map_err(|error| match error.kind() {
            // What was asked for cannot be: it says why itself.
            std::io::ErrorKind::InvalidInput => Failure::usage(error.to_string()),
            _ => Failure::usage(format!("cannot listen on {listen}: {error}")),
        })?;
        out::complain(&format!("nika: listening on {}", server.url()));
        out::complain(&match token.kept_in {
            Some(file) => format!("nika: clients send the token in {}", file.display()),
            None => format!("nika: clients send `Authorization: Bearer {}`", token.text),
        });
        built.servers.warm();
        let served = server.run(stopped()).await;
        built.servers.close().await;
        Ok::<_, Failure>(served?)
    })?;
    built.tidy();
    Ok(())
}

/// Resolves when somebody wants the server to stop.
async fn stopped() {
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}

/// An address from what was written: `host:port`, a port, or a host.
fn socket(written: &str) -> Result<SocketAddr, Failure> {
    let wrong = |why: String| {
        Failure::from(
            ToolError::new(code::BAD_ARGUMENTS, format!("--http {written}: {why}"))
                .hint("write HOST:PORT, such as 127.0.0.1:8738"),
        )
    };
    let bare = written.trim_start_matches('[').trim_end_matches(']');
    let (host, port) = match written.rsplit_once(':') {
        _ if written.parse::<u16>().is_ok() => ("127.0.0.1", written.parse().unwrap_or(PORT)),
        _ if bare.parse::<std::net::IpAddr>().is_ok() => (bare, PORT),
        Some((host, port)) => {
            let port = port.parse().map_err(|_| wrong(format!("'{port}' is no port")))?;
            (if host.is_empty() { "127.0.0.1" } else { host.trim_start_matches('[').trim_end_matches(']') }, port)
        }
        // A resolver would make an address of a number.
        None if written.bytes().all(|byte| byte.is_ascii_digit()) => {
            return Err(wrong(format!("'{written}' is no port")));
        }
        None => (written, PORT),
    };
    let found = (host, port).to_socket_addrs().map_err(|error| wrong(error.to_string()))?.next();
    found.ok_or_else(|| wrong("it has no address".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_completed() {
        for (written, want) in [
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("127.0.0.1", "127.0.0.1:8738"),
            ("9000", "127.0.0.1:9000"),
            (":0", "127.0.0.1:0"),
            ("0.0.0.0:1", "0.0.0.0:1"),
            ("[::1]:5", "[::1]:5"),
            ("::1", "[::1]:8738"),
            ("[::1]", "[::1]:8738"),
        ] {
            assert_eq!(socket(written).expect(written).to_string(), want, "{written}");
        }
        assert!(socket("127.0.0.1:notaport").is_err());
    }
}
