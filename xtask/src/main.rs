//! `cargo xtask NAME …`: the chores of this repository that are not the product: measuring, conformance, fuzzing,
//! generated pages, tidiness. One table names them all. A chore knows its own arguments; nothing here knows a chore.

mod args;
mod bench;
mod codegen;
mod conformance;
mod demo;
mod fuzz;
mod kills;
mod node;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod order;
mod paths;
mod probes;
mod process;
mod tidy;

use std::process::ExitCode;

use args::Args;

/// One chore: its name, the line of help, what it does.
pub(crate) struct Task {
    pub name: &'static str,
    pub help: &'static str,
    pub run: fn(Args) -> anyhow::Result<()>,
}

const TASKS: &[Task] = &[
    Task {
        name: "bench",
        help: "measure, most of it against peers: bench peers | tree | mcp | start | grep | glob | …",
        run: bench::run,
    },
    Task { name: "codegen", help: "write docs/reference and schemas: codegen [--check]", run: codegen::run },
    Task {
        name: "conformance",
        help: "run the MCP conformance suite against the fixture server, or --client: against our client",
        run: conformance::run,
    },
    Task {
        name: "demo",
        help: "build nika, report on a small repository and on this one, and run the README's examples in a scratch folder",
        run: demo::run,
    },
    Task {
        name: "fuzz",
        help: "run the fuzz campaigns: fuzz [N] [--seed S] [--only NAME], or fuzz scripts [--dir DIR] [--show]",
        run: fuzz::run,
    },
    Task {
        name: "kills",
        help: "run the tests that kill the program: kills [N] [--only NAME] [--release]",
        run: kills::run,
    },
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Task {
        name: "order",
        help: "write the list by which the linker puts together what every start runs",
        run: order::run,
    },
    Task {
        name: "probes",
        help: "count web probes that reach a forbidden address: probes [--release]",
        run: probes::run,
    },
    Task { name: "tidy", help: "check the walls of ARCHITECTURE.md: tidy [--list] [--only NAME]", run: tidy::run },
];

fn main() -> ExitCode {
    let result = dispatch(TASKS, "cargo xtask", Args::from_command_line());
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the task that the next word names, or shows the table.
pub(crate) fn dispatch(tasks: &[Task], called: &str, mut args: Args) -> anyhow::Result<()> {
    let name = args.word().unwrap_or_default();
    if let Some(task) = tasks.iter().find(|task| task.name == name) {
        return (task.run)(args);
    }
    let width = tasks.iter().map(|task| task.name.len()).max().unwrap_or(0);
    println!("usage: {called} NAME …\n");
    for task in tasks.iter().filter(|task| !task.help.is_empty()) {
        println!("  {:width$}  {}", task.name, task.help);
    }
    match name.as_str() {
        "" | "help" | "--help" | "-h" => Ok(()),
        other => anyhow::bail!("there is no '{called} {other}'; the names are above"),
    }
}
