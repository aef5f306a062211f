//! The tree that is searched: the Linux sources as Debian packs them, committed to git. Large, real, the same everywhere.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::args::Args;
use crate::{paths, process};

const PACKAGE: &str = "linux-source-6.1";

/// Regular files, `.git` not counted.
const EXPECTED_FILES: usize = 78_579;

/// Debian appends rules that ignore every file; without them the tree is an ordinary checkout.
const DEBIAN_RULES: &str = "#\n# Debian packaging: ignore everything at the top level";

pub(crate) fn run(mut args: Args) -> Result<()> {
    let dir = dir(&mut args)?;
    args.finish()?;
    if !dir.join(".git").exists() {
        make(&dir)?;
    }
    let files = count(&dir)?;
    let tracked = process::output(&dir, Path::new("git"), &["ls-files"])?.lines().count();
    println!("{}: {files} files, {tracked} tracked", dir.display());
    if files != EXPECTED_FILES {
        println!("note: {EXPECTED_FILES} files were expected; another {PACKAGE} gives other figures");
    }
    Ok(())
}

/// The tree that a bench was given, or the one below `target/bench`.
pub(crate) fn dir(args: &mut Args) -> Result<PathBuf> {
    match args.value("--dir")? {
        Some(given) => Ok(paths::workspace().join(given)),
        None => Ok(paths::made("bench")?.join("linux")),
    }
}

/// As [`dir`], and it is there.
pub(crate) fn existing(args: &mut Args) -> Result<PathBuf> {
    let dir = dir(args)?;
    ensure!(dir.join(".git").exists(), "no tree at {}: run `cargo xtask bench tree`", dir.display());
    Ok(dir)
}

fn make(dir: &Path) -> Result<()> {
    let parent = dir.parent().context("the tree needs a folder to lie in")?;
    std::fs::create_dir_all(parent)?;
    let archive = parent.join(format!("{PACKAGE}.deb.d"));
    std::fs::create_dir_all(&archive)?;
    let packed = archive.join(format!("usr/src/{PACKAGE}.tar.xz"));
    if !packed.exists() {
        // `apt-get download` fetches without installing; the lists it needs may be missing on a new machine.
        if process::run(&archive, Path::new("apt-get"), &["download", PACKAGE]).is_err() {
            process::run(&archive, Path::new("apt-get"), &["update"])?;
            process::run(&archive, Path::new("apt-get"), &["download", PACKAGE])?;
        }
        shell(&archive, "dpkg-deb -x linux-source-*.deb . && rm linux-source-*.deb")?;
    }
    // Into a neighbour first: a broken unpacking must not look like a finished tree.
    let fresh = parent.join("linux.new");
    let _ = std::fs::remove_dir_all(&fresh);
    std::fs::create_dir_all(&fresh)?;
    let (packed, into) = (packed.to_string_lossy(), fresh.to_string_lossy());
    process::run(parent, Path::new("tar"), &["-xJf", &packed, "--strip-components=1", "-C", &into])?;
    open_gitignore(&fresh)?;
    let git = Path::new("git");
    process::run(&fresh, git, &["init", "--quiet"])?;
    process::run(&fresh, git, &["add", "--all"])?;
    let author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false"];
    let commit: Vec<&str> = author.into_iter().chain(["commit", "--quiet", "-m", PACKAGE]).collect();
    process::run(&fresh, git, &commit)?;
    std::fs::rename(&fresh, dir).with_context(|| format!("cannot move the tree to {}", dir.display()))?;
    std::fs::remove_dir_all(&archive)?;
    Ok(())
}

fn open_gitignore(dir: &Path) -> Result<()> {
    let file = dir.join(".gitignore");
    let text = std::fs::read_to_string(&file)?;
    let at =
        text.find(DEBIAN_RULES).context("Debian's last rules are not in the .gitignore: has the package changed?")?;
    std::fs::write(&file, &text[..at])?;
    Ok(())
}

fn shell(dir: &Path, script: &str) -> Result<()> {
    process::run(dir, Path::new("sh"), &["-ec", script])
}

fn count(dir: &Path) -> Result<usize> {
    let mut files = 0;
    let mut open = vec![dir.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_file() {
                files += 1;
            } else if kind.is_dir() && entry.file_name() != ".git" {
                open.push(entry.path());
            }
        }
    }
    Ok(files)
}
