//! xmlstarlet: its expressions are of a language that can read other files.

use super::spec::Does::{Flag, Maybe, Value};
use super::spec::{Does, Operands, PLAIN, Spec};
use super::text::fetch_or_read;

/// The subcommands.
pub(super) const XMLSTARLET: &[Spec] = &[
    Spec {
        names: "sel select",
        opts: &[
            (
                Flag,
                "t template n nl b break f inp-name C comp R root T text I indent Q quiet D xml-decl B noblanks else",
            ),
            (Value, "m match v value-of c copy-of o output i if elif e elem a attr s sort E encode N"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            let mut values = parsed.opts.iter().filter_map(|(_, value)| value.as_ref());
            if values.any(|value| value.exact().is_none_or(|text| text.contains("document"))) {
                judge.opaque("`document()` reads the file that an expression names");
            }
            fetch_or_read(parsed, judge);
        }),
        ..PLAIN
    },
    Spec {
        names: "ed edit",
        opts: &[
            (Flag, "P pf S ps O omit-decl"),
            (Value, "d delete u update v value i insert a append s subnode t type n name x expr r rename N"),
            (Flag, "L inplace"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| match parsed.has("L inplace") {
            true => parsed.operands.iter().for_each(|file| judge.write(file)),
            false => fetch_or_read(parsed, judge),
        }),
        ..PLAIN
    },
    Spec {
        names: "fo format",
        opts: &[
            (Flag, "n noindent t indent-tab o omit-decl D dropdtd R recover C nocdata N nsclean Q quiet H html"),
            (Value, "s indent-spaces e encode"),
        ],
        operands: Operands::Custom,
        check: Some(fetch_or_read),
        ..PLAIN
    },
    Spec {
        names: "val validate",
        opts: &[(Flag, "w well-formed e err S stop q quiet b list-bad g list-good"), (Does::Read, "s xsd r relaxng")],
        operands: Operands::Custom,
        check: Some(fetch_or_read),
        ..PLAIN
    },
    Spec { names: "el elements", opts: &[(Flag, "a u v"), (Maybe, "d")], operands: Operands::Read, ..PLAIN },
    Spec { names: "esc escape unesc unescape", operands: Operands::Words, closed: true, ..PLAIN },
];
