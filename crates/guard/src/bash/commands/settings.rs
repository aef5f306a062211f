//! What the value of a variable says to the programs that are given it: a place where they write or read, the program
//! that they run, options that stand before those of the command line.
//!
//! Which names rewire a shell or a program, whatever their value is, is known elsewhere
//! ([`names`](super::super::names)); this looks at the values of all others, which are plain settings of builds and
//! tests.

use super::super::judge::{Arg, Judge, Word};
use super::{effects, places};

/// Names of programs, with `*` at a start for any name that ends so.
const PROGRAMS: &str = "CC CXX CPP LD AR AS NM RANLIB STRIP OBJCOPY OBJDUMP FC F77 F90 HOSTCC HOSTCXX CC_FOR_BUILD \
    CXX_FOR_BUILD LEX YACC *_LAUNCHER *_LINKER *_COMPILER";

/// What such a name is given ordinarily, alone or as a part between dashes: `x86_64-linux-gnu-gcc-12`.
const TOOLS: &str = "gcc g++ cc c++ clang clang++ cpp ld lld gold mold ar as nm ranlib strip objcopy objdump gfortran \
    flang tcc zig emcc em++ nvcc icc icx icpx ifort ifx ccache sccache distcc flex lex bison yacc byacc true";

/// Words of `MAKEFLAGS` that run nothing.
const OF_MAKE: &str = "s k i n B w --silent --quiet --no-print-directory --keep-going --always-make --ignore-errors \
    --print-directory --warn-undefined-variables --trace";

/// Judges the programs that follow by what `name` holds.
pub(in super::super) fn given(name: &str, value: &str, judge: &mut Judge<'_>) {
    let word = |text: &str| Arg { word: Word::Exact(text.to_owned()), span: judge.span.clone() };
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
    let is = |list: &str, text: &str| {
        list.split_whitespace().any(|known| match known.strip_prefix('*') {
            Some(end) => text.ends_with(end),
            None => known == text,
        })
    };
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
            let runs =
                |word: &str| ["toolexec", "vettool", "-exec", "overlay"].iter().any(|option| word.contains(option));
            words.any(runs).then_some("names a program that Go runs")
        }
        "RUSTFLAGS" | "RUSTDOCFLAGS" => {
            let linker = |word: &str| word.split_once("linker=").is_some_and(|(_, program)| !is_tool(program));
            words.any(linker).then_some("names a linker that is not known")
        }
        _ if name.ends_with("FLAGS") => {
            words.any(|word| word.starts_with("-wrapper")).then_some("names a program that the compiler runs")
        }
        _ if is(PROGRAMS, name) => words.next().is_some_and(|first| !is_tool(first)).then_some("names a program"),
        _ => None,
    }
}

/// Whether this is a compiler, or what belongs to one.
pub(super) fn is_tool(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.split('-').any(|part| {
        let part = part.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        TOOLS.split_whitespace().any(|known| known == part)
    })
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
