//! Words that a program replaces by the content of a file: `@FILE`.
//!
//! What stands in the file becomes options, and words of it are repeated in errors; so the file is read, and
//! what the command does is not known.

use super::super::judge::{Arg, Judge, Why, Word};

/// Programs that do it with every word.
const NAMES: &[&str] = &[
    "nm",
    "gnm",
    "objdump",
    "gobjdump",
    "readelf",
    "greadelf",
    "size",
    "gsize",
    "addr2line",
    "strings",
    "gstrings",
    "strip",
    "objcopy",
    "ar",
    "gar",
    "ranlib",
    "c++filt",
    "elfedit",
    "gprof",
    "ld",
    "as",
    "gold",
    "gcc",
    "g++",
    "cc",
    "c++",
    "cpp",
    "clang",
    "clang++",
    "gfortran",
    "javac",
    "javap",
    "javadoc",
    "java",
    "jar",
    "jlink",
    "jpackage",
    "jdeps",
    "rustc",
    "rustdoc",
    "swiftc",
    "kotlinc",
    "7z",
    "7za",
    "7zr",
    "7zz",
    "rar",
    "unrar",
    "qpdf",
    "dwp",
    "dwarfdump",
    "clang-cl",
    "clang-format",
    "clang-tidy",
    "clangd",
    "ld.lld",
    "ld.gold",
    "ld.bfd",
    "lld",
];

/// Whether a program is one of these, for whatever machine and in whatever version: `gcc-12`, `arm-none-eabi-gcc`,
/// `clang-format-15`, `llvm-nm-18`.
fn takes(program: &str) -> bool {
    let version = |end: &str| end.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let plain = program.rsplit_once('-').filter(|(_, end)| version(end)).map_or(program, |(plain, _)| plain);
    let for_a_machine = |name: &str| plain.strip_suffix(name).is_some_and(|start| start.ends_with('-'));
    plain.starts_with("llvm-") || NAMES.iter().any(|name| *name == plain || for_a_machine(name))
}

/// Notes the files among the words of `argv`.
pub(super) fn files(known: &str, argv: &[Arg], judge: &mut Judge<'_>) {
    if !takes(known) {
        return;
    }
    for word in argv.iter().skip(1) {
        let text = match &word.word {
            Word::Exact(text) => text,
            Word::Opaque { why: Why::Packaged, .. } => continue,
            Word::Opaque { prefix, .. } if prefix.is_empty() => {
                judge.opaque(format!("a word of `{known}` that is not known may be a file of options"));
                continue;
            }
            Word::Glob { prefix, .. } | Word::Opaque { prefix, .. } => prefix,
            Word::OneOf(_) => continue,
        };
        if let Some(file) = text.strip_prefix('@').filter(|_| text.len() > 1 || word.exact().is_none()) {
            judge.read(&word.with(file));
            // A list of sources of the workspace says no more than the sources do, which may name what runs while they are
            // compiled.
            if known == "javac" && word.exact().is_some() && judge.site.is_ours(&judge.resolve(file)) {
                judge.code(format!("`{known}` takes its options from `{file}`"));
                continue;
            }
            judge.opaque(format!("`{known}` takes its options from `{file}`"));
        }
    }
}
