//! `cargo xtask codegen [--check]`: the reference pages and schemas, written from the program's own tables.
//!
//! The program prints its surface (`nika __surface`) and its help (`nika __help`); the guarded and secret paths, the
//! caches of tools and the hosts of documentation are read from the source of their tables, which no interface of the program needs to carry. `--check` writes nothing
//! and fails naming what is stale, missing or left over.

mod caches;
mod findings;
mod guarded;
mod hosts;
mod pages;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::args::Args;
use crate::{paths, process};

/// Folders that hold generated files and nothing else.
const OWNED: &[&str] = &["docs/reference", "docs/reference/findings", "schemas"];
const PATH_TABLES: &str = "crates/guard/src/path.rs";
const CACHE_TABLE: &str = "crates/guard/src/profile/caches.rs";
const HOST_TABLE: &str = "crates/guard/src/web.rs";

pub(crate) fn run(mut args: Args) -> Result<()> {
    let check = args.flag("--check");
    let given = args.value("--nika")?.map(PathBuf::from);
    args.finish()?;
    let root = paths::workspace();
    let nika = match given {
        Some(nika) => nika,
        None => built(&root, "debug")?,
    };
    let pages = pages(&root, &nika)?;
    let stale = stale(&root, &pages)?;
    if check {
        if stale.is_empty() {
            println!("codegen: {} files, all as generated", pages.len());
            return Ok(());
        }
        stale.iter().for_each(|path| println!("{path}: differs from what is generated"));
        bail!("{} file(s) are stale; run `cargo xtask codegen` and look at the difference", stale.len());
    }
    for path in &stale {
        let at = root.join(path);
        match pages.get(path) {
            Some(text) => {
                std::fs::create_dir_all(at.parent().context("a generated file lies in a folder")?)?;
                std::fs::write(&at, text).with_context(|| format!("cannot write {}", at.display()))?;
                println!("wrote {path}");
            }
            None => {
                std::fs::remove_file(&at)?;
                println!("removed {path}");
            }
        }
    }
    println!("codegen: {} files, {} changed", pages.len(), stale.len());
    Ok(())
}

/// The program, built now.
pub(crate) fn built(root: &Path, profile: &str) -> Result<PathBuf> {
    let mut words = vec!["build", "--quiet", "--package", "nika-cli"];
    words.extend((profile == "release").then_some("--release"));
    process::run(root, Path::new(&std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())), &words)?;
    Ok(paths::binary(profile, "nika"))
}

/// Every generated file, by its path from the root.
fn pages(root: &Path, nika: &Path) -> Result<BTreeMap<String, String>> {
    let surface: Value = serde_json::from_str(&printed(nika, "__surface")?).context("`nika __surface` is not JSON")?;
    let source = |path: &str| std::fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"));
    let mut files = BTreeMap::from([
        ("docs/reference/caches.md".to_owned(), caches::page(&source(CACHE_TABLE)?)?),
        ("docs/reference/codes.md".to_owned(), pages::codes(&surface)),
        ("docs/reference/events.md".to_owned(), pages::events(&surface)),
        ("docs/reference/findings.md".to_owned(), findings::index(&surface)),
        ("docs/reference/modes.md".to_owned(), pages::modes(&surface)),
        ("docs/reference/tools.md".to_owned(), pages::tools(&surface)),
        ("docs/reference/config.md".to_owned(), pages::config(&surface)),
        ("docs/reference/cli.md".to_owned(), pages::cli(&printed(nika, "__help")?)),
        ("docs/reference/guarded-paths.md".to_owned(), guarded::page(&source(PATH_TABLES)?)?),
        ("docs/reference/web-hosts.md".to_owned(), hosts::page(&source(HOST_TABLE)?)?),
        ("schemas/config.json".to_owned(), pages::json(&surface["config"])),
        ("schemas/workflow.schema.json".to_owned(), pages::json(&surface["workflow"])),
    ]);
    files.extend(findings::pages(&surface));
    for tool in pages::each(&surface["tools"]) {
        files.insert(format!("schemas/{}.json", pages::text(&tool["canonical"])), pages::schema(tool));
    }
    Ok(files)
}

/// What the program prints, run in an empty place: no configuration of this machine may show in a page.
fn printed(nika: &Path, word: &str) -> Result<String> {
    let empty = std::env::temp_dir().join(format!("nika-codegen-{}", std::process::id()));
    std::fs::create_dir_all(&empty)?;
    let ran = Command::new(nika)
        .arg(word)
        .current_dir(&empty)
        .env_clear()
        .env("HOME", &empty)
        .env("NIKA_STATE_DIR", empty.join("state"))
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", nika.display()));
    std::fs::remove_dir_all(&empty)?;
    let ran = ran?;
    if !ran.status.success() {
        bail!("`nika {word}`: {}\n{}", ran.status, String::from_utf8_lossy(&ran.stderr));
    }
    String::from_utf8(ran.stdout).context("the program printed what is not text")
}

/// Paths whose content differs, that are missing, or that nothing generates.
fn stale(root: &Path, pages: &BTreeMap<String, String>) -> Result<Vec<String>> {
    let mut stale: Vec<String> = pages
        .iter()
        .filter(|(path, text)| std::fs::read_to_string(root.join(path)).ok().as_ref() != Some(*text))
        .map(|(path, _)| path.clone())
        .collect();
    for folder in OWNED {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        for entry in entries {
            let entry = entry?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_file() && !pages.contains_key(&path) {
                stale.push(path);
            }
        }
    }
    Ok(stale)
}
