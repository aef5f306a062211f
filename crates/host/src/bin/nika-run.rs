//! A supervisor and nothing else, for this crate's tests: what `nika __run` is in the program.

fn main() -> std::process::ExitCode {
    nika_host::proc::supervise()
}
