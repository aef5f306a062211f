//! What the value of a variable says to the programs that are given it: a place where they write or read, the program
//! that they run, options that stand before those of the command line.
//!
//! Which names rewire a shell or a program, whatever their value is, is known elsewhere
//! ([`names`](super::super::names)); this looks at the values of all others, which are plain settings of builds and
//! tests.

use super::super::judge::{Arg, Judge};
use super::{effects, places};

/// Names of programs, with `*` at a start for any name that ends so, and what such a name is given ordinarily: alone, or
/// as the end of a name between dashes, as in `x86_64-linux-gnu-gcc-12`.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "CC CXX CPP LD AR AS NM RANLIB STRIP OBJCOPY OBJDUMP FC F77 F90 HOSTCC HOSTCXX CC_FOR_BUILD CXX_FOR_BUILD LEX YACC \
         *_LAUNCHER *_LINKER *_COMPILER *_AR *_RANLIB *_LAUNCH_COMPILE *_LAUNCH_LINK",
        TOOLS,
    ),
    ("*_MAKE_PROGRAM", "make gmake ninja samu jom nmake xcodebuild"),
    (
        "*_CLANG_TIDY *_CPPCHECK *_CPPLINT *_INCLUDE_WHAT_YOU_USE",
        "clang-tidy cppcheck cpplint include-what-you-use iwyu",
    ),
    ("*CROSSCOMPILING_EMULATOR", "wine qemu-aarch64 qemu-arm qemu-riscv64 qemu-x86_64"),
];

/// Compilers, and what belongs to them.
const TOOLS: &str = "gcc g++ cc c++ clang clang++ clang-cl cpp ld lld lld-link gold mold ar as nm ranlib strip objcopy \
    objdump gfortran flang tcc zig emcc em++ nvcc icc icx icpx ifort ifx flex lex bison yacc byacc true ccache sccache \
    distcc icecc";

/// Of those, the ones that run the compiler behind them.
const LAUNCHERS: &str = "ccache sccache distcc icecc";

/// Ends of names that say which one it is of several.
const VARIANTS: [&str; 2] = ["posix", "win32"];

/// Values that switch something on or off and name no program.
const SWITCHES: [&str; 9] = ["", "ON", "OFF", "TRUE", "FALSE", "YES", "NO", "0", "1"];

/// Words of `MAKEFLAGS` that run nothing.
const OF_MAKE: &str = "s k i n B w --silent --quiet --no-print-directory --keep-going --always-make --ignore-errors \
    --print-directory --warn-undefined-variables --trace";

/// Judges the programs that follow by what `name` holds.
pub(in super::super) fn given(name: &str, value: &str, judge: &mut Judge<'_>) {
    let word = |text: &str| judge.word(text);
    let whole = word(&format!("{name}={value}"));
    let words: Vec<Arg> = value.split_whitespace().flat_map(pieces).map(word).collect();
    // A part of an address is no place in the file system.
    if !name.ends_with("URL") && !name.ends_with("URI") {
        effects::named(&words, judge);
    }
    places::outputs(&[whole], judge);
    if let Some(why) = runs(name, value) {
        judge.opaque(format!("`{name}` {why}"));
    }
}

/// A word, and the places of a list in it.
fn pieces(word: &str) -> Vec<&str> {
    let mut found = vec![word];
    if !word.contains("://") {
        found.extend(word.split([':', ',', ';']).filter(|part| *part != word && !part.is_empty()));
    }
    found
}

