//! Running other programs: loudly (their output is ours), or quietly (their output is
//! returned), or line by line. A failure names the command.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
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

/// Runs a program in `dir` and hands on each line that it prints, as it comes.
pub(crate) fn lines<S: AsRef<OsStr>>(
    dir: &Path,
    program: &Path,
    args: &[S],
    mut each: impl FnMut(&str),
) -> anyhow::Result<()> {
    let shown = shown(program, args);
    println!("$ {shown}");
    let mut child = Command::new(program)
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start: {shown}"))?;
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).split(b'\n').map_while(Result::ok) {
            each(&String::from_utf8_lossy(&line));
        }
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{status}: {shown}");
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_one_by_one_and_a_failure_after_them() {
        let mut all = Vec::new();
        let failed = lines(Path::new("/"), Path::new("sh"), &["-c", "echo one; echo two; exit 3"], |line| {
            all.push(line.to_owned());
        });
        assert_eq!(all, ["one", "two"]);
        assert!(failed.expect_err("it failed").to_string().contains("exit status: 3"));
    }
}
