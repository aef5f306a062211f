//! Programs that draw and reckon for fun. They look as if nothing could come of them; but a cow is a program, a
//! font is a file, and a log is written.

use super::spec::Does::{Flag, Info, Value};
use super::spec::{Does, Operands, PLAIN, Spec};
use super::text::reader;

/// The table.
pub(super) const SPECS: &[Spec] = &[
    Spec { names: "mcookie", opts: &[(Value, "m max-size"), (Does::Read, "f file")], ..PLAIN },
    // `-v` runs a program that the environment names.
    Spec { names: "getconf", opts: &[(Flag, "a")], operands: Operands::Words, ..PLAIN },
    reader(
        "lolcat",
        &[
            (Flag, "a animate i invert t truecolor f force n number l linear v h"),
            (Value, "p spread F freq S seed d duration s speed"),
        ],
    ),
    // `-L` is a log that is written.
    Spec {
        names: "units gunits",
        opts: &[
            (Flag, "q quiet silent s strict t terse v verbose 1 one-line c compact m minus p product e exponential"),
            (Flag, "r round S show-factor C check-units"),
            (Value, "o output-format d digits"),
            (Does::Read, "f file"),
            (Does::Write, "H history"),
            (Info, "h V I info version help"),
        ],
        operands: Operands::Words,
        ..PLAIN
    },
    // What is drawn comes from a font, or from a cow, which is a program. A plain name is one of those installed.
    Spec {
        names: "figlet toilet",
        opts: &[(Flag, "c l r x t k n o p s S W D E L R X A N v h"), (Value, "w m I f d C")],
        operands: Operands::Words,
        check: Some(|parsed, judge| {
            let files = parsed.opts.iter().filter(|(name, _)| matches!(name.as_str(), "f" | "d" | "C"));
            files.filter_map(|(_, file)| file.as_ref()).for_each(|file| judge.read_tree(file));
        }),
        ..PLAIN
    },
    Spec {
        names: "cowsay cowthink",
        opts: &[(Flag, "b d g p s t w y l n h"), (Value, "e T W f")],
        operands: Operands::Words,
        check: Some(|parsed, judge| {
            for cow in parsed.opts.iter().filter(|(name, _)| name == "f").filter_map(|(_, cow)| cow.as_ref()) {
                if cow.exact().is_none_or(|cow| cow.contains('/')) {
                    judge.opaque("a cow file is a program");
                }
            }
        }),
        ..PLAIN
    },
];
