//! `cargo xtask order`: writes `crates/cli/start-order.txt`, the functions that every start runs, in the order in which it
//! first comes to them. The linker puts these together (decision 0027), so that a start reads and holds few pages.
//!
//! The program is built beside the other builds, with a map of where the linker put what, and each of [`SCENES`] is stepped through instruction by
//! instruction: some minutes each. A list that is old costs pages and nothing else.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::args::Args;
use crate::paths;

/// What is started, and what it reads from its standard input.
const SCENES: &[(&[&str], &str)] = &[
    (
        &["serve"],
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"#,
            r#""clientInfo":{"name":"order","version":"1"}}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#,
            "\n"
        ),
    ),
    (&["call", "read", "file_path=a.txt"], ""),
    (&["call", "bash", "command=ls"], ""),
];
/// Bytes of code that are told apart: functions begin at multiples of it.
const GRAIN: u64 = 16;

pub(crate) fn run(args: Args) -> Result<()> {
    args.finish()?;
    let target = paths::made("order")?;
    let map = target.join("link.map");
    let built = Command::new("cargo")
        .args(["build", "--release", "-p", "nika-cli", "--target-dir"])
        .arg(&target)
        .env("NIKA_LINK_MAP", &map)
        .current_dir(paths::workspace())
        .status()?;
    ensure!(built.success(), "it does not build");
    let program = target.join("release/nika");
    let world = target.join("world");
    fs::create_dir_all(world.join("root"))?;
    fs::write(world.join("root/a.txt"), "one\n")?;
    let mut first: HashMap<u64, u64> = HashMap::new();
    let mut steps = 0;
    for (words, input) in SCENES {
        println!("{}", words.join(" "));
        step_through(&program, words, input, &world, &mut first, &mut steps)?;
    }
    let map = fs::read_to_string(&map).context("the linker wrote no map")?;
    let names = in_order(&functions(&map), &first);
    let file = paths::workspace().join("crates/cli/start-order.txt");
    fs::write(&file, names.join("\n") + "\n")?;
    println!("{} functions in {steps} steps: {}", names.len(), file.display());
    Ok(())
}

/// Notes of each grain of the program's code at which step a start first comes to it.
fn step_through(
    program: &Path,
    words: &[&str],
    input: &str,
    world: &Path,
    first: &mut HashMap<u64, u64>,
    steps: &mut u64,
) -> Result<()> {
    let script = world.join("input");
    fs::write(&script, input)?;
    // It waits to be held before it becomes the program.
    let mut child = Command::new("sh")
        .args(["-c", "kill -STOP $$; exec \"$0\" \"$@\""])
        .arg(program)
        .args(words)
        .arg("--root")
        .arg(world.join("root"))
        .env("HOME", world)
        .stdin(Stdio::from(File::open(&script)?))
        .stdout(Stdio::null())
        .spawn()?;
    let pid = Pid::from_raw(i32::try_from(child.id())?);
    waitpid(pid, Some(WaitPidFlag::WUNTRACED))?;
    ptrace::attach(pid)?;
    waitpid(pid, None)?;
    ptrace::setoptions(pid, Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_EXITKILL)?;
    kill(pid, Signal::SIGCONT)?;
    ptrace::cont(pid, None)?;
    loop {
        match waitpid(pid, None)? {
            WaitStatus::PtraceEvent(_, _, event) if event == ptrace::Event::PTRACE_EVENT_EXEC as i32 => break,
            WaitStatus::Stopped(_, _) | WaitStatus::PtraceEvent(..) => ptrace::cont(pid, None)?,
            other => anyhow::bail!("it ended before it began: {other:?}"),
        }
    }
    let base = base(pid, program)?;
    ptrace::step(pid, None)?;
    loop {
        match waitpid(None, Some(WaitPidFlag::__WALL))? {
            WaitStatus::Exited(ended, _) | WaitStatus::Signaled(ended, _, _) if ended == pid => break,
            WaitStatus::Stopped(at, signal) => {
                let offset = ptrace::getregs(at)?.rip.wrapping_sub(base) / GRAIN;
                *steps += 1;
                first.entry(offset).or_insert(*steps);
                let of_ours = matches!(signal, Signal::SIGTRAP | Signal::SIGSTOP);
                ptrace::step(at, (!of_ours).then_some(signal))?;
            }
            WaitStatus::PtraceEvent(at, _, _) => ptrace::step(at, None)?,
            _ => {}
        }
    }
    // It was waited for.
    let _ = child.try_wait();
    Ok(())
}

/// Where the program lies in a process.
fn base(pid: Pid, program: &Path) -> Result<u64> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let program = program.canonicalize()?;
    let line = maps.lines().find(|line| line.ends_with(&*program.to_string_lossy())).context("it is not there")?;
    let from = line.split('-').next().unwrap_or_default();
    Ok(u64::from_str_radix(from, 16)?)
}

/// Functions by their addresses, as LLD's map lists them: each lies in a section of its own, which is named for it.
fn functions(map: &str) -> Vec<(u64, &str)> {
    let mut all: Vec<(u64, &str)> = map.lines().filter_map(function).collect();
    all.sort_by_key(|(at, _)| *at);
    all
}

fn function(line: &str) -> Option<(u64, &str)> {
    let (_, section) = line.split_once(":(.text.")?;
    let name = section.strip_suffix(')')?;
    let address = u64::from_str_radix(line.split_whitespace().next()?, 16).ok()?;
    Some((address, name.strip_prefix("unlikely.").unwrap_or(name)))
}

/// The functions that lie at grains which were come to, the first first.
fn in_order(functions: &[(u64, &str)], first: &HashMap<u64, u64>) -> Vec<String> {
    let mut came: HashMap<&str, u64> = HashMap::new();
    for (grain, step) in first {
        // One may end and another begin within a grain.
        for address in [grain * GRAIN, grain * GRAIN + GRAIN - 1] {
            let after = functions.partition_point(|(at, _)| *at <= address);
            let Some((_, name)) = after.checked_sub(1).and_then(|at| functions.get(at)) else { continue };
            came.entry(name).and_modify(|known| *known = (*known).min(*step)).or_insert(*step);
        }
    }
    let mut names: Vec<(u64, &str)> = came.into_iter().map(|(name, step)| (step, name)).collect();
    names.sort_unstable();
    names.into_iter().map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_come_in_the_order_in_which_they_first_ran() {
        let map = [
            "    900      900       10     1         /x/a.o:(.rodata._RNvdata)",
            "   1000     1000      100    16 .text",
            "   1000     1000       40    16         /x/a.o:(.text.main)",
            "   1000     1000       40     1                 main",
            "   1080     1080       40    16         /x/a.o:(.text.unlikely.late)",
            "   1040     1040       40     1         /x/b.rlib(b.o):(.text.helper)",
        ];
        let map = map.join("\n");
        let functions = functions(&map);
        assert_eq!(functions, [(0x1000, "main"), (0x1040, "helper"), (0x1080, "late")]);
        let first = HashMap::from([(0x1080 / GRAIN, 9), (0x1000 / GRAIN, 3), (0x1050 / GRAIN, 5), (0x1010 / GRAIN, 7)]);
        assert_eq!(in_order(&functions, &first), ["main", "helper", "late"]);
    }
}
