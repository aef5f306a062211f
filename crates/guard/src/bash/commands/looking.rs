//! Programs that look into data and into what was compiled: they print, and write only where an option says so.

use super::spec::Does::{Flag, Info, Value, Write};
use super::spec::{Operands, PLAIN, Spec};
use super::text::{fetch_or_read, reader};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    // Loads no class that it shows. `-J` is for the machine that runs it.
    Spec {
        names: "javap",
        opts: &[
            (Flag, "-c -l -p -private -public -protected -package -s -v -verbose -constants -sysinfo -help -version"),
            (Value, "-m --module"),
            (super::spec::Does::ReadTree, "-cp -classpath --class-path -bootclasspath --module-path --system"),
            (Info, "-version --version -help --help"),
        ],
        operands: Operands::Read,
        ..PLAIN
    },
    Spec {
        names: "gron",
        opts: &[
            (Flag, "u ungron v values s stream c colorize m monochrome j json no-sort k insecure"),
            (Info, "version h help"),
        ],
        operands: Operands::Custom,
        check: Some(fetch_or_read),
        ..PLAIN
    },
    reader(
        "htmlq",
        &[
            (Flag, "t text p pretty w ignore-whitespace B detect-base"),
            (Value, "a attribute b base r remove-nodes"),
            (super::spec::Does::Read, "f filename"),
            (Write, "o output"),
            (Info, "h V help version"),
        ],
    ),
];
