//! What watches a program while it runs: `strace -c ./a`, `gdb -batch -ex run -ex bt ./a`, `perf stat ./a`.
//!
//! The program behind it is judged as if it stood alone, and watching it makes it code in any case. Whoever is attached to a
//! process that runs already, becomes another user, or is given commands of its own, cannot be said.

use super::super::judge::{Arg, Judge};
use super::spec::Does::{Flag, Info, Run, Value, Write};
use super::spec::{Operands, PLAIN, Parsed, Spec, Style};
use super::wrappers::WRAPPER;

/// The table.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        names: "strace",
        opts: &[
            (
                Flag,
                "c summary-only C summary f follow-forks F i instruction-pointer k n q quiet r t T v no-abbrev w x y z Z",
            ),
            (Value, "a b e I O P s string-limit S summary-sort-by X trace"),
            (Write, "o output"),
            (Run, "E env p attach u user D"),
            (Info, "V h"),
        ],
        check: Some(watches),
        ..WRAPPER
    },
    Spec {
        names: "perf",
        style: Style::GnuStop,
        operands: Operands::Sub,
        subs: &[
            Spec {
                names: "stat",
                opts: &[
                    (Flag, "d detailed v verbose n null i no-inherit B big-num no-big-num table S sync"),
                    (Value, "e event r repeat x field-separator I interval-print M metrics"),
                    (Write, "o output"),
                    (Run, "p pid t tid a all-cpus pre post C cpu G cgroup"),
                ],
                check: Some(watches),
                ..WRAPPER
            },
            Spec {
                names: "record",
                opts: &[
                    (Flag, "g q quiet v verbose n no-samples T timestamp s stat d data"),
                    (Value, "e event F freq c count call-graph m mmap-pages z"),
                    (Write, "o output"),
                    (Run, "p pid t tid a all-cpus C cpu u uid"),
                ],
                check: Some(|parsed, judge| {
                    judge.write_cwd();
                    watches(parsed, judge);
                }),
                ..WRAPPER
            },
        ],
        ..PLAIN
    },
    Spec { names: "gdb", style: Style::Raw, operands: Operands::Custom, check: Some(gdb), ..PLAIN },
];

fn watches(parsed: &Parsed, judge: &mut Judge<'_>) {
    let name = parsed.path.join(" ");
    // `|CMD` and `!CMD` are given what it would write.
    let piped = |file: &Arg| file.exact().is_none_or(|file| file.starts_with(['|', '!']));
    if parsed.value("o output").is_some_and(piped) {
        judge.opaque(format!("where `{name}` writes may be a command"));
    }
    if parsed.operands.is_empty() {
        return judge.opaque(format!("what `{name}` runs is not known"));
    }
    judge.code(format!("`{name}` runs what stands behind it"));
    judge.command(&parsed.operands);
}

/// Commands of gdb that run the program and show where it is. What is printed may call a shell, so it is none of them.
const SHOWS: &[&str] = &[
    "r",
    "run",
    "start",
    "c",
    "continue",
    "n",
    "next",
    "s",
    "step",
    "finish",
    "up",
    "down",
    "q",
    "quit",
    "bt",
    "backtrace",
    "where",
    "info",
    "frame",
    "list",
    "break",
    "b",
    "tbreak",
    "thread",
    "set pagination off",
    "set confirm off",
];

/// Whether a command is one of them, with plain words behind it.
fn shows(command: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _:.-".contains(c);
    let known =
        |known: &&str| command.strip_prefix(*known).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    // `run > x` and `thread apply all print …` are more than that.
    let applies = !command.contains("apply") || matches!(command, "thread apply all bt" | "thread apply all bt full");
    SHOWS.iter().any(known) && command.chars().all(plain) && !command.contains(" if ") && applies
}

fn gdb(parsed: &Parsed, judge: &mut Judge<'_>) {
    const SWITCHES: &[&str] =
        &["-batch", "--batch", "-q", "-quiet", "--quiet", "-nx", "--nx", "-nh", "--nh", "-return-child-result"];
    let mut words = parsed.operands.iter();
    let mut program: &[Arg] = &[];
    while let Some(word) = words.next() {
        let text = word.exact().unwrap_or_default();
        match text {
            "-ex" | "--ex" if words.next().and_then(Arg::exact).is_some_and(shows) => {}
            "--args" | "-args" => {
                program = words.as_slice();
                break;
            }
            _ if SWITCHES.contains(&text) => {}
            _ if !text.is_empty() && !text.starts_with('-') && words.as_slice().is_empty() => {
                program = std::slice::from_ref(word);
            }
            _ => return judge.opaque("what `gdb` is told to do is not followed"),
        }
    }
    // Otherwise it goes on with what its standard input says.
    let ends = parsed.operands.iter().any(|word| matches!(word.exact(), Some("-batch" | "--batch")));
    match program.first().and_then(Arg::exact) {
        _ if !ends => judge.opaque("what `gdb` is told on its standard input is not followed"),
        Some(name) if !name.starts_with('-') => {
            judge.code("`gdb` runs what stands behind it");
            judge.command(program);
        }
        _ => judge.opaque("what `gdb` runs is not known"),
    }
}
