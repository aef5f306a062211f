//! `cargo xtask bench flow`: how long the check of a thousand tasks takes, half of them commands, each with templates
//! and a `use`, in a world that knows no tools.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use nika_flow::check;
use nika_flow::check::Nothing;

const TASKS: usize = 1_000;
const ROUNDS: usize = 31;
/// What it may take.
const GOAL_MS: f64 = 50.0;

fn main() -> ExitCode {
    let text = document(TASKS);
    let around = Nothing { root: PathBuf::from("/w") };
    let mut samples: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            let checked = check(&text, "bench.nika.yaml", &around);
            let took = started.elapsed().as_secs_f64() * 1e3;
            assert!(checked.is_clean(), "{:?}", checked.findings.first());
            took
        })
        .collect();
    let all: Vec<String> = samples.iter().map(|ms| format!("{ms:.3}")).collect();
    println!("raw check of {TASKS} tasks, ms: {}", all.join(" "));
    samples.sort_by(f64::total_cmp);
    let (median, worst) = (samples[ROUNDS / 2], samples[ROUNDS - 1]);
    println!(
        "check of {TASKS} tasks ({} KiB): median {median:.1} ms, worst {worst:.1} ms of {ROUNDS}",
        text.len() >> 10
    );
    let met = median <= GOAL_MS;
    println!("goal: {GOAL_MS} ms, {}", if met { "met" } else { "NOT REACHED" });
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn document(tasks: usize) -> String {
    let mut text = "schema: nika/workflow@1\npermits: {exec: [\"echo *\"], net: [example.com]}\ninputs: {who: {default: you}}\ntasks:\n".to_owned();
    for n in 0..tasks {
        let _ = writeln!(text, "  - id: task_{n}");
        if n > 0 {
            let _ = writeln!(text, "    use: {{before: \"task_{} ?? 'nothing'\"}}", n - 1 - (n - 1) % 7);
        } else {
            let _ = writeln!(text, "    use: {{}}");
        }
        let before = if n > 0 { "use.before" } else { "inputs.who" };
        match n % 4 {
            0 => _ = writeln!(text, "    exec: [echo, \"{{{{ {before} }}}}\", task {n}]\n    timeout: 10s"),
            1 => _ = writeln!(text, "    exec: [echo, task, \"{n}\"]\n    when: {before} != 'skip'"),
            2 => {
                _ = writeln!(
                    text,
                    "    fetch: {{url: \"https://example.com/{{{{ inputs.who }}}}/{n}\", read: text}}\n    retry: 2"
                )
            }
            _ => {
                _ = writeln!(
                    text,
                    "    infer: |\n      Say something about {{{{ {before} | trim | upper }}}},\n      and about {{{{ inputs.who }}}}."
                )
            }
        }
    }
    text
}
