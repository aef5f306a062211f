//! The conformance fixture as a program: `--http ADDRESS` (its URL is the first line printed) or
//! `--stdio`.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use nika_mcp::{HttpConfig, HttpServer};
use nika_testkit::conformance::Fixture;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let fixture = Arc::new(Fixture::new()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["--stdio"] => nika_mcp::serve_stdio(fixture).await?,
            ["--http", address] => {
                let config =
                    HttpConfig { listen: address.parse()?, token: None, hosts: Vec::new(), origins: Vec::new() };
                let server = HttpServer::bind(fixture, config).await?;
                let mut out = std::io::stdout();
                writeln!(out, "{}", server.url())?;
                out.flush()?;
                server.run(std::future::pending()).await?;
            }
            _ => return Err("usage: nika-conformance --http ADDRESS | --stdio".into()),
        }
        Ok(())
    })
}
