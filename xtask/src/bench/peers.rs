//! The peers: programs that people use today for what Nika does, installed by their ordinary clients at pinned versions,
//! so that two runs of the bench mean the same. Raising a version is an edit of the table.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::args::Args;
use crate::node::{self, Node};
use crate::{paths, process};

/// A peer from cargo's registry: `(crate and program, version)`.
const CRATES: &[(&str, &str)] = &[("ripgrep", "15.2.0"), ("rust-mcp-filesystem", "0.4.5")];
const RIPGREP: &str = "rg";

/// From npm. `gpt-tokenizer` ships the o200k_base ranks inside; most tokenizers download them, which not every machine can.
const PACKAGES: &[&str] = &["@modelcontextprotocol/server-filesystem@2026.8.31", "gpt-tokenizer@4.0.0"];

/// Where the peers are, for the benches.
pub(crate) struct Peers {
    pub dir: PathBuf,
    pub rg: PathBuf,
    pub rust_mcp_filesystem: PathBuf,
    /// The reference filesystem server's script, run by [`Peers::node`].
    pub reference: PathBuf,
    pub node: Node,
}

pub(crate) fn run(args: Args) -> Result<()> {
    args.finish()?;
    let dir = dir()?;
    let build = paths::made("bench/build")?;
    for (package, version) in CRATES {
        let root = dir.join(package);
        if root.join("bin").join(program(package)).exists()
            && installed_version(&root, package).as_deref() == Some(version)
        {
            continue;
        }
        let (root, build) = (root.to_string_lossy(), build.to_string_lossy());
        let args = ["install", package, "--version", version, "--locked", "--root", &root, "--target-dir", &build];
        process::run(&paths::workspace(), Path::new("cargo"), &args)?;
    }
    node::node()?.install(&dir, PACKAGES)?;
    for line in peers()?.versions()? {
        println!("{line}");
    }
    Ok(())
}

/// The installed peers, or what to run.
pub(crate) fn peers() -> Result<Peers> {
    let dir = dir()?;
    let program = |package: &str| dir.join(package).join("bin").join(program(package));
    let peers = Peers {
        rg: program("ripgrep"),
        rust_mcp_filesystem: program("rust-mcp-filesystem"),
        reference: dir.join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"),
        node: node::node()?,
        dir,
    };
    for part in [&peers.rg, &peers.rust_mcp_filesystem, &peers.reference] {
        ensure!(part.exists(), "{} is missing: run `cargo xtask bench peers` first", part.display());
    }
    Ok(peers)
}

impl Peers {
    pub(crate) fn versions(&self) -> Result<Vec<String>> {
        let first = |program: &Path| -> Result<String> {
            let text = process::output(&self.dir, program, &["--version"])?;
            Ok(text.lines().next().unwrap_or_default().to_owned())
        };
        let npm = |package: &str| node::version(&self.dir, package).map(|version| format!("{package} {version}"));
        Ok(vec![
            first(&self.rg)?,
            first(&self.rust_mcp_filesystem)?,
            npm("@modelcontextprotocol/server-filesystem")?,
            npm("gpt-tokenizer")?,
            format!("node {}", first(&self.node.program)?),
        ])
    }
}

fn dir() -> Result<PathBuf> {
    Ok(paths::made("bench/peers")?)
}

fn program(package: &str) -> &str {
    if package == "ripgrep" { RIPGREP } else { package }
}

/// `cargo install` keeps its own list in the root.
fn installed_version(root: &Path, package: &str) -> Option<String> {
    let list = std::fs::read_to_string(root.join(".crates.toml")).ok()?;
    let start = list.find(&format!("\"{package} "))? + package.len() + 2;
    list[start..].split(' ').next().map(str::to_owned)
}
