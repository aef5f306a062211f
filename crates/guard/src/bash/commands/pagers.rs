//! Pagers: without a terminal they print. Commands (`+…`), logs and key files are not in the tables.

use super::super::judge::Judge;
use super::spec::Does::{Either, Flag, Info, Value};
use super::spec::{Operands, PLAIN, Parsed, Spec, Style, lists};

/// The table.
pub(super) const SPECS: &[Spec] = &[
    Spec {
        names: "less zless xzless zstdless",
        opts: &[
            (Flag, "N R S F X n i I M m e E q Q s g G f r J w W ~ c C u U a A B L"),
            (
                Flag,
                "LINE-NUMBERS line-numbers RAW-CONTROL-CHARS raw-control-chars chop-long-lines quit-if-one-screen \
                 no-init \
                 ignore-case IGNORE-CASE LONG-PROMPT long-prompt quit-at-eof QUIT-AT-EOF quiet silent QUIET SILENT \
                 squeeze-blank-lines force hilite-search HILITE-SEARCH status-column hilite-unread search-skip-screen \
                 file-size incsearch use-color mouse no-keypad",
            ),
            (Value, "# p pattern P prompt x tabs z window b buffers h max-back-scroll j jump-target y max-forw-scroll"),
            (Value, "D color rscroll wheel-lines line-num-width status-col-width"),
            (Info, "V"),
        ],
        operands: Operands::Custom,
        check: Some(|parsed, judge| {
            swallowed(parsed, judge);
            pager(parsed, judge);
        }),
        ..PLAIN
    },
    // A script that shows each of its words as a file.
    Spec { names: "bzless bzmore", style: Style::Raw, operands: Operands::Read, ..PLAIN },
    Spec {
        names: "more zmore",
        opts: &[
            (Flag, "d silent f logical l no-pause c print-over p clean-print e exit-on-eof s squeeze u plain"),
            (Value, "# lines"),
            // That of BSD takes no value.
            (Either, "n"),
            (Info, "V h"),
        ],
        operands: Operands::Custom,
        check: Some(pager),
        ..PLAIN
    },
];

/// `+` starts a command of the pager: only places and searches are known.
fn pager(parsed: &Parsed, judge: &mut Judge<'_>) {
    for file in &parsed.operands {
        match file.exact().and_then(|text| text.strip_prefix('+')) {
            Some(to) if to == "G" || to.bytes().all(|byte| byte.is_ascii_digit()) || searches(to) => {}
            Some(_) => judge.opaque("a command of the pager"),
            None => {
                if file.exact() != Some("-") {
                    judge.read(file);
                }
            }
        }
    }
}

/// A search, to the end of the word: `$` would end it before, and what a terminal does not show may be keys of the pager.
fn searches(command: &str) -> bool {
    command.strip_prefix('/').is_some_and(|text| !text.chars().any(|c| c == '$' || c.is_control()))
}

/// less ends a text at `$` and a number at the first other character, and reads on: more options stand behind.
fn swallowed(parsed: &Parsed, judge: &mut Judge<'_>) {
    const NUMBERS: &str = "# x tabs z window b buffers h max-back-scroll j jump-target y max-forw-scroll wheel-lines line-num-width \
        status-col-width";
    let number = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
    };
    for (name, value) in parsed.opts.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_ref()?))) {
        let ends = |text: &str| !text.contains('$') && (!lists(NUMBERS, name) || number(text));
        if !value.exact().is_some_and(ends) {
            judge.opaque("options may stand behind the value of another");
        }
    }
}