/// Why the value may run something else than code of the workspace.
pub(super) fn runs(name: &str, value: &str) -> Option<&'static str> {
    let mut words = value.split_whitespace();
    match name {
        "MAKEFLAGS" | "GNUMAKEFLAGS" | "MFLAGS" => {
            let plain = |word: &str| {
                let option = word.strip_prefix('-').unwrap_or(word);
                let jobs = option.strip_prefix('j').or_else(|| word.strip_prefix("--jobs="));
                is(OF_MAKE, word)
                    || is(OF_MAKE, option)
                    || jobs.is_some_and(|count| count.bytes().all(|b| b.is_ascii_digit()))
            };
            (!words.all(plain)).then_some("gives options to make that may run something")
        }
        "GOFLAGS" => {
            let runs = |word: &str| {
                ["toolexec", "vettool", "-exec", "overlay", "-extld"].iter().any(|option| word.contains(option))
            };
            words.any(runs).then_some("names a program that Go runs")
        }
        "RUSTFLAGS" | "RUSTDOCFLAGS" => {
            let linker = |word: &str| word.split_once("linker=").is_some_and(|(_, program)| !is_tool(program));
            words.any(|word| linker(word) || word.contains("-wrapper")).then_some("names a linker that is not known")
        }
        _ if name.ends_with("FLAGS") => {
            (words.any(wraps) || has_commands(value)).then_some("names a program that the compiler runs")
        }
        _ => {
            let (_, tools) = PROGRAMS.iter().find(|(names, _)| is(names, name))?;
            names_other(value, tools).then_some("names a program")
        }
    }
}

/// Whether `text` is in a list, where `*` at a start stands for any start.
fn is(list: &str, text: &str) -> bool {
    list.split_whitespace().any(|known| match known.strip_prefix('*') {
        Some(end) => text.ends_with(end),
        None => known == text,
    })
}

/// Whether a word names a program that the compiler runs in its place.
fn wraps(word: &str) -> bool {
    word.trim_start_matches('-').starts_with("wrapper") && word.starts_with('-')
}

/// Whether the shell that a rule of make is given to would read more than one command.
fn has_commands(value: &str) -> bool {
    value.contains([';', '&', '|', '<', '>', '`', '\n']) || value.contains("$(")
}

/// Whether a command names another program than one of `tools`, first or behind those that run the compiler.
fn names_other(value: &str, tools: &str) -> bool {
    let compiler = tools == TOOLS;
    // Lists of cmake have their words between `;`.
    let mut words = value.split(|c: char| c.is_whitespace() || c == ';' && !compiler).peekable();
    if SWITCHES.contains(&value) {
        return false;
    }
    if compiler && (value.split_whitespace().any(wraps) || has_commands(value)) {
        return true;
    }
    while words.next_if(|word| word.is_empty() || is_one(LAUNCHERS, word)).is_some() {}
    words.next().is_some_and(|program| !is_one(tools, program))
}

/// Whether this is a compiler, or what belongs to one.
fn is_tool(program: &str) -> bool {
    is_one(TOOLS, program)
}

/// Whether the name, or its last part, is one of `tools`; which version it is does not count.
fn is_one(tools: &str, program: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit() || c == '.';
    let mut name = program.rsplit('/').next().unwrap_or(program);
    while let Some((start, _)) =
        name.rsplit_once('-').filter(|(_, end)| end.chars().all(digit) || VARIANTS.contains(end))
    {
        name = start;
    }
    let known = |name: &str| tools.split_whitespace().any(|tool| tool == name || tool == name.trim_end_matches(digit));
    known(name) || name.rsplit('-').next().is_some_and(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_ordinary_builds_run_nothing_else() {
        for (name, value) in [
            ("CC", "clang"),
            ("CC", "ccache gcc"),
            ("CXX", "x86_64-linux-gnu-g++-12"),
            ("CMAKE_CXX_COMPILER_LAUNCHER", "sccache"),
            ("MAKEFLAGS", "-j4 --no-print-directory"),
            ("GOFLAGS", "-mod=vendor -tags=x"),
            ("RUSTFLAGS", "-C linker=clang -C link-arg=-fuse-ld=lld"),
            ("CFLAGS", "-O2 -g -Wall"),
        ] {
            assert_eq!(runs(name, value), None, "{name}={value}");
        }
        for (name, value) in [
            ("CC", "curl"),
            ("LD", "sh -c x"),
            ("CMAKE_C_COMPILER_LAUNCHER", "time"),
            ("MAKEFLAGS", "--eval=x"),
            ("GOFLAGS", "-toolexec=x"),
            ("RUSTFLAGS", "-Clinker=x"),
            ("CFLAGS", "-wrapper x"),
        ] {
            assert!(runs(name, value).is_some(), "{name}={value}");
        }
    }
}
