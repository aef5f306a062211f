//! Running other programs: loudly (their output is ours), or quietly (their output is returned). A failure names the command.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// Runs a program in `dir`, its output on our own.
pub(crate) fn run<S: AsRef<OsStr>>(dir: &Path, program: &Path, args: &[S]) -> anyhow::Result<()> {
    let shown = shown(program, args);
    println!("$ {shown}");
    let status = Command::new(program)
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot start: {shown}"))?;
    if !status.success() {
        bail!("{status}: {shown}");
    }
    Ok(())
}

/// Runs a program in `dir` and returns what it printed.
pub(crate) fn output<S: AsRef<OsStr>>(dir: &Path, program: &Path, args: &[S]) -> anyhow::Result<String> {
    let shown = shown(program, args);
    let out = Command::new(program)
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start: {shown}"))?;
    if !out.status.success() {
        bail!("{}: {shown}\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// Splits `CMD ARGS` at blanks; quotes are not understood, so a path with blanks needs a link without.
pub(crate) fn words(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
}

fn shown<S: AsRef<OsStr>>(program: &Path, args: &[S]) -> String {
    let mut text = program.display().to_string();
    for arg in args {
        text.push(' ');
        text.push_str(&arg.as_ref().to_string_lossy());
    }
    text
}
