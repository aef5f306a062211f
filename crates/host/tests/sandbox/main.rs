//! The sandbox against a real kernel: attempts to leave it, and ordinary work in it, as root and as an ordinary user.
//!
//! This program is its own launcher, and what runs inside: a confined command begins as a copy of a process with one
//! thread, which the usual test runner is not.

mod cases;
mod world;

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("__run") => return world::run(&args[1..]),
        Some("__aged") => return world::aged(&args[1..]),
        Some("__stage") => return world::stage(&args[1..]),
        Some("__probe") => return world::probe(&args[1..]),
        Some("--list") => {
            cases::ALL.iter().for_each(|(name, _)| println!("{name}: test"));
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let wanted: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (name, case) in cases::ALL {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            skipped += 1;
            continue;
        }
        match case() {
            Ok(()) => {
                passed += 1;
                println!("test {name} ... ok");
            }
            Err(why) => {
                failed += 1;
                println!("test {name} ... FAILED\n{why}");
            }
        }
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; {skipped} filtered out"
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
