//! xmlstarlet: its expressions are of a language that can read other files. And schemas, which name others by address.

use super::super::judge::{Arg, Judge};
use super::spec::Does::{Flag, Maybe, Value};
use super::spec::{Does, Operands, PLAIN, Parsed, Spec, lists};
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
            // The expression to sort by stands behind its order: among the operands.
            let mut values = parsed.opts.iter().filter_map(|(_, value)| value.as_ref());
            let by_option = values.any(|text| text.exact().is_none_or(leads_away));
            if by_option || parsed.operands.iter().filter_map(Arg::exact).any(leads_away) {
                judge.opaque("an expression names a file that is read, or makes another one of a text");
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
        check: Some(lint),
        ..PLAIN
    },
    Spec { names: "el elements", opts: &[(Flag, "a u v"), (Maybe, "d")], operands: Operands::Read, ..PLAIN },
    Spec { names: "esc escape unesc unescape", operands: Operands::Words, closed: true, ..PLAIN },
];

/// Functions that read the file that they are told, and those that take a text for an expression.
const LEADS: &str = "document evaluate eval expression map";

/// Whether an expression calls one of them, under whatever prefix. A letter written by its number may be any: versions differ
/// in whether they read it.
fn leads_away(expression: &str) -> bool {
    let called = |(at, _): (usize, &str)| {
        let before = expression.get(..at).unwrap_or_default().trim_end();
        let name = before.rsplit(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.')).next();
        name.is_some_and(|name| lists(LEADS, name))
    };
    expression.match_indices('(').any(called) || expression.contains("&#") && expression.contains('(')
}

/// What is looked at, and what it is looked at by: a schema takes others into itself, by an address where it says so. Only
/// xmllint can be told to fetch none.
pub(super) fn lint(parsed: &Parsed, judge: &mut Judge<'_>) {
    if parsed.has("schema relaxng schematron s xsd r") && !parsed.has("nonet") {
        judge.code("a schema may name others by their addresses, which are fetched");
    }
    fetch_or_read(parsed, judge);
}
